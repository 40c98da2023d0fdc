//! What commands say: a file that they append to, of which the end is told when one fails.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// As much of what commands said is told when one fails.
const OUTPUT_BYTES: u64 = 2000;
/// What a log may take on the disk, which is not the one that is measured.
const LOG_BYTES_MAX: u64 = 64 << 20;

/// The log of a command, which may have had others before.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    /// Where the command begins.
    from: u64,
}

impl Log {
    /// The log in a file, which need not be there yet.
    pub(crate) fn new(path: PathBuf) -> Self {
        let from = fs::metadata(&path).map_or(0, |facts| facts.len());
        Self { path, from }
    }

    /// Opens it for a command. What appends can go on when the file becomes shorter.
    pub(crate) fn open(&self) -> io::Result<File> {
        File::options().create(true).append(true).open(&self.path)
    }

    /// Empties it when it has become too large, so that a command that says much keeps running.
    pub(crate) fn bound(&mut self) {
        if empty_when_larger(&self.path, LOG_BYTES_MAX).unwrap_or(false) {
            self.from = 0;
        }
    }

    /// The end of what the command has said.
    pub(crate) fn tail(&self) -> String {
        let mut bytes = Vec::new();
        let read = |bytes: &mut Vec<u8>| -> io::Result<()> {
            let mut file = File::open(&self.path)?;
            let end = file.metadata()?.len();
            file.seek(SeekFrom::Start(self.from.max(end.saturating_sub(OUTPUT_BYTES))))?;
            file.take(OUTPUT_BYTES).read_to_end(bytes).map(drop)
        };
        // What cannot be read is not told.
        let _ = read(&mut bytes);
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

/// Empties a log that takes more than so much, but for a note; whether it did.
fn empty_when_larger(path: &Path, bytes_max: u64) -> io::Result<bool> {
    let facts = fs::metadata(path)?;
    // Not its length: who opened it anew writes on where it was.
    if facts.blocks() * 512 <= bytes_max {
        return Ok(false);
    }
    let mut file = File::options().append(true).open(path)?;
    file.set_len(0)?;
    writeln!(file, "[what was said before this was too much to keep]")?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_too_much_goes_on_and_its_last_words_are_told() {
        let place = tempfile::tempdir().unwrap();
        let mut log = Log::new(place.path().join("log"));
        let mut command = log.open().unwrap();
        command.write_all(&vec![b'x'; LOG_BYTES_MAX as usize / 2]).unwrap();
        log.bound();
        assert_eq!(log.tail(), "x".repeat(OUTPUT_BYTES as usize));
        command.write_all(&vec![b'x'; LOG_BYTES_MAX as usize]).unwrap();
        log.bound();
        command.write_all(b"the end\n").unwrap();
        assert_eq!(log.tail(), "[what was said before this was too much to keep]\nthe end");
        assert!(command.metadata().unwrap().len() < 100);
    }
}
