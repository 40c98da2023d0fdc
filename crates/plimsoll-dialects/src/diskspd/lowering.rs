//! From a profile to a plan: each target of a time span is a workload, and time spans are phases.

mod place;

use plimsoll_workload::{
    block_sizes::BlockSizes,
    distribution::{Distribution as Drawn, Zone},
    payload::{Fill, Payload},
    pinning::Pinning,
    plan_file::PlanFile,
    settings::{AccessHint, Arrival, RateScope, ReadWrite, SyncMode},
    sweep::Sweep,
    units::{ByteCount, Extent, Percent, Rate as Pace, Span},
    workload::{ThinkTime, Workload},
};

use self::place::Region;
use super::{
    command_line::Asked,
    flags::{FLAGS, Use},
    profile::{Access, Cache, Content, Distribution, Flush, RangeUnit, Rate, Target, TimeSpan},
};
use crate::{
    found::Look,
    problem::{Note, Problem, Problems, Wrong},
};

/// Where a cell of the plan is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellOf {
    /// The time span, as an index.
    pub span: usize,
    /// The target in it.
    pub target: usize,
    /// Bytes of its file or device.
    pub size_bytes: u64,
}

/// A profile as a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lowered {
    /// What `plimsoll run --plan` would take.
    pub plan: PlanFile,
    /// Where each cell of the plan is from, in the order of the cells.
    pub cells: Vec<CellOf>,
    /// What is not quite as diskspd does it.
    pub notes: Vec<Note>,
}

/// What a target becomes, or why it cannot, and what is to be said of the flags that are to blame.
type Said<T> = (&'static str, T);

/// Makes a plan of what is asked.
///
/// # Errors
/// With everything in them that no plan can say.
pub fn lower(asked: &Asked, look: &Look<'_>) -> Result<Lowered, Problems> {
    let mut lowered = Lowered { notes: asked.notes.clone(), ..Lowered::default() };
    let mut problems: Vec<Problem> = Vec::new();
    let mut workloads: Vec<(Workload, CellOf)> = Vec::new();
    for (span_index, span) in asked.profile.spans.iter().enumerate() {
        for (index, target) in span.targets.iter().enumerate() {
            let place = |flag: &str| asked.places.of(span_index, index, flag);
            let mut notes: Vec<Said<String>> = Vec::new();
            let mut wrong: Vec<Said<Wrong>> = Vec::new();
            let of = Use { profile: &asked.profile, span, target };
            for (flag, said) in FLAGS.iter().filter_map(|flag| Some((flag, flag.of(&of)?))) {
                match said {
                    Ok(note) => notes.push((flag.stem(), note)),
                    Err(why) => wrong.push((flag.stem(), why)),
                }
            }
            match workload(span, target, look) {
                Ok((mut workload, size_bytes)) => {
                    workload.phase = Some(span_index as u32);
                    workloads.push((workload, CellOf { span: span_index, target: index, size_bytes }));
                }
                Err(why) => wrong.push(why),
            }
            problems.extend(wrong.into_iter().map(|(flag, wrong)| wrong.at(place(flag))));
            lowered.notes.extend(notes.into_iter().map(|(flag, text)| Note { place: place(flag), text }));
        }
    }
    if !problems.is_empty() {
        problems.dedup();
        return Err(Problems(problems));
    }
    let mut seen = Vec::new();
    lowered.notes.retain(|note| {
        let is_new = !seen.contains(note);
        seen.push(note.clone());
        is_new
    });
    let mut targets: Vec<String> = Vec::new();
    for target in workloads.iter().filter_map(|(workload, _)| workload.target.as_ref()) {
        if !targets.contains(target) {
            targets.push(target.clone());
        }
    }
    // Cells come target by target.
    for target in &targets {
        let of = workloads.iter().filter(|(workload, _)| workload.target.as_ref() == Some(target));
        lowered.cells.extend(of.map(|(_, cell)| *cell));
    }
    lowered.plan = PlanFile {
        targets,
        destroy: asked.switches.destroys.clone(),
        keep_files: true,
        workloads: workloads.into_iter().map(|(workload, _)| workload).collect(),
        ..PlanFile::default()
    };
    Ok(lowered)
}

fn workload(span: &TimeSpan, target: &Target, look: &Look<'_>) -> Result<(Workload, u64), Said<Wrong>> {
    if let Content::Buffer { file: Some(_), .. } = &target.content
        && target.write_percent > 0
    {
        let wrong = Wrong::new("-Z<size>,<file> is not possible: what is written does not come from files yet");
        return Err(("-Z", wrong.instead("write -Z<size> for random bytes")));
    }
    if let Some(processor) = span.affinity.iter().find(|processor| processor.group > 0) {
        let wrong = Wrong::new(format!("there is no processor group {} on Linux", processor.group));
        return Err(("-a", wrong.instead("write numbers alone, or g0")));
    }
    if !target.thread_targets.is_empty() {
        let wrong = Wrong::new("<ThreadTargets> is not possible: each thread uses every target");
        return Err(("-F", wrong.instead("leave it out, or write a <TimeSpan> for each")));
    }
    let region = Region::of(target, look)?;
    let (threads, depth) = load(span, target)?;
    let mut workload = Workload {
        block_size: Some(Sweep::one(BlockSizes::One(target.block_size))),
        jobs: Some(Sweep::one(threads)),
        queue_depth: Some(Sweep::one(depth)),
        buffered: Some(target.cache != Cache::None || target.is_mapped),
        sync: target.writes_through.then_some(SyncMode::DataSync),
        fdatasync: (target.flush == Some(Flush::View) && target.write_percent > 0).then_some(1),
        payload: (target.write_percent > 0).then(|| payload(span, target)),
        access_hint: hint(target),
        seed: Some(u64::from(span.seed)),
        ramp: Some(seconds(span.warmup_s)),
        duration: Some(seconds(span.duration_s)),
        ..Workload::default()
    };
    if !span.affinity.is_empty() {
        let processors = span.affinity.iter().map(|processor| u32::from(processor.number)).collect();
        workload.pin = Some(Pinning::Processors(processors));
    }
    region.put(&mut workload);
    direction(target, &mut workload);
    access(target, &region, threads, &mut workload)?;
    pace(target, if is_interlocked(target) { threads_of(span, target) } else { 1 }, &mut workload);
    Ok((workload, region.whole))
}

fn seconds(seconds: u32) -> Span {
    Span { ns: u64::from(seconds) * 1_000_000_000 }
}

/// Threads and what each keeps in flight.
fn load(span: &TimeSpan, target: &Target) -> Result<(u32, u32), Said<Wrong>> {
    let threads = threads_of(span, target);
    let mut depth = target.depth;
    if span.threads > 0 && span.depth > 0 {
        let weights: u64 = span.targets.iter().map(|target| u64::from(target.weight)).sum();
        let share = u64::from(span.depth) * u64::from(target.weight);
        if weights == 0 || !share.is_multiple_of(weights) || share == 0 {
            let wrong = Wrong::new(format!(
                "{} operations in flight of a thread are no whole number for each of {} targets",
                span.depth,
                span.targets.len()
            ));
            return Err(("-O", wrong.instead("write a multiple of the number of targets, or -o")));
        }
        depth = (share / weights) as u32;
    }
    Ok(if is_interlocked(target) { (1, threads.saturating_mul(depth)) } else { (threads, depth) })
}

/// Those of all targets, or of each.
const fn threads_of(span: &TimeSpan, target: &Target) -> u32 {
    if span.threads > 0 { span.threads } else { target.threads }
}

/// Whether all threads go through one sequence.
const fn is_interlocked(target: &Target) -> bool {
    matches!(&target.access, Access::Sequential { is_interlocked: true, .. })
}

fn direction(target: &Target, workload: &mut Workload) {
    let is_random = target.random_percent() > 0;
    workload.rw = Some(match (target.write_percent, is_random) {
        (0, true) => ReadWrite::RandRead,
        (0, false) => ReadWrite::Read,
        (100, true) => ReadWrite::RandWrite,
        (100, false) => ReadWrite::Write,
        (_, true) => ReadWrite::RandRw,
        (_, false) => ReadWrite::Rw,
    });
    if (1..100).contains(&target.write_percent) {
        workload.read_percent = Percent::new(100 - target.write_percent).map(Sweep::one);
    }
    if (1..100).contains(&target.random_percent()) {
        workload.random_percent = Percent::new(target.random_percent());
    }
}

fn access(target: &Target, region: &Region, threads: u32, workload: &mut Workload) -> Result<(), Said<Wrong>> {
    let block = u64::from(target.block_size);
    match &target.access {
        Access::Random { alignment, distribution, .. } => {
            if let Some(alignment) = alignment {
                let wrong = Wrong::new(format!(
                    "random access at multiples of {alignment} bytes is not possible with blocks of {block}: operations \
                     begin at multiples of their size"
                ));
                return Err(("-r", wrong.instead("write -r alone")));
            }
            workload.distribution =
                distribution.as_ref().map(|given| zones(given, region)).transpose().map_err(|wrong| ("-rd", wrong))?;
        }
        Access::Sequential { stride, .. } => {
            if let Some(stride) = *stride {
                if stride < block {
                    let wrong = Wrong::new(format!("a stride of {stride} bytes is less than a block of {block}"));
                    return Err(("-s", wrong.instead("write -s alone, or a block or more")));
                }
                workload.stride = Some(ByteCount(stride));
            }
            if threads > 1 {
                workload.offset_increment = Some(ByteCount(target.thread_stride));
                let apart = target.thread_stride.saturating_mul(u64::from(threads - 1));
                let size = region.size.checked_sub(apart).filter(|size| *size >= block);
                let size = size.ok_or_else(|| {
                    let wrong = Wrong::new("the sequence of the last thread would begin behind the end of the target");
                    ("-T", wrong.instead("write less for -T or -t"))
                })?;
                workload.size = Some(Extent::Bytes(ByteCount(size)));
            }
        }
    }
    Ok(())
}

/// The ranges of a distribution as shares of a region.
fn zones(given: &Distribution, region: &Region) -> Result<Drawn, Wrong> {
    let mut left = region.size as f64;
    let mut zones = Vec::new();
    for range in &given.ranges {
        let size_percent = match given.unit {
            RangeUnit::Percent => range.size as f64,
            RangeUnit::Bytes => {
                let bytes = if range.size == 0 { left } else { (range.size as f64).min(left) };
                left -= bytes;
                bytes * 100.0 / region.size.max(1) as f64
            }
        };
        if size_percent > 0.0 {
            zones.push(Zone { access_percent: f64::from(range.io_percent), size_percent });
        }
    }
    if given.unit == RangeUnit::Bytes && left > 0.0 {
        zones.push(Zone { access_percent: 0.0, size_percent: left * 100.0 / region.size.max(1) as f64 });
    }
    // What lies behind the end of the target leaves its operations to the others.
    let operations: f64 = zones.iter().map(|zone| zone.access_percent).sum();
    if operations <= 0.0 {
        return Err(Wrong::new("no operation has a place within the target").instead("write smaller ranges"));
    }
    zones.iter_mut().for_each(|zone| zone.access_percent *= 100.0 / operations);
    Ok(Drawn::Zoned(zones))
}

/// When operations are issued. A job may do what so many threads do.
fn pace(target: &Target, threads: u32, workload: &mut Workload) {
    if let Some(rate) = target.rate {
        workload.rate = Some(match rate {
            Rate::Iops(iops) => Pace::Operations(f64::from(iops) * f64::from(threads)),
            Rate::BytesPerMillisecond(bytes) => {
                Pace::Bytes((u64::from(bytes) * 1000).saturating_mul(u64::from(threads)))
            }
        });
        workload.rate_per = Some(RateScope::Job);
        workload.arrival = Some(Arrival::Fixed);
    } else if let (Some(operations), Some(milliseconds)) = (target.burst, target.think_time_ms) {
        let pause = Span { ns: u64::from(milliseconds) * 1_000_000 };
        let operations = operations.saturating_mul(threads);
        workload.think_time = Some(ThinkTime { pause, operations });
    }
}

fn payload(span: &TimeSpan, target: &Target) -> Payload {
    let fill = match &target.content {
        _ if span.writes_random_data => Fill::Random,
        Content::Counting => Fill::Pattern((0..=u8::MAX).collect()),
        Content::Zero => Fill::Zero,
        Content::Buffer { .. } => Fill::Random,
    };
    Payload { fill, ..Payload::default() }
}

fn hint(target: &Target) -> Option<AccessHint> {
    let is_buffered = target.cache != Cache::None;
    match (target.hints_random, target.hints_sequential) {
        (true, _) if is_buffered => Some(AccessHint::Random),
        (false, true) if is_buffered => Some(AccessHint::Sequential),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
