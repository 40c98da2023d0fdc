//! Applications and sets of files: what took their time, and what of it another disk would take away.

use plimsoll_record::{
    application::{ApplicationResult, BoundBy},
    numbers,
};
use serde_json::json;

use super::{Cause, Scene};
use crate::explanation::{
    behind::Behind,
    show,
    standing::{Judged, Standing},
};

/// The causes that say why a disk did less than its limit.
pub(super) const SAY_WHY_BELOW: [&str; 5] =
    ["cpu-bound", "waiting", "one-after-another", "before-merging", "held-back"];

/// A disk that has fewer requests at a time than this is waited for by requests, and not in a queue.
const FEW: f64 = 4.0;
/// A disk that has something to do for less of the time than this is not what is waited for.
const IDLE: f64 = 0.1;
/// From this share of the time on the disk is worth a thought, whatever took the most.
const MUCH: f64 = 0.3;
/// How many more requests than the disk had count as merged.
const MERGED_MIN: f64 = 1.1;

pub(super) fn causes(scene: &Scene<'_>) -> Vec<Cause> {
    if !Behind::is_behind(scene.cell) {
        return Vec::new();
    }
    let mut causes: Vec<Cause> = above(scene).into_iter().collect();
    causes.extend(cost(scene));
    causes.extend(scene.behind.iter().filter_map(|behind| before_merging(scene, behind)));
    let is_explained = causes.iter().any(|cause| cause.code == "before-merging");
    let application = scene.cell.application.as_ref();
    causes.extend(application.filter(|_| !is_explained).and_then(|application| bound(scene, application)));
    causes
}

/// Requests that reached the disk were answered by no cache.
fn above(scene: &Scene<'_>) -> Option<Cause> {
    let is_above = |judged: &&Judged| judged.standing == Standing::Impossible;
    let judged = scene.judged.iter().filter(is_above).max_by(|one, other| one.share().total_cmp(&other.share()))?;
    let most = judged.burst.unwrap_or(judged.lasting);
    let text = format!(
        "its disk did up to {} times what {} takes at most: it is other storage than was said, or more of it",
        numbers::ratio(judged.measured / most),
        scene.name(judged.part)
    );
    let evidence = [("measured", json!(judged.measured)), ("most", json!(most))];
    Some(Cause::new("above-everything", 0.9, text, &evidence))
}

/// What is expected of files follows from the requests that each took.
fn cost(scene: &Scene<'_>) -> Option<Cause> {
    let is_judged = |behind: &&Behind| scene.judged.iter().any(|judged| judged.operation == behind.operation);
    let each: Vec<String> = scene
        .behind
        .iter()
        .filter(is_judged)
        .filter_map(|behind| Some(format!("{:.2} in {}", behind.files?.1, behind.operation.plural())))
        .collect();
    let text =
        format!("what is expected follows from the requests that each file took of the disk: {}", each.join(", "));
    (!each.is_empty()).then(|| Cause::new("file-cost", 0.6, text, &[("requests_each", json!(each))]))
}

/// A limit that Linux keeps counts requests as they are asked for. The disk, and whoever sells it, counts what Linux
/// made of them.
fn before_merging(scene: &Scene<'_>, behind: &Behind) -> Option<Cause> {
    let judged = scene.judged.iter().find(|judged| judged.operation == behind.operation)?;
    let limit = scene.expectation?.for_load(behind.load()).limit.operations?.sustained;
    let (asked, had) = (behind.iops_before_merging(), behind.iops());
    let is_at_limit = (limit * (1.0 - judged.tolerance.under)..=limit * (1.0 + judged.tolerance.over)).contains(&asked);
    if judged.standing != Standing::Under || asked < had * MERGED_MIN || !is_at_limit {
        return None;
    }
    let phase = match behind.files {
        Some(_) => format!("{}: ", behind.operation.plural()),
        None => String::new(),
    };
    let text = format!(
        "{phase}at the limit, if Linux keeps it (as io.max of a cgroup): that counts requests before they are merged, {} \
         here, and merging left the disk {}",
        show::iops(asked),
        show::iops(had)
    );
    let evidence = [("before_merging", json!(asked)), ("merged", json!(had)), ("limit", json!(limit))];
    Some(Cause::new("before-merging", 0.9, text, &evidence))
}

/// What took an application's time.
fn bound(scene: &Scene<'_>, application: &ApplicationResult) -> Option<Cause> {
    let (bound, processors) = (application.bound_by?, application.processors?);
    let disk = application.disk_share;
    let evidence = [("processors", json!(processors)), ("disk_share", json!(disk))];
    let behind = scene.behind.first();
    let judged = scene.judged.first();
    let at_most = disk.map_or_else(String::new, |share| {
        format!("; without any wait for a disk it would take at most {} less time", numbers::percent(share))
    });
    let kept = format!("kept {processors:.2} processors busy, servers included");
    Some(match bound {
        BoundBy::Cpu => {
            let advice = match disk {
                Some(share) if share > MUCH => "faster processors help, and a faster disk does too",
                _ => "faster processors help, or more of them if it can use more; another disk hardly does",
            };
            Cause::new("cpu-bound", 0.95, format!("cpu-bound: it {kept}{at_most}"), &evidence).advising(advice)
        }
        BoundBy::Waiting => {
            let text = format!("waiting: neither for the processors that it has ({kept}) nor for its disk{at_most}");
            Cause::new("waiting", 0.95, text, &evidence)
                .advising("look for locks, the network and timers, and for other programs on the same processors")
        }
        BoundBy::Io => io_bound(scene, behind?, judged)?,
    })
}

/// What an application waits for that waits for its disk.
fn io_bound(scene: &Scene<'_>, behind: &Behind, judged: Option<&Judged>) -> Option<Cause> {
    if judged.is_some_and(|judged| judged.standing != Standing::Under) {
        // The limit is the answer.
        return None;
    }
    let (busy, in_flight) = (behind.busy_share(), behind.in_flight());
    let did = match judged {
        Some(judged) => {
            let [measured, limit] = [judged.measured, judged.lasting].map(|value| show::rate(judged.unit, value));
            format!("{measured} of the {limit} of {}", scene.name(judged.part))
        }
        None => show::iops(behind.iops()),
    };
    let evidence = [("busy_share", json!(busy)), ("in_flight", json!(in_flight)), ("iops", json!(behind.iops()))];
    if busy < IDLE {
        let text = format!(
            "io-bound, and the disk idle: it had something to do in {} of the time ({did}), so that requests were held \
             back before they reached it",
            numbers::percent(busy)
        );
        let cause = Cause::new("held-back", 0.9, text, &evidence);
        return Some(cause.advising("look for a limit of a cgroup (io.max), and for the scheduler of the disk"));
    }
    if in_flight >= FEW {
        return None;
    }
    let text = format!(
        "io-bound by how long a request takes: the disk had {in_flight:.1} of them at a time while it had any, and did \
         {did}"
    );
    let cause = Cause::new("one-after-another", 0.9, text, &evidence);
    Some(
        cause.advising("a disk that answers sooner helps, or a program that asks for more at a time; more IOPS do not"),
    )
}
