//! The lives of volumes: how long each phase took, a row for each target.

use plimsoll_record::{
    lifecycle::{Phases, VolumeLifecycle},
    numbers,
    record::Record,
};

use crate::{
    grid::{Column, Grid, Side},
    printable,
};

/// The table, when the record has volumes whose lives were seen.
pub(crate) fn grid(record: &Record) -> Option<Grid> {
    let mut targets: Vec<&str> = Vec::new();
    for life in &record.volumes {
        if !targets.contains(&life.target.as_str()) {
            targets.push(&life.target);
        }
    }
    let title = |target: &&str| match lives(record, target).count() {
        1 => (*target).to_owned(),
        count => format!("{target}, median and longest of {}", numbers::count(count as u64)),
    };
    let mut columns = vec![Column::new("volume", Side::Left, 0, targets.iter().map(title).collect())];
    for (index, (name, _)) in Phases::default().named().into_iter().enumerate() {
        let value = |target: &&str| spread(lives(record, target), |life| life.phases.named()[index].1);
        let values: Vec<String> = targets.iter().map(value).collect();
        if values.iter().any(|value| value != ABSENT) {
            columns.push(Column::new(name, Side::Right, rank(name), values));
        }
    }
    (columns.len() > 1).then(|| Grid::new(columns))
}

fn lives<'a>(record: &'a Record, target: &'a str) -> impl Iterator<Item = &'a VolumeLifecycle> {
    record.volumes.iter().filter(move |life| life.target == target)
}

/// What stands where a phase was not seen.
const ABSENT: &str = "-";

/// One value, or the median with the longest.
fn spread<'a>(
    lives: impl Iterator<Item = &'a VolumeLifecycle>,
    phase: impl Fn(&VolumeLifecycle) -> Option<u64>,
) -> String {
    let mut values: Vec<u64> = lives.filter_map(phase).collect();
    values.sort_unstable();
    match values.as_slice() {
        [] => ABSENT.to_owned(),
        [value] => numbers::duration(*value),
        values => {
            let median = numbers::duration(values[(values.len() - 1) / 2]);
            format!("{median} / {}", numbers::duration(values[values.len() - 1]))
        }
    }
}

/// What people ask for first stays longest.
fn rank(phase: &str) -> u8 {
    match phase {
        "provision" | "attach" | "mount" | "ready" => 1,
        "detach" | "delete" => 2,
        "first I/O" | "bind" => 3,
        "schedule" | "start" => 4,
        _ => 5,
    }
}

/// What failed on the way, and where clocks do not agree: sentences, each with whether something is wrong with numbers.
pub(crate) fn notes(record: &Record) -> Vec<(bool, String)> {
    let mut notes = Vec::new();
    for life in &record.volumes {
        let target = printable::line(&life.target);
        for disagreement in &life.disagreements {
            let [seen, told] = [disagreement.seen_ns, disagreement.told_ns].map(numbers::duration);
            notes.push((
                true,
                format!(
                    "{target}: {} took {seen} as it was seen, and {told} by the cluster's events",
                    disagreement.phase
                ),
            ));
        }
        for failure in &life.failures {
            let times = if failure.count == 1 { "once".to_owned() } else { format!("{} times", failure.count) };
            notes.push((false, format!("{target}: {} {times}: {}", failure.reason, failure.message)));
        }
    }
    notes.dedup();
    notes
}
