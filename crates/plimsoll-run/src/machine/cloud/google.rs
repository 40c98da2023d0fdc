//! Google Cloud's answer (`/computeMetadata/v1/instance/`).
//!
//! See <https://cloud.google.com/compute/docs/metadata/predefined-metadata-keys>. Of disks it tells their names and
//! kinds, but neither sizes nor what was paid for.

use plimsoll_record::environment::{CloudDisk, CloudEnvironment, CloudProvider};
use serde_json::Value;

use super::{
    NotUnderstood,
    fields::{disks, last_of_path, text},
};

/// What the service tells of the machine.
///
/// # Errors
/// When it is not the answer of this service.
pub fn parse(answer: &str) -> Result<CloudEnvironment, NotUnderstood> {
    let answer: Value = serde_json::from_str(answer)?;
    let zone = last_of_path(&answer, "/zone");
    Ok(CloudEnvironment {
        provider: CloudProvider::Gcp,
        instance_type: Some(last_of_path(&answer, "/machineType").ok_or(NotUnderstood::Lacking("machineType"))?),
        region: zone.as_deref().and_then(region).map(str::to_owned),
        zone,
        disks: disks(&answer, "/disks")?.iter().map(disk).filter(|disk| *disk != CloudDisk::default()).collect(),
    })
}

/// The region of a zone: `us-central1` of `us-central1-a`.
fn region(zone: &str) -> Option<&str> {
    zone.rsplit_once('-').map(|(region, _)| region).filter(|region| !region.is_empty())
}

fn disk(disk: &Value) -> CloudDisk {
    let sku = text(disk, "/type");
    let local = sku.as_deref() == Some("LOCAL-SSD");
    CloudDisk { name: text(disk, "/deviceName"), sku, local, ..CloudDisk::default() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Shortened, with numbers of nothing.
    pub(in super::super) const ANSWER: &str = r#"{
        "attributes": {"ssh-keys": "user:ssh-ed25519 0", "startup-script": "echo secret"},
        "cpuPlatform": "Intel Cascade Lake",
        "disks": [
            {"deviceName": "example-vm", "index": 0, "interface": "SCSI", "mode": "READ_WRITE", "type": "PERSISTENT-BALANCED"},
            {"deviceName": "local-ssd-0", "index": 1, "interface": "NVME", "mode": "READ_WRITE", "type": "LOCAL-SSD"}
        ],
        "hostname": "example-vm.c.example-project.internal",
        "id": 1234567890123456789,
        "image": "projects/debian-cloud/global/images/debian-12",
        "machineType": "projects/123456789012/machineTypes/n2-standard-8",
        "networkInterfaces": [{"ip": "10.128.0.2", "mac": "42:01:0a:80:00:02"}],
        "serviceAccounts": {"default": {"email": "123456789012-compute@developer.gserviceaccount.com"}},
        "zone": "projects/123456789012/zones/us-central1-a"
    }"#;

    #[test]
    fn type_place_and_disks_are_known() {
        let cloud = parse(ANSWER).unwrap();
        let place = [&cloud.instance_type, &cloud.region, &cloud.zone].map(Option::as_deref);
        assert_eq!(place, [Some("n2-standard-8"), Some("us-central1"), Some("us-central1-a")]);
        let disks: Vec<_> = cloud.disks.iter().map(|disk| (disk.name.as_deref(), disk.local)).collect();
        assert_eq!(disks, [(Some("example-vm"), false), (Some("local-ssd-0"), true)]);
        assert_eq!(cloud.disks[0].sku.as_deref(), Some("PERSISTENT-BALANCED"));
    }

    #[test]
    fn nothing_personal_is_kept() {
        let kept = serde_json::to_string(&parse(ANSWER).unwrap()).unwrap();
        for secret in ["ssh-ed25519", "secret", "example-project", "123456789", "10.128", "42:01", "gserviceaccount"] {
            assert!(ANSWER.contains(secret) && !kept.contains(secret), "{secret} in {kept}");
        }
    }

    #[test]
    fn paths_without_an_end_are_not_names() {
        let problem = |answer: &str| parse(answer).unwrap_err().to_string();
        assert_eq!(problem(r#"{"machineType": "projects/1/machineTypes/"}"#), "the answer has no machineType");
        let cloud = parse(r#"{"machineType": "e2-micro", "zone": "nowhere", "disks": {"0": 1}}"#).unwrap();
        assert_eq!((cloud.instance_type.as_deref(), cloud.region.as_deref()), (Some("e2-micro"), None));
        assert_eq!((cloud.zone.as_deref(), cloud.disks.len()), (Some("nowhere"), 0));
    }
}
