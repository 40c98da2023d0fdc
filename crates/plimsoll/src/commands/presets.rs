//! `plimsoll presets`: the workloads that have a name.

use plimsoll_report::plan::{self, PresetRow};
use plimsoll_workload::{plan_file::PlanFile, preset};
use serde_json::json;

use crate::{cli::PresetsArguments, printer::Printer};

/// Lists presets, or shows one as a plan that `--plan` reads.
pub fn presets(arguments: &PresetsArguments, printer: Printer) -> anyhow::Result<String> {
    let Some(name) = &arguments.name else {
        if arguments.json {
            let list: Vec<_> = preset::PRESETS
                .iter()
                .map(|preset| json!({ "name": preset.name, "about": preset.about, "workloads": preset.workloads() }))
                .collect();
            return Ok(serde_json::to_string_pretty(&list)? + "\n");
        }
        let rows: Vec<_> = preset::PRESETS
            .iter()
            .map(|preset| PresetRow { name: preset.name, about: preset.about, workloads: preset.workloads().len() })
            .collect();
        return Ok(plan::presets(&rows, printer.width()));
    };
    let preset = preset::find(name)?;
    if arguments.json {
        return Ok(serde_json::to_string_pretty(&preset.workloads())? + "\n");
    }
    let plan = PlanFile { workloads: preset.workloads(), ..PlanFile::default() };
    Ok(format!("# {}\n{}", preset.about, toml::to_string(&plan)?))
}
