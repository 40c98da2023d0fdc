//! Where a run took place: machine, kernel, control group, container, limits, and the file system and disk behind each
//! target. Plain data that a reader needs to judge whether two records may be compared; `plimsoll-run` gathers it.
//!
//! Everything that a kernel, a container or a foreign result file may keep to itself is optional: `null` means "not
//! known", never "none".

use plimsoll_workload::{array::Array, target_facts};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::cluster::ClusterEnvironment;

/// All that is known of the surroundings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Environment {
    /// The machine and its kernel.
    pub machine: MachineEnvironment,
    /// The control group that plimsoll ran in.
    pub cgroup: Option<CgroupEnvironment>,
    /// The container that plimsoll ran in; its kind is `none` when there is no sign of one.
    pub container: Option<ContainerEnvironment>,
    /// Limits that decide which engines can run.
    pub limits: LimitsEnvironment,
    /// One entry for each target, in the order given.
    pub targets: Vec<TargetEnvironment>,
    /// How busy the machine was when the run started.
    pub load_average: Option<LoadAverage>,
    /// What one reading of the clock costs, in nanoseconds.
    pub clock_cost_ns: Option<f64>,
    /// What the cloud's instance metadata service told of the machine; it is asked on request only, and absent when it
    /// was not asked or did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud: Option<CloudEnvironment>,
    /// The cluster, of a run that `plimsoll kubernetes` started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterEnvironment>,
}

impl Environment {
    /// Where a target is that was typed without its directory: "data" may be in several places. Those of a pod mean
    /// nothing elsewhere.
    pub fn place_of(&self, target: &str) -> Option<&str> {
        let known = self.targets.iter().find(|known| known.name == target)?;
        known.path.as_deref().filter(|_| !target.starts_with('/') && self.cluster.is_none())
    }
}

/// The machine and its kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MachineEnvironment {
    /// The name the machine calls itself (`uname -n`); in a pod this is the name of the pod. Recorded so that two
    /// records can be told to be of one machine; remove it before publishing a record when names are confidential.
    pub hostname: Option<String>,
    /// The kernel release, as `uname -r` prints it.
    pub kernel_release: Option<String>,
    /// The instruction set, as `uname -m` prints it.
    pub architecture: Option<String>,
    /// The processor model, as /proc/cpuinfo names it.
    pub processor_model: Option<String>,
    /// Processors that are online.
    pub processors_online: Option<u32>,
    /// Processors that plimsoll may run on (its affinity mask, before any quota).
    pub processors_allowed: Option<u32>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// The kernel's clock source, `tsc` or `kvm-clock` for example.
    pub clock_source: Option<String>,
    /// The frequency governor of the first processor; absent in most virtual machines.
    pub governor: Option<String>,
    /// Whether a hypervisor announces itself to the processor.
    pub hypervisor: Option<bool>,
    /// Vendor and product of the machine, as its firmware tells: `Amazon EC2 m7i.large` for example.
    pub product: Option<String>,
    /// Changes at every boot: two records with the same value ran without a reboot between them.
    pub boot_id: Option<String>,
}

/// The machine as its cloud sells it. Ids of accounts, machines and networks, keys and user data are not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CloudEnvironment {
    /// Whose cloud it is.
    pub provider: CloudProvider,
    /// What the provider calls machines of this size: `Standard_D16s_v5`, `m5.large`, `n2-standard-8`.
    pub instance_type: Option<String>,
    /// Where the machine is: `westeurope`, `us-west-2`, `us-central1`.
    pub region: Option<String>,
    /// The part of the region that it is in: `1`, `us-west-2b`, `us-central1-a`; `null` where it has none.
    pub zone: Option<String>,
    /// Disks that the service told of, attached and local ones. AWS tells of none.
    pub disks: Vec<CloudDisk>,
}

/// A provider of machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CloudProvider {
    /// Microsoft Azure.
    Azure,
    /// Amazon Web Services.
    Aws,
    /// Google Cloud.
    Gcp,
    /// A provider that only later versions know.
    #[default]
    #[serde(other)]
    Other,
}

impl CloudProvider {
    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Azure => "Azure",
            Self::Aws => "AWS",
            Self::Gcp => "Google Cloud",
            Self::Other => "another cloud",
        }
    }
}

/// A disk of a machine, as its cloud sells it; `null` where the service does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CloudDisk {
    /// The name that it has in the cloud (Azure), or on the machine under /dev/disk/by-id as `google-NAME` (Google).
    pub name: Option<String>,
    /// The logical unit number of a data disk (Azure).
    pub lun: Option<u32>,
    /// Its size (Azure).
    pub size_bytes: Option<u64>,
    /// What it is sold as: `Premium_LRS` for example, or `PERSISTENT-BALANCED`.
    pub sku: Option<String>,
    /// How the host caches it: `None`, `ReadOnly` or `ReadWrite` (Azure).
    pub caching: Option<String>,
    /// Operations per second that were paid for (Azure, of Ultra Disks).
    pub iops: Option<u64>,
    /// Bytes per second that were paid for (Azure, of Ultra Disks).
    pub bytes_per_second: Option<u64>,
    /// Whether it is a disk of the host, which is lost with the machine.
    pub local: bool,
}

/// The control group that plimsoll ran in, and the limits that apply to it, from its ancestors too where visible.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CgroupEnvironment {
    /// Which hierarchy holds the limits.
    pub version: CgroupVersion,
    /// The path of the group, as /proc/self/cgroup tells it.
    pub path: Option<String>,
    /// How many processors' worth of time the group may use; `null` when there is no quota.
    pub cpu_quota_processors: Option<f64>,
    /// The memory limit; `null` when there is none.
    pub memory_limit_bytes: Option<u64>,
    /// Limits of I/O, one entry for each device that has any.
    pub io_limits: Vec<CgroupIoLimit>,
}

/// A version of the control group interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CgroupVersion {
    /// One hierarchy for each controller.
    V1,
    /// Version 1 for the controllers, version 2 mounted beside it without any.
    Hybrid,
    /// One unified hierarchy.
    #[default]
    V2,
}

/// Limits that a control group sets on one device; `null` where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CgroupIoLimit {
    /// The device as `major:minor`.
    pub device: String,
    /// Bytes read per second.
    pub read_bytes_per_second: Option<u64>,
    /// Bytes written per second.
    pub write_bytes_per_second: Option<u64>,
    /// Reads per second.
    pub read_operations_per_second: Option<u64>,
    /// Writes per second.
    pub write_operations_per_second: Option<u64>,
}

/// The container that plimsoll ran in, as far as can be guessed from within.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ContainerEnvironment {
    /// What kind of container this seems to be.
    pub kind: ContainerKind,
    /// The pod, when its downward environment tells.
    pub pod: Option<String>,
    /// The namespace of the pod.
    pub namespace: Option<String>,
    /// The node that the pod runs on.
    pub node: Option<String>,
}

/// A kind of container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContainerKind {
    /// No sign of a container.
    #[default]
    None,
    /// A pod of Kubernetes, whatever runs it.
    Kubernetes,
    /// Docker.
    Docker,
    /// Podman.
    Podman,
    /// containerd without Kubernetes.
    Containerd,
    /// A container of another kind.
    #[serde(other)]
    Other,
}

/// Limits that decide which engines can run and how deep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LimitsEnvironment {
    /// Memory that the process may lock; `null` when unlimited.
    pub memlock_bytes: Option<u64>,
    /// `fs.aio-max-nr`: requests that all libaio users of the machine may have set up.
    pub aio_max_nr: Option<u64>,
    /// `fs.aio-nr`: how many of those were set up when the run started.
    pub aio_nr: Option<u64>,
    /// `kernel.io_uring_disabled`: 0 for everyone, 1 for privileged processes only, 2 for nobody.
    pub io_uring_disabled: Option<u32>,
}

/// How busy the machine was: runnable or blocked tasks, averaged by the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LoadAverage {
    /// Over one minute.
    pub one_minute: f64,
    /// Over five minutes.
    pub five_minutes: f64,
    /// Over fifteen minutes.
    pub fifteen_minutes: f64,
}

/// What lies behind a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TargetEnvironment {
    /// The path as given, which names the target in the rest of the record.
    pub name: String,
    /// What it is.
    pub kind: TargetKind,
    /// The path with symbolic links resolved.
    pub path: Option<String>,
    /// The mount that holds a directory or file.
    pub mount: Option<MountEnvironment>,
    /// Bytes that an unprivileged user could still write when the run started.
    pub free_bytes: Option<u64>,
    /// Offsets and lengths of direct I/O are multiples of this; `null` when the target has no direct I/O.
    pub direct_alignment_bytes: Option<u32>,
    /// The block device at the end of the path; `null` for network and memory file systems.
    pub device: Option<DeviceEnvironment>,
    /// What it is, when `plimsoll stripe` made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayEnvironment>,
}

/// An array of disks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArrayEnvironment {
    /// What all arrays that were made together are called.
    pub stripe: String,
    /// Its identity, chosen when it was made: another one of the same name has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub id: Option<Uuid>,
    /// How its disks are put together, and what is on them.
    pub array: Array,
    /// The disks that it is made of.
    pub disks: Vec<String>,
    /// The groups that those have a limit in common with, each once.
    #[serde(default)]
    pub groups: Vec<String>,
}

/// What a target is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A directory, in which plimsoll made a marked subdirectory of its own.
    #[default]
    Directory,
    /// A regular file.
    File,
    /// A block device.
    Device,
}

impl From<target_facts::TargetKind> for TargetKind {
    fn from(kind: target_facts::TargetKind) -> Self {
        match kind {
            target_facts::TargetKind::Directory | target_facts::TargetKind::Directories(_) => Self::Directory,
            target_facts::TargetKind::File => Self::File,
            target_facts::TargetKind::Device => Self::Device,
        }
    }
}

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MountEnvironment {
    /// Where it is mounted.
    pub point: String,
    /// Its kind: `ext4`, `xfs`, `nfs4`, ...
    pub file_system: String,
    /// What is mounted: a device, or the name of an export.
    pub source: String,
    /// Mount options, those of the mount and those of the file system, joined by commas.
    pub options: String,
}

/// What the kernel tells about a block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DeviceEnvironment {
    /// The kernel's name of the disk, `nvme0n1` for example.
    pub name: String,
    /// The device as `major:minor`.
    pub number: Option<String>,
    /// The partition that is used, when it is not the whole disk.
    pub partition: Option<String>,
    /// Size of the disk or partition.
    pub size_bytes: Option<u64>,
    /// The vendor, as SCSI disks tell.
    pub vendor: Option<String>,
    /// The model, as the device tells.
    pub model: Option<String>,
    /// The serial number, as the device tells; on clouds often the id of the volume.
    pub serial: Option<String>,
    /// How the disk is attached: `nvme`, `virtio`, `scsi`, `loop`, `zram`, ...
    pub transport: Option<String>,
    /// Whether the kernel takes it for a spinning disk.
    pub rotational: Option<bool>,
    /// The unit that the device is addressed in.
    pub logical_block_bytes: Option<u32>,
    /// The unit that the device can write without reading first.
    pub physical_block_bytes: Option<u32>,
    /// The request size that the device likes best: a whole stripe, for example.
    pub optimal_io_bytes: Option<u32>,
    /// The largest request that the kernel sends; longer operations are split.
    pub request_bytes_max: Option<u64>,
    /// The scheduler in use.
    pub scheduler: Option<String>,
    /// How many requests the kernel queues (`nr_requests`).
    pub queue_requests_max: Option<u32>,
    /// How far the page cache reads ahead.
    pub read_ahead_bytes: Option<u64>,
    /// The cache mode that the kernel assumes: `write back` or `write through`.
    pub write_cache: Option<String>,
    /// The largest single discard; zero when the device has no discard.
    pub discard_bytes_max: Option<u64>,
    /// The name of a logical volume or another mapped device: `vg-data` for example.
    pub mapped_name: Option<String>,
    /// The file behind a loop device.
    pub backing_file: Option<String>,
    /// Disks beneath this one: the members of a stripe, the disk of a logical volume.
    pub beneath: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_of_which_nothing_is_known_reads_back() {
        let environment: Environment = serde_json::from_str("{}").unwrap();
        assert_eq!(environment, Environment::default());
        let text = serde_json::to_string(&environment).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), environment);
    }

    #[test]
    fn fields_of_later_versions_are_skipped() {
        let text = r#"{"machine": {"hostname": "a", "moon": "full"}, "container": {"kind": "enclave"}, "tide": 3}"#;
        let environment: Environment = serde_json::from_str(text).unwrap();
        assert_eq!(environment.machine.hostname.as_deref(), Some("a"));
        assert_eq!(environment.container.unwrap().kind, ContainerKind::Other);
        assert_eq!(environment.cloud, None);
        let text =
            r#"{"cloud": {"provider": "moonbase", "instance_type": "m1", "disks": [{"lun": 3, "dusty": true}]}}"#;
        let cloud = serde_json::from_str::<Environment>(text).unwrap().cloud.unwrap();
        assert_eq!((cloud.provider, cloud.disks[0].lun), (CloudProvider::Other, Some(3)));
    }

    #[test]
    fn a_cloud_that_was_not_asked_is_not_mentioned() {
        assert!(!serde_json::to_string(&Environment::default()).unwrap().contains("cloud"));
        let disks = vec![CloudDisk { sku: Some("LOCAL-SSD".to_owned()), local: true, ..CloudDisk::default() }];
        let cloud = CloudEnvironment { provider: CloudProvider::Gcp, disks, ..CloudEnvironment::default() };
        let environment = Environment { cloud: Some(cloud), ..Environment::default() };
        let text = serde_json::to_string(&environment).unwrap();
        assert!(text.contains(r#""provider":"gcp""#), "{text}");
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), environment);
    }
}
