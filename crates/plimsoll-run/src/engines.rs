//! Which engine each cell has.

use std::iter;

use plimsoll_io::probe::{self, EngineKind, EngineUnavailable, SelectedEngine};
use plimsoll_workload::{
    limits,
    plan::{BlockPlan, CellPlan, Plan},
    settings::EngineChoice,
};

use crate::resuming::Resuming;

/// Why cells that work on sets of files have the engine that they have.
const OF_FILES: &str = "sets of files are worked on with one system call after the other";

/// Why cells that run commands have that engine.
const OF_APPLICATIONS: &str = "commands do their I/O as they do it";

/// What decides on a cell's engine.
#[derive(PartialEq)]
struct Asked {
    choice: EngineChoice,
    /// Threads queue what the kernel would not.
    prefers_threads: bool,
    /// The depths of all queues that are there at the same time.
    depths: Vec<u32>,
}

/// The engine of each cell.
pub(crate) fn select(plan: &Plan, resuming: Option<&Resuming>) -> Result<Vec<SelectedEngine>, EngineUnavailable> {
    let mut known: Vec<(Asked, SelectedEngine)> = Vec::new();
    plan.cells
        .iter()
        .enumerate()
        .map(|(index, cell)| {
            let Some(blocks) = cell.blocks() else {
                let reason = if cell.application().is_some() { OF_APPLICATIONS } else { OF_FILES };
                return Ok(SelectedEngine { kind: EngineKind::Psync, reason: reason.to_owned(), tried: Vec::new() });
            };
            let choice = resuming.and_then(|resuming| resuming.engine(index)).unwrap_or(blocks.engine);
            let asked = Asked {
                choice,
                prefers_threads: choice == EngineChoice::Auto && can_queue_by_threads(blocks),
                depths: depths_beside(plan, cell, blocks),
            };
            if let Some((_, engine)) = known.iter().find(|(known, _)| *known == asked) {
                return Ok(engine.clone());
            }
            let mut engine = probe::select(choice, &asked.depths)?;
            if asked.prefers_threads && engine.kind == EngineKind::Libaio {
                engine = engine.passed_over("the kernel does its buffered operations one after the other");
            }
            known.push((asked, engine.clone()));
            Ok(engine)
        })
        .collect()
}

/// The depths of a cell's queues, and of those of others in its phase, which are measured at the same time.
fn depths_beside(plan: &Plan, cell: &CellPlan, own: &BlockPlan) -> Vec<u32> {
    let of = |blocks: &BlockPlan| iter::repeat_n(blocks.queue_depth, blocks.jobs as usize);
    let Some(phase) = cell.phase else { return of(own).collect() };
    let cells = plan.cells.iter().filter(|other| other.phase == Some(phase)).filter_map(CellPlan::blocks);
    cells.filter(|blocks| blocks.engine == own.engine).flat_map(of).collect()
}

/// Whether what the kernel does not queue for libaio is in flight where each operation has a thread.
fn can_queue_by_threads(plan: &BlockPlan) -> bool {
    let threads = u64::from(plan.jobs) * u64::from(plan.queue_depth);
    plan.buffered && plan.queue_depth > 1 && threads <= u64::from(limits::THREADS_MAX)
}

/// What has to be asked for to have an engine again.
pub(crate) const fn choice(engine: &SelectedEngine) -> EngineChoice {
    match engine.kind {
        EngineKind::IoUring => EngineChoice::IoUring,
        EngineKind::Libaio => EngineChoice::Libaio,
        EngineKind::Psync => EngineChoice::Psync,
        EngineKind::Memory => EngineChoice::Memory,
        EngineKind::FileCreate => EngineChoice::FileCreate,
        EngineKind::FileStat => EngineChoice::FileStat,
        EngineKind::FileDelete => EngineChoice::FileDelete,
    }
}
