//! From jobs to a plan: what fio calls a job becomes workloads on targets, and what a plan cannot say becomes a note or
//! a problem.
//!
//! Jobs that run at the same time are a phase. A job whose clones are reported together is one workload with as many
//! jobs; otherwise each clone is a workload of its own.

mod amount;
mod files;
mod heeded;
mod load;
pub(super) mod names;
mod others;

use std::collections::HashMap;

use plimsoll_workload::{plan_file::PlanFile, units::Span, workload::Workload};

use self::{amount::Amount, files::FileSet};
use super::{
    job::{Job, Jobs},
    settings::{Checksum, Engine},
};
use crate::{
    found::{Found, FoundKind, Look},
    problem::{Note, Problem, Problems, Wrong},
};

/// Which job and clone a cell of the plan is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellOf {
    /// The job, as an index.
    pub job: usize,
    /// The first clone that it stands for.
    pub clone: u32,
}

/// The shortest runtime within which a steady state is looked for.
const STEADY_RUNTIME_MIN: Span = Span { ns: 60_000_000_000 };

const STEADY_STATE_BY_OWN_RULES: &str =
    "steadystate is decided by plimsoll's own rules, within the runtime: see docs/measuring.md";
const STEADY_STATE_ENDS_NOTHING: &str = "steadystate does not end a job that has a size to do, that is not the only one \
     or that runs for less than a minute: the verdict says how steady it was";

const SEVERAL_TARGETS: &str = "the files of the job are on several targets, which share its depth and rate; each goes \
     on as fast as it can, where fio takes turns";

const SHARE_OF_NEW_FILE: &str = "offset: of a new file, a share is of what it will be; fio takes it for nothing";

/// Files of all jobs.
const NAMES_MAX: u64 = 4_000_000;

/// Jobs as a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lowered {
    /// What `plimsoll run --plan` would take.
    pub plan: PlanFile,
    /// Where each cell of the plan is from, in the order of the cells.
    pub cells: Vec<CellOf>,
    /// What is not quite as fio does it.
    pub notes: Vec<Note>,
    /// Directories in the names of files, which are made where they are missing, as fio makes them.
    pub directories: Vec<String>,
    /// What makes the files of jobs with `create_only`, before anything is measured; they have no cells in the plan.
    pub creation: Option<PlanFile>,
    /// Whether files stay, as fio leaves them.
    pub keeps_files: bool,
}

/// Makes a plan of jobs.
///
/// # Errors
/// With everything in them that no plan can say.
pub fn lower(jobs: &Jobs, look: &Look<'_>) -> Result<Lowered, Problems> {
    let mut lowering = Lowering::default();
    for (index, job) in jobs.jobs.iter().enumerate() {
        lowering.begin(index, job);
        let makes_directories = jobs.switches.within.is_some();
        if let Err(wrong) = lowering.job(index, job, look, makes_directories) {
            lowering.problems.push(wrong.at(job.place.clone()));
        }
    }
    lowering.check_search(jobs);
    if !lowering.problems.is_empty() {
        return Err(Problems(lowering.problems));
    }
    lowering.turn_processors(jobs);
    lowering.tell_of_others(jobs);
    Ok(lowering.finish(jobs))
}

/// A plan in the making.
#[derive(Default)]
struct Lowering {
    targets: Vec<String>,
    directories: Vec<String>,
    workloads: Vec<(Workload, CellOf)>,
    creation: PlanFile,
    notes: Vec<Note>,
    problems: Vec<Problem>,
    /// The phase after the last job that waited for all before it.
    wall: u32,
    /// The phase that each job is in.
    phases: Vec<u32>,
    /// Files of all jobs so far.
    names: u64,
    /// How long files in directories are once those of the jobs so far were made.
    made_bytes: HashMap<String, HashMap<String, u64>>,
    /// How long the one job may take that the rules end when it is steady.
    steady_runtime: Option<Span>,
}

impl Lowering {
    /// Decides in which phase a job is.
    fn begin(&mut self, index: usize, job: &Job) {
        if job.settings.course.waits_for_all && index > 0 {
            self.wall = self.phases.iter().max().map_or(0, |last| last + 1);
        }
        let after_other = job.waits_for.and_then(|other| self.phases.get(other)).map_or(0, |phase| phase + 1);
        if after_other > self.wall {
            self.note(job, "wait_for waits for everything that runs beside that job");
        }
        self.phases.push(after_other.max(self.wall));
    }

    /// A search for a depth has the storage to itself.
    fn check_search(&mut self, jobs: &Jobs) {
        let searching = jobs.jobs.iter().find(|job| job.settings.rate.latency_target.is_some());
        if let Some(job) = searching.filter(|_| self.workloads.len() > 1) {
            let wrong = Wrong::new("latency_target searches the depth of one job, and there are several")
                .instead("run that section alone, as with --section, and give clones group_reporting");
            self.problems.push(wrong.at(job.place.clone()));
        }
    }

    fn note(&mut self, job: &Job, text: impl Into<String>) {
        let note = Note { place: job.place.clone(), text: text.into() };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn job(&mut self, index: usize, job: &Job, look: &Look<'_>, makes_directories: bool) -> Result<(), Wrong> {
        let clones = job.settings.course.clones;
        self.names = self.names.saturating_add(u64::from(job.settings.files.count) * u64::from(clones));
        if self.names > NAMES_MAX {
            let count = job.settings.files.count;
            let wrong =
                Wrong::new(format!("with {clones} clones of {count} files there are more than {NAMES_MAX} in all"));
            return Err(wrong.instead("write smaller nrfiles= or numjobs="));
        }
        self.check_verification(job)?;
        let sets = self.file_sets(job, look)?;
        let targets = |sets: &[FileSet]| sets.iter().map(|set| set.target.clone()).collect::<Vec<_>>();
        let has_same_targets = sets.iter().all(|one| targets(one) == targets(&sets[0]));
        let is_together = job.settings.report.is_by_group && has_same_targets && has_one_region(job, &sets)?;
        let parts: Vec<&[Vec<FileSet>]> = if is_together { vec![&sets] } else { sets.chunks(1).collect() };
        for (clone, part) in parts.into_iter().enumerate() {
            let clone = clone as u32;
            for number in 0..part[0].len() {
                let sets: Vec<FileSet> = part.iter().map(|sets| sets[number].clone()).collect();
                let workload = self.workload(index, job, clone, &sets)?;
                self.put(job, workload, CellOf { job: index, clone }, look, makes_directories);
            }
        }
        Ok(())
    }

    /// The files of each clone. fio makes them before any job runs, one job after the other, and of a job those of the
    /// first clone, then of the last until the second: each finds them as long as all before it need them.
    fn file_sets(&mut self, job: &Job, look: &Look<'_>) -> Result<Vec<Vec<FileSet>>, Wrong> {
        let clones = job.settings.course.clones;
        if job.settings.engine.is_of_names() {
            return (0..clones).map(|clone| FileSet::all_of(job, clone, look)).collect();
        }
        let mut sets = vec![Vec::new(); clones as usize];
        for clone in (0..clones.min(1)).chain((1..clones).rev()) {
            let of_clone = FileSet::all_of(job, clone, &|path| self.found(path, look))?;
            for set in &of_clone {
                let amount = Amount::of(job, set, clone)?;
                if amount.has_share_of_new_file(job, set, clone) {
                    self.note(job, SHARE_OF_NEW_FILE);
                }
                if !files::have_length(job) {
                    continue;
                }
                let made = self.made_bytes.entry(set.target.clone()).or_default();
                for name in &set.names {
                    let bytes = made.entry(name.clone()).or_default();
                    *bytes = amount.end_bytes.max(*bytes);
                }
            }
            sets[clone as usize] = of_clone;
        }
        Ok(sets)
    }

    /// What lies at a path when the files of the jobs so far were made.
    fn found(&self, path: &str, look: &Look<'_>) -> Option<Found> {
        let (directory, name) = files::directory_and_name(path);
        let found = look(path);
        let Some(made) = self.made_bytes.get(directory).and_then(|made| made.get(name)) else { return found };
        match found {
            None => Some(Found { kind: FoundKind::File, size_bytes: *made }),
            Some(found) => Some(Found { size_bytes: found.size_bytes.max(*made), ..found }),
        }
    }

    /// Whoever only reads cannot know what an earlier run wrote.
    fn check_verification(&self, job: &Job) -> Result<(), Wrong> {
        let verifies = job.settings.content.verify.is_some_and(|checksum| checksum != Checksum::Null);
        let is_written = self.workloads.iter().any(|(workload, _)| workload.verify == Some(true));
        if !verifies || job.settings.pattern.direction.writes || is_written || job.settings.engine == Engine::Null {
            return Ok(());
        }
        Err(Wrong::new("verify with reads alone checks what an earlier run wrote, which is not there yet")
            .instead("write and verify in one job, as rw=write with verify, or leave verify out"))
    }

    fn put(&mut self, job: &Job, workload: Workload, of: CellOf, look: &Look<'_>, makes_directories: bool) {
        let target = workload.target.clone().expect("every workload was given its target");
        let is_made = makes_directories || files::is_in_names(job, &target);
        if is_made && look(&target).is_none() && !self.directories.contains(&target) {
            self.directories.push(target.clone());
        }
        let is_created = job.settings.files.is_creation_only;
        let targets = if is_created { &mut self.creation.targets } else { &mut self.targets };
        if !targets.contains(&target) {
            targets.push(target);
        }
        if is_created {
            self.creation.workloads.push(Workload { phase: None, ..workload });
        } else {
            self.workloads.push((workload, of));
        }
    }

    /// The workload of some clones of a job, on one target.
    fn workload(&mut self, index: usize, job: &Job, clone: u32, sets: &[FileSet]) -> Result<Workload, Wrong> {
        let mut notes = |text| {
            let note = Note { place: job.place.clone(), text };
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        };
        let is_of_names = job.settings.engine.is_of_names();
        let amount = (!is_of_names).then(|| Amount::of(job, &sets[0], clone)).transpose()?;
        let region_bytes = amount.as_ref().map_or(0, |amount| amount.region_bytes);
        let mut workload = load::workload(index, job, region_bytes, &mut notes)?;
        // Clones that went to the same places at the same time would find what another has just read.
        workload.seed = workload.seed.map(|seed| seed.wrapping_add(u64::from(clone) << 16));
        workload.name = Some(match job.settings.course.clones {
            clones if clones as usize == sets.len() => job.name.clone(),
            _ => format!("{}.{clone}", job.name),
        });
        workload.target = Some(sets[0].target.clone());
        match amount {
            Some(amount) => {
                let second = sets.get(1).map(|set| Amount::of(job, set, clone + 1)).transpose()?;
                let apart_bytes = second.map_or(0, |second| second.offset_bytes.saturating_sub(amount.offset_bytes));
                files::put(job, sets, &amount, apart_bytes, &mut workload);
                amount.put(job, &sets[0], sets.len() as u64, &mut workload);
            }
            None => names::put(job, sets, &mut notes, &mut workload)?,
        }
        if amount.is_some_and(|amount| amount.is_cut) {
            self.note(job, format!("size: {} ends before that, so the job ends there", sets[0].target));
        }
        if sets[0].repeats > 1 {
            let times = sets[0].repeats;
            self.note(job, format!("each file is named {times} times, and fio takes it for so many files"));
        }
        if sets[0].all > sets[0].count() {
            self.note(job, SEVERAL_TARGETS);
            load::share(&sets[0], &mut workload)?;
        }
        if job.settings.course.steady_state_duration.is_some() {
            self.steady_state(index, job, &mut workload);
        } else {
            workload.phase = self.phases.get(index).copied();
        }
        Ok(workload)
    }

    /// Lets plimsoll's rules decide what fio's would.
    fn steady_state(&mut self, index: usize, job: &Job, workload: &mut Workload) {
        let course = &job.settings.course;
        // Plimsoll's rules want more of a runtime than fio's.
        let is_long = course.runtime.is_some_and(|runtime| runtime.ns >= STEADY_RUNTIME_MIN.ns);
        let ends_otherwise = !course.is_time_based || !is_long;
        if ends_otherwise || course.clones > 1 || !self.workloads.is_empty() {
            self.note(job, STEADY_STATE_ENDS_NOTHING);
            workload.phase = self.phases.get(index).copied();
            return;
        }
        self.steady_runtime = workload.duration.take();
        workload.io_size = None;
    }

    fn finish(mut self, jobs: &Jobs) -> Lowered {
        files::make_each_once(&mut self.workloads.iter_mut().map(|(workload, _)| workload).collect::<Vec<_>>());
        files::make_each_once(&mut self.creation.workloads.iter_mut().collect::<Vec<_>>());
        let is_phased = |(workload, _): &(Workload, CellOf)| workload.phase.is_some();
        // Either all cells are in phases or none: a first job that was left to the rules is not alone.
        if self.workloads.iter().any(is_phased)
            && let Some((workload, _)) = self.workloads.iter_mut().find(|(workload, _)| workload.phase.is_none())
        {
            workload.phase = Some(0);
            workload.duration = self.steady_runtime.take();
        }
        let steady = |(_, of): &&(Workload, CellOf)| jobs.jobs[of.job].settings.course.steady_state_duration.is_some();
        if let Some(job) = self.workloads.iter().find(steady).map(|(_, of)| &jobs.jobs[of.job]) {
            let is_decided = self.steady_runtime.is_some();
            self.note(job, if is_decided { STEADY_STATE_BY_OWN_RULES } else { STEADY_STATE_ENDS_NOTHING });
        }
        // Jobs that only create may have left gaps.
        let mut phases: Vec<u32> = self.workloads.iter().filter_map(|(workload, _)| workload.phase).collect();
        phases.sort_unstable();
        phases.dedup();
        for (workload, _) in &mut self.workloads {
            workload.phase =
                workload.phase.and_then(|phase| phases.binary_search(&phase).ok()).map(|index| index as u32);
        }
        // Cells come target by target.
        let mut order: Vec<(usize, CellOf)> = Vec::new();
        for (index, target) in self.targets.iter().enumerate() {
            let of = self.workloads.iter().filter(|(workload, _)| workload.target.as_ref() == Some(target));
            order.extend(of.map(|(_, cell)| (index, *cell)));
        }
        // A runtime begins after what comes before it, and a run at once.
        let before = self.workloads.first().map_or([None; 2], |(workload, _)| [workload.start_delay, workload.ramp]);
        let after = |runtime: Span, before: Span| Span { ns: runtime.ns.saturating_add(before.ns) };
        let max_time = self.steady_runtime.map(|runtime| before.into_iter().flatten().fold(runtime, after));
        let all = |is: fn(&Job) -> bool| !jobs.jobs.is_empty() && jobs.jobs.iter().all(is);
        Lowered {
            cells: order.into_iter().map(|(_, cell)| cell).collect(),
            plan: PlanFile {
                targets: self.targets,
                max_time,
                destroy: jobs.switches.destroys.clone(),
                keep_files: true,
                workloads: self.workloads.into_iter().map(|(workload, _)| workload).collect(),
                ..PlanFile::default()
            },
            directories: self.directories,
            notes: self.notes,
            creation: (!self.creation.workloads.is_empty()).then(|| PlanFile {
                destroy: jobs.switches.destroys.clone(),
                keep_files: true,
                ..self.creation
            }),
            keeps_files: jobs.switches.keeps_files || !all(|job| job.settings.files.is_removed_after),
        }
    }
}

/// Whether one workload says where all clones of a job are: as many bytes each, and as far apart in files that they
/// share.
fn has_one_region(job: &Job, sets: &[Vec<FileSet>]) -> Result<bool, Wrong> {
    if job.settings.engine.is_of_names() || sets.len() < 2 {
        return Ok(true);
    }
    for number in 0..sets[0].len() {
        let of = |clone: usize| Amount::of(job, &sets[clone][number], clone as u32);
        let (first, second) = (of(0)?, of(1)?);
        for clone in 1..sets.len() {
            let (amount, set) = (of(clone)?, &sets[clone][number]);
            let is_shared = set.names == sets[0][number].names;
            let apart = second.offset_bytes.saturating_sub(first.offset_bytes).saturating_mul(clone as u64);
            let is_even = amount.offset_bytes == first.offset_bytes.saturating_add(apart);
            // Shares of files of one length are apart but for a block.
            let is_close = set.size_bytes == sets[0][number].size_bytes;
            let fits = if is_shared { is_even || is_close } else { amount.offset_bytes == first.offset_bytes };
            if amount.region_bytes != first.region_bytes || !fits {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
