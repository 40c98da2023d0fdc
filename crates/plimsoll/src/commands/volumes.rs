//! What volumes of a cluster were bought as, from a file of its objects: for the targets of a run, or for results that
//! name them.

use std::path;

use anyhow::{Context, anyhow, bail};
use plimsoll_catalog::{
    catalog::Catalog,
    objects::{self, Described, Objects},
};
use plimsoll_record::record::Record;
use plimsoll_workload::provisioned::{Provisioned, Provisioning};

use super::dialect;
use crate::{cli::provisioned::ProvisionedArguments, printer::Printer};

/// The volumes and classes that a file describes.
pub(super) struct Volumes {
    file: String,
    described: Vec<Described>,
    /// Which is meant, when somebody said it.
    choice: Option<Described>,
}

impl Volumes {
    /// The volumes of `--kubernetes`, if it is given.
    pub(super) fn read(arguments: &ProvisionedArguments, catalog: &Catalog) -> anyhow::Result<Option<Self>> {
        let Some(path) = &arguments.kubernetes else { return Ok(None) };
        let text = dialect::read_text(path)?;
        let file = path.display().to_string();
        let described = Objects::read(&file, &text)?.describe(catalog);
        let choose = |name: &String| objects::named(&described, name).cloned();
        let choice = arguments.volume.as_ref().map(choose).transpose().with_context(|| file.clone())?;
        Ok(Some(Self { file, described, choice }))
    }

    /// What the one that is meant was bought as, or the only one there is.
    pub(super) fn one(&self, printer: Printer) -> anyhow::Result<Provisioned> {
        let one = self.meant()?;
        one.notes.iter().for_each(|note| printer.note(format!("{}: {note}", one.what)));
        one.bought.clone().map_err(|reason| anyhow!("{}: {}: {reason}", self.file, one.what))
    }

    /// What the targets of a run were bought as: by the paths that pods have volumes at, or the one volume for all.
    pub(super) fn of_targets(&self, targets: &[String], printer: Printer) -> anyhow::Result<Provisioning> {
        let at = |target: &str, volume: &str| path::absolute(target).is_ok_and(|target| target.starts_with(volume));
        let mut found = Provisioning::default();
        for target in targets.iter().filter(|_| self.choice.is_none()) {
            let paths = self.described.iter().flat_map(|one| one.paths.iter().map(move |path| (path, one)));
            let of_target = paths.filter(|(path, _)| at(target, path)).max_by_key(|(path, _)| path.len());
            if let Some((_, one)) = of_target {
                found.targets.insert(target.clone(), known(one, printer));
            }
        }
        if found.targets.is_empty() {
            found.defaults = known(self.meant()?, printer);
        }
        Ok(found)
    }

    /// What was bought for results, by names that occur in them, or the one volume for all.
    pub(super) fn of_records(&self, records: &[&Record], printer: Printer) -> anyhow::Result<Provisioning> {
        let cells: Vec<_> = records.iter().flat_map(|record| &record.cells).collect();
        let occurs = |name: &&String| {
            cells.iter().any(|cell| cell.target.contains(name.as_str()) || cell.workload.contains(name.as_str()))
        };
        let mut found = Provisioning::default();
        for one in self.described.iter().filter(|_| self.choice.is_none()) {
            let names: Vec<_> = one.names.iter().filter(occurs).cloned().collect();
            if !names.is_empty() {
                let bought = known(one, printer);
                found.targets.extend(names.into_iter().map(|name| (name, bought.clone())));
            }
        }
        if found.targets.is_empty() {
            found.defaults = known(self.meant()?, printer);
        }
        Ok(found)
    }

    fn meant(&self) -> anyhow::Result<&Described> {
        if let Some(one) = self.choice.as_ref().or_else(|| objects::only(&self.described)) {
            return Ok(one);
        }
        let names = objects::shortened(self.described.iter().map(|one| one.what.as_str()));
        bail!("{} describes several ({names}): say with --volume which is meant", self.file)
    }
}

/// What is known of one; why it is not becomes a note, since the storage is there all the same.
fn known(one: &Described, printer: Printer) -> Provisioned {
    one.notes.iter().for_each(|note| printer.note(format!("{}: {note}", one.what)));
    one.bought.clone().unwrap_or_else(|reason| {
        printer.note(format!("{}: {reason}: nothing is expected of it", one.what));
        Provisioned::default()
    })
}
