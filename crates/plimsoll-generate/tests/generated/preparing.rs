//! prepare.sh on loop devices, in the place of what a cloud attaches.

use std::{
    fs::{self, File},
    io::Read as _,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use plimsoll_catalog::product::Provider;
use tempfile::TempDir;

use crate::support::{generated, skipped, told};

/// A disk of a GiB, and where it is mounted; both gone when dropped.
struct Disk {
    device: PathBuf,
    mount: PathBuf,
    _directory: TempDir,
}

impl Disk {
    fn new() -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let backing = directory.path().join("disk");
        File::create(&backing).unwrap().set_len(1 << 30).unwrap();
        let output = Command::new("losetup").args(["--find", "--show"]).arg(&backing).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        let device = String::from_utf8(output.stdout).unwrap().trim().into();
        Self { device, mount: directory.path().join("mount"), _directory: directory }
    }

    /// Where signatures and tables are.
    fn beginning(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        File::open(&self.device).unwrap().take(16 << 20).read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn is_mounted(&self) -> bool {
        let table = fs::read_to_string("/proc/self/mounts").unwrap();
        table.lines().any(|line| line.contains(self.mount.to_str().unwrap()))
    }

    fn unmount(&self) {
        assert!(Command::new("umount").arg(&self.mount).status().unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.mount).stderr(std::process::Stdio::null()).status();
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

/// The script for one disk, with a link in a directory of its own in the place of the name that a cloud gives.
struct Prepared {
    directory: TempDir,
}

impl Prepared {
    fn new(disk: &Disk, file_system: &str) -> Self {
        let plan = format!(
            "[cloud]\nregion = \"westeurope\"\nfile_system = \"{file_system}\"\n[cloud.machine]\ntype = \"D4s_v5\"\n\
             [cloud.disks.\"/mnt/data\"]\nsku = \"Premium_LRS\"\nsize = \"1Gi\"\n"
        );
        let files = generated(&plan, Provider::Azure).unwrap();
        let text = &files.iter().find(|file| file.name == "prepare.sh").unwrap().text;
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let names = format!("{}/lun", directory.path().display());
        assert!(text.contains("/dev/disk/azure/scsi1/lun") && text.contains("attached data /mnt/data "));
        let text = text.replace("/dev/disk/azure/scsi1/lun", &names);
        let text = text.replace(" /mnt/data ", &format!(" {} ", disk.mount.display()));
        fs::write(directory.path().join("disk-luns"), "other 1\ndata 0\n").unwrap();
        fs::write(directory.path().join("prepare.sh"), text).unwrap();
        fs::write(directory.path().join("fstab"), "# what was there\n").unwrap();
        let prepared = Self { directory };
        prepared.attach(&disk.device);
        prepared
    }

    fn attach(&self, device: &Path) {
        let link = self.directory.path().join("lun0");
        let _ = fs::remove_file(&link);
        symlink(device, link).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("bash");
        command.arg(self.directory.path().join("prepare.sh")).args(arguments);
        command.env("FSTAB", self.directory.path().join("fstab")).env("WAIT_SECONDS", "0");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn table(&self) -> String {
        fs::read_to_string(self.directory.path().join("fstab")).unwrap()
    }
}

/// Whether loop devices and file systems can be made here.
fn can_be_done() -> bool {
    if !rustix::process::geteuid().is_root() {
        skipped("loop devices need root");
        return false;
    }
    let missing = ["mkfs.ext4", "mkfs.xfs"].into_iter().find(|program| Command::new(program).output().is_err());
    if let Some(program) = missing {
        skipped(program);
    }
    missing.is_none()
}

#[test]
fn a_blank_disk_gets_a_file_system_is_mounted_and_written_down_once() {
    if !can_be_done() {
        return;
    }
    for file_system in ["ext4", "xfs"] {
        let disk = Disk::new();
        let prepared = Prepared::new(&disk, file_system);
        let output = prepared.run(&["--dry-run"]);
        assert!(output.status.success() && told(&output).contains("would run: mkfs"), "{}", told(&output));
        assert!(!disk.is_mounted() && prepared.table().lines().count() == 1, "a dry run does nothing");
        let output = prepared.run(&[]);
        assert!(output.status.success() && disk.is_mounted(), "{}", told(&output));
        let table = prepared.table();
        let line = table.lines().nth(1).unwrap();
        assert!(line.starts_with("UUID=") && line.contains(&format!(" {file_system} defaults,nofail 0 2")), "{line}");
        fs::write(disk.mount.join("kept"), "what was measured").unwrap();
        // Again, mounted and unmounted: nothing is made anew.
        for _ in 0..2 {
            let output = prepared.run(&[]);
            assert!(output.status.success() && disk.is_mounted(), "{}", told(&output));
            assert_eq!(prepared.table(), table);
            assert_eq!(fs::read_to_string(disk.mount.join("kept")).unwrap(), "what was measured");
            disk.unmount();
        }
    }
}

#[test]
fn a_disk_that_holds_something_is_left_as_it_is() {
    if !can_be_done() {
        return;
    }
    for make in [&["mkfs.ext4", "-q"][..], &["mkfs.xfs", "-q"], &["mkswap"]] {
        let disk = Disk::new();
        let prepared = Prepared::new(&disk, "ext4");
        assert!(Command::new(make[0]).args(&make[1..]).arg(&disk.device).output().unwrap().status.success());
        let before = disk.beginning();
        let output = prepared.run(&[]);
        assert!(!output.status.success() && told(&output).contains("holds something already"), "{}", told(&output));
        assert!(before == disk.beginning() && !disk.is_mounted(), "{make:?}");
    }
}

#[test]
fn a_tool_that_fails_and_a_directory_that_has_something_are_no_leave_to_format() {
    if !can_be_done() {
        return;
    }
    let disk = Disk::new();
    let prepared = Prepared::new(&disk, "ext4");
    let before = disk.beginning();
    let bin = prepared.directory.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for (tool, code) in [("wipefs", 1), ("lsblk", 1), ("blkid", 4)] {
        let failing = bin.join(tool);
        fs::write(&failing, format!("#!/bin/sh\nexit {code}\n")).unwrap();
        fs::set_permissions(&failing, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = prepared.command(&[]);
        command.env("PATH", format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", bin.display()));
        let output = command.output().unwrap();
        assert!(!output.status.success() && told(&output).contains("cannot look at"), "{tool}: {}", told(&output));
        fs::remove_file(failing).unwrap();
    }
    fs::create_dir(&disk.mount).unwrap();
    fs::write(disk.mount.join("precious"), "").unwrap();
    let output = prepared.run(&[]);
    assert!(!output.status.success() && told(&output).contains("would be hidden"), "{}", told(&output));
    assert!(before == disk.beginning() && !disk.is_mounted());
}

#[test]
fn another_disk_in_the_place_of_the_first_is_refused() {
    if !can_be_done() {
        return;
    }
    let (disk, other) = (Disk::new(), Disk::new());
    let prepared = Prepared::new(&disk, "ext4");
    assert!(prepared.run(&[]).status.success());
    prepared.attach(&other.device);
    let output = prepared.run(&[]);
    assert!(!output.status.success() && told(&output).contains("unmount it first"), "{}", told(&output));
    // One that is mounted elsewhere, and one of another size.
    let elsewhere = Prepared::new(&other, "ext4");
    elsewhere.attach(&disk.device);
    let output = elsewhere.run(&[]);
    assert!(!output.status.success() && told(&output).contains("is mounted elsewhere"), "{}", told(&output));
    let script = elsewhere.directory.path().join("prepare.sh");
    let text = fs::read_to_string(&script).unwrap().replace(" ext4 1\n", " ext4 2\n");
    fs::write(script, text).unwrap();
    let output = elsewhere.run(&[]);
    assert!(!output.status.success() && told(&output).contains("it is another disk"), "{}", told(&output));
}

#[test]
fn a_disk_that_is_not_attached_is_said_by_all_its_names() {
    if !can_be_done() {
        return;
    }
    let disk = Disk::new();
    let prepared = Prepared::new(&disk, "ext4");
    fs::remove_file(prepared.directory.path().join("lun0")).unwrap();
    let output = prepared.run(&[]);
    assert!(!output.status.success() && told(&output).contains("/dev/disk/azure/data/by-lun/0"), "{}", told(&output));
    for (luns, words) in [(Some("other 0\n"), "disk-luns does not have data"), (None, "disk-luns is missing")] {
        let path = prepared.directory.path().join("disk-luns");
        let _ = luns.map_or_else(|| fs::remove_file(&path), |text| fs::write(&path, text));
        let output = prepared.run(&[]);
        assert!(!output.status.success() && told(&output).contains(words), "{}", told(&output));
    }
}

#[test]
fn a_disk_has_one_line_in_the_table_and_a_directory_has_one_disk() {
    if !can_be_done() {
        return;
    }
    let disk = Disk::new();
    let prepared = Prepared::new(&disk, "ext4");
    assert!(prepared.run(&[]).status.success());
    disk.unmount();
    // Another directory in the plan, by which the line of the first would stay beside its own.
    let script = prepared.directory.path().join("prepare.sh");
    let text = fs::read_to_string(&script).unwrap();
    let elsewhere = prepared.directory.path().join("elsewhere");
    fs::write(&script, text.replace(disk.mount.to_str().unwrap(), elsewhere.to_str().unwrap())).unwrap();
    let output = prepared.run(&[]);
    assert!(output.status.success(), "{}", told(&output));
    let table = prepared.table();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines.len() == 2 && lines[0] == "# what was there" && lines[1].contains("/elsewhere ext4 "), "{table}");
    assert!(Command::new("umount").arg(&elsewhere).status().unwrap().success());
    // Another disk for a directory that the table has one for: nothing is formatted.
    let (other, before) = (Disk::new(), prepared.table());
    let blank = other.beginning();
    prepared.attach(&other.device);
    for arguments in [&["--dry-run"][..], &[]] {
        let output = prepared.run(arguments);
        assert!(!output.status.success(), "{}", told(&output));
        assert!(told(&output).contains("remove that line, or name another directory"), "{}", told(&output));
    }
    assert!(prepared.table() == before && other.beginning() == blank);
    // What others have written stays, and so does who may read it.
    let path = prepared.directory.path().join("fstab");
    fs::write(&path, "# what was there\nLABEL=a /a ext4 defaults 0 2").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let output = prepared.run(&[]);
    assert!(output.status.success(), "{}", told(&output));
    assert!(
        prepared.table().starts_with("# what was there\nLABEL=a /a ext4 defaults 0 2\nUUID="),
        "{}",
        prepared.table()
    );
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(Command::new("umount").arg(&elsewhere).status().unwrap().success());
}

#[test]
fn a_file_system_of_another_kind_than_the_plan_says_is_left_as_it_is() {
    if !can_be_done() {
        return;
    }
    let disk = Disk::new();
    let prepared = Prepared::new(&disk, "ext4");
    assert!(prepared.run(&[]).status.success());
    let (script, table) = (prepared.directory.path().join("prepare.sh"), prepared.table());
    let text = fs::read_to_string(&script).unwrap();
    fs::write(&script, text.replace(" ext4 1\n", " xfs 1\n")).unwrap();
    let refused = || {
        for arguments in [&["--dry-run"][..], &[]] {
            let output = prepared.run(arguments);
            let words = "has the file system ext4 of an earlier plan, and the plan says xfs: change the plan back";
            assert!(!output.status.success() && told(&output).contains(words), "{}", told(&output));
        }
    };
    refused();
    disk.unmount();
    let before = disk.beginning();
    refused();
    assert!(before == disk.beginning() && !disk.is_mounted() && prepared.table() == table);
}

#[test]
fn what_cannot_be_mounted_is_not_written_down_and_what_is_mounted_is() {
    if !can_be_done() {
        return;
    }
    let disk = Disk::new();
    let prepared = Prepared::new(&disk, "ext4");
    let bin = prepared.directory.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("mount"), "#!/bin/sh\nexit 32\n").unwrap();
    fs::set_permissions(bin.join("mount"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = prepared.command(&[]);
    command.env("PATH", format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", bin.display()));
    assert!(!command.output().unwrap().status.success());
    assert_eq!(prepared.table(), "# what was there\n");
    assert!(prepared.run(&[]).status.success() && disk.is_mounted());
    let table = prepared.table();
    assert_eq!(table.lines().count(), 2, "{table}");
    // Somebody stopped it between the two.
    fs::write(prepared.directory.path().join("fstab"), "# what was there\n").unwrap();
    assert!(prepared.run(&["--dry-run"]).status.success());
    assert_eq!(prepared.table(), "# what was there\n");
    assert!(prepared.run(&[]).status.success());
    assert_eq!(prepared.table(), table);
}

/// A script for one disk of a plan, whose names of disks are looked for in a directory of its own.
fn of_plan(plan: &str, provider: Provider, names: &str, disk: &Disk) -> Prepared {
    let files = generated(plan, provider).unwrap();
    let text = &files.iter().find(|file| file.name == "prepare.sh").unwrap().text;
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    assert!(text.contains(names) && text.contains(" /mnt/data "));
    let text = text.replace(names, &format!("{}/", directory.path().display()));
    let text = text.replace(" /mnt/data ", &format!(" {} ", disk.mount.display()));
    fs::write(directory.path().join("prepare.sh"), text).unwrap();
    fs::write(directory.path().join("fstab"), "").unwrap();
    Prepared { directory }
}

#[test]
fn a_volume_of_ebs_is_found_by_the_id_that_was_written_down() {
    if !can_be_done() {
        return;
    }
    let disk = Disk::new();
    let plan = "[cloud]\nregion = \"eu-west-1\"\nzone = \"eu-west-1a\"\n[cloud.machine]\ntype = \"m5.large\"\n\
                [cloud.disks.\"/mnt/data\"]\nsku = \"gp3\"\nsize = \"1Gi\"\n";
    let prepared = of_plan(plan, Provider::Aws, "/dev/disk/by-id/", &disk);
    let output = prepared.run(&[]);
    assert!(!output.status.success() && told(&output).contains("disk-ids is missing"), "{}", told(&output));
    fs::write(prepared.directory.path().join("disk-ids"), "other vol-0b\ndata vol-0a1\n").unwrap();
    symlink(&disk.device, prepared.directory.path().join("nvme-Amazon_Elastic_Block_Store_vol0a1")).unwrap();
    let output = prepared.run(&[]);
    assert!(output.status.success() && disk.is_mounted(), "{}", told(&output));
    fs::write(prepared.directory.path().join("disk-ids"), "other vol-0b\n").unwrap();
    let output = prepared.run(&[]);
    assert!(!output.status.success() && told(&output).contains("disk-ids does not have data"), "{}", told(&output));
}

#[test]
fn a_disk_that_arrays_are_made_of_is_left_blank_and_gets_a_name() {
    if !can_be_done() {
        return;
    }
    let disk = Disk::new();
    let plan = "[cloud]\nregion = \"westeurope\"\n[cloud.machine]\ntype = \"D4s_v5\"\n\
                [cloud.disks.\"/mnt/data\"]\nsku = \"Premium_LRS\"\nsize = \"1Gi\"\n\
                [stripe]\n[[stripe.array]]\nkind = \"none\"\n";
    let files = generated(plan, Provider::Azure).unwrap();
    let text = &files.iter().find(|file| file.name == "prepare.sh").unwrap().text;
    let prepared = Prepared { directory: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
    let place = prepared.directory.path();
    let name = place.join("names/data");
    let text = text.replace("/dev/disk/azure/scsi1/lun", place.join("lun").to_str().unwrap());
    fs::write(place.join("disk-luns"), "data 0\n").unwrap();
    let text = text.replace("/run/plimsoll-disks/data", name.to_str().unwrap());
    fs::write(place.join("prepare.sh"), text).unwrap();
    fs::write(place.join("fstab"), "").unwrap();
    prepared.attach(&disk.device);
    let output = prepared.run(&["--dry-run"]);
    assert!(output.status.success() && !name.exists(), "{}", told(&output));
    let before = disk.beginning();
    // Also once there is something on it.
    for _ in 0..2 {
        let output = prepared.run(&[]);
        assert!(output.status.success(), "{}", told(&output));
        assert_eq!(name.canonicalize().unwrap(), disk.device);
        assert!(prepared.table().is_empty() && !disk.is_mounted());
        assert!(before == disk.beginning(), "nothing is written");
    }
}

/// Stands in for what logs in to targets: a disk is there once it did.
const ISCSIADM: &str = r#"#!/bin/sh
echo "$*" >>"$PLACE/calls"
case "$*" in
  "--mode session")
    echo "tcp: [2] 10.0.0.5:3260,1 iqn.2024-01.example:data-2 (non-flash)"
    [ -e "$PLACE/in" ] && echo "tcp: [1] 10.0.0.5:3260,1 iqn.2024-01.example:data (non-flash)" ;;
  *--login) : >"$PLACE/in"; ln -s "$DEVICE" "$PLACE/ip-10.0.0.5:3260-iscsi-iqn.2024-01.example:data-lun-0" ;;
esac
"#;

#[test]
fn a_volume_of_a_san_is_logged_in_to_once_and_mounted_once_the_network_is_there() {
    if !can_be_done() {
        return;
    }
    let disk = Disk::new();
    let plan = "[cloud]\nregion = \"westeurope\"\n[cloud.machine]\ntype = \"D4s_v5\"\n\
                [cloud.disks.\"/mnt/data\"]\nsku = \"elastic-san\"\nsize = \"1Gi\"\n";
    let prepared = of_plan(plan, Provider::Azure, "/dev/disk/by-path/", &disk);
    let place = prepared.directory.path();
    fs::create_dir(place.join("bin")).unwrap();
    for (name, text) in [("iscsiadm", ISCSIADM), ("getent", "#!/bin/sh\necho '10.0.0.5 STREAM es.example'\n")] {
        fs::write(place.join("bin").join(name), text).unwrap();
        fs::set_permissions(place.join("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    // As create.sh writes it.
    fs::write(place.join("iscsi-targets"), "volume-data\tiqn.2024-01.example:data\tes.example\t3260\t\n").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = prepared.command(arguments);
        command.env("PATH", format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", place.join("bin").display()));
        command.env("PLACE", place).env("DEVICE", &disk.device).output().unwrap()
    };
    // A name that is not resolved is said, and not passed over.
    let resolver = place.join("bin/getent");
    let resolving = fs::read(&resolver).unwrap();
    for text in ["#!/bin/sh\nexit 2\n", "#!/bin/sh\n"] {
        fs::write(&resolver, text).unwrap();
        let output = run(&["--dry-run"]);
        assert!(!output.status.success(), "{}", told(&output));
        assert!(told(&output).contains("es.example, for volume-data, has no address"), "{}", told(&output));
    }
    fs::write(&resolver, resolving).unwrap();
    let output = run(&["--dry-run"]);
    assert!(output.status.success() && told(&output).contains("would run: iscsiadm"), "{}", told(&output));
    assert!(!fs::read_to_string(place.join("calls")).unwrap().contains("--login"));
    for _ in 0..2 {
        let output = run(&[]);
        assert!(output.status.success() && disk.is_mounted(), "{}", told(&output));
    }
    let calls = fs::read_to_string(place.join("calls")).unwrap();
    assert_eq!(calls.matches("--login").count(), 1, "{calls}");
    assert!(calls.contains("--targetname iqn.2024-01.example:data --portal es.example:3260 --op new"), "{calls}");
    assert_eq!(prepared.table().matches(" defaults,nofail,_netdev 0 2").count(), 1, "{}", prepared.table());
}
