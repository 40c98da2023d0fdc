//! Arguments of `plimsoll history`, and how people write a moment.

use std::str::FromStr;

use clap::Args;
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use plimsoll_workload::units::Span;

/// Arguments of `plimsoll history`.
#[derive(Args, Debug)]
pub struct HistoryArguments {
    /// List at most so many runs, the latest
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// List runs with a target whose path contains this
    #[arg(long, value_name = "TEXT")]
    pub target: Option<String>,
    /// List runs that have this tag; may be repeated
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = super::run::tag)]
    pub tags: Vec<(String, String)>,
    /// List runs that began at most this long ago (7d, 12h) or not before this date (2025-10-08, in UTC)
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Moment>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A moment as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// So long ago.
    Ago(Span),
    /// A day, or a time of a day, in UTC, as all times are shown.
    Date(DateTime),
    /// A time with its offset.
    Exact(Timestamp),
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A time with an offset is also a time without one, so the order matters.
        let exact = || text.parse().ok().map(Self::Exact);
        let date = || text.parse().ok().map(Self::Date);
        let ago = || text.parse().ok().map(Self::Ago);
        exact().or_else(date).or_else(ago).ok_or_else(|| {
            format!(
                "\"{text}\" is not a time: write an age, as 30d or 12h, or a date, as 2025-10-08 or 2025-10-08T09:30"
            )
        })
    }
}

impl Moment {
    /// The moment on the clock of the world.
    pub fn timestamp(self, now: Timestamp) -> anyhow::Result<Timestamp> {
        Ok(match self {
            Self::Ago(span) => {
                // An age beyond the calendar is as old as anything.
                let ns = i64::try_from(span.ns).unwrap_or(i64::MAX);
                now.checked_sub(jiff::SignedDuration::from_nanos(ns)).unwrap_or(Timestamp::MIN)
            }
            Self::Date(time) => time.to_zoned(TimeZone::UTC)?.timestamp(),
            Self::Exact(timestamp) => timestamp,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timestamp(text: &str) -> String {
        let now = "2025-10-08T12:00:00Z".parse().unwrap();
        text.parse::<Moment>().unwrap().timestamp(now).unwrap().to_string()
    }

    #[test]
    fn a_moment_is_an_age_a_date_or_a_time_with_an_offset() {
        assert_eq!(timestamp("30d"), "2025-09-08T12:00:00Z");
        assert_eq!(timestamp("1h30m"), "2025-10-08T10:30:00Z");
        assert_eq!(timestamp("2025-10-08"), "2025-10-08T00:00:00Z");
        assert_eq!(timestamp("2025-10-08T09:30"), "2025-10-08T09:30:00Z");
        assert_eq!(timestamp("2025-10-08T09:30:00+02:00"), "2025-10-08T07:30:00Z");
        for text in ["", "30", "yesterday", "2025-13-01", "-3d"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
