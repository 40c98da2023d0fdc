//! Arguments of `plimsoll show`.

use clap::Args;

/// Arguments of `plimsoll show`.
#[derive(Args, Debug)]
pub struct ShowArguments {
    /// The run: the beginning of its id, its name, `latest`, or a baseline
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Print the whole record as JSON
    #[arg(long)]
    pub json: bool,
}
