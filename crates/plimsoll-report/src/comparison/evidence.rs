//! What one number of two cells says about their ratio.
//!
//! Seconds are never independent values, and neither are operations: visits are, when other things lie between them.
//! Of a run that measured both sides in turns, each two passes make a block in which the order is A B B A, and what
//! happened on the machine meanwhile drops out of the block's ratio. What was measured at different times is compared
//! by how its visits scatter; what was measured in one piece, by how sure its rate is.

use std::collections::BTreeMap;

use plimsoll_measure::compare::{
    paired,
    ratio::Ratio,
    signed_rank::{self, Shift},
    unpaired::{self, LogMean},
};
use plimsoll_record::{
    application::{ApplicationResult, Iteration, OwnFigure},
    figures::Figures,
    files::PhaseSample,
    record::{Cell, Kind},
    results::{Interval, SlotSummary},
};
use plimsoll_workload::file_set::FilePhase;
use serde::Serialize;

use super::{
    metric::{Metric, Operation},
    pairing,
};

/// The confidence of every interval.
const CONFIDENCE: f64 = 0.95;
/// Blocks that a paired comparison needs.
const BLOCKS_MIN: usize = 2;
/// Blocks from which each of them is a value.
const BLOCKS_JUDGED_MIN: usize = 5;
/// Passes in a block, in each of which a side is visited once.
const PASSES_PER_BLOCK: usize = 2;
/// Visits below which a cell is judged by the interval of its rate.
const VISITS_MIN: usize = 3;
/// Why a number that another program told has no interval.
pub(super) const TOLD_ALONE: &str = "no interval was told";
/// Why a percentile of what was measured in one piece has no ratio, though it has an interval.
const FEW_IN_SECONDS: &str = "too few operations in single seconds for a ratio";
/// The same of one that is kept of whole slots only, or of the seconds of several pods.
const NOT_IN_SECONDS: &str = "measured in one piece, whose seconds do not tell it";
/// Visits closer than this to the one before are one piece with it.
const GAP_NS: u64 = 500_000_000;

/// How a ratio was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// From the logarithms of the ratios of blocks of two passes, in one run.
    PairedBlocks,
    /// The same of single passes, because blocks are few.
    PairedPasses,
    /// Welch's interval of the logarithms of visits.
    UnpairedVisits,
    /// From the intervals of both rates, or of seconds in one piece, of at least one side.
    UnpairedIntervals,
}

/// A ratio, and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) ratio: Ratio,
    pub(super) method: Method,
    /// Blocks, passes or visits of the reference and of the other side; a cell in one piece is one.
    pub(super) values: [usize; 2],
    /// What ranks alone say, as logarithms.
    pub(super) ranks: Option<Shift>,
}

/// The ratio of a number of the second cell to that of the first; or why there is none.
pub(crate) fn of(
    cells: [&Cell; 2],
    in_one_run: bool,
    operation: Operation,
    metric: Metric,
) -> Result<Evidence, &'static str> {
    if cells.iter().any(|cell| cell.told.is_some()) {
        return of_told(cells, metric);
    }
    let pieces = cells.map(piece);
    // What happens on the machine drops out of turns, also where the last of a pass is the first of the next one.
    // Phases are one after another.
    if in_one_run
        && !pairing::are_one_after_another(cells)
        && cells.into_iter().all(takes_turns)
        && let [Ok(first), Ok(second)] = cells.map(|cell| visits(cell, operation, metric))
        && let Some(evidence) = in_turns(&first, &second)
    {
        return Ok(evidence);
    }
    let [first, second] = [Side::of(cells[0], operation, metric)?, Side::of(cells[1], operation, metric)?];
    let method = match pieces {
        [None, None] => Method::UnpairedVisits,
        _ => Method::UnpairedIntervals,
    };
    Ok(Evidence {
        ratio: LogMean::ratio(&first.mean, &second.mean, CONFIDENCE),
        method,
        values: [first.values, second.values],
        ranks: unpaired::shift(&first.logs, &second.logs, CONFIDENCE),
    })
}

/// The ratio of what another program told. It told no intervals, so that there is one only where it told several runs.
fn of_told(cells: [&Cell; 2], metric: Metric) -> Result<Evidence, &'static str> {
    if metric != Metric::Elapsed {
        return Err(TOLD_ALONE);
    }
    let logs = cells.map(|cell| {
        let durations = cell.durations();
        durations.iter().map(|duration| (duration.elapsed_ns.max(1) as f64).ln()).collect::<Vec<f64>>()
    });
    // Two runs do not tell how far others may lie.
    let mean = |side: usize| LogMean::of_visits(&logs[side]).ok_or(TOLD_ALONE);
    let (first, second) = (mean(0)?, mean(1)?);
    Ok(Evidence {
        ratio: LogMean::ratio(&first, &second, CONFIDENCE),
        method: Method::UnpairedVisits,
        values: [logs[0].len(), logs[1].len()],
        ranks: unpaired::shift(&logs[0], &logs[1], CONFIDENCE),
    })
}

/// How sure the rate of a cell is by itself, for histories, in which many are compared; or why that is not known.
pub(crate) fn of_rate(cell: &Cell, operation: Operation) -> Result<LogMean, &'static str> {
    match cell.told {
        Some(_) => Err(TOLD_ALONE),
        None => Side::of(cell, operation, Metric::Iops).map(|side| side.mean),
    }
}

/// The ratio of two such rates.
pub(crate) fn ratio(first: &LogMean, second: &LogMean) -> Ratio {
    LogMean::ratio(first, second, CONFIDENCE)
}

/// One side by itself.
struct Side {
    mean: LogMean,
    /// The logarithms of visits; none of a cell in one piece.
    logs: Vec<f64>,
    /// How many values the mean rests on: visits, or iterations of a phase; a cell in one piece is one.
    values: usize,
}

impl Side {
    fn of(cell: &Cell, operation: Operation, metric: Metric) -> Result<Self, &'static str> {
        if let Some(piece) = piece(cell) {
            let values = match operation {
                Operation::Phase(phase) => cell.phase(phase).map_or(1, |result| result.samples.len()),
                _ => 1,
            };
            return Ok(Self { mean: as_a_whole(cell, piece, operation, metric)?, logs: Vec::new(), values });
        }
        let logs: Vec<f64> = visits(cell, operation, metric)?.iter().map(|(_, value)| value.ln()).collect();
        let mean = LogMean::of_visits(&logs).ok_or("too few visits")?;
        let values = logs.len();
        Ok(Self { mean, logs, values })
    }
}

/// The visits that a cell's numbers are made of.
fn counted(cell: &Cell) -> impl Iterator<Item = &SlotSummary> {
    cell.slots.iter().filter(|slot| slot.counted)
}

/// Operations that have to be missing before their absence is no accident.
const MISSING_MIN: f64 = 10.0;

/// Whether none of these operations completed in any visit to the second cell, though at the rate of the first it would
/// have been ten or more.
pub(crate) fn has_stopped(cells: [&Cell; 2], operation: Operation) -> bool {
    let [Some(first), Some(_)] = cells.map(|cell| operation.result_of(cell)) else { return false };
    let seconds = counted(cells[1]).map(|slot| slot.elapsed_ns as f64 / 1e9).sum::<f64>();
    let is_idle = |slot: &SlotSummary| Metric::Iops.of_visit(slot, operation).is_some_and(|rate| rate <= 0.0);
    first.iops * seconds >= MISSING_MIN && counted(cells[1]).all(is_idle)
}

/// Why the visits of a cell say no more than one long visit would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// Nothing else was measured between them, or there is but one.
    One,
    /// They are too few to see how they scatter.
    FewVisits,
}

impl Piece {
    /// Why a number of the cell has no interval.
    const fn without_interval(self) -> &'static str {
        match self {
            Self::One => "measured in one piece, without an interval",
            Self::FewVisits => "fewer than three visits, without an interval",
        }
    }
}

/// Of each two successive visits of a cell whether nothing was measured between them.
fn adjacencies(cell: &Cell) -> Vec<bool> {
    let visits: Vec<&SlotSummary> = counted(cell).collect();
    let follows = |pair: &[&SlotSummary]| {
        let until_ns = pair[0].from_ns.saturating_add(pair[0].elapsed_ns).saturating_add(GAP_NS);
        pair[1].ramp_ns == 0 && pair[1].from_ns <= until_ns
    };
    visits.windows(2).map(follows).collect()
}

/// Whether a cell has visits with others between them. Each time that a program runs is a value of its own.
fn takes_turns(cell: &Cell) -> bool {
    counted(cell).count() >= VISITS_MIN && (cell.application.is_some() || adjacencies(cell).contains(&false))
}

/// Why the visits of a cell are no values; `None` when they are.
fn piece(cell: &Cell) -> Option<Piece> {
    let visits: Vec<&SlotSummary> = counted(cell).collect();
    let is_one = cell.application.is_none() && (visits.len() == 1 || adjacencies(cell).contains(&true));
    if is_one { Some(Piece::One) } else { (visits.len() < VISITS_MIN).then_some(Piece::FewVisits) }
}

/// A number of each visit, with its round.
fn visits(cell: &Cell, operation: Operation, metric: Metric) -> Result<Vec<(u32, f64)>, &'static str> {
    if let Operation::Phase(phase) = operation {
        return iterations(cell, phase, metric);
    }
    if let Some(application) = &cell.application {
        return of_application(application, metric);
    }
    let value = |slot: &SlotSummary| match metric.of_visit(slot, operation) {
        Some(value) if value > 0.0 => Ok((slot.round, value)),
        Some(_) if metric.is_latency() => Err("latencies of zero"),
        Some(_) => Err("nothing completed in some visits"),
        None => Err("some visits had too few operations"),
    };
    counted(cell).map(value).collect()
}

/// A number of each iteration of an application, with its round.
fn of_application(application: &ApplicationResult, metric: Metric) -> Result<Vec<(u32, f64)>, &'static str> {
    let of = |iteration: &Iteration| {
        let value = match metric {
            Metric::Elapsed => Some(iteration.elapsed_ns.max(1) as f64),
            Metric::Iops => iteration.rate().and_then(OwnFigure::operations_per_second),
            Metric::Throughput => iteration.rate().and_then(OwnFigure::bytes_per_second),
            Metric::P50 | Metric::P99 | Metric::P99_9 | Metric::Mean => None,
        };
        value.filter(|value| *value > 0.0).map(|value| (iteration.round, value))
    };
    application.counted().map(|iteration| of(iteration).ok_or("not told of some iterations")).collect()
}

/// A number of each iteration of a phase, with its round.
fn iterations(cell: &Cell, phase: FilePhase, metric: Metric) -> Result<Vec<(u32, f64)>, &'static str> {
    let of: fn(&PhaseSample) -> f64 = match metric {
        Metric::Iops => PhaseSample::iops,
        Metric::Throughput => PhaseSample::bytes_per_second,
        Metric::P50 | Metric::P99 | Metric::P99_9 | Metric::Mean | Metric::Elapsed => {
            return Err("latencies of files are not compared");
        }
    };
    let samples = &cell.phase(phase).ok_or("not measured")?.samples;
    let values: Vec<(u32, f64)> = samples.iter().map(|sample| (sample.round, of(sample))).collect();
    if values.iter().all(|(_, value)| *value > 0.0) { Ok(values) } else { Err("nothing completed in some visits") }
}

/// Whole blocks of two passes in which both cells were visited; `None` when there are too few. Where there are few,
/// each pass is a value, also one whose block is not whole: who began it was drawn, so that what the order does to a
/// pass only widens the interval.
fn in_turns(first: &[(u32, f64)], second: &[(u32, f64)]) -> Option<Evidence> {
    let other = |round: u32| second.iter().find(|visit| visit.0 == round).map(|visit| visit.1);
    let both = |(round, value): &(u32, f64)| Some((*round, [*value, other(*round)?]));
    let passes: BTreeMap<u32, [f64; 2]> = first.iter().filter_map(both).collect();
    let block = |round: u32| round / PASSES_PER_BLOCK as u32;
    let passes_of = |of: u32| passes.keys().filter(|round| block(**round) == of).count();
    let whole = passes.iter().filter(|(round, _)| passes_of(block(**round)) == PASSES_PER_BLOCK);
    let whole: Vec<[f64; 2]> = whole.map(|(_, pass)| *pass).collect();
    let (method, passes_each, values) = match whole.len() / PASSES_PER_BLOCK {
        BLOCKS_JUDGED_MIN.. => (Method::PairedBlocks, PASSES_PER_BLOCK, whole),
        BLOCKS_MIN.. => (Method::PairedPasses, 1, passes.into_values().collect()),
        _ => return None,
    };
    let side = |side: usize| values.iter().map(|pass| pass[side]).collect::<Vec<f64>>();
    let logs = paired::log_ratios(&side(0), &side(1), passes_each)?;
    let ratio = paired::ratio(&logs, CONFIDENCE)?;
    Some(Evidence { ratio, method, values: [logs.len(); 2], ranks: signed_rank::shift(&logs, CONFIDENCE) })
}

/// A number of a cell whose visits are no values.
fn as_a_whole(cell: &Cell, piece: Piece, operation: Operation, metric: Metric) -> Result<LogMean, &'static str> {
    let no_interval = piece.without_interval();
    match metric {
        Metric::Iops | Metric::Throughput => {
            // What commands tell of themselves has an interval from iterations or none.
            let absent = if cell.application.is_some() { no_interval } else { "not measured" };
            let result = operation.result_of(cell).ok_or(absent)?;
            let interval = result.iops_low.zip(result.iops_high);
            let is_predicted = cell.burst.is_some_and(|burst| burst.predicted);
            let unsure = if is_predicted {
                "a burst that is predicted to end"
            } else {
                "measured too briefly to tell how sure it is"
            };
            let (low, high) = interval.ok_or(unsure)?;
            let value = metric.of_cell(cell, &Figures::of(result), false).ok_or("not measured")?;
            // The size of operations is a matter of the plan, so bytes are as sure as operations.
            let scale = value / result.iops;
            LogMean::of_interval(value, low * scale, high * scale).ok_or(no_interval)
        }
        Metric::P50 => of_seconds(cell, piece, operation, |second| second.p50_ns),
        Metric::P99 => of_seconds(cell, piece, operation, |second| second.p99_ns),
        Metric::P99_9 if piece == Piece::One && cell.kind == Kind::Blocks => Err(NOT_IN_SECONDS),
        Metric::P99_9 | Metric::Mean | Metric::Elapsed => Err(no_interval),
    }
}

/// A percentile of the seconds that a cell's numbers are made of; or why there is none: a second may lack it, or be
/// about other operations as well.
fn of_seconds(
    cell: &Cell,
    piece: Piece,
    operation: Operation,
    percentile: fn(&Interval) -> Option<u64>,
) -> Result<LogMean, &'static str> {
    let no_interval = piece.without_interval();
    let others = Operation::ALL.into_iter().filter(|other| *other != operation);
    if others.into_iter().any(|other| other.result_of(cell).is_some()) {
        return Err(no_interval);
    }
    let window = cell.window.ok_or(no_interval)?;
    let is_within = |second: &&Interval| {
        let middle_ns = second.t_ns.saturating_add(second.length_ns / 2);
        second.measured && window.from_ns <= middle_ns && middle_ns <= window.to_ns
    };
    let log = |second: &Interval| percentile(second).filter(|ns| *ns > 0).map(|ns| (ns as f64).ln());
    let seconds = || cell.series.iter().filter(is_within);
    let Some(logs) = seconds().map(log).collect::<Option<Vec<f64>>>() else {
        // Of several pods the seconds tell none, however many operations they had.
        let tell_any = seconds().any(|second| second.p50_ns.is_some());
        return Err(match piece {
            _ if tell_any => FEW_IN_SECONDS,
            Piece::One => NOT_IN_SECONDS,
            Piece::FewVisits => no_interval,
        });
    };
    LogMean::of_seconds(&logs).ok_or(no_interval)
}
