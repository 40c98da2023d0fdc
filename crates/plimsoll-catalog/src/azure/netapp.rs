//! Azure NetApp Files: throughput by service level and quota. IOPS are documented nowhere.

use plimsoll_workload::provisioned::Provisioned;

use crate::{
    ceiling::{Ceiling, Limits, MIB, Part, TIB},
    error::CatalogError,
    product::{Product, Provider},
};

const NO_IOPS: &str = "no IOPS are documented: they follow from throughput and the size of an I/O";

const fn level(name: &'static str, about: &'static str, rules: &'static [&'static str]) -> Product {
    Product {
        name,
        aliases: &[],
        provider: Provider::Azure,
        about,
        rules,
        doubts: &[NO_IOPS],
        sources: &["azure-netapp-levels"],
        ceilings,
    }
}

pub(crate) static PRODUCTS: &[Product] = &[
    level("netapp-standard", "Azure NetApp Files, Standard", &["16 MiB/s per TiB of quota"]),
    level("netapp-premium", "Azure NetApp Files, Premium", &["64 MiB/s per TiB of quota"]),
    level("netapp-ultra", "Azure NetApp Files, Ultra", &["128 MiB/s per TiB of quota"]),
    level(
        "netapp-flexible",
        "Azure NetApp Files, Flexible",
        &["throughput as provisioned; of the pool from 128 MiB/s to 640 MiB/s per TiB, of a volume in it any part"],
    ),
    level("netapp-elastic", "Azure NetApp Files, Elastic", &["32 MiB/s per TiB of the pool, shared by its volumes"]),
];

/// MiB/s for each TiB of a level.
fn per_tib(product: &Product) -> Option<f64> {
    match product.name {
        "netapp-standard" => Some(16.0),
        "netapp-premium" => Some(64.0),
        "netapp-ultra" => Some(128.0),
        "netapp-elastic" => Some(32.0),
        _ => None,
    }
}

fn ceilings(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size_tib = product.size_gib(provisioned)? / 1024.0;
    if provisioned.bandwidth.is_some() && per_tib(product).is_some() {
        return Err(product.impossible("its throughput follows from its quota: leave --bandwidth out, or give --limit"));
    }
    let pool_tib = provisioned.pool.map(|pool| pool.0 as f64 / TIB);
    let (part, mib_s) = match (per_tib(product), product.name) {
        (Some(per_tib), "netapp-elastic") => (Part::Pool, per_tib * pool_tib.unwrap_or(size_tib)),
        (Some(per_tib), _) => (Part::Disk, per_tib * size_tib),
        (None, _) => {
            let most = 640.0 * pool_tib.unwrap_or(size_tib) * MIB;
            // That is the least of a whole pool, of which its volumes get parts.
            let least = if pool_tib.is_some() && provisioned.bandwidth.is_some() { 1.0 } else { 128.0 * MIB };
            (Part::Disk, product.bandwidth_within(provisioned, least, most, "the pool")? / MIB)
        }
    };
    Ok(vec![Ceiling {
        part,
        notes: vec![NO_IOPS.to_owned()],
        ..product.ceiling(format!("{} of {size_tib:.2} TiB", product.about), Limits::lasting(None, Some(mib_s * MIB)))
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_get_what_the_page_prints() {
        for (name, text, mib_s) in [
            ("netapp-premium", "size = \"2Ti\"", 128.0),
            ("netapp-premium", "size = \"100Gi\"", 6.25),
            ("netapp-ultra", "size = \"10Ti\"", 1280.0),
            ("netapp-flexible", "size = \"1Ti\"\npool = \"10Ti\"\nbandwidth = \"6400MiB\"", 6400.0),
            ("netapp-flexible", "size = \"1Ti\"\npool = \"10Ti\"\nbandwidth = \"64MiB\"", 64.0),
            ("netapp-flexible", "size = \"1Ti\"", 128.0),
        ] {
            let product = PRODUCTS.iter().find(|product| product.name == name).unwrap();
            let ceiling = ceilings(product, &toml::from_str(text).unwrap()).unwrap().remove(0);
            assert_eq!(ceiling.limits, Limits::lasting(None, Some(mib_s * MIB)), "{name} {text}");
        }
    }

    #[test]
    fn a_volume_gets_no_more_than_its_pool_and_a_pool_no_less_than_is_sold() {
        let product = PRODUCTS.iter().find(|product| product.name == "netapp-flexible").unwrap();
        for (text, words) in [
            ("size = \"1Ti\"\npool = \"2Ti\"\nbandwidth = \"1281MiB\"", "the pool can have at most 1280MiB/s"),
            ("size = \"1Ti\"\nbandwidth = \"64MiB\"", "has at least 128MiB/s with the pool, not 64MiB/s"),
        ] {
            let error = ceilings(product, &toml::from_str(text).unwrap()).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
