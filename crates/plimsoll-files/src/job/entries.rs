//! Phases that look through directories.

use std::io;

use plimsoll_workload::{file_set::FilePhase, plan::share};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, RawDir, statat},
};

use super::{Failure, Job};
use crate::{calls::Call, phase::directories};

/// What is looked for in names.
const WANTED: &[u8] = b"01";

/// Room for the entries of a directory that one call gives.
const ENTRIES_BYTES: usize = 32 * 1024;

impl Job<'_> {
    /// The directories of this job.
    fn own_directories(&self) -> std::ops::Range<u64> {
        let (all, jobs) = (directories(self.set()), self.set().plan.jobs);
        let first = (0..self.number).map(|job| share(all, job, jobs)).sum();
        first..first + share(all, self.number, jobs)
    }

    pub(super) fn list_directories(&mut self, deadline_ns: u64) {
        for number in self.own_directories() {
            if !self.goes_on(deadline_ns) {
                break;
            }
            let done = self.list(number, |_, _, _| Ok(()));
            self.note(number as u32, done.map(|()| 0));
        }
    }

    /// Lists directories, and asks for the attributes of files in it: an operation is one file.
    pub(super) fn look_at_entries(&mut self, count: u64, deadline_ns: u64) -> io::Result<()> {
        let wanted = if self.phase == FilePhase::Find { WANTED } else { b"" };
        // Files of a job may be in the same directory as those of others, so that each job looks at its own ones.
        let (first, each) = (self.first(), self.set().plan.files_per_directory);
        let mut file = u64::from(first);
        let end = file + count;
        while file < end && self.goes_on(deadline_ns) {
            let directory = each.map(|each| file / u64::from(each));
            let until = match (directory, each) {
                (Some(directory), Some(each)) => end.min((directory + 1) * u64::from(each)),
                _ => end,
            };
            self.enter(file as u32)?;
            let (from, crew) = (file, self.crew);
            let result = self.list(directory.unwrap_or(0), |job, parent, name| {
                let number = std::str::from_utf8(name.get(1..).unwrap_or_default()).ok();
                let number =
                    number.and_then(|digits| digits.parse::<u64>().ok()).filter(|_| name.first() == Some(&b'f'));
                let Some(number) = number.filter(|number| (from..until).contains(number)) else { return Ok(()) };
                if crew.is_over() || job.report.times.now_ns() >= deadline_ns {
                    return Ok(());
                }
                let is_wanted = wanted.is_empty() || name.windows(wanted.len()).any(|part| part == wanted);
                let done = if is_wanted {
                    job.call(Call::Stat, || statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)).map(|_| 0)
                } else {
                    Ok(0)
                };
                job.note(number as u32, done);
                Ok(())
            });
            if let Err(failure) = result {
                self.note(file as u32, Err(failure));
                break;
            }
            file = until;
        }
        Ok(())
    }

    /// Lists a directory from its beginning, and hands on each name.
    fn list(
        &mut self,
        number: u64,
        mut on_name: impl FnMut(&mut Self, &OwnedFd, &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let set = self.set();
        let directory = set.plan.files_per_directory.map(|_| number as u32);
        let opened = self.report.times.time(Call::Open, || set.open_directory(directory));
        let parent = opened.map_err(|error| Failure::failed("open", error.to_string()))?;
        let mut room = Vec::with_capacity(ENTRIES_BYTES);
        let mut entries = RawDir::new(&parent, room.spare_capacity_mut());
        loop {
            // What the buffer still holds costs nothing; only the call that fills it again is one.
            let next = if entries.is_buffer_empty() {
                self.report.times.time(Call::Getdents, || entries.next())
            } else {
                entries.next()
            };
            match next {
                None => return Ok(()),
                Some(Err(errno)) => return Err(Failure::of(Call::Getdents, errno)),
                Some(Ok(entry)) => {
                    let name = entry.file_name().to_bytes();
                    if name != b"." && name != b".." {
                        on_name(self, &parent, name)?;
                    }
                }
            }
        }
    }
}
