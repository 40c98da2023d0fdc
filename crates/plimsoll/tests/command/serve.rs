//! The server: what it shows of the history and of runs that are going on, and whom it answers.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    import::TEXT,
    interruption::interruption,
    support::{Place, Said},
};

const MEASURED: &str = "run DATA --engine memory --rw randread --size 4M --operations 2000";

/// A server, which ends with this.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    /// Starts one on a free port.
    fn start(place: &Place, arguments: &str) -> Self {
        Self::on(place, "127.0.0.1:0", arguments)
    }

    fn on(place: &Place, address: &str, arguments: &str) -> Self {
        let mut command = place.command(&format!("serve --listen {address} {arguments}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("http://").and_then(|line| line.strip_suffix("/\n"));
        let address = address.unwrap_or_else(|| panic!("{line}: {:?}", child.wait_with_output_of_errors())).to_owned();
        Self { child, address }
    }

    /// The status and the body of an answer.
    fn ask(&self, request: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let own = [("host", self.address.as_str())];
        let has_host = headers.iter().any(|(name, _)| *name == "host");
        let headers = own.iter().filter(|_| !has_host).chain(headers);
        let headers: String = headers.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let head = format!("{request} HTTP/1.1\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask(&format!("GET {path}"), &[], b"");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Changes something as the page does.
    fn write(&self, request: &str, body: &[u8]) -> (u16, Value) {
        let (status, body) = self.ask(request, &[("x-plimsoll", "1")], body);
        (status, serde_json::from_str(&body).unwrap())
    }

    fn events(&self) -> Events {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // In the older version of the protocol a body of unknown length is not cut into pieces.
        write!(stream, "GET /api/events HTTP/1.0\r\nhost: {}\r\n\r\n", self.address).unwrap();
        Events(BufReader::new(stream))
    }

    /// Ends it by a signal.
    fn end(mut self, signal: Signal) -> Said {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let (mut stdout, mut stderr) = (String::new(), String::new());
        let code = self.child.wait().unwrap().code();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        Said { code, stdout, stderr }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

trait Errors {
    fn wait_with_output_of_errors(&mut self) -> String;
}

impl Errors for Child {
    fn wait_with_output_of_errors(&mut self) -> String {
        let mut errors = String::new();
        let _ = self.stderr.take().unwrap().read_to_string(&mut errors);
        errors
    }
}

/// What a server tells as it happens.
struct Events(BufReader<TcpStream>);

impl Events {
    /// The name and the data of the next event; `None` when the server is gone.
    fn any(&mut self) -> Option<(String, Value)> {
        /// Comments come after 15 seconds of silence each.
        const SILENCES_MAX: u32 = 8;
        let (mut name, mut silences) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(named) = line.strip_prefix("event: ") {
                name = named.trim_end().to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ").filter(|_| !name.is_empty()) {
                return Some((name, serde_json::from_str(data).unwrap()));
            }
            silences += u32::from(line.starts_with(':'));
            assert!(silences < SILENCES_MAX, "what is waited for does not happen");
        }
    }

    /// The next event of a name that is what is waited for; `None` when the server is gone.
    fn next(&mut self, name: &str, is_wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        loop {
            let (named, data) = self.any()?;
            if named == name && is_wanted(&data) {
                return Some(data);
            }
        }
    }
}

#[test]
fn what_was_measured_is_listed_shown_tagged_imported_and_removed() {
    let place = Place::new();
    let record = place.record(&format!("{MEASURED} --name first"));
    let id = record["id"].as_str().unwrap();
    let server = Serving::start(&place, "");
    let list = server.get("/api/runs");
    assert_eq!((&list["total"], &list["runs"][0]["name"]), (&1.into(), &"first".into()));
    // The page's document is the same as the one in a file.
    assert_eq!(place.run("report --output ROOT/report.json").code, Some(0));
    let mut written: Value = serde_json::from_str(&fs::read_to_string(place.path("report.json")).unwrap()).unwrap();
    let mut served = server.get("/api/report?runs=first");
    [&mut written, &mut served].into_iter().for_each(|document| document["created"] = Value::Null);
    assert_eq!(served, written);
    let download: Value = server.get(&format!("/api/runs/{id}/record"));
    assert_eq!(download, record);

    let (status, _) = server.write(&format!("PUT /api/runs/{id}/tags"), br#"{"tag": {"disk": "new"}}"#);
    assert_eq!((status, place.run("history --tag disk=new --json").json().as_array().unwrap().len()), (200, 1));

    let (status, imported) = server.write("POST /api/import?name=fio.txt", TEXT.as_bytes());
    assert_eq!(status, 200, "{imported}");
    let imported = imported["runs"][0].as_str().unwrap().to_owned();
    assert_eq!(place.run(&format!("show {imported} --json")).json()["import"]["file"], "fio.txt");
    let (status, error) = server.write("POST /api/import?name=notes.txt", b"nothing in it");
    assert!(status == 400 && error["error"].as_str().unwrap().contains("notes.txt"), "{status} {error}");
    // A record of plimsoll's own goes to another history as it is.
    let other = Place::new();
    let elsewhere = Serving::start(&other, "");
    let (status, own) = elsewhere.write("POST /api/import", download.to_string().as_bytes());
    assert_eq!((status, &own["runs"][0]), (200, &record["id"]), "{own}");
    assert_eq!(other.run(&format!("show {id} --json")).json(), record);

    let path = format!("DELETE /api/runs/{imported}");
    assert_eq!(server.write(&path, b"").0, 409);
    let list = server.get("/api/runs");
    let short = list["runs"].as_array().unwrap().iter().find(|run| run["id"] == imported.as_str()).unwrap();
    let short = short["short_id"].as_str().unwrap();
    assert_eq!(server.write(&format!("{path}?confirm={short}"), b"").0, 200);
    assert_eq!(server.get("/api/runs")["total"], 1);
    let (status, metrics) = server.ask("GET /metrics", &[], b"");
    assert!(status == 200 && metrics.contains("plimsoll_operations_per_second{"), "{metrics}");
}

#[test]
fn a_run_is_told_of_while_it_is_going_on_and_its_record_afterwards() {
    let place = Place::new();
    let server = Serving::start(&place, "");
    let mut events = server.events();
    assert!(events.next("live", |live| live["runs"] == Value::Array(Vec::new())).is_some());
    let run = "run DATA --name now --rw randread --size 4M --passes 1 --duration 4s --ramp 0s --quiet";
    let mut child = place.command(run).stdout(Stdio::null()).spawn().unwrap();
    let has_seconds = |live: &Value| live["runs"][0]["seconds"][0]["iops"].as_f64().is_some_and(|iops| iops > 0.0);
    let live = events.next("live", has_seconds).unwrap();
    let run = &live["runs"][0];
    assert_eq!((&run["name"], &run["phase"]), (&"now".into(), &"measuring".into()), "{run}");
    let id = run["id"].as_str().unwrap();
    let document = server.get(&format!("/api/live/{id}"));
    assert_eq!(document["runs"][0]["id"], id);
    // Its record is in the history before its journal is gone; both may be told at once.
    let (mut is_over, mut is_kept) = (false, false);
    while !(is_over && is_kept) {
        let (name, data) = events.any().unwrap();
        is_over |= name == "live" && data["runs"] == Value::Array(Vec::new());
        is_kept |= name == "runs" && data["total"] == 1;
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(server.get(&format!("/api/runs/{id}/record"))["outcome"], "complete");
    assert_eq!(server.get("/api/live")["runs"], Value::Array(Vec::new()));
}

#[test]
fn events_go_on_where_a_server_was_killed_and_started_again() {
    let place = Place::new();
    let server = Serving::start(&place, "");
    let address = server.address.clone();
    let mut events = server.events();
    assert!(events.next("runs", |runs| runs["total"] == 0).is_some());
    server.end(Signal::KILL);
    assert!(events.next("runs", |_| true).is_none());
    place.record(MEASURED);
    let server = Serving::on(&place, &address, "");
    assert_eq!(server.address, address);
    assert!(server.events().next("runs", |runs| runs["total"] == 1).is_some());
}

#[test]
fn a_server_ends_at_once_when_it_is_told_to_also_while_somebody_listens() {
    let place = Place::new();
    for signal in [interruption(), Signal::TERM] {
        let server = Serving::start(&place, "");
        let mut events = server.events();
        assert!(events.next("live", |_| true).is_some());
        let said = server.end(signal);
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
        assert!(events.next("live", |_| true).is_none());
    }
}

#[test]
fn others_are_not_answered() {
    let place = Place::new();
    let server = Serving::start(&place, "--read-only");
    let (status, body) = server.ask("GET /api/runs", &[("host", "evil.example")], b"");
    assert!(status == 403 && body.contains("error"), "{status} {body}");
    assert_eq!(server.write("POST /api/import", b"x").0, 403);
    let said = place.run("serve --listen 0.0.0.0:0");
    assert!(said.error(2).contains("--token-file"), "{}", said.stderr);
    let taken = place.run(&format!("serve --listen {}", server.address));
    assert!(taken.error(6).contains("--listen"), "{}", taken.stderr);
    assert!(place.run("serve --no-history").error(2).contains("no history"));
    fs::write(place.path("short"), "secret").unwrap();
    assert!(place.run("serve --token-file ROOT/short").error(2).contains("16"));
    fs::write(place.path("token"), "0123456789abcdef0123\n").unwrap();
    let server = Serving::start(&place, "--token-file ROOT/token");
    assert_eq!(server.ask("GET /api/runs", &[], b"").0, 401);
    let bearer = ("authorization", "Bearer 0123456789abcdef0123");
    assert_eq!(server.ask("GET /api/runs", &[bearer], b"").0, 200);
    assert_eq!(server.ask("GET /?token=0123456789abcdef0123", &[], b"").0, 303);
}

#[test]
fn those_who_say_nothing_keep_nobody_else_from_asking() {
    let place = Place::new();
    let server = Serving::start(&place, "");
    let silent = |_| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.write_all(b"GET /api/ru").unwrap();
        stream
    };
    let silent: Vec<TcpStream> = (0..300).map(silent).collect();
    assert_eq!(server.get("/api/runs")["total"], 0);
    drop(silent);
}
