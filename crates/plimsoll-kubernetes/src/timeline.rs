//! The lives of volumes, put together from what watches deliver. A pure fold: what is seen in any order, twice or only
//! in part gives the same lives, with fewer moments where less was seen.

mod phases;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use k8s_openapi::api::{
    core::v1::{ContainerState, ContainerStatus, Event, PersistentVolume, PersistentVolumeClaim, Pod},
    storage::v1::VolumeAttachment,
};
use plimsoll_record::lifecycle::{Failure, Happening, Moment, UsedAs, VolumeLifecycle};

use crate::manifests::{CONTAINER, goes_with_its_pod};

/// An object that a watch delivered.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    Claim(Box<PersistentVolumeClaim>),
    Volume(Box<PersistentVolume>),
    Attachment(Box<VolumeAttachment>),
    Pod(Box<Pod>),
    Event(Box<Event>),
}

/// That it did.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    /// When it arrived, since the origin of the watch's clock.
    pub(crate) at_ns: u64,
    /// Whether it was there already: since when nobody knows.
    pub(crate) is_initial: bool,
    /// Whether this says that it is gone.
    pub(crate) is_deleted: bool,
    pub(crate) seen: Seen,
}

/// When something happened, by each kind of clock.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    seen_ns: Option<u64>,
    /// Whether it had happened before anybody watched.
    was_so: bool,
    told: Option<Timestamp>,
}

/// Warnings that are not about volumes: of names, and of pods that are not ready yet.
pub(crate) const BESIDE_THE_POINT: &[&str] = &["MissingClusterDNS", "DNSConfigForming", "Unhealthy"];

type Moments = BTreeMap<Happening, Times>;

/// All that was seen so far.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// Where its claims are.
    namespace: String,
    /// When the first claim was sent, by both clocks.
    sent_ns: Option<u64>,
    sent_at: Timestamp,
    /// Whether a pod says when its volumes are mounted, and means it: before 1.36 it meant that images were pulled too.
    says_mounted: bool,
    claims: BTreeMap<String, Claim>,
    volumes: BTreeMap<String, Moments>,
    /// The volumes of claims, as bound volumes say: not every claim is watched.
    bound: BTreeMap<String, String>,
    /// By volume and node: a volume may be attached to several.
    attachments: BTreeMap<(String, String), Moments>,
    pods: BTreeMap<String, PodSeen>,
}

#[derive(Debug, Default)]
struct Claim {
    volume: Option<String>,
    moments: Moments,
    failures: BTreeMap<String, Failure>,
}

#[derive(Debug, Default)]
struct PodSeen {
    node: Option<String>,
    claims: BTreeSet<String>,
    moments: Moments,
    /// What it was told of volumes.
    attached: BTreeMap<String, Moments>,
    failures: BTreeMap<String, Failure>,
}

impl Timeline {
    /// Of a namespace of a cluster of this minor version of Kubernetes.
    pub(crate) fn new(minor_version: u32, namespace: &str) -> Self {
        Self { says_mounted: minor_version >= 36, namespace: namespace.to_owned(), ..Self::default() }
    }

    /// Says when the first claim is sent, by both clocks; by none that was watched, of whoever comes late.
    pub(crate) fn begin(&mut self, sent_ns: Option<u64>, sent_at: Timestamp) {
        (self.sent_ns, self.sent_at) = (sent_ns, sent_at);
    }

    /// Takes in what a watch delivered.
    pub(crate) fn observe(&mut self, observation: &Observation) {
        let Observation { at_ns, is_initial, is_deleted, seen } = observation;
        let at = if *is_initial { None } else { Some(*at_ns) };
        match seen {
            Seen::Claim(claim) => self.claim(claim, at, *is_deleted),
            Seen::Volume(volume) => {
                let moments = self.volumes.entry(name(&volume.metadata.name)).or_default();
                saw(moments, if *is_deleted { Happening::VolumeGone } else { Happening::Provisioned }, at);
                self.volume(volume);
            }
            Seen::Attachment(attachment) => self.attachment(attachment, at, *is_deleted),
            Seen::Pod(pod) => self.pod(pod, at),
            Seen::Event(event) => self.event(event, at),
        }
    }

    /// Takes in what happened to a claim that no watch tells.
    pub(crate) fn claim_happened(&mut self, claim: &str, what: Happening, at_ns: u64) {
        saw(&mut self.claims.entry(claim.to_owned()).or_default().moments, what, Some(at_ns));
    }

    /// Takes in what the program in a pod told.
    pub(crate) fn told(&mut self, claims: &[String], what: Happening, at: Timestamp, seen_ns: Option<u64>) {
        for claim in claims {
            let moments = &mut self.claims.entry(claim.clone()).or_default().moments;
            saw(moments, what, seen_ns);
            tell(moments, what, Some(at));
        }
    }

    /// The volume of a claim.
    pub(crate) fn volume_of(&self, claim: &str) -> Option<&str> {
        let told = self.claims.get(claim).and_then(|claim| claim.volume.as_ref());
        told.or_else(|| self.bound.get(claim)).map(String::as_str)
    }

    /// Whether a claim says itself that it is bound, which is what the scheduler goes by. Its volume says so before.
    pub(crate) fn is_bound(&self, claim: &str) -> bool {
        self.claims.get(claim).is_some_and(|claim| claim.moments.contains_key(&Happening::Bound))
    }

    /// The nodes of pods.
    pub(crate) fn nodes(&self) -> BTreeSet<&str> {
        self.pods.values().filter_map(|pod| pod.node.as_deref()).collect()
    }

    /// The life of a claim, as far as it was seen.
    pub(crate) fn life(&self, target: &str, claim: &str) -> VolumeLifecycle {
        let moments = self.moments(claim);
        let pod = self.pod_of(claim);
        let mut failures = self.claims.get(claim).map(|claim| claim.failures.clone()).unwrap_or_default();
        let volume = self.volume_of(claim);
        let others =
            || self.claims.keys().filter_map(|claim| self.volume_of(claim)).filter(|name| Some(*name) != volume);
        for (key, failure) in pod.iter().flat_map(|pod| &pod.failures) {
            // What names another volume is about that one.
            if !others().any(|other| failure.message.contains(other)) {
                failures.insert(key.clone(), failure.clone());
            }
        }
        let sent_ns = self.sent_ns(claim);
        let later_ns = sent_ns.zip(self.sent_ns).map_or(0, |(sent_ns, first_ns)| sent_ns.saturating_sub(first_ns));
        let sent_at_ns = self.sent_at.as_nanosecond() + i128::from(later_ns);
        let relative = |times: &Times| Moment {
            what: Happening::ClaimSent,
            seen_ns: times.seen_ns.zip(sent_ns).map(|(seen_ns, sent_ns)| seen_ns.saturating_sub(sent_ns)),
            told_ns: times.told.map(|told| i64::try_from(told.as_nanosecond() - sent_at_ns).unwrap_or_default()),
        };
        let mut list: Vec<Moment> =
            moments.iter().map(|(what, times)| Moment { what: *what, ..relative(times) }).collect();
        list.sort_by_key(|moment| (moment.seen_ns.unwrap_or(u64::MAX), moment.what));
        let (phases, phases_by_events) = phases::phases(&list);
        VolumeLifecycle {
            target: target.to_owned(),
            used_as: UsedAs::First,
            failed: None,
            claim: claim.to_owned(),
            volume: volume.map(str::to_owned),
            node: pod.and_then(|pod| pod.node.clone()),
            phases,
            phases_by_events,
            disagreements: phases::disagreements(&phases, &phases_by_events),
            moments: list,
            failures: failures.into_values().collect(),
        }
    }

    fn pod_of(&self, claim: &str) -> Option<&PodSeen> {
        self.pods.values().find(|pod| pod.claims.contains(claim))
    }

    /// When a claim was sent: those of a run are sent one after another.
    fn sent_ns(&self, claim: &str) -> Option<u64> {
        let own = self.claims.get(claim).and_then(|claim| claim.moments.get(&Happening::ClaimSent)?.seen_ns);
        own.or(self.sent_ns)
    }

    /// What happened to the claim, its volume, its attachment and its pod.
    fn moments(&self, claim: &str) -> Moments {
        let mut all = self.claims.get(claim).map(|claim| claim.moments.clone()).unwrap_or_default();
        saw(&mut all, Happening::ClaimSent, self.sent_ns(claim));
        let mut add = |moments: &Moments| {
            for (what, times) in moments {
                let known = all.entry(*what).or_default();
                known.seen_ns = earlier(known.seen_ns, times.seen_ns);
                known.told = earlier(known.told, times.told);
            }
        };
        let pod = self.pod_of(claim);
        pod.iter().for_each(|pod| add(&pod.moments));
        if let Some(volume) = self.volume_of(claim) {
            self.volumes.get(volume).iter().for_each(|moments| add(moments));
            pod.and_then(|pod| pod.attached.get(volume)).iter().for_each(|moments| add(moments));
            if let Some(node) = pod.and_then(|pod| pod.node.clone()) {
                self.attachments.get(&(volume.to_owned(), node)).iter().for_each(|moments| add(moments));
            }
        }
        all
    }

    fn claim(&mut self, claim: &PersistentVolumeClaim, at: Option<u64>, is_deleted: bool) {
        const NODE: &str = "volume.kubernetes.io/selected-node";
        let known = self.claims.entry(name(&claim.metadata.name)).or_default();
        if goes_with_its_pod(claim) {
            // Nobody here sends it, or has it deleted.
            saw(&mut known.moments, Happening::ClaimAccepted, at);
            if claim.metadata.deletion_timestamp.is_some() || is_deleted {
                saw(&mut known.moments, Happening::DeleteSent, at);
            }
        }
        let has_node = claim.metadata.annotations.iter().flatten().any(|(key, _)| key == NODE);
        if has_node {
            saw(&mut known.moments, Happening::NodeChosen, at);
        }
        if claim.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Bound") {
            known.volume = claim.spec.as_ref().and_then(|spec| spec.volume_name.clone());
            saw(&mut known.moments, Happening::Bound, at);
        }
        if is_deleted {
            saw(&mut known.moments, Happening::ClaimGone, at);
        }
    }

    fn volume(&mut self, volume: &PersistentVolume) {
        let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
        let claim = claim.filter(|claim| claim.namespace.as_deref() == Some(self.namespace.as_str()));
        let phase = volume.status.as_ref().and_then(|status| status.phase.as_deref());
        if let Some(claim) = claim.filter(|_| phase == Some("Bound")) {
            self.bound.insert(name(&claim.name), name(&volume.metadata.name));
        }
    }

    fn attachment(&mut self, attachment: &VolumeAttachment, at: Option<u64>, is_deleted: bool) {
        let Some(volume) = attachment.spec.source.persistent_volume_name.clone() else { return };
        let moments = self.attachments.entry((volume, attachment.spec.node_name.clone())).or_default();
        saw(moments, Happening::AttachAsked, at);
        if attachment.status.as_ref().is_some_and(|status| status.attached) {
            saw(moments, Happening::Attached, at);
        }
        if attachment.metadata.deletion_timestamp.is_some() || is_deleted {
            saw(moments, Happening::DetachAsked, at);
        }
        if is_deleted {
            saw(moments, Happening::Detached, at);
        }
    }

    fn pod(&mut self, pod: &Pod, at: Option<u64>) {
        let known = self.pods.entry(name(&pod.metadata.name)).or_default();
        if let Some(spec) = &pod.spec {
            if spec.scheduling_gates.iter().flatten().next().is_none() {
                saw(&mut known.moments, Happening::PodReleased, at);
            }
            known.node = known.node.take().or_else(|| spec.node_name.clone());
            let claims = spec.volumes.iter().flatten().filter_map(|volume| volume.persistent_volume_claim.as_ref());
            known.claims.extend(claims.map(|claim| claim.claim_name.clone()));
            let with_it = spec.volumes.iter().flatten().filter(|volume| volume.ephemeral.is_some());
            known.claims.extend(with_it.map(|volume| format!("{}-{}", name(&pod.metadata.name), volume.name)));
        }
        for (is_so, what) in [
            (has_condition(pod, "PodScheduled"), Happening::Scheduled),
            (self.says_mounted && has_condition(pod, "PodReadyToStartContainers"), Happening::Mounted),
            (has_started(pod), Happening::Started),
            (has_ended(pod), Happening::PodEnded),
        ] {
            if is_so {
                saw(&mut known.moments, what, at);
            }
        }
    }

    fn event(&mut self, event: &Event, at: Option<u64>) {
        let object = name(&event.involved_object.name);
        let kind = event.involved_object.kind.as_deref().unwrap_or_default();
        let reason = event.reason.as_deref().unwrap_or_default();
        let what = match (kind, reason) {
            ("PersistentVolumeClaim", "Provisioning") => Some(Happening::Provisioning),
            ("PersistentVolumeClaim", "ProvisioningSucceeded") => Some(Happening::Provisioned),
            ("Pod", "Scheduled") => Some(Happening::Scheduled),
            ("Pod", "SuccessfulAttachVolume") => {
                // It names the volume, in quotes.
                if let Some(volume) = event.message.as_deref().unwrap_or_default().split('"').nth(1) {
                    let attached = &mut self.pods.entry(object.clone()).or_default().attached;
                    let moments = attached.entry(volume.to_owned()).or_default();
                    saw(moments, Happening::AttachReported, at);
                    tell(moments, Happening::AttachReported, time_of(event));
                }
                None
            }
            // A file system tells nothing when it is mounted; the next thing that does is the image.
            ("Pod", "Pulled") => Some(Happening::Mounted),
            ("Pod", "Started") if is_of_ours(event) => Some(Happening::Started),
            _ => None,
        };
        let (moments, failures) = match kind {
            "PersistentVolumeClaim" => {
                let claim = self.claims.entry(object).or_default();
                (&mut claim.moments, &mut claim.failures)
            }
            "Pod" => {
                let pod = self.pods.entry(object).or_default();
                (&mut pod.moments, &mut pod.failures)
            }
            _ => return,
        };
        if let Some(what) = what {
            if what != Happening::Mounted || !self.says_mounted {
                saw(moments, what, at);
            }
            tell(moments, what, time_of(event));
        }
        if event.type_.as_deref() == Some("Warning") && !BESIDE_THE_POINT.contains(&reason) {
            let message = event.message.clone().unwrap_or_default();
            let count = event.count.or(event.series.as_ref().and_then(|series| series.count)).unwrap_or(1);
            let failure =
                Failure { reason: reason.to_owned(), message, count: u32::try_from(count).unwrap_or(1).max(1) };
            failures.insert(name(&event.metadata.name), failure);
        }
    }
}

/// Whether an event of a pod is about the container of the program, as far as it says which it is about.
fn is_of_ours(event: &Event) -> bool {
    let path = event.involved_object.field_path.as_deref();
    path.is_none_or(|path| path == format!("spec.containers{{{CONTAINER}}}"))
}

/// Whether the program of a pod has begun.
pub(crate) fn has_started(pod: &Pod) -> bool {
    states(pod).any(|state| state.running.is_some() || state.terminated.is_some())
}

/// Whether it says that it is ready.
pub(crate) fn is_ready(pod: &Pod) -> bool {
    has_condition(pod, "Ready")
}

fn has_condition(pod: &Pod, name: &str) -> bool {
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|one| one.type_ == name && one.status == "True")
}

/// What its program said at its end, where there is room for little.
pub(crate) fn last_words(pod: &Pod) -> Option<&str> {
    states(pod).find_map(|state| state.terminated.as_ref()?.message.as_deref())
}

/// Whether it has ended.
pub(crate) fn has_ended(pod: &Pod) -> bool {
    states(pod).any(|state| state.terminated.is_some())
}

/// Whether its program was ended without having been asked.
pub(crate) fn was_killed(pod: &Pod) -> bool {
    /// What it ends with when it was asked; what signals that nobody listens for make is beyond.
    const ASKED: i32 = 130;
    states(pod).any(|state| state.terminated.as_ref().is_some_and(|ended| ended.exit_code > ASKED))
}

fn states(pod: &Pod) -> impl Iterator<Item = &ContainerState> {
    own_container(pod).and_then(|container| container.state.as_ref()).into_iter()
}

/// The container of the program: others that somebody put beside it begin and end when they like.
pub(crate) fn own_container(pod: &Pod) -> Option<&ContainerStatus> {
    let mut containers = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    containers.find(|container| container.name == CONTAINER)
}

/// When an event happened: to the microsecond where it says so, or to the nanosecond as its name has it, which is that
/// of its object and the time in hexadecimal digits.
pub(crate) fn time_of(event: &Event) -> Option<Timestamp> {
    const SINCE_2017_NS: i128 = 1_500_000_000_000_000_000;
    if let Some(time) = &event.event_time {
        return Some(time.0);
    }
    let name = event.metadata.name.as_deref()?;
    let digits = name.rsplit_once('.')?.1;
    if !(15..=16).contains(&digits.len()) {
        return None;
    }
    let ns = i128::from(u64::from_str_radix(digits, 16).ok()?);
    Timestamp::from_nanosecond(ns).ok().filter(|_| ns > SINCE_2017_NS)
}

/// Notes the first time that something was seen; without a time, that it was so before.
fn saw(moments: &mut Moments, what: Happening, at_ns: Option<u64>) {
    let times = moments.entry(what).or_default();
    times.was_so |= at_ns.is_none() && times.seen_ns.is_none();
    times.seen_ns = earlier(times.seen_ns, at_ns.filter(|_| !times.was_so));
}

fn tell(moments: &mut Moments, what: Happening, at: Option<Timestamp>) {
    let times = moments.entry(what).or_default();
    times.told = earlier(times.told, at);
}

fn earlier<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn name(name: &Option<String>) -> String {
    name.clone().unwrap_or_default()
}
