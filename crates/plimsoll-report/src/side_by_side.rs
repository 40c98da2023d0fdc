//! Several targets side by side: workloads as rows, targets as columns.

use std::ops::Range;

use plimsoll_record::record::{Cell, Record};

use crate::{
    arrays,
    comparison::TARGETS_MAX,
    facts,
    grid::{Column, Grid, Rank, Side},
    rows::{self, Metric},
};

/// A workload's direction, with the cell that each target has for it.
struct Line<'a> {
    workload: &'a str,
    operation: &'static str,
    cells: Vec<Option<&'a Cell>>,
}

/// The tables that compare the targets of a record, each within `limit` columns: one when all targets fit beside each
/// other, more when there are too many. None when there is but one target.
pub(crate) fn grids(record: &Record, limit: usize) -> Vec<Grid> {
    let targets = facts::targets(record);
    // Nobody reads a table of more, and to find what fits takes its time. Arrays have tables of their own.
    if targets.len() < 2 || targets.len() > TARGETS_MAX || arrays::are_all(record) {
        return Vec::new();
    }
    let mut lines = lines(record, &targets);
    // What a single target has is no comparison.
    lines.retain(|line| line.cells.iter().flatten().count() > 1);
    if lines.is_empty() {
        return Vec::new();
    }
    let mut grids = Vec::new();
    let mut from = 0;
    while from < targets.len() {
        // As many targets as fit with their rates; at least two, or what is left.
        let fits = |to: &usize| grid(&lines, from..*to, &METRICS[..1]).fits(limit);
        let to = (from + 1..=targets.len()).rev().find(fits).unwrap_or(from + 1).max(from + 2).min(targets.len());
        grids.push(fit(&lines, from..to, limit));
        from = to;
    }
    grids
}

/// The table of some targets with as much of what is compared as fits, each of all of them or of none.
fn fit(lines: &[Line<'_>], targets: Range<usize>, limit: usize) -> Grid {
    let with = |most: Rank| {
        let metrics: Vec<_> = METRICS.iter().copied().filter(|(_, rank)| *rank <= most).collect();
        grid(lines, targets.clone(), &metrics)
    };
    let ranks = METRICS.iter().map(|(_, rank)| *rank).max().unwrap_or(0);
    let mut grids = (1..=ranks).rev().map(with);
    grids.find(|grid| grid.left_out(limit).is_empty()).unwrap_or_else(|| with(0)).fit(limit)
}

/// What is compared, each with its rank: those of a higher rank are left out first.
const METRICS: &[(Metric, Rank)] = &[(Metric::Iops, 0), (Metric::Throughput, 2), (Metric::P99, 1), (Metric::Mean, 3)];

fn lines<'a>(record: &'a Record, targets: &[&str]) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        for cell in record.cells.iter().filter(|cell| cell.target == *target) {
            for (operation, _) in rows::directions(cell) {
                // A workload that stands twice in a plan has two lines.
                let known = lines.iter_mut().find(|line| {
                    line.workload == cell.workload && line.operation == operation && line.cells[index].is_none()
                });
                match known {
                    Some(line) => line.cells[index] = Some(cell),
                    None => {
                        let mut cells = vec![None; targets.len()];
                        cells[index] = Some(cell);
                        lines.push(Line { workload: &cell.workload, operation, cells });
                    }
                }
            }
        }
    }
    lines
}

fn grid(lines: &[Line<'_>], targets: Range<usize>, metrics: &[(Metric, Rank)]) -> Grid {
    let mut columns = vec![
        Column::new("workload", Side::Left, 0, lines.iter().map(|line| line.workload.to_owned()).collect()),
        Column::new("op", Side::Left, 0, lines.iter().map(|line| line.operation.to_owned()).collect()),
    ];
    for (metric, rank) in metrics {
        for target in targets.clone() {
            let value = |line: &Line<'_>| {
                let directions = line.cells[target].map(rows::directions).unwrap_or_default();
                let result = directions.into_iter().find(|(operation, _)| *operation == line.operation);
                let figures = result.and_then(|(_, figures)| figures);
                metric.of(figures.as_ref(), line.cells[target].and_then(rows::range))
            };
            let head = format!("{} {}", metric.head(), facts::letter(target));
            columns.push(Column::new(head, Side::Right, *rank, lines.iter().map(value).collect()));
        }
    }
    if lines.iter().flat_map(|line| &line.cells).flatten().all(|cell| cell.told.is_some()) {
        rows::without_unknown(&mut columns);
    }
    Grid::new(columns)
}

#[cfg(test)]
mod tests {
    use plimsoll_record::record::Outcome;

    use super::*;
    use crate::test_records::{Story, workloads};

    #[test]
    fn what_one_target_has_the_other_has_beside_it_however_narrow_the_table_is() {
        let mut story = Story::new(&["/mnt/a", "/mnt/b"], &workloads("latency"));
        (0..4).for_each(|cell| story.measure(cell, 1650, 600_000));
        let record = story.end(125_000_000_000, Outcome::Complete);
        for limit in 30..=100 {
            let grids = grids(&record, limit);
            assert!(!grids.is_empty(), "{limit}");
            for grid in grids {
                let heads: Vec<&str> = grid.columns().iter().map(|column| column.head.as_str()).collect();
                let of = |letter: &str| heads.iter().filter_map(|head| head.strip_suffix(letter)).collect::<Vec<_>>();
                assert_eq!(of(" A"), of(" B"), "{limit}");
            }
        }
    }
}
