//! Quantities as Kubernetes writes them: `8Gi`, `100G` (powers of ten), `1e9`, `1500m`. Kubernetes keeps them to a
//! billionth, and rounds away from zero what is finer; so does this.

use std::fmt;

/// A billionth is the least that a quantity tells.
const NANOS: i128 = 1_000_000_000;

/// An amount of bytes, processors or objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity {
    nanos: i128,
}

impl Quantity {
    /// What a text says; `None` when it is no quantity, or one that no storage and no machine has.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        let (units, decimals) = number.split_once('.').unwrap_or((number, ""));
        let mantissa: u128 = format!("{units}{decimals}").parse().ok()?;
        let (factor, exponent) = unit_of(unit)?;
        let power = exponent.checked_sub(i32::try_from(decimals.len()).ok()?)?.checked_add(9)?;
        let scaled = mantissa.checked_mul(factor)?;
        let nanos = match u32::try_from(power) {
            _ if scaled == 0 => 0,
            Ok(power) => scaled.checked_mul(10u128.checked_pow(power)?)?,
            // So small a part of the smallest is one, rounded away from zero.
            Err(_) => 10u128.checked_pow(power.unsigned_abs()).map_or(1, |divisor| scaled.div_ceil(divisor)),
        };
        let nanos = i128::try_from(nanos).ok().filter(|nanos| *nanos <= i128::from(u64::MAX) * NANOS)?;
        Some(Self { nanos: if is_negative { -nanos } else { nanos } })
    }

    /// So many bytes, processors or objects.
    pub const fn of(whole: u64) -> Self {
        Self { nanos: whole as i128 * NANOS }
    }

    /// The whole number, rounded up; `None` below zero.
    pub fn whole(self) -> Option<u64> {
        if self.nanos < 0 {
            return None;
        }
        u64::try_from((self.nanos + NANOS - 1) / NANOS).ok()
    }

    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_add(other.nanos) }
    }

    /// What is left of it without the other; below zero when that is more.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_sub(other.nanos) }
    }

    /// As many of it.
    #[must_use]
    pub const fn times(self, count: u32) -> Self {
        Self { nanos: self.nanos.saturating_mul(count as i128) }
    }

    /// How many of the other it is.
    pub fn over(self, other: Self) -> f64 {
        self.nanos as f64 / other.nanos as f64
    }
}

/// As Kubernetes would read it again: `8Gi`, `1500m`, `3`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nanos } = *self;
        if nanos % NANOS != 0 {
            let (parts, unit) = [(1_000_000, "m"), (1000, "u"), (1, "n")]
                .into_iter()
                .find(|(parts, _)| nanos % parts == 0)
                .expect("everything is a multiple of one");
            return write!(f, "{}{unit}", nanos / parts);
        }
        let whole = nanos / NANOS;
        // Of objects there may be 1,024, which nobody calls 1Ki.
        let units = [(60, "Ei"), (50, "Pi"), (40, "Ti"), (30, "Gi"), (20, "Mi")];
        match units.into_iter().find(|(power, _)| whole != 0 && whole % (1_i128 << power) == 0) {
            Some((power, unit)) => write!(f, "{}{unit}", whole >> power),
            None => write!(f, "{whole}"),
        }
    }
}

/// A quantity as a whole number, rounded up as Kubernetes does; `None` when the text is none, or below zero.
pub(crate) fn whole(text: &str) -> Option<u64> {
    Quantity::read(text)?.whole()
}

/// What a unit multiplies by: a factor, and a power of ten.
fn unit_of(unit: &str) -> Option<(u128, i32)> {
    let binary = |power: u32| Some((1 << (10 * power), 0));
    match unit {
        "" => Some((1, 0)),
        "n" => Some((1, -9)),
        "u" => Some((1, -6)),
        "m" => Some((1, -3)),
        "k" => Some((1, 3)),
        "M" => Some((1, 6)),
        "G" => Some((1, 9)),
        "T" => Some((1, 12)),
        "P" => Some((1, 15)),
        "E" => Some((1, 18)),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => Some((1, unit.strip_prefix(['e', 'E'])?.parse().ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantities_are_those_of_kubernetes() {
        for (text, bytes) in [
            ("0", 0),
            ("8Gi", 8 << 30),
            ("1.5Gi", 3 << 29),
            (" 100G ", 100_000_000_000),
            ("128974848", 128_974_848),
            ("129e6", 129_000_000),
            ("1E3", 1000),
            ("1E", 1_000_000_000_000_000_000),
            ("+2k", 2000),
            ("1500m", 2),
            ("1n", 1),
            ("1e-60", 1),
            (".5Ki", 512),
            ("5.Mi", 5 << 20),
            ("15Ei", 15 << 60),
            ("18446744073709551615", u64::MAX),
            ("0e999999", 0),
            ("-0", 0),
        ] {
            assert_eq!(whole(text), Some(bytes), "{text}");
        }
        for text in [
            "",
            "Gi",
            ".",
            "-1Gi",
            "--1",
            "1KB",
            "8gi",
            "1 Gi",
            "16Ei",
            "1e40",
            "1.2.3",
            "99999999999999999999999999999999999999999",
        ] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn parts_of_a_processor_add_up_exactly() {
        let read = |text: &str| Quantity::read(text).unwrap();
        assert_eq!(read("500m").plus(read("1.5")), read("2"));
        assert_eq!(read("100m").times(3), read(".3"));
        assert_eq!(read("1").minus(read("2")), read("-1"));
        assert_eq!(read("2").over(read("500m")), 4.0);
        assert!(read("1500m") > Quantity::of(1) && read("1500m") < Quantity::of(2));
    }

    #[test]
    fn quantities_are_written_as_people_write_them() {
        for (text, written) in [
            ("8Gi", "8Gi"),
            ("1536Mi", "1536Mi"),
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1024", "1024"),
            ("100G", "100000000000"),
            ("1e-9", "1n"),
            ("-500m", "-500m"),
            ("0", "0"),
        ] {
            assert_eq!(Quantity::read(text).unwrap().to_string(), written, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(nanos in -(1_i128 << 90)..(1_i128 << 90)) {
            let quantity = Quantity { nanos };
            prop_assert_eq!(Quantity::read(&quantity.to_string()), Some(quantity));
        }

        #[test]
        fn units_are_what_they_multiply_by(number in 0_u64..1 << 40, unit in 0_usize..13) {
            const UNITS: [(&str, f64); 13] = [
                ("n", 1e-9), ("u", 1e-6), ("m", 1e-3), ("", 1.0), ("k", 1e3), ("M", 1e6), ("e3", 1e3), ("e-2", 1e-2),
                ("E+2", 1e2), ("Ki", 1024.0), ("Mi", 1_048_576.0), (".5", 1.0), (".25Ki", 1024.0),
            ];
            let (unit, factor) = UNITS[unit];
            let fraction = if unit == ".5" { 0.5 } else if unit == ".25Ki" { 0.25 } else { 0.0 };
            let read = Quantity::read(&format!("{number}{unit}")).unwrap().nanos as f64 / 1e9;
            let expected = (number as f64 + fraction) * factor;
            prop_assert!((read - expected).abs() <= expected * 1e-12 + 1e-9, "{}{}: {}", number, unit, read);
        }

        #[test]
        fn no_text_is_too_strange(text in ".{0,40}") {
            let _ = Quantity::read(&text);
        }
    }
}
