//! The tables below those of rates: what is to be known besides, of whatever was measured.

use plimsoll_record::record::Record;

use crate::{applications, arrays, file_sets, grid::Grid, lifecycles, pods};

/// Those that there is something for, in their order.
pub(crate) fn grids(record: &Record) -> impl Iterator<Item = Grid> {
    named(record).map(|(_, grid)| grid)
}

/// The same with what each is about.
pub(crate) fn named(record: &Record) -> impl Iterator<Item = (String, Grid)> {
    let grids = [
        ("Commands", applications::grid(record)),
        ("Sets of files", file_sets::grid(record)),
        ("Pods", pods::grid(record)),
        ("Lives of volumes", lifecycles::grid(record)),
    ];
    let alone = grids.into_iter().filter_map(|(title, grid)| Some((title.to_owned(), grid?)));
    arrays::grids(record).into_iter().chain(alone)
}
