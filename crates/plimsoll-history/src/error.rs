//! What can be wrong with a history, and which of it is the fault of the question.

use std::{
    io,
    path::{Path, PathBuf},
};

use plimsoll_record::upgrade::ReadError;
use rusqlite::ErrorCode;
use thiserror::Error;
use uuid::Uuid;

/// Why the history did not answer, or did not take something.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// The file is a broken database.
    #[error("history {} is damaged: move it away, or name another with --history", path.display())]
    Damaged {
        /// The history.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The file is no database, or one of another program.
    #[error("{} is no history of plimsoll: name another file with --history", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A newer plimsoll wrote the file.
    #[error(
        "history {} has version {found}, and this plimsoll knows versions up to {known}: use a newer plimsoll, \
         or name another file with --history", path.display()
    )]
    Newer {
        /// The history.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest version known here.
        known: i64,
    },
    /// The file cannot be opened, read or written.
    #[error("history {} cannot be {}: check its permissions and the space beside it, or name another with --history",
        path.display(), use_.as_str())]
    Inaccessible {
        /// The history.
        path: PathBuf,
        /// What it was wanted for.
        use_: Use,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// There is no file, and none can be made; or the way to it is closed.
    #[error(
        "history {} can be neither read nor made: check the directories above it and their permissions, \
         or name another file with --history", path.display()
    )]
    Unreachable {
        /// The history.
        path: PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
    /// There is a file, and it cannot be written, or nothing can be made beside it.
    #[error(
        "history {} cannot be written: check its permissions, those of its directory and the space there, \
         or name another with --history", path.display()
    )]
    Unwritable {
        /// The history.
        path: PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
    /// There is no file where somebody says that there is one.
    #[error(
        "there is no history {}: check the name, or leave --history out for the user's own; the first run that is \
         measured with it makes it", path.display()
    )]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// Something else than a file.
    #[error("history {} is not a regular file: name one with --history", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// The directory of the file cannot be made or written.
    #[error("directory {} cannot be used: check its permissions, or name another place with --history", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
    /// Another process kept the history busy for too long.
    #[error("history {} is kept busy by another process: try again when that has ended", path.display())]
    Busy {
        /// The history.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The run of a process that is gone cannot be put into its history.
    #[error(
        "the run in the journal {} cannot be put into its history: mend what is said next, or give the run up with \
         \"plimsoll doctor --clean\", which sets the journal aside", journal.display()
    )]
    Unrecovered {
        /// The journal.
        journal: PathBuf,
        /// What is wrong with the history.
        source: Box<HistoryError>,
    },
    /// Another version wrote the journal of a process that is gone.
    #[error(
        "the run in the journal {} was begun by another version of plimsoll, which says what this one does not \
         understand: let that version recover it with any of its commands, or give the run up with \
         \"plimsoll doctor --clean\", which sets the journal aside", path.display()
    )]
    JournalOfAnotherVersion {
        /// The journal.
        path: PathBuf,
    },
    /// A stored record is not whole.
    #[error("the record of run {id} is damaged: remove it with \"plimsoll remove {id}\"")]
    RecordDamaged {
        /// The run.
        id: Uuid,
        /// What is wrong with its bytes.
        source: io::Error,
    },
    /// A stored record cannot be read by this version.
    #[error("the record of run {id} cannot be read")]
    RecordUnreadable {
        /// The run.
        id: Uuid,
        /// Why not.
        source: ReadError,
    },
    /// A record does not become text.
    #[error("the record of run {id} cannot be stored")]
    RecordUnwritable {
        /// The run.
        id: Uuid,
        /// Why not.
        source: serde_json::Error,
    },
    /// No run goes by this name.
    #[error("no run or baseline \"{0}\" in the history: \"plimsoll history\" lists what there is")]
    NotFound(String),
    /// The history has no runs at all.
    #[error("the history is empty: \"plimsoll run DIRECTORY\" makes the first entry")]
    Empty,
    /// Too short a piece of an id.
    #[error("no run or baseline is called \"{0}\", and it is too short for an id: type at least 4 digits of one")]
    TooShort(String),
    /// Several ids begin like this.
    #[error("\"{text}\" fits {} runs ({}): type more digits", candidates.len(), shorten(candidates))]
    Ambiguous {
        /// What was typed.
        text: String,
        /// All ids that begin so.
        candidates: Vec<Uuid>,
    },
    /// A name where only an id will do.
    #[error(
        "\"{text}\" is a name, which several runs may have: type the id of the run, as {latest} for the latest one"
    )]
    IsName {
        /// What was typed.
        text: String,
        /// The latest run of this name.
        latest: Uuid,
    },
    /// A baseline must not be called so.
    #[error(
        "\"{0}\" cannot name a baseline: use letters, digits, '.', '_' and '-', beginning with a letter, and neither \
         \"latest\" nor what could be an id"
    )]
    BaselineName(String),
    /// No baseline goes by this name.
    #[error("no baseline \"{0}\": \"plimsoll baseline list\" lists what there is")]
    NoBaseline(String),
    /// A run that is a baseline is not removed.
    #[error("run {id} is baseline \"{name}\": run \"plimsoll baseline unset {name}\" before you remove it")]
    IsBaseline {
        /// The run.
        id: Uuid,
        /// The baseline.
        name: String,
    },
    /// A run that was to go on is done.
    #[error("run {id} is complete: there is nothing left to measure; run it anew for other numbers")]
    NothingMissing {
        /// The run.
        id: Uuid,
    },
    /// A run that was to go on had ended by an error.
    #[error("run {id} was ended by an error and not interrupted, so it does not go on: mend the cause and run it anew")]
    RunFailed {
        /// The run.
        id: Uuid,
    },
    /// Of a run that was to go on, only the record is there.
    #[error(
        "run {id} cannot go on, because nothing but its record was kept: an earlier plimsoll measured it, or its \
         journal could not be written; run it anew"
    )]
    NotKept {
        /// The run.
        id: Uuid,
    },
    /// A run that was to go on is going on.
    #[error("run {id} is going on already: another process has its journal {}", journal.display())]
    GoingOn {
        /// The run.
        id: Uuid,
        /// The journal of that process.
        journal: PathBuf,
    },
    /// What was kept of a run is not understood.
    #[error(
        "run {id} was begun by another version of plimsoll, whose plan this one does not understand: go on with it there"
    )]
    UnfinishedUnreadable {
        /// The run.
        id: Uuid,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A journal cannot be made, written or read.
    #[error("journal {} cannot be written", path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
    /// An answer cannot be written.
    #[error("the export cannot be written")]
    Export(#[source] io::Error),
}

/// What a history was wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// To be looked at.
    Reading,
    /// To be added to.
    Writing,
}

impl Use {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Reading => "read",
            Self::Writing => "written",
        }
    }
}

impl HistoryError {
    /// Whether the history is fine and the question was wrong: a name it does not know, an id that is not unique.
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NotFound(_)
                | Self::Empty
                | Self::TooShort(_)
                | Self::Ambiguous { .. }
                | Self::IsName { .. }
                | Self::BaselineName(_)
                | Self::NoBaseline(_)
                | Self::IsBaseline { .. }
                | Self::NothingMissing { .. }
                | Self::RunFailed { .. }
                | Self::NotKept { .. }
                | Self::GoingOn { .. }
        )
    }

    /// Whether its disk is full or fails: what is named is right, and may take a record later.
    pub fn is_of_disk(&self) -> bool {
        match self {
            Self::Inaccessible { source, .. } => {
                matches!(source.sqlite_error_code(), Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure))
            }
            Self::Unreachable { source, .. } | Self::Unwritable { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            _ => false,
        }
    }

    pub(crate) fn of_sqlite(path: &Path, use_: Use, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                Self::Busy { path, source }
            }
            Some(
                ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied
                | ErrorCode::CannotOpen
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory,
            ) => Self::Inaccessible { path, use_, source },
            Some(ErrorCode::NotADatabase) => Self::Foreign { path },
            // A missing table, a value of the wrong type: somebody else wrote there.
            _ => Self::Damaged { path, source },
        }
    }
}

/// As many ids as a person reads.
fn shorten(candidates: &[Uuid]) -> String {
    const SHOWN_MAX: usize = 5;
    let mut shown: Vec<_> = candidates.iter().take(SHOWN_MAX).map(Uuid::to_string).collect();
    if candidates.len() > SHOWN_MAX {
        shown.push("...".to_owned());
    }
    shown.join(", ")
}
