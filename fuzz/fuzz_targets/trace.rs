//! Traces: CSV that other programs write, and what the rules make of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_measure::replay::{
    ReplayPlan, replay, replay_pair,
    trace::{HEADER, RATE_MAX, Trace},
};

fuzz_target!(|text: &str| {
    let Ok(trace) = text.parse::<Trace>() else { return };
    assert!(!trace.rates.is_empty() && trace.rates.iter().all(|rate| (0.0..=RATE_MAX).contains(rate)));
    let rows = trace.rates.iter().enumerate().map(|(second, rate)| format!("{second},{rate}\n"));
    let written = format!("{HEADER}\n{}", rows.collect::<String>());
    assert_eq!(written.parse().as_ref(), Ok(&trace), "a written trace reads back");
    // Inputs are short; in turn with themselves they last long enough for the rules.
    let long: Vec<f64> = trace.rates.iter().copied().cycle().take(2000).collect();
    for cells in [1, 2] {
        let answer = replay(&long, &ReplayPlan { cells, ..ReplayPlan::default() });
        let estimate = answer.estimate.expect("something was measured");
        assert!(estimate.rate.is_finite() && estimate.low() <= Some(estimate.rate), "{answer:?}");
    }
    if let Ok(pair) = replay_pair(&long, &trace.rates, 0) {
        assert!(pair.ratio.low <= pair.ratio.ratio && pair.ratio.ratio <= pair.ratio.high, "{pair:?}");
    }
});
