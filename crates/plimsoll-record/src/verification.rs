//! What verification found: how many blocks were checked, and which were wrong.

use plimsoll_measure::latency::LatencyHistogram;
use serde::{Deserialize, Serialize};

/// What verification found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerificationResult {
    /// Blocks read back and checked.
    pub blocks_checked: u64,
    /// Blocks that were wrong.
    pub mismatches: u64,
    /// The first of them, one sentence each.
    pub examples: Vec<String>,
    /// Those of the checked blocks that were read after the load, which is no part of what was measured.
    #[serde(default)]
    pub blocks_read_back: u64,
    /// Blocks that were to be read back too, but the run was interrupted or failed before: of these nothing is known.
    #[serde(default)]
    pub blocks_left: u64,
    /// How long that took.
    #[serde(default)]
    pub read_back_ns: u64,
    /// The latencies of these reads, those that failed excepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_back_histogram: Option<LatencyHistogram>,
}

impl VerificationResult {
    /// Wrong blocks that are named one by one.
    pub const EXAMPLES_MAX: usize = 20;

    /// Adds what was found later, as in another slot.
    pub fn add_later(&mut self, other: &Self) {
        let read_back_ns = self.read_back_ns + other.read_back_ns;
        self.add_beside(other);
        self.read_back_ns = read_back_ns;
    }

    /// Adds what was found at the same time, as by another worker or on another machine.
    pub fn add_beside(&mut self, other: &Self) {
        self.blocks_checked += other.blocks_checked;
        self.blocks_read_back += other.blocks_read_back;
        self.blocks_left += other.blocks_left;
        self.read_back_ns = self.read_back_ns.max(other.read_back_ns);
        other.read_back_histogram.iter().for_each(|latencies| self.add_read_back(latencies));
        self.mismatches += other.mismatches;
        let room = Self::EXAMPLES_MAX.saturating_sub(self.examples.len());
        self.examples.extend(other.examples.iter().take(room).cloned());
    }

    /// Adds latencies of blocks that were read back.
    pub fn add_read_back(&mut self, latencies: &LatencyHistogram) {
        match &mut self.read_back_histogram {
            Some(sum) => sum.merge(latencies),
            none => *none = Some(latencies.clone()),
        }
    }
}
