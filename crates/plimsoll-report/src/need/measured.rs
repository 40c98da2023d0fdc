//! Whether cells had what is needed, by the cell that shows it best.
//!
//! A rate that a cell reached is there, whatever the cell was. That a rate is not there follows only from a cell that
//! could have shown it: with operations of the size that the rate is about, enough of them in flight, and as fast as
//! the storage answers, with nothing beside it. A latency that is too long says nothing where operations wait for each
//! other.

use plimsoll_measure::verdict::Verdict;
use plimsoll_record::{
    figures::{Figures, Operation},
    limit::Hit,
    numbers,
    record::Cell,
};
use plimsoll_workload::{
    need::{Amount, Direction, LatencyFigure, Need, Want},
    plan::Pacing,
};
use serde::Serialize;

use crate::{
    explanation::{
        behind::Behind,
        did::{CellLoad, Syncs},
        show,
        standing::Unit,
    },
    rows,
};

/// Operations per second are told of operations of at most so many bytes: clouds count 16 KiB as one.
const SMALL_MAX: f64 = 16_384.0;
/// Bytes per second are told of operations of at least so many bytes.
const LARGE_MIN: f64 = 65_536.0;
/// So many operations in flight show what a storage can do.
const IN_FLIGHT_MIN: f64 = 16.0;
/// Or so many bytes, of large ones.
const BYTES_IN_FLIGHT_MIN: f64 = 8.0 * 1_048_576.0;
/// With more operations in flight than this, they wait for each other.
const IN_FLIGHT_ALONE_MAX: f64 = 4.0;

/// Why one cannot be sure of what was measured.
const WITHIN_ERROR: &str = ", and what is needed is within its error";

/// Whether something that is needed is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Yes.
    Met,
    /// It was measured so, but the verdict is no claim that it lasts.
    MetInDoubt,
    /// It is closer than the error of what was measured.
    NotSure,
    /// It was not measured so, and that is no claim.
    NotMetInDoubt,
    /// No.
    NotMet,
    /// No cell can tell.
    NotMeasured,
}

/// Whether one thing that is needed is there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// What is needed, as it is written.
    pub need: String,
    /// Whether it is there.
    pub standing: Standing,
    /// What was measured: operations or bytes per second, or nanoseconds; of a size, bytes.
    pub measured: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The workload that shows it.
    pub workload: Option<String>,
    /// The operations of it.
    pub operation: Option<Operation>,
    /// The same as a sentence.
    pub text: String,
}

/// What a cell shows of something that is needed.
#[derive(Clone, Copy, Debug)]
struct Shown<'a> {
    cell: &'a Cell,
    operation: Operation,
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    /// Whether nobody knows how much worse it may be: too few operations took longer.
    is_open: bool,
}

impl Shown<'_> {
    fn meets(&self, want: &Want) -> bool {
        match want.amount {
            Amount::Iops(least) => self.value >= least,
            Amount::Bandwidth(least) => self.value >= least.0 as f64,
            Amount::Latency(_, most) => self.value <= most.ns as f64,
        }
    }

    /// Whether it meets that for sure: a rate that was reached is there, a latency has an interval to meet it with.
    fn surely_meets(&self, want: &Want) -> bool {
        let longest = self.high.filter(|_| is_latency(want));
        !self.is_open && self.meets(want) && longest.is_none_or(|end| Shown { value: end, ..*self }.meets(want))
    }

    /// Whether it is at least as good as another.
    fn better(&self, other: &Self, want: &Want) -> std::cmp::Ordering {
        let order = self.value.total_cmp(&other.value);
        if is_latency(want) { order.reverse() } else { order }
    }

    /// The end of its interval that is closer to what is needed.
    fn best_end(&self, want: &Want) -> Option<f64> {
        if is_latency(want) { self.low } else { self.high }
    }
}

const fn is_latency(want: &Want) -> bool {
    matches!(want.amount, Amount::Latency(..))
}

/// For each thing that is needed, whether it is there; and what is to be said of all of them.
pub(super) fn answers(need: &Need, cells: &[&Cell]) -> (Vec<Answer>, Option<String>) {
    let answers: Vec<Answer> = need.wants.iter().map(|want| answer(want, cells)).collect();
    let is_met = |answer: &Answer| matches!(answer.standing, Standing::Met | Standing::MetInDoubt);
    let of = |is: fn(&Want) -> bool| need.wants.iter().filter(move |want| is(want));
    let rates = || of(|want| matches!(want.amount, Amount::Iops(_)));
    let latencies = || of(is_latency);
    let at_once =
        |cell: &&&Cell| rates().chain(latencies()).all(|want| shown(want, cell).is_some_and(|it| it.meets(want)));
    let is_apart = rates().next().is_some()
        && latencies().next().is_some()
        && answers.iter().all(is_met)
        && !cells.iter().any(|cell| at_once(&cell));
    let note = is_apart.then(|| {
        let rate =
            rates().map(|want| if let Amount::Iops(rate) = want.amount { rate } else { 0.0 }).fold(0.0, f64::max);
        format!(
            "no workload of this run shows rate and latency at once: `--rate {rate}` measures latencies at that rate"
        )
    });
    (answers, note)
}

fn answer(want: &Want, cells: &[&Cell]) -> Answer {
    let mut answer = judged(want, cells);
    // What does not matter is told where it would.
    let is_met = matches!(answer.standing, Standing::Met | Standing::MetInDoubt);
    if is_met && want.direction.is_none() {
        for direction in [Direction::Read, Direction::Write] {
            let of_one = Want { direction: Some(direction), ..*want };
            let alone = judged(&of_one, cells);
            if let (Standing::NotMet | Standing::NotMetInDoubt, Some(value), Some(workload)) =
                (alone.standing, alone.measured, &alone.workload)
            {
                let value = written(want, value);
                answer.text += &format!("; {} have {value} at best ({workload})", direction.plural());
            }
        }
    }
    answer
}

fn judged(want: &Want, cells: &[&Cell]) -> Answer {
    let all: Vec<Shown<'_>> = cells.iter().filter_map(|cell| shown(want, cell)).collect();
    let best = |of: &dyn Fn(&Shown<'_>) -> bool| {
        all.iter().filter(|it| of(it)).max_by(|one, other| one.better(other, want)).copied()
    };
    let is_sure = |it: &Shown<'_>| doubt(it.cell).is_none();
    if let Some(found) = best(&|it| it.surely_meets(want) && is_sure(it)) {
        return told(want, Standing::Met, &found, "met: ", "");
    }
    if let Some(found) = best(&|it| it.meets(want) && is_sure(it)) {
        let tail = if found.is_open { ", and it may be longer" } else { WITHIN_ERROR };
        return told(want, Standing::NotSure, &found, "not sure: ", tail);
    }
    let meeting = all.iter().filter(|it| it.meets(want));
    let least_doubtful = meeting.min_by(|one, other| {
        let severity = |it: &Shown<'_>| doubt(it.cell).map_or(0, |(severity, _)| severity);
        severity(one).cmp(&severity(other)).then(other.better(one, want))
    });
    if let Some(found) = least_doubtful {
        let why = doubt(found.cell).map_or_else(String::new, |(_, why)| why);
        return told(want, Standing::MetInDoubt, found, &format!("met, but {why}: "), "");
    }
    let Some(found) = best(&|it| why_it_cannot_tell(want, it.cell, cells).is_none()) else {
        return not_measured(want, best(&|_| true), cells);
    };
    if let Some((_, why)) = doubt(found.cell) {
        return told(want, Standing::NotMetInDoubt, &found, &format!("not met, but {why}: "), "");
    }
    let reaches = |end: f64| Shown { value: end, ..found }.meets(want);
    let Some(end) = found.best_end(want).filter(|end| !reaches(*end)) else {
        return told(want, Standing::NotSure, &found, "not sure: ", WITHIN_ERROR);
    };
    // One that is not sure might have shown more.
    let might = |it: &&Shown<'_>| {
        let is_cached = it.cell.verdict == Some(Verdict::Cached);
        !is_sure(it) && !is_cached && it.best_end(want).is_none_or(|end| Shown { value: end, ..**it }.meets(want))
    };
    if let Some(other) = all.iter().filter(|it| why_it_cannot_tell(want, it.cell, cells).is_none()).find(might) {
        let tail = format!(", and it is not known what {} can do", other.cell.workload);
        return told(want, Standing::NotMetInDoubt, &found, "not met: ", &tail);
    }
    debug_assert!(!reaches(end), "it was filtered so");
    told(want, Standing::NotMet, &found, "not met: ", " at best")
}

fn told(want: &Want, standing: Standing, found: &Shown<'_>, head: &str, tail: &str) -> Answer {
    let operation = match found.operation {
        Operation::All => String::new(),
        operation => format!(" of {}", operation.plural()),
    };
    let text = format!("{head}{}{operation}{tail} ({})", written(want, found.value), found.cell.workload);
    Answer {
        need: want.to_string(),
        standing,
        measured: Some(found.value),
        low: found.low,
        high: found.high,
        workload: Some(found.cell.workload.clone()),
        operation: Some(found.operation),
        text,
    }
}

fn not_measured(want: &Want, best: Option<Shown<'_>>, cells: &[&Cell]) -> Answer {
    let text = match best {
        Some(found) => {
            let why = why_it_cannot_tell(want, found.cell, cells).unwrap_or_default();
            let value = written(want, found.value);
            format!("not measured: {} has {value}, {why}", found.cell.workload)
        }
        None => {
            let why = cells.iter().find_map(|cell| too_few_operations(want, cell));
            let nobody = match want.direction {
                Some(Direction::Sync) => "no workload of this run tells it, as `--preset wal-etcd` does",
                _ => "no workload of this run tells it",
            };
            format!("not measured: {}", why.as_deref().unwrap_or(nobody))
        }
    };
    Answer {
        need: want.to_string(),
        standing: Standing::NotMeasured,
        measured: None,
        low: None,
        high: None,
        workload: None,
        operation: None,
        text,
    }
}

fn written(want: &Want, value: f64) -> String {
    match want.amount {
        Amount::Iops(_) => show::rate(Unit::Iops, value),
        Amount::Bandwidth(_) => show::rate(Unit::BytesPerSecond, value),
        Amount::Latency(..) => numbers::latency_in_text(value),
    }
}

/// What the verdict of a cell leaves open, the worse the higher; `None` of what is known to last.
pub(crate) fn doubt(cell: &Cell) -> Option<(u8, String)> {
    if let Some(told) = &cell.told {
        return Some((1, format!("as {} tells, of which nobody knows whether it lasts", told.source.teller())));
    }
    let (severity, why) = match cell.verdict? {
        Verdict::Steady => return None,
        Verdict::ClientLimited => (2, "the machine that measured was the limit"),
        Verdict::Short => (3, "measured too briefly to know whether it lasts"),
        Verdict::Unstable => (4, "on average alone: it is not even"),
        Verdict::Drifting => (5, "only while it was still changing"),
        Verdict::Burst if cell.burst.is_some_and(|burst| !burst.predicted) => (1, "a burst was used up first"),
        Verdict::Burst => (6, "only while the burst lasted"),
        Verdict::Cached => (7, rows::meaning(Verdict::Cached, cell)),
    };
    Some((severity, why.to_owned()))
}

/// Why it does not follow from a cell that the storage does not have something.
fn why_it_cannot_tell(want: &Want, cell: &Cell, cells: &[&Cell]) -> Option<String> {
    if cell.shared_its_target(cells.iter().copied()) {
        return Some("beside others at the same time: try it alone".to_owned());
    }
    let load = CellLoad::of(cell);
    let is_open = cell.blocks().is_some_and(|plan| plan.pacing != Pacing::Closed);
    let pauses = cell.blocks().is_some_and(|plan| plan.think_time_ns > 0);
    let limit = cell.limit.as_ref().is_some_and(|limit| matches!(limit.hit, Hit::Disk | Hit::Vm));
    let syncs = load.syncs.filter(Syncs::matter);
    let bytes = load.operation_bytes;
    let in_flight = load.in_flight.unwrap_or(1.0);
    match want.amount {
        Amount::Latency(..) => {
            if bytes.is_some_and(|bytes| bytes > LARGE_MIN) {
                return Some("of large operations".to_owned());
            }
            let waits = !is_open && in_flight > IN_FLIGHT_ALONE_MAX;
            waits.then(|| {
                format!("with {in_flight} operations in flight, which wait for each other: try --queue-depth 1")
            })
        }
        Amount::Iops(_) if bytes.is_some_and(|bytes| bytes > SMALL_MAX) => {
            Some("of operations that are not small: try --block-size 4k".to_owned())
        }
        Amount::Bandwidth(_) if bytes.is_none_or(|bytes| bytes < LARGE_MIN) => {
            Some("of operations that are not large: try --block-size 1M".to_owned())
        }
        _ if is_open || pauses => Some("at the pace that was asked for".to_owned()),
        _ if limit => None,
        _ if cell.figures(Operation::Sync).is_some_and(|syncs| syncs.iops.is_none()) => {
            Some("with syncs, of which nobody knows how many: try it without".to_owned())
        }
        _ if syncs.is_some() => syncs.map(|syncs| format!("with a sync {}: try it without", syncs.after())),
        _ if in_flight >= IN_FLIGHT_MIN => None,
        Amount::Bandwidth(_) if in_flight * bytes.unwrap_or(0.0) >= BYTES_IN_FLIGHT_MIN => None,
        _ => {
            let operations = if in_flight > 1.0 { "operations" } else { "operation" };
            Some(format!("with {in_flight} {operations} in flight: try --queue-depth 32"))
        }
    }
}

/// Whether a cell has numbers, and those of a disk: transactions and files are no operations of one.
fn is_of_disk(cell: &Cell) -> bool {
    let is_of_names = cell.blocks().is_some_and(|plan| plan.name_operation().is_some());
    !is_of_names && !Behind::is_behind(cell) && (cell.verdict.is_some() || cell.told.is_some())
}

/// What a cell lacks to show a percentile that is needed: a rare operation has to be waited for.
fn too_few_operations(want: &Want, cell: &Cell) -> Option<String> {
    let Amount::Latency(figure, _) = want.amount else { return None };
    let operations = match want.direction {
        Some(Direction::Read) => &[Operation::Read][..],
        Some(Direction::Write) => &[Operation::Write],
        Some(Direction::Sync) => &[Operation::Sync],
        None => &[Operation::Read, Operation::Write, Operation::All],
    };
    let name = figure.name();
    operations.iter().filter(|_| is_of_disk(cell)).find_map(|operation| {
        let figures = cell.figures(*operation)?;
        let why = figures.latency_ns.unsupported.get(name)?;
        Some(format!("{name} of {}: {why} ({})", operation.plural(), cell.workload))
    })
}

/// What a cell shows of something that is needed.
fn shown<'a>(want: &Want, cell: &'a Cell) -> Option<Shown<'a>> {
    if !is_of_disk(cell) {
        return None;
    }
    let of = |operation| one(want, cell, operation, &cell.figures(operation)?);
    match want.direction {
        Some(Direction::Read) => of(Operation::Read),
        Some(Direction::Write) => of(Operation::Write),
        Some(Direction::Sync) => of(Operation::Sync),
        None => match (of(Operation::Read), of(Operation::Write)) {
            (Some(read), Some(write)) if is_latency(want) => Some(if read.value >= write.value { read } else { write }),
            (Some(read), Some(write)) => Some(together(want, cell, &read, &write)),
            (read, write) => read.or(write).or_else(|| of(Operation::All)),
        },
    }
}

fn one<'a>(want: &Want, cell: &'a Cell, operation: Operation, figures: &Figures<'_>) -> Option<Shown<'a>> {
    let measured = figures.measured;
    let mut is_open = false;
    let (iops_low, iops_high) = measured.map_or((None, None), |result| (result.iops_low, result.iops_high));
    let (value, low, high) = match want.amount {
        Amount::Iops(_) => (figures.iops?, iops_low, iops_high),
        Amount::Bandwidth(_) => {
            let bytes = figures.bytes_per_second?;
            let each = figures.iops.filter(|iops| *iops > 0.0).map(|iops| bytes / iops);
            let scaled = |end: Option<f64>| Some(end? * each?);
            (bytes, scaled(iops_low), scaled(iops_high))
        }
        Amount::Latency(LatencyFigure::Mean, _) => {
            // Where as many operations are always in flight, their mean latency follows from the rate.
            let mean = figures.latency_ns.mean?;
            let rate = figures.iops.filter(|_| cell.open_loop.is_none());
            let end = |of: Option<f64>| Some(mean * rate? / of.filter(|of| *of > 0.0)?);
            (mean, end(iops_high), end(iops_low))
        }
        Amount::Latency(figure, _) => {
            let latencies = &figures.latency_ns;
            let value = match figure {
                LatencyFigure::Mean => None,
                LatencyFigure::P50 => latencies.p50,
                LatencyFigure::P90 => latencies.p90,
                LatencyFigure::P95 => latencies.p95,
                LatencyFigure::P99 => latencies.p99,
                LatencyFigure::P99_9 => latencies.p99_9,
            };
            let interval = measured.and_then(|result| result.latency_interval(figure.name()));
            is_open = interval.is_some_and(|interval| interval.high_ns.is_none());
            let low = interval.map(|interval| interval.low_ns as f64);
            (value? as f64, low, interval.and_then(|interval| interval.high_ns).map(|ns| ns as f64))
        }
    };
    Some(Shown { cell, operation, value, low, high, is_open })
}

/// Reads and writes of a cell together: the interval is that of both.
fn together<'a>(want: &Want, cell: &'a Cell, read: &Shown<'_>, write: &Shown<'_>) -> Shown<'a> {
    let value = read.value + write.value;
    let estimate = cell.estimate.filter(|estimate| estimate.iops > 0.0);
    let scale = match want.amount {
        Amount::Iops(_) => Some(1.0),
        _ => estimate.map(|estimate| value / estimate.iops),
    };
    let end = |of: Option<f64>| Some(of? * scale?);
    let (low, high) = estimate.map_or((None, None), |estimate| (end(estimate.iops_low), end(estimate.iops_high)));
    Shown { cell, operation: Operation::All, value, low, high, is_open: false }
}
