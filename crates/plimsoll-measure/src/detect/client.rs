//! Whether the machine that measures was the limit. A red check makes the verdict `client-limited`.
//!
//! Red are only checks of what happened to our own threads. What the machine did for others may have harmed the numbers
//! or not: a worker that waits for its storage anyway does not care who else has the processors. Whoever does harm
//! shows in the workers' own run delay.

/// Share of the time that workers wait for a processor from which the rate may be the machine's.
const RUN_DELAY_RED: f64 = 0.10;
/// Seconds that are this even were not set by how long workers waited for a processor, which is never even while others
/// compete for it: a storage with a cap makes up for what it lost, and delivers its cap in each second.
const EVEN_SPREAD_MAX: f64 = 1.05;
/// No value turns such a check red.
const NEVER: f64 = f64::INFINITY;

/// What is known of the machine while it measured; absent what is not. Shares are of 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientNumbers {
    /// The median latency of operations.
    pub latency_p50_ns: Option<f64>,
    /// The 99.9th percentile of operations.
    pub latency_p99_9_ns: Option<f64>,
    /// The busiest of our threads, as a share of a processor.
    pub busiest_thread: Option<f64>,
    /// Time in which our workers were ready to run and had no processor, whoever had it.
    pub run_delay: Option<f64>,
    /// The spread of the rates of single seconds.
    pub spread: Option<f64>,
    /// All processors of the machine.
    pub machine_cpu: Option<f64>,
    /// Time that the hypervisor took from our busiest thread.
    pub steal: Option<f64>,
    /// Time that the control group's quota held our workers back.
    pub throttled: Option<f64>,
    /// Time that some task of the machine waited for memory.
    pub memory_pressure: Option<f64>,
    /// Memory events of the control group.
    pub memory_events: Option<f64>,
    /// Bytes that the machine swapped.
    pub swapped: Option<f64>,
    /// The kernel's clock source.
    pub clock_source: Option<String>,
    /// What reading the clock costs.
    pub clock_read_ns: Option<f64>,
    /// The 99.9th percentile by which an idle thread oversleeps.
    pub oversleep_p99_9_ns: Option<f64>,
    /// The longest.
    pub oversleep_max_ns: Option<f64>,
    /// The rate as a share of what the same load reaches against nothing.
    pub null_target_share: Option<f64>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Worth a note: comparisons within a session survive it, absolute numbers may not.
    Yellow,
    /// The numbers are about the client.
    Red,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// One of our threads is busy.
    BusiestThread,
    /// Our workers wait for a processor.
    RunDelay,
    /// The machine is busy.
    MachineCpu,
    /// The hypervisor takes time.
    Steal,
    /// The control group's quota is used up.
    Throttled,
    /// Tasks wait for memory.
    MemoryPressure,
    /// The control group's memory is slowed or refused.
    MemoryEvents,
    /// Memory is swapped, in bytes.
    Swapping,
    /// The clock source is slow or coarse.
    ClockSource,
    /// Reading the clock takes long, in nanoseconds.
    ClockRead,
    /// Threads wake up late, in nanoseconds.
    Oversleep,
    /// The longest oversleep exceeds the storage's own tail, in nanoseconds.
    OversleepTail,
    /// The same load against nothing is hardly faster.
    NullTarget,
}

/// A check that failed, with the limit that it failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientLimit {
    /// What was looked at.
    pub check: Check,
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub value: f64,
    /// What it should not exceed.
    pub limit: f64,
}

/// Goes through all checks whose numbers are there.
pub fn client_limits(numbers: &ClientNumbers) -> Vec<ClientLimit> {
    let is_even = numbers.spread.is_some_and(|spread| spread <= EVEN_SPREAD_MAX);
    let run_delay_red = if is_even { NEVER } else { RUN_DELAY_RED };
    let above = [
        (Check::BusiestThread, numbers.busiest_thread, 0.70, 0.85),
        (Check::RunDelay, numbers.run_delay, 0.05, run_delay_red),
        (Check::MachineCpu, numbers.machine_cpu, 0.85, NEVER),
        (Check::Steal, numbers.steal, 0.005, 0.02),
        (Check::Throttled, numbers.throttled, 0.0, 0.01),
        (Check::MemoryPressure, numbers.memory_pressure, 0.01, NEVER),
        (Check::MemoryEvents, numbers.memory_events, 0.0, 0.0),
        (Check::Swapping, numbers.swapped, 0.0, NEVER),
        (Check::NullTarget, numbers.null_target_share, 1.0 / 3.0, 0.5),
    ];
    let mut limits: Vec<ClientLimit> =
        above.into_iter().filter_map(|(check, value, yellow, red)| exceeded(check, value?, yellow, red)).collect();
    limits.extend(numbers.clock_source.as_deref().and_then(|name| clock_source(name, numbers.clock_read_ns.is_some())));
    limits.extend(clock_read(numbers));
    limits.extend(oversleep(numbers));
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

/// A clock that is slow to read is judged by what reading it costs, where that was measured.
fn clock_source(name: &str, is_read_timed: bool) -> Option<ClientLimit> {
    let severity = match name {
        "hpet" | "acpi_pm" if is_read_timed => Severity::Yellow,
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
    let late = numbers.oversleep_p99_9_ns.and_then(|p99_9| exceeded(Check::Oversleep, p99_9, 2e6, NEVER));
    // A stall of the client as long as the storage's tail explains that tail, but not the rate.
    let tail = numbers.oversleep_max_ns.zip(numbers.latency_p99_9_ns).and_then(|(max, p99_9)| {
        (max > p99_9).then_some(ClientLimit {
            check: Check::OversleepTail,
            severity: Severity::Yellow,
            value: max,
            limit: p99_9,
        })
    });
    late.into_iter().chain(tail).collect()
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
            busiest_thread: Some(0.4),
            run_delay: Some(0.005),
            machine_cpu: Some(0.3),
            steal: Some(0.0),
            throttled: Some(0.0),
            clock_source: Some("tsc".to_owned()),
            clock_read_ns: Some(37.0),
            latency_p50_ns: Some(200_000.0),
            oversleep_p99_9_ns: Some(130_000.0),
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
                Check::BusiestThread => &mut numbers.busiest_thread,
                Check::RunDelay => &mut numbers.run_delay,
                Check::Steal => &mut numbers.steal,
                Check::Throttled => &mut numbers.throttled,
                _ => &mut numbers.null_target_share,
            } = Some(value);
            numbers
        };
        let cases = [
            (Check::BusiestThread, 0.75, 0.9),
            (Check::RunDelay, 0.08, 0.2),
            (Check::Steal, 0.01, 0.03),
            (Check::Throttled, 0.001, 0.9),
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
    fn what_the_machine_does_for_others_is_a_note_until_our_workers_are_held_up() {
        let busy = ClientNumbers {
            machine_cpu: Some(1.0),
            memory_pressure: Some(0.5),
            swapped: Some(4096.0),
            oversleep_p99_9_ns: Some(15e6),
            run_delay: Some(0.09),
            ..ClientNumbers::default()
        };
        assert!(!is_client_limited(&client_limits(&busy)));
        assert_eq!(found(&busy).len(), 5);
        assert!(is_client_limited(&client_limits(&ClientNumbers { run_delay: Some(0.3), ..busy })));
    }

    #[test]
    fn workers_that_wait_do_no_harm_while_every_second_brings_the_same() {
        let with = |spread| ClientNumbers { run_delay: Some(0.4), spread: Some(spread), ..ClientNumbers::default() };
        assert_eq!(found(&with(1.001)), [(Check::RunDelay, Severity::Yellow)]);
        assert_eq!(found(&with(1.47)), [(Check::RunDelay, Severity::Red)]);
        // A quota is even as well, and tells itself.
        let quota = ClientNumbers { throttled: Some(0.6), ..with(1.001) };
        assert!(is_client_limited(&client_limits(&quota)));
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
            oversleep_p99_9_ns: Some(1_500_000.0),
            oversleep_max_ns: Some(12_000_000.0),
            latency_p99_9_ns: Some(9_000_000.0),
            ..ClientNumbers::default()
        };
        assert_eq!(found(&numbers), [(Check::OversleepTail, Severity::Yellow)]);
    }
}
