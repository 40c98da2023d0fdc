//! What the disks did meanwhile.

use std::collections::BTreeMap;

use plimsoll_record::{
    record::{Cell, Record},
    results::DeviceActivity,
};
use plimsoll_workload::settings::EngineChoice;
use serde::Serialize;

use super::{Reported, entry::milliseconds};
use crate::fio::lowering::CellOf;

const SECTOR_BYTES: u64 = 512;

/// A disk, with fio's fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Disk {
    pub(super) name: String,
    pub(super) read_ios: u64,
    pub(super) write_ios: u64,
    pub(super) read_sectors: u64,
    pub(super) write_sectors: u64,
    pub(super) read_merges: u64,
    pub(super) write_merges: u64,
    /// Milliseconds that all reads together spent in the disk.
    pub(super) read_ticks: u64,
    pub(super) write_ticks: u64,
    pub(super) in_queue: u64,
    /// Percent of the time in which it was busy.
    pub(super) util: f64,
}

/// The activity of a disk, and the time in which it was seen.
#[derive(Clone, Debug, Default)]
struct Seen {
    activity: DeviceActivity,
    span_ns: u64,
}

/// The disks below the cells of jobs that did not forbid it.
pub(super) fn disks(reported: &Reported<'_>) -> Vec<Disk> {
    // By disk and phase: cells that run at the same time each saw all that the disk did.
    let mut seen: BTreeMap<(&str, Option<u32>), Seen> = BTreeMap::new();
    for (cell, device) in watched(reported.record, reported) {
        let slots = cell.slots.iter().filter(|slot| slot.counted);
        let span_ns = slots.fold(0, |sum: u64, slot| sum.saturating_add(slot.ramp_ns).saturating_add(slot.elapsed_ns));
        let disk = seen.entry((device.name.as_str(), cell.phase)).or_default();
        let both = if cell.phase.is_some() { u64::max } else { u64::saturating_add };
        disk.add(device, span_ns, both);
    }
    let mut disks: BTreeMap<&str, Seen> = BTreeMap::new();
    for ((name, _), part) in &seen {
        disks.entry(name).or_default().add(&part.activity, part.span_ns, u64::saturating_add);
    }
    disks.into_iter().map(|(name, disk)| disk.told(name)).collect()
}

fn watched<'a>(record: &'a Record, reported: &Reported<'a>) -> impl Iterator<Item = (&'a Cell, &'a DeviceActivity)> {
    let jobs = &reported.jobs.jobs;
    let cells = record.cells.iter().zip(reported.cells);
    let is_wanted = |of: &CellOf| jobs.get(of.job).is_some_and(|job| job.settings.report.has_disk_use);
    // What needs no storage does nothing to the disk below.
    let touches = |cell: &Cell| cell.engine != EngineChoice::Memory;
    let cells = cells.filter(move |(cell, of)| is_wanted(of) && touches(cell));
    cells.filter_map(|(cell, _)| Some((cell, cell.device.as_ref()?)))
}

impl Seen {
    fn add(&mut self, device: &DeviceActivity, span_ns: u64, both: impl Fn(u64, u64) -> u64) {
        let sum = &mut self.activity;
        for (sum, more) in [
            (&mut sum.read_operations, device.read_operations),
            (&mut sum.read_bytes, device.read_bytes),
            (&mut sum.write_operations, device.write_operations),
            (&mut sum.write_bytes, device.write_bytes),
            (&mut sum.busy_ns, device.busy_ns),
            (&mut sum.queue_ns, device.queue_ns),
            (&mut sum.read_merges, device.read_merges),
            (&mut sum.write_merges, device.write_merges),
            (&mut sum.read_queue_ns, device.read_queue_ns),
            (&mut sum.write_queue_ns, device.write_queue_ns),
            (&mut self.span_ns, span_ns),
        ] {
            *sum = both(*sum, more);
        }
    }

    fn told(&self, name: &str) -> Disk {
        let sum = &self.activity;
        let util = if self.span_ns > 0 { sum.busy_ns as f64 / self.span_ns as f64 * 100.0 } else { 0.0 };
        Disk {
            name: name.to_owned(),
            read_ios: sum.read_operations,
            write_ios: sum.write_operations,
            read_sectors: sum.read_bytes / SECTOR_BYTES,
            write_sectors: sum.write_bytes / SECTOR_BYTES,
            read_merges: sum.read_merges,
            write_merges: sum.write_merges,
            read_ticks: milliseconds(sum.read_queue_ns),
            write_ticks: milliseconds(sum.write_queue_ns),
            in_queue: milliseconds(sum.queue_ns),
            util: util.min(100.0),
        }
    }
}
