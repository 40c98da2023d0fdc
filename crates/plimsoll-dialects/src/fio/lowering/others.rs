//! What the jobs of a plan mean for each other: processors that they share, and whom their end ends.

use plimsoll_workload::pinning::Pinning;

use super::Lowering;
use crate::fio::{
    job::{Job, Jobs},
    settings::Ends,
};

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
