//! How much of a latency is waiting in a queue: Little's law.

/// The share of the latency that is waiting before the latency is called bound by the queue.
const WAITING_MIN: f64 = 0.5;

/// A latency that says how deep the queue is, not how fast the storage is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueBound {
    /// The mean latency that was measured.
    pub latency_ns: f64,
    /// What an operation takes when none is before it.
    pub service_ns: f64,
    /// The share of the latency that is waiting.
    pub waiting_share: f64,
    /// The least depth that the same rate takes: enough only if more in flight wait for nothing.
    pub depth_needed: f64,
}

/// Compares a latency at full depth with that of single operations on the same storage.
pub fn queue_bound(rate: f64, latency_ns: f64, service_ns: f64) -> Option<QueueBound> {
    if latency_ns <= 0.0 || service_ns <= 0.0 {
        return None;
    }
    let waiting_share = 1.0 - service_ns / latency_ns;
    (waiting_share >= WAITING_MIN).then(|| QueueBound {
        latency_ns,
        service_ns,
        waiting_share,
        depth_needed: (rate * service_ns / 1e9).max(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_queue_before_a_capped_disk_waits_most_of_the_time() {
        // 5,210 operations a second at depth 256 take 49 ms each, whatever the disk could do.
        let latency_ns = 256.0 / 5210.0 * 1e9;
        let bound = queue_bound(5210.0, latency_ns, 800_000.0).unwrap();
        assert!(bound.waiting_share > 0.98 && (bound.depth_needed - 4.168).abs() < 0.001);
        assert_eq!(queue_bound(1000.0, 1_000_000.0, 900_000.0), None);
        assert_eq!(queue_bound(0.0, 0.0, 0.0), None);
    }
}
