//! What a job does to its files: pattern, depth, rate, content. What a plan says a little differently is noted, and
//! what it cannot say is refused.

use std::num::NonZeroU32;

use plimsoll_workload::{
    block_sizes::{BlockSizes, WeightedBlockSize},
    distribution::{self, Zone},
    limits,
    payload::{Fill, Payload},
    pinning::Pinning,
    settings::{AccessHint, Arrival, EngineChoice, RateScope, ReadWrite, SyncMode},
    sweep::Sweep,
    units::{ByteCount, Percent, Rate, Span},
    workload::{ThinkTime, Workload},
};

use super::files::FileSet;
use crate::fio::{
    job::Job,
    lists::{self, BlockShare, Directional, Range, ZoneSize},
    settings::{
        Arrivals, Checksum, Content, Distribution, Engine, Hint, Pattern, RateLimits, Sequencer, Settings, Step, Sync,
        ThinkTimeCounts,
    },
};
use crate::problem::Wrong;

/// The seed that fio's generators begin with, so that each run of a job has the same places.
const SEED: u64 = 0x89;

/// How far a rate may be off for being told in whole percent of both.
const RATE_TOLERANCE: f64 = 0.25;

/// Tells something about a job.
type Notes<'a> = dyn FnMut(String) + 'a;

/// The workload of a job in a region of so many bytes, without its files and what ends it.
pub(super) fn workload(index: usize, job: &Job, region_bytes: u64, notes: &mut Notes<'_>) -> Result<Workload, Wrong> {
    let settings = &job.settings;
    let mut workload = Workload {
        engine: Some(engine(settings, notes)),
        buffered: Some(!settings.submission.is_direct || settings.engine == Engine::Mmap),
        payload: Some(payload(&settings.content, notes)),
        keep_going: Some(keeps_going(settings)),
        ends_phase: settings.course.ends_all.then_some(true),
        ..Workload::default()
    };
    pattern(&settings.pattern, region_bytes, notes, &mut workload)?;
    submission(settings, notes, &mut workload);
    rate(settings, notes, &mut workload)?;
    verification(settings, notes, &mut workload)?;
    if !settings.course.processors.is_empty() {
        workload.pin = Some(Pinning::Processors(settings.course.processors.clone()));
    }
    if settings.pattern.is_repeatable {
        workload.seed = Some(settings.pattern.seed.unwrap_or(SEED).wrapping_add(index as u64));
    }
    if let Some(delay) = settings.course.start_delay {
        if delay.low != delay.high {
            notes(format!("startdelay is {}, the shorter end of its range", delay.low));
        }
        workload.start_delay = Some(delay.low);
    }
    Ok(workload)
}

/// Leaves the workload its share of a job that has files on other targets too.
pub(super) fn share(set: &FileSet, workload: &mut Workload) -> Result<(), Wrong> {
    let depth = workload.queue_depth.as_ref().and_then(|depth| depth.values().first().copied()).unwrap_or(1);
    // Anything but whole operations in flight would be more or less load than was asked for.
    if !(u64::from(depth) * set.count()).is_multiple_of(set.all) {
        let text = format!(
            "the {} files and devices of the job are on several targets, among which {depth} in flight cannot be shared",
            set.all
        );
        let least = u64::from(depth).next_multiple_of(set.all);
        let instead = format!("write iodepth={least} with libaio or io_uring, or a job for each target");
        return Err(Wrong::new(text).instead(instead));
    }
    if workload.think_time.is_some() {
        return Err(Wrong::new("the files of the job are on several targets, which cannot pause together")
            .instead("leave thinktime out, or write a job for each target"));
    }
    let depth = set.share(depth.into());
    workload.queue_depth = u32::try_from(depth).ok().map(Sweep::one);
    workload.batch = workload.batch.map(|batch| batch.min(depth as u32));
    workload.rate = workload.rate.map(|rate| match rate {
        Rate::Operations(rate) => Rate::Operations(rate * set.count() as f64 / set.all as f64),
        Rate::Bytes(rate) => Rate::Bytes(set.share(rate).max(1)),
    });
    Ok(())
}

/// Whether the job goes on after errors. A list of errors to ignore stands for all of its direction.
fn keeps_going(settings: &Settings) -> bool {
    let (direction, course) = (settings.pattern.direction, &settings.course);
    let reads = course.continues_on.read || !course.ignored_errors.read.is_empty();
    let writes = course.continues_on.write || !course.ignored_errors.write.is_empty();
    direction.reads && reads || direction.writes && writes
}

fn engine(settings: &Settings, notes: &mut Notes<'_>) -> EngineChoice {
    match settings.engine {
        Engine::Libaio => EngineChoice::Libaio,
        Engine::IoUring => EngineChoice::IoUring,
        Engine::Null => EngineChoice::Memory,
        Engine::FileCreate => EngineChoice::FileCreate,
        Engine::FileStat => EngineChoice::FileStat,
        Engine::FileDelete => EngineChoice::FileDelete,
        Engine::Posixaio => {
            notes("posixaio is done by a thread for each operation in flight, as the C library does it".to_owned());
            EngineChoice::Psync
        }
        Engine::Mmap => {
            notes("mmap is done by reads and writes through the page cache, which maps the same pages".to_owned());
            EngineChoice::Psync
        }
        _ => EngineChoice::Psync,
    }
}

fn pattern(pattern: &Pattern, region_bytes: u64, notes: &mut Notes<'_>, workload: &mut Workload) -> Result<(), Wrong> {
    let direction = pattern.direction;
    let rw = match (direction.reads, direction.writes, direction.is_random) {
        (true, true, false) => ReadWrite::Rw,
        (true, true, true) => ReadWrite::RandRw,
        (false, _, false) => ReadWrite::Write,
        (false, _, true) => ReadWrite::RandWrite,
        (true, false, false) => ReadWrite::Read,
        (true, false, true) => ReadWrite::RandRead,
    };
    workload.rw = Some(rw);
    if rw.is_mixed() {
        workload.read_percent = Percent::new(pattern.read_percent).map(Sweep::one);
    }
    let [mut read, mut write] = [
        sizes(pattern.block_size.read, pattern.block_range.read, &pattern.block_split.read)?,
        sizes(pattern.block_size.write, pattern.block_range.write, &pattern.block_split.write)?,
    ];
    if pattern.is_size_by_order {
        let size = if direction.is_random { write } else { read };
        (read, write) = (size.clone(), size);
    }
    let is_one_sequence = !direction.is_random || random_percent(pattern) == 0;
    if rw.is_mixed() && (1..100).contains(&pattern.read_percent) && is_one_sequence {
        notes(
            "reads and writes are one sequence through the region; in fio, each begins at its start, and goes on from \
             where the last of its kind ended"
                .to_owned(),
        );
    }
    let only_writes = !direction.reads;
    workload.block_size = Some(Sweep::one(if only_writes { write.clone() } else { read.clone() }));
    workload.write_block_size = (direction.reads && direction.writes && read != write).then(|| write.clone());
    let random_percent = random_percent(pattern);
    if direction.is_random && random_percent < 100 {
        workload.random_percent = Percent::new(random_percent);
    }
    match (pattern.step, direction.is_random) {
        (Step::Skip(bytes), false) => {
            let reads = if rw.is_mixed() { pattern.read_percent } else { rw.default_read_percent() };
            let sizes = [(reads > 0, &read), (reads < 100, &write)];
            let occurring = sizes.into_iter().filter(|(occurs, _)| *occurs);
            let block = occurring.map(|(_, size)| size.max()).max().unwrap_or(0);
            let Ok(bytes) = u64::try_from(bytes) else {
                return Err(Wrong::new("a sequence that goes backwards is not there yet").instead("leave the step out"));
            };
            workload.stride = Some(ByteCount(u64::from(block) + bytes));
        }
        (Step::Operations(operations), true) if operations > 1 => {
            if pattern.sequencer == Sequencer::Identical {
                return Err(Wrong::new("rw_sequencer=identical is not there yet").instead("leave it out"));
            }
            let percent = (100 / operations.min(100)).max(1);
            notes(format!(
                "a new place is drawn for {percent} of a hundred operations, not after every {operations} of them"
            ));
            workload.random_percent = Percent::new(percent as u8);
        }
        _ => {}
    }
    if direction.is_random && workload.random_percent.is_none_or(|percent| percent.get() > 0) {
        workload.distribution = Some(distribution(pattern, region_bytes)?);
    }
    Ok(())
}

fn random_percent(pattern: &Pattern) -> u8 {
    if pattern.direction.reads { pattern.random_percent.read } else { pattern.random_percent.write }
}

fn sizes(size: ByteCount, range: Option<Range<ByteCount>>, split: &[BlockShare]) -> Result<BlockSizes, Wrong> {
    let small = |size: ByteCount| {
        u32::try_from(size.0).map_err(|_| Wrong::new(format!("a block of {size} is too large")).instead("write less"))
    };
    if !split.is_empty() {
        let part =
            |share: &BlockShare| Ok(WeightedBlockSize { bytes: small(share.size)?, weight: share.percent.into() });
        let parts = split.iter().filter(|share| share.percent > 0).map(part).collect::<Result<Vec<_>, Wrong>>()?;
        return Ok(BlockSizes::Split(parts));
    }
    match range {
        Some(Range { low, high }) if low != high => Ok(BlockSizes::Range { min: small(low)?, max: small(high)? }),
        _ => Ok(BlockSizes::One(small(range.map_or(size, |range| range.low))?)),
    }
}

fn distribution(pattern: &Pattern, region_bytes: u64) -> Result<distribution::Distribution, Wrong> {
    use distribution::Distribution as Drawn;
    Ok(match &pattern.distribution {
        Distribution::Uniform if pattern.may_repeat_blocks => Drawn::Uniform,
        Distribution::Uniform => Drawn::ExactOnce,
        Distribution::Zipf { theta, .. } => Drawn::Zipf { theta: *theta },
        Distribution::Pareto { h, .. } => Drawn::Pareto { h: *h },
        Distribution::Normal { deviation, .. } => Drawn::Normal {
            // To the mean of twelve uniform draws fio adds one more, which is as wide as the deviation that is given.
            deviation_percent: ((100.0 / 12.0_f64).powi(2) + deviation.powi(2) / 12.0).sqrt(),
            is_scattered: true,
        },
        Distribution::Zoned(given) => {
            let given = if pattern.direction.reads { &given.read } else { &given.write };
            Drawn::Zoned(zones(given, region_bytes)?)
        }
    })
}

/// The zones of a region; what they leave of it is one that nothing goes to.
fn zones(given: &[lists::Zone], region_bytes: u64) -> Result<Vec<Zone>, Wrong> {
    let percent = |size: ZoneSize| match size {
        ZoneSize::Percent(percent) => f64::from(percent),
        ZoneSize::Bytes(bytes) => bytes.0 as f64 * 100.0 / region_bytes.max(1) as f64,
    };
    let sum: f64 = given.iter().map(|zone| percent(zone.size)).sum();
    if sum > 100.0 + 1e-6 {
        return Err(Wrong::new("the zones are larger than the region").instead("write smaller zones or a larger size="));
    }
    // Of a zone in bytes that says none, the size is the rest.
    let is_rest = |zone: &lists::Zone| zone.size == ZoneSize::Bytes(ByteCount(0));
    let rests = given.iter().filter(|zone| is_rest(zone)).count();
    let rest = (100.0 - sum) / rests.max(1) as f64;
    let size = |zone: &lists::Zone| if is_rest(zone) { rest } else { percent(zone.size) };
    let zone = |zone: &lists::Zone| Zone { access_percent: zone.access_percent.into(), size_percent: size(zone) };
    let mut zones: Vec<Zone> = given.iter().map(zone).collect();
    if zones.iter().any(|zone| zone.access_percent > 0.0 && zone.size_percent <= 0.0) {
        return Err(Wrong::new("a zone has no size").instead("write one, or leave the zone out"));
    }
    if rests == 0 && rest > 1e-6 {
        zones.push(Zone { access_percent: 0.0, size_percent: rest });
    }
    Ok(zones)
}

fn submission(settings: &Settings, notes: &mut Notes<'_>, workload: &mut Workload) {
    let submission = &settings.submission;
    workload.queue_depth = Some(Sweep::one(submission.depth.max(1)));
    let clones = settings.course.clones;
    workload.jobs = (settings.report.is_by_group && clones > 1).then(|| Sweep::one(clones));
    workload.sync = match submission.sync {
        Sync::None => None,
        Sync::Full => Some(SyncMode::Sync),
        Sync::Data => Some(SyncMode::DataSync),
    };
    workload.fsync = submission.fsync_every.filter(|every| *every > 0).map(u64::from);
    workload.fdatasync = submission.fdatasync_every.filter(|every| *every > 0).map(u64::from);
    workload.end_fsync = (submission.is_synced_at_end || submission.is_synced_on_close).then_some(true);
    // What is submitted at once is what is waited for at once; a full queue drains by as much before it is filled.
    let drained = submission.low.map_or(0, |low| submission.depth.saturating_sub(low));
    let batch = submission.complete_min.max(drained).max(1);
    workload.batch = (batch > 1).then_some(batch.min(submission.depth));
    // One by one unless the job says otherwise, as the kernel merges what it gets at once.
    let queues = matches!(settings.engine, Engine::Libaio | Engine::IoUring);
    workload.submit = (queues && submission.batch > 0).then_some(submission.batch);
    workload.drop_cache = (settings.files.drops_cache && !submission.is_direct).then_some(true);
    let of_pattern = if settings.pattern.direction.is_random { AccessHint::Random } else { AccessHint::Sequential };
    workload.access_hint = match submission.hint {
        _ if submission.is_direct => None,
        Hint::None | Hint::NoReuse => None,
        Hint::OfPattern => Some(of_pattern),
        Hint::Given(hint) => Some(hint),
    };
    let is_polled = settings.engine_options.polled;
    if is_polled && settings.engine != Engine::IoUring {
        notes(format!("hipri has no effect with {}: completions are polled with io_uring", settings.engine.name()));
    }
    workload.iopoll = (is_polled && settings.engine == Engine::IoUring).then_some(true);
    workload.sqpoll = (settings.engine_options.submission_thread && settings.engine == Engine::IoUring).then_some(true);
}

/// Reads and writes share one rate by whole percent: refused where one of them would become something else by that.
fn check_rates(asked: [f64; 2], shared: [f64; 2]) -> Result<(), Wrong> {
    let is_close = |(asked, shared): (&f64, &f64)| (shared / asked - 1.0).abs() <= RATE_TOLERANCE;
    if asked.iter().zip(&shared).all(is_close) {
        return Ok(());
    }
    let [reads, writes] = shared.map(|rate| format!("{rate:.0}"));
    Err(Wrong::new(format!(
        "the mix of these rates is no whole percent: they would become {reads} reads and {writes} writes a second"
    ))
    .instead("write two jobs, one that reads and one that writes"))
}

fn rate(settings: &Settings, notes: &mut Notes<'_>, workload: &mut Workload) -> Result<(), Wrong> {
    let RateLimits { bytes, operations, arrivals, think_time, think_time_blocks, .. } = &settings.rate;
    let direction = settings.pattern.direction;
    let is_mix = direction.reads && direction.writes;
    // The rates decide the mix, as in fio; operations of how many bytes make up a rate in bytes.
    let mut sum = |limits: &Directional<Option<u64>>, sizes: [f64; 2]| {
        let reads = limits.read.filter(|_| direction.reads);
        let writes = limits.write.filter(|_| direction.writes);
        match (reads, writes) {
            (Some(reads), Some(writes)) => {
                let operations = [reads as f64 / sizes[0], writes as f64 / sizes[1]];
                let whole = (operations[0] + operations[1]).max(f64::MIN_POSITIVE);
                let percent = (operations[0] * 100.0 / whole).round().clamp(1.0, 99.0);
                check_rates(operations, [percent, 100.0 - percent].map(|percent| whole * percent / 100.0))?;
                workload.read_percent = Percent::new(percent as u8).map(Sweep::one);
                Ok(Some(reads.saturating_add(writes)))
            }
            (None, None) => Ok(None),
            _ if is_mix => Err(Wrong::new("a rate for one direction of a mix is not there yet")
                .instead("write one for the other direction too, or two jobs")),
            (one, other) => Ok(one.or(other)),
        }
    };
    let means = [mean_bytes(&settings.pattern, true), mean_bytes(&settings.pattern, false)];
    // There is one of them.
    let rate = match (sum(bytes, means)?, smallest_blocks(operations, settings)) {
        (Some(rate), _) => Some(Rate::Bytes(rate)),
        (None, Some(smallest)) => sum(&smallest, means)?.map(Rate::Bytes),
        (None, None) => sum(operations, [1.0, 1.0])?.map(|rate| Rate::Operations(rate as f64)),
    };
    if let Some(rate) = rate {
        workload.rate = Some(rate);
        workload.rate_per = Some(RateScope::Job);
        workload.arrival = Some(match arrivals {
            Arrivals::Linear => Arrival::Fixed,
            Arrivals::Poisson => Arrival::Poisson,
        });
        if *think_time > Span::default() {
            notes("thinktime has no effect beside a rate, which says when operations are due".to_owned());
        }
        return Ok(());
    }
    if *think_time > Span::default() {
        let operations = NonZeroU32::new(*think_time_blocks).map_or(1, NonZeroU32::get);
        workload.think_time = Some(ThinkTime { pause: *think_time, operations });
        if settings.rate.think_time_spin > Span::default() {
            notes("thinktime_spin is slept as the rest of thinktime is".to_owned());
        }
        if settings.rate.think_time_after.is_some() {
            notes("thinktime_iotime has no effect: a pause comes after so many operations".to_owned());
        }
        if settings.rate.think_time_counts == ThinkTimeCounts::Completed && settings.submission.depth > operations {
            notes(format!(
                "operations between two pauses: {operations}, as fio documents thinktime_blocks; fio itself \
                 fills its queue, and does not count all of what it sends"
            ));
        }
    }
    Ok(())
}

/// Rates in operations as the bytes that they are in fio where sizes of blocks differ: each operation counts as the
/// smallest one. Poisson arrivals are drawn for operations.
fn smallest_blocks(operations: &Directional<Option<u64>>, settings: &Settings) -> Option<Directional<Option<u64>>> {
    let (direction, bounds) = (settings.pattern.direction, settings.pattern.block_bounds());
    let differs = direction.reads && bounds.read.low != bounds.read.high
        || direction.writes && bounds.write.low != bounds.write.high;
    let bytes = |rate: Option<u64>, range: Range<ByteCount>| Some(rate?.saturating_mul(range.low.0));
    (differs && settings.rate.arrivals == Arrivals::Linear).then(|| Directional {
        read: bytes(operations.read, bounds.read),
        write: bytes(operations.write, bounds.write),
        trim: bytes(operations.trim, bounds.trim),
    })
}

/// The mean length of the operations of one direction.
fn mean_bytes(pattern: &Pattern, reads: bool) -> f64 {
    let split = if reads { &pattern.block_split.read } else { &pattern.block_split.write };
    if !split.is_empty() {
        let sum: f64 = split.iter().map(|share| share.size.0 as f64 * f64::from(share.percent)).sum();
        return (sum / 100.0).max(1.0);
    }
    let bounds = pattern.block_bounds();
    let range = if reads { bounds.read } else { bounds.write };
    f64::midpoint(range.low.0 as f64, range.high.0 as f64).max(1.0)
}

fn payload(content: &Content, notes: &mut Notes<'_>) -> Payload {
    let mut payload = Payload::default();
    if content.is_zero {
        payload.fill = Fill::Zero;
    } else if let Some(pattern) = content.pattern.as_ref().filter(|pattern| !pattern.is_empty()) {
        payload.fill = Fill::Pattern(pattern.clone());
        if content.compress_percent.is_some() || content.duplicate_percent.is_some() {
            notes("a pattern is written as it is: compression and duplicates of it are not mixed in".to_owned());
        }
    } else {
        payload.compressible = content.compress_percent.and_then(Percent::new).unwrap_or_default();
        payload.duplicate = content.duplicate_percent.and_then(Percent::new).unwrap_or_default();
    }
    payload
}

/// Why nobody could know what a block should hold, and what to write instead.
fn unverifiable(workload: &Workload) -> Option<(&'static str, &'static str)> {
    let sizes = workload.block_size.as_ref().and_then(|sweep| sweep.values().first());
    let Some(&BlockSizes::One(size)) = sizes.filter(|_| workload.write_block_size.is_none()) else {
        return Some(("blocks of several sizes cannot be verified", "one bs"));
    };
    if !size.is_power_of_two() || !(limits::VERIFY_BLOCK_MIN..=limits::VERIFY_BLOCK_MAX).contains(&size) {
        return Some(("blocks of this size cannot be verified", "a bs that is a power of two from 512 to 1m"));
    }
    if workload.stride.is_some() {
        return Some(("blocks with holes between them cannot be verified", "rw without an offset"));
    }
    let is_mixed = workload.random_percent.is_some_and(|percent| (1..100).contains(&percent.get()));
    is_mixed.then_some(("sequential and random blocks in one job cannot be verified", "percentage_random=0 or 100"))
}

fn verification(settings: &Settings, notes: &mut Notes<'_>, workload: &mut Workload) -> Result<(), Wrong> {
    let content = &settings.content;
    let Some(checksum) = content.verify else { return Ok(()) };
    if checksum == Checksum::Null {
        return Ok(());
    }
    if settings.engine == Engine::Null {
        notes("the engine null keeps nothing, so nothing is verified".to_owned());
        return Ok(());
    }
    if !settings.pattern.direction.writes {
        notes("what an earlier job wrote was checked by that job; this one reads without checking".to_owned());
        return Ok(());
    }
    if !content.has_verify_phase {
        notes("do_verify=0: nothing is read back, and blocks have no header".to_owned());
        return Ok(());
    }
    if let Some((why, instead)) = unverifiable(workload) {
        return Err(Wrong::new(why).instead(format!("write {instead}, or do_verify=0")));
    }
    notes(
        "blocks have a header of plimsoll's own, with place, generation and a checksum of the content; files are written \
         before the job"
            .to_owned(),
    );
    workload.verify = Some(true);
    workload.payload = None;
    workload.distribution = None;
    Ok(())
}
