//! What is to be made, decided: every name, size and rate, and nothing that the provider would refuse. All scripts of a
//! provider are written from this one value.

use std::collections::BTreeSet;

use plimsoll_catalog::{
    before_buying::MachineFacts,
    catalog::Catalog,
    ceiling::{Load, Part},
    expectation::Expectation,
    product::Provider,
};
use plimsoll_workload::{
    array::Striping,
    cloud::{Cloud, FileSystem, Kubernetes, Machine},
    plan_file::PlanFile,
    provisioned::{Caching, Provisioned},
    units::ByteCount,
};

use crate::{
    cluster::{self, Cluster},
    error::{GenerateError, impossible, missing, of_catalog},
    keys, machines, regions,
    words::{self, DISK_LENGTH_MAX},
};

/// What everything is called by that nobody named.
const NAME: &str = "plimsoll";
const GIB: u64 = 1 << 30;
/// More volumes are attached nowhere.
const DISKS_MAX: u32 = 64;
/// From this size on, a host of Azure caches no disk.
const UNCACHED_FROM_GIB: u64 = 4096;

/// What is to be made.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) provider: Provider,
    pub(crate) name: String,
    pub(crate) region: String,
    pub(crate) zone: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) machine: Option<MachineSetup>,
    /// All disks and volumes that the machine gets, in the order in which they are attached.
    pub(crate) disks: Vec<Disk>,
    pub(crate) file_system: FileSystem,
    pub(crate) cluster: Option<Cluster>,
}

/// A machine.
#[derive(Debug)]
pub(crate) struct MachineSetup {
    pub(crate) facts: MachineFacts,
    /// What it starts from, in the provider's words.
    pub(crate) image: String,
    pub(crate) ssh_from: Option<String>,
}

/// A disk, or a volume of a SAN.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    pub(crate) name: String,
    pub(crate) mount: String,
    /// The product, as the provider calls it.
    pub(crate) product: &'static str,
    pub(crate) size_gib: u64,
    pub(crate) bought: Rates,
    /// What it is, with the machine that it is at: what a run is held against.
    pub(crate) provisioned: Provisioned,
    /// The performance tier that a Premium SSD has, which follows from its size unless it was said.
    pub(crate) tier: Option<String>,
    /// Its number among the disks that are attached; volumes of a SAN have none.
    pub(crate) lun: Option<u32>,
    /// Whether it is left blank, because the plan makes arrays of it.
    pub(crate) is_blank: bool,
}

/// What is bought besides the size, in the provider's units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rates {
    pub(crate) iops: Option<u64>,
    /// MB/s in Azure, MiB/s elsewhere.
    pub(crate) throughput: Option<u64>,
}

impl Setup {
    /// Decides what a plan asks for, or says what cannot be.
    ///
    /// Disks are attached in this order of their directories, and those that are not in it behind.
    pub(crate) fn resolve(
        plan: &PlanFile,
        order: &[String],
        provider: Provider,
        catalog: &Catalog,
    ) -> Result<Self, GenerateError> {
        let Some(cloud) = &plan.cloud else {
            return Err(missing(
                "the plan",
                "it has no section [cloud], which says what to make: see docs/generating.md",
            ));
        };
        let name = words::NAME.of("cloud.name", cloud.name.as_deref().unwrap_or(NAME))?;
        let region =
            cloud.region.as_deref().ok_or_else(|| missing("cloud", "say the region, as region = \"westeurope\""))?;
        let region = if provider == Provider::Azure { regions::plain(region) } else { region.to_owned() };
        let region = words::PLACE.of("cloud.region", &region)?;
        if let Some(example) = regions::odd(provider, &region) {
            return Err(impossible(
                "cloud.region",
                format!("{provider} has no region {region}: say one, as {example}"),
            ));
        }
        if let Some(meant) = regions::meant(&region).filter(|_| provider == Provider::Azure) {
            return Err(impossible("cloud.region", format!("Azure has no region {region}; did you mean {meant}?")));
        }
        let zone = cloud.zone.as_deref().map(|zone| words::PLACE.of("cloud.zone", zone)).transpose()?;
        let project = cloud.project.as_deref().map(|text| words::PROJECT.of("cloud.project", text)).transpose()?;
        check_place(provider, &region, zone.as_deref(), project.as_deref())?;
        let machine = cloud.machine.as_ref().map(|machine| decide_machine(machine, provider, catalog)).transpose()?;
        let mut disks = decide_disks(cloud, order, provider, machine.as_ref(), zone.as_deref(), catalog)?;
        plan.stripe.as_ref().map_or(Ok(()), |striping| leave_blank(&mut disks, striping))?;
        let of_cluster = |kubernetes: &Kubernetes| cluster::decide(kubernetes, provider, zone.as_deref(), catalog);
        let cluster = cloud.kubernetes.as_ref().map(of_cluster).transpose()?;
        if machine.is_none() && cluster.is_none() {
            return Err(missing("cloud", "say what to make: [cloud.machine], [cloud.kubernetes] or both"));
        }
        let file_system = cloud.file_system.unwrap_or_default();
        Ok(Self { provider, name, region, zone, project, machine, disks, file_system, cluster })
    }

    /// The disk that is mounted there.
    pub(crate) fn disk_at(&self, mount: &str) -> Option<&Disk> {
        self.disks.iter().find(|disk| disk.mount == mount)
    }

    /// Whether anything of a SAN is asked for.
    pub(crate) fn has_san(&self) -> bool {
        self.disks.iter().any(|disk| disk.lun.is_none())
    }

    /// Whether arrays are made of some of its disks.
    pub(crate) fn has_arrays(&self) -> bool {
        self.disks.iter().any(|disk| disk.is_blank)
    }

    /// The base size of the SAN that volumes come from.
    pub(crate) fn san_tib(&self) -> u64 {
        let pools = self.disks.iter().filter(|disk| disk.lun.is_none()).filter_map(|disk| disk.provisioned.pool);
        pools.map(|pool| pool.0 >> 40).max().unwrap_or(1)
    }
}

/// Leaves the disks blank that arrays are to be made of: those that the plan names, or all.
fn leave_blank(disks: &mut [Disk], striping: &Striping) -> Result<(), GenerateError> {
    for device in &striping.devices {
        if !disks.iter().any(|disk| disk.mount == *device) {
            return Err(impossible(
                "stripe.devices",
                format!(
                    "{device} is none of [cloud.disks]: name disks as they are there, or leave devices out for all"
                ),
            ));
        }
    }
    for disk in disks.iter_mut() {
        disk.is_blank = striping.devices.is_empty() || striping.devices.contains(&disk.mount);
    }
    // Nothing may be asked for that those disks cannot be.
    let devices = disks.iter().filter(|disk| disk.is_blank).map(|disk| disk.mount.clone()).collect();
    let striping = Striping { devices, ..striping.clone() };
    let arrays = striping.expand().map_err(|error| impossible("stripe", error.to_string()))?;
    striping.unused(&arrays).map_or(Ok(()), |disk| {
        let why = format!("{disk} belongs to no array: leave it out of devices, or raise disks");
        Err(impossible("stripe", why))
    })
}

fn check_place(
    provider: Provider,
    region: &str,
    zone: Option<&str>,
    project: Option<&str>,
) -> Result<(), GenerateError> {
    let is_in = |zone: &str| match provider {
        Provider::Azure => matches!(zone, "1" | "2" | "3"),
        Provider::Aws => zone.strip_prefix(region).is_some_and(|rest| rest.len() == 1),
        _ => zone.strip_prefix(region).and_then(|rest| rest.strip_prefix('-')).is_some_and(|rest| rest.len() == 1),
    };
    let example = match provider {
        Provider::Azure => "1".to_owned(),
        Provider::Aws => format!("{region}a"),
        _ => format!("{region}-a"),
    };
    match zone {
        Some(zone) if !is_in(zone) => Err(impossible(
            "cloud.zone",
            format!("{provider} has no zone {zone} in {region}: write it as \"{example}\""),
        )),
        None if provider != Provider::Azure => {
            Err(missing("cloud", &format!("disks of {provider} are in a zone: say it, as zone = \"{example}\"")))
        }
        _ if project.is_some() != (provider == Provider::Gcp) => Err(match project {
            Some(_) => impossible("cloud.project", format!("{provider} has no projects: leave it out")),
            None => missing("cloud", "say the project, as project = \"my-project\""),
        }),
        _ => Ok(()),
    }
}

/// A machine or a node, when the provider sells it.
pub(crate) fn facts(
    place: &str,
    name: &str,
    provider: Provider,
    catalog: &Catalog,
) -> Result<MachineFacts, GenerateError> {
    words::MACHINE.of(place, name)?;
    let facts = catalog.machine_facts(name).map_err(of_catalog(place))?;
    match facts.provider {
        Some(other) if other != provider => {
            Err(impossible(place, format!("{} is a machine of {other}, not of {provider}", facts.name)))
        }
        _ if provider == Provider::Aws && machines::is_mac(&facts.name) => Err(impossible(
            place,
            format!("{} starts macOS alone, which nothing here is written for: take another type", facts.name),
        )),
        _ => Ok(facts),
    }
}

fn decide_machine(machine: &Machine, provider: Provider, catalog: &Catalog) -> Result<MachineSetup, GenerateError> {
    let place = "cloud.machine";
    let name = machine.machine_type.as_deref();
    let name = name.ok_or_else(|| missing(place, "say its size or type, as type = \"Standard_D16s_v5\""))?;
    let facts = facts(place, name, provider, catalog)?;
    let image = machine.image.as_deref().unwrap_or_else(|| usual_image(provider, &facts.name));
    let image = words::IMAGE.of("cloud.machine.image", image)?;
    if provider == Provider::Azure && image.split(':').count() != 4 {
        return Err(impossible(
            "cloud.machine.image",
            format!("an image of Azure is written publisher:offer:sku:version, not as {image}"),
        ));
    }
    if provider == Provider::Azure
        && machines::is_of_generation_1(&facts.name)
        && machines::is_image_of_generation_2(&image)
    {
        return Err(impossible(
            place,
            format!(
                "{} starts from images of generation 1 alone, and {image} is of generation 2: take a newer size, or say \
                 image = \"Canonical:ubuntu-24_04-lts:server-gen1:latest\"",
                facts.name
            ),
        ));
    }
    let from = machine.ssh_from.as_deref();
    let ssh_from = from.map(|from| words::addresses("cloud.machine.ssh_from", from)).transpose()?;
    Ok(MachineSetup { facts, image, ssh_from })
}

/// A current Ubuntu for the processors of a machine.
fn usual_image(provider: Provider, machine: &str) -> &'static str {
    match (provider, is_arm(provider, machine)) {
        (Provider::Azure, false) => "Canonical:ubuntu-24_04-lts:server:latest",
        (Provider::Azure, true) => "Canonical:ubuntu-24_04-lts:server-arm64:latest",
        (Provider::Aws, false) => "/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id",
        (Provider::Aws, true) => "/aws/service/canonical/ubuntu/server/24.04/stable/current/arm64/hvm/ebs-gp3/ami-id",
        (_, false) => "ubuntu-os-cloud/ubuntu-2404-lts-amd64",
        (_, true) => "ubuntu-os-cloud/ubuntu-2404-lts-arm64",
    }
}

/// Whether a machine has ARM processors, by its name: providers say it with a letter.
pub(crate) fn is_arm(provider: Provider, machine: &str) -> bool {
    let machine = machine.to_ascii_lowercase();
    // What stands behind the first number: `ps` of Standard_D4ps_v5, `gd` of m7gd.large.
    let behind = |name: &str| {
        let letters = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        letters.trim_start_matches(|letter: char| letter.is_ascii_digit()).to_owned()
    };
    match provider {
        Provider::Azure => {
            let size = machine.trim_start_matches("standard_").split('_').next().unwrap_or_default();
            behind(size).contains('p')
        }
        Provider::Aws => {
            let family = machine.split('.').next().unwrap_or_default();
            family == "a1" || behind(family).contains('g')
        }
        _ => ["t2a-", "c4a-", "n4a-"].iter().any(|series| machine.starts_with(series)),
    }
}

fn decide_disks(
    cloud: &Cloud,
    order: &[String],
    provider: Provider,
    machine: Option<&MachineSetup>,
    zone: Option<&str>,
    catalog: &Catalog,
) -> Result<Vec<Disk>, GenerateError> {
    let Some(machine) = machine else {
        return match cloud.disks.keys().next() {
            Some(mount) => {
                Err(missing("cloud", &format!("say the machine that the disk {mount} is for: [cloud.machine]")))
            }
            None => Ok(Vec::new()),
        };
    };
    let name = &machine.facts.name;
    if provider == Provider::Aws && !cloud.disks.is_empty() && !machines::has_nvme_volumes(name) {
        return Err(impossible(
            "cloud.machine",
            format!("{name} runs on Xen, where volumes cannot be told apart by their ids: take a type on Nitro, as m5"),
        ));
    }
    let mut disks: Vec<Disk> = Vec::new();
    let (mut names, mut lun) = (BTreeSet::new(), 0);
    let mut all: Vec<_> = cloud.disks.iter().collect();
    all.sort_by_key(|(mount, _)| order.iter().position(|other| other == *mount).unwrap_or(order.len()));
    for (mount, asked) in all {
        let place = format!("cloud.disks.\"{mount}\"");
        words::MOUNT.of(&place, mount)?;
        let count = asked.disks.unwrap_or(1);
        if !(1..=DISKS_MAX).contains(&count) {
            return Err(impossible(&place, format!("disks is from 1 to {DISKS_MAX}, not {count}")));
        }
        let one = decide_disk(&place, mount, asked, provider, &machine.facts, zone, catalog)?;
        for number in 1..=count {
            let mut disk = one.clone();
            if count > 1 {
                disk.mount = format!("{mount}-{number}");
            }
            disk.name = words::of_mount(&disk.mount);
            if disk.name.len() > DISK_LENGTH_MAX {
                return Err(impossible(
                    &place,
                    format!("the last part of a directory names the disk, and has up to {DISK_LENGTH_MAX} characters"),
                ));
            }
            if !names.insert(disk.name.clone()) {
                return Err(impossible(
                    &place,
                    format!("another disk is called {} too: name the directories apart", disk.name),
                ));
            }
            if disk.lun.is_some() {
                disk.lun = Some(lun);
                lun += 1;
            }
            disks.push(disk);
        }
    }
    // The disk of the system counts in AWS, where the most is of all attachments.
    let most =
        machine.facts.max_disks.map(|most| if provider == Provider::Aws { most.saturating_sub(1) } else { most });
    if let Some(most) = most.filter(|most| lun > *most) {
        return Err(impossible(
            "cloud.disks",
            format!("{name} takes at most {most} data disks, not {lun}: take a larger size"),
        ));
    }
    let mut interfaces = disks.iter().filter_map(|disk| disk.provisioned.interface);
    let first = interfaces.next();
    if interfaces.any(|interface| Some(interface) != first) {
        return Err(impossible("cloud.disks", "a machine has one interface for all its disks: say the same for each"));
    }
    let pool = check_san(&disks)?;
    for volume in disks.iter_mut().filter(|disk| disk.lun.is_none()) {
        volume.provisioned.pool = volume.provisioned.pool.or(pool);
    }
    Ok(disks)
}

fn decide_disk(
    place: &str,
    mount: &str,
    asked: &Provisioned,
    provider: Provider,
    machine: &MachineFacts,
    zone: Option<&str>,
    catalog: &Catalog,
) -> Result<Disk, GenerateError> {
    let mut provisioned = Provisioned { disks: None, vm: Some(machine.name.clone()), ..asked.clone() };
    let product = decide_product(place, &mut provisioned, provider, zone, catalog)?;
    if asked.vm.as_ref().is_some_and(|vm| !vm.eq_ignore_ascii_case(&machine.name)) {
        return Err(impossible(
            place,
            format!("vm says another machine than [cloud.machine], {}: leave it out", machine.name),
        ));
    }
    keys::both_rates(place, asked, product)?;
    let is_network = product == "elastic-san";
    let Some(expectation) = Expectation::of(&provisioned, catalog).map_err(of_catalog(place))? else {
        return Err(missing(place, "say what is bought, as sku = \"Premium_LRS\""));
    };
    keys::check(place, asked, product, keys::of_product(product))?;
    let interface = asked.interface.filter(|_| provider == Provider::Azure);
    if let Some(why) = interface.and_then(|interface| machines::refuses_interface(&machine.name, interface)) {
        return Err(impossible(place, why));
    }
    let size_gib = size_gib(place, &provisioned)?;
    let mut bought = rates(place, &provisioned, provider)?;
    if provider == Provider::Azure {
        included(&mut bought, product, &expectation);
    }
    let tier = provisioned.tier.as_ref().map(|tier| tier.to_ascii_uppercase());
    let usual = || usual_tier("P", provisioned.size, catalog).filter(|_| product.starts_with("Premium_"));
    Ok(Disk {
        tier: tier.or_else(usual),
        name: String::new(),
        mount: mount.to_owned(),
        product,
        size_gib,
        bought,
        provisioned,
        lun: (!is_network).then_some(0),
        is_blank: false,
    })
}

/// The product of a disk or a volume of a class, when it can be made; what is bought gets the product's own name.
pub(crate) fn decide_product(
    place: &str,
    provisioned: &mut Provisioned,
    provider: Provider,
    zone: Option<&str>,
    catalog: &Catalog,
) -> Result<&'static str, GenerateError> {
    let sku = provisioned.sku.clone();
    let sku = sku.as_deref().ok_or_else(|| missing(place, "say what is bought, as sku = \"Premium_LRS\""))?;
    let sold = catalog.sold_as(sku).map_err(of_catalog(place))?;
    let product = sold.product;
    if product.provider != provider {
        return Err(impossible(place, format!("{sku} is sold by {}, not by {provider}", product.provider)));
    }
    let is_shared = provisioned.vm_share.is_some() || provisioned.shared_limit.is_some();
    if provisioned.limit.is_some() || is_shared || provisioned.emulated.is_some() {
        return Err(impossible(
            place,
            "a limit, a share or emulated is nothing that can be bought: say them under [provisioned]",
        ));
    }
    if let Some(why) = not_made(product.name) {
        return Err(impossible(place, format!("{}: {why}", product.name)));
    }
    let vm = provisioned.vm.as_deref().filter(|_| provider == Provider::Gcp);
    if let Some(why) = vm.and_then(|vm| machines::refuses(vm, product.name)) {
        return Err(impossible(place, why));
    }
    let needs_zone = matches!(product.name, "PremiumV2_LRS" | "UltraSSD_LRS");
    if needs_zone && zone.is_none() {
        return Err(impossible(
            place,
            format!("{} is sold in zones only: say the zone, as zone = \"1\"", product.name),
        ));
    }
    match (sold.size, provisioned.size) {
        (Some(own), Some(said)) if said != own => {
            return Err(impossible(
                place,
                format!(
                    "{sku} is a disk of {own}, not of {said}: leave the size out, or say sku = \"{}\"",
                    product.name
                ),
            ));
        }
        (own, said) => provisioned.size = said.or(own),
    }
    // What is kept in several zones is a product of its own to whoever makes it, and to the catalog another name.
    let in_zones = product.names().find(|name| name.ends_with("_ZRS") && name.eq_ignore_ascii_case(sku.trim()));
    let name = in_zones.unwrap_or(product.name);
    provisioned.sku = Some(name.to_owned());
    let is_cached = provisioned.caching.is_some_and(|caching| caching != Caching::None);
    if is_cached && provisioned.size.is_some_and(|size| size.0 >= UNCACHED_FROM_GIB * GIB) {
        return Err(impossible(
            place,
            "the host caches no disk of 4 TiB or more: take caching = \"None\", or a smaller disk",
        ));
    }
    if product.provider == Provider::Azure && provisioned.caching.is_none() && product.name != "elastic-san" {
        provisioned.caching = Some(Caching::None);
    }
    Ok(name)
}

/// Why a product is nothing that can be made for a machine.
fn not_made(product: &str) -> Option<&'static str> {
    match product {
        "azure-temporary-disk" | "azure-local-nvme" | "gcp-local-ssd" => {
            Some("it comes with the machine and is not made: name a directory on it among the targets")
        }
        name if ["azure-files", "netapp", "efs", "filestore", "fsx", "azure-blob"]
            .iter()
            .any(|kind| name.starts_with(kind)) =>
        {
            Some(
                "it is a share of a service, and only disks and volumes of Elastic SAN are made: name where it is mounted \
                  among the targets",
            )
        }
        _ => None,
    }
}

/// The size in whole GiB, which is what is sold.
pub(crate) fn size_gib(place: &str, provisioned: &Provisioned) -> Result<u64, GenerateError> {
    match provisioned.size {
        Some(size) if size.0 > 0 && size.0.is_multiple_of(GIB) => Ok(size.0 / GIB),
        Some(size) => Err(impossible(place, format!("disks are sold in whole GiB, not with {size}"))),
        None => Err(missing(place, "say its size, as size = \"1Ti\"")),
    }
}

/// Rates in the provider's units.
pub(crate) fn rates(place: &str, provisioned: &Provisioned, provider: Provider) -> Result<Rates, GenerateError> {
    let (unit, word) = if provider == Provider::Azure { (1_000_000, "MB") } else { (1 << 20, "MiB") };
    let throughput = match provisioned.bandwidth {
        Some(bandwidth) if !bandwidth.0.is_multiple_of(unit) => {
            return Err(impossible(
                place,
                format!("{provider} sells whole {word}/s, not {bandwidth}/s: write bandwidth = \"300{word}\""),
            ));
        }
        bandwidth => bandwidth.map(|bandwidth| bandwidth.0 / unit),
    };
    Ok(Rates { iops: provisioned.iops, throughput })
}

/// Says also the rates that the catalog expects of a disk that nothing is said of, so that what is made, compared and
/// expected are one thing.
fn included(bought: &mut Rates, product: &str, expectation: &Expectation) {
    if !matches!(product, "PremiumV2_LRS" | "UltraSSD_LRS") {
        return;
    }
    let load = Load { read_share: 1.0, operation_bytes: 4096.0, is_sequential: false };
    if let Some(disk) = expectation.part(Part::Disk).map(|disk| disk.limits.of(load)) {
        bought.iops = bought.iops.or(disk.operations.map(|rate| rate.sustained as u64));
        bought.throughput = bought.throughput.or(disk.bytes.map(|rate| (rate.sustained / 1e6).round() as u64));
    }
}

/// The tier that a disk has by its size: the smallest of a letter that holds it.
pub(crate) fn usual_tier(letter: &str, size: Option<ByteCount>, catalog: &Catalog) -> Option<String> {
    let tiers = (1..100).map(|number| format!("{letter}{number}"));
    let holding = tiers.filter_map(|name| {
        let sold = catalog.sold_as(&name).ok().filter(|sold| sold.product.provider == Provider::Azure)?;
        Some((sold.size.filter(|holds| Some(*holds) >= size)?, name))
    });
    holding.min().map(|(_, name)| name)
}

/// All volumes are of one SAN, which has room for them: how large it is, where that is said.
fn check_san(disks: &[Disk]) -> Result<Option<ByteCount>, GenerateError> {
    let place = "cloud.disks";
    let volumes: Vec<&Disk> = disks.iter().filter(|disk| disk.lun.is_none()).collect();
    let mut pools = volumes.iter().filter_map(|disk| disk.provisioned.pool);
    let first = pools.next();
    if pools.any(|pool| Some(pool) != first) {
        return Err(impossible(place, "all volumes come from one SAN: say the same pool for each"));
    }
    let room_gib = first.map_or(1024, |pool| pool.0 / GIB);
    let taken_gib: u64 = volumes.iter().map(|disk| disk.size_gib).sum();
    if taken_gib > room_gib {
        return Err(impossible(
            place,
            format!(
                "volumes of {taken_gib} GiB have no room in a SAN of {room_gib} GiB: say a larger one, as pool = \"2Ti\""
            ),
        ));
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_arm_processors_is_told_by_its_name() {
        for (provider, arm, other) in [
            (Provider::Azure, ["Standard_D4ps_v5", "Standard_B2pts_v2"], ["Standard_D16s_v5", "Standard_NP10s"]),
            (Provider::Aws, ["m7gd.large", "a1.large"], ["g5.xlarge", "m7i.large"]),
            (Provider::Gcp, ["t2a-standard-4", "c4a-highmem-8"], ["n2-standard-8", "a2-highgpu-1g"]),
        ] {
            assert!(arm.iter().all(|name| is_arm(provider, name)), "{arm:?}");
            assert!(!other.iter().any(|name| is_arm(provider, name)), "{other:?}");
        }
        assert!(usual_image(Provider::Aws, "m7g.large").contains("/arm64/"));
    }
}
