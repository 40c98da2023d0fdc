//! The marks that answers about a corpus have to reach.

use super::{Trial, corpus::Judged};
use crate::bench::{median, off_percent};

/// Storage that anybody would call steady.
const WELL_BEHAVED: &[&str] = &["flat", "ar", "warmup"];
/// The same, and storage that is uneven in a way that stays.
const STATIONARY: &[&str] = &["flat", "ar", "warmup", "dips", "stalls", "onoff", "cachefill"];
/// Storage of which no single second is far from the others, cliffs apart.
const EVEN: &[&str] = &["flat", "ar", "warmup", "bucket", "drift"];
/// Every trace.
const ALL: &[&str] = &[];

/// What groups are called.
const GROUPS: [(&str, &[&str]); 3] = [("well-behaved", WELL_BEHAVED), ("stationary", STATIONARY), ("even", EVEN)];

/// A number about answers.
#[derive(Clone, Copy)]
enum Number {
    /// Share that is called steady with a rate more than 5 % off.
    FalseStops,
    /// Share that is called steady.
    Claims,
    /// Share of the claims whose rate is at most so many percent off.
    ClaimsWithin(f64),
    /// Share whose interval holds the truth.
    Coverage,
    /// Share with a word that is wrong whatever the rate.
    WrongWords,
    /// Share that is said to be wide or erratic.
    Wide,
    /// Median seconds of load.
    Load,
}

use Number::{Claims, ClaimsWithin, Coverage, FalseStops, Load, Wide, WrongWords};

/// At most, or at least.
#[derive(Clone, Copy)]
enum Bound {
    Most(f64),
    Least(f64),
}

use Bound::{Least, Most};

/// The families it is about, the number, and what it has to be.
type Mark = (&'static [&'static str], Number, Bound);

/// Of a cell in turns with eleven others.
const MATRIX: &[Mark] = &[
    (&["flat"], FalseStops, Most(1.0)),
    (&["ar"], FalseStops, Most(1.0)),
    (&["warmup"], FalseStops, Most(1.0)),
    (&["cachefill"], FalseStops, Most(1.0)),
    (&["dips"], FalseStops, Most(6.0)),
    (&["stalls"], FalseStops, Most(4.0)),
    (&["onoff"], FalseStops, Most(6.0)),
    (&["wild"], FalseStops, Most(0.0)),
    (&["drift"], FalseStops, Most(30.0)),
    (&["bucket"], FalseStops, Most(33.0)),
    (WELL_BEHAVED, Coverage, Least(91.0)),
    (&["onoff"], Coverage, Least(88.0)),
    (&["wild"], Coverage, Least(86.0)),
    (&["flat"], Load, Most(85.0)),
    (WELL_BEHAVED, Claims, Least(94.0)),
    (ALL, Claims, Least(55.0)),
    (ALL, WrongWords, Most(0.0)),
    (&["wild"], Claims, Most(0.0)),
    (&["wild"], Wide, Least(98.0)),
    (EVEN, Wide, Most(0.0)),
];

/// The same, of whole populations: of fewer traces than [`POPULATION`], chance decides whether they are reached.
const MATRIX_GOALS: &[Mark] = &[
    (WELL_BEHAVED, FalseStops, Most(0.0)),
    (WELL_BEHAVED, Coverage, Least(93.5)),
    (WELL_BEHAVED, Load, Most(90.0)),
    (WELL_BEHAVED, ClaimsWithin(2.0), Least(98.0)),
    (STATIONARY, Load, Most(150.0)),
    (STATIONARY, ClaimsWithin(5.0), Least(98.5)),
    (STATIONARY, FalseStops, Most(1.5)),
    (&["bucket"], FalseStops, Most(27.0)),
];

/// Traces of a family from which on goals are judged.
const POPULATION: usize = 500;

/// Of a cell alone.
const SINGLE: &[Mark] = &[
    (&["flat"], FalseStops, Most(1.0)),
    (&["ar"], FalseStops, Most(1.0)),
    (&["warmup"], FalseStops, Most(1.0)),
    (&["cachefill"], FalseStops, Most(3.0)),
    (&["dips"], FalseStops, Most(3.0)),
    (&["stalls"], FalseStops, Most(4.0)),
    (&["wild"], FalseStops, Most(0.0)),
    (&["flat"], Load, Most(150.0)),
    (ALL, Claims, Least(55.0)),
];

/// Of storage whose bucket a catalog knows.
const LIMITS: &[Mark] = &[(&["bucket"], FalseStops, Most(0.0))];
/// With a visit half an hour later.
const BOOKEND: &[Mark] = &[(&["bucket"], FalseStops, Most(15.0))];

/// Judges what was said in one way of measuring. A mark about families that are not there is left out.
pub(super) fn judge(trial: &Trial<'_>, way: &str, traces: &[Judged<'_>]) {
    let (marks, goals) = match way {
        "single" => (SINGLE, [].as_slice()),
        "matrix" => (MATRIX, MATRIX_GOALS),
        "matrix-bookend" => (BOOKEND, [].as_slice()),
        _ => (LIMITS, [].as_slice()),
    };
    marks.iter().for_each(|mark| judge_mark(trial, way, mark, traces, 1));
    goals.iter().for_each(|mark| judge_mark(trial, way, mark, traces, POPULATION));
}

/// One mark, which is but told when a family has fewer traces than that.
fn judge_mark(trial: &Trial<'_>, way: &str, mark: &Mark, traces: &[Judged<'_>], traces_min: usize) {
    let (families, number, bound) = *mark;
    let is_meant = |family: &str| families.is_empty() || families.contains(&family);
    let meant: Vec<&Judged<'_>> = traces.iter().filter(|trace| is_meant(&trace.truth.family)).collect();
    if meant.is_empty() {
        return;
    }
    let value = number.of(&meant);
    let (required, is_met) = match bound {
        Most(bound) => (format!("at most {bound}{}", number.unit()), value <= bound),
        Least(bound) => (format!("at least {bound}{}", number.unit()), value >= bound),
    };
    let about = match families {
        [] => "all",
        [family] => family,
        several => GROUPS.iter().find(|(_, group)| *group == several).map_or("several", |(name, _)| name),
    };
    let what = format!("{way}, {about}, {}", number.words());
    let measured = format!("{value:.1}{} of {}", number.unit(), meant.len());
    if meant.len() >= traces_min * families.len() {
        trial.judge(&what, &measured, &required, is_met);
    } else {
        trial.note(&what, &format!("{measured} (goal of many: {required})"));
    }
}

impl Number {
    fn words(self) -> String {
        match self {
            FalseStops => "wrongly steady".to_owned(),
            Claims => "steady".to_owned(),
            ClaimsWithin(percent) => format!("claims within {percent} %"),
            Coverage => "intervals that hold".to_owned(),
            WrongWords => "wrong words".to_owned(),
            Wide => "wide or erratic".to_owned(),
            Load => "median load".to_owned(),
        }
    }

    fn unit(self) -> &'static str {
        if matches!(self, Load) { " s" } else { " %" }
    }

    fn of(self, traces: &[&Judged<'_>]) -> f64 {
        let claims: Vec<&Judged<'_>> = traces.iter().copied().filter(|trace| trace.is_claim()).collect();
        match self {
            FalseStops => share(traces, |trace| trace.is_claim() && !trace.is_within(5.0)),
            Claims => share(traces, Judged::is_claim),
            ClaimsWithin(percent) => share(&claims, |trace| trace.is_within(percent)),
            Coverage => share(traces, Judged::holds),
            WrongWords => share(traces, Judged::is_wrong_word),
            Wide => share(traces, Judged::is_wide),
            Load => median(traces.iter().map(|trace| trace.answer.cost_s)),
        }
    }
}

/// The share of traces of which something is true, in percent.
fn share<'a>(traces: &[&Judged<'a>], is_such: impl Fn(&Judged<'a>) -> bool) -> f64 {
    traces.iter().filter(|trace| is_such(trace)).count() as f64 / traces.len().max(1) as f64 * 100.0
}

impl Judged<'_> {
    fn is_claim(&self) -> bool {
        self.answer.verdict == "steady"
    }

    fn is_within(&self, percent: f64) -> bool {
        self.answer.est.is_some_and(|rate| off_percent(rate, self.truth.rate) <= percent)
    }

    fn holds(&self) -> bool {
        let interval = self.answer.lo.zip(self.answer.hi);
        interval.is_some_and(|(low, high)| low <= self.truth.rate && self.truth.rate <= high)
    }

    /// The corpus has another form of one of the words.
    fn is_wrong_word(&self) -> bool {
        let word = if self.answer.verdict == "drifting" { "drift" } else { &self.answer.verdict };
        !self.truth.verdict_allowed.iter().any(|allowed| allowed == word)
    }

    fn is_wide(&self) -> bool {
        self.answer.grade.as_deref() == Some("F") || self.answer.flags.iter().any(|flag| flag == "wide")
    }
}
