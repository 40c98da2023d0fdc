//! What ends an application when this process ends without a word: a shell that reads from a pipe which only this
//! process can write to. The kernel closes the pipe then, and the shell ends what was noted of the application, what
//! has the variable of this process in its environment, servers that have left their session included, and what works
//! in the application's directory and has become an orphan with the shell.

use std::{
    io,
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::leftovers::{PROCESS_VARIABLE, RUN_VARIABLE, this_process};

/// Looks again until nothing is left, because what is being ended may be starting something. Its own environment does
/// not have the variable, and that of a run that goes on with this one has another value. A shell in which a user looks
/// around has a terminal, and is the child of somebody else.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
read -r _
facts() { sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f "$2"; }
while read -r process start; do
  [ "$(facts "$process" 20)" = "$start" ] && kill -s KILL "$process"
done <"$2" 2>/dev/null
left() {
  grep -lsz "^$1\$" /proc/[0-9]*/environ | cut -d / -f 3
  ls -n /proc/[0-9]*/cwd | while IFS= read -r line; do
    case ${line#*/cwd -> } in "$2"|"$2"/*) ;; *) continue ;; esac
    process=${line%%/cwd -> *}
    process=${process##*/}
    parent=$(facts "$process" 2)
    [ "$(facts "$process" 5)" = 0 ] || continue
    [ "$parent" = "$PPID" ] || [ "$parent" = "$(facts $$ 2)" ] && echo "$process"
  done
}
while found=$(left "$1" "$3"); [ -n "$found" ]; do
  for process in $found; do
    kill -s KILL "$process"
  done
  sleep 0.1
done 2>/dev/null
"#;

/// The shell that waits; ended when dropped.
#[derive(Debug)]
pub(crate) struct Guardian(Child);

impl Guardian {
    /// Begins to watch over what has this process in its environment, is noted in a file, or works in a directory.
    pub(crate) fn start(notes: &Path, directory: &Path) -> io::Result<Self> {
        use std::os::unix::process::CommandExt;
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "sh", &format!("{PROCESS_VARIABLE}={}", this_process())]).args([notes, directory]);
        shell
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .env_remove(RUN_VARIABLE)
            .env_remove(PROCESS_VARIABLE);
        shell.process_group(0).current_dir("/");
        shell.spawn().map(Self)
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        // Ended before its pipe is closed, so that it ends nobody.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};

    use plimsoll_io::children::begins_session;

    use super::*;
    use crate::{leftovers::write_processes, process_table::Process};

    #[test]
    fn without_the_pipe_all_of_this_process_ends_and_nothing_of_another() {
        let place = tempfile::tempdir().unwrap();
        let (notes, directory) = (place.path().join("processes"), place.path().join("work 0"));
        std::fs::create_dir(&directory).unwrap();
        let start = |change: &dyn Fn(&mut Command) -> &mut Command| {
            let mut command = Command::new("sleep");
            begins_session(&mut command);
            change(command.arg("600")).spawn().unwrap()
        };
        let mut noted = start(&|command| command);
        let start_ticks = Process::now(noted.id().cast_signed()).unwrap().start_ticks;
        write_processes(&notes, &[(noted.id().cast_signed(), start_ticks)].into());
        let mut daemon = start(&|command| command.env(PROCESS_VARIABLE, this_process()));
        let mut working = start(&|command| command.current_dir(&directory));
        // Another process that goes on with the same run.
        let mut resumed = start(&|command| command.env(PROCESS_VARIABLE, "1-1").env(RUN_VARIABLE, "the same"));
        // Who is looked after by somebody who is elsewhere.
        let looks_in = "(cd \"$0\"; exec sh -c 'echo $$; exec sleep 600') & read _; kill $!";
        let mut shell = Command::new("sh");
        begins_session(&mut shell);
        shell.args(["-c", looks_in]).arg(&directory).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut looking = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut looking).unwrap();
        let mut guardian = Guardian::start(&notes, &directory).unwrap();
        // The kernel does this when this process is killed.
        drop(guardian.0.stdin.take());
        for ended in [&mut noted, &mut daemon, &mut working] {
            assert!(!ended.wait().unwrap().success());
        }
        guardian.0.wait().unwrap();
        assert!(resumed.try_wait().unwrap().is_none());
        assert!(Process::now(looking.trim().parse().unwrap()).is_some_and(|process| process.state != 'Z'));
        resumed.kill().and_then(|()| resumed.wait()).unwrap();
        drop(shell.stdin.take());
        shell.wait().unwrap();
    }
}
