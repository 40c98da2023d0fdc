//! The products that a need is held against, and what can be chosen of each. What follows from a choice is told by the
//! product itself; storage that belongs to a machine, and what is paid as it is used, is not among them, because
//! nothing is provisioned there.

use crate::ceiling::{MB, MIB};

/// A product, and what can be chosen of it.
#[derive(Debug)]
pub(super) struct Family {
    /// The product's name.
    pub(super) product: &'static str,
    /// What can be chosen.
    pub(super) shape: Shape,
}

/// What can be chosen of a product.
#[derive(Debug)]
pub(super) enum Shape {
    /// One of several sizes.
    Tiers,
    /// A size, from which all follows.
    Sized(Sizes),
    /// A size, and that of the pool that it is a part of, in TiB.
    Pooled(Sizes),
    /// A size and performance.
    Provisioned(Provision),
}

/// From which size to which it is sold, in GiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// `None` where no document says.
    pub(super) least: Option<u64>,
    pub(super) most: u64,
}

/// What is provisioned besides a size.
#[derive(Debug)]
pub(super) struct Provision {
    pub(super) sizes: Sizes,
    /// Operations per second, where they are bought.
    pub(super) iops: Option<Axis>,
    /// Bytes per second, in the product's unit, where they are bought.
    pub(super) bandwidth: Option<Axis>,
    /// Bytes of that unit.
    pub(super) unit: f64,
    /// The least that is bought for each GiB, where a large one may not have little.
    pub(super) least_per_gib: f64,
}

/// How much of something can be bought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// What is part of the price of the size.
    pub(super) included: u64,
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Family {
    /// Bytes of the unit in which throughput is bought.
    pub(super) const fn unit(&self) -> f64 {
        match &self.shape {
            Shape::Provisioned(provision) => provision.unit,
            Shape::Tiers | Shape::Sized(_) | Shape::Pooled(_) => MB,
        }
    }

    /// Whether it is documented what the smallest size is.
    pub(super) const fn least_size_is_known(&self) -> bool {
        match &self.shape {
            Shape::Provisioned(provision) => provision.sizes.least.is_some(),
            Shape::Sized(sizes) | Shape::Pooled(sizes) => sizes.least.is_some(),
            Shape::Tiers => true,
        }
    }
}

const fn sizes(least: u64, most: u64) -> Sizes {
    Sizes { least: Some(least), most }
}

/// The least size is in none of the documents.
const fn sizes_up_to(most: u64) -> Sizes {
    Sizes { least: None, most }
}

const fn axis(included: u64, least: u64, most: u64) -> Option<Axis> {
    Some(Axis { included, least, most })
}

const fn tiers(product: &'static str) -> Family {
    Family { product, shape: Shape::Tiers }
}

const fn sized(product: &'static str, sizes: Sizes) -> Family {
    Family { product, shape: Shape::Sized(sizes) }
}

const fn provisioned(
    product: &'static str,
    sizes: Sizes,
    iops: Option<Axis>,
    bandwidth: Option<Axis>,
    unit: f64,
) -> Family {
    bound(product, sizes, iops, bandwidth, unit, 0.0)
}

const fn bound(
    product: &'static str,
    sizes: Sizes,
    iops: Option<Axis>,
    bandwidth: Option<Axis>,
    unit: f64,
    least_per_gib: f64,
) -> Family {
    Family { product, shape: Shape::Provisioned(Provision { sizes, iops, bandwidth, unit, least_per_gib }) }
}

/// All families, each seller's most usual first.
pub(super) static FAMILIES: &[Family] = &[
    tiers("Premium_LRS"),
    provisioned("PremiumV2_LRS", sizes(1, 65_536), axis(3000, 3000, 80_000), axis(125, 125, 2000), MB),
    provisioned("UltraSSD_LRS", sizes(4, 65_536), axis(0, 100, 400_000), axis(0, 1, 10_000), MB),
    tiers("StandardSSD_LRS"),
    tiers("Standard_LRS"),
    Family { product: "elastic-san", shape: Shape::Pooled(sizes(1, 65_536)) },
    sized("azure-files-ssd-v1", sizes(100, 102_400)),
    provisioned("azure-files-ssd-v2", sizes(32, 262_144), axis(0, 3000, 102_400), axis(0, 100, 10_340), MIB),
    provisioned("azure-files-hdd-v2", sizes(32, 262_144), axis(0, 500, 50_000), axis(0, 60, 5120), MIB),
    provisioned("gp3", sizes(1, 65_536), axis(3000, 3000, 80_000), axis(125, 125, 2000), MIB),
    sized("gp2", sizes(1, 16_384)),
    provisioned("io1", sizes(4, 16_384), axis(0, 100, 64_000), None, MIB),
    provisioned("io2", sizes(4, 65_536), axis(0, 100, 256_000), None, MIB),
    sized("st1", sizes(125, 16_384)),
    sized("sc1", sizes(125, 16_384)),
    sized("pd-balanced", sizes(10, 65_536)),
    sized("pd-ssd", sizes(10, 65_536)),
    sized("pd-standard", sizes(10, 65_536)),
    provisioned("pd-extreme", sizes_up_to(65_536), axis(0, 10_000, 120_000), None, MIB),
    provisioned("hyperdisk-balanced", sizes_up_to(65_536), axis(3000, 3000, 160_000), axis(140, 140, 2400), MIB),
    provisioned(
        "hyperdisk-balanced-high-availability",
        sizes_up_to(65_536),
        axis(3000, 3000, 100_000),
        axis(140, 140, 2400),
        MIB,
    ),
    bound("hyperdisk-extreme", sizes_up_to(65_536), axis(0, 1, 350_000), None, MIB, 2.0),
    bound("hyperdisk-throughput", sizes_up_to(65_536), None, axis(0, 1, 2400), MIB, 10.0 / 1024.0),
    bound("hyperdisk-ml", sizes_up_to(65_536), None, axis(0, 400, 1_200_000), MIB, 0.12),
    sized("filestore-zonal", sizes(1024, 102_400)),
];

#[cfg(test)]
mod tests {
    use plimsoll_workload::{
        provisioned::Provisioned,
        units::{Bandwidth, ByteCount},
    };

    use super::*;
    use crate::product::{Product, products};

    fn product(family: &Family) -> &'static Product {
        products().find(|product| product.name == family.product).unwrap_or_else(|| panic!("{}", family.product))
    }

    #[test]
    fn sizes_that_can_be_chosen_are_those_that_the_product_is_sold_in() {
        for family in FAMILIES {
            let (sizes, rates) = match &family.shape {
                Shape::Tiers => {
                    product(family);
                    continue;
                }
                Shape::Sized(sizes) | Shape::Pooled(sizes) => (sizes, (None, None)),
                Shape::Provisioned(provision) => {
                    (&provision.sizes, (provision.iops.as_ref(), provision.bandwidth.as_ref()))
                }
            };
            let of_gib = |gib: u64, most: bool| {
                let least = |axis: &Axis| if most { axis.most } else { axis.least };
                let provisioned = Provisioned {
                    size: Some(ByteCount(gib << 30)),
                    iops: rates.0.map(least),
                    bandwidth: rates.1.map(|axis| Bandwidth((least(axis) as f64 * family.unit()) as u64)),
                    ..Provisioned::default()
                };
                (product(family).ceilings)(product(family), &provisioned)
            };
            let name = family.product;
            assert!(of_gib(sizes.most, true).is_ok(), "{name}: the most of all");
            if let Some(least) = sizes.least {
                assert!(of_gib(least, false).is_ok(), "{name}: the least of all");
                assert!(of_gib(least - 1, false).is_err(), "{name}: less than {least} GiB");
                assert!(of_gib(sizes.most + 1, true).is_err(), "{name}: more than {} GiB", sizes.most);
            }
        }
    }
}
