//! Which expectations are broken for certain.

use plimsoll_record::results::LatencySummary;

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

/// Two runs, of which some visits to the reads of the second completed nothing.
fn stopping(visits: usize) -> [Record; 2] {
    let (first, mut second) = (alone("/mnt/a", 1.0, 0.02, 1), alone("/mnt/a", 1.0, 0.02, 2));
    let cell = &mut second.cells[0];
    for slot in cell.slots.iter_mut().take(visits) {
        let read = slot.read.as_mut().unwrap();
        (read.operations, read.bytes, read.latency_ns) = (0, 0, LatencySummary::default());
    }
    if visits == cell.slots.len() {
        let read = cell.read.as_mut().unwrap();
        (read.operations, read.bytes, read.iops, read.bytes_per_second) = (0, 0, 0.0, 0.0);
        read.latency_ns = LatencySummary::default();
    }
    [first, second]
}

#[test]
fn a_rate_of_which_nothing_is_left_has_fallen_for_certain() {
    let [first, second] = stopping(12);
    let wishes = expecting(&["iops<-5%", "bandwidth<-5%", "iops>+5%", "p99>+10%"]);
    let comparison = Comparison::of(&[&first, &second], &wishes).unwrap();
    let reads: Vec<Standing> = comparison.expectations.iter().map(|outcome| outcome.cells[0].result).collect();
    assert_eq!(reads, [Standing::Breached, Standing::Breached, Standing::NotJudged, Standing::NotJudged]);
    assert!(comparison.is_breached() && comparison.warning().is_none());
    let shown = text::text(&comparison, 100, PLAIN);
    let words: Vec<String> = shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in [
        "latency-read B completed nothing",
        "IOPS 4,968 0 - - stopped",
        "latency-read reads: nothing completed in any visit",
    ] {
        assert!(words.iter().any(|shown| shown == line), "{line}:\n{shown}");
    }
    assert!(junit::junit(&comparison).contains(r#"<failure message="nothing completed in any visit""#));
    // The other way round there is no ratio either, and nothing fell.
    let comparison = Comparison::of(&[&second, &first], &wishes).unwrap();
    assert!(!comparison.is_breached(), "{:?}", comparison.expectations);
}

#[test]
fn what_could_not_be_judged_is_warned_of() {
    let [first, second] = stopping(3);
    let comparison = Comparison::of(&[&first, &second], &expecting(&["iops<-5%", "p99.9>+10%"])).unwrap();
    assert_eq!(comparison.expectations[0].result, Standing::PartlyHeld);
    assert_eq!(
        comparison.warning().as_deref(),
        Some("not judged everywhere: iops<-5%, p99.9>+10%; that nothing failed does not mean that all holds")
    );
    let second = alone("/mnt/a", 1.0, 0.02, 2);
    let comparison = Comparison::of(&[&first, &second], &expecting(&["iops<-5%"])).unwrap();
    assert_eq!(comparison.warning(), None);
}

#[test]
fn a_visit_too_short_for_ten_operations_proves_nothing() {
    let [mut first, mut second] = stopping(12);
    for record in [&mut first, &mut second] {
        record.cells[0].slots.truncate(1);
    }
    first.cells[0].read.as_mut().unwrap().iops = 3.0;
    let comparison = Comparison::of(&[&first, &second], &expecting(&["iops<-5%"])).unwrap();
    assert_eq!(comparison.expectations[0].cells[0].result, Standing::NotJudged);
}
