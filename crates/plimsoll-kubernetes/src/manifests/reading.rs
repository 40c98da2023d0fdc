//! What a run is, read back from its objects: for whoever was not there when they were made.

use std::collections::BTreeMap;

use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Container, PersistentVolumeClaim, PodSpec},
};
use kube::ResourceExt as _;
use plimsoll_catalog::quantity::Quantity;

use super::texts;
use crate::request::{
    AccessMode, ImageAsked, Placement, PodCount, PodRun, RUN_LABEL, Resources, Seccomp, StartBy, VOLUMES, VolumeAsked,
    VolumeMode, VolumeSource,
};

/// The run that a Job with its claims is; `None` when it is none of ours.
pub fn read(job: &Job, claims: &[PersistentVolumeClaim]) -> Option<PodRun> {
    let id = job.labels().get(RUN_LABEL)?.parse().ok()?;
    let spec = job.spec.as_ref()?;
    let pod = spec.template.spec.as_ref()?;
    let container = pod.containers.first()?;
    let plan = container.env.iter().flatten().find(|variable| variable.name == super::PLAN_VARIABLE);
    let quantity = |list: Option<&BTreeMap<String, _>>, name: &str| {
        let quantity: Option<&k8s_openapi::apimachinery::pkg::api::resource::Quantity> = list?.get(name);
        quantity.map(|quantity| quantity.0.clone())
    };
    let requests = container.resources.as_ref().and_then(|resources| resources.requests.as_ref());
    let limits = container.resources.as_ref().and_then(|resources| resources.limits.as_ref());
    Some(PodRun {
        id,
        volumes: volumes(job, pod, container, claims),
        is_ephemeral: pod.volumes.iter().flatten().any(|volume| volume.ephemeral.is_some()),
        first_pod: None,
        pods: pods(job, container),
        shares_files: container.env.iter().flatten().any(|variable| variable.name == super::SHARED_FILE_VARIABLE),
        placement: Placement::default(),
        image: ImageAsked {
            name: container.image.clone().unwrap_or_default(),
            pull_policy: container.image_pull_policy.clone().unwrap_or_default(),
            pull_secrets: Vec::new(),
        },
        resources: Resources {
            cpu: quantity(requests, "cpu").unwrap_or_default(),
            cpu_limit: quantity(limits, "cpu"),
            memory: quantity(limits, "memory").unwrap_or_default(),
            seccomp: Seccomp::default(),
        },
        assigns_users: false,
        runs_as_root: false,
        user: None,
        file_group: None,
        limits: None,
        plan: plan.and_then(|plan| plan.value.as_deref()).map(texts::meant).unwrap_or_default(),
        keep_s: spec.ttl_seconds_after_finished.and_then(|seconds| u32::try_from(seconds).ok()).unwrap_or(0),
        // Nothing more is made of it.
        start_s: 0,
        // Those of earlier versions have it in the Job alone.
        deadline_s: pod
            .active_deadline_seconds
            .or(spec.active_deadline_seconds)
            .and_then(|seconds| u32::try_from(seconds).ok())
            .unwrap_or(0),
    })
}

/// How many pods the run has, and how they agree when to begin.
fn pods(job: &Job, container: &Container) -> PodCount {
    let count = job.annotations().get(super::PODS_ANNOTATION).and_then(|count| count.split_once('x'));
    let count = count.and_then(|(nodes, per_node)| Some((nodes.parse().ok()?, per_node.parse().ok()?)));
    let (nodes, per_node) = count.filter(|(nodes, per_node)| *nodes > 0 && *per_node > 0).unwrap_or((1, 1));
    let variable = |name: &str| container.env.iter().flatten().find(|variable| variable.name == name);
    let at = variable(super::START_VARIABLE).and_then(|variable| variable.value.as_deref()?.parse().ok());
    let take_turns = variable(super::TURNS_VARIABLE).is_some();
    PodCount { nodes, per_node, start: at.map_or(StartBy::Watching, StartBy::Time), take_turns }
}

/// The targets by where the container has its volumes, in the order of the pod's volumes.
fn volumes(job: &Job, pod: &PodSpec, container: &Container, claims: &[PersistentVolumeClaim]) -> Vec<VolumeAsked> {
    let mounts = container.volume_mounts.iter().flatten().map(|mount| (&mount.name, &mount.mount_path));
    let mounts = mounts.map(|(name, path)| (name, path, VolumeMode::Filesystem));
    let devices = container.volume_devices.iter().flatten();
    let devices = devices.map(|device| (&device.name, &device.device_path, VolumeMode::Block));
    let places: Vec<_> = mounts.chain(devices).collect();
    let volume = |volume: &k8s_openapi::api::core::v1::Volume| {
        let (_, path, mode) = places.iter().find(|(of, ..)| **of == volume.name)?;
        let target = path.strip_prefix(VOLUMES)?.trim_start_matches('/').to_owned();
        let template = volume.ephemeral.as_ref().and_then(|of| of.volume_claim_template.as_ref());
        let name = volume.persistent_volume_claim.as_ref().map(|of| of.claim_name.clone());
        let there = || claims.iter().find(|claim| Some(claim.name_any()) == name)?.spec.as_ref();
        let claim = template.map(|template| &template.spec).or_else(there);
        let is_shared =
            claim.is_some_and(|claim| claim.access_modes.iter().flatten().any(|mode| mode == "ReadWriteMany"));
        let is_new = |name: &String| name.starts_with(&format!("{}-", job.name_any()));
        let source = if name.as_ref().is_none_or(is_new) {
            let class = claim.and_then(|claim| claim.storage_class_name.clone()).unwrap_or_default();
            let asked = claim.and_then(|claim| claim.resources.as_ref()?.requests.as_ref()?.get("storage"));
            let size_bytes = asked.and_then(|size| Quantity::read(&size.0)?.whole()).unwrap_or(0);
            VolumeSource::Class { class, size_bytes }
        } else {
            VolumeSource::Claim { name: name? }
        };
        let access = if is_shared { AccessMode::ReadWriteMany } else { AccessMode::ReadWriteOnce };
        Some(VolumeAsked { target, source, mode: *mode, access })
    };
    pod.volumes.iter().flatten().filter_map(volume).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        manifests,
        request::{self, test_runs::pod_run},
    };

    #[test]
    fn a_run_is_read_back_from_its_objects() {
        for mode in [VolumeMode::Filesystem, VolumeMode::Block] {
            for access in [AccessMode::ReadWriteOnce, AccessMode::ReadWriteMany] {
                let classes = ["slow".to_owned(), "fast.and.dotted".to_owned()];
                let claims = if mode == VolumeMode::Block { vec![] } else { vec!["data".to_owned()] };
                let volumes = request::volumes(&classes, &[8 << 30, 1 << 40], &claims, mode, access).unwrap();
                // Whether a claim that was there is shared is known to whoever may look at it.
                let volumes: Vec<_> = volumes
                    .into_iter()
                    .map(|volume| match volume.source {
                        VolumeSource::Claim { .. } => VolumeAsked { access: AccessMode::ReadWriteOnce, ..volume },
                        VolumeSource::Class { .. } => volume,
                    })
                    .collect();
                let run = pod_run(volumes);
                let back = read(&manifests::job(&run), &manifests::claims(&run, None)).unwrap();
                assert_eq!(back.volumes, run.volumes);
                assert_eq!((back.id, back.name(), &back.plan), (run.id, run.name(), &run.plan));
                assert_eq!(
                    (back.image.name, back.keep_s, back.deadline_s),
                    (run.image.name, run.keep_s, run.deadline_s)
                );
            }
        }
    }

    #[test]
    fn a_run_whose_volumes_go_with_pods_is_read_back_without_claims() {
        let (classes, claims) = (["slow".to_owned(), "fast".to_owned()], ["data".to_owned()]);
        let (mode, access) = (VolumeMode::Filesystem, AccessMode::ReadWriteOnce);
        let volumes = request::volumes(&classes, &[8 << 30], &claims, mode, access).unwrap();
        let run = PodRun { is_ephemeral: true, ..pod_run(volumes) };
        assert_eq!(manifests::claims(&run, None), []);
        let mut back = read(&manifests::job(&run), &[]).unwrap();
        assert_eq!((back.is_ephemeral, &back.volumes), (true, &run.volumes));
        // What the cluster calls claims is known with the pod.
        back.first_pod = Some("plimsoll-x-abcde".to_owned());
        assert_eq!(back.claims_of(0), ["plimsoll-x-abcde-volume-0", "plimsoll-x-abcde-volume-1", "data"]);
        assert_eq!(back.claims_of(1)[1], format!("{}-pod-1-volume-1", run.name()));
    }

    #[test]
    fn several_pods_are_read_back() {
        let times = [StartBy::Watching, StartBy::Time("2026-11-22T12:00:00Z".parse().unwrap())];
        for (start, take_turns) in times.into_iter().zip([false, true]) {
            let classes = ["slow".to_owned()];
            let (mode, access) = (VolumeMode::Filesystem, AccessMode::ReadWriteOnce);
            let volumes = request::volumes(&classes, &[8 << 30], &[], mode, access).unwrap();
            let pods = PodCount { nodes: 3, per_node: 2, start, take_turns };
            let run = PodRun { pods, shares_files: start == StartBy::Watching, ..pod_run(volumes) };
            let back = read(&manifests::job(&run), &manifests::claims(&run, None)).unwrap();
            assert_eq!((back.pods, &back.volumes, back.claims()), (run.pods, &run.volumes, run.claims()));
            assert_eq!(back.shares_files, run.shares_files);
        }
    }

    #[test]
    fn a_job_of_somebody_else_is_none() {
        let run = pod_run(Vec::new());
        let mut job = manifests::job(&run);
        job.metadata.labels = None;
        assert!(read(&job, &[]).is_none());
    }
}
