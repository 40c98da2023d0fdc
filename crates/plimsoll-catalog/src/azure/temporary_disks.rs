//! Storage that is part of a machine: temporary disks, operating systems that lie on them, and local NVMe disks.

use plimsoll_workload::provisioned::Provisioned;

use super::machines::{self, LocalKind, LocalStorage};
use crate::{
    ceiling::{Ceiling, InCommon, Limits, MB, Part, Tolerance, lasting},
    error::CatalogError,
    product::{Product, Provider},
    source::Source,
};

pub(crate) static PRODUCTS: &[Product] = &[
    Product {
        name: "azure-temporary-disk",
        aliases: &["azure-ephemeral-os"],
        provider: Provider::Azure,
        about: "Temporary disk of a machine, or ephemeral OS disk on it",
        rules: &["what the machine's size says of its temporary disk or cache; limits of remote disks do not bind it"],
        doubts: &[],
        sources: &["azure-disks-performance", "aks-concepts-storage"],
        ceilings,
    },
    Product {
        name: "azure-local-nvme",
        aliases: &[],
        provider: Provider::Azure,
        about: "Local NVMe disks of a machine, all together",
        rules: &["what the machine's size says of its NVMe disks; limits of remote disks do not bind it"],
        doubts: &[],
        sources: &["azure-disks-performance"],
        ceilings,
    },
];

fn ceilings(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let Some(vm) = &provisioned.vm else {
        return Err(product.incomplete("it is part of a machine: say of which size, as --vm Standard_D2s_v3"));
    };
    let is_nvme = product.name == "azure-local-nvme";
    let full_name = machines::full_name(vm);
    let is_it = |local: &&LocalStorage| (local.kind == LocalKind::Nvme) == is_nvme;
    let Some(local) = machines::local(&full_name).find(is_it) else {
        return Err(product.impossible(&format!("the catalog knows of none on {full_name}")));
    };
    let limit = |iops: Option<f64>, mbps: Option<f64>| lasting(iops, mbps.map(|mbps| mbps * MB));
    let read = limit(local.read_iops, local.read_mbps);
    let limits = match (local.write_iops, local.write_mbps) {
        (None, None) => Limits::Shared(read),
        (iops, mbps) => Limits::ByDirection {
            read,
            write: limit(iops.or(local.read_iops), mbps.or(local.read_mbps)),
            in_common: InCommon::NOTHING,
        },
    };
    Ok(vec![Ceiling {
        part: Part::Disk,
        name: format!("{} of {}", if is_nvme { "local NVMe" } else { "temporary disk" }, local.name),
        limits,
        tolerance: Tolerance::USUAL,
        sources: vec![Source::of(&local.source)],
        notes: Some(local.note.clone()).filter(|note| !note.is_empty()).into_iter().collect(),
    }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalog::Catalog, ceiling::Load, expectation::Expectation};

    #[test]
    fn a_temporary_disk_is_bound_by_what_its_machine_says_of_it_alone() {
        let provisioned = toml::from_str("sku = \"azure-ephemeral-os\"\nvm = \"D2s_v3\"").unwrap();
        let expectation = Expectation::of(&provisioned, &Catalog::default()).unwrap().unwrap();
        assert_eq!(expectation.parts.len(), 1);
        let limit = expectation.for_load(Load { read_share: 0.5, operation_bytes: 4096.0, is_sequential: false }).limit;
        assert_eq!(limit.operations.map(|limit| limit.sustained), Some(4000.0));
        let error = ceilings(&PRODUCTS[1], &provisioned).unwrap_err().to_string();
        assert!(error.contains("none on Standard_D2s_v3"), "{error}");
    }
}
