//! What is said of results that others told, and what is not.

mod behind;

use std::collections::BTreeMap;

use plimsoll_catalog::catalog::Catalog;
use plimsoll_record::{
    event::RunEvent,
    record::{Outcome, Record, Tool},
    told::{Direction, Duration, FoundResult, Import, Measured, Reading, Source, Told, Transfers},
};
use plimsoll_workload::{certainty::Certainty, provisioned::Provisioning, settings::Effort};

use super::{ExplainedCell, ExplainedRun, Explanation, standing::Standing};
use crate::test_records::{self, Story};

/// A result of so many reads or writes a second.
fn told(pattern: &str, block: u64, iops: f64, more: impl Fn(&mut Transfers)) -> Transfers {
    let did = Direction { iops: Some(iops), bytes_per_second: Some(iops * block as f64), ..Direction::default() };
    let is_read = pattern.ends_with("read");
    let mut transfers = Transfers {
        pattern: Some(pattern.to_owned()),
        block_size_bytes: Some(block),
        read: is_read.then(|| did.clone()),
        write: (!is_read).then_some(did),
        ..Transfers::default()
    };
    more(&mut transfers);
    transfers
}

fn record(results: Vec<(&str, Transfers)>) -> Record {
    let measured = |(target, transfers)| (target, Measured::Transfers(Box::new(transfers)));
    record_of(results.into_iter().map(measured).collect())
}

fn record_of(results: Vec<(&str, Measured)>) -> Record {
    let found = results.into_iter().enumerate().map(|(at, (target, measured))| FoundResult {
        target: Some(target.to_owned()),
        workload: Some("load".to_owned()),
        heading: None,
        told: Told { source: Source::FioText, lines: (at + 1, at + 1), measured },
        started: None,
        findings: Vec::new(),
    });
    let reading = Reading {
        id: "0199c0de-7a3e-7000-8000-0000000000a1".parse().unwrap(),
        tool: Tool { version: "0".to_owned(), commit: None, profile: "release".to_owned() },
        name: None,
        tags: BTreeMap::new(),
        target: None,
    };
    let import = Import { file: "-".to_owned(), at: "2025-10-08T09:30:00Z".parse().unwrap(), text: String::new() };
    Record::of_import(reading, import, found.collect())
}

fn explain(transfers: Transfers, said: &str) -> ExplainedCell {
    let record = record(vec![("disk", transfers)]);
    let said: Provisioning = toml::from_str(&format!("[defaults]\n{said}")).unwrap();
    let explanation = Explanation::of(&[(&record, &said)], &Catalog::default()).unwrap();
    explanation.runs[0].cells[0].clone()
}

fn codes(cell: &ExplainedCell) -> Vec<&'static str> {
    cell.causes.iter().map(|cause| cause.code).collect()
}

/// What is in flight, and how long each operation takes.
fn waiting(depth: u64, latency_ms: f64) -> impl Fn(&mut Transfers) {
    move |transfers| {
        transfers.queue_depth = Some(depth);
        for direction in [&mut transfers.read, &mut transfers.write].into_iter().flatten() {
            direction.latency_mean_ns = Some(latency_ms * 1e6);
        }
    }
}

#[test]
fn what_was_paced_is_bound_by_nothing_else() {
    let of = |pace: Option<&str>| {
        let pace = pace.map(str::to_owned);
        explain(told("randread", 4096, 300.0, |transfers| transfers.pace.clone_from(&pace)), "sku = 'P30'")
    };
    assert_eq!(codes(&of(Some("rate_iops=300")))[0], "paced");
    assert!(!codes(&of(None)).contains(&"paced"));
}

#[test]
fn more_in_flight_is_advised_only_where_operations_do_not_wait() {
    let shallow = explain(told("randread", 4096, 417.0, waiting(1, 2.4)), "sku = 'P30'\ncaching = 'None'");
    assert_eq!(codes(&shallow), ["queue-depth"]);
    assert!(shallow.causes[0].advice.contains("at least 12"), "{:?}", shallow.causes);
    // 122 operations a second of a disk that is held back: more of them would only wait longer.
    let held_back = explain(told("randread", 4096, 122.0, waiting(32, 262.0)), "sku = 'P30'\ncaching = 'None'");
    assert_eq!(codes(&held_back), ["saturated", "below-limit"]);
    assert!(held_back.causes[1].text.contains("it is what P1 to P4 would do"), "{:?}", held_back.causes);
    let slow = explain(told("randread", 4096, 50.0, waiting(1, 20.1)), "sku = 'P30'\ncaching = 'None'");
    assert_eq!(codes(&slow), ["saturated", "below-limit"]);
}

/// Writes of which each takes so long, and so many syncs a second.
fn synced(jobs: u64, write_ms: f64, syncs: Option<f64>, sync_ms: f64) -> impl Fn(&mut Transfers) {
    move |transfers| {
        waiting(1, write_ms)(transfers);
        transfers.jobs = Some(jobs);
        let latency_mean_ns = Some(sync_ms * 1e6);
        transfers.sync = Some(Direction { iops: syncs, latency_mean_ns, ..Direction::default() });
    }
}

#[test]
fn what_syncs_between_writes_take_is_the_reason_and_no_want_of_operations_in_flight() {
    let limit = "limit = 'iops=500'";
    let of = |iops, jobs, write_ms, syncs, sync_ms, said| {
        explain(told("randwrite", 4096, iops, synced(jobs, write_ms, syncs, sync_ms)), said)
    };
    let each = of(250.0, 8, 18.0, Some(250.0), 14.8, limit);
    assert_eq!(codes(&each), ["syncs"]);
    assert_eq!(each.causes[0].text, "after each write a sync of 14.8 ms: 45 % of the time");
    assert!(each.causes[0].says_why_below());
    let run = ExplainedRun { id: uuid::Uuid::nil(), name: String::new(), cells: vec![each] };
    let shown = Explanation { schema: super::SCHEMA, runs: vec![run], pairs: Vec::new() };
    let shown = super::text::text(&shown, 100);
    assert!(shown.lines().nth(2).unwrap().ends_with("  under"), "nothing known binds: {shown}");
    let log = of(135.0, 1, 0.0095, Some(135.0), 7.38, limit);
    assert_eq!(log.causes[0].text, "after each write a sync of 7.38 ms: 100 % of the time");
    let seldom = of(400.0, 1, 2.0, Some(100.2), 2.0, limit);
    assert_eq!(seldom.causes[0].text, "after every 4 writes a sync of 2.00 ms: 20 % of the time");
    // What they take is a part of how long each operation takes, also where it is no reason.
    let hardly = of(417.0, 1, 2.4, Some(4.17), 2.4, "sku = 'P30'\ncaching = 'None'");
    assert_eq!(codes(&hardly), ["queue-depth"]);
    assert!(hardly.causes[0].text.contains("1 at 2.42 ms each are 412.5 IOPS"), "{:?}", hardly.causes);
    let both = of(392.0, 1, 2.4, Some(24.5), 2.4, "sku = 'P30'\ncaching = 'None'");
    assert_eq!(codes(&both), ["syncs", "queue-depth"], "without syncs it is far from the limit too");
    // However long syncs take, they are nothing that writes wait for.
    let long = of(37.0, 1, 2.0, Some(37.0), 25.0, "limit = 'iops=5000'");
    assert_eq!(codes(&long), ["syncs", "queue-depth"]);
    let text = "too little in flight without syncs too: 1 at 2.00 ms each are 500 IOPS at most, and 5,000 IOPS take 10";
    assert!(long.causes[1].text.starts_with(text), "{:?}", long.causes);
    assert_eq!(codes(&of(250.0, 8, 18.0, Some(250.0), 14.8, "limit = 'iops=1000'")), ["syncs"]);
    // Of what a burst lets through too, and not of what lasts.
    let burst = "limit = 'iops=300,burst-iops=3000,bucket=5.4M'";
    let bursting = of(400.0, 1, 2.0, Some(250.0), 2.0, burst);
    assert_eq!(codes(&bursting), ["burst-credits", "syncs", "queue-depth"]);
    assert!(bursting.causes[2].advice.contains("at least 6"), "{:?}", bursting.causes);
    // fio does not count those of `fdatasync`.
    assert_eq!(codes(&of(417.0, 1, 0.1, None, 2.3, "sku = 'P30'\ncaching = 'None'")), ["below-limit"]);
}

#[test]
fn what_cells_had_at_the_same_time_are_parts_of_the_limit() {
    let causes = |phase: Option<u32>| {
        let load = |name| toml::from_str(&format!("rw = 'randread'\nqueue_depth = 32\nname = '{name}'")).unwrap();
        let certainty = Certainty { limit: Some("iops=2000".parse().unwrap()), ..Certainty::of(Effort::Quick) };
        let mut story = Story::with(&["/mnt/data"], &[load("a"), load("b")], certainty);
        (0..2).for_each(|cell| story.measure(cell, 1000, 32_000_000));
        let mut record = story.end(54_000_000_000, Outcome::Complete);
        record.cells.iter_mut().for_each(|cell| cell.phase = phase);
        let explanation = Explanation::of(&[(&record, &Provisioning::default())], &Catalog::default()).unwrap();
        codes(&explanation.runs[0].cells[0])
    };
    assert_eq!(causes(None), ["saturated", "below-limit"]);
    assert_eq!(causes(Some(1)), ["shared"]);
}

#[test]
fn io_in_order_of_magnetic_volumes_is_merged_before_it_is_counted() {
    let of =
        |pattern| explain(told(pattern, 128 << 10, 2000.0, |_| ()), "sku = 'st1'\nsize = '1Ti'").judged[0].standing;
    assert_eq!(of("read"), Standing::BurstOnly, "250 MiB/s are its burst");
    assert_eq!(of("randread"), Standing::Impossible);
}

#[test]
fn a_cache_is_named_only_where_nothing_else_is_as_fast() {
    let said = "sku = 'P40'\nvm = 'Standard_D2s_v3'\ncaching = 'None'";
    let slightly = explain(told("randread", 4096, 4210.0, |_| ()), said);
    assert_eq!(codes(&slightly), ["above-limit"]);
    let far = explain(told("randread", 4096, 42_100.0, |_| ()), said);
    assert_eq!(codes(&far), ["cache"]);
    assert!(far.causes[0].text.contains(", or it is other storage than was said: "), "{:?}", far.causes);
    let unknown = explain(told("randread", 4096, 14_471.0, |of| of.is_direct = Some(true)), "sku = 'P30'");
    assert_eq!(codes(&unknown), ["host-cache"]);
    assert!(unknown.causes[0].text.contains("reads, or it is other storage than was said: "), "{:?}", unknown.causes);
    assert!(!far.causes[0].advice.contains("caching None"), "{:?}", far.causes);
    let aws = explain(told("randread", 4096, 90_000.0, |of| of.is_direct = Some(true)), "sku = 'gp3'\nsize = '100Gi'");
    assert_eq!(codes(&aws), ["cache"]);
    assert!(!aws.causes[0].text.contains("host"), "{:?}", aws.causes);
    let buffered = explain(told("randwrite", 4096, 90_000.0, |of| of.is_direct = Some(false)), said);
    assert_eq!(codes(&buffered), ["page-cache"]);
    let writes = explain(told("randwrite", 4096, 90_000.0, |of| of.is_direct = Some(true)), said);
    assert_eq!(codes(&writes), ["above-everything"]);
}

#[test]
fn what_to_change_is_told_with_what_the_machine_makes_of_it() {
    let advice = |iops, said: &str| {
        let cell = explain(told("randwrite", 4096, iops, |_| ()), &format!("caching = 'None'\n{said}"));
        cell.causes[0].advice.clone()
    };
    assert_eq!(advice(120.0, "sku = 'P4'"), "P6 (64 GiB) would give 240 IOPS");
    let bound = advice(5000.0, "sku = 'P30'\nvm = 'Standard_D4s_v3'");
    assert_eq!(bound, "P40 (2 TiB) would give 7,500 IOPS, of which Standard_D4s_v3 lets 6,400 IOPS through");
    assert_eq!(advice(10_000.0, "sku = 'P30'\ndisks = 2"), "2 x P40 (2 TiB) would give 15,000 IOPS");
    assert!(advice(3200.0, "vm = 'Standard_D2s_v3'").starts_with("Standard_D4s_v3 is the next size of its series"));
}

#[test]
fn the_same_load_on_two_disks_differs_as_they_were_bought() {
    let results =
        vec![("small", told("randwrite", 4096, 121.0, |_| ())), ("large", told("randwrite", 4096, 7600.0, |_| ()))];
    let record = record(results);
    let said = "[defaults]\nsku = 'Premium_LRS'\n[targets.small]\nsize = '8Gi'\n[targets.large]\nsize = '2Ti'";
    let said: Provisioning = toml::from_str(said).unwrap();
    let explanation = Explanation::of(&[(&record, &said)], &Catalog::default()).unwrap();
    let pair = &explanation.pairs[0];
    assert_eq!(pair.explained, super::pairs::Explained::ByProvisioning);
    assert_eq!(pair.expected, Some(62.5));
    let said: Provisioning = toml::from_str("[defaults]\nsku = 'P30'").unwrap();
    let explanation = Explanation::of(&[(&record, &said)], &Catalog::default()).unwrap();
    assert_eq!(explanation.pairs[0].explained, super::pairs::Explained::No);
}

#[test]
fn a_command_is_not_called_unbound_by_disks_that_its_times_could_still_follow() {
    let said = "[targets.small]\nsku = 'P30'\n[targets.large]\nsku = 'P40'";
    let said: Provisioning = toml::from_str(said).unwrap();
    let text = |small: [u64; 5], large: [u64; 5]| {
        let record = record_of(vec![("small", took(small)), ("large", took(large))]);
        let explanation = Explanation::of(&[(&record, &said)], &Catalog::default()).unwrap();
        explanation.pairs[0].text.clone()
    };
    // 1.5 times as many operations were bought.
    let alike = text([100, 101, 102, 103, 104], [101, 100, 104, 102, 103]);
    assert!(alike.contains("no difference found"), "{alike}");
    assert!(alike.ends_with("differs 1.50 : 1, so it is not bound by these disks"), "{alike}");
    let scattered = text([60, 100, 140, 180, 110], [50, 70, 150, 90, 100]);
    assert!(scattered.contains("no difference found"), "{scattered}");
    assert!(scattered.ends_with("and whether it is bound by these disks takes more iterations to say"), "{scattered}");
}

/// What is said of pairs of records, with the same disk behind every target.
fn pairs(records: &[&Record], said: &str) -> Vec<super::Pair> {
    let said: Provisioning = toml::from_str(said).unwrap();
    let subjects: Vec<(&Record, &Provisioning)> = records.iter().map(|record| (*record, &said)).collect();
    Explanation::of(&subjects, &Catalog::default()).unwrap().pairs
}

#[test]
fn rates_as_close_as_limits_are_exact_do_not_differ() {
    let pair = |other: f64, said: &str| {
        let results =
            vec![("one", told("randwrite", 4096, 5000.0, |_| ())), ("two", told("randwrite", 4096, other, |_| ()))];
        pairs(&[&record(results)], said).remove(0)
    };
    let alike = pair(4998.0, "[defaults]\nsku = 'P30'");
    assert_eq!(alike.explained, super::pairs::Explained::NoDifference);
    assert!(alike.text.ends_with("; no difference found; both were bought to do 5,000 IOPS"), "{}", alike.text);
    let bought = "[targets.one]\nsku = 'P30'\n[targets.two]\nsku = 'P40'";
    let other = pair(4998.0, bought);
    assert_eq!(other.explained, super::pairs::Explained::NoDifference);
    assert!(other.text.contains("no difference found; 5,000 IOPS beside 7,500 IOPS were bought"), "{}", other.text);
    assert_eq!(pair(4000.0, "[defaults]\nsku = 'P30'").explained, super::pairs::Explained::No);
}

#[test]
fn rates_that_were_measured_differ_only_beyond_chance() {
    let explained = |rates: [u64; 2], scatter: u64| {
        let mut story = Story::new(&["/mnt/a", "/mnt/b"], &test_records::workloads("canonical")[2..3]);
        for round in 0..6 {
            for (cell, rate) in rates.into_iter().enumerate() {
                let rate = rate + scatter * ((u64::from(round) * 5 + cell as u64 * 3) % 7);
                let slot = story.slot(cell, round, rate, 1_000_000);
                story.tell(&RunEvent::SlotFinished(Box::new(slot)));
            }
        }
        pairs(&[&story.end(60_000_000_000, Outcome::Complete)], "[defaults]\nlimit = 'iops=6000'").remove(0)
    };
    let chance = explained([4900, 4950], 100);
    assert_eq!(chance.explained, super::pairs::Explained::NoDifference, "{}", chance.text);
    assert!(chance.text.contains("; no difference found (p = "), "{}", chance.text);
    let small = explained([4900, 5000], 1);
    assert_eq!(small.explained, super::pairs::Explained::No, "{}", small.text);
    assert!(small.p_value.unwrap() < 0.05 && small.text.ends_with("so that what was bought does not explain it"));
}

#[test]
fn the_same_target_in_two_runs_is_told_with_its_run_and_what_did_nothing_in_no_ratio() {
    let of = |iops: f64| told("randwrite", 4096, iops, |_| ());
    let mut first = record(vec![("/mnt/data", of(5000.0)), ("/mnt/data", of(2500.0))]);
    let mut second = record(vec![("/mnt/data", of(2500.0))]);
    first.name = Some("before".to_owned());
    (second.name, second.id) = (Some("after".to_owned()), uuid::Uuid::from_u128(7));
    let found = pairs(&[&first, &second], "[defaults]\nsku = 'P30'");
    let [pair] = found.as_slice() else { panic!("one target of one run is no other storage: {found:?}") };
    assert!(pair.text.contains("/mnt/data of before did 2.00 times as much as /mnt/data of after ("), "{}", pair.text);
    let stalled = record(vec![("one", of(5000.0)), ("two", of(0.0))]);
    assert_eq!(pairs(&[&stalled], "[defaults]\nsku = 'P30'"), []);
}

/// A command that took so many seconds each time.
fn took(seconds: impl IntoIterator<Item = u64>) -> Measured {
    let of = |seconds| Duration { elapsed_ns: seconds * 1_000_000_000, ..Duration::default() };
    Measured::Durations(seconds.into_iter().map(of).collect())
}

#[test]
fn many_times_are_told_from_chance_as_well_and_few_are_not_called_different() {
    let pair = |one: Measured, other: Measured| {
        pairs(&[&record_of(vec![("one", one), ("two", other)])], "[defaults]\nsku = 'P30'").remove(0)
    };
    let many = |shift: u64| took((0..12).map(move |at| 100 + shift + at * 5 % 12));
    let alike = pair(many(0), many(0));
    assert_eq!(alike.explained, super::pairs::Explained::NoDifference, "{}", alike.text);
    assert!(alike.text.contains("12 and 12 times; Welch p = 1"), "{}", alike.text);
    let apart = pair(many(0), many(40));
    assert!(apart.text.contains("more than chance does") && apart.text.contains("Welch p = <0.001"), "{}", apart.text);
    let few = pair(took([100, 101]), took([150, 151]));
    assert_eq!((few.explained, few.p_value), (super::pairs::Explained::No, None));
    assert!(few.text.contains("not known to differ") && few.text.ends_with("what was bought is alike"), "{}", few.text);
    let rare = pair(took([100, 101, 102, 103, 104]), took([200, 201, 202, 203, 204]));
    assert!(rare.text.contains("p = 0.008 by all 252 divisions"), "{}", rare.text);
    let nothing = record_of(vec![("one", took([0])), ("two", took([100]))]);
    assert_eq!(pairs(&[&nothing], "[defaults]\nsku = 'P30'"), []);
}
