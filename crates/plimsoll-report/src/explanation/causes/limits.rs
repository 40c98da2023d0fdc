//! The part of the way that a rate is at, and what would be above it.

use plimsoll_catalog::alternatives;
use plimsoll_record::numbers;
use plimsoll_workload::limit::Part;
use serde_json::json;

use super::{Cause, Scene};
use crate::explanation::{
    show,
    standing::{Judged, Standing, Unit},
};

/// How little it explains that a rate is below a limit.
pub(super) const BELOW: f64 = 0.3;
/// What that is called.
pub(super) const BELOW_CODE: &str = "below-limit";

pub(super) fn causes(scene: &Scene<'_>) -> Vec<Cause> {
    scene.telling().filter_map(|judged| of(scene, judged)).collect()
}

fn of(scene: &Scene<'_>, judged: &Judged) -> Option<Cause> {
    let rate = show::rate(judged.unit, judged.measured);
    let limit = show::rate(judged.unit, judged.lasting);
    let name = scene.name(judged.part);
    let evidence = [
        ("measured", json!(judged.measured)),
        ("limit", json!(judged.lasting)),
        ("part", json!(name)),
        ("share", json!(judged.measured / judged.lasting)),
    ];
    if judged.unit == Unit::FilesPerSecond && judged.standing == Standing::Within {
        // What a file costs says more.
        return None;
    }
    match (judged.standing, judged.part) {
        (Standing::Within, Part::Vm) => {
            let alone = of_disk_alone(scene, judged.unit);
            let alone = alone.map_or_else(String::new, |alone| {
                format!("; {} alone would do {}", scene.name(Part::Disk), show::rate(judged.unit, alone))
            });
            let text = format!("{rate} are what {name} lets through to remote disks ({limit}){alone}");
            Some(Cause::new("vm-limit", 1.0, text, &evidence).advising(larger_machine(scene, judged)))
        }
        (Standing::Within, _) => {
            let text =
                format!("{rate} are what {name} delivers ({limit}, {})", show::signed(judged.measured, judged.lasting));
            Some(Cause::new("provisioned-size", 0.9, text, &evidence).advising(larger_disk(scene, judged)))
        }
        (Standing::Under, _) => {
            let share = numbers::percent(judged.measured / judged.lasting);
            let text = format!("{rate} are {share} of the {limit} of {name}: something else binds");
            Some(Cause::new(BELOW_CODE, BELOW, text, &evidence))
        }
        (Standing::Over, _) => {
            let over = show::signed(judged.measured, judged.expected());
            let expected = show::rate(judged.unit, judged.expected());
            let text = format!(
                "{rate} are {over} beside the {expected} of {name}: more than its tolerance of {}, and less than a cache \
                 would do. The limit may be another one",
                numbers::percent(judged.tolerance.over)
            );
            Some(Cause::new("above-limit", 0.5, text, &evidence))
        }
        (Standing::BurstOnly | Standing::Impossible, _) => None,
    }
}

/// What the disk would do without the machine.
fn of_disk_alone(scene: &Scene<'_>, unit: Unit) -> Option<f64> {
    let limit = scene.expectation?.part(Part::Disk)?.limits.of(scene.load.load());
    match unit {
        Unit::Iops | Unit::FilesPerSecond => limit.operations.map(|limit| limit.sustained),
        Unit::BytesPerSecond => limit.bytes.map(|limit| limit.sustained),
    }
}

fn larger_disk(scene: &Scene<'_>, judged: &Judged) -> String {
    let is_more = |limit: f64| limit > judged.lasting;
    let of_unit = |alternative: &alternatives::Alternative| match judged.unit {
        Unit::Iops | Unit::FilesPerSecond => alternative.iops,
        Unit::BytesPerSecond => alternative.bytes_per_second,
    };
    alternatives::larger_disk(scene.provisioned, |alternative| of_unit(alternative).is_some_and(is_more))
        .and_then(|alternative| {
            Some(format!("{} would give {}", alternative.title, show::rate(judged.unit, of_unit(&alternative)?)))
        })
        .unwrap_or_default()
}

fn larger_machine(scene: &Scene<'_>, judged: &Judged) -> String {
    let Some(vm) = &scene.provisioned.vm else { return String::new() };
    let wanted = of_disk_alone(scene, judged.unit).unwrap_or(judged.lasting);
    let of_unit = |alternative: &alternatives::Alternative| match judged.unit {
        Unit::Iops | Unit::FilesPerSecond => alternative.iops,
        Unit::BytesPerSecond => alternative.bytes_per_second,
    };
    alternatives::larger_machine(vm, |alternative| of_unit(alternative).is_some_and(|limit| limit >= wanted))
        .and_then(|alternative| {
            Some(format!(
                "{} is the first size of its series that lets {} through ({})",
                alternative.title,
                show::rate(judged.unit, wanted),
                show::rate(judged.unit, of_unit(&alternative)?)
            ))
        })
        .unwrap_or_default()
}
