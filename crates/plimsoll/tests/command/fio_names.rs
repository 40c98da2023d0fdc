//! Files that are created, statted or deleted: as fio counts them, and what becomes of them and of others.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    fio::{Both, fio},
    support::{Place, Said, names, skip},
};

const ENGINES: [&str; 3] = ["filecreate", "filestat", "filedelete"];

/// Names in the measured directory, but for markers.
fn files(place: &Place) -> Vec<String> {
    names(&place.data()).into_iter().filter(|name| !name.ends_with(".plimsoll")).collect()
}

/// What plimsoll makes of a job with this engine in the measured directory.
fn job(place: &Place, engine: &str, more: &[&str]) -> Said {
    let engine = format!("--ioengine={engine}");
    let arguments = ["--name=t", "--directory=data", "--output-format=json", &engine, "--filesize=4k"];
    fio(place, &[&arguments[..], more].concat())
}

#[test]
fn files_are_counted_as_fio_counts_them_and_the_same_ones_stay() {
    let place = Place::new();
    for engine in ENGINES {
        for (index, options) in [
            "filesize=4k",
            "filesize=4k\nnumjobs=2",
            "filesize=4k\nnumjobs=2\ngroup_reporting",
            "filesize=4k\nrw=write\nopenfiles=1",
            "filesize=4k\nrw=randread\ncreate_serialize=0",
            "filesize=10k",
            "filesize=16k\nopenfiles=5",
            "size=260k",
            "filesize=16k\nio_size=100k",
            "filesize=16k\nio_size=300k",
            "filesize=16k\nio_size=800k",
            "filesize=4k\nnumber_ios=20",
            "filesize=4k\nsize=100k",
            "filesize=4k\nunlink=1",
            "filesize=4k\ngtod_reduce=1",
            "filesize=4k\nrate_iops=1000",
            "filesize=4k\nfile_service_type=sequential",
            "filesize=4k\nfilename_format=x.$jobnum-$filenum",
        ]
        .into_iter()
        .enumerate()
        {
            let of_engine = match engine {
                "filecreate" => "create_on_open=1\nfallocate=none\nloops=2",
                "filestat" => "stat_type=lstat\nloops=2",
                // A file can be deleted once.
                _ => "",
            };
            let (global, options) = match options.strip_suffix("\ngroup_reporting") {
                Some(options) => ("group_reporting\n", options),
                None => ("", options),
            };
            let job = format!(
                "[global]\ndirectory=DIRECTORY\n{global}[t]\nioengine={engine}\nnrfiles=50\n{options}\n{of_engine}\n"
            );
            let Some(both) = Both::run(&place, &format!("{engine}{index}"), &job) else { return };
            both.check(&job);
            for [ours, theirs] in both.jobs(&job) {
                for direction in ["read", "write"] {
                    for latency in ["slat_ns", "clat_ns", "lat_ns"] {
                        let samples = |job: &serde_json::Value| job[direction][latency]["N"].clone();
                        assert_eq!(samples(ours), samples(theirs), "{latency} of {direction}\n{job}");
                    }
                }
            }
        }
    }
}

#[test]
fn files_can_be_created_statted_and_deleted_one_job_after_the_other() {
    let place = Place::new();
    let mut text = "[global]\ndirectory=data\nnrfiles=1000\nfilesize=4k\nfilename_format=f.$filenum\n".to_owned();
    for engine in ENGINES {
        text += &format!("[{engine}]\nioengine={engine}\nstonewall\n");
    }
    fs::write(place.path("job.fio"), text).unwrap();
    for _ in 0..2 {
        let said = fio(&place, &["--output-format=json", "job.fio"]);
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
        for job in said.json()["jobs"].as_array().unwrap() {
            assert_eq!((&job["error"], &job["read"]["total_ios"]), (&0.into(), &1000.into()), "{job}");
        }
        assert_eq!(place.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn files_that_a_job_left_are_created_anew_and_those_of_others_are_not_touched() {
    let place = Place::new();
    assert_eq!(job(&place, "filecreate", &["--nrfiles=200"]).code, Some(0));
    let inode = |name: &str| fs::metadata(place.data().join(name)).unwrap().ino();
    let first = inode("t.0.7");
    // Under another name it lives on, so that no other file gets its number.
    fs::hard_link(place.data().join("t.0.7"), place.path("other-name")).unwrap();
    assert_eq!(job(&place, "filecreate", &["--nrfiles=100"]).code, Some(0));
    assert_ne!(inode("t.0.7"), first);
    assert_eq!(files(&place).len(), 200);
    assert_eq!(job(&place, "filestat", &["--nrfiles=150"]).code, Some(0));
    assert_eq!(job(&place, "filedelete", &["--nrfiles=50"]).code, Some(0));
    assert_eq!(files(&place).len(), 150);
    fs::write(place.data().join("t.0.10"), "precious").unwrap();
    for engine in ["filecreate", "filedelete"] {
        let said = job(&place, engine, &["--nrfiles=200"]);
        assert_eq!((said.code, &said.json()["jobs"][0]["error"]), (Some(1), &22.into()));
        assert!(said.stderr.contains("t.0.10") && said.stderr.contains("did not make"), "{}", said.stderr);
    }
    assert_eq!(files(&place).len(), 151, "nothing was removed before all had been looked at");
    assert_eq!(job(&place, "filestat", &["--nrfiles=200"]).code, Some(0));
    assert_eq!(place.run("doctor --clean DATA").code, Some(0));
    assert_eq!(place.leftovers(), ["t.0.10"]);
    assert_eq!(fs::read(place.data().join("t.0.10")).unwrap(), b"precious");
}

#[test]
fn a_file_that_took_the_name_of_one_of_ours_stays() {
    let place = Place::new();
    assert_eq!(job(&place, "filecreate", &["--nrfiles=10"]).code, Some(0));
    // Empty as ours, but made later; and ours, but with something in it.
    fs::remove_file(place.data().join("t.0.3")).unwrap();
    thread::sleep(Duration::from_millis(20));
    fs::write(place.data().join("t.0.3"), "").unwrap();
    fs::write(place.data().join("t.0.4"), "precious").unwrap();
    assert_eq!(place.run("doctor --clean DATA").code, Some(0));
    assert_eq!(place.leftovers(), ["t.0.3", "t.0.4"]);
}

#[test]
fn after_kill_9_the_next_command_removes_the_files_and_nothing_else() {
    for (engine, delay_ms) in [("filecreate", 150), ("filecreate", 700), ("filestat", 300), ("filedelete", 500)] {
        let place = Place::new();
        fs::write(place.data().join("t.1.0"), "").unwrap();
        let mut command = place.command("fio --name=t --directory=data --filesize=4k --nrfiles=100000");
        command.args([format!("--ioengine={engine}"), "--rate_iops=20000".to_owned()]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(delay_ms));
        let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        child.wait().unwrap();
        place.run("history");
        assert_eq!(place.leftovers(), ["t.1.0"], "{engine} killed after {delay_ms} ms");
    }
}

#[test]
fn a_hundred_thousand_files_take_few_open_files_and_little_memory() {
    let place = Place::new();
    // Not on ext4, which looks for inodes that were not freed just now: several times the work.
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    for engine in ENGINES {
        let mut limited = Command::new("prlimit");
        let mut command = place.command("run --file-count 100000 --effort quick --operations 100000 --json");
        command.arg(memory.path());
        limited.args(["--nofile=64", "--as=600000000"]).arg(command.get_program()).args(command.get_args());
        limited.args(["--engine", engine]).env("XDG_STATE_HOME", place.path("state"));
        let Ok(output) = limited.output() else { return skip("prlimit is not installed") };
        let said = Said::of(output);
        assert_eq!(said.code, Some(0), "{engine}: {}", said.stderr);
        assert!(said.stdout.len() < 1_000_000, "names are not listed one by one");
        let cell = &said.json()["cells"][0];
        let direction = if engine == "filestat" { "read" } else { "write" };
        assert_eq!(cell[direction]["operations"], 100_000, "{engine}");
        assert_eq!((&cell["engine"], &cell[direction]["bytes"]), (&engine.into(), &0.into()));
        assert_eq!(names(memory.path()), Vec::<String>::new());
    }
}

#[test]
fn a_native_run_says_what_was_done_and_repeats_it() {
    let place = Place::new();
    for (engine, word) in ENGINES.into_iter().zip(["create", "stat", "delete"]) {
        let said = place.run(&format!(
            "run DATA --engine {engine} --file-count 300 --jobs 2 --files per-job --queue-depth 2 --passes 3 --operations 600"
        ));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let row = said.stdout.lines().find(|line| line.starts_with(&format!("{engine} 300"))).unwrap_or_default();
        assert!(row.split_whitespace().any(|field| field == word), "{}", said.stdout);
        assert!(said.stdout.contains("measured") && said.stdout.contains("in 3 slots"), "{}", said.stdout);
        assert_eq!(place.leftovers(), Vec::<String>::new());
    }
    let compared = place.run("compare latest~1 latest");
    assert_ne!(compared.code, Some(0), "to create files is not to delete them: {}", compared.stdout);
    let refused = place.run("run DATA --engine filecreate --block-size 4k");
    assert!(refused.error(2).contains("--block-size"), "{}", refused.stderr);
    let plan = place.run("run DATA --engine filestat --file-count 100 --size 400k --keep-files --operations 100 -v");
    assert_eq!(plan.code, Some(0), "{}", plan.stderr);
    let kept = place.data().join(&place.leftovers()[0]);
    let sizes = |directory: &Path| -> Vec<u64> {
        let data = names(directory).into_iter().filter(|name| name.starts_with("data-"));
        data.map(|name| fs::metadata(directory.join(name)).unwrap().len()).collect()
    };
    assert_eq!(sizes(&kept), [4096; 100]);
    assert_eq!(place.run("doctor --clean DATA").code, Some(0));
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn ordinary_jobs_may_have_as_many_files_as_the_process_may_open() {
    let place = Place::new();
    let run = |limit: &str| {
        let mut limited = Command::new("prlimit");
        let arguments = ["--name=t", "--directory=data", "--rw=write", "--size=4m", "--nrfiles=1000", "--unlink=1"];
        let command = place.command("fio");
        limited.arg(limit).arg(command.get_program()).args(command.get_args()).args(arguments);
        let limited = limited.env("XDG_STATE_HOME", place.path("state")).current_dir(place.path(""));
        limited.stdin(Stdio::null()).output().map(Said::of)
    };
    let Ok(said) = run("--nofile=256:8192") else { return skip("prlimit is not installed") };
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let said = run("--nofile=256:256").unwrap();
    assert!(said.code == Some(1) && said.stderr.contains("may have 256"), "{}", said.stderr);
    assert_eq!(place.leftovers(), Vec::<String>::new());
}
