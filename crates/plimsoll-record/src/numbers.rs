//! Numbers as text for people: in tables, and in the sentences of a record. Where a reader checks a number against
//! another one, `report` shows more of its digits.
//!
//! Three significant figures, because no measurement of storage deserves more; rates below ten thousand are written as
//! whole numbers because that is how limits are sold. The unit always stands beside the number or in the head of its
//! column. Throughput is in decimal MB/s, as clouds write it, and sizes are in binary KiB, MiB, as block sizes are; the
//! two never share a column. A number that was not measured is `-`.

use jiff::Timestamp;

/// What stands for a number that was not measured.
pub const ABSENT: &str = "-";

/// What stands before a percentile that may be longer than it was measured.
pub const AT_LEAST: &str = "≥";

/// The unit of [`throughput`], for the head of its column.
pub const THROUGHPUT_UNIT: &str = "MB/s";

/// Writes a value with three significant figures, without a unit; below 0.1 with three decimals.
fn three_figures(value: f64) -> String {
    if value <= 0.0 {
        return "0".to_owned();
    }
    // The limits are where rounding would add a figure.
    let decimals = match value {
        magnitude if magnitude >= 99.95 => 0,
        magnitude if magnitude >= 9.995 => 1,
        magnitude if magnitude >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// A whole number with commas between thousands, exact.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with so many decimals, and commas between thousands: `59,364.7`, `-1.98`. For what is recomputed, where a
/// reader has to see every digit that another number has.
pub fn decimal(value: f64, decimals: usize) -> String {
    const WHOLE_MAX: f64 = 1e15;
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    if value.abs() >= WHOLE_MAX {
        return format!("{value:.3e}");
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if value < 0.0 && text.contains(|digit| ('1'..='9').contains(&digit)) { "-" } else { "" };
    format!("{sign}{}{fraction}", count(whole.parse().unwrap_or(0)))
}

/// A rate of operations: `0.500`, `12.3`, `123`, `1,234`, `12.3k`, `1.23M`.
pub fn iops(value: f64) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    if value < 999.5 {
        return three_figures(value);
    }
    if value < 9_999.5 {
        return count(value.round() as u64);
    }
    for (scale, suffix) in [(1e3, "k"), (1e6, "M"), (1e9, "G")] {
        if value / scale < 999.5 {
            return three_figures(value / scale) + suffix;
        }
    }
    format!("{value:.2e}")
}

/// Bytes per second as a number of [`THROUGHPUT_UNIT`]: `0.410`, `40.2`, `1,230`, `12,300`.
pub fn throughput(bytes_per_second: f64) -> String {
    let value = bytes_per_second / 1e6;
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    if value > 0.0 && value < 0.0005 {
        return "<0.001".to_owned();
    }
    if value < 999.5 {
        return three_figures(value);
    }
    // Larger units would put two units into one column, so figures beyond the third become zeros.
    let scale = 10_f64.powi((value.log10().floor() as i32 - 2).max(1));
    let digits = if value < 9_999.5 { value.round() } else { (value / scale).round() * scale };
    count(digits as u64)
}

/// A latency as a number and a unit of two characters, so that right-aligned columns align: `98.0 us`, `1.23 ms`,
/// `2.50 s `.
pub fn latency(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if !ns.is_finite() => return ABSENT.to_owned(),
        ns if ns < 999.5 => (ns, "ns"),
        ns if ns < 999.5e3 => (ns / 1e3, "us"),
        ns if ns < 999.5e6 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s "),
    };
    if unit == "ns" { format!("{value:.0} ns") } else { format!("{} {unit}", three_figures(value)) }
}

/// A latency within a sentence.
pub fn latency_in_text(ns: f64) -> String {
    latency(ns).trim_end().to_owned()
}

/// How long a command took: `12.5 s`, and from ten minutes on `3h 14m`.
pub fn elapsed(ns: u64) -> String {
    const LONG_NS: u64 = 600_000_000_000;
    if ns < LONG_NS { latency_in_text(ns as f64) } else { duration(ns) }
}

/// A size: `512 B`, `4 KiB`, `1.5 GiB`, `93.1 GiB`. Sizes that are whole in their unit show it by having no fraction.
pub fn bytes(value: u64) -> String {
    const UNITS: [(&str, u32); 6] = [("EiB", 60), ("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    for (unit, shift) in UNITS {
        if value >= 1 << shift {
            let whole = 1_u64 << shift;
            return if value.is_multiple_of(whole) {
                format!("{} {unit}", value >> shift)
            } else {
                format!("{} {unit}", three_figures(value as f64 / whole as f64))
            };
        }
    }
    format!("{value} B")
}

/// A length of time as people say it: `850 ms`, `5.25 s`, `42 s`, `2m 05s`, `1h 02m`.
pub fn duration(ns: u64) -> String {
    if ns < 1_000_000_000 {
        return latency_in_text(ns as f64);
    }
    if ns < 9_995_000_000 {
        return format!("{} s", three_figures(ns as f64 / 1e9));
    }
    clock(ns)
}

/// `one` when both ends look the same, else `one to other`.
pub fn range<T>(low: T, high: T, format: impl Fn(T) -> String) -> String {
    let (low, high) = (format(low), format(high));
    // `32.0 MiB` is `32 MiB` and a little.
    let whole = |text: &str| text.replace(".0 ", " ");
    if whole(&low) == whole(&high) { low } else { format!("{low} to {high}") }
}

/// A length of time in whole seconds, for text that changes every second: `0 s`, `42 s`, `2m 05s`, `1h 02m`.
pub fn clock(ns: u64) -> String {
    let seconds = ns / 1_000_000_000 + u64::from(ns % 1_000_000_000 >= 500_000_000);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A share as a percentage: `2 %`, `0.53 %`, `97 %`, and `<0.01 %` of what is too little to show but not nothing.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.005 {
        return "<0.01 %".to_owned();
    }
    let digits = if percent.abs() >= 9.95 {
        0
    } else if percent.abs() >= 0.995 {
        1
    } else {
        2
    };
    let text = format!("{percent:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// How many times as much one thing is as another: `62.9`, `4.17`, `1.01`.
pub fn ratio(value: f64) -> String {
    if value >= 9.995 { format!("{value:.1}") } else { format!("{value:.2}") }
}

/// A share of processors, as a quota gives it: `0.500`, `2.00`.
pub fn processors(value: f64) -> String {
    three_figures(value)
}

/// A moment, to the minute and in the one time zone that needs no explanation: `2025-10-08 09:30 UTC`.
pub fn moment(value: Timestamp) -> String {
    value.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Formats what is there, and [`ABSENT`] for what is not.
pub fn or_absent<T>(value: Option<T>, format: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), format)
}

/// The first digits of a run's id, as many as tell two runs apart that did not begin in the same millisecond.
pub fn id_prefix(id: &str) -> &str {
    id.get(..13).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_below_ten_has_two_decimals() {
        for (value, text) in [(1.013, "1.01"), (9.994, "9.99"), (9.996, "10.0"), (62.94, "62.9")] {
            assert_eq!(ratio(value), text);
        }
    }

    #[test]
    fn rates_have_three_figures_or_four_whole_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.5, "0.500"),
            (1.234, "1.23"),
            (9.996, "10.0"),
            (12.34, "12.3"),
            (99.96, "100"),
            (999.4, "999"),
            (999.6, "1,000"),
            (1_234.4, "1,234"),
            (9_999.4, "9,999"),
            (9_999.6, "10.0k"),
            (12_345.0, "12.3k"),
            (999_499.0, "999k"),
            (999_500.0, "1.00M"),
            (1_234_567.0, "1.23M"),
            (1.5e9, "1.50G"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(iops(value), text, "{value}");
        }
    }

    #[test]
    fn throughput_is_decimal_and_keeps_one_unit() {
        for (value, text) in [
            (0.0, "0"),
            (100.0, "<0.001"),
            (410_000.0, "0.410"),
            (40_190_000.0, "40.2"),
            (200_000_000.0, "200"),
            (1_234_000_000.0, "1,234"),
            (9_999_400_000.0, "9,999"),
            (9_999_600_000.0, "10,000"),
            (12_345_000_000.0, "12,300"),
            (123_456_000_000.0, "123,000"),
        ] {
            assert_eq!(throughput(value), text, "{value}");
        }
    }

    #[test]
    fn latencies_choose_their_unit_and_keep_its_width() {
        for (ns, text) in [
            (85.0, "85 ns"),
            (999.6, "1.00 us"),
            (98_000.0, "98.0 us"),
            (999_600.0, "1.00 ms"),
            (1_234_567.0, "1.23 ms"),
            (2_500_000_000.0, "2.50 s "),
            (3_600e9, "3600 s "),
        ] {
            assert_eq!(latency(ns), text, "{ns}");
        }
        assert_eq!(latency_in_text(2.5e9), "2.50 s");
    }

    #[test]
    fn sizes_are_binary() {
        for (value, text) in [
            (0, "0 B"),
            (512, "512 B"),
            (4096, "4 KiB"),
            (1536, "1.50 KiB"),
            (1 << 30, "1 GiB"),
            (30 << 30, "30 GiB"),
            (100_000_000_000, "93.1 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes(value), text, "{value}");
        }
    }

    #[test]
    fn durations_read_as_people_say_them() {
        for (ns, text) in [
            (0, "0 ns"),
            (850_000_000, "850 ms"),
            (5_250_000_000, "5.25 s"),
            (9_996_000_000, "10 s"),
            (59_600_000_000, "1m 00s"),
            (125_000_000_000, "2m 05s"),
            (3_720_000_000_000, "1h 02m"),
        ] {
            assert_eq!(duration(ns), text, "{ns}");
        }
        assert_eq!(clock(5_250_000_000), "5 s");
    }

    #[test]
    fn shares_are_percentages_and_a_little_is_not_nothing() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.000_01, "<0.01 %"),
            (0.000_05, "0.01 %"),
            (0.0053, "0.53 %"),
            (0.02, "2 %"),
            (0.0996, "10 %"),
            (-0.12, "-12 %"),
        ] {
            assert_eq!(percent(share), text, "{share}");
        }
    }

    #[test]
    fn what_is_recomputed_has_the_digits_that_are_asked_for() {
        for (value, decimals, text) in [
            (59_364.69, 1, "59,364.7"),
            (-1234.5, 0, "-1,234"),
            (-0.001, 2, "0.00"),
            (0.0, 0, "0"),
            (4.168, 2, "4.17"),
            (2e15, 1, "2.000e15"),
            (f64::NAN, 1, "-"),
        ] {
            assert_eq!(decimal(value, decimals), text, "{value}");
        }
    }

    #[test]
    fn counts_are_exact() {
        assert_eq!(["0", "999", "1,000", "262,144"], [0, 999, 1000, 262_144].map(count).each_ref().map(String::as_str));
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }
}
