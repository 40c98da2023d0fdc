//! The sentences below the tables: what failed, what is doubtful, what is good to know.

use plimsoll_record::{
    figures::Figures,
    numbers::{self, count},
    record::{Cell, Kind, NOT_RUN, Record},
    results::{DirectionResult, Finding, OpenLoopResult, Severity},
    verification::VerificationResult,
    word::Word,
};
use plimsoll_workload::plan::{BlockPlan, Pacing};

use crate::{
    applications, facts, lifecycles, pods,
    rows::{self, Metric},
    style::Tone,
};

/// Wrong blocks that are named one by one below a table; the record names more.
const EXAMPLES_MAX: usize = 5;

/// A sentence and how bad it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) severity: Severity,
    /// The cells that it is about, as indices; none when it is about the run.
    cells: Vec<usize>,
    sentence: String,
}

impl Note {
    /// The word that a sentence begins with.
    pub(crate) const fn word(&self) -> &'static str {
        match self.severity {
            Severity::Info => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }

    pub(crate) const fn tone(&self) -> Tone {
        match self.severity {
            Severity::Info => Tone::Head,
            Severity::Warning => Tone::Doubtful,
            Severity::Error => Tone::Bad,
        }
    }

    /// The sentence, with the workloads that it is about and the letters of their targets.
    pub(crate) fn text(&self, record: &Record) -> String {
        self.text_about(record, &facts::names(record, &self.cells))
    }

    /// The same with the names of targets, for where letters are those of several runs.
    pub(crate) fn text_with_targets(&self, record: &Record) -> String {
        self.text_about(record, &facts::names_by(record, &self.cells, |_, target| target.to_owned()))
    }

    fn text_about(&self, record: &Record, names: &str) -> String {
        if self.cells.is_empty() {
            return self.sentence.clone();
        }
        if self.cells.len() == record.cells.len() && record.cells.len() > 1 {
            return format!("all workloads: {}", self.sentence);
        }
        format!("{names}: {}", self.sentence)
    }
}

/// All sentences about a record, the worst first.
pub(crate) fn of(record: &Record) -> Vec<Note> {
    of_shown(record, &Metric::PERCENTILES)
}

/// The same where only these percentiles are shown: signs of others need no explanation.
pub(crate) fn of_shown(record: &Record, percentiles: &[Metric]) -> Vec<Note> {
    let mut notes = Notes::default();
    for (index, cell) in record.cells.iter().enumerate() {
        slots(&mut notes, index, cell);
        company(&mut notes, index, record);
        errors(&mut notes, index, cell);
        let tells_each = cell.blocks().is_some();
        cell.verification.iter().for_each(|result| verification(&mut notes, index, result, tells_each));
        cell.open_loop.iter().for_each(|result| open_loop(&mut notes, index, cell, result));
        findings(&mut notes, index, &cell.findings);
        applications::own_figures(cell).into_iter().for_each(|own| notes.add(Severity::Info, Some(index), own));
    }
    for warning in &record.warnings {
        notes.add(Severity::Warning, None, warning.clone());
    }
    for (is_doubtful, sentence) in lifecycles::notes(record).into_iter().chain(pods::notes(record)) {
        notes.add(if is_doubtful { Severity::Warning } else { Severity::Info }, None, sentence);
    }
    legend(&mut notes, record, percentiles);
    let mut notes = notes.0;
    notes.sort_by_key(|note| match note.severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Info => 2,
    });
    notes
}

/// Sentences in the making: the same one about several cells is said once.
#[derive(Default)]
struct Notes(Vec<Note>);

impl Notes {
    fn add(&mut self, severity: Severity, cell: Option<usize>, sentence: String) {
        match self.0.iter_mut().find(|note| note.severity == severity && note.sentence == sentence) {
            Some(note) => note.cells.extend(cell.filter(|cell| !note.cells.contains(cell))),
            None => self.0.push(Note { severity, cells: cell.into_iter().collect(), sentence }),
        }
    }
}

fn slots(notes: &mut Notes, index: usize, cell: &Cell) {
    // The first records have no slots.
    let (done, began) = (cell.rounds_done, cell.rounds_done > 0 || !cell.slots.is_empty());
    if let Some(slots) = cell.stopping.slots().filter(|slots| began && done < *slots) {
        let part = if cell.slots.len() as u32 > done { ", and a part of one" } else { "" };
        notes.add(Severity::Warning, Some(index), format!("slots done: {done} of {slots}{part}"));
    }
}

/// What is shown of a cell is what it got beside others. Those that all ran beside each other have a sentence together.
fn company(notes: &mut Notes, index: usize, record: &Record) {
    let cell = &record.cells[index];
    let beside = |index: usize| {
        let is_in = |other: &usize| *other == index || record.cells[index].ran_beside(&record.cells[*other]);
        (0..record.cells.len()).filter(is_in).collect::<Vec<_>>()
    };
    let group = beside(index);
    let others: Vec<usize> = group.iter().copied().filter(|other| *other != index).collect();
    if others.is_empty() {
        return;
    }
    let iterations = |cell: &Cell| cell.application.as_ref().map_or(0, |application| application.iterations.len());
    let were_fewer = |other: &usize| iterations(&record.cells[*other]) < iterations(cell);
    let how = match cell.kind {
        Kind::Application if others.iter().any(were_fewer) => {
            "timed at the same time until another ended, on processors of their own that they swapped each time".into()
        }
        Kind::Application => {
            "timed at the same time, on processors of their own that they swapped each time".to_owned()
        }
        _ if others.iter().all(|other| beside(*other) == group) => "ran at the same time".to_owned(),
        _ => {
            let names = facts::names_by(record, &others, |_, target| target.to_owned());
            return notes.add(Severity::Info, Some(index), format!("ran at the same time as {names}"));
        }
    };
    let is_told = |note: &&mut Note| note.sentence == how && note.cells.iter().any(|told| others.contains(told));
    match notes.0.iter_mut().find(is_told) {
        Some(note) => note.cells.push(index),
        None => notes.0.push(Note { severity: Severity::Info, cells: vec![index], sentence: how }),
    }
}

fn iterations(number: u64) -> String {
    if number == 1 {
        "an iteration does not count".to_owned()
    } else {
        format!("{} iterations do not count", count(number))
    }
}

fn errors(notes: &mut Notes, index: usize, cell: &Cell) {
    let is_of_names = cell.blocks().and_then(BlockPlan::name_operation).is_some();
    for kind in &cell.error_kinds {
        if cell.kind == Kind::Application {
            notes.add(Severity::Error, Some(index), format!("{}: {}", iterations(kind.count), kind.error));
            continue;
        }
        let times = if kind.count == 1 { "operation" } else { "operations" };
        let of_file = kind.first_file.map_or_else(String::new, |file| format!(" of file {file}"));
        let sentence = format!(
            "{} {} {times} failed with {}, the first {} {}{of_file}",
            count(kind.count),
            kind.operation,
            kind.error,
            if cell.kind == Kind::Files || is_of_names { "with file" } else { "at offset" },
            count(kind.first_offset)
        );
        notes.add(Severity::Error, Some(index), sentence);
    }
    let explained: u64 = cell.error_kinds.iter().map(|kind| kind.count).sum();
    if cell.errors > explained {
        notes.add(Severity::Error, Some(index), format!("{} operations failed", count(cell.errors - explained)));
    }
}

fn verification(notes: &mut Notes, index: usize, result: &VerificationResult, tells_each: bool) {
    let checked = count(result.blocks_checked);
    let due = count(result.blocks_checked + result.blocks_left);
    let is_cut = result.blocks_left > 0;
    if result.blocks_checked == 0 {
        let sentence =
            if is_cut { format!("none of {due} blocks was read back") } else { "no block was verified".into() };
        return notes.add(Severity::Warning, Some(index), sentence);
    }
    if is_cut {
        let so_far = if result.mismatches == 0 { " and were as written" } else { "" };
        let sentence = format!("{checked} of {due} blocks were read back{so_far}: the rest was not read back");
        notes.add(Severity::Warning, Some(index), sentence);
    } else if result.mismatches == 0 {
        let sentence = format!("{checked} blocks were read back and all were as written");
        notes.add(Severity::Info, Some(index), sentence);
    }
    if result.mismatches == 0 {
        return;
    }
    let sentence = format!("{} of {checked} checks found a block that was not as written", count(result.mismatches));
    notes.add(Severity::Error, Some(index), sentence);
    let mut named: Vec<&String> = Vec::new();
    for example in &result.examples {
        if !named.contains(&example) {
            named.push(example);
        }
    }
    for example in named.iter().take(EXAMPLES_MAX) {
        notes.add(Severity::Error, Some(index), (*example).clone());
    }
    // All wrong blocks of a region are told apart, as long as there is room; of sets of files one for each kind is.
    let further = match named.len().saturating_sub(EXAMPLES_MAX) {
        _ if named.is_empty() => None,
        _ if !tells_each => (result.mismatches > named.len() as u64).then(|| "further".to_owned()),
        0 => None,
        more if named.len() < VerificationResult::EXAMPLES_MAX => Some(format!("{more} further")),
        more => Some(format!("at least {more} further")),
    };
    if let Some(further) = further {
        notes.add(Severity::Error, Some(index), format!("{further} wrong blocks are not named here"));
    }
}

fn open_loop(notes: &mut Notes, index: usize, cell: &Cell, result: &OpenLoopResult) {
    let asked = asked_rate(cell).map_or_else(|| "open loop".to_owned(), |rate| format!("open loop at {rate}"));
    let service = result.service_p99_ns.map_or_else(String::new, |ns| {
        format!("; p99 {} from the moment of issue", numbers::latency_in_text(ns as f64))
    });
    let latest = if result.late > 0 {
        let own = if result.overslept > 0 {
            format!(", {} of them by this machine", count(result.overslept))
        } else {
            String::new()
        };
        format!(" (by {} at most{own})", numbers::latency_in_text(result.latest_ns as f64))
    } else {
        String::new()
    };
    let sentence = format!(
        "{asked}: {} operations were due, {} were issued late{latest}, {} never{service}",
        count(result.intended),
        count(result.late),
        count(result.never_issued)
    );
    notes.add(Severity::Info, Some(index), sentence);
}

/// The rate that an open loop was asked for, over all jobs.
fn asked_rate(cell: &Cell) -> Option<String> {
    let plan = cell.blocks()?;
    let Pacing::Open { arrival, operations_per_second_per_job, bytes_per_second_per_job } = plan.pacing else {
        return None;
    };
    let jobs = f64::from(plan.jobs);
    let rate = match (operations_per_second_per_job, bytes_per_second_per_job) {
        (Some(operations), _) => format!("{} IOPS", numbers::iops(operations * jobs)),
        (None, Some(bytes)) => format!("{} {}", numbers::throughput(bytes * jobs), numbers::THROUGHPUT_UNIT),
        (None, None) => return None,
    };
    Some(format!("{rate} ({arrival} arrivals)"))
}

/// Findings of a cell: the record holds one of each kind.
fn findings(notes: &mut Notes, index: usize, findings: &[Finding]) {
    // What is only good to know of the client is in the record: on a shared machine there is always something.
    let matters = |finding: &&Finding| finding.severity != Severity::Info || !finding.code.starts_with("client-");
    for finding in findings.iter().filter(matters) {
        notes.add(finding.severity, Some(index), finding.text.clone());
    }
}

/// What readers need to know of the signs in the tables.
fn legend(notes: &mut Notes, record: &Record, percentiles: &[Metric]) {
    // Of a command is said what bound it instead.
    for cell in record.cells.iter().filter(|cell| cell.application.is_none()) {
        if let Some(verdict) = cell.verdict {
            let sentence = format!("{} = {}", verdict.as_str(), rows::meaning(verdict, cell));
            notes.add(Severity::Info, None, sentence);
        }
    }
    for reason in record.cells.iter().filter_map(Cell::why_not_run) {
        notes.add(Severity::Info, None, format!("{NOT_RUN} = {reason}"));
    }
    told(notes, record);
    at_least(notes, record, percentiles);
    if record.cells.iter().any(|cell| cell.sustained_bound().is_some()) {
        let sentence = format!("{} = the rate as a share of what lasts, bursts left aside", rows::OF_LIMIT);
        notes.add(Severity::Info, None, sentence);
    }
    let unsupported = |result: &DirectionResult| {
        let latency = &result.latency_ns;
        let all = [(Metric::P50, latency.p50), (Metric::P99, latency.p99), (Metric::P99_9, latency.p99_9)];
        let is_missing = |(metric, ns): &(Metric, Option<u64>)| ns.is_none() && percentiles.contains(metric);
        result.operations > 0 && all.iter().any(is_missing)
    };
    if measured(record).any(unsupported) {
        let sentence = format!("{} = too few operations for this percentile", numbers::ABSENT);
        notes.add(Severity::Info, None, sentence);
    }
}

/// What plimsoll measured of each row, phases of sets of files included.
fn measured(record: &Record) -> impl Iterator<Item = &DirectionResult> {
    let of_cell = |cell| rows::directions(cell).into_iter().filter_map(|(_, figures)| figures?.measured);
    record.cells.iter().flat_map(of_cell)
}

/// What is missing where another program measured.
fn told(notes: &mut Notes, record: &Record) {
    let mut tellers: Vec<&str> = Vec::new();
    for told in record.cells.iter().filter_map(|cell| cell.told.as_ref()) {
        if !tellers.contains(&told.source.teller()) {
            tellers.push(told.source.teller());
        }
    }
    if !tellers.is_empty() {
        let sentence =
            format!("{} = so {} said; nothing here was measured or judged by plimsoll", Word::Told, tellers.join(", "));
        notes.add(Severity::Info, None, sentence);
        if record.cells.iter().any(|cell| cell.kind == Kind::Files) {
            notes.add(Severity::Info, None, "IOPS of files are files per second".to_owned());
        }
        let sentence = format!("{} = not told, or by too few operations to be supported", numbers::ABSENT);
        notes.add(Severity::Info, None, sentence);
    }
}

/// What the sign before a percentile says, and what it takes to be rid of it.
fn at_least(notes: &mut Notes, record: &Record, percentiles: &[Metric]) {
    let intervals = |result| percentiles.iter().filter_map(move |metric| metric.interval(&Figures::of(result)));
    let needed = measured(record).flat_map(intervals);
    let needed: Vec<f64> = needed.filter_map(|interval| interval.needed_seconds).collect();
    if needed.is_empty() {
        return;
    }
    let time = |seconds: f64| numbers::duration((seconds * 1e9) as u64);
    let (least, most) = (needed.iter().copied().fold(f64::MAX, f64::min), needed.iter().copied().fold(0.0, f64::max));
    let span = numbers::range(least, most, time);
    let sentence =
        format!("{} = may be longer than was measured; to tell takes about {span} of measured time", numbers::AT_LEAST);
    notes.add(Severity::Info, None, sentence);
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{
        application::{Iteration, OwnFigure},
        event::{RunEvent, SlotResult},
        record::Outcome,
        results::ErrorCount,
    };

    use super::*;
    use crate::{
        style::Style,
        table,
        test_records::{self, Story},
    };

    #[test]
    fn signs_of_columns_that_are_not_shown_are_not_explained() {
        let mut story = Story::new(&["/mnt/data"], &[toml::from_str("rw = 'randread'\nsize = '64M'").unwrap()]);
        story.measure(0, 300, 600_000);
        let record = story.end(54_000_000_000, Outcome::Complete);
        for width in 40..200 {
            let text = table::record(&record, width, Style::default());
            let is_explained = text.contains("too few operations for this percentile");
            assert_eq!(is_explained, text.contains("p99.9"), "{width}:\n{text}");
        }
    }

    #[test]
    fn signs_of_phases_of_names_alone_are_explained() {
        let workload = "phases = 'mkdir,rmdir'\nfile_count = 100";
        let mut story = Story::new(&["/mnt/data"], &[toml::from_str(workload).unwrap()]);
        story.files(0, 0, |phase| test_records::phase(phase, 500));
        let text = table::record(&story.end(54_000_000_000, Outcome::Complete), 120, Style::default());
        assert!(text.contains("- = too few operations for this percentile"), "{text}");
    }

    #[test]
    fn only_cells_that_did_are_said_to_have_run_at_the_same_time() {
        let said = |cells: &[(u32, Option<u64>)]| {
            let workload =
                |number| toml::from_str(&format!("rw = 'randread'\nsize = '64M'\nname = 'w{number}'")).unwrap();
            let workloads: Vec<_> = (0..cells.len()).map(workload).collect();
            let mut story = Story::new(&["/mnt/data"], &workloads);
            for (index, (_, from_ms)) in cells.iter().enumerate() {
                let Some(from_ms) = from_ms else { continue };
                let slot = SlotResult { from_ns: from_ms * 1_000_000, ..story.slot(index, 0, 300, 600_000) };
                story.tell(&RunEvent::SlotFinished(Box::new(slot)));
            }
            let mut record = story.end(54_000_000_000, Outcome::Complete);
            record.cells.iter_mut().zip(cells).for_each(|(cell, (phase, _))| cell.phase = Some(*phase));
            let texts =
                of(&record).into_iter().map(|note| note.text(&record)).filter(|text| text.contains("same time"));
            texts.collect::<Vec<_>>()
        };
        // Slots take 1.2 s.
        assert_eq!(said(&[(1, Some(0)), (1, Some(900))]), ["all workloads: ran at the same time"]);
        assert_eq!(said(&[(1, Some(0)), (1, Some(3000))]), [""; 0]);
        assert_eq!(said(&[(1, Some(0)), (1, Some(1195))]), [""; 0], "one ends while the other is to begin");
        assert_eq!(said(&[(1, None), (1, None)]), [""; 0]);
        let two_phases = said(&[(1, Some(0)), (1, Some(0)), (2, Some(1200)), (2, Some(1200))]);
        assert_eq!(two_phases, ["w0, w1: ran at the same time", "w2, w3: ran at the same time"]);
        let chain = said(&[(1, Some(0)), (1, Some(1000)), (1, Some(2000))]);
        assert_eq!(chain, ["w0, w2: ran at the same time as w1", "w1: ran at the same time as w0, w2"]);
    }

    #[test]
    fn what_a_command_told_of_itself_beside_its_rate_is_told() {
        let mut story = Story::new(&["/mnt/data"], &[toml::from_str("command = 'etcd'").unwrap()]);
        for (round, bound) in [(0, 4), (1, 8)] {
            let figures = OwnFigure::parse(&format!("puts 900 /s\nfsync_p99 {bound} ms\ndrift -5\n")).unwrap();
            let iteration = Iteration { round, elapsed_ns: 9, counted: true, figures, ..Iteration::default() };
            let application = Some(Box::new(iteration));
            story.tell(&RunEvent::SlotFinished(Box::new(SlotResult { round, application, ..SlotResult::default() })));
        }
        let record = story.end(54_000_000_000, Outcome::Complete);
        let texts: Vec<String> = of(&record).iter().map(|note| note.text(&record)).collect();
        let own = "it told of itself: fsync_p99 4.00 to 8.00 ms, drift -5.00";
        assert!(texts.iter().any(|text| text.ends_with(own)), "{texts:?}");
    }

    #[test]
    fn a_slot_that_was_cut_off_is_not_done() {
        let workload = "rw = 'randread'\nsize = '64M'\nramp = '0s'\nduration = '3s'";
        let said = |whole: u32, is_cut: bool, has_slots: bool| {
            let mut story = Story::new(&["/mnt/data"], &[toml::from_str(workload).unwrap()]);
            let rounds = (0..whole).map(|round| (round, false)).chain(is_cut.then_some((whole, true)));
            for (round, is_cut) in rounds {
                let slot = SlotResult { is_cut, ..story.slot(0, round, 500, 600_000) };
                story.tell(&RunEvent::SlotFinished(Box::new(slot)));
            }
            let mut record = story.end(54_000_000_000, Outcome::Interrupted);
            record.cells[0].slots.retain(|_| has_slots);
            let slots = record.cells[0].stopping.slots().unwrap();
            let text = of(&record).iter().map(|note| note.text(&record)).find(|text| text.contains("slots done"));
            (slots, text.map(|text| text.split_once("slots done: ").unwrap().1.to_owned()))
        };
        let (slots, nothing) = said(0, false, true);
        assert_eq!(nothing, None);
        assert_eq!(said(1, false, true).1, Some(format!("1 of {slots}")));
        assert_eq!(said(1, true, true).1, Some(format!("1 of {slots}, and a part of one")));
        assert_eq!(said(0, true, true).1, Some(format!("0 of {slots}, and a part of one")));
        assert_eq!(said(slots, false, true).1, None);
        assert_eq!(said(1, false, false).1, Some(format!("1 of {slots}")), "the first records have no slots");
    }

    #[test]
    fn an_operation_on_a_name_failed_with_a_file_and_at_no_offset() {
        let workload = "engine = 'filecreate'\nfile_count = 1000";
        let mut story = Story::new(&["/mnt/data"], &[toml::from_str(workload).unwrap()]);
        let [operation, error] = ["create", "ENOSPC"].map(str::to_owned);
        let errors = vec![ErrorCount { operation, error, count: 1, first_offset: 7, first_file: None }];
        story.tell(&RunEvent::SlotFinished(Box::new(SlotResult { errors, ..SlotResult::default() })));
        let record = story.end(54_000_000_000, Outcome::Failed);
        let texts: Vec<String> = of(&record).iter().map(|note| note.text(&record)).collect();
        assert!(texts.iter().any(|text| text.ends_with("failed with ENOSPC, the first with file 7")), "{texts:?}");
    }
}
