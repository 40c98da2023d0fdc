//! What the jobs of a plan mean for each other: processors that they share, shares of files that are not there yet, and
//! whom their end ends.

use std::collections::BTreeSet;

use plimsoll_workload::{pinning::Pinning, units::Extent, workload::Workload};

use super::{CellOf, Lowering};
use crate::fio::{
    job::{Job, Jobs},
    settings::Ends,
};
use crate::found::{Found, FoundKind, Look};

impl Lowering {
    /// Each cell begins with the first of its processors, so that the clones of all jobs have to take them in turn.
    pub(super) fn turn_processors(&mut self, jobs: &Jobs) {
        for (workload, of) in &mut self.workloads {
            let Some(Pinning::Processors(processors)) = &mut workload.pin else { continue };
            let before: u32 = jobs.jobs[..of.job].iter().map(|job| job.settings.course.clones).sum();
            let first = (before + of.clone) as usize % processors.len().max(1);
            processors.rotate_left(first);
        }
    }

    /// Notes that a share of a file that is not there yet is not nothing.
    pub(super) fn tell_of_shares(&mut self, jobs: &Jobs, look: &Look<'_>) {
        let is_share = |extent: Extent| matches!(extent, Extent::Percent(percent) if percent.get() > 0);
        let is_new = |(workload, _): &&(Workload, CellOf)| {
            let (target, names) = (workload.target.as_deref().unwrap_or_default(), workload.file_names.as_ref());
            names.is_some_and(|names| names.0.iter().any(|name| !is_there(&format!("{target}/{name}"), look)))
        };
        let new: BTreeSet<usize> = self.workloads.iter().filter(is_new).map(|(_, of)| of.job).collect();
        for job in new.into_iter().filter_map(|job| jobs.jobs.get(job)) {
            let files = &job.settings.files;
            if is_share(files.offset) || is_share(files.offset_increment) {
                self.note(job, "offset: of a new file, a share is of what it will be; fio takes it for nothing");
            }
        }
    }

    /// Notes what an end or a removal means for other jobs, where it is not what this job asks for.
    pub(super) fn tell_of_others(&mut self, jobs: &Jobs) {
        let phases = std::mem::take(&mut self.phases);
        let others = || jobs.jobs.iter().zip(&phases);
        for (job, phase) in others() {
            let course = &job.settings.course;
            let ends_other_groups = others().any(|(other, of)| of == phase && other.group != job.group);
            let has_later = others().any(|(_, of)| of > phase);
            match course.ends {
                Ends::Group if course.ends_all && ends_other_groups => {
                    self.note(job, "exitall ends everything that runs beside this job, other groups too");
                }
                Ends::All if course.ends_all && has_later => {
                    self.note(job, "exit_what=all ends everything that runs beside this job; later jobs are run");
                }
                _ => {}
            }
            let is_removed = |job: &Job| job.settings.files.is_removed_after;
            if is_removed(job) && !jobs.jobs.iter().all(is_removed) {
                self.note(job, "unlink: files stay, because not all jobs ask for it");
            }
        }
        self.phases = phases;
    }
}

/// Whether there is something at a path that can be read and written.
fn is_there(path: &str, look: &Look<'_>) -> bool {
    matches!(look(path), Some(Found { kind: FoundKind::File | FoundKind::Device, .. }))
}
