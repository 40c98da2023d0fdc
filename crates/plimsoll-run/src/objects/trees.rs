//! Directories of file sets inside of a test directory: what is in them is known by the names that plimsoll gives.

use std::{ffi::OsStr, io, os::unix::ffi::OsStrExt};

use rustix::{
    fd::{AsFd, BorrowedFd},
    fs::{AtFlags, FileType, fstat, statat, unlinkat},
    io::Errno,
};

use super::removal::{entries, open_directory, unlink};

/// What the names of such directories start with; a number follows.
pub(crate) const TREE_PREFIX: &str = "tree-";

/// What a name in a set of files may begin with; a number follows.
const LETTERS: &[u8] = b"defgrls";

/// The one directory there that has a name without number.
const MOVED: &[u8] = b"moved";

/// Whether a file or directory in a set of files has a name that plimsoll gives.
fn is_name_of_set(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let is_numbered = || match name {
        [letter, digits @ ..] => {
            LETTERS.contains(letter) && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
        }
        [] => false,
    };
    name == MOVED || is_numbered()
}

/// Removes the directory of a set of files with all that plimsoll gives such names in it, and tells how many bytes that
/// had; `None` when something else is there, which stays. Symbolic links are removed, never followed, and other file
/// systems are not entered.
pub(crate) fn remove_tree(parent: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<u64>> {
    let directory = match open_directory(parent, name) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(Some(0)),
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    if fstat(&directory)?.st_dev != fstat(parent)?.st_dev {
        return Ok(None);
    }
    let mut bytes = 0;
    let mut is_all_ours = true;
    for entry in entries(directory.as_fd())? {
        let facts = match statat(&directory, &entry, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => continue,
            facts => facts?,
        };
        let removed = match FileType::from_raw_mode(facts.st_mode) {
            _ if !is_name_of_set(&entry) => None,
            FileType::Directory => remove_tree(directory.as_fd(), &entry)?,
            FileType::RegularFile => {
                unlink(directory.as_fd(), &entry)?;
                Some(facts.st_size.unsigned_abs())
            }
            FileType::Symlink => {
                unlink(directory.as_fd(), &entry)?;
                Some(0)
            }
            _ => None,
        };
        match removed {
            Some(removed) => bytes += removed,
            None => is_all_ours = false,
        }
    }
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(is_all_ours.then_some(bytes)),
        Err(Errno::NOTEMPTY | Errno::EXIST | Errno::BUSY) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_others_put_into_a_set_of_files_stays_and_links_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let outside = place.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("f1"), "theirs").unwrap();
        let tree = place.path().join("tree-0");
        fs::create_dir_all(tree.join("d0/d1")).unwrap();
        fs::create_dir(tree.join("moved")).unwrap();
        for name in ["d0/d1/f7", "d0/r12", "f0", "moved/f3", "l4"] {
            fs::write(tree.join(name), "ours").unwrap();
        }
        std::os::unix::fs::symlink(&outside, tree.join("d0/s1")).unwrap();
        std::os::unix::fs::symlink(&outside, tree.join("d5")).unwrap();
        let parent = fs::File::open(place.path()).unwrap();
        let remove = || remove_tree(parent.as_fd(), OsStr::new("tree-0")).unwrap();
        fs::write(tree.join("d0/notes"), "theirs").unwrap();
        assert_eq!(remove(), None);
        assert_eq!(fs::read_to_string(tree.join("d0/notes")).unwrap(), "theirs");
        assert!(!tree.join("f0").exists() && !tree.join("d0/d1").exists());
        fs::remove_file(tree.join("d0/notes")).unwrap();
        fs::write(tree.join("f0"), "ours").unwrap();
        assert_eq!(remove(), Some(4));
        assert!(!tree.exists() && outside.join("f1").exists());
        assert_eq!(remove(), Some(0));
    }

    #[test]
    fn names_are_those_of_file_sets() {
        for name in ["f0", "g0", "d12", "r3", "l4", "s5", "e6", "moved"] {
            assert!(is_name_of_set(OsStr::new(name)), "{name}");
        }
        for name in ["", "f", "0", "fa", "f1a", "x1", "movedx", ".f1"] {
            assert!(!is_name_of_set(OsStr::new(name)), "{name}");
        }
    }
}
