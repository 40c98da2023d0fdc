//! An explanation as text: a table of expected beside measured, and below it why, cell by cell.

use plimsoll_record::{figures::Operation, numbers, record::Kind};
use plimsoll_workload::limit::Part;

use super::{
    ExplainedCell, ExplainedRun, Explanation, show,
    standing::{Judged, Standing},
};
use crate::{
    grid::{Column, Grid, Side, escaped},
    printable,
    table::WIDTH_MIN,
    wrapping,
};

/// The answer of `plimsoll explain`.
pub fn text(explanation: &Explanation, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let mut out = String::new();
    for (index, run) in explanation.runs.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if explanation.runs.len() > 1 {
            out += &wrapping::labelled("", &printable::line(&run.name), width);
            out.push('\n');
        }
        let rows = rows(run);
        if !rows.is_empty() {
            out += &grid(&rows).fit(width).text();
            out.push('\n');
        }
        out += &sentences(&run.cells, width);
    }
    if !explanation.pairs.is_empty() {
        out.push('\n');
    }
    for pair in &explanation.pairs {
        out += &wrapping::labelled("", &printable::line(&pair.text), width);
    }
    out
}

/// The same in Markdown, with all columns.
pub(crate) fn markdown(explanation: &Explanation) -> String {
    let mut out = String::new();
    for run in &explanation.runs {
        let rows = rows(run);
        if !rows.is_empty() {
            out += &format!("{}\n", grid(&rows).markdown());
        }
        for (cell, cause) in run.cells.iter().flat_map(|cell| cell.causes.iter().map(move |cause| (cell, cause))) {
            let advice = if cause.advice.is_empty() { String::new() } else { format!(" -> {}", cause.advice) };
            let text = format!("{} {}: {}{advice}", cell.target, cell.workload, cause.text);
            out += &format!("- {}\n", escaped(&text));
        }
    }
    for pair in &explanation.pairs {
        out += &format!("- {}\n", escaped(&pair.text));
    }
    out
}

fn rows(run: &ExplainedRun) -> Vec<(&ExplainedCell, &Judged)> {
    run.cells.iter().flat_map(|cell| cell.judged.iter().map(move |judged| (cell, judged))).collect()
}

fn grid(rows: &[(&ExplainedCell, &Judged)]) -> Grid {
    let text = |value: fn(&ExplainedCell, &Judged) -> String| {
        rows.iter().map(|(cell, judged)| value(cell, judged)).collect::<Vec<_>>()
    };
    // What is the same everywhere tells no rows apart.
    let tells = |value: fn(&ExplainedCell) -> &String| {
        rows.len() == 1 || rows.iter().any(|(cell, _)| value(cell) != value(rows[0].0))
    };
    let mut columns = Vec::new();
    if tells(|cell| &cell.target) {
        columns.push(Column::new("target", Side::Left, 0, text(|cell, _| cell.target.clone())));
    }
    if columns.is_empty() || tells(|cell| &cell.workload) {
        let rank = u8::from(!columns.is_empty());
        columns.push(Column::new("workload", Side::Left, rank, text(|cell, _| cell.workload.clone())));
    }
    columns.extend([
        Column::new("op", Side::Left, 2, text(|cell, judged| operation(cell, judged).to_owned())),
        Column::new("expected", Side::Right, 0, text(|_, judged| show::rate(judged.unit, judged.expected))),
        Column::new("measured", Side::Right, 0, text(|_, judged| show::rate(judged.unit, judged.measured))),
        Column::new("of it", Side::Right, 3, text(|_, judged| numbers::percent(judged.share()))),
        Column::new("verdict", Side::Left, 0, text(|_, judged| judged.standing.word().to_owned())),
        Column::new("binds", Side::Left, 4, text(|_, judged| binds(judged).to_owned())),
    ]);
    Grid::new(columns)
}

fn operation(cell: &ExplainedCell, judged: &Judged) -> &'static str {
    match judged.operation {
        Operation::All if cell.kind == Kind::Application => "disk",
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Sync => "sync",
        Operation::All => "all",
        Operation::Phase(phase) => phase.as_str(),
    }
}

/// The part of the way that binds; of a rate below the limit it is none of them.
const fn binds(judged: &Judged) -> &'static str {
    match judged.part {
        _ if matches!(judged.standing, Standing::Under) => "",
        Part::Disk => "disk",
        Part::Pool => "pool",
        Part::Vm => "machine",
    }
}

/// Why cells' numbers are what they are, target by target. A reason that several workloads share is told of the first.
fn sentences(cells: &[ExplainedCell], width: usize) -> String {
    let mut out = String::new();
    let mut groups: Vec<Vec<&ExplainedCell>> = Vec::new();
    for cell in cells {
        match groups.iter_mut().find(|group| group[0].target == cell.target && group[0].bought == cell.bought) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    for group in groups {
        let mut told = of_group(&group, width);
        if !told.is_empty() {
            for note in &group[0].notes {
                told += &wrapping::labelled("  note: ", &printable::line(note), width);
            }
            let bought = group[0].bought.as_ref().map_or_else(String::new, |bought| format!(", on {bought}"));
            out += &wrapping::labelled("", &printable::line(&format!("{}{bought}", group[0].target)), width);
            out += &told;
        }
    }
    out
}

/// A reason of more workloads than this is told once.
const EACH_MAX: usize = 2;

fn of_group(group: &[&ExplainedCell], width: usize) -> String {
    let mut out = String::new();
    for cell in group {
        let label = if group.len() > 1 { format!("{}: ", cell.workload) } else { String::new() };
        for cause in &cell.causes {
            let with_it: Vec<&&ExplainedCell> =
                group.iter().filter(|other| other.causes.iter().any(|own| own.code == cause.code)).collect();
            let is_shared = with_it.len() > EACH_MAX;
            if is_shared && !std::ptr::eq(*with_it[0], *cell) {
                continue;
            }
            out += &wrapping::labelled("  ", &printable::line(&format!("{label}{}", cause.text)), width);
            if is_shared {
                let others: Vec<&str> = with_it[1..].iter().map(|other| other.workload.as_str()).collect();
                out += &wrapping::labelled("     likewise ", &printable::line(&others.join(", ")), width);
            }
            if !cause.advice.is_empty() {
                out += &wrapping::labelled("     -> ", &printable::line(&cause.advice), width);
            }
        }
        for sentence in cell.slips.iter().map(super::Slip::text).chain(cell.findings.iter().cloned()) {
            out += &wrapping::labelled("  ", &printable::line(&format!("{label}{sentence}")), width);
        }
    }
    out
}
