//! Test files that several machines use at the same time, in a directory that all of them see. The first machine makes
//! and fills them, and the others wait for that. Beside the files each has one of its own, which says that it uses
//! them; the first one's says that they are filled. When no other is left, the first machine removes them.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use jiff::Timestamp;
use plimsoll_io::clock::{self, Clock, MonotonicClock, Precision};
use uuid::Uuid;

use super::marker::{FILE_PREFIX, USER_PREFIX, directory_name, is_user_name};

/// How often to look for what another machine does.
const BETWEEN_LOOKS_NS: u64 = 200_000_000;

/// How long the first machine waits at the end for others to be done. One that was killed never says so.
const PARTING_NS: u64 = 10_000_000_000;

/// A machine's part in files that several have in common.
#[derive(Clone, Copy, Debug)]
pub struct CommonFiles {
    /// Which of the machines it is.
    pub number: u32,
    /// When the files have to be filled; absent where nobody begins before all are ready.
    pub until: Option<Timestamp>,
}

/// Why there are no files in common.
#[derive(Debug, thiserror::Error)]
pub enum CommonFilesError {
    /// The run is to stop.
    #[error("the files in {directory:?} were not filled when the run was stopped")]
    Stopped {
        /// Where they are to be.
        directory: PathBuf,
    },
    /// The others began.
    #[error(
        "the files in {directory:?}, which another pod fills, were not there when the run began: give it more time with \
         --start-after"
    )]
    Late {
        /// Where they are to be.
        directory: PathBuf,
    },
    /// The system said no.
    #[error("say in {directory:?} that files are in use")]
    System {
        /// Where.
        directory: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// That a machine uses files that others use too, until this is dropped.
#[derive(Debug)]
pub(crate) struct InUse {
    directory: PathBuf,
    name: String,
}

impl CommonFiles {
    /// Whether this machine makes and fills them.
    pub(crate) const fn makes(&self) -> bool {
        self.number == 0
    }

    /// Says that the files in a directory of this machine are filled.
    pub(crate) fn offer(&self, directory: &Path) -> Result<InUse, CommonFilesError> {
        self.say_in_use(directory)
    }

    /// Waits until the files that run `run` makes in `target` are filled and as long as they are to be. Gives where
    /// they are, in the order of their numbers.
    pub(crate) fn wait(
        &self,
        target: &Path,
        run: Uuid,
        bytes: &[u64],
        stop: &AtomicBool,
    ) -> Result<(Vec<PathBuf>, InUse), CommonFilesError> {
        let directory = target.join(directory_name(run, 0));
        let files: Vec<PathBuf> =
            (0..bytes.len()).map(|index| directory.join(format!("{FILE_PREFIX}{index}"))).collect();
        let is_filled = directory.join(format!("{USER_PREFIX}0"));
        // What another machine wrote may be seen in pieces.
        let is_long = |(file, bytes): (&PathBuf, &u64)| fs::metadata(file).is_ok_and(|facts| facts.len() >= *bytes);
        while !(is_filled.exists() && files.iter().zip(bytes).all(is_long)) {
            if stop.load(Ordering::Relaxed) {
                return Err(CommonFilesError::Stopped { directory });
            }
            if self.until.is_some_and(|until| until < Timestamp::now()) {
                return Err(CommonFilesError::Late { directory });
            }
            pause();
        }
        let in_use = self.say_in_use(&directory)?;
        Ok((files, in_use))
    }

    fn say_in_use(&self, directory: &Path) -> Result<InUse, CommonFilesError> {
        let name = format!("{USER_PREFIX}{}", self.number);
        let path = directory.join(&name);
        let made = OpenOptions::new().write(true).create_new(true).open(path).and_then(|file: File| file.sync_all());
        let directory = directory.to_owned();
        match made {
            Ok(()) => Ok(InUse { directory, name }),
            Err(source) => Err(CommonFilesError::System { directory, source }),
        }
    }
}

impl InUse {
    /// Waits until nobody else uses the files, but not for those who may never say so.
    pub(crate) fn wait_for_others(&self) {
        let deadline_ns = MonotonicClock.now_ns() + PARTING_NS;
        let is_other = |entry: io::Result<fs::DirEntry>| {
            entry.is_ok_and(|entry| is_user_name(&entry.file_name()) && entry.file_name() != *self.name)
        };
        while fs::read_dir(&self.directory).is_ok_and(|mut entries| entries.any(is_other))
            && MonotonicClock.now_ns() < deadline_ns
        {
            pause();
        }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        // It may have gone with all others.
        let _ = fs::remove_file(self.directory.join(&self.name));
    }
}

fn pause() {
    clock::sleep_until_ns(MonotonicClock.now_ns() + BETWEEN_LOOKS_NS, Precision::Sleep);
}
