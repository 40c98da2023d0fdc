//! `cargo xtask bench serve`: how long the server's answers take when the history has ten thousand runs.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Stdio},
    time::Instant,
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::{Bar, judge, median};
use crate::{child, interruption};

const RUNS: usize = 10_000;
/// Runs that are sent at once.
const AT_ONCE: usize = 500;
const REQUESTS: usize = 50;

/// What is asked, in turns.
const ASKED: [(&str, &str); 8] = [
    ("the latest runs", "/api/runs"),
    ("a page in the middle", "/api/runs?offset=5000&limit=100"),
    ("the last page", "/api/runs?offset=9900"),
    ("a text that all have", "/api/runs?text=run"),
    ("a text that one has", "/api/runs?text=run-4321"),
    ("a target", "/api/runs?target=disk-3"),
    ("a tag", "/api/runs?tag=disk%3D5"),
    ("metrics", "/metrics"),
];

pub(super) fn run() -> anyhow::Result<()> {
    let directory = tempfile::Builder::new()
        .prefix("serve-")
        .tempdir_in(crate::repository().join("target"))
        .context("create a directory for a history")?;
    let (binary, place) = (crate::repository().join("target/release/plimsoll"), directory.path());
    let record = record(&binary, place)?;
    let mut server = Serving::start(&binary, place)?;
    println!("making {RUNS} runs");
    for first in (0..RUNS).step_by(AT_ONCE) {
        interruption::check()?;
        let runs: Vec<Value> = (first..first + AT_ONCE).map(|number| numbered(&record, number)).collect();
        server.ask("POST", "/api/import?name=runs.json", Value::from(runs).to_string().as_bytes())?;
    }
    let list: Value = serde_json::from_str(&server.ask("GET", "/api/runs?limit=1", b"")?.1)?;
    if list["total"] != RUNS {
        bail!("the history has {} runs instead of {RUNS}", list["total"]);
    }
    let mut met = true;
    for (what, path) in ASKED {
        interruption::check()?;
        let mut times = Vec::new();
        for _ in 0..REQUESTS {
            times.push(server.ask("GET", path, b"")?.0);
        }
        let worst = times.iter().copied().fold(0.0, f64::max);
        met &= judge(&format!("{what}, median of {REQUESTS}"), median(times), " ms", Bar::AtMost(100.0));
        met &= judge(&format!("{what}, worst"), worst, " ms", Bar::AtMost(100.0));
    }
    if met { Ok(()) } else { bail!("a bar was missed") }
}

/// A small record.
fn record(binary: &Path, place: &Path) -> anyhow::Result<Value> {
    let mut command = child::command(&binary.to_string_lossy());
    command.arg("run").arg(place).args(["--engine", "memory", "--rw", "randread", "--size", "1m"]);
    command.args(["--operations", "2000", "--json", "--no-history", "--quiet"]);
    serde_json::from_str(&child::output(&mut command)?).context("read the record of a run")
}

/// The same as run `number`, a minute after the one before.
pub(super) fn numbered(record: &Value, number: usize) -> Value {
    let mut record = record.clone();
    let (minutes, hours, days) = (number % 60, number / 60 % 24, number / 1440 + 1);
    let target = format!("/mnt/disk-{}", number % 10);
    record["id"] = format!("{:08x}-{:04x}-7000-8000-{number:012x}", 0x0199_0000 + number / 16, number % 16).into();
    record["started"] = format!("2026-01-{days:02}T{hours:02}:{minutes:02}:00Z").into();
    record["name"] = format!("run-{number}").into();
    record["tags"] = json!({ "disk": (number % 10).to_string() });
    record["asked"]["targets"] = json!([target]);
    for cell in record["cells"].as_array_mut().into_iter().flatten() {
        cell["target"] = target.clone().into();
    }
    record
}

/// A server that ends with this.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(binary: &Path, place: &Path) -> anyhow::Result<Self> {
        let mut command = child::command(&binary.to_string_lossy());
        command.args(["serve", "--listen", "127.0.0.1:0", "--history"]).arg(place.join("history.db"));
        fs::create_dir(place.join("state")).context("create a state directory")?;
        command.env("XDG_STATE_HOME", place.join("state")).stdout(Stdio::piped());
        let mut child = command.spawn().context("start the server")?;
        let mut line = String::new();
        let output = child.stdout.take().context("read what the server prints")?;
        BufReader::new(output).read_line(&mut line).context("read where the server is")?;
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Ok(Self { child, address })
    }

    /// How many milliseconds an answer took, with a connection of its own, and its body.
    fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> anyhow::Result<(f64, String)> {
        let started = Instant::now();
        let mut stream = TcpStream::connect(&self.address).context("reach the server")?;
        let (address, length) = (&self.address, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nx-plimsoll: 1\r\nconnection: close\r\n\
             content-length: {length}\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).context("ask the server")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).context("hear the server")?;
        let took = started.elapsed().as_secs_f64() * 1e3;
        match answer.split_once("\r\n\r\n") {
            Some((head, body)) if head.starts_with("HTTP/1.1 200 ") => Ok((took, body.to_owned())),
            _ => bail!("{method} {path}: {}", answer.lines().next().unwrap_or("no answer")),
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
