//! `plimsoll catalog`: what products and machines are said to deliver.

use std::path::Path;

use anyhow::{Context, bail};
use plimsoll_catalog::{
    catalog::Catalog,
    ceiling::Load,
    expectation::Expectation,
    limits_file::LimitsFile,
    listing::{self, Kind},
};
use plimsoll_report::catalog as report;
use serde_json::json;

use super::{input_file, volumes::Volumes};
use crate::{
    cli::catalog::{CatalogArguments, CatalogCommand, ExpectArguments},
    environment_variables,
    printer::Printer,
};

/// Does `plimsoll catalog`.
pub fn run(arguments: &CatalogArguments, printer: Printer) -> anyhow::Result<String> {
    match &arguments.command {
        CatalogCommand::List { word, limits, json } => list(word, limits.as_deref(), *json, printer),
        CatalogCommand::Show { name, limits, json } => {
            let shown = listing::show(&read(limits.as_deref())?, name)?;
            if *json { lines(&shown) } else { Ok(report::show(&shown, printer.width())) }
        }
        CatalogCommand::Expect(arguments) => expect(arguments, printer),
    }
}

fn list(word: &str, limits: Option<&Path>, json: bool, printer: Printer) -> anyhow::Result<String> {
    let catalog = read(limits)?;
    let entries = listing::list(&catalog, word);
    if json {
        return lines(&entries);
    }
    if entries.is_empty() {
        bail!(
            "no entry of the catalog has \"{word}\" in its name or description: `plimsoll catalog list` shows products"
        );
    }
    let mut text = report::list(&entries, printer.width());
    if word.trim().is_empty() {
        let [sizes, machines, classes] =
            [Kind::Size, Kind::Machine, Kind::StorageClass].map(|kind| listing::count(&catalog, kind));
        text += &report::more(sizes, machines, classes, printer.width());
    }
    Ok(text)
}

fn expect(arguments: &ExpectArguments, printer: Printer) -> anyhow::Result<String> {
    let ExpectArguments { provisioned, limit, block_size, read_percent, sequential, json } = arguments;
    let catalog = read(provisioned.limits.as_deref())?;
    let said = provisioned.provisioned(*limit);
    let volumes = Volumes::read(provisioned, &catalog)?;
    let volume = volumes.map(|volumes| volumes.one(&said, printer)).transpose()?;
    let provisioned = said.or(&volume.unwrap_or_default());
    let Some(expectation) = Expectation::of(&provisioned, &catalog)? else {
        bail!("nothing is said of what was bought: give --sku, --vm or --limit, as in --sku Premium_LRS --size 1Ti");
    };
    if block_size.0 == 0 {
        bail!("--block-size 0 transfers nothing: choose 1 or more");
    }
    let load = Load {
        read_share: f64::from(read_percent.get()) / 100.0,
        operation_bytes: block_size.0 as f64,
        is_sequential: *sequential,
    };
    if *json {
        let parts: Vec<_> = expectation
            .parts
            .iter()
            .map(|part| {
                json!({
                    "part": part.part,
                    "name": part.name,
                    "limit": part.limits.of(load),
                    "tolerance": part.tolerance,
                    "sources": part.sources,
                    "notes": part.notes,
                })
            })
            .collect();
        let cache = expectation.host_cache.as_ref().map(|cache| {
            json!({ "caching": cache.caching, "hits": cache.hits, "size_gib": cache.size_gib, "source": cache.source })
        });
        return lines(&json!({
            "provisioned": provisioned,
            "expected": expectation.for_load(load),
            "parts": parts,
            "host_cache": cache,
            "notes": expectation.notes,
        }));
    }
    Ok(report::expectation(&expectation, load, printer.width()))
}

fn lines(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// The catalog, with the entries of a file of one's own: the one that is named, or the user's where there is one.
pub(super) fn read(file: Option<&Path>) -> anyhow::Result<Catalog> {
    of(own_limits(file)?.as_ref())
}

/// The same of the name and the text of the file.
pub(super) fn of(own_limits: Option<&(String, String)>) -> anyhow::Result<Catalog> {
    own_limits.map_or_else(|| Ok(Catalog::default()), |(name, text)| with_limits(name, text))
}

/// The catalog with the entries of a file of limits.
pub(super) fn with_limits(name: &str, text: &str) -> anyhow::Result<Catalog> {
    Ok(Catalog::with(LimitsFile::parse(name, text)?))
}

/// The file of limits that is named, or the user's where there is one: its name and its text.
pub(super) fn own_limits(file: Option<&Path>) -> anyhow::Result<Option<(String, String)>> {
    let own = environment_variables::limits_file();
    let Some(path) = file.or_else(|| own.as_deref().filter(|path| path.exists())) else {
        return Ok(None);
    };
    let name = path.display().to_string();
    let text = input_file::text(path).context("read the limits")?;
    Ok(Some((name, text)))
}
