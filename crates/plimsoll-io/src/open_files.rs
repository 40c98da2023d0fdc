//! How many files this process may have open at once.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Allows as many as the process may allow itself, and tells how many that is; `None` without a limit. Where that is
/// refused, the limit stays what it was.
pub fn allow_most() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    limit()
}

/// How many it may have open now; `None` without a limit.
pub fn limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}
