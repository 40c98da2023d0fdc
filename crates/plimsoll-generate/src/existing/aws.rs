//! What `aws ec2 describe-instances` and `aws ec2 describe-volumes` print.

use plimsoll_workload::{cloud::Machine, provisioned::Provisioned, units::Bandwidth};
use serde::Deserialize;
use serde_json::Value;

use super::{Disks, Existing, first_of, gib, read_as};
use crate::error::GenerateError;

const COMMAND: &str = "`aws ec2 describe-instances` and `aws ec2 describe-volumes`";

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Document {
    reservations: Vec<Reservation>,
    volumes: Vec<Volume>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Reservation {
    instances: Vec<Instance>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Instance {
    instance_type: Option<String>,
    placement: Option<Placement>,
    root_device_name: Option<String>,
    block_device_mappings: Vec<Mapping>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Placement {
    availability_zone: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Mapping {
    device_name: Option<String>,
    ebs: Option<Ebs>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Ebs {
    volume_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Volume {
    volume_id: Option<String>,
    volume_type: Option<String>,
    size: Option<u64>,
    iops: Option<u64>,
    throughput: Option<u64>,
    tags: Vec<Tag>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Tag {
    key: String,
    value: String,
}

/// A machine, and its volumes.
pub(super) fn read(documents: &[Value]) -> Result<Existing, GenerateError> {
    let (mut instances, mut volumes) = (Vec::new(), Disks::new());
    for document in documents {
        let document: Document = read_as(document, "what aws prints")?;
        instances.extend(document.reservations.into_iter().flat_map(|reservation| reservation.instances));
        volumes.extend(document.volumes.into_iter().filter_map(|volume| Some((volume.volume_id.clone()?, volume))));
    }
    let mut found = Existing::default();
    let instance = first_of(&instances, &mut found, COMMAND)?;
    let zone = instance.placement.as_ref().and_then(|placement| placement.availability_zone.clone());
    // A zone is called by its region, with a letter behind it.
    found.cloud.region =
        zone.as_deref().map(|zone| zone.trim_end_matches(|last: char| last.is_ascii_lowercase()).to_owned());
    found.cloud.zone = zone;
    found.cloud.machine = Some(Machine { machine_type: instance.instance_type.clone(), ..Machine::default() });
    for mapping in &instance.block_device_mappings {
        let Some(id) = mapping.ebs.as_ref().and_then(|ebs| ebs.volume_id.as_ref()) else { continue };
        if mapping.device_name == instance.root_device_name {
            continue;
        }
        let volume = volumes.get(id);
        if volume.is_none() {
            found.note(format!("{id}: add what `aws ec2 describe-volumes` prints, for its kind and its rates"));
        }
        let named = volume.and_then(|volume| volume.tags.iter().find(|tag| tag.key == "Name"));
        let name = named.map_or(id, |tag| &tag.value);
        found.disk(name, volume.map(bought).unwrap_or_default());
    }
    Ok(found)
}

fn bought(volume: &Volume) -> Provisioned {
    let sku = volume.volume_type.as_deref();
    // Rates of other kinds follow from the size, and are told all the same.
    let iops = volume.iops.filter(|_| matches!(sku, Some("gp3" | "io1" | "io2")));
    let throughput = volume.throughput.filter(|_| sku == Some("gp3"));
    Provisioned {
        sku: sku.map(|sku| if sku == "standard" { "ebs-standard".to_owned() } else { sku.to_owned() }),
        size: volume.size.and_then(gib),
        iops,
        bandwidth: throughput.and_then(|rate| rate.checked_mul(1 << 20)).map(Bandwidth),
        ..Provisioned::default()
    }
}
