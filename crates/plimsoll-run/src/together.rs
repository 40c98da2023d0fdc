//! Slots that are done at the same time: they begin together, and each ends when its own time or amount is over,
//! or that of one that ends its phase.

use std::{
    io,
    sync::{atomic::Ordering, mpsc},
    thread::{self, ScopedJoinHandle},
};

use plimsoll_record::results::Interval;

use crate::{
    counters::SlotCost,
    gate::Gate,
    slot::{self, SlotError, SlotOutcome, SlotSetup},
    still_measuring::StillMeasuring,
};

/// A slot that is being done.
type Visiting<'scope> = ScopedJoinHandle<'scope, Result<Option<SlotOutcome>, SlotError>>;

/// Does all slots, which begin at the same moment. `on_interval` is told which slot each second of load belongs to.
pub(crate) fn visit(
    setups: &[SlotSetup<'_>],
    on_interval: &mut dyn FnMut(usize, Interval),
) -> Result<Vec<SlotOutcome>, SlotError> {
    if let [alone] = setups {
        return Ok(vec![slot::visit(alone, &mut |interval| on_interval(0, interval))?]);
    }
    let slots = setups.len() as u32;
    let (queues, gate, measuring) = (Gate::new(slots), Gate::new(slots), StillMeasuring::default());
    let (sender, intervals) = mpsc::channel();
    thread::scope(|scope| {
        let start = |(index, setup)| {
            let (queued, ready, measuring, sender) = (queues.pass(), gate.pass(), &measuring, sender.clone());
            let visit = move || {
                // Nobody listens any more only when the process is about to end.
                let mut tell = |interval| drop(sender.send((index, interval)));
                let outcome = slot::visit_from(setup, measuring, || queued.arrive(), || ready.arrive(), &mut tell);
                // Workers that could not begin have not told.
                if let Some(over) = setup.over.filter(|_| setup.plan.ends_phase) {
                    over.store(true, Ordering::Relaxed);
                }
                outcome
            };
            thread::Builder::new().name(format!("slot-{index}")).spawn_scoped(scope, visit)
        };
        let visits: Vec<_> = setups.iter().enumerate().map(start).collect();
        drop(sender);
        let not_before_ns = setups.iter().map(|setup| setup.not_before_ns).max().unwrap_or(0);
        queues.open(|| Some(setups.iter().map(SlotSetup::workers).sum()));
        gate.open(|| Some(slot::soon().max(not_before_ns)));
        for (index, interval) in intervals {
            on_interval(index, interval);
        }
        // All are waited for before any error is told.
        let ends: Vec<_> = visits.into_iter().map(end).collect();
        let outcomes: Vec<_> = ends.into_iter().collect::<Result<_, _>>()?;
        let begun = |outcome: Option<_>| outcome.expect("only a slot that failed keeps others from beginning");
        Ok(outcomes.into_iter().map(begun).collect())
    })
}

fn end(visit: io::Result<Visiting<'_>>) -> Result<Option<SlotOutcome>, SlotError> {
    let visit = visit.map_err(|source| SlotError::Threads { workers: 1, source })?;
    visit.join().map_err(|_| SlotError::Panicked)?
}

/// Gives each of several slots its part of the processor time that the process used: in proportion to what their
/// workers used.
pub(crate) fn share_out(mut costs: Vec<SlotCost>, outcomes: &[SlotOutcome]) -> Vec<SlotCost> {
    if outcomes.len() > 1 {
        let all_ns: u64 = outcomes.iter().map(|outcome| outcome.worker_cpu_ns).sum();
        for (cost, outcome) in costs.iter_mut().zip(outcomes) {
            let share = outcome.worker_cpu_ns as f64 / all_ns.max(1) as f64;
            cost.cpu.user_ns = (cost.cpu.user_ns as f64 * share) as u64;
            cost.cpu.system_ns = (cost.cpu.system_ns as f64 * share) as u64;
        }
    }
    costs
}
