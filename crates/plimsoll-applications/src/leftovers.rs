//! Ending what a run that is gone has left running: processes that have its id in their environment, and because
//! servers may write over that, those that it has noted and orphans that work in its directory.

use std::{collections::BTreeMap, fmt::Write as _, fs, io, path::Path, thread, time::Duration};

use rustix::process::{Signal, geteuid};
use uuid::Uuid;

use crate::{
    process_table::Process,
    signals::{signal, signal_if},
};

/// The variable that has the id of the run.
pub(crate) const RUN_VARIABLE: &str = "PLIMSOLL_RUN";
/// The variable that says which process of plimsoll it was, of several that have done a part of the run.
pub(crate) const PROCESS_VARIABLE: &str = "PLIMSOLL_PROCESS";
/// The file with numbers and starts of processes, in the directory of an application's logs.
pub const PROCESSES: &str = "processes";
/// How often is looked for processes that are new or have not ended yet.
const LOOKS: u32 = 100;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The value of that variable: the number of this process with its start.
pub(crate) fn this_process() -> String {
    let number = std::process::id();
    let start_ticks = Process::now(number.cast_signed()).map_or(0, |process| process.start_ticks);
    format!("{number}-{start_ticks}")
}

/// Notes processes with their starts, for whoever comes after this process. The notes before are there until these are
/// whole.
pub(crate) fn write_processes(path: &Path, processes: &BTreeMap<i32, u64>) {
    let mut text = String::new();
    for (pid, start_ticks) in processes {
        let _ = writeln!(text, "{pid} {start_ticks}");
    }
    // Where nothing can be written, the environment of processes is what is left to find them by.
    let new = path.with_extension("new");
    let _ = fs::write(&new, text).and_then(|()| fs::rename(&new, path));
}

/// Ends processes that were noted in a file of this user, by force, and waits until they are gone.
///
/// # Errors
/// When the file is not there, or not this user's.
pub fn end_noted(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let facts = fs::symlink_metadata(path)?;
    if !facts.is_file() || facts.uid() != geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let text = fs::read_to_string(path)?;
    let numbers = text.lines().filter_map(|line| line.split_once(' '));
    let noted: Vec<(i32, u64)> =
        numbers.filter_map(|(pid, start)| Some((pid.parse().ok()?, start.parse().ok()?))).collect();
    for _ in 0..LOOKS {
        let lives = |(pid, start): &&(i32, u64)| {
            Process::now(*pid).is_some_and(|process| process.start_ticks == *start && process.state != 'Z')
        };
        let left: Vec<&(i32, u64)> = noted.iter().filter(lives).collect();
        if left.is_empty() {
            break;
        }
        left.iter().for_each(|(pid, start)| signal(*pid, *start, Signal::KILL));
        thread::sleep(BETWEEN_LOOKS);
    }
    Ok(())
}

/// Ends all processes of this user that have a run in their environment, and orphans that work in its directory, by
/// force, and waits until they are gone; as root those of any user. Returns how many did not end.
pub fn end_processes_of(run: Uuid, directory: Option<&Path>) -> usize {
    let is_meant = |pid: i32| is_of(run, pid) || directory.is_some_and(|directory| is_orphan_in(directory, pid));
    for _ in 0..LOOKS {
        let processes = processes(is_meant);
        if processes.is_empty() {
            return 0;
        }
        for pid in processes {
            signal_if(pid, Signal::KILL, || is_meant(pid));
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    processes(is_meant).len()
}

/// The other processes of which something is true, as far as this user may look.
fn processes(is_meant: impl Fn(i32) -> bool) -> Vec<i32> {
    let own = std::process::id().cast_signed();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(|pid| *pid != own && Process::now(*pid).is_some() && is_meant(*pid)).collect()
}

fn is_of(run: Uuid, pid: i32) -> bool {
    let wanted = format!("{RUN_VARIABLE}={run}");
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}

/// Whether a process works in a directory, and has lost whoever started it. A shell in which a user looks around has a
/// terminal, and is the child of somebody else.
fn is_orphan_in(directory: &Path, pid: i32) -> bool {
    // Orphans come to the first process, or to one above them that takes them in, which is above this one too.
    let above = std::iter::successors(Some(std::process::id().cast_signed()), |pid| {
        Process::now(*pid).map(|process| process.parent).filter(|parent| *parent > 0)
    });
    let is_orphan = |process: Process| !process.has_terminal && above.chain([1]).any(|pid| pid == process.parent);
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|place| place.starts_with(directory))
        && Process::now(pid).is_some_and(is_orphan)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead as _, BufReader},
        process::{Command, Stdio},
    };

    use plimsoll_io::children::begins_session;

    use super::*;

    fn start(run: Uuid) -> std::process::Child {
        Command::new("sleep").arg("600").env(RUN_VARIABLE, run.to_string()).spawn().unwrap()
    }

    #[test]
    fn what_has_the_id_of_a_run_ends_and_nothing_else_does() {
        let (run, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let (mut ours, mut theirs) = (start(run), start(other));
        let watched = thread::spawn(move || ours.wait().unwrap());
        while processes(|pid| is_of(run, pid)).is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(end_processes_of(run, None), 0);
        assert!(!watched.join().unwrap().success());
        assert!(theirs.try_wait().unwrap().is_none());
        theirs.kill().unwrap();
        theirs.wait().unwrap();
    }

    #[test]
    fn an_orphan_in_the_directory_of_a_run_ends_and_whoever_looks_into_it_does_not() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("work");
        fs::create_dir(&directory).unwrap();
        // The one is a child of this process, which might have taken it in, and the other of a shell that is elsewhere.
        let start = |script: &str| {
            let mut shell = Command::new("sh");
            begins_session(&mut shell);
            shell.args(["-c", script]).arg(&directory).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut shell = shell.spawn().unwrap();
            let mut number = String::new();
            BufReader::new(shell.stdout.take().unwrap()).read_line(&mut number).unwrap();
            (shell, number.trim().parse::<i32>().unwrap())
        };
        let (mut ours, _) = start("cd \"$0\"; echo $$; read _");
        let (mut theirs, looking) = start("(cd \"$0\"; exec sh -c 'echo $$; exec sleep 600') & read _; kill $!");
        let watched = thread::spawn(move || ours.wait().unwrap());
        assert_eq!(end_processes_of(Uuid::nil(), Some(&directory)), 0);
        assert!(!watched.join().unwrap().success());
        assert!(Process::now(looking).is_some_and(|process| process.state != 'Z'));
        drop(theirs.stdin.take());
        theirs.wait().unwrap();
    }

    #[test]
    fn notes_are_whole_at_any_moment() {
        let place = tempfile::tempdir().unwrap();
        let notes = place.path().join(PROCESSES);
        write_processes(&notes, &[(7, 70), (8, 80)].into());
        let mut reader = fs::File::open(&notes).unwrap();
        write_processes(&notes, &[(9, 90)].into());
        assert_eq!(io::read_to_string(&mut reader).unwrap(), "7 70\n8 80\n", "who reads them has them all");
        assert_eq!(fs::read_to_string(&notes).unwrap(), "9 90\n");
    }

    #[test]
    fn a_process_that_was_noted_ends_unless_its_number_has_become_another() {
        let place = tempfile::tempdir().unwrap();
        let notes = place.path().join(PROCESSES);
        let (mut ours, mut theirs) = (start(Uuid::nil()), start(Uuid::nil()));
        let numbers = [&ours, &theirs].map(|child| child.id().cast_signed());
        let starts = numbers.map(|pid| Process::now(pid).unwrap().start_ticks);
        write_processes(&notes, &[(numbers[0], starts[0]), (numbers[1], starts[1] + 1)].into());
        end_noted(&notes).unwrap();
        assert!(Process::now(numbers[0]).is_some_and(|process| process.state == 'Z'), "it has ended");
        assert!(!ours.wait().unwrap().success());
        assert!(theirs.try_wait().unwrap().is_none());
        theirs.kill().unwrap();
        theirs.wait().unwrap();
        assert!(end_noted(&place.path().join("nothing")).is_err());
    }
}
