//! The targets of a run, opened: devices guarded, files made and filled, a descriptor for each cell and job.

pub(crate) mod checks;
mod remaining;
mod wanted;
mod workplaces;

use std::{
    collections::BTreeMap,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use plimsoll_files::set::FileSet;
use plimsoll_io::{
    block_device::{self, BackingDevice},
    target::{self, OpenFor},
    write_guard::{self, GuardedDevice},
};
use plimsoll_record::event::RunEvent;
use plimsoll_workload::{
    content::ContentSource,
    plan::{BlockPlan, CellPlan, Plan},
    random::{Purpose, derive_seed},
    settings::{EngineChoice, Layout},
    target_facts::{self, TargetKind},
};
use rustix::fs::{Mode, OFlags, SeekFrom, seek};
use uuid::Uuid;

use self::{
    checks::{check_polling, check_verification},
    wanted::{FileKey, Stamps, Wanted, WantedFile, file_keys, has_files_alone},
};
pub(crate) use self::{
    wanted::{NewFile, bytes_of_files, check_layouts, new_files},
    workplaces::check_users,
};
use crate::{
    findings,
    layout::{self, LayoutFile},
    names::{NamePlaces, NamedFiles},
    objects::{
        self, FilesAfter, Owner, Provenance, TestFile, TestObjects,
        in_common::{CommonFiles, InUse},
        leftovers,
    },
    open_files,
    run::RunError,
};

/// How test files are made.
#[derive(Clone, Copy, Debug)]
pub struct Making<'a> {
    /// The run.
    pub run: Uuid,
    /// Whether it goes on: another process began it.
    pub goes_on: bool,
    /// What the blocks carry that this process writes, where they are verified.
    pub writer: u64,
    /// What becomes of them.
    pub files_after: FilesAfter,
    /// Where to note what there is.
    pub state_directory: Option<&'a Path>,
    /// This machine's part in files that several have in common.
    pub common: Option<CommonFiles>,
}

/// All targets of a run.
pub struct Sites {
    run: Uuid,
    goes_on: bool,
    writer: u64,
    common: Option<CommonFiles>,
    /// What says to other machines that files are used.
    in_use: Vec<InUse>,
    sites: Vec<Site>,
    /// For each cell: its target, and its files there.
    cells: Vec<CellFiles>,
    /// For each cell that works on a set of files, where that is.
    trees: BTreeMap<usize, OwnedFd>,
    /// Where the files are that are created, statted or deleted.
    names: NamePlaces,
    files_after: FilesAfter,
    /// Files that the plan names: whoever named them knows that they stay.
    named: Vec<PathBuf>,
    /// Held so that nobody else can claim a device while the run writes to it.
    guards: Guards,
    /// Dropped last: where a file that is open cannot go whole, none is open by then.
    objects: TestObjects,
}

/// One target.
struct Site {
    kind: TargetKind,
    /// What is below it: one device, unless jobs are dealt among directories that are on a disk each.
    devices: Vec<BackingDevice>,
    /// Whether this run wrote what its files contain, before the first slot.
    is_laid_out: bool,
}

/// The descriptors that a cell's jobs use.
struct CellFiles {
    site: usize,
    files: Vec<OwnedFd>,
    /// Files that are not open, because operations are about their names.
    names: Option<NamedFiles>,
    /// Whether this run wrote what they contain, for this cell alone.
    is_laid_out: bool,
}

/// Devices that may be written, claimed.
pub struct Guards(BTreeMap<String, GuardedDevice>);

impl Sites {
    /// Asks the write guard about every device that cells write to, and devices whether they can do what is asked.
    /// Nothing is created or written.
    pub fn guard(plan: &Plan, destroy: &[PathBuf]) -> Result<Guards, RunError> {
        let is_foreign = |target: &str| objects::is_foreign_file(Path::new(target));
        check_verification(plan, |target| Path::new(target).is_dir(), is_foreign)?;
        let kind = |target: &str| match Path::new(target) {
            path if path.is_dir() => TargetKind::Directory,
            _ if is_device(target) => TargetKind::Device,
            _ => TargetKind::File,
        };
        check_layouts(plan, kind, is_foreign)?;
        let polls = |cell: &&CellPlan| cell.blocks().is_some_and(|blocks| blocks.iopoll);
        plan.cells.iter().filter(polls).try_for_each(|cell| check_polling(&cell.target))?;
        let mut guards = BTreeMap::new();
        for cell in &plan.cells {
            if !cell.work.writes() || guards.contains_key(&cell.target) || !is_device(&cell.target) {
                continue;
            }
            let needed =
                cells_of(plan, &cell.target).filter_map(CellPlan::blocks).map(BlockPlan::file_bytes).max().unwrap_or(0);
            let guarded = write_guard::check(Path::new(&cell.target), destroy, needed)?;
            guards.insert(cell.target.clone(), guarded);
        }
        Ok(Guards(guards))
    }

    /// Makes and fills what is missing, and opens everything.
    pub fn open(
        plan: &Plan,
        guards: Guards,
        making: Making<'_>,
        stop: &AtomicBool,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Self, RunError> {
        open_files::check(plan)?;
        let Making { run, goes_on, writer, files_after, state_directory, common } = making;
        let objects = TestObjects::new(Owner::this_process(run), state_directory);
        let mut opened = Self {
            run,
            goes_on,
            writer,
            common,
            in_use: Vec::new(),
            sites: Vec::new(),
            cells: Vec::new(),
            trees: BTreeMap::new(),
            names: NamePlaces::default(),
            files_after,
            named: Vec::new(),
            guards,
            objects,
        };
        for text in opened.objects.warnings().to_vec() {
            emit(RunEvent::Warning { text });
        }
        let mut all_made: Vec<Made<'_>> = Vec::new();
        let mut sites = Vec::with_capacity(plan.cells.len());
        for cell in &plan.cells {
            let known = all_made.iter().position(|made| made.target == cell.target);
            sites.push(known.unwrap_or(all_made.len()));
            if known.is_none() {
                all_made.push(opened.prepare(plan, &cell.target, stop, emit)?);
            }
        }
        // Targets may share a file system, which is to have room for all of them.
        let files: Vec<LayoutFile> = all_made.iter().flat_map(Made::taking_room).collect();
        layout::check_free(&files).map_err(RunError::Layout)?;
        all_made.iter().try_for_each(|made| opened.fill(made, plan.seed, stop, emit))?;
        for (index, (cell, site)) in plan.cells.iter().zip(sites).enumerate() {
            let Made { place, .. } = &all_made[site];
            let (files, names) = match cell.blocks() {
                None => (Vec::new(), None),
                Some(blocks) => match opened.names.open(&cell.target, blocks, plan.seed)? {
                    Some(names) => (Vec::new(), Some(names)),
                    None => (place.open(blocks, index, opened.guards.0.get(&cell.target), &opened.objects)?, None),
                },
            };
            let is_laid_out = opened.sites[site].is_laid_out && has_files_alone(plan, index);
            opened.cells.push(CellFiles { site, files, names, is_laid_out });
        }
        Ok(opened)
    }

    /// Makes the files of a target, and fills none.
    fn prepare<'a>(
        &mut self,
        plan: &Plan,
        target: &'a str,
        stop: &AtomicBool,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Made<'a>, RunError> {
        let as_it_is = |place| Made { target, place, wanted: Wanted(BTreeMap::new()) };
        let path = Path::new(target);
        let mut wanted = Wanted::of(plan, target, self.writer);
        let place = if is_device(target) {
            let devices = block_device::device_of(path).into_iter().collect();
            self.sites.push(Site { kind: TargetKind::Device, devices, is_laid_out: false });
            return Ok(as_it_is(Place::One(path.to_owned())));
        } else if path.is_dir() {
            let places = target_facts::places(target, directories(plan, target));
            let devices = places.iter().filter_map(|place| block_device::device_of(place)).collect();
            self.sites.push(Site { kind: TargetKind::Directory, devices, is_laid_out: true });
            self.make_trees(plan, target)?;
            if let Some(common) = self.common.filter(|common| !common.makes()) {
                return self.await_files(common, path, &wanted, stop).map(as_it_is);
            }
            for place in &places {
                if let Err(error) = leftovers::sweep_directory(place) {
                    let text = format!("look for left-over files in {}: {error}", place.display());
                    emit(RunEvent::Warning { text });
                }
            }
            self.names.prepare(&mut self.objects, plan, target)?;
            let has_own = wanted.0.keys().any(|key| matches!(key, FileKey::Own { .. }));
            let mut own = Vec::new();
            for place in places.iter().filter(|_| has_own) {
                own.push(self.objects.create_directory(place)?);
            }
            let mut files = BTreeMap::new();
            for (index, (key, wanted)) in wanted.0.iter_mut().enumerate() {
                let file = match key {
                    FileKey::Named(name) => self.named_file(&path.join(name), wanted)?,
                    FileKey::Own { job, .. } => {
                        let own = &own[job.unwrap_or(0) as usize % own.len()];
                        own.create_file(index as u32).map_err(RunError::Io)?;
                        own.file_path(index as u32)
                    }
                };
                files.insert(key.clone(), file);
            }
            Place::Files(files)
        } else {
            let file = self.file(path, &mut wanted)?;
            let devices = block_device::device_of(&file.path).into_iter().collect();
            let is_laid_out = file.provenance != Provenance::Foreign;
            self.sites.push(Site { kind: TargetKind::File, devices, is_laid_out });
            match file.provenance {
                Provenance::Foreign => {
                    if cells_of(plan, target).any(|cell| cell.work.writes()) {
                        write_guard::foreign_file(path, |_| false)?;
                    }
                    return Ok(as_it_is(Place::One(file.path)));
                }
                Provenance::Created => Place::One(file.path),
                Provenance::Kept => {
                    for (cell, _) in plan.cells.iter().enumerate().filter(|(_, cell)| cell.target == target) {
                        let is_filled = wanted.0.values().any(|file| file.layout == Layout::Written);
                        emit(RunEvent::Found { cell, finding: findings::of_kept_file(&file.path, is_filled) });
                    }
                    Place::One(file.path)
                }
            }
        };
        Ok(Made { target, place, wanted })
    }

    /// Fills the files of a target, and offers them to the other machines that are to use them.
    fn fill(
        &mut self,
        made: &Made<'_>,
        seed: u64,
        stop: &AtomicBool,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(), RunError> {
        self.lay_out(made, seed, stop, emit)?;
        if let (Some(common), Place::Files(files)) = (self.common.filter(CommonFiles::makes), &made.place)
            && let Some(directory) = files.values().next().and_then(|file| file.parent())
        {
            self.in_use.push(common.offer(directory)?);
        }
        Ok(())
    }

    /// Makes a directory for the set of files of each cell of a target that has one: never one that others use.
    fn make_trees(&mut self, plan: &Plan, target: &str) -> Result<(), RunError> {
        let cells = plan.cells.iter().enumerate().filter(|(_, cell)| cell.target == target && cell.files().is_some());
        let cells: Vec<usize> = cells.map(|(index, _)| index).collect();
        if cells.is_empty() {
            return Ok(());
        }
        let own = self.objects.create_directory(Path::new(target))?;
        for index in cells {
            self.trees.insert(index, own.create_tree(index as u32).map_err(RunError::Io)?);
        }
        Ok(())
    }

    /// For each cell that works on a set of files that set, of which nothing is there yet.
    pub(crate) fn file_sets(&self, plan: &Plan) -> Result<Vec<Option<FileSet>>, RunError> {
        let cells = plan.cells.iter().enumerate();
        let of = |(index, cell): (usize, &CellPlan)| {
            let Some((plan, tree)) = cell.files().zip(self.trees.get(&index)) else { return Ok(None) };
            let tree = tree.try_clone().map_err(RunError::Io)?;
            Ok(Some(FileSet::new(tree, plan)?))
        };
        cells.map(of).collect()
    }

    /// The files of a directory that another machine makes and fills.
    fn await_files(
        &mut self,
        common: CommonFiles,
        path: &Path,
        wanted: &Wanted,
        stop: &AtomicBool,
    ) -> Result<Place, RunError> {
        let path = path.canonicalize().map_err(RunError::Io)?;
        let bytes = |file: &WantedFile| if file.layout == Layout::Empty { 0 } else { file.bytes };
        let bytes: Vec<u64> = wanted.0.values().map(bytes).collect();
        if bytes.is_empty() {
            return Ok(Place::Files(BTreeMap::new()));
        }
        let (files, in_use) = common.wait(&path, self.run, &bytes, stop)?;
        self.in_use.push(in_use);
        Ok(Place::Files(wanted.0.keys().cloned().zip(files).collect()))
    }

    /// Makes the file that is a target, or takes it: as it is, when it is only read and has data everywhere, or nothing
    /// can be written there.
    fn file(&mut self, path: &Path, wanted: &mut Wanted) -> Result<TestFile, RunError> {
        let bytes = wanted.0.values().map(|wanted| wanted.bytes).max().unwrap_or(0);
        let is_only_read = wanted.0.values().all(WantedFile::is_only_read);
        let shared = if is_only_read && has_data(path, bytes) { self.objects.share_file(path, bytes)? } else { None };
        let file = match shared {
            Some(file) => file,
            None => match self.objects.create_file(path, bytes) {
                Err(error) if is_only_read && error.is_refusal() => {
                    self.objects.share_file(path, bytes)?.ok_or(error)?
                }
                created => return Ok(created?),
            },
        };
        wanted.0.values_mut().for_each(|wanted| wanted.layout = Layout::Empty);
        Ok(file)
    }

    /// Makes a file that has a name, or takes it as it is.
    fn named_file(&mut self, path: &Path, wanted: &mut WantedFile) -> Result<PathBuf, RunError> {
        if wanted.is_only_read()
            && let Some(file) = self.objects.share_file(path, wanted.bytes)?
        {
            wanted.layout = Layout::Empty;
            self.named.push(file.path.clone());
            return Ok(file.path);
        }
        let file = self.objects.create_file(path, wanted.bytes)?;
        self.named.push(file.path.clone());
        let bytes = std::fs::metadata(&file.path).map_or(0, |facts| facts.len());
        let is_enough = bytes >= wanted.bytes || !wanted.is_read();
        match file.provenance {
            Provenance::Foreign if wanted.is_written_to => write_guard::foreign_file(path, |_| false)?,
            Provenance::Foreign if !is_enough => {
                let path = file.path;
                return Err(RunError::TooShort { path, bytes, needed_bytes: wanted.bytes });
            }
            // What is there is taken as it is, unless every byte has to be known.
            Provenance::Foreign => wanted.layout = Layout::Empty,
            Provenance::Kept if is_enough && wanted.stamps.is_none() => wanted.layout = Layout::Empty,
            Provenance::Kept | Provenance::Created => {}
        }
        Ok(file.path)
    }

    fn lay_out(
        &mut self,
        made: &Made<'_>,
        seed: u64,
        stop: &AtomicBool,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(), RunError> {
        let Made { target, place, wanted } = made;
        let file = |(key, wanted)| made.file(key, wanted);
        let are = |layout: Layout| wanted.0.iter().filter(move |(_, file)| file.layout == layout);
        let allocated: Vec<LayoutFile> = are(Layout::Allocated).map(file).collect();
        layout::allocate(&allocated, &self.objects, stop).map_err(RunError::Layout)?;
        self.note_layout(place, wanted, Layout::Allocated);
        let files: Vec<LayoutFile> = are(Layout::Written).map(file).collect();
        if files.is_empty() {
            return Ok(());
        }
        let seed = derive_seed(seed, Purpose::Content, 0);
        let fillings = are(Layout::Written).zip(0..).map(|((_, file), number)| {
            let source = ContentSource::new(&file.payload, derive_seed(seed, Purpose::Content, number));
            (file.stamps, source, file.block_bytes)
        });
        let fillings: Vec<(Option<Stamps>, ContentSource, usize)> = fillings.collect();
        let content = |file: usize, offset: u64, buffer: &mut [u8]| match &fillings[file] {
            (Some(stamps), ..) => stamps.stamp_all(buffer, offset),
            (None, source, block_bytes) => {
                for (block, at) in buffer.chunks_mut(*block_bytes).zip((offset..).step_by(*block_bytes)) {
                    source.fill(block, at, 0);
                }
            }
        };
        let mut progress = |written_bytes: u64, total_bytes: u64| {
            emit(RunEvent::LayoutProgress { target: (*target).to_owned(), written_bytes, total_bytes });
            if stop.load(Ordering::Relaxed) {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        };
        // Pieces hold whole blocks of the verified files.
        let stamps = fillings.iter().filter_map(|(stamps, ..)| stamps.as_ref());
        let piece = stamps.map(|stamps| stamps.block_bytes).max().unwrap_or(0).max(4096);
        match layout::lay_out_in_pieces(&files, &self.objects, piece, &content, &mut progress, stop) {
            Ok(report) => {
                self.note_layout(place, wanted, Layout::Written);
                emit(RunEvent::LayoutFinished {
                    target: (*target).to_owned(),
                    written_bytes: report.bytes,
                    elapsed_ns: report.elapsed_ns,
                });
                Ok(())
            }
            Err(error) => Err(RunError::Layout(error)),
        }
    }

    /// Notes what tells the files that were laid out so from what somebody puts into them.
    fn note_layout(&mut self, place: &Place, wanted: &Wanted, layout: Layout) {
        for (key, file) in wanted.0.iter().filter(|(_, file)| file.layout == layout) {
            self.objects.note_layout(&place.path(key), file.is_written_to);
        }
    }

    /// Whether what the run makes stays.
    pub(crate) fn keeps_files(&self) -> bool {
        self.files_after == FilesAfter::Kept
    }

    /// What kind of target a cell has.
    pub fn kind(&self, cell: usize) -> TargetKind {
        self.sites[self.cells[cell].site].kind
    }

    /// Whether blocks of a cell that no slot has written carry a verification header.
    pub fn is_laid_out(&self, cell: usize) -> bool {
        self.cells[cell].is_laid_out
    }

    /// The disk below a cell's target, when there is one; the first one of several.
    pub fn device(&self, cell: usize) -> Option<BackingDevice> {
        self.devices(cell).first().copied()
    }

    /// The disks below a cell's target: several, where nothing puts them together.
    pub fn devices(&self, cell: usize) -> &[BackingDevice] {
        &self.sites[self.cells[cell].site].devices
    }

    /// The files of a cell: those of one job after the other, or those that all share.
    pub fn files(&self, cell: usize) -> Vec<BorrowedFd<'_>> {
        self.cells[cell].files.iter().map(AsFd::as_fd).collect()
    }

    /// The files of a cell whose operations are about their names.
    pub fn names(&self, cell: usize) -> Option<&NamedFiles> {
        self.cells[cell].names.as_ref()
    }

    /// Makes the files of a cell that its operations expect to be there, though they are not open.
    pub fn make_existing(&self, cell: usize, stop: &AtomicBool) -> Result<(), RunError> {
        let names = self.names(cell).filter(|names| !names.are_to_be_created());
        names.map_or(Ok(()), |names| names.make_ready(stop, &mut |_| {}))
    }
}

/// A target whose files are there, and what is to be filled of them.
struct Made<'a> {
    target: &'a str,
    place: Place,
    wanted: Wanted,
}

impl Made<'_> {
    fn file(&self, key: &FileKey, wanted: &WantedFile) -> LayoutFile {
        LayoutFile { path: self.place.path(key), bytes: wanted.bytes }
    }

    /// The files that are filled, and empty ones of our own, which grow and are to find room beside them.
    fn taking_room(&self) -> impl Iterator<Item = LayoutFile> {
        let grows = |key: &FileKey| matches!(key, FileKey::Own { layout: Layout::Empty, .. });
        let files = self.wanted.0.iter().filter(move |(key, wanted)| wanted.layout != Layout::Empty || grows(key));
        files.map(|(key, wanted)| self.file(key, wanted))
    }
}

/// Where the files of a target are.
enum Place {
    /// In the directory that is the target, or in one of our own there.
    Files(BTreeMap<FileKey, PathBuf>),
    /// The target is the file or device.
    One(PathBuf),
}

impl Place {
    fn path(&self, key: &FileKey) -> PathBuf {
        match self {
            Self::Files(files) => files[key].clone(),
            Self::One(path) => path.clone(),
        }
    }

    fn open(
        &self,
        plan: &BlockPlan,
        cell: usize,
        guard: Option<&GuardedDevice>,
        objects: &TestObjects,
    ) -> Result<Vec<OwnedFd>, RunError> {
        let purpose =
            OpenFor { read: true, write: plan.writes(), create_new: false, direct: !plan.buffered, sync: plan.sync };
        let open = |key: &FileKey| {
            let opened = match guard {
                // The memory engine touches nothing, but every engine has a file.
                _ if plan.engine == EngineChoice::Memory => {
                    let nothing = rustix::fs::open("/dev/zero", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
                    return nothing.map_err(|errno| RunError::Io(errno.into()));
                }
                Some(guard) if plan.writes() => guard.open(purpose)?,
                _ => target::open(&self.path(key), purpose)?,
            };
            objects.check_opened(&self.path(key), opened.as_fd())?;
            Ok(opened)
        };
        file_keys(plan, cell).iter().map(open).collect()
    }
}

/// Whether there is data in the first so many bytes of a file: what was never written is answered without the storage.
fn has_data(path: &Path, bytes: u64) -> bool {
    // What is no file does not make this wait, and a file system that knows no holes says that there are none.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let hole = rustix::fs::open(path, flags, Mode::empty()).and_then(|file| seek(file, SeekFrom::Hole(0)));
    hole.is_ok_and(|hole| hole >= bytes)
}

fn is_device(target: &str) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(target).is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// How many directories of a target jobs are dealt among, if they are.
fn directories(plan: &Plan, target: &str) -> Option<u32> {
    cells_of(plan, target).filter_map(CellPlan::blocks).find_map(|blocks| Some(blocks.dealt?.disks))
}

fn cells_of<'a>(plan: &'a Plan, target: &'a str) -> impl Iterator<Item = &'a CellPlan> {
    plan.cells.iter().filter(move |cell| cell.target == target)
}

#[cfg(test)]
mod tests;
