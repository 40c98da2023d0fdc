//! Flags that say what was bought: the product, its size, and the machine that it is attached to.

use std::path::PathBuf;

use clap::Args;
use plimsoll_workload::{
    limit::Limit,
    provisioned::{Caching, Interface, Provisioned},
    units::{Bandwidth, ByteCount},
};

/// The heading of these flags.
pub(super) const PROVISIONED: &str = "What was bought";

/// What was bought, as flags.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = PROVISIONED)]
pub struct ProvisionedArguments {
    /// The product or size: Premium_LRS, P30, gp3, pd-ssd; see `plimsoll catalog list`
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub sku: Option<String>,
    /// The provisioned size of each disk, volume or share, as 1Ti
    #[arg(long, value_name = "SIZE", hide_short_help = true)]
    pub disk_size: Option<ByteCount>,
    /// The size of the virtual machine or type of the instance, as Standard_D16s_v5
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub vm: Option<String>,
    /// Whether the machine's host caches the disk: None, ReadOnly or ReadWrite
    #[arg(long, value_name = "MODE", hide_short_help = true)]
    pub caching: Option<Caching>,
    /// Provisioned operations per second, of products that sell them apart from size
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub provisioned_iops: Option<u64>,
    /// Provisioned bytes per second, as 300MB
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    pub provisioned_bandwidth: Option<Bandwidth>,
    /// The performance tier that the disk was set to, as P50
    #[arg(long, value_name = "TIER", hide_short_help = true)]
    pub tier: Option<String>,
    /// The size of the pool that it shares with others: the base size of an Elastic SAN
    #[arg(long, value_name = "SIZE", hide_short_help = true)]
    pub pool: Option<ByteCount>,
    /// The disk may burst on demand
    #[arg(long, hide_short_help = true)]
    pub on_demand_bursting: bool,
    /// The disk was made with performance plus
    #[arg(long, hide_short_help = true)]
    pub performance_plus: bool,
    /// How many such disks are striped
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), hide_short_help = true)]
    pub disks: Option<u32>,
    /// What the disks get together at most, because they share a controller, an account or what is behind them
    #[arg(long, value_name = "LIMIT", hide_short_help = true)]
    pub shared_limit: Option<Limit>,
    /// How disks are attached, where the machine has limits for either: scsi or nvme
    #[arg(long, value_name = "KIND", hide_short_help = true)]
    pub interface: Option<Interface>,
    /// How many loads like this one share the machine's limits at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), hide_short_help = true)]
    pub vm_share: Option<u32>,
    /// Volumes of Kubernetes: a file of `kubectl get -A storageclass,volumeattachment,pvc,pv,node,pod -o yaml`
    ///
    /// YAML or JSON; - is standard input. StorageClasses name a product, PersistentVolumes a size,
    /// VolumeAttributesClasses rates, nodes a machine: what is there is used. With pods among the objects, targets are
    /// found by the paths that pods have volumes at, and results by the names of claims, volumes and classes. Other
    /// flags override it.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub kubernetes: Option<PathBuf>,
    /// Which volume of --kubernetes is meant: a claim, as data or namespace/data, a volume or a class
    #[arg(long, value_name = "NAME", requires = "kubernetes", hide_short_help = true)]
    pub volume: Option<String>,
    /// Read limits and prices of one's own from this file instead of the user's limits.toml
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub limits: Option<PathBuf>,
}

impl ProvisionedArguments {
    /// What they say, with a limit that was given apart from them.
    pub fn provisioned(&self, limit: Option<Limit>) -> Provisioned {
        // Every field is named, so that a new flag does not compile until it is handled.
        let Self {
            sku,
            disk_size,
            vm,
            caching,
            provisioned_iops,
            provisioned_bandwidth,
            tier,
            pool,
            on_demand_bursting,
            performance_plus,
            disks,
            shared_limit,
            interface,
            vm_share,
            kubernetes: _,
            volume: _,
            limits: _,
        } = self;
        Provisioned {
            sku: sku.clone(),
            size: *disk_size,
            iops: *provisioned_iops,
            bandwidth: *provisioned_bandwidth,
            tier: tier.clone(),
            pool: *pool,
            caching: *caching,
            on_demand_bursting: on_demand_bursting.then_some(true),
            performance_plus: performance_plus.then_some(true),
            disks: *disks,
            vm: vm.clone(),
            interface: *interface,
            vm_share: *vm_share,
            limit,
            shared_limit: *shared_limit,
            // That is found out, not asked for.
            emulated: None,
        }
    }
}
