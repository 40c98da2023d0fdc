//! Operations in flight: what a limit takes at the latency that was measured (Little's law).

use plimsoll_record::numbers;
use plimsoll_workload::limit::Part;
use serde_json::json;

use super::{Cause, Scene};
use crate::explanation::{
    show,
    standing::{Standing, Unit},
};

pub(super) fn causes(scene: &Scene<'_>) -> Vec<Cause> {
    under_the_limit(scene).or_else(|| latency_alone(scene)).into_iter().collect()
}

/// A load that stays below the limit because it has too little in flight.
fn under_the_limit(scene: &Scene<'_>) -> Option<Cause> {
    let judged = scene.judged.iter().find(|judged| judged.standing == Standing::Under)?;
    let (latency_s, in_flight) = (scene.load.latency_s?, scene.load.in_flight?);
    let limit_iops = match judged.unit {
        Unit::Iops | Unit::FilesPerSecond => judged.lasting,
        Unit::BytesPerSecond => judged.lasting / scene.load.operation_bytes?,
    };
    let needed = limit_iops * latency_s;
    if needed <= in_flight * 1.05 {
        return None;
    }
    let evidence = [
        ("in_flight", json!(in_flight)),
        ("latency_seconds", json!(latency_s)),
        ("needed", json!(needed)),
        ("limit_iops", json!(limit_iops)),
    ];
    let text = format!(
        "too little in flight: {in_flight} at {} each are {} at most, and {} take {}",
        numbers::latency_in_text(latency_s * 1e9),
        show::iops(in_flight / latency_s),
        show::iops(limit_iops),
        numbers::count(needed.ceil() as u64),
    );
    let advice =
        format!("keep at least {} operations in flight to see the limit", numbers::count(needed.ceil() as u64));
    Some(Cause::new("queue-depth", 0.8, text, &evidence).advising(advice))
}

/// A latency of single operations, of which no limit speaks: what it takes to reach the limit of operations.
fn latency_alone(scene: &Scene<'_>) -> Option<Cause> {
    if !scene.judged.is_empty() || scene.load.in_flight.is_some_and(|depth| depth > 1.0) {
        return None;
    }
    let latency_s = scene.load.latency_s.filter(|latency| *latency > 0.0)?;
    let expectation = scene.expectation?;
    let limit = expectation.for_load(scene.load.load()).limit.operations?;
    let needed = (limit.sustained * latency_s).ceil();
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
