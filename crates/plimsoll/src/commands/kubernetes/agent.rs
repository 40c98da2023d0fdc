//! The program in the pod: does the plan that it is handed, and tells all that happens on standard output, for whoever
//! follows the log. Progress for people goes to standard error, as anywhere.

use std::{
    fs::File,
    io::Write as _,
    sync::mpsc::{Sender, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::Context;
use jiff::Timestamp;
use plimsoll_catalog::catalog::Catalog;
use plimsoll_history::location::HistoryLocation;
use plimsoll_io::clock::{Clock, MonotonicClock};
use plimsoll_kubernetes::{
    frames::{Message, Writer},
    manifests::{LAST_WORDS_BYTES_MAX, LAST_WORDS_FILE},
};
use plimsoll_record::{event::RunEvent, pods::PodCell, record::Record, summary::Summary};
use plimsoll_run::{first_io::first_io, run::run as run_plan};
use plimsoll_workload::plan_file::PlanFile;

use super::{
    super::{catalog, run as local},
    one_of_several::OneOfSeveral,
};
use crate::{
    cli::{kubernetes::AgentArguments, run::RunArguments},
    environment_variables::{self, PLIMSOLL_LIMITS, PLIMSOLL_PLAN, PLIMSOLL_POD},
    exit::{Exit, chain},
    printer::Printer,
    progress,
    state::State,
    stop,
};

/// How long the program stays when all is told: some container runtimes lose what is written right before the end.
const LINGER: Duration = Duration::from_secs(2);

/// How far events that only show progress are apart.
const PROGRESS_EVERY_NS: u64 = 1_000_000_000;

/// Does the plan of the pod.
pub(super) fn agent(arguments: &AgentArguments, printer: Printer) -> anyhow::Result<Exit> {
    let telling = Telling::start(printer)?;
    telling.tell(Message::Running { at: Timestamp::now() });
    let (message, exit) = match measure(arguments, &telling, printer) {
        Ok(record) => {
            let exit = local::exit(&record, false);
            say_at_the_end(&Summary::of(&record).into_json(LAST_WORDS_BYTES_MAX));
            (done(record), exit)
        }
        Err(error) => {
            let exit = Exit::of(&error);
            let text = chain(&error);
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
fn say_at_the_end(text: &str) {
    // Outside of a pod there is no such file, and none is made.
    if let Ok(mut file) = File::options().write(true).truncate(true).open(LAST_WORDS_FILE) {
        // The log says it too.
        let _ = file.write_all(text.as_bytes());
    }
}

fn measure(of_agent: &AgentArguments, telling: &Telling, printer: Printer) -> anyhow::Result<Record> {
    let plan = environment_variables::get(PLIMSOLL_PLAN).with_context(|| {
        format!("{PLIMSOLL_PLAN} is not set: this is what `plimsoll kubernetes run` starts in pods")
    })?;
    let plan: PlanFile = toml::from_str(&plan.to_string_lossy()).context("read the plan")?;
    let arguments = RunArguments::default();
    let mut asked = local::asked_with(&arguments, plan, printer)?;
    let several = OneOfSeveral::of_environment()?;
    let _places = several.as_ref().map(|several| several.use_places_of_its_own(&mut asked)).transpose()?;
    for target in &asked.targets {
        first_io(target)?;
        telling.tell(Message::FirstIo { target: target.clone(), at: Timestamp::now() });
    }
    let catalog = match environment_variables::get(PLIMSOLL_LIMITS) {
        Some(limits) => catalog::with_limits("the limits of the client", &limits.to_string_lossy())?,
        None => Catalog::default(),
    };
    // Nothing outlives the pod.
    let state = State { history: HistoryLocation::None, directory: None };
    let (mut request, announcement) = local::request_of(asked, &arguments, &catalog, &state, printer)?;
    request.id = of_agent.run;
    let mut progress = progress::choose(false, &request.plan);
    let stop = stop::on_signals().context("listen for signals")?;
    if let Some(several) = several {
        several.begin_together(&mut request, stop.clone());
    }
    let mut shown_ns = 0;
    let record = run_plan(request, &stop, &mut |event| {
        progress.event(event);
        if matches!(event, RunEvent::Started(_)) {
            printer.note(&announcement);
        }
        if matches!(event, RunEvent::LayoutProgress { .. }) {
            let now_ns = MonotonicClock.now_ns();
            if now_ns < shown_ns + PROGRESS_EVERY_NS {
                return;
            }
            shown_ns = now_ns;
        }
        telling.tell(Message::of_event(Timestamp::now(), event));
    });
    progress.finish();
    Ok(record?)
}

/// Writes messages on a thread of its own: a log that is full does not hold up what is being measured.
struct Telling {
    messages: Sender<Message>,
    thread: JoinHandle<()>,
}

impl Telling {
    fn start(printer: Printer) -> anyhow::Result<Self> {
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

    fn tell(&self, message: Message) {
        // A thread that is gone is noticed by whoever follows.
        let _ = self.messages.send(message);
    }

    fn end(self) {
        drop(self.messages);
        let _ = self.thread.join();
    }
}
