//! Threads that got unequal shares: a total hides those that starved.

use plimsoll_record::numbers;
use serde_json::json;

use super::{Cause, Scene};

/// The fastest thread over the slowest, from which on it is said.
const UNEQUAL_FROM: f64 = 1.5;

/// Fewer threads may be fast and slow in turns by chance.
const TURNS_MIN: usize = 6;

pub(super) fn causes(scene: &Scene<'_>) -> Vec<Cause> {
    let threads = &scene.load.threads;
    let (Some(fastest), Some(slowest)) =
        (threads.iter().copied().reduce(f64::max), threads.iter().copied().reduce(f64::min))
    else {
        return Vec::new();
    };
    if threads.len() < 2 || fastest <= 0.0 || fastest < UNEQUAL_FROM * slowest {
        return Vec::new();
    }
    if slowest <= 0.0 {
        let text = format!("a thread did nothing, while the fastest did {} IOPS", numbers::iops(fastest));
        return vec![Cause::new("thread-imbalance", 0.85, text, &[("threads", json!(threads))])];
    }
    let total: f64 = threads.iter().sum();
    let of_parity = |parity: usize| -> Vec<f64> {
        threads.iter().enumerate().filter(|(index, _)| index % 2 == parity).map(|(_, rate)| *rate).collect()
    };
    let ends = |rates: &[f64]| {
        let [low, high] = [f64::min, f64::max].map(|end| rates.iter().copied().reduce(end).unwrap_or_default());
        numbers::range(low, high, numbers::iops)
    };
    let (even, odd) = (of_parity(0), of_parity(1));
    let share = odd.iter().sum::<f64>() / total;
    // Threads are dealt to processors in turns, so that every second one shares a processor.
    let is_by_turns = threads.len() >= TURNS_MIN
        && (even.iter().all(|rate| odd.iter().all(|other| other > rate))
            || even.iter().all(|rate| odd.iter().all(|other| other < rate)));
    let who = if is_by_turns {
        format!(
            ": every second thread did {} IOPS and the others {}, so that one half had {} of all, as if the threads of one \
             processor starved those of the other",
            ends(&odd),
            ends(&even),
            numbers::percent(share.max(1.0 - share))
        )
    } else {
        String::new()
    };
    let evidence =
        [("fastest_over_slowest", json!(fastest / slowest)), ("odd_share", json!(share)), ("threads", json!(threads))];
    let text = format!(
        "threads got unequal shares: the fastest did {} times as much as the slowest{who}",
        numbers::ratio(fastest / slowest)
    );
    let advice = "do not take the total for what each thread would get; repeat with as many threads as processors";
    vec![Cause::new("thread-imbalance", 0.85, text, &evidence).advising(advice)]
}
