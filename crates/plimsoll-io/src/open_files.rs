//! How many files this process may have open at once.

use std::{io, process::Command, sync::OnceLock};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many the process might have open before it allowed itself more; not set as long as it has not.
static BEFORE: OnceLock<Option<u64>> = OnceLock::new();

/// Allows as many as the process may allow itself, and tells how many that is; `None` without a limit. Where that is
/// refused, the limit stays what it was.
pub fn allow_most() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum && setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok() {
        let _ = BEFORE.set(current);
    }
    limit()
}

/// Has a command begin with as many as this process began with: other programs may keep open files in bit sets, close
/// all that there might be, or make room for as many.
pub fn begins_as_we_did(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    let Some(&current) = BEFORE.get() else { return };
    let begin_as_we_did = move || {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current, maximum }).map_err(io::Error::from)
    };
    // SAFETY: what runs between fork and exec are these two system calls alone; they allocate nothing and take no lock.
    unsafe {
        command.pre_exec(begin_as_we_did);
    }
}

/// How many it may have open now; `None` without a limit.
pub fn limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}
