//! Every environment variable that plimsoll reads.

use std::{ffi::OsString, path::PathBuf};

use plimsoll_history::location;
use plimsoll_image::registry::proxies::Proxies;
use plimsoll_run::run::Surroundings;

/// Where state belongs, when not below the home directory (XDG base directories).
pub const XDG_STATE_HOME: &str = "XDG_STATE_HOME";
/// Where data belongs, when not below the home directory (XDG base directories).
pub const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
/// Where configuration belongs, when not below the home directory (XDG base directories).
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The home directory.
pub const HOME: &str = "HOME";
/// When set and not empty, nothing is coloured.
pub const NO_COLOR: &str = "NO_COLOR";
/// What kind of terminal it is.
pub const TERM: &str = "TERM";
/// What the locale says of characters: the first that is set counts.
const LOCALE: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];
/// The width of the terminal, when standard output is none.
pub const COLUMNS: &str = "COLUMNS";
/// Where what is needed for a while belongs.
pub const TMPDIR: &str = "TMPDIR";
/// What commands that are timed have of this process's environment when they have another user, as with `sudo -u`;
/// beside it what begins with `LC_`. Where root has its temporary files another user may have no rights.
const OF_OTHER_USERS: [&str; 4] = ["PATH", "LANG", "TZ", "TERM"];
/// Name of the pod, from the downward API.
pub const POD_NAME: &str = "POD_NAME";
/// Namespace of the pod, from the downward API.
pub const POD_NAMESPACE: &str = "POD_NAMESPACE";
/// Node of the pod, from the downward API.
pub const NODE_NAME: &str = "NODE_NAME";

/// Files that describe clusters, as kubectl takes them.
pub const KUBECONFIG: &str = "KUBECONFIG";
/// The one file with credentials for registries.
pub const REGISTRY_AUTH_FILE: &str = "REGISTRY_AUTH_FILE";
/// Where Docker's configuration is, when not below the home directory.
pub const DOCKER_CONFIG: &str = "DOCKER_CONFIG";
/// Where what lasts as long as a session belongs (XDG base directories).
pub const XDG_RUNTIME_DIR: &str = "XDG_RUNTIME_DIR";
/// The proxy for what speaks HTTPS: the first that is set counts.
const HTTPS_PROXY: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
/// The proxy for what speaks plain HTTP.
const HTTP_PROXY: [&str; 2] = ["HTTP_PROXY", "http_proxy"];
/// Who is asked without a proxy.
const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];
/// The plan, in a pod that `plimsoll kubernetes run` made.
pub const PLIMSOLL_PLAN: &str = plimsoll_kubernetes::manifests::PLAN_VARIABLE;

/// The user's own limits, in a pod that `plimsoll kubernetes run` made.
pub const PLIMSOLL_LIMITS: &str = plimsoll_kubernetes::manifests::LIMITS_VARIABLE;

/// The number of the pod, where `plimsoll kubernetes run` made several.
pub const PLIMSOLL_POD: &str = plimsoll_kubernetes::manifests::POD_VARIABLE;

/// How many pods there are, where `plimsoll kubernetes run` made several.
pub const PLIMSOLL_PODS: &str = plimsoll_kubernetes::manifests::PODS_VARIABLE;

/// Whether several pods use the same files.
pub const PLIMSOLL_SHARED_FILE: &str = plimsoll_kubernetes::manifests::SHARED_FILE_VARIABLE;

/// When several pods begin, where nothing tells them.
pub const PLIMSOLL_START: &str = plimsoll_kubernetes::manifests::START_VARIABLE;

/// Whether several pods take turns.
pub const PLIMSOLL_TAKE_TURNS: &str = plimsoll_kubernetes::manifests::TURNS_VARIABLE;

/// The value of a variable, when it is set and not empty.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn get(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Whether the terminal can do more than print one line after the other, as those in editors and on serial lines.
pub fn terminal_has_more_than_lines() -> bool {
    get(TERM).is_some_and(|kind| kind != "dumb")
}

/// Whether the locale is one of other characters than UTF-8. Where there is none, as in containers, terminals have it.
pub fn is_other_charset() -> bool {
    let locale = LOCALE.into_iter().find_map(get).map(|locale| locale.to_string_lossy().to_ascii_lowercase());
    locale.is_some_and(|locale| !locale.contains("utf-8") && !locale.contains("utf8"))
}

/// What commands that are timed find on this machine.
pub fn surroundings() -> Surroundings {
    let is_kept = |(name, _): &(OsString, OsString)| {
        name.to_str().is_some_and(|name| OF_OTHER_USERS.contains(&name) || name.starts_with("LC_"))
    };
    Surroundings {
        temporary_directory: get(TMPDIR).map_or_else(|| "/tmp".into(), PathBuf::from),
        environment: std::env::vars_os().filter(is_kept).collect(),
    }
}

/// The user's file of limits and prices, which need not be there; `None` when there is no place for it.
pub fn limits_file() -> Option<PathBuf> {
    let path = |name| get(name).map(PathBuf::from);
    let configuration = path(XDG_CONFIG_HOME).filter(|path| path.is_absolute());
    let configuration = configuration.or_else(|| Some(path(HOME)?.join(".config")))?;
    Some(configuration.join("plimsoll/limits.toml"))
}

/// Where programs are that presets had fetched; `None` when there is no place for them.
pub fn programs_directory() -> Option<PathBuf> {
    let path = |name| get(name).map(PathBuf::from);
    let data = path(XDG_DATA_HOME).filter(|path| path.is_absolute());
    let data = data.or_else(|| Some(path(HOME)?.join(".local/share")))?;
    Some(data.join("plimsoll/programs"))
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

/// Where credentials for registries may be, as podman and skopeo look for them: first where they keep them themselves,
/// then where Docker does.
pub fn registry_credentials() -> Vec<PathBuf> {
    let path = |name| get(name).map(PathBuf::from);
    if let Some(file) = path(REGISTRY_AUTH_FILE) {
        return vec![file];
    }
    let session = path(XDG_RUNTIME_DIR).map(|folder| folder.join("containers"));
    let user = format!("/run/containers/{}", rustix::process::getuid());
    let configuration = path(XDG_CONFIG_HOME).or_else(|| Some(path(HOME)?.join(".config")));
    let docker = path(DOCKER_CONFIG).or_else(|| Some(path(HOME)?.join(".docker")));
    [
        Some(session.unwrap_or_else(|| user.into()).join("auth.json")),
        configuration.map(|folder| folder.join("containers/auth.json")),
        docker.map(|folder| folder.join("config.json")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Proxies on the way to registries.
pub fn proxies() -> Proxies {
    let first = |names: [&str; 2]| names.into_iter().find_map(get).map(|value| value.to_string_lossy().into_owned());
    Proxies { https: first(HTTPS_PROXY), http: first(HTTP_PROXY), none: first(NO_PROXY).unwrap_or_default() }
}

/// Directory of plimsoll's state, when there is a place for it.
pub fn state_directory() -> Option<PathBuf> {
    let path = |name| get(name).map(PathBuf::from);
    location::state_directory(path(XDG_STATE_HOME).as_deref(), path(HOME).as_deref())
}
