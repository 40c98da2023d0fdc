//! The least of a product that holds a demand.
//!
//! More of anything never holds less, so that the least is found by halving; what follows from a choice, and whether it
//! can be bought, is asked of the catalog each time.

use plimsoll_workload::{
    limit::Part,
    provisioned::Provisioned,
    units::{Bandwidth, ByteCount},
};

use super::{
    demand::{Demand, Dimension, Lack},
    families::{Axis, Family, Provision, Shape, Sizes},
};
use crate::{
    azure::managed_disks,
    catalog::Catalog,
    ceiling::{Ceiling, GIB, TIB},
    error::CatalogError,
};

/// The most TiB of a pool that are looked at.
const POOL_TIB_MAX: u64 = 1024;

/// Something that can be bought.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Offer {
    /// What it is called: `P30`, `gp3`.
    pub(super) name: String,
    /// What to buy.
    pub(super) provisioned: Provisioned,
    /// What it holds, where that is known.
    pub(super) size_gib: Option<f64>,
}

/// What the next smaller one does not do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Smaller {
    /// It has too little.
    Lacks(String, Lack),
    /// It cannot be bought so.
    Refused(String),
    /// Nothing smaller is sold, or is known to be.
    None,
    /// It would do as well.
    Holds,
}

impl Offer {
    fn of(product: &str, size_gib: u64) -> Self {
        let size = ByteCount(size_gib * GIB as u64);
        let provisioned = Provisioned { sku: Some(product.to_owned()), size: Some(size), ..Provisioned::default() };
        Self { name: product.to_owned(), provisioned, size_gib: Some(size_gib as f64) }
    }

    fn of_tier(tier: &managed_disks::Tier) -> Self {
        let provisioned = Provisioned { sku: Some(tier.name.clone()), ..Provisioned::default() };
        Self { name: tier.name.clone(), provisioned, size_gib: Some(tier.size_gib) }
    }

    /// The GiB that are paid for.
    pub(super) fn paid_gib(&self) -> Option<f64> {
        self.provisioned.pool.map(|pool| pool.0 as f64 / GIB).or(self.size_gib)
    }

    /// What it lets through.
    pub(super) fn ceilings(&self, catalog: &Catalog) -> Result<Vec<Ceiling>, CatalogError> {
        catalog.storage_ceilings(&self.name, &self.provisioned)
    }

    /// What it has too little of.
    pub(super) fn lack(&self, demand: &Demand, catalog: &Catalog) -> Result<Option<Lack>, CatalogError> {
        Ok(demand.lack_of_size(self.size_gib).or(demand.lack(&self.ceilings(catalog)?)))
    }

    fn holds(&self, demand: &Demand, catalog: &Catalog) -> bool {
        matches!(self.lack(demand, catalog), Ok(None))
    }

    /// GiB that are paid for, and provisioned operations and bytes per second.
    pub(super) fn amounts(&self) -> [f64; 3] {
        let Provisioned { iops, bandwidth, .. } = self.provisioned;
        let bytes = bandwidth.map_or(0, |bandwidth| bandwidth.0);
        [self.paid_gib().unwrap_or(0.0), iops.unwrap_or(0) as f64, bytes as f64]
    }
}

/// What holds a demand: of sizes all that do, smallest first, and else the least; or what the most of it lacks.
pub(super) fn offers(family: &Family, demand: &Demand, catalog: &Catalog) -> Result<Vec<Offer>, Lack> {
    let most = |offer: Offer| match offer.lack(demand, catalog) {
        Ok(Some(lack)) => lack,
        Ok(None) | Err(_) => unknown(demand),
    };
    match &family.shape {
        Shape::Tiers => {
            let all: Vec<Offer> = tiers(family.product).map(Offer::of_tier).collect();
            let largest = all.last().cloned();
            let holding: Vec<Offer> = all.into_iter().filter(|offer| offer.holds(demand, catalog)).collect();
            match largest.filter(|_| holding.is_empty()) {
                Some(largest) => Err(most(largest)),
                None => Ok(holding),
            }
        }
        Shape::Sized(sizes) => {
            let of = |size| Offer::of(family.product, size);
            let found = least_size(*sizes, demand, |size| of(size).holds(demand, catalog));
            found.map(|size| vec![of(size)]).ok_or_else(|| most(of(sizes.most)))
        }
        Shape::Pooled(sizes) => pooled(family.product, *sizes, demand, catalog).map(|offer| vec![offer]),
        Shape::Provisioned(provision) => {
            provisioned(family.product, provision, demand, catalog).map(|offer| vec![offer])
        }
    }
}

/// What the next smaller one of a product does not do.
pub(super) fn smaller(family: &Family, offer: &Offer, demand: &Demand, catalog: &Catalog) -> Smaller {
    let other = match &family.shape {
        Shape::Tiers => {
            let below = tiers(family.product).take_while(|tier| tier.name != offer.name).last();
            below.map(Offer::of_tier)
        }
        Shape::Sized(sizes) | Shape::Pooled(sizes) => one_gib_less(family.product, offer, *sizes),
        Shape::Provisioned(provision) => one_gib_less(family.product, offer, provision.sizes),
    };
    let Some(other) = other else { return Smaller::None };
    match other.lack(demand, catalog) {
        Ok(Some(lack)) => {
            let name = match family.shape {
                Shape::Tiers => other.name,
                _ => String::new(),
            };
            Smaller::Lacks(name, lack)
        }
        Err(CatalogError::Impossible { why, .. }) => Smaller::Refused(why),
        Ok(None) | Err(_) => Smaller::Holds,
    }
}

fn tiers(product: &str) -> impl Iterator<Item = &'static managed_disks::Tier> {
    managed_disks::tiers().iter().filter(move |tier| tier.product().name == product)
}

fn one_gib_less(product: &str, offer: &Offer, sizes: Sizes) -> Option<Offer> {
    let size = offer.size_gib? as u64;
    let less = size.checked_sub(1).filter(|less| *less >= sizes.least.unwrap_or(1))?;
    let mut other = Offer::of(product, less);
    other.provisioned = Provisioned { size: other.provisioned.size, ..offer.provisioned.clone() };
    Some(other)
}

/// What cannot be told, as what is asked first and nobody knows.
fn unknown(demand: &Demand) -> Lack {
    let (dimension, needs) = match demand.dimensions().next() {
        Some(Dimension::Bandwidth) => (Dimension::Bandwidth, demand.bytes_per_second.together()),
        Some(Dimension::Size) => (Dimension::Size, demand.size_gib as f64),
        Some(Dimension::Iops) | None => (Dimension::Iops, demand.iops.together()),
    };
    Lack { dimension, has: None, needs, part: Part::Disk }
}

/// The least of a range that holds, where everything above it does too.
fn least(from: u64, to: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if from > to || !holds(to) {
        return None;
    }
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

fn least_size(sizes: Sizes, demand: &Demand, holds: impl Fn(u64) -> bool) -> Option<u64> {
    least(sizes.least.unwrap_or(1).max(demand.size_gib), sizes.most, holds)
}

/// A volume and its pool: the pool as if the volume were in no way, and then the volume.
fn pooled(product: &str, sizes: Sizes, demand: &Demand, catalog: &Catalog) -> Result<Offer, Lack> {
    let of = |size: u64, pool_tib: u64| {
        let mut offer = Offer::of(product, size);
        offer.provisioned.pool = Some(ByteCount(pool_tib * TIB as u64));
        offer
    };
    let holds = |size, pool| of(size, pool).holds(demand, catalog);
    let most = || of(sizes.most, POOL_TIB_MAX).lack(demand, catalog).ok().flatten().unwrap_or(unknown(demand));
    let pool = least(1, POOL_TIB_MAX, |pool| holds(sizes.most, pool)).ok_or_else(most)?;
    let size = least_size(sizes, demand, |size| holds(size, pool)).ok_or_else(most)?;
    Ok(of(size, pool.max(size.div_ceil(1024))))
}

/// A size and performance: performance as if the largest that may have so little were bought, and then the size that
/// may have it.
fn provisioned(product: &str, provision: &Provision, demand: &Demand, catalog: &Catalog) -> Result<Offer, Lack> {
    let Provision { sizes, iops, bandwidth, unit, least_per_gib } = provision;
    let of = |size: u64, iops: Option<u64>, units: Option<u64>| {
        let mut offer = Offer::of(product, size);
        offer.provisioned.iops = iops;
        offer.provisioned.bandwidth = units.map(|units| Bandwidth(units * *unit as u64));
        offer
    };
    let bytes = demand.bytes_together();
    let least_units = bandwidth.map(|axis| axis.least.max((bytes / unit).ceil() as u64));
    if let Some((units, Axis { most, .. })) = least_units.zip(*bandwidth)
        && units > most
    {
        let has = Some(most as f64 * unit);
        return Err(Lack { dimension: Dimension::Bandwidth, has, needs: bytes, part: Part::Disk });
    }
    let most_gib = |amount: Option<u64>| match amount {
        Some(amount) => sizes.most.min((amount as f64 / least_per_gib) as u64).max(1),
        None => sizes.most,
    };
    let largest = |iops: Option<u64>, units| of(most_gib(iops.or(units)), iops, units);
    let lacking = |offer: Offer| offer.lack(demand, catalog).ok().flatten().unwrap_or(unknown(demand));
    let (iops, units) = match (*iops, *bandwidth) {
        (Some(axis), _) => {
            let found = least(axis.least, axis.most, |iops| largest(Some(iops), least_units).holds(demand, catalog));
            (Some(found.ok_or_else(|| lacking(largest(Some(axis.most), least_units)))?), least_units)
        }
        (None, Some(axis)) => {
            let from = least_units.unwrap_or(axis.least);
            let found = least(from, axis.most, |units| largest(None, Some(units)).holds(demand, catalog));
            (None, Some(found.ok_or_else(|| lacking(largest(None, Some(axis.most))))?))
        }
        (None, None) => (None, None),
    };
    let sizes = Sizes { most: most_gib(iops.or(units)), ..*sizes };
    let size = least_size(sizes, demand, |size| of(size, iops, units).holds(demand, catalog));
    let size = size.ok_or_else(|| lacking(largest(iops, units)))?;
    Ok(of(size, iops, units))
}
