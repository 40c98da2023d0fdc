//! A real registry on the loopback interface, and who gives tokens for it.

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Place, skip};

/// Who may push.
pub(super) const USER: &str = "bench";
pub(super) const PASSWORD: &str = "hidden-7";
/// The password as registries keep it.
pub(super) const HTPASSWD: &str = "$2b$05$fIp4OrBONPJbI1aJWYQd.ebGB5Ly4Iby4sqm5qJFdVdoIqRerFAy.";

/// A registry with nothing in it, ended when dropped.
pub(super) struct Registry {
    pub(super) address: String,
    root: TempDir,
    process: Child,
}

impl Registry {
    /// Starts it with more settings: those that are indented are of its server. `None`, with a word about it, where
    /// there is no such program.
    pub(super) fn start(settings: &str) -> Option<Self> {
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        // Another program may take the port meanwhile; then the registry ends, and another one is tried.
        for _ in 0..5 {
            let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
            let configuration = format!(
                "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp:\n  addr: {address}\n{settings}\n",
                root.path().join("storage").display()
            );
            let file = root.path().join("configuration.yml");
            fs::write(&file, configuration).unwrap();
            let log = File::create(root.path().join("log")).unwrap();
            let mut command = Command::new("docker-registry");
            command.arg("serve").arg(file).env_clear().stdin(Stdio::null());
            let started = command.stdout(log.try_clone().unwrap()).stderr(log).spawn();
            let Ok(mut process) = started else {
                skip("docker-registry is not installed");
                return None;
            };
            while process.try_wait().unwrap().is_none() {
                if TcpStream::connect(&address).is_ok() {
                    return Some(Self { address, root, process });
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
        panic!("the registry does not start: {}", fs::read_to_string(root.path().join("log")).unwrap());
    }

    /// What the registry answers to a question, which it has to have an answer to.
    pub(super) fn get(&self, path: &str, headers: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\n{headers}\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let at = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
        let body = answer.split_off(at + 4);
        assert!(answer.starts_with(b"HTTP/1.0 200"), "{path}: {}", String::from_utf8_lossy(&answer));
        body
    }

    /// The requests that it has answered, each from its method on.
    pub(super) fn requests(&self) -> Vec<String> {
        let log = fs::read_to_string(self.root.path().join("log")).unwrap();
        let of_line = |line: &str| line.split_once("] \"").map(|(_, request)| request.to_owned());
        log.lines().filter_map(of_line).collect()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A server that answers every request by a function of its text, closed when dropped.
pub(crate) struct Server {
    pub(crate) address: String,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    closes: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&str) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (requests, closes) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicBool>::default());
        let (heard, ends) = (Arc::clone(&requests), Arc::clone(&closes));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                let mut stream = stream.unwrap();
                let request = read(&mut stream);
                heard.lock().unwrap().push(request.clone());
                // Whoever has heard enough may have gone.
                let _ = stream.write_all(answer(&request).as_bytes());
            }
        });
        Self { address, requests, closes, thread: Some(thread) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closes.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(&self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// One request with its body, when it says how long that is.
fn read(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
        text.push_str(&String::from_utf8_lossy(&buffer[..bytes]));
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            break;
        }
    }
    text
}

/// Who gives tokens that a registry believes: to push for who knows the password, in either way, and to do nothing for
/// everybody else.
pub(super) struct Authority {
    server: Server,
    certificate: PathBuf,
}

impl Authority {
    pub(super) fn start(place: &Place) -> Option<Self> {
        let (certificate, key) = openssl(place, "CA:FALSE")?;
        let pem = fs::read_to_string(&certificate).unwrap();
        let chain: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
        let server = Server::start(move |request| {
            let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("{USER}:{PASSWORD}")));
            let form = format!("grant_type=refresh_token&refresh_token={PASSWORD}");
            let knows = request.contains(&basic) || (request.starts_with("POST /token ") && request.contains(&form));
            let scope = request.split("repository%3A").nth(1).unwrap_or_default();
            let name = scope.split("%3A").next().unwrap_or_default().replace("%2F", "/");
            let actions: &[&str] = if knows { &["pull", "push"] } else { &[] };
            let claims = json!({
                "iss": "authority", "sub": "", "aud": "registry", "jti": "1", "nbf": 0, "iat": 0,
                // The year 2100.
                "exp": 4_102_444_800_u64,
                "access": [{"type": "repository", "name": name, "actions": actions}],
            });
            let head = json!({"typ": "JWT", "alg": "RS256", "x5c": [chain]});
            let encode = |part: &Value| BASE64_URL_SAFE_NO_PAD.encode(part.to_string());
            let signed = format!("{}.{}", encode(&head), encode(&claims));
            let mut signer = Command::new("openssl");
            let signer = signer.args(["dgst", "-sha256", "-sign"]).arg(&key);
            let mut child = signer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(signed.as_bytes()).unwrap();
            let signature = BASE64_URL_SAFE_NO_PAD.encode(child.wait_with_output().unwrap().stdout);
            let field = if request.starts_with("POST ") { "access_token" } else { "token" };
            format!("HTTP/1.1 200 OK\r\n\r\n{}", json!({field: format!("{signed}.{signature}")}))
        });
        Some(Self { server, certificate })
    }

    /// What a registry has to be told of it.
    pub(super) fn settings(&self) -> String {
        let (address, certificate) = (&self.server.address, self.certificate.display());
        format!(
            "auth: {{token: {{realm: 'http://{address}/token', service: registry, issuer: authority, \
             rootcertbundle: {certificate}}}}}"
        )
    }

    /// What it was asked.
    pub(super) fn requests(&self) -> Vec<String> {
        self.server.requests.lock().unwrap().clone()
    }
}

/// A certificate that this machine signed for itself, and its key. `None`, with a word about it, without openssl.
pub(super) fn openssl(place: &Place, constraint: &str) -> Option<(PathBuf, PathBuf)> {
    let (certificate, key) = (place.path("certificate.pem"), place.path("key.pem"));
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=registry"]);
    command.args(["-addext", "subjectAltName=IP:127.0.0.1", "-addext"]);
    command.arg(format!("basicConstraints=critical,{constraint}"));
    let Ok(made) = command.arg("-keyout").arg(&key).arg("-out").arg(&certificate).output() else {
        skip("openssl is not installed");
        return None;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some((certificate, key))
}
