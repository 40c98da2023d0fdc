//! Quantities as Kubernetes writes them: `8Gi`, `100G` (powers of ten), `1e9`, `1500m`.

/// A quantity as a whole number, rounded up as Kubernetes does; `None` when the text is none, or below zero.
pub(crate) fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let (units, decimals) = number.split_once('.').unwrap_or((number, ""));
    let mantissa: u128 = format!("{units}{decimals}").parse().ok()?;
    let (factor, exponent) = unit_of(unit)?;
    let power = exponent.checked_sub(i32::try_from(decimals.len()).ok()?)?;
    let scaled = mantissa.checked_mul(factor)?;
    let whole = match u32::try_from(power) {
        _ if scaled == 0 => 0,
        Ok(power) => scaled.checked_mul(10u128.checked_pow(power)?)?,
        // So small a part of the smallest whole number is one, rounded up.
        Err(_) => 10u128.checked_pow(power.unsigned_abs()).map_or(1, |divisor| scaled.div_ceil(divisor)),
    };
    u64::try_from(whole).ok()
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
            ("+2k", 2000),
            ("1500m", 2),
            ("1n", 1),
            ("1e-60", 1),
            (".5Ki", 512),
            ("5.Mi", 5 << 20),
            ("15Ei", 15 << 60),
            ("0e999999", 0),
        ] {
            assert_eq!(whole(text), Some(bytes), "{text}");
        }
        for text in [
            "",
            "Gi",
            ".",
            "-1Gi",
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
}
