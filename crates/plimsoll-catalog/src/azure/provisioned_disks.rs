//! Managed disks whose performance is bought apart from their size: Premium SSD v2 and Ultra Disk.

use plimsoll_workload::{
    provisioned::{Caching, Provisioned},
    units::Bandwidth,
};

use crate::{
    ceiling::{Ceiling, Limits, MB},
    error::CatalogError,
    product::{ANY_SIZE, Product, Provider, gib, of_size},
};

/// What is included in the price of a Premium SSD v2.
const V2_IOPS: f64 = 3000.0;
const V2_MBPS: f64 = 125.0;
/// What the Kubernetes driver gives an Ultra Disk at least; where one of the two is said, the other one at any size.
const ULTRA_IOPS: f64 = 500.0;
const ULTRA_MBPS: f64 = 100.0;

pub(crate) static PRODUCTS: &[Product] = &[
    Product {
        name: "PremiumV2_LRS",
        aliases: &["premium-ssd-v2"],
        provider: Provider::Azure,
        about: "Premium SSD v2",
        rules: &[
            "3,000 IOPS and 125 MB/s are included",
            "at most 500 IOPS per GiB, from 3,000 to 80,000",
            "at most 0.25 MB/s per provisioned IOPS, from 125 to 2,000",
            "no host cache, no bursts",
        ],
        doubts: &["older pages end at 1,200 MB/s; regions may lag behind"],
        sources: &["azure-disks-types"],
        ceilings: v2,
    },
    Product {
        name: "UltraSSD_LRS",
        aliases: &["ultra-disk"],
        provider: Provider::Azure,
        about: "Ultra Disk",
        rules: &[
            "at most 1,000 IOPS per GiB, from 100 to 400,000",
            "at most 0.25 MB/s per provisioned IOPS, up to 10,000",
            "where neither is said, the Kubernetes driver buys 1 IOPS per GiB, from 500 to 160,000, and 100 MB/s or more",
            "where one is said, it buys 500 IOPS or 100 MB/s beside it",
            "no host cache, no bursts",
        ],
        doubts: &[
            "pages of third parties, and the parameters of AKS, still end at 160,000 IOPS and 4,000 or 2,000 MB/s",
        ],
        sources: &["azure-disks-types"],
        ceilings: ultra,
    },
];

/// The most that a Premium SSD v2 of a size can have.
pub(crate) fn v2_iops_max(size_gib: f64) -> f64 {
    (500.0 * size_gib).clamp(V2_IOPS, 80_000.0)
}

/// The same in MB/s, with so many provisioned IOPS.
pub(crate) fn v2_mbps_max(iops: f64) -> f64 {
    (0.25 * iops).clamp(V2_MBPS, 2000.0)
}

/// The most that an Ultra Disk of a size can have.
pub(crate) fn ultra_iops_max(size_gib: f64) -> f64 {
    (1000.0 * size_gib).min(400_000.0)
}

/// The same in MB/s, with so many provisioned IOPS.
pub(crate) fn ultra_mbps_max(iops: f64) -> f64 {
    (0.25 * iops).min(10_000.0)
}

/// What the Kubernetes driver buys for an Ultra Disk that nothing is said of, in IOPS and MB/s:
/// `GetDefaultDiskIOPSReadWrite` and `GetDefaultDiskMBPSReadWrite` of kubernetes-sigs/azuredisk-csi-driver,
/// `pkg/azureutils/azure_disk_utils.go`. Their other bounds bind at no size.
fn ultra_of_driver(size_gib: f64) -> (f64, f64) {
    let iops = size_gib.ceil().clamp(ULTRA_IOPS, 160_000.0);
    // It compares what it has rounded down, and then rounds up.
    let is_more = (iops / 256.0).floor() > ULTRA_MBPS;
    (iops, if is_more { (iops / 256.0).ceil() } else { ULTRA_MBPS })
}

fn v2(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib_beyond(provisioned, V2_IOPS, 1.0, 65_536.0)?;
    let (most, of) = (v2_iops_max(size.unwrap_or(0.0)), size.map_or_else(|| ANY_SIZE.to_owned(), gib));
    let iops = product.iops_within(provisioned, V2_IOPS, most, &of)?;
    let with = format!("{iops} provisioned IOPS");
    let bytes = product.bandwidth_within(provisioned, V2_MBPS * MB, v2_mbps_max(iops) * MB, &with)?;
    ceiling(product, provisioned, size, iops, bytes, Vec::new())
}

fn ultra(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib_within(provisioned, 4.0, 65_536.0)?;
    let (least_iops, least_bytes) = (100.0, MB);
    let is_left_to_driver = provisioned.iops.is_none() && provisioned.bandwidth.is_none();
    let (driver_iops, driver_mbps) = if is_left_to_driver { ultra_of_driver(size) } else { (ULTRA_IOPS, ULTRA_MBPS) };
    let note = match (provisioned.iops, provisioned.bandwidth) {
        (None, None) => Some(format!(
            "nothing is said of its rates: {driver_iops} IOPS and {driver_mbps} MB/s, as its Kubernetes driver buys \
             for its size"
        )),
        (None, Some(_)) => Some(format!("nothing is said of its IOPS: {driver_iops}, as its Kubernetes driver buys")),
        (Some(_), None) => {
            Some(format!("nothing is said of its throughput: {driver_mbps} MB/s, as its Kubernetes driver buys"))
        }
        (Some(_), Some(_)) => None,
    };
    let rates = Provisioned {
        iops: provisioned.iops.or(Some(driver_iops as u64)),
        bandwidth: provisioned.bandwidth.or(Some(Bandwidth((driver_mbps * MB) as u64))),
        ..Provisioned::default()
    };
    let iops = product.iops_within(&rates, least_iops, ultra_iops_max(size), &gib(size))?;
    let with = match (provisioned.iops, provisioned.bandwidth) {
        (None, _) => format!("{iops} IOPS, which its Kubernetes driver buys where none are said,"),
        (_, None) => format!("{iops} provisioned IOPS, with the throughput left to its Kubernetes driver,"),
        _ => format!("{iops} provisioned IOPS"),
    };
    let bytes = product.bandwidth_within(&rates, least_bytes, ultra_mbps_max(iops) * MB, &with)?;
    ceiling(product, provisioned, Some(size), iops, bytes, note.into_iter().collect())
}

fn ceiling(
    product: &Product,
    provisioned: &Provisioned,
    size: Option<f64>,
    iops: f64,
    bytes: f64,
    notes: Vec<String>,
) -> Result<Vec<Ceiling>, CatalogError> {
    if let Some(caching @ (Caching::ReadOnly | Caching::ReadWrite)) = provisioned.caching {
        return Err(product.impossible(&format!("has no host cache: caching is None, not {caching}")));
    }
    Ok(vec![Ceiling {
        notes,
        ..product.ceiling(of_size(product.about, size), Limits::lasting(Some(iops), Some(bytes)))
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(sku: usize, text: &str) -> String {
        let product = &PRODUCTS[sku];
        (product.ceilings)(product, &toml::from_str(text).unwrap()).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn a_disk_v2_reaches_its_ends_where_the_page_says() {
        for (size, iops) in [(1.0, 3000.0), (6.0, 3000.0), (8.0, 4000.0), (10.0, 5000.0), (159.0, 79_500.0)] {
            assert_eq!(v2_iops_max(size), iops);
        }
        assert_eq!((v2_iops_max(160.0), v2_iops_max(65_536.0)), (80_000.0, 80_000.0));
        for (iops, mbps) in [(3000.0, 750.0), (4000.0, 1000.0), (8000.0, 2000.0), (80_000.0, 2000.0)] {
            assert_eq!(v2_mbps_max(iops), mbps);
        }
    }

    #[test]
    fn an_ultra_disk_has_the_caps_of_the_table() {
        for (size, iops, mbps) in [
            (4.0, 4000.0, 1000.0),
            (8.0, 8000.0, 2000.0),
            (16.0, 16_000.0, 4000.0),
            (32.0, 32_000.0, 8000.0),
            (64.0, 64_000.0, 10_000.0),
            (256.0, 256_000.0, 10_000.0),
            (512.0, 400_000.0, 10_000.0),
        ] {
            assert_eq!((ultra_iops_max(size), ultra_mbps_max(ultra_iops_max(size))), (iops, mbps));
        }
    }

    #[test]
    fn what_nobody_said_of_an_ultra_disk_is_what_its_kubernetes_driver_buys() {
        for (size, iops, mbps) in [
            (4.0, 500.0, 100.0),
            (512.5, 513.0, 100.0),
            (2048.0, 2048.0, 100.0),
            (25_700.0, 25_700.0, 100.0),
            (32_769.0, 32_769.0, 129.0),
            (65_536.0, 65_536.0, 256.0),
        ] {
            assert_eq!(ultra_of_driver(size), (iops, mbps), "{size}");
        }
        let of = |more: &str| {
            let bought = toml::from_str(&format!("size = \"1Ti\"\n{more}")).unwrap();
            let ceiling = ultra(&PRODUCTS[1], &bought).unwrap().remove(0);
            (ceiling.limits, ceiling.notes.join("; "))
        };
        for (more, iops, mbps, words) in [
            ("", 1024.0, 100.0, "its rates: 1024 IOPS and 100 MB/s, as its Kubernetes driver buys for its size"),
            ("iops = 20000", 20_000.0, 100.0, "its throughput: 100 MB/s, as its Kubernetes driver"),
            ("bandwidth = \"120MB\"", 500.0, 120.0, "its IOPS: 500, as its Kubernetes driver"),
        ] {
            let (limits, notes) = of(more);
            assert_eq!(limits, Limits::lasting(Some(iops), Some(mbps * MB)), "{more}");
            assert!(notes.contains(words), "{notes}");
        }
        assert_eq!(of("iops = 20000\nbandwidth = \"300MB\"").1, "");
    }

    #[test]
    fn what_cannot_be_bought_says_what_can() {
        for (sku, text, words) in [
            (0, "size = \"160Gi\"\niops = 80001", "160 GiB can have at most 80000 IOPS, not 80001"),
            (0, "size = \"159Gi\"\niops = 80000", "at most 79500 IOPS"),
            (0, "size = \"1Ti\"\nbandwidth = \"800MB\"", "3000 provisioned IOPS can have at most 750MB/s, not 800MB/s"),
            (0, "size = \"1Ti\"\ncaching = \"ReadOnly\"", "has no host cache"),
            (
                1,
                "size = \"1Ti\"\nbandwidth = \"500MB\"",
                "500 IOPS, which its Kubernetes driver buys where none are said, can have at most 125MB/s, not 500MB/s",
            ),
            (1, "size = \"1Ti\"\niops = 200", "left to its Kubernetes driver, can have at most 50MB/s, not 100MB/s"),
            (1, "size = \"2Gi\"", "is sold from 4 GiB to 64 TiB, not with 2 GiB"),
        ] {
            let error = error(sku, text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
