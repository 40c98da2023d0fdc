//! The record of a run, schema `plimsoll/1`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plimsoll_measure::verdict::Verdict;
use plimsoll_workload::{
    certainty::{Certainty, StoppingRule},
    file_set::FilePlan,
    need::Need,
    plan::{BlockPlan, Work},
    provisioned::Provisioning,
    settings::EngineChoice,
    workload::Workload,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    application::{ApplicationResult, Iteration},
    cache::{CacheActivity, ForeignActivity},
    client::ClientActivity,
    environment::Environment,
    files::{FilesResult, Phases},
    judgement::{Burst, Moved, RateEstimate, Stability},
    latencies::Exposed,
    lifecycle::VolumeLifecycle,
    limit::CellLimit,
    pods::Pods,
    results::{
        CpuCost, DeviceActivity, DirectionResult, ErrorCount, Finding, Interval, JobResult, OpenLoopResult, SlotRate,
        SlotSummary,
    },
    told::{Duration, Import, Told},
    verification::VerificationResult,
    word::Word,
};

/// What the reason for no verdict begins with when a cell was never visited.
pub const NOT_RUN: &str = "not run";

/// The schema that this version writes.
pub const SCHEMA: &str = "plimsoll/1";

/// Everything about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// `plimsoll/1`.
    pub schema: String,
    /// Time-ordered identity (UUID version 7).
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: Uuid,
    /// When the run began, RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub started: Timestamp,
    /// How long it took in all, pauses of a run that was resumed included: every time in the record lies within.
    pub elapsed_ns: u64,
    /// When it went on after interruptions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<Resumption>,
    /// How it ended.
    pub outcome: Outcome,
    /// What measured.
    pub tool: Tool,
    /// The name given with `--name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The pairs given with `--tag`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// What was asked.
    pub asked: Asked,
    /// Where all randomness came from.
    pub seed: u64,
    /// Where it ran.
    pub environment: Environment,
    /// Files that were written before they could be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<Layout>,
    /// The lives of the volumes that were measured, of a run that `plimsoll kubernetes` started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<VolumeLifecycle>,
    /// What each of several pods did that measured at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<Pods>,
    /// The text of other programs that the record was made from. Absent where plimsoll measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<Import>,
    /// One entry for each target and workload.
    pub cells: Vec<Cell>,
    /// What was not as it should be, about the run as a whole.
    pub warnings: Vec<String>,
}

/// The files of one target, written before the measurement. Never part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Layout {
    /// The target's path as given.
    pub target: String,
    /// Bytes written.
    pub written_bytes: u64,
    /// How long that took, until all was durable.
    pub elapsed_ns: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Everything planned was done.
    Complete,
    /// Somebody interrupted it: the cells hold what was measured until then.
    Interrupted,
    /// An I/O error ended at least one cell.
    Failed,
    /// Nobody told how it ended: the record was put together from what was saved, or from logs that lack something.
    Lost,
}

/// A run that had been interrupted went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resumption {
    /// When it went on, RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub at: Timestamp,
    /// The same since the start of the run.
    pub t_ns: u64,
    /// How long nothing had been measured: from the end of the last slot that counts.
    pub paused_ns: u64,
}

/// The program that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// Version of plimsoll.
    pub version: String,
    /// Commit it was built from.
    pub commit: Option<String>,
    /// Build profile: numbers of a `debug` build are not to be trusted.
    pub profile: String,
}

/// What was asked, before anything was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Asked {
    /// The targets' paths.
    pub targets: Vec<String>,
    /// The workloads, presets resolved to theirs.
    pub workloads: Vec<Workload>,
    /// The command that was to load the machine meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// What was bought for the targets, as far as it was said: a catalog tells from it what they should deliver.
    #[serde(default, skip_serializing_if = "Provisioning::is_empty")]
    pub provisioned: Provisioning,
    /// What was needed of the targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
    /// How sure the answers were to be.
    #[serde(flatten)]
    pub certainty: Certainty,
}

impl Asked {
    /// That nothing was asked but to be so sure.
    pub fn of(certainty: Certainty) -> Self {
        Self {
            targets: Vec::new(),
            workloads: Vec::new(),
            background: None,
            provisioned: Provisioning::default(),
            need: None,
            certainty,
        }
    }
}

/// One target with one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// The target's path as given.
    pub target: String,
    /// The workload's name.
    pub workload: String,
    /// Which kind of workload.
    pub kind: Kind,
    /// The exact parameters; null where another program measured, which never tells all of them: see `told`.
    pub plan: Option<Work>,
    /// What another program told. Absent where plimsoll measured; where it did not, `read`, `write` and all that only
    /// plimsoll measures is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
    /// When the cell has been measured enough.
    pub stopping: StoppingRule,
    /// Which phase it belongs to: the cells of one run at the same time, but for delays. Absent where cells took turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<u32>,
    /// Slots done, those that do not count included. One that an interruption cut off is not, though it is a slot.
    pub rounds_done: u32,
    /// The engine used; `auto` while none was chosen.
    pub engine: EngineChoice,
    /// Why that one.
    pub engine_reason: String,
    /// Reads.
    pub read: Option<DirectionResult>,
    /// Writes.
    pub write: Option<DirectionResult>,
    /// `fsync` and `fdatasync`.
    pub sync: Option<DirectionResult>,
    /// What other phases of a set of files than `read` and `write` did, each under its own name.
    #[serde(flatten)]
    pub phases: Phases,
    /// What else is known of the phases of a set of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesResult>,
    /// What the iterations of an application did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationResult>,
    /// Every visit.
    #[serde(default)]
    pub slots: Vec<SlotSummary>,
    /// Every second of load.
    pub series: Vec<Interval>,
    /// Cost to the machine that measured.
    pub cpu: CpuCost,
    /// What the disk did.
    pub device: Option<DeviceActivity>,
    /// What of that was not asked by the workload.
    #[serde(default)]
    pub foreign: Option<ForeignActivity>,
    /// What the machine that measured did in the measured time.
    #[serde(default)]
    pub client: Option<ClientActivity>,
    /// What reached the storage, and what the page cache held.
    #[serde(default)]
    pub cache: Option<CacheActivity>,
    /// Reads and writes that each worker completed in the measured time.
    #[serde(default)]
    pub worker_operations: Vec<u64>,
    /// What each job did in the measured time, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub job_results: Vec<JobResult>,
    /// What a closed loop's percentiles hide: how long requests would wait that arrive at any moment. Absent in an open
    /// loop, whose percentiles hide nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exposed: Vec<Exposed>,
    /// How an open loop kept its times.
    pub open_loop: Option<OpenLoopResult>,
    /// What verification found.
    pub verification: Option<VerificationResult>,
    /// Failed operations.
    pub errors: u64,
    /// Failed operations by kind.
    pub error_kinds: Vec<ErrorCount>,
    /// One word about the numbers; null when there are none, see `verdict_reason`.
    pub verdict: Option<Verdict>,
    /// Why there is no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict_reason: Option<String>,
    /// The stretch of the run that the verdict speaks of, from its start.
    pub window: Option<Window>,
    /// The rate of reads and writes together in that stretch.
    #[serde(default)]
    pub estimate: Option<RateEstimate>,
    /// How even its seconds are.
    #[serde(default)]
    pub stability: Option<Stability>,
    /// The burst allowance that was seen, or is predicted.
    #[serde(default)]
    pub burst: Option<Burst>,
    /// A later visit that found another rate.
    #[serde(default)]
    pub moved: Option<Moved>,
    /// Time from dip to dip, when they are regular.
    #[serde(default)]
    pub period_ns: Option<u64>,
    /// What is said to be possible, and whether that was hit.
    pub limit: Option<CellLimit>,
    /// Sentences about the numbers.
    pub findings: Vec<Finding>,
}

impl Cell {
    /// The parameters of its operations; `None` where another program measured, and where it did something else.
    pub fn blocks(&self) -> Option<&BlockPlan> {
        self.plan.as_ref().and_then(Work::blocks)
    }

    /// The set of files that it worked on, if it did.
    pub fn file_plan(&self) -> Option<&FilePlan> {
        self.plan.as_ref().and_then(Work::files)
    }

    /// How long a command took, each time that counts, whoever timed it.
    pub fn durations(&self) -> Vec<Duration> {
        match (&self.application, &self.told) {
            (Some(application), _) => application.counted().map(Iteration::duration).collect(),
            (None, Some(told)) => told.durations().to_vec(),
            (None, None) => Vec::new(),
        }
    }

    /// Whether another cell of its phase was measured while it was. Where one is to begin as the other ends, they may
    /// overlap for a moment: a hundredth of the shorter one is nothing.
    pub fn ran_beside(&self, other: &Self) -> bool {
        if std::ptr::eq(self, other) || self.phase.is_none() || self.phase != other.phase {
            return false;
        }
        let loads = |cell: &Self| cell.slots.iter().map(SlotSummary::load).collect::<Vec<_>>();
        let (ours, theirs) = (loads(self), loads(other));
        let in_common = |[from, to]: [u64; 2]| {
            theirs.iter().map(move |[other_from, other_to]| to.min(*other_to).saturating_sub(from.max(*other_from)))
        };
        let together_ns = ours.iter().copied().flat_map(in_common).fold(0, u64::saturating_add);
        let length = |loads: &[[u64; 2]]| loads.iter().map(|[from, to]| to - from).fold(0, u64::saturating_add);
        together_ns > length(&ours).min(length(&theirs)) / 100
    }

    /// How much measured time of its slots lies before the stretch that its verdict speaks of; whole seconds alone.
    pub fn left_out_ns(&self) -> u64 {
        let Some(window) = self.window else { return 0 };
        let counted = self.slots.iter().filter(|slot| slot.counted);
        let before = |slot: &SlotSummary| window.from_ns.saturating_sub(slot.from_ns).min(slot.elapsed_ns);
        let left_out_ns = counted.map(before).fold(0, u64::saturating_add);
        left_out_ns - left_out_ns % 1_000_000_000
    }

    /// Whether any of these cells ran beside it on its target, so that each has a part of what that delivers.
    pub fn shared_its_target<'a>(&self, cells: impl IntoIterator<Item = &'a Self>) -> bool {
        cells.into_iter().any(|other| other.target == self.target && self.ran_beside(other))
    }

    /// Why it was never visited; `None` if it was.
    pub fn why_not_run(&self) -> Option<&str> {
        let reason = self.verdict_reason.as_deref().filter(|_| self.verdict.is_none() && self.told.is_none())?;
        Some(reason.strip_prefix(NOT_RUN).unwrap_or(reason).trim_start_matches([':', ' ']))
    }

    /// One word about the numbers: the verdict, or why there is none.
    pub fn word(&self) -> Word {
        self.word_of_numbers().unwrap_or(Word::NotRun)
    }

    /// The same of a cell that has numbers.
    pub fn word_of_numbers(&self) -> Option<Word> {
        let bound_by = self.application.as_ref().and_then(|application| application.bound_by);
        let verdict = self.verdict.map(|verdict| bound_by.map_or(Word::Verdict(verdict), Word::Bound));
        verdict.or_else(|| self.told.is_some().then_some(Word::Told))
    }

    /// What each worker adds to the rate of reads and writes: its part of all that they did in the measured time.
    pub fn worker_iops(&self) -> Vec<f64> {
        let whole: u64 = self.worker_operations.iter().sum();
        // The rate may be that of a stretch; who did how much of it is known of all of them alone.
        let rate: f64 = [&self.read, &self.write].into_iter().flatten().map(|result| result.iops).sum();
        let of_worker = |operations: &u64| if whole > 0 { rate * *operations as f64 / whole as f64 } else { 0.0 };
        self.worker_operations.iter().map(of_worker).collect()
    }
}

/// The four kinds of workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Offsets in files or devices.
    Blocks,
    /// File sets and metadata.
    Files,
    /// Commands.
    Application,
    /// Phases of a Kubernetes volume.
    Lifecycle,
}

/// A stretch of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// From here, since the start of the run.
    pub from_ns: u64,
    /// To here.
    pub to_ns: u64,
}

impl Record {
    /// The time in which the run was interrupted.
    pub fn paused_ns(&self) -> u64 {
        self.resumed.iter().fold(0, |sum: u64, resumption| sum.saturating_add(resumption.paused_ns))
    }

    /// The same with the numbers of whole slots, where a cell's are those of a stretch that its verdict speaks of:
    /// other programs tell of all that they measured. Latencies of what has an end of its own are those of whole slots.
    pub fn of_whole_slots(&self) -> Self {
        let mut record = self.clone();
        for cell in &mut record.cells {
            let counted = || cell.slots.iter().filter(|slot| slot.counted);
            let elapsed_ns = counted().map(|slot| slot.elapsed_ns).sum();
            let all = |of: fn(&SlotSummary) -> &Option<SlotRate>| {
                let rates = counted().filter_map(|slot| of(slot).as_ref());
                rates.fold((0, 0), |sum, rate| (sum.0 + rate.operations, sum.1 + rate.bytes))
            };
            let sums = [all(|slot| &slot.read), all(|slot| &slot.write), all(|slot| &slot.sync)];
            for (result, (operations, bytes)) in [&mut cell.read, &mut cell.write, &mut cell.sync].into_iter().zip(sums)
            {
                *result = result.take().map(|result| result.of_all(operations, bytes, elapsed_ns));
            }
        }
        record
    }

    /// Whether any operation failed or any block was wrong.
    pub fn has_io_errors(&self) -> bool {
        self.has_wrong_data() || self.cells.iter().any(|cell| cell.errors > 0)
    }

    /// Whether verification found something that is not as it was written.
    pub fn has_wrong_data(&self) -> bool {
        self.cells.iter().filter_map(|cell| cell.verification.as_ref()).any(|result| result.mismatches > 0)
    }
}
