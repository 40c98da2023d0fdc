//! How the Job of a run ended, by its own conditions: they stay when events are late, lost or may not be watched. Pure.

use k8s_openapi::api::batch::v1::Job;

use super::{AGAIN, DEADLINE};

/// The end of a Job that did not do what it was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JobEnd {
    /// The time that it may take has passed.
    Late,
    /// It failed in another way.
    Failed {
        /// What the cluster says about it.
        why: String,
    },
    /// It was deleted.
    Deleted,
}

impl JobEnd {
    /// Of a Job as it is now, if it is still there; `None` while it goes on, and when it ended well.
    pub(crate) fn of(job: Option<&Job>) -> Option<Self> {
        let Some(job) = job else { return Some(Self::Deleted) };
        let mut conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
        // The first is there while its pods are still ending.
        let is_failure = |kind: &str| ["FailureTarget", "Failed"].contains(&kind);
        match conditions.find(|one| is_failure(&one.type_) && one.status == "True") {
            Some(failure) => {
                let reason = failure.reason.as_deref().unwrap_or("no reason");
                let said = failure.message.as_deref().unwrap_or_default().trim_end_matches(['.', ' ']);
                let why = if said.is_empty() { reason.to_owned() } else { format!("{reason}, {said}") };
                Some(if reason == DEADLINE { Self::Late } else { Self::Failed { why } })
            }
            None => job.metadata.deletion_timestamp.is_some().then_some(Self::Deleted),
        }
    }

    /// The same in a sentence, of a run of which no pod is there to say more.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Late => too_late(None),
            Self::Failed { why } => {
                format!("the Job of the run failed ({why}), and its pod is not there to say more: run it again")
            }
            Self::Deleted => deleted(None),
        }
    }
}

/// That the time of a run has passed; the same sentence wherever it is noticed.
pub(super) fn too_late(node: Option<&str>) -> String {
    format!("the deadline of the run has passed, and the cluster ended it{}: allow more with --deadline", on(node))
}

/// That the whole run was removed.
pub(super) fn deleted(node: Option<&str>) -> String {
    format!("the Job of the run was deleted, and its pod{} with it: {AGAIN}", on(node))
}

/// Where it was, behind what is said to have been there.
pub(super) fn on(node: Option<&str>) -> String {
    node.map(|node| format!(" on {node}")).unwrap_or_default()
}
