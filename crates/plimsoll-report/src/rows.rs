//! The measured rows of a record, as finished strings: one row for each direction of a cell.

use plimsoll_measure::{stability::Grade, verdict::Verdict};
use plimsoll_record::{
    application::BoundBy,
    figures::{Figures, Operation},
    judgement::Stability,
    latencies::LatencyInterval,
    limit::Bound,
    numbers::{self, ABSENT, AT_LEAST},
    record::{Cell, Window},
    told::Told,
    word::Word,
};
use plimsoll_workload::{file_mix::FileMix, file_set::FilePhase, plan::BlockPlan, settings::NameOperation};

use crate::{
    grid::{Column, Grid, Side},
    style::Tone,
};

/// From so long on, minutes and hours are easier to read than seconds.
const LONG_NS: f64 = 600e9;
/// The head of the column of shares of the limit.
pub(crate) const OF_LIMIT: &str = "of limit";

/// One direction of a cell.
#[derive(Clone, Debug)]
pub(crate) struct Row<'a> {
    /// The workload's name in the first row of a cell, empty in the others.
    pub(crate) workload: &'a str,
    pub(crate) operation: &'static str,
    pub(crate) figures: Option<Figures<'a>>,
    /// Where the mean would mislead: the slowest and the fastest second as multiples of it.
    pub(crate) range: Option<[f64; 2]>,
    pub(crate) errors: u64,
    /// The rate of the whole cell as a share of what lasts, in its first row.
    pub(crate) of_limit: Option<f64>,
    /// The stretch of the run that the verdict speaks of, in the first row of a cell.
    pub(crate) window: Option<Window>,
    /// Whether measured time lies before that.
    pub(crate) begins_late: bool,
    /// How even its seconds are, in the first row of a cell.
    pub(crate) grade: Option<Grade>,
    /// The word about a cell, in its first row.
    pub(crate) verdict: Option<Word>,
}

/// The kinds of operations of a cell with their words: those that it measured, and those that it should have.
pub(crate) fn operations(cell: &Cell) -> Vec<(Operation, &'static str)> {
    if let Some(told) = &cell.told {
        return told_operations(told);
    }
    if let Some(plan) = cell.file_plan() {
        let of = |phase: &FilePhase| (Operation::Phase(*phase), phase.as_str());
        let steps = plan.mix.as_ref().map(FileMix::phases).unwrap_or_default();
        return plan.phases.as_slice().iter().chain(&steps).map(of).collect();
    }
    if cell.application.is_some() {
        return vec![(Operation::All, "run")];
    }
    let plan = cell.blocks();
    let of_names = plan.and_then(BlockPlan::name_operation).map(NameOperation::as_str);
    let [read, write] = ["read", "write"].map(|word| of_names.unwrap_or(word));
    let possible = [
        (Operation::Read, read, cell.read.is_some() || plan.is_some_and(BlockPlan::reads)),
        (Operation::Write, write, cell.write.is_some() || plan.is_some_and(BlockPlan::writes)),
        (Operation::Sync, "sync", cell.sync.is_some()),
    ];
    possible.into_iter().filter(|(_, _, is_there)| *is_there).map(|(operation, word, _)| (operation, word)).collect()
}

/// The directions that another program told.
fn told_operations(told: &Told) -> Vec<(Operation, &'static str)> {
    let words = [
        (Operation::Read, "read"),
        (Operation::Write, "write"),
        (Operation::Sync, "sync"),
        (Operation::All, told.whole()),
    ];
    let is_shown = |operation: Operation| operation != Operation::All || !told.is_told_apart();
    let shown = words.into_iter().filter(|(operation, _)| is_shown(*operation) && told.figures(*operation).is_some());
    shown.collect()
}

/// The directions of a cell with their numbers.
pub(crate) fn directions(cell: &Cell) -> Vec<(&'static str, Option<Figures<'_>>)> {
    operations(cell).into_iter().map(|(operation, word)| (word, cell.figures(operation))).collect()
}

/// The slowest and the fastest second of a cell as multiples of its mean, where that would mislead.
pub(crate) fn range(cell: &Cell) -> Option<[f64; 2]> {
    let stability = cell.stability.filter(Stability::is_erratic)?;
    let mean = cell.estimate.map(|estimate| estimate.iops).filter(|mean| *mean > 0.0)?;
    Some([stability.iops_min / mean, stability.iops_max / mean])
}

/// The rows of a cell.
pub(crate) fn of(cell: &Cell) -> Vec<Row<'_>> {
    let range = range(cell);
    let grade = cell.stability.and_then(|stability| stability.grade);
    let row = |(index, (operation, figures))| Row {
        workload: if index == 0 { &cell.workload } else { "" },
        operation,
        figures,
        range,
        errors: cell.error_kinds.iter().filter(|kind| kind.operation == operation).map(|kind| kind.count).sum(),
        of_limit: if index == 0 { cell.sustained_bound().map(Bound::share) } else { None },
        window: cell.window.filter(|_| index == 0),
        begins_late: cell.left_out_ns() > 0,
        grade: grade.filter(|_| index == 0),
        verdict: (index == 0).then(|| cell.word()),
    };
    directions(cell).into_iter().enumerate().map(row).collect()
}

/// The tone of a word in the column of verdicts.
const fn tone(word: Word) -> Tone {
    match word {
        Word::NotRun => Tone::Bad,
        Word::Verdict(Verdict::Steady) => Tone::Good,
        word if word.is_doubtful() => Tone::Doubtful,
        _ => Tone::Faint,
    }
}

/// The column of verdicts, which is the last one of a table.
pub(crate) fn verdicts(words: &[Option<Word>]) -> Column {
    let text = words.iter().map(|word| word.map_or("", Word::as_str).to_owned());
    let tones = words.iter().map(|word| word.map_or(Tone::Plain, tone));
    Column::new("verdict", Side::Left, 0, text.collect()).toned(tones.collect())
}

/// What a cell's verdict means, for readers who meet it for the first time. Where nothing but a rate above the limit
/// speaks for a cache, it may as well be another limit.
pub(crate) fn meaning(verdict: Verdict, cell: &Cell) -> &'static str {
    const SEEN: [&str; 3] = ["cached-reads", "reads-without-storage", "repeated-reads-faster"];
    let is_found = |code: &str| cell.findings.iter().any(|finding| finding.code == code);
    match verdict {
        Verdict::Steady => "the rate was level in its window and is known to the asked precision",
        Verdict::Burst => "a burst allowance was used up, or was still in use",
        Verdict::Drifting => "the rate was still moving",
        Verdict::Unstable => "the rate fluctuated too much for a single number",
        Verdict::Cached if is_found("read-above-device-limit") && !SEEN.into_iter().any(is_found) => {
            "something else answered, or the limit is another one"
        }
        Verdict::Cached => "a cache answered instead of the storage",
        Verdict::ClientLimited => "the machine that measured was the limit",
        Verdict::Short => "measured too briefly to claim that the rate lasts",
    }
}

/// What the word about a command means.
pub(crate) const fn meaning_of_bound(bound_by: BoundBy) -> &'static str {
    match bound_by {
        BoundBy::Cpu => "it computed for the largest part of its time",
        BoundBy::Io => "it waited for the disk for the largest part of its time",
        BoundBy::Waiting => "it waited for something else than processors and the disk",
    }
}

/// A number about a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    Iops,
    /// How far the IOPS may be from the truth.
    Precision,
    Throughput,
    Mean,
    P50,
    P99,
    P99_9,
    Max,
}

impl Metric {
    pub(crate) const fn head(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Precision => "+-",
            Self::Throughput => numbers::THROUGHPUT_UNIT,
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::P99_9 => "p99.9",
            Self::Max => "max",
        }
    }

    /// The percentiles of the tables.
    pub(crate) const PERCENTILES: [Self; 3] = [Self::P50, Self::P99, Self::P99_9];

    /// The number as text; of a rate whose mean would mislead, its range.
    pub(crate) fn of(self, figures: Option<&Figures<'_>>, range: Option<[f64; 2]>) -> String {
        let Some(figures) = figures else { return ABSENT.to_owned() };
        let rate = |rate: Option<f64>, format: fn(f64) -> String| {
            let [low, high] = range.unwrap_or([1.0; 2]);
            numbers::or_absent(rate, |rate| numbers::range(low * rate, high * rate, format))
        };
        let latency = &figures.latency_ns;
        // What takes so long is no operation but a command.
        let time = |ns: f64| if ns >= LONG_NS { numbers::elapsed(ns as u64) } else { numbers::latency(ns) };
        let whole = |ns: Option<u64>| numbers::or_absent(ns, |ns| time(ns as f64));
        let percentile = |ns: Option<u64>| {
            let open_ended = ns.and(self.interval(figures)).is_some_and(|interval| interval.high_ns.is_none());
            if open_ended { format!("{AT_LEAST} {}", whole(ns)) } else { whole(ns) }
        };
        match self {
            Self::Iops => rate(figures.iops, numbers::iops),
            Self::Precision if range.is_some() => ABSENT.to_owned(),
            Self::Precision => numbers::or_absent(precision(figures), numbers::percent),
            // Syncs carry no data, so they have no throughput.
            Self::Throughput if figures.bytes == Some(0) && figures.operations > Some(0) => ABSENT.to_owned(),
            Self::Throughput => rate(figures.bytes_per_second, numbers::throughput),
            Self::Mean => numbers::or_absent(latency.mean, time),
            Self::P50 => percentile(latency.p50),
            Self::P99 => percentile(latency.p99),
            Self::P99_9 => percentile(latency.p99_9),
            Self::Max => whole(latency.max),
        }
    }

    /// How far a percentile may be off, when that is known.
    pub(crate) fn interval<'a>(self, figures: &Figures<'a>) -> Option<&'a LatencyInterval> {
        let result = figures.measured?;
        match self {
            Self::P50 => result.latency_interval("p50"),
            Self::P99 => result.latency_interval("p99"),
            Self::P99_9 => result.latency_interval("p99_9"),
            _ => None,
        }
    }

    /// A column of the interval of a percentile.
    fn interval_column(self, rank: u8, rows: &[Row<'_>]) -> Column {
        let text = |row: &Row<'_>| {
            numbers::or_absent(row.figures.as_ref().and_then(|figures| self.interval(figures)), interval)
        };
        Column::new(format!("{} [95 %]", self.head()), Side::Right, rank, rows.iter().map(text).collect())
    }

    /// A column of this number; those of a higher rank are left out first.
    pub(crate) fn column(self, head: impl Into<String>, rank: u8, rows: &[Row<'_>]) -> Column {
        Column::new(head, Side::Right, rank, rows.iter().map(|row| self.of(row.figures.as_ref(), row.range)).collect())
    }
}

/// The ends of an interval: `[590 us, 640 us]`, `[590 us, ?]`.
fn interval(interval: &LatencyInterval) -> String {
    let end = |ns: u64| numbers::latency_in_text(ns as f64);
    format!("[{}, {}]", end(interval.low_ns), interval.high_ns.map_or_else(|| "?".to_owned(), end))
}

/// Half of the interval of the IOPS, as a share of them.
fn precision(figures: &Figures<'_>) -> Option<f64> {
    let result = figures.measured?;
    let (low, high) = (result.iops_low?, result.iops_high?);
    (result.iops > 0.0).then(|| (high - low) / 2.0 / result.iops)
}

/// Leaves out columns of numbers that another program told of nothing.
pub(crate) fn without_unknown(columns: &mut Vec<Column>) {
    columns.retain(|column| column.values.iter().any(|value| value != ABSENT));
}

/// The table of a target.
pub(crate) fn grid(rows: &[Row<'_>]) -> Grid {
    let text = |value: fn(&Row<'_>) -> String| rows.iter().map(value).collect::<Vec<_>>();
    let mut columns = vec![
        Column::new("workload", Side::Left, 0, text(|row| row.workload.to_owned())),
        Column::new("op", Side::Left, 0, text(|row| row.operation.to_owned())),
        Metric::Iops.column("IOPS", 0, rows),
        Metric::Throughput.column(numbers::THROUGHPUT_UNIT, 1, rows),
        Metric::Mean.column("mean", 3, rows),
        Metric::P50.column("p50", 4, rows),
        Metric::P99.column("p99", 2, rows),
        Metric::P99_9.column("p99.9", 6, rows),
        Metric::Max.column("max", 5, rows),
    ];
    if rows.iter().all(|row| row.verdict.is_none_or(|word| word == Word::Told)) {
        without_unknown(&mut columns);
    }
    let intervals = [(Metric::P50, 9), (Metric::P99, 7), (Metric::P99_9, 8)];
    let is_known = |metric: &Metric| {
        let interval = |row: &Row<'_>| row.figures.as_ref().is_some_and(|figures| metric.interval(figures).is_some());
        rows.iter().any(interval)
    };
    for (metric, rank) in intervals.into_iter().filter(|(metric, _)| is_known(metric)) {
        columns.push(metric.interval_column(rank, rows));
    }
    if rows.iter().any(|row| row.figures.as_ref().and_then(precision).is_some()) {
        columns.insert(3, Metric::Precision.column(Metric::Precision.head(), 0, rows));
    }
    if rows.iter().any(|row| row.of_limit.is_some()) {
        let place = columns.iter().position(|column| column.head == "mean").unwrap_or(columns.len());
        let values = text(|row| row.of_limit.map_or_else(String::new, numbers::percent));
        columns.insert(place, Column::new(OF_LIMIT, Side::Right, 1, values));
    }
    if rows.iter().any(|row| row.errors > 0) {
        columns.push(Column::new("errors", Side::Right, 0, text(|row| numbers::count(row.errors))));
    }
    if rows.iter().any(|row| row.grade.is_some()) {
        let grade = |row: &Row<'_>| row.grade.map_or("", Grade::as_str).to_owned();
        columns.push(Column::new("grade", Side::Left, 4, text(grade)));
    }
    let is_short = |row: &Row<'_>| row.verdict == Some(Word::Verdict(Verdict::Short));
    if rows.iter().any(|row| row.window.is_some() && (row.begins_late || !is_short(row))) {
        let clock = |window: Window| numbers::range(window.from_ns, window.to_ns, numbers::clock);
        let window = rows.iter().map(|row| row.window.map_or_else(String::new, clock)).collect();
        columns.push(Column::new("window", Side::Left, 0, window));
    }
    columns.push(verdicts(&rows.iter().map(|row| row.verdict).collect::<Vec<_>>()));
    Grid::new(columns)
}
