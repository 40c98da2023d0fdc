//! `plimsoll kubernetes run`: the same measurement in a pod.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, bail};
use plimsoll_kubernetes::{
    manifests,
    request::{self, ImageAsked, Placement, PodRun, Resources, VolumeMode, VolumeSource},
    run::{Finished, Patience, Told, run as run_in_pod},
};
use plimsoll_record::{event::RunEvent, record::Outcome};
use plimsoll_report as report;
use plimsoll_workload::{
    certainty::Certainty,
    plan_file::PlanFile,
    units::{ByteCount, Span},
};
use uuid::Uuid;

use super::{super::run as local, connect};
use crate::{
    cli::{
        kubernetes::{KubernetesRunArguments, PodArguments, VolumeArguments},
        run::RunArguments,
    },
    exit::{Exit, OutputLost},
    printer::Printer,
    progress::{self, Progress},
    saving::Saving,
    state::State,
    stop,
};

/// How large new volumes are when nobody says it.
const SIZE: ByteCount = ByteCount(8 << 30);

/// Does `plimsoll kubernetes run`.
pub(super) fn run(arguments: &KubernetesRunArguments, state: &State, printer: Printer) -> anyhow::Result<Exit> {
    let run = pod_run(arguments, printer)?;
    if arguments.dry_run {
        return dry_run(&run, &arguments.output, printer);
    }
    let cluster = connect(&arguments.access_to)?;
    let run = PodRun { assigns_users: cluster.assigns_users() && !arguments.pod.run_as_root, ..run };
    let patience = Patience { start: duration(arguments.start_timeout), cleanup: duration(arguments.cleanup_timeout) };
    let stop = stop::on_signals().context("listen for signals")?;
    let mut saving = Saving::new(state, None, printer);
    let mut progress: Option<Box<dyn Progress>> = None;
    printer.note(format!("run {} in namespace {}: Job {}", run.id, cluster.namespace(), run.name()));
    let finished = run_in_pod(&cluster, &run, patience, &stop, &mut |told| match told {
        Told::Event(event) => {
            saving.event(event);
            if let RunEvent::Started(started) = event {
                progress = Some(progress::choose(printer.is_quiet(), &started.plan));
            }
            progress.iter_mut().for_each(|progress| progress.event(event));
        }
        Told::Note(text) => {
            progress.take().iter_mut().for_each(|progress| progress.finish());
            printer.note(text);
        }
        Told::Warning(text) => printer.warning(text),
    });
    let Finished { record, error, leftovers } = finished.inspect_err(|_| saving.discard())?;
    for left in &leftovers {
        printer.warning(left);
    }
    let Some(record) = record else {
        saving.discard();
        return Err(error.map_or_else(|| anyhow::anyhow!("the pod told nothing of its run"), Into::into));
    };
    saving.save(&record);
    let answer = if arguments.json {
        let mut text = serde_json::to_string_pretty(&record)?;
        text.push('\n');
        text
    } else {
        report::table::record(&record, printer.width(), printer.style())
    };
    printer.answer(answer).map_err(OutputLost)?;
    match error {
        Some(error) => Err(anyhow::Error::new(error).context(format!("what was measured is saved as {}", record.id))),
        None => {
            if record.outcome == Outcome::Interrupted {
                printer.note(format!("interrupted; the partial record is saved as {}", record.id));
            }
            Ok(local::exit(&record, false))
        }
    }
}

/// What is to be done, in which kind of pod.
fn pod_run(arguments: &KubernetesRunArguments, printer: Printer) -> anyhow::Result<PodRun> {
    if arguments.volumes.storage_class.is_empty() && arguments.volumes.pvc.is_empty() {
        bail!("nothing to measure: name classes with --storage-class a,b or claims with --pvc");
    }
    let run = unplanned(&arguments.volumes, &arguments.pod)?;
    let is_block = arguments.volumes.mode == VolumeMode::Block;
    let may_be_overwritten = |volume: &&request::VolumeAsked| match &volume.source {
        VolumeSource::Class { .. } => is_block,
        VolumeSource::Claim { name } => is_block && arguments.destroy.contains(name),
    };
    let local_arguments = RunArguments {
        targets: run.volumes.iter().map(|volume| volume.target.clone().into()).collect(),
        measuring: arguments.measuring.0.clone(),
        provisioned: arguments.provisioned.clone(),
        destroy: run.volumes.iter().filter(may_be_overwritten).map(|volume| volume.target.clone().into()).collect(),
        expect_mount: !is_block,
        name: arguments.name.clone(),
        tags: arguments.tags.clone(),
        ..RunArguments::default()
    };
    let asked = local::asked(&local_arguments, printer)?;
    let (keep_s, deadline_s) = (seconds(arguments.keep), seconds(arguments.deadline));
    Ok(PodRun { plan: plan_text(asked)?, keep_s, deadline_s, ..run })
}

/// A run in a pod that does nothing yet.
pub(super) fn unplanned(volumes: &VolumeArguments, pod: &PodArguments) -> anyhow::Result<PodRun> {
    let sizes = if volumes.volume_size.is_empty() { &[SIZE][..] } else { &volumes.volume_size };
    let sizes: Vec<u64> = sizes.iter().map(|size| size.0).collect();
    Ok(PodRun {
        id: Uuid::now_v7(),
        volumes: request::volumes(&volumes.storage_class, &sizes, &volumes.pvc, volumes.mode, volumes.access)?,
        placement: Placement {
            node: pod.node.clone(),
            selector: pod.node_selector.iter().cloned().collect(),
            tolerations: pod.toleration.clone(),
            priority_class: pod.priority_class.clone(),
        },
        image: ImageAsked {
            name: image(&pod.image, pod.registry_prefix.as_deref()),
            pull_policy: pod.image_pull_policy.clone(),
            pull_secrets: pod.image_pull_secret.clone(),
        },
        resources: Resources {
            cpu: pod.cpu.clone(),
            cpu_limit: pod.cpu_limit.clone(),
            memory: pod.memory.clone(),
            seccomp: pod.seccomp.clone(),
        },
        assigns_users: false,
        runs_as_root: pod.run_as_root,
        plan: String::new(),
        keep_s: 0,
        deadline_s: 0,
    })
}

/// The plan as the program in the pod reads it: everything is decided here that can be.
fn plan_text(asked: local::AskedRun) -> anyhow::Result<String> {
    let Certainty { effort, precision, max_time, bookend, passes, discard_first, limit } = asked.certainty;
    let plan = PlanFile {
        name: asked.name,
        targets: asked.targets,
        effort: Some(effort),
        precision,
        max_time,
        bookend,
        passes,
        discard_first,
        limit,
        provisioned: asked.provisioned,
        need: asked.need,
        background: asked.background,
        seed: Some(asked.seed),
        presets: Vec::new(),
        tags: asked.tags.into_iter().collect::<BTreeMap<_, _>>(),
        destroy: asked.destroy,
        keep_files: asked.keep_files,
        expect_mount: asked.expect_mount,
        detect_cloud: asked.detect_cloud.is_some(),
        defaults: plimsoll_workload::workload::Workload::default(),
        workloads: asked.workloads,
    };
    toml::to_string(&plan).context("write the plan for the pod")
}

/// The name of an image in another registry.
fn image(name: &str, registry: Option<&str>) -> String {
    match registry {
        Some(registry) => {
            let last = name.rsplit('/').next().unwrap_or(name);
            format!("{}/{last}", registry.trim_end_matches('/'))
        }
        None => name.to_owned(),
    }
}

fn dry_run(run: &PodRun, format: &str, printer: Printer) -> anyhow::Result<Exit> {
    let mut objects = vec![serde_json::to_value(manifests::job(run))?];
    for claim in manifests::claims(run, None) {
        objects.push(serde_json::to_value(claim)?);
    }
    let text = match format {
        "json" => {
            let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": objects });
            format!("{}\n", serde_json::to_string_pretty(&list)?)
        }
        _ => {
            let documents: Result<Vec<_>, _> = objects.iter().map(serde_saphyr::to_string).collect();
            documents?.join("---\n")
        }
    };
    printer.answer(text).map_err(OutputLost)?;
    Ok(Exit::Success)
}

fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.ns)
}

/// Whole seconds, as Kubernetes counts.
fn seconds(span: Span) -> u32 {
    u32::try_from(span.ns.div_ceil(1_000_000_000)).unwrap_or(u32::MAX)
}
