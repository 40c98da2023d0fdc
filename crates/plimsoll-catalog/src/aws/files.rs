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
        &[
            "metered MiB/s as provisioned, of reads and writes together; a read counts a third",
            "55,000 reads and 25,000 writes a second",
            PER_CLIENT,
        ],
        efs_provisioned,
    ),
    efs(
        "efs-bursting",
        "EFS, bursting throughput",
        &[
            "metered: 50 MiB/s per TiB, at least 1; bursts to 100 per TiB, at least 100; a read counts a third",
            "credits of 2.1 TiB per TiB, at least 2.1 TiB",
            "35,000 operations a second; a write counts as five",
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

/// Metered throughput is one budget of reads and writes.
fn metered(read_iops: f64, write_iops: f64, mib_s: RateLimit, in_common: InCommon) -> Limits {
    let bytes = mib_s.times(MIB);
    let limit =
        |iops: f64, bytes| Limit { operations: Some(RateLimit::lasting(iops)), bytes: Some(bytes), io_size: None };
    Limits::ByDirection {
        read: limit(read_iops, bytes.times(READ_METERED_AS)),
        write: limit(write_iops, bytes),
        in_common,
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
    file_system(product, metered(55_000.0, 25_000.0, mib_s, InCommon::BYTES))
}

fn efs_bursting(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let stored = product.size_gib(provisioned).map_err(|_| {
        product.incomplete("its limits follow from what is stored in it: give that as its size, as --disk-size 1Ti")
    })?;
    // A write counts as five operations of 35,000: awsdocs/amazon-efs-user-guide, `doc_source/limits.md`.
    file_system(product, metered(35_000.0, 7000.0, efs_metered_mib_s(stored / 1024.0), InCommon::ALL))
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
    fn a_read_of_efs_costs_a_third_of_a_write_in_any_mix() {
        let of = |name: &str, bought: &str, read_share: f64| {
            let product = PRODUCTS.iter().find(|product| product.name == name).unwrap();
            let parts = (product.ceilings)(product, &toml::from_str(bought).unwrap()).unwrap();
            parts[0].limits.of(Load { read_share, operation_bytes: 65_536.0, is_sequential: false })
        };
        let bursting = |read_share: f64| {
            let Limit { operations, bytes, .. } = of("efs-bursting", "size = \"1Ti\"", read_share);
            let RateLimit { sustained, burst, bucket } = bytes.unwrap().times(1.0 / MIB);
            let bytes = [sustained, burst.unwrap(), bucket.unwrap()].map(f64::round);
            (bytes, operations.unwrap().sustained.round())
        };
        let saved_up = EFS_BUCKET_MIB.round();
        assert_eq!(bursting(0.0), ([50.0, 100.0, saved_up], 7000.0));
        assert_eq!(bursting(0.5), ([75.0, 150.0, (1.5 * EFS_BUCKET_MIB).round()], 11_667.0));
        assert_eq!(bursting(1.0), ([150.0, 300.0, (3.0 * EFS_BUCKET_MIB).round()], 35_000.0));
        let provisioned = |read_share: f64| {
            let limit = of("efs-provisioned", "bandwidth = \"500MiB\"", read_share);
            (limit.bytes.unwrap().sustained / MIB).round()
        };
        assert_eq!([0.0, 0.5, 0.75, 1.0].map(provisioned), [500.0, 750.0, 1000.0, 1500.0]);
    }
}
