//! What `az vm show` and `az disk list` print.

use plimsoll_catalog::catalog::Catalog;
use plimsoll_workload::{
    cloud::Machine,
    provisioned::{Interface, Provisioned},
    units::{Bandwidth, ByteCount},
};
use serde::Deserialize;
use serde_json::Value;

use super::{Disks, Existing, first_of, gib, read_as};
use crate::{error::GenerateError, setup::usual_tier};

const COMMAND: &str = "`az vm show` and `az disk list`";

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Vm {
    location: Option<String>,
    zones: Option<Vec<String>>,
    hardware_profile: Option<Hardware>,
    storage_profile: Option<Storage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Hardware {
    vm_size: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Storage {
    data_disks: Option<Vec<DataDisk>>,
    disk_controller_type: Option<String>,
    image_reference: Option<Image>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Image {
    publisher: Option<String>,
    offer: Option<String>,
    sku: Option<String>,
    version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DataDisk {
    name: Option<String>,
    lun: Option<u32>,
    caching: Option<String>,
    #[serde(alias = "diskSizeGB")]
    disk_size_gb: Option<u64>,
    managed_disk: Option<Managed>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Managed {
    storage_account_type: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Disk {
    name: Option<String>,
    sku: Option<Sku>,
    #[serde(alias = "diskSizeGB")]
    disk_size_gb: Option<u64>,
    #[serde(alias = "diskIOPSReadWrite")]
    disk_iops_read_write: Option<u64>,
    #[serde(alias = "diskMBpsReadWrite")]
    disk_mbps_read_write: Option<u64>,
    tier: Option<String>,
    bursting_enabled: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Sku {
    name: Option<String>,
}

/// A machine, and its disks.
pub(super) fn read(documents: &[Value], catalog: &Catalog) -> Result<Existing, GenerateError> {
    let (mut machines, mut disks) = (Vec::new(), Disks::new());
    for document in documents {
        if document.get("hardwareProfile").is_some() {
            machines.push(read_as::<Vm>(document, "a machine of Azure")?);
        } else if document.get("sku").is_some() {
            let disk: Disk = read_as(document, "a disk of Azure")?;
            // Names are the same in any case.
            disks.extend(disk.name.clone().map(|name| (name.to_ascii_lowercase(), disk)));
        }
    }
    let mut found = Existing::default();
    let vm = first_of(&machines, &mut found, COMMAND)?;
    found.cloud.region.clone_from(&vm.location);
    found.cloud.zone = vm.zones.as_ref().and_then(|zones| zones.first().cloned());
    let storage = vm.storage_profile.as_ref();
    found.cloud.machine = Some(Machine {
        machine_type: vm.hardware_profile.as_ref().and_then(|hardware| hardware.vm_size.clone()),
        image: storage.and_then(|storage| image(storage.image_reference.as_ref()?)),
        ssh_from: None,
    });
    let interface = storage.and_then(|storage| storage.disk_controller_type.as_ref()?.parse::<Interface>().ok());
    let mut attached: Vec<&DataDisk> =
        storage.and_then(|storage| storage.data_disks.as_ref()).into_iter().flatten().collect();
    attached.sort_by_key(|disk| disk.lun);
    for disk in attached {
        let name = disk.name.clone().unwrap_or_else(|| format!("disk-{}", disk.lun.unwrap_or_default()));
        let more = disks.get(&name.to_ascii_lowercase());
        if more.is_none() {
            found.note(format!("{name}: add what `az disk list` prints, for its kind and its rates"));
        }
        found.disk(&name, bought(disk, more, interface, catalog));
    }
    Ok(found)
}

/// The image, where it is one that all can have.
fn image(image: &Image) -> Option<String> {
    let version = image.version.as_deref().unwrap_or("latest");
    Some(format!("{}:{}:{}:{version}", image.publisher.as_ref()?, image.offer.as_ref()?, image.sku.as_ref()?))
}

fn bought(disk: &DataDisk, more: Option<&Disk>, interface: Option<Interface>, catalog: &Catalog) -> Provisioned {
    let of_disk = more.and_then(|more| more.sku.as_ref()?.name.clone());
    let of_machine = disk.managed_disk.as_ref().and_then(|managed| managed.storage_account_type.clone());
    let sku = of_disk.or(of_machine);
    let size = more.and_then(|more| more.disk_size_gb).or(disk.disk_size_gb).and_then(gib);
    // Rates of other products follow from the size, and are told all the same.
    let has_rates = matches!(sku.as_deref(), Some("PremiumV2_LRS" | "UltraSSD_LRS"));
    let rates = more.filter(|_| has_rates);
    Provisioned {
        size,
        iops: rates.and_then(|more| more.disk_iops_read_write),
        bandwidth: rates.and_then(|more| more.disk_mbps_read_write?.checked_mul(1_000_000)).map(Bandwidth),
        tier: more.and_then(|more| more.tier.clone()).filter(|tier| !is_usual(tier, size, catalog)),
        on_demand_bursting: more.and_then(|more| more.bursting_enabled).filter(|is_on| *is_on),
        caching: disk.caching.as_deref().and_then(|caching| caching.parse().ok()),
        interface,
        sku,
        ..Provisioned::default()
    }
}

/// Whether a tier is the one that a disk of such a size has by itself, or is none.
fn is_usual(tier: &str, size: Option<ByteCount>, catalog: &Catalog) -> bool {
    let usual = tier.get(..1).and_then(|letter| usual_tier(letter, size, catalog));
    usual.is_none_or(|usual| usual.eq_ignore_ascii_case(tier)) || catalog.sold_as(tier).is_err()
}
