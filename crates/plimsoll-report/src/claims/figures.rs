//! The figures that a cell has, in base units, and how they came about.

use std::borrow::Cow;

use plimsoll_measure::latency::operations_needed;
use plimsoll_record::{
    figures::{Figures, Operation},
    numbers,
    record::{Cell, Record},
    told::{Direction as ToldDirection, Duration, Figure as ToldFigure, Measured},
};

use super::{
    unit::Dimension,
    words::{Direction, Expected, Figure, Threads},
};

/// A cell and the record that it is from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) record: &'a Record,
    pub(super) cell: &'a Cell,
}

impl Source<'_> {
    pub(super) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self.cell, other.cell)
    }

    /// What a reader calls it.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.cell.target, self.cell.workload)
    }
}

/// What is asked of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) figure: Figure,
    pub(super) direction: Option<Direction>,
    pub(super) threads: Option<Threads>,
    pub(super) is_assumed: bool,
}

/// The values that answer it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    pub(super) values: Vec<f64>,
    /// What they are several of.
    pub(super) of: Of,
    /// Which operations they are about.
    pub(super) operation: Operation,
    /// How one value came about.
    pub(super) derived: Option<Derived>,
}

/// What several values are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    One,
    Runs,
    Threads,
}

/// A rate of operations that was not told, but follows from bytes and time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Derived {
    pub(super) bytes: u64,
    pub(super) block_size: Option<u64>,
    pub(super) elapsed_ns: Option<u64>,
}

impl Figure {
    /// What kind of quantity it is.
    pub(super) const fn dimension(self) -> Dimension {
        match self {
            Self::Iops => Dimension::RATE,
            Self::Bandwidth => Dimension::BYTE_RATE,
            Self::Bytes | Self::BlockSize => Dimension::BYTES,
            Self::Latency | Self::Percentile(_) | Self::Elapsed | Self::User | Self::System | Self::Processor => {
                Dimension::SECONDS
            }
            Self::Operations | Self::ProcessorShare | Self::Threads | Self::Jobs | Self::QueueDepth | Self::Errors => {
                Dimension::PLAIN
            }
        }
    }

    /// Whether each run of a command has it.
    const fn is_of_a_run(self) -> bool {
        matches!(self, Self::Elapsed | Self::User | Self::System | Self::Processor | Self::ProcessorShare)
    }

    /// What is meant by a number of this kind, when nobody says: of a command its duration.
    pub(super) fn of_dimension(dimension: Dimension, source: &Source<'_>) -> Option<Self> {
        let is_command = !source.cell.durations().is_empty();
        match dimension {
            Dimension::RATE => Some(Self::Iops),
            Dimension::BYTE_RATE => Some(Self::Bandwidth),
            Dimension::BYTES => Some(Self::Bytes),
            Dimension::SECONDS if is_command => Some(Self::Elapsed),
            Dimension::SECONDS => Some(Self::Latency),
            _ => None,
        }
    }

    /// What a cell is about, when nobody says.
    pub(super) fn usual(source: &Source<'_>) -> Self {
        match source.cell.told.as_ref().map(|told| &told.measured) {
            Some(Measured::Durations(_)) => Self::Elapsed,
            Some(Measured::Files(_)) => Self::Bandwidth,
            Some(Measured::Figure(figure)) => {
                use plimsoll_record::told::FigureValue;
                match figure.value {
                    FigureValue::BytesPerSecond(_) => Self::Bandwidth,
                    FigureValue::LatencyNs(_) => Self::Latency,
                    FigureValue::Iops(_) | FigureValue::Range => Self::Iops,
                }
            }
            Some(Measured::Transfers(_)) => Self::Iops,
            // A command that tells its rate is about that: its time may be one that it was given.
            None if source.cell.durations().is_empty() => Self::Iops,
            None => match source.cell.figures(Operation::All) {
                Some(Figures { iops: Some(_), .. }) => Self::Iops,
                Some(Figures { bytes_per_second: Some(_), .. }) => Self::Bandwidth,
                _ => Self::Elapsed,
            },
        }
    }
}

/// The values of a cell; or why there are none.
pub(super) fn values(source: &Source<'_>, asked: &Asked) -> Result<Values, String> {
    let one = |value: f64, operation| Values { values: vec![value], of: Of::One, operation, derived: None };
    let measured = source.cell.told.as_ref().map(|told| &told.measured);
    match measured {
        _ if asked.is_assumed => assumed(measured, asked.figure).map(|value| one(value, Operation::All)),
        Some(Measured::Durations(durations)) => runs(durations, asked.figure),
        // A cell has the sum of what plimsoll timed, and each time is a value of its own.
        None if asked.figure.is_of_a_run() && source.cell.application.is_some() => {
            runs(&source.cell.durations(), asked.figure)
        }
        _ => match settings(source.cell, asked.figure) {
            Some(value) => value.map(|value| one(value, Operation::All)),
            None if asked.threads.is_some() => threads(source.cell, asked),
            None => of_operations(source.cell, asked),
        },
    }
}

/// What somebody wrote beside a figure.
fn assumed(measured: Option<&Measured>, figure: Figure) -> Result<f64, String> {
    let Some(Measured::Figure(ToldFigure { value, low, expected: Some(expected), .. })) = measured else {
        return Err("nothing is assumed beside it".to_owned());
    };
    let figures = Measured::Figure(ToldFigure {
        command: String::new(),
        low: *low,
        high: None,
        unit: String::new(),
        value: *value,
        expected: None,
        remark: String::new(),
    });
    // The expectation is in the unit of the figure.
    let told = plimsoll_record::told::Told {
        source: plimsoll_record::told::Source::CommentedCommand,
        lines: (1, 1),
        measured: figures,
    };
    let own = told.figures(Operation::All).and_then(|figures| of_figures(&figures, figure));
    match own {
        Some(own) if low.abs() > 0.0 => Ok(own / low * expected),
        _ => Err(format!("no {} is assumed beside it", figure.name())),
    }
}

fn runs(durations: &[Duration], figure: Figure) -> Result<Values, String> {
    let of: fn(&Duration) -> f64 = match figure {
        Figure::Elapsed => |run| run.elapsed_ns as f64 / 1e9,
        Figure::User => |run| run.user_ns as f64 / 1e9,
        Figure::System => |run| run.system_ns as f64 / 1e9,
        Figure::Processor => |run| (run.user_ns as f64 + run.system_ns as f64) / 1e9,
        Figure::ProcessorShare => |run| (run.user_ns as f64 + run.system_ns as f64) / (run.elapsed_ns as f64).max(1.0),
        _ => return Err(format!("of a command its duration and processor time are told, no {}", figure.name())),
    };
    if durations.is_empty() {
        return Err(missing(figure, Operation::All));
    }
    let values = durations.iter().map(of).collect();
    Ok(Values { values, of: Of::Runs, operation: Operation::All, derived: None })
}

/// What was set, and not measured.
fn settings(cell: &Cell, figure: Figure) -> Option<Result<f64, String>> {
    let told = cell.told.as_ref().and_then(|told| told.transfers());
    let plan = cell.blocks();
    let value = match figure {
        Figure::Threads | Figure::Jobs => match told {
            Some(told) => told.jobs.map(|jobs| jobs as f64),
            None => plan.map(|plan| f64::from(plan.jobs)),
        },
        Figure::QueueDepth => match told {
            Some(told) => told.queue_depth.map(|depth| depth as f64),
            None => plan.map(|plan| f64::from(plan.queue_depth)),
        },
        Figure::BlockSize => match told {
            Some(told) => told.block_size_bytes.map(|size| size as f64),
            None => plan.map(|plan| f64::from(plan.block_size_bytes_max)),
        },
        Figure::Errors => match told {
            Some(told) => told.errors.map(|errors| errors as f64),
            None => Some(cell.errors as f64),
        },
        _ => return None,
    };
    Some(value.ok_or_else(|| format!("its {} is not told", figure.name())))
}

/// The directions that a cell tells.
fn told_directions(cell: &Cell) -> Vec<Operation> {
    [Operation::Read, Operation::Write].into_iter().filter(|operation| cell.figures(*operation).is_some()).collect()
}

fn of_operations(cell: &Cell, asked: &Asked) -> Result<Values, String> {
    let Asked { figure, direction, .. } = *asked;
    let single = |operation| {
        let value = match figure {
            Figure::Percentile(percent) => percentile(cell, operation, percent)?,
            _ => cell.figures(operation).as_ref().and_then(|figures| of_figures(figures, figure)),
        };
        let value = value.ok_or_else(|| missing(figure, operation))?;
        Ok(Values { values: vec![value], of: Of::One, operation, derived: derived(cell, operation, figure) })
    };
    let both = told_directions(cell);
    match direction {
        Some(Direction::Read) => single(single_figure(cell).unwrap_or(Operation::Read)),
        Some(Direction::Write) => single(single_figure(cell).unwrap_or(Operation::Write)),
        _ if cell.figures(Operation::All).is_some() && !is_files(cell) => single(Operation::All),
        _ if both.len() == 1 => single(both[0]),
        Some(Direction::Total) if figure.adds_up() && !is_files(cell) && both.len() == 2 => {
            let sum = single(both[0])?.values[0] + single(both[1])?.values[0];
            Ok(Values { values: vec![sum], of: Of::One, operation: Operation::All, derived: None })
        }
        Some(Direction::Total) if is_files(cell) => single(Operation::All),
        // The time of a load is that of its reads and of its writes.
        _ if figure == Figure::Elapsed && !both.is_empty() => single(both[0]),
        _ if both.is_empty() => Err(missing(figure, Operation::All)),
        _ => Err(format!("it has reads and writes: write read {0}, write {0} or total {0}", figure.name())),
    }
}

/// A figure behind a command does not say what it is about: the name of the command does.
fn single_figure(cell: &Cell) -> Option<Operation> {
    let measured = cell.told.as_ref().map(|told| &told.measured);
    matches!(measured, Some(Measured::Figure(_))).then_some(Operation::All)
}

fn is_files(cell: &Cell) -> bool {
    matches!(cell.told.as_ref().map(|told| &told.measured), Some(Measured::Files(_)))
}

fn missing(figure: Figure, operation: Operation) -> String {
    let direction = match operation {
        Operation::Read => "read ",
        Operation::Write => "write ",
        Operation::Sync | Operation::All | Operation::Phase(_) => "",
    };
    format!("it tells no {direction}{}", figure.name())
}

fn of_figures(figures: &Figures<'_>, figure: Figure) -> Option<f64> {
    match figure {
        Figure::Iops => figures.iops,
        Figure::Bandwidth => figures.bytes_per_second,
        Figure::Bytes => figures.bytes.map(|bytes| bytes as f64),
        Figure::Operations => figures.operations.map(|operations| operations as f64),
        Figure::Latency => figures.latency_ns.mean.map(|ns| ns / 1e9),
        Figure::Elapsed => figures.elapsed_ns.map(|ns| ns as f64 / 1e9),
        _ => None,
    }
}

fn told_direction(cell: &Cell, operation: Operation) -> Option<&ToldDirection> {
    let transfers = cell.told.as_ref()?.transfers()?;
    match operation {
        Operation::Read => transfers.read.as_ref(),
        Operation::Write => transfers.write.as_ref(),
        Operation::All => transfers.total.as_ref(),
        Operation::Sync => transfers.sync.as_ref(),
        Operation::Phase(_) => None,
    }
}

/// A percentile that the operations support.
fn percentile(cell: &Cell, operation: Operation, percent: f64) -> Result<Option<f64>, String> {
    let Some(figures) = cell.figures(operation) else { return Ok(None) };
    let is_end = percent <= 0.0 || percent >= 100.0;
    let needed = operations_needed(percent / 100.0);
    if let Some(have) = figures.operations.filter(|have| !is_end && *have < needed) {
        let [needed, have] = [needed, have].map(numbers::count);
        return Err(format!("a percentile of {percent} % needs {needed} operations, and had {have}"));
    }
    if let Some(direction) = told_direction(cell, operation) {
        let is_it = |one: &&plimsoll_record::told::Percentile| (one.percent - percent).abs() < 1e-9;
        return Ok(direction.percentiles.iter().find(is_it).map(|one| one.latency_ns / 1e9));
    }
    let latency = &figures.latency_ns;
    let named = [
        (0.0, latency.min),
        (50.0, latency.p50),
        (90.0, latency.p90),
        (95.0, latency.p95),
        (99.0, latency.p99),
        (99.9, latency.p99_9),
        (99.99, latency.p99_99),
        (100.0, latency.max),
    ];
    let found = named.into_iter().find(|(name, _)| (name - percent).abs() < 1e-9);
    Ok(found.and_then(|(_, ns)| ns).map(|ns| ns as f64 / 1e9))
}

/// Latencies scatter within one cell: what a program told of that.
pub(super) fn latency_deviation(cell: &Cell, operation: Operation) -> Option<f64> {
    cell.figures(operation)?.latency_ns.stddev.map(|ns| ns / 1e9)
}

fn threads(cell: &Cell, asked: &Asked) -> Result<Values, String> {
    let operation = match asked.direction {
        Some(Direction::Read) => Operation::Read,
        Some(Direction::Write) => Operation::Write,
        _ => Operation::All,
    };
    let all: Cow<'_, [ToldDirection]> = match told_direction(cell, operation) {
        Some(direction) => Cow::Borrowed(&direction.threads),
        None if operation == Operation::All => Cow::Owned(workers(cell)),
        None => Cow::Owned(Vec::new()),
    };
    let is_asked = |number: usize| match asked.threads {
        Some(Threads::Odd) => number % 2 == 1,
        Some(Threads::Even) => number.is_multiple_of(2),
        Some(Threads::One(one)) => number == one,
        Some(Threads::All) | None => true,
    };
    let value = |thread: &ToldDirection| match asked.figure {
        Figure::Iops => thread.iops,
        Figure::Bandwidth => thread.bytes_per_second,
        Figure::Bytes => thread.bytes.map(|bytes| bytes as f64),
        Figure::Operations => thread.operations.map(|operations| operations as f64),
        Figure::Latency => thread.latency_mean_ns.map(|ns| ns / 1e9),
        _ => None,
    };
    let asked_for = all.iter().enumerate().filter(|(number, _)| is_asked(*number)).map(|(_, thread)| value(thread));
    let values: Vec<f64> = asked_for.collect::<Option<_>>().unwrap_or_default();
    match values.as_slice() {
        [] => Err(format!("no {} of such threads is told", asked.figure.name())),
        [one] => Ok(Values { values: vec![*one], of: Of::One, operation, derived: None }),
        _ => Ok(Values { values, of: Of::Threads, operation, derived: None }),
    }
}

/// What each worker of a cell did that plimsoll measured.
fn workers(cell: &Cell) -> Vec<ToldDirection> {
    let thread = |(operations, iops): (&u64, f64)| ToldDirection {
        operations: Some(*operations),
        iops: Some(iops),
        ..ToldDirection::default()
    };
    cell.worker_operations.iter().zip(cell.worker_iops()).map(thread).collect()
}

/// How a rate of operations, or bytes, came about, where it was bytes that a program told.
fn derived(cell: &Cell, operation: Operation, figure: Figure) -> Option<Derived> {
    let transfers = cell.told.as_ref()?.transfers()?;
    let direction = told_direction(cell, operation)?;
    let bytes = direction.bytes.filter(|bytes| *bytes > 0)?;
    match figure {
        Figure::Bytes => Some(Derived { bytes, block_size: None, elapsed_ns: None }),
        Figure::Iops => {
            let derived = Derived { bytes, block_size: transfers.block_size_bytes, elapsed_ns: transfers.elapsed_ns };
            let (block_size, elapsed_ns) = (derived.block_size?, derived.elapsed_ns?);
            let iops = bytes as f64 / block_size as f64 / (elapsed_ns as f64 / 1e9);
            // What was counted is known better than by its bytes.
            (direction.iops.is_some_and(|told| (told / iops - 1.0).abs() < 1e-6)).then_some(derived)
        }
        _ => None,
    }
}

impl Expected {
    pub(super) const fn is_assumed(self) -> bool {
        matches!(self, Self::Assumed)
    }
}
