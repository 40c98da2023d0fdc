//! What could not be judged never passes for what holds.

use super::*;

/// Records as fast as each other: one with both workloads, and one that lacks the first.
fn one_sided() -> [Record; 2] {
    let (first, mut second) = (alone("/mnt/a", 1.0, 0.02, 1), alone("/mnt/a", 1.0, 0.02, 2));
    second.cells.remove(0);
    [first, second]
}

#[test]
fn a_workload_that_only_one_side_measured_is_listed_as_not_judged() {
    let [first, second] = one_sided();
    let comparison = Comparison::of(&[&first, &second], &expecting(&["iops<-30%"])).unwrap();
    assert!(!comparison.is_breached());
    assert_eq!(comparison.expectations[0].result, Standing::PartlyHeld);
    let shown = text::text(&comparison, 100, PLAIN);
    let last: Vec<&str> = shown.lines().rev().take(2).map(str::trim).collect();
    assert_eq!(
        last,
        ["not judged, only A measured it: latency-read", "partly held iops<-30%: held in 1 of 2, not judged in 1 of 2"]
    );
    let json = serde_json::to_value(&comparison.expectations).unwrap();
    assert_eq!((&json[0]["result"], &json[0]["cells"][1]["result"]), (&"partly-held".into(), &"not-judged".into()));
    let missing = Comparison::of(&[&second, &first], &expecting(&["iops<-30%"])).unwrap();
    assert!(text::markdown(&missing).contains("not judged, only B measured it: latency-read"));
}

#[test]
fn a_workload_that_neither_side_ran_is_listed_as_not_judged() {
    let [mut first, mut second] = [1, 2].map(|seed| alone("/mnt/a", 1.0, 0.02, seed));
    for record in [&mut first, &mut second] {
        (record.cells[0].read, record.cells[0].verdict) = (None, None);
    }
    let comparison = Comparison::of(&[&first, &second], &expecting(&["iops<-30%"])).unwrap();
    assert_eq!(comparison.expectations[0].result, Standing::PartlyHeld, "{:?}", comparison.expectations);
    assert!(text::text(&comparison, 100, PLAIN).contains("held in 1 of 2, not judged in 1 of 2"));
}

#[test]
fn a_sure_breach_counts_whatever_else_was_not_judged() {
    let [first, mut second] = [alone("/mnt/a", 1.0, 0.02, 1), alone("/mnt/a", 0.5, 0.02, 2)];
    second.cells.remove(0);
    let comparison = Comparison::of(&[&first, &second], &expecting(&["iops<-30%"])).unwrap();
    assert!(comparison.is_breached());
    assert!(
        text::text(&comparison, 100, PLAIN).contains("FAILED      iops<-30%: breached in 1 of 2, not judged in 1 of 2")
    );
}

#[test]
fn junit_skips_workloads_that_only_one_side_measured() {
    let [first, second] = one_sided();
    for texts in [&["iops<-30%"][..], &[]] {
        let xml = junit::junit(&Comparison::of(&[&first, &second], &expecting(texts)).unwrap());
        assert!(xml.contains(r#"tests="2" failures="0" errors="0" skipped="1""#), "{xml}");
        assert!(xml.contains(r#"classname="plimsoll.latency-read" time="0">"#), "{xml}");
        assert!(xml.contains(r#"<skipped message="only A measured it"/>"#), "{xml}");
    }
}
