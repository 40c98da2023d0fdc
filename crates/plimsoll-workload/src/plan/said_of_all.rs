//! What is said of several workloads at once, for each of them. Blocks, sets of files and applications have parameters
//! of their own: what means nothing to one workload is meant for the others.

use super::{applications, files};
use crate::workload::Workload;

/// What each of these workloads gets of what is said of all. What means nothing to any of them stays, to be refused.
pub fn shares(said: &Workload, workloads: &[Workload]) -> Vec<Workload> {
    let kinds: Vec<Kind> = workloads.iter().map(|workload| Kind::of(&said.clone().or(workload))).collect();
    let share =
        |kind: &Kind| said.clone().retaining(|flag| kind.has(flag) || !kinds.iter().any(|other| other.has(flag)));
    kinds.iter().map(share).collect()
}

/// Parts from the flags of a run what says which command to time: it is a workload beside those of presets. How often
/// and how it is timed is said of all applications.
pub fn application_beside(flags: &Workload) -> Option<(Workload, Workload)> {
    flags.command.as_ref()?;
    let is_of_it = |flag: &str| applications::is_of_one_command(flag);
    Some((flags.clone().retaining(is_of_it), flags.clone().retaining(|flag| !is_of_it(flag))))
}

enum Kind {
    Blocks,
    Files,
    Application,
}

impl Kind {
    const fn of(workload: &Workload) -> Self {
        if workload.command.is_some() {
            Self::Application
        } else if workload.phases.is_some() || workload.mix.is_some() {
            Self::Files
        } else {
            Self::Blocks
        }
    }

    /// Whether a parameter, by its flag, means something to it.
    fn has(&self, flag: &str) -> bool {
        match self {
            Self::Blocks => applications::why_not_of_blocks(flag).is_none(),
            Self::Files => files::has(flag),
            Self::Application => applications::has(flag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(line: &str) -> Workload {
        toml::from_str(line).unwrap()
    }

    #[test]
    fn each_kind_gets_what_means_something_to_it() {
        let workloads = [flags("rw = 'randread'"), flags("command = 'pgbench'"), flags("phases = 'write'")];
        let said = flags("iterations = 6\nqueue_depth = 4\njobs = 2\nwarmup = 1\nfile_count = 50\nfile_sync = 'file'");
        let [blocks, application, files] = <[Workload; 3]>::try_from(shares(&said, &workloads)).unwrap();
        assert_eq!(blocks, flags("queue_depth = 4\njobs = 2\nfile_count = 50"));
        assert_eq!(application, flags("iterations = 6\njobs = 2\nwarmup = 1"));
        assert_eq!(files, flags("iterations = 6\njobs = 2\nfile_count = 50\nfile_sync = 'file'"));
    }

    #[test]
    fn a_command_beside_presets_shares_with_them_how_it_is_timed_and_nothing_of_what_it_does() {
        let said = flags("command = './x'\nprepare = './y'\nsettle = '0'\ntimeout = '60s'\nparallel = true\njobs = 3");
        let (command, others) = application_beside(&said).unwrap();
        assert_eq!(command, flags("command = './x'\nprepare = './y'"));
        let shared = flags("settle = '0'\ntimeout = '60s'\nparallel = true\njobs = 3");
        let preset = flags("command = 'pgbench'\nprepare = 'createdb'");
        assert_eq!(shares(&others, &[preset, command]), vec![shared.clone(), shared]);
        assert_eq!(application_beside(&flags("settle = '0'")), None);
    }

    #[test]
    fn what_means_nothing_to_any_is_left_to_be_refused() {
        let said = flags("warmup = 1\nqueue_depth = 4");
        assert_eq!(shares(&said, &[flags("rw = 'read'")]), vec![said]);
        // A command that is said of a single workload makes it an application.
        let command = flags("command = 'x'\nwarmup = 1\nrw = 'read'");
        assert_eq!(shares(&command, &[Workload::default()]), vec![command]);
    }
}
