//! Block devices: read freely, written only when named and without a known signature.

use std::{fs, process::Command};

use crate::support::{LoopDevice, Mounted, Place, is_root, names};

#[test]
fn a_device_is_read_without_further_ado() {
    if !is_root() {
        return;
    }
    let (place, device) = (Place::new(), LoopDevice::new(16 << 20));
    let record = place.record(&format!("run {} --rw randread --queue-depth 4 --operations 1000", device.name()));
    assert_eq!(record["cells"][0]["read"]["operations"], 1000);
    assert_eq!(record["cells"][0]["plan"]["size_bytes"], 16 << 20);
}

#[test]
fn a_device_is_written_only_when_named() {
    if !is_root() {
        return;
    }
    let (place, device) = (Place::new(), LoopDevice::new(16 << 20));
    let before = fs::read(&device.backing).unwrap();
    let said = place.run(&format!("run {} --rw randwrite --operations 100", device.name()));
    assert!(said.error(3).contains("--destroy"), "{}", said.stderr);
    assert_eq!(fs::read(&device.backing).unwrap(), before);
    let record = place.record(&format!("run {0} --rw randwrite --operations 100 --destroy {0}", device.name()));
    assert_eq!(record["cells"][0]["write"]["operations"], 100);
    assert_ne!(fs::read(&device.backing).unwrap(), before);
    // What a run left bears no signature to the next one.
    place.record(&format!("run {0} --rw randwrite --operations 100 --destroy {0}", device.name()));
}

#[test]
fn a_device_with_a_file_system_is_refused_even_when_named() {
    if !is_root() {
        return;
    }
    let (place, device) = (Place::new(), LoopDevice::new(16 << 20));
    assert!(Command::new("mkfs.ext4").arg("-q").arg(&device.path).status().unwrap().success());
    let before = fs::read(&device.backing).unwrap();
    let said = place.run(&format!("run {0} --destroy {0}", device.name()));
    let error = said.error(3);
    assert!(error.contains("ext4") && error.contains("wipefs"), "{error}");
    assert_eq!(fs::read(&device.backing).unwrap(), before);
}

#[test]
fn polling_a_device_that_has_nothing_to_poll_is_refused_before_anything_is_done() {
    if !is_root() {
        return;
    }
    let (place, device) = (Place::new(), LoopDevice::new(16 << 20));
    let mounted = Mounted::ext4(&place, 32 << 20);
    for target in [device.name(), mounted.point.to_str().unwrap()] {
        for engine in ["auto", "io_uring"] {
            let said = place.run(&format!("run {target} --rw randread --size 4M --iopoll --engine {engine}"));
            let error = said.error(4);
            assert!(error.contains("--iopoll") && error.contains("/queue/io_poll is 0"), "{error}");
        }
    }
    assert_eq!(names(&mounted.point), ["lost+found"]);
    assert_eq!(place.run("history --json").json().as_array().unwrap().len(), 0);
}

#[test]
fn a_device_too_small_for_the_plan_is_refused() {
    if !is_root() {
        return;
    }
    let (place, device) = (Place::new(), LoopDevice::new(1 << 20));
    let said = place.run(&format!("run {0} --rw randwrite --size 2M --destroy {0}", device.name()));
    assert!(said.error(3).contains("1MiB"), "{}", said.stderr);
}
