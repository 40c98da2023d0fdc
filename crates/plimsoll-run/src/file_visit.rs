//! One slot of a cell that works on a set of files: each phase once, with what it takes around it.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use plimsoll_files::{
    cached::Cached,
    job::mix::Part,
    phase::PhaseOutcome,
    set::{FileSet, SetError},
};
use plimsoll_io::block_device::BackingDevice;
use plimsoll_record::{
    event::{RunEvent, SlotResult},
    files::{CachedFiles, SlotCall, SlotPhase},
    results::{CpuCost, DeviceActivity, ErrorCount},
    verification::VerificationResult,
};
use plimsoll_workload::file_set::{FilePhase, FilePlan};

use crate::{counters::Counters, resuming::RunClock, run::RunError};

impl From<SetError> for RunError {
    fn from(error: SetError) -> Self {
        match error {
            SetError::Panicked => Self::FileJob(error),
            error => Self::Io(io::Error::other(error)),
        }
    }
}

/// A cell's set of files, and what is to be known of it.
pub(crate) struct FileVisit<'a> {
    pub(crate) cell: usize,
    pub(crate) plan: &'a FilePlan,
    pub(crate) set: &'a mut FileSet,
    pub(crate) devices: &'a [BackingDevice],
    pub(crate) clock: RunClock,
    /// Whether the files of the last slot are to be found after the run.
    pub(crate) keeps_files: bool,
    pub(crate) stop: &'a AtomicBool,
}

impl FileVisit<'_> {
    /// Does all phases once.
    pub(crate) fn run(mut self, emit: &mut dyn FnMut(RunEvent)) -> Result<SlotResult, RunError> {
        let mut slot = SlotResult { cell: self.cell, from_ns: self.clock.now_ns(), ..SlotResult::default() };
        let done = self.phases(&mut slot, emit);
        self.settle(&mut slot, done)?;
        let last = slot.phases.last().map(|phase| phase.from_ns + phase.elapsed_ns);
        slot.elapsed_ns = last.unwrap_or(slot.from_ns) - slot.from_ns;
        let sum = |of: fn(&SlotPhase) -> u64| slot.phases.iter().map(of).sum::<u64>();
        slot.cpu = CpuCost {
            user_ns: sum(|phase| phase.user_ns),
            system_ns: sum(|phase| phase.system_ns),
            ..CpuCost::default()
        };
        let mut devices = slot.phases.iter().filter_map(|phase| phase.device.as_ref()).peekable();
        if devices.peek().is_some() {
            let mut all = DeviceActivity::default();
            devices.for_each(|device| all.add(device));
            slot.device = Some(all);
        }
        let has_mix = slot.phases.iter().any(|phase| phase.phase == FilePhase::Mix);
        let whole = slot.phases.iter().filter(|phase| !phase.is_part).count();
        let is_short = whole < self.plan.phases.as_slice().len() || has_mix;
        slot.is_cut |= self.is_stopped() && is_short;
        if !self.keeps_files {
            let done = self.set.finish(self.stop);
            self.settle(&mut slot, done)?;
        }
        Ok(slot)
    }

    /// What fails around phases ends the cell, and nothing else of the run; what was measured before it is kept.
    fn settle(&self, slot: &mut SlotResult, done: Result<(), SetError>) -> Result<(), RunError> {
        let (operation, error) = match done {
            Ok(()) => return Ok(()),
            Err(SetError::Preparation { phase, operation, error }) => (format!("{operation} before {phase}"), error),
            Err(SetError::System { what, source }) => (what.to_owned(), source.to_string()),
            Err(error) => return Err(error.into()),
        };
        slot.errors.push(ErrorCount { operation, error, count: 1, first_offset: 0, first_file: None });
        Ok(())
    }

    fn phases(&mut self, slot: &mut SlotResult, emit: &mut dyn FnMut(RunEvent)) -> Result<(), SetError> {
        let mut has_failed = false;
        for phase in self.plan.phases.as_slice() {
            if self.is_stopped() || has_failed && !self.plan.keep_going {
                break;
            }
            self.set.prepare(*phase, self.stop)?;
            let reads = match (phase, &self.plan.mix) {
                (FilePhase::WriteRead, _) => false,
                (FilePhase::Mix, Some(mix)) => mix.phases().into_iter().any(FilePhase::reads),
                (phase, _) => phase.reads(),
            };
            let cached = if reads { Some(held(self.set.make_cached(self.stop)?)) } else { None };
            let (done, outcome) = self.measure(*phase, cached, emit)?;
            slot.is_cut |= self.is_stopped() && outcome.is_cut;
            if slot.phases.is_empty() {
                slot.from_ns = done.from_ns;
            }
            slot.cpu_operations += done.operations;
            let parts: Vec<SlotPhase> = outcome.parts.iter().map(|part| part_of(&done, part)).collect();
            slot.phases.push(done);
            slot.phases.extend(parts);
            self.note(slot, *phase, &outcome);
            has_failed |= !outcome.errors.is_empty();
            self.set.restore(*phase, &outcome, self.stop)?;
            if self.plan.verify && slot.tree_sha256.is_none() && !has_failed && !self.is_stopped() {
                slot.tree_sha256 = self.set.checksum(self.stop)?;
            }
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn measure(
        &mut self,
        phase: FilePhase,
        cached: Option<CachedFiles>,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(SlotPhase, PhaseOutcome), SetError> {
        let (cell, total) = (self.cell, self.set.operations(phase));
        let mut tell = |done| emit(RunEvent::PhaseProgress { cell, phase, done, total });
        tell(0);
        let before = Counters::take(self.devices);
        let outcome = self.set.run(phase, self.stop, &mut tell)?;
        let cost = Counters::take(self.devices).since(&before);
        let call = |(call, histogram): (plimsoll_files::calls::Call, &plimsoll_measure::latency::LatencyHistogram)| {
            SlotCall { call: call.as_str().to_owned(), histogram: histogram.clone() }
        };
        let done = SlotPhase {
            phase,
            from_ns: self.clock.since_start_ns(outcome.start_ns),
            elapsed_ns: outcome.elapsed_ns,
            operations: outcome.operations(),
            bytes: outcome.bytes,
            operation_ns: outcome.times.operation_ns,
            histogram: outcome.times.operations.clone(),
            calls: outcome.times.calls().map(call).collect(),
            job_operations: outcome.job_operations.clone(),
            first_done_ns: outcome.first_done_ns,
            first_done_operations: outcome.first_done_operations,
            sync_ns: outcome.sync_ns,
            cached,
            device: cost.device,
            user_ns: cost.cpu.user_ns,
            system_ns: cost.cpu.system_ns,
            is_cut: outcome.is_over_time,
            is_part: false,
        };
        Ok((done, outcome))
    }

    fn note(&self, slot: &mut SlotResult, phase: FilePhase, outcome: &PhaseOutcome) {
        if outcome.checked_blocks > 0 {
            let checked = slot.verification.get_or_insert_with(VerificationResult::default);
            checked.blocks_checked += outcome.checked_blocks;
        }
        for error in &outcome.errors {
            if error.operation == "verify" {
                let checked = slot.verification.get_or_insert_with(VerificationResult::default);
                checked.mismatches += error.count;
                let example = error.example.as_deref().unwrap_or_default();
                checked.add_example(format!("file {}: {} {example}", error.first_file, error.error));
                continue;
            }
            slot.errors.push(ErrorCount {
                operation: format!("{phase} ({})", error.operation),
                error: error.error.clone(),
                count: error.count,
                first_offset: error.first_file,
                first_file: None,
            });
        }
    }
}

/// A step of a mix, as a phase that took all of its time.
fn part_of(mix: &SlotPhase, part: &Part) -> SlotPhase {
    SlotPhase {
        phase: part.phase,
        operations: part.job_operations.iter().sum(),
        bytes: part.bytes,
        operation_ns: part.operation_ns,
        histogram: part.latencies.clone(),
        calls: Vec::new(),
        job_operations: part.job_operations.clone(),
        first_done_operations: 0,
        sync_ns: 0,
        cached: None,
        device: None,
        user_ns: 0,
        system_ns: 0,
        is_part: true,
        ..mix.clone()
    }
}

fn held(cached: Cached) -> CachedFiles {
    let Cached { method, total_bytes, resident_bytes, reason } = cached;
    CachedFiles { method: method.map(str::to_owned), total_bytes, resident_bytes, reason }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use plimsoll_record::{builder::RecordBuilder, event::RunStarted};

    use super::*;
    use crate::{
        evidence,
        test_plans::{plan_on_directory, started},
    };

    #[test]
    fn only_a_phase_whose_time_was_over_is_said_to_have_ended_by_its_limit() {
        // Whether an interruption cut the slot, and what is said of the limit; the run is to stop in that phase.
        let told = |phases: &str, limit: &str, stop_in: Option<FilePhase>| {
            let workload = format!("phases = '{phases}'\nfile_count = 60\n{limit}");
            let begun = RunStarted { plan: plan_on_directory(&workload), ..started("rw = 'read'") };
            let plan = begun.plan.cells[0].files().unwrap().clone();
            let place = tempfile::tempdir().unwrap();
            let mut set = FileSet::new(File::open(place.path()).unwrap().into(), &plan).unwrap();
            let (stop, clock) = (AtomicBool::new(false), RunClock::from_now(0));
            let visit =
                FileVisit { cell: 0, plan: &plan, set: &mut set, devices: &[], clock, keeps_files: false, stop: &stop };
            let slot = visit.run(&mut |event| {
                let begins = matches!(event, RunEvent::PhaseProgress { phase, done: 0, .. } if stop_in == Some(phase));
                stop.fetch_or(begins, Ordering::Relaxed);
            });
            let slot = slot.unwrap();
            let is_cut = slot.is_cut;
            let mut builder = RecordBuilder::new(begun);
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
            let record = builder.finish();
            let found = evidence::of_cell(&record.cells[0], &record, None);
            let text = found.into_iter().find(|found| found.code == "files-phase-limit").map(|found| found.text);
            (is_cut, text.unwrap_or_default())
        };
        let [long, short] = ["duration = '30s'", "duration = '1ns'"];
        let all = "write,read,delete";
        assert_eq!(told(all, long, None), (false, String::new()));
        assert_eq!(told(all, long, Some(FilePhase::Write)), (true, String::new()));
        assert_eq!(told(all, long, Some(FilePhase::Delete)), (true, String::new()));
        let (is_cut, text) = told("write,read", short, None);
        assert!(text.ends_with("had their turn: write, read; what followed worked with what there was"), "{text}");
        assert!(!is_cut);
        let (_, text) = told("write", short, None);
        assert!(text.starts_with("ended by the limit") && text.ends_with("had their turn: write"), "{text}");
    }
}
