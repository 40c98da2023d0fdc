//! The claims of the case studies beside their numbers, and beside others: verdicts follow the numbers.
//!
//! `case_studies.jsonl` has what the sources tell of each result: a name and its numbers, no text.

use plimsoll_catalog::catalog::Catalog;
use plimsoll_workload::provisioned::Provisioning;
use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::explanation::bought::Known;

#[derive(Clone, Deserialize)]
struct ToldResult {
    document: String,
    target: String,
    workload: String,
    measured: Measured,
}

fn numbers() -> Vec<ToldResult> {
    let lines = include_str!("case_studies.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What is judged beside numbers.
struct Studies {
    claims: Claims,
    /// What the context of each document says.
    contexts: [(&'static str, Provisioning); 4],
    catalog: Catalog,
}

impl Studies {
    fn read() -> Self {
        let contexts = [
            ("000", include_str!("../../../../../docs/case-studies/000.toml")),
            ("001", include_str!("../../../../../docs/case-studies/001.toml")),
            ("002", include_str!("../../../../../docs/case-studies/002.toml")),
            ("003", include_str!("../../../../../docs/case-studies/003.toml")),
        ];
        let claims = include_str!("../../../../../docs/case-studies/claims.csv");
        Self {
            claims: Claims::read(claims, Thousands::Untold).unwrap(),
            contexts: contexts.map(|(document, text)| (document, toml::from_str(text).unwrap())),
            catalog: Catalog::default(),
        }
    }

    /// The claims beside these numbers.
    fn judged(&self, numbers: &[ToldResult]) -> Vec<JudgedClaim> {
        let record_of = |(document, _): &(&str, Provisioning)| {
            let of_it = numbers.iter().filter(|result| result.document == *document);
            record(of_it.map(|one| (one.target.as_str(), one.workload.as_str(), one.measured.clone())).collect())
        };
        let records: Vec<Record> = self.contexts.iter().map(record_of).collect();
        let subjects: Vec<(&Record, &Provisioning)> =
            records.iter().zip(&self.contexts).map(|(record, (_, said))| (record, said)).collect();
        let records: Vec<&Record> = records.iter().collect();
        self.claims.judge(&records, &Known { subjects: &subjects, catalog: &self.catalog }).claims
    }
}

/// The ids of the claims with a verdict.
fn with(judged: &[JudgedClaim], verdict: Verdict) -> Vec<&str> {
    let found = judged.iter().filter(|claim| claim.verdict == verdict);
    found.map(|claim| claim.id.as_deref().unwrap()).collect()
}

/// What of a result is made faster.
#[derive(Clone, Copy, Debug)]
enum What {
    Everything,
    /// Each thread, but not their sum; of a figure, what was expected of it.
    Parts,
    /// The first thread or run.
    First,
}

fn faster(measured: &mut Measured, factor: f64, what: What) {
    let count = |value: &mut Option<u64>| *value = value.map(|value| (value as f64 * factor) as u64);
    let rate = |value: &mut Option<f64>| *value = value.map(|value| value * factor);
    let of_total = |total: &mut ToldDirection| {
        count(&mut total.bytes);
        count(&mut total.operations);
        rate(&mut total.bytes_per_second);
        rate(&mut total.iops);
        total.latency_mean_ns = total.latency_mean_ns.map(|latency| latency / factor);
    };
    match measured {
        Measured::Transfers(transfers) => {
            for direction in [&mut transfers.read, &mut transfers.write, &mut transfers.total].into_iter().flatten() {
                match what {
                    What::Everything => {
                        of_total(direction);
                        direction.threads.iter_mut().for_each(of_total);
                    }
                    What::Parts => direction.threads.iter_mut().for_each(of_total),
                    What::First => direction.threads.iter_mut().take(1).for_each(of_total),
                }
            }
        }
        Measured::Durations(runs) => {
            let many = if matches!(what, What::Everything) { runs.len() } else { 1 };
            for run in runs.iter_mut().take(many) {
                run.elapsed_ns = (run.elapsed_ns as f64 / factor) as u64;
            }
        }
        Measured::Files(files) if matches!(what, What::Everything) => {
            files.write_bytes_per_second *= factor;
            files.read_bytes_per_second *= factor;
            files.write_read_bytes_per_second *= factor;
        }
        Measured::Figure(figure) if matches!(what, What::Parts) => rate(&mut figure.expected),
        Measured::Figure(figure) if matches!(what, What::Everything) => {
            figure.low *= factor;
            match &mut figure.value {
                FigureValue::Iops(value) | FigureValue::BytesPerSecond(value) => *value *= factor,
                FigureValue::LatencyNs(value) => *value /= factor,
                FigureValue::Range => {}
            }
        }
        Measured::Files(_) | Measured::Figure(_) => {}
    }
}

/// The results whose names contain one of the words, made faster.
fn changed(words: &[&str], factor: f64, what: What) -> Vec<ToldResult> {
    let mut numbers = numbers();
    for result in &mut numbers {
        let name = format!("{} {}", result.target, result.workload);
        if words.iter().any(|word| name.contains(word)) {
            faster(&mut result.measured, factor, what);
        }
    }
    numbers
}

#[test]
fn the_numbers_of_the_sources_bear_out_a_third_of_what_is_said_of_them() {
    let judged = Studies::read().judged(&numbers());
    let count = |verdict| with(&judged, verdict).len();
    assert_eq!(Verdict::ALL.map(count), [16, 5, 22, 22]);
}

#[test]
fn what_does_not_follow_does_where_the_numbers_are_others() {
    let studies = Studies::read();
    for (id, words, factor, what) in [
        ("C000-6", &["acstor-volume/test randrw"][..], 1.2, What::Everything),
        ("C000-12", &["dbacstor"], 0.8, What::Everything),
        ("C000-14", &["dbacstor"], 0.8, What::Everything),
        ("C001-19", &["fileshare-premium"], 3.0, What::Everything),
        ("C001-6", &["disk-standard", "disk-premium"], 20.0, What::Everything),
        ("C001-7", &["agent-d2v3"], 3.0, What::Everything),
        ("C001-10", &["disk-premium"], 0.3, What::Everything),
        ("C002-1", &["async-r-standardhdd", "async-w-standardhdd"], 500.0 / 561.0, What::Everything),
        ("C003-7", &["persistent"], 3200.0 / 117.45, What::Everything),
        ("C003-8", &["Desktop"], 200.0, What::Everything),
    ] {
        let verdict = |numbers: &[ToldResult]| {
            let claim = studies.judged(numbers).into_iter().find(|claim| claim.id.as_deref() == Some(id)).unwrap();
            (claim.verdict, claim.recomputation)
        };
        assert_eq!(verdict(&numbers()).0, Verdict::DoesNotFollow, "{id}");
        let (found, why) = verdict(&changed(words, factor, what));
        assert_eq!(found, Verdict::Follows, "{id}: {why}");
    }
}

proptest! {
    // Every result is changed for each factor, so that one factor a run is enough.
    #![proptest_config(ProptestConfig::with_cases(1))]

    #[test]
    fn whatever_is_borne_out_rests_on_a_result_and_what_is_not_told_on_none(factor in 8.0..64.0_f64) {
        let numbers = numbers();
        let studies = Studies::read();
        let before = studies.judged(&numbers);
        let mut firm = with(&before, Verdict::Follows);
        firm.extend(with(&before, Verdict::Rounding));
        // What is not borne out may stay so, but its recomputation does not.
        let mut unmoved = with(&before, Verdict::DoesNotFollow);
        for index in 0..numbers.len() {
            for (factor, what) in [
                (factor, What::Everything),
                (1.0 / factor, What::Everything),
                (factor, What::Parts),
                (factor, What::First),
            ] {
                let mut other = numbers.clone();
                faster(&mut other[index].measured, factor, what);
                if other[index].measured == numbers[index].measured {
                    continue;
                }
                let after = studies.judged(&other);
                let broken = with(&after, Verdict::DoesNotFollow);
                firm.retain(|id| !broken.contains(id));
                for (one, other) in before.iter().zip(&after) {
                    let id = one.id.as_deref().unwrap();
                    unmoved.retain(|unmoved| *unmoved != id || one.recomputation == other.recomputation);
                    if one.verdict == Verdict::NoData {
                        prop_assert_eq!(other.verdict, Verdict::NoData, "{}", id);
                    }
                }
            }
        }
        prop_assert!(firm.is_empty(), "no result makes a difference to {:?}", firm);
        prop_assert!(unmoved.is_empty(), "no result is told of in {:?}", unmoved);
    }
}
