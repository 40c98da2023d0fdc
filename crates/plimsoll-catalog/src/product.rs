//! The products of the clouds: what each is called, and how its limits follow from what was bought.

use std::fmt;

use plimsoll_workload::{provisioned::Provisioned, units::Bandwidth};
use serde::Serialize;

use crate::{
    aws, azure,
    ceiling::{Ceiling, GIB, Limits, Part, TIB, Tolerance},
    error::CatalogError,
    gcp,
    source::Source,
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

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Azure => "Azure",
            Self::Aws => "AWS",
            Self::Gcp => "Google Cloud",
            Self::Own => "one's own",
        })
    }
}

/// How a storage is reached from a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It is part of the machine, whose limits of remote disks do not bind it.
    Inside,
    /// As a disk that is attached: the machine's limits of remote disks bind it.
    Attached,
    /// Over the machine's network, of which the catalog knows no limits.
    Network,
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

    /// What it lets through, by its own sources and as exactly as most products keep it.
    pub(crate) fn ceiling(&self, name: String, limits: Limits) -> Ceiling {
        Ceiling {
            part: Part::Disk,
            name,
            limits,
            tolerance: Tolerance::USUAL,
            sources: self.sources.iter().map(|id| Source::of(id)).collect(),
            notes: Vec::new(),
        }
    }

    /// What is not certain of it.
    pub(crate) fn doubts(&self) -> Vec<String> {
        self.doubts.iter().map(|doubt| (*doubt).to_owned()).collect()
    }

    /// How it is reached.
    pub(crate) fn way(&self) -> Way {
        match self.name {
            "azure-temporary-disk" | "azure-local-nvme" | "gcp-local-ssd" => Way::Inside,
            "elastic-san" | "azure-blob" | "fsx" => Way::Network,
            name if ["azure-files", "netapp", "efs", "filestore"].iter().any(|kind| name.starts_with(kind)) => {
                Way::Network
            }
            _ => Way::Attached,
        }
    }

    /// Whether disks of it on a machine are one whose size is the sum of theirs.
    pub(crate) fn adds_sizes_up(&self) -> bool {
        matches!(self.name, "pd-standard" | "pd-balanced" | "pd-ssd")
    }

    /// Refuses what is not sold apart from the size.
    pub(crate) fn refuse_provisioned(&self, provisioned: &Provisioned) -> Result<(), CatalogError> {
        let given = [
            ("IOPS", provisioned.iops.is_some()),
            ("throughput", provisioned.bandwidth.is_some()),
            ("pool", provisioned.pool.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((what, _)) => Err(self.impossible(&format!(
                "no {what} of its own can be bought: what it does follows from its size, so leave that out"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses options of managed disks, where it is none.
    pub(crate) fn refuse_options(&self, provisioned: &Provisioned) -> Result<(), CatalogError> {
        let given = [
            ("has no performance tiers: leave the tier out", provisioned.tier.is_some()),
            ("does not burst on demand: leave that out", provisioned.on_demand_bursting == Some(true)),
            ("has no performance plus: leave that out", provisioned.performance_plus == Some(true)),
        ];
        let is_managed = azure::managed_disks::PRODUCTS.iter().any(|managed| managed.name == self.name);
        match given.iter().find(|(_, is_given)| *is_given && !is_managed) {
            Some((why, _)) => Err(self.impossible(why)),
            None => Ok(()),
        }
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
            None => {
                Err(self.incomplete("its limits follow from its size: give the provisioned size, as --disk-size 1Ti"))
            }
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

    /// The same where all sizes have so many IOPS; `None` where no more were bought, so that the size changes nothing.
    pub(crate) fn size_gib_beyond(
        &self,
        provisioned: &Provisioned,
        included_iops: f64,
        min: f64,
        max: f64,
    ) -> Result<Option<f64>, CatalogError> {
        let are_included = provisioned.iops.is_none_or(|iops| iops as f64 <= included_iops);
        if provisioned.size.is_none() && are_included {
            return Ok(None);
        }
        self.size_gib_within(provisioned, min, max).map(Some)
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
        if iops < included {
            return Err(self.impossible(&format!("has at least {included} IOPS with {of}, not {iops}")));
        }
        if iops > max {
            return Err(self.impossible(&format!("{of} can have at most {max} IOPS, not {iops}")));
        }
        Ok(iops)
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
        if bandwidth < included {
            let [least, asked] = [included, bandwidth].map(|bytes| Bandwidth(bytes as u64));
            return Err(self.impossible(&format!("has at least {least}/s with {of}, not {asked}/s")));
        }
        if bandwidth > max {
            let [max, asked] = [max, bandwidth].map(|bytes| Bandwidth(bytes as u64));
            return Err(self.impossible(&format!("{of} can have at most {max}/s, not {asked}/s")));
        }
        Ok(bandwidth)
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

/// What is said instead of a size that changes nothing.
pub(crate) const ANY_SIZE: &str = "any size";

/// A name with a size, where that is known.
pub(crate) fn of_size(name: &str, size_gib: Option<f64>) -> String {
    size_gib.map_or_else(|| name.to_owned(), |size| format!("{name} of {}", gib(size)))
}

/// A size as products are named by it.
pub(crate) fn gib(size: f64) -> String {
    let in_tib = size * GIB / TIB;
    if size >= 1024.0 && in_tib.fract().abs() < 1e-9 {
        format!("{in_tib} TiB")
    } else if size.fract() == 0.0 {
        format!("{size} GiB")
    } else {
        plimsoll_record::numbers::bytes((size * GIB) as u64)
    }
}
