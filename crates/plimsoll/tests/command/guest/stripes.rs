//! Arrays that need md, LVM and the device mapper, which not every kernel has: in guests.

use std::time::Duration;

use serde_json::Value;

use super::{Disk, Guest};

/// What a disk lets through: so little that a guest manages four of them also on processors that others use.
const IOPS: u64 = 300;

/// What every script begins with: the disks, and a check that nothing is on them.
const BEGIN: &str = r#"
by=/dev/disk/by-id/virtio
pair=$by-one,$by-two
disks=$pair,$by-three,$by-four
blank() {
    for disk in one two three four; do
        test -z "$(wipefs --noheadings $by-$disk)" || { echo "$disk is not blank after $1" >&2; exit 1; }
    done
    test ! -e /run/plimsoll || { echo "/run/plimsoll is left after $1" >&2; exit 1; }
    test -z "$(dmsetup ls | grep plimsoll)" || { echo "a mapped device is left after $1" >&2; exit 1; }
}
"#;

fn guest(disks: [Disk<'_>; 4]) -> Option<Guest> {
    Guest::with(&disks)
}

#[test]
fn each_disk_of_an_array_of_md_lvm_and_dm_adds_what_it_has() {
    let disks = ["one", "two", "three", "four"].map(|serial| Disk::new(serial).iops(IOPS));
    let Some(guest) = guest(disks) else { return };
    let script = r#"
        cat >plan.toml <<'PLAN'
[stripe]
devices = [
    "/dev/disk/by-id/virtio-one", "/dev/disk/by-id/virtio-two",
    "/dev/disk/by-id/virtio-three", "/dev/disk/by-id/virtio-four",
]
[[stripe.array]]
kind = ["md", "lvm", "dm"]
disks = [2, 3, 4]
[[workload]]
rw = "randread"
size = "16MiB"
queue_depth = 64
ramp = "1s"
duration = "4s"
PLAN
        plimsoll stripe up --plan plan.toml --destroy $disks >&2
        plimsoll run --plan plan.toml --json >/results/record.json
        plimsoll stripe down >&2
        blank "down"
    "#;
    // A processor that others use as well does not always manage what limits let through: those are asked again.
    let (mut seen, mut is_right) = (Vec::new(), [false; 9]);
    while seen.len() < 3 {
        let said = guest.run(&format!("{BEGIN}{script}"));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let record = guest.json("record.json");
        let cells = record["cells"].as_array().unwrap();
        assert_eq!(cells.len(), 9);
        let found: Vec<_> = cells.iter().map(|cell| (share(cell), imbalance(cell))).collect();
        for (is_right, ((_, share), imbalance)) in is_right.iter_mut().zip(&found) {
            *is_right |= (share - 1.0).abs() < 0.03 && *imbalance < 0.05;
        }
        if is_right == [true; 9] {
            return;
        }
        seen.push(found);
    }
    panic!("{seen:?}");
}

/// The rate of a cell as a share of what its disks let through.
fn share(cell: &Value) -> (String, f64) {
    let target = cell["target"].as_str().unwrap().to_owned();
    let disks: f64 = target.rsplit('-').next().unwrap().parse().unwrap();
    let iops = cell["read"]["iops"].as_f64().unwrap();
    (target, iops / (IOPS as f64 * disks))
}

/// How far from its part of the operations the disk is that is furthest.
fn imbalance(cell: &Value) -> f64 {
    let members = cell["device"]["members"].as_array().unwrap();
    assert!(members.len() > 1, "{cell}");
    let operations: Vec<f64> = members.iter().map(|member| member["read_operations"].as_f64().unwrap()).collect();
    let even = operations.iter().sum::<f64>() / operations.len() as f64;
    operations.iter().map(|own| (own / even - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn file_systems_on_arrays_have_their_geometry_and_come_back_after_a_reboot() {
    let disks = ["one", "two", "three", "four"].map(|serial| Disk::new(serial).size(4 << 30));
    let Some(guest) = guest(disks) else { return };
    let up = "plimsoll stripe up --kind md,lvm,dm --disks 2 --chunk 128k --file-system ext4,xfs --destroy $pair >&2\n";
    let script = r#"
        export XDG_STATE_HOME=/results
        UP
        for kind in md lvm dm; do
            place=/run/plimsoll/stripe/$kind-2-chunk-128KiB
            dumpe2fs -h $(findmnt --noheadings --output SOURCE $place-ext4) 2>&1 | grep RAID >>/results/ext4
            xfs_info $place-xfs | grep sunit= | head -1 >>/results/xfs
            echo kept >$place-ext4/file
            echo kept >$place-xfs/file
        done
    "#;
    let said = guest.run(&format!("{BEGIN}{}", script.replace("UP", up)));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    // A chunk of 128 KiB is 32 blocks of 4 KiB, and two of them are a stripe.
    let ext4 = guest.text("ext4");
    let values: Vec<&str> = ext4.lines().filter_map(|line| line.rsplit(' ').next()).collect();
    assert_eq!(values, ["32", "64", "32", "64", "32", "64"], "{ext4}");
    let xfs = guest.text("xfs");
    assert!(xfs.lines().count() == 3 && xfs.lines().all(|line| line.contains("sunit=32     swidth=64")), "{xfs}");
    // What is written down of it is on a disk of its own in life; here it is brought into the next boot.
    let note = guest.text("plimsoll/stripes/stripe.json");
    let script = r#"
        mkdir -p /state/plimsoll/stripes
        export XDG_STATE_HOME=/state
        cat >/state/plimsoll/stripes/stripe.json <<'NOTE'
NOTE_TEXT
NOTE
        UP
        test "$(cat /run/plimsoll/stripe/*/file | sort | uniq -c | xargs)" = "6 kept"
        # A group that somebody gave another disk keeps all of it up.
        config='devices{obtain_device_list_from_udev=0 external_device_info_source="none" use_devicesfile=0}'
        group=$(lvm vgs --config "$config" --noheadings --options vg_name | head -1 | xargs)
        lvm vgextend --config "$config" --yes $group /dev/vdc >&2
        code=0
        plimsoll stripe down 2>/results/extended || code=$?
        test $code = 3
        cat /run/plimsoll/stripe/*/file | wc -l >>/results/extended
        lvm vgreduce --config "$config" $group /dev/vdc >&2
        lvm pvremove --config "$config" /dev/vdc >&2
        plimsoll stripe down >&2
        blank "a reboot"
    "#;
    let said = guest.run(&format!("{BEGIN}{}", script.replace("NOTE_TEXT", &note).replace("UP", up)));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let extended = guest.text("extended");
    assert!(extended.contains("`vgreduce`") && extended.ends_with("6\n"), "{extended}");
}

#[test]
fn one_disk_with_two_names_is_refused_by_its_serial_number() {
    let disks = ["same", "same", "other", "more"].map(Disk::new);
    let Some(guest) = guest(disks) else { return };
    let said = guest.run("plimsoll stripe up --kind md --destroy /dev/vda,/dev/vdb");
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("one disk by their serial number same"), "{}", said.stderr);
}

#[test]
fn whatever_moment_the_maker_of_md_lvm_and_dm_is_killed_at_blank_disks_are_given_back() {
    let disks = ["one", "two", "three", "four"].map(Disk::new);
    let Some(guest) = guest(disks) else { return };
    let script = r#"
        up="plimsoll stripe up --kind md,lvm,dm --disks 2 --destroy $pair"
        killed_after() {
            pause=$1
            shift
            "$@" >/dev/null 2>&1 &
            sleep $pause
            kill -9 $! 2>/dev/null || return 1
            wait $! || true
        }
        round=0
        while killed_after $(printf '%d.%02d' $((round / 100)) $((round % 100))) $up; do
            plimsoll stripe down >/dev/null
            blank "up was killed after $round hundredths"
            round=$((round + 61))
        done
        echo $round
        round=0
        while killed_after $(printf '%d.%02d' $((round / 100)) $((round % 100))) plimsoll stripe down; do
            plimsoll stripe down >/dev/null
            blank "down was killed after $round hundredths"
            $up >/dev/null
            round=$((round + 131))
        done
        blank "down was not killed"
        echo $round
    "#;
    let script = format!("{BEGIN}{script}");
    let said = guest.run_within(Duration::from_secs(300), &script).unwrap();
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let rounds: Vec<u32> = said.stdout.lines().map(|line| line.parse().unwrap()).collect();
    assert!(rounds.len() == 2 && rounds.iter().all(|hundredths| *hundredths > 122), "{rounds:?}");
}
