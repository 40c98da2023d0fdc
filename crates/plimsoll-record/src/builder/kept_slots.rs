//! What each slot did, kept until the end of a run, because only then is it known which slots count. A run has
//! hundreds, so what is kept of one is small.

use plimsoll_measure::latency::{CompactHistogram, LatencyHistogram, percentile_interval::Clustering};
use plimsoll_workload::plan::{BlockPlan, Pacing, Work};

use crate::{
    event::{SlotDirection, SlotPurpose, SlotResult},
    latencies,
    record::{Cell, Window},
    results::{DirectionResult, Interval, SlotSummary},
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

impl KeptSlot {
    /// The latencies of the seconds that began in the window. Seconds hold reads and writes in one, and those of a long
    /// slot are several in one (of a power of two), of which each counts that lies in the window as a whole. `None`
    /// where they cannot be told apart, and of what has an end of its own, of which all latencies are told.
    fn seconds_from(&self, cell: &Cell, slot: &SlotSummary, from_ns: u64) -> Option<&[CompactHistogram]> {
        let [read, write, _] = &self.directions;
        let plan = cell.blocks()?;
        let has_own_end = plan.slot_ns.is_some() || plan.operations.is_some() || plan.amount_bytes.is_some();
        if has_own_end || read.is_some() == write.is_some() {
            return None;
        }
        let measured = cell.series.iter().filter(|second| second.measured && second.round == slot.round);
        let (count, before) = measured.fold((0_usize, 0_usize), |(count, before), second| {
            (count + 1, before + usize::from(!is_from(second, from_ns)))
        });
        let mut lengths = std::iter::successors(Some(1_usize), |length| length.checked_mul(2));
        let length = lengths.find(|length| count.div_ceil(*length) <= self.seconds.len().max(1))?;
        let seconds = self.seconds.get(before.div_ceil(length)..)?;
        (count.div_ceil(length) == self.seconds.len() && !seconds.is_empty()).then_some(seconds)
    }
}

/// Whether a second belongs to a window that begins then.
const fn is_from(second: &Interval, from_ns: u64) -> bool {
    second.t_ns + second.length_ns / 2 > from_ns
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
    fn add(&mut self, latencies: &[CompactHistogram], (operations, bytes): (u64, u64)) {
        self.operations += operations;
        self.bytes += bytes;
        let sum = self.latencies.get_or_insert_with(LatencyHistogram::fine);
        latencies.iter().for_each(|part| sum.merge_compact(part));
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
    /// Rates are those of its seconds, and so are latencies where they are kept of each. Others are those of the slots
    /// that it touches.
    pub(super) fn restrict(&self, cell: &mut Cell, window: Window) {
        let mut elapsed_ns = 0;
        let mut sums: [Sum; 3] = Default::default();
        for slot in &mut cell.slots {
            let to_ns = slot.from_ns + slot.elapsed_ns;
            slot.counted =
                slot.purpose == SlotPurpose::Measured && slot.from_ns < window.to_ns && window.from_ns < to_ns;
        }
        for (slot, kept) in cell.slots.iter().zip(&self.slots).filter(|(slot, _)| slot.counted) {
            let is_whole = window.from_ns <= slot.from_ns;
            let part = Part::of(
                cell.series
                    .iter()
                    .filter(|second| second.measured && second.round == slot.round && is_from(second, window.from_ns)),
            );
            elapsed_ns += if is_whole { slot.elapsed_ns } else { part.elapsed_ns };
            let seconds = if is_whole { None } else { kept.seconds_from(cell, slot, window.from_ns) };
            let parts = [(part.read, seconds), (part.write, seconds), ((part.sync, 0), None)];
            for ((sum, direction), (part, seconds)) in sums.iter_mut().zip(&kept.directions).zip(parts) {
                if let Some(direction) = direction {
                    let latencies = seconds.unwrap_or(std::slice::from_ref(&direction.latencies));
                    sum.add(latencies, if is_whole { (direction.operations, direction.bytes) } else { part });
                }
            }
        }
        [cell.read, cell.write, cell.sync] = sums.map(|sum| sum.result(elapsed_ns));
    }

    /// Says how sure the percentiles of a cell are, by the slots that count, and what they hide.
    pub(super) fn describe_latencies(&self, cell: &mut Cell) {
        let Some(plan) = cell.plan.as_ref().and_then(Work::blocks) else { return };
        let from_ns = cell.window.map_or(0, |window| window.from_ns);
        let slots = cell.slots.iter().zip(&self.slots).filter(|(slot, _)| slot.counted);
        let counted: Vec<&KeptSlot> = slots.clone().map(|(_, kept)| kept).collect();
        let (mut seconds, mut elapsed_ns) = (Vec::new(), 0);
        for (slot, kept) in slots {
            let part = if from_ns > slot.from_ns { kept.seconds_from(cell, slot, from_ns) } else { None };
            let of_slot = part.unwrap_or(&kept.seconds);
            // Where they are not kept second by second, latencies are those of whole slots.
            elapsed_ns +=
                if part.is_some() { (slot.from_ns + slot.elapsed_ns).saturating_sub(from_ns) } else { slot.elapsed_ns };
            seconds.extend(of_slot);
        }
        for (index, result) in [&mut cell.read, &mut cell.write, &mut cell.sync].into_iter().enumerate() {
            let Some(result) = result else { continue };
            let intervals = match self.parts(&counted, &seconds, index, plan) {
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
        seconds: &[&'a CompactHistogram],
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
        Ok((seconds.to_vec(), Clustering::Contiguous))
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
