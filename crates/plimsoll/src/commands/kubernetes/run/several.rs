//! Runs of several pods: what is decided for them before they are made.

use anyhow::bail;
use jiff::{SignedDuration, Timestamp};
use plimsoll_kubernetes::{
    cluster::Cluster,
    request::{PodRun, StartBy},
    run::{NodesFor, may_be_watched, nodes_for},
};
use plimsoll_workload::{settings::Effort, units::Span, workload::Workload};

use super::super::super::run::AskedRun;
use crate::{cli::kubernetes::PodArguments, printer::Printer};

/// How long after they were made pods begin that cannot be told.
const START_AFTER: Span = Span::from_seconds(120);

/// Whether several are asked for.
pub(super) fn are_asked(arguments: &PodArguments) -> bool {
    arguments.all_nodes || arguments.nodes.saturating_mul(arguments.pods_per_node) > 1
}

/// Has every pod make the same visits: what one of them measures does not tell the others when to end.
pub(super) fn fix_passes(asked: &mut AskedRun) -> anyhow::Result<()> {
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
            if arguments.all_nodes {
                run.pods.nodes = fitting;
                printer.note(format!("{fitting} nodes take a pod{refusals}"));
            }
            if fitting < run.pods.nodes || fitting == 0 {
                bail!("{} nodes are asked for, and {fitting} take a pod{refusals}", run.pods.nodes);
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
