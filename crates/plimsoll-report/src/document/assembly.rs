//! What makes a document of records.

use jiff::Timestamp;
use plimsoll_catalog::catalog::Catalog;
use plimsoll_record::record::Record;
use plimsoll_workload::provisioned::Provisioning;
use uuid::Uuid;

use super::{Document, Run, SCHEMA, detail::Detail, files, findings, prices, run, sweeps, trends, uses};
use crate::{
    claims::Claims,
    comparison::{Comparison, ComparisonError, TARGETS_MAX, Wishes},
    explanation::{
        Explanation,
        bought::Known,
        standing::{Judged, Reached, Standing},
    },
    printable,
};

/// Bytes up to which the sides are told with each of them as the reference: a report is sent.
const COMPARISONS_BYTES: usize = 700_000;

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
    /// Names of runs that later ones are compared with.
    pub baselines: &'a [(String, Uuid)],
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
        let Contents { title, subjects, wishes, catalog, claims, baselines, created, version } = contents;
        let records: Vec<&Record> = subjects.iter().map(|(record, _)| *record).collect();
        let (comparisons, not_compared) = compare(&records, &wishes)?;
        let fixed_reference = comparisons.first().and_then(fixed_reference);
        let explanation = Some(Explanation::of(subjects, catalog)?).filter(Explanation::expects_anything);
        let detail = Detail::first(&records);
        let runs: Vec<Run> = records.iter().map(|record| run::of(record, &records, detail)).collect();
        let expected = explanation.as_ref().and_then(expected);
        let findings = findings::of(&records, &runs, comparisons.first(), expected);
        let prices = comparisons.first().map(|first| prices::of(first, subjects, catalog)).unwrap_or_default();
        let title = title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| self::title(&runs));
        Ok(Self {
            schema: SCHEMA,
            title: printable::line(&title).into_owned(),
            created,
            version,
            findings,
            trends: trends::of(&records, baselines),
            sweeps: sweeps::of(&records),
            files: files::of(&records, explanation.as_ref()),
            uses: comparisons.first().map(|first| uses::of(first, explanation.as_ref())).unwrap_or_default(),
            claims: claims.map(|claims| claims.judge(&records, &Known { subjects, catalog })),
            runs,
            comparisons,
            fixed_reference,
            not_compared,
            prices,
            explanation,
        })
    }
}

impl Document {
    /// The document as JSON, in which no mark turns the direction of what a reader sees.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(printable::json(serde_json::to_string(self)?))
    }

    /// The same for people to read.
    pub fn json_in_lines(&self) -> serde_json::Result<String> {
        Ok(printable::json(serde_json::to_string_pretty(self)?))
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
    let others: Vec<String> = match fixed_reference(&first) {
        None => first.sides.iter().map(|side| side.letter.clone()).collect(),
        Some(_) => Vec::new(),
    };
    let of = |reference: &String| {
        Comparison::of(records, &Wishes { reference: Some(reference.clone()), ..wishes.clone() }).ok()
    };
    let others: Vec<Comparison> = others.iter().filter(|letter| **letter != first.reference).filter_map(of).collect();
    Ok((std::iter::once(first).chain(others).collect(), None))
}

/// Why no other side can be chosen as the reference: all of them would be too much to be sent.
fn fixed_reference(first: &Comparison) -> Option<String> {
    let bytes = serde_json::to_vec(first).map_or(usize::MAX, |json| json.len());
    (bytes.saturating_mul(first.sides.len()) > COMPARISONS_BYTES).then(|| {
        format!(
            "{} sides with all their numbers for each of them as the reference are too many for one report: this one has \
             {}, and `--reference` makes one with another",
            first.sides.len(),
            first.reference
        )
    })
}

fn title(runs: &[Run]) -> String {
    match runs {
        [run] => format!("plimsoll: {}", run.name),
        [one, other] => format!("plimsoll: {} and {}", one.name, other.name),
        _ => format!("plimsoll: {} runs", runs.len()),
    }
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
