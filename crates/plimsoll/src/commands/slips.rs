//! What is said of a run and would not do anything there: it is refused, as it was meant for something.

use anyhow::bail;
use plimsoll_io::target;
use plimsoll_workload::{
    plan::Plan,
    provisioned::Provisioning,
    settings::FileSharing,
    target_facts::{TargetFacts, TargetKind},
    units::ByteCount,
    workload::Workload,
};

use super::run::AskedRun;

/// A target given twice would be measured against itself, and a device to be destroyed that is no target is a slip.
pub(super) fn check_paths(targets: &[String], destroy: &[String]) -> anyhow::Result<()> {
    let same = |path: &str| target::resolved(path.as_ref()).unwrap_or_else(|_| path.into());
    for (index, target) in targets.iter().enumerate() {
        if targets[..index].iter().any(|earlier| same(earlier) == same(target)) {
            bail!("target {target} is given twice: name each once");
        }
    }
    for device in destroy {
        if !targets.iter().any(|target| same(target) == same(device)) {
            bail!("--destroy {device} names no target of this run: leave it out, or add the device as a target");
        }
    }
    Ok(())
}

/// What is said of a target that the run does not have is a slip.
pub(super) fn check_provisioned(provisioned: &Provisioning, targets: &[String]) -> anyhow::Result<()> {
    match provisioned.targets.keys().find(|name| !targets.contains(name)) {
        Some(name) => bail!("[provisioned.targets.\"{name}\"] names no target of this run: write it as the target is"),
        None => Ok(()),
    }
}

/// What is said of a product or machine that nobody named or found is a slip, unless a cloud is asked for both.
pub(super) fn check_heeded(said: &Provisioning, asked: &AskedRun) -> anyhow::Result<()> {
    let has_limit = asked.certainty.limit.is_some();
    match said.unheeded(&asked.provisioned, &asked.targets, has_limit).filter(|_| asked.detect_cloud.is_none()) {
        Some((flag, needed)) => bail!("{flag} says nothing without {needed}: add that, or leave {flag} out"),
        None => Ok(()),
    }
}

/// Refuses what means nothing to targets of this kind.
pub(super) fn check_kinds(targets: &[TargetFacts], asked: &AskedRun) -> anyhow::Result<()> {
    let same = |path: &str| target::resolved(path.as_ref()).unwrap_or_else(|_| path.into());
    let is_it = |target: &TargetFacts, path| target.kind == TargetKind::Device && same(&target.name) == same(path);
    if let Some(path) = asked.destroy.iter().find(|path| !targets.iter().any(|target| is_it(target, path))) {
        bail!("--destroy {path} names no device of this run, and files need no such permission: leave it out");
    }
    let is_apart = |workload: &Workload| workload.files == Some(FileSharing::PerJob);
    if asked.workloads.iter().any(is_apart) && !targets.iter().any(|target| target.kind.is_directory()) {
        bail!("--files per-job makes files in a directory, and no target of this run is one: leave it out");
    }
    Ok(())
}

/// Refuses strides that leave a job a single block of its only file, which it would read or write again and again.
pub(super) fn check_strides(plan: &Plan) -> anyhow::Result<()> {
    for cell in &plan.cells {
        let Some(blocks) = cell.blocks().filter(|blocks| blocks.gap_bytes > 0 && blocks.file_count == 1) else {
            continue;
        };
        // The last job has the smallest part.
        let region = blocks.job_region(blocks.jobs - 1).length;
        let block = u64::from(blocks.block_size_bytes_max);
        let stride = block + blocks.gap_bytes;
        if region < stride + block {
            bail!(
                "--stride {} leaves {} a single block in the {} that a job has of {}, to be read or written again and \
                 again: lower it, or raise --size",
                ByteCount(stride),
                cell.workload,
                ByteCount(region),
                cell.target
            );
        }
    }
    Ok(())
}
