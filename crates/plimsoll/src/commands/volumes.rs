//! What volumes of a cluster were bought as, from a file of its objects: for the targets of a run, or for results that
//! name them.

use std::{
    collections::BTreeSet,
    path::{self, Path, PathBuf},
};

use anyhow::{Context, anyhow, bail};
use plimsoll_catalog::{
    catalog::Catalog,
    objects::{Described, Found, Objects},
};
use plimsoll_io::target;
use plimsoll_record::record::Record;
use plimsoll_workload::provisioned::{Provisioned, Provisioning};

use super::input_file;
use crate::{cli::provisioned::ProvisionedArguments, printer::Printer};

/// The volumes and classes that a file describes.
pub(super) struct Volumes<'a> {
    file: String,
    objects: Objects,
    /// Which is meant, when somebody said it.
    choice: Option<Described>,
    catalog: &'a Catalog,
}

/// What is to be said besides, each once.
#[derive(Default)]
struct Notes(BTreeSet<String>);

impl<'a> Volumes<'a> {
    /// The volumes of `--kubernetes`, if it is given.
    pub(super) fn read(arguments: &ProvisionedArguments, catalog: &'a Catalog) -> anyhow::Result<Option<Self>> {
        let Some(path) = &arguments.kubernetes else { return Ok(None) };
        let text = input_file::text(path)?;
        let file = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
        let objects = Objects::read(&file, &text, catalog)?;
        let choice = arguments.volume.as_ref().map(|name| objects.named(name).cloned()).transpose();
        let choice = choice.with_context(|| file.clone())?;
        Ok(Some(Self { file, objects, choice, catalog }))
    }

    /// What the one that is meant was bought as, or the only one there is.
    pub(super) fn one(&self, said: &Provisioned, printer: Printer) -> anyhow::Result<Provisioned> {
        let one = self.meant()?;
        one.notes.iter().for_each(|note| printer.note(format!("{}: {note}", one.what)));
        one.completing(said, self.catalog).map_err(|reason| anyhow!("{}: {}: {reason}", self.file, one.what))
    }

    /// What the targets of a run were bought as: by the paths that pods have volumes at, or the one volume for all.
    pub(super) fn of_targets(
        &self,
        targets: &[String],
        said: &Provisioning,
        host: Option<&str>,
        printer: Printer,
    ) -> anyhow::Result<Provisioning> {
        let mut found = Provisioning::default();
        let mut notes = Notes::default();
        for target in targets {
            let one = if self.choice.is_some() || !self.objects.has_paths() {
                self.meant()?
            } else {
                match self.objects.at(&real(target), host) {
                    Found::Volume(one) => one,
                    Found::Several(names) => {
                        bail!("{}: {target} may be on {names}: say with --volume which it is", self.file)
                    }
                    Found::Unknown(what) => {
                        notes.add(format!("{target} is on {what}: nothing is expected of it"));
                        continue;
                    }
                    Found::Nothing => {
                        notes.add(format!(
                            "no pod of {} has a volume at {target}: nothing is expected of it, unless --volume says \
                             which it is",
                            self.file
                        ));
                        continue;
                    }
                }
            };
            found.targets.insert(target.clone(), self.known(one, &said.of(target), &mut notes));
        }
        notes.print(printer);
        Ok(found)
    }

    /// What was bought for results: by the paths of their targets, by names that occur in them, or the one volume for
    /// all.
    pub(super) fn of_records(
        &self,
        records: &[&Record],
        said: &Provisioned,
        printer: Printer,
    ) -> anyhow::Result<Provisioning> {
        let mut found = Provisioning::default();
        let mut notes = Notes::default();
        for cell in records.iter().flat_map(|record| &record.cells).filter(|_| self.choice.is_none()) {
            let occurs = |name: &str| cell.target.contains(name) || cell.workload.contains(name);
            let at_path = match self.objects.at(Path::new(&cell.target), None) {
                Found::Volume(one) => Some((cell.target.as_str(), one)),
                _ => None,
            };
            let longest = || self.objects.names().filter(|(name, _)| occurs(name)).max_by_key(|(name, _)| name.len());
            if let Some((name, one)) = at_path.or_else(longest)
                && !found.targets.contains_key(name)
            {
                found.targets.insert(name.to_owned(), self.known(one, said, &mut notes));
            }
        }
        if found.targets.is_empty() {
            found.defaults = self.known(self.meant()?, said, &mut notes);
        }
        notes.print(printer);
        Ok(found)
    }

    /// What is known of one beside what was said; why nothing follows from it becomes a note, since the storage is
    /// there all the same.
    fn known(&self, one: &Described, said: &Provisioned, notes: &mut Notes) -> Provisioned {
        match one.completing(said, self.catalog) {
            Ok(bought) => {
                one.notes.iter().for_each(|note| notes.add(format!("{}: {note}", one.what)));
                bought
            }
            Err(reason) => {
                notes.add(format!("{}: {}: {reason}: nothing is expected of it", self.file, one.what));
                Provisioned::default()
            }
        }
    }

    fn meant(&self) -> anyhow::Result<&Described> {
        if let Some(one) = self.choice.as_ref().or_else(|| self.objects.only()) {
            return Ok(one);
        }
        bail!("{} describes several ({}): say with --volume which is meant", self.file, self.objects.summary())
    }
}

impl Notes {
    fn add(&mut self, note: String) {
        self.0.insert(note);
    }

    fn print(self, printer: Printer) {
        self.0.into_iter().for_each(|note| printer.note(note));
    }
}

/// Where a target really is, or would be.
fn real(target: &str) -> PathBuf {
    target::resolved(target.as_ref()).or_else(|_| path::absolute(target)).unwrap_or_else(|_| target.into())
}
