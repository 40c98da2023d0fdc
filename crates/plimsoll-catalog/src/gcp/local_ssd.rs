//! Local SSDs: known from old copies alone.

use plimsoll_workload::provisioned::Provisioned;

use crate::{
    ceiling::{Ceiling, InCommon, Limits, lasting},
    error::CatalogError,
    product::{Product, Provider},
};

pub(crate) static PRODUCTS: &[Product] = &[Product {
    name: "gcp-local-ssd",
    aliases: &["local-ssd"],
    provider: Provider::Gcp,
    about: "Local SSD by NVMe",
    rules: &["four disks of 375 GB: 680,000 reads and 360,000 writes a second; a quarter for each"],
    doubts: &["a table of about 2018: newer machines have more"],
    sources: &["gcp-local-ssd"],
    ceilings,
}];

fn ceilings(product: &Product, _: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let limits = Limits::ByDirection {
        read: lasting(Some(170_000.0), None),
        write: lasting(Some(90_000.0), None),
        in_common: InCommon::NOTHING,
    };
    Ok(vec![Ceiling { notes: product.doubts(), ..product.ceiling("Local SSD of 375 GB".to_owned(), limits) }])
}
