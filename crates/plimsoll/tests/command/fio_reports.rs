//! What `plimsoll fio` prints besides a report at the end: reports meanwhile and of what failed, and the line of
//! progress.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    interruption::interruption,
    support::{InMemory, Place, Said, is_root, names},
};

/// Two seconds of a job that touches no storage.
const SECONDS: [&str; 6] = ["--name=a", "--ioengine=null", "--size=1g", "--time_based", "--runtime=2", "--rw=randread"];

fn fio(place: &Place, arguments: &[&str]) -> Said {
    Said::of(place.command("fio --no-history").args(arguments).output().unwrap())
}

/// The report of a run that failed: valid JSON, with the reason on standard error as well.
fn failed(place: &Place, arguments: &[&str]) -> Value {
    let said = fio(place, &[&["--output-format=json"], arguments].concat());
    assert_eq!(said.code, Some(1), "{}", said.stdout);
    assert!(said.stderr.starts_with("error: ") && said.stderr.lines().count() == 1, "{}", said.stderr);
    let report = said.json();
    let told = report["plimsoll"]["warnings"].to_string();
    assert_eq!(report["plimsoll"]["outcome"], "failed");
    assert!(report["jobs"][0]["read"]["iops"].is_f64() && told.len() > 10, "{report}");
    report
}

#[test]
fn a_run_that_cannot_begin_is_a_report_with_an_error_for_each_job() {
    let place = Place::new();
    fs::write(place.data().join("precious.0.0"), "precious").unwrap();
    for (arguments, error) in [
        (&["--name=a", "--directory=missing", "--size=1m"][..], 2),
        (&["--name=a", "--rw=write", "--directory=data", "--size=900t"], 28),
        (&["--name=precious", "--rw=write", "--directory=data", "--size=1m"], 1),
        (&["--name=a", "--directory=data"], 22),
    ] {
        let report =
            failed(&place, &[arguments, &["--name=b", "--ioengine=null", "--size=1m", "--stonewall"]].concat());
        let jobs: Vec<(&Value, &Value)> =
            report["jobs"].as_array().unwrap().iter().map(|job| (&job["jobname"], &job["error"])).collect();
        assert_eq!(
            jobs,
            [(&report["jobs"][0]["jobname"], &error.into()), (&"b".into(), &error.into())],
            "{arguments:?}"
        );
    }
    assert_eq!(fs::read_to_string(place.data().join("precious.0.0")).unwrap(), "precious");
    let said = fio(&place, &["--name=a", "--directory=missing", "--size=1m"]);
    assert!(
        said.stdout.contains("\na: (groupid=0, jobs=1): err= 2 (No such file or directory): pid="),
        "{}",
        said.stdout
    );
    let said = fio(&place, &["--minimal", "--name=a", "--directory=missing", "--size=1m"]);
    assert_eq!((said.stdout.split(';').nth(4), said.stdout.lines().count()), (Some("2"), 1), "{}", said.stdout);
}

#[test]
fn a_disk_that_fills_up_amid_a_run_is_the_error_of_the_job_that_met_it() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let _small = InMemory::new(&place, "size=4m");
    // There is room for the file of one job. Files are sparse, so that the second one learns it when it writes.
    fs::write(place.data().join("other"), vec![1; 2_600_000]).unwrap();
    let job = ["--output-format=json", "--directory=data", "--rw=write", "--size=1m", "--fallocate=none"];
    let said = fio(&place, &[&job[..], &["--name=a", "--name=b", "--stonewall"]].concat());
    let report = said.json();
    let done = |job: usize| {
        let job = &report["jobs"][job];
        (job["error"].as_u64().unwrap(), job["write"]["io_bytes"].as_u64().unwrap())
    };
    assert_eq!((said.code, done(0)), (Some(1), (0, 1 << 20)), "{report}");
    assert!(done(1).0 == 28 && (1..1 << 20).contains(&done(1).1), "{report}");
    assert!(said.stderr.starts_with("error: b: ") && said.stderr.lines().count() == 1, "{}", said.stderr);
}

#[test]
fn a_place_without_room_for_a_history_is_no_word_on_standard_error() {
    let place = Place::new();
    let mut command = place.command("fio --output-format=json --name=a --ioengine=null --size=1m");
    let said = Said::of(command.env("XDG_STATE_HOME", "/proc/none").env("HOME", "/proc/none").output().unwrap());
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert_eq!(said.json()["jobs"][0]["error"], 0);
    // Nobody is sent to look for a record that is not there.
    assert!(said.json()["plimsoll"]["record"].is_null());
    assert!(said.json()["plimsoll"]["warnings"].to_string().contains("not in the history"), "{}", said.stdout);
}

#[test]
fn jobs_that_only_make_files_are_reported_without_an_error() {
    let place = Place::new();
    let job = ["--name=a", "--directory=data", "--size=1m", "--create_only=1", "--output-format=json"];
    let said = fio(&place, &job);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        (&said.json()["jobs"][0]["error"], &said.json()["plimsoll"]["outcome"]),
        (&0.into(), &"complete".into())
    );
    assert_eq!(fs::metadata(place.data().join("a.0.0")).unwrap().len(), 1 << 20);
}

#[test]
fn files_that_a_job_names_are_kept_without_a_word() {
    let place = Place::new();
    let job = ["--name=a", "--directory=data", "--size=1m", "--rw=write", "--output-format=json"];
    let said = fio(&place, &job);
    assert_eq!((said.stderr.as_str(), said.json()["plimsoll"]["warnings"].to_string().contains("kept")), ("", false));
    assert!(place.data().join("a.0.0").exists());
}

/// Writes are of a mebibyte and reads of a 256th of it, both to memory, so their latencies differ wherever this runs.
#[test]
fn a_log_of_a_mix_has_the_latencies_of_each_direction() {
    let place = Place::new();
    let job =
        ["--name=a", "--directory=data", "--rw=randrw", "--bs=4k,1m", "--size=4m", "--direct=0", "--invalidate=0"];
    let course = ["--ioengine=psync", "--time_based", "--runtime=2", "--write_lat_log=f", "--log_avg_msec=1000"];
    let said = fio(&place, &[&job[..], &course, &["--output-format=json"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let report = said.json();
    let log = fs::read_to_string(place.path("f_lat.1.log")).unwrap();
    for (direction, name) in [(0, "read"), (1, "write")] {
        let rows = log.lines().map(|line| line.split(", ").map(|field| field.parse().unwrap()).collect::<Vec<u64>>());
        let latencies: Vec<u64> = rows.filter(|row| row[2] == direction).map(|row| row[1]).collect();
        let mean_ns = report["jobs"][0][name]["lat_ns"]["mean"].as_f64().unwrap();
        // The means of two seconds lie around that of both, which has also what ended after them.
        let (least, most) = (*latencies.iter().min().unwrap(), *latencies.iter().max().unwrap());
        assert!(latencies.len() >= 2, "{log}");
        assert!(least as f64 <= mean_ns * 1.05 && most as f64 >= mean_ns * 0.5, "{name}: {mean_ns}\n{log}");
    }
    let means = ["read", "write"].map(|name| report["jobs"][0][name]["lat_ns"]["mean"].as_f64().unwrap());
    assert!(means[1] > means[0] * 4.0, "{means:?}");
}

#[test]
fn what_is_read_to_verify_is_told_with_its_latencies() {
    let place = Place::new();
    let job = ["--name=a", "--directory=data", "--rw=write", "--size=4m", "--bs=4k", "--verify=crc32c"];
    let said = fio(&place, &[&job[..], &["--direct=0", "--ioengine=psync", "--output-format=json+"]].concat());
    let report = said.json();
    let (job, read) = (&report["jobs"][0], &report["jobs"][0]["read"]);
    assert_eq!((&read["total_ios"], &read["lat_ns"]["N"]), (&1024.into(), &1024.into()), "{read}");
    let bins = read["clat_ns"]["bins"].as_object().unwrap().values().map(|count| count.as_u64().unwrap());
    assert!(read["clat_ns"]["min"].as_u64().unwrap() > 0 && bins.sum::<u64>() == 1024, "{read}");
    let [read_ms, write_ms, all_ms] =
        [&read["runtime"], &job["write"]["runtime"], &job["job_runtime"]].map(|runtime| runtime.as_u64().unwrap());
    assert!(all_ms + 1 >= read_ms + write_ms, "{read_ms} {write_ms} {all_ms}");
}

#[test]
fn reports_meanwhile_are_whole_documents_that_add_up() {
    let place = Place::new();
    let said = fio(&place, &[&["--status-interval=1", "--output-format=json"], &SECONDS[..]].concat());
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let reports = serde_json::Deserializer::from_str(&said.stdout).into_iter::<Value>();
    let reports: Vec<Value> = reports.collect::<Result<_, _>>().unwrap();
    let done: Vec<u64> =
        reports.iter().map(|report| report["jobs"][0]["read"]["total_ios"].as_u64().unwrap()).collect();
    assert!(done.len() >= 2 && done[0] > 0 && done.is_sorted() && done[0] < done[done.len() - 1], "{done:?}");
    assert_eq!(reports[0]["jobs"][0]["eta"], 1);
    let (first, last) = (&reports[0]["plimsoll"]["outcome"], &reports[reports.len() - 1]["plimsoll"]["outcome"]);
    assert_eq!((first, last), (&Value::Null, &"complete".into()));
    let file = ["--status-interval=1", "--output=status.txt"];
    assert_eq!(fio(&place, &[&file, &SECONDS[..]].concat()).stdout, "");
    let text = fs::read_to_string(place.path("status.txt")).unwrap();
    assert_eq!(text.matches("Starting 1 process").count(), 1);
    assert!(
        text.matches("Run status group 0").count() >= 2 && text.matches("plimsoll: complete").count() == 1,
        "{text}"
    );
}

#[test]
fn a_report_meanwhile_can_be_asked_for_by_a_signal() {
    let place = Place::new();
    let mut command = place.command("fio --no-history --output-format=json");
    command.args(["--name=a", "--ioengine=null", "--size=1g", "--time_based", "--runtime=4", "--rw=randread"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_millis(1500));
    kill_process(Pid::from_child(&child), Signal::USR1).unwrap();
    let output = child.wait_with_output().unwrap();
    let reports = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let outcomes: Vec<Value> = reports.map(|report| report.unwrap()["plimsoll"]["outcome"].clone()).collect();
    assert_eq!((output.status.code(), &*outcomes), (Some(0), &[Value::Null, "complete".into()][..]));
}

#[test]
fn a_script_ends_what_it_started_in_the_background() {
    let place = Place::new();
    let plimsoll = place.command("");
    let job = "fio --no-history --output-format=json --name=a --ioengine=null --size=1g --time_based --runtime=600";
    // Shells without job control start what is in the background with Ctrl-C ignored.
    let script = format!("\"$0\" {job} & sleep 1.5; kill -INT $!; wait $!");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(plimsoll.get_program());
    command.envs(plimsoll.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let said = Said::of(command.output().unwrap());
    assert_eq!((said.code, &said.json()["plimsoll"]["outcome"]), (Some(128), &"interrupted".into()));
}

#[test]
fn a_job_on_several_directories_is_one_job() {
    let place = Place::new();
    fs::create_dir(place.path("one")).unwrap();
    fs::create_dir(place.path("two")).unwrap();
    let job = ["--name=a", "--filename=one/f:two/f", "--size=1m", "--rw=randread", "--output-format=json"];
    let load = ["--ioengine=libaio", "--iodepth=4", "--direct=1", "--time_based", "--runtime=1"];
    let report = fio(&place, &[&job[..], &load[..]].concat()).json();
    let job = &report["jobs"][0];
    assert!((900..1500).contains(&job["job_runtime"].as_u64().unwrap()), "{}", job["job_runtime"]);
    assert_eq!((&job["latency_depth"], &job["iodepth_level"]["4"]), (&4.into(), &100.0.into()));
    let [iops, mean_ns] = [&job["read"]["iops"], &job["read"]["lat_ns"]["mean"]].map(|value| value.as_f64().unwrap());
    let in_flight = iops * mean_ns / 1e9;
    assert!((2.0..6.0).contains(&in_flight), "{in_flight}");
}

#[test]
fn the_line_of_progress_is_shown_where_fio_shows_it() {
    let place = Place::new();
    let shown =
        |options: &[&str]| fio(&place, &[options, &SECONDS[..]].concat()).stdout.contains("Jobs: 1 (f=1): [r(1)][");
    assert!(shown(&["--eta=always"]));
    assert!(shown(&["--eta=always", "--output-format=json", "--output=report.json"]));
    assert!(!shown(&["--eta=always", "--output-format=json"]), "amid JSON");
    assert!(!shown(&[]), "nobody watches");
    assert!(!shown(&["--eta=never"]));
    let said = fio(&place, &[&["--eta=always", "--eta-newline=1"], &SECONDS[..]].concat());
    let lines = said.stdout.lines().filter(|line| line.starts_with("Jobs: 1 (f=1): [r(1)][")).count();
    assert!(lines >= 2 && said.stdout.contains(" IOPS][eta 00m:01s]"), "{}", said.stdout);
    let text = fs::read_to_string(place.path("report.json")).unwrap();
    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
}

#[test]
fn a_report_file_is_whole_or_as_it_was() {
    let place = Place::new();
    let job = ["--name=a", "--ioengine=null", "--size=1m", "--output-format=json"];
    fs::write(place.path("report.json"), "older").unwrap();
    assert_eq!(fio(&place, &[&job[..], &["--output=report.json"]].concat()).stdout, "");
    let text = fs::read_to_string(place.path("report.json")).unwrap();
    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    let hidden = names(&place.path("")).into_iter().filter(|name| name.starts_with(".report")).count();
    assert_eq!(hidden, 0);
    // A device cannot be replaced.
    assert!(fio(&place, &[&job[..], &["--output=/dev/stdout"]].concat()).json()["jobs"].is_array());
    let said = fio(&place, &[&job[..], &["--output=missing/report.json"]].concat());
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""));
    assert!(said.stderr.contains("missing/report.json"), "{}", said.stderr);
}

#[test]
fn a_run_that_is_interrupted_is_a_report_too() {
    let place = Place::new();
    let mut command = place.command("fio --no-history --output-format=json --eta=always --output=report.json");
    command.args(["--name=a", "--ioengine=null", "--size=1g", "--time_based", "--runtime=600"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    // The line of progress says that it runs.
    let mut first = [0; 8];
    std::io::Read::read_exact(&mut child.stdout.take().unwrap(), &mut first).unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, interruption()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128));
    let report: Value = serde_json::from_str(&fs::read_to_string(place.path("report.json")).unwrap()).unwrap();
    assert_eq!(report["plimsoll"]["outcome"], "interrupted");
    assert!(report["jobs"][0]["read"]["total_ios"].as_u64().unwrap() > 0);
}
