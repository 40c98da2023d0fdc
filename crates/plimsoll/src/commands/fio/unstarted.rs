//! What is reported of jobs that measured nothing: programs that asked for JSON get JSON, with an error for each job.

use std::{io, path::Path};

use jiff::Timestamp;
use plimsoll_dialects::fio::report::NotBegun;
use plimsoll_io::{target::TargetError, write_guard::Refusal};
use plimsoll_record::{
    builder::RecordBuilder,
    environment::Environment,
    event::{RunEvent, RunStarted},
    record::{Asked, Outcome, Record},
};
use plimsoll_run::{layout::LayoutError, run::RunError};
use plimsoll_workload::{
    certainty::Certainty,
    plan::{Plan, PlanError},
    settings::Effort,
};
use rustix::io::Errno;
use uuid::Uuid;

use crate::commands::{dialect, run::tool};

/// A record in which nothing was done.
pub(super) fn record(outcome: Outcome, warnings: &[String]) -> Record {
    let plan = Plan {
        seed: 0,
        effort: Effort::Standard,
        precision: None,
        max_time_ns: None,
        bookend_ns: None,
        turn: None,
        cells: Vec::new(),
    };
    let certainty = Certainty::of(Effort::Standard);
    let mut builder = RecordBuilder::new(RunStarted {
        id: Uuid::now_v7(),
        started: Timestamp::now(),
        tool: tool(),
        name: None,
        tags: Default::default(),
        asked: Asked::of(certainty),
        plan,
        environment: Environment::default(),
    });
    warnings.iter().for_each(|text| builder.apply(&RunEvent::Warning { text: text.clone() }));
    builder.apply(&RunEvent::Finished { elapsed_ns: 0, outcome });
    builder.finish()
}

/// Why nothing was done, with the number that the kernel has for it; all that it has none for is an invalid argument.
pub(super) fn failure(error: &anyhow::Error) -> NotBegun {
    let number = error.chain().find_map(number).unwrap_or(Errno::INVAL);
    let reason = io::Error::from(number).to_string();
    NotBegun { error_number: number.raw_os_error(), reason }
}

fn number(cause: &(dyn std::error::Error + 'static)) -> Option<Errno> {
    if let Some(error) = cause.downcast_ref::<io::Error>() {
        return Errno::from_io_error(error);
    }
    if let Some(error) = cause.downcast_ref::<RunError>() {
        return match error {
            RunError::Target(error) => of_target(error),
            RunError::Refused(_) => Some(Errno::PERM),
            RunError::Layout(LayoutError::NoSpace { .. } | LayoutError::NoInodes { .. }) => Some(Errno::NOSPC),
            _ => None,
        };
    }
    match (cause.downcast_ref(), cause.downcast_ref()) {
        (Some(error), _) => of_target(error),
        (_, Some(PlanError::Target { target, .. })) if !Path::new(target).exists() => Some(Errno::NOENT),
        (_, Some(PlanError::NoRoom { .. })) => Some(Errno::NOSPC),
        _ => cause.is::<Refusal>().then_some(Errno::PERM),
    }
}

const fn of_target(error: &TargetError) -> Option<Errno> {
    Some(match error {
        TargetError::Missing(_) | TargetError::Removed(_) | TargetError::DanglingLink(_) => Errno::NOENT,
        TargetError::LinkCircle(_) => Errno::LOOP,
        TargetError::NotThroughDirectories(_) => Errno::NOTDIR,
        TargetError::NoPermission { .. } => Errno::ACCESS,
        TargetError::ReadOnly(_) => Errno::ROFS,
        TargetError::NoInodes(_) | TargetError::Full(_) => Errno::NOSPC,
        TargetError::NoQuota(_) => Errno::DQUOT,
        TargetError::NoMedium(_) => Errno::NOMEDIUM,
        TargetError::Busy(_) => Errno::BUSY,
        TargetError::Exists(_) => Errno::EXIST,
        // Its cause has the number.
        _ => return None,
    })
}

/// What plans call by flags, and fio by options. None begins like one that comes after it.
const FLAGS: &[(&str, &str)] = &[
    ("--block-size", "bs"),
    ("--buffered", "direct=0"),
    ("--duration", "runtime"),
    ("--engine", "ioengine"),
    ("--file-count", "nrfiles"),
    ("--io-size", "io_size"),
    ("--iopoll", "hipri"),
    ("--jobs", "numjobs"),
    ("--max-time", "runtime"),
    ("--offset-increment", "offset_increment"),
    ("--offset", "offset"),
    ("--queue-depth", "iodepth"),
    ("--read-percent", "rwmixread"),
    ("--rw", "rw"),
    ("--size", "size"),
    ("--sqpoll", "sqthread_poll"),
    ("--verify", "verify"),
];

/// An error of a plan in the words of who wrote a job, not a plan.
pub(super) fn in_options_of_fio(error: anyhow::Error) -> anyhow::Error {
    dialect::in_other_words(error, FLAGS)
}

/// That jobs ask for what no plan can say.
pub(super) fn invalid() -> NotBegun {
    failure(&anyhow::anyhow!("invalid"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_error_is_that_of_the_kernel() {
        let full = io::Error::from_raw_os_error(28);
        assert_eq!(failure(&anyhow::Error::new(full).context("fill a file")).error_number, 28);
        assert_eq!(failure(&anyhow::anyhow!("no")).error_number, 22);
        assert_eq!(failure(&TargetError::Missing("/mnt".into()).into()).error_number, 2);
        assert_eq!(failure(&RunError::Target(TargetError::ReadOnly("/mnt".into())).into()).error_number, 30);
        let no_room = || PlanError::NoRoom { target: "/mnt".into(), free_bytes: 1 << 20, needed_bytes: 1 << 30 };
        assert_eq!(failure(&no_room().into()).error_number, 28);
        assert_eq!(
            in_options_of_fio(no_room().into()).to_string(),
            "target /mnt: 1MiB is free but the files need 1024MiB: lower size"
        );
        assert_eq!(invalid().reason, "Invalid argument (os error 22)");
    }
}
