//! Arguments of `plimsoll emulate`.

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgGroup, Args, Subcommand};
use plimsoll_workload::{limit::Limit, units::ByteCount};

/// The name of an emulation that was not named.
const NAME: &str = "disks";
/// The size of a disk: enough for a working set that no cache of a controller holds.
const SIZE: &str = "1GiB";

/// Arguments of `plimsoll emulate`.
#[derive(Args, Debug)]
#[command(
    after_help = "An emulated disk is a loop device that the kernel holds back, in each direction by itself: a cloud \
                  counts reads and writes together. Bursts are not emulated. It needs root. See docs/emulating.md."
)]
pub struct EmulateArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: EmulateAction,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum EmulateAction {
    /// Make disks that let as much through as products of the catalog
    Up(Box<UpArguments>),
    /// List the disks that are up
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a command that is held back with the disks
    Exec {
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// Take disks down and remove their files
    Down {
        /// The emulation; all of them when none is named
        name: Option<String>,
    },
}

/// Arguments of `plimsoll emulate up`.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("disks").args(["sku", "limit"]).required(true).multiple(true)))]
pub struct UpArguments {
    /// Products or sizes, a disk for each: P30,P10,gp3
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub sku: Vec<String>,
    /// The size that is bought of each, where products need one, as of `run`: 512GiB
    #[arg(long, value_name = "SIZE", requires = "sku")]
    pub disk_size: Option<ByteCount>,
    /// A disk that lets so much through: iops=500,bandwidth=25MB; several times for several disks
    #[arg(long, value_name = "LIMIT")]
    pub limit: Vec<Limit>,
    /// What all of the disks get together at most, as if they had one controller or account: iops=800
    #[arg(long, value_name = "LIMIT")]
    pub shared_limit: Option<Limit>,
    /// How large each device is here, which takes room as it is written
    #[arg(long, value_name = "SIZE", default_value = SIZE)]
    pub size: ByteCount,
    /// What they are called together
    #[arg(long, value_name = "NAME", default_value = NAME)]
    pub name: String,
    /// Where their files are: on a disk that is faster than all of them
    #[arg(long, value_name = "DIRECTORY")]
    pub directory: Option<PathBuf>,
    /// Limits of one's own, instead of those in the configuration
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
