//! Traces instead of storages: answers with known truth, and what is said of files that are no traces.

use std::{fmt::Write, fs, iter, path::Path, process::Command};

use serde_json::{Value, json};

use crate::support::{Place, Said};

/// Two hours of a level with even noise of 2 %.
fn level(rate: f64, seed: u32) -> Vec<f64> {
    let noise = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    let states = iter::successors(Some(seed.wrapping_mul(2_654_435_761)), noise).skip(3);
    states.take(7200).map(|state| (rate * (0.98 + 0.04 * f64::from(state >> 16) / 65_536.0)).round()).collect()
}

/// Between a hundred and a hundred thousand every few seconds.
fn alternating(dwell: usize) -> Vec<f64> {
    (0..7200).map(|second| if (second / dwell).is_multiple_of(2) { 100.0 } else { 100_000.0 }).collect()
}

fn write(place: &Place, name: &str, rates: &[f64]) {
    let rows = rates.iter().enumerate().fold("t_s,ops\n".to_owned(), |mut text, (second, rate)| {
        let _ = writeln!(text, "{second},{rate}");
        text
    });
    fs::write(place.path(name), rows).unwrap();
}

/// The lines of JSON that a replay prints.
fn answers(place: &Place, arguments: &str) -> Vec<Value> {
    let said = place.run(&format!("replay {arguments} --json"));
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{arguments}");
    said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn answer(place: &Place, arguments: &str) -> Value {
    let mut answers = answers(place, arguments);
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}

#[test]
fn a_level_trace_is_steady_with_an_interval_that_holds_it() {
    let place = Place::new();
    write(&place, "disk.csv", &level(5000.0, 1));
    for (mode, cost_s) in [("single", 138.0), ("matrix", 90.0)] {
        let answer = answer(&place, &format!("--trace ROOT/disk.csv --mode {mode} --cells 12"));
        let keys: Vec<_> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["id", "verdict", "est", "lo", "hi", "cost_s", "grade", "flags"]);
        assert_eq!((&answer["id"], &answer["verdict"]), (&json!("disk"), &json!("steady")));
        let [low, rate, high] = ["lo", "est", "hi"].map(|key| answer[key].as_f64().unwrap());
        assert!(low < 5000.0 && 5000.0 < high && (rate / 5000.0 - 1.0).abs() < 0.02, "{answer}");
        assert!(answer["cost_s"].as_f64().unwrap() <= cost_s, "{answer}");
    }
}

#[test]
fn a_directory_has_a_line_for_each_trace_and_neighbours_change_nothing() {
    let place = Place::new();
    for (name, rate) in [("b", 200.0), ("a", 100.0), ("a-b", 300.0), (".hidden", 400.0)] {
        write(&place, &format!("data/{name}.csv"), &level(rate, 7));
    }
    fs::write(place.path("data/notes.txt"), "no trace").unwrap();
    let together = answers(&place, "--traces DATA");
    let alone = ["a", "a-b", "b"].map(|name| answer(&place, &format!("--trace DATA/{name}.csv")));
    assert_eq!(together, alone);
    let table = place.run("replay --traces DATA").stdout;
    let words: Vec<_> = table.lines().nth(2).unwrap().split_whitespace().take(3).collect();
    assert_eq!(words[..2], ["a", "steady"], "{table}");
    assert!((words[2].parse::<f64>().unwrap() - alone[0]["est"].as_f64().unwrap()).abs() < 0.05, "{table}");
    assert!(table.contains("window") && table.contains(" to "), "{table}");
}

#[test]
fn a_rate_that_alternates_wildly_is_never_steady() {
    let place = Place::new();
    for dwell in [1, 2, 3, 5, 7, 8, 13] {
        write(&place, &format!("data/{dwell}.csv"), &alternating(dwell));
    }
    for arguments in ["--mode single", "--mode matrix", "--mode matrix --cells 2 --seed 9", "--effort thorough"] {
        for answer in answers(&place, &format!("--traces DATA {arguments}")) {
            assert_eq!(answer["verdict"], "unstable", "{arguments}: {answer}");
            assert!(answer["grade"] == "F" || answer["flags"].as_array().unwrap().contains(&json!("wide")), "{answer}");
        }
    }
}

#[test]
fn a_limit_turns_a_claim_into_a_burst_with_its_sustained_rate() {
    let place = Place::new();
    write(&place, "data/disk.csv", &level(3000.0, 3));
    fs::write(place.path("limits.json"), r#"{"disk": {"sustained": 300, "burst": 3000, "bucket": 5.4e6}}"#).unwrap();
    fs::write(place.path("others.json"), r#"{"other": {"sustained": 300, "bucket": 5.4e6}}"#).unwrap();
    for mode in ["single", "matrix"] {
        let all = format!("--traces DATA --mode {mode}");
        assert_eq!(answers(&place, &all)[0]["verdict"], "steady");
        let others = place.run(&format!("replay {all} --limits ROOT/others.json --json"));
        assert_eq!(others.json()["verdict"], "steady", "{}", others.stderr);
        let named = answers(&place, &format!("{all} --limits ROOT/limits.json"));
        assert_eq!((&named[0]["verdict"], &named[0]["est"]), (&json!("burst"), &json!(300.0)), "{mode}");
        assert!(named[0]["flags"].as_array().unwrap().contains(&json!("burst-predicted")));
        assert_eq!(answers(&place, &format!("{all} --limit iops=300,burst-iops=3k,bucket=5.4M")), named);
    }
}

#[test]
fn a_claim_that_half_an_hour_later_is_no_longer_true_is_withdrawn_with_a_bookend() {
    let place = Place::new();
    let cliff = [&level(3000.0, 5)[..1500], &level(500.0, 6)[..5700]].concat();
    write(&place, "disk.csv", &cliff);
    assert_eq!(answer(&place, "--trace ROOT/disk.csv")["verdict"], "steady");
    let later = answer(&place, "--trace ROOT/disk.csv --bookend");
    assert_eq!(later["verdict"], "unstable");
    assert!(later["flags"].as_array().unwrap().contains(&json!("moved")), "{later}");
}

#[test]
fn neither_the_unit_nor_what_comes_after_the_end_changes_an_answer() {
    let place = Place::new();
    let trace = level(1000.0, 11);
    let scaled: Vec<f64> = trace.iter().map(|rate| rate * 7.0).collect();
    write(&place, "disk.csv", &trace);
    write(&place, "scaled.csv", &scaled);
    for mode in ["single", "matrix"] {
        let ask = |name: &str| answer(&place, &format!("--trace ROOT/{name}.csv --mode {mode} --seed 4"));
        let (one, seven) = (ask("disk"), ask("scaled"));
        assert!((seven["est"].as_f64().unwrap() / one["est"].as_f64().unwrap() - 7.0).abs() < 1e-9);
        assert_eq!((&one["verdict"], &one["cost_s"]), (&seven["verdict"], &seven["cost_s"]));
        // The last visit of a matrix ends within a quarter of an hour: eleven passes of 84 s or less.
        let end = if mode == "single" { one["cost_s"].as_f64().unwrap() as usize } else { 15 * 60 + 24 };
        let other_end: Vec<f64> = trace[..end].iter().copied().chain(alternating(3).into_iter().skip(end)).collect();
        write(&place, "disk.csv", &other_end);
        assert_eq!(ask("disk"), one, "{mode}");
        write(&place, "disk.csv", &trace);
    }
}

#[test]
fn two_traces_are_compared_and_the_other_way_round_inverts_the_ratio() {
    let place = Place::new();
    write(&place, "a.csv", &level(1000.0, 1));
    write(&place, "b.csv", &level(1100.0, 2));
    let [one, other] =
        ["a.csv ROOT/b.csv", "b.csv ROOT/a.csv"].map(|pair| answer(&place, &format!("--compare ROOT/{pair} --seed 3")));
    let number = |answer: &Value, key: &str| answer[key].as_f64().unwrap();
    assert!((number(&one, "ratio") * number(&other, "ratio") - 1.0).abs() < 1e-12);
    assert!(number(&one, "lo") < 1.1 && 1.1 < number(&one, "hi"), "{one}");
    assert_eq!((&one["different"], &other["different"]), (&json!(true), &json!(true)));
    let same = answer(&place, "--compare ROOT/a.csv ROOT/a.csv");
    assert!(same["different"] == false && (number(&same, "ratio") - 1.0).abs() < 0.01, "{same}");
    let text = place.run("replay --compare a.csv b.csv").stdout;
    assert!(
        text.contains("b.csv has 1.1") && text.contains("verdict  b.csv is ") && text.contains(" faster"),
        "{text}"
    );
    write(&place, "zero.csv", &[0.0; 7200]);
    let none = answer(&place, "--compare ROOT/a.csv ROOT/zero.csv");
    assert!(["ratio", "lo", "hi", "different"].iter().all(|key| none[key].is_null()), "{none}");
    let reason = none["reason"].as_str().unwrap();
    assert!(reason.contains("nothing completes in ") && reason.ends_with("zero.csv"), "{none}");
    assert!(place.run("replay --compare a.csv zero.csv").stdout.contains("not compared: there is a block"));
}

#[test]
fn what_cannot_be_replayed_is_named_with_file_and_line() {
    let place = Place::new();
    write(&place, "good.csv", &level(1000.0, 1));
    write(&place, "data/good.csv", &level(1000.0, 1));
    fs::write(place.path("data/zap.csv"), "t_s,ops\r\n0,5\r\n\r\n2,6\r\n").unwrap();
    fs::write(place.path("bytes.csv"), b"t_s,ops\n0,5\n1,\xff\n").unwrap();
    fs::write(place.path("text.csv"), "second;operations\n0;5\n").unwrap();
    fs::create_dir(place.path("empty")).unwrap();
    fs::write(place.path("broken.json"), "{\"good\":\n {\"sustained\": 300}").unwrap();
    fs::write(place.path("wrong.json"), "{\"good\":\n {\"sustained\": 300, \"burst\": 3, \"bucket\": 9}}").unwrap();
    for (arguments, words) in [
        ("--trace ROOT/absent.csv", "absent.csv"),
        ("--trace ROOT/empty", "Is a directory"),
        ("--traces ROOT/absent", "absent"),
        ("--traces ROOT/good.csv", "Not a directory"),
        ("--traces ROOT/empty", "empty has no *.csv"),
        ("--trace ROOT/bytes.csv", "bytes.csv, line 3: this is no text in UTF-8"),
        ("--trace ROOT/text.csv", "text.csv, line 1: \"second;operations\" is not the header"),
        ("--compare ROOT/good.csv ROOT/absent.csv", "absent.csv"),
        ("--trace ROOT/good.csv --limits ROOT/absent.json", "absent.json"),
        ("--trace ROOT/good.csv --limits ROOT/broken.json", "line 2"),
        ("--trace ROOT/good.csv --limits ROOT/wrong.json", "wrong.json: burst must be at least sustained at line 2"),
        ("--trace ROOT/good.csv --limit iops=3000", "add burst-iops and bucket"),
        ("--trace ROOT/good.csv --limit bandwidth=1MB,bucket=1GB", "no bytes"),
        ("--trace ROOT/good.csv --effort quick --precision 3%", "--effort quick"),
    ] {
        let said = place.run(&format!("replay {arguments} --json"));
        assert!(said.error(2).contains(words), "{arguments}: {}", said.stderr);
    }
    for (arguments, words) in [
        ("", "--trace"),
        ("--trace ROOT/good.csv --traces DATA", "--traces"),
        ("--trace ROOT/good.csv --limit iops=fast", "iops=3000"),
        ("--trace ROOT/good.csv --limit iops=3,bucket=9 --limits ROOT/wrong.json", "--limits"),
        ("--compare ROOT/good.csv", "2 values"),
        ("--compare ROOT/good.csv ROOT/good.csv --mode single", "--mode"),
    ] {
        let said = place.run(&format!("replay {arguments}"));
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{arguments}");
        assert!(said.stderr.contains(words), "{arguments}: {}", said.stderr);
    }
}

#[test]
fn a_trace_that_cannot_be_read_does_not_cost_the_answers_of_others() {
    let place = Place::new();
    write(&place, "data/good.csv", &level(1000.0, 1));
    fs::write(place.path("data/zap.csv"), "t_s,ops\r\n0,5\r\n\r\n2,6\r\n").unwrap();
    fs::write(place.path("limits.json"), "{\"godo\": {\"sustained\": 300, \"burst\": 3000, \"bucket\": 9}}").unwrap();
    let said = place.run("replay --traces DATA --limits ROOT/limits.json --json");
    assert_eq!(said.code, Some(2));
    assert_eq!(said.json()["id"], "good", "{}", said.stdout);
    assert!(said.stderr.contains("zap.csv, line 4: second 2 stands where 1 should"), "{}", said.stderr);
    assert!(said.stderr.contains("no trace is called godo"), "{}", said.stderr);
}

#[test]
fn the_examples_in_the_document_are_what_the_program_prints() {
    let place = Place::new();
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/measuring.md")).unwrap();
    let blocks: Vec<&str> = text.split("```\n").skip(1).step_by(2).collect();
    let programs = Path::new(env!("CARGO_BIN_EXE_plimsoll")).parent().unwrap().to_str().unwrap();
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env_clear().current_dir(place.data());
        Said::of(command.env("PATH", format!("{programs}:/usr/bin:/bin")).output().unwrap())
    };
    // The first block has the function that writes traces, and its traces.
    let (function, _) = blocks[0].split_once("\n").unwrap();
    assert_eq!(shell(blocks[0]).stderr, "");
    let mut examples = 0;
    for block in blocks.iter().filter(|block| block.starts_with("$ ")) {
        let (commands, answer): (Vec<&str>, Vec<&str>) = block.lines().partition(|line| line.starts_with("$ "));
        let script = commands.iter().fold(function.to_owned(), |script, command| script + "\n" + &command[2..]);
        let said = shell(&script);
        assert_eq!(said.stdout.lines().collect::<Vec<_>>(), answer, "{}", said.stderr);
        examples += 1;
    }
    assert_eq!(examples, 3);
    let load = |cells: u32| answer(&place, &format!("--trace DATA/level.csv --cells {cells}"))["cost_s"].as_f64();
    assert_eq!([2, 6, 12].map(load), [Some(309.0), Some(109.0), Some(78.0)]);
    let later = answer(&place, "--trace DATA/bucket.csv --bookend");
    assert_eq!((&later["verdict"], &later["flags"]), (&json!("unstable"), &json!(["moved"])));
}
