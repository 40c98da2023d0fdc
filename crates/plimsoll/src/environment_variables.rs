//! Every environment variable that plimsoll reads.

use std::{ffi::OsString, path::PathBuf};

use plimsoll_history::location;

/// Where state belongs, when not below the home directory (XDG base directories).
pub const XDG_STATE_HOME: &str = "XDG_STATE_HOME";
/// Where configuration belongs, when not below the home directory (XDG base directories).
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The home directory.
pub const HOME: &str = "HOME";
/// When set and not empty, nothing is coloured.
pub const NO_COLOR: &str = "NO_COLOR";
/// The width of the terminal, when standard output is none.
pub const COLUMNS: &str = "COLUMNS";
/// Name of the pod, from the downward API.
pub const POD_NAME: &str = "POD_NAME";
/// Namespace of the pod, from the downward API.
pub const POD_NAMESPACE: &str = "POD_NAMESPACE";
/// Node of the pod, from the downward API.
pub const NODE_NAME: &str = "NODE_NAME";

/// Files that describe clusters, as kubectl takes them.
pub const KUBECONFIG: &str = "KUBECONFIG";
/// The plan, in a pod that `plimsoll kubernetes run` made.
pub const PLIMSOLL_PLAN: &str = plimsoll_kubernetes::manifests::PLAN_VARIABLE;

/// The user's own limits, in a pod that `plimsoll kubernetes run` made.
pub const PLIMSOLL_LIMITS: &str = plimsoll_kubernetes::manifests::LIMITS_VARIABLE;

/// The number of the pod, where `plimsoll kubernetes run` made several.
pub const PLIMSOLL_POD: &str = plimsoll_kubernetes::manifests::POD_VARIABLE;

/// When several pods begin, where nothing tells them.
pub const PLIMSOLL_START: &str = plimsoll_kubernetes::manifests::START_VARIABLE;

/// The value of a variable, when it is set and not empty.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn get(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The user's file of limits and prices, which need not be there; `None` when there is no place for it.
pub fn limits_file() -> Option<PathBuf> {
    let path = |name| get(name).map(PathBuf::from);
    let configuration = path(XDG_CONFIG_HOME).filter(|path| path.is_absolute());
    let configuration = configuration.or_else(|| Some(path(HOME)?.join(".config")))?;
    Some(configuration.join("plimsoll/limits.toml"))
}

/// The files that describe clusters, none when there is none in the usual place either.
pub fn kubeconfig_files() -> Vec<PathBuf> {
    match get(KUBECONFIG) {
        Some(files) => std::env::split_paths(&files).filter(|file| !file.as_os_str().is_empty()).collect(),
        None => get(HOME)
            .map(|home| PathBuf::from(home).join(".kube/config"))
            .into_iter()
            .filter(|file| file.exists())
            .collect(),
    }
}

/// Directory of plimsoll's state, when there is a place for it.
pub fn state_directory() -> Option<PathBuf> {
    let path = |name| get(name).map(PathBuf::from);
    location::state_directory(path(XDG_STATE_HOME).as_deref(), path(HOME).as_deref())
}
