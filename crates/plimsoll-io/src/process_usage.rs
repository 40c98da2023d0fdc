//! What this process has used of the machine so far, by the kernel's own count.

use std::{fs, mem::MaybeUninit};

use rustix::time::{ClockId, clock_gettime};

/// Processor time and disturbances of all threads of this process, ended ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Time in user mode.
    pub user_ns: u64,
    /// Time in the kernel on behalf of this process.
    pub system_ns: u64,
    /// Page faults that needed no I/O.
    pub minor_faults: u64,
    /// Page faults that waited for I/O.
    pub major_faults: u64,
    /// How often a thread gave its processor up to wait.
    pub voluntary_switches: u64,
    /// How often a thread had its processor taken.
    pub involuntary_switches: u64,
}

impl ProcessUsage {
    /// The usage of this process until now, in microseconds resolution (`getrusage`).
    pub fn now() -> Self {
        let usage = own_usage();
        Self {
            user_ns: nanoseconds(usage.ru_utime),
            system_ns: nanoseconds(usage.ru_stime),
            minor_faults: usage.ru_minflt.unsigned_abs(),
            major_faults: usage.ru_majflt.unsigned_abs(),
            voluntary_switches: usage.ru_nvcsw.unsigned_abs(),
            involuntary_switches: usage.ru_nivcsw.unsigned_abs(),
        }
    }

    /// What was used since an earlier reading.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
        }
    }
}

/// What the kernel counts of this process.
pub(crate) fn own_usage() -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to memory for one such structure, which lives until the call returns.
    let result = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    assert_eq!(result, 0, "getrusage fails for wrong arguments only");
    // SAFETY: it was zeroed, which is a valid value of all of its fields, and the call has filled it.
    unsafe { usage.assume_init() }
}

pub(crate) fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1000
}

/// Processor time of the calling thread so far. A system call: not for the inside of a loop.
pub fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Time that the calling thread has been ready to run without a processor so far: others had it, or a quota held the
/// thread back. `None` where the kernel does not count it. Reads a small file: not for the inside of a loop.
pub fn thread_run_delay_ns() -> Option<u64> {
    run_delay_ns(&fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

/// Reads the text of /proc/thread-self/schedstat: time that the thread ran, time that it was ready to, turns it had.
fn run_delay_ns(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Bytes that this process had the kernel move between memory and storage: all of its threads, ended ones and those
/// that the kernel runs on its behalf (`io_uring`) included.
///
/// Reads count when they are sent to a block device, so what the page cache answers is not in them, and what it reads
/// ahead is. Writes around the page cache count when they are sent; writes through it count when a page becomes dirty,
/// with the pages that the kernel keeps together with it (large folios), whenever that reaches the storage. What file
/// systems move without a block device, some count and some do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessIo {
    /// Bytes read from storage.
    pub read_bytes: u64,
    /// Bytes written to storage, or to be written.
    pub write_bytes: u64,
    /// Bytes in `write_bytes` that were cut off or removed before they got there.
    pub cancelled_write_bytes: u64,
}

impl ProcessIo {
    /// The bytes of this process until now; `None` where the kernel does not count them.
    pub fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/self/io").ok()?)
    }

    /// Reads the text of /proc/self/io.
    pub fn parse(text: &str) -> Option<Self> {
        let value = |wanted: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(name, _)| *name == wanted)?.1.trim().parse().ok()
        };
        Some(Self {
            read_bytes: value("read_bytes")?,
            write_bytes: value("write_bytes")?,
            cancelled_write_bytes: value("cancelled_write_bytes")?,
        })
    }

    /// What was moved since an earlier reading.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(earlier.write_bytes),
            cancelled_write_bytes: self.cancelled_write_bytes.saturating_sub(earlier.cancelled_write_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hint;

    use super::*;
    use crate::clock::{Clock, MonotonicClock};

    #[test]
    fn work_shows_as_processor_time_and_touched_memory_as_page_faults() {
        let before = ProcessUsage::now();
        let start_ns = MonotonicClock.now_ns();
        let memory = hint::black_box(vec![1_u8; 8 << 20]);
        while ProcessUsage::now().since(&before).user_ns < 5_000_000 {
            hint::black_box(memory.iter().map(|byte| u64::from(*byte)).sum::<u64>());
            assert!(MonotonicClock.now_ns() - start_ns < 60_000_000_000, "no processor time was counted");
        }
        assert!(ProcessUsage::now().since(&before).minor_faults > 0);
        assert_eq!(before.since(&before), ProcessUsage::default());
    }

    #[test]
    fn a_thread_has_its_own_processor_time_and_none_while_it_waits() {
        let before_ns = thread_cpu_ns();
        let worked_ns = std::thread::spawn(|| {
            while thread_cpu_ns() < 20_000_000 {
                hint::spin_loop();
            }
            thread_cpu_ns()
        });
        assert!(worked_ns.join().unwrap() >= 20_000_000);
        assert!(thread_cpu_ns() - before_ns < 20_000_000, "waiting for another thread is not work");
    }

    #[test]
    fn a_thread_that_sleeps_is_not_ready_to_run() {
        assert_eq!(run_delay_ns("184959 6740 2\n"), Some(6740));
        assert_eq!(run_delay_ns("184959\n"), None);
        let Some(before_ns) = thread_run_delay_ns() else { return };
        let start_ns = MonotonicClock.now_ns();
        std::thread::spawn(thread_cpu_ns).join().unwrap();
        assert!(thread_run_delay_ns().unwrap() - before_ns <= MonotonicClock.now_ns() - start_ns);
    }

    #[test]
    fn moved_bytes_are_read_by_name() {
        let text = "rchar: 7\nwchar: 6\nsyscr: 5\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\n\
                    cancelled_write_bytes: 1\n";
        let io = ProcessIo::parse(text).unwrap();
        assert_eq!((io.read_bytes, io.write_bytes, io.cancelled_write_bytes), (4096, 8192, 1));
        assert_eq!(io.since(&ProcessIo { read_bytes: 96, write_bytes: 9000, ..io }).read_bytes, 4000);
        assert_eq!(ProcessIo::parse("rchar: 7\nread_bytes: many\n"), None);
        assert_eq!(ProcessIo::parse(""), None);
    }
}
