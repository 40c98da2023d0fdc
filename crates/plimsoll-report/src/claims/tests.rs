//! Claims about records that were made up: the rules, the language, and that verdicts follow from the data alone.

use std::collections::BTreeMap;

use plimsoll_record::{
    application::{Iteration, OwnFigure},
    event::{RunEvent, SlotResult},
    record::{Outcome, Record, Tool},
    told::{
        Direction as ToldDirection, Duration, Figure as ToldFigure, FigureValue, Files, FoundResult, Import, Measured,
        Percentile, Reading, Source as ToldSource, Told, Transfers,
    },
};

use plimsoll_workload::workload::Workload;

use super::*;
use crate::test_records::Story;

mod case_studies;
mod language;
mod properties;

const GIB: u64 = 1 << 30;

/// A record of results that a text tells.
fn record(results: Vec<(&str, &str, Measured)>) -> Record {
    let found = |(target, workload, measured): (&str, &str, Measured)| FoundResult {
        told: Told { source: ToldSource::FioText, lines: (1, 1), measured },
        target: Some(target.to_owned()),
        workload: Some(workload.to_owned()),
        heading: None,
        started: None,
        findings: Vec::new(),
    };
    let reading = Reading {
        id: "0199c0de-7a3e-7000-8000-0000000000a1".parse().unwrap(),
        tool: Tool { version: "0.1.0".to_owned(), commit: None, profile: "release".to_owned() },
        name: Some("post".to_owned()),
        tags: BTreeMap::new(),
        target: None,
    };
    let at = "2025-10-08T09:30:00Z".parse().unwrap();
    let import = Import { file: "a.md".to_owned(), at, text: String::new() };
    Record::of_import(reading, import, results.into_iter().map(found).collect())
}

/// What a program wrote in an hour, in blocks of 16 KiB.
fn written(bytes: u64) -> Measured {
    let iops = bytes as f64 / 16_384.0 / 3600.0;
    let direction = ToldDirection {
        bytes: Some(bytes),
        operations: Some(bytes / 16_384),
        bytes_per_second: Some(bytes as f64 / 3600.0),
        iops: Some(iops),
        ..ToldDirection::default()
    };
    Measured::Transfers(Box::new(Transfers {
        block_size_bytes: Some(16_384),
        queue_depth: Some(16),
        elapsed_ns: Some(3_600_000_000_000),
        write: Some(direction),
        ..Transfers::default()
    }))
}

fn runs(seconds: &[f64]) -> Measured {
    let run = |seconds: &f64| Duration {
        elapsed_ns: (seconds * 1e9) as u64,
        user_ns: (seconds * 0.5e9) as u64,
        system_ns: 1_000_000_000,
    };
    Measured::Durations(seconds.iter().map(run).collect())
}

fn files(write: f64, read: f64) -> Measured {
    Measured::Files(Files {
        count: 1000,
        size_bytes: 10 << 10,
        iterations: 10,
        write_bytes_per_second: write * 1_048_576.0,
        read_bytes_per_second: read * 1_048_576.0,
        write_read_bytes_per_second: write * 1_048_576.0,
    })
}

fn figure(command: &str, iops: f64, expected: f64) -> Measured {
    Measured::Figure(ToldFigure {
        command: command.to_owned(),
        low: iops,
        high: None,
        unit: "IOPS".to_owned(),
        value: FigureValue::Iops(iops),
        expected: Some(expected),
        remark: String::new(),
    })
}

/// Four threads of which odd ones get most.
fn threads() -> Measured {
    let thread = |iops: f64| ToldDirection {
        iops: Some(iops),
        operations: Some((iops * 10.0) as u64),
        ..ToldDirection::default()
    };
    let total = ToldDirection {
        operations: Some(10_000),
        iops: Some(1000.0),
        bytes_per_second: Some(100e6),
        latency_mean_ns: Some(4e6),
        latency_stddev_ns: Some(1e6),
        percentiles: [(0.0, 1e6), (50.0, 3e6), (99.0, 9e6), (99.999, 20e6), (100.0, 20e6)]
            .map(|(percent, latency_ns)| Percentile { percent, latency_ns })
            .to_vec(),
        threads: [100.0, 400.0, 100.0, 400.0].map(thread).to_vec(),
        ..ToldDirection::default()
    };
    let transfers = Transfers { total: Some(total), jobs: Some(4), queue_depth: Some(1), ..Transfers::default() };
    Measured::Transfers(Box::new(transfers))
}

/// A text with some of everything.
fn post() -> Record {
    record(vec![
        ("/acs-volume", "randwrite 16KiB", written(421 * GIB)),
        ("/azdisk-volume", "randwrite 16KiB", written(101 * GIB)),
        ("/acs-volume", "randread 16KiB", written(3037 * GIB)),
        ("Import old", "command", runs(&[100.0, 104.0, 97.0, 103.0, 96.0])),
        ("Import new", "command", runs(&[50.0, 52.0, 48.5, 51.0, 49.0])),
        ("Import again", "command", runs(&[99.0, 105.0, 98.0, 102.0, 97.0])),
        ("Import wild", "command", runs(&[60.0, 140.0, 80.0, 125.0, 95.0])),
        ("agent-d2v3", "1000 files of 10KiB", files(0.4, 148.5)),
        ("agent-d2sv3", "1000 files of 10KiB", files(1.0, 222.3)),
        ("agent-d2v3", "5 files of 10MiB", files(104.0, 1775.0)),
        ("agent-d2sv3", "5 files of 10MiB", files(25.0, 1580.0)),
        ("Disks", "fio async-r-premiumssd.ini", figure("fio async-r-premiumssd.ini", 5210.0, 5000.0)),
        ("Disks", "fio async-r-premiumssd_v2.ini", figure("fio async-r-premiumssd_v2.ini", 20400.0, 20000.0)),
        ("desktop", "transfers x4", threads()),
    ])
}

/// What becomes of one claim.
fn judged_of(record: &Record, check: &str) -> (Verdict, String) {
    let file = format!("claim,check\nit,\"{}\"\n", check.replace('"', "\"\""));
    let claims = Claims::read(&file, Thousands::Untold).unwrap_or_else(|error| panic!("{check}: {error}"));
    let judged = claims.judge(&[record], &NothingExpected);
    (judged.claims[0].verdict, judged.claims[0].recomputation.clone())
}

#[track_caller]
fn says(check: &str, verdict: Verdict, words: &str) {
    let (found, text) = judged_of(&post(), check);
    assert_eq!(found, verdict, "{check}: {text}");
    assert!(text.contains(words), "{check}: {text}");
}

use Verdict::{DoesNotFollow, Follows, NoData};

#[test]
fn ratios_are_recomputed_from_what_was_told() {
    says("acs randwrite is more than 4 times faster than azdisk", Follows, "= 4.17, claimed: more than 4 times faster");
    says("bytes written of acs randwrite / azdisk randwrite is 4.17x", Follows, "421 GiB / 101 GiB = 4.168");
    says("acs randwrite outperforms azdisk by a factor of > 5", DoesNotFollow, "= 4.17");
    says("azdisk is 76% slower than acs randwrite", Follows, "-76.0 %");
    says("azdisk is 24% as fast as acs randwrite", Follows, "24.0 %");
    says("azdisk is about a quarter of acs randwrite", NoData, "\"quarter\"");
    says(
        "acs randwrite is about 4 times azdisk",
        Follows,
        "7,664.1 IOPS / 1,838.6 IOPS = 4.17, claimed: about 4 times as much",
    );
    says("old is about half of (old + again)", Follows, "100.0 s / (100.0 s + 100.2 s) = 0.500");
    says("new is twice as fast as old", Follows, "= 2.00");
    says("old is 0.3 orders of magnitude slower than new", Follows, "orders of magnitude");
    says("old is between 90% and 110% slower than new", Follows, "+99.6 %");
}

#[test]
fn decimal_and_binary_bytes_are_told_apart() {
    says("data written of acs randwrite = 452 GB", Follows, "452.0 GB");
    says("data written of acs randwrite = 421 GiB", Follows, "421.0 GiB");
    says("data written of acs randwrite = 421 GB", DoesNotFollow, "it is 421.0 GiB, not GB");
    says("write iops of acs randread = 59365", DoesNotFollow, "3,261 GB divided as if they were GiB gives 59,364.7");
    says("write iops of azdisk = 1984", DoesNotFollow, "7.91 % too high); 109 GB divided as if they were GiB gives");
    says("bandwidth of desktop = 95.4 MiB/s", Follows, "95.37 MiB/s");
    says("bandwidth of desktop = 95.4 MB/s", DoesNotFollow, "it is 95.37 MiB/s, not MB/s");
    says("bandwidth of desktop = 800 MB/s", DoesNotFollow, "it is 800.0 Mbit/s, not MB/s");
    says("latency of desktop = 4000 ms", DoesNotFollow, "it is 4,000.0 us, not ms");
}

#[test]
fn a_number_is_read_with_the_thousands_of_its_document() {
    says("write iops of azdisk = 1.839", DoesNotFollow, "read as 1,839 it would");
    says("write iops of azdisk = 1.984", DoesNotFollow, "; read as 1,984: 109 GB divided as if they were GiB gives");
    let file = "claim,thousands\nwrite iops of azdisk = 1.839,.\nwrite iops of azdisk = 1.839,none\n";
    let judged = Claims::read(file, Thousands::Untold).unwrap().judge(&[&post()], &NothingExpected);
    assert_eq!(judged.claims.iter().map(|claim| claim.verdict).collect::<Vec<_>>(), [Follows, DoesNotFollow]);
    let told = Claims::read("claim\nwrite iops of azdisk = 1.839\n", Thousands::Point).unwrap();
    assert_eq!(told.judge(&[&post()], &NothingExpected).claims[0].verdict, Follows);
}

#[test]
fn aggregates_are_over_runs_threads_or_results() {
    says("average duration of old = 100 s", Follows, "average of 5 runs = 100.0");
    says("Import old took 1min 40sec on average", Follows, "average of 5 runs = 1m 40.00s");
    says("the fastest time of old is 96 s and the slowest time of old is 104 s", Follows, "fastest of 5 runs");
    says("median duration of new = 50 s", Follows, "median of 5 runs");
    says("sum of duration of new is about half of sum of duration of old", Follows, "250.5 s / 500.0 s = 0.501");
    says("standard deviation of duration of old = 3.5 s", Follows, "standard deviation of 5 runs = 3.54 s");
    says("range of duration of old = 8 s", Follows, "range of 5 runs");
    says("count of duration of old = 5", Follows, "count of 5 runs = 5");
    says("count of latency of desktop = 1", Follows, "count latency = 1.00, claimed: 1");
    says("cpu share of old = 51 %", Follows, "51.0 %");
    says("highest iops of threads of desktop is 4 times the lowest iops of threads of desktop", Follows, "400.0 IOPS");
    says("sum of iops of odd threads of desktop / total iops of desktop = 80%", Follows, "= 80.0 %");
    says("iops of thread 2 of desktop = 100", Follows, "100.0 IOPS");
    says("threads of desktop = 4", Follows, "4.00");
    says("iops of threads of desktop = 100", NoData, "4 threads: write highest");
    says("highest read bandwidth of d2v3 or d2sv3 = 1775 MiB/s", Follows, "highest of 4 results");
    says("spread of iops of azdisk = 5%", NoData, "tells one IOPS");
}

#[test]
fn latencies_have_percentiles_where_operations_support_them() {
    says("p99 latency of desktop = 9 ms", Follows, "9.0 ms");
    says("99th percentile latency of desktop < 10 ms", Follows, "9.0 ms");
    says("median latency of desktop = 3 ms", Follows, "median latency");
    says("max latency of desktop = 20 ms", Follows, "20.0 ms");
    says("standard deviation of latency of desktop = 1 ms", Follows, "1.0 ms");
    says("p99.999 latency of desktop = 20 ms", NoData, "needs 1,000,000 operations, and had 10,000");
    says("total iops of desktop * latency of desktop = 4", Follows, "1,000.0 IOPS * 4.000 ms = 4.00");
    says("desktop has 4 ms latency", Follows, "4.0 ms");
}

#[test]
fn a_difference_between_repeated_runs_has_to_be_beyond_chance() {
    says("new is faster than old", Follows, "exact permutation p = 0.008");
    says("old is slower than again", DoesNotFollow, "no difference found");
    says("old is the same as again", Follows, "no difference found, 5 and 5 runs: Welch p =");
    says("old is different from new", Follows, "a difference");
    says("old is faster than new", DoesNotFollow, "+99.6 %");
    says("old is more consistent than wild", Follows, "F test p =");
    says("wild is more consistent than old", DoesNotFollow, "F test p =");
    says("again is more consistent than old", DoesNotFollow, "no difference found");
    says("acs randwrite is more consistent than azdisk", NoData, "at least three runs");
    says("acs randwrite is faster than azdisk", Follows, "single values: nothing says whether it is chance");
    says("azdisk is the same as acs randwrite", DoesNotFollow, "single values");
}

#[test]
fn the_fastest_on_average_is_so_beyond_chance_whatever_single_runs_were() {
    let record = record(vec![
        ("quick", "restore", runs(&[50.0, 52.0, 48.0, 51.0, 49.0])),
        ("slow", "restore", runs(&[100.0, 104.0, 47.0, 103.0, 101.0])),
        ("calm", "mount", runs(&[10.0, 10.4, 9.6, 10.3, 9.7])),
        ("brisk", "mount", runs(&[10.6, 10.2, 10.1, 10.5, 10.1])),
    ]);
    let says = |check: &str, verdict: Verdict, words: &str| {
        let (found, text) = judged_of(&record, check);
        assert!(found == verdict && text.contains(words), "{check}: {found:?} {text}");
    };
    says("quick is the fastest", Follows, "50.00 s against 91.00 s of slow restore; 5 and 5 runs: Welch p = 0.0");
    says("slow is the slowest", Follows, "91.00 s against 50.00 s of quick restore; 5 and 5 runs");
    says(
        "calm is the fastest",
        DoesNotFollow,
        "10.30 s of brisk mount; no difference found, 5 and 5 runs: Welch p = 0.",
    );
}

#[test]
fn runs_of_our_own_are_compared_by_their_visits() {
    let mut story = Story::new(&["/mnt/a", "/mnt/b"], &crate::test_records::workloads("canonical")[2..3]);
    story.measure(0, 1000, 1_000_000);
    story.measure(1, 2000, 500_000);
    let record = story.end(54_000_000_000, Outcome::Complete);
    let (verdict, text) = judged_of(&record, "/mnt/b is twice as fast as /mnt/a");
    assert_eq!(verdict, Follows, "{text}");
    let (verdict, text) = judged_of(&record, "/mnt/b is faster than /mnt/a");
    assert!(verdict == Follows && text.contains("p = <0.001"), "{text}");
    let (verdict, text) = judged_of(&record, "/mnt/a is the fastest");
    assert!(verdict == DoesNotFollow && text.contains("/mnt/b"), "{text}");
}

/// Iterations of a command on two targets: of so many seconds, or of one second with so many commits each.
fn iterations(times: [&[f64]; 2], figure: bool) -> Record {
    let workload = Workload { command: Some("./restore.sh".to_owned()), iterations: Some(5), ..Workload::default() };
    let mut story = Story::new(&["/mnt/a", "/mnt/b"], &[workload]);
    for (cell, times) in times.into_iter().enumerate() {
        for (round, value) in times.iter().enumerate() {
            let seconds = if figure { 1.0 } else { *value };
            let iteration = Iteration {
                round: round as u32,
                elapsed_ns: (seconds * 1e9) as u64,
                user_ns: 500_000_000,
                figures: if figure { OwnFigure::parse(&format!("commits {value} /s")).unwrap() } else { Vec::new() },
                ..Iteration::default()
            };
            let (elapsed_ns, application) = (iteration.elapsed_ns, Some(Box::new(iteration)));
            let slot = SlotResult { cell, round: round as u32, elapsed_ns, application, ..SlotResult::default() };
            story.tell(&RunEvent::SlotFinished(Box::new(slot)));
        }
    }
    story.end(54_000_000_000, Outcome::Complete)
}

#[test]
fn each_iteration_of_a_command_that_was_timed_is_a_run() {
    let record = iterations([&[3.0, 3.1, 2.9, 3.05, 2.95], &[6.0, 6.1, 5.9, 6.05, 5.95]], false);
    let says = |check: &str, verdict: Verdict, words: &str| {
        let (found, text) = judged_of(&record, check);
        assert!(found == verdict && text.contains(words), "{check}: {found:?} {text}");
    };
    says("average duration of /mnt/a = 3 s", Follows, "average of 5 runs = 3.0 s");
    says("count of duration of /mnt/a = 5", Follows, "count of 5 runs = 5");
    says("average user time of /mnt/a = 0.5 s", Follows, "average of 5 runs");
    says("/mnt/a took 3 s", Follows, "3.0 s");
    says("/mnt/a is faster than /mnt/b", Follows, "5 and 5 runs: Welch p = <0.001");
    let rates = iterations([&[200.0, 201.0, 199.0], &[100.0, 101.0, 99.0]], true);
    let (verdict, text) = judged_of(&rates, "/mnt/a is twice as fast as /mnt/b");
    assert!(verdict == Follows && text.starts_with("200.0 IOPS / 100.0 IOPS"), "a rate is what it is about: {text}");
}

#[test]
fn a_claim_of_every_workload_or_direction_has_to_hold_for_each() {
    says("read bandwidth of d2sv3 is faster than d2v3 in every workload", DoesNotFollow, "1 of 2: 5 files of 10MiB");
    says("read and write bandwidth of d2sv3 10kb is faster than d2v3", Follows, "read: ");
    says("d2sv3 is consistently faster than d2v3 in writing", DoesNotFollow, "-76.0 %");
    says("read bandwidth of d2sv3 10kb is between 40% and 50% faster than d2v3", Follows, "+49.7 %");
    says("write bandwidth of d2v3 10 MB is the fastest", Follows, "of agent-d2sv3");
    says("write bandwidth of d2v3 10kb is the fastest", DoesNotFollow, "of agent-d2sv3");
    says("acs randwrite is faster than azdisk and slower than acs randread", Follows, " | ");
}

#[test]
fn a_name_means_whole_words_before_beginnings() {
    says("premiumssd = 5210 IOPS", Follows, "5,210.0 IOPS");
    says("premiumssd_v2 delivers 20.4k IOPS", Follows, "20,400");
    says(
        "premium = 5210 IOPS",
        NoData,
        "\"premium\" may be any of 2 results; there are: Disks fio async-r-premiumssd.ini",
    );
    says("assumed iops of premiumssd = 5000", Follows, "5,000");
    says("premiumssd is 4.2% faster than assumed iops of premiumssd", Follows, "+4.20 %");
    says("iops of p30 = 5000", NoData, "nothing in the data is called \"p30\"");
    says("P50 is faster than P30", NoData, "nothing in the data is called \"P50\"");
    says("\"async-r-premiumssd.ini\" = 5210 IOPS", Follows, "5,210");
    says("bandwidth of premiumssd = 5 MB/s", NoData, "it tells no bandwidth");
    says("iops of acs randwrite = 5 MB/s", NoData, "5 MB/s is a rate of bytes");
    says("bandwidth of desktop = 100", NoData, "100 has no unit");
    says("bandwidth of d2v3 10kb = 1 MB/s", NoData, "write read bandwidth, write bandwidth or total bandwidth");
}

#[test]
fn expected_figures_are_asked_of_whoever_knows() {
    struct Catalog;
    impl Expectations for Catalog {
        fn expected(&self, asked: &Expectation<'_>) -> Option<f64> {
            let sold = match asked.level {
                Level::Burst => 3500.0,
                _ => 120.0,
            };
            (asked.cell.target.contains("azdisk") && asked.figure == Figure::Iops).then_some(sold)
        }
    }
    let judge = |check: &str| {
        let claims = Claims::read(&format!("claim\n{check}\n"), Thousands::Untold).unwrap();
        let record = post();
        let judged = claims.judge(&[&record], &Catalog);
        (judged.claims[0].verdict, judged.claims[0].recomputation.clone())
    };
    assert_eq!(judge("write iops of azdisk is more than 15 times the expected iops").0, Follows);
    assert_eq!(judge("write iops of azdisk > expected burst iops").0, DoesNotFollow);
    let (verdict, text) = judge("write iops of acs randwrite > expected iops");
    assert!(verdict == NoData && text.contains("is not known"), "{text}");
}

#[test]
fn a_claim_that_is_no_statement_has_no_data_and_a_check_has_to_be_one() {
    let file = "id,claim\n1,I don't know what happened\n2,\"See lines 2-4, as above\"\n";
    let judged = Claims::read(file, Thousands::Untold).unwrap().judge(&[&post()], &NothingExpected);
    assert!(judged.claims.iter().all(|claim| claim.verdict == NoData && !claim.recomputation.is_empty()), "{judged:?}");
    assert_eq!(judged.claims[0].recomputation, "no figure of the data is named");
    let error = Claims::read("claim,check\nit,\niops,iops of acs is faster\n", Thousands::Untold).unwrap_err();
    assert_eq!((error.place.line, error.place.column), (3, 21));
    let errors = [
        ("", "there are no claims"),
        ("text\nx\n", "no column claim: it has text"),
        ("claim,id\nx\n", "1 cells below a header of 2"),
        ("claim\n\"x\n", "ends nowhere"),
        ("claim,thousands\nx,;\n", "separates no thousands"),
        ("id,claim\n1,\n", "without a claim"),
    ];
    for (file, words) in errors {
        let error = Claims::read(file, Thousands::Untold).unwrap_err().to_string();
        assert!(error.contains(words), "{file}: {error}");
    }
}

#[test]
fn the_table_fits_its_width() {
    let file = "id,claim\na,acs randwrite is more than 4 times faster than azdisk\nb,iops of nothing = 4\n";
    let judged = Claims::read(file, Thousands::Untold).unwrap().judge(&[&post()], &NothingExpected);
    for width in [60, 100, 160] {
        let text = text::text(&judged, width);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        assert!(text.contains("follows") && text.ends_with("2 claims: 1 follows, 1 no data\n"), "{text}");
    }
}
