//! What an offer costs by the user's own prices. There are none in the catalog.

use plimsoll_workload::{provisioned::Provisioned, units::ByteCount};
use serde::Serialize;

use super::{
    families::{Axis, FAMILIES, Family, Shape},
    solving::Offer,
};
use crate::{
    azure::{elastic_san, managed_disks},
    catalog::{Catalog, Storage},
    ceiling::GIB,
    limits_file::Price,
    product::{Product, products},
};

/// What something costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// For a month.
    pub per_month: f64,
    /// In what.
    pub currency: String,
    /// Of when the price is.
    pub date: String,
    /// Which row of the user's file it follows from.
    pub row: String,
}

impl Cost {
    /// What was bought costs, all its disks together and without its machine. `None` where no row is about it; an error
    /// says why the row does not tell.
    pub fn of(provisioned: &Provisioned, catalog: &Catalog) -> Result<Option<Self>, String> {
        let Some(storage) = provisioned.sku.as_deref().and_then(|sku| catalog.storage(sku).ok()) else {
            return Ok(None);
        };
        let gib = |size: Option<ByteCount>| size.map(|size| size.0 as f64 / GIB);
        let billed = |tier: &'static managed_disks::Tier| (tier.name.as_str(), Some(tier.size_gib));
        let (name, size_gib) = match storage {
            Storage::Own(own) => (own.name.as_str(), gib(provisioned.size.or(own.size))),
            Storage::Tier(tier) => billed(tier.paid(provisioned)),
            Storage::Product(product) => match managed_disks::paid(product, provisioned) {
                Some(tier) => billed(tier),
                None => (product.name, gib(provisioned.size)),
            },
        };
        let product = catalog.product(name).map(|product| product.name);
        let family = FAMILIES.iter().find(|family| Some(family.product) == product);
        let mut provisioned = provisioned.clone();
        if family.is_some_and(|family| matches!(family.shape, Shape::Pooled(_))) {
            provisioned.pool = provisioned.pool.or(Some(elastic_san::LEAST_BASE));
        }
        let offer = Offer { name: name.to_owned(), provisioned: provisioned.clone(), size_gib };
        match (cost(family, &offer, catalog), family.and_then(|family| unsaid(family, &provisioned))) {
            (Ok(cost), Some(unsaid)) => {
                Err(format!("its {unsaid} are not said, and the row {} charges them", cost.row))
            }
            // Who pays for a pool pays for all disks that are in it.
            (Ok(cost), None) if provisioned.pool.is_some() => Ok(Some(cost)),
            (Ok(cost), None) if provisioned.on_demand_bursting == Some(true) => {
                Err(format!("bursts on demand cost more than the row {} has", cost.row))
            }
            (Ok(cost), None) => {
                let disks = f64::from(provisioned.disks.unwrap_or(1));
                Ok(Some(Self { per_month: cost.per_month * disks, ..cost }))
            }
            (Err(why), _) if why.is_empty() => Ok(None),
            (Err(why), _) => Err(why),
        }
    }
}

/// What is bought apart, without any that is included, and of which nothing was said.
fn unsaid(family: &Family, provisioned: &Provisioned) -> Option<&'static str> {
    let Shape::Provisioned(provision) = &family.shape else { return None };
    let is_charged = |axis: Option<Axis>| axis.is_some_and(|axis| axis.included == 0);
    match provisioned {
        Provisioned { iops: None, .. } if is_charged(provision.iops) => Some("IOPS"),
        Provisioned { bandwidth: None, .. } if is_charged(provision.bandwidth) => Some("MB/s"),
        _ => None,
    }
}

/// What an offer costs, or why that is not known.
pub(super) fn cost(family: Option<&Family>, offer: &Offer, catalog: &Catalog) -> Result<Cost, String> {
    let product = family.and_then(|family| products().find(|product| product.name == family.product));
    let of_product = product.into_iter().flat_map(Product::names).map(|name: &str| name);
    let names: Vec<&str> = std::iter::once(offer.name.as_str()).chain(of_product).collect();
    let price = catalog.price(&names).ok_or_else(String::new)?;
    let is_of_entry = price.name.eq_ignore_ascii_case(&offer.name);
    let missing = |what: &str| format!("the row {} has no {what}", price.name);
    let is_flat = matches!(family.map(|family| &family.shape), None | Some(Shape::Tiers)) && is_of_entry;
    if price.per_gib_month <= 0.0 && !(is_flat && price.per_month > 0.0) {
        return Err(missing("per_gib_month"));
    }
    let gib = match offer.paid_gib() {
        Some(gib) => gib,
        None if price.per_gib_month > 0.0 => return Err("its size is not known".to_owned()),
        None => 0.0,
    };
    let mut per_month = gib.mul_add(price.per_gib_month, price.per_month);
    if let Some(Shape::Provisioned(provision)) = family.map(|family| &family.shape) {
        let above = |bought: Option<f64>, axis: Option<Axis>| {
            bought.zip(axis).map_or(0.0, |(bought, axis)| (bought - axis.included as f64).max(0.0))
        };
        let iops = above(offer.provisioned.iops.map(|iops| iops as f64), provision.iops);
        let units = offer.provisioned.bandwidth.map(|bandwidth| bandwidth.0 as f64 / provision.unit);
        let units = above(units, provision.bandwidth);
        for (amount, each, name) in
            [(iops, price.per_iops_month, "per_iops_month"), (units, price.per_mbps_month, "per_mbps_month")]
        {
            if amount > 0.0 && each <= 0.0 {
                return Err(missing(name));
            }
            per_month += amount * each;
        }
    }
    let Price { name, currency, date, .. } = price;
    Ok(Cost { per_month, currency: currency.clone(), date: date.clone(), row: name.clone() })
}
