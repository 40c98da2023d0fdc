//! Arguments of `plimsoll explain`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use plimsoll_report::claims::Thousands;
use plimsoll_workload::{limit::Limit, need::Need};

use super::provisioned::ProvisionedArguments;

const CLAIMS: &str = "Claims";

/// What is said of what was bought for runs that there are.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = super::provisioned::PROVISIONED)]
pub struct SaidArguments {
    /// Read from this file (TOML) what was bought: for all in [defaults], for one target in [targets."NAME"]
    ///
    /// Given several times, each file is about one of the runs, in their order.
    /// A name stands for the target that has it; or else for all results whose target or workload it occurs in, the
    /// longest first. Flags come before the file, and the file before what was said with a run.
    #[arg(long, value_name = "FILE", conflicts_with = "kubernetes")]
    pub context: Vec<PathBuf>,
    /// What was bought.
    #[command(flatten)]
    pub provisioned: ProvisionedArguments,
    /// What the storage is said to deliver, instead of what the catalog says: iops=3000,bandwidth=100MB
    #[arg(long, value_name = "LIMIT")]
    pub limit: Option<Limit>,
}

/// Arguments of `plimsoll explain`.
#[derive(Args, Debug)]
#[command(
    after_help = "Without --claims, each rate stands beside what was bought, with the reasons for it. With --claims, each \
                  claim follows, follows but for rounding, does not follow, or has no data, by rules that look at the \
                  numbers alone; docs/claims.md has the language of claims."
)]
#[command(group(ArgGroup::new("judged").args(["claims", "need"])))]
#[command(mut_arg("disk_size", |argument| argument.long("size").alias("disk-size")))]
#[command(mut_arg("provisioned_iops", |argument| argument.long("iops").alias("provisioned-iops")))]
#[command(mut_arg("provisioned_bandwidth", |argument| argument.long("bandwidth").alias("provisioned-bandwidth")))]
#[command(mut_args(|argument| argument.hide_short_help(false)))]
pub struct ExplainArguments {
    /// The runs: beginnings of ids, names or `latest`; files with records, or whatever `import` reads
    #[arg(value_name = "RUN|FILE", default_value = "latest")]
    pub runs: Vec<String>,
    /// What was bought.
    #[command(flatten)]
    pub said: SaidArguments,
    /// What is needed: iops=3000,latency_p99=5ms,bandwidth=200MB,size=1Ti; the answer ends with whether it is there
    ///
    /// As `plimsoll run --need`: whether each target has it, and what is sold that has it, with prices of limits.toml.
    #[arg(long, value_name = "NEED", help_heading = super::provisioned::PROVISIONED)]
    pub need: Option<Need>,
    /// The claims: comma-separated values with a header, of which `claim` is a column; - is standard input
    ///
    /// Other columns may be `id`; `check`, a statement that is evaluated instead of the wording; and `thousands`, what
    /// stands between thousands in the numbers of a claim.
    #[arg(long, value_name = "FILE", help_heading = CLAIMS)]
    pub claims: Option<PathBuf>,
    /// What stands between thousands in numbers of claims: point, comma, blank or none
    ///
    /// By default a comma before three digits does, and a point never: 1.984 is less than two. The sign itself will do
    /// as well.
    #[arg(long, value_name = "SIGN", allow_hyphen_values = true, requires = "claims", help_heading = CLAIMS)]
    pub thousands: Option<Thousands>,
    /// End with exit code 1 when a claim does not follow, or when it is certain that a need is not met
    #[arg(long, requires = "judged", help_heading = CLAIMS)]
    pub fail: bool,
    /// Print JSON
    #[arg(long, help_heading = super::run::OUTPUT)]
    pub json: bool,
}
