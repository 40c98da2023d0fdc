//! Numbers as the normal output has them: a few digits, a prefix and a unit.

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Nothing in particular.
    None,
    /// Bytes.
    Bytes,
    /// Bytes, shown as bytes per second.
    BytesPerSecond,
    /// Bytes, shown as bits per second.
    BitsPerSecond,
}

/// Powers of what the prefixes stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefixes {
    /// `k`, `M`: powers of 1000.
    Decimal,
    /// `Ki`, `Mi`: powers of 1024.
    Binary,
}

impl Prefixes {
    /// The other ones, which stand in parentheses.
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Decimal => Self::Binary,
            Self::Binary => Self::Decimal,
        }
    }

    const fn step(self) -> u64 {
        match self {
            Self::Decimal => 1000,
            Self::Binary => 1024,
        }
    }

    const fn names(self) -> [&'static str; 7] {
        match self {
            Self::Decimal => ["", "k", "M", "G", "T", "P", "E"],
            Self::Binary => ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"],
        }
    }
}

/// A number in at most so many characters beside prefix and unit, the decimal point among them: `8000`, `39.1Mi`,
/// `53.0k`. A number that fits as it is keeps all its digits, so that there is no prefix at 4096 bytes.
pub(super) fn short(number: u64, characters: usize, prefixes: Prefixes, unit: Unit) -> String {
    let (mut whole, suffix) = match unit {
        Unit::None => (number, ""),
        Unit::Bytes => (number, "B"),
        Unit::BytesPerSecond => (number, "B/s"),
        Unit::BitsPerSecond => (number.saturating_mul(8), "bit/s"),
    };
    let (step, names) = (prefixes.step(), prefixes.names());
    let (mut prefix, mut rest) = (0, None);
    while digits(whole) > characters && prefix + 1 < names.len() {
        rest = Some(whole % step);
        whole /= step;
        prefix += 1;
    }
    // One character is for the point.
    let decimals = characters.saturating_sub(digits(whole) + 1);
    let number = match rest {
        None => whole.to_string(),
        Some(rest) if decimals == 0 => (whole + u64::from(rest >= step / 2)).to_string(),
        Some(rest) => {
            let fraction = format!("{:.decimals$}", rest as f64 / step as f64);
            let carried = whole + u64::from(fraction.starts_with('1'));
            format!("{carried}.{}", &fraction[2..])
        }
    };
    format!("{number}{}{suffix}", names[prefix])
}

const fn digits(number: u64) -> usize {
    match number.checked_ilog10() {
        Some(log) => log as usize + 1,
        None => 1,
    }
}

/// The digits after the point that a list of percentages needs.
pub(super) fn decimals(percentages: &[f64]) -> usize {
    let of = |percentage: &f64| percentage.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
    percentages.iter().map(of).max().unwrap_or(0)
}

/// The unit that a distribution is shown in, and how many nanoseconds it has.
pub(super) fn latency_unit(min_ns: u64, max_ns: u64, deviation_ns: f64) -> (&'static str, u64) {
    if min_ns > 2_000_000 && max_ns > 99_999_999 && deviation_ns > 1_000_000.0 {
        ("msec", 1_000_000)
    } else if min_ns > 2000 && max_ns > 99_999 && deviation_ns > 1000.0 {
        ("usec", 1000)
    } else {
        ("nsec", 1)
    }
}

/// A length of time in the unit that leaves it two digits or more.
pub(super) fn span(ns: u64) -> String {
    let (divisor, unit) = match ns {
        2_000_000_000.. => (1e9, "s"),
        2_000_000.. => (1e6, "ms"),
        2000.. => (1e3, "us"),
        _ => (1.0, "ns"),
    };
    format!("{:.2}{unit}", ns as f64 / divisor)
}

/// Seconds as fio tells how long something will go on: `00m:02s`, `01h:00m:00s`.
pub(super) fn clock(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let days_text = if days > 0 { format!("{days:02}d:") } else { String::new() };
    let hours_text = if days > 0 || hours > 0 { format!("{hours:02}h:") } else { String::new() };
    format!("{days_text}{hours_text}{minutes:02}m:{:02}s", seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line is what fio shows for the number.
    #[test]
    fn numbers_are_as_short_as_those_of_fio() {
        use Prefixes::{Binary, Decimal};
        for (number, characters, prefixes, unit, text) in [
            (0, 4, Decimal, Unit::None, "0"),
            (9999, 4, Decimal, Unit::None, "9999"),
            (10_000, 4, Decimal, Unit::None, "10.0k"),
            (53_049, 4, Decimal, Unit::None, "53.0k"),
            (99_950, 4, Decimal, Unit::None, "99.9k"),
            (99_960, 4, Decimal, Unit::None, "100.0k"),
            (248_000, 4, Decimal, Unit::None, "248k"),
            (248_500, 4, Decimal, Unit::None, "249k"),
            (3_157_600, 6, Decimal, Unit::None, "3157.6k"),
            (4_067_300, 6, Decimal, Unit::None, "4067.3k"),
            (99_999, 6, Decimal, Unit::None, "99999"),
            (4096, 4, Binary, Unit::Bytes, "4096B"),
            (1 << 20, 4, Binary, Unit::Bytes, "1024KiB"),
            (1_015_808, 4, Binary, Unit::Bytes, "992KiB"),
            (1_015_808, 4, Decimal, Unit::Bytes, "1016kB"),
            (40_960, 4, Binary, Unit::Bytes, "40.0KiB"),
            (1_015_808_000, 4, Binary, Unit::BytesPerSecond, "969MiB/s"),
            (1_015_808_000, 4, Decimal, Unit::BytesPerSecond, "1016MB/s"),
            (818_280, 4, Decimal, Unit::BytesPerSecond, "818kB/s"),
            (1000, 4, Decimal, Unit::BitsPerSecond, "8000bit/s"),
        ] {
            assert_eq!(short(number, characters, prefixes, unit), text, "{number}");
        }
        assert!(short(u64::MAX, 1, Decimal, Unit::BitsPerSecond).ends_with("Ebit/s"));
    }

    #[test]
    fn long_times_have_hours_and_days() {
        assert_eq!(clock(2), "00m:02s");
        assert_eq!(clock(3600), "01h:00m:00s");
        assert_eq!(clock(90_061), "01d:01h:01m:01s");
    }

    #[test]
    fn percentages_have_the_decimals_of_the_longest() {
        assert_eq!(decimals(&[1.0, 99.5, 99.99]), 2);
        assert_eq!(decimals(&[50.0, 99.0]), 0);
        assert_eq!(decimals(&[]), 0);
    }

    #[test]
    fn a_unit_is_left_when_the_shortest_and_the_longest_allow_it() {
        assert_eq!(latency_unit(2001, 100_000, 1000.5).0, "usec");
        assert_eq!(latency_unit(2000, 100_000, 5000.0).0, "nsec");
        assert_eq!(latency_unit(2_000_001, 100_000_000, 1_000_000.5).0, "msec");
        assert_eq!(latency_unit(2_000_001, 100_000_000, 900_000.0).0, "usec");
        assert_eq!([0, 2000, 5_000_000, 3_000_000_000].map(span), ["0.00ns", "2.00us", "5.00ms", "3.00s"]);
    }
}
