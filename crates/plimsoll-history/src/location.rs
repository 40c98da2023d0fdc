//! Where the history is, and what else lies beside it.

use std::path::{Path, PathBuf};

/// The history's file in the state directory.
pub const HISTORY_FILE: &str = "history.db";

/// Journals of running runs, in the state directory.
pub const RUNS_DIRECTORY: &str = "runs";

/// Lists of test objects of running runs, in the state directory.
pub const OBJECTS_DIRECTORY: &str = "objects";

/// Where runs are remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryLocation {
    /// In this SQLite file.
    File(PathBuf),
    /// Nowhere.
    None,
}

impl HistoryLocation {
    /// The history of a state directory.
    pub fn in_state_directory(directory: &Path) -> Self {
        Self::File(directory.join(HISTORY_FILE))
    }
}

/// The state directory by the XDG rules: `plimsoll` below `$XDG_STATE_HOME`, else below `~/.local/state`. The values of
/// the environment are handed in; relative ones are no use, as the rules say.
pub fn state_directory(xdg_state_home: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    let absolute = |path: &&Path| path.is_absolute();
    let base = xdg_state_home
        .filter(absolute)
        .map(Path::to_owned)
        .or_else(|| home.filter(absolute).map(|home| home.join(".local/state")))?;
    Some(base.join("plimsoll"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_directory_follows_xdg() {
        let at = |xdg: Option<&str>, home: Option<&str>| state_directory(xdg.map(Path::new), home.map(Path::new));
        assert_eq!(at(Some("/state"), Some("/home/a")), Some("/state/plimsoll".into()));
        assert_eq!(at(None, Some("/home/a")), Some("/home/a/.local/state/plimsoll".into()));
        assert_eq!(at(Some("relative"), Some("/home/a")), Some("/home/a/.local/state/plimsoll".into()));
        assert_eq!(at(Some(""), None), None);
    }

    #[test]
    fn the_history_is_a_file_of_the_state_directory() {
        let location = HistoryLocation::in_state_directory(Path::new("/state/plimsoll"));
        assert_eq!(location, HistoryLocation::File("/state/plimsoll/history.db".into()));
    }
}
