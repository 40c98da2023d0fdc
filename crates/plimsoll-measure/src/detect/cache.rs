//! Signs that a cache answered instead of the storage.

use serde::{Deserialize, Serialize};

/// The share of reads from the page cache from which numbers include it.
const HIT_RATIO_MAX: f64 = 0.005;
/// A rate this much above what the device can do came from elsewhere.
const ABOVE_LIMIT: f64 = 1.05;
/// The least by which repeated reads are faster than fresh ones when a cache holds them.
const REPEAT_FASTER: f64 = 1.05;
/// Pairs of repeated and fresh reads in which each repeat has to be faster. Between equals, whatever the noise, that
/// happens once in 256 times.
pub const REPEAT_PAIRS: usize = 8;
/// The rate of a cell over that of fresh reads from which a cache that is there takes part in it.
const TAKES_PART: f64 = 1.10;

/// What is known; absent what is not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CacheNumbers {
    /// Bytes that reads asked for.
    pub requested_bytes: Option<f64>,
    /// Bytes of them that were read from the device.
    pub device_bytes: Option<f64>,
    /// The rate that was measured, in any unit.
    pub rate: f64,
    /// The lowest limit of device, volume, machine and network, in the same unit.
    pub limit: Option<f64>,
    /// The median latency.
    pub p50_ns: Option<f64>,
    /// What an operation takes at the least: a round trip of the network, a medium's access.
    pub floor_ns: Option<f64>,
    /// What reading again showed.
    pub repeats: Option<Repeats>,
}

/// Reads of what had just been read, beside fresh ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeats {
    /// The rate of repeated over that of fresh reads, the lowest of [`REPEAT_PAIRS`] pairs.
    pub ratio_lowest: f64,
    /// The rate of the cell over that of fresh reads.
    pub rate_over_fresh: f64,
}

impl Repeats {
    /// Whether something remembers what was read, however little of the cell's own reads it answered.
    pub fn are_faster(&self) -> bool {
        self.ratio_lowest > REPEAT_FASTER
    }

    /// How many times as fast as fresh reads the cell is, when that is due to such a memory.
    fn take_part(&self) -> Option<f64> {
        (self.are_faster() && self.rate_over_fresh > TAKES_PART).then_some(self.rate_over_fresh)
    }
}

/// A sign, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CacheSign {
    /// This share of what was read came from the page cache.
    PageCache(f64),
    /// The rate is so many times what the device can do.
    AboveLimit(f64),
    /// The median latency is this share of what the medium takes at the least.
    BelowFloor(f64),
    /// Repeated reads are faster than fresh ones, and the rate is so many times that of fresh ones.
    RepeatFaster(f64),
}

/// All signs there are. Any of them makes the verdict `cached`.
pub fn signs(numbers: &CacheNumbers) -> Vec<CacheSign> {
    let pair = |left: Option<f64>, right: Option<f64>| Some((left?, right?)).filter(|(_, right)| *right > 0.0);
    let hit_ratio = pair(numbers.device_bytes, numbers.requested_bytes).map(|(device, asked)| 1.0 - device / asked);
    let above = numbers.limit.filter(|limit| *limit > 0.0).map(|limit| numbers.rate / limit);
    let below = pair(numbers.p50_ns, numbers.floor_ns).map(|(p50, floor)| p50 / floor);
    let signs = [
        hit_ratio.filter(|ratio| *ratio > HIT_RATIO_MAX).map(CacheSign::PageCache),
        above.filter(|ratio| *ratio > ABOVE_LIMIT).map(CacheSign::AboveLimit),
        below.filter(|ratio| *ratio < 1.0).map(CacheSign::BelowFloor),
        numbers.repeats.as_ref().and_then(Repeats::take_part).map(CacheSign::RepeatFaster),
    ];
    signs.into_iter().flatten().collect()
}

/// How much too fast a closed loop looks when this share of its reads hit a cache that is `speed_ratio` times as fast.
pub fn inflation(hit_ratio: f64, speed_ratio: f64) -> f64 {
    1.0 / (1.0 - hit_ratio * (1.0 - 1.0 / speed_ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_is_seen_alone() {
        let quiet = CacheNumbers {
            requested_bytes: Some(1e9),
            device_bytes: Some(0.999e9),
            rate: 5000.0,
            limit: Some(5000.0),
            p50_ns: Some(200_000.0),
            floor_ns: Some(50_000.0),
            repeats: Some(Repeats { ratio_lowest: 0.98, rate_over_fresh: 2.0 }),
        };
        assert_eq!(signs(&quiet), []);
        assert_eq!(signs(&CacheNumbers::default()), []);
        let cases = [
            CacheNumbers { device_bytes: Some(0.0), ..quiet },
            CacheNumbers { rate: 6000.0, ..quiet },
            CacheNumbers { p50_ns: Some(1500.0), ..quiet },
            CacheNumbers { repeats: Some(Repeats { ratio_lowest: 7.9, rate_over_fresh: 2.0 }), ..quiet },
        ];
        assert_eq!(
            cases.map(|case| signs(&case)),
            [
                vec![CacheSign::PageCache(1.0)],
                vec![CacheSign::AboveLimit(1.2)],
                vec![CacheSign::BelowFloor(0.03)],
                vec![CacheSign::RepeatFaster(2.0)],
            ]
        );
    }

    #[test]
    fn a_cache_that_answered_next_to_nothing_does_not_make_a_cell_cached() {
        let repeats = Repeats { ratio_lowest: 7.9, rate_over_fresh: 1.02 };
        assert!(repeats.are_faster());
        assert_eq!(signs(&CacheNumbers { repeats: Some(repeats), ..CacheNumbers::default() }), []);
    }

    #[test]
    fn a_file_twice_the_memory_looks_nearly_twice_as_fast() {
        assert!((inflation(0.5, 100.0) - 1.980).abs() < 0.001);
        assert!((inflation(0.0, 100.0) - 1.0).abs() < 1e-12);
    }
}
