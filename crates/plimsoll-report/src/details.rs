//! The tables below those of rates: what is to be known besides, of whatever was measured.

use plimsoll_record::record::Record;

use crate::{applications, arrays, file_sets, grid::Grid, lifecycles, pods};

/// A table.
pub(crate) struct Detail {
    /// What it is about.
    pub title: String,
    /// Whether there may be several of the same heads, which then do not tell what it is about.
    pub needs_title: bool,
    /// What it says.
    pub grid: Grid,
}

/// Those that there is something for, in their order.
pub(crate) fn of(record: &Record) -> impl Iterator<Item = Detail> {
    let alone = [
        ("Commands", applications::grid(record)),
        ("Sets of files", file_sets::grid(record)),
        ("Pods", pods::grid(record)),
        ("Lives of volumes", lifecycles::grid(record)),
    ];
    let alone = alone
        .into_iter()
        .filter_map(|(title, grid)| Some(Detail { title: title.to_owned(), needs_title: false, grid: grid? }));
    let of_arrays = arrays::grids(record).into_iter();
    of_arrays.map(|(title, grid)| Detail { title, needs_title: true, grid }).chain(alone)
}
