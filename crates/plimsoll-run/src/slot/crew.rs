//! How the operations of a cell are spread over threads.

use std::{os::fd::BorrowedFd, sync::Mutex};

use plimsoll_io::probe::EngineKind;
use plimsoll_workload::{
    content::ContentSource,
    operation_stream::OperationStream,
    pacer::Pacer,
    plan::{BlockPlan, share},
    random::{Purpose, derive_seed, job_seed},
};

use super::SlotSetup;
use crate::{
    checker::Checker,
    cold_files::ColdFiles,
    timing::Timing,
    worker::{Arrivals, Assignment, CourseOf, SharedCourse},
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
}

impl Crew {
    /// Engines that queue need a thread for each job; those that block need one for each operation in flight.
    pub(super) fn new(plan: &BlockPlan, engine: EngineKind, seed: u64) -> Self {
        let (plan, queue_depth) = (plan.clone(), plan.queue_depth);
        let (arrivals, courses) = (Vec::new(), Vec::new());
        if !engine.blocks() {
            return Self { plan, lanes: 1, tags: queue_depth, seed, arrivals, courses };
        }
        if plan.verify {
            // Threads that share blocks could not know what another one is writing at the moment.
            return Self { plan, lanes: 1, tags: 1, seed, arrivals, courses };
        }
        let arrivals = (0..plan.jobs).filter_map(|job| pacer(&plan, seed, job)).map(Mutex::new).collect();
        let courses = (0..plan.jobs).filter_map(|_| SharedCourse::new(&plan)).collect();
        Self { plan, lanes: queue_depth, tags: 1, seed, arrivals, courses }
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
            content: ContentSource::new(&plan.payload, derive_seed(self.seed, Purpose::Content, u64::from(worker))),
            checker: setup.generations.get(job as usize).map(|map| Checker::new(plan, job, map, setup.laid_out)),
            operations_max: plan.operations.map(|total| self.share(total, job, lane)),
            bytes_max: plan.amount_bytes.map(|total| {
                // Whole blocks: each worker's share ends with one.
                let block = u64::from(plan.block_size_bytes_min());
                share(plan.job_amount(total.div_ceil(block), job), lane, self.lanes).saturating_mul(block)
            }),
            cold: ColdFiles::of(plan, files, self.lanes),
            timing,
        }
    }

    pub(super) fn arrivals(&self, job: u32) -> Option<Arrivals<'_>> {
        match self.arrivals.get(job as usize) {
            Some(shared) => Some(Arrivals::Shared(shared)),
            None => pacer(&self.plan, self.seed, job).map(Arrivals::Own),
        }
    }
}

/// The arrivals of a job. Those of one that is alone need not keep out of others' way.
fn pacer(plan: &BlockPlan, seed: u64, job: u32) -> Option<Pacer> {
    let pacer = Pacer::new(&plan.pacing, job_seed(seed, job))?;
    Some(if plan.jobs == 1 { pacer.beginning_at_once() } else { pacer })
}
