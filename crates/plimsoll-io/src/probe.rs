//! Which engine this machine lets us use, found out by using it, and why not the others.
//!
//! Containers often deny `io_uring`, and a tool that only says `EPERM` leaves its user guessing. Every answer here
//! names the likely cause with the number that decides it.

use std::{collections::BTreeMap, fmt, fs, io, iter, os::fd::AsRawFd};

use ::io_uring::{Builder, IoUring, opcode::Nop};
use plimsoll_workload::settings::{EngineChoice, NameOperation};
use rustix::process::{Resource, getrlimit};
use thiserror::Error;

use crate::{
    buffer_pool::BufferPool,
    engine::Tag,
    io_uring_abi,
    linux_aio_abi::AioContext,
    ring::{RingSetup, with_locked_memory},
};

/// The engines, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// `io_uring` rings.
    IoUring,
    /// Linux native AIO.
    Libaio,
    /// Blocking calls, a thread for each operation in flight.
    Psync,
    /// No storage at all.
    Memory,
    /// Creates files.
    FileCreate,
    /// Asks for the attributes of files.
    FileStat,
    /// Removes files.
    FileDelete,
}

impl EngineKind {
    /// The name in flags and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Libaio => "libaio",
            Self::Psync => "psync",
            Self::Memory => "memory",
            Self::FileCreate => "filecreate",
            Self::FileStat => "filestat",
            Self::FileDelete => "filedelete",
        }
    }

    /// The engine that does this with files.
    pub const fn of_names(operation: NameOperation) -> Self {
        match operation {
            NameOperation::Create => Self::FileCreate,
            NameOperation::Stat => Self::FileStat,
            NameOperation::Delete => Self::FileDelete,
        }
    }

    /// Whether an operation blocks the thread that issues it, so that each in flight takes one.
    pub const fn blocks(self) -> bool {
        matches!(self, Self::Psync | Self::FileCreate | Self::FileStat | Self::FileDelete)
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An engine cannot be used here, and why.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("engine {kind} cannot be used: {reason}")]
pub struct EngineUnavailable {
    /// Which engine.
    pub kind: EngineKind,
    /// The likely cause and what to do about it.
    pub reason: String,
}

/// The engine to use, and how that came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedEngine {
    /// The engine.
    pub kind: EngineKind,
    /// Why this one: a sentence for the record.
    pub reason: String,
    /// Those that were tried before and cannot be used, each with its cause.
    pub tried: Vec<(EngineKind, String)>,
}

impl SelectedEngine {
    /// It cannot be used either, for this cause; the reason tells of the others too.
    pub fn refused(&self, cause: &str) -> EngineUnavailable {
        EngineUnavailable { kind: self.kind, reason: format!("{cause}, and is left because {}", causes(&self.tried)) }
    }

    /// Plain system calls instead, where this engine works and does not suit what is to be done.
    #[must_use]
    pub fn passed_over(mut self, cause: &str) -> Self {
        self.tried.push((self.kind, cause.to_owned()));
        selected(EngineKind::Psync, self.tried)
    }
}

/// The queues that are there at the same time, if their engine is one with queues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// How many rings of each kind.
    rings: BTreeMap<RingSetup, u32>,
    /// How many operations native AIO has in flight.
    aio_operations: u64,
}

impl Queues {
    /// One ring, or as many operations as it has.
    pub fn one(ring: RingSetup) -> Self {
        let mut queues = Self::default();
        queues.add(EngineChoice::Auto, ring, 1);
        queues
    }

    /// Adds those of whoever asks for an engine.
    pub fn add(&mut self, choice: EngineChoice, ring: RingSetup, count: u32) {
        if matches!(choice, EngineChoice::Auto | EngineChoice::IoUring) {
            *self.rings.entry(ring).or_default() += count;
        }
        if matches!(choice, EngineChoice::Auto | EngineChoice::Libaio) {
            self.aio_operations += u64::from(ring.entries) * u64::from(count);
        }
    }
}

/// Finds the engine to use for these queues: the one asked for, or the first of `io_uring`, `libaio`, `psync` that
/// works.
///
/// # Errors
/// When the engine asked for cannot be used.
pub fn select(choice: EngineChoice, queues: &Queues) -> Result<SelectedEngine, EngineUnavailable> {
    let asked = match choice {
        EngineChoice::Auto => return Ok(first_that_works(queues)),
        EngineChoice::IoUring => EngineKind::IoUring,
        EngineChoice::Libaio => EngineKind::Libaio,
        EngineChoice::Psync => EngineKind::Psync,
        EngineChoice::Memory => EngineKind::Memory,
        EngineChoice::FileCreate => EngineKind::FileCreate,
        EngineChoice::FileStat => EngineKind::FileStat,
        EngineChoice::FileDelete => EngineKind::FileDelete,
    };
    try_out(asked, queues)?;
    Ok(SelectedEngine { kind: asked, reason: format!("{asked} was asked for"), tried: Vec::new() })
}

fn first_that_works(queues: &Queues) -> SelectedEngine {
    let mut tried = Vec::new();
    for kind in [EngineKind::IoUring, EngineKind::Libaio] {
        match try_out(kind, queues) {
            Ok(()) => return selected(kind, tried),
            Err(unavailable) => tried.push((kind, unavailable.reason)),
        }
    }
    selected(EngineKind::Psync, tried)
}

/// Why what was tried cannot be used.
fn causes(tried: &[(EngineKind, String)]) -> String {
    let causes: Vec<String> = tried.iter().map(|(kind, cause)| format!("{kind} cannot be used: {cause}")).collect();
    causes.join("; and ")
}

fn selected(kind: EngineKind, tried: Vec<(EngineKind, String)>) -> SelectedEngine {
    let reason = if tried.is_empty() {
        format!("{kind} is the fastest engine and works here")
    } else {
        format!("{kind}, because {}", causes(&tried))
    };
    SelectedEngine { kind, reason, tried }
}

/// Does with an engine what a run would do first, and takes it down again.
fn try_out(kind: EngineKind, queues: &Queues) -> Result<(), EngineUnavailable> {
    let tried = match kind {
        EngineKind::IoUring => try_out_io_uring(&queues.rings),
        EngineKind::Libaio => try_out_libaio(queues.aio_operations),
        EngineKind::Psync
        | EngineKind::Memory
        | EngineKind::FileCreate
        | EngineKind::FileStat
        | EngineKind::FileDelete => Ok(()),
    };
    tried.map_err(|(call, error)| EngineUnavailable { kind, reason: explain(kind, call, &error) })
}

/// A filter may allow making a context and deny using it, so no operations are handed over, and none are waited for.
/// One context stands for all, because the kernel counts operations alone, and takes 35 ms to destroy each.
fn try_out_libaio(operations: u64) -> Result<(), (&'static str, io::Error)> {
    /// More than any machine allows, and not too many to be asked for.
    const MOST: u64 = 1 << 21;
    let context = AioContext::new(operations.clamp(1, MOST) as u32).map_err(|error| ("io_setup", error))?;
    // SAFETY: there is no operation.
    unsafe { context.submit(&[]) }.map_err(|error| ("io_submit", error))?;
    context.wait(0, &mut [], Some(0)).map_err(|error| ("io_getevents", error))?;
    Ok(())
}

/// A filter may allow making rings and deny using them, so an operation that does nothing goes through each.
fn try_out_io_uring(rings: &BTreeMap<RingSetup, u32>) -> Result<(), (&'static str, io::Error)> {
    let locked_bytes = rings.iter().map(|(ring, count)| ring.locked_bytes() * u64::from(*count)).sum();
    let each = rings.iter().flat_map(|(ring, count)| iter::repeat_n(ring, *count as usize));
    let built: Result<Vec<_>, _> = each.map(|ring| ring.build(locked_bytes, &mut Vec::new())).collect();
    for (mut ring, _) in built.map_err(|error| ("io_uring_setup", error))? {
        // SAFETY: the operation has no buffer.
        unsafe { ring.submission().push(&Nop::new().build()) }.expect("a new ring has room for one entry");
        ring.submit_and_wait(1).map_err(|error| ("io_uring_enter", error))?;
        match ring.completion().next() {
            Some(entry) if entry.result() == 0 => {}
            Some(entry) => return Err(("a NOP", io::Error::from_raw_os_error(-entry.result()))),
            None => return Err(("a NOP", io::ErrorKind::TimedOut.into())),
        }
    }
    Ok(())
}

/// The likely cause of a failed call, as a fragment that names the number or switch behind it.
pub(crate) fn explain(kind: EngineKind, call: &str, error: &io::Error) -> String {
    let cause = match (kind, error.raw_os_error()) {
        (EngineKind::IoUring, Some(libc::EPERM)) => io_uring_denied(number_in("/proc/sys/kernel/io_uring_disabled")),
        (EngineKind::Libaio, Some(libc::EPERM)) => "a seccomp filter denies it".to_owned(),
        (EngineKind::IoUring, Some(libc::ENOSYS)) => {
            "the kernel was built without it or is older than 5.1, or a seccomp filter says so".to_owned()
        }
        (EngineKind::Libaio, Some(libc::ENOSYS)) => {
            "the kernel was built without it, or a seccomp filter says so".to_owned()
        }
        (EngineKind::Libaio, Some(libc::EAGAIN)) => {
            aio_exhausted(number_in("/proc/sys/fs/aio-nr"), number_in("/proc/sys/fs/aio-max-nr"))
        }
        (EngineKind::IoUring, Some(libc::ENOMEM)) if call.starts_with("io_uring") => memlock_exhausted(),
        (EngineKind::IoUring, Some(libc::EAGAIN)) => {
            "the kernel may start no more threads for this user (ulimit -u), as --sqpoll needs for each ring".to_owned()
        }
        (_, Some(libc::EMFILE)) => "this process has as many open files as it may (ulimit -n)".to_owned(),
        (_, Some(libc::ENOMEM)) => "there is not enough memory, or address space (ulimit -v)".to_owned(),
        _ => return format!("{call}: {error}"),
    };
    format!("{call}: {error}: {cause}")
}

fn io_uring_denied(disabled: Option<u64>) -> String {
    match disabled {
        Some(0) => "a seccomp filter (as in default container profiles) denies it; the kernel.io_uring_disabled \
                    sysctl (value 0) does not"
            .to_owned(),
        Some(1) => "the kernel.io_uring_disabled sysctl (value 1) denies it to processes that are neither privileged \
                    nor in the group of kernel.io_uring_group, or a seccomp filter does"
            .to_owned(),
        Some(value) => format!("the kernel.io_uring_disabled sysctl (value {value}) denies it to all processes"),
        None => "a seccomp filter (as in default container profiles) or the kernel.io_uring_disabled sysctl (not \
                 readable here) denies it"
            .to_owned(),
    }
}

fn aio_exhausted(in_use: Option<u64>, most: Option<u64>) -> String {
    let number = |value: Option<u64>| value.map_or_else(|| "an unknown number".to_owned(), |value| value.to_string());
    format!(
        "fs.aio-max-nr does not allow so many more operations: {} of {} are reserved on this machine; raise it with \
         sysctl",
        number(in_use),
        number(most)
    )
}

fn memlock_exhausted() -> String {
    match getrlimit(Resource::Memlock).current {
        Some(bytes) => {
            format!("RLIMIT_MEMLOCK of {bytes} bytes is exhausted, or memory is; raise the limit (ulimit -l)")
        }
        None => "there is not enough memory (RLIMIT_MEMLOCK is unlimited)".to_owned(),
    }
}

fn number_in(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// What the `io_uring` of this machine can do, for `plimsoll doctor`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IoUringFeatures {
    /// Why there is none at all; everything else is false then.
    pub unavailable: Option<String>,
    /// `IORING_SETUP_COOP_TASKRUN` (Linux 5.19).
    pub coop_taskrun: bool,
    /// `IORING_SETUP_SINGLE_ISSUER` (Linux 6.0).
    pub single_issuer: bool,
    /// `IORING_SETUP_DEFER_TASKRUN` (Linux 6.1).
    pub defer_taskrun: bool,
    /// `IORING_SETUP_NO_SQARRAY` (Linux 6.6).
    pub no_sqarray: bool,
    /// A submission thread of the kernel can be had.
    pub sqpoll: bool,
    /// A ring that polls for completions can be had; the device must support it too.
    pub iopoll: bool,
    /// Waits can have a deadline (Linux 5.11).
    pub deadlines: bool,
    /// Deadlines can be moments of the clock (Linux 6.12).
    pub absolute_deadlines: bool,
    /// The ring itself can be registered (Linux 5.18).
    pub registered_ring: bool,
    /// Why 256 KiB of buffers cannot be registered; `None` when they can.
    pub registered_buffers_denied: Option<String>,
}

/// Tries out each feature by itself.
pub fn features() -> IoUringFeatures {
    const ONE: RingSetup = RingSetup::plain(1);
    if let Err((call, error)) = try_out_io_uring(&[(ONE, 1)].into()) {
        let unavailable = Some(explain(EngineKind::IoUring, call, &error));
        return IoUringFeatures { unavailable, ..IoUringFeatures::default() };
    }
    let set_up = |builder: &Builder| with_locked_memory(ONE.locked_bytes(), || builder.build(1));
    let sets_up = |set: fn(&mut Builder) -> &mut Builder| set_up(set(&mut IoUring::builder())).is_ok();
    let ring = set_up(&IoUring::builder());
    let registered_ring = ring.as_ref().is_ok_and(|ring| {
        let index = io_uring_abi::register_ring(ring.as_raw_fd());
        index.map(|index| io_uring_abi::unregister_ring(ring.as_raw_fd(), index)).is_ok()
    });
    IoUringFeatures {
        unavailable: None,
        coop_taskrun: sets_up(Builder::setup_coop_taskrun),
        single_issuer: sets_up(Builder::setup_single_issuer),
        defer_taskrun: sets_up(|builder| builder.setup_single_issuer().setup_defer_taskrun()),
        no_sqarray: sets_up(Builder::setup_no_sqarray),
        sqpoll: sets_up(|builder| builder.setup_sqpoll(1)),
        iopoll: sets_up(Builder::setup_iopoll),
        deadlines: ring.as_ref().is_ok_and(|ring| ring.params().is_feature_ext_arg()),
        absolute_deadlines: ring.as_ref().is_ok_and(|ring| io_uring_abi::has_absolute_deadlines(ring.as_raw_fd())),
        registered_ring,
        registered_buffers_denied: ring.and_then(|ring| register_some(&ring)).err().map(|error| {
            let call = "io_uring_register";
            explain(EngineKind::IoUring, call, &error)
        }),
    }
}

fn register_some(ring: &IoUring) -> io::Result<()> {
    let buffers = BufferPool::new(64, 4096)?;
    let iovec = libc::iovec { iov_base: buffers.pointer(Tag(0)).cast(), iov_len: buffers.mapped_bytes() };
    // SAFETY: no operation uses the buffer, and it is unregistered before it is gone.
    unsafe { ring.submitter().register_buffers(&[iovec]) }?;
    ring.submitter().unregister_buffers()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denied_ring_names_the_switch_that_denies_it() {
        assert!(io_uring_denied(Some(0)).starts_with("a seccomp filter"));
        assert!(io_uring_denied(Some(1)).contains("(value 1)"));
        assert!(io_uring_denied(Some(2)).contains("(value 2) denies it to all"));
        assert!(io_uring_denied(None).contains("seccomp filter") && io_uring_denied(None).contains("sysctl"));
    }

    #[test]
    fn exhausted_aio_shows_both_numbers() {
        let error = io::Error::from_raw_os_error(libc::EAGAIN);
        let text = explain(EngineKind::Libaio, "io_setup", &error);
        assert!(text.contains("fs.aio-max-nr") && text.contains(" of "), "{text}");
        assert!(aio_exhausted(Some(65_530), Some(65_536)).contains("65530 of 65536"));
    }

    #[test]
    fn exhausted_locked_memory_names_the_limit() {
        let text = explain(EngineKind::IoUring, "io_uring_register", &io::Error::from_raw_os_error(libc::ENOMEM));
        assert!(text.contains("RLIMIT_MEMLOCK"), "{text}");
    }

    #[test]
    fn an_unforeseen_error_is_shown_as_it_is() {
        let text = explain(EngineKind::Psync, "dup", &io::Error::from_raw_os_error(libc::EIO));
        assert!(text.starts_with("dup: "), "{text}");
    }

    #[test]
    fn an_explicit_choice_is_honoured() {
        for (choice, kind) in [(EngineChoice::Psync, EngineKind::Psync), (EngineChoice::Memory, EngineKind::Memory)] {
            let selected = select(choice, &Queues::default()).unwrap();
            assert_eq!((selected.kind, selected.tried.len()), (kind, 0));
            assert!(selected.reason.contains(kind.as_str()));
        }
    }

    #[test]
    fn a_reason_tells_of_all_that_was_tried() {
        let tried = vec![(EngineKind::IoUring, "first".to_owned()), (EngineKind::Libaio, "second".to_owned())];
        let reason = selected(EngineKind::Psync, tried).reason;
        assert_eq!(reason, "psync, because io_uring cannot be used: first; and libaio cannot be used: second");
        let tried = vec![(EngineKind::IoUring, "first".to_owned())];
        let engine = selected(EngineKind::Libaio, tried).passed_over("second");
        assert_eq!((engine.kind, engine.reason, engine.tried.len()), (EngineKind::Psync, reason, 2));
    }
}
