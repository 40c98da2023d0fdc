//! What is measured of a slot that ends before its time.

use plimsoll_io::engine::memory::{MemoryScript, Stall};
use plimsoll_record::results::OpenLoopResult;

use super::{MILLISECOND, SECOND, Told, hanging, measured_ns, plan, quantile, run_with, stalled};

/// Told to stop, and another sees that at once.
fn stopped(at_ns: u64) -> Told {
    Told { at_ns, stops: true, another_sees_ns: at_ns }
}

/// Told that the phase is over.
fn over(at_ns: u64, another_sees_ns: u64) -> Told {
    Told { at_ns, stops: false, another_sees_ns }
}

#[test]
fn what_comes_after_an_interruption_is_not_measured() {
    // A worker that sees the interruption while the storage hangs; and one that waits in an operation until it answers,
    // or sleeps as long, while another sees it.
    let plan = plan("rw = 'randread'\nqueue_depth = 4\nduration = '60s'\nramp = '0s'");
    let stall = Stall { from_ns: 3 * SECOND, length_ns: 5 * SECOND };
    let seeing =
        run_with(&plan, hanging(3), None, &[Told { another_sees_ns: u64::MAX, ..stopped(5500 * MILLISECOND) }]);
    let waiting = run_with(&plan, hanging(3), Some(stall), &[stopped(5500 * MILLISECOND)]);
    for done in [seeing, waiting] {
        assert!(done.ended_ns.abs_diff(5500 * MILLISECOND) < 200 * MILLISECOND, "{}", done.ended_ns);
        let histogram = &done.tally.read.histogram;
        assert_eq!(histogram.count(), done.tally.read.operations + 4);
        assert!(histogram.max_ns().unwrap() >= 5 * SECOND, "{histogram:?}");
        assert_eq!(measured_ns(&done), done.ended_ns - MILLISECOND);
        // The rest is no whole second.
        assert_eq!(stalled(&done)[..2], [3, 4]);
        let reads = done.seconds.iter().map(|(.., tally)| tally.read_operations);
        assert_eq!(reads.sum::<u64>(), done.tally.read.operations);
    }
}

#[test]
fn what_ends_in_the_second_of_an_interruption_is_measured_until_then_only() {
    let mut plan = plan("rw = 'randread'\nqueue_depth = 4\nduration = '60s'\nramp = '0s'");
    let stall = Stall { from_ns: 3400 * MILLISECOND, length_ns: 80 * MILLISECOND };
    let script = MemoryScript { latency_ns: MILLISECOND, stalls: vec![stall], ..MemoryScript::default() };
    let at_ns = 3450 * MILLISECOND;
    // Who only reads has nothing to sync, whatever is said of all.
    for (told, end_fsync) in [(stopped(at_ns), false), (over(at_ns, at_ns), false), (over(at_ns, at_ns), true)] {
        plan.end_fsync = end_fsync;
        let done = run_with(&plan, script.clone(), None, &[told]);
        assert_eq!(done.ended_ns, at_ns);
        assert_eq!((done.tally.read.outside_operations, measured_ns(&done)), (4, at_ns - MILLISECOND));
    }
}

#[test]
fn a_final_sync_counts_although_the_end_came_before_its_time() {
    let stall = Stall { from_ns: 3 * SECOND, length_ns: 5 * SECOND };
    let text = "rw = 'randwrite'\nqueue_depth = 4\nramp = '0s'\nend_fsync = true";
    // Another of its phase ends it: seen by the worker, by others in the middle of a second, and while it waits.
    let by_time = plan(&format!("{text}\nduration = '60s'"));
    let run_until = |told, oversleeps| run_with(&by_time, hanging(3), oversleeps, &[told]);
    let [seen_by_itself, by_others] =
        [u64::MAX, 2500 * MILLISECOND].map(|seen_ns| run_until(over(2500 * MILLISECOND, seen_ns), None));
    let waiting = run_until(over(5500 * MILLISECOND, 5500 * MILLISECOND), Some(stall));
    // Its amount is done, and somebody interrupts the sync.
    let by_amount = plan(&format!("{text}\noperations = 11996"));
    let interrupted = run_with(&by_amount, hanging(3), None, &[stopped(5500 * MILLISECOND)]);
    for (done, syncs_at_ns) in [(seen_by_itself, 2500), (by_others, 2500), (waiting, 8000), (interrupted, 8000)]
        .map(|(done, at)| (done, at * MILLISECOND))
    {
        assert_eq!((done.tally.sync.operations, done.tally.sync.outside_operations), (1, 0), "{syncs_at_ns}");
        assert!(done.tally.last_completion_ns.abs_diff(syncs_at_ns) < 200 * MILLISECOND, "{:?}", done.tally.sync);
        assert_eq!(measured_ns(&done), done.tally.last_completion_ns - MILLISECOND);
        let writes = done.seconds.iter().map(|(.., tally)| tally.write_operations);
        assert_eq!(writes.sum::<u64>(), done.tally.write.operations);
        assert_eq!(done.tally.write.outside_operations, 0);
    }
    // Somebody interrupts what the sync waits for: it is not done, and the phase was over before.
    let told = [over(3500 * MILLISECOND, 3500 * MILLISECOND), stopped(5500 * MILLISECOND)];
    let unsynced = run_with(&by_time, hanging(3), None, &told);
    assert_eq!((unsynced.tally.sync.all_operations(), unsynced.tally.write.outside_operations), (0, 4));
    assert_eq!((unsynced.ended_ns, unsynced.tally.last_completion_ns), (3500 * MILLISECOND, 3 * SECOND));
}

#[test]
fn what_was_due_until_an_end_before_its_time_is_counted() {
    // Of all that the ramp leaves behind nothing of the measured time is ever issued.
    let rest = [("duration = '60s'", true, u64::MAX), ("io_size = '100G'", false, u64::MAX)];
    // These waited in an operation while another saw the end, one until its own end: nothing was due any more.
    let blocked = ["duration = '60s'", "duration = '4900ms'"].map(|text| (text, true, 4 * SECOND + MILLISECOND));
    for (text, stops, seen_ns) in rest.into_iter().chain(blocked) {
        let plan = plan(&format!("rw = 'randread'\nrate = 500000\n{text}\nramp = '1s'"));
        let script = MemoryScript { latency_ns: 10 * MILLISECOND, ..MemoryScript::default() };
        let done = run_with(&plan, script, None, &[Told { at_ns: 6 * SECOND, stops, another_sees_ns: seen_ns }]);
        let OpenLoopResult { intended, never_issued, .. } = done.tally.open_loop;
        assert_eq!((intended, done.tally.read.histogram.count()), (never_issued, never_issued));
        let due_ns = done.ended_ns - SECOND - MILLISECOND;
        assert!((due_ns / 2000).abs_diff(intended) <= 1, "{intended} in {due_ns}");
        assert!(done.ended_ns.abs_diff(seen_ns.min(6 * SECOND)) < 20 * MILLISECOND, "{}", done.ended_ns);
        let median = quantile(&done.tally.read.histogram, 0.5);
        assert!(median.abs_diff(due_ns / 2) < 50 * MILLISECOND, "{median}");
    }
}
