//! Which test objects stay when their run ends, and which of those that stayed go after all. What is noted of a file
//! tells it from what somebody copies into it later.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use rustix::fd::AsFd;

use super::{ObjectError, OwnedDirectory, OwnedFile, TestObjects, marked_file::MarkedFile, removal::file_of};

impl OwnedFile {
    /// Changes what the marker says of the file.
    pub(super) fn change(&mut self, change: impl FnOnce(MarkedFile) -> MarkedFile) -> io::Result<()> {
        self.marker.change(|marker| marker.file = marker.file.map(change))
    }

    /// Marks the file as kept, as it is now.
    pub(super) fn keep(&mut self) -> io::Result<()> {
        let found = file_of(self.parent.as_fd(), &self.name, &self.marker)?;
        self.marker.change(|marker| {
            marker.kept = true;
            marker.file = found.as_ref().map(MarkedFile::to_stay).or(marker.file);
        })
    }
}

impl TestObjects {
    /// Notes that a file of this run is as long as it was to become: one that is shorter later is not ours, nor one
    /// that was changed later where no cell writes to it. What cannot be noted is known a little less well.
    pub fn note_layout(&mut self, path: &Path, is_written_to: bool) {
        let Some(index) = self.index_of(path) else { return };
        let made = &mut self.files[index];
        made.is_written_to |= is_written_to;
        let is_written_to = made.is_written_to;
        if let Ok(Some(found)) = file_of(made.parent.as_fd(), &made.name, &made.marker) {
            let _ = made.change(|file| file.laid_out(&found, is_written_to));
        }
    }

    /// Files that this run made and kept before it was interrupted, and only reads now.
    pub fn kept_before(&self) -> impl Iterator<Item = &Path> {
        let is_own = |made: &&OwnedFile| made.is_shared && made.marker.marker().run == self.owner.run;
        self.files.iter().filter(is_own).filter(|made| made.marker.marker().kept).map(|made| made.path.as_path())
    }

    /// The directories that directories of this run are in.
    pub fn places(&self) -> BTreeSet<PathBuf> {
        self.directories.iter().filter_map(|made| Some(made.path.parent()?.to_owned())).collect()
    }

    /// Marks all objects as kept: they stay when the run ends, until `plimsoll doctor --clean` removes them. Tells
    /// which are marked, and why the first one is not whose marker cannot be written: such an object is removed as if
    /// it were not to be kept.
    pub fn keep(&mut self) -> (Vec<PathBuf>, Result<(), ObjectError>) {
        let mark = |made: &mut OwnedDirectory| (made.path.clone(), made.marker.change(|marker| marker.kept = true));
        let directories = self.directories.iter_mut().map(mark);
        let files = self.files.iter_mut().filter(|made| !made.is_shared);
        let files = files.map(|made| (made.path.clone(), made.keep()));
        let marked = directories.chain(files).map(|(path, marked)| match marked {
            Ok(()) => Ok(path),
            Err(source) => Err(ObjectError::Create { path, source }),
        });
        let (mut kept, mut all) = (Vec::new(), Ok(()));
        for marked in marked.chain(self.names.iter_mut().filter_map(|names| names.keep().transpose())) {
            match marked {
                Ok(path) => kept.push(path),
                Err(error) => all = all.and(Err(error)),
            }
        }
        (kept, all)
    }

    /// Makes files that earlier runs kept go with those of this run. Those that others read now stay.
    ///
    /// # Errors
    /// When a file is in use or its marker cannot be written: it stays.
    pub fn give_up_kept(&mut self) -> Result<(), ObjectError> {
        let (shared, own): (Vec<_>, Vec<_>) = self.files.drain(..).partition(|made| made.is_shared);
        self.files = own;
        let mut taken = Ok(());
        for OwnedFile { path, marker, .. } in shared {
            // Nobody may be using what is removed, this run neither.
            drop(marker);
            taken = taken.and(self.create_file(&path, 0).map(drop));
        }
        for OwnedFile { path, marker, .. } in self.files.iter_mut().filter(|made| made.marker.marker().kept) {
            let failed = |source| ObjectError::Create { path: path.clone(), source };
            taken = taken.and(marker.change(|marker| marker.kept = false).map_err(failed));
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File},
        os::unix::fs::FileExt,
        time::SystemTime,
    };

    use rustix::fd::AsFd;
    use uuid::Uuid;

    use super::{
        super::{
            Owner, Provenance,
            leftovers::{LeftReason, sweep_directory},
            marker::{MarkerFile, Opened, sidecar_name},
        },
        *,
    };

    /// Has the marker of a file open in such a way that nothing can be written to it.
    fn protect(mut made: OwnedFile) -> OwnedFile {
        let OwnedFile { marker, .. } = made;
        drop(marker);
        made.marker = match MarkerFile::share(made.parent.as_fd(), &sidecar_name(&made.name)).unwrap() {
            Opened::Abandoned(marker) | Opened::Unlockable(marker) => marker,
            other => panic!("{other:?}"),
        };
        made
    }

    /// Ends a run as a kill does: nothing of it is removed, and nobody holds a lock.
    fn kill(mut objects: TestObjects) {
        objects.files.clear();
    }

    fn write_into(path: &Path, content: &[u8]) {
        let file = File::options().write(true).open(path).unwrap();
        file.write_all_at(content, 0).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }

    #[test]
    fn what_took_the_place_of_a_killed_runs_content_is_told_by_its_time_or_its_signature() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().canonicalize().unwrap().join("a.img");
        let new = |run| TestObjects::new(Owner::this_process(Uuid::from_u128(run)), None);
        let make = |is_written_to| {
            let mut objects = new(1);
            objects.create_file(&path, 4096).unwrap();
            File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
            objects.note_layout(&path, is_written_to);
            objects
        };
        for (is_written_to, content, stays) in
            [(true, &b"XFSB"[..], true), (true, b"data", false), (false, b"XFSB", true), (false, b"data", true)]
        {
            kill(make(is_written_to));
            write_into(&path, content);
            let swept = sweep_directory(place.path()).unwrap();
            assert_eq!(path.exists(), stays, "{content:?}, written to: {is_written_to}");
            let told = swept.left.iter().filter(|left| matches!(left.reason, LeftReason::Foreign));
            assert_eq!((told.count() == 1, swept.removed.len() == 1), (stays, !stays));
            let _ = fs::remove_file(&path);
            assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        }
        // Another cell reads it by another name.
        let mut objects = make(true);
        objects.note_layout(&path, false);
        kill(objects);
        write_into(&path, b"data");
        assert_eq!(sweep_directory(place.path()).unwrap().removed.len(), 1);
        // A run that goes on to its end knows its own file.
        let objects = make(false);
        write_into(&path, b"XFSB");
        assert_eq!(objects.remove().removed.len(), 1);
    }

    #[test]
    fn a_kept_file_that_a_killed_run_wrote_to_is_not_written_again_where_it_bears_a_signature() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().canonicalize().unwrap().join("a.img");
        let new = |run| TestObjects::new(Owner::this_process(Uuid::from_u128(run)), None);
        for (content, provenance) in [(b"data", Provenance::Kept), (b"XFSB", Provenance::Foreign)] {
            let mut objects = new(1);
            objects.create_file(&path, 4096).unwrap();
            File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
            assert!(objects.keep().1.is_ok());
            drop(objects);
            let mut objects = new(2);
            assert_eq!(objects.create_file(&path, 4096).unwrap().provenance, Provenance::Kept);
            kill(objects);
            write_into(&path, content);
            let mut objects = new(3);
            assert_eq!(objects.create_file(&path, 4096).unwrap().provenance, provenance);
            assert!(objects.give_up_kept().is_ok());
        }
        assert!(path.exists());
    }

    #[test]
    fn one_marker_that_cannot_be_written_costs_no_other_file_that_was_to_be_kept_or_removed() {
        let place = tempfile::tempdir().unwrap();
        let paths = ["a.img", "b.img", "c.img"].map(|name| place.path().canonicalize().unwrap().join(name));
        let new = |run| TestObjects::new(Owner::this_process(Uuid::from_u128(run)), None);
        let mut objects = new(1);
        for path in &paths {
            objects.create_file(path, 0).unwrap();
        }
        let made = objects.files.remove(1);
        objects.files.insert(1, protect(made));
        let (kept, all) = objects.keep();
        assert_eq!(kept, [paths[0].clone(), paths[2].clone()]);
        assert!(matches!(all, Err(ObjectError::Create { path, .. }) if path == paths[1]));
        assert_eq!(objects.remove().removed.len(), 1);
        assert_eq!([true, false, true], [0, 1, 2].map(|index| paths[index].exists()));

        let mut objects = new(2);
        for path in [&paths[0], &paths[2]] {
            objects.create_file(path, 0).unwrap();
        }
        let made = objects.files.remove(0);
        objects.files.insert(0, protect(made));
        assert!(objects.give_up_kept().is_err());
        assert_eq!(objects.remove().removed.len(), 1);
        assert_eq!([true, false, false], [0, 1, 2].map(|index| paths[index].exists()));
    }
}
