//! Comparisons of record files and runs of the history: what is said, and how it ends.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Place, Said};

/// A record like the golden one, with twelve visits to its first cell at about this rate. Rates and latencies vary by a
/// few percent from visit to visit, and not in the same way for every id.
fn record(id: u64, iops: f64) -> Value {
    let text = include_str!("../../../../fixtures/records/plimsoll-1.json");
    let mut record: Value = serde_json::from_str(text).unwrap();
    record["id"] = json!(format!("0199c0de-7a3e-7000-8000-{id:012x}"));
    record["outcome"] = json!("complete");
    let cells = record["cells"].as_array_mut().unwrap();
    cells.truncate(1);
    let cell = &mut cells[0];
    let pattern = cell["slots"][0].clone();
    let slots = (0..12_u64).map(|round| {
        let level = iops * (1.0 + 0.004 * ((round * 7 + id * 5) % 13) as f64);
        let mut slot = pattern.clone();
        slot["round"] = json!(round);
        slot["from_ns"] = json!(round * 60_000_000_000);
        slot["read"]["operations"] = json!(level as u64);
        slot["read"]["bytes"] = json!(level as u64 * 4096);
        for percentile in ["p50", "p99"] {
            slot["read"]["latency_ns"][percentile] = json!((4e9 / level) as u64);
        }
        slot
    });
    cell["slots"] = slots.collect();
    cell["verdict"] = json!("steady");
    cell["read"]["iops"] = json!(iops);
    cell["read"]["bytes_per_second"] = json!(iops * 4096.0);
    record
}

/// A place with the records `a.json`, `same.json` (as fast) and `slow.json` (20 % slower).
fn place() -> Place {
    let place = Place::new();
    for (name, record) in [("a", record(1, 5000.0)), ("same", record(2, 5000.0)), ("slow", record(3, 4000.0))] {
        write(&place, name, &record);
    }
    place
}

fn write(place: &Place, name: &str, record: &Value) {
    fs::write(place.path(&format!("{name}.json")), record.to_string()).unwrap();
}

#[test]
fn an_expectation_that_is_surely_broken_ends_with_code_1_and_others_with_0() {
    let place = place();
    for (arguments, code, words) in [
        ("compare a.json slow.json --fail-if p99>+10%,iops<-5%", 1, "FAILED      iops<-5%"),
        ("compare a.json slow.json --fail-if iops<-30%", 0, "held        iops<-30%"),
        ("compare a.json slow.json --fail-if iops<-20%", 0, "not sure    iops<-20%"),
        ("compare a.json same.json --fail-if p99>+10%,iops<-5%", 0, "held        p99>+10%"),
        ("compare a.json slow.json --reference B --fail-if iops<-5%", 0, "held        iops<-5%"),
        ("compare slow.json a.json --fail-if p99.9>+10%", 0, "not judged  p99.9>+10%"),
        ("compare a.json slow.json", 0, "slower"),
        ("compare a.json same.json", 0, "equal within 2 %"),
    ] {
        let said = place.run(arguments);
        assert_eq!(said.code, Some(code), "{arguments}: {}{}", said.stdout, said.stderr);
        assert!(said.stdout.contains(words), "{arguments}:\n{}", said.stdout);
    }
}

#[test]
fn a_rate_that_fell_to_nothing_ends_with_code_1_and_what_cannot_be_judged_with_a_warning() {
    let place = place();
    let mut stopped = record(5, 0.0);
    for slot in stopped["cells"][0]["slots"].as_array_mut().unwrap() {
        slot["read"]["latency_ns"] = json!({});
    }
    write(&place, "stopped", &stopped);
    let said = place.run("compare a.json stopped.json --fail-if iops<-5% --junit junit.xml");
    assert_eq!((said.code, said.stderr.as_str()), (Some(1), ""), "{}", said.stdout);
    assert!(said.stdout.contains("B completed nothing"), "{}", said.stdout);
    assert!(fs::read_to_string(place.path("junit.xml")).unwrap().contains("<failure "));
    let said = place.run("compare a.json same.json --fail-if p99.9>+10% --json");
    assert_eq!(said.code, Some(0));
    assert!(said.stderr.starts_with("warning: not judged everywhere: p99.9>+10%;"), "{}", said.stderr);
}

#[test]
fn json_and_markdown_say_the_same_as_the_text() {
    let place = place();
    let json = place.run("compare a.json slow.json same.json --json --fail-if iops<-5%");
    assert_eq!(json.code, Some(1), "{}", json.stderr);
    let json = json.json();
    assert_eq!(json["schema"], "plimsoll-comparison/1");
    let compared = |pair: usize| &json["pairs"][pair]["cells"][0]["metrics"][0]["compared"];
    assert_eq!((&compared(0)["different"], &compared(1)["different"]), (&json!(true), &json!(false)));
    assert_eq!((&compared(0)["method"], &compared(1)["conclusion"]), (&json!("unpaired-visits"), &json!("equal")));
    assert_eq!(json["expectations"][0]["result"], "breached");
    let sentence = json["pairs"][0]["cells"][0]["sentence"].as_str().unwrap();
    let markdown = place.run("compare a.json slow.json same.json --markdown");
    assert!(markdown.stdout.contains(&sentence.replace('[', "\\[").replace(']', "\\]")), "{}", markdown.stdout);
    assert!(place.run("compare a.json slow.json same.json").stdout.contains(sentence));
}

#[test]
fn a_comparison_fits_the_terminal() {
    let place = place();
    for columns in [60, 100] {
        let mut command = place.command("compare a.json slow.json same.json --fail-if p99>+10%,iops<-5%");
        let said = Said::of(command.env("COLUMNS", columns.to_string()).output().unwrap());
        let widest = said.stdout.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns, "{widest} of {columns}:\n{}", said.stdout);
    }
}

#[test]
fn junit_has_every_judgement_and_is_written_whatever_the_outcome() {
    let place = place();
    for (other, code, failures) in [("slow", 1, 2), ("same", 0, 0)] {
        let said = place.run(&format!("compare a.json {other}.json --fail-if p99>+10%,iops<-5% --junit junit.xml"));
        assert_eq!(said.code, Some(code), "{}", said.stderr);
        let xml = fs::read_to_string(place.path("junit.xml")).unwrap();
        assert_eq!(xml.matches("<testcase ").count(), 2, "{xml}");
        assert_eq!(xml.matches("<failure ").count(), failures, "{xml}");
        assert!(xml.contains(&format!("tests=\"2\" failures=\"{failures}\" errors=\"0\" skipped=\"0\"")), "{xml}");
    }
    place.run("compare a.json same.json --junit missing/junit.xml").error(2);
}

#[test]
fn runs_of_the_history_and_baselines_are_compared_like_files() {
    let place = Place::new();
    let run = "run DATA --engine memory --rw randread --size 4M --passes 6 --duration 60ms";
    let first = place.record(run)["id"].as_str().unwrap().to_owned();
    assert_eq!(place.run("baseline set before").code, Some(0));
    assert!(place.run("compare --baseline before").error(2).contains("the latest run is the baseline before itself"));
    let second = place.record(run)["id"].as_str().unwrap().to_owned();
    for arguments in ["compare before latest", "compare --baseline before", &format!("compare {first} {second}")] {
        let said = place.run(&format!("{arguments} --json"));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let sides: Vec<Value> =
            said.json()["sides"].as_array().unwrap().iter().map(|side| side["run"].clone()).collect();
        assert_eq!(sides, [first.as_str(), second.as_str()], "{arguments}");
    }
    let said = place.run("export --output runs.json");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(place.run("compare runs.json").code, Some(0), "a file may hold several records");
    assert!(place.run("compare latest").error(2).contains("one target only"));
    assert!(place.run("compare --baseline nothing").error(2).contains("no baseline"));
    assert_eq!(place.run("baseline unset before").code, Some(0));
    assert!(place.run("compare before latest").error(2).contains("before"));
}

#[test]
fn runs_are_compared_by_the_names_that_they_were_given() {
    let place = Place::new();
    let ids = ["q1", "q2"].map(|name| {
        let run = "run DATA --engine memory --rw randread --size 4M --passes 6 --duration 60ms";
        place.record(&format!("{run} --name {name}"))["id"].as_str().unwrap().to_owned()
    });
    let said = place.run("compare q1 q2 --json").json();
    let sides: Vec<&str> = said["sides"].as_array().unwrap().iter().map(|side| side["run"].as_str().unwrap()).collect();
    assert_eq!(sides, ids);
    assert_eq!(place.run("show q1 --json").json()["id"], ids[0].as_str());
    assert!(place.run("run --resume q1").error(2).contains(&ids[0]), "the run was found, and is complete");
    assert!(place.run("show q3").error(2).contains("q3"));
}

#[test]
fn a_run_of_several_targets_ends_with_the_sentences_that_compare_says() {
    let place = Place::new();
    for name in ["one", "other"] {
        fs::create_dir(place.path(name)).unwrap();
    }
    let run = "run one other --engine memory --rw randread --size 4M --passes 6 --duration 60ms";
    let said = place.run(run);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let compared = place.run("compare latest");
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
    let answer = |text: &str| {
        let lines = text.lines().skip_while(|line| !line.starts_with("B against A, measured in turns in one run"));
        lines.take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(answer(&said.stdout).len(), 2, "{}", said.stdout);
    assert_eq!(answer(&said.stdout), answer(&compared.stdout));
}

#[test]
fn what_cannot_be_compared_is_refused_with_what_differs() {
    let place = place();
    let mut deeper = record(4, 5000.0);
    deeper["cells"][0]["plan"]["queue_depth"] = json!(32);
    deeper["cells"][0]["plan"]["buffered"] = json!(true);
    write(&place, "deeper", &deeper);
    let said = place.run("compare a.json deeper.json --fail-if iops<-5% --junit junit.xml");
    let error = said.error(2);
    for words in ["queue depth (A 4, B 32)", "cache mode (A direct, B buffered)", "--despite queue-depth,cache-mode"] {
        assert!(error.contains(words), "{error}");
    }
    assert!(!place.path("junit.xml").exists(), "nothing was judged");
    let said = place.run("compare a.json deeper.json --despite queue-depth,cache-mode");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("confounded: queue depth (A 4, B 32) and cache mode (A direct, B buffered) also differ"));
    assert!(place.run("compare a.json").error(2).contains("one target only"));
    assert!(place.run("compare").error(2).contains("name two runs"));
    assert!(place.run("compare a.json a.json").error(2).contains("named twice"));
    assert!(place.run("compare a.json missing.json").error(2).contains("missing.json"));
    fs::write(place.path("broken.json"), "{\"jobs\": []}").unwrap();
    assert!(place.run("compare a.json broken.json").error(2).contains("not a plimsoll record"));
    for (wrong, words) in [
        ("--fail-if iops<5%", "lacks the sign of the change: write iops<+5% or iops<-5%"),
        ("--fail-if IOPS<-5%", "\"IOPS\" is written in lower case: iops"),
        ("--fail-if speed<-5%", "\"speed\" cannot be compared"),
        ("--margin 0%", "\"0%\" is not a margin"),
        ("--despite weather", "weather"),
        ("--reference Z", "\"Z\" is not one of the sides"),
    ] {
        let said = place.run(&format!("compare a.json same.json {wrong}"));
        let error = said.error(2);
        assert!(error.contains(words), "{wrong}: {error}");
    }
}

#[test]
fn a_history_that_cannot_be_read_is_told_and_not_that_it_has_no_such_run() {
    let place = place();
    fs::write(place.path("mine.toml"), "no database").unwrap();
    for name in ["first.run", "first/run", "first"] {
        for command in ["compare", "explain"] {
            let said = place.run(&format!("{command} {name} --history ROOT/mine.toml"));
            assert!(said.error(7).contains("mine.toml is no history"), "{command} {name}: {}", said.stderr);
        }
    }
    assert!(place.run("compare first/run").error(2).contains("no run of the history is called so"));
}

#[test]
fn what_never_ends_is_refused_and_not_read() {
    let place = place();
    for command in ["compare", "explain", "report -o ROOT/x.md"] {
        let error = place.run(&format!("{command} /dev/zero")).error(2).to_owned();
        assert!(error.contains("/dev/zero is a device") && error.contains("name a run"), "{command}: {error}");
    }
    fs::write(place.path("trace.csv"), "rate\n1\n").unwrap();
    for command in ["catalog list --limits /dev/zero", "replay --trace ROOT/trace.csv --limits /dev/zero"] {
        let said = place.run(command);
        assert!(said.error(2).contains("/dev/zero is longer than "), "{command}: {}", said.stderr);
    }
}
