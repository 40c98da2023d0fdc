//! What guests boot: the kernel that `cargo xtask setup` unpacked, and a first file system in memory with plimsoll,
//! with tools for disks of this machine and their libraries, and with modules of that kernel.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use tempfile::NamedTempFile;

use super::{
    archive::Archive,
    modules::{self, Modules},
};

/// What tests run in guests, beside what busybox has.
const TOOLS: &[&str] = &[
    "blkid",
    "blockdev",
    "btrfs",
    "dash",
    "dmsetup",
    "dumpe2fs",
    "findmnt",
    "losetup",
    "lsblk",
    "lvm",
    "mdadm",
    "mkfs.btrfs",
    "mkfs.ext4",
    "mkfs.xfs",
    "mount",
    "partx",
    "sfdisk",
    "tune2fs",
    "umount",
    "wipefs",
    "xfs_db",
    "xfs_io",
    "xfs_spaceman",
];

/// Scripts around those.
const SCRIPTS: &[&str] = &["xfs_info"];

/// What `mkfs.ext4` makes unless told otherwise.
const SETTINGS: &[&str] = &["/etc/mke2fs.conf"];

/// Modules that are loaded when the guest begins, or when somebody makes or mounts what needs them.
const MODULES: &[&str] = &[
    "virtio_pci",
    "virtio_blk",
    "virtio_console",
    "qemu_fw_cfg",
    "loop",
    "md_mod",
    "linear",
    "raid0",
    "raid1",
    "dm_mod",
    "crc32c_intel",
    "crc32c_generic",
    "ext4",
    "xfs",
    "btrfs",
];

/// Where programs are, here and there.
const PLACES: &[&str] = &["/usr/sbin", "/usr/bin"];

pub(super) struct Image {
    pub(super) kernel: PathBuf,
    pub(super) first_file_system: PathBuf,
}

/// Made once for all tests of a process; an error is what is missing here.
pub(super) fn image() -> Result<&'static Image, &'static str> {
    static IMAGE: LazyLock<Result<Image, String>> = LazyLock::new(make);
    IMAGE.as_ref().map_err(String::as_str)
}

fn make() -> Result<Image, String> {
    if !cfg!(target_arch = "x86_64") {
        return Err("guests are x86-64".to_owned());
    }
    let (Some(kernel), Some(modules)) = (unpacked("boot", "vmlinuz-"), unpacked("lib/modules", "")) else {
        return Err("a guest needs the kernel that \"cargo xtask setup\" fetches".to_owned());
    };
    let find = |tool: &&str| program(tool).ok_or_else(|| format!("a guest needs {tool}"));
    find(&super::QEMU)?;
    let busybox = find(&"busybox")?;
    let tools = TOOLS.iter().chain(SCRIPTS).map(find).collect::<Result<Vec<_>, _>>()?;
    // Whoever uses the one that was made before has it open.
    let first_file_system = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest.cpio");
    let mut file = NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fill(BufWriter::new(&mut file), &busybox, &tools, &modules).unwrap();
    file.persist(&first_file_system).unwrap();
    Ok(Image { kernel, first_file_system })
}

/// The one entry of a directory of the kernel's package whose name begins so.
fn unpacked(directory: &str, prefix: &str) -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/guest").join(directory);
    let mut paths = fs::read_dir(directory).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    paths.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)))
}

/// Where a program is.
fn program(name: &str) -> Option<PathBuf> {
    PLACES.iter().map(|place| Path::new(place).join(name)).find(|path| path.is_file())
}

fn fill(out: BufWriter<&mut NamedTempFile>, busybox: &Path, tools: &[PathBuf], modules: &Path) -> io::Result<()> {
    let mut archive = Archive::new(out);
    // Merged as in Debian, so that libraries and programs are where they say.
    for (link, target) in [("bin", "usr/bin"), ("sbin", "usr/sbin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")] {
        archive.directory(target)?;
        archive.link(link, target)?;
    }
    for directory in ["dev", "etc", "mnt", "proc", "results", "root", "run", "sys", "tmp", "var"] {
        archive.directory(directory)?;
    }
    archive.link("etc/mtab", "/proc/self/mounts")?;
    archive.link("var/run", "/run")?;
    archive.file("init", include_bytes!("init.sh"))?;
    archive.file("etc/lvm/lvm.conf", include_bytes!("lvm.conf"))?;
    archive.file("usr/bin/busybox", &fs::read(busybox)?)?;
    // The shell of busybox prefers its own mount, blkid and so on to those in PATH.
    archive.link("usr/bin/sh", "dash")?;

    let plimsoll = stripped(Path::new(env!("CARGO_BIN_EXE_plimsoll")))?;
    archive.file("usr/local/bin/plimsoll", &fs::read(plimsoll.path())?)?;
    for tool in tools {
        archive.file(inside(tool), &fs::read(tool)?)?;
    }
    for path in SETTINGS.iter().filter(|path| Path::new(path).exists()) {
        archive.file(inside(Path::new(path)), &fs::read(path)?)?;
    }
    for name in names_of_lvm()? {
        archive.link(&format!("usr/sbin/{name}"), "lvm")?;
    }
    for library in libraries(tools.iter().map(PathBuf::as_path).chain([plimsoll.path()]))? {
        // A library is found by the name that its users have for it.
        let path = library.strip_prefix("/usr").unwrap_or(&library);
        archive.file(&format!("usr/{}", inside(path)), &fs::read(&library)?)?;
    }

    let taken = Modules::below(modules)?.with_needs(MODULES)?;
    let directory = format!("usr/lib/modules/{}", modules.file_name().unwrap_or_default().to_string_lossy());
    archive.file(&format!("{directory}/modules.dep"), modules::dependencies(&taken).as_bytes())?;
    archive.file(&format!("{directory}/modules.alias"), modules::aliases(&taken).as_bytes())?;
    for module in &taken {
        archive.file(&format!("{directory}/{}.ko", module.name), &module.content)?;
    }
    archive.finish()?.flush()
}

/// The path of what is at an absolute path here.
fn inside(path: &Path) -> &str {
    path.strip_prefix("/").unwrap().to_str().unwrap()
}

/// What a debugger needs is most of a program that was built for tests, and a guest has little memory.
fn stripped(program: &Path) -> io::Result<NamedTempFile> {
    let file = NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let status = Command::new("strip").arg("-o").arg(file.path()).arg(program).status()?;
    assert!(status.success(), "strip ended with {status}");
    Ok(file)
}

/// One program has all commands of LVM, and knows by its name which is meant.
fn names_of_lvm() -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir("/usr/sbin")? {
        let entry = entry?;
        if fs::read_link(entry.path()).is_ok_and(|target| target.ends_with("lvm")) {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

/// The shared libraries of these programs, and the program that loads them.
fn libraries<'a>(programs: impl Iterator<Item = &'a Path>) -> io::Result<BTreeSet<PathBuf>> {
    let output = Command::new("ldd").args(programs).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains("not found"), "{text}");
    // The line before those of a program is its path and a colon.
    let words = text.split_whitespace().filter(|word| word.starts_with('/') && !word.ends_with(':'));
    Ok(words.map(PathBuf::from).collect())
}
