//! What the storage of a cell is said to deliver, beside what it did.

use plimsoll_measure::verdict::Verdict;
use plimsoll_workload::limit::{Expected, Part};
use serde::{Deserialize, Serialize};

use crate::{
    numbers,
    record::{Cell, Kind},
};

/// A steady rate hits a limit from this share of it on.
const HIT_FROM: f64 = 0.97;
/// And up to this one: what exceeds it shows that the limit is another.
const HIT_TO: f64 = 1.05;

/// What is said to be possible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellLimit {
    /// Operations per second that last.
    pub iops: Option<f64>,
    /// Operations per second while a burst allowance lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_iops: Option<f64>,
    /// Operations above the lasting rate that the allowance holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket_operations: Option<f64>,
    /// Bytes per second that last.
    pub bytes_per_second: Option<f64>,
    /// Bytes per second while a burst allowance lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_bytes_per_second: Option<f64>,
    /// Bytes above the lasting rate that the allowance holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket_bytes: Option<f64>,
    /// Which part of the way binds operations in the long run.
    #[serde(default)]
    pub operations_by: Part,
    /// Which part binds bytes in the long run.
    #[serde(default)]
    pub bytes_by: Part,
    /// Where that is said: `given` by whoever asked for the run, or the parts that a catalog knows.
    pub source: String,
    /// Which limit decided the rate.
    pub hit: Hit,
}

/// What decided a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Hit {
    /// The lasting limit of the storage.
    Disk,
    /// The limit of the virtual machine.
    Vm,
    /// A burst allowance.
    Burst,
    /// A cache answered, so no limit of the storage did.
    Cache,
    /// The machine that measured.
    Client,
    /// A level rate below all limits that are known: what the workload itself takes.
    None,
    /// There is no claim about the rate, it exceeds the limit, or it is a part of what cells had at the same time.
    #[default]
    Unknown,
}

/// A rate and a limit of it, in one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// What was measured.
    pub rate: f64,
    /// What is said to be possible.
    pub limit: f64,
    /// Which part of the way that is of.
    pub part: Part,
    /// Whether both are bytes a second, and not operations.
    pub is_of_bytes: bool,
    /// Whether it is that of a burst.
    pub is_of_burst: bool,
}

impl Bound {
    /// The rate as a share of the limit.
    pub fn share(self) -> f64 {
        self.rate / self.limit
    }

    /// The limit in words: `burst limit of 3,500 IOPS`.
    pub fn words(self) -> String {
        let (amount, unit) = if self.is_of_bytes {
            (numbers::throughput(self.limit), numbers::THROUGHPUT_UNIT)
        } else {
            (numbers::iops(self.limit), "IOPS")
        };
        format!("{}limit of {amount} {unit}", if self.is_of_burst { "burst " } else { "" })
    }
}

impl CellLimit {
    /// What a load with operations of so many bytes is expected to get.
    pub fn of(expected: &Expected, operation_bytes: f64) -> Self {
        let limit = expected.limit.for_operations_of(operation_bytes);
        let (operations, bytes) = (limit.operations, limit.bytes);
        Self {
            iops: operations.map(|limit| limit.sustained),
            burst_iops: operations.and_then(|limit| limit.burst),
            bucket_operations: operations.and_then(|limit| limit.bucket),
            bytes_per_second: bytes.map(|limit| limit.sustained),
            burst_bytes_per_second: bytes.and_then(|limit| limit.burst),
            bucket_bytes: bytes.and_then(|limit| limit.bucket),
            operations_by: expected.operations_by,
            bytes_by: expected.bytes_by,
            source: expected.source.clone(),
            hit: Hit::Unknown,
        }
    }

    /// The lasting limit that a rate is closest to, or furthest above.
    fn sustained(&self, of: Rates) -> Option<Bound> {
        self.closest(of, self.iops, self.bytes_per_second)
    }

    /// The same of what not even a burst exceeds. Where a burst has a bucket and no rate, nobody knows how fast it is.
    fn highest(&self, of: Rates) -> Option<Bound> {
        let highest = |sustained, burst: Option<f64>, bucket: Option<f64>| match bucket {
            Some(_) => burst,
            None => sustained,
        };
        let bound = self.closest(
            of,
            highest(self.iops, self.burst_iops, self.bucket_operations),
            highest(self.bytes_per_second, self.burst_bytes_per_second, self.bucket_bytes),
        )?;
        let bucket = if bound.is_of_bytes { self.bucket_bytes } else { self.bucket_operations };
        Some(Bound { is_of_burst: bucket.is_some(), ..bound })
    }

    fn closest(&self, of: Rates, iops: Option<f64>, bytes_per_second: Option<f64>) -> Option<Bound> {
        let bound = |rate, limit, part, is_of_bytes| Bound { rate, limit, part, is_of_bytes, is_of_burst: false };
        let operations = iops.map(|limit| bound(of.iops, limit, self.operations_by, false));
        let bytes = bytes_per_second.map(|limit| bound(of.bytes_per_second, limit, self.bytes_by, true));
        operations.into_iter().chain(bytes).max_by(|one, other| one.share().total_cmp(&other.share()))
    }
}

/// The rates of a cell, reads and writes together.
#[derive(Clone, Copy, Debug)]
struct Rates {
    iops: f64,
    bytes_per_second: f64,
}

impl Cell {
    /// The lasting limit that the rate is closest to, or furthest above.
    pub fn sustained_bound(&self) -> Option<Bound> {
        self.limit.as_ref()?.sustained(self.rates()?)
    }

    /// The same of what not even a burst exceeds.
    pub fn highest_bound(&self) -> Option<Bound> {
        self.limit.as_ref()?.highest(self.rates()?)
    }

    fn rates(&self) -> Option<Rates> {
        // How many operations of the storage a file takes is up to its file system.
        if self.kind == Kind::Files {
            return None;
        }
        let directions = || [&self.read, &self.write].into_iter().flatten();
        directions().next()?;
        Some(Rates {
            iops: directions().map(|direction| direction.iops).sum(),
            bytes_per_second: directions().map(|direction| direction.bytes_per_second).sum(),
        })
    }

    /// Which limit decided the rate, now that it has its verdict. A part of what all of these cells had says that of
    /// none.
    pub(crate) fn limit_hit(&self, cells: &[Self]) -> Hit {
        hit(self.verdict, self.sustained_bound().filter(|_| !self.shared_its_target(cells)))
    }
}

/// What decided a rate beside what lasts.
fn hit(verdict: Option<Verdict>, bound: Option<Bound>) -> Hit {
    match (verdict, bound.map(Bound::share)) {
        (Some(Verdict::Cached), _) => Hit::Cache,
        (Some(Verdict::ClientLimited), _) => Hit::Client,
        (Some(Verdict::Burst), _) => Hit::Burst,
        (Some(Verdict::Steady), Some(share)) if share < HIT_FROM => Hit::None,
        (Some(Verdict::Steady), Some(share)) if share <= HIT_TO => match bound.map(|bound| bound.part) {
            Some(Part::Vm) => Hit::Vm,
            Some(Part::Disk | Part::Pool) | None => Hit::Disk,
        },
        _ => Hit::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn bound(rate: f64, limit: f64) -> Bound {
        Bound { rate, limit, part: Part::Disk, is_of_bytes: false, is_of_burst: false }
    }

    fn given(text: &str) -> CellLimit {
        CellLimit::of(&Expected::given(text.parse().unwrap_or_else(|error| panic!("{error}"))), 4096.0)
    }

    #[test]
    fn the_limit_that_a_rate_is_closest_to_counts() {
        let limit = given("iops=5000,bandwidth=100MB");
        let small = Rates { iops: 4_900.0, bytes_per_second: 20e6 };
        assert_eq!(limit.sustained(small), Some(bound(4_900.0, 5_000.0)));
        let large = Rates { iops: 99.0, bytes_per_second: 99e6 };
        assert_eq!(limit.sustained(large), Some(Bound { is_of_bytes: true, ..bound(99e6, 100e6) }));
    }

    #[test]
    fn a_burst_is_the_most_that_is_possible_and_an_unknown_one_is_no_limit() {
        let of = Rates { iops: 3_000.0, bytes_per_second: 12e6 };
        let burst = given("iops=300,burst-iops=3000,bucket=5.4M");
        let highest = Bound { is_of_burst: true, ..bound(3_000.0, 3_000.0) };
        assert_eq!(burst.highest(of), Some(highest));
        assert_eq!(highest.words(), "burst limit of 3,000 IOPS");
        assert_eq!(burst.sustained(of).map(Bound::share), Some(10.0));
        assert_eq!(given("iops=300").highest(of).map(Bound::share), Some(10.0));
        assert_eq!(given("iops=300,bucket=5.4M").highest(of), None);
        let bytes = given("iops=300,bucket=5.4M,bandwidth=24MB").highest(of).unwrap();
        assert_eq!((bytes.share(), bytes.words().as_str()), (0.5, "limit of 24.0 MB/s"));
    }

    #[test]
    fn only_a_steady_rate_at_the_limit_hits_it() {
        for (verdict, share, expected) in [
            (Verdict::Steady, 0.995, Hit::Disk),
            (Verdict::Steady, 1.04, Hit::Disk),
            (Verdict::Steady, 0.6, Hit::None),
            (Verdict::Steady, 1.2, Hit::Unknown),
            (Verdict::Short, 0.995, Hit::Unknown),
            (Verdict::Unstable, 0.995, Hit::Unknown),
            (Verdict::Drifting, 0.995, Hit::Unknown),
            (Verdict::Burst, 10.0, Hit::Burst),
            (Verdict::Cached, 30.0, Hit::Cache),
            (Verdict::ClientLimited, 0.995, Hit::Client),
        ] {
            assert_eq!(hit(Some(verdict), Some(bound(share, 1.0))), expected, "{verdict:?} at {share}");
        }
        assert_eq!(hit(None, Some(bound(1.0, 1.0))), Hit::Unknown);
        let of_machine = Bound { part: Part::Vm, ..bound(0.99, 1.0) };
        assert_eq!(hit(Some(Verdict::Steady), Some(of_machine)), Hit::Vm);
    }
}
