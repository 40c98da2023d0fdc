//! Numbers as fio writes them: sizes, times, percentages, decimals; with refusals where fio would read something else.

use plimsoll_workload::units::{ByteCount, Span};

use super::expression::{Quantity, evaluate};
use crate::problem::Wrong;

/// What `k` means. At 1024, fio's default, `KiB` means 1000: it swaps the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KilobyteBase {
    /// `k` is 1024 and `KiB` is 1000.
    #[default]
    K1024,
    /// `k` is 1000 and `KiB` is 1024.
    K1000,
}

impl KilobyteBase {
    /// The number that `k` multiplies with.
    pub const fn get(self) -> u64 {
        match self {
            Self::K1024 => 1024,
            Self::K1000 => 1000,
        }
    }

    /// The number that `KiB` multiplies with.
    const fn other(self) -> u64 {
        match self {
            Self::K1024 => 1000,
            Self::K1000 => 1024,
        }
    }
}

/// The unit of a time that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// As for `runtime`.
    Seconds,
    /// As for `thinktime`.
    Microseconds,
}

/// A size that may be relative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Bytes, or a bare number.
    Number(u64),
    /// A share of the file or device.
    Percent(u64),
    /// Zones of a zoned block device.
    Zones(u64),
}

/// Reads values, and remarks on those whose meaning may surprise.
#[derive(Debug, Default)]
pub struct Reading {
    /// What `k` means.
    pub kilobyte_base: KilobyteBase,
    /// Sentences about values that were read.
    pub remarks: Vec<String>,
}

const UNITS: &str = "kmgtp";

impl Reading {
    /// A size, a percentage or a number of zones.
    pub fn amount(&mut self, text: &str) -> Result<Amount, Wrong> {
        let text = self.trimmed(text);
        if text.starts_with('(') {
            let value = evaluate(text, Quantity::Bytes)?.value;
            return whole(value, text).map(Amount::Number);
        }
        let number = Number::of(text)?;
        if number.is_negative {
            return Err(Wrong::new(format!("\"{text}\" is negative")).instead("write a number from 0"));
        }
        let suffix = number.suffix.to_ascii_lowercase();
        match suffix.as_str() {
            "%" => {
                return number
                    .whole(1, text)
                    .map(Amount::Percent)
                    .map_err(|wrong| wrong.instead("write whole percent"));
            }
            "z" => return number.whole(1, text).map(Amount::Zones),
            _ => {}
        }
        let scale = self.scale(&suffix, text)?;
        number.whole(scale, text).map(Amount::Number).map_err(|wrong| {
            match number.exact(u128::from(scale)).and_then(|bytes| self.spelled(bytes)) {
                Some(spelling) => wrong.instead(format!("write {spelling}")),
                None => wrong.instead("write a whole number with a unit, as in 1536m"),
            }
        })
    }

    /// A size in bytes, or a number that may have a unit such as `k`.
    pub fn number(&mut self, text: &str) -> Result<u64, Wrong> {
        match self.amount(text)? {
            Amount::Number(number) => Ok(number),
            Amount::Percent(_) => Err(Wrong::new(format!("\"{text}\" is a percentage, which is not possible here"))),
            Amount::Zones(_) => Err(Wrong::new(format!("\"{text}\" is in zones, which is not possible here"))),
        }
    }

    /// A size in bytes.
    pub fn bytes(&mut self, text: &str) -> Result<ByteCount, Wrong> {
        self.number(text).map(ByteCount)
    }

    /// A whole number that may be negative.
    pub fn integer(&mut self, text: &str) -> Result<i64, Wrong> {
        let too_large = || Wrong::new(format!("\"{text}\" is too large"));
        match text.trim().strip_prefix('-') {
            Some(digits) if digits.starts_with(|c: char| c.is_ascii_digit()) => self
                .number(digits)
                .and_then(|number| i64::try_from(number).map_err(|_| too_large()))
                .map(|number| -number),
            _ => self.number(text).and_then(|number| i64::try_from(number).map_err(|_| too_large())),
        }
    }

    /// A length of time.
    pub fn time(&mut self, text: &str, unit: TimeUnit) -> Result<Span, Wrong> {
        let text = self.trimmed(text);
        let default_us = match unit {
            TimeUnit::Seconds => 1_000_000,
            TimeUnit::Microseconds => 1,
        };
        let too_long = || Wrong::new(format!("\"{text}\" is too long a time"));
        if text.starts_with('(') {
            let evaluated = evaluate(text, Quantity::Time)?;
            let scale = if evaluated.has_unit { 1 } else { default_us };
            let us = whole(evaluated.value * scale as f64, text)?;
            return us.checked_mul(1000).map(|ns| Span { ns }).ok_or_else(too_long);
        }
        let number = Number::of(text)?;
        if number.is_negative {
            return Err(Wrong::new(format!("\"{text}\" is negative")).instead("write a time from 0"));
        }
        let suffix = number.suffix.to_ascii_lowercase();
        if let Some(us) = spelled_out(&number, &suffix, text) {
            let what = format!("fio reads \"{text}\" as microseconds, because it does not know \"{}\"", number.suffix);
            return Err(Wrong::new(what).instead(format!("write {}", time_text(us))));
        }
        let Some(scale_us) = time_scale(&suffix, default_us) else {
            return Err(Wrong::new(format!("\"{}\" in \"{text}\" is not a unit of time", number.suffix))
                .instead("write d, h, m, s, ms or us after the number"));
        };
        let us = number.whole(scale_us, text).map_err(|wrong| match number.exact(u128::from(scale_us)) {
            Some(us) => wrong.instead(format!("write {}", time_text(us))),
            None => wrong.instead("write a whole number with a smaller unit"),
        })?;
        us.checked_mul(1000).map(|ns| Span { ns }).ok_or_else(too_long)
    }

    /// A number that may have a fraction.
    pub fn decimal(&mut self, text: &str) -> Result<f64, Wrong> {
        let text = text.trim();
        if text.starts_with('(') {
            return Ok(evaluate(text, Quantity::Bytes)?.value);
        }
        let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        let number = text.parse::<f64>().ok().filter(|number| is_number && number.is_finite());
        number.ok_or_else(|| Wrong::new(format!("\"{text}\" is not a number")).instead("write a number such as 99.9"))
    }

    /// A value without the blanks around it. fio takes them for the end of the number, units included.
    fn trimmed<'t>(&mut self, text: &'t str) -> &'t str {
        let trimmed = text.trim();
        let has_unit = trimmed.ends_with(|c: char| !c.is_ascii_digit());
        if text.starts_with([' ', '\t']) && has_unit {
            self.remarks.push(format!(
                "\"{trimmed}\" stands after a blank, so fio ignores its unit; it is taken with its unit here"
            ));
        }
        trimmed
    }

    /// What a unit of size multiplies with.
    fn scale(&mut self, suffix: &str, text: &str) -> Result<u64, Wrong> {
        let letter = suffix.chars().next();
        let Some(power) = letter.and_then(|letter| UNITS.find(letter)) else {
            return match suffix {
                "" | "b" => Ok(1),
                _ => Err(not_a_size_unit(suffix, text)),
            };
        };
        let power = power as u32 + 1;
        match (&suffix[1..], self.kilobyte_base) {
            ("" | "b", base) => Ok(base.get().pow(power)),
            ("i", KilobyteBase::K1024) => Ok(1024_u64.pow(power)),
            ("i", KilobyteBase::K1000) => {
                Err(Wrong::new(format!("fio reads \"{text}\" as a power of 1000 at kb_base=1000"))
                    .instead(format!("write {text}B for the power of 1024")))
            }
            ("ib", base) => {
                let scale = base.other().pow(power);
                if base == KilobyteBase::K1024 {
                    let unit = letter.map(|letter| letter.to_ascii_uppercase()).unwrap_or_default();
                    self.remarks.push(format!(
                        "{unit}iB in \"{text}\" is 1000^{power} = {scale} bytes, because kb_base=1024 swaps the units; \
                         {unit} or {unit}i is 1024^{power}"
                    ));
                }
                Ok(scale)
            }
            _ => Err(not_a_size_unit(suffix, text)),
        }
    }

    /// Bytes with the largest unit that leaves a whole number.
    fn spelled(&self, bytes: u128) -> Option<String> {
        let base = u128::from(self.kilobyte_base.get());
        let units = (1..).zip(UNITS.chars()).collect::<Vec<_>>().into_iter().rev();
        let mut fitting =
            units.filter(|(power, _)| bytes >= base.pow(*power) && bytes.is_multiple_of(base.pow(*power)));
        let spelling = match fitting.next() {
            Some((power, unit)) => format!("{}{unit}", bytes / base.pow(power)),
            None => bytes.to_string(),
        };
        (bytes > 0 && bytes <= u128::from(u64::MAX)).then_some(spelling)
    }
}

fn not_a_size_unit(suffix: &str, text: &str) -> Wrong {
    let wrong = Wrong::new(format!("\"{suffix}\" in \"{text}\" is not a unit of size"));
    wrong.instead("write k, m, g, t or p directly after the number, or nothing")
}

fn time_scale(suffix: &str, default_us: u64) -> Option<u64> {
    Some(match suffix {
        "" => default_us,
        "us" | "usec" => 1,
        "ms" | "msec" => 1_000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return None,
    })
}

/// The microseconds that somebody meant who wrote `2sec`, `1min` or `1m30s`.
fn spelled_out(number: &Number<'_>, suffix: &str, text: &str) -> Option<u128> {
    let scale = match suffix.trim_start() {
        "sec" | "secs" | "second" | "seconds" => 1_000_000,
        "min" | "mins" | "minute" | "minutes" => 60_000_000,
        "hr" | "hrs" | "hour" | "hours" => 3_600_000_000,
        "day" | "days" => 86_400_000_000,
        "ns" | "nsec" => return number.exact(1).map(|ns| ns.div_ceil(1000)),
        // A blank before the unit: fio does not see the unit.
        unit if suffix.starts_with([' ', '\t']) => time_scale(unit, 1)?,
        _ => {
            let compound: Option<Span> = text.to_ascii_lowercase().parse().ok();
            let is_compound = suffix.contains(|c: char| c.is_ascii_digit());
            return compound.filter(|_| is_compound).map(|span| u128::from(span.ns / 1000));
        }
    };
    number.exact(u128::from(scale))
}

/// Microseconds with the largest unit that leaves a whole number.
fn time_text(us: u128) -> String {
    let units =
        [("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1000), ("us", 1)];
    let fitting = units.into_iter().find(|(_, scale)| us >= *scale && us.is_multiple_of(*scale));
    fitting.map_or_else(|| "0".into(), |(unit, scale)| format!("{}{unit}", us / scale))
}

fn whole(value: f64, text: &str) -> Result<u64, Wrong> {
    let value = value.trunc();
    if (0.0..18_446_744_073_709_551_616.0).contains(&value) {
        Ok(value as u64)
    } else {
        Err(Wrong::new(format!("\"{text}\" is {value}, which is not possible here")))
    }
}

/// The parts of a number.
struct Number<'a> {
    is_negative: bool,
    whole: u64,
    /// Digits after the point, which fio ignores together with the unit.
    fraction: Option<&'a str>,
    suffix: &'a str,
}

impl<'a> Number<'a> {
    fn of(text: &'a str) -> Result<Self, Wrong> {
        let wrong = |why: &str| Wrong::new(format!("\"{text}\" {why}"));
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_negative = text.starts_with('-');
        if let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
            let whole = digits.chars().all(|c| c.is_ascii_hexdigit()).then(|| u64::from_str_radix(digits, 16).ok());
            let wrong = || {
                wrong("is not a hexadecimal number below 2^64")
                    .instead("write 0x and hexadecimal digits, without a unit")
            };
            let whole = whole.flatten().ok_or_else(wrong)?;
            return Ok(Self { is_negative, whole, fraction: None, suffix: "" });
        }
        let end = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
        let (digits, rest) = unsigned.split_at(end);
        let after_point = rest.strip_prefix('.');
        if digits.is_empty() && !after_point.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            return Err(if text.is_empty() {
                Wrong::new("the value is empty").instead("write a number after the =")
            } else {
                wrong("is not a number").instead("begin with a digit")
            });
        }
        let whole =
            if digits.is_empty() { 0 } else { digits.parse().map_err(|_| wrong("is not a number below 2^64"))? };
        let (fraction, suffix) = match after_point {
            Some(rest) => {
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                (Some(&rest[..end]), &rest[end..])
            }
            None => (None, rest),
        };
        Ok(Self { is_negative, whole, fraction, suffix })
    }

    /// The number times a scale; fractions are refused, because fio ignores them and the unit with them.
    fn whole(&self, scale: u64, text: &str) -> Result<u64, Wrong> {
        if self.fraction.is_some() {
            return Err(Wrong::new(format!("fio stops reading \"{text}\" at the point and ignores the unit")));
        }
        self.whole.checked_mul(scale).ok_or_else(|| Wrong::new(format!("\"{text}\" is not below 2^64")))
    }

    /// The number with its fraction times a scale, where that is whole.
    fn exact(&self, scale: u128) -> Option<u128> {
        let whole = u128::from(self.whole).checked_mul(scale)?;
        let fraction = self.fraction.unwrap_or_default();
        if fraction.is_empty() {
            return Some(whole);
        }
        let denominator = 10_u128.checked_pow(u32::try_from(fraction.len()).ok().filter(|length| *length <= 12)?)?;
        let part = fraction.parse::<u128>().ok()?.checked_mul(scale)?;
        part.is_multiple_of(denominator).then(|| whole.checked_add(part / denominator)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(text: &str) -> Result<u64, String> {
        Reading::default()
            .number(text)
            .map_err(|wrong| format!("{} / {}", wrong.what, wrong.instead.unwrap_or_default()))
    }

    fn us(text: &str) -> Result<u64, String> {
        let span = Reading::default().time(text, TimeUnit::Seconds);
        span.map(|span| span.ns / 1000).map_err(|wrong| wrong.instead.unwrap_or_default())
    }

    #[test]
    fn sizes_are_what_fio_reads() {
        for (text, value) in [
            ("4096", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4kB", 4096),
            ("12Kb", 12_288),
            ("4096b", 4096),
            ("1Gi", 1 << 30),
            ("1GiB", 1_000_000_000),
            ("4kIb", 4000),
            ("0x10", 16),
            ("010", 10),
            ("+4k", 4096),
            (" 8k", 8192),
            ("1pb", 1 << 50),
            ("(4*1024)", 4096),
        ] {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
        let mut reading = Reading { kilobyte_base: KilobyteBase::K1000, ..Reading::default() };
        assert_eq!((reading.number("4k"), reading.number("4KiB")), (Ok(4000), Ok(4096)));
        assert!(reading.number("1Gi").is_err() && reading.remarks.is_empty());
    }

    #[test]
    fn what_fio_misreads_is_refused_with_the_right_spelling() {
        for (text, instead) in [("1.5g", "write 1536m"), ("0.5k", "write 512"), ("1.0m", "write 1m")] {
            assert!(bytes(text).unwrap_err().ends_with(instead), "{text}: {:?}", bytes(text));
        }
        for text in ["", "abc", "4x", "4kq", "4 k", "1.2.3g", "-1", "0x1k", "4e3", "99999999p", "10%", "3z", "4k/8"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn surprising_units_are_remarked_on() {
        for (text, word) in [("1GiB", "1000000000"), ("\t4k", "blank")] {
            let mut reading = Reading::default();
            reading.number(text).unwrap();
            assert!(reading.remarks.iter().any(|remark| remark.contains(word)), "{text}: {:?}", reading.remarks);
        }
    }

    #[test]
    fn times_are_what_fio_reads() {
        for (text, value) in [
            ("30", 30_000_000),
            ("30s", 30_000_000),
            ("1S", 1_000_000),
            ("2m", 120_000_000),
            ("1H", 3_600_000_000),
            ("1d", 86_400_000_000),
            ("100ms", 100_000),
            ("100msec", 100_000),
            ("7us", 7),
            ("7usec", 7),
            ("(1s+500ms)", 1_500_000),
            ("(1+1)", 2_000_000),
        ] {
            assert_eq!(us(text), Ok(value), "{text}");
        }
        assert_eq!(Reading::default().time("50", TimeUnit::Microseconds), Ok(Span { ns: 50_000 }));
    }

    #[test]
    fn times_that_fio_would_read_as_microseconds_are_refused_with_the_right_spelling() {
        for (text, instead) in [
            ("2sec", "write 2s"),
            ("1min", "write 1m"),
            ("90 s", "write 90s"),
            ("100 ms", "write 100ms"),
            ("0.5", "write 500ms"),
            ("1.5m", "write 90s"),
            ("1m30s", "write 90s"),
            ("2hours", "write 2h"),
        ] {
            assert_eq!(us(text), Err(instead.into()), "{text}");
        }
        for text in ["", "s", "-1", "10x", "99999999999999d"] {
            assert!(us(text).is_err(), "{text}");
        }
    }

    #[test]
    fn decimals_are_finite_numbers() {
        let mut reading = Reading::default();
        assert_eq!(reading.decimal("99.9"), Ok(99.9));
        for text in ["", "nan", "inf", "1,5", "x", "1e999"] {
            assert!(reading.decimal(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_size_reads_back_the_same(bytes in 1_u64.., is_binary: bool) {
            let kilobyte_base = if is_binary { KilobyteBase::K1024 } else { KilobyteBase::K1000 };
            let mut reading = Reading { kilobyte_base, ..Reading::default() };
            let text = reading.spelled(u128::from(bytes)).unwrap();
            prop_assert_eq!(reading.number(&text), Ok(bytes));
        }

        #[test]
        fn a_written_time_reads_back_the_same(us in 1_u64..1 << 53) {
            let text = time_text(u128::from(us));
            prop_assert_eq!(Reading::default().time(&text, TimeUnit::Microseconds), Ok(Span { ns: us * 1000 }));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,12}") {
            let mut reading = Reading::default();
            let _ = (reading.amount(&text), reading.integer(&text), reading.decimal(&text));
            let _ = reading.time(&text, TimeUnit::Seconds);
        }
    }
}
