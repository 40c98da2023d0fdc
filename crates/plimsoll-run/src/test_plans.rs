//! Plans for tests of this crate, on a target that nobody touches.

use std::collections::BTreeMap;

use plimsoll_record::{
    environment::Environment,
    event::RunStarted,
    record::{Asked, Tool},
};
use plimsoll_workload::{
    certainty::Certainty,
    plan::{BlockPlan, Plan},
    settings::Effort,
    target_facts::{TargetFacts, TargetKind},
    workload::Workload,
};

/// The plan of a workload as a plan file would say it.
pub(crate) fn plan(toml: &str) -> BlockPlan {
    plan_of_run(&[toml]).cells.remove(0).work.into_blocks().unwrap()
}

/// A run of that workload alone, about to begin.
pub(crate) fn started(toml: &str) -> RunStarted {
    RunStarted {
        id: uuid::Uuid::nil(),
        started: jiff::Timestamp::UNIX_EPOCH,
        tool: Tool { version: String::new(), commit: None, profile: String::new() },
        name: None,
        tags: BTreeMap::new(),
        asked: Asked::of(Certainty::of(Effort::Quick)),
        plan: plan_of_run(&[toml]),
        environment: Environment::default(),
    }
}

/// Of a workload on a directory.
pub(crate) fn plan_on_directory(workload: &str) -> Plan {
    let target = TargetFacts {
        name: "/".into(),
        kind: TargetKind::Directory,
        size_bytes: None,
        free_bytes: Some(1 << 40),
        direct_alignment_bytes: Some(512),
    };
    plan_on(target, &[workload])
}

/// Of these workloads on one target.
pub(crate) fn plan_of_run(workloads: &[&str]) -> Plan {
    let target = TargetFacts {
        name: "memory".into(),
        kind: TargetKind::File,
        size_bytes: Some(64 << 20),
        free_bytes: None,
        direct_alignment_bytes: Some(512),
    };
    plan_on(target, workloads)
}

fn plan_on(target: TargetFacts, workloads: &[&str]) -> Plan {
    let workloads: Vec<Workload> = workloads.iter().map(|workload| toml::from_str(workload).unwrap()).collect();
    Plan::resolve(&[target], &workloads, &Certainty::of(Effort::Quick), 42).unwrap()
}
