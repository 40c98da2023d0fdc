//! What single seconds did: their range, dips that come back, stalls.

use plimsoll_measure::{
    detect::{
        dips::periodic_dips,
        stalls::{Stalls, stalls},
        token_bucket::Stretch,
    },
    stability::Grade,
    verdict::Verdict,
};
use plimsoll_record::{
    event::SlotPurpose,
    numbers::{iops, latency_in_text, percent},
    record::Cell,
    results::{Finding, Interval, Severity, SlotSummary},
};
use plimsoll_workload::plan::{BlockPlan, Pacing};
use serde_json::json;

use super::client::machine_stood_still;
use crate::findings::finding;

/// Shorter ends of slots are no seconds.
pub(super) const HALF_SECOND_NS: u64 = 500_000_000;

pub(super) fn uneven(cell: &Cell) -> Option<Finding> {
    let stability = cell.stability?;
    let evidence = [
        ("iops_min", json!(stability.iops_min)),
        ("iops_median", json!(stability.iops_median)),
        ("iops_max", json!(stability.iops_max)),
        ("spread", json!(stability.spread)),
    ];
    let range = format!("{} to {} IOPS", iops(stability.iops_min), iops(stability.iops_max));
    if stability.wide || stability.grade == Some(Grade::F) {
        let median = iops(stability.iops_median);
        let text = format!("{range} in single seconds, median {median}: no single number describes this");
        return Some(finding("wide-range", Severity::Warning, text, &evidence));
    }
    if cell.verdict == Some(Verdict::Drifting) {
        return Some(finding("drift", Severity::Warning, format!("the rate was still moving: {range}"), &evidence));
    }
    (stability.grade == Some(Grade::D)).then(|| {
        finding(
            "uneven",
            Severity::Warning,
            format!("{range} in single seconds: the mean is not what one gets"),
            &evidence,
        )
    })
}

/// The rates of measured seconds of the judged window, a stretch for each slot.
fn stretches(cell: &Cell) -> Vec<(u64, Vec<f64>)> {
    let in_window = |second: &&Interval| {
        second.measured
            && second.length_ns >= HALF_SECOND_NS
            && cell.window.is_none_or(|window| second.t_ns + second.length_ns / 2 > window.from_ns)
    };
    let counted = |second: &&Interval| cell.slots.iter().any(|slot| slot.counted && slot.round == second.round);
    let mut stretches: Vec<(u32, u64, Vec<f64>)> = Vec::new();
    for second in cell.series.iter().filter(in_window).filter(counted) {
        let Some(rate) = second.iops() else { continue };
        match stretches.last_mut() {
            Some((round, _, rates)) if *round == second.round => rates.push(rate),
            _ => stretches.push((second.round, second.t_ns, vec![rate])),
        }
    }
    stretches.into_iter().map(|(_, from_ns, rates)| (from_ns, rates)).collect()
}

pub(super) fn dips(cell: &Cell) -> Option<Finding> {
    cell.period_ns?;
    let rates: Vec<f64> = stretches(cell).into_iter().flat_map(|(_, rates)| rates).collect();
    let dips = periodic_dips(&rates)?;
    let text = format!(
        "dips every {} s, down to {} from {} IOPS",
        dips.period_seconds,
        iops(dips.lowest_rate),
        iops(dips.usual_rate)
    );
    let evidence = [
        ("period_s", json!(dips.period_seconds)),
        ("iops_usual", json!(dips.usual_rate)),
        ("iops_lowest", json!(dips.lowest_rate)),
        ("time_share", json!(dips.share)),
    ];
    Some(finding("periodic-dips", Severity::Warning, text, &evidence))
}

/// At least this part of a stalled second is spent on nothing.
const STALLED_PART: f64 = 0.9;

/// Seconds far below the usual.
pub(super) fn stalled(cell: &Cell, plan: &BlockPlan) -> Option<Finding> {
    // Where operations are due now and then only, an empty second is none in which the storage stood still.
    if plan.pacing != Pacing::Closed || plan.think_time_ns > 0 {
        return None;
    }
    // Nor does it where operations fail. The workers know in which seconds none ended, neither well nor badly.
    if cell.errors > 0 {
        return None;
    }
    let stretches = stretches(cell);
    let borrowed: Vec<Stretch<'_>> =
        stretches.iter().map(|(from_ns, rates)| Stretch { from_ns: *from_ns, rates }).collect();
    let stalls = stalls(&borrowed, 1.0)?;
    if stalls.count == 0 {
        return None;
    }
    let own = machine_stood_still(cell, STALLED_PART * stalls.longest_seconds * 1e9).map(|own| match stalls.count {
        1 => format!("; {own}"),
        _ => format!("; in the longest, {own}"),
    });
    // Only whole seconds of the measured time are looked at, and an operation may outlast it.
    let slowest_ns = slowest_ns(cell).filter(|ns| *ns as f64 > stalls.longest_seconds * 1e9);
    let times = match (stalls.count, slowest_ns) {
        (1, Some(_)) => format!("a stall of {:.0} s or more", stalls.longest_seconds),
        (count, Some(_)) => format!("{count} stalls, the longest of {:.0} s or more", stalls.longest_seconds),
        (1, None) => format!("a stall of up to {:.0} s", stalls.longest_seconds),
        (count, None) => format!("{count} stalls of up to {:.0} s", stalls.longest_seconds),
    };
    let slowest = slowest_ns.map(|ns| format!("; the slowest operation took {}", latency_in_text(ns as f64)));
    let text = format!(
        "{times}, {} of the time: less than a tenth of the usual completed{}{}",
        percent(stalls.share),
        slowest.unwrap_or_default(),
        own.unwrap_or_default()
    );
    Some(of_stalls(stalls, text))
}

/// The longest latency of any operation.
fn slowest_ns(cell: &Cell) -> Option<u64> {
    [&cell.read, &cell.write, &cell.sync].into_iter().flatten().filter_map(|result| result.latency_ns.max).max()
}

/// Seconds in which nothing completed, as the workers know them, of all slots that were to count. The sentence about
/// seconds far below the usual speaks of more, where there is one.
pub(super) fn stood_still(cell: &Cell) -> Option<Finding> {
    if !cell.series.iter().any(|second| second.stalled) {
        return None;
    }
    let is_measured = |second: &&Interval| {
        let is_its = |slot: &SlotSummary| slot.round == second.round && slot.purpose == SlotPurpose::Measured;
        second.measured && second.length_ns >= HALF_SECOND_NS && cell.slots.iter().any(is_its)
    };
    let seconds: Vec<&Interval> = cell.series.iter().filter(is_measured).collect();
    let runs = seconds.chunk_by(|left, right| (left.round, left.stalled) == (right.round, right.stalled));
    let lengths: Vec<usize> = runs.filter(|run| run[0].stalled).map(<[_]>::len).collect();
    let stalled_seconds: usize = lengths.iter().sum();
    let longest_seconds = lengths.iter().copied().max()? as f64;
    let who = match (machine_stood_still(cell, STALLED_PART * longest_seconds * 1e9), lengths.len()) {
        (Some(own), 1) => own,
        (own, _) => {
            let own = own.map_or_else(String::new, |own| format!("; in the longest, {own}"));
            format!("the storage stood still, and mean rates hide that{own}")
        }
    };
    let text = format!(
        "nothing completed in {stalled_seconds} whole seconds of the measured time although operations were in flight: \
         {who}"
    );
    let share = stalled_seconds as f64 / seconds.len() as f64;
    Some(of_stalls(Stalls { count: lengths.len(), longest_seconds, share }, text))
}

fn of_stalls(stalls: Stalls, text: String) -> Finding {
    let evidence = [
        ("stalls", json!(stalls.count)),
        ("longest_s", json!(stalls.longest_seconds)),
        ("time_share", json!(stalls.share)),
    ];
    finding("stalled", Severity::Warning, text, &evidence)
}

#[cfg(test)]
mod tests {
    use plimsoll_measure::latency::LatencyHistogram;
    use plimsoll_record::{
        builder::RecordBuilder,
        client::ClientActivity,
        event::{RunEvent, SlotDirection, SlotResult},
        results::LatencySummary,
    };

    use super::*;
    use crate::test_plans::started;

    #[test]
    fn seconds_in_which_operations_failed_are_no_stall() {
        let mut builder = RecordBuilder::new(started("rw = 'randread'"));
        builder.apply(&RunEvent::SlotFinished(Box::default()));
        let mut cell = builder.finish().cells.remove(0);
        cell.slots[0].counted = true;
        let second = |read_operations| Interval {
            length_ns: 1_000_000_000,
            measured: true,
            read_operations,
            ..Interval::default()
        };
        cell.series = [900, 900, 0, 900].map(second).into();
        let said = |cell: &Cell| stalled(cell, cell.blocks().unwrap()).map(|said| said.text);
        assert!(said(&cell).unwrap().starts_with("a stall of up to 1 s, 25 %"), "{:?}", said(&cell));
        cell.errors = 9;
        assert_eq!(said(&cell), None);
        cell.errors = 0;
        let stopped = |ns| {
            let hiccup_ns = LatencySummary { max: Some(ns), ..LatencySummary::default() };
            ClientActivity { hiccup_ns, ..ClientActivity::default() }
        };
        let blames_the_storage = |cell: &Cell| said(cell).unwrap().ends_with("usual completed");
        cell.client = Some(stopped(100_000_000));
        assert!(blames_the_storage(&cell));
        cell.client = Some(stopped(1_400_000_000));
        let own = "stood still for 1.40 s: not the storage";
        assert!(said(&cell).unwrap().ends_with(own), "{:?}", said(&cell));
        cell.series = [900, 900, 0, 900, 900, 0, 900].map(second).into();
        assert!(said(&cell).unwrap().contains("usual completed; in the longest, this machine"), "{:?}", said(&cell));
        cell.errors = 9;
        cell.series = [0, 0].map(second).into();
        assert_eq!(said(&cell), None);
    }

    #[test]
    fn a_stall_is_no_shorter_than_what_the_slowest_operation_shows() {
        let said = |seconds: &[u64], slowest_ns: u64| {
            let mut histogram = LatencyHistogram::fine();
            histogram.record_many(1_000_000, 900);
            histogram.record_many(slowest_ns, 1);
            let write = Some(SlotDirection { operations: 901, bytes: 901 << 12, histogram });
            let mut builder = RecordBuilder::new(started("rw = 'randwrite'"));
            builder.apply(&RunEvent::SlotFinished(Box::new(SlotResult { write, ..SlotResult::default() })));
            let mut cell = builder.finish().cells.remove(0);
            let second = |write_operations: &u64| Interval {
                length_ns: 1_000_000_000,
                measured: true,
                write_operations: *write_operations,
                ..Interval::default()
            };
            cell.series = seconds.iter().map(second).collect();
            stalled(&cell, cell.blocks().unwrap()).unwrap().text
        };
        // The storage answers when the measured time is over.
        let text = said(&[900, 900, 900, 0, 0], 6_070_000_000);
        assert!(text.starts_with("a stall of 2 s or more, 40 % of the time: less"), "{text}");
        assert!(text.contains("; the slowest operation took 6.0"), "{text}");
        let text = said(&[900, 0, 900, 900, 0, 0], 6_070_000_000);
        assert!(text.starts_with("2 stalls, the longest of 2 s or more, 50 %"), "{text}");
        let text = said(&[900, 900, 0, 0, 900], 900_000_000);
        assert!(text.starts_with("a stall of up to 2 s, 40 %") && text.ends_with("usual completed"), "{text}");
    }

    #[test]
    fn the_storage_stood_still_in_seconds_of_slots_that_were_to_count() {
        let mut builder = RecordBuilder::new(started("rw = 'randread'\nrate = 1000"));
        for (round, purpose) in
            [SlotPurpose::Measured, SlotPurpose::Discarded, SlotPurpose::Measured].iter().enumerate()
        {
            let round = round as u32;
            for stalled in [false, false, false, true] {
                let length_ns = 1_000_000_000;
                let interval = Interval { round, length_ns, measured: true, stalled, ..Interval::default() };
                builder.apply(&RunEvent::Interval { cell: 0, interval });
            }
            let slot = SlotResult { round, purpose: *purpose, ..SlotResult::default() };
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
        }
        let mut cell = builder.finish().cells.remove(0);
        cell.series[4].stalled = true;
        let told = stood_still(&cell).unwrap();
        assert!(told.text.starts_with("nothing completed in 2 whole seconds"), "{}", told.text);
        assert_eq!(
            ["stalls", "longest_s", "time_share"].map(|key| told.evidence[key].to_string()),
            ["2", "1.0", "0.25"]
        );
        let hiccup_ns = LatencySummary { max: Some(950_000_000), ..LatencySummary::default() };
        cell.client = Some(ClientActivity { hiccup_ns, ..ClientActivity::default() });
        let told = stood_still(&cell).unwrap().text;
        assert!(told.contains("the storage stood still") && told.contains("in the longest, this machine"), "{told}");
        cell.series.iter_mut().for_each(|second| second.stalled = false);
        assert_eq!(stood_still(&cell), None);
    }
}
