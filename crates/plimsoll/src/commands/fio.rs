//! `plimsoll fio`: fio's job files and command lines, done as plimsoll does them and told as fio tells.
//!
//! Programs read what fio prints, and some take any byte on standard error for a failure. So nothing is said there but
//! errors, unless a person watches.

mod latency_target;
mod output;
mod unstarted;
mod watching;

use std::{
    ffi::OsString,
    fs,
    io::{self, IsTerminal},
    ops::ControlFlow,
    path::Path,
    sync::atomic::Ordering,
};

use anyhow::Context;
use jiff::tz::TimeZone;
use plimsoll_dialects::{
    fio::{
        self, Jobs, Surroundings, job_file,
        lowering::{self, Lowered},
        report::{self, Reported, Rest},
        settings::LogName,
        switches::{Question, Switches},
    },
    problem::Problems,
};
use plimsoll_history::location::HistoryLocation;
use plimsoll_io::cpu;
use plimsoll_record::record::{Outcome, Record};
use plimsoll_run::{
    objects::FilesAfter,
    run::{RunRequest, prepare_files},
};
use plimsoll_workload::plan_file::PlanFile;

use self::{
    latency_target::{DepthSearch, LatencyTarget},
    output::Output,
    watching::Watching,
};
use super::{
    dialect, input_file,
    run::{measure, measure_and_show},
    stripe,
};
use crate::{
    cli::SharedArguments,
    environment_variables as environment,
    exit::{Exit, OutputLost},
    printer::Printer,
    progress::Progress,
    saving::{Saved, Saving},
    state::State,
    stop,
};

/// The version that is told where fio's is asked for: of a fio whose output ours is like, so that what reads versions
/// can, and ours.
const VERSION: &str = concat!("fio-3.40-plimsoll-", env!("CARGO_PKG_VERSION"));

/// The arguments for fio, when the program was called by its name, or by `plimsoll fio`.
pub fn arguments(all: &[OsString]) -> Option<&[OsString]> {
    dialect::arguments(all, "fio")
}

/// Does what fio's command line says. The exit code is fio's: 0 or 1, and 128 after an interruption.
pub fn main(arguments: &[OsString], defaults: &SharedArguments) -> Exit {
    let printer = if io::stderr().is_terminal() { Printer::new(defaults.quiet) } else { Printer::for_programs() };
    if let Err(error) = stop::outlive_file_size_limit() {
        printer.warning(format!("a limit on the size of files would end plimsoll at once: {error}"));
    }
    // As fio does; scripts rely on it.
    if let Err(error) = stop::heed_interrupts_in_background() {
        printer.warning(format!("Ctrl-C does not end this run: {error}"));
    }
    run(arguments, defaults, printer).unwrap_or_else(|error| {
        printer.error(&error);
        Exit::Failure
    })
}

fn run(arguments: &[OsString], defaults: &SharedArguments, printer: Printer) -> anyhow::Result<Exit> {
    let words = dialect::words(arguments)?;
    let mut jobs = match translate(&words)? {
        Ok(jobs) => jobs,
        Err(problems) => {
            dialect::tell(&problems, printer);
            return Ok(Exit::Failure);
        }
    };
    let switches = &mut jobs.switches;
    dialect::take_defaults(&mut switches.history, &mut switches.is_without_history, defaults)?;
    let switches = &jobs.switches;
    if let Some(question) = &switches.question {
        printer.answer(answer(question)).map_err(OutputLost)?;
        return Ok(Exit::Success);
    }
    if switches.shows_command {
        let lines = jobs.command_lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        printer.answer(lines).map_err(OutputLost)?;
        return Ok(Exit::Success);
    }
    if switches.is_parse_only {
        return Ok(Exit::Success);
    }
    let lowered = match lowering::lower(&jobs, &dialect::look) {
        Ok(lowered) => lowered,
        Err(problems) => {
            refuse(&jobs, &problems, printer)?;
            return Ok(Exit::Failure);
        }
    };
    if switches.to_plan {
        printer.answer(dialect::plan_text(&lowered.plan, &notes(&jobs, &lowered))?).map_err(OutputLost)?;
        return Ok(Exit::Success);
    }
    let notes = notes(&jobs, &lowered);
    // What is not read by programs is for people, who are told at once what will not be as they may think.
    if switches.formats.normal && !switches.formats.json && !switches.formats.terse {
        notes.iter().for_each(|note| printer.note(format!("note: {note}")));
    }
    tell_and_do(Telling { jobs: &jobs, lowered: &lowered, notes: &notes }, printer)
}

/// Does the jobs and reports them: whatever happens, in the formats that were asked for.
fn tell_and_do(telling: Telling<'_>, printer: Printer) -> anyhow::Result<Exit> {
    let mut output = telling.begin(printer)?;
    let asked = stop::on_report_request().context("listen for signals")?;
    let mut watching = Watching::new(telling, &mut output, asked, printer);
    let done = execute(telling.jobs, telling.lowered, printer, &mut watching);
    let (idle_percents, lost) = (watching.idle_percents, watching.lost);
    let exit = match done {
        Ok(Some((record, saved))) => {
            let mut record = record.of_whole_slots();
            let is_kept = saved.is_some_and(|saved| saved != Saved::Nowhere);
            if saved == Some(Saved::Nowhere) && !telling.jobs.switches.is_without_history {
                record.warnings.push("this record is not in the history, which cannot be written".to_owned());
            }
            let reported = Reported { is_kept, ..telling.reported(&record, None, &idle_percents) };
            output.put(&reported.text())?;
            let failures = reported.failures();
            failures.iter().for_each(|failure| printer.error(&anyhow::anyhow!("{failure}")));
            // A log that cannot be written takes nothing from the report.
            let logged = telling.logs(&record, printer).inspect_err(|error| printer.error(error)).is_ok();
            match record.outcome {
                Outcome::Complete if !logged => Exit::Failure,
                Outcome::Complete if failures.is_empty() => Exit::Success,
                Outcome::Interrupted => Exit::InterruptedFio,
                _ => Exit::Failure,
            }
        }
        Ok(None) => {
            let record = unstarted::record(Outcome::Complete, &[]);
            output.put(&telling.reported(&record, None, &[]).text())?;
            Exit::Success
        }
        Err(error) => {
            let failure = unstarted::failure(&error);
            let error = unstarted::in_options_of_fio(error);
            printer.error(&error);
            let record = unstarted::record(Outcome::Failed, &[format!("{error:#}")]);
            let reported = telling.reported(&record, None, &[]);
            output.put(&Reported { failure: Some(failure), ..reported }.text())?;
            Exit::Failure
        }
    };
    output.finish()?;
    lost.map_or(Ok(exit), Err)
}

/// Reports of jobs that no plan can say.
fn refuse(jobs: &Jobs, problems: &Problems, printer: Printer) -> anyhow::Result<()> {
    dialect::tell(problems, printer);
    if jobs.switches.to_plan {
        return Ok(());
    }
    let lowered = Lowered::default();
    let telling = Telling { jobs, lowered: &lowered, notes: &[] };
    let mut output = telling.begin(printer)?;
    let problems: Vec<String> = problems.0.iter().map(ToString::to_string).collect();
    let record = unstarted::record(Outcome::Failed, &problems);
    let reported = telling.reported(&record, None, &[]);
    output.put(&Reported { failure: Some(unstarted::invalid()), ..reported }.text())?;
    output.finish()
}

/// Reads what was asked, with all that it may refer to.
fn translate(words: &[String]) -> anyhow::Result<Result<Jobs, Problems>> {
    let facts = rustix::system::sysinfo();
    let environment = |name: &str| environment::get(name).and_then(|value| value.into_string().ok());
    let mut read_file = |name: &str| input_file::bytes(name, job_file::BYTES_MAX);
    let mut surroundings = Surroundings {
        environment: &environment,
        page_size_bytes: rustix::param::page_size() as u64,
        memory_mib: (facts.totalram as u64 * u64::from(facts.mem_unit)) >> 20,
        processors: cpu::allowed().context("ask which processors may be used")?.len() as u64,
        read_file: &mut read_file,
    };
    Ok(fio::translate_command_line(words, &mut surroundings))
}

fn answer(question: &Question) -> String {
    match question {
        Question::Version => format!("{VERSION}\n"),
        Question::Help => fio::help::switches(),
        Question::Option(name) => fio::help::option(name.as_deref()),
        Question::Engine(name) => fio::help::engine(name.as_deref()),
    }
}

/// What is not quite as fio does it, each once.
fn notes(jobs: &Jobs, lowered: &Lowered) -> Vec<String> {
    dialect::notes(jobs.notes.iter().chain(&lowered.notes))
}

/// Finds out before the run that a log cannot be written after it.
fn check_logs(jobs: &Jobs) -> anyhow::Result<()> {
    for job in &jobs.jobs {
        let report = &job.settings.report;
        let logs = [&report.bandwidth_log, &report.latency_log, &report.operations_log, &report.histogram_log];
        for log in logs.into_iter().flatten() {
            let prefix = if let LogName::Given(prefix) = log { prefix } else { &job.name };
            let Some(folder) = Path::new(prefix).parent().filter(|folder| *folder != Path::new("")) else { continue };
            if jobs.switches.within.is_some() {
                fs::create_dir_all(folder)
                    .with_context(|| format!("make the directory {} of a log", folder.display()))?;
            }
            if !folder.is_dir() {
                let folder = folder.display();
                anyhow::bail!("{}: the log {prefix} is to be in {folder}, which is no directory: make it", job.place);
            }
        }
    }
    Ok(())
}

/// Does the plan, and tells where its record is, unless that belongs into no history, because it is of nothing that was
/// asked for; `None` when nothing was to be measured.
fn execute(
    jobs: &Jobs,
    lowered: &Lowered,
    printer: Printer,
    progress: &mut dyn Progress,
) -> anyhow::Result<Option<(Record, Option<Saved>)>> {
    let Switches { history, is_without_history, .. } = &jobs.switches;
    let state = dialect::begin(history.as_deref(), *is_without_history, printer)?;
    stripe::check_in_place(&lowered.directories, &state)?;
    for directory in &lowered.directories {
        fs::create_dir_all(directory).with_context(|| format!("make the directory {directory}, which a file is in"))?;
    }
    check_logs(jobs)?;
    if let Some(creation) = &lowered.creation {
        let stop = stop::on_signals().context("listen for signals")?;
        // The run itself says it.
        let silent = Printer::for_programs();
        let prepared = prepare_files(request(creation, lowered, &state, silent)?, &stop);
        if stop.load(Ordering::Relaxed) {
            return Ok(Some((unstarted::record(Outcome::Interrupted, &[]), None)));
        }
        prepared?;
    }
    if lowered.plan.workloads.is_empty() {
        return Ok(None);
    }
    // Whoever has a target has the only cell.
    let job = lowered.cells.first().and_then(|of| jobs.jobs.get(of.job));
    let target = job.and_then(|job| LatencyTarget::of(&job.settings.rate));
    let plan = match target {
        Some(target) => match at_latency(target, lowered, &state, printer)? {
            ControlFlow::Continue(plan) => plan,
            ControlFlow::Break(interrupted) => return Ok(Some((interrupted, None))),
        },
        None => lowered.plan.clone(),
    };
    let saving = Saving::new(&state, None, printer);
    let (record, saved) = measure_and_show(request(&plan, lowered, &state, printer)?, saving, "", printer, progress)?;
    Ok(Some((record, Some(saved))))
}

/// What is to be run for one of the plans.
fn request(plan_file: &PlanFile, lowered: &Lowered, state: &State, printer: Printer) -> anyhow::Result<RunRequest> {
    let files_after = if lowered.keeps_files { FilesAfter::Kept } else { FilesAfter::Removed };
    dialect::request(plan_file, "fio", files_after, state, printer)
}

/// The plan at the depth whose latency stays below the target, or the record of a trial that was interrupted. Trials
/// are not in the history.
fn at_latency(
    target: LatencyTarget,
    lowered: &Lowered,
    state: &State,
    printer: Printer,
) -> anyhow::Result<ControlFlow<Record, PlanFile>> {
    let plan = &lowered.plan;
    let depths = plan.workloads.iter().filter_map(|workload| workload.queue_depth.as_ref()?.values().first().copied());
    let mut search = DepthSearch::new(depths.max().unwrap_or(1));
    let nowhere = State { history: HistoryLocation::None, directory: state.directory.clone() };
    while let Some(depth) = search.next() {
        let mut request = request(&target.trial(plan, depth), lowered, state, Printer::for_programs())?;
        request.files_after = FilesAfter::Kept;
        let (trial, _) = measure(request, Saving::new(&nowhere, None, printer), "", Printer::new(true))?;
        if trial.outcome == Outcome::Interrupted {
            return Ok(ControlFlow::Break(trial));
        }
        search.note(depth, target.is_met(&trial));
    }
    printer.note(target.words(search.found()));
    Ok(ControlFlow::Continue(target.found(plan, search.found().unwrap_or(1))))
}

/// What reports are about.
#[derive(Clone, Copy)]
struct Telling<'a> {
    jobs: &'a Jobs,
    lowered: &'a Lowered,
    notes: &'a [String],
}

impl<'a> Telling<'a> {
    /// Opens what reports go to, and writes what goes before them.
    fn begin(self, printer: Printer) -> anyhow::Result<Output> {
        let mut output = Output::open(&self.jobs.switches, printer)?;
        if self.jobs.switches.formats.normal {
            output.put(&report::header(self.jobs, VERSION))?;
        }
        Ok(output)
    }

    /// A record as fio's reports tell it.
    fn reported(self, record: &'a Record, rest: Option<Rest>, idle_percents: &'a [f64]) -> Reported<'a> {
        let Self { jobs, lowered, notes } = self;
        let ended = record.started + jiff::SignedDuration::from_nanos(record.elapsed_ns as i64);
        Reported {
            jobs,
            record,
            cells: &lowered.cells,
            notes,
            ended: ended.to_zoned(TimeZone::system()),
            version: VERSION,
            process: std::process::id(),
            is_kept: false,
            failure: None,
            rest,
            idle_percents,
        }
    }

    /// Writes the logs that jobs ask for.
    fn logs(self, record: &'a Record, printer: Printer) -> anyhow::Result<()> {
        let logs = self.reported(record, None, &[]).logs();
        logs.notes.iter().for_each(|note| printer.note(format!("note: {note}")));
        for log in &logs.files {
            fs::write(&log.name, &log.text).with_context(|| format!("write the log {}", log.name))?;
        }
        Ok(())
    }
}
