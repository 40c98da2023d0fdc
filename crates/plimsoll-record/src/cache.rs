//! How much of what was asked the page cache answered, and how much the disk did for others.

use serde::{Deserialize, Serialize};

use crate::client::both;

/// What was asked of the target and what reached the storage, over whole slots: ramps are included, because then both
/// sides count exactly the same operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CacheActivity {
    /// Bytes that reads transferred.
    pub requested_read_bytes: u64,
    /// Bytes that writes transferred.
    pub requested_write_bytes: u64,
    /// Bytes that the kernel read from storage for plimsoll; what it read ahead is among them.
    pub storage_read_bytes: Option<u64>,
    /// Bytes that plimsoll wrote to storage; when buffered, those of pages that became dirty, whenever they get there.
    pub storage_write_bytes: Option<u64>,
    /// Why it is not known what reached the storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_reason: Option<String>,
    /// What the page cache held of the files or the device.
    pub residency: Option<CacheResidency>,
    /// Why that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residency_reason: Option<String>,
    /// Whether what was read a moment ago is read faster than the rest: tried before the first slot of random reads
    /// around the page cache, where the rules decide how long is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<RepeatedReads>,
}

/// Short pieces of load in pairs, one with offsets of its own and one that reads those of an earlier piece again. They
/// are outside of all slots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RepeatedReads {
    /// Pairs.
    pub pairs: u32,
    /// Operations per second at offsets that had not been read, the median of all pieces.
    pub fresh_iops: f64,
    /// Operations per second at offsets that had just been read, the median of all pieces.
    pub repeat_iops: f64,
    /// The rate of repeated over that of fresh reads, the lowest of all pairs.
    pub ratio_lowest: f64,
    /// All this load.
    pub elapsed_ns: u64,
}

/// What the page cache held of the region that operations choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CacheResidency {
    /// The system call that told: `cachestat` or `mincore`.
    pub method: String,
    /// Bytes of the region, in all files.
    pub total_bytes: u64,
    /// Bytes of it that were cached before the first slot.
    pub before_bytes: u64,
    /// Bytes of it that were cached after the last slot; looked at for buffered I/O only.
    pub after_bytes: Option<u64>,
    /// Bytes of it that had not reached the storage after the last slot. The kernel counts pages that it keeps together
    /// (large folios) as a whole.
    pub dirty_after_bytes: Option<u64>,
}

impl CacheActivity {
    /// Adds what another slot showed. What is not known of every slot is not known.
    pub fn add(&mut self, slot: &Self) {
        self.requested_read_bytes += slot.requested_read_bytes;
        self.requested_write_bytes += slot.requested_write_bytes;
        self.storage_read_bytes = both(self.storage_read_bytes, slot.storage_read_bytes);
        self.storage_write_bytes = both(self.storage_write_bytes, slot.storage_write_bytes);
        self.storage_reason = self.storage_reason.take().or_else(|| slot.storage_reason.clone());
        self.residency_reason = self.residency_reason.take().or_else(|| slot.residency_reason.clone());
        self.repeats = self.repeats.take().or_else(|| slot.repeats.clone());
        self.residency = self.residency.take().zip(slot.residency.clone()).map(|(first, last)| CacheResidency {
            method: last.method,
            total_bytes: last.total_bytes,
            before_bytes: first.before_bytes,
            after_bytes: last.after_bytes,
            dirty_after_bytes: last.dirty_after_bytes,
        });
    }
}

/// What the disk did in the slots, ramps included, that was not asked by the workload: other processes, and the journal
/// and metadata of file systems.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ForeignActivity {
    /// Bytes read.
    pub read_bytes: Option<u64>,
    /// Bytes written.
    pub write_bytes: Option<u64>,
    /// Reads completed.
    pub read_operations: Option<u64>,
    /// Writes completed.
    pub write_operations: Option<u64>,
    /// Why bytes, or operations alone, cannot be told apart from ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ForeignActivity {
    /// Nothing is known, for a reason.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::default() }
    }

    /// Adds what another slot showed. What is not known of every slot is not known.
    pub fn add(&mut self, slot: &Self) {
        self.read_bytes = both(self.read_bytes, slot.read_bytes);
        self.write_bytes = both(self.write_bytes, slot.write_bytes);
        self.read_operations = both(self.read_operations, slot.read_operations);
        self.write_operations = both(self.write_operations, slot.write_operations);
        self.reason = self.reason.take().or_else(|| slot.reason.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(storage_read_bytes: Option<u64>, before_bytes: u64, after_bytes: u64) -> CacheActivity {
        let after_bytes = Some(after_bytes);
        CacheActivity {
            requested_read_bytes: 1000,
            storage_read_bytes,
            residency: Some(CacheResidency {
                total_bytes: 4000,
                before_bytes,
                after_bytes,
                ..CacheResidency::default()
            }),
            ..CacheActivity::default()
        }
    }

    #[test]
    fn what_was_read_is_that_of_all_slots_together() {
        let mut sum = slot(Some(1000), 0, 1000);
        sum.add(&slot(Some(500), 1000, 1500));
        assert_eq!((sum.requested_read_bytes, sum.storage_read_bytes), (2000, Some(1500)));
        let residency = sum.residency.clone().unwrap();
        assert_eq!((residency.before_bytes, residency.after_bytes), (0, Some(1500)));
        sum.add(&slot(None, 0, 0));
        assert_eq!((sum.requested_read_bytes, sum.storage_read_bytes), (3000, None));
    }

    #[test]
    fn foreign_bytes_are_known_when_they_are_known_of_every_slot() {
        let slot = ForeignActivity { read_bytes: Some(5), write_bytes: Some(7), ..ForeignActivity::default() };
        let mut sum = slot.clone();
        sum.add(&slot);
        assert_eq!((sum.read_bytes, sum.write_bytes, sum.read_operations), (Some(10), Some(14), None));
        sum.add(&ForeignActivity::unknown("buffered"));
        assert_eq!((sum.read_bytes, sum.reason.as_deref()), (None, Some("buffered")));
    }
}
