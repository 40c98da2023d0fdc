//! `cargo xtask codegen`: documents that are generated from code. `--check` fails when one is stale.
//!
//! A further document is one more row in [`documents`].

use std::fs;

use anyhow::{Context as _, bail};
use plimsoll_record::{numbers, record::Record};
use plimsoll_report::document::Document as Report;
use plimsoll_workload::plan_file::PlanFile;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail when a document differs from what would be written.
    #[arg(long)]
    pub(crate) check: bool,
}

/// A generated file: where it is, and what it should contain.
struct Document {
    path: &'static str,
    text: String,
}

fn documents() -> anyhow::Result<Vec<Document>> {
    Ok(vec![
        Document { path: "docs/diskspd.md", text: plimsoll_dialects::diskspd::reference::page() },
        Document { path: "docs/fio.md", text: plimsoll_dialects::fio::reference::page() },
        Document { path: "docs/schema/plan-1.json", text: schema::<PlanFile>("A plimsoll plan file, in TOML")? },
        Document { path: "docs/schema/record-1.json", text: schema::<Record>("The record of a plimsoll run")? },
        Document { path: "docs/schema/report-1.json", text: written_schema::<Report>("Report")? },
        Document { path: "ui/src/numbers.golden.json", text: numbers_as_text()? },
    ])
}

/// The JSON Schema of a type, as a text that ends with a line break.
fn schema<T: JsonSchema>(title: &str) -> anyhow::Result<String> {
    text(schemars::schema_for!(T), title)
}

/// The same of a type that is only ever written.
fn written_schema<T: JsonSchema>(title: &str) -> anyhow::Result<String> {
    text(SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<T>(), title)
}

fn text(mut schema: Schema, title: &str) -> anyhow::Result<String> {
    schema.insert("title".into(), title.into());
    let mut text = serde_json::to_string_pretty(&schema).context("write a schema as JSON")?;
    text.push('\n');
    Ok(text)
}

/// What numbers look like as text, for the page to look the same: `[what, number, text]`, one a line.
fn numbers_as_text() -> anyhow::Result<String> {
    const VALUES: [f64; 24] = [
        0.0,
        0.04,
        0.5,
        0.9995,
        1.0,
        7.664,
        12.34,
        99.95,
        121.8,
        999.5,
        1_000.0,
        1_838.0,
        7_664.0,
        9_999.5,
        12_345.0,
        55_287.0,
        99_950.0,
        250_000.0,
        999_500.0,
        1_234_567.0,
        61_000_000.0,
        987_654_321.0,
        3_600e9,
        8.7e13,
    ];
    type Format = fn(f64) -> String;
    let kinds: [(&str, Format); 7] = [
        ("iops", numbers::iops),
        ("throughput", numbers::throughput),
        ("latency", numbers::latency_in_text),
        ("bytes", |value| numbers::bytes(value as u64)),
        ("clock", |value| numbers::clock(value as u64)),
        ("count", |value| numbers::count(value as u64)),
        ("percent", |value| numbers::percent(value / 1e3)),
    ];
    let mut rows = Vec::new();
    for (kind, text) in kinds {
        for value in VALUES {
            rows.push(serde_json::to_string(&(kind, value, text(value))).context("write numbers as JSON")?);
        }
    }
    Ok(format!("[\n{}\n]\n", rows.join(",\n")))
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for document in documents()? {
        let path = crate::repository().join(document.path);
        if fs::read_to_string(&path).is_ok_and(|found| found == document.text) {
            continue;
        }
        stale.push(document.path);
        if !arguments.check {
            let folder = path.parent().expect("a document stands in a folder");
            fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
            fs::write(&path, document.text).with_context(|| format!("write {}", path.display()))?;
            println!("codegen: wrote {}", document.path);
        }
    }
    if arguments.check && !stale.is_empty() {
        bail!("stale: {}; run cargo xtask codegen and commit the result", stale.join(", "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_describe_the_fields_that_users_write_and_read() {
        let documents = documents().unwrap();
        let text = |end: &str| &documents.iter().find(|document| document.path.ends_with(end)).unwrap().text;
        for field in ["\"targets\"", "\"workload\"", "\"block_size\"", "\"read_percent\""] {
            assert!(text("plan-1.json").contains(field), "{field}");
        }
        for field in ["\"cells\"", "\"latency_ns\"", "\"verdict\"", "\"p99_9\""] {
            assert!(text("record-1.json").contains(field), "{field}");
        }
    }
}
