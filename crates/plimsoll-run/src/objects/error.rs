//! What keeps test objects from being made.

use std::{io, path::PathBuf};

use super::User;

/// Why a test object could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The system said no.
    #[error("make test files in {path:?}")]
    Create {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another run works with the same file.
    #[error("{path:?} is in use by {user}: wait for it, or name another file")]
    InUse {
        /// The file.
        path: PathBuf,
        /// Who that is, as far as its marker tells.
        user: User,
    },
    /// Something lies where the marker of the file has to be.
    #[error("{path:?} cannot be made: {marker:?} is in its place and not ours; remove it or name another file")]
    MarkerInTheWay {
        /// The file that was asked for.
        path: PathBuf,
        /// What is in the way.
        marker: PathBuf,
    },
    /// A file is in the place of one that is to be made.
    #[error("{path:?} is there and plimsoll did not make it: remove it, or name another file or directory")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The path of a file of ours leads to another one by now.
    #[error("{path:?} is no longer the file that plimsoll made: use a directory in which nobody else moves files")]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// The path has no last part.
    #[error("{path:?} names no file: write the path of a file in an existing directory")]
    NoFileName {
        /// The path as given.
        path: PathBuf,
    },
}

impl ObjectError {
    /// Whether this user can write nothing there, who may still be able to read what is there.
    pub(crate) fn is_refusal(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        matches!(self, Self::Create { source, .. } if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem))
    }
}
