//! Arguments of `plimsoll catalog`.

use clap::{Args, Subcommand};
use plimsoll_workload::{
    limit::Limit,
    units::{ByteCount, Percent},
};

use super::provisioned::ProvisionedArguments;

/// Arguments of `plimsoll catalog`.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub struct CatalogArguments {
    /// What to tell.
    #[command(subcommand)]
    pub command: CatalogCommand,
}

/// What of the catalog to tell.
#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    /// List products, or all entries with a word in their names or descriptions
    List {
        /// A part of a name or description, or a cloud: azure, aws, gcp
        #[arg(default_value = "")]
        word: String,
        /// Read limits and prices of one's own from this file instead of the user's limits.toml
        #[arg(long, value_name = "FILE")]
        limits: Option<std::path::PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show all that is known of an entry, and where it stands
    Show {
        /// The name of a product, size, machine or StorageClass: P30, gp3, Standard_D16s_v5, managed-csi
        name: String,
        /// Read limits and prices of one's own from this file instead of the user's limits.toml
        #[arg(long, value_name = "FILE")]
        limits: Option<std::path::PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say what a load should get from what was bought
    Expect(Box<ExpectArguments>),
}

/// Arguments of `plimsoll catalog expect`.
#[derive(Args, Debug)]
#[command(mut_arg("disk_size", |argument| argument.long("size").alias("disk-size")))]
#[command(mut_arg("provisioned_iops", |argument| argument.long("iops").alias("provisioned-iops")))]
#[command(mut_arg("provisioned_bandwidth", |argument| argument.long("bandwidth").alias("provisioned-bandwidth")))]
#[command(mut_args(|argument| argument.hide_short_help(false)))]
pub struct ExpectArguments {
    /// What was bought.
    #[command(flatten)]
    pub provisioned: ProvisionedArguments,
    /// What the storage is said to deliver, instead of what the catalog says: iops=3000,bandwidth=100MB
    #[arg(long, value_name = "LIMIT")]
    pub limit: Option<Limit>,
    /// Bytes of an operation of the load
    #[arg(long, value_name = "SIZE", default_value = "4k", help_heading = "Load")]
    pub block_size: ByteCount,
    /// Share of reads among its operations
    #[arg(long, value_name = "PERCENT", default_value = "100", help_heading = "Load")]
    pub read_percent: Percent,
    /// Each operation follows the one before
    #[arg(long, help_heading = "Load")]
    pub sequential: bool,
    /// Print JSON
    #[arg(long, help_heading = super::run::OUTPUT)]
    pub json: bool,
}
