//! The stages of an application in one place: commands that a shell reads, run one after the other and never two at a
//! time, of which one is timed.

use std::{
    fs::{self, File},
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use plimsoll_io::{
    block_device::BackingDevice,
    children::{self, ChildUsage, Ended},
    clock::{Clock, MonotonicClock},
};
use plimsoll_workload::{
    application::{ApplicationPlan, Stage},
    units::Span,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use thiserror::Error;
use uuid::Uuid;

use crate::{
    family::Family, guardian::Guardian, leftovers::RUN_VARIABLE, process_table::ProcessTable, settling::settle,
};

/// How long a server may take to be ready when nothing is said.
const READY: Duration = Duration::from_secs(60);
/// Pause between two questions whether it is.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(50);
/// How long a cleanup may take that was begun because the run was stopped.
const CLEANUP: Duration = Duration::from_secs(60);
/// Shortest time between two looks at what processes do.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// A look takes at most this share of the time.
const LOOK_SHARE: u32 = 50;
/// Fewer looks say nothing of what was between them.
const LOOKS_MIN: u32 = 5;
/// As much of what commands said is told when one fails.
const OUTPUT_BYTES: usize = 2000;
/// The file that commands may write their own figures to, in the directory of the run.
const FIGURES: &str = "figures";

/// Why a stage could not be done.
#[derive(Debug, Error)]
pub enum StageError {
    /// The run is to stop.
    #[error("stopped")]
    Stopped,
    /// A command failed.
    #[error("{stage} failed ({ended}){}", told(output))]
    Failed {
        /// Of which stage.
        stage: Stage,
        /// How it ended.
        ended: Ended,
        /// The end of what it said.
        output: String,
    },
    /// A command took longer than it may.
    #[error("{stage} was not done after {}{}", Span { ns: *limit_ns }, told(output))]
    TimedOut {
        /// Of which stage.
        stage: Stage,
        /// How long it may take.
        limit_ns: u64,
        /// The end of what it said.
        output: String,
    },
    /// What a command told of itself cannot be read.
    #[error("the figures of the command: {0}")]
    Figures(String),
    /// The system refused something.
    #[error("{what}: {source}")]
    System {
        /// What was to be done.
        what: String,
        /// Why not.
        source: io::Error,
    },
}

/// The last line of what a command said, for a sentence.
fn told(output: &str) -> String {
    output.lines().map(str::trim).rfind(|line| !line.is_empty()).map_or_else(String::new, |line| format!(": {line}"))
}

impl StageError {
    fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }

    /// The end of what commands said.
    pub fn output(&self) -> &str {
        match self {
            Self::Failed { output, .. } | Self::TimedOut { output, .. } => output,
            Self::Stopped | Self::Figures(_) | Self::System { .. } => "",
        }
    }
}

/// Where an application works.
#[derive(Clone, Debug)]
pub struct Places {
    /// The directory on the storage, for it alone.
    pub target_dir: PathBuf,
    /// A directory elsewhere, for it alone: sockets, logs.
    pub run_dir: PathBuf,
    /// A directory elsewhere, for all applications of the run: what they read and did not make on the storage.
    pub dataset: PathBuf,
    /// The disk below the storage.
    pub device: Option<BackingDevice>,
}

/// A command that ran to its end.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// When it began, by the monotonic clock.
    pub started_ns: u64,
    /// Until it ended.
    pub elapsed_ns: u64,
    /// What it used, and all that it waited for.
    pub usage: ChildUsage,
    /// What servers used meanwhile.
    pub servers: ChildUsage,
    /// Whether the kernel told the bytes of all servers.
    pub knows_bytes: bool,
    /// Share of looks at which a process waited for a disk.
    pub disk_wait_share: Option<f64>,
}

/// An application on one target.
#[derive(Debug)]
pub struct Application {
    plan: ApplicationPlan,
    run: Uuid,
    target_name: String,
    places: Places,
    user: Option<(u32, u32)>,
    family: Family,
    /// Held, so that it watches as long as this is there.
    _guardian: Guardian,
    has_begun: bool,
    is_set_up: bool,
}

impl Application {
    /// Gets ready to work in some places, for which the user of the plan gets the rights. Nothing of it runs yet.
    ///
    /// # Errors
    /// When the user is not known, or the system refuses something.
    pub fn new(plan: &ApplicationPlan, run: Uuid, target_name: &str, places: Places) -> Result<Self, StageError> {
        let is_root = rustix::process::geteuid().is_root();
        let user = plan.user.as_deref().filter(|_| is_root).map(numbers_of).transpose()?;
        if let Some((user, group)) = user {
            for place in [&places.target_dir, &places.run_dir, &places.dataset] {
                std::os::unix::fs::chown(place, Some(user), Some(group))
                    .map_err(StageError::system(format!("give {} to the user of --user", place.display())))?;
            }
        }
        Ok(Self {
            plan: plan.clone(),
            run,
            target_name: target_name.to_owned(),
            places,
            user,
            family: Family::default(),
            _guardian: Guardian::start(run).map_err(StageError::system("start sh"))?,
            has_begun: false,
            is_set_up: false,
        })
    }

    /// Does the setup and waits until what it started is ready, the first time.
    ///
    /// # Errors
    /// When a command fails, or the run is to stop.
    pub fn set_up(&mut self, stop: &AtomicBool, tell: &mut dyn FnMut(Stage)) -> Result<(), StageError> {
        if self.is_set_up {
            return Ok(());
        }
        self.has_begun = true;
        self.stage(Stage::Setup, 0, stop, tell)?;
        if self.plan.ready.is_some() {
            tell(Stage::Ready);
            let limit = self.plan.timeout_ns.map_or(READY, Duration::from_nanos);
            let began_ns = MonotonicClock.now_ns();
            while let Err(error) = self.command(Stage::Ready, 0, Some(limit), stop) {
                if !matches!(error, StageError::Failed { .. }) {
                    return Err(error);
                }
                let limit_ns = limit.as_nanos() as u64;
                if MonotonicClock.now_ns() - began_ns >= limit_ns {
                    let output = error.output().to_owned();
                    return Err(StageError::TimedOut { stage: Stage::Ready, limit_ns, output });
                }
                thread::sleep(BETWEEN_QUESTIONS);
            }
        }
        self.is_set_up = true;
        Ok(())
    }

    /// Does a stage that is not timed, if the plan has one.
    ///
    /// # Errors
    /// When the command fails, or the run is to stop.
    pub fn stage(
        &mut self,
        stage: Stage,
        iteration: u32,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Stage),
    ) -> Result<(), StageError> {
        if self.plan.command_of(stage).is_none() {
            return Ok(());
        }
        tell(stage);
        self.command(stage, iteration, self.limit(), stop).map(drop)
    }

    /// Waits until the storage has come to rest. Returns how long that took, and whether it did.
    pub fn settle(&self, stop: &AtomicBool, tell: &mut dyn FnMut(Stage)) -> (u64, bool) {
        if self.plan.settle_ns == 0 {
            return (0, true);
        }
        tell(Stage::Settle);
        let began_ns = MonotonicClock.now_ns();
        let limit = Duration::from_nanos(self.plan.settle_ns);
        let servers = || {
            let used = self.family.used(&ProcessTable::now());
            used.read_bytes + used.written_bytes
        };
        let is_at_rest = settle(&self.places.target_dir, self.places.device, &servers, limit, stop);
        (MonotonicClock.now_ns() - began_ns, is_at_rest)
    }

    /// Runs the command that is timed.
    ///
    /// # Errors
    /// When it fails, or the run is to stop.
    pub fn time(
        &mut self,
        iteration: u32,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Stage),
    ) -> Result<Timed, StageError> {
        // What an earlier iteration told is not told by this one.
        let _ = fs::remove_file(self.places.run_dir.join(FIGURES));
        tell(Stage::Run);
        self.command(Stage::Run, iteration, self.limit(), stop)
    }

    /// What the commands of the iteration have told of themselves; empty when they told nothing.
    pub fn figures(&self) -> String {
        let bytes = fs::read(self.places.run_dir.join(FIGURES)).unwrap_or_default();
        String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]).into_owned()
    }

    /// Does the cleanup, also after the run was stopped, and ends whatever is left of the application.
    ///
    /// # Errors
    /// When the cleanup fails.
    pub fn close(&mut self) -> Result<(), StageError> {
        let done = if std::mem::take(&mut self.has_begun) && self.plan.cleanup.is_some() {
            let limit = self.limit().map_or(CLEANUP, |limit| limit.min(CLEANUP));
            self.command(Stage::Cleanup, 0, Some(limit), &AtomicBool::new(false)).map(drop)
        } else {
            Ok(())
        };
        self.family.end_all();
        done
    }

    fn limit(&self) -> Option<Duration> {
        self.plan.timeout_ns.map(Duration::from_nanos)
    }

    fn log(&self, stage: Stage, iteration: u32) -> PathBuf {
        let name = match stage {
            Stage::Setup | Stage::Ready | Stage::Settle => "log-setup".to_owned(),
            Stage::Cleanup => "log-cleanup".to_owned(),
            Stage::Prepare | Stage::Run | Stage::Verify | Stage::Conclude => format!("log-{iteration}"),
        };
        self.places.run_dir.join(name)
    }

    /// Runs the command of a stage to its end.
    fn command(
        &mut self,
        stage: Stage,
        iteration: u32,
        limit: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<Timed, StageError> {
        let text = self.plan.command_of(stage).unwrap_or_default().to_owned();
        let log = self.log(stage, iteration);
        let from = fs::metadata(&log).map_or(0, |facts| facts.len());
        let mut table = ProcessTable::now();
        self.family.begin(&table);
        let before = self.family.used(&table);
        let mut shell = self.shell(&text, &log, iteration)?;
        let started_ns = MonotonicClock.now_ns();
        let child = shell.spawn().map_err(|source| self.not_started(source))?;
        let pid = Pid::from_child(&child);
        let number = pid.as_raw_nonzero().get();
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok();
        let (mut looks, mut waits, mut pause) = (0_u32, 0_u32, BETWEEN_LOOKS);
        let (elapsed_ns, ended, usage) = loop {
            if has_ended(handle.as_ref(), pause) {
                let elapsed_ns = MonotonicClock.now_ns() - started_ns;
                if let Some((ended, usage)) = children::reap(pid).map_err(StageError::system("wait for a command"))? {
                    break (elapsed_ns, ended, usage);
                }
            }
            let is_late = limit.is_some_and(|limit| MonotonicClock.now_ns() - started_ns > limit.as_nanos() as u64);
            if is_late || stop.load(Ordering::Relaxed) {
                self.family.end_command(number);
                let output = tail(&log, from);
                let limit_ns = limit.unwrap_or_default().as_nanos() as u64;
                return Err(if is_late {
                    StageError::TimedOut { stage, limit_ns, output }
                } else {
                    StageError::Stopped
                });
            }
            let look_ns = MonotonicClock.now_ns();
            table = ProcessTable::now();
            self.family.refresh(&table, Some(number));
            looks += 1;
            waits += u32::from(table.waits_for_disk(&self.family.processes(&table, Some(number))));
            pause = (Duration::from_nanos(MonotonicClock.now_ns() - look_ns) * LOOK_SHARE).max(BETWEEN_LOOKS);
        };
        table = ProcessTable::now();
        self.family.refresh(&table, None);
        let after = self.family.used(&table);
        if !ended.is_success() {
            return Err(StageError::Failed { stage, ended, output: tail(&log, from) });
        }
        Ok(Timed {
            started_ns,
            elapsed_ns,
            usage,
            servers: after.since(&before),
            knows_bytes: before.knows_bytes && after.knows_bytes,
            disk_wait_share: (looks >= LOOKS_MIN).then(|| f64::from(waits) / f64::from(looks)),
        })
    }

    fn shell(&self, text: &str, log: &Path, iteration: u32) -> Result<Command, StageError> {
        let open = || File::options().create(true).append(true).open(log);
        let log = open().map_err(StageError::system(format!("write {}", log.display())))?;
        let other = log.try_clone().map_err(StageError::system("write the log of a command"))?;
        let mut shell = Command::new("sh");
        shell.args(["-c", text]).current_dir(&self.places.target_dir).process_group(0);
        shell.stdin(Stdio::null()).stdout(log).stderr(other);
        shell.env(RUN_VARIABLE, self.run.to_string());
        shell.env("TARGET_DIR", &self.places.target_dir).env("TARGET_NAME", &self.target_name);
        shell.env("RUN_DIR", &self.places.run_dir).env("DATASET", &self.places.dataset);
        shell.env("FIGURES", self.places.run_dir.join(FIGURES)).env("ITERATION", iteration.to_string());
        shell.env("SEED", self.plan.seed.to_string()).env("THREADS", self.plan.threads.to_string());
        // Where a caller began may be a directory that this user cannot see.
        shell.env("PWD", &self.places.target_dir);
        if let Some((user, group)) = self.user {
            shell.uid(user).gid(group).env("HOME", &self.places.run_dir);
        }
        Ok(shell)
    }

    /// Why a shell did not start. Another user may not be let in where root is.
    fn not_started(&self, source: io::Error) -> StageError {
        let place = self.places.target_dir.display();
        let what = match &self.plan.user {
            Some(user) if self.user.is_some() && source.kind() == io::ErrorKind::PermissionDenied => format!(
                "{user} (--user) cannot enter {place}: let others enter the directories on the way to it (chmod o+x), or \
                 name another user"
            ),
            _ => format!("start sh in {place}"),
        };
        StageError::System { what, source }
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        // Who wanted to know how it went has closed it before.
        let _ = self.close();
    }
}

/// Waits for the end of a process, at most so long.
fn has_ended(handle: Option<&OwnedFd>, pause: Duration) -> bool {
    let Some(handle) = handle else {
        // Kernels before 5.3.
        thread::sleep(Duration::from_millis(1));
        return true;
    };
    let time = Timespec { tv_sec: pause.as_secs().cast_signed(), tv_nsec: pause.subsec_nanos().into() };
    let mut fds = [PollFd::from_borrowed_fd(handle.as_fd(), PollFlags::IN)];
    poll(&mut fds, Some(&time)).is_ok_and(|ready| ready > 0)
}

/// The end of what commands have said since a place in their log.
fn tail(log: &Path, from: u64) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let new = bytes.get(usize::try_from(from).unwrap_or(usize::MAX)..).unwrap_or_default();
    let end = &new[new.len().saturating_sub(OUTPUT_BYTES)..];
    String::from_utf8_lossy(end).trim().to_owned()
}

/// The numbers of a user and its group, by its name.
fn numbers_of(user: &str) -> Result<(u32, u32), StageError> {
    let ask = |flag: &str| {
        let told =
            Command::new("id").args([flag, "--", user]).output().map_err(StageError::system("ask id for a user"))?;
        let number = String::from_utf8_lossy(&told.stdout).trim().parse::<u32>().ok();
        number.ok_or_else(|| StageError::System {
            what: format!("--user {user}"),
            source: io::Error::new(io::ErrorKind::NotFound, "there is no such user: name one that id knows"),
        })
    };
    Ok((ask("-u")?, ask("-g")?))
}
