//! Presets of applications, with the real ones.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    thread,
};

use serde_json::Value;

use crate::{
    applications::{Desk, iterations},
    capped_disk::CappedDisk,
    support::{Place, is_root, skip},
};

/// Whether the programs of a package are there, for root, who gives them to another user.
fn has(program: &str, package: &str) -> bool {
    let is_there = Path::new(program).exists();
    if !is_root() || !is_there {
        skip(&format!("the presets of {package} need root here, and the package {package}"));
        return false;
    }
    true
}

/// A place that the unprivileged user of servers can get to.
fn open_desk() -> Desk {
    let desk = Desk::new();
    for path in [&desk.place.path(""), desk.elsewhere.path(), &desk.place.data()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    desk
}

#[test]
fn a_database_is_restored_on_a_target_and_nothing_of_it_stays() {
    if !has("/usr/lib/postgresql", "postgresql") {
        return;
    }
    let desk = open_desk();
    let said = desk.run(&["DATA", "--preset", "pg-restore", "--effort", "quick"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let record = desk.record();
    let cell = &record["cells"][0];
    assert_eq!(cell["application"]["elapsed_ns"]["count"], 3, "{}", said.stdout);
    for iteration in iterations(cell) {
        assert!(iteration["server_user_ns"].as_u64() > Some(10_000_000), "the server's work is counted: {iteration}");
        // What a process of the server wrote between the last look at it and its end is not known.
        assert!(iteration["written_bytes"].as_u64() > Some(1_000_000), "{iteration}");
    }
    desk.assert_only(&[]);
    // Who may not get to the target is told so, or to where temporary files go.
    for (closed, way_out) in [(desk.elsewhere.path(), "set TMPDIR"), (&desk.place.data(), "chmod o+x")] {
        fs::set_permissions(closed, fs::Permissions::from_mode(0o700)).unwrap();
        let said = desk.run(&["DATA", "--preset", "pg-restore", "--effort", "quick"]);
        let error = said.error(5);
        assert!(error.contains("nobody (--user) cannot enter") && error.contains(way_out), "{error}");
        desk.assert_only(&[]);
        fs::set_permissions(closed, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Transactions wait for the disk, so that they show its limit, in turns on both.
#[test]
fn transactions_follow_the_limit_of_the_disk() {
    if !has("/usr/lib/postgresql", "postgresql") {
        return;
    }
    let desk = open_desk();
    let (Some(_fast), Some(_slow)) =
        (CappedDisk::new(&desk.place, "fast", 7500), CappedDisk::new(&desk.place, "slow", 120))
    else {
        return;
    };
    let said = desk.run(&["fast", "slow", "--preset", "pgbench", "--effort", "quick"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let record = desk.record();
    let cells = record["cells"].as_array().unwrap();
    let names: Vec<&str> = cells.iter().map(|cell| cell["workload"].as_str().unwrap()).collect();
    assert_eq!(names, ["pgbench", "pgbench-read", "pgbench", "pgbench-read"]);
    let mean = |cell: usize| cells[cell]["application"]["rate"]["spread"]["mean"].as_f64().unwrap();
    // The disk below both may be slower than the larger limit. What is only read is read from it as well.
    assert!(mean(0) / mean(2) > 2.5 && mean(1) / mean(3) > 2.5, "{}", said.stdout);
    for slow in &cells[2..] {
        assert_eq!(slow["application"]["bound_by"], "io-bound", "{}", said.stdout);
    }
    let sentence = said.stdout.lines().find(|line| line.starts_with("pgbench  ") && line.contains("B is")).unwrap();
    assert!(sentence.ends_with("slower"), "{sentence}");
}

/// The rate that a cell of this name told, and its unit.
fn rate(record: &Value, name: &str) -> (f64, String) {
    let cell = record["cells"].as_array().unwrap().iter().find(|cell| cell["workload"] == name).unwrap();
    let rate = &cell["application"]["rate"];
    (rate["spread"]["mean"].as_f64().unwrap(), rate["unit"].as_str().unwrap().to_owned())
}

#[test]
fn programs_that_are_brought_along_need_nothing_to_be_installed() {
    let desk = Desk::new();
    let flags = ["--effort", "quick", "--iterations", "2", "--warmup", "0"];
    let said = desk.run(&[["DATA", "--preset", "sqlite,log-append,tsdb"].as_slice(), &flags].concat());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let record = desk.record();
    for (name, unit) in [("sqlite-wal", "/s"), ("sqlite-rollback", "/s"), ("log-append", "MB/s"), ("tsdb", "MB/s")] {
        let (value, told) = rate(&record, name);
        assert!(value > 0.0 && told == unit, "{name}: {value} {told}");
    }
    // A rate in bytes is no IOPS, and each line says what it counts.
    let line = said.stdout.lines().find(|line| line.starts_with("tsdb ")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!((words[1], words[2]), ("run", "-"), "{line}");
    assert!(words[3].replace(',', "").parse::<f64>().is_ok_and(|rate| rate > 1.0), "{line}");
    assert!(said.stdout.contains(" commits/s\n") && said.stdout.contains(" MB/s\n"), "{}", said.stdout);
    desk.assert_only(&[]);
}

#[test]
fn a_program_leaves_files_that_are_there_as_they_are() {
    let place = Place::new();
    let precious = place.data().join("precious");
    fs::write(&precious, "mine").unwrap();
    let file = precious.display();
    for arguments in [
        format!("program sqlite-commit {file}"),
        format!("program sqlite-load {file}"),
        format!("program sqlite-check {file}"),
        format!("program sqlite-vacuum {file}"),
        format!("program sqlite-load {file}.db --figures {file}"),
        format!("program log {file}"),
        format!("program tsdb {file}"),
    ] {
        let said = place.run(&arguments);
        assert!(said.error(5).contains("precious"), "{}", said.stderr);
        assert_eq!(fs::read(&precious).unwrap(), b"mine");
    }
    for (flags, what) in [
        ("--segment 1k", "--segment has to be at least as long as --batch"),
        ("--partitions 4000000000", "--partitions is 1 to 1024"),
        ("--batch 1TiB --segment 1TiB --amount 8TiB", "--batch is 21 bytes"),
        ("--time 0", "--time more than nothing"),
    ] {
        let said = place.run(&format!("program log {} {flags}", place.data().display()));
        assert!(said.error(2).contains(what), "{}", said.stderr);
    }
    assert_eq!(place.leftovers(), ["precious"]);
}

#[test]
fn etcd_tells_how_much_it_takes() {
    if !has("/usr/bin/etcd", "etcd-server") {
        return;
    }
    let desk = open_desk();
    let said = desk.run(&["DATA", "--preset", "etcd", "--effort", "quick", "--iterations", "1", "--warmup", "0"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let record = desk.record();
    let (value, unit) = rate(&record, "etcd");
    assert!(value > 1.0 && unit == "/s", "{value} {unit}");
    let iteration = &iterations(&record["cells"][0])[0];
    let figures = iteration["figures"].as_array().unwrap();
    assert!(figures.iter().any(|figure| figure["name"] == "wal_fsync_p99_at_most"), "{iteration}");
    assert!(iteration["server_user_ns"].as_u64() > Some(10_000_000), "{iteration}");
    desk.assert_only(&[]);
}

#[test]
fn redis_tells_how_much_it_takes() {
    if !has("/usr/bin/redis-server", "redis") {
        return;
    }
    let desk = open_desk();
    let said = desk.run(&["DATA", "--preset", "redis-aof", "--effort", "quick", "--iterations", "1", "--warmup", "0"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(rate(&desk.record(), "redis-aof").0 > 1.0);
    desk.assert_only(&[]);
}

#[test]
fn mariadb_tells_how_many_transactions_it_takes_and_imports_a_dump() {
    if !has("/usr/sbin/mariadbd", "mariadb-server") || !has("/usr/bin/sysbench", "sysbench") {
        return;
    }
    let desk = open_desk();
    let said = desk.run(&["DATA", "--preset", "mysql", "--effort", "quick", "--iterations", "1", "--warmup", "0"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let record = desk.record();
    let (value, unit) = rate(&record, "mysql");
    assert!(value > 1.0 && unit == "/s", "{value} {unit}");
    let import = &record["cells"][1];
    assert_eq!(
        (&import["workload"], &import["application"]["elapsed_ns"]["count"]),
        (&"mysql-import".into(), &1.into())
    );
    assert!(iterations(import)[0]["server_user_ns"].as_u64() > Some(1_000_000), "{import}");
    desk.assert_only(&[]);
}

#[test]
fn a_server_that_cannot_begin_is_not_waited_for_and_says_why() {
    if !has("/usr/bin/redis-server", "redis") || !has("/usr/bin/etcd", "etcd-server") {
        return;
    }
    let desk = open_desk();
    let Some(_full) = CappedDisk::new(&desk.place, "full", 100_000) else { return };
    let filled = fs::File::create(desk.place.path("full/filler")).and_then(|mut file| {
        let block = vec![1_u8; 1 << 20];
        (0..1024).try_for_each(|_| file.write_all(&block))
    });
    assert!(filled.is_err_and(|error| error.kind() == std::io::ErrorKind::StorageFull));
    for preset in ["redis-aof", "etcd"] {
        let said = desk.run(&["full", "--preset", preset, "--effort", "quick"]);
        let error = said.error(5);
        assert!(error.contains("setup failed") && error.to_lowercase().contains("no space left"), "{error}");
    }
}

/// The library that `cargo xtask setup` fetches.
fn library() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/lucene/lucene-core-9.12.1.jar");
    path.exists().then_some(path)
}

#[test]
fn lucene_indexes_and_searches_once_it_was_installed() {
    let (Some(library), true) = (library(), Path::new("/usr/bin/javac").exists()) else {
        return skip("Lucene needs Java, and the library that \"cargo xtask setup\" fetches");
    };
    let desk = Desk::new();
    let run = |flags: &[&str]| {
        let words = [&["DATA", "--preset", "lucene", "--effort", "quick", "--iterations", "1"], flags].concat();
        let mut command = desk.command(&words);
        crate::support::Said::of(command.env("XDG_DATA_HOME", desk.place.path("share")).output().unwrap())
    };
    let said = run(&[]);
    assert!(said.error(5).contains("fetch it from Maven Central with \"plimsoll presets install lucene\""));
    let install = format!("presets install lucene --from {}", library.display());
    let mut install = desk.place.command(&install);
    assert!(install.env("XDG_DATA_HOME", desk.place.path("share")).status().unwrap().success());
    let said = run(&["--warmup", "0"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let record = desk.record();
    assert!(rate(&record, "lucene-index").0 > 1.0 && rate(&record, "lucene-search").0 > 1.0);
    desk.assert_only(&[]);
}

/// A server on loopback that gives one answer to each who asks.
fn answering(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn what_is_fetched_is_what_it_should_be_or_is_not_there() {
    let place = Place::new();
    let file = place.path("other.jar");
    fs::write(&file, "something else").unwrap();
    let other = answering("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmore");
    let absent = answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    for (from, code, what) in [
        (file.to_str().unwrap(), 2, "is not lucene-core-9.12.1.jar: its SHA-256 is"),
        (&other, 2, "org/apache/lucene/lucene-core/9.12.1/lucene-core-9.12.1.jar is not"),
        (&absent, 6, "404"),
        ("http://127.0.0.1:1", 6, "with --from"),
        ("absent.jar", 2, "read absent.jar"),
    ] {
        let mut command = place.command(&format!("presets install lucene --from {from}"));
        let said = crate::support::Said::of(command.env("XDG_DATA_HOME", place.path("share")).output().unwrap());
        assert!(said.error(code).contains(what), "{}", said.stderr);
        assert!(!place.path("share").exists(), "{from}");
    }
    let said = place.run("presets install pgbench");
    assert!(said.error(2).contains("pgbench needs nothing that has to be fetched"), "{}", said.stderr);
}
