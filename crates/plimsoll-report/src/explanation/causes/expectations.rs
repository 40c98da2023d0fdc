//! What the author of a figure expected, beside what the catalog says: units that slipped, and figures of another size.

use plimsoll_catalog::alternatives;
use plimsoll_record::told::{Figure, FigureValue, Measured};
use plimsoll_workload::limit::{Part, RateLimit};
use serde_json::json;

use super::{Cause, Scene};
use crate::explanation::{
    show,
    standing::{Judged, Unit},
};

const MB: f64 = 1e6;
const MIB: f64 = 1_048_576.0;
/// Figures that people write down are rounded.
const CLOSE: f64 = 0.005;

pub(super) fn causes(scene: &Scene<'_>) -> Vec<Cause> {
    let Some(Measured::Figure(figure)) = scene.cell.told.as_ref().map(|told| &told.measured) else { return Vec::new() };
    let (Some(judged), Some(author)) = (scene.judged.first(), figure.expected) else { return Vec::new() };
    of(scene, figure, judged, author).into_iter().collect()
}

fn is_close(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() <= CLOSE
}

fn of(scene: &Scene<'_>, figure: &Figure, judged: &Judged, author: f64) -> Option<Cause> {
    let limits: Vec<f64> = [Some(judged.lasting), judged.burst].into_iter().flatten().collect();
    // The author's number with the unit that was written, in the unit of the limit.
    let scale = match figure.value {
        FigureValue::BytesPerSecond(bytes) if figure.low > 0.0 => bytes / figure.low,
        _ => 1.0,
    };
    let expected = author * scale;
    let is_binary = judged.unit == Unit::BytesPerSecond && is_close(scale, MIB);
    let evidence = [
        ("author_expected", json!(expected)),
        ("lasting", json!(judged.lasting)),
        ("burst", json!(judged.burst)),
        ("measured", json!(judged.measured)),
    ];
    let against = judged.expected;
    if let Some(limit) = limits.iter().find(|limit| is_binary && is_close(author * MB, **limit)) {
        let text = format!(
            "the author expected {author} {}, and the limit is {} MB/s: a MiB is 4.9 % more than a MB. The {} {} that were \
             measured are {:.1} MB/s, {} of the limit and not {} of what was expected",
            figure.unit,
            limit / MB,
            figure.low,
            figure.unit,
            judged.measured / MB,
            show::signed(judged.measured, *limit),
            show::signed(judged.measured, expected),
        );
        return Some(Cause::new("unit-slip", 0.8, text, &evidence));
    }
    if limits.iter().any(|limit| is_close(expected, *limit)) {
        return None;
    }
    let of_others = others(scene, judged.unit, if is_binary { author * MB } else { expected });
    let text = format!(
        "the author expected {author} {}; {} has {}{}. Measured: {}, {} of that{of_others}",
        figure.unit,
        scene.name(Part::Disk),
        show::rate(judged.unit, judged.lasting),
        judged.burst.map_or_else(String::new, |burst| format!(" and bursts to {}", show::rate(judged.unit, burst))),
        show::rate(judged.unit, judged.measured),
        show::signed(judged.measured, against),
    );
    Some(Cause::new("wrong-expectation", 0.8, text, &evidence))
}

/// The sizes of the same product that have what was expected.
fn others(scene: &Scene<'_>, unit: Unit, expected: f64) -> String {
    let has = |limit: Option<RateLimit>| {
        limit.is_some_and(|limit| {
            is_close(limit.sustained, expected) || limit.burst.is_some_and(|burst| is_close(burst, expected))
        })
    };
    let names = alternatives::sizes_with(scene.provisioned, scene.catalog, |limit| match unit {
        Unit::Iops | Unit::FilesPerSecond => has(limit.operations),
        Unit::BytesPerSecond => has(limit.bytes),
    });
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("; what was expected is that of {one}"),
        [first, .., last] => format!("; what was expected is that of {first} to {last}"),
    }
}
