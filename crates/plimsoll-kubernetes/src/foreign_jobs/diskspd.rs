//! diskspd on Windows nodes: its own program, as plimsoll is one for Linux.

use serde_json::{Value, json};

use super::{ForeignJob, VOLUME};
use crate::manifests::texts::literal;

/// What diskspd is asked when nobody says anything else.
pub const ARGUMENTS: &[&str] = &["-c1G", "-d120", "-r", "-w50", "-t8", "-o8", "-b4K", "-Sh", "-L"];

const FOLDER: &str = r"C:\data";

/// The objects: a Job with a pod on each of so many nodes, each with its volume.
#[must_use]
pub fn objects(job: &ForeignJob, nodes: u32, arguments: &[String]) -> Vec<Value> {
    let mut command = vec!["diskspd.exe".to_owned()];
    command.extend(arguments.iter().map(|argument| literal(argument)));
    command.push(format!(r"{FOLDER}\testfile.dat"));
    // Pods of Windows may have no seccomp profile and no capabilities to drop.
    let pod = json!({
        "os": { "name": "windows" },
        "nodeSelector": { "kubernetes.io/os": "windows" },
        "containers": [{
            "name": "diskspd",
            "image": job.image,
            "command": command,
            "resources": { "requests": { "cpu": "1", "memory": "1Gi" }, "limits": { "memory": "2Gi" } },
            "volumeMounts": [{ "name": VOLUME, "mountPath": FOLDER }],
        }],
        "volumes": [],
    });
    vec![job.job(nodes, "diskspd", pod)]
}
