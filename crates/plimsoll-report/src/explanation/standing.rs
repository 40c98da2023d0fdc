//! How a rate stands beside what was to be expected.

use plimsoll_catalog::{
    bucket::{self, Bucket},
    ceiling::Tolerance,
};
use plimsoll_record::figures::Operation;
use plimsoll_workload::limit::{Expected, Limit, Part, RateLimit};
use serde::Serialize;

use super::did::Did;

/// A rate this many times the most that is possible was answered by something else.
const IMPOSSIBLE_FROM: f64 = 2.0;

/// How a rate stands beside what was to be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// What lasts, within the tolerance of the product.
    Within,
    /// More than lasts, but not more than credits allow.
    BurstOnly,
    /// Less than lasts.
    Under,
    /// More than is possible, by less than twice.
    Over,
    /// So much more than is possible that something else answered; or more at all, when the run saw a cache answer.
    Impossible,
}

impl Standing {
    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::BurstOnly => "burst-only",
            Self::Under => "under",
            Self::Over => "over",
            Self::Impossible => "impossible",
        }
    }
}

/// How a rate stands beside what was to be expected of it, burst credits included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    /// As much, within the tolerance of the product.
    Within,
    /// Less.
    Under,
    /// More, by less than twice.
    Over,
    /// So much more that something else answered; or more at all, when the run saw a cache answer.
    Impossible,
}

/// What a rate is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Operations per second.
    Iops,
    /// Files per second.
    FilesPerSecond,
    /// Bytes per second.
    BytesPerSecond,
}

/// A rate beside the limit that it is closest to, or furthest above.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// Which operations.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub operation: Operation,
    /// What it is counted in.
    pub unit: Unit,
    /// What was measured.
    pub measured: f64,
    /// The ends of its 95 % interval; null where nobody knows how sure it is.
    pub interval: Option<[f64; 2]>,
    /// What lasts.
    pub lasting: f64,
    /// The most that is possible while credits last; null when there are none.
    pub burst: Option<f64>,
    /// How long credits last at that rate, in seconds.
    pub burst_seconds: Option<f64>,
    /// How long an empty bucket takes to be full when nothing is done, in seconds.
    pub refill_seconds: Option<f64>,
    /// What a load of this length would get on average from a full bucket; null when its length is not known.
    pub mean_from_full: Option<f64>,
    /// Which part of the way binds.
    pub part: Part,
    /// How exactly that part is kept.
    pub tolerance: Tolerance,
    /// How it stands beside what lasts.
    pub standing: Standing,
    /// What was to be expected: what lasts, or where credits were used what they give.
    pub expected: f64,
    /// How it stands beside that.
    pub reached: Reached,
    /// Whether it is known how many bytes per second were bought.
    #[serde(skip)]
    pub(crate) knows_bytes: bool,
}

impl Judged {
    /// The measured rate as a share of what was to be expected.
    pub fn share(&self) -> f64 {
        self.measured / self.expected
    }

    /// The least that is still what was to be expected.
    pub fn least(&self) -> f64 {
        self.expected * (1.0 - self.tolerance.under)
    }

    /// The same of a cell of which the run saw that a cache answered: what is more than was bought came from there.
    pub(super) fn of_cached(mut self) -> Self {
        if self.standing == Standing::Over {
            (self.standing, self.reached) = (Standing::Impossible, Reached::Impossible);
        }
        self
    }

    /// Whether it is what a full bucket gives over its length.
    pub fn is_mean_from_full(&self) -> bool {
        self.mean_from_full.is_some_and(|mean| is_within(self.measured, mean, self.tolerance))
            && self.standing == Standing::BurstOnly
    }
}

fn is_within(rate: f64, limit: f64, tolerance: Tolerance) -> bool {
    (limit * (1.0 - tolerance.under)..=limit * (1.0 + tolerance.over)).contains(&rate)
}

/// Sets what was done beside what was expected; `None` when nothing is expected of its kind.
pub(super) fn judge(
    did: &Did,
    expected: &Expected,
    operation_bytes: Option<f64>,
    elapsed_s: Option<f64>,
    parts: &[Limit],
    tolerance: impl Fn(Part) -> Tolerance,
) -> Option<Judged> {
    let limit = expected.limit;
    let knows_bytes = limit.bytes.is_some();
    let candidates = [
        (Unit::Iops, did.iops, limit.operations, expected.operations_by),
        (Unit::BytesPerSecond, did.bytes_per_second, limit.bytes, expected.bytes_by),
    ];
    let known = candidates.into_iter().filter_map(|(unit, rate, limit, part)| Some((unit, rate?, limit?, part)));
    let share = |(_, rate, limit, _): &(Unit, f64, RateLimit, Part)| rate / limit.sustained;
    let (unit, measured, limit, part) = known.max_by(|one, other| share(one).total_cmp(&share(other)))?;
    let tolerance = tolerance(part);
    let mean_from_full = elapsed_s.filter(|_| limit.bucket.is_some()).map(|seconds| {
        let all = parts.iter().flat_map(|limit| both(limit, unit, operation_bytes));
        bucket::mean(&bucket::serve(&mut all.map(Bucket::full).collect::<Vec<_>>(), f64::INFINITY, seconds))
    });
    let mean_from_full = mean_from_full.filter(|mean| mean.is_finite());
    let burst = limit.burst;
    let standing = standing(measured, limit, mean_from_full, tolerance);
    let expected = match (standing, mean_from_full, burst) {
        (Standing::BurstOnly | Standing::Over | Standing::Impossible, Some(mean), _) => mean,
        (Standing::BurstOnly | Standing::Over | Standing::Impossible, None, Some(burst)) => burst,
        _ => limit.sustained,
    };
    let reached = match standing {
        Standing::BurstOnly if measured < expected * (1.0 - tolerance.under) => Reached::Under,
        Standing::Within | Standing::BurstOnly => Reached::Within,
        Standing::Under => Reached::Under,
        Standing::Over => Reached::Over,
        Standing::Impossible => Reached::Impossible,
    };
    Some(Judged {
        operation: did.operation,
        unit,
        measured,
        interval: did.iops_interval.zip(did.iops).filter(|(_, iops)| *iops > 0.0).map(|(ends, iops)| {
            // Bytes are as sure as the operations that carry them.
            ends.map(|end| end * measured / iops)
        }),
        lasting: limit.sustained,
        burst,
        burst_seconds: burst.and_then(|burst| bucket::burst_seconds(limit, burst)),
        refill_seconds: bucket::refill_seconds(limit),
        mean_from_full,
        part,
        tolerance,
        standing,
        expected,
        reached,
        knows_bytes,
    })
}

/// The limits of operations and of bytes, in one unit.
fn both(limit: &Limit, unit: Unit, operation_bytes: Option<f64>) -> impl Iterator<Item = RateLimit> + use<> {
    let (operations, bytes) = (limit.operations, limit.bytes);
    let size = operation_bytes.filter(|bytes| *bytes > 1.0);
    let [one, other] = match unit {
        Unit::Iops | Unit::FilesPerSecond => {
            [operations, size.and_then(|size| bytes.map(|limit| limit.times(1.0 / size)))]
        }
        Unit::BytesPerSecond => [bytes, size.and_then(|size| operations.map(|limit| limit.times(size)))],
    };
    one.into_iter().chain(other)
}

fn standing(rate: f64, limit: RateLimit, mean_from_full: Option<f64>, tolerance: Tolerance) -> Standing {
    let lasting = limit.sustained;
    if is_within(rate, lasting, tolerance) {
        return Standing::Within;
    }
    if rate < lasting {
        return Standing::Under;
    }
    let highest = match (mean_from_full, limit.highest()) {
        (Some(mean), _) => mean,
        (None, Some(highest)) => highest,
        // A burst of which nobody knows how fast it is.
        (None, None) => return Standing::BurstOnly,
    };
    match rate / highest {
        share if limit.bucket.is_some() && share <= 1.0 + tolerance.over => Standing::BurstOnly,
        share if share < IMPOSSIBLE_FROM => Standing::Over,
        _ => Standing::Impossible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P2: RateLimit = RateLimit { sustained: 120.0, burst: Some(3500.0), bucket: Some(6_084_000.0) };

    fn judged(iops: f64, elapsed_s: Option<f64>, limit: RateLimit) -> Judged {
        let did = Did { operation: Operation::Write, iops: Some(iops), bytes_per_second: None, iops_interval: None };
        let expected = Expected::given(plimsoll_workload::limit::Limit {
            operations: Some(limit),
            ..plimsoll_workload::limit::Limit::default()
        });
        judge(&did, &expected, Some(4096.0), elapsed_s, &[expected.limit], |_| Tolerance::USUAL).unwrap()
    }

    #[test]
    fn an_hour_is_judged_by_what_a_full_bucket_gives_in_it() {
        let hour = judged(1838.0, Some(3600.0), P2);
        assert_eq!((hour.expected.round(), hour.reached), (1810.0, Reached::Within));
        assert_eq!((hour.standing, hour.mean_from_full.map(f64::round)), (Standing::BurstOnly, Some(1810.0)));
        assert!(hour.is_mean_from_full() && (hour.share() - 1.0155).abs() < 1e-3);
        assert_eq!(judged(121.6, Some(3600.0), P2).standing, Standing::Within);
        assert_eq!(judged(900.0, Some(3600.0), P2).standing, Standing::BurstOnly);
        assert_eq!(judged(2500.0, Some(3600.0), P2).standing, Standing::Over);
        assert_eq!(judged(2500.0, None, P2).standing, Standing::BurstOnly);
        assert_eq!(judged(3500.0, Some(60.0), P2).standing, Standing::BurstOnly);
    }

    #[test]
    fn each_word_has_its_range() {
        let limit = RateLimit::lasting(5000.0);
        for (iops, standing) in [
            (4700.0, Standing::Under),
            (4800.0, Standing::Within),
            (5210.0, Standing::Within),
            (5300.0, Standing::Over),
            (9900.0, Standing::Over),
            (10_000.0, Standing::Impossible),
        ] {
            assert_eq!(judged(iops, None, limit).standing, standing, "{iops}");
        }
    }
}
