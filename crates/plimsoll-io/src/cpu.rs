//! Which processors this process may use, and keeping a thread on one of them.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors that this thread may run on, in ascending order.
///
/// To be asked before any thread is pinned: a pinned thread and those it starts may use one only.
///
/// # Errors
/// That of `sched_getaffinity`.
pub fn allowed() -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect())
}

/// Keeps this thread on one processor.
///
/// # Errors
/// `EINVAL` when the processor does not exist or the process may not use it.
pub fn pin_this_thread(cpu: u32) -> io::Result<()> {
    if cpu as usize >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_pinned_thread_may_use_one_processor_only() {
        let before = allowed().unwrap();
        let last = *before.last().unwrap();
        let pinned = thread::spawn(move || pin_this_thread(last).map(|()| allowed().unwrap())).join().unwrap();
        assert_eq!(pinned.unwrap(), [last]);
        assert_eq!(allowed().unwrap(), before);
    }

    #[test]
    fn a_processor_that_does_not_exist_is_an_error() {
        assert!(pin_this_thread(1023).is_err() || allowed().unwrap().contains(&1023));
        assert!(pin_this_thread(70_000).is_err());
    }
}
