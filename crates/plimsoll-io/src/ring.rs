//! Setting up rings: with the newest flags that the kernel knows, and with patience for memory it has not given back.

use std::{io, thread, time::Duration};

use ::io_uring::{Builder, IoUring};

use crate::{
    clock::{Clock, MonotonicClock},
    engine::EngineSetup,
};

/// How long the kernel's submission thread looks for work before it sleeps.
const SQPOLL_IDLE_MS: u32 = 1000;

/// Until when memory of closed rings is given back.
///
/// The kernel takes a ring down after it was closed, and counts its memory against `RLIMIT_MEMLOCK` until then: on an
/// idle machine with Linux 6.18 up to 44 ms, of two hundred rings that were set up one after the other.
const GIVEN_BACK_NS: u64 = 500_000_000;
const GIVEN_BACK_LOOK: Duration = Duration::from_millis(1);

/// A ring as it is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring {
    /// Operations in flight.
    pub(crate) entries: u32,
    pub(crate) iopoll: bool,
    pub(crate) sqpoll: bool,
}

impl Ring {
    pub(crate) const fn of(setup: &EngineSetup<'_>) -> Self {
        Self { entries: setup.queue_depth, iopoll: setup.iopoll, sqpoll: setup.sqpoll }
    }

    /// Sets it up with the newest flags first, leaving out what the kernel does not know; and whether it may lose
    /// wake-ups.
    pub(crate) fn build(self, notes: &mut Vec<String>) -> io::Result<(IoUring, bool)> {
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
            match set_up(&builder, self.entries) {
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => match optional.pop() {
                    Some((name, _)) => notes.push(format!("this kernel does not have {name}")),
                    None => return Err(error),
                },
                built => return Ok((built?, optional.iter().any(|(name, _)| *name == DEFER_TASKRUN))),
            }
        }
    }
}

/// Sets up a ring, when need be as soon as closed ones have given back their memory.
pub(crate) fn set_up(builder: &Builder, entries: u32) -> io::Result<IoUring> {
    let until_ns = MonotonicClock.now_ns() + GIVEN_BACK_NS;
    loop {
        match builder.build(entries) {
            Err(error) if error.raw_os_error() == Some(libc::ENOMEM) && MonotonicClock.now_ns() < until_ns => {
                thread::sleep(GIVEN_BACK_LOOK);
            }
            built => return built,
        }
    }
}
