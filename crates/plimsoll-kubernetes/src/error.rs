//! Why a cluster did not do what was asked.

use kube::core::Status;
use plimsoll_workload::error_chain::chain;
use thiserror::Error;
use uuid::Uuid;

/// What a cluster would not or could not do. Each says what, and what to do.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// Nobody said which cluster, or what was said makes no sense.
    #[error("{0}")]
    Configuration(String),
    /// The API server does not answer.
    #[error("{doing}: the cluster does not answer: {reason}")]
    Unreachable {
        /// What was being done.
        doing: String,
        /// What the connection says.
        reason: String,
    },
    /// The API server said no.
    #[error("{doing}: {reason}")]
    Refused {
        /// What was being done.
        doing: String,
        /// What it said.
        reason: String,
    },
    /// A run did not come to its end.
    #[error("{0}")]
    Run(String),
    /// What was asked contradicts itself or the cluster.
    #[error("{0}")]
    Usage(String),
    /// The run was interrupted before it had begun.
    #[error("interrupted before anything was measured")]
    Interrupted,
    /// The client no longer follows a run that may have results, and leaves it.
    #[error(
        "{why}; the run {}: `plimsoll kubernetes collect {id}` gets its results, `plimsoll kubernetes cleanup {id}` \
         removes it",
        if *has_ended { "has ended" } else { "goes on" }
    )]
    Left {
        /// Why it does not.
        why: String,
        /// The run.
        id: Uuid,
        /// Whether its pods have ended, as far as is known.
        has_ended: bool,
        /// Whether somebody wanted it so.
        is_interrupted: bool,
    },
    /// The program in the pod refused the run, or would.
    #[error("{text}")]
    InPod {
        /// The exit code that it would have had.
        exit: u8,
        /// What it said.
        text: String,
    },
}

impl ClusterError {
    /// What a request ran into.
    pub(crate) fn of(doing: impl Into<String>, error: &kube::Error) -> Self {
        let doing = doing.into();
        match error {
            kube::Error::Api(status) => Self::Refused { doing, reason: refusal(status) },
            error => Self::Unreachable { doing, reason: chain(error) },
        }
    }
}

/// That something is not allowed without which nothing goes.
pub(crate) fn not_allowed(doing: String) -> ClusterError {
    let reason = "that is not allowed: `plimsoll kubernetes preflight` prints the rules that are missing";
    ClusterError::Refused { doing, reason: reason.to_owned() }
}

/// Whether the same request may succeed a little later: nobody answered, or the API server is busy or about to start.
pub(crate) fn may_pass(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => matches!(status.code, 429 | 500 | 502..=504),
        error => matches!(error, kube::Error::HyperError(_) | kube::Error::Service(_) | kube::Error::ReadEvents(_)),
    }
}

/// What the API server says, and what to do about it where that is not clear.
fn refusal(status: &Status) -> String {
    let message = if status.message.is_empty() { &status.reason } else { &status.message };
    let advice = match status.code {
        401 => ": log in again, the cluster does not know these credentials",
        403 if message.contains("exceeded quota") => ": lower what is asked for, or have the quota raised",
        // What somebody lacks the right to do is said so by the authorizer; admission says no in other words.
        403 if message.contains(" cannot ") => ": `plimsoll kubernetes preflight` prints the rules that are missing",
        _ => "",
    };
    format!("{message}{advice}")
}
