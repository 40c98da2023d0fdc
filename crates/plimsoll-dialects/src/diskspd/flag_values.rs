//! The values behind the letters of flags: numbers, sizes, processors, ranges.

use super::profile::{Distribution, Processor, Range, RangeUnit};
use crate::problem::Wrong;

/// Ranges of a distribution.
const RANGES_MAX: usize = 1000;
/// Processors of an affinity.
const PROCESSORS_MAX: usize = 10_000;

/// A whole number. Diskspd takes what stands before the first other character, so that `-d1m` is a second to it; here
/// that is refused.
pub(super) fn number(text: &str, least: u32) -> Result<u32, Wrong> {
    let number = text.parse::<u32>().ok().filter(|number| *number >= least && !text.starts_with('+'));
    number.ok_or_else(|| {
        let wrong = Wrong::new(match text {
            "" => "there is no number".to_owned(),
            _ => format!("\"{text}\" is not a whole number"),
        });
        wrong.instead(if least == 0 { "write one".to_owned() } else { format!("write one from {least} on") })
    })
}

/// A percentage.
pub(super) fn percent(text: &str, least: u32) -> Result<u8, Wrong> {
    let percent = number(text, 0).ok().filter(|percent| (least..=100).contains(percent));
    percent.map(|percent| percent as u8).ok_or_else(|| {
        Wrong::new(format!("\"{text}\" is not a percentage")).instead(format!("write a number from {least} to 100"))
    })
}

/// A size: a number, and K, M, G, T or b behind it. `b` are blocks.
pub(super) fn size(text: &str, block_size: u32) -> Result<u64, Wrong> {
    let (size, rest) = leading_size(text, block_size)?;
    if rest.is_empty() { Ok(size) } else { Err(no_size(text)) }
}

/// A size and what stands behind it.
pub(super) fn leading_size(text: &str, block_size: u32) -> Result<(u64, &str), Wrong> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    if number.is_empty() {
        return Err(no_size(text));
    }
    let unit = rest.bytes().next().map(|letter| letter.to_ascii_uppercase());
    let (factor, letters) = match unit {
        Some(b'K') => (1 << 10, 1),
        Some(b'M') => (1 << 20, 1),
        Some(b'G') => (1 << 30, 1),
        Some(b'T') => (1 << 40, 1),
        Some(b'B') => (u64::from(block_size), 1),
        _ => (1, 0),
    };
    let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    let size = size.ok_or_else(|| Wrong::new(format!("\"{text}\" is more than 16 EiB")).instead("write less"))?;
    Ok((size, &rest[letters..]))
}

fn no_size(text: &str) -> Wrong {
    let what = if text.is_empty() { "there is no size".to_owned() } else { format!("\"{text}\" is not a size") };
    Wrong::new(what).instead("write a whole number, with K, M, G, T or b (blocks) behind it or nothing, as in 64K")
}

/// Processors, as in `0,1,2` or `g0,0,1,g1,0,1`.
pub(super) fn affinity(text: &str) -> Result<Vec<Processor>, Wrong> {
    let wrong = || {
        let wrong = Wrong::new(format!("\"{text}\" is not a list of processors"));
        wrong.instead("write numbers with commas between them, as in -a0,1 or -ag0,0,1")
    };
    let mut processors = Vec::new();
    let mut group = 0;
    let mut ends_with_processor = false;
    for part in text.split(',') {
        ends_with_processor = !part.starts_with('g');
        let is_numeric = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let digits = part.strip_prefix('g').unwrap_or(part);
        if !is_numeric(digits) || processors.len() >= PROCESSORS_MAX {
            return Err(wrong());
        }
        if ends_with_processor {
            processors.push(Processor { group, number: digits.parse().map_err(|_| wrong())? });
        } else {
            group = digits.parse().map_err(|_| wrong())?;
        }
    }
    if ends_with_processor { Ok(processors) } else { Err(wrong()) }
}

/// A distribution, as in `pct90/10:5/5` or `abs90/10G:0/10G`.
pub(super) fn distribution(text: &str, block_size: u32) -> Result<Distribution, Wrong> {
    let wrong = |what: String| {
        Wrong::new(what).instead("write -rdpct and pairs of percentages, as in -rdpct90/10:5/5, or -rdabs and sizes")
    };
    let (unit, list) = match (text.strip_prefix("pct"), text.strip_prefix("abs")) {
        (Some(list), _) => (RangeUnit::Percent, list),
        (_, Some(list)) => (RangeUnit::Bytes, list),
        _ => return Err(wrong(format!("\"{text}\" is not a distribution"))),
    };
    let mut ranges = Vec::new();
    for pair in list.split(':') {
        let (operations, size_text) =
            pair.split_once('/').ok_or_else(|| wrong(format!("\"{pair}\" has no / between two numbers")))?;
        let io_percent = u32::from(percent(operations, 0)?);
        let size = match unit {
            RangeUnit::Percent => u64::from(percent(size_text, 1)?),
            RangeUnit::Bytes => size(size_text, block_size)?,
        };
        if size == 0 {
            return Err(wrong(format!("\"{pair}\" has a range without length")));
        }
        if ranges.len() >= RANGES_MAX {
            return Err(wrong(format!("there are more than {RANGES_MAX} ranges")));
        }
        ranges.push(Range { io_percent, size });
    }
    Ok(Distribution::of(unit, ranges))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_and_in_powers_of_1024() {
        let cases = [("4096", 4096), ("4K", 4096), ("4k", 4096), ("2m", 2 << 20), ("1G", 1 << 30), ("1t", 1 << 40)];
        for (text, bytes) in cases.into_iter().chain([("8b", 8 << 12), ("3B", 3 << 12), ("0", 0)]) {
            assert_eq!(size(text, 4096), Ok(bytes), "{text}");
        }
        for text in ["", "K", "1.5G", "4KB", "4KiB", "-1", "99999999999999999999", "99999999T"] {
            assert!(size(text, 4096).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_have_nothing_behind_them() {
        assert_eq!(number("30", 1), Ok(30));
        for text in ["", "1m", "0", "-1", "+1", "1.5", "4294967296"] {
            assert!(number(text, 1).is_err(), "{text}");
        }
    }

    #[test]
    fn processors_have_groups() {
        let named = |list: &[(u16, u8)]| -> Vec<Processor> {
            list.iter().map(|&(group, number)| Processor { group, number }).collect()
        };
        assert_eq!(affinity("0,1,2").unwrap(), named(&[(0, 0), (0, 1), (0, 2)]));
        assert_eq!(affinity("g0,0,1,g1,0").unwrap(), named(&[(0, 0), (0, 1), (1, 0)]));
        for text in ["", "g", "g0", "0,", ",1", "a", "0,g1", "256", "0 1", "gg1,0"] {
            assert!(affinity(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_leave_the_rest_to_the_rest() {
        let ranges = |text| {
            let ranges = distribution(text, 4096).unwrap().ranges.into_iter();
            ranges.map(|range| (range.io_percent, range.size)).collect::<Vec<_>>()
        };
        assert_eq!(ranges("pct90/10:0/10:5/20"), [(90, 10), (0, 10), (5, 20), (5, 60)]);
        assert_eq!(ranges("abs90/10G:10/1b"), [(90, 10 << 30), (10, 4096)]);
        assert_eq!(ranges("abs90/10G"), [(90, 10 << 30), (10, 0)]);
        for text in ["", "pct", "pct90", "pct90/0", "abs1/0", "pct101/1", "abs5/5:", "xyz1/2", "pct1/101"] {
            assert!(distribution(text, 4096).is_err(), "{text}");
        }
    }
}
