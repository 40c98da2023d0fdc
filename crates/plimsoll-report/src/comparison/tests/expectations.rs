//! Which expectations are broken for certain.

use super::*;

#[test]
fn only_a_sure_breach_of_an_expectation_fails() {
    let (first, second) = (alone("/mnt/a", 1.0, 0.02, 1), alone("/mnt/a", 0.8, 0.02, 2));
    let judge = |texts: &[&str]| Comparison::of(&[&first, &second], &expecting(texts)).unwrap();
    let comparison = judge(&["iops<-5%", "p50>+50%", "p99.9>+10%"]);
    assert!(comparison.is_breached());
    let results: Vec<Standing> = comparison.expectations.iter().map(|outcome| outcome.result).collect();
    assert_eq!(results, [Standing::Breached, Standing::Held, Standing::NotJudged]);
    assert!(!judge(&["p50>+50%"]).is_breached());
    // The change is 20 %: a limit of 20 % is not surely broken.
    let unsure = judge(&["iops<-20%"]);
    assert!(!unsure.is_breached() && unsure.expectations[0].result == Standing::Unsure, "{:?}", unsure.expectations);
}

/// The cells of all expectations with this result.
fn places(comparison: &Comparison, standing: Standing) -> Vec<String> {
    let cells = comparison.expectations.iter().flat_map(|outcome| &outcome.cells);
    cells.filter(|judged| judged.result == standing).map(|judged| judged.cell.clone()).collect()
}

#[test]
fn noise_in_many_cells_breaks_no_expectation_and_one_true_change_among_them_does() {
    let wishes = expecting(&["iops<-0.1%", "p50>+0.1%", "p99>+0.1%"]);
    let (mut alone_beyond, mut false_alarms) = (0, 0);
    for seed in 0..10 {
        let mut record = many_equals(seed);
        let comparison = Comparison::of(&[&record], &wishes).unwrap();
        let cells = &comparison.pairs[0].cells;
        let ratios = cells.iter().filter_map(|cell| cell.headline().unwrap().compared).map(|compared| compared.ratio);
        alone_beyond += ratios.filter(|ratio| ratio.high < 0.999).count();
        false_alarms += usize::from(comparison.is_breached());
        // Half as fast, one of forty is found whatever the others do.
        let label = record.cells[47].workload.clone();
        record.cells[47].slots.iter_mut().for_each(|slot| slot.read.as_mut().unwrap().operations /= 2);
        let comparison = Comparison::of(&[&record], &wishes).unwrap();
        assert!(comparison.is_breached() && places(&comparison, Standing::Breached).contains(&label));
    }
    assert!(alone_beyond >= 5, "by their intervals alone, some of 400 equals lie beyond: {alone_beyond}");
    assert!(false_alarms <= 3, "each of 10 is a false alarm with 5 %: {false_alarms}");
}

#[test]
fn what_the_comparison_calls_chance_is_never_a_breach_and_says_why() {
    let comparison = Comparison::of(&[&many_equals(3)], &expecting(&["iops<-0.1%", "iops>+0.1%"])).unwrap();
    assert!(!comparison.is_breached(), "{:?}", comparison.expectations);
    let unsure = comparison.expectations.iter().flat_map(|outcome| outcome.with(Standing::Unsure));
    let by_chance: Vec<&Judged> =
        unsure.filter(|judged| judged.text.ends_with("; may be chance among so many comparisons")).collect();
    assert!(!by_chance.is_empty(), "{:?}", comparison.expectations);
}

#[test]
fn equals_that_were_to_be_faster_are_a_breach() {
    // That the sides do not differ is what breaks it.
    let comparison = Comparison::of(&[&many_equals(3)], &expecting(&["iops<+20%"])).unwrap();
    assert_eq!(places(&comparison, Standing::Breached).len(), 40, "{:?}", comparison.expectations);
}
