//! What machines of a provider cannot do though they are sold: facts of documents, each beside where it stands. Of a
//! machine that no document speaks of, nothing is refused.

use plimsoll_workload::provisioned::Interface;

/// Whether a size of Azure starts from images of generation 1 alone: series A, Dv2, Dv3, Ev3 and NP.
///
/// <https://learn.microsoft.com/azure/virtual-machines/generation-2#generation-2-vm-sizes>, and the page of each series
/// below <https://learn.microsoft.com/azure/virtual-machines/sizes/overview>, under "VM Generation Support".
pub(crate) fn is_of_generation_1(size: &str) -> bool {
    let size = size.to_ascii_lowercase();
    let size = size.trim_start_matches("standard_").trim_start_matches("basic_");
    let series = size.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let series = series.split(|letter: char| letter.is_ascii_digit()).next().unwrap_or_default();
    let behind = size[series.len()..].trim_start_matches(|letter: char| letter.is_ascii_digit());
    match series {
        "a" => true,
        "d" => matches!(behind, "_v2" | "_v2_promo" | "_v3"),
        "e" => matches!(behind, "_v3" | "i_v3"),
        "np" => behind == "s",
        _ => false,
    }
}

/// Whether an image of Azure is of generation 2, as far as its name says: Ubuntu's from 24.04 on say it where they are
/// not, others where they are.
///
/// <https://documentation.ubuntu.com/azure/azure-how-to/instances/find-ubuntu-images/>
pub(crate) fn is_image_of_generation_2(image: &str) -> bool {
    let mut parts = image.split(':').skip(1).map(str::to_ascii_lowercase);
    let (offer, sku) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let is_of_generation_1 = sku.ends_with("gen1") || sku.ends_with("-g1");
    let is_named_so = sku.contains("gen2") || sku.contains("-g2") || sku.contains("gensecond");
    is_named_so || (offer.starts_with("ubuntu-2") && !is_of_generation_1)
}

/// Why a machine of Azure does not attach disks by an interface. Sizes of general use up to version 5 know SCSI alone,
/// but for those with a b, whose disks are faster; Intel's from version 6 on know NVMe alone.
///
/// <https://learn.microsoft.com/azure/virtual-machines/enable-nvme-remote-faqs> for version 5, and the page of each series below
/// <https://learn.microsoft.com/azure/virtual-machines/sizes/overview>.
pub(crate) fn refuses_interface(size: &str, interface: Interface) -> Option<String> {
    const SCSI_UP_TO_5: [&str; 10] = ["a", "b", "d", "dc", "ds", "e", "ec", "f", "g", "gs"];
    let lower = size.to_ascii_lowercase();
    let (name, version) = lower.trim_start_matches("standard_").split_once("_v").unwrap_or((&lower, "1"));
    let name = name.trim_start_matches("standard_").trim_start_matches("basic_");
    let version: u32 = version.split('_').next().and_then(|number| number.parse().ok())?;
    let series = name.split(|letter: char| letter.is_ascii_digit()).next().unwrap_or_default();
    let letters: String = name[series.len()..].chars().filter(char::is_ascii_alphabetic).collect();
    let (takes, other) = match interface {
        Interface::Nvme
            if version <= 5 && SCSI_UP_TO_5.contains(&series) && !(series == "e" && letters.contains('b')) =>
        {
            (Interface::Scsi, "scsi")
        }
        Interface::Scsi if version >= 6 && ["d", "e"].contains(&series) && !letters.contains(['a', 'p']) => {
            (Interface::Nvme, "nvme")
        }
        _ => return None,
    };
    Some(format!(
        "{size} attaches disks by {takes} alone, not by {interface}: say interface = \"{other}\", or leave it out"
    ))
}

/// Families of EC2 on Xen: their volumes have no ids that a machine could find them by, but for sizes without a
/// hypervisor.
///
/// <https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-nitro-instances.html>, and of those before it "NVMe EBS" in
/// <https://github.com/awsdocs/amazon-ec2-user-guide/blob/master/doc_source/instance-types.md>.
const ON_XEN: [&str; 26] = [
    "c1", "c3", "c4", "cc2", "cr1", "d2", "f1", "g2", "g3", "g3s", "h1", "hs1", "i2", "i3", "m1", "m2", "m3", "m4",
    "p2", "p3", "r3", "r4", "t1", "t2", "x1", "x1e",
];

/// Whether a machine of EC2 sees volumes as NVMe devices, with their ids.
pub(crate) fn has_nvme_volumes(machine: &str) -> bool {
    let (family, size) = machine.split_once('.').unwrap_or((machine, ""));
    !ON_XEN.contains(&family) || size.starts_with("metal")
}

/// Whether a machine of EC2 is one of Apple's, which start macOS alone.
///
/// <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-mac-instances.html>
pub(crate) fn is_mac(machine: &str) -> bool {
    machine.starts_with("mac")
}

/// Series of Google Cloud whose machines take no Persistent Disks, but Hyperdisks alone.
const OF_HYPERDISKS: [&str; 8] = ["c4", "c4a", "c4d", "n4", "n4a", "n4d", "x4", "m4"];

/// Disks that machines of a series do not take, by the beginnings of their names.
///
/// <https://cloud.google.com/compute/docs/disks/hyperdisks#machine-type-support> and
/// <https://cloud.google.com/compute/docs/disks/persistent-disks>
const NOT_TAKEN: [(&[&str], &[&str]); 6] = [
    (&OF_HYPERDISKS, &["pd-"]),
    (&["n1", "f1", "g1", "e2", "t2a", "c2", "c2d"], &["hyperdisk-"]),
    (&["n2"], &["hyperdisk-balanced", "hyperdisk-ml"]),
    (&["n2d", "t2d"], &["hyperdisk-balanced", "hyperdisk-ml", "hyperdisk-extreme"]),
    (&["h3"], &["pd-standard", "pd-ssd", "hyperdisk-extreme", "hyperdisk-ml"]),
    (&["a3", "c3", "c3d", "g2", "m3", "z3"], &["pd-standard"]),
];

/// Disks that machines of a series take from a number of processors on. With a series that is not here, pd-extreme is
/// for no use that counts.
///
/// <https://cloud.google.com/compute/docs/disks/extreme-persistent-disk#machine_shape_support> and
/// <https://cloud.google.com/compute/docs/disks/hd-types/hyperdisk-extreme>
const TAKEN_FROM: [(&str, &str, u32); 11] = [
    ("pd-extreme", "n2", 64),
    ("pd-extreme", "m1", 0),
    ("pd-extreme", "m2", 0),
    ("pd-extreme", "m3", 0),
    ("hyperdisk-extreme", "c3", 88),
    ("hyperdisk-extreme", "c3d", 60),
    ("hyperdisk-extreme", "c4", 96),
    ("hyperdisk-extreme", "c4a", 64),
    ("hyperdisk-extreme", "c4d", 64),
    ("hyperdisk-extreme", "m1", 80),
    ("hyperdisk-extreme", "m3", 64),
];

/// Why a machine of Google Cloud does not take a disk.
pub(crate) fn refuses(machine: &str, disk: &str) -> Option<String> {
    let mut parts = machine.split('-');
    let series = parts.next().unwrap_or_default();
    let vcpus = parts.find_map(|part| part.parse::<u32>().ok());
    let is_not_taken =
        NOT_TAKEN.iter().any(|(of, disks)| of.contains(&series) && disks.iter().any(|kind| disk.starts_with(kind)));
    let from = TAKEN_FROM.iter().find(|(kind, of, _)| *kind == disk && *of == series).map(|(.., from)| *from);
    if is_not_taken || (disk == "pd-extreme" && from.is_none()) {
        return Some(format!(
            "machines of the series {series}, as {machine}, take no {disk}: take a disk or a machine of another kind"
        ));
    }
    let (from, vcpus) = (from?, vcpus?);
    (vcpus < from).then(|| {
        format!("machines of the series {series} take {disk} from {from} processors on, and {machine} has {vcpus}")
    })
}

/// The kind of a system's disk that a machine of Google Cloud takes.
pub(crate) fn boot_disk(machine: &str) -> &'static str {
    let series = machine.split('-').next().unwrap_or_default();
    if OF_HYPERDISKS.contains(&series) { "hyperdisk-balanced" } else { "pd-balanced" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_are_found_where_they_are_nvme_devices() {
        for (machine, has) in [("m4.large", false), ("x1e.xlarge", false), ("i3.metal", true), ("i3en.large", true)] {
            assert_eq!(has_nvme_volumes(machine), has, "{machine}");
        }
        assert!(is_mac("mac2-m2.metal") && !is_mac("m5.large"));
    }

    #[test]
    fn a_series_takes_what_it_takes_from_the_processors_on_that_it_takes_it_from() {
        for (machine, disk) in [
            ("n2-standard-80", "pd-extreme"),
            ("n2-standard-80", "hyperdisk-throughput"),
            ("c3-standard-88-lssd", "hyperdisk-extreme"),
            ("n2-custom-64-262144", "pd-extreme"),
            ("c4-standard-8", "hyperdisk-balanced"),
            ("z9-standard-8", "hyperdisk-ml"),
        ] {
            assert_eq!(refuses(machine, disk), None);
        }
        for (machine, disk, words) in [
            ("n2-standard-16", "pd-extreme", "from 64 processors on, and n2-standard-16 has 16"),
            ("n2-standard-80", "hyperdisk-balanced-high-availability", "the series n2"),
            ("e2-medium", "hyperdisk-throughput", "the series e2"),
            ("c3-standard-44", "hyperdisk-extreme", "from 88"),
            ("c3-standard-44", "pd-standard", "take no pd-standard"),
            ("c4a-standard-8", "pd-ssd", "take no pd-ssd"),
            ("c2-standard-8", "pd-extreme", "take no pd-extreme"),
        ] {
            let why = refuses(machine, disk).unwrap_or_default();
            assert!(why.contains(words), "{words}: {why}");
        }
    }

    #[test]
    fn a_size_attaches_disks_by_what_its_series_has() {
        for (size, interface, is_refused) in [
            ("Standard_D16s_v5", Interface::Nvme, true),
            ("Standard_DS2_v2", Interface::Nvme, true),
            ("Standard_F4s", Interface::Nvme, true),
            ("Standard_E8-4s_v5", Interface::Nvme, true),
            ("Standard_D16s_v5", Interface::Scsi, false),
            ("Standard_E8bds_v5", Interface::Nvme, false),
            ("Standard_E8bds_v5", Interface::Scsi, false),
            ("Standard_D4s_v6", Interface::Nvme, false),
            ("Standard_D4s_v6", Interface::Scsi, true),
            ("Standard_D4as_v6", Interface::Scsi, false),
            ("Standard_L8s_v4", Interface::Nvme, false),
            ("Standard_M176bds_4_v3", Interface::Nvme, false),
        ] {
            assert_eq!(refuses_interface(size, interface).is_some(), is_refused, "{size} by {interface}");
        }
    }

    #[test]
    fn a_size_of_generation_1_is_told_by_its_series() {
        for size in
            ["Standard_A1_v2", "Standard_A8m_v2", "Basic_A0", "Standard_D2_v2", "Standard_D15_v2", "Standard_D4_v3"]
        {
            assert!(is_of_generation_1(size), "{size}");
        }
        assert!(is_of_generation_1("Standard_E64i_v3") && is_of_generation_1("Standard_NP10s"));
        for size in
            ["Standard_D2s_v3", "Standard_DS2_v2", "Standard_D4_v4", "Standard_E4s_v3", "Standard_NC24ads_A100_v4"]
        {
            assert!(!is_of_generation_1(size), "{size}");
        }
        assert!(is_image_of_generation_2("Canonical:ubuntu-24_04-lts:server:latest"));
        assert!(is_image_of_generation_2("Canonical:0001-com-ubuntu-server-jammy:22_04-lts-gen2:latest"));
        assert!(!is_image_of_generation_2("Canonical:ubuntu-24_04-lts:server-gen1:latest"));
        assert!(!is_image_of_generation_2("Canonical:0001-com-ubuntu-server-jammy:22_04-lts:latest"));
    }
}
