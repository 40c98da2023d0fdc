//! The server: bound to an address, and running until it is told to stop.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use jiff::Timestamp;
use plimsoll_catalog::catalog::Catalog;
use plimsoll_record::record::{Record, Tool};
use thiserror::Error;
use tokio::sync::{Mutex, Notify, Semaphore};

use super::{
    access::{Access, Token},
    following::Following,
    metrics::Cached,
    routes,
};

/// What is still being written when the server is to stop gets so much time.
const PATIENCE: Duration = Duration::from_secs(5);
/// Connections at a time; further ones wait. Fewer than the files that a process may have open.
const CONNECTIONS_MAX: usize = 256;
/// Who has not said in this time what is asked is not waited for.
const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
/// Between two tries to take a connection when the kernel has none to give.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes records of a file's name and content, or says in a sentence why it cannot.
pub type ReadFile = Box<dyn Fn(&str, &[u8]) -> Result<Vec<Record>, String> + Send + Sync>;

/// What a server needs.
pub struct Settings {
    /// The history, which need not be there yet.
    pub history: PathBuf,
    /// Where runs of this machine have their journals.
    pub state_directory: Option<PathBuf>,
    /// What is known of what is sold.
    pub catalog: Catalog,
    /// What whoever asks has to know.
    pub token: Option<Token>,
    /// Whether nothing may be changed.
    pub read_only: bool,
    /// Which plimsoll this is.
    pub tool: Tool,
    /// The time of day.
    pub now: fn() -> Timestamp,
    /// How files are read that are handed in.
    pub read_file: ReadFile,
}

/// Why there is no server.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Everybody in the network could ask.
    #[error("{0} is reached from other machines: give --token-file FILE, or listen on 127.0.0.1")]
    NeedsToken(SocketAddr),
    /// The address cannot be listened on.
    #[error("listen on {address}: name another with --listen, or port 0 for a free one")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// The kernel lacks something.
    #[error("start the server")]
    Start(#[source] io::Error),
}

/// What all requests use.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) following: Arc<Following>,
    pub(crate) metrics: Cached,
    /// Held by who takes in a file.
    pub(crate) importing: Arc<Mutex<()>>,
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    stop: Arc<Notify>,
}

/// Stops a server.
#[derive(Clone)]
pub struct Stopper(Arc<Notify>);

impl Stopper {
    /// Ends it, now or as soon as it runs.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Server {
    /// Listens on an address. On one that other machines reach, a token is needed.
    pub fn bind(address: SocketAddr, settings: Settings) -> Result<Self, ServeError> {
        if !address.ip().is_loopback() && settings.token.is_none() {
            return Err(ServeError::NeedsToken(address));
        }
        let listen = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let router = router(address, settings).map_err(ServeError::Start)?;
        Ok(Self { listener, address, router, stop: Arc::default() })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.stop))
    }

    /// Answers until it is stopped. Whoever listens to events then is cut off; what is being written is not.
    pub fn run(self) -> Result<(), ServeError> {
        let Self { listener, router, stop, .. } = self;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Start)?;
        let outcome = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            tokio::select! {
                () = answer_all(&listener, router) => {}
                () = stop.notified() => {}
            }
            Ok(())
        });
        runtime.shutdown_timeout(PATIENCE);
        outcome.map_err(ServeError::Start)
    }
}

/// Takes connections, and answers each beside the others.
async fn answer_all(listener: &tokio::net::TcpListener, router: Router) {
    let free = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        // Nobody closes the semaphore.
        let Ok(place) = Arc::clone(&free).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX);
            // Who asks so that it cannot be understood, or goes away, is told nothing.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
}

/// What a server on an address answers.
pub(crate) fn router(address: SocketAddr, mut settings: Settings) -> io::Result<Router> {
    let access = Access::new(address, settings.token.take(), settings.read_only);
    let Settings { state_directory, history, read_only, now, .. } = &settings;
    let following = Following::begin(state_directory.clone(), history.clone(), *read_only, *now)?;
    let shared = Arc::new(Shared { settings, following, metrics: Cached::default(), importing: Arc::default() });
    Ok(routes::router(Arc::new(access), shared))
}
