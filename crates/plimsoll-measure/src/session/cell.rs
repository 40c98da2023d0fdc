//! One cell of a session: its visits, and the rule that judges them.

use super::{
    CellPlan, Purpose,
    answer::Window,
    resuming::Pause,
    visit::{Sample, Visit},
};
use crate::{
    detect::token_bucket::Stretch,
    effort::Rules,
    series::{
        moments::{mean, variance},
        slope::Trend,
    },
    stopping::{contiguous, rounds},
};

/// Fixed visits fewer than this are judged second by second, as if they were one piece: two looks in a row have to
/// pass, and the earlier one has a visit less.
pub const ROUNDS_JUDGED_MIN: u32 = rounds::CLAIM_ROUNDS_MIN as u32 + 1;
/// How far beyond the last second a precision may seem to be and yet be worth going on for: intervals of slow noise are
/// too wide by such a factor as often as not.
const REACH: f64 = 1.5;
/// Visits of both kinds that a check for carry-over needs.
const CARRY_OVER_VISITS_MIN: usize = 3;
/// Standard errors from which visits after a write differ from others.
const CARRY_OVER_CRITICAL: f64 = 3.0;

/// What a look at a cell finds, whatever the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    pub(super) mean: f64,
    pub(super) half_width: f64,
    pub(super) window: Window,
    pub(super) period_seconds: Option<usize>,
    pub(super) trend: Option<Trend>,
    /// Whether the mean says what one will get.
    pub(super) even: bool,
    pub(super) passes: bool,
    /// The first visit, or the first second of a cell in one piece, that counts.
    from: usize,
}

/// The seconds of a time, rounded.
const fn whole_seconds(time_ns: u64) -> usize {
    ((time_ns + 500_000_000) / 1_000_000_000) as usize
}

#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) plan: CellPlan,
    pub(super) rules: Rules,
    /// Whether the cell is judged second by second, and not by its visits.
    pub(super) alone: bool,
    /// Visits that are judged.
    pub(super) visits: Vec<Visit>,
    /// The rates of all their seconds.
    rates: Vec<f64>,
    /// Where the seconds of each visit start.
    starts: Vec<usize>,
    /// Visits that are kept for the record only.
    pub(super) discarded: Vec<Visit>,
    /// So many of the next ones are as well.
    pub(super) discards_left: u32,
    /// Visits beyond those that were asked for, to be discarded after pauses.
    pub(super) more_rounds: u32,
    /// Whether each visit directly followed a write to the same target, where that is known.
    after_write: Vec<Option<bool>>,
    /// Whether the cell needs no more visits.
    pub(super) closed: bool,
    /// Whether the rule was content.
    pub(super) claimed: bool,
    /// See [`super::answer::Answer::carry_over`].
    pub(super) carry_over: Option<f64>,
    /// Looks in a row that passed.
    pub(super) passes: u32,
    /// Seconds, ramp included, at which a cell alone is looked at next; of one that is done, was looked at last.
    pub(super) next_look: usize,
}

impl Cell {
    pub(super) fn new(plan: CellPlan, rules: Rules, cells: usize) -> Self {
        let alone = match plan.fixed {
            Some(fixed) => fixed.rounds.saturating_sub(plan.discard_first) < ROUNDS_JUDGED_MIN,
            None => cells == 1 && rules.claims,
        };
        Self {
            alone,
            next_look: rules.seconds_min as usize,
            plan,
            rules,
            visits: Vec::new(),
            rates: Vec::new(),
            starts: Vec::new(),
            discarded: Vec::new(),
            discards_left: plan.discard_first,
            more_rounds: 0,
            after_write: Vec::new(),
            closed: false,
            claimed: false,
            carry_over: None,
            passes: 0,
        }
    }

    /// Visits so far, discarded ones included.
    pub(super) fn rounds_done(&self) -> u32 {
        (self.visits.len() + self.discarded.len()) as u32
    }

    /// All visits, in the order of time.
    pub(super) fn all_visits(&self) -> impl Iterator<Item = &Visit> {
        let mut all: Vec<&Visit> = self.discarded.iter().chain(&self.visits).collect();
        all.sort_by_key(|visit| visit.from_ns);
        all.into_iter()
    }

    /// Whether the next visit is kept for the record only.
    pub(super) const fn discards(&self) -> bool {
        self.discards_left > 0
    }

    /// Takes in that the session was interrupted. A cell that was not visited yet begins as it would have.
    pub(super) fn pause(&mut self) {
        if !self.closed && self.rounds_done() > 0 {
            let more = self.plan.discard_after_pause.saturating_sub(self.discards_left);
            self.discards_left += more;
            self.more_rounds += more;
        }
    }

    /// Seconds of a cell in one piece, ramps included as far as they count.
    pub(super) fn seconds(&self) -> usize {
        let ramps_ns: u64 = self.visits.iter().map(|visit| self.rules.counted_ramp_ns(visit.ramp.elapsed_ns)).sum();
        whole_seconds(ramps_ns) + self.rates.len()
    }

    /// How much longer a cell in one piece is measured before it is looked at, after a ramp.
    pub(super) fn seconds_to_next_look(&self, ramp_ns: u64) -> usize {
        let ramp = whole_seconds(self.rules.counted_ramp_ns(ramp_ns));
        self.next_look.saturating_sub(self.seconds() + ramp).max(1)
    }

    /// Takes in a visit. Returns whether it is judged, as its purpose says: visits that several machines made may be
    /// discarded in another order than those of one, and for what was found afterwards. One that ended before it
    /// measured anything was done, and says nothing of a rate.
    pub(super) fn add(&mut self, purpose: Purpose, visit: Visit, after_write: Option<bool>) -> bool {
        if purpose == Purpose::Discard {
            self.discards_left = self.discards_left.saturating_sub(1);
        }
        if purpose == Purpose::Discard || visit.total().elapsed_ns == 0 {
            self.discarded.push(visit);
            return false;
        }
        self.starts.push(self.rates.len());
        self.rates.extend(visit.rates());
        self.visits.push(visit);
        self.after_write.push(after_write);
        true
    }

    /// The next look that is due, if any; `None` when more data is needed first.
    pub(super) fn due_look(&mut self) -> Option<Look> {
        if self.closed {
            return None;
        }
        if self.plan.fixed.is_some() {
            return None;
        }
        if self.alone {
            let is_due = self.seconds() >= self.next_look;
            return is_due.then(|| self.look_at(self.rates_until(self.next_look)));
        }
        (self.visits.len() as u32 >= self.rules.rounds_min).then(|| self.look_at_rounds(self.visits.len()))
    }

    /// Draws the consequences of a look. Returns whether another may be due already.
    pub(super) fn conclude(&mut self, look: &Look, is_burst: bool) -> bool {
        self.passes = if look.passes { self.passes + 1 } else { 0 };
        self.claimed = self.passes >= self.rules.demand.confirmations && self.rules.claims;
        if !self.alone {
            self.check_carry_over();
        }
        let limit = self.seconds_limit(look);
        self.closed = self.claimed || is_burst || (self.alone && self.next_look >= limit);
        let goes_on = self.alone && !self.closed;
        if goes_on {
            self.next_look = contiguous::next_look(self.next_look, limit);
        }
        goes_on
    }

    /// How many seconds a cell alone gets. Past the usual limit only one goes on that will be known soon: what jumps
    /// about is no better known after an hour.
    fn seconds_limit(&self, look: &Look) -> usize {
        let (usual, extended) = (self.rules.seconds_max as usize, self.rules.seconds_extended() as usize);
        // Intervals narrow with the root of the time.
        let needed = self.next_look as f64 * (look.half_width / (self.rules.demand.precision * look.mean)).powi(2);
        let within_reach = look.mean > 0.0 && look.even && needed <= REACH * extended as f64;
        if self.next_look < usual || !within_reach { usual } else { extended }
    }

    /// Closes a cell that has had all its visits.
    pub(super) fn close_if_exhausted(&mut self) {
        let limit = match self.plan.fixed {
            Some(fixed) => Some(fixed.rounds + self.more_rounds),
            None if self.alone => None,
            None => Some(self.rules.rounds_max + self.plan.discard_first),
        };
        if !self.closed && limit.is_some_and(|limit| self.rounds_done() >= limit) {
            self.closed = true;
            if self.plan.fixed.is_some() {
                self.claimed = self.fixed_is_steady();
            }
        }
    }

    /// Whether there is enough to say more than `short`.
    pub(super) fn has_enough(&self) -> bool {
        let enough = if self.alone {
            self.seconds() >= self.rules.seconds_min as usize
        } else if self.plan.fixed.is_some() {
            // How visits that were asked for lie in time is not the rule's to demand. Each may be any number of values.
            let counted_ns =
                |visit: &Visit| self.rules.counted_ramp_ns(visit.ramp.elapsed_ns) + visit.total().elapsed_ns;
            whole_seconds(self.visits.iter().map(counted_ns).sum()) >= self.rules.seconds_min as usize
        } else {
            self.visits.len() as u32 >= self.rules.rounds_min
        };
        enough && self.rules.claims
    }

    /// A look at all that the cell was or would be judged by; `None` before the first visit.
    pub(super) fn last_look(&self) -> Option<Look> {
        if self.rates.is_empty() {
            return None;
        }
        Some(if self.alone { self.look_at(self.judged().len()) } else { self.look_at_rounds(self.visits.len()) })
    }

    /// The rates of the seconds that a look is about.
    pub(super) fn rates_of(&self, look: &Look) -> &[f64] {
        if self.alone { &self.judged()[look.from..] } else { &self.rates[self.starts[look.from]..] }
    }

    /// What was judged, as stretches without gaps. A cell in one piece is one stretch, unless it was interrupted.
    pub(super) fn stretches(&self, pauses: &[Pause]) -> Vec<Stretch<'_>> {
        if self.in_one_piece() {
            let pauses_before = |visit: &Visit| pauses.iter().filter(|pause| pause.to_ns <= visit.from_ns).count();
            let pieces = self.visits.chunk_by(|left, right| pauses_before(left) == pauses_before(right));
            let mut first = 0;
            return pieces
                .filter_map(|piece| {
                    let from = self.starts[first];
                    first += piece.len();
                    let to = self.starts.get(first).copied().unwrap_or(self.rates.len());
                    let rates = self.judged().get(from..to.min(self.judged().len()))?;
                    Some(Stretch { from_ns: piece[0].from_ns, rates })
                })
                .filter(|stretch| !stretch.rates.is_empty())
                .collect();
        }
        let visits = self.visits.iter().enumerate();
        visits.map(|(index, visit)| Stretch { from_ns: visit.from_ns, rates: self.rates_of_visit(index) }).collect()
    }

    fn rates_of_visit(&self, visit: usize) -> &[f64] {
        let end = self.starts.get(visit + 1).copied().unwrap_or(self.rates.len());
        &self.rates[self.starts[visit]..end]
    }

    /// Whether the rule decides how long the cell goes on without a pause.
    pub(super) fn in_one_piece(&self) -> bool {
        self.alone && self.plan.fixed.is_none()
    }

    /// The rates that the last look was about. What was measured after it changes nothing.
    fn judged(&self) -> &[f64] {
        let end = if self.closed && self.in_one_piece() { self.rates_until(self.next_look) } else { self.rates.len() };
        &self.rates[..end]
    }

    /// How many rates lie before this second, ramps included.
    fn rates_until(&self, seconds: usize) -> usize {
        self.rates.len().saturating_sub(self.seconds().saturating_sub(seconds))
    }

    /// A look at the first so many rates of a cell in one piece.
    fn look_at(&self, count: usize) -> Look {
        let look = contiguous::look(&self.rates[..count], &self.rules.demand);
        Look {
            mean: look.mean,
            half_width: look.half_width,
            window: Window { from_ns: self.second_ns(look.from), to_ns: self.second_ns(count) },
            period_seconds: look.period,
            trend: look.trend,
            even: look.even,
            passes: look.passes,
            from: look.from,
        }
    }

    /// When a second of a cell in one piece began.
    fn second_ns(&self, second: usize) -> u64 {
        let visit = self.starts.partition_point(|start| *start <= second).saturating_sub(1);
        let within = (second - self.starts[visit]) as u64 * 1_000_000_000;
        (self.visits[visit].from_ns + within).min(self.visits[visit].to_ns())
    }

    /// A look at the first so many visits.
    fn look_at_rounds(&self, count: usize) -> Look {
        let means: Vec<f64> = self.visits[..count].iter().map(|visit| visit.total().rate()).collect();
        let seconds: Vec<&[f64]> = (0..count).map(|visit| self.rates_of_visit(visit)).collect();
        let look = rounds::look(&means, &seconds, self.rules.rounds_min as usize, &self.rules.demand);
        let window = Window { from_ns: self.visits[look.from].from_ns, to_ns: self.visits[count - 1].to_ns() };
        Look {
            mean: look.mean,
            half_width: look.half_width,
            window,
            period_seconds: None,
            trend: look.trend,
            even: look.even,
            passes: look.passes,
            from: look.from,
        }
    }

    /// Whether as many looks in a row pass as it takes, the last of them at the end.
    fn fixed_is_steady(&self) -> bool {
        let confirmations = self.rules.demand.confirmations as usize;
        if !self.has_enough() {
            return false;
        }
        if !self.alone {
            let counts = (1..=self.visits.len()).rev().take(confirmations);
            return counts.into_iter().all(|count| self.look_at_rounds(count).passes);
        }
        let earlier = |seconds: &usize| Some((*seconds as f64 / contiguous::LOOK_RATIO) as usize);
        let looks = std::iter::successors(Some(self.seconds()), earlier).map(|seconds| self.rates_until(seconds));
        looks.take(confirmations).all(|count| count > 0 && self.look_at(count).passes)
    }

    /// Compares visits after a write to the target with the others, once, when the first look is due.
    fn check_carry_over(&mut self) {
        if self.visits.len() as u32 != self.rules.rounds_min {
            return;
        }
        let logs = |wanted: bool| -> Vec<f64> {
            let pairs = self.visits.iter().zip(&self.after_write);
            let of_kind = pairs.filter(|(_, after_write)| **after_write == Some(wanted));
            of_kind.map(|(visit, _)| visit.total().rate()).filter(|rate| *rate > 0.0).map(f64::ln).collect()
        };
        let (after_write, others) = (logs(true), logs(false));
        if after_write.len().min(others.len()) < CARRY_OVER_VISITS_MIN {
            return;
        }
        let error =
            (variance(&after_write) / after_write.len() as f64 + variance(&others) / others.len() as f64).sqrt();
        let t = (mean(&after_write) - mean(&others)) / error.max(1e-12);
        self.carry_over = (t.abs() > CARRY_OVER_CRITICAL).then_some(t);
    }

    /// All load that visits took.
    pub(super) fn load(&self) -> Sample {
        self.all_visits().fold(Sample::default(), |sum, visit| {
            let total = visit.total();
            Sample {
                count: sum.count + visit.ramp.count + total.count,
                elapsed_ns: sum.elapsed_ns + visit.ramp.elapsed_ns + total.elapsed_ns,
            }
        })
    }
}
