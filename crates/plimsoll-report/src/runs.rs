//! The runs of a history as a table, one a row.

use jiff::Timestamp;
use plimsoll_record::numbers;

use crate::grid::{Column, Grid, Side};

/// Targets of a run that are named one by one.
const TARGETS_NAMED: usize = 6;

/// A run in the list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow<'a> {
    /// As much of its id as names it.
    pub id: &'a str,
    /// When it began.
    pub started: Timestamp,
    /// The name given to it.
    pub name: Option<&'a str>,
    /// The targets' paths.
    pub targets: &'a [String],
    /// How many cells it had.
    pub cells: usize,
    /// The rate of the cell with the highest one.
    pub best_iops: Option<f64>,
    /// The same for throughput.
    pub best_bytes_per_second: Option<f64>,
    /// How it ended, unless it did all that was planned.
    pub ending: Option<&'a str>,
}

impl RunRow<'_> {
    fn at(&self, format: &str) -> String {
        self.started.strftime(format).to_string()
    }

    /// Name, targets and ending in one text.
    fn what(&self) -> String {
        let name = self.name.map_or_else(String::new, |name| format!("{name}: "));
        let ending = self.ending.map_or_else(String::new, |ending| format!(" ({ending})"));
        format!("{name}{}{ending}", target_names(self.targets))
    }
}

/// The first targets, and how many more there are.
fn target_names(targets: &[String]) -> String {
    match targets.split_at_checked(TARGETS_NAMED) {
        Some((first, others)) if !others.is_empty() => {
            format!("{} and {} more", first.join(", "), numbers::count(others.len() as u64))
        }
        _ => targets.join(", "),
    }
}

/// The list of runs. Where the width is short, all words about a run share a column that breaks, and then the less
/// important numbers go: an id is there to be copied, so it stays whole.
pub fn runs(rows: &[RunRow<'_>], width: usize) -> String {
    let text = |value: fn(&RunRow<'_>) -> String| rows.iter().map(value).collect::<Vec<_>>();
    let id = || Column::new("id", Side::Left, 0, text(|row| row.id.to_owned()));
    let started =
        |format: &str| Column::new("started (UTC)", Side::Left, 1, rows.iter().map(|row| row.at(format)).collect());
    let rates = || {
        vec![
            Column::new("cells", Side::Right, 4, text(|row| numbers::count(row.cells as u64))),
            Column::new("best IOPS", Side::Right, 2, text(|row| numbers::or_absent(row.best_iops, numbers::iops))),
            Column::new(
                format!("best {}", numbers::THROUGHPUT_UNIT),
                Side::Right,
                3,
                text(|row| numbers::or_absent(row.best_bytes_per_second, numbers::throughput)),
            ),
        ]
    };
    let mut whole = vec![id(), started("%Y-%m-%d %H:%M")];
    whole.push(Column::new("name", Side::Left, 0, text(|row| row.name.unwrap_or_default().to_owned())));
    whole.push(Column::new("targets", Side::Left, 0, text(|row| target_names(row.targets))));
    whole.extend(rates());
    if rows.iter().any(|row| row.ending.is_some()) {
        whole.push(Column::new("ended", Side::Left, 0, text(|row| row.ending.unwrap_or_default().to_owned())));
    }
    let whole = Grid::new(whole);
    if whole.fits(width) {
        return whole.text();
    }
    let joined = |format| {
        let what = Column::new("targets", Side::Left, 0, rows.iter().map(RunRow::what).collect());
        Grid::breaking(2, [vec![id(), started(format), what], rates()].concat())
    };
    let dated = joined("%Y-%m-%d %H:%M");
    if dated.fits(width) { dated.text() } else { joined("%m-%d %H:%M").fit(width).text() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<'a>(name: &'a str, targets: &'a [String], ending: Option<&'a str>) -> RunRow<'a> {
        RunRow {
            id: "0199c0de-7a3e",
            started: "2025-10-08T11:30Z".parse().unwrap(),
            name: Some(name).filter(|name| !name.is_empty()),
            targets,
            cells: 6,
            best_iops: Some(5100.0),
            best_bytes_per_second: Some(20_889_600.0),
            ending,
        }
    }

    fn widest(text: &str) -> usize {
        text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
    }

    #[test]
    fn a_run_is_one_line_with_its_time_and_its_best_numbers() {
        let (data, disk) = (["/mnt/data".to_owned()], ["/dev/sdc".to_owned()]);
        insta::assert_snapshot!(runs(&[row("first", &data, None), row("", &disk, Some("lost"))], 100), @r"
        id             started (UTC)     name   targets    cells  best IOPS  best MB/s  ended
        ─────────────────────────────────────────────────────────────────────────────────────
        0199c0de-7a3e  2025-10-08 11:30  first  /mnt/data      6      5,100       20.9
        0199c0de-7a3e  2025-10-08 11:30         /dev/sdc       6      5,100       20.9  lost
        ");
    }

    #[test]
    fn sixty_columns_hold_what_matters_most() {
        let (data, disk) = (["/mnt/data".to_owned()], ["/dev/sdc".to_owned(), "/dev/sdd".to_owned()]);
        insta::assert_snapshot!(runs(&[row("first", &data, None), row("", &disk, Some("lost"))], 60), @r"
        id             started (UTC)  targets             best IOPS
        ───────────────────────────────────────────────────────────
        0199c0de-7a3e  10-08 11:30    first: /mnt/data        5,100
        0199c0de-7a3e  10-08 11:30    /dev/sdc, /dev/sdd      5,100
                                      (lost)
        ");
    }

    #[test]
    fn long_names_fit_any_width_and_leave_ids_whole() {
        let name = "a name of many words which nobody could foresee and nobody forbade";
        let target = ["/mnt/disks/pvc-4dd5e1a2-87b2-4a66-a5c9-bd0b2f54a1c3/globalmount/data".to_owned()];
        for width in [40, 60, 80, 100, 160] {
            let text = runs(&[row(name, &target, Some("interrupted"))], width);
            assert!(widest(&text) <= width, "{width}:\n{text}");
            assert!(text.contains("0199c0de-7a3e") && text.contains("interrupted"), "{text}");
            // Only the very narrowest do without the time.
            assert!(width < 60 || text.contains("10-08 11:30"), "{text}");
            assert!(text.lines().count() < 14, "{text}");
        }
    }

    #[test]
    fn many_targets_are_counted() {
        let targets: Vec<String> = (0..10).map(|number| format!("t{number}")).collect();
        let text = runs(&[row("", &targets, None)], 120);
        assert!(text.contains("t0, t1, t2, t3, t4, t5 and 4 more"), "{text}");
        let text = runs(&[row("", &targets[..6], None)], 120);
        assert!(text.contains("t4, t5 "), "{text}");
    }
}
