//! Programs that read what fio writes read what `plimsoll fio` writes: those that can be had are run, and of the others
//! every field that they read is looked at. `cargo xtask setup` installs what is run here.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::support::{Place, Said, has, skip};

/// The built program as fio, which says nothing on standard error when all is well.
fn fio(place: &Place, arguments: &[&str]) -> String {
    let output = place.command("fio --no-history").args(arguments).output().unwrap();
    let said = Said::of(output);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{arguments:?}\n{}", said.stdout);
    said.stdout
}

/// The folder of the build, in which `cargo xtask setup` puts programs that have no Debian package.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned()
}

/// Whether a program can be started here.
fn is_there(program: &Path) -> bool {
    Command::new(program).arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Four jobs after each other on one file, as kbench and kubestr have them, with what all readers want to find.
const FOUR_JOBS: &str = "\
[global]
ioengine=psync
direct=0
randrepeat=0
verify=0
size=1m
filename=data/four
numjobs=1
iodepth=1
bs=4k
stonewall

[rand-read]
readwrite=randread
[rand-write]
readwrite=randwrite
fsync=16
[seq-read]
rw=read
[seq-write]
rw=write
";

fn four_jobs(place: &Place, options: &[&str]) -> Value {
    fs::write(place.path("four.fio"), FOUR_JOBS).unwrap();
    let text = fio(place, &[&["four.fio", "--output-format=json"], options].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_types_that_kubestr_decodes_into_take_a_report() {
    let place = Place::new();
    let report = four_jobs(&place, &[]).to_string();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/fio_readers/kubestr.go");
    let mut command = Command::new("go");
    // It has no modules and needs no network, only room for what it builds.
    command.arg("run").arg(program).env("GOCACHE", target().join("tmp/go"));
    command.env("GO111MODULE", "off").env("GOTOOLCHAIN", "local").env("GOFLAGS", "");
    let Ok(mut child) = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        return skip("go is not installed");
    };
    child.stdin.take().unwrap().write_all(report.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines[0][1..], ["psync", "0"], "version, engine and direct\n{text}");
    assert_eq!(lines[1][..2], ["rand-read", "randread"], "{text}");
    assert!(lines[1][2].parse::<f64>().unwrap() > 0.0 && lines[1][8] == "0", "reads, and no writes\n{text}");
    assert!(lines[4][2] == "0" && lines[4][8].parse::<f64>().unwrap() > 0.0, "writes, and no reads\n{text}");
}

#[test]
fn fio_plot_draws_charts_of_reports_and_logs() {
    let program = target().join("readers/bin/fio-plot");
    if !program.exists() {
        return skip("fio-plot is not installed");
    }
    let place = Place::new();
    for depth in ["1", "4"] {
        let name = format!("randread-iodepth-{depth}-numjobs-1");
        let (log, file) = (format!("--write_iops_log=data/{name}"), format!("--output=data/{name}.json"));
        let job =
            ["--name=job", "--ioengine=null", "--bs=4k", "--rw=randread", "--size=1g", "--time_based", "--runtime=3"];
        let depth = format!("--iodepth={depth}");
        fio(
            &place,
            &[&job[..], &["--numjobs=1", &depth, &log, "--log_avg_msec=1000", "--output-format=json", &file]].concat(),
        );
    }
    for (name, options) in [("latencies", "-l -d 1 4 -n 1"), ("seconds", "-g -t iops -d 1 4 -n 1")] {
        let chart = place.path(&format!("{name}.png"));
        let mut command = Command::new(&program);
        command.arg("-i").arg(place.data()).args(["-T", "plimsoll", "-r", "randread"]);
        command.args(options.split(' ')).arg("-o").arg(&chart);
        // It keeps fonts of its own.
        command.env("MPLBACKEND", "Agg").env("MPLCONFIGDIR", place.path("fonts")).current_dir(place.path(""));
        let output = command.output().unwrap();
        let told = [output.stdout, output.stderr].concat();
        let image = fs::read(&chart).unwrap_or_default();
        let is_image = image.starts_with(b"\x89PNG") && image.len() > 10_000;
        assert!(output.status.success() && is_image, "{name}: {}", String::from_utf8_lossy(&told));
    }
}

#[test]
fn the_converter_of_fio_reads_the_buckets_of_a_report() {
    let program = Path::new("fio_jsonplus_clat2csv");
    if !is_there(program) {
        return skip("fio_jsonplus_clat2csv is not installed");
    }
    let place = Place::new();
    let jobs = ["--name=a", "--ioengine=null", "--rw=randrw", "--size=4m", "--lat_percentiles=1"];
    fio(&place, &[&jobs[..], &["--output-format=json+", "--output=a.json"]].concat());
    let mut command = Command::new(program);
    let output = command.args(["a.json", "a.csv"]).current_dir(place.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = fs::read_to_string(place.path("a_job0.csv")).unwrap();
    let header: Vec<&str> = table.lines().next().unwrap().split(',').map(str::trim).collect();
    let column = header.iter().position(|name| *name == "read_clat_ns_count" || *name == "read_clat_count");
    let column = column.unwrap_or_else(|| panic!("{header:?}"));
    let counts = table.lines().skip(1).filter_map(|line| line.split(',').nth(column)?.trim().parse::<u64>().ok());
    let report: Value = serde_json::from_str(&fs::read_to_string(place.path("a.json")).unwrap()).unwrap();
    assert_eq!(counts.sum::<u64>(), report["jobs"][0]["read"]["total_ios"].as_u64().unwrap());
}

/// What a reader expects of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Text,
    /// Without decimals.
    Whole,
    /// With decimals, so that readers with types see a floating-point number.
    Decimal,
}

use Kind::{Decimal, Text, Whole};

/// Percentiles that PerfKitBenchmarker takes one by one.
const PERCENTILES: [&str; 17] =
    ["1", "5", "10", "20", "30", "40", "50", "60", "70", "80", "90", "95", "99", "99.5", "99.9", "99.95", "99.99"];

/// Fields by the programs that read them; in `JOB` those of each job, in `DONE` those of what a job reads or writes.
const FIELDS: &[(&str, &[(&str, Kind)])] = &[
    ("kbench", &[("cpu_idleness.system", Decimal)]),
    ("kbench", &[("DONE.iops_mean", Decimal), ("DONE.bw_mean", Decimal), ("DONE.lat_ns.mean", Decimal)]),
    ("kubestr", &[("fio version", Text), ("timestamp", Whole), ("timestamp_ms", Whole), ("time", Text)]),
    ("kubestr", &[("global options.ioengine", Text), ("global options.verify", Text), ("JOB.job options.rw", Text)]),
    ("kubestr", &[("DONE.iops", Decimal), ("DONE.bw", Whole), ("DONE.iops_min", Whole), ("DONE.iops_max", Whole)]),
    ("kubestr", &[("DONE.bw_min", Whole), ("DONE.bw_max", Whole), ("JOB.job_runtime", Whole), ("JOB.ctx", Whole)]),
    ("kubestr", &[("disk_util.0.name", Text), ("disk_util.0.in_queue", Whole), ("disk_util.0.util", Decimal)]),
    ("fio-plot", &[("JOB.jobname", Text), ("global options.iodepth", Text), ("global options.numjobs", Text)]),
    ("fio-plot", &[("DONE.iops_stddev", Decimal), ("DONE.lat_ns.stddev", Decimal), ("global options.bs", Text)]),
    (
        "fio-plot",
        &[("JOB.latency_ns.1000", Decimal), ("JOB.latency_us.2", Decimal), ("JOB.latency_ms.>=2000", Decimal)],
    ),
    ("fio-plot", &[("JOB.usr_cpu", Decimal), ("JOB.sys_cpu", Decimal)]),
    (
        "benchmark-wrapper",
        &[("timestamp", Whole), ("fio version", Text), ("DONE.iops", Decimal), ("JOB.jobname", Text)],
    ),
    (
        "PerfKitBenchmarker",
        &[("DONE.io_bytes", Whole), ("DONE.bw", Whole), ("DONE.bw_min", Whole), ("DONE.bw_max", Whole)],
    ),
    ("PerfKitBenchmarker", &[("DONE.bw_dev", Decimal), ("DONE.bw_agg", Decimal), ("DONE.bw_mean", Decimal)]),
    ("PerfKitBenchmarker", &[("DONE.clat_ns.min", Whole), ("DONE.clat_ns.max", Whole), ("DONE.clat_ns.mean", Decimal)]),
    ("PerfKitBenchmarker", &[("DONE.clat_ns.stddev", Decimal), ("DONE.iops", Decimal)]),
    ("cdmpy, KDiskMark", &[("DONE.bw_bytes", Whole), ("DONE.bw", Whole), ("DONE.clat_ns.mean", Decimal)]),
    ("auto-fio", &[("JOB.read.bw", Whole), ("JOB.error", Whole)]),
    (
        "FioSynth",
        &[("JOB.groupid", Whole), ("DONE.total_ios", Whole), ("DONE.runtime", Whole), ("JOB.sync.total_ios", Whole)],
    ),
    ("fio exporters", &[("JOB.elapsed", Whole), ("JOB.eta", Whole), ("JOB.majf", Whole), ("JOB.minf", Whole)]),
];

#[test]
fn every_field_that_readers_take_is_there_with_its_type() {
    let place = Place::new();
    let report = four_jobs(&place, &["--idle-prof=percpu"]);
    let mut wrong = check_all(&report);
    for percent in PERCENTILES {
        let percent = format!("{:.6}", percent.parse::<f64>().unwrap());
        let found = &report["jobs"][0]["read"]["clat_ns"]["percentile"][&percent];
        if !found.is_u64() {
            wrong.push(format!("PerfKitBenchmarker: percentile {percent} is {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let processors = report["cpu_idleness"].as_object().unwrap().keys().filter(|key| key.starts_with("cpu-")).count();
    assert!(processors >= 1, "{}", report["cpu_idleness"]);
}

/// The table is right when what fio itself writes passes as well.
#[test]
fn every_field_that_readers_take_is_there_in_a_report_of_fio() {
    if !has(&["fio"]) {
        return;
    }
    let place = Place::new();
    fs::write(place.path("four.fio"), FOUR_JOBS.replace("data/four", "data/theirs")).unwrap();
    let mut command = Command::new("fio");
    command.args(["four.fio", "--output-format=json", "--idle-prof=percpu"]).current_dir(place.path(""));
    let wrong = check_all(&serde_json::from_slice(&command.output().unwrap().stdout).unwrap());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All fields of all readers; those that are not as they must be.
fn check_all(report: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for (reader, fields) in FIELDS {
        for (path, kind) in *fields {
            for (job, done) in [("0", "read"), ("1", "write"), ("2", "read"), ("3", "write")] {
                let path = path.replace("DONE", &format!("jobs.{job}.{done}")).replace("JOB", &format!("jobs.{job}"));
                check(report, reader, &path, *kind, &mut wrong);
            }
        }
    }
    wrong
}

fn check(report: &Value, reader: &str, path: &str, kind: Kind, wrong: &mut Vec<String>) {
    let mut found = report;
    for part in path.split('.') {
        found = match found {
            Value::Array(values) => part.parse::<usize>().ok().and_then(|at| values.get(at)).unwrap_or(&Value::Null),
            object => object.get(part).unwrap_or(&Value::Null),
        };
    }
    let is_right = match kind {
        Text => found.is_string(),
        Whole => found.is_u64(),
        Decimal => found.is_f64(),
    };
    if !is_right {
        wrong.push(format!("{reader}: {path} is {found}, not {kind:?}"));
    }
}

/// The value after `name=` up to a comma or blank.
fn value<'a>(line: &'a str, name: &str) -> &'a str {
    let (_, rest) = line.split_once(name).unwrap_or_else(|| panic!("no {name} in {line}"));
    rest.split([',', ' ', '(']).next().unwrap_or_default()
}

#[test]
fn searches_in_the_normal_report_find_what_they_look_for() {
    let place = Place::new();
    let text = fio(&place, &["--name=a", "--ioengine=null", "--rw=randrw", "--size=1g", "--time_based", "--runtime=2"]);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for direction in ["read", "write"] {
        let at = lines.iter().position(|line| line.starts_with(&format!("{direction}: IOPS="))).unwrap();
        let rate = value(lines[at], "IOPS=");
        assert!(rate.trim_end_matches(['k', 'M']).parse::<f64>().unwrap() > 0.0, "{rate}");
        // As dbench and fio-parser do it: what is before the unit is a number.
        let bandwidth = value(lines[at], "BW=");
        let number = bandwidth.split(['K', 'M', 'G']).next().unwrap();
        assert!(number.parse::<f64>().unwrap() > 0.0 && bandwidth.ends_with("iB/s"), "{bandwidth}");
        // The first line of latency after it that is the whole one, whose unit is its sixth letter.
        let latency = lines[at..].iter().find(|line| line.starts_with("lat")).unwrap();
        assert!("num".contains(&latency[5..6]) && latency.starts_with("lat ("), "{latency}");
        assert!(
            latency.split(',').nth(2).unwrap().split_once('=').unwrap().1.parse::<f64>().unwrap() > 0.0,
            "{latency}"
        );
    }
    // As cbt and others take the sum of a group.
    for name in ["READ", "WRITE"] {
        let line = lines.iter().find(|line| line.starts_with(&format!("{name}: bw="))).unwrap();
        assert!(line.contains("iB/s (") && line.contains("io=") && line.ends_with("msec"), "{line}");
    }
    assert!(lines.contains(&"Run status group 0 (all jobs):"));
    let block = lines.iter().find(|line| line.starts_with("a: (groupid=0, jobs=1): err= 0: pid=")).unwrap();
    assert!(block.ends_with(|last: char| last.is_ascii_digit()), "{block}");
}

#[test]
fn the_fields_of_the_terse_report_are_where_yabs_and_the_exporters_look() {
    let place = Place::new();
    let jobs = ["--name=rand_rw_4k", "--ioengine=psync", "--rw=randrw", "--rwmixread=50", "--bs=4k", "--size=2m"];
    let more = ["--numjobs=2", "--group_reporting", "--directory=data", "--minimal"];
    let text = fio(&place, &[&jobs[..], &more].concat());
    let fields: Vec<&str> = text.trim_end().split(';').collect();
    let number = |field: usize| fields[field - 1].parse::<u64>().unwrap_or_else(|_| panic!("{field}: {text}"));
    assert_eq!((fields[0], fields[2], number(5)), ("3", "rand_rw_4k", 0));
    // Kilobytes read and written make both files.
    assert_eq!(number(6) + number(47), 4096);
    for field in [7, 8, 9, 48, 49, 50] {
        assert!(number(field) > 0, "{field}: {text}");
    }
    assert!(fields[87].ends_with('%') && fields[92].ends_with('%') && fields.len() >= 121 + 9, "{text}");
}

#[test]
fn logs_are_as_their_readers_want_them() {
    let place = Place::new();
    let jobs =
        ["--name=a", "--ioengine=null", "--rw=randrw", "--size=1g", "--time_based", "--runtime=2", "--numjobs=2"];
    let logs =
        ["--write_bw_log=f", "--write_iops_log=f", "--write_lat_log=f", "--write_hist_log=f", "--log_hist_msec=1000"];
    fio(&place, &[&["--bandwidth-log"][..], &jobs, &logs, &["--log_avg_msec=1000"]].concat());
    for kind in ["bw", "iops", "lat", "clat"] {
        for clone in 1..=2 {
            let text = fs::read_to_string(place.path(&format!("f_{kind}.{clone}.log"))).unwrap();
            assert!(text.lines().count() >= 4, "{kind}: {text}");
            for line in text.lines() {
                // benchmark-wrapper takes lines of exactly five numbers.
                let numbers: Vec<i64> = line.split(", ").map(|field| field.parse().unwrap()).collect();
                assert!(numbers.len() == 5 && numbers[1] > 0 && (0..=1).contains(&numbers[2]), "{kind}: {line}");
            }
        }
    }
    for clone in 1..=2 {
        let text = fs::read_to_string(place.path(&format!("f_clat_hist.{clone}.log"))).unwrap();
        let mut last = [0; 2];
        for line in text.lines() {
            // What the readers of histograms check: buckets, no negative number, a direction, a size, times that grow.
            let numbers: Vec<u64> = line.split(',').map(|field| field.trim().parse().unwrap()).collect();
            let (time, direction) = (numbers[0], numbers[1] as usize);
            assert!(numbers.len() == 3 + 1856 && numbers[2] <= 1 << 24 && time >= last[direction], "{line}");
            last[direction] = time;
        }
        assert!(last[0] > 0 && last[1] > 0, "{text}");
    }
    for name in ["agg-read_bw.log", "agg-write_bw.log"] {
        let text = fs::read_to_string(place.path(name)).unwrap();
        assert!(text.lines().count() >= 2 && text.lines().all(|line| line.split(", ").count() == 5), "{name}: {text}");
    }
}
