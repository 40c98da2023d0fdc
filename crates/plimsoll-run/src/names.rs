//! The files of cells that create, stat or delete them: where they are, and how they are made ready before each slot.

use std::{
    collections::BTreeMap,
    ffi::CStr,
    fs::File,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::FileExt,
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use plimsoll_io::{
    clock::{Clock, MonotonicClock},
    engine::names::{NameList, NamesEngine, NamesSetup},
    probe::EngineUnavailable,
};
use plimsoll_record::event::RunEvent;
use plimsoll_workload::{
    file_names::FileNames,
    plan::{BlockPlan, CellPlan, Plan},
    random::{Purpose, derive_seed},
    settings::{FileSharing, Layout, NameOperation},
};
use rustix::{
    fs::{AtFlags, FallocateFlags, Mode, OFlags, fallocate, openat, syncfs, unlinkat},
    io::Errno,
};

use crate::{
    layout,
    objects::{ObjectError, TestObjects, WantedNames, Warrant},
    run::RunError,
};

/// Names in a directory of our own, as everywhere.
const OWN_PREFIX: &str = "data-";
/// How often it is told how far the files are.
const PROGRESS_NS: u64 = 100_000_000;
/// What is written at once.
const PIECE_BYTES: u64 = 1 << 20;

/// Where the files of the cells of each target are.
#[derive(Default)]
pub(crate) struct NamePlaces(BTreeMap<String, NamePlace>);

#[derive(Default)]
struct NamePlace {
    /// Where names are ours.
    own: Option<PathBuf>,
    /// What tells our files from others where names were chosen.
    warrant: Option<Warrant>,
}

/// The files of a cell whose operations are about their names.
pub struct NamedFiles {
    target: String,
    path: PathBuf,
    directory: OwnedFd,
    list: NameList,
    operation: NameOperation,
    /// Whether a slot may come to a file twice.
    returns: bool,
    /// Files from those of one job to those of the next.
    apart: u64,
    bytes: u64,
    layout: Layout,
    seed: u64,
    /// In a directory of our own everything is ours.
    warrant: Option<Warrant>,
}

impl NamePlaces {
    /// Announces the files of a target's cells before any is made.
    pub(crate) fn prepare(&mut self, objects: &mut TestObjects, plan: &Plan, target: &str) -> Result<(), ObjectError> {
        let cells = plan.cells.iter().filter(|cell| cell.target == target).filter_map(CellPlan::blocks);
        let cells: Vec<&BlockPlan> = cells.filter(|plan| plan.name_operation().is_some()).collect();
        let path = Path::new(target);
        let mut place = NamePlace::default();
        if cells.iter().any(|plan| plan.file_names.is_empty()) {
            place.own = Some(objects.create_directory(path)?.path().to_owned());
        }
        let wanted = cells.iter().filter(|plan| !plan.file_names.is_empty()).map(|plan| WantedNames {
            names: &plan.file_names,
            bytes: plan.file_bytes(),
            takes_what_is_there: plan.name_operation() == Some(NameOperation::Stat),
        });
        let wanted: Vec<WantedNames<'_>> = wanted.collect();
        if !wanted.is_empty() {
            place.warrant = Some(objects.create_names(path, &wanted)?);
        }
        self.0.insert(target.to_owned(), place);
        Ok(())
    }

    /// The files of a cell; `None` when its operations are about what is in them.
    pub(crate) fn open(&self, target: &str, plan: &BlockPlan, seed: u64) -> Result<Option<NamedFiles>, RunError> {
        let (Some(operation), Some(place)) = (plan.name_operation(), self.0.get(target)) else { return Ok(None) };
        let is_own = plan.file_names.is_empty();
        let path = place.own.clone().filter(|_| is_own).unwrap_or_else(|| PathBuf::from(target));
        let directory = File::open(&path).map_err(RunError::Io)?.into();
        let names = if is_own {
            NameList::new((0..plan.files_in_all()).map(|number| format!("{OWN_PREFIX}{number}")))
        } else {
            NameList::new(FileNames::iter(&plan.file_names))
        };
        Ok(Some(NamedFiles {
            target: target.to_owned(),
            path,
            directory,
            list: names.map_err(RunError::Io)?,
            operation,
            returns: plan.returns_to_names(),
            apart: if plan.files == FileSharing::PerJob { u64::from(plan.file_count) } else { 0 },
            bytes: plan.file_bytes(),
            layout: plan.layout,
            seed: derive_seed(seed, Purpose::Content, 0),
            warrant: place.warrant.clone().filter(|_| !is_own),
        }))
    }
}

impl NamedFiles {
    /// The engine of a worker for this job.
    pub(crate) fn engine(&self, job: u32, queue_depth: u32) -> Result<NamesEngine<'_>, EngineUnavailable> {
        NamesEngine::new(NamesSetup {
            directory: self.directory.as_fd(),
            names: &self.list,
            first: u64::from(job) * self.apart,
            operation: self.operation,
            may_exist: self.returns,
            queue_depth,
        })
    }

    /// Whether the files are made by operations.
    pub(crate) fn are_to_be_created(&self) -> bool {
        self.operation == NameOperation::Create
    }

    /// Makes everything as a slot must find it: no file that is to be created, and all others. Ends early when `stop`
    /// is set, because then there is no slot.
    ///
    /// # Errors
    /// When the system refuses, or a file that is not ours has appeared.
    pub(crate) fn make_ready(&self, stop: &AtomicBool, emit: &mut dyn FnMut(RunEvent)) -> Result<(), RunError> {
        let start_ns = MonotonicClock.now_ns();
        let mut told_ns = start_ns;
        let total_bytes = self.bytes * self.list.len() as u64;
        let is_filled = self.layout != Layout::Empty && self.bytes > 0;
        let mut buffer = vec![0; self.bytes.min(PIECE_BYTES) as usize];
        let mut made = 0;
        for (number, name) in self.list.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let failed = |source| self.failed(name, source);
            if self.operation == NameOperation::Create {
                self.clear(name).map_err(failed)?;
                continue;
            }
            let Some(file) = self.make(name).map_err(failed)? else { continue };
            made += 1;
            if is_filled {
                self.fill(&file, number, &mut buffer).map_err(failed)?;
                let now_ns = MonotonicClock.now_ns();
                if now_ns - told_ns >= PROGRESS_NS {
                    told_ns = now_ns;
                    let written_bytes = (number as u64 + 1) * self.bytes;
                    emit(RunEvent::LayoutProgress { target: self.target.clone(), written_bytes, total_bytes });
                }
            }
        }
        if is_filled && made > 0 {
            // One sync for all: what a slot deletes has its place on the storage.
            syncfs(&self.directory).map_err(|error| RunError::Io(error.into()))?;
            let elapsed_ns = MonotonicClock.now_ns() - start_ns;
            emit(RunEvent::LayoutFinished {
                target: self.target.clone(),
                written_bytes: made * self.bytes,
                elapsed_ns,
            });
        }
        Ok(())
    }

    /// Removes a file that an earlier slot made.
    fn clear(&self, name: &CStr) -> io::Result<()> {
        let owns = match &self.warrant {
            Some(warrant) => warrant.owns(self.directory.as_fd(), name)?,
            None => Some(true),
        };
        match owns {
            None => Ok(()),
            Some(false) => Err(Errno::EXIST.into()),
            Some(true) => match unlinkat(&self.directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => Ok(()),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Makes a file, unless it is there.
    fn make(&self, name: &CStr) -> io::Result<Option<File>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.directory, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(Some(File::from(file))),
            Err(Errno::EXIST) if self.operation == NameOperation::Stat => Ok(None),
            Err(Errno::EXIST) => {
                let warrant = self.warrant.as_ref();
                let owns = warrant.map_or(Ok(Some(true)), |warrant| warrant.owns(self.directory.as_fd(), name))?;
                if owns == Some(false) { Err(Errno::EXIST.into()) } else { Ok(None) }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a file its length, and room or content.
    fn fill(&self, file: &File, number: usize, buffer: &mut [u8]) -> io::Result<()> {
        file.set_len(self.bytes)?;
        if self.layout == Layout::Allocated {
            return match fallocate(file, FallocateFlags::empty(), 0, self.bytes) {
                // A file system that cannot reserve allocates while it is written to.
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
                Err(error) => Err(error.into()),
            };
        }
        let content = layout::random_content(self.seed);
        let mut offset = 0;
        while offset < self.bytes {
            let length = (self.bytes - offset).min(buffer.len() as u64);
            let piece = &mut buffer[..length as usize];
            content(number, offset, piece);
            file.write_all_at(piece, offset)?;
            offset += length;
        }
        Ok(())
    }

    fn failed(&self, name: &CStr, source: io::Error) -> RunError {
        let path = self.path.join(name.to_string_lossy().as_ref());
        RunError::Objects(match Errno::from_io_error(&source) {
            Some(Errno::EXIST) => ObjectError::Foreign { path },
            _ => ObjectError::Create { path, source },
        })
    }
}
