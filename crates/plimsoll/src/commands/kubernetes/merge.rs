//! `plimsoll kubernetes merge`: a run from logs of its pods.

use std::{fs::File, io::BufReader};

use anyhow::Context;
use plimsoll_kubernetes::{
    merging::{self, Log},
    run::{Finished, Told},
};

use super::following::followed;
use crate::{cli::kubernetes::MergeArguments, exit::Exit, printer::Printer, state::State};

/// Reads logs, saves the record that they are, and prints it.
pub(super) fn merge(arguments: &MergeArguments, state: &State, printer: Printer) -> anyhow::Result<Exit> {
    let mut logs = Vec::new();
    for path in &arguments.logs {
        let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        logs.push(Log { name, lines: Box::new(BufReader::new(file)) });
    }
    followed(arguments.json, None, state, printer, |tell| {
        let merged = merging::merge(logs, &mut |event| tell(Told::Event(event)))?;
        merged.warnings.into_iter().for_each(|warning| tell(Told::Warning(warning)));
        Ok(Finished { record: merged.record, error: merged.error, leftovers: Vec::new() })
    })
}
