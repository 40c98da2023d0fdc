//! `plimsoll presets`: the workloads that have a name, and those of Iometer's configuration files.

use anyhow::{anyhow, bail};
use plimsoll_dialects::iometer;
use plimsoll_report::plan::{self, PresetRow};
use plimsoll_workload::{plan_file::PlanFile, preset, settings::Effort, workload::Workload};
use serde_json::json;

use super::dialect;
use crate::{cli::PresetsArguments, printer::Printer};

/// Lists presets, or shows one as a plan that `--plan` reads.
pub fn presets(arguments: &PresetsArguments, printer: Printer) -> anyhow::Result<String> {
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

/// The workloads of a preset, or of a file of Iometer, with what of it was not taken literally.
pub(super) fn workloads(name: &str, effort: Effort, printer: Printer) -> anyhow::Result<Vec<Workload>> {
    if !name.contains('/') && !name.to_ascii_lowercase().ends_with(".icf") {
        return Ok(preset::find(name)?.workloads(effort));
    }
    let bytes = dialect::read_file(name, iometer::BYTES_MAX)
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
