//! Sets of files by the length of their files: what each target did with them, and what of it a cache answered.

use plimsoll_record::{
    figures::{Figures, Operation},
    files::CachedFiles,
    numbers,
    record::{Cell, Record},
    told::Measured,
};
use plimsoll_workload::file_set::{CacheState, FilePhase};

use super::{FileClass, FilePhaseView, FileRow, run_names};
use crate::{
    comparison::words,
    explanation::{
        ExplainedCell, Explanation, show,
        standing::{Judged, Standing},
    },
    printable, rows,
};

/// From so much of the files in the page cache on, reading them says more of it than of the storage.
const CACHED_MIN: f64 = 0.05;
/// From so much of the rate of a cache on, a rate is no other one's.
const ALIKE_MIN: f64 = 0.9;
/// Causes which say that a cache answered.
const CACHES: [&str; 3] = ["page-cache", "host-cache", "cache"];

/// The sets of files of all records, those of the shortest files first.
pub(crate) fn of(records: &[&Record], explanation: Option<&Explanation>) -> Vec<FileClass> {
    let mut sets: Vec<Set<'_>> = records.iter().flat_map(|record| sets(record, explanation)).collect();
    // Stable, so that targets stay in the order in which they were found.
    sets.sort_by_key(|set| set.size_bytes);
    sets.chunk_by(|one, other| one.size_bytes == other.size_bytes).map(|sets| class(sets, records)).collect()
}

/// What was done with a set of files.
struct Set<'a> {
    record: &'a Record,
    cell: &'a Cell,
    size_bytes: u64,
    files: u64,
    phases: Vec<FilePhaseView>,
}

fn sets<'a>(record: &'a Record, explanation: Option<&Explanation>) -> Vec<Set<'a>> {
    let run = explanation.and_then(|explanation| explanation.runs.iter().find(|run| run.id == record.id));
    let set = |(index, cell): (usize, &'a Cell)| {
        // The cells of an explanation are those of the record in their order.
        let explained = run.and_then(|run| run.cells.get(index));
        let (size_bytes, files) = shape(cell)?;
        // The steps of a mix are parts of one of its phases.
        let is_whole = |(operation, _): &(Operation, &str)| match (operation, cell.file_plan()) {
            (Operation::Phase(phase), Some(plan)) => plan.phases.as_slice().contains(phase),
            _ => true,
        };
        let mut phases: Vec<FilePhaseView> = rows::operations(cell)
            .into_iter()
            .filter(is_whole)
            .filter_map(|(operation, name)| phase(cell, operation, name, explained))
            .collect();
        if cell.told.is_some() {
            // These programs write files before they read them, and so do plans.
            phases.sort_by_key(|phase| phase.name != "write");
        }
        (!phases.is_empty()).then_some(Set { record, cell, size_bytes, files, phases })
    };
    record.cells.iter().enumerate().filter_map(set).collect()
}

/// Bytes of a file, which is the mean where they differ, and how many there are.
fn shape(cell: &Cell) -> Option<(u64, u64)> {
    if let Some(Measured::Files(files)) = cell.told.as_ref().map(|told| &told.measured) {
        return Some((files.size_bytes, files.count));
    }
    let files = u64::from(cell.file_plan()?.file_count);
    let total_bytes = cell.files.as_ref()?.total_bytes;
    Some((total_bytes.checked_div(files)?, files))
}

fn phase(cell: &Cell, operation: Operation, name: &str, explained: Option<&ExplainedCell>) -> Option<FilePhaseView> {
    let figures = cell.figures(operation)?;
    let files_per_second = figures.iops.filter(|rate| *rate > 0.0)?;
    let interval = figures.measured.and_then(|measured| Some([measured.iops_low?, measured.iops_high?]));
    let cached = match (operation, cell.file_plan()) {
        (Operation::Phase(phase), Some(_)) => measured_cache(cell, phase),
        _ => explained.and_then(|explained| told_cache(explained, operation)),
    };
    let Figures { bytes, bytes_per_second, latency_ns, .. } = &figures;
    Some(FilePhaseView {
        name: name.to_owned(),
        files_per_second,
        interval,
        bytes_per_second: bytes_per_second.filter(|_| *bytes != Some(0)),
        p99_us: latency_ns.p99.map(|ns| ns as f64 / 1e3),
        cached,
    })
}

/// Whether memory answered a phase, and not the storage: what the page cache held of the files was looked at before
/// they were read, what nobody synced is in memory, and what is only looked up may leave the disk alone.
pub(crate) fn measured_cache(cell: &Cell, phase: FilePhase) -> Option<String> {
    let (plan, result) = (cell.file_plan()?, cell.phase(phase));
    let held = result.and_then(|result| result.cached.as_ref()).and_then(CachedFiles::share);
    if let Some(share) = held.filter(|share| plan.buffered && phase.reads() && *share >= CACHED_MIN) {
        let asked = if plan.cache == CacheState::Warm { ", as was asked for" } else { "" };
        return Some(format!(
            "the page cache held {} of the files when they were read{asked}",
            numbers::percent(share)
        ));
    }
    if phase.changes() {
        // Names are in memory also where content goes past the page cache.
        return match (plan.leaves_in_memory(phase), phase.writes()) {
            (false, _) => None,
            (true, true) => {
                plan.buffered.then(|| "the page cache took what was written: nothing was synced".to_owned())
            }
            (true, false) => Some("memory took what was changed: nothing was synced".to_owned()),
        };
    }
    let each = result.and_then(|result| result.device_operations_per_operation);
    let each = each.filter(|each| !phase.reads() && *each < CACHED_MIN)?;
    Some(format!("memory answered: the disk was asked {} times for each", numbers::iops(each)))
}

/// Whether a rate that was told is more than the storage can do, in the words of its explanation.
fn told_cache(explained: &ExplainedCell, operation: Operation) -> Option<String> {
    let judged = explained.judged.iter().find(|judged| judged.operation == operation)?;
    let is_of_it = |value: Option<f64>| value.is_some_and(|measured| measured.total_cmp(&judged.measured).is_eq());
    let cause = explained.causes.iter().find(|cause| {
        CACHES.contains(&cause.code) && is_of_it(cause.evidence.get("measured").and_then(serde_json::Value::as_f64))
    });
    match cause {
        // What follows says how that can be, and what to do about it.
        Some(cause) => cause.text.split(';').next().map(str::to_owned),
        None => (judged.standing == Standing::Impossible).then(|| impossible(judged)),
    }
}

fn impossible(judged: &Judged) -> String {
    let most = judged.burst.unwrap_or(judged.lasting);
    format!(
        "{} are {} times the {} that are possible: something else answered",
        show::rate(judged.unit, judged.measured),
        numbers::ratio(judged.measured / most),
        show::rate(judged.unit, most)
    )
}

fn class(sets: &[Set<'_>], records: &[&Record]) -> FileClass {
    let names = names(sets, records);
    let size_bytes = sets.first().map_or(0, |set| set.size_bytes);
    let row = |(set, target): (&Set<'_>, String)| FileRow { target, files: set.files, phases: set.phases.clone() };
    let mut rows: Vec<FileRow> = sets.iter().zip(names).map(row).collect();
    mark_alike(&mut rows, sets);
    FileClass { title: title(size_bytes, &rows), size_bytes, rows }
}

/// What another program told of a target, and is nearly as fast as where a cache answered, is not the storage's either:
/// of targets of which it is not said what was bought nothing else tells it.
fn mark_alike(rows: &mut [FileRow], sets: &[Set<'_>]) {
    let mut of_caches: Vec<(String, f64)> = Vec::new();
    for phase in rows.iter().flat_map(|row| &row.phases).filter(|phase| phase.cached.is_some()) {
        match of_caches.iter_mut().find(|(name, _)| *name == phase.name) {
            Some((_, least)) => *least = least.min(phase.files_per_second),
            None => of_caches.push((phase.name.clone(), phase.files_per_second)),
        }
    }
    let told = rows.iter_mut().zip(sets).filter(|(_, set)| set.cell.told.is_some());
    for phase in told.flat_map(|(row, _)| &mut row.phases).filter(|phase| phase.cached.is_none()) {
        let least = of_caches.iter().find(|(name, _)| *name == phase.name).map(|(_, least)| *least);
        if let Some(least) = least.filter(|least| phase.files_per_second >= least * ALIKE_MIN) {
            let nearly = if phase.files_per_second < least { "nearly " } else { "" };
            phase.cached = Some(format!("{nearly}as fast as others of which it is known that a cache answered"));
        }
    }
}

/// What tells the sets of a class apart: their targets; else also their workloads, and else also their runs.
fn names(sets: &[Set<'_>], records: &[&Record]) -> Vec<String> {
    let target = |set: &Set<'_>| set.cell.target.clone();
    let workload = |set: &Set<'_>| format!("{} {}", set.cell.target, set.cell.workload);
    let run = |set: &Set<'_>| format!("{}, {}", workload(set), run_names::of(set.record, records));
    let target_of_run = |set: &Set<'_>| format!("{}, {}", set.cell.target, run_names::of(set.record, records));
    let ways: [&dyn Fn(&Set<'_>) -> String; 4] = [&target, &workload, &target_of_run, &run];
    let named = |way: &&dyn Fn(&Set<'_>) -> String| -> Vec<String> {
        sets.iter().map(|set| printable::line(&way(set)).into_owned()).collect()
    };
    let are_apart = |names: &Vec<String>| (1..names.len()).all(|index| !names[..index].contains(&names[index]));
    ways.iter().map(named).find(are_apart).unwrap_or_else(|| {
        // A text may tell the same twice.
        let numbered = |(index, name): (usize, String)| format!("{name} #{}", index + 1);
        named(&ways[3]).into_iter().enumerate().map(numbered).collect()
    })
}

/// `files of 10 KiB: write is fastest on A, 4.17x of B; 8 of 10 reads came from a cache`.
fn title(size_bytes: u64, rows: &[FileRow]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for phase in rows.iter().flat_map(|row| &row.phases) {
        if !names.contains(&phase.name.as_str()) {
            names.push(&phase.name);
        }
    }
    let of_content: Vec<&str> = ["write", "read"].into_iter().filter(|name| names.contains(name)).collect();
    // The steps of others, as of metadata, are alike: the first says how the targets differ.
    let shown = if of_content.is_empty() { names.into_iter().take(1).collect() } else { of_content };
    let parts: Vec<String> = shown.into_iter().flat_map(|name| of_phase(name, rows)).collect();
    let files =
        if size_bytes == 0 { "empty files".to_owned() } else { format!("files of {}", numbers::bytes(size_bytes)) };
    format!("{files}: {}", parts.join("; "))
}

/// What the rows are in a phase: which is the fastest of those that no cache answered, and how many a cache did.
fn of_phase(name: &str, rows: &[FileRow]) -> Vec<String> {
    let has = |row: &FileRow| row.phases.iter().find(|phase| phase.name == name).cloned();
    let all: Vec<(&str, FilePhaseView)> =
        rows.iter().filter_map(|row| Some((row.target.as_str(), has(row)?))).collect();
    let (cached, mut own): (Vec<_>, Vec<_>) = all.iter().partition(|(_, phase)| phase.cached.is_some());
    own.sort_by(|(_, one), (_, other)| other.files_per_second.total_cmp(&one.files_per_second));
    let mut parts: Vec<String> = match own.as_slice() {
        [] => Vec::new(),
        [(_, only)] if all.len() == 1 => vec![format!("{name} {} files/s", numbers::iops(only.files_per_second))],
        [(target, only)] => vec![format!("{name} {} files/s on {target}", numbers::iops(only.files_per_second))],
        own => vec![fastest(name, own)],
    };
    parts.extend((!cached.is_empty()).then(|| from_cache(name, cached.len(), all.len())));
    parts
}

/// The fastest of several, the first of which has the highest rate, or those that may be as fast as that one.
fn fastest(name: &str, own: &[&(&str, FilePhaseView)]) -> String {
    let most = &own[0].1;
    // Who is behind somebody who is surely slower is not as fast as the fastest, however little is sure of it.
    let Some(tied) = own.iter().position(|(_, phase)| is_surely_more(most, phase)) else {
        return format!("no sure difference in {name} between {} targets", own.len());
    };
    let (tied, others) = own.split_at(tied);
    let (slower, unsure): (Vec<&(&str, FilePhaseView)>, Vec<_>) =
        others.iter().copied().partition(|(_, phase)| is_surely_more(most, phase));
    let (worst, least) = slower.last().expect("the first of them is surely slower");
    let names = |of: &[&(&str, FilePhaseView)]| {
        words::list(&of.iter().map(|(target, _)| (*target).to_owned()).collect::<Vec<_>>())
    };
    let ratio = words::times(most.files_per_second / least.files_per_second);
    let tie = if tied.len() > 1 { ", without a difference found between them" } else { "" };
    let doubt = if own.iter().any(|(_, phase)| phase.interval.is_none()) { " (no intervals)" } else { "" };
    let rest = if unsure.is_empty() { String::new() } else { format!(", with no sure order to {}", names(&unsure)) };
    format!("{name} is fastest on {}{tie}, {ratio} of {worst}{rest}{doubt}", names(tied))
}

fn from_cache(name: &str, cached: usize, all: usize) -> String {
    let what = if all == 1 { "it".to_owned() } else { format!("{cached} of {all}") };
    format!("{name}: a cache answered {what}")
}

/// Whether intervals leave no doubt. What another program told without any is taken as it was told.
fn is_surely_more(most: &FilePhaseView, least: &FilePhaseView) -> bool {
    match (most.interval, least.interval) {
        (Some([low, _]), Some([_, high])) => low > high,
        _ => most.files_per_second > least.files_per_second,
    }
}

#[cfg(test)]
mod tests;
