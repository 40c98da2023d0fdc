//! Numbers, sizes, rates and times as programs and people write them.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// A number with a decimal point or comma, and perhaps separators of thousands. A single separator before three digits
/// is a decimal one: programs print no thousands.
pub(super) fn number(text: &str) -> Option<f64> {
    if text.is_empty() || text.len() > 40 || !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')) {
        return None;
    }
    let (points, commas) = (text.matches('.').count(), text.matches(',').count());
    let plain = match (points, commas) {
        (0, 0) | (1, 0) => text.to_owned(),
        (0, 1) => text.replace(',', "."),
        (_, 0) => text.replace('.', ""),
        (0, _) => text.replace(',', ""),
        // The last one is the decimal one.
        _ if text.rfind('.') > text.rfind(',') => text.replace(',', ""),
        _ => text.replace('.', "").replace(',', "."),
    };
    plain.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Where a number at the beginning of a text ends.
pub(super) fn number_length(text: &str) -> usize {
    let length = text.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')).count();
    // A comma or point behind it belongs to the sentence.
    text[..length].trim_end_matches(['.', ',']).len()
}

/// A number and the letters behind it, as in `14.9MiB/s` or `20 ms`, and what follows.
pub(super) fn with_unit(text: &str) -> Option<(f64, &str, &str)> {
    let text = text.trim_start();
    let (digits, rest) = text.split_at(number_length(text));
    let value = number(digits)?;
    let rest = rest.trim_start_matches(' ');
    let length = rest.find(|letter: char| !(letter.is_ascii_alphabetic() || letter == '/')).unwrap_or(rest.len());
    Some((value, &rest[..length], &rest[length..]))
}

/// Whether two numbers are further apart than a share of the larger one.
pub(super) fn differs(one: f64, other: f64, tolerance: f64) -> bool {
    (one - other).abs() > tolerance * one.abs().max(other.abs())
}

/// Half of the last digit that is told, as a share.
pub(super) fn rounding(text: &str) -> f64 {
    let digits: String =
        text.chars().take_while(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ',')).collect();
    let digits = digits.replace(',', ".");
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    0.5 * 0.1_f64.powi(decimals) / digits.parse::<f64>().unwrap_or(1.0).max(f64::MIN_POSITIVE)
}

/// What fio meant by a number that should be about another one: it writes 21.998 as `21.0`, and loses what it carries.
pub(super) fn with_carry(value: f64, text: &str, made: f64) -> f64 {
    let Some((whole, decimals)) = text[..number_length(text)].split_once('.') else { return value };
    let more = whole.parse().map_or(value, |whole: f64| value * (whole + 1.0) / whole);
    let is_lost = decimals.bytes().all(|digit| digit == b'0') && differs(value, made, 0.01);
    if is_lost && (more - made).abs() < (value - made).abs() && !differs(more, made, 0.02) { more } else { value }
}

/// Bytes in a unit of sizes: binary ones have an i; of decimal ones fio writes `kB`. Letters without a B are binary.
/// Bits are an eighth, with both kinds of prefixes.
pub(super) fn bytes_in(unit: &str) -> Option<f64> {
    let exponent = |letter: u8| b"KMGTP".iter().position(|known| *known == letter.to_ascii_uppercase());
    match unit.as_bytes() {
        b"B" | b"bytes" => Some(1.0),
        b"bit" => Some(0.125),
        [letter, b'i', b'b', b'i', b't'] => Some(1024_f64.powi(exponent(*letter)? as i32 + 1) / 8.0),
        [letter, b'b', b'i', b't'] => Some(1000_f64.powi(exponent(*letter)? as i32 + 1) / 8.0),
        [letter] | [letter, b'i', b'B'] => Some(1024_f64.powi(exponent(*letter)? as i32 + 1)),
        [letter, b'B'] => Some(1000_f64.powi(exponent(*letter)? as i32 + 1)),
        _ => None,
    }
}

/// Bytes of a size as `3037GiB`.
pub(super) fn bytes(text: &str) -> Option<f64> {
    let (value, unit, rest) = with_unit(text)?;
    rest.is_empty().then_some(value * bytes_in(unit)?)
}

/// Bytes in a unit of sizes, of which `KB` are 1024.
pub(super) fn binary_bytes_in(unit: &str) -> Option<f64> {
    bytes_in(unit.strip_suffix('B').filter(|unit| !unit.is_empty()).unwrap_or(unit))
}

/// Bytes of a size as fio 2 writes it, of which `KB` are 1024.
pub(super) fn bytes_of_fio_2(text: &str) -> Option<f64> {
    let (value, unit, rest) = with_unit(text)?;
    // It wrote bits with letters that may be of either kind.
    (!unit.ends_with("bit")).then_some(())?;
    rest.trim().is_empty().then_some(value * binary_bytes_in(unit)?)
}

/// Bytes per second of a rate as `14.9MiB/s`.
pub(super) fn bytes_per_second(text: &str) -> Option<f64> {
    bytes(text.strip_suffix("/s")?)
}

/// Nanoseconds in a unit of times.
pub(super) fn nanoseconds_in(unit: &str) -> Option<f64> {
    match unit {
        "ns" | "nsec" => Some(1.0),
        "us" | "usec" => Some(1e3),
        "ms" | "msec" => Some(1e6),
        "s" | "sec" => Some(1e9),
        _ => None,
    }
}

/// A moment at the beginning of a text, written without a zone and taken for UTC.
pub(super) fn moment(text: &str, format: &str) -> Option<Timestamp> {
    let (broken_down, _) = jiff::fmt::strtime::BrokenDownTime::parse_prefix(format, text.trim()).ok()?;
    let time: DateTime = broken_down.to_datetime().ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Nanoseconds of a time as a shell prints it: `190m56.505s`, `1h2m3s`.
pub(super) fn shell_time_ns(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut seconds = 0.0;
    for (letter, factor) in [('h', 3600.0), ('m', 60.0), ('s', 1.0)] {
        if let Some((digits, behind)) = rest.split_once(letter) {
            seconds += number(digits)? * factor;
            rest = behind;
        }
    }
    (rest.is_empty() && !text.is_empty() && seconds < 1e9).then(|| (seconds * 1e9).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_told_apart() {
        let cases = [("3.261", 3.261), ("3,261", 3.261), ("1.234.567", 1_234_567.0), ("1,234,567", 1_234_567.0)];
        for (text, value) in cases.into_iter().chain([("1,234.5", 1234.5), ("1.234,5", 1234.5), ("20400", 20400.0)]) {
            assert!((number(text).unwrap() - value).abs() < 1e-9, "{text}");
        }
        for text in ["", ".", "-1", "1e5", "x", "1 000"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn units_are_binary_or_decimal() {
        let cases =
            [("1KiB", 1024.0), ("1kB", 1000.0), ("2MB", 2e6), ("1.5GiB", 1.5 * 1024_f64.powi(3)), ("3K", 3072.0)];
        let bits = [("8Mibit", 1_048_576.0), ("8Mbit", 1e6), ("16bit", 2.0), ("8kbit", 1e3)];
        for (text, value) in cases.into_iter().chain(bits) {
            assert!((bytes(text).unwrap() - value).abs() < 1e-6, "{text}");
        }
        assert_eq!(bytes_of_fio_2("8Mbit"), None);
        assert!((bytes_per_second("14.9MiB/s").unwrap() - 14.9 * 1_048_576.0).abs() < 1e-6);
        for text in ["", "5", "5QB", "5MiB x", "MiB", "5MiB/s"] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }

    #[test]
    fn what_fio_carries_is_not_lost() {
        for (value, text, made, meant) in [
            (21.0, "21.0MiB", 21.9, 22.0),
            (9000.0, "9.00k", 9997.0, 10_000.0),
            (21.0, "21.0MiB", 21.1, 21.0),
            // Other numbers are not what they should be.
            (21.0, "21.0MiB", 42.0, 21.0),
            (21.1, "21.1MiB", 22.0, 21.1),
            (21.0, "21MiB", 22.0, 21.0),
            (0.0, "0.00", 1.0, 0.0),
        ] {
            assert!((with_carry(value, text, made) - meant).abs() < 1e-9, "{text} for {made}");
        }
    }

    #[test]
    fn shells_tell_minutes() {
        assert_eq!(shell_time_ns("190m56.505s"), Some(11_456_505_000_000));
        assert_eq!(shell_time_ns("1m23,157s"), Some(83_157_000_000));
        assert_eq!(shell_time_ns("1h0m1s"), Some(3_601_000_000_000));
        for text in ["", "5", "m5s", "5s m", "x1m2s"] {
            assert_eq!(shell_time_ns(text), None, "{text}");
        }
    }
}
