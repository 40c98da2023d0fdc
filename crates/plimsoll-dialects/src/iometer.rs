//! Iometer's configuration files (`.icf`): their access specifications as workloads.
//!
//! A specification is a list of lines, of which each operation draws one by its share: a size, how many of a hundred
//! are reads, how many go to a random place. A workload says the same when lines agree in all but sizes and reads.

mod access;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use plimsoll_workload::{
    sweep::Sweep,
    units::{ByteCount, Extent, Span},
    workload::Workload,
};

use self::access::Specification;
use crate::problem::{Note, Place, Problem, Problems};

/// Bytes of a file.
pub const BYTES_MAX: usize = 16 << 20;
/// What the first line begins with.
const FIRST: &str = "Version ";
const SECTOR: u64 = 512;

/// The workloads of a file, and what was not taken literally.
#[derive(Clone, Debug, PartialEq)]
pub struct Translation {
    /// One for each specification that a worker is assigned, or for each that there is when none is.
    pub workloads: Vec<Workload>,
    /// What was done with what a workload cannot say.
    pub notes: Vec<Note>,
}

/// What a file says beside its specifications. What workers do not agree in is absent.
#[derive(Default)]
struct Setup {
    run: Option<Span>,
    ramp: Option<Span>,
    workers: u32,
    outstanding: Agreed<u32>,
    sectors: Agreed<u64>,
    first_sector: Agreed<u64>,
    assigned: Vec<String>,
}

/// A value that all workers have, unless they differ.
#[derive(Default)]
enum Agreed<T> {
    #[default]
    Unsaid,
    All(T),
    Differs,
}

impl<T: Copy + PartialEq> Agreed<T> {
    fn add(&mut self, value: T) {
        *self = match self {
            Self::Unsaid => Self::All(value),
            Self::All(all) if *all == value => Self::All(value),
            Self::All(_) | Self::Differs => Self::Differs,
        };
    }

    const fn get(&self) -> Option<T> {
        match self {
            Self::All(value) => Some(*value),
            Self::Unsaid | Self::Differs => None,
        }
    }
}

/// Reads a file.
pub fn translate(file: &str, text: &str) -> Result<Translation, Problems> {
    let mut reader =
        Reader { file: file.into(), lines: text.lines().collect(), notes: Vec::new(), problems: Vec::new() };
    if !reader.lines.first().is_some_and(|line| line.starts_with(FIRST)) {
        let what = "it is no configuration of Iometer, which begins with a line \"Version 1.1.0\"".to_owned();
        return Err(Problems(vec![Problem { place: reader.place(0), what, instead: None }]));
    }
    let (setup, specifications) = reader.read();
    let workloads = reader.workloads(&setup, &specifications);
    if reader.problems.is_empty() {
        Ok(Translation { workloads, notes: reader.notes })
    } else {
        Err(Problems(reader.problems))
    }
}

struct Reader<'a> {
    file: Arc<str>,
    lines: Vec<&'a str>,
    notes: Vec<Note>,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn place(&self, index: usize) -> Place {
        Place { file: Arc::clone(&self.file), line: index + 1, column: 1 }
    }

    fn note(&mut self, index: usize, text: impl Into<String>) {
        let place = self.place(index);
        self.notes.push(Note { place, text: text.into() });
    }

    fn problem(&mut self, index: usize, what: impl Into<String>, instead: &str) {
        let place = self.place(index);
        self.problems.push(Problem { place, what: what.into(), instead: Some(instead.to_owned()) });
    }

    /// The values of a line, which are separated by commas or blanks.
    fn values(&self, index: usize) -> Vec<&'a str> {
        let line = self.lines.get(index).copied().unwrap_or_default();
        let separators: &[char] = if line.contains(',') { &[','] } else { &['\t', ' '] };
        line.split(separators).map(str::trim).filter(|value| !value.is_empty()).collect()
    }

    fn numbers(&self, index: usize) -> Vec<u64> {
        self.values(index).into_iter().map_while(|value| value.parse().ok()).collect()
    }

    /// Settings stand below a comment with their names.
    fn read(&mut self) -> (Setup, Vec<Specification>) {
        let (mut setup, mut specifications) = (Setup::default(), Vec::new());
        let mut index = 0;
        while index < self.lines.len() {
            let line = self.lines[index].trim();
            index += 1;
            match line {
                "'hours      minutes    seconds" | "'\thours      minutes    seconds" => {
                    if let [hours, minutes, seconds] = *self.numbers(index) {
                        let all = hours.saturating_mul(3600).saturating_add(minutes.saturating_mul(60));
                        setup.run = span(all.saturating_add(seconds));
                    }
                }
                "'Ramp Up Time (s)" => setup.ramp = self.numbers(index).first().and_then(|seconds| span(*seconds)),
                "'Access specification name,default assignment" => {
                    let name = self.lines.get(index).map_or("", |line| line.trim());
                    // The last comma is that of the assignment: names may have commas.
                    let name = name.trim_end_matches(',').rsplit_once(',').map_or(name, |(name, _)| name).to_owned();
                    specifications.push(Specification::read(self, name, index));
                }
                "'Worker type" => setup.workers += u32::from(self.values(index).first() == Some(&"DISK")),
                "'Assigned access specs" => {
                    for line in self.lines[index..].iter().take_while(|line| !line.starts_with('\'')) {
                        let name = line.trim().to_owned();
                        if !name.is_empty() && !setup.assigned.contains(&name) {
                            setup.assigned.push(name);
                        }
                    }
                }
                _ if line.starts_with("'Number of outstanding IOs,") => {
                    if let Some(depth) = self.numbers(index).first().and_then(|depth| u32::try_from(*depth).ok()) {
                        setup.outstanding.add(depth);
                    }
                }
                _ if line.starts_with("'Disk maximum size,starting sector") => {
                    if let [sectors, first, ..] = *self.numbers(index) {
                        setup.sectors.add(sectors);
                        setup.first_sector.add(first);
                    }
                }
                _ => {}
            }
        }
        (setup, specifications)
    }

    fn workloads(&mut self, setup: &Setup, specifications: &[Specification]) -> Vec<Workload> {
        let of_all = specifications.iter().map(|specification| specification.name.clone());
        let names = if setup.assigned.is_empty() { of_all.collect() } else { setup.assigned.clone() };
        if names.is_empty() {
            self.problem(
                0,
                "it has no access specification",
                "save one with Iometer, or use the preset iometer-file-server",
            );
        }
        for (name, differs) in [
            ("Number of outstanding IOs", matches!(setup.outstanding, Agreed::Differs)),
            ("Disk maximum size", matches!(setup.sectors, Agreed::Differs)),
            ("starting sector", matches!(setup.first_sector, Agreed::Differs)),
        ] {
            if differs {
                self.note(0, format!("workers differ in \"{name}\", which is left open"));
            }
        }
        let bytes = |sectors: u64| sectors.checked_mul(SECTOR).filter(|bytes| *bytes > 0);
        let extent = |sectors: Option<u64>| sectors.and_then(bytes).map(|bytes| Extent::Bytes(ByteCount(bytes)));
        let common = Workload {
            queue_depth: setup.outstanding.get().filter(|depth| *depth > 0).map(Sweep::one),
            jobs: Some(setup.workers).filter(|workers| *workers > 1).map(Sweep::one),
            size: extent(setup.sectors.get()),
            offset: extent(setup.first_sector.get()),
            duration: setup.run,
            ramp: setup.ramp,
            ..Workload::default()
        };
        let mut workloads = Vec::new();
        for name in names {
            match specifications.iter().find(|specification| specification.name == name) {
                Some(specification) => {
                    workloads.extend(specification.workload(self).map(|workload| workload.or(&common)));
                }
                None => self.problem(
                    0,
                    format!("a worker is assigned \"{name}\", which is not there"),
                    "save the file again",
                ),
            }
        }
        if workloads.is_empty() && self.problems.is_empty() {
            self.problem(0, "no access specification asks for any operation", "assign one that does");
        }
        workloads
    }
}

fn span(seconds: u64) -> Option<Span> {
    (1..=u64::from(u32::MAX)).contains(&seconds).then(|| Span::from_seconds(seconds))
}
