//! `--verify` on real storage that goes wrong.

use std::{
    fs::OpenOptions,
    os::unix::fs::FileExt,
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use crate::support::{LoopDevice, Place, Said, is_root};

#[test]
fn sound_storage_verifies_on_every_engine() {
    let place = Place::new();
    for engine in ["io_uring", "libaio", "psync"] {
        for rw in ["write", "randwrite", "randrw", "randread"] {
            let record = place.record(&format!(
                "run DATA --engine {engine} --rw {rw} --verify --size 4M --queue-depth 8 --jobs 2 --loops 2"
            ));
            let verification = &record["cells"][0]["verification"];
            assert_eq!(verification["mismatches"], 0, "{engine} {rw}: {verification}");
            assert!(verification["blocks_checked"].as_u64().unwrap() >= 1024, "{engine} {rw}: {verification}");
        }
    }
}

#[test]
fn a_byte_that_changes_behind_the_device_is_found_and_named() {
    if !is_root() {
        return;
    }
    let (place, device) = (Place::new(), LoopDevice::new(4 << 20));
    let backing = OpenOptions::new().read(true).write(true).open(&device.backing).unwrap();
    let child = place
        .command(&format!(
            "run {0} --destroy {0} --rw write --verify --duration 1500ms --ramp 0s --queue-depth 4 --json",
            device.name()
        ))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The byte is made wrong again after each write of its block, so it is wrong when the device is read back.
    let done = AtomicBool::new(false);
    let said = thread::scope(|scope| {
        scope.spawn(|| {
            let (mut byte, mut wrong) = ([0], None);
            while !done.load(Ordering::Relaxed) {
                backing.read_exact_at(&mut byte, 1_234_567).unwrap();
                if wrong != Some(byte[0]) {
                    wrong = Some(!byte[0]);
                    backing.write_all_at(&[!byte[0]], 1_234_567).unwrap();
                }
                thread::sleep(Duration::from_micros(300));
            }
        });
        let said = Said::of(child.wait_with_output().unwrap());
        done.store(true, Ordering::Relaxed);
        said
    });
    assert_eq!(said.code, Some(5), "{}{}", said.stderr, said.stdout);
    let verification = said.json()["cells"][0]["verification"].clone();
    assert_eq!(verification["mismatches"], 1, "{verification}");
    assert!(verification["examples"][0].as_str().unwrap().contains("corrupt at offset 1234567"), "{verification}");
}
