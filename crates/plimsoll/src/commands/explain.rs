//! `plimsoll explain`: what storage should have delivered beside what it did, and what people say about numbers beside
//! the numbers.

use std::path::Path;

use anyhow::{anyhow, bail};
use plimsoll_catalog::catalog::Catalog;
use plimsoll_history::location::HistoryLocation;
use plimsoll_record::record::Record;
use plimsoll_report::{
    claims::{self, Claims, Thousands},
    explanation::{self, Explanation, bought::Known},
    need::{self, Needs},
};
use plimsoll_workload::provisioned::Provisioning;
use serde::Serialize;

use super::{catalog, compare, input_file, volumes::Volumes};
use crate::{
    cli::explain::{ExplainArguments, SaidArguments},
    exit::Exit,
    printer::Printer,
};

/// Explains records, or judges claims. The answer, and whether a claim that was not to fail does not follow.
pub fn run(
    arguments: &ExplainArguments,
    location: &HistoryLocation,
    printer: Printer,
) -> anyhow::Result<(String, Exit)> {
    let claims = arguments.claims.as_ref().map(|path| read_claims(path, arguments.thousands)).transpose()?;
    let catalog = catalog::read(arguments.said.provisioned.limits.as_deref())?;
    let known = known(&arguments.runs, &arguments.said, &catalog, location, printer)?;
    let subjects: Vec<(&Record, &Provisioning)> = known.iter().map(|(record, said)| (record, said)).collect();
    if let Some(claims) = claims {
        let records: Vec<&Record> = subjects.iter().map(|(record, _)| *record).collect();
        let judged = claims.judge(&records, &Known { subjects: &subjects, catalog: &catalog });
        let answer = if arguments.json {
            serde_json::to_string_pretty(&judged)? + "\n"
        } else {
            claims::text::text(&judged, printer.width())
        };
        let is_failure = arguments.fail && judged.any_does_not_follow();
        return Ok((answer, if is_failure { Exit::Failure } else { Exit::Success }));
    }
    let explanation = Explanation::of(&subjects, &catalog)?;
    if !explanation.expects_anything() && arguments.need.is_none() {
        printer.note(
            "nothing is said of what was bought, so that no rate can stand beside it: give --sku, --size and --vm, --limit, \
             --kubernetes FILE, or --context FILE.toml for several targets",
        );
    }
    let needs = arguments.need.as_ref().map(|need| Needs::of(need, &subjects, &catalog));
    let answer = if arguments.json {
        serde_json::to_string_pretty(&Answer { explanation: &explanation, needs: needs.as_ref() })? + "\n"
    } else {
        let needs = needs.as_ref().map(|needs| need::text::text(needs, printer.width()));
        let text = explanation::text::text(&explanation, printer.width());
        let parts = std::iter::once(text).chain(needs).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n")
    };
    let is_failure = arguments.fail && needs.is_some_and(|needs| needs.is_broken());
    Ok((answer, if is_failure { Exit::Failure } else { Exit::Success }))
}

/// The records of runs, each with what is said of what was bought for it.
pub(super) fn known(
    runs: &[String],
    arguments: &SaidArguments,
    catalog: &Catalog,
    location: &HistoryLocation,
    printer: Printer,
) -> anyhow::Result<Vec<(Record, Provisioning)>> {
    let said = said(arguments, runs.len())?;
    let mut known = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let said = &said[index.min(said.len() - 1)];
        known.extend(compare::resolve(run, location)?.into_iter().map(|record| (record, said.clone())));
    }
    if let Some(volumes) = Volumes::read(&arguments.provisioned, catalog)? {
        let records: Vec<&Record> = known.iter().map(|(record, _)| record).collect();
        let flags = arguments.provisioned.provisioned(arguments.limit);
        let of_volumes = volumes.of_records(&records, &flags, printer)?.overridden_by(&flags);
        known.iter_mut().for_each(|(_, said)| *said = of_volumes.clone());
    }
    warn_of_unmatched(&known, printer);
    Ok(known)
}

/// The answer as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    explanation: &'a Explanation,
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<&'a Needs>,
}

/// What is said of a target that no result has is a slip.
fn warn_of_unmatched(known: &[(Record, Provisioning)], printer: Printer) {
    let mut unmatched: Vec<&String> = known.iter().flat_map(|(_, said)| said.targets.keys()).collect();
    for (record, _) in known {
        let occurs = |name: &str| {
            let is_in = |text: &str| !name.is_empty() && text.contains(name);
            record.cells.iter().any(|cell| is_in(&cell.target) || is_in(&cell.workload))
        };
        unmatched.retain(|name| !occurs(name));
    }
    unmatched.sort_unstable();
    unmatched.dedup();
    for name in unmatched {
        printer.warning(format!("[targets.\"{name}\"] occurs in no target or workload: it is left aside"));
    }
}

/// What is said of what was bought, for all runs or for each: flags before the file of context.
fn said(arguments: &SaidArguments, runs: usize) -> anyhow::Result<Vec<Provisioning>> {
    let mut contexts: Vec<Provisioning> =
        arguments.context.iter().map(|path| read_context(path)).collect::<Result<_, _>>()?;
    if contexts.len() > 1 && contexts.len() != runs {
        bail!(
            "--context is given {} times for {runs} runs: give it once for all, or once for each in their order",
            contexts.len()
        );
    }
    if contexts.is_empty() {
        contexts.push(Provisioning::default());
    }
    let flags = arguments.provisioned.provisioned(arguments.limit);
    Ok(contexts.into_iter().map(|context| context.overridden_by(&flags)).collect())
}

fn read_context(path: &Path) -> anyhow::Result<Provisioning> {
    let text = input_file::text(path)?;
    toml::from_str(&text).map_err(|error| anyhow!("context {}: {error}", path.display()))
}

/// The claims of a file.
pub(super) fn read_claims(path: &Path, thousands: Option<Thousands>) -> anyhow::Result<Claims> {
    let text = input_file::text(path)?;
    Claims::read(&text, thousands.unwrap_or_default()).map_err(|error| anyhow!("{}: {error}", path.display()))
}
