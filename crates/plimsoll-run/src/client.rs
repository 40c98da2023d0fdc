//! Watches the machine in the measured time of a slot, from a thread of its own that sleeps nearly all the time.

use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_io::{
    block_device::BackingDevice,
    clock::{Clock, MonotonicClock, Precision, make_timers_precise, sleep_until_ns},
    process_usage::{thread_cpu_ns, thread_run_delay_ns},
};
use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::{client::ClientActivity, results::LatencySummary};

use crate::{counters::Counters, stops::Stops, timing::Timing};

/// How long the sleeps are that hiccups are looked for with. A wake-up costs a processor some 15 us in a virtual
/// machine, so this is three thousandths of one; with sleeps of a millisecond it was fifteen.
const SLEEP_NS: u64 = 5_000_000;
/// How soon the watch notices that there will be nothing to watch.
const PATIENCE_NS: u64 = 20_000_000;

/// What the calling worker had used at a moment.
#[derive(Clone, Copy, Debug)]
pub struct WorkerUsage {
    moment_ns: u64,
    cpu_ns: u64,
    run_delay_ns: Option<u64>,
}

impl WorkerUsage {
    /// Until now, which is that moment. Takes some ten microseconds.
    pub fn at(moment_ns: u64) -> Self {
        Self { moment_ns, cpu_ns: thread_cpu_ns(), run_delay_ns: thread_run_delay_ns() }
    }

    /// What was used since an earlier moment.
    pub fn since(self, earlier: Self) -> WorkerUse {
        let delay = self.run_delay_ns.zip(earlier.run_delay_ns);
        WorkerUse {
            cpu_ns: self.cpu_ns - earlier.cpu_ns,
            run_delay_ns: delay.map(|(later, earlier)| later.saturating_sub(earlier)),
            span_ns: self.moment_ns - earlier.moment_ns,
        }
    }
}

/// What a worker used of its processor in its measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerUse {
    /// Processor time.
    pub cpu_ns: u64,
    /// Time in which it was ready to run and had no processor; `None` where the kernel does not tell.
    pub run_delay_ns: Option<u64>,
    /// The time in which it was used.
    pub span_ns: u64,
}

impl WorkerUse {
    fn share(self) -> f64 {
        self.cpu_ns as f64 / self.span_ns.max(1) as f64
    }

    fn run_delay_share(self) -> Option<f64> {
        Some(self.run_delay_ns? as f64 / self.span_ns.max(1) as f64)
    }
}

/// What the machine did between the end of the ramp and the end of the slot, or until it is `over` or stopped, which it
/// tells those who wait in an operation. `None` when that is before the end of the ramp.
pub(crate) fn watch(
    timing: Timing,
    over: &AtomicBool,
    stops: Stops<'_>,
    devices: &[BackingDevice],
) -> Option<ClientActivity> {
    make_timers_precise();
    let is_over = || {
        if stops.end_the_slot() {
            stops.see(MonotonicClock.now_ns());
            return true;
        }
        over.load(Ordering::Relaxed)
    };
    while MonotonicClock.now_ns() < timing.from_ns {
        if is_over() {
            return None;
        }
        sleep_until_ns(timing.from_ns.min(MonotonicClock.now_ns() + PATIENCE_NS), Precision::Sleep);
    }
    let before = Counters::take(devices);
    let hiccups = hiccups(timing.until_ns.unwrap_or(u64::MAX), &is_over);
    let mut client = Counters::take(devices).since(&before).client;
    client.hiccup_ns = LatencySummary::of(&hiccups);
    client.hiccups = Some(hiccups);
    Some(client)
}

/// By how much sleeps were too long.
fn hiccups(until_ns: u64, is_over: &dyn Fn() -> bool) -> LatencyHistogram {
    let mut hiccups = LatencyHistogram::coarse();
    let mut now = MonotonicClock.now_ns();
    while now < until_ns && !is_over() {
        let wake_ns = now + SLEEP_NS;
        if wake_ns > until_ns {
            sleep_until_ns(until_ns, Precision::Sleep);
            break;
        }
        sleep_until_ns(wake_ns, Precision::Sleep);
        now = MonotonicClock.now_ns();
        hiccups.record_many(now - wake_ns, 1);
    }
    hiccups
}

/// Adds what the workers say of themselves.
pub(crate) fn add_workers(client: &mut ClientActivity, workers: &[WorkerUse]) {
    let busiest = workers.iter().map(|worker| worker.share()).max_by(f64::total_cmp);
    client.busiest_worker_share_max = busiest;
    client.busiest_worker_ns = busiest.map(|share| (share * client.span_ns as f64) as u64);
    let delays: Option<Vec<f64>> = workers.iter().map(|worker| worker.run_delay_share()).collect();
    let delays = delays.filter(|delays| !delays.is_empty());
    client.worker_run_delay_share_max = delays.as_deref().and_then(|of| of.iter().copied().max_by(f64::total_cmp));
    let mean = delays.map(|delays| delays.iter().sum::<f64>() / delays.len() as f64);
    client.worker_run_delay_ns = mean.map(|share| (share * client.span_ns as f64) as u64);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    fn in_ms(milliseconds: u64) -> u64 {
        MonotonicClock.now_ns() + milliseconds * 1_000_000
    }

    /// Watches a slot that is over or stopped, or neither.
    fn watched(timing: Timing, over: bool, stopped: bool) -> (Option<ClientActivity>, u64) {
        let (asked, never, seen_ns) = (AtomicBool::new(stopped), AtomicBool::new(false), AtomicU64::new(u64::MAX));
        let stops = Stops { asked: &asked, halt: &never, over: &never, seen_ns: &seen_ns };
        let client = watch(timing, &AtomicBool::new(over), stops, &[]);
        (client, seen_ns.into_inner())
    }

    #[test]
    fn the_measured_time_alone_is_watched() {
        let timing = Timing { start_ns: 0, from_ns: in_ms(30), until_ns: Some(in_ms(90)) };
        let client = watched(timing, false, false).0.unwrap();
        let asked_ns = timing.until_ns.unwrap() - timing.from_ns;
        // A busy machine may be late at both ends, which is why the span is noted.
        assert!(client.span_ns > asked_ns / 2, "{} of {asked_ns}", client.span_ns);
        let hiccups = client.hiccups.unwrap();
        assert!((1..=asked_ns / SLEEP_NS).contains(&hiccups.count()), "{}", hiccups.count());
        assert!(client.hiccup_ns.max.is_some());
    }

    #[test]
    fn a_slot_that_ends_in_its_ramp_has_nothing_to_say() {
        let timing = Timing { start_ns: 0, from_ns: in_ms(3_600_000), until_ns: None };
        for (over, stopped) in [(true, false), (false, true)] {
            assert_eq!(watched(timing, over, stopped).0, None);
        }
        let endless = Timing { from_ns: 0, ..timing };
        assert!(watched(endless, true, false).0.is_some());
    }

    #[test]
    fn a_stop_is_told_to_those_who_cannot_see_it() {
        let timing = Timing { start_ns: 0, from_ns: 0, until_ns: None };
        let before_ns = MonotonicClock.now_ns();
        let (client, seen_ns) = watched(timing, false, true);
        assert!(client.is_some() && (before_ns..=MonotonicClock.now_ns()).contains(&seen_ns), "{seen_ns}");
        assert_eq!(watched(timing, true, false).1, u64::MAX);
    }

    #[test]
    fn the_busiest_worker_is_the_one_with_the_largest_share() {
        let mut client = ClientActivity { span_ns: 1000, ..ClientActivity::default() };
        let worker = |cpu_ns, run_delay_ns, span_ns| WorkerUse { cpu_ns, run_delay_ns, span_ns };
        add_workers(&mut client, &[worker(90, Some(2), 100), worker(600, Some(100), 1000)]);
        assert_eq!((client.busiest_worker_ns, client.busiest_worker_share_max), (Some(900), Some(0.9)));
        assert_eq!((client.worker_run_delay_ns, client.worker_run_delay_share_max), (Some(60), Some(0.1)));
        add_workers(&mut client, &[worker(90, Some(2), 100), worker(600, None, 1000)]);
        assert_eq!((client.worker_run_delay_ns, client.worker_run_delay_share_max), (None, None));
        add_workers(&mut client, &[]);
        assert_eq!((client.busiest_worker_ns, client.busiest_worker_share_max), (None, None));
        assert_eq!((client.worker_run_delay_ns, client.worker_run_delay_share_max), (None, None));
    }
}
