//! What the phases of a set of files did.
//!
//! Two rates are told of a phase, because they answer different questions. The rate of a [`DirectionResult`] is what
//! went through: operations over the time from the start of the phase until all of it was done, a sync at its end
//! included. The rate of operation time is what one caller sees: operations over the time that they took, which is what
//! programs tell that time each file and add up. With several jobs it is the sum of what each of them sees.

use std::fmt;

use plimsoll_measure::{latency::LatencyHistogram, stopping::rounds};
use plimsoll_workload::file_set::FilePhase;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{IgnoredAny, MapAccess, Visitor},
    ser::SerializeMap,
};

use crate::results::{DeviceActivity, DirectionResult, LatencySummary};

/// Fewer iterations tell nothing of how far a rate may be off.
const ROUNDS_MIN: usize = 3;

/// What one phase did in one slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotPhase {
    /// Which one.
    pub phase: FilePhase,
    /// When it began, since the start of the run.
    pub from_ns: u64,
    /// Until all was done.
    pub elapsed_ns: u64,
    /// Operations of it: files, or directories.
    pub operations: u64,
    /// Bytes that they transferred; of `write_read`, each once.
    pub bytes: u64,
    /// The time of all operations together, over all jobs.
    pub operation_ns: u64,
    /// Their latencies.
    pub histogram: LatencyHistogram,
    /// The system calls that they are made of.
    pub calls: Vec<SlotCall>,
    /// Operations of each job.
    pub job_operations: Vec<u64>,
    /// When the first job had done its files.
    pub first_done_ns: u64,
    /// What all jobs had done by then.
    pub first_done_operations: u64,
    /// Time of the sync at its end, summed over the jobs that waited for it. It is part of `elapsed_ns`.
    #[serde(default)]
    pub sync_ns: u64,
    /// What the page cache held of the files before they were read.
    #[serde(default)]
    pub cached: Option<CachedFiles>,
    /// What the disk did meanwhile.
    #[serde(default)]
    pub device: Option<DeviceActivity>,
    /// User time of plimsoll.
    pub user_ns: u64,
    /// System time of plimsoll.
    pub system_ns: u64,
    /// Whether its time was over before all files had their turn.
    pub is_cut: bool,
    /// Whether it is a step of a mix, and so part of another phase.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_part: bool,
}

/// One kind of system call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotCall {
    /// Its name: open, write, fsync.
    pub call: String,
    /// Latencies.
    pub histogram: LatencyHistogram,
}

/// What the page cache held of the files that were to be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CachedFiles {
    /// The system call that told.
    pub method: Option<String>,
    /// Bytes of the files.
    pub total_bytes: u64,
    /// Bytes of them in the page cache; null where the kernel did not tell, see `reason`.
    pub resident_bytes: Option<u64>,
    /// Why it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CachedFiles {
    /// The share of the files that was in the page cache.
    pub fn share(&self) -> Option<f64> {
        let resident = self.resident_bytes?;
        (self.total_bytes > 0).then(|| resident as f64 / self.total_bytes as f64)
    }

    fn add(&mut self, other: &Self) {
        self.total_bytes += other.total_bytes;
        self.resident_bytes = self.resident_bytes.zip(other.resident_bytes).map(|(one, other)| one + other);
        self.method = self.method.take().or_else(|| other.method.clone());
        self.reason = self.reason.take().or_else(|| other.reason.clone());
    }
}

/// What is known of the work on a set of files beside the rates of its phases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesResult {
    /// Bytes of all files of the set.
    pub total_bytes: u64,
    /// SHA-256 of the list of all files in the order of their paths, as `sha256sum` prints it; absent when it was not
    /// asked for with `verify`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_sha256: Option<String>,
    /// The phases, in their order.
    pub phases: Vec<PhaseResult>,
}

/// Files for each job, on average, without which what was done by a moment says nothing of a rate.
const FIRST_DONE_FILES_MIN: f64 = 10.0;

/// One phase over all iterations that count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseResult {
    /// Which one.
    pub phase: FilePhase,
    /// Iterations.
    pub iterations: u32,
    /// Of those, the ones whose time was over before all files had their turn.
    pub cut_iterations: u32,
    /// The time of all operations together and of the sync at the end, over all jobs.
    pub operation_ns: u64,
    /// Operations over the time that they took, all jobs together.
    pub operation_time_iops: f64,
    /// Lower end of its 95 % interval; null below three iterations.
    pub operation_time_iops_low: Option<f64>,
    /// Upper end.
    pub operation_time_iops_high: Option<f64>,
    /// Bytes over the time that operations took, all jobs together.
    pub operation_time_bytes_per_second: f64,
    /// Operations per second until the first job had done its files: while all worked. Null of few large files.
    pub first_done_iops: Option<f64>,
    /// The system calls that operations are made of.
    pub calls: Vec<CallResult>,
    /// Share of the time that operations took in `fsync`, `fdatasync` and `syncfs`.
    pub sync_share: f64,
    /// Operations of each job.
    pub job_operations: Vec<u64>,
    /// What the page cache held of the files before they were read.
    pub cached: Option<CachedFiles>,
    /// What the disk did meanwhile.
    pub device: Option<DeviceActivity>,
    /// Reads and writes of the disk for each operation.
    pub device_operations_per_operation: Option<f64>,
    /// User time of plimsoll.
    pub user_ns: u64,
    /// System time of plimsoll.
    pub system_ns: u64,
    /// Each iteration that counts.
    pub samples: Vec<PhaseSample>,
}

/// A kind of system call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallResult {
    /// Its name.
    pub call: String,
    /// How often.
    pub count: u64,
    /// The time of all of them together.
    pub total_ns: u64,
    /// Latencies.
    pub latency_ns: LatencySummary,
}

/// One iteration of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseSample {
    /// Which slot.
    pub round: u32,
    /// When it began, since the start of the run.
    pub from_ns: u64,
    /// Until all was done.
    pub elapsed_ns: u64,
    /// Operations.
    pub operations: u64,
    /// Bytes.
    pub bytes: u64,
    /// The time of all operations together.
    pub operation_ns: u64,
}

/// The results of phases by their names: keys of a cell. Those of `read` and `write` are where those of all cells are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases(Vec<(FilePhase, DirectionResult)>);

impl Phases {
    /// Which phases these are.
    pub fn names(&self) -> impl Iterator<Item = FilePhase> {
        self.0.iter().map(|(phase, _)| *phase)
    }

    /// The result of a phase.
    pub fn get(&self, phase: FilePhase) -> Option<&DirectionResult> {
        self.0.iter().find(|(known, _)| *known == phase).map(|(_, result)| result)
    }

    /// Sets the result of a phase.
    pub fn set(&mut self, phase: FilePhase, result: DirectionResult) {
        match self.0.iter_mut().find(|(known, _)| *known == phase) {
            Some((_, known)) => *known = result,
            None => self.0.push((phase, result)),
        }
    }
}

impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(phase, result)| map.serialize_entry(phase.as_str(), result))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Phases {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Known;
        impl<'de> Visitor<'de> for Known {
            type Value = Phases;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("results of phases by their names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Phases, A::Error> {
                let mut phases = Phases::default();
                while let Some(key) = map.next_key::<String>()? {
                    // What a later version writes beside them is not read, as everywhere in a record.
                    match key.parse::<FilePhase>() {
                        Ok(phase) => phases.set(phase, map.next_value()?),
                        Err(_) => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(phases)
            }
        }
        deserializer.deserialize_map(Known)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Phases {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Phases".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let result = generator.subschema_for::<DirectionResult>();
        let of = |word: &&str| ((*word).to_owned(), result.clone().into());
        let others = FilePhase::WORDS.iter().filter(|word| !["read", "write"].contains(word));
        let properties: serde_json::Map<String, serde_json::Value> = others.map(of).collect();
        schemars::json_schema!({ "type": "object", "properties": properties })
    }
}

/// What slots add up to.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileSums(Vec<PhaseSums>);

#[derive(Clone, Debug)]
struct PhaseSums {
    histogram: LatencyHistogram,
    calls: Vec<SlotCall>,
    result: PhaseResult,
    sync_ns: u64,
    first_done_ns: u64,
    first_done_operations: u64,
}

impl FileSums {
    /// Adds what the phases of a slot did.
    pub(crate) fn add(&mut self, round: u32, phases: &[SlotPhase]) {
        for slot in phases {
            let known = self.0.iter().position(|sums| sums.result.phase == slot.phase);
            let index = known.unwrap_or_else(|| {
                self.0.push(PhaseSums::new(slot.phase));
                self.0.len() - 1
            });
            self.0[index].add(round, slot);
        }
    }

    /// The rates of all phases, and what else is known of them.
    pub(crate) fn results(&self) -> Vec<(DirectionResult, PhaseResult)> {
        self.0.iter().map(PhaseSums::result).collect()
    }
}

impl PhaseSums {
    fn new(phase: FilePhase) -> Self {
        let result = PhaseResult {
            phase,
            iterations: 0,
            cut_iterations: 0,
            operation_ns: 0,
            operation_time_iops: 0.0,
            operation_time_iops_low: None,
            operation_time_iops_high: None,
            operation_time_bytes_per_second: 0.0,
            first_done_iops: None,
            calls: Vec::new(),
            sync_share: 0.0,
            job_operations: Vec::new(),
            cached: None,
            device: None,
            device_operations_per_operation: None,
            user_ns: 0,
            system_ns: 0,
            samples: Vec::new(),
        };
        Self {
            histogram: LatencyHistogram::fine(),
            calls: Vec::new(),
            result,
            sync_ns: 0,
            first_done_ns: 0,
            first_done_operations: 0,
        }
    }

    fn add(&mut self, round: u32, slot: &SlotPhase) {
        self.histogram.merge(&slot.histogram);
        for call in &slot.calls {
            match self.calls.iter_mut().find(|known| known.call == call.call) {
                Some(known) => known.histogram.merge(&call.histogram),
                None => self.calls.push(call.clone()),
            }
        }
        self.sync_ns += slot.sync_ns;
        self.first_done_ns += slot.first_done_ns;
        self.first_done_operations += slot.first_done_operations;
        let result = &mut self.result;
        result.iterations += 1;
        result.cut_iterations += u32::from(slot.is_cut);
        let operation_ns = slot.operation_ns + slot.sync_ns;
        result.operation_ns += operation_ns;
        result.user_ns += slot.user_ns;
        result.system_ns += slot.system_ns;
        result.job_operations.resize(result.job_operations.len().max(slot.job_operations.len()), 0);
        for (sum, operations) in result.job_operations.iter_mut().zip(&slot.job_operations) {
            *sum += operations;
        }
        match (&mut result.cached, &slot.cached) {
            (Some(sum), Some(cached)) => sum.add(cached),
            (sum, Some(cached)) => *sum = Some(cached.clone()),
            (_, None) => {}
        }
        if let Some(device) = &slot.device {
            result.device.get_or_insert_default().add(device);
        }
        result.samples.push(PhaseSample {
            round,
            from_ns: slot.from_ns,
            elapsed_ns: slot.elapsed_ns,
            operations: slot.operations,
            bytes: slot.bytes,
            operation_ns,
        });
    }

    fn result(&self) -> (DirectionResult, PhaseResult) {
        let samples = &self.result.samples;
        let sum = |of: fn(&PhaseSample) -> u64| samples.iter().map(of).sum::<u64>();
        let (operations, bytes) = (sum(|sample| sample.operations), sum(|sample| sample.bytes));
        let mut direction =
            DirectionResult::new(operations, bytes, sum(|sample| sample.elapsed_ns), self.histogram.clone());
        let rates = |elapsed: fn(&PhaseSample) -> u64| -> Vec<f64> {
            samples.iter().map(|sample| per_second(sample.operations as f64, elapsed(sample))).collect()
        };
        match interval(direction.iops, &rates(|sample| sample.elapsed_ns)) {
            Some((low, high)) => {
                (direction.iops_low, direction.iops_high) = (Some(low), Some(high));
                direction.interval_reason = None;
            }
            None => {
                direction.interval_reason = Some(format!("needs {ROUNDS_MIN} iterations, had {}", samples.len()));
            }
        }
        // Jobs that had nothing to do wait for nobody.
        let jobs = self.result.job_operations.iter().filter(|operations| **operations > 0).count().max(1) as f64;
        let operation_ns = self.result.operation_ns;
        let operation_time_iops = per_second(operations as f64 * jobs, operation_ns);
        let around = interval(operation_time_iops, &rates(|sample| sample.operation_ns));
        // Files that others have begun by then are not counted: of few for each job these would be most.
        let is_told = self.first_done_operations as f64 >= FIRST_DONE_FILES_MIN * jobs;
        let calls: Vec<CallResult> = self.calls.iter().map(CallResult::of).collect();
        let of_syncs: u64 = calls.iter().filter(|call| is_sync(&call.call)).map(|call| call.total_ns).sum();
        let device_operations =
            self.result.device.as_ref().map(|device| (device.read_operations + device.write_operations) as f64);
        let result = PhaseResult {
            operation_time_iops,
            operation_time_iops_low: around.map(|(low, _)| low),
            operation_time_iops_high: around.map(|(_, high)| high),
            operation_time_bytes_per_second: per_second(bytes as f64 * jobs, operation_ns),
            first_done_iops: (jobs > 1.0 && is_told && self.result.phase != FilePhase::Mix)
                .then(|| per_second(self.first_done_operations as f64, self.first_done_ns)),
            sync_share: (of_syncs + self.sync_ns) as f64 / operation_ns.max(1) as f64,
            device_operations_per_operation: device_operations
                .filter(|_| operations > 0)
                .map(|count| count / operations as f64),
            calls,
            ..self.result.clone()
        };
        (direction, result)
    }
}

/// Whether a call waits until something is durable.
fn is_sync(call: &str) -> bool {
    matches!(call, "fsync" | "fdatasync" | "fsync_directory")
}

impl CallResult {
    fn of(call: &SlotCall) -> Self {
        let count = call.histogram.count();
        Self {
            call: call.call.clone(),
            count,
            total_ns: (call.histogram.mean_ns().unwrap_or(0.0) * count as f64).round() as u64,
            latency_ns: LatencySummary::of(&call.histogram),
        }
    }
}

fn per_second(count: f64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 { 0.0 } else { count * 1e9 / elapsed_ns as f64 }
}

/// The 95 % interval around a rate, from the rates of iterations.
fn interval(rate: f64, rates: &[f64]) -> Option<(f64, f64)> {
    if rates.len() < ROUNDS_MIN || rate <= 0.0 {
        return None;
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let share = rounds::half_width(rates) / mean;
    Some(((rate * (1.0 - share)).max(0.0), rate * (1.0 + share)))
}

impl PhaseSample {
    /// Operations per second until all was done.
    pub fn iops(&self) -> f64 {
        per_second(self.operations as f64, self.elapsed_ns)
    }

    /// Bytes per second until all was done.
    pub fn bytes_per_second(&self) -> f64 {
        per_second(self.bytes as f64, self.elapsed_ns)
    }
}

impl crate::record::Cell {
    /// The phases of a set of files, without the steps of a mix, which are parts of one.
    pub fn whole_phases(&self) -> impl Iterator<Item = &PhaseResult> {
        let phases = self.files.iter().flat_map(|files| &files.phases);
        phases.filter(|phase| self.file_plan().is_some_and(|plan| plan.phases.as_slice().contains(&phase.phase)))
    }

    /// What is known of a phase beside its rate.
    pub fn phase(&self, phase: FilePhase) -> Option<&PhaseResult> {
        self.files.as_ref()?.phases.iter().find(|known| known.phase == phase)
    }

    /// What a phase of a set of files did.
    pub fn phase_result(&self, phase: FilePhase) -> Option<&DirectionResult> {
        match phase {
            FilePhase::Read => self.read.as_ref(),
            FilePhase::Write => self.write.as_ref(),
            _ => self.phases.get(phase),
        }
    }
}
