//! Blob containers that are mounted: nobody says what a mount of one delivers.

use plimsoll_workload::provisioned::Provisioned;

use crate::{
    ceiling::{Ceiling, Limits},
    error::CatalogError,
    product::{Product, Provider},
};

pub(crate) static PRODUCTS: &[Product] = &[Product {
    name: "azure-blob",
    aliases: &["blobfuse"],
    provider: Provider::Azure,
    about: "Blob container mounted by NFS 3.0 or BlobFuse",
    rules: &["no limit of a mount is documented: the account's, the network's and the client's cache bind it"],
    doubts: &["a BlobFuse mount answers from a cache on the machine's own disk"],
    sources: &["azure-blob-limits", "aks-concepts-storage"],
    ceilings,
}];

fn ceilings(product: &Product, _: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    Ok(vec![Ceiling {
        notes: product.rules.iter().chain(product.doubts).map(|text| (*text).to_owned()).collect(),
        ..product.ceiling(product.about.to_owned(), Limits::UNKNOWN)
    }])
}
