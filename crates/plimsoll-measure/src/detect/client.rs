//! Whether the machine that measures was the limit. A red check makes the verdict `client-limited`.

use serde::{Deserialize, Serialize};

/// What is known of the machine while it measured; absent what is not. Shares are of 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientNumbers {
    /// Rate times mean latency over depth, of a closed loop.
    pub occupancy: Option<f64>,
    /// The 99th percentile of how late operations of an open loop were sent.
    pub lateness_p99_ns: Option<f64>,
    /// The median latency of operations.
    pub latency_p50_ns: Option<f64>,
    /// The 99.9th percentile of operations.
    pub latency_p99_9_ns: Option<f64>,
    /// The busiest of our threads, as a share of a processor.
    pub busiest_thread: Option<f64>,
    /// All processors of the machine.
    pub machine_cpu: Option<f64>,
    /// Time that the hypervisor took.
    pub steal: Option<f64>,
    /// Time that the control group's quota held threads back, as a share of wall time.
    pub throttled: Option<f64>,
    /// Time that some task waited for a processor.
    pub cpu_pressure: Option<f64>,
    /// Time that some task waited for memory.
    pub memory_pressure: Option<f64>,
    /// Pages swapped and memory events of the control group.
    pub memory_events: Option<f64>,
    /// The kernel's clock source.
    pub clock_source: Option<String>,
    /// What reading the clock costs.
    pub clock_read_ns: Option<f64>,
    /// The 99th percentile by which a thread that sleeps a millisecond oversleeps.
    pub oversleep_p99_ns: Option<f64>,
    /// The 99.9th.
    pub oversleep_p99_9_ns: Option<f64>,
    /// The longest.
    pub oversleep_max_ns: Option<f64>,
    /// Traffic as a share of the line rate.
    pub network: Option<f64>,
    /// How often the network's allowance was exceeded.
    pub network_allowance_exceeded: Option<f64>,
    /// Segments sent again.
    pub retransmits: Option<f64>,
    /// How often the processor was slowed for its heat.
    pub thermal_throttles: Option<f64>,
    /// Whether the processor saves power.
    pub saves_power: bool,
    /// The rate as a share of what the same load reaches against nothing.
    pub null_target_share: Option<f64>,
    /// The lower end of the interval of the relative rise with half as many threads more.
    pub more_threads_rise_low: Option<f64>,
    /// The relative rise.
    pub more_threads_rise: Option<f64>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth a note: comparisons within a session survive it, absolute numbers may not.
    Yellow,
    /// The numbers are about the client.
    Red,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Little's law: the queue is not kept filled.
    Occupancy,
    /// Operations of an open loop are sent late; value in median latencies.
    Lateness,
    /// One of our threads is busy.
    BusiestThread,
    /// The machine is busy.
    MachineCpu,
    /// The hypervisor takes time.
    Steal,
    /// The control group's quota is used up.
    Throttled,
    /// Tasks wait for processors.
    CpuPressure,
    /// Tasks wait for memory.
    MemoryPressure,
    /// Memory is swapped or refused.
    MemoryEvents,
    /// The clock source is slow or coarse.
    ClockSource,
    /// Reading the clock takes long, in nanoseconds.
    ClockRead,
    /// Threads wake up late, in nanoseconds.
    Oversleep,
    /// The longest oversleep exceeds the storage's own tail, in nanoseconds.
    OversleepTail,
    /// The network is near its line rate.
    Network,
    /// The network's allowance was exceeded.
    NetworkAllowance,
    /// Segments were sent again.
    Retransmits,
    /// The processor was slowed.
    Thermal,
    /// The same load against nothing is hardly faster.
    NullTarget,
    /// More threads are faster.
    MoreThreads,
}

/// A check that failed, with the limit that it failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientLimit {
    /// What was looked at.
    pub check: Check,
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub value: f64,
    /// What it should not exceed; of the occupancy, not fall below.
    pub limit: f64,
}

/// Goes through all checks whose numbers are there.
pub fn client_limits(numbers: &ClientNumbers) -> Vec<ClientLimit> {
    let ratio = |left: Option<f64>, right: Option<f64>| Some(left? / right.filter(|right| *right > 0.0)?);
    let lateness = ratio(numbers.lateness_p99_ns, numbers.latency_p50_ns);
    let above = [
        (Check::Lateness, lateness, 0.10, 1.0),
        (Check::BusiestThread, numbers.busiest_thread, 0.70, 0.85),
        (Check::MachineCpu, numbers.machine_cpu, 0.70, 0.85),
        (Check::Steal, numbers.steal, 0.005, 0.02),
        (Check::Throttled, numbers.throttled, 0.0, 0.01),
        (Check::CpuPressure, numbers.cpu_pressure, 0.01, 0.05),
        (Check::MemoryPressure, numbers.memory_pressure, 0.01, 0.05),
        (Check::MemoryEvents, numbers.memory_events, 0.0, 0.0),
        (Check::Network, numbers.network, 0.70, 0.90),
        (Check::NetworkAllowance, numbers.network_allowance_exceeded, 0.0, 0.0),
        (Check::Retransmits, numbers.retransmits, 0.001, 0.01),
        (Check::NullTarget, numbers.null_target_share, 1.0 / 3.0, 0.5),
    ];
    let mut limits: Vec<ClientLimit> =
        above.into_iter().filter_map(|(check, value, yellow, red)| exceeded(check, value?, yellow, red)).collect();
    limits.extend(numbers.occupancy.and_then(occupancy));
    limits.extend(numbers.clock_source.as_deref().and_then(clock_source));
    limits.extend(clock_read(numbers));
    limits.extend(oversleep(numbers));
    limits.extend(thermal(numbers));
    limits.extend(more_threads(numbers));
    limits
}

/// Whether any check is red.
pub fn is_client_limited(limits: &[ClientLimit]) -> bool {
    limits.iter().any(|limit| limit.severity == Severity::Red)
}

fn exceeded(check: Check, value: f64, yellow: f64, red: f64) -> Option<ClientLimit> {
    if value > red {
        Some(ClientLimit { check, severity: Severity::Red, value, limit: red })
    } else {
        (value > yellow).then_some(ClientLimit { check, severity: Severity::Yellow, value, limit: yellow })
    }
}

fn occupancy(value: f64) -> Option<ClientLimit> {
    let limit = |severity, limit| Some(ClientLimit { check: Check::Occupancy, severity, value, limit });
    match value {
        value if value < 0.90 => limit(Severity::Red, 0.90),
        value if value < 0.95 => limit(Severity::Yellow, 0.95),
        _ => None,
    }
}

fn clock_source(name: &str) -> Option<ClientLimit> {
    let severity = match name {
        "hpet" | "acpi_pm" | "jiffies" => Severity::Red,
        "xen" | "hyperv_clocksource_msr" => Severity::Yellow,
        _ => return None,
    };
    Some(ClientLimit { check: Check::ClockSource, severity, value: 1.0, limit: 0.0 })
}

fn clock_read(numbers: &ClientNumbers) -> Option<ClientLimit> {
    let red = numbers.latency_p50_ns.map_or(1000.0, |p50| (0.02 * p50).clamp(f64::MIN_POSITIVE, 1000.0));
    exceeded(Check::ClockRead, numbers.clock_read_ns?, 100.0_f64.min(red), red)
}

fn oversleep(numbers: &ClientNumbers) -> Vec<ClientLimit> {
    let red = numbers.oversleep_p99_ns.and_then(|p99| exceeded(Check::Oversleep, p99, 5e6, 5e6));
    let yellow = || {
        let limit = ClientLimit { check: Check::Oversleep, severity: Severity::Yellow, value: 0.0, limit: 2e6 };
        numbers.oversleep_p99_9_ns.filter(|value| *value > 2e6).map(|value| ClientLimit { value, ..limit })
    };
    // A stall of the client as long as the storage's tail explains that tail, but not the rate.
    let tail = numbers.oversleep_max_ns.zip(numbers.latency_p99_9_ns).and_then(|(max, p99_9)| {
        (max > p99_9).then_some(ClientLimit {
            check: Check::OversleepTail,
            severity: Severity::Yellow,
            value: max,
            limit: p99_9,
        })
    });
    red.or_else(yellow).into_iter().chain(tail).collect()
}

fn thermal(numbers: &ClientNumbers) -> Option<ClientLimit> {
    let throttles = numbers.thermal_throttles.unwrap_or_default();
    let saving = ClientLimit { check: Check::Thermal, severity: Severity::Yellow, value: 0.0, limit: 0.0 };
    exceeded(Check::Thermal, throttles, 0.0, 0.0).or_else(|| numbers.saves_power.then_some(saving))
}

fn more_threads(numbers: &ClientNumbers) -> Option<ClientLimit> {
    let (rise, low) = (numbers.more_threads_rise?, numbers.more_threads_rise_low?);
    let limit = ClientLimit { check: Check::MoreThreads, severity: Severity::Red, value: rise, limit: 0.05 };
    (rise > 0.05 && low > 0.0).then_some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(numbers: &ClientNumbers) -> Vec<(Check, Severity)> {
        client_limits(numbers).iter().map(|limit| (limit.check, limit.severity)).collect()
    }

    #[test]
    fn nothing_known_is_nothing_found() {
        assert_eq!(client_limits(&ClientNumbers::default()), []);
    }

    #[test]
    fn an_idle_machine_with_a_good_clock_passes() {
        let numbers = ClientNumbers {
            occupancy: Some(0.99),
            busiest_thread: Some(0.4),
            machine_cpu: Some(0.3),
            steal: Some(0.0),
            throttled: Some(0.0),
            clock_source: Some("tsc".to_owned()),
            clock_read_ns: Some(37.0),
            latency_p50_ns: Some(200_000.0),
            oversleep_p99_ns: Some(130_000.0),
            null_target_share: Some(0.1),
            ..ClientNumbers::default()
        };
        assert_eq!(found(&numbers), []);
    }

    #[test]
    fn each_check_turns_yellow_and_then_red() {
        let with = |check: Check, value: f64| {
            let mut numbers = ClientNumbers::default();
            *match check {
                Check::Occupancy => &mut numbers.occupancy,
                Check::BusiestThread => &mut numbers.busiest_thread,
                Check::MachineCpu => &mut numbers.machine_cpu,
                Check::Steal => &mut numbers.steal,
                Check::Throttled => &mut numbers.throttled,
                Check::CpuPressure => &mut numbers.cpu_pressure,
                Check::Network => &mut numbers.network,
                Check::Retransmits => &mut numbers.retransmits,
                _ => &mut numbers.null_target_share,
            } = Some(value);
            numbers
        };
        let cases = [
            (Check::Occupancy, 0.93, 0.85),
            (Check::BusiestThread, 0.75, 0.9),
            (Check::MachineCpu, 0.75, 0.9),
            (Check::Steal, 0.01, 0.03),
            (Check::Throttled, 0.001, 0.9),
            (Check::CpuPressure, 0.02, 0.06),
            (Check::Network, 0.8, 0.95),
            (Check::Retransmits, 0.002, 0.02),
            (Check::NullTarget, 0.4, 0.6),
        ];
        for (check, yellow, red) in cases {
            assert_eq!(found(&with(check, yellow)), [(check, Severity::Yellow)]);
            assert_eq!(found(&with(check, red)), [(check, Severity::Red)]);
            assert!(is_client_limited(&client_limits(&with(check, red))));
            assert!(!is_client_limited(&client_limits(&with(check, yellow))));
        }
    }

    #[test]
    fn a_clock_that_costs_much_of_a_short_operation_is_red() {
        let with =
            |p50, read| ClientNumbers { latency_p50_ns: Some(p50), clock_read_ns: Some(read), ..Default::default() };
        assert_eq!(found(&with(1_000.0, 37.0)), [(Check::ClockRead, Severity::Red)]);
        assert_eq!(found(&with(100_000.0, 150.0)), [(Check::ClockRead, Severity::Yellow)]);
        let hpet = ClientNumbers { clock_source: Some("hpet".to_owned()), ..Default::default() };
        assert_eq!(found(&hpet), [(Check::ClockSource, Severity::Red)]);
    }

    #[test]
    fn stalls_of_the_client_explain_a_tail() {
        let numbers = ClientNumbers {
            oversleep_p99_ns: Some(130_000.0),
            oversleep_p99_9_ns: Some(1_500_000.0),
            oversleep_max_ns: Some(12_000_000.0),
            latency_p99_9_ns: Some(9_000_000.0),
            ..ClientNumbers::default()
        };
        assert_eq!(found(&numbers), [(Check::OversleepTail, Severity::Yellow)]);
    }

    #[test]
    fn more_threads_have_to_be_faster_for_certain() {
        let with = |rise, low| ClientNumbers {
            more_threads_rise: Some(rise),
            more_threads_rise_low: Some(low),
            ..Default::default()
        };
        assert_eq!(found(&with(0.2, 0.1)), [(Check::MoreThreads, Severity::Red)]);
        assert_eq!(found(&with(0.2, -0.1)), []);
    }
}
