//! Arguments of `plimsoll kubernetes lifecycle`.

use clap::Args;
use plimsoll_kubernetes::request::{AccessMode, VolumeMode};
use plimsoll_workload::units::{ByteCount, Span};

use super::{AccessArguments, POD, PlaceArguments, VOLUMES, access_modes, volume_modes};
use crate::cli::run;

const LIVES: &str = "Lives";

/// Arguments of `plimsoll kubernetes lifecycle`.
#[derive(Args, Debug)]
#[command(
    after_help = "Each volume is made and used for the first time, and then by another pod on the same node; what \
                  else it goes through is asked for. docs/kubernetes.md says what is timed from when until when. The \
                  exit code is 6 when a life failed. Nothing goes on without this program: should it be killed, \
                  `plimsoll kubernetes cleanup` removes what it made, or the cluster does when its time is over."
)]
pub struct LifecycleArguments {
    /// Volumes of each of these classes, in turns
    #[arg(long, value_name = "CLASS", value_delimiter = ',', required = true, help_heading = VOLUMES)]
    pub storage_class: Vec<String>,
    /// How large they are to be; of several sizes, each class in each [default: 8Gi]
    #[arg(id = "volume_size", long = "size", value_name = "SIZE", value_delimiter = ',', help_heading = VOLUMES)]
    pub volume_size: Vec<ByteCount>,
    /// Volumes for one node, or for many
    #[arg(long, default_value = "rwo", value_parser = access_modes(), help_heading = VOLUMES)]
    pub access: AccessMode,
    /// Volumes with a file system, or as devices
    #[arg(long, default_value = "filesystem", value_parser = volume_modes(), help_heading = VOLUMES)]
    pub mode: VolumeMode,

    /// So many volumes of each class and size
    #[arg(long, value_name = "NUMBER", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = LIVES)]
    pub count: u32,
    /// So many at a time
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = LIVES)]
    pub concurrency: u32,
    /// Make a snapshot of each, and a volume from that
    #[arg(long, help_heading = LIVES)]
    pub snapshot: bool,
    /// The VolumeSnapshotClass [default: the driver's default, or its only one]
    #[arg(long, value_name = "CLASS", requires = "snapshot", help_heading = LIVES)]
    pub snapshot_class: Option<String>,
    /// Clone each
    #[arg(long, help_heading = LIVES)]
    pub clone: bool,
    /// Have each grow to this size while a pod uses it
    #[arg(long, value_name = "SIZE", help_heading = LIVES)]
    pub resize: Option<ByteCount>,
    /// Take each from its pod to one on another node
    #[arg(long, help_heading = LIVES)]
    pub failover: bool,

    /// Which cluster.
    #[command(flatten)]
    pub cluster: AccessArguments,

    /// Where pods go, and what they run.
    #[command(flatten)]
    pub place: PlaceArguments,
    /// Processors that each pod asks for
    #[arg(long, value_name = "QUANTITY", value_parser = super::quantity, default_value = "20m", help_heading = POD, hide_short_help = true)]
    pub cpu: String,
    /// Memory that each pod asks for and is limited to
    #[arg(long, value_name = "QUANTITY", value_parser = super::quantity, default_value = "64Mi", help_heading = POD, hide_short_help = true)]
    pub memory: String,
    /// How long a volume may take until a pod uses it, and each other step of a life
    #[arg(long, value_name = "TIME", value_parser = super::some_time, default_value = "10m", help_heading = POD, hide_short_help = true)]
    pub start_timeout: Span,
    /// How long to wait until everything is gone
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = POD, hide_short_help = true)]
    pub cleanup_timeout: Span,
    /// When the cluster ends what nobody ended
    #[arg(long, value_name = "TIME", value_parser = super::some_time, default_value = "4h", help_heading = POD, hide_short_help = true)]
    pub deadline: Span,
    /// How long the cluster keeps what nobody removed after that
    #[arg(long, value_name = "TIME", default_value = "10m", help_heading = POD, hide_short_help = true)]
    pub keep: Span,

    /// Print the record as JSON
    #[arg(long, help_heading = run::OUTPUT)]
    pub json: bool,
    /// A name for the run, shown in the history
    #[arg(long, help_heading = run::OUTPUT)]
    pub name: Option<String>,
    /// A pair to find the run by; may be repeated
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = run::tag, help_heading = run::OUTPUT, hide_short_help = true)]
    pub tags: Vec<(String, String)>,
}
