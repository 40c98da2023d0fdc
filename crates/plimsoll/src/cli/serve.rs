//! Arguments of `plimsoll serve`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

/// Where the server listens, unless told otherwise.
const ADDRESS: &str = "127.0.0.1:7457";

/// Arguments of `plimsoll serve`.
#[derive(Args, Debug)]
#[command(
    after_help = "The page lists the runs of the history, shows and compares them, and follows runs of the same user on \
                  this machine while they are going on, but those with --no-history. /metrics is for Prometheus. On \
                  127.0.0.1 nobody but people and programs of this machine can ask; any other address needs a token. \
                  Ctrl-C ends it. See docs/serving.md."
)]
pub struct ServeArguments {
    /// Listen here; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = ADDRESS, value_parser = address)]
    pub listen: SocketAddr,
    /// Answer only those who know the token in this file
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Change nothing: no tags, no baselines, no imports, no removals
    #[arg(long)]
    pub read_only: bool,
    /// Show the page in the browser, which with a token has to log in first
    #[arg(long, conflicts_with = "token_file")]
    pub open: bool,
    /// The user's own limits and prices, instead of those in the configuration
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let text = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    text.parse().map_err(|_| "write an address and a port, as in 127.0.0.1:7457 or [::1]:7457".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn no_page_is_opened_that_has_no_token() {
        let read = |text: &str| Cli::try_parse_from(text.split(' '));
        assert!(read("plimsoll serve --open").is_ok() && read("plimsoll serve --token-file t").is_ok());
        let error = read("plimsoll serve --open --token-file t").unwrap_err().to_string();
        assert!(error.contains("--open") && error.contains("cannot be used with"), "{error}");
    }

    #[test]
    fn an_address_has_a_port() {
        assert_eq!(address("localhost:80").unwrap().to_string(), "127.0.0.1:80");
        assert_eq!(address("[::1]:0").unwrap().port(), 0);
        for text in ["127.0.0.1", "7457", ":7457", "example.org:7457", ""] {
            assert!(address(text).unwrap_err().contains("port"), "{text}");
        }
    }
}
