//! Numbers as they are printed: what they say, how precisely, and how else they may be read.

use std::fmt;

use super::unit::{Kind, Unit};

/// Which character stands between thousands in a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thousands {
    /// Nobody said: a comma before three digits separates thousands, a point is a decimal one.
    #[default]
    Untold,
    /// A point, as in German: 3.261 is more than three thousand, and a comma is a decimal one.
    Point,
    /// A comma, as in English.
    Comma,
    /// A blank, as in French; a comma is a decimal one.
    Blank,
    /// None: a comma or point is a decimal one.
    None,
}

impl std::str::FromStr for Thousands {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" if text.is_empty() => Ok(Self::Untold),
            "." | "point" => Ok(Self::Point),
            "," | "comma" => Ok(Self::Comma),
            "" | "blank" | "'" => Ok(Self::Blank),
            "none" => Ok(Self::None),
            other => Err(format!("\"{other}\" separates no thousands: write one of . , blank none")),
        }
    }
}

impl Thousands {
    const fn separates(self, separator: char) -> bool {
        matches!((self, separator), (Self::Point, '.') | (Self::Comma | Self::Untold, ','))
    }
}

/// A number with its unit, in base units: bytes, seconds, operations.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Number {
    /// As it is written back.
    text: String,
    /// Its digits and the letter behind them; absent of a time in several parts.
    digits: Option<(Numeral, Option<char>)>,
    pub(super) value: f64,
    pub(super) unit: &'static Unit,
    /// One unit of the last digit.
    pub(super) quantum: f64,
    /// One unit of the last digit that is not a zero, of whole numbers.
    pub(super) rough_quantum: f64,
    /// The value if its point were a comma, or its comma a point.
    pub(super) otherwise: Option<f64>,
    /// What a size is called, to find it in names: `16k` of 16 KiB.
    pub(super) size: Option<String>,
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Number {
    /// A number in a unit, perhaps with a letter behind its digits, as the k of 20k.
    pub(super) fn new(numeral: Numeral, letter: Option<char>, unit: &'static Unit) -> Self {
        let multiplier = match letter {
            Some('k' | 'K') => 1e3,
            Some('M') => 1e6,
            Some('G') => 1e9,
            _ => 1.0,
        };
        let factor = multiplier * unit.factor;
        let blank = if unit.name().is_empty() { "" } else { " " };
        let prefix = unit.name().chars().next().filter(|prefix| unit.is_size() && "kKMGT".contains(*prefix));
        let prefix = letter.or(prefix).map(|prefix| prefix.to_ascii_lowercase());
        let shown = letter.map_or_else(String::new, String::from);
        Self {
            text: format!("{}{shown}{blank}{}", numeral.text, unit.name()),
            value: numeral.value * factor,
            unit,
            quantum: numeral.quantum * factor,
            rough_quantum: numeral.rough_quantum * factor,
            otherwise: numeral.otherwise.map(|value| value * factor),
            size: prefix.map(|prefix| format!("{}{prefix}", numeral.text)),
            digits: Some((numeral, letter)),
        }
    }

    /// A time of several parts, as 3h 14m 14s.
    pub(super) fn of_clock(parts: &[(Numeral, &'static Unit)]) -> Option<Self> {
        let (last, unit) = parts.last()?;
        let text: Vec<String> =
            parts.iter().map(|(numeral, unit)| format!("{}{}", numeral.text, unit.name())).collect();
        Some(Self {
            text: text.join(" "),
            digits: None,
            value: parts.iter().map(|(numeral, unit)| numeral.value * unit.factor).sum(),
            unit,
            quantum: last.quantum * unit.factor,
            rough_quantum: last.quantum * unit.factor,
            otherwise: None,
            size: None,
        })
    }

    /// The same digits in the unit of another number: the first of "40 to 50 %".
    pub(super) fn in_unit_of(&self, other: &Self) -> Self {
        match &self.digits {
            Some((numeral, letter)) if self.unit.name().is_empty() => Self::new(numeral.clone(), *letter, other.unit),
            _ => self.clone(),
        }
    }

    /// The same with the other meaning of its point or comma.
    pub(super) fn read_as(&self, value: f64) -> Self {
        Self { value, quantum: self.quantum * value / self.value, ..self.clone() }
    }

    /// Whether it has no unit.
    pub(super) const fn is_plain(&self) -> bool {
        self.unit.name().is_empty()
    }

    /// Whether it is a time in several parts.
    pub(super) const fn is_clock(&self) -> bool {
        self.digits.is_none()
    }

    /// Digits that count: those from the first one that is not zero to the last.
    pub(super) fn significant(&self) -> usize {
        if self.value <= 0.0 { 1 } else { (self.value / self.quantum).log10().floor().max(0.0) as usize + 1 }
    }

    /// Decimals behind the point in its own unit.
    pub(super) fn decimals(&self) -> usize {
        (-(self.quantum / self.unit.factor).log10()).round().clamp(0.0, 9.0) as usize
    }
}

impl Unit {
    /// Whether it is one of sizes, or of what may be one.
    fn is_size(&self) -> bool {
        self.kind == Kind::Ambiguous || self.dimension == super::unit::Dimension::BYTES
    }
}

/// Digits and what separates them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Numeral {
    text: String,
    pub(super) value: f64,
    quantum: f64,
    rough_quantum: f64,
    otherwise: Option<f64>,
}

impl Numeral {
    /// A word that is a number: `three`.
    pub(super) fn of_word(word: &str, value: f64) -> Self {
        let quantum = if value < 1.0 { 0.1 } else { 1.0 };
        Self { text: word.to_owned(), value, quantum, rough_quantum: quantum, otherwise: None }
    }
}

/// More digits than any number of a benchmark has.
const LENGTH_MAX: usize = 40;

/// How many bytes at the beginning of a text are digits and what separates them.
pub(super) fn leading(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if end == 0 && !text.starts_with('.') {
        return 0;
    }
    while let Some(separator) = text[end..].chars().next() {
        let from = end + separator.len_utf8();
        let group = digits(from);
        let goes_on = match separator {
            '.' | ',' => group > 0,
            '\'' | '’' => group == 3,
            separator if is_blank(separator) => group == 3 && (1..=3).contains(&last_group(&text[..end])),
            _ => false,
        };
        if !goes_on {
            break;
        }
        end = from + group;
    }
    end
}

fn is_blank(separator: char) -> bool {
    matches!(separator, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}')
}

/// Digits at the end.
fn last_group(text: &str) -> usize {
    text.bytes().rev().take_while(u8::is_ascii_digit).count()
}

/// Reads digits and what separates them.
pub(super) fn read(text: &str, thousands: Thousands) -> Result<Numeral, String> {
    if text.len() > LENGTH_MAX {
        return Err(format!("a number has at most {LENGTH_MAX} digits"));
    }
    let separators: Vec<char> = text.chars().filter(|character| !character.is_ascii_digit()).collect();
    let groups: Vec<&str> = text.split(|character: char| !character.is_ascii_digit()).collect();
    let are_thousands = |groups: &[&str]| {
        (1..=3).contains(&groups[0].len()) && groups[0] != "0" && groups[1..].iter().all(|group| group.len() == 3)
    };
    let marks: Vec<char> = separators.iter().copied().filter(|separator| matches!(separator, '.' | ',')).collect();
    let last_is_decimal = match marks.as_slice() {
        [] => false,
        [one] if separators.len() == 1 => !(thousands.separates(*one) && are_thousands(&groups)),
        [.., before, last] if before == last => false,
        [.., last] => separators.last() == Some(last),
    };
    let (whole, fraction) = if last_is_decimal { groups.split_at(groups.len() - 1) } else { (&groups[..], &[][..]) };
    let mixed = separators[..whole.len() - 1].windows(2).any(|pair| pair[0] != pair[1] && !is_blank(pair[0]));
    if mixed || (whole.len() > 1 && !are_thousands(whole)) {
        return Err(format!("\"{text}\" is not a number: thousands are groups of three digits"));
    }
    let fraction = fraction.first().copied().unwrap_or("");
    let plain = format!("{}.{fraction}", whole.concat());
    let value: f64 = plain.trim_end_matches('.').parse().map_err(|_| format!("\"{text}\" is not a number"))?;
    let quantum = 10_f64.powi(-(fraction.len() as i32));
    let whole = whole.concat();
    let zeros = if fraction.is_empty() { whole.len() - whole.trim_end_matches('0').len() } else { 0 };
    let is_either = marks.len() == 1 && separators.len() == 1 && are_thousands(&groups);
    Ok(Numeral {
        text: text.replace(is_blank, " "),
        value,
        quantum,
        rough_quantum: quantum * 10_f64.powi(zeros.min(whole.len().saturating_sub(1)) as i32),
        otherwise: is_either.then(|| if last_is_decimal { value * 1000.0 } else { value / 1000.0 }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, thousands: Thousands) -> Option<f64> {
        assert_eq!(leading(text), text.len(), "{text}");
        read(text, thousands).ok().map(|numeral| numeral.value)
    }

    #[test]
    fn a_number_is_read_as_its_document_writes_it() {
        use Thousands::{Blank, Comma, None as Nothing, Point, Untold};
        for (text, thousands, expected) in [
            ("59365", Untold, 59365.0),
            ("59,365", Untold, 59365.0),
            ("1.984", Untold, 1.984),
            ("1.984", Point, 1984.0),
            ("7,18", Point, 7.18),
            ("7.18", Point, 7.18),
            ("0.500", Point, 0.5),
            ("1,984", Blank, 1.984),
            ("1,984", Nothing, 1.984),
            ("1,98", Untold, 1.98),
            ("1.234.567", Untold, 1_234_567.0),
            ("1.234,5", Untold, 1234.5),
            ("1,234.5", Comma, 1234.5),
            ("3 261", Untold, 3261.0),
            ("3\u{202f}261,5", Blank, 3261.5),
            ("1'234", Untold, 1234.0),
            (".5", Untold, 0.5),
        ] {
            assert_eq!(value(text, thousands), Some(expected), "{text} {thousands:?}");
        }
        for text in ["1.2.3", "1,23,456", "1.234,567,8"] {
            assert_eq!(value(text, Untold), None, "{text}");
        }
        assert_eq!(leading("1000 100"), 4, "a group of four digits is not followed by thousands");
    }

    #[test]
    fn the_last_digit_says_how_precise_a_number_is() {
        let of = |text| read(text, Thousands::Untold).map(|numeral| (numeral.quantum, numeral.rough_quantum)).unwrap();
        assert_eq!((of("1400"), of("1393"), of("4.20")), ((1.0, 100.0), (1.0, 1.0), (0.01, 0.01)));
        assert_eq!((of("0"), of("10")), ((1.0, 1.0), (1.0, 10.0)));
        assert_eq!(read("1.984", Thousands::Untold).unwrap().otherwise, Some(1984.0));
        assert_eq!(read("1.98", Thousands::Untold).unwrap().otherwise, None);
    }
}
