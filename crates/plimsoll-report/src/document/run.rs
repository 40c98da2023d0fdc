//! A run as a page shows it.

use plimsoll_record::{
    numbers,
    record::{Cell, Record},
    results::Severity,
};
use plimsoll_workload::plan_file::PlanFile;

use super::{
    CellView, Fact, Note, Raw, Run, Table, TableColumn, detail::Detail, excerpt, fairness, iterations, latencies,
    lives, rates, run_names,
};
use crate::{
    details, facts,
    grid::{Grid, Side},
    notes, printable, rows, table,
};

/// A run.
pub(super) fn of(record: &Record, all: &[&Record], detail: Detail) -> Run {
    let targets = facts::targets(record);
    let raw = raw(record, detail.raw_bytes);
    let shown = record.cells.iter().filter(|_| detail.has_cells);
    Run {
        id: record.id,
        name: name(record, &targets, all),
        started: record.started,
        elapsed_ns: record.elapsed_ns,
        ended: facts::outcome(record).map(|(word, sentence)| Note {
            severity: Severity::Error,
            text: format!("{} {sentence}", word.to_lowercase()),
        }),
        is_told: record.import.is_some(),
        targets: targets.iter().map(|target| (*target).to_owned()).collect(),
        facts: facts::of(record).into_iter().map(|fact| Fact { label: fact.label, text: fact.text }).collect(),
        notes: notes::of(record)
            .iter()
            .filter(|note| !detail.is_short || note.severity != Severity::Info)
            .map(|note| Note { severity: note.severity, text: note.text(record) })
            .collect(),
        tables: if detail.has_tables { tables(record, &targets) } else { Vec::new() },
        cells: shown.map(|cell| view(record, cell, targets.len() > 1, detail)).collect(),
        lives: lives::of(record),
        reproduce: raw
            .as_ref()
            .filter(|raw| record.import.is_none() && raw.omitted_bytes == 0)
            .map(|_| reproduce(record)),
        raw,
    }
}

/// What a run is called: its name, the file that it was read from, or its targets; with its time where another one is
/// called the same.
fn name(record: &Record, targets: &[&str], all: &[&Record]) -> String {
    let is_named = |record: &Record| record.name.is_some() || record.import.is_some();
    if is_named(record) || targets.is_empty() {
        return run_names::of(record, all);
    }
    let is_namesake = |other: &&Record| other.id != record.id && !is_named(other) && facts::targets(other) == targets;
    let name = printable::line(&targets.join(", ")).into_owned();
    match all.iter().copied().any(|other| is_namesake(&other)) {
        true => format!("{name} ({})", numbers::moment(record.started)),
        false => name,
    }
}

fn tables(record: &Record, targets: &[&str]) -> Vec<Table> {
    let of_targets = targets.iter().map(|target| of_grid(target, &rows::grid(&table::rows_of(record, target))));
    let details = details::of(record).map(|detail| of_grid(&detail.title, &detail.grid));
    of_targets.chain(details).collect()
}

/// A table of the same strings as in text.
fn of_grid(title: &str, grid: &Grid) -> Table {
    let columns = grid.columns().iter().map(|column| TableColumn {
        head: column.head.clone(),
        is_number: column.side == Side::Right,
        values: column.values.iter().map(|value| value.trim().to_owned()).collect(),
    });
    Table { title: title.to_owned(), columns: columns.collect() }
}

fn view(record: &Record, cell: &Cell, with_target: bool, detail: Detail) -> CellView {
    CellView {
        target: cell.target.clone(),
        workload: cell.workload.clone(),
        label: if with_target { format!("{} {}", cell.target, cell.workload) } else { cell.workload.clone() },
        word: cell.word().to_string(),
        meaning: meaning(cell).to_owned(),
        rates: rates::of(record, cell, detail.resolution),
        latencies: if detail.has_latencies { latencies::of(cell, detail) } else { None },
        fairness: fairness::of(cell),
        iterations: iterations::of(cell),
    }
}

fn meaning(cell: &Cell) -> &str {
    let bound_by = cell.application.as_ref().and_then(|application| application.bound_by);
    match (cell.verdict, bound_by) {
        (Some(_), Some(bound_by)) => rows::meaning_of_bound(bound_by),
        (Some(verdict), None) => rows::meaning(verdict, cell),
        (None, _) if cell.told.is_some() => "another program measured and told these numbers",
        (None, _) => cell.why_not_run().unwrap_or_default(),
    }
}

/// The command that does the same again with the plan beside it.
fn reproduce(record: &Record) -> String {
    let rights = if record.asked.targets.iter().any(|target| target.starts_with("/dev/")) { "sudo " } else { "" };
    format!("{rights}plimsoll run --plan plan.toml")
}

/// The text that a run was made from, or the plan that was asked for, as a file.
fn raw(record: &Record, limit: usize) -> Option<Raw> {
    let (title, text) = match &record.import {
        Some(import) => (run_names::of(record, &[]), import.text.clone()),
        None if record.asked.workloads.is_empty() => return None,
        None => ("plan.toml".to_owned(), toml::to_string(&plan_file(record)).ok()?),
    };
    let (shown, omitted_bytes) = excerpt::of(&text, &read_lines(record), limit);
    (!shown.is_empty()).then_some(Raw { title, text: shown, omitted_bytes })
}

/// The first and last lines of what was read in a text.
fn read_lines(record: &Record) -> Vec<(usize, usize)> {
    record.cells.iter().filter_map(|cell| cell.told.as_ref()).map(|told| told.lines).collect()
}

/// What was asked, as a plan file.
fn plan_file(record: &Record) -> PlanFile {
    let asked = &record.asked;
    PlanFile {
        name: record.name.clone(),
        targets: asked.targets.clone(),
        provisioned: asked.provisioned.clone(),
        need: asked.need.clone(),
        background: asked.background.clone(),
        tags: record.tags.clone(),
        workloads: asked.workloads.clone(),
        ..PlanFile::of_certainty(asked.certainty, record.seed)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::certainty::Certainty;

    use super::*;

    #[test]
    fn the_plan_of_a_record_is_what_was_asked() {
        let mut record: Record =
            serde_json::from_str(include_str!("../../../../fixtures/records/plimsoll-1.json")).unwrap();
        record.name = Some("nightly".to_owned());
        record.tags = [("team".to_owned(), "storage".to_owned())].into();
        record.asked.certainty = Certainty { bookend: true, passes: Some(3), ..record.asked.certainty };
        let plan: PlanFile = toml::from_str(&toml::to_string(&plan_file(&record)).unwrap()).unwrap();
        assert_eq!((&plan.name, &plan.tags), (&record.name, &record.tags));
        assert_eq!((plan.bookend, plan.passes, plan.seed), (true, Some(3), Some(record.seed)));
        assert_eq!((&plan.targets, &plan.workloads), (&record.asked.targets, &record.asked.workloads));
    }
}
