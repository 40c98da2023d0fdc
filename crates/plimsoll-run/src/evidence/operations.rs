//! What operations had in common, and who did them: kinds of latency, shares of workers, other users of the disk.

use plimsoll_measure::detect::{fairness::unfairness, modes::two_modes};
use plimsoll_record::{
    numbers::{latency_in_text, percent},
    record::Cell,
    results::{Finding, Severity},
};
use serde_json::{Value, json};

use super::{main_direction, open_loop::had_slots};
use crate::findings::{FOREIGN_IO, finding};

/// Share of foreign bytes in the disk's activity from which a sentence is due.
const FOREIGN_MIN: f64 = 0.02;

pub(super) fn modes(cell: &Cell) -> Option<Finding> {
    // Latencies of operations that waited for a queue slot grow with the backlog, whatever the storage is like.
    if cell.open_loop.as_ref().is_some_and(|open_loop| !had_slots(open_loop)) {
        return None;
    }
    let direction = main_direction(cell)?;
    let modes = two_modes(&direction.histogram)?;
    let text = format!(
        "two kinds of operations: {} take about {}, the others about {}",
        percent(modes.fast_share),
        latency_in_text(modes.fast_ns),
        latency_in_text(modes.slow_ns)
    );
    let evidence =
        [("fast_share", json!(modes.fast_share)), ("fast_ns", json!(modes.fast_ns)), ("slow_ns", json!(modes.slow_ns))];
    Some(finding("two-modes", Severity::Info, text, &evidence))
}

pub(super) fn unfair(cell: &Cell) -> Option<Finding> {
    let found = unfairness(&cell.worker_operations)?;
    let text = format!(
        "unequal workers: the slowest did {} of an average share, the fastest {}",
        percent(found.slowest_share),
        percent(found.fastest_share)
    );
    let evidence: [(&str, Value); 3] = [
        ("slowest_share", json!(found.slowest_share)),
        ("fastest_share", json!(found.fastest_share)),
        ("jain_index", json!(found.jain_index)),
    ];
    Some(finding("unfair-workers", Severity::Info, text, &evidence))
}

/// What the disk did for others. Of a load that was asked for it is no surprise.
pub(super) fn foreign(cell: &Cell, is_asked_for: bool) -> Option<Finding> {
    let (foreign, device) = (cell.foreign.as_ref()?, cell.device.as_ref()?);
    let others = foreign.read_bytes.unwrap_or(0) + foreign.write_bytes.unwrap_or(0);
    let all = device.read_bytes + device.write_bytes;
    let share = others as f64 / all.max(1) as f64;
    (share > FOREIGN_MIN).then(|| {
        let (whom, severity) = match is_asked_for {
            true => ("the background command, or somebody else", Severity::Info),
            false => ("somebody else", Severity::Warning),
        };
        let text = format!("{} of what {} transferred was for {whom}", percent(share), device.name);
        let evidence = [("share", json!(share)), ("foreign_bytes", json!(others)), ("device_bytes", json!(all))];
        finding(FOREIGN_IO, severity, text, &evidence)
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_measure::latency::LatencyHistogram;
    use plimsoll_record::{
        builder::RecordBuilder,
        event::{RunEvent, SlotDirection, SlotResult},
        results::OpenLoopResult,
    };

    use super::*;
    use crate::test_plans::started;

    #[test]
    fn a_backlog_is_no_kind_of_operations() {
        let told = |never_issued| {
            let mut histogram = LatencyHistogram::fine();
            histogram.record_many(100_000, 5_000);
            histogram.record_many(8_000_000, 5_000);
            let write = Some(SlotDirection { operations: 10_000, bytes: 0, histogram });
            let open_loop = OpenLoopResult { intended: 10_000, never_issued, ..OpenLoopResult::default() };
            let mut builder = RecordBuilder::new(started("rw = 'randwrite'\nrate = 1000"));
            let elapsed_ns = 10_000_000_000;
            let slot = SlotResult { elapsed_ns, write, open_loop: Some(open_loop), ..SlotResult::default() };
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
            modes(&builder.finish().cells.remove(0)).is_some()
        };
        assert!(told(0) && told(99), "the rate was kept");
        assert!(!told(100));
    }
}
