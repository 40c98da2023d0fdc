//! Removing the cluster, whoever made it and however far it came. Only what is named by `place` is touched: processes
//! that were recorded or are in our control groups or our network, and what has a path in our folder.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::{fs::FileTypeExt as _, net::UnixStream},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use plimsoll_e2e::{
    component::{Component, Process},
    place::{self, NODES, PREFIX, STATE},
};

use super::{cluster, node};
use crate::child;

/// Folders that Kubernetes and containerd make wherever they run. Those that were not there before go.
const FOREIGN_FOLDERS: &[&str] = &[
    "/run/containerd",
    "/run/netns",
    "/usr/libexec/kubernetes",
    "/var/lib/cni",
    "/var/lib/kubelet",
    "/var/log/containers",
    "/var/log/pods",
];

/// How long the end of all containers may take. Those that wait for a throttled disk do not end at once.
const END_TIMEOUT: Duration = Duration::from_secs(30);

/// Writes down which folders are not ours.
pub(super) fn remember_what_is_there() -> anyhow::Result<()> {
    let absent: Vec<_> = FOREIGN_FOLDERS.iter().filter(|folder| !Path::new(folder).exists()).collect();
    write(&absent_folders(), &serde_json::to_string(&absent)?)
}

fn absent_folders() -> PathBuf {
    place::state().join("absent.json")
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("write {}", path.display()))
}

/// Who has the cluster, until this is dropped.
pub(super) struct Owner(());

/// Keeps other runs from removing or changing the cluster while this one has it.
pub(super) fn own() -> anyhow::Result<Owner> {
    write(&cluster::owner(), &serde_json::to_string(&cluster::own_process()?)?)?;
    Ok(Owner(()))
}

impl Drop for Owner {
    fn drop(&mut self) {
        // When it has been removed, it may be somebody else's by now.
        if refuse_if_owned().is_ok() {
            let _ = fs::remove_file(cluster::owner());
        }
    }
}

/// An error while another run has the cluster.
pub(super) fn refuse_if_owned() -> anyhow::Result<()> {
    let Ok(text) = fs::read_to_string(cluster::owner()) else { return Ok(()) };
    let owner: Process = serde_json::from_str(&text).context("parse whose cluster it is")?;
    if owner.is_running() && owner != cluster::own_process()? {
        bail!("process {} has the cluster: wait for its end, or end it", owner.id());
    }
    Ok(())
}

/// Removes everything, going on whatever fails, and says what is left.
pub(super) fn remove() -> anyhow::Result<()> {
    let mut failures = Vec::new();
    let mut attempt = |outcome: anyhow::Result<()>| failures.extend(outcome.err().map(|error| format!("{error:#}")));
    attempt(end_components(|name| !name.starts_with("containerd")));
    attempt(end_all("containers", contained));
    attempt(end_shims());
    attempt(end_components(|name| name.starts_with("containerd")));
    attempt(end_all("the network", in_network));
    remove_shim_sockets();
    // The kubelet has a device of its own on top of that of a volume that is one; mounts hide what is below them.
    attempt(detach_loop_devices(|file| !file.starts_with(place::volumes())));
    attempt(unmount());
    attempt(detach_loop_devices(|_| true));
    attempt(remove_control_groups());
    // Whoever is still in it would be found no more.
    if place::network_namespace().exists() && in_network().is_ok_and(|processes| processes.is_empty()) {
        attempt(child::output(child::command("ip").args(["netns", "delete", place::NETWORK_NAMESPACE])).map(drop));
    }
    attempt(remove_foreign_entries());
    attempt(remove_foreign_folders());
    if mounts().is_ok_and(|mounts| mounts.is_empty()) {
        match fs::remove_dir_all(STATE) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                attempt(Err(error).with_context(|| format!("remove {STATE}")));
            }
            _ => {}
        }
    }
    let left = left()?;
    if !left.is_empty() {
        failures.push(format!("left: {}", left.join(", ")));
    }
    if !failures.is_empty() {
        bail!("the cluster is not removed: {}; \"cargo xtask e2e down\" tries again", failures.join("; "));
    }
    Ok(())
}

/// All state goes, so nobody needs an orderly end.
fn end_components(which: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let names = Component::names().unwrap_or_default();
    let components: Vec<_> =
        names.iter().filter(|name| which(name)).filter_map(|name| Component::load(name).ok()).collect();
    for component in &components {
        component.process().signal(rustix::process::Signal::KILL)?;
    }
    components.iter().try_for_each(Component::kill)
}

/// Ends whatever is found, until nothing is.
fn end_all(place: &str, find: impl Fn() -> anyhow::Result<Vec<Process>>) -> anyhow::Result<()> {
    let deadline = Instant::now() + END_TIMEOUT;
    loop {
        let processes = find()?;
        if processes.is_empty() {
            return Ok(());
        }
        for process in &processes {
            process.signal(rustix::process::Signal::KILL)?;
        }
        if Instant::now() > deadline {
            bail!("{} processes of {place} do not end", processes.len());
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// What is in our control groups.
fn contained() -> anyhow::Result<Vec<Process>> {
    let mut ids = BTreeSet::new();
    for group in control_groups()? {
        let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        ids.extend(text.lines().filter_map(|line| line.parse::<i32>().ok()));
    }
    Ok(running(ids))
}

/// Processes in our network, recorded or not. Pods have networks of their own.
fn in_network() -> anyhow::Result<Vec<Process>> {
    if !place::network_namespace().exists() {
        return Ok(Vec::new());
    }
    let ids = child::output(child::command("ip").args(["netns", "pids", place::NETWORK_NAMESPACE]))?;
    let others = ids.lines().filter_map(|line| line.parse().ok()).filter(|id| *id != std::process::id().cast_signed());
    Ok(running(others))
}

fn running(ids: impl IntoIterator<Item = i32>) -> Vec<Process> {
    ids.into_iter().filter_map(|id| Process::of(id).ok()).filter(|process| process.is_running()).collect()
}

/// Our control groups of all hierarchies, inner ones first.
fn control_groups() -> anyhow::Result<Vec<PathBuf>> {
    let mut groups = Vec::new();
    for hierarchy in node::hierarchies()? {
        for node in &NODES {
            let group = hierarchy.join(node.control_group());
            if group.exists() {
                add_folders(&group, &mut groups);
            }
        }
    }
    Ok(groups)
}

fn add_folders(folder: &Path, groups: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_folders(&entry.path(), groups);
        }
    }
    groups.push(folder.to_owned());
}

fn remove_control_groups() -> anyhow::Result<()> {
    for group in control_groups()? {
        match fs::remove_dir(&group) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("remove {}", group.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Each container has a process that outlives the runtime. Ours have our socket among their arguments.
fn shims() -> Vec<Process> {
    let ids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_ours = |id: &i32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        is_shim(&line)
    };
    running(ids.filter(is_ours))
}

/// Whether these arguments, each with a zero byte behind it, are those of a container's process of ours.
fn is_shim(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let mut words = line.split('\0');
    let program = words.next().unwrap_or_default();
    program.rsplit('/').next().is_some_and(|name| name.starts_with("containerd-shim"))
        && words.any(|word| Path::new(word).starts_with(STATE))
}

fn end_shims() -> anyhow::Result<()> {
    for shim in shims() {
        shim.signal(rustix::process::Signal::KILL)?;
        shim.wait()?;
    }
    Ok(())
}

/// They are in a folder of all runtimes, with names that say nothing; the state of each container has its own.
fn remove_shim_sockets() {
    for node in &NODES {
        let tasks = node.folder().join("containerd-state/io.containerd.runtime.v2.task/k8s.io");
        for entry in fs::read_dir(tasks).into_iter().flatten().flatten() {
            let address = fs::read_to_string(entry.path().join("address")).unwrap_or_default();
            if let Some(socket) = address.trim().strip_prefix("unix://") {
                // The last container of a pod leaves none behind.
                let _ = fs::remove_file(socket);
            }
        }
    }
}

/// Loop devices over files of ours: the device, and its file.
fn loop_devices() -> Vec<(PathBuf, PathBuf)> {
    let mut devices = Vec::new();
    for entry in fs::read_dir("/sys/class/block").into_iter().flatten().flatten() {
        let Ok(file) = fs::read_to_string(entry.path().join("loop/backing_file")) else { continue };
        if Path::new(file.trim()).starts_with(STATE) {
            devices.push((Path::new("/dev").join(entry.file_name()), PathBuf::from(file.trim())));
        }
    }
    devices
}

fn detach_loop_devices(which: impl Fn(&Path) -> bool) -> anyhow::Result<()> {
    for (device, _) in loop_devices().into_iter().filter(|(_, file)| which(file)) {
        child::output(child::command("losetup").arg("--detach").arg(device))?;
    }
    Ok(())
}

/// Places of ours where something is mounted, in the order of mounting.
fn mounts() -> anyhow::Result<Vec<PathBuf>> {
    let table = fs::read_to_string("/proc/self/mountinfo").context("read the table of mounts")?;
    let places = table.lines().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from);
    Ok(places.filter(|place| place.starts_with(STATE)).collect())
}

fn unmount() -> anyhow::Result<()> {
    for place in mounts()?.into_iter().rev() {
        child::output(child::command("umount").arg("--lazy").arg(place))?;
    }
    Ok(())
}

/// What of ours is in folders that others may use too.
fn foreign_entries() -> Vec<PathBuf> {
    let entries = |folder: &str| fs::read_dir(folder).into_iter().flatten().flatten();
    let logs = entries("/var/log/containers").map(|entry| entry.path());
    let logs = logs.filter(|path| fs::read_link(path).is_ok_and(|target| target.starts_with(STATE)));
    let results = entries("/var/lib/cni/results").map(|entry| entry.path());
    let results = results
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&format!("{PREFIX}-"))));
    logs.chain(results).collect()
}

fn remove_foreign_entries() -> anyhow::Result<()> {
    for path in foreign_entries() {
        fs::remove_file(&path).with_context(|| format!("remove {}", path.display()))?;
    }
    Ok(())
}

/// Folders that were not there before the cluster was. Only empty ones, and sockets of processes that have ended.
fn remove_foreign_folders() -> anyhow::Result<()> {
    let Ok(text) = fs::read_to_string(absent_folders()) else { return Ok(()) };
    let absent: Vec<String> = serde_json::from_str(&text).context("parse which folders were not there")?;
    for folder in absent.iter().filter(|folder| FOREIGN_FOLDERS.contains(&folder.as_str())) {
        remove_foreign_folder(Path::new(folder));
        if Path::new(folder).exists() {
            println!("e2e: {folder} stays: there is something in it that is not of the cluster");
        }
    }
    Ok(())
}

fn remove_foreign_folder(folder: &Path) {
    let mut folders = Vec::new();
    add_folders(folder, &mut folders);
    for folder in folders {
        let entries = || fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket())) {
            // Who listens would answer.
            if UnixStream::connect(entry.path()).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
                let _ = fs::remove_file(entry.path());
            }
        }
        // Whatever else somebody has put there meanwhile keeps it.
        if fs::remove_dir(&folder).is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
            && entries().next().is_none()
        {
            // The folder of network namespaces is mounted onto itself by who makes the first of them.
            let _ = child::output(child::command("umount").arg(&folder));
            let _ = fs::remove_dir(&folder);
        }
    }
}

/// Everything of ours that is still on the machine.
fn left() -> anyhow::Result<Vec<String>> {
    let processes = contained()?.into_iter().chain(shims()).chain(in_network()?);
    let mut left: Vec<String> = processes.map(|process| format!("process {}", process.id())).collect();
    left.extend(loop_devices().into_iter().map(|(device, _)| device.display().to_string()));
    left.extend(mounts()?.into_iter().map(|place| format!("a mount on {}", place.display())));
    let places = control_groups()?.into_iter().chain(foreign_entries());
    left.extend(places.map(|path| path.display().to_string()));
    for path in [place::state(), &place::network_namespace()] {
        if path.exists() {
            left.push(path.display().to_string());
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_folder_goes_with_the_sockets_of_who_has_ended_and_stays_for_who_listens() {
        let directory = tempfile::tempdir().unwrap();
        let (ended, used) = (directory.path().join("a/ended"), directory.path().join("a/used"));
        fs::create_dir_all(&ended).unwrap();
        fs::create_dir(&used).unwrap();
        drop(UnixListener::bind(ended.join("socket")).unwrap());
        let listener = UnixListener::bind(used.join("socket")).unwrap();
        remove_foreign_folder(&directory.path().join("a"));
        assert!(!ended.exists() && used.join("socket").exists());
        drop(listener);
        remove_foreign_folder(&directory.path().join("a"));
        assert!(!directory.path().join("a").exists());
    }

    #[test]
    fn what_is_found_is_ended_until_nothing_is() {
        let mut child = child::command("sleep").arg("60").spawn().unwrap();
        let id = child.id().cast_signed();
        end_all("a test", || Ok(running([id]))).unwrap();
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn only_processes_of_containers_with_our_socket_are_ours() {
        let line = |program: &str, socket: &str| format!("{program}\0-address\0{socket}\0").into_bytes();
        assert!(is_shim(&line("/usr/bin/containerd-shim-runc-v2", "/var/lib/plimsoll-e2e/node1/c.sock")));
        assert!(!is_shim(&line("/usr/bin/containerd-shim-runc-v2", "/run/containerd/containerd.sock")));
        assert!(!is_shim(&line("/usr/bin/containerd-shim-runc-v2", "/var/lib/plimsoll-e2e-other/c.sock")));
        assert!(!is_shim(&line("/usr/bin/editor", "/var/lib/plimsoll-e2e/node1/c.sock")));
    }
}
