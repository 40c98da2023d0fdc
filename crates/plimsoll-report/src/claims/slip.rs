//! Which mistake with units makes the claimed number out of the right one.

use plimsoll_record::numbers;

use super::{
    Verdict,
    evaluate::Value,
    number::Number,
    rule, show,
    unit::{self, Dimension, Unit},
};

/// Digits that a number needs before a factor of a few percent explains it.
const DIGITS_MIN: usize = 3;

/// The slip that reproduces a claim exactly, in words; `None` when there is none.
pub(super) fn slip(claim: &Number, value: &Value<'_>) -> Option<String> {
    if claim.significant() < DIGITS_MIN {
        return None;
    }
    renamed(claim, value).or_else(|| divided(claim, value))
}

/// Bytes in a decimal unit that were taken for a binary one on the way to a rate, or the other way round. Bytes that
/// were printed rounded are any that round so.
fn divided(claim: &Number, value: &Value<'_>) -> Option<String> {
    let derived = value.derived?;
    let bytes = derived.bytes as f64;
    let half = show::binary_unit(bytes).map_or(0.0, |unit| unit.factor / 2.0);
    for pair in unit::BYTES[1..].chunks_exact(2) {
        for [said, taken] in [[&pair[0], &pair[1]], [&pair[1], &pair[0]]] {
            let [from, to] = [bytes - half, bytes + half].map(|bytes| (bytes / said.factor).round());
            // What programs print: three or four digits.
            if from < 100.0 || to >= 1e4 {
                continue;
            }
            let mut printed = from;
            while printed <= to {
                let result = value.number / bytes * printed * taken.factor;
                if rule::equal(claim, result) == Verdict::Follows {
                    return Some(format!(
                        "{} {} {} as if they were {} gives {}",
                        numbers::decimal(printed, 0),
                        said.name(),
                        if value.dimension == Dimension::RATE { "divided" } else { "taken" },
                        taken.name(),
                        numbers::decimal(result / claim.unit.factor, claim.decimals() + 1)
                    ));
                }
                printed += 1.0;
            }
        }
    }
    None
}

/// The right digits with a wrong unit: MB for MiB, bits for bytes, ms for us.
fn renamed(claim: &Number, value: &Value<'_>) -> Option<String> {
    let claimed = claim.value / claim.unit.factor;
    let is_it = |unit: &&Unit| {
        let scale = unit.factor / claim.unit.factor;
        (scale - 1.0).abs() > 1e-9
            && (value.number / unit.factor - claimed).abs() <= claim.quantum / claim.unit.factor / 2.0
    };
    let units: Vec<&Unit> = match claim.unit.dimension {
        Dimension::BYTES => unit::BYTES.iter().collect(),
        Dimension::BYTE_RATE => unit::BYTE_RATES.iter().collect(),
        Dimension::SECONDS if !claim.is_clock() => {
            vec![&unit::MICROSECONDS, &unit::MILLISECONDS, &unit::SECONDS, &unit::MINUTES]
        }
        _ => return None,
    };
    if value.dimension != claim.unit.dimension {
        return None;
    }
    let unit = units.into_iter().find(is_it)?;
    let right = numbers::decimal(value.number / unit.factor, claim.decimals() + 1);
    Some(format!("it is {right} {}, not {}", unit.name(), claim.unit.name()))
}
