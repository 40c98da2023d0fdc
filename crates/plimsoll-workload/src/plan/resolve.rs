//! From a workload as asked to a plan: every decision and every refusal.

mod pacing;
mod region;
mod time;

use self::{region::Spread, time::Time};
use super::{BlockPlan, CellPlan, Dealt, Plan, PlanError, Work, applications, dealt, files, labels, names, room};
use crate::{
    block_sizes::BlockSizes,
    certainty::{BOOKEND, Certainty, Precision, StoppingRule},
    distribution::Distribution,
    file_space::FileOrder,
    limit::Expected,
    limits,
    payload::{Fill, Payload},
    settings::{EngineChoice, FileSharing, Layout, ReadWrite, SyncMode},
    sweep::Sweep,
    target_facts::{TargetFacts, TargetKind},
    units::{ByteCount, Percent, in_one_unit},
    workload::Workload,
};

impl Plan {
    /// Decides every parameter for every target and workload.
    pub fn resolve(
        targets: &[TargetFacts],
        workloads: &[Workload],
        certainty: &Certainty,
        seed: u64,
    ) -> Result<Self, PlanError> {
        certainty.check()?;
        let workloads: Vec<Workload> = workloads.iter().flat_map(Workload::expand).collect();
        let places = places(targets, &workloads)?;
        let mut cells = Vec::with_capacity(places.len());
        for (target, workload) in &places {
            cells.push(CellPlan::resolve(target, &workloads[*workload], certainty, places.len(), seed)?);
        }
        applications::check_certainty(&cells, certainty)?;
        if cells.iter().all(|cell| cell.stopping != StoppingRule::Sure) {
            if certainty.precision.is_some() {
                return Err(PlanError::Certainty(
                    "--precision and a duration or amount contradict each other: either the rate or the clock ends a \
                     cell",
                ));
            }
            if certainty.bookend {
                return Err(PlanError::Certainty(
                    "--bookend is for cells that end when their rate is sure, and a duration or amount ends them before: \
                     choose one",
                ));
            }
        }
        if cells.iter().any(|cell| cell.phase.is_some()) && cells.iter().any(|cell| cell.phase.is_none()) {
            let problem = "some workloads have a phase and others none: give all one, or the others a run of their own";
            return Err(PlanError::Certainty(problem));
        }
        let workload_of: Vec<usize> = places.iter().map(|(_, workload)| *workload).collect();
        applications::put_side_by_side(&mut cells, &workload_of, &workloads, certainty)?;
        room::check(targets, &cells)?;
        files::check_verified(&cells)?;
        // The same labels on every target: that is how cells are compared. They tell what is asked for in all.
        let is_dealt = |cell: &usize| places[*cell].0.kind.directories().is_some();
        let first = |index: usize| {
            let mut cells = (0..places.len()).filter(|cell| workload_of[*cell] == index).peekable();
            let any = cells.peek().copied();
            cells.find(|cell| !is_dealt(cell)).or(any)
        };
        let labels = (0..workloads.len()).filter_map(first).map(|cell| cells[cell].workload.clone()).collect();
        let labels = labels::told_apart(labels, &workloads);
        for (cell, workload) in cells.iter_mut().zip(&workload_of) {
            cell.workload.clone_from(&labels[*workload]);
        }
        Ok(Self {
            seed,
            effort: certainty.effort,
            precision: certainty.precision.map(Precision::get),
            max_time_ns: certainty.max_time.map(|time| time.ns),
            bookend_ns: certainty.bookend.then_some(BOOKEND.ns),
            turn: None,
            cells,
        })
    }
}

/// Which workloads are for which targets, in the order of the cells: those that name a target are for it alone.
fn places<'a>(targets: &'a [TargetFacts], workloads: &[Workload]) -> Result<Vec<(&'a TargetFacts, usize)>, PlanError> {
    for workload in workloads {
        if let Some(name) = &workload.target
            && !targets.iter().any(|target| target.name == *name)
        {
            let problem =
                format!("it is for {name}, which is no target of this run: write that as targets are written");
            return Err(contradiction(workload, problem));
        }
    }
    let is_for = |workload: &Workload, name: &str| workload.target.as_ref().is_none_or(|own| own == name);
    let is_idle = |target: &&TargetFacts| !workloads.iter().any(|workload| is_for(workload, &target.name));
    if let Some(target) = targets.iter().find(is_idle) {
        return Err(PlanError::Idle { target: target.name.clone() });
    }
    let of = |target: &'a TargetFacts| {
        let workloads = workloads.iter().enumerate().filter(|(_, workload)| is_for(workload, &target.name));
        workloads.map(|(index, _)| (target, index)).collect::<Vec<_>>()
    };
    Ok(targets.iter().flat_map(of).collect())
}

fn contradiction(workload: &Workload, problem: impl Into<String>) -> PlanError {
    let access = || workload.rw.map_or_else(|| "unnamed".to_owned(), |rw| rw.as_str().to_owned());
    PlanError::Contradiction { workload: workload.name.clone().unwrap_or_else(access), problem: problem.into() }
}

impl CellPlan {
    fn resolve(
        target: &TargetFacts,
        workload: &Workload,
        certainty: &Certainty,
        cells: usize,
        seed: u64,
    ) -> Result<Self, PlanError> {
        let dealt = target.kind.directories().map(|disks| dealt::dealt(workload, disks)).transpose();
        let refused = |problem| PlanError::Target { target: target.name.clone(), problem };
        let dealt = dealt.map_err(refused)?;
        let workload = dealt.as_ref().map_or(workload, |(_, dealt)| dealt);
        let dealt = dealt.as_ref().map(|(asked, _)| *asked);
        let (stopping, work) = if let Some(decided) = applications::resolve(target, workload, certainty, seed)? {
            decided
        } else if let Some((stopping, plan)) = files::resolve(target, workload, certainty, seed)? {
            (stopping, Work::Files(plan))
        } else {
            applications::check_blocks(workload)?;
            let workload = &names::decided(workload)?;
            let (stopping, plan) = Draft { target, workload, dealt, certainty }.resolve(cells, seed)?;
            (stopping, Work::Blocks(plan))
        };
        let name = workload.name.clone().unwrap_or_else(|| work.describe());
        let expected = certainty.limit.map(Expected::given);
        Ok(Self { target: target.name.clone(), workload: name, stopping, phase: workload.phase, expected, work })
    }
}

/// A workload about to become exact on a target.
struct Draft<'a> {
    target: &'a TargetFacts,
    workload: &'a Workload,
    dealt: Option<Dealt>,
    certainty: &'a Certainty,
}

impl Draft<'_> {
    fn contradiction(&self, problem: impl Into<String>) -> PlanError {
        contradiction(self.workload, problem)
    }

    fn is_of_names(&self) -> bool {
        self.workload.engine.is_some_and(|engine| engine.name_operation().is_some())
    }

    fn unusable(&self, problem: impl Into<String>) -> PlanError {
        PlanError::Target { target: self.target.name.clone(), problem: problem.into() }
    }

    /// The one value of a parameter that may sweep; `expand` has left at most one.
    fn one<T: Clone>(sweep: Option<&Sweep<T>>) -> Option<T> {
        sweep.and_then(|sweep| sweep.values().first().cloned())
    }

    fn counted(&self, what: &str, asked: Option<&Sweep<u32>>, max: u32) -> Result<u32, PlanError> {
        let value = Self::one(asked).unwrap_or(1);
        if value == 0 || value > max {
            return Err(self.contradiction(format!("{what} {value} is out of range: choose 1 to {max}")));
        }
        Ok(value)
    }

    fn resolve(&self, cells: usize, seed: u64) -> Result<(StoppingRule, BlockPlan), PlanError> {
        let workload = self.workload;
        let rw = workload.rw.unwrap_or(ReadWrite::Read);
        let read_percent = self.read_percent(rw)?;
        let buffered = workload.buffered.unwrap_or(false);
        let alignment_bytes = self.alignment(buffered)?;
        let read_block_sizes = Self::one(workload.block_size.as_ref()).unwrap_or(BlockSizes::One(4096));
        let write_block_sizes = workload.write_block_size.clone().unwrap_or_else(|| read_block_sizes.clone());
        let jobs = self.counted("--jobs", workload.jobs.as_ref(), limits::JOBS_MAX)?;
        let queue_depth = self.counted("--queue-depth", workload.queue_depth.as_ref(), limits::QUEUE_DEPTH_MAX)?;
        self.check_block_sizes([&read_block_sizes, &write_block_sizes], alignment_bytes)?;
        let read_bytes_max = if read_percent > 0 { read_block_sizes.max() } else { 0 };
        let block_size_bytes_max = if read_percent < 100 { write_block_sizes.max() } else { 0 }.max(read_bytes_max);
        if u64::from(jobs) * u64::from(queue_depth) * u64::from(block_size_bytes_max) > limits::BUFFER_BYTES_MAX {
            return Err(
                self.contradiction("jobs x queue depth x block size needs more than 4 GiB of buffers: lower one")
            );
        }
        if let Some(engine) = workload.engine.filter(|engine| engine.blocks())
            && workload.verify != Some(true)
            && u64::from(jobs) * u64::from(queue_depth) > u64::from(limits::THREADS_MAX)
        {
            return Err(self.contradiction(format!(
                "--engine {engine} needs a thread for each operation in flight, and --jobs {jobs} x --queue-depth \
                 {queue_depth} is more than {}: lower --queue-depth or --jobs, or choose another engine",
                limits::THREADS_MAX
            )));
        }
        let files = match self.target.kind {
            TargetKind::Directory | TargetKind::Directories(_) => workload.files.unwrap_or(FileSharing::Shared),
            TargetKind::File | TargetKind::Device => FileSharing::Shared,
        };
        let file_count = self.file_count(jobs, files)?;
        let spread = Spread { jobs, files, file_count, alignment_bytes, block_size_bytes_max };
        let (offset_bytes, size_bytes) = if self.is_of_names() {
            (0, names::content_bytes(self.target, workload, spread.copies())?)
        } else {
            self.region(spread)?
        };
        let random_percent = workload.random_percent.map_or(if rw.is_random() { 100 } else { 0 }, Percent::get);
        let verify = workload.verify.unwrap_or(false);
        let distribution = self.distribution(random_percent, verify)?;
        let payload = workload.payload.clone().unwrap_or_default();
        if verify && !offset_bytes.is_multiple_of(u64::from(block_size_bytes_max)) {
            return Err(self.contradiction("--verify needs an --offset that is a multiple of the block size"));
        }
        if verify && read_percent == 100 && self.target.kind == TargetKind::Device {
            return Err(self.contradiction(
                "--verify on a device needs writes: nobody knows what the blocks read there should contain",
            ));
        }
        if let Some(engine) = workload.engine
            && !matches!(engine, EngineChoice::Auto | EngineChoice::IoUring)
            && (workload.iopoll == Some(true) || workload.sqpoll == Some(true))
        {
            return Err(self.contradiction(format!("--iopoll and --sqpoll need io_uring, not --engine {engine}")));
        }
        let gap_bytes = self.gap(random_percent, block_size_bytes_max, file_count, alignment_bytes)?;
        if verify {
            self.check_verifiable(&read_block_sizes, &write_block_sizes, &payload, &distribution, random_percent)?;
        }
        if let Some(io_size) = workload.io_size
            && (1..u64::from(block_size_bytes_max)).contains(&io_size.0)
        {
            return Err(self.smaller_than_a_block("--io-size", io_size.0, block_size_bytes_max));
        }
        let Time { stopping, ramp_ns, slot_ns } = self.time(cells)?;
        let think = workload.think_time;
        let mut blocks = BlockPlan {
            rw,
            read_percent,
            random_percent,
            block_size_bytes_max,
            alignment_bytes,
            jobs,
            queue_depth,
            offset_bytes,
            size_bytes,
            offset_increment_bytes: workload.offset_increment.map(|increment| increment.0),
            files,
            dealt: self.dealt,
            file_count,
            file_order: workload.file_order.unwrap_or_default(),
            file_names: workload.file_names.clone().unwrap_or_default(),
            file_size_bytes: self.file_size()?,
            layout: self.layout(read_percent, verify)?,
            gap_bytes,
            distribution,
            buffered,
            sync: workload.sync.unwrap_or(SyncMode::None),
            fsync_every: workload.fsync.unwrap_or(0),
            fdatasync_every: workload.fdatasync.unwrap_or(0),
            end_fsync: workload.end_fsync.unwrap_or(false),
            think_time_ns: think.map_or(0, |think| think.pause.ns),
            think_time_operations: think.map_or(1, |think| think.operations),
            pacing: self.pacing(jobs)?,
            start_delay_ns: workload.start_delay.unwrap_or_default().ns,
            ramp_ns,
            slot_ns,
            operations: workload.operations,
            amount_bytes: None,
            payload,
            verify,
            seed: workload.seed.unwrap_or(seed),
            engine: workload.engine.unwrap_or(EngineChoice::Auto),
            batch: workload.batch.unwrap_or(1).clamp(1, queue_depth),
            submit: workload.submit,
            drops_cache: buffered && workload.drop_cache.unwrap_or(false),
            access_hint: workload.access_hint.filter(|_| buffered),
            iopoll: workload.iopoll.unwrap_or(false),
            sqpoll: workload.sqpoll.unwrap_or(false),
            pin: workload.pin.clone().unwrap_or_default(),
            keep_going: workload.keep_going.unwrap_or(false),
            ends_phase: workload.ends_phase.unwrap_or(false),
            read_block_sizes,
            write_block_sizes,
        };
        self.check_job_regions(&blocks)?;
        self.check_verified_regions(&blocks)?;
        blocks.amount_bytes = self.amount(blocks.pass_bytes());
        Ok((stopping, blocks))
    }

    fn read_percent(&self, rw: ReadWrite) -> Result<u8, PlanError> {
        match Self::one(self.workload.read_percent.as_ref()) {
            None => Ok(rw.default_read_percent()),
            Some(percent) if rw.is_mixed() || percent.get() == rw.default_read_percent() => Ok(percent.get()),
            Some(percent) => Err(self.contradiction(format!(
                "--read-percent {} contradicts --rw {rw}: use --rw {} for a mix",
                percent.get(),
                if rw.is_random() { "randrw" } else { "rw" }
            ))),
        }
    }

    fn alignment(&self, buffered: bool) -> Result<u32, PlanError> {
        if buffered {
            return Ok(1);
        }
        self.target.direct_alignment_bytes.ok_or_else(|| {
            self.unusable("direct I/O is not supported there: add --buffered to measure through the page cache")
        })
    }

    fn check_block_sizes(&self, all: [&BlockSizes; 2], alignment: u32) -> Result<(), PlanError> {
        for sizes in all {
            if sizes.min() < limits::BLOCK_SIZE_MIN && !self.workload.buffered.unwrap_or(false)
                || sizes.min() == 0
                || sizes.max() > limits::BLOCK_SIZE_MAX
            {
                return Err(self.contradiction(format!(
                    "block size {sizes} is out of range: choose {} to {}",
                    ByteCount(u64::from(limits::BLOCK_SIZE_MIN)),
                    ByteCount(u64::from(limits::BLOCK_SIZE_MAX))
                )));
            }
            if !sizes.aligned_to(alignment) {
                return Err(self.unusable(format!(
                    "block size {sizes} is not a multiple of {alignment} bytes, which direct I/O needs here: \
                     choose a multiple or add --buffered"
                )));
            }
        }
        Ok(())
    }

    /// How many files each job has, or all where they share.
    fn file_count(&self, jobs: u32, files: FileSharing) -> Result<u32, PlanError> {
        let workload = self.workload;
        let count = workload.file_count.unwrap_or(1);
        let apart = if files == FileSharing::PerJob { jobs } else { 1 };
        let max = if self.is_of_names() { limits::NAMED_FILES_MAX / apart } else { limits::FILES_MAX };
        if count == 0 || count > max {
            return Err(self.contradiction(format!("--file-count {count} is out of range: choose 1 to {max}")));
        }
        let is_alone =
            count == 1 && workload.file_names.is_none() && workload.file_size.is_none() && !self.is_of_names();
        if !is_alone && !self.target.kind.is_directory() {
            let is_there = self.target.kind == TargetKind::Device || self.target.size_bytes.is_some();
            return Err(self.unusable(if !is_there {
                "there is no such directory to make files in: make it, or name another one"
            } else if self.is_of_names() {
                "filecreate, filestat and filedelete need a directory to make files in"
            } else {
                "--file-count, file_names and file_size need a directory to make files in"
            }));
        }
        let Some(names) = &workload.file_names else { return Ok(count) };
        let (had, wanted) = (names.count(), u64::from(count) * u64::from(apart));
        if had != wanted {
            return Err(self.contradiction(format!("file_names has {had} names and there are {wanted} files")));
        }
        names.problem().map_or(Ok(count), |problem| Err(self.contradiction(problem)))
    }

    /// How long each file is to be at least.
    fn file_size(&self) -> Result<Option<u64>, PlanError> {
        let Some(sizes) = &self.workload.file_size else { return Ok(None) };
        let one = sizes.one().ok_or_else(|| self.contradiction("files of several sizes need --phases"))?;
        Ok(Some(one))
    }

    fn layout(&self, read_percent: u8, verify: bool) -> Result<Layout, PlanError> {
        let needs_content = (read_percent > 0 || verify) && !self.is_of_names();
        match self.workload.layout {
            Some(layout) if layout != Layout::Written && needs_content => Err(self.contradiction(format!(
                "--layout {layout} leaves nothing to read or to verify: leave it out, or only write"
            ))),
            layout => Ok(layout.unwrap_or(Layout::Written)),
        }
    }

    fn smaller_than_a_block(&self, flag: &str, asked: u64, block: u32) -> PlanError {
        let [asked, block] = in_one_unit([asked, u64::from(block)]);
        self.contradiction(format!("{flag} {asked} is smaller than one block of {block}: raise it"))
    }

    fn distribution(&self, random_percent: u8, verify: bool) -> Result<Distribution, PlanError> {
        match (&self.workload.distribution, random_percent) {
            (Some(distribution), 0) => {
                Err(self.contradiction(format!("--distribution {distribution} needs random access: use --rw randread")))
            }
            // A block written twice in one pass could not be told from a lost write.
            (None, _) if verify && random_percent > 0 => Ok(Distribution::ExactOnce),
            (asked, _) => Ok(asked.clone().unwrap_or(Distribution::Uniform)),
        }
    }

    /// What is left out between operations, the largest of which has the size of `block`.
    fn gap(&self, random_percent: u8, block: u32, file_count: u32, alignment: u32) -> Result<u64, PlanError> {
        let Some(stride) = self.workload.stride else { return Ok(0) };
        if random_percent == 100 {
            return Err(self.contradiction("--stride needs sequential access: use --rw read, write or rw"));
        }
        if file_count > 1 && matches!(self.workload.file_order.unwrap_or_default(), FileOrder::Turns(_)) {
            return Err(self.contradiction(
                "--stride leaves out parts of one file after another, not of files in turns: add --file-order sequential",
            ));
        }
        let block = u64::from(block);
        if stride.0 < block || !stride.0.is_multiple_of(u64::from(alignment.max(1))) {
            let [stride, block, alignment] = in_one_unit([stride.0, block, u64::from(alignment.max(1))]);
            return Err(self.contradiction(format!(
                "--stride {stride} must be at least a block ({block}) and a multiple of {alignment}"
            )));
        }
        Ok(stride.0 - block)
    }

    fn check_verifiable(
        &self,
        read: &BlockSizes,
        write: &BlockSizes,
        payload: &Payload,
        distribution: &Distribution,
        random_percent: u8,
    ) -> Result<(), PlanError> {
        let problem = if !read.is_one() || read != write {
            "one block size for reads and writes"
        } else if read.max() < limits::VERIFY_BLOCK_MIN || !limits::VERIFY_BLOCK_MAX.is_multiple_of(read.max()) {
            "a block size that is a power of two from 512 bytes to 1 MiB"
        } else if payload.fill != Fill::Random || payload.duplicate.get() > 0 || payload.compressible.get() > 0 {
            "a random payload"
        } else if random_percent > 0 && *distribution != Distribution::ExactOnce {
            "--distribution exact-once"
        } else if self.workload.stride.is_some() {
            "no --stride"
        } else if !matches!(random_percent, 0 | 100) {
            "access that is all sequential or all random"
        } else {
            return Ok(());
        };
        Err(self.contradiction(format!("--verify needs {problem}, so that each block's content is known")))
    }

    /// Bytes after which the cell ends: `io_size`, or `loops` passes over the regions of all jobs.
    fn amount(&self, pass_bytes: u64) -> Option<u64> {
        let passes = self.workload.loops.map(|loops| loops.saturating_mul(pass_bytes));
        match (self.workload.io_size, passes) {
            (Some(bytes), Some(passes)) => Some(bytes.0.min(passes)),
            (bytes, passes) => bytes.map(|bytes| bytes.0).or(passes),
        }
    }

    fn check_job_regions(&self, plan: &BlockPlan) -> Result<(), PlanError> {
        if plan.job_region(plan.jobs - 1).length < u64::from(plan.block_size_bytes_max) {
            let share = plan.job_region(plan.jobs - 1).length;
            let [share, block] = in_one_unit([share, u64::from(plan.block_size_bytes_max)]);
            return Err(self.unusable(format!(
                "each of {} jobs gets {share} of the region, less than one block of {block}: raise --size or lower --jobs",
                plan.jobs
            )));
        }
        Ok(())
    }

    /// Refuses to verify regions of a shared file that jobs would take from each other.
    fn check_verified_regions(&self, plan: &BlockPlan) -> Result<(), PlanError> {
        let Some(apart) = plan.offset_increment_bytes else { return Ok(()) };
        if !plan.verify || plan.jobs == 1 || plan.files != FileSharing::Shared {
            return Ok(());
        }
        let problem = if plan.writes() && apart < plan.size_bytes {
            "an --offset-increment of at least --size, as each job would take the blocks of another for damage"
        } else if !apart.is_multiple_of(u64::from(plan.block_size_bytes_max)) {
            "an --offset-increment that is a multiple of the block size"
        } else if plan.file_count > 1 {
            "one file where jobs have an --offset-increment: give each job files of its own (--files per-job)"
        } else {
            return Ok(());
        };
        Err(self.contradiction(format!("--verify needs {problem}")))
    }
}
