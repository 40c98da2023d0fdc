//! Lucene, which is fetched when somebody asks for it: a library in one file, and a program of ours that uses it.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use sha2::{Digest as _, Sha256};
use thiserror::Error;
use ureq::{
    Agent,
    tls::{RootCerts, TlsConfig},
};

/// The library, by the name that it has everywhere.
pub const LIBRARY: &str = "lucene-core-9.12.1.jar";
/// Where Maven Central has it.
pub const MAVEN_CENTRAL: &str = "https://repo1.maven.org/maven2";
/// What is below the address of any repository of this kind.
const FOLDER: &str = "org/apache/lucene/lucene-core/9.12.1";
/// SHA-256 of the library.
const DIGEST: &str = "8d812e9fa6dbd816808205e6cb4d7ab43a747e379c8cb31a0d6dc91050b3f97a";
/// Nothing longer is taken for it.
const BYTES_MAX: u64 = 16 << 20;
/// As long may it take to come.
const FETCH_MAX: Duration = Duration::from_secs(300);
/// As long may a connection take.
const CONNECT_MAX: Duration = Duration::from_secs(20);

/// The program, in a file that Java compiles.
const PROGRAM: &str = include_str!("../java/LuceneLoad.java");
const PROGRAM_NAME: &str = "LuceneLoad.java";

/// Why it could not be installed.
#[derive(Debug, Error)]
pub enum InstallError {
    /// It could not be fetched.
    #[error(
        "fetch {url}: {source}: give another repository or the file itself with --from, such as one that another \
         machine has fetched"
    )]
    Fetch {
        /// From where.
        url: String,
        /// Why.
        source: Box<ureq::Error>,
    },
    /// It could not be read.
    #[error("read {}: {source}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It could not be written.
    #[error("write {}: {source}", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is something else.
    #[error("{from} is not {LIBRARY}: its SHA-256 is {digest}, and that of the library {DIGEST}")]
    Other {
        /// Where it is from.
        from: String,
        /// What it has.
        digest: String,
    },
}

/// Where the library is to come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// The address of a Maven repository.
    Repository(String),
    /// A file of this machine.
    File(PathBuf),
}

/// Whether an installation is whole, and has the program of this version.
pub fn is_installed(directory: &Path) -> bool {
    let library = fs::read(directory.join(LIBRARY)).is_ok_and(|library| digest(&library) == DIGEST);
    library && fs::read(directory.join(PROGRAM_NAME)).is_ok_and(|program| program == PROGRAM.as_bytes())
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Puts library and program into a directory, which is made.
///
/// # Errors
/// When the library is not to be had, or is another one.
pub fn install(directory: &Path, source: &Source) -> Result<(), InstallError> {
    let (from, library) = match source {
        Source::File(path) => {
            let mut library = Vec::new();
            let read = fs::File::open(path).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut library));
            read.map_err(|source| InstallError::Read { path: path.clone(), source })?;
            (path.display().to_string(), library)
        }
        Source::Repository(address) => {
            let url = format!("{}/{FOLDER}/{LIBRARY}", address.trim_end_matches('/'));
            let library = fetch(&url)?;
            (url, library)
        }
    };
    let digest = digest(&library);
    if digest != DIGEST {
        return Err(InstallError::Other { from, digest });
    }
    fs::create_dir_all(directory).map_err(|source| InstallError::Write { path: directory.to_owned(), source })?;
    for (name, content) in [(LIBRARY, library.as_slice()), (PROGRAM_NAME, PROGRAM.as_bytes())] {
        let (path, unfinished) = (directory.join(name), directory.join(format!("{name}.{}", std::process::id())));
        let written = fs::write(&unfinished, content).and_then(|()| fs::rename(&unfinished, &path));
        written.map_err(|source| {
            // What is not whole is of no use to anybody.
            let _ = fs::remove_file(&unfinished);
            InstallError::Write { path, source }
        })?;
    }
    Ok(())
}

fn fetch(url: &str) -> Result<Vec<u8>, InstallError> {
    let failed = |source| InstallError::Fetch { url: url.to_owned(), source: Box::new(source) };
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    let agent: Agent = Agent::config_builder()
        .tls_config(tls)
        .timeout_connect(Some(CONNECT_MAX))
        .timeout_global(Some(FETCH_MAX))
        .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let answer = agent.get(url).call().map_err(failed)?;
    let mut library = Vec::new();
    let read = answer.into_body().into_reader().take(BYTES_MAX).read_to_end(&mut library);
    read.map_err(|error| failed(ureq::Error::Io(error)))?;
    Ok(library)
}
