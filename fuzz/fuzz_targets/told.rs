//! Texts in which results of other programs may stand, the records that are made of them, and Iometer's configurations.
#![no_main]

use std::{collections::BTreeMap, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use plimsoll_catalog::catalog::Catalog;
use plimsoll_dialects::{
    iometer,
    told::{ColumnMap, find, rows},
};
use plimsoll_record::{
    record::{Record, Tool},
    told::{FoundResult, Import, Reading},
};
use plimsoll_report::explanation::{self, Explanation};
use plimsoll_workload::provisioned::Provisioning;

fuzz_target!(|text: &str| {
    let lines = text.lines().count();
    let found = find(text);
    for result in &found {
        let (first, last) = result.told.lines;
        assert!(1 <= first && first <= last && last <= lines);
    }
    check(text, found);
    if let Ok(translation) = iometer::translate("-", text) {
        assert!(!translation.workloads.is_empty());
    }
    static MAPS: LazyLock<[ColumnMap; 3]> = LazyLock::new(|| {
        let of = |columns: &[&str]| {
            ColumnMap::new(columns.iter().map(|column| column.parse().expect("it is a column")).collect())
        };
        let rates = ["iops=b", "read-throughput[MiB/s]=c"];
        [of(&rates), of(&["target=a", "iops=b"]), of(&["write-latency-p99=d", "block-size=e", "elapsed=f", rates[0]])]
    });
    for map in &*MAPS {
        if let Ok(found) = rows(text, map) {
            check(text, found);
        }
    }
});

/// A record of it says the same when it is read back.
fn check(text: &str, found: Vec<FoundResult>) {
    if found.is_empty() {
        return;
    }
    let tool = Tool { version: "0".to_owned(), commit: None, profile: "release".to_owned() };
    let id = "0199c0de-7a3e-7000-8000-0000000000a1".parse().expect("it is an id");
    let reading = Reading { id, tool, name: None, tags: BTreeMap::new(), target: None };
    let import = Import {
        file: "-".to_owned(),
        at: "2025-10-08T09:30:00Z".parse().expect("it is a time"),
        text: text.to_owned(),
    };
    let record = Record::of_import(reading, import, found);
    let json = serde_json::to_string(&record).expect("records become text");
    let read = plimsoll_record::upgrade::read(&json).expect("records are read back");
    assert_eq!(read.cells.len(), record.cells.len());
    assert_eq!(serde_json::to_string(&read).expect("records become text"), json);
    let said: Provisioning = toml::from_str("[defaults]\nsku = \"P10\"\nvm = \"Standard_D2s_v3\"").expect("it is one");
    let explained = Explanation::of(&[(&record, &said)], &Catalog::default()).expect("the catalog has them");
    assert!(explanation::text::text(&explained, 100).is_char_boundary(0));
}
