//! A way to the API server that can be cut: what a client sees of a network that fails.

use std::{
    io,
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use plimsoll_e2e::place;
use serde_json::{Value, json};

use crate::kubectl::ask;

/// The way. It ends with the test.
pub(crate) struct Way {
    address: SocketAddr,
    connections: Arc<Connections>,
}

#[derive(Default)]
struct Connections {
    is_cut: AtomicBool,
    is_over: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Way {
    /// Opens it, on an address of this machine.
    pub(crate) fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let way = Self { address: listener.local_addr().unwrap(), connections: Arc::default() };
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
    pub(crate) fn config(&self) -> tempfile::NamedTempFile {
        let admin = ask(&["config", "view", "--raw", "--flatten", "--output=json"]).unwrap();
        let mut config: Value = serde_json::from_str(&admin).unwrap();
        config["clusters"][0]["cluster"]["server"] = json!(format!("https://{}", self.address));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), config.to_string()).unwrap();
        file
    }

    /// Ends all connections; new ones end at once.
    pub(crate) fn cut(&self) {
        self.connections.is_cut.store(true, Ordering::SeqCst);
        self.connections.end();
    }

    /// Lets connections through again.
    pub(crate) fn mend(&self) {
        self.connections.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Connections {
    /// Joins a client to the API server, unless the way is cut.
    fn join(&self, client: TcpStream) {
        let mut open = self.open.lock().unwrap();
        if self.is_cut.load(Ordering::SeqCst) {
            return;
        }
        let Ok(server) = TcpStream::connect(place::SERVER) else { return };
        for (from, to) in [(&client, &server), (&server, &client)] {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            thread::spawn(move || {
                // Whichever side ends, the other one learns of it.
                let _ = io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
        open.extend([client, server]);
    }

    fn end(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
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
