//! What follows from how many operations a job has issued: syncs after so many writes, and pauses after so many
//! operations. Of one worker, or of the threads of a job, which do together what one that queues does alone.

use std::{
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use plimsoll_workload::{operation::OperationKind, plan::BlockPlan};

/// How far a job has come.
#[derive(Debug)]
pub struct Course {
    fsync_every: u64,
    fdatasync_every: u64,
    think_time_ns: u64,
    think_time_operations: u32,
    writes: u64,
    /// The sync that is due, and the file of the write that it follows.
    due: Option<(OperationKind, u16)>,
    issued_since_pause: u32,
    /// Operations and syncs that have not ended, and when the last of them had.
    in_flight: usize,
    idle_from_ns: u64,
}

/// What a worker is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Issue its operation.
    Issue,
    /// Issue this sync of this file first.
    Sync(OperationKind, u16),
    /// Issue nothing before the pause is over.
    Pause,
}

impl Course {
    /// The course of a job that has not begun.
    const fn new(plan: &BlockPlan) -> Self {
        Self {
            fsync_every: plan.fsync_every,
            fdatasync_every: plan.fdatasync_every,
            think_time_ns: plan.think_time_ns,
            think_time_operations: plan.think_time_operations,
            writes: 0,
            due: None,
            issued_since_pause: 0,
            in_flight: 0,
            idle_from_ns: 0,
        }
    }

    /// Whether anything follows from it.
    const fn matters(&self) -> bool {
        self.fsync_every > 0 || self.fdatasync_every > 0 || self.think_time_ns > 0
    }

    const fn is_pausing(&self) -> bool {
        self.think_time_ns > 0 && self.issued_since_pause >= self.think_time_operations
    }

    fn next(&mut self, written: Option<u16>) -> Turn {
        if self.is_pausing() {
            return Turn::Pause;
        }
        self.in_flight += 1;
        if let Some((kind, file)) = self.due.take() {
            return Turn::Sync(kind, file);
        }
        self.issued_since_pause = self.issued_since_pause.saturating_add(1);
        if let Some(file) = written {
            self.writes += 1;
            let is_due = |every: u64| every > 0 && self.writes.is_multiple_of(every);
            // Of two that are due at once, the one that does more is enough.
            if is_due(self.fsync_every) {
                self.due = Some((OperationKind::Sync, file));
            } else if is_due(self.fdatasync_every) {
                self.due = Some((OperationKind::DataSync, file));
            }
        }
        Turn::Issue
    }

    /// When the pause is over: at once when there is none, nobody knows while operations are in flight. Whoever asks
    /// after that moment ends it.
    fn resumes_ns(&mut self, now: u64) -> Option<u64> {
        if !self.is_pausing() {
            return Some(now);
        }
        if self.in_flight > 0 {
            return None;
        }
        let resumes_ns = self.idle_from_ns.saturating_add(self.think_time_ns);
        if now >= resumes_ns {
            self.issued_since_pause = 0;
        }
        Some(resumes_ns)
    }
}

/// The course of threads that share one.
#[derive(Debug)]
pub struct SharedCourse {
    course: Mutex<Course>,
    idle: Condvar,
}

impl SharedCourse {
    /// Of a plan's job; `None` where nothing follows from it, so that nobody need take turns.
    pub fn new(plan: &BlockPlan) -> Option<Self> {
        let course = Course::new(plan);
        course.matters().then(|| Self { course: Mutex::new(course), idle: Condvar::new() })
    }

    /// A panic elsewhere leaves numbers that are as good as before.
    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker's hold on the course of its job.
#[derive(Debug)]
pub enum CourseOf<'a> {
    /// Nothing follows from how many operations there were.
    Free,
    /// The job has no other worker.
    Own(Course),
    /// Threads of which each has one operation in flight.
    Shared(&'a SharedCourse),
}

impl CourseOf<'_> {
    /// Of a job without other workers that has not begun.
    pub const fn new(plan: &BlockPlan) -> Self {
        let course = Course::new(plan);
        if course.matters() { Self::Own(course) } else { Self::Free }
    }

    /// What comes next for whoever has an operation to issue, a write to this file or none. What it says is counted as
    /// being in flight: were it said apart, a thread could issue another write before the sync that is due.
    #[inline(always)]
    pub(crate) fn next(&mut self, written: Option<u16>) -> Turn {
        if matches!(self, Self::Free) { Turn::Issue } else { self.next_counted(written) }
    }

    // Most workers have no course, and their loop is to be short.
    #[inline(never)]
    fn next_counted(&mut self, written: Option<u16>) -> Turn {
        match self {
            Self::Free => Turn::Issue,
            Self::Own(course) => course.next(written),
            Self::Shared(shared) => shared.course().next(written),
        }
    }

    /// Counts a sync that is due for another reason.
    pub(crate) fn begin_another(&mut self) {
        match self {
            Self::Free => {}
            Self::Own(course) => course.in_flight += 1,
            Self::Shared(shared) => shared.course().in_flight += 1,
        }
    }

    /// Notes that so many operations or syncs have ended.
    #[inline]
    pub(crate) fn end(&mut self, count: usize, now: u64) {
        if count == 0 {
            return;
        }
        let end = |course: &mut Course| {
            course.in_flight -= count;
            course.idle_from_ns = now;
            course.in_flight == 0 && course.is_pausing()
        };
        match self {
            Self::Own(course) => drop(end(course)),
            Self::Shared(shared) if end(&mut shared.course()) => shared.idle.notify_all(),
            Self::Free | Self::Shared(_) => {}
        }
    }

    /// When the pause is over, if the operations of all threads have ended.
    pub(crate) fn resumes_ns(&mut self, now: u64) -> Option<u64> {
        match self {
            Self::Free => Some(now),
            Self::Own(course) => course.resumes_ns(now),
            Self::Shared(shared) => shared.course().resumes_ns(now),
        }
    }

    /// Waits until the operations of other threads have ended, but not longer than this.
    pub(crate) fn wait_for_others(&self, patience_ns: u64) {
        if let Self::Shared(shared) = self {
            let are_busy = |course: &mut Course| course.in_flight > 0 && course.is_pausing();
            let patience = Duration::from_nanos(patience_ns);
            let waited = shared.idle.wait_timeout_while(shared.course(), patience, are_busy);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Who of the threads of a job makes durable at its end what all of them wrote.
#[derive(Debug)]
pub struct JobEnd {
    workers_left: AtomicU32,
    has_written: AtomicBool,
}

impl JobEnd {
    /// Of a job of so many workers.
    pub const fn of(workers: u32) -> Self {
        Self { workers_left: AtomicU32::new(workers), has_written: AtomicBool::new(false) }
    }

    /// Notes that a worker has nothing in flight and issues nothing more. Whether it is the last one, of a job that
    /// wrote something.
    pub(crate) fn leave(&self, has_written: bool) -> bool {
        self.has_written.fetch_or(has_written, Ordering::Relaxed);
        self.workers_left.fetch_sub(1, Ordering::AcqRel) == 1 && self.has_written.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_plans::plan;

    const WRITE: Option<u16> = Some(0);

    /// Two threads of a job.
    fn two(shared: &SharedCourse) -> [CourseOf<'_>; 2] {
        [(); 2].map(|()| CourseOf::Shared(shared))
    }

    #[test]
    fn a_sync_follows_the_writes_of_all_threads_of_a_job() {
        let plan = plan("rw = 'randwrite'\nfsync = 3");
        let shared = SharedCourse::new(&plan).unwrap();
        let [mut one, mut other] = two(&shared);
        assert_eq!([one.next(WRITE), other.next(WRITE), one.next(None), one.next(Some(7))], [Turn::Issue; 4]);
        assert_eq!(other.next(WRITE), Turn::Sync(OperationKind::Sync, 7));
        assert_eq!([one.next(WRITE), other.next(WRITE)], [Turn::Issue; 2]);
    }

    #[test]
    fn threads_of_a_job_think_together_when_the_last_operation_of_any_has_ended() {
        let plan = plan("rw = 'randread'\nthink_time = '1us/3'");
        let shared = SharedCourse::new(&plan).unwrap();
        let [mut one, mut other] = two(&shared);
        assert_eq!([one.next(None), other.next(None), one.next(None)], [Turn::Issue; 3]);
        assert_eq!([one.next(None), other.next(None)], [Turn::Pause; 2]);
        one.end(2, 100);
        assert_eq!((one.resumes_ns(5000), one.next(None)), (None, Turn::Pause));
        other.end(1, 6000);
        assert_eq!((one.resumes_ns(6999), other.resumes_ns(6000)), (Some(7000), Some(7000)));
        assert_eq!((one.resumes_ns(7000), one.next(None)), (Some(7000), Turn::Issue));
        // The other one wakes up later, and finds that it may go on as well.
        assert_eq!((other.resumes_ns(7001), other.next(None)), (Some(7001), Turn::Issue));
    }

    #[test]
    fn the_last_of_the_threads_syncs_at_the_end_of_a_job_that_wrote() {
        let end = JobEnd::of(3);
        assert_eq!([true, false, false].map(|has_written| end.leave(has_written)), [false, false, true]);
        let end = JobEnd::of(2);
        assert_eq!([end.leave(false), end.leave(false)], [false, false], "nothing was written");
    }

    #[test]
    fn a_pause_without_end_never_ends() {
        let plan = BlockPlan { think_time_ns: u64::MAX, ..plan("rw = 'randread'\nthink_time = '1us'") };
        let mut course = CourseOf::new(&plan);
        assert_eq!(course.next(None), Turn::Issue);
        course.end(1, 1000);
        assert_eq!(course.resumes_ns(2000), Some(u64::MAX));
    }

    #[test]
    fn nobody_takes_turns_where_nothing_follows() {
        let plan = plan("rw = 'randwrite'");
        assert!(SharedCourse::new(&plan).is_none() && matches!(CourseOf::new(&plan), CourseOf::Free));
    }
}
