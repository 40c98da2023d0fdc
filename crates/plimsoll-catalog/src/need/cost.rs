//! What an offer costs by the user's own prices. There are none in the catalog.

use serde::Serialize;

use super::{
    families::{Family, Shape},
    solving::Offer,
};
use crate::{
    catalog::Catalog,
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
        let above = |bought: Option<f64>, axis: Option<super::families::Axis>| {
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
