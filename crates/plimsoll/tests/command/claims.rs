//! What people say about numbers, checked against the numbers.

use std::fs;

use serde_json::json;

use crate::support::{Place, Said};

const RESULTS: &str = "\
load: (g=0): rw=randread, bs=(R) 16.0KiB-16.0KiB, (W) 16.0KiB-16.0KiB, (T) 16.0KiB-16.0KiB, ioengine=libaio, iodepth=16
   READ: bw=864MiB/s (906MB/s), io=3037GiB (3261GB), run=3600002-3600002msec
sudo fio async-r-basic.ini    # 530 IOPS (expected 500 IOPS)
";

fn with(claims: &str) -> Place {
    let place = Place::new();
    fs::write(place.path("results.txt"), RESULTS).unwrap();
    fs::write(place.path("claims.csv"), claims).unwrap();
    place
}

#[test]
fn claims_are_judged_by_what_a_text_tells() {
    let place = with("id,claim\na,basic delivers 530 IOPS\nb,iops of randread = 59365\nc,all is well\n");
    let said = place.run("explain --claims ROOT/claims.csv ROOT/results.txt");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    for words in ["does not follow", "3 claims: 1 follows, 1 does not follow, 1 no data", "no figure of the data"] {
        assert!(said.stdout.contains(words), "{words} is not in\n{}", said.stdout);
    }
    let json = place.run("explain --claims ROOT/claims.csv ROOT/results.txt --json").json();
    assert_eq!(json["schema"], "plimsoll-claims/1");
    let words: Vec<_> = json["claims"].as_array().unwrap().iter().map(|claim| claim["verdict"].clone()).collect();
    assert_eq!(words, ["follows", "does-not-follow", "no-data"].map(|word| json!(word)));
    let recomputation = json["claims"][1]["recomputation"].as_str().unwrap();
    assert!(recomputation.contains("3,261 GB divided as if they were GiB gives 59,364.7"), "{recomputation}");
    assert_eq!(place.run("explain --claims ROOT/claims.csv ROOT/results.txt --fail").code, Some(1));
}

#[test]
fn a_claim_that_holds_fails_nothing_and_a_run_of_the_history_is_data_too() {
    let place = with("claim\nread iops of mine = 55.287\n");
    assert_eq!(place.run("import ROOT/results.txt --name mine").code, Some(0));
    let said = place.run("explain --claims ROOT/claims.csv mine --thousands . --fail");
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("1 follows"), "{}", said.stdout);
}

#[test]
fn what_is_wrong_in_a_file_of_claims_is_shown_where_it_stands() {
    let refused = |claims: &str, arguments: &str| {
        let place = with(claims);
        let said = place.run(&format!("explain {arguments}"));
        assert_eq!(said.code, Some(2), "{}", said.stdout);
        said.stderr
    };
    let all = "--claims ROOT/claims.csv ROOT/results.txt";
    let error = refused("claim,check\nit,x is\n", all);
    assert!(error.contains("claims.csv: line 2, column 8: the end where"), "{error}");
    assert!(refused("text\nit\n", all).contains("no column claim"), "{error}");
    assert!(refused("claim\nit\n", "--claims ROOT/missing.csv ROOT/results.txt").contains("there is no file"));
    assert!(refused("claim\nit\n", "--claims ROOT/claims.csv").contains("history"));
    assert!(refused("claim\nit\n", &format!("{all} --thousands x")).contains("separates no thousands"));
}

/// The fenced blocks of a document: what stands behind the fence, and the text.
fn blocks(document: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((info.to_owned(), text.join("\n") + "\n"));
        }
    }
    blocks
}

#[test]
fn the_examples_of_the_document_are_what_the_commands_print() {
    let place = Place::new();
    let blocks = blocks(include_str!("../../../../docs/claims.md"));
    for (info, text) in &blocks {
        if let Some(name) = info.strip_prefix("text ") {
            fs::write(place.path(name), text).unwrap();
        }
    }
    let commands: Vec<&String> = blocks.iter().filter(|(info, _)| info == "console").map(|(_, text)| text).collect();
    assert_eq!(commands.len(), 2);
    for example in commands {
        let (command, expected) = example.split_once('\n').unwrap();
        let arguments = command.strip_prefix("$ plimsoll ").unwrap();
        let said = Said::of(place.command(arguments).env("COLUMNS", "100").output().unwrap());
        assert_eq!(said.stdout, expected, "{command}: {}", said.stderr);
    }
}

#[test]
fn the_claims_of_the_case_studies_can_all_be_evaluated() {
    let place = with(include_str!("../../../../docs/case-studies/claims.csv"));
    let json = place.run("explain --claims ROOT/claims.csv ROOT/results.txt --json").json();
    let claims = json["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 65);
    assert!(claims.iter().all(|claim| claim["id"].as_str().is_some_and(|id| id.starts_with('C'))), "{json}");
}
