//! Plans for tests of this crate, on a target that nobody touches.

use plimsoll_workload::{
    certainty::Certainty,
    plan::{BlockPlan, Plan},
    settings::Effort,
    target_facts::{TargetFacts, TargetKind},
    workload::Workload,
};

/// The plan of a workload as a plan file would say it.
pub(crate) fn plan(toml: &str) -> BlockPlan {
    let workload: Workload = toml::from_str(toml).unwrap();
    let target = TargetFacts {
        name: "memory".into(),
        kind: TargetKind::File,
        size_bytes: Some(64 << 20),
        free_bytes: None,
        direct_alignment_bytes: Some(512),
    };
    Plan::resolve(&[target], &[workload], &Certainty::of(Effort::Quick), 42).unwrap().cells.remove(0).blocks
}
