//! Numbers of an explanation as text.

use plimsoll_record::numbers;

use super::standing::Unit;

/// A rate with its unit, exact enough to be checked: `1,838 IOPS`, `207.6 MB/s`.
pub(crate) fn rate(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Iops => iops(value),
        Unit::FilesPerSecond => format!("{} files/s", decimal(value)),
        Unit::BytesPerSecond => format!("{} MB/s", decimal(value / 1e6)),
    }
}

/// Operations per second with all whole digits.
pub(crate) fn iops(value: f64) -> String {
    format!("{} IOPS", decimal(value))
}

fn decimal(value: f64) -> String {
    if value >= 999.95 || value.fract().abs() < 1e-9 && value >= 1.0 {
        numbers::count(value.round() as u64)
    } else if value >= 9.995 {
        let text = format!("{value:.1}");
        text.trim_end_matches(".0").to_owned()
    } else {
        format!("{value:.2}")
    }
}

/// A difference with its sign: `+1.6 %`.
pub(crate) fn signed(value: f64, reference: f64) -> String {
    let percent = (value / reference - 1.0) * 100.0;
    let digits = usize::from(percent.abs() < 99.95);
    format!("{percent:+.digits$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_keep_the_digits_that_a_reader_checks() {
        for (value, text) in
            [(1838.3, "1,838 IOPS"), (121.64, "121.6 IOPS"), (120.0, "120 IOPS"), (55_286.9, "55,287 IOPS")]
        {
            assert_eq!(iops(value), text);
        }
        assert_eq!(rate(Unit::BytesPerSecond, 207_618_048.0), "207.6 MB/s");
        assert_eq!((signed(1838.0, 1810.0), signed(97.0, 100.0)), ("+1.5 %".to_owned(), "-3.0 %".to_owned()));
    }
}
