//! What is in a cluster, as tables.

use jiff::Timestamp;
use plimsoll_record::{
    numbers,
    summary::{CellSummary, Summary},
};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    grid::{Column, Grid, Side},
    printable,
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
    /// How many pods it has.
    pub pods: u32,
    /// What it has measured, in short, once it has ended; of several pods what the first did alone.
    pub summary: Option<Summary>,
}

/// The rates of a run, as many as a line holds.
fn in_short(summary: &Summary) -> String {
    const CELLS_MAX: usize = 3;
    let rate = |cell: &CellSummary| {
        let what = [&cell.target, &cell.workload].map(|name| printable::line(name)).join(" ");
        format!("{what} {} IOPS", numbers::or_absent(cell.did.iops(), numbers::iops))
    };
    let mut rates: Vec<String> = summary.cells.iter().take(CELLS_MAX).map(rate).collect();
    let others = summary.cells.len().saturating_sub(CELLS_MAX) + summary.left_out;
    if others > 0 {
        rates.push(format!("and {others} more"));
    }
    rates.join(", ")
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
        column("", Side::Left, 0, &|row| match &row.summary {
            Some(summary) if row.pods > 1 => {
                format!("{}: its first pod alone {}", row.detail, in_short(summary))
            }
            Some(summary) => format!("{}: {}", row.detail, in_short(summary)),
            None => row.detail.clone(),
        }),
    ];
    Grid::breaking(4, columns).fit(width.max(WIDTH_MIN)).text()
}
