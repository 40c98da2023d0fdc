//! What the iterations of an application show beside their times.

use std::collections::BTreeMap;

use plimsoll_record::{
    application::{ApplicationResult, BoundBy, Iteration},
    numbers,
    results::{Finding, Severity},
};
use serde_json::json;

use crate::findings::finding;

/// An iteration that took so much longer than the middle one is told: the modified z-score of the field.
const OUTLIER_SCORE: f64 = 14.8;
/// Shares of time that differ by less than this are told together.
const CLOSE: f64 = 0.2;
/// Deviations from the median of a normal distribution are this share of its standard deviation.
const NORMAL_DEVIATION: f64 = 0.674_49;

/// The sentences about a cell that runs commands.
pub(super) fn of(application: &ApplicationResult) -> Vec<Finding> {
    let found = [bound_by, unrest, outliers, untold, uneven_processors];
    found.into_iter().filter_map(|find| find(application)).collect()
}

/// What kept it from being faster.
fn bound_by(application: &ApplicationResult) -> Option<Finding> {
    let (bound, processors) = (application.bound_by?, application.processors?);
    let disk = application.disk_share.map_or_else(
        || "nothing is known of its disk".to_owned(),
        |share| format!("waited for the disk, or had it busy, in {} of the time", numbers::percent(share)),
    );
    // On the same storage again, the word may be the other one.
    let is_close = application.disk_share.is_some_and(|share| (share - processors.min(1.0)).abs() < CLOSE);
    let (computing, waited_for_disk) = (processors.min(1.0), application.disk_share.unwrap_or(0.0));
    let rest = 1.0 - computing - waited_for_disk;
    // What of the rest was for a processor has to be more than each of the others, and than what else is in it.
    let ready = application.ready_share.filter(|_| bound == BoundBy::Waiting);
    let is_ready = ready.is_some_and(|share| share > computing.max(waited_for_disk).max(rest - share));
    let ready_text = ready.map_or_else(String::new, |share| {
        format!("; ready to run without a processor in {} of the time", numbers::percent(share))
    });
    let what = match bound {
        BoundBy::Cpu if is_close => "computing took the largest part of its time, and the disk hardly less",
        BoundBy::Io if is_close => "the disk took the largest part of its time, and computing hardly less",
        BoundBy::Cpu => "computing took the largest part of its time",
        BoundBy::Io => "the disk took the largest part of its time",
        BoundBy::Waiting if is_ready => {
            "it waited for processors that others kept busy for the largest part of its time"
        }
        BoundBy::Waiting => {
            "it waited for the largest part of its time, and not for its disk: for locks, the network or a clock"
        }
    };
    let text = format!("{bound}: {what} (kept {processors:.2} processors busy, servers included; {disk}{ready_text})");
    let evidence = [
        ("processors", json!(processors)),
        ("disk_share", json!(application.disk_share)),
        ("ready_share", json!(application.ready_share)),
    ];
    Some(finding("application-bound-by", Severity::Info, text, &evidence))
}

/// Storage that was still busy with what came before.
fn unrest(application: &ApplicationResult) -> Option<Finding> {
    let busy = application.counted().filter(|iteration| !iteration.is_at_rest).count();
    let longest_ns = application.counted().map(|iteration| iteration.settle_ns).max()?;
    if busy == 0 {
        return None;
    }
    let text = format!(
        "the storage had not come to rest before {busy} of {} iterations, after {}: they are slower by what it still \
         had to do (--settle allows more time)",
        application.counted().count(),
        numbers::duration(longest_ns)
    );
    Some(finding("application-not-settled", Severity::Warning, text, &[("iterations", json!(busy))]))
}

/// Iterations that are far from the others, in what is shown of them: the rate that they told, else their time.
fn outliers(application: &ApplicationResult) -> Option<Finding> {
    let rate = application.rate.as_ref();
    let median = rate.map(|rate| rate.spread).or(application.elapsed_ns)?.median;
    let of = |iteration: &Iteration| match rate {
        Some(_) => iteration.rate().map_or(median, |rate| rate.value),
        None => iteration.elapsed_ns as f64,
    };
    let mut deviations: Vec<f64> = application.counted().map(|iteration| (of(iteration) - median).abs()).collect();
    if deviations.len() < 3 {
        return None;
    }
    deviations.sort_by(f64::total_cmp);
    let deviation = deviations[deviations.len() / 2];
    let is_far = |iteration: &&Iteration| {
        let off = (of(iteration) - median).abs();
        // A tenth is nothing to be looked into, however alike the others are.
        NORMAL_DEVIATION * off > OUTLIER_SCORE * deviation && off > 0.1 * median
    };
    let is_more = |iteration: &&&Iteration| of(iteration) > median;
    let outliers: Vec<&Iteration> = application.counted().filter(is_far).collect();
    let first = *outliers.first()?;
    let more = outliers.iter().filter(is_more).count();
    let how = match (more, rate.is_some()) {
        (0, false) => "took far shorter",
        (0, true) => "told a rate far lower",
        (more, false) if more == outliers.len() => "took far longer",
        (more, true) if more == outliers.len() => "told a rate far higher",
        (_, false) => "took far longer or shorter",
        (_, true) => "told a rate far higher or lower",
    };
    let far: Vec<u32> = outliers.iter().map(|iteration| iteration.round + 1).collect();
    let is_warmed_up = application.iterations.first().is_some_and(|iteration| !iteration.counted);
    // An empty cache makes nothing faster.
    let is_first = first.round == application.counted().next()?.round;
    let is_slower = is_more(&&first) != rate.is_some();
    let advice = if is_first && is_slower && !is_warmed_up {
        "the first one, so that a cache may have been empty before: --warmup 1 leaves it out"
    } else {
        "something else may have gone on"
    };
    let numbers: Vec<String> = far.iter().map(u32::to_string).collect();
    let text = format!("iteration {} {how} than the others: {advice}", numbers.join(", "));
    Some(finding("application-outliers", Severity::Warning, text, &[("iterations", json!(far))]))
}

/// Figures that the command told of some iterations and not of others.
fn untold(application: &ApplicationResult) -> Option<Finding> {
    let counted = application.counted().count();
    let mut told: Vec<(&str, usize)> = Vec::new();
    for figure in application.counted().flat_map(|iteration| &iteration.figures) {
        match told.iter_mut().find(|(name, _)| *name == figure.name) {
            Some((_, times)) => *times += 1,
            None => told.push((&figure.name, 1)),
        }
    }
    let (name, times) = told.into_iter().find(|(_, times)| *times < counted)?;
    let text = format!(
        "{name} was told of {times} of {counted} iterations, and what is not told of all says nothing of them: a command \
         has to write it to $FIGURES each time, and plimsoll's own programs leave percentiles of too few operations out"
    );
    let evidence = [("figure", json!(name)), ("told", json!(times)), ("iterations", json!(counted))];
    Some(finding("application-figure-untold", Severity::Warning, text, &evidence))
}

/// Processors that it had more often than others, when targets swap them.
fn uneven_processors(application: &ApplicationResult) -> Option<Finding> {
    let mut had: BTreeMap<&[u32], usize> = BTreeMap::new();
    for iteration in application.counted().filter(|iteration| !iteration.cpus.is_empty()) {
        *had.entry(&iteration.cpus).or_default() += 1;
    }
    let (least, most) = (had.values().min()?, had.values().max()?);
    if had.len() > 1 && least == most {
        return None;
    }
    let list = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let each: Vec<String> = had.iter().map(|(cpus, times)| format!("{times} on {}", list(cpus))).collect();
    let text = format!(
        "the processors were not swapped evenly ({} of its iterations): where they differ, that is part of the numbers, \
         and a whole run, or one that goes on (--resume), has none of it",
        each.join(", ")
    );
    let evidence = [("iterations_by_processors", json!(each))];
    Some(finding("application-processors-uneven", Severity::Warning, text, &evidence))
}

#[cfg(test)]
mod tests {
    use plimsoll_record::application::{OwnFigure, RateSpread, Spread};

    use super::*;

    fn result(elapsed: &[u64]) -> ApplicationResult {
        let of = |(round, elapsed_ns): (usize, &u64)| Iteration {
            round: round as u32,
            elapsed_ns: *elapsed_ns,
            is_at_rest: true,
            counted: true,
            ..Iteration::default()
        };
        ApplicationResult {
            iterations: elapsed.iter().enumerate().map(of).collect(),
            elapsed_ns: Spread::of(elapsed.iter().map(|ns| *ns as f64)),
            processors: Some(0.5),
            disk_share: Some(0.25),
            bound_by: Some(BoundBy::Waiting),
            ..ApplicationResult::default()
        }
    }

    #[test]
    fn a_first_iteration_that_is_far_off_is_a_cold_cache_perhaps() {
        let found = of(&result(&[44_000, 6600, 6500, 6700, 6650]));
        let text = &found.iter().find(|found| found.code == "application-outliers").unwrap().text;
        assert!(text.starts_with("iteration 1 took far longer than") && text.contains("--warmup 1"), "{text}");
        let found = of(&result(&[1000, 6600, 6500, 6700, 6650]));
        let text = &found.iter().find(|found| found.code == "application-outliers").unwrap().text;
        assert_eq!(text, "iteration 1 took far shorter than the others: something else may have gone on");
        let found = of(&result(&[6600, 1000, 6500, 44_000, 6700, 6650, 6620]));
        let text = &found.iter().find(|found| found.code == "application-outliers").unwrap().text;
        assert!(text.starts_with("iteration 2, 4 took far longer or shorter than"), "{text}");
        assert_eq!(of(&result(&[6600, 6500, 6700, 6650])).len(), 1);
        // Alike to a hair, but for one that is three percent off.
        assert_eq!(of(&result(&[1000, 1000, 1000, 1030])).len(), 1);
    }

    #[test]
    fn a_rate_that_is_far_off_is_told_of_commands_that_run_for_a_fixed_time() {
        let outliers = |rates: &[f64]| {
            let mut result = result(&vec![10_000; rates.len()]);
            for (iteration, rate) in result.iterations.iter_mut().zip(rates) {
                iteration.figures = vec![OwnFigure { name: "tps".into(), value: *rate, unit: "/s".into() }];
            }
            let spread = Spread::of(rates.iter().copied()).unwrap();
            result.rate = Some(RateSpread { name: "tps".into(), unit: "/s".into(), spread });
            of(&result).into_iter().find(|found| found.code == "application-outliers").map(|found| found.text)
        };
        let fast = outliers(&[5000.0, 102.0, 103.0, 104.0, 105.0]).unwrap();
        let due = "iteration 1 told a rate far higher than the others: something else may have gone on";
        assert_eq!(fast, due);
        let cold = outliers(&[3.0, 102.0, 103.0, 104.0, 105.0]).unwrap();
        assert!(cold.starts_with("iteration 1 told a rate far lower than") && cold.contains("--warmup 1"), "{cold}");
        // Less than one a second lies close together as well.
        let slow = outliers(&[0.101, 0.102, 0.001, 0.103, 0.102]).unwrap();
        assert!(slow.starts_with("iteration 3 told a rate far lower than"), "{slow}");
        assert_eq!(outliers(&[101.0, 102.0, 103.0, 104.0, 105.0]), None);
        assert_eq!(outliers(&[0.0, 0.0, 0.0]), None);
    }

    #[test]
    fn what_bounds_it_is_said_with_both_shares() {
        let text = &of(&result(&[10, 10]))[0].text;
        assert!(text.starts_with("waiting: it waited") && text.contains("kept 0.50 processors busy"), "{text}");
        assert!(text.contains("in 25% of the time") || text.contains("in 25 % of the time"), "{text}");
    }

    #[test]
    fn who_waits_for_processors_does_so_for_longer_than_for_anything_else() {
        let text = |processors, disk_share, ready_share| {
            let result = ApplicationResult {
                processors: Some(processors),
                disk_share: Some(disk_share),
                ready_share: Some(ready_share),
                ..result(&[10, 10])
            };
            of(&result).swap_remove(0).text
        };
        let crowded = text(0.30, 0.10, 0.50);
        assert!(crowded.contains("waited for processors that others kept busy for the largest part"), "{crowded}");
        assert!(crowded.contains("ready to run without a processor in 50"), "{crowded}");
        // More than half of the rest, but it computed for longer; and more than either, but less than what is unknown.
        for other in [text(0.30, 0.15, 0.28), text(0.20, 0.10, 0.30)] {
            assert!(other.contains("for locks, the network or a clock"), "{other}");
        }
    }

    #[test]
    fn a_figure_that_is_not_told_each_time_is_missed() {
        let mut result = result(&[10, 10, 10]);
        for iteration in &mut result.iterations[..2] {
            iteration.figures = OwnFigure::parse("commits 5 /s").unwrap();
        }
        let found = of(&result);
        assert!(found.iter().any(|found| found.text.starts_with("commits was told of 2 of 3 iterations")), "{found:?}");
        result.iterations[2].figures = OwnFigure::parse("commits 6 /s").unwrap();
        assert_eq!(of(&result).len(), 1, "what bounds it");
    }

    #[test]
    fn who_was_warmed_up_is_not_told_to_be() {
        let mut result = result(&[6500, 44_000, 6600, 6500, 6700, 6650]);
        result.iterations[0].counted = false;
        result.elapsed_ns = Spread::of(result.counted().map(|of| of.elapsed_ns as f64));
        let found = of(&result);
        let text = &found.iter().find(|found| found.code == "application-outliers").unwrap().text;
        assert!(text.ends_with("something else may have gone on"), "{text}");
    }

    #[test]
    fn processors_that_were_not_swapped_evenly_are_told() {
        let on = |cpus: &[u32]| {
            let mut result = result(&vec![10; cpus.len()]);
            result.iterations.iter_mut().zip(cpus).for_each(|(iteration, cpu)| iteration.cpus = vec![*cpu]);
            let found = of(&result).into_iter().find(|found| found.code == "application-processors-uneven");
            found.map(|found| found.text)
        };
        assert_eq!(on(&[0, 1, 1, 0]), None);
        assert_eq!(on(&[]), None);
        assert!(on(&[0]).is_some(), "others had what it never had");
        let text = on(&[0, 1, 0]).unwrap();
        assert!(text.contains("evenly (2 on 0, 1 on 1 of its iterations)"), "{text}");
    }

    #[test]
    fn unrest_is_told_with_how_long_was_waited() {
        let mut busy = result(&[10, 10, 10]);
        busy.iterations[1].is_at_rest = false;
        busy.iterations[1].settle_ns = 60_000_000_000;
        let found = of(&busy);
        assert!(found.iter().any(|found| found.text.contains("before 1 of 3 iterations")), "{found:?}");
    }
}
