//! Filestore: documented for its zonal tier alone.

use plimsoll_workload::provisioned::Provisioned;

use crate::{
    ceiling::{Ceiling, InCommon, Limits, MIB, lasting},
    error::CatalogError,
    product::{Product, Provider},
};

pub(crate) static PRODUCTS: &[Product] = &[
    Product {
        name: "filestore-zonal",
        aliases: &["filestore-high-scale-ssd"],
        provider: Provider::Gcp,
        about: "Filestore, zonal",
        rules: &["per TiB: 9,200 reads and 2,600 writes a second, 260 MiB/s read and 88 written; 1 TiB to 100 TiB"],
        doubts: &["above 9.75 TiB it is sold in steps of 2.5 TiB"],
        sources: &["gcp-filestore"],
        ceilings: zonal,
    },
    Product {
        name: "filestore",
        aliases: &["filestore-regional", "filestore-enterprise", "filestore-basic-hdd", "filestore-basic-ssd"],
        provider: Provider::Gcp,
        about: "Filestore, other tiers",
        rules: &["no figures are known"],
        doubts: &["regional: performance can be configured"],
        sources: &["gcp-filestore"],
        ceilings: unknown,
    },
];

fn zonal(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let tib = product.size_gib_within(provisioned, 1024.0, 102_400.0)? / 1024.0;
    let limit = |iops: f64, mib_s: f64| lasting(Some(iops * tib), Some(mib_s * tib * MIB));
    let limits =
        Limits::ByDirection { read: limit(9200.0, 260.0), write: limit(2600.0, 88.0), in_common: InCommon::NOTHING };
    share(product, format!("{} of {tib} TiB", product.name), limits)
}

fn unknown(product: &Product, _: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    share(product, product.about.to_owned(), Limits::UNKNOWN)
}

fn share(product: &Product, name: String, limits: Limits) -> Result<Vec<Ceiling>, CatalogError> {
    Ok(vec![Ceiling { notes: product.doubts(), ..product.ceiling(name, limits) }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zonal_share_has_what_is_documented_for_two_and_a_half_tebibytes() {
        let parts = zonal(&PRODUCTS[0], &toml::from_str("size = \"2560Gi\"").unwrap()).unwrap();
        let limit = |iops: f64, mib_s: f64| lasting(Some(iops), Some(mib_s * MIB));
        let Limits::ByDirection { read, write, .. } = parts[0].limits else { panic!("by direction") };
        assert_eq!((read, write), (limit(23_000.0, 650.0), limit(6500.0, 220.0)));
    }
}
