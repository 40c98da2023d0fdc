//! What `gcloud compute instances describe` and `gcloud compute disks list` print with `--format json`.

use plimsoll_workload::{cloud::Machine, provisioned::Provisioned, units::Bandwidth};
use serde::Deserialize;
use serde_json::Value;

use super::{Disks, Existing, first_of, gib, last_part, read_as};
use crate::error::GenerateError;

const COMMAND: &str = "`gcloud compute instances describe --format json` and `gcloud compute disks list --format json`";

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Instance {
    machine_type: String,
    zone: String,
    self_link: String,
    disks: Vec<Attached>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Attached {
    boot: bool,
    source: String,
    #[serde(rename = "type")]
    kind: String,
}

/// Numbers of 64 bits are texts.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Disk {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    size_gb: String,
    provisioned_iops: Option<String>,
    provisioned_throughput: Option<String>,
}

/// A machine, and its disks.
pub(super) fn read(documents: &[Value]) -> Result<Existing, GenerateError> {
    let (mut machines, mut disks) = (Vec::new(), Disks::new());
    for document in documents {
        if document.get("machineType").is_some() {
            machines.push(read_as::<Instance>(document, "a machine of Google Cloud")?);
        } else if document.get("sizeGb").is_some() {
            let disk: Disk = read_as(document, "a disk of Google Cloud")?;
            disks.insert(disk.name.clone(), disk);
        }
    }
    let mut found = Existing::default();
    let machine = first_of(&machines, &mut found, COMMAND)?;
    let zone = last_part(&machine.zone);
    found.cloud.region = zone.rsplit_once('-').map(|(region, _)| region.to_owned());
    found.cloud.zone = Some(zone).filter(|zone| !zone.is_empty());
    let mut address = machine.self_link.split('/').skip_while(|part| *part != "projects");
    found.cloud.project = address.nth(1).map(str::to_owned);
    found.cloud.machine = Some(Machine { machine_type: Some(last_part(&machine.machine_type)), ..Machine::default() });
    for attached in machine.disks.iter().filter(|disk| !disk.boot) {
        if attached.kind == "SCRATCH" {
            found.note("a local SSD comes with the machine and is not made: name a directory on it among the targets");
            continue;
        }
        let name = last_part(&attached.source);
        let disk = disks.get(&name);
        if disk.is_none() {
            found.note(format!("{name}: add what `gcloud compute disks list --format json` prints, for its kind"));
        }
        found.disk(&name, disk.map(bought).unwrap_or_default());
    }
    Ok(found)
}

fn bought(disk: &Disk) -> Provisioned {
    let number = |text: &Option<String>| text.as_ref()?.parse::<u64>().ok().filter(|number| *number > 0);
    Provisioned {
        sku: Some(last_part(&disk.kind)).filter(|kind| !kind.is_empty()),
        size: disk.size_gb.parse().ok().and_then(gib),
        iops: number(&disk.provisioned_iops),
        bandwidth: number(&disk.provisioned_throughput).and_then(|rate| rate.checked_mul(1 << 20)).map(Bandwidth),
        ..Provisioned::default()
    }
}
