//! What somebody needs of a storage, as people write it: `iops=3000,latency_p99=5ms,size=1Ti`.
//!
//! Rates are at least what is written, latencies at most. `read_`, `write_` and `sync_` before a name say which
//! operations it is about.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{Bandwidth, ByteCount, Rate, Span, ValueError, serde_as_text, shortest};

/// No storage does more operations or bytes a second.
const AMOUNT_MAX: f64 = 1e15;

const NAMES: &str = "iops, bandwidth, latency_mean, latency_p50, latency_p90, latency_p95, latency_p99, latency_p99_9 \
                     (each also with read_ or write_ before it, latencies with sync_) and size";

/// What is needed, of which at least one thing is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Need {
    /// What can be measured, in the order in which it was written.
    pub wants: Vec<Want>,
    /// How much it has to hold.
    pub size: Option<ByteCount>,
}

/// One thing that is needed and can be measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Want {
    /// Which operations it is about; absent when it does not matter.
    pub direction: Option<Direction>,
    /// How much of what.
    pub amount: Amount,
}

/// Which operations something is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// What makes writes durable, of which only latencies can be needed.
    Sync,
}

/// How much of what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// At least so many operations per second.
    Iops(f64),
    /// At least so many bytes per second.
    Bandwidth(Bandwidth),
    /// At most so long.
    Latency(LatencyFigure, Span),
}

/// Which number of a distribution of latencies is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LatencyFigure {
    /// The mean.
    Mean,
    /// Half of the operations take at most so long.
    P50,
    /// 90 %.
    P90,
    /// 95 %.
    P95,
    /// 99 %.
    P99,
    /// 99.9 %.
    P99_9,
}

impl LatencyFigure {
    /// All of them, in the order of the times that they tell.
    pub const ALL: [Self; 6] = [Self::Mean, Self::P50, Self::P90, Self::P95, Self::P99, Self::P99_9];

    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P99_9 => "p99_9",
        }
    }
}

impl Direction {
    /// The word for several such operations.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Sync => "syncs",
        }
    }
}

impl Want {
    /// Its name, as it is written.
    pub fn name(&self) -> String {
        let direction = match self.direction {
            Some(Direction::Read) => "read_",
            Some(Direction::Write) => "write_",
            Some(Direction::Sync) => "sync_",
            None => "",
        };
        match self.amount {
            Amount::Iops(_) => format!("{direction}iops"),
            Amount::Bandwidth(_) => format!("{direction}bandwidth"),
            Amount::Latency(figure, _) => format!("{direction}latency_{}", figure.name()),
        }
    }
}

impl Need {
    /// Whether operations per second or bytes per second are among it.
    pub fn has_rates(&self) -> bool {
        self.wants.iter().any(|want| !matches!(want.amount, Amount::Latency(..)))
    }

    /// Whether latencies are among it.
    pub fn has_latencies(&self) -> bool {
        self.wants.iter().any(|want| matches!(want.amount, Amount::Latency(..)))
    }
}

impl FromStr for Need {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let wrong = |why: &str| ValueError::new(format!("\"{text}\" is not a need: {why}"));
        let mut need = Self::default();
        for part in text.split(',').map(str::trim) {
            let (name, value) =
                part.split_once('=').ok_or_else(|| wrong("write it as iops=3000, or as iops=3000,latency_p99=5ms"))?;
            let (name, value) = (name.trim().replace(['-', '.'], "_"), value.trim());
            if name == "size" {
                let size = value.parse().ok().filter(|size: &ByteCount| size.0 > 0);
                let size = size.ok_or_else(|| wrong("size is what the storage has to hold, as size=1Ti"))?;
                if need.size.replace(size).is_some() {
                    return Err(wrong("size stands there twice"));
                }
                continue;
            }
            let (direction, measure) = match name.split_once('_') {
                Some(("read", measure)) => (Some(Direction::Read), measure),
                Some(("write", measure)) => (Some(Direction::Write), measure),
                Some(("sync", measure)) if measure.starts_with("latency") => (Some(Direction::Sync), measure),
                _ => (None, name.as_str()),
            };
            let amount = amount(measure, value)
                .ok_or_else(|| wrong(&format!("\"{name}\" is none of {NAMES}")))?
                .map_err(|how| wrong(&format!("{name} is {how}")))?;
            let want = Want { direction, amount };
            if need.wants.iter().any(|known| known.name() == want.name()) {
                return Err(wrong(&format!("{name} stands there twice")));
            }
            need.wants.push(want);
        }
        Ok(need)
    }
}

/// The amount that a value is under its name; `None` for a name that there is not, and how to write it when it is
/// wrong.
fn amount(measure: &str, value: &str) -> Option<Result<Amount, String>> {
    let rate = value.parse::<Rate>().ok();
    if measure == "iops" {
        let operations = match rate {
            Some(Rate::Operations(amount)) if amount <= AMOUNT_MAX => Ok(Amount::Iops(amount)),
            _ => Err("operations a second, as iops=3000 or iops=3k".to_owned()),
        };
        return Some(operations);
    }
    if measure == "bandwidth" {
        let bytes = match rate {
            Some(Rate::Bytes(amount)) if amount as f64 <= AMOUNT_MAX => Ok(Amount::Bandwidth(Bandwidth(amount))),
            _ => Err("bytes a second with their unit, as bandwidth=200MB or bandwidth=200MiB".to_owned()),
        };
        return Some(bytes);
    }
    let figure = measure.strip_prefix("latency_")?;
    let figure = LatencyFigure::ALL.into_iter().find(|known| known.name() == figure)?;
    let span = value.parse::<Span>().ok().filter(|span| span.ns > 0);
    Some(
        span.map(|span| Amount::Latency(figure, span))
            .ok_or_else(|| format!("a time with its unit, as {measure}=5ms or {measure}=500us")),
    )
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.name())?;
        match self.amount {
            Amount::Iops(operations) => write!(f, "{operations}"),
            Amount::Bandwidth(Bandwidth(bytes)) => f.write_str(&shortest(bytes)),
            Amount::Latency(_, span) => write!(f, "{span}"),
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wants = self.wants.iter().map(ToString::to_string);
        let size = self.size.map(|size| format!("size={}", shortest(size.0)));
        f.write_str(&wants.chain(size).collect::<Vec<_>>().join(","))
    }
}

serde_as_text! { Need, "what is needed of a storage, as \"iops=3000,latency_p99=5ms,size=1Ti\""; }

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn need(text: &str) -> Need {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_need_has_rates_latencies_and_a_size() {
        let all = need("iops=3k, latency_p99=5ms,write-bandwidth = 200MB/s,size=1Ti,read_latency_p99.9=20ms");
        let want = |direction, amount| Want { direction, amount };
        assert_eq!(
            all.wants,
            [
                want(None, Amount::Iops(3000.0)),
                want(None, Amount::Latency(LatencyFigure::P99, Span::from_milliseconds(5))),
                want(Some(Direction::Write), Amount::Bandwidth(Bandwidth(200_000_000))),
                want(Some(Direction::Read), Amount::Latency(LatencyFigure::P99_9, Span::from_milliseconds(20))),
            ]
        );
        assert_eq!(all.size, Some(ByteCount(1 << 40)));
        let text = "iops=3000,latency_p99=5ms,write_bandwidth=200MB,read_latency_p99_9=20ms,size=1TiB";
        assert_eq!(all.to_string(), text);
        assert!(all.has_rates() && all.has_latencies() && !need("size=1Ti").has_rates());
    }

    #[test]
    fn what_is_wrong_says_what_to_write() {
        for (text, words) in [
            ("", "write it as iops=3000"),
            ("3000", "write it as iops=3000"),
            ("iops=3000,", "write it as iops=3000"),
            ("iops=fast", "iops is operations a second, as iops=3000"),
            ("iops=100MB", "iops is operations a second"),
            ("iops=0", "iops is operations a second"),
            ("iops=-5", "iops is operations a second"),
            ("write_iops=1e20", "write_iops is operations a second"),
            ("bandwidth=200", "bandwidth is bytes a second with their unit, as bandwidth=200MB"),
            ("bandwidth=0MB", "bandwidth is bytes a second"),
            ("latency=5ms", "\"latency\" is none of iops, bandwidth, latency_mean"),
            ("latency_p98=5ms", "\"latency_p98\" is none of"),
            ("latency_p99=5", "latency_p99 is a time with its unit, as latency_p99=5ms"),
            ("latency_mean=0", "latency_mean is a time with its unit"),
            ("read_size=1Ti", "\"read_size\" is none of"),
            ("size=big", "size is what the storage has to hold, as size=1Ti"),
            ("size=0", "size is what the storage has to hold"),
            ("iops=1,iops=2", "iops stands there twice"),
            ("size=1Ti,size=1Ti", "size stands there twice"),
            ("sync_iops=5", "\"sync_iops\" is none of"),
        ] {
            let error = text.parse::<Need>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("\"{text}\" is not a need: ")), "{error}");
            assert!(error.contains(words), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_need_is_one_text_in_files() {
        let whole = need("iops=3000,size=1Ti");
        let text = serde_json::to_string(&whole).unwrap();
        assert_eq!(text, "\"iops=3000,size=1TiB\"");
        assert_eq!(serde_json::from_str::<Need>(&text).unwrap(), whole);
        assert!(serde_json::from_str::<Need>("3000").unwrap_err().to_string().contains("is not a need"));
    }

    fn wants() -> impl Strategy<Value = Need> {
        let direction = prop_oneof![
            Just(None),
            Just(Some(Direction::Read)),
            Just(Some(Direction::Write)),
            Just(Some(Direction::Sync))
        ];
        let figure = proptest::sample::select(LatencyFigure::ALL.to_vec());
        let amount = prop_oneof![
            (0.001..1e12_f64).prop_map(Amount::Iops),
            (1..1_u64 << 49).prop_map(|bytes| Amount::Bandwidth(Bandwidth(bytes))),
            (figure, 1..u64::MAX).prop_map(|(figure, ns)| Amount::Latency(figure, Span { ns })),
        ];
        let want = (direction, amount)
            .prop_filter("of syncs only latencies can be needed", |(direction, amount)| {
                *direction != Some(Direction::Sync) || matches!(amount, Amount::Latency(..))
            })
            .prop_map(|(direction, amount)| Want { direction, amount });
        let size = proptest::option::of((1..u64::MAX).prop_map(ByteCount));
        (proptest::collection::vec(want, 1..8), size).prop_map(|(mut wants, size)| {
            let mut names = Vec::new();
            wants.retain(|want| {
                let is_new = !names.contains(&want.name());
                names.push(want.name());
                is_new
            });
            Need { wants, size }
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(need in wants()) {
            prop_assert_eq!(need.to_string().parse(), Ok(need));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text: String, name in "[a-z_]{0,16}", value in "[0-9a-zA-Z./]{0,8}") {
            let _ = text.parse::<Need>();
            let _ = format!("{name}={value}").parse::<Need>();
        }
    }
}
