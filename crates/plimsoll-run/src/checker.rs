//! Verification of one job: stamps what it writes, checks what it reads, and reads everything back at the end.

use std::{io, os::fd::BorrowedFd};

use plimsoll_io::{
    clock::Clock,
    engine::{Engine, Tag},
    page_cache,
};
use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::verification::VerificationResult;
use plimsoll_workload::{
    file_space::FileSpace,
    operation::{Operation, OperationKind},
    plan::BlockPlan,
    verification::{self, Expected, GenerationMap, Mismatch, MismatchKind},
};
use rustix::{fs::fsync, io::retry_on_intr};

use crate::{stops::Stops, tally::SlotTally};

/// What a job knows of its blocks.
pub struct Checker<'a> {
    generations: &'a GenerationMap,
    /// Which file a block falls into.
    space: FileSpace,
    block_bytes: u32,
    /// Operations in a pass over the job's region.
    pass_operations: u64,
    issued: u64,
    /// Whether blocks that this run has not written carry a header too.
    laid_out: bool,
    result: VerificationResult,
}

impl<'a> Checker<'a> {
    /// A checker for a job whose blocks so far are as `generations` says.
    pub fn new(plan: &BlockPlan, job: u32, generations: &'a GenerationMap, laid_out: bool) -> Self {
        let block_bytes = plan.block_size_bytes_max;
        Self {
            generations,
            space: plan.file_space(job),
            block_bytes,
            pass_operations: plan.job_region(job).length / u64::from(block_bytes),
            issued: 0,
            laid_out,
            result: VerificationResult::default(),
        }
    }

    /// Counts an operation that is about to be issued.
    pub const fn count_issue(&mut self) {
        self.issued += 1;
    }

    /// Whether the next operation begins a new pass, and so may touch a block that is still in flight.
    pub const fn is_between_passes(&self) -> bool {
        self.issued > 0 && self.issued.is_multiple_of(self.pass_operations)
    }

    /// Makes a buffer the next generation of its block.
    pub fn stamp(&self, buffer: &mut [u8], offset: u64) {
        self.generations.stamp_next(buffer, offset);
    }

    /// Notes that an operation failed: what it was to write is not missed where it is not.
    pub fn forget(&self, operation: Operation) {
        if operation.kind == OperationKind::Write {
            self.generations.forget(operation.offset);
        }
    }

    /// Checks a block that was read.
    pub fn check(&mut self, buffer: &[u8], offset: u64) {
        let expected = self.generations.expected(offset);
        if let Some(expected) = expected.filter(|expected| expected.is_known(self.laid_out)) {
            self.compare(buffer, expected);
        }
    }

    fn compare(&mut self, buffer: &[u8], expected: Expected) {
        self.result.blocks_checked += 1;
        if let Err(mismatch) = verification::check(buffer, expected) {
            self.note(&mismatch);
        }
    }

    fn note(&mut self, mismatch: &Mismatch) {
        self.result.mismatches += 1;
        if self.result.examples.len() < VerificationResult::EXAMPLES_MAX {
            let Mismatch { kind, offset, detail } = mismatch;
            let place = self.place(*offset);
            // Where a block says that it belongs counts through all files.
            let counts_through = matches!(kind, MismatchKind::Misdirected | MismatchKind::Foreign);
            let is_of_several = self.space.has_several_files();
            let through = if counts_through && is_of_several { ", counted through all files" } else { "" };
            self.result.add_example(format!("{kind} {place}: {detail}{through}"));
        }
    }

    /// Where a byte is, for people.
    fn place(&self, offset: u64) -> String {
        let Operation { file, offset, .. } =
            self.space.place(Operation { kind: OperationKind::Read, file: 0, length: 1, offset });
        if self.space.has_several_files() {
            format!("in file {file} at offset {offset}")
        } else {
            format!("at offset {offset}")
        }
    }

    /// Has what was written through the page cache reach the storage, and leave the cache, so that it is the storage
    /// that is read back. What the storage did not take is counted as a failed sync.
    pub fn leave_page_cache(&self, files: &[BorrowedFd<'_>], tally: &mut SlotTally) {
        for (number, file) in (0..).zip(files) {
            if let Err(errno) = retry_on_intr(|| fsync(file)) {
                let sync = Operation { kind: OperationKind::Sync, file: number, length: 0, offset: 0 };
                tally.count_error(sync, io::Error::from(errno).to_string(), self.space.has_several_files());
            }
            page_cache::drop_cached(*file);
        }
    }

    /// Reads back every block that is known, with nothing else in flight, and tells what was found in all.
    pub fn read_back<E: Engine, C: Clock>(
        mut self,
        engine: &mut E,
        clock: &C,
        tags: u32,
        stops: Stops<'_>,
    ) -> io::Result<VerificationResult> {
        let generations = self.generations;
        let mut blocks = generations.known_blocks(self.laid_out);
        let mut free: Vec<Tag> = (0..tags).map(|tag| Tag(tag as u16)).collect();
        let mut reading: Vec<Option<Expected>> = vec![None; tags as usize];
        let mut started_ns = vec![0; tags as usize];
        let mut completions = Vec::with_capacity(tags as usize);
        let mut latencies = LatencyHistogram::fine();
        let from_ns = clock.now_ns();
        loop {
            // Read again, because checking a block takes a while.
            let now_ns = clock.now_ns();
            while !free.is_empty() && !stops.is_set() {
                let Some(expected) = blocks.next() else { break };
                let tag = free.pop().expect("checked above");
                reading[usize::from(tag.0)] = Some(expected);
                started_ns[usize::from(tag.0)] = now_ns;
                let (kind, length) = (OperationKind::Read, self.block_bytes);
                let operation = Operation { kind, file: 0, length, offset: expected.offset };
                engine.submit(tag, self.space.place(operation))?;
            }
            if free.len() == tags as usize {
                self.result.read_back_ns = now_ns - from_ns;
                self.result.add_read_back(&latencies);
                return Ok(self.result);
            }
            engine.wait(1, None, &mut completions)?;
            let now_ns = clock.now_ns();
            for completion in completions.drain(..) {
                let expected = reading[usize::from(completion.tag.0)].take().expect("it was read");
                self.result.blocks_read_back += 1;
                if completion.result == self.block_bytes as i32 {
                    latencies.record_many(now_ns - started_ns[usize::from(completion.tag.0)], 1);
                    let buffer = &engine.buffer(completion.tag)[..self.block_bytes as usize];
                    self.compare(buffer, expected);
                } else {
                    self.unreadable(expected.offset, completion.result);
                }
                free.push(completion.tag);
            }
        }
    }

    fn unreadable(&mut self, offset: u64, result: i32) {
        self.result.blocks_checked += 1;
        self.result.mismatches += 1;
        if self.result.examples.len() < VerificationResult::EXAMPLES_MAX {
            let why = if result < 0 {
                io::Error::from_raw_os_error(-result).to_string()
            } else {
                format!("only {result} bytes")
            };
            self.result.add_example(format!("unreadable {}: {why}", self.place(offset)));
        }
    }

    /// What reads found so far, without reading anything back.
    pub fn into_result(self) -> VerificationResult {
        self.result
    }
}
