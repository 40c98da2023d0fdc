//! Traces that the rules have judged, one a row; and a pair of them.

use plimsoll_measure::{
    compare::{conclusion::MARGIN, ratio::Ratio},
    replay::{NotCompared, PairAnswer},
    session::answer::{Answer, Estimate, Window},
    stability::{Grade, Stability},
};
use plimsoll_record::numbers::{self, ABSENT};
use serde_json::{Value, json};

use crate::{
    comparison::{Compared, Method, words},
    grid::{Column, Grid, Side},
    rows::Metric,
    wrapping,
};

/// A trace and what the rules said of it.
#[derive(Clone, Copy, Debug)]
pub struct TraceRow<'a> {
    /// What the trace is called.
    pub id: &'a str,
    /// The answer.
    pub answer: &'a Answer,
}

impl TraceRow<'_> {
    /// The rate; of a trace that no single number describes, its range.
    fn rate(&self) -> String {
        match self.answer.stability.filter(Stability::is_erratic) {
            Some(stability) => numbers::range(stability.lowest, stability.highest, numbers::iops),
            None => numbers::or_absent(self.answer.estimate.map(|estimate| estimate.rate), numbers::iops),
        }
    }

    fn precision(&self) -> String {
        let erratic = self.answer.stability.is_some_and(|stability| stability.is_erratic());
        let precision = self.answer.estimate.and_then(|estimate| estimate.precision());
        numbers::or_absent(precision.filter(|_| !erratic), numbers::percent)
    }

    fn window(&self) -> String {
        let text = |window: Window| format!("{} to {}", numbers::clock(window.from_ns), numbers::clock(window.to_ns));
        numbers::or_absent(self.answer.window, text)
    }

    fn grade(&self) -> String {
        let grade = self.answer.stability.and_then(|stability| stability.grade);
        grade.map_or(ABSENT, Grade::as_str).to_owned()
    }
}

/// The table of traces.
pub fn traces<'a>(rows: &[TraceRow<'a>], width: usize) -> String {
    let text = |value: fn(&TraceRow<'a>) -> String| rows.iter().map(value).collect::<Vec<_>>();
    let columns = vec![
        Column::new("trace", Side::Left, 0, text(|row| row.id.to_owned())),
        Column::new("verdict", Side::Left, 0, text(|row| row.answer.verdict.as_str().to_owned())),
        Column::new("IOPS", Side::Right, 0, text(TraceRow::rate)),
        Column::new(Metric::Precision.head(), Side::Right, 0, text(TraceRow::precision)),
        Column::new("window", Side::Left, 1, text(TraceRow::window)),
        Column::new("grade", Side::Left, 2, text(TraceRow::grade)),
        Column::new("load", Side::Right, 3, text(|row| numbers::clock(row.answer.load_ns))),
        Column::new("flags", Side::Left, 4, text(|row| row.answer.flags().join(" "))),
    ];
    Grid::new(columns).fit(width).text()
}

/// How many times as fast the second of two traces is, in the words of a comparison of runs.
pub fn pair(names: [&str; 2], answer: Result<&PairAnswer, &NotCompared>, width: usize) -> String {
    let [first, second] = names;
    let line = |label: &str, text: &str| wrapping::labelled(&format!("{label:<9}"), text, width);
    let PairAnswer { ratio, blocks, blocks_wanted, load_ns } = match answer {
        Ok(answer) => answer,
        Err(reason) => return line("verdict", &format!("not compared: {}", why_not_compared(names, *reason))),
    };
    let sentence = format!(
        "{second} has {:.3} times the rate of {first}; 95 % interval {:.3} to {:.3}",
        ratio.ratio, ratio.low, ratio.high
    );
    let compared = Compared::alone(*ratio, Method::PairedBlocks, [*blocks; 2], MARGIN);
    let verdict = words::claim(&compared, second, None, MARGIN, 1);
    let wanted = if blocks_wanted > blocks {
        let wanted = numbers::count(*blocks_wanted as u64);
        format!("; {wanted} blocks would make the interval as narrow as it should be")
    } else {
        String::new()
    };
    line("ratio", &sentence)
        + &line("verdict", &verdict)
        + &line("load", &format!("{} in {blocks} blocks of four visits{wanted}", numbers::clock(*load_ns)))
}

/// Why two traces are not compared.
fn why_not_compared(names: [&str; 2], reason: NotCompared) -> String {
    match reason {
        NotCompared::TooShort => "the traces are too short for two blocks of four visits".to_owned(),
        NotCompared::NothingCompletes(idle) => {
            let idle: Vec<&str> = names.into_iter().zip(idle).filter(|(_, idle)| *idle).map(|(name, _)| name).collect();
            format!("there is a block of four visits in which nothing completes in {}", idle.join(" or in "))
        }
    }
}

/// Traces as lines of JSON.
pub fn trace_lines(rows: &[TraceRow<'_>]) -> String {
    rows.iter().map(|row| format!("{}\n", trace_line(row))).collect()
}

fn trace_line(row: &TraceRow<'_>) -> Value {
    let TraceRow { id, answer } = row;
    let estimate = answer.estimate.as_ref();
    json!({
        "id": id,
        "verdict": answer.verdict,
        "est": estimate.map(|estimate| estimate.rate),
        "lo": estimate.and_then(Estimate::low),
        "hi": estimate.and_then(Estimate::high),
        "cost_s": answer.load_ns as f64 / 1e9,
        "grade": answer.stability.and_then(|stability| stability.grade),
        "flags": answer.flags(),
    })
}

/// A pair as a line of JSON. Whether it is different is what the interval says, whatever matters.
pub fn pair_line(names: [&str; 2], answer: Result<&PairAnswer, &NotCompared>) -> String {
    let reason = answer.err().map(|reason| why_not_compared(names, *reason));
    let answer = answer.ok();
    let ratio = answer.map(|answer| &answer.ratio);
    let value = json!({
        "ratio": ratio.map(|ratio| ratio.ratio),
        "lo": ratio.map(|ratio| ratio.low),
        "hi": ratio.map(|ratio| ratio.high),
        "different": ratio.map(Ratio::differs),
        "detectable": ratio.map(|ratio| ratio.detectable),
        "blocks": answer.map(|answer| answer.blocks),
        "blocks_wanted": answer.map(|answer| answer.blocks_wanted),
        "cost_s": answer.map(|answer| answer.load_ns as f64 / 1e9),
        "reason": reason,
    });
    format!("{value}\n")
}

#[cfg(test)]
mod tests {
    use plimsoll_measure::replay::{ReplayPlan, replay, replay_pair};

    use super::*;

    fn level(rate: f64) -> Vec<f64> {
        (0..3600).map(|second| rate * (1.0 + 0.01 * f64::from(second * 7919 % 13 - 6) / 6.0)).collect()
    }

    #[test]
    fn a_trace_is_a_row_and_an_erratic_one_shows_its_range() {
        let plan = ReplayPlan { cells: 12, ..ReplayPlan::default() };
        let alternating: Vec<f64> = (0..3600).map(|second| if second / 5 % 2 == 0 { 100.0 } else { 1e5 }).collect();
        let answers = [level(5000.0), alternating, vec![7.0; 30]].map(|trace| replay(&trace, &plan));
        let ids = ["level", "alternating", "brief"];
        let rows: Vec<_> = ids.iter().zip(&answers).map(|(id, answer)| TraceRow { id, answer }).collect();
        insta::assert_snapshot!(traces(&rows, 100), @r"
        trace        verdict          IOPS      +-  window           grade    load  flags
        ──────────────────────────────────────────────────────────────────────────────────────
        level        steady          5,003  0.16 %  14 s to 15m 08s  -      1m 18s
        alternating  unstable  100 to 100k       -  14 s to 58m 06s  F      4m 56s  wide
        brief        short            7.00       -  14 s to 20 s     -         8 s  short-span
        ");
        assert!(traces(&rows, 40).lines().all(|line| line.chars().count() <= 50));
    }

    #[test]
    fn a_pair_is_told_with_its_interval() {
        let answer = replay_pair(&level(1000.0), &level(1100.0), 0);
        insta::assert_snapshot!(pair(["a.csv", "b.csv"], answer.as_ref(), 100), @r"
        ratio    b.csv has 1.100 times the rate of a.csv; 95 % interval 1.097 to 1.102
        verdict  b.csv is 10.0 % [9.7, 10.2] faster
        load     4m 00s in 12 blocks of four visits
        ");
        let told = |second: &[f64]| {
            let answer = replay_pair(&level(1000.0), second, 0);
            (pair(["a.csv", "b.csv"], answer.as_ref(), 100), pair_line(["a.csv", "b.csv"], answer.as_ref()))
        };
        let (same, _) = told(&level(1000.0));
        assert!(same.contains("verdict  equal within 2 %"), "{same}");
        let (text, line) = told(&level(995.0));
        assert!(text.contains("equal within 2 %") && line.contains(r#""different":true"#), "{text}{line}");
        for (second, reason) in [
            (vec![0.0; 3600], "there is a block of four visits in which nothing completes in b.csv"),
            (level(1000.0)[..30].to_vec(), "the traces are too short for two blocks of four visits"),
        ] {
            let (text, line) = told(&second);
            assert_eq!(text, format!("verdict  not compared: {reason}\n"));
            assert!(line.contains(r#""different":null"#) && line.contains(reason), "{line}");
        }
        let brief = replay_pair(&level(1000.0)[..60], &level(1100.0)[..60], 0);
        let text = pair(["a.csv", "b.csv"], brief.as_ref(), 100);
        assert!(text.contains("1m 00s in 3 blocks of four visits; 12 blocks would make"), "{text}");
    }
}
