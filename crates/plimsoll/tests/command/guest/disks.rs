//! Disks that are made of disks, in guests: what they let through, and that guests are what tests take them for.

use std::time::Duration;

use super::{Disk, Group, Guest};

/// Writes what was measured on a device to a file of results: three seconds, after two in which what a limit lets
/// through at first is used up. The queue is long enough for four disks to have work at all times.
const MEASURE: &str = r#"
measure() {
    plimsoll run "$1" --rw randread --block-size 4k --queue-depth 128 --ramp 2s --duration 3s --json >"/results/$2.json"
}
"#;

/// Makes one device of several without asking.
const STRIPE: &str = r#"
stripe() {
    mdadm --create /dev/md0 --run --force --level=0 --chunk=64 --raid-devices=$# "$@"
}
"#;

/// A processor that others use as well does not always manage what limits let through: asked again, up to three times.
fn assert_rates(guest: &Guest, script: &str, expected: &[(&str, f64)]) {
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let said = guest.run(&format!("{MEASURE}{STRIPE}{script}"));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let rate = |name: &str| guest.json(&format!("{name}.json")).pointer("/cells/0/read/iops")?.as_f64();
        let rates: Vec<f64> = expected.iter().map(|(name, _)| rate(name).unwrap()).collect();
        if rates.iter().zip(expected).all(|(rate, (_, expected))| (rate / expected - 1.0).abs() < 0.03) {
            return;
        }
        seen.push(rates);
    }
    panic!("{expected:?}: {seen:?}");
}

#[test]
fn a_stripe_over_disks_in_a_guest_does_what_they_do_together() {
    let [one, two, three] = ["one", "two", "three"].map(|serial| Disk::new(serial).iops(100));
    let four = Disk::new("four").bytes(100 * 4096);
    let Some(guest) = Guest::with(&[one, two, three, four]) else { return };
    let script = r#"
        disk=/dev/disk/by-id/virtio
        measure $disk-four disk
        measure_stripe() {
            name=$1
            shift
            stripe "$@"
            measure /dev/md0 $name
            mdadm --stop /dev/md0
            mdadm --zero-superblock "$@"
        }
        measure_stripe of_one $disk-one
        measure_stripe of_two $disk-one $disk-two
        measure_stripe of_four $disk-one $disk-two $disk-three $disk-four
    "#;
    let expected = [("disk", 100.0), ("of_one", 100.0), ("of_two", 200.0), ("of_four", 400.0)];
    assert_rates(&guest, script, &expected);
}

#[test]
fn a_stripe_over_disks_that_share_a_limit_in_a_guest_gains_nothing() {
    let machine = Group::new("machine", 100);
    let disks = ["one", "two"].map(|serial| Disk::new(serial).iops(100).group(machine));
    let Some(guest) = Guest::with(&disks) else { return };
    let script = r#"
        measure /dev/vda disk
        stripe /dev/vda /dev/vdb
        measure /dev/md0 stripe
    "#;
    assert_rates(&guest, script, &[("disk", 100.0), ("stripe", 100.0)]);
}

#[test]
fn volumes_and_file_systems_are_made_in_a_guest_as_anywhere_and_stay_when_it_is_turned_off() {
    let disks = ["one", "two"].map(|serial| Disk::new(serial).size(512 << 20));
    let Some(guest) = Guest::with(&disks) else { return };
    let script = r#"
        vgcreate group /dev/disk/by-id/virtio-one /dev/disk/by-id/virtio-two >&2
        lvcreate -y -i 2 -I 64k -L 400M -n volume group >&2
        dmsetup create slice --table "0 2048 linear /dev/group/volume 0"
        blockdev --getsz /dev/mapper/slice
        dmsetup remove slice
        for system in xfs btrfs ext4; do
            wipefs -q -a /dev/group/volume
            mkfs.$system -q /dev/group/volume >&2
            mount /dev/group/volume /mnt
            echo kept >/mnt/file
            findmnt -n -o FSTYPE /mnt
            umount /mnt
        done
        exit 7
    "#;
    let said = guest.run(script);
    assert_eq!((said.code, said.stdout.as_str()), (Some(7), "2048\nxfs\nbtrfs\next4\n"), "{}", said.stderr);
    let said = guest.run("vgchange -a y group >&2\nmount /dev/group/volume /mnt\ncp /mnt/file /results\nlvs missing");
    assert_eq!((said.code, guest.text("file").as_str()), (Some(5), "kept\n"), "{}", said.stderr);
    assert!(said.stderr.contains("\"missing\" not found"), "{}", said.stderr);
}

#[test]
fn a_guest_that_hangs_is_ended_and_what_it_said_is_kept() {
    let Some(guest) = Guest::with(&[]) else { return };
    let hung = guest.run_within(Duration::from_secs(12), "echo here\necho there >/dev/console\nsleep 1000");
    let error = hung.err().unwrap();
    assert!(error.contains("12s") && error.contains("\nhere\n") && error.contains("\nthere"), "{error}");
    // A kernel that panics is no result either.
    let crashed = guest.run_within(Duration::from_secs(60), "echo c >/proc/sysrq-trigger\nsleep 1000");
    assert!(crashed.err().unwrap().contains("sysrq triggered crash"));
}
