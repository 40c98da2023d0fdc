//! `cargo xtask codegen`: documents that are generated from code. `--check` fails when one is stale.
//!
//! A further document is one more row in [`documents`].

use std::fs;

use anyhow::{Context as _, bail};
use plimsoll_record::record::Record;
use plimsoll_workload::plan_file::PlanFile;
use schemars::JsonSchema;

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
    ])
}

/// The JSON Schema of a type, as a text that ends with a line break.
fn schema<T: JsonSchema>(title: &str) -> anyhow::Result<String> {
    let mut schema = schemars::schema_for!(T);
    schema.insert("title".into(), title.into());
    let mut text = serde_json::to_string_pretty(&schema).context("write a schema as JSON")?;
    text.push('\n');
    Ok(text)
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
