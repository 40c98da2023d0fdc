//! Arguments of `plimsoll generate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `plimsoll generate`.
#[derive(Args, Debug)]
#[command(
    after_help = "Nothing is made in a cloud by this: it writes scripts to be read and run, with their teardown. What to \
                  make stands in the section [cloud] of the plan. See docs/generating.md."
)]
pub struct GenerateArguments {
    /// For which cloud
    pub provider: CloudName,
    /// The plan, with a section [cloud]
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Print a plan of the machine that a file describes, as the provider's command line prints it (- is standard
    /// input); of this machine when none is named
    #[arg(long, value_name = "FILE|URL", num_args = 0..=1, conflicts_with_all = ["plan", "from_cluster", "output", "force", "print"])]
    pub from_vm: Option<Option<String>>,
    /// Print a plan of the cluster that a file describes, as `kubectl get storageclasses,nodes -o json` prints it (- is
    /// standard input); of the cluster that kubectl would talk to when none is named
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["plan", "output", "force", "print"])]
    pub from_cluster: Option<Option<PathBuf>>,
    /// The directory to write to [default: plimsoll- and the cloud's name]
    #[arg(long, short, value_name = "DIRECTORY")]
    pub output: Option<PathBuf>,
    /// Overwrite what an earlier call wrote, and remove what is no longer needed of it
    #[arg(long)]
    pub force: bool,
    /// Print the files instead of writing them
    #[arg(long, conflicts_with_all = ["output", "force"])]
    pub print: bool,
    /// Limits of one's own, instead of those in the configuration
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A cloud that scripts are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CloudName {
    /// Microsoft Azure: az, or Terraform
    Azure,
    /// Amazon Web Services: Terraform
    Aws,
    /// Google Cloud: Terraform
    Gcp,
}
