//! Arguments of `plimsoll import`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `plimsoll import`.
#[derive(Args, Debug)]
#[command(
    after_help = "Any text will do: a report, a log, a blog post, Markdown, comments in a script. Results that are \
                        found are fio's JSON and status lines, diskspd's text reports or parts of them and its XML, \
                        what kubestr, `time` and dd print, rows of a file benchmark, and figures in comments behind \
                        commands."
)]
pub struct ImportArguments {
    /// Texts to look through; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
