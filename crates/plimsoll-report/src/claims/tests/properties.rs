//! Verdicts follow from the data alone: of made-up results, what is true follows, what is no longer true does not, and
//! what is about something else changes nothing.

use plimsoll_record::numbers;
use proptest::prelude::*;

use super::*;

/// Rates of three targets with two workloads, and times of two commands.
fn data(rates: &[f64; 6], times: &[Vec<f64>; 2]) -> Record {
    let names = ["alpha", "beta", "gamma"];
    let mut results: Vec<(&str, &str, Measured)> = Vec::new();
    for (index, rate) in rates.iter().enumerate() {
        let workload = ["sequential", "random"][index % 2];
        let direction = ToldDirection {
            iops: Some(*rate),
            bytes_per_second: Some(rate * 4096.0),
            latency_mean_ns: Some(1e9 / rate),
            ..ToldDirection::default()
        };
        let transfers = Transfers { read: Some(direction), ..Transfers::default() };
        results.push((names[index / 2], workload, Measured::Transfers(Box::new(transfers))));
    }
    results.push(("delta", "command", runs(&times[0])));
    results.push(("epsilon", "command", runs(&times[1])));
    record(results)
}

/// A statement that is true of the data, and the rates it rests on: none where it rests on times.
fn statement(kind: usize, rates: &[f64; 6], times: &[Vec<f64>; 2]) -> (String, &'static [usize]) {
    let ratio = rates[0] / rates[2];
    let percent = (ratio - 1.0) * 100.0;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    match kind {
        0 => (format!("iops of alpha sequential = {}", numbers::decimal(rates[0], 1)), &[0]),
        1 => (format!("alpha sequential has {:.3} MB/s", rates[0] * 4096.0 / 1e6), &[0]),
        2 => (format!("latency of beta random is {:.2} us", 1e6 / rates[3]), &[3]),
        3 => (format!("alpha sequential / beta sequential = {ratio:.3}"), &[0, 2]),
        4 => (format!("alpha sequential is {ratio:.4} times as fast as beta"), &[0, 2]),
        5 if percent > 0.0 => (format!("alpha sequential is {percent:.2}% faster than beta"), &[0, 2]),
        5 => (format!("alpha sequential is {:.2}% slower than beta", -percent), &[0, 2]),
        6 => {
            let mean = mean(&[rates[0], rates[2], rates[4]]);
            (format!("average iops of sequential is {mean:.2} IOPS"), &[0, 2, 4])
        }
        7 => (format!("iops of gamma random is between {:.2} and {:.2}", rates[5] * 0.99, rates[5] * 1.01), &[5]),
        8 => (format!("gamma random bandwidth is {:.3} MiB/s", rates[5] * 4096.0 / 1_048_576.0), &[5]),
        9 => (format!("average duration of delta is {:.3} s", mean(&times[0])), &[]),
        _ => (format!("sum of iops of random is exactly {:.2}", rates[1] + rates[3] + rates[5]), &[1, 3, 5]),
    }
}

fn verdict(record: &Record, statement: &str) -> Verdict {
    judged_of(record, statement).0
}

proptest! {
    #[test]
    fn what_is_true_follows_until_what_it_rests_on_changes(
        rates in proptest::array::uniform6(1000.0..5000.0_f64),
        times in proptest::array::uniform2(proptest::collection::vec(10.0..500.0_f64, 3..6)),
        kind in 0..11_usize,
        scale in prop_oneof![1.5..4.0_f64, 0.2..0.6_f64],
    ) {
        prop_assume!((rates[0] / rates[2] - 1.0).abs() > 1e-3);
        let (statement, cells) = statement(kind, &rates, &times);
        let record = data(&rates, &times);
        let (found, text) = judged_of(&record, &statement);
        prop_assert_eq!(found, Verdict::Follows, "{}: {}", statement, text);
        for cell in 0..6 {
            let mut other = rates;
            other[cell] *= scale;
            let changed = verdict(&data(&other, &times), &statement);
            if !cells.contains(&cell) {
                prop_assert_eq!(changed, found, "{} rests on cell {}", statement, cell);
            } else if cells.len() < 3 {
                prop_assert_eq!(changed, Verdict::DoesNotFollow, "{} without cell {}", statement, cell);
            }
        }
        let slower = times.clone().map(|times| times.iter().map(|time| time * scale).collect::<Vec<_>>());
        let with = |first: &[f64], second: &[f64]| {
            verdict(&data(&rates, &[first.to_vec(), second.to_vec()]), &statement)
        };
        prop_assert_eq!(with(&times[0], &slower[1]), found);
        let changed = with(&slower[0], &times[1]);
        prop_assert_eq!(changed, if cells.is_empty() { Verdict::DoesNotFollow } else { found });
    }

    #[test]
    fn bounds_and_comparisons_are_those_of_the_numbers(
        rates in proptest::array::uniform6(1000.0..5000.0_f64),
        bound in 1000.0..5000.0_f64,
    ) {
        let record = data(&rates, &[vec![1.0; 3], vec![1.0; 3]]);
        prop_assume!((rates[0] / bound - 1.0).abs() > 0.006 && (rates[0] / rates[2] - 1.0).abs() > 1e-9);
        let of = |holds| if holds { Verdict::Follows } else { Verdict::DoesNotFollow };
        prop_assert_eq!(verdict(&record, &format!("iops of alpha sequential > {bound:.3}")), of(rates[0] > bound));
        prop_assert_eq!(verdict(&record, &format!("iops of alpha sequential is at most {bound:.3}")), of(rates[0] < bound));
        prop_assert_eq!(verdict(&record, "alpha sequential is faster than beta"), of(rates[0] > rates[2]));
        prop_assert_eq!(verdict(&record, "latency of alpha sequential is lower than beta"), of(rates[0] > rates[2]));
        let fastest = rates[0] > rates[2] && rates[0] > rates[4];
        prop_assert_eq!(verdict(&record, "alpha sequential is the fastest"), of(fastest));
        let always = rates[0] > rates[2] && rates[1] > rates[3];
        prop_assert_eq!(verdict(&record, "alpha is faster than beta in every workload"), of(always));
    }

    #[test]
    fn no_text_is_too_odd(text in ".{0,60}", bytes in "[ -~\n\"]{0,80}") {
        for text in [&text, &bytes] {
            let _ = Claims::read(text, Thousands::Untold);
            let claims = Claims::read(&format!("claim\n\"{}\"\n", text.replace('"', "\"\"")), Thousands::Point);
            if let Ok(claims) = claims {
                let _ = claims.judge(&[&post()], &NothingExpected);
            }
        }
    }

    #[test]
    fn what_is_understood_can_be_written_back(words in proptest::collection::vec(prop_oneof![
        Just("iops"), Just("read"), Just("of"), Just("alpha"), Just("4"), Just("4x"), Just("40%"), Just("times"),
        Just("is"), Just("="), Just("more"), Just("than"), Just("faster"), Just("between"), Just("and"), Just("("),
        Just(")"), Just("/"), Just("-"), Just("+"), Just("average"), Just("3h 4m"), Just("5 MB/s"), Just("the"),
        Just("same"), Just("as"), Just("threads"), Just("odd"), Just("or"), Just("10k"), Just("every"), Just("workload"),
        Just("\"a b\""), Just("p99"), Just("latency"), Just("expected"), Just("half"), Just("to"), Just("fastest"),
        Just("by"), Just("a"), Just("factor"), Just("1.984"), Just("write"), Just("at"), Just("least"), Just("two"),
    ], 1..12)) {
        if let Ok(statement) = Statement::parse(&words.join(" "), Thousands::Untold) {
            let written = statement.to_string();
            prop_assert_eq!(Statement::parse(&written, Thousands::Untold), Ok(statement), "{}", written);
        }
    }
}
