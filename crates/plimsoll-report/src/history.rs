//! The list of earlier runs.

use crate::{
    grid::{Column, Grid, Side},
    numbers,
};

/// A run in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryRow {
    /// Its id, whole; as much of it is shown as tells runs apart.
    pub id: String,
    /// When it began, in the reader's time zone.
    pub started_local: String,
    /// The name given to it; empty without one.
    pub name: String,
    /// The paths of its targets.
    pub targets: Vec<String>,
    /// How many cells it has.
    pub cells: usize,
    /// What it found, in a few words: see [`headline`].
    pub headline: String,
}

/// The list of runs, in the order given. Nothing but a sentence when there are none.
pub fn history(rows: &[HistoryRow], width: usize) -> String {
    if rows.is_empty() {
        return "no runs yet\n".to_owned();
    }
    let text = |value: fn(&HistoryRow) -> String| rows.iter().map(value).collect::<Vec<_>>();
    let mut columns = vec![
        Column::new("run", Side::Left, 0, text(|row| numbers::id_prefix(&row.id).to_owned())),
        Column::new("started", Side::Left, 1, text(|row| row.started_local.clone())),
        Column::new("targets", Side::Left, 0, text(|row| row.targets.join(" "))),
        Column::new("cells", Side::Right, 4, text(|row| numbers::count(row.cells as u64))),
    ];
    if rows.iter().any(|row| !row.name.is_empty()) {
        columns.push(Column::new("name", Side::Left, 3, text(|row| row.name.clone())));
    }
    columns.push(Column::new("found", Side::Left, 2, text(|row| row.headline.clone())));
    Grid::breaking(2, columns).fit(width).text()
}

/// A cell in a few words: `latency-read 1,650 IOPS, 6.76 MB/s, p99 600 us`. What was not measured is left out.
pub fn headline(workload: &str, iops: Option<f64>, bytes_per_second: Option<f64>, p99_ns: Option<u64>) -> String {
    let parts: Vec<String> = [
        iops.map(|iops| format!("{} IOPS", numbers::iops(iops))),
        bytes_per_second.map(|rate| format!("{} {}", numbers::throughput(rate), numbers::THROUGHPUT_UNIT)),
        p99_ns.map(|ns| format!("p99 {}", numbers::latency_in_text(ns as f64))),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!("{workload} {}", if parts.is_empty() { "not run".to_owned() } else { parts.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, targets: &[&str], headline: String) -> HistoryRow {
        HistoryRow {
            id: "0199c0de-7a3e-7000-8000-0000000000a1".into(),
            started_local: "2025-10-08 11:30".into(),
            name: name.into(),
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            cells: 6 * targets.len(),
            headline,
        }
    }

    fn rows() -> Vec<HistoryRow> {
        vec![
            row("", &["/mnt/data"], headline("latency-read", Some(1650.0), Some(6.76e6), Some(600_000))),
            row("before", &["/mnt/a", "/mnt/b"], headline("iops-write", None, None, None)),
        ]
    }

    #[test]
    fn a_run_is_a_line() {
        insta::assert_snapshot!(history(&rows(), 100), @r#"
    run            started           targets        found
    ──────────────────────────────────────────────────────────────────────────────────────────────
    0199c0de-7a3e  2025-10-08 11:30  /mnt/data      latency-read 1,650 IOPS, 6.76 MB/s, p99 600 us
    0199c0de-7a3e  2025-10-08 11:30  /mnt/a /mnt/b  iops-write not run
    "#);
    }

    #[test]
    fn a_narrow_list_keeps_what_identifies_a_run() {
        insta::assert_snapshot!(history(&rows(), 60), @r#"
    run            started           targets
    ──────────────────────────────────────────────
    0199c0de-7a3e  2025-10-08 11:30  /mnt/data
    0199c0de-7a3e  2025-10-08 11:30  /mnt/a /mnt/b
    "#);
    }

    #[test]
    fn no_runs_are_a_sentence() {
        assert_eq!(history(&[], 100), "no runs yet\n");
    }
}
