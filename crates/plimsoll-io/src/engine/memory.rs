//! The `memory` engine: no storage at all. For measuring what plimsoll itself costs, and for tests that are exact to
//! the nanosecond and take no time, because waiting moves a virtual clock.

use std::{cmp::Reverse, collections::BinaryHeap, io};

use plimsoll_workload::operation::{Operation, OperationKind};

use super::{Completion, Engine, Tag, TagsInFlight, checked_length, wait_for_nothing};
use crate::{
    buffer_pool::BufferPool,
    clock::{Clock, VirtualClock},
    probe::{EngineKind, EngineUnavailable, explain},
};

mod script;
#[cfg(test)]
mod tests;

use script::Service;
pub use script::{ErrorScript, Fault, MemoryScript, MemoryStore, Stall};

/// Operations that no kernel sees.
#[derive(Debug)]
pub struct MemoryEngine {
    buffers: BufferPool,
    tags: TagsInFlight,
    /// Results to be handed out, when operations end at once.
    ended: Vec<Completion>,
    scripted: Option<Box<Scripted>>,
}

/// The storage of a script.
#[derive(Debug)]
struct Scripted {
    clock: VirtualClock,
    script: MemoryScript,
    service: Service,
    /// By the moment they end, then by arrival.
    in_flight: BinaryHeap<Reverse<Pending>>,
    operations: u64,
    transfers: u64,
    writes: u64,
}

/// An operation whose end is decided, but not what becomes of its data. Ordered by its first two fields.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    end_ns: u64,
    arrival: u64,
    tag: Tag,
    result: i32,
    effect: Effect,
}

/// What an operation does to the store when it ends.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    None,
    Read { offset: u64 },
    Write { offset: u64, flip: Option<u32> },
}

impl MemoryEngine {
    /// An engine whose operations end at once, on the real clock, with buffers as they are.
    ///
    /// # Errors
    /// When there is no memory for the buffers.
    pub fn instant(queue_depth: u32, buffer_bytes: u32) -> Result<Self, EngineUnavailable> {
        let buffers = BufferPool::new(queue_depth, buffer_bytes).map_err(|error| EngineUnavailable {
            kind: EngineKind::Memory,
            reason: explain(EngineKind::Memory, "mmap of the buffers", &error),
        })?;
        let ended = Vec::with_capacity(queue_depth as usize);
        Ok(Self { buffers, tags: TagsInFlight::new(queue_depth), ended, scripted: None })
    }

    /// An engine whose storage does what a script says, on a virtual clock.
    ///
    /// # Errors
    /// When there is no memory for the buffers.
    pub fn scripted(
        queue_depth: u32,
        buffer_bytes: u32,
        clock: VirtualClock,
        script: MemoryScript,
    ) -> Result<Self, EngineUnavailable> {
        let scripted = Scripted {
            clock,
            service: Service::new(&script),
            script,
            in_flight: BinaryHeap::with_capacity(queue_depth as usize),
            operations: 0,
            transfers: 0,
            writes: 0,
        };
        Ok(Self { scripted: Some(Box::new(scripted)), ..Self::instant(queue_depth, buffer_bytes)? })
    }
}

impl Scripted {
    fn accept(&mut self, tag: Tag, operation: Operation, length: u32) {
        self.operations += 1;
        self.transfers += u64::from(!operation.kind.is_sync());
        let nth_of =
            |every: Option<u64>, count: u64| every.is_some_and(|every| every > 0 && count.is_multiple_of(every));
        let fails = nth_of(self.script.errors.map(|errors| errors.every), self.operations);
        let is_short = !operation.kind.is_sync() && nth_of(self.script.short_every, self.transfers);
        // Files lie behind each other in the store, far apart.
        let offset = operation.offset + (u64::from(operation.file) << 40);
        let (result, effect) = match (self.script.errors, operation.kind) {
            (Some(errors), _) if fails => (-errors.errno, Effect::None),
            (_, OperationKind::Sync | OperationKind::DataSync) => (0, Effect::None),
            (_, OperationKind::Read) => (transferred(length, is_short), Effect::Read { offset }),
            (_, OperationKind::Write) => (transferred(length, is_short), self.write_effect(offset)),
        };
        let end_ns = self.service.end_ns(self.clock.now_ns());
        self.in_flight.push(Reverse(Pending { end_ns, arrival: self.operations, tag, result, effect }));
    }

    fn write_effect(&mut self, offset: u64) -> Effect {
        self.writes += 1;
        match self.script.faults.iter().find(|fault| fault.nth() == self.writes) {
            None => Effect::Write { offset, flip: None },
            Some(Fault::FlipByte { byte, .. }) => Effect::Write { offset, flip: Some(*byte) },
            Some(Fault::LoseWrite { .. }) => Effect::None,
            Some(Fault::MisdirectWrite { offset, .. }) => Effect::Write { offset: *offset, flip: None },
        }
    }

    /// The next operation that has ended by `moment_ns`.
    fn next_ended(&mut self, moment_ns: u64) -> Option<Pending> {
        let Reverse(next) = self.in_flight.peek()?;
        if next.end_ns > moment_ns {
            return None;
        }
        self.in_flight.pop().map(|Reverse(pending)| pending)
    }

    /// What the operation does to its buffer and the store. Bytes of a short transfer only.
    fn take_effect(&self, pending: &Pending, buffer: &mut [u8]) {
        let Some(store) = &self.script.store else { return };
        let bytes = &mut buffer[..pending.result.max(0) as usize];
        match pending.effect {
            Effect::None => {}
            Effect::Read { offset } => store.read(offset, bytes),
            Effect::Write { offset, flip: None } => store.write(offset, bytes),
            Effect::Write { offset, flip: Some(byte) } => {
                let mut wrong = bytes.to_vec();
                if let Some(byte) = wrong.get_mut(byte as usize) {
                    *byte = !*byte;
                }
                store.write(offset, &wrong);
            }
        }
    }
}

fn transferred(length: u32, is_short: bool) -> i32 {
    (if is_short { length / 2 } else { length }) as i32
}

impl Engine for MemoryEngine {
    #[inline]
    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.tags.buffer(tag, &mut self.buffers)
    }

    #[inline]
    fn submit(&mut self, tag: Tag, operation: Operation) -> io::Result<()> {
        let length = checked_length(operation, &self.buffers);
        self.tags.start(tag);
        match &mut self.scripted {
            None => self.ended.push(Completion { tag, result: length as i32 }),
            Some(scripted) => scripted.accept(tag, operation, length),
        }
        Ok(())
    }

    #[inline]
    fn wait(&mut self, at_least: usize, deadline_ns: Option<u64>, completions: &mut Vec<Completion>) -> io::Result<()> {
        let Some(scripted) = &mut self.scripted else {
            if self.ended.is_empty() {
                wait_for_nothing(at_least, deadline_ns);
            }
            for completion in self.ended.drain(..) {
                self.tags.end(completion.tag);
                completions.push(completion);
            }
            return Ok(());
        };
        // With nothing in flight there is one thing to wait for: the deadline.
        let mut missing = at_least.min(self.tags.count.max(1));
        loop {
            while let Some(pending) = scripted.next_ended(scripted.clock.now_ns()) {
                scripted.take_effect(&pending, self.buffers.slice(pending.tag));
                self.tags.end(pending.tag);
                completions.push(Completion { tag: pending.tag, result: pending.result });
                missing = missing.saturating_sub(1);
            }
            if missing == 0 {
                return Ok(());
            }
            let next_ns = scripted.in_flight.peek().map(|Reverse(next)| next.end_ns);
            match (next_ns, deadline_ns) {
                (Some(next_ns), Some(deadline_ns)) if next_ns > deadline_ns => {
                    scripted.clock.advance_to(deadline_ns);
                    return Ok(());
                }
                (Some(next_ns), _) => scripted.clock.advance_to(next_ns),
                (None, Some(deadline_ns)) => {
                    scripted.clock.advance_to(deadline_ns);
                    return Ok(());
                }
                (None, None) => return Ok(()),
            }
        }
    }
}
