//! How the operations of a cell are spread over threads.

use std::{os::fd::BorrowedFd, sync::Mutex};

use plimsoll_io::probe::EngineKind;
use plimsoll_workload::{
    content::ContentSource,
    operation_stream::{self, OperationStream},
    pacer::Pacer,
    plan::{BlockPlan, share},
    random::{Purpose, derive_seed, job_seed},
};

use super::SlotSetup;
use crate::{
    checker::Checker,
    cold_files::ColdFiles,
    timing::Timing,
    worker::{Arrivals, Assignment, CourseOf, JobEnd, SharedCourse},
};

/// The workers of a cell.
pub(super) struct Crew {
    pub(super) plan: BlockPlan,
    /// Threads of a job.
    pub(super) lanes: u32,
    /// Operations that each of them has in flight.
    pub(super) tags: u32,
    seed: u64,
    /// For each job, the arrivals that its threads share.
    arrivals: Vec<Mutex<Pacer>>,
    /// And the turns that they take.
    courses: Vec<SharedCourse>,
    /// How many bytes each thread of each job transfers, where an amount of them ends the cell.
    bytes: Vec<Vec<u64>>,
    /// The end of each job.
    ends: Vec<JobEnd>,
}

/// Operations of several sizes are counted for each thread when they are at most so many, so that slots begin soon.
const COUNTED_MAX: u64 = 20_000_000;

impl Crew {
    pub(super) fn new(plan: &BlockPlan, engine: EngineKind, seed: u64) -> Self {
        let (lanes, tags) = lanes_and_tags(plan, engine);
        let is_shared = engine.blocks() && !plan.verify;
        let jobs = 0..if is_shared { plan.jobs } else { 0 };
        Self {
            lanes,
            tags,
            seed,
            arrivals: jobs.clone().filter_map(|job| pacer(plan, seed, job)).map(Mutex::new).collect(),
            courses: jobs.filter_map(|_| SharedCourse::new(plan)).collect(),
            ends: (0..plan.jobs).map(|_| JobEnd::of(lanes)).collect(),
            bytes: bytes_of_lanes(plan, lanes, seed),
            plan: plan.clone(),
        }
    }

    pub(super) fn workers_of(plan: &BlockPlan, engine: EngineKind) -> u32 {
        plan.jobs * lanes_and_tags(plan, engine).0
    }

    pub(super) const fn workers(&self) -> u32 {
        self.plan.jobs * self.lanes
    }

    /// What a lane gets of a total: its job's share, which a job of one lane would get as well, and of that its own.
    pub(super) const fn share(&self, total: u64, job: u32, lane: u32) -> u64 {
        share(share(total, job, self.plan.jobs), lane, self.lanes)
    }

    pub(super) fn assignment<'a>(
        &'a self,
        worker: u32,
        setup: &'a SlotSetup<'_>,
        files: &'a [BorrowedFd<'a>],
        timing: Timing,
    ) -> Assignment<'a> {
        let plan = &self.plan;
        let (job, lane) = (worker / self.lanes, worker % self.lanes);
        Assignment {
            plan,
            tags: self.tags,
            stream: OperationStream::lane(plan, job, lane, self.lanes, self.seed),
            space: plan.file_space(job),
            arrivals: self.arrivals(job),
            course: match self.courses.get(job as usize) {
                Some(shared) => CourseOf::Shared(shared),
                None => CourseOf::new(plan),
            },
            job_end: &self.ends[job as usize],
            content: ContentSource::new(&plan.payload, derive_seed(self.seed, Purpose::Content, u64::from(worker))),
            checker: setup.generations.get(job as usize).map(|map| Checker::new(plan, job, map, setup.laid_out)),
            operations_max: plan.operations.map(|total| self.share(total, job, lane)),
            bytes_max: self.bytes_max(job, lane),
            cold: ColdFiles::of(plan, files, self.lanes),
            timing,
        }
    }

    /// What a lane transfers where an amount of bytes ends the cell.
    pub(super) fn bytes_max(&self, job: u32, lane: u32) -> Option<u64> {
        self.bytes.get(job as usize)?.get(lane as usize).copied()
    }

    pub(super) fn arrivals(&self, job: u32) -> Option<Arrivals<'_>> {
        match self.arrivals.get(job as usize) {
            Some(shared) => Some(Arrivals::Shared(shared)),
            None => pacer(&self.plan, self.seed, job).map(Arrivals::Own),
        }
    }
}

/// How many threads a job has, and how many operations each of them has in flight. Engines that queue need a thread for
/// each job; those that block need one for each operation in flight.
const fn lanes_and_tags(plan: &BlockPlan, engine: EngineKind) -> (u32, u32) {
    match (engine.blocks(), plan.verify) {
        (false, _) => (1, plan.queue_depth),
        // Threads that share blocks could not know what another one is writing at the moment.
        (true, true) => (1, 1),
        (true, false) => (plan.queue_depth, 1),
    }
}

/// What each lane of each job transfers of an amount of bytes: all lanes of a job together do the operations that a job
/// of one lane would do, the last of which may be cut. Where more was done before the amount is counted, in a ramp, and
/// where operations of several sizes are too many to be counted, they have equal parts instead.
fn bytes_of_lanes(plan: &BlockPlan, lanes: u32, seed: u64) -> Vec<Vec<u64>> {
    let Some(total) = plan.amount_bytes else { return Vec::new() };
    let block = u64::from(plan.block_size_bytes_min());
    let is_counted = lanes > 1
        && plan.block_size_bytes_max > plan.block_size_bytes_min()
        && plan.ramp_ns == 0
        && total / block <= COUNTED_MAX;
    let unit = operation_stream::amount_unit(plan);
    let of_job = |job| {
        // Whole blocks: each worker's share ends with one.
        let blocks = plan.job_amount(total.div_ceil(unit), job);
        if !is_counted {
            return (0..lanes).map(|lane| share(blocks, lane, lanes).saturating_mul(unit)).collect();
        }
        let mut stream = OperationStream::new(plan, job, seed);
        let mut bytes = vec![0; lanes as usize];
        let mut left = blocks.saturating_mul(unit);
        for lane in (0..lanes as usize).cycle() {
            if left == 0 {
                break;
            }
            let length = u64::from(stream.next_operation().length).min(left);
            bytes[lane] += length;
            left -= length;
        }
        bytes
    };
    (0..plan.jobs).map(of_job).collect()
}

/// The arrivals of a job. Those of one that is alone need not keep out of others' way.
fn pacer(plan: &BlockPlan, seed: u64, job: u32) -> Option<Pacer> {
    let pacer = Pacer::new(&plan.pacing, job_seed(seed, job))?;
    Some(if plan.jobs == 1 { pacer.beginning_at_once() } else { pacer })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_do_all_of_a_pass_over_pieces_of_several_sizes_and_nothing_twice() {
        for lanes in [1, 5] {
            let pieces = "size = '1028k'\nblock_size = '8k/50:12k/50'\ndistribution = 'exact-once'\nloops = 1";
            let plan = crate::test_plans::plan(&format!("rw = 'randread'\n{pieces}"));
            let bytes = bytes_of_lanes(&plan, lanes, 7).concat();
            assert_eq!((bytes.len() as u32, bytes.iter().sum::<u64>()), (lanes, 1028 << 10));
        }
    }
}
