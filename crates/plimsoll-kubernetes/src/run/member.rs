//! One pod of a run: how far it is, and what its log has told.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, ResourceExt as _};
use tokio::{
    sync::{Notify, mpsc::UnboundedSender},
    task::JoinHandle,
    time::sleep,
};

use crate::{
    following::{Followed, FromPod, follow},
    frames::Reader,
    manifests::GATE,
    timeline::{has_ended, has_started, is_ready, was_killed},
};

/// How long the log of a pod may take to end that has told its last words: its node may be gone as well.
const ENDING: Duration = Duration::from_secs(30);

/// How many lines for people are kept for the case that something goes wrong.
const LAST_LINES: usize = 5;

/// A pod.
#[derive(Debug, Default)]
pub(crate) struct Member {
    /// The pod as it was seen last.
    pub(crate) pod: Option<Box<Pod>>,
    /// Whether it is gone.
    pub(crate) is_gone: bool,
    pub(crate) is_released: bool,
    following: Option<JoinHandle<()>>,
    doubt: Arc<Notify>,
    /// Whether it had started, nobody knows when, before its log was followed.
    pub(crate) follows_late: bool,
    pub(crate) reader: Reader,
    pub(crate) last_lines: Vec<String>,
    /// Whether it has told all.
    pub(crate) is_done: bool,
    /// Whether it has told all of a run that somebody else cut short.
    pub(crate) is_cut_short: bool,
    /// Whether it will tell nothing more, and has not told all.
    pub(crate) is_lost: bool,
}

impl Member {
    /// Takes in what a watch delivered, and follows its log once it runs.
    pub(crate) fn observe(&mut self, number: u32, pod: Box<Pod>, (is_initial, is_gone): (bool, bool), lines: &Lines) {
        if self.following.is_none() && has_started(&pod) {
            let (pods, deadline, sender) = (lines.pods.clone(), lines.deadline, lines.sender.clone());
            self.follows_late = is_initial;
            let from = FromPod { number, deadline, doubt: Arc::clone(&self.doubt), sender };
            self.following = Some(follow(pods, pod.name_any(), from));
        }
        if is_gone || has_ended(&pod) {
            self.doubt();
        }
        (self.pod, self.is_gone) = (Some(pod), is_gone);
    }

    /// Says that its log should have something new.
    pub(crate) fn doubt(&self) {
        self.doubt.notify_one();
    }

    pub(crate) fn name(&self) -> String {
        self.pod.as_ref().map(|pod| pod.name_any()).unwrap_or_default()
    }

    pub(crate) fn node(&self) -> Option<&str> {
        self.pod.as_ref()?.spec.as_ref()?.node_name.as_deref()
    }

    /// The pod, when the scheduler may not look at it yet because of us.
    pub(crate) fn gated(&self) -> Option<&Pod> {
        let pod = self.pod.as_deref().filter(|_| !self.is_gone && !self.is_released)?;
        let gates = pod.spec.as_ref()?.scheduling_gates.as_ref()?;
        gates.iter().any(|gate| gate.name == GATE).then_some(pod)
    }

    /// Whether its program has begun.
    pub(crate) const fn has_begun(&self) -> bool {
        self.following.is_some() || self.is_lost
    }

    /// Whether it has begun and may still tell something.
    pub(crate) const fn has_more(&self) -> bool {
        self.has_begun() && !self.has_told_all() && !self.is_lost
    }

    /// Whether it has said that it is ready to measure.
    pub(crate) fn is_ready(&self) -> bool {
        self.pod.as_deref().is_some_and(is_ready)
    }

    /// Whether it ended without ever having begun: evicted, or out of time.
    pub(crate) fn has_failed(&self) -> bool {
        self.phase() == Some("Failed")
    }

    fn phase(&self) -> Option<&str> {
        self.pod.as_ref()?.status.as_ref()?.phase.as_deref()
    }

    /// Whether it was taken away, or is about to be.
    pub(crate) fn is_taken(&self) -> bool {
        self.is_gone || self.pod.as_ref().is_some_and(|pod| pod.metadata.deletion_timestamp.is_some())
    }

    /// Whether its pod says how it ended, which comes a little later than its end.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.phase(), Some("Failed" | "Succeeded"))
    }

    /// Whether its program was ended without having been asked, as far as is known.
    pub(crate) fn was_killed(&self) -> bool {
        self.is_gone || self.pod.as_deref().is_some_and(was_killed)
    }

    /// Whether it has told all, of a run that was cut short too.
    pub(crate) const fn has_told_all(&self) -> bool {
        self.is_done || self.is_cut_short
    }

    /// Keeps a line that is for people.
    pub(crate) fn keep_line(&mut self, line: String) {
        self.last_lines.push(line);
        let surplus = self.last_lines.len().saturating_sub(LAST_LINES);
        self.last_lines.drain(..surplus);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(following) = &self.following {
            following.abort();
        }
    }
}

/// Where logs come from, and where their lines go.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) pods: Api<Pod>,
    /// How long the run may take.
    pub(crate) deadline: Duration,
    pub(crate) sender: UnboundedSender<(u32, Followed)>,
}

impl Lines {
    /// Has the log of a pod end in a while, if it does not by itself.
    pub(crate) fn end_of(&self, number: u32) {
        let sender = self.sender.clone();
        tokio::spawn(async move {
            sleep(ENDING).await;
            let _ = sender.send((number, Followed::End));
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_pod_that_has_our_gate_is_held_by_us() {
        let is_gated = |gates: &[&str]| {
            let gates: Vec<_> = gates.iter().map(|name| json!({ "name": name })).collect();
            let pod = json!({ "metadata": { "name": "p" }, "spec": { "containers": [], "schedulingGates": gates } });
            let mut member = Member::default();
            member.pod = Some(Box::new(serde_json::from_value(pod).unwrap()));
            member.gated().is_some()
        };
        assert!(is_gated(&[GATE]) && is_gated(&["example.org/quota", GATE]));
        assert!(!is_gated(&[]) && !is_gated(&["example.org/quota"]));
    }
}
