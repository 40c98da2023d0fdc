//! Phases: workloads that run at the same time, each for as long as it says.

use std::{collections::BTreeSet, fs, process::Stdio, thread, time::Duration};

use serde_json::Value;

use crate::{capped_disk::CappedDisk, support::Place};

/// A phase of three, of which one begins later and one ends by its amount, and a phase after it.
const PLAN: &str = r#"
targets = ["data"]
[defaults]
size = "16MiB"
ramp = "0s"
[[workloads]]
name = "readers"
rw = "randread"
queue_depth = 4
duration = "1500ms"
phase = 1
[[workloads]]
name = "late"
rw = "randread"
duration = "500ms"
start_delay = "700ms"
phase = 1
[[workloads]]
name = "log"
rw = "write"
io_size = "1MiB"
fsync = 16
phase = 1
[[workloads]]
name = "after"
rw = "randread"
duration = "300ms"
phase = 2
"#;

/// When a cell's only slot began and ended, in milliseconds.
fn span(record: &Value, cell: usize) -> (f64, f64) {
    let slots = record["cells"][cell]["slots"].as_array().unwrap();
    assert_eq!(slots.len(), 1, "{slots:?}");
    let [from, length] = ["from_ns", "elapsed_ns"].map(|name| slots[0][name].as_f64().unwrap() / 1e6);
    (from, from + length)
}

#[test]
fn cells_of_a_phase_run_at_the_same_time_and_phases_one_after_another() {
    let place = Place::new();
    fs::write(place.path("plan.toml"), PLAN).unwrap();
    let record = place.record("run --plan ROOT/plan.toml");
    let [readers, late, log, after] = [0, 1, 2, 3].map(|cell| span(&record, cell));
    assert!((readers.1 - readers.0 - 1500.0).abs() < 1.0 && (late.1 - late.0 - 500.0).abs() < 1.0, "{record}");
    assert!((log.0 - readers.0).abs() < 1.0, "they begin together: {} and {}", readers.0, log.0);
    assert!((late.0 - readers.0 - 700.0).abs() < 1.0, "the delay counts from there: {} and {}", readers.0, late.0);
    assert!(after.0 >= readers.1 && after.0 >= log.1, "{record}");
    let log = &record["cells"][2];
    // No write follows the last sixteen.
    assert_eq!((&log["write"]["bytes"], &log["sync"]["operations"]), (&Value::from(1 << 20), &Value::from(15)));
    assert_eq!((&log["phase"], &record["cells"][3]["phase"]), (&Value::from(1), &Value::from(2)));
    // The process as a whole is not the cell.
    assert!(log["cache"]["storage_reason"].as_str().unwrap().contains("at the same time"), "{}", log["cache"]);
    let user = |cell: usize| record["cells"][cell]["cpu"]["user_ns"].as_u64().unwrap();
    assert!(user(0) > user(1), "{} and {}", user(0), user(1));
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn a_phase_is_told_before_and_after() {
    let place = Place::new();
    fs::write(place.path("plan.toml"), PLAN).unwrap();
    let said = place.run("run --plan ROOT/plan.toml -v");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("phase         1, at the same time as the other cells of it"), "{}", said.stderr);
    assert!(said.stderr.contains("at least 1.80 s of measuring"), "{}", said.stderr);
    let together: Vec<&str> = said.stdout.lines().filter(|line| line.contains("ran at the same time")).collect();
    // Nobody knows whether the log is done before the late one begins.
    let told = together.concat();
    assert!(["readers", "late", "log"].iter().all(|name| told.contains(name)), "{}", said.stdout);
    assert!(!told.contains("after") && !told.contains("all workloads"), "{}", said.stdout);
}

#[test]
fn several_targets_can_be_loaded_at_the_same_time() {
    let place = Place::new();
    fs::create_dir(place.path("other")).unwrap();
    let flags = "--rw randread --size 16M --duration 400ms --ramp 0s --phase 1";
    let record = place.record(&format!("run DATA ROOT/other {flags}"));
    let [one, other] = [0, 1].map(|cell| span(&record, cell));
    assert!((one.0 - other.0).abs() < 1.0 && (one.1 - other.1).abs() < 1.0, "{one:?} {other:?}");
}

/// Writes that are verified beside reads that last two seconds longer, on a disk that does 300 of each a second.
const VERIFIED: &str = r#"
targets = ["disk"]
[defaults]
size = "2MiB"
block_size = "4KiB"
queue_depth = 16
ramp = "0s"
phase = 1
[[workloads]]
name = "verified"
rw = "randwrite"
verify = true
duration = "2s"
[[workloads]]
name = "readers"
rw = "randread"
duration = "4s"
"#;

#[test]
fn what_was_written_is_read_back_when_nobody_measures_any_more() {
    let place = Place::new();
    let Some(_disk) = CappedDisk::new(&place, "disk", 300) else { return };
    fs::write(place.path("plan.toml"), VERIFIED).unwrap();
    let record = place.record("run --plan ROOT/plan.toml");
    let [verified, readers] = [0, 1].map(|cell| span(&record, cell));
    assert!(verified.1 + 1500.0 < readers.1, "{verified:?} {readers:?}");
    let verification = &record["cells"][0]["verification"];
    assert!(verification["blocks_read_back"].as_u64().unwrap() > 100, "{verification}");
    let iops = record["cells"][1]["read"]["iops"].as_f64().unwrap();
    assert!(iops > 0.9 * 300.0, "{iops}");
}

#[test]
fn a_plan_in_which_only_some_workloads_have_a_phase_is_refused() {
    let place = Place::new();
    let (head, _) = PLAN.rsplit_once("phase = 2").unwrap();
    fs::write(place.path("plan.toml"), head).unwrap();
    let said = place.run("run --plan ROOT/plan.toml");
    assert!(said.error(2).contains("give all one"), "{}", said.stderr);
}

#[test]
fn workers_of_cells_that_run_together_have_processors_of_their_own() {
    let processors = thread::available_parallelism().unwrap().get();
    let place = Place::new();
    let workload = "[[workload]]\nrw = \"randread\"\nphase = 1\n";
    let plan = "targets = [\"data\"]\n[defaults]\nsize = \"8MiB\"\nduration = \"3s\"\npin = \"auto\"\n".to_owned();
    fs::write(place.path("plan.toml"), plan + workload + workload).unwrap();
    let mut run = place.command("run --plan ROOT/plan.toml --no-history");
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut seen = BTreeSet::new();
    // A worker is the only one that is kept on one processor.
    while run.try_wait().unwrap().is_none() && seen.len() < processors.min(2) {
        let tasks = fs::read_dir(format!("/proc/{}/task", run.id())).into_iter().flatten().flatten();
        let statuses = tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
        seen.extend(statuses.filter_map(|status| {
            let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned();
            list.parse::<u32>().ok()
        }));
        thread::sleep(Duration::from_millis(20));
    }
    run.wait().unwrap();
    assert_eq!(seen.len(), processors.min(2), "{seen:?}");
}
