//! The processes that an application consists of beside the command at hand: servers that its commands have started,
//! and all that these start.
//!
//! This process takes in what its descendants leave behind (it is their reaper), so a server that has left its session
//! becomes a child of this process when the command that started it ends. Others may become its children too: what it
//! inherited, what another application or a command in the background leaves, and in a container whatever lost its
//! parent. So a new child belongs to a family only if it is in the session of one of its commands, has been seen below
//! one, has the variables of the application in its environment, or works in its directory; or if nobody else can have
//! left it, because nothing but a command of this family is started meanwhile. Only such processes are ever ended.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use plimsoll_io::{
    children::{self, ChildUsage},
    clock::{Clock, MonotonicClock},
};
use rustix::process::{Pid, Signal, getpid, set_child_subreaper};

use crate::{
    leftovers::write_processes,
    process_table::{Process, ProcessTable, Used},
    signals::signal,
};

/// How long processes may take to end after they were asked to.
const GRACE: Duration = Duration::from_secs(3);
/// How long those may take that were ended by force: a process that waits for a disk ends when the disk answers.
const FORCED: Duration = Duration::from_secs(60);
/// How often is looked whether they have.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Processes by their numbers, each with its start, because numbers are given again.
type Processes = BTreeMap<i32, u64>;

/// What is to end, and whether that is all.
type Doomed = (BTreeSet<i32>, bool);

/// The servers of an application.
#[derive(Debug)]
pub struct Family {
    /// Its directory on the target, which is also in the environment of its commands.
    directory: PathBuf,
    /// Where is noted which processes there are, for whoever comes after this process.
    notes: PathBuf,
    /// The numbers of its commands, which are those of their sessions.
    sessions: BTreeSet<i32>,
    /// Children of this process that belong to it.
    members: Processes,
    /// What has been seen below its commands and members.
    seen: Processes,
    /// What the notes have, of which some may have ended.
    noted: Processes,
    /// What members used that have ended.
    ended: Used,
    /// Whether nothing but its commands is started while one of them runs.
    is_alone: bool,
    /// Children of this process that were there before the command at hand, when what is new can only be left by it.
    strangers: Option<Processes>,
}

impl Family {
    pub(crate) fn new(directory: &Path, notes: &Path) -> Self {
        // Nobody else has to do it, and it fails on no kernel that plimsoll runs on.
        let _ = set_child_subreaper(Some(getpid()));
        let (directory, notes) = (directory.to_owned(), notes.to_owned());
        let [members, seen, noted] = [(); 3].map(|()| Processes::new());
        Self {
            directory,
            notes,
            sessions: BTreeSet::new(),
            members,
            seen,
            noted,
            ended: Used::default(),
            is_alone: false,
            strangers: None,
        }
    }

    /// Says that nothing but its commands is started while one of them runs, so that it knows its own by that too.
    pub(crate) fn be_alone(&mut self) {
        // The first process of a container is the parent of whatever lost its own.
        self.is_alone = getpid() != Pid::INIT;
    }

    /// A command is about to be started.
    pub(crate) fn begin_command(&mut self, table: &ProcessTable) {
        let children = table.children(getpid().as_raw_nonzero().get()).iter();
        let known = children.filter_map(|pid| Some((*pid, table.get(*pid)?.start_ticks)));
        self.strangers = self.is_alone.then(|| known.collect());
    }

    /// The command is over, and others may be started.
    pub(crate) fn leave_command(&mut self) {
        self.strangers = None;
    }

    /// Takes in what a command will leave behind that has begun a session.
    pub(crate) fn add_command(&mut self, number: i32) {
        self.sessions.insert(number);
    }

    /// Takes in what has become a child of this process and is of this family, and lets go of what has ended. The
    /// command at hand, if there is one, is a child that is not taken in.
    pub(crate) fn refresh(&mut self, table: &ProcessTable, command: Option<i32>) {
        for pid in table.children(getpid().as_raw_nonzero().get()) {
            let is_new = Some(*pid) != command && !self.members.contains_key(pid);
            if let Some(process) = table.get(*pid).filter(|process| is_new && self.is_own(*pid, process)) {
                self.members.insert(*pid, process.start_ticks);
            }
        }
        let is_gone = |pid: i32, start_ticks: u64| {
            table.get(pid).is_none_or(|process| process.state == 'Z' || process.start_ticks != start_ticks)
        };
        let gone: Vec<i32> = self
            .members
            .iter()
            .filter(|(pid, start_ticks)| is_gone(**pid, **start_ticks))
            .map(|(pid, _)| *pid)
            .collect();
        for pid in gone {
            match Pid::from_raw(pid).map(children::reap) {
                Some(Ok(Some((_, usage)))) => self.ended.add(&usage),
                Some(Ok(None)) => continue,
                _ => {}
            }
            self.members.remove(&pid);
        }
        let seen = self.processes(table, command).into_iter();
        let seen: Processes = seen.filter_map(|pid| Some((pid, table.get(pid)?.start_ticks))).collect();
        if seen.iter().any(|(pid, start_ticks)| self.noted.get(pid) != Some(start_ticks)) {
            write_processes(&self.notes, &seen);
            self.noted.clone_from(&seen);
        }
        self.seen = seen;
    }

    /// Whether a child of this process is of this family.
    fn is_own(&self, pid: i32, process: &Process) -> bool {
        let is_seen = self.seen.get(&pid) == Some(&process.start_ticks);
        // Also one that has ended already and tells nothing else. The command itself is somebody's to wait for.
        let is_of_command = process.session != pid && self.sessions.contains(&process.session);
        let works_here = || {
            let place = fs::read_link(format!("/proc/{pid}/cwd"));
            place.is_ok_and(|place| place.starts_with(&self.directory))
        };
        let knows_here = || {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let wanted = [b"TARGET_DIR=", self.directory.as_os_str().as_encoded_bytes()].concat();
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
        };
        let is_left = self.strangers.as_ref().is_some_and(|known| known.get(&pid) != Some(&process.start_ticks));
        is_seen || is_of_command || is_left || works_here() || knows_here()
    }

    /// Its processes, with those of a command.
    pub(crate) fn processes(&self, table: &ProcessTable, command: Option<i32>) -> BTreeSet<i32> {
        table.with_descendants(self.members.keys().copied().chain(command))
    }

    /// What its servers have used so far.
    pub(crate) fn used(&self, table: &ProcessTable) -> Used {
        let living = table.used(&self.processes(table, None));
        Used {
            user_ns: living.user_ns + self.ended.user_ns,
            system_ns: living.system_ns + self.ended.system_ns,
            read_bytes: living.read_bytes + self.ended.read_bytes,
            written_bytes: living.written_bytes + self.ended.written_bytes,
            knows_bytes: living.knows_bytes,
        }
    }

    /// The members at this moment.
    pub(crate) fn members(&self) -> Vec<i32> {
        self.members.keys().copied().collect()
    }

    /// Ends a command that is still running, with all that descends from it, and all members that are not among those
    /// which were there before it.
    pub(crate) fn end_command(&mut self, command: Pid, before: &[i32]) {
        let number = command.as_raw_nonzero().get();
        let mut is_reaped = false;
        self.end(&mut |family, table| {
            is_reaped = is_reaped || !matches!(children::reap(command), Ok(None));
            let running = if is_reaped { None } else { Some(number) };
            family.refresh(table, running);
            let new = family.members.keys().copied().filter(|pid| !before.contains(pid));
            (table.with_descendants(new.chain(running)), is_reaped)
        });
    }

    /// Ends all servers, with all that descends from them. Returns the numbers of those that did not end.
    pub(crate) fn end_all(&mut self) -> Vec<i32> {
        self.end(&mut |family, table| {
            family.refresh(table, None);
            (family.processes(table, None), true)
        })
    }

    /// Asks processes to end, and ends them by force when they do not. What is to end is asked for again and again,
    /// with whether it is all.
    fn end(&mut self, wanted: &mut dyn FnMut(&mut Self, &ProcessTable) -> Doomed) -> Vec<i32> {
        let began_ns = MonotonicClock.now_ns();
        let elapsed = || Duration::from_nanos(MonotonicClock.now_ns() - began_ns);
        let mut asked = Processes::new();
        loop {
            let table = ProcessTable::now();
            let (wanted, is_all) = wanted(self, &table);
            // What was asked to end may have lost its parent since, and with it the way to it.
            let orphans =
                asked.iter().filter(|(pid, start)| table.get(**pid).is_some_and(|of| of.start_ticks == **start));
            let left = table.with_descendants(wanted.into_iter().chain(orphans.map(|(pid, _)| *pid)));
            let left: Vec<(i32, u64)> = left
                .into_iter()
                .filter_map(|pid| Some((pid, table.get(pid).filter(|process| process.state != 'Z')?.start_ticks)))
                .collect();
            if is_all && left.is_empty() {
                return Vec::new();
            }
            if elapsed() >= GRACE + FORCED {
                return left.into_iter().map(|(pid, _)| pid).collect();
            }
            let is_forced = elapsed() > GRACE;
            for (pid, start_ticks) in left {
                // Each is asked once, and told again and again.
                if is_forced {
                    signal(pid, start_ticks, Signal::KILL);
                } else if asked.insert(pid, start_ticks).is_none() {
                    signal(pid, start_ticks, Signal::TERM);
                    // One that is stopped hears nothing.
                    signal(pid, start_ticks, Signal::CONT);
                }
            }
            thread::sleep(BETWEEN_LOOKS);
        }
    }
}

impl Used {
    const fn add(&mut self, usage: &ChildUsage) {
        self.user_ns += usage.user_ns;
        self.system_ns += usage.system_ns;
        self.read_bytes += usage.read_bytes;
        self.written_bytes += usage.written_bytes;
    }
}
