//! File systems of AWS: EFS by its throughput modes, FSx by the throughput that was chosen.

use plimsoll_workload::{
    limit::{Limit, RateLimit},
    provisioned::Provisioned,
};

use crate::{
    ceiling::{Ceiling, InCommon, Limits, MIB, lasting},
    error::CatalogError,
    product::{Product, Provider},
};

/// Reads are metered as a third of what they transfer.
const READ_METERED_AS: f64 = 3.0;
/// What a bursting file system may save up: MiB for each TiB, and at least that of one.
const EFS_BUCKET_MIB: f64 = 2.1 * 1_048_576.0;

const PER_CLIENT: &str = "one client gets at most 500 MiB/s (1,500 in elastic mode with a recent client)";
const REGIONS: &str = "maxima depend on the region";

const fn efs(
    name: &'static str,
    about: &'static str,
    rules: &'static [&'static str],
    ceilings: fn(&Product, &Provisioned) -> Result<Vec<Ceiling>, CatalogError>,
) -> Product {
    Product {
        name,
        aliases: &[],
        provider: Provider::Aws,
        about,
        rules,
        doubts: &[REGIONS],
        sources: &["aws-efs"],
        ceilings,
    }
}

pub(crate) static PRODUCTS: &[Product] = &[
    efs(
        "efs-elastic",
        "EFS, elastic throughput",
        &["IOPS and throughput as used, within quotas of the region", "500 MiB/s a client, 1,500 with efs-utils 2.0"],
        efs_elastic,
    ),
    efs(
        "efs-provisioned",
        "EFS, provisioned throughput",
        &["metered MiB/s as provisioned; a read counts a third", "55,000 reads and 25,000 writes a second", PER_CLIENT],
        efs_provisioned,
    ),
    efs(
        "efs-bursting",
        "EFS, bursting throughput",
        &[
            "metered: 50 MiB/s per TiB, at least 1; bursts to 100 per TiB, at least 100; a read counts a third",
            "credits of 2.1 TiB per TiB, at least 2.1 TiB",
            "35,000 reads and 7,000 writes a second",
            PER_CLIENT,
        ],
        efs_bursting,
    ),
    Product {
        name: "fsx",
        aliases: &["fsx-lustre", "fsx-ontap", "fsx-openzfs", "fsx-windows"],
        provider: Provider::Aws,
        about: "FSx: Lustre, ONTAP, OpenZFS, Windows",
        rules: &[
            "MB/s as chosen (--bandwidth); Lustre: so many MB/s per TiB, times its size",
            "ONTAP, OpenZFS, Windows: 3 IOPS per GB of SSD, more where provisioned",
        ],
        doubts: &["no IOPS of Lustre are documented, and no caches of the others"],
        sources: &["aws-fsx"],
        ceilings: fsx,
    },
];

/// The metered throughput of a bursting file system with so many TiB in it, in MiB/s.
pub(crate) fn efs_metered_mib_s(stored_tib: f64) -> RateLimit {
    RateLimit {
        sustained: (50.0 * stored_tib).max(1.0),
        burst: Some((100.0 * stored_tib).max(100.0)),
        bucket: Some(EFS_BUCKET_MIB * stored_tib.max(1.0)),
    }
}

fn metered(read_iops: f64, write_iops: f64, mib_s: RateLimit) -> Limits {
    let bytes = mib_s.times(MIB);
    let limit =
        |iops: f64, bytes| Limit { operations: Some(RateLimit::lasting(iops)), bytes: Some(bytes), io_size: None };
    Limits::ByDirection {
        read: limit(read_iops, bytes.times(READ_METERED_AS)),
        write: limit(write_iops, bytes),
        in_common: InCommon::NOTHING,
    }
}

fn efs_elastic(product: &Product, _: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    file_system(product, Limits::Shared(lasting(None, Some(1500.0 * MIB))))
}

fn efs_provisioned(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let Some(bandwidth) = provisioned.bandwidth else {
        return Err(product.incomplete("its throughput is provisioned: give it, as --bandwidth 100MiB"));
    };
    let mib_s = RateLimit::lasting(bandwidth.0 as f64 / MIB);
    file_system(product, metered(55_000.0, 25_000.0, mib_s))
}

fn efs_bursting(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let stored = product.size_gib(provisioned).map_err(|_| {
        product.incomplete("its limits follow from what is stored in it: give that as its size, as 1Ti")
    })?;
    file_system(product, metered(35_000.0, 7000.0, efs_metered_mib_s(stored / 1024.0)))
}

fn fsx(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let Some(bandwidth) = provisioned.bandwidth else {
        return Err(product.incomplete("its throughput was chosen: give it, as --bandwidth 256MB"));
    };
    let iops = provisioned.iops.map(|iops| iops as f64);
    file_system(product, Limits::lasting(iops, Some(bandwidth.0 as f64)))
}

fn file_system(product: &Product, limits: Limits) -> Result<Vec<Ceiling>, CatalogError> {
    Ok(vec![Ceiling { notes: product.doubts(), ..product.ceiling(product.about.to_owned(), limits) }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceiling::Load;

    #[test]
    fn a_read_of_efs_costs_a_third_of_a_write() {
        let product = PRODUCTS.iter().find(|product| product.name == "efs-bursting").unwrap();
        let parts = (product.ceilings)(product, &toml::from_str("size = \"1Ti\"").unwrap()).unwrap();
        let at = |read_share| {
            let limit = parts[0].limits.of(Load { read_share, operation_bytes: 65_536.0, is_sequential: false });
            (limit.bytes.unwrap().sustained / MIB, limit.operations.unwrap().sustained)
        };
        assert_eq!((at(1.0), at(0.0)), ((150.0, 35_000.0), (50.0, 7000.0)));
    }
}
