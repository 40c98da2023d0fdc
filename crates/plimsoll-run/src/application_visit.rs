//! One slot of a cell that runs commands: an iteration of its application, framed by the kernel's counters.

use std::sync::atomic::AtomicBool;

use plimsoll_applications::application::{Application, StageError, Timed};
use plimsoll_io::block_device::BackingDevice;
use plimsoll_record::{
    application::{Iteration, OwnFigure},
    event::{RunEvent, SlotResult},
    results::{CpuCost, ErrorCount},
};
use plimsoll_workload::application::Stage;

use crate::{
    counters::{Counters, SlotCost},
    gate::Pass,
    resuming::RunClock,
};

/// A cell's application, and what is to be known of the slot.
pub(crate) struct ApplicationVisit<'a> {
    pub(crate) cell: usize,
    pub(crate) round: u32,
    pub(crate) application: &'a mut Application,
    pub(crate) devices: &'a [BackingDevice],
    pub(crate) clock: RunClock,
    pub(crate) stop: &'a AtomicBool,
    /// What it has when others are timed at the same time.
    pub(crate) place: Option<Place<'a>>,
}

/// A place beside others.
pub(crate) struct Place<'a> {
    /// The processors that are its own.
    pub(crate) cpus: Vec<u32>,
    /// Where it waits until all are about to begin.
    pub(crate) pass: Option<Pass<'a, ()>>,
}

/// How far an iteration came.
#[derive(Default)]
struct Measured {
    /// How long the storage took to come to rest, and whether it did.
    settled: (u64, bool),
    timed: Option<(Timed, SlotCost)>,
    figures: Vec<OwnFigure>,
}

impl ApplicationVisit<'_> {
    /// Does an iteration; `None` when the run was stopped before its end.
    pub(crate) fn run(mut self, emit: &mut dyn FnMut(RunEvent)) -> Option<SlotResult> {
        let began_ns = self.clock.now_ns();
        let mut measured = Measured::default();
        let done = self.stages(&mut measured, emit);
        let mut iteration = self.iteration(&measured, began_ns);
        let mut slot = SlotResult { cell: self.cell, round: self.round, ..SlotResult::default() };
        match done {
            Ok(()) => {}
            Err(StageError::Stopped) => return None,
            Err(error) => {
                error.output().clone_into(&mut iteration.output);
                slot.errors.push(error_of(&error));
                iteration.invalid = Some(error.to_string());
            }
        }
        (slot.from_ns, slot.elapsed_ns) = (iteration.from_ns, iteration.elapsed_ns);
        slot.cpu = CpuCost {
            user_ns: iteration.user_ns + iteration.server_user_ns,
            system_ns: iteration.system_ns + iteration.server_system_ns,
            ..measured.timed.as_ref().map(|(_, cost)| cost.cpu.clone()).unwrap_or_default()
        };
        slot.cpu_operations = 1;
        slot.device.clone_from(&iteration.device);
        slot.application = Some(Box::new(iteration));
        Some(slot)
    }

    fn stages(&mut self, measured: &mut Measured, emit: &mut dyn FnMut(RunEvent)) -> Result<(), StageError> {
        let (cell, stop, iteration) = (self.cell, self.stop, self.round + 1);
        let mut tell = |stage| emit(RunEvent::StageProgress { cell, stage });
        let verified = self.timed(measured, iteration, &mut tell);
        if matches!(verified, Err(StageError::Stopped)) {
            return verified;
        }
        let figures = self.application.figures();
        // What an iteration left is cleared away even if it does not count.
        let concluded = self.application.stage(Stage::Conclude, iteration, stop, &mut tell);
        verified.and(concluded)?;
        measured.figures = OwnFigure::parse(&figures?).map_err(StageError::Figures)?;
        Ok(())
    }

    /// From the preparation to the check.
    fn timed(
        &mut self,
        measured: &mut Measured,
        iteration: u32,
        tell: &mut dyn FnMut(Stage),
    ) -> Result<(), StageError> {
        // Dropped on every way out.
        let pass = self.place.as_mut().and_then(|place| place.pass.take());
        if let Some(place) = &self.place {
            self.application.keep_on(&place.cpus)?;
        }
        self.application.stage(Stage::Prepare, iteration, self.stop, tell)?;
        measured.settled = self.application.settle(self.stop, tell)?;
        // Where one has failed before, the others begin without it.
        pass.map(Pass::arrive);
        let before = Counters::take(self.devices);
        let timed = self.application.time(iteration, self.stop, tell)?;
        let cost = Counters::take(self.devices).since(&before);
        measured.timed = Some((timed, cost));
        self.application.stage(Stage::Verify, iteration, self.stop, tell)
    }

    fn iteration(&self, measured: &Measured, began_ns: u64) -> Iteration {
        let Measured { settled: (settle_ns, is_at_rest), timed, figures } = measured;
        let known = Iteration {
            round: self.round,
            from_ns: began_ns,
            settle_ns: *settle_ns,
            is_at_rest: *is_at_rest,
            figures: figures.clone(),
            cpus: self.place.as_ref().map(|place| place.cpus.clone()).unwrap_or_default(),
            ..Iteration::default()
        };
        let Some((timed, cost)) = timed else { return known };
        let Timed { started_ns, elapsed_ns, usage, servers, knows_bytes, max_resident_bytes, .. } = *timed;
        Iteration {
            from_ns: self.clock.since_start_ns(started_ns),
            elapsed_ns,
            user_ns: usage.user_ns,
            system_ns: usage.system_ns,
            max_resident_bytes,
            server_user_ns: servers.user_ns,
            server_system_ns: servers.system_ns,
            read_bytes: knows_bytes.then_some(usage.read_bytes + servers.read_bytes),
            written_bytes: knows_bytes.then_some(usage.written_bytes + servers.written_bytes),
            device: cost.device.clone(),
            looks: timed.looks,
            disk_wait_share: timed.disk_wait_share,
            runnable_share: timed.runnable_share,
            ..known
        }
    }
}

fn error_of(error: &StageError) -> ErrorCount {
    let (operation, error) = match error {
        StageError::Failed { stage, .. } | StageError::TimedOut { stage, .. } => (stage.as_str(), error.to_string()),
        StageError::Figures(_) => (Stage::Run.as_str(), error.to_string()),
        StageError::Stopped | StageError::Left(_) | StageError::NoUser(_) | StageError::System { .. } => {
            ("application", error.to_string())
        }
    };
    ErrorCount { operation: operation.to_owned(), error, count: 1, first_offset: 0, first_file: None }
}
