//! The programs that a benchmark compares: how each is asked for the same work, and what it answers.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::child;

/// The work: random or sequential reads of a device.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) device: &'a Path,
    /// `randread` or `read`, which all tools call so.
    pub(super) pattern: &'static str,
    pub(super) block_size_bytes: u64,
    pub(super) queue_depth: u32,
    pub(super) seconds: u32,
    /// Have fio keep its buffers in huge pages, where plimsoll keeps its own when the kernel has any to give.
    pub(super) huge_pages: bool,
}

/// What a program says of its own run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Claim {
    pub(super) iops: f64,
    pub(super) bytes_per_second: f64,
    pub(super) latency_mean_ns: f64,
}

/// One program with one way to reach the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// Our release binary with an engine.
    Plimsoll(&'static str),
    /// fio with an engine, else at its defaults.
    Fio(&'static str),
    /// fio's `t/io_uring`: the fastest reader there is.
    Peer(PathBuf),
}

impl Subject {
    pub(super) fn name(&self) -> String {
        match self {
            Self::Plimsoll(engine) => format!("plimsoll {engine}"),
            Self::Fio(engine) => format!("fio {engine}"),
            Self::Peer(_) => "t/io_uring".into(),
        }
    }

    /// The command that does the job. The batch of 32 is that of `t/io_uring`, and of the others by choice.
    pub(super) fn command(&self, job: Job<'_>) -> Command {
        let Job { device, pattern, block_size_bytes, queue_depth, seconds, huge_pages } = job;
        let text = |number: u32| number.to_string();
        match self {
            Self::Plimsoll(engine) => {
                let mut command = child::command("target/release/plimsoll");
                command.current_dir(crate::repository()).arg("run").arg(device);
                command.args(["--rw", pattern, "--engine", engine, "--json", "--no-history", "--quiet"]);
                command.args(["--block-size", &block_size_bytes.to_string(), "--queue-depth", &text(queue_depth)]);
                // The first second is left out on both sides: a throttle lets a burst through before it holds.
                command.args(["--duration", &format!("{seconds}s"), "--ramp", "1s"]);
                if *engine == "io_uring" && queue_depth > 32 {
                    command.args(["--batch", "32"]);
                }
                command
            }
            Self::Fio(engine) => {
                let mut command = child::command("fio");
                command.args(["--name=peer", "--readonly", "--direct=1", "--time_based", "--output-format=json"]);
                command.arg(format!("--filename={}", device.display()));
                command.arg(format!("--rw={pattern}")).arg(format!("--bs={block_size_bytes}"));
                command.arg(format!("--ioengine={engine}")).arg(format!("--iodepth={queue_depth}"));
                // Threads, because the time of forked jobs would not be counted as the program's.
                command.arg(format!("--runtime={seconds}")).args(["--ramp_time=1", "--thread"]);
                if huge_pages {
                    command.arg("--iomem=mmaphuge");
                }
                command
            }
            Self::Peer(program) => {
                let mut command = child::command(&program.to_string_lossy());
                command.arg(format!("-d{queue_depth}")).arg(format!("-b{block_size_bytes}"));
                command.args(["-s32", "-c32", "-p0", "-F1", "-B1", "-n1"]).arg(format!("-r{seconds}")).arg(device);
                command
            }
        }
    }

    /// What the program printed about its run.
    pub(super) fn claim(&self, stdout: &str) -> anyhow::Result<Claim> {
        let claim = match self {
            Self::Plimsoll(_) => from_json(stdout, "/cells/0/read", "iops", "bytes_per_second", "latency_ns"),
            Self::Fio(_) => from_json(stdout, "/jobs/0/read", "iops", "bw_bytes", "lat_ns"),
            Self::Peer(_) => from_peer(stdout),
        };
        claim.with_context(|| format!("read the answer of {}", self.name()))
    }
}

fn from_json(text: &str, place: &str, iops: &str, bytes: &str, latency: &str) -> anyhow::Result<Claim> {
    let answer: Value = serde_json::from_str(text).context("parse JSON")?;
    let read = answer.pointer(place).with_context(|| format!("find {place}"))?;
    let number = |value: &Value, name: &str| value.as_f64().with_context(|| format!("find {place}/{name}"));
    Ok(Claim {
        iops: number(&read[iops], iops)?,
        bytes_per_second: number(&read[bytes], bytes)?,
        latency_mean_ns: number(&read[latency]["mean"], latency)?,
    })
}

/// The mean of the lines `IOPS=1.24M, BW=..`, one a second. It tells no latency.
fn from_peer(text: &str) -> anyhow::Result<Claim> {
    let values: Vec<f64> = text.lines().filter_map(|line| line.strip_prefix("IOPS=")).filter_map(peer_number).collect();
    if values.is_empty() {
        bail!("no line says IOPS=");
    }
    let iops = values.iter().sum::<f64>() / values.len() as f64;
    Ok(Claim { iops, bytes_per_second: 0.0, latency_mean_ns: 0.0 })
}

/// `1.24M`, `896.10K` or `5000`, up to a comma.
fn peer_number(text: &str) -> Option<f64> {
    let number = text.split(',').next()?.trim();
    let (digits, scale) = match number.strip_suffix('M') {
        Some(digits) => (digits, 1e6),
        None => number.strip_suffix('K').map_or((number, 1.0), |digits| (digits, 1e3)),
    };
    digits.parse::<f64>().ok().map(|value| value * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_asked_for_the_same_work() {
        let job = Job {
            device: Path::new("/dev/x"),
            pattern: "randread",
            block_size_bytes: 4096,
            queue_depth: 128,
            seconds: 3,
            huge_pages: false,
        };
        for subject in [Subject::Plimsoll("psync"), Subject::Fio("psync"), Subject::Peer("t/io_uring".into())] {
            let line = child::line(&subject.command(job));
            for word in ["/dev/x", "4096", "128", "3"] {
                assert!(line.contains(word), "{word} in {line}");
            }
        }
    }

    #[test]
    fn answers_are_understood() {
        let ours = r#"{"cells":[{"read":{"iops":10.0,"bytes_per_second":40960,"latency_ns":{"mean":5.0}}}]}"#;
        let theirs = r#"{"jobs":[{"read":{"iops":10.0,"bw_bytes":40960,"lat_ns":{"mean":5.0}}}]}"#;
        let expected = Claim { iops: 10.0, bytes_per_second: 40960.0, latency_mean_ns: 5.0 };
        assert_eq!(Subject::Plimsoll("psync").claim(ours).unwrap(), expected);
        assert_eq!(Subject::Fio("psync").claim(theirs).unwrap(), expected);
        let peer = Subject::Peer("x".into()).claim("IOPS=1.20M, BW=1\nIOPS=900.00K, BW=1\nExiting\n").unwrap();
        assert!((peer.iops - 1.05e6).abs() < 1.0);
        assert!(Subject::Peer("x".into()).claim("nothing").is_err());
        assert!(Subject::Fio("psync").claim("{}").is_err());
    }
}
