//! The lives of volumes: how long each phase took, a row for each target.

use plimsoll_record::{
    lifecycle::{Disagreement, Failure, Phases, UsedAs, VolumeLifecycle},
    numbers,
    record::Record,
};

use crate::{
    grid::{Column, Grid, Side},
    printable,
};

/// The table, when the record has volumes whose lives were seen.
pub(crate) fn grid(record: &Record) -> Option<Grid> {
    let rows = rows(record);
    let mut columns = vec![Column::new("volume", Side::Left, 0, rows.iter().flat_map(titles).collect())];
    for (index, (name, _)) in Phases::default().named().into_iter().enumerate() {
        let is_told = name == TOLD;
        let values: Vec<String> = rows.iter().flat_map(|row| row.phase(index, is_told)).collect();
        if values.iter().any(|value| value != ABSENT) {
            columns.push(Column::new(name, Side::Right, rank(name), values));
        }
    }
    (columns.len() > 1).then(|| Grid::new(columns))
}

/// The uses of one kind of the volumes of one target.
struct Row<'a> {
    target: &'a str,
    used_as: UsedAs,
    lives: Vec<&'a VolumeLifecycle>,
}

impl<'a> Row<'a> {
    /// Those that did not fail.
    fn well(&self) -> impl Iterator<Item = &'a VolumeLifecycle> {
        self.lives.iter().copied().filter(|life| life.failed.is_none())
    }

    /// How many were used as they should be: others were ended before. Who comes late sees of none when it was ready.
    fn used(&self) -> usize {
        let ready = self.well().filter(|life| life.phases.ready_ns.is_some()).count();
        if ready > 0 { ready } else { self.well().count() }
    }

    /// How long a phase took, as it was seen or else as events tell.
    fn phase(&self, index: usize, is_told: bool) -> Vec<String> {
        let seen = self.values(
            |life| life.phases.named()[index].1,
            |ns| match ns {
                // Watches deliver what they have at once.
                ..SEEN_MIN_NS if !is_told => "<1 ms".to_owned(),
                ns => numbers::duration(ns),
            },
        );
        if seen.iter().any(|value| value != ABSENT) {
            return seen;
        }
        self.values(|life| life.phases_by_events.named()[index].1, |ns| format!("~{}", numbers::duration(ns)))
    }

    /// Of one volume, or the median and the longest of several.
    fn values(&self, of: impl Fn(&VolumeLifecycle) -> Option<u64>, text: impl Fn(u64) -> String) -> Vec<String> {
        let mut values: Vec<u64> = self.well().filter_map(of).collect();
        values.sort_unstable();
        let text = |value: Option<&u64>| value.map_or_else(|| ABSENT.to_owned(), |value| text(*value));
        let middle = |share: usize| values.get(values.len().saturating_sub(share) / 2);
        let median = middle(1).zip(middle(0)).map(|(low, high)| low.midpoint(*high));
        let mut texts = vec![text(median.as_ref())];
        if self.used() > 1 {
            texts.push(text(values.last()));
        }
        texts
    }
}

/// Targets in their order, the uses of each in theirs.
fn rows(record: &Record) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut targets: Vec<&str> = Vec::new();
    for life in &record.volumes {
        if !targets.contains(&life.target.as_str()) {
            targets.push(&life.target);
        }
        match rows.iter_mut().find(|row| row.target == life.target && row.used_as == life.used_as) {
            Some(row) => row.lives.push(life),
            None => rows.push(Row { target: &life.target, used_as: life.used_as, lives: vec![life] }),
        }
    }
    rows.sort_by_key(|row| (targets.iter().position(|target| *target == row.target), row.used_as));
    rows
}

/// What the lines of the table are called that the row has: one, or two of several volumes.
fn titles(row: &Row<'_>) -> Vec<String> {
    let name = named(row.target, row.used_as);
    let failed = row.lives.len() - row.well().count();
    let failed = if failed > 0 { format!(" ({} failed)", numbers::count(failed as u64)) } else { String::new() };
    match row.used() {
        0 | 1 => vec![format!("{name}{failed}")],
        count => {
            vec![format!("{name}, median of {}{failed}", numbers::count(count as u64)), format!("{name}, longest")]
        }
    }
}

/// A use of a volume of a target.
fn named(target: &str, used_as: UsedAs) -> String {
    match used_as {
        UsedAs::First => target.to_owned(),
        UsedAs::Again => format!("{target}, mounted again"),
        UsedAs::Moved => format!("{target}, on another node"),
        UsedAs::Restored => format!("{target}, from a snapshot"),
        UsedAs::Cloned => format!("{target}, cloned"),
    }
}

/// The phase whose beginning and end the program itself tells.
const TOLD: &str = "first I/O";

/// Less than what watches tell apart.
const SEEN_MIN_NS: u64 = 1_000_000;

/// What stands where a phase was not seen.
const ABSENT: &str = "-";

/// What people ask for first stays longest.
fn rank(phase: &str) -> u8 {
    match phase {
        "provision" | "attach" | "mount" | "ready" => 1,
        "detach" | "delete" | "snapshot" | "grow" => 2,
        "first I/O" | "bind" => 3,
        "schedule" | "start" => 4,
        _ => 5,
    }
}

/// Lives that failed are told one by one up to so many.
const FAILED_MAX: usize = 5;

/// Which lives failed, what failed on the way, and where clocks do not agree: sentences, each with whether something is
/// wrong with numbers. What happened to many volumes is told of one.
pub(crate) fn notes(record: &Record) -> Vec<(bool, String)> {
    let name = |life: &VolumeLifecycle| printable::line(&named(&life.target, life.used_as)).into_owned();
    let failed = || record.volumes.iter().filter_map(|life| Some((life, life.failed.as_ref()?)));
    let mut notes: Vec<(bool, String)> =
        failed().take(FAILED_MAX).map(|(life, why)| (true, format!("{}: failed: {why}", name(life)))).collect();
    if let Some(more) = failed().count().checked_sub(FAILED_MAX).filter(|more| *more > 0) {
        notes.push((true, format!("{} more failed: the record has why", numbers::count(more as u64))));
    }
    let is_by_events = |life: &VolumeLifecycle| {
        let [seen, told] =
            [&life.phases, &life.phases_by_events].map(|phases| phases.provision_ns.or(phases.attach_ns));
        seen.is_none() && told.is_some()
    };
    if record.volumes.iter().any(is_by_events) {
        notes.push((false, "nobody watched volumes from the beginning: times with ~ are those of events".to_owned()));
    }
    let mut several = Several::default();
    for life in &record.volumes {
        for Disagreement { phase, seen_ns, told_ns } in &life.disagreements {
            let [seen, told] = [*seen_ns, *told_ns].map(numbers::duration);
            let text = format!("{phase} took {seen} as it was seen, and {told} by the cluster's events");
            several.add(true, name(life), phase, 1, text);
        }
        for Failure { reason, message, count } in &life.failures {
            several.add(false, name(life), reason, *count, message.clone());
        }
    }
    notes.extend(several.sentences());
    notes
}

/// What happened to several volumes, in the order in which it was added first.
#[derive(Default)]
struct Several(Vec<Happened>);

struct Happened {
    is_wrong: bool,
    name: String,
    what: String,
    lives: u64,
    times: u64,
    text: String,
}

impl Several {
    fn add(&mut self, is_wrong: bool, name: String, what: &str, times: u32, text: String) {
        let known = self.0.iter_mut().find(|one| (one.is_wrong, &*one.name, &*one.what) == (is_wrong, &*name, what));
        if let Some(known) = known {
            (known.lives, known.times) = (known.lives + 1, known.times + u64::from(times));
            return;
        }
        self.0.push(Happened { is_wrong, name, what: what.to_owned(), lives: 1, times: times.into(), text });
    }

    fn sentences(self) -> impl Iterator<Item = (bool, String)> {
        self.0.into_iter().map(|Happened { is_wrong, name, what, lives, times, text }| {
            let more = if lives == 1 { String::new() } else { format!(" (one of {})", numbers::count(lives)) };
            let times = if times == 1 { "once".to_owned() } else { format!("{} times", numbers::count(times)) };
            let text = if is_wrong {
                format!("{name}: {text}{more}")
            } else {
                format!("{name}: {what} {times}{more}: {text}")
            };
            (is_wrong, text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_records;

    const MS: u64 = 1_000_000;

    fn life(target: &str, used_as: UsedAs, ready_ms: u64) -> VolumeLifecycle {
        let phases = Phases { ready_ns: Some(ready_ms * MS), ..Phases::default() };
        VolumeLifecycle { target: target.to_owned(), used_as, phases, ..VolumeLifecycle::default() }
    }

    fn record(volumes: Vec<VolumeLifecycle>) -> Record {
        Record { volumes, ..test_records::canonical() }
    }

    #[test]
    fn uses_of_a_volume_have_rows_of_their_own_and_what_failed_no_part_in_numbers() {
        let mut broken = life("slow", UsedAs::First, 9000);
        broken.failed = Some("the volume is not made".to_owned());
        let record = record(vec![
            life("slow", UsedAs::First, 1000),
            life("slow", UsedAs::Cloned, 700),
            life("slow", UsedAs::Again, 400),
            life("fast", UsedAs::First, 100),
            life("slow", UsedAs::First, 2000),
            life("slow", UsedAs::First, 3000),
            broken,
            // Ended before it was used.
            VolumeLifecycle { phases: Phases::default(), ..life("slow", UsedAs::First, 0) },
        ]);
        insta::assert_snapshot!(grid(&record).unwrap().text(), @r"
        volume                         ready
        ────────────────────────────────────
        slow, median of 3 (1 failed)  2.00 s
        slow, longest                 3.00 s
        slow, mounted again           400 ms
        slow, cloned                  700 ms
        fast                          100 ms
        ");
        assert_eq!(notes(&record), [(true, "slow: failed: the volume is not made".to_owned())]);
    }

    #[test]
    fn what_nobody_watched_is_told_by_events_and_what_watches_do_not_tell_apart_is_no_number() {
        let phases = Phases { provision_ns: Some(MS / 10), first_io_ns: Some(MS / 10), ..Phases::default() };
        let seen = VolumeLifecycle { phases, ..life("slow", UsedAs::First, 0) };
        let told = VolumeLifecycle {
            phases: Phases { first_io_ns: Some(5 * MS), ..Phases::default() },
            phases_by_events: Phases { provision_ns: Some(490 * MS), ..Phases::default() },
            ..life("fast", UsedAs::First, 0)
        };
        let record = record(vec![seen, told]);
        insta::assert_snapshot!(grid(&record).unwrap().text(), @r"
        volume  provision  first I/O
        ────────────────────────────
        slow        <1 ms     100 us
        fast      ~490 ms    5.00 ms
        ");
        let note = "nobody watched volumes from the beginning: times with ~ are those of events";
        assert_eq!(notes(&record), [(false, note.to_owned())]);
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        let record = record([1000, 5000, 2000, 3000].map(|ms| life("slow", UsedAs::First, ms)).into());
        insta::assert_snapshot!(grid(&record).unwrap().text(), @r"
        volume              ready
        ─────────────────────────
        slow, median of 4  2.50 s
        slow, longest      5.00 s
        ");
    }

    #[test]
    fn a_record_of_lives_alone_tells_of_no_load_and_is_not_compared() {
        let cells = Vec::new();
        let record = Record { cells, ..record(vec![life("slow", UsedAs::First, 1000)]) };
        let style = crate::table::Style { colour: false };
        let text = crate::table::record(&record, 100, style);
        assert!(text.contains("1.00 s") && !text.contains("engine") && !text.contains("direct I/O"), "{text}");
        let refused = crate::comparison::Comparison::of(&[&record], &crate::comparison::Wishes::default());
        assert!(refused.unwrap_err().to_string().contains("measured no rates"));
    }

    #[test]
    fn what_happens_to_many_volumes_is_one_sentence() {
        let failing = |volume: &str| VolumeLifecycle {
            failures: vec![Failure { reason: "FailedMount".to_owned(), message: volume.to_owned(), count: 2 }],
            ..life("slow", UsedAs::First, 1)
        };
        let text = |volumes: Vec<_>| notes(&record(volumes)).remove(0).1;
        assert_eq!(text(vec![failing("pv-1")]), "slow: FailedMount 2 times: pv-1");
        assert_eq!(text(vec![failing("pv-1"), failing("pv-2")]), "slow: FailedMount 4 times (one of 2): pv-1");
    }
}
