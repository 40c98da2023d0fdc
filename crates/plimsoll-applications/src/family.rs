//! The processes that an application consists of beside the command at hand: servers that its commands have started,
//! and all that these start.
//!
//! This process takes in what its descendants leave behind (it is their reaper), so a server that has left its session
//! becomes a child of this process when the command that started it ends. Each application has a family of its own:
//! what becomes a child while its commands run belongs to it.

use std::{collections::BTreeSet, thread, time::Duration};

use plimsoll_io::{
    children::{self, ChildUsage},
    clock::{Clock, MonotonicClock},
};
use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};

use crate::process_table::{ProcessTable, Used};

/// How long processes may take to end after they were asked to.
const GRACE: Duration = Duration::from_secs(3);
/// How long those may take that were ended by force: a process that waits for a disk ends when the disk answers.
const FORCED: Duration = Duration::from_secs(60);
/// How often is looked whether they have.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The servers of an application.
#[derive(Debug, Default)]
pub struct Family {
    /// Children of this process that belong to it.
    members: BTreeSet<i32>,
    /// Those that do not.
    others: BTreeSet<i32>,
    /// What members used that have ended.
    ended: Used,
}

impl Family {
    /// Begins to take in what becomes a child of this process; what is one now belongs to others, but for members.
    pub(crate) fn begin(&mut self, table: &ProcessTable) {
        // Before the first: nobody else has to do it, and it fails on no kernel that plimsoll runs on.
        let _ = set_child_subreaper(Some(getpid()));
        self.others = own_children(table).filter(|pid| !self.members.contains(pid)).collect();
        self.refresh(table, None);
    }

    /// Takes in what has become a child of this process, but for the command at hand, and lets go of what has ended.
    pub(crate) fn refresh(&mut self, table: &ProcessTable, command: Option<i32>) {
        let new = own_children(table).filter(|pid| !self.others.contains(pid) && Some(*pid) != command);
        self.members.extend(new.collect::<Vec<_>>());
        let has_ended = |pid: &i32| table.get(*pid).is_none_or(|process| process.state == 'Z');
        let gone: Vec<i32> = self.members.iter().copied().filter(has_ended).collect();
        for pid in gone {
            match Pid::from_raw(pid).map(children::reap) {
                Some(Ok(Some((_, usage)))) => self.ended.add(&usage),
                Some(Ok(None)) => continue,
                _ => {}
            }
            self.members.remove(&pid);
        }
    }

    /// Its processes, with those of a command.
    pub(crate) fn processes(&self, table: &ProcessTable, command: Option<i32>) -> BTreeSet<i32> {
        table.with_descendants(self.members.iter().copied().chain(command))
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

    /// Ends a command that is still running, with all that descends from it, and reaps it.
    pub(crate) fn end_command(&mut self, command: i32) {
        let pid = Pid::from_raw(command);
        self.end(Some(command), &mut |_| pid.is_none_or(|pid| !matches!(children::reap(pid), Ok(None))));
    }

    /// Ends all servers, with all that descends from them.
    pub fn end_all(&mut self) {
        self.end(None, &mut |members| members.is_empty());
    }

    /// Asks processes to end, and ends them by force when they do not: those that descend from a command, or else the
    /// whole family.
    fn end(&mut self, command: Option<i32>, is_done: &mut dyn FnMut(&BTreeSet<i32>) -> bool) {
        let began_ns = MonotonicClock.now_ns();
        let elapsed = || Duration::from_nanos(MonotonicClock.now_ns() - began_ns);
        let mut asked: BTreeSet<i32> = BTreeSet::new();
        if command.is_none() {
            self.begin(&ProcessTable::now());
        }
        while elapsed() < GRACE + FORCED {
            let table = ProcessTable::now();
            self.refresh(&table, command);
            let left = match command {
                // What it leaves behind when it ends is no descendant any more.
                Some(command) => table.with_descendants(asked.iter().copied().chain([command])),
                None => self.processes(&table, None),
            };
            if is_done(&self.members) && left.iter().all(|pid| table.get(*pid).is_none_or(|of| of.state == 'Z')) {
                return;
            }
            let is_forced = elapsed() > GRACE;
            for pid in left {
                let signal = if is_forced { Signal::KILL } else { Signal::TERM };
                // Each is asked once, and told again and again.
                if is_forced || asked.insert(pid) {
                    // One that is gone by now is fine.
                    let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, signal));
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

fn own_children(table: &ProcessTable) -> impl Iterator<Item = i32> {
    table.children(getpid().as_raw_nonzero().get()).iter().copied()
}
