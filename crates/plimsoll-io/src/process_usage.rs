//! What this process has used of the machine so far, by the kernel's own count.

use std::mem::MaybeUninit;

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
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to memory for one such structure, which lives until the call returns.
        let result = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
        assert_eq!(result, 0, "getrusage fails for wrong arguments only");
        // SAFETY: it was zeroed, which is a valid value of all of its fields, and the call has filled it.
        let usage = unsafe { usage.assume_init() };
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

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1000
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
}
