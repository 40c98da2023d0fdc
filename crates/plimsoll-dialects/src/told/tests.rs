//! Texts as people have them, and what is found there.

mod fio;
mod tables;
mod traps;

use plimsoll_record::told::{Duration, Figure, Files, Transfers};
use proptest::prelude::*;

use super::*;

fn transfers(result: &FoundResult) -> &Transfers {
    let Measured::Transfers(transfers) = &result.told.measured else { panic!("{result:?}") };
    transfers
}

fn texts(result: &FoundResult) -> Vec<&str> {
    result.findings.iter().map(|finding| finding.text.as_str()).collect()
}

fn close(one: Option<f64>, other: f64) -> bool {
    one.is_some_and(|one| (one / other - 1.0).abs() < 1e-9)
}

const FIO: &str = "\
job: (g=0): rw=randrw, bs=(R) 16.0KiB-16.0KiB, (W) 16.0KiB-16.0KiB, (T) 16.0KiB-16.0KiB, ioengine=libaio, iodepth=16
...
Starting 8 processes

Run status group 0 (all jobs):
   READ: bw=100MiB/s (105MB/s), 12.4MiB/s-12.6MiB/s (13.0MB/s-13.2MB/s), io=1000MiB (1049MB), run=10000-10001msec
  WRITE: bw=50.0MiB/s (52.4MB/s), 6250KiB/s-6260KiB/s (6400kB/s-6410kB/s), io=500MiB (524MB), run=10000-10001msec
";

#[test]
fn status_lines_have_what_the_lines_above_say_of_the_job() {
    let found = find(FIO);
    let [result] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((result.told.source, result.told.lines), (Source::FioText, (6, 7)));
    assert_eq!(texts(result), [""; 0]);
    let load = transfers(result);
    assert_eq!((load.pattern.as_deref(), load.queue_depth, load.jobs), (Some("randrw"), Some(16), Some(8)));
    assert_eq!((load.block_size_bytes, load.elapsed_ns), (Some(16_384), Some(10_001_000_000)));
    let read = load.read.as_ref().unwrap();
    assert_eq!((read.bytes, read.operations), (Some(1000 << 20), Some(64_000)));
    assert!(close(read.iops, 64_000.0 / 10.001) && close(read.bytes_per_second, 100.0 * 1_048_576.0));
    assert_eq!(load.write.as_ref().unwrap().operations, Some(32_000));
}

#[test]
fn results_are_found_in_quotations_comments_and_logs() {
    for prefix in ["> ", "# ", "    ", "// ", "2024-05-01T10:00:00Z stdout F "] {
        let text: String = FIO.lines().map(|line| format!("{prefix}{line}\r\n")).collect();
        let found = find(&text);
        assert_eq!(found.len(), 1, "{prefix}");
        assert_eq!(transfers(&found[0]).read.as_ref().unwrap().bytes, Some(1000 << 20), "{prefix}");
    }
    let alone = find("it said READ: bw=100MiB/s (105MB/s), io=1000MiB (1049MB), run=10000-10000msec and no more");
    assert_eq!(transfers(&alone[0]).read.as_ref().unwrap().iops, None, "nothing says how large blocks were");
}

#[test]
fn what_does_not_agree_is_said() {
    let said = |line: &str| texts(&find(line)[0]).join("; ");
    assert!(said("READ: bw=100MiB/s (105MB/s), io=1000MiB (1000MB), run=10000-10000msec").contains("in brackets"));
    assert!(said("READ: bw=200MiB/s (210MB/s), io=1000MiB (1049MB), run=10000-10000msec").contains("is not bw="));
    assert!(said("READ: bw=100MiB/s (105MB/s), io=1000MiB (1049MB), run=5000-10000msec").contains("different times"));
}

const DISKSPD: &str = "\
### A disk

Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-----------------------------------------------------------------------------------------------------
     0 |         4096000 |         1000 |       0.39 |     100.00 |    1.500 |     0.250 | a.dat (1024MiB)
     1 |         8192000 |         2000 |       0.78 |     200.00 |    0.750 |     0.125 | a.dat (1024MiB)
-----------------------------------------------------------------------------------------------------
total:          12288000 |         3000 |       1.17 |     300.00 |    1.000 |     0.200
";

#[test]
fn a_table_of_diskspd_is_enough() {
    let found = find(DISKSPD);
    let [result] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((result.told.lines, result.heading.as_deref()), ((3, 9), Some("A disk")));
    assert_eq!(texts(result), [""; 0]);
    let load = transfers(result);
    assert_eq!((load.jobs, load.elapsed_ns), (Some(2), Some(10_000_000_000)));
    let total = load.total.as_ref().unwrap();
    assert_eq!((total.bytes, total.operations), (Some(12_288_000), Some(3000)));
    assert!(close(total.latency_mean_ns, 1e6) && close(total.threads[1].latency_stddev_ns, 125_000.0));
    let wrong = DISKSPD.replace("total:          12288000 |         3000", "total:          12288001 |         3001");
    let findings = texts(&find(&wrong)[0]).join("; ");
    assert!(findings.contains("12288000 bytes, and 12288001") && findings.contains("3000 operations"), "{findings}");
    assert!(find(&DISKSPD.replace("total:", "sum:")).is_empty(), "a table that was cut off says nothing in total");
}

#[test]
fn a_shell_tells_three_times() {
    let found = find("first\n# real\t190m56.505s\n# user\t92m14.391s\n# sys\t1m23.157s\nreal\t1s\n");
    let [result] = found.as_slice() else { panic!("{found:?}") };
    let duration = Duration { elapsed_ns: 11_456_505_000_000, user_ns: 5_534_391_000_000, system_ns: 83_157_000_000 };
    assert_eq!((result.told.lines, result.target.as_deref()), ((2, 4), None));
    assert_eq!(result.told.measured, Measured::Durations(vec![duration]));
}

#[test]
fn runs_of_a_command_are_told_apart_from_those_of_another() {
    let time = |label: &str, seconds: u32| format!("{label}\n\nreal\t0m{seconds}s\nuser\t0m1s\nsys\t0m1s\n");
    let text = ["run 1 of a", "run 2 of a", "run 1 of b", "run 1 of b"].map(|label| time(label, 5)).concat();
    let counts = |text: &str| {
        let found = find(text);
        let count = |result: &FoundResult| (result.target.clone().unwrap_or_default(), result.told.durations().len());
        found.iter().map(count).collect::<Vec<_>>()
    };
    let a = "run of a".to_owned();
    // The same label twice is not known to be the same command run again.
    assert_eq!(counts(&text), [(a, 2), (String::new(), 1), (String::new(), 1)]);
    let alone = ["", ""].map(|label| time(label, 5)).concat();
    assert_eq!(counts(&alone), [(String::new(), 1), (String::new(), 1)]);
}

#[test]
fn rows_of_files_are_separated_by_anything() {
    let header =
        ["Run name", "File count", "File Size", "Iterations", "Write (Mb/s)", "Read (Mb/s)", "Write/Read (Mb/s)"];
    let row = ["a-run", "100", "100kb", "10", "2.5", "1000", "2"];
    let files = Files {
        count: 100,
        size_bytes: 102_400,
        iterations: 10,
        write_bytes_per_second: 2.5 * 1_048_576.0,
        read_bytes_per_second: 1000.0 * 1_048_576.0,
        write_read_bytes_per_second: 2.0 * 1_048_576.0,
    };
    for (separator, quote) in [(" ", ""), (",", "\""), (";", ""), ("\t", "")] {
        let line = |cells: [&str; 7]| cells.map(|cell| format!("{quote}{cell}{quote}")).join(separator);
        let found = find(&format!("{}\n{}\nno row\n", line(header), line(row)));
        let [result] = found.as_slice() else { panic!("{separator}: {found:?}") };
        assert_eq!((result.target.as_deref(), &result.told.measured), (Some("a-run"), &Measured::Files(files.clone())));
    }
}

#[test]
fn figures_stand_behind_commands() {
    let figure = |line: &str| {
        let found = find(line);
        let [FoundResult { told: Told { measured: Measured::Figure(figure), .. }, findings, .. }] = found.as_slice()
        else {
            panic!("{line}: {found:?}")
        };
        let Figure { low, high, unit, expected, .. } = figure.clone();
        (low, high, unit, expected, findings.len())
    };
    let ms = || "ms".to_owned();
    assert_eq!(figure("sudo fio --runtime 30 a.ini    #  3-20 ms when repeated"), (3.0, Some(20.0), ms(), None, 1));
    assert_eq!(figure("fio a.ini #   561 IOPS (expected 500 IOPS)"), (561.0, None, "IOPS".to_owned(), Some(500.0), 1));
    assert_eq!(figure("fio a.ini # 20400 IOPS (20k provisioned)"), (20400.0, None, "IOPS".to_owned(), Some(20e3), 1));
    let burst = "fio a.ini # 1001 IOPS (this is burst on 1TB SKU)";
    assert_eq!(figure(burst), (1001.0, None, "IOPS".to_owned(), None, 1));
    for line in ["ls # 5 ms", "fio a.ini # see 5 ms", "# 5 ms", "fio a.ini # 5 apples", "fio a.ini"] {
        assert!(find(line).is_empty(), "{line}");
    }
}

#[test]
fn dd_says_bytes_and_seconds() {
    let found = find("1073741824 bytes (1.1 GB, 1.0 GiB) copied, 10.24 s, 105 MB/s");
    let load = transfers(&found[0]);
    assert_eq!((load.elapsed_ns, load.total.as_ref().unwrap().bytes), (Some(10_240_000_000), Some(1 << 30)));
    assert_eq!(found[0].findings.len(), 1);
    let comma = find("1073741824 bytes (1,1 GB, 1,0 GiB) copied, 10,24 s, 105 MB/s");
    assert_eq!(transfers(&comma[0]).elapsed_ns, Some(10_240_000_000));
    let wrong = find("1073741824 bytes (1.1 GB) copied, 10.24 s, 200 MB/s");
    assert!(texts(&wrong[0])[1].contains("200.0 MB/s are told"), "{wrong:?}");
}

#[test]
fn a_job_of_json_is_a_result() {
    let report = r#"{
  "fio version" : "fio-3.33",
  "global options" : { "bs" : "4k", "iodepth" : "8" },
  "jobs" : [ { "jobname" : "a", "error" : 0, "job options" : { "rw" : "randread", "numjobs" : "2" },
    "read" : { "io_bytes" : 4096000, "io_kbytes" : 4000, "bw_bytes" : 409600, "iops" : 100.0, "runtime" : 10000,
      "total_ios" : 1000, "clat_ns" : { "min" : 5, "max" : 90, "mean" : 20.5, "stddev" : 2.5,
        "percentile" : { "50.000000" : 19, "99.000000" : 60 } } },
    "write" : { "total_ios" : 0, "io_bytes" : 0 } } ]
}"#;
    let found = find(&format!("fio: some warning {{\nbefore\n{report}\nafter {{\n"));
    let [result] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (result.told.source, result.told.lines, result.workload.as_deref()),
        (Source::FioJson, (3, 11), Some("a"))
    );
    assert_eq!(texts(result), [""; 0]);
    let load = transfers(result);
    assert_eq!((load.block_size_bytes, load.queue_depth, load.jobs), (Some(4096), Some(8), Some(2)));
    assert_eq!((load.pattern.as_deref(), load.elapsed_ns), (Some("randread"), Some(10_000_000_000)));
    let read = load.read.as_ref().unwrap();
    assert_eq!((read.bytes, read.operations, load.write.is_none()), (Some(4_096_000), Some(1000), true));
    let percents: Vec<f64> = read.percentiles.iter().map(|percentile| percentile.percent).collect();
    assert_eq!(percents, [0.0, 50.0, 99.0, 100.0]);
    let old = report.replace("\"io_kbytes\" : 4000, ", "").replace("4096000", "4000").replace("clat_ns", "clat");
    let read = transfers(&find(&old)[0]).read.clone().unwrap();
    assert_eq!(read.bytes, Some(4_096_000));
    assert!(close(read.latency_mean_ns, 20_500.0));
    let wrong = find(&report.replace("100.0", "200.0"));
    assert!(texts(&wrong[0])[0].contains("are not 200.0 IOPS"), "{wrong:?}");
}

#[test]
fn kubestr_tells_jobs() {
    let text = "JobName: read_iops\n  blocksize=4K filesize=2G iodepth=64 rw=randread\nread:\n  IOPS=1000.5 \
                BW(KiB/s)=4002\n  iops: min=479 max=1916 avg=998.5\n\nJobName: write_bw\n  blocksize=128k \
                rw=randwrite\nwrite:\n  IOPS=10 BW(KiB/s)=9999\nDisk stats (read/write):\n";
    let found = find(text);
    let [read, write] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((read.told.lines, read.workload.as_deref(), read.findings.len()), ((1, 4), Some("read_iops"), 1));
    let load = transfers(read);
    assert_eq!((load.block_size_bytes, load.queue_depth), (Some(4096), Some(64)));
    assert!(close(load.read.as_ref().unwrap().iops, 1000.5));
    assert!(transfers(write).write.is_some() && texts(write)[1].contains("blocks of 131072 are told"), "{write:?}");
}

#[test]
fn results_stand_in_the_order_of_the_text() {
    let all = format!("{DISKSPD}{FIO}real\t1m0s\nuser\t0m1s\nsys\t0m1s\n100 bytes copied, 1 s, 100 B/s\n");
    let sources: Vec<Source> = find(&all).iter().map(|result| result.told.source).collect();
    assert_eq!(sources, [Source::DiskspdText, Source::FioText, Source::ShellTime, Source::Dd]);
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(
        text in "(READ: bw=|WRITE: bw=| io=|run=|MiB/s|msec|Total IO\n|thread \\| bytes|total:|real\t|user\t|sys\t|1m2s|copied, |bytes|[0-9.,:|# \n-]){0,80}"
    ) {
        for result in find(&text) {
            prop_assert!(result.told.lines.0 >= 1 && result.told.lines.0 <= result.told.lines.1);
        }
    }
}
