//! The history: where it is, what it says, and what it says when it cannot be reached.

use std::{
    fs::{self, File, Permissions},
    io::Read,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use serde_json::Value;

use crate::support::{Mounted, Place, Said, is_root, names};

const TINY: &str = "run DATA --rw randread --size 4M --operations 100";

fn warnings(said: &Said) -> usize {
    // Those about the numbers stand below the table.
    said.stderr.matches("warning: ").count()
}

#[test]
fn a_history_that_does_not_exist_yet_has_no_runs() {
    let place = Place::new();
    let said = place.run("history");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert!(said.stdout.contains("no runs yet"), "{}", said.stdout);
    // One that is named should be there.
    for command in ["history", "show latest", "export", "remove latest", "baseline list", "compare a b"] {
        let said = place.run(&format!("{command} --history ROOT/later/my.db"));
        let error = said.error(7);
        assert!(error.contains("there is no history") && error.contains("my.db"), "{command}: {error}");
    }
    assert!(!place.path("later").exists() && !place.path("state").exists());
}

#[test]
fn a_state_directory_that_cannot_be_used_is_one_warning_and_the_run_goes_on() {
    let place = Place::new();
    fs::write(place.path("file"), "").unwrap();
    for state in ["file", "file/state"] {
        let run = |arguments: &str| {
            Said::of(place.command(arguments).env("XDG_STATE_HOME", place.path(state)).output().unwrap())
        };
        let said = run(TINY);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert_eq!(warnings(&said), 1, "{}{}", said.stderr, said.stdout);
        assert!(said.stderr.contains("state directory") && said.stderr.contains("not kept"), "{}", said.stderr);
        assert!(said.stdout.contains("randread"), "{}", said.stdout);
        let said = run(&format!("{TINY} --history ROOT/my.db"));
        assert_eq!((said.code, warnings(&said)), (Some(0), 1), "{}", said.stderr);
        assert!(!said.stderr.contains("not kept in"), "{}", said.stderr);
        let said = run("history --history ROOT/my.db --json");
        assert_eq!(said.json().as_array().unwrap().len(), 1, "the history named is kept all the same");
        fs::remove_file(place.path("my.db")).unwrap();
    }
}

#[test]
fn a_history_that_cannot_be_reached_or_made_is_no_empty_history() {
    let place = Place::new();
    fs::write(place.path("file"), "").unwrap();
    for command in ["history", "show", "export", "remove latest", "baseline list", "baseline set x"] {
        for history in ["/proc/x", "ROOT/file/my.db", "ROOT/data"] {
            let said = place.run(&format!("{command} --history {history}"));
            let error = said.error(7).to_owned();
            assert!(error.contains("history ") || error.contains("directory "), "{error}");
            assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
        }
        let said = Said::of(place.command(command).env("XDG_STATE_HOME", place.path("file")).output().unwrap());
        said.error(7);
        assert_eq!(said.stderr.lines().count(), 1, "{command}: {}", said.stderr);
    }
}

#[test]
fn what_cannot_be_the_history_that_is_named_is_told_before_anything_is_measured() {
    let place = Place::new();
    fs::write(place.path("file"), "").unwrap();
    symlink("data", place.path("link")).unwrap();
    fs::write(place.path("plan.toml"), "[run]\npasses = 2\n").unwrap();
    let fio = "fio --name=x --directory=DATA --rw=read --bs=4k --size=4k";
    let slips = ["ROOT/data", "ROOT/link", "ROOT/file/my.db", "/proc/x", "/dev/null"].map(|path| (path, 2));
    for (history, code) in slips.into_iter().chain([("ROOT/plan.toml", 7)]) {
        for command in [TINY, "kubernetes run --storage-class x"] {
            let said = place.run(&format!("{command} --history {history}"));
            let error = said.error(code);
            assert!(error.contains("history ") && error.contains("--history"), "{command}: {error}");
            assert_eq!(warnings(&said), 0, "{command}: {}", said.stderr);
        }
        let said = place.run(&format!("--history {history} {fio}"));
        assert_eq!(said.code, Some(1), "{}", said.stderr);
        assert!(said.stderr.contains("history ") && said.stdout.contains("not run"), "{}{}", said.stderr, said.stdout);
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
    // Nothing waits for a history that never comes.
    let said = place.run(&format!("{TINY} --history ROOT/is/made/mine.db"));
    assert_eq!((said.code, warnings(&said)), (Some(0), 0), "{}", said.stderr);
    let said = place.run(TINY);
    assert_eq!((said.code, warnings(&said)), (Some(0), 0), "{}", said.stderr);
}

#[test]
fn lists_fit_narrow_terminals() {
    let place = Place::new();
    place.record(&format!("{TINY} --name a-name-of-some-length"));
    for (columns, arguments) in [("60", "history"), ("40", "history"), ("40", "presets")] {
        let said = Said::of(place.command(arguments).env("COLUMNS", columns).output().unwrap());
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let width = said.stdout.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(width <= columns.parse().unwrap(), "{arguments} at {columns}:\n{}", said.stdout);
    }
}

#[test]
fn a_file_that_an_export_overwrites_is_the_old_one_or_the_new_one_whole() {
    let place = Place::new();
    place.record(TINY);
    let said = place.run("export --output -");
    assert!(said.stdout.starts_with('['), "{}", said.stdout);
    let file = place.path("out.json");
    symlink("out.json", place.path("link.json")).unwrap();
    fs::write(&file, "before").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    let said = place.run("export --output ROOT/out.json");
    assert!(said.error(2).contains("--force"), "{}", said.stderr);
    let mut reader = File::open(&file).unwrap();
    let said = place.run("export --output ROOT/link.json --force");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    assert_eq!(read, "before", "the file that was open is left as it was");
    let exported: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(exported.as_array().unwrap().len(), 1);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(place.path("link.json").is_symlink());
    let left: Vec<_> = names(&place.path("")).into_iter().filter(|name| name.contains("out.json")).collect();
    assert_eq!(left, ["out.json"]);
    // What is no file is written to, not replaced.
    assert_eq!(place.run("export --output /dev/null --force").code, Some(0));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_record_that_cannot_be_read_is_told_and_hides_no_other() {
    let place = Place::new();
    let ids = [1, 2].map(|_| place.record(TINY)["id"].as_str().unwrap().to_owned());
    let history = rusqlite::Connection::open(place.path("state/plimsoll/history.db")).unwrap();
    let update =
        "UPDATE runs SET record = substr(record, 1, 100) WHERE started_ns = (SELECT min(started_ns) FROM runs)";
    assert_eq!(history.execute(update, []).unwrap(), 1);
    drop(history);
    for format in ["json", "ndjson", "csv"] {
        for said in [
            place.run(&format!("export --format {format}")),
            place.run(&format!("export --format {format} --force --output ROOT/all")),
        ] {
            assert_eq!(said.code, Some(7), "{}", said.stderr);
            let left_out = said.stderr.matches(&format!("left out: the record of run {}", ids[0])).count();
            assert_eq!(left_out, 1, "{}", said.stderr);
        }
        let (answer, file) =
            (place.run(&format!("export --format {format}")).stdout, fs::read_to_string(place.path("all")).unwrap());
        assert!(answer == file && answer.contains(&ids[1]) && !answer.contains(&ids[0]), "{answer}");
    }
    let array: Value = serde_json::from_str(&place.run("export").stdout).unwrap();
    assert_eq!(array.as_array().unwrap().len(), 1);
    assert!(place.run(&format!("export {}", ids[0])).error(7).contains("plimsoll remove"));
}

#[test]
fn what_cannot_be_written_is_an_error_of_writing_wherever_it_goes() {
    let place = Place::new();
    place.record(TINY);
    for command in ["export --output /dev/full", "report latest --format json -o /dev/full"] {
        let said = place.run(command);
        assert!(said.error(5).contains("/dev/full: the file could not be written"), "{command}: {}", said.stderr);
    }
    for command in ["export", "report latest --format json -o -", "history"] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let said = Said::of(place.command(command).stdout(full).output().unwrap());
        assert!(said.error(5).contains("No space left"), "{command}: {}", said.stderr);
    }
}

#[test]
fn doctor_says_when_no_run_can_be_kept() {
    let place = Place::new();
    let doctor = |state: &Path, flags: &str| {
        Said::of(place.command(&format!("doctor {flags}")).env("XDG_STATE_HOME", state).output().unwrap())
    };
    assert!(!doctor(&place.path("state"), "").stdout.contains("not kept"));
    assert!(!place.path("state").exists(), "to look is not to make");
    let said = doctor(Path::new("/proc/state"), "");
    assert!(said.stdout.contains("-> runs are not kept: history /proc/state"), "{}", said.stdout);
    if !is_root() {
        return;
    }
    let mounted = Mounted::ext4(&place, 64 << 20);
    let state = mounted.point.join("state");
    let run = place.command(TINY).env("XDG_STATE_HOME", &state).output().unwrap();
    assert!(run.status.success());
    mounted.make_read_only();
    let advice = doctor(&state, "--json").json()["advice"].clone();
    let about_history: Vec<_> = advice.as_array().unwrap().iter().filter(|one| one["about"] == "history").collect();
    assert_eq!(about_history.len(), 1, "{advice}");
    assert!(about_history[0]["text"].as_str().unwrap().contains("Read-only file system"), "{advice}");
}

#[test]
fn where_there_is_no_place_for_a_history_it_is_said_that_nothing_is_kept() {
    let place = Place::new();
    fs::write(place.path("told.txt"), "real 0m1.5s\nuser 0m0.2s\nsys 0m0.1s\n").unwrap();
    let run = |arguments: &str| {
        Said::of(place.command(arguments).env_remove("HOME").env_remove("XDG_STATE_HOME").output().unwrap())
    };
    for command in [TINY, "import ROOT/told.txt"] {
        let said = run(command);
        assert_eq!((said.code, warnings(&said)), (Some(0), 1), "{command}: {}", said.stderr);
        assert!(said.stderr.contains("nothing is kept") && said.stderr.contains("--history"), "{}", said.stderr);
        for flags in ["--no-history", "--history ROOT/named.db"] {
            let said = run(&format!("{command} {flags}"));
            assert_eq!((said.code, warnings(&said)), (Some(0), 0), "{command} {flags}: {}", said.stderr);
        }
    }
    assert_eq!(warnings(&run("presets")), 0);
}
