//! What readers see, whole.

use plimsoll_record::{
    event::RunEvent,
    record::{Outcome, Record},
    results::{ErrorCount, Finding, OpenLoopResult, Severity},
    verification::VerificationResult,
};
use plimsoll_workload::{
    certainty::Certainty,
    settings::{Arrival, Effort, EngineChoice, ReadWrite},
    workload::Workload,
};

mod judged;
mod verified;

use super::*;
use crate::test_records::{Story, canonical, canonical_figures, histogram, workloads};

const PLAIN: Style = Style { colour: false };
const COLOUR: Style = Style { colour: true };

fn fits(text: &str, width: usize) {
    for line in text.lines() {
        assert!(wrapping::width(line) <= width, "{} columns: {line}", wrapping::width(line));
        assert_eq!(line, line.trim_end(), "blanks at the end");
    }
}

fn two_targets() -> Record {
    let mut story = Story::new(&["/mnt/a", "/mnt/b"], &workloads("canonical"));
    for (cell, (iops, latency_ns)) in canonical_figures().into_iter().enumerate() {
        story.measure(cell, iops, latency_ns);
        story.measure(cell + 6, iops * 3, latency_ns / 3);
    }
    story.engine(7, EngineChoice::Psync, "psync was asked for");
    story.end(125_000_000_000, Outcome::Complete)
}

fn interrupted() -> Record {
    let mut story = Story::new(&["/mnt/data"], &workloads("canonical"));
    story.measure(0, 1_650, 600_000);
    for round in 0..2 {
        let slot = story.slot(1, round, 1_340, 740_000);
        story.tell(&RunEvent::SlotFinished(Box::new(slot)));
    }
    story.tell(&RunEvent::Warning { text: "the processor's governor is powersave".into() });
    story.end(21_400_000_000, Outcome::Interrupted)
}

fn failing() -> Record {
    let mixed = Workload {
        name: Some("mixed".into()),
        rw: Some(ReadWrite::RandRw),
        fdatasync: Some(100),
        verify: Some(true),
        queue_depth: Some("8".parse().unwrap()),
        ..Workload::default()
    };
    let mut story = Story::new(&["/mnt/data"], &[mixed]);
    let mut slot = story.slot(0, 0, 9_000, 880_000);
    slot.sync =
        Some(plimsoll_record::event::SlotDirection { operations: 54, bytes: 0, histogram: histogram(54, 3_000_000) });
    let error = |operation: &str, count, first_offset, first_file| {
        let (operation, error) = (operation.to_owned(), "EIO (Input/output error)".to_owned());
        ErrorCount { operation, error, count, first_offset, first_file }
    };
    slot.errors = vec![error("write", 12, 409_600, Some(2)), error("sync", 1, 0, None)];
    slot.verification = Some(VerificationResult {
        blocks_checked: 262_144,
        mismatches: 9,
        examples: (1..=7).map(|block| format!("offset {}: a lost write", block * 4096)).collect(),
        ..VerificationResult::default()
    });
    story.tell(&RunEvent::SlotFinished(Box::new(slot)));
    story.end(3_200_000_000, Outcome::Failed)
}

fn open_loop() -> Record {
    let paced = Workload {
        name: Some("paced".into()),
        rw: Some(ReadWrite::RandRead),
        rate: Some("5k".parse().unwrap()),
        arrival: Some(Arrival::Poisson),
        jobs: Some("2".parse().unwrap()),
        queue_depth: Some("4".parse().unwrap()),
        ..Workload::default()
    };
    let mut story = Story::new(&["/mnt/data"], &[paced]);
    for round in 0..6 {
        let mut slot = story.slot(0, round, 4_990, 210_000);
        slot.open_loop = Some(OpenLoopResult {
            intended: 6_000,
            late: 2 * u64::from(round),
            never_issued: 1,
            latest_ns: 3_200_000,
            ..OpenLoopResult::default()
        });
        slot.service = Some(histogram(5_988, 190_000));
        story.tell(&RunEvent::SlotFinished(Box::new(slot)));
        let finding = |code: &str, severity, text: String| Finding {
            code: code.into(),
            severity,
            text,
            evidence: serde_json::Map::default(),
        };
        story.tell(&RunEvent::Found {
            cell: 0,
            finding: finding("open-loop-late", Severity::Warning, format!("{} operations were issued late", 2 * round)),
        });
        story.tell(&RunEvent::Found {
            cell: 0,
            finding: finding("page-cache", Severity::Info, "the page cache answered".into()),
        });
    }
    story.end(9_100_000_000, Outcome::Complete)
}

#[test]
fn the_canonical_six_fit_a_hundred_columns() {
    let text = record(&canonical(), 100, PLAIN);
    fits(&text, 100);
    insta::assert_snapshot!(text, @r#"
    target   /mnt/data: directory on ext4, nvme1n1p1 (Amazon Elastic Block Store, 100 GiB), 80 GiB free
    load     working set 1 GiB, direct I/O, each workload measured 7.20 s in 6 slots
    engine   io_uring
    machine  kernel 6.12.0 x86_64, 4 processors, 16 GiB memory, Amazon EC2 m7i.xlarge
    run      0199c0de-7a3e, 2025-10-08 09:30 UTC, took 54 s, plimsoll 0.1.0

    workload          op      IOPS   MB/s     mean      p50      p99    p99.9      max  verdict
    ───────────────────────────────────────────────────────────────────────────────────────────
    latency-read      read   1,650   6.76   608 us   600 us   600 us  6.00 ms  6.00 ms  short
    latency-write     write  1,340   5.49   752 us   740 us   740 us        -  7.40 ms  short
    iops-read         read   16.0k   65.6  16.2 ms  15.9 ms  15.9 ms   159 ms   159 ms  short
    iops-write        write  16.0k   65.5  16.3 ms  16.0 ms  16.0 ms   160 ms   160 ms  short
    throughput-read   read     996  1,044   260 ms   256 ms   256 ms        -  2.56 s   short
    throughput-write  write    121    127  2.10 s   2.10 s         -        -  2.10 s   short

    note: short = measured too briefly to claim that the rate lasts
    note: - = too few operations for this percentile
    "#);
}

#[test]
fn sixty_columns_show_fewer_numbers_and_break_none() {
    let text = record(&canonical(), 60, PLAIN);
    fits(&text, 60);
    insta::assert_snapshot!(text, @r#"
    target   /mnt/data: directory on ext4, nvme1n1p1 (Amazon
             Elastic Block Store, 100 GiB), 80 GiB free
    load     working set 1 GiB, direct I/O, each workload
             measured 7.20 s in 6 slots
    engine   io_uring
    machine  kernel 6.12.0 x86_64, 4 processors, 16 GiB memory,
             Amazon EC2 m7i.xlarge
    run      0199c0de-7a3e, 2025-10-08 09:30 UTC, took 54 s,
             plimsoll 0.1.0

    workload          op      IOPS   MB/s      p99  verdict
    ───────────────────────────────────────────────────────
    latency-read      read   1,650   6.76   600 us  short
    latency-write     write  1,340   5.49   740 us  short
    iops-read         read   16.0k   65.6  15.9 ms  short
    iops-write        write  16.0k   65.5  16.0 ms  short
    throughput-read   read     996  1,044   256 ms  short
    throughput-write  write    121    127        -  short

    note: short = measured too briefly to claim that the rate
          lasts
    note: - = too few operations for this percentile
    "#);
}

#[test]
fn two_targets_stand_side_by_side_and_in_detail() {
    let text = record(&two_targets(), 100, PLAIN);
    fits(&text, 100);
    insta::assert_snapshot!(text, @r"
    A        /mnt/a: directory on ext4, nvme1n1p1 (Amazon Elastic Block Store, 100 GiB), 80 GiB free
    B        /mnt/b: directory on xfs, nvme2n1p1 (Amazon Elastic Block Store, 100 GiB), 80 GiB free
    load     working set 1 GiB, direct I/O, each workload measured 7.20 s in 6 slots
    engine   io_uring; B latency-write: psync was asked for
    machine  kernel 6.12.0 x86_64, 4 processors, 16 GiB memory, Amazon EC2 m7i.xlarge
    run      0199c0de-7a3e, 2025-10-08 09:30 UTC, took 2m 05s, plimsoll 0.1.0

    workload          op     IOPS A  IOPS B  MB/s A  MB/s B    p99 A    p99 B   mean A   mean B
    ───────────────────────────────────────────────────────────────────────────────────────────
    latency-read      read    1,650   4,950    6.76    20.3   600 us   200 us   608 us   203 us
    latency-write     write   1,340   4,020    5.49    16.5   740 us   247 us   752 us   251 us
    iops-read         read    16.0k   48.0k    65.6     197  15.9 ms  5.30 ms  16.2 ms  5.40 ms
    iops-write        write   16.0k   48.0k    65.5     197  16.0 ms  5.33 ms  16.3 ms  5.42 ms
    throughput-read   read      996   2,988   1,044   3,133   256 ms  85.4 ms   260 ms  86.8 ms
    throughput-write  write     121     362     127     380        -   700 ms  2.10 s    700 ms

    A        /mnt/a
    workload          op      IOPS   MB/s     mean      p50      p99    p99.9      max  verdict
    ───────────────────────────────────────────────────────────────────────────────────────────
    latency-read      read   1,650   6.76   608 us   600 us   600 us  6.00 ms  6.00 ms  short
    latency-write     write  1,340   5.49   752 us   740 us   740 us        -  7.40 ms  short
    iops-read         read   16.0k   65.6  16.2 ms  15.9 ms  15.9 ms   159 ms   159 ms  short
    iops-write        write  16.0k   65.5  16.3 ms  16.0 ms  16.0 ms   160 ms   160 ms  short
    throughput-read   read     996  1,044   260 ms   256 ms   256 ms        -  2.56 s   short
    throughput-write  write    121    127  2.10 s   2.10 s         -        -  2.10 s   short

    B        /mnt/b
    workload          op      IOPS   MB/s     mean      p50      p99    p99.9      max  verdict
    ───────────────────────────────────────────────────────────────────────────────────────────
    latency-read      read   4,950   20.3   203 us   200 us   200 us  2.00 ms  2.00 ms  short
    latency-write     write  4,020   16.5   251 us   247 us   247 us  2.47 ms  2.47 ms  short
    iops-read         read   48.0k    197  5.40 ms  5.30 ms  5.30 ms  53.0 ms  53.0 ms  short
    iops-write        write  48.0k    197  5.42 ms  5.33 ms  5.33 ms  53.3 ms  53.3 ms  short
    throughput-read   read   2,988  3,133  86.8 ms  85.4 ms  85.4 ms   853 ms   853 ms  short
    throughput-write  write    362    380   700 ms   700 ms   700 ms        -   700 ms  short

    note: short = measured too briefly to claim that the rate lasts
    note: - = too few operations for this percentile

    B against A, measured in turns in one run
    confounded: file system (A ext4, B xfs) also differs
    latency-read      short: B is 3.00x [3.00, 3.00] faster
    latency-write     not compared: engine (A io_uring, B psync) differs
    iops-read         short: B is 3.00x [3.00, 3.00] faster
    iops-write        short: B is 3.00x [3.00, 3.00] faster
    throughput-read   short: B is 3.00x [3.00, 3.00] faster
    throughput-write  short: B is 3.00x [3.00, 3.00] faster
    ");
}

#[test]
fn two_targets_fit_sixty_columns() {
    let text = record(&two_targets(), 60, PLAIN);
    fits(&text, 60);
    insta::assert_snapshot!(text, @r"
    A        /mnt/a: directory on ext4, nvme1n1p1 (Amazon
             Elastic Block Store, 100 GiB), 80 GiB free
    B        /mnt/b: directory on xfs, nvme2n1p1 (Amazon Elastic
             Block Store, 100 GiB), 80 GiB free
    load     working set 1 GiB, direct I/O, each workload
             measured 7.20 s in 6 slots
    engine   io_uring; B latency-write: psync was asked for
    machine  kernel 6.12.0 x86_64, 4 processors, 16 GiB memory,
             Amazon EC2 m7i.xlarge
    run      0199c0de-7a3e, 2025-10-08 09:30 UTC, took 2m 05s,
             plimsoll 0.1.0

    workload          op     IOPS A  IOPS B    p99 A    p99 B
    ─────────────────────────────────────────────────────────
    latency-read      read    1,650   4,950   600 us   200 us
    latency-write     write   1,340   4,020   740 us   247 us
    iops-read         read    16.0k   48.0k  15.9 ms  5.30 ms
    iops-write        write   16.0k   48.0k  16.0 ms  5.33 ms
    throughput-read   read      996   2,988   256 ms  85.4 ms
    throughput-write  write     121     362        -   700 ms

    A        /mnt/a
    workload          op      IOPS   MB/s      p99  verdict
    ───────────────────────────────────────────────────────
    latency-read      read   1,650   6.76   600 us  short
    latency-write     write  1,340   5.49   740 us  short
    iops-read         read   16.0k   65.6  15.9 ms  short
    iops-write        write  16.0k   65.5  16.0 ms  short
    throughput-read   read     996  1,044   256 ms  short
    throughput-write  write    121    127        -  short

    B        /mnt/b
    workload          op      IOPS   MB/s      p99  verdict
    ───────────────────────────────────────────────────────
    latency-read      read   4,950   20.3   200 us  short
    latency-write     write  4,020   16.5   247 us  short
    iops-read         read   48.0k    197  5.30 ms  short
    iops-write        write  48.0k    197  5.33 ms  short
    throughput-read   read   2,988  3,133  85.4 ms  short
    throughput-write  write    362    380   700 ms  short

    note: short = measured too briefly to claim that the rate
          lasts
    note: - = too few operations for this percentile

    B against A, measured in turns in one run
    confounded: file system (A ext4, B xfs) also differs
    latency-read      short: B is 3.00x [3.00, 3.00] faster
    latency-write     not compared: engine (A io_uring, B psync)
                      differs
    iops-read         short: B is 3.00x [3.00, 3.00] faster
    iops-write        short: B is 3.00x [3.00, 3.00] faster
    throughput-read   short: B is 3.00x [3.00, 3.00] faster
    throughput-write  short: B is 3.00x [3.00, 3.00] faster
    ");
}

#[test]
fn an_interrupted_run_says_so_first_and_what_was_not_run() {
    let text = record(&interrupted(), 100, PLAIN);
    fits(&text, 100);
    insta::assert_snapshot!(text, @r#"
    INTERRUPTED after 21 s: the numbers are those measured until then.

    target   /mnt/data: directory on ext4, nvme1n1p1 (Amazon Elastic Block Store, 100 GiB), 80 GiB free
    load     working set 1 GiB, direct I/O, 2 of 6 workloads measured 2.40 s to 7.20 s in 2 to 6 slots
    engine   io_uring
    machine  kernel 6.12.0 x86_64, 4 processors, 16 GiB memory, Amazon EC2 m7i.xlarge
    run      0199c0de-7a3e, 2025-10-08 09:30 UTC, took 21 s, plimsoll 0.1.0

    workload          op      IOPS  MB/s    mean     p50     p99    p99.9      max  verdict
    ───────────────────────────────────────────────────────────────────────────────────────
    latency-read      read   1,650  6.76  608 us  600 us  600 us  6.00 ms  6.00 ms  short
    latency-write     write  1,340  5.49  752 us  740 us  740 us        -  7.40 ms  short
    iops-read         read       -     -       -       -       -        -        -  not run
    iops-write        write      -     -       -       -       -        -        -  not run
    throughput-read   read       -     -       -       -       -        -        -  not run
    throughput-write  write      -     -       -       -       -        -        -  not run

    warning: latency-write: slots done: 2 of 6
    warning: the processor's governor is powersave
    note: short = measured too briefly to claim that the rate lasts
    note: not run = the run was interrupted before its first slot was done
    note: - = too few operations for this percentile
    "#);
}

#[test]
fn cells_that_were_not_run_say_why_in_text_and_markdown() {
    for (outcome, max_time, why) in [
        (Outcome::Interrupted, None, "the run was interrupted before its first slot was done"),
        (Outcome::Complete, Some("5s"), "the time given with --max-time was over before its first slot"),
        (Outcome::Failed, None, "the run failed before its first slot was done"),
    ] {
        let max_time = max_time.and_then(|text| text.parse().ok());
        let certainty = Certainty { max_time, ..Certainty::of(Effort::Quick) };
        let mut story = Story::with(&["/mnt/a", "/mnt/b"], &workloads("canonical")[..2], certainty);
        story.measure(0, 1_650, 600_000);
        let shown = story.end(21_400_000_000, outcome);
        let (text, in_markdown) = (record(&shown, 100, PLAIN), markdown(&shown));
        let rows = |text: &str, end: &str| text.lines().filter(|line| line.ends_with(end)).count();
        assert_eq!((rows(&text, "  not run"), rows(&in_markdown, " not run |")), (3, 3), "{text}\n{in_markdown}");
        for text in [text, in_markdown] {
            assert!(text.contains(&format!("note: not run = {why}")), "{text}");
            assert!(text.contains(&format!("B not run: {why}")), "{text}");
            assert!(text.contains(&format!("not run on both sides: {why}")), "{text}");
        }
    }
}

#[test]
fn rates_are_set_against_the_limit_that_was_given() {
    let limit = "iops=16k,bandwidth=400MB".parse().ok();
    let certainty = Certainty { limit, ..Certainty::of(Effort::Quick) };
    let mut story = Story::with(&["/mnt/data"], &workloads("canonical"), certainty);
    for (cell, (iops, latency_ns)) in canonical_figures().into_iter().enumerate() {
        story.measure(cell, iops, latency_ns);
    }
    let shown = story.end(54_000_000_000, Outcome::Complete);
    let text = record(&shown, 100, PLAIN);
    fits(&text, 100);
    let text: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("machine") && !line.starts_with("run")).collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    target   /mnt/data: directory on ext4, nvme1n1p1 (Amazon Elastic Block Store, 100 GiB), 80 GiB free
    load     working set 1 GiB, direct I/O, each workload measured 7.20 s in 6 slots
    limit    iops=16000,bandwidth=400MB
    engine   io_uring

    workload          op      IOPS   MB/s  of limit     mean      p50      p99      max  verdict
    ────────────────────────────────────────────────────────────────────────────────────────────
    latency-read      read   1,650   6.76      10 %   608 us   600 us   600 us  6.00 ms  short
    latency-write     write  1,340   5.49     8.4 %   752 us   740 us   740 us  7.40 ms  short
    iops-read         read   16.0k   65.6     100 %  16.2 ms  15.9 ms  15.9 ms   159 ms  short
    iops-write        write  16.0k   65.5     100 %  16.3 ms  16.0 ms  16.0 ms   160 ms  short
    throughput-read   read     996  1,044     261 %   260 ms   256 ms   256 ms  2.56 s   short
    throughput-write  write    121    127      32 %  2.10 s   2.10 s         -  2.10 s   short

    note: short = measured too briefly to claim that the rate lasts
    note: of limit = the rate as a share of what lasts, bursts left aside
    note: - = too few operations for this percentile
    ");
    assert!(record(&shown, 60, PLAIN).contains("of limit"), "it is what the table is for");
}

#[test]
fn errors_are_counted_and_named_and_syncs_have_a_row() {
    let text = record(&failing(), 100, PLAIN);
    fits(&text, 100);
    insta::assert_snapshot!(text, @r#"
    FAILED after 3.20 s: not everything that was planned was measured.

    target   /mnt/data: directory on ext4, nvme1n1p1 (Amazon Elastic Block Store, 100 GiB), 80 GiB free
    load     working set 1 GiB, direct I/O, measured 1.20 s in 1 slot
    engine   io_uring
    machine  kernel 6.12.0 x86_64, 4 processors, 16 GiB memory, Amazon EC2 m7i.xlarge
    run      0199c0de-7a3e, 2025-10-08 09:30 UTC, took 3.20 s, plimsoll 0.1.0

    workload  op      IOPS  MB/s     mean      p50     p99  p99.9      max  errors  verdict
    ───────────────────────────────────────────────────────────────────────────────────────
    mixed     read   4,500  18.4   895 us   880 us  880 us      -  8.80 ms       0  short
              write  4,500  18.4   895 us   880 us  880 us      -  8.80 ms      12
              sync    45.0     -  3.00 ms  3.00 ms       -      -  3.00 ms       1

    error: mixed: 12 write operations failed with EIO (Input/output error), the first at offset 409,600
           of file 2
    error: mixed: 1 sync operation failed with EIO (Input/output error), the first at offset 0
    error: mixed: 9 of 262,144 checks found a block that was not as written
    error: mixed: offset 4096: a lost write
    error: mixed: offset 8192: a lost write
    error: mixed: offset 12288: a lost write
    error: mixed: offset 16384: a lost write
    error: mixed: offset 20480: a lost write
    error: mixed: 2 further wrong blocks are not named here
    warning: mixed: slots done: 1 of 6
    note: short = measured too briefly to claim that the rate lasts
    note: - = too few operations for this percentile
    "#);
}

#[test]
fn an_open_loop_tells_what_was_late_and_never_issued() {
    let text = record(&open_loop(), 100, PLAIN);
    fits(&text, 100);
    insta::assert_snapshot!(text, @r#"
    target   /mnt/data: directory on ext4, nvme1n1p1 (Amazon Elastic Block Store, 100 GiB), 80 GiB free
    load     working set 1 GiB, direct I/O, measured 7.20 s in 6 slots
    engine   io_uring
    machine  kernel 6.12.0 x86_64, 4 processors, 16 GiB memory, Amazon EC2 m7i.xlarge
    run      0199c0de-7a3e, 2025-10-08 09:30 UTC, took 9.10 s, plimsoll 0.1.0

    workload  op     IOPS  MB/s    mean     p50     p99    p99.9      max  verdict
    ──────────────────────────────────────────────────────────────────────────────
    paced     read  4,990  20.4  213 us  210 us  210 us  2.10 ms  2.10 ms  short

    warning: paced: 10 operations were issued late
    note: paced: open loop at 5,000 IOPS (poisson arrivals): 36,000 operations were due, 30 were issued
          late (by 3.20 ms at most), 6 never; p99 190 us from the moment of issue
    note: paced: the page cache answered
    note: short = measured too briefly to claim that the rate lasts
    "#);
}

#[test]
fn an_interrupted_run_without_numbers_does_not_speak_of_them() {
    let text =
        record(&Story::new(&["/mnt/data"], &workloads("iops")).end(10_000_000, Outcome::Interrupted), 100, PLAIN);
    assert!(text.starts_with("INTERRUPTED after 10.0 ms: nothing had been measured by then."), "{text}");
    let mut in_ramp = canonical();
    in_ramp.outcome = Outcome::Interrupted;
    let told = |run: &Record| record(run, 100, PLAIN);
    assert!(told(&in_ramp).contains("the numbers are those measured until then"));
    for cell in &mut in_ramp.cells {
        [&mut cell.read, &mut cell.write].into_iter().flatten().for_each(|direction| direction.operations = 0);
    }
    assert!(told(&in_ramp).contains("nothing had been measured by then"), "though slots had begun");
}

#[test]
fn colour_repeats_what_the_words_say() {
    let text = record(&interrupted(), 100, COLOUR);
    insta::assert_snapshot!(text.replace('\u{1b}', "^"), @r#"
    ^[31mINTERRUPTED^[0m after 21 s: the numbers are those measured until then.

    ^[2mtarget^[0m   /mnt/data: directory on ext4, nvme1n1p1 (Amazon Elastic Block Store, 100 GiB), 80 GiB free
    ^[2mload^[0m     working set 1 GiB, direct I/O, 2 of 6 workloads measured 2.40 s to 7.20 s in 2 to 6 slots
    ^[2mengine^[0m   io_uring
    ^[2mmachine^[0m  kernel 6.12.0 x86_64, 4 processors, 16 GiB memory, Amazon EC2 m7i.xlarge
    ^[2mrun^[0m      0199c0de-7a3e, 2025-10-08 09:30 UTC, took 21 s, plimsoll 0.1.0

    ^[1mworkload          op      IOPS  MB/s    mean     p50     p99    p99.9      max  verdict^[0m
    ^[2m───────────────────────────────────────────────────────────────────────────────────────^[0m
    latency-read      read   1,650  6.76  608 us  600 us  600 us  6.00 ms  6.00 ms  ^[2mshort^[0m
    latency-write     write  1,340  5.49  752 us  740 us  740 us        -  7.40 ms  ^[2mshort^[0m
    iops-read         read       -     -       -       -       -        -        -  ^[31mnot run^[0m
    iops-write        write      -     -       -       -       -        -        -  ^[31mnot run^[0m
    throughput-read   read       -     -       -       -       -        -        -  ^[31mnot run^[0m
    throughput-write  write      -     -       -       -       -        -        -  ^[31mnot run^[0m

    ^[33mwarning:^[0m latency-write: slots done: 2 of 6
    ^[33mwarning:^[0m the processor's governor is powersave
    ^[1mnote:^[0m short = measured too briefly to claim that the rate lasts
    ^[1mnote:^[0m not run = the run was interrupted before its first slot was done
    ^[1mnote:^[0m - = too few operations for this percentile
    "#);
}

#[test]
fn without_its_escapes_coloured_text_is_the_plain_text() {
    for shown in [canonical(), two_targets(), interrupted(), failing(), open_loop()] {
        for width in [60, 100] {
            let mut plain = String::new();
            for (index, part) in record(&shown, width, COLOUR).split("\u{1b}[").enumerate() {
                plain += if index == 0 { part } else { part.split_once('m').unwrap().1 };
            }
            assert_eq!(plain, record(&shown, width, PLAIN));
        }
    }
}

#[test]
fn every_width_is_kept() {
    for shown in [canonical(), two_targets(), interrupted(), failing(), open_loop()] {
        for width in 60..140 {
            fits(&record(&shown, width, PLAIN), width);
        }
    }
}

#[test]
fn markdown_holds_all_columns() {
    insta::assert_snapshot!(markdown(&failing()), @r#"
    **FAILED** after 3.20 s: not everything that was planned was measured.

    - **target** /mnt/data: directory on ext4, nvme1n1p1 (Amazon Elastic Block Store, 100 GiB), 80 GiB free
    - **load** working set 1 GiB, direct I/O, measured 1.20 s in 1 slot
    - **engine** io_uring
    - **machine** kernel 6.12.0 x86_64, 4 processors, 16 GiB memory, Amazon EC2 m7i.xlarge
    - **run** 0199c0de-7a3e, 2025-10-08 09:30 UTC, took 3.20 s, plimsoll 0.1.0

    | workload | op | IOPS | MB/s | mean | p50 | p99 | p99.9 | max | errors | verdict |
    | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
    | mixed | read | 4,500 | 18.4 | 895 us | 880 us | 880 us | - | 8.80 ms | 0 | short |
    |  | write | 4,500 | 18.4 | 895 us | 880 us | 880 us | - | 8.80 ms | 12 |  |
    |  | sync | 45.0 | - | 3.00 ms | 3.00 ms | - | - | 3.00 ms | 1 |  |

    - error: mixed: 12 write operations failed with EIO (Input/output error), the first at offset 409,600 of file 2
    - error: mixed: 1 sync operation failed with EIO (Input/output error), the first at offset 0
    - error: mixed: 9 of 262,144 checks found a block that was not as written
    - error: mixed: offset 4096: a lost write
    - error: mixed: offset 8192: a lost write
    - error: mixed: offset 12288: a lost write
    - error: mixed: offset 16384: a lost write
    - error: mixed: offset 20480: a lost write
    - error: mixed: 2 further wrong blocks are not named here
    - warning: mixed: slots done: 1 of 6
    - note: short = measured too briefly to claim that the rate lasts
    - note: - = too few operations for this percentile
    "#);
}

#[test]
fn nothing_in_a_record_reaches_the_terminal_as_a_command() {
    let evil = "x\u{1b}[31m\u{7}\u{9b}2J\r";
    let workload =
        plimsoll_workload::workload::Workload { name: Some(evil.to_owned()), ..workloads("iops")[0].clone() };
    for targets in [&[evil][..], &[evil, "/mnt/other"]] {
        let mut story = Story::new(targets, std::slice::from_ref(&workload));
        story.measure(0, 1000, 50_000);
        story.tell(&RunEvent::Warning { text: evil.to_owned() });
        let mut told = story.end(5_000_000_000, Outcome::Complete);
        told.name = Some(evil.to_owned());
        told.tags = [(evil.to_owned(), evil.to_owned())].into();
        told.cells[0].engine_reason = evil.to_owned();
        let environment = &mut told.environment;
        environment.machine.kernel_release = Some(evil.to_owned());
        environment.targets[0].device.as_mut().unwrap().model = Some(evil.to_owned());
        for text in [record(&told, 100, PLAIN), record(&told, 40, PLAIN), markdown(&told)] {
            let commands: Vec<_> =
                text.chars().filter(|character| character.is_control() && *character != '\n').collect();
            assert!(commands.is_empty(), "{commands:?} in {text:?}");
            assert!(text.contains("u{1b}[31m") || text.contains("u{1b}\\[31m"), "{text}");
        }
    }
}

/// A run in which all operations of one slot in flight met a stall at once.
fn stalled() -> Record {
    let mut story = Story::new(&["/mnt/data"], &workloads("iops"));
    story.measure(1, 16_004, 15_980_000);
    for round in 0..6 {
        let mut slot = story.slot(0, round, 16_012, 15_900_000);
        if round == 4 {
            slot.read.as_mut().unwrap().histogram.record_many(600_000_000, 256);
        }
        story.tell(&RunEvent::SlotFinished(Box::new(slot)));
    }
    story.end(16_000_000_000, Outcome::Complete)
}

#[test]
fn a_percentile_that_may_be_longer_says_so_and_what_it_takes() {
    let table = |width: usize| {
        let text = record(&stalled(), width, PLAIN);
        fits(&text, width);
        text.split_once("\n\n").unwrap().1.to_owned()
    };
    insta::assert_snapshot!(table(100), @r"
    workload    op      IOPS  MB/s     mean      p50      p99     p99.9     max  verdict
    ────────────────────────────────────────────────────────────────────────────────────
    iops-read   read   16.0k  65.6  17.5 ms  15.9 ms  15.9 ms  ≥ 600 ms  600 ms  short
    iops-write  write  16.0k  65.5  16.3 ms  16.0 ms  16.0 ms    160 ms  160 ms  short

    note: short = measured too briefly to claim that the rate lasts
    note: ≥ = may be longer than was measured; to tell takes about 3m 53s of measured time
    ");
    let wide = table(140);
    assert!(wide.contains("p99 [95 %]      p99.9 [95 %]  verdict"), "{wide}");
    assert!(wide.contains("[15.9 ms, 15.9 ms]      [15.9 ms, ?]  short"), "{wide}");
    assert!(wide.contains("[16.0 ms, 16.0 ms]  [160 ms, 160 ms]  short"), "{wide}");
    let text = markdown(&stalled());
    assert!(text.contains(r"p99.9 \[95 %\]") && text.contains(r"\[15.9 ms, ?\]"), "{text}");
}
