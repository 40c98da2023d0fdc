//! Elastic SAN: a volume, and the base units of the SAN that it shares with others.

use plimsoll_workload::{provisioned::Provisioned, units::ByteCount};

use crate::{
    ceiling::{Ceiling, Limits, MB, Part, TIB},
    error::CatalogError,
    product::{Product, Provider, gib},
};

/// What each TiB of base size brings.
const SAN_IOPS_PER_TIB: f64 = 5000.0;
const SAN_MBPS_PER_TIB: f64 = 200.0;

/// The least base size that is sold.
pub(crate) const LEAST_BASE: ByteCount = ByteCount(1 << 40);

pub(crate) static PRODUCTS: &[Product] = &[Product {
    name: "elastic-san",
    aliases: &["ElasticSAN", "azuresan"],
    provider: Provider::Azure,
    about: "Elastic SAN volume",
    rules: &[
        "a volume: 750 IOPS per GiB up to 80,000, and 60 MB/s per GiB up to 1,280",
        "the SAN: 5,000 IOPS and 200 MB/s per TiB of base size, shared by its volumes; say it with `pool`",
    ],
    doubts: &[
        "the page reaches its ends at 106 and 21 GiB, its own formulas at 107 and 22",
        "whether iSCSI counts against a machine's limits for disks or for its network",
    ],
    sources: &["azure-elastic-san"],
    ceilings,
}];

pub(crate) fn volume_iops(size_gib: f64) -> f64 {
    (750.0 * size_gib).min(80_000.0)
}

pub(crate) fn volume_mbps(size_gib: f64) -> f64 {
    (60.0 * size_gib).min(1280.0)
}

fn ceilings(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib_within(provisioned, 1.0, 65_536.0)?;
    let ceiling = |part, name, iops, bytes, note: Option<&str>| Ceiling {
        part,
        notes: note.map(str::to_owned).into_iter().collect(),
        ..product.ceiling(name, Limits::lasting(Some(iops), Some(bytes)))
    };
    let volume = ceiling(
        Part::Disk,
        format!("Elastic SAN volume of {}", gib(size)),
        volume_iops(size),
        volume_mbps(size) * MB,
        None,
    );
    let base_tib = provisioned.pool.unwrap_or(LEAST_BASE).0 as f64 / TIB;
    if base_tib < 1.0 || base_tib.fract() != 0.0 {
        return Err(product.impossible("the base size of a SAN is a whole number of TiB: give it so, as --pool 2Ti"));
    }
    let note = "nothing is said of the SAN's base size: the least that is sold, 1 TiB";
    let san = ceiling(
        Part::Pool,
        format!("Elastic SAN of {base_tib} TiB base size"),
        SAN_IOPS_PER_TIB * base_tib,
        SAN_MBPS_PER_TIB * base_tib * MB,
        provisioned.pool.is_none().then_some(note),
    );
    Ok(vec![volume, san])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_follows_its_formula_and_the_san_its_base_size() {
        assert_eq!((volume_iops(106.0), volume_iops(107.0)), (79_500.0, 80_000.0));
        assert_eq!((volume_mbps(21.0), volume_mbps(22.0)), (1260.0, 1280.0));
        let asked = toml::from_str("size = \"1000Gi\"\npool = \"2Ti\"").unwrap();
        let parts = ceilings(&PRODUCTS[0], &asked).unwrap();
        assert_eq!(parts[1].limits, Limits::lasting(Some(10_000.0), Some(4e8)));
        assert!(parts[1].notes.is_empty());
    }
}
