//! Burst allowances: seen, predicted, and not excluded; and claims that did not last.

use plimsoll_measure::{detect::hidden_burst::HiddenBurst, verdict::Verdict};
use plimsoll_record::{
    numbers::{clock, count, iops},
    record::Cell,
    results::{Finding, Severity},
};
use serde_json::json;

use crate::findings::finding;

pub(super) fn burst(cell: &Cell) -> Option<Finding> {
    let burst = cell.burst?;
    let evidence = [
        ("burst_iops", json!(burst.burst_iops)),
        ("sustained_iops", json!(burst.sustained_iops)),
        ("cliff_after_ns", json!(burst.cliff_after_ns)),
        ("cliff_before_ns", json!(burst.cliff_before_ns)),
        ("bucket_operations", json!(burst.bucket_operations)),
    ];
    let (from, to) = (iops(burst.burst_iops), iops(burst.sustained_iops));
    let bucket = burst.bucket_operations.map_or_else(String::new, |operations| {
        format!("; the allowance would hold {} operations above that", count(operations as u64))
    });
    let text = if burst.predicted {
        let cliff = burst.cliff_after_ns.map_or_else(String::new, |at| format!(", {} into the run", clock(at)));
        format!("{from} IOPS are a burst: by the known limit {to} are sustained once it is used up{cliff}")
    } else {
        let cliff = burst.cliff_before_ns.map_or_else(String::new, |at| format!(" {} into the run", clock(at)));
        format!(
            "the rate fell from {from} to {to} IOPS{cliff} and stayed there: a burst allowance was used up, or a neighbour \
             came and stayed{bucket}"
        )
    };
    Some(finding("burst", Severity::Warning, text, &evidence))
}

pub(super) fn moved(cell: &Cell) -> Option<Finding> {
    let moved = cell.moved?;
    let text = format!(
        "moved: {} IOPS until {} into the run, {} at {}",
        iops(moved.was_iops),
        clock(moved.was_in.to_ns),
        iops(moved.is_iops),
        clock(moved.is_in.from_ns)
    );
    let evidence = [("was_iops", json!(moved.was_iops)), ("is_iops", json!(moved.is_iops))];
    Some(finding("moved", Severity::Warning, text, &evidence))
}

/// What a steady rate does not exclude.
pub(super) fn hidden_burst(cell: &Cell, hidden: Option<HiddenBurst>) -> Option<Finding> {
    let hidden = hidden.filter(|_| cell.verdict == Some(Verdict::Steady) && cell.limit.is_none())?;
    let text = format!(
        "not excluded: a burst allowance larger than this run used. If {} IOPS were sustained, it would hold more than {} \
         operations",
        iops(hidden.supposed_rate),
        count(hidden.operations as u64)
    );
    let evidence = [
        ("span_ns", json!(hidden.span_ns)),
        ("supposed_iops", json!(hidden.supposed_rate)),
        ("operations", json!(hidden.operations)),
    ];
    Some(finding("burst-not-excluded", Severity::Info, text, &evidence))
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{builder::RecordBuilder, judgement::Burst};

    use super::*;
    use crate::test_plans::started;

    #[test]
    fn a_fall_is_told_with_all_that_it_may_have_been() {
        let mut cell = RecordBuilder::new(started("rw = 'read'")).finish().cells.remove(0);
        cell.burst = Some(Burst {
            burst_iops: 3000.0,
            sustained_iops: 1500.0,
            cliff_after_ns: Some(40_000_000_000),
            cliff_before_ns: Some(40_000_000_000),
            bucket_operations: Some(60_000.0),
            predicted: false,
        });
        let said = burst(&cell).unwrap().text;
        let causes = "a burst allowance was used up, or a neighbour came and stayed";
        assert!(said.contains(&format!("{causes}; the allowance would hold 60,000 operations above that")), "{said}");
    }
}
