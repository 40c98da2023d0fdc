//! Whether what was opened by its path is what plimsoll made there. Who owns the directory around it may have had the
//! path lead elsewhere meanwhile, and root may write anywhere.

use std::{io, path::Path};

use rustix::{
    fd::{AsFd, BorrowedFd},
    fs::{AtFlags, fstat, statat},
};

use super::{ObjectError, TestObjects, removal::file_of};

impl TestObjects {
    /// Makes sure that a descriptor, opened by this path, is of the file that is ours. Of paths at which nothing is
    /// ours it says nothing.
    ///
    /// # Errors
    /// When it is another file, or the system does not tell.
    pub fn check_opened(&self, path: &Path, opened: BorrowedFd<'_>) -> Result<(), ObjectError> {
        let failed = |source| ObjectError::Create { path: path.to_owned(), source };
        if self.is_ours(path, opened).map_err(failed)? == Some(false) {
            return Err(ObjectError::Replaced { path: path.to_owned() });
        }
        Ok(())
    }

    fn is_ours(&self, path: &Path, opened: BorrowedFd<'_>) -> io::Result<Option<bool>> {
        let is_there = |directory, name| -> io::Result<bool> {
            let (there, opened) = (statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?, fstat(opened)?);
            Ok((there.st_dev, there.st_ino) == (opened.st_dev, opened.st_ino))
        };
        if let Some(made) = self.index_of(path).map(|index| &self.files[index]) {
            let parent = made.parent.as_fd();
            let is_ours = file_of(parent, &made.name, &made.marker)?.is_some();
            // What is only read is taken as it is, though its marker may be about a file that was there before.
            if made.is_shared && !is_ours {
                return Ok(None);
            }
            return Ok(Some(is_ours && is_there(parent, &*made.name)?));
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
        // Nobody else can put anything into a directory of ours.
        let made = self.directories.iter().find(|made| made.path == parent);
        made.map(|made| is_there(made.directory.as_fd(), name)).transpose()
    }
}
