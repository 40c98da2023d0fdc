//! Arrays of disks: whether more disks gave more, and whether each of them did its part.

use plimsoll_record::{
    environment::ArrayEnvironment,
    numbers::{iops, percent},
    record::{Cell, Record},
    results::{Finding, MemberActivity, Severity},
};
use plimsoll_workload::{array::Array, plan::Pacing};
use serde_json::json;

use super::rate;
use crate::findings::finding;

/// How far from its part a disk may be.
const BALANCE: f64 = 0.05;
/// Operations of all disks together from which on their parts are told.
const OPERATIONS_MIN: u64 = 1000;
/// How many operations in flight keep a disk busy.
const IN_FLIGHT_MIN: u64 = 4;
/// How many standard deviations are no more than chance, where operations fall on disks at random.
const CHANCE: f64 = 4.0;
/// A gain below this share of what more disks promise is none.
const GAIN: f64 = 0.25;

/// Sentences about cells of arrays that differ in the number of their disks alone.
pub fn of_arrays(record: &Record) -> Vec<(usize, Finding)> {
    let of_cell = |(index, cell): (usize, &Cell)| {
        // Where a rate was asked for, all arrays do that.
        let plan = cell.blocks().filter(|plan| plan.pacing == Pacing::Closed)?;
        let (array, rate) = (array_of(cell, record)?, rate(cell)?);
        let fewer = record.cells.iter().filter_map(|other| {
            let base = array_of(other, record).filter(|base| is_smaller(base, array))?;
            (other.workload == cell.workload).then_some((base.array.disks.len(), self::rate(other)?))
        });
        let mut fewer: Vec<(usize, f64)> = fewer.collect();
        fewer.sort_by_key(|(disks, _)| *disks);
        let disks = array.array.disks.len();
        let brings_nothing = |(base, base_rate): &(usize, f64)| {
            let (promised, gain) = (disks as f64 / *base as f64, rate / base_rate);
            gain - 1.0 < GAIN * (promised - 1.0)
        };
        // Where the first ones brought something, the last one may not have.
        let (base, base_rate) = [fewer.first(), fewer.last()].into_iter().flatten().copied().find(brings_nothing)?;
        let in_flight = u64::from(plan.jobs) * u64::from(plan.queue_depth);
        let why = if in_flight < IN_FLIGHT_MIN * disks as u64 {
            format!(
                "with {in_flight} operations in flight not all of them are busy, so this does not tell what they can \
                 do: raise --queue-depth or --jobs"
            )
        } else {
            let advice = match array.groups.len() {
                0 => {
                    "give each a controller, a storage account or a backing disk of its own, or look for a limit of \
                     the machine"
                }
                1 => "take disks of several groups, because these have a limit in common",
                _ => {
                    "the groups are not what holds them back: look for a limit of the machine, or for what is behind \
                     all"
                }
            };
            format!("what binds is something that they share, so more of them bring nothing; {advice}")
        };
        let text = format!("{disks} disks gave {} IOPS, and {base} gave {}: {why}", iops(rate), iops(base_rate));
        let evidence = [
            ("disks", json!(disks)),
            ("iops", json!(rate)),
            ("disks_base", json!(base)),
            ("iops_base", json!(base_rate)),
        ];
        Some((index, finding("no-gain-from-disks", Severity::Warning, text, &evidence)))
    };
    record.cells.iter().enumerate().filter_map(of_cell).collect()
}

/// Disks of an array that did more or less than their part. Of others nobody knows whether there are parts: mirrors,
/// caches and several paths to one disk are not to be loaded alike.
pub(super) fn unbalanced(cell: &Cell, record: &Record) -> Option<Finding> {
    let own = array_of(cell, record)?;
    let members = &cell.device.as_ref()?.members;
    let operations = |member: &MemberActivity| member.read_operations + member.write_operations;
    let all: u64 = members.iter().map(operations).sum();
    if members.len() < 2 || all < OPERATIONS_MIN {
        return None;
    }
    let even = all as f64 / members.len() as f64;
    let off = |member: &MemberActivity| operations(member) as f64 / even - 1.0;
    let worst = members.iter().max_by(|one, other| off(one).abs().total_cmp(&off(other).abs()))?;
    let differs = off(worst);
    if differs.abs() <= BALANCE.max(CHANCE / even.sqrt()) {
        return None;
    }
    let direction = if differs > 0.0 { "more" } else { "less" };
    let why = if own.array.kind.is_apart() {
        "each disk has jobs of its own, so this is what the disks differ in, or get of what they share"
    } else {
        "the disks of the array are not loaded alike, so the slowest binds; a region much larger than the chunk, or a \
         smaller chunk, evens that out"
    };
    let text =
        format!("{} did {} {direction} than its part of the operations: {why}", worst.name, percent(differs.abs()));
    let evidence = [("disk", json!(worst.name)), ("share", json!(operations(worst) as f64 / all as f64))];
    Some(finding("unbalanced-disks", Severity::Warning, text, &evidence))
}

fn array_of<'a>(cell: &Cell, record: &'a Record) -> Option<&'a ArrayEnvironment> {
    record.environment.targets.iter().find(|target| target.name == cell.target)?.array.as_ref()
}

/// Whether an array is another one with fewer disks. One disk is of no kind.
fn is_smaller(base: &ArrayEnvironment, array: &ArrayEnvironment) -> bool {
    let (less, more) = (&base.array, &array.array);
    let what = |array: &Array| (array.chunk_bytes, array.file_system, array.block_bytes, array.cluster_bytes);
    base.stripe == array.stripe
        && less.disks.len() < more.disks.len()
        && (less.disks.len() == 1 || (less.kind, less.placement) == (more.kind, more.placement))
        && what(less) == what(more)
}

#[cfg(test)]
mod tests {
    use plimsoll_measure::latency::LatencyHistogram;
    use plimsoll_record::{
        builder::RecordBuilder,
        environment::TargetEnvironment,
        event::{RunEvent, SlotDirection, SlotResult},
        results::DeviceActivity,
    };
    use plimsoll_workload::array::Striping;

    use super::*;
    use crate::test_plans::started;

    /// What is said of one disk, of two and so on, at these rates.
    fn said(rates: &[u64], groups: &str) -> Vec<(usize, String)> {
        said_of(rates, groups, "queue_depth = 16")
    }

    fn said_of(rates: &[u64], groups: &str, load: &str) -> Vec<(usize, String)> {
        let (devices, disks) = (&["a", "b", "c"][..rates.len()], (1..=rates.len()).collect::<Vec<_>>());
        let text = format!("devices = {devices:?}\n{groups}\n[[array]]\nkind = 'md'\ndisks = {disks:?}");
        let arrays = toml::from_str::<Striping>(&text).unwrap().expand().unwrap();
        let mut started = started(&format!("rw = 'randread'\n{load}"));
        let cell = started.plan.cells.remove(0);
        for array in arrays {
            let (mut cell, name) = (cell.clone(), array.name.clone());
            cell.target.clone_from(&name);
            started.plan.cells.push(cell);
            let groups = if groups.is_empty() { Vec::new() } else { vec!["x".to_owned()] };
            let own = ArrayEnvironment { stripe: "stripe".to_owned(), id: None, array, disks: Vec::new(), groups };
            started.environment.targets.push(TargetEnvironment {
                name,
                array: Some(own),
                ..TargetEnvironment::default()
            });
        }
        let mut builder = RecordBuilder::new(started);
        for (cell, &rate) in rates.iter().enumerate() {
            let mut histogram = LatencyHistogram::fine();
            histogram.record_many(1_000_000, rate);
            let read = Some(SlotDirection { operations: rate, bytes: 0, histogram });
            let slot = SlotResult { cell, elapsed_ns: 1_000_000_000, read, ..SlotResult::default() };
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
        }
        let found = of_arrays(&builder.finish()).into_iter();
        found.map(|(cell, finding)| (cell, finding.text)).collect()
    }

    #[test]
    fn disks_that_bring_nothing_are_told_with_what_to_try() {
        assert_eq!(said(&[500, 1000], ""), []);
        assert_eq!(said(&[500, 700], ""), [], "a little is something");
        let [(cell, text)] = &said(&[500, 510], "")[..] else { panic!("one finding") };
        assert!(*cell == 1 && text.starts_with("2 disks gave 510 IOPS, and 1 gave 500"), "{text}");
        assert!(text.contains("a controller, a storage account"), "{text}");
        let [(_, text)] = &said(&[500, 510], "groups = ['x', 'x']")[..] else { panic!("one finding") };
        assert!(text.contains("take disks of several groups"), "{text}");
        let [(2, text)] = &said(&[500, 1000, 1010], "")[..] else { panic!("one finding") };
        assert!(text.starts_with("3 disks gave 1,010 IOPS, and 2 gave 1,000"), "{text}");
    }

    #[test]
    fn loads_that_cannot_keep_disks_busy_say_nothing_of_what_those_share() {
        let [(1, text)] = &said_of(&[500, 510], "", "queue_depth = 4")[..] else { panic!("one finding") };
        assert!(text.contains("with 4 operations in flight") && !text.contains("share"), "{text}");
        assert_eq!(said_of(&[500, 500], "", "queue_depth = 16\nrate = 500"), []);
    }

    /// What is said of the disks of an array, or of a device that is something else, at so many operations each.
    fn balance_of(operations: &[u64], is_array: bool) -> Option<String> {
        let mut started = started("rw = 'randread'");
        let text = "devices = ['a', 'b', 'c']\n[[array]]\nkind = 'md'\ndisks = [3]";
        let array = toml::from_str::<Striping>(text).unwrap().expand().unwrap().remove(0);
        let own = ArrayEnvironment { stripe: "stripe".into(), id: None, array, disks: Vec::new(), groups: Vec::new() };
        let name = started.plan.cells[0].target.clone();
        let target = TargetEnvironment { name, array: is_array.then_some(own), ..TargetEnvironment::default() };
        started.environment.targets.push(target);
        let mut record = RecordBuilder::new(started).finish();
        let member = |(index, read_operations): (usize, &u64)| MemberActivity {
            name: format!("sd{index}"),
            read_operations: *read_operations,
            ..MemberActivity::default()
        };
        let members = operations.iter().enumerate().map(member).collect();
        record.cells[0].device = Some(DeviceActivity { members, ..DeviceActivity::default() });
        unbalanced(&record.cells[0], &record).map(|finding| finding.text)
    }

    #[test]
    fn disks_of_mirrors_and_paths_of_one_disk_have_no_parts() {
        assert!(balance_of(&[200_000, 0], true).is_some());
        assert_eq!(balance_of(&[200_000, 0], false), None);
    }

    #[test]
    fn disks_that_do_more_or_less_than_their_part_are_told() {
        let with = |operations: &[u64]| balance_of(operations, true);
        assert_eq!(with(&[1000, 1040, 1010]), None);
        assert_eq!(with(&[5, 50]), None, "too few to tell");
        assert_eq!(with(&[1000, 1150]), None, "chance does that");
        assert!(with(&[100_000, 115_000]).is_some());
        let text = with(&[1000, 1500, 1000]).unwrap();
        assert!(text.starts_with("sd1 did 29 % more than its part"), "{text}");
    }
}
