//! Arguments of `plimsoll presets`.

use clap::{Args, Subcommand};
use plimsoll_workload::settings::Effort;

use super::run;

/// Arguments of `plimsoll presets`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct PresetsArguments {
    /// Show the workloads of this preset as a plan
    pub name: Option<String>,
    /// Show what it is with this effort: with quick, applications and sets of files are smaller [default: standard]
    #[arg(long, value_parser = run::efforts())]
    pub effort: Option<Effort>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// What else to do.
    #[command(subcommand)]
    pub action: Option<PresetsAction>,
}

/// What can be done with presets besides showing them.
#[derive(Debug, Subcommand)]
pub enum PresetsAction {
    /// Fetch what a preset needs and no package has: lucene, a library of 4 MiB from Maven Central
    Install {
        /// The preset
        preset: String,
        /// Take it from this file, or from the Maven repository with this address
        #[arg(long, value_name = "FILE|URL")]
        from: Option<String>,
    },
    /// Print the directory of what was installed for a preset
    Path {
        /// The preset
        preset: String,
    },
}
