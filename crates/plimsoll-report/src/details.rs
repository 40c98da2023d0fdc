//! The tables below those of rates: what is to be known besides, of whatever was measured.

use plimsoll_record::record::Record;

use crate::{applications, file_sets, grid::Grid, lifecycles, pods};

/// Those that there is something for, in their order.
pub(crate) fn grids(record: &Record) -> impl Iterator<Item = Grid> {
    let grids = [applications::grid(record), file_sets::grid(record), pods::grid(record), lifecycles::grid(record)];
    grids.into_iter().flatten()
}
