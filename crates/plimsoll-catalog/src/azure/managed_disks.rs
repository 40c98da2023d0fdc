//! Managed disks that are sold by size: Premium SSD, Standard SSD and Standard HDD.

use std::sync::LazyLock;

use plimsoll_workload::{limit::Limit, provisioned::Provisioned, units::ByteCount};
use serde::Deserialize;

use super::credit;
use crate::{
    ceiling::{Ceiling, Limits, MB, Part, Tolerance},
    error::CatalogError,
    product::{Product, Provider, gib},
    source::Source,
    table::{self, Named},
};

/// An I/O of more than this counts as several, on SSDs.
const IO_SIZE: ByteCount = ByteCount(256 << 10);
/// Disks above this size may burst on demand, or have more performance from the start.
const LARGE_ABOVE_GIB: f64 = 512.0;

/// A size that is sold.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Tier {
    pub(crate) name: String,
    pub(crate) family: String,
    pub(crate) skus: String,
    pub(crate) size_gib: f64,
    pub(crate) iops: f64,
    pub(crate) mbps: f64,
    /// What another document of the vendor says instead.
    pub(crate) mbps_elsewhere: Option<f64>,
    pub(crate) burst: Option<Burst>,
    pub(crate) burst_iops: Option<f64>,
    pub(crate) burst_mbps: Option<f64>,
    pub(crate) plus_iops: Option<f64>,
    pub(crate) plus_mbps: Option<f64>,
    pub(crate) max_shares: u32,
    pub(crate) source: String,
    pub(crate) cross_source: String,
}

/// How a tier bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Burst {
    /// By credits, which it has from the start.
    Credit,
    /// Whenever it is asked to, for a price, when that was enabled.
    OnDemand,
}

/// Which performance a size may be set to.
#[derive(Debug, Deserialize)]
struct Upgrade {
    name: String,
    can_be_set_to: String,
    source: String,
}

static TIERS: LazyLock<Vec<Tier>> = LazyLock::new(|| table::rows(include_str!("../../data/azure_managed_disks.csv")));
static UPGRADES: LazyLock<Vec<Upgrade>> =
    LazyLock::new(|| table::rows(include_str!("../../data/azure_performance_tiers.csv")));

const CREDITS: &str = "credits for half an hour at the burst rate, full at first, refilled by what is left unused";
const SIZES: &str = "IOPS and MB/s are those of the next size that is sold";

pub(crate) static PRODUCTS: &[Product] = &[
    Product {
        name: "Premium_LRS",
        aliases: &["Premium_ZRS", "premium-ssd"],
        provider: Provider::Azure,
        about: "Premium SSD, P1 to P80",
        rules: &[
            SIZES,
            CREDITS,
            "above 512 GiB: 30,000 IOPS and 1,000 MB/s on demand, where enabled",
            "a tier may be set above that of the size",
            "an I/O of more than 256 KiB counts as several",
        ],
        doubts: &["the size of the credit bucket is derived from the half hour, and printed nowhere"],
        sources: &["azure-premium-ssd-sizes", "azure-disks-bursting", "azure-disks-types"],
        ceilings,
    },
    Product {
        name: "StandardSSD_LRS",
        aliases: &["StandardSSD_ZRS", "standard-ssd"],
        provider: Provider::Azure,
        about: "Standard SSD, E1 to E80",
        rules: &[SIZES, CREDITS, "an I/O of more than 256 KiB counts as several"],
        doubts: &["E1 to E50: 100 MB/s by the interface of 2024-12, 60 MB/s by the page of 2023-03"],
        sources: &["azure-standard-ssd-sizes", "azure-disks-bursting", "azure-disks-types"],
        ceilings,
    },
    Product {
        name: "Standard_LRS",
        aliases: &["standard-hdd"],
        provider: Provider::Azure,
        about: "Standard HDD, S4 to S80",
        rules: &[SIZES],
        doubts: &["figures are upper bounds that nobody promises; 12 % more were seen"],
        sources: &["azure-standard-hdd-sizes", "azure-disks-types"],
        ceilings,
    },
];

impl Named for Tier {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for Upgrade {
    fn name(&self) -> &str {
        &self.name
    }
}

/// All sizes, smallest first in each family.
pub(crate) fn tiers() -> &'static [Tier] {
    &TIERS
}

/// The size of this name.
pub(crate) fn tier(name: &str) -> Option<&'static Tier> {
    table::find(&TIERS, name)
}

impl Tier {
    /// The product that it is a size of.
    pub(crate) fn product(&self) -> &'static Product {
        let of = |product: &&Product| product.names().any(|name| self.skus.split(' ').any(|sku| sku == name));
        PRODUCTS.iter().find(of).expect("every tier is of a product, which a test checks")
    }

    /// What it is called in sentences.
    pub(crate) fn title(&self) -> String {
        format!("{} ({} of {})", self.name, self.family, gib(self.size_gib))
    }

    /// What a disk of it lets through, with the options that were bought.
    pub(crate) fn ceiling(&self, provisioned: &Provisioned) -> Result<Ceiling, CatalogError> {
        let product = self.product();
        product.refuse_provisioned(provisioned)?;
        let mut sources = vec![Source::of(&self.source), Source::of(&self.cross_source)];
        let mut notes = Vec::new();
        let (mut name, mut figures) = (self.title(), self);
        if let Some(wanted) = &provisioned.tier {
            figures = self.upgrade(wanted)?;
            sources.push(Source::of("disks-change-performance"));
            name = format!("{} set to {}", self.title(), figures.name);
        }
        let (mut iops, mut bytes) = (
            credit(figures.iops, figures.burst_iops.filter(|_| figures.burst == Some(Burst::Credit))),
            credit(
                figures.mbps * MB,
                figures.burst_mbps.filter(|_| figures.burst == Some(Burst::Credit)).map(|m| m * MB),
            ),
        );
        if figures.burst == Some(Burst::Credit) {
            sources.push(Source::of("azure-disks-bursting"));
        }
        if provisioned.performance_plus == Some(true) {
            let (Some(plus_iops), Some(plus_mbps)) = (self.plus_iops, self.plus_mbps) else {
                return Err(product.impossible(&format!(
                    "{} has no performance plus: it takes more than {LARGE_ABOVE_GIB} GiB",
                    self.name
                )));
            };
            // Its own tier is what every disk has.
            if figures.name != self.name {
                return Err(product.impossible(&format!(
                    "{} set to {} with performance plus as well is documented nowhere: leave one of the two out",
                    self.name, figures.name
                )));
            }
            (iops, bytes) = (credit(plus_iops, None), credit(plus_mbps * MB, None));
            name.push_str(" with performance plus");
            notes.push("figures of performance plus are those of its preview".to_owned());
            sources.push(Source::of("azure-performance-plus"));
        }
        if provisioned.on_demand_bursting == Some(true) {
            let (Some(burst_iops), Some(burst_mbps), Some(Burst::OnDemand)) =
                (self.burst_iops, self.burst_mbps, self.burst)
            else {
                return Err(product.impossible(&format!(
                    "{} does not burst on demand: it takes a Premium SSD of more than {LARGE_ABOVE_GIB} GiB",
                    self.name
                )));
            };
            (iops, bytes) = (credit(burst_iops, None), credit(burst_mbps * MB, None));
            name.push_str(" bursting on demand");
            sources.push(Source::of("azure-disks-bursting"));
        }
        if let Some(elsewhere) = figures.mbps_elsewhere {
            notes.push(format!(
                "{} MB/s by the interface of 2024-12; the page of 2023-03 says {elsewhere} MB/s",
                figures.mbps
            ));
        }
        let is_magnetic = self.family == "Standard HDD";
        let limit = Limit { operations: Some(iops), bytes: Some(bytes), io_size: (!is_magnetic).then_some(IO_SIZE) };
        Ok(Ceiling {
            part: Part::Disk,
            name,
            limits: Limits::Shared(limit),
            tolerance: if is_magnetic { Tolerance::MAGNETIC } else { Tolerance::USUAL },
            sources,
            notes,
        })
    }

    /// Refuses a size that makes a disk of another tier.
    pub(crate) fn refuse_other_sizes(&self, provisioned: &Provisioned) -> Result<(), CatalogError> {
        let product = self.product();
        let (asked, fitting) = (product.size_gib(provisioned)?, fitting(product, provisioned)?);
        if fitting.name == self.name {
            return Ok(());
        }
        let (name, sku) = (&self.name, product.name);
        // Performance above that of the size is a choice of its own.
        let upgrade = if fitting.upgrade(name).is_ok() { format!(", whose tier may be {name}") } else { String::new() };
        Err(CatalogError::Impossible {
            product: name.clone(),
            why: format!(
                "it holds {}, and a disk of {} is sold as {}: leave the size out, or name the product, as {sku}{upgrade}",
                gib(self.size_gib),
                gib(asked),
                fitting.name
            ),
        })
    }

    /// The size that is paid for: that of the performance tier that it was set to.
    pub(crate) fn paid(&'static self, provisioned: &Provisioned) -> &'static Self {
        provisioned.tier.as_deref().and_then(|tier| self.upgrade(tier).ok()).unwrap_or(self)
    }

    /// The tier that it was set to.
    fn upgrade(&self, wanted: &str) -> Result<&'static Self, CatalogError> {
        let Some(upgrade) = table::find(&UPGRADES, &self.name) else {
            return Err(self
                .product()
                .impossible(&format!("{} has no performance tiers: leave the tier out", self.name)));
        };
        let known = upgrade.can_be_set_to.split(' ').chain([self.name.as_str()]);
        let name = known.into_iter().find(|name| name.eq_ignore_ascii_case(wanted)).ok_or_else(|| {
            let all = upgrade.can_be_set_to.replace(' ', ", ");
            self.product().impossible(&format!("{} can be set to {all}, not to {wanted}", self.name))
        })?;
        debug_assert!(!upgrade.source.is_empty(), "each row has a source");
        tier(name).ok_or_else(|| CatalogError::unknown("tier", name, TIERS.iter().map(|tier| tier.name.as_str())))
    }
}

fn ceilings(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    Ok(vec![fitting(product, provisioned)?.ceiling(provisioned)?])
}

/// The smallest size that is sold and holds what was bought.
pub(crate) fn fitting(product: &Product, provisioned: &Provisioned) -> Result<&'static Tier, CatalogError> {
    let size = product.size_gib(provisioned)?;
    let mut of_product = TIERS.iter().filter(|tier| tier.product().name == product.name);
    let fitting = of_product.clone().find(|tier| tier.size_gib >= size);
    fitting.ok_or_else(|| {
        let largest = of_product.next_back().map_or(0.0, |tier| tier.size_gib);
        product.impossible(&format!("is sold up to {}, not with {}", gib(largest), gib(size)))
    })
}

/// The size that is paid for, of products that are sold in sizes.
pub(crate) fn paid(product: &Product, provisioned: &Provisioned) -> Option<&'static Tier> {
    fitting(product, provisioned).ok().map(|tier| tier.paid(provisioned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Provisioned {
        toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn limit(sku: &str, more: &str) -> Result<(String, Limit), CatalogError> {
        let product = PRODUCTS.iter().find(|product| product.is_called(sku)).unwrap();
        let ceiling = (product.ceilings)(product, &of(more))?.remove(0);
        let Limits::Shared(limit) = ceiling.limits else { panic!("shared") };
        Ok((ceiling.name, limit))
    }

    #[test]
    fn a_disk_performs_as_the_next_size_that_is_sold() {
        for (size, name) in [("512Gi", "P20"), ("513Gi", "P30"), ("1Ti", "P30"), ("1Gi", "P1"), ("32767Gi", "P80")] {
            assert!(limit("Premium_LRS", &format!("size = \"{size}\"")).unwrap().0.starts_with(name), "{size}");
        }
        let at = |size: &str| limit("premium_zrs", &format!("size = \"{size}\"")).unwrap().1.operations.unwrap();
        assert_eq!((at("512Gi").sustained, at("512Gi").burst), (2300.0, Some(3500.0)));
        assert_eq!((at("513Gi").sustained, at("513Gi").burst), (5000.0, None));
        let error = limit("Standard_LRS", "size = \"32Ti\"").unwrap_err().to_string();
        assert!(error.contains("up to 32767 GiB"), "{error}");
    }

    #[test]
    fn options_are_refused_where_they_are_not_sold() {
        for (sku, more, words) in [
            ("Premium_LRS", "size = \"512Gi\"\non_demand_bursting = true", "more than 512 GiB"),
            ("StandardSSD_LRS", "size = \"1Ti\"\non_demand_bursting = true", "does not burst on demand"),
            ("Premium_LRS", "size = \"64Gi\"\nperformance_plus = true", "has no performance plus"),
            (
                "Premium_LRS",
                "size = \"1Ti\"\ntier = \"P50\"\nperformance_plus = true",
                "P30 set to P50 with performance plus as well is documented nowhere: leave one of the two out",
            ),
            ("StandardSSD_LRS", "size = \"64Gi\"\ntier = \"E50\"", "has no performance tiers"),
            ("Premium_LRS", "size = \"1Ti\"\ntier = \"P60\"", "P30 can be set to P40, P50, not to P60"),
            ("Premium_LRS", "", "give the provisioned size"),
        ] {
            let error = limit(sku, more).unwrap_err().to_string();
            assert!(error.contains(words), "{more}: {error}");
        }
        let own = limit("Premium_LRS", "size = \"1Ti\"\ntier = \"P30\"\nperformance_plus = true").unwrap().1;
        assert_eq!(own, limit("Premium_LRS", "size = \"1Ti\"\nperformance_plus = true").unwrap().1);
        let (name, limit) = limit("Premium_LRS", "size = \"1Ti\"\ntier = \"p50\"").unwrap();
        assert_eq!(name, "P30 (Premium SSD of 1 TiB) set to P50");
        assert_eq!(limit.operations.unwrap().sustained, 7500.0);
    }

    #[test]
    fn a_disk_that_bursts_on_demand_has_no_credits() {
        let (_, limit) = limit("Premium_LRS", "size = \"1Ti\"\non_demand_bursting = true").unwrap();
        assert_eq!((limit.operations, limit.bytes), (Some(credit(30_000.0, None)), Some(credit(1e9, None))));
    }

    #[test]
    fn every_size_is_of_one_product_and_sizes_grow() {
        for pair in TIERS.windows(2) {
            let same = pair[0].product().name == pair[1].product().name;
            assert!(!same || pair[0].size_gib < pair[1].size_gib, "{} {}", pair[0].name, pair[1].name);
        }
        assert_eq!(TIERS.len(), 39);
        assert!(TIERS.iter().all(|tier| tier.max_shares > 0));
    }
}
