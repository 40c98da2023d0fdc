//! Files that the page cache is to be without at the start of each pass over them, so that reads come from the storage.

use std::os::fd::BorrowedFd;

use plimsoll_io::page_cache;
use plimsoll_workload::plan::BlockPlan;

/// The files of a job, and how much one of its workers has to do until all of it comes again.
#[derive(Debug)]
pub struct ColdFiles<'a> {
    files: &'a [BorrowedFd<'a>],
    pass_bytes: u64,
    left_bytes: u64,
}

impl<'a> ColdFiles<'a> {
    /// The files of a job that so many workers share; `None` where the plan lets the page cache keep them.
    pub(crate) fn of(plan: &BlockPlan, files: &'a [BorrowedFd<'a>], workers: u32) -> Option<Self> {
        let pass_bytes = (plan.job_region(0).length / u64::from(workers)).max(1);
        (plan.drops_cache && !files.is_empty()).then_some(Self { files, pass_bytes, left_bytes: 0 })
    }

    /// Counts what is about to be issued, and tells whether files were dropped from the page cache for it. That takes a
    /// while.
    #[inline]
    pub(crate) fn count(&mut self, bytes: u32) -> bool {
        let begins = self.left_bytes == 0;
        if begins {
            self.drop_cached();
        }
        self.left_bytes = self.left_bytes.saturating_sub(bytes.into());
        begins
    }

    #[cold]
    fn drop_cached(&mut self) {
        self.files.iter().for_each(|file| page_cache::drop_cached(*file));
        self.left_bytes = self.pass_bytes;
    }
}
