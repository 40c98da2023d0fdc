//! Whether this process may have the memory that a plan needs, told before anything is made.

use std::hint::black_box;

use plimsoll_workload::{
    certainty::StoppingRule,
    plan::{BlockPlan, CellPlan, Plan},
    verification::GenerationMap,
};

use crate::{machine, run::RunError};

/// Refuses to verify more blocks than can be remembered.
pub(crate) fn check(plan: &Plan) -> Result<(), RunError> {
    let needed_bytes = needed(plan);
    if can_be_had(needed_bytes) { Ok(()) } else { Err(RunError::Memory { needed_bytes }) }
}

/// What a plan needs when all blocks that it verifies are written, or as many as its amounts let it write. What is only
/// read is as it was laid out.
fn needed(plan: &Plan) -> u64 {
    let of = |cell: &CellPlan| -> u64 {
        let Some(plan) = cell.blocks().filter(|plan| plan.verify && plan.writes()) else { return 0 };
        let writes = writes(plan, cell.stopping);
        let of_job = |job| {
            let writes = writes.map_or(u64::MAX, |writes| plan.job_amount(writes, job).saturating_add(1));
            GenerationMap::memory_bytes(plan.job_region(job), plan.block_size_bytes_max, writes)
        };
        (0..plan.jobs).map(of_job).sum()
    };
    plan.cells.iter().map(of).sum()
}

/// How many blocks all slots of a cell write at most, where that is known. What a ramp writes has no end but its time.
fn writes(plan: &BlockPlan, stopping: StoppingRule) -> Option<u64> {
    let slots = stopping.slots().filter(|_| plan.ramp_ns == 0)?;
    let by_bytes = plan.amount_bytes.map(|bytes| bytes.div_ceil(plan.block_size_bytes_max.into()));
    let of_slot = plan.operations.into_iter().chain(by_bytes).min()?;
    Some(of_slot.saturating_mul(slots.into()))
}

/// Whether the limits of the process, and what the machine has left, allow so much.
fn can_be_had(bytes: u64) -> bool {
    let mut attempt = Vec::<u8>::new();
    usize::try_from(bytes).is_ok_and(|bytes| black_box(&mut attempt).try_reserve_exact(bytes).is_ok())
        && machine::free_memory_bytes().is_none_or(|free_bytes| bytes <= free_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_plans::plan_on_directory;

    #[test]
    fn a_few_writes_take_little_memory_however_large_the_device_is() {
        let of = |text: &str| {
            needed(&plan_on_directory(&format!("size = '512G'\nrw = 'randwrite'\nverify = true\njobs = 2\n{text}")))
        };
        // A page of entries for each write, one more for each job, and places for pages.
        assert_eq!(of("operations = 1000"), 1002 * 4096 + (2 << 20));
        assert_eq!(of("io_size = '4M'"), 1026 * 4096 + (2 << 20));
        assert_eq!(of("operations = 1000\nio_size = '512G'"), 1002 * 4096 + (2 << 20));
        assert_eq!(of("operations = 1000\nramp = '1s'"), 512 << 20);
        assert_eq!(of("io_size = '512G'"), 512 << 20);
    }

    #[test]
    fn what_cannot_be_remembered_is_refused_with_what_to_do() {
        let of = |text: &str| plan_on_directory(&format!("size = '512G'\n{text}"));
        let verified = of("rw = 'randwrite'\nverify = true\njobs = 2");
        assert_eq!(needed(&verified), 512 << 20);
        assert_eq!(needed(&of("rw = 'randwrite'")), 0);
        assert_eq!(needed(&of("rw = 'randread'\nverify = true")), 0);
        assert!(can_be_had(1 << 20) && !can_be_had(1 << 60));
        let told = RunError::Memory { needed_bytes: 8 << 30 }.to_string();
        assert!(told.contains("8GiB") && told.contains("--size") && told.contains("--block-size"), "{told}");
    }
}
