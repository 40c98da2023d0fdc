//! What the phases of a set of files show beside their rates.

use plimsoll_record::{
    files::{FilesResult, PhaseResult},
    numbers,
    record::Cell,
    results::{DeviceActivity, Finding, Severity},
};
use plimsoll_workload::{
    file_set::{CacheState, FilePhase, FilePlan},
    units::Span,
};
use serde_json::json;

use crate::findings::finding;

/// From so much of the files in the page cache on, reading them says more of it than of the storage.
const CACHED_MIN: f64 = 0.05;

/// The sentences about a cell that works on a set of files.
pub(super) fn of(cell: &Cell, plan: &FilePlan, files: &FilesResult) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(durability(plan, files));
    for phase in &files.phases {
        found.extend(cached(plan, phase));
        if phase.phase == FilePhase::Mix {
            let read_bytes = cell.phase_result(FilePhase::Read).map_or(0, |read| read.bytes);
            found.extend(read_again(plan, read_bytes, phase.device.as_ref()));
        }
        found.extend(beside_limit(cell, phase));
    }
    found.extend(cut(plan, files));
    found
}

/// What is written and not synced is in memory.
fn durability(plan: &FilePlan, files: &FilesResult) -> Option<Finding> {
    // The steps of a mix stand here too.
    let parts = files.phases.iter().map(|phase| phase.phase).filter(|phase| *phase != FilePhase::Mix);
    let left: Vec<FilePhase> = parts.filter(|phase| plan.leaves_in_memory(*phase)).collect();
    if left.is_empty() {
        return None;
    }
    let phases: Vec<&str> = left.iter().map(|phase| phase.as_str()).collect();
    let advice = if left.iter().any(|phase| phase.changes_only_names()) {
        "--file-sync directory syncs each file and each change of a name"
    } else {
        "--file-sync file syncs each file"
    };
    let why = if plan.buffered {
        "so these rates are those of memory as long as it takes what is written"
    } else {
        "so a disk may keep it in its own memory, and the names of files are in that of the machine"
    };
    let text = format!("not durable: nothing was synced in {}, {why} ({advice})", phases.join(", "));
    Some(finding("files-not-durable", Severity::Info, text, &[("phases", json!(phases))]))
}

/// Where the files were read from.
fn cached(plan: &FilePlan, phase: &PhaseResult) -> Option<Finding> {
    let cached = phase.cached.as_ref()?;
    let word = phase.phase;
    let evidence = |share: f64| vec![("phase", json!(word.as_str())), ("resident_share", json!(share))];
    let Some(share) = cached.share() else {
        let reason = cached.reason.as_deref()?;
        let text = format!("{word}: what of the files was in the page cache is not known: {reason}");
        return Some(finding(&format!("files-cache-unknown-{word}"), Severity::Info, text, &[]));
    };
    let percent = numbers::percent(share);
    match plan.cache {
        _ if !plan.buffered => None,
        CacheState::AsIs if share >= CACHED_MIN => {
            let text = format!(
                "{word}: {percent} of the files were in the page cache when they were read, so this is not the speed of \
                 the storage (--cache cold reads from there)"
            );
            Some(finding(&format!("files-read-from-cache-{word}"), Severity::Warning, text, &evidence(share)))
        }
        CacheState::Cold if share >= CACHED_MIN => {
            let text = format!("{word}: {percent} of the files stayed in the page cache although they were to be cold");
            Some(finding(&format!("files-not-cold-{word}"), Severity::Warning, text, &evidence(share)))
        }
        CacheState::Warm if share < 1.0 - CACHED_MIN => {
            let text =
                format!("{word}: only {percent} of the files stayed in the page cache: there is no room for more");
            Some(finding(&format!("files-not-warm-{word}"), Severity::Warning, text, &evidence(share)))
        }
        CacheState::AsIs | CacheState::Cold | CacheState::Warm => None,
    }
}

/// Files are made cold before a mix, which draws some of them more than once.
fn read_again(plan: &FilePlan, read_bytes: u64, device: Option<&DeviceActivity>) -> Option<Finding> {
    if plan.cache != CacheState::Cold || !plan.buffered || read_bytes == 0 {
        return None;
    }
    // The disk may have read ahead, or for others, so that no more than this is from there.
    let least = device.map(|disk| (1.0 - disk.read_bytes as f64 / read_bytes as f64).max(0.0));
    let how_much = match least {
        Some(share) if share < CACHED_MIN => return None,
        Some(share) => format!("at least {} of what was read came from memory", numbers::percent(share)),
        None => "nobody counted how much of what was read came from memory".to_owned(),
    };
    let text = format!(
        "mix: the files were cold at its beginning, and what it has read or written stays in the page cache: {how_much} \
         (--buffered=false reads from the storage each time)"
    );
    Some(finding("files-read-again-mix", Severity::Warning, text, &[("memory_share", json!(least))]))
}

/// What the limit of the storage lets through, by the I/Os that each file took.
fn beside_limit(cell: &Cell, phase: &PhaseResult) -> Option<Finding> {
    let limit = cell.limit.as_ref()?;
    let result = cell.phase_result(phase.phase)?;
    let each = phase.device_operations_per_operation.filter(|each| *each >= 0.5)?;
    let by_operations = limit.iops.map(|iops| iops / each);
    let device = phase.device.as_ref()?;
    let bytes_each = (device.read_bytes + device.write_bytes) as f64 / result.operations.max(1) as f64;
    let by_bytes = limit.bytes_per_second.filter(|_| bytes_each > 0.0).map(|bytes| bytes / bytes_each);
    let possible = by_operations.into_iter().chain(by_bytes).min_by(f64::total_cmp)?;
    let text = format!(
        "{}: each took {each:.2} I/Os and {} of the disk, of which its limit lets {} a second through; measured {} ({})",
        phase.phase,
        numbers::bytes(bytes_each as u64),
        numbers::iops(possible),
        numbers::iops(result.iops),
        numbers::percent(result.iops / possible)
    );
    let evidence = [("possible_per_second", json!(possible)), ("measured_per_second", json!(result.iops))];
    Some(finding(&format!("files-beside-limit-{}", phase.phase), Severity::Info, text, &evidence))
}

/// Phases that their limit ended.
fn cut(plan: &FilePlan, files: &FilesResult) -> Option<Finding> {
    let limit_ns = plan.phase_limit_ns?;
    let cut: Vec<&str> =
        files.phases.iter().filter(|phase| phase.cut_iterations > 0).map(|phase| phase.phase.as_str()).collect();
    if cut.is_empty() {
        return None;
    }
    let is_last = files.phases.iter().position(|phase| phase.cut_iterations > 0) == files.phases.len().checked_sub(1);
    let followed = if is_last { "" } else { "; what followed worked with what there was" };
    let text = format!(
        "ended by the limit of {} before all files had their turn: {}{followed}",
        Span { ns: limit_ns },
        cut.join(", ")
    );
    Some(finding("files-phase-limit", Severity::Info, text, &[("phases", json!(cut))]))
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::{
        certainty::Certainty,
        plan::Plan,
        settings::Effort,
        target_facts::{TargetFacts, TargetKind},
    };

    use super::*;

    #[test]
    fn a_mix_that_begins_cold_says_how_much_it_has_read_from_memory() {
        let told = |shape: &str, disk_bytes: Option<u64>| {
            let target = TargetFacts {
                name: "/mnt".into(),
                kind: TargetKind::Directory,
                size_bytes: None,
                free_bytes: None,
                direct_alignment_bytes: Some(512),
            };
            let workload = toml::from_str(&format!("mix = 'read,stat'\n{shape}")).unwrap();
            let plan = Plan::resolve(&[target], &[workload], &Certainty::of(Effort::Quick), 42).unwrap();
            let device = disk_bytes.map(|read_bytes| DeviceActivity { read_bytes, ..DeviceActivity::default() });
            Some(read_again(plan.cells[0].files().unwrap(), 1000, device.as_ref())?.text)
        };
        let text = told("cache = 'cold'", Some(70)).unwrap();
        assert!(text.contains("cold at its beginning") && text.contains("at least 93 % of what was read"), "{text}");
        assert!(told("cache = 'cold'", None).unwrap().contains("nobody counted"));
        assert_eq!(told("cache = 'cold'", Some(1200)), None, "the disk read all of it");
        assert_eq!(told("cache = 'cold'\nbuffered = false", Some(70)), None);
        assert_eq!(told("cache = 'warm'", Some(0)), None, "which was asked for");
    }
}
