//! Arguments of `plimsoll kubernetes manifest`.

use std::num::NonZeroU32;

use clap::{ArgGroup, Args, Subcommand};
use plimsoll_kubernetes::{foreign_jobs::diskspd, request::Toleration};
use plimsoll_workload::units::{ByteCount, Span};

use super::{super::run, POD, VOLUMES};

/// Commands that print objects for kubectl.
#[derive(Debug, Subcommand)]
pub enum ManifestCommand {
    /// A Job that runs diskspd on Windows nodes
    Diskspd(DiskspdJobArguments),
    /// A Job that has SQL Server import a .bacpac file onto a volume, again and again
    SqlRestore(SqlRestoreArguments),
}

/// What both have.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("which_volume").args(["storage_class", "pvc"]).required(true))]
pub struct ForeignJobArguments {
    /// Measure a new volume of this class, which goes with its pod
    #[arg(long, value_name = "CLASS", help_heading = VOLUMES)]
    pub storage_class: Option<String>,
    /// Measure the volume of this claim, which is there and stays
    #[arg(long, value_name = "CLAIM", help_heading = VOLUMES)]
    pub pvc: Option<String>,
    /// How large a new volume is to be
    #[arg(long, value_name = "SIZE", default_value = "64Gi", help_heading = VOLUMES)]
    pub size: ByteCount,
    /// A secret to pull the image with; may be repeated
    #[arg(long, value_name = "SECRET", help_heading = POD)]
    pub image_pull_secret: Vec<String>,
    /// On nodes with this taint too: KEY=VALUE:EFFECT, KEY:EFFECT, KEY or :EFFECT; may be repeated
    #[arg(long, value_name = "TAINT", help_heading = POD)]
    pub toleration: Vec<Toleration>,
    /// How long the cluster keeps the Job after its end, with its log and its new volumes
    #[arg(long, value_name = "TIME", default_value = "24h", help_heading = POD)]
    pub keep: Span,
    /// How to print the objects
    #[arg(long, short, value_name = "FORMAT", default_value = "yaml", value_parser = ["yaml", "json"], help_heading = run::OUTPUT)]
    pub output: String,
}

/// Arguments of `plimsoll kubernetes manifest diskspd`.
#[derive(Args, Debug)]
#[command(
    after_help = "Nothing is created: `kubectl apply -f -` does that. docs/kubernetes.md says how to wait for the end and \
                  read the results."
)]
pub struct DiskspdJobArguments {
    /// What to call the Job
    #[arg(long, default_value = "diskspd", value_parser = super::object_name)]
    pub name: String,
    /// An image with diskspd.exe in its path, made for the nodes' version of Windows
    #[arg(long, help_heading = POD)]
    pub image: String,
    /// On so many nodes at the same time, one pod on each
    #[arg(long, value_name = "COUNT", default_value = "1", help_heading = POD)]
    pub nodes: NonZeroU32,
    /// The rest.
    #[command(flatten)]
    pub rest: ForeignJobArguments,
    /// What diskspd is to do, but for the file
    #[arg(last = true, value_name = "DISKSPD ARGUMENT", default_values = diskspd::ARGUMENTS)]
    pub arguments: Vec<String>,
}

/// Arguments of `plimsoll kubernetes manifest sql-restore`.
#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("which_file").args(["bacpac", "secret"]).required(true),
    after_help = "Nothing is created: `kubectl apply -f -` does that. What is printed has a Secret with the address of the \
                  file and a new password for `sa`, so do not keep it; --secret names one that is there instead, with \
                  the keys bacpac-url and sa-password. By using the image you accept the licence of SQL Server."
)]
pub struct SqlRestoreArguments {
    /// What to call the Job and its Secret
    #[arg(long, default_value = "sql-restore", value_parser = super::object_name)]
    pub name: String,
    /// Where the .bacpac file is, for wget
    #[arg(long, value_name = "URL")]
    pub bacpac: Option<String>,
    /// Take the address of the file and the password from this Secret
    #[arg(long, value_name = "SECRET")]
    pub secret: Option<String>,
    /// How often to import it
    #[arg(long, value_name = "COUNT", default_value = "5")]
    pub iterations: NonZeroU32,
    /// An image of SQL Server that has sqlcmd, sqlpackage and wget too
    #[arg(long, default_value = "tobiasfenster/mssql-with-sqlpackage:2022-latest", help_heading = POD)]
    pub image: String,
    /// Memory of SQL Server
    #[arg(long, value_name = "QUANTITY", default_value = "4Gi", help_heading = POD)]
    pub memory: String,
    /// The rest.
    #[command(flatten)]
    pub rest: ForeignJobArguments,
}
