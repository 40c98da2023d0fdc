//! Values of several parts: one for each direction, ranges, splits in percent, names between colons.

use plimsoll_workload::units::ByteCount;

use super::value::Reading;
use crate::problem::Wrong;

/// Entries of a `bssplit` in one direction.
const BLOCK_SPLIT_MAX: usize = 64;
/// Zones of a distribution in one direction.
const ZONES_MAX: usize = 256;

/// One value each for reads, writes and trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directional<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T> Directional<T> {
    /// The same for all.
    pub fn all(value: T) -> Self
    where
        T: Clone,
    {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }

    /// Read, write, trim.
    pub fn each(&self) -> [&T; 3] {
        [&self.read, &self.write, &self.trim]
    }
}

impl<T> Directional<Option<T>> {
    /// Puts the values that are there over those of `target`.
    pub(super) fn put_over(self, target: &mut Directional<T>) {
        for (value, place) in
            [(self.read, &mut target.read), (self.write, &mut target.write), (self.trim, &mut target.trim)]
        {
            if let Some(value) = value {
                *place = value;
            }
        }
    }
}

/// From low to high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<T> {
    /// The lowest.
    pub low: T,
    /// The highest.
    pub high: T,
}

/// A part of a `bssplit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShare {
    /// The size of a block.
    pub size: ByteCount,
    /// How many of a hundred operations have it.
    pub percent: u8,
}

/// How large a zone of a distribution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneSize {
    /// A share of the file.
    Percent(u8),
    /// Bytes; none means the rest.
    Bytes(ByteCount),
}

/// A zone of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// How many of a hundred operations fall into it.
    pub access_percent: u8,
    /// Its size.
    pub size: ZoneSize,
}

/// Up to three values, for reads, writes and trims. A value without a comma after it holds for those that follow.
pub(super) fn directional<T: Copy>(
    text: &str,
    reading: &mut Reading,
    mut read: impl FnMut(&str, &mut Reading) -> Result<T, Wrong>,
) -> Result<Directional<Option<T>>, Wrong> {
    let separator = separator(text);
    if let Some(found @ (':' | '-')) = separator {
        if text.trim_end().ends_with(found) {
            let wrong = Wrong::new(format!("\"{text}\" ends with \"{found}\""));
            return Err(wrong.instead("write the second value, or a comma to leave it as it is"));
        }
        reading.remarks.push(format!(
            "\"{text}\" with \"{found}\" is one value for reads and one for writes, as with a comma; a range is another option"
        ));
    }
    split(text, separator.unwrap_or(','), |part| read(part, reading))
}

/// fio separates by the first of these that it finds, but for the sign of a number.
fn separator(text: &str) -> Option<char> {
    if text.trim_start().starts_with('(') {
        return None;
    }
    let unsigned = text.trim_start().strip_prefix('-').unwrap_or(text);
    [',', ':', '-'].into_iter().find(|separator| unsigned.contains(*separator))
}

fn split<'t, T: Copy>(
    text: &'t str,
    separator: char,
    mut read: impl FnMut(&'t str) -> Result<T, Wrong>,
) -> Result<Directional<Option<T>>, Wrong> {
    let parts: Vec<&str> = text.splitn(5, separator).collect();
    let ends_open = parts.len() > 1 && parts.last().is_some_and(|part| part.trim().is_empty());
    if parts.len() - usize::from(ends_open) > 3 {
        return Err(Wrong::new(format!("\"{text}\" has more than three parts"))
            .instead("write values for reads, writes and trims"));
    }
    let mut values = [None; 3];
    for (value, part) in values.iter_mut().zip(&parts) {
        if parts.len() == 1 || !part.trim().is_empty() {
            *value = Some(read(part)?);
        }
    }
    if !ends_open {
        for later in parts.len()..3 {
            values[later] = values[parts.len() - 1];
        }
    }
    if values.iter().all(Option::is_none) {
        return Err(Wrong::new(format!("\"{text}\" has no value")).instead("write at least one number"));
    }
    let [read, write, trim] = values;
    Ok(Directional { read, write, trim })
}

/// `4k-8k`, `4k:8k` or one value for both ends; swapped where the first is the larger.
pub(super) fn range<T: Copy + PartialOrd>(
    text: &str,
    must_have_two: bool,
    mut read: impl FnMut(&str) -> Result<T, Wrong>,
) -> Result<Range<T>, Wrong> {
    let two = text.split_once('-').or_else(|| text.split_once(':'));
    let (low, high) = match two {
        Some((low, high)) => (read(low)?, read(high)?),
        None if must_have_two => {
            return Err(Wrong::new(format!("\"{text}\" is not a range")).instead("write it as 4k-64k"));
        }
        None => {
            let value = read(text)?;
            (value, value)
        }
    };
    Ok(if low > high { Range { low: high, high: low } } else { Range { low, high } })
}

/// Ranges for reads, writes and trims.
pub(super) fn ranges(text: &str, reading: &mut Reading) -> Result<Directional<Option<Range<ByteCount>>>, Wrong> {
    split(text, ',', |part| range(part, true, |bound| reading.bytes(bound)))
}

/// A split text with the parts of each direction.
fn split_directions(text: &str) -> Result<Directional<Option<&str>>, Wrong> {
    split(text, ',', Ok)
}

/// The parts of `4k/10:64k/50:32k/`, each as it stands before and after its slash.
fn entries(text: &str, max: usize) -> Result<Vec<(&str, Option<&str>)>, Wrong> {
    let text = text.trim().trim_end_matches(':');
    let entries: Vec<_> = text
        .split(':')
        .take(max + 1)
        .map(|entry| entry.split_once('/').map_or((entry, None), |(value, share)| (value, Some(share))))
        .map(|(value, share)| (value, share.filter(|share| !share.trim().is_empty())))
        .collect();
    if entries.len() > max {
        return Err(Wrong::new(format!("\"{text}\" has more than {max} parts")));
    }
    Ok(entries)
}

fn percent(text: &str, reading: &mut Reading) -> Result<u8, Wrong> {
    let number = reading.number(text.trim().trim_end_matches('%'))?;
    u8::try_from(number).ok().filter(|percent| *percent <= 100).ok_or_else(|| {
        Wrong::new(format!("\"{}\" is not a percentage", text.trim())).instead("write a whole number from 0 to 100")
    })
}

/// Gives what is left of a hundred to those that have nothing, in equal parts.
fn fill_missing(shares: &[Option<u8>]) -> (Vec<u8>, u32) {
    let given: u32 = shares.iter().flatten().map(|share| u32::from(*share)).sum();
    let missing = shares.iter().filter(|share| share.is_none()).count() as u32;
    let each = 100_u32.saturating_sub(given).checked_div(missing).unwrap_or(0);
    (shares.iter().map(|share| share.unwrap_or(each as u8)).collect(), given)
}

/// A `bssplit`.
pub(super) fn block_split(text: &str, reading: &mut Reading) -> Result<Directional<Option<Vec<BlockShare>>>, Wrong> {
    let texts = split_directions(text)?;
    let mut one = |text: Option<&str>| text.map(|text| block_split_of_one(text, reading)).transpose();
    Ok(Directional { read: one(texts.read)?, write: one(texts.write)?, trim: one(texts.trim)? })
}

fn block_split_of_one(text: &str, reading: &mut Reading) -> Result<Vec<BlockShare>, Wrong> {
    let entries = entries(text, BLOCK_SPLIT_MAX)?;
    let mut sizes = Vec::with_capacity(entries.len());
    let mut shares = Vec::with_capacity(entries.len());
    for (size, share) in entries {
        if size.contains('-') {
            return Err(Wrong::new(format!("\"{size}\" is a range, of which fio takes the first size only"))
                .instead("write one size before each slash"));
        }
        sizes.push(at_least_one_byte(reading.bytes(size)?)?);
        // fio takes 0 for "not given".
        shares.push(share.map(|share| percent(share, reading)).transpose()?.filter(|share| *share > 0));
    }
    let (mut percents, given) = fill_missing(&shares);
    let all_given = shares.iter().all(Option::is_some);
    if all_given && given < 100 {
        let largest = (0..percents.len()).max_by_key(|index| percents[*index]).unwrap_or_default();
        percents[largest] += 100 - given as u8;
        reading.remarks.push(format!(
            "the percentages of \"{}\" add up to {given}; {} has the rest, as in fio",
            text.trim(),
            sizes[largest]
        ));
    } else if given > 100 {
        let what = format!("the percentages of \"{}\" add up to {given}", text.trim());
        return Err(Wrong::new(what).instead("write percentages that add up to 100, or leave some blank for the rest"));
    }
    Ok(sizes.into_iter().zip(percents).map(|(size, percent)| BlockShare { size, percent }).collect())
}

/// Refuses a block of nothing.
pub(super) fn at_least_one_byte(size: ByteCount) -> Result<ByteCount, Wrong> {
    if size.0 == 0 { Err(Wrong::new("a block of 0 bytes").instead("write at least 1")) } else { Ok(size) }
}

/// The zones of `zoned:` and, with sizes in bytes, of `zoned_abs:`.
pub(super) fn zones(
    text: &str,
    is_absolute: bool,
    reading: &mut Reading,
) -> Result<Directional<Option<Vec<Zone>>>, Wrong> {
    let texts = split_directions(text)?;
    let mut one = |text: Option<&str>| text.map(|text| zones_of_one(text, is_absolute, reading)).transpose();
    Ok(Directional { read: one(texts.read)?, write: one(texts.write)?, trim: one(texts.trim)? })
}

fn zones_of_one(text: &str, is_absolute: bool, reading: &mut Reading) -> Result<Vec<Zone>, Wrong> {
    let entries = entries(text, ZONES_MAX)?;
    let accesses = entries.iter().map(|(access, _)| percent(access, reading)).collect::<Result<Vec<u8>, Wrong>>()?;
    let total: u32 = accesses.iter().map(|access| u32::from(*access)).sum();
    if total != 100 {
        let what = format!("the accesses of \"{}\" add up to {total} percent", text.trim());
        return Err(Wrong::new(what).instead("write ACCESS/SIZE:ACCESS/SIZE with accesses that add up to 100"));
    }
    let sizes: Vec<ZoneSize> = if is_absolute {
        let bytes = |share: Option<&str>| share.map_or(Ok(ByteCount(0)), |share| reading.bytes(share));
        entries
            .iter()
            .map(|(_, share)| *share)
            .map(bytes)
            .map(|bytes| bytes.map(ZoneSize::Bytes))
            .collect::<Result<_, _>>()?
    } else {
        let shares = entries.iter().map(|(_, share)| share.map(|share| percent(share, reading)).transpose());
        // fio takes 0 for "not given" here as well.
        let shares = shares.map(|share| share.map(|share| share.filter(|share| *share > 0)));
        let shares: Vec<_> = shares.collect::<Result<_, _>>()?;
        let (percents, given) = fill_missing(&shares);
        if given > 100 {
            let what = format!("the sizes of \"{}\" add up to {given} percent", text.trim());
            return Err(Wrong::new(what).instead("write sizes that add up to at most 100"));
        }
        percents.into_iter().map(ZoneSize::Percent).collect()
    };
    Ok(accesses.into_iter().zip(sizes).map(|(access_percent, size)| Zone { access_percent, size }).collect())
}

/// Names between colons; `\:` is a colon of a name.
pub(super) fn names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut characters = text.trim().chars().peekable();
    while let Some(character) = characters.next() {
        let name = names.last_mut().expect("there is a name from the start");
        match character {
            '\\' if characters.peek() == Some(&':') => name.extend(characters.next()),
            // A colon at the start of a name is skipped, as fio does.
            ':' if name.is_empty() => {}
            ':' => names.push(String::new()),
            _ => name.push(character),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// A number and, after a colon, another.
pub(super) fn decimal_pair(text: &str, reading: &mut Reading) -> Result<(f64, Option<f64>), Wrong> {
    match text.split_once(':') {
        Some((first, second)) => Ok((reading.decimal(first)?, Some(reading.decimal(second)?))),
        None => Ok((reading.decimal(text)?, None)),
    }
}

/// Processors and ranges of them: `0,2-4`. fio also takes blanks and colons between them.
pub(super) fn processors(text: &str) -> Result<Vec<u32>, Wrong> {
    const PROCESSOR_MAX: u32 = 4095;
    let mut processors = Vec::new();
    for part in text.split([',', ' ', ':']).map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number <= PROCESSOR_MAX);
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return Err(Wrong::new(format!("\"{part}\" is not a processor")).instead("write numbers as in 0,2-4"));
        };
        if first > last {
            return Err(
                Wrong::new(format!("\"{part}\" ends before it begins")).instead(format!("write {last}-{first}"))
            );
        }
        processors.extend(first..=last);
    }
    processors.sort_unstable();
    processors.dedup();
    if processors.is_empty() {
        return Err(Wrong::new("no processor is named").instead("write numbers as in 0,2-4"));
    }
    Ok(processors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(text: &str) -> Option<[Option<u64>; 3]> {
        let values = directional(text, &mut Reading::default(), |part, reading| reading.number(part)).ok()?;
        Some([values.read, values.write, values.trim])
    }

    #[test]
    fn a_value_without_a_comma_after_it_holds_for_later_directions() {
        for (text, values) in [
            ("8k", [Some(8192), Some(8192), Some(8192)]),
            ("4k,8k", [Some(4096), Some(8192), Some(8192)]),
            ("8k,", [Some(8192), None, None]),
            ("8k,32k,", [Some(8192), Some(32_768), None]),
            (",8k", [None, Some(8192), Some(8192)]),
            ("4,,16", [Some(4), None, Some(16)]),
            ("4k:8k:16k", [Some(4096), Some(8192), Some(16_384)]),
            ("4k-8k", [Some(4096), Some(8192), Some(8192)]),
        ] {
            assert_eq!(three(text), Some(values), "{text}");
        }
        for text in ["", ",", ",,", "1,2,3,4", "1,x", "4k-", "4k:"] {
            assert_eq!(three(text), None, "{text}");
        }
    }

    #[test]
    fn ranges_are_put_in_order() {
        let one = |text| range(text, true, |bound| Reading::default().number(bound)).ok();
        assert_eq!(one("8k-4k"), Some(Range { low: 4096, high: 8192 }));
        assert_eq!(one("4k:8k"), Some(Range { low: 4096, high: 8192 }));
        assert_eq!(one("4k"), None);
    }

    #[test]
    fn block_splits_share_what_is_left() {
        let read = |text: &str| {
            let split = block_split(text, &mut Reading::default()).ok()?;
            Some(split.read?.iter().map(|share| (share.size.0, share.percent)).collect::<Vec<_>>())
        };
        assert_eq!(read("4k/10:64k/50:32k/40"), Some(vec![(4096, 10), (65_536, 50), (32_768, 40)]));
        assert_eq!(read("4k/10:64k/:32k"), Some(vec![(4096, 10), (65_536, 45), (32_768, 45)]));
        assert_eq!(read("4k"), Some(vec![(4096, 100)]));
        assert_eq!(read("4k/10:8k/10"), Some(vec![(4096, 10), (8192, 90)]));
        // Where nothing is left, they have nothing.
        for text in ["4k/100:8k/", "4k/100:8k/0", "4k/100:8k"] {
            assert_eq!(read(text), Some(vec![(4096, 100), (8192, 0)]), "{text}");
        }
        for text in ["4k/60:8k/60", "4k-8k/100", "4k/x", "0/100", "", &"4k/1:".repeat(100)] {
            assert_eq!(read(text), None, "{text}");
        }
        let split = block_split("4k/50:8k/50,64k/100", &mut Reading::default()).unwrap();
        assert_eq!(split.trim, split.write);
        assert_eq!(split.write.map(|shares| shares[0].size.0), Some(65_536));
    }

    #[test]
    fn zones_have_accesses_that_add_up() {
        let read = |text: &str, is_absolute| zones(text, is_absolute, &mut Reading::default()).ok()?.read;
        let zones = read("60/10:30/20:8/30:2/40", false).unwrap();
        assert_eq!(zones[3], Zone { access_percent: 2, size: ZoneSize::Percent(40) });
        let zones = read("60/10:40/0", false).unwrap();
        assert_eq!(zones[1].size, ZoneSize::Percent(90));
        let zones = read("60/20g:40/", true).unwrap();
        assert_eq!(zones[0].size, ZoneSize::Bytes(ByteCount(20 << 30)));
        for text in ["60/10", "60/10:50/20", "60/70:40/70", "", "x/1"] {
            assert!(read(text, false).is_none(), "{text}");
        }
    }

    #[test]
    fn colons_separate_names_unless_escaped() {
        assert_eq!(names("/dev/a:/dev/b"), ["/dev/a", "/dev/b"]);
        assert_eq!(names(r"/dev/disk/by-path/pci-0000\:00:b"), ["/dev/disk/by-path/pci-0000:00", "b"]);
        assert_eq!(names(":a::b:"), ["a", "b"]);
    }

    #[test]
    fn processors_are_lists_and_ranges() {
        assert_eq!(processors("0,2-4, 2"), Ok(vec![0, 2, 3, 4]));
        for text in ["", "x", "4-2", "99999", "0-99999"] {
            assert!(processors(text).is_err(), "{text}");
        }
    }
}
