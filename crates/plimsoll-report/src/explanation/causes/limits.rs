//! The part of the way that a rate is at, and what would be above it.

use plimsoll_catalog::alternatives;
use plimsoll_record::numbers;
use plimsoll_workload::limit::{Part, RateLimit};
use serde_json::json;

use super::{Cause, Scene};
use crate::explanation::{
    show,
    standing::{Judged, Standing, Unit},
};

/// How little it explains that a rate is below a limit.
const BELOW: f64 = 0.3;
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
        (Standing::Under, _) if scene.load.is_paced => {
            let text = format!("{rate} are the pace that was asked for, below the {limit} of {name}");
            Some(Cause::new("paced", 0.9, text, &evidence))
        }
        (Standing::Under, _) if scene.is_shared => {
            let share = numbers::percent(judged.measured / judged.lasting);
            let text = format!("{rate} are {share} of the {limit} of {name}: others used it at the same time");
            Some(Cause::new("shared", 0.9, text, &evidence).advising("measure it alone to see the limit"))
        }
        (Standing::Under, _) => {
            let share = numbers::percent(judged.measured / judged.lasting);
            let others = as_another(scene, judged);
            let text = format!("{rate} are {share} of the {limit} of {name}: something else binds{others}");
            Some(Cause::new(BELOW_CODE, BELOW, text, &evidence))
        }
        (Standing::Over, _) => {
            let over = show::signed(judged.measured, judged.expected);
            let expected = show::rate(judged.unit, judged.expected);
            let text = format!(
                "{rate} are {over} beside the {expected} of {name}: more than its tolerance of {}, and less than twice \
                 it. The limit may be another one, or a cache answered some",
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

/// Which other size of the same product has what was measured.
fn as_another(scene: &Scene<'_>, judged: &Judged) -> String {
    const CLOSE: f64 = 0.02;
    let is_it =
        |limit: Option<RateLimit>| limit.is_some_and(|limit| (judged.measured / limit.sustained - 1.0).abs() <= CLOSE);
    let names = alternatives::sizes_with(scene.provisioned, scene.catalog, |limit| match judged.unit {
        Unit::Iops => is_it(limit.operations),
        Unit::BytesPerSecond => is_it(limit.bytes),
        Unit::FilesPerSecond => false,
    });
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("; it is what {one} would do"),
        [first, .., last] => format!("; it is what {first} to {last} would do"),
    }
}

const fn of_unit(unit: Unit, alternative: &alternatives::Alternative) -> Option<f64> {
    match unit {
        Unit::Iops | Unit::FilesPerSecond => alternative.iops,
        Unit::BytesPerSecond => alternative.bytes_per_second,
    }
}

/// What else of the product would do more, and what the machine makes of it.
fn larger_disk(scene: &Scene<'_>, judged: &Judged) -> String {
    let is_more = |alternative: &alternatives::Alternative| {
        of_unit(judged.unit, alternative).is_some_and(|limit| limit > judged.lasting)
    };
    let Some(alternative) = alternatives::larger_disk(scene.provisioned, is_more) else {
        return alternatives::more_of_it(scene.provisioned).unwrap_or_default();
    };
    let Some(more) = of_unit(judged.unit, &alternative) else { return String::new() };
    let would = format!("{} would give {}", alternative.title, show::rate(judged.unit, more));
    let machine = scene.expectation.and_then(|expectation| expectation.part(Part::Vm));
    let through = machine.and_then(|machine| {
        let limit = machine.limits.of(scene.load.load());
        let limit = if judged.unit == Unit::BytesPerSecond { limit.bytes } else { limit.operations };
        limit.map(|limit| (machine.name.as_str(), limit.sustained))
    });
    match through {
        Some((name, limit)) if limit < more => {
            format!("{would}, of which {name} lets {} through", show::rate(judged.unit, limit))
        }
        _ => would,
    }
}

fn larger_machine(scene: &Scene<'_>, judged: &Judged) -> String {
    let Some(vm) = &scene.provisioned.vm else { return String::new() };
    let wanted = of_disk_alone(scene, judged.unit);
    let is_wanted = |alternative: &alternatives::Alternative| {
        of_unit(judged.unit, alternative)
            .is_some_and(|limit| limit > judged.lasting && wanted.is_none_or(|wanted| limit >= wanted))
    };
    let Some(alternative) = alternatives::larger_machine(vm, is_wanted) else { return String::new() };
    let Some(limit) = of_unit(judged.unit, &alternative).map(|limit| show::rate(judged.unit, limit)) else {
        return String::new();
    };
    match wanted {
        Some(wanted) => format!(
            "{} is the first size of its series that lets {} through ({limit})",
            alternative.title,
            show::rate(judged.unit, wanted)
        ),
        None => format!("{} is the next size of its series, and lets {limit} through", alternative.title),
    }
}
