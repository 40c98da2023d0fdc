//! What several machines did is what one would have done that did all of it.

use jiff::SignedDuration;
use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::{
    client::ClientActivity,
    event::SlotDirection,
    results::{LatencySummary, OpenLoopResult, Severity},
};
use plimsoll_workload::{certainty::StoppingRule, plan::Work};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{findings::finding, test_plans::started};

const SECOND_NS: u64 = 1_000_000_000;

/// A machine of a test: when its visit began, in milliseconds after the first one's, and its reads in each second.
#[derive(Clone, Debug)]
struct Machine {
    late_ms: i64,
    reads: Vec<u64>,
    latency_ns: u64,
}

impl Machine {
    fn slot(&self) -> SlotResult {
        let operations = self.reads.iter().sum();
        let mut histogram = LatencyHistogram::fine();
        histogram.record_many(self.latency_ns, operations);
        let read = Some(SlotDirection { operations, bytes: operations * 4096, histogram });
        // The run began a second before the visit, whose ramp takes a second.
        let elapsed_ns = self.reads.len() as u64 * SECOND_NS;
        SlotResult { ramp_ns: SECOND_NS, from_ns: 2 * SECOND_NS, elapsed_ns, read, ..SlotResult::default() }
    }

    fn events(&self) -> Vec<RunEvent> {
        let started = started("rw = \"randread\"\nduration = \"4s\"");
        let mut events = vec![
            RunEvent::Started(Box::new(started)),
            RunEvent::SlotStarted {
                cell: 0,
                round: 0,
                t_ns: SECOND_NS,
                ramp_ns: SECOND_NS,
                measured_ns: Some(self.reads.len() as u64 * SECOND_NS),
                purpose: SlotPurpose::Measured,
            },
        ];
        for (index, reads) in [7].iter().chain(&self.reads).enumerate() {
            let interval = Interval {
                t_ns: SECOND_NS + index as u64 * SECOND_NS,
                length_ns: SECOND_NS,
                measured: index > 0,
                read_operations: *reads,
                read_bytes: reads * 4096,
                tick_operations: vec![*reads],
                ..Interval::default()
            };
            events.push(RunEvent::Interval { cell: 0, interval });
        }
        events.push(RunEvent::SlotFinished(Box::new(self.slot())));
        events.push(RunEvent::Finished { elapsed_ns: 9 * SECOND_NS, outcome: Outcome::Complete });
        events
    }
}

/// The record, the visits and the seconds that were told.
fn together(machines: &[Machine]) -> (Record, Vec<SharedVisit>, Vec<Interval>) {
    let mut several = Several::new(machines.len());
    let mut seconds = Vec::new();
    for (member, machine) in machines.iter().enumerate() {
        for event in machine.events() {
            // Slots are told when they begin, a second after the run of the machine.
            let at = Timestamp::UNIX_EPOCH + SignedDuration::from_millis(1_000_000 + 1000 + machine.late_ms);
            several.take(member, &format!("pod-{member}"), at, &event, &mut |told| {
                if let RunEvent::Interval { interval, .. } = told {
                    seconds.push(interval.clone());
                }
            });
        }
    }
    assert!(several.is_over());
    let visits = several.visits().to_vec();
    (several.conclude(&mut |_| {}).expect("it began"), visits, seconds)
}

fn machines() -> impl Strategy<Value = Vec<Machine>> {
    let machine = (0_i64..400, prop::collection::vec(0_u64..5000, 4), 1_000_u64..50_000_000);
    let machine = machine.prop_map(|(late_ms, reads, latency_ns)| Machine { late_ms, reads, latency_ns });
    prop::collection::vec(machine, 1..5)
}

proptest! {
    #[test]
    fn rates_are_sums_and_latencies_those_of_all_operations(machines in machines()) {
        let (record, visits, seconds) = together(&machines);
        let reads: u64 = machines.iter().flat_map(|machine| &machine.reads).sum();
        let result = record.cells[0].read.clone().unwrap();
        prop_assert_eq!(result.operations, reads);
        prop_assert_eq!((result.bytes, result.elapsed_ns), (reads * 4096, 4 * SECOND_NS));
        let mut latencies = LatencyHistogram::fine();
        machines.iter().for_each(|machine| latencies.record_many(machine.latency_ns, machine.reads.iter().sum()));
        prop_assert_eq!(&result.histogram, &latencies);
        // Ramp and seconds, each told once, in order.
        prop_assert_eq!(seconds.len(), 5);
        prop_assert!(seconds.windows(2).all(|pair| pair[1].t_ns == pair[0].t_ns + SECOND_NS));
        for (index, second) in seconds.iter().skip(1).enumerate() {
            prop_assert_eq!(second.read_operations, machines.iter().map(|machine| machine.reads[index]).sum::<u64>());
        }
        let late = || machines.iter().map(|machine| machine.late_ms);
        let skew_ms = late().max().unwrap() - late().min().unwrap();
        prop_assert_eq!(visits.len(), 1);
        prop_assert_eq!(visits[0].start_skew_ns, skew_ms as u64 * 1_000_000);
        prop_assert!((visits[0].overlap - (4000 - skew_ms) as f64 / 4000.0).abs() < 1e-9);
    }
}

fn steady(late_ms: i64, reads: u64, seconds: usize) -> Machine {
    Machine { late_ms, reads: vec![reads; seconds], latency_ns: 1_000_000 }
}

#[test]
fn only_seconds_that_all_measured_count() {
    // The one that begins a second before the others is alone then, and idle in their last second.
    let mut early = steady(0, 100, 10);
    early.reads[0] = 5000;
    let (record, visits, seconds) = together(&[early, steady(1000, 10, 10)]);
    let result = record.cells[0].read.clone().unwrap();
    assert_eq!((result.operations, result.elapsed_ns), (9 * 110, 9 * SECOND_NS), "{seconds:?}");
    assert!((visits[0].overlap - 0.9).abs() < 1e-9);
    assert!(visits[0].is_common());
}

#[test]
fn who_measures_apart_is_not_added_up() {
    let (record, visits, _) = together(&[steady(0, 100, 10), steady(4000, 10, 10)]);
    assert!(!visits[0].is_common());
    assert!((visits[0].overlap - 0.6).abs() < 1e-9);
    assert!(record.cells[0].read.is_none());
    assert!(record.cells[0].why_not_run().is_some());
}

#[test]
fn machines_that_tell_by_turns_are_heard_the_same() {
    let machines = [steady(0, 100, 4), steady(30, 50, 4)];
    let expected = together(&machines).0;
    let mut several = Several::new(2);
    let events = machines.each_ref().map(Machine::events);
    for both in events[0].iter().zip(&events[1]) {
        for (member, event) in [(1, both.1), (0, both.0)] {
            let at = Timestamp::UNIX_EPOCH + SignedDuration::from_millis(1_001_000 + machines[member].late_ms);
            several.take(member, "pod", at, event, &mut |_| {});
        }
    }
    let record = several.conclude(&mut |_| {}).unwrap();
    assert_eq!(record.cells[0].read, expected.cells[0].read);
    assert_eq!(record.cells[0].series.len(), expected.cells[0].series.len());
}

#[test]
fn an_engine_that_differs_is_told_of_whoever_tells_first() {
    let mut several = Several::new(3);
    let selected = |engine| RunEvent::EngineSelected { cell: 0, engine, reason: "it is the fastest".to_owned() };
    let at = Timestamp::UNIX_EPOCH;
    several.take(2, "third", at, &steady(0, 1, 2).events()[0], &mut |_| {});
    for (member, name, engine) in
        [(2, "third", EngineChoice::IoUring), (0, "first", EngineChoice::IoUring), (1, "second", EngineChoice::Libaio)]
    {
        several.take(member, name, at, &selected(engine), &mut |_| {});
    }
    let record = several.record().unwrap();
    assert_eq!(record.cells[0].engine, EngineChoice::IoUring);
    assert_eq!(record.warnings, ["second uses another engine than others: it is the fastest"]);
}

#[test]
fn what_one_machine_warns_of_has_its_name() {
    let mut several = Several::new(2);
    let machine = steady(0, 1, 2);
    let at = Timestamp::UNIX_EPOCH;
    several.take(0, "first", at, &machine.events()[0], &mut |_| {});
    several.take(1, "second", at, &RunEvent::Warning { text: "it is hot".to_owned() }, &mut |_| {});
    assert_eq!(several.record().unwrap().warnings, ["second: it is hot"]);
}

/// The findings with this code of two machines that visit a cell once for four seconds, told one after the other, of
/// which each has added this to its slot, its seconds and its sentences.
fn found(code: &str, order: [usize; 2], change: impl Fn(usize, &mut RunEvent), told: [&str; 2]) -> Vec<Finding> {
    let mut several = Several::new(2);
    for member in order {
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1001);
        for mut event in steady(0, 100, 4).events() {
            if let RunEvent::Started(started) = &mut event {
                **started = self::started("rw = 'randread'\nduration = '4s'\nrate = 1000");
            }
            change(member, &mut event);
            several.take(member, &format!("pod-{member}"), at, &event, &mut |_| {});
            if matches!(event, RunEvent::SlotFinished(_)) {
                for text in told {
                    let finding = finding(code, Severity::Info, text, &[]);
                    several.take(
                        member,
                        &format!("pod-{member}"),
                        at,
                        &RunEvent::Found { cell: 0, finding },
                        &mut |_| {},
                    );
                }
            }
        }
    }
    let findings = several.conclude(&mut |_| {}).unwrap().cells.remove(0).findings;
    findings.into_iter().filter(|finding| finding.code == code).collect()
}

#[test]
fn what_is_said_of_an_open_loop_is_said_of_all_machines() {
    let of = |order, engine| {
        let change = |member: usize, event: &mut RunEvent| match event {
            RunEvent::Started(started) => {
                let Work::Blocks(plan) = &mut started.plan.cells[0].work else { panic!("blocks are read") };
                plan.engine = engine;
            }
            RunEvent::SlotFinished(slot) => {
                let late = [5, 1000][member];
                slot.open_loop = Some(OpenLoopResult { intended: 4000, late, ..OpenLoopResult::default() });
            }
            _ => {}
        };
        found("open-loop-late", order, change, ["of 4000, 5 had to wait", "of 4000, 7 had to wait"])
    };
    for engine in [EngineChoice::Psync, EngineChoice::Memory] {
        let told = of([0, 1], engine);
        assert_eq!((told.len(), told[0].severity), (1, Severity::Warning));
        assert!(told[0].text.contains("of 8,000, 1,005 had to wait"), "{}", told[0].text);
        assert_eq!(of([1, 0], engine), told);
    }
}

#[test]
fn machines_have_stood_still_in_seconds_in_which_none_did_anything() {
    let of = |stalled: [&[u64]; 2]| {
        let change = |member: usize, event: &mut RunEvent| {
            if let RunEvent::Interval { interval, .. } = event
                && stalled[member].contains(&(interval.t_ns / SECOND_NS))
            {
                (interval.stalled, interval.read_operations) = (true, 0);
            }
        };
        found("stalled", [1, 0], change, ["nothing completed in 1 second", "nothing completed in 2 seconds"]).remove(0)
    };
    let finding = of([&[3, 4], &[4, 5]]);
    assert!(finding.text.starts_with("nothing completed in 1 whole seconds"), "{}", finding.text);
    assert_eq!((&finding.evidence["stalls"], &finding.evidence["time_share"]), (&json!(1), &json!(0.25)));
    // Of what only one of them has met, that one's last word is told.
    assert_eq!(of([&[3], &[4, 5]]).text, "pod-1: nothing completed in 2 seconds");
}

#[test]
fn what_all_machines_met_is_not_that_one_of_them_stood_still_at_another_time() {
    let change = |member: usize, event: &mut RunEvent| match event {
        RunEvent::Interval { interval, .. } if interval.t_ns / SECOND_NS == 4 => {
            (interval.stalled, interval.read_operations) = (true, 0);
        }
        RunEvent::SlotFinished(slot) => {
            let mut hiccups = LatencyHistogram::coarse();
            hiccups.record_many([950_000_000, 60_000][member], 1);
            let hiccup_ns = LatencySummary::of(&hiccups);
            slot.client = Some(ClientActivity { hiccup_ns, hiccups: Some(hiccups), ..ClientActivity::default() });
        }
        _ => {}
    };
    for order in [[0, 1], [1, 0]] {
        let text = found("stalled", order, change, ["", ""]).remove(0).text;
        assert!(text.ends_with("the storage stood still, and mean rates hide that"), "{text}");
    }
}

/// Two machines that visit a cell eight times, for ten seconds each; in this visit the second one comes six seconds
/// late, and both are ten times as fast.
fn one_apart(apart: Option<u32>) -> Record {
    const VISITS: u32 = 8;
    let mut several = Several::new(2);
    for member in 0..2_usize {
        let mut begun = started("rw = \"randread\"\nduration = \"10s\"");
        begun.plan.cells[0].stopping = StoppingRule::Fixed { slots: VISITS, discarded: 0 };
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1000);
        let mut take = |at: Timestamp, event: &RunEvent| several.take(member, "pod", at, event, &mut |_| {});
        take(at, &RunEvent::Started(Box::new(begun)));
        for round in 0..VISITS {
            let is_apart = apart == Some(round);
            let late_s = if is_apart && member == 1 { 6 } else { 0 };
            let mut machine = steady(0, if is_apart { 1000 } else { 100 }, 10);
            machine.latency_ns += u64::from(round);
            let shift_ns = u64::from(round) * 20 * SECOND_NS + late_s * SECOND_NS;
            for mut event in machine.events() {
                match &mut event {
                    RunEvent::SlotStarted { round: of, t_ns, .. } => (*of, *t_ns) = (round, *t_ns + shift_ns),
                    RunEvent::Interval { interval, .. } => {
                        (interval.round, interval.t_ns) = (round, interval.t_ns + shift_ns);
                    }
                    RunEvent::SlotFinished(slot) => (slot.round, slot.from_ns) = (round, slot.from_ns + shift_ns),
                    _ => continue,
                }
                let told_ns = if let RunEvent::SlotStarted { t_ns, .. } = &event { *t_ns } else { 0 };
                take(at + SignedDuration::from_nanos(told_ns as i64), &event);
            }
        }
        let elapsed_ns = 170 * SECOND_NS;
        take(at, &RunEvent::Finished { elapsed_ns, outcome: Outcome::Complete });
    }
    several.conclude(&mut |_| {}).unwrap()
}

#[test]
fn a_visit_that_is_left_out_of_the_numbers_changes_nothing_that_is_said_of_them() {
    let (all, record) = (one_apart(None), one_apart(Some(3)));
    let (all, cell) = (&all.cells[0], &record.cells[0]);
    assert_eq!(
        cell.slots.iter().map(|slot| slot.counted).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5, 6, 7].map(|it| it != 3)
    );
    let read = cell.read.as_ref().unwrap();
    let [low, high] = [read.iops_low, read.iops_high].map(Option::unwrap);
    assert!((read.iops - 200.0).abs() < 1e-9 && low > 195.0 && high < 205.0, "{} {low} {high}", read.iops);
    assert!((cell.estimate.unwrap().iops - 200.0).abs() < 1e-9, "{:?}", cell.estimate);
    assert_eq!((cell.verdict, cell.stability), (all.verdict, all.stability));
}
