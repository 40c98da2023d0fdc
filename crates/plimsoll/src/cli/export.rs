//! Arguments of `plimsoll export`.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use plimsoll_history::export::Format;

/// Arguments of `plimsoll export`.
#[derive(Args, Debug)]
pub struct ExportArguments {
    /// The runs: beginnings of their ids, names, `latest`, or baselines; without any, all runs of the history
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// The form: whole records (json, ndjson), a row for each cell (csv), for each set of files with the columns of
    /// exp-k8s-iospeed (files), or for each iteration of a command (iterations)
    #[arg(
        long,
        default_value_t = Format::Json,
        value_parser = PossibleValuesParser::new(Format::WORDS).try_map(|word| word.parse::<Format>())
    )]
    pub format: Format,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file when it exists
    #[arg(long, requires = "output")]
    pub force: bool,
}
