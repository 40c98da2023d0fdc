//! What a plan has to know of its targets.

use std::path::Path;

use plimsoll_io::target::{self, TargetError};
use plimsoll_workload::{file_names::FileNames, settings::ReadWrite, target_facts::TargetFacts, workload::Workload};

/// The facts of each target. A directory in which nothing can be made is as good as any, as long as only files are read
/// that are there already.
///
/// # Errors
/// When a target cannot be used.
pub fn gather(targets: &[String], workloads: &[Workload]) -> Result<Vec<TargetFacts>, TargetError> {
    targets.iter().map(|target| facts(target, workloads)).collect()
}

fn facts(target: &str, workloads: &[Workload]) -> Result<TargetFacts, TargetError> {
    let path = Path::new(target);
    target::facts(path).or_else(|error| {
        let of_target = |workload: &&Workload| workload.target.as_ref().is_none_or(|own| own == target);
        let mut of_target = workloads.iter().filter(of_target).peekable();
        if of_target.peek().is_none() || !path.is_dir() || !of_target.clone().all(only_reads_named_files) {
            return Err(error);
        }
        let mut names = of_target.filter_map(|workload| workload.file_names.as_ref()).flat_map(FileNames::iter);
        target::facts_of_files(path, &mut names)?.ok_or(error)
    })
}

/// Whether all that a workload does is to read files that have names of their own.
pub fn only_reads_named_files(workload: &Workload) -> bool {
    let is_read = matches!(workload.rw, None | Some(ReadWrite::Read | ReadWrite::RandRead));
    let is_of_names = workload.engine.is_some_and(|engine| engine.name_operation().is_some());
    is_read && !is_of_names && workload.verify != Some(true) && workload.file_names.is_some()
}
