//! A made-up tree in the form of /sys, for relations and devices that a test machine does not have.

use std::os::unix::fs::symlink;

use super::*;

/// A tree with a SCSI disk sda (8:0) of two partitions; dm-0 (252:0) over md0 (9:0) over sda2 and nvme0n1 (259:0).
pub(crate) struct MadeUpTree {
    folder: tempfile::TempDir,
}

impl MadeUpTree {
    pub(crate) fn new() -> Self {
        let tree = Self { folder: tempfile::tempdir().unwrap() };
        let scsi = "devices/platform/host3/session1/target3:0:0/3:0:0:0/block/sda";
        tree.device(scsi, "8:0", 2_097_152);
        tree.device(&format!("{scsi}/sda1"), "8:1", 2048);
        tree.device(&format!("{scsi}/sda2"), "8:2", 1_048_576);
        tree.write(&format!("{scsi}/sda1/partition"), "1\n");
        tree.write(&format!("{scsi}/sda1/start"), "2048\n");
        tree.write(&format!("{scsi}/sda2/partition"), "2\n");
        tree.write(&format!("{scsi}/sda2/start"), "4096\n");
        tree.write(&format!("{scsi}/queue/scheduler"), "none [mq-deadline] kyber\n");
        tree.write(&format!("{scsi}/queue/logical_block_size"), "512\n");
        tree.write(&format!("{scsi}/queue/physical_block_size"), "4096\n");
        tree.write(&format!("{scsi}/queue/optimal_io_size"), "0\n");
        tree.write(&format!("{scsi}/queue/rotational"), "1\n");
        tree.write(&format!("{scsi}/queue/write_cache"), "write back\n");
        tree.write(&format!("{scsi}/queue/max_sectors_kb"), "1280\n");
        tree.write(&format!("{scsi}/queue/io_poll"), "0\n");
        tree.write("devices/pci0/nvme/nvme0/nvme0n1/queue/io_poll", "1\n");
        tree.write(&format!("{scsi}/device/model"), "Virtual Disk    \n");
        tree.write(&format!("{scsi}/device/vendor"), "Msft    \n");
        tree.write(&format!("{scsi}/device/vpd_pg80"), "\0\u{fffd}\0\u{8}  ABC123");
        tree.write(&format!("{scsi}/ro"), "0\n");
        tree.device("devices/pci0/nvme/nvme0/nvme0n1", "259:0", 2_097_152);
        tree.device("devices/virtual/block/md0", "9:0", 4_194_304);
        tree.device("devices/virtual/block/dm-0", "252:0", 4_194_304);
        tree.write("devices/virtual/block/dm-0/dm/name", "vg-data\n");
        tree.stands_on("devices/virtual/block/md0", &format!("{scsi}/sda2"));
        tree.stands_on("devices/virtual/block/md0", "devices/pci0/nvme/nvme0/nvme0n1");
        tree.stands_on("devices/virtual/block/dm-0", "devices/virtual/block/md0");
        tree
    }

    pub(crate) fn sysfs(&self) -> Sysfs {
        Sysfs::at(self.folder.path())
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn link(&self, from: &str, to: &str) {
        let from = self.folder.path().join(from);
        fs::create_dir_all(from.parent().unwrap()).unwrap();
        symlink(self.folder.path().join(to), from).unwrap();
    }

    fn device(&self, directory: &str, number: &str, sectors: u64) {
        self.write(&format!("{directory}/dev"), &format!("{number}\n"));
        self.write(&format!("{directory}/size"), &format!("{sectors}\n"));
        self.link(&format!("dev/block/{number}"), directory);
    }

    fn stands_on(&self, upper: &str, lower: &str) {
        let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
        self.link(&format!("{upper}/slaves/{}", name(lower)), lower);
        self.link(&format!("{lower}/holders/{}", name(upper)), upper);
    }
}

pub(crate) fn number(text: &str) -> DeviceNumber {
    text.parse().unwrap()
}

#[test]
fn a_disk_tells_what_it_is() {
    let tree = MadeUpTree::new();
    let disk = tree.sysfs().facts(number("8:0")).unwrap();
    assert_eq!((disk.name.as_str(), disk.partition, disk.size_bytes), ("sda", None, 1 << 30));
    assert_eq!(disk.transport, Transport::Iscsi);
    assert_eq!((disk.vendor.as_deref(), disk.model.as_deref()), (Some("Msft"), Some("Virtual Disk")));
    assert_eq!(disk.scheduler.as_deref(), Some("mq-deadline"));
    assert_eq!((disk.logical_block_bytes, disk.physical_block_bytes), (Some(512), Some(4096)));
    assert_eq!((disk.optimal_io_bytes, disk.rotational, disk.read_only), (None, Some(true), false));
    assert_eq!((disk.write_cache.as_deref(), disk.request_bytes_max), (Some("write back"), Some(1280 << 10)));
    let parts: Vec<_> = disk.partitions.iter().map(|part| (part.name.as_str(), part.start_bytes)).collect();
    assert_eq!(parts, [("sda1", 1 << 20), ("sda2", 2 << 20)]);
    assert_eq!(tree.sysfs().facts(number("8:99")), None);
}

#[test]
fn a_partition_tells_its_disk_and_takes_the_queue_from_it() {
    let tree = MadeUpTree::new();
    let part = tree.sysfs().facts(number("8:2")).unwrap();
    assert_eq!((part.name.as_str(), part.disk.as_str(), part.partition), ("sda2", "sda", Some(2)));
    assert_eq!((part.disk_number, part.physical_block_bytes), (number("8:0"), Some(4096)));
    assert_eq!(part.holders, ["md0"]);
}

#[test]
fn a_disk_tells_whether_it_can_be_polled_when_its_kernel_does() {
    let tree = MadeUpTree::new();
    let polled = |text| tree.sysfs().facts(number(text)).unwrap().polled_queues;
    assert_eq!(["8:0", "8:2", "259:0", "9:0"].map(polled), [Some(false), Some(false), Some(true), None]);
}

#[test]
fn disks_of_one_nvme_controller_have_serial_numbers_that_tell_them_apart() {
    let tree = MadeUpTree::new();
    for (minor, namespace) in [("259:0", 1), ("259:1", 2), ("259:2", 3)] {
        let disk = format!("devices/pci0/nvme/nvme0/nvme0n{namespace}");
        if namespace > 1 {
            tree.device(&disk, minor, 2048);
        }
        tree.write(&format!("{disk}/nsid"), &format!("{namespace}\n"));
        tree.write(&format!("{disk}/device/serial"), "nvme_card-pd        \n");
    }
    tree.device("devices/pci0/nvme/nvme0/nvme0n2/nvme0n2p1", "259:3", 2048);
    tree.write("devices/pci0/nvme/nvme0/nvme0n2/nvme0n2p1/partition", "1\n");
    let serial = |text| tree.sysfs().facts(number(text)).unwrap().serial.unwrap();
    assert_eq!(serial("259:0"), "nvme_card-pd");
    assert_eq!(serial("259:1"), "nvme_card-pd, namespace 2");
    assert_eq!(serial("259:2"), "nvme_card-pd, namespace 3");
    assert_eq!(serial("259:3"), serial("259:1"), "a partition tells what its disk does");
}

#[test]
fn disks_of_the_device_mapper_take_no_partitions() {
    let tree = MadeUpTree::new();
    tree.write("devices/virtual/block/dm-0/ext_range", "1\n");
    tree.write("devices/pci0/nvme/nvme0/nvme0n1/ext_range", "256\n");
    let takes = |text| tree.sysfs().takes_partitions(number(text));
    assert_eq!(["252:0", "259:0", "8:0"].map(takes), [false, true, true], "a kernel that does not tell is tried");
}

#[test]
fn relations_are_followed_through_every_layer() {
    let tree = MadeUpTree::new();
    let sysfs = tree.sysfs();
    let set = |texts: &[&str]| texts.iter().map(|text| number(text)).collect();
    assert_eq!(sysfs.above(number("8:0")), set(&["8:0", "8:1", "8:2", "9:0", "252:0"]));
    assert_eq!(sysfs.above(number("8:1")), set(&["8:1"]));
    assert_eq!(sysfs.below(number("252:0")), set(&["252:0", "9:0", "8:2", "8:0", "259:0"]));
    assert_eq!(sysfs.facts(number("252:0")).unwrap().mapped_name.as_deref(), Some("vg-data"));
    assert_eq!(sysfs.facts(number("252:0")).unwrap().slaves, ["md0"]);
}

#[test]
fn what_two_devices_have_in_common_is_found_through_every_layer_and_apart_from_files() {
    let tree = MadeUpTree::new();
    let common = |one: &str, other: &str| tree.sysfs().common(number(one), number(other));
    // A logical volume over a stripe on one partition, and another partition of that disk.
    assert_eq!(common("252:0", "8:1"), Some(Common::Part(number("8:0"))));
    assert_eq!(common("8:1", "8:1"), Some(Common::Part(number("8:0"))));
    assert_eq!(common("8:1", "259:0"), None);
    // Loop devices on two files of one file system, whatever that is on here.
    let file = tempfile::NamedTempFile::new().unwrap();
    let below = fs::metadata(file.path()).unwrap().dev();
    let below = DeviceNumber::from_raw(below);
    tree.device("devices/virtual/block/below", &below.to_string(), 4_194_304);
    for (name, minor) in [("loop0", "7:0"), ("loop1", "7:1")] {
        tree.device(&format!("devices/virtual/block/{name}"), minor, 2048);
        tree.write(&format!("devices/virtual/block/{name}/loop/backing_file"), file.path().to_str().unwrap());
    }
    if !below.is_anonymous() {
        assert_eq!(common("7:0", "7:1"), Some(Common::UnderFiles(below)));
        assert_eq!(common("7:0", &below.to_string()), Some(Common::UnderFiles(below)));
    }
    assert_eq!(common("7:0", "7:0"), Some(Common::Part(number("7:0"))), "one device is one, whatever its file is on");
}

#[test]
fn what_is_served_as_an_nvme_target_is_known_while_it_is_enabled() {
    let tree = MadeUpTree::new();
    assert_eq!(tree.sysfs().served(), []);
    for (namespace, enable) in [("1", "1\n"), ("2", "0\n")] {
        let directory = format!("kernel/config/nvmet/subsystems/nqn.2026-01.x:disks/namespaces/{namespace}");
        tree.write(&format!("{directory}/enable"), enable);
        tree.write(&format!("{directory}/device_path"), &format!("/dev/sd{namespace}\n"));
    }
    assert_eq!(tree.sysfs().served(), [("nqn.2026-01.x:disks".to_owned(), PathBuf::from("/dev/sd1"))]);
}

#[test]
fn file_systems_in_memory_have_no_device() {
    assert_eq!(device_of(Path::new("/proc/self")), None);
    assert_eq!(device_of(Path::new("/nowhere/at/all")), None);
}

#[test]
fn schedulers_are_read_with_and_without_a_choice() {
    assert_eq!(active_scheduler("[none] mq-deadline"), Some("none".into()));
    assert_eq!(active_scheduler("none"), Some("none".into()));
    assert_eq!(active_scheduler(""), None);
}

#[test]
fn what_is_spread_over_several_disks_is_on_all_of_them() {
    let tree = MadeUpTree::new();
    let sysfs = tree.sysfs();
    let over =
        |device: &str| sysfs.spread_over(number(device)).into_iter().map(|disk| disk.to_string()).collect::<Vec<_>>();
    assert_eq!(over("252:0"), ["8:0", "259:0"], "a volume over a stripe over a partition and a disk");
    assert_eq!(over("8:1"), ["8:0"]);
    tree.device("devices/virtual/block/md0/md0p1", "259:9", 2048);
    tree.write("devices/virtual/block/md0/md0p1/partition", "1\n");
    assert_eq!(over("259:9"), ["8:0", "259:0"], "a partition of a stripe");
    let scsi = "devices/platform/host3/session1/target3:0:0/3:0:0:0/block/sda/sda1";
    tree.link("fs/btrfs/f00d/devices/sda1", scsi);
    tree.link("fs/btrfs/f00d/devices/nvme0n1", "devices/pci0/nvme/nvme0/nvme0n1");
    assert_eq!(over("8:1"), ["8:0", "259:0"], "a btrfs, which is no device");
    let counted =
        |device: &str| sysfs.counted_on(number(device)).into_iter().map(|disk| disk.to_string()).collect::<Vec<_>>();
    assert_eq!(counted("8:1"), ["8:0", "259:0"], "and is counted on each of its disks");
    assert_eq!(counted("252:0"), ["252:0"], "where the kernel puts disks together, what they make counts");
}
