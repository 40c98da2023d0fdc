//! `--detect-cloud`: what the instance metadata service tells is kept, and nothing of it is ever waited for long.
//!
//! The services are servers of this test on the loopback interface.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{Place, Said};

/// A run that is over at once.
const RUN: &str = "run DATA --rw randread --size 4M --operations 10 --engine psync";

const AZURE: &str = r#"{"compute": {"location": "westeurope", "name": "secret-name", "subscriptionId": "secret-account",
    "publicKeys": [{"keyData": "secret-key"}], "userData": "secret-data", "vmSize": "Standard_D16s_v5", "zone": "1",
    "storageProfile": {"dataDisks": [{"bytesPerSecondThrottle": "", "caching": "ReadOnly", "diskSizeGB": "512",
        "lun": "3", "managedDisk": {"id": "/subscriptions/secret-account/disks/data", "storageAccountType": "Premium_LRS"},
        "name": "data", "opsPerSecondThrottle": ""}]}}, "network": {"interface": [{"macAddress": "secret-address"}]}}"#;
const AWS: &str = r#"{"accountId": "secret-account", "availabilityZone": "us-west-2b", "instanceId": "i-secret",
    "instanceType": "m5.large", "privateIp": "10.158.112.84", "region": "us-west-2", "version": "2017-09-30"}"#;
const GOOGLE: &str = r#"{"attributes": {"ssh-keys": "secret-key"}, "disks": [{"deviceName": "local-ssd-0", "index": 0,
    "interface": "NVME", "mode": "READ_WRITE", "type": "LOCAL-SSD"}], "id": 42,
    "machineType": "projects/secret-number/machineTypes/n2-standard-8",
    "zone": "projects/secret-number/zones/us-central1-a"}"#;

/// What a server says to the head of a request, which is in small letters; `None` is silence. What ends with `…` goes
/// on with blanks for as long as anybody listens.
type Answer = fn(&str) -> Option<String>;

/// A server, closed when dropped.
struct Service {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    /// When each connection began and ended.
    visits: Arc<Mutex<Vec<(Instant, Instant)>>>,
    closes: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Service {
    fn new(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut service =
            Self { address, heads: Arc::default(), visits: Arc::default(), closes: Arc::default(), server: None };
        let (heads, visits, closes) =
            (Arc::clone(&service.heads), Arc::clone(&service.visits), Arc::clone(&service.closes));
        let server = thread::spawn(move || {
            thread::scope(|scope| {
                for stream in listener.incoming() {
                    if closes.load(Ordering::SeqCst) {
                        break;
                    }
                    scope.spawn(|| {
                        let begun = now();
                        serve(stream.unwrap(), answer, &heads);
                        visits.lock().unwrap().push((begun, now()));
                    });
                }
            });
        });
        service.server = Some(server);
        service
    }

    /// What was asked, the first lines and what follows them.
    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    fn said(&self, place: &Place, arguments: &str) -> Said {
        place.run(&format!("{arguments} --detect-cloud=http://{}", self.address))
    }

    /// What the record of a run knows of the cloud, when nothing is wrong.
    fn cloud(&self, place: &Place) -> Value {
        let said = self.said(place, &format!("{RUN} --json"));
        assert!(said.code == Some(0) && !said.stderr.contains("warning"), "{}", said.stderr);
        assert!(!said.stdout.contains("secret"), "{}", said.stdout);
        said.json()["environment"]["cloud"].clone()
    }

    /// The one warning of a run that goes on without the cloud.
    fn warning(&self) -> String {
        warning(&self.said(&Place::new(), &format!("{RUN} --json")))
    }

    /// How long anybody had patience with the server, from the first question on.
    fn patience(self) -> Duration {
        let visits = Arc::clone(&self.visits);
        // All visits have ended when the server has.
        drop(self);
        let visits = visits.lock().unwrap();
        let (first, last) = (visits.iter().map(|visit| visit.0).min(), visits.iter().map(|visit| visit.1).max());
        last.unwrap() - first.unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.closes.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let server = self.server.take().unwrap().join();
        assert!(server.is_ok() || thread::panicking());
    }
}

fn serve(mut stream: TcpStream, answer: Answer, heads: &Mutex<Vec<String>>) {
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte) {
            Ok(1) => bytes.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8(bytes).unwrap().to_lowercase();
    heads.lock().unwrap().push(head.clone());
    match answer(&head) {
        Some(answer) => {
            // Whoever asked may have heard enough before the end.
            let begun = stream.write_all(answer.trim_end_matches('…').as_bytes());
            while answer.ends_with('…') && begun.is_ok() && stream.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        }
        None => match stream.read(&mut [0]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("somebody waits for half a minute"),
            _ => {}
        },
    }
}

#[expect(clippy::disallowed_methods, reason = "how long the program waits is the promise")]
fn now() -> Instant {
    Instant::now()
}

fn response(status: &str, headers: &str, body: &str) -> Option<String> {
    let length = body.len();
    Some(format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"))
}

fn ok(body: &str) -> Option<String> {
    response("200 OK", "Content-Type: application/json\r\n", body)
}

fn not_found() -> Option<String> {
    response("404 Not Found", "", "not here")
}

fn azure(head: &str) -> Option<String> {
    if head.starts_with("get /metadata/instance?api-version=2021-12-13 ") && head.contains("\r\nmetadata: true\r\n") {
        ok(AZURE)
    } else {
        not_found()
    }
}

/// The second version of AWS's interface.
fn aws(head: &str) -> Option<String> {
    if head.starts_with("put /latest/api/token ") && head.contains("\r\nx-aws-ec2-metadata-token-ttl-seconds: ") {
        response("200 OK", "Content-Type: text/plain\r\n", "dG9rZW4=")
    } else if !head.starts_with("get /latest/dynamic/instance-identity/document ") {
        not_found()
    } else if head.contains("\r\nx-aws-ec2-metadata-token: dg9rzw4=\r\n") {
        ok(AWS)
    } else {
        response("401 Unauthorized", "", "")
    }
}

/// The first version, which knows no tokens.
fn aws_before_tokens(head: &str) -> Option<String> {
    if head.contains("document") && !head.contains("token") { ok(AWS) } else { not_found() }
}

fn google(head: &str) -> Option<String> {
    let is_asked = head.starts_with("get /computemetadata/v1/instance/?recursive=true ");
    if is_asked && head.contains("\r\nmetadata-flavor: google\r\n") {
        response("200 OK", "Metadata-Flavor: Google\r\n", GOOGLE)
    } else {
        response("403 Forbidden", "Metadata-Flavor: Google\r\n", "")
    }
}

fn warning(said: &Said) -> String {
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.json()["environment"]["cloud"].is_null());
    let warnings: Vec<&str> = said.stderr.lines().filter_map(|line| line.strip_prefix("warning: ")).collect();
    assert_eq!(warnings.len(), 1, "{}", said.stderr);
    assert!(warnings[0].contains("so it is not known which cloud's machine this is"), "{}", warnings[0]);
    warnings[0].to_owned()
}

#[test]
fn azure_tells_size_place_and_disks() {
    let (place, service) = (Place::new(), Service::new(azure));
    let disk = json!({
        "name": "data", "lun": 3, "size_bytes": 512_u64 << 30, "sku": "Premium_LRS", "caching": "ReadOnly",
        "iops": null, "bytes_per_second": null, "local": false,
    });
    let expected = json!({
        "provider": "azure", "instance_type": "Standard_D16s_v5", "region": "westeurope", "zone": "1", "disks": [disk],
    });
    assert_eq!(service.cloud(&place), expected);
    let shown = place.run("show latest").stdout;
    let line = shown.lines().find(|line| line.starts_with("cloud ")).unwrap();
    assert!(line.ends_with(" Azure Standard_D16s_v5 in westeurope, zone 1"), "{shown}");
}

#[test]
fn aws_tells_type_and_place_with_a_token_or_without() {
    for answer in [aws, aws_before_tokens] {
        let service = Service::new(answer);
        let expected = json!({
            "provider": "aws", "instance_type": "m5.large", "region": "us-west-2", "zone": "us-west-2b", "disks": [],
        });
        assert_eq!(service.cloud(&Place::new()), expected);
    }
}

#[test]
fn google_tells_type_place_and_disks() {
    let cloud = Service::new(google).cloud(&Place::new());
    assert_eq!((&cloud["provider"], &cloud["instance_type"]), (&json!("gcp"), &json!("n2-standard-8")));
    assert_eq!((&cloud["region"], &cloud["zone"]), (&json!("us-central1"), &json!("us-central1-a")));
    assert_eq!((&cloud["disks"][0]["sku"], &cloud["disks"][0]["local"]), (&json!("LOCAL-SSD"), &json!(true)));
}

#[test]
fn runs_on_other_machines_are_told_apart() {
    let place = Place::new();
    for answer in [azure, google] {
        let said = Service::new(answer).said(&place, RUN);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
    }
    let history = place.run("history --json").json();
    let ids: Vec<_> = history.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
    let said = place.run(&format!("compare {} {} --json", ids[1], ids[0]));
    let confounded = said.json()["pairs"][0]["confounded"].clone();
    let difference = json!({ "name": "instance type", "reference": "Standard_D16s_v5", "value": "n2-standard-8" });
    assert!(confounded.as_array().unwrap().contains(&difference), "{confounded}");
}

#[test]
fn nobody_is_asked_who_was_not_named() {
    let place = Place::new();
    assert_eq!(place.record(RUN)["environment"].as_object().unwrap().get("cloud"), None);
    let said = place.run(&format!("{RUN} --resume latest --detect-cloud=http://127.0.0.1:1"));
    assert_eq!(said.code, Some(2), "{}", said.stderr);
}

#[test]
fn proxies_are_not_asked() {
    let (place, service, proxy) = (Place::new(), Service::new(aws), Service::new(azure));
    let mut command = place.command(&format!("{RUN} --json --detect-cloud=http://{}", service.address));
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env(name, format!("http://{}", proxy.address));
    }
    let said = Said::of(command.output().unwrap());
    assert_eq!(said.json()["environment"]["cloud"]["provider"], "aws", "{}", said.stderr);
    assert_eq!(proxy.heads(), Vec::<String>::new());
}

#[test]
fn a_service_that_sends_on_to_another_place_is_not_followed() {
    let service = Service::new(|head| match head.split(' ').nth(1) {
        Some("/elsewhere") => ok(AZURE),
        _ => response("307 Temporary Redirect", "Location: /elsewhere\r\n", ""),
    });
    assert!(service.warning().contains("of Azure (status 307), AWS (status 307), Google Cloud (status 307), so"));
    assert!(service.heads().iter().all(|head| !head.contains("elsewhere")));
}

#[test]
fn a_run_goes_on_where_no_service_is() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = Place::new().run(&format!("{RUN} --json --detect-cloud=http://{address}"));
    let expected = format!("no instance metadata service answered at http://{address} (connection refused), so");
    assert!(warning(&said).starts_with(&expected), "{}", said.stderr);
}

#[test]
fn a_service_that_never_answers_is_not_waited_for() {
    let service = Service::new(|_| None);
    let warning = service.warning();
    assert!(warning.contains("(no answer in time), so"), "{warning}");
    assert_eq!(service.heads().len(), 4, "AWS's document is asked for although no token comes");
    // About two seconds; six if one was asked after the other.
    assert!(service.patience() < Duration::from_millis(5000));
}

#[test]
fn a_service_that_never_comes_to_an_end_is_not_waited_for() {
    let endless: [(Answer, &str); 2] = [
        (|_| Some("HTTP/1.1 200 OK\r\nX: …".to_owned()), "(no answer in time)"),
        (|_| Some("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{…".to_owned()), "the answer does not end in time"),
    ];
    for (answer, expected) in endless {
        let service = Service::new(answer);
        let warning = service.warning();
        assert!(warning.contains(expected), "{warning}");
        assert!(service.patience() < Duration::from_millis(5000));
    }
}

#[test]
fn a_token_that_never_comes_is_named_when_the_document_wants_it() {
    let service = Service::new(|head| if head.starts_with("put ") { None } else { aws(head) });
    let warning = service.warning();
    assert!(warning.contains("AWS (it wants a token, which did not come"), "{warning}");
}

#[test]
fn an_answer_that_is_not_understood_is_named_with_what_is_wrong() {
    let wrong: [(Answer, &str); 7] = [
        (|_| ok("<html>"), "as Azure's, the answer is not JSON (expected value at line 1 column 1); as AWS's, the"),
        (|head| if head.contains("/metadata/") { ok("{}") } else { not_found() }, "the answer has no compute.vmSize"),
        (
            |head| if head.contains("document") { ok("[1]") } else { not_found() },
            "as AWS's, the answer has no instance",
        ),
        (
            |_| response("200 OK", "Metadata-Flavor: Google\r\n", "{}"),
            "as Google Cloud's, the answer has no machineType",
        ),
        (|_| Some("SSH-2.0-OpenSSH_9.2\r\n".to_owned()), "as Azure's, the answer is not HTTP ("),
        (|_| Some("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{".to_owned()), "as Azure's, the answer breaks off ("),
        (
            |_| Some("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\u{7f}\u{ff}".to_owned()),
            "as Azure's, the answer is not",
        ),
    ];
    for (answer, expected) in wrong {
        let warning = Service::new(answer).warning();
        assert!(warning.contains(" is not understood, ") && warning.contains(expected), "{warning}");
    }
    // Google is only believed with its header.
    let service = Service::new(|head| if head.contains("computemetadata") { ok(GOOGLE) } else { not_found() });
    assert!(service.warning().contains("Google Cloud (no header Metadata-Flavor: Google)"));
}

#[test]
fn a_huge_answer_is_not_read_to_its_end() {
    let service = Service::new(|_| ok(&format!("{AZURE}{}", " ".repeat(2 << 20))));
    let warning = service.warning();
    assert!(warning.contains("as Azure's, the answer is longer than 1 MiB; as AWS's, "), "{warning}");
    let service = Service::new(|_| Some(format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n{AZURE}", "x".repeat(1 << 20))));
    assert!(service.warning().contains(" is not understood, "));
}

#[test]
fn what_is_no_address_of_a_service_is_bad_usage() {
    let place = Place::new();
    for url in ["", "169.254.169.254", "https://169.254.169.254", "http://host/path", "http://:1", "file:///etc/passwd"]
    {
        let said = place.run(&format!("{RUN} --detect-cloud={url}"));
        assert_eq!(said.code, Some(2), "{url}: {}", said.stderr);
        assert!(said.stderr.contains("http://169.254.169.254"), "{url}: {}", said.stderr);
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
    assert!(!place.path("state").exists());
}
