//! The primitives agree with the reference vectors: values to a millionth, positions exactly.

use std::{collections::BTreeMap, fs, path::Path};

use plimsoll_measure::{
    series::{
        change_points::{ShiftRule, best_split, change_points, kept_from},
        half_width::{autoregressive, mean_interval, multi_scale},
        long_run_variance::long_run_variance,
        moments::{batch_means, mean},
        slope,
        truncation::mser5,
    },
    stability::spread,
    stopping::rounds::best_shift,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    x: Vec<f64>,
    mean: f64,
    lrv_andrews: f64,
    ar1_hw: f64,
    ms_ar1_hw_12: f64,
    mser5: usize,
    best_split: SplitCase,
    change_points: Vec<usize>,
    keep_from: usize,
    period: usize,
    half_width: f64,
    half_width_start: usize,
    slope_gate: bool,
    slope_drift: f64,
    spread: f64,
    round_means: Vec<f64>,
    round_split: RoundSplitCase,
}

#[derive(Deserialize)]
struct SplitCase {
    k: usize,
    stat: f64,
    left: f64,
    right: f64,
}

#[derive(Deserialize)]
struct RoundSplitCase {
    k: usize,
    t: f64,
}

#[test]
fn every_reference_vector_is_met() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/measure/golden.json");
    let cases: BTreeMap<String, Case> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(cases.len(), 7);
    cases.iter().for_each(|(name, case)| meets(name, case));
}

fn meets(name: &str, case: &Case) {
    let same = |what: &str, ours: f64, theirs: f64| {
        assert!((ours - theirs).abs() <= 1e-6 * theirs.abs(), "{name}: {what} is {ours}, not {theirs}");
    };
    let x = &case.x;
    same("mean", mean(x), case.mean);
    let centred: Vec<f64> = x.iter().map(|value| value - mean(x)).collect();
    same("long-run variance", long_run_variance(&centred), case.lrv_andrews);
    same("autoregressive half-width", autoregressive(x), case.ar1_hw);
    same("multi-scale half-width", multi_scale(x, 12), case.ms_ar1_hw_12);
    // The reference says "undecided" by the end of the window.
    assert_eq!(mser5(x, 0.0).unwrap_or(x.len()), case.mser5, "{name}: truncation");
    let split = best_split(x, ShiftRule::SECONDS.segment_min).expect("120 values have two segments");
    assert_eq!(split.at, case.best_split.k, "{name}: split");
    same("split statistic", split.statistic, case.best_split.stat);
    same("level before", split.left, case.best_split.left);
    same("level after", split.right, case.best_split.right);
    let boundaries = change_points(x, &ShiftRule::SECONDS);
    assert_eq!(boundaries, case.change_points, "{name}: change points");
    assert_eq!(kept_from(x, &boundaries, 0.05), case.keep_from, "{name}: kept from");
    let interval = mean_interval(x);
    assert_eq!(interval.period.unwrap_or(0), case.period, "{name}: period");
    assert_eq!(interval.from, case.half_width_start, "{name}: start of whole cycles");
    same("half-width", interval.half_width, case.half_width);
    let trend = slope::of_seconds(x, 0.02).expect("120 values have a slope");
    assert_eq!(trend.matters, case.slope_gate, "{name}: slope gate");
    same("drift", trend.change, case.slope_drift);
    same("spread", spread(x), case.spread);
    let rounds = batch_means(x, 10);
    rounds.iter().zip(&case.round_means).for_each(|(ours, theirs)| same("round mean", *ours, *theirs));
    assert_eq!(rounds.len(), case.round_means.len());
    let shift = best_shift(&rounds).expect("12 rounds have a shift");
    assert_eq!(shift.at, case.round_split.k, "{name}: shift between rounds");
    same("shift statistic", shift.statistic, case.round_split.t);
}
