//! What single seconds did: their range, dips that come back, stalls.

use plimsoll_measure::{
    detect::{dips::periodic_dips, stalls::stalls, token_bucket::Stretch},
    stability::Grade,
    verdict::Verdict,
};
use plimsoll_record::{
    numbers::{iops, percent},
    record::Cell,
    results::{Finding, Interval, Severity},
};
use plimsoll_workload::plan::{BlockPlan, Pacing};
use serde_json::json;

use crate::findings::finding;

/// Shorter ends of slots are no seconds.
pub(super) const HALF_SECOND_NS: u64 = 500_000_000;

pub(super) fn uneven(cell: &Cell) -> Option<Finding> {
    let stability = cell.stability?;
    let evidence = [
        ("iops_min", json!(stability.iops_min)),
        ("iops_median", json!(stability.iops_median)),
        ("iops_max", json!(stability.iops_max)),
        ("spread", json!(stability.spread)),
    ];
    let range = format!("{} to {} IOPS", iops(stability.iops_min), iops(stability.iops_max));
    if stability.wide || stability.grade == Some(Grade::F) {
        let median = iops(stability.iops_median);
        let text = format!("{range} in single seconds, median {median}: no single number describes this");
        return Some(finding("wide-range", Severity::Warning, text, &evidence));
    }
    if cell.verdict == Some(Verdict::Drifting) {
        return Some(finding("drift", Severity::Warning, format!("the rate was still moving: {range}"), &evidence));
    }
    (stability.grade == Some(Grade::D)).then(|| {
        finding(
            "uneven",
            Severity::Warning,
            format!("{range} in single seconds: the mean is not what one gets"),
            &evidence,
        )
    })
}

/// The rates of measured seconds of the judged window, a stretch for each slot.
fn stretches(cell: &Cell) -> Vec<(u64, Vec<f64>)> {
    let in_window = |second: &&Interval| {
        second.measured
            && second.length_ns >= HALF_SECOND_NS
            && cell.window.is_none_or(|window| second.t_ns + second.length_ns / 2 > window.from_ns)
    };
    let counted = |second: &&Interval| cell.slots.iter().any(|slot| slot.counted && slot.round == second.round);
    let mut stretches: Vec<(u32, u64, Vec<f64>)> = Vec::new();
    for second in cell.series.iter().filter(in_window).filter(counted) {
        let Some(rate) = second.iops() else { continue };
        match stretches.last_mut() {
            Some((round, _, rates)) if *round == second.round => rates.push(rate),
            _ => stretches.push((second.round, second.t_ns, vec![rate])),
        }
    }
    stretches.into_iter().map(|(_, from_ns, rates)| (from_ns, rates)).collect()
}

pub(super) fn dips(cell: &Cell) -> Option<Finding> {
    cell.period_ns?;
    let rates: Vec<f64> = stretches(cell).into_iter().flat_map(|(_, rates)| rates).collect();
    let dips = periodic_dips(&rates)?;
    let text = format!(
        "dips every {} s, down to {} from {} IOPS",
        dips.period_seconds,
        iops(dips.lowest_rate),
        iops(dips.usual_rate)
    );
    let evidence = [
        ("period_s", json!(dips.period_seconds)),
        ("iops_usual", json!(dips.usual_rate)),
        ("iops_lowest", json!(dips.lowest_rate)),
        ("time_share", json!(dips.share)),
    ];
    Some(finding("periodic-dips", Severity::Warning, text, &evidence))
}

/// Seconds far below the usual. The sentence takes the place of the workers' own about seconds without any completion:
/// it speaks of more.
pub(super) fn stalled(cell: &Cell, plan: &BlockPlan) -> Option<Finding> {
    // Where operations are due now and then only, an empty second is none in which the storage stood still.
    if plan.pacing != Pacing::Closed || plan.think_time_ns > 0 {
        return None;
    }
    // Nor does it where operations fail. The workers know in which seconds none ended, neither well nor badly.
    if cell.errors > 0 {
        return None;
    }
    let stretches = stretches(cell);
    let borrowed: Vec<Stretch<'_>> =
        stretches.iter().map(|(from_ns, rates)| Stretch { from_ns: *from_ns, rates }).collect();
    let stalls = stalls(&borrowed, 1.0)?;
    if stalls.count == 0 {
        return None;
    }
    let times = if stalls.count == 1 { "a stall".to_owned() } else { format!("{} stalls", stalls.count) };
    let text = format!(
        "{times} of up to {:.0} s, {} of the time: less than a tenth of the usual completed",
        stalls.longest_seconds,
        percent(stalls.share)
    );
    let evidence = [
        ("stalls", json!(stalls.count)),
        ("longest_s", json!(stalls.longest_seconds)),
        ("time_share", json!(stalls.share)),
    ];
    Some(finding("stalled", Severity::Warning, text, &evidence))
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{builder::RecordBuilder, event::RunEvent};

    use super::*;
    use crate::test_plans::started;

    #[test]
    fn seconds_in_which_operations_failed_are_no_stall() {
        let mut builder = RecordBuilder::new(started("rw = 'randread'"));
        builder.apply(&RunEvent::SlotFinished(Box::default()));
        let mut cell = builder.finish().cells.remove(0);
        cell.slots[0].counted = true;
        let second = |read_operations| Interval {
            length_ns: 1_000_000_000,
            measured: true,
            read_operations,
            ..Interval::default()
        };
        cell.series = [900, 900, 0, 900].map(second).into();
        let said = |cell: &Cell| stalled(cell, cell.blocks().unwrap()).map(|said| said.text);
        assert!(said(&cell).unwrap().starts_with("a stall of up to 1 s, 25 %"), "{:?}", said(&cell));
        cell.errors = 9;
        assert_eq!(said(&cell), None);
        cell.series = [0, 0].map(second).into();
        assert_eq!(said(&cell), None);
    }
}
