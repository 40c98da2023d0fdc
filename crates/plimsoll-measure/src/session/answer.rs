//! What may be said of a cell, and why.

use crate::{stability::Stability, verdict::Verdict};

/// A stretch of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its start, in nanoseconds since the session began.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

/// A rate and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Operations a second.
    pub rate: f64,
    /// Half of the 95 % interval; absent when there is too little data for one.
    pub half_width: Option<f64>,
}

impl Estimate {
    /// A rate; an interval without an end is none.
    pub fn new(rate: f64, half_width: f64) -> Self {
        Self { rate, half_width: half_width.is_finite().then_some(half_width) }
    }

    /// The lower end of the interval; no rate is below zero.
    pub fn low(&self) -> Option<f64> {
        self.half_width.map(|half_width| (self.rate - half_width).max(0.0))
    }

    /// The upper end of the interval.
    pub fn high(&self) -> Option<f64> {
        self.half_width.map(|half_width| self.rate + half_width)
    }

    /// Half of the interval as a share of the rate.
    pub fn precision(&self) -> Option<f64> {
        self.half_width.filter(|_| self.rate > 0.0).map(|half_width| half_width / self.rate)
    }
}

/// A burst allowance at work, in operations a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// The rate while it lasts.
    pub burst_rate: f64,
    /// The rate when it is gone.
    pub sustained_rate: f64,
    /// The last moment known to be before the cliff, since the session began; of a prediction, the predicted moment.
    pub cliff_after_ns: Option<u64>,
    /// The first moment known to be after the cliff; of a prediction, the predicted moment.
    pub cliff_before_ns: Option<u64>,
    /// Operations above the sustained rate that the allowance holds.
    pub tokens: Option<f64>,
    /// Whether the sustained rate was seen, or follows from what a catalog says.
    pub predicted: bool,
}

/// A later visit found another rate than the one that was claimed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// The rate of the claim, of the cell that was visited again.
    pub was: f64,
    /// What the claim was about.
    pub was_in: Window,
    /// The rate of the later visit.
    pub is: f64,
    /// When that was.
    pub is_in: Window,
}

/// What a cell's visits amount to.
///
/// The window of a `steady` is always printed with it: nothing that was measured in minutes bounds the next hour.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The word. Only `steady` is a claim, and only for `window`.
    pub verdict: Verdict,
    /// The rate, even when it is no claim. Of a burst, the sustained one. Absent when nothing was measured.
    pub estimate: Option<Estimate>,
    /// What the estimate is about.
    pub window: Option<Window>,
    /// How even the seconds of the window are.
    pub stability: Option<Stability>,
    /// Seconds from dip to dip, when they are regular. Known only of a cell that was measured in one piece.
    pub period_seconds: Option<usize>,
    /// The burst allowance that was seen or is predicted.
    pub burst: Option<Burst>,
    /// The later visit that took the claim back.
    pub moved: Option<Moved>,
    /// How far visits after a write differ from others, in standard errors, when that was too much to ignore. The ramp
    /// has been doubled since.
    pub carry_over: Option<f64>,
    /// Visits that were judged, dropped ones at the start of the window included.
    pub rounds: u32,
    /// Load that all visits took, ramps included.
    pub load_ns: u64,
}

/// A window shorter than this is short enough to be said.
const SPAN_NS: u64 = 600_000_000_000;

impl Answer {
    /// What stands out, as stable words for machines.
    pub fn flags(&self) -> Vec<&'static str> {
        let stability = self.stability.as_ref();
        let flags = [
            ("wide", stability.is_some_and(|stability| stability.wide)),
            ("periodic", self.period_seconds.is_some()),
            ("burst-seen", self.burst.is_some_and(|burst| !burst.predicted)),
            ("burst-predicted", self.burst.is_some_and(|burst| burst.predicted)),
            ("moved", self.moved.is_some()),
            ("carry-over", self.carry_over.is_some()),
            ("short-span", self.window.is_some_and(|window| window.to_ns - window.from_ns < SPAN_NS)),
        ];
        flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag).collect()
    }
}
