//! The processes of the machine, as the kernel lists them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
};

use plimsoll_io::{children::ChildUsage, process_usage::ProcessIo};
use rustix::param::clock_ticks_per_second;

/// What the kernel says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) parent: i32,
    /// The number of the process that began its session.
    pub(crate) session: i32,
    /// R runs or wants to, D waits for a disk, S for something else, Z has ended.
    pub(crate) state: char,
    /// Whether signals of a terminal reach it.
    pub(crate) has_terminal: bool,
    /// Its own time and that of the children that it waited for, in clock ticks.
    user_ticks: u64,
    system_ticks: u64,
    threads: u64,
    /// When it began, in clock ticks since the machine did: numbers are given again, and this tells who has it now.
    pub(crate) start_ticks: u64,
}

/// The states of the threads of a process.
fn thread_states(pid: i32) -> impl Iterator<Item = char> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let state = |text: Vec<u8>| Process::parse(&String::from_utf8_lossy(&text)).map(|thread| thread.state);
    threads.filter_map(move |thread| fs::read(thread.path().join("stat")).ok().and_then(state))
}

/// What processes do at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doing {
    /// Whether a thread of one of them waits for a disk.
    pub(crate) waits_for_disk: bool,
    /// Whether a thread of one of them runs, or would if it had a processor.
    pub(crate) is_runnable: bool,
}

impl Process {
    /// The process that has a number now.
    pub(crate) fn now(pid: i32) -> Option<Self> {
        Self::parse(&String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/stat")).ok()?))
    }

    /// Reads the text of /proc/PID/stat.
    fn parse(text: &str) -> Option<Self> {
        // A name may hold anything, also what looks like the end of one.
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        Some(Self {
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            has_terminal: *fields.get(4)? != "0",
            user_ticks: number(11)? + number(13)?,
            system_ticks: number(12)? + number(14)?,
            threads: number(17)?,
            start_ticks: number(19)?,
        })
    }
}

/// What processes used of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    /// Whether the kernel told the bytes of all of them.
    pub(crate) knows_bytes: bool,
}

impl Used {
    /// What was used since an earlier moment.
    pub(crate) const fn since(&self, earlier: &Self) -> ChildUsage {
        ChildUsage {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            max_resident_bytes: 0,
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
        }
    }
}

/// All processes at a moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessTable {
    processes: BTreeMap<i32, Process>,
    children: BTreeMap<i32, Vec<i32>>,
}

impl ProcessTable {
    /// Those that are there now.
    pub(crate) fn now() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let processes = numbers.filter_map(|pid| Some((pid, Process::now(pid)?)));
        Self::of(processes.collect())
    }

    fn of(processes: BTreeMap<i32, Process>) -> Self {
        let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for (pid, process) in &processes {
            children.entry(process.parent).or_default().push(*pid);
        }
        Self { processes, children }
    }

    pub(crate) fn get(&self, pid: i32) -> Option<&Process> {
        self.processes.get(&pid)
    }

    pub(crate) fn children(&self, pid: i32) -> &[i32] {
        self.children.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Processes that are there with all that descend from them.
    pub(crate) fn with_descendants(&self, roots: impl IntoIterator<Item = i32>) -> BTreeSet<i32> {
        let mut known = BTreeSet::new();
        let mut open: Vec<i32> = roots.into_iter().filter(|pid| self.processes.contains_key(pid)).collect();
        while let Some(pid) = open.pop() {
            if known.insert(pid) {
                open.extend(self.children(pid));
            }
        }
        known
    }

    /// What the threads of processes do.
    pub(crate) fn doing(&self, pids: &BTreeSet<i32>) -> Doing {
        let mut doing = Doing::default();
        for (pid, process) in pids.iter().filter_map(|pid| Some((pid, self.get(*pid)?))) {
            let others = (process.threads > 1).then(|| thread_states(*pid)).into_iter().flatten();
            for state in others.chain([process.state]) {
                doing.waits_for_disk |= state == 'D';
                doing.is_runnable |= state == 'R';
            }
        }
        doing
    }

    /// What processes used so far, and the children that they waited for.
    pub(crate) fn used(&self, pids: &BTreeSet<i32>) -> Used {
        let tick_ns = 1_000_000_000 / clock_ticks_per_second().max(1);
        let mut used = Used { knows_bytes: true, ..Used::default() };
        for (pid, process) in pids.iter().filter_map(|pid| Some((pid, self.get(*pid)?))) {
            used.user_ns += process.user_ticks * tick_ns;
            used.system_ns += process.system_ticks * tick_ns;
            match fs::read_to_string(format!("/proc/{pid}/io")) {
                Ok(text) => {
                    let io = ProcessIo::parse(&text).unwrap_or_default();
                    used.read_bytes += io.read_bytes;
                    used.written_bytes += io.write_bytes;
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => used.knows_bytes = false,
                // It has ended since, and whoever waited for it has its bytes.
                Err(_) => {}
            }
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "42 (a ) R (b) D 7 42 43 0 -1 4194560 100 0 0 0 11 12 13 14 20 0 1 0 500 1000 10 0";

    #[test]
    fn a_name_may_hold_anything() {
        let process = Process::parse(TEXT).unwrap();
        assert_eq!(
            process,
            Process {
                parent: 7,
                session: 43,
                state: 'D',
                has_terminal: false,
                user_ticks: 24,
                system_ticks: 26,
                threads: 1,
                start_ticks: 500
            }
        );
        assert_eq!(Process::parse("42 (x) R"), None);
        assert_eq!(Process::parse(""), None);
    }

    #[test]
    fn descendants_are_those_of_children_too_and_a_loop_ends() {
        let process = |parent| Process { parent, ..Process::parse(TEXT).unwrap() };
        let table = ProcessTable::of([(1, process(0)), (2, process(1)), (3, process(2)), (4, process(1))].into());
        assert_eq!(table.with_descendants([2]), [2, 3].into());
        assert_eq!(table.with_descendants([1, 9]), [1, 2, 3, 4].into());
        let circle = ProcessTable::of([(1, process(2)), (2, process(1))].into());
        assert_eq!(circle.with_descendants([1]), [1, 2].into());
    }

    #[test]
    fn this_process_is_among_those_that_are_there() {
        let table = ProcessTable::now();
        let pid = std::process::id().cast_signed();
        assert!(table.get(pid).is_some_and(|process| process.parent > 0));
        assert!(table.used(&[pid].into()).knows_bytes);
    }

    #[test]
    fn who_computes_in_any_of_its_threads_is_runnable_and_who_sleeps_is_not() {
        let busy = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let idle = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let [busy_pid, idle_pid] = [&busy, &idle].map(|child| child.id().cast_signed());
        let look = |pid: i32| ProcessTable::now().doing(&[pid].into());
        // The one needs a moment to begin, and the other to fall asleep.
        let in_time = |found: &dyn Fn() -> bool| {
            (0..600).any(|_| {
                found() || {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                    false
                }
            })
        };
        let runs = in_time(&|| look(busy_pid).is_runnable);
        let sleeps = in_time(&|| look(idle_pid) == Doing::default());
        for mut child in [busy, idle] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(runs && sleeps, "{runs} {sleeps}");
    }
}
