//! What is seen of a life, and to which of its uses it belongs.

use k8s_openapi::api::core::v1::PersistentVolume;
use kube::ResourceExt as _;
use plimsoll_record::lifecycle::VolumeLifecycle;

use super::{
    super::{snapshots, uses::Use},
    Life,
};
use crate::{
    teardown::Left,
    timeline::{Observation, Seen},
};

impl Life<'_> {
    /// Takes in what a watch delivered. What is of a volume goes to its first use, what is of a pod to that pod's.
    pub(super) fn observe(&mut self, observation: &Observation) {
        let first_of = |uses: &mut Vec<Use>, claim: &str| uses.iter().position(|one| one.claim == claim);
        match &observation.seen {
            Seen::Claim(claim) => {
                let name = claim.name_any();
                if let Some(volume) = claim.spec.as_ref().and_then(|spec| spec.volume_name.clone()) {
                    self.claimed.insert(volume, name.clone());
                }
                if observation.is_deleted {
                    self.claims.remove(&name);
                } else if let Some(known) = self.claims.get_mut(&name) {
                    *known = Some((**claim).clone());
                }
                first_of(&mut self.uses, &name).into_iter().for_each(|at| self.uses[at].timeline.observe(observation));
            }
            Seen::Volume(volume) => {
                let name = volume.name_any();
                if observation.is_deleted {
                    self.volumes_gone.insert(name.clone());
                }
                let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref()?.name.clone());
                claim.iter().for_each(|claim| drop(self.claimed.insert(name.clone(), claim.clone())));
                // As it was made: it may grow.
                self.volumes.entry(name).or_insert_with(|| (**volume).clone());
                let at = claim.and_then(|claim| first_of(&mut self.uses, &claim));
                at.into_iter().for_each(|at| self.uses[at].timeline.observe(observation));
            }
            Seen::Attachment(attachment) => {
                let Some(volume) = attachment.spec.source.persistent_volume_name.clone() else { return };
                if observation.is_deleted {
                    self.attachments.remove(&attachment.name_any());
                } else {
                    let there = (volume.clone(), attachment.spec.node_name.clone());
                    self.attachments.insert(attachment.name_any(), there);
                }
                let claim = self.claimed.get(&volume);
                let users = self.uses.iter_mut().filter(|one| Some(&one.claim) == claim && !one.is_closed);
                users.for_each(|one| one.timeline.observe(observation));
            }
            Seen::Pod(pod) => {
                let name = pod.name_any();
                if let Some(at) = self.uses.iter().position(|one| one.pod == name) {
                    let state = (observation.is_initial, observation.is_deleted);
                    self.uses[at].timeline.observe(observation);
                    self.uses[at].member.observe(
                        u32::try_from(at).unwrap_or(u32::MAX),
                        pod.clone(),
                        state,
                        &self.lines,
                    );
                }
            }
            Seen::Event(event) => {
                let about = event.involved_object.name.as_deref().unwrap_or_default();
                let (of_pod, of_claim) = match event.involved_object.kind.as_deref() {
                    Some("Pod") => (Some(about), None),
                    Some("PersistentVolumeClaim") => (None, Some(about)),
                    _ => return,
                };
                let at = of_claim.and_then(|claim| first_of(&mut self.uses, claim));
                for (index, one) in self.uses.iter_mut().enumerate() {
                    let is_of_pod = of_pod == Some(&one.pod);
                    if is_of_pod || at == Some(index) {
                        one.timeline.observe(observation);
                    }
                    // What keeps a volume keeps all who use it.
                    if is_of_pod || of_claim == Some(&one.claim) {
                        one.troubles.observe(event);
                    }
                }
            }
        }
    }

    /// Whether its class keeps a volume whose claim is gone.
    pub(super) fn is_retained(&self, volume: &str) -> bool {
        let spec = self.volumes.get(volume).and_then(|volume| volume.spec.as_ref());
        spec.and_then(|spec| spec.persistent_volume_reclaim_policy.as_deref()) == Some("Retain")
    }

    /// Whether a volume is one of its.
    pub(super) fn has(&self, volume: &str) -> bool {
        self.claimed.contains_key(volume)
    }

    /// What stays of its snapshot by the wish of whoever made its class.
    pub(in crate::lives) fn stays(&self) -> Option<Left> {
        let class = self.around.snapshot_classes.get(self.kind)?.as_ref()?;
        snapshots::stays(class, self.snapshot.as_deref()?, self.snapshot_content.as_deref())
    }

    pub(in crate::lives) const fn number(&self) -> u32 {
        self.number
    }

    pub(in crate::lives) const fn kind(&self) -> usize {
        self.kind
    }

    pub(in crate::lives) const fn was_stopped(&self) -> bool {
        self.was_stopped
    }

    pub(in crate::lives) fn has_failed(&self) -> bool {
        self.uses.iter().any(|one| one.failed.is_some())
    }

    /// What the record has of it.
    pub(in crate::lives) fn uses(&self) -> Vec<VolumeLifecycle> {
        self.uses.iter().map(|one| one.life(self.target())).collect()
    }

    /// The nodes of its pods.
    pub(in crate::lives) fn nodes(&self) -> Vec<String> {
        self.uses.iter().filter_map(|one| one.node().map(str::to_owned)).collect()
    }

    /// The claim that it began with.
    pub(in crate::lives) fn first_claim(&self) -> String {
        self.name("data")
    }

    /// The volume that it began with, as it was seen last.
    pub(in crate::lives) fn first_volume(&self) -> Option<PersistentVolume> {
        let first = self.uses.first()?;
        self.volumes.get(first.timeline.volume_of(&first.claim)?).cloned()
    }

    /// Claims that are not known to be gone.
    pub(in crate::lives) fn claims_there(&self) -> Vec<String> {
        self.claims.keys().cloned().collect()
    }

    /// Volumes that are not known to be gone, where that can be known.
    pub(in crate::lives) fn volumes_there(&self) -> Vec<String> {
        if self.around.denied.contains("persistentvolumes") {
            return Vec::new();
        }
        self.claimed.keys().filter(|volume| !self.volumes_gone.contains(*volume)).cloned().collect()
    }
}
