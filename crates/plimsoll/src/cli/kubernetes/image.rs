//! Arguments of `plimsoll kubernetes image`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use plimsoll_image::reference::Reference;

use super::{super::run, IMAGE};

const REGISTRY: &str = "Registry";

/// Commands about the image that pods run.
#[derive(Debug, Subcommand)]
pub enum ImageCommand {
    /// Write the image to a file, which container runtimes import
    Save(ImageSaveArguments),
    /// Push the image to a registry
    Push(ImagePushArguments),
}

/// What is in the image.
#[derive(Args, Debug)]
pub struct ProgramArguments {
    /// Put this static binary of plimsoll into the image instead of the one that is running: for nodes of another
    /// architecture, or when the running one is not static
    #[arg(long, value_name = "FILE")]
    pub binary: Option<PathBuf>,
}

/// Arguments of `plimsoll kubernetes image save`.
#[derive(Args, Debug)]
pub struct ImageSaveArguments {
    /// What is in the image.
    #[command(flatten)]
    pub program: ProgramArguments,
    /// What to call the image: REGISTRY/NAME[:TAG], localhost for one that is never pulled
    #[arg(long, value_name = "NAME", default_value = IMAGE)]
    pub name: Reference,
    /// The file to write
    #[arg(long, short, value_name = "FILE", default_value = "plimsoll-oci.tar", help_heading = run::OUTPUT)]
    pub output: PathBuf,
    /// Replace the file if it is there
    #[arg(long, help_heading = run::OUTPUT)]
    pub force: bool,
    /// Print JSON
    #[arg(long, help_heading = run::OUTPUT)]
    pub json: bool,
}

/// Arguments of `plimsoll kubernetes image push`.
#[derive(Args, Debug)]
#[command(
    after_help = "Credentials are those of docker, podman and skopeo: `docker login REGISTRY` puts them where they are \
                  found. docs/kubernetes.md says where that is."
)]
pub struct ImagePushArguments {
    /// Where to: REGISTRY/NAME[:TAG]; without a tag, the version of plimsoll
    #[arg(value_name = "REGISTRY/NAME[:TAG]")]
    pub name: Reference,
    /// What is in the image.
    #[command(flatten)]
    pub program: ProgramArguments,
    /// Talk to the registry without encryption, as is done with one on this machine
    #[arg(long, conflicts_with = "ca", help_heading = REGISTRY)]
    pub plain_http: bool,
    /// Trust these certificates (PEM) instead of those that the system trusts
    #[arg(long, value_name = "FILE", help_heading = REGISTRY)]
    pub ca: Option<PathBuf>,
    /// Print JSON
    #[arg(long, help_heading = run::OUTPUT)]
    pub json: bool,
}
