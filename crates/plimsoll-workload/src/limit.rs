//! What a storage is said to deliver, as people write it: `iops=300,burst-iops=3000,bucket=5.4M`.
//!
//! A sustained rate, and perhaps a burst: a higher rate that lasts until a bucket of operations (or bytes) above the
//! sustained rate is empty.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{ByteCount, Rate, ValueError, serde_as_text};

/// No storage does more operations or bytes a second, and no bucket holds more.
const AMOUNT_MAX: f64 = 1e15;

/// What a storage is said to deliver, of which at least one is there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// Operations.
    pub operations: Option<RateLimit>,
    /// Bytes.
    pub bytes: Option<RateLimit>,
}

/// A limit of either operations or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "RateLimitFields")]
pub struct RateLimit {
    /// A second, for ever.
    pub sustained: f64,
    /// A second, while the bucket holds any; at least the sustained rate.
    pub burst: Option<f64>,
    /// What a full bucket holds above the sustained rate; known of every burst.
    pub bucket: Option<f64>,
}

/// A limit as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RateLimitFields {
    sustained: Option<f64>,
    burst: Option<f64>,
    bucket: Option<f64>,
}

/// What the parts of a limit are called where it was written.
struct Names {
    sustained: &'static str,
    burst: &'static str,
    bucket: &'static str,
}

const OPERATIONS: Names = Names { sustained: "iops", burst: "burst-iops", bucket: "bucket" };
const BYTES: Names = Names { sustained: "bandwidth", burst: "burst-bandwidth", bucket: "bucket" };
const FIELDS: Names = Names { sustained: "sustained", burst: "burst", bucket: "bucket" };

impl RateLimit {
    /// The limit of these parts; `None` when there are none.
    fn new(fields: &RateLimitFields, names: &Names) -> Result<Option<Self>, ValueError> {
        let RateLimitFields { sustained, burst, bucket } = *fields;
        for (name, value) in [(names.sustained, sustained), (names.burst, burst), (names.bucket, bucket)] {
            // NaN is in no range.
            if value.is_some_and(|value| value <= 0.0 || !(0.0..=AMOUNT_MAX).contains(&value)) {
                return Err(ValueError::new(format!("{name} must be above 0 and at most 1e15")));
            }
        }
        let Some(sustained) = sustained else {
            let orphan = burst.map(|_| names.burst).or(bucket.map(|_| names.bucket));
            return orphan.map_or(Ok(None), |orphan| {
                Err(ValueError::new(format!("{orphan} says nothing without {}: add it", names.sustained)))
            });
        };
        match (burst, bucket) {
            (Some(_), None) => Err(ValueError::new(format!(
                "{} needs {}: how much above {} it lasts for",
                names.burst, names.bucket, names.sustained
            ))),
            (Some(burst), _) if burst < sustained => {
                Err(ValueError::new(format!("{} must be at least {}", names.burst, names.sustained)))
            }
            _ => Ok(Some(Self { sustained, burst, bucket })),
        }
    }
}

impl TryFrom<RateLimitFields> for RateLimit {
    type Error = ValueError;

    fn try_from(fields: RateLimitFields) -> Result<Self, ValueError> {
        Self::new(&fields, &FIELDS)?.ok_or_else(|| ValueError::new("sustained is missing"))
    }
}

impl FromStr for Limit {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let wrong = |why: &str| ValueError::new(format!("\"{text}\" is not a limit: {why}"));
        let mut operations = RateLimitFields { sustained: None, burst: None, bucket: None };
        let mut bytes = RateLimitFields { sustained: None, burst: None, bucket: None };
        for part in text.split(',').map(str::trim) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| wrong("write it as iops=3000, or as iops=300,burst-iops=3000,bucket=5.4M"))?;
            let (key, value) = (key.trim(), value.trim());
            let amount = Amount::of(value, key == "bucket");
            let (place, amount) = match (key, amount) {
                ("iops", Some(Amount::Operations(amount))) => (&mut operations.sustained, amount),
                ("burst-iops", Some(Amount::Operations(amount))) => (&mut operations.burst, amount),
                ("bucket", Some(Amount::Operations(amount))) => (&mut operations.bucket, amount),
                ("bandwidth", Some(Amount::Bytes(amount))) => (&mut bytes.sustained, amount),
                ("burst-bandwidth", Some(Amount::Bytes(amount))) => (&mut bytes.burst, amount),
                ("bucket", Some(Amount::Bytes(amount))) => (&mut bytes.bucket, amount),
                ("iops" | "burst-iops", _) => {
                    return Err(wrong(&format!("{key} is operations a second, as {key}=3000 or {key}=3k")));
                }
                ("bandwidth" | "burst-bandwidth", _) => {
                    return Err(wrong(&format!("{key} is bytes a second, as {key}=100MB or {key}=100MiB")));
                }
                ("bucket", _) => {
                    return Err(wrong("bucket is operations, as bucket=5.4M, or bytes, as bucket=100GB"));
                }
                _ => {
                    return Err(wrong(&format!(
                        "\"{key}\" is none of iops, burst-iops, bandwidth, burst-bandwidth, bucket"
                    )));
                }
            };
            if place.replace(amount).is_some() {
                return Err(wrong(&format!("{key} stands there twice")));
            }
        }
        let of = |fields: &RateLimitFields, names: &Names| {
            RateLimit::new(fields, names).map_err(|ValueError(why)| wrong(&why))
        };
        Ok(Self { operations: of(&operations, &OPERATIONS)?, bytes: of(&bytes, &BYTES)? })
    }
}

/// An amount with its unit.
enum Amount {
    Operations(f64),
    Bytes(f64),
}

impl Amount {
    /// Reads an amount, or one a second unless it is a bucket.
    fn of(text: &str, is_bucket: bool) -> Option<Self> {
        if is_bucket && text.ends_with("/s") {
            return None;
        }
        match text.parse().ok()? {
            Rate::Operations(amount) => Some(Self::Operations(amount)),
            Rate::Bytes(amount) => Some(Self::Bytes(amount as f64)),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operations: fn(f64) -> String = |amount| amount.to_string();
        let bytes: fn(f64) -> String = |amount| bytes(amount as u64);
        let mut parts = Vec::new();
        for (limit, names, written) in [(self.operations, OPERATIONS, operations), (self.bytes, BYTES, bytes)] {
            let Some(RateLimit { sustained, burst, bucket }) = limit else { continue };
            parts.push(format!("{}={}", names.sustained, written(sustained)));
            parts.extend(burst.map(|amount| format!("{}={}", names.burst, written(amount))));
            parts.extend(bucket.map(|amount| format!("{}={}", names.bucket, written(amount))));
        }
        f.write_str(&parts.join(","))
    }
}

/// An exact size in the units in which it is shorter: storage is sold in decimal ones.
fn bytes(amount: u64) -> String {
    const UNITS: [(&str, u64); 4] =
        [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    let binary = ByteCount(amount).to_string();
    let decimal = UNITS.iter().find(|(_, unit)| amount.is_multiple_of(*unit));
    let decimal = decimal.map(|(name, unit)| format!("{}{name}", amount / unit));
    decimal.filter(|decimal| decimal.len() < binary.len()).unwrap_or(binary)
}

serde_as_text! { Limit, "what a storage delivers, as \"iops=3000\" or \"iops=300,burst-iops=3000,bucket=5.4M\""; }

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limit(text: &str) -> Limit {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_limit_is_of_operations_of_bytes_or_of_both() {
        let burst = RateLimit { sustained: 300.0, burst: Some(3000.0), bucket: Some(5_400_000.0) };
        assert_eq!(limit("iops=300,burst-iops=3k,bucket=5.4M"), Limit { operations: Some(burst), bytes: None });
        let plain = RateLimit { sustained: 1e8, burst: None, bucket: None };
        assert_eq!(limit(" bandwidth = 100MB/s "), Limit { operations: None, bytes: Some(plain) });
        let both = limit("bucket=126GB,bucket=5400000,burst-bandwidth=170MB,bandwidth=100MB,iops=500,burst-iops=3500");
        assert_eq!(both.bytes, Some(RateLimit { sustained: 1e8, burst: Some(1.7e8), bucket: Some(1.26e11) }));
        assert_eq!(both.operations.and_then(|limit| limit.bucket), Some(5_400_000.0));
    }

    #[test]
    fn what_is_wrong_says_what_to_write() {
        for (text, words) in [
            ("", "write it as iops=3000"),
            ("3000", "write it as iops=3000"),
            ("iops=3000,", "write it as iops=3000"),
            ("iops=fast", "iops is operations a second, as iops=3000"),
            ("iops=100MB", "iops is operations a second"),
            ("burst-iops=0", "burst-iops is operations a second"),
            ("bandwidth=100", "bandwidth is bytes a second, as bandwidth=100MB"),
            ("iops=300,bucket=5.4M/s", "bucket is operations, as bucket=5.4M, or bytes"),
            ("iops=300,bucket=-1", "bucket is operations"),
            ("rate=3", "\"rate\" is none of iops, burst-iops"),
            ("iops=300,iops=300", "iops stands there twice"),
            ("burst-iops=3000,bucket=5.4M", "burst-iops says nothing without iops"),
            ("iops=300,burst-iops=3000", "burst-iops needs bucket"),
            ("iops=300,burst-iops=3000,bucket=100GB", "burst-iops needs bucket"),
            ("iops=300,bucket=100GB", "bucket says nothing without bandwidth"),
            ("iops=300,burst-iops=200,bucket=1", "burst-iops must be at least iops"),
            ("iops=1e20", "iops is operations a second"),
            ("iops=9999999999999999", "iops must be above 0 and at most 1e15"),
        ] {
            let error = text.parse::<Limit>().unwrap_err().to_string();
            assert!(error.contains(words), "{text:?}: {error}");
        }
    }

    #[test]
    fn sizes_are_written_as_they_are_sold() {
        for text in ["bandwidth=400MB", "bandwidth=100GB,bucket=1GiB", "bandwidth=1234567B", "bandwidth=64KiB"] {
            assert_eq!(limit(text).to_string(), text);
        }
    }

    #[test]
    fn limits_of_a_file_are_checked_alike_and_errors_tell_the_line() {
        let read = |text: &str| {
            let limits = serde_json::from_str::<[RateLimit; 1]>(&format!("[\n{text}\n]"));
            limits.map(|[limit]| limit).map_err(|error| error.to_string())
        };
        let whole = r#"{"sustained": 300, "burst": 3000.5, "bucket": 5.4e6}"#;
        assert_eq!(read(whole), Ok(RateLimit { sustained: 300.0, burst: Some(3000.5), bucket: Some(5.4e6) }));
        for (text, words) in [
            (r#"{"bucket": 3}"#, "bucket says nothing without sustained"),
            ("{}", "sustained is missing"),
            (r#"{"sustained": -1}"#, "sustained must be above 0"),
            (r#"{"sustained": 2, "burst": 3}"#, "burst needs bucket"),
            (r#"{"sustained": 2, "burst": 1, "bucket": 1}"#, "burst must be at least sustained"),
            (r#"{"sustained": 2, "size": 1}"#, "unknown field `size`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words) && error.contains("line "), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_limit_parses_back(
            sustained in 0.001..1e9_f64,
            more in 0.0..1e9_f64,
            bytes in 1..1_000_000_000_000_u64,
            has_burst: bool,
            has_bytes: bool,
        ) {
            let operations = RateLimit {
                sustained,
                burst: has_burst.then_some(sustained + more),
                bucket: has_burst.then_some(more + 1.0),
            };
            let of_bytes = RateLimit { sustained: bytes as f64, burst: None, bucket: Some(bytes as f64) };
            let limit = Limit { operations: Some(operations), bytes: has_bytes.then_some(of_bytes) };
            prop_assert_eq!(limit.to_string().parse(), Ok(limit));
            let json = serde_json::to_string(&limit).unwrap();
            prop_assert_eq!(serde_json::from_str::<Limit>(&json).unwrap(), limit);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[a-z0-9.=,/ MGB-]{0,60}", any: String) {
            let _ = text.parse::<Limit>();
            let _ = any.parse::<Limit>();
        }
    }
}
