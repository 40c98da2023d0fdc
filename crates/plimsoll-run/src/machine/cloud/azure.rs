//! Azure's answer (`/metadata/instance`, version 2021-12-13 of its interface).
//!
//! See <https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service>. All values are text, and those
//! that do not apply are empty.

use plimsoll_record::environment::{CloudDisk, CloudEnvironment, CloudProvider};
use serde_json::Value;

use super::{
    NotUnderstood,
    fields::{disks, number, text},
};

/// What the service tells of the machine.
///
/// # Errors
/// When it is not the answer of this service.
pub fn parse(answer: &str) -> Result<CloudEnvironment, NotUnderstood> {
    let answer: Value = serde_json::from_str(answer)?;
    let instance_type = text(&answer, "/compute/vmSize").ok_or(NotUnderstood::Lacking("compute.vmSize"))?;
    let system = answer.pointer("/compute/storageProfile/osDisk").map(disk);
    let data = disks(&answer, "/compute/storageProfile/dataDisks")?.iter().map(disk);
    // Documentation has its size in kilobytes, machines answer in mebibytes: the kernel knows better.
    let has_temporary = number(&answer, "/compute/storageProfile/resourceDisk/size").is_some_and(|size| size > 0);
    let temporary = has_temporary.then(|| CloudDisk { local: true, ..CloudDisk::default() });
    Ok(CloudEnvironment {
        provider: CloudProvider::Azure,
        instance_type: Some(instance_type),
        region: text(&answer, "/compute/location"),
        zone: text(&answer, "/compute/zone"),
        disks: system.into_iter().chain(data).chain(temporary).filter(|disk| *disk != CloudDisk::default()).collect(),
    })
}

fn disk(disk: &Value) -> CloudDisk {
    // A quota is told of Ultra Disks only.
    let quota = |pointer| number(disk, pointer).filter(|quota| *quota > 0);
    let gibibytes = number(disk, "/diskSizeGB").filter(|size| *size > 0);
    CloudDisk {
        name: text(disk, "/name"),
        lun: number(disk, "/lun").and_then(|lun| u32::try_from(lun).ok()),
        size_bytes: gibibytes.and_then(|size| size.checked_mul(1 << 30)),
        sku: text(disk, "/managedDisk/storageAccountType"),
        caching: text(disk, "/caching"),
        iops: quota("/opsPerSecondThrottle"),
        bytes_per_second: quota("/bytesPerSecondThrottle"),
        // An ephemeral disk of the operating system lies on the host.
        local: text(disk, "/diffDiskSettings/option").is_some_and(|option| option == "Local"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Shortened, with ids of nothing; an Ultra Disk, a disk with host caching, and a temporary disk.
    pub(in super::super) const ANSWER: &str = r#"{
        "compute": {
            "azEnvironment": "AzurePublicCloud", "customData": "", "isHostCompatibilityLayerVm": "false",
            "location": "westeurope", "name": "examplevmname", "osType": "Linux",
            "osProfile": {"adminUsername": "admin", "computerName": "examplevmname"},
            "publicKeys": [{"keyData": "ssh-rsa 0", "path": "/home/user/.ssh/authorized_keys0"}],
            "resourceGroupName": "example-group", "sku": "22_04-lts-gen2",
            "storageProfile": {
                "dataDisks": [
                    {"bytesPerSecondThrottle": "979202048", "caching": "None", "createOption": "Empty",
                     "diskCapacityBytes": "1099511627776", "diskSizeGB": "1024", "isSharedDisk": "false",
                     "isUltraDisk": "true", "lun": "0",
                     "managedDisk": {"id": "/subscriptions/xxxx/disks/ultra", "storageAccountType": "UltraSSD_LRS"},
                     "name": "ultra", "opsPerSecondThrottle": "65280", "writeAcceleratorEnabled": "false"},
                    {"bytesPerSecondThrottle": "", "caching": "ReadOnly", "createOption": "Attach",
                     "diskCapacityBytes": "", "diskSizeGB": "512", "isUltraDisk": "false", "lun": "10",
                     "managedDisk": {"id": "/subscriptions/xxxx/disks/data", "storageAccountType": "Premium_LRS"},
                     "name": "data", "opsPerSecondThrottle": "", "writeAcceleratorEnabled": "false"}],
                "imageReference": {"id": "", "offer": "ubuntu", "publisher": "canonical", "version": "latest"},
                "osDisk": {"caching": "ReadWrite", "createOption": "FromImage", "diskSizeGB": "30",
                           "diffDiskSettings": {"option": ""}, "encryptionSettings": {"enabled": "false"},
                           "managedDisk": {"id": "/subscriptions/xxxx/disks/os", "storageAccountType": "StandardSSD_LRS"},
                           "name": "os", "osType": "Linux", "vhd": {"uri": ""}, "writeAcceleratorEnabled": "false"},
                "resourceDisk": {"size": "614400"}
            },
            "subscriptionId": "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "tags": "owner:somebody", "userData": "c2VjcmV0",
            "vmId": "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "vmSize": "Standard_D16ds_v5", "zone": "1"
        },
        "network": {"interface": [{"ipv4": {"ipAddress": [{"privateIpAddress": "10.144.133.132"}]}, "macAddress": "0011"}]}
    }"#;

    #[test]
    fn size_place_and_disks_are_known() {
        let cloud = parse(ANSWER).unwrap();
        assert_eq!(cloud.provider, CloudProvider::Azure);
        let place = [&cloud.instance_type, &cloud.region, &cloud.zone].map(Option::as_deref);
        assert_eq!(place, [Some("Standard_D16ds_v5"), Some("westeurope"), Some("1")]);
        let names: Vec<_> = cloud.disks.iter().map(|disk| disk.name.as_deref().unwrap_or("-")).collect();
        assert_eq!(names, ["os", "ultra", "data", "-"]);
        let system = &cloud.disks[0];
        assert_eq!((system.lun, system.size_bytes, system.local), (None, Some(30 << 30), false));
        let ultra = &cloud.disks[1];
        assert_eq!((ultra.lun, ultra.size_bytes), (Some(0), Some(1 << 40)));
        assert_eq!((ultra.iops, ultra.bytes_per_second), (Some(65_280), Some(979_202_048)));
        let data = &cloud.disks[2];
        assert_eq!((data.lun, data.iops, data.bytes_per_second), (Some(10), None, None));
        assert_eq!([&data.sku, &data.caching].map(Option::as_deref), [Some("Premium_LRS"), Some("ReadOnly")]);
        assert_eq!(cloud.disks[3], CloudDisk { local: true, ..CloudDisk::default() });
    }

    #[test]
    fn nothing_personal_is_kept() {
        let kept = serde_json::to_string(&parse(ANSWER).unwrap()).unwrap();
        for secret in ["xxxx", "ssh-rsa", "admin", "c2VjcmV0", "somebody", "example", "10.144", "0011"] {
            assert!(ANSWER.contains(secret) && !kept.contains(secret), "{secret} in {kept}");
        }
    }

    #[test]
    fn an_ephemeral_system_disk_is_local_and_a_machine_may_have_no_zone_and_no_temporary_disk() {
        let cloud = parse(
            r#"{"compute": {"vmSize": "Standard_D4s_v5", "location": "westus", "zone": "", "storageProfile": {"dataDisks": [],
                "osDisk": {"diffDiskSettings": {"option": "Local"}, "caching": "ReadOnly"}, "resourceDisk": {"size": "0"}}}}"#,
        )
        .unwrap();
        assert_eq!((cloud.zone, cloud.disks.len(), cloud.disks[0].local), (None, 1, true));
    }

    #[test]
    fn answers_of_older_interfaces_tell_less() {
        let cloud = parse(r#"{"compute": {"vmSize": "Standard_A1"}}"#).unwrap();
        assert_eq!((cloud.region, cloud.disks), (None, Vec::new()));
    }

    #[test]
    fn what_is_wrong_with_an_answer_is_said() {
        let problem = |answer: &str| parse(answer).unwrap_err().to_string();
        assert!(problem("<html>").starts_with("the answer is not JSON (expected value at line 1"));
        assert_eq!(problem(r#"{"compute": {"vmSize": ""}}"#), "the answer has no compute.vmSize");
        assert_eq!(problem(r#"{"error": "Bad request"}"#), "the answer has no compute.vmSize");
        let disks = format!("[{}]", vec!["{}"; 1025].join(","));
        let answer = format!(r#"{{"compute": {{"vmSize": "a", "storageProfile": {{"dataDisks": {disks}}}}}}}"#);
        assert_eq!(problem(&answer), "the answer lists 1025 disks");
    }
}
