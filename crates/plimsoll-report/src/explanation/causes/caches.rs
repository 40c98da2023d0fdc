//! Caches: reads that no disk could have answered.

use plimsoll_catalog::expectation::Expectation;
use plimsoll_record::{figures::Operation, numbers};
use plimsoll_workload::{limit::Part, provisioned::Caching};
use serde_json::json;

use super::{Cause, Scene};
use crate::explanation::{
    show,
    standing::{Judged, Standing, Unit},
};

pub(super) fn causes(scene: &Scene<'_>) -> Vec<Cause> {
    // No cache answers what the disk itself counted.
    let Some(expectation) = scene.expectation.filter(|_| scene.behind.is_empty()) else { return Vec::new() };
    let of_each = scene.telling().filter_map(|judged| match (judged.operation, judged.standing) {
        (Operation::Write, Standing::Impossible) => Some(of_writes(scene, judged)),
        (Operation::Write, _) => None,
        // Files that are read through the page cache may come from it at any rate.
        (_, Standing::Over) if is_buffered(scene) => of(scene, expectation, judged),
        (_, Standing::Impossible) => of(scene, expectation, judged),
        _ => None,
    });
    of_each.chain(tied(scene)).collect()
}

/// Whether operations went through the page cache.
fn is_buffered(scene: &Scene<'_>) -> bool {
    scene.load.files.is_some() || scene.load.is_direct == Some(false)
}

/// Writes that no storage of this kind takes.
fn of_writes(scene: &Scene<'_>, judged: &Judged) -> Cause {
    let rate = |value| show::rate(judged.unit, value);
    let said = format!(
        "{} of writes are {} times the {} that {} takes at most",
        rate(judged.measured),
        numbers::ratio(judged.measured / judged.burst.unwrap_or(judged.lasting)),
        rate(judged.burst.unwrap_or(judged.lasting)),
        scene.name(judged.part)
    );
    let evidence = [("measured", json!(judged.measured)), ("most", json!(judged.expected))];
    if is_buffered(scene) {
        let text = format!("the page cache took the writes: {said}");
        let advice = "write around it, or count the time until all is durable";
        return Cause::new("page-cache", 1.0, text, &evidence).advising(advice);
    }
    if scene.provisioned.caching == Some(Caching::ReadWrite) {
        let text = format!("the host's cache took the writes: {said}");
        return Cause::new("host-cache", 1.0, text, &evidence).advising("measure with caching None");
    }
    let text = format!("{said}: a cache took them, or it is other storage than was said, or more of it");
    Cause::new("above-everything", 0.9, text, &evidence)
}

/// Reads of a mix that a cache answers, at the pace of the writes.
fn tied(scene: &Scene<'_>) -> Option<Cause> {
    if !scene.is_tied() {
        return None;
    }
    let write = scene.telling().next()?;
    let total = scene.load.total.and_then(|total| total.iops)?;
    let text = format!(
        "reads went at the pace of the writes, to which the mix ties them: {} of both together are more than {} keeps up, \
         so a cache answered reads",
        show::iops(total),
        scene.name(write.part)
    );
    Some(Cause::new("reads-tied-to-writes", 0.6, text, &[("total_iops", json!(total))]))
}

fn of(scene: &Scene<'_>, expectation: &Expectation, judged: &Judged) -> Option<Cause> {
    let rate = |value| show::rate(judged.unit, value);
    let exceeded = exceeded(scene, expectation, judged);
    let listed: Vec<String> = exceeded.iter().map(|(_, name, most)| format!("the {} of {name}", rate(*most))).collect();
    let above = match listed.as_slice() {
        [] => return None,
        [one] => format!("above {one}, bursts included"),
        many => format!("above {}, bursts included", many.join(" and above ")),
    };
    let set = scene
        .load
        .working_set_bytes
        .map_or_else(String::new, |bytes| format!("; the working set is {}", numbers::bytes(bytes)));
    let mut evidence =
        vec![("measured", json!(judged.measured)), ("working_set_bytes", json!(scene.load.working_set_bytes))];
    evidence.push(("exceeded", json!(listed)));
    let said = format!("{} are {above}", rate(judged.measured));
    if is_buffered(scene) {
        let why = if scene.load.files.is_some() {
            "files that were just written are in memory, and nothing put them out of it"
        } else {
            "I/O went through it"
        };
        return Some(
            Cause::new("page-cache", 1.0, format!("the page cache answered: {said}; {why}{set}"), &evidence)
                .advising("drop the cache before reading, or read around it; these reads say nothing of the storage"),
        );
    }
    let cache = expectation.host_cache.as_ref();
    let hits = cache.and_then(|cache| match judged.unit {
        Unit::Iops | Unit::FilesPerSecond => cache.hits.operations,
        Unit::BytesPerSecond => cache.hits.bytes,
    });
    let hits = hits.map_or_else(String::new, |hits| format!("; hits get up to {} there", rate(hits.sustained)));
    let may_be_host = is_cacheable(scene) && scene.provisioned.caching != Some(Caching::None);
    let (code, who) = match (cache, may_be_host, scene.load.is_direct) {
        (Some(_), _, Some(true)) => ("host-cache", "the host's cache answered"),
        (Some(_), _, _) => ("host-cache", "the host's cache answered, or the page cache"),
        (None, true, Some(true)) => ("host-cache", "a cache answered, that of the host if it caches reads"),
        (None, true, _) => ("host-cache", "a cache answered, that of the host if it caches reads, or the page cache"),
        (None, false, Some(true)) => ("cache", "a cache answered"),
        (None, false, _) => ("cache", "a cache answered, perhaps the page cache"),
    };
    // What the host's cache does is known, and what was said of the storage with it.
    let or = if cache.is_some() { "" } else { ", or it is other storage than was said" };
    let text = format!("{who}{or}: {said}{hits}{set}");
    let advice = match code {
        "host-cache" => {
            "measure with caching None, or with a working set that no cache holds; these reads say nothing of the disk"
        }
        _ => {
            "measure around the page cache and with a working set that no cache holds; these reads say nothing of the disk"
        }
    };
    Some(Cause::new(code, 1.0, text, &evidence).advising(advice))
}

/// Whether hosts cache such disks at all.
fn is_cacheable(scene: &Scene<'_>) -> bool {
    scene.provisioned.sku.as_deref().is_some_and(|sku| scene.catalog.is_cacheable(sku))
}

/// The parts whose highest rate the reads exceed.
fn exceeded<'a>(scene: &Scene<'_>, expectation: &'a Expectation, judged: &Judged) -> Vec<(Part, &'a str, f64)> {
    let load = scene.load.load();
    let most = |part: &'a plimsoll_catalog::ceiling::Ceiling| {
        let limit = part.limits.of(load);
        let limit = match judged.unit {
            Unit::Iops | Unit::FilesPerSecond => limit.operations,
            Unit::BytesPerSecond => limit.bytes,
        };
        let most = limit?.highest()?;
        (judged.measured > most * (1.0 + part.tolerance.over)).then_some((part.part, part.name.as_str(), most))
    };
    expectation.parts.iter().filter_map(most).collect()
}
