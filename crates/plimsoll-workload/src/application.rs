//! Applications: commands that are timed, and what is done around them.

use serde::{Deserialize, Serialize};

use crate::settings::words;

words! {
    /// What is done at a moment of an application.
    Stage("a stage of an application") {
        /// Once for each target, before the first iteration.
        Setup = "setup",
        /// Until it succeeds, after the setup.
        Ready = "ready",
        /// Before each iteration.
        Prepare = "prepare",
        /// The wait for the storage to come to rest, before each iteration.
        Settle = "settle",
        /// The command that is timed.
        Run = "run",
        /// After each iteration: whether it did what it should.
        Verify = "verify",
        /// At the end of each iteration.
        Conclude = "conclude",
        /// Once for each target, however the run ended.
        Cleanup = "cleanup",
    }
}

/// The exact parameters of an application on one target. Commands are what a shell reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApplicationPlan {
    /// The command that is timed, once in each slot.
    pub command: String,
    /// Done once, before the first iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Repeated after the setup until it succeeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// Done before each iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// Done after each iteration, which counts only if it succeeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
    /// Done at the end of each iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclude: Option<String>,
    /// Done once, however the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<String>,
    /// How long each command may take; null is for ever.
    pub timeout_ns: Option<u64>,
    /// How long the storage may take to come to rest before each iteration.
    pub settle_ns: u64,
    /// Whose rights commands have when plimsoll has those of root; null leaves them those.
    pub user: Option<String>,
    /// What commands are told to use.
    pub threads: u32,
    /// What commands are told to take randomness from.
    pub seed: u64,
    /// Whether an iteration that failed does not end the cell.
    pub keep_going: bool,
}

/// A name for a command is not longer than this.
const NAME_CHARACTERS_MAX: usize = 24;

impl ApplicationPlan {
    /// A name for a workload that has none: the beginning of its command.
    pub fn describe(&self) -> String {
        let first = self.command.trim().lines().next().unwrap_or_default().trim_end();
        if first.chars().count() <= NAME_CHARACTERS_MAX && first.len() == self.command.trim().len() {
            return first.to_owned();
        }
        let short: String = first.chars().take(NAME_CHARACTERS_MAX - 3).collect();
        format!("{}...", short.trim_end())
    }

    /// The command of a stage, if it has one.
    pub fn command_of(&self, stage: Stage) -> Option<&str> {
        match stage {
            Stage::Setup => self.setup.as_deref(),
            Stage::Ready => self.ready.as_deref(),
            Stage::Prepare => self.prepare.as_deref(),
            Stage::Settle => None,
            Stage::Run => Some(&self.command),
            Stage::Verify => self.verify.as_deref(),
            Stage::Conclude => self.conclude.as_deref(),
            Stage::Cleanup => self.cleanup.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_beginning_of_the_command() {
        let name = |command: &str| {
            let plan: ApplicationPlan = serde_json::from_value(serde_json::json!({
                "command": command, "timeout_ns": null, "settle_ns": 0, "user": null, "threads": 1, "seed": 0,
                "keep_going": false
            }))
            .unwrap();
            plan.describe()
        };
        assert_eq!(name(" ./restore.sh\n"), "./restore.sh");
        assert_eq!(name("set -e\nmake"), "set -e...");
        assert_eq!(name(&"é".repeat(50)), format!("{}...", "é".repeat(21)));
        assert_eq!(name(&"x".repeat(24)), "x".repeat(24));
    }
}
