//! What of a slot reached the storage, what the page cache held, and what the disk did besides.

use std::{fs, os::fd::BorrowedFd, os::unix::fs::MetadataExt, path::Path};

use plimsoll_io::{
    block_device::{self, BackingDevice, DeviceNumber, DiskCounters},
    page_cache,
};
use plimsoll_record::cache::{CacheActivity, CacheResidency, ForeignActivity};
use plimsoll_workload::{
    plan::{BlockPlan, Region},
    settings::SyncMode,
};

use crate::{counters::SlotCost, tally::SlotTally};

/// Operations up to this length reach a disk in one piece, unless it says that it takes less at once.
const WHOLE_BYTES_MAX: u32 = 64 * 1024;

/// Why nothing is said of one cell.
const OTHERS: &str = "other cells ran at the same time, and the kernel counts for all of them together";

/// What the page cache holds of the files of a cell at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    method: &'static str,
    total_bytes: u64,
    resident_bytes: u64,
    /// What has not reached the storage.
    dirty_bytes: Option<u64>,
}

/// What the page cache holds of the region that operations choose from, in all files of a cell; or why that is not
/// known. Costs some 100 ns for each cached page, so it is not asked while anything is measured.
pub fn held(plan: &BlockPlan, files: &[BorrowedFd<'_>]) -> Result<Held, String> {
    let mut sum = Held { method: "", total_bytes: 0, resident_bytes: 0, dirty_bytes: Some(0) };
    let Region { offset, length } = plan.file_region();
    for file in files {
        let found = page_cache::residency(*file, offset, length).map_err(|error| error.to_string())?;
        sum.method = found.method.as_str();
        sum.total_bytes += found.total_bytes;
        sum.resident_bytes += found.resident_bytes;
        let dirty = found.dirty_bytes.zip(found.writeback_bytes).map(|(dirty, writeback)| dirty + writeback);
        sum.dirty_bytes = sum.dirty_bytes.zip(dirty).map(|(sum, dirty)| sum + dirty);
    }
    Ok(sum)
}

/// The cell and what was counted in one of its slots, from before its first operation until after its last one.
pub struct SlotAccounts<'a> {
    /// The cell's parameters.
    pub plan: &'a BlockPlan,
    /// Its target.
    pub target: &'a Path,
    /// The disk below that.
    pub device: Option<BackingDevice>,
    /// What we count.
    pub tally: &'a SlotTally,
    /// What the kernel counts.
    pub cost: &'a SlotCost,
    /// Whether no other cell ran at the same time.
    pub is_alone: bool,
}

impl SlotAccounts<'_> {
    /// What was asked and what reached the storage.
    pub fn cache(&self, before: Result<Held, String>, after: Option<Result<Held, String>>) -> CacheActivity {
        let mut cache = CacheActivity {
            requested_read_bytes: self.tally.read.all_bytes(),
            requested_write_bytes: self.tally.write.all_bytes(),
            ..CacheActivity::default()
        };
        match self.reached() {
            Ok((read_bytes, write_bytes)) => {
                cache.storage_read_bytes = Some(read_bytes);
                cache.storage_write_bytes = Some(write_bytes);
            }
            Err(reason) => cache.storage_reason = Some(reason.to_owned()),
        }
        match before.and_then(|before| Ok((before, after.transpose()?))) {
            Ok((before, after)) => {
                cache.residency = Some(CacheResidency {
                    method: before.method.to_owned(),
                    total_bytes: before.total_bytes,
                    before_bytes: before.resident_bytes,
                    after_bytes: after.map(|after| after.resident_bytes),
                    dirty_after_bytes: after.and_then(|after| after.dirty_bytes),
                });
            }
            Err(reason) => cache.residency_reason = Some(reason),
        }
        cache
    }

    /// Bytes of this process that went to the storage.
    fn reached(&self) -> Result<(u64, u64), &'static str> {
        if self.device.is_none() {
            return Err("the target has no block device, where the kernel would count what reaches the storage");
        }
        if self.plan.verify {
            return Err("verification reads what was written back, which the kernel counts as well");
        }
        if !self.is_alone {
            return Err(OTHERS);
        }
        let io = self.cost.io.ok_or("the kernel does not count the bytes of processes (/proc/self/io)")?;
        Ok((io.read_bytes, io.write_bytes))
    }

    /// What the disk did that the workload did not ask for.
    pub fn foreign(&self) -> ForeignActivity {
        let disk = match self.disk_that_counts_us() {
            Ok(disk) => disk,
            Err(reason) => return ForeignActivity::unknown(reason),
        };
        let (read, write) = (&self.tally.read, &self.tally.write);
        let read_bytes = disk.read_bytes.checked_sub(read.all_bytes());
        let write_bytes = disk.write_bytes.checked_sub(write.all_bytes());
        if read_bytes.is_none() || write_bytes.is_none() {
            return ForeignActivity::unknown(
                "the disk moved fewer bytes than were asked: holes, or a cache on the way",
            );
        }
        let (are_whole, writes_tell) = (self.reach_the_disk_whole(), !self.file_system_writes_too());
        let reasons = [
            (are_whole, "operations are so long that the kernel may cut them into several requests"),
            (writes_tell, "the file system writes for syncs as well"),
        ];
        let reasons: Vec<&str> = reasons.into_iter().filter_map(|(tells, why)| (!tells).then_some(why)).collect();
        // What was merged on its way had been asked for one by one.
        let (reads, writes) = (disk.read_operations + disk.read_merges, disk.write_operations + disk.write_merges);
        ForeignActivity {
            read_bytes,
            write_bytes: write_bytes.filter(|_| writes_tell),
            read_operations: are_whole.then(|| reads.saturating_sub(read.all_operations())),
            write_operations: (are_whole && writes_tell).then(|| writes.saturating_sub(write.all_operations())),
            reason: (!reasons.is_empty()).then(|| reasons.join(", and ")),
        }
    }

    /// Whether a file system lies between, which has to write its journal whenever we sync.
    fn file_system_writes_too(&self) -> bool {
        let syncs = self.plan.sync != SyncMode::None || self.tally.sync.all_operations() > 0;
        syncs && DeviceNumber::of_special_file(self.target).is_none()
    }

    /// The counters of the disk, when all that we ask is counted there, byte for byte and in the same slot.
    fn disk_that_counts_us(&self) -> Result<DiskCounters, &'static str> {
        let device = self.device.ok_or("the target has no block device")?;
        let disk = self.cost.disk.ok_or("the kernel keeps no counters of the disk")?;
        if self.plan.buffered {
            return Err("buffered I/O reaches the disk later, or not at all");
        }
        if self.plan.verify {
            return Err("verification reads what was written back, which the disk counts as well");
        }
        if !self.is_alone {
            return Err(OTHERS);
        }
        if !self.tally.errors.is_empty() {
            return Err("operations failed, and the disk may or may not have counted them");
        }
        if !stands_directly_on(self.target, device.device) {
            return Err(
                "it may be spread over several devices, and a file system of that kind writes more than it is asked to",
            );
        }
        Ok(disk)
    }

    /// Whether the kernel sends each operation of ours in one piece.
    fn reach_the_disk_whole(&self) -> bool {
        let request_bytes_max = self.device.and_then(|device| block_device::facts(device.disk)?.request_bytes_max);
        let whole_bytes_max = request_bytes_max.unwrap_or(0).min(WHOLE_BYTES_MAX.into());
        u64::from(self.plan.block_size_bytes_max) <= whole_bytes_max
    }
}

/// Whether a target is this device, or its file system lies on this device and on no other.
fn stands_directly_on(target: &Path, device: DeviceNumber) -> bool {
    DeviceNumber::of_special_file(target) == Some(device)
        || fs::metadata(target).is_ok_and(|facts| DeviceNumber::from_raw(facts.dev()) == device)
}

#[cfg(test)]
mod tests;
