//! Doing I/O: engines that move bytes, the clock they are timed by, and what they are pointed at.
//!
//! This is the only crate with unsafe code, and it keeps no statistics. Read first: [`engine::Engine`], the contract
//! that workers are generic over; [`probe::select`], which finds the engine to use; [`clock::Clock`].

pub mod block_device;
pub mod buffer_pool;
pub mod children;
pub mod clock;
pub mod cpu;
pub mod engine;
mod io_uring_abi;
mod linux_aio_abi;
pub mod mounts;
pub mod open_files;
pub mod page_cache;
pub mod probe;
pub mod process_usage;
pub mod ring;
pub mod signatures;
pub mod target;
pub mod write_guard;
