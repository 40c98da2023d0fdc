//! The block sizes of a workload: one, a range, or a weighted split.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{ByteCount, ValueError, serde_as_text};

/// Which block sizes operations have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// Every operation has this size: `4k`.
    One(u32),
    /// Uniform between both ends, in steps of the smaller: `4k-64k`.
    Range {
        /// The smallest size, which is also the step.
        min: u32,
        /// The largest size.
        max: u32,
    },
    /// Each size with a weight: `4k/60:64k/40`.
    Split(Vec<WeightedBlockSize>),
}

/// One part of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedBlockSize {
    /// Bytes of an operation.
    pub bytes: u32,
    /// Share relative to the sum of all weights.
    pub weight: u32,
}

impl BlockSizes {
    /// The smallest size that can occur; also the alignment of random offsets.
    pub fn min(&self) -> u32 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Range { min, .. } => *min,
            Self::Split(parts) => parts.iter().map(|part| part.bytes).min().unwrap_or(0),
        }
    }

    /// The largest size that can occur; buffers have this size.
    pub fn max(&self) -> u32 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Range { max, .. } => *max,
            Self::Split(parts) => parts.iter().map(|part| part.bytes).max().unwrap_or(0),
        }
    }

    /// The mean of the sizes that occur.
    pub fn mean(&self) -> f64 {
        match self {
            Self::One(bytes) => f64::from(*bytes),
            // Both ends are steps, and so the middle is the mean.
            Self::Range { min, max } => f64::from(max / min * min).midpoint(f64::from(*min)),
            Self::Split(parts) => {
                let sum = |value: fn(&WeightedBlockSize) -> f64| parts.iter().map(value).sum::<f64>();
                let weights = sum(|part| f64::from(part.weight));
                sum(|part| f64::from(part.bytes) * f64::from(part.weight)) / weights.max(1.0)
            }
        }
    }

    /// The most bytes that all sizes are multiples of.
    pub fn granule(&self) -> u32 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Range { min, .. } => *min,
            Self::Split(parts) => parts.iter().fold(0, |granule, part| common_divisor(granule, part.bytes)),
        }
    }

    /// The sizes that occur, with their weights.
    pub fn weighted(&self) -> Vec<WeightedBlockSize> {
        match self {
            Self::One(bytes) => vec![WeightedBlockSize { bytes: *bytes, weight: 1 }],
            Self::Range { min, max } => {
                (1..=max / min).map(|steps| WeightedBlockSize { bytes: steps * min, weight: 1 }).collect()
            }
            Self::Split(parts) => parts.clone(),
        }
    }

    /// Whether every operation has the same size.
    pub const fn is_one(&self) -> bool {
        matches!(self, Self::One(_))
    }

    /// Every size that can occur is a multiple of `bytes`.
    pub fn aligned_to(&self, bytes: u32) -> bool {
        match self {
            Self::One(size) => size.is_multiple_of(bytes),
            Self::Range { min, max } => min.is_multiple_of(bytes) && max.is_multiple_of(bytes),
            Self::Split(parts) => parts.iter().all(|part| part.bytes.is_multiple_of(bytes)),
        }
    }
}

/// The greatest one (Euclid); of 0 and a number that number.
pub const fn common_divisor(mut one: u32, mut other: u32) -> u32 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

fn size(text: &str) -> Result<u32, ValueError> {
    let bytes = text.parse::<ByteCount>()?.0;
    u32::try_from(bytes).ok().filter(|bytes| *bytes > 0).ok_or_else(|| {
        ValueError::new(format!("\"{text}\" is not a block size: it must be above zero and below 4 GiB"))
    })
}

impl FromStr for BlockSizes {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        if text.contains('/') {
            let parts = text
                .split(':')
                .map(|part| {
                    let (bytes, weight) = part.split_once('/').ok_or_else(|| {
                        ValueError::new(format!("\"{part}\" has no weight: write a split as 4k/60:64k/40"))
                    })?;
                    let weight = weight.trim().trim_end_matches('%').parse().map_err(|_| {
                        ValueError::new(format!("\"{weight}\" is not a weight: write a split as 4k/60:64k/40"))
                    })?;
                    Ok(WeightedBlockSize { bytes: size(bytes)?, weight })
                })
                .collect::<Result<Vec<_>, ValueError>>()?;
            let total: u64 = parts.iter().map(|part| u64::from(part.weight)).sum();
            if total == 0 || total > u64::from(u32::MAX) {
                return Err(ValueError::new(format!("\"{text}\": the weights must add up to something above zero")));
            }
            return Ok(Self::Split(parts));
        }
        if let Some((min, max)) = text.split_once('-').filter(|(min, _)| !min.trim().is_empty()) {
            let (min, max) = (size(min)?, size(max)?);
            if min > max || !max.is_multiple_of(min) {
                return Err(ValueError::new(format!(
                    "\"{text}\" is not a range of block sizes: the end must be a multiple of the start, as in 4k-64k"
                )));
            }
            return Ok(if min == max { Self::One(min) } else { Self::Range { min, max } });
        }
        size(text).map(Self::One)
    }
}

impl fmt::Display for BlockSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |bytes: u32| ByteCount(u64::from(bytes));
        match self {
            Self::One(size) => bytes(*size).fmt(f),
            Self::Range { min, max } => write!(f, "{}-{}", bytes(*min), bytes(*max)),
            Self::Split(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    let colon = if index == 0 { "" } else { ":" };
                    write!(f, "{colon}{}/{}", bytes(part.bytes), part.weight)?;
                }
                Ok(())
            }
        }
    }
}

serde_as_text! { BlockSizes, "a block size as \"4k\", a range as \"4k-64k\", or a split as \"4k/60:64k/40\""; }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_prints_as_it_parses() {
        for text in ["4KiB", "4KiB-64KiB", "4KiB/60:64KiB/40", "512B"] {
            assert_eq!(text.parse::<BlockSizes>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn sizes_that_mean_nothing_are_refused() {
        for text in ["0", "", "8k-4k", "4k-6k", "4k/0", "4k/x", "4k/50:8k", "8G"] {
            assert!(text.parse::<BlockSizes>().is_err(), "{text}");
        }
    }
}
