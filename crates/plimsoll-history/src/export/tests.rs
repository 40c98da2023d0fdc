//! What other programs get to read.

use plimsoll_record::{upgrade, verification::VerificationResult};

use super::*;
use crate::test_records;

fn export(format: Format, numbers: &[u32]) -> String {
    let ids: Vec<_> = numbers.iter().map(|number| test_records::id(*number)).collect();
    export_of(2, format, Selection::These(&ids))
}

fn export_of(runs: u32, format: Format, selection: Selection<'_>) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut history = History::open(&directory.path().join("history.db")).unwrap();
    (0..runs).for_each(|number| history.save(&test_records::record(number)).unwrap());
    let mut out = Vec::new();
    write(&history, selection, format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Takes lines of CSV apart, the hard way round.
fn parse(csv: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut characters = csv.strip_suffix('\n').unwrap().chars().peekable();
    while let Some(character) = characters.next() {
        let row = rows.last_mut().unwrap();
        match (character, quoted) {
            ('"', true) if characters.peek() == Some(&'"') => {
                characters.next();
                row.last_mut().unwrap().push('"');
            }
            ('"', _) => quoted = !quoted,
            (',', false) => row.push(String::new()),
            ('\n', false) => rows.push(vec![String::new()]),
            _ => row.last_mut().unwrap().push(character),
        }
    }
    rows
}

#[test]
fn a_single_record_is_an_object_and_several_are_an_array() {
    assert!(upgrade::read(&export(Format::Json, &[1])).unwrap() == test_records::record(1));
    let both: Vec<serde_json::Value> = serde_json::from_str(&export(Format::Json, &[1, 0])).unwrap();
    assert_eq!(both.len(), 2);
    assert!(upgrade::read(&both[1].to_string()).unwrap() == test_records::record(0));
    assert_eq!(export(Format::Json, &[]), "[]\n");
}

#[test]
fn the_whole_history_is_an_array_whatever_it_holds() {
    for runs in 0..3 {
        let all: Vec<serde_json::Value> = serde_json::from_str(&export_of(runs, Format::Json, Selection::All)).unwrap();
        let ids: Vec<_> = all.iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids, (0..runs).map(|number| test_records::id(number).to_string()).collect::<Vec<_>>());
    }
}

#[test]
fn every_line_of_ndjson_is_a_record() {
    let text = export(Format::Ndjson, &[0, 1]);
    let records: Vec<_> = text.lines().map(|line| upgrade::read(line).unwrap()).collect();
    assert!(records == [test_records::record(0), test_records::record(1)]);
}

#[test]
fn a_table_has_a_row_for_each_cell_and_says_its_units() {
    let rows = parse(&export(Format::Csv, &[0, 1]));
    assert_eq!(rows.len(), 1 + 2 * 2);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let at = |row: usize, name: &str| {
        let column = rows[0].iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"));
        rows[row][column].as_str()
    };
    assert_eq!(at(2, "workload"), "writes, \"synced\"");
    assert_eq!(at(1, "read_operations_per_second"), "5100");
    assert_eq!(at(1, "read_latency_mean_ns"), "872000");
    assert_eq!(at(1, "read_latency_p99_99_ns"), "");
    assert_eq!(at(1, "write_operations"), "");
    assert_eq!(at(2, "sync_operations"), "48");
    assert_eq!([at(1, "distribution"), at(1, "offered_operations_per_second")], ["uniform", ""]);
    assert_eq!([at(2, "errors"), at(2, "mismatches")], ["3", ""]);
    assert_eq!(at(3, "id"), test_records::id(1).to_string());
    assert_eq!(at(3, "tags"), "disk=P30 zone=1");
}

#[test]
fn a_table_says_how_much_was_not_as_written() {
    let mut record = test_records::record(1);
    record.cells[0].verification = Some(VerificationResult { mismatches: 3, ..VerificationResult::default() });
    let rows = parse(&csv(&[&record]).unwrap());
    let column = rows[0].iter().position(|column| column == "mismatches").expect("a column");
    assert_eq!(rows[1][column], "3");
}

#[test]
fn a_name_is_no_formula_of_a_spreadsheet_and_a_number_stays_one() {
    for (value, shown) in [
        ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("-a", "'-a"),
        ("@SUM(1)", "'@SUM(1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("-1.5e-3", "-1.5e-3"),
        ("+7", "+7"),
        ("a=b", "a=b"),
    ] {
        assert_eq!(inert(value), shown);
    }
    let mut record = test_records::record(1);
    record.name = Some("=1+1".to_owned());
    let rows = parse(&csv(&[&record]).unwrap());
    assert_eq!(rows[1][2], "'=1+1");
    assert!(rows[1..].iter().flatten().all(|value| !value.starts_with('=')));
}

#[test]
fn formats_are_words() {
    for word in Format::WORDS {
        assert_eq!(word.parse::<Format>().unwrap().to_string(), *word);
    }
    assert!("xml".parse::<Format>().unwrap_err().contains("json, csv, ndjson"));
}
