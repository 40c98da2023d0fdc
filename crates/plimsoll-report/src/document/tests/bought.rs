//! What was bought, as continuous integration is told of it: a failure is a claim.

use plimsoll_measure::verdict::Verdict;
use plimsoll_record::{
    record::Record,
    results::{Finding, Severity},
};
use plimsoll_workload::provisioned::Provisioning;

use super::{again, document_of, junit, markdown, test_records};

/// One load of the canonical six, with a rate and how sure it is.
fn run(cell: usize, verdict: Verdict, iops: [f64; 3]) -> Record {
    let mut record = test_records::canonical();
    let mut cell = record.cells.swap_remove(cell);
    let [low, rate, high] = iops;
    let each = cell.plan.as_ref().unwrap().blocks().unwrap().operation_bytes();
    let result = cell.read.as_mut().unwrap();
    (result.iops, result.iops_low, result.iops_high) = (rate, Some(low), Some(high));
    result.bytes_per_second = rate * each;
    cell.verdict = Some(verdict);
    record.cells = vec![cell];
    record
}

/// Cells of `run`: one at a time, 32 of them at a time, and large ones.
const LATENCY: usize = 0;
const IOPS: usize = 2;
const THROUGHPUT: usize = 4;

fn report(records: &[&Record], bought: &str) -> String {
    let said: Provisioning = toml::from_str(&format!("[defaults]\n{bought}")).unwrap();
    let subjects: Vec<_> = records.iter().map(|record| (*record, &said)).collect();
    junit::report(&document_of(&subjects, &super::Catalog::default()), records)
}

/// The test of what was bought, in words: whether it failed or was skipped, and why.
fn told(record: &Record, bought: &str) -> String {
    let xml = report(&[record], bought);
    let (_, test) = xml.split_once("name=\"what was bought, reads\"").unwrap();
    let test = test.split("</testcase>").next().unwrap();
    let word = if test.contains("<failure") { "failed" } else { "skipped" };
    match test.split_once("message=\"").filter(|_| test.contains("<skipped") || test.contains("<failure")) {
        Some((_, rest)) => format!("{word}: {}", rest.split('"').next().unwrap()),
        None => "passed".to_owned(),
    }
}

#[test]
fn a_rate_that_is_surely_less_than_was_bought_fails_its_test() {
    let sure = run(IOPS, Verdict::Steady, [11_900.0, 12_000.0, 12_100.0]);
    let text = told(&sure, "limit = 'iops=16000'");
    assert_eq!(text, "failed: 12,000 IOPS [11,900 IOPS, 12,100 IOPS] where 16,000 IOPS were bought");
    assert_eq!(told(&run(IOPS, Verdict::Steady, [15_900.0, 16_000.0, 16_100.0]), "limit = 'iops=16000'"), "passed");
}

#[test]
fn what_is_no_claim_is_skipped_with_the_reason() {
    let unsure = run(IOPS, Verdict::Steady, [7_254.0, 9_591.0, 11_900.0]);
    let of = |verdict| run(IOPS, verdict, [11_900.0, 12_000.0, 12_100.0]);
    let mut unknown = of(Verdict::Steady);
    unknown.cells[0].read.as_mut().unwrap().iops_high = None;
    let mut shared = of(Verdict::Steady);
    shared.cells[0].phase = Some(1);
    shared.cells.push(shared.cells[0].clone());
    for (record, bought, reason) in [
        (&unsure, "limit = 'iops=10800'", "within its error"),
        (&unknown, "limit = 'iops=16000'", "nobody knows"),
        (&shared, "limit = 'iops=16000'", "at the same time"),
        (&of(Verdict::ClientLimited), "limit = 'iops=16000'", "the machine that measured was the limit"),
        (&of(Verdict::Short), "limit = 'iops=16000'", "too briefly"),
        (&of(Verdict::Unstable), "limit = 'iops=16000'", "not even"),
        (&run(LATENCY, Verdict::Steady, [1_640.0, 1_650.0, 1_660.0]), "limit = 'iops=16000'", "too little in flight"),
        // Of a load of large operations it is bytes that count.
        (&run(THROUGHPUT, Verdict::Steady, [990.0, 996.0, 999.0]), "limit = 'iops=16000'", "bound by bytes"),
    ] {
        let text = told(record, bought);
        assert!(text.starts_with("skipped: ") && text.contains(reason), "{reason}: {text}");
    }
    let large = run(THROUGHPUT, Verdict::Steady, [990.0, 996.0, 999.0]);
    let text = told(&large, "limit = 'iops=16000,bandwidth=2000MB'");
    assert!(text.starts_with("failed: ") && text.contains("MB/s") && text.contains("where 2,000 MB/s"), "{text}");
}

#[test]
fn what_a_cache_answered_is_called_so_and_is_never_what_was_bought() {
    for rate in [9_600.0, 5_000.0] {
        let cached = run(IOPS, Verdict::Cached, [rate * 0.99, rate, rate * 1.01]);
        let text = told(&cached, "limit = 'iops=5000'");
        assert!(text.starts_with("skipped: ") && text.contains("a cache answered"), "{text}");
        let said: Provisioning = toml::from_str("[defaults]\nlimit = 'iops=5000'").unwrap();
        let shown = document_of(&[(&cached, &said)], &super::Catalog::default());
        let text = markdown::report(&shown, &[&cached]);
        assert!(!text.contains("| over |") && !text.contains("may be another one"), "{text}");
    }
    let mut above = run(IOPS, Verdict::Cached, [14_400.0, 14_471.0, 14_500.0]);
    let finding = |code: &str| Finding {
        code: code.to_owned(),
        severity: Severity::Warning,
        text: String::new(),
        evidence: serde_json::Map::new(),
    };
    above.cells[0].findings = vec![finding("read-above-device-limit")];
    let another = "something else answered, or the limit is another one";
    let text = told(&above, "limit = 'iops=5000'");
    assert!(text.ends_with(&format!("where 5,000 IOPS were bought: {another}")), "{text}");
    let shown = crate::table::record(&above, 200, crate::table::Style::default());
    assert!(shown.contains(&format!("note: cached = {another}\n")), "{shown}");
    above.cells[0].findings.push(finding("repeated-reads-faster"));
    let text = told(&above, "limit = 'iops=5000'");
    assert!(text.ends_with(": a cache answered instead of the storage"), "{text}");
    let over = told(&run(IOPS, Verdict::Steady, [9_500.0, 9_600.0, 9_700.0]), "limit = 'iops=5000'");
    assert!(over.contains("may be another one") && !over.contains("something else answered"), "{over}");
    let far = told(&run(IOPS, Verdict::Steady, [19_500.0, 19_600.0, 19_700.0]), "limit = 'iops=5000'");
    assert!(far.contains("something else answered"), "{far}");
}

#[test]
fn many_runs_are_judged_as_few_are() {
    let record = run(IOPS, Verdict::Steady, [11_900.0, 12_000.0, 12_100.0]);
    let records: Vec<Record> = (1..30).map(|number| again(&record, number)).collect();
    let records: Vec<&Record> = records.iter().collect();
    let xml = report(&records, "limit = 'iops=16000'");
    assert_eq!(xml.matches("<failure").count(), 29, "{xml}");
    let said: Provisioning = toml::from_str("[defaults]\nlimit = 'iops=16000'").unwrap();
    let subjects: Vec<_> = records.iter().map(|record| (*record, &said)).collect();
    let shown = document_of(&subjects, &super::Catalog::default());
    assert!(markdown::report(&shown, &records).contains("## Expected and measured"));
    // The page leaves the bars out, and says so.
    let page = shown.for_page(&records, usize::MAX);
    assert_eq!(page.explanation, None);
    assert!(page.findings.last().unwrap().text.contains("what was bought is not shown"), "{:?}", page.findings);
}
