//! The stages of an application in one place: commands that a shell reads, run one after the other and never two at a
//! time, of which one is timed.

use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io::{self, Read as _},
    path::PathBuf,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use plimsoll_io::{
    block_device::BackingDevice,
    children::{self, ChildUsage, Ended},
    clock::{Clock, MonotonicClock},
    cpu, open_files,
};
use plimsoll_workload::{
    application::{ApplicationPlan, Stage},
    units::Span,
};
use rustix::{
    fs::{Mode, OFlags, open},
    io::Errno,
    process::Pid,
};
use thiserror::Error;
use uuid::Uuid;

use crate::{
    end_watch::EndWatch,
    family::Family,
    guardian::Guardian,
    leftovers::{PROCESS_VARIABLE, PROCESSES, RUN_VARIABLE, this_process},
    log::Log,
    looks::Looks,
    process_table::ProcessTable,
    settling::{Servers, settle},
    telling::Telling,
    user::User,
};

/// How long a server may take to be ready when nothing is said.
const READY: Duration = Duration::from_secs(60);
/// Pause between two questions whether it is.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(50);
/// How long a cleanup may take that was begun because the run was stopped.
const CLEANUP: Duration = Duration::from_secs(60);
/// So many lines of it stand in a sentence.
const LINES_TOLD: usize = 4;
/// As much is read of the figures that commands tell.
const FIGURES_BYTES: u64 = 1 << 16;
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
    #[error("{stage} was not done after {}{}", Span { ns: *limit_ns }, last_words(output))]
    TimedOut {
        /// Of which stage.
        stage: Stage,
        /// How long it may take.
        limit_ns: u64,
        /// The end of what it said.
        output: String,
    },
    /// Not everything ended.
    #[error("these processes did not end: {0:?}")]
    Left(Vec<i32>),
    /// Nobody has the name of the user whose rights commands are to have.
    #[error("--user {0}: there is no such user: name one that id knows")]
    NoUser(String),
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

/// The last lines of what a command said, for a sentence: the reason is often not the very last.
fn told(output: &str) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match &lines[lines.len().saturating_sub(LINES_TOLD)..] {
        [] => String::new(),
        last => format!(": {}", last.join("; ")),
    }
}

/// The same of one that was ended, which had more to say.
fn last_words(output: &str) -> String {
    told(output).strip_prefix(": ").map_or_else(String::new, |line| format!("; it said last: {line}"))
}

impl StageError {
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }

    /// The end of what commands said.
    pub fn output(&self) -> &str {
        match self {
            Self::Failed { output, .. } | Self::TimedOut { output, .. } => output,
            Self::Stopped | Self::Left(_) | Self::NoUser(_) | Self::Figures(_) | Self::System { .. } => "",
        }
    }
}

/// Where an application works.
#[derive(Clone, Debug)]
pub struct Places {
    /// The directory on the storage, for it alone.
    pub target_dir: PathBuf,
    /// A directory elsewhere, for it alone: sockets.
    pub run_dir: PathBuf,
    /// A directory elsewhere that only this process writes to: what commands say, and which processes there are.
    pub logs: PathBuf,
    /// A directory elsewhere, for all applications of the run: what they read and did not make on the storage.
    pub dataset: PathBuf,
    /// The disk below the storage.
    pub device: Option<BackingDevice>,
    /// Who owns these directories but that of the logs, when it is not this process.
    pub user: Option<User>,
    /// The variables that commands of that user have, beside those that tell them of the run.
    pub environment: Vec<(OsString, OsString)>,
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
    /// Most memory that one of these had; `None` when it is no more than this process had, with which each begins.
    pub max_resident_bytes: Option<u64>,
    /// What servers used meanwhile.
    pub servers: ChildUsage,
    /// Whether the kernel told the bytes of all servers.
    pub knows_bytes: bool,
    /// How often was looked at what its processes do.
    pub looks: u32,
    /// Share of looks at which a process waited for a disk.
    pub disk_wait_share: Option<f64>,
    /// Share of looks at which one ran, or would have if it had a processor.
    pub runnable_share: Option<f64>,
}

/// An application on one target.
#[derive(Debug)]
pub struct Application {
    plan: ApplicationPlan,
    run: Uuid,
    target_name: String,
    places: Places,
    /// The processors that its commands are kept on; empty when they have all.
    cpus: Vec<u32>,
    family: Family,
    /// Held, so that it watches as long as this is there.
    _guardian: Guardian,
    /// Whether there is anything to clean up.
    has_begun: bool,
}

impl Application {
    /// Gets ready to work in some places. Nothing of it runs yet.
    ///
    /// # Errors
    /// When the system refuses something, or another user whose rights commands have cannot get to the places.
    pub fn new(plan: &ApplicationPlan, run: Uuid, target_name: &str, places: Places) -> Result<Self, StageError> {
        if let (Some(user), Some(name)) = (places.user, &plan.user)
            && !user.may_enter(&places.run_dir).map_err(StageError::system("start sh"))?
        {
            return Err(StageError::System {
                what: format!("{name} (--user) cannot enter {}, where temporary files go", places.run_dir.display()),
                source: io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "let others enter the directories on the way to it (chmod o+x), or set TMPDIR to where they may, \
                     as TMPDIR=/tmp",
                ),
            });
        }
        Ok(Self {
            plan: plan.clone(),
            run,
            target_name: target_name.to_owned(),
            family: Family::new(&places.target_dir, &places.logs.join(PROCESSES)),
            _guardian: Guardian::start(&places.logs.join(PROCESSES), &places.target_dir)
                .map_err(StageError::system("start sh"))?,
            has_begun: false,
            cpus: Vec::new(),
            places,
        })
    }

    /// Says that nothing but its commands is started while one of them runs: then what these leave behind is known to
    /// be theirs, whatever it did to its session, environment and directory.
    pub fn be_alone(&mut self) {
        self.family.be_alone();
    }

    /// Does the setup and waits until what it started is ready.
    ///
    /// # Errors
    /// When a command fails, or the run is to stop.
    pub fn set_up(&mut self, stop: &AtomicBool, tell: &mut dyn FnMut(Stage)) -> Result<(), StageError> {
        self.has_begun = true;
        self.stage(Stage::Setup, 0, stop, tell)?;
        if self.plan.ready.is_some() {
            let limit = self.plan.timeout_ns.map_or(READY, Duration::from_nanos);
            let began_ns = MonotonicClock.now_ns();
            while let Err(error) = self.command(Stage::Ready, 0, Some(limit), stop, tell) {
                if !matches!(error, StageError::Failed { .. }) {
                    return Err(error);
                }
                let limit_ns = limit.as_nanos() as u64;
                if stop.load(Ordering::Relaxed) {
                    return Err(StageError::Stopped);
                }
                if MonotonicClock.now_ns() - began_ns >= limit_ns {
                    let output = error.output().to_owned();
                    return Err(StageError::TimedOut { stage: Stage::Ready, limit_ns, output });
                }
                thread::sleep(BETWEEN_QUESTIONS);
            }
        }
        Ok(())
    }

    /// Keeps all that its commands have started, and from now on start, on some processors. Who times them stays free.
    ///
    /// # Errors
    /// When the kernel does not let it.
    pub fn keep_on(&mut self, cpus: &[u32]) -> Result<(), StageError> {
        let failed = || StageError::system(format!("keep an application on the processors {cpus:?}"));
        self.cpus = cpus.to_vec();
        // What has ended since runs nowhere.
        let is_there = |pid: &i32| ProcessTable::now().get(*pid).is_some_and(|process| process.state != 'Z');
        // What a process started before it was kept itself is found the second time.
        for _ in 0..2 {
            let table = ProcessTable::now();
            self.family.refresh(&table, None);
            for pid in self.family.processes(&table, None) {
                if let Err(source) = cpu::keep_process_on(pid, cpus)
                    && is_there(&pid)
                {
                    return Err(failed()(source));
                }
            }
        }
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
        self.command(stage, iteration, self.limit(), stop, tell).map(drop)
    }

    /// Waits until the storage has come to rest. Returns how long that took, and whether it did.
    ///
    /// # Errors
    /// When the run is to stop.
    pub fn settle(&self, stop: &AtomicBool, tell: &mut dyn FnMut(Stage)) -> Result<(u64, bool), StageError> {
        if self.plan.settle_ns == 0 {
            return Ok((0, true));
        }
        let mut telling = Telling::begin(Stage::Settle, tell);
        let began_ns = MonotonicClock.now_ns();
        let limit = Duration::from_nanos(self.plan.settle_ns);
        let servers = || {
            self.bound_logs();
            let table = ProcessTable::now();
            let used = self.family.used(&table);
            Servers {
                bytes: used.read_bytes + used.written_bytes,
                waits_for_disk: table.doing(&self.family.processes(&table, None)).waits_for_disk,
            }
        };
        let is_at_rest = settle(&self.places.target_dir, self.places.device, &servers, limit, stop, &mut telling);
        if stop.load(Ordering::Relaxed) {
            Err(StageError::Stopped)
        } else {
            Ok((MonotonicClock.now_ns() - began_ns, is_at_rest))
        }
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
        self.command(Stage::Run, iteration, self.limit(), stop, tell)
    }

    /// What the commands of the iteration have told of themselves; empty when they told nothing.
    ///
    /// # Errors
    /// When it is no file, or there is too much of it.
    pub fn figures(&self) -> Result<String, StageError> {
        // Commands may have put anything there, and this process may have more rights than they.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match open(self.places.run_dir.join(FIGURES), flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(String::new()),
            file => file.map(File::from).map_err(|_| StageError::Figures("$FIGURES is no file".to_owned()))?,
        };
        if !file.metadata().is_ok_and(|facts| facts.is_file()) {
            return Err(StageError::Figures("$FIGURES is no file".to_owned()));
        }
        let mut bytes = Vec::new();
        file.take(FIGURES_BYTES + 1).read_to_end(&mut bytes).map_err(StageError::system("read $FIGURES"))?;
        if bytes.len() as u64 > FIGURES_BYTES {
            return Err(StageError::Figures(format!("there are more than {FIGURES_BYTES} bytes of them")));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Does the cleanup, for at most a minute when the run was stopped, and ends whatever is left of the application.
    ///
    /// # Errors
    /// When the cleanup fails, or a process does not end.
    pub fn close(&mut self, is_stopped: bool) -> Result<(), StageError> {
        let done = if std::mem::take(&mut self.has_begun) && self.plan.cleanup.is_some() {
            let limit =
                if is_stopped { Some(self.limit().map_or(CLEANUP, |limit| limit.min(CLEANUP))) } else { self.limit() };
            self.command(Stage::Cleanup, 0, limit, &AtomicBool::new(false), &mut |_| {}).map(drop)
        } else {
            Ok(())
        };
        let left = self.family.end_all();
        if left.is_empty() { done } else { Err(StageError::Left(left)) }
    }

    fn limit(&self) -> Option<Duration> {
        self.plan.timeout_ns.map(Duration::from_nanos)
    }

    /// What servers of the setup go on to say stands apart, so that it is not taken for the last words of another.
    fn log(&self, stage: Stage) -> Log {
        let name = match stage {
            Stage::Setup | Stage::Ready | Stage::Settle => "log-setup",
            Stage::Prepare | Stage::Run | Stage::Verify | Stage::Conclude | Stage::Cleanup => "log",
        };
        Log::new(self.places.logs.join(name))
    }

    /// Bounds all that is said: servers go on to write where the command did that started them.
    fn bound_logs(&self) {
        for stage in [Stage::Setup, Stage::Run] {
            self.log(stage).bound();
        }
    }

    /// Runs the command of a stage to its end.
    fn command(
        &mut self,
        stage: Stage,
        iteration: u32,
        limit: Option<Duration>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Stage),
    ) -> Result<Timed, StageError> {
        let done = self.watched(iteration, limit, stop, Telling::begin(stage, tell));
        self.family.leave_command();
        done
    }

    fn watched(
        &mut self,
        iteration: u32,
        limit: Option<Duration>,
        stop: &AtomicBool,
        mut telling: Telling<'_>,
    ) -> Result<Timed, StageError> {
        let stage = telling.stage;
        if stop.load(Ordering::Relaxed) {
            return Err(StageError::Stopped);
        }
        let text = self.plan.command_of(stage).unwrap_or_default().to_owned();
        // What brief commands said before is bounded here.
        self.bound_logs();
        let mut log = self.log(stage);
        let mut table = ProcessTable::now();
        self.family.refresh(&table, None);
        self.family.begin_command(&table);
        let members = self.family.members();
        let before = self.family.used(&table);
        let mut shell = self.shell(&text, &log, iteration)?;
        let watch = EndWatch::start().map_err(StageError::system("start a thread"))?;
        let own_bytes = children::own_resident_bytes_max();
        let started_ns = MonotonicClock.now_ns();
        let child = shell.spawn().map_err(|source| self.not_started(source))?;
        let pid = Pid::from_child(&child);
        let number = pid.as_raw_nonzero().get();
        self.family.add_command(number);
        watch.begin(pid);
        let mut looks = Looks::new(self.plan.seed, iteration);
        let (elapsed_ns, ended, usage) = loop {
            if let Some(end_ns) = watch.ended_within(looks.pause)
                && let Some((ended, usage)) = children::reap(pid).map_err(StageError::system("wait for a command"))?
            {
                break (end_ns - started_ns, ended, usage);
            }
            let is_late = limit.is_some_and(|limit| MonotonicClock.now_ns() - started_ns > limit.as_nanos() as u64);
            if is_late || stop.load(Ordering::Relaxed) {
                self.family.end_command(pid, &members);
                let output = log.tail();
                let limit_ns = limit.unwrap_or_default().as_nanos() as u64;
                return Err(if is_late {
                    StageError::TimedOut { stage, limit_ns, output }
                } else {
                    StageError::Stopped
                });
            }
            telling.go_on();
            log.bound();
            self.bound_logs();
            let look_ns = MonotonicClock.now_ns();
            table = ProcessTable::now();
            self.family.refresh(&table, Some(number));
            let doing = table.doing(&self.family.processes(&table, Some(number)));
            looks.note(doing, Duration::from_nanos(MonotonicClock.now_ns() - look_ns));
        };
        table = ProcessTable::now();
        self.family.refresh(&table, None);
        let after = self.family.used(&table);
        if !ended.is_success() {
            return Err(StageError::Failed { stage, ended, output: log.tail() });
        }
        Ok(Timed {
            started_ns,
            elapsed_ns,
            usage,
            max_resident_bytes: Some(usage.max_resident_bytes).filter(|bytes| *bytes > own_bytes),
            servers: after.since(&before),
            knows_bytes: before.knows_bytes && after.knows_bytes,
            looks: looks.count,
            disk_wait_share: looks.disk_wait_share(),
            runnable_share: looks.runnable_share(),
        })
    }

    fn shell(&self, text: &str, log: &Log, iteration: u32) -> Result<Command, StageError> {
        let log = log.open().map_err(StageError::system("write the log of a command"))?;
        let other = log.try_clone().map_err(StageError::system("write the log of a command"))?;
        let mut shell = Command::new("sh");
        shell.args(["-c", text]).current_dir(&self.places.target_dir);
        children::begins_session(&mut shell);
        open_files::begins_as_we_did(&mut shell);
        if !self.cpus.is_empty() {
            let what = format!("keep a command on the processors {:?}", self.cpus);
            cpu::begins_on(&mut shell, &self.cpus).map_err(StageError::system(what))?;
        }
        if let Some(user) = self.places.user {
            user.lend(&mut shell);
            shell.env_clear().envs(self.places.environment.iter().map(|(name, value)| (name, value)));
            shell.env("HOME", &self.places.run_dir);
        }
        shell.stdin(Stdio::null()).stdout(log).stderr(other);
        shell.env(RUN_VARIABLE, self.run.to_string()).env(PROCESS_VARIABLE, this_process());
        shell.env("TARGET_DIR", &self.places.target_dir).env("TARGET_NAME", &self.target_name);
        shell.env("RUN_DIR", &self.places.run_dir).env("DATASET", &self.places.dataset);
        // What a server has there ends with the run, and its user may write there.
        shell.env("TMPDIR", &self.places.run_dir);
        shell.env("FIGURES", self.places.run_dir.join(FIGURES)).env("ITERATION", iteration.to_string());
        shell.env("SEED", self.plan.seed.to_string()).env("THREADS", self.plan.threads.to_string());
        if let Ok(program) = env::current_exe() {
            shell.env("PLIMSOLL", program);
        }
        // Where a caller began may be a directory that this user cannot see.
        shell.env("PWD", &self.places.target_dir);
        Ok(shell)
    }

    /// Why a shell did not start. Another user may not be let in where root is.
    fn not_started(&self, source: io::Error) -> StageError {
        let place = self.places.target_dir.display();
        let what = match &self.plan.user {
            Some(user) if self.places.user.is_some() && source.kind() == io::ErrorKind::PermissionDenied => format!(
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
        let _ = self.close(true);
    }
}
