//! `cargo xtask bench pods`: the logs of a thousand pods become one record. Pods are recorded, a few of them, on this
//! machine: the program that runs in pods measures the memory engine, and its logs are used again and again. Needs
//! root.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use anyhow::{Context as _, bail};

use super::{Bar, judge, measured_child::measure, median};
use crate::{child, interruption};

const PODS: usize = 1000;
const RECORDED: usize = 4;
const TIMES: usize = 5;
const MEBIBYTE: f64 = 1_048_576.0;

/// What each pod does: reads and writes, in two visits of five seconds each.
const PLAN: &str = r#"
targets = ["data"]
passes = 2
[[workload]]
rw = "randread"
queue_depth = 16
engine = "memory"
size = "64MiB"
[[workload]]
rw = "randwrite"
queue_depth = 16
engine = "memory"
size = "64MiB"
"#;

pub(super) fn run() -> anyhow::Result<()> {
    let binary = crate::repository().join("target/release/plimsoll");
    let directory = tempfile::Builder::new()
        .prefix("pods-")
        .tempdir_in(crate::repository().join("target"))
        .context("create a directory for logs")?;
    // At the same time, as pods do: not long after all of them are ready.
    let in_a_moment = ["--utc", "--date", "+5 seconds", "+%Y-%m-%dT%H:%M:%SZ"];
    let start = child::output(child::command("date").args(in_a_moment))?;
    let recorded = thread::scope(|scope| {
        let recording = |pod| {
            let (binary, directory, start) = (&binary, directory.path(), start.trim());
            scope.spawn(move || record(binary, directory, pod, start))
        };
        let recordings: Vec<_> = (0..RECORDED).map(recording).collect();
        let end = |recording: thread::ScopedJoinHandle<'_, _>| recording.join().expect("recording does not panic");
        recordings.into_iter().map(end).collect::<anyhow::Result<Vec<String>>>()
    })?;
    for pod in 0..PODS {
        interruption::check()?;
        let log = directory.path().join(format!("pod-{pod}.log"));
        let (_, told) = recorded[pod % recorded.len()].split_once('\n').context("a pod that measures tells more")?;
        let text = first_line(&binary, directory.path(), pod, start.trim())? + told;
        fs::write(&log, text).with_context(|| format!("write {}", log.display()))?;
    }
    let mut merge = child::command(&binary.to_string_lossy());
    merge.args(["kubernetes", "merge", "--json", "--no-history", "--quiet"]);
    merge.args((0..PODS).map(|pod| directory.path().join(format!("pod-{pod}.log"))));
    let (mut seconds, mut resident) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        interruption::check()?;
        let started = Instant::now();
        let measured = measure(&mut merge, None)?;
        seconds.push(started.elapsed().as_secs_f64());
        resident.push(measured.resident_bytes_max as f64 / MEBIBYTE);
        let record: serde_json::Value = serde_json::from_str(&measured.stdout).context("read the record")?;
        let pods = record.pointer("/pods/pods").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
        if pods != PODS {
            bail!("the record has {pods} pods of {PODS}");
        }
    }
    let mut met = judge("a thousand pods", median(seconds), " s", Bar::AtMost(2.0));
    met &= judge("resident", median(resident), " MiB", Bar::AtMost(300.0));
    if met { Ok(()) } else { bail!("a bar was missed") }
}

/// The log of a pod of several that measures; it says that it is ready where only it can see that.
fn record(binary: &Path, directory: &Path, pod: usize, start: &str) -> anyhow::Result<String> {
    const READY: &str = "mount -t tmpfs pod /run && mkdir /run/plimsoll-pod && exec \"$0\" \"$@\"";
    let place = directory.join(format!("volume-{pod}"));
    fs::create_dir_all(place.join("data")).with_context(|| format!("create {}", place.display()))?;
    let mut agent = child::command("unshare");
    agent.args(["--mount", "sh", "-c", READY]).arg(binary);
    child::output(as_pod(&mut agent, &place, pod, start))
}

/// How the log of a pod begins: it says which of all it is. This one has nothing to measure, and is ended.
fn first_line(binary: &Path, directory: &Path, pod: usize, start: &str) -> anyhow::Result<String> {
    let mut agent = child::command(&binary.to_string_lossy());
    agent.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut agent = as_pod(&mut agent, directory, pod, start).spawn().context("start a pod's program")?;
    let mut line = String::new();
    let read = BufReader::new(agent.stdout.take().expect("a pipe")).read_line(&mut line);
    agent.kill().and_then(|()| agent.wait()).context("end a pod's program")?;
    read.context("read what a pod says")?;
    Ok(line)
}

/// What the program of a pod is told in a cluster.
fn as_pod<'a>(agent: &'a mut Command, place: &Path, pod: usize, start: &str) -> &'a mut Command {
    agent.args(["kubernetes", "agent", "--run", "01a20451-96fb-7259-8ace-7b5e21365415", "--quiet"]);
    agent.current_dir(place).env("PLIMSOLL_PLAN", PLAN).env("PLIMSOLL_START", start);
    agent.env("PLIMSOLL_POD", pod.to_string()).env("PLIMSOLL_PODS", PODS.to_string())
}
