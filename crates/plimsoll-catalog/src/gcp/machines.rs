//! Machine types of Google Cloud: what each lets through to Persistent Disks, by the type of disk.

use std::sync::LazyLock;

use serde::Deserialize;

use super::persistent_disks;
use crate::{
    ceiling::{Ceiling, Limits, MB, MIB, Part, Tolerance, lasting},
    error::CatalogError,
    source::Source,
    table,
};

/// Limits of one type of disk on machines of a series.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct MachineLimit {
    pub(crate) series: String,
    pub(crate) key_kind: KeyKind,
    pub(crate) key: String,
    pub(crate) disk_type: String,
    pub(crate) read_iops: Option<f64>,
    pub(crate) write_iops: Option<f64>,
    pub(crate) read_throughput: Option<f64>,
    pub(crate) write_throughput: Option<f64>,
    pub(crate) unit: Unit,
    pub(crate) source: String,
}

/// What the key of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyKind {
    /// The name of a machine type.
    MachineType,
    /// A number of processors, or a range: `8`, `2-7`, `64 or more`.
    Vcpus,
}

/// What throughput is told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum Unit {
    /// Powers of 1024.
    #[serde(rename = "MiB/s")]
    Binary,
    /// Powers of 1000.
    #[serde(rename = "MB/s")]
    Decimal,
}

static LIMITS: LazyLock<Vec<MachineLimit>> = LazyLock::new(|| table::rows(include_str!("../../data/gcp_machines.csv")));

/// All rows.
pub(crate) fn limits() -> &'static [MachineLimit] {
    &LIMITS
}

/// The processors that a key means: its first and last.
fn range(key: &str) -> Option<(u32, u32)> {
    if let Some(from) = key.strip_suffix(" or more") {
        return Some((from.parse().ok()?, u32::MAX));
    }
    let (from, to) = key.split_once('-').unwrap_or((key, key));
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// The processors of a machine, by what follows its series: `standard-8`, `standard-8-lssd`, or `custom-8-32768`, whose
/// last number is its memory.
fn vcpus(rest: &str) -> Option<u32> {
    let mut parts = rest.split('-');
    match parts.next()? {
        "custom" => parts.next()?.parse().ok(),
        _ => parts.find_map(|part| part.parse().ok()),
    }
}

impl MachineLimit {
    /// How many numbers of processors this row is about, when it is about a machine of this name.
    fn breadth(&self, machine: &str) -> Option<u32> {
        let machine = machine.to_ascii_lowercase();
        if self.key_kind == KeyKind::MachineType || range(&self.key).is_none() {
            return (self.key.trim_end_matches('*') == machine).then_some(0);
        }
        let (series, rest) = machine.split_once('-')?;
        let vcpus = vcpus(rest)?;
        let (from, to) = range(&self.key)?;
        (self.series.eq_ignore_ascii_case(series) && (from..=to).contains(&vcpus)).then_some(to - from + 1)
    }

    /// Whether it is about a machine of this name, or about the machines that lists name so.
    pub(crate) fn is_about(&self, machine: &str) -> bool {
        self.breadth(machine).is_some() || format!("{} {} vCPUs", self.series, self.key).eq_ignore_ascii_case(machine)
    }

    pub(crate) fn ceiling(&self, machine: &str) -> Ceiling {
        let unit = if self.unit == Unit::Binary { MIB } else { MB };
        let bytes = |throughput: Option<f64>| throughput.map(|throughput| throughput * unit);
        Ceiling {
            part: Part::Vm,
            name: machine.to_ascii_lowercase(),
            limits: Limits::ByDirection {
                read: lasting(self.read_iops, bytes(self.read_throughput)),
                write: lasting(self.write_iops, bytes(self.write_throughput)),
                in_common: persistent_disks::in_common(&self.disk_type),
            },
            tolerance: Tolerance::USUAL,
            sources: vec![Source::of(&self.source)],
            notes: Vec::new(),
        }
    }
}

/// What a machine lets through to disks of a type; `None` when no such machine is known.
pub(crate) fn remote(machine: &str, disk_type: &str) -> Option<Result<Ceiling, CatalogError>> {
    let machine = machine.trim();
    let mut of_machine: Vec<(u32, &MachineLimit)> =
        LIMITS.iter().filter_map(|limit| Some((limit.breadth(machine)?, limit))).collect();
    if of_machine.is_empty() {
        return None;
    }
    of_machine.retain(|(_, limit)| limit.disk_type == disk_type);
    // The row about the fewest numbers of processors is meant.
    let found = of_machine.iter().min_by_key(|(breadth, _)| *breadth);
    let ceiling = found.map(|(_, limit)| limit.ceiling(machine));
    Some(Ok(ceiling.unwrap_or_else(|| Ceiling {
        part: Part::Vm,
        name: machine.to_ascii_lowercase(),
        limits: Limits::UNKNOWN,
        tolerance: Tolerance::USUAL,
        sources: Vec::new(),
        notes: vec![format!("no limit of {disk_type} on this machine is known")],
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(machine: &str, disk: &str) -> Option<f64> {
        let Limits::ByDirection { read, .. } = remote(machine, disk)?.ok()?.limits else { return None };
        read.operations.map(|of| of.sustained)
    }

    #[test]
    fn a_machine_is_found_by_its_name_or_by_its_processors() {
        assert_eq!(reads("a2-highgpu-1g", "pd-balanced"), Some(15_000.0));
        assert_eq!(reads("n2-standard-8", "pd-ssd"), reads("n2-standard-15", "pd-ssd"));
        assert!(reads("n2-standard-8", "pd-ssd").is_some());
        assert!(reads("e2-medium", "pd-ssd").is_some());
        assert!(remote("n9-standard-8", "pd-ssd").is_none());
        // Memory is no number of processors, and local disks are none.
        for of_eight in ["n2-custom-8-32768", "n2-custom-8-65536-ext"] {
            assert_eq!(reads(of_eight, "pd-ssd"), reads("n2-standard-8", "pd-ssd"), "{of_eight}");
        }
        assert!(remote("e2-custom-small-2048", "pd-ssd").is_none());
    }

    #[test]
    fn every_row_is_read_and_its_source_is_known() {
        assert_eq!(LIMITS.len(), 273);
        for limit in LIMITS.iter() {
            assert!(Source::is_known(&limit.source), "{limit:?}");
            assert!(limit.key_kind == KeyKind::MachineType || range(&limit.key).is_some() || limit.key.ends_with('*'));
        }
    }
}
