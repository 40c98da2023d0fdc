//! What was measured in one piece, or in too few visits to be values.

use plimsoll_record::{record::Window, results::Interval};

use super::*;

#[test]
fn too_few_visits_are_not_called_one_piece() {
    let reason = |visits: usize, apart_ns: u64| {
        let (first, mut second) = (alone("/mnt/a", 1.0, 0.02, 1), alone("/mnt/a", 1.2, 0.02, 2));
        for (at, slot) in second.cells[0].slots.iter_mut().enumerate() {
            slot.from_ns = at as u64 * (slot.elapsed_ns + apart_ns);
        }
        second.cells[0].slots.truncate(visits);
        let comparison = compare(&[&first, &second]);
        comparison.pairs[0].cells[0].metrics.iter().find(|pair| pair.metric == Metric::P50).unwrap().reason.clone()
    };
    assert_eq!(reason(2, 10_000_000_000).as_deref(), Some("fewer than three visits, without an interval"));
    assert_eq!(reason(2, 0).as_deref(), Some("measured in one piece, without an interval"));
    assert_eq!(reason(1, 0).as_deref(), Some("measured in one piece, without an interval"));
    assert_eq!(reason(3, 10_000_000_000), None);
}

#[test]
fn a_percentile_that_seconds_do_not_tell_is_not_said_to_lack_an_interval() {
    let side = |seed: u64, has_p50: bool, p99_ns: Option<u64>| {
        let mut record = alone("/mnt/a", 1.0, 0.02, seed);
        let cell = &mut record.cells[0];
        cell.slots.truncate(1);
        cell.window = Some(Window { from_ns: 0, to_ns: 30_000_000_000 });
        let second = |index: u64| Interval {
            t_ns: index * 1_000_000_000,
            length_ns: 1_000_000_000,
            measured: true,
            p50_ns: has_p50.then_some(600_000 + index % 7 * 10_000),
            p99_ns,
            ..Interval::default()
        };
        cell.series = (0..30).map(second).collect();
        record
    };
    let reasons = |has_p50: bool, p99_ns: Option<u64>| {
        let comparison = compare(&[&side(1, true, Some(600_000)), &side(2, has_p50, p99_ns)]);
        let metrics = comparison.pairs[0].cells[0].metrics.clone();
        let reason = |metric: Metric| metrics.iter().find(|pair| pair.metric == metric).unwrap().reason.clone();
        [Metric::P50, Metric::P99, Metric::P99_9].map(reason)
    };
    let untold = Some("measured in one piece, whose seconds do not tell it".to_owned());
    let too_few = Some("too few operations in single seconds for a ratio".to_owned());
    assert_eq!(reasons(true, Some(700_000)), [None, None, untold.clone()]);
    assert_eq!(reasons(true, None), [None, too_few, untold.clone()]);
    let of_pods = reasons(false, None);
    assert_eq!(of_pods, [untold.clone(), untold.clone(), untold], "pods have as many operations as others");
}
