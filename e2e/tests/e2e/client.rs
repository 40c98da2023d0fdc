//! plimsoll as a client of the cluster: commands in a namespace, with a history of their own.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};

use plimsoll_e2e::place;
use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::{
    kubectl::{list, plimsoll, text},
    namespace::{Namespace, SOON_S},
    waiting::until,
};

/// Random reads at a depth that keeps every capped volume busy.
pub(crate) const READS: &[&str] = &["--rw", "randread", "--queue-depth", "16", "--region", "64MiB", "--size", "128Mi"];

/// A client in a namespace, with a history of its own.
pub(crate) struct Client<'a> {
    space: &'a Namespace,
    pub(crate) history: tempfile::TempDir,
}

impl<'a> Client<'a> {
    pub(crate) fn new(space: &'a Namespace) -> Self {
        Self { space, history: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = plimsoll(&["kubernetes"]);
        command.args(arguments).args(["--namespace", &self.space.name]);
        command.arg("--history").arg(self.history.path().join("history.db")).env("XDG_STATE_HOME", self.history.path());
        command
    }

    /// A run with the image that is on the nodes.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(&[&["run", "--image", place::IMAGE], arguments].concat()).output().unwrap()
    }

    /// Lives of volumes, with the image that is on the nodes.
    pub(crate) fn lifecycle(&self, arguments: &[&str]) -> Output {
        self.command(&[&["lifecycle", "--image", place::IMAGE, "--json"], arguments].concat()).output().unwrap()
    }

    /// The record of a run that has to go well.
    pub(crate) fn record(&self, arguments: &[&str]) -> Value {
        record(&self.run(&[arguments, &["--json"]].concat()))
    }

    /// Starts a run of one pod that goes on for minutes, and returns when it has measured for some seconds.
    pub(crate) fn measuring(&self, arguments: &[&str]) -> Going {
        let arguments = [&["run", "--image", place::IMAGE, "--duration", "5m", "--json"], arguments].concat();
        self.going(self.command(&[&arguments[..], READS].concat()))
    }

    /// The same by a command of one's own.
    pub(crate) fn going(&self, command: Command) -> Going {
        let going = self.starting(command);
        thread::sleep(Duration::from_secs(6));
        going
    }

    /// The same, and returns when its pod has started.
    pub(crate) fn starting(&self, mut command: Command) -> Going {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut going = Going { child: Some(child), pod: Value::Null };
        going.pod = until("a pod measures", SOON_S, || {
            let pods = list(&["--namespace", &self.space.name, "pods"])?;
            match pods.first() {
                Some(pod) if text(pod, "/status/phase") == "Running" => Ok(pod.clone()),
                _ => Err(format!("{pods:?}")),
            }
        });
        going
    }

    /// That nothing of any run is in the namespace, in the cluster or on the disk.
    pub(crate) fn assert_nothing_left(&self, volumes: &[&str]) {
        for kind in ["jobs", "pods", "pvc", "configmaps", "volumesnapshots"] {
            let left = list(&["--namespace", &self.space.name, kind]).unwrap();
            let left: Vec<_> = left.iter().map(|object| text(object, "/metadata/name")).collect();
            // Every namespace has that one.
            assert!(left.iter().all(|name| *name == "kube-root-ca.crt"), "{kind}: {left:?}");
        }
        // Tests have Roles of their own, under other names.
        for kind in ["roles", "rolebindings"] {
            let left = list(&["--namespace", &self.space.name, kind]).unwrap();
            let left: Vec<_> = left.iter().map(|object| text(object, "/metadata/name")).collect();
            assert!(!left.iter().any(|name| name.starts_with("plimsoll-")), "{kind}: {left:?}");
        }
        let of_ours = |volume: &Value| text(volume, "/spec/claimRef/namespace") == self.space.name;
        assert!(!list(&["pv"]).unwrap().iter().any(of_ours));
        for volume in volumes {
            let attached = list(&["volumeattachments"]).unwrap();
            assert!(attached.iter().all(|one| text(one, "/spec/source/persistentVolumeName") != *volume));
            assert!(!place::volumes().join(format!("{volume}.img")).exists(), "{volume}");
        }
    }
}

/// That every file in the folder of volumes belongs to a volume that the cluster has. Whoever makes or removes a volume
/// at this moment has a while for it.
pub(crate) fn assert_no_stray_files() {
    let stray = || -> BTreeSet<String> {
        let volumes = list(&["pv"]).unwrap();
        let known: BTreeSet<&str> = volumes.iter().map(|volume| text(volume, "/metadata/name")).collect();
        let files = fs::read_dir(place::volumes()).unwrap().map(|entry| entry.unwrap().file_name());
        let volume_of = |file: OsString| file.to_str()?.strip_suffix(".img").map(str::to_owned);
        files.filter_map(volume_of).filter(|volume| !known.contains(volume.as_str())).collect()
    };
    let before = stray();
    if !before.is_empty() {
        thread::sleep(Duration::from_secs(20));
        let left: Vec<_> = stray().into_iter().filter(|volume| before.contains(volume)).collect();
        assert!(left.is_empty(), "files of volumes that are gone: {left:?}");
    }
}

/// A run that measures, which ends with this value.
pub(crate) struct Going {
    /// Until it is waited for.
    child: Option<Child>,
    pod: Value,
}

impl Going {
    /// The name of its pod.
    pub(crate) fn pod(&self) -> &str {
        text(&self.pod, "/metadata/name")
    }

    /// Where its pod is.
    pub(crate) fn node(&self) -> &str {
        text(&self.pod, "/spec/nodeName")
    }

    /// Asks the client to end.
    pub(crate) fn interrupt(&self) {
        let pid = Pid::from_child(self.child.as_ref().unwrap());
        rustix::process::kill_process(pid, Signal::INT).unwrap();
    }

    /// What it gives when it has ended.
    pub(crate) fn output(mut self) -> Output {
        self.child.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The record of a command that has to go well.
pub(crate) fn record(output: &Output) -> Value {
    assert!(output.status.success(), "{}", told(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a command said, for people.
pub(crate) fn told(output: &Output) -> String {
    format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))
}

/// The volumes that a record is about.
pub(crate) fn volumes(record: &Value) -> Vec<&str> {
    record["volumes"].as_array().unwrap().iter().map(|volume| text(volume, "/volume")).collect()
}
