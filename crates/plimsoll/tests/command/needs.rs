//! `--need`: whether targets have what is needed, and what else is sold that has.

use std::{fs, io::Write, process::Stdio};

use serde_json::{Value, json};

use crate::support::{Place, Said};

const RUN: &str = "run DATA --engine memory --rw randread --size 8M --duration 200ms --ramp 0s --quiet";

const PRICES: &str = "[[price]]\nname = 'P30'\nper_month = 135.17\ncurrency = 'USD'\ndate = '2026-10-01'\n\
                      [[price]]\nname = 'PremiumV2_LRS'\nper_gib_month = 0.08\nper_iops_month = 0.005\n\
                      currency = 'USD'\ndate = '2026-10-01'\n";

/// The text as one line, however it was wrapped.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_run_ends_with_what_is_needed_and_what_to_buy_for_it() {
    let place = Place::new();
    let said =
        place.run(&format!("{RUN} --need iops=3000,write_iops=5,latency_p99=5s --sku Premium_LRS --disk-size 64Gi"));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let text = line(&said.stdout);
    for words in [
        "Needed: iops=3000,write_iops=5,latency_p99=5s",
        "iops=3000 met, but measured too briefly to know whether it lasts",
        "write_iops=5 not measured: no workload of this run tells it",
        "P30 (1 TiB): 5,000 IOPS, 200 MB/s; the next smaller, P20, has 2,300 IOPS, which is less than 3,000.",
        "Latencies are in no catalog",
        "without prices",
    ] {
        assert!(text.contains(words), "{words}: {}", said.stdout);
    }
    assert!(said.stdout.lines().all(|line| line.chars().count() <= 100), "{}", said.stdout);
    let record = place.record(&format!("{RUN} --need iops=3k"));
    assert_eq!(record["asked"]["need"], "iops=3000");
    assert_eq!(place.record(RUN)["asked"].get("need"), None);
}

#[test]
fn prices_of_ones_own_decide() {
    let place = Place::new();
    fs::write(place.path("prices.toml"), PRICES).unwrap();
    let run = format!("{RUN} --sku P30 --limits ROOT/prices.toml");
    let text = line(&place.run(&format!("{run} --need iops=5000,size=1Ti")).stdout);
    assert!(text.contains("It is the cheapest of 2 with a price: 91.92 USD a month"), "{text}");
    assert!(text.contains("by the price of PremiumV2_LRS of 2026-10-01"), "{text}");
    let text = line(&place.run(&format!("{run} --need iops=5000,size=1Ti,bandwidth=200MB")).stdout);
    assert!(text.contains("It is the only one with a price: 135.17 USD a month"), "{text}");
    assert!(text.contains("No price of PremiumV2_LRS: the row PremiumV2_LRS has no per_mbps_month."), "{text}");
}

#[test]
fn a_file_of_limits_is_read_once_and_may_be_a_pipe() {
    let place = Place::new();
    let mut command = place.command(&format!("{RUN} --sku P30 --limits /dev/stdin --need iops=5000,size=1Ti"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(PRICES.as_bytes()).unwrap();
    let said = Said::of(child.wait_with_output().unwrap());
    assert!(line(&said.stdout).contains("the cheapest of 2 with a price"), "{}\n{}", said.stdout, said.stderr);
}

#[test]
fn a_machine_that_lets_too_little_through_is_named() {
    let place = Place::new();
    let text = line(&place.run(&format!("{RUN} --need iops=5000 --sku P30 --vm Standard_D2s_v3")).stdout);
    let words = "Standard_D2s_v3 lets 3,200 IOPS through, so no disk on it holds 5,000; Standard_D4s_v3 is the first of \
                 its series";
    assert!(text.contains(words), "{text}");
}

#[test]
fn what_was_not_measured_for_certain_breaks_nothing() {
    let place = Place::new();
    let said = place.run(&format!("{RUN} --queue-depth 32 --need iops=900000M,bandwidth=900GB,latency_mean=1ns"));
    let text = line(&said.stdout);
    assert_eq!(said.code, Some(0), "{text}");
    assert!(text.contains("iops=900000000000 not met, but measured too briefly"), "{text}");
    assert!(text.contains("bandwidth=900GB not measured: "), "{text}");
}

#[test]
fn a_need_that_is_no_need_is_refused_before_anything_is_measured() {
    let place = Place::new();
    for (need, words) in [
        ("3000", "write it as iops=3000"),
        ("iops=fast", "iops is operations a second"),
        ("latency=5ms", "\"latency\" is none of iops, bandwidth, latency_mean"),
        ("iops=1,iops=2", "iops stands there twice"),
    ] {
        assert!(place.run(&format!("{RUN} --need {need}")).error(2).contains(words), "{need}");
    }
    fs::write(place.path("plan.toml"), "need = 'iops'\n[[workload]]\nrw = 'randread'\n").unwrap();
    let said = place.run("run DATA --engine memory --plan ROOT/plan.toml");
    assert!(said.stderr.contains("\"iops\" is not a need"), "{}", said.stderr);
    assert!(place.run("run --resume latest --need iops=1").error(2).contains("--need"));
}

#[test]
fn a_plan_says_what_is_needed_and_the_flag_comes_first() {
    let place = Place::new();
    fs::write(place.path("plan.toml"), "need = 'iops=10,size=1Mi'\n[[workload]]\nrw = 'randread'\n").unwrap();
    let run = RUN.replace("--rw randread", "--plan ROOT/plan.toml");
    assert_eq!(place.record(&run)["asked"]["need"], "iops=10,size=1MiB");
    assert_eq!(place.record(&format!("{run} --need iops=20"))["asked"]["need"], "iops=20");
    let small = place.run(&format!("{run} --need iops=10,size=1Ti --sku P10"));
    assert_eq!(small.code, Some(1), "{}", small.stderr);
    assert!(small.stdout.contains("size=1TiB  not met: 128 GiB were bought"), "{}", small.stdout);
}

/// A record whose one cell is steady at its rate, known to a thousandth.
fn steady(place: &Place) -> (String, f64) {
    let mut record = place.record(&format!("{RUN} --queue-depth 32"));
    let cell = &mut record["cells"][0];
    cell["verdict"] = json!("steady");
    let iops = cell["read"]["iops"].as_f64().unwrap();
    (cell["read"]["iops_low"], cell["read"]["iops_high"]) = (json!(iops * 0.999), json!(iops * 1.001));
    fs::write(place.path("steady.json"), record.to_string()).unwrap();
    ("explain ROOT/steady.json".to_owned(), iops)
}

#[test]
fn explain_answers_for_records_and_fails_on_request_when_it_is_certain() {
    let place = Place::new();
    let (explain, iops) = steady(&place);
    let above = (iops * 2.0).round();
    let said = place.run(&format!("{explain} --need iops={above} --fail"));
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(line(&said.stdout).contains("not met: "), "{}", said.stdout);
    assert_eq!(place.run(&format!("{explain} --need iops={above}")).code, Some(0));
    assert_eq!(place.run(&format!("{explain} --need iops=10 --fail")).code, Some(0));
    let refused = place.run(&format!("{explain} --fail"));
    assert!(refused.code == Some(2) && refused.stderr.contains("--claims <FILE>|--need <NEED>"), "{}", refused.stderr);
    let answer = place.run(&format!("{explain} --need iops=3000,size=1Ti --sku gp3 --size 100Gi --json")).json();
    assert_eq!(answer["schema"], "plimsoll-explanation/1");
    let needs = &answer["needs"];
    assert_eq!(
        (&needs["need"], &needs["targets"][0]["answers"][0]["standing"]),
        (&json!("iops=3000,size=1TiB"), &json!("met"))
    );
    assert_eq!(needs["advice"]["candidates"][0]["name"], "gp3");
    assert_eq!(place.run(&format!("{explain} --json")).json().get("needs"), None::<&Value>);
}

#[test]
fn explain_answers_for_what_others_measured() {
    let place = Place::new();
    let text = "job: (groupid=0, jobs=1): err= 0: pid=1: Thu Oct 1 09:00:00 2026\n  read: IOPS=2500, BW=9.77MiB/s \
                (10.2MB/s)(586MiB/60001msec)\n";
    fs::write(place.path("post.txt"), text).unwrap();
    let said = place.run("explain ROOT/post.txt --need read_iops=2000 --sku P20");
    let answer = line(&said.stdout);
    assert!(
        answer.contains("read_iops=2000 met, but as fio tells, of which nobody knows whether it lasts"),
        "{answer}"
    );
    assert!(answer.contains("P20 (512 GiB): 2,300 IOPS, 150 MB/s; the next smaller, P15, has 1,100 IOPS"), "{answer}");
}

#[test]
fn syncs_that_others_timed_can_be_needed() {
    let place = Place::new();
    let text = "job: (groupid=0, jobs=1): err= 0: pid=1: Thu Oct 1 09:00:00 2026\n  write: IOPS=500, BW=1123KiB/s \
                (1150kB/s)(21.0MiB/20000msec)\n    clat (usec): min=2, max=900, avg=53.50, stdev=16.25\n  \
                fsync/fdatasync/sync_file_range:\n    sync (usec): min=400, max=57000, avg=1924.25, stdev=1354.50\n    \
                sync percentiles (usec):\n     |  50.00th=[  537], 99.00th=[ 12345]\n";
    fs::write(place.path("etcd.txt"), text).unwrap();
    let answer = line(&place.run("explain ROOT/etcd.txt --need sync_latency_p99=10ms,sync_latency_p50=1ms").stdout);
    assert!(answer.contains("sync_latency_p99=10ms not met, but as fio tells"), "{answer}");
    assert!(answer.contains("12.3 ms of syncs (job)") && answer.contains("537 us of syncs (job)"), "{answer}");
    let shown = place.run("import etcd.txt").stdout;
    assert!(shown.contains("; sync 1.92 ms on"), "{shown}");
}

#[test]
fn syncs_have_a_latency_that_can_be_needed() {
    let place = Place::new();
    let answer = |need: &str| {
        let run = "run DATA --preset wal-etcd --duration 2s --json --need";
        let said = place.run(&format!("{run} sync_latency_p50={need}"));
        let told = place.run(&format!("explain latest --need sync_latency_p50={need}")).stdout;
        (said.code, told.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (code, told) = answer("1h");
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("=1h met") && told.contains(" of syncs (wal-etcd)"), "{told}");
    let (_, told) = answer("1ns");
    assert!(told.contains("not met") && told.contains(" of syncs"), "{told}");
    let said = place.run("run DATA --need sync_iops=3");
    assert!(said.error(2).contains("latencies with sync_"), "{}", said.stderr);
}
