//! What percentiles hide.

use plimsoll_record::{
    numbers::{count, percent},
    record::Cell,
    results::{Finding, Severity},
};
use serde_json::json;

use super::client::machine_stood_still;
use crate::findings::finding;

/// Share of requests from which a sentence is due.
const EXPOSED_MIN: f64 = 0.005;
/// Share of operations from which a percentile that everybody reads tells as much.
const SEEN_MIN: f64 = 0.01;
/// How many times as many requests as operations there have to be.
const HIDDEN_FACTOR: f64 = 10.0;

/// What of a share is most of it.
const MOST: f64 = 0.5;

/// Stalls that few operations met, because a closed loop sends nothing meanwhile, and that many requests would have met
/// that arrive on their own. The longest wait that fits is told.
pub(super) fn exposed(cell: &Cell) -> Option<Finding> {
    let histograms: Vec<_> =
        [&cell.read, &cell.write, &cell.sync].into_iter().flatten().map(|result| &result.histogram).collect();
    let all: u64 = histograms.iter().map(|histogram| histogram.count()).sum();
    let hidden = cell.exposed.iter().rev().find_map(|exposed| {
        let slow: u64 = histograms.iter().map(|histogram| histogram.count_above(exposed.limit_ns)).sum();
        let seen = slow as f64 / all.max(1) as f64;
        let is_hidden = exposed.share >= EXPOSED_MIN && seen < SEEN_MIN && HIDDEN_FACTOR * seen <= exposed.share;
        is_hidden.then_some((exposed, slow))
    });
    let (exposed, slow) = hidden?;
    // A single wait of the machine's own that is most of what they would have waited for.
    let elapsed_ns = [&cell.read, &cell.write].into_iter().flatten().map(|result| result.elapsed_ns).max().unwrap_or(0);
    let own = machine_stood_still(cell, exposed.limit_ns as f64 + MOST * exposed.share * elapsed_ns as f64);
    let text = format!(
        "stalls that percentiles hide: {} of requests that come at any moment would wait longer than {}, although only \
         {} of {} operations did{}",
        percent(exposed.share),
        limit(exposed.limit_ns),
        count(slow),
        count(all),
        own.map_or_else(String::new, |own| format!("; {own}"))
    );
    let evidence = [
        ("limit_ns", json!(exposed.limit_ns)),
        ("request_share", json!(exposed.share)),
        ("operations", json!(slow)),
        ("operations_all", json!(all)),
    ];
    Some(finding("exposed", Severity::Info, text, &evidence))
}

/// A limit, which is a whole number of its unit.
fn limit(ns: u64) -> String {
    if ns < 1_000_000_000 { format!("{} ms", ns / 1_000_000) } else { format!("{} s", ns / 1_000_000_000) }
}

#[cfg(test)]
mod tests {
    use plimsoll_measure::latency::LatencyHistogram;
    use plimsoll_record::{
        builder::RecordBuilder,
        client::ClientActivity,
        event::{RunEvent, SlotDirection, SlotResult},
        results::LatencySummary,
    };

    use super::*;
    use crate::test_plans::started;

    /// A cell of which operations took a millisecond each, and some took longer.
    fn cell(operations: u64, slow: u64, slow_ns: u64) -> Cell {
        let mut histogram = LatencyHistogram::fine();
        histogram.record_many(1_000_000, operations);
        histogram.record_many(slow_ns, slow);
        let read = Some(SlotDirection { operations, bytes: 0, histogram });
        let mut builder = RecordBuilder::new(started("rw = 'randread'"));
        let slot = SlotResult { elapsed_ns: 60_000_000_000, read, ..SlotResult::default() };
        builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
        builder.finish().cells.remove(0)
    }

    #[test]
    fn a_stall_that_no_percentile_shows_is_told() {
        let found = exposed(&cell(59_000, 2, 500_000_000)).unwrap();
        assert_eq!(
            found.text,
            "stalls that percentiles hide: 1.3 % of requests that come at any moment would wait longer than 100 ms, \
             although only 2 of 59,002 operations did"
        );
        assert_eq!(found.evidence["limit_ns"], 100_000_000);
    }

    #[test]
    fn a_stall_of_this_machine_is_none_of_the_storage() {
        let mut cell = cell(10_000, 1, 3_000_000_000);
        cell.read.as_mut().unwrap().elapsed_ns = 13_000_000_000;
        let mut said = |ns| {
            let hiccup_ns = LatencySummary { max: Some(ns), ..LatencySummary::default() };
            cell.client = Some(ClientActivity { hiccup_ns, ..ClientActivity::default() });
            exposed(&cell).unwrap().text
        };
        assert!(said(3_000_000_000).ends_with("stood still for 3.00 s: not the storage"), "{}", said(3_000_000_000));
        assert!(said(1_100_000_000).ends_with("operations did"), "{}", said(1_100_000_000));
    }

    #[test]
    fn nothing_is_told_of_a_healthy_cell_or_of_what_percentiles_show() {
        // A hiccup of 20 ms in a minute, operations that are slow as a rule, and a tail that p99 shows.
        for (operations, slow, slow_ns) in
            [(59_000, 1, 20_000_000), (1000, 1000, 20_000_000), (59_000, 900, 20_000_000)]
        {
            assert_eq!(exposed(&cell(operations, slow, slow_ns)), None);
        }
    }
}
