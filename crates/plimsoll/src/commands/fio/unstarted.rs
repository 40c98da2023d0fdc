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

use crate::commands::run::tool;

/// A record in which nothing was done.
pub(super) fn record(outcome: Outcome, warnings: &[String]) -> Record {
    let plan = Plan {
        seed: 0,
        effort: Effort::Standard,
        precision: None,
        max_time_ns: None,
        bookend_ns: None,
        limit: None,
        cells: Vec::new(),
    };
    let certainty = Certainty::of(Effort::Standard);
    let mut builder = RecordBuilder::new(RunStarted {
        id: Uuid::now_v7(),
        started: Timestamp::now(),
        tool: tool(),
        name: None,
        tags: Default::default(),
        asked: Asked { targets: Vec::new(), workloads: Vec::new(), background: None, certainty },
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
        // It has not the room for them.
        (_, Some(PlanError::Target { .. })) => Some(Errno::NOSPC),
        _ => cause.is::<Refusal>().then_some(Errno::PERM),
    }
}

const fn of_target(error: &TargetError) -> Option<Errno> {
    Some(match error {
        TargetError::Missing(_) | TargetError::DanglingLink(_) => Errno::NOENT,
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
        assert_eq!(invalid().reason, "Invalid argument (os error 22)");
    }
}
