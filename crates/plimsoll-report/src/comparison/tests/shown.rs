//! What readers see, whole.

use plimsoll_record::latencies::LatencyInterval;
use quick_xml::{Reader, XmlVersion, events::Event};

use super::*;
use crate::{test_records, wrapping};

fn fits(text: &str, width: usize) {
    for line in text.lines() {
        assert!(wrapping::width(line) <= width, "{} columns: {line}\n{text}", wrapping::width(line));
        assert_eq!(line, line.trim_end(), "blanks at the end");
    }
}

fn golden() -> Comparison {
    let mut first = alone("/mnt/a", 1.0, 0.02, 1);
    let mut second = alone("/mnt/b", 0.83, 0.02, 2);
    for record in [&mut first, &mut second] {
        let target = &mut record.environment.targets[0];
        target.free_bytes = None;
        target.device.as_mut().unwrap().model = None;
    }
    second.environment.machine.kernel_release = Some("6.1.0".to_owned());
    second.cells[1].verdict = Some(Verdict::Burst);
    Comparison::of(&[&first, &second], &expecting(&["p50>+10%", "iops<-18%", "p99.9>+10%"])).unwrap()
}

#[test]
fn a_comparison_fits_a_hundred_columns() {
    let text = text::text(&golden(), 100, PLAIN);
    fits(&text, 100);
    insta::assert_snapshot!(text, @r"
    A        /mnt/a: directory on ext4, nvme1n1p1 (100 GiB); run 0199c0de-7a3f, 2025-10-08 09:30 UTC
    B        /mnt/b: directory on ext4, nvme1n1p1 (100 GiB); run 0199c0de-7a40, 2025-10-08 09:30 UTC

    B against A, measured in different runs
    confounded: kernel (A 6.12.0, B 6.1.0) also differs
    latency-read   B is 16.4 % [14.6, 18.2] slower
    latency-write  B burst: B is 16.1 % [14.8, 17.5] slower

                   A        B             B against A  seen from
    ──────────────────────────────────────────────────────────────────────
    latency-read
      IOPS     4,968    4,152  -16.4 % [-18.2, -14.6]      3.1 %  lower
      MB/s      20.3     17.0  -16.4 % [-18.2, -14.6]      3.1 %  lower
      p50     604 us   726 us        +20 % [+17, +22]      3.1 %  higher
      p99     623 us   744 us        +20 % [+17, +22]      3.1 %  higher
      p99.9  6.04 ms  7.26 ms                       -          -  no claim
    latency-write (B burst)
      IOPS     3,991    3,348  -16.1 % [-17.5, -14.8]      2.4 %  lower
      MB/s      16.3     13.7  -16.1 % [-17.5, -14.8]      2.4 %  lower
      p50     739 us   886 us  +19.2 % [+17.3, +21.2]      2.4 %  higher
      p99     769 us   905 us  +19.2 % [+17.3, +21.2]      2.4 %  higher
      p99.9  7.39 ms  8.86 ms                       -          -  no claim

    note: what changed from one run to the other counts as a difference; targets of one run are measured
          side by side
    note: a ratio is a geometric mean over visits, or over seconds, and not that of the two numbers
          beside it
    note: seen from = a difference of this size is found four times in five
    note: no claim = some visits had too few operations (2)

    FAILED      p50>+10%
                latency-read reads: +20 % [+17, +22]
                latency-write writes: +19.2 % [+17.3, +21.2], B burst
    not sure    iops<-18%: not sure in 1 of 2, held in 1 of 2
                latency-read reads: -16.4 % [-18.2, -14.6]
    not judged  p99.9>+10%: some visits had too few operations
    ");
}

#[test]
fn sixty_columns_hold_every_ratio_with_its_interval() {
    let text = text::text(&golden(), 60, PLAIN);
    fits(&text, 60);
    insta::assert_snapshot!(text, @r"
    A        /mnt/a: directory on ext4, nvme1n1p1 (100 GiB); run
             0199c0de-7a3f, 2025-10-08 09:30 UTC
    B        /mnt/b: directory on ext4, nvme1n1p1 (100 GiB); run
             0199c0de-7a40, 2025-10-08 09:30 UTC

    B against A, measured in different runs
    confounded: kernel (A 6.12.0, B 6.1.0) also differs
    latency-read   B is 16.4 % [14.6, 18.2] slower
    latency-write  B burst: B is 16.1 % [14.8, 17.5] slower

                   A        B             B against A
    ───────────────────────────────────────────────────────────
    latency-read
      IOPS     4,968    4,152  -16.4 % [-18.2, -14.6]  lower
      MB/s      20.3     17.0  -16.4 % [-18.2, -14.6]  lower
      p50     604 us   726 us        +20 % [+17, +22]  higher
      p99     623 us   744 us        +20 % [+17, +22]  higher
      p99.9  6.04 ms  7.26 ms                       -  no claim
    latency-write (B burst)
      IOPS     3,991    3,348  -16.1 % [-17.5, -14.8]  lower
      MB/s      16.3     13.7  -16.1 % [-17.5, -14.8]  lower
      p50     739 us   886 us  +19.2 % [+17.3, +21.2]  higher
      p99     769 us   905 us  +19.2 % [+17.3, +21.2]  higher
      p99.9  7.39 ms  8.86 ms                       -  no claim

    note: what changed from one run to the other counts as a
          difference; targets of one run are measured side by
          side
    note: a ratio is a geometric mean over visits, or over
          seconds, and not that of the two numbers beside it
    note: no claim = some visits had too few operations (2)

    FAILED      p50>+10%
                latency-read reads: +20 % [+17, +22]
                latency-write writes: +19.2 % [+17.3, +21.2], B
                burst
    not sure    iops<-18%: not sure in 1 of 2, held in 1 of 2
                latency-read reads: -16.4 % [-18.2, -14.6]
    not judged  p99.9>+10%: some visits had too few operations
    ");
}

#[test]
fn a_percentile_without_an_upper_end_is_at_least_what_was_measured() {
    let (first, mut second) = (alone("/mnt/a", 1.0, 0.02, 1), alone("/mnt/b", 0.83, 0.02, 2));
    let reads = second.cells[0].read.as_mut().unwrap();
    let interval = LatencyInterval {
        percentile: "p99".to_owned(),
        low_ns: 600_000,
        high_ns: None,
        exceedances: 1,
        design_effect: 1.0,
        needed_seconds: None,
    };
    reads.latency_intervals = vec![interval];
    let comparison = compare(&[&first, &second]);
    let text = text::text(&comparison, 100, PLAIN);
    let row = text.lines().find(|line| line.starts_with("  p99 ")).unwrap();
    assert!(row.starts_with("  p99     623 us  ≥744 us "), "{text}");
    assert!(text.contains("note: ≥ = may be longer than was measured\n"), "{text}");
    assert!(text::markdown(&comparison).contains("| p99 | 623 us | ≥744 us |"));
}

#[test]
fn every_width_is_kept() {
    let third = run(
        &[("/mnt/a", 1.0), ("/mnt/b", 3.0), ("/mnt/c", 1.01)],
        &workloads("canonical"),
        &test_records::canonical_figures(),
        0.02,
        5,
    );
    for comparison in [golden(), compare(&[&third]), compare(&[&two_targets(1.1, 1), &two_targets(0.4, 2)])] {
        for width in 60..140 {
            fits(&text::text(&comparison, width, PLAIN), width);
        }
        let coloured = text::text(&comparison, 100, Style { colour: true });
        let mut plain = String::new();
        for (index, part) in coloured.split("\u{1b}[").enumerate() {
            plain += if index == 0 { part } else { part.split_once('m').unwrap().1 };
        }
        assert_eq!(plain, text::text(&comparison, 100, PLAIN));
    }
}

#[test]
fn nothing_in_a_comparison_reaches_the_terminal_as_a_command() {
    let evil = "x\u{1b}[31m\u{7}\u{9b}2J\r";
    let mut records = [alone(evil, 1.0, 0.02, 1), alone("/mnt/b", 0.5, 0.02, 2)];
    records[1].environment.machine.kernel_release = Some(evil.to_owned());
    for record in &mut records {
        record.name = Some(evil.to_owned());
        record.cells[0].workload = evil.to_owned();
    }
    records[1].cells[1].workload = "elsewhere".to_owned();
    plan(&mut records[1].cells[1]).queue_depth = 77;
    records[1].cells.push(records[1].cells[1].clone());
    let wishes = expecting(&["p50>+10%"]);
    let comparison = Comparison::of(&[&records[0], &records[1]], &wishes).unwrap();
    let told = [text::text(&comparison, 100, PLAIN), text::text(&comparison, 40, PLAIN), text::markdown(&comparison)];
    for text in told.into_iter().chain([junit::junit(&comparison)]) {
        let commands: Vec<char> = text.chars().filter(|found| found.is_control() && *found != '\n').collect();
        assert!(commands.is_empty(), "{commands:?} in {text:?}");
    }
}

#[test]
fn markdown_holds_all_columns() {
    insta::assert_snapshot!(text::markdown(&golden()), @r"
    - **A** /mnt/a: directory on ext4, nvme1n1p1 (100 GiB); run 0199c0de-7a3f, 2025-10-08 09:30 UTC
    - **B** /mnt/b: directory on ext4, nvme1n1p1 (100 GiB); run 0199c0de-7a40, 2025-10-08 09:30 UTC

    **B against A, measured in different runs**

    - confounded: kernel (A 6.12.0, B 6.1.0) also differs
    - latency-read: B is 16.4 % \[14.6, 18.2\] slower
    - latency-write: B burst: B is 16.1 % \[14.8, 17.5\] slower

    | workload | number | A | B | B against A | seen from |  |
    | --- | --- | ---: | ---: | ---: | ---: | --- |
    | latency-read | IOPS | 4,968 | 4,152 | -16.4 % \[-18.2, -14.6\] | 3.1 % | lower |
    | latency-read | MB/s | 20.3 | 17.0 | -16.4 % \[-18.2, -14.6\] | 3.1 % | lower |
    | latency-read | p50 | 604 us | 726 us | +20 % \[+17, +22\] | 3.1 % | higher |
    | latency-read | p99 | 623 us | 744 us | +20 % \[+17, +22\] | 3.1 % | higher |
    | latency-read | p99.9 | 6.04 ms | 7.26 ms | - | - | no claim |
    | latency-write (B burst) | IOPS | 3,991 | 3,348 | -16.1 % \[-17.5, -14.8\] | 2.4 % | lower |
    | latency-write (B burst) | MB/s | 16.3 | 13.7 | -16.1 % \[-17.5, -14.8\] | 2.4 % | lower |
    | latency-write (B burst) | p50 | 739 us | 886 us | +19.2 % \[+17.3, +21.2\] | 2.4 % | higher |
    | latency-write (B burst) | p99 | 769 us | 905 us | +19.2 % \[+17.3, +21.2\] | 2.4 % | higher |
    | latency-write (B burst) | p99.9 | 7.39 ms | 8.86 ms | - | - | no claim |

    - what changed from one run to the other counts as a difference; targets of one run are measured side by side
    - a ratio is a geometric mean over visits, or over seconds, and not that of the two numbers beside it
    - seen from = a difference of this size is found four times in five
    - no claim = some visits had too few operations (2)

    - **FAILED** p50>+10%
      - latency-read reads: +20 % \[+17, +22\]
      - latency-write writes: +19.2 % \[+17.3, +21.2\], B burst
    - **not sure** iops\<-18%: not sure in 1 of 2, held in 1 of 2
      - latency-read reads: -16.4 % \[-18.2, -14.6\]
    - **not judged** p99.9>+10%: some visits had too few operations
    ");
}

#[test]
fn junit_has_a_test_for_every_expectation_of_every_cell() {
    insta::assert_snapshot!(junit::junit(&golden()), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites>
      <testsuite name="plimsoll compare B against A" package="plimsoll" id="0" timestamp="2025-10-08T09:30:00" hostname="localhost" tests="6" failures="2" errors="0" skipped="3" time="120.000">
        <properties>
          <property name="confounded kernel" value="A 6.12.0, B 6.1.0"/>
        </properties>
        <testcase name="reads p50&gt;+10%" classname="plimsoll.latency-read" time="0">
          <failure message="+20 % [+17, +22]" type="expectation">+20 % [+17, +22]</failure>
        </testcase>
        <testcase name="writes p50&gt;+10%" classname="plimsoll.latency-write" time="0">
          <failure message="+19.2 % [+17.3, +21.2], B burst" type="expectation">+19.2 % [+17.3, +21.2], B burst</failure>
        </testcase>
        <testcase name="reads iops&lt;-18%" classname="plimsoll.latency-read" time="0">
          <skipped message="not sure: -16.4 % [-18.2, -14.6]"/>
        </testcase>
        <testcase name="writes iops&lt;-18%" classname="plimsoll.latency-write" time="0"/>
        <testcase name="reads p99.9&gt;+10%" classname="plimsoll.latency-read" time="0">
          <skipped message="some visits had too few operations"/>
        </testcase>
        <testcase name="writes p99.9&gt;+10%" classname="plimsoll.latency-write" time="0">
          <skipped message="some visits had too few operations"/>
        </testcase>
        <system-out>latency-read: B is 16.4 % [14.6, 18.2] slower
    latency-write: B burst: B is 16.1 % [14.8, 17.5] slower</system-out>
        <system-err></system-err>
      </testsuite>
    </testsuites>
    "#);
}

#[test]
fn junit_of_hostile_names_is_still_xml() {
    let first = alone("/mnt/a", 1.0, 0.02, 1);
    let mut second = alone("/mnt/a", 1.1, 0.02, 2);
    second.cells[0].workload = "<a> & \"b\" \u{1b}[31m \u{0} ]]>".to_owned();
    second.environment.machine.hostname = Some(String::new());
    let text = junit::junit(&compare(&[&first, &second]));
    let mut reader = Reader::from_str(&text);
    let mut names = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => break,
            Event::Start(start) | Event::Empty(start) => {
                for attribute in start.attributes() {
                    attribute.unwrap().normalized_value(XmlVersion::Implicit1_0).unwrap();
                }
                names.push(start.name().as_ref().to_owned());
            }
            _ => {}
        }
    }
    assert!(text.chars().all(|character| !character.is_control() || character == '\n'), "{text}");
    assert_eq!(names.iter().filter(|name| *name == "testcase").count(), 2);
}

#[test]
fn a_ratio_that_is_no_quotient_of_the_numbers_beside_it_is_explained_of_rates_too() {
    let of = |rates: [u64; 2]| {
        let mut story = Story::new(&["/mnt/a", "/mnt/b"], &workloads("canonical")[..1]);
        for round in 0..12 {
            for (cell, rate) in [5_000, rates[round as usize / 2 % 2]].into_iter().enumerate() {
                let slot = story.slot(cell, round, rate, 600_000);
                story.tell(&RunEvent::SlotFinished(Box::new(slot)));
            }
        }
        let record = story.end(120_000_000_000, Ending::Complete);
        text::text(&Comparison::of_targets(&record).unwrap(), 100, PLAIN)
    };
    let (even, uneven) = (of([10_000, 10_000]), of([2_000, 18_000]));
    assert!(!even.contains("a geometric mean"), "{even}");
    assert!(uneven.contains("a ratio is a geometric mean over visits"), "{uneven}");
}
