//! The known marks, as data. Each row: what people call it, where its structure may start, where in the structure the
//! mark is, the mark, and what else must look right where the mark alone is too short to trust.
//!
//! Copies of a structure are looked for only where the advice of the write guard erases them too: otherwise somebody
//! who follows it would be refused again, with nothing left to do.

use super::{SignatureKind, Structure};

/// Where a structure starts.
pub(super) enum Place {
    /// So many bytes from the start of the device.
    Start(u64),
    /// So many bytes before the end of the device, after rounding its size down to whole units.
    End { back: u64, unit: u64 },
}

/// A mark that a structure bears.
pub(super) struct Magic {
    pub(super) name: &'static str,
    pub(super) kind: SignatureKind,
    pub(super) places: &'static [Place],
    pub(super) at: usize,
    pub(super) bytes: &'static [u8],
    pub(super) is_plausible: fn(&Structure) -> bool,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const fn start(offset: u64) -> Place {
    Place::Start(offset)
}

const fn sectors_back(sectors: u64) -> Place {
    Place::End { back: sectors * 512, unit: 512 }
}

const FIRST: &[Place] = &[start(0)];

fn certain(_: &Structure) -> bool {
    true
}

const fn content(name: &'static str, places: &'static [Place], at: usize, bytes: &'static [u8]) -> Magic {
    Magic { name, kind: SignatureKind::Content, places, at, bytes, is_plausible: certain }
}

const fn if_plausible(magic: Magic, is_plausible: fn(&Structure) -> bool) -> Magic {
    Magic { is_plausible, ..magic }
}

const fn partition_table(magic: Magic) -> Magic {
    Magic { kind: SignatureKind::PartitionTable, ..magic }
}

/// The last ten bytes of the first page, for every page size that Linux has.
const PAGE_ENDS: &[Place] =
    &[start(4 * KIB - 10), start(8 * KIB - 10), start(16 * KIB - 10), start(32 * KIB - 10), start(64 * KIB - 10)];

/// The first volume descriptor of optical media.
const DESCRIPTOR: &[Place] = &[start(32 * KIB)];

/// Where the secondary header of LUKS2 may be.
const LUKS_SECONDARY: &[Place] = &[
    start(16 * KIB),
    start(32 * KIB),
    start(64 * KIB),
    start(128 * KIB),
    start(256 * KIB),
    start(512 * KIB),
    start(MIB),
    start(2 * MIB),
    start(4 * MIB),
];

const FIRST_FOUR_SECTORS: &[Place] = &[start(0), start(512), start(1024), start(1536)];

const EXT_SUPERBLOCK: &[Place] = &[start(KIB)];

/// The second logical block, whatever its size.
const GPT_PRIMARY: &[Place] = &[start(512), start(KIB), start(2 * KIB), start(4 * KIB)];

/// The last logical block.
const GPT_BACKUP: &[Place] = &[
    sectors_back(1),
    Place::End { back: KIB, unit: KIB },
    Place::End { back: 2 * KIB, unit: 2 * KIB },
    Place::End { back: 4 * KIB, unit: 4 * KIB },
];

const PROMISE_SECTORS: &[Place] = &[
    sectors_back(63),
    sectors_back(255),
    sectors_back(256),
    sectors_back(16),
    sectors_back(399),
    sectors_back(591),
    sectors_back(675),
    sectors_back(735),
    sectors_back(911),
    sectors_back(974),
    sectors_back(991),
    sectors_back(951),
    sectors_back(3087),
];

const DRBD: &[Place] = &[Place::End { back: 4 * KIB, unit: 4 * KIB }];
const BSD_LABELS: &[Place] = &[start(0), start(64), start(128), start(512)];
const UFS: &[Place] = &[start(0), start(8 * KIB), start(64 * KIB), start(256 * KIB)];
const VMFS_MEMBER: &[Place] = &[start(MIB)];
const VMFS: &[Place] = &[start(2 * MIB)];
const DDF: &[Place] = &[sectors_back(1), sectors_back(257)];
/// Both ends of a device with 512-byte sectors, and with 4-KiB ones.
const INTEL: &[Place] = &[sectors_back(2), Place::End { back: 8 * KIB, unit: 4 * KIB }];

/// As tapes have it, and devices that are used like tapes.
pub(super) const TAR_ARCHIVE: &str = "tar archive";

pub(super) const MAGICS: &[Magic] = &[
    // Partition tables. The MBR needs more thought and is not in this table.
    partition_table(content("GPT", GPT_PRIMARY, 0, b"EFI PART")),
    partition_table(content("backup GPT", GPT_BACKUP, 0, b"EFI PART")),
    partition_table(if_plausible(content("Apple partition map", FIRST, 0, b"ER"), is_apple_map)),
    partition_table(content("BSD disk label", BSD_LABELS, 0, b"\x57\x45\x56\x82")),
    partition_table(if_plausible(content("Sun disk label", FIRST, 508, b"\xda\xbe"), is_sun_label)),
    partition_table(content("SGI disk label", FIRST, 0, b"\x0b\xe5\xa9\x41")),
    // File systems of Linux.
    if_plausible(content("ext4", EXT_SUPERBLOCK, 56, b"\x53\xef"), |s| is_ext(s) && ext(s) == Ext::Four),
    if_plausible(content("ext3", EXT_SUPERBLOCK, 56, b"\x53\xef"), |s| is_ext(s) && ext(s) == Ext::Three),
    if_plausible(content("ext2", EXT_SUPERBLOCK, 56, b"\x53\xef"), |s| is_ext(s) && ext(s) == Ext::Two),
    if_plausible(content("ext journal", EXT_SUPERBLOCK, 56, b"\x53\xef"), |s| is_ext(s) && ext(s) == Ext::Journal),
    content("XFS", FIRST, 0, b"XFSB"),
    if_plausible(content("XFS log", FIRST, 0, b"\xfe\xed\xba\xbe"), |s| matches!(s.be32(8), 1 | 2)),
    content("btrfs", &[start(64 * KIB)], 64, b"_BHRfS_M"),
    content("bcachefs", &[start(4 * KIB)], 24, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
    content("F2FS", &[start(KIB)], 0, b"\x10\x20\xf5\xf2"),
    content("JFS", &[start(32 * KIB)], 0, b"JFS1"),
    content("ReiserFS", &[start(8 * KIB), start(64 * KIB)], 52, b"ReIsErFs"),
    content("ReiserFS", &[start(8 * KIB), start(64 * KIB)], 52, b"ReIsEr2Fs"),
    content("ReiserFS", &[start(8 * KIB), start(64 * KIB)], 52, b"ReIsEr3Fs"),
    content("Reiser4", &[start(64 * KIB)], 0, b"ReIsEr4"),
    content("GFS2", &[start(64 * KIB)], 0, b"\x01\x16\x19\x70"),
    content("OCFS2", &[start(KIB), start(2 * KIB), start(4 * KIB), start(8 * KIB)], 0, b"OCFSV2"),
    content("OCFS", FIRST, 8, b"OracleCFS"),
    if_plausible(content("NILFS2", &[start(KIB)], 6, b"\x34\x34"), is_nilfs),
    if_plausible(content("NILFS2", &[Place::End { back: 4 * KIB, unit: 4 * KIB }], 6, b"\x34\x34"), is_nilfs),
    if_plausible(content("SquashFS", FIRST, 0, b"hsqs"), |s| matches!(s.le16(28), 1..=4)),
    if_plausible(content("SquashFS", FIRST, 0, b"sqsh"), |s| matches!(s.be16(28), 1..=4)),
    content("EROFS", &[start(KIB)], 0, b"\xe2\xe1\xf5\xe0"),
    content("cramfs", FIRST, 0, b"\x45\x3d\xcd\x28"),
    content("cramfs", FIRST, 0, b"\x28\xcd\x3d\x45"),
    content("romfs", FIRST, 0, b"-rom1fs-"),
    content("zonefs", FIRST, 0, b"SFOZ"),
    content("UBI", FIRST, 0, b"UBI#"),
    if_plausible(content("Minix", &[start(KIB)], 16, b"\x7f\x13"), is_minix),
    if_plausible(content("Minix", &[start(KIB)], 16, b"\x8f\x13"), is_minix),
    if_plausible(content("Minix", &[start(KIB)], 16, b"\x68\x24"), is_minix),
    if_plausible(content("Minix", &[start(KIB)], 16, b"\x78\x24"), is_minix),
    if_plausible(content("Minix", &[start(KIB)], 24, b"\x5a\x4d"), is_minix_3),
    // File systems of others.
    content("NTFS", FIRST, 3, b"NTFS    "),
    content("exFAT", FIRST, 3, b"EXFAT   "),
    content("ReFS", FIRST, 3, b"ReFS\0"),
    if_plausible(content("FAT", FIRST, 510, b"\x55\xaa"), is_fat),
    content("BitLocker", FIRST, 3, b"-FVE-FS-"),
    content("BitLocker", FIRST, 424, b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01"),
    content("HPFS", &[start(8 * KIB)], 0, b"\x49\xe8\x95\xf9"),
    if_plausible(content("HFS+", &[start(KIB)], 0, b"H+"), |s| s.be16(2) == 4),
    if_plausible(content("HFSX", &[start(KIB)], 0, b"HX"), |s| s.be16(2) == 5),
    if_plausible(content("HFS", &[start(KIB)], 0, b"BD"), |s| s.be32(20) > 0 && s.be32(20).is_multiple_of(512)),
    content("APFS", FIRST, 32, b"NXSB"),
    content("UFS", UFS, 0x55c, b"\x54\x19\x01\x00"),
    content("UFS", UFS, 0x55c, b"\x00\x01\x19\x54"),
    content("UFS2", UFS, 0x55c, b"\x19\x01\x54\x19"),
    content("UFS2", UFS, 0x55c, b"\x19\x54\x01\x19"),
    content("VxFS", &[start(KIB)], 0, b"\xf5\xfc\x01\xa5"),
    content("BFS", FIRST, 0, b"\xce\xfa\xad\x1b"),
    content("ISO 9660", DESCRIPTOR, 1, b"CD001"),
    content("UDF", DESCRIPTOR, 1, b"BEA01"),
    content("UDF", DESCRIPTOR, 1, b"NSR02"),
    content("UDF", DESCRIPTOR, 1, b"NSR03"),
    content("VMFS", VMFS, 0, b"\x5e\xf1\xab\x2f"),
    content("VMFS volume member", VMFS_MEMBER, 0, b"\x0d\xd0\x01\xc0"),
    // Members of volumes, caches and clusters.
    if_plausible(content("LVM2 physical volume", FIRST_FOUR_SECTORS, 24, b"LVM2 001"), |s| {
        &s.array::<8>(0) == b"LABELONE"
    }),
    content("LVM2 snapshot", FIRST, 0, b"SnAp"),
    content("LUKS", FIRST, 0, b"LUKS\xba\xbe"),
    content("LUKS2 secondary header", LUKS_SECONDARY, 0, b"SKUL\xba\xbe"),
    content("dm-verity", FIRST, 0, b"verity\0\0"),
    content("dm-integrity", FIRST, 0, b"integrt\0"),
    content("VDO", FIRST, 0, b"dmvdo001"),
    content("Stratis", FIRST_FOUR_SECTORS, 4, b"!Stra0tis\x86\xff\x02^\x41rh"),
    content("bcache", &[start(4 * KIB)], 24, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    content("Ceph BlueStore", FIRST, 0, b"bluestore block device"),
    content("DRBD", DRBD, 60, b"\x83\x74\x02\x6b"),
    content("DRBD", DRBD, 60, b"\x83\x74\x02\x6c"),
    content("DRBD", DRBD, 60, b"\x83\x74\x02\x6d"),
    content("Oracle ASM", FIRST, 32, b"ORCLDISK"),
    content("QCOW image", FIRST, 0, b"QFI\xfb"),
    content(TAR_ARCHIVE, FIRST, 257, b"ustar"),
    // RAID.
    if_plausible(content("Linux RAID 1.1", FIRST, 0, b"\xfc\x4e\x2b\xa9"), |s| s.le32(4) == 1),
    if_plausible(content("Linux RAID 1.2", &[start(4 * KIB)], 0, b"\xfc\x4e\x2b\xa9"), |s| s.le32(4) == 1),
    if_plausible(
        content("Linux RAID 1.0", &[Place::End { back: 8 * KIB, unit: 4 * KIB }], 0, b"\xfc\x4e\x2b\xa9"),
        |s| s.le32(4) == 1,
    ),
    if_plausible(
        content("Linux RAID 0.90", &[Place::End { back: 64 * KIB, unit: 64 * KIB }], 0, b"\xfc\x4e\x2b\xa9"),
        |s| s.le32(4) == 0,
    ),
    if_plausible(
        content("Linux RAID 0.90", &[Place::End { back: 64 * KIB, unit: 64 * KIB }], 0, b"\xa9\x2b\x4e\xfc"),
        |s| s.be32(4) == 0,
    ),
    content("Intel RAID", INTEL, 0, b"Intel Raid ISM Cfg Sig. "),
    content("DDF RAID", DDF, 0, b"\xde\x11\xde\x11"),
    content("DDF RAID", DDF, 0, b"\x11\xde\x11\xde"),
    content("Promise RAID", PROMISE_SECTORS, 0, b"Promise Technology, Inc."),
    content("NVIDIA RAID", &[sectors_back(2)], 0, b"NVIDIA"),
    content("LSI RAID", &[sectors_back(1)], 0, b"$XIDE$"),
    content("HighPoint RAID", &[start(4608)], 32, b"\xf0\x16\x78\x5a"),
    content("HighPoint RAID", &[start(4608)], 32, b"\xfd\x16\x78\x5a"),
    content("HighPoint RAID", &[sectors_back(11)], 0, b"\xf3\x16\x78\x5a"),
    content("HighPoint RAID", &[sectors_back(11)], 0, b"\xfd\x16\x78\x5a"),
    // Swap, and memory written to it.
    content("swap", PAGE_ENDS, 0, b"SWAPSPACE2"),
    content("swap", PAGE_ENDS, 0, b"SWAP-SPACE"),
    content("suspended system", PAGE_ENDS, 0, b"S1SUSPEND"),
    content("suspended system", PAGE_ENDS, 0, b"S2SUSPEND"),
    content("suspended system", PAGE_ENDS, 0, b"ULSUSPEND"),
    content("suspended system", PAGE_ENDS, 0, b"LINHIB0001"),
    content("suspended system", FIRST, 0, b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c"),
];

#[derive(PartialEq, Eq)]
enum Ext {
    Two,
    Three,
    Four,
    Journal,
}

/// Two bytes are too short a mark: the block size (at most 64 KiB) and the revision must be possible too.
fn is_ext(superblock: &Structure) -> bool {
    superblock.le32(0x18) <= 6 && superblock.le32(0x4c) <= 1
}

/// Which generation a superblock is of, by the features it names.
fn ext(superblock: &Structure) -> Ext {
    const HAS_JOURNAL: u32 = 0x4;
    const IS_JOURNAL: u32 = 0x8;
    // Extents, 64 bit, multiple mounts, flexible groups and later.
    const INCOMPATIBLE_OF_FOUR: u32 = !0x1f;
    // Huge files, group checksums, many subdirectories, larger inodes, and later.
    const READ_ONLY_OF_FOUR: u32 = !0x7;
    let (compatible, incompatible) = (superblock.le32(0x5c), superblock.le32(0x60));
    if incompatible & IS_JOURNAL != 0 {
        Ext::Journal
    } else if incompatible & INCOMPATIBLE_OF_FOUR != 0 || superblock.le32(0x64) & READ_ONLY_OF_FOUR != 0 {
        Ext::Four
    } else if compatible & HAS_JOURNAL != 0 {
        Ext::Three
    } else {
        Ext::Two
    }
}

/// The parameter block of a FAT boot sector, which needs no name in it.
fn is_fat(sector: &Structure) -> bool {
    let has_jump = sector.byte(0) == 0xe9 || sector.byte(0) == 0xeb;
    let named = &sector.array::<3>(0x36) == b"FAT" || &sector.array::<3>(0x52) == b"FAT";
    let sector_bytes = matches!(sector.le16(11), 512 | 1024 | 2048 | 4096);
    let copies = matches!(sector.byte(16), 1 | 2);
    let media = sector.byte(21) == 0xf0 || sector.byte(21) >= 0xf8;
    has_jump && (named || sector_bytes && sector.byte(13).is_power_of_two() && sector.le16(14) > 0 && copies && media)
}

fn is_nilfs(superblock: &Structure) -> bool {
    superblock.le32(0) == 2 && superblock.le16(4) == 0 && superblock.le16(8) <= 1024
}

/// Maps of inodes and of zones, and zones that begin behind both.
fn is_minix(superblock: &Structure) -> bool {
    let [inode_map, zone_map, first_zone, zone_size] = [4, 6, 8, 10].map(|at| superblock.le16(at));
    are_minix_maps(inode_map, zone_map, first_zone) && zone_size <= 6
}

/// The same where version 3 has it, with the size of blocks.
fn is_minix_3(superblock: &Structure) -> bool {
    let [inode_map, zone_map, first_zone, zone_size] = [6, 8, 10, 12].map(|at| superblock.le16(at));
    let block_bytes = superblock.le16(28);
    are_minix_maps(inode_map, zone_map, first_zone) && zone_size <= 6 && block_bytes.is_power_of_two()
}

fn are_minix_maps(inode_map: u16, zone_map: u16, first_zone: u16) -> bool {
    inode_map > 0 && zone_map > 0 && u32::from(first_zone) > 2 + u32::from(inode_map) + u32::from(zone_map)
}

/// A driver descriptor with the first entry of a map in the block after it.
fn is_apple_map(descriptor: &Structure) -> bool {
    let block_bytes = descriptor.be16(2);
    matches!(block_bytes, 512 | 1024) && &descriptor.array::<2>(block_bytes.into()) == b"PM"
}

/// All sixteen-bit words of the label together give zero.
fn is_sun_label(label: &Structure) -> bool {
    (0..256).fold(0, |sum, index| sum ^ label.be16(index * 2)) == 0
}
