//! How a disk is attached, guessed from its kernel name and its place in the device tree.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{attribute, file_name};

/// Declares the transports with one spelling for records and people.
macro_rules! transports {
    ($($(#[$meta:meta])* $variant:ident = $word:literal,)*) => {
        /// How a disk is attached, or what kind of virtual device it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Transport {
            $($(#[$meta])* #[serde(rename = $word)] $variant,)*
        }

        impl Transport {
            /// The word for it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

transports! {
    /// NVMe over PCI Express.
    Nvme = "nvme",
    /// NVMe over TCP.
    NvmeTcp = "nvme-tcp",
    /// NVMe over RDMA.
    NvmeRdma = "nvme-rdma",
    /// NVMe over Fibre Channel.
    NvmeFc = "nvme-fc",
    /// The block device of a virtual machine.
    Virtio = "virtio",
    /// A SCSI disk of a virtual machine over virtio.
    VirtioScsi = "virtio-scsi",
    /// A SCSI disk of Hyper-V and Azure.
    HyperV = "hyper-v",
    /// The block device of Xen.
    Xen = "xen",
    /// A SCSI disk over iSCSI.
    Iscsi = "iscsi",
    /// A SCSI disk over Fibre Channel.
    FibreChannel = "fibre-channel",
    /// A SCSI disk over SAS.
    Sas = "sas",
    /// A disk over SATA or PATA.
    Ata = "ata",
    /// A disk over USB.
    Usb = "usb",
    /// A SCSI disk attached in another way.
    Scsi = "scsi",
    /// An SD card or eMMC.
    Mmc = "mmc",
    /// A file as a block device.
    Loop = "loop",
    /// Compressed memory.
    Zram = "zram",
    /// Plain memory.
    Ram = "ram",
    /// Persistent memory.
    Pmem = "pmem",
    /// A device-mapper device: a logical volume, encryption, multipath.
    DeviceMapper = "dm",
    /// A software RAID.
    Md = "md",
    /// A network block device.
    Nbd = "nbd",
    /// A Ceph image.
    Rbd = "rbd",
    /// A replicated device.
    Drbd = "drbd",
    /// A disk with a cache device before it.
    Bcache = "bcache",
    /// A kernel test device.
    NullBlock = "null_blk",
    /// A disk served by a process.
    Ublk = "ublk",
    /// None of these.
    Unknown = "unknown",
}

/// Kernel names that tell all; longer ones stand before their own beginnings.
const BY_NAME: &[(&str, Transport)] = &[
    ("vd", Transport::Virtio),
    ("xvd", Transport::Xen),
    ("mmcblk", Transport::Mmc),
    ("loop", Transport::Loop),
    ("zram", Transport::Zram),
    ("ram", Transport::Ram),
    ("pmem", Transport::Pmem),
    ("dm-", Transport::DeviceMapper),
    ("md", Transport::Md),
    ("nbd", Transport::Nbd),
    ("rbd", Transport::Rbd),
    ("drbd", Transport::Drbd),
    ("bcache", Transport::Bcache),
    ("nullb", Transport::NullBlock),
    ("ublkb", Transport::Ublk),
];

/// Parts of the device path of a SCSI disk. A transport that is carried by another stands first.
const BY_PLACE: &[(&str, Transport)] = &[
    ("/session", Transport::Iscsi),
    ("/rport-", Transport::FibreChannel),
    ("/end_device-", Transport::Sas),
    ("/usb", Transport::Usb),
    ("/ata", Transport::Ata),
    ("/virtio", Transport::VirtioScsi),
    ("/VMBUS", Transport::HyperV),
    ("/vmbus", Transport::HyperV),
];

impl Transport {
    /// The transport of the disk with this (canonical) directory.
    pub(super) fn of(disk: &Path) -> Self {
        let name = file_name(disk);
        let is_named = |prefix: &str| name.starts_with(prefix);
        if is_named("nvme") {
            return match attribute(disk, "device/transport").as_deref() {
                Some("tcp") => Self::NvmeTcp,
                Some("rdma") => Self::NvmeRdma,
                Some("fc") => Self::NvmeFc,
                _ => Self::Nvme,
            };
        }
        if let Some((_, transport)) = BY_NAME.iter().find(|(prefix, _)| is_named(prefix)) {
            return *transport;
        }
        let place = disk.to_string_lossy();
        match BY_PLACE.iter().find(|(part, _)| place.contains(part)) {
            Some((_, transport)) => *transport,
            None if is_named("sd") || is_named("sr") => Self::Scsi,
            None => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_tell_how_they_are_attached_by_name_and_place() {
        for (path, word) in [
            ("/sys/devices/pci0000:00/0000:00:05.0/virtio1/block/vda", "virtio"),
            ("/sys/devices/pci0000:00/0000:00:05.0/virtio1/host0/target0:0:0/0:0:0:0/block/sda", "virtio-scsi"),
            ("/sys/devices/platform/host3/session1/target3:0:0/3:0:0:0/block/sdb", "iscsi"),
            ("/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda", "ata"),
            ("/sys/devices/LNXSYSTM:00/ACPI0004:00/VMBUS:00/abc/host0/target0:0:0/0:0:0:0/block/sdc", "hyper-v"),
            ("/sys/devices/pci0000:00/0000:00:04.0/nvme/nvme0/nvme0n1", "nvme"),
            ("/sys/devices/virtual/block/loop0", "loop"),
            ("/sys/devices/virtual/block/dm-3", "dm"),
            ("/sys/devices/virtual/block/md127", "md"),
            ("/sys/devices/virtual/block/nbd5", "nbd"),
            ("/sys/devices/pci0000:00/0000:00:07.0/host7/target7:0:0/7:0:0:0/block/sdq", "scsi"),
            ("/sys/devices/virtual/block/strange", "unknown"),
        ] {
            assert_eq!(Transport::of(Path::new(path)).as_str(), word, "{path}");
        }
    }
}
