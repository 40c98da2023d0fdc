//! Going on where an earlier session was interrupted.
//!
//! The visits of the earlier session are taken in again in the order of time, with the pauses between. What is known
//! afterwards is what was known then: which cells are closed and why, who is still to be visited in the pass that had
//! begun, and which targets have had their last look. Only the clock has gone on.

use super::{Purpose, Session, cell::Cell, visit::Visit};

/// A stretch in which nobody measured, because the session was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
}

impl Session {
    /// Takes in a visit of the session that this one goes on with: which cell, what it was for, when it was handed out
    /// and what it measured. All of them come in the order of time, before the first step is asked for.
    pub fn resume(&mut self, cell: usize, purpose: Purpose, at_ns: u64, visit: Visit) {
        if purpose == Purpose::Bookend {
            self.open_bookends().retain(|bookend| *bookend != cell);
        } else {
            // The pass is drawn as it was then, and the turn is taken.
            self.draw_pass(at_ns);
            self.pass.retain(|turn| turn.cell != cell);
        }
        self.note_latest(cell);
        self.take_in(cell, purpose, visit);
    }

    /// Takes in that nobody measured from one moment to another. Time that may be used at most stands still meanwhile,
    /// burst allowances fill up, and what is visited next does not continue what was visited before.
    pub fn pause(&mut self, from_ns: u64, to_ns: u64) {
        let pause = Pause { from_ns, to_ns: to_ns.max(from_ns) };
        if let Some(end_ns) = &mut self.plan.time_max_ns {
            *end_ns = end_ns.saturating_add(pause.to_ns - pause.from_ns);
        }
        self.pauses.push(pause);
        self.latest = None;
        self.cells.iter_mut().for_each(Cell::pause);
    }

    /// Whether a visit to a cell that ends before its time is worth as much as its seconds are. Otherwise it would
    /// count as much as a whole one, and is better done again.
    pub fn keeps_parts(&self, cell: usize) -> bool {
        self.cells[cell].in_one_piece()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        allowance::{Allowance, Unit},
        effort::Effort,
        random::Random,
        session::{CellPlan, FixedVisits, SessionPlan, Slot, Step, answer::Answer, visit::Sample},
        verdict::Verdict,
    };

    const SECOND: u64 = 1_000_000_000;

    /// A visit that was handed out, and what it measured.
    #[derive(Clone)]
    struct Done {
        at_ns: u64,
        slot: Slot,
        visit: Visit,
    }

    /// Storages whose rate depends on the cell and the round alone, so that it is the same whenever a round is done.
    #[derive(Clone, Copy, Debug)]
    struct Storage {
        seed: u64,
        noise: f64,
    }

    impl Storage {
        fn visit(self, slot: &Slot, now_ns: u64) -> Visit {
            let mut random = Random::at(self.seed, &[slot.cell as u64, u64::from(slot.round)]);
            let level = 1000.0 * (1.0 + self.noise * random.unit());
            let measured_ns = slot.measured_ns.unwrap_or(SECOND);
            let second = |index: u64| {
                let elapsed_ns = SECOND.min(measured_ns - index * SECOND);
                let rate = level * (1.0 + self.noise * random.unit());
                Sample { count: (rate * elapsed_ns as f64 / 1e9).round(), elapsed_ns }
            };
            Visit {
                from_ns: now_ns + slot.ramp_ns,
                ramp: Sample { count: 0.0, elapsed_ns: slot.ramp_ns },
                seconds: (0..measured_ns.div_ceil(SECOND)).map(second).collect(),
            }
        }
    }

    /// Drives a session to its end, or until it has handed out so many visits. Returns them, and the time at the end.
    fn drive(session: &mut Session, storage: Storage, mut now_ns: u64, visits_max: usize) -> (Vec<Done>, u64) {
        let mut done = Vec::new();
        while done.len() < visits_max {
            match session.next_step(now_ns) {
                Step::Visit(slot) => {
                    let visit = storage.visit(&slot, now_ns);
                    done.push(Done { at_ns: now_ns, slot, visit: visit.clone() });
                    now_ns = visit.to_ns();
                    session.observe(&slot, visit);
                }
                Step::WaitUntil(until_ns) => now_ns = until_ns,
                Step::Done => break,
            }
        }
        (done, now_ns)
    }

    /// A session that goes on after all legs of an earlier one, each of which ended with the pause that is given.
    fn resumed(plan: &SessionPlan, legs: &[(Vec<Done>, (u64, u64))]) -> Session {
        let mut session = Session::new(plan.clone());
        for (visits, (from_ns, to_ns)) in legs {
            for Done { at_ns, slot, visit } in visits {
                session.resume(slot.cell, slot.purpose, *at_ns, visit.clone());
            }
            session.pause(*from_ns, *to_ns);
        }
        session
    }

    fn places<'a>(done: impl IntoIterator<Item = &'a Done>) -> Vec<(usize, u32, bool)> {
        let place = |done: &Done| (done.slot.cell, done.slot.round, done.slot.purpose == Purpose::Bookend);
        let mut places: Vec<_> = done.into_iter().map(place).collect();
        places.sort_unstable();
        places
    }

    /// All that can be said of a session, apart from times.
    fn said(session: &Session) -> Vec<(Answer, bool, Option<f64>)> {
        let of = |cell| (session.answer(cell), session.is_closed(cell), session.progress(cell).precision);
        (0..session.cells.len()).map(of).collect()
    }

    fn several_cells() -> impl Strategy<Value = SessionPlan> {
        let fixed = prop::option::of((1..9_u32, 0..3_u32));
        let effort = prop::sample::select(vec![Effort::Quick, Effort::Standard]);
        (2..7_usize, 1..3_usize, fixed, effort, any::<u64>(), any::<bool>()).prop_map(
            |(workloads, targets, fixed, effort, seed, bookend)| {
                let cell = |index: usize| CellPlan {
                    target: index / workloads,
                    workload: index % workloads,
                    writes: index % workloads * 2 >= workloads,
                    settle_ns: 2 * SECOND,
                    fixed: fixed.map(|(rounds, _)| FixedVisits { rounds, measured_ns: Some(3 * SECOND) }),
                    discard_first: fixed.map_or(0, |(rounds, discarded)| discarded.min(rounds - 1)),
                    ..CellPlan::default()
                };
                SessionPlan {
                    cells: (0..workloads * targets).map(cell).collect(),
                    effort,
                    seed,
                    bookend_ns: bookend.then_some(1800 * SECOND),
                    ..SessionPlan::default()
                }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn whenever_a_session_is_interrupted_it_goes_on_with_the_missing_rounds_and_no_others(
            plan in several_cells(),
            seed: u64,
            noise in prop::sample::select(vec![0.0, 0.01, 0.1]),
            at in 0.0..1.0_f64,
            again in 0.0..1.0_f64,
            pause_s in 1..100_000_u64,
        ) {
            let storage = Storage { seed, noise };
            let (whole, _) = drive(&mut Session::new(plan.clone()), storage, 0, usize::MAX);
            let count = (whole.len() as f64 * at) as usize;

            let mut interrupted = Session::new(plan.clone());
            let (first, from_ns) = drive(&mut interrupted, storage, 0, count);
            let to_ns = from_ns + pause_s * SECOND;
            let mut legs = vec![(first, (from_ns, to_ns))];
            let session = resumed(&plan, &legs);
            prop_assert_eq!(said(&session), said(&interrupted), "nothing of what was known is forgotten");

            // Interrupted and resumed once more.
            let left = ((whole.len() - count) as f64 * again) as usize;
            let (second, from_ns) = drive(&mut { session }, storage, to_ns, left);
            let to_ns = from_ns + pause_s * SECOND;
            legs.push((second, (from_ns, to_ns)));
            let mut session = resumed(&plan, &legs);
            let (rest, _) = drive(&mut session, storage, to_ns, usize::MAX);
            let all = legs.iter().flat_map(|(visits, _)| visits).chain(&rest);
            prop_assert_eq!(places(all), places(&whole));
            prop_assert!((0..plan.cells.len()).all(|cell| session.is_closed(cell)));
        }

        #[test]
        fn a_cell_in_one_piece_gets_the_seconds_that_it_lacks(seed: u64, at in 1..200_u64, pause_s in 1..100_000_u64) {
            let plan = SessionPlan { cells: vec![CellPlan::default()], seed, ..SessionPlan::default() };
            let storage = Storage { seed, noise: 0.02 };
            let (whole, _) = drive(&mut Session::new(plan.clone()), storage, 0, usize::MAX);
            // Interrupted in the middle of a visit, which is kept as far as it came.
            let mut first = Vec::new();
            let mut left = at as usize;
            for mut done in whole.clone() {
                done.visit.seconds.truncate(left);
                left -= done.visit.seconds.len();
                first.extend((!done.visit.seconds.is_empty()).then_some(done));
            }
            let from_ns = first.last().unwrap().visit.to_ns();
            let to_ns = from_ns + pause_s * SECOND;
            let mut session = resumed(&plan, &[(first.clone(), (from_ns, to_ns))]);
            prop_assert!(session.keeps_parts(0));
            let (rest, _) = drive(&mut session, storage, to_ns, usize::MAX);
            let load = |visits: &[Done]| -> u64 {
                visits.iter().map(|done| done.visit.ramp.elapsed_ns + done.visit.total().elapsed_ns).sum()
            };
            prop_assert!(load(&first) + load(&rest) >= 120 * SECOND);
            prop_assert!(session.is_closed(0));
            prop_assert!(rest.first().is_none_or(|done| done.slot.ramp_ns > 0), "load has to build up again");
            let stretches = session.stretches(0);
            // When less than a ramp was missing, the second after it comes too late for the last look.
            let measured_ns: u64 = rest.iter().map(|done| done.visit.total().elapsed_ns).sum();
            let counts = 1..=1 + usize::from(!rest.is_empty());
            prop_assert!(counts.contains(&stretches.len()), "{stretches:?}");
            prop_assert!(measured_ns < 2 * SECOND || stretches.len() == 2, "{stretches:?}");
            if let (Some(done), Some(stretch)) = (rest.first(), stretches.get(1)) {
                prop_assert_eq!(stretch.from_ns, done.visit.from_ns);
            }
        }
    }

    #[test]
    fn time_that_may_be_used_at_most_stands_still_in_a_pause() {
        let fixed = Some(FixedVisits { rounds: 100, measured_ns: Some(10 * SECOND) });
        let cell = CellPlan { fixed, ramp_ns: Some(0), ..CellPlan::default() };
        let plan = SessionPlan { cells: vec![cell], time_max_ns: Some(60 * SECOND), ..SessionPlan::default() };
        let storage = Storage { seed: 1, noise: 0.0 };
        let (first, from_ns) = drive(&mut Session::new(plan.clone()), storage, 0, 2);
        let to_ns = from_ns + 5000 * SECOND;
        let mut session = resumed(&plan, &[(first, (from_ns, to_ns))]);
        let (rest, end_ns) = drive(&mut session, storage, to_ns, usize::MAX);
        assert_eq!((rest.len(), end_ns), (4, to_ns + 40 * SECOND));
    }

    #[test]
    fn what_was_warm_is_warmed_up_again_after_a_pause_and_nothing_that_counts_is_lost() {
        let fixed = Some(FixedVisits { rounds: 5, measured_ns: Some(SECOND) });
        let cell = |target| CellPlan { target, fixed, discard_first: 1, discard_after_pause: 1, ..CellPlan::default() };
        let plan = SessionPlan { cells: (0..2).map(cell).collect(), ..SessionPlan::default() };
        let storage = Storage { seed: 1, noise: 0.0 };
        for before in 0..10 {
            let (first, from_ns) = drive(&mut Session::new(plan.clone()), storage, 0, before);
            let mut session = resumed(&plan, &[(first.clone(), (from_ns, from_ns + SECOND))]);
            let (rest, _) = drive(&mut session, storage, from_ns + SECOND, usize::MAX);
            for cell in 0..2 {
                let of = |done: &[Done]| -> Vec<(bool, u32)> {
                    let own = done.iter().filter(|done| done.slot.cell == cell);
                    own.map(|done| (done.slot.purpose == Purpose::Discard, done.slot.judged)).collect()
                };
                let [first, rest] = [&first, &rest].map(|done| of(done));
                // What follows a pause is discarded, unless nothing does.
                assert!(rest.first().is_none_or(|(is_discarded, _)| *is_discarded), "{before}: {first:?} {rest:?}");
                let counted = first.iter().chain(&rest).filter(|(is_discarded, _)| !is_discarded);
                assert_eq!(counted.map(|(_, judged)| *judged).collect::<Vec<_>>(), [0, 1, 2, 3]);
            }
        }
    }

    #[test]
    fn an_allowance_fills_up_in_a_pause() {
        let allowance = Allowance { unit: Unit::Operations, sustained: 100.0, burst: None, bucket: 30_000.0 };
        let cells = (0..2).map(|workload| CellPlan { workload, ..CellPlan::default() }).collect();
        let plan = SessionPlan { cells, allowances: vec![vec![allowance]], ..SessionPlan::default() };
        let storage = Storage { seed: 1, noise: 0.0 };
        let verdict_after = |pause_s: u64| {
            let (first, from_ns) = drive(&mut Session::new(plan.clone()), storage, 0, 80);
            let to_ns = from_ns + pause_s * SECOND;
            let mut session = resumed(&plan, &[(first, (from_ns, to_ns))]);
            drive(&mut session, storage, to_ns, usize::MAX);
            session.answer(0).verdict
        };
        // Half an hour of load at ten times the sustained rate has used up what there was.
        assert_eq!(verdict_after(1), Verdict::Steady);
        assert_eq!(verdict_after(3600), Verdict::Burst);
    }

    #[test]
    fn a_target_is_not_looked_at_twice_at_the_end() {
        let cell = |target| CellPlan { target, ..CellPlan::default() };
        let plan =
            SessionPlan { cells: (0..3).map(cell).collect(), bookend_ns: Some(60 * SECOND), ..SessionPlan::default() };
        let storage = Storage { seed: 1, noise: 0.0 };
        let (whole, _) = drive(&mut Session::new(plan.clone()), storage, 0, usize::MAX);
        let bookends = |done: &[Done]| -> Vec<usize> {
            let of_kind = done.iter().filter(|done| done.slot.purpose == Purpose::Bookend);
            of_kind.map(|done| done.slot.cell).collect()
        };
        assert_eq!(bookends(&whole).len(), 3);
        let first = whole[..whole.len() - 2].to_vec();
        let from_ns = first.last().unwrap().visit.to_ns();
        let mut session = resumed(&plan, &[(first, (from_ns, from_ns + SECOND))]);
        let (rest, _) = drive(&mut session, storage, from_ns + SECOND, usize::MAX);
        assert_eq!(bookends(&rest), bookends(&whole)[1..]);
        assert_eq!(rest.len(), 2);
    }
}
