//! How a number that is claimed and one that is recomputed make a word.

use super::{Verdict, number::Number, statement::Bound};

/// A difference of this share is one of rounding, whatever was printed.
const ROUNDING: f64 = 0.005;
/// How far "about" may be off.
const ABOUT: f64 = 0.10;
/// How far a number may be off whose last zeros, or whose last digit, is not taken at its word.
const ROUGH: f64 = 0.05;
const UPWARDS: f64 = 0.10;
/// Computers count in powers of two.
const EXACT: f64 = 1.0 + 1e-9;

/// Whether a recomputed value is the one that is claimed.
///
/// It follows when it rounds to the claim as printed. Cut instead of rounded, or off by at most half a percent, it is a
/// matter of rounding; so is a whole number whose last zeros were not meant to count.
pub(super) fn equal(claim: &Number, value: f64) -> Verdict {
    let off = (value - claim.value).abs();
    let share = off / claim.value.abs();
    let is_cut = value.abs() >= claim.value.abs() && value * claim.value >= 0.0;
    if off <= claim.quantum / 2.0 * EXACT {
        Verdict::Follows
    } else if (off < claim.quantum && (is_cut || share <= UPWARDS))
        || share <= ROUNDING * EXACT
        || (off <= claim.rough_quantum / 2.0 * EXACT && share <= ROUGH)
    {
        Verdict::Rounding
    } else {
        Verdict::DoesNotFollow
    }
}

/// Whether a recomputed value lies where it is claimed to.
pub(super) fn bounded(bound: Bound, claim: &Number, value: f64) -> Verdict {
    let claimed = claim.value;
    match bound {
        Bound::Exactly => equal(claim, value),
        Bound::About => {
            let is_near = (value / claimed - 1.0).abs() <= ABOUT * EXACT;
            if is_near || equal(claim, value) != Verdict::DoesNotFollow {
                Verdict::Follows
            } else {
                Verdict::DoesNotFollow
            }
        }
        Bound::More => one_sided(value > claimed, claimed, value),
        Bound::AtLeast => one_sided(value >= claimed, claimed, value),
        Bound::Less => one_sided(value < claimed, claimed, value),
        Bound::AtMost => one_sided(value <= claimed, claimed, value),
    }
}

/// The same of two values that were both computed, so that nothing was printed.
pub(super) fn compared(bound: Bound, one: f64, other: f64) -> Verdict {
    const SAME: f64 = 0.0005;
    match bound {
        Bound::Exactly if (one - other).abs() <= SAME * other.abs() => Verdict::Follows,
        Bound::Exactly => one_sided(false, other, one),
        Bound::About if (one / other - 1.0).abs() <= ABOUT * EXACT => Verdict::Follows,
        Bound::About => Verdict::DoesNotFollow,
        Bound::More => one_sided(one > other, other, one),
        Bound::AtLeast => one_sided(one >= other, other, one),
        Bound::Less => one_sided(one < other, other, one),
        Bound::AtMost => one_sided(one <= other, other, one),
    }
}

/// Whether a value lies between two that are claimed, of which it may round to either.
pub(super) fn between(low: &Number, high: &Number, value: f64) -> Verdict {
    let (from, to) = (low.value - low.quantum / 2.0, high.value + high.quantum / 2.0);
    if (from..=to).contains(&value) {
        Verdict::Follows
    } else {
        let is_near = |end: &Number| {
            let off = (value - end.value).abs();
            off < end.quantum || off <= ROUNDING * end.value.abs() * EXACT
        };
        let near = is_near(low) || is_near(high);
        if near { Verdict::Rounding } else { Verdict::DoesNotFollow }
    }
}

fn one_sided(holds: bool, claimed: f64, value: f64) -> Verdict {
    if holds {
        Verdict::Follows
    } else if (value - claimed).abs() <= ROUNDING * claimed.abs() * EXACT && (value - claimed).abs() > 0.0 {
        Verdict::Rounding
    } else {
        Verdict::DoesNotFollow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{number::Thousands, token};

    fn number(text: &str) -> Number {
        match token::tokens(text, Thousands::Untold).unwrap().remove(0).token {
            token::Token::Number(number) => number,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_claim_is_as_precise_as_it_is_printed() {
        use Verdict::{DoesNotFollow, Follows, Rounding};
        for (claim, value, verdict) in [
            ("4.17", 4.168, Follows),
            ("4.16", 4.168, Rounding),
            ("4", 4.168, Follows),
            ("369 times", 369.9, Rounding),
            ("1400 times", 1393.7, Rounding),
            ("1000", 1393.7, DoesNotFollow),
            ("1000", 1040.0, Rounding),
            ("48K IOPS", 48_202.0, Follows),
            ("59365", 55_287.0, DoesNotFollow),
            ("453 GB", 452.045e9, Rounding),
            ("4x", 3.1, DoesNotFollow),
            ("4x", 4.9, Rounding),
            ("3h 12m 19s", 11_540.1, Rounding),
            ("40 %", 0.404, Follows),
            ("0", 0.0, Follows),
        ] {
            assert_eq!(equal(&number(claim), value), verdict, "{claim} {value}");
        }
    }

    #[test]
    fn bounds_hold_or_are_missed_by_rounding() {
        use Verdict::{DoesNotFollow, Follows, Rounding};
        let of = |bound, value| bounded(bound, &number("60"), value);
        assert_eq!(
            (of(Bound::More, 62.9), of(Bound::More, 59.9), of(Bound::More, 59.0)),
            (Follows, Rounding, DoesNotFollow)
        );
        assert_eq!((of(Bound::More, 60.0), of(Bound::AtLeast, 60.0)), (DoesNotFollow, Follows));
        assert_eq!((of(Bound::About, 65.9), of(Bound::About, 66.1)), (Follows, DoesNotFollow));
        let within = |value| between(&number("40 %"), &number("50 %"), value);
        assert_eq!((within(0.4334), within(0.504), within(0.52)), (Follows, Follows, DoesNotFollow));
    }
}
