//! Signs that a cache answered instead of the storage.

/// The share of reads from the page cache from which numbers include it.
const HIT_RATIO_MAX: f64 = 0.005;
/// A rate this much above what the device can do came from elsewhere.
const ABOVE_LIMIT: f64 = 1.05;
/// Limits are kept over such times, so that a short look at a storage may find the operations of one more.
const LIMIT_KEPT_SECONDS: f64 = 0.1;
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
    /// How long each look at the storage was that the rate is from, in seconds; absent when that was long.
    pub look_seconds: Option<f64>,
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CacheSign {
    /// This share of what was read came from the page cache.
    PageCache(f64),
    /// The rate is so many times what the device can do.
    AboveLimit(f64),
    /// Repeated reads are faster than fresh ones, and the rate is so many times that of fresh ones.
    RepeatFaster(f64),
}

/// All signs there are. Any of them makes the verdict `cached`.
pub fn signs(numbers: &CacheNumbers) -> Vec<CacheSign> {
    let bytes = numbers.device_bytes.zip(numbers.requested_bytes.filter(|asked| *asked > 0.0));
    let hit_ratio = bytes.map(|(device, asked)| 1.0 - device / asked);
    let above_limit = ABOVE_LIMIT + numbers.look_seconds.map_or(0.0, |seconds| LIMIT_KEPT_SECONDS / seconds);
    let above = numbers.limit.filter(|limit| *limit > 0.0).map(|limit| numbers.rate / limit);
    let signs = [
        hit_ratio.filter(|ratio| *ratio > HIT_RATIO_MAX).map(CacheSign::PageCache),
        above.filter(|ratio| *ratio > above_limit).map(CacheSign::AboveLimit),
        numbers.repeats.as_ref().and_then(Repeats::take_part).map(CacheSign::RepeatFaster),
    ];
    signs.into_iter().flatten().collect()
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
            look_seconds: Some(10.0),
            repeats: Some(Repeats { ratio_lowest: 0.98, rate_over_fresh: 2.0 }),
        };
        assert_eq!(signs(&quiet), []);
        assert_eq!(signs(&CacheNumbers::default()), []);
        let cases = [
            CacheNumbers { device_bytes: Some(0.0), ..quiet },
            CacheNumbers { rate: 6000.0, ..quiet },
            CacheNumbers { repeats: Some(Repeats { ratio_lowest: 7.9, rate_over_fresh: 2.0 }), ..quiet },
        ];
        assert_eq!(
            cases.map(|case| signs(&case)),
            [vec![CacheSign::PageCache(1.0)], vec![CacheSign::AboveLimit(1.2)], vec![CacheSign::RepeatFaster(2.0)],]
        );
    }

    #[test]
    fn a_short_look_may_find_a_little_more_than_the_limit() {
        let look =
            |look_seconds| CacheNumbers { rate: 540.0, limit: Some(500.0), look_seconds, ..CacheNumbers::default() };
        assert_eq!(signs(&look(Some(1.0))), []);
        assert_eq!(signs(&look(Some(10.0))), [CacheSign::AboveLimit(1.08)]);
        assert_eq!(signs(&look(None)), [CacheSign::AboveLimit(1.08)]);
    }

    #[test]
    fn a_cache_that_answered_next_to_nothing_does_not_make_a_cell_cached() {
        let repeats = Repeats { ratio_lowest: 7.9, rate_over_fresh: 1.02 };
        assert!(repeats.are_faster());
        assert_eq!(signs(&CacheNumbers { repeats: Some(repeats), ..CacheNumbers::default() }), []);
    }
}
