//! Which engine each cell has.

use plimsoll_io::{
    probe::{self, EngineKind, EngineUnavailable, Queues, SelectedEngine},
    ring::RingSetup,
};
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
    queues: Queues,
}

/// The engine of each cell.
pub(crate) fn select(plan: &Plan, resuming: Option<&Resuming>) -> Result<Vec<SelectedEngine>, EngineUnavailable> {
    let mut known: Vec<(Asked, SelectedEngine)> = Vec::new();
    let choice = |index: usize, blocks: &BlockPlan| {
        resuming.and_then(|resuming| resuming.engine(index)).unwrap_or(blocks.engine)
    };
    plan.cells
        .iter()
        .enumerate()
        .map(|(index, cell)| {
            let Some(blocks) = cell.blocks() else {
                let reason = if cell.application().is_some() { OF_APPLICATIONS } else { OF_FILES };
                return Ok(SelectedEngine { kind: EngineKind::Psync, reason: reason.to_owned(), tried: Vec::new() });
            };
            let asked = Asked {
                choice: choice(index, blocks),
                prefers_threads: blocks.buffered && blocks.queue_depth > 1 && threads(blocks) <= limits::THREADS_MAX,
                queues: queues_beside(plan, index, choice),
            };
            let engine = match known.iter().find(|(known, _)| *known == asked) {
                Some((_, engine)) => engine.clone(),
                None => {
                    let engine = select_one(&asked)?;
                    known.push((asked, engine.clone()));
                    engine
                }
            };
            check_threads(blocks, &engine)?;
            Ok(engine)
        })
        .collect()
}

fn select_one(asked: &Asked) -> Result<SelectedEngine, EngineUnavailable> {
    let engine = probe::select(asked.choice, &asked.queues)?;
    let is_auto = asked.choice == EngineChoice::Auto;
    if is_auto && asked.prefers_threads && engine.kind == EngineKind::Libaio {
        return Ok(engine.passed_over("the kernel does its buffered operations one after the other"));
    }
    Ok(engine)
}

/// The queues of a cell, and of those in its phase, which are measured at the same time.
fn queues_beside(plan: &Plan, index: usize, choice: impl Fn(usize, &BlockPlan) -> EngineChoice) -> Queues {
    let mut queues = Queues::default();
    let mut add = |index: usize, cell: &CellPlan| {
        if let Some(blocks) = cell.blocks() {
            let BlockPlan { queue_depth: entries, iopoll, sqpoll, jobs, .. } = *blocks;
            queues.add(choice(index, blocks), RingSetup { entries, iopoll, sqpoll }, jobs);
        }
    };
    match plan.cells[index].phase {
        None => add(index, &plan.cells[index]),
        phase => {
            let beside = plan.cells.iter().enumerate().filter(|(_, cell)| cell.phase == phase);
            beside.for_each(|(index, cell)| add(index, cell));
        }
    }
    queues
}

/// Refuses where all that works takes more threads than there may be.
fn check_threads(blocks: &BlockPlan, engine: &SelectedEngine) -> Result<(), EngineUnavailable> {
    let threads = threads(blocks);
    if engine.kind != EngineKind::Psync || engine.tried.is_empty() || threads <= limits::THREADS_MAX {
        return Ok(());
    }
    Err(engine.refused(&format!(
        "it would take a thread for each of {threads} operations in flight, of {} at most (lower --queue-depth or \
         --jobs)",
        limits::THREADS_MAX
    )))
}

/// How many threads it takes where each operation in flight has one.
const fn threads(blocks: &BlockPlan) -> u32 {
    if blocks.verify { blocks.jobs } else { blocks.jobs.saturating_mul(blocks.queue_depth) }
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
