//! `plimsoll kubernetes run`: the same measurement in a pod.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, bail};
use plimsoll_kubernetes::{
    manifests,
    request::{self, ImageAsked, Placement, PodRun, Resources, VolumeMode, VolumeSource},
    run::{Patience, Told, run as run_in_pod, start},
};
use plimsoll_workload::{
    certainty::Certainty,
    plan_file::PlanFile,
    units::{ByteCount, Span},
};
use uuid::Uuid;

use super::{super::run as local, connect, following::followed};
use crate::{
    cli::{kubernetes::KubernetesRunArguments, run::RunArguments},
    exit::{Exit, OutputLost},
    printer::Printer,
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
    let cluster = connect(&arguments.cluster)?;
    let run = PodRun { assigns_users: cluster.assigns_users() && !arguments.run_as_root, ..run };
    let patience = Patience { start: duration(arguments.start_timeout), cleanup: duration(arguments.cleanup_timeout) };
    let stop = stop::on_signals().context("listen for signals")?;
    printer.note(format!("run {} in namespace {}: Job {}", run.id, cluster.namespace(), run.name()));
    if arguments.detach {
        start(&cluster, &run, patience, &stop, &mut |told| match told {
            Told::Event(_) => {}
            Told::Note(text) => printer.note(text),
            Told::Warning(text) => printer.warning(text),
        })?;
        printer.answer(format!("{}\n", run.id)).map_err(OutputLost)?;
        printer.note(format!("it measures; `plimsoll kubernetes collect {}` gets its results", run.id));
        return Ok(Exit::Success);
    }
    followed(arguments.json, state, printer, |tell| run_in_pod(&cluster, &run, patience, &stop, tell))
}

/// What is to be done, in which kind of pod.
fn pod_run(arguments: &KubernetesRunArguments, printer: Printer) -> anyhow::Result<PodRun> {
    if arguments.storage_class.is_empty() && arguments.pvc.is_empty() {
        bail!("nothing to measure: name classes with --storage-class a,b or claims with --pvc");
    }
    let sizes = if arguments.volume_size.is_empty() { &[SIZE][..] } else { &arguments.volume_size };
    let sizes: Vec<u64> = sizes.iter().map(|size| size.0).collect();
    let volumes = request::volumes(&arguments.storage_class, &sizes, &arguments.pvc, arguments.mode, arguments.access)?;
    let is_block = arguments.mode == VolumeMode::Block;
    let may_be_overwritten = |volume: &&request::VolumeAsked| match &volume.source {
        VolumeSource::Class { .. } => is_block,
        VolumeSource::Claim { name } => is_block && arguments.destroy.contains(name),
    };
    let local_arguments = RunArguments {
        targets: volumes.iter().map(|volume| volume.target.clone().into()).collect(),
        measuring: arguments.measuring.0.clone(),
        provisioned: arguments.provisioned.clone(),
        destroy: volumes.iter().filter(may_be_overwritten).map(|volume| volume.target.clone().into()).collect(),
        expect_mount: !is_block,
        name: arguments.name.clone(),
        tags: arguments.tags.clone(),
        ..RunArguments::default()
    };
    let asked = local::asked(&local_arguments, printer)?;
    Ok(PodRun {
        id: Uuid::now_v7(),
        volumes,
        placement: Placement {
            node: arguments.node.clone(),
            selector: arguments.node_selector.iter().cloned().collect(),
            tolerations: arguments.toleration.clone(),
            priority_class: arguments.priority_class.clone(),
        },
        image: ImageAsked {
            name: image(&arguments.image, arguments.registry_prefix.as_deref()),
            pull_policy: arguments.image_pull_policy.clone(),
            pull_secrets: arguments.image_pull_secret.clone(),
        },
        resources: Resources {
            cpu: arguments.cpu.clone(),
            cpu_limit: arguments.cpu_limit.clone(),
            memory: arguments.memory.clone(),
            seccomp: arguments.seccomp.clone(),
        },
        assigns_users: false,
        runs_as_root: arguments.run_as_root,
        plan: plan_text(asked)?,
        keep_s: seconds(arguments.keep),
        deadline_s: seconds(arguments.deadline),
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

pub(super) fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.ns)
}

/// Whole seconds, as Kubernetes counts.
fn seconds(span: Span) -> u32 {
    u32::try_from(span.ns.div_ceil(1_000_000_000)).unwrap_or(u32::MAX)
}
