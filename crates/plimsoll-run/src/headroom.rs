//! What plimsoll could do at most here if storage and kernel took no time: the same workload against memory.

use std::{os::fd::AsFd, sync::atomic::AtomicBool};

use plimsoll_io::{
    clock::{Clock, MonotonicClock},
    probe::EngineKind,
};
use plimsoll_workload::{
    plan::{BlockPlan, Pacing},
    settings::{FileSharing, SyncMode},
};
use rustix::fs::{Mode, OFlags};

use crate::slot::{self, SlotError, SlotSetup};

/// Load that is not counted, and load that is.
const RAMP_NS: u64 = 20_000_000;
const MEASURED_NS: u64 = 180_000_000;

/// What decides how fast a workload is without storage.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shape {
    engine: EngineKind,
    block_size_bytes_max: u32,
    queue_depth: u32,
    jobs: u32,
    read_percent: u8,
    random_percent: u8,
}

/// Rates without storage, each measured once.
#[derive(Clone, Debug, Default)]
pub struct Headroom(Vec<(Shape, Option<f64>)>);

impl Headroom {
    /// Operations per second of a workload without storage; `None` when that could not be measured. Takes
    /// 200 ms the first time, nothing for workloads of the same shape.
    pub fn null_operations_per_second(
        &mut self,
        plan: &BlockPlan,
        engine: EngineKind,
        stop: &AtomicBool,
    ) -> Option<f64> {
        let shape = Shape {
            engine,
            block_size_bytes_max: plan.block_size_bytes_max,
            queue_depth: plan.queue_depth,
            jobs: plan.jobs,
            read_percent: plan.read_percent,
            random_percent: plan.random_percent,
        };
        if let Some((_, rate)) = self.0.iter().find(|(known, _)| *known == shape) {
            return *rate;
        }
        let rate = measure(plan, engine, stop).ok().flatten();
        self.0.push((shape, rate));
        rate
    }
}

/// The same operations on as many threads in a closed loop, against the memory engine.
fn measure(plan: &BlockPlan, engine: EngineKind, stop: &AtomicBool) -> Result<Option<f64>, SlotError> {
    let plan = BlockPlan {
        // Parts of a region that is shared would be too small for some.
        files: FileSharing::PerJob,
        file_count: 1,
        offset_increment_bytes: None,
        sync: SyncMode::None,
        fsync_every: 0,
        fdatasync_every: 0,
        end_fsync: false,
        think_time_ns: 0,
        pacing: Pacing::Closed,
        operations: None,
        amount_bytes: None,
        verify: false,
        ..plan.clone()
    };
    let failed = |errno: rustix::io::Errno| SlotError::Io { engine: "memory", source: errno.into() };
    // The memory engine touches nothing, but every engine has a file.
    let nothing = rustix::fs::open("/dev/zero", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
    let outcome = slot::visit(
        &SlotSetup {
            first_worker: 0,
            plan: &plan,
            engine,
            in_memory: true,
            files: &[nothing.as_fd()],
            names: None,
            devices: &[],
            round: 0,
            not_before_ns: 0,
            delay_ns: 0,
            ramp_ns: RAMP_NS,
            measured_ns: Some(MEASURED_NS),
            seed: plan.seed,
            generations: &[],
            laid_out: true,
            keeps_seconds: false,
            run_started_ns: MonotonicClock.now_ns(),
            stop,
            over: None,
        },
        &mut |_| {},
    )?;
    let operations = outcome.tally.read.operations + outcome.tally.write.operations;
    Ok((operations > 0).then(|| operations as f64 * 1e9 / outcome.elapsed_ns.max(1) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_plans::plan;

    #[test]
    fn a_workload_is_measured_once_without_its_pauses_and_rates() {
        let (mut headroom, stop) = (Headroom::default(), AtomicBool::new(false));
        let slow = plan("rw = 'randread'\nqueue_depth = 4\nrate = 10\nduration = '100s'");
        let rate = headroom.null_operations_per_second(&slow, EngineKind::IoUring, &stop).unwrap();
        assert!(rate > 1000.0, "{rate}");
        let again = headroom.null_operations_per_second(&slow, EngineKind::IoUring, &stop);
        assert_eq!(again, Some(rate));
        // One thread for each operation in flight is another thing.
        headroom.null_operations_per_second(&slow, EngineKind::Psync, &stop).unwrap();
        assert_eq!(headroom.0.len(), 2);
    }
    #[test]
    fn more_jobs_than_the_region_has_blocks_are_measured_too() {
        let (mut headroom, stop) = (Headroom::default(), AtomicBool::new(false));
        let narrow = "rw = 'randread'\nsize = '16k'\njobs = 8\ndistribution = 'exact-once'\noffset_increment = 0\nduration = '9s'";
        assert!(headroom.null_operations_per_second(&plan(narrow), EngineKind::Psync, &stop).is_some());
    }
}
