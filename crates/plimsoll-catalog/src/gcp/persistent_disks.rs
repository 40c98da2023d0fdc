//! Persistent Disks: so much for each GiB of a type on a machine, above a base. Throughput is MiB/s.

use plimsoll_workload::provisioned::Provisioned;

use crate::{
    ceiling::{Ceiling, Limits, MIB, lasting},
    error::CatalogError,
    product::{Product, Provider, gib},
};

const SUM: &str = "all disks of the type on a machine count together, base once";

const fn disk(name: &'static str, about: &'static str, rules: &'static [&'static str]) -> Product {
    Product {
        name,
        aliases: &[],
        provider: Provider::Gcp,
        about,
        rules,
        doubts: &["data of 2024-08"],
        sources: &["gcp-pd"],
        ceilings,
    }
}

pub(crate) static PRODUCTS: &[Product] = &[
    disk("pd-standard", "Persistent Disk, magnetic", &["per GiB: 0.75 reads and 1.5 writes a second, 0.12 MiB/s", SUM]),
    disk("pd-balanced", "Persistent Disk, balanced", &["3,000 IOPS and 140 MiB/s; per GiB: 6 IOPS, 0.28 MiB/s", SUM]),
    disk("pd-ssd", "Persistent Disk, SSD", &["6,000 IOPS and 240 MiB/s; per GiB: 30 IOPS, 0.48 MiB/s", SUM]),
    Product {
        name: "pd-extreme",
        aliases: &[],
        provider: Provider::Gcp,
        about: "Persistent Disk, extreme",
        rules: &["IOPS as provisioned, typically 10,000 to 120,000"],
        doubts: &["no documented throughput: figures per GiB that circulate look derived"],
        sources: &["gcp-pd", "gcp-csi-parameters"],
        ceilings: extreme,
    },
];

/// Reads, writes and MiB/s: a base, and what each GiB adds.
fn figures(name: &str) -> [(f64, f64); 3] {
    match name {
        "pd-standard" => [(0.0, 0.75), (0.0, 1.5), (0.0, 0.12)],
        "pd-balanced" => [(3000.0, 6.0), (3000.0, 6.0), (140.0, 0.28)],
        _ => [(6000.0, 30.0), (6000.0, 30.0), (240.0, 0.48)],
    }
}

fn ceilings(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    product.refuse_provisioned(provisioned)?;
    // Several disks count by their sum.
    let most = 65_536.0 * f64::from(provisioned.disks.unwrap_or(1));
    let size = product.size_gib_within(provisioned, 10.0, most)?;
    let [reads, writes, mib_s] = figures(product.name).map(|(base, per_gib)| size.mul_add(per_gib, base));
    let limits = Limits::Separate {
        read: lasting(Some(reads), Some(mib_s * MIB)),
        write: lasting(Some(writes), Some(mib_s * MIB)),
    };
    let mut ceiling = ceiling(product, size, limits);
    if provisioned.vm.is_none() {
        ceiling.notes.push("every machine binds it too: say which, as --vm n2-standard-8".to_owned());
    }
    Ok(vec![ceiling])
}

fn extreme(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib(provisioned)?;
    if provisioned.iops.is_none() {
        return Err(product.incomplete("its IOPS are provisioned: give them, as --iops 10000"));
    }
    let iops = product.iops_within(provisioned, 1.0, f64::INFINITY, &gib(size))?;
    let mut ceiling = ceiling(product, size, Limits::lasting(Some(iops), None));
    ceiling.notes = product.doubts();
    Ok(vec![ceiling])
}

fn ceiling(product: &Product, size: f64, limits: Limits) -> Ceiling {
    product.ceiling(format!("{} of {}", product.name, gib(size)), limits)
}
