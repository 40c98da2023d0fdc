//! Machines that measure at the same time, each another target, and take turns: visits of all of them are rounds of the
//! same cell, and none is added to another. Which machine it was is then not confused with which target.

use std::collections::BTreeMap;

use plimsoll_measure::session::Session;
use plimsoll_record::{
    builder::RecordBuilder,
    event::{RunEvent, SlotResult},
    results::Interval,
};
use plimsoll_workload::{certainty::StoppingRule, plan::Plan};

use super::judge;

/// What each of them has measured so far. In which order they tell is not that of time, so it is kept until the end.
pub(super) struct Apart {
    machines: u32,
    /// Seconds of visits that have not ended, by machine and cell.
    seconds: BTreeMap<(usize, usize), Vec<Interval>>,
    visits: Vec<(SlotResult, Vec<Interval>)>,
}

impl Apart {
    /// When a plan says that its machine takes turns with others; makes it the plan of all of them.
    pub(super) fn of(plan: &mut Plan, machines: usize) -> Option<Self> {
        plan.turn.take()?;
        let machines = u32::try_from(machines).unwrap_or(u32::MAX);
        for cell in &mut plan.cells {
            if let StoppingRule::Fixed { slots, discarded } = &mut cell.stopping {
                *slots = slots.saturating_mul(machines);
                *discarded = discarded.saturating_mul(machines);
            }
        }
        Some(Self { machines, seconds: BTreeMap::new(), visits: Vec::new() })
    }

    /// Takes in what a machine tells of a visit, and gives it by the time of the whole run; `None` of anything else.
    pub(super) fn take(&mut self, machine: usize, event: &RunEvent, time: impl Fn(u64) -> u64) -> Option<RunEvent> {
        let mut event = event.clone();
        match &mut event {
            RunEvent::SlotStarted { cell, t_ns, .. } => {
                *t_ns = time(*t_ns);
                self.seconds.insert((machine, *cell), Vec::new());
            }
            RunEvent::Interval { cell, interval } => {
                interval.t_ns = time(interval.t_ns);
                self.seconds.entry((machine, *cell)).or_default().push(interval.clone());
            }
            RunEvent::SlotFinished(slot) => {
                slot.from_ns = time(slot.from_ns);
                let seconds = self.seconds.remove(&(machine, slot.cell)).unwrap_or_default();
                let mut slot = (**slot).clone();
                // Visits of a machine in one pass have the same number: they are the pairs that a comparison looks for.
                let first = slot.round.saturating_mul(self.machines);
                slot.round = first.saturating_add(u32::try_from(machine).unwrap_or(0));
                self.visits.push((slot, seconds));
            }
            _ => return None,
        }
        Some(event)
    }

    /// Whether an event is kept until the end.
    pub(super) const fn keeps(event: &RunEvent) -> bool {
        matches!(event, RunEvent::SlotStarted { .. } | RunEvent::Interval { .. } | RunEvent::SlotFinished(_))
    }

    /// Adds all visits to a record and to what judges it, in the order of time.
    pub(super) fn fold(mut self, plan: &Plan, builder: &mut RecordBuilder, session: &mut Session) {
        self.visits.sort_by_key(|(slot, _)| slot.from_ns);
        for (slot, seconds) in self.visits {
            judge(session, plan, &slot, &seconds);
            for mut interval in seconds {
                interval.round = slot.round;
                builder.apply(&RunEvent::Interval { cell: slot.cell, interval });
            }
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};
    use plimsoll_measure::latency::LatencyHistogram;
    use plimsoll_record::{
        event::{RunStarted, SlotDirection, SlotPurpose},
        record::{Outcome, Record},
    };

    use crate::{several::Several, test_plans};

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;
    const RATES: [[u64; 2]; 2] = [[100, 1000], [120, 1200]];

    /// A run of two targets and two passes, of which so many are discarded, as a machine begins it.
    fn started(machine: u32, discarded: u32) -> RunStarted {
        let mut started = test_plans::started("rw = \"randread\"\nduration = \"4s\"");
        let mut other = started.plan.cells[0].clone();
        other.target = "other".to_owned();
        started.plan.cells.push(other);
        for cell in &mut started.plan.cells {
            cell.stopping = StoppingRule::Fixed { slots: 2, discarded };
        }
        started.plan.turn = Some(machine);
        started
    }

    /// What a machine tells that measures the first target in its first pass first, or the other one.
    fn events(machine: usize, discarded: u32) -> Vec<RunEvent> {
        let mut events = vec![RunEvent::Started(Box::new(started(machine as u32, discarded)))];
        for visit in 0..4_u32 {
            let (round, cell) = (visit / 2, (visit as usize + machine) % 2);
            let t_ns = (1 + 10 * u64::from(visit)) * SECOND_NS;
            let is_discarded = round < discarded;
            let purpose = if is_discarded { SlotPurpose::Discarded } else { SlotPurpose::Measured };
            let reads = RATES[machine][cell] * if is_discarded { 7 } else { 1 };
            let ramp_ns = SECOND_NS;
            let measured_ns = Some(4 * SECOND_NS);
            events.push(RunEvent::SlotStarted { cell, round, t_ns, ramp_ns, measured_ns, purpose });
            for second in 0..5 {
                let interval = Interval {
                    round,
                    t_ns: t_ns + second * SECOND_NS,
                    length_ns: SECOND_NS,
                    measured: second > 0,
                    read_operations: reads,
                    ..Interval::default()
                };
                events.push(RunEvent::Interval { cell, interval });
            }
            let mut histogram = LatencyHistogram::fine();
            histogram.record_many(1_000_000, 4 * reads);
            let read = Some(SlotDirection { operations: 4 * reads, bytes: 0, histogram });
            let (from_ns, elapsed_ns) = (t_ns + SECOND_NS, 4 * SECOND_NS);
            let slot = SlotResult { cell, round, ramp_ns, purpose, from_ns, elapsed_ns, read, ..SlotResult::default() };
            events.push(RunEvent::SlotFinished(Box::new(slot)));
        }
        events.push(RunEvent::Finished { elapsed_ns: 40 * SECOND_NS, outcome: Outcome::Complete });
        events
    }

    /// What is made of it when one machine tells all before the other; the second one's run began so much earlier.
    fn record(order: [usize; 2], earlier_s: i64, discarded: u32) -> Record {
        let mut several = Several::new(2);
        for machine in order {
            let zero = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1000 - earlier_s * machine as i64);
            for event in events(machine, discarded) {
                let at = match &event {
                    RunEvent::SlotStarted { t_ns, .. } => zero + SignedDuration::from_nanos(*t_ns as i64),
                    _ => zero,
                };
                several.take(machine, &format!("pod-{machine}"), at, &event, &mut |_| {});
            }
        }
        assert!(several.take_turns() && several.is_over() && several.visits().is_empty());
        several.conclude(&mut |_| {}).unwrap()
    }

    #[test]
    fn visits_of_machines_that_take_turns_are_rounds_of_one_cell() {
        for order in [[0, 1], [1, 0]] {
            let record = record(order, 1, 0);
            for (cell, rate) in record.cells.iter().zip([110.0, 1100.0]) {
                assert_eq!(cell.stopping, StoppingRule::Fixed { slots: 4, discarded: 0 });
                assert_eq!(cell.rounds_done, 4);
                assert!((cell.read.as_ref().unwrap().iops - rate).abs() < 1e-9, "a mean and no sum");
                assert!(cell.slots.is_sorted_by_key(|slot| slot.from_ns) && cell.series.is_sorted_by_key(|it| it.t_ns));
                let mut rounds: Vec<u32> = cell.slots.iter().map(|slot| slot.round).collect();
                rounds.sort_unstable();
                assert_eq!(rounds, [0, 1, 2, 3]);
            }
            // Of one machine and one pass, so that the machine makes no difference between targets.
            let operations = |cell: usize, round: u32| {
                let slot = record.cells[cell].slots.iter().find(|slot| slot.round == round).unwrap();
                slot.read.as_ref().unwrap().operations
            };
            assert!((0..4).all(|round| operations(1, round) == 10 * operations(0, round)));
        }
    }

    #[test]
    fn what_a_machine_discards_is_never_judged_whenever_another_was_as_far() {
        // The second one measures what counts before the first one has done what does not.
        let record = record([1, 0], 40, 1);
        for (cell, rate) in record.cells.iter().zip([110.0, 1100.0]) {
            let purposes: Vec<bool> = cell.slots.iter().map(|slot| slot.counted).collect();
            assert_ne!(purposes, [false, false, true, true], "else it would be no test");
            assert!((cell.read.as_ref().unwrap().iops - rate).abs() < 1e-9);
            assert!((cell.estimate.unwrap().iops - rate).abs() < 1e-9, "{:?}", cell.estimate);
        }
    }
}
