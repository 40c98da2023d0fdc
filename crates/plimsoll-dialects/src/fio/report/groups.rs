//! The jobs of a group together: least, most and all of what they did.

use std::collections::BTreeMap;

use super::entry::{Direction, Entry};
use crate::fio::{job::Job, settings::UnifiedReporting};

/// One direction of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupDirection {
    pub(super) bytes: u64,
    pub(super) runtime_min_ms: u64,
    pub(super) runtime_max_ms: u64,
    /// The longest time again, exactly.
    elapsed_ns: u64,
    /// The slowest entry, in bytes per second.
    pub(super) rate_min: u64,
    /// The fastest.
    pub(super) rate_max: u64,
}

impl GroupDirection {
    fn add(&mut self, direction: &Direction<'_>) {
        let runtime_ms = direction.runtime_ms();
        if runtime_ms == 0 {
            return;
        }
        let (is_first, rate) = (self.runtime_max_ms == 0, direction.bytes_per_second());
        self.runtime_min_ms = if is_first { runtime_ms } else { self.runtime_min_ms.min(runtime_ms) };
        self.runtime_max_ms = self.runtime_max_ms.max(runtime_ms);
        self.elapsed_ns = self.elapsed_ns.max(direction.elapsed_ns);
        self.rate_min = if is_first { rate } else { self.rate_min.min(rate) };
        self.rate_max = self.rate_max.max(rate);
        self.bytes = self.bytes.saturating_add(direction.bytes);
    }

    /// Bytes per second of all, over the longest time of any.
    pub(super) fn rate(&self) -> u64 {
        if self.elapsed_ns == 0 { 0 } else { (self.bytes as f64 * 1e9 / self.elapsed_ns as f64) as u64 }
    }

    /// The share of the group's rate that a mean in KiB per second is, in percent.
    pub(super) fn share(&self, mean: f64) -> f64 {
        let kibibytes = self.rate() as f64 / 1024.0;
        if kibibytes > 1.0 { (mean.floor() * 100.0 / kibibytes).min(100.0) } else { 100.0 }
    }
}

/// A group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a> {
    /// The first job of it that is reported.
    pub(super) job: &'a Job,
    pub(super) read: GroupDirection,
    pub(super) write: GroupDirection,
    /// Reads and writes together, when an entry asks for that.
    pub(super) mixed: GroupDirection,
    pub(super) unified: UnifiedReporting,
}

impl Group<'_> {
    /// By the name of a direction.
    pub(super) const fn direction(&self, name: &str) -> &GroupDirection {
        match name.as_bytes() {
            b"read" => &self.read,
            b"write" => &self.write,
            _ => &self.mixed,
        }
    }
}

/// All groups by their numbers.
pub(super) fn groups<'a>(entries: &[Entry<'a>]) -> BTreeMap<u32, Group<'a>> {
    let mut groups = BTreeMap::new();
    for entry in entries {
        let none = GroupDirection::default();
        let unified = entry.job.settings.report.unified;
        let new = Group { job: entry.job, read: none, write: none, mixed: none, unified };
        let group = groups.entry(entry.job.group).or_insert(new);
        group.read.add(&entry.read);
        group.write.add(&entry.write);
        if let Some(mixed) = &entry.mixed {
            group.mixed.add(mixed);
        }
    }
    groups
}
