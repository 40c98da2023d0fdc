//! What a cell's numbers show beside its rate: whether they are about the storage at all, and sentences about them.
//!
//! Pure functions of the record's cell, so that a run, a pod and a record read back say the same.

mod latency;

use plimsoll_measure::{
    detect::{
        cache::{self, CacheNumbers, CacheSign},
        client::{self, Check, ClientLimit, ClientNumbers},
        dips::periodic_dips,
        fairness::unfairness,
        hidden_burst::HiddenBurst,
        knee::{DepthPoint, knee},
        modes::two_modes,
        queueing::queue_bound,
        stalls::stalls,
        token_bucket::Stretch,
    },
    session::Overruling,
    stability::Grade,
    verdict::Verdict,
};
use plimsoll_record::{
    environment::Environment,
    record::{Cell, Record},
    results::{DirectionResult, Finding, Interval, Severity},
};
use plimsoll_workload::{plan::Pacing, settings::EngineChoice};
use serde_json::{Value, json};

use crate::findings::finding;

/// Share of foreign bytes in the disk's activity from which a sentence is due.
const FOREIGN_MIN: f64 = 0.02;

/// Depths that make a sweep in which to look for a knee.
const SWEEP_MIN: usize = 3;
/// Measured time below which nothing is said of the machine: counters that tick every few milliseconds say little.
const CLIENT_SPAN_MIN_NS: u64 = 2_000_000_000;

/// Whether a cell's numbers are about something else than the storage. A cache is named before the machine: what a
/// cache answers is limited by the machine, of course.
pub fn overruling(cell: &Cell, environment: &Environment) -> Option<Overruling> {
    if cell.engine == EngineChoice::Memory {
        return None;
    }
    if !cache::signs(&cache_numbers(cell)).is_empty() {
        return Some(Overruling::Cached);
    }
    client::is_client_limited(&client_limits(cell, environment)).then_some(Overruling::ClientLimited)
}

/// The sentences about a cell of a record, which has its verdict.
pub fn of_cell(cell: &Cell, record: &Record, hidden: Option<HiddenBurst>) -> Vec<Finding> {
    if cell.rounds_done == 0 || cell.engine == EngineChoice::Memory {
        return Vec::new();
    }
    let mut findings = Vec::new();
    findings.extend(cached(cell));
    findings.extend(client_limits(cell, &record.environment).iter().map(client_sentence));
    findings.extend(burst(cell));
    findings.extend(moved(cell));
    findings.extend(uneven(cell));
    findings.extend(dips(cell));
    findings.extend(stalled(cell));
    findings.extend(latency::exposed(cell));
    findings.extend(modes(cell));
    findings.extend(unfair(cell));
    findings.extend(foreign(cell, record.asked.background.is_some()));
    findings.extend(hidden_burst(cell, hidden));
    findings
}

/// Sentences about cells that differ in depth alone: where more depth stops helping, and what the wait is.
pub fn of_sweeps(cells: &[Cell]) -> Vec<(usize, Finding)> {
    let mut findings = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let group: Vec<usize> = (0..cells.len()).filter(|other| is_same_but_depth(cell, &cells[*other])).collect();
        if group.len() < 2 || group[0] != index {
            continue;
        }
        findings.extend(queue_bound_cells(cells, &group));
        if group.len() < SWEEP_MIN {
            continue;
        }
        let points: Vec<DepthPoint> = group.iter().filter_map(|other| depth_point(&cells[*other])).collect();
        let Some(knee) = knee(&points) else { continue };
        let at = group.iter().copied().find(|other| depth(&cells[*other]) == knee.depth).unwrap_or(index);
        let text = if knee.open_ended {
            format!("the rate still grows at depth {}, the deepest of the sweep: {} IOPS", knee.depth, whole(knee.rate))
        } else {
            format!(
                "depth {} is enough: {} IOPS, within 5 % of the sweep's highest ({})",
                knee.depth,
                whole(knee.rate),
                whole(knee.highest_rate)
            )
        };
        let evidence =
            [("depth", json!(knee.depth)), ("iops", json!(knee.rate)), ("iops_highest", json!(knee.highest_rate))];
        findings.push((at, finding("depth-knee", Severity::Info, text, &evidence)));
    }
    findings
}

/// Cells of a sweep whose latency is mostly waiting, by the latency of the shallowest of them.
fn queue_bound_cells(cells: &[Cell], group: &[usize]) -> Vec<(usize, Finding)> {
    let Some(alone) = group.iter().copied().find(|index| depth(&cells[*index]) == 1) else { return Vec::new() };
    let Some(service_ns) = mean_latency(&cells[alone]) else { return Vec::new() };
    let waits = |index: &usize| {
        let cell = &cells[*index];
        let bound = queue_bound(rate(cell)?, mean_latency(cell)?, service_ns)?;
        let text = format!(
            "{} of the latency is waiting in the queue: depth {:.0} would do for this rate",
            percent(bound.waiting_share),
            bound.depth_needed.ceil()
        );
        let evidence = [
            ("waiting_share", json!(bound.waiting_share)),
            ("service_ns", json!(bound.service_ns)),
            ("depth_needed", json!(bound.depth_needed)),
        ];
        Some((*index, finding("queue-bound-latency", Severity::Info, text, &evidence)))
    };
    group.iter().filter(|index| **index != alone).filter_map(waits).collect()
}

fn is_same_but_depth(left: &Cell, right: &Cell) -> bool {
    let mut plan = right.plan.clone();
    (plan.queue_depth, plan.seed) = (left.plan.queue_depth, left.plan.seed);
    left.target == right.target && plan == left.plan
}

const fn depth(cell: &Cell) -> u32 {
    cell.plan.queue_depth * cell.plan.jobs
}

fn depth_point(cell: &Cell) -> Option<DepthPoint> {
    Some(DepthPoint { depth: depth(cell), rate: rate(cell)? })
}

/// Reads and writes per second.
fn rate(cell: &Cell) -> Option<f64> {
    let rates: Vec<f64> = [&cell.read, &cell.write].into_iter().flatten().map(|result| result.iops).collect();
    (!rates.is_empty()).then(|| rates.iter().sum())
}

/// The direction that did most.
fn main_direction(cell: &Cell) -> Option<&DirectionResult> {
    [&cell.read, &cell.write].into_iter().flatten().max_by_key(|result| result.operations)
}

fn mean_latency(cell: &Cell) -> Option<f64> {
    main_direction(cell)?.latency_ns.mean
}

fn cache_numbers(cell: &Cell) -> CacheNumbers {
    let storage = cell.cache.as_ref().and_then(|cache| Some((cache.storage_read_bytes?, cache.requested_read_bytes)));
    let bound = cell.highest_bound();
    CacheNumbers {
        requested_bytes: storage.map(|(_, requested)| requested as f64),
        device_bytes: storage.map(|(storage, _)| storage as f64),
        rate: bound.map_or(0.0, |bound| bound.rate),
        limit: bound.map(|bound| bound.limit),
        ..CacheNumbers::default()
    }
}

fn cached(cell: &Cell) -> Vec<Finding> {
    let sentence = |sign: CacheSign| match sign {
        CacheSign::PageCache(share) if cell.plan.buffered => {
            let residency = cell.cache.as_ref().and_then(|cache| cache.residency.as_ref());
            let held = residency.map(|held| (held.after_bytes.unwrap_or(held.before_bytes), held.total_bytes));
            let resident = held.filter(|(_, total)| *total > 0).map_or_else(String::new, |(held, total)| {
                format!("; the cache held {} of the working set", percent(held as f64 / total as f64))
            });
            let evidence = [
                ("hit_share", json!(share)),
                ("resident_bytes", json!(held.map(|(held, _)| held))),
                ("working_set_bytes", json!(held.map(|(_, total)| total))),
            ];
            let text = format!("the page cache answered {} of what was read{resident}", percent(share));
            finding("cached-reads", Severity::Warning, text, &evidence)
        }
        CacheSign::PageCache(share) => finding(
            "reads-without-storage",
            Severity::Warning,
            format!("{} of what was read needed no storage: holes, or blocks never written", percent(share)),
            &[("share", json!(share))],
        ),
        CacheSign::AboveLimit(ratio) => finding(
            "read-above-device-limit",
            Severity::Warning,
            format!("the rate is {ratio:.2} times the limit: something else answered, or the limit is another one"),
            &[("ratio", json!(ratio))],
        ),
        CacheSign::BelowFloor(ratio) => finding(
            "latency-below-floor",
            Severity::Warning,
            format!("the median latency is {ratio:.2} of what the medium takes at the least: something else answered"),
            &[("ratio", json!(ratio))],
        ),
        CacheSign::RepeatFaster(ratio) => finding(
            "repeated-reads-faster",
            Severity::Warning,
            format!(
                "repeated reads are at least {ratio:.2} times as fast as fresh ones: a cache outside of this machine"
            ),
            &[("ratio", json!(ratio))],
        ),
    };
    let unknown = cell.plan.reads() && cache_numbers(cell).device_bytes.is_none();
    let page_cache = (cell.plan.buffered && (unknown || cell.plan.writes())).then(|| {
        finding(
            "page-cache",
            Severity::Warning,
            "buffered I/O: the page cache took part in this, so the numbers are not the storage's alone",
            &[],
        )
    });
    cache::signs(&cache_numbers(cell)).into_iter().map(sentence).chain(page_cache).collect()
}

/// What the sensors saw of the machine, as far as it can mean something for this cell.
fn client_numbers(cell: &Cell, environment: &Environment) -> ClientNumbers {
    let Some(client) = cell.client.as_ref().filter(|client| client.span_ns >= CLIENT_SPAN_MIN_NS) else {
        return ClientNumbers::default();
    };
    // A worker that watches the clock or polls is busy without need.
    let is_idle_when_waiting = cell.plan.pacing == Pacing::Closed && !cell.plan.iopoll && !cell.plan.sqpoll;
    let latency = main_direction(cell).map(|direction| &direction.latency_ns);
    let as_float = |value: Option<u64>| value.map(|value| value as f64);
    let events = |parts: [Option<u64>; 4]| {
        let known: Vec<u64> = parts.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<u64>() as f64)
    };
    ClientNumbers {
        latency_p50_ns: as_float(latency.and_then(|latency| latency.p50)),
        latency_p99_9_ns: as_float(latency.and_then(|latency| latency.p99_9)),
        busiest_thread: client.busiest_worker_share().filter(|_| is_idle_when_waiting),
        machine_cpu: client.machine_share(),
        steal: client.steal_share(),
        throttled: client.throttled_share(),
        memory_pressure: client.pressure_memory_share(),
        memory_events: events([
            client.swapped_in_bytes,
            client.swapped_out_bytes,
            client.memory_high_events,
            client.memory_oom_events,
        ]),
        clock_source: environment.machine.clock_source.clone(),
        clock_read_ns: environment.clock_cost_ns,
        oversleep_p99_ns: as_float(client.hiccup_ns.p99),
        oversleep_p99_9_ns: as_float(client.hiccup_ns.p99_9),
        oversleep_max_ns: as_float(client.hiccup_ns.max),
        null_target_share: rate(cell)
            .zip(client.null_operations_per_second.filter(|null| *null > 0.0))
            .map(|(rate, null)| rate / null),
        ..ClientNumbers::default()
    }
}

fn client_limits(cell: &Cell, environment: &Environment) -> Vec<ClientLimit> {
    client::client_limits(&client_numbers(cell, environment))
}

fn client_sentence(limit: &ClientLimit) -> Finding {
    let ClientLimit { check, severity, value, limit } = *limit;
    let share = percent(value);
    let (code, text) = match check {
        Check::BusiestThread => ("client-thread", format!("the busiest worker used {share} of a processor")),
        Check::MachineCpu => ("client-processors", format!("the machine's processors were {share} busy")),
        Check::Steal => ("client-steal", format!("the hypervisor gave {share} of the processors to others")),
        Check::Throttled => ("client-quota", format!("a CPU quota held plimsoll back for {share} of the time")),
        Check::MemoryPressure => ("client-memory", format!("tasks waited for memory {share} of the time")),
        Check::MemoryEvents => ("client-memory-events", "the machine swapped, or the memory limit was met".to_owned()),
        Check::ClockSource => ("client-clock", "the kernel's clock source is slow or coarse".to_owned()),
        Check::ClockRead => ("client-clock-cost", format!("reading the clock takes {}", time(value))),
        Check::Oversleep => ("client-hiccups", format!("an idle thread was woken up to {} late", time(value))),
        Check::OversleepTail => (
            "client-tail",
            format!("the machine's own hiccups reach {}: they may explain the longest latencies", time(value)),
        ),
        Check::NullTarget => ("client-headroom", format!("plimsoll without storage is hardly faster: {share} of that")),
        Check::Occupancy
        | Check::Lateness
        | Check::CpuPressure
        | Check::Network
        | Check::NetworkAllowance
        | Check::Retransmits
        | Check::Thermal
        | Check::MoreThreads => ("client-limit", format!("{check:?} is {value:.3}, the limit {limit:.3}")),
    };
    let severity = match severity {
        client::Severity::Red => Severity::Warning,
        client::Severity::Yellow => Severity::Info,
    };
    finding(code, severity, text, &[("value", json!(value)), ("limit", json!(limit))])
}

fn burst(cell: &Cell) -> Option<Finding> {
    let burst = cell.burst?;
    let evidence = [
        ("burst_iops", json!(burst.burst_iops)),
        ("sustained_iops", json!(burst.sustained_iops)),
        ("cliff_after_ns", json!(burst.cliff_after_ns)),
        ("cliff_before_ns", json!(burst.cliff_before_ns)),
        ("bucket_operations", json!(burst.bucket_operations)),
    ];
    let (from, to) = (whole(burst.burst_iops), whole(burst.sustained_iops));
    let bucket = burst.bucket_operations.map_or_else(String::new, |operations| {
        format!("; the allowance holds {} operations above that", whole(operations))
    });
    let text = if burst.predicted {
        let cliff = burst.cliff_after_ns.map_or_else(String::new, |at| format!(", {} into the run", span(at)));
        format!("{from} IOPS are a burst: by the given limit {to} are sustained once it is used up{cliff}")
    } else {
        let cliff = burst.cliff_before_ns.map_or_else(String::new, |at| format!(" {} into the run", span(at)));
        format!("the rate fell from {from} to {to} IOPS{cliff} and stayed there: a burst allowance was used up{bucket}")
    };
    Some(finding("burst", Severity::Warning, text, &evidence))
}

fn moved(cell: &Cell) -> Option<Finding> {
    let moved = cell.moved?;
    let text = format!(
        "moved: {} IOPS until {} into the run, {} at {}",
        whole(moved.was_iops),
        span(moved.was_in.to_ns),
        whole(moved.is_iops),
        span(moved.is_in.from_ns)
    );
    let evidence = [("was_iops", json!(moved.was_iops)), ("is_iops", json!(moved.is_iops))];
    Some(finding("moved", Severity::Warning, text, &evidence))
}

fn uneven(cell: &Cell) -> Option<Finding> {
    let stability = cell.stability?;
    let evidence = [
        ("iops_min", json!(stability.iops_min)),
        ("iops_median", json!(stability.iops_median)),
        ("iops_max", json!(stability.iops_max)),
        ("spread", json!(stability.spread)),
    ];
    let range = format!("{} to {} IOPS", whole(stability.iops_min), whole(stability.iops_max));
    if stability.wide || stability.grade == Some(Grade::F) {
        let median = whole(stability.iops_median);
        let text = format!("{range} in single seconds, median {median}: no single number describes this");
        return Some(finding("wide-range", Severity::Warning, text, &evidence));
    }
    if cell.verdict == Some(Verdict::Drifting) {
        return Some(finding("drift", Severity::Warning, format!("the rate was still moving: {range}"), &evidence));
    }
    (stability.grade == Some(Grade::D)).then(|| {
        finding(
            "uneven",
            Severity::Warning,
            format!("{range} in single seconds: the mean is not what one gets"),
            &evidence,
        )
    })
}

/// The rates of measured seconds of the judged window, a stretch for each slot.
fn stretches(cell: &Cell) -> Vec<(u64, Vec<f64>)> {
    let in_window = |second: &&Interval| {
        second.measured
            && second.length_ns >= 500_000_000
            && cell.window.is_none_or(|window| second.t_ns + second.length_ns / 2 > window.from_ns)
    };
    let counted = |second: &&Interval| cell.slots.iter().any(|slot| slot.counted && slot.round == second.round);
    let mut stretches: Vec<(u32, u64, Vec<f64>)> = Vec::new();
    for second in cell.series.iter().filter(in_window).filter(counted) {
        let rate = (second.read_operations + second.write_operations) as f64 * 1e9 / second.length_ns as f64;
        match stretches.last_mut() {
            Some((round, _, rates)) if *round == second.round => rates.push(rate),
            _ => stretches.push((second.round, second.t_ns, vec![rate])),
        }
    }
    stretches.into_iter().map(|(_, from_ns, rates)| (from_ns, rates)).collect()
}

fn dips(cell: &Cell) -> Option<Finding> {
    cell.period_ns?;
    let rates: Vec<f64> = stretches(cell).into_iter().flat_map(|(_, rates)| rates).collect();
    let dips = periodic_dips(&rates)?;
    let text = format!(
        "dips every {} s, down to {} from {} IOPS",
        dips.period_seconds,
        whole(dips.lowest_rate),
        whole(dips.usual_rate)
    );
    let evidence = [
        ("period_s", json!(dips.period_seconds)),
        ("iops_usual", json!(dips.usual_rate)),
        ("iops_lowest", json!(dips.lowest_rate)),
        ("time_share", json!(dips.share)),
    ];
    Some(finding("periodic-dips", Severity::Warning, text, &evidence))
}

/// Seconds far below the usual. The sentence takes the place of the workers' own about seconds without any completion:
/// it speaks of more.
fn stalled(cell: &Cell) -> Option<Finding> {
    // Where operations are due now and then only, an empty second is none in which the storage stood still.
    if cell.plan.pacing != Pacing::Closed || cell.plan.think_time_ns > 0 {
        return None;
    }
    let stretches = stretches(cell);
    let borrowed: Vec<Stretch<'_>> =
        stretches.iter().map(|(from_ns, rates)| Stretch { from_ns: *from_ns, rates }).collect();
    let stalls = stalls(&borrowed, 1.0)?;
    if stalls.count == 0 {
        return None;
    }
    let times = if stalls.count == 1 { "a stall".to_owned() } else { format!("{} stalls", stalls.count) };
    let text = format!(
        "{times} of up to {:.0} s, {} of the time: less than a tenth of the usual completed",
        stalls.longest_seconds,
        percent(stalls.share)
    );
    let evidence = [
        ("stalls", json!(stalls.count)),
        ("longest_s", json!(stalls.longest_seconds)),
        ("time_share", json!(stalls.share)),
    ];
    Some(finding("stalled", Severity::Warning, text, &evidence))
}

fn modes(cell: &Cell) -> Option<Finding> {
    let direction = main_direction(cell)?;
    let modes = two_modes(&direction.histogram)?;
    let text = format!(
        "two kinds of operations: {} take about {}, the others about {}",
        percent(modes.fast_share),
        time(modes.fast_ns),
        time(modes.slow_ns)
    );
    let evidence =
        [("fast_share", json!(modes.fast_share)), ("fast_ns", json!(modes.fast_ns)), ("slow_ns", json!(modes.slow_ns))];
    Some(finding("two-modes", Severity::Info, text, &evidence))
}

fn unfair(cell: &Cell) -> Option<Finding> {
    let found = unfairness(&cell.worker_operations)?;
    let text = format!(
        "unequal workers: the slowest did {} of an average share, the fastest {}",
        percent(found.slowest_share),
        percent(found.fastest_share)
    );
    let evidence: [(&str, Value); 3] = [
        ("slowest_share", json!(found.slowest_share)),
        ("fastest_share", json!(found.fastest_share)),
        ("jain_index", json!(found.jain_index)),
    ];
    Some(finding("unfair-workers", Severity::Info, text, &evidence))
}

/// What the disk did for others. Of a load that was asked for it is no surprise.
fn foreign(cell: &Cell, is_asked_for: bool) -> Option<Finding> {
    let (foreign, device) = (cell.foreign.as_ref()?, cell.device.as_ref()?);
    let others = foreign.read_bytes.unwrap_or(0) + foreign.write_bytes.unwrap_or(0);
    let all = device.read_bytes + device.write_bytes;
    let share = others as f64 / all.max(1) as f64;
    (share > FOREIGN_MIN).then(|| {
        let (whom, severity) = match is_asked_for {
            true => ("the background command, or somebody else", Severity::Info),
            false => ("somebody else", Severity::Warning),
        };
        let text = format!("{} of what {} transferred was for {whom}", percent(share), device.name);
        let evidence = [("share", json!(share)), ("foreign_bytes", json!(others)), ("device_bytes", json!(all))];
        finding("foreign-io", severity, text, &evidence)
    })
}

/// What a steady rate does not exclude.
fn hidden_burst(cell: &Cell, hidden: Option<HiddenBurst>) -> Option<Finding> {
    let hidden = hidden.filter(|_| cell.verdict == Some(Verdict::Steady) && cell.limit.is_none())?;
    let text = format!(
        "not excluded: a burst allowance larger than this run used. If {} IOPS were sustained, it would hold more than {} \
         operations",
        whole(hidden.supposed_rate),
        whole(hidden.operations)
    );
    let evidence = [
        ("span_ns", json!(hidden.span_ns)),
        ("supposed_iops", json!(hidden.supposed_rate)),
        ("operations", json!(hidden.operations)),
    ];
    Some(finding("burst-not-excluded", Severity::Info, text, &evidence))
}

/// A rate or a count as people write it: `12,300`.
fn whole(value: f64) -> String {
    let digits = format!("{:.0}", value.max(0.0));
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share: `0.4 %`, `12 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A short time: `120 us`, `3.4 ms`, `2.0 s`.
fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.0} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        ns => format!("{:.1} s", ns / 1e9),
    }
}

/// A moment of the run: `45 s`, `12m 05s`.
fn span(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    if seconds < 60 { format!("{seconds} s") } else { format!("{}m {:02}s", seconds / 60, seconds % 60) }
}
