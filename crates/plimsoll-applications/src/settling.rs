//! Waiting until a storage has come to rest: what was written before has arrived, and the disk has nothing to do.

use std::{
    fs::File,
    path::Path,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use plimsoll_io::{
    block_device::{self, BackingDevice},
    clock::{Clock, MonotonicClock},
};
use rustix::fs::syncfs;

/// A disk that has done nothing for so long is at rest.
const REST: Duration = Duration::from_millis(200);
/// How often is looked.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Syncs the file system of a directory, and waits until its disk has been idle for a moment, at most for so long.
/// Returns whether it came to rest.
pub(crate) fn settle(directory: &Path, device: Option<BackingDevice>, limit: Duration, stop: &AtomicBool) -> bool {
    let since = |earlier_ns: u64| Duration::from_nanos(MonotonicClock.now_ns() - earlier_ns);
    let began_ns = MonotonicClock.now_ns();
    let is_over = || stop.load(Ordering::Relaxed) || since(began_ns) >= limit;
    let (tell, synced) = channel();
    let file = File::open(directory);
    // A thread of its own, because nothing ends the call before the disk has answered.
    thread::spawn(move || {
        // What cannot be synced settles by itself, and who waits no longer needs no answer.
        let _ = file.map(|file| syncfs(&file));
        let _ = tell.send(());
    });
    while synced.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
        if is_over() {
            return false;
        }
    }
    let done = || {
        let counters = block_device::stat(device?.disk)?;
        Some((counters.read_operations + counters.write_operations + counters.flush_operations, counters.in_flight))
    };
    let (mut before, mut idle_ns) = (done(), MonotonicClock.now_ns());
    while before.is_some() && since(idle_ns) < REST {
        if is_over() {
            return false;
        }
        thread::sleep(BETWEEN_LOOKS);
        let now = done();
        if now != before || now.is_some_and(|(_, in_flight)| in_flight > 0) {
            (before, idle_ns) = (now, MonotonicClock.now_ns());
        }
    }
    true
}
