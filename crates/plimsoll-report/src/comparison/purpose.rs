//! What people use a load for, in a phrase: names of workloads say what is done, not what it is like.

use plimsoll_record::{
    numbers,
    record::Cell,
    told::{Files, Measured, Transfers},
};
use plimsoll_workload::{
    file_set::FilePlan,
    plan::{BlockPlan, Pacing, Work},
    settings::{NameOperation, ReadWrite, SyncMode},
};

/// Up to so many bytes an operation is small: what it costs is a matter of operations, not of bytes.
const SMALL_MAX: f64 = 16_384.0;
/// From so many bytes on it is large.
const LARGE_MIN: f64 = 262_144.0;
/// Files up to this size cost operations.
const SMALL_FILE_MAX: u64 = 256 << 10;
/// Files from this size on cost bytes.
const LARGE_FILE_MIN: u64 = 10 << 20;

/// The phrase: `small random reads, one at a time`; `None` where the name of the workload says more.
pub(super) fn of(cell: &Cell) -> Option<String> {
    match (&cell.plan, cell.told.as_ref().map(|told| &told.measured)) {
        (Some(Work::Blocks(plan)), _) => Some(of_blocks(plan)),
        (Some(Work::Files(plan)), _) => Some(of_files(plan)),
        (None, Some(Measured::Transfers(transfers))) => of_transfers(transfers),
        (None, Some(Measured::Files(files))) => Some(of_told_files(files)),
        (Some(Work::Application(_)), _) | (None, _) => None,
    }
}

fn of_blocks(plan: &BlockPlan) -> String {
    if let Some(operation) = plan.name_operation() {
        let done = match operation {
            NameOperation::Create => "creating files",
            NameOperation::Stat => "looking at attributes of files",
            NameOperation::Delete => "removing files",
        };
        return done.to_owned();
    }
    let is_synced = plan.sync != SyncMode::None || plan.fsync_every == 1 || plan.fdatasync_every == 1;
    let bytes = plan.operation_bytes();
    let mut phrase = if !plan.reads() && is_synced && bytes < LARGE_MIN {
        "commits (synced writes)".to_owned()
    } else {
        access(plan.read_percent, plan.random_percent >= 50, Some(bytes))
    };
    if plan.pacing != Pacing::Closed {
        phrase += " at a given rate";
    } else if u64::from(plan.jobs) * u64::from(plan.queue_depth) == 1 {
        phrase += ", one at a time";
    }
    phrase
}

fn of_transfers(transfers: &Transfers) -> Option<String> {
    let rw: ReadWrite = transfers.pattern.as_deref()?.parse().ok()?;
    let reads = match rw {
        ReadWrite::Read | ReadWrite::RandRead => 100,
        ReadWrite::Write | ReadWrite::RandWrite => 0,
        ReadWrite::Rw | ReadWrite::RandRw => transfers.read_percent.unwrap_or(50),
    };
    let mut phrase = access(reads, rw.is_random(), transfers.block_size_bytes.map(|bytes| bytes as f64));
    if transfers.queue_depth == Some(1) && transfers.jobs.unwrap_or(1) == 1 {
        phrase += ", one at a time";
    }
    Some(phrase)
}

/// `small random reads`, `sequential writes`, `random reads and writes of 64 KiB`.
fn access(read_percent: u8, is_random: bool, bytes: Option<f64>) -> String {
    let order = if is_random { "random" } else { "sequential" };
    let what = match read_percent {
        100.. => "reads",
        0 => "writes",
        _ => "reads and writes",
    };
    match bytes {
        Some(bytes) if bytes <= SMALL_MAX => format!("small {order} {what}"),
        Some(bytes) if bytes >= LARGE_MIN && is_random => format!("large {order} {what}"),
        Some(bytes) if bytes < LARGE_MIN && is_random => {
            format!("{order} {what} of {}", numbers::bytes(bytes.round() as u64))
        }
        _ => format!("{order} {what}"),
    }
}

fn of_files(plan: &FilePlan) -> String {
    files(u64::from(plan.file_count), plan.total_bytes() / u64::from(plan.file_count.max(1)))
}

fn of_told_files(told: &Files) -> String {
    files(told.count, told.size_bytes)
}

fn files(count: u64, bytes_each: u64) -> String {
    let many = if count >= 100 { "many " } else { "" };
    match bytes_each {
        0 => format!("{many}empty files"),
        1..=SMALL_FILE_MAX => format!("{many}small files"),
        LARGE_FILE_MIN.. => format!("{many}large files"),
        _ => format!("{many}files of {}", numbers::bytes(bytes_each)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_records;

    fn phrase_of(change: impl Fn(&mut BlockPlan)) -> String {
        let mut record = test_records::canonical();
        let cell = &mut record.cells[0];
        change(cell.plan.as_mut().and_then(Work::blocks_mut).unwrap());
        of(cell).unwrap()
    }

    #[test]
    fn a_load_has_the_phrase_of_what_it_is_like() {
        let record = test_records::canonical();
        let phrases: Vec<String> = record.cells.iter().filter_map(of).collect();
        let expected = [
            "small random reads, one at a time",
            "small random writes, one at a time",
            "small random reads",
            "small random writes",
            "large random reads",
            "large random writes",
        ];
        assert_eq!(phrases, expected);
        assert_eq!(phrase_of(|plan| plan.random_percent = 0), "small sequential reads, one at a time");
        let commits = phrase_of(|plan| (plan.read_percent, plan.fdatasync_every) = (0, 1));
        assert_eq!(commits, "commits (synced writes), one at a time");
        // Synced after a hundred writes is no commit.
        let log = phrase_of(|plan| (plan.read_percent, plan.fdatasync_every, plan.jobs) = (0, 100, 2));
        assert_eq!(log, "small random writes");
    }

    #[test]
    fn what_another_program_told_has_a_phrase_as_far_as_it_is_known() {
        let transfers = |pattern: Option<&str>, block_size_bytes| {
            let pattern = pattern.map(str::to_owned);
            of_transfers(&Transfers { pattern, block_size_bytes, queue_depth: Some(32), ..Transfers::default() })
        };
        assert_eq!(transfers(Some("randrw"), Some(65_536)).as_deref(), Some("random reads and writes of 64 KiB"));
        assert_eq!(transfers(Some("read"), None).as_deref(), Some("sequential reads"));
        assert_eq!(transfers(None, Some(4096)), None);
        assert_eq!((files(1000, 10 << 10), files(5, 100 << 20)), ("many small files".into(), "large files".into()));
    }
}
