//! Burst allowances in a session: those that a catalog predicts, and those that were seen to end.

use super::{
    CellPlan, Session,
    answer::{Burst, Window},
    cell::{Cell, Look},
    visit::{Sample, Visit},
};
use crate::{
    allowance::{ABOVE, Allowance, Unit},
    detect::{
        hidden_burst::{HiddenBurst, Load, hidden_burst},
        token_bucket::token_bucket,
    },
};

impl Session {
    /// The burst that a catalog says a rate must be; `None` when the rate may be the sustained one.
    pub(super) fn burst_predicted(&self, index: usize, look: &Look) -> Option<Burst> {
        let plan = &self.plan.cells[index];
        let to_ns = look.window.to_ns;
        let predict = |allowance: &Allowance| {
            let price = allowance.price(plan.bytes_per_operation);
            let spent = self.spent(plan.target, allowance, to_ns) * allowance.bucket;
            let own = look.mean * price;
            let load = own + self.beside(index, allowance, &look.window);
            let cliff = || to_ns + (allowance.seconds_left(load, spent).unwrap_or_default() * 1e9) as u64;
            (own > 0.0 && allowance.may_be_burst(load, spent)).then(|| Burst {
                burst_rate: look.mean,
                sustained_rate: allowance.sustained / price * own / load,
                cliff_after_ns: Some(cliff()),
                cliff_before_ns: Some(cliff()),
                tokens: Some(allowance.bucket / price),
                predicted: true,
            })
        };
        let allowances = self.plan.allowances.get(index)?;
        let bursts = allowances.iter().filter_map(predict);
        bursts.min_by(|left, right| left.sustained_rate.total_cmp(&right.sustained_rate))
    }

    /// The burst that seconds of a cell must have been before its rate is known well: more than a catalog says that
    /// lasts, and not by chance.
    pub(super) fn burst_for_certain(&self, index: usize, look: &Look) -> Option<Burst> {
        /// Fewer fast seconds may be chance.
        const FAST_SECONDS_MIN: usize = 3;
        let cell = &self.cells[index];
        let allowances = self.plan.allowances.get(index).filter(|_| !cell.claimed)?;
        let of_allowance = |allowance: &Allowance| {
            let price = allowance.price(cell.plan.bytes_per_operation);
            let sustained_alone = allowance.sustained / price;
            // Half of the burst, or twice what lasts where nobody says how fast the burst is.
            let fast_from = allowance.burst.map_or(2.0 * sustained_alone, |burst| burst / price / 2.0);
            let fast_from = fast_from.max(ABOVE * sustained_alone);
            let seconds: Vec<f64> = cell.all_visits().flat_map(|visit| &visit.seconds).map(Sample::rate).collect();
            let fast: Vec<f64> = seconds.iter().copied().filter(|rate| *rate >= fast_from).collect();
            let to_ns = look.window.to_ns;
            let spent = self.spent(cell.plan.target, allowance, to_ns) * allowance.bucket;
            if fast.len() < FAST_SECONDS_MIN || allowance.is_gone(spent) {
                return None;
            }
            let burst_rate = fast.iter().sum::<f64>() / fast.len() as f64;
            let own = burst_rate * price;
            let load = own + self.beside(index, allowance, &look.window);
            let left = allowance.seconds_left(load, spent).filter(|_| fast.len() == seconds.len());
            let cliff = left.map(|seconds| to_ns + (seconds * 1e9) as u64);
            Some(Burst {
                burst_rate,
                sustained_rate: sustained_alone * own / load,
                cliff_after_ns: cliff,
                cliff_before_ns: cliff,
                tokens: Some(allowance.bucket / price),
                predicted: true,
            })
        };
        let bursts = allowances.iter().filter_map(of_allowance);
        bursts.min_by(|left, right| left.sustained_rate.total_cmp(&right.sustained_rate))
    }

    /// The share of a target's bucket that is spent then: all load has taken some, and pauses have brought some back.
    fn spent(&self, target: usize, allowance: &Allowance, to_ns: u64) -> f64 {
        let mut spent = 0.0;
        let mut from_ns = 0;
        for pause in self.pauses.iter().filter(|pause| pause.to_ns < to_ns) {
            spent += self.taken(target, allowance, from_ns, pause.from_ns.max(from_ns));
            let seconds = (pause.to_ns - pause.from_ns) as f64 / 1e9;
            spent = (spent - allowance.sustained * seconds / allowance.bucket).max(0.0);
            from_ns = pause.to_ns;
        }
        spent + self.taken(target, allowance, from_ns, to_ns)
    }

    /// The share of its bucket that all load on a target took between two moments. What runs at the same time spends
    /// together.
    fn taken(&self, target: usize, allowance: &Allowance, from_ns: u64, to_ns: u64) -> f64 {
        let on_target = (0..self.cells.len()).filter(|cell| self.plan.cells[*cell].target == target);
        let mut changes: Vec<(u64, f64)> = on_target
            .flat_map(|cell| self.shares(cell, allowance.unit))
            .filter(|(at_ns, _)| (from_ns..to_ns).contains(at_ns))
            .flat_map(|(at_ns, share)| [(at_ns, share.rate()), (at_ns + share.elapsed_ns, -share.rate())])
            .collect();
        changes.sort_by_key(|(at_ns, _)| *at_ns);
        let mut rate = 0.0;
        let taken = changes.windows(2).map(|pair| {
            rate += pair[0].1;
            allowance.spent(rate * allowance.bucket, (pair[1].0 - pair[0].0) as f64 / 1e9) / allowance.bucket
        });
        taken.sum()
    }

    /// Tokens a second that cells of the same phase take out of the same bucket meanwhile.
    fn beside(&self, index: usize, allowance: &Allowance, window: &Window) -> f64 {
        let own = &self.plan.cells[index];
        let is_beside =
            |other: &CellPlan| own.phase.is_some() && (other.phase, other.target) == (own.phase, own.target);
        let others = (0..self.cells.len()).filter(|other| *other != index && is_beside(&self.plan.cells[*other]));
        let shares = others.flat_map(|other| self.shares(other, allowance.unit));
        let meanwhile = shares.filter(|(at_ns, _)| (window.from_ns..window.to_ns).contains(at_ns));
        let taken: f64 = meanwhile.map(|(_, share)| share.count).sum();
        taken * allowance.bucket / ((window.to_ns - window.from_ns) as f64 / 1e9)
    }

    /// What a cell took out of the bucket of its target, and when. Cells count it in operations of their own kind, so
    /// that only shares of it can be added.
    fn shares(&self, index: usize, unit: Unit) -> impl Iterator<Item = (u64, Sample)> {
        let cell = &self.cells[index];
        let allowances = self.plan.allowances.get(index);
        let allowance = allowances.and_then(|of| of.iter().find(|allowance| allowance.unit == unit));
        allowance.into_iter().flat_map(move |allowance| {
            let share = allowance.price(cell.plan.bytes_per_operation) / allowance.bucket;
            let samples = cell.all_visits().flat_map(Visit::samples);
            samples.map(move |(at_ns, sample)| (at_ns, Sample { count: sample.count * share, ..sample }))
        })
    }

    /// The burst allowance that a target would have had to have, had a cell's rate been a burst: for the sentence that
    /// a steady cell without a catalog entry gets. `None` before the first visit.
    pub fn hidden_burst(&self, cell: usize) -> Option<HiddenBurst> {
        let look = self.cells[cell].last_look()?;
        let target = self.plan.cells[cell].target;
        let on_target = self.cells.iter().filter(|cell| cell.plan.target == target);
        let mut load: Vec<Load> = on_target
            .flat_map(Cell::all_visits)
            .map(|visit| Load {
                from_ns: visit.load_from_ns(),
                to_ns: visit.to_ns(),
                operations: visit.ramp.count + visit.total().count,
            })
            .collect();
        load.sort_by_key(|part| part.from_ns);
        hidden_burst(look.mean, &load)
    }

    /// The burst and its end, if visits saw both. Where another cell began to load the target just then, that is what
    /// the rate fell for. How much the bucket holds is known only of a cell that has spent all of it.
    pub(super) fn burst_seen(&self, index: usize) -> Option<Burst> {
        const SECOND_NS: u64 = 1_000_000_000;
        let cell = &self.cells[index];
        let seen = token_bucket(&cell.stretches(&self.pauses))?;
        let fall = seen.cliff_after_ns.saturating_sub(SECOND_NS)..=seen.cliff_before_ns + SECOND_NS;
        let others = (0..self.cells.len()).filter(|other| *other != index);
        let others = others.filter(|other| self.plan.cells[*other].target == cell.plan.target);
        let begun: Vec<u64> =
            others.filter_map(|other| self.cells[other].all_visits().next()).map(Visit::load_from_ns).collect();
        if begun.iter().any(|from_ns| fall.contains(from_ns)) {
            return None;
        }
        let discarded = cell.discarded.first().map(Visit::load_from_ns);
        let is_all = begun.into_iter().chain(discarded).all(|from_ns| seen.cliff_before_ns <= from_ns);
        let tokens = seen.tokens.filter(|_| is_all);
        let ramp = cell.visits.first().map(|visit| visit.ramp).unwrap_or_default();
        Some(Burst {
            burst_rate: seen.burst_rate,
            sustained_rate: seen.sustained_rate,
            cliff_after_ns: Some(seen.cliff_after_ns),
            cliff_before_ns: Some(seen.cliff_before_ns),
            tokens: tokens.map(|tokens| tokens + ramp.count - seen.sustained_rate * ramp.seconds()),
            predicted: false,
        })
    }
}
