//! `plimsoll report`: runs in the forms that people send and programs read.

use std::fs;

use serde_json::Value;

use crate::support::{LoopDevice, Place, is_root, skip};

/// Two runs that take no storage, named `first` and `second`.
fn place() -> Place {
    let place = Place::new();
    for name in ["first", "second"] {
        let run = "run DATA --engine memory --rw randrw --size 4M --passes 6 --duration 60ms --name";
        place.record(&format!("{run} {name}"));
    }
    place
}

#[test]
fn the_ending_of_the_file_is_the_form() {
    let place = place();
    let written = |name: &str| {
        let said = place.run(&format!("report first second -o ROOT/{name}"));
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{name}");
        assert!(said.stdout.contains(name) && said.stdout.contains("2 runs"), "{}", said.stdout);
        fs::read_to_string(place.path(name)).unwrap()
    };
    let markdown = written("x.md");
    assert!(markdown.starts_with("# plimsoll: first and second\n"), "{markdown}");
    assert!(markdown.contains("## Compared") && markdown.contains("| workload | op |"), "{markdown}");
    let csv = written("x.csv");
    assert_eq!(csv.lines().count(), 3, "a head and a row for each cell: {csv}");
    let xml = written("x.xml");
    assert_eq!(xml.matches("<testsuite ").count(), 3, "two runs, and one with the other: {xml}");
    let json: Value = serde_json::from_str(&written("x.json")).unwrap();
    assert_eq!(json["schema"], "plimsoll-report/1");
    assert_eq!(json["runs"].as_array().unwrap().len(), 2);
    let references: Vec<&Value> =
        json["comparisons"].as_array().unwrap().iter().map(|comparison| &comparison["reference"]).collect();
    assert_eq!(references, ["A", "B"]);
    // What is shown is what was measured.
    let record = place.run("show first --json").json();
    let measured = record["cells"][0]["read"]["iops"].as_f64().unwrap();
    let compared = &json["comparisons"][0]["pairs"][0]["cells"][0]["metrics"][0];
    assert!((compared["reference"].as_f64().unwrap() / measured - 1.0).abs() < 1e-9, "{compared} and {measured}");
}

#[test]
fn a_page_is_one_file_that_reaches_nothing() {
    let place = place();
    let said = place.run("report first second --title <b>Two</b> -o ROOT/x.html");
    if said.stderr.contains("has no HTML page") {
        // Built without npm: said plainly, with what to do instead, and nothing is left behind.
        assert!(said.error(2).contains(".md") && !place.path("x.html").exists());
        return skip("the page of this build: there was no npm");
    }
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let page = fs::read_to_string(place.path("x.html")).unwrap();
    assert!(page.contains("<title>&lt;b&gt;Two&lt;/b&gt;</title>") && page.contains("connect-src 'none'"));
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"report-data\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    let document: Value = serde_json::from_str(data).unwrap();
    assert_eq!(document["title"], "<b>Two</b>");
    assert!(page.contains("<pre>") && page.contains("B against A"), "numbers are readable without scripts");
}

#[test]
fn junit_is_what_its_schema_says() {
    let place = place();
    assert_eq!(place.run("report first second -o ROOT/x.xml").code, Some(0));
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/junit.xsd");
    let check =
        std::process::Command::new("xmllint").args(["--noout", "--schema", schema]).arg(place.path("x.xml")).output();
    match check {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => skip("xmllint"),
    }
}

#[test]
fn what_exists_is_kept_unless_told_otherwise() {
    let place = place();
    fs::write(place.path("x.md"), "mine").unwrap();
    let error = place.run("report first -o ROOT/x.md").error(2).to_owned();
    assert!(error.contains("x.md") && error.contains("--force"), "{error}");
    assert_eq!(fs::read_to_string(place.path("x.md")).unwrap(), "mine");
    assert_eq!(place.run("report first -o ROOT/x.md --force").code, Some(0));
    assert!(fs::read_to_string(place.path("x.md")).unwrap().starts_with("# plimsoll: first\n"));
}

#[test]
fn a_link_to_nothing_is_told_as_one() {
    let place = place();
    std::os::unix::fs::symlink("nowhere/y.md", place.path("x.md")).unwrap();
    for force in ["", " --force"] {
        let said = place.run(&format!("report first -o ROOT/x.md{force}"));
        let error = said.error(2);
        assert!(error.contains("a link to nowhere/y.md") && error.contains("remove the link"), "{error}");
    }
}

#[test]
fn what_a_report_is_made_from_is_never_overwritten() {
    let place = place();
    let record = place.run("show first --json").stdout;
    fs::write(place.path("record.json"), &record).unwrap();
    fs::hard_link(place.path("record.json"), place.path("again.json")).unwrap();
    fs::write(place.path("claims.csv"), "claim,check\nIt reads,read iops of first is more than 1\n").unwrap();
    for arguments in [
        "ROOT/record.json -o ROOT/record.json",
        "ROOT/record.json -o ROOT/again.json",
        "first --format md --claims ROOT/claims.csv -o ROOT/claims.csv",
        "first --format md -o ROOT/state/plimsoll/history.db",
    ] {
        let said = place.run(&format!("report {arguments} --force"));
        let error = said.error(2);
        assert!(error.contains("made from") && error.contains("name another"), "{arguments}: {error}");
    }
    assert_eq!(fs::read_to_string(place.path("record.json")).unwrap(), record);
    assert_eq!(place.run("show first").code, Some(0));
    let said = place.run("export --force -o ROOT/state/plimsoll/history.db");
    assert!(said.error(2).contains("made from"), "{}", said.stderr);
}

#[test]
fn where_an_imported_file_was_is_not_told() {
    let place = place();
    fs::create_dir(place.path("secret")).unwrap();
    fs::write(place.path("secret/fio.txt"), "real 0m1.5s\nuser 0m0.2s\nsys 0m0.1s\n").unwrap();
    for format in ["json", "md", "xml", "csv"] {
        let said = place.run(&format!("report ROOT/secret/fio.txt first -o - --format {format} --limit iops=500"));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert!(!said.stdout.contains("secret/"), "{format}: {}", said.stdout);
    }
}

#[test]
fn a_run_may_be_called_as_a_path_is() {
    let place = place();
    place.record("run DATA --engine memory --rw randrw --size 4M --passes 6 --duration 60ms --name a/b");
    let said = place.run("report a/b -o - --format json");
    assert_eq!(said.json()["runs"][0]["name"], "a/b", "{}", said.stderr);
}

#[test]
fn a_block_device_is_no_file_to_write_to() {
    if !is_root() {
        return skip("a loop device: it takes root");
    }
    let place = place();
    let device = LoopDevice::new(1 << 20);
    for command in ["report first --format md -o", "report first --format md --force -o", "export --force -o"] {
        let said = place.run(&format!("{command} {}", device.path.display()));
        assert!(said.error(2).contains("it is a block device"), "{command}: {}", said.stderr);
    }
    assert!(fs::read(&device.path).unwrap().iter().all(|byte| *byte == 0), "nothing was written");
}

#[test]
fn the_plan_of_a_run_asks_for_the_same_again() {
    let place = place();
    let run = place.run("report first -o - --format json").json()["runs"][0].take();
    assert_eq!(
        (run["reproduce"].as_str(), run["raw"]["title"].as_str()),
        (Some("plimsoll run --plan plan.toml"), Some("plan.toml"))
    );
    fs::write(place.path("plan.toml"), run["raw"]["text"].as_str().unwrap()).unwrap();
    let [first, again] =
        ["show first --json", "run --plan ROOT/plan.toml --json"].map(|command| place.run(command).json());
    for what in ["asked", "seed"] {
        assert_eq!(again[what], first[what], "{what}");
    }
    assert_eq!(again["asked"]["passes"], 6);
    assert_eq!(again["cells"][0]["plan"], first["cells"][0]["plan"]);
}

#[test]
fn what_cannot_be_written_is_told_with_what_to_do() {
    let place = place();
    for (arguments, words) in [
        ("report first -o ROOT/x.pdf", [".html", "--format"]),
        ("report first -o ROOT/x", [".html", "--format"]),
        ("report first -o -", ["standard output", "--format"]),
        ("report first -o ROOT", ["the ending of", "--format"]),
        ("report first -o ROOT/nowhere/x.md", ["there is no directory", "make it"]),
        ("report first --format md -o ROOT/x/", ["ends with a slash", "name a file"]),
        ("report no/such/run -o ROOT/x.md", ["no/such/run", "plimsoll history"]),
        ("report first --reference nonsense -o ROOT/x.md", ["\"nonsense\"", "A (DATA"]),
        ("report first second --reference Z -o ROOT/x.md", ["\"Z\"", "A (DATA"]),
        ("report nobody -o ROOT/x.md", ["nobody", "history"]),
        ("report first -o ROOT/x.md --open", ["--open", ".html"]),
        ("report first first -o ROOT/x.md", ["named twice", "equals itself"]),
    ] {
        let said = place.run(arguments);
        let error = said.error(2);
        for word in words {
            let word = word.replace("DATA", &place.data().display().to_string());
            assert!(error.contains(&word), "{arguments}: {error}");
        }
    }
    assert!(!place.path("x.md").exists());
}

#[test]
fn a_report_can_be_an_answer() {
    let place = place();
    let said = place.run("report first -o - --format json");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert_eq!(said.json()["runs"][0]["name"], "first");
    // The last run is reported when none is named.
    assert_eq!(place.run("report -o - --format json").json()["runs"][0]["name"], "second");
}

#[test]
fn what_was_bought_and_what_was_claimed_are_judged() {
    let place = place();
    fs::write(
        place.path("claims.csv"),
        "claim,check\nIt reads more than once a second,read iops of first is more than 1\n",
    )
    .unwrap();
    let said = place.run("report first -o - --format json --limit iops=1000000000 --claims ROOT/claims.csv");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let document = said.json();
    assert!(document["claims"]["claims"].as_array().is_some_and(|claims| claims.len() == 1), "{}", document["claims"]);
}
