//! `plimsoll kubernetes lifecycle`: the lives of many volumes.

use anyhow::Context;
use plimsoll_kubernetes::{
    error::ClusterError,
    lives::{Lives, LivesEnded, SnapshotAsked, live},
    request::{PodRun, Resources, volumes},
    run::{Patience, Told},
};
use plimsoll_record::{
    lived::Lived,
    record::{Outcome, Record},
};
use plimsoll_report as report;

use super::{
    super::run as local,
    connect,
    run::{SIZE, duration, of_one, seconds},
};
use crate::{
    cli::kubernetes::lifecycle::LifecycleArguments,
    exit::{Exit, OutputLost},
    printer::Printer,
    saving::Saving,
    state::State,
    stop,
};

/// Does `plimsoll kubernetes lifecycle`.
pub(super) fn lifecycle(arguments: &LifecycleArguments, state: &State, printer: Printer) -> anyhow::Result<Exit> {
    arguments.name.iter().try_for_each(|name| local::check_name(name))?;
    let sizes = if arguments.volume_size.is_empty() { &[SIZE][..] } else { &arguments.volume_size };
    let sizes: Vec<u64> = sizes.iter().map(|size| size.0).collect();
    let volumes = volumes(&arguments.storage_class, &sizes, &[], arguments.mode, arguments.access)?;
    let cluster = connect(&arguments.cluster)?;
    let resources = Resources {
        cpu: arguments.cpu.clone(),
        cpu_limit: None,
        memory: arguments.memory.clone(),
        seccomp: arguments.place.seccomp.clone(),
    };
    let lives = Lives {
        run: PodRun {
            keep_s: seconds(arguments.keep),
            deadline_s: seconds(arguments.deadline),
            ..of_one(volumes, &arguments.place, resources, Some(&cluster))
        },
        count: arguments.count,
        concurrency: arguments.concurrency,
        snapshot: arguments.snapshot.then(|| SnapshotAsked { class: arguments.snapshot_class.clone() }),
        clones: arguments.clone,
        resize_bytes: arguments.resize.map(|size| size.0),
        moves: arguments.failover,
    };
    let patience = Patience { start: duration(arguments.start_timeout), cleanup: duration(arguments.cleanup_timeout) };
    let stop = stop::on_signals().context("listen for signals")?;
    let id = lives.run.id;
    printer.note(format!("run {id} in namespace {}: Job {}", cluster.namespace(), lives.run.name()));
    let ended = live(&cluster, &lives, patience, &stop, &mut |told| match told {
        Told::Event(_) => {}
        Told::Note(text) => printer.note(text),
        Told::Warning(text) => printer.warning(text),
    })?;
    for left in &ended.leftovers {
        printer.warning(&left.text);
    }
    if ended.volumes.is_empty() {
        return Err(ended.ended_by.map_or(ClusterError::Interrupted, ClusterError::Run).into());
    }
    let exit = exit(&ended);
    let record = record(arguments, &lives, ended);
    Saving::new(state, None, printer).save(&record);
    let answer = if arguments.json {
        serde_json::to_string_pretty(&record)? + "\n"
    } else {
        report::table::record(&record, printer.width(), printer.style())
    };
    printer.answer(answer).map_err(OutputLost)?;
    Ok(exit)
}

fn exit(ended: &LivesEnded) -> Exit {
    if ended.failed > 0 || ended.ended_by.is_some() || ended.leftovers.iter().any(|left| !left.stays) {
        Exit::Cluster
    } else if ended.ended < ended.planned {
        Exit::Interrupted
    } else {
        Exit::Success
    }
}

fn record(arguments: &LifecycleArguments, lives: &Lives, ended: LivesEnded) -> Record {
    let outcome = if ended.ended < ended.planned {
        Outcome::Interrupted
    } else if ended.failed > 0 {
        Outcome::Failed
    } else {
        Outcome::Complete
    };
    let mut warnings = Vec::new();
    if ended.failed > 0 {
        warnings.push(format!("{} of {} lives of volumes failed", ended.failed, ended.ended));
    }
    if let Some(why) = &ended.ended_by {
        warnings.push(format!("{} of {} lives of volumes were over when all ended: {why}", ended.ended, ended.planned));
    }
    Record::of_lives(Lived {
        id: lives.run.id,
        started: ended.started,
        elapsed_ns: u64::try_from(ended.elapsed.as_nanos()).unwrap_or(u64::MAX),
        outcome,
        tool: local::tool(),
        name: arguments.name.clone(),
        tags: arguments.tags.iter().cloned().collect(),
        cluster: ended.cluster,
        volumes: ended.volumes,
        warnings,
    })
}
