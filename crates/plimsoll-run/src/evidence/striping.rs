//! Arrays of disks: whether more disks gave more, and whether each of them did its part.

use plimsoll_record::{
    environment::ArrayEnvironment,
    numbers::{iops, percent},
    record::{Cell, Record},
    results::{Finding, MemberActivity, Severity},
};
use plimsoll_workload::array::Array;
use serde_json::json;

use super::rate;
use crate::findings::finding;

/// How far from its part a disk may be.
const BALANCE: f64 = 0.05;
/// Operations of all disks together from which on their parts are told.
const OPERATIONS_MIN: u64 = 1000;
/// A gain below this share of what more disks promise is none.
const GAIN: f64 = 0.25;

/// Sentences about cells of arrays that differ in the number of their disks alone.
pub fn of_arrays(record: &Record) -> Vec<(usize, Finding)> {
    let of_cell = |(index, cell): (usize, &Cell)| {
        let (array, rate) = (array_of(cell, record)?, rate(cell)?);
        let fewer = record.cells.iter().filter_map(|other| {
            let base = array_of(other, record).filter(|base| is_smaller(base, array))?;
            (other.workload == cell.workload).then_some((base.array.disks.len(), self::rate(other)?))
        });
        let (base, base_rate) = fewer.min_by_key(|(disks, _)| *disks)?;
        let disks = array.array.disks.len();
        let (promised, gain) = (disks as f64 / base as f64, rate / base_rate);
        if gain - 1.0 >= GAIN * (promised - 1.0) {
            return None;
        }
        let groups = array.groups.len();
        let advice = match groups {
            0 => {
                "give each a controller, a storage account or a backing disk of its own, or look for a limit of the \
                  machine"
            }
            1 => "take disks of several groups, because these have a limit in common",
            _ => "the groups are not what holds them back: look for a limit of the machine, or for what is behind all",
        };
        let text = format!(
            "{disks} disks gave {} IOPS, and {base} gave {}: what binds is something that they share, so more of them \
             bring nothing; {advice}",
            iops(rate),
            iops(base_rate)
        );
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

/// Disks that did more or less than their part.
pub(super) fn unbalanced(cell: &Cell) -> Option<Finding> {
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
    if differs.abs() <= BALANCE {
        return None;
    }
    let direction = if differs > 0.0 { "more" } else { "less" };
    let text = format!(
        "{} did {} {direction} than its part of the operations: the disks of the array are not loaded alike, so the \
         slowest binds; a region much larger than the chunk, or a smaller chunk, evens that out",
        worst.name,
        percent(differs.abs())
    );
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
        && (less.kind == more.kind || less.disks.len() == 1)
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

    /// What is said of one disk and of two, at these rates.
    fn said(rates: [u64; 2], groups: &str) -> Vec<(usize, String)> {
        let text = format!("devices = ['a', 'b']\n{groups}\n[[array]]\nkind = 'md'\ndisks = [1, 2]");
        let arrays = toml::from_str::<Striping>(&text).unwrap().expand().unwrap();
        let mut started = started("rw = 'randread'");
        let cell = started.plan.cells.remove(0);
        for array in arrays {
            let (mut cell, name) = (cell.clone(), array.name.clone());
            cell.target.clone_from(&name);
            started.plan.cells.push(cell);
            let groups = if groups.is_empty() { Vec::new() } else { vec!["x".to_owned()] };
            let own = ArrayEnvironment { stripe: "stripe".to_owned(), array, disks: Vec::new(), groups };
            started.environment.targets.push(TargetEnvironment {
                name,
                array: Some(own),
                ..TargetEnvironment::default()
            });
        }
        let mut builder = RecordBuilder::new(started);
        for (cell, rate) in rates.into_iter().enumerate() {
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
        assert_eq!(said([500, 1000], ""), []);
        assert_eq!(said([500, 700], ""), [], "a little is something");
        let [(cell, text)] = &said([500, 510], "")[..] else { panic!("one finding") };
        assert!(*cell == 1 && text.starts_with("2 disks gave 510 IOPS, and 1 gave 500"), "{text}");
        assert!(text.contains("a controller, a storage account"), "{text}");
        let [(_, text)] = &said([500, 510], "groups = ['x', 'x']")[..] else { panic!("one finding") };
        assert!(text.contains("take disks of several groups"), "{text}");
    }

    #[test]
    fn disks_that_do_more_or_less_than_their_part_are_told() {
        let with = |operations: &[u64]| {
            let mut record = RecordBuilder::new(started("rw = 'randread'")).finish();
            let member = |(index, read_operations): (usize, &u64)| MemberActivity {
                name: format!("sd{index}"),
                read_operations: *read_operations,
                ..MemberActivity::default()
            };
            let members = operations.iter().enumerate().map(member).collect();
            record.cells[0].device = Some(DeviceActivity { members, ..DeviceActivity::default() });
            unbalanced(&record.cells[0]).map(|finding| finding.text)
        };
        assert_eq!(with(&[1000, 1040, 1010]), None);
        assert_eq!(with(&[5, 50]), None, "too few to tell");
        let text = with(&[1000, 1500, 1000]).unwrap();
        assert!(text.starts_with("sd1 did 29 % more than its part"), "{text}");
    }
}
