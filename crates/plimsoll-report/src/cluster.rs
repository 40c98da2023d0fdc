//! What is in a cluster, as tables.

use jiff::Timestamp;
use plimsoll_record::numbers;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    grid::{Column, Grid, Side},
    table::WIDTH_MIN,
};

/// A run in a cluster.
#[derive(Clone, Debug, Serialize)]
pub struct RunRow {
    /// Its identity.
    pub id: Uuid,
    /// The Job that it is.
    pub job: String,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// `waiting`, `running`, `done`, `failed` or `leaving`.
    pub state: String,
    /// What it measures.
    pub targets: Vec<String>,
    /// Where it runs, or what is wrong.
    pub detail: String,
}

/// A table of runs.
pub fn runs(rows: &[RunRow], width: usize) -> String {
    let column = |head, side, rank, value: &dyn Fn(&RunRow) -> String| {
        Column::new(head, side, rank, rows.iter().map(value).collect())
    };
    let columns = vec![
        column("run", Side::Left, 0, &|row| row.id.to_string()),
        column("created", Side::Left, 2, &|row| numbers::or_absent(row.created, numbers::moment)),
        column("state", Side::Left, 0, &|row| row.state.clone()),
        column("targets", Side::Left, 1, &|row| row.targets.join(", ")),
        column("", Side::Left, 0, &|row| row.detail.clone()),
    ];
    Grid::breaking(4, columns).fit(width.max(WIDTH_MIN)).text()
}
