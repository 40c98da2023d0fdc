//! What matters of a load that another program told of.

use plimsoll_record::{
    numbers,
    told::{Measured, Told, Transfers},
};
use plimsoll_workload::settings::ReadWrite;

use super::{Aspect, cache_mode, pattern};

/// What is known, in the words that plans have for it.
pub(super) fn aspects(told: &Told) -> Vec<(Aspect, String)> {
    match &told.measured {
        Measured::Transfers(transfers) => of_transfers(transfers),
        Measured::Files(files) => vec![(Aspect::Pattern, files.describe())],
        Measured::Durations(_) => vec![(Aspect::Pattern, "a command".to_owned())],
        Measured::Figure(_) => Vec::new(),
    }
}

fn of_transfers(transfers: &Transfers) -> Vec<(Aspect, String)> {
    let number = |number: u64| number.to_string();
    let known = [
        (Aspect::Pattern, access(transfers)),
        (Aspect::BlockSize, transfers.block_size().map(|size| size.to_string())),
        (Aspect::QueueDepth, transfers.queue_depth.map(number)),
        (Aspect::Jobs, transfers.jobs.map(number)),
        (Aspect::WorkingSet, transfers.working_set_bytes.map(numbers::bytes)),
        (Aspect::CacheMode, transfers.is_direct.map(|is_direct| cache_mode(!is_direct).to_owned())),
        (Aspect::Engine, transfers.engine.clone()),
    ];
    known.into_iter().filter_map(|(aspect, text)| Some((aspect, text?))).collect()
}

/// The pattern with its shares; nothing when they are not told.
fn access(transfers: &Transfers) -> Option<String> {
    let rw: ReadWrite = transfers.pattern.as_deref()?.parse().ok()?;
    let reads = match rw {
        _ if rw.is_mixed() => transfers.read_percent?,
        ReadWrite::Read | ReadWrite::RandRead => 100,
        _ => 0,
    };
    Some(pattern(rw, reads, if rw.is_random() { 100 } else { 0 }))
}
