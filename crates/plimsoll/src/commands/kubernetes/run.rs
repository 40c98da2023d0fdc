//! `plimsoll kubernetes run`: the same measurement in a pod.

pub(super) mod several;

use std::time::Duration;

use anyhow::{Context, bail};
use plimsoll_catalog::{catalog::Catalog, error::CatalogError, expectation::Expectation};
use plimsoll_kubernetes::{
    cluster::Cluster,
    error::ClusterError,
    expecting, fitting, manifests,
    request::{
        self, AccessMode, ImageAsked, Placement, PodCount, PodRun, Resources, VolumeAsked, VolumeMode, VolumeSource,
    },
    run::{Patience, Told, run as run_in_pod, start},
};
use plimsoll_run::beforehand;
use plimsoll_workload::{
    error_chain::chain,
    plan_file::PlanFile,
    target_facts::TargetFacts,
    units::{ByteCount, Span},
};
use uuid::Uuid;

use super::{
    super::{catalog, run as local, slips},
    connect,
    following::followed,
};
use crate::{
    cli::{
        kubernetes::{
            AccessArguments, KubernetesRunArguments, PlaceArguments, PodArguments, PodMeasuringArguments,
            VolumeArguments,
        },
        run::RunArguments,
    },
    exit::{Exit, OutputLost},
    printer::Printer,
    state::State,
    stop,
};

/// How large new volumes are when nobody says it.
pub(super) const SIZE: ByteCount = ByteCount(8 << 30);

/// Does `plimsoll kubernetes run`.
pub(super) fn run(arguments: &KubernetesRunArguments, state: &State, printer: Printer) -> anyhow::Result<Exit> {
    // What makes no sense is refused before anybody is asked.
    if arguments.provisioned.kubernetes.is_some() {
        bail!("--kubernetes reads objects from a file, and this run asks the cluster itself: leave it out");
    }
    let volumes = volumes(arguments)?;
    several::check_turns(&arguments.pod, volumes.len())?;
    let mut asked = asked(arguments, &volumes, printer)?;
    if several::are_asked(&arguments.pod) {
        several::fix_passes(&mut asked)?;
        if arguments.pod.shared_file {
            several::share_files(&mut asked, &volumes, arguments.volumes.ephemeral)?;
        }
    } else if let Some(flag) = several::flag_about_them(&arguments.pod) {
        bail!("{flag} is about several pods: say with --nodes or --pods-per-node how many, or leave it out");
    }
    check_plan(&asked, &volumes, None)?;
    let cluster = if arguments.dry_run { asked_about(arguments, printer)? } else { Some(connect(&arguments.cluster)?) };
    check_plan(&asked, &volumes, cluster.as_ref())?;
    // Read once: it may be a pipe, or another one when the run is over.
    let limits = catalog::own_limits(arguments.provisioned.limits.as_deref())?;
    let catalog = catalog::of(limits.as_ref())?;
    let limits = limits.map(|(_, text)| text);
    let mut run = PodRun { limits, ..pod_run(arguments, volumes, asked, &catalog, cluster.as_ref(), printer)? };
    manifests::texts::check(&run)?;
    several::check_count(&run.pods)?;
    if let Some(cluster) = &cluster {
        several::settle(cluster, &mut run, &arguments.pod, printer)?;
    }
    let Some(cluster) = cluster.filter(|_| !arguments.dry_run) else {
        return dry_run(&run, arguments, printer);
    };
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
    followed(
        arguments.json,
        &catalog,
        state,
        printer,
        |tell| run_in_pod(&cluster, &run, patience, &stop, tell),
        Vec::new,
    )
}

/// The cluster, where objects are only to be printed: without one, what it would say is left out.
fn asked_about(arguments: &KubernetesRunArguments, printer: Printer) -> anyhow::Result<Option<Cluster>> {
    let AccessArguments { kubeconfig, context, .. } = &arguments.cluster;
    match connect(&arguments.cluster) {
        Ok(cluster) => Ok(Some(cluster)),
        Err(error) if kubeconfig.is_some() || context.is_some() => Err(error),
        Err(_) if arguments.pod.all_nodes => {
            bail!("--all-nodes asks a cluster how many nodes there are, and none answers: say with --nodes how many")
        }
        Err(error) => {
            printer
                .note(format!("no cluster was asked, so nobody knows what it would change: {}", chain(error.as_ref())));
            Ok(None)
        }
    }
}

/// What is to be measured.
fn volumes(arguments: &KubernetesRunArguments) -> anyhow::Result<Vec<VolumeAsked>> {
    if arguments.volumes.storage_class.is_empty() && arguments.volumes.pvc.is_empty() {
        bail!("nothing to measure: name classes with --storage-class a,b or claims with --pvc");
    }
    if let Some(claim) = arguments.destroy.iter().find(|claim| !arguments.volumes.pvc.contains(claim)) {
        bail!("--destroy {claim} names no claim of this run: leave it out, or name the claim with --pvc too");
    }
    named(&arguments.volumes)
}

/// The volumes that flags name; none where they name none.
pub(super) fn named(arguments: &VolumeArguments) -> anyhow::Result<Vec<VolumeAsked>> {
    let sizes = if arguments.volume_size.is_empty() { &[SIZE][..] } else { &arguments.volume_size };
    let sizes: Vec<u64> = sizes.iter().map(|size| size.0).collect();
    let (classes, claims) = (&arguments.storage_class, &arguments.pvc);
    if arguments.ephemeral && classes.is_empty() {
        bail!("--ephemeral is about new volumes: name their classes with --storage-class, or leave it out");
    }
    Ok(request::volumes(classes, &sizes, claims, arguments.mode, arguments.access)?)
}

/// What is asked of them, as of targets on this machine.
fn asked(
    arguments: &KubernetesRunArguments,
    volumes: &[VolumeAsked],
    printer: Printer,
) -> anyhow::Result<local::AskedRun> {
    let is_block = arguments.volumes.mode == VolumeMode::Block;
    let may_be_overwritten = |volume: &&VolumeAsked| match &volume.source {
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
    of_volumes(&local_arguments, local::plan_of(&local_arguments)?, volumes, printer)
}

/// What a plan asks of volumes that are the targets of a run.
fn of_volumes(
    arguments: &RunArguments,
    plan: PlanFile,
    volumes: &[VolumeAsked],
    printer: Printer,
) -> anyhow::Result<local::AskedRun> {
    let mut asked = local::asked_with(arguments, plan, printer)?;
    let is_volume = |target: &&String| volumes.iter().any(|volume| volume.target == **target);
    if let Some(other) = asked.targets.iter().chain(&asked.destroy).find(|target| !is_volume(target)) {
        bail!(
            "the plan names the target \"{other}\", and a pod has the volumes that flags name: leave it out of the plan"
        );
    }
    // A plan may name them too.
    asked.targets.truncate(volumes.len());
    if asked.background.is_some() {
        bail!("a pod has no other programs, so nothing can be started in the background: leave that out");
    }
    Ok(asked)
}

/// Refuses a plan that no pod could do on new volumes of these classes and sizes, before there is a cluster.
pub(in super::super) fn check_new(
    plan: PlanFile,
    classes: &[(String, ByteCount)],
    printer: Printer,
) -> anyhow::Result<()> {
    let mut volumes = Vec::new();
    for (class, size) in classes {
        let class = std::slice::from_ref(class);
        volumes.extend(request::volumes(class, &[size.0], &[], VolumeMode::Filesystem, AccessMode::ReadWriteOnce)?);
    }
    let targets = volumes.iter().map(|volume| volume.target.clone().into()).collect();
    let asked = of_volumes(&RunArguments { targets, ..RunArguments::default() }, plan, &volumes, printer)?;
    // One at a time: which of them are of one run is not asked here.
    for targets in volumes.chunks(1).filter_map(|volume| fitting::targets(volume, None)) {
        slips::check_kinds(&targets, &asked)?;
        fits(&targets, &asked)?;
    }
    Ok(())
}

/// Refuses what the program in the pod would refuse, as far as that is known without the volumes.
fn check_plan(asked: &local::AskedRun, volumes: &[VolumeAsked], cluster: Option<&Cluster>) -> anyhow::Result<()> {
    slips::check_provisioned(&asked.provisioned, &asked.targets)?;
    let Some(targets) = fitting::targets(volumes, cluster) else { return Ok(()) };
    slips::check_kinds(&targets, asked)?;
    fits(&targets, asked).map_err(|error| {
        let text = PodMeasuringArguments::in_these_flags(&chain(error.as_ref()));
        ClusterError::InPod { exit: Exit::of(&error) as u8, text }.into()
    })
}

fn fits(targets: &[TargetFacts], asked: &local::AskedRun) -> anyhow::Result<()> {
    let plan = fitting::resolve(targets, &asked.workloads, &asked.certainty, asked.seed)?;
    slips::check_strides(&plan)?;
    Ok(beforehand::check(&plan, targets, &asked.destroy)?)
}

/// What is to be done, in which kind of pod.
fn pod_run(
    arguments: &KubernetesRunArguments,
    volumes: Vec<VolumeAsked>,
    mut asked: local::AskedRun,
    catalog: &Catalog,
    cluster: Option<&Cluster>,
    printer: Printer,
) -> anyhow::Result<PodRun> {
    slips::check_heeded(&asked.provisioned, &asked)?;
    if let Some(cluster) = cluster.filter(|_| asked.provisioned.is_empty()) {
        let (targets, notes) = expecting::bought(cluster, &volumes, arguments.pod.place.node.as_deref(), catalog);
        notes.iter().for_each(|note| printer.note(note));
        asked.provisioned.targets = targets;
    }
    for target in &asked.targets {
        // What it needs besides, the pod may find out.
        if let Err(unknown @ CatalogError::Unknown { .. }) = Expectation::of(&asked.provisioned.of(target), catalog) {
            return Err(unknown.into());
        }
    }
    Ok(PodRun {
        plan: plan_text(asked)?,
        keep_s: seconds(arguments.keep),
        start_s: seconds(arguments.start_timeout),
        deadline_s: seconds(arguments.deadline),
        ..unplanned(volumes, &arguments.volumes, &arguments.pod, cluster)
    })
}

/// A run in a pod of which nobody has said what it does, and how long it may take.
pub(super) fn unplanned(
    volumes: Vec<VolumeAsked>,
    of: &VolumeArguments,
    pod: &PodArguments,
    cluster: Option<&Cluster>,
) -> PodRun {
    let resources = Resources {
        cpu: pod.cpu.clone(),
        cpu_limit: pod.cpu_limit.clone(),
        memory: pod.memory.clone(),
        seccomp: pod.place.seccomp.clone(),
    };
    let pods = several::count(pod, volumes.len());
    let run = of_one(volumes, &pod.place, resources, cluster);
    PodRun {
        pods,
        is_ephemeral: of.ephemeral,
        shares_files: pod.shared_file,
        assigns_users: run.assigns_users && pod.run_as_user.is_none(),
        user: pod.run_as_user,
        file_group: pod.fs_group,
        ..run
    }
}

/// The same in one pod.
pub(super) fn of_one(
    volumes: Vec<VolumeAsked>,
    place: &PlaceArguments,
    resources: Resources,
    cluster: Option<&Cluster>,
) -> PodRun {
    /// Any but none, which the cluster would refuse.
    const A_WHILE_S: u32 = 3600;
    PodRun {
        id: Uuid::now_v7(),
        volumes,
        is_ephemeral: false,
        first_pod: None,
        shares_files: false,
        pods: PodCount::ONE,
        placement: Placement {
            node: place.node.clone(),
            selector: place.node_selector.iter().cloned().collect(),
            tolerations: place.toleration.clone(),
            priority_class: place.priority_class.clone(),
        },
        image: ImageAsked {
            name: image(&place.image, place.registry_prefix.as_deref()),
            pull_policy: place.image_pull_policy.clone(),
            pull_secrets: place.image_pull_secret.clone(),
        },
        resources,
        assigns_users: cluster.is_some_and(Cluster::assigns_users) && !place.run_as_root,
        runs_as_root: place.run_as_root,
        user: None,
        file_group: None,
        plan: String::new(),
        limits: None,
        keep_s: A_WHILE_S,
        start_s: 0,
        deadline_s: A_WHILE_S,
    }
}

/// The plan as the program in the pod reads it: everything is decided here that can be.
fn plan_text(asked: local::AskedRun) -> anyhow::Result<String> {
    let plan = PlanFile {
        name: asked.name,
        targets: asked.targets,
        provisioned: asked.provisioned,
        need: asked.need,
        background: asked.background,
        tags: asked.tags.into_iter().collect(),
        destroy: asked.destroy,
        keep_files: asked.keep_files,
        expect_mount: asked.expect_mount,
        detect_cloud: asked.detect_cloud.is_some(),
        workloads: asked.workloads,
        ..PlanFile::of_certainty(asked.certainty, asked.seed)
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

fn dry_run(run: &PodRun, arguments: &KubernetesRunArguments, printer: Printer) -> anyhow::Result<Exit> {
    let mut objects = vec![serde_json::to_value(manifests::job(run))?];
    for claim in manifests::claims(run, None) {
        objects.push(serde_json::to_value(claim)?);
    }
    if let Some(manifests::StartObjects { start, role, binding }) = manifests::start_objects(run, None) {
        objects.push(serde_json::to_value(start)?);
        objects.push(serde_json::to_value(role)?);
        objects.push(serde_json::to_value(binding)?);
    }
    for pod in manifests::other_pods(run, None) {
        objects.push(serde_json::to_value(pod)?);
    }
    if let Some(namespace) = &arguments.cluster.namespace {
        objects.iter_mut().for_each(|object| object["metadata"]["namespace"] = namespace.clone().into());
    }
    printer.answer(printed(&objects, &arguments.output)?).map_err(OutputLost)?;
    Ok(Exit::Success)
}

/// Objects as kubectl takes them.
pub(super) fn printed(objects: &[serde_json::Value], format: &str) -> anyhow::Result<String> {
    if format == "json" {
        let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": objects });
        return Ok(format!("{}\n", serde_json::to_string_pretty(&list)?));
    }
    let documents: Result<Vec<_>, _> = objects.iter().map(serde_saphyr::to_string).collect();
    Ok(documents?.join("---\n"))
}

pub(super) fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.ns)
}

/// Whole seconds, as Kubernetes counts, and as many as it can.
pub(super) fn seconds(span: Span) -> u32 {
    let seconds = span.ns.div_ceil(1_000_000_000);
    u32::try_from(seconds).unwrap_or(u32::MAX).min(i32::MAX.unsigned_abs())
}
