//! Keeping a run: its journal while it grows, and its record in the history at the end.
//!
//! All of it is written on a thread of its own. A disk that does not answer for a while then delays neither the seconds
//! that are being gathered nor Ctrl-C, and at the end it is waited for only so long. A failure to save is a warning,
//! never the end of a run.

use std::{
    io,
    path::PathBuf,
    sync::mpsc::{Receiver, Sender, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use plimsoll_history::{
    history::{History, HistoryError, Kept},
    journal::Journal,
    location::HistoryLocation,
};
use plimsoll_record::{
    event::RunEvent,
    record::{Outcome, Record},
};

use crate::{printer::Printer, state::State};

/// How long the end of a run waits for what is still to be written to the journal.
const JOURNAL_PATIENCE: Duration = Duration::from_secs(5);

/// How long it then waits for the history: longer than the history itself waits for another process.
const HISTORY_PATIENCE: Duration = Duration::from_secs(20);

/// The run's side: hands over what is to be written.
pub struct Saving {
    printer: Printer,
    history: PathBuf,
    /// None when nothing is to be kept, and when it is all over.
    writing: Option<Writing>,
}

struct Writing {
    tasks: Sender<Task>,
    replies: Receiver<Reply>,
    thread: JoinHandle<()>,
}

/// What the thread is to do, in this order.
enum Task {
    Event(Box<RunEvent>),
    Save(Box<Record>),
    /// Of a run that the history may know more of.
    SaveUnlessLess(Box<Record>),
    /// Nothing was measured: nothing is to be remembered.
    Discard,
}

/// What it answers to the last task.
enum Reply {
    /// Everything before it is written.
    CaughtUp,
    /// Where the record is.
    Done(Saved),
}

/// Where a run is when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// In no history.
    Nowhere,
    /// In the history.
    InHistory,
    /// In the history, with what it takes to go on with it.
    Resumable,
    /// In the history, in a record that says more than this one.
    Better,
}

impl Saving {
    /// Starts the thread, unless there is no history to keep anything in. A run that goes on has a journal already.
    pub fn new(state: &State, journal: Option<Journal>, printer: Printer) -> Self {
        let HistoryLocation::File(history) = &state.history else {
            return Self { printer, history: PathBuf::new(), writing: None };
        };
        let (tasks, to_do) = channel();
        let (answer, replies) = channel();
        let writer = Writer { history: history.clone(), state: state.directory.clone(), printer, journal };
        let thread = thread::Builder::new().name("saving".to_owned()).spawn(move || writer.work(&to_do, &answer));
        let writing = match thread {
            Ok(thread) => Some(Writing { tasks, replies, thread }),
            Err(error) => {
                printer.warning(format!("this run is not kept in the history: start a thread that writes it: {error}"));
                None
            }
        };
        Self { printer, history: history.clone(), writing }
    }

    /// Writes an event to the journal, some time soon.
    pub fn event(&self, event: &RunEvent) {
        if let Some(writing) = &self.writing
            && !event.is_passing()
        {
            // A thread that is gone is noticed at the end.
            let _ = writing.tasks.send(Task::Event(Box::new(event.clone())));
        }
    }

    /// Forgets a run that measured nothing.
    pub fn discard(&mut self) {
        self.end(Task::Discard);
    }

    /// Puts the record into the history.
    pub fn save(&mut self, record: &Record) -> Saved {
        self.end(Task::Save(Box::new(record.clone())))
    }

    /// The same of a run that others may have put together before: a record that says more stays.
    pub fn save_unless_less(&mut self, record: &Record) -> Saved {
        self.end(Task::SaveUnlessLess(Box::new(record.clone())))
    }

    fn end(&mut self, task: Task) -> Saved {
        let Some(Writing { tasks, replies, thread }) = self.writing.take() else { return Saved::Nowhere };
        let _ = tasks.send(task);
        let caught_up = replies.recv_timeout(JOURNAL_PATIENCE);
        let done = caught_up.and_then(|_| replies.recv_timeout(HISTORY_PATIENCE));
        match done {
            Ok(Reply::Done(saved)) => {
                let _ = thread.join();
                saved
            }
            _ if thread.is_finished() => {
                self.printer.warning("saving the run ended in a bug in plimsoll, please report it");
                Saved::Nowhere
            }
            _ => {
                self.printer.warning(format!(
                    "the disk of the history {} does not answer: this run is not saved there, and a later command will \
                     recover what had reached the journal; the system may let plimsoll end only when the disk answers",
                    self.history.display()
                ));
                Saved::Nowhere
            }
        }
    }
}

/// The thread's side.
struct Writer {
    history: PathBuf,
    state: Option<PathBuf>,
    printer: Printer,
    journal: Option<Journal>,
}

impl Writer {
    fn work(mut self, tasks: &Receiver<Task>, replies: &Sender<Reply>) {
        for task in tasks {
            if let Task::Event(event) = task {
                self.event(&event);
                continue;
            }
            // Nobody may be waiting any more.
            let _ = replies.send(Reply::CaughtUp);
            let saved = match task {
                Task::Save(record) => self.save(&record, Self::try_to_save),
                Task::SaveUnlessLess(record) => self.save(&record, Self::try_to_save_unless_less),
                _ => {
                    self.finish_journal();
                    Saved::Nowhere
                }
            };
            let _ = replies.send(Reply::Done(saved));
            return;
        }
    }

    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Started(started) = event {
            if self.journal.is_some() {
                return;
            }
            let Some(directory) = &self.state else { return };
            match Journal::create(directory, &self.history, started) {
                Ok(journal) => self.journal = Some(journal),
                Err(HistoryError::Journal { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
                    self.printer.note(format!(
                        "another plimsoll on this machine keeps the journal of run {}: this one only keeps its record",
                        started.id
                    ));
                }
                Err(error) => self.complain(&anyhow::Error::new(error).context("keep a journal of the run")),
            }
            return;
        }
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.append(event)
        {
            self.complain(&anyhow::Error::new(error).context("write the journal of the run"));
        }
    }

    fn save(&mut self, record: &Record, try_to: fn(&Self, &Record) -> Result<Saved, HistoryError>) -> Saved {
        match try_to(self, record) {
            Ok(saved) => {
                self.finish_journal();
                saved
            }
            Err(error) => {
                self.complain(&anyhow::Error::new(error).context("save the run in the history"));
                Saved::Nowhere
            }
        }
    }

    fn try_to_save(&self, record: &Record) -> Result<Saved, HistoryError> {
        let journal = self.journal.as_ref().filter(|_| record.outcome == Outcome::Interrupted);
        // Without it, what was measured is kept all the same.
        let unfinished = journal.map(Journal::unfinished).transpose().unwrap_or_else(|error| {
            self.complain(&anyhow::Error::new(error).context("keep what it takes to go on with the run"));
            None
        });
        let unfinished = unfinished.flatten();
        let mut history = History::open(&self.history)?;
        match unfinished {
            Some(unfinished) => history.save_unfinished(record, &unfinished).map(|()| Saved::Resumable),
            None => {
                history.save(record)?;
                // A run that had gone on may go on again from where it did before.
                let goes_on =
                    record.outcome == Outcome::Interrupted && matches!(history.unfinished(record.id), Ok(Some(_)));
                Ok(if goes_on { Saved::Resumable } else { Saved::InHistory })
            }
        }
    }

    fn try_to_save_unless_less(&self, record: &Record) -> Result<Saved, HistoryError> {
        Ok(match History::open(&self.history)?.save_unless_less(record)? {
            Kept::This => Saved::InHistory,
            Kept::Former => Saved::Better,
        })
    }

    fn finish_journal(&mut self) {
        if let Some(journal) = self.journal.take()
            && let Err(error) = journal.finish()
        {
            self.complain(&anyhow::Error::new(error).context("remove the journal of the run"));
        }
    }

    fn complain(&self, error: &anyhow::Error) {
        self.printer.warning(format!("{error:#}"));
    }
}
