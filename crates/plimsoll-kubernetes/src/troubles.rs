//! Why a pod does not start, or did not end well, in a sentence: what its status and the cluster's events say, and what
//! to do about it. Pure.

mod job_end;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{ContainerStatus, Event, Pod, PodCondition};

use self::job_end::{deleted, on, too_late};
use crate::timeline::{BESIDE_THE_POINT, own_container, time_of};

pub(crate) use self::job_end::JobEnd;

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// What, why and what to do.
    pub(crate) text: String,
    /// Whether waiting will not help.
    pub(crate) is_final: bool,
}

/// What the cluster says about the objects of a run.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    /// Warnings, by the names of their events, of which each is about one thing that happens again and again.
    warnings: BTreeMap<String, Event>,
    /// Why no node takes the pod, as nodes look.
    pub(crate) of_nodes: Option<String>,
    /// How the Job ended, when it was looked at.
    pub(crate) job_end: Option<JobEnd>,
}

/// Reasons for which a container does not start that no waiting mends.
const FINAL_REASONS: &[&str] = &[
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

/// The reason that Jobs and pods give whose time has passed.
const DEADLINE: &str = "DeadlineExceeded";

/// How long the cluster may try in vain to make a pod: what it lacks may be about to come.
const TRYING: SignedDuration = SignedDuration::from_secs(20);

/// What refusals say that no waiting mends.
const LASTING: &[&str] = &["violates PodSecurity", "exceeded quota", "denied the request", "is forbidden"];

/// What they say while something is about to start, or in a namespace that was made a moment ago.
const PASSING: &[&str] = &[
    "failed calling webhook",
    "error looking up service account",
    "status unknown for quota",
    "not yet ready to handle request",
];

/// What to do about a pod that others have ended.
const AGAIN: &str = "run it again when nobody does";

impl Troubles {
    /// Of a run of which only objects are known.
    pub(crate) fn of_objects(job_end: Option<JobEnd>) -> Self {
        Self { job_end, ..Self::default() }
    }

    /// Takes in an event.
    pub(crate) fn observe(&mut self, event: &Event) {
        if event.type_.as_deref() == Some("Warning")
            && !BESIDE_THE_POINT.contains(&reason(event))
            && let Some(name) = &event.metadata.name
        {
            self.warnings.insert(name.clone(), event.clone());
        }
    }

    /// Why there is no pod.
    pub(crate) fn of_job(&self) -> Option<Trouble> {
        if let Some(end) = self.job_end() {
            return Some(Trouble { text: end.sentence(), is_final: true });
        }
        let is_refusal = |event: &Event| is_about(event, "Job") && reason(event) == "FailedCreate";
        let event = self.latest(is_refusal)?;
        let began = self.warnings.values().filter(|event| is_refusal(event)).filter_map(first_time).min();
        let is_long = last_time(event).zip(began).is_some_and(|(last, began)| last.duration_since(began) >= TRYING);
        let message = message(event);
        let advice = if message.contains("exceeded quota") {
            ": ask for less with --cpu and --memory, or have the quota raised"
        } else if message.contains("violates PodSecurity") {
            ": this namespace does not allow what was asked for"
        } else {
            ""
        };
        let text = format!("the cluster makes no pod: {message}{advice}");
        Some(Trouble { text, is_final: is_long || is_lasting(message) })
    }

    /// Why a pod has not started.
    pub(crate) fn of_start(&self, pod: &Pod) -> Option<Trouble> {
        if let Some(waiting) = containers(pod).find_map(|container| container.state.as_ref()?.waiting.as_ref())
            && let Some(reason) = waiting.reason.as_deref().filter(|reason| FINAL_REASONS.contains(reason))
        {
            let said = waiting.message.as_deref().unwrap_or_default();
            let image = containers(pod).next().map(|container| container.image.as_str()).unwrap_or_default();
            let text = if reason.contains("Image") {
                format!(
                    "the image {image} cannot be had ({reason}: {said}): `plimsoll kubernetes image` makes it; name \
                     where it is with --image, and a secret with --image-pull-secret"
                )
            } else {
                format!("the container does not start ({reason}): {said}")
            };
            return Some(Trouble { text, is_final: true });
        }
        let is_past = |event: &Event| reason(event) == "FailedScheduling" && has_node(pod);
        let is_about_it = |event: &Event| is_about(event, "Pod") || is_about(event, "PersistentVolumeClaim");
        let event = self.latest(|event| is_about_it(event) && !is_past(event));
        if event.is_none_or(|event| reason(event) == "FailedScheduling")
            && let Some(said) = unschedulable(pod)
        {
            let of_scheduler = || {
                let is_cordoned = said.contains("were unschedulable");
                let advice = if is_cordoned { ": `kubectl uncordon` has cordoned nodes take pods again" } else { "" };
                format!("no node takes the pod: {}{advice}", said.trim_end_matches(['.', ' ']))
            };
            return Some(Trouble { text: self.of_nodes.clone().unwrap_or_else(of_scheduler), is_final: false });
        }
        Some(Trouble { text: sentence(event?), is_final: false })
    }

    /// Why a claim has no volume yet.
    pub(crate) fn of_claim(&self) -> Option<String> {
        self.latest(|event| is_about(event, "PersistentVolumeClaim")).map(sentence)
    }

    /// Why a pod ended without a result.
    pub(crate) fn of_end(&self, pod: &Pod, last_words: &[String]) -> String {
        let status = pod.status.as_ref();
        let why = status.and_then(|status| status.reason.as_deref());
        let said = status.and_then(|status| status.message.as_deref()).unwrap_or_default();
        let ended = own_container(pod).and_then(|container| container.state.as_ref()?.terminated.as_ref());
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
        let is_killed = ended.is_some_and(|ended| ended.reason.as_deref() == Some("OOMKilled"));
        let job_end = self.job_end().filter(|_| !is_killed);
        if why == Some(DEADLINE) || job_end == Some(JobEnd::Late) {
            return too_late(node);
        }
        let on = on(node);
        if let Some(why @ ("Evicted" | "Preempting" | "Terminated" | "NodeLost")) = why {
            return format!("the pod was ended{on} ({why}): {}: {AGAIN}", said.trim_end_matches(['.', ' ', '\n']));
        }
        let disruption = status.and_then(|status| {
            let mut conditions = status.conditions.iter().flatten();
            conditions.find(|one| one.type_ == "DisruptionTarget" && one.status == "True")
        });
        if let Some(disruption) = disruption {
            let reason = disruption.reason.as_deref().unwrap_or_default();
            let said = disruption.message.as_deref().unwrap_or_default();
            return format!("the pod was ended{on} ({reason}): {}: {AGAIN}", said.trim_end_matches(['.', ' ']));
        }
        if job_end == Some(JobEnd::Deleted) {
            return deleted(node);
        }
        if pod.metadata.deletion_timestamp.is_some() && !is_killed {
            return format!("somebody deleted the pod{on} before the run was over: {AGAIN}");
        }
        let is_rejected = status.is_some_and(|status| status.phase.as_deref() == Some("Failed"));
        if let (None, Some(why), true) = (ended, why, is_rejected) {
            return format!("the pod failed{on} ({why}): {}", said.trim_end_matches(['.', ' ', '\n']));
        }
        let Some(ended) = ended else {
            let words = quoted(last_words);
            return format!("the pod{on} is gone without a result: somebody deleted it: {AGAIN}{words}");
        };
        match ended.reason.as_deref() {
            Some("OOMKilled") => format!(
                "the program in the pod needed more memory than it may have and was killed (OOMKilled){on}: allow \
                 more with --memory, or lower --queue-depth, --jobs or --block-size"
            ),
            reason => format!(
                "the program in the pod ended with code {} ({}){on} without a result{}",
                ended.exit_code,
                reason.unwrap_or("no reason"),
                quoted(if last_words.is_empty() { ended.message.as_slice() } else { last_words })
            ),
        }
    }

    /// How the Job ended: as it says itself, or an event about it.
    fn job_end(&self) -> Option<JobEnd> {
        let is_late = |event: &Event| is_about(event, "Job") && reason(event) == DEADLINE;
        self.job_end.clone().or_else(|| self.latest(is_late).map(|_| JobEnd::Late))
    }

    /// The last event of a kind.
    fn latest(&self, is_wanted: impl Fn(&Event) -> bool) -> Option<&Event> {
        self.warnings.values().filter(|event| is_wanted(event)).max_by_key(|event| last_time(event))
    }
}

/// What an event says.
fn sentence(event: &Event) -> String {
    let about = event.involved_object.name.as_deref().unwrap_or_default();
    let what = match reason(event) {
        "FailedScheduling" => "no node takes the pod".to_owned(),
        "ProvisioningFailed" => format!("the volume of claim {about} is not made"),
        "VolumeResizeFailed" => format!("the volume of claim {about} does not grow"),
        "FailedAttachVolume" => "a volume is not attached".to_owned(),
        "FailedMount" | "FailedMapVolume" => "a volume is not mounted".to_owned(),
        "Failed" | "BackOff" | "FailedCreatePodSandBox" => "the container does not start".to_owned(),
        other => format!("{about}: {other}"),
    };
    let times = event.count.filter(|count| *count > 1).map(|count| format!(" ({count} times)")).unwrap_or_default();
    format!("{what}{times}: {}", message(event))
}

/// Whether waiting does not help where this is why a pod is not made.
fn is_lasting(message: &str) -> bool {
    let says = |words: &&str| message.contains(words);
    LASTING.iter().any(says) && !PASSING.iter().any(says)
}

/// When it happened first.
fn first_time(event: &Event) -> Option<Timestamp> {
    let first = event.first_timestamp.as_ref().map(|time| time.0);
    [first, time_of(event)].into_iter().flatten().min()
}

/// When it happened last.
fn last_time(event: &Event) -> Option<Timestamp> {
    let series = event.series.as_ref().and_then(|series| series.last_observed_time.as_ref()).map(|time| time.0);
    let last = event.last_timestamp.as_ref().map(|time| time.0);
    [series, last, time_of(event)].into_iter().flatten().max()
}

fn containers(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten())
}

/// What the scheduler says of a pod that it has no node for.
pub(crate) fn unschedulable(pod: &Pod) -> Option<&str> {
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let is_so = |one: &&PodCondition| one.status == "False" && one.reason.as_deref() == Some("Unschedulable");
    conditions.find(|one| one.type_ == "PodScheduled" && is_so(one))?.message.as_deref()
}

fn has_node(pod: &Pod) -> bool {
    pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some())
}

fn is_about(event: &Event, kind: &str) -> bool {
    event.involved_object.kind.as_deref() == Some(kind)
}

fn reason(event: &Event) -> &str {
    event.reason.as_deref().unwrap_or_default()
}

fn message(event: &Event) -> &str {
    event.message.as_deref().unwrap_or_default().trim_end_matches(['.', ' ', '\n'])
}

fn quoted(last_words: &[String]) -> String {
    if last_words.is_empty() { String::new() } else { format!("; its last words: {}", last_words.join(" / ")) }
}
