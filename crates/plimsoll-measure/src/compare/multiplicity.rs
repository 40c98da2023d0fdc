//! Many comparisons at once: of a hundred between equals, five look different by chance.

/// Which of these probabilities stay significant when at most the share `rate` of what is called different may be so
/// by chance (Benjamini and Hochberg). For the colours of a matrix.
pub fn benjamini_hochberg(p_values: &[f64], rate: f64) -> Vec<bool> {
    let order = ascending(p_values);
    let count = p_values.len() as f64;
    let passes = |(place, index): (usize, &usize)| p_values[*index] <= rate * (place + 1) as f64 / count;
    let accepted = order.iter().enumerate().rposition(passes).map_or(0, |last| last + 1);
    mark(&order[..accepted], p_values.len())
}

/// Which of these probabilities stay significant when the probability of any false one is at most `level` (Holm). For
/// headlines.
pub fn holm(p_values: &[f64], level: f64) -> Vec<bool> {
    let order = ascending(p_values);
    let left = |place: usize| (p_values.len() - place) as f64;
    let accepted = order.iter().enumerate().take_while(|(place, index)| p_values[**index] <= level / left(*place));
    mark(&order[..accepted.count()], p_values.len())
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|left, right| p_values[*left].total_cmp(&p_values[*right]));
    order
}

fn mark(accepted: &[usize], count: usize) -> Vec<bool> {
    let mut marks = vec![false; count];
    for index in accepted {
        marks[*index] = true;
    }
    marks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Random;

    #[test]
    fn both_rules_agree_with_a_worked_example() {
        let p_values = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205];
        let marked = |marks: Vec<bool>| marks.iter().filter(|mark| **mark).count();
        assert_eq!(marked(benjamini_hochberg(&p_values, 0.05)), 2);
        assert_eq!(marked(holm(&p_values, 0.05)), 1);
    }

    #[test]
    fn a_hundred_equal_cells_rarely_have_any_false_one() {
        let mut random = Random::new(5);
        let mut any = [0; 2];
        for _ in 0..1000 {
            let p_values: Vec<f64> = (0..100).map(|_| random.unit()).collect();
            any[0] += usize::from(holm(&p_values, 0.05).contains(&true));
            any[1] += usize::from(benjamini_hochberg(&p_values, 0.05).contains(&true));
        }
        assert!(any.iter().all(|count| (25..=75).contains(count)), "{any:?}");
    }

    proptest! {
        #[test]
        fn the_stricter_rule_accepts_no_more(p_values in proptest::collection::vec(0.0..0.2_f64, 0..50)) {
            let (strict, lenient) = (holm(&p_values, 0.05), benjamini_hochberg(&p_values, 0.05));
            prop_assert!(strict.iter().zip(&lenient).all(|(strict, lenient)| !strict || *lenient));
            prop_assert!(lenient.iter().zip(&p_values).all(|(accepted, p)| !accepted || *p <= 0.05));
        }

        #[test]
        fn the_order_of_comparisons_changes_nothing(p_values in proptest::collection::vec(0.0..0.2_f64, 0..50)) {
            let reversed: Vec<f64> = p_values.iter().rev().copied().collect();
            for rule in [holm, benjamini_hochberg] {
                let other: Vec<bool> = rule(&reversed, 0.05).into_iter().rev().collect();
                prop_assert_eq!(rule(&p_values, 0.05), other);
            }
        }
    }
}
