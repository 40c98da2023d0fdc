//! Waiting until a storage has come to rest: what was written before has arrived, servers do nothing with it, and its
//! disks have nothing to do. Where others keep the disk busy, nobody waits for them.

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
    block_device::{self, BackingDevice, DiskCounters},
    clock::{Clock, MonotonicClock},
};
use rustix::fs::syncfs;

use crate::telling::Telling;

/// A disk that has done nothing for so long is at rest.
const REST: Duration = Duration::from_millis(200);
/// When servers have done nothing for so long, what the disk still does is for others.
const OTHERS: Duration = Duration::from_secs(2);
/// How often is looked.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// What servers have to do with storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Servers {
    /// Bytes that they moved so far.
    pub(crate) bytes: u64,
    /// Whether one of them waits for a disk: a sync of what it wrote before moves no further bytes.
    pub(crate) waits_for_disk: bool,
}

/// Syncs the file system of a directory, and waits until neither servers nor its disk have done
/// anything for a moment, at most for so long. Returns whether it came to rest.
pub(crate) fn settle(
    directory: &Path,
    device: Option<BackingDevice>,
    servers: &dyn Fn() -> Servers,
    limit: Duration,
    stop: &AtomicBool,
    telling: &mut Telling<'_>,
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
        telling.go_on();
    }
    let disk = || {
        let disks = block_device::counted_on(device?.device).into_iter().filter_map(block_device::stat);
        let all = disks.reduce(DiskCounters::and)?;
        Some((all.read_operations + all.write_operations + all.flush_operations, all.in_flight))
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
        telling.go_on();
        thread::sleep(BETWEEN_LOOKS);
        let now = (servers(), disk());
        if now.0.bytes != known.0.bytes || now.0.waits_for_disk {
            servers_ns = MonotonicClock.now_ns();
        }
        if now.1 != known.1 || now.1.is_some_and(|(_, in_flight)| in_flight > 0) {
            disk_ns = MonotonicClock.now_ns();
        }
        known = now;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use plimsoll_workload::application::Stage;

    use super::*;

    #[test]
    fn a_server_that_waits_for_its_disk_is_waited_for_though_it_moves_nothing() {
        let looks = Cell::new(0);
        let syncing = |until: u32| {
            let looks = &looks;
            move || {
                looks.set(looks.get() + 1);
                Servers { bytes: 7, waits_for_disk: looks.get() < until }
            }
        };
        let place = tempfile::tempdir().unwrap();
        let settles = |until: u32, limit: Duration| {
            looks.set(0);
            let mut tell = |_| {};
            let mut telling = Telling::begin(Stage::Settle, &mut tell);
            settle(place.path(), None, &syncing(until), limit, &AtomicBool::new(false), &mut telling)
        };
        assert!(settles(8, Duration::from_secs(60)));
        assert!(looks.get() > 8, "{} looks", looks.get());
        assert!(!settles(u32::MAX, Duration::from_millis(300)), "it never comes to rest");
    }
}
