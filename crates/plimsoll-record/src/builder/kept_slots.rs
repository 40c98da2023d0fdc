//! What each slot did, kept until the end of a run, because only then is it known which slots count. A run has
//! hundreds, so what is kept of one is small.

use plimsoll_measure::latency::{CompactHistogram, LatencyHistogram, percentile_interval::Clustering};
use plimsoll_workload::plan::{BlockPlan, Pacing, Work};

use crate::{
    event::{SlotDirection, SlotPurpose, SlotResult},
    latencies,
    record::{Cell, Window},
    results::{DirectionResult, Interval},
};

/// The slots of a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptSlots {
    /// Whether their seconds tell how sure percentiles are, and not they themselves.
    in_one_piece: bool,
    slots: Vec<KeptSlot>,
}

/// One slot: reads, writes and syncs, and the latencies of its seconds where those are kept.
#[derive(Clone, Debug)]
struct KeptSlot {
    directions: [Option<KeptDirection>; 3],
    seconds: Vec<CompactHistogram>,
}

#[derive(Clone, Debug)]
struct KeptDirection {
    operations: u64,
    bytes: u64,
    latencies: CompactHistogram,
}

impl KeptDirection {
    fn of(slot: &SlotDirection) -> Self {
        let SlotDirection { operations, bytes, histogram } = slot;
        Self { operations: *operations, bytes: *bytes, latencies: CompactHistogram::from(histogram) }
    }
}

/// What a direction of several slots adds up to.
#[derive(Default)]
struct Sum {
    operations: u64,
    bytes: u64,
    latencies: Option<LatencyHistogram>,
}

impl Sum {
    fn add(&mut self, slot: &KeptDirection, (operations, bytes): (u64, u64)) {
        self.operations += operations;
        self.bytes += bytes;
        self.latencies.get_or_insert_with(LatencyHistogram::fine).merge_compact(&slot.latencies);
    }

    fn result(self, elapsed_ns: u64) -> Option<DirectionResult> {
        Some(DirectionResult::new(self.operations, self.bytes, elapsed_ns, self.latencies?))
    }
}

impl KeptSlots {
    pub(super) const fn new(in_one_piece: bool) -> Self {
        Self { in_one_piece, slots: Vec::new() }
    }

    pub(super) fn add(&mut self, slot: &SlotResult) {
        let directions = [&slot.read, &slot.write, &slot.sync];
        self.slots.push(KeptSlot {
            directions: directions.map(|direction| direction.as_ref().map(KeptDirection::of)),
            seconds: slot.seconds.clone(),
        });
    }

    /// Makes a cell's numbers those of a stretch of the run, and marks its slots.
    ///
    /// Rates are those of its seconds. Latencies are those of the slots that it touches, because a slot keeps no
    /// distribution of what began in each second.
    pub(super) fn restrict(&self, cell: &mut Cell, window: Window) {
        let mut elapsed_ns = 0;
        let mut sums: [Sum; 3] = Default::default();
        for (slot, kept) in cell.slots.iter_mut().zip(&self.slots) {
            let to_ns = slot.from_ns + slot.elapsed_ns;
            slot.counted =
                slot.purpose == SlotPurpose::Measured && slot.from_ns < window.to_ns && window.from_ns < to_ns;
            if !slot.counted {
                continue;
            }
            let is_whole = window.from_ns <= slot.from_ns;
            let part = Part::of(cell.series.iter().filter(|second| {
                second.measured && second.round == slot.round && second.t_ns + second.length_ns / 2 > window.from_ns
            }));
            elapsed_ns += if is_whole { slot.elapsed_ns } else { part.elapsed_ns };
            let parts = [part.read, part.write, (part.sync, 0)];
            for ((sum, direction), part) in sums.iter_mut().zip(&kept.directions).zip(parts) {
                if let Some(direction) = direction {
                    sum.add(direction, if is_whole { (direction.operations, direction.bytes) } else { part });
                }
            }
        }
        [cell.read, cell.write, cell.sync] = sums.map(|sum| sum.result(elapsed_ns));
    }

    /// Says how sure the percentiles of a cell are, by the slots that count, and what they hide.
    pub(super) fn describe_latencies(&self, cell: &mut Cell) {
        let Some(plan) = cell.plan.as_ref().and_then(Work::blocks) else { return };
        let slots = cell.slots.iter().zip(&self.slots);
        let counted: Vec<&KeptSlot> = slots.filter(|(slot, _)| slot.counted).map(|(_, kept)| kept).collect();
        // Latencies are those of whole slots, also where rates are those of a part.
        let elapsed_ns = cell.slots.iter().filter(|slot| slot.counted).map(|slot| slot.elapsed_ns).sum();
        for (index, result) in [&mut cell.read, &mut cell.write, &mut cell.sync].into_iter().enumerate() {
            let Some(result) = result else { continue };
            let intervals = match self.parts(&counted, index, plan) {
                Ok((parts, clustering)) => latencies::intervals(&result.histogram, &parts, clustering, elapsed_ns),
                Err(reason) => Err(reason.to_owned()),
            };
            (result.latency_intervals, result.latency_interval_reason) = match intervals {
                Ok(intervals) => (intervals, None),
                Err(reason) => (Vec::new(), Some(reason)),
            };
        }
        if plan.pacing == Pacing::Closed {
            let results = [&cell.read, &cell.write, &cell.sync].into_iter().flatten();
            let histograms: Vec<&LatencyHistogram> = results.map(|result| &result.histogram).collect();
            cell.exposed = latencies::exposed(&histograms);
        }
    }

    /// The parts of a direction, by index, that tell how sure its percentiles are; or why there are none.
    fn parts<'a>(
        &self,
        counted: &[&'a KeptSlot],
        index: usize,
        plan: &BlockPlan,
    ) -> Result<(Vec<&'a CompactHistogram>, Clustering), &'static str> {
        if !self.in_one_piece {
            let directions = counted.iter().filter_map(|slot| slot.directions[index].as_ref());
            return Ok((directions.map(|direction| &direction.latencies).collect(), Clustering::Spaced));
        }
        if index == 2 {
            return Err("measured in one piece, whose seconds do not tell the latencies of syncs");
        }
        if plan.reads() && plan.writes() {
            return Err("measured in one piece, whose seconds do not tell the latencies of reads and writes apart");
        }
        Ok((counted.iter().flat_map(|slot| &slot.seconds).collect(), Clustering::Contiguous))
    }
}

/// Adds a direction of a slot to that of the slots before, which all took so long together.
pub(super) fn grow(result: &mut Option<DirectionResult>, slot: Option<&SlotDirection>, elapsed_ns: u64) {
    *result = match (result.take(), slot) {
        (None, None) => None,
        (Some(sum), None) => Some(DirectionResult::new(sum.operations, sum.bytes, elapsed_ns, sum.histogram)),
        (None, Some(slot)) => {
            Some(DirectionResult::new(slot.operations, slot.bytes, elapsed_ns, slot.histogram.clone()))
        }
        (Some(mut sum), Some(slot)) => {
            sum.histogram.merge(&slot.histogram);
            let (operations, bytes) = (sum.operations + slot.operations, sum.bytes + slot.bytes);
            Some(DirectionResult::new(operations, bytes, elapsed_ns, sum.histogram))
        }
    };
}

/// What some seconds of a slot did: operations and bytes.
#[derive(Default)]
struct Part {
    elapsed_ns: u64,
    read: (u64, u64),
    write: (u64, u64),
    sync: u64,
}

impl Part {
    fn of<'a>(seconds: impl Iterator<Item = &'a Interval>) -> Self {
        seconds.fold(Self::default(), |sum, second| Self {
            elapsed_ns: sum.elapsed_ns + second.length_ns,
            read: (sum.read.0 + second.read_operations, sum.read.1 + second.read_bytes),
            write: (sum.write.0 + second.write_operations, sum.write.1 + second.write_bytes),
            sync: sum.sync + second.sync_operations,
        })
    }
}
