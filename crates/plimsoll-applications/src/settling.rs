//! Waiting until a storage has come to rest: what was written before has arrived, servers do nothing with it, and its
//! disk has nothing to do. Where others keep the disk busy, nobody waits for them.

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
/// When servers have done nothing for so long, what the disk still does is for others.
const OTHERS: Duration = Duration::from_secs(2);
/// How often is looked.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Syncs the file system of a directory, and waits until neither servers, of which is told how many bytes they moved,
/// nor its disk have done anything for a moment, at most for so long. Returns whether it came to rest.
pub(crate) fn settle(
    directory: &Path,
    device: Option<BackingDevice>,
    servers: &dyn Fn() -> u64,
    limit: Duration,
    stop: &AtomicBool,
) -> bool {
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
    let disk = || {
        let counters = block_device::stat(device?.disk)?;
        Some((counters.read_operations + counters.write_operations + counters.flush_operations, counters.in_flight))
    };
    let mut known = (servers(), disk());
    let (mut servers_ns, mut disk_ns) = (MonotonicClock.now_ns(), MonotonicClock.now_ns());
    loop {
        let is_quiet = since(servers_ns) >= REST && (known.1.is_none() || since(disk_ns) >= REST);
        if is_quiet || since(servers_ns) >= OTHERS {
            return true;
        }
        if is_over() {
            return false;
        }
        thread::sleep(BETWEEN_LOOKS);
        let now = (servers(), disk());
        if now.0 != known.0 {
            servers_ns = MonotonicClock.now_ns();
        }
        if now.1 != known.1 || now.1.is_some_and(|(_, in_flight)| in_flight > 0) {
            disk_ns = MonotonicClock.now_ns();
        }
        known = now;
    }
}
