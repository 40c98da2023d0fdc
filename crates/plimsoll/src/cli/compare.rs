//! Arguments of `plimsoll compare`.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use plimsoll_report::comparison::{Aspect, Expectation};
use plimsoll_workload::certainty::Precision;

/// Arguments of `plimsoll compare`.
#[derive(Args, Debug)]
#[command(
    after_help = "One run with several targets is compared with itself: its targets are the sides. Ratios say how much the \
                  other sides have of what the first one has; each interval holds with 95 %. Exit code 1 means that an \
                  expectation of --fail-if is broken for certain; what could not be judged breaks nothing, and is warned of."
)]
pub struct CompareArguments {
    /// The runs: files with a record, beginnings of ids, names, `latest`, or baselines; the first is the
    /// reference
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Compare with this baseline; without RUN the latest run
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Compare with this side instead of the first: its letter, the beginning of its id, its name or its target
    #[arg(long, value_name = "SIDE")]
    pub reference: Option<String>,
    /// End with exit code 1 when a number has surely changed by more: p99>+10%,iops<-5%
    ///
    /// The numbers are iops, throughput, p50, p99, p99.9 and elapsed. Surely means that the whole interval
    /// lies beyond, and not by chance among all numbers that are judged, or that nothing completes any more. What
    /// cannot be judged, as a cell that was not run, is a warning.
    #[arg(long, value_name = "CHANGE", value_delimiter = ',')]
    pub fail_if: Vec<Expectation>,
    /// Differences below this share do not matter [default: 2%]
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    pub margin: Option<f64>,
    /// Compare although plans differ in this; it is listed with what else differs
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = aspects())]
    pub despite: Vec<Aspect>,
    /// Write JUnit XML to this file, replacing what it has: a test for each expectation and cell
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print Markdown
    #[arg(long)]
    pub markdown: bool,
}

/// A margin has the bounds of a precision, and its own name in the error.
fn margin(text: &str) -> Result<f64, String> {
    let margin = text.parse::<Precision>().map(Precision::get);
    margin.map_err(|_| format!("\"{text}\" is not a margin: write a percentage from 0.1% to 50%, as in 2%"))
}

/// A parser for aspects, so that help and completion list the words.
pub(super) fn aspects() -> impl TypedValueParser<Value = Aspect> {
    PossibleValuesParser::new(Aspect::ALL.map(Aspect::word)).try_map(|word| word.parse::<Aspect>())
}
