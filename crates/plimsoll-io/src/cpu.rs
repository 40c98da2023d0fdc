//! Which processors this process may use, and keeping threads and processes on some of them.

use std::{fs, io, path::Path, process::Command};

use plimsoll_workload::pinning::Pinning;
use rustix::{
    io::Errno,
    process::Pid,
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

/// The processors that this thread may run on, in ascending order.
///
/// To be asked before any thread is pinned: a pinned thread and those it starts may use its processors only.
///
/// # Errors
/// That of `sched_getaffinity`, or of reading what /proc has instead.
pub fn allowed() -> io::Result<Vec<u32>> {
    match sched_getaffinity(None) {
        Ok(set) => Ok((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect()),
        // The machine may have more processors than a set has room for.
        Err(Errno::INVAL) => told(),
        Err(error) => Err(error.into()),
    }
}

/// The same as the kernel tells it in words, as far as a set has room for it.
fn told() -> io::Result<Vec<u32>> {
    let status = fs::read_to_string("/proc/thread-self/status")?;
    let online = fs::read_to_string("/sys/devices/system/cpu/online")?;
    allowed_list(&status, &online).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The processors of the line `Cpus_allowed_list` of /proc/self/status (`0-3,6`), which also has those that are off.
fn allowed_list(status: &str, online: &str) -> Option<Vec<u32>> {
    let list = |text: &str| match text.trim().parse() {
        Ok(Pinning::Processors(list)) => Some(list),
        _ => None,
    };
    let allowed = list(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)?;
    let online = list(online)?;
    let is_usable = |cpu: &u32| online.contains(cpu) && (*cpu as usize) < CpuSet::MAX_CPU;
    Some(allowed.into_iter().filter(is_usable).collect())
}

/// Keeps this thread on the processor that a worker of this number has, if it has one. A worker whose processor went
/// away runs elsewhere. Returns how many processors it had before; many where that cannot be asked.
pub fn pin_worker(pinning: &Pinning, worker: u32) -> usize {
    let allowed = allowed();
    let count = allowed.as_ref().map_or(usize::MAX, Vec::len);
    let processors = match pinning {
        Pinning::None => return count,
        Pinning::Auto => allowed.unwrap_or_default(),
        Pinning::Processors(list) => list.clone(),
    };
    if let Some(cpu) = worker.checked_rem(processors.len() as u32).map(|place| processors[place as usize]) {
        let _ = keep_on(None, &[cpu]);
    }
    count
}

/// Has a command begin on some processors, on which it and what it starts are kept.
///
/// # Errors
/// `EINVAL` when there are no such processors; to start it fails when the process may not use them.
pub fn begins_on(command: &mut Command, cpus: &[u32]) -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    let set = set_of(cpus)?;
    // SAFETY: what runs between fork and exec is this system call alone, which allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(move || sched_setaffinity(None, &set).map_err(io::Error::from));
    }
    Ok(())
}

/// Keeps all threads of a process, and what these start from now on, on some processors.
///
/// # Errors
/// When it is not there any more, or belongs to somebody else.
pub fn keep_process_on(pid: i32, cpus: &[u32]) -> io::Result<()> {
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let number = thread?.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        match number.map(|number| keep_on(Some(number), cpus)) {
            // A thread that has ended since.
            Some(Err(error)) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Some(result) => result?,
            None => {}
        }
    }
    Ok(())
}

fn keep_on(thread: Option<Pid>, cpus: &[u32]) -> io::Result<()> {
    Ok(sched_setaffinity(thread, &set_of(cpus)?)?)
}

fn set_of(cpus: &[u32]) -> io::Result<CpuSet> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        if *cpu as usize >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        set.set(*cpu as usize);
    }
    Ok(set)
}

/// Processors in so many parts of the same size, each of whole cores if there are enough of these; `None` when there
/// are fewer processors than parts. What does not come out even is in no part.
pub fn parts(cpus: &[u32], count: usize) -> Option<Vec<Vec<u32>>> {
    parts_of(cpus, count, |cpu| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        fs::read_to_string(Path::new(&path)).unwrap_or_else(|_| cpu.to_string())
    })
}

fn parts_of(cpus: &[u32], count: usize, core_of: impl Fn(u32) -> String) -> Option<Vec<Vec<u32>>> {
    let mut cores: Vec<(String, Vec<u32>)> = Vec::new();
    for cpu in cpus {
        let name = core_of(*cpu);
        match cores.iter_mut().find(|(other, _)| *other == name) {
            Some((_, threads)) => threads.push(*cpu),
            None => cores.push((name, vec![*cpu])),
        }
    }
    let size = cores.iter().map(|(_, threads)| threads.len()).max()?;
    // Cores of which this process may use some threads only are no better than others.
    let is_even = cores.iter().all(|(_, threads)| threads.len() == size);
    let units: Vec<Vec<u32>> = if is_even && cores.len() >= count {
        cores.into_iter().map(|(_, threads)| threads).collect()
    } else {
        cpus.iter().map(|cpu| vec![*cpu]).collect()
    };
    let each = units.len().checked_div(count).filter(|each| *each > 0)?;
    Some(units.chunks_exact(each).take(count).map(<[Vec<u32>]>::concat).collect())
}

#[cfg(test)]
mod tests {
    use std::{
        process::{Command, Stdio},
        thread,
    };

    use super::*;

    #[test]
    fn a_pinned_thread_may_use_one_processor_only() {
        let before = allowed().unwrap();
        let last = *before.last().unwrap();
        let pinning = Pinning::Processors(vec![last]);
        let pinned = thread::spawn(move || (pin_worker(&pinning, 7), allowed().unwrap()));
        assert_eq!(pinned.join().unwrap(), (before.len(), vec![last]));
        assert_eq!(allowed().unwrap(), before);
    }

    #[test]
    fn machines_with_more_processors_than_a_set_has_room_for_tell_them_in_words() {
        let told_of = |list: &str| {
            allowed_list(&format!("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{list}\n"), "0-1022,1024-2047\n")
        };
        assert_eq!(told_of("0,1021-1025"), Some(vec![0, 1021, 1022]));
        assert_eq!(told_of(""), None);
        assert_eq!(told().unwrap(), allowed().unwrap());
    }

    #[test]
    fn a_processor_that_does_not_exist_is_an_error() {
        assert!(keep_on(None, &[1023]).is_err() || allowed().unwrap().contains(&1023));
        assert!(keep_on(None, &[70_000]).is_err());
    }

    #[test]
    fn a_process_is_kept_on_processors_from_outside() {
        let mut child = Command::new("sleep").arg("60").stdout(Stdio::null()).spawn().unwrap();
        let first = allowed().unwrap()[0];
        let kept = keep_process_on(child.id().cast_signed(), &[first]);
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        kept.unwrap();
        assert!(status.contains(&format!("Cpus_allowed_list:\t{first}\n")), "{status}");
        assert!(keep_process_on(child.id().cast_signed(), &[first]).is_err(), "it has ended");
    }

    #[test]
    fn a_command_begins_on_its_processors_and_who_starts_it_stays_where_it_was() {
        let before = allowed().unwrap();
        let last = *before.last().unwrap();
        let mut command = Command::new("cat");
        begins_on(command.arg("/proc/self/status"), &[last]).unwrap();
        let told = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(told.contains(&format!("Cpus_allowed_list:\t{last}\n")), "{told}");
        assert_eq!(allowed().unwrap(), before);
        assert!(begins_on(&mut command, &[70_000]).is_err());
    }

    #[test]
    fn parts_are_of_whole_cores_where_there_are_enough() {
        // Two threads a core, numbered as the kernel does: 0 and 4 are one core.
        let core = |cpu: u32| (cpu % 4).to_string();
        let all: Vec<u32> = (0..8).collect();
        assert_eq!(parts_of(&all, 2, core).unwrap(), [[0, 4, 1, 5], [2, 6, 3, 7]]);
        assert_eq!(parts_of(&all, 3, core).unwrap(), [[0, 4], [1, 5], [2, 6]], "of the same size");
        assert_eq!(parts_of(&all, 8, core).unwrap().concat().len(), 8);
        assert_eq!(parts_of(&[0, 1, 4], 2, core).unwrap(), [[0], [1]]);
        assert_eq!(parts_of(&[3], 2, core), None);
        assert_eq!(parts_of(&[], 1, core), None);
    }
}
