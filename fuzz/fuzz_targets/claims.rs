//! Statements that people make about numbers, files of them, and what becomes of them.
#![no_main]

use std::{collections::BTreeMap, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use plimsoll_dialects::told;
use plimsoll_record::{
    record::{Record, Tool},
    told::{Import, Reading},
};
use plimsoll_report::claims::{Claims, NothingExpected, Statement, Thousands, text};

const RESULTS: &str = "\
fio --filename=/acs/test --rw=randwrite --bs=16k --runtime=3600
  WRITE: bw=120MiB/s (125MB/s), 14.9MiB/s-15.0MiB/s (15.6MB/s-15.7MB/s), io=421GiB (452GB), run=3600004-3600004msec

Import 1 old

real 1m40.5s
user 0m50.1s
sys 0m1.2s
Import 2 old

real 1m41.5s
user 0m50.1s
sys 0m1.2s
Import 3 old

real 1m39.5s
user 0m50.1s
sys 0m1.2s

fio async-r-premium.ini  # 5210 IOPS (expected 5000 IOPS)
";

static RECORD: LazyLock<Record> = LazyLock::new(|| {
    let tool = Tool { version: "0".to_owned(), commit: None, profile: "release".to_owned() };
    let id = "0199c0de-7a3e-7000-8000-0000000000a1".parse().expect("it is an id");
    let reading = Reading { id, tool, name: None, tags: BTreeMap::new(), target: None };
    let at = "2025-10-08T09:30:00Z".parse().expect("it is a time");
    let import = Import { file: "-".to_owned(), at, text: RESULTS.to_owned() };
    Record::of_import(reading, import, told::find(RESULTS))
});

fuzz_target!(|text: &str| {
    for thousands in [Thousands::Untold, Thousands::Point, Thousands::Blank] {
        match Statement::parse(text, thousands) {
            Ok(statement) => {
                let written = statement.to_string();
                assert_eq!(Statement::parse(&written, thousands).as_ref(), Ok(&statement), "{written}");
            }
            Err(error) => assert!(error.at <= text.len()),
        }
    }
    judge(text);
    judge(&format!("claim\n\"{}\"\n", text.replace('"', "\"\"")));
});

fn judge(file: &str) {
    match Claims::read(file, Thousands::Untold) {
        Ok(claims) => {
            let judged = claims.judge(&[&*RECORD], &NothingExpected);
            assert!(judged.claims.iter().all(|claim| !claim.parts.is_empty() && !claim.recomputation.is_empty()));
            assert!(!text::text(&judged, 80).is_empty());
        }
        Err(error) => assert!(error.place.line >= 1 && error.place.column >= 1),
    }
}
