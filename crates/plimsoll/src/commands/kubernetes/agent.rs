//! The program in the pod: does the plan that it is handed, and tells all that happens on standard output, for whoever
//! follows the log. Progress for people goes to standard error, as anywhere.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::Context;
use jiff::Timestamp;
use plimsoll_catalog::catalog::Catalog;
use plimsoll_history::location::HistoryLocation;
use plimsoll_io::clock::{Clock, MonotonicClock};
use plimsoll_kubernetes::{
    error::ClusterError,
    frames::{Message, Writer},
    manifests::{LAST_WORDS_BYTES_MAX, LAST_WORDS_FILE},
};
use plimsoll_record::{event::RunEvent, pods::PodCell, record::Record, summary::Summary};
use plimsoll_run::{
    first_io::{FirstIoError, advice, first_io},
    objects::leftovers,
    run::run as run_plan,
};
use plimsoll_workload::{error_chain::chain, plan_file::PlanFile};

use super::{
    super::{catalog, run as local},
    one_of_several::{self, OneOfSeveral},
};
use crate::{
    cli::{
        kubernetes::{AgentArguments, PodMeasuringArguments},
        run::RunArguments,
    },
    environment_variables::{self, PLIMSOLL_LIMITS, PLIMSOLL_PLAN, PLIMSOLL_POD},
    exit::Exit,
    printer::Printer,
    progress,
    state::State,
    stop,
};

/// How long the program stays when all is told: some container runtimes lose what is written right before the end.
pub(super) const LINGER: Duration = Duration::from_secs(2);

/// How far events that only show progress are apart.
const PROGRESS_EVERY_NS: u64 = 1_000_000_000;

/// Does the plan of the pod.
pub(super) fn agent(arguments: &AgentArguments, printer: Printer) -> anyhow::Result<Exit> {
    // Before all else: signals that the first process of a container does not listen for are lost.
    let stop = stop::on_signals().context("listen for signals")?;
    let telling = Telling::start(printer)?;
    let (number, count) = one_of_several::number_and_count();
    telling.tell(Message::Running { at: Timestamp::now(), run: arguments.run, number, count });
    let (message, exit) = match measure(arguments, &telling, &stop, printer) {
        Ok(mut record) => {
            record.warnings.iter_mut().for_each(|text| *text = PodMeasuringArguments::in_these_flags(text));
            let exit = local::exit(&record, false);
            say_at_the_end(&Summary::of(&record).into_json(LAST_WORDS_BYTES_MAX));
            (done(record), exit)
        }
        Err(error) => {
            let exit = Exit::of(&error);
            let text = PodMeasuringArguments::in_these_flags(&chain(error.as_ref()));
            say_at_the_end(&text);
            (Message::Failed { exit: exit as u8, text }, exit)
        }
    };
    telling.tell(message);
    telling.end();
    thread::sleep(LINGER);
    Ok(exit)
}

/// What is told of a run that is over: of one of several only what it did itself.
fn done(record: Record) -> Message {
    if environment_variables::get(PLIMSOLL_POD).is_none() {
        return Message::Done { record: Box::new(record) };
    }
    Message::DoneTogether {
        outcome: record.outcome,
        cells: record.cells.iter().map(PodCell::of).collect(),
        node: record.environment.container.and_then(|container| container.node),
    }
}

/// Says what Kubernetes keeps with the pod, for who comes when the log is gone.
pub(super) fn say_at_the_end(text: &str) {
    // Outside of a pod there is no such file, and none is made.
    if let Ok(mut file) = File::options().write(true).truncate(true).open(LAST_WORDS_FILE) {
        // The log says it too.
        let _ = file.write_all(text.as_bytes());
    }
}

fn measure(
    of_agent: &AgentArguments,
    telling: &Telling,
    stop: &Arc<AtomicBool>,
    printer: Printer,
) -> anyhow::Result<Record> {
    let go_on = || if stop.load(Ordering::Relaxed) { Err(ClusterError::Interrupted) } else { Ok(()) };
    let plan = environment_variables::get(PLIMSOLL_PLAN).with_context(|| {
        format!("{PLIMSOLL_PLAN} is not set: this is what `plimsoll kubernetes run` starts in pods")
    })?;
    let plan: PlanFile = toml::from_str(&plan.to_string_lossy()).context("read the plan")?;
    let arguments = RunArguments::default();
    let mut asked = local::asked_with(&arguments, plan, printer)?;
    let several = OneOfSeveral::of_environment()?;
    let places = several.as_ref().map(|several| several.use_places_of_its_own(&mut asked)).transpose()?;
    for target in &asked.targets {
        let mut done = first_io(target, of_agent.run);
        if done.as_ref().is_err_and(FirstIoError::is_for_lack_of_room) && remove_leftovers(target, printer) {
            done = first_io(target, of_agent.run);
        }
        go_on()?;
        done?;
        telling.tell(Message::FirstIo { target: target.clone(), at: Timestamp::now() });
    }
    if let (Some(several), Some(places)) = (&several, &places) {
        several.share_files(&mut asked, places)?;
    }
    if asked.needs_room {
        for target in &asked.targets {
            remove_leftovers(target, printer);
        }
    }
    let catalog = match environment_variables::get(PLIMSOLL_LIMITS) {
        Some(limits) => catalog::with_limits("the limits of the client", &limits.to_string_lossy())?,
        None => Catalog::default(),
    };
    // Nothing outlives the pod.
    let state = State { history: HistoryLocation::None, directory: None };
    let (mut request, announcement) = local::request_of(asked, &arguments, &catalog, &state, printer)?;
    request.started.id = of_agent.run;
    let mut progress = progress::choose(false, &request.started.plan);
    if let Some(several) = several {
        several.begin_together(&mut request, stop.clone());
    }
    let mut shown_ns = 0;
    let record = run_plan(request, stop, &mut |event| {
        progress.event(event);
        if matches!(event, RunEvent::Started(_)) {
            printer.note(&announcement);
        }
        if matches!(event, RunEvent::LayoutProgress { .. }) || event.is_passing() {
            let now_ns = MonotonicClock.now_ns();
            if now_ns < shown_ns + PROGRESS_EVERY_NS {
                return;
            }
            shown_ns = now_ns;
        }
        let warning = match event {
            RunEvent::Warning { text } => Some(RunEvent::Warning { text: PodMeasuringArguments::in_these_flags(text) }),
            _ => None,
        };
        telling.tell(Message::of_event(Timestamp::now(), warning.as_ref().unwrap_or(event)));
    });
    progress.finish();
    Ok(record?)
}

/// What a pod ran into with a target, and what to do about it.
pub(super) fn of_target(error: io::Error, doing: &str, target: &Path) -> anyhow::Error {
    let advice = advice(&error);
    anyhow::Error::from(error).context(format!("{doing} {}{advice}", target.display()))
}

/// Removes what killed runs left in a claim, before it is found that there is no room; whether there was anything.
fn remove_leftovers(target: &str, printer: Printer) -> bool {
    let target = Path::new(target);
    if !target.is_dir() {
        return false;
    }
    // The run looks again, and warns where it cannot.
    let removed = leftovers::sweep_directory(target).unwrap_or_default().removed;
    for removed in &removed {
        printer.note(format!("removed {}, left behind by run {}", removed.path.display(), removed.run));
    }
    !removed.is_empty()
}

/// Writes messages on a thread of its own: a log that is full does not hold up what is being measured.
pub(super) struct Telling {
    messages: Sender<Message>,
    thread: JoinHandle<()>,
}

impl Telling {
    pub(super) fn start(printer: Printer) -> anyhow::Result<Self> {
        let (messages, to_tell) = channel();
        let thread = thread::Builder::new()
            .name("telling".to_owned())
            .spawn(move || {
                let mut writer = Writer::default();
                for message in to_tell {
                    // Nobody can be told that nobody can be told.
                    let _ = printer.answer(writer.lines(&message));
                }
            })
            .context("start a thread that tells the client")?;
        Ok(Self { messages, thread })
    }

    pub(super) fn tell(&self, message: Message) {
        // A thread that is gone is noticed by whoever follows.
        let _ = self.messages.send(message);
    }

    pub(super) fn end(self) {
        drop(self.messages);
        let _ = self.thread.join();
    }
}
