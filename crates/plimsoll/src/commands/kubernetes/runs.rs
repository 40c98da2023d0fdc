//! `plimsoll kubernetes status`, `collect` and `cleanup`: runs that are in the cluster, whoever started them.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use plimsoll_kubernetes::{
    run::{Patience, Told, collect as collect_run},
    runs::{self, Remains, RunThere},
    teardown::Left,
};
use plimsoll_report as report;

use super::{super::catalog, connect, following::followed, run::duration};
use crate::{
    cli::kubernetes::{CleanupArguments, CollectArguments, StatusArguments},
    exit::{Exit, OutputLost},
    printer::Printer,
    state::State,
    stop,
};

/// Lists the runs of a namespace.
pub(super) fn status(arguments: &StatusArguments, printer: Printer) -> anyhow::Result<Exit> {
    let cluster = connect(&arguments.cluster)?;
    let rows: Vec<report::cluster::RunRow> = runs::list(&cluster)?.iter().map(row).collect();
    let answer = if arguments.json {
        format!("{}\n", serde_json::to_string_pretty(&rows)?)
    } else if rows.is_empty() {
        format!("no run in namespace {}\n", cluster.namespace())
    } else {
        report::cluster::runs(&rows, printer.width())
    };
    printer.answer(answer).map_err(OutputLost)?;
    Ok(Exit::Success)
}

/// Gets the results of a run, waiting for its end, and removes it.
pub(super) fn collect(arguments: &CollectArguments, state: &State, printer: Printer) -> anyhow::Result<Exit> {
    let cluster = connect(&arguments.cluster)?;
    let there = runs::find(runs::list(&cluster)?, RunThere::id, &arguments.run)?;
    let patience = Patience { start: duration(arguments.start_timeout), cleanup: duration(arguments.cleanup_timeout) };
    let catalog = catalog::read(None)?;
    let stop = stop::on_signals().context("listen for signals")?;
    let does = |tell: &mut dyn FnMut(Told<'_>)| collect_run(&cluster, &there, patience, &stop, tell);
    followed(arguments.json, &catalog, state, printer, does, || {
        if arguments.leave {
            return Vec::new();
        }
        printer.note("removing what the run made in the cluster");
        let remains = match runs::remains(&cluster) {
            Ok(remains) => remains.into_iter().find(|remains| remains.id() == there.id()),
            Err(error) => return vec![Left { text: format!("the run stays: {error}"), stays: false }],
        };
        remains.map(|remains| runs::cleanup(&cluster, &remains, patience.cleanup, &stop)).unwrap_or_default()
    })
}

/// Removes runs.
pub(super) fn cleanup(arguments: &CleanupArguments, printer: Printer) -> anyhow::Result<Exit> {
    let cluster = connect(&arguments.cluster)?;
    let all = runs::remains(&cluster)?;
    let meant: Vec<Remains> = if arguments.all {
        all
    } else if arguments.runs.is_empty() {
        bail!("nothing to remove: name runs, or say --all; `plimsoll kubernetes status` lists them");
    } else {
        arguments.runs.iter().map(|text| runs::find(all.clone(), Remains::id, text)).collect::<Result<_, _>>()?
    };
    let stop = stop::on_signals().context("listen for signals")?;
    let mut is_clean = true;
    let untouched = until_stopped(&meant, &stop, |remains| {
        let leftovers = runs::cleanup(&cluster, remains, duration(arguments.cleanup_timeout), &stop);
        leftovers.iter().for_each(|left| printer.warning(&left.text));
        if leftovers.is_empty() {
            printer.note(format!("removed {}", remains.name()));
        } else if leftovers.iter().all(|left| left.stays) {
            printer.note(format!("removed {}, but for what stays", remains.name()));
        } else {
            is_clean = false;
        }
    });
    if !untouched.is_empty() {
        let names: Vec<&str> = untouched.iter().map(Remains::name).collect();
        printer.note(format!("interrupted: not touched: {}", names.join(", ")));
    }
    Ok(match (is_clean && untouched.is_empty(), stop.load(Ordering::Relaxed)) {
        (true, _) => Exit::Success,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::Cluster,
    })
}

/// Does something with each until somebody asks to stop; gives those with which nothing was done.
fn until_stopped<'a, T>(all: &'a [T], stop: &AtomicBool, mut each: impl FnMut(&T)) -> &'a [T] {
    let mut rest = all;
    while let [next, others @ ..] = rest
        && !stop.load(Ordering::Relaxed)
    {
        each(next);
        rest = others;
    }
    rest
}

fn row(there: &RunThere) -> report::cluster::RunRow {
    report::cluster::RunRow {
        id: there.id(),
        job: there.run.name(),
        created: there.created,
        state: there.state.as_str().to_owned(),
        targets: targets(there),
        detail: there.detail.clone(),
        pods: there.run.pods.all(),
        summary: there.summary.clone(),
    }
}

/// What it measures. Volumes of lives are in pods that come and go, so their Job names them.
fn targets(there: &RunThere) -> Vec<String> {
    match there.lives.as_deref().and_then(|lives| lives.split_once(" of ")) {
        Some((_, targets)) => targets.split(',').map(str::to_owned).collect(),
        None => there.run.volumes.iter().map(|volume| volume.target.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_to_stop_has_the_rest_left_alone() {
        let (stop, mut done) = (AtomicBool::new(false), Vec::new());
        let rest = until_stopped(&[1, 2, 3], &stop, |one| {
            done.push(*one);
            stop.store(*one == 2, Ordering::Relaxed);
        });
        assert_eq!((rest, done), (&[3][..], vec![1, 2]));
        assert!(until_stopped(&[1, 2], &AtomicBool::new(false), |_| {}).is_empty());
    }
}
