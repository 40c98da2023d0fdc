//! Runs of several pods: what is decided for them before they are made.

use anyhow::bail;
use jiff::{SignedDuration, Timestamp};
use plimsoll_kubernetes::{
    cluster::Cluster,
    request::{AccessMode, PodCount, PodRun, StartBy, VolumeAsked, VolumeMode, VolumeSource},
    run::{NodesFor, may_be_watched, nodes_for},
};
use plimsoll_workload::{
    settings::Effort,
    units::{Extent, Percent, Span},
    workload::Workload,
};

use super::super::super::run::AskedRun;
use crate::{cli::kubernetes::PodArguments, printer::Printer};

/// How long after they were made pods begin that cannot be told.
const START_AFTER: Span = Span::from_seconds(120);

/// How many pods a run may have: all of their objects are made here, and all of their logs followed.
const PODS_MAX: u32 = 10_000;

/// Refuses more pods than a run may have.
pub(super) fn check_count(pods: &PodCount) -> anyhow::Result<()> {
    match pods.all() {
        all if all > PODS_MAX => {
            bail!("{} nodes with {} pods each are more than {PODS_MAX} pods: ask for fewer", pods.nodes, pods.per_node)
        }
        _ => Ok(()),
    }
}

/// Whether several are asked for.
pub(super) fn are_asked(arguments: &PodArguments) -> bool {
    let pods = arguments.nodes.unwrap_or(1).saturating_mul(arguments.pods_per_node);
    arguments.all_nodes || arguments.parallel || pods > 1
}

/// How many pods measure so many volumes, as far as that is known before nodes were looked at.
pub(super) fn count(arguments: &PodArguments, volumes: usize) -> PodCount {
    let volumes = u32::try_from(volumes).unwrap_or(u32::MAX);
    PodCount {
        nodes: arguments.nodes.unwrap_or(if arguments.parallel { volumes } else { 1 }),
        per_node: arguments.pods_per_node,
        start: StartBy::Watching,
        take_turns: arguments.parallel,
    }
}

/// Refuses turns that cannot be taken.
pub(in super::super) fn check_turns(arguments: &PodArguments, volumes: usize) -> anyhow::Result<()> {
    if !arguments.parallel {
        return Ok(());
    }
    let does = "--parallel has each node measure another volume at the same time";
    if volumes < 2 {
        bail!("{does}, and there is one: name several classes, sizes or claims, or leave it out");
    }
    match arguments.nodes {
        Some(1) => bail!("{does}, and --nodes 1 leaves one node: ask for more, or leave out --parallel"),
        Some(nodes) if nodes as usize > volumes => {
            bail!("{does}, and {nodes} nodes are more than {volumes} volumes: ask for --nodes {volumes} at most")
        }
        _ => Ok(()),
    }
}

/// A flag that is given and says nothing about one pod.
pub(super) fn flag_about_them(arguments: &PodArguments) -> Option<&'static str> {
    let flags = [("--start-after", arguments.start_after.is_some()), ("--shared-file", arguments.shared_file)];
    flags.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
}

/// Has all pods use the same files, when they have the same volumes and nothing in the way.
pub(super) fn share_files(asked: &mut AskedRun, volumes: &[VolumeAsked], are_ephemeral: bool) -> anyhow::Result<()> {
    for volume in volumes {
        let is_new = matches!(volume.source, VolumeSource::Class { .. });
        if volume.mode == VolumeMode::Block {
            bail!("--shared-file is about files, and pods that share a device have the same blocks: leave it out");
        }
        if is_new && are_ephemeral {
            bail!("--shared-file needs volumes that pods share, and ephemeral ones are one pod's each: leave one out");
        }
        if is_new && volume.access == AccessMode::ReadWriteOnce {
            bail!(
                "--shared-file needs volumes that pods share, and new ones of ReadWriteOnce are one pod's each: say \
                 --access rwx, or leave it out"
            );
        }
    }
    for workload in &mut asked.workloads {
        let in_the_way = [
            (
                "--verify",
                workload.verify == Some(true),
                "which knows what is in a file only when nobody else writes it",
            ),
            ("file_names", workload.file_names.is_some(), "which names files that may be there"),
            (
                "--engine",
                workload.engine.is_some_and(|engine| engine.name_operation().is_some()),
                "which makes files or does away with them",
            ),
        ];
        if let Some((flag, _, why)) = in_the_way.into_iter().find(|(_, is_given, _)| *is_given) {
            bail!("--shared-file goes not with {flag}, {why}: leave one of them out");
        }
        // All of what is usual, whatever room the pods that come later find.
        workload.size = workload.size.or(Percent::new(100).map(Extent::Percent));
    }
    Ok(())
}

/// Has every pod make the same visits: what one of them measures does not tell the others when to end.
pub(super) fn fix_passes(asked: &mut AskedRun) -> anyhow::Result<()> {
    if asked.workloads.iter().any(|workload| workload.phases.is_some() || workload.mix.is_some()) {
        bail!("sets of files are worked on by one pod at a time: leave --nodes and --pods-per-node out");
    }
    let certainty = &mut asked.certainty;
    let until = [
        ("--precision", certainty.precision.is_some()),
        ("--max-time", certainty.max_time.is_some()),
        ("--bookend", certainty.bookend),
    ];
    if let Some((flag, _)) = until.iter().find(|(_, is_given)| *is_given) {
        bail!(
            "{flag} ends a run by what it measured, and several pods have to end together: leave it out, or say with \
             --passes and --duration how long they measure"
        );
    }
    if asked.workloads.iter().any(Workload::has_amount) {
        bail!("several pods measure for the same time, and an amount ends each at its own: say --duration instead");
    }
    if certainty.passes.is_none() && !asked.workloads.iter().all(|workload| workload.duration.is_some()) {
        certainty.passes = Some(match certainty.effort {
            Effort::Quick => 2,
            Effort::Standard => 6,
            Effort::Thorough => 24,
        });
    }
    Ok(())
}

/// Has as many pods as nodes take them, where all are meant or nobody said how many take turns.
pub(in super::super) fn fit(cluster: &Cluster, run: &mut PodRun, arguments: &PodArguments) -> anyhow::Result<()> {
    if (arguments.all_nodes || arguments.parallel)
        && arguments.nodes.is_none()
        && let Some(NodesFor { fitting, .. }) = nodes_for(cluster, run)?
    {
        fit_to(fitting, &mut run.pods);
    }
    Ok(())
}

/// Has as many pods as nodes take them. Two at least take turns, and no more than there are volumes.
fn fit_to(fitting: u32, pods: &mut PodCount) {
    pods.nodes = if pods.take_turns { pods.nodes.min(fitting.max(2)) } else { fitting.max(1) };
}

/// Finds out whether there are as many nodes, or how many where all are meant, and how several pods begin.
pub(super) fn settle(
    cluster: &Cluster,
    run: &mut PodRun,
    arguments: &PodArguments,
    printer: Printer,
) -> anyhow::Result<()> {
    if !are_asked(arguments) {
        return Ok(());
    }
    match nodes_for(cluster, run)? {
        Some(NodesFor { fitting, refusals }) => {
            if arguments.all_nodes && !arguments.parallel {
                run.pods.nodes = fitting;
                printer.note(format!("{fitting} nodes take a pod{refusals}"));
            }
            if arguments.parallel {
                if fitting < 2 {
                    bail!(
                        "--parallel takes two nodes, and {fitting} takes a pod{refusals}: leave it out, and one pod \
                         measures all volumes in turn"
                    );
                }
                let volumes = run.volumes.len();
                run.pods.nodes = arguments.nodes.unwrap_or(run.pods.nodes.min(fitting));
                if (run.pods.nodes as usize) < volumes {
                    printer.note(format!("{} nodes take turns with {volumes} volumes{refusals}", run.pods.nodes));
                }
            }
            if run.shares_files && !run.pods.are_several() {
                bail!("--shared-file is about several pods, and {fitting} node takes one{refusals}: leave it out");
            }
            check_count(&run.pods)?;
            if fitting < run.pods.nodes || fitting == 0 {
                let asked = if arguments.all_nodes { "all".to_owned() } else { run.pods.nodes.to_string() };
                bail!("{asked} nodes are asked for, and {fitting} take a pod{refusals}");
            }
        }
        None if arguments.all_nodes => bail!(
            "nodes may not be looked at here, so nobody knows how many all of them are: say with --nodes how many, or \
             have the right added that `plimsoll kubernetes preflight --rules` prints"
        ),
        None => {}
    }
    if let Some(after) = arguments.start_after {
        run.pods.start = by_clock(after);
    } else if let Err(error) = may_be_watched(cluster, run) {
        run.pods.start = by_clock(START_AFTER);
        let text = format!("pods cannot be told when to begin, and do so {START_AFTER} from now, ready or not");
        printer.note(format!("{text}: {error}"));
    }
    Ok(())
}

fn by_clock(after: Span) -> StartBy {
    StartBy::Time(Timestamp::now() + SignedDuration::from_nanos(i64::try_from(after.ns).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_a_run_on_all_nodes_would_work_is_about_as_many_pods_as_nodes_take() {
        let nodes = |fitting, asked, take_turns| {
            let mut pods = PodCount { nodes: asked, take_turns, ..PodCount::ONE };
            fit_to(fitting, &mut pods);
            pods.nodes
        };
        assert_eq!((nodes(5, 1, false), nodes(0, 1, false)), (5, 1));
        assert_eq!((nodes(2, 3, true), nodes(5, 3, true), nodes(0, 3, true)), (2, 3, 2));
    }
}
