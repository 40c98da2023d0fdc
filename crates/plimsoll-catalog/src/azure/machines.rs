//! Sizes of Azure's virtual machines: what each lets through to remote disks, and what its host's cache does.

use std::sync::LazyLock;

use plimsoll_workload::{limit::Limit, provisioned::Interface};
use serde::Deserialize;

use super::credit;
use crate::{
    ceiling::{Ceiling, Limits, MB, Part, Tolerance},
    error::CatalogError,
    source::Source,
    table::{self, Named},
};

/// A size as its page describes it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) series: String,
    pub(crate) interface: Option<Interface>,
    pub(crate) vcpus: u32,
    pub(crate) max_data_disks: Option<u32>,
    pub(crate) iops: Option<f64>,
    pub(crate) mbps: Option<f64>,
    pub(crate) burst_iops: Option<f64>,
    pub(crate) burst_mbps: Option<f64>,
    pub(crate) v2_iops: Option<f64>,
    pub(crate) v2_mbps: Option<f64>,
    pub(crate) v2_burst_iops: Option<f64>,
    pub(crate) v2_burst_mbps: Option<f64>,
    /// What the interface says instead, where nobody knows which is right: `iops 320; mbps 22`.
    pub(crate) api_says: String,
    pub(crate) source: String,
}

/// A size that only the interface describes.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ListedMachine {
    pub(crate) name: String,
    pub(crate) vcpus: u32,
    pub(crate) max_data_disks: Option<u32>,
    pub(crate) iops: Option<f64>,
    /// The whole MiB/s of what is a whole number of MB/s.
    pub(crate) whole_mib_s: Option<f64>,
    pub(crate) source: String,
}

/// What a size has besides remote disks.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LocalStorage {
    pub(crate) name: String,
    pub(crate) kind: LocalKind,
    pub(crate) disks: Option<u32>,
    pub(crate) total_gib: Option<f64>,
    pub(crate) host_cache_gib: Option<f64>,
    pub(crate) read_iops: Option<f64>,
    pub(crate) read_mbps: Option<f64>,
    pub(crate) write_iops: Option<f64>,
    pub(crate) write_mbps: Option<f64>,
    pub(crate) note: String,
    pub(crate) source: String,
}

/// What kind of storage of its own a size has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum LocalKind {
    /// A temporary disk and the host's cache, which share a limit.
    #[serde(rename = "temp+hostcache")]
    TemporaryAndCache,
    /// A temporary disk.
    #[serde(rename = "temp-scsi")]
    Temporary,
    /// NVMe disks.
    #[serde(rename = "local-nvme")]
    Nvme,
    /// The limit of what is cached, as the interface tells it.
    #[serde(rename = "cached-api")]
    Cache,
}

static MACHINES: LazyLock<Vec<Machine>> = LazyLock::new(|| table::rows(include_str!("../../data/azure_machines.csv")));
static LISTED: LazyLock<Vec<ListedMachine>> =
    LazyLock::new(|| table::rows(include_str!("../../data/azure_machines_api.csv")));
static LOCAL: LazyLock<Vec<LocalStorage>> =
    LazyLock::new(|| table::rows(include_str!("../../data/azure_machines_local.csv")));

impl Named for Machine {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for ListedMachine {
    fn name(&self) -> &str {
        &self.name
    }
}

/// All sizes with a page.
pub(crate) fn machines() -> &'static [Machine] {
    &MACHINES
}

/// All others.
pub(crate) fn listed() -> &'static [ListedMachine] {
    &LISTED
}

/// How many data disks a size takes.
pub(crate) fn max_data_disks(name: &str) -> Option<u32> {
    let of_page = || table::find(&MACHINES, name).and_then(|machine| machine.max_data_disks);
    of_page().or_else(|| table::find(&LISTED, name).and_then(|machine| machine.max_data_disks))
}

/// What sizes have besides remote disks.
pub(crate) fn local(name: &str) -> impl Iterator<Item = &'static LocalStorage> {
    LOCAL.iter().filter(move |local| local.name.eq_ignore_ascii_case(name))
}

/// The full name of a size, of which people leave the beginning out.
pub(crate) fn full_name(name: &str) -> String {
    let name = name.trim();
    if name.to_ascii_lowercase().starts_with("standard_") { name.to_owned() } else { format!("Standard_{name}") }
}

/// What a size lets through to remote disks; `None` when there is no such size.
pub(crate) fn remote(name: &str, interface: Option<Interface>, is_v2: bool) -> Option<Result<Ceiling, CatalogError>> {
    let name = full_name(name);
    let of_name: Vec<&Machine> = MACHINES.iter().filter(|machine| machine.name.eq_ignore_ascii_case(&name)).collect();
    match of_name.as_slice() {
        [] => table::find(&LISTED, &name).map(|machine| Ok(machine.ceiling())),
        [machine] => Some(Ok(machine.ceiling(is_v2))),
        several => Some(match interface {
            Some(interface) => several
                .iter()
                .find(|machine| machine.interface == Some(interface))
                .map(|machine| machine.ceiling(is_v2))
                .ok_or_else(|| which(&several[0].name)),
            None => Err(which(&several[0].name)),
        }),
    }
}

fn which(name: &str) -> CatalogError {
    CatalogError::Incomplete {
        product: name.to_owned(),
        what: "it has limits of its own for SCSI and for NVMe: say which, as --interface nvme".to_owned(),
    }
}

/// Of the series DCsv2, the largest has no s in its name.
const DC8_V2: &str = "standard_dc8_v2";

/// Whether a size takes premium disks, by its name: those that do have an s among their letters.
pub(crate) fn takes_premium(name: &str) -> bool {
    let name = full_name(name).to_ascii_lowercase();
    if name == DC8_V2 {
        return true;
    }
    let parts: Vec<&str> = name.trim_start_matches("standard_").split('_').collect();
    let letters = |part: &str| -> String { part.chars().filter(|letter| !letter.is_ascii_digit()).collect() };
    parts.first().is_some_and(|size| {
        let letters = letters(size);
        letters.starts_with("ds") || letters.starts_with("gs") || letters[1.min(letters.len())..].contains('s')
    })
}

/// The most that the host's cache answers, by name of the size; `None` when that is not known.
pub(crate) fn host_cache(name: &str) -> Option<&'static LocalStorage> {
    local(&full_name(name)).find(|local| matches!(local.kind, LocalKind::TemporaryAndCache | LocalKind::Cache))
}

impl Machine {
    pub(crate) fn ceiling(&self, is_v2: bool) -> Ceiling {
        let mut notes = Vec::new();
        let mut figures = [self.iops, self.burst_iops, self.mbps, self.burst_mbps];
        if is_v2 && (self.v2_iops.is_some() || self.v2_mbps.is_some()) {
            figures = [self.v2_iops, self.v2_burst_iops, self.v2_mbps, self.v2_burst_mbps];
        } else if is_v2 {
            notes.push("its page has no figures of Premium SSD v2 and Ultra Disk: those of other disks".to_owned());
        }
        for (at, what) in [(0, "iops"), (2, "mbps")] {
            let elsewhere = self.api_says.split("; ").find_map(|said| said.strip_prefix(what));
            if let (Some(elsewhere), Some(page)) = (elsewhere, figures[at]) {
                let unit = if at == 0 { "IOPS" } else { "MB/s" };
                notes.push(format!("{page} {unit} by its page,{elsewhere} by the interface: not known which is right"));
                figures[at] = None;
            }
        }
        let [iops, burst_iops, mbps, burst_mbps] = figures;
        let limit = Limit {
            operations: iops.map(|iops| credit(iops, burst_iops)),
            bytes: mbps.map(|mbps| credit(mbps * MB, burst_mbps.map(|mbps| mbps * MB))),
            io_size: None,
        };
        Ceiling {
            part: Part::Vm,
            name: self.name.clone(),
            limits: Limits::Shared(limit),
            tolerance: Tolerance::USUAL,
            sources: vec![Source::of(&self.source)],
            notes,
        }
    }
}

impl ListedMachine {
    /// The least whole number of MB/s with these whole MiB/s: pages have whole numbers.
    fn mbps(&self) -> Option<f64> {
        self.whole_mib_s.map(|mib_s| (mib_s * 1.048_576).ceil())
    }

    pub(crate) fn ceiling(&self) -> Ceiling {
        Ceiling {
            part: Part::Vm,
            name: self.name.clone(),
            limits: Limits::lasting(self.iops, self.mbps().map(|mbps| mbps * MB)),
            tolerance: Tolerance::USUAL,
            sources: vec![Source::of(&self.source)],
            notes: vec!["from the interface alone, which tells no bursts, and MB/s to about 1".to_owned()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sustained(ceiling: &Ceiling) -> (Option<f64>, Option<f64>) {
        let Limits::Shared(limit) = ceiling.limits else { panic!("shared") };
        (limit.operations.map(|of| of.sustained), limit.bytes.map(|of| of.sustained / MB))
    }

    #[test]
    fn sizes_are_found_in_any_spelling_and_by_interface() {
        for name in ["Standard_D16s_v5", "standard_d16s_v5", "D16s_v5"] {
            let ceiling = remote(name, None, false).unwrap().unwrap();
            assert_eq!(sustained(&ceiling), (Some(25_600.0), Some(600.0)), "{name}");
        }
        let error = remote("E8bds_v5", None, false).unwrap().unwrap_err().to_string();
        assert!(error.contains("--interface nvme"), "{error}");
        let nvme = remote("E8bds_v5", Some(Interface::Nvme), false).unwrap().unwrap();
        let scsi = remote("E8bds_v5", Some(Interface::Scsi), false).unwrap().unwrap();
        assert!(sustained(&nvme) > sustained(&scsi));
        assert!(remote("D16dv5", None, false).is_none());
    }

    #[test]
    fn what_the_interface_rounds_down_is_the_page_s_figure_again() {
        for (mib_s, mbps) in [(45.0, 48.0), (81.0, 85.0), (91.0, 96.0), (183.0, 192.0), (572.0, 600.0), (22.0, 24.0)] {
            let listed = ListedMachine {
                name: String::new(),
                vcpus: 1,
                max_data_disks: None,
                iops: None,
                whole_mib_s: Some(mib_s),
                source: String::new(),
            };
            assert_eq!(listed.mbps(), Some(mbps));
        }
    }

    #[test]
    fn figures_that_contradict_each_other_are_unknown_and_said() {
        let machine = remote("B2s", None, false).unwrap().unwrap();
        assert_eq!(sustained(&machine), (Some(1280.0), None));
        assert!(machine.notes[0].contains("15 MB/s by its page, 22 by the interface"), "{:?}", machine.notes);
        assert_eq!(MACHINES.iter().filter(|machine| !machine.api_says.is_empty()).count(), 14);
    }

    #[test]
    fn an_s_in_the_name_says_that_premium_disks_fit() {
        for name in
            ["Standard_D16s_v5", "D2ds_v5", "DS2_v2", "GS5", "B2ms", "L8s_v3", "E4-2s_v3", "F8s_v2", "M128ms", "DC8_v2"]
        {
            assert!(takes_premium(name), "{name}");
        }
        for name in ["Standard_D2_v3", "D16d_v5", "A2_v2", "E4a_v4", "NC6"] {
            assert!(!takes_premium(name), "{name}");
        }
    }

    #[test]
    fn every_row_is_read_and_its_source_is_known() {
        assert_eq!((MACHINES.len(), LISTED.len(), LOCAL.len()), (292, 809, 184));
        assert!(MACHINES.iter().all(|machine| Source::is_known(&machine.source) && machine.vcpus > 0));
        assert!(LISTED.iter().all(|machine| Source::is_known(&machine.source) && machine.vcpus > 0));
        assert!(LOCAL.iter().all(|local| Source::is_known(&local.source)));
    }
}
