//! What else is sold: the first size above a limit, and sizes with a figure.

use plimsoll_workload::{limit::Limit, provisioned::Provisioned};
use serde::Serialize;

use crate::{
    aws::{instances, volumes::gp3_iops_max},
    azure::{
        machines,
        managed_disks::{self, Tier},
        provisioned_disks::{ultra_iops_max, v2_iops_max},
    },
    catalog::{Catalog, Storage},
    ceiling::{Ceiling, GIB, Limits, Load},
    product::{Product, gib},
};

const SMALL: Load = Load { read_share: 0.0, operation_bytes: 4096.0, is_sequential: false };

/// Something else that is sold, with what lasts of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    /// What it is called in sentences: `P15 (Premium SSD of 256 GiB)`.
    pub title: String,
    /// Its name: `P15`.
    pub name: String,
    /// Operations per second that last.
    pub iops: Option<f64>,
    /// Bytes per second that last.
    pub bytes_per_second: Option<f64>,
}

impl Alternative {
    fn of(name: String, title: String, limits: Limits) -> Self {
        let Limit { operations, bytes, .. } = limits.of(SMALL);
        Self {
            title,
            name,
            iops: operations.map(|limit| limit.sustained),
            bytes_per_second: bytes.map(|limit| limit.sustained),
        }
    }
}

/// The tiers of what was bought, and the one of it.
fn tiers_of(provisioned: &Provisioned) -> Option<(&'static Product, &'static Tier)> {
    let catalog = Catalog::default();
    match catalog.storage(provisioned.sku.as_deref()?).ok()? {
        Storage::Tier(tier) => Some((tier.product(), tier)),
        Storage::Product(product) => {
            let size = product.size_gib(provisioned).ok()?;
            let mut of_product = managed_disks::tiers().iter().filter(|tier| tier.product().name == product.name);
            Some((product, of_product.find(|tier| tier.size_gib >= size)?))
        }
        Storage::Own(_) => None,
    }
}

/// How much what was bought holds, as far as its size is said, or is that of a tier.
pub fn bought_bytes(provisioned: &Provisioned) -> Option<u64> {
    let one = match provisioned.size {
        Some(size) => size.0 as f64,
        None => match Catalog::default().storage(provisioned.sku.as_deref()?).ok()? {
            Storage::Tier(tier) => tier.size_gib * GIB,
            Storage::Product(_) | Storage::Own(_) => return None,
        },
    };
    Some((one * f64::from(provisioned.disks.unwrap_or(1))) as u64)
}

/// The first larger size of the same product that is wanted.
pub fn larger_disk(provisioned: &Provisioned, is_wanted: impl Fn(&Alternative) -> bool) -> Option<Alternative> {
    let (product, current) = tiers_of(provisioned)?;
    let disks = f64::from(provisioned.disks.unwrap_or(1));
    let larger = managed_disks::tiers().iter();
    let larger = larger.filter(|tier| tier.product().name == product.name && tier.size_gib > current.size_gib);
    let alternative = |tier: &Tier| {
        let Ceiling { limits, .. } = tier.ceiling(&Provisioned::default()).ok()?;
        let several = if disks > 1.0 { format!("{disks} x ") } else { String::new() };
        let title = format!("{several}{} ({})", tier.name, gib(tier.size_gib));
        Some(Alternative::of(tier.name.clone(), title, limits.times(disks)))
    };
    larger.filter_map(alternative).find(is_wanted)
}

/// What more can be bought of a product that sells performance apart from its size, or by its size alone.
pub fn more_of_it(provisioned: &Provisioned) -> Option<String> {
    let product = Catalog::default().product(provisioned.sku.as_deref()?)?;
    let Ok(size) = product.size_gib(provisioned) else {
        let sells_apart = matches!(product.name, "PremiumV2_LRS" | "gp3");
        return sells_apart.then(|| "its IOPS are bought apart from its size".to_owned());
    };
    let bought_apart = |iops: f64| format!("its IOPS are bought apart from its size: up to {iops} with {}", gib(size));
    Some(match product.name {
        "PremiumV2_LRS" => bought_apart(v2_iops_max(size)),
        "UltraSSD_LRS" => bought_apart(ultra_iops_max(size)),
        "gp3" => bought_apart(gp3_iops_max(size)),
        "pd-standard" | "pd-balanced" | "pd-ssd" | "gp2" => "a larger one has more".to_owned(),
        _ => return None,
    })
}

/// The first larger machine of the same series that is wanted.
pub fn larger_machine(vm: &str, is_wanted: impl Fn(&Alternative) -> bool) -> Option<Alternative> {
    let full_name = machines::full_name(vm);
    let azure = machines::machines();
    let mut of_series: Vec<(u32, Alternative)> = if let Some(current) =
        azure.iter().find(|machine| machine.name.eq_ignore_ascii_case(&full_name))
    {
        let same = azure.iter().filter(|machine| {
            machine.series == current.series && machine.interface == current.interface && machine.vcpus > current.vcpus
        });
        same.map(|machine| {
            let limits = machine.ceiling(false).limits;
            (machine.vcpus, Alternative::of(machine.name.clone(), machine.name.clone(), limits))
        })
        .collect()
    } else {
        let current = instances::instance(vm)?;
        let family = |name: &str| name.split('.').next().map(str::to_owned);
        let same = instances::instances()
            .iter()
            .filter(|other| family(&other.name) == family(&current.name) && other.vcpus > current.vcpus);
        same.map(|other| (other.vcpus, Alternative::of(other.name.clone(), other.name.clone(), other.ceiling().limits)))
            .collect()
    };
    of_series.sort_by_key(|(vcpus, _)| *vcpus);
    of_series.into_iter().map(|(_, alternative)| alternative).find(is_wanted)
}

/// The sizes of the same product with a figure.
pub fn sizes_with(provisioned: &Provisioned, catalog: &Catalog, has: impl Fn(&Limit) -> bool) -> Vec<&'static str> {
    let is_own = provisioned.sku.as_deref().is_some_and(|sku| matches!(catalog.storage(sku), Ok(Storage::Own(_))));
    let Some((product, _)) = tiers_of(provisioned).filter(|_| !is_own) else { return Vec::new() };
    let of_product = managed_disks::tiers().iter().filter(|tier| tier.product().name == product.name);
    let has_it =
        |tier: &&Tier| tier.ceiling(&Provisioned::default()).is_ok_and(|ceiling| has(&ceiling.limits.of(SMALL)));
    of_product.filter(has_it).map(|tier| tier.name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_size_above_a_need_is_named() {
        let p4 = Provisioned { sku: Some("P4".to_owned()), ..Provisioned::default() };
        let larger = larger_disk(&p4, |alternative| alternative.iops > Some(120.0)).unwrap();
        assert_eq!((larger.title.as_str(), larger.iops), ("P6 (64 GiB)", Some(240.0)));
        let larger = larger_disk(&p4, |alternative| alternative.iops >= Some(1000.0)).unwrap();
        assert_eq!(larger.name, "P15");
        let machine = larger_machine("D2s_v3", |alternative| alternative.iops >= Some(7500.0)).unwrap();
        assert_eq!(machine.name, "Standard_D8s_v3");
        let machine = larger_machine("m5.large", |alternative| alternative.iops >= Some(10_000.0)).unwrap();
        assert!(machine.name.starts_with("m5.") && machine.iops >= Some(10_000.0));
    }

    #[test]
    fn sizes_with_a_figure_are_found() {
        let e30 = Provisioned { sku: Some("E30".to_owned()), ..Provisioned::default() };
        let names =
            sizes_with(&e30, &Catalog::default(), |limit| limit.bytes.is_some_and(|limit| limit.burst == Some(150e6)));
        assert_eq!((names.first(), names.last()), (Some(&"E1"), Some(&"E20")));
    }
}
