//! What a session is to measure.

use crate::{allowance::Allowance, effort::Effort};

/// What a session is to measure.
#[derive(Clone, Debug, Default)]
pub struct SessionPlan {
    /// The cells. With one, the rule for a cell alone applies.
    pub cells: Vec<CellPlan>,
    /// How much trouble to take.
    pub effort: Effort,
    /// Half of the interval to reach, as a share of the rate; the effort's own when absent.
    pub precision: Option<f64>,
    /// Decides orders and lengths.
    pub seed: u64,
    /// How many targets further on each workload begins: sessions of the same seed at the same time, each with another
    /// turn, visit no target at the same time while there are as many.
    pub turn: usize,
    /// The session ends by then, done or not.
    pub time_max_ns: Option<u64>,
    /// Visit one cell of each target again at the end, but not before this time.
    pub bookend_ns: Option<u64>,
    /// What a catalog says of each cell's target, in operations of the cell's kind; may be shorter.
    pub allowances: Vec<Vec<Allowance>>,
}

/// One cell of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellPlan {
    /// Which target it loads.
    pub target: usize,
    /// Which workload it is. Cells with the same one on different targets are visited side by side.
    pub workload: usize,
    /// Whether it writes.
    pub writes: bool,
    /// Bytes of an operation on average, for allowances that are counted in bytes.
    pub bytes_per_operation: f64,
    /// Rest before the first visit.
    pub start_delay_ns: u64,
    /// Load before the measured part, if not the effort's.
    pub ramp_ns: Option<u64>,
    /// Rest before a visit when the one before wrote to the same target and this one does not.
    pub settle_ns: u64,
    /// Visits that were asked for; the rule does not decide then.
    pub fixed: Option<FixedVisits>,
    /// Visits at the start that are kept but not judged.
    pub discard_first: u32,
    /// Visits that are kept but not judged after a pause as well, which come on top: what was warm is gone by then.
    pub discard_after_pause: u32,
    /// Cells of one phase are visited at the same time, and phases one after another. Cells without one take turns.
    pub phase: Option<u32>,
}

/// Visits that were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedVisits {
    /// How many, those included that are discarded at the start.
    pub rounds: u32,
    /// How long each; absent when each ends by itself.
    pub measured_ns: Option<u64>,
}
