//! What matters of workloads of file sets, as text.

use plimsoll_workload::{block_sizes::BlockSizes, file_set::FilePlan};

use super::{Aspect, cache_mode};

pub(super) fn aspects(plan: &FilePlan) -> [(Aspect, String); 9] {
    // Every field is named, so that a new parameter does not compile until somebody decides whether it matters.
    let FilePlan {
        phases,
        mix,
        file_count,
        file_size,
        files_per_directory,
        jobs,
        block_size_bytes,
        buffered,
        sync,
        file_sync,
        cache,
        phase_end,
        phase_limit_ns: _,
        payload,
        verify,
        seed: _,
        pin: _,
        keep_going: _,
    } = plan;
    let directories =
        files_per_directory.map_or_else(|| "one directory".to_owned(), |files| format!("{files} a directory"));
    [
        (Aspect::Pattern, mix.as_ref().map_or_else(|| phases.to_string(), |mix| format!("{phases} {mix}"))),
        (Aspect::BlockSize, BlockSizes::One(*block_size_bytes).to_string()),
        (Aspect::Jobs, jobs.to_string()),
        (Aspect::WorkingSet, format!("{file_count} x {file_size}")),
        (Aspect::FileSharing, format!("{directories}, phases end {phase_end}")),
        (Aspect::CacheMode, format!("{}, {cache}", cache_mode(*buffered))),
        (Aspect::Durability, format!("files {file_sync}, writes {sync}")),
        (Aspect::Payload, payload.to_string()),
        (Aspect::Verification, if *verify { "on" } else { "off" }.to_owned()),
    ]
}
