//! One pod of a run: how far it is, and what its log has told.

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, ResourceExt as _};
use tokio::{sync::mpsc::UnboundedSender, task::JoinHandle};

use crate::{
    following::{FromPod, follow},
    frames::Reader,
    timeline::{has_started, is_ready},
};

/// How many lines for people are kept for the case that something goes wrong.
const LAST_LINES: usize = 5;

/// A pod.
#[derive(Debug, Default)]
pub(super) struct Member {
    /// The pod as it was seen last.
    pub(super) pod: Option<Box<Pod>>,
    /// Whether it is gone.
    pub(super) is_gone: bool,
    pub(super) is_released: bool,
    following: Option<JoinHandle<()>>,
    /// Whether it had started, nobody knows when, before its log was followed.
    pub(super) follows_late: bool,
    pub(super) reader: Reader,
    pub(super) last_lines: Vec<String>,
    /// Whether it has told all.
    pub(super) is_done: bool,
}

impl Member {
    /// Takes in what a watch delivered, and follows its log once it runs.
    pub(super) fn observe(&mut self, number: u32, pod: Box<Pod>, (is_initial, is_gone): (bool, bool), lines: &Lines) {
        if self.following.is_none() && has_started(&pod) {
            let (pods, sender) = (lines.pods.clone(), lines.sender.clone());
            self.follows_late = is_initial;
            self.following = Some(follow(pods, pod.name_any(), FromPod { number, sender }));
        }
        (self.pod, self.is_gone) = (Some(pod), is_gone);
    }

    pub(super) fn name(&self) -> String {
        self.pod.as_ref().map(|pod| pod.name_any()).unwrap_or_default()
    }

    pub(super) fn node(&self) -> Option<&str> {
        self.pod.as_ref()?.spec.as_ref()?.node_name.as_deref()
    }

    /// The pod, when the scheduler may not look at it yet.
    pub(super) fn gated(&self) -> Option<&Pod> {
        let pod = self.pod.as_deref().filter(|_| !self.is_gone && !self.is_released)?;
        pod.spec.as_ref()?.scheduling_gates.as_ref().filter(|gates| !gates.is_empty())?;
        Some(pod)
    }

    /// Whether its program has begun.
    pub(super) const fn has_begun(&self) -> bool {
        self.following.is_some()
    }

    /// Whether it has said that it is ready to measure.
    pub(super) fn is_ready(&self) -> bool {
        self.pod.as_deref().is_some_and(is_ready)
    }

    /// Whether it ended without ever having begun: evicted, or out of time.
    pub(super) fn has_failed(&self) -> bool {
        let phase = self.pod.as_ref().and_then(|pod| pod.status.as_ref()?.phase.as_deref());
        phase == Some("Failed")
    }

    /// Keeps a line that is for people.
    pub(super) fn keep_line(&mut self, line: String) {
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
pub(super) struct Lines {
    pub(super) pods: Api<Pod>,
    pub(super) sender: UnboundedSender<(u32, crate::following::Followed)>,
}
