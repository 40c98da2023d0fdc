//! What a storage is said to deliver, as people write it: `iops=300,burst-iops=3000,bucket=5.4M`.
//!
//! A sustained rate, and perhaps a burst: a higher rate that lasts until a bucket of operations (or bytes) above the
//! sustained rate is empty.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{ByteCount, Rate, ValueError, serde_as_text, shortest};

/// No storage does more operations or bytes a second, and no bucket holds more.
const AMOUNT_MAX: f64 = 1e15;

/// What a storage is said to deliver, of which at least one is there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// Operations.
    pub operations: Option<RateLimit>,
    /// Bytes.
    pub bytes: Option<RateLimit>,
    /// An operation counts once for each so many bytes that it begins; without it every operation counts once.
    pub io_size: Option<ByteCount>,
}

/// Which part of the way to a storage a limit is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The disk, volume or share; several when they are striped.
    #[default]
    Disk,
    /// The pool that it shares with others.
    Pool,
    /// The virtual machine's limit for remote disks.
    Vm,
}

/// What a load is expected to get, and what that follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expected {
    /// What its storage is said to deliver, for its mix of reads and writes.
    pub limit: Limit,
    /// Which part binds operations in the long run.
    #[serde(default)]
    pub operations_by: Part,
    /// Which part binds bytes in the long run.
    #[serde(default)]
    pub bytes_by: Part,
    /// Where that is said.
    pub source: String,
}

/// The source of a limit that somebody typed.
pub const GIVEN: &str = "given";

impl Expected {
    /// What somebody says that a storage delivers.
    pub fn given(limit: Limit) -> Self {
        Self { limit, operations_by: Part::Disk, bytes_by: Part::Disk, source: GIVEN.to_owned() }
    }
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

impl RateLimit {
    /// A limit without a burst.
    pub const fn lasting(sustained: f64) -> Self {
        Self { sustained, burst: None, bucket: None }
    }

    /// Whether it is one that somebody could have written: records may hold anything.
    pub fn is_plausible(&self) -> bool {
        let parts = [Some(self.sustained), self.burst, self.bucket];
        parts.into_iter().flatten().all(|part| part > 0.0 && part <= AMOUNT_MAX)
            && self.burst.is_none_or(|burst| burst >= self.sustained && self.bucket.is_some())
    }

    /// The most that it ever lets through: the burst, where there is one; `None` where its rate is not known.
    pub const fn highest(&self) -> Option<f64> {
        match (self.burst, self.bucket) {
            (None, Some(_)) => None,
            (Some(burst), _) => Some(burst),
            (None, None) => Some(self.sustained),
        }
    }

    /// So many of it side by side.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let scaled = |amount: Option<f64>| amount.map(|amount| amount * factor);
        Self { sustained: self.sustained * factor, burst: scaled(self.burst), bucket: scaled(self.bucket) }
    }
}

impl Limit {
    /// So many of it side by side.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let scaled = |limit: Option<RateLimit>| limit.map(|limit| limit.times(factor));
        Self { operations: scaled(self.operations), bytes: scaled(self.bytes), io_size: self.io_size }
    }

    /// What it means for operations of so many bytes, each of which then counts once.
    #[must_use]
    pub fn for_operations_of(self, bytes: f64) -> Self {
        let counts = self.io_size.map_or(1.0, |size| (bytes / size.0 as f64).ceil().max(1.0));
        Self { operations: self.operations.map(|limit| limit.times(1.0 / counts)), bytes: self.bytes, io_size: None }
    }
}

/// Disks that have a limit in common: a controller, a storage account, or what is behind them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Common {
    /// How many of the disks in question.
    pub disks: u32,
    /// What they get together.
    pub limit: Limit,
}

impl Limit {
    /// What both let through together in the long run, in each dimension.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        let operations = lower(self.operations, other.operations);
        // What counts as an operation goes with their limit.
        let io_size = if operations == self.operations { self.io_size } else { other.io_size };
        Self { operations, bytes: lower(self.bytes, other.bytes), io_size }
    }

    /// What so many disks get of what some of them have in common, when each does an equal part of all: the others
    /// wait for those whose limit is full first.
    pub fn of_equal_parts(commons: &[Common], disks: u32) -> Option<Self> {
        let of = |common: &Common| common.limit.times(f64::from(disks) / f64::from(common.disks.max(1)));
        commons.iter().map(of).reduce(Self::least)
    }

    /// The same when each does what it can, which is `alone` where nothing else holds it back.
    pub fn of_disks_apart(commons: &[Common], disks: u32, alone: Option<Self>) -> Option<Self> {
        let others = disks.saturating_sub(commons.iter().map(|common| common.disks).sum());
        let sum = |of: fn(&Self) -> Option<RateLimit>| {
            let of_disks = |count: u32| Some(of(alone.as_ref()?)?.times(count.into()));
            let mut parts: Vec<Option<RateLimit>> =
                commons.iter().map(|common| lower(of(&common.limit), of_disks(common.disks))).collect();
            parts.extend((others > 0).then(|| of_disks(others)));
            let parts: Option<Vec<RateLimit>> = parts.into_iter().collect();
            Some(RateLimit::lasting(parts?.iter().map(|part| part.sustained).sum()))
        };
        let io_size = commons.first()?.limit.io_size;
        let all = Self { operations: sum(|limit| limit.operations), bytes: sum(|limit| limit.bytes), io_size };
        (all.operations.is_some() || all.bytes.is_some()).then_some(all)
    }
}

/// The one that is lower in the long run.
fn lower(one: Option<RateLimit>, other: Option<RateLimit>) -> Option<RateLimit> {
    one.into_iter().chain(other).min_by(|one, other| one.sustained.total_cmp(&other.sustained))
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
        let mut io_size = None;
        for part in text.split(',').map(str::trim) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| wrong("write it as iops=3000, or as iops=300,burst-iops=3000,bucket=5.4M"))?;
            let (key, value) = (key.trim(), value.trim());
            if key == "io-size" {
                let size = value.parse().ok().filter(|size: &ByteCount| size.0 > 0);
                let size = size.ok_or_else(|| wrong("io-size is a size in bytes, as io-size=256KiB"))?;
                if io_size.replace(size).is_some() {
                    return Err(wrong("io-size stands there twice"));
                }
                continue;
            }
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
                        "\"{key}\" is none of iops, burst-iops, bandwidth, burst-bandwidth, bucket, io-size"
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
        let limit = Self { operations: of(&operations, &OPERATIONS)?, bytes: of(&bytes, &BYTES)?, io_size };
        if io_size.is_some() && limit.operations.is_none() {
            return Err(wrong("io-size says nothing without iops: add it"));
        }
        Ok(limit)
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
        let bytes: fn(f64) -> String = |amount| shortest(amount as u64);
        let mut parts = Vec::new();
        for (limit, names, written) in [(self.operations, OPERATIONS, operations), (self.bytes, BYTES, bytes)] {
            let Some(RateLimit { sustained, burst, bucket }) = limit else { continue };
            parts.push(format!("{}={}", names.sustained, written(sustained)));
            parts.extend(burst.map(|amount| format!("{}={}", names.burst, written(amount))));
            parts.extend(bucket.map(|amount| format!("{}={}", names.bucket, written(amount))));
        }
        parts.extend(self.io_size.map(|size| format!("io-size={size}")));
        f.write_str(&parts.join(","))
    }
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
    fn what_disks_have_in_common_binds_each_dimension_by_itself() {
        let common = |disks, limit: &str| Common { disks, limit: limit.parse().unwrap() };
        let rates = |limit: Option<Limit>| {
            let of = |rate: Option<RateLimit>| rate.map(|rate| rate.sustained);
            limit.map(|limit| (of(limit.operations), of(limit.bytes)))
        };
        let two = [common(2, "iops=800"), common(2, "bandwidth=1MB")];
        assert_eq!(rates(Limit::of_equal_parts(&two, 4)), Some((Some(1600.0), Some(2e6))));
        // The two of three in one group are what the third waits for, unless it has jobs of its own.
        let uneven = [common(2, "iops=700"), common(1, "iops=700")];
        assert_eq!(rates(Limit::of_equal_parts(&uneven, 3)), Some((Some(1050.0), None)));
        let alone = "iops=500".parse().ok();
        assert_eq!(rates(Limit::of_disks_apart(&uneven, 3, alone)), Some((Some(1200.0), None)));
        assert_eq!(rates(Limit::of_disks_apart(&uneven, 3, None)), Some((Some(1400.0), None)));
        // Nothing is known of a disk that is in no group, and then nothing of all.
        assert_eq!(Limit::of_disks_apart(&uneven, 4, None), None);
        assert_eq!(rates(Limit::of_disks_apart(&uneven, 4, alone)), Some((Some(1700.0), None)));
        assert_eq!((Limit::of_equal_parts(&[], 2), Limit::of_disks_apart(&[], 2, alone)), (None, None));
        let sized: Limit = "iops=100,io-size=256KiB".parse().unwrap();
        assert_eq!(sized.least("iops=200,bandwidth=5MB".parse().unwrap()).io_size, sized.io_size);
    }

    #[test]
    fn a_limit_is_of_operations_of_bytes_or_of_both() {
        let burst = RateLimit { sustained: 300.0, burst: Some(3000.0), bucket: Some(5_400_000.0) };
        assert_eq!(limit("iops=300,burst-iops=3k,bucket=5.4M"), Limit { operations: Some(burst), ..Limit::default() });
        let plain = RateLimit { sustained: 1e8, burst: None, bucket: None };
        assert_eq!(limit(" bandwidth = 100MB/s "), Limit { bytes: Some(plain), ..Limit::default() });
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
            ("iops=300,io-size=0", "io-size is a size in bytes, as io-size=256KiB"),
            ("iops=300,io-size=4k,io-size=4k", "io-size stands there twice"),
            ("bandwidth=1MB,io-size=4k", "io-size says nothing without iops"),
            ("iops=1e20", "iops is operations a second"),
            ("iops=9999999999999999", "iops must be above 0 and at most 1e15"),
        ] {
            let error = text.parse::<Limit>().unwrap_err().to_string();
            assert!(error.contains(words), "{text:?}: {error}");
        }
    }

    #[test]
    fn an_operation_larger_than_the_accounted_size_counts_as_several() {
        let disk = limit("iops=5000,burst-iops=6000,bucket=60k,io-size=256KiB,bandwidth=200MB");
        for (bytes, iops) in [(512.0, 5000.0), (262_144.0, 5000.0), (262_145.0, 2500.0), (1_048_576.0, 1250.0)] {
            let limit = disk.for_operations_of(bytes);
            assert_eq!(limit.operations.map(|limit| limit.sustained), Some(iops), "{bytes}");
            assert_eq!((limit.bytes, limit.io_size), (disk.bytes, None));
        }
        let large = disk.for_operations_of(1_048_576.0).operations;
        assert_eq!(large.and_then(|limit| limit.bucket), Some(15_000.0));
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
            let io_size = has_bytes.then_some(ByteCount(bytes));
            let limit = Limit { operations: Some(operations), bytes: has_bytes.then_some(of_bytes), io_size };
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
