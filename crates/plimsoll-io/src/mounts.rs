//! What is mounted where, and what is used as swap: the text of /proc as data, and the two questions asked of it.
//!
//! The parsers are pure functions over text; only [`mounts`], [`swap_areas`], [`mount_of`] and [`expect_mount`] look at
//! the machine.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::ffi::{OsStrExt, OsStringExt},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use thiserror::Error;

use crate::block_device::DeviceNumber;

/// File systems whose files are at a server, besides those that begin with `fuse.`.
const REMOTE: &[&str] =
    &["nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "9p", "lustre", "afs", "gpfs", "beegfs", "pvfs2", "autofs"];

/// Why the mount of a path is not what it should be.
#[derive(Debug, Error)]
pub enum MountError {
    /// Something under /proc could not be read.
    #[error("read {file}: mount /proc, without which plimsoll cannot tell what is in use")]
    Unreadable {
        /// Which file.
        file: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The path does not exist, nor does its parent.
    #[error("look up \"{}\": check the path", path.display())]
    Missing {
        /// The path as given.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// No mount holds the path; it was hidden by a later mount while plimsoll looked.
    #[error("no mount holds \"{}\" any more: try again when nothing is being mounted there", .0.display())]
    Unknown(PathBuf),
    /// The path should be a mount of its own, and is not.
    #[error(
        "\"{}\" is on the root file system, not on a mount of its own: mount the storage there first, or leave out \
         --expect-mount to measure the root file system", .0.display()
    )]
    OnRoot(PathBuf),
}

/// One line of /proc/self/mountinfo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountEntry {
    /// Names the mount as long as it exists.
    pub id: u64,
    /// The device of the files in it; with major number zero it is not a block device.
    pub device: DeviceNumber,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// The kind of file system: `ext4`, `nfs4`, `overlay`, ...
    pub file_system: String,
    /// What is mounted: a device, an export, or a word.
    pub source: OsString,
    /// Options of the mount and of the file system, without repetition.
    pub options: Vec<String>,
}

/// One line of /proc/swaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwapArea {
    /// The device or file.
    pub path: PathBuf,
    /// Whether it is a file on a mounted file system and not a device.
    pub is_file: bool,
}

/// The mount that holds a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountFacts {
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// The kind of file system.
    pub file_system: String,
    /// What is mounted.
    pub source: OsString,
    /// Options of the mount and of the file system, joined by commas.
    pub options: String,
}

/// Undoes the escapes of /proc: a backslash and three octal digits for blanks, line ends and backslashes.
fn unescape(text: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        let value = match (first, tail) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                Some((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'))
            }
            _ => None,
        };
        bytes.push(value.unwrap_or(first));
        rest = if value.is_some() { &tail[3..] } else { tail };
    }
    OsString::from_vec(bytes)
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn text(word: &[u8]) -> String {
    unescape(word).to_string_lossy().into_owned()
}

/// Reads the text of /proc/self/mountinfo; lines that do not have its form are left out.
pub fn parse_mountinfo(content: &[u8]) -> Vec<MountEntry> {
    content.split(|byte| *byte == b'\n').filter_map(parse_mount_line).collect()
}

fn parse_mount_line(line: &[u8]) -> Option<MountEntry> {
    let mut words = words(line);
    let id = str::from_utf8(words.next()?).ok()?.parse().ok()?;
    let device = str::from_utf8(words.nth(1)?).ok()?.parse().ok()?;
    let mount_point = unescape(words.nth(1)?).into();
    let mount_options = text(words.next()?);
    // Any number of optional fields ends with a dash.
    words.by_ref().find(|word| *word == b"-")?;
    let file_system = text(words.next()?);
    let source = unescape(words.next().unwrap_or_default());
    let super_options = text(words.next().unwrap_or_default());
    let mut options: Vec<String> = Vec::new();
    for option in mount_options.split(',').chain(super_options.split(',')) {
        if !option.is_empty() && !options.iter().any(|known| known == option) {
            options.push(option.to_owned());
        }
    }
    Some(MountEntry { id, device, mount_point, file_system, source, options })
}

/// Reads the text of /proc/swaps.
pub fn parse_swaps(content: &[u8]) -> Vec<SwapArea> {
    let lines = content.split(|byte| *byte == b'\n').skip(1);
    lines
        .filter_map(|line| {
            let mut words = words(line);
            let path = unescape(words.next()?).into();
            Some(SwapArea { path, is_file: words.next()? == b"file" })
        })
        .collect()
}

fn read(file: &'static str) -> Result<Vec<u8>, MountError> {
    fs::read(file).map_err(|source| MountError::Unreadable { file, source })
}

/// All mounts that this process can see, in the order they were made.
///
/// # Errors
/// When /proc is not mounted.
pub fn mounts() -> Result<Vec<MountEntry>, MountError> {
    Ok(parse_mountinfo(&read("/proc/self/mountinfo")?))
}

/// All active swap areas of the machine; none when the kernel was built without swap.
///
/// # Errors
/// When /proc/swaps exists and cannot be read.
pub fn swap_areas() -> Result<Vec<SwapArea>, MountError> {
    match read("/proc/swaps") {
        Err(MountError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        content => Ok(parse_swaps(&content?)),
    }
}

impl MountEntry {
    /// The block device named as the source, when it is one: file systems over several devices and those with device
    /// numbers of their own (btrfs) tell it only here.
    pub fn source_device(&self) -> Option<DeviceNumber> {
        self.names_device().then(|| DeviceNumber::of_special_file(Path::new(&self.source))).flatten()
    }

    /// Whether the source may be looked at. What is no device may be a path too, and looking at one of an unreachable
    /// server may never return: `//server/share`.
    fn names_device(&self) -> bool {
        let source = Path::new(&self.source);
        source.starts_with("/dev") || (source.is_absolute() && self.file_system == "btrfs")
    }

    /// Whether files are somewhere that may be gone: at a server, or with a process.
    fn is_remote(&self) -> bool {
        let kind = self.file_system.as_str();
        REMOTE.contains(&kind) || kind == "fuse" || kind.starts_with("fuse.")
    }

    /// The value of an option such as `upperdir`.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }
}

/// The mount that a path leads to by its name, the last one of several at the same place.
fn leading<'a>(path: &Path, entries: &'a [MountEntry]) -> Option<&'a MountEntry> {
    let above = entries.iter().filter(|entry| path.starts_with(&entry.mount_point));
    above.max_by_key(|entry| entry.mount_point.as_os_str().as_bytes().len())
}

/// Whether a path, as the kernel tells it, can be looked at without waiting for a server that may be gone.
pub(crate) fn is_near(path: &Path, entries: &[MountEntry]) -> bool {
    !leading(path, entries).is_some_and(MountEntry::is_remote)
}

/// The parent directory of a path, also where it is not written out.
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent == OsStr::new("") => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

/// The path, or the directory in which it would be made.
fn existing(path: &Path) -> Result<PathBuf, MountError> {
    let missing = |source| MountError::Missing { path: path.to_owned(), source };
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::canonicalize(parent_of(path)).map_err(missing),
        found => found.map_err(missing),
    }
}

/// The entry of the mount that holds a path, existing or to be made.
///
/// # Errors
/// When the path cannot be looked up or /proc is not mounted.
pub(crate) fn entry_of(path: &Path) -> Result<MountEntry, MountError> {
    let path = existing(path)?;
    let entries = mounts()?;
    // The kernel names the mount of a path since Linux 5.8; before, the longest mount point that leads there does,
    // the last one of several at the same place.
    let id = statx(CWD, &path, AtFlags::empty(), StatxFlags::MNT_ID)
        .ok()
        .filter(|facts| facts.stx_mask & StatxFlags::MNT_ID.bits() != 0)
        .map(|facts| facts.stx_mnt_id);
    let named = id.and_then(|id| entries.iter().find(|entry| entry.id == id));
    named.or_else(|| leading(&path, &entries)).cloned().ok_or(MountError::Unknown(path))
}

/// What names the file system of a path among all that are mounted. Each subvolume of btrfs, and each layer of an
/// overlay, may give its files a device number of its own, and takes room of one file system all the same.
///
/// # Errors
/// When the path cannot be looked up or /proc is not mounted.
pub fn file_system_of(path: &Path) -> Result<DeviceNumber, MountError> {
    Ok(entry_of(path)?.device)
}

/// The mount that holds a path, existing or to be made.
///
/// # Errors
/// When the path cannot be looked up or /proc is not mounted.
pub fn mount_of(path: &Path) -> Result<MountFacts, MountError> {
    let MountEntry { mount_point, file_system, source, options, .. } = entry_of(path)?;
    Ok(MountFacts { mount_point, file_system, source, options: options.join(",") })
}

/// Checks that a path, existing or to be made, is not on the root file system: the empty directory of a mount that
/// never came would otherwise be measured and filled.
///
/// # Errors
/// When it is on the root file system, or cannot be looked up.
pub fn expect_mount(path: &Path) -> Result<(), MountError> {
    let place = existing(path)?;
    let device = |path: &Path| {
        let failed = |source| MountError::Missing { path: path.to_owned(), source };
        fs::metadata(path).map(|metadata| metadata.dev()).map_err(failed)
    };
    // Overlays give files other device numbers than directories, so the mount itself is asked too.
    if device(&place)? == device(Path::new("/"))? || entry_of(&place)?.mount_point == Path::new("/") {
        return Err(MountError::OnRoot(path.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOUNTINFO: &[u8] = b"22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        36 35 98:0 /mnt1 /mnt/with\\040blank\\134s rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue\n\
        91 22 0:44 / /data rw - btrfs /dev/vdb rw,subvol=/\n\
        95 22 0:50 / /merged rw - overlay overlay rw,lowerdir=/a,upperdir=/b,workdir=/c\n\
        96 22 0:51 / /odd rw -  fuse  rw\n\
        not a mount\n";

    #[test]
    fn mounts_are_read_with_blanks_and_optional_fields() {
        let entries = parse_mountinfo(MOUNTINFO);
        assert_eq!(entries.len(), 5);
        assert_eq!(entries[1].mount_point, Path::new("/mnt/with blank\\s"));
        assert_eq!(entries[1].device, DeviceNumber { major: 98, minor: 0 });
        assert_eq!((entries[1].file_system.as_str(), entries[1].source.to_str()), ("ext3", Some("/dev/root")));
        assert_eq!(entries[1].options, ["rw", "noatime", "errors=continue"]);
        assert_eq!(entries[3].option("upperdir"), Some("/b"));
    }

    #[test]
    fn nothing_is_looked_at_that_a_server_may_not_answer() {
        let entries = parse_mountinfo(
            b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:50 / /share rw - cifs //server/share rw\n\
              3 1 0:51 / /home rw - nfs4 server:/home rw\n4 3 8:2 / /home/local rw - xfs /dev/sda2 rw\n\
              5 1 0:52 / /mine rw - fuse.sshfs /home/me rw\n6 1 0:53 / /usb rw - fuseblk /dev/sdb1 rw\n\
              7 1 0:54 / /data rw - btrfs /nodes/sdc rw\n8 1 0:55 / /x rw - tmpfs tmpfs rw\n",
        );
        let named: Vec<_> = entries.iter().map(MountEntry::names_device).collect();
        assert_eq!(named, [true, false, false, true, false, true, true, false]);
        let near = |path: &str| is_near(Path::new(path), &entries);
        let paths = ["/disk.img", "/share/disk.img", "/home/disk.img", "/home/local/disk.img", "/mine/x", "/usb/x"];
        assert_eq!(paths.map(near), [true, false, false, true, false, true]);
    }

    #[test]
    fn swap_areas_are_read_with_their_kind() {
        let areas = parse_swaps(
            b"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/sda2  partition\t32764\t0\t-2\n\
              /swap\\040file file 100 0 -3\n",
        );
        let area = |path: &str, is_file| SwapArea { path: path.into(), is_file };
        assert_eq!(areas, [area("/dev/sda2", false), area("/swap file", true)]);
    }

    #[test]
    fn the_root_directory_is_no_mount_of_its_own() {
        assert!(matches!(expect_mount(Path::new("/")), Err(MountError::OnRoot(_))));
        let message = expect_mount(Path::new("/etc/not-made-yet")).unwrap_err().to_string();
        assert!(
            message.contains("/etc/not-made-yet") && message.contains("mount the storage there first"),
            "{message}"
        );
        expect_mount(Path::new("/proc/self")).unwrap();
    }

    #[test]
    fn a_path_names_its_mount() {
        assert_eq!(mount_of(Path::new("/proc/self")).unwrap().file_system, "proc");
        assert!(matches!(mount_of(Path::new("/nowhere/at/all")), Err(MountError::Missing { .. })));
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parsers(content: Vec<u8>) {
            parse_mountinfo(&content);
            parse_swaps(&content);
        }

        #[test]
        fn names_survive_escaping(name in "[ -~\\t\\n]{0,20}") {
            let escaped: Vec<u8> = name
                .bytes()
                .flat_map(|byte| match byte {
                    b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
                    other => vec![other],
                })
                .collect();
            prop_assert_eq!(unescape(&escaped), OsString::from(name));
        }
    }
}
