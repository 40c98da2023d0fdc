//! What is to be known of sets of files beside the rates of their phases.

use plimsoll_record::{
    files::PhaseResult,
    numbers::{self, ABSENT},
    record::Record,
};

use plimsoll_workload::file_set::FilePhase;

use crate::{
    facts,
    grid::{Column, Grid, Side},
};

/// A phase of a cell.
struct Line<'a> {
    /// The letter of the target, where there are several.
    target: String,
    /// The workload's name, in the first line of a cell.
    workload: &'a str,
    phase: &'a PhaseResult,
}

/// A table of all phases of a record; none where nothing worked on a set of files.
pub(crate) fn grid(record: &Record) -> Option<Grid> {
    let targets = facts::targets(record);
    let lines: Vec<Line<'_>> = record
        .cells
        .iter()
        .flat_map(|cell| {
            let index = targets.iter().position(|target| *target == cell.target).unwrap_or(0);
            let target = if targets.len() > 1 { facts::letter(index) } else { String::new() };
            cell.whole_phases().enumerate().map(move |(index, phase)| Line {
                target: target.clone(),
                workload: if index == 0 { &cell.workload } else { "" },
                phase,
            })
        })
        .collect();
    if lines.is_empty() {
        return None;
    }
    let text = |value: &dyn Fn(&PhaseResult) -> String| lines.iter().map(|line| value(line.phase)).collect::<Vec<_>>();
    let name = |line: &Line<'_>| match (line.target.as_str(), line.workload) {
        ("", workload) | (_, workload @ "") => workload.to_owned(),
        (target, workload) => format!("{target} {workload}"),
    };
    let mut columns = vec![
        Column::new("files", Side::Left, 0, lines.iter().map(name).collect()),
        Column::new("phase", Side::Left, 0, text(&|phase| phase.phase.to_string())),
        Column::new("op-time/s", Side::Right, 1, text(&|phase| numbers::iops(phase.operation_time_iops))),
        Column::new(numbers::THROUGHPUT_UNIT, Side::Right, 2, text(&throughput)),
    ];
    if lines.iter().any(|line| line.phase.first_done_iops.is_some()) {
        let rate = |phase: &PhaseResult| numbers::or_absent(phase.first_done_iops, numbers::iops);
        columns.push(Column::new("first done/s", Side::Right, 3, text(&rate)));
    }
    if lines.iter().any(|line| line.phase.cached.is_some()) {
        columns.push(Column::new("cached", Side::Right, 0, text(&cached)));
    }
    let has_syncs = lines.iter().any(|line| line.phase.sync_share > 0.0);
    if has_syncs {
        let share = |phase: &PhaseResult| {
            if phase.sync_share > 0.0 { numbers::percent(phase.sync_share) } else { ABSENT.to_owned() }
        };
        columns.push(Column::new("in fsync", Side::Right, 4, text(&share)));
    }
    if lines.iter().any(|line| line.phase.device_operations_per_operation.is_some()) {
        let per_operation = |phase: &PhaseResult| {
            numbers::or_absent(phase.device_operations_per_operation, |count| format!("{count:.2}"))
        };
        columns.push(Column::new("disk I/Os each", Side::Right, 2, text(&per_operation)));
    }
    Some(Grid::new(columns))
}

fn throughput(phase: &PhaseResult) -> String {
    let rate = phase.operation_time_bytes_per_second;
    if rate > 0.0 { numbers::throughput(rate) } else { ABSENT.to_owned() }
}

/// The share of the files that the page cache held before they were read.
fn cached(phase: &PhaseResult) -> String {
    let Some(cached) = &phase.cached else { return String::new() };
    let share = cached.share().map_or_else(|| "unknown".to_owned(), numbers::percent);
    // What it has read is there when it reads that again.
    if phase.phase == FilePhase::Mix { format!("{share} at first") } else { share }
}
