//! Writes what a kernel unpacks as its first file system: a cpio archive in the format "newc".

use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::Path,
};

/// The kinds of entries, as in the mode of a file.
const DIRECTORY: u32 = 0o04_0000;
const FILE: u32 = 0o10_0000;
const LINK: u32 = 0o12_0000;

/// An archive that is being written. Paths are relative to the root.
pub(super) struct Archive<W> {
    out: W,
    directories: BTreeSet<String>,
}

impl<W: Write> Archive<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, directories: BTreeSet::new() }
    }

    /// A directory, after those that it is in.
    pub(super) fn directory(&mut self, path: &str) -> io::Result<()> {
        if path.is_empty() || self.directories.contains(path) {
            return Ok(());
        }
        self.parent(path)?;
        self.directories.insert(path.to_owned());
        self.entry(path, DIRECTORY | 0o755, &[])
    }

    /// A file that everybody may run: whether it is one to run makes no difference to whoever reads it.
    pub(super) fn file(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        self.parent(path)?;
        self.entry(path, FILE | 0o755, content)
    }

    pub(super) fn link(&mut self, path: &str, target: &str) -> io::Result<()> {
        self.parent(path)?;
        self.entry(path, LINK | 0o777, target.as_bytes())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.entry("TRAILER!!!", 0, &[])?;
        Ok(self.out)
    }

    fn parent(&mut self, path: &str) -> io::Result<()> {
        let parent = Path::new(path).parent().and_then(Path::to_str).unwrap_or_default();
        self.directory(parent)
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) -> io::Result<()> {
        // Inode, mode, owner, group, links, time, size, four numbers of devices, length of the name, checksum.
        let (size, name_size) = (content.len() as u32, path.len() as u32 + 1);
        let fields = [0, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0];
        let header = fields.iter().fold(String::from("070701"), |header, field| format!("{header}{field:08x}"));
        self.out.write_all(format!("{header}{path}\0").as_bytes())?;
        self.pad(header.len() + path.len() + 1)?;
        self.out.write_all(content)?;
        self.pad(content.len())
    }

    /// To a multiple of four.
    fn pad(&mut self, length: usize) -> io::Result<()> {
        self.out.write_all(&[0; 3][..length.next_multiple_of(4) - length])
    }
}
