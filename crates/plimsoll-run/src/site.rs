//! The targets of a run, opened: devices guarded, files made and filled, a descriptor for each cell and job.

use std::{
    collections::BTreeMap,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use plimsoll_io::{
    block_device::{self, BackingDevice, DeviceFacts},
    probe::{EngineKind, EngineUnavailable},
    target::{self, OpenFor},
    write_guard::{self, GuardedDevice},
};
use plimsoll_record::event::RunEvent;
use plimsoll_workload::{
    plan::{BlockPlan, CellPlan, Plan},
    random::{Purpose, derive_seed},
    settings::{EngineChoice, FileSharing},
    target_facts::TargetKind,
    verification,
};
use rustix::fs::{Mode, OFlags};
use uuid::Uuid;

use crate::{
    findings,
    layout::{self, LayoutFile},
    objects::{self, Owner, Provenance, TestDirectory, TestObjects, leftovers},
    run::RunError,
};

/// All targets of a run.
pub struct Sites {
    objects: TestObjects,
    sites: Vec<Site>,
    /// For each cell: its target, and its files there.
    cells: Vec<CellFiles>,
    keep_files: bool,
    /// Held so that nobody else can claim a device while the run writes to it.
    guards: Guards,
}

/// One target.
struct Site {
    kind: TargetKind,
    device: Option<BackingDevice>,
    /// Whether this run wrote what its files contain, before the first slot.
    is_laid_out: bool,
}

/// The descriptors that a cell's jobs use.
struct CellFiles {
    site: usize,
    files: Vec<OwnedFd>,
}

/// Devices that may be written, claimed.
pub struct Guards(BTreeMap<String, GuardedDevice>);

/// Files of one target that must be there before the first slot.
#[derive(Default)]
struct Wanted {
    /// Sizes by file number: number 0 is the shared file, the others belong to jobs or to one verified cell.
    bytes: BTreeMap<u32, u64>,
    /// What verified files contain: seed and block size.
    verified: BTreeMap<u32, (u64, u32)>,
}

/// What a cell uses of its target's files.
fn file_numbers(plan: &BlockPlan, cell: usize) -> Vec<u32> {
    match plan.files {
        // A verified cell has files of its own, because it must know every byte of them.
        FileSharing::Shared if plan.verify => vec![1_000_000 + cell as u32],
        FileSharing::PerJob if plan.verify => (0..plan.jobs).map(|job| 2_000_000 + cell as u32 * 1024 + job).collect(),
        FileSharing::Shared => vec![0],
        FileSharing::PerJob => (1..=plan.jobs).collect(),
    }
}

impl Sites {
    /// Asks the write guard about every device that cells write to, and devices whether they can do what is asked.
    /// Nothing is created or written.
    pub fn guard(plan: &Plan, destroy: &[PathBuf]) -> Result<Guards, RunError> {
        check_verification(plan)?;
        plan.cells.iter().filter(|cell| cell.blocks.iopoll).try_for_each(|cell| check_polling(&cell.target))?;
        let mut guards = BTreeMap::new();
        for cell in &plan.cells {
            if !cell.blocks.writes() || guards.contains_key(&cell.target) || !is_device(&cell.target) {
                continue;
            }
            let needed = cells_of(plan, &cell.target).map(|cell| cell.blocks.file_bytes()).max().unwrap_or(0);
            let guarded = write_guard::check(Path::new(&cell.target), destroy, needed)?;
            guards.insert(cell.target.clone(), guarded);
        }
        Ok(Guards(guards))
    }

    /// Makes and fills what is missing, and opens everything.
    pub fn open(
        plan: &Plan,
        guards: Guards,
        run: Uuid,
        keep_files: bool,
        state_directory: Option<&Path>,
        stop: &AtomicBool,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Self, RunError> {
        let objects = TestObjects::new(Owner::this_process(run), state_directory);
        let mut opened = Self { objects, sites: Vec::new(), cells: Vec::new(), keep_files, guards };
        for text in opened.objects.warnings().to_vec() {
            emit(RunEvent::Warning { text });
        }
        let mut known: Vec<(String, usize, Place)> = Vec::new();
        for (index, cell) in plan.cells.iter().enumerate() {
            let at = match known.iter().position(|(name, ..)| *name == cell.target) {
                Some(at) => at,
                None => {
                    let place = opened.prepare(plan, &cell.target, stop, emit)?;
                    known.push((cell.target.clone(), opened.sites.len() - 1, place));
                    known.len() - 1
                }
            };
            let (_, site, place) = &known[at];
            let files = place.open(&cell.blocks, index, opened.guards.0.get(&cell.target))?;
            opened.cells.push(CellFiles { site: *site, files });
        }
        Ok(opened)
    }

    /// Makes the files of a target real.
    fn prepare(
        &mut self,
        plan: &Plan,
        target: &str,
        stop: &AtomicBool,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Place, RunError> {
        let path = Path::new(target);
        let wanted = Wanted::of(plan, target);
        let place = if is_device(target) {
            let device = block_device::device_of(path);
            self.sites.push(Site { kind: TargetKind::Device, device, is_laid_out: false });
            return Ok(Place::One(path.to_owned()));
        } else if path.is_dir() {
            let device = block_device::device_of(path);
            self.sites.push(Site { kind: TargetKind::Directory, device, is_laid_out: true });
            if let Err(error) = leftovers::sweep_directory(path) {
                emit(RunEvent::Warning { text: format!("look for left-over files in {target}: {error}") });
            }
            Place::Directory(self.objects.create_directory(path)?)
        } else {
            let file = self.objects.create_file(path)?;
            let device = block_device::device_of(&file.path);
            let is_laid_out = file.provenance != Provenance::Foreign;
            self.sites.push(Site { kind: TargetKind::File, device, is_laid_out });
            match file.provenance {
                Provenance::Foreign => {
                    if cells_of(plan, target).any(|cell| cell.blocks.writes()) {
                        write_guard::foreign_file(path, |_| false)?;
                    }
                    return Ok(Place::One(file.path));
                }
                Provenance::Created => Place::One(file.path),
                Provenance::Kept => {
                    for (cell, _) in plan.cells.iter().enumerate().filter(|(_, cell)| cell.target == target) {
                        emit(RunEvent::Found { cell, finding: findings::of_kept_file(&file.path) });
                    }
                    Place::One(file.path)
                }
            }
        };
        self.lay_out(&place, &wanted, plan.seed, target, stop, emit)?;
        Ok(place)
    }

    fn lay_out(
        &self,
        place: &Place,
        wanted: &Wanted,
        seed: u64,
        target: &str,
        stop: &AtomicBool,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(), RunError> {
        if wanted.bytes.is_empty() {
            return Ok(());
        }
        let mut files = Vec::new();
        for (number, bytes) in &wanted.bytes {
            if let Place::Directory(directory) = place {
                directory.create_file(*number).map_err(RunError::Io)?;
            }
            files.push(LayoutFile { path: place.path(*number), bytes: *bytes });
        }
        let random = layout::random_content(derive_seed(seed, Purpose::Content, 0));
        let numbers: Vec<u32> = wanted.bytes.keys().copied().collect();
        let content = |file: usize, offset: u64, buffer: &mut [u8]| match wanted.verified.get(&numbers[file]) {
            Some((seed, block)) => stamp_all(buffer, *seed, offset, *block),
            None => random(file, offset, buffer),
        };
        let mut progress = |written_bytes: u64, total_bytes: u64| {
            emit(RunEvent::LayoutProgress { target: target.to_owned(), written_bytes, total_bytes });
            if stop.load(Ordering::Relaxed) {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        };
        // Pieces hold whole blocks of the verified files.
        let piece = wanted.verified.values().map(|(_, block)| *block).max().unwrap_or(0).max(4096);
        match layout::lay_out_in_pieces(&files, piece, &content, &mut progress, stop) {
            Ok(report) => {
                emit(RunEvent::LayoutFinished {
                    target: target.to_owned(),
                    written_bytes: report.bytes,
                    elapsed_ns: report.elapsed_ns,
                });
                Ok(())
            }
            Err(error) => Err(RunError::Layout(error)),
        }
    }

    /// What kind of target a cell has.
    pub fn kind(&self, cell: usize) -> TargetKind {
        self.sites[self.cells[cell].site].kind
    }

    /// Whether blocks of a cell that no slot has written carry a verification header.
    pub fn is_laid_out(&self, cell: usize) -> bool {
        self.sites[self.cells[cell].site].is_laid_out
    }

    /// The disk below a cell's target, when there is one.
    pub fn device(&self, cell: usize) -> Option<BackingDevice> {
        self.sites[self.cells[cell].site].device
    }

    /// The files of a cell: one for each job, or one for all.
    pub fn files(&self, cell: usize) -> Vec<BorrowedFd<'_>> {
        self.cells[cell].files.iter().map(AsFd::as_fd).collect()
    }

    /// Removes what the run made, or marks it as kept.
    pub fn close(mut self, emit: &mut dyn FnMut(RunEvent)) {
        if self.keep_files {
            match self.objects.keep() {
                Ok(paths) => {
                    for path in paths {
                        let text = format!("kept {0}: `plimsoll doctor --clean {0}` removes it", path.display());
                        emit(RunEvent::Warning { text });
                    }
                }
                Err(error) => emit(RunEvent::Warning { text: format!("could not keep the files: {error}") }),
            }
        }
        let sweep = self.objects.remove();
        for left in sweep.left.iter().filter(|_| !self.keep_files) {
            emit(RunEvent::Warning { text: format!("could not remove {}: {}", left.path.display(), left.reason) });
        }
    }
}

/// Where the files of a target are.
enum Place {
    /// In a directory of our own.
    Directory(TestDirectory),
    /// The target is the file or device.
    One(PathBuf),
}

impl Place {
    fn path(&self, number: u32) -> PathBuf {
        match self {
            Self::Directory(directory) => directory.file_path(number),
            Self::One(path) => path.clone(),
        }
    }

    fn open(&self, plan: &BlockPlan, cell: usize, guard: Option<&GuardedDevice>) -> Result<Vec<OwnedFd>, RunError> {
        let purpose =
            OpenFor { read: true, write: plan.writes(), create_new: false, direct: !plan.buffered, sync: plan.sync };
        let open = |number: u32| {
            let opened = match guard {
                // The memory engine touches nothing, but every engine has a file.
                _ if plan.engine == EngineChoice::Memory => {
                    let nothing = rustix::fs::open("/dev/zero", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
                    return nothing.map_err(|errno| RunError::Io(errno.into()));
                }
                Some(guard) if plan.writes() => guard.open(purpose),
                _ => target::open(&self.path(number), purpose),
            };
            opened.map_err(RunError::Target)
        };
        file_numbers(plan, cell).into_iter().map(open).collect()
    }
}

impl Wanted {
    fn of(plan: &Plan, target: &str) -> Self {
        let mut wanted = Self::default();
        for (index, cell) in plan.cells.iter().enumerate() {
            if cell.target != target || cell.blocks.engine == EngineChoice::Memory {
                continue;
            }
            for number in file_numbers(&cell.blocks, index) {
                let bytes = wanted.bytes.entry(number).or_insert(0);
                *bytes = (*bytes).max(cell.blocks.file_bytes());
                if cell.blocks.verify {
                    wanted.verified.insert(number, (cell.blocks.seed, cell.blocks.block_size_bytes_max));
                }
            }
        }
        wanted
    }
}

/// Fills a stretch of a verified file with blocks of generation 0.
fn stamp_all(buffer: &mut [u8], seed: u64, offset: u64, block: u32) {
    for (index, chunk) in buffer.chunks_mut(block as usize).enumerate() {
        if chunk.len() == block as usize {
            verification::stamp(chunk, seed, offset + index as u64 * u64::from(block), 0);
        }
    }
}

fn is_device(target: &str) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(target).is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// Refuses to verify what nobody knows. To find such blocks wrong would be a false alarm, and the worst there is.
fn check_verification(plan: &Plan) -> Result<(), RunError> {
    for cell in plan.cells.iter().filter(|cell| cell.blocks.verify) {
        let (target, path) = (cell.target.as_str(), Path::new(&cell.target));
        let problem = if cell.blocks.engine == EngineChoice::Memory {
            "is not touched by the memory engine, which keeps nothing that could be verified: leave --verify out, or \
             choose another engine"
        } else if !path.is_dir() && cells_of(plan, target).count() > 1 {
            "would be written by several workloads in turn, and each would take the blocks of the others for damage: \
             verify one workload at a time, or name a directory, where each has files of its own"
        } else if !cell.blocks.writes() && objects::is_foreign_file(path) {
            "was not written by plimsoll, so nobody knows what --verify should find there: leave --verify out, or name \
             a directory or a new file, which are written first"
        } else {
            continue;
        };
        return Err(RunError::Unverifiable { target: target.to_owned(), problem });
    }
    Ok(())
}

/// Refuses to poll where the kernel is known to have nothing to poll. Without a disk to ask, the engine finds out.
fn check_polling(target: &str) -> Result<(), EngineUnavailable> {
    let backing = block_device::device_of(Path::new(target));
    match backing.and_then(|backing| block_device::facts(backing.disk)) {
        Some(DeviceFacts { disk, polled_queues: Some(false), .. }) => Err(EngineUnavailable {
            kind: EngineKind::IoUring,
            reason: format!(
                "--iopoll needs queues that can be polled, and the disk {disk} of \"{target}\" has none \
                 (/sys/block/{disk}/queue/io_poll is 0): leave --iopoll out, or load the disk's driver with queues for \
                 polling (nvme.poll_queues=N)"
            ),
        }),
        _ => Ok(()),
    }
}

fn cells_of<'a>(plan: &'a Plan, target: &'a str) -> impl Iterator<Item = &'a CellPlan> {
    plan.cells.iter().filter(move |cell| cell.target == target)
}
