//! What a reader should know first: what failed, what differs, what was not delivered, what is doubtful.

use plimsoll_record::{record::Record, results::Severity};

use super::{Note, Run};
use crate::{
    comparison::{CellPair, Comparison, MetricPair, Pair, Side},
    notes,
};

/// Sentences at the top.
const FINDINGS_MAX: usize = 12;
/// Up to so many of them say what failed where there is more to say than is shown.
const ERRORS_MAX: usize = 4;
/// The same of what is doubtful, for which there is more room where less differs.
const WARNINGS_MIN: usize = 3;

/// The findings, the most telling first. Where there are more than anybody reads, the last one says how many.
pub(super) fn of(
    records: &[&Record],
    runs: &[Run],
    comparison: Option<&Comparison>,
    expected: Option<String>,
) -> Vec<Note> {
    let ended = runs.iter().filter_map(|run| {
        let note = run.ended.as_ref()?;
        Some(Note { severity: note.severity, text: format!("{}: {}", run.name, note.text) })
    });
    let (errors, warnings): (Vec<Note>, Vec<Note>) =
        ended.chain(doubts(records, runs)).partition(|note| note.severity == Severity::Error);
    let letters = comparison.map(|comparison| Note::info(letters(runs, &comparison.sides)));
    let differences: Vec<Note> = comparison.map(differences).unwrap_or_default().into_iter().map(Note::info).collect();
    let expected = expected.map(Note::info);
    let single = letters.iter().chain(&expected).count();
    let all = errors.len() + differences.len() + warnings.len() + single;
    let [errors_max, differences_max] = match all {
        0..=FINDINGS_MAX => [all; 2],
        _ => [ERRORS_MAX, FINDINGS_MAX - 1 - errors.len().min(ERRORS_MAX) - single - warnings.len().min(WARNINGS_MIN)],
    };
    let mut findings: Vec<Note> = errors.into_iter().take(errors_max).collect();
    findings.extend(letters);
    findings.extend(differences.into_iter().take(differences_max));
    findings.extend(expected);
    findings.extend(warnings);
    if all > FINDINGS_MAX {
        findings.truncate(FINDINGS_MAX - 1);
        findings.push(Note::info(format!("... and {} more", all - findings.len())));
    }
    findings
}

/// What the comparison says, sure differences first, and last where it claims nothing.
fn differences(comparison: &Comparison) -> Vec<String> {
    let of_pair = |pair: &Pair| -> Vec<(u8, String)> {
        let sentence = |cell: &CellPair| {
            let place = match cell.headline() {
                Some(MetricPair { has_stopped: true, .. }) => 0,
                Some(MetricPair { compared: Some(compared), .. }) => u8::from(!compared.different),
                _ => 2,
            };
            (place, format!("{} against {}, {}: {}", pair.side, pair.reference, cell.label(), cell.sentence))
        };
        pair.cells.iter().map(sentence).collect()
    };
    let mut sentences: Vec<(u8, String)> = comparison.pairs.iter().flat_map(of_pair).collect();
    sentences.sort_by_key(|(place, _)| *place);
    sentences.into_iter().map(|(_, sentence)| sentence).collect()
}

/// What is doubtful or wrong, with the runs that it is about; the same of several runs is said once.
fn doubts(records: &[&Record], runs: &[Run]) -> Vec<Note> {
    let mut found: Vec<(Note, Vec<&str>)> = Vec::new();
    for (record, run) in records.iter().zip(runs) {
        for note in notes::of(record).iter().filter(|note| note.severity != Severity::Info) {
            let note = Note { severity: note.severity, text: note.text_with_targets(record) };
            match found.iter_mut().find(|(other, _)| *other == note) {
                Some((_, names)) => names.push(&run.name),
                None => found.push((note, vec![&run.name])),
            }
        }
    }
    let told = |(note, names): (Note, Vec<&str>)| match (runs, names.as_slice()) {
        ([_], _) | (_, []) => note,
        (_, [one]) => Note { text: format!("{one}: {}", note.text), ..note },
        (_, [first, other]) => Note { text: format!("{first} and {other}: {}", note.text), ..note },
        (_, [first, others @ ..]) => {
            Note { text: format!("{first} and {} other runs: {}", others.len(), note.text), ..note }
        }
    };
    found.into_iter().map(told).collect()
}

/// What letters stand for: runs, or targets; where several sides are of one of several runs, both.
fn letters(runs: &[Run], sides: &[Side]) -> String {
    let name = |side: &Side| {
        let targets = side.targets.join(", ");
        let are_several = sides.iter().filter(|other| other.run == side.run).count() > 1;
        match runs.iter().find(|run| run.id == side.run) {
            Some(run) if runs.len() > 1 && are_several => format!("{} of {}", targets, run.name),
            Some(run) if runs.len() > 1 => run.name.clone(),
            _ => targets,
        }
    };
    let named: Vec<String> = sides.iter().map(|side| format!("{} is {}", side.letter, name(side))).collect();
    named.join(", ")
}

#[cfg(test)]
mod tests;
