//! Arguments of `plimsoll explain`.

use std::path::PathBuf;

use clap::Args;
use plimsoll_report::claims::Thousands;

/// Arguments of `plimsoll explain`.
#[derive(Args, Debug)]
#[command(
    after_help = "Each claim follows, follows but for rounding, does not follow, or has no data, by rules that look at the \
                  numbers alone; the recomputation stands beside it. docs/claims.md has the language of claims."
)]
pub struct ExplainArguments {
    /// The runs: beginnings of ids, names or `latest`; files with records, or whatever `import` reads
    #[arg(required = true, value_name = "RUN|FILE")]
    pub runs: Vec<String>,
    /// The claims: comma-separated values with a header, of which `claim` is a column; - is standard input
    ///
    /// Other columns may be `id`; `check`, a statement that is evaluated instead of the wording; and `thousands`, what
    /// stands between thousands in the numbers of a claim.
    #[arg(long, required = true, value_name = "FILE")]
    pub claims: PathBuf,
    /// What stands between thousands in numbers of claims: point, comma, blank or none
    ///
    /// By default a comma before three digits does, and a point never: 1.984 is less than two. The sign itself will do
    /// as well.
    #[arg(long, value_name = "SIGN", allow_hyphen_values = true)]
    pub thousands: Option<Thousands>,
    /// End with exit code 1 when a claim does not follow
    #[arg(long)]
    pub fail: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
