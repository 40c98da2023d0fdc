//! Recognizes what is on a device by known marks at known places: file systems, RAID and volume members, swap,
//! encryption, partition tables, archives on what is used like a tape.
//!
//! It is meant to refuse, not to identify: a mark counts even where the rest of its structure is damaged, as long as
//! random content would hardly ever look the same. Names are for messages.

use std::{fs::File, io, os::unix::fs::FileExt};

use table::{MAGICS, Magic, Place, TAR_ARCHIVE};

mod table;

/// Something that can be read at any place: a device, a file, bytes in memory.
pub trait ReadAt {
    /// Reads up to the length of the buffer; returns how many bytes, zero at the end.
    ///
    /// # Errors
    /// When the storage cannot be read there.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.as_slice().read_at(buffer, offset)
    }
}

/// What kind of thing a mark belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureKind {
    /// A table that divides the device.
    PartitionTable,
    /// A file system, a member of something larger, swap, encryption, a boot sector.
    Content,
}

/// A known mark on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it belongs to, as people call it.
    pub name: &'static str,
    /// What kind of thing that is.
    pub kind: SignatureKind,
    /// Where the mark is, in bytes from the start.
    pub offset: u64,
}

impl Signature {
    /// Whether `wipefs` knows it too, and erases it.
    pub fn is_known_to_wipefs(&self) -> bool {
        self.name != TAR_ARCHIVE
    }
}

/// How much of a structure is looked at to judge whether it is plausible.
const STRUCTURE_BYTES: usize = 2048;

/// The beginning of a structure, followed by zeros where the device ends before it does.
struct Structure {
    bytes: [u8; STRUCTURE_BYTES],
    device_bytes: u64,
}

impl Structure {
    /// Bytes at a place; zeros beyond the end, so that no question about a structure can fail.
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let slice = self.bytes.get(at..at + N);
        slice.and_then(|slice| slice.try_into().ok()).unwrap_or([0; N])
    }

    fn byte(&self, at: usize) -> u8 {
        self.array::<1>(at)[0]
    }

    fn le16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    fn le32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    fn be16(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.array(at))
    }

    fn be32(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.array(at))
    }
}

/// Finds the known marks on something of this size, in the order of their places.
///
/// # Errors
/// When a place where a mark may be cannot be read: whoever asks must not take that for blank.
pub fn find(reader: &(impl ReadAt + ?Sized), size_bytes: u64) -> io::Result<Vec<Signature>> {
    let mut found = Vec::new();
    for magic in MAGICS {
        for place in magic.places {
            let Some(start) = place.on(size_bytes) else { continue };
            if let Some(structure) = matching(reader, size_bytes, magic, start)?
                && (magic.is_plausible)(&structure)
            {
                found.push(Signature { name: magic.name, kind: magic.kind, offset: start + magic.at as u64 });
            }
        }
    }
    found.extend(zfs(reader, size_bytes)?);
    found.extend(boot_sector(reader, size_bytes, &found)?);
    found.sort_by_key(|signature| signature.offset);
    found.dedup();
    Ok(found)
}

impl Place {
    /// Where this is on a device of some size; `None` when the device is too small to have it.
    fn on(&self, size_bytes: u64) -> Option<u64> {
        match *self {
            Self::Start(offset) => (offset < size_bytes).then_some(offset),
            Self::End { back, unit } => (size_bytes / unit * unit).checked_sub(back),
        }
    }
}

/// Fills the buffer as far as the device reaches; the rest keeps what it holds.
fn read_full(reader: &(impl ReadAt + ?Sized), buffer: &mut [u8], offset: u64, size_bytes: u64) -> io::Result<usize> {
    let length = usize::try_from(size_bytes.saturating_sub(offset)).unwrap_or(usize::MAX).min(buffer.len());
    let mut done = 0;
    while done < length {
        match reader.read_at(&mut buffer[done..length], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// The structure at a place, when it bears the mark.
fn matching(
    reader: &(impl ReadAt + ?Sized),
    size_bytes: u64,
    magic: &Magic,
    start: u64,
) -> io::Result<Option<Structure>> {
    let mut bytes = [0; STRUCTURE_BYTES];
    let length = read_full(reader, &mut bytes, start, size_bytes)?;
    let bears_mark = bytes[..length].get(magic.at..magic.at + magic.bytes.len()) == Some(magic.bytes);
    Ok(bears_mark.then_some(Structure { bytes, device_bytes: size_bytes }))
}

/// ZFS keeps four labels of 256 KiB, two at each end; the second half of each is a ring of uberblocks, whose mark is
/// written in the byte order of the machine that wrote it.
fn zfs(reader: &(impl ReadAt + ?Sized), size_bytes: u64) -> io::Result<Option<Signature>> {
    const LABEL_BYTES: u64 = 256 << 10;
    const RING_BYTES: usize = 128 << 10;
    const UBERBLOCK_BYTES_MIN: usize = 1024;
    const MARK: u64 = 0x00ba_b10c;
    let whole = size_bytes / LABEL_BYTES * LABEL_BYTES;
    let mut ring = vec![0; RING_BYTES];
    for label in [Some(0), Some(LABEL_BYTES), whole.checked_sub(2 * LABEL_BYTES), whole.checked_sub(LABEL_BYTES)] {
        let Some(start) = label.map(|label| label + RING_BYTES as u64) else { continue };
        let length = read_full(reader, &mut ring, start, size_bytes)?;
        let marked = ring[..length].chunks_exact(UBERBLOCK_BYTES_MIN).position(|block| {
            let mark = &block[..8];
            mark == MARK.to_le_bytes() || mark == MARK.to_be_bytes()
        });
        if let Some(index) = marked {
            let offset = start + (index * UBERBLOCK_BYTES_MIN) as u64;
            return Ok(Some(Signature { name: "ZFS", kind: SignatureKind::Content, offset }));
        }
    }
    Ok(None)
}

/// A sector that a BIOS would start ends with two bytes that occur by chance once in 65,536 sectors, so a table of
/// partitions, an empty one, or code has to stand before them. File systems of DOS and Windows have such sectors too;
/// where anything else was `recognized`, only a real table adds to it, and not one that merely protects a GPT.
fn boot_sector(
    reader: &(impl ReadAt + ?Sized),
    size_bytes: u64,
    recognized: &[Signature],
) -> io::Result<Option<Signature>> {
    const PROTECTIVE: u8 = 0xee;
    const MARK_AT: usize = 510;
    let mut bytes = [0; STRUCTURE_BYTES];
    read_full(reader, &mut bytes[..512], 0, size_bytes)?;
    let sector = Structure { bytes, device_bytes: size_bytes };
    if sector.array(MARK_AT) != [0x55, 0xaa] {
        return Ok(None);
    }
    let table = [446, 462, 478, 494];
    let is_empty = table.iter().all(|at| sector.array::<16>(*at) == [0; 16]);
    let are_flags_sane = table.iter().all(|at| sector.byte(*at) & 0x7f == 0);
    let is_used = table.iter().any(|at| {
        let (kind, start, count) = (sector.byte(at + 4), sector.le32(at + 8), sector.le32(at + 12));
        kind != 0 && start > 0 && count > 0 && u64::from(start) * 512 < sector.device_bytes
    });
    let starts_with_code =
        sector.byte(0) == 0xeb && sector.byte(2) == 0x90 || matches!(sector.byte(0), 0xe9 | 0xfa | 0xfc | 0x33 | 0x31);
    let is_protective = table.iter().any(|at| sector.byte(at + 4) == PROTECTIVE);
    let is_divided = recognized.iter().any(|signature| signature.kind == SignatureKind::PartitionTable);
    let found = |name, kind| Ok(Some(Signature { name, kind, offset: MARK_AT as u64 }));
    if is_protective && is_divided {
        Ok(None)
    } else if are_flags_sane && is_used {
        found("MBR", SignatureKind::PartitionTable)
    } else if !recognized.is_empty() {
        Ok(None)
    } else if is_empty {
        found("empty MBR", SignatureKind::PartitionTable)
    } else if are_flags_sane && starts_with_code {
        found("boot sector", SignatureKind::Content)
    } else {
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
