//! One number for all that a set of files contains, that anybody can compute again:
//! `find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum` in the directory of the set.

use std::{
    fs::File,
    io,
    io::Read,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::{
    fd::{AsFd, BorrowedFd},
    fs::{Dir, FileType, Mode, OFlags, openat},
};
use sha2::{Digest, Sha256};

use crate::set::open_directory;

/// Read so much at once.
const PIECE_BYTES: usize = 1 << 20;

/// The checksum of all files below a directory; `None` when the run is to stop.
pub(crate) fn checksum(root: BorrowedFd<'_>, stop: &AtomicBool) -> io::Result<Option<String>> {
    let mut paths = Vec::new();
    list(root, "", &mut paths)?;
    paths.sort_unstable();
    let mut all = Sha256::new();
    let mut buffer = vec![0; PIECE_BYTES];
    for path in paths {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(root, &*path, flags, Mode::empty())?);
        let mut one = Sha256::new();
        loop {
            match file.read(&mut buffer)? {
                _ if stop.load(Ordering::Relaxed) => return Ok(None),
                0 => break,
                bytes => one.update(&buffer[..bytes]),
            }
        }
        all.update(format!("{}  ./{path}\n", hexadecimal(&one.finalize())));
    }
    Ok(Some(hexadecimal(&all.finalize())))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The paths of all files below a directory.
fn list(directory: BorrowedFd<'_>, path: &str, paths: &mut Vec<String>) -> io::Result<()> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy();
        if name == "." || name == ".." {
            continue;
        }
        let below = if path.is_empty() { name.into_owned() } else { format!("{path}/{name}") };
        let facts = rustix::fs::statat(directory, entry.file_name(), rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(facts.st_mode) {
            FileType::RegularFile => paths.push(below),
            FileType::Directory => {
                let inner = open_directory(directory, &entry.file_name().to_string_lossy())?;
                list(inner.as_fd(), &below, paths)?;
            }
            _ => {}
        }
    }
    Ok(())
}
