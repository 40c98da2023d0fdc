//! How values of options are written, and what they become.

use plimsoll_workload::units::{ByteCount, Extent, Percent, Span};

use crate::fio::{
    lists::{self, Directional, Range},
    value::{Amount, Reading, TimeUnit},
};
use crate::{problem::Wrong, suggestion};

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A text, or nothing.
    OptionalText,
    /// Nothing, `0` or `1`.
    Flag,
    /// `0` or `1`.
    Boolean,
    /// A whole number.
    Integer {
        /// The least.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// Whole numbers for reads, writes and trims.
    Integers {
        /// The least.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// A size.
    Size,
    /// Sizes for reads, writes and trims.
    Sizes,
    /// A size, or a share in percent.
    Extent,
    /// A size, or a range of sizes.
    SizeRange,
    /// Ranges for reads, writes and trims.
    SizeRanges,
    /// A time.
    Time(TimeUnit),
    /// A time, or a range of times.
    TimeRange(TimeUnit),
    /// Times for reads, writes and trims.
    Times(TimeUnit),
    /// A number of milliseconds.
    Milliseconds,
    /// Numbers with fractions, between colons.
    Decimals {
        /// The least.
        min: f64,
        /// The largest.
        max: f64,
        /// How many.
        count: usize,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// As it is described here.
    Special(&'static str),
}

/// A value as read.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the kinds")]
pub enum Value {
    Text(Option<String>),
    Truth(bool),
    Integer(i64),
    Integers(Directional<Option<i64>>),
    Size(ByteCount),
    Sizes(Directional<Option<ByteCount>>),
    Extent(Extent),
    SizeRange(Range<ByteCount>),
    SizeRanges(Directional<Option<Range<ByteCount>>>),
    Time(Span),
    TimeRange(Range<Span>),
    Times(Directional<Option<Span>>),
    Decimals(Vec<f64>),
    Word(&'static str),
}

impl Kind {
    /// Whether the value may be left out.
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::Flag | Self::OptionalText)
    }

    /// Reads a value.
    pub(crate) fn read(self, text: Option<&str>, reading: &mut Reading) -> Result<Value, Wrong> {
        let Some(text) = text else {
            return match self {
                Self::Flag => Ok(Value::Truth(true)),
                Self::OptionalText => Ok(Value::Text(None)),
                _ => Err(Wrong::new("a value is missing").instead(format!("write {}", self.form()))),
            };
        };
        Ok(match self {
            Self::Text | Self::OptionalText | Self::Special(_) => {
                let text = text.trim();
                if text.is_empty() {
                    return Err(Wrong::new("the value is empty").instead(format!("write {}", self.form())));
                }
                Value::Text(Some(text.to_owned()))
            }
            Self::Flag | Self::Boolean => Value::Truth(truth(text, self, reading)?),
            Self::Integer { min, max } => Value::Integer(bounded(reading.integer(text)?, min, max)?),
            Self::Integers { min, max } => Value::Integers(lists::directional(text, reading, |part, reading| {
                reading.integer(part).and_then(|number| bounded(number, min, max))
            })?),
            Self::Size => Value::Size(reading.bytes(text)?),
            Self::Sizes => Value::Sizes(lists::directional(text, reading, |part, reading| reading.bytes(part))?),
            Self::Extent => Value::Extent(extent(text, reading)?),
            Self::SizeRange => Value::SizeRange(lists::range(text, false, |bound| reading.bytes(bound))?),
            Self::SizeRanges => Value::SizeRanges(lists::ranges(text, reading)?),
            Self::Time(unit) => Value::Time(reading.time(text, unit)?),
            Self::TimeRange(unit) => Value::TimeRange(lists::range(text, false, |bound| reading.time(bound, unit))?),
            Self::Times(unit) => {
                Value::Times(lists::directional(text, reading, |part, reading| reading.time(part, unit))?)
            }
            Self::Milliseconds => Value::Time(milliseconds(text, reading)?),
            Self::Decimals { min, max, count } => Value::Decimals(decimals(text, min, max, count, reading)?),
            Self::Choice(words) => Value::Word(word(text, words)?),
        })
    }

    /// How a value is written, for people.
    pub fn form(self) -> String {
        let each = "for reads, writes and trims, with commas";
        match self {
            Self::Text => "a text".into(),
            Self::OptionalText => "nothing, or a text".into(),
            Self::Flag => "nothing, 0 or 1".into(),
            Self::Boolean => "0 or 1".into(),
            Self::Integer { .. } | Self::Integers { .. } => {
                let (min, max) = self.bounds();
                let bounds = if max >= i64::from(u32::MAX) { format!("from {min}") } else { format!("{min} to {max}") };
                let many = if matches!(self, Self::Integers { .. }) { format!("; {each}") } else { String::new() };
                format!("a whole number {bounds}{many}")
            }
            Self::Size => "a size".into(),
            Self::Sizes => format!("a size; {each}"),
            Self::Extent => "a size, or 1% to 100%".into(),
            Self::SizeRange => "a size, or a range as 4k-1m".into(),
            Self::SizeRanges => format!("a range as 4k-64k; {each}"),
            Self::Time(unit) => format!("a time in {}", unit_name(unit)),
            Self::TimeRange(unit) => format!("a time in {}, or a range as 1-5", unit_name(unit)),
            Self::Times(unit) => format!("a time in {}; {each}", unit_name(unit)),
            Self::Milliseconds => "a number of milliseconds".into(),
            Self::Decimals { min, max, count: 1 } => format!("a number from {min} to {max}"),
            Self::Decimals { min, max, count } => format!("up to {count} numbers from {min} to {max} between colons"),
            Self::Choice(words) => words.join(", "),
            Self::Special(form) => form.into(),
        }
    }

    const fn bounds(self) -> (i64, i64) {
        match self {
            Self::Integer { min, max } | Self::Integers { min, max } => (min, max),
            _ => (0, 0),
        }
    }
}

const fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Seconds => "seconds",
        TimeUnit::Microseconds => "microseconds",
    }
}

fn truth(text: &str, kind: Kind, reading: &mut Reading) -> Result<bool, Wrong> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.len() < 10 && text.chars().all(|c| c.is_ascii_digit());
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        // fio takes any number for a flag, but not for a boolean.
        _ if kind == Kind::Flag && is_number => {
            reading.remarks.push(format!("{text} is no more than 1 here, as in fio: it switches something on"));
            Ok(text.contains(|c| c != '0'))
        }
        _ => Err(Wrong::new(format!("\"{text}\" is not 0 or 1")).instead(format!("write {}", kind.form()))),
    }
}

fn bounded(number: i64, min: i64, max: i64) -> Result<i64, Wrong> {
    if (min..=max).contains(&number) {
        return Ok(number);
    }
    let wrong = Wrong::new(format!("{number} is out of range"));
    Err(wrong.instead(format!("write a number from {min} to {max}")))
}

fn extent(text: &str, reading: &mut Reading) -> Result<Extent, Wrong> {
    match reading.amount(text)? {
        Amount::Number(bytes) => Ok(Extent::Bytes(ByteCount(bytes))),
        Amount::Percent(percent) => {
            let percent = u8::try_from(percent).ok().and_then(Percent::new);
            let wrong = || Wrong::new(format!("\"{text}\" is more than the whole")).instead("write at most 100%");
            percent.map(Extent::Percent).ok_or_else(wrong)
        }
        Amount::Zones(_) => {
            Err(Wrong::new(format!("\"{text}\" is in zones, and zoned block devices are not supported"))
                .instead("write bytes"))
        }
    }
}

fn milliseconds(text: &str, reading: &mut Reading) -> Result<Span, Wrong> {
    let number = reading.number(text).map_err(|wrong| match reading.time(text, TimeUnit::Microseconds) {
        Ok(span) => Wrong::new(format!("\"{text}\" has a unit, which fio ignores here"))
            .instead(format!("write {}, which is in milliseconds", span.ns / 1_000_000)),
        Err(_) => wrong,
    })?;
    const MILLISECONDS_MAX: u64 = u32::MAX as u64;
    if number > MILLISECONDS_MAX {
        return Err(Wrong::new(format!("\"{text}\" is too long a time")));
    }
    Ok(Span::from_milliseconds(number))
}

fn decimals(text: &str, min: f64, max: f64, count: usize, reading: &mut Reading) -> Result<Vec<f64>, Wrong> {
    let mut numbers = Vec::new();
    for part in text.split(':').take(count + 1) {
        // A single number is a share and may say so: fio stops reading there, while it refuses a list with signs.
        let number = reading.decimal(if count == 1 { part.trim().trim_end_matches('%') } else { part })?;
        if !(min..=max).contains(&number) {
            let wrong = Wrong::new(format!("{number} is out of range"));
            return Err(wrong.instead(format!("write a number from {min} to {max}")));
        }
        numbers.push(number);
    }
    if numbers.len() > count {
        return Err(Wrong::new(format!("more than {count} numbers")).instead(format!("write at most {count}")));
    }
    Ok(numbers)
}

/// The word of a choice, or what is near it.
pub(super) fn word(text: &str, words: &[&'static str]) -> Result<&'static str, Wrong> {
    let text = text.trim();
    if let Some(word) = words.iter().find(|word| **word == text) {
        return Ok(*word);
    }
    let wrong = Wrong::new(format!("\"{text}\" is not one of the possible words"));
    Err(match suggestion::nearest(text, words.iter().copied()) {
        Some(nearest) => wrong.instead(format!("did you mean {nearest}? Possible are {}", words.join(", "))),
        None => wrong.instead(format!("write one of {}", words.join(", "))),
    })
}

/// Says which accessor an entry of the table called for a value of another kind: a mistake of the table.
macro_rules! accessors {
    ($($(#[$document:meta])* $name:ident: $variant:ident => $type:ty;)*) => {
        impl Value {
            $(
                $(#[$document])*
                pub(super) fn $name(&self) -> $type {
                    match self {
                        Self::$variant(value) => value.clone(),
                        other => unreachable!("an entry of the table takes {other:?} for {}", stringify!($variant)),
                    }
                }
            )*
        }
    };
}

accessors! {
    truth: Truth => bool;
    integer: Integer => i64;
    integers: Integers => Directional<Option<i64>>;
    size: Size => ByteCount;
    sizes: Sizes => Directional<Option<ByteCount>>;
    extent: Extent => Extent;
    size_range: SizeRange => Range<ByteCount>;
    size_ranges: SizeRanges => Directional<Option<Range<ByteCount>>>;
    time: Time => Span;
    time_range: TimeRange => Range<Span>;
    times: Times => Directional<Option<Span>>;
    decimals: Decimals => Vec<f64>;
    word: Word => &'static str;
    optional_text: Text => Option<String>;
}

impl Value {
    /// A text of a kind that is never empty.
    pub(super) fn text(&self) -> String {
        self.optional_text().unwrap_or_default()
    }

    /// A whole number that its kind bounds by 32 bits.
    pub(super) fn small(&self) -> u32 {
        u32::try_from(self.integer()).expect("the entry of the table bounds the number")
    }

    /// A percentage.
    pub(super) fn percent(&self) -> u8 {
        u8::try_from(self.integer()).expect("the entry of the table bounds the number")
    }

    /// A number that is absent when it is 0.
    pub(super) fn small_unless_zero(&self) -> Option<u32> {
        Some(self.small()).filter(|number| *number > 0)
    }

    /// A time that is absent when it is 0.
    pub(super) fn time_unless_zero(&self) -> Option<Span> {
        Some(self.time()).filter(|span| span.ns > 0)
    }
}
