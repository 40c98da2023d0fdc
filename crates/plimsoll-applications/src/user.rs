//! The user whose rights commands have.

use std::{
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
};

use plimsoll_workload::application::ApplicationPlan;
use rustix::process::{Gid, Uid, geteuid};

use crate::application::StageError;

/// Another user than the one of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// Its number.
    pub id: Uid,
    /// The number of its group.
    pub group: Gid,
}

impl User {
    /// The one that a plan names; `None` where commands keep the rights of this process.
    ///
    /// # Errors
    /// When there is no such user.
    pub fn of(plan: &ApplicationPlan) -> Result<Option<Self>, StageError> {
        plan.user.as_deref().filter(|_| geteuid().is_root()).map(Self::named).transpose()
    }

    fn named(name: &str) -> Result<Self, StageError> {
        let ask = |flag: &str| {
            let told = Command::new("id")
                .args([flag, "--", name])
                .output()
                .map_err(StageError::system("ask id for a user"))?;
            let number = String::from_utf8_lossy(&told.stdout).trim().parse::<u32>().ok();
            number.ok_or_else(|| StageError::NoUser(name.to_owned()))
        };
        Ok(Self { id: Uid::from_raw(ask("-u")?), group: Gid::from_raw(ask("-g")?) })
    }

    /// Whether this user may use a directory, which takes the right to pass through all that it lies in.
    pub(crate) fn may_enter(self, directory: &Path) -> io::Result<bool> {
        let mut shell = Command::new("sh");
        self.lend(shell.args(["-c", ":"]).current_dir(directory).stdin(Stdio::null()));
        match shell.status() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Gives a command the rights of this user.
    pub(crate) fn lend(self, command: &mut Command) {
        command.uid(self.id.as_raw()).gid(self.group.as_raw());
    }
}
