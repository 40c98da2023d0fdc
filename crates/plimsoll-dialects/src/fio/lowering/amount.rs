//! How much a job does and where: sizes that depend on files, and what ends the job.

use plimsoll_workload::{
    units::{ByteCount, Extent},
    workload::Workload,
};

use super::files::FileSet;
use crate::fio::{
    job::Job,
    settings::{Distribution, Engine, Step},
};
use crate::problem::Wrong;

/// Sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amount {
    /// Of each file that is made.
    pub(super) file_bytes: Option<u64>,
    /// Where the region begins, in each file.
    pub(super) offset_bytes: u64,
    /// Where it ends, in each file.
    pub(super) end_bytes: u64,
    /// The region over all files of a clone.
    pub(super) region_bytes: u64,
    /// What a clone would do in one go through its files if nothing else ended it.
    pass_bytes: u64,
    /// What the job says that a clone transfers, unless time alone ends it.
    asked_bytes: u64,
    /// The job asks for more than the device has behind the offset.
    pub(super) is_cut: bool,
}

impl Amount {
    pub(super) fn of(job: &Job, set: &FileSet, clone: u32) -> Result<Self, Wrong> {
        let files = &job.settings.files;
        let count = set.count();
        let block = least_block(job);
        let there = set.size_bytes;
        let each = match (files.file_size, files.size) {
            _ if files.fills_device && files.size.is_none() => set.free_bytes.or(there),
            (None, None) if set.sizes_differ => {
                return Err(Wrong::new("no size is given, and the files that are there have several")
                    .instead("write size=, or a job for each file"));
            }
            (Some(_), _) => file_size(job),
            (None, Some(Extent::Bytes(size))) => Some(size.0 / (set.all * set.repeats).max(1)),
            (None, Some(share @ Extent::Percent(_))) => there.map(|size| share.of(size)),
            (None, None) => None,
        };
        // There is an end to what can be filled.
        let room = set.free_bytes.map(|free| free.max(there.unwrap_or(0)));
        let each = each.map(|each| room.map_or(each, |room| each.min(room)));
        let device_bytes = there.filter(|_| set.names.is_empty());
        let whole_bytes = device_bytes.unwrap_or_else(|| there.unwrap_or(0).max(each.unwrap_or(0)));
        let offset_bytes = if files.appends && !set.names.is_empty() {
            there.unwrap_or(0).checked_next_multiple_of(block).unwrap_or(u64::MAX)
        } else {
            offset(job, clone, there.unwrap_or(whole_bytes))
        };
        let has_storage = job.settings.engine != Engine::Null;
        let region = match (files.file_size, each, there) {
            // The size of a file is all of it, the offset included.
            (Some(_), Some(each), _) => each.checked_sub(offset_bytes),
            // A share of what is there ends with it.
            (None, Some(each), Some(there)) if matches!(files.size, Some(Extent::Percent(_))) => {
                there.checked_sub(offset_bytes).map(|rest| rest.min(each))
            }
            (None, Some(each), _) => Some(each),
            (_, None, Some(there)) => there.checked_sub(offset_bytes),
            (_, None, None) if has_storage && files.size.is_some() => {
                return Err(Wrong::new("size is a share of a file that is not there yet").instead("write it in bytes"));
            }
            (_, None, None) if has_storage => {
                return Err(Wrong::new("no size is given, and there is no file to take it from").instead("write size="));
            }
            (_, None, None) => Some(1 << 30),
        };
        // A device ends where it ends.
        let rest = device_bytes.map(|bytes| bytes.saturating_sub(offset_bytes));
        let is_cut = region.zip(rest).is_some_and(|(region, rest)| region > rest);
        let region = region.map(|region| rest.map_or(region, |rest| region.min(rest)));
        let region = region.filter(|region| *region >= block).ok_or_else(|| {
            Wrong::new("there is no room for a block behind the offset")
                .instead("write a smaller offset or a larger size")
        })?;
        let too_large = || Wrong::new("sizes and offsets exceed 16 EiB together").instead("write smaller ones");
        let whole_blocks = (region / block * block).checked_mul(count).ok_or_else(too_large)?;
        let region_bytes = if count == 1 { region } else { whole_blocks };
        let asked = match files.size {
            Some(Extent::Bytes(size)) => set.share(size.0),
            Some(share) if files.file_size.is_some() => share.of(region_bytes).saturating_mul(set.repeats),
            _ => region_bytes.saturating_mul(set.repeats),
        };
        let asked_bytes = match files.io_size {
            None => asked,
            Some(Extent::Bytes(size)) => set.share(size.0),
            Some(share) => share.of(region_bytes).saturating_mul(set.repeats),
        };
        let ends_with_room = room.is_some() || is_cut && files.io_size.is_none();
        let asked_bytes =
            if ends_with_room { asked_bytes.min(region_bytes.saturating_mul(set.repeats)) } else { asked_bytes };
        let is_whole = count == 1 && offset_bytes == 0 && region == whole_bytes;
        let pass_bytes = match lap_bytes(job, region).filter(|_| is_whole) {
            Some(lap_bytes) => lap_bytes.saturating_mul(set.repeats),
            None if has_end(job) => whole_blocks.saturating_mul(set.repeats),
            None => u64::MAX,
        };
        let file_bytes = each.filter(|_| files.file_size.is_some() || count > 1);
        let before = if files.file_size.is_some() { 0 } else { offset_bytes };
        let file_bytes = file_bytes.map(|each| before.checked_add(each).ok_or_else(too_large)).transpose()?;
        let end_bytes = offset_bytes.saturating_add(region);
        Ok(Self { file_bytes, offset_bytes, end_bytes, region_bytes, pass_bytes, asked_bytes, is_cut })
    }

    /// Puts what ends the job into the workload of so many of its clones, on the target of the files.
    pub(super) fn put(&self, job: &Job, set: &FileSet, clones: u64, workload: &mut Workload) {
        let course = &job.settings.course;
        workload.ramp = Some(course.ramp.unwrap_or_default());
        workload.duration = course.runtime;
        let loops = u64::from(course.loops.max(1));
        if let Some(operations) = job.settings.pattern.operations {
            let operations = set.share(operations).max(1);
            workload.operations = Some(operations.saturating_mul(loops).saturating_mul(clones));
        }
        if !(course.is_time_based && course.runtime.is_some()) {
            workload.io_size = Some(ByteCount(self.io_bytes(job, loops).saturating_mul(clones)));
        }
    }

    /// What a clone transfers in whole blocks: as many passes as there are loops, each of which all loops together may
    /// end; and with `io_size` as many more as it takes.
    fn io_bytes(&self, job: &Job, loops: u64) -> u64 {
        let block = least_block(job);
        let limit = self.asked_bytes.saturating_mul(loops).div_ceil(block).saturating_mul(block);
        let mut done = self.pass_bytes.saturating_mul(loops).min(limit);
        if job.settings.files.io_size.is_some() && done.saturating_add(block) <= self.asked_bytes {
            let more = (self.asked_bytes - done - block) / self.pass_bytes + 1;
            done = done.saturating_add(self.pass_bytes.saturating_mul(more)).min(limit);
        }
        done.max(block)
    }

    /// Whether the region begins at a share of a file that nothing is in yet.
    pub(super) fn has_share_of_new_file(&self, job: &Job, set: &FileSet, clone: u32) -> bool {
        let files = &job.settings.files;
        let is_new = set.size_bytes.is_none() && !files.appends;
        is_new && (is_share(files.offset) || clone > 0 && is_share(files.offset_increment))
    }
}

/// Where the region of a clone begins in files of so many bytes. What is a share of them is rounded up.
fn offset(job: &Job, clone: u32, whole_bytes: u64) -> u64 {
    let files = &job.settings.files;
    let apart = files.offset_increment.of(whole_bytes).saturating_mul(clone.into());
    let offset = files.offset.of(whole_bytes).saturating_add(apart);
    if !is_share(files.offset) && !is_share(files.offset_increment) {
        return offset;
    }
    let unit = files.offset_alignment.map_or_else(|| least_block(job), |unit| unit.0);
    offset.checked_next_multiple_of(unit.max(1)).unwrap_or(offset)
}

fn is_share(extent: Extent) -> bool {
    matches!(extent, Extent::Percent(percent) if percent.get() > 0)
}

/// Whether operations come to the end of files: random ones that may repeat blocks do not, and among sequential ones
/// those of two directions begin anew.
fn has_end(job: &Job) -> bool {
    let pattern = &job.settings.pattern;
    if pattern.direction.is_random {
        return !pattern.may_repeat_blocks && matches!(pattern.distribution, Distribution::Uniform);
    }
    !(pattern.direction.reads && pattern.direction.writes)
}

/// What a sequence with gaps transfers until it comes to the end of a whole file, where fio lets it end. One that
/// misses the end begins again.
fn lap_bytes(job: &Job, whole_bytes: u64) -> Option<u64> {
    let pattern = &job.settings.pattern;
    let (direction, bounds) = (pattern.direction, pattern.block_bounds());
    let block = least_block(job);
    let range = if direction.reads { bounds.read } else { bounds.write };
    let is_one = !(direction.reads && direction.writes) && range.low == range.high;
    let Step::Skip(gap) = pattern.step else { return None };
    let stride = block.checked_add(u64::try_from(gap).ok()?)?;
    let last_bytes = whole_bytes.checked_sub(block)?;
    let is_met = is_one && !direction.is_random && last_bytes.is_multiple_of(stride);
    is_met.then(|| (last_bytes / stride + 1).saturating_mul(block))
}

/// What `filesize` says of each file: of a range the mean, in whole blocks as in fio, so that all files together have
/// about as much as the ones that fio draws.
pub(super) fn file_size(job: &Job) -> Option<u64> {
    let range = job.settings.files.file_size?;
    let (low, block) = (range.low.0, least_block(job));
    let mean = low.midpoint(range.high.0);
    Some(if range.low == range.high { low } else { (mean / block * block).max(low) })
}

/// The smallest block that the job transfers.
pub(super) fn least_block(job: &Job) -> u64 {
    let pattern = &job.settings.pattern;
    let bounds = pattern.block_bounds();
    let used = [(pattern.direction.reads, bounds.read.low.0), (pattern.direction.writes, bounds.write.low.0)];
    used.into_iter().filter_map(|(is_used, low)| is_used.then_some(low)).min().unwrap_or(4096).max(1)
}
