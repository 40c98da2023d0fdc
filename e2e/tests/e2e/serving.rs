//! A run of the cluster as a server shows it that runs where the client runs.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
};

use plimsoll_e2e::place;
use serde_json::Value;

use crate::{
    client::{Client, READS, record, volumes},
    kubectl::{plimsoll, text},
    namespace::{Namespace, SOON_S},
    waiting::until,
};

/// A server, which ends with this.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    /// One that shows what a client does.
    fn of(client: &Client<'_>) -> Self {
        let mut command = plimsoll(&["serve", "--listen", "127.0.0.1:0"]);
        command.arg("--history").arg(client.history.path().join("history.db"));
        command.env("XDG_STATE_HOME", client.history.path());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, address }
    }

    /// What is answered, with 200 or something else.
    fn get(&self, path: &str) -> Result<Value, String> {
        let mut stream = TcpStream::connect(&self.address).map_err(|error| format!("{}: {error}", self.address))?;
        write!(stream, "GET {path} HTTP/1.0\r\nhost: {}\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        if head.contains(" 200 ") { Ok(serde_json::from_str(body).unwrap()) } else { Err(answer) }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_run_of_the_cluster_is_followed_live_and_is_in_the_history_when_it_is_over() {
    let space = Namespace::new("served");
    let client = Client::new(&space);
    let server = Serving::of(&client);
    assert_eq!(server.get("/api/live").unwrap()["runs"].as_array().unwrap().len(), 0);
    let arguments = ["run", "--image", place::IMAGE, "--storage-class", "slow", "--duration", "10s"];
    let going = client.starting(client.command(&[&arguments[..], &["--json"], READS].concat()));
    let live = until("seconds of the run are told", SOON_S, || {
        let live = server.get("/api/live")?;
        if live.pointer("/runs/0/phase").is_some_and(|phase| phase == "measuring") {
            Ok(live)
        } else {
            Err(live.to_string())
        }
    });
    let run = &live["runs"][0];
    assert_eq!((&run["in_cluster"], text(run, "/targets/0")), (&true.into(), "slow"));
    let so_far = server.get(&format!("/api/live/{}", text(run, "/id"))).unwrap();
    assert_eq!(text(&so_far, "/runs/0/id"), text(run, "/id"));
    let record = record(&going.output());
    assert_eq!(text(&record, "/id"), text(run, "/id"));
    assert_eq!(server.get("/api/live").unwrap()["runs"].as_array().unwrap().len(), 0);
    let kept = server.get(&format!("/api/runs/{}", text(run, "/id"))).unwrap();
    assert_eq!((text(&kept, "/outcome"), text(&kept, "/targets/0")), ("complete", "slow"));
    client.assert_nothing_left(&volumes(&record));
}
