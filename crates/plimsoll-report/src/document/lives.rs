//! Lives of volumes as bars: each phase from when it began until what ends it was seen.

use plimsoll_record::{
    lifecycle::{Happening, UsedAs, VolumeLifecycle},
    record::Record,
};

use super::{Life, LifePhase};

/// The lives of a run.
pub(super) fn of(record: &Record) -> Vec<Life> {
    record.volumes.iter().map(life).collect()
}

fn life(volume: &VolumeLifecycle) -> Life {
    let used_as = match volume.used_as {
        UsedAs::First => "",
        UsedAs::Again => ", used again",
        UsedAs::Moved => ", moved to another node",
        UsedAs::Restored => ", restored from a snapshot",
        UsedAs::Cloned => ", cloned",
    };
    let phases = volume.phases.named().into_iter().filter_map(|(name, length_ns)| {
        let (to_ns, length_ns) = (ends_with(name).iter().find_map(|what| seen_ns(volume, *what))?, length_ns?);
        let ms = |ns: u64| (ns / 1_000) as f64 / 1e3;
        Some(LifePhase { name: name.to_owned(), from_ms: ms(to_ns.saturating_sub(length_ns)), to_ms: ms(to_ns) })
    });
    Life { label: format!("{}{used_as}", volume.target), phases: phases.collect(), failed: volume.failed.clone() }
}

/// What ends a phase, or else does; nothing of the one that is all of them.
const fn ends_with(phase: &str) -> &'static [Happening] {
    match phase.as_bytes() {
        b"create" => &[Happening::ClaimAccepted],
        b"provision" => &[Happening::Provisioned],
        b"bind" => &[Happening::Bound],
        b"schedule" => &[Happening::Scheduled],
        b"attach" => &[Happening::Attached, Happening::AttachReported],
        b"mount" => &[Happening::Mounted],
        b"start" => &[Happening::Started],
        b"first I/O" => &[Happening::FirstIo],
        b"detach" => &[Happening::Detached],
        b"resize" => &[Happening::Resized],
        b"grow" => &[Happening::Grown],
        b"snapshot" => &[Happening::SnapshotReady],
        b"delete" => &[Happening::VolumeGone],
        _ => &[],
    }
}

/// When something happened, as it was seen, or else as it was told.
fn seen_ns(volume: &VolumeLifecycle, what: Happening) -> Option<u64> {
    let moment = volume.moments.iter().find(|moment| moment.what == what)?;
    moment.seen_ns.or_else(|| moment.told_ns.and_then(|ns| u64::try_from(ns).ok()))
}
