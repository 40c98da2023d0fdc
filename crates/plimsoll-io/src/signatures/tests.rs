//! Every mark of the table is found at its place, and nothing is found where there is nothing.

use proptest::prelude::*;

use super::*;

const SIZE: usize = 8 << 20;

fn names(image: &[u8]) -> Vec<&'static str> {
    find(image, image.len() as u64).unwrap().into_iter().map(|signature| signature.name).collect()
}

fn image_with(parts: &[(usize, &[u8])]) -> Vec<u8> {
    let mut image = vec![0; SIZE];
    for (offset, bytes) in parts {
        image[*offset..offset + bytes.len()].copy_from_slice(bytes);
    }
    image
}

/// Whether the mark alone, among zeros and among other bytes, is enough.
fn is_certain(magic: &Magic) -> bool {
    [0, 0x4f].into_iter().all(|fill| {
        let mut bytes = [fill; STRUCTURE_BYTES];
        bytes[magic.at..magic.at + magic.bytes.len()].copy_from_slice(magic.bytes);
        (magic.is_plausible)(&Structure { bytes, device_bytes: SIZE as u64 })
    })
}

#[test]
fn zeros_and_ones_are_blank() {
    for size in [0, 1, 511, 512, 4096, 65_536, 1 << 20, SIZE] {
        assert_eq!(names(&vec![0; size]), [""; 0], "{size} zeros");
        assert_eq!(names(&vec![0xff; size]), [""; 0], "{size} ones");
    }
}

#[test]
fn random_content_is_blank() {
    let mut state = 7_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33).to_le_bytes()
    })
    .flatten()
    .take(SIZE)
    .collect();
    assert_eq!(names(&noise), [""; 0]);
}

#[test]
fn every_certain_mark_is_found_at_every_place_it_may_have() {
    let mut checked = 0;
    for magic in MAGICS.iter().filter(|magic| is_certain(magic)) {
        for place in magic.places {
            let offset = place.on(SIZE as u64).unwrap() + magic.at as u64;
            let found = find(&image_with(&[(offset as usize, magic.bytes)]), SIZE as u64).unwrap();
            let is_it = |found: &Signature| found.name == magic.name && found.offset == offset;
            assert!(found.iter().any(is_it), "{} at {offset}: {found:?}", magic.name);
            checked += 1;
        }
    }
    assert!(checked > 80, "{checked}");
}

#[test]
fn short_marks_need_a_plausible_structure() {
    let magic = |name| MAGICS.iter().find(|magic| magic.name == name).unwrap().bytes;
    let ext = |compatible: u8, incompatible: u8| {
        image_with(&[(1024 + 56, magic("ext4")), (1024 + 0x5c, &[compatible]), (1024 + 0x60, &[incompatible])])
    };
    assert_eq!(names(&ext(0, 0)), ["ext2"]);
    assert_eq!(names(&ext(4, 2)), ["ext3"]);
    assert_eq!(names(&ext(4, 0x42)), ["ext4"]);
    assert_eq!(names(&ext(0, 8)), ["ext journal"]);
    let mut impossible = ext(4, 0x42);
    impossible[1024 + 0x18] = 99;
    assert_eq!(names(&impossible), [""; 0]);

    assert_eq!(names(&image_with(&[(1024, &[2, 0, 0, 0, 0, 0, 0x34, 0x34, 24, 1])])), ["NILFS2"]);
    assert_eq!(names(&image_with(&[(1030, b"\x34\x34")])), [""; 0]);
    assert_eq!(names(&image_with(&[(0, b"hsqs"), (28, b"\x04\0")])), ["SquashFS"]);
    assert_eq!(names(&image_with(&[(0, b"\xfe\xed\xba\xbe\0\0\0\x01\0\0\0\x02")])), ["XFS log"]);
    assert_eq!(names(&image_with(&[(1024, b"H+\0\x04")])), ["HFS+"]);
    assert_eq!(names(&image_with(&[(1024, b"HX\0\x05")])), ["HFSX"]);
    assert_eq!(names(&image_with(&[(1024, b"BD"), (1044, &4096_u32.to_be_bytes())])), ["HFS"]);
    assert_eq!(names(&image_with(&[(0, b"ER\x02\0"), (512, b"PM\0\0")])), ["Apple partition map"]);
    assert_eq!(names(&image_with(&[(0, b"ER\x02\0")])), [""; 0]);
    assert_eq!(names(&image_with(&[(512, b"LABELONE"), (536, b"LVM2 001")])), ["LVM2 physical volume"]);
    assert_eq!(names(&image_with(&[(0, b"\xda\xbe"), (508, b"\xda\xbe")])), ["Sun disk label"]);
    assert_eq!(names(&image_with(&[(508, b"\xda\xbe")])), [""; 0]);
}

#[test]
fn raid_superblocks_are_found_where_each_version_keeps_them() {
    const MARK: &[u8] = b"\xfc\x4e\x2b\xa9\x01\0\0\0";
    const OLD: &[u8] = b"\xfc\x4e\x2b\xa9\0\0\0\0\x5a";
    assert_eq!(names(&image_with(&[(0, MARK)])), ["Linux RAID 1.1"]);
    assert_eq!(names(&image_with(&[(4096, MARK)])), ["Linux RAID 1.2"]);
    assert_eq!(names(&image_with(&[(SIZE - 65_536, OLD)])), ["Linux RAID 0.90"]);
    // The end is rounded down to 4 KiB and to 64 KiB.
    for odd in [0, 512, 2048, 3584] {
        let mut image = image_with(&[(SIZE - 8192, MARK)]);
        image.resize(SIZE + odd, 0);
        assert_eq!(names(&image), ["Linux RAID 1.0"], "{odd} bytes more");
        let mut image = image_with(&[(SIZE - 65_536, OLD)]);
        image.resize(SIZE + odd, 0);
        assert_eq!(names(&image), ["Linux RAID 0.90"], "{odd} bytes more");
    }
}

#[test]
fn zfs_is_found_by_any_of_its_labels_in_either_byte_order() {
    for label in [0, 256 << 10, SIZE - (512 << 10), SIZE - (256 << 10)] {
        for mark in [0x00ba_b10c_u64.to_le_bytes(), 0x00ba_b10c_u64.to_be_bytes()] {
            assert_eq!(names(&image_with(&[(label + (128 << 10) + 5 * 1024, &mark)])), ["ZFS"], "label at {label}");
        }
    }
}

#[test]
fn boot_sectors_count_when_a_table_or_code_stands_in_them() {
    let entry = [0x80, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 16, 0, 0];
    assert_eq!(names(&image_with(&[(446, &entry), (510, b"\x55\xaa")])), ["MBR"]);
    let mut protective = entry;
    protective[4] = 0xee;
    let gpt: &[(usize, &[u8])] = &[(446, &protective), (510, b"\x55\xaa"), (512, b"EFI PART")];
    assert_eq!(names(&image_with(&gpt[..2])), ["MBR"]);
    assert_eq!(names(&image_with(gpt)), ["GPT"]);
    assert_eq!(names(&image_with(&[(440, b"disk"), (510, b"\x55\xaa")])), ["empty MBR"]);
    assert_eq!(
        names(&image_with(&[(0, b"\xeb\x63\x90"), (440, b"text"), (463, b"text"), (510, b"\x55\xaa")])),
        ["boot sector"]
    );
    assert_eq!(names(&image_with(&[(446, b"noise"), (510, b"\x55\xaa")])), [""; 0]);
    let fat = image_with(&[(0, b"\xeb\x3c\x90mkfs.fat\0\x02\x04\x01\0\x02"), (21, b"\xf8"), (510, b"\x55\xaa")]);
    assert_eq!(names(&fat), ["FAT"]);
}

#[test]
fn a_place_that_cannot_be_read_is_not_taken_for_blank() {
    struct Broken;
    impl ReadAt for Broken {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            if offset >= 1 << 20 { Err(io::Error::from_raw_os_error(5)) } else { Ok(buffer.len()) }
        }
    }
    assert!(find(&Broken, 1 << 30).is_err());
}

proptest! {
    #[test]
    fn no_content_and_no_claimed_size_breaks_the_search(image: Vec<u8>, size: u64) {
        find(&image, size).unwrap();
        find(&image, image.len() as u64).unwrap();
    }

    #[test]
    fn no_small_device_breaks_the_search(size in 0_usize..200_000, fill: u8, seed: Vec<(u32, u8)>) {
        let mut image = vec![fill; size];
        for (at, value) in seed {
            if let Some(byte) = image.get_mut(at as usize % size.max(1)) {
                *byte = value;
            }
        }
        find(&image, size as u64).unwrap();
    }

    #[test]
    fn a_mark_is_found_whatever_surrounds_it(index in 0..MAGICS.len(), fill in 1_u8..0x50) {
        let magic = &MAGICS[index];
        prop_assume!(is_certain(magic));
        let mut image = vec![fill; 5 << 20];
        let offset = magic.places[0].on(image.len() as u64).unwrap() as usize + magic.at;
        image[offset..offset + magic.bytes.len()].copy_from_slice(magic.bytes);
        prop_assert!(names(&image).contains(&magic.name));
    }
}
