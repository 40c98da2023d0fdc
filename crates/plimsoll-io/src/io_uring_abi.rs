//! What the `io-uring` crate does not offer in the form needed: entering a registered ring, doing so with an absolute
//! deadline, registering it for longer than one borrow, and entries that cost little.

use std::{
    io, mem,
    os::fd::{BorrowedFd, RawFd},
    ptr,
};

use ::io_uring::{squeue, types::FsyncFlags};
use rustix::{
    io_uring::{
        IoringEnterFlags, IoringRegisterOp, io_uring_enter, io_uring_enter_arg, io_uring_getevents_arg, io_uring_ptr,
        io_uring_register, io_uring_rsrc_update,
    },
    time::Timespec,
};

use crate::clock::timespec;

const _: () = assert!(size_of::<Timespec>() == 16);

/// The start of an entry of the submission queue (`struct io_uring_sqe`).
///
/// Entries are made in registers. Those that the crate's builders make are put together in memory, and copied from
/// there in wider pieces than they were written in: each of these waits until what was written has reached the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryStart {
    pub(crate) head: EntryHead,
    /// A file, or the number of a registered one.
    pub(crate) file: RawFd,
    pub(crate) user_data: u64,
}

/// What an entry begins with: what is to be done, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryHead(u16);

impl EntryHead {
    pub(crate) fn new(opcode: u8, flags: squeue::Flags) -> Self {
        Self(u16::from(opcode) | u16::from(flags.bits()) << 8)
    }

    /// The same with more flags.
    #[inline]
    pub(crate) fn with(self, flags: squeue::Flags) -> Self {
        Self(self.0 | u16::from(flags.bits()) << 8)
    }
}

// The fields of an entry are put into words as they lie in memory then.
const _: () = assert!(cfg!(target_endian = "little"));

impl EntryStart {
    /// A read or a write. `buffer` is the number of a registered one, or zero.
    #[inline(always)]
    pub(crate) fn transfer(self, offset: u64, pointer: *mut u8, length: u32, buffer: u16) -> squeue::Entry {
        self.entry([offset, pointer as u64, u64::from(length)], buffer)
    }

    /// A sync.
    #[inline(always)]
    pub(crate) fn sync(self, flags: FsyncFlags) -> squeue::Entry {
        self.entry([0, 0, u64::from(flags.bits()) << 32], 0)
    }

    /// The three words after the first are offset, address, and length with the flags of the operation.
    #[inline(always)]
    fn entry(self, [offset, address, length]: [u64; 3], buffer: u16) -> squeue::Entry {
        let Self { head, file, user_data } = self;
        let first = u64::from(head.0) | u64::from(file as u32) << 32;
        let words: [u64; 8] = [first, offset, address, length, user_data, u64::from(buffer), 0, 0];
        // SAFETY: an entry has as many bytes, of nothing but numbers.
        unsafe { mem::transmute::<[u64; 8], squeue::Entry>(words) }
    }
}

/// Until when to wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deadline {
    /// Until this moment of `CLOCK_MONOTONIC`, in nanoseconds.
    At(u64),
    /// For so many nanoseconds.
    In(u64),
}

/// `io_uring_enter`: how many entries the kernel took. The ring is its descriptor, or with `REGISTERED_RING` its index
/// among those of this thread.
///
/// # Safety
/// The ring is open or registered, and everything in the submission queue may be used by the kernel until its
/// completion.
#[inline(always)]
pub(crate) unsafe fn enter(
    ring: RawFd,
    to_submit: u32,
    at_least: u32,
    flags: IoringEnterFlags,
    deadline: Option<Deadline>,
) -> rustix::io::Result<u32> {
    // SAFETY: upheld by the caller; an index goes to the kernel only, as a number.
    let ring = unsafe { BorrowedFd::borrow_raw(ring) };
    let (timespec, flags) = match deadline {
        // SAFETY: upheld by the caller.
        None => return unsafe { io_uring_enter(ring, to_submit, at_least, flags) },
        Some(Deadline::At(ns)) => (timespec(ns), flags | IoringEnterFlags::EXT_ARG | IoringEnterFlags::ABS_TIMER),
        Some(Deadline::In(ns)) => (timespec(ns), flags | IoringEnterFlags::EXT_ARG),
    };
    let ts = io_uring_ptr::new((&raw const timespec).cast_mut().cast());
    let argument = io_uring_getevents_arg { ts, ..Default::default() };
    // SAFETY: upheld by the caller; the time lives until the call returns and has the kernel's layout.
    unsafe { io_uring_enter_arg(ring, to_submit, at_least, flags, Some(&argument)) }
}

/// Whether the kernel takes deadlines as moments, which saves reading the clock to make a span of them.
pub(crate) fn has_absolute_deadlines(ring: RawFd) -> bool {
    // SAFETY: nothing is submitted. Zero results are waited for, but a flag that is not known is refused.
    unsafe { enter(ring, 0, 0, IoringEnterFlags::GETEVENTS, Some(Deadline::At(1))) }.is_ok()
}

/// Registers a ring with this thread, since Linux 5.18; its index replaces the descriptor in [`enter`].
pub(crate) fn register_ring(ring: RawFd) -> io::Result<u32> {
    let mut update = io_uring_rsrc_update::default();
    update.offset = u32::MAX;
    update.data = io_uring_ptr::new(ptr::without_provenance_mut(ring as usize));
    register(ring, IoringRegisterOp::RegisterRingFds, &mut update)?;
    Ok(update.offset)
}

/// Undoes [`register_ring`]: a thread may register 16 rings.
pub(crate) fn unregister_ring(ring: RawFd, index: u32) {
    let mut update = io_uring_rsrc_update::default();
    update.offset = index;
    // The kernel drops the registration with the thread, so a failure loses nothing for long.
    let _ = register(ring, IoringRegisterOp::UnregisterRingFds, &mut update);
}

/// `io_uring_register` of one ring.
fn register(ring: RawFd, operation: IoringRegisterOp, update: &mut io_uring_rsrc_update) -> rustix::io::Result<u32> {
    // SAFETY: callers have the ring open.
    let ring = unsafe { BorrowedFd::borrow_raw(ring) };
    // SAFETY: the update has the kernel's layout, may be written to and lives until the call returns.
    unsafe { io_uring_register(ring, operation, (&raw mut *update).cast(), 1) }
}

#[cfg(test)]
mod tests {
    use ::io_uring::{
        opcode::{Fsync, Read, ReadFixed, Write, WriteFixed},
        types::{Fd, Fixed},
    };

    use super::*;

    fn words(entry: squeue::Entry) -> [u64; 8] {
        // SAFETY: an entry has as many bytes, of nothing but numbers.
        unsafe { mem::transmute::<squeue::Entry, [u64; 8]>(entry) }
    }

    #[test]
    fn entries_are_those_that_the_builders_make() {
        let (pointer, length, offset, tag) = (0x7f12_3456_7000 as *mut u8, 0x4000_0000, 0xfedc_ba98_7654_3000, 0xabcd);
        let start = |opcode, file, flags| EntryStart { head: EntryHead::new(opcode, flags), file, user_data: tag };
        let (plain, fixed) = (squeue::Flags::empty(), squeue::Flags::FIXED_FILE);
        let waiting = |start: EntryStart| EntryStart { head: start.head.with(squeue::Flags::ASYNC), ..start };
        let expected = [
            ReadFixed::new(Fixed(9), pointer, length, 513).offset(offset).build().flags(squeue::Flags::ASYNC),
            WriteFixed::new(Fd(9), pointer, length, 513).offset(offset).build(),
            Read::new(Fd(9), pointer, length).offset(offset).build(),
            Write::new(Fixed(9), pointer, length).offset(offset).build(),
            Fsync::new(Fixed(9)).build(),
            Fsync::new(Fd(9)).flags(FsyncFlags::DATASYNC).build(),
        ];
        let made = [
            waiting(start(ReadFixed::CODE, 9, fixed)).transfer(offset, pointer, length, 513),
            start(WriteFixed::CODE, 9, plain).transfer(offset, pointer, length, 513),
            start(Read::CODE, 9, plain).transfer(offset, pointer, length, 0),
            start(Write::CODE, 9, fixed).transfer(offset, pointer, length, 0),
            start(Fsync::CODE, 9, fixed).sync(FsyncFlags::empty()),
            start(Fsync::CODE, 9, plain).sync(FsyncFlags::DATASYNC),
        ];
        assert_eq!(made.map(words), expected.map(|entry| words(entry.user_data(tag))));
    }
}
