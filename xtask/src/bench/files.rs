//! `cargo xtask bench files`: a set of small files written, statted, read and removed, by plimsoll and by elbencho.
//!
//! Both make the same number of files of the same size, with the same number in each directory, which no two of their
//! jobs share; both fill them with random content, sync nothing, and read what they have just written, from memory.
//! elbencho cannot sync file by file, so nothing else can be compared.
//!
//! They take turns next to each other, in the other order every second round, and each round gives a ratio for each
//! phase. The median of these is judged: other work on the machine then disturbs a round, not the verdict.
//!
//! Each turn has a new file system in memory, where the kernel does the least for each file and the programs weigh the
//! most. On ext4 nearly all of the time is the kernel's, the same for both, and ratios of writing and removing are 1
//! give or take the noise. In a directory that stays, what was removed before can matter too: an ext4 without a journal
//! does not use the inodes of removed files again for minutes, and passes over each of them whenever a file is made, so
//! that turns there take up to fifteen times as long as the first one.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};
use serde_json::Value;
use tempfile::TempDir;

use super::{
    Bar, judge,
    measured_child::{Measured, measure},
    median,
    mounted::Mounted,
    zram,
};
use crate::{child, interruption};

const FILES_PER_DIRECTORY: u32 = 1000;

/// The phases, and what elbencho calls them.
const PHASES: [(&str, &str); 4] = [("write", "WRITE"), ("stat", "STAT"), ("read", "READ"), ("delete", "RMFILES")];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// elbencho, built by `make BACKTRACE_SUPPORT=0` from its source.
    #[arg(long)]
    peer: PathBuf,
    /// Make a new ext4 on this zram device for each turn instead.
    #[arg(long)]
    device: Option<PathBuf>,
    /// Make the files here instead, in whatever file system it is. Needs no root.
    #[arg(long, conflicts_with = "device")]
    directory: Option<PathBuf>,
    /// How many files each program makes.
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    file_count: u32,
    /// Jobs that share the files; each number is judged.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    jobs: Vec<u32>,
    /// How often each program gets its turn.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// The work that both are asked for.
#[derive(Clone, Copy)]
struct Job {
    file_count: u32,
    jobs: u32,
}

/// What a program did in one turn.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Turn {
    /// Files in a second, phase by phase.
    rates: [f64; PHASES.len()],
    /// Processor time of the whole process, for each file.
    user_ns: f64,
    system_ns: f64,
}

enum Subject {
    Plimsoll,
    Elbencho(PathBuf),
}

/// Where turns take place.
enum Storage {
    Memory,
    Directory(PathBuf),
    Device(PathBuf),
}

/// A place for one turn. Whatever is left in it goes when it is dropped: first the mount, then what it is mounted in.
struct Place {
    mounted: Option<Mounted>,
    directory: TempDir,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    // Children run in the repository, so a relative path must not depend on where we were started.
    let find = |path: &Path| path.canonicalize().with_context(|| format!("find {}", path.display()));
    let (plimsoll, elbencho) = (Subject::Plimsoll, Subject::Elbencho(find(&arguments.peer)?));
    for jobs in &arguments.jobs {
        let each = jobs.checked_mul(FILES_PER_DIRECTORY);
        if each.is_none_or(|each| !arguments.file_count.is_multiple_of(each)) {
            bail!(
                "{} files are not {FILES_PER_DIRECTORY} in each directory of {jobs} jobs: change --file-count or --jobs",
                arguments.file_count
            );
        }
    }
    let (storage, _zram) = match (&arguments.directory, &arguments.device) {
        (Some(directory), _) => (Storage::Directory(find(directory)?), None),
        (None, Some(device)) => {
            let device = find(device)?;
            let zram = zram::prepare(&device)?;
            if zram.is_none() {
                bail!("{} is no zram device that nobody uses: give another, or --directory", device.display());
            }
            (Storage::Device(device), zram)
        }
        (None, None) => (Storage::Memory, None),
    };
    let mut is_met = true;
    for jobs in &arguments.jobs {
        let job = Job { file_count: arguments.file_count, jobs: *jobs };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 1..=arguments.rounds {
            let mut both = [(&plimsoll, &mut ours), (&elbencho, &mut theirs)];
            if round % 2 == 0 {
                both.reverse();
            }
            for (subject, turns) in both {
                turns.push(subject.turn(job, &storage)?);
                interruption::check()?;
            }
            eprintln!("{}: round {round} of {}", job.name(), arguments.rounds);
        }
        show(job, &ours, &theirs);
        is_met &= verdict(job, &ours, &theirs);
    }
    if is_met { Ok(()) } else { bail!("a bar was missed") }
}

impl Job {
    fn name(self) -> String {
        if self.jobs == 1 { "1 job".into() } else { format!("{} jobs", self.jobs) }
    }
}

impl Subject {
    fn turn(&self, job: Job, storage: &Storage) -> anyhow::Result<Turn> {
        let place = storage.place()?;
        let directory = place.path().join("files");
        fs::create_dir(&directory).with_context(|| format!("create {}", directory.display()))?;
        // elbencho adds to files of results, and has its own ones elsewhere when it is not told.
        let results = tempfile::tempdir().context("create a directory for results")?;
        let measured = measure(&mut self.command(job, &directory, results.path()), None)?;
        let rates = match self {
            Self::Plimsoll => own_rates(&measured.stdout, job),
            Self::Elbencho(_) => {
                let file = results.path().join("json");
                let text = fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
                peer_rates(&text, job)
            }
        };
        let Measured { user_ns, system_ns, .. } = measured;
        let files = f64::from(job.file_count);
        let rates = rates.with_context(|| format!("read the answer of {}", self.name()))?;
        Ok(Turn { rates, user_ns: user_ns / files, system_ns: system_ns / files })
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Plimsoll => "plimsoll",
            Self::Elbencho(_) => "elbencho",
        }
    }

    fn command(&self, Job { file_count, jobs }: Job, directory: &Path, results: &Path) -> Command {
        let text = |number: u32| number.to_string();
        match self {
            Self::Plimsoll => {
                let mut command = child::command("target/release/plimsoll");
                command.arg("run").arg(directory).args(["--json", "--no-history", "--quiet", "--iterations", "1"]);
                command.args(["--phases", &PHASES.map(|(phase, _)| phase).join(","), "--jobs", &text(jobs)]);
                command.args(["--file-size", "4k", "--block-size", "4k", "--file-count", &text(file_count)]);
                command.args(["--files-per-directory", &text(FILES_PER_DIRECTORY)]);
                command
            }
            Self::Elbencho(program) => {
                let mut command = child::command(&program.to_string_lossy());
                command.args(["--mkdirs", "--write", "--stat", "--read", "--delfiles", "--deldirs", "--nolive"]);
                command.args(["--size", "4k", "--block", "4k", "--threads", &text(jobs)]);
                // Directories of each thread, and files of each of these.
                command.args(["--dirs", &text(file_count / jobs / FILES_PER_DIRECTORY)]);
                command.args(["--files", &text(FILES_PER_DIRECTORY)]);
                for name in ["json", "csv", "res"] {
                    command.arg(format!("--{name}file")).arg(results.join(name));
                }
                command.arg(directory);
                command
            }
        }
    }
}

impl Storage {
    fn place(&self) -> anyhow::Result<Place> {
        let inside = match self {
            Self::Directory(directory) => directory.clone(),
            Self::Memory | Self::Device(_) => crate::repository().join("target"),
        };
        let directory = tempfile::Builder::new().prefix("files-").tempdir_in(&inside);
        let directory = directory.with_context(|| format!("create a directory in {}", inside.display()))?;
        let mounted = match self {
            Self::Memory => Some(Mounted::in_memory(directory.path())?),
            Self::Directory(_) => None,
            Self::Device(device) => Some(Mounted::on(device, directory.path())?),
        };
        Ok(Place { mounted, directory })
    }
}

impl Place {
    fn path(&self) -> &Path {
        self.mounted.as_ref().map_or_else(|| self.directory.path(), |mounted| &mounted.place)
    }
}

/// Rates of plimsoll's record, of phases that have done all files.
fn own_rates(stdout: &str, job: Job) -> anyhow::Result<[f64; PHASES.len()]> {
    let record: Value = serde_json::from_str(stdout).context("parse JSON")?;
    rates(job, |phase, _| {
        let done = &record["cells"][0][phase];
        Some((done["operations"].as_f64()?, done["iops"].as_f64()?))
    })
}

/// Rates of elbencho's objects, one for each phase; its numbers are text. What counts is the end of the last thread.
fn peer_rates(text: &str, job: Job) -> anyhow::Result<[f64; PHASES.len()]> {
    let phases: Vec<Value> =
        serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().context("parse JSON")?;
    rates(job, |_, phase| {
        let done = &phases.iter().find(|object| object["phase_type"] == phase)?["last_done"];
        let number = |name: &str| done[name].as_str()?.parse::<f64>().ok();
        Some((number("entries")?, number("entries/s")?))
    })
}

/// The rate of each phase; `of` finds how many files it had, and how many in a second.
fn rates(job: Job, of: impl Fn(&str, &str) -> Option<(f64, f64)>) -> anyhow::Result<[f64; PHASES.len()]> {
    let mut rates = [0.0; PHASES.len()];
    for (rate, (ours, theirs)) in rates.iter_mut().zip(PHASES) {
        let (files, files_per_second) = of(ours, theirs).with_context(|| format!("find phase {ours}"))?;
        if files as u64 != u64::from(job.file_count) {
            bail!("phase {ours} had {files} files instead of {}", job.file_count);
        }
        *rate = files_per_second;
    }
    Ok(rates)
}

/// The median of what each turn has.
fn middle(turns: &[Turn], of: impl Fn(&Turn) -> f64) -> f64 {
    median(turns.iter().map(of))
}

/// The median of the rounds' ratios.
fn ratio(ours: &[Turn], theirs: &[Turn], of: impl Fn(&Turn) -> f64) -> f64 {
    median(ours.iter().zip(theirs).map(|(ours, theirs)| of(ours) / of(theirs)))
}

fn show(job: Job, ours: &[Turn], theirs: &[Turn]) {
    println!("{:<24} {:>12} {:>12} {:>8}", format!("{}, median of turns", job.name()), "plimsoll", "elbencho", "ratio");
    let line = |what: &str, of: &dyn Fn(&Turn) -> f64| {
        let [our, their] = [ours, theirs].map(|turns| middle(turns, of));
        println!("{what:<24} {our:>12.0} {their:>12.0} {:>8.3}", ratio(ours, theirs, of));
    };
    for (number, (phase, _)) in PHASES.into_iter().enumerate() {
        line(&format!("{phase}, files/s"), &|turn| turn.rates[number]);
    }
    line("user ns/file", &|turn| turn.user_ns);
    line("system ns/file", &|turn| turn.system_ns);
    line("processor ns/file", &|turn| turn.user_ns + turn.system_ns);
}

/// The bar for each phase.
fn verdict(job: Job, ours: &[Turn], theirs: &[Turn]) -> bool {
    let mut is_met = true;
    for (number, (phase, _)) in PHASES.into_iter().enumerate() {
        let what = format!("{phase} to elbencho, {}", job.name());
        is_met &= judge(&what, ratio(ours, theirs, |turn| turn.rates[number]), "x", Bar::AtLeast(1.0));
    }
    is_met
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Job = Job { file_count: 50_000, jobs: 2 };

    fn turn(rates: [f64; 4]) -> Turn {
        Turn { rates, user_ns: 1.0, system_ns: 1.0 }
    }

    #[test]
    fn both_are_asked_for_the_same_set() {
        let (directory, results) = (Path::new("/mnt/x"), Path::new("/tmp/y"));
        let words = |subject: &Subject| child::line(&subject.command(JOB, directory, results));
        let (ours, theirs) = (words(&Subject::Plimsoll), words(&Subject::Elbencho("elbencho".into())));
        for part in ["--jobs 2", "--file-size 4k", "--file-count 50000", "--files-per-directory 1000", "/mnt/x"] {
            assert!(ours.contains(part), "{part} in {ours}");
        }
        for part in ["--threads 2", "--size 4k", "--dirs 25", "--files 1000", "/mnt/x"] {
            assert!(theirs.contains(part), "{part} in {theirs}");
        }
    }

    #[test]
    fn answers_are_understood() {
        let cell = |phase: &str, rate: f64| format!(r#""{phase}":{{"operations":50000,"iops":{rate:.1}}}"#);
        let cells = [cell("write", 1.0), cell("stat", 2.0), cell("read", 3.0), cell("delete", 4.0)].join(",");
        let ours = format!(r#"{{"cells":[{{{cells}}}]}}"#);
        let object = |phase: &str, files: u32, rate: u32| {
            format!(r#"{{"phase_type":"{phase}","first_done":{{"entries":"9","entries/s":"9"}},"#)
                + &format!(r#""last_done":{{"entries":"{files}","entries/s":"{rate}"}}}}"#)
                + "\n"
        };
        let mut theirs = object("MKDIRS", 50, 7);
        for (rate, (_, phase)) in (1..).zip(PHASES) {
            theirs += &object(phase, 50_000, rate);
        }
        for rates in [own_rates(&ours, JOB), peer_rates(&theirs, JOB)] {
            assert_eq!(rates.unwrap().map(|rate| rate as u32), [1, 2, 3, 4]);
        }
        assert!(peer_rates(&object("WRITE", 50_000, 1), JOB).is_err());
        let fewer = Job { file_count: 40_000, ..JOB };
        assert_eq!(own_rates(&ours, fewer).unwrap_err().to_string(), "phase write had 50000 files instead of 40000");
        assert!(peer_rates(&theirs, fewer).is_err());
    }

    #[test]
    fn each_phase_can_miss_its_bar_and_one_round_does_not_decide() {
        let theirs = [turn([100.0; 4]); 3];
        let ours = |phase: usize, rates: [f64; 3]| {
            rates.map(|rate| {
                let mut rates = [100.0; 4];
                rates[phase] = rate;
                turn(rates)
            })
        };
        for phase in 0..PHASES.len() {
            assert!(verdict(JOB, &ours(phase, [10.0, 101.0, 102.0]), &theirs));
            assert!(!verdict(JOB, &ours(phase, [99.0, 99.0, 120.0]), &theirs));
        }
    }
}
