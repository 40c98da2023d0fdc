//! The system calls that operations on files are made of, and how long each took.

use plimsoll_io::clock::{Clock, MonotonicClock};
use plimsoll_measure::latency::LatencyHistogram;

/// A kind of system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `openat`.
    Open,
    /// `pwrite`.
    Write,
    /// `pread`.
    Read,
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
    /// `fsync` of a directory.
    FsyncDirectory,
    /// `close`.
    Close,
    /// `fstatat`.
    Stat,
    /// `getdents64`.
    Getdents,
    /// `renameat`.
    Rename,
    /// `linkat`.
    Link,
    /// `symlinkat`.
    Symlink,
    /// `fsetxattr`.
    SetXattr,
    /// `fgetxattr`.
    GetXattr,
    /// `ftruncate`.
    Truncate,
    /// `unlinkat`.
    Unlink,
    /// `mkdirat`.
    Mkdir,
    /// `unlinkat` of a directory.
    Rmdir,
}

impl Call {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 18] = [
        Self::Open,
        Self::Write,
        Self::Read,
        Self::Fsync,
        Self::Fdatasync,
        Self::FsyncDirectory,
        Self::Close,
        Self::Stat,
        Self::Getdents,
        Self::Rename,
        Self::Link,
        Self::Symlink,
        Self::SetXattr,
        Self::GetXattr,
        Self::Truncate,
        Self::Unlink,
        Self::Mkdir,
        Self::Rmdir,
    ];

    /// Its name in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Write => "write",
            Self::Read => "read",
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::FsyncDirectory => "fsync_directory",
            Self::Close => "close",
            Self::Stat => "stat",
            Self::Getdents => "getdents",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Symlink => "symlink",
            Self::SetXattr => "setxattr",
            Self::GetXattr => "getxattr",
            Self::Truncate => "truncate",
            Self::Unlink => "unlink",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
        }
    }
}

/// The latencies of a job, call by call, and of its operations as a whole.
#[derive(Clone, Debug)]
pub struct Times {
    calls: [Option<Box<LatencyHistogram>>; Call::ALL.len()],
    /// Latencies of operations: the calls of one together.
    pub operations: LatencyHistogram,
    /// The time of all operations together.
    pub operation_ns: u64,
    /// The calls of the operation that goes on.
    current_ns: u64,
    /// When the last call ended, or what went on outside of calls.
    now_ns: u64,
}

impl Times {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            calls: [const { None }; Call::ALL.len()],
            operations: LatencyHistogram::fine(),
            operation_ns: 0,
            current_ns: 0,
            now_ns: 0,
        }
    }

    /// What follows until the next call is not the storage's.
    pub fn resume(&mut self) {
        self.now_ns = MonotonicClock.now_ns();
    }

    /// Times a call. It is taken to have begun when the one before ended, so that one look at the clock does for both.
    pub fn time<T>(&mut self, call: Call, does: impl FnOnce() -> T) -> T {
        let answer = does();
        let ended_ns = MonotonicClock.now_ns();
        let latency_ns = ended_ns - self.now_ns;
        self.now_ns = ended_ns;
        self.current_ns += latency_ns;
        let histogram = self.calls[call as usize].get_or_insert_with(|| Box::new(LatencyHistogram::coarse()));
        histogram.record_many(latency_ns, 1);
        answer
    }

    /// An operation is complete. One that took no call has no latency: a name that is looked at in passing.
    pub fn finish(&mut self) {
        if self.current_ns > 0 {
            self.operations.record_many(self.current_ns, 1);
        }
        self.operation_ns += self.current_ns;
        self.current_ns = 0;
    }

    /// An operation failed, so that its time means nothing.
    pub fn discard(&mut self) {
        self.current_ns = 0;
    }

    /// The time of calls that belong to no operation, which begins anew.
    pub fn take_apart(&mut self) -> u64 {
        std::mem::take(&mut self.current_ns)
    }

    /// When the last call ended.
    pub const fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Adds those of another job.
    pub fn merge(&mut self, other: &Self) {
        for (sum, calls) in self.calls.iter_mut().zip(&other.calls) {
            match (sum, calls) {
                (Some(sum), Some(calls)) => sum.merge(calls),
                (sum, Some(calls)) => *sum = Some(calls.clone()),
                (_, None) => {}
            }
        }
        self.operations.merge(&other.operations);
        self.operation_ns += other.operation_ns;
    }

    /// The calls that there were, with their latencies.
    pub fn calls(&self) -> impl Iterator<Item = (Call, &LatencyHistogram)> {
        Call::ALL.into_iter().filter_map(|call| Some((call, &**self.calls[call as usize].as_ref()?)))
    }
}

impl Default for Times {
    fn default() -> Self {
        Self::new()
    }
}
