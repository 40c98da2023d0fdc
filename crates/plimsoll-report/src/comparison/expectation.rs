//! What must not have changed: `p99>+10%` fails when the 99th percentile is more than 10 % above the reference, and
//! surely so: when the whole interval of the ratio lies beyond, also after as many numbers as are judged.

use std::{fmt, str::FromStr};

use plimsoll_measure::compare::{multiplicity, ratio::Ratio};
use serde::Serialize;

use super::{CellPair, Compared, LEVEL, Metric, MetricPair, Operation, Pair, words};

/// A change that is not accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    metric: Metric,
    beyond: Beyond,
    /// As typed.
    text: String,
}

/// On which side of which ratio a change is too large.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Beyond {
    Above(f64),
    Below(f64),
}

impl FromStr for Expectation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let how = || {
            format!(
                "\"{text}\" is not an expectation: write a number, > or <, and a change with its sign, as in p99>+10% \
                 or iops<-5%"
            )
        };
        let place = text.find(['<', '>']).ok_or_else(how)?;
        let (metric, change) = (text[..place].trim(), text[place + 1..].trim());
        let metric = metric.parse()?;
        let number = change.strip_suffix('%').ok_or_else(how)?;
        let percent: f64 = number.trim().parse().map_err(|_| how())?;
        if !change.starts_with(['+', '-']) {
            let metric = &text[..=place];
            return Err(format!(
                "\"{text}\" lacks the sign of the change: write {metric}+{change} or {metric}-{change}"
            ));
        }
        if !percent.is_finite() || percent <= -100.0 {
            return Err(format!("\"{text}\" never holds or never fails: nothing changes by -100 % or more"));
        }
        let ratio = 1.0 + percent / 100.0;
        let beyond = if text[place..].starts_with('>') { Beyond::Above(ratio) } else { Beyond::Below(ratio) };
        Ok(Self { metric, beyond, text: text.trim().to_owned() })
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// What became of an expectation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// The expectation, as typed.
    pub expectation: String,
    /// The worst of all cells. It only holds as a whole when every cell was judged.
    pub result: Standing,
    /// Every number that it is about, also where it could not be judged.
    pub cells: Vec<Judged>,
}

/// An expectation about one number.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// The letter of the side.
    pub side: String,
    /// The target, when sides have several, and the workload.
    pub cell: String,
    /// Which operations; absent where the cell as a whole could not be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub operation: Option<Operation>,
    /// What became of it.
    pub result: Standing,
    /// What the comparison says, or why it says nothing.
    pub text: String,
    /// The probability of as much beyond when the truth is not; absent where nothing was compared.
    #[serde(skip)]
    p_value: Option<f64>,
}

/// Whether an expectation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It cannot be told. That breaks nothing.
    NotJudged,
    /// It holds in some cells and cannot be told in others. Only an expectation as a whole can be so.
    PartlyHeld,
    /// It holds.
    Held,
    /// It is not broken for certain, but may be.
    Unsure,
    /// It is broken: the whole interval lies beyond, and not by chance among all that is judged; or nothing is left of
    /// a rate.
    Breached,
}

impl Standing {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotJudged => "not judged",
            Self::PartlyHeld => "partly held",
            Self::Held => "held",
            Self::Unsure => "not sure",
            Self::Breached => "breached",
        }
    }
}

impl Outcome {
    /// The cells with this result.
    pub(super) fn with(&self, result: Standing) -> impl Iterator<Item = &Judged> {
        self.cells.iter().filter(move |judged| judged.result == result)
    }

    fn of(expectation: &Expectation, cells: Vec<Judged>) -> Self {
        let mut outcome = Self { expectation: expectation.text.clone(), result: Standing::NotJudged, cells };
        let has = |result| outcome.with(result).next().is_some();
        // What was not judged must never pass for what holds.
        outcome.result = if has(Standing::Breached) {
            Standing::Breached
        } else if has(Standing::Unsure) {
            Standing::Unsure
        } else {
            match (has(Standing::Held), has(Standing::NotJudged)) {
                (true, false) => Standing::Held,
                (true, true) => Standing::PartlyHeld,
                (false, _) => Standing::NotJudged,
            }
        };
        outcome
    }
}

impl Judged {
    /// A cell of which nothing could be judged, and why.
    fn not_judged(pair: &Pair, cell: String, text: String) -> Self {
        Self { side: pair.side.clone(), cell, operation: None, result: Standing::NotJudged, text, p_value: None }
    }

    /// The cell, and which operations of it.
    pub(super) fn place(&self) -> String {
        self.operation.map_or_else(|| self.cell.clone(), |operation| format!("{} {}", self.cell, operation.plural()))
    }
}

/// What became of expectations. Of many equals some lie beyond by chance, so breaches are subject to the rule of
/// headlines, over all numbers that all expectations are about: the probability of any false one is 5 %.
pub(super) fn judge(expectations: &[Expectation], pairs: &[Pair]) -> Vec<Outcome> {
    let mut judged: Vec<Vec<Judged>> = expectations.iter().map(|expectation| expectation.judge(pairs)).collect();
    let p_values: Vec<f64> = judged.iter().flatten().filter_map(|judged| judged.p_value).collect();
    let is_sure = multiplicity::holm(&p_values, LEVEL);
    let compared = judged.iter_mut().flatten().filter(|judged| judged.p_value.is_some());
    for (judged, is_sure) in compared.zip(is_sure) {
        if judged.result == Standing::Breached && !is_sure {
            judged.result = Standing::Unsure;
            judged.text += MAY_BE_CHANCE;
        }
    }
    expectations.iter().zip(judged).map(|(expectation, cells)| Outcome::of(expectation, cells)).collect()
}

/// What is said of a change that would be a breach if nothing else had been compared.
const MAY_BE_CHANCE: &str = "; may be chance among so many comparisons";

impl Expectation {
    /// Every number that it is about.
    fn judge(&self, pairs: &[Pair]) -> Vec<Judged> {
        let mut judged = Vec::new();
        for pair in pairs {
            for cell in &pair.cells {
                let numbers = cell.metrics.iter().filter(|metric| metric.metric == self.metric);
                judged.extend(numbers.map(|metric| self.judge_number(pair, cell, metric)));
                if cell.metrics.is_empty() {
                    judged.push(Judged::not_judged(pair, cell.label(), cell.sentence.clone()));
                }
            }
            judged.extend(pair.one_sided().map(|(cell, text)| Judged::not_judged(pair, cell.to_owned(), text)));
        }
        judged
    }

    fn judge_number(&self, pair: &Pair, cell: &CellPair, metric: &MetricPair) -> Judged {
        let mut judged = Judged::not_judged(pair, cell.label(), metric.reason.clone().unwrap_or_default());
        judged.operation = Some(metric.operation);
        let doubts = words::doubts(cell, pair.letters());
        let with_doubts = |text: &str| if doubts.is_empty() { text.to_owned() } else { format!("{text}, {doubts}") };
        if metric.has_stopped && matches!(self.beyond, Beyond::Below(_)) {
            judged.text = with_doubts(&judged.text);
            judged.result = Standing::Breached;
        }
        if let Some(compared) = &metric.compared {
            judged.text = with_doubts(&words::change(&compared.ratio));
            judged.result = self.beyond.standing(&compared.ratio);
            judged.p_value = Some(self.beyond.p_value(&compared.ratio));
            if judged.result == Standing::Breached && self.beyond.is_chance(compared) {
                judged.result = Standing::Unsure;
                judged.text += MAY_BE_CHANCE;
            }
        }
        judged
    }
}

impl Beyond {
    /// What a ratio says when nothing else is compared.
    fn standing(self, ratio: &Ratio) -> Standing {
        let (is_breached, is_held) = match self {
            Self::Above(limit) => (ratio.low > limit, ratio.high <= limit),
            Self::Below(limit) => (ratio.high < limit, ratio.low >= limit),
        };
        match (is_breached, is_held) {
            (true, _) => Standing::Breached,
            (false, true) => Standing::Held,
            (false, false) => Standing::Unsure,
        }
    }

    /// The probability of as much beyond when the truth is just not. It is below 5 % when the whole interval is beyond.
    fn p_value(self, ratio: &Ratio) -> f64 {
        match self {
            Self::Above(limit) if ratio.ratio > limit => ratio.p_value_against(limit),
            Self::Below(limit) if ratio.ratio < limit => ratio.p_value_against(limit),
            Self::Above(_) | Self::Below(_) => 1.0,
        }
    }

    /// Whether to be beyond is to be different, and the comparison says that this may be chance.
    fn is_chance(self, compared: &Compared) -> bool {
        let is_difference = match self {
            Self::Above(limit) => limit >= 1.0,
            Self::Below(limit) => limit <= 1.0,
        };
        is_difference && compared.may_be_chance()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expectation_names_a_number_and_a_change_with_its_sign() {
        let parse = |text: &str| text.parse::<Expectation>().map(|parsed| (parsed.metric, parsed.beyond));
        assert_eq!(parse("p99>+10%"), Ok((Metric::P99, Beyond::Above(1.1))));
        assert_eq!(parse(" iops < -5 % "), Ok((Metric::Iops, Beyond::Below(0.95))));
        assert_eq!(parse("bandwidth<-12.5%"), Ok((Metric::Throughput, Beyond::Below(0.875))));
        assert_eq!(parse("p99.9>+0%").unwrap().0, Metric::P99_9);
        for text in ["", "p99", "p99>10%", "p99>+10", "p98>+10%", "p99=+10%", "iops<-100%", "iops<-NaN%", ">+1%"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_an_expectation_is_named() {
        for (text, words) in [
            ("iops<5%", "\"iops<5%\" lacks the sign of the change: write iops<+5% or iops<-5%"),
            ("IOPS<-5%", "\"IOPS\" is written in lower case: iops"),
            ("speed<-5%", "\"speed\" cannot be compared: choose one of iops,"),
            ("mean>+10%", "a mean is shown and cannot be judged: choose p50, p99 or p99.9"),
            ("p99>+10", "is not an expectation"),
        ] {
            let error = text.parse::<Expectation>().unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn only_an_interval_that_lies_beyond_as_a_whole_breaks_an_expectation() {
        let held = |text: &str, low: f64, high: f64| {
            let (error, degrees) = ((high / low).ln() / 2.0 / 2.201, 11.0);
            let ratio = Ratio::of_logs((low * high).ln() / 2.0, error, degrees, 0.95);
            let beyond = text.parse::<Expectation>().unwrap().beyond;
            assert_eq!(beyond.standing(&ratio) == Standing::Breached, beyond.p_value(&ratio) < 0.05);
            beyond.standing(&ratio)
        };
        assert_eq!(held("p99>+10%", 1.11, 1.3), Standing::Breached);
        assert_eq!(held("p99>+10%", 1.05, 1.3), Standing::Unsure);
        assert_eq!(held("p99>+10%", 0.9, 1.09), Standing::Held);
        assert_eq!(held("iops<-5%", 0.8, 0.94), Standing::Breached);
        assert_eq!(held("iops<-5%", 0.8, 0.96), Standing::Unsure);
        assert_eq!(held("iops<-5%", 0.95, 1.2), Standing::Held);
    }
}
