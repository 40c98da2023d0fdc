//! Objects of a Kubernetes cluster, as `kubectl get -o yaml` or `-o json` prints them: which volumes they describe,
//! and what each was bought as.
//!
//! Everything may be absent: a StorageClass alone says a product, a PersistentVolume a size besides, a node a machine.
//! [`kinds`] reads, [`describing`] puts together what belongs together, [`mounts`] knows where pods have it.

mod describing;
mod kinds;
mod mounts;

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_workload::provisioned::Provisioned;

pub use self::mounts::Found;
use self::{kinds::Kinds, mounts::Mount};
use crate::{
    azure::managed_disks,
    catalog::Catalog,
    error::CatalogError,
    expectation::Expectation,
    storage_class::{self, VolumeParameters},
};

/// What prints all that is read.
pub const KUBECTL: &str = "kubectl get -A storageclass,volumeattachment,pvc,pv,node,pod -o yaml";

/// The volumes and classes that objects describe.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// Volumes and claims first, then classes.
    all: Vec<Described>,
    /// What each name stands for; some stand for several.
    names: BTreeMap<String, BTreeSet<usize>>,
    mounts: Vec<Mount>,
}

/// A volume, or a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// What it is, as a person would say: `claim shop/data`, `class managed-csi`.
    pub what: String,
    /// Whether it is a class.
    pub is_class: bool,
    /// What it was bought as, or why that is not known.
    pub bought: Result<Provisioned, String>,
    /// What would have been known, had there been more objects or a greater catalog.
    pub notes: Vec<String>,
    /// What its driver is told, of a class: what it buys follows from the size of a volume.
    told: Option<VolumeParameters>,
}

impl Objects {
    /// What the objects of a text describe: one object, a list, or several documents.
    pub fn read(file: &str, text: &str, catalog: &Catalog) -> Result<Self, CatalogError> {
        let kinds = Kinds::read(text).map_err(|problem| CatalogError::File { file: file.to_owned(), problem })?;
        Ok(describing::describe(&kinds, catalog))
    }

    /// All of them.
    pub fn all(&self) -> &[Described] {
        &self.all
    }

    /// The only volume, or the only class where there is no volume.
    pub fn only(&self) -> Option<&Described> {
        let are_classes = self.all.iter().all(|described| described.is_class);
        let mut of_kind = self.all.iter().filter(|described| described.is_class == are_classes);
        of_kind.next().filter(|_| of_kind.next().is_none())
    }

    /// The volume or class of a name: a claim, with or without its namespace, a volume or a class.
    pub fn named(&self, name: &str) -> Result<&Described, CatalogError> {
        let name = name.to_owned();
        match self.names.get(&name).map(|meant| meant.iter().map(|index| &self.all[*index]).collect::<Vec<_>>()) {
            Some(meant) if meant.len() == 1 => Ok(meant[0]),
            Some(meant) => {
                Err(CatalogError::SeveralObjects { name, meant: shortened(meant.iter().map(|one| &one.what)) })
            }
            None => Err(CatalogError::NoObject { name, known: shortened(self.names.keys()) }),
        }
    }

    /// The names that stand for one volume or class, with what each stands for.
    pub fn names(&self) -> impl Iterator<Item = (&str, &Described)> {
        let only = |meant: &BTreeSet<usize>| meant.first().filter(|_| meant.len() == 1).copied();
        self.names.iter().filter_map(move |(name, meant)| Some((name.as_str(), &self.all[only(meant)?])))
    }

    /// All of them in a few words.
    pub fn summary(&self) -> String {
        shortened(self.all.iter().map(|described| &described.what))
    }
}

impl Described {
    /// What it was bought as, as far as that was not said, or why nothing can be expected of it.
    ///
    /// Who names another product means that what is known of this one does not hold.
    pub fn completing(&self, said: &Provisioned, catalog: &Catalog) -> Result<Provisioned, String> {
        let mut bought = self.bought.clone()?;
        if said.sku.is_some() && said.sku != bought.sku {
            // A name of a size says it already.
            let size = bought.size.filter(|_| said.sku.as_deref().is_none_or(|sku| managed_disks::tier(sku).is_none()));
            bought = Provisioned { size, vm: bought.vm, ..Provisioned::default() };
        } else if let (Some(told), Some(size)) = (&self.told, said.size.filter(|size| Some(*size) != bought.size)) {
            let told = VolumeParameters { capacity_bytes: Some(size.0), ..told.clone() };
            let of_size = storage_class::provisioned(&told).map_err(|error| error.to_string())?;
            bought = of_size.map_or(bought.clone(), |of_size| Provisioned { vm: bought.vm, ..of_size });
        }
        Expectation::of(&said.clone().or(&bought), catalog).map_err(|error| error.to_string())?;
        Ok(bought)
    }
}

/// Names to choose from: the first of them, where there are many.
fn shortened<'a>(names: impl Iterator<Item = &'a String>) -> String {
    const NAMES_MAX: usize = 12;
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    let some = names.iter().take(NAMES_MAX).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => some,
        more => format!("{some} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
