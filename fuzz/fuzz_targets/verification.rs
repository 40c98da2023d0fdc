//! Blocks that are read back: whatever a broken storage returns.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_workload::verification::{Expected, check, stamp};

fuzz_target!(|content: &[u8]| {
    const BLOCK_BYTES: usize = 512;
    let expected = Expected { seed: 7, offset: 4096, generation: 3 };
    let mut block = vec![0; BLOCK_BYTES];
    stamp(&mut block, expected.seed, expected.offset, expected.generation);
    let whole = block.clone();
    assert!(check(&block, expected).is_ok(), "a block as written is right");
    // The input is where to damage the block, and how.
    for change in content.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % BLOCK_BYTES;
        block[at] ^= change[2];
    }
    assert_eq!(check(&block, expected).is_ok(), block == whole, "any damage is found, and only damage");
    if content.len() > 64 {
        let _ = check(content, expected);
    }
});
