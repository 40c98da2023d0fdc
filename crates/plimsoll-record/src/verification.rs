//! What verification found: how many blocks were checked, and which were wrong.

use plimsoll_measure::latency::LatencyHistogram;
use serde::{Deserialize, Serialize};

/// What verification found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerificationResult {
    /// Blocks read back and checked; one that was read again counts again.
    pub blocks_checked: u64,
    /// How many of these checks found a block that was wrong.
    pub mismatches: u64,
    /// The first wrong blocks, one sentence each.
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
        other.examples.iter().for_each(|example| self.add_example(example.clone()));
    }

    /// Names a wrong block, unless it is named already or there is no room for more.
    pub fn add_example(&mut self, example: String) {
        if self.examples.len() < Self::EXAMPLES_MAX && !self.examples.contains(&example) {
            self.examples.push(example);
        }
    }

    /// Adds latencies of blocks that were read back.
    pub fn add_read_back(&mut self, latencies: &LatencyHistogram) {
        match &mut self.read_back_histogram {
            Some(sum) => sum.merge(latencies),
            none => *none = Some(latencies.clone()),
        }
    }
}
