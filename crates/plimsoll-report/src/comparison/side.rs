//! What stands on each side: a record, or one target of a record.

use jiff::Timestamp;
use plimsoll_record::{
    environment::TargetEnvironment,
    numbers,
    record::{Cell, Record},
};
use serde::Serialize;
use uuid::Uuid;

use super::ComparisonError;
use crate::{facts, printable};

/// One of the systems that are compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// Its short name: A, B, ...
    pub letter: String,
    /// The run that measured it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub run: Uuid,
    /// The name given to the run.
    pub name: Option<String>,
    /// When the run began.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub started: Timestamp,
    /// How long it took.
    pub elapsed_ns: u64,
    /// The machine that measured.
    pub hostname: Option<String>,
    /// The targets' paths.
    pub targets: Vec<String>,
    /// The array that the target is, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
    /// What it is, in a line.
    pub description: String,
}

impl Side {
    /// Whether a person means this side: by its letter, the beginning of its run's id, the run's name, or a target.
    fn is_called(&self, text: &str) -> bool {
        let id = self.run.to_string();
        self.letter.eq_ignore_ascii_case(text)
            || self.name.as_deref() == Some(text)
            || self.targets.iter().any(|target| target == text)
            || (text.len() >= 4 && id.starts_with(&text.to_ascii_lowercase()))
    }
}

/// Where a side's cells are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    pub(super) record: &'a Record,
    /// One target; all of them when absent, and then the targets of both sides are matched by name.
    target: Option<&'a str>,
}

impl<'a> Subject<'a> {
    /// One target of a record.
    pub(super) const fn of(record: &'a Record, target: &'a str) -> Self {
        Self { record, target: Some(target) }
    }

    /// The sides that records make. Where all of them measured the same several targets, each record is a side, and
    /// targets are compared with their namesakes. Otherwise each target of each record is a side of its own.
    pub(super) fn all(records: &[&'a Record]) -> Result<Vec<Self>, ComparisonError> {
        let subjects = Self::each(records)?;
        match (subjects.as_slice(), records) {
            ([] | [_], [record, ..]) => Err(ComparisonError::Alone(record.id)),
            ([], []) => Err(ComparisonError::Nothing),
            _ => Ok(subjects),
        }
    }

    /// What readers are told of the sides, also of a single one.
    pub(super) fn sides(records: &[&'a Record]) -> Result<Vec<Side>, ComparisonError> {
        Ok(Self::each(records)?.iter().enumerate().map(|(index, subject)| subject.side(index)).collect())
    }

    fn each(records: &[&'a Record]) -> Result<Vec<Self>, ComparisonError> {
        for (index, record) in records.iter().enumerate() {
            if records[..index].iter().any(|earlier| earlier.id == record.id) {
                return Err(ComparisonError::Twice(record.id));
            }
        }
        let targets: Vec<Vec<&str>> = records.iter().map(|record| facts::targets(record)).collect();
        let sorted = |names: &[&'a str]| {
            let mut names = names.to_vec();
            names.sort_unstable();
            names
        };
        let are_namesakes = records.len() > 1
            && targets[0].len() > 1
            && targets.iter().all(|names| sorted(names) == sorted(&targets[0]));
        Ok(if are_namesakes {
            records.iter().map(|record| Self { record, target: None }).collect()
        } else {
            let pairs = records.iter().zip(targets);
            pairs
                .flat_map(|(record, names)| names.into_iter().map(|name| Self { record, target: Some(name) }))
                .collect()
        })
    }

    /// What readers are told of it.
    pub(super) fn side(&self, index: usize) -> Side {
        let Record { id, name, started, elapsed_ns, environment, .. } = self.record;
        let targets: Vec<String> = self.targets().into_iter().map(str::to_owned).collect();
        let id_text = id.to_string();
        let run = match &self.record.import {
            Some(import) => format!("told in {}", import.file),
            None => format!("run {}, {}", numbers::id_prefix(&id_text), numbers::moment(*started)),
        };
        let ended =
            facts::outcome(self.record).map_or_else(String::new, |(word, _)| format!(", {}", word.to_lowercase()));
        let run = run + &ended;
        let named = name.as_ref().map_or_else(|| run.clone(), |name| format!("{name} ({run})"));
        let what = match self.target {
            Some(target) => facts::target(self.record, target),
            None => targets.join(", "),
        };
        Side {
            letter: facts::letter(index),
            run: *id,
            name: name.clone(),
            started: *started,
            elapsed_ns: *elapsed_ns,
            hostname: environment.machine.hostname.clone(),
            targets,
            array: self.array().map(str::to_owned),
            description: printable::line(&format!("{what}; {named}")).into_owned(),
        }
    }

    fn targets(&self) -> Vec<&'a str> {
        self.target.map_or_else(|| facts::targets(self.record), |target| vec![target])
    }

    /// The name of the array that it is.
    pub(super) fn array(&self) -> Option<&'a str> {
        let target = self.target?;
        let own = self.record.environment.targets.iter().find(|known| known.name == target)?;
        Some(own.array.as_ref()?.array.name.as_str())
    }

    pub(super) fn target_environments(&self) -> Vec<&'a TargetEnvironment> {
        let targets = self.targets();
        self.record.environment.targets.iter().filter(|known| targets.contains(&known.name.as_str())).collect()
    }

    /// The cells of this side in groups that are compared with each other; a group of all has no name.
    pub(super) fn groups(&self) -> Vec<(Option<&'a str>, Vec<&'a Cell>)> {
        let of = |name: &str| self.record.cells.iter().filter(|cell| cell.target == name).collect();
        match self.target {
            Some(target) => vec![(None, of(target))],
            None => facts::targets(self.record).into_iter().map(|name| (Some(name), of(name))).collect(),
        }
    }
}

/// The place of the side that a text means; the first without one.
pub(super) fn find(sides: &[Side], text: Option<&str>) -> Result<usize, ComparisonError> {
    let Some(text) = text else { return Ok(0) };
    // The letter is there to name a side whatever else is called so.
    if let Some(index) = sides.iter().position(|side| side.letter == text) {
        return Ok(index);
    }
    let found: Vec<usize> = (0..sides.len()).filter(|index| sides[*index].is_called(text)).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        _ => Err(ComparisonError::Reference {
            text: text.to_owned(),
            sides: sides
                .iter()
                .map(|side| format!("{} ({})", side.letter, side.targets.join(", ")))
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}
