//! What the cluster says about classes, claims, volumes and nodes: before the run, so that what cannot work is refused,
//! and after it, for the record.

use k8s_openapi::api::{
    core::v1::{Node, PersistentVolume, PersistentVolumeClaim},
    storage::v1::StorageClass,
};
use kube::{ResourceExt, api::ListParams};
use plimsoll_catalog::quantity::Quantity;
use plimsoll_record::cluster::{ClusterEnvironment, NodeEnvironment, VolumeEnvironment};

use crate::{
    cluster::Cluster,
    error::ClusterError,
    looking::seen,
    preflight::claims,
    request::{PodRun, VolumeSource},
};

/// What is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) minor_version: u32,
    /// One for each volume that is made, where classes may be looked at.
    classes: Vec<Option<StorageClass>>,
    /// One for each volume that was there before.
    claims: Vec<Option<PersistentVolumeClaim>>,
    /// One for each claim of the run, once they are made.
    volumes: Vec<Option<PersistentVolume>>,
    nodes: Vec<NodeEnvironment>,
}

impl Facts {
    /// Looks at what is to be used, and refuses what is not there.
    pub(crate) async fn gather(cluster: &Cluster, run: &PodRun) -> Result<Self, ClusterError> {
        let mut facts = Self { minor_version: minor(cluster.version()), ..Self::default() };
        for volume in &run.volumes {
            let (mut class, mut claim) = (None, None);
            match &volume.source {
                VolumeSource::Class { class: name, .. } => class = find_class(cluster, name).await?,
                VolumeSource::Claim { name } => {
                    let doing = || format!("look at the claim {name}");
                    let found = cluster.here::<PersistentVolumeClaim>().get_opt(name).await;
                    claim = found.map_err(|error| ClusterError::of(doing(), &error))?;
                    let why = claims::refusal(name, cluster.namespace(), claim.as_ref(), volume.mode, &run.pods);
                    if let Some(why) = why {
                        return Err(ClusterError::Usage(why));
                    }
                }
            }
            facts.classes.push(class);
            facts.claims.push(claim);
        }
        Ok(facts)
    }

    /// Looks at what was used, as far as it is there and may be looked at: a run that is over has its results whatever
    /// became of that. Where a cluster does not answer, the run stays for another time.
    pub(crate) async fn recall(cluster: &Cluster, run: &PodRun) -> Result<Self, ClusterError> {
        let mut facts = Self { minor_version: minor(cluster.version()), ..Self::default() };
        for volume in &run.volumes {
            let (mut class, mut claim) = (None, None);
            match &volume.source {
                // Its claim is gone, which alone had the name.
                VolumeSource::Class { class: name, .. } if name.is_empty() => {}
                VolumeSource::Class { class: name, .. } => {
                    class = seen("StorageClass", cluster.everywhere().get(name).await)?.ok();
                }
                VolumeSource::Claim { name } => {
                    claim = seen("claim", cluster.here().get(name).await)?.ok();
                }
            }
            facts.classes.push(class);
            facts.claims.push(claim);
        }
        Ok(facts)
    }

    /// Whether a volume is made without waiting for a pod; not, where nobody may say.
    pub(crate) fn is_made_at_once(&self, index: usize) -> bool {
        let class = self.classes.get(index).and_then(Option::as_ref);
        class.is_some_and(|class| class.volume_binding_mode.as_deref() != Some("WaitForFirstConsumer"))
    }

    /// The class of a volume that is made, where classes may be looked at.
    pub(crate) fn class(&self, index: usize) -> Option<&StorageClass> {
        self.classes.get(index)?.as_ref()
    }

    /// The claims that were there before.
    pub(crate) fn existing_claims(&self) -> Vec<PersistentVolumeClaim> {
        self.claims.iter().flatten().cloned().collect()
    }

    /// Looks at the volumes that were made, and the nodes that were chosen.
    pub(crate) async fn learn(&mut self, cluster: &Cluster, volumes: Vec<Option<String>>, nodes: Vec<String>) {
        let mut found = Vec::new();
        for name in volumes {
            let volume = match name {
                Some(name) => cluster.everywhere::<PersistentVolume>().get_opt(&name).await.ok().flatten(),
                None => None,
            };
            found.push(volume);
        }
        self.learn_seen(cluster, found, nodes).await;
    }

    /// The same of volumes that were seen before they were gone.
    pub(crate) async fn learn_seen(
        &mut self,
        cluster: &Cluster,
        volumes: Vec<Option<PersistentVolume>>,
        nodes: Vec<String>,
    ) {
        self.volumes = volumes;
        for name in nodes {
            let node = cluster.everywhere::<Node>().get_opt(&name).await.ok().flatten();
            self.nodes
                .push(node.map_or(NodeEnvironment { name, ..NodeEnvironment::default() }, |node| describe(&node)));
        }
    }

    /// The cluster as the record has it.
    pub(crate) fn environment(&self, cluster: &Cluster, run: &PodRun) -> ClusterEnvironment {
        ClusterEnvironment {
            version: Some(cluster.version().to_owned()),
            namespace: cluster.namespace().to_owned(),
            image: run.image.name.clone(),
            nodes: self.nodes.clone(),
            volumes: run.claims().into_iter().enumerate().map(|(at, of)| self.volume(run, at, of)).collect(),
        }
    }

    /// One of the claims of a run.
    fn volume(&self, run: &PodRun, at: usize, (index, claim_name): (usize, String)) -> VolumeEnvironment {
        let asked = &run.volumes[index];
        let of_claim = self.claims.get(index).and_then(Option::as_ref).and_then(|claim| claim.spec.as_ref());
        let of_class = self.classes.get(index).and_then(Option::as_ref);
        let volume = self.volumes.get(at).and_then(Option::as_ref);
        let spec = volume.and_then(|volume| volume.spec.as_ref());
        let csi = spec.and_then(|spec| spec.csi.as_ref());
        let (class, is_kept) = match &asked.source {
            VolumeSource::Class { class, .. } => (Some(class.clone()).filter(|class| !class.is_empty()), false),
            VolumeSource::Claim { .. } => (of_claim.and_then(|claim| claim.storage_class_name.clone()), true),
        };
        let capacity = spec.and_then(|spec| spec.capacity.as_ref()).and_then(|capacity| capacity.get("storage"));
        let asked_bytes = match &asked.source {
            VolumeSource::Class { size_bytes, .. } => Some(*size_bytes).filter(|bytes| *bytes > 0),
            VolumeSource::Claim { .. } => None,
        };
        VolumeEnvironment {
            target: asked.target.clone(),
            class,
            claim: claim_name,
            is_kept,
            volume: volume.map(ResourceExt::name_any),
            driver: csi.map(|csi| csi.driver.clone()).or_else(|| of_class.map(|class| class.provisioner.clone())),
            handle: csi.map(|csi| csi.volume_handle.clone()),
            size_bytes: capacity.and_then(|size| Quantity::read(&size.0)?.whole()).or(asked_bytes),
            mode: Some(asked.mode.as_str().to_owned()),
            access_modes: spec
                .and_then(|spec| spec.access_modes.clone())
                .unwrap_or_else(|| vec![asked.access.as_str().to_owned()]),
            reclaim_policy: spec
                .and_then(|spec| spec.persistent_volume_reclaim_policy.clone())
                .or_else(|| of_class.and_then(|class| class.reclaim_policy.clone())),
            mount_options: spec
                .and_then(|spec| spec.mount_options.clone())
                .or_else(|| of_class.and_then(|class| class.mount_options.clone()))
                .unwrap_or_default(),
        }
    }
}

/// A class by its name; `None` when classes may not be looked at.
async fn find_class(cluster: &Cluster, name: &str) -> Result<Option<StorageClass>, ClusterError> {
    let classes = cluster.everywhere::<StorageClass>();
    match classes.get_opt(name).await {
        Ok(Some(class)) => Ok(Some(class)),
        Ok(None) => {
            let known = classes.list(&ListParams::default()).await.map(|list| list.items).unwrap_or_default();
            let known: Vec<String> = known.iter().map(ResourceExt::name_any).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Err(ClusterError::Usage(format!("the cluster has no StorageClass {name}: it has {known}")))
        }
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(None),
        Err(error) => Err(ClusterError::of(format!("look at the StorageClass {name}"), &error)),
    }
}

fn describe(node: &Node) -> NodeEnvironment {
    let label = |name: &str| node.labels().get(name).cloned();
    let info = node.status.as_ref().and_then(|status| status.node_info.as_ref());
    NodeEnvironment {
        name: node.name_any(),
        instance_type: label("node.kubernetes.io/instance-type"),
        region: label("topology.kubernetes.io/region"),
        zone: label("topology.kubernetes.io/zone"),
        kubelet_version: info.map(|info| info.kubelet_version.clone()),
        container_runtime: info.map(|info| info.container_runtime_version.clone()),
        operating_system: info.map(|info| info.os_image.clone()),
    }
}

/// The minor version in `v1.36.1` or `v1.33.2-eks-1`; zero when there is none.
fn minor(version: &str) -> u32 {
    let minor = version.trim_start_matches('v').split('.').nth(1).unwrap_or_default();
    minor.trim_end_matches(|character: char| !character.is_ascii_digit()).parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, sync::mpsc::channel};

    use http::{Request, Response};
    use kube::{Client, client::Body};
    use serde_json::json;
    use tower::service_fn;

    use super::*;
    use crate::{
        cluster::test_clusters::answered_by,
        request::{AccessMode, VolumeMode, test_runs::pod_run, volumes},
    };

    #[test]
    fn a_run_is_collected_when_its_class_or_claim_is_gone() {
        let (told, asked) = channel();
        let answering = move |code: u16| {
            let told = told.clone();
            let service = service_fn(move |request: Request<Body>| {
                told.send(request.uri().path().to_owned()).unwrap();
                let why = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code });
                let body = Body::from(why.to_string().into_bytes());
                async move { Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap()) }
            });
            answered_by(|| Client::new(service, "default"))
        };
        let cluster = answering(404);
        let (class, claim) = (["gone".to_owned()], ["data".to_owned()]);
        let (mode, access) = (VolumeMode::Filesystem, AccessMode::ReadWriteOnce);
        let mut run = pod_run(volumes(&class, &[8 << 30], &claim, mode, access).unwrap());
        assert!(cluster.wait_for(Facts::gather(&cluster, &run)).is_err());
        asked.try_iter().for_each(drop);
        let facts = cluster.wait_for(Facts::recall(&cluster, &run)).unwrap();
        assert!(facts.class(0).is_none() && facts.existing_claims().is_empty());
        assert_eq!(asked.try_iter().count(), 2);
        // Where nobody may look it goes on too, and stays where nobody answers.
        let recalled = |code| {
            let cluster = answering(code);
            cluster.wait_for(Facts::recall(&cluster, &run))
        };
        assert!(recalled(403).is_ok_and(|facts| facts.class(0).is_none()));
        assert!(recalled(500).is_err());
        asked.try_iter().for_each(drop);
        // What a claim that is gone was of, nobody knows.
        let VolumeSource::Class { class, .. } = &mut run.volumes[0].source else { panic!("it is of a class") };
        class.clear();
        cluster.wait_for(Facts::recall(&cluster, &run)).unwrap();
        let asked: Vec<String> = asked.try_iter().collect();
        assert_eq!(asked, ["/api/v1/namespaces/default/persistentvolumeclaims/data"]);
    }

    #[test]
    fn versions_are_read_as_kubernetes_writes_them() {
        for (text, expected) in [("v1.36.1", 36), ("v1.33.2-eks-1", 33), ("1.29+", 29), ("", 0), ("v2", 0)] {
            assert_eq!(minor(text), expected, "{text}");
        }
    }
}
