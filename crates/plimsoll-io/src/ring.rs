//! Setting up rings: with the newest flags that the kernel knows, and with patience for locked memory that it has not
//! given back.

use std::{io, thread, time::Duration};

use ::io_uring::{Builder, IoUring};
use rustix::process::{Resource, getrlimit};

use crate::{
    clock::{Clock, MonotonicClock},
    engine::EngineSetup,
};

/// How long the kernel's submission thread looks for work before it sleeps.
const SQPOLL_IDLE_MS: u32 = 1000;

/// Within which time memory of closed rings is given back.
///
/// The kernel takes a ring down some time after it was closed, and counts its memory against `RLIMIT_MEMLOCK` until
/// then: on an idle machine with Linux 6.18 for up to 44 ms where one was set up after the other, and up to 56 ms where
/// a thousand were closed at once. The rest is for machines that are busy.
const GIVEN_BACK_NS: u64 = 3_000_000_000;
/// Time between attempts, which doubles from the first to the last.
const ATTEMPTS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(64)];

/// A ring as it is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RingSetup {
    /// Operations in flight.
    pub entries: u32,
    /// Whether completions are polled for.
    pub iopoll: bool,
    /// Whether a thread of the kernel takes operations.
    pub sqpoll: bool,
}

impl RingSetup {
    /// One without options.
    pub const fn plain(entries: u32) -> Self {
        Self { entries, iopoll: false, sqpoll: false }
    }

    pub(crate) const fn of(setup: &EngineSetup<'_>) -> Self {
        Self { entries: setup.queue_depth, iopoll: setup.iopoll, sqpoll: setup.sqpoll }
    }

    /// What it locks at least: entries of 64 bytes, and for each two results of 16, in whole pages.
    pub(crate) fn locked_bytes(self) -> u64 {
        let entries = u64::from(self.entries).next_power_of_two();
        [64, 32].map(|bytes| (entries * bytes).next_multiple_of(4096)).into_iter().sum()
    }

    /// Sets it up with the newest flags first, leaving out what the kernel does not know; and whether it may lose
    /// wake-ups. With others it is to lock so many bytes.
    pub(crate) fn build(self, locked_bytes: u64, notes: &mut Vec<String>) -> io::Result<(IoUring, bool)> {
        const DEFER_TASKRUN: &str = "DEFER_TASKRUN";
        /// Sets a flag of kernel versions that not all have.
        type SetFlag = fn(&mut Builder);
        // Newest last: what fails is tried again without the last. The names are those of the kernel.
        let mut optional: Vec<(&str, SetFlag)> = Vec::with_capacity(4);
        if !self.sqpoll {
            optional.push(("COOP_TASKRUN", |builder| {
                builder.setup_coop_taskrun();
            }));
        }
        optional.push(("SINGLE_ISSUER", |builder| {
            builder.setup_single_issuer();
        }));
        if !self.sqpoll {
            optional.push((DEFER_TASKRUN, |builder| {
                builder.setup_defer_taskrun();
            }));
        }
        optional.push(("NO_SQARRAY", |builder| {
            builder.setup_no_sqarray();
        }));
        loop {
            let mut builder = IoUring::builder();
            if self.iopoll {
                builder.setup_iopoll();
            }
            if self.sqpoll {
                builder.setup_sqpoll(SQPOLL_IDLE_MS);
            }
            optional.iter().for_each(|(_, set)| set(&mut builder));
            match with_locked_memory(locked_bytes, || builder.build(self.entries)) {
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => match optional.pop() {
                    Some((name, _)) => notes.push(format!("this kernel does not have {name}")),
                    None => return Err(error),
                },
                built => return Ok((built?, optional.iter().any(|(name, _)| *name == DEFER_TASKRUN))),
            }
        }
    }
}

/// Does what locks memory, when need be once closed rings have given back theirs. What is more than may be locked is
/// not waited for.
pub(crate) fn with_locked_memory<T>(bytes: u64, mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let fits = getrlimit(Resource::Memlock).current.is_none_or(|limit| bytes <= limit);
    let until_ns = MonotonicClock.now_ns() + if fits { GIVEN_BACK_NS } else { 0 };
    let [mut pause, longest] = ATTEMPTS;
    loop {
        match attempt() {
            Err(error) if error.raw_os_error() == Some(libc::ENOMEM) && MonotonicClock.now_ns() < until_ns => {
                thread::sleep(pause);
                pause = (pause * 2).min(longest);
            }
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_lock_whole_pages_of_a_power_of_two_of_entries() {
        let bytes = [1, 64, 65, 256, 1000].map(|entries| RingSetup::plain(entries).locked_bytes() >> 12);
        assert_eq!(bytes, [2, 2, 3, 6, 24]);
    }

    #[test]
    fn what_fails_for_want_of_memory_is_tried_again_and_nothing_else_is() {
        let attempts = |bytes, error: i32| {
            let mut left = 4;
            let done = with_locked_memory(bytes, || {
                left -= 1;
                if left > 0 { Err(io::Error::from_raw_os_error(error)) } else { Ok(()) }
            });
            (4 - left, done.is_ok())
        };
        assert_eq!(attempts(0, libc::ENOMEM), (4, true));
        assert_eq!(attempts(0, libc::EPERM), (1, false));
        if getrlimit(Resource::Memlock).current.is_some() {
            assert_eq!(attempts(u64::MAX, libc::ENOMEM), (1, false));
        }
    }
}
