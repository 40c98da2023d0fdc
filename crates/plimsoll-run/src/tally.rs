//! What a worker counts: a slot's totals, and the second it is in.

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::{
    event::SlotDirection,
    results::{ErrorCount, OpenLoopResult},
};
use plimsoll_workload::operation::{Operation, OperationKind};

/// Length of a full interval.
pub const INTERVAL_NS: u64 = 1_000_000_000;
/// Ticks in an interval.
pub const TICKS: usize = 10;
/// Length of a tick.
pub const TICK_NS: u64 = INTERVAL_NS / TICKS as u64;

/// Totals of one direction.
#[derive(Debug)]
pub struct DirectionTally {
    /// Operations that completed in the measured window.
    pub operations: u64,
    /// Bytes they transferred.
    pub bytes: u64,
    /// Operations completed before or after it.
    pub outside_operations: u64,
    /// Bytes transferred before or after it.
    pub outside_bytes: u64,
    /// Latencies of the operations that started, or were due, in the window, whenever they completed.
    pub histogram: LatencyHistogram,
}

impl Default for DirectionTally {
    fn default() -> Self {
        Self::new()
    }
}

impl DirectionTally {
    /// Nothing yet; the memory of the histogram is there.
    pub fn new() -> Self {
        let histogram = LatencyHistogram::fine();
        Self { operations: 0, bytes: 0, outside_operations: 0, outside_bytes: 0, histogram }
    }

    /// The result of a slot; `None` when nothing happened.
    pub fn into_result(self) -> Option<SlotDirection> {
        let Self { operations, bytes, histogram, .. } = self;
        (operations > 0 || histogram.count() > 0).then_some(SlotDirection { operations, bytes, histogram })
    }

    /// Operations of the whole slot.
    pub const fn all_operations(&self) -> u64 {
        self.operations + self.outside_operations
    }

    /// Bytes of the whole slot.
    pub const fn all_bytes(&self) -> u64 {
        self.bytes + self.outside_bytes
    }

    /// Adds what another worker did.
    pub fn merge(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.outside_operations += other.outside_operations;
        self.outside_bytes += other.outside_bytes;
        self.histogram.merge(&other.histogram);
    }
}

/// Totals of a slot: reads, writes, syncs, and what went wrong.
#[derive(Debug)]
pub struct SlotTally {
    /// Reads.
    pub read: DirectionTally,
    /// Writes.
    pub write: DirectionTally,
    /// Syncs of both kinds.
    pub sync: DirectionTally,
    /// Latencies from the moment of issue, kept for open loops only.
    pub service: LatencyHistogram,
    /// How an open loop kept its times.
    pub open_loop: OpenLoopResult,
    /// Failed operations.
    pub errors: Vec<ErrorCount>,
    /// When the last measured operation completed; 0 when none did.
    pub last_completion_ns: u64,
    /// Seconds of single workers that could not be handed over, and are missing in the series.
    pub lost_seconds: u64,
}

impl Default for SlotTally {
    fn default() -> Self {
        Self::new()
    }
}

impl SlotTally {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            read: DirectionTally::new(),
            write: DirectionTally::new(),
            sync: DirectionTally::new(),
            service: LatencyHistogram::fine(),
            open_loop: OpenLoopResult::default(),
            errors: Vec::new(),
            last_completion_ns: 0,
            lost_seconds: 0,
        }
    }

    /// Operations completed in the slot, ramp included.
    pub const fn completed(&self) -> u64 {
        self.read.all_operations() + self.write.all_operations() + self.sync.all_operations()
    }

    /// Operations that have ended, well or not, ramp included.
    pub fn settled(&self) -> u64 {
        self.completed() + self.errors.iter().map(|error| error.count).sum::<u64>()
    }

    /// The totals of a direction.
    #[inline]
    pub const fn direction(&mut self, kind: OperationKind) -> &mut DirectionTally {
        match kind {
            OperationKind::Read => &mut self.read,
            OperationKind::Write => &mut self.write,
            OperationKind::Sync | OperationKind::DataSync => &mut self.sync,
        }
    }

    /// Counts a failed operation, as its file knows it; of a job that has several with its file.
    pub fn count_error(&mut self, failed: Operation, error: String, has_several_files: bool) {
        let operation = match failed.kind {
            OperationKind::Read => "read",
            OperationKind::Write => "write",
            OperationKind::Sync | OperationKind::DataSync => "sync",
        };
        match self.errors.iter_mut().find(|seen| seen.operation == operation && seen.error == error) {
            Some(seen) => seen.count += 1,
            None => {
                let operation = operation.to_owned();
                let first_file = has_several_files.then_some(u32::from(failed.file));
                self.errors.push(ErrorCount { operation, error, count: 1, first_offset: failed.offset, first_file });
            }
        }
    }

    /// Adds what another worker did.
    pub fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        self.sync.merge(&other.sync);
        self.service.merge(&other.service);
        self.open_loop.add(&other.open_loop);
        for error in &other.errors {
            match self.errors.iter_mut().find(|seen| seen.operation == error.operation && seen.error == error.error) {
                Some(seen) => seen.count += error.count,
                None => self.errors.push(error.clone()),
            }
        }
        self.lost_seconds += other.lost_seconds;
        self.last_completion_ns = self.last_completion_ns.max(other.last_completion_ns);
    }
}

/// One second of one worker, ramps included.
#[derive(Debug)]
pub struct IntervalTally {
    /// Reads completed.
    pub read_operations: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub write_operations: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Syncs completed.
    pub sync_operations: u64,
    /// Reads and writes completed in each tick.
    pub ticks: [u64; TICKS],
    /// Latencies of reads and writes.
    pub latency: LatencyHistogram,
    /// Those of the reads added up.
    pub read_latency_sum_ns: u64,
    /// Those of the writes.
    pub write_latency_sum_ns: u64,
    /// Whether operations were in flight all through the second and none ended.
    pub stalled: bool,
    /// How many seconds before it, which are not handed in by themselves, were like it, with nothing in any of them.
    pub alike_before: usize,
    /// Whether its worker hands in nothing more.
    pub is_last: bool,
}

impl Default for IntervalTally {
    fn default() -> Self {
        Self::new()
    }
}

impl IntervalTally {
    /// Nothing yet; the memory of the histogram is there.
    pub fn new() -> Self {
        Self {
            read_operations: 0,
            read_bytes: 0,
            write_operations: 0,
            write_bytes: 0,
            sync_operations: 0,
            ticks: [0; TICKS],
            latency: LatencyHistogram::coarse(),
            read_latency_sum_ns: 0,
            write_latency_sum_ns: 0,
            stalled: false,
            alike_before: 0,
            is_last: false,
        }
    }

    /// Counts `count` operations of the same kind, length and latency.
    #[inline]
    pub fn add(&mut self, kind: OperationKind, bytes: u64, latency_ns: u64, count: u64, tick: usize) {
        match kind {
            OperationKind::Read => {
                self.read_operations += count;
                self.read_bytes += bytes;
                self.read_latency_sum_ns += latency_ns * count;
            }
            OperationKind::Write => {
                self.write_operations += count;
                self.write_bytes += bytes;
                self.write_latency_sum_ns += latency_ns * count;
            }
            OperationKind::Sync | OperationKind::DataSync => {
                self.sync_operations += count;
                return;
            }
        }
        self.ticks[tick.min(TICKS - 1)] += count;
        self.latency.record_many(latency_ns, count);
    }

    /// Adds what another worker did in the same second.
    pub fn merge(&mut self, other: &Self) {
        self.read_operations += other.read_operations;
        self.read_bytes += other.read_bytes;
        self.write_operations += other.write_operations;
        self.write_bytes += other.write_bytes;
        self.sync_operations += other.sync_operations;
        for (sum, ticks) in self.ticks.iter_mut().zip(other.ticks) {
            *sum += ticks;
        }
        self.latency.merge(&other.latency);
        self.read_latency_sum_ns += other.read_latency_sum_ns;
        self.write_latency_sum_ns += other.write_latency_sum_ns;
        self.stalled |= other.stalled;
    }

    /// Operations that completed, of all kinds.
    pub const fn operations(&self) -> u64 {
        self.read_operations + self.write_operations + self.sync_operations
    }

    /// Whether nothing completed although operations were in flight all the time.
    pub const fn is_stalled(&self) -> bool {
        self.stalled && self.operations() == 0
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.latency.clear();
        self.read_latency_sum_ns = 0;
        self.write_latency_sum_ns = 0;
        self.read_operations = 0;
        self.read_bytes = 0;
        self.write_operations = 0;
        self.write_bytes = 0;
        self.sync_operations = 0;
        self.ticks = [0; TICKS];
        self.stalled = false;
        self.alike_before = 0;
        self.is_last = false;
    }
}
