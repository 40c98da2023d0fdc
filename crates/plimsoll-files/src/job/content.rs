//! What is in files: written, read, and compared with what should be there.

use std::sync::atomic::Ordering;

use plimsoll_workload::file_set::FilePhase;
use rustix::{fd::OwnedFd, fs::OFlags};

use super::{BUFFER, Due, Failure, Job};
use crate::{calls::Call, phase::Task};

impl Job<'_> {
    /// Writes a file, or a stretch of it: as much as it has, or `length`.
    pub(super) fn write_file(
        &mut self,
        number: u32,
        length: Option<u64>,
        flags: OFlags,
        from: u64,
    ) -> Result<u64, Failure> {
        let length = length.unwrap_or_else(|| self.set().sizes.size(number.into()));
        let is_new = flags.contains(OFlags::CREATE);
        let bytes = self.with_open(OFlags::WRONLY | flags, |job, file| {
            job.write_content(file, number, from, length)?;
            job.sync_file(file)?;
            Ok(length)
        })?;
        if is_new {
            self.sync_directory()?;
        }
        Ok(bytes)
    }

    fn write_content(&mut self, file: &OwnedFd, number: u32, from: u64, length: u64) -> Result<(), Failure> {
        let set = self.set();
        let block = u64::from(set.plan.block_size_bytes);
        let end = from + length;
        let mut offset = from;
        while offset < end {
            let piece = block.min(end - offset).min(self.buffer.tag_bytes() as u64) as usize;
            let buffer = &mut self.buffer.slice(BUFFER)[..piece];
            if set.content.is_constant() {
                if !self.is_ready {
                    set.content.fill(self.buffer.slice(BUFFER), 0, 0);
                    self.is_ready = true;
                    self.report.times.resume();
                }
            } else {
                set.content.fill(buffer, offset, number.into());
                self.report.times.resume();
            }
            let mut written = 0;
            while written < piece {
                let rest = &self.buffer.slice(BUFFER)[written..piece];
                let at = offset + written as u64;
                let done = self.report.times.time(Call::Write, || rustix::io::pwrite(file, rest, at));
                match done.map_err(|errno| Failure::of(Call::Write, errno))? {
                    0 => return Err(Failure::failed("write", "nothing was written".to_owned())),
                    bytes => written += bytes,
                }
            }
            offset += piece as u64;
            if offset < end && self.crew.limits.stop.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted);
            }
        }
        Ok(())
    }

    pub(super) fn read_file(&mut self, number: u32, due: Due) -> Result<u64, Failure> {
        self.with_open(OFlags::RDONLY, |job, file| job.read_content(file, number, due))
    }

    fn read_content(&mut self, file: &OwnedFd, number: u32, due: Due) -> Result<u64, Failure> {
        let set = self.crew.set;
        let block = self.buffer.tag_bytes() as u64;
        let (due, is_known) = match due {
            Due::Bytes(bytes) => (bytes, true),
            Due::ToTheEnd => (u64::MAX, false),
        };
        let mut offset = 0;
        while offset < due {
            let piece = block.min(due - offset) as usize;
            let mut filled = 0;
            while filled < piece {
                let rest = &mut self.buffer.slice(BUFFER)[filled..piece];
                let at = offset + filled as u64;
                let done = self.report.times.time(Call::Read, || rustix::io::pread(file, rest, at));
                match done.map_err(|errno| Failure::of(Call::Read, errno))? {
                    0 => break,
                    bytes => filled += bytes,
                }
            }
            if set.plan.verify {
                self.check(number, offset, filled)?;
            }
            offset += filled as u64;
            if filled < piece {
                // An append that was cut leaves some files shorter than others. Files that a mix verifies are whole.
                let least = set.sizes.size(number.into());
                if offset >= least || !(is_known || set.plan.verify) {
                    break;
                }
                let example = format!("{offset} bytes instead of {least}");
                return Err(Failure::wrong("read", "a file is too short", example));
            }
            if offset < due && self.crew.limits.stop.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted);
            }
        }
        Ok(offset)
    }

    pub(super) fn read_and_append(&mut self, number: u32) -> Result<u64, Failure> {
        let (at, length) = (self.set().length(number), self.bytes_to_append());
        let due = match self.crew.task {
            Task::Phase(FilePhase::Mix) => Due::ToTheEnd,
            _ => Due::Bytes(at),
        };
        self.with_open(OFlags::RDWR | OFlags::APPEND, |job, file| {
            let read = job.read_content(file, number, due)?;
            job.write_content(file, number, at, length)?;
            job.sync_file(file)?;
            Ok(read + length)
        })
    }

    /// The log stays open: that is what programs do with theirs.
    pub(super) fn append_to_log(&mut self) -> Result<u64, Failure> {
        let log = self.log.take().expect("it is opened for phases that append to it");
        let length = self.bytes_to_append();
        let done = self.write_content(&log, 0, 0, length).and_then(|()| self.sync_file(&log));
        self.log = Some(log);
        done.map(|()| length)
    }

    pub(super) fn bytes_to_append(&self) -> u64 {
        self.append_bytes.unwrap_or_else(|| self.set().plan.block_size_bytes.into())
    }

    /// Compares what was read with what was written. Whatever takes place meanwhile is not timed.
    fn check(&mut self, number: u32, offset: u64, length: usize) -> Result<(), Failure> {
        let expected = &mut self.expected[..length];
        self.crew.set.content.fill(expected, offset, number.into());
        let read = &self.buffer.slice(BUFFER)[..length];
        let wrong = expected.iter().zip(read.iter()).position(|(expected, read)| expected != read);
        self.report.checked_blocks += 1;
        self.report.times.resume();
        match wrong {
            None => Ok(()),
            Some(at) => {
                let example = format!("at offset {}", offset + at as u64);
                Err(Failure::wrong("verify", "content differs", example))
            }
        }
    }
}
