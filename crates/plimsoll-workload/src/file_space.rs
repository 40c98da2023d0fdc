//! Several files as one space of offsets: what a job does is decided there, and each operation then falls into one
//! file.
//!
//! One after another, the files follow each other in the space. In turns, the space goes through them in stripes, so
//! that what is sequential there visits the files one after the other, some operations in each.

use std::{fmt, num::NonZeroU32, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    operation::Operation,
    units::{ValueError, serde_as_text},
};

/// In which order the operations of a job use its files, where it has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOrder {
    /// So many operations in each, then in the next. Random operations go to any file.
    Turns(NonZeroU32),
    /// Each file to its end, then the next.
    Sequential,
}

impl Default for FileOrder {
    fn default() -> Self {
        Self::Turns(NonZeroU32::MIN)
    }
}

impl FromStr for FileOrder {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let operations = match text.split_once(':') {
            _ if text == "sequential" => return Ok(Self::Sequential),
            None if text == "turns" => return Ok(Self::default()),
            Some(("turns", operations)) => operations.trim().parse().ok(),
            _ => None,
        };
        operations.map(Self::Turns).ok_or_else(|| {
            ValueError::new(format!(
                "\"{text}\" is not an order of files: write turns, turns:OPERATIONS as in turns:8, or sequential"
            ))
        })
    }
}

impl fmt::Display for FileOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns(NonZeroU32::MIN) => f.write_str("turns"),
            Self::Turns(operations) => write!(f, "turns:{operations}"),
            Self::Sequential => f.write_str("sequential"),
        }
    }
}

serde_as_text! { FileOrder, "\"turns\", \"turns:8\" for eight operations in each file, or \"sequential\""; }

/// The files of a job as one space that begins at the start of its region and is as long as all their regions together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSpace {
    /// Where the region begins, in every file and in the space.
    offset: u64,
    files: u64,
    /// Bytes of the region in each file.
    file_bytes: u64,
    /// Bytes in a file before the next one's turn: all of them where files follow each other.
    stripe_bytes: u64,
}

impl FileSpace {
    /// So many files, of each of which the region covers the same bytes. Stripes that do not fill a file are of one
    /// block; blocks have to fill it.
    pub fn new(offset: u64, files: u32, file_bytes: u64, stripe: Option<(NonZeroU32, u32)>) -> Self {
        let stripe_bytes = stripe.map_or(file_bytes, |(operations, block)| {
            let stripe = u64::from(operations.get()) * u64::from(block);
            if file_bytes.is_multiple_of(stripe) { stripe } else { u64::from(block) }
        });
        Self { offset, files: u64::from(files.max(1)), file_bytes, stripe_bytes: stripe_bytes.max(1) }
    }

    /// Whether there is more than one.
    pub const fn has_several_files(&self) -> bool {
        self.files > 1
    }

    /// Where a place in a file is in the space; `None` before the region.
    pub fn position(&self, file: u16, in_file: u64) -> Option<u64> {
        if self.files == 1 {
            return Some(in_file);
        }
        let in_file = in_file.checked_sub(self.offset).filter(|in_file| *in_file < self.file_bytes)?;
        let (row, within) = (in_file / self.stripe_bytes, in_file % self.stripe_bytes);
        let stripe =
            if self.stripe_bytes == self.file_bytes { u64::from(file) } else { row * self.files + u64::from(file) };
        Some(self.offset + stripe * self.stripe_bytes + within)
    }

    /// The operation as its file knows it, and the number of that file among those of the job. One that would cross the
    /// end of its file is moved back to the last place where it fits.
    #[inline]
    pub fn place(&self, operation: Operation) -> Operation {
        if self.files == 1 {
            return operation;
        }
        let position = operation.offset - self.offset;
        let (stripe, within) = (position / self.stripe_bytes, position % self.stripe_bytes);
        let (file, in_file) = if self.stripe_bytes == self.file_bytes {
            (stripe, within)
        } else {
            (stripe % self.files, stripe / self.files * self.stripe_bytes + within)
        };
        let in_file = in_file.min(self.file_bytes - u64::from(operation.length));
        Operation { file: file as u16, offset: self.offset + in_file, ..operation }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::operation::OperationKind;

    fn read(offset: u64, length: u32) -> Operation {
        Operation { kind: OperationKind::Read, file: 0, length, offset }
    }

    fn turns(operations: u32) -> Option<(NonZeroU32, u32)> {
        Some((NonZeroU32::new(operations).unwrap(), 4096))
    }

    #[test]
    fn orders_read_back() {
        for text in ["turns", "turns:8", "sequential"] {
            assert_eq!(text.parse::<FileOrder>().unwrap().to_string(), text);
        }
        for text in ["turns:0", "turns:", "round", ""] {
            assert!(text.parse::<FileOrder>().unwrap_err().to_string().contains("turns:8"), "{text}");
        }
    }

    #[test]
    fn in_turns_each_file_gets_so_many_operations() {
        let space = FileSpace::new(8192, 3, 16_384, turns(2));
        let places: Vec<(u16, u64)> = (0..12)
            .map(|block| space.place(read(8192 + block * 4096, 4096)))
            .map(|placed| (placed.file, (placed.offset - 8192) / 4096))
            .collect();
        let wanted = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 2), (2, 3)];
        assert_eq!(places, wanted);
    }

    #[test]
    fn an_operation_never_crosses_the_end_of_its_file() {
        let space = FileSpace::new(0, 2, 10_240, None);
        let placed = space.place(read(8192, 4096));
        assert_eq!((placed.file, placed.offset), (0, 6144));
    }

    proptest! {
        #[test]
        fn every_block_of_every_file_is_one_block_of_the_space(
            files in 1..9_u32,
            blocks in 1..40_u64,
            operations in 0..5_u32,
            offset in 0..4_u64,
        ) {
            let stripe = if operations == 0 { None } else { turns(operations) };
            let offset = offset * 4096;
            let space = FileSpace::new(offset, files, blocks * 4096, stripe);
            let places: std::collections::BTreeSet<(u16, u64)> = (0..blocks * u64::from(files))
                .map(|block| space.place(read(offset + block * 4096, 4096)))
                .map(|placed| (placed.file, placed.offset))
                .collect();
            prop_assert_eq!(places.len() as u64, blocks * u64::from(files));
            for block in 0..blocks * u64::from(files) {
                let at = offset + block * 4096;
                let placed = space.place(read(at, 4096));
                prop_assert_eq!(space.position(placed.file, placed.offset), Some(at));
            }
            prop_assert!(places.iter().all(|(file, at)| u32::from(*file) < files
                && (offset..offset + blocks * 4096).contains(at)));
        }
    }
}
