//! EBS volumes. Sizes are GiB and throughput MiB/s; an I/O of more than 256 KiB (magnetic: 1 MiB) counts as several.

use plimsoll_workload::{
    limit::{Limit, RateLimit},
    provisioned::Provisioned,
    units::ByteCount,
};

use crate::{
    ceiling::{Ceiling, Limits, MIB},
    error::CatalogError,
    product::{ANY_SIZE, Product, Provider, gib, of_size},
};

/// An I/O of more than this counts as several.
const SSD_IO: ByteCount = ByteCount(256 << 10);
const HDD_IO: ByteCount = ByteCount(1 << 20);
/// What is included in the price of a gp3 volume.
const GP3_IOPS: f64 = 3000.0;
/// What a gp2 volume bursts to, and what its bucket holds.
const GP2_BURST: f64 = 3000.0;
const GP2_BUCKET: f64 = 5.4e6;
/// Credits of st1 and sc1 volumes: a MiB each, so many for each TiB.
const MIB_PER_TIB: f64 = 1_048_576.0;

const fn volume(
    name: &'static str,
    about: &'static str,
    rules: &'static [&'static str],
    doubts: &'static [&'static str],
    sources: &'static [&'static str],
    ceilings: fn(&Product, &Provisioned) -> Result<Vec<Ceiling>, CatalogError>,
) -> Product {
    Product { name, aliases: &[], provider: Provider::Aws, about, rules, doubts, sources, ceilings }
}

pub(crate) static PRODUCTS: &[Product] = &[
    volume(
        "gp3",
        "EBS General Purpose SSD",
        &[
            "3,000 IOPS and 125 MiB/s are included",
            "at most 500 IOPS per GiB, up to 80,000",
            "at most 0.25 MiB/s per provisioned IOPS, up to 2,000",
            "no bursts",
        ],
        &["documents until 2023 end at 16 TiB, 16,000 IOPS and 1,000 MiB/s"],
        &["aws-create-volume", "aws-general-purpose"],
        gp3,
    ),
    volume(
        "gp2",
        "EBS General Purpose SSD, former generation",
        &[
            "3 IOPS per GiB, from 100 to 16,000",
            "below 1,000 GiB bursts to 3,000, with 5.4 million credits; refilled by what is left unused",
            "128 MiB/s up to 170 GiB, 250 from 334 GiB, up to 250 with credits between",
        ],
        &["what comes back under part of the load is not printed; taken as what is left unused"],
        &["aws-general-purpose", "aws-create-volume"],
        gp2,
    ),
    volume(
        "io1",
        "EBS Provisioned IOPS SSD",
        &[
            "IOPS as provisioned, at most 50 per GiB, up to 64,000",
            "256 KiB per provisioned IOPS up to 500 MiB/s; above 32,000 IOPS 16 KiB each, up to 1,000",
        ],
        &["more than 32,000 IOPS on Nitro instances only"],
        &["aws-create-volume", "aws-provisioned-iops"],
        io1,
    ),
    volume(
        "io2",
        "EBS Provisioned IOPS SSD, Block Express",
        &["IOPS as provisioned, at most 1,000 per GiB, up to 256,000", "0.256 MiB/s per provisioned IOPS, up to 4,000"],
        &["volumes without Block Express end at 500 IOPS per GiB, 64,000 IOPS and 1,000 MiB/s"],
        &["aws-create-volume", "aws-provisioned-iops"],
        io2,
    ),
    volume(
        "st1",
        "EBS Throughput Optimized HDD",
        &[
            "40 MiB/s per TiB, up to 500; bursts to 250 per TiB, up to 500",
            "credits of 1 TiB per TiB; an I/O below 1 MiB costs 1 MiB unless it follows the last one",
        ],
        &["that the bucket is full at first is not printed"],
        &["aws-hdd-volumes", "aws-create-volume"],
        st1,
    ),
    volume(
        "sc1",
        "EBS Cold HDD",
        &[
            "12 MiB/s per TiB, up to 192; bursts to 80 per TiB, up to 250",
            "credits of 1 TiB per TiB; an I/O below 1 MiB costs 1 MiB unless it follows the last one",
        ],
        &["that the bucket is full at first is not printed"],
        &["aws-hdd-volumes", "aws-create-volume"],
        sc1,
    ),
    volume(
        "ebs-standard",
        "EBS Magnetic, former generation",
        &["about 100 IOPS on average, 40 to 200, with bursts to hundreds; 40 to 90 MiB/s"],
        &["no limit is documented that could be held against a measurement"],
        &["aws-volume-types"],
        magnetic,
    ),
];

pub(crate) fn gp2_iops(size_gib: f64) -> RateLimit {
    let base = (3.0 * size_gib).clamp(100.0, 16_000.0);
    if base >= GP2_BURST {
        return RateLimit::lasting(base);
    }
    RateLimit { sustained: base, burst: Some(GP2_BURST), bucket: Some(GP2_BUCKET) }
}

pub(crate) fn gp3_iops_max(size_gib: f64) -> f64 {
    (500.0 * size_gib).clamp(GP3_IOPS, 80_000.0)
}

pub(crate) fn gp3_mib_s_max(iops: f64) -> f64 {
    (0.25 * iops).clamp(125.0, 2000.0)
}

/// The least and most IOPS that can be provisioned for a volume of such a size.
pub(crate) fn iops_range(sku: &str, size_gib: f64) -> Option<(u64, u64)> {
    let (least, most) = match sku {
        "gp3" => (GP3_IOPS, gp3_iops_max(size_gib)),
        "io1" => (100.0, io1_iops_max(size_gib)),
        "io2" => (100.0, io2_iops_max(size_gib)),
        _ => return None,
    };
    Some((least as u64, most as u64))
}

fn io1_iops_max(size_gib: f64) -> f64 {
    (50.0 * size_gib).min(64_000.0)
}

fn io2_iops_max(size_gib: f64) -> f64 {
    (1000.0 * size_gib).min(256_000.0)
}

fn io1_mib_s(iops: f64) -> f64 {
    if iops <= 32_000.0 { (iops / 4.0).min(500.0) } else { (iops / 64.0).min(1000.0) }
}

/// Of a size in TiB, in MiB/s.
pub(crate) fn st1_mib_s(size_tib: f64) -> RateLimit {
    credits((40.0 * size_tib).min(500.0), (250.0 * size_tib).min(500.0), size_tib)
}

/// Of a size in TiB, in MiB/s.
pub(crate) fn sc1_mib_s(size_tib: f64) -> RateLimit {
    credits(12.0 * size_tib, (80.0 * size_tib).min(250.0), size_tib)
}

fn credits(base: f64, burst: f64, size_tib: f64) -> RateLimit {
    if burst <= base {
        return RateLimit::lasting(base);
    }
    RateLimit { sustained: base, burst: Some(burst), bucket: Some(MIB_PER_TIB * size_tib) }
}

fn gp3(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib_beyond(provisioned, GP3_IOPS, 1.0, 65_536.0)?;
    let (most, of) = (gp3_iops_max(size.unwrap_or(0.0)), size.map_or_else(|| ANY_SIZE.to_owned(), gib));
    let iops = product.iops_within(provisioned, GP3_IOPS, most, &of)?;
    let with = format!("{iops} provisioned IOPS");
    let bytes = product.bandwidth_within(provisioned, 125.0 * MIB, gp3_mib_s_max(iops) * MIB, &with)?;
    ssd(product, size, RateLimit::lasting(iops), RateLimit::lasting(bytes))
}

fn gp2(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    product.refuse_provisioned(provisioned)?;
    let size = product.size_gib_within(provisioned, 1.0, 16_384.0)?;
    let mib_s = if size <= 170.0 { 128.0 } else { 250.0 };
    let mut parts = ssd(product, size, gp2_iops(size), RateLimit::lasting(mib_s * MIB))?;
    if size > 170.0 && size < 334.0 {
        let note = "250 MiB/s only while it has credits: what lasts is its lasting IOPS, of 256 KiB each";
        parts[0].notes.push(note.to_owned());
    }
    Ok(parts)
}

fn io1(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib_within(provisioned, 4.0, 16_384.0)?;
    let iops = provisioned_iops(product, provisioned, io1_iops_max(size), size)?;
    ssd(product, size, RateLimit::lasting(iops), RateLimit::lasting(io1_mib_s(iops) * MIB))
}

fn io2(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib_within(provisioned, 4.0, 65_536.0)?;
    let iops = provisioned_iops(product, provisioned, io2_iops_max(size), size)?;
    ssd(product, size, RateLimit::lasting(iops), RateLimit::lasting((0.256 * iops).min(4000.0) * MIB))
}

fn provisioned_iops(product: &Product, provisioned: &Provisioned, max: f64, size: f64) -> Result<f64, CatalogError> {
    if provisioned.iops.is_none() {
        return Err(product.incomplete("its IOPS are provisioned: give them, as --iops 10000"));
    }
    product.iops_within(provisioned, 100.0, max, &gib(size))
}

fn st1(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    magnetic_with_credits(product, provisioned, st1_mib_s)
}

fn sc1(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    magnetic_with_credits(product, provisioned, sc1_mib_s)
}

/// Operations are bounded too: each costs a MiB of credit at most, so that there are as many as MiB/s.
fn magnetic_with_credits(
    product: &Product,
    provisioned: &Provisioned,
    mib_s: fn(f64) -> RateLimit,
) -> Result<Vec<Ceiling>, CatalogError> {
    product.refuse_provisioned(provisioned)?;
    let size = product.size_gib_within(provisioned, 125.0, 16_384.0)?;
    let mib_s = mib_s(size / 1024.0);
    let mut ceiling = ceiling(product, size, Some(mib_s), Some(mib_s.times(MIB)), HDD_IO);
    let bytes = Some(mib_s.times(MIB));
    // What follows the last operation is merged with it, up to the size that counts as one.
    ceiling.limits = Limits::ByOrder {
        sequential: Limit { bytes, ..Limit::default() },
        random: Limit { operations: Some(mib_s), bytes, io_size: Some(HDD_IO) },
    };
    ceiling.notes.push("I/O that does not follow the last one costs 1 MiB of throughput each".to_owned());
    Ok(vec![ceiling])
}

fn magnetic(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    product.refuse_provisioned(provisioned)?;
    let size = product.size_gib_within(provisioned, 1.0, 1024.0)?;
    let mut ceiling = ceiling(product, size, None, None, HDD_IO);
    ceiling.limits = Limits::UNKNOWN;
    ceiling.notes = product.rules.iter().chain(product.doubts).map(|text| (*text).to_owned()).collect();
    Ok(vec![ceiling])
}

fn ssd(
    product: &Product,
    size: impl Into<Option<f64>>,
    iops: RateLimit,
    bytes: RateLimit,
) -> Result<Vec<Ceiling>, CatalogError> {
    Ok(vec![ceiling(product, size, Some(iops), Some(bytes), SSD_IO)])
}

fn ceiling(
    product: &Product,
    size: impl Into<Option<f64>>,
    operations: Option<RateLimit>,
    bytes: Option<RateLimit>,
    io_size: ByteCount,
) -> Ceiling {
    product.ceiling(
        of_size(product.name, size.into()),
        Limits::Shared(Limit { operations, bytes, io_size: Some(io_size) }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(name: &str, text: &str) -> Result<Limit, String> {
        let product = PRODUCTS.iter().find(|product| product.name == name).unwrap();
        let parts = (product.ceilings)(product, &toml::from_str(text).unwrap()).map_err(|error| error.to_string())?;
        let Limits::Shared(limit) = parts[0].limits else { panic!("shared") };
        Ok(limit)
    }

    #[test]
    fn a_gp3_volume_is_bound_by_its_ratios() {
        let rates = |text: &str| {
            let limit = limit("gp3", text)?;
            Ok::<_, String>((limit.operations.unwrap().sustained, limit.bytes.unwrap().sustained / MIB))
        };
        assert_eq!(rates("size = \"100Gi\""), Ok((3000.0, 125.0)));
        assert_eq!(rates("size = \"160Gi\"\niops = 80000\nbandwidth = \"2000MiB\""), Ok((80_000.0, 2000.0)));
        assert_eq!(rates("size = \"6Gi\"\niops = 3000\nbandwidth = \"750MiB\""), Ok((3000.0, 750.0)));
        // What is included is there at any size.
        assert_eq!(rates(""), Ok((3000.0, 125.0)));
        assert_eq!(rates("iops = 3000\nbandwidth = \"750MiB\""), Ok((3000.0, 750.0)));
        for (text, words) in [
            ("iops = 3001", "give the provisioned size, as --disk-size 1Ti"),
            ("iops = 2000", "has at least 3000 IOPS with any size, not 2000"),
            ("size = \"10Gi\"\niops = 5001", "10 GiB can have at most 5000 IOPS, not 5001"),
            ("size = \"159Gi\"\niops = 80000", "at most 79500 IOPS"),
            ("size = \"100Gi\"\nbandwidth = \"751MiB\"", "3000 provisioned IOPS can have at most"),
        ] {
            let error = rates(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn provisioned_volumes_follow_their_iops() {
        for (iops, mib_s) in
            [(2000.0, 500.0), (1000.0, 250.0), (32_000.0, 500.0), (40_000.0, 625.0), (64_000.0, 1000.0)]
        {
            assert_eq!(io1_mib_s(iops), mib_s);
        }
        let error = limit("io2", "size = \"100Gi\"").unwrap_err();
        assert!(error.contains("--iops"), "{error}");
        assert_eq!(limit("io2", "size = \"16Gi\"\niops = 16000").unwrap().bytes.unwrap().sustained, 4000.0 * MIB);
    }

    #[test]
    fn an_operation_of_a_gp2_volume_counts_by_quarter_mebibytes() {
        let limit = limit("gp2", "size = \"100Gi\"").unwrap().for_operations_of(MIB);
        assert_eq!(limit.operations.unwrap().sustained, 75.0);
    }
}
