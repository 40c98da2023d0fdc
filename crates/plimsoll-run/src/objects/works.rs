//! Directories inside of a test directory that commands work in: everything in them is what these commands made,
//! whatever it is called, and goes; but nothing that only leads to somewhere else.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::fd::AsRawFd,
    path::PathBuf,
};

use plimsoll_io::mounts;
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, fchmod, fstat, openat2, renameat, statat, unlinkat},
    io::Errno,
    mount::{UnmountFlags, unmount},
};

use super::removal::{entries, open_directory, unlink};

/// What the names of such directories start with; a number follows.
pub(crate) const WORK_PREFIX: &str = "work-";

/// Directories deeper than this are moved up before they are emptied: each level takes an open directory.
const DEPTH_MAX: u32 = 50;

/// Whose commands worked in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkOf {
    /// This user's.
    ThisUser,
    /// Those of another one, who may move the directory while we look at it.
    Another,
}

/// Removes such a directory with all that is in it, and tells how many bytes that had; `None` when something stays.
/// File systems that commands of this user have mounted there are unmounted, and what another one holds is not touched.
pub(crate) fn remove_work(parent: BorrowedFd<'_>, name: &OsStr, of: WorkOf) -> io::Result<Option<u64>> {
    let root = match open_inside(parent, name) {
        Ok(root) => root,
        Err(Errno::NOENT) => return Ok(Some(0)),
        Err(Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    // It is done by path, and the path of another user's directory may lead to the mounts of the system by then.
    if of == WorkOf::ThisUser {
        unmount_below(root.as_fd());
    }
    let mut removal = Removal { root: root.as_fd(), bytes: 0, moved: 0 };
    // What is moved up is there in the next turn.
    loop {
        let before = removal.moved;
        let is_empty = removal.empty(root.as_fd(), 0)?;
        if removal.moved == before {
            if !is_empty {
                return Ok(None);
            }
            break;
        }
    }
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(Some(removal.bytes)),
        Err(Errno::NOTEMPTY | Errno::EXIST | Errno::BUSY) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

struct Removal<'a> {
    root: BorrowedFd<'a>,
    bytes: u64,
    /// Directories that were moved up.
    moved: u64,
}

impl Removal<'_> {
    /// Empties a directory; whether nothing stayed.
    fn empty(&mut self, directory: BorrowedFd<'_>, depth: u32) -> io::Result<bool> {
        let mut is_empty = true;
        for entry in entries(directory)? {
            let facts = match statat(directory, &entry, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                facts => facts?,
            };
            let kind = FileType::from_raw_mode(facts.st_mode);
            if kind != FileType::Directory {
                unlink(directory, &entry)?;
                let is_freed = kind == FileType::RegularFile && facts.st_nlink == 1;
                self.bytes += if is_freed { facts.st_size.unsigned_abs() } else { 0 };
            } else if depth >= DEPTH_MAX {
                renameat(directory, &entry, self.root, self.free_name()?)?;
            } else {
                is_empty &= self.remove(directory, &entry, depth)?;
            }
        }
        Ok(is_empty)
    }

    fn remove(&mut self, parent: BorrowedFd<'_>, name: &OsStr, depth: u32) -> io::Result<bool> {
        let directory = match open_inside(parent, name) {
            Ok(directory) => directory,
            Err(Errno::XDEV) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        };
        let is_empty = self.empty(directory.as_fd(), depth + 1)?;
        if is_empty {
            unlinkat(parent, name, AtFlags::REMOVEDIR)?;
        }
        Ok(is_empty)
    }

    /// A name that nothing in the directory has.
    fn free_name(&mut self) -> io::Result<OsString> {
        loop {
            self.moved += 1;
            let name = OsString::from(format!("moved-{}", self.moved));
            match statat(self.root, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => return Ok(name),
                found => drop(found?),
            }
        }
    }
}

/// Opens a directory that is no mount point and no link, with the rights to empty it, which commands may have taken
/// away.
fn open_inside(parent: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || match openat2(parent, name, flags, Mode::empty(), ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS) {
        // Kernels before 5.6, and sandboxes that do not know it.
        Err(Errno::NOSYS | Errno::PERM) => open_on_same_mount(parent, name),
        opened => opened,
    };
    let directory = match open() {
        Err(Errno::ACCESS) => {
            let path = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let handle = rustix::fs::openat(parent, name, path, Mode::empty())?;
            rustix::fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::RWXU)?;
            open()?
        }
        opened => opened?,
    };
    // Of its owner it takes nothing; of root it asks nothing.
    let _ = fchmod(&directory, Mode::RWXU);
    Ok(directory)
}

/// Opens a directory that is no mount point and no link.
fn open_on_same_mount(parent: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let directory = open_directory(parent, name)?;
    let is_same = match (mount_id(parent), mount_id(directory.as_fd())) {
        (Some(above), Some(here)) => above == here,
        // Without /proc, a bind mount of the same file system cannot be told.
        _ => fstat(parent)?.st_dev == fstat(&directory)?.st_dev,
    };
    if is_same { Ok(directory) } else { Err(Errno::XDEV) }
}

/// Which mount a descriptor is of, where the kernel tells.
fn mount_id(of: BorrowedFd<'_>) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", of.as_raw_fd())).ok()?;
    text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok())
}

/// Unmounts what commands have mounted below a directory, the latest first. What cannot be is left, and so is what
/// holds it.
fn unmount_below(directory: BorrowedFd<'_>) {
    let Ok(path) = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())) else { return };
    let points = mounts::mounts().unwrap_or_default().into_iter().map(|mount| mount.mount_point);
    let below: Vec<PathBuf> = points.filter(|point| point.starts_with(&path) && *point != path).collect();
    for point in below.iter().rev() {
        let _ = unmount(point.as_path(), UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt, path::Path};

    use rustix::mount::mount_bind;

    use super::*;

    fn remove(place: &Path) -> Option<u64> {
        let parent = fs::File::open(place).unwrap();
        remove_work(parent.as_fd(), OsStr::new("work-0"), WorkOf::ThisUser).unwrap()
    }

    #[test]
    fn all_that_commands_made_goes_and_what_their_links_lead_to_stays() {
        let place = tempfile::tempdir().unwrap();
        let outside = place.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("f1"), "theirs").unwrap();
        let work = place.path().join("work-0");
        fs::create_dir_all(work.join("pg/base/1")).unwrap();
        fs::write(work.join("pg/base/1/PG_VERSION"), "15").unwrap();
        std::os::unix::fs::symlink(&outside, work.join("pg/link")).unwrap();
        fs::hard_link(outside.join("f1"), work.join("another name")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(work.join("socket")).unwrap();
        for (path, mode) in [("pg/base/1", 0o555), ("pg/base", 0o0)] {
            fs::set_permissions(work.join(path), fs::Permissions::from_mode(mode)).unwrap();
        }
        assert_eq!(remove(place.path()), Some(2));
        assert!(!work.exists());
        assert_eq!(fs::read_to_string(outside.join("f1")).unwrap(), "theirs");
        drop(socket);
        assert_eq!(remove(place.path()), Some(0));
    }

    #[test]
    fn a_mount_point_is_not_entered_where_only_the_older_call_opens_directories() {
        let root = fs::File::open("/").unwrap();
        assert_eq!(open_on_same_mount(root.as_fd(), OsStr::new("proc")).unwrap_err(), Errno::XDEV);
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("d")).unwrap();
        let parent = fs::File::open(place.path()).unwrap();
        open_on_same_mount(parent.as_fd(), OsStr::new("d")).unwrap();
        // The same file system in another place.
        let bound = mount_bind(place.path(), place.path().join("d"));
        if bound.is_ok() {
            let opened = open_on_same_mount(parent.as_fd(), OsStr::new("d"));
            unmount(place.path().join("d"), UnmountFlags::empty()).unwrap();
            assert_eq!(opened.unwrap_err(), Errno::XDEV);
        }
    }

    #[test]
    fn a_deep_tree_takes_neither_stack_nor_descriptors() {
        let place = tempfile::tempdir().unwrap();
        let work = place.path().join("work-0");
        fs::create_dir(&work).unwrap();
        let mut directory = OwnedFd::from(fs::File::open(&work).unwrap());
        for _ in 0..3000 {
            rustix::fs::mkdirat(&directory, "d", Mode::RWXU).unwrap();
            directory = open_directory(directory.as_fd(), OsStr::new("d")).unwrap();
        }
        drop(directory);
        assert_eq!(remove(place.path()), Some(0));
        assert!(!work.exists());
    }
}
