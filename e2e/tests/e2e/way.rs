//! A way to the API server on which connections break or go silent, and watches end: what a client sees of a network
//! that fails.

use std::{
    io::{Read as _, Write as _},
    mem,
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::{Value, json};

use crate::kubectl::ask;

/// What a request has in it whose answer goes on until somebody ends it.
const ENDLESS: [&str; 2] = ["watch=true", "follow=true"];

/// The way. It ends with the test.
pub(crate) struct Way {
    address: SocketAddr,
    connections: Arc<Connections>,
}

struct Connections {
    server: String,
    is_cut: AtomicBool,
    is_blocked: AtomicBool,
    /// Whether every other request that makes something is lost.
    loses: AtomicBool,
    made: AtomicUsize,
    is_over: AtomicBool,
    open: Mutex<Vec<Arc<Connection>>>,
}

struct Connection {
    client: TcpStream,
    server: Mutex<TcpStream>,
    /// Whether the last request was of the endless kind.
    is_endless: AtomicBool,
    /// Whether what it should carry is lost, and nobody is told.
    is_silent: AtomicBool,
}

impl Way {
    /// Opens it, on an address of this machine.
    pub(crate) fn open(server: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let connections = Connections {
            server: server.to_owned(),
            is_cut: AtomicBool::new(false),
            is_blocked: AtomicBool::new(false),
            loses: AtomicBool::new(false),
            made: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            open: Mutex::default(),
        };
        let way = Self { address: listener.local_addr().unwrap(), connections: Arc::new(connections) };
        let connections = Arc::clone(&way.connections);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if connections.is_over.load(Ordering::SeqCst) {
                    return;
                }
                connections.join(client);
            }
        });
        way
    }

    /// A kubeconfig of a user who may do everything, and goes this way.
    pub(crate) fn config(&self, scheme: &str) -> tempfile::NamedTempFile {
        let admin = ask(&["config", "view", "--raw", "--flatten", "--output=json"]).unwrap();
        let mut config: Value = serde_json::from_str(&admin).unwrap();
        config["clusters"][0]["cluster"]["server"] = json!(format!("{scheme}://{}", self.address));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), config.to_string()).unwrap();
        file
    }

    /// Breaks all connections; new ones break at once.
    pub(crate) fn cut(&self) {
        self.connections.is_cut.store(true, Ordering::SeqCst);
        self.connections.end();
    }

    /// Has all connections that are open go silent for good, as after the sleep of a laptop; new ones are as ever.
    pub(crate) fn hush(&self) {
        let open = self.connections.open.lock().unwrap();
        open.iter().for_each(|connection| connection.is_silent.store(true, Ordering::SeqCst));
    }

    /// The same, and new ones are silent too.
    pub(crate) fn block(&self) {
        self.connections.is_blocked.store(true, Ordering::SeqCst);
        self.hush();
    }

    /// Breaks the connection of every other request that is to make an object, before the API server hears of it. What
    /// goes this way has to be plain HTTP.
    pub(crate) fn lose_every_other(&self) {
        self.connections.loses.store(true, Ordering::SeqCst);
    }

    /// How many requests were to make an object.
    pub(crate) fn made(&self) -> usize {
        self.connections.made.load(Ordering::SeqCst)
    }

    /// Lets new connections through again.
    pub(crate) fn mend(&self) {
        self.connections.is_cut.store(false, Ordering::SeqCst);
        self.connections.is_blocked.store(false, Ordering::SeqCst);
    }

    /// Ends watches and logs that are followed in good order, as an API server does after some minutes. What goes this
    /// way has to be plain HTTP.
    pub(crate) fn end_watches(&self) {
        let open = self.connections.open.lock().unwrap();
        for connection in open.iter().filter(|connection| connection.is_endless.load(Ordering::SeqCst)) {
            let Ok(server) = TcpStream::connect(&self.connections.server) else { continue };
            let before = mem::replace(&mut *connection.server.lock().unwrap(), server.try_clone().unwrap());
            let _ = before.shutdown(Shutdown::Both);
            // A chunk of no bytes is the last.
            let _ = (&connection.client).write_all(b"0\r\n\r\n");
            Arc::clone(connection).carry_back(server);
        }
    }
}

impl Connections {
    /// Joins a client to the API server, unless the way is cut.
    fn join(self: &Arc<Self>, client: TcpStream) {
        let mut open = self.open.lock().unwrap();
        if self.is_cut.load(Ordering::SeqCst) {
            return;
        }
        let Ok(server) = TcpStream::connect(&self.server) else { return };
        let back = server.try_clone().unwrap();
        let connection = Connection {
            client,
            server: Mutex::new(server),
            is_endless: AtomicBool::new(false),
            is_silent: AtomicBool::new(self.is_blocked.load(Ordering::SeqCst)),
        };
        let connection = Arc::new(connection);
        Arc::clone(&connection).carry(Arc::clone(self));
        Arc::clone(&connection).carry_back(back);
        open.push(connection);
    }

    fn end(&self) {
        for connection in self.open.lock().unwrap().drain(..) {
            connection.end();
        }
    }
}

impl Connection {
    /// Carries what the client says.
    fn carry(self: Arc<Self>, of: Arc<Connections>) {
        thread::spawn(move || {
            let mut buffer = [0; 65536];
            while let Ok(length @ 1..) = (&self.client).read(&mut buffer) {
                let said = String::from_utf8_lossy(&buffer[..length]);
                let request = said.lines().next().unwrap_or_default();
                self.is_endless.store(ENDLESS.iter().any(|word| request.contains(word)), Ordering::SeqCst);
                if self.is_silent.load(Ordering::SeqCst) {
                    continue;
                }
                let is_lost = || of.made.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
                if of.loses.load(Ordering::SeqCst) && request.starts_with("POST ") && is_lost() {
                    break;
                }
                if self.server.lock().unwrap().write_all(&buffer[..length]).is_err() {
                    break;
                }
            }
            self.end();
        });
    }

    /// Carries what the server answers, until it or somebody else ends that.
    fn carry_back(self: Arc<Self>, mut server: TcpStream) {
        let own = server.local_addr().ok();
        thread::spawn(move || {
            let mut buffer = [0; 65536];
            while let Ok(length @ 1..) = server.read(&mut buffer) {
                let is_silent = self.is_silent.load(Ordering::SeqCst);
                if !is_silent && (&self.client).write_all(&buffer[..length]).is_err() {
                    break;
                }
            }
            let is_silent = self.is_silent.load(Ordering::SeqCst);
            if !is_silent && self.server.lock().unwrap().local_addr().ok() == own {
                self.end();
            }
        });
    }

    fn end(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.lock().unwrap().shutdown(Shutdown::Both);
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.connections.is_over.store(true, Ordering::SeqCst);
        self.connections.end();
        // Wakes who waits for the next one.
        let _ = TcpStream::connect(self.address);
    }
}
