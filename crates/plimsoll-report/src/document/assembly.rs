//! What makes a document of records.

use jiff::Timestamp;
use plimsoll_catalog::catalog::Catalog;
use plimsoll_record::{record::Record, results::Severity};
use plimsoll_workload::provisioned::Provisioning;

use super::{Document, Note, Run, SCHEMA, detail::Detail, files, prices, run, sweeps, trends, uses};
use crate::{
    claims::Claims,
    comparison::{CellPair, Comparison, ComparisonError, Side, TARGETS_MAX, Wishes},
    explanation::{
        Explanation,
        bought::Known,
        standing::{Judged, Reached, Standing},
    },
};

/// Up to so many sides each may be chosen as the reference.
const REFERENCES_MAX: usize = 8;

/// Sentences at the top.
const FINDINGS_MAX: usize = 12;

/// What a document is made of.
pub struct Contents<'a> {
    /// What it is called; by default what is in it.
    pub title: Option<String>,
    /// The runs, each with what is said of what was bought for it.
    pub subjects: &'a [(&'a Record, &'a Provisioning)],
    /// How they are to be compared.
    pub wishes: Wishes,
    /// What is known of what is sold.
    pub catalog: &'a Catalog,
    /// What people say about the numbers.
    pub claims: Option<&'a Claims>,
    /// When it is made.
    pub created: Timestamp,
    /// By which version of plimsoll.
    pub version: String,
}

/// Why no document can be made. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// What was wished of a comparison cannot be.
    #[error(transparent)]
    Comparison(#[from] ComparisonError),
    /// What is said of what was bought cannot be.
    #[error(transparent)]
    Catalog(#[from] plimsoll_catalog::error::CatalogError),
}

impl Document {
    /// The document of records.
    pub fn of(contents: Contents<'_>) -> Result<Self, DocumentError> {
        let Contents { title, subjects, wishes, catalog, claims, created, version } = contents;
        let records: Vec<&Record> = subjects.iter().map(|(record, _)| *record).collect();
        let (comparisons, not_compared) = compare(&records, &wishes)?;
        let explanation = Some(Explanation::of(subjects, catalog)?).filter(Explanation::expects_anything);
        let detail = Detail::first(&records);
        let runs: Vec<Run> = records.iter().map(|record| run::of(record, &records, detail)).collect();
        let findings = findings(&runs, comparisons.first(), explanation.as_ref());
        let prices = comparisons.first().map(|first| prices::of(first, subjects, catalog)).unwrap_or_default();
        Ok(Self {
            schema: SCHEMA,
            title: title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| self::title(&runs)),
            created,
            version,
            findings,
            trends: trends::of(&records),
            sweeps: sweeps::of(&records),
            files: files::of(&records, explanation.as_ref()),
            uses: comparisons.first().map(|first| uses::of(first, explanation.as_ref())).unwrap_or_default(),
            claims: claims.map(|claims| claims.judge(&records, &Known { subjects, catalog })),
            runs,
            comparisons,
            not_compared,
            prices,
            explanation,
        })
    }
}

/// The comparison that was asked for, then one for each other side that may be the reference; or why there is none.
fn compare(records: &[&Record], wishes: &Wishes) -> Result<(Vec<Comparison>, Option<String>), DocumentError> {
    Comparison::check_reference(records, wishes)?;
    if records.len() > TARGETS_MAX {
        let why = format!("{} runs are too many to be read side by side: name up to {TARGETS_MAX}", records.len());
        return Ok((Vec::new(), Some(why)));
    }
    let first = match Comparison::of(records, wishes) {
        Ok(comparison) if comparison.sides.len() > TARGETS_MAX => {
            let sides = comparison.sides.len();
            let why = format!(
                "{sides} targets are too many to be read side by side: name runs that have up to {TARGETS_MAX} together"
            );
            return Ok((Vec::new(), Some(why)));
        }
        Ok(comparison) => comparison,
        // What was typed has no sense; what cannot be compared is shown by itself all the same.
        Err(error @ (ComparisonError::Reference { .. } | ComparisonError::Twice(_))) => return Err(error.into()),
        Err(ComparisonError::Alone(_)) => return Ok((Vec::new(), None)),
        Err(error @ (ComparisonError::NotComparable { .. } | ComparisonError::NothingInCommon { .. })) => {
            let named = Comparison::named_sides(records)?;
            return Ok((Vec::new(), Some(format!("{}; {named}", error.reason()))));
        }
        Err(error) => return Ok((Vec::new(), Some(error.to_string()))),
    };
    let others: Vec<String> = match first.sides.len() {
        0..=REFERENCES_MAX => first.sides.iter().map(|side| side.letter.clone()).collect(),
        _ => Vec::new(),
    };
    let of = |reference: &String| {
        Comparison::of(records, &Wishes { reference: Some(reference.clone()), ..wishes.clone() }).ok()
    };
    let others: Vec<Comparison> = others.iter().filter(|letter| **letter != first.reference).filter_map(of).collect();
    Ok((std::iter::once(first).chain(others).collect(), None))
}

fn title(runs: &[Run]) -> String {
    match runs {
        [run] => format!("plimsoll: {}", run.name),
        [one, other] => format!("plimsoll: {} and {}", one.name, other.name),
        _ => format!("plimsoll: {} runs", runs.len()),
    }
}

/// What a reader should know first: what differs, what was not delivered, what is doubtful.
fn findings(runs: &[Run], comparison: Option<&Comparison>, explanation: Option<&Explanation>) -> Vec<Note> {
    let info = |text: String| Note { severity: Severity::Info, text };
    let mut findings: Vec<Note> = Vec::new();
    for run in runs {
        let ended = run.ended.iter();
        findings.extend(ended.map(|note| Note { text: format!("{}: {}", run.name, note.text), ..note.clone() }));
    }
    findings.extend(comparison.map(|comparison| info(letters(runs, &comparison.sides))));
    for pair in comparison.iter().flat_map(|comparison| &comparison.pairs) {
        let sentence = |cell: &CellPair| {
            info(format!("{} against {}, {}: {}", pair.side, pair.reference, cell.label(), cell.sentence))
        };
        findings.extend(pair.cells.iter().map(sentence));
    }
    findings.truncate(FINDINGS_MAX - 4);
    findings.extend(explanation.and_then(expected).map(info));
    let mut doubts: Vec<Note> = Vec::new();
    for note in runs.iter().flat_map(|run| &run.notes).filter(|note| note.severity != Severity::Info) {
        if !doubts.contains(note) {
            doubts.push(note.clone());
        }
    }
    doubts.sort_by_key(|note| note.severity != Severity::Error);
    findings.extend(doubts);
    findings.truncate(FINDINGS_MAX);
    findings
}

/// What letters stand for: the targets of one run, or else runs.
fn letters(runs: &[Run], sides: &[Side]) -> String {
    let name = |side: &Side| match runs.iter().find(|run| run.id == side.run) {
        Some(run) if runs.len() > 1 => run.name.clone(),
        _ => side.targets.join(", "),
    };
    let named: Vec<String> = sides.iter().map(|side| format!("{} is {}", side.letter, name(side))).collect();
    named.join(", ")
}

/// How many rates are what was bought.
fn expected(explanation: &Explanation) -> Option<String> {
    let judged: Vec<&Judged> =
        explanation.runs.iter().flat_map(|run| &run.cells).flat_map(|cell| &cell.judged).collect();
    let count = |is: &dyn Fn(&Judged) -> bool| judged.iter().filter(|judged| is(judged)).count();
    let of = |reached: Reached| count(&|judged| judged.reached == reached);
    let others = [
        (of(Reached::Over), "over it"),
        (of(Reached::Under), "under it"),
        (of(Reached::Impossible), "so far above it that something else answered"),
    ];
    let others = others.iter().filter(|(number, _)| *number > 0).map(|(number, words)| format!("{number} {words}"));
    let rest: Vec<String> = others.collect();
    let in_bursts = count(&|judged| judged.standing == Standing::BurstOnly);
    let bursts = match in_bursts {
        0 => String::new(),
        number => format!("; {number} of all only while burst credits last"),
    };
    (!judged.is_empty()).then(|| {
        let rest = if rest.is_empty() { String::new() } else { format!(", {}", rest.join(", ")) };
        format!("{} of {} rates are what was bought{rest}{bursts}", of(Reached::Within), judged.len())
    })
}
