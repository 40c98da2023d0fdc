//! What a storage that does not exist does: how long it takes, when it stalls, what it gets wrong.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The behaviour of the storage behind a scripted [`MemoryEngine`](super::MemoryEngine).
#[derive(Clone, Debug, Default)]
pub struct MemoryScript {
    /// How long the storage works on one operation. Zero lets virtual time stand still: only for runs that end after
    /// a number of operations.
    pub latency_ns: u64,
    /// How many operations it works on at a time; others wait in order of arrival. `None` for all at once.
    pub servers: Option<u32>,
    /// When it does nothing, in ascending order and apart.
    pub stalls: Vec<Stall>,
    /// What fails.
    pub errors: Option<ErrorScript>,
    /// Every so many operations with data, one transfers only half of it (rounded down). `None` for never.
    pub short_every: Option<u64>,
    /// What goes wrong without an error.
    pub faults: Vec<Fault>,
    /// Where written bytes go and read bytes come from; without it, reads leave buffers as they are.
    pub store: Option<MemoryStore>,
}

/// A time in which the storage does nothing: what it is working on goes on afterwards, what arrives waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When it begins, on the virtual clock.
    pub from_ns: u64,
    /// How long it lasts.
    pub length_ns: u64,
}

/// Failing operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorScript {
    /// Every so many operations, one fails: 1 for all, 10 for the 10th, 20th and so on.
    pub every: u64,
    /// With this error number, such as 5 for `EIO`.
    pub errno: i32,
}

/// What a verification has to find: the operation succeeds, the data is wrong. Writes are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The n-th write stores one byte inverted.
    FlipByte {
        /// Which write.
        nth: u64,
        /// Which byte of it, from 0.
        byte: u32,
    },
    /// The n-th write stores nothing.
    LoseWrite {
        /// Which write.
        nth: u64,
    },
    /// The n-th write goes to another place.
    MisdirectWrite {
        /// Which write.
        nth: u64,
        /// Where it goes instead, in bytes.
        offset: u64,
    },
}

impl Fault {
    pub(super) const fn nth(self) -> u64 {
        match self {
            Self::FlipByte { nth, .. } | Self::LoseWrite { nth } | Self::MisdirectWrite { nth, .. } => nth,
        }
    }
}

const PAGE_BYTES: u64 = 4096;

/// Bytes by offset, zero until they are written. Clones share the same bytes, as engines on one file do.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    pages: Arc<Mutex<HashMap<u64, Box<[u8]>>>>,
}

impl MemoryStore {
    /// A store of zeros.
    pub fn new() -> Self {
        Self::default()
    }

    /// Copies out the bytes from `offset` on.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) {
        let pages = self.lock();
        for (page, from, part) in parts(offset, bytes.len()) {
            let target = &mut bytes[part.clone()];
            match pages.get(&page) {
                Some(content) => target.copy_from_slice(&content[from..from + part.len()]),
                None => target.fill(0),
            }
        }
    }

    /// Stores bytes from `offset` on.
    pub fn write(&self, offset: u64, bytes: &[u8]) {
        let mut pages = self.lock();
        for (page, from, part) in parts(offset, bytes.len()) {
            let content = pages.entry(page).or_insert_with(|| vec![0; PAGE_BYTES as usize].into_boxed_slice());
            content[from..from + part.len()].copy_from_slice(&bytes[part]);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Box<[u8]>>> {
        // Whoever panicked while holding it was copying bytes, which leaves nothing half-done that matters here.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pages that a range of bytes lies in: page number, start within the page, range within the bytes.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let from = (at % PAGE_BYTES) as usize;
        let count = (length - done).min(PAGE_BYTES as usize - from);
        let part = done..done + count;
        done += count;
        (count > 0).then_some((at / PAGE_BYTES, from, part))
    })
}

/// When operations end: a queue before a number of servers that stall now and then.
#[derive(Debug)]
pub(super) struct Service {
    latency_ns: u64,
    stalls: Vec<Stall>,
    /// When each server is free; `None` when there are as many as needed.
    free_at_ns: Option<BinaryHeap<Reverse<u64>>>,
}

impl Service {
    pub(super) fn new(script: &MemoryScript) -> Self {
        let free_at_ns = script.servers.map(|servers| (0..servers.max(1)).map(|_| Reverse(0)).collect());
        Self { latency_ns: script.latency_ns, stalls: script.stalls.clone(), free_at_ns }
    }

    /// When an operation that arrives now ends.
    pub(super) fn end_ns(&mut self, now_ns: u64) -> u64 {
        let Some(free_at_ns) = &mut self.free_at_ns else { return served(now_ns, self.latency_ns, &self.stalls) };
        let Reverse(free_ns) = free_at_ns.pop().expect("there is at least one server");
        let end_ns = served(now_ns.max(free_ns), self.latency_ns, &self.stalls);
        free_at_ns.push(Reverse(end_ns));
        end_ns
    }
}

/// When work of `latency_ns` that begins at `start_ns` ends, with nothing done during stalls.
fn served(start_ns: u64, latency_ns: u64, stalls: &[Stall]) -> u64 {
    let mut end_ns = start_ns + latency_ns;
    for stall in stalls {
        let stall_end_ns = stall.from_ns + stall.length_ns;
        if stall.from_ns < end_ns && start_ns < stall_end_ns {
            end_ns += stall_end_ns - stall.from_ns.max(start_ns);
        }
    }
    end_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_stands_still_during_a_stall() {
        let stalls = [Stall { from_ns: 100, length_ns: 50 }, Stall { from_ns: 160, length_ns: 10 }];
        for (start_ns, end_ns) in [(0, 30), (70, 100), (71, 151), (90, 180), (120, 190), (149, 190), (150, 190)] {
            assert_eq!(served(start_ns, 30, &stalls), end_ns, "from {start_ns}");
        }
        assert_eq!(served(170, 30, &stalls), 200);
    }

    #[test]
    fn a_single_server_works_in_order_of_arrival() {
        let script = MemoryScript { latency_ns: 10, servers: Some(1), ..MemoryScript::default() };
        let mut service = Service::new(&script);
        assert_eq!([0, 0, 5, 100].map(|now_ns| service.end_ns(now_ns)), [10, 20, 30, 110]);
        let mut service = Service::new(&MemoryScript { servers: Some(2), ..script });
        assert_eq!([0, 0, 5, 100].map(|now_ns| service.end_ns(now_ns)), [10, 10, 20, 110]);
    }

    #[test]
    fn a_store_gives_back_what_was_written_across_pages() {
        let store = MemoryStore::new();
        let bytes: Vec<u8> = (0..10_000_u32).map(|i| (i % 251) as u8).collect();
        store.write(3000, &bytes);
        let mut back = vec![9; 12_000];
        store.clone().read(2000, &mut back);
        assert!(back[..1000].iter().all(|byte| *byte == 0));
        assert_eq!(back[1000..11_000], bytes);
        assert!(back[11_000..].iter().all(|byte| *byte == 0));
    }
}
