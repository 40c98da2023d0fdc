//! The sizes of the files of a set: one, a range, a weighted split, or a distribution.
//!
//! How large a file is follows from the seed and its number alone, so that a set is the same on every target and for
//! every number of threads. Of the distributions with a tail, a file has one of [`QUANTILES`] sizes that are equally
//! likely: those at the middle of as many equal shares.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use statrs::distribution::{ContinuousCDF, Exp, Gamma, LogNormal};

use crate::{
    random::{Draws, Purpose, derive_seed},
    units::{ByteCount, ValueError, serde_as_text},
};

/// How many different sizes a distribution with a tail has.
pub const QUANTILES: usize = 1024;

/// How large files are.
#[derive(Clone, Debug, PartialEq)]
pub enum FileSizes {
    /// All of them the same: `10k`.
    One(u64),
    /// Any size between both: `500-9770`.
    Range {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// Each size with a weight: `4k/60:64k/30:1m/10`.
    Split(Vec<(u64, u32)>),
    /// `gamma:128k`, or with a shape other than 1.5 `gamma:128k:3`.
    Gamma {
        /// The mean.
        mean: u64,
        /// 1 is an exponential distribution; larger ones are narrower.
        shape: f64,
    },
    /// `exponential:16k`, and none larger than eight times that, or than `exponential:16k:64k` says.
    Exponential {
        /// The mean of those that are not cut off.
        mean: u64,
        /// The largest.
        max: u64,
    },
    /// `lognormal:16k:1.5`: the logarithm of sizes is normally distributed.
    LogNormal {
        /// Half of the files are smaller.
        median: u64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

/// The shape that sizes of files have where nothing else is said, as in the field's file server profiles.
const USUAL_SHAPE: f64 = 1.5;
/// Where exponential sizes end, in means.
const USUAL_MAX: u64 = 8;

/// The size of each file of a set.
#[derive(Clone, Debug)]
pub struct SizeSampler {
    seed: u64,
    sizes: FileSizes,
    /// Sizes that are equally likely, of a distribution with a tail.
    quantiles: Vec<u64>,
}

impl SizeSampler {
    /// The sizes that the seed names.
    pub fn new(sizes: &FileSizes, seed: u64) -> Self {
        Self { seed: derive_seed(seed, Purpose::FileSizes, 0), sizes: sizes.clone(), quantiles: sizes.quantiles() }
    }

    /// The size of the file with this number.
    pub fn size(&self, file: u64) -> u64 {
        let mut draws = Draws::new(self.seed, file);
        match &self.sizes {
            FileSizes::One(bytes) => *bytes,
            FileSizes::Range { min, max } => min + draws.below((max - min).saturating_add(1)),
            FileSizes::Split(parts) => {
                let total = parts.iter().map(|(_, weight)| u64::from(*weight)).sum();
                let mut place = draws.below(total);
                for (bytes, weight) in parts {
                    match place.checked_sub(u64::from(*weight)) {
                        Some(rest) => place = rest,
                        None => return *bytes,
                    }
                }
                parts.last().map_or(0, |(bytes, _)| *bytes)
            }
            FileSizes::Gamma { .. } | FileSizes::Exponential { .. } | FileSizes::LogNormal { .. } => {
                self.quantiles[draws.below(self.quantiles.len() as u64) as usize]
            }
        }
    }

    /// The bytes of the first so many files.
    pub fn total(&self, files: u64) -> u64 {
        self.total_of(files, |bytes| bytes)
    }

    /// The same of what a file of each size takes.
    pub fn total_of(&self, files: u64, takes: impl Fn(u64) -> u64) -> u64 {
        match self.sizes {
            FileSizes::One(bytes) => takes(bytes).saturating_mul(files),
            _ => (0..files).fold(0, |sum: u64, file| sum.saturating_add(takes(self.size(file)))),
        }
    }
}

impl FileSizes {
    /// The largest size that can occur.
    pub fn max(&self) -> u64 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Range { max, .. } | Self::Exponential { max, .. } => *max,
            Self::Split(parts) => parts.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0),
            Self::Gamma { .. } | Self::LogNormal { .. } => self.quantiles().last().copied().unwrap_or(0),
        }
    }

    /// The size of every file, where all have the same.
    pub const fn one(&self) -> Option<u64> {
        match self {
            Self::One(bytes) => Some(*bytes),
            _ => None,
        }
    }

    /// Whether every size is a multiple of so many bytes.
    pub fn are_multiples_of(&self, bytes: u32) -> bool {
        match self {
            Self::One(size) => size.is_multiple_of(bytes.into()),
            Self::Split(parts) => parts.iter().all(|(size, _)| size.is_multiple_of(bytes.into())),
            _ => bytes == 1,
        }
    }

    fn quantiles(&self) -> Vec<u64> {
        let at = |inverse: &dyn Fn(f64) -> f64, max: u64| {
            let middles = (0..QUANTILES).map(|index| (index as f64 + 0.5) / QUANTILES as f64);
            middles.map(|share| (inverse(share).round().max(1.0) as u64).min(max)).collect()
        };
        const CHECKED: &str = "parameters are checked where they are read";
        match *self {
            Self::One(_) | Self::Range { .. } | Self::Split(_) => Vec::new(),
            Self::Gamma { mean, shape } => {
                let gamma = Gamma::new(shape, shape / mean as f64).expect(CHECKED);
                at(&|share| gamma.inverse_cdf(share), u64::MAX)
            }
            Self::Exponential { mean, max } => {
                let exponential = Exp::new(1.0 / mean as f64).expect(CHECKED);
                at(&|share| exponential.inverse_cdf(share), max)
            }
            Self::LogNormal { median, sigma } => {
                let log_normal = LogNormal::new((median as f64).ln(), sigma).expect(CHECKED);
                at(&|share| log_normal.inverse_cdf(share), u64::MAX)
            }
        }
    }
}

fn size(text: &str) -> Result<u64, ValueError> {
    Ok(text.parse::<ByteCount>()?.0)
}

fn above_zero(text: &str) -> Result<u64, ValueError> {
    let bytes = size(text)?;
    let is_sane = bytes > 0;
    is_sane.then_some(bytes).ok_or_else(|| ValueError::new(format!("\"{text}\": sizes that vary are above zero")))
}

fn parameter(text: &str, what: &str) -> Result<f64, ValueError> {
    let number = text.trim().parse::<f64>().ok().filter(|number| (0.1..=10.0).contains(number));
    number.ok_or_else(|| ValueError::new(format!("\"{text}\" is not a {what}: write a number from 0.1 to 10")))
}

fn split(text: &str) -> Result<FileSizes, ValueError> {
    let part = |part: &str| {
        let (bytes, weight) = part
            .split_once('/')
            .ok_or_else(|| ValueError::new(format!("\"{part}\" has no weight: write a split as 4k/60:64k/30:1m/10")))?;
        let weight = weight.trim().trim_end_matches('%').parse::<u32>().map_err(|_| {
            ValueError::new(format!("\"{weight}\" is not a weight: write a split as 4k/60:64k/30:1m/10"))
        })?;
        Ok((size(bytes)?, weight))
    };
    let parts = text.split(':').map(part).collect::<Result<Vec<_>, ValueError>>()?;
    if parts.iter().all(|(_, weight)| *weight == 0) {
        return Err(ValueError::new(format!("\"{text}\": the weights must add up to something above zero")));
    }
    Ok(FileSizes::Split(parts))
}

impl FromStr for FileSizes {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let (form, rest) = text.split_once(':').unwrap_or((text, ""));
        let (first, second) = rest.split_once(':').map_or((rest, None), |(first, second)| (first, Some(second)));
        match form.trim() {
            "gamma" => Ok(Self::Gamma {
                mean: above_zero(first)?,
                shape: second.map_or(Ok(USUAL_SHAPE), |shape| parameter(shape, "shape"))?,
            }),
            "exponential" => {
                let mean = above_zero(first)?;
                let max = second.map_or(Ok(mean.saturating_mul(USUAL_MAX)), above_zero)?;
                Ok(Self::Exponential { mean, max })
            }
            "lognormal" => {
                let sigma = second.ok_or_else(|| {
                    ValueError::new(format!("\"{text}\" has no spread: write it as lognormal:MEDIAN:SIGMA"))
                })?;
                Ok(Self::LogNormal { median: above_zero(first)?, sigma: parameter(sigma, "sigma")? })
            }
            _ if text.contains('/') => split(text),
            _ => match text.split_once('-').filter(|(min, _)| !min.trim().is_empty()) {
                Some((min, max)) => {
                    let (min, max) = (size(min)?, size(max)?);
                    if min > max {
                        return Err(ValueError::new(format!("\"{text}\" is no range: write the smaller size first")));
                    }
                    Ok(if min == max { Self::One(min) } else { Self::Range { min, max } })
                }
                None => size(text).map(Self::One),
            },
        }
    }
}

impl fmt::Display for FileSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(bytes) => ByteCount(*bytes).fmt(f),
            Self::Range { min, max } => write!(f, "{}-{}", ByteCount(*min), ByteCount(*max)),
            Self::Split(parts) => {
                for (index, (bytes, weight)) in parts.iter().enumerate() {
                    let colon = if index == 0 { "" } else { ":" };
                    write!(f, "{colon}{}/{weight}", ByteCount(*bytes))?;
                }
                Ok(())
            }
            Self::Gamma { mean, shape } => write!(f, "gamma:{}:{shape}", ByteCount(*mean)),
            Self::Exponential { mean, max } => write!(f, "exponential:{}:{}", ByteCount(*mean), ByteCount(*max)),
            Self::LogNormal { median, sigma } => write!(f, "lognormal:{}:{sigma}", ByteCount(*median)),
        }
    }
}

serde_as_text! {
    FileSizes,
    "a size, as \"10k\", a range, as \"500-9770\", a split, as \"4k/60:64k/40\", or gamma:MEAN[:SHAPE], \
     exponential:MEAN[:MAX] or lognormal:MEDIAN:SIGMA";
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_prints_as_it_parses() {
        let forms =
            ["10KiB", "0B", "500B-9770B", "4KiB/60:64KiB/30:1MiB/10", "gamma:128KiB:1.5", "lognormal:16KiB:1.2"];
        for text in forms.into_iter().chain(["exponential:16KiB:128KiB"]) {
            assert_eq!(text.parse::<FileSizes>().unwrap().to_string(), text);
        }
        assert_eq!("gamma:128k".parse::<FileSizes>().unwrap().to_string(), "gamma:128KiB:1.5");
        assert_eq!("exponential:16k".parse::<FileSizes>().unwrap().to_string(), "exponential:16KiB:128KiB");
        let wrong = ["", "gamma", "gamma:0", "gamma:4k:0", "lognormal:4k", "9-5", "4k/0", "4k/1:5k", "-5", "x"];
        for text in wrong {
            assert!(text.parse::<FileSizes>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_the_mean_and_the_shape_that_was_asked_for() {
        let sizes = |text: &str| -> Vec<f64> {
            let sampler = SizeSampler::new(&text.parse().unwrap(), 7);
            (0..100_000).map(|file| sampler.size(file) as f64).collect()
        };
        let mean = |sizes: &[f64]| sizes.iter().sum::<f64>() / sizes.len() as f64;
        let deviation = |sizes: &[f64]| {
            let mean = mean(sizes);
            (sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / sizes.len() as f64).sqrt()
        };
        let near =
            |value: f64, due: f64, what: &str| assert!((value / due - 1.0).abs() < 0.02, "{what}: {value} {due}");
        let gamma = sizes("gamma:128k");
        near(mean(&gamma), 131_072.0, "gamma");
        near(deviation(&gamma), 131_072.0 / 1.5_f64.sqrt(), "gamma");
        near(mean(&sizes("exponential:16k:1g")), 16_384.0, "exponential");
        assert!(sizes("exponential:16k:20k").iter().all(|size| *size <= 20_480.0));
        let logarithms: Vec<f64> = sizes("lognormal:16k:1.2").iter().map(|size| size.ln()).collect();
        near(mean(&logarithms), 16_384_f64.ln(), "lognormal");
        near(deviation(&logarithms), 1.2, "lognormal");
        near(mean(&sizes("500-9770")), 5135.0, "range");
        near(mean(&sizes("4k/60:64k/40")), 4096.0 * 0.6 + 65_536.0 * 0.4, "split");
    }

    proptest! {
        #[test]
        fn a_size_follows_from_seed_and_number_and_is_no_larger_than_the_largest(
            form in prop::sample::select(vec!["7k", "1-9", "1k/1:9k/3", "gamma:5k:2", "exponential:9k", "lognormal:1k:2"]),
            seed: u64,
            file in 0_u64..1 << 40,
        ) {
            let sizes: FileSizes = form.parse().unwrap();
            let size = SizeSampler::new(&sizes, seed).size(file);
            prop_assert_eq!(SizeSampler::new(&sizes, seed).size(file), size);
            prop_assert!(size <= sizes.max());
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            if let Ok(sizes) = text.parse::<FileSizes>() {
                prop_assert_eq!(sizes.to_string().parse::<FileSizes>().unwrap(), sizes);
            }
        }
    }
}
