//! `plimsoll presets`: the workloads that have a name, and those of Iometer's configuration files.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow, bail};
use plimsoll_dialects::iometer;
use plimsoll_programs::lucene::{self, Source};
use plimsoll_report::plan::{self, PresetRow};
use plimsoll_workload::{plan_file::PlanFile, preset, settings::Effort, workload::Workload};
use serde_json::json;

use super::input_file;
use crate::{
    cli::presets::{PresetsAction, PresetsArguments},
    environment_variables,
    printer::Printer,
};

/// The one preset that needs something that no package has.
const LUCENE: &str = "lucene";

/// Lists presets, or shows one as a plan that `--plan` reads.
pub fn presets(arguments: &PresetsArguments, printer: Printer) -> anyhow::Result<String> {
    if let Some(action) = &arguments.action {
        return installation(action);
    }
    let effort = arguments.effort.unwrap_or(Effort::Standard);
    let Some(name) = &arguments.name else {
        if arguments.json {
            let list: Vec<_> = preset::PRESETS
                .iter()
                .map(|preset| json!({ "name": preset.name, "about": preset.about, "workloads": preset.workloads(effort) }))
                .collect();
            return Ok(serde_json::to_string_pretty(&list)? + "\n");
        }
        let rows: Vec<_> = preset::PRESETS
            .iter()
            .map(|preset| PresetRow { name: preset.name, about: preset.about, cells: preset.cells() })
            .collect();
        return Ok(plan::presets(&rows, printer.width()));
    };
    let workloads = workloads(name, effort, printer)?;
    if arguments.json {
        return Ok(serde_json::to_string_pretty(&workloads)? + "\n");
    }
    let about = preset::find(name)
        .map_or_else(|_| format!("access specifications of {name}"), |preset| preset.about.to_owned());
    let plan = PlanFile { workloads, ..PlanFile::default() };
    Ok(format!("# {about}\n{}", toml::to_string(&plan)?))
}

/// Fetches what a preset needs, or says where it is.
fn installation(action: &PresetsAction) -> anyhow::Result<String> {
    let (PresetsAction::Install { preset, .. } | PresetsAction::Path { preset }) = action;
    if preset::find(preset)?.name != LUCENE {
        bail!("{preset} needs nothing that has to be fetched: {LUCENE} does");
    }
    let programs = environment_variables::programs_directory();
    let directory = programs.context("there is no place for programs: set HOME or XDG_DATA_HOME")?.join(LUCENE);
    match action {
        PresetsAction::Install { from, .. } => {
            lucene::install(&directory, &source(from.as_deref()))?;
            Ok(format!("installed {} in {}\n", lucene::LIBRARY, directory.display()))
        }
        PresetsAction::Path { .. } if lucene::is_installed(&directory) => Ok(format!("{}\n", directory.display())),
        PresetsAction::Path { .. } => {
            bail!("Lucene is missing: fetch it from Maven Central with \"plimsoll presets install {LUCENE}\"")
        }
    }
}

/// What has a scheme is an address.
fn source(from: Option<&str>) -> Source {
    match from {
        None => Source::Repository(lucene::MAVEN_CENTRAL.to_owned()),
        Some(address) if address.contains("://") => Source::Repository(address.to_owned()),
        Some(file) => Source::File(PathBuf::from(file)),
    }
}

/// The workloads of a preset, or of a file of Iometer, with what of it was not taken literally.
pub(super) fn workloads(name: &str, effort: Effort, printer: Printer) -> anyhow::Result<Vec<Workload>> {
    if !name.contains('/') && !name.to_ascii_lowercase().ends_with(".icf") {
        return Ok(preset::find(name)?.workloads(effort));
    }
    let bytes = input_file::bytes(name, iometer::BYTES_MAX)
        .map_err(|error| anyhow!("read {name}: {error}"))?
        .ok_or_else(|| anyhow!("there is no file {name}"))?;
    if bytes.len() > iometer::BYTES_MAX {
        bail!("{name} is longer than {} MiB, and no configuration of Iometer", iometer::BYTES_MAX >> 20);
    }
    let translation = iometer::translate(name, &String::from_utf8_lossy(&bytes))?;
    for note in translation.notes {
        printer.warning(note.to_string());
    }
    Ok(translation.workloads)
}
