//! The one table of options: what each is called, how its value is written, how far it is honoured, and what it does.
//!
//! The reference page, the help of the command line, the parsers and the tests all read this table.

mod content;
mod course;
mod engine;
mod files;
mod kind;
mod logs;
mod pattern;
mod rate;
mod refused;
mod report;
mod submission;

use std::{collections::HashMap, sync::LazyLock};

use plimsoll_workload::units::Extent;

pub(super) use self::course::CLONES_MAX;
pub use self::kind::{Kind, Value};
pub(super) use self::submission::engine_name;
use super::{
    settings::{Engine, Settings},
    value::Reading,
};
use crate::{problem::Wrong, suggestion, support::Support};

/// What an option is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Which files, and how they come to be.
    Files,
    /// What is done, where, and in which sizes.
    Pattern,
    /// Engines, depth, direct and synchronous I/O.
    Submission,
    /// Rates, think time, latency targets.
    Rate,
    /// Time, loops, clones, groups, errors.
    Course,
    /// What is written, and verification.
    Content,
    /// What is told.
    Report,
    /// Files of what happened when.
    Logs,
    /// Options of an engine.
    Engine,
}

impl Category {
    /// All, in the order of the reference.
    pub const ALL: [Self; 9] = [
        Self::Files,
        Self::Pattern,
        Self::Submission,
        Self::Rate,
        Self::Course,
        Self::Content,
        Self::Report,
        Self::Logs,
        Self::Engine,
    ];

    /// A heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Files => "Files",
            Self::Pattern => "What is done",
            Self::Submission => "How it reaches the storage",
            Self::Rate => "Rates and latencies",
            Self::Course => "Time, groups and errors",
            Self::Content => "Content and verification",
            Self::Report => "Reports",
            Self::Logs => "Logs",
            Self::Engine => "Options of engines",
        }
    }
}

/// What an option does to the settings of a job.
type Apply = fn(&mut Settings, &Value, &mut Reading) -> Result<(), Wrong>;

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it is about.
    pub category: Category,
    /// How its value is written.
    pub kind: Kind,
    /// The value that it has without being given, where it has one.
    pub default: Option<&'static str>,
    /// How far it is honoured.
    pub support: Support,
    /// What it does, in a line.
    pub help: &'static str,
    /// The engines that it belongs to; none means all.
    pub engines: &'static [&'static str],
    /// Values that ask for nothing else than what happens: a refused option is taken with them, and of another one
    /// nothing is said.
    pub harmless: &'static [&'static str],
    apply: Apply,
    /// Whether what a job asks for is not what happens, of an option that is not exact. Without it, it never is.
    differs: Option<fn(&Settings) -> bool>,
}

impl Entry {
    const fn exact(category: Category, name: &'static str, kind: Kind, help: &'static str, apply: Apply) -> Self {
        let (aliases, engines, harmless): (_, _, &[&str]) = (&[], &[], &[]);
        let (default, support, differs) = (None, Support::Exact, None);
        Self { name, aliases, category, kind, default, support, help, engines, harmless, apply, differs }
    }

    const fn ignored(
        category: Category,
        name: &'static str,
        kind: Kind,
        help: &'static str,
        reason: &'static str,
    ) -> Self {
        let entry = Self::exact(category, name, kind, help, |_, _, _| Ok(()));
        Self { support: Support::Ignored(reason), ..entry }
    }

    const fn refused(category: Category, name: &'static str, kind: Kind, reason: &'static str) -> Self {
        let entry = Self::exact(category, name, kind, "", |_, _, _| Ok(()));
        Self { support: Support::Refused(reason), ..entry }
    }

    const fn approximate(self, reason: &'static str) -> Self {
        Self { support: Support::Approximate(reason), ..self }
    }

    const fn ignored_for(self, reason: &'static str) -> Self {
        Self { support: Support::Ignored(reason), ..self }
    }

    const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    const fn engines(self, engines: &'static [&'static str]) -> Self {
        Self { engines, ..self }
    }

    const fn unless(self, harmless: &'static [&'static str]) -> Self {
        Self { harmless, ..self }
    }

    /// For an option that is not exact with some jobs only: those of which this is true.
    const fn when(self, differs: fn(&Settings) -> bool) -> Self {
        Self { differs: Some(differs), ..self }
    }

    /// For an option that is not exact in ways that lowering tells of where it meets them.
    const fn told_by_lowering(self) -> Self {
        self.when(|_| false)
    }

    /// Whether a job with this engine may have it.
    pub fn belongs_to(&self, engine: Engine) -> bool {
        self.engines.is_empty() || self.engines.contains(&engine.name())
    }

    /// Whether it takes a value, in a job without other options.
    pub fn accepts(&self, value: &str) -> bool {
        self.put(Some(value), &mut Settings::default()).is_ok()
    }

    /// What to tell whoever gave a job with these settings this value: that it is not what happens.
    pub(super) fn note(&self, value: Option<&str>, settings: &Settings) -> Option<String> {
        let is_harmless = value.is_some_and(|value| self.harmless.contains(&value.trim()));
        if is_harmless || self.differs.is_some_and(|differs| !differs(settings)) {
            return None;
        }
        match self.support {
            Support::Approximate(reason) => Some(format!("{} is approximate: {reason}", self.name)),
            Support::Ignored(reason) => Some(format!("{} is ignored: {reason}", self.name)),
            Support::Exact | Support::Refused(_) => None,
        }
    }

    /// Whether a value is above a bound of its kind. A share is not: it shrinks with what it is a share of.
    pub(super) fn is_above(&self, value: Option<&str>, bound: &str, settings: &Settings) -> bool {
        let read = |text| {
            let mut reading = Reading { kilobyte_base: settings.report.kilobyte_base, ..Reading::default() };
            self.kind.read(text, &mut reading).ok()
        };
        read(value).zip(read(Some(bound))).is_some_and(|(value, bound)| match (value, bound) {
            (Value::Integer(value), Value::Integer(bound)) => value > bound,
            (Value::Size(value), Value::Size(bound))
            | (Value::Extent(Extent::Bytes(value)), Value::Extent(Extent::Bytes(bound))) => value > bound,
            (Value::SizeRange(value), Value::SizeRange(bound)) => value.high > bound.high,
            (Value::Time(value), Value::Time(bound)) => value > bound,
            (Value::TimeRange(value), Value::TimeRange(bound)) => value.high > bound.high,
            _ => false,
        })
    }

    /// Reads a value and puts it into the settings; what surprises is remarked on.
    pub(super) fn put(&self, value: Option<&str>, settings: &mut Settings) -> Result<Vec<String>, Wrong> {
        if let Support::Refused(reason) = self.support {
            let asks_for_nothing = value.is_some_and(|value| self.harmless.contains(&value.trim()));
            let wrong = || Wrong::new(format!("{} is not possible: {reason}", self.name)).instead("remove it");
            return asks_for_nothing.then(Vec::new).ok_or_else(wrong);
        }
        let mut reading = Reading { kilobyte_base: settings.report.kilobyte_base, ..Reading::default() };
        let value = self.kind.read(value, &mut reading)?;
        (self.apply)(settings, &value, &mut reading)?;
        Ok(reading.remarks)
    }
}

/// All options, in the order of the reference.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    [
        files::ENTRIES,
        pattern::ENTRIES,
        submission::ENTRIES,
        rate::ENTRIES,
        course::ENTRIES,
        content::ENTRIES,
        report::ENTRIES,
        logs::ENTRIES,
        engine::ENTRIES,
        refused::ENTRIES,
    ]
    .into_iter()
    .flatten()
}

static BY_NAME: LazyLock<HashMap<&'static str, &'static Entry>> = LazyLock::new(|| {
    all().flat_map(|entry| std::iter::once(&entry.name).chain(entry.aliases).map(move |name| (*name, entry))).collect()
});

/// The option of that name or alias, exactly.
pub fn find(name: &str) -> Option<&'static Entry> {
    BY_NAME.get(name).copied()
}

/// The option that somebody probably meant.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    suggestion::nearest(name, all().map(|entry| entry.name))
}

/// Why an unknown option is refused, with a known one that is meant perhaps.
pub(super) fn unknown(name: &str, suggests: bool) -> Wrong {
    let wrong = Wrong::new(format!("there is no option \"{name}\""));
    match suggests.then(|| nearest(name)).flatten() {
        Some(nearest) => wrong.instead(format!("did you mean {nearest}?")),
        None => wrong,
    }
}

#[cfg(test)]
mod tests;
