//! What ends an application when this process ends without a word: a shell that reads from a pipe which only this
//! process can write to. The kernel closes the pipe then, and the shell ends what was noted of the application, and all
//! that has the id of the run in its environment, servers that have left their session included.

use std::{
    io,
    path::Path,
    process::{Child, Command, Stdio},
};

use uuid::Uuid;

use crate::leftovers::RUN_VARIABLE;

/// Looks again until nothing is left, because what is being ended may be starting something. Its own environment does
/// not have the id.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
read -r _
while read -r process start; do
  [ "$(sed 's/.*) //' "/proc/$process/stat" | cut -d ' ' -f 20)" = "$start" ] && kill -s KILL "$process"
done <"$3" 2>/dev/null
while found=$(grep -lsz "^$1=$2\$" /proc/[0-9]*/environ); [ -n "$found" ]; do
  for file in $found; do
    process=${file#/proc/}
    kill -s KILL "${process%/environ}"
  done
  sleep 0.1
done 2>/dev/null
"#;

/// The shell that waits; ended when dropped.
#[derive(Debug)]
pub(crate) struct Guardian(Child);

impl Guardian {
    pub(crate) fn start(run: Uuid, notes: &Path) -> io::Result<Self> {
        use std::os::unix::process::CommandExt;
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "sh", RUN_VARIABLE, &run.to_string()]).arg(notes);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).env_remove(RUN_VARIABLE);
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
    use super::*;
    use crate::{leftovers::write_processes, process_table::Process};

    #[test]
    fn without_the_pipe_all_of_the_run_ends() {
        let run = Uuid::from_u128(0xdead);
        let place = tempfile::tempdir().unwrap();
        let notes = place.path().join("processes");
        let mut hidden = Command::new("sleep").arg("600").spawn().unwrap();
        let start_ticks = |child: &Child| Process::now(child.id().cast_signed()).unwrap().start_ticks;
        write_processes(&notes, &[(hidden.id().cast_signed(), start_ticks(&hidden))].into());
        let mut daemon = Command::new("setsid");
        let mut daemon =
            daemon.args(["-w", "sleep", "600"]).env(RUN_VARIABLE, run.to_string()).spawn().expect("setsid is there");
        let mut guardian = Guardian::start(run, &notes).unwrap();
        // The kernel does this when this process is killed.
        drop(guardian.0.stdin.take());
        assert!(!daemon.wait().unwrap().success());
        assert!(!hidden.wait().unwrap().success());
        guardian.0.wait().unwrap();
    }
}
