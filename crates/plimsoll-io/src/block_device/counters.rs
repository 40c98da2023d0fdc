//! The counters that the kernel keeps for each disk and partition.

use serde::{Deserialize, Serialize};

use super::SYSFS_SECTOR_BYTES;

/// The seventeen fields of /sys/block/DISK/stat, in its order. Discards are counted since Linux 4.18 and flushes since
/// 5.5; on older kernels they stay zero. Everything but `in_flight` counts from when the disk appeared.
///
/// Times are kept in milliseconds by the kernel, so over less than a second they are coarse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Reads that completed.
    pub read_operations: u64,
    /// Reads that were merged into one already queued.
    pub read_merges: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time that all reads together waited and were served.
    pub read_time_ms: u64,
    /// Writes that completed.
    pub write_operations: u64,
    /// Writes that were merged into one already queued.
    pub write_merges: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time that all writes together waited and were served.
    pub write_time_ms: u64,
    /// Requests that the device had not answered at this moment.
    pub in_flight: u64,
    /// Time during which at least one request was in flight.
    pub busy_time_ms: u64,
    /// Time that all requests together waited and were served.
    pub queue_time_ms: u64,
    /// Discards that completed.
    pub discard_operations: u64,
    /// Discards that were merged into one already queued.
    pub discard_merges: u64,
    /// Bytes discarded.
    pub discard_bytes: u64,
    /// Time that all discards together waited and were served.
    pub discard_time_ms: u64,
    /// Flushes of the device's cache that completed; counted for whole disks only.
    pub flush_operations: u64,
    /// Time that all flushes together waited and were served.
    pub flush_time_ms: u64,
}

/// How many fields every kernel since 2.6 gives.
const FIELDS_MIN: usize = 11;

impl DiskCounters {
    /// Reads the text of a `stat` file. Fields that a later kernel adds are skipped; `None` when it has another form.
    pub fn parse(text: &str) -> Option<Self> {
        let values: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
        if values.len() < FIELDS_MIN {
            return None;
        }
        let at = |index: usize| values.get(index).copied().unwrap_or(0);
        let bytes = |index: usize| at(index).saturating_mul(SYSFS_SECTOR_BYTES);
        Some(Self {
            read_operations: at(0),
            read_merges: at(1),
            read_bytes: bytes(2),
            read_time_ms: at(3),
            write_operations: at(4),
            write_merges: at(5),
            write_bytes: bytes(6),
            write_time_ms: at(7),
            in_flight: at(8),
            busy_time_ms: at(9),
            queue_time_ms: at(10),
            discard_operations: at(11),
            discard_merges: at(12),
            discard_bytes: bytes(13),
            discard_time_ms: at(14),
            flush_operations: at(15),
            flush_time_ms: at(16),
        })
    }

    /// What happened since an earlier reading; `in_flight` is that of this one. A counter that went back (the device
    /// was replaced) gives zero.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self { in_flight: self.in_flight, ..self.each(earlier, u64::saturating_sub) }
    }

    /// What this disk and another one did together. They are busy as long as the busier one, which is the least that
    /// is certain.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let busy_time_ms = self.busy_time_ms.max(other.busy_time_ms);
        Self { busy_time_ms, ..self.each(&other, u64::saturating_add) }
    }

    fn each(&self, other: &Self, of_both: fn(u64, u64) -> u64) -> Self {
        macro_rules! of_both {
            ($($field:ident),*) => { Self { $($field: of_both(self.$field, other.$field)),* } };
        }
        of_both!(
            read_operations,
            read_merges,
            read_bytes,
            read_time_ms,
            write_operations,
            write_merges,
            write_bytes,
            write_time_ms,
            in_flight,
            busy_time_ms,
            queue_time_ms,
            discard_operations,
            discard_merges,
            discard_bytes,
            discard_time_ms,
            flush_operations,
            flush_time_ms
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "   95093    28341  6964074    22523    19416    23927  1872096     6911        3    14480    \
                        29999     6212       29   388664      449     2179      115\n";

    #[test]
    fn all_seventeen_fields_are_read_and_sectors_become_bytes() {
        let counters = DiskCounters::parse(STAT).unwrap();
        assert_eq!((counters.read_operations, counters.read_bytes), (95_093, 6_964_074 * 512));
        assert_eq!((counters.write_merges, counters.write_time_ms, counters.in_flight), (23_927, 6_911, 3));
        assert_eq!((counters.busy_time_ms, counters.queue_time_ms), (14_480, 29_999));
        assert_eq!((counters.discard_bytes, counters.discard_time_ms), (388_664 * 512, 449));
        assert_eq!((counters.flush_operations, counters.flush_time_ms), (2_179, 115));
    }

    #[test]
    fn kernels_without_discard_counters_are_read_too() {
        let counters = DiskCounters::parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!((counters.queue_time_ms, counters.flush_operations), (11, 0));
        for text in ["", "1 2 3", "a b c d e f g h i j k", "1 2 3 4 5 6 7 8 9 10 x"] {
            assert_eq!(DiskCounters::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_difference_counts_what_happened_between_and_keeps_what_is_in_flight() {
        let earlier = DiskCounters::parse("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17").unwrap();
        let later = DiskCounters::parse("11 22 33 44 55 66 77 88 4 110 121 132 143 154 165 176 187").unwrap();
        let between = later.since(&earlier);
        assert_eq!((between.read_operations, between.read_bytes, between.in_flight), (10, 30 * 512, 4));
        assert_eq!((between.flush_operations, between.flush_time_ms), (160, 170));
        assert_eq!(earlier.since(&later).read_operations, 0);
    }
}
