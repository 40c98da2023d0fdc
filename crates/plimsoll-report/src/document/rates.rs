//! Rates over time: the seconds of a cell, in stretches of load without a pause, shortened so that extremes stay.

use plimsoll_record::{
    limit::CellLimit,
    numbers,
    record::{Cell, Record},
    results::Interval,
};

use super::{LimitLine, Rates, Stretch, StretchPart, rounded};
use crate::{explanation::show, rows};

/// How finely rates over time are told.
#[derive(Clone, Copy)]
pub(super) struct Resolution {
    /// Points of all cells of a report together, more or less.
    pub(super) points: usize,
    /// Seconds of all cells of a report together.
    pub(super) seconds: usize,
}

impl Resolution {
    /// How many seconds a point stands for.
    fn seconds_a_point(self) -> usize {
        self.seconds.div_ceil(self.points.max(1)).max(1)
    }
}

/// The rates of a cell; `None` when no seconds were counted.
pub(super) fn of(record: &Record, cell: &Cell, resolution: Resolution) -> Option<Rates> {
    let seconds_a_point = resolution.seconds_a_point();
    let is_shortened = seconds_a_point > 1;
    // Where several seconds are one point, they may be of several visits, and ramps are left out. What took no time has
    // no rate.
    let is_shown = |second: &&Interval| second.length_ns > 0 && (second.measured || !is_shortened);
    let shown: Vec<&Interval> = cell.series.iter().filter(is_shown).collect();
    let stretches: Vec<Stretch> = shown
        .chunk_by(|one, next| (is_shortened || belongs_to(one, next)) && part(cell, one) == part(cell, next))
        .map(|seconds| stretch(part(cell, seconds[0]), seconds, seconds_a_point))
        .collect();
    (!stretches.is_empty()).then(|| Rates {
        title: title(record, cell, is_shortened),
        stretches,
        window_ms: cell.window.map(|window| [window.from_ns / 1_000_000, window.to_ns / 1_000_000]),
        limits: cell.limit.as_ref().map(limits).unwrap_or_default(),
        seconds_a_point: u32::try_from(seconds_a_point).unwrap_or(u32::MAX),
    })
}

/// Whether a second follows another one without a pause.
fn belongs_to(one: &Interval, next: &Interval) -> bool {
    one.round == next.round && next.t_ns <= one.t_ns + one.length_ns + one.length_ns / 2
}

/// What a second was.
fn part(cell: &Cell, second: &Interval) -> StretchPart {
    let is_counted = || cell.slots.iter().find(|slot| slot.round == second.round).is_none_or(|slot| slot.counted);
    match second.measured {
        false => StretchPart::WarmUp,
        true if is_counted() => StretchPart::Counted,
        true => StretchPart::Discarded,
    }
}

fn stretch(part: StretchPart, seconds: &[&Interval], seconds_a_point: usize) -> Stretch {
    let [begin_ns, end_ns] =
        [seconds.first().map(|first| first.t_ns), seconds.last().map(|last| last.t_ns + last.length_ns)];
    let [begin_ms, end_ms] = [begin_ns, end_ns].map(|ns| ns.unwrap_or_default() / 1_000_000);
    let mut stretch = Stretch { part, begin_ms, end_ms, ..Stretch::default() };
    for point in seconds.chunks(seconds_a_point) {
        let from_ns = point[0].t_ns;
        let last = point[point.len() - 1];
        let length_ns: u64 = point.iter().map(|second| second.length_ns).sum();
        let per_second = |amount: u64| rounded(amount as f64 * 1e9 / length_ns as f64);
        stretch.t_ms.push(u64::midpoint(from_ns, last.t_ns + last.length_ns) / 1_000_000);
        stretch.iops.push(per_second(point.iter().map(|one| operations(one)).sum()));
        stretch.bytes_per_second.push(per_second(point.iter().map(|one| one.read_bytes + one.write_bytes).sum()));
        stretch.p50_us.push(slowest(point.iter().map(|one| one.p50_ns)));
        stretch.p99_us.push(slowest(point.iter().map(|one| one.p99_ns)));
        if seconds_a_point > 1 {
            let rates = || point.iter().map(|one| operations(one) as f64 * 1e9 / one.length_ns as f64);
            stretch.extremes.push([rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max)].map(rounded));
        }
    }
    stretch
}

/// Reads and writes; of a second without any its syncs.
fn operations(second: &Interval) -> u64 {
    match second.read_operations + second.write_operations {
        0 => second.sync_operations,
        transfers => transfers,
    }
}

fn slowest(latencies_ns: impl Iterator<Item = Option<u64>>) -> Option<f64> {
    latencies_ns.flatten().max().map(|latency_ns| rounded(latency_ns as f64 / 1e3))
}

fn limits(limit: &CellLimit) -> Vec<LimitLine> {
    let line = |name: &str, iops: Option<f64>, bytes_per_second: Option<f64>| {
        let name = format!("{name} ({})", limit.source);
        iops.or(bytes_per_second).map(|_| LimitLine { name, iops, bytes_per_second })
    };
    let lasting = line("lasting", limit.iops, limit.bytes_per_second);
    lasting.into_iter().chain(line("burst", limit.burst_iops, limit.burst_bytes_per_second)).collect()
}

/// The finding: what the rate was, and what may be said of it.
fn title(record: &Record, cell: &Cell, is_shortened: bool) -> String {
    if let Some(burst) = cell.burst.filter(|burst| !burst.predicted) {
        let from_ns = record.cells.iter().flat_map(|cell| cell.series.first()).map(|second| second.t_ns).min();
        let after = burst.cliff_before_ns.map(|cliff_ns| cliff_ns.saturating_sub(from_ns.unwrap_or(0)));
        let after = numbers::or_absent(after, numbers::clock);
        let [high, low] = [burst.burst_iops, burst.sustained_iops].map(show::iops);
        return format!("{}: a burst of {high} is over after {after}, then {low} last", cell.workload);
    }
    let word = match cell.verdict {
        Some(verdict) if is_shortened => format!(", {}", verdict.as_str()),
        Some(verdict) => format!(", {}: {}", verdict.as_str(), rows::meaning(verdict, cell)),
        None => String::new(),
    };
    let rate = match cell.estimate {
        Some(estimate) => {
            let ends = estimate.iops_low.zip(estimate.iops_high);
            let interval = ends
                .map_or_else(String::new, |(low, high)| format!(" [{}, {}]", numbers::iops(low), numbers::iops(high)));
            show::iops(estimate.iops) + &interval
        }
        None => "no rate".to_owned(),
    };
    format!("{}: {rate}{word}", cell.workload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_records;

    #[test]
    fn a_stretch_begins_and_ends_when_its_load_did() {
        let mut record = test_records::canonical();
        let part = |from_ms: u64, length_ms: u64, measured| Interval {
            t_ns: from_ms * 1_000_000,
            length_ns: length_ms * 1_000_000,
            measured,
            read_operations: 100,
            ..Interval::default()
        };
        record.cells[0].series =
            vec![part(389, 250, false), part(639, 1000, true), part(1639, 500, true), part(2139, 0, true)];
        let shown = of(&record, &record.cells[0], Resolution { points: 100, seconds: 3 }).unwrap();
        let shown = serde_json::to_value(&shown.stretches).unwrap();
        let ends = |index: usize| [&shown[index]["begin_ms"], &shown[index]["end_ms"]].map(serde_json::Value::as_u64);
        assert_eq!([ends(0), ends(1)], [[Some(389), Some(639)], [Some(639), Some(2139)]]);
        assert_eq!(shown[1]["iops"], serde_json::json!([100, 200]), "what took no time has no rate");
    }
}
