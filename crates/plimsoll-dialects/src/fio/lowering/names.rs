//! Jobs of the engines that create, stat or delete files. fio does what such an engine is for when it opens a file,
//! once in each pass over them, and counts reads or writes of blocks that it does not do. A plan has the files alone;
//! what fio would count is worked out when it is told.

use plimsoll_workload::{
    file_names::FileNames,
    plan::BlockPlan,
    settings::{FileSharing, Layout, ReadWrite},
    sweep::Sweep,
    units::{ByteCount, Extent, Rate},
    workload::Workload,
};

use super::{
    amount::{file_size, least_block},
    files::FileSet,
};
use crate::fio::{
    job::Job,
    settings::{Engine, FileService, StatCall},
};
use crate::problem::Wrong;

/// Passes over the files where time alone ends a job: more than can be done.
const ENDLESS: u64 = 1 << 32;

/// How many blocks fio counts for each file of a job, and how long they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fio) struct Counted {
    blocks_per_file: u64,
    pub(in crate::fio) block_bytes: u64,
    /// More are not counted.
    blocks_max: u64,
}

impl Counted {
    /// Of a cell that came from a job; `None` when the job transfers data.
    pub(in crate::fio) fn of(job: &Job, plan: &BlockPlan) -> Option<Self> {
        if !job.settings.engine.is_of_names() {
            return None;
        }
        let block = least_block(job);
        let file_count = plan.file_count;
        let file_bytes = match job.settings.engine {
            Engine::FileCreate => asked_file_bytes(job, u64::from(file_count)).unwrap_or(block),
            _ => plan.file_bytes(),
        };
        let loops = u64::from(job.settings.course.loops.max(1));
        let is_endless = is_endless(job);
        let asked = asked_blocks(job, block).filter(|_| !is_endless);
        let blocks_max = asked.map_or(u64::MAX, |asked| asked.saturating_mul(loops).saturating_mul(plan.jobs.into()));
        Some(Self { blocks_per_file: (file_bytes / block).max(1), block_bytes: block, blocks_max })
    }

    /// What fio counts for so many files.
    pub(in crate::fio) fn blocks(&self, files: u64) -> u64 {
        files.saturating_mul(self.blocks_per_file).min(self.blocks_max)
    }

    /// The same, per second.
    pub(in crate::fio) fn rate(&self, files: f64) -> f64 {
        files * self.blocks_per_file as f64
    }
}

/// Makes what [`super::load`] says of a job that of an engine of names, with its files and what ends it.
pub(super) fn put(
    job: &Job,
    sets: &[FileSet],
    notes: &mut dyn FnMut(String),
    workload: &mut Workload,
) -> Result<(), Wrong> {
    let settings = &job.settings;
    let is_shared = sets.len() > 1 && sets.iter().all(|set| set.names == sets[0].names);
    check(job)?;
    tell(job, notes);
    let block = least_block(job);
    let count = (sets[0].names.len() as u64).max(1);
    let (is_there, file_bytes) = match (asked_file_bytes(job, count), sets[0].size_bytes) {
        (Some(asked), there) => (there.is_some(), asked),
        (None, _) if settings.engine == Engine::FileCreate => (false, block),
        (None, Some(there)) => (true, there),
        (None, None) => {
            return Err(Wrong::new("no size is given, and the files are not there yet").instead("write filesize="));
        }
    };
    if file_bytes < block && settings.engine != Engine::FileCreate {
        return Err(Wrong::new(format!(
            "a file of {file_bytes} bytes has no room for a block of {block}, so that fio counts nothing"
        ))
        .instead("write a smaller bs= or a larger filesize="));
    }
    content(file_bytes, is_there, count, job, workload);
    rate(file_bytes, block, workload);
    let loops = u64::from(settings.course.loops.max(1));
    // Blocks that no file has room for are counted over all of them together.
    let blocks_per_pass = count.saturating_mul((file_bytes / block).max(1));
    let blocks = blocks_per_pass.min(count.saturating_mul(file_bytes) / block);
    // io_size alone goes on over the files once more.
    let goes_on = settings.files.io_size.is_some();
    let asked = asked_blocks(job, block).map(|asked| if goes_on { asked } else { asked.min(blocks) });
    let blocks = asked.unwrap_or(blocks).saturating_mul(loops);
    let (passes, rest) = (blocks / blocks_per_pass, blocks % blocks_per_pass);
    let files = passes.saturating_mul(count).saturating_add(rest.min(count)).max(1);
    let clones = sets.len() as u64;
    workload.duration = settings.course.runtime;
    workload.operations = match settings.engine {
        Engine::FileStat if is_endless(job) => None,
        Engine::FileCreate if is_endless(job) => Some(count.saturating_mul(clones).saturating_mul(ENDLESS)),
        Engine::FileDelete => Some(files.min(count).saturating_mul(clones)),
        _ => Some(files.saturating_mul(clones)),
    };
    if settings.engine == Engine::FileStat {
        workload.ramp = Some(settings.course.ramp.unwrap_or_default());
    }
    let is_apart = sets.len() > 1 && !is_shared;
    workload.files = is_apart.then_some(FileSharing::PerJob);
    let parts = if is_apart { sets } else { &sets[..1] };
    let names = parts.iter().flat_map(|set| set.names.iter().cloned());
    workload.file_names = (!sets[0].names.is_empty()).then(|| FileNames::of(names));
    workload.file_count = Some(count as u32);
    Ok(())
}

/// What cannot be done.
fn check(job: &Job) -> Result<(), Wrong> {
    let settings = &job.settings;
    let engine = settings.engine.name();
    let direction = settings.pattern.direction;
    if direction.reads && direction.writes {
        return Err(
            Wrong::new(format!("{engine} does one thing with each file, and no mix of two")).instead("write rw=read")
        );
    }
    if settings.engine != Engine::FileStat && !settings.files.names.is_empty() && settings.course.clones > 1 {
        return Err(Wrong::new(format!("{engine} would do the same files once for each clone"))
            .instead("leave filename out, so that each clone has files of its own"));
    }
    Ok(())
}

/// What is not as the options may suggest.
fn tell(job: &Job, notes: &mut dyn FnMut(String)) {
    let settings = &job.settings;
    let engine = settings.engine.name();
    let is_endless = is_endless(job);
    let submission = &settings.submission;
    let has_syncs = submission.fsync_every.is_some() || submission.fdatasync_every.is_some();
    let loops = settings.course.loops;
    let tells = [
        (
            settings.engine == Engine::FileCreate && (is_endless || loops > 1),
            "each file is created once; from then on it is opened, as in fio".to_owned(),
        ),
        (
            settings.engine == Engine::FileDelete && (is_endless || loops > 1),
            "each file is deleted once, which ends the job; fio fails there, because no file is left".to_owned(),
        ),
        (
            settings.engine != Engine::FileStat && settings.course.ramp.is_some_and(|ramp| ramp.ns > 0),
            format!("ramp_time has no effect, because {engine} does each file once"),
        ),
        (has_syncs, format!("fsync and fdatasync have no effect, because {engine} writes nothing")),
        (
            settings.engine != Engine::FileCreate && settings.files.is_created_on_open,
            format!("create_on_open has no effect: files are made before {engine} needs them"),
        ),
        (
            settings.engine == Engine::FileStat && settings.engine_options.stat != StatCall::Stat,
            "stat_type has no effect: stat is called, of files that are no links".to_owned(),
        ),
    ];
    tells.into_iter().filter(|(applies, _)| *applies).for_each(|(_, text)| notes(text));
}

/// Whether time alone ends the job.
fn is_endless(job: &Job) -> bool {
    job.settings.course.is_time_based && job.settings.course.runtime.is_some()
}

/// How long each of so many files is to be.
fn asked_file_bytes(job: &Job, count: u64) -> Option<u64> {
    let files = &job.settings.files;
    match (files.file_size, files.size) {
        (Some(_), _) => file_size(job),
        (None, Some(Extent::Bytes(size))) => Some(size.0 / count),
        (None, _) => None,
    }
}

/// How many blocks of a pass are asked for, where that is said.
fn asked_blocks(job: &Job, block: u64) -> Option<u64> {
    let files = &job.settings.files;
    let bytes = match (files.io_size, files.size, files.file_size) {
        (Some(Extent::Bytes(bytes)), ..) | (None, Some(Extent::Bytes(bytes)), Some(_)) => Some(bytes.0 / block),
        _ => None,
    };
    match (bytes, job.settings.pattern.operations) {
        (Some(blocks), Some(operations)) => Some(blocks.min(operations)),
        (blocks, operations) => blocks.or(operations),
    }
}

/// What is in the files, and in which order they have their turn. What is only about content has no say.
fn content(file_bytes: u64, is_there: bool, count: u64, job: &Job, workload: &mut Workload) {
    let is_random = !matches!(job.settings.files.service, FileService::RoundRobin { .. } | FileService::Sequential);
    workload.rw = Some(match (job.settings.pattern.direction.writes, is_random) {
        (false, false) => ReadWrite::Read,
        (false, true) => ReadWrite::RandRead,
        (true, false) => ReadWrite::Write,
        (true, true) => ReadWrite::RandWrite,
    });
    *workload = Workload {
        block_size: None,
        write_block_size: None,
        read_percent: None,
        random_percent: None,
        stride: None,
        distribution: None,
        sync: None,
        fsync: None,
        fdatasync: None,
        end_fsync: None,
        buffered: None,
        payload: None,
        verify: None,
        batch: None,
        iopoll: None,
        queue_depth: Some(Sweep::one(1)),
        ..std::mem::take(workload)
    };
    if job.settings.engine != Engine::FileCreate {
        workload.size = Some(Extent::Bytes(ByteCount(file_bytes.saturating_mul(count))));
        workload.layout = Some(if is_there { Layout::Empty } else { Layout::Written });
    }
}

/// A rate is one of blocks, of which a file has several.
fn rate(file_bytes: u64, block: u64, workload: &mut Workload) {
    let blocks_per_file = (file_bytes / block).max(1) as f64;
    workload.rate = workload.rate.map(|rate| match rate {
        Rate::Operations(blocks) => Rate::Operations(blocks / blocks_per_file),
        Rate::Bytes(bytes) => Rate::Operations(bytes as f64 / block as f64 / blocks_per_file),
    });
}

#[cfg(test)]
mod tests {
    use crate::fio::lowering::tests::{lowered, refused};

    fn notes(job: &str) -> String {
        lowered(job).notes.iter().map(|note| format!("{}\n", note.text)).collect()
    }

    #[test]
    fn a_plan_names_a_hundred_thousand_files_in_a_word() {
        let job = "[t]\nioengine=filecreate\ndirectory=/data\nfilesize=4k\nnrfiles=100000\nopenfiles=1\nnumjobs=2\n";
        let plan = lowered(&format!("{job}group_reporting\nfsync=1\nthread\n")).plan;
        let text = toml::to_string(&plan.workloads[0]).unwrap();
        assert!(text.contains("file_names = [\"t.0.{0/99999}\", \"t.1.{0/99999}\"]"), "{text}");
        assert!(text.contains("engine = \"filecreate\"") && text.contains("operations = 200000"), "{text}");
        assert!(!text.contains("size") && !text.contains("fsync"), "{text}");
    }

    #[test]
    fn what_differs_from_fio_is_told() {
        let job = |more: &str| format!("[t]\ndirectory=/data\nfilesize=4k\nnrfiles=10\n{more}\n");
        assert!(notes(&job("ioengine=filedelete\ntime_based\nruntime=5")).contains("no file is left"));
        assert!(notes(&job("ioengine=filecreate\ntime_based\nruntime=5")).contains("it is opened"));
        assert!(notes(&job("ioengine=filestat\ncreate_on_open=1")).contains("create_on_open has no effect"));
        assert!(notes(&job("ioengine=filecreate\nfsync=10")).contains("writes nothing"));
        assert_eq!(notes(&job("ioengine=filestat")), "");
    }

    #[test]
    fn what_fio_would_fail_at_or_not_count_is_refused() {
        let job = |more: &str| format!("[t]\ndirectory=/data\nnrfiles=10\n{more}\n");
        assert!(refused(&job("ioengine=filestat")).contains("filesize="));
        assert!(refused(&job("ioengine=filestat\nfilesize=4k\nbs=16k")).contains("smaller bs="));
        assert!(refused(&job("ioengine=filecreate\nfilesize=4k\nrw=randrw")).contains("rw=read"));
        assert!(refused(&job("ioengine=filedelete\nfilesize=4k\nfilename=a:b\nnumjobs=2")).contains("filename"));
    }

    #[test]
    fn a_rate_of_blocks_is_one_of_files() {
        let job = "[t]\nioengine=filestat\ndirectory=/data\nfilesize=16k\nnrfiles=10\n";
        let rate = |more: &str| lowered(&format!("{job}{more}\n")).plan.workloads[0].rate.unwrap().to_string();
        assert_eq!(rate("rate_iops=400"), rate("rate=1600k"));
        assert_eq!(rate("rate_iops=400"), "100/s");
    }
}
