//! Plans, records and environments for tests, folded from events as real ones are.

use std::collections::BTreeMap;

use plimsoll_measure::{latency::LatencyHistogram, verdict::Verdict};
use plimsoll_record::{
    builder::RecordBuilder,
    environment::{DeviceEnvironment, Environment, MachineEnvironment, MountEnvironment, TargetEnvironment},
    event::{RunEvent, RunStarted, SlotDirection, SlotResult},
    files::SlotPhase,
    judgement::Judgement,
    record::{Asked, Outcome, Record, Tool},
    told::{FoundResult, Import, Measured, Reading, Source, Told},
};
use plimsoll_workload::{
    certainty::{Certainty, StoppingRule},
    file_set::FilePhase,
    limit::Expected,
    plan::Plan,
    preset,
    settings::{Effort, EngineChoice},
    target_facts::{TargetFacts, TargetKind},
    workload::Workload,
};
use uuid::Uuid;

const SECOND_NS: u64 = 1_000_000_000;

/// The workloads of a preset.
pub(crate) fn workloads(preset: &str) -> Vec<Workload> {
    preset::find(preset).unwrap().workloads(Effort::Standard)
}

/// A plan for directories. What is decided by the effort is set here, so that another choice changes no picture.
pub(crate) fn plan(targets: &[&str], workloads: &[Workload]) -> Plan {
    let facts: Vec<TargetFacts> = targets
        .iter()
        .map(|name| TargetFacts {
            name: (*name).to_owned(),
            kind: TargetKind::Directory,
            size_bytes: None,
            free_bytes: Some(80 << 30),
            direct_alignment_bytes: Some(512),
        })
        .collect();
    let mut plan = Plan::resolve(&facts, workloads, &Certainty::of(Effort::Quick), 42).unwrap();
    for cell in &mut plan.cells {
        let Some(blocks) = cell.work.blocks_mut() else { continue };
        blocks.size_bytes = 1 << 30;
        if cell.stopping == StoppingRule::Sure || blocks.slot_ns.is_some() {
            cell.stopping = StoppingRule::Fixed { slots: 6, discarded: 0 };
            (blocks.ramp_ns, blocks.slot_ns) = (300_000_000, Some(1_200_000_000));
        }
    }
    plan
}

/// A run on a machine with one NVMe disk, of which the events are yet to come.
pub(crate) struct Story {
    plan: Plan,
    builder: RecordBuilder,
}

impl Story {
    pub(crate) fn new(targets: &[&str], workloads: &[Workload]) -> Self {
        Self::with(targets, workloads, Certainty::of(Effort::Quick))
    }

    /// A run of which something is known beforehand.
    pub(crate) fn with(targets: &[&str], workloads: &[Workload], certainty: Certainty) -> Self {
        let mut plan = plan(targets, workloads);
        plan.cells.iter_mut().for_each(|cell| cell.expected = certainty.limit.map(Expected::given));
        let asked = Asked {
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            workloads: workloads.to_vec(),
            ..Asked::of(certainty)
        };
        let started = RunStarted {
            id: "0199c0de-7a3e-7000-8000-0000000000a1".parse::<Uuid>().unwrap(),
            started: "2025-10-08T09:30:00Z".parse().unwrap(),
            tool: Tool { version: "0.1.0".into(), commit: Some("0123abc".into()), profile: "release".into() },
            name: None,
            tags: BTreeMap::new(),
            asked,
            plan: plan.clone(),
            environment: environment(targets),
        };
        let mut story = Self { plan, builder: RecordBuilder::new(started) };
        for cell in 0..story.plan.cells.len() {
            story.engine(cell, EngineChoice::IoUring, "io_uring is the fastest engine and works here");
        }
        story
    }

    pub(crate) fn engine(&mut self, cell: usize, engine: EngineChoice, reason: &str) {
        self.tell(&RunEvent::EngineSelected { cell, engine, reason: reason.to_owned() });
    }

    pub(crate) fn tell(&mut self, event: &RunEvent) {
        self.builder.apply(event);
    }

    /// All slots of a cell, each operation as fast as the others but for one in five hundred, which takes ten times as
    /// long.
    pub(crate) fn measure(&mut self, cell: usize, iops: u64, latency_ns: u64) {
        for round in 0..self.plan.cells[cell].stopping.slots().expect("test plans say how many") {
            let slot = self.slot(cell, round, iops, latency_ns);
            self.tell(&RunEvent::SlotFinished(Box::new(slot)));
        }
    }

    /// A slot of a cell, without errors.
    pub(crate) fn slot(&self, cell: usize, round: u32, iops: u64, latency_ns: u64) -> SlotResult {
        let blocks = self.plan.cells[cell].blocks().unwrap();
        let elapsed_ns = blocks.slot_ns.unwrap_or(SECOND_NS);
        let operations = (u128::from(iops) * u128::from(elapsed_ns) / u128::from(SECOND_NS)) as u64;
        let direction = |percent: u8| {
            let operations = operations * u64::from(percent) / 100;
            (percent > 0).then(|| SlotDirection {
                operations,
                bytes: operations * u64::from(blocks.block_size_bytes_max),
                histogram: histogram(operations, latency_ns),
            })
        };
        SlotResult {
            cell,
            round,
            from_ns: u64::from(round) * 10 * SECOND_NS,
            elapsed_ns,
            read: direction(blocks.read_percent),
            write: direction(100 - blocks.read_percent),
            cpu_operations: operations,
            ..SlotResult::default()
        }
    }

    /// A slot of a cell that works on a set of files, with what each of its phases did.
    pub(crate) fn files(&mut self, cell: usize, round: u32, did: impl Fn(FilePhase) -> SlotPhase) {
        let plan = self.plan.cells[cell].work.files().expect("the cell works on a set of files");
        let phases = plan.phases.as_slice().iter().map(|phase| did(*phase)).collect();
        let slot = SlotResult { cell, round, elapsed_ns: SECOND_NS, phases, ..SlotResult::default() };
        self.tell(&RunEvent::SlotFinished(Box::new(slot)));
    }

    pub(crate) fn end(mut self, elapsed_ns: u64, outcome: Outcome) -> Record {
        for cell in 0..self.plan.cells.len() {
            let judgement = Judgement {
                verdict: Verdict::Short,
                window: None,
                estimate: None,
                stability: None,
                burst: None,
                moved: None,
                period_ns: None,
            };
            self.tell(&RunEvent::CellFinished { cell, judgement: Box::new(judgement) });
        }
        self.tell(&RunEvent::Finished { elapsed_ns, outcome });
        self.builder.finish()
    }
}

/// A phase that did something with a hundred files of 4 KiB, so many a second.
pub(crate) fn phase(phase: FilePhase, files_per_second: u64) -> SlotPhase {
    let elapsed_ns = 100 * SECOND_NS / files_per_second;
    SlotPhase {
        phase,
        from_ns: 0,
        elapsed_ns,
        operations: 100,
        bytes: if phase.reads() || phase.writes() { 100 * 4096 } else { 0 },
        operation_ns: elapsed_ns,
        histogram: histogram(100, elapsed_ns / 100),
        calls: Vec::new(),
        job_operations: vec![100],
        first_done_ns: elapsed_ns,
        first_done_operations: 100,
        sync_ns: 0,
        cached: None,
        device: None,
        user_ns: 0,
        system_ns: 0,
        is_cut: false,
        is_part: false,
    }
}

pub(crate) fn histogram(operations: u64, latency_ns: u64) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::fine();
    let slow = operations / 500;
    histogram.record_many(latency_ns, operations - slow);
    if slow > 0 {
        histogram.record_many(latency_ns * 10, slow);
    }
    histogram
}

fn environment(targets: &[&str]) -> Environment {
    let target = |(index, name): (usize, &&str)| TargetEnvironment {
        name: (*name).to_owned(),
        mount: Some(MountEnvironment {
            point: (*name).to_owned(),
            file_system: if index == 0 { "ext4".into() } else { "xfs".into() },
            source: format!("/dev/nvme{}n1p1", index + 1),
            options: "rw,relatime".into(),
        }),
        free_bytes: Some(80 << 30),
        device: Some(DeviceEnvironment {
            name: format!("nvme{}n1", index + 1),
            partition: Some(format!("nvme{}n1p1", index + 1)),
            size_bytes: Some(100 << 30),
            model: Some("Amazon Elastic Block Store".into()),
            transport: Some("nvme".into()),
            rotational: Some(false),
            ..DeviceEnvironment::default()
        }),
        ..TargetEnvironment::default()
    };
    Environment {
        machine: MachineEnvironment {
            kernel_release: Some("6.12.0".into()),
            architecture: Some("x86_64".into()),
            processors_allowed: Some(4),
            memory_bytes: Some(16 << 30),
            product: Some("Amazon EC2 m7i.xlarge".into()),
            ..MachineEnvironment::default()
        },
        targets: targets.iter().enumerate().map(target).collect(),
        ..Environment::default()
    }
}

/// The canonical six on one directory, all done.
pub(crate) fn canonical() -> Record {
    let mut story = Story::new(&["/mnt/data"], &workloads("canonical"));
    for (cell, (iops, latency_ns)) in canonical_figures().into_iter().enumerate() {
        story.measure(cell, iops, latency_ns);
    }
    story.end(54_000_000_000, Outcome::Complete)
}

/// Rates and latencies in the order of the canonical cells.
pub(crate) const fn canonical_figures() -> [(u64, u64); 6] {
    [
        (1_650, 600_000),
        (1_340, 740_000),
        (16_012, 15_900_000),
        (16_004, 15_980_000),
        (996, 256_000_000),
        (121, 2_100_000_000),
    ]
}

/// What a text told: targets, workloads and results.
pub(crate) fn told(results: &[(&str, &str, Measured)]) -> Record {
    let found = |(target, workload, measured): &(&str, &str, Measured)| FoundResult {
        told: Told { source: Source::FioText, lines: (1, 1), measured: measured.clone() },
        target: Some((*target).to_owned()),
        workload: Some((*workload).to_owned()),
        heading: None,
        started: None,
        findings: Vec::new(),
    };
    let reading = Reading {
        id: "0199c0de-7a3e-7000-8000-0000000000b1".parse().unwrap(),
        tool: Tool { version: "0.1.0".into(), commit: None, profile: "release".into() },
        name: None,
        tags: BTreeMap::new(),
        target: None,
    };
    let at = "2025-10-08T09:30:00Z".parse().unwrap();
    let import = Import { file: "post.md".to_owned(), at, text: String::new() };
    Record::of_import(reading, import, results.iter().map(found).collect())
}
