//! What stands on a device: any bytes at all. The guard has to find marks in them without falling over them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_io::signatures;

fuzz_target!(|content: &[u8]| {
    // Devices are larger than inputs: the rest reads as missing, as on a device with a wrong size.
    for size_bytes in [content.len() as u64, 1 << 20, u64::MAX] {
        let found = signatures::find(content, size_bytes).expect("memory can be read");
        assert!(found.iter().all(|signature| signature.offset < size_bytes), "a mark is on its device");
    }
});
