//! Reports of a made-up run, word for word.

use std::{fmt::Write as _, fs, path::Path};

use plimsoll_record::results::{ErrorCount, Finding, Severity};

use crate::made_up::{Run, fixture};

/// A run of `fixtures/fio/reports/example.fio` in which one write failed.
fn example() -> Run {
    let job_file = fixture("fio/reports/example.fio");
    let mut run = Run::of(&[job_file.to_str().unwrap()]);
    run.jobs.notes.clear(); // They have the path of the job file.
    run.notes.push("thinktime is slept, not spun".to_owned());
    run.record.warnings.push("the processor's governor is powersave".to_owned());
    let last = run.record.cells.last_mut().unwrap();
    let error = "Input/output error (os error 5)".to_owned();
    last.error_kinds =
        vec![ErrorCount { operation: "write".to_owned(), error, count: 1, first_offset: 8192, first_file: None }];
    last.errors = 1;
    last.findings = vec![Finding {
        code: "io-errors".to_owned(),
        severity: Severity::Error,
        text: "1 write failed".to_owned(),
        evidence: serde_json::Map::new(),
    }];
    run
}

#[test]
fn reports_are_what_they_were() {
    let run = example();
    let (reported, mut logs) = (run.reported(), String::new());
    for file in reported.logs().files {
        writeln!(logs, "{}\n{}", file.name, file.text).unwrap();
    }
    for note in reported.logs().notes {
        writeln!(logs, "note: {note}").unwrap();
    }
    let normal = plimsoll_dialects::fio::report::header(&run.jobs, "plimsoll-0.1.0") + &reported.normal();
    let mut stale = Vec::new();
    for (name, text) in [
        ("example.json", reported.json(false)),
        ("example.plus.json", reported.json(true)),
        ("example.normal.txt", normal),
        ("example.terse.txt", reported.terse(3)),
        ("example.logs.txt", logs),
    ] {
        if fs::read_to_string(fixture("fio/reports").join(name)).is_ok_and(|expected| expected == text) {
            continue;
        }
        let candidate = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&candidate, text).unwrap();
        stale.push(candidate);
    }
    assert!(stale.is_empty(), "compare with fixtures/fio/reports, and copy what is right: {stale:?}");
}
