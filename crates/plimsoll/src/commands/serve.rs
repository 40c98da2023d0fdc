//! `plimsoll serve`: the page with what the history has and what is being measured, for a browser.

use std::{
    fs,
    io::Read as _,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use anyhow::{Context as _, anyhow};
use plimsoll_history::history::History;
use plimsoll_serve::{
    access::Token,
    server::{Server, Settings},
};
use plimsoll_workload::error_chain::chain;

use super::{browser, catalog, history, record_file, run};
use crate::{cli::serve::ServeArguments, exit::OutputLost, printer::Printer, state::State, stop};

/// As much of a file with a token is read: what is longer is none.
const TOKEN_FILE_MAX: u64 = 4096;

/// Serves until a signal says that it is enough.
pub fn run(arguments: &ServeArguments, state: &State, printer: Printer) -> anyhow::Result<()> {
    let path = history::path(&state.history)?;
    if path.exists() {
        // One that cannot be read is said now, and not to whoever asks later.
        History::read(path)?.count()?;
    }
    let settings = Settings {
        history: path.to_owned(),
        state_directory: state.directory.clone(),
        catalog: catalog::read(arguments.limits.as_deref())?,
        token: arguments.token_file.as_deref().map(|path| read_token(path, printer)).transpose()?,
        read_only: arguments.read_only,
        tool: run::tool(),
        now: || history::now().unwrap_or_default(),
        read_file: Box::new(|name, bytes| record_file::records(name, bytes).map_err(|error| chain(error.as_ref()))),
    };
    let server = Server::bind(arguments.listen, settings)?;
    let stopper = server.stopper();
    stop::on_first_signal(move || stopper.stop()).context("watch for signals")?;
    let address = format!("http://{}/", reached(server.address()));
    printer.answer(format!("{address}\n")).map_err(OutputLost)?;
    if arguments.token_file.is_some() {
        printer.note(format!("in a browser, {address}?token=TOKEN logs in"));
    }
    if arguments.open {
        browser::open_beside(address, printer);
    }
    Ok(server.run()?)
}

/// An address that a browser on this machine can ask for.
fn reached(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn read_token(path: &Path, printer: Printer) -> anyhow::Result<Token> {
    let read = || format!("read the token in {}", path.display());
    let file = fs::File::open(path).with_context(read)?;
    if file.metadata().with_context(read)?.mode() & 0o077 != 0 {
        let path = path.display();
        printer.warning(format!("others on this machine may read the token in {path}: `chmod 600 {path}` keeps it"));
    }
    let mut text = String::new();
    file.take(TOKEN_FILE_MAX).read_to_string(&mut text).with_context(read)?;
    Token::parse(&text).map_err(|error| anyhow!("{}: {error}", path.display()))
}
