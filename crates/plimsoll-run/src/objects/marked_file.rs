//! What a marker says of the file that it lies beside: which it is, and what tells it from what somebody copied into it
//! since. To `cp` and `dd` into a file leaves it the same file, born when it was.

use std::{ffi::OsStr, io};

use rustix::{
    fd::BorrowedFd,
    fs::{AtFlags, StatxFlags, StatxTimestamp, statx},
    io::Errno,
};
use serde::{Deserialize, Serialize};

/// What tells a file from another that took its name, and from what somebody copied into it since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MarkedFile {
    #[serde(flatten)]
    identity: FileIdentity,
    /// It has no fewer bytes than it was laid out with. Of markers that are older than this it is not known, and their
    /// files are only known while they are empty.
    #[serde(default)]
    bytes_min: u64,
    /// And no more than it was made for.
    #[serde(default)]
    bytes_max: u64,
    /// When it was changed last, once nobody writes to it: no cell of the run does, or the run is over and it is kept.
    #[serde(default)]
    changed_ns: Option<i64>,
}

impl MarkedFile {
    /// One that is as it was found, and becomes so long.
    pub(crate) fn to_become(found: &FoundFile, bytes: u64) -> Self {
        let FoundFile { identity, bytes: bytes_min, .. } = *found;
        Self { identity, bytes_min, bytes_max: bytes.max(bytes_min), changed_ns: None }
    }

    /// One that stays as it was found.
    pub(crate) fn to_stay(found: &FoundFile) -> Self {
        Self { changed_ns: Some(found.changed_ns), ..Self::to_become(found, 0) }
    }

    /// The same, to become so long as well.
    pub(crate) fn or_longer(self, bytes: u64) -> Self {
        Self { bytes_max: bytes.max(self.bytes_max), changed_ns: None, ..self }
    }

    /// The same, now that it is laid out as it was found.
    pub(crate) fn laid_out(self, found: &FoundFile, is_written_to: bool) -> Self {
        let changed_ns = (!is_written_to).then_some(found.changed_ns);
        Self { bytes_min: found.bytes.min(self.bytes_max), changed_ns, ..self }
    }

    /// The same, about to lose its end.
    pub(crate) fn or_shorter(self) -> Self {
        Self { bytes_min: 0, changed_ns: None, ..self }
    }

    pub(crate) fn is(&self, found: &FoundFile) -> bool {
        self.identity == found.identity && (self.bytes_min..=self.bytes_max).contains(&found.bytes)
    }

    /// Whether nobody wrote to it since plimsoll did; `None` when the time of that is not known.
    pub(crate) fn is_as_left(&self, found: &FoundFile) -> Option<bool> {
        self.changed_ns.map(|changed_ns| changed_ns == found.changed_ns)
    }
}

/// What tells a file from another that took its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct FileIdentity {
    inode: u64,
    /// When the file was created, where the file system knows: inode numbers are reused.
    born_ns: Option<i64>,
}

/// A regular file.
pub(crate) struct FoundFile {
    identity: FileIdentity,
    pub(crate) bytes: u64,
    changed_ns: i64,
    pub(crate) user: u32,
}

impl FoundFile {
    /// What has this name below `directory`, when it is one; symbolic links are not followed.
    pub(crate) fn of(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<Self>> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let facts = match statx(directory, name, AtFlags::SYMLINK_NOFOLLOW, wanted) {
            Err(Errno::NOENT) => return Ok(None),
            facts => facts?,
        };
        let ns =
            |time: StatxTimestamp| time.tv_sec.saturating_mul(1_000_000_000).saturating_add(i64::from(time.tv_nsec));
        let born = StatxFlags::from_bits_retain(facts.stx_mask).contains(StatxFlags::BTIME);
        let identity = FileIdentity { inode: facts.stx_ino, born_ns: born.then(|| ns(facts.stx_btime)) };
        let regular = u32::from(facts.stx_mode) & 0o170_000 == 0o100_000;
        let (bytes, changed_ns, user) = (facts.stx_size, ns(facts.stx_mtime), facts.stx_uid);
        Ok(regular.then_some(Self { identity, bytes, changed_ns, user }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_ours_while_it_is_as_long_as_plimsoll_made_it_and_of_an_older_marker_while_it_is_empty() {
        let found = |bytes, changed_ns| {
            let identity = FileIdentity { inode: 7, born_ns: Some(1) };
            FoundFile { identity, bytes, changed_ns, user: 0 }
        };
        let is = |file: MarkedFile, lengths: [u64; 3]| lengths.map(|bytes| file.is(&found(bytes, 5)));
        // It may have been killed while it was laid out.
        let made = MarkedFile::to_become(&found(0, 1), 4096);
        assert_eq!(is(made, [0, 4096, 4097]), [true, true, false]);
        let laid_out = made.laid_out(&found(4096, 5), true);
        assert_eq!(is(laid_out, [4095, 4096, 4097]), [false, true, false]);
        assert_eq!(is(laid_out.or_longer(4100), [4095, 4100, 4101]), [false, true, false]);
        // One that is there becomes no shorter.
        assert_eq!(is(MarkedFile::to_become(&found(4096, 1), 512), [512, 4096, 4097]), [false, true, false]);
        let kept = MarkedFile::to_stay(&found(4096, 5));
        assert_eq!(is(kept, [4095, 4096, 4097]), [false, true, false]);
        let as_left = |file: MarkedFile| [5, 6].map(|changed_ns| file.is_as_left(&found(4096, changed_ns)));
        assert_eq!(as_left(kept), [Some(true), Some(false)]);
        assert_eq!(as_left(made.laid_out(&found(4096, 5), false)), [Some(true), Some(false)]);
        assert_eq!(as_left(laid_out), [None, None], "it is written to");
        let older = serde_json::from_str(r#"{ "inode": 7, "born_ns": 1 }"#).unwrap();
        assert_eq!(is(older, [0, 1, 4096]), [true, false, false]);
    }
}
