//! What may be said of sets of files.

use super::*;
use crate::test_records;

/// A run with so many iterations of a set of files, so many of them a second.
fn files(number: u128, iterations: u32, rate: u64) -> Record {
    let workload = format!("file_count = 100\nfile_size = '4k'\nphases = 'write,delete'\niterations = {iterations}");
    let mut story = Story::new(&["/mnt/a"], &[toml::from_str(&workload).unwrap()]);
    for round in 0..iterations {
        story.files(0, round, |phase| test_records::phase(phase, rate + u64::from(round)));
    }
    Record { id: Uuid::from_u128(number), ..story.end(54_000_000_000, Ending::Complete) }
}

#[test]
fn a_comparison_of_files_says_on_how_many_iterations_it_rests() {
    let comparison = compare(&[&files(1, 3, 900), &files(2, 4, 1000)]);
    let found = iops(&comparison, 0);
    assert_eq!((found.method, found.values), (Method::UnpairedIntervals, [3, 4]));
}

#[test]
fn a_comparison_of_files_says_that_it_counts_files() {
    let json = serde_json::to_value(compare(&[&files(1, 3, 900), &files(2, 3, 1000)])).unwrap();
    assert_eq!(json["pairs"][0]["cells"][1]["rate_unit"], "files/s", "{json}");
    let json = serde_json::to_value(compare(&[&alone("/mnt/a", 1.0, 0.02, 1), &alone("/mnt/a", 0.8, 0.02, 2)]));
    assert_eq!(json.unwrap()["pairs"][0]["cells"][0].get("rate_unit"), None);
}
