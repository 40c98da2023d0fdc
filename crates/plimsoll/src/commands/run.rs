//! `plimsoll run`: measure, save, show.

use std::{
    mem,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use jiff::Timestamp;
use plimsoll_catalog::{catalog::Catalog, expectation};
use plimsoll_io::{cpu, mounts};
use plimsoll_record::{
    event::{RunEvent, RunStarted},
    record::{Asked, Outcome, Record, Tool},
};
use plimsoll_report::{self as report, need::Needs};
use plimsoll_run::{
    machine::{
        Pod,
        cloud::{self, ServiceAddress},
    },
    objects::FilesAfter,
    run::{RunRequest, run as run_plan},
};
use plimsoll_workload::{
    certainty::Certainty,
    need::Need,
    pinning::Pinning,
    plan::{BlockPlan, Plan, PlanError, said_of_all},
    plan_file::PlanFile,
    preset,
    provisioned::Provisioning,
    settings::{Effort, EngineChoice, Layout, SyncMode},
    target_facts::{TargetFacts, TargetKind},
    workload::Workload,
};
use uuid::Uuid;

use super::{
    catalog, input_file,
    place::{self, Place, Said},
    presets, resume, slips,
    stripe::{self, OfDisks},
    volumes::Volumes,
};
use crate::{
    cli::run::RunArguments,
    environment_variables as environment,
    exit::{Exit, OutputLost},
    printer::Printer,
    progress::{self, Progress},
    saving::{Saved, Saving},
    state::State,
    stop,
};

/// Does `plimsoll run`.
pub fn run(arguments: &RunArguments, state: &State, printer: Printer) -> anyhow::Result<Exit> {
    // Once, before anything is measured: who changes the file meanwhile loses no answer.
    let catalog = catalog::read(arguments.provisioned.limits.as_deref())?;
    let (request, announcement, journal) = match &arguments.resume {
        Some(run) => resume::request(run, arguments, state, printer)?,
        None => {
            let (request, announcement) = request(arguments, &catalog, state, printer)?;
            (request, announcement, None)
        }
    };
    let keeps_files = request.files_after == FilesAfter::Kept;
    let mut progress = progress::asked(arguments.dashboard, &request.started.plan, printer);
    let saving = Saving::new(state, journal, printer);
    let (record, saved) = measure_and_show(request, saving, &announcement, printer, progress.as_mut())?;
    if record.outcome == Outcome::Interrupted {
        printer.note(match saved {
            Saved::Nowhere => "interrupted; the partial record is saved nowhere".to_owned(),
            Saved::InHistory | Saved::Resumable | Saved::Better => {
                format!("interrupted; the partial record is saved as {}", record.id)
            }
        });
        if saved == Saved::Resumable {
            printer.note(format!("`{}` goes on with it", resume::command(&record, keeps_files, state)));
        }
    }
    let needs = needs(&record, &catalog);
    printer.answer(answer(&record, needs.as_ref(), arguments.json, printer)?).map_err(OutputLost)?;
    Ok(exit(&record, needs.is_some_and(|needs| needs.is_broken())))
}

/// What was needed of the targets, beside what they did.
pub(super) fn needs(record: &Record, catalog: &Catalog) -> Option<Needs> {
    let need = record.asked.need.as_ref()?;
    Some(Needs::of(need, &[(record, &Provisioning::default())], catalog))
}

/// A record as the answer of a run.
pub(super) fn answer(record: &Record, needs: Option<&Needs>, json: bool, printer: Printer) -> anyhow::Result<String> {
    if json {
        return Ok(serde_json::to_string_pretty(record)? + "\n");
    }
    let needs = needs.map(|needs| report::need::text::text(needs, printer.width()));
    let table = report::table::record(record, printer.width(), printer.style());
    Ok(std::iter::once(table).chain(needs).collect::<Vec<_>>().join("\n"))
}

/// Measures, shows how far that is, and saves what came of it.
pub(super) fn measure(
    request: RunRequest,
    saving: Saving,
    announcement: &str,
    printer: Printer,
) -> anyhow::Result<(Record, Saved)> {
    let mut progress = progress::choose(printer.is_quiet(), &request.started.plan);
    measure_and_show(request, saving, announcement, printer, progress.as_mut())
}

/// The same, shown by whoever called.
pub(super) fn measure_and_show(
    request: RunRequest,
    mut saving: Saving,
    announcement: &str,
    printer: Printer,
    progress: &mut dyn Progress,
) -> anyhow::Result<(Record, Saved)> {
    let stop = stop::on_signals().context("listen for signals")?;
    progress.tell_of_stop(&stop);
    let before = request.resuming.as_ref().map_or_else(Vec::new, resume::slots);
    let record = run_plan(request, &stop, &mut |event| {
        saving.event(event);
        let is_start = matches!(event, RunEvent::Started(_));
        if is_start {
            // Nothing is announced that is refused, and nothing while progress has the whole terminal.
            printer.note(announcement);
        }
        progress.event(event);
        if is_start {
            before.iter().for_each(|event| progress.event(event));
        }
    });
    let record = record.inspect_err(|_| {
        progress.finish();
        saving.discard();
    })?;
    // First of all: a terminal may take nothing for as long as it likes.
    let saved = saving.save(&record);
    progress.finish();
    Ok((record, saved))
}

/// A run as it is asked for, and what is said when it begins.
fn request(
    arguments: &RunArguments,
    catalog: &Catalog,
    state: &State,
    printer: Printer,
) -> anyhow::Result<(RunRequest, String)> {
    request_of(asked(arguments, state, printer)?, arguments, catalog, state, printer)
}

/// The same of what is asked for.
pub(super) fn request_of(
    mut asked: AskedRun,
    arguments: &RunArguments,
    catalog: &Catalog,
    state: &State,
    printer: Printer,
) -> anyhow::Result<(RunRequest, String)> {
    let said = asked.provisioned.clone();
    let of_disks = mem::take(&mut asked.of_disks);
    let volumes = Volumes::read(&arguments.provisioned, catalog)?;
    let of_place = Said { provisioned: said.clone(), of_disks, volumes };
    let Place { mut targets, mut environment, provisioned } =
        place::look(&asked.targets, &asked.workloads, of_place, state, printer)?;
    if !asked.needs_room {
        targets.iter_mut().for_each(|target| target.free_bytes = None);
    }
    if asked.expect_mount {
        let mut others = asked.targets.iter().filter(|target| !stripe::is_array(target, state));
        others.try_for_each(|path| mounts::expect_mount(path.as_ref()))?;
    }
    slips::check_paths(&asked.targets, &asked.destroy)?;
    slips::check_provisioned(&said, &asked.targets)?;
    check_new_files(&targets, &asked)?;
    slips::check_kinds(&targets, &asked)?;
    check_pinning(&asked.workloads)?;
    check_user(arguments.measuring.workload.user.as_deref())?;
    let mut plan = Plan::resolve(&targets, &asked.workloads, &asked.certainty, asked.seed)?;
    slips::check_strides(&plan)?;
    let times = report::plan::times(&plan, writes_test_files(&plan, &targets));
    if let Some(address) = &asked.detect_cloud {
        environment.cloud = cloud::detect(address).inspect_err(|unknown| printer.warning(unknown)).ok();
    }
    asked.provisioned = provisioned;
    slips::check_heeded(&said, &asked)?;
    for note in expectation::expect(&mut plan, &asked.provisioned, &environment, catalog)? {
        printer.note(note);
    }
    if arguments.verbose {
        printer.note(report::plan::plan(&plan));
    }
    let started = RunStarted {
        id: Uuid::now_v7(),
        started: Timestamp::now(),
        tool: tool(),
        name: asked.name,
        tags: asked.tags.into_iter().collect(),
        environment,
        asked: Asked {
            targets: asked.targets,
            workloads: asked.workloads,
            background: asked.background,
            provisioned: asked.provisioned,
            need: asked.need,
            certainty: asked.certainty,
        },
        plan,
    };
    let request = RunRequest {
        destroy: asked.destroy.iter().map(Into::into).collect(),
        files_after: if asked.keep_files { FilesAfter::Kept } else { FilesAfter::AsBefore },
        state_directory: state.directory.clone(),
        surroundings: environment::surroundings(),
        ..RunRequest::new(started)
    };
    Ok((request, times))
}

/// Whether test files are filled before anything is measured.
fn writes_test_files(plan: &Plan, targets: &[TargetFacts]) -> bool {
    let is_filled = |blocks: &BlockPlan| {
        blocks.engine != EngineChoice::Memory && blocks.layout == Layout::Written && blocks.name_operation().is_none()
    };
    let mut filled = plan.cells.iter().filter(|cell| cell.blocks().is_some_and(is_filled));
    let is_written_to = |name: &str| plan.cells.iter().any(|cell| cell.target == name && cell.work.writes());
    // A file that is there and is written to is one that was kept, and filled anew.
    let is_to_fill = |target: &TargetFacts| {
        target.size_bytes.is_none() || target.kind == TargetKind::File && is_written_to(&target.name)
    };
    filled.any(|cell| targets.iter().any(|target| target.name == cell.target && is_to_fill(target)))
}

/// How a run ends. Errors of the run come before what it shows of a need.
pub(super) fn exit(record: &Record, is_need_broken: bool) -> Exit {
    match record.outcome {
        // Wrong data is never only an interruption.
        Outcome::Interrupted if !record.has_wrong_data() => Exit::Interrupted,
        _ if record.has_io_errors() => Exit::Io,
        Outcome::Interrupted | Outcome::Failed => Exit::Io,
        Outcome::Complete | Outcome::Lost if is_need_broken => Exit::Failure,
        Outcome::Complete | Outcome::Lost => Exit::Success,
    }
}

/// Flags and plan file together.
pub(super) struct AskedRun {
    pub(super) targets: Vec<String>,
    pub(super) workloads: Vec<Workload>,
    pub(super) certainty: Certainty,
    pub(super) seed: u64,
    pub(super) name: Option<String>,
    pub(super) tags: Vec<(String, String)>,
    pub(super) destroy: Vec<String>,
    pub(super) keep_files: bool,
    pub(super) expect_mount: bool,
    /// Who is asked what machine this is.
    pub(super) detect_cloud: Option<ServiceAddress>,
    pub(super) background: Option<String>,
    /// Whether it makes files that it needs room for; not, where another pod makes them.
    pub(super) needs_room: bool,
    /// What is said of the disks of its arrays.
    pub(super) of_disks: OfDisks,
    /// Whether the size is one that the user wrote, for every workload.
    pub(super) says_size: bool,
    pub(super) provisioned: Provisioning,
    pub(super) need: Option<Need>,
}

pub(super) fn asked(arguments: &RunArguments, state: &State, printer: Printer) -> anyhow::Result<AskedRun> {
    let mut plan = plan_of(arguments)?;
    let of_disks = stripe::become_targets(&mut plan, state)?;
    Ok(AskedRun { of_disks, ..asked_with(arguments, plan, printer)? })
}

/// The plan that is named, or one that says nothing.
pub(super) fn plan_of(arguments: &RunArguments) -> anyhow::Result<PlanFile> {
    Ok(arguments.measuring.plan.as_deref().map(plan_file).transpose()?.unwrap_or_default())
}

/// The same with a plan that is no file here.
pub(super) fn asked_with(arguments: &RunArguments, plan: PlanFile, printer: Printer) -> anyhow::Result<AskedRun> {
    let PlanFile { name, targets, effort, precision, max_time, bookend, passes, discard_first, seed, presets, .. } =
        plan;
    let PlanFile {
        limit,
        need,
        background,
        tags,
        destroy,
        keep_files,
        expect_mount,
        detect_cloud,
        provisioned,
        stripe,
        defaults,
        workloads,
        ..
    } = plan;
    if stripe.is_some() {
        bail!(
            "the arrays of [stripe] are made of disks of this machine: leave that section out of a plan for a cluster"
        );
    }
    let mut all_targets = paths("target", &arguments.targets)?;
    all_targets.extend(targets);
    if all_targets.is_empty() {
        bail!("no target: name a directory, a file or a block device, as in `plimsoll run /mnt/data`");
    }
    let mut flags = arguments.measuring.workload.workload();
    flags.parallel = arguments.parallel.then_some(true);
    let passes = arguments.measuring.passes.or(passes);
    if passes.is_some() && flags.iterations.or(defaults.iterations).is_some() {
        bail!("--passes and --iterations contradict each other: choose one");
    }
    let effort = arguments.measuring.effort.or(effort).unwrap_or(Effort::Standard);
    let presets: Vec<_> = arguments.measuring.preset.iter().chain(&presets).collect();
    let plan_says_size = presets.is_empty() && workloads.iter().all(|workload| workload.size.is_some());
    let says_size = [flags.size, defaults.size].iter().any(Option::is_some) || plan_says_size && !workloads.is_empty();
    let of_plan = workloads.clone();
    let mut asked_workloads = workloads;
    for (index, preset) in presets.iter().enumerate() {
        if presets[..index].contains(preset) {
            bail!("preset {preset} is given twice: name each once");
        }
        asked_workloads.extend(presets::workloads(preset, effort, printer)?);
    }
    let is_of_kind = |of: &Workload| of.phases.is_some() || of.mix.is_some() || of.command.is_some();
    let says_what = |of: &Workload| of.rw.is_some() || of.read_percent.is_some() || is_of_kind(of);
    if !presets.is_empty() && says_what(&defaults) {
        bail!(
            "rw, read_percent, phases, mix and command in [defaults] would make every workload of a preset the same: say \
             them in a [[workload]], or leave presets out"
        );
    }
    // In a plan, what workloads have in common overrides presets.
    let in_common = said_of_all::shares(&defaults, &asked_workloads).into_iter().enumerate();
    asked_workloads = in_common
        .zip(asked_workloads)
        .map(|((index, defaults), own)| if index < of_plan.len() { own.or(&defaults) } else { defaults.or(&own) })
        .collect();
    let beside = said_of_all::application_beside(&flags).filter(|_| of_plan.is_empty() && !asked_workloads.is_empty());
    if let Some((application, others)) = beside {
        asked_workloads.push(application);
        flags = others;
    }
    if !asked_workloads.is_empty() && says_what(&flags) {
        bail!(
            "--rw, --read-percent, --phases and --mix would make every workload of a preset or plan the same, and --command \
             those of a plan: leave them out"
        );
    }
    if asked_workloads.is_empty() {
        let engine = flags.engine.or(defaults.engine);
        let is_of_names = engine.is_some_and(|engine| engine.name_operation().is_some());
        let of_other_kind = [&flags, &defaults].into_iter().any(is_of_kind);
        if flags.rw.is_some() || defaults.rw.is_some() || is_of_names || of_other_kind {
            asked_workloads.push(defaults.clone());
        } else {
            asked_workloads.extend(
                preset::find("canonical")?.workloads(effort).into_iter().map(|workload| defaults.clone().or(&workload)),
            );
        }
    }
    let shares = said_of_all::shares(&flags, &asked_workloads).into_iter();
    let workloads: Vec<Workload> = shares.zip(&asked_workloads).map(|(flags, workload)| flags.or(workload)).collect();
    // Those of the plan come first.
    let mut own = of_plan.iter().zip(&workloads);
    let useless = said_of_all::without_effect(&flags.clone().or(&defaults), &workloads)
        .or_else(|| own.find_map(|(own, whole)| said_of_all::batch_without_effect(own, whole)));
    if let Some(problem) = useless {
        bail!("{problem}");
    }
    let seed = flags.seed.or(seed);
    let mut all_destroy = paths("--destroy", &arguments.destroy)?;
    all_destroy.extend(destroy);
    let name = arguments.name.clone().or(name);
    let tags: Vec<_> = tags.into_iter().chain(arguments.tags.iter().cloned()).collect();
    name.iter().try_for_each(|name| check_name(name))?;
    let mut of_flags = arguments.tags.iter().map(|(key, _)| key).collect::<Vec<_>>();
    of_flags.sort();
    if let Some(pair) = of_flags.windows(2).find(|pair| pair[0] == pair[1]) {
        bail!("--tag {} stands there twice: a run has one value of it", pair[0]);
    }
    tags.iter().flat_map(|(key, value)| [key, value]).try_for_each(|text| check_one_line("--tag", text))?;
    Ok(AskedRun {
        targets: all_targets,
        workloads,
        certainty: Certainty {
            effort,
            precision: arguments.measuring.precision.or(precision),
            max_time: arguments.measuring.max_time.or(max_time),
            bookend: arguments.measuring.bookend || bookend,
            passes,
            discard_first: arguments.measuring.discard_first.or(discard_first),
            limit: arguments.measuring.limit.or(limit),
        },
        seed: match seed {
            Some(seed) => seed,
            None => random_seed()?,
        },
        name,
        tags,
        destroy: all_destroy,
        keep_files: arguments.keep_files || keep_files,
        expect_mount: arguments.expect_mount || expect_mount,
        detect_cloud: arguments.detect_cloud.clone().or_else(|| detect_cloud.then(ServiceAddress::default)),
        background: arguments.background.clone().or(background),
        needs_room: true,
        of_disks: OfDisks::default(),
        says_size,
        provisioned: provisioned.overridden_by(&arguments.provisioned.provisioned(None)),
        need: arguments.measuring.need.clone().or(need),
    })
}

/// Refuses what would not show the run that it was given to.
pub(super) fn check_name(name: &str) -> anyhow::Result<()> {
    check_one_line("--name", name)?;
    if name.trim().is_empty() {
        bail!("the name {name:?} is blank: write one that lists can show, or leave it out");
    }
    if name == "latest" {
        bail!("the name \"latest\" is that of the run that began last, whatever it is called: choose another name");
    }
    Ok(())
}

/// Paths as text, which names them in the record: one whose bytes are no text would become another path on the way.
pub(super) fn paths(what: &str, paths: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let text = |path: &PathBuf| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => bail!("{what} {path:?} is not valid UTF-8: give it another name, or a symbolic link that has one"),
    };
    paths.iter().map(text).collect()
}

/// What is made to be shown in lists must not be able to break out of them.
pub(super) fn check_one_line(flag: &str, text: &str) -> anyhow::Result<()> {
    match text.chars().find(|character| character.is_control()) {
        Some(character) => bail!("{flag} {text:?} has the control character {character:?}: leave it out"),
        None => Ok(()),
    }
}

/// A name that nothing has is more often a slip than the wish for a file.
fn check_new_files(targets: &[TargetFacts], asked: &AskedRun) -> Result<(), PlanError> {
    let is_new = |target: &&TargetFacts| target.kind == TargetKind::File && target.size_bytes.is_none();
    // Options that may go without a value take theirs behind a "=".
    if let Some(value) = targets.iter().filter(is_new).find(|target| is_value(&target.name)) {
        return Err(PlanError::Target {
            target: value.name.clone(),
            problem: format!(
                "it does not exist: write --sync=dsync or --buffered=false with \"=\", or ./{} for a file of that name",
                value.name
            ),
        });
    }
    let works_in_directories = |workload: &Workload| workload.command.is_some() || workload.phases.is_some();
    let remedy = match asked.workloads.iter().all(works_in_directories) {
        true => "make the directory",
        false if asked.says_size => return Ok(()),
        false => "give --size to make a file there",
    };
    match targets.iter().find(is_new) {
        Some(target) => Err(PlanError::Target {
            target: target.name.clone(),
            problem: format!("it does not exist: check the spelling, or {remedy}"),
        }),
        None => Ok(()),
    }
}

/// Whether somebody may have meant a word for the value of an option.
fn is_value(word: &str) -> bool {
    matches!(word, "true" | "false") || word.parse::<SyncMode>().is_ok()
}

/// Commands of somebody without the rights of root are his own. Presets name a user for root alone.
fn check_user(user: Option<&str>) -> anyhow::Result<()> {
    match user {
        Some(user) if !rustix::process::geteuid().is_root() => {
            bail!("--user {user} takes the rights of root: leave it out, and commands have yours")
        }
        _ => Ok(()),
    }
}

/// Processors that this process may not use cannot be pinned to.
pub(super) fn check_pinning(workloads: &[Workload]) -> anyhow::Result<()> {
    for pin in workloads.iter().filter_map(|workload| workload.pin.as_ref()) {
        let Pinning::Processors(list) = pin else { continue };
        let allowed = cpu::allowed().context("ask which processors may be used")?;
        if let Some(processor) = list.iter().find(|processor| !allowed.contains(processor)) {
            bail!("--pin {pin}: this process may not use processor {processor}, only {allowed:?}");
        }
    }
    Ok(())
}

/// A plan that is a file, or what comes in.
pub(super) fn plan_file(path: &Path) -> anyhow::Result<PlanFile> {
    parsed_plan(&plan_text(path)?, path)
}

pub(super) fn plan_text(path: &Path) -> anyhow::Result<String> {
    input_file::text(path).with_context(|| format!("read the plan {}", path.display()))
}

pub(super) fn parsed_plan(text: &str, path: &Path) -> anyhow::Result<PlanFile> {
    toml::from_str(text).map_err(|error| anyhow::anyhow!("plan {}: {error}", path.display()))
}

/// A seed of 52 bits: a double holds it exactly, and many readers of JSON have no other number.
pub(super) fn random_seed() -> anyhow::Result<u64> {
    let mut bytes = [0_u8; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).context("draw a seed")?;
    Ok(u64::from_le_bytes(bytes) >> 12)
}

/// This program.
pub(super) fn tool() -> Tool {
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("PLIMSOLL_COMMIT").map(str::to_owned),
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
    }
}

pub(super) fn pod() -> Pod {
    let get = |name| environment::get(name).map(|value| value.to_string_lossy().into_owned());
    Pod {
        name: get(environment::POD_NAME),
        namespace: get(environment::POD_NAMESPACE),
        node: get(environment::NODE_NAME),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::verification::VerificationResult;

    use super::*;

    #[test]
    fn test_files_are_written_first_where_cells_find_data_in_files_of_their_own() {
        let written = |size_bytes: Option<u64>, workload: &str| {
            let target = TargetFacts {
                name: "/d".into(),
                kind: if size_bytes.is_some() { TargetKind::File } else { TargetKind::Directory },
                size_bytes,
                free_bytes: Some(1 << 40),
                direct_alignment_bytes: Some(512),
            };
            let workload: Workload = toml::from_str(workload).unwrap();
            let targets = [target];
            let plan = Plan::resolve(&targets, &[workload], &Certainty::of(Effort::Quick), 1).unwrap();
            writes_test_files(&plan, &targets)
        };
        assert!(written(None, "rw = 'randread'\nsize = '1M'"));
        assert!(written(None, "rw = 'write'\nsize = '1M'"));
        assert!(!written(Some(1 << 20), "rw = 'randread'\nsize = '1M'"));
        assert!(written(Some(1 << 20), "rw = 'randrw'\nsize = '1M'"));
        assert!(!written(None, "rw = 'write'\nlayout = 'empty'\nsize = '1M'"));
        assert!(!written(None, "rw = 'write'\nlayout = 'allocated'\nsize = '1M'"));
        assert!(!written(None, "rw = 'randread'\nengine = 'memory'\nsize = '1M'"));
        assert!(!written(None, "engine = 'filecreate'"));
    }

    #[test]
    fn a_need_that_is_certainly_not_met_fails_a_run_that_went_well() {
        let read = |text: &str| serde_json::from_str::<Record>(text).expect("a record of the fixtures");
        let mut record = read(include_str!("../../../../fixtures/records/plimsoll-1.json"));
        record.cells.iter_mut().for_each(|cell| {
            cell.errors = 0;
            cell.verification = None;
        });
        for (outcome, is_need_broken, expected) in [
            (Outcome::Complete, false, Exit::Success),
            (Outcome::Complete, true, Exit::Failure),
            (Outcome::Interrupted, true, Exit::Interrupted),
            (Outcome::Failed, true, Exit::Io),
        ] {
            record.outcome = outcome;
            assert_eq!(exit(&record, is_need_broken), expected, "{outcome:?}");
        }
        // An error may have come of the interruption; wrong data has not.
        record.outcome = Outcome::Interrupted;
        record.cells[0].errors = 1;
        assert_eq!(exit(&record, false), Exit::Interrupted);
        record.cells[0].verification = Some(VerificationResult { mismatches: 1, ..VerificationResult::default() });
        assert_eq!(exit(&record, false), Exit::Io);
    }
}
