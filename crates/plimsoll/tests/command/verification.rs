//! `--verify` on real storage that goes wrong.

use std::{
    fs::{self, OpenOptions},
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
            assert_eq!(verification["blocks_left"], 0, "{engine} {rw}: {verification}");
            assert!(verification["blocks_checked"].as_u64().unwrap() >= 1024, "{engine} {rw}: {verification}");
        }
    }
}

#[test]
fn bytes_that_change_behind_the_device_are_found_and_named() {
    if !is_root() {
        return;
    }
    let (place, device) = (Place::new(), LoopDevice::new(64 << 20));
    let backing = OpenOptions::new().read(true).write(true).open(&device.backing).unwrap();
    let child = place
        .command(&format!("run {0} --destroy {0} --rw write --verify --loops 1 --queue-depth 4 --json", device.name()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Bytes near the end are made wrong again after each write of their block. The device is read back from its
    // beginning, so there is time to do it after the last write; eight of them are not wrong already by chance.
    let done = AtomicBool::new(false);
    let said = thread::scope(|scope| {
        scope.spawn(|| {
            let (mut bytes, mut wrong) = ([0; 8], None);
            while !done.load(Ordering::Relaxed) {
                backing.read_exact_at(&mut bytes, 61_234_567).unwrap();
                if wrong != Some(bytes) {
                    bytes = bytes.map(|byte| !byte);
                    backing.write_all_at(&bytes, 61_234_567).unwrap();
                    wrong = Some(bytes);
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
    assert!(verification["examples"][0].as_str().unwrap().contains("corrupt at offset 61234567"), "{verification}");
}

#[test]
fn what_nobody_knows_is_not_called_lost() {
    let place = Place::new();
    fs::write(place.path("foreign"), vec![7; 8 << 20]).unwrap();
    let said = place.run("run ROOT/foreign --rw randread --verify");
    assert!(said.error(2).contains("not written by plimsoll"), "{}", said.stderr);
    // Headers of an earlier run are no better: what was written there since is known to nobody.
    let verified = "--rw randread --verify --size 4M --loops 1";
    place.record(&format!("run ROOT/kept {verified} --seed 1 --keep-files"));
    fs::copy(place.path("kept"), place.path("copy")).unwrap();
    let said = place.run("run ROOT/copy --rw randread --verify --seed 1");
    assert!(said.error(2).contains("not written by plimsoll"), "{}", said.stderr);
    // A file that was kept is written anew, so that another seed is no damage.
    for target in ["kept", "new", "data"] {
        let record = place.record(&format!("run ROOT/{target} {verified} --seed 2"));
        let verification = &record["cells"][0]["verification"];
        assert!(verification["blocks_checked"].as_u64().unwrap() >= 1024, "{target}: {verification}");
        assert_eq!(verification["mismatches"], 0, "{target}: {verification}");
    }
}

#[test]
fn workloads_that_would_take_each_other_for_damage_are_refused() {
    let place = Place::new();
    let sweep = "--rw randwrite --block-size 4k,8k --verify --size 4M --loops 1";
    let said = place.run(&format!("run ROOT/one {sweep}"));
    assert!(said.error(2).contains("one workload at a time"), "{}", said.stderr);
    assert!(!place.path("one").exists());
    for cell in place.record(&format!("run DATA {sweep}"))["cells"].as_array().unwrap() {
        assert_eq!(cell["verification"]["mismatches"], 0);
    }
    let said = place.run("run DATA --engine memory --rw randread --verify");
    assert!(said.error(2).contains("memory engine"), "{}", said.stderr);
}
