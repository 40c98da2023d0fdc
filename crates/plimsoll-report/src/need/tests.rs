//! What follows from cells, and what does not.

use plimsoll_catalog::limits_file::LimitsFile;
use plimsoll_measure::verdict::Verdict;
use plimsoll_record::{judgement::RateEstimate, record::Outcome};
use plimsoll_workload::{block_sizes::BlockSizes, settings::ReadWrite, sweep::Sweep, workload::Workload};

use super::*;
use crate::test_records::{Story, canonical};

/// The canonical run, all steady, each rate known to 0.2 %, and percentiles exactly.
fn steady() -> Record {
    let mut record = canonical();
    record.cells.iter_mut().for_each(be_steady);
    record
}

fn be_steady(cell: &mut Cell) {
    cell.verdict = Some(Verdict::Steady);
    let results = [&mut cell.read, &mut cell.write];
    let mut sum = 0.0;
    for result in results.into_iter().flatten() {
        (result.iops_low, result.iops_high) = (Some(result.iops * 0.998), Some(result.iops * 1.002));
        sum += result.iops;
        let interval = |percentile: &str, ns: Option<u64>| plimsoll_record::latencies::LatencyInterval {
            percentile: percentile.to_owned(),
            low_ns: ns.unwrap_or(0),
            high_ns: ns,
            exceedances: 100,
            design_effect: 1.0,
            needed_seconds: None,
        };
        result.latency_intervals = vec![interval("p50", result.latency_ns.p50), interval("p99", result.latency_ns.p99)];
    }
    cell.estimate = Some(RateEstimate { iops: sum, iops_low: Some(sum * 0.998), iops_high: Some(sum * 1.002) });
}

fn needs(need: &str, record: &Record) -> Needs {
    let need = need.parse().unwrap_or_else(|error| panic!("{error}"));
    Needs::of(&need, &[(record, &Provisioning::default())], &Catalog::default())
}

fn answer(need: &str, record: &Record) -> (Standing, String) {
    let needs = needs(need, record);
    let answer = &needs.targets[0].answers[0];
    assert_eq!(needs.is_broken(), answer.standing == Standing::NotMet);
    (answer.standing, answer.text.clone())
}

#[test]
fn a_steady_cell_that_could_have_shown_it_decides() {
    let record = steady();
    for (need, standing, words) in [
        ("iops=3000", Standing::Met, "met: 16,012 IOPS of reads (iops-read)"),
        ("write_iops=16010", Standing::NotSure, "within its error"),
        ("write_iops=20k", Standing::NotMet, "not met: 16,003 IOPS of writes at best (iops-write)"),
        ("bandwidth=1GB", Standing::Met, "met: 1,044 MB/s of reads (throughput-read); writes have 126.7 MB/s at best"),
        ("write_bandwidth=200MB", Standing::NotMet, "not met: 126.7 MB/s of writes at best (throughput-write)"),
        ("latency_p99=1ms", Standing::Met, "of reads (latency-read)"),
        ("read_latency_p50=500us", Standing::NotMet, "at best (latency-read)"),
        ("latency_mean=1us", Standing::NotMet, "at best (latency-read)"),
        ("latency_p99_9=1us", Standing::NotSure, "within its error"),
    ] {
        let (found, text) = answer(need, &record);
        assert_eq!(found, standing, "{need}: {text}");
        assert!(text.contains(words), "{need}: {text}");
    }
}

#[test]
fn a_part_of_what_cells_had_at_the_same_time_is_there_and_says_nothing_of_more() {
    let mut record = steady();
    record.cells.iter_mut().for_each(|cell| cell.phase = Some(1));
    assert_eq!(answer("iops=3000", &record).0, Standing::Met);
    for need in ["write_iops=20k", "write_bandwidth=200MB", "read_latency_p50=500us"] {
        let (standing, text) = answer(need, &record);
        assert!(
            standing == Standing::NotMeasured && text.ends_with(", beside others at the same time: try it alone"),
            "{text}"
        );
    }
}

#[test]
fn a_percentile_that_may_be_longer_meets_nothing_for_sure() {
    let mut record = steady();
    for cell in &mut record.cells {
        for result in [&mut cell.read, &mut cell.write].into_iter().flatten() {
            result.latency_intervals.iter_mut().for_each(|interval| interval.high_ns = None);
        }
    }
    let (standing, text) = answer("latency_p99=1ms", &record);
    assert!(standing == Standing::NotSure && text.contains("of reads, and it may be longer ("), "{text}");
    let mut record = steady();
    let read = record.cells[0].read.as_mut().unwrap();
    read.latency_intervals.iter_mut().for_each(|interval| interval.high_ns = Some(2_000_000));
    let (standing, text) = answer("read_latency_p99=1ms", &record);
    assert!(
        standing == Standing::NotSure && text.contains("of reads, and what is needed is within its error"),
        "{text}"
    );
}

#[test]
fn what_remained_after_a_burst_is_no_burst() {
    let mut record = steady();
    for cell in &mut record.cells {
        cell.verdict = Some(Verdict::Burst);
        cell.burst = Some(plimsoll_record::judgement::Burst {
            burst_iops: 3_000_000.0,
            sustained_iops: 16_000.0,
            cliff_after_ns: None,
            cliff_before_ns: None,
            bucket_operations: None,
            predicted: false,
        });
    }
    let (standing, text) = answer("iops=3000", &record);
    assert!(standing == Standing::MetInDoubt && text.contains("met, but a burst was used up first: 16,012"), "{text}");
}

#[test]
fn a_verdict_that_is_no_claim_is_said_and_breaks_nothing() {
    for (verdict, words) in [
        (Verdict::Burst, "met, but only while the burst lasted: 16,012 IOPS"),
        (Verdict::Short, "met, but measured too briefly"),
        (Verdict::Cached, "met, but a cache answered instead of the storage"),
        (Verdict::Drifting, "met, but only while it was still changing"),
    ] {
        let mut record = steady();
        record.cells.iter_mut().for_each(|cell| cell.verdict = Some(verdict));
        let (standing, text) = answer("iops=3000", &record);
        assert!(standing == Standing::MetInDoubt && text.contains(words), "{text}");
        let (standing, text) = answer("iops=30k", &record);
        assert!(standing == Standing::NotMetInDoubt && text.starts_with("not met, but "), "{text}");
    }
    let mut record = steady();
    record.cells[2].verdict = Some(Verdict::Short);
    record.cells[2].read.as_mut().unwrap().iops_high = None;
    let (standing, text) = answer("iops=30k", &record);
    assert_eq!(standing, Standing::NotMetInDoubt, "the cell that is not sure might have shown it: {text}");
}

#[test]
fn what_no_cell_can_tell_is_not_measured() {
    let one = |block: u32, depth: u32| {
        let workload = Workload {
            name: Some("only".into()),
            rw: Some(ReadWrite::RandRead),
            block_size: Some(Sweep::one(BlockSizes::One(block))),
            queue_depth: Some(Sweep::one(depth)),
            ..Workload::default()
        };
        let mut story = Story::new(&["/mnt/data"], &[workload]);
        story.measure(0, 2_000, 500_000);
        let mut record = story.end(1_000_000_000, Outcome::Complete);
        record.cells.iter_mut().for_each(be_steady);
        record
    };
    for (need, block, depth, words) in [
        ("iops=3000", 4096, 1, "only has 2,000 IOPS, with 1 operation in flight: try --queue-depth 32"),
        ("iops=3000", 1 << 20, 32, "of operations that are not small"),
        ("bandwidth=200MB", 4096, 32, "only has 8.19 MB/s, of operations that are not large"),
        ("latency_p99=1us", 4096, 32, "with 32 operations in flight, which wait for each other"),
        ("write_iops=1", 4096, 32, "no workload of this run tells it"),
    ] {
        let (standing, text) = answer(need, &one(block, depth));
        assert!(standing == Standing::NotMeasured && text.starts_with("not measured: "), "{need}: {text}");
        assert!(text.contains(words), "{need}: {text}");
    }
    assert_eq!(answer("iops=3000", &one(4096, 32)).0, Standing::NotMet);
    assert_eq!(answer("iops=2000", &one(1 << 20, 1)).0, Standing::Met, "what was reached is there");
}

#[test]
fn a_load_that_syncs_what_it_writes_denies_no_rate() {
    let of = |sync_mean_ns: f64| {
        let workload = "name = 'only'\nrw = 'randwrite'\nqueue_depth = 32\nfsync = 4";
        let mut story = Story::new(&["/mnt/data"], &[toml::from_str(workload).unwrap()]);
        story.measure(0, 2_000, 500_000);
        let mut record = story.end(1_000_000_000, Outcome::Complete);
        record.cells.iter_mut().for_each(be_steady);
        let cell = &mut record.cells[0];
        let mut sync = cell.write.clone().unwrap();
        (sync.iops, sync.latency_ns.mean) = (sync.iops / 4.0, Some(sync_mean_ns));
        cell.sync = Some(sync);
        record
    };
    let (standing, text) = answer("iops=3000", &of(500_000.0));
    assert!(standing == Standing::NotMeasured && text.ends_with("with a sync after every 4 writes: try it without"));
    assert_eq!(answer("iops=3000", &of(20_000.0)).0, Standing::NotMet, "those hardly take any time");
    assert_eq!(answer("iops=1500", &of(500_000.0)).0, Standing::Met, "what was reached is there");
}

#[test]
fn a_percentile_of_too_few_operations_is_not_measured_and_says_so() {
    let mut record = steady();
    record.cells.retain(|cell| cell.workload == "latency-read");
    let latencies = &mut record.cells[0].read.as_mut().unwrap().latency_ns;
    latencies.p99 = None;
    latencies.unsupported.insert("p99".to_owned(), "needs 1000 operations, had 500".to_owned());
    for need in ["latency_p99=1h", "read_latency_p99=1h"] {
        let expected = "not measured: p99 of reads: needs 1000 operations, had 500 (latency-read)";
        assert_eq!(answer(need, &record), (Standing::NotMeasured, expected.to_owned()));
    }
    assert!(answer("sync_latency_p99=1h", &record).1.ends_with("as `--preset wal-etcd` does"));
}

#[test]
fn rate_and_latency_at_once_are_another_question() {
    let apart = needs("iops=3000,latency_p99=5ms", &steady());
    assert!(apart.targets[0].note.as_ref().unwrap().contains("--rate 3000"), "{apart:?}");
    assert_eq!(needs("iops=1000,latency_p99=5ms", &steady()).targets[0].note, None);
}

#[test]
fn the_answer_says_what_to_buy_and_why() {
    let said = toml::from_str("[defaults]\nsku = \"Premium_LRS\"\nsize = \"64Gi\"").unwrap();
    let need = "iops=3000,latency_p99=5ms".parse().unwrap();
    let needs = Needs::of(&need, &[(&steady(), &said)], &Catalog::default());
    insta::assert_snapshot!(text::text(&needs, 100), @r"
    Needed: iops=3000,latency_p99=5ms
      iops=3000        met: 16,012 IOPS of reads (iops-read)
      latency_p99=5ms  met: 600 us of reads (latency-read)
      no workload of this run shows rate and latency at once: `--rate 3000` measures latencies at that
      rate

    Latencies are in no catalog: what was measured tells of them, and nothing else.

    What holds it in the long run, of Azure:

    entry                  size  provisioned             IOPS   MB/s  binds            a month
    ──────────────────────────────────────────────────────────────────────────────────────────
    P30                   1 TiB                         5,000    200  IOPS            no price
    PremiumV2_LRS         1 GiB  3,000 IOPS, 125 MB/s   3,000    125  the least sold  no price
    UltraSSD_LRS          4 GiB  3,000 IOPS, 13 MB/s    3,000     13  IOPS            no price
    azure-files-hdd-v2   32 GiB  3,000 IOPS, 60 MiB/s   3,000   62.9  IOPS            no price
    azure-files-ssd-v2   32 GiB  3,000 IOPS, 100 MiB/s  3,000  104.9  the least sold  no price
    azure-files-ssd-v1  100 GiB                         3,100  115.3  the least sold  no price
    elastic-san           4 GiB  in a SAN of 1 TiB      3,000    200  the least sold  no price
    E70                  16 TiB                         4,000    600  IOPS            no price

    P30 (1 TiB): 5,000 IOPS, 200 MB/s; the next smaller, P20, has 2,300 IOPS, which is less than 3,000.
    It is the smallest of Premium_LRS, which was named: without prices nothing else decides, and
    [[price]] rows in limits.toml tell which is the cheapest.
    Too little: Standard_LRS (at most 2,000 IOPS).
    ");
    let prices = "[[price]]\nname='P30'\nper_month=135.17\ncurrency='USD'\ndate='2026-10-01'\n\
                  [[price]]\nname='P40'\nper_month=259.05\ncurrency='EUR'\ndate='2026-10-01'\n\
                  [[price]]\nname='PremiumV2_LRS'\nper_gib_month=0.081\ncurrency='USD'\ndate='2026-10-02'";
    let catalog = Catalog::with(LimitsFile::parse("limits.toml", prices).unwrap());
    let need = "iops=5000,size=2Ti".parse().unwrap();
    let needs = Needs::of(&need, &[(&steady(), &said)], &catalog);
    insta::assert_snapshot!(text::text(&needs, 100), @r"
    Needed: iops=5000,size=2TiB
      iops=5000  met: 16,012 IOPS of reads (iops-read)
      size=2TiB  not met: 64 GiB were bought

    What holds it in the long run, of Azure:

    entry                     size  provisioned              IOPS   MB/s  binds          a month
    ────────────────────────────────────────────────────────────────────────────────────────────
    P40                      2 TiB                          7,500    250  size        259.05 EUR
    elastic-san              2 TiB  in a SAN of 2 TiB      10,000    400  size          no price
    azure-files-ssd-v1       2 TiB                          5,048  319.8  size          no price
    UltraSSD_LRS             2 TiB  5,000 IOPS, 21 MB/s     5,000     21  IOPS, size    no price
    azure-files-hdd-v2       2 TiB  5,000 IOPS, 60 MiB/s    5,000   62.9  IOPS, size    no price
    azure-files-ssd-v2       2 TiB  5,000 IOPS, 100 MiB/s   5,000  104.9  IOPS, size    no price
    PremiumV2_LRS            2 TiB  5,000 IOPS, 125 MB/s    5,000    125  IOPS, size    no price
    E80                 32,767 GiB                          6,000    750  IOPS          no price

    P40 (2 TiB): 7,500 IOPS, 250 MB/s; the next smaller, P30, holds 1 TiB, which is less than 2 TiB.
    It is the only one with a price: 259.05 EUR a month, by the price of P40 of 2026-10-01.
    No price of PremiumV2_LRS: the row PremiumV2_LRS has no per_iops_month.
    Too little: Standard_LRS (at most 2,000 IOPS).
    ");
    let machine = said.clone().overridden_by(&toml::from_str("vm = \"D2s_v3\"").unwrap());
    let needs = Needs::of(&"iops=5000".parse().unwrap(), &[(&steady(), &machine)], &Catalog::default());
    insta::assert_snapshot!(text::text(&needs, 100), @r"
    Needed: iops=5000
      iops=5000  met: 16,012 IOPS of reads (iops-read)

    What holds it in the long run, of Azure:

    entry                size  provisioned            IOPS  MB/s  binds             a month
    ───────────────────────────────────────────────────────────────────────────────────────
    P30                 1 TiB                        3,200    48  Standard_D2s_v3  no price
    UltraSSD_LRS        5 GiB  5,000 IOPS, 21 MB/s   3,200    21  Standard_D2s_v3  no price
    PremiumV2_LRS      10 GiB  5,000 IOPS, 125 MB/s  3,200    48  Standard_D2s_v3  no price
    E80            32,767 GiB                        3,200    48  Standard_D2s_v3  no price

    Standard_D2s_v3 lets 3,200 IOPS through, so no disk on it holds 5,000; Standard_D4s_v3 is the first
    of its series that lets enough through.
    Shares and SANs are left out: a machine's network binds them, and no catalog has its limits.
    ");
    let unknown = said.overridden_by(&toml::from_str("vm = \"D2s_v99\"").unwrap());
    let needs = Needs::of(&"iops=5000".parse().unwrap(), &[(&steady(), &unknown)], &Catalog::default());
    let why = needs.no_advice.as_deref().unwrap_or_default();
    assert!(why.starts_with("the catalog has no machine size \"D2s_v99\""), "{why}");
    assert!(text::text(&needs, 60).lines().all(|line| line.chars().count() <= 60));
}

#[test]
fn one_of_many_of_the_same_size_is_not_called_the_smallest() {
    let needs = needs("size=1Ti", &steady());
    let text = text::text(&needs, 1000);
    assert!(text.contains("Nothing smaller holds it, and 18 others have the same size: without prices"), "{text}");
}

#[test]
fn a_size_is_that_of_what_was_bought_or_of_the_disk_or_of_what_is_free() {
    let mut record = steady();
    let of = |record: &Record, said: &str| {
        let said = toml::from_str(said).unwrap();
        let needs = Needs::of(&"size=1Ti".parse().unwrap(), &[(record, &said)], &Catalog::default());
        let [answer] = &needs.targets[0].answers[..] else { panic!("one is needed") };
        assert_eq!(answer.need, "size=1TiB");
        (answer.standing, answer.text.clone())
    };
    let [bought, smaller] = ["sku = 'P30'", "sku = 'P10'"].map(|sku| format!("[defaults]\n{sku}"));
    let target = &mut record.environment.targets[0];
    target.device.as_mut().unwrap().size_bytes = Some(256 << 30);
    target.free_bytes = Some(2 << 40);
    assert_eq!(of(&record, ""), (Standing::NotMet, "not met: the disk has 256 GiB".to_owned()));
    assert_eq!(of(&record, &bought), (Standing::Met, "met: 1 TiB were bought".to_owned()));
    assert_eq!(of(&record, &smaller), (Standing::NotMet, "not met: 128 GiB were bought".to_owned()));
    assert_eq!(of(&record, &format!("{smaller}\ndisks = 8")).0, Standing::Met);
    // Its other disks are not in the record.
    record.environment.targets[0].mount.as_mut().unwrap().file_system = "btrfs".to_owned();
    assert_eq!(of(&record, ""), (Standing::Met, "met: 2 TiB are free".to_owned()));
    record.environment.targets[0].free_bytes = Some(1 << 30);
    let (standing, text) = of(&record, "");
    assert!(standing == Standing::NotMeasured && text.contains("--disk-size"), "{text}");
}
