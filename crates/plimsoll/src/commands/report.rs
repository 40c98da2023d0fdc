//! `plimsoll report`: runs as a page that can be sent, and in the forms that other programs read.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use plimsoll_history::{export, location::HistoryLocation};
use plimsoll_record::{numbers, record::Record};
use plimsoll_report::{
    comparison::Wishes,
    document::{Contents, Document, junit, markdown},
};
use plimsoll_workload::provisioned::Provisioning;

use super::{browser, catalog, explain, history, output_file};
use crate::{
    cli::report::{ReportArguments, ReportFormat},
    printer::Printer,
};

/// Writes a report. The answer says where it is, or is the report.
pub fn run(arguments: &ReportArguments, location: &HistoryLocation, printer: Printer) -> anyhow::Result<String> {
    let form = arguments.form().map_err(|reason| anyhow!(reason))?;
    let is_answer = arguments.output == Path::new("-");
    if arguments.open && (is_answer || form != ReportFormat::Html) {
        bail!("--open shows an HTML page: name a file that ends with .html");
    }
    let claims = arguments.claims.as_ref().map(|path| explain::read_claims(path, arguments.thousands)).transpose()?;
    let catalog = catalog::read(arguments.said.provisioned.limits.as_deref())?;
    let mut known = explain::known(&arguments.runs, &arguments.said, &catalog, location, printer)?;
    known.iter_mut().for_each(|(record, _)| forget_directory(record));
    let subjects: Vec<(&Record, &Provisioning)> = known.iter().map(|(record, said)| (record, said)).collect();
    let wishes =
        Wishes { reference: arguments.reference.clone(), despite: arguments.despite.clone(), ..Wishes::default() };
    // Records in files are reported where there is no history as well.
    let baselines = history::read(location).and_then(|history| Ok(history.baselines()?)).unwrap_or_default();
    let baselines: Vec<_> = baselines.into_iter().map(|baseline| (baseline.name, baseline.run)).collect();
    let document = Document::of(Contents {
        title: arguments.title.clone(),
        subjects: &subjects,
        wishes,
        catalog: &catalog,
        claims: claims.as_ref(),
        baselines: &baselines,
        created: history::now()?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })?;
    let records: Vec<&Record> = subjects.iter().map(|(record, _)| *record).collect();
    let text = text(form, document, &records)?;
    if is_answer {
        return Ok(text);
    }
    let path = &arguments.output;
    output_file::write(path, arguments.force, &read(arguments, location), |file| Ok(file.write_all(text.as_bytes())?))
        .with_context(|| format!("write {}", path.display()))?;
    if arguments.open {
        browser::open(path.as_os_str(), printer);
    }
    let runs = if records.len() == 1 { "1 run".to_owned() } else { format!("{} runs", records.len()) };
    Ok(format!("{}: {runs}, {}\n", path.display(), numbers::bytes(text.len() as u64)))
}

/// Where a file was that was imported is no business of whoever is sent a report: its name is what it is called, and
/// its results that name no target.
fn forget_directory(record: &mut Record) {
    let Some(import) = &mut record.import else { return };
    let name = import.file.rsplit('/').next().unwrap_or_default().to_owned();
    let whole = std::mem::replace(&mut import.file, name.clone());
    for cell in record.cells.iter_mut().filter(|cell| cell.target == whole) {
        cell.target.clone_from(&name);
    }
}

/// The files that it is made from; some runs are none.
fn read<'a>(arguments: &'a ReportArguments, location: &'a HistoryLocation) -> Vec<&'a Path> {
    let said = &arguments.said;
    let history = match location {
        HistoryLocation::File(path) => Some(path),
        HistoryLocation::None => None,
    };
    let bought = said.provisioned.limits.iter().chain(&said.provisioned.kubernetes);
    let files = said.context.iter().chain(bought).chain(&arguments.claims).chain(history);
    let runs = arguments.runs.iter().map(Path::new);
    runs.chain(files.map(PathBuf::as_path)).collect()
}

/// The report in a form.
fn text(form: ReportFormat, document: Document, records: &[&Record]) -> anyhow::Result<String> {
    Ok(match form {
        ReportFormat::Html => page(document, records)?,
        ReportFormat::Md => markdown::report(&document, records),
        ReportFormat::Csv => export::csv(records)?,
        ReportFormat::Json => document.json_in_lines()? + "\n",
        ReportFormat::Xml => junit::report(&document, records),
    })
}

/// Bytes of a page, as far as that can be: what mail and issues take.
const PAGE_BYTES_MAX: usize = 2_000_000;

/// The page, with as much in it as can be sent.
fn page(document: Document, records: &[&Record]) -> anyhow::Result<String> {
    // Whatever stands in the page beside the data is part of what is sent.
    let document = document.for_page(records, usize::MAX);
    let text = markdown::without_scripts(&document, records);
    let beside = plimsoll_page::report("", &document.title, &text)?.len();
    let document = document.for_page(records, PAGE_BYTES_MAX.saturating_sub(beside));
    Ok(plimsoll_page::report(&document.json()?, &document.title, &text)?)
}
