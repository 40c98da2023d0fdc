//! Whether there is room for all that a plan makes, before any of it is made.

use std::{collections::BTreeSet, path::Path};

use plimsoll_workload::plan::{BlockPlan, CellPlan, Plan, room::Room};

use crate::{
    layout::{self, LayoutError},
    objects::leftovers,
    site::{NewFile, new_files},
};

/// Refuses more files, or more bytes in them, than file systems have room for on which there are sets of files or such
/// whose names are operated on. What is read and written beside those counts too, if this machine `makes` it. Where
/// that alone is made, its bytes are looked at as it is.
pub(crate) fn check(plan: &Plan, makes: bool) -> Result<(), LayoutError> {
    let are_many =
        |cell: &&CellPlan| cell.files().is_some() || cell.blocks().and_then(BlockPlan::name_operation).is_some();
    let of_many: BTreeSet<&Path> = plan.cells.iter().filter(are_many).map(|cell| Path::new(&cell.target)).collect();
    if of_many.is_empty() {
        return Ok(());
    }
    let others = if makes { new_files(plan) } else { Vec::new() };
    check_once(plan, &of_many, &others).or_else(|_| {
        // What dead runs left there goes before anything is made, and needs no room beside it.
        for directory in &of_many {
            let _ = leftovers::sweep_directory(directory);
        }
        check_once(plan, &of_many, &others)
    })
}

fn check_once(plan: &Plan, of_many: &BTreeSet<&Path>, others: &[NewFile]) -> Result<(), LayoutError> {
    let is_there = |target: &str, name: &str| Path::new(target).join(name).symlink_metadata().is_ok();
    let room = |shared: &[&Path], block_bytes: u64| {
        if !shared.iter().any(|directory| of_many.contains(directory)) {
            return Room::default();
        }
        let many = plan.room_with_names(|name| shared.contains(&Path::new(name)), is_there, block_bytes);
        let others = others.iter().filter(|file| shared.contains(&file.directory.as_path()));
        others.fold(many, |room, file| room.and_file(file.bytes, block_bytes))
    };
    let all = of_many.iter().copied().chain(others.iter().map(|file| file.directory.as_path()));
    let all: BTreeSet<&Path> = all.collect();
    layout::check_room(&all.into_iter().collect::<Vec<_>>(), room)
}
