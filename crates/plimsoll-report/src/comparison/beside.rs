//! Applications beside synthetic loads: whether the storage that has more IOPS also makes an application faster.

use plimsoll_measure::verdict::Verdict;
use plimsoll_record::word::Word;
use serde::Serialize;

use super::{CellPair, MetricPair, Pair, metric::Metric, words};

/// Storage that differs by less than this says nothing of what an application makes of it.
const DIFFERS_MIN: f64 = 1.5;
/// The same of a load of which nobody knows how sure its numbers are.
const DIFFERS_WITHOUT_INTERVAL_MIN: f64 = DIFFERS_MIN * DIFFERS_MIN;
/// An application that gains less than this share of the difference, in powers, hardly depends on it.
const HARDLY: f64 = 0.1;
/// One that gains more than this share depends on it.
const MOSTLY: f64 = 0.6;

/// How much an application gains by a storage that is faster for a synthetic load.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beside {
    /// The target, when sides have several.
    pub target: Option<String>,
    /// The letter of the side that is faster for the synthetic load.
    pub faster: String,
    /// That load.
    pub synthetic: String,
    /// How many times as fast it is there.
    pub synthetic_ratio: f64,
    /// The application.
    pub application: String,
    /// How many times as fast it is there.
    pub application_ratio: f64,
    /// What follows.
    pub sentence: String,
}

/// For each application that both sides ran beside synthetic loads.
pub(super) fn of(pair: &Pair) -> Vec<Beside> {
    let applications = pair.cells.iter().filter(|cell| cell.is_application);
    applications.filter_map(|application| beside(pair, application)).collect()
}

fn beside(pair: &Pair, application: &CellPair) -> Option<Beside> {
    let loads = pair.cells.iter().filter(|cell| !cell.is_application && cell.target == application.target);
    let loads = loads.filter(|load| is_of_storage(load));
    let speeds = loads.filter_map(|load| Some((load, speed(load).filter(Speed::says_something)?)));
    // The load by which they differ most.
    let (load, synthetic) = speeds.max_by(|one, other| one.1.distance().total_cmp(&other.1.distance()))?;
    let is_second = synthetic.ratio > 1.0;
    let of_faster = |speed: Speed| if is_second { speed } else { speed.inverse() };
    let (synthetic_ratio, application_speed) = (of_faster(synthetic).ratio, of_faster(speed(application)?));
    let application_ratio = application_speed.ratio;
    let word_of = |ratio: f64| match ratio.ln() / synthetic_ratio.ln() {
        gain if gain < HARDLY => "not bound by this disk",
        gain if gain < MOSTLY => "bound by the disk in part",
        _ => "bound by the disk",
    };
    let word = match application_speed.ends {
        Some((low, high)) if word_of(low) == word_of(high) => word_of(application_ratio),
        _ => "how far it is bound by the disk takes more iterations to say",
    };
    // The synthetic load had all of them, and with more the application may do more with a disk.
    let with = if application.shared_processors { ", with the part of the processors that it had" } else { "" };
    let [faster, slower] = if is_second { [&pair.side, &pair.reference] } else { [&pair.reference, &pair.side] };
    let sentence = format!(
        "{faster} against {slower}: {} {}, {} {}: {word}{with}",
        load.workload,
        words::times(synthetic_ratio),
        application.workload,
        words::times(application_ratio)
    );
    Some(Beside {
        target: application.target.clone(),
        faster: faster.clone(),
        synthetic: load.workload.clone(),
        synthetic_ratio,
        application: application.workload.clone(),
        application_ratio,
        sentence,
    })
}

/// Whether the numbers of a load are those of the storage on both sides.
fn is_of_storage(load: &CellPair) -> bool {
    let is_doubtful = |side: usize| matches!(load.word(side), Word::Verdict(Verdict::Cached | Verdict::ClientLimited));
    !is_doubtful(0) && !is_doubtful(1) && load.reference_errors + load.errors == 0
}

/// How many times as fast one side is, and the 95 % interval where that is known.
#[derive(Clone, Copy)]
struct Speed {
    ratio: f64,
    ends: Option<(f64, f64)>,
}

impl Speed {
    fn inverse(self) -> Self {
        Self { ratio: 1.0 / self.ratio, ends: self.ends.map(|(low, high)| (1.0 / high, 1.0 / low)) }
    }

    /// Whether the storage surely differs, and by so much that it says something of an application.
    fn says_something(&self) -> bool {
        let min = match self.ends {
            Some((low, high)) if low <= 1.0 && 1.0 <= high => return false,
            Some(_) => DIFFERS_MIN,
            None => DIFFERS_WITHOUT_INTERVAL_MIN,
        };
        self.distance() >= min.ln()
    }

    /// From none at all, in powers.
    fn distance(self) -> f64 {
        self.ratio.ln().abs()
    }
}

/// How many times as fast the second side is.
fn speed(cell: &CellPair) -> Option<Speed> {
    if !cell.differs_in.is_empty() {
        return None;
    }
    let ratio = |pair: &MetricPair| {
        let (reference, value) = pair.reference.zip(pair.value)?;
        let speed = match pair.compared {
            Some(compared) => {
                Speed { ratio: compared.ratio.ratio, ends: Some((compared.ratio.low, compared.ratio.high)) }
            }
            None => Speed { ratio: value / reference, ends: None },
        };
        (speed.ratio.is_finite() && speed.ratio > 0.0).then_some(speed)
    };
    let of = |metric: Metric| cell.metrics.iter().filter(move |pair| pair.metric == metric).filter_map(ratio);
    let further = |one: Speed, other: Speed| if one.distance() >= other.distance() { one } else { other };
    // What tells its rate may take as long as it was told to.
    let rate = of(Metric::Iops).reduce(further).or_else(|| of(Metric::Throughput).reduce(further));
    rate.or_else(|| of(Metric::Elapsed).next().map(Speed::inverse))
}
