//! Options about what is written, and how it is checked.

use super::{Category::Content, Entry, kind::Kind};
use crate::fio::settings::{Checksum, Settings, VerifyPattern};
use crate::problem::Wrong;

const PERCENT: Kind = Kind::Integer { min: 0, max: 100 };
const COUNT: Kind = Kind::Integer { min: 0, max: u32::MAX as i64 };
/// The least distance of headers: twice their size, as in fio.
const VERIFY_INTERVAL_MIN: u64 = 80;
const PATTERN: Kind = Kind::Special("\"text\", 0xhexadecimal, decimal numbers, or these one after the other");
/// Bytes of a pattern.
const PATTERN_MAX: usize = 512 * 1024;

pub(super) const ENTRIES: &[Entry] = &[
    Entry::exact(Content, "zero_buffers", Kind::Flag, "Write zeros", |s, v, _| {
        s.content.is_zero = v.truth();
        Ok(())
    })
    .approximate("verified blocks have content of their own")
    .when(|s| s.content.is_zero && is_verified(s)),
    Entry::exact(Content, "refill_buffers", Kind::Flag, "Each write has new content", |s, v, _| {
        s.content.is_refilled = Some(v.truth());
        Ok(())
    })
    .approximate("each write has new content in any case")
    .when(|s| s.content.is_refilled == Some(false) && has_random_content(s)),
    Entry::exact(Content, "scramble_buffers", Kind::Boolean, "Change each write a little", |s, v, _| {
        s.content.is_scrambled = v.truth();
        Ok(())
    })
    .default("1")
    .ignored_for("each write has new content, unless a pattern or zeros are asked for")
    .when(|s| !s.content.is_scrambled && has_random_content(s)),
    Entry::exact(Content, "buffer_pattern", PATTERN, "What is written again and again", |s, v, _| {
        let pattern = pattern(&v.text(), false)?;
        s.content.pattern = Some(pattern.bytes);
        s.content.is_scrambled = false;
        s.content.is_zero = false;
        Ok(())
    })
    .approximate("verified blocks have content of their own; nothing is mixed into a pattern")
    .when(is_verified),
    Entry::exact(Content, "buffer_compress_percentage", PERCENT, "How far content can be compressed", |s, v, _| {
        s.content.compress_percent = Some(v.percent());
        Ok(())
    })
    .approximate("it is the end of each 4 KiB that is zeros")
    .when(|s| s.content.compress_percent.is_some()),
    Entry::exact(Content, "buffer_compress_chunk", Kind::Size, "The length in which that is so", |s, v, _| {
        s.content.compress_chunk = v.size();
        Ok(())
    })
    .default("512")
    .ignored_for("it is 4 KiB")
    .when(|s| s.content.compress_percent.is_some() && s.content.compress_chunk.0 != 4096),
    Entry::exact(Content, "dedupe_percentage", PERCENT, "How much of the content repeats", |s, v, _| {
        s.content.duplicate_percent = Some(v.percent());
        Ok(())
    })
    .approximate("what repeats is one of sixteen contents")
    .when(|s| s.content.duplicate_percent.is_some()),
    Entry::exact(
        Content,
        "verify",
        Kind::Choice(&[
            "0",
            "md5",
            "crc64",
            "crc32c",
            "crc32c-intel",
            "crc32",
            "crc16",
            "crc7",
            "xxhash",
            "sha1",
            "sha256",
            "sha512",
            "sha3-224",
            "sha3-256",
            "sha3-384",
            "sha3-512",
            "meta",
            "pattern",
            "pattern_hdr",
            "null",
        ]),
        "How what was written is checked",
        |s, v, _| {
            s.content.verify = checksum(v.word());
            Ok(())
        },
    )
    .default("0")
    .approximate(
        "blocks carry plimsoll's own header and checksum, and all of the region is read back; their one size \
                  is a power of two from 512 to 1m",
    )
    .when(|s| s.content.verify.is_some()),
    Entry::exact(Content, "do_verify", Kind::Boolean, "Read and check after the writes", |s, v, _| {
        s.content.has_verify_phase = v.truth();
        Ok(())
    })
    .default("1")
    .approximate("with 0, blocks have no header")
    .told_by_lowering(),
    Entry::exact(Content, "verify_fatal", Kind::Boolean, "The first bad block ends the job", |s, v, _| {
        s.content.verify_error_ends = v.truth();
        Ok(())
    })
    .default("0")
    .ignored_for("bad blocks are counted, and the job goes on")
    .when(|s| s.content.verify_error_ends && s.content.verify.is_some()),
    Entry::exact(Content, "verify_dump", Kind::Boolean, "Keep bad blocks in files", |s, v, _| {
        s.content.dumps_bad_blocks = v.truth();
        Ok(())
    })
    .default("0")
    .ignored_for("bad blocks are counted, and not kept")
    .when(|s| s.content.dumps_bad_blocks && s.content.verify.is_some()),
    Entry::exact(Content, "verify_interval", Kind::Size, "The distance of headers", |s, v, _| {
        let interval = v.size();
        if interval.0 < VERIFY_INTERVAL_MIN {
            return Err(Wrong::new(format!("headers {} bytes apart", interval.0))
                .instead(format!("write at least {VERIFY_INTERVAL_MIN}")));
        }
        s.content.verify_interval = Some(interval);
        Ok(())
    })
    .ignored_for("each block has one header")
    .when(|s| {
        let block = s.pattern.block_bounds().write;
        is_verified(s) && s.content.verify_interval.is_some_and(|interval| interval != block.low)
    }),
    Entry::exact(
        Content,
        "verify_pattern",
        Kind::Special("as buffer_pattern, and %o where the offset of the block stands"),
        "What is written, and expected",
        |s, v, _| {
            s.content.verify_pattern = Some(pattern(&v.text(), true)?);
            s.content.verify = s.content.verify.or(Some(Checksum::Pattern));
            Ok(())
        },
    )
    .ignored_for("blocks have content of their own, which their checksum is about"),
    Entry::exact(Content, "verify_backlog", Kind::Size, "Check after so many blocks were written", |s, v, _| {
        s.content.verify_backlog = Some(v.size().0).filter(|blocks| *blocks > 0);
        Ok(())
    })
    .ignored_for("blocks are checked when all are written")
    .when(|s| s.content.verify_backlog.is_some() && is_verified(s)),
    Entry::exact(Content, "verify_backlog_batch", COUNT, "How many blocks to check then", |s, v, _| {
        s.content.verify_backlog_batch = v.small_unless_zero().map(u64::from);
        Ok(())
    })
    .ignored_for("blocks are checked when all are written")
    .when(|s| s.content.verify_backlog_batch.is_some() && is_verified(s)),
    Entry::exact(
        Content,
        "verify_state_save",
        Kind::Boolean,
        "Keep what was written, for a check in a later run",
        |s, v, _| {
            s.content.saves_verify_state = v.truth();
            Ok(())
        },
    )
    .default("1")
    .ignored_for("only what the same run wrote is checked")
    .unless(&["0"]),
    Entry::ignored(Content, "verify_async", COUNT, "Threads that check", "the worker that reads a block checks it")
        .default("0")
        .unless(&["0"]),
    Entry::ignored(
        Content,
        "verifysort",
        Kind::Special("anything"),
        "Sort blocks before they are checked",
        "fio ignores it too",
    ),
    Entry::ignored(
        Content,
        "verifysort_nr",
        Kind::Special("anything"),
        "How many blocks to sort",
        "fio ignores it too",
    ),
];

/// Whether blocks are written that are checked.
fn is_verified(settings: &Settings) -> bool {
    let content = &settings.content;
    content.verify.is_some() && content.has_verify_phase && settings.pattern.direction.writes
}

fn has_random_content(settings: &Settings) -> bool {
    settings.content.pattern.is_none() && !settings.content.is_zero
}

fn checksum(name: &str) -> Option<Checksum> {
    Some(match name {
        "md5" => Checksum::Md5,
        "crc64" => Checksum::Crc64,
        "crc32c" | "crc32c-intel" => Checksum::Crc32c,
        "crc32" => Checksum::Crc32,
        "crc16" => Checksum::Crc16,
        "crc7" => Checksum::Crc7,
        "xxhash" => Checksum::Xxhash,
        "sha1" => Checksum::Sha1,
        "sha256" => Checksum::Sha256,
        "sha512" => Checksum::Sha512,
        "sha3-224" => Checksum::Sha3 { bits: 224 },
        "sha3-256" => Checksum::Sha3 { bits: 256 },
        "sha3-384" => Checksum::Sha3 { bits: 384 },
        "sha3-512" => Checksum::Sha3 { bits: 512 },
        "meta" => Checksum::Header,
        "pattern" => Checksum::Pattern,
        "pattern_hdr" => Checksum::PatternWithHeader,
        "null" => Checksum::Null,
        _ => return None,
    })
}

/// Strings in quotes, hexadecimal and decimal numbers, and formats, one after the other.
fn pattern(text: &str, has_formats: bool) -> Result<VerifyPattern, Wrong> {
    let wrong = |rest: &str| {
        Wrong::new(format!("the pattern cannot be read from here on: {rest}"))
            .instead("write \"text\", 0xhexadecimal or decimal numbers")
    };
    let mut pattern = VerifyPattern { bytes: Vec::new(), offsets: Vec::new() };
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').ok_or_else(|| wrong(rest))?;
            pattern.bytes.extend_from_slice(&quoted.as_bytes()[..end]);
            rest = &quoted[end + 1..];
        } else if let Some(formatted) = rest.strip_prefix('%') {
            rest = formatted.strip_prefix('o').filter(|_| has_formats).ok_or_else(|| wrong(rest))?;
            pattern.offsets.push(pattern.bytes.len());
            pattern.bytes.extend_from_slice(&[0; 8]);
        } else if rest.starts_with('\'') {
            return Err(Wrong::new("the content of files as a pattern is not supported").instead("write it as 0x.."));
        } else if let Some(digits) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            pattern.bytes.extend(hexadecimal(&digits[..end]).ok_or_else(|| wrong(rest))?);
            rest = &digits[end..];
        } else {
            let unsigned = rest.strip_prefix('-').unwrap_or(rest);
            let end = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
            let length = rest.len() - unsigned.len() + end;
            let number: i32 = rest[..length].parse().map_err(|_| wrong(rest))?;
            pattern.bytes.extend(shortest(number));
            rest = &rest[length..];
        }
        if pattern.bytes.len() > PATTERN_MAX {
            return Err(Wrong::new(format!("the pattern is longer than {PATTERN_MAX} bytes")));
        }
    }
    Ok(pattern)
}

/// The bytes of hexadecimal digits from the left; a digit without a partner stands first.
fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    if digits.is_empty() {
        return None;
    }
    let odd = digits.len() % 2;
    let first = (odd == 1).then(|| &digits[..1]);
    let pairs = (odd..digits.len()).step_by(2).map(|at| &digits[at..at + 2]);
    first.into_iter().chain(pairs).map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

/// The bytes of a number, the least first, without zeros at the end.
fn shortest(number: i32) -> Vec<u8> {
    let mut bytes = number.to_le_bytes().to_vec();
    while bytes.len() > 1 && bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_texts_and_numbers_one_after_the_other() {
        for (text, bytes) in [
            ("0xdeadface", &[0xde, 0xad, 0xfa, 0xce][..]),
            ("0xabc", &[0x0a, 0xbc]),
            ("\"abcd\"", b"abcd"),
            ("\"abcd\"-12", b"abcd\xf4\xff\xff\xff"),
            ("255", &[255]),
            ("256", &[0, 1]),
            ("0", &[0]),
        ] {
            assert_eq!(pattern(text, false).map(|pattern| pattern.bytes), Ok(bytes.to_vec()), "{text}");
        }
        let with_offset = pattern("0xff%o\"x\"", true).unwrap();
        assert_eq!((with_offset.offsets, with_offset.bytes.len()), (vec![1], 10));
        for text in ["abc", "0x", "\"a", "%o", "'/dev/zero'", "99999999999", "0xg"] {
            assert!(pattern(text, false).is_err(), "{text}");
        }
    }
}
