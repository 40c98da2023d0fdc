//! Linux native AIO as the kernel defines it (`include/uapi/linux/aio_abi.h`, `fs/aio.c`): structures, the four system
//! calls, and the ring of results that the kernel maps into the process.

use std::{
    io, ptr,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::clock::timespec;

pub(crate) const COMMAND_READ: u16 = 0;
pub(crate) const COMMAND_WRITE: u16 = 1;
pub(crate) const COMMAND_FSYNC: u16 = 2;
pub(crate) const COMMAND_FDSYNC: u16 = 3;

/// `AIO_RING_MAGIC`.
const RING_MAGIC: u32 = 0xa10a_10a1;

/// `struct iocb`: one operation.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Iocb {
    pub(crate) data: u64,
    #[cfg(target_endian = "little")]
    pub(crate) key: u32,
    pub(crate) rw_flags: i32,
    #[cfg(target_endian = "big")]
    pub(crate) key: u32,
    pub(crate) command: u16,
    pub(crate) priority: i16,
    pub(crate) fd: u32,
    pub(crate) buffer: u64,
    pub(crate) length: u64,
    pub(crate) offset: i64,
    pub(crate) reserved: u64,
    pub(crate) flags: u32,
    pub(crate) result_fd: u32,
}

/// `struct io_event`: one result.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IoEvent {
    pub(crate) data: u64,
    pub(crate) iocb: u64,
    pub(crate) result: i64,
    pub(crate) result_2: i64,
}

/// `struct aio_ring`: what lies at the address that is the context, followed by the results.
#[repr(C)]
struct Ring {
    id: u32,
    events: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible_features: u32,
    incompatible_features: u32,
    header_bytes: u32,
}

const _: () = assert!(size_of::<Iocb>() == 64 && size_of::<IoEvent>() == 32 && size_of::<Ring>() == 32);

/// An AIO context; destroyed, after waiting for what is in flight, when dropped.
#[derive(Debug)]
pub(crate) struct AioContext {
    id: libc::c_ulong,
    /// Whether the results can be taken from memory; the layout is stable since Linux 2.6 and says so of itself.
    readable: bool,
}

impl AioContext {
    /// `io_setup` for so many operations in flight.
    pub(crate) fn new(operations: u32) -> io::Result<Self> {
        let mut id: libc::c_ulong = 0;
        // SAFETY: the kernel writes the identifier to `id`, which lives until the call returns.
        let made = unsafe { libc::syscall(libc::SYS_io_setup, operations, &raw mut id) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut context = Self { id, readable: false };
        let ring = context.ring();
        context.readable = ring.magic == RING_MAGIC
            && ring.incompatible_features == 0
            && ring.header_bytes as usize == size_of::<Ring>();
        Ok(context)
    }

    #[inline]
    fn ring(&self) -> &Ring {
        // SAFETY: the identifier is the address of a mapping that starts with this structure and lives until
        // `io_destroy`; the kernel changes only the fields that are atomic here.
        unsafe { &*ptr::with_exposed_provenance::<Ring>(self.id as usize) }
    }

    /// Hands operations to the kernel: how many it took, or what is wrong with the first.
    ///
    /// # Safety
    /// The pointers are to operations that lie untouched until their results, as do their buffers.
    #[inline]
    pub(crate) unsafe fn submit(&self, iocbs: &[*mut Iocb]) -> io::Result<usize> {
        // SAFETY: upheld by the caller.
        let taken = unsafe { libc::syscall(libc::SYS_io_submit, self.id, iocbs.len(), iocbs.as_ptr()) };
        if taken < 0 { Err(io::Error::last_os_error()) } else { Ok(taken as usize) }
    }

    /// Takes the results that lie in the ring, without a system call.
    #[inline]
    pub(crate) fn take_ready(&self, mut take: impl FnMut(IoEvent)) {
        if !self.readable {
            return;
        }
        let ring = self.ring();
        // Nobody else moves the head: a context has one owner.
        let mut head = ring.head.load(Ordering::Relaxed);
        let tail = ring.tail.load(Ordering::Acquire);
        if head == tail {
            return;
        }
        let events = (&raw const *ring).addr() + size_of::<Ring>();
        while head != tail {
            let event = events + head as usize * size_of::<IoEvent>();
            // SAFETY: head and tail are below the number of events in the mapping, and the kernel has finished writing
            // those between them, since it moves the tail after that.
            take(unsafe { ptr::with_exposed_provenance::<IoEvent>(event).read() });
            head = if head + 1 == ring.events { 0 } else { head + 1 };
        }
        ring.head.store(head, Ordering::Release);
    }

    /// `io_getevents`: waits for results, for at most `span_ns`; how many there are.
    pub(crate) fn wait(&self, at_least: usize, events: &mut [IoEvent], span_ns: Option<u64>) -> io::Result<usize> {
        let span = span_ns.map(timespec);
        let span = span.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: the kernel writes at most as many events as there is room for; the span lives until the call returns.
        let ready = unsafe {
            libc::syscall(libc::SYS_io_getevents, self.id, at_least, events.len(), events.as_mut_ptr(), span)
        };
        if ready < 0 { Err(io::Error::last_os_error()) } else { Ok(ready as usize) }
    }
}

impl Drop for AioContext {
    fn drop(&mut self) {
        // SAFETY: the context is ours. The result can only tell of an identifier that is none.
        let _ = unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
    }
}
