//! What the page cache holds of a set of files, and how it comes to hold nothing or all of it.

use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_io::page_cache::{self, Residency};
use plimsoll_workload::file_set::{CacheState, FilePhase};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{Mode, OFlags, openat, syncfs},
    io::Errno,
};

use crate::{
    phase::{self, Limits, Task},
    set::{FileSet, SetError},
};

/// What the page cache holds of the files that are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cached {
    /// The system call that told.
    pub method: Option<&'static str>,
    /// Bytes of the files.
    pub total_bytes: u64,
    /// Bytes of them in the page cache; `None` where the kernel did not tell.
    pub resident_bytes: Option<u64>,
    /// Why not.
    pub reason: Option<String>,
}

/// Files that are looked at: of very many, evenly spread ones stand for all.
const LOOKED_AT_MAX: u32 = 20_000;

pub(crate) fn make(set: &mut FileSet, stop: &AtomicBool) -> Result<Cached, SetError> {
    match set.plan.cache {
        CacheState::AsIs => {}
        CacheState::Cold => {
            // What is dirty cannot be let go.
            let what = "sync the file system";
            syncfs(&set.root).map_err(|errno| SetError::System { what, source: errno.into() })?;
            each(set, 1, stop, |file| page_cache::drop_cached(file.as_fd()))?;
        }
        CacheState::Warm => {
            let limits = Limits { stop, limit_ns: None, is_measured: false };
            phase::run(set, Task::Phase(FilePhase::Read), limits, &mut |_| {})?;
        }
    }
    look(set, stop)
}

fn look(set: &FileSet, stop: &AtomicBool) -> Result<Cached, SetError> {
    let files: u32 = set.present.iter().map(|present| present.files.count()).sum();
    let step = files.div_ceil(LOOKED_AT_MAX).max(1);
    let mut cached = Cached { resident_bytes: Some(0), ..Cached::default() };
    each(set, step, stop, |file| match page_cache::residency(file.as_fd(), 0, u64::MAX) {
        Ok(Residency { total_bytes, resident_bytes, method, .. }) => {
            cached.method = Some(method.as_str());
            cached.total_bytes += total_bytes;
            cached.resident_bytes = cached.resident_bytes.map(|sum| sum + resident_bytes);
        }
        Err(error) => {
            cached.resident_bytes = None;
            cached.reason = Some(error.to_string());
        }
    })?;
    Ok(cached)
}

/// Every so many files that are there, opened.
fn each(set: &FileSet, step: u32, stop: &AtomicBool, mut does: impl FnMut(OwnedFd)) -> Result<(), SetError> {
    let failed = |source| SetError::System { what: "look what is cached of a set of files", source };
    let mut open: Option<(Option<u32>, OwnedFd)> = None;
    for (job, present) in (0..).zip(&set.present) {
        let (first, _) = set.plan.files_of(job);
        for file in (first + present.files.from..first + present.files.to).step_by(step as usize) {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let number = set.plan.directory_of(file);
            let directory = match open.take() {
                Some((known, directory)) if known == number => directory,
                _ => set.open_directory(number).map_err(failed)?,
            };
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(&directory, format!("f{file}"), flags, Mode::empty()) {
                Ok(file) => does(file),
                // It could not be made, which was told.
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(failed(errno.into())),
            }
            open = Some((number, directory));
        }
    }
    Ok(())
}
