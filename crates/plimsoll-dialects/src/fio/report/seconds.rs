//! What was done second by second, of one cell or of several that ran together.

use std::collections::BTreeMap;

use plimsoll_record::{record::Cell, results::Interval};

use crate::fio::lowering::names::Counted;

const SECOND_NS: u64 = 1_000_000_000;

/// Operations and bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rate {
    pub(super) operations: f64,
    pub(super) bytes: f64,
}

impl Rate {
    pub(super) fn of(operations: u64, bytes: u64, length_ns: u64) -> Self {
        let rate = |amount: u64| amount as f64 * SECOND_NS as f64 / length_ns as f64;
        Self { operations: rate(operations), bytes: rate(bytes) }
    }

    /// Both together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self { operations: self.operations + other.operations, bytes: self.bytes + other.bytes }
    }
}

/// Latencies of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Latencies {
    pub(super) operations: f64,
    pub(super) sum_ns: f64,
}

impl Latencies {
    /// Of so many operations; of those whose mean is not known nothing.
    fn of(operations: u64, mean_ns: Option<u64>) -> Self {
        let of = |mean_ns| Self { operations: operations as f64, sum_ns: operations as f64 * mean_ns as f64 };
        mean_ns.map(of).unwrap_or_default()
    }

    /// Of none zero.
    pub(super) fn mean_ns(self) -> f64 {
        if self.operations > 0.0 { self.sum_ns / self.operations } else { 0.0 }
    }

    /// Both together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self { operations: self.operations + other.operations, sum_ns: self.sum_ns + other.sum_ns }
    }
}

/// A second of load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Second {
    /// Its end, since the start of the run.
    pub(super) to_ns: u64,
    /// Its length: the rest of a slot may be shorter.
    pub(super) length_ns: u64,
    /// Whether the numbers of its cells are about it.
    pub(super) counts: bool,
    pub(super) read: Rate,
    pub(super) write: Rate,
    pub(super) read_latencies: Latencies,
    pub(super) write_latencies: Latencies,
}

impl Second {
    /// Whether it is a second, and not the rest of a slot.
    pub(super) const fn is_whole(&self) -> bool {
        self.length_ns >= SECOND_NS
    }
}

/// What is told as a sample: whole seconds of what counts; of what took less than one, half a second will do.
pub(super) fn samples(seconds: &[Second]) -> Vec<&Second> {
    let counted = |least_ns| seconds.iter().filter(move |second| second.counts && second.length_ns >= least_ns);
    let whole: Vec<&Second> = counted(SECOND_NS).collect();
    if whole.is_empty() { counted(SECOND_NS / 2).collect() } else { whole }
}

/// The measured seconds of cells. Those of cells that ran at the same time are added up.
pub(super) fn of_cells(cells: &[&Cell]) -> Vec<Second> {
    let begin_ns = cells.iter().flat_map(|cell| measured(cell)).map(|interval| interval.t_ns).min().unwrap_or(0);
    let mut sums: BTreeMap<u64, Second> = BTreeMap::new();
    for cell in cells {
        let mut next = 0;
        for interval in measured(cell) {
            // Cells of a phase begin within milliseconds of each other, so their seconds have the same number.
            let since_ns = interval.t_ns.saturating_sub(begin_ns);
            let number = (since_ns.saturating_add(SECOND_NS / 2) / SECOND_NS).max(next);
            next = number.saturating_add(1);
            let second = of_interval(interval, cell);
            sums.entry(number).and_modify(|sum| *sum = add(*sum, second)).or_insert(second);
        }
    }
    sums.into_values().collect()
}

fn measured(cell: &Cell) -> impl Iterator<Item = &Interval> {
    cell.series.iter().filter(|interval| interval.measured && interval.length_ns > 0)
}

fn of_interval(interval: &Interval, cell: &Cell) -> Second {
    let (t_ns, length_ns) = (interval.t_ns, interval.length_ns);
    // As with all that is told to readers of fio's reports, it is about whole slots and not about a verdict's window.
    let is_discarded = cell.slots.iter().any(|slot| slot.round == interval.round && !slot.counted);
    Second {
        to_ns: t_ns.saturating_add(length_ns),
        length_ns,
        counts: !is_discarded,
        read: Rate::of(interval.read_operations, interval.read_bytes, length_ns),
        write: Rate::of(interval.write_operations, interval.write_bytes, length_ns),
        read_latencies: Latencies::of(interval.read_operations, interval.read_mean_ns),
        write_latencies: Latencies::of(interval.write_operations, interval.write_mean_ns),
    }
}

fn add(left: Second, right: Second) -> Second {
    Second {
        to_ns: left.to_ns.max(right.to_ns),
        length_ns: left.length_ns.max(right.length_ns),
        counts: left.counts || right.counts,
        read: left.read.plus(right.read),
        write: left.write.plus(right.write),
        read_latencies: left.read_latencies.plus(right.read_latencies),
        write_latencies: left.write_latencies.plus(right.write_latencies),
    }
}

/// Counts as fio does in seconds in which files were created, statted or deleted.
pub(super) fn count(seconds: &mut [Second], counted: Option<Counted>) {
    let Some(counted) = counted else { return };
    for rate in seconds.iter_mut().flat_map(|second| [&mut second.read, &mut second.write]) {
        rate.operations = counted.rate(rate.operations);
        rate.bytes = rate.operations * counted.block_bytes as f64;
    }
}

/// Whole numbers in short: what fio says about its samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) samples: u64,
}

impl Moments {
    pub(super) fn of(samples: &[u64]) -> Self {
        let (Some(min), Some(max)) = (samples.iter().copied().min(), samples.iter().copied().max()) else {
            return Self::default();
        };
        let count = samples.len() as f64;
        let mean = samples.iter().map(|sample| *sample as f64).sum::<f64>() / count;
        let squares: f64 = samples.iter().map(|sample| (*sample as f64 - mean).powi(2)).sum();
        let deviation = if samples.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Self { min, max, mean, deviation, samples: samples.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_a_sample() {
        let moments = Moments::of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((moments.min, moments.max, moments.samples), (2, 9, 8));
        assert!((moments.mean - 5.0).abs() < 1e-12 && (moments.deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(Moments::of(&[]), Moments::default());
        assert_eq!(Moments::of(&[3]).deviation.to_bits(), 0);
    }
}
