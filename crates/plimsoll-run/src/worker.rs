//! The hot loop: keeps a job's operations in flight and times them.
//!
//! It is generic over the engine and the clock, so that each engine gets a loop of its own and the scripted memory
//! engine can run it on a virtual clock. Inside the loop nothing is allocated (but for errors, for verification, a page
//! now and then, and for a second when the collector lags), no lock is taken (but for arrivals and turns that threads
//! share, which block for each operation anyway), and the clock is read once for each batch that is reaped, once more
//! after what was verified of it, and once for each write.
//!
//! System calls for operations are made in the frame of [`Worker::run`]: what leads to one is `inline(always)`, here
//! and in the engines but that of libaio. A return from a function that was entered before the call may be predicted
//! wrongly after it; with the guards that Linux 6.18 has on Zen 3 (Safe RET, retpolines) one such return made a read of
//! 4 KiB from zram a fifth slower. Functions that are entered after the call do not suffer.

mod arrivals;
mod assignment;
mod course;
mod open_loop;

use std::{hint::cold_path, io, sync::atomic::Ordering};

use plimsoll_io::{
    clock::Clock,
    engine::{Completion, Engine, Tag},
};
use plimsoll_workload::{
    content::ContentSource,
    file_space::FileSpace,
    operation::{Operation, OperationKind},
    operation_stream::OperationStream,
    plan::BlockPlan,
};

pub use self::{
    arrivals::Arrivals,
    assignment::{Assignment, Outcome, Wires},
    course::{CourseOf, JobEnd, SharedCourse, Turn},
};
use crate::{
    checker::Checker,
    client::WorkerUsage,
    cold_files::ColdFiles,
    tally::{IntervalTally, SlotTally, TICK_NS},
    timing::{Second, Timing},
};

/// A worker looks at the clock and the stop flag at least this often.
const PATIENCE_NS: u64 = 100_000_000;
/// An open loop sleeps until this long before an arrival and then watches the clock.
const SPIN_NS: u64 = 60_000;
/// An operation of an open loop is late when it is issued this long after its time.
const LATE_NS: u64 = 1_000_000;
/// Writes of at least this many bytes go to the kernel one by one, because filling the next buffer takes a while.
const SUBMIT_AT_ONCE_BYTES: u32 = 32 * 1024;

/// A worker in its slot.
pub struct Worker<'a, E, C> {
    engine: E,
    clock: C,
    plan: &'a BlockPlan,
    timing: Timing,
    wires: Wires<'a>,
    stream: OperationStream,
    /// Which file an operation falls into.
    space: FileSpace,
    /// Whether operations transfer anything.
    has_data: bool,
    arrivals: Option<Arrivals<'a>>,
    course: CourseOf<'a>,
    job_end: &'a JobEnd,
    content: ContentSource,
    checker: Option<Checker<'a>>,
    cold: Option<ColdFiles<'a>>,
    /// Tags that are not in flight; the one used last is used next, because its buffer is still in the cache.
    free: Vec<Tag>,
    /// Most operations that the kernel gets at once, and how many it has not got yet.
    submit: u32,
    unsubmitted: u32,
    /// By tag.
    issued: Box<[Issued]>,
    completions: Vec<Completion>,
    operations_left: u64,
    bytes_left: u64,
    /// Whether there is an end to either.
    has_amount: bool,
    /// Since when arrivals of an open loop are held up by operations in flight; `u64::MAX` while they are not.
    held_up_from_ns: u64,
    /// The operation that was drawn but may not be issued yet, and its intended time in an open loop.
    next: Option<(Operation, u64)>,
    writes: u64,
    tally: SlotTally,
    interval: Box<IntervalTally>,
    second: Second,
    /// When the measured time began for this worker, and what it had used by then.
    measured_from: Option<WorkerUsage>,
    /// Operations that had ended when the second began.
    settled_before: u64,
    /// Whether operations were in flight when the second began. Closed loops begin their first one with some.
    waited_before: bool,
    /// Whether nothing more is issued but a sync at the end, which may take long.
    is_ending: bool,
    /// Whether that was issued.
    is_syncing: bool,
}

/// An operation that was issued.
#[derive(Clone, Copy)]
struct Issued {
    operation: Operation,
    /// What its latency counts from: in an open loop when it was due.
    started_ns: u64,
    issued_ns: u64,
}

impl Issued {
    /// Whether they share direction, length and start: those that ended together are counted together then.
    #[inline]
    fn is_like(&self, other: &Self) -> bool {
        self.started_ns == other.started_ns
            && self.operation.length == other.operation.length
            && self.operation.kind == other.operation.kind
    }
}

/// Why a worker issues nothing more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The measured window is over.
    Window,
    /// Its amount is done.
    Amount,
    /// It was told to stop, or its phase was over.
    Stopped,
}

impl<'a, E: Engine, C: Clock> Worker<'a, E, C> {
    /// A worker on an engine that has as many tags as the assignment.
    pub fn new(engine: E, clock: C, assignment: Assignment<'a>, wires: Wires<'a>) -> Self {
        let Assignment { plan, tags, stream, space, arrivals, content, checker, .. } = assignment;
        let Assignment { course, job_end, operations_max, bytes_max, cold, timing, .. } = assignment;
        let depth = tags as usize;
        let nothing = Operation { kind: OperationKind::Read, file: 0, length: 0, offset: 0 };
        let interval = wires.empty.try_recv().unwrap_or_else(|_| Box::new(IntervalTally::new()));
        Self {
            engine,
            clock,
            plan,
            wires,
            stream,
            space,
            has_data: plan.name_operation().is_none(),
            content,
            checker,
            cold,
            submit: plan.submit.unwrap_or(u32::MAX),
            unsubmitted: 0,
            free: (0..tags).rev().map(|tag| Tag(tag as u16)).collect(),
            issued: vec![Issued { operation: nothing, started_ns: 0, issued_ns: 0 }; depth].into(),
            completions: Vec::with_capacity(depth),
            operations_left: operations_max.unwrap_or(u64::MAX),
            bytes_left: bytes_max.unwrap_or(u64::MAX),
            has_amount: operations_max.is_some() || bytes_max.is_some(),
            settled_before: 0,
            waited_before: arrivals.is_none(),
            is_ending: false,
            is_syncing: false,
            arrivals,
            course,
            job_end,
            held_up_from_ns: u64::MAX,
            next: None,
            writes: 0,
            tally: SlotTally::new(),
            interval,
            second: timing.first_second(),
            measured_from: None,
            timing,
        }
    }

    /// Does the slot. An `Err` is the engine's: the kernel no longer takes or hands out operations.
    pub fn run(mut self) -> io::Result<Outcome<'a, E>> {
        let mut now = self.clock.now_ns();
        while now < self.timing.start_ns && !self.wires.stops.end_the_slot() {
            let until_ns = self.timing.start_ns.min(now + PATIENCE_NS);
            self.engine.wait(1, Some(until_ns), &mut self.completions)?;
            now = self.clock.now_ns();
        }
        self.note_measured_from(now);
        let end = loop {
            if self.timing.is_over(now) {
                break End::Window;
            }
            if self.wires.stops.end_the_slot() {
                break End::Stopped;
            }
            if self.in_flight() == 0 && self.is_exhausted() {
                break End::Amount;
            }
            now = if self.arrivals.is_some() { self.issue_due(now)? } else { self.refill(now)? };
            // A closed loop that has something to issue and has not issued it is to think.
            let is_pausing = self.in_flight() == 0 && self.arrivals.is_none();
            now = if is_pausing { self.pause(now)? } else { self.wait(now)? };
        };
        self.wind_up(end, now)
    }

    /// Waits for completions, or for the next arrival of an open loop.
    #[inline(always)]
    fn wait(&mut self, now: u64) -> io::Result<u64> {
        let (at_least, deadline_ns) = self.patience(now);
        // What came back while a large write was handed over is enough to go on with.
        let at_least = if self.completions.is_empty() { at_least } else { 0 };
        self.engine.wait(at_least, Some(deadline_ns), &mut self.completions)?;
        self.unsubmitted = 0;
        let later = self.reap();
        if C::IS_MOVED_BY_ENGINE && later == now && at_least == 0 && self.next.is_some() {
            let intended_ns = self.peek().1;
            self.engine.wait(1, Some(intended_ns), &mut self.completions)?;
            return Ok(self.reap());
        }
        Ok(later)
    }

    /// Waits until nothing is in flight.
    fn drain(&mut self, mut now: u64) -> io::Result<u64> {
        while self.in_flight() > 0 {
            let at_least = usize::from(self.completions.is_empty());
            self.engine.wait(at_least, Some(now + PATIENCE_NS), &mut self.completions)?;
            now = self.reap();
        }
        Ok(now)
    }

    /// How many operations are in flight.
    #[inline]
    fn in_flight(&self) -> usize {
        self.issued.len() - self.free.len()
    }

    fn is_exhausted(&self) -> bool {
        self.has_amount && (self.operations_left == 0 || self.bytes_left == 0)
    }

    /// Waits for what is still in flight, makes the end durable if asked, and hands in the last second.
    fn wind_up(mut self, end: End, mut now: u64) -> io::Result<Outcome<'a, E>> {
        let processor = self.measured_from.map(|from| WorkerUsage::at(self.clock.now_ns()).since(from));
        let until_ns = self.timing.until_ns;
        let is_stopped = |worker: &Self| worker.wires.stops.is_set();
        // It has ended once one of them has seen that, however long another takes to.
        let stops = self.wires.stops;
        let seen = if end == End::Stopped { Some(stops.see(self.clock.now_ns())) } else { stops.seen() };
        let seen_ns = seen.unwrap_or(u64::MAX);
        match end {
            End::Window => self.note_stall(),
            End::Stopped => self.cut_short(),
            End::Amount => {}
        }
        let syncs = self.plan.end_fsync && !is_stopped(&self);
        let has_written = self.writes > 0;
        if syncs && has_written {
            // The sync counts as measured although the window is over, which it lengthens: so does what it waits for.
            self.timing.until_ns = None;
        }
        self.is_ending = true;
        now = self.drain(now)?;
        if syncs && self.job_end.leave(has_written) && !is_stopped(&self) {
            // Others may have written what this one syncs.
            self.timing.until_ns = None;
            self.is_syncing = true;
            for file in 0..self.plan.file_count {
                self.course.begin_another();
                self.issue_sync(OperationKind::Sync, file as u16, now)?;
                now = self.drain(now)?;
            }
        }
        let ended_ns = match end {
            End::Amount => self.tally.last_completion_ns,
            End::Window | End::Stopped => until_ns.map_or(seen_ns, |until_ns| until_ns.min(seen_ns)),
        };
        if end != End::Amount {
            self.count_never_issued(ended_ns);
        }
        // The last second may be a short one.
        self.second.until_ns = self.second.until_ns.min(now).max(self.second.from_ns);
        self.interval.is_last = true;
        self.hand_in();
        Ok(Outcome { tally: self.tally, processor, ended_ns, checker: self.checker, engine: self.engine })
    }

    /// Keeps the depth constant: an operation for every free tag.
    #[inline(always)]
    fn refill(&mut self, mut now: u64) -> io::Result<u64> {
        while !self.is_held_up() && !self.is_exhausted() {
            let operation = if self.next.is_none() { self.stream.next_operation() } else { self.take_next() };
            match self.turn(operation) {
                Turn::Issue => now = self.issue(operation, now, None)?,
                turn => {
                    self.next = Some((operation, now));
                    let Turn::Sync(kind, file) = turn else { break };
                    self.issue_sync(kind, file, now)?;
                }
            }
        }
        Ok(now)
    }

    /// The operation that had to wait.
    #[cold]
    fn take_next(&mut self) -> Operation {
        self.next.take().expect("the caller saw it").0
    }

    /// Fills, stamps and submits an operation. Returns the time, read again when something took a while before it.
    #[inline(always)]
    fn issue(&mut self, operation: Operation, mut now: u64, intended_ns: Option<u64>) -> io::Result<u64> {
        // Field by field: a copy as a whole would wait until what was written in pieces has reached the cache.
        let Operation { kind, file, mut length, offset } = operation;
        if self.has_amount {
            // Most runs last for a time.
            cold_path();
            // Where sizes vary, the last operation has what is left.
            length = u64::from(length).min(self.bytes_left) as u32;
        }
        let operation = Operation { kind, file, length, offset };
        let tag = self.free.pop().expect("the caller saw a free tag");
        if let Some(cold) = &mut self.cold
            && cold.count(operation.length)
        {
            now = self.clock.now_ns();
        }
        if operation.kind == OperationKind::Write && self.has_data {
            let buffer = &mut self.engine.buffer(tag)[..operation.length as usize];
            match &mut self.checker {
                Some(checker) => checker.stamp(buffer, operation.offset),
                None => self.content.fill(buffer, operation.offset, self.writes),
            }
            self.writes += 1;
            now = self.clock.now_ns();
        }
        if let Some(checker) = &mut self.checker {
            checker.count_issue();
        }
        let placed = self.space.place(operation);
        let started_ns = intended_ns.unwrap_or(now);
        self.issued[usize::from(tag.0)] = Issued { operation, started_ns, issued_ns: now };
        // What starts in the ramp does not eat up the amount that is to be measured.
        if self.has_amount && started_ns >= self.timing.from_ns {
            self.operations_left -= 1;
            self.bytes_left = self.bytes_left.saturating_sub(u64::from(operation.length));
        }
        self.engine.submit(tag, placed)?;
        self.unsubmitted += 1;
        let is_large = || operation.kind == OperationKind::Write && operation.length >= SUBMIT_AT_ONCE_BYTES;
        if self.unsubmitted >= self.submit || is_large() {
            self.engine.wait(0, None, &mut self.completions)?;
            self.unsubmitted = 0;
        }
        Ok(now)
    }

    #[inline(always)]
    fn issue_sync(&mut self, kind: OperationKind, file: u16, now: u64) -> io::Result<()> {
        let tag = self.free.pop().expect("the caller saw a free tag");
        let operation = Operation { kind, file, length: 0, offset: 0 };
        self.issued[usize::from(tag.0)] = Issued { operation, started_ns: now, issued_ns: now };
        self.engine.submit(tag, operation)?;
        Ok(())
    }

    /// What comes before the operation, if it may be issued at all.
    #[inline(always)]
    fn turn(&mut self, operation: Operation) -> Turn {
        let is_write = operation.kind == OperationKind::Write && self.has_data;
        self.course.next(is_write.then(|| self.space.place(operation).file))
    }

    /// A verified block may be written again only when its earlier write is done.
    #[inline]
    fn must_drain(&self) -> bool {
        self.checker.as_ref().is_some_and(Checker::is_between_passes) && self.in_flight() > 0
    }

    /// Thinks, with nothing in flight.
    fn pause(&mut self, mut now: u64) -> io::Result<u64> {
        while !self.timing.is_over(now) && !self.wires.stops.end_the_slot() {
            let limit = now + PATIENCE_NS;
            let limit = self.timing.until_ns.map_or(limit, |until| limit.min(until));
            match self.course.resumes_ns(now) {
                Some(resumes_ns) if resumes_ns <= now => break,
                Some(resumes_ns) => self.engine.wait(1, Some(limit.min(resumes_ns)), &mut self.completions)?,
                None => self.course.wait_for_others(limit - now),
            }
            now = self.reap();
        }
        Ok(now)
    }

    /// How many completions to wait for, and until when.
    #[inline]
    fn patience(&mut self, now: u64) -> (usize, u64) {
        let limit = now + PATIENCE_NS;
        let limit = self.timing.until_ns.map_or(limit, |until| limit.min(until));
        if self.arrivals.is_some() && !self.is_held_up() && !self.is_exhausted() {
            let (_, intended_ns) = self.peek();
            if intended_ns <= now + SPIN_NS {
                return (0, now);
            }
            return (1, limit.min(intended_ns - SPIN_NS));
        }
        ((self.plan.batch as usize).clamp(1, self.in_flight().max(1)), limit)
    }

    /// Counts what has completed. Returns the time it was seen, or when it had been checked.
    #[inline]
    fn reap(&mut self) -> u64 {
        let now = self.clock.now_ns();
        if now >= self.second.until_ns || now >= self.wires.stops.seen_ns.load(Ordering::Relaxed) {
            self.next_second(now);
        }
        let tick = ((now - self.second.from_ns.min(now)) / TICK_NS) as usize;
        let in_window = self.timing.is_measured(now);
        let mut completions = std::mem::take(&mut self.completions);
        self.course.end(completions.len(), now);
        self.free.extend(completions.iter().map(|completion| completion.tag));
        let mut rest = completions.as_slice();
        // What was issued some time ago may have left the cache. The fewer instructions there are from one look to the
        // next, the more of them the processor waits for at once.
        while let Some(first) = rest.first() {
            let issued = self.issued[usize::from(first.tag.0)];
            let is_alike = |completion: &&Completion| {
                let other = &self.issued[usize::from(completion.tag.0)];
                completion.result == issued.operation.length as i32 && other.is_like(&issued)
            };
            let count = rest.iter().take_while(is_alike).count();
            let (alike, others) = rest.split_at(count.max(1));
            rest = others;
            if count == 0 {
                self.fail(issued.operation, first.result, now);
                continue;
            }
            self.look_at_each(alike, now);
            self.count(issued, count as u64, now, tick, in_window);
        }
        let may_have_checked = self.checker.is_some() && !completions.is_empty();
        completions.clear();
        self.completions = completions;
        if may_have_checked { self.clock.now_ns() } else { now }
    }

    /// What is to be known of every operation by itself: what it read where that is verified, and in an open loop how
    /// long it took from when it was issued.
    #[inline]
    fn look_at_each(&mut self, completions: &[Completion], now: u64) {
        let open = self.arrivals.is_some();
        if self.checker.is_none() && !open {
            return;
        }
        for completion in completions {
            let Issued { operation, started_ns, issued_ns } = self.issued[usize::from(completion.tag.0)];
            if let Some(checker) = &mut self.checker
                && operation.kind == OperationKind::Read
            {
                checker.check(&self.engine.buffer(completion.tag)[..operation.length as usize], operation.offset);
            }
            if open && !operation.kind.is_sync() && self.timing.is_measured(started_ns) {
                self.tally.service.record_many(now - issued_ns, 1);
            }
        }
    }

    /// Counts operations that are like this one, and ended together.
    #[inline]
    fn count(&mut self, issued: Issued, count: u64, now: u64, tick: usize, in_window: bool) {
        let Issued { operation: Operation { kind, length, .. }, started_ns, .. } = issued;
        let latency_ns = now - started_ns;
        // Whether the latency counts: whether they started, or were due, in the measured window.
        let timed = self.timing.is_measured(started_ns);
        let bytes = if self.has_data { u64::from(length) * count } else { 0 };
        // Rates count what completed in the window; latencies are those of what started in it, whenever that ends, so
        // that a storage that hangs until the end does not look healthy. An amount has nothing of what the ramp began.
        let is_beside = self.has_amount && in_window && !timed;
        if !self.timing.is_over(now) && !is_beside {
            self.interval.add(kind, bytes, latency_ns, count, tick);
        }
        let direction = self.tally.direction(kind);
        if in_window && !is_beside {
            direction.operations += count;
            direction.bytes += bytes;
            self.tally.last_completion_ns = now;
        } else {
            direction.outside_operations += count;
            direction.outside_bytes += bytes;
        }
        if timed {
            self.tally.direction(kind).histogram.record_many(latency_ns, count);
        }
    }

    #[cold]
    fn fail(&mut self, operation: Operation, result: i32, now: u64) {
        if self.timing.is_measured(now) {
            self.tally.last_completion_ns = now;
        }
        let error = if result < 0 {
            io::Error::from_raw_os_error(-result).to_string()
        } else {
            format!("short transfer: {result} of {} bytes", operation.length)
        };
        // Syncs are about files already.
        let placed = if operation.kind.is_sync() { operation } else { self.space.place(operation) };
        self.tally.count_error(placed, error, self.space.has_several_files());
        if let Some(checker) = &self.checker {
            checker.forget(operation);
        }
        if !self.plan.keep_going {
            self.wires.stops.halt.store(true, Ordering::Relaxed);
        }
    }

    /// Hands in the second that is over and begins the one that `now` lies in.
    #[cold]
    fn next_second(&mut self, now: u64) {
        self.cut_short();
        let is_over = |worker: &Self, second: Second| now >= second.until_ns && !worker.timing.is_over(second.until_ns);
        let mut is_another = false;
        while is_over(self, self.second) {
            self.note_stall();
            self.settled_before = self.tally.settled();
            self.waited_before = self.in_flight() > 0;
            let next = self.timing.next_second(self.second);
            if is_another && is_over(self, next) {
                // An operation may hang for hours: so many seconds at once would be more than the collector takes.
                self.interval.alike_before += 1;
            } else {
                self.hand_in();
            }
            (self.second, is_another) = (next, true);
        }
        self.note_measured_from(now);
    }

    /// What comes after an end before its time is not measured, though this worker may have waited in an operation.
    /// A sync at the end counts, and all until then with it.
    fn cut_short(&mut self) {
        let stops = self.wires.stops;
        let will_sync = self.plan.end_fsync && self.plan.writes() && !stops.is_set();
        let Some(seen_ns) = stops.seen().filter(|_| !self.is_syncing && !will_sync) else { return };
        // What was counted before anybody knew stays inside.
        let at_ns = seen_ns.max(self.tally.last_completion_ns);
        let until_ns = self.timing.until_ns.map_or(at_ns, |until_ns| until_ns.min(at_ns));
        self.timing.until_ns = Some(until_ns);
        self.second.until_ns = self.second.until_ns.min(until_ns).max(self.second.from_ns);
    }

    /// Reads what the worker has used once, in the first second that is measured.
    fn note_measured_from(&mut self, now: u64) {
        if self.second.measured && self.measured_from.is_none() {
            self.measured_from = Some(WorkerUsage::at(now));
        }
    }

    /// Notes whether in the second that ends operations were in flight from its start on, and none of them ended.
    fn note_stall(&mut self) {
        let nothing_ended = self.tally.settled() == self.settled_before;
        self.interval.stalled = self.waited_before && self.in_flight() > 0 && nothing_ended && !self.is_ending;
    }

    fn hand_in(&mut self) {
        // Allocated when the collector has kept all that were made before the start.
        let empty = self.wires.empty.try_recv().unwrap_or_else(|_| Box::new(IntervalTally::new()));
        let full = std::mem::replace(&mut self.interval, empty);
        // A collector that is gone or very far behind loses this part of the series, never the slot's totals.
        let seconds = 1 + full.alike_before as u64;
        if self.wires.full.try_send((self.wires.index, self.second, full)).is_err() {
            self.tally.lost_seconds += seconds;
        }
    }
}
