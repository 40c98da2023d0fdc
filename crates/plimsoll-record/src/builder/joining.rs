//! One visit to a cell that several machines made at the same time: what each did, added up. Latencies are merged
//! bucket by bucket, so that percentiles are those of all operations.

use plimsoll_measure::latency::{CompactHistogram, LatencyHistogram};

use super::{add, add_error};
use crate::{
    cache::{CacheActivity, ForeignActivity},
    client::ClientActivity,
    event::{SlotDirection, SlotResult},
    results::{DeviceActivity, JobResult, LatencySummary, OpenLoopResult},
};

impl SlotResult {
    /// Adds what another machine did. The measured time stays that of the first.
    pub fn join(&mut self, other: &Self) {
        for (sum, other) in
            [(&mut self.read, &other.read), (&mut self.write, &other.write), (&mut self.sync, &other.sync)]
        {
            if let Some(other) = other {
                add(sum, other, SlotDirection::join);
            }
        }
        self.is_cut |= other.is_cut;
        self.cpu.add(&other.cpu);
        self.cpu_operations += other.cpu_operations;
        if let Some(device) = &other.device {
            add(&mut self.device, device, DeviceActivity::add);
        }
        if let Some(foreign) = &other.foreign {
            add(&mut self.foreign, foreign, ForeignActivity::add);
        }
        if let Some(client) = &other.client {
            add(&mut self.client, client, join_clients);
        }
        if let Some(cache) = &other.cache {
            add(&mut self.cache, cache, CacheActivity::add);
        }
        self.worker_operations.extend(&other.worker_operations);
        let jobs = self.job_results.len().max(other.job_results.len());
        self.job_results.resize(jobs, JobResult::default());
        self.job_results.iter_mut().zip(&other.job_results).for_each(|(sum, job)| sum.add(job));
        self.join_seconds(&other.seconds);
        if let Some(open_loop) = &other.open_loop {
            add(&mut self.open_loop, open_loop, OpenLoopResult::add);
        }
        if let Some(service) = &other.service {
            add(&mut self.service, service, LatencyHistogram::merge);
        }
        if let Some(verification) = &other.verification {
            self.verification.get_or_insert_default().add_beside(verification);
        }
        other.errors.iter().for_each(|error| add_error(&mut self.errors, error));
    }

    /// Seconds that not all have are of no use: they say less than whole slots.
    fn join_seconds(&mut self, others: &[CompactHistogram]) {
        let shared = self.seconds.len().min(others.len());
        self.seconds.truncate(shared);
        for (sum, other) in self.seconds.iter_mut().zip(others) {
            let mut both = LatencyHistogram::from(sum.clone());
            both.merge_compact(other);
            *sum = CompactHistogram::from(both);
        }
    }
}

impl SlotDirection {
    fn join(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.histogram.merge(&other.histogram);
    }
}

/// All machines together can do what each of them can. Hiccups are each one's own: what all did together did not stand
/// still because one of them did.
fn join_clients(sum: &mut ClientActivity, other: &ClientActivity) {
    let rates = [sum.null_operations_per_second, other.null_operations_per_second];
    sum.add(other);
    sum.null_operations_per_second = rates.into_iter().sum();
    (sum.hiccup_ns, sum.hiccups) = (LatencySummary::default(), None);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{results::CpuCost, verification::VerificationResult};

    fn slot(latencies_ns: &[u64]) -> SlotResult {
        let [mut histogram, mut second] = [LatencyHistogram::fine(), LatencyHistogram::coarse()];
        latencies_ns.iter().for_each(|latency| histogram.record_many(*latency, 1));
        latencies_ns.iter().for_each(|latency| second.record_many(*latency, 1));
        let operations = latencies_ns.len() as u64;
        let seconds = vec![CompactHistogram::from(&second); 2];
        let read = Some(SlotDirection { operations, bytes: operations * 4096, histogram });
        SlotResult {
            elapsed_ns: 5,
            cpu_operations: operations,
            worker_operations: vec![1],
            read,
            seconds,
            ..SlotResult::default()
        }
    }

    #[test]
    fn several_machines_are_as_good_as_one_that_did_all_of_it() {
        let (first, second) = ([1_000, 90_000, 70_000_000], [2_000, 90_000]);
        let mut joined = slot(&first);
        joined.join(&slot(&second));
        let all = slot(&[&first[..], &second[..]].concat());
        assert_eq!((joined.read, joined.seconds), (all.read, all.seconds));
        assert_eq!((joined.elapsed_ns, joined.cpu_operations, joined.worker_operations.len()), (5, 5, 2));
    }

    #[test]
    fn what_one_machine_does_not_know_of_its_processors_is_not_known_of_all() {
        let slot = |steal_ns| {
            let cpu = CpuCost { user_ns: 5, steal_ns, throttled_ns: Some(3), ..CpuCost::default() };
            SlotResult { cpu, ..SlotResult::default() }
        };
        for [first, second] in [[Some(4), None], [None, Some(4)]] {
            let mut joined = slot(first);
            joined.join(&slot(second));
            assert_eq!((joined.cpu.user_ns, joined.cpu.steal_ns, joined.cpu.throttled_ns), (10, None, Some(6)));
        }
    }

    #[test]
    fn machines_read_back_at_the_same_time() {
        let found = |read_back_ns| {
            let examples = (0..15).map(|block| format!("lost write at offset {read_back_ns}{block}")).collect();
            let verification =
                Some(VerificationResult { mismatches: 15, examples, read_back_ns, ..VerificationResult::default() });
            SlotResult { verification, ..SlotResult::default() }
        };
        let mut joined = found(7);
        joined.join(&found(9));
        let verification = joined.verification.unwrap();
        assert_eq!((verification.read_back_ns, verification.mismatches, verification.examples.len()), (9, 30, 20));
    }

    #[test]
    fn seconds_that_one_machine_lacks_are_left_out() {
        let mut joined = slot(&[1]);
        let other = SlotResult { seconds: Vec::new(), ..slot(&[2]) };
        joined.join(&other);
        assert!(joined.seconds.is_empty());
        assert_eq!(joined.read.unwrap().operations, 2);
    }
}
