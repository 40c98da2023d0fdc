//! Bounds that every plan respects, so that nothing later needs to ask whether a number is sane.

/// Jobs of a cell.
pub const JOBS_MAX: u32 = 1024;
/// Operations in flight of a job.
pub const QUEUE_DEPTH_MAX: u32 = 16_384;
/// Threads of a cell: with psync each operation in flight takes one.
pub const THREADS_MAX: u32 = 4096;
/// Operations a second of a cell that is asked for a rate. No storage does as many.
pub const RATE_MAX: f64 = 100e6;
/// Smallest block of direct I/O.
pub const BLOCK_SIZE_MIN: u32 = 512;
/// Largest block; the kernel takes just under twice as much at once.
pub const BLOCK_SIZE_MAX: u32 = 1 << 30;
/// Buffers of all jobs together.
pub const BUFFER_BYTES_MAX: u64 = 4 << 30;
/// Smallest block that can carry a verification header and some content.
pub const VERIFY_BLOCK_MIN: u32 = 512;
/// Largest block that can be verified; smaller ones divide it, so that a layout can be stamped piece by piece.
pub const VERIFY_BLOCK_MAX: u32 = 1 << 20;

/// Files of a job that are open.
pub const FILES_MAX: u32 = 10_000;
/// Files of all jobs of a cell that are created, statted or deleted.
pub const NAMED_FILES_MAX: u32 = 4_000_000;
/// Files of a set.
pub const SET_FILES_MAX: u32 = 10_000_000;
