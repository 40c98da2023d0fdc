//! Where pods have volumes: from a path to what lies there.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{Described, Objects, shortened};

/// A path of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) pod: String,
    pub(super) path: PathBuf,
    pub(super) owner: Owner,
}

/// What lies at a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// A volume, by its place among all that are described.
    Volume(usize),
    /// A claim of which there is no object.
    Missing(String),
    /// Something of a pod that is no claim.
    Other,
}

/// What lies at a path, as far as objects tell.
#[derive(Clone, Debug, PartialEq)]
pub enum Found<'a> {
    /// This volume.
    Volume(&'a Described),
    /// Different things in different pods.
    Several(String),
    /// Something of which nothing is known, in a few words.
    Unknown(String),
    /// No pod has anything there.
    Nothing,
}

impl Objects {
    /// Whether pods are among the objects, and have volumes.
    pub fn has_paths(&self) -> bool {
        self.mounts.iter().any(|mount| mount.owner != Owner::Other)
    }

    /// What lies at an absolute path: the deepest mount counts, in the pod that has the name of this host if there is
    /// one, else in all.
    pub fn at(&self, path: &Path, host: Option<&str>) -> Found<'_> {
        let is_here = self.mounts.iter().any(|mount| Some(mount.pod.as_str()) == host);
        let around = self
            .mounts
            .iter()
            .filter(|mount| path.starts_with(&mount.path) && (!is_here || Some(mount.pod.as_str()) == host));
        let depth = |mount: &Mount| mount.path.components().count();
        let Some(deepest) = around.clone().map(depth).max() else { return Found::Nothing };
        let owners: BTreeSet<&Owner> =
            around.filter(|mount| depth(mount) == deepest).map(|mount| &mount.owner).collect();
        let what = |owner: &&Owner| match owner {
            Owner::Volume(index) => self.all[*index].what.clone(),
            Owner::Missing(claim) => format!("claim {claim}, which is not in the file"),
            Owner::Other => "a volume of a pod that is no claim".to_owned(),
        };
        match owners.iter().next() {
            Some(Owner::Volume(index)) if owners.len() == 1 => Found::Volume(&self.all[*index]),
            Some(owner) if owners.len() == 1 => Found::Unknown(what(owner)),
            _ => Found::Several(shortened(owners.iter().map(what).collect::<Vec<_>>().iter())),
        }
    }
}
