//! How much room files take whose names are operated on: all cells of a target have the same ones.

use std::collections::HashMap;

use super::{Room, whole_blocks};
use crate::{
    plan::{BlockPlan, CellPlan},
    settings::{Layout, NameOperation},
};

/// What such cells of one target have at most: of files that are called by their numbers, and of those with names that
/// were chosen, whether they stay between slots and what they take. `has_file` tells names that are taken already.
pub(super) fn of_target(cells: &[&CellPlan], has_file: impl Fn(&str) -> bool, block_bytes: u64) -> Vec<(bool, Room)> {
    let whole = |bytes: u64| whole_blocks(bytes, block_bytes);
    let cells = cells.iter().filter_map(|cell| Some((*cell, cell.blocks()?)));
    let (own, chosen): (Vec<_>, Vec<_>) = cells.partition(|(_, plan)| plan.file_names.is_empty());
    let stay = |cells: &[(&CellPlan, &BlockPlan)]| cells.iter().any(|(cell, plan)| !leaves_nothing(cell, plan));
    let counts = own.iter().map(|(_, plan)| (u64::from(plan.files_in_all()), plan));
    // Each file is as long as the longest that any cell wants of its number.
    let mut lengths: Vec<(u64, u64)> = counts.clone().map(|(count, plan)| (whole(content(plan)), count)).collect();
    lengths.sort_unstable_by(|one, other| other.cmp(one));
    let (mut all, mut content_bytes) = (0, 0_u64);
    for (bytes, count) in lengths {
        let more: u64 = count.saturating_sub(all);
        content_bytes = content_bytes.saturating_add(bytes.saturating_mul(more));
        all += more;
    }
    let of_own = Room { content_bytes, names: counts.map(|(count, plan)| made(plan, count)).sum::<u64>().min(all) };
    let mut missing = HashMap::new();
    let mut names = 0;
    for (_, plan) in &chosen {
        let mut count = 0;
        for name in plan.file_names.iter().filter(|name| !has_file(name)) {
            let bytes = missing.entry(name).or_insert(0);
            *bytes = content(plan).max(*bytes);
            count += 1;
        }
        names += made(plan, count);
    }
    let content_bytes = missing.values().fold(0, |all: u64, bytes| all.saturating_add(whole(*bytes)));
    let of_chosen = Room { content_bytes, names: names.min(missing.len() as u64) };
    vec![(stay(&own), of_own), (stay(&chosen), of_chosen)]
}

/// Bytes in each file.
fn content(plan: &BlockPlan) -> u64 {
    if plan.layout == Layout::Empty { 0 } else { plan.file_bytes() }
}

/// How many of so many files a slot makes, or finds, at most.
fn made(plan: &BlockPlan, count: u64) -> u64 {
    match plan.name_operation() {
        Some(NameOperation::Create) => plan.operations.map_or(count, |operations| operations.min(count)),
        _ => count,
    }
}

/// Whether all files are gone after each slot, of a cell that has its slots alone.
fn leaves_nothing(cell: &CellPlan, plan: &BlockPlan) -> bool {
    plan.name_operation() == Some(NameOperation::Delete)
        && plan.operations.is_none_or(|operations| operations >= u64::from(plan.files_in_all()))
        && plan.slot_ns.is_none()
        && cell.phase.is_none()
}

#[cfg(test)]
mod tests {
    use crate::{
        certainty::Certainty,
        plan::{Plan, room::Room},
        settings::Effort,
        target_facts::{TargetFacts, TargetKind},
        workload::Workload,
    };

    fn plan(workloads: &[&str]) -> Plan {
        let target = TargetFacts {
            name: "/mnt/a".to_owned(),
            kind: TargetKind::Directory,
            size_bytes: None,
            free_bytes: Some(1 << 30),
            direct_alignment_bytes: Some(512),
        };
        let workloads: Vec<Workload> = workloads.iter().map(|text| toml::from_str(text).unwrap()).collect();
        Plan::resolve(&[target], &workloads, &Certainty::of(Effort::Quick), 7).unwrap()
    }

    /// Names, and KiB in blocks of 4 KiB.
    fn room(workloads: &[&str]) -> (u64, u64) {
        let Room { content_bytes, names } =
            plan(workloads).room_with_names(|_| true, |_, name| name.starts_with("there"), 4096);
        (names, content_bytes >> 10)
    }

    const STAT: &str = "name = 'stat'\nengine = 'filestat'\nfile_count = 100";
    const CREATE: &str = "name = 'create'\nengine = 'filecreate'\nfile_count = 300";
    const DELETE: &str = "name = 'delete'\nengine = 'filedelete'\nfile_count = 200\nsize = '1000KiB'";
    /// A set that ends, and one that stays.
    const SETS: [&str; 2] = [
        "name = 'a'\nphases = 'write,delete'\nfile_count = 50\nfile_size = '1k'",
        "name = 'b'\nphases = 'read'\nfile_count = 20\nfile_size = '1k'",
    ];

    #[test]
    fn files_are_counted_for_each_job_that_has_its_own_and_once_for_all_cells_of_a_target() {
        assert_eq!(room(&[STAT]), (100, 0));
        assert_eq!(room(&[&format!("{STAT}\njobs = 4")]), (100, 0));
        assert_eq!(room(&[&format!("{STAT}\njobs = 4\nfiles = 'per-job'")]), (400, 0));
        assert_eq!(room(&[&format!("{STAT}\nsize = '1000KiB'")]), (100, 1200));
        assert_eq!(room(&[&format!("{STAT}\nsize = '1000KiB'\nlayout = 'empty'")]), (100, 0));
        assert_eq!(room(&[STAT, CREATE]), (300, 0));
        assert_eq!(room(&[STAT, CREATE, DELETE]), (300, 200 * 8));
        assert_eq!(room(&[&format!("{CREATE}\noperations = 30")]), (30, 0));
        assert_eq!(room(&[STAT, &format!("{CREATE}\noperations = 30")]), (130, 0));
    }

    #[test]
    fn names_that_were_chosen_are_counted_as_far_as_no_file_has_them() {
        let names = |first: &str, last: &str| {
            let shape = "engine = 'filestat'\nsize = '20KiB'\nfile_count = 2";
            format!("name = '{first}'\n{shape}\nfile_names = ['{first}', '{last}']")
        };
        assert_eq!(room(&[&names("x", "y")]), (2, 24));
        assert_eq!(room(&[&names("x", "y"), &names("y", "z")]), (3, 36));
        assert_eq!(room(&[&names("there", "y"), STAT]), (101, 12));
        assert_eq!(room(&[&names("there", "there-too")]), (0, 0));
    }

    #[test]
    fn they_are_there_beside_sets_of_files_unless_each_slot_deletes_all_of_them() {
        assert_eq!(room(&SETS), (50 + 20, 280));
        assert_eq!(room(&[SETS[0], SETS[1], STAT]), (50 + 20 + 100, 280));
        assert_eq!(room(&[SETS[0], SETS[1], DELETE]), (20 + 200, 80 + 1600));
        let some = format!("{DELETE}\noperations = 199");
        assert_eq!(room(&[SETS[0], SETS[1], &some]), (50 + 20 + 200, 280 + 1600));
        let beside = plan(&[SETS[0], SETS[1], STAT]);
        assert_eq!(beside.room(|_| true, 4096).names, 50 + 20, "said of sets alone");
        let (here, elsewhere) = (beside.room_with_names(|_| true, |_, _| false, 1), |_: &str| false);
        assert_eq!((here.names, beside.room_with_names(elsewhere, |_, _| false, 1).names), (170, 0));
    }
}
