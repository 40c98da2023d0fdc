//! A job that repeats a flow of steps, each with a file drawn at random.

use std::io;

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_workload::{
    file_mix::{FileMix, MixAction},
    file_set::FilePhase,
    random::{Draws, Purpose, derive_seed},
};
use rustix::fs::ftruncate;

use super::Job;

/// What a step of a mix did.
#[derive(Clone, Debug)]
pub struct Part {
    /// As in the phase of this name.
    pub phase: FilePhase,
    /// How often, by each job.
    pub job_operations: Vec<u64>,
    /// Bytes transferred.
    pub bytes: u64,
    /// Latencies.
    pub latencies: LatencyHistogram,
    /// The time of all of them together.
    pub operation_ns: u64,
}

impl Part {
    fn new(phase: FilePhase) -> Self {
        Self { phase, job_operations: vec![0], bytes: 0, latencies: LatencyHistogram::fine(), operation_ns: 0 }
    }

    /// Adds what another job did.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.job_operations.extend(&other.job_operations);
        self.bytes += other.bytes;
        self.latencies.merge(&other.latencies);
        self.operation_ns += other.operation_ns;
    }
}

/// The files of a job: those that are there, and numbers that are free.
struct Pool {
    there: Vec<u32>,
    free: Vec<u32>,
}

impl Pool {
    /// The file for an action; `None` when there is none left.
    fn draw(&mut self, phase: FilePhase, draws: &mut Draws) -> Option<u32> {
        let place = draws.below(self.there.len() as u64) as usize;
        match phase {
            FilePhase::Write => match self.free.pop() {
                Some(file) => {
                    self.there.push(file);
                    Some(file)
                }
                // Without room for another one, one is made anew.
                None => self.there.get(place).copied(),
            },
            FilePhase::Delete if self.there.is_empty() => None,
            FilePhase::Delete => {
                let file = self.there.swap_remove(place);
                self.free.push(file);
                Some(file)
            }
            _ => self.there.get(place).copied(),
        }
    }
}

/// Logs do not grow beyond this, over all jobs.
const LOG_BYTES_MAX: u64 = 64 << 20;

impl Job<'_> {
    pub(super) fn repeat(&mut self, mix: &FileMix, deadline_ns: u64) -> io::Result<()> {
        let set = self.set();
        let (first, end) = set.plan.files_of(self.number);
        let present = set.present[self.number as usize].files;
        let (from, to) = (first + present.from, first + present.to);
        let mut pool = Pool { there: (from..to).collect(), free: (first..from).chain(to..end).collect() };
        self.report.parts = mix.phases().into_iter().map(Part::new).collect();
        let seed = derive_seed(derive_seed(set.plan.seed, Purpose::FileMix, self.number.into()), Purpose::Round, 0);
        let mut number = 0;
        let mut logged = 0;
        loop {
            let done_before = self.report.turns;
            for step in mix.steps() {
                for _ in 0..step.times {
                    if !self.goes_on(deadline_ns) {
                        return Ok(());
                    }
                    let mut draws = Draws::new(seed, number);
                    number += 1;
                    let action = step.choices[draws.below(step.choices.len() as u64) as usize];
                    let Some(file) = pool.draw(action.phase, &mut draws) else { continue };
                    self.act(action, file)?;
                    logged += if action.phase == FilePhase::Log { self.bytes_to_append() } else { 0 };
                    if logged > LOG_BYTES_MAX / u64::from(set.plan.jobs) {
                        self.empty_log()?;
                        logged = 0;
                    }
                }
            }
            let is_idle = self.report.turns == done_before;
            if is_idle && pool.there.is_empty() && !mix.makes_files() {
                // Nothing is left to do anything with.
                return Ok(());
            }
            if is_idle {
                self.report.times.resume();
            }
        }
    }

    fn act(&mut self, action: MixAction, file: u32) -> io::Result<()> {
        self.phase = action.phase;
        self.append_bytes = action.bytes;
        self.enter(file)?;
        let (operations, bytes, ns) = (self.report.operations, self.report.bytes, self.report.times.operation_ns);
        let done = self.one(file);
        self.note(file, done);
        let report = &mut self.report;
        let part = report.parts.iter_mut().find(|part| part.phase == action.phase);
        if report.operations > operations
            && let Some(part) = part
        {
            let latency_ns = report.times.operation_ns - ns;
            part.job_operations[0] += 1;
            part.bytes += report.bytes - bytes;
            part.latencies.record_many(latency_ns, 1);
            part.operation_ns += latency_ns;
        }
        Ok(())
    }

    fn empty_log(&mut self) -> io::Result<()> {
        if let Some(log) = &self.log {
            ftruncate(log, 0)?;
        }
        self.report.times.resume();
        Ok(())
    }
}
