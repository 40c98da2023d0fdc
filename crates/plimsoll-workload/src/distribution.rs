//! Which blocks random operations choose: the words; `sampler.rs` draws from them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{ValueError, serde_as_text};

/// How random offsets are spread over the region.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Every block equally likely, drawn anew each time.
    Uniform,
    /// Every block exactly once a pass, in random order. Each job covers its own part of a shared region.
    ExactOnce,
    /// Block of rank k (from 1) with probability proportional to `k^-theta`; ranks are scattered over the region.
    Zipf {
        /// The skew, above 0 and at most 10; 1.2 is common.
        theta: f64,
    },
    /// The first share `h` of ranks receives the share `1-h` of operations, self-similarly; ranks are scattered.
    Pareto {
        /// Above 0 and below 0.5 or so; 0.2 is the 80/20 rule.
        h: f64,
    },
    /// A bell around the middle of the region, or, where scattered, as often each but anywhere.
    Normal {
        /// Standard deviation as a percentage of the region.
        deviation_percent: f64,
        /// Whether the blocks of the bell lie anywhere in the region.
        is_scattered: bool,
    },
    /// Consecutive zones of the region, each with its share of operations.
    Zoned(Vec<Zone>),
}

/// A zone of a zoned distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// Percentage of operations that go to this zone.
    pub access_percent: f64,
    /// Percentage of the region that this zone covers.
    pub size_percent: f64,
}

fn number(text: &str, range: std::ops::RangeInclusive<f64>, what: &str) -> Result<f64, ValueError> {
    text.trim()
        .trim_end_matches('%')
        .parse::<f64>()
        .ok()
        .filter(|value| range.contains(value) && *value > 0.0)
        .ok_or_else(|| ValueError::new(format!("\"{text}\" is not {what}")))
}

fn zones(text: &str) -> Result<Vec<Zone>, ValueError> {
    let zones = text
        .split(':')
        .map(|zone| {
            let (access, size) = zone.split_once('/').ok_or_else(|| {
                ValueError::new(format!("\"{zone}\" is not a zone: write access%/size%, as in zoned:60/10:30/20:10/70"))
            })?;
            Ok(Zone {
                // Where no operations go is a zone too.
                access_percent: match access.trim() {
                    "0" | "0%" => 0.0,
                    access => number(access, 0.0..=100.0, "a percentage of operations")?,
                },
                size_percent: number(size, 0.0..=100.0, "a percentage of the region above 0")?,
            })
        })
        .collect::<Result<Vec<_>, ValueError>>()?;
    let sum = |part: fn(&Zone) -> f64| zones.iter().map(part).sum::<f64>();
    let (access, size) = (sum(|zone| zone.access_percent), sum(|zone| zone.size_percent));
    if (access - 100.0).abs() > 1e-6 || (size - 100.0).abs() > 1e-6 {
        return Err(ValueError::new(format!(
            "zones \"{text}\" add up to {access}% of operations and {size}% of the region: both must be 100"
        )));
    }
    Ok(zones)
}

impl FromStr for Distribution {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        match (word, rest) {
            ("uniform" | "random", "") => Ok(Self::Uniform),
            ("exact-once", "") => Ok(Self::ExactOnce),
            ("zipf", theta) => Ok(Self::Zipf {
                theta: if theta.is_empty() { 1.2 } else { number(theta, 0.0..=10.0, "a zipf theta from 0 to 10")? },
            }),
            ("pareto", h) => Ok(Self::Pareto {
                h: if h.is_empty() { 0.2 } else { number(h, 0.0..=0.999, "a pareto share between 0 and 1")? },
            }),
            ("normal", rest) => {
                let (deviation, is_scattered) = match rest.strip_suffix(":scattered") {
                    Some(deviation) => (deviation, true),
                    None if rest == "scattered" => ("", true),
                    None => (rest, false),
                };
                let deviation_percent = if deviation.is_empty() {
                    10.0
                } else {
                    number(deviation, 0.0..=100.0, "a standard deviation from 0 to 100 percent of the region")?
                };
                Ok(Self::Normal { deviation_percent, is_scattered })
            }
            ("hot-cold", share) => {
                let share = if share.is_empty() { "90/10" } else { share };
                let (access, size) = share.split_once('/').ok_or_else(|| {
                    ValueError::new(format!("\"{text}\": write hot-cold:ACCESS%/SIZE%, as in hot-cold:90/10"))
                })?;
                let access_percent = number(access, 0.0..=99.999, "a percentage of operations below 100")?;
                let size_percent = number(size, 0.0..=99.999, "a percentage of the region below 100")?;
                Ok(Self::Zoned(vec![
                    Zone { access_percent, size_percent },
                    Zone { access_percent: 100.0 - access_percent, size_percent: 100.0 - size_percent },
                ]))
            }
            ("zoned", list) => zones(list).map(Self::Zoned),
            _ => Err(ValueError::new(format!(
                "\"{text}\" is not a distribution: choose uniform, exact-once, zipf[:THETA], pareto[:H], \
                 normal[:DEVIATION%][:scattered], hot-cold[:ACCESS/SIZE] or zoned:ACCESS/SIZE:..."
            ))),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::ExactOnce => f.write_str("exact-once"),
            Self::Zipf { theta } => write!(f, "zipf:{theta}"),
            Self::Pareto { h } => write!(f, "pareto:{h}"),
            Self::Normal { deviation_percent, is_scattered } => {
                write!(f, "normal:{deviation_percent}%{}", if *is_scattered { ":scattered" } else { "" })
            }
            Self::Zoned(zones) => {
                f.write_str("zoned")?;
                zones.iter().try_for_each(|zone| write!(f, ":{}/{}", zone.access_percent, zone.size_percent))
            }
        }
    }
}

serde_as_text! {
    Distribution, "uniform, exact-once, zipf[:THETA], pareto[:H], normal[:DEVIATION%][:scattered], hot-cold[:ACCESS/SIZE] or zoned:ACCESS/SIZE:...";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_prints_as_it_parses() {
        let bells = ["normal:10%", "normal:5%:scattered"];
        for text in ["uniform", "exact-once", "zipf:1.2", "pareto:0.2", "zoned:60/10:30/20:10/70"].iter().chain(&bells)
        {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), **text);
        }
        assert_eq!("normal:scattered".parse::<Distribution>().unwrap().to_string(), "normal:10%:scattered");
        assert_eq!("hot-cold:90/10".parse::<Distribution>().unwrap().to_string(), "zoned:90/10:10/90");
    }

    #[test]
    fn distributions_that_mean_nothing_are_refused() {
        for text in [
            "",
            "zip",
            "zipf:0",
            "zipf:-1",
            "zipf:x",
            "pareto:1",
            "zoned:50/50",
            "zoned:60/50:60/50",
            "uniform:3",
            "normal:9scattered",
        ] {
            assert!(text.parse::<Distribution>().is_err(), "{text}");
        }
    }
}
