//! Whether this process may have the memory that a plan needs, told before anything is made.

use std::hint::black_box;

use plimsoll_workload::{
    plan::{BlockPlan, CellPlan, Plan},
    verification::GenerationMap,
};

use crate::{machine, run::RunError};

/// Refuses to verify more blocks than can be remembered.
pub(crate) fn check(plan: &Plan) -> Result<(), RunError> {
    let needed_bytes = needed(plan);
    if can_be_had(needed_bytes) { Ok(()) } else { Err(RunError::Memory { needed_bytes }) }
}

/// What a plan needs when all blocks that it verifies are written. What is only read is as it was laid out.
fn needed(plan: &Plan) -> u64 {
    let blocks = plan.cells.iter().filter_map(CellPlan::blocks).filter(|plan| plan.verify && plan.writes());
    let of = |plan: &BlockPlan| -> u64 {
        let regions = (0..plan.jobs).map(|job| plan.job_region(job));
        regions.map(|region| GenerationMap::memory_bytes(region, plan.block_size_bytes_max)).sum()
    };
    blocks.map(of).sum()
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
    fn what_cannot_be_remembered_is_refused_with_what_to_do() {
        let of = |text: &str| plan_on_directory(&format!("size = '512G'\noperations = 1000\n{text}"));
        let verified = of("rw = 'randwrite'\nverify = true\njobs = 2");
        assert_eq!(needed(&verified), 512 << 20);
        assert_eq!(needed(&of("rw = 'randwrite'")), 0);
        assert_eq!(needed(&of("rw = 'randread'\nverify = true")), 0);
        assert!(can_be_had(1 << 20) && !can_be_had(1 << 60));
        let told = RunError::Memory { needed_bytes: 8 << 30 }.to_string();
        assert!(told.contains("8GiB") && told.contains("--size") && told.contains("--block-size"), "{told}");
    }
}
