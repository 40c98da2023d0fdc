//! Log files: their names and what is in them.

use std::fs;

use crate::made_up::Run;

const JOB: [&str; 5] = ["--name=reads", "--ioengine=null", "--rw=randread", "--size=1g", "--bs=4k"];

fn logs(options: &[&str]) -> Vec<(String, String)> {
    let run = Run::of(&[&JOB[..], options].concat());
    run.reported().logs().files.into_iter().map(|file| (file.name, file.text)).collect()
}

fn names(options: &[&str]) -> Vec<String> {
    logs(options).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn logs_are_named_after_the_job_or_as_given_with_the_number_of_the_thread() {
    // A log without a name can only be asked for in a job file.
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "[reads]\nioengine=null\nsize=1g\nwrite_bw_log\n").unwrap();
    let logs = Run::of(&[file.path().to_str().unwrap()]).reported().logs().files;
    assert_eq!((logs.len(), logs[0].name.as_str()), (1, "reads_bw.1.log"));
    assert_eq!(names(&["--write_iops_log=out/x", "--numjobs=2"]), ["out/x_iops.1.log", "out/x_iops.2.log"]);
    assert_eq!(names(&["--write_lat_log=x"]), ["x_lat.1.log", "x_slat.1.log", "x_clat.1.log"]);
    assert_eq!(names(&["--write_lat_log=x", "--disable_clat=1", "--disable_slat=1"]), ["x_lat.1.log"]);
    assert_eq!(names(&["--write_hist_log=x"]), ["x_clat_hist.1.log"]);
    let second = ["--numjobs=3", "--name=more", "--ioengine=null", "--size=1g", "--write_bw_log=more"];
    assert_eq!(names(&second), ["more_bw.4.log"]);
    assert_eq!(names(&[]), [""; 0]);
}

#[test]
fn logs_of_all_jobs_are_one_when_that_is_asked_for() {
    let logs = logs(&["--write_bw_log=x", "--per_job_logs=0", "--numjobs=2"]);
    assert_eq!((logs.len(), logs[0].0.as_str(), logs[0].1.lines().count()), (1, "x_bw.log", 10));
}

#[test]
fn an_entry_is_at_the_end_of_its_second_and_has_five_fields() {
    let logs = logs(&["--write_bw_log=x", "--write_iops_log=x", "--write_lat_log=x"]);
    let bandwidth =
        "1000, 4000, 0, 0, 0\n2000, 4000, 0, 0, 0\n3000, 4000, 0, 0, 0\n4000, 3600, 0, 0, 0\n4500, 4000, 0, 0, 0\n";
    assert_eq!(logs[0].1, bandwidth);
    assert_eq!(logs[1].1.lines().nth(3), Some("4000, 900, 0, 0, 0"));
    assert_eq!(logs[2].1.lines().next(), Some("1000, 1545000, 0, 0, 0"));
}

#[test]
fn an_entry_of_latencies_is_the_mean_of_its_direction_in_its_span() {
    let mut run = Run::of(&[
        "--name=a",
        "--ioengine=null",
        "--rw=randrw",
        "--rwmixread=70",
        "--size=1g",
        "--write_lat_log=x",
        "--log_avg_msec=2000",
    ]);
    let series = &mut run.record.cells[0].series;
    (series[0].read_mean_ns, series[0].write_mean_ns) = (Some(1_000_000), Some(9_000_000));
    (series[1].read_operations, series[1].read_mean_ns) = (1400, Some(4_000_000));
    // No write ended in the next two seconds, which is no latency of 0.
    for second in &mut series[2..4] {
        (second.write_operations, second.write_mean_ns) = (0, None);
    }
    (series[1].write_operations, series[1].write_mean_ns) = (900, Some(5_000_000));
    let logs = run.reported().logs().files;
    // 700 reads of 1 ms and 1,400 of 4; 300 writes of 9 ms and 900 of 5.
    let text = "2000, 3000000, 0, 0, 0\n2000, 6000000, 1, 0, 0\n4000, 1545000, 0, 0, 0\n\
                4500, 1545000, 0, 0, 0\n4500, 1545000, 1, 0, 0\n";
    let told: Vec<_> = logs.iter().map(|file| (file.name.as_str(), file.text.as_str())).collect();
    assert_eq!(told, [("x_lat.1.log", text), ("x_slat.1.log", ""), ("x_clat.1.log", text)]);
}

#[test]
fn entries_are_as_long_as_asked_but_not_shorter_than_a_second() {
    let entries = |option: &str| logs(&["--write_bw_log=x", option]).remove(0).1;
    assert_eq!(entries("--log_avg_msec=2000"), "2000, 4000, 0, 0, 0\n4000, 3800, 0, 0, 0\n4500, 4000, 0, 0, 0\n");
    assert_eq!(entries("--log_avg_msec=100").lines().count(), 5);
}

#[test]
fn a_log_of_reads_and_writes_has_both_by_their_numbers() {
    let run =
        Run::of(&["--name=a", "--ioengine=null", "--rw=randrw", "--rwmixread=70", "--size=1g", "--write_iops_log=x"]);
    let text = &run.reported().logs().files[0].text;
    assert_eq!(text.lines().take(2).collect::<Vec<_>>(), ["1000, 700, 0, 0, 0", "1000, 300, 1, 0, 0"]);
}

#[test]
fn a_second_in_which_nothing_was_done_has_an_entry() {
    let mut run = Run::of(&[&JOB[..], &["--write_iops_log=x"]].concat());
    run.record.cells[0].series[1].read_operations = 0;
    assert_eq!(run.reported().logs().files[0].text.lines().nth(1), Some("2000, 0, 0, 0, 0"));
}

#[test]
fn a_histogram_log_has_a_line_of_1859_columns() {
    let logs = logs(&["--write_hist_log=x", "--log_hist_msec=1000"]);
    let fields: Vec<u64> = logs[0].1.trim_end().split(", ").map(|field| field.parse().unwrap()).collect();
    assert_eq!((fields.len(), &fields[..3]), (1859, [4500, 0, 4096].as_slice()));
    assert_eq!(fields[3..].iter().sum::<u64>(), 4400);
}

#[test]
fn times_are_those_of_day_when_that_is_asked_for() {
    let logs = logs(&["--write_bw_log=x", "--log_unix_epoch=1"]);
    // The run began at 09:30:00, its load a second later.
    assert!(logs[0].1.starts_with("1759915802000, 4000, 0, 0, 0\n"), "{}", logs[0].1);
}

#[test]
fn what_logs_hold_less_of_is_said_once() {
    let run =
        Run::of(&[&JOB[..], &["--numjobs=2", "--write_bw_log=a", "--write_lat_log=a", "--write_hist_log=a"]].concat());
    let notes = run.reported().logs().notes;
    assert_eq!(notes, ["log entries are about a second each: the record does not hold single operations"]);
    let run = Run::of(&[&JOB[..], &["--write_bw_log=x", "--log_avg_msec=1000"]].concat());
    assert_eq!(run.reported().logs().notes, [""; 0]);
}

#[test]
fn the_bandwidth_of_all_jobs_is_one_log_for_each_direction() {
    let run = Run::of(&[&["--bandwidth-log"][..], &JOB, &["--numjobs=2"]].concat());
    let logs = run.reported().logs().files;
    let names: Vec<_> = logs.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["agg-read_bw.log", "agg-write_bw.log", "agg-trim_bw.log"]);
    assert!(logs[0].text.starts_with("2000, 8000, 0, 0, 0\n"), "{}", logs[0].text);
}
