//! Arguments of `plimsoll stripe`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use plimsoll_workload::{
    array::{ArrayKind, ArrayPreset, FileSystem, Placement},
    sweep::Sweep,
    units::ByteCount,
};

/// Arguments of `plimsoll stripe`.
#[derive(Args, Debug)]
#[command(
    after_help = "All arrays are there at once, in partitions where they share disks, so that `plimsoll run --plan` \
                  visits them in turns. Only blank disks are taken, and they are blank again afterwards. It needs \
                  root. See docs/striping.md."
)]
pub struct StripeArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: StripeAction,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum StripeAction {
    /// Put disks together, make file systems on them, and mount those
    Up(Box<UpArguments>),
    /// List the arrays that are there
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take arrays down, and make sure that their disks are blank
    Down {
        /// The stripe; all of them when none is named
        name: Option<String>,
        /// Only forget it, because its disks are gone or somebody else's
        #[arg(long, requires = "name")]
        forget: bool,
    },
}

/// Arguments of `plimsoll stripe up`.
#[derive(Args, Debug)]
pub struct UpArguments {
    /// A plan with a section [stripe]
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// A whole disk whose content nobody needs, in the order of the plan; without a plan, arrays are made of these
    #[arg(long, value_name = "DEVICE,...", value_delimiter = ',')]
    pub destroy: Vec<PathBuf>,
    /// How disks are put together: none, md, lvm, dm, btrfs or jbod; a list makes several arrays, as in all of these
    #[arg(long, value_name = "KIND,...")]
    pub kind: Option<Sweep<ArrayKind>>,
    /// Of how many disks
    #[arg(long, value_name = "N,...")]
    pub disks: Option<Sweep<u32>>,
    /// How much goes to one disk before the next has its turn
    #[arg(long, value_name = "SIZE,...")]
    pub chunk: Option<Sweep<ByteCount>>,
    /// What is on an array: raw, ext4, xfs or btrfs
    #[arg(long, value_name = "NAME,...")]
    pub file_system: Option<Sweep<FileSystem>>,
    /// The block of the file system
    #[arg(long, value_name = "SIZE,...")]
    pub block_size: Option<Sweep<ByteCount>>,
    /// What ext4 gives out at once (bigalloc)
    #[arg(long, value_name = "SIZE,...")]
    pub cluster_size: Option<Sweep<ByteCount>>,
    /// Which disks: in-order, together or apart, by --group
    #[arg(long, value_name = "HOW,...")]
    pub placement: Option<Sweep<Placement>>,
    /// The group of each disk, that it has a limit in common with: a,a,b,b
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub group: Vec<String>,
    /// A list of arrays that answers a question: matrix
    #[arg(long, value_name = "NAME")]
    pub preset: Option<ArrayPreset>,
    /// What they are called together
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Check everything and show the commands, but run none of them
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
