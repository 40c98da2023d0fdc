//! Workloads that create, stat or delete files: each operation is about one file and transfers nothing.
//!
//! A file can be created or deleted once, so that such a cell ends when every file had its turn. Files can be statted
//! again and again, for as long as any other cell runs.

use super::{BlockPlan, PlanError};
use crate::{
    block_sizes::BlockSizes,
    distribution::Distribution,
    settings::{EngineChoice, FileSharing, Layout, NameOperation, ReadWrite},
    sweep::Sweep,
    target_facts::TargetFacts,
    units::Rate,
    workload::Workload,
};

/// Files when nothing is said.
const FILES: u32 = 1000;

/// What such a cell is called: `filecreate 1000 files`.
pub(super) fn describe(plan: &BlockPlan) -> String {
    let mut name = format!("{} {} files", plan.engine, plan.file_count);
    if plan.queue_depth > 1 {
        name += &format!(" QD{}", plan.queue_depth);
    }
    if plan.jobs > 1 {
        name += &format!(" x{}", plan.jobs);
    }
    name
}

/// A workload with everything decided that differs from workloads that transfer data; others as they are.
pub(super) fn decided(workload: &Workload) -> Result<Workload, PlanError> {
    let Some((engine, operation)) = workload.engine.and_then(|engine| Some((engine, engine.name_operation()?))) else {
        return Ok(workload.clone());
    };
    let refused = |problem: String| PlanError::Contradiction {
        workload: workload.name.clone().unwrap_or_else(|| engine.to_string()),
        problem,
    };
    if let Some(flag) = about_content(workload) {
        return Err(refused(format!("--engine {engine} transfers nothing: leave {flag} out")));
    }
    if operation == NameOperation::Create && (workload.size.is_some() || workload.layout.is_some()) {
        return Err(refused(format!("--engine {engine} makes empty files: leave --size and --layout out")));
    }
    if workload.size.is_none() && workload.layout == Some(Layout::Written) {
        return Err(refused("--layout written needs --size, which says how much is in the files: add it".to_owned()));
    }
    if operation.happens_once() && workload.ramp.is_some_and(|ramp| ramp.ns > 0) {
        return Err(refused(format!("--engine {engine} does each file once: leave --ramp out")));
    }
    let rw = workload.rw.unwrap_or(match operation {
        NameOperation::Stat => ReadWrite::Read,
        NameOperation::Create | NameOperation::Delete => ReadWrite::Write,
    });
    let is_repeated = rw.is_random() && workload.distribution.as_ref().is_some_and(|of| *of != Distribution::ExactOnce);
    if operation.happens_once() && is_repeated {
        return Err(refused(format!("--engine {engine} needs each file once: leave --distribution out")));
    }
    let jobs = workload.jobs.as_ref().and_then(|jobs| jobs.values().first().copied()).unwrap_or(1);
    let files = workload.files.unwrap_or(FileSharing::Shared);
    let file_count = workload.file_count.unwrap_or(FILES);
    if files == FileSharing::Shared && file_count < jobs {
        return Err(refused(format!("{file_count} files are too few for {jobs} jobs: raise --file-count")));
    }
    let copies = if files == FileSharing::PerJob { u64::from(jobs) } else { 1 };
    let in_all = u64::from(file_count).saturating_mul(copies);
    Ok(Workload {
        rw: Some(rw),
        block_size: Some(Sweep::one(BlockSizes::One(1))),
        buffered: Some(true),
        file_count: Some(file_count),
        distribution: match &workload.distribution {
            None if rw.is_random() => Some(Distribution::ExactOnce),
            asked => asked.clone(),
        },
        layout: Some(match operation {
            NameOperation::Create => Layout::Empty,
            NameOperation::Stat | NameOperation::Delete => workload.layout.unwrap_or(match workload.size {
                Some(_) => Layout::Written,
                None => Layout::Empty,
            }),
        }),
        operations: operations(operation, workload, in_all).map_err(|problem| refused(problem.to_owned()))?,
        loops: None,
        ..workload.clone()
    })
}

/// A flag about what is in files.
fn about_content(workload: &Workload) -> Option<&'static str> {
    let is_mixed = workload.rw.is_some_and(ReadWrite::is_mixed);
    let flags = [
        ("--rw rw and randrw", is_mixed),
        ("--read-percent", workload.read_percent.is_some()),
        ("--random-percent", workload.random_percent.is_some()),
        ("--block-size", workload.block_size.is_some()),
        ("--write-block-size", workload.write_block_size.is_some()),
        ("--offset", workload.offset.is_some()),
        ("--offset-increment", workload.offset_increment.is_some()),
        ("--stride", workload.stride.is_some()),
        ("--io-size", workload.io_size.is_some()),
        ("--file-size", workload.file_size.is_some()),
        ("--file-order", workload.file_order.is_some()),
        ("--buffered=false", workload.buffered == Some(false)),
        ("--payload", workload.payload.is_some()),
        ("--batch", workload.batch.is_some()),
        ("--sync", workload.sync.is_some()),
        ("--fsync", workload.fsync.is_some()),
        ("--fdatasync", workload.fdatasync.is_some()),
        ("--end-fsync", workload.end_fsync == Some(true)),
        ("--verify", workload.verify == Some(true)),
        ("a --rate in bytes", matches!(workload.rate, Some(Rate::Bytes(_)))),
    ];
    flags.into_iter().find_map(|(flag, is_asked)| is_asked.then_some(flag))
}

/// After how many operations the cell ends.
fn operations(operation: NameOperation, workload: &Workload, in_all: u64) -> Result<Option<u64>, &'static str> {
    let passes = workload.loops.map(|loops| loops.saturating_mul(in_all));
    let asked = match (workload.operations, passes) {
        (Some(operations), Some(passes)) => Some(operations.min(passes)),
        (operations, passes) => operations.or(passes),
    };
    match operation {
        NameOperation::Stat => Ok(asked),
        // Later passes open what the first one created.
        NameOperation::Create => Ok(Some(asked.unwrap_or(in_all))),
        NameOperation::Delete if workload.loops.is_some_and(|loops| loops > 1) => {
            Err("a file can be deleted once: leave --loops out, and visit the cell several times with --passes")
        }
        NameOperation::Delete => Ok(Some(asked.map_or(in_all, |asked| asked.min(in_all)))),
    }
}

/// Bytes in the files of a job, or of all where they share.
pub(super) fn content_bytes(target: &TargetFacts, workload: &Workload, copies: u64) -> Result<u64, PlanError> {
    let Some(size) = workload.size else { return Ok(0) };
    let count = u64::from(workload.file_count.unwrap_or(1)).max(1);
    let free = target.free_bytes.unwrap_or(u64::MAX);
    let size = size.of(free) / count * count;
    let needed = size.saturating_mul(copies);
    if needed > free {
        return Err(PlanError::NoRoom { target: target.name.clone(), free_bytes: free, needed_bytes: needed });
    }
    Ok(size)
}

impl BlockPlan {
    /// Whether operations come to a file again that they have been at in the same slot.
    pub fn returns_to_names(&self) -> bool {
        self.engine == EngineChoice::FileStat
            || self.operations.is_none_or(|operations| operations > u64::from(self.files_in_all()))
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        certainty::{Certainty, StoppingRule},
        operation_stream::OperationStream,
        plan::{CellPlan, Plan, PlanError},
        settings::Effort,
        target_facts::{TargetFacts, TargetKind},
        workload::Workload,
    };

    fn resolved(toml: &str, kind: TargetKind) -> Result<CellPlan, PlanError> {
        let workload: Workload = toml::from_str(toml).unwrap();
        let target = TargetFacts {
            name: "/mnt/data".into(),
            kind,
            size_bytes: None,
            free_bytes: Some(1 << 30),
            // Nothing is read or written, so nothing has to be aligned.
            direct_alignment_bytes: None,
        };
        Plan::resolve(&[target], &[workload], &Certainty::of(Effort::Quick), 7).map(|mut plan| plan.cells.remove(0))
    }

    fn cell(toml: &str) -> CellPlan {
        resolved(toml, TargetKind::Directory).unwrap()
    }

    fn refused(toml: &str) -> String {
        resolved(toml, TargetKind::Directory).unwrap_err().to_string()
    }

    #[test]
    fn each_file_is_created_once_and_statted_for_as_long_as_it_takes() {
        let created = cell("engine = 'filecreate'\njobs = 4\nfiles = 'per-job'\nfile_count = 100_000");
        assert_eq!(created.workload, "filecreate 100000 files x4");
        assert_eq!(
            (created.blocks().unwrap().operations, created.blocks().unwrap().layout.as_str()),
            (Some(400_000), "empty")
        );
        assert!(created.blocks().unwrap().writes() && !created.blocks().unwrap().returns_to_names());
        let statted = cell("engine = 'filestat'");
        assert_eq!((statted.stopping, statted.blocks().unwrap().operations), (StoppingRule::Sure, None));
        assert!(!statted.blocks().unwrap().writes() && statted.blocks().unwrap().returns_to_names());
        let deleted = cell("engine = 'filedelete'\nsize = '4MiB'\noperations = 5000");
        assert_eq!(
            (deleted.blocks().unwrap().operations, deleted.blocks().unwrap().file_bytes()),
            (Some(1000), (4 << 20) / 1000)
        );
        assert_eq!(deleted.blocks().unwrap().layout.as_str(), "written");
    }

    #[test]
    fn jobs_that_share_files_have_each_of_them_once() {
        for rw in ["write", "randwrite"] {
            let cell = cell(&format!("engine = 'filedelete'\njobs = 3\nfile_count = 10\nrw = '{rw}'"));
            let plan = &cell.blocks().unwrap();
            let mut numbers = Vec::new();
            for job in 0..3 {
                let mut stream = OperationStream::new(plan, job, 7);
                let space = plan.file_space(job);
                numbers.extend((0..plan.job_region(job).length).map(|_| space.place(stream.next_operation()).offset));
            }
            numbers.sort_unstable();
            assert_eq!(numbers, (0..10).collect::<Vec<u64>>(), "{rw}");
        }
    }

    #[test]
    fn what_is_about_content_or_would_come_twice_is_refused() {
        for (toml, wanted) in [
            ("engine = 'filecreate'\nblock_size = '4k'", "--block-size"),
            ("engine = 'filestat'\nrw = 'randrw'", "--rw rw"),
            ("engine = 'filestat'\nrate = '1MB'", "in bytes"),
            ("engine = 'filecreate'\nsize = '4k'", "empty files"),
            ("engine = 'filecreate'\nramp = '1s'", "leave --ramp out"),
            ("engine = 'filedelete'\nramp = '1s'", "leave --ramp out"),
            ("engine = 'filestat'\nlayout = 'written'", "needs --size"),
            ("engine = 'filestat'\nfile_size = '4k'", "leave --file-size out"),
            ("engine = 'filedelete'\npayload = 'zero'", "leave --payload out"),
            ("engine = 'filecreate'\nbuffered = false", "leave --buffered=false out"),
            ("engine = 'filestat'\nbatch = 4", "leave --batch out"),
            ("engine = 'filedelete'\nloops = 2", "--passes"),
            ("engine = 'filedelete'\nrw = 'randwrite'\ndistribution = 'uniform'", "--distribution"),
            ("engine = 'filestat'\njobs = 8\nfile_count = 7", "too few"),
            ("engine = 'filestat'\nfile_count = 5_000_000", "out of range"),
            ("engine = 'filestat'\nsize = '2GiB'", "lower --size"),
            ("engine = 'filecreate'\njobs = 128\nqueue_depth = 64", "thread"),
        ] {
            assert!(refused(toml).contains(wanted), "{toml}: {}", refused(toml));
        }
        let error = resolved("engine = 'filecreate'", TargetKind::Device).unwrap_err().to_string();
        assert!(error.contains("directory"), "{error}");
    }
}
