//! What was bought, as far as a machine or its cloud told: it fills what nobody said.

use plimsoll_record::environment::{CloudDisk, CloudEnvironment, CloudProvider, DeviceEnvironment, Environment};
use plimsoll_workload::{
    provisioned::Provisioned,
    units::{Bandwidth, ByteCount},
};

use crate::{azure::managed_disks, catalog::Catalog};

/// What a target was bought as: what was said, and what was found out besides.
/// What was found out and the catalog does not know is left aside: only what somebody said can be wrong.
pub fn complete(said: Provisioned, environment: &Environment, target: &str, catalog: &Catalog) -> Provisioned {
    let device = environment.targets.iter().find(|known| known.name == target).and_then(|known| known.device.as_ref());
    let cloud = environment.cloud.as_ref();
    let mut found = Provisioned { vm: cloud.and_then(|cloud| cloud.instance_type.clone()), ..Provisioned::default() };
    if let Some(device) = device {
        let disks = u64::from(said.disks.unwrap_or(1).max(1));
        let disk = cloud.filter(|_| said.sku.is_none()).and_then(|cloud| disk_of(cloud, device));
        let disk = disk.filter(|disk| disk.sku.as_ref().is_some_and(|sku| catalog.product(sku).is_some()));
        if let Some(disk) = disk {
            found.sku.clone_from(&disk.sku);
            found.caching = disk.caching.as_ref().and_then(|caching| caching.parse().ok());
            found.iops = disk.iops;
            found.bandwidth = disk.bytes_per_second.map(Bandwidth);
        }
        let size = disk.and_then(|disk| disk.size_bytes).or(device.size_bytes);
        found.size = size.map(|size| ByteCount(size / disks));
    }
    // Without a product nothing follows from a size, and a name of a size says it already.
    let sku = said.sku.as_ref().or(found.sku.as_ref());
    if sku.is_none_or(|sku| managed_disks::tier(sku).is_some()) {
        found.size = None;
    }
    let all = said.clone().or(&found);
    let is_known = |vm: &String| catalog.machine(vm, &all).is_ok();
    found.vm = found.vm.filter(is_known);
    said.or(&found)
}

/// That the machine which a cloud told of is in no catalog, where nobody said another.
pub fn unknown_machine(provisioned: &Provisioned, environment: &Environment) -> Option<String> {
    let told = environment.cloud.as_ref()?.instance_type.as_ref().filter(|_| provisioned.vm.is_none())?;
    Some(format!("what {told} lets through is not known, or not for such a disk: say what the machine is with --vm"))
}

/// The disk of the cloud that a device is, where its size leaves no doubt. Microsoft's service tells sizes; Google's
/// names kinds of disks that are no products, and Amazon's tells nothing.
fn disk_of<'a>(cloud: &'a CloudEnvironment, device: &DeviceEnvironment) -> Option<&'a CloudDisk> {
    if cloud.provider != CloudProvider::Azure || device.partition.is_some() {
        return None;
    }
    let mut alike = cloud
        .disks
        .iter()
        .filter(|disk| !disk.local && disk.size_bytes.is_some_and(|size| Some(size) == device.size_bytes));
    alike.next().filter(|_| alike.next().is_none())
}

#[cfg(test)]
mod tests {
    use plimsoll_record::environment::TargetEnvironment;

    use super::*;

    const TIB: u64 = 1 << 40;

    fn environment(sizes: &[u64]) -> Environment {
        let disk = |size: &u64| CloudDisk {
            sku: Some("Premium_LRS".to_owned()),
            size_bytes: Some(*size),
            caching: Some("ReadOnly".to_owned()),
            ..CloudDisk::default()
        };
        let cloud = CloudEnvironment {
            provider: CloudProvider::Azure,
            instance_type: Some("Standard_D16s_v5".to_owned()),
            disks: sizes.iter().map(disk).collect(),
            ..CloudEnvironment::default()
        };
        let device = DeviceEnvironment { size_bytes: Some(TIB), ..DeviceEnvironment::default() };
        let target =
            TargetEnvironment { name: "/dev/sdc".to_owned(), device: Some(device), ..TargetEnvironment::default() };
        Environment { cloud: Some(cloud), targets: vec![target], ..Environment::default() }
    }

    #[test]
    fn a_disk_of_the_same_size_is_the_one_unless_there_are_two() {
        let complete =
            |said, environment: &Environment, target| complete(said, environment, target, &Catalog::default());
        let found = complete(Provisioned::default(), &environment(&[TIB, 2 * TIB]), "/dev/sdc");
        assert_eq!(found.sku.as_deref(), Some("Premium_LRS"));
        assert_eq!((found.size, found.vm.as_deref()), (Some(ByteCount(TIB)), Some("Standard_D16s_v5")));
        let doubtful = complete(Provisioned::default(), &environment(&[TIB, TIB]), "/dev/sdc");
        assert_eq!((doubtful.sku, doubtful.size), (None, None));
        assert!(doubtful.vm.is_some());
        for name in ["Standard_E8bds_v5", "Standard_D99zz_v9"] {
            let mut unknown = environment(&[TIB]);
            unknown.cloud.as_mut().unwrap().instance_type = Some(name.to_owned());
            let found = complete(Provisioned::default(), &unknown, "/dev/sdc");
            assert_eq!(found.vm, None, "{name}");
            assert!(unknown_machine(&found, &unknown).unwrap().contains(name));
        }
    }

    #[test]
    fn what_is_measured_of_a_tier_does_not_contradict_it() {
        let said = Provisioned { sku: Some("P40".to_owned()), ..Provisioned::default() };
        let all = complete(said, &environment(&[TIB]), "/dev/sdc", &Catalog::default());
        assert_eq!(all.size, None, "a device of 1 TiB, which may be a part of the disk");
    }

    #[test]
    fn what_was_said_comes_first_and_a_stripe_is_divided() {
        let said = Provisioned {
            sku: Some("StandardSSD_LRS".to_owned()),
            disks: Some(4),
            vm: Some("Standard_D2s_v3".to_owned()),
            ..Provisioned::default()
        };
        let all = complete(said, &environment(&[TIB]), "/dev/sdc", &Catalog::default());
        assert_eq!(all.sku.as_deref(), Some("StandardSSD_LRS"));
        assert_eq!(
            (all.size, all.caching, all.vm.as_deref()),
            (Some(ByteCount(TIB / 4)), None, Some("Standard_D2s_v3"))
        );
    }
}
