//! `plimsoll serve`: the page with what the history has and what is being measured, for a browser.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use plimsoll_serve::{
    access::Token,
    server::{Server, Settings},
};

use super::{browser, catalog, dialect, history, record_file, run};
use crate::{
    cli::serve::ServeArguments,
    exit::{OutputLost, chain},
    printer::Printer,
    state::State,
    stop,
};

/// Serves until a signal says that it is enough.
pub fn run(arguments: &ServeArguments, state: &State, printer: Printer) -> anyhow::Result<()> {
    let settings = Settings {
        history: history::path(&state.history)?.to_owned(),
        state_directory: state.directory.clone(),
        catalog: catalog::read(arguments.limits.as_deref())?,
        token: arguments.token_file.as_deref().map(read_token).transpose()?,
        read_only: arguments.read_only,
        tool: run::tool(),
        now: || history::now().unwrap_or_default(),
        read_file: Box::new(|name, bytes| record_file::records(name, bytes).map_err(|error| chain(&error))),
    };
    let server = Server::bind(arguments.listen, settings)?;
    let stopper = server.stopper();
    stop::on_first_signal(move || stopper.stop()).context("watch for signals")?;
    let address = format!("http://{}/", server.address());
    printer.answer(format!("{address}\n")).map_err(OutputLost)?;
    if arguments.open {
        browser::open_beside(address, printer);
    }
    Ok(server.run()?)
}

fn read_token(path: &Path) -> anyhow::Result<Token> {
    let text = dialect::read_text(path)?;
    Token::parse(&text).map_err(|error| anyhow!("{}: {error}", path.display()))
}
