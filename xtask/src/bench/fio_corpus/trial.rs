//! Trying a job file: whether it is read, whether it runs shrunk, whether fio reads and does the same.

use std::{
    fs,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use tempfile::TempDir;

use super::{
    comparison::{self, Outcome},
    job_text::{JobText, Left, Shrinking},
};
use crate::child;

/// Who runs foreign jobs when this task has root: somebody who may open no device.
const NOBODY: u32 = 65_534;

/// What a job file may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is left of a foreign job in a trial run: most of them, those with very large blocks, and those whose regions
/// may not lie over each other.
const SMALLER: [&str; 3] = [
    "size=16m,io_size<=16m,filesize<=16m,offset<=1m,offset_increment<=1m,runtime=300ms",
    "size=1g,io_size<=1g,filesize<=1g,offset<=1m,offset_increment<=1m,iodepth<=1,runtime=3",
    "size=16m,io_size<=16m,filesize<=16m,runtime=300ms",
];
const LESS: &str = "number_ios<=1000,nrfiles<=8,numjobs<=2,loops<=1,startdelay<=0,ramp_time<=0,thinktime<=1000";

/// What is left of it where fio does the same: as much as its size says, whatever time that takes. Sizes for most block
/// sizes, and for large ones.
const COMPARED_SIZES: [&str; 2] = ["2m", "64m"];
const COMPARED: &[(&str, &str)] = &[
    ("nrfiles", "8"),
    ("numjobs", "2"),
    ("loops", "2"),
    ("startdelay", "0"),
    ("ramp_time", "0"),
    ("thinktime", "100"),
];

fn compared(size: &'static str) -> Vec<Shrinking> {
    let most = |name, value| Shrinking { name, value, is_most: true };
    let always = |name, value| Shrinking { name, value, is_most: false };
    let sizes = ["io_size", "filesize"].map(|name| most(name, size));
    let offsets = ["offset", "offset_increment"].map(|name| most(name, "1m"));
    let counts = COMPARED.iter().map(|(name, value)| most(*name, *value));
    let ends = [always("size", size), always("time_based", "0"), always("runtime", "20")];
    sizes.into_iter().chain(offsets).chain(counts).chain(ends).collect()
}

pub(super) enum Verdict {
    /// It is read.
    Done,
    /// It does not count.
    Left(Left),
    /// It is not read, for a reason.
    Failed(String),
}

pub(super) struct Trial {
    binary: PathBuf,
    fio: Option<PathBuf>,
    has_root: bool,
}

impl Trial {
    pub(super) fn new(binary: PathBuf) -> anyhow::Result<Self> {
        let has_root = rustix::process::geteuid().is_root();
        if !has_root {
            println!("jobs run as this user, who had better have no device open to them");
        }
        Ok(Self { binary, fio: child::find("fio"), has_root })
    }

    /// Whether the file counts, and is read. Devices and files of its machine are not here, so a size is put in their
    /// place.
    pub(super) fn translate(&self, file: &Path, text: &JobText) -> Verdict {
        if let Some(left) = text.left() {
            return Verdict::Left(left);
        }
        let scratch = match self.scratch() {
            Ok(scratch) => scratch,
            Err(error) => return Verdict::Failed(format!("{error:#}")),
        };
        let reason = match self.plimsoll(&scratch, file, &["--to-plan"]) {
            Err(reason) if reason.contains("no size is given") => {
                self.plimsoll(&scratch, file, &["--to-plan", "--override", "size=1t"])
            }
            outcome => outcome,
        };
        let Err(reason) = reason else { return Verdict::Done };
        match self.refused_by_fio(&scratch, file) {
            Some(words) => Verdict::Left(Left::RefusedByFio(words)),
            None => Verdict::Failed(reason),
        }
    }

    /// Why fio does not take the file, if it does not.
    fn refused_by_fio(&self, scratch: &TempDir, file: &Path) -> Option<String> {
        let mut command = self.command(self.fio.as_ref()?, scratch);
        command.current_dir(file.parent()?).arg("--parse-only").arg(file);
        let output = ended(&mut command).ok()?;
        (!output.status.success()).then(|| first_line(&output))
    }

    /// Runs the file shrunk; the reason when that fails.
    pub(super) fn run(&self, file: &Path) -> Option<String> {
        let mut first: Option<String> = None;
        let mut elsewhere = "";
        for smaller in SMALLER.into_iter().chain([SMALLER[0]]) {
            let scratch = match self.scratch() {
                Ok(scratch) => scratch,
                Err(error) => return Some(format!("{error:#}")),
            };
            let less = format!("{smaller},{LESS}{elsewhere}");
            let outcome = self.plimsoll(&scratch, file, &["--output-format=json", "--override", &less]);
            match outcome.map(|stdout| comparison::complaint(&stdout)) {
                Ok(None) => return None,
                // Processors of another machine are not here.
                Ok(Some(reason)) | Err(reason) if reason.contains("cpus_allowed") => {
                    elsewhere = ",cpus_allowed=0";
                    first = first.or(Some(reason));
                }
                // That is about the trial, not about the file.
                Ok(Some(reason)) | Err(reason) if first.is_none() || !reason.contains("smaller than a block") => {
                    first = first.filter(|first| !first.contains("smaller than a block")).or(Some(reason));
                }
                _ => {}
            }
        }
        first
    }

    /// Lets both programs do the shrunk file, and compares what they did.
    pub(super) fn compare(&self, file: &Path, text: &JobText) -> anyhow::Result<Outcome> {
        let Some(fio) = &self.fio else { return Ok(Outcome::Not("there is no fio".into())) };
        if !text.has_several_globals()
            && let Some(difference) = self.shown_differently(fio, file)?
        {
            return Ok(Outcome::Different(difference));
        }
        let mut outcome = Outcome::Not(String::new());
        for size in COMPARED_SIZES {
            outcome = self.compare_with(fio, file, text, &compared(size))?;
            if !matches!(outcome, Outcome::Not(_)) {
                break;
            }
        }
        Ok(outcome)
    }

    fn compare_with(&self, fio: &Path, file: &Path, text: &JobText, less: &[Shrinking]) -> anyhow::Result<Outcome> {
        let scratch = self.scratch()?;
        let processors = if text.names_processors() { ",cpus_allowed=0" } else { "" };
        let words: Vec<String> = less
            .iter()
            .map(|less| format!("{}{}{}", less.name, if less.is_most { "<=" } else { "=" }, less.value))
            .collect();
        let ours = match self.plimsoll(
            &scratch,
            file,
            &["--output-format=json", "--override", &(words.join(",") + processors)],
        ) {
            Ok(ours) => ours,
            Err(reason) => return Ok(Outcome::Not(format!("ours: {reason}"))),
        };
        let scratch = self.scratch()?;
        let root = scratch.path().join("jobs");
        let (copy, directories) = text.shrunk(&root.to_string_lossy(), less);
        for directory in directories {
            self.make(Path::new(&directory), &root)?;
        }
        let copied = scratch.path().join("copy.fio");
        fs::write(&copied, copy).context("write a copy for fio")?;
        let mut command = self.command(fio, &scratch);
        command.current_dir(&root).arg("--output-format=json").arg(&copied);
        let output = match ended(&mut command) {
            Ok(output) if output.status.success() => output,
            Ok(output) => return Ok(Outcome::Not(format!("fio: {}", first_line(&output)))),
            Err(reason) => return Ok(Outcome::Not(format!("fio: {reason}"))),
        };
        Ok(comparison::compare(&ours, &String::from_utf8_lossy(&output.stdout), text))
    }

    /// How the command lines differ that both programs show for the file.
    fn shown_differently(&self, fio: &Path, file: &Path) -> anyhow::Result<Option<String>> {
        let scratch = self.scratch()?;
        let folder = file.parent().unwrap_or(Path::new("."));
        let mut shown = Vec::new();
        for mut command in [self.command(fio, &scratch), self.command(&self.binary, &scratch)] {
            if shown.len() == 1 {
                command.arg("fio");
            }
            command.current_dir(folder).arg("--showcmd").arg(file);
            match ended(&mut command) {
                // Each quotes in its own way.
                Ok(output) if output.status.success() => {
                    let text = String::from_utf8_lossy(&output.stdout).replace(['\'', '"', '\\'], "");
                    // An older fio calls that otherwise.
                    let text = text.replace("--log_max_value", "--log_window_value");
                    shown.push(text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
                }
                Ok(output) => return Ok(Some(format!("--showcmd: {}", first_line(&output)))),
                Err(reason) => return Ok(Some(format!("--showcmd: {reason}"))),
            }
        }
        let mut words = shown[0].iter().zip(&shown[1]);
        let differing = words.find(|(theirs, ours)| theirs != ours);
        Ok(match differing {
            Some((theirs, ours)) => Some(format!("--showcmd: fio has {theirs} where we have {ours}")),
            None if shown[0].len() != shown[1].len() => Some("--showcmd: one is longer than the other".into()),
            None => None,
        })
    }

    /// Our standard output, or the first reason.
    fn plimsoll(&self, scratch: &TempDir, file: &Path, arguments: &[&str]) -> Result<String, String> {
        let mut command = self.command(&self.binary, scratch);
        let root = scratch.path().join("jobs");
        command.args(["fio", "--no-history", "--within"]).arg(&root).args(arguments).arg(file).current_dir(&root);
        let output = ended(&mut command)?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(first_line(&output).replace(&*root.to_string_lossy(), ""))
        }
    }

    /// A fresh directory with a place for jobs in it.
    fn scratch(&self) -> anyhow::Result<TempDir> {
        let scratch = tempfile::Builder::new().prefix("plimsoll-corpus-").tempdir().context("make a directory")?;
        let jobs = scratch.path().join("jobs");
        fs::create_dir(&jobs).context("make a directory")?;
        if self.has_root {
            for path in [scratch.path(), &jobs] {
                chown(path, Some(NOBODY), Some(NOBODY)).context("hand over a directory")?;
            }
        }
        Ok(scratch)
    }

    /// A directory for somebody else's files, with all that it is in.
    fn make(&self, directory: &Path, root: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(directory).with_context(|| format!("make {}", directory.display()))?;
        if self.has_root {
            for path in directory.ancestors().take_while(|path| *path != root) {
                chown(path, Some(NOBODY), Some(NOBODY)).context("hand over a directory")?;
            }
        }
        Ok(())
    }

    fn command(&self, program: &Path, scratch: &TempDir) -> Command {
        let mut command = Command::new(program);
        command.env("HOME", scratch.path()).env("XDG_STATE_HOME", scratch.path()).stdin(Stdio::null());
        if self.has_root {
            // The other groups of root are dropped with that.
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

/// What a program said until its end, or why it had none.
fn ended(command: &mut Command) -> Result<Output, String> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn();
    let mut child = child.map_err(|error| format!("cannot be started: {error}"))?;
    let pid = rustix::process::Pid::from_child(&child);
    let drain = |mut pipe: Box<dyn std::io::Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.read_to_end(&mut bytes);
            bytes
        })
    };
    let stdout = drain(Box::new(child.stdout.take().expect("standard output is piped")));
    let stderr = drain(Box::new(child.stderr.take().expect("standard error is piped")));
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if started.elapsed() > PATIENCE => {
                // Clones of fio are processes of their own, so the whole group ends.
                let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
                let _ = child.wait();
                return Err(format!("does not end within {} s", PATIENCE.as_secs()));
            }
            Ok(None) => thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(format!("cannot be waited for: {error}")),
        }
    };
    let bytes = |drained: thread::JoinHandle<Vec<u8>>| drained.join().expect("reading a pipe does not panic");
    Ok(Output { status, stdout: bytes(stdout), stderr: bytes(stderr) })
}

/// The first thing that went wrong, without the place in the file, so that the same reasons are the same text.
fn first_line(output: &Output) -> String {
    // Where nothing is said, the report has at least the number of the error.
    let complaint = comparison::error_in(&String::from_utf8_lossy(&output.stdout));
    if let Some(complaint) = complaint.filter(|_| output.stderr.is_empty()) {
        return complaint;
    }
    let text = String::from_utf8_lossy(if output.stderr.is_empty() { &output.stdout } else { &output.stderr });
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("says nothing");
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let line = line.split_once(": ").map_or(line, |(place, rest)| if place.starts_with('/') { rest } else { line });
    format!("{line} ({})", output.status)
}
