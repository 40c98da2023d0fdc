//! Sizes, times, rates and percentages as types, with the one grammar that plimsoll's own flags and plans use.
//!
//! `k`, `M`, `G`, `T` and `KiB`, `MiB`, ... are powers of 1024; `kB`, `KB`, `MB`, ... are powers of 1000, as in
//! coreutils. Foreign dialects have grammars of their own and construct these types directly.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// Why a piece of text is not the value it should be. The message says what to write instead.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct ValueError(pub String);

impl ValueError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteCount(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Nanoseconds.
    pub ns: u64,
}

/// A whole percentage from 0 to 100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(u8);

/// A size given in bytes or as a share of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Exactly this many bytes.
    Bytes(ByteCount),
    /// This share of the target.
    Percent(Percent),
}

/// An asked rate: operations or bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Operations per second.
    Operations(f64),
    /// Bytes per second.
    Bytes(u64),
}

/// Bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bandwidth(pub u64);

const KIB: u64 = 1024;

const BINARY_UNITS: [(&str, u64); 4] =
    [("TiB", KIB * KIB * KIB * KIB), ("GiB", KIB * KIB * KIB), ("MiB", KIB * KIB), ("KiB", KIB)];

fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// Multiplies a decimal number such as `1.5` by a scale, exactly; `None` when it is not a number, not whole, or too
/// large.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.len() > 12 {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut total = whole.checked_mul(u128::from(scale))?;
    if !fraction.is_empty() {
        let denominator = 10_u128.pow(fraction.len() as u32);
        let part = fraction.parse::<u128>().ok()?.checked_mul(u128::from(scale))?;
        if !part.is_multiple_of(denominator) {
            return None;
        }
        total = total.checked_add(part / denominator)?;
    }
    u64::try_from(total).ok()
}

impl ByteCount {
    /// The value as `usize`; buffers and file mappings never exceed it on 64-bit Linux.
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }
}

impl FromStr for ByteCount {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let (number, unit) = split_unit(text.trim());
        let scale = match unit {
            "" | "b" | "B" => 1,
            "k" | "K" | "Ki" | "KiB" | "kiB" => KIB,
            "m" | "M" | "Mi" | "MiB" => KIB.pow(2),
            "g" | "G" | "Gi" | "GiB" => KIB.pow(3),
            "t" | "T" | "Ti" | "TiB" => KIB.pow(4),
            "kB" | "KB" => 1000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            _ => {
                return Err(ValueError::new(format!(
                    "\"{text}\" is not a size: write bytes as 4096, 4k or 4KiB (1024) or 4KB (1000); units are k, M, G, T"
                )));
            }
        };
        match scaled(number, scale) {
            Some(bytes) => Ok(Self(bytes)),
            None if number.is_empty() => {
                Err(ValueError::new(format!("\"{text}\" is not a size: write it as 4k or 1GiB")))
            }
            None => Err(ValueError::new(format!("\"{text}\" is not a whole number of bytes below 16 EiB"))),
        }
    }
}

impl fmt::Display for ByteCount {
    /// The shortest exact form: `4KiB`, `1536KiB`, `800000000B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, scale) in BINARY_UNITS {
            if self.0 >= scale && self.0.is_multiple_of(scale) {
                return write!(f, "{}{unit}", self.0 / scale);
            }
        }
        write!(f, "{}B", self.0)
    }
}

/// Sizes of one sentence, all in the same unit so that they can be compared at a glance: exact where the numbers stay
/// short, else with two decimals of the largest unit, or of their own where one would be nothing in that.
pub fn in_one_unit<const N: usize>(sizes: [u64; N]) -> [String; N] {
    const SHORT_BELOW: u64 = 100_000;
    let bytes = ("B", 1);
    let largest = sizes.iter().max().copied().unwrap_or(0);
    let units = BINARY_UNITS.into_iter().chain([bytes]).filter(|(_, scale)| largest >= *scale);
    let exact_unit = units.clone().find(|(_, scale)| sizes.iter().all(|size| size.is_multiple_of(*scale)));
    let (unit, scale) = exact_unit.unwrap_or(bytes);
    let exact = sizes.map(|size| format!("{}{unit}", size / scale));
    if largest / scale < SHORT_BELOW {
        return exact;
    }
    let smallest = sizes.iter().filter(|size| **size > 0).min().copied().unwrap_or(0);
    let in_unit = |(unit, scale): (&str, u64), size: u64| format!("{:.2}{unit}", size as f64 / scale as f64);
    let unit = units.clone().next().unwrap_or(bytes);
    // What would be nothing in the unit of the largest has one of its own.
    let own = |size: u64| units.clone().find(|(_, scale)| size >= *scale).unwrap_or(bytes);
    let has_own = smallest < unit.1 / 100;
    let rounded = sizes.map(|size| in_unit(if has_own { own(size) } else { unit }, size));
    let tells_apart = |texts: &[String; N]| (1..N).all(|at| (sizes[0] == sizes[at]) == (texts[0] == texts[at]));
    if tells_apart(&rounded) { rounded } else { exact }
}

impl Span {
    /// So many whole seconds.
    pub const fn from_seconds(seconds: u64) -> Self {
        Self { ns: seconds * 1_000_000_000 }
    }

    /// So many whole milliseconds.
    pub const fn from_milliseconds(milliseconds: u64) -> Self {
        Self { ns: milliseconds * 1_000_000 }
    }
}

const TIME_UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Nanoseconds that no span has.
const SPAN_MAX: f64 = u64::MAX as f64;

impl FromStr for Span {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let wrong =
            |why: &str| ValueError::new(format!("\"{text}\" is not a duration: {why}, as in 500ms, 10s, 5m or 1h30m"));
        let mut rest = text.trim();
        if rest == "0" {
            return Ok(Self::default());
        }
        if rest.is_empty() {
            return Err(wrong("write a number and a unit"));
        }
        if rest.starts_with('-') {
            return Err(wrong("begin with a digit"));
        }
        let mut total = 0_u64;
        while !rest.is_empty() {
            let (number, tail) = split_unit(rest);
            let end = tail.find(|c: char| !c.is_ascii_alphabetic() && c != 'µ').unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(end);
            let scale = match unit {
                "" => return Err(wrong("the unit is missing")),
                "sec" | "second" | "seconds" => 1_000_000_000,
                "min" | "minute" | "minutes" => 60_000_000_000,
                "µs" => 1_000,
                _ => {
                    TIME_UNITS
                        .iter()
                        .find(|(name, _)| *name == unit)
                        .ok_or_else(|| wrong("units are d, h, m, s, ms, us, ns"))?
                        .1
                }
            };
            let too_long = || ValueError::new(format!("\"{text}\" is too long: a duration is at most 213503d"));
            let is_too_long =
                number.replace('_', "").parse().is_ok_and(|number: f64| number * scale as f64 >= SPAN_MAX);
            let ns = match scaled(number, scale) {
                None if is_too_long => return Err(too_long()),
                ns => ns.ok_or_else(|| wrong("write a number and a unit"))?,
            };
            total = total.checked_add(ns).ok_or_else(too_long)?;
            rest = tail.trim_start();
        }
        Ok(Self { ns: total })
    }
}

impl fmt::Display for Span {
    /// The shortest exact form with one unit: `10s`, `1500ms`, `90m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ns == 0 {
            return f.write_str("0s");
        }
        for (unit, scale) in TIME_UNITS.into_iter().skip(1) {
            if self.ns.is_multiple_of(scale) && (self.ns >= scale) {
                return write!(f, "{}{unit}", self.ns / scale);
            }
        }
        write!(f, "{}ns", self.ns)
    }
}

impl Percent {
    /// A percentage; `None` above 100.
    pub const fn new(value: u8) -> Option<Self> {
        if value <= 100 { Some(Self(value)) } else { None }
    }

    /// The number itself, 0 to 100.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// This share of a number, rounded down.
    pub const fn of(self, total: u64) -> u64 {
        (total as u128 * self.0 as u128 / 100) as u64
    }
}

impl FromStr for Percent {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let digits = text.trim().trim_end_matches('%');
        digits.parse::<u8>().ok().and_then(Self::new).ok_or_else(|| {
            ValueError::new(format!("\"{text}\" is not a percentage: write a whole number from 0 to 100"))
        })
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl Extent {
    /// The bytes this means on a target of `total` bytes.
    pub const fn of(self, total: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.0,
            Self::Percent(percent) => percent.of(total),
        }
    }
}

impl FromStr for Extent {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        if text.trim_end().ends_with('%') { text.parse().map(Self::Percent) } else { text.parse().map(Self::Bytes) }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Percent(percent) => percent.fmt(f),
        }
    }
}

impl FromStr for Rate {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let body = text.trim().trim_end_matches("/s");
        let (number, unit) = split_unit(body);
        let bad = || {
            ValueError::new(format!(
                "\"{text}\" is not a rate: write operations per second as 5000 or 5k, or bytes per second as 100MiB or 200MB"
            ))
        };
        let operations = match unit {
            "" | "iops" | "IOPS" => Some(1),
            "k" | "K" | "kiops" => Some(1000),
            "m" | "M" => Some(1_000_000),
            _ => None,
        };
        let rate = if let Some(scale) = operations {
            let number: f64 = number.replace('_', "").parse().map_err(|_| bad())?;
            Self::Operations(number * f64::from(scale))
        } else if unit.ends_with('B') {
            Self::Bytes(body.parse::<ByteCount>().map_err(|_| bad())?.0)
        } else {
            return Err(bad());
        };
        match rate {
            Self::Operations(rate) if rate > 0.0 && rate.is_finite() => Ok(Self::Operations(rate)),
            Self::Bytes(rate) if rate > 0 => Ok(Self::Bytes(rate)),
            _ => Err(ValueError::new(format!("\"{text}\" is not a rate: it must be above zero"))),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operations(rate) => write!(f, "{rate}/s"),
            Self::Bytes(rate) => write!(f, "{}/s", ByteCount(*rate)),
        }
    }
}

impl FromStr for Bandwidth {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        match text.parse() {
            Ok(Rate::Bytes(bytes)) => Ok(Self(bytes)),
            Ok(Rate::Operations(_)) | Err(_) => Err(ValueError::new(format!(
                "\"{text}\" is not a bandwidth: write bytes per second with their unit, as 200MB or 200MiB"
            ))),
        }
    }
}

impl fmt::Display for Bandwidth {
    /// Exact, in the units in which it is shorter: bandwidth is mostly sold in decimal ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shortest(self.0))
    }
}

/// An exact size in the units in which it is shorter.
pub(crate) fn shortest(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] =
        [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    let binary = ByteCount(bytes).to_string();
    let decimal = UNITS.iter().find(|(_, unit)| bytes.is_multiple_of(*unit));
    let decimal = decimal.map(|(name, unit)| format!("{}{name}", bytes / unit));
    decimal.filter(|decimal| decimal.len() < binary.len()).unwrap_or(binary)
}

/// Serializes a type through its text form, and reads it from text or (where it makes sense) from a bare number.
macro_rules! serde_as_text {
    ($($name:ty, $expecting:literal;)*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(crate::units::TextVisitor::<$name>::new($expecting))
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": ["string", "integer"], "description": $expecting })
            }
        }
    )*};
}
pub(crate) use serde_as_text;

/// Reads any `FromStr` type from a string, or from the text of a number.
pub(crate) struct TextVisitor<T> {
    expecting: &'static str,
    marker: std::marker::PhantomData<T>,
}

impl<T> TextVisitor<T> {
    pub(crate) const fn new(expecting: &'static str) -> Self {
        Self { expecting, marker: std::marker::PhantomData }
    }
}

impl<T: FromStr<Err = ValueError>> de::Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

serde_as_text! {
    ByteCount, "a size in bytes, as 4096, \"4k\", \"4KiB\" (1024) or \"4KB\" (1000)";
    Span, "a duration with its unit, as \"10s\", \"500ms\" or \"1h30m\"";
    Percent, "a whole percentage from 0 to 100";
    Extent, "a size in bytes, as \"1GiB\", or a share of the target, as \"50%\"";
    Rate, "operations per second, as 5000, or bytes per second, as \"200MB\"";
    Bandwidth, "bytes per second, as \"200MB\" or \"200MiB\"";
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_follow_coreutils() {
        for (text, bytes) in [
            ("4096", 4096),
            ("4k", 4096),
            ("4KiB", 4096),
            ("4KB", 4000),
            ("1.5g", 1_610_612_736),
            ("200MB", 200_000_000),
            ("1 GiB", 1 << 30),
            ("1_000", 1000),
        ] {
            assert_eq!(text.parse(), Ok(ByteCount(bytes)), "{text}");
        }
        for text in ["", "k", "4q", "1.0001k", "-1", "99999999T", "4 k b"] {
            assert!(text.parse::<ByteCount>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_of_a_sentence_have_one_unit() {
        let texts = |sizes| in_one_unit(sizes).join(" ");
        assert_eq!(texts([4000, 4096]), "4000B 4096B");
        assert_eq!(texts([4096, 1 << 20]), "4KiB 1024KiB");
        assert_eq!(texts([1 << 30, 3 << 30]), "1GiB 3GiB");
        assert_eq!(texts([1, 4096]), "1B 4096B");
        assert_eq!(texts([63_683_379_200, 5_000_000_000_000]), "0.06TiB 4.55TiB");
        assert_eq!(texts([5_000_000_000_000, 5_000_000_000_001]), "5000000000000B 5000000000001B");
        assert_eq!(texts([220_000_256, 1 << 40]), "209.81MiB 1.00TiB");
        assert_eq!(texts([0, 0]), "0B 0B");
    }

    #[test]
    fn a_duration_that_is_too_long_is_told_as_one() {
        for text in ["99999999h", "200000d 200000d", "213504d"] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert_eq!(error, format!("\"{text}\" is too long: a duration is at most 213503d"));
        }
        assert!("0.5ns".parse::<Span>().unwrap_err().to_string().contains("is not a duration"));
        assert!("213503d".parse::<Span>().is_ok());
    }

    #[test]
    fn durations_need_a_unit() {
        for (text, ns) in [
            ("10s", 10_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5s", 1_500_000_000),
            ("250us", 250_000),
            ("2sec", 2_000_000_000),
            ("1min", 60_000_000_000),
            ("0", 0),
        ] {
            assert_eq!(text.parse(), Ok(Span { ns }), "{text}");
        }
        for text in ["10", "", "s", "10x", "1h 5", "1e3s"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_operations_or_bytes() {
        assert_eq!("5k".parse(), Ok(Rate::Operations(5000.0)));
        assert_eq!("0.5".parse(), Ok(Rate::Operations(0.5)));
        assert_eq!("100MiB/s".parse(), Ok(Rate::Bytes(100 << 20)));
        assert_eq!("200MB".parse(), Ok(Rate::Bytes(200_000_000)));
        for text in ["0", "-5", "fast", "5G", "0MB"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn printed_values_parse_back(bytes: u64, ns: u64, percent in 0_u8..=100) {
            prop_assert_eq!(ByteCount(bytes).to_string().parse(), Ok(ByteCount(bytes)));
            prop_assert_eq!(Span { ns }.to_string().parse(), Ok(Span { ns }));
            let percent = Percent::new(percent).unwrap();
            prop_assert_eq!(percent.to_string().parse(), Ok(percent));
        }

        #[test]
        fn no_text_makes_a_parser_panic(text: String) {
            let _ = text.parse::<ByteCount>();
            let _ = text.parse::<Span>();
            let _ = text.parse::<Rate>();
            let _ = text.parse::<Extent>();
        }
    }
}
