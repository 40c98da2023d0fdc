//! What the kernel says of mounts, swap and disks. Anybody may name a mount point; nothing named so may stop a guard.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_io::{
    block_device::DiskCounters,
    mounts::{parse_mountinfo, parse_swaps},
};

fuzz_target!(|content: &[u8]| {
    for mount in parse_mountinfo(content) {
        assert!(!mount.file_system.is_empty(), "a line without a file system is no mount");
    }
    parse_swaps(content);
    if let Some(counters) = std::str::from_utf8(content).ok().and_then(DiskCounters::parse) {
        assert_eq!(counters.since(&counters).read_operations, 0, "nothing happened since now");
    }
});
