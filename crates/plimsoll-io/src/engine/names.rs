//! The engines `filecreate`, `filestat` and `filedelete`: one system call about a file for each operation, two to
//! create one, and no data.
//!
//! What an operation is about is its offset: the number of a file among those of the cell. As with `psync` the call
//! blocks, so a queue depth of n takes n threads with an engine each. Files are opened one at a time, so there may be
//! more of them than a process may have open.

use std::{
    ffi::CStr,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use plimsoll_workload::{operation::Operation, settings::NameOperation};
use rustix::{
    fs::{AtFlags, Mode, OFlags, openat, statat, unlinkat},
    io::Errno,
};

use super::{Completion, Engine, Tag, TagsInFlight, psync::own_open_files, wait_for_nothing};
use crate::probe::{EngineKind, EngineUnavailable, explain};

/// Names of files, ready for the kernel, in as little memory as they take.
#[derive(Clone, Debug, Default)]
pub struct NameList {
    /// Each with its terminating zero.
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
}

/// What an engine of names needs to know.
#[derive(Clone, Copy, Debug)]
pub struct NamesSetup<'a> {
    /// Where the files are.
    pub directory: BorrowedFd<'a>,
    /// What they are called.
    pub names: &'a NameList,
    /// The number of the file that offset 0 stands for.
    pub first: u64,
    /// What is done with them.
    pub operation: NameOperation,
    /// Whether a file that is to be created may be there: it is opened then.
    pub may_exist: bool,
    /// Most operations in flight: tags are 0 to this, exclusive.
    pub queue_depth: u32,
}

/// Operations on names by blocking calls. To be built on the thread that uses it, as [`super::psync::PsyncEngine`].
pub struct NamesEngine<'a> {
    setup: NamesSetup<'a>,
    directory: OwnedFd,
    tags: TagsInFlight,
    /// Results that [`Engine::wait`] has not handed out.
    performed: Vec<Completion>,
    /// Neither `Send` nor `Sync`: its directory is open on its thread only.
    thread: std::marker::PhantomData<*const ()>,
}

impl NameList {
    /// These names.
    ///
    /// # Errors
    /// When one has a zero byte in it, which no name of a file has, or together they are longer than 4 GiB.
    pub fn new(names: impl IntoIterator<Item = String>) -> io::Result<Self> {
        let mut list = Self::default();
        for name in names {
            if name.as_bytes().contains(&0) {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name:?} is no name of a file")));
            }
            list.bytes.extend_from_slice(name.as_bytes());
            list.bytes.push(0);
            list.ends.push(u32::try_from(list.bytes.len()).map_err(io::Error::other)?);
        }
        list.bytes.shrink_to_fit();
        list.ends.shrink_to_fit();
        Ok(list)
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A name by its number.
    ///
    /// # Panics
    /// When there are fewer.
    #[inline]
    pub fn get(&self, number: usize) -> &CStr {
        let from = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        CStr::from_bytes_with_nul(&self.bytes[from..self.ends[number] as usize]).expect("names were checked")
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &CStr> {
        (0..self.len()).map(|number| self.get(number))
    }
}

impl<'a> NamesEngine<'a> {
    /// Parts this thread from the table of open files that the others share.
    ///
    /// # Errors
    /// When the directory cannot be opened once more.
    pub fn new(setup: NamesSetup<'a>) -> Result<Self, EngineUnavailable> {
        own_open_files();
        let kind = EngineKind::of_names(setup.operation);
        let directory = setup
            .directory
            .try_clone_to_owned()
            .map_err(|error| EngineUnavailable { kind, reason: explain(kind, "dup of the directory", &error) })?;
        Ok(Self {
            setup,
            directory,
            tags: TagsInFlight::new(setup.queue_depth),
            performed: Vec::with_capacity(setup.queue_depth as usize),
            thread: std::marker::PhantomData,
        })
    }

    #[inline(always)]
    fn perform(&self, operation: Operation) -> i32 {
        if operation.kind.is_sync() {
            return -Errno::INVAL.raw_os_error();
        }
        let name = self.setup.names.get((self.setup.first + operation.offset) as usize);
        let directory = self.directory.as_fd();
        loop {
            let result = match self.setup.operation {
                NameOperation::Create => create(directory, name, self.setup.may_exist),
                NameOperation::Stat => statat(directory, name, AtFlags::empty()).map(drop),
                NameOperation::Delete => unlinkat(directory, name, AtFlags::empty()),
            };
            return match result {
                Ok(()) => operation.length as i32,
                Err(Errno::INTR) => continue,
                Err(error) => -error.raw_os_error(),
            };
        }
    }
}

/// Makes a file and closes it; one that may be there is opened and closed, and nothing of it is changed.
#[inline(always)]
fn create(directory: BorrowedFd<'_>, name: &CStr, may_exist: bool) -> rustix::io::Result<()> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let flags = if may_exist { flags } else { flags | OFlags::EXCL };
    openat(directory, name, flags, Mode::RUSR | Mode::WUSR).map(drop)
}

impl Engine for NamesEngine<'_> {
    /// There are no data, so there are no buffers.
    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.tags.assert_free(tag);
        &mut []
    }

    #[inline(always)]
    fn submit(&mut self, tag: Tag, operation: Operation) -> io::Result<()> {
        self.tags.start(tag);
        let result = self.perform(operation);
        self.performed.push(Completion { tag, result });
        Ok(())
    }

    #[inline]
    fn wait(&mut self, at_least: usize, deadline_ns: Option<u64>, completions: &mut Vec<Completion>) -> io::Result<()> {
        if self.performed.is_empty() {
            wait_for_nothing(at_least, deadline_ns);
        }
        for completion in &self.performed {
            self.tags.end(completion.tag);
            completions.push(*completion);
        }
        self.performed.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use plimsoll_workload::operation::OperationKind;

    use super::*;

    fn names() -> NameList {
        NameList::new((0..3).map(|number| format!("file {number}"))).unwrap()
    }

    /// What operations on the first two of three files come to, the second one done twice.
    fn results(directory: &std::path::Path, operation: NameOperation, may_exist: bool) -> Vec<i32> {
        let (names, open) = (names(), File::open(directory).unwrap());
        let setup =
            NamesSetup { directory: open.as_fd(), names: &names, first: 1, operation, may_exist, queue_depth: 1 };
        let mut engine = NamesEngine::new(setup).unwrap();
        let mut done = Vec::new();
        for offset in [0, 1, 1] {
            let operation = Operation { kind: OperationKind::Write, file: 0, length: 1, offset };
            engine.submit(Tag(0), operation).unwrap();
            engine.wait(1, None, &mut done).unwrap();
        }
        done.iter().map(|completion| completion.result).collect()
    }

    #[test]
    fn each_operation_is_about_the_file_of_its_number() {
        let directory = tempfile::tempdir().unwrap();
        let (there, missing) = (libc::EEXIST, libc::ENOENT);
        assert_eq!(results(directory.path(), NameOperation::Stat, false), [-missing, -missing, -missing]);
        assert_eq!(results(directory.path(), NameOperation::Create, false), [1, 1, -there]);
        let mut made: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        made.sort();
        assert_eq!(made, ["file 1", "file 2"]);
        fs::write(directory.path().join("file 2"), "precious").unwrap();
        assert_eq!(results(directory.path(), NameOperation::Create, true), [1, 1, 1]);
        assert_eq!(fs::read(directory.path().join("file 2")).unwrap(), b"precious");
        assert_eq!(results(directory.path(), NameOperation::Stat, false), [1, 1, 1]);
        assert_eq!(results(directory.path(), NameOperation::Delete, false), [1, 1, -missing]);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_hundred_thousand_names_take_a_few_bytes_each() {
        let list = NameList::new((0..100_000).map(|number| format!("t.0.{number}"))).unwrap();
        assert_eq!(list.get(0), c"t.0.0");
        assert_eq!(list.get(99_999), c"t.0.99999");
        assert!(list.bytes.capacity() + list.ends.capacity() * 4 < 1_500_000);
        assert!(NameList::new(["a\0b".to_owned()]).is_err());
    }
}
