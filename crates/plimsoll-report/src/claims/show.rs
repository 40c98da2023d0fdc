//! Quantities with their units, in as many digits as it takes to see what is claimed.

use plimsoll_record::numbers;

use super::{
    number::Number,
    unit::{self, Dimension, Kind},
};

/// Digits of a number that something is claimed of.
const DIGITS_MAX: usize = 7;
/// Digits of a number that nothing is claimed of.
const DIGITS: i32 = 4;

/// A quantity in the unit of a claim, with more digits than that has.
pub(super) fn beside(value: f64, dimension: Dimension, claim: &Number) -> String {
    match claim.unit.kind {
        Kind::Percent => return format!("{} %", numbers::decimal(value * 100.0, claim.decimals() + 1)),
        Kind::Orders => return format!("{} orders of magnitude", numbers::decimal(value, claim.decimals() + 2)),
        Kind::Times => return at_least_two(value, claim.decimals() + 2),
        Kind::Scale | Kind::Ambiguous => {}
    }
    if claim.is_clock() {
        return clock(value, 2);
    }
    let decimals = if claim.is_plain() && dimension == Dimension::PLAIN { 2 } else { 1 };
    let number = at_least_two(value / claim.unit.factor, claim.decimals() + decimals);
    let unit = if claim.is_plain() { natural(dimension) } else { claim.unit.name() };
    format!("{number} {unit}").trim_end().to_owned()
}

/// A quantity in the unit that people would take.
pub(super) fn quantity(value: f64, dimension: Dimension) -> String {
    let scaled = |units: &[&'static unit::Unit]| {
        let fitting = units.iter().rfind(|unit| value.abs() >= unit.factor).unwrap_or(&units[0]);
        format!("{} {}", significant(value / fitting.factor), fitting.name())
    };
    match dimension {
        Dimension::BYTES => bytes(value),
        Dimension::BYTE_RATE => format!("{} MB/s", significant(value / 1e6)),
        Dimension::RATE => format!("{} IOPS", numbers::decimal(value, if value.abs() < 1e5 { 1 } else { 0 })),
        Dimension::SECONDS if value.abs() >= 600.0 => clock(value, 1),
        Dimension::SECONDS => scaled(&[&unit::MICROSECONDS, &unit::MILLISECONDS, &unit::SECONDS]),
        _ => significant(value),
    }
}

/// Bytes as a whole number of a binary unit where they are one, else in decimal units.
pub(super) fn bytes(value: f64) -> String {
    let whole = binary_unit(value);
    if let Some(unit) = whole {
        return format!("{} {}", numbers::decimal(value / unit.factor, 0), unit.name());
    }
    let mut decimal = unit::BYTES.iter().filter(|unit| !unit.is_binary());
    let fitting = decimal.rfind(|unit| value.abs() >= unit.factor).unwrap_or(&unit::BYTES[0]);
    format!("{} {}", significant(value / fitting.factor), fitting.name())
}

/// The binary unit that bytes are a whole number of, below ten thousand: so programs print them, rounded.
pub(super) fn binary_unit(value: f64) -> Option<&'static unit::Unit> {
    let is_whole = |unit: &&unit::Unit| unit.is_binary() && (value / unit.factor).fract().abs() < f64::EPSILON;
    let fitting = unit::BYTES.iter().rfind(|unit| is_whole(unit) && value >= unit.factor)?;
    (value / fitting.factor < 1e4).then_some(fitting)
}

/// What is too much of a quantity, in percent, in words.
pub(super) fn excess(claimed: f64, value: f64) -> String {
    let share = claimed / value - 1.0;
    if !share.is_finite() {
        return "far off".to_owned();
    }
    let percent = share.abs() * 100.0;
    let digits = if percent < 0.1 {
        3
    } else if percent < 10.0 {
        2
    } else {
        usize::from(percent < 100.0)
    };
    let size = numbers::decimal(percent, digits);
    format!("{size} % too {}", if share > 0.0 { "high" } else { "low" })
}

/// A number with so many decimals, but not many digits in all, or as many more as it takes to see two digits.
fn at_least_two(value: f64, decimals: usize) -> String {
    let leading = if value.abs() > 0.0 { (1.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize } else { 0 };
    let whole = if value.abs() >= 1.0 { value.abs().log10().floor() as usize + 1 } else { 0 };
    numbers::decimal(value, decimals.min(DIGITS_MAX.saturating_sub(whole)).max(leading))
}

fn significant(value: f64) -> String {
    let magnitude = if value.abs() > 0.0 && value.is_finite() { value.abs().log10().floor() as i32 } else { 0 };
    numbers::decimal(value, (DIGITS - 1 - magnitude).clamp(0, 9) as usize)
}

fn clock(seconds: f64, decimals: usize) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    let scale = 10_f64.powi(decimals as i32);
    let rounded = (seconds.abs() * scale).round() / scale;
    let (hours, rest) = ((rounded / 3600.0).floor(), rounded % 3600.0);
    let (minutes, seconds) = ((rest / 60.0).floor(), rest % 60.0);
    let hours = if hours > 0.0 { format!("{}h ", numbers::decimal(hours, 0)) } else { String::new() };
    format!("{sign}{hours}{minutes:.0}m {seconds:.decimals$}s")
}

const fn natural(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::RATE => "IOPS",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_written_as_people_write_them() {
        assert_eq!(quantity(11_654.359_4, Dimension::SECONDS), "3h 14m 14.4s");
        assert_eq!(quantity(0.0251, Dimension::SECONDS), "25.10 ms");
        assert_eq!(quantity(3037.0 * 1_073_741_824.0, Dimension::BYTES), "3,037 GiB");
        assert_eq!(quantity(23_692_500_992.0, Dimension::BYTES), "23.69 GB");
        assert_eq!(quantity(906e6, Dimension::BYTE_RATE), "906.0 MB/s");
        assert_eq!(excess(59_365.0, 55_286.87), "7.38 % too high");
        assert_eq!(excess(1.0, 0.0), "far off");
    }
}
