//! What the machine that measured was doing meanwhile: evidence that it was not in the way, or that it was.

use plimsoll_measure::latency::LatencyHistogram;
use serde::{Deserialize, Serialize};

use crate::results::LatencySummary;

/// The machine that measured, during the measured time of the slots, ramps excluded. Sums over slots and, where
/// nothing else is said, over processors; `null` where the kernel does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ClientActivity {
    /// Time between the first and the last reading of the counters: the measured time, but for how late a busy machine
    /// let the readings be. Shares are of this.
    pub span_ns: u64,
    /// Processor time of each slot's busiest worker. A worker of an open loop watches the clock before an arrival, and
    /// one that polls does so all the time, so theirs is high without any need.
    pub busiest_worker_ns: Option<u64>,
    /// The largest share of a processor that any worker had in any slot.
    pub busiest_worker_share_max: Option<f64>,
    /// Time in which workers were ready to run and had no processor, the mean of a slot's workers: other threads had
    /// it, or a quota held them back. The kernel does not count here what the hypervisor takes.
    pub worker_run_delay_ns: Option<u64>,
    /// The largest share of the time that any worker waited so in any slot.
    pub worker_run_delay_share_max: Option<f64>,
    /// Processor time of plimsoll, threads that the kernel runs on its behalf included.
    pub process_ns: u64,
    /// Time in which processors of the machine were not idle: whatever they did, for whomever, or stolen.
    pub machine_busy_ns: Option<u64>,
    /// Processors online times `span_ns`.
    pub machine_total_ns: Option<u64>,
    /// Each processor of the machine; none where the kernel does not tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processors: Vec<ProcessorActivity>,
    /// Time that the hypervisor gave to others although a processor of ours had work.
    pub steal_ns: Option<u64>,
    /// Time that the control group's CPU quota held plimsoll back. The kernel adds up what each processor was held
    /// back, so this can exceed `span_ns`.
    pub throttled_ns: Option<u64>,
    /// Periods of the quota in which that happened.
    pub throttled_periods: Option<u64>,
    /// Time in which some task of the machine waited for a processor (pressure stall information).
    pub pressure_cpu_ns: Option<u64>,
    /// Time in which some task of the machine waited for I/O: while storage is measured, nearly all of it.
    pub pressure_io_ns: Option<u64>,
    /// Time in which some task of the machine waited for memory.
    pub pressure_memory_ns: Option<u64>,
    /// Bytes that the machine read back from swap.
    pub swapped_in_bytes: Option<u64>,
    /// Bytes that the machine wrote to swap.
    pub swapped_out_bytes: Option<u64>,
    /// How often the control group exceeded `memory.high` and was slowed down for it.
    pub memory_high_events: Option<u64>,
    /// How often the control group met its memory limit.
    pub memory_limit_events: Option<u64>,
    /// How often the control group ran out of memory.
    pub memory_oom_events: Option<u64>,
    /// Page faults of plimsoll that waited for I/O.
    pub major_faults: u64,
    /// How often a thread of plimsoll gave its processor up to wait.
    pub voluntary_switches: u64,
    /// How often a thread of plimsoll had its processor taken.
    pub involuntary_switches: u64,
    /// Time that all requests together spent in the disk below the target, by the kernel's own count. Divided by
    /// `span_ns` it is the mean number of requests in the disk: far less than the queue depth, and the operations spent
    /// their time elsewhere.
    pub device_queue_ns: Option<u64>,
    /// By how much short sleeps of an idle thread were too long: what the machine alone adds to a latency now and then.
    /// None of what several machines did together, because the sleeps are those of each.
    pub hiccup_ns: LatencySummary,
    /// The same, whole.
    pub hiccups: Option<LatencyHistogram>,
    /// Operations per second of the same workload against the memory engine: what plimsoll could do at most here if
    /// storage and kernel took no time.
    pub null_operations_per_second: Option<f64>,
}

/// What one processor did in `span_ns`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessorActivity {
    /// Its number.
    pub number: u32,
    /// Time in which it was not idle.
    pub busy_ns: u64,
    /// What of that programs had, as far as the kernel's clock ticked while they ran.
    pub user_ns: u64,
}

impl ClientActivity {
    /// Adds what another slot showed. What is not known of every slot is not known.
    pub fn add(&mut self, slot: &Self) {
        macro_rules! add_known {
            ($($field:ident),*) => { $(self.$field = both(self.$field, slot.$field);)* };
        }
        add_known!(
            busiest_worker_ns,
            worker_run_delay_ns,
            machine_busy_ns,
            machine_total_ns,
            steal_ns,
            throttled_ns,
            throttled_periods
        );
        add_known!(pressure_cpu_ns, pressure_io_ns, pressure_memory_ns, swapped_in_bytes, swapped_out_bytes);
        add_known!(memory_high_events, memory_limit_events, memory_oom_events, device_queue_ns);
        self.span_ns += slot.span_ns;
        for processor in &slot.processors {
            match self.processors.iter_mut().find(|sum| sum.number == processor.number) {
                Some(sum) => {
                    sum.busy_ns += processor.busy_ns;
                    sum.user_ns += processor.user_ns;
                }
                None => self.processors.push(*processor),
            }
        }
        self.process_ns += slot.process_ns;
        self.major_faults += slot.major_faults;
        self.voluntary_switches += slot.voluntary_switches;
        self.involuntary_switches += slot.involuntary_switches;
        let larger = |sum: Option<f64>, slot: Option<f64>| sum.into_iter().chain(slot).max_by(f64::total_cmp);
        self.busiest_worker_share_max = larger(self.busiest_worker_share_max, slot.busiest_worker_share_max);
        self.worker_run_delay_share_max = larger(self.worker_run_delay_share_max, slot.worker_run_delay_share_max);
        self.null_operations_per_second = slot.null_operations_per_second.or(self.null_operations_per_second);
        match (&mut self.hiccups, &slot.hiccups) {
            (Some(sum), Some(hiccups)) => sum.merge(hiccups),
            (sum, hiccups) => *sum = sum.take().or_else(|| hiccups.clone()),
        }
        self.hiccup_ns = self.hiccups.as_ref().map(LatencySummary::of).unwrap_or_default();
    }

    /// Share of a processor that the busiest worker had, over all slots.
    pub fn busiest_worker_share(&self) -> Option<f64> {
        self.of_span(self.busiest_worker_ns)
    }

    /// Share of the time in which workers waited for a processor, over all slots.
    pub fn worker_run_delay_share(&self) -> Option<f64> {
        self.of_span(self.worker_run_delay_ns)
    }

    /// Share of the machine's time in which its processors were busy.
    pub fn machine_share(&self) -> Option<f64> {
        share(self.machine_busy_ns?, self.machine_total_ns?)
    }

    /// Share of the time that the hypervisor took from the busiest worker, supposed that it took as much of that
    /// worker's time as of all that the machine's processors worked.
    pub fn worker_steal_share(&self) -> Option<f64> {
        let (steal_ns, busy_ns) = (self.steal_ns?, self.machine_busy_ns?);
        Some(share(steal_ns, busy_ns).unwrap_or(0.0) * self.busiest_worker_share()?)
    }

    /// Time held back by the quota, as a share of the measured time; can exceed one (see `throttled_ns`).
    pub fn throttled_share(&self) -> Option<f64> {
        self.of_span(self.throttled_ns)
    }

    /// Share of the time in which some task waited for a processor.
    pub fn pressure_cpu_share(&self) -> Option<f64> {
        self.of_span(self.pressure_cpu_ns)
    }

    /// Share of the time in which some task waited for I/O.
    pub fn pressure_io_share(&self) -> Option<f64> {
        self.of_span(self.pressure_io_ns)
    }

    /// Share of the time in which some task waited for memory.
    pub fn pressure_memory_share(&self) -> Option<f64> {
        self.of_span(self.pressure_memory_ns)
    }

    fn of_span(&self, part_ns: Option<u64>) -> Option<f64> {
        share(part_ns?, self.span_ns)
    }
}

fn share(part_ns: u64, whole_ns: u64) -> Option<f64> {
    (whole_ns > 0).then(|| part_ns as f64 / whole_ns as f64)
}

/// A sum that is known when both parts are.
pub(crate) fn both(sum: Option<u64>, slot: Option<u64>) -> Option<u64> {
    sum.zip(slot).map(|(sum, slot)| sum + slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(hiccup_ns: u64) -> ClientActivity {
        let mut hiccups = LatencyHistogram::coarse();
        hiccups.record_many(hiccup_ns, 1000);
        ClientActivity {
            span_ns: 1_000,
            busiest_worker_ns: Some(600),
            busiest_worker_share_max: Some(0.6),
            worker_run_delay_ns: Some(100),
            worker_run_delay_share_max: Some(0.2),
            process_ns: 700,
            machine_busy_ns: Some(1_500),
            machine_total_ns: Some(2_000),
            steal_ns: Some(20),
            throttled_ns: Some(10),
            hiccups: Some(hiccups),
            ..ClientActivity::default()
        }
    }

    #[test]
    fn shares_are_those_of_all_slots_together() {
        let mut sum = slot(50);
        let second = ClientActivity { busiest_worker_ns: Some(800), busiest_worker_share_max: Some(0.8), ..slot(70) };
        sum.add(&second);
        let close = |share: Option<f64>, expected: f64| assert!((share.unwrap() - expected).abs() < 1e-12);
        close(sum.busiest_worker_share(), 0.7);
        close(sum.busiest_worker_share_max, 0.8);
        close(sum.worker_run_delay_share(), 0.1);
        close(sum.worker_run_delay_share_max, 0.2);
        close(sum.worker_steal_share(), 40.0 / 3000.0 * 0.7);
        close(sum.machine_share(), 0.75);
        close(sum.throttled_share(), 0.01);
        assert_eq!((sum.process_ns, sum.steal_ns), (1_400, Some(40)));
        assert_eq!(sum.hiccups.as_ref().unwrap().count(), 2000);
        assert_eq!((sum.hiccup_ns.min, sum.hiccup_ns.max), (Some(50), Some(70)));
        assert_eq!(sum.pressure_cpu_share(), None);
    }

    #[test]
    fn what_one_slot_does_not_know_is_not_known_of_the_sum() {
        let mut sum = slot(50);
        sum.add(&ClientActivity { steal_ns: None, ..slot(50) });
        assert_eq!((sum.steal_ns, sum.throttled_ns), (None, Some(20)));
        assert_eq!(ClientActivity::default().busiest_worker_share(), None);
    }
}
