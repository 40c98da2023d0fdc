//! Arguments of `plimsoll baseline`.

use clap::{Args, Subcommand};

/// Arguments of `plimsoll baseline`.
#[derive(Args, Debug)]
pub struct BaselineArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: BaselineAction,
}

/// What can be done with baselines.
#[derive(Debug, Subcommand)]
pub enum BaselineAction {
    /// Give a run a name; another run that has the name loses it
    Set {
        /// The name: letters, digits, '.', '_' and '-'
        name: String,
        /// The run: the beginning of its id, `latest`, or another baseline
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
    },
    /// Take a name away; the run stays in the history
    Unset {
        /// The name
        name: String,
    },
    /// List all baselines
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
