//! Exit codes: what a script may rely on.

use std::{io, path::PathBuf, process::ExitCode};

use plimsoll_devices::error::DeviceError;
use plimsoll_history::history::HistoryError;
use plimsoll_image::{registry::PushError, saving::SaveError};
use plimsoll_io::{mounts::MountError, probe::EngineUnavailable, target::TargetError, write_guard::Refusal};
use plimsoll_kubernetes::error::ClusterError;
use plimsoll_programs::{ProgramError, lucene::InstallError};
use plimsoll_run::{first_io::FirstIoError, life_mark::LifeMarkError, run::RunError, same_place::TargetChanged};
use plimsoll_serve::server::ServeError;
use plimsoll_workload::{plan::PlanError, units::ValueError};
use thiserror::Error;

/// The answer could not be written to standard output.
#[derive(Debug, Error)]
#[error("write to standard output")]
pub struct OutputLost(#[from] pub io::Error);

/// A file that was asked for could not be written.
#[derive(Debug, Error)]
#[error("the file could not be written")]
pub struct FileLost(#[from] pub io::Error);

/// A directory could not be looked through for left-over files.
#[derive(Debug, Error)]
#[error("clean {}", path.display())]
pub struct LeftoverError {
    /// The directory.
    pub path: PathBuf,
    /// Why not.
    pub source: io::Error,
}

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything was done.
    Success = 0,
    /// An expectation failed; with fio's command line: anything.
    Failure = 1,
    /// Bad usage, or a workload that contradicts itself.
    Usage = 2,
    /// The target is unusable, or the write guard refused it.
    Target = 3,
    /// The kernel lacks what was demanded.
    Kernel = 4,
    /// An I/O error, or data that was not what had been written.
    Io = 5,
    /// The cluster, a registry or the network did not do what was asked.
    Cluster = 6,
    /// The history is unreadable.
    History = 7,
    /// A bug in plimsoll.
    Bug = 70,
    /// Interrupted, as fio tells it.
    InterruptedFio = 128,
    /// Interrupted; what was measured is saved.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// What another plimsoll ended with.
    fn of_code(code: u8) -> Self {
        let all = [Self::Failure, Self::Usage, Self::Target, Self::Kernel, Self::Io, Self::Cluster, Self::History];
        all.into_iter().chain([Self::Interrupted]).find(|exit| *exit as u8 == code).unwrap_or(Self::Bug)
    }

    /// The code that an error stands for.
    pub fn of(error: &anyhow::Error) -> Self {
        for cause in error.chain() {
            if let Some(error) = cause.downcast_ref::<RunError>() {
                return match error {
                    RunError::Refused(_) | RunError::Target(_) | RunError::Objects(_) | RunError::Layout(_) => {
                        Self::Target
                    }
                    RunError::OpenFiles { .. }
                    | RunError::Memory { .. }
                    | RunError::Unverifiable { .. }
                    | RunError::TooShort { .. }
                    | RunError::TwoLayouts { .. }
                    | RunError::NoTime { .. }
                    | RunError::TimeOver { .. }
                    | RunError::SameDisk { .. }
                    | RunError::FewProcessors { .. }
                    | RunError::NoUser(_)
                    | RunError::Background(_) => Self::Usage,
                    RunError::Start(_) | RunError::Common(_) => Self::Cluster,
                    RunError::Engine(_) => Self::Kernel,
                    RunError::Io(_) | RunError::Application(_) | RunError::SetUp { .. } => Self::Io,
                    RunError::Bug(_) | RunError::FileJob(_) => Self::Bug,
                };
            }
            if let Some(error) = cause.downcast_ref::<LifeMarkError>() {
                return match error {
                    LifeMarkError::Guard(_) | LifeMarkError::Target(_) => Self::Target,
                    LifeMarkError::Io { .. } | LifeMarkError::Wrong { .. } => Self::Io,
                };
            }
            if let Some(error) = cause.downcast_ref::<PlanError>() {
                return match error {
                    PlanError::Contradiction { .. } | PlanError::Certainty(_) | PlanError::Idle { .. } => Self::Usage,
                    PlanError::Target { .. } | PlanError::NoRoom { .. } => Self::Target,
                };
            }
            if cause.is::<TargetError>()
                || cause.is::<TargetChanged>()
                || cause.is::<Refusal>()
                || cause.is::<MountError>()
                || cause.is::<FirstIoError>()
            {
                return Self::Target;
            }
            if cause.is::<EngineUnavailable>() {
                return Self::Kernel;
            }
            if let Some(error) = cause.downcast_ref::<HistoryError>() {
                return match error {
                    _ if error.is_usage() => Self::Usage,
                    HistoryError::Export(_) => Self::Io,
                    _ => Self::History,
                };
            }
            if let Some(error) = cause.downcast_ref::<ClusterError>() {
                return match error {
                    ClusterError::Usage(_) | ClusterError::Configuration(_) => Self::Usage,
                    ClusterError::Interrupted | ClusterError::Left { is_interrupted: true, .. } => Self::Interrupted,
                    ClusterError::InPod { exit, .. } => Self::of_code(*exit),
                    ClusterError::Unreachable { .. }
                    | ClusterError::Refused { .. }
                    | ClusterError::Run(_)
                    | ClusterError::Left { .. } => Self::Cluster,
                };
            }
            if let Some(error) = cause.downcast_ref::<DeviceError>() {
                return match error.first() {
                    DeviceError::Usage(_)
                    | DeviceError::Exists { .. }
                    | DeviceError::Unknown { .. }
                    | DeviceError::Unfinished { .. }
                    | DeviceError::Same { .. } => Self::Usage,
                    DeviceError::InUse { .. }
                    | DeviceError::Refused(_)
                    | DeviceError::Foreign { .. }
                    | DeviceError::Misplaced { .. }
                    | DeviceError::Extended { .. }
                    | DeviceError::Opened { .. }
                    | DeviceError::OtherDisk { .. }
                    | DeviceError::NotInPlace { .. }
                    | DeviceError::Gone { .. } => Self::Target,
                    DeviceError::NoThrottle(_)
                    | DeviceError::NotRoot { .. }
                    | DeviceError::NoDriver { .. }
                    | DeviceError::Geometry { .. }
                    | DeviceError::NoTool { .. }
                    | DeviceError::Tool { .. } => Self::Kernel,
                    DeviceError::NotClean { .. }
                    | DeviceError::NotTaken { .. }
                    | DeviceError::Left { .. }
                    | DeviceError::File { .. }
                    | DeviceError::Damaged { .. } => Self::Io,
                };
            }
            if let Some(error) = cause.downcast_ref::<ServeError>() {
                return match error {
                    ServeError::NeedsToken(_) => Self::Usage,
                    ServeError::Listen { .. } => Self::Cluster,
                    ServeError::Start(_) => Self::Kernel,
                };
            }
            if let Some(error) = cause.downcast_ref::<SaveError>() {
                return match error {
                    SaveError::IsThere(_) | SaveError::NoFile(_) => Self::Usage,
                    SaveError::Interrupted(_) => Self::Interrupted,
                    SaveError::Write { .. } => Self::Io,
                };
            }
            if let Some(error) = cause.downcast_ref::<PushError>() {
                return match error {
                    PushError::Credentials(_) | PushError::Proxy(_) | PushError::Certificates => Self::Usage,
                    PushError::Unreachable { .. } | PushError::Unauthorized { .. } | PushError::Refused { .. } => {
                        Self::Cluster
                    }
                };
            }
            if let Some(error) = cause.downcast_ref::<InstallError>() {
                return match error {
                    InstallError::Read { .. } | InstallError::Other { .. } => Self::Usage,
                    InstallError::Fetch { .. } => Self::Cluster,
                    InstallError::Write { .. } => Self::Io,
                };
            }
            if let Some(error) = cause.downcast_ref::<ProgramError>() {
                return match error {
                    ProgramError::Setting(_) => Self::Usage,
                    ProgramError::Threads(_) => Self::Kernel,
                    ProgramError::File { .. } | ProgramError::Sqlite { .. } | ProgramError::Damaged { .. } => Self::Io,
                };
            }
            if cause.is::<OutputLost>() || cause.is::<FileLost>() {
                return Self::Io;
            }
            if cause.is::<LeftoverError>() {
                return Self::Target;
            }
            if cause.is::<ValueError>() {
                return Self::Usage;
            }
        }
        Self::Usage
    }
}
