//! The one place where time is read: clocks that workers are generic over, and waiting until a moment.
//!
//! Everything that needs the time takes a [`Clock`], so that a test can pass a [`VirtualClock`] and be exact and
//! instant. Nothing else in plimsoll calls the clocks of the standard library.

use std::{
    hint,
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use rustix::{
    io::Errno,
    thread::{clock_nanosleep_absolute, set_current_timer_slack},
    time::{ClockId, Timespec, clock_gettime},
};

/// Where the time comes from, in nanoseconds since an arbitrary start, never going back.
pub trait Clock {
    /// Whether it stands still but while an engine waits. Others may seem to: some count in steps of 40 ns.
    const IS_MOVED_BY_ENGINE: bool = false;

    /// The time now, in nanoseconds.
    fn now_ns(&self) -> u64;
}

/// `CLOCK_MONOTONIC`, read without a system call where the kernel offers that.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * NS_PER_SECOND + now.tv_nsec as u64
    }
}

/// A clock that only moves when it is told to. Clones share the same time.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock {
    now_ns: Arc<AtomicU64>,
}

impl VirtualClock {
    /// A clock that stands at `now_ns`.
    pub fn at(now_ns: u64) -> Self {
        Self { now_ns: Arc::new(AtomicU64::new(now_ns)) }
    }

    /// Moves the clock forward to `now_ns`; a moment that has passed changes nothing.
    pub fn advance_to(&self, now_ns: u64) {
        self.now_ns.fetch_max(now_ns, Ordering::Relaxed);
    }

    /// Moves the clock forward by `span_ns`.
    pub fn advance_by(&self, span_ns: u64) {
        self.now_ns.fetch_add(span_ns, Ordering::Relaxed);
    }
}

impl Clock for VirtualClock {
    const IS_MOVED_BY_ENGINE: bool = true;

    #[inline]
    fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Relaxed)
    }
}

const NS_PER_SECOND: u64 = 1_000_000_000;

/// How long before the moment [`sleep_until_ns`] stops sleeping and spins, when asked to.
const SPIN_NS: u64 = 50_000;

/// How exactly [`sleep_until_ns`] meets its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Sleeps all the time: typically late by the timer slack of the thread, 50 us by default.
    Sleep,
    /// Spins for the last 50 us: late by well under a microsecond, at the cost of a processor.
    Spin,
}

/// Returns at `moment_ns` of the [`MonotonicClock`], or at once when that has passed.
pub fn sleep_until_ns(moment_ns: u64, precision: Precision) {
    let sleep_until = match precision {
        Precision::Sleep => moment_ns,
        Precision::Spin => moment_ns.saturating_sub(SPIN_NS),
    };
    // An interrupted sleep is continued: signals are seen by flags, not by broken sleeps.
    while sleep_until > MonotonicClock.now_ns()
        && clock_nanosleep_absolute(ClockId::Monotonic, &timespec(sleep_until)) == Err(Errno::INTR)
    {}
    while MonotonicClock.now_ns() < moment_ns {
        hint::spin_loop();
    }
}

/// Asks that timed waits of this thread end on time instead of up to 50 us late.
///
/// Whether the kernel agreed does not matter to the caller: the only effect is precision.
pub fn make_timers_precise() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / NS_PER_SECOND) as i64, tv_nsec: (ns % NS_PER_SECOND) as i64 }
}

/// The time of day in nanoseconds since 1970 (UTC), for showing and storing, never for measuring.
pub fn wall_clock_ns() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec.max(0) as u64 * NS_PER_SECOND + now.tv_nsec as u64
}

/// What one reading of the [`MonotonicClock`] costs, in nanoseconds: the cheapest of several batches.
///
/// About 20 to 30 where the kernel offers a clock without a system call, several hundred where it does not.
pub fn clock_cost_ns() -> f64 {
    const BATCHES: u32 = 8;
    const READINGS: u32 = 2000;
    let batch_ns = |_| {
        let start_ns = MonotonicClock.now_ns();
        for _ in 1..READINGS {
            hint::black_box(MonotonicClock.now_ns());
        }
        MonotonicClock.now_ns() - start_ns
    };
    let cheapest_ns = (0..BATCHES).map(batch_ns).min().unwrap_or_default();
    cheapest_ns as f64 / f64::from(READINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_clock_never_goes_back() {
        let mut last_ns = MonotonicClock.now_ns();
        for _ in 0..10_000 {
            let now_ns = MonotonicClock.now_ns();
            assert!(now_ns >= last_ns);
            last_ns = now_ns;
        }
    }

    #[test]
    fn a_virtual_clock_moves_only_forward_and_all_clones_with_it() {
        let clock = VirtualClock::at(5);
        let other = clock.clone();
        clock.advance_to(100);
        clock.advance_to(50);
        assert_eq!(other.now_ns(), 100);
        other.advance_by(1);
        assert_eq!(clock.now_ns(), 101);
    }

    #[test]
    fn a_sleep_never_ends_before_its_moment() {
        for precision in [Precision::Sleep, Precision::Spin] {
            let moment_ns = MonotonicClock.now_ns() + 300_000;
            sleep_until_ns(moment_ns, precision);
            assert!(MonotonicClock.now_ns() >= moment_ns);
        }
        sleep_until_ns(0, Precision::Sleep);
    }

    #[test]
    fn the_wall_clock_is_later_than_this_program() {
        assert!(wall_clock_ns() > 1_750_000_000 * NS_PER_SECOND);
    }

    #[test]
    fn a_clock_reading_costs_something_and_less_than_a_disk() {
        let cost_ns = clock_cost_ns();
        assert!(cost_ns > 0.1 && cost_ns < 1e6, "{cost_ns} ns");
    }
}
