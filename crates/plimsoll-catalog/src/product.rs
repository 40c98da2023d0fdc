//! The products of the clouds: what each is called, and how its limits follow from what was bought.

use plimsoll_workload::{provisioned::Provisioned, units::Bandwidth};
use serde::Serialize;

use crate::{
    aws, azure,
    ceiling::{Ceiling, GIB, TIB},
    error::CatalogError,
    gcp,
};

/// Who sells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Microsoft Azure.
    Azure,
    /// Amazon Web Services.
    Aws,
    /// Google Cloud.
    Gcp,
    /// Whoever wrote the file of limits of one's own.
    Own,
}

/// Something that is sold.
#[derive(Debug)]
pub struct Product {
    /// What it is called, in the words of its interface where it has one.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Who sells it.
    pub provider: Provider,
    /// What it is, in a few words.
    pub about: &'static str,
    /// How its limits follow, for people.
    pub rules: &'static [&'static str],
    /// What is not known, or contradicts itself.
    pub doubts: &'static [&'static str],
    /// Where that stands.
    pub sources: &'static [&'static str],
    /// What one disk, volume or share of it lets through, and perhaps its pool.
    pub(crate) ceilings: fn(&Self, &Provisioned) -> Result<Vec<Ceiling>, CatalogError>,
}

/// All products.
pub static PRODUCTS: &[&[Product]] = &[
    azure::managed_disks::PRODUCTS,
    azure::provisioned_disks::PRODUCTS,
    azure::elastic_san::PRODUCTS,
    azure::files::PRODUCTS,
    azure::netapp::PRODUCTS,
    azure::blob::PRODUCTS,
    azure::temporary_disks::PRODUCTS,
    aws::volumes::PRODUCTS,
    aws::files::PRODUCTS,
    gcp::persistent_disks::PRODUCTS,
    gcp::hyperdisks::PRODUCTS,
    gcp::filestore::PRODUCTS,
    gcp::local_ssd::PRODUCTS,
];

/// All products, one after another.
pub fn products() -> impl Iterator<Item = &'static Product> {
    PRODUCTS.iter().flat_map(|products| products.iter())
}

impl Product {
    /// Whether a name is one of its names.
    pub fn is_called(&self, name: &str) -> bool {
        self.names().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Whether it is part of a machine.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self.name, "azure-temporary-disk" | "azure-local-nvme" | "gcp-local-ssd")
    }

    /// All its names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Its provisioned size in GiB.
    pub(crate) fn size_gib(&self, provisioned: &Provisioned) -> Result<f64, CatalogError> {
        match provisioned.size {
            Some(size) if size.0 > 0 => Ok(size.0 as f64 / GIB),
            Some(_) => Err(self.impossible("a size of 0 holds nothing")),
            None => Err(self.incomplete("its limits follow from its size: give the provisioned size, as 1Ti")),
        }
    }

    /// The same within the sizes that are sold.
    pub(crate) fn size_gib_within(&self, provisioned: &Provisioned, min: f64, max: f64) -> Result<f64, CatalogError> {
        let size = self.size_gib(provisioned)?;
        if size < min || size > max {
            return Err(self.impossible(&format!("is sold from {} to {}, not with {}", gib(min), gib(max), gib(size))));
        }
        Ok(size)
    }

    /// Provisioned operations a second, within what can be bought.
    pub(crate) fn iops_within(
        &self,
        provisioned: &Provisioned,
        included: f64,
        max: f64,
        of: &str,
    ) -> Result<f64, CatalogError> {
        let iops = provisioned.iops.map_or(included, |iops| iops as f64);
        if iops > max {
            return Err(self.impossible(&format!("{of} can have at most {max} IOPS, not {iops}")));
        }
        Ok(iops.max(included))
    }

    /// Provisioned bytes a second, within what can be bought.
    pub(crate) fn bandwidth_within(
        &self,
        provisioned: &Provisioned,
        included: f64,
        max: f64,
        of: &str,
    ) -> Result<f64, CatalogError> {
        let bandwidth = provisioned.bandwidth.map_or(included, |bandwidth| bandwidth.0 as f64);
        if bandwidth > max {
            let [max, asked] = [max, bandwidth].map(|bytes| Bandwidth(bytes as u64));
            return Err(self.impossible(&format!("{of} can have at most {max}/s, not {asked}/s")));
        }
        Ok(bandwidth.max(included))
    }

    /// That something was not said.
    pub(crate) fn incomplete(&self, what: &str) -> CatalogError {
        CatalogError::Incomplete { product: self.name.to_owned(), what: what.to_owned() }
    }

    /// That it cannot be bought.
    pub(crate) fn impossible(&self, why: &str) -> CatalogError {
        CatalogError::Impossible { product: self.name.to_owned(), why: why.to_owned() }
    }
}

/// A size as products are named by it.
pub(crate) fn gib(size: f64) -> String {
    let in_tib = size * GIB / TIB;
    if size >= 1024.0 && in_tib.fract().abs() < 1e-9 { format!("{in_tib} TiB") } else { format!("{size} GiB") }
}
