//! The words for a ratio: what may be said, and never more.

use plimsoll_measure::{
    compare::{conclusion::Conclusion, ratio::Ratio},
    verdict::Verdict,
};
use plimsoll_record::{numbers, record::NOT_RUN, word::Word};

use super::{CellPair, Compared, MetricPair, evidence::TOLD_ALONE};

/// From this ratio on, a factor says more than a percentage.
const FACTOR_MIN: f64 = 1.5;
/// A difference that is only found when it is larger than this is none that anybody would look for.
const DETECTABLE_MAX: f64 = 10.0;

/// The sentence about a cell.
pub(super) fn sentence(cell: &CellPair, letters: [&str; 2], margin: f64, headlines: usize) -> String {
    let doubts = doubts(cell, letters);
    let prefix = if doubts.is_empty() { doubts } else { format!("{doubts}: ") };
    if !cell.differs_in.is_empty() {
        let differences: Vec<String> = cell.differs_in.iter().map(|difference| difference.text(letters)).collect();
        return format!("not compared: {}", differ(&differences));
    }
    if let Some(sentence) = not_run([&cell.reference_not_run, &cell.not_run], letters) {
        return sentence;
    }
    match cell.headline() {
        Some(MetricPair { metric, compared: Some(compared), .. }) => {
            let duration = metric.is_latency().then(|| match cell.direction() {
                Some(direction) => format!("{} of {direction}", metric.head()),
                None => metric.head().to_owned(),
            });
            let rate = cell.rate_name.as_ref().filter(|_| !metric.is_latency());
            let rate = rate.map_or_else(String::new, |name| format!("{name}: "));
            prefix + &rate + &claim(compared, letters[1], duration.as_deref(), margin, headlines)
        }
        Some(metric) if is_told_alone(metric) => {
            let ratio = told_ratio(metric).unwrap_or_default();
            format!("{prefix}{} has {ratio} the {} of {}; {TOLD_ALONE}", letters[1], metric.metric.head(), letters[0])
        }
        Some(MetricPair { has_stopped: true, .. }) => format!("{prefix}{} completed nothing", letters[1]),
        Some(MetricPair { reason: Some(reason), .. }) => format!("{prefix}no claim: {reason}"),
        _ => format!("{prefix}no claim: not measured on both sides"),
    }
}

/// Whether another program told a number of both sides, of which nobody knows how sure it is.
fn is_told_alone(metric: &MetricPair) -> bool {
    metric.reason.as_deref() == Some(TOLD_ALONE) && told_ratio(metric).is_some()
}

/// How many times as much the other side was told to have.
pub(super) fn told_ratio(metric: &MetricPair) -> Option<String> {
    let (reference, value) = metric.reference.zip(metric.value)?;
    let ratio = value / reference;
    let is_told = metric.reason.as_deref() == Some(TOLD_ALONE) && ratio.is_finite();
    is_told.then(|| times(ratio))
}

/// A ratio as a factor: `63.0x`, `1.01x`.
pub(crate) fn times(ratio: f64) -> String {
    let digits = match ratio {
        ratio if ratio >= 99.5 => 0,
        ratio if ratio >= 9.95 => 1,
        ratio if ratio >= 0.0995 => 2,
        ratio if ratio >= 0.00995 => 3,
        _ => 4,
    };
    format!("{ratio:.digits$}x")
}

/// Which sides were not run, and why.
fn not_run(reasons: [&Option<String>; 2], letters: [&str; 2]) -> Option<String> {
    match reasons {
        [None, None] => None,
        [Some(ours), Some(theirs)] if ours == theirs => Some(format!("{NOT_RUN} on both sides: {ours}")),
        _ => {
            let told = letters.into_iter().zip(reasons).filter_map(|(letter, reason)| {
                let reason = reason.as_ref()?;
                Some(format!("{letter} {NOT_RUN}: {reason}"))
            });
            Some(told.collect::<Vec<_>>().join("; "))
        }
    }
}

/// What a ratio permits to say of a side, or of a duration of it: without its name, readers would think of rates.
pub(crate) fn claim(compared: &Compared, side: &str, duration: Option<&str>, margin: f64, headlines: usize) -> String {
    let ratio = &compared.ratio;
    let comparatives = if duration.is_some() { ["longer", "shorter"] } else { ["faster", "slower"] };
    let comparative = comparatives[usize::from(ratio.ratio < 1.0)];
    let difference = || format!("{} {comparative}", magnitude(ratio));
    let subject = duration.map_or_else(|| format!("{side} is"), |duration| format!("{side}'s {duration} is"));
    let within = duration.map(|duration| format!(" in {duration}")).unwrap_or_default();
    let text = match compared.conclusion {
        Conclusion::Equal => format!("equal within {}{within}", numbers::percent(margin)),
        Conclusion::NoDifference => format!("no difference found{within}; {}", detectable(ratio.detectable)),
        _ if compared.may_be_chance() => {
            format!("no difference found{within}; {} may be chance among {headlines} comparisons", difference())
        }
        Conclusion::SlightlyHigher | Conclusion::SlightlyLower => {
            format!("{subject} {}; may be below what matters ({})", difference(), numbers::percent(margin))
        }
        Conclusion::Higher | Conclusion::Lower => format!("{subject} {}", difference()),
    };
    match compared.ranks.filter(|ranks| ranks.differs() != ratio.differs()) {
        Some(ranks) if ranks.differs() && !compared.different && compared.conclusion != Conclusion::Equal => {
            text + "; by ranks alone there is one"
        }
        Some(ranks) if !ranks.differs() && compared.different => text + ", though not by ranks alone",
        _ => text,
    }
}

/// The size of a difference with its interval, without its direction: `4.1x [3.9, 4.3]`, `12 % [9, 15]`.
pub(crate) fn magnitude(ratio: &Ratio) -> String {
    if ratio.ratio >= FACTOR_MIN {
        return factor(ratio);
    }
    if ratio.ratio <= 1.0 / FACTOR_MIN {
        return factor(&ratio.inverted());
    }
    let share = |value: f64| 100.0 * (value - 1.0);
    let [middle, low, high] = if ratio.ratio >= 1.0 {
        [share(ratio.ratio), share(ratio.low), share(ratio.high)]
    } else {
        [-share(ratio.ratio), -share(ratio.high), -share(ratio.low)]
    };
    let digits = percent_digits(middle, high - low);
    format!("{middle:.digits$} % [{low:.digits$}, {high:.digits$}]")
}

/// A ratio with its interval and its direction, for a column: `+12 % [+9, +15]`, `0.24x [0.23, 0.26]`.
pub(crate) fn change(ratio: &Ratio) -> String {
    if ratio.ratio >= FACTOR_MIN || ratio.ratio <= 1.0 / FACTOR_MIN {
        return factor(ratio);
    }
    let [middle, low, high] = [ratio.ratio, ratio.low, ratio.high].map(|value| 100.0 * (value - 1.0));
    let digits = percent_digits(middle, high - low);
    // No change is neither up nor down.
    let signed = |value: f64| match format!("{value:+.digits$}") {
        text if text.trim_start_matches(['+', '-', '0', '.']).is_empty() => text[1..].to_owned(),
        text => text,
    };
    format!("{} % [{}, {}]", signed(middle), signed(low), signed(high))
}

fn factor(ratio: &Ratio) -> String {
    let width = ratio.high - ratio.low;
    // An interval that wide spans orders of magnitude, in which no number of decimals fits all.
    if width >= 4.0 || ratio.high >= 10.0 * ratio.low {
        let [middle, low, high] = [ratio.ratio, ratio.low, ratio.high].map(two_figures);
        return format!("{middle}x [{low}, {high}]");
    }
    let digits = match ratio.ratio {
        value if value >= 99.5 => 0,
        value if value >= 9.95 || (value >= 1.0 && width >= 0.2) => 1,
        value if value >= 0.0995 => 2,
        value => decimals_of_two_figures(value).max(3),
    };
    format!("{:.digits$}x [{:.digits$}, {:.digits$}]", ratio.ratio, ratio.low, ratio.high)
}

fn two_figures(value: f64) -> String {
    let digits = decimals_of_two_figures(value);
    format!("{value:.digits$}")
}

fn decimals_of_two_figures(value: f64) -> usize {
    let rounded = format!("{value:.1e}");
    let exponent = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok()).unwrap_or(0);
    usize::try_from(1 - exponent).unwrap_or(0)
}

/// As many decimals as the interval deserves.
fn percent_digits(middle: f64, width: f64) -> usize {
    match width {
        width if width >= 4.0 => 0,
        width if width >= 0.4 || middle.abs() >= 9.95 => 1,
        _ => 2,
    }
}

/// What would have been seen, rounded up to two figures.
fn detectable(share: f64) -> String {
    if !share.is_finite() || share > DETECTABLE_MAX {
        return "there is too little to see any".to_owned();
    }
    if share >= FACTOR_MIN - 1.0 {
        return format!("a factor of {} would have been seen", rounded_up(1.0 + share));
    }
    format!("{} would have been seen", seen_from(share))
}

/// The smallest difference that would have been seen, for a column.
pub(super) fn seen_from(share: f64) -> String {
    match share {
        share if !share.is_finite() || share > DETECTABLE_MAX => numbers::ABSENT.to_owned(),
        share if share >= FACTOR_MIN - 1.0 => format!("{}x", rounded_up(1.0 + share)),
        share => format!("{} %", rounded_up(100.0 * share)),
    }
}

fn rounded_up(value: f64) -> String {
    if value <= 0.0 {
        return "0".to_owned();
    }
    let unit = 10.0_f64.powf(value.log10().floor() - 1.0).max(0.01);
    // At least one: the least that is told is still something that would not have been seen.
    let rounded = (value / unit - 1e-9).ceil().max(1.0) * unit;
    let digits = if unit >= 0.95 { 0 } else { unit.log10().round().abs() as usize };
    let text = format!("{rounded:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// One word for a table.
pub(super) const fn word(compared: &Compared) -> &'static str {
    match compared.conclusion {
        Conclusion::Equal => "equal",
        Conclusion::NoDifference => "no difference",
        _ if compared.may_be_chance() => BY_CHANCE,
        Conclusion::Higher => "higher",
        Conclusion::SlightlyHigher => "a bit higher",
        Conclusion::SlightlyLower => "a bit lower",
        Conclusion::Lower => "lower",
    }
}

/// The word for a difference that so many comparisons make likely.
pub(super) const BY_CHANCE: &str = "by chance?";
/// The word for cells that differ in what matters.
pub(super) const NOT_COMPARED: &str = "not compared";
/// The word for numbers that do not support a comparison.
pub(super) const NO_CLAIM: &str = "no claim";

/// The word for a rate of which nothing is left.
pub(super) const STOPPED: &str = "stopped";

/// What makes the numbers of a cell doubtful: verdicts that are no claims, and operations that failed.
pub(super) fn doubts(cell: &CellPair, letters: [&str; 2]) -> String {
    let mut words = vec![verdicts(cell.words, letters)];
    for (letter, errors) in letters.into_iter().zip([cell.reference_errors, cell.errors]) {
        if errors > 0 {
            words.push(format!("{letter} with errors"));
        }
    }
    words.retain(|word| !word.is_empty());
    words.join(", ")
}

/// The words of both sides' verdicts where they are no claims: `short`, or `A unstable, B short`.
fn verdicts(words: [Word; 2], letters: [&str; 2]) -> String {
    let words = words.map(|word| if word == Word::Verdict(Verdict::Steady) { "" } else { word.as_str() });
    if words[0] == words[1] {
        return words[0].to_owned();
    }
    let with_letters = letters.into_iter().zip(words).filter(|(_, word)| !word.is_empty());
    with_letters.map(|(letter, word)| format!("{letter} {word}")).collect::<Vec<_>>().join(", ")
}

/// The clause that says that things differ.
pub(super) fn differ(texts: &[String]) -> String {
    format!("{} {}", list(texts), if texts.len() == 1 { "differs" } else { "differ" })
}

/// Several things in a sentence.
pub(crate) fn list(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(ratio: f64, low: f64, high: f64) -> Ratio {
        Ratio { ratio, low, high, p_value: 0.01, detectable: 0.029, error: 0.01, degrees: 11.0 }
    }

    #[test]
    fn a_difference_has_as_many_figures_as_its_interval_deserves() {
        for (of, magnitude_text, change_text) in [
            (ratio(4.1, 3.9, 4.3), "4.1x [3.9, 4.3]", "4.1x [3.9, 4.3]"),
            (ratio(3.0, 2.98, 3.02), "3.00x [2.98, 3.02]", "3.00x [2.98, 3.02]"),
            (ratio(12.0, 11.7, 12.3), "12.0x [11.7, 12.3]", "12.0x [11.7, 12.3]"),
            (ratio(250.0, 240.0, 260.0), "250x [240, 260]", "250x [240, 260]"),
            (ratio(30.0, 27.5, 33.0), "30x [28, 33]", "30x [28, 33]"),
            (ratio(0.4349, 0.0124, 15.23), "2.3x [0.066, 81]", "0.43x [0.012, 15]"),
            (ratio(0.01, 0.00041, 0.2439), "100x [4.1, 2439]", "0.010x [0.00041, 0.24]"),
            (ratio(0.1, 0.0045, 0.45), "10x [2.2, 222]", "0.10x [0.0045, 0.45]"),
            (ratio(0.0004, 0.0003, 0.0005), "2500x [2000, 3333]", "0.00040x [0.00030, 0.00050]"),
            (ratio(1.6, 0.43, 5.9), "1.6x [0.43, 5.9]", "1.6x [0.43, 5.9]"),
            (ratio(1.12, 1.09, 1.15), "12 % [9, 15]", "+12 % [+9, +15]"),
            (ratio(1.018, 1.004, 1.032), "1.8 % [0.4, 3.2]", "+1.8 % [+0.4, +3.2]"),
            (ratio(1.1, 1.1, 1.1), "10.0 % [10.0, 10.0]", "+10.0 % [+10.0, +10.0]"),
            (ratio(0.88, 0.85, 0.91), "12 % [9, 15]", "-12 % [-15, -9]"),
            (ratio(0.25, 0.24, 0.26), "4.0x [3.8, 4.2]", "0.25x [0.24, 0.26]"),
            (ratio(1.0, 0.98, 1.02), "0 % [-2, 2]", "0 % [-2, +2]"),
        ] {
            assert_eq!((magnitude(&of).as_str(), change(&of).as_str()), (magnitude_text, change_text), "{of:?}");
        }
    }

    #[test]
    fn what_would_have_been_seen_is_rounded_up() {
        for (share, text) in [
            (0.0281, "2.9 % would have been seen"),
            (0.03, "3 % would have been seen"),
            (0.00042, "0.05 % would have been seen"),
            (1e-15, "0.01 % would have been seen"),
            (0.121, "13 % would have been seen"),
            (1.32, "a factor of 2.4 would have been seen"),
            (f64::INFINITY, "there is too little to see any"),
        ] {
            assert_eq!(detectable(share), text, "{share}");
        }
    }

    #[test]
    fn only_verdicts_that_are_no_claims_are_said() {
        let word = |verdict: Option<Verdict>| verdict.map_or(Word::NotRun, Word::Verdict);
        let of = |first, second| verdicts([word(first), word(second)], ["A", "B"]);
        assert_eq!(of(Some(Verdict::Steady), Some(Verdict::Steady)), "");
        assert_eq!(of(Some(Verdict::Short), Some(Verdict::Short)), "short");
        assert_eq!(of(Some(Verdict::Unstable), Some(Verdict::Steady)), "A unstable");
        assert_eq!(of(Some(Verdict::Burst), Some(Verdict::ClientLimited)), "A burst, B client-limited");
        assert_eq!(of(Some(Verdict::Steady), None), "B not run");
    }
}
