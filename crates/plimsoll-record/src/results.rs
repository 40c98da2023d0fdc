//! The measured parts of a record: directions, latencies, series, costs, findings.

use std::collections::BTreeMap;

use plimsoll_measure::latency::{LatencyHistogram, Percentile};
use serde::{Deserialize, Serialize};

use crate::{event::SlotPurpose, latencies::LatencyInterval};

/// What one direction (reads, writes or syncs) of a cell did in its measured time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DirectionResult {
    /// Operations that completed in the measured time.
    pub operations: u64,
    /// Bytes they transferred.
    pub bytes: u64,
    /// Measured time over all slots.
    pub elapsed_ns: u64,
    /// Operations per second of measured time.
    pub iops: f64,
    /// Lower end of the 95 % interval of `iops`; null without one, see `interval_reason`.
    pub iops_low: Option<f64>,
    /// Upper end of the 95 % interval of `iops`.
    pub iops_high: Option<f64>,
    /// Why there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_reason: Option<String>,
    /// Bytes per second of measured time.
    pub bytes_per_second: f64,
    /// Latencies of the operations that started in the measured time (in an open loop: were due in it), whenever they
    /// completed. Their number may differ from `operations` by those in flight at the edges of slots; what an open loop
    /// never issued counts with the time it had waited.
    pub latency_ns: LatencySummary,
    /// How far the percentiles may be off, of those that are not null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_intervals: Vec<LatencyInterval>,
    /// Why there are no such intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_interval_reason: Option<String>,
    /// The same latencies, whole.
    pub histogram: LatencyHistogram,
}

/// The percentiles of a summary: their names, and the shares of operations that take at most so long.
pub const PERCENTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999)];

/// A latency distribution in a few numbers, all in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencySummary {
    /// Shortest.
    pub min: Option<u64>,
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub stddev: Option<f64>,
    /// Half of the operations took at most this.
    pub p50: Option<u64>,
    /// 90 %.
    pub p90: Option<u64>,
    /// 95 %.
    pub p95: Option<u64>,
    /// 99 %.
    pub p99: Option<u64>,
    /// 99.9 %.
    pub p99_9: Option<u64>,
    /// 99.99 %.
    pub p99_99: Option<u64>,
    /// Longest.
    pub max: Option<u64>,
    /// For each percentile that is null, why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unsupported: BTreeMap<String, String>,
}

impl LatencySummary {
    /// The summary of a distribution; percentiles that it cannot support are null with a reason.
    pub fn of(histogram: &LatencyHistogram) -> Self {
        let mut unsupported = BTreeMap::new();
        let [p50, p90, p95, p99, p99_9, p99_99] =
            PERCENTILES.map(|(name, quantile)| match histogram.percentile(quantile) {
                Percentile::Supported(latency_ns) => Some(latency_ns),
                Percentile::Unsupported { needed, have } => {
                    unsupported.insert(name.to_owned(), format!("needs {needed} operations, had {have}"));
                    None
                }
            });
        Self {
            min: histogram.min_ns(),
            mean: histogram.mean_ns(),
            stddev: histogram.stddev_ns(),
            p50,
            p90,
            p95,
            p99,
            p99_9,
            p99_99,
            max: histogram.max_ns(),
            unsupported,
        }
    }
}

impl DirectionResult {
    /// The result of so many operations in so much measured time.
    pub fn new(operations: u64, bytes: u64, elapsed_ns: u64, histogram: LatencyHistogram) -> Self {
        let seconds = elapsed_ns as f64 / 1e9;
        let rate = |amount: u64| if elapsed_ns == 0 { 0.0 } else { amount as f64 / seconds };
        Self {
            operations,
            bytes,
            elapsed_ns,
            iops: rate(operations),
            iops_low: None,
            iops_high: None,
            interval_reason: Some("the run was too short to tell how sure its rate is".to_owned()),
            bytes_per_second: rate(bytes),
            latency_ns: LatencySummary::of(&histogram),
            latency_intervals: Vec::new(),
            latency_interval_reason: None,
            histogram,
        }
    }

    /// The same latencies of another number of operations, in another time; the same when no time is known.
    pub(crate) fn of_all(self, operations: u64, bytes: u64, elapsed_ns: u64) -> Self {
        if elapsed_ns == 0 || elapsed_ns == self.elapsed_ns {
            return self;
        }
        let seconds = elapsed_ns as f64 / 1e9;
        let (iops, bytes_per_second) = (operations as f64 / seconds, bytes as f64 / seconds);
        Self { operations, bytes, elapsed_ns, iops, bytes_per_second, ..self }
    }

    /// How far a percentile may be off, by its name in `latency_ns`; `None` when that is not known.
    pub fn latency_interval(&self, percentile: &str) -> Option<&LatencyInterval> {
        self.latency_intervals.iter().find(|interval| interval.percentile == percentile)
    }
}

/// What one job of several did in the measured time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobResult {
    /// Reads.
    pub read: Option<JobDirection>,
    /// Writes.
    pub write: Option<JobDirection>,
}

impl JobResult {
    /// Adds what the same job did in another slot, or another worker in the same one.
    pub fn add(&mut self, other: &Self) {
        for (sum, other) in [(&mut self.read, &other.read), (&mut self.write, &other.write)] {
            let Some(other) = other else { continue };
            sum.get_or_insert_default().add(other);
        }
    }
}

/// What one direction of a job did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobDirection {
    /// Operations that completed in the measured time.
    pub operations: u64,
    /// Bytes they transferred.
    pub bytes: u64,
    /// Operations that were timed: those that started in the measured time.
    pub timed: u64,
    /// Their mean latency.
    pub latency_mean_ns: f64,
    /// Standard deviation of their latencies; 0 below two of them.
    pub latency_stddev_ns: f64,
}

impl JobDirection {
    /// So many operations with these latencies.
    pub fn of(operations: u64, bytes: u64, histogram: &LatencyHistogram) -> Self {
        Self {
            operations,
            bytes,
            timed: histogram.count(),
            latency_mean_ns: histogram.mean_ns().unwrap_or(0.0),
            latency_stddev_ns: histogram.stddev_ns().unwrap_or(0.0),
        }
    }

    /// Adds other operations of the same kind.
    pub fn add(&mut self, other: &Self) {
        let squares = |of: &Self| of.latency_stddev_ns.powi(2) * (of.timed as f64 - 1.0).max(0.0);
        let timed = (self.timed + other.timed) as f64;
        if timed > 0.0 {
            let apart = other.latency_mean_ns - self.latency_mean_ns;
            let between = apart.powi(2) * self.timed as f64 * other.timed as f64 / timed;
            let squares = squares(self) + squares(other) + between;
            self.latency_mean_ns += apart * other.timed as f64 / timed;
            self.latency_stddev_ns = if timed > 1.0 { (squares / (timed - 1.0)).sqrt() } else { 0.0 };
        }
        self.timed += other.timed;
        self.operations += other.operations;
        self.bytes += other.bytes;
    }
}

/// One visit to a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlotSummary {
    /// Which visit of the cell.
    pub round: u32,
    /// What it was for.
    pub purpose: SlotPurpose,
    /// Whether the cell's numbers are made of it.
    pub counted: bool,
    /// Load before the measured time.
    pub ramp_ns: u64,
    /// Start of the measured time, since the start of the run.
    pub from_ns: u64,
    /// Length of the measured time.
    pub elapsed_ns: u64,
    /// Reads.
    pub read: Option<SlotRate>,
    /// Writes.
    pub write: Option<SlotRate>,
    /// `fsync` and `fdatasync`.
    pub sync: Option<SlotRate>,
}

impl SlotSummary {
    /// When it began to load its target and when it ended, ramp included.
    pub(crate) fn load(&self) -> [u64; 2] {
        [self.from_ns.saturating_sub(self.ramp_ns), self.from_ns.saturating_add(self.elapsed_ns)]
    }
}

/// What one direction did in one visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlotRate {
    /// Operations completed.
    pub operations: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Latencies.
    pub latency_ns: LatencySummary,
}

/// One second of load, ramps included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Start, in nanoseconds since the start of the run.
    pub t_ns: u64,
    /// Length: a second, or less at the end of a slot.
    pub length_ns: u64,
    /// Which visit of the cell this belongs to.
    pub round: u32,
    /// Whether this second lies in the measured time of its slot, not in its ramp.
    pub measured: bool,
    /// Whether nothing completed in this whole second of the measured time although operations were in flight.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stalled: bool,
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
    /// Median latency of this second's reads and writes.
    pub p50_ns: Option<u64>,
    /// 99th percentile, where a thousand operations support it.
    pub p99_ns: Option<u64>,
    /// Longest latency.
    pub max_ns: Option<u64>,
    /// Mean latency of the reads alone; null without any, and in older records.
    #[serde(default)]
    pub read_mean_ns: Option<u64>,
    /// Mean latency of the writes alone.
    #[serde(default)]
    pub write_mean_ns: Option<u64>,
    /// Reads and writes completed in each tenth of this second.
    pub tick_operations: Vec<u64>,
}

impl Interval {
    /// Reads and writes per second; `None` where no time passed.
    pub fn iops(&self) -> Option<f64> {
        self.per_second(self.read_operations + self.write_operations)
    }

    /// Bytes per second that were read and written; `None` where no time passed.
    pub fn bytes_per_second(&self) -> Option<f64> {
        self.per_second(self.read_bytes + self.write_bytes)
    }

    fn per_second(&self, amount: u64) -> Option<f64> {
        (self.length_ns > 0).then(|| amount as f64 * 1e9 / self.length_ns as f64)
    }
}

/// What it cost the machine that measured, over all slots with their ramps: whole slots, because then the time and the
/// operations that it was spent on are counted from the same moment to the same moment. What the machine did in the
/// measured time alone is in `client`. What is not known of every slot is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuCost {
    /// Operations completed meanwhile: more than were measured, by those of the ramps.
    #[serde(default)]
    pub operations: u64,
    /// User time of plimsoll.
    pub user_ns: u64,
    /// System time of plimsoll.
    pub system_ns: u64,
    /// User time for each completed operation, ramps included on both sides.
    pub user_ns_per_operation: Option<f64>,
    /// System time for each completed operation.
    pub system_ns_per_operation: Option<f64>,
    /// Time that the control group's CPU quota held plimsoll back.
    pub throttled_ns: Option<u64>,
    /// Time that the hypervisor gave to others, over all processors.
    pub steal_ns: Option<u64>,
    /// Time in which some task waited for a processor (pressure stall information).
    pub pressure_cpu_ns: Option<u64>,
    /// Time in which some task waited for I/O.
    pub pressure_io_ns: Option<u64>,
    /// Time in which some task waited for memory.
    pub pressure_memory_ns: Option<u64>,
}

/// What the disk below the target did, by the kernel's own count, over all slots with their ramps: before the first
/// operation of a slot and after its last one nothing of ours is in flight, so what is not ours can be told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceActivity {
    /// The kernel's name of the disk; of several that do together what is asked, all names.
    pub name: String,
    /// Reads completed.
    pub read_operations: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub write_operations: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Flushes completed.
    pub flush_operations: u64,
    /// Time the disk was busy; of several, the busiest.
    pub busy_ns: u64,
    /// Time that all requests together spent in the disk.
    #[serde(default)]
    pub queue_ns: u64,
    /// Reads that became part of another request.
    #[serde(default)]
    pub read_merges: u64,
    /// Writes that became part of another request.
    #[serde(default)]
    pub write_merges: u64,
    /// Time that all reads together spent in the disk.
    #[serde(default)]
    pub read_queue_ns: u64,
    /// Time that all writes together spent in the disk.
    #[serde(default)]
    pub write_queue_ns: u64,
    /// What each disk did, when there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberActivity>,
}

/// What one of several disks did, by the kernel's own count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberActivity {
    /// The kernel's name of the disk.
    pub name: String,
    /// Reads completed.
    pub read_operations: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub write_operations: u64,
    /// Bytes written.
    pub write_bytes: u64,
}

impl DeviceActivity {
    /// Adds what another slot did.
    pub fn add(&mut self, other: &Self) {
        self.name.clone_from(&other.name);
        self.read_operations += other.read_operations;
        self.read_bytes += other.read_bytes;
        self.write_operations += other.write_operations;
        self.write_bytes += other.write_bytes;
        self.flush_operations += other.flush_operations;
        self.busy_ns += other.busy_ns;
        self.queue_ns += other.queue_ns;
        self.read_merges += other.read_merges;
        self.write_merges += other.write_merges;
        self.read_queue_ns += other.read_queue_ns;
        self.write_queue_ns += other.write_queue_ns;
        for member in &other.members {
            match self.members.iter_mut().find(|own| own.name == member.name) {
                Some(own) => {
                    own.read_operations += member.read_operations;
                    own.read_bytes += member.read_bytes;
                    own.write_operations += member.write_operations;
                    own.write_bytes += member.write_bytes;
                }
                None => self.members.push(member.clone()),
            }
        }
    }
}

/// Failed operations of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorCount {
    /// read, write, sync, create, stat or delete.
    pub operation: String,
    /// The error as the kernel calls it: `EIO (Input/output error)`, or `short transfer`.
    pub error: String,
    /// How often.
    pub count: u64,
    /// Offset of the first one; of files that are created, statted or deleted the number of the first one.
    pub first_offset: u64,
    /// The file of that offset, where a job has several; the first is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_file: Option<u32>,
}

/// How an open loop kept to its arrivals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenLoopResult {
    /// Operations that should have been issued in the measured time.
    pub intended: u64,
    /// Issued more than a millisecond after their time. Their latency counts from the intended time.
    pub late: u64,
    /// Those of the late ones that had a queue slot: the machine gave plimsoll no processor when they were due, or the
    /// handing over of others took long. The others had to wait for the storage.
    #[serde(default)]
    pub overslept: u64,
    /// Due in the measured time but never issued. They are among the latencies with the time that they had waited at
    /// its end, which is a lower bound.
    pub never_issued: u64,
    /// The longest delay of an issue.
    pub latest_ns: u64,
    /// Median latency from the moment of issue instead of the intended time, as a closed loop would tell it.
    pub service_p50_ns: Option<u64>,
    /// The same, 95 %.
    pub service_p95_ns: Option<u64>,
    /// The same, 99 %.
    pub service_p99_ns: Option<u64>,
}

impl OpenLoopResult {
    /// Adds what another part of the same load counted. Percentiles do not add up, and stay.
    pub fn add(&mut self, other: &Self) {
        self.intended += other.intended;
        self.late += other.late;
        self.overslept += other.overslept;
        self.never_issued += other.never_issued;
        self.latest_ns = self.latest_ns.max(other.latest_ns);
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// The numbers may not mean what they seem to.
    Warning,
    /// The numbers do not mean what they seem to.
    Error,
}

/// One sentence about a cell, with a stable code and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Stable, for programs.
    pub code: String,
    /// How bad.
    pub severity: Severity,
    /// The sentence.
    pub text: String,
    /// The numbers it rests on.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub evidence: serde_json::Map<String, serde_json::Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_add_up_to_what_both_did() {
        let histogram = |latencies: &[u64]| {
            let mut histogram = LatencyHistogram::fine();
            latencies.iter().for_each(|latency| histogram.record_many(*latency, 1));
            histogram
        };
        let (first, second) = ([1_000_000, 2_000_000, 7_000_000], [3_000_000, 9_000_000]);
        let mut sum = JobDirection::of(3, 300, &histogram(&first));
        sum.add(&JobDirection::of(2, 200, &histogram(&second)));
        let both = JobDirection::of(5, 500, &histogram(&[first.as_slice(), second.as_slice()].concat()));
        assert_eq!((sum.operations, sum.bytes, sum.timed), (5, 500, 5));
        assert!((sum.latency_mean_ns - both.latency_mean_ns).abs() < 1e-3);
        assert!((sum.latency_stddev_ns - both.latency_stddev_ns).abs() < 1e-3, "{sum:?} {both:?}");
        let mut nothing = JobDirection::default();
        nothing.add(&sum);
        assert_eq!(nothing, sum);
    }

    #[test]
    fn the_rates_of_a_second_are_those_of_reads_and_writes_and_of_no_time_there_are_none() {
        let mut second = Interval {
            length_ns: 500_000_000,
            read_operations: 30,
            write_operations: 20,
            sync_operations: 7,
            read_bytes: 3000,
            write_bytes: 2000,
            ..Interval::default()
        };
        assert_eq!((second.iops(), second.bytes_per_second()), (Some(100.0), Some(10_000.0)));
        second.length_ns = 0;
        assert_eq!((second.iops(), second.bytes_per_second()), (None, None));
    }

    #[test]
    fn a_percentile_without_support_is_null_with_a_reason() {
        let mut histogram = LatencyHistogram::fine();
        histogram.record_many(5_000, 500);
        let result = DirectionResult::new(500, 500 * 4096, 1_000_000_000, histogram);
        assert_eq!(result.latency_ns.p99, None);
        assert_eq!(result.latency_ns.unsupported["p99"], "needs 1000 operations, had 500");
        assert!((result.iops - 500.0).abs() < 1e-9);
    }
}
