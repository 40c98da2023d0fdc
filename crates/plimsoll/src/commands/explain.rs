//! `plimsoll explain`: what people say about numbers, checked against the numbers.

use anyhow::{Context, bail};
use plimsoll_history::location::HistoryLocation;
use plimsoll_record::record::Record;
use plimsoll_report::claims::{Claims, NothingExpected, text};

use super::{compare, dialect};
use crate::{cli::explain::ExplainArguments, exit::Exit, printer::Printer};

/// More than any list of claims has.
const BYTES_MAX: usize = 16 << 20;

/// Judges claims. The answer, and whether a claim that was not to fail does not follow.
pub fn run(
    arguments: &ExplainArguments,
    location: &HistoryLocation,
    printer: Printer,
) -> anyhow::Result<(String, Exit)> {
    let claims = claims(arguments)?;
    let records = compare::resolve(&arguments.runs, location)?;
    let judged = claims.judge(&records.iter().collect::<Vec<&Record>>(), &NothingExpected);
    let answer = if arguments.json {
        serde_json::to_string_pretty(&judged)? + "\n"
    } else {
        text::text(&judged, printer.width())
    };
    let is_failure = arguments.fail && judged.any_does_not_follow();
    Ok((answer, if is_failure { Exit::Failure } else { Exit::Success }))
}

fn claims(arguments: &ExplainArguments) -> anyhow::Result<Claims> {
    let path = &arguments.claims;
    let name = path.to_str().with_context(|| format!("{} is not valid UTF-8", path.display()))?;
    let bytes = dialect::read_file(name, BYTES_MAX)
        .map_err(|error| anyhow::anyhow!("read {name}: {error}"))?
        .with_context(|| format!("there is no file {name}"))?;
    if bytes.len() > BYTES_MAX {
        bail!("{name} is longer than {} MiB: split it", BYTES_MAX >> 20);
    }
    let file = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8: save it as that"))?;
    Claims::read(&file, arguments.thousands.unwrap_or_default()).map_err(|error| anyhow::anyhow!("{name}: {error}"))
}
