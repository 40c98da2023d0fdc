//! How sure the answers of a run shall be: what was asked, and the stopping rule that a cell gets from it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    limit::Limit,
    plan::PlanError,
    settings::Effort,
    units::{Span, ValueError, serde_as_text},
};

/// When targets are visited once more, if asked: allowances of half an hour are the field's custom.
pub const BOOKEND: Span = Span::from_seconds(30 * 60);

/// How far a rate may be from the truth, as a share of it: half the width of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Precision(f64);

impl Precision {
    /// The share, as in 0.02.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Precision {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let percent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        percent.filter(|percent| (0.1..=50.0).contains(percent)).map(|percent| Self(percent / 100.0)).ok_or_else(|| {
            ValueError::new(format!("\"{text}\" is not a precision: write a percentage from 0.1% to 50%, as in 2%"))
        })
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded, so that what was 2 % in decimal is 2 % again.
        write!(f, "{}%", (self.0 * 1e8).round() / 1e6)
    }
}

serde_as_text! { Precision, "a percentage, as \"2%\""; }

/// What was asked about certainty. Names are those of the flags.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Certainty {
    /// How hard to try.
    pub effort: Effort,
    /// How far a steady rate may be from the truth. Default: by the effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// No new slot begins after so much time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_time: Option<Span>,
    /// Visit each target once more, at least half an hour after the start, and see whether its numbers still hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bookend: bool,
    /// Visit each cell exactly so often, instead of until its rate is sure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<u32>,
    /// Keep so many passes out of the numbers, at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard_first: Option<u32>,
    /// What each target is said to deliver: it tells a burst, or a cache, from a rate that lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// When a cell has been measured enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "rule")]
pub enum StoppingRule {
    /// After so many slots, each of the length in the plan or until its amount is done.
    Fixed {
        /// Slots.
        slots: u32,
        /// How many of them, at the start, stay out of the numbers.
        discarded: u32,
    },
    /// When its rate is sure, or cannot be: the rules of the effort decide, also how long each slot lasts.
    Sure,
}

impl Certainty {
    /// What an effort means by itself.
    pub const fn of(effort: Effort) -> Self {
        Self { effort, precision: None, max_time: None, bookend: false, passes: None, discard_first: None, limit: None }
    }

    /// Refuses wishes that contradict each other.
    pub fn check(&self) -> Result<(), PlanError> {
        let problem = match (self.passes, self.discard_first, self.precision) {
            (Some(0), ..) => "--passes 0 measures nothing: choose 1 or more",
            (Some(_), _, Some(_)) => "--passes and --precision contradict each other: choose one",
            (None, Some(_), _) => {
                "--discard-first needs --passes: without it the stopping rules decide what to leave out"
            }
            (Some(passes), Some(discarded), _) if discarded >= passes => {
                "--discard-first leaves nothing to count: choose less than --passes"
            }
            (.., Some(_)) if self.effort == Effort::Quick => {
                "--effort quick never runs until a precision is reached: use standard or thorough with --precision"
            }
            _ if self.max_time == Some(Span { ns: 0 }) => "--max-time 0 leaves no time to measure",
            _ if self.bookend && self.passes.is_some() => {
                "--bookend is for cells that end when their rate is sure, and --passes ends them before: choose one"
            }
            _ if self.bookend && self.effort == Effort::Quick => {
                "--bookend doubts what was claimed, and --effort quick claims nothing: use standard or thorough"
            }
            _ if self.bookend && self.max_time.is_some_and(|time| time.ns <= BOOKEND.ns) => {
                "--bookend visits half an hour after the start, and --max-time ends the run before: allow more time"
            }
            _ => return Ok(()),
        };
        Err(PlanError::Certainty(problem))
    }
}

impl StoppingRule {
    /// The slots that a cell gets, where that is known beforehand.
    pub const fn slots(&self) -> Option<u32> {
        match self {
            Self::Fixed { slots, .. } => Some(*slots),
            Self::Sure => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_is_a_percentage_and_reads_back() {
        for text in ["2%", "0.5%", "0.1%", "50%", "3.3%"] {
            assert_eq!(text.parse::<Precision>().unwrap().to_string(), text);
        }
        for text in ["2", "0.02", "0%", "0.01%", "60%", "-1%", "NaN%", "%", ""] {
            assert!(text.parse::<Precision>().is_err(), "{text}");
        }
    }

    #[test]
    fn wishes_that_contradict_each_other_are_refused() {
        let refused = |change: fn(&mut Certainty)| {
            let mut certainty = Certainty::of(Effort::Standard);
            change(&mut certainty);
            certainty.check().unwrap_err().to_string()
        };
        assert!(refused(|c| c.discard_first = Some(1)).contains("--passes"));
        assert!(refused(|c| (c.passes, c.discard_first) = (Some(2), Some(2))).contains("nothing to count"));
        assert!(refused(|c| (c.passes, c.precision) = (Some(2), "2%".parse().ok())).contains("choose one"));
        assert!(refused(|c| (c.effort, c.precision) = (Effort::Quick, "2%".parse().ok())).contains("thorough"));
        assert!(refused(|c| (c.bookend, c.passes) = (true, Some(5))).contains("--passes ends them"));
        assert!(refused(|c| (c.bookend, c.effort) = (true, Effort::Quick)).contains("thorough"));
        assert!(refused(|c| (c.bookend, c.max_time) = (true, "30min".parse().ok())).contains("more time"));
        assert!(refused(|c| c.max_time = Some(Span { ns: 0 })).contains("no time"));
    }
}
