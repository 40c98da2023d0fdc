//! What readers of reports may rely on.

use plimsoll_dialects::fio::{report::header, switches::IdleProfile};
use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::{
    client::ClientActivity,
    record::{NOT_RUN, Outcome},
    results::DirectionResult,
    verification::VerificationResult,
};
use serde_json::Value;

use crate::made_up::{BLOCK_BYTES, Run, SECOND_NS, latencies};

const NULL: &str = "--ioengine=null";

/// One job of reads, and what is given.
fn reads(options: &[&str]) -> Run {
    Run::of(&[&["--name=reads", NULL, "--rw=randread", "--size=1g", "--bs=4k"], options].concat())
}

#[test]
fn rates_are_those_of_the_measured_time_and_samples_those_of_whole_seconds() {
    let report = reads(&[]).json();
    let read = &report["jobs"][0]["read"];
    // 1,000 a second, 900 in the fourth, and 500 in the last half second.
    assert_eq!((read["total_ios"].as_u64(), read["runtime"].as_u64()), (Some(4400), Some(4500)));
    assert_eq!(read["io_bytes"].as_u64(), Some(4400 * BLOCK_BYTES));
    assert!((read["iops"].as_f64().unwrap() - 4400.0 / 4.5).abs() < 1e-5);
    assert_eq!(read["bw"].as_u64(), Some(4400 * 4096 * 10 / 45 / 1024));
    assert_eq!((read["iops_samples"].as_u64(), read["bw_samples"].as_u64()), (Some(4), Some(4)));
    assert_eq!((read["iops_min"].as_u64(), read["iops_max"].as_u64()), (Some(900), Some(1000)));
    assert_eq!((read["bw_min"].as_u64(), read["bw_max"].as_u64()), (Some(3600), Some(4000)));
    assert_eq!((read["iops_mean"].as_f64(), read["bw_mean"].as_f64()), (Some(975.0), Some(3900.0)));
    assert_eq!(read["iops_stddev"].as_f64(), Some(50.0));
    assert!((read["bw_agg"].as_f64().unwrap() - 3900.0 * 100.0 / (4400.0 * 4.0 / 4.5)).abs() < 0.01);
    assert_eq!(report["jobs"][0]["write"]["total_ios"].as_u64(), Some(0));
    assert_eq!(report["jobs"][0]["trim"]["bw_samples"].as_u64(), Some(0));
}

#[test]
fn what_was_read_to_verify_is_read_with_its_latencies() {
    let mut run = Run::of(&["--name=a", NULL, "--rw=randwrite", "--size=1g"]);
    let verification = VerificationResult {
        blocks_checked: 500,
        blocks_read_back: 500,
        read_back_ns: SECOND_NS / 4,
        read_back_histogram: Some(latencies(500)),
        ..VerificationResult::default()
    };
    run.record.cells[0].verification = Some(verification);
    let report = run.json();
    let (job, read) = (&report["jobs"][0], &report["jobs"][0]["read"]);
    assert_eq!((&read["total_ios"], &read["iops"], &read["runtime"]), (&500.into(), &2000.0.into(), &250.into()));
    let latency = &read["lat_ns"];
    assert_eq!((&latency["N"], &latency["min"], &latency["max"]), (&500.into(), &800_000.into(), &60_000_000.into()));
    assert_eq!(read["clat_ns"]["percentile"]["50.000000"].as_u64().unwrap() / 10_000, 80);
    assert_eq!((&read["iops_samples"], &read["bw_samples"]), (&0.into(), &0.into()), "no second has any of it");
    // Four and a half seconds of writes before.
    assert_eq!((&job["write"]["runtime"], &job["job_runtime"]), (&4500.into(), &4750.into()));
}

#[test]
fn a_second_in_which_nothing_was_done_is_the_least() {
    let mut run = reads(&[]);
    (run.record.cells[0].series[1].read_operations, run.record.cells[0].series[1].read_bytes) = (0, 0);
    assert_eq!(run.json()["jobs"][0]["read"]["iops_min"], 0);
}

#[test]
fn a_run_of_less_than_a_second_has_a_sample() {
    let mut run = reads(&[]);
    run.record.cells[0].series.retain(|second| second.length_ns < SECOND_NS);
    let read = &run.json()["jobs"][0]["read"];
    assert_eq!((&read["iops_samples"], &read["iops_mean"]), (&1.into(), &1000.0.into()));
    run.record.cells[0].series[0].length_ns = SECOND_NS / 2 - 1;
    assert_eq!(run.json()["jobs"][0]["read"]["iops_samples"], 0);
}

#[test]
fn a_group_is_one_job_whose_seconds_are_added_up() {
    let options = ["--group_reporting", "--name=more", NULL, "--rw=randwrite", "--numjobs=3", "--size=1g"];
    let run =
        Run::of(&[&["--group_reporting", "--name=first", NULL, "--numjobs=2", "--size=1g"], &options[..]].concat());
    let report = run.json();
    let jobs = report["jobs"].as_array().unwrap();
    assert_eq!((jobs.len(), jobs[0]["jobname"].as_str()), (1, Some("first")));
    assert_eq!(jobs[0]["read"]["iops_max"], 2000);
    assert_eq!((&jobs[0]["write"]["iops_max"], &jobs[0]["write"]["runtime"]), (&3000.into(), &4500.into()));
    assert_eq!((&jobs[0]["plimsoll"]["cells"], &jobs[0]["job_runtime"]), (&serde_json::json!([0, 1]), &22_500.into()));
    assert!(
        run.reported().normal().contains("first: (groupid=0, jobs=5): err= 0: pid=4711: Wed Oct  8 09:30:09 2025\n")
    );
}

#[test]
fn cells_of_a_group_that_began_a_moment_apart_have_the_same_seconds() {
    let mut run = Run::of(&[
        "--name=a",
        NULL,
        "--size=1g",
        "--group_reporting",
        "--name=b",
        NULL,
        "--size=1g",
        "--group_reporting",
    ]);
    for (cell, shift_ns) in [(0, 499_999_000), (1, 500_001_000)] {
        run.record.cells[cell].window = None;
        run.record.cells[cell].series.iter_mut().for_each(|second| second.t_ns += shift_ns);
    }
    let read = &run.json()["jobs"][0]["read"];
    assert_eq!((&read["iops_samples"], &read["iops_min"], &read["iops_max"]), (&4.into(), &1800.into(), &2000.into()));
}

#[test]
fn clones_are_jobs_of_their_own_without_group_reporting() {
    let report = reads(&["--numjobs=3"]).json();
    let jobs = report["jobs"].as_array().unwrap();
    assert!(jobs.len() == 3 && jobs.iter().all(|job| job["jobname"] == "reads" && job["read"]["iops_max"] == 1000));
}

#[test]
fn jobs_without_statistics_are_left_out() {
    let run = Run::of(&["--name=a", NULL, "--size=1g", "--stats=0", "--name=b", NULL, "--size=1g"]);
    let report = run.json();
    assert_eq!((report["jobs"].as_array().unwrap().len(), &report["jobs"][0]["jobname"]), (1, &"b".into()));
}

#[test]
fn a_job_that_was_never_run_is_zeros_and_an_error() {
    let mut run = reads(&["--name=later", NULL, "--size=1g", "--stonewall"]);
    run.record.outcome = Outcome::Failed;
    let later = &mut run.record.cells[1];
    (later.read, later.slots, later.series) = (None, Vec::new(), Vec::new());
    (later.verdict, later.estimate, later.window) = (None, None, None);
    later.verdict_reason = Some(format!("{NOT_RUN}: the run failed before its first slot was done"));
    let report = run.json();
    let job = &report["jobs"][1];
    assert_eq!(
        (&job["error"], &job["read"]["total_ios"], &job["read"]["clat_ns"]["N"]),
        (&125.into(), &0.into(), &0.into())
    );
    assert!(job["plimsoll"]["reason"].as_str().unwrap().starts_with("not run: the run failed"));
    assert_eq!((&report["plimsoll"]["outcome"], report["jobs"][0]["error"].as_u64()), (&"failed".into(), Some(0)));
    let normal = run.reported().normal();
    assert!(normal.contains("  plimsoll     : no verdict: not run: the run failed before"));
}

#[test]
fn a_record_without_cells_is_a_report() {
    let mut run = reads(&["--numjobs=2", "--description=nothing; at\nall"]);
    run.record.cells.clear();
    let report = run.json();
    assert_eq!((&report["jobs"][0]["error"], &report["jobs"][0]["desc"]), (&125.into(), &"nothing; at\nall".into()));
    assert_eq!(run.reported().terse(3).trim_end().split(';').count(), 122);
    let normal = run.reported().normal();
    assert!(normal.contains("reads: (groupid=0, jobs=2): err=125 (not run): pid=4711: "));
}

#[test]
fn an_error_has_its_number_whether_or_not_errors_are_counted() {
    for (option, total) in [(None, Value::Null), (Some("--continue_on_error=all"), 3.into())] {
        let mut run = reads(option.as_slice());
        run.record.cells[0].errors = 3;
        run.record.cells[0].error_kinds = vec![plimsoll_record::results::ErrorCount {
            operation: "read".to_owned(),
            error: "No space left on device (os error 28)".to_owned(),
            count: 3,
            first_offset: 0,
            first_file: None,
        }];
        let report = run.json();
        assert_eq!((&report["jobs"][0]["error"], &report["jobs"][0]["total_err"]), (&28.into(), &total));
    }
}

#[test]
fn latencies_are_told_as_percentiles_that_do_not_end_at_17_seconds() {
    let mut run = reads(&["--percentile_list=50:99:99.9"]);
    let mut histogram = LatencyHistogram::fine();
    histogram.record_many(800_000, 50);
    histogram.record_many(94_400_000_000, 50);
    run.record.cells[0].read = Some(DirectionResult::new(100, 409_600, 4 * SECOND_NS, histogram));
    let report = run.json();
    let latencies = &report["jobs"][0]["read"]["clat_ns"];
    let keys: Vec<_> = latencies["percentile"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["50.000000", "99.000000", "99.900000"]);
    let percentile = |name: &str| latencies["percentile"][name].as_u64().unwrap();
    assert!(percentile("50.000000").abs_diff(800_000) < 1000);
    assert_eq!(percentile("99.000000"), 94_400_000_000);
    assert_eq!((&latencies["N"], &latencies["max"]), (&100.into(), &94_400_000_000_u64.into()));
    assert!(report["jobs"][0]["read"]["lat_ns"].get("percentile").is_none());
    assert_eq!(report["jobs"][0]["latency_ms"][">=2000"], 50.0);
}

#[test]
fn percentiles_are_of_the_latencies_that_were_asked_for() {
    for (option, clat, lat) in [
        ("--clat_percentiles=1", true, false),
        ("--clat_percentiles=0", false, false),
        ("--lat_percentiles=1", true, true),
    ] {
        let report = reads(&[option]).json();
        let has = |name: &str| report["jobs"][0]["read"][name].get("percentile").is_some();
        assert_eq!((has("clat_ns"), has("lat_ns"), has("slat_ns")), (clat, lat, false), "{option}");
    }
}

#[test]
fn latencies_that_were_switched_off_are_zeros_and_rates_are_not() {
    let run = reads(&["--gtod_reduce=1"]);
    let read = &run.json()["jobs"][0]["read"];
    assert_eq!((&read["clat_ns"]["N"], &read["lat_ns"]["N"], &read["bw_mean"]), (&0.into(), &0.into(), &3900.0.into()));
    assert_eq!(run.json()["jobs"][0]["latency_us"]["1000"], 0.0);
    assert!(!run.reported().normal().contains("clat"));
    let read = &reads(&["--disable_clat=1"]).json()["jobs"][0]["read"];
    assert_eq!((&read["clat_ns"]["N"], &read["lat_ns"]["N"]), (&0.into(), &4400.into()));
}

#[test]
fn reads_and_writes_are_one_when_that_is_asked_for() {
    let mixed = ["--name=both", NULL, "--rw=randrw", "--size=1g", "--fsync=10"];
    let keys = |option: &str| {
        let report = Run::of(&[&mixed[..], &[option]].concat()).json();
        let job = report["jobs"][0].as_object().unwrap();
        let named = ["read", "write", "trim", "sync", "mixed"];
        let found: Vec<&str> = job.keys().map(String::as_str).filter(|key| named.contains(key)).collect();
        (found.join(" "), job.get("mixed").map_or(0, |mixed| mixed["total_ios"].as_u64().unwrap()))
    };
    assert_eq!(keys("--unified_rw_reporting=none"), ("read write trim sync".to_owned(), 0));
    assert_eq!(keys("--unified_rw_reporting=mixed"), ("mixed".to_owned(), 4400));
    assert_eq!(keys("--unified_rw_reporting=both"), ("read write trim sync mixed".to_owned(), 4400));
    for option in ["--unified_rw_reporting=mixed", "--unified_rw_reporting=both"] {
        let text = Run::of(&[&mixed[..], &[option]].concat()).reported().normal();
        assert!(text.contains("\n  mixed: IOPS=977, BW=3911KiB/s (4005kB/s)(17.2MiB/4500msec)\n"), "{text}");
        assert!(
            text.contains("\n  MIXED: bw=3911KiB/s (4005kB/s), 3911KiB/s-3911KiB/s (4005kB/s-4005kB/s), "),
            "{text}"
        );
    }
}

#[test]
fn options_are_told_as_they_were_typed() {
    let options = ["--randrepeat=0", "--name=j", NULL, "--readwrite=randread", "--bs=4K", "--bs=8K", "--size=1g"];
    let report = Run::of(&[&options[..], &["--time_based", "--runtime=4s"]].concat()).json();
    let expected = serde_json::json!({
        "name": "j", "ioengine": "null", "rw": "randread", "bs": "8K", "size": "1g", "time_based": "", "runtime": "4s",
    });
    assert_eq!(report["jobs"][0]["job options"].to_string(), expected.to_string());
    assert_eq!(report["global options"].to_string(), r#"{"randrepeat":"0"}"#);
    assert!(reads(&[]).json().get("global options").is_none());
}

#[test]
fn plimsolls_own_words_are_in_an_object_of_their_own() {
    let mut run = reads(&[]);
    run.record.warnings.push("a warning".to_owned());
    run.notes.push("a note".to_owned());
    let report = run.json();
    let (own, job) = (&report["plimsoll"], &report["jobs"][0]["plimsoll"]);
    assert_eq!(own["record"], run.record.id.to_string());
    assert_eq!((&own["outcome"], &own["warnings"][0]), (&"complete".into(), &"a warning".into()));
    assert_eq!(own["notes"].as_array().unwrap().last().unwrap(), "a note");
    assert_eq!((&job["verdict"], &job["iops"], &job["iops_low"]), (&"steady".into(), &970.0.into(), &950.0.into()));
    assert_eq!(job["window"]["from_ns"], SECOND_NS);
    assert_eq!(report.as_object().unwrap().keys().next_back().unwrap(), "plimsoll");
    assert_eq!(report["jobs"][0].as_object().unwrap().keys().next_back().unwrap(), "plimsoll");
}

#[test]
fn what_a_disk_did_for_cells_at_the_same_time_counts_once() {
    let run = reads(&["--numjobs=2", "--name=later", NULL, "--stonewall", "--size=1g"]);
    let disks = &run.json()["disk_util"];
    assert_eq!(disks.as_array().unwrap().len(), 1);
    assert_eq!(
        (&disks[0]["name"], &disks[0]["read_ios"], &disks[0]["util"]),
        (&"sdc".into(), &8800.into(), &50.0.into())
    );
    assert_eq!((&disks[0]["read_sectors"], &disks[0]["in_queue"]), (&(8800 * 8).into(), &36_000.into()));
    let normal = run.reported().normal();
    assert!(normal.contains(
        "\nDisk stats (read/write):\n  sdc: ios=8800/0, sectors=70400/0, merge=88/0, ticks=27000/9000, in_queue=36000, \
         util=50.00%\n"
    ), "{normal}");
    assert!(reads(&["--disk_util=0"]).json().get("disk_util").is_none());
}

#[test]
fn processor_time_is_that_of_a_thread() {
    let report = reads(&["--numjobs=2"]).json();
    // The process took 90 ms of user time in 4.5 s, for both jobs together.
    assert_eq!((&report["jobs"][0]["usr_cpu"], &report["jobs"][1]["sys_cpu"]), (&1.0.into(), &5.0.into()));
    let mut run = reads(&["--numjobs=2", "--group_reporting"]);
    let client = ClientActivity { voluntary_switches: 700, involuntary_switches: 7, ..ClientActivity::default() };
    run.record.cells[0].client = Some(client);
    let report = run.json();
    assert_eq!((&report["jobs"][0]["usr_cpu"], &report["jobs"][0]["ctx"]), (&1.0.into(), &707.into()));
}

#[test]
fn a_steady_state_is_told_by_the_rule_that_was_asked_for() {
    let options = ["--time_based", "--runtime=5", "--steadystate_duration=3"];
    for (rule, told, is_attained) in
        [("iops:10%", "iops:10.000000%", 1), ("iops:1%", "iops:1.000000%", 0), ("bw_slope:1", "bw_slope:1.000000", 0)]
    {
        let run = reads(&[&options[..], &[&format!("--steadystate={rule}")]].concat());
        let steady = run.json()["jobs"][0]["steadystate"].clone();
        assert_eq!(
            (&steady["ss"], &steady["attained"], &steady["duration"]),
            (&told.into(), &is_attained.into(), &3.into())
        );
        assert_eq!(steady["data"]["iops"].to_string(), "[1000,1000,900]");
        assert_eq!(steady["data"]["iops_mean"], 966);
    }
    // 900 is 66.7 from the mean of 966.7.
    let run = reads(&[&options[..], &["--steadystate=iops:1%"]].concat());
    assert_eq!(run.json()["jobs"][0]["steadystate"]["criterion"], "6.896552%");
    let normal = run.reported().normal();
    assert!(normal.contains("  steadystate  : attained=no, bw="));
}

#[test]
fn what_scripts_search_for_in_the_normal_report_is_there() {
    let text = Run::of(&["--name=both", NULL, "--rw=randrw", "--size=1g", "--fsync=10"]).reported().normal();
    for line in [
        "  read: IOPS=488, BW=1956KiB/s (2002kB/s)(8800KiB/4500msec)",
        "    clat (usec): min=800, max=60000, avg=1545.00, stdev=5896.38",
        "     lat (usec): min=800, max=60000, avg=1545.00, stdev=5896.38",
        "   iops        : min=  450, max=  500, avg=487.50, stdev=25.00, samples=4",
        "  lat (usec)   : 1000=90.00%",
        "  lat (msec)   : 4=9.00%, 100=1.00%",
        "  fsync/fdatasync/sync_file_range/syncfs:",
        "  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%",
        "     issued rwts: total=2200,2200,0,220 short=0,0,0,0 dropped=0,0,0,0",
        "     latency   : target=0.00ns, window=0.00ns, percentile=100.00%, depth=1",
        "Run status group 0 (all jobs):",
        "   READ: bw=1956KiB/s (2002kB/s), 1956KiB/s-1956KiB/s (2002kB/s-2002kB/s), io=8800KiB (9011kB), run=4500-4500msec",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn lines_of_our_own_do_not_disturb_searches() {
    let run = reads(&[]);
    let text = run.reported().normal();
    let own: Vec<_> = text.lines().filter(|line| line.contains("plimsoll")).collect();
    assert!(own.len() >= 2 && own.iter().all(|line| line.trim_start().starts_with("plimsoll")), "{own:?}");
    assert!(own.iter().all(|line| !line.contains("IOPS=") && !line.contains("BW=") && !line.contains("avg=")));
    assert!(own[0].contains("steady, 970 operations per second (950 to 990), in 4.50 s from 1.00 s"), "{}", own[0]);
}

#[test]
fn the_fields_of_the_terse_report_are_where_scripts_look_for_them() {
    let text = Run::of(&["--name=a;b", NULL, "--rw=randrw", "--size=1g"]).reported().terse(3);
    let fields: Vec<_> = text.trim_end().split(';').collect();
    // One disk.
    assert_eq!(fields.len(), 121 + 9);
    let field = |number: usize| fields[number - 1];
    assert_eq!([field(1), field(2), field(3), field(4), field(5)], ["3", "plimsoll-0.1.0", "a,b", "0", "0"]);
    assert_eq!([field(6), field(7), field(8), field(9)], ["8800", "1955", "488", "4500"]);
    assert_eq!([field(47), field(48), field(49)], ["8800", "1955", "488"]);
    assert_eq!([field(14), field(15), field(18), field(37)], ["800", "60000", "1.000000%=800", "0%=0"]);
    assert_eq!([field(42), field(43), field(46)], ["1800", "2000", "100.000000"]);
    assert_eq!([field(88), field(89)], ["2.000000%", "10.000000%"]);
    assert_eq!([field(93), field(109), field(111)], ["100.0%", "90.00%", "9.00%"]);
    assert_eq!([field(122), field(130)], ["sdc", "50.00%"]);
    for (version, count) in [(2, 161), (4, 162 + 9), (5, 180 + 9)] {
        let text = Run::of(&["--name=a", NULL, "--size=1g"]).reported().terse(version);
        assert_eq!(text.trim_end().split(';').count(), count, "version {version}");
    }
}

#[test]
fn several_formats_follow_each_other_as_by_fio() {
    let run = reads(&["--output-format=normal,json,terse", "--numjobs=2"]);
    let text = header(&run.jobs, "plimsoll-0.1.0") + &run.reported().text();
    let places: Vec<_> = [
        "reads: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=null, iodepth=1\n...\n",
        "plimsoll-0.1.0\nStarting 2 processes\n",
        "3;plimsoll-0.1.0;reads;",
        "{\n  \"fio version\" : \"plimsoll-0.1.0\",\n  \"timestamp\" : 1759915809,\n",
        "\nreads: (groupid=0, jobs=1): err= 0: ",
    ]
    .iter()
    .map(|part| text.find(part).unwrap_or_else(|| panic!("{part}\n{text}")))
    .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn an_idle_profile_tells_how_idle_the_machine_was() {
    let mut run = reads(&["--idle-prof=percpu"]);
    let client = ClientActivity {
        machine_busy_ns: Some(SECOND_NS),
        machine_total_ns: Some(4 * SECOND_NS),
        ..ClientActivity::default()
    };
    run.record.cells[0].client = Some(client);
    assert_eq!(run.json()["cpu_idleness"]["system"], 75.0);
    let normal = run.reported().normal();
    assert!(normal.contains("\nCPU idleness:\n  system: 75.00%\n"));
    run.idle_percents = vec![90.0, 70.0];
    let told = serde_json::json!({"system": 80.0, "cpu-0": 90.0, "cpu-1": 70.0, "unit_mean": 0.0, "unit_stddev": 0.0});
    assert_eq!(run.json()["cpu_idleness"], told);
    let normal = run.reported().normal();
    assert!(normal.contains("\nCPU idleness:\n  system: 80.00%\n  percpu: 90.00%, 70.00%\n"));
    run.jobs.switches.idle_profile = Some(IdleProfile::System);
    assert_eq!(run.json()["cpu_idleness"].get("cpu-0"), None);
}
