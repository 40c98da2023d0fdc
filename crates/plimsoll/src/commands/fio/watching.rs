//! What is told while jobs run: fio's line of progress on standard output, and reports of `--status-interval` and for
//! who sends SIGUSR1. All come with the seconds of the run: something that wakes up to draw would take time from what
//! is being measured.

use std::{
    io::{self, IsTerminal},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use plimsoll_dialects::fio::{
    report::{Rest, Watch},
    switches::{Eta, Switches},
};
use plimsoll_record::event::RunEvent;
use plimsoll_run::idleness::ProcessorTimes;

use super::{Telling, output::Output};
use crate::{printer::Printer, progress::Progress};

/// A consumer of the events of a run.
pub(super) struct Watching<'a> {
    telling: Telling<'a>,
    watch: Watch<'a>,
    output: &'a mut Output,
    /// The line of progress; none where there is to be none.
    line: Option<Line>,
    status: Option<Every>,
    /// Set when a signal asks for a report.
    asked: Arc<AtomicBool>,
    /// Processor times at the start of the load.
    idle_from: Option<ProcessorTimes>,
    /// How idle each processor was until the last slot ended.
    pub(super) idle_percents: Vec<f64>,
    /// The first report that could not be written.
    pub(super) lost: Option<anyhow::Error>,
}

/// The line of progress, which is drawn over itself.
struct Line {
    every: Every,
    newline: Option<Every>,
    printer: Printer,
    length: usize,
}

/// Something that is due again and again.
struct Every {
    interval_ns: u64,
    due_ns: u64,
}

impl Every {
    fn new(interval_ns: u64) -> Self {
        let interval_ns = interval_ns.max(1);
        Self { interval_ns, due_ns: interval_ns }
    }

    /// Whether it is due; what was missed is not made up for.
    fn is_due(&mut self, now_ns: u64) -> bool {
        let is_due = now_ns >= self.due_ns;
        if is_due {
            self.due_ns += (now_ns - self.due_ns) / self.interval_ns * self.interval_ns + self.interval_ns;
        }
        is_due
    }
}

impl Line {
    /// The line where fio shows one: on a terminal or when it is asked for, and never amid a report that is for
    /// programs.
    fn of(switches: &Switches, printer: Printer) -> Option<Self> {
        let is_for_programs = !switches.formats.normal && switches.output.is_none();
        let is_shown = match switches.eta {
            Eta::Always => true,
            Eta::Auto => io::stdout().is_terminal(),
            Eta::Never => false,
        };
        (is_shown && !is_for_programs).then(|| Self {
            every: Every::new(switches.eta_interval.ns),
            newline: switches.eta_newline.map(|span| Every::new(span.ns)),
            printer,
            length: 0,
        })
    }

    fn draw(&mut self, text: &str, now_ns: u64) {
        let begin = if self.newline.as_mut().is_some_and(|every| every.is_due(now_ns)) { "\n" } else { "" };
        // What is left of a longer line is wiped out.
        let rest = " ".repeat(self.length.saturating_sub(text.len()));
        self.length = text.len();
        // A reader that has gone away is no reason to end a run.
        let _ = self.printer.answer(format!("{begin}{text}{rest}\r"));
    }
}

impl<'a> Watching<'a> {
    pub(super) fn new(telling: Telling<'a>, output: &'a mut Output, asked: Arc<AtomicBool>, printer: Printer) -> Self {
        let switches = &telling.jobs.switches;
        Self {
            telling,
            watch: Watch::new(telling.jobs, &telling.lowered.cells),
            output,
            line: Line::of(switches, printer),
            status: switches.status_interval.map(|span| Every::new(span.ns)),
            asked,
            idle_from: None,
            idle_percents: Vec::new(),
            lost: None,
        }
    }

    fn tell(&mut self) {
        let now_ns = self.watch.time_ns();
        if let Some(line) = &mut self.line
            && line.every.is_due(now_ns)
        {
            line.draw(&self.watch.line(), now_ns);
        }
        let is_due = self.status.as_mut().is_some_and(|status| status.is_due(now_ns));
        let is_asked = self.asked.swap(false, Ordering::Relaxed);
        if (is_due || is_asked)
            && let Some(record) = self.watch.record()
        {
            let rest = Some(Rest { left_ns: self.watch.left_ns() });
            let text = self.telling.reported(&record, rest, &[]).text();
            if let Err(error) = self.output.put(&text) {
                self.lost.get_or_insert(error);
            }
        }
    }

    fn look_at_processors(&mut self, event: &RunEvent) {
        match event {
            RunEvent::SlotStarted { .. } if self.idle_from.is_none() => self.idle_from = ProcessorTimes::now(),
            RunEvent::SlotFinished(_) => {
                if let Some((from, to)) = self.idle_from.as_ref().zip(ProcessorTimes::now()) {
                    self.idle_percents = from.idle_percents(&to);
                }
            }
            _ => {}
        }
    }
}

impl Progress for Watching<'_> {
    fn event(&mut self, event: &RunEvent) {
        self.watch.event(event);
        if self.telling.jobs.switches.idle_profile.is_some() {
            self.look_at_processors(event);
        }
        if matches!(event, RunEvent::Interval { .. }) {
            self.tell();
        }
    }

    fn finish(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_missed_is_not_made_up_for() {
        let mut every = Every::new(10);
        let due: Vec<u64> = [5, 10, 11, 45, 46, 50].into_iter().filter(|now_ns| every.is_due(*now_ns)).collect();
        assert_eq!(due, [10, 45, 50]);
    }
}
