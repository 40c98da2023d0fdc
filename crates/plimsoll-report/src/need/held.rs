//! Whether a target holds as much as is needed: by what was bought, where that is said, else by the disk below it.

use plimsoll_catalog::alternatives::bought_bytes;
use plimsoll_record::{
    environment::{TargetEnvironment, TargetKind},
    numbers,
};
use plimsoll_workload::{provisioned::Provisioned, units::ByteCount};

use super::measured::{Answer, Standing};

/// File systems that spread over disks of their own, of which the record has one.
const OVER_SEVERAL_DISKS: [&str; 3] = ["btrfs", "zfs", "bcachefs"];

/// Whether a target holds so much.
pub(super) fn answer(size: ByteCount, bought: &Provisioned, target: Option<&TargetEnvironment>) -> Answer {
    let free_bytes = || target.and_then(|target| target.free_bytes).filter(|free| *free >= size.0);
    let told = |bytes: u64, what: &str| Some((bytes, what.replace('#', &numbers::bytes(bytes))));
    let held = match (bought_bytes(bought), target.and_then(disk_bytes)) {
        (Some(bytes), _) => told(bytes, "# were bought"),
        (None, Some(bytes)) => told(bytes, "the disk has #"),
        // What is free is there, whatever there is besides.
        (None, None) => free_bytes().and_then(|bytes| told(bytes, "# are free")),
    };
    let bytes = held.as_ref().map(|(bytes, _)| *bytes);
    let (standing, text) = match held {
        Some((bytes, text)) if bytes >= size.0 => (Standing::Met, format!("met: {text}")),
        Some((_, text)) => (Standing::NotMet, format!("not met: {text}")),
        None => {
            (Standing::NotMeasured, "not measured: nothing tells how much it holds; --disk-size says it".to_owned())
        }
    };
    Answer {
        need: format!("size={}", numbers::bytes(size.0).replace(' ', "")),
        standing,
        measured: bytes.map(|bytes| bytes as f64),
        low: None,
        high: None,
        workload: None,
        operation: None,
        text,
    }
}

/// Bytes of the one disk that a target is on.
fn disk_bytes(target: &TargetEnvironment) -> Option<u64> {
    let is_on_several = target.array.is_some()
        || target.kind != TargetKind::Device
            && target.mount.as_ref().is_none_or(|mount| OVER_SEVERAL_DISKS.contains(&mount.file_system.as_str()));
    target.device.as_ref().filter(|_| !is_on_several)?.size_bytes
}
