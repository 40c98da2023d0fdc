//! What the machine that measured had to do with it.

use plimsoll_measure::{
    detect::client::{self, Check, ClientLimit, ClientNumbers},
    stability::spread,
};
use plimsoll_record::{
    environment::Environment,
    event::SlotPurpose,
    numbers::{latency_in_text, percent},
    record::Cell,
    results::{Finding, Interval, Severity},
};
use plimsoll_workload::plan::{BlockPlan, Pacing};
use serde_json::json;

use super::{main_direction, rate, seconds::HALF_SECOND_NS};
use crate::findings::finding;

/// Measured time below which nothing is said of the machine: counters that tick every few milliseconds say little.
const CLIENT_SPAN_MIN_NS: u64 = 2_000_000_000;
/// Seconds that tell how even a rate is.
const SPREAD_SECONDS_MIN: usize = 5;

/// What the sensors saw of the machine, as far as it can mean something for this cell.
fn client_numbers(cell: &Cell, environment: &Environment) -> ClientNumbers {
    let Some(client) = cell.client.as_ref().filter(|client| client.span_ns >= CLIENT_SPAN_MIN_NS) else {
        return ClientNumbers::default();
    };
    // A worker that watches the clock or polls is busy without need.
    let waits = |plan: &BlockPlan| plan.pacing == Pacing::Closed && !plan.iopoll && !plan.sqpoll;
    let is_idle_when_waiting = cell.blocks().is_some_and(waits);
    let run_delay = client.worker_run_delay_share();
    let latency = main_direction(cell).map(|direction| &direction.latency_ns);
    let as_float = |value: Option<u64>| value.map(|value| value as f64);
    let sum = |parts: [Option<u64>; 2]| {
        let known: Vec<u64> = parts.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<u64>() as f64)
    };
    ClientNumbers {
        latency_p50_ns: as_float(latency.and_then(|latency| latency.p50)),
        latency_p99_9_ns: as_float(latency.and_then(|latency| latency.p99_9)),
        busiest_thread: client.busiest_worker_share().filter(|_| is_idle_when_waiting),
        run_delay,
        spread: spread_of_seconds(cell),
        machine_cpu: client.machine_share(),
        steal: client.worker_steal_share(),
        // The group may have been held back for others in it, while our workers wanted nothing.
        throttled: client.throttled_share().map(|share| run_delay.map_or(share, |delay| share.min(delay))),
        memory_pressure: client.pressure_memory_share(),
        memory_events: sum([client.memory_high_events, client.memory_oom_events]),
        swapped: sum([client.swapped_in_bytes, client.swapped_out_bytes]),
        clock_source: environment.machine.clock_source.clone(),
        clock_read_ns: environment.clock_cost_ns,
        oversleep_p99_9_ns: as_float(client.hiccup_ns.p99_9),
        oversleep_max_ns: as_float(client.hiccup_ns.max),
        null_target_share: rate(cell)
            .zip(client.null_operations_per_second.filter(|null| *null > 0.0))
            .map(|(rate, null)| rate / null),
    }
}

pub(super) fn client_limits(cell: &Cell, environment: &Environment) -> Vec<ClientLimit> {
    client::client_limits(&client_numbers(cell, environment))
}

pub(super) fn client_sentence(limit: &ClientLimit) -> Finding {
    let ClientLimit { check, severity, value, limit } = *limit;
    let share = percent(value);
    let (code, text) = match check {
        Check::BusiestThread => ("client-thread", format!("the busiest worker used {share} of a processor")),
        Check::MachineCpu => ("client-processors", format!("the machine's processors were {share} busy")),
        Check::RunDelay => {
            ("client-waits", format!("workers were ready to run and had to wait for a processor {share} of the time"))
        }
        Check::Steal => ("client-steal", format!("the hypervisor took about {share} of the time from a worker")),
        Check::Throttled => ("client-quota", format!("a CPU quota held plimsoll back for {share} of the time")),
        Check::MemoryPressure => ("client-memory", format!("tasks waited for memory {share} of the time")),
        Check::MemoryEvents => ("client-memory-events", "the memory limit slowed or ended something".to_owned()),
        Check::Swapping => ("client-swap", "the machine swapped".to_owned()),
        Check::ClockSource => ("client-clock", "the kernel's clock source is slow or coarse".to_owned()),
        Check::ClockRead => ("client-clock-cost", format!("reading the clock takes {}", latency_in_text(value))),
        Check::Oversleep => (
            "client-hiccups",
            format!("an idle thread was woken {} late or later once in 1,000 times (p99.9)", latency_in_text(value)),
        ),
        Check::OversleepTail => (
            "client-tail",
            format!(
                "the machine's own hiccups reach {}: they may explain the longest latencies",
                latency_in_text(value)
            ),
        ),
        Check::NullTarget => ("client-headroom", format!("plimsoll without storage is hardly faster: {share} of that")),
    };
    let severity = match severity {
        client::Severity::Red => Severity::Warning,
        client::Severity::Yellow => Severity::Info,
    };
    finding(code, severity, text, &[("value", json!(value)), ("limit", json!(limit))])
}

/// What is added to what the storage seems to have done, where an idle thread slept for so long meanwhile that it was
/// this machine: it or the process was stopped.
pub(super) fn machine_stood_still(cell: &Cell, at_least_ns: f64) -> Option<String> {
    let longest_ns = cell.client.as_ref()?.hiccup_ns.max? as f64;
    (longest_ns >= at_least_ns).then(|| {
        format!("this machine, or plimsoll on it, stood still for {}: not the storage", latency_in_text(longest_ns))
    })
}

/// How even the seconds were; `None` of too few. All of them, whatever the verdict's window, because the verdict is
/// made with this.
fn spread_of_seconds(cell: &Cell) -> Option<f64> {
    let is_judged = |round| cell.slots.iter().any(|slot| slot.round == round && slot.purpose == SlotPurpose::Measured);
    let whole = |second: &&Interval| second.measured && second.length_ns >= HALF_SECOND_NS && is_judged(second.round);
    let rates: Vec<f64> = cell.series.iter().filter(whole).filter_map(Interval::iops).collect();
    (rates.len() >= SPREAD_SECONDS_MIN).then(|| spread(&rates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_late_a_thread_wakes_is_told_as_the_percentile_that_it_is() {
        let limit = ClientLimit {
            check: Check::Oversleep,
            severity: client::Severity::Yellow,
            value: 3_000_000.0,
            limit: 2_000_000.0,
        };
        let said = client_sentence(&limit).text;
        assert_eq!(said, "an idle thread was woken 3.00 ms late or later once in 1,000 times (p99.9)");
    }
}
