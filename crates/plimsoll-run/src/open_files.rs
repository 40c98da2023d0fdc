//! Whether this process may have as many files open as a plan needs, told before any is made.

use std::collections::BTreeMap;

use plimsoll_io::open_files;
use plimsoll_workload::{
    plan::{BlockPlan, CellPlan, Plan, Work},
    settings::EngineChoice,
};

use crate::run::RunError;

/// What a run has open whatever it does: the terminal, the history, the journal, counters of the kernel.
const BESIDES: u64 = 64;

/// Refuses a plan that needs more open files than this process may have.
pub(crate) fn check(plan: &Plan) -> Result<(), RunError> {
    let needed = needed(plan);
    match open_files::limit() {
        Some(limit) if needed > limit => Err(RunError::OpenFiles { needed, limit }),
        _ => Ok(()),
    }
}

/// How many files a plan has open at most, or somewhat fewer.
fn needed(plan: &Plan) -> u64 {
    let blocks = || plan.cells.iter().filter_map(CellPlan::blocks).filter(|plan| plan.name_operation().is_none());
    let files = |plan: &BlockPlan| u64::from(plan.files_in_all());
    // A file with a name of its own has a marker, which stays open as long as the run needs it.
    let markers = |plan: &BlockPlan| if plan.file_names.is_empty() { 1 } else { files(plan) };
    let engines = |plan: &BlockPlan| {
        // Threads that block have tables of open files of their own.
        let tables = if plan.engine == EngineChoice::Psync { 1 } else { u64::from(plan.jobs) };
        tables * u64::from(plan.file_count)
    };
    let mut of_phases: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    for cell in &plan.cells {
        let of_phase = of_phases.entry(cell.phase).or_default();
        let of_cell = match &cell.work {
            Work::Blocks(plan) if plan.name_operation().is_some() => continue,
            Work::Blocks(plan) => engines(plan),
            // Its directories and the file at hand.
            Work::Files(plan) => 4 * u64::from(plan.jobs),
            // Its log and its pipes; what commands open is their own.
            Work::Application(_) => 16,
        };
        // Cells without a phase take turns.
        *of_phase = if cell.phase.is_some() { *of_phase + of_cell } else { of_cell.max(*of_phase) };
    }
    let visits = of_phases.into_values().max().unwrap_or(0);
    // While they are laid out, files are open twice, and their cells are not open yet.
    let layouts = blocks().map(|plan| 2 * files(plan)).max().unwrap_or(0);
    BESIDES + blocks().map(markers).sum::<u64>() + layouts.max(blocks().map(files).sum::<u64>() + visits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_plans::plan_on_directory;

    fn of(workload: &str) -> u64 {
        needed(&plan_on_directory(workload)) - BESIDES
    }

    #[test]
    fn files_that_are_only_named_need_not_be_open() {
        assert_eq!(of("engine = 'filestat'\nfile_count = 100_000"), 0);
        assert_eq!(of("file_count = 100"), 1 + 200);
        assert_eq!(of("file_count = 5\nfile_names = ['a{0/4}']\njobs = 3\nduration = '1s'"), 5 + 5 + 15);
    }
}
