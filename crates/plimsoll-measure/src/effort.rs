//! How much trouble to take: what the words quick, standard and thorough mean in seconds, rounds and percent.

use crate::stopping::Demand;

/// A second in nanoseconds.
const SECOND_NS: u64 = 1_000_000_000;
/// The time that the visits of a cell span at least when cells take turns, in seconds. Span is what buys trust.
const SPAN_SECONDS: f64 = 600.0;
/// The usual length of a visit in seconds, ramp included.
const VISIT_SECONDS: f64 = 7.0;
/// The most by which a finer precision than usual raises the limits.
const EXTENSION_MAX: f64 = 16.0;

/// How much trouble to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// A first look within a minute. It claims nothing.
    Quick,
    /// Good to 2 %.
    #[default]
    Standard,
    /// Good to 1 %.
    Thorough,
}

/// What an effort means for a session of so many cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// What has to be reached.
    pub demand: Demand,
    /// Whether anything may be called steady at all.
    pub claims: bool,
    /// Load before the measured part of a visit.
    pub ramp_ns: u64,
    /// Lengths of the measured part that visits are dithered over, so that no rhythm of the storage can keep step with
    /// that of the visits.
    pub measured_ns: &'static [u64],
    /// Visits to a cell before the first look.
    pub rounds_min: u32,
    /// Visits to a cell after which it is given up.
    pub rounds_max: u32,
    /// Seconds of a cell alone before the first look, a usual ramp included.
    pub seconds_min: u32,
    /// Seconds of a cell alone after which it is given up when its precision is out of reach.
    pub seconds_max: u32,
}

impl Rules {
    /// The rules of an effort for a session of `cells` cells, with another precision than the usual one if given.
    pub fn new(effort: Effort, precision: Option<f64>, cells: usize) -> Self {
        let usual = Self::usual(effort);
        let precision = precision.unwrap_or(usual.demand.precision);
        // An interval narrows with the root of the time.
        let extension = (usual.demand.precision / precision).powi(2).clamp(1.0, EXTENSION_MAX);
        let extended = |limit: u32| (f64::from(limit) * extension) as u32;
        let spanning = (SPAN_SECONDS / (VISIT_SECONDS * cells.max(1) as f64)).ceil() as u32;
        let rounds_min = if usual.claims { usual.rounds_min.max(spanning) } else { usual.rounds_min };
        Self {
            demand: Demand { precision, ..usual.demand },
            rounds_min,
            rounds_max: extended(usual.rounds_max).max(rounds_min),
            seconds_max: extended(usual.seconds_max),
            ..usual
        }
    }

    /// Visits to a cell that is sure as soon as it can be: as many looks in a row have to pass as it takes.
    pub const fn rounds_sure(&self) -> u32 {
        self.rounds_min + self.demand.confirmations - 1
    }

    /// Seconds of a cell alone after which it is given up even when it is nearly there.
    pub const fn seconds_extended(&self) -> u32 {
        2 * self.seconds_max
    }

    /// How much of a ramp counts where seconds are counted with their ramps: as much as is usual. A longer one comes on
    /// top, for what is not judged cannot stand for what is.
    pub fn counted_ramp_ns(&self, ramp_ns: u64) -> u64 {
        ramp_ns.min(self.ramp_ns)
    }

    /// The usual length of a visit, ramp included.
    pub fn visit_ns(&self) -> u64 {
        self.ramp_ns + self.measured_ns[self.measured_ns.len() / 2]
    }

    /// The time that a pass over the cells takes at least, however few are left.
    pub fn pass_ns(&self) -> u64 {
        if self.claims { (SPAN_SECONDS / f64::from(self.rounds_min)) as u64 * SECOND_NS } else { 0 }
    }

    const fn usual(effort: Effort) -> Self {
        const DITHERED: &[u64] = &[4 * SECOND_NS, 5 * SECOND_NS, 6 * SECOND_NS];
        let demand = Demand { precision: 0.02, confirmations: 2 };
        let standard = Self {
            demand,
            claims: true,
            ramp_ns: 2 * SECOND_NS,
            measured_ns: DITHERED,
            rounds_min: 10,
            rounds_max: 64,
            seconds_min: 120,
            seconds_max: 900,
        };
        match effort {
            Effort::Quick => Self {
                demand: Demand { precision: 0.05, confirmations: 1 },
                claims: false,
                ramp_ns: SECOND_NS / 5,
                measured_ns: &[SECOND_NS * 12 / 10],
                rounds_min: 6,
                rounds_max: 6,
                ..standard
            },
            Effort::Standard => standard,
            Effort::Thorough => Self {
                demand: Demand { precision: 0.01, ..demand },
                rounds_min: 20,
                rounds_max: 80,
                seconds_min: 300,
                seconds_max: 1800,
                ..standard
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_span_ten_minutes_however_few_cells_there_are() {
        for cells in 2..40 {
            let rules = Rules::new(Effort::Standard, None, cells);
            let span = f64::from(rules.rounds_min) * cells as f64 * VISIT_SECONDS;
            assert!(span >= SPAN_SECONDS && rules.rounds_min >= 10 && rules.rounds_max >= rules.rounds_min);
        }
        assert_eq!(Rules::new(Effort::Standard, None, 6).rounds_min, 15);
    }

    #[test]
    fn a_quick_look_at_six_cells_takes_less_than_a_minute_and_claims_nothing() {
        let rules = Rules::new(Effort::Quick, None, 6);
        let visit_ns = rules.ramp_ns + rules.measured_ns[0];
        assert_eq!(6 * u64::from(rules.rounds_max) * visit_ns, 50_400_000_000);
        assert!(!rules.claims);
    }

    #[test]
    fn a_finer_precision_may_take_longer_up_to_a_limit() {
        let limit = |precision: f64| Rules::new(Effort::Standard, Some(precision), 12).rounds_max;
        assert_eq!([limit(0.05), limit(0.02), limit(0.01), limit(0.0001)], [64, 64, 256, 1024]);
    }
}
