//! Azure Files. Sizes are GiB and throughput MiB/s, reads and writes together.

use plimsoll_workload::{
    limit::{Limit, RateLimit},
    provisioned::Provisioned,
};

use crate::{
    ceiling::{Ceiling, Limits, MIB},
    error::CatalogError,
    product::{Product, Provider, gib},
};

/// What a full bucket of credits lasts for at the highest rate: an hour.
const BURST_SECONDS: f64 = 3600.0;
/// The most that a share on SSDs does.
const SSD_IOPS_MAX: f64 = 102_400.0;
/// The same on magnetic disks.
const HDD_IOPS_MAX: f64 = 50_000.0;

const PER_FILE_SSD: &str = "a single file: at most 8,000 IOPS and 1,024 MiB/s";
const PER_FILE_HDD: &str = "a single file: at most 1,000 IOPS and 60 MiB/s";
const BEST_EFFORT: &str = "bursts are best effort";

pub(crate) static PRODUCTS: &[Product] = &[
    Product {
        name: "azure-files-ssd-v1",
        aliases: &["azure-files-premium"],
        provider: Provider::Azure,
        about: "Azure Files on SSDs, provisioned v1 (file.csi.azure.com: Premium_LRS)",
        rules: &[
            "IOPS: 3,000 + 1 per GiB, up to 102,400; bursts to 3 per GiB, at least 10,000, for an hour of credits",
            "MiB/s: 100 + 0.04 per GiB + 0.06 per GiB, each rounded up",
            PER_FILE_SSD,
        ],
        doubts: &[
            BEST_EFFORT,
            "the page's examples of 33,792 and 51,200 GiB contradict its formula: they keep the old cap of 100,000",
        ],
        sources: &["azure-files-billing", "azure-files-targets"],
        ceilings: ssd_v1,
    },
    Product {
        name: "azure-files-ssd-v2",
        aliases: &[],
        provider: Provider::Azure,
        about: "Azure Files on SSDs, provisioned v2 (file.csi.azure.com: PremiumV2_LRS)",
        rules: &[
            "IOPS and MiB/s as provisioned; else 3,000 + 1 per GiB, and 100 + 0.1 per GiB",
            "bursts to 3 times the IOPS, at least 10,000, up to 102,400, for an hour of credits",
            PER_FILE_SSD,
        ],
        doubts: &[BEST_EFFORT],
        sources: &["azure-files-billing", "azure-files-targets"],
        ceilings: ssd_v2,
    },
    Product {
        name: "azure-files-hdd-v2",
        aliases: &[],
        provider: Provider::Azure,
        about: "Azure Files on magnetic disks, provisioned v2 (file.csi.azure.com: StandardV2_LRS)",
        rules: &[
            "IOPS and MiB/s as provisioned; else 1,000 + 0.2 per GiB, and 60 + 0.02 per GiB",
            "bursts to 3 times the IOPS, at least 5,000, up to 50,000, for an hour of credits",
            PER_FILE_HDD,
        ],
        doubts: &[BEST_EFFORT],
        sources: &["azure-files-billing", "azure-files-targets"],
        ceilings: hdd_v2,
    },
    Product {
        name: "azure-files-hdd",
        aliases: &["azure-files-standard"],
        provider: Provider::Azure,
        about: "Azure Files on magnetic disks, paid as used (file.csi.azure.com: Standard_LRS)",
        rules: &["at most 20,000 IOPS a share; throughput is the account's", PER_FILE_HDD],
        doubts: &["in some regions an account, and its shares together, do 40,000 IOPS"],
        sources: &["azure-files-targets"],
        ceilings: hdd,
    },
];

/// A limit of IOPS that bursts for an hour.
pub(crate) fn bursting(base: f64, burst: f64) -> RateLimit {
    if burst <= base {
        return RateLimit::lasting(base);
    }
    RateLimit { sustained: base, burst: Some(burst), bucket: Some((burst - base) * BURST_SECONDS) }
}

pub(crate) fn ssd_v1_iops(size_gib: f64) -> RateLimit {
    bursting((3000.0 + size_gib).min(SSD_IOPS_MAX), (3.0 * size_gib).clamp(10_000.0, SSD_IOPS_MAX))
}

/// The page counts whole MiB/s; hundredths keep 0.04 and 0.06 exact.
pub(crate) fn ssd_v1_mib_s(size_gib: f64) -> f64 {
    100.0 + (4.0 * size_gib / 100.0).ceil() + (6.0 * size_gib / 100.0).ceil()
}

pub(crate) fn ssd_v2_iops(provisioned: f64) -> RateLimit {
    bursting(provisioned, (3.0 * provisioned).clamp(10_000.0, SSD_IOPS_MAX))
}

pub(crate) fn hdd_v2_iops(provisioned: f64) -> RateLimit {
    bursting(provisioned, (3.0 * provisioned).clamp(5000.0, HDD_IOPS_MAX))
}

fn ssd_v1(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib_within(provisioned, 100.0, 102_400.0)?;
    share(product, size, ssd_v1_iops(size), Some(ssd_v1_mib_s(size)))
}

fn ssd_v2(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib_within(provisioned, 32.0, 262_144.0)?;
    let iops = (3000.0 + size.ceil()).min(SSD_IOPS_MAX);
    let mib_s = (100.0 + (size / 10.0).ceil()).min(10_340.0);
    provisioned_share(product, provisioned, size, [3000.0, iops, SSD_IOPS_MAX], [mib_s, 10_340.0], ssd_v2_iops)
}

fn hdd_v2(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib_within(provisioned, 32.0, 262_144.0)?;
    let iops = (1000.0 + (size / 5.0).ceil()).min(HDD_IOPS_MAX);
    let mib_s = (60.0 + (size / 50.0).ceil()).min(5120.0);
    provisioned_share(product, provisioned, size, [500.0, iops, HDD_IOPS_MAX], [mib_s, 5120.0], hdd_v2_iops)
}

fn provisioned_share(
    product: &Product,
    provisioned: &Provisioned,
    size: f64,
    [least, recommended, most]: [f64; 3],
    [mib_s, mib_s_most]: [f64; 2],
    burst: impl Fn(f64) -> RateLimit,
) -> Result<Vec<Ceiling>, CatalogError> {
    let iops = match provisioned.iops {
        Some(_) => product.iops_within(provisioned, least, most, "a share")?,
        None => recommended,
    };
    let mib_s = match provisioned.bandwidth {
        Some(_) => product.bandwidth_within(provisioned, 0.0, mib_s_most * MIB, "a share")? / MIB,
        None => mib_s,
    };
    share(product, size, burst(iops), Some(mib_s))
}

fn hdd(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    share(product, product.size_gib(provisioned).unwrap_or(f64::NAN), RateLimit::lasting(20_000.0), None)
}

fn share(product: &Product, size: f64, iops: RateLimit, mib_s: Option<f64>) -> Result<Vec<Ceiling>, CatalogError> {
    let limit =
        Limit { operations: Some(iops), bytes: mib_s.map(|rate| RateLimit::lasting(rate * MIB)), io_size: None };
    Ok(vec![Ceiling {
        notes: product.rules.last().map(|rule| (*rule).to_owned()).into_iter().collect(),
        ..product.ceiling(
            if size.is_nan() { product.name.to_owned() } else { format!("{} of {}", product.name, gib(size)) },
            Limits::Shared(limit),
        )
    }])
}
