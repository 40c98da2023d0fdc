//! What a worker gets, and what it hands back.

use std::sync::mpsc::{Receiver, SyncSender};

use plimsoll_workload::{
    content::ContentSource, file_space::FileSpace, operation_stream::OperationStream, plan::BlockPlan,
};

use super::{
    arrivals::Arrivals,
    course::{CourseOf, JobEnd},
};
use crate::{
    checker::Checker,
    client::WorkerUse,
    cold_files::ColdFiles,
    stops::Stops,
    tally::{IntervalTally, SlotTally},
    timing::{Second, Timing},
};

/// What one worker is to do in a slot.
pub struct Assignment<'a> {
    /// The cell's parameters.
    pub plan: &'a BlockPlan,
    /// Operations kept in flight.
    pub tags: u32,
    /// The operations, in order.
    pub stream: OperationStream,
    /// Which file each falls into.
    pub space: FileSpace,
    /// Their intended times, in an open loop.
    pub arrivals: Option<Arrivals<'a>>,
    /// The syncs and pauses between them.
    pub course: CourseOf<'a>,
    /// The end that it has in common with the other workers of its job.
    pub job_end: &'a JobEnd,
    /// What writes contain.
    pub content: ContentSource,
    /// Stamps and checks blocks, when the plan verifies.
    pub checker: Option<Checker<'a>>,
    /// Stop after so many operations, not counting those issued in the ramp.
    pub operations_max: Option<u64>,
    /// Stop after so many bytes, not counting those of the ramp.
    pub bytes_max: Option<u64>,
    /// Files that are read from the storage in each pass.
    pub cold: Option<ColdFiles<'a>>,
    /// The moments of the slot.
    pub timing: Timing,
}

/// How a worker talks to the thread that started it.
pub struct Wires<'a> {
    /// Whether the slot must end now.
    pub stops: Stops<'a>,
    /// Finished seconds go here.
    pub full: SyncSender<(usize, Second, Box<IntervalTally>)>,
    /// And come back from here, empty. Some are there from the start.
    pub empty: Receiver<Box<IntervalTally>>,
    /// Which worker this is.
    pub index: usize,
}

/// What a worker has to say at the end of its slot.
pub struct Outcome<'a, E> {
    /// What it counted.
    pub tally: SlotTally,
    /// What it used of its processor in the measured time; `None` when it never came to that.
    pub processor: Option<WorkerUse>,
    /// When its measured time ended: with the window, with the last operation of its amount, or when it was to stop.
    pub ended_ns: u64,
    /// The engine, with nothing in flight.
    pub engine: E,
    /// The checker, for reading everything back.
    pub checker: Option<Checker<'a>>,
}
