//! Operations in flight: what a limit takes at the latency that was measured (Little's law).

use plimsoll_record::{numbers, told::Measured};
use plimsoll_workload::limit::Part;
use serde_json::json;

use super::{Cause, Scene};
use crate::explanation::{
    did::Syncs,
    show,
    standing::{Judged, Standing, Unit},
};

pub(super) fn causes(scene: &Scene<'_>) -> Vec<Cause> {
    if scene.load.is_paced || scene.is_shared {
        return Vec::new();
    }
    let Some(judged) = scene.telling().find(is_below) else { return latency_alone(scene).into_iter().collect() };
    let syncs = scene.load.syncs.filter(Syncs::matter);
    syncs.iter().map(syncing).chain(under_the_limit(scene, judged, syncs)).collect()
}

/// More operations in flight than these are kept waiting rather than missing.
const FEW: f64 = 4.0;
/// Longer than this takes no storage that is not held back, magnetic disks included.
const SERVICE_S_MAX: f64 = 0.020;

/// Whether a rate is below a limit that it could have reached.
fn is_below(judged: &&Judged) -> bool {
    match judged.standing {
        Standing::Under => true,
        Standing::BurstOnly => !judged.is_mean_from_full() && judged.burst.is_some(),
        _ => false,
    }
}

/// A load that stays below the limit because it has too little in flight. In a closed loop each rate is what is in
/// flight over how long it takes, so that this says something only where operations do not wait for each other. Syncs
/// that matter are a reason of their own: beside them it is about what would be without them.
fn under_the_limit(scene: &Scene<'_>, judged: &Judged, syncs: Option<Syncs>) -> Option<Cause> {
    let (latency_s, in_flight) = (scene.load.latency_s?, scene.load.in_flight?);
    let latency_s = syncs.map_or(latency_s, |syncs| syncs.without_s);
    let limit = if judged.standing == Standing::Under { judged.lasting } else { judged.burst? };
    let limit_iops = match judged.unit {
        Unit::Iops | Unit::FilesPerSecond => limit,
        Unit::BytesPerSecond => limit / scene.load.operation_bytes?,
    };
    let needed = limit_iops * latency_s;
    if needed <= in_flight * 1.1 {
        return None;
    }
    let evidence = [
        ("in_flight", json!(in_flight)),
        ("latency_seconds", json!(latency_s)),
        ("needed", json!(needed)),
        ("limit_iops", json!(limit_iops)),
    ];
    let latency = numbers::latency_in_text(latency_s * 1e9);
    if in_flight > FEW || latency_s > SERVICE_S_MAX {
        if judged.standing != Standing::Under || syncs.is_some() {
            return None;
        }
        let text = format!(
            "not for want of operations in flight: {in_flight} of them took {latency} each, so that they waited for \
             something that lets {} through",
            show::iops(in_flight / latency_s),
        );
        return Some(Cause::new("saturated", 0.5, text, &evidence));
    }
    let without = if syncs.is_some() { " without syncs too" } else { "" };
    let text = format!(
        "too little in flight{without}: {in_flight} at {latency} each are {} at most, and {} take {} at that latency",
        show::iops(in_flight / latency_s),
        show::iops(limit_iops),
        numbers::count(needed.ceil() as u64),
    );
    let advice =
        format!("keep at least {} operations in flight to see the limit", numbers::count(needed.ceil() as u64));
    Some(Cause::new("queue-depth", 0.8, text, &evidence).advising(advice))
}

/// A load that syncs what it wrote before it goes on.
fn syncing(syncs: &Syncs) -> Cause {
    let Syncs { each_s, every, share, .. } = *syncs;
    let text = format!(
        "{} a sync of {}: {} of the time",
        syncs.after(),
        numbers::latency_in_text(each_s * 1e9),
        numbers::percent(share)
    );
    let evidence = [("sync_seconds", json!(each_s)), ("writes_before_each", json!(every)), ("share", json!(share))];
    Cause::new("syncs", 0.9, text, &evidence).advising("leave the syncs out to see the limit")
}

/// A latency of single operations, of which no limit speaks: what it takes to reach the limit of operations.
fn latency_alone(scene: &Scene<'_>) -> Option<Cause> {
    // Figures that somebody wrote down as a latency are those of single operations.
    let is_figure = matches!(scene.cell.told.as_ref().map(|told| &told.measured), Some(Measured::Figure(_)));
    if !scene.judged.is_empty() || !(is_figure || scene.load.in_flight.is_some_and(|depth| depth <= 1.0)) {
        return None;
    }
    let latency_s = scene.load.latency_s.filter(|latency| *latency > 0.0)?;
    let expectation = scene.expectation?;
    let limit = expectation.for_load(scene.load.load()).limit.operations?;
    let needed = (limit.sustained * latency_s).ceil();
    if needed <= 1.0 {
        return None;
    }
    let part = expectation.part(Part::Disk).or(expectation.parts.first())?;
    let evidence =
        [("latency_seconds", json!(latency_s)), ("needed", json!(needed)), ("limit_iops", json!(limit.sustained))];
    let text = format!(
        "one at a time at {} are {}; the {} of {} take {} in flight",
        numbers::latency_in_text(latency_s * 1e9),
        show::iops(1.0 / latency_s),
        show::iops(limit.sustained),
        part.name,
        numbers::count(needed as u64),
    );
    Some(Cause::new("queue-depth", 0.4, text, &evidence))
}
