//! Options of fio's job files, each done by fio and by plimsoll: what can be seen of it is the same, and nothing is
//! noted about it where the table says that it is honoured.

mod table;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, iter,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use plimsoll_io::clock::{Clock as _, MonotonicClock};
use serde_json::Value;

use self::table::{ROWS, Row, Same};
use crate::support::{LoopDevice, Place, Said, has, is_root};

/// Bytes that are looked at together.
const BLOCK: usize = 4096;

/// What a program made of a job.
struct Done {
    code: Option<i32>,
    report: Value,
    files: BTreeMap<String, Vec<u8>>,
    took_ms: u64,
}

/// Runs a program in a directory of its own, first with what is to be there before.
fn done(program: &mut dyn FnMut() -> Command, directory: &Path, row: &Row) -> Done {
    let data = directory.join("data");
    fs::create_dir_all(&data).unwrap();
    let file = directory.join("job.fio");
    let mut run = |job: &str| {
        fs::write(&file, job.replace("DIRECTORY", data.to_str().unwrap())).unwrap();
        let begin_ns = MonotonicClock.now_ns();
        let mut command = program();
        command.args(["--output-format=json", "--eta=never", "job.fio"]).current_dir(directory).stdin(Stdio::null());
        (command.output().unwrap(), (MonotonicClock.now_ns() - begin_ns) / 1_000_000)
    };
    if !row.before.is_empty() {
        let (output, _) = run(row.before);
        assert!(output.status.success(), "before {}: {}", row.option, String::from_utf8_lossy(&output.stderr));
    }
    let (output, took_ms) = run(row.job);
    let text = String::from_utf8(output.stdout).unwrap();
    // What fio says of errors stands before its report.
    let report = text.find("{\n").and_then(|begin| serde_json::from_str(&text[begin..]).ok()).unwrap_or_default();
    let entries = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_none_or(|extension| extension != "plimsoll"));
    let named = |path: PathBuf| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap());
    Done { code: output.status.code(), report, files: files.map(named).collect(), took_ms }
}

impl Done {
    fn jobs(&self) -> &[Value] {
        self.report["jobs"].as_array().map_or(&[], Vec::as_slice)
    }

    /// A number of each job and direction.
    fn numbers(&self, directions: &[&str], what: &str) -> Vec<u64> {
        let of = |job: &Value| directions.iter().map(|name| job[name][what].as_u64().unwrap_or(0)).collect::<Vec<_>>();
        self.jobs().iter().flat_map(of).collect()
    }

    /// What is compared, as text.
    fn seen(&self, same: Same) -> String {
        match same {
            Same::Counts => {
                let [operations, bytes] = ["total_ios", "io_bytes"].map(|what| self.numbers(&["read", "write"], what));
                format!("{operations:?} operations, {bytes:?} bytes")
            }
            Same::Bytes => format!("{:?}", self.numbers(&["read", "write"], "io_bytes")),
            Same::Syncs => format!("{:?}", self.numbers(&["sync"], "total_ios")),
            Same::Names => format!("{:?}", self.files.keys()),
            Same::Sizes => {
                let sizes: Vec<_> = self.files.iter().map(|(name, content)| (name, content.len())).collect();
                format!("{sizes:?}")
            }
            Same::Blocks => {
                let is_written = |block: &[u8]| block.iter().any(|byte| *byte != 0);
                let written = |content: &[u8]| {
                    let blocks = content.chunks(BLOCK).enumerate().filter(|(_, block)| is_written(block));
                    blocks.map(|(number, _)| number).collect::<Vec<_>>()
                };
                let all: Vec<_> = self.files.iter().map(|(name, content)| (name, written(content))).collect();
                format!("{all:?}")
            }
            Same::Content => format!("{:?}", self.files),
            Same::Different => {
                let different = |content: &Vec<u8>| content.chunks(BLOCK).collect::<BTreeSet<_>>().len();
                format!("{:?}", self.files.values().map(different).collect::<Vec<_>>())
            }
            Same::Jobs => {
                let of =
                    |job: &Value| (job["jobname"].to_string(), job["groupid"].to_string(), job["desc"].to_string());
                format!("{:?}", self.jobs().iter().map(of).collect::<Vec<_>>())
            }
            Same::Keys(pointer) => {
                let keys = |value: &Value| match value {
                    Value::Object(members) => members.keys().cloned().collect::<Vec<_>>().join(" "),
                    other => other.to_string(),
                };
                format!("{:?}", self.report.pointer(pointer).map(keys))
            }
            Same::Millisecond(_) | Same::Takes(_) => String::new(),
        }
    }

    /// The longest time that any direction of a job took.
    fn milliseconds(&self) -> u64 {
        self.numbers(&["read", "write"], "runtime").into_iter().max().unwrap_or(0)
    }
}

/// What differs between what both programs made of a row.
fn differences(row: &Row, ours: &Done, theirs: &Done) -> Vec<String> {
    let mut differences = Vec::new();
    if ours.code != theirs.code {
        differences.push(format!("exit codes {:?} and {:?}", ours.code, theirs.code));
    }
    for same in row.same {
        let [our_part, their_part] = [ours, theirs].map(|done| done.seen(*same));
        if our_part != their_part {
            differences.push(format!("{same:?}: {our_part} and {their_part}"));
        }
        for (who, done) in [("plimsoll", ours), ("fio", theirs)] {
            let (took, measured) = (done.took_ms, done.milliseconds());
            let is_right = match *same {
                Same::Millisecond(expected) => measured.abs_diff(expected) <= 25 + expected / 5,
                Same::Takes([least, most]) => (least..most).contains(&took),
                _ => true,
            };
            if !is_right {
                differences.push(format!("{same:?}: {who} took {took} ms in all, and measured {measured} ms"));
            }
        }
    }
    let notes = ours.report["plimsoll"]["notes"].to_string();
    let is_noted = notes.contains(&format!("{} is ", row.option)) || notes.contains(&format!(": {}", row.option));
    if is_noted != row.is_noted {
        differences.push(format!("notes: {notes}"));
    }
    differences
}

/// fio sleeps for ever when it had to wait for a processor in a pause for longer than the pause is.
fn fio() -> Command {
    let mut command = Command::new("timeout");
    command.args(["60", "fio"]);
    command
}

#[test]
fn options_do_what_they_do_in_fio() {
    if !has(&["fio"]) {
        return;
    }
    let (place, next) = (Place::new(), AtomicUsize::new(0));
    let check = |index: usize, turn: &str| {
        let directory = |who: &str| place.path(&format!("{index}-{turn}-{who}"));
        let theirs = done(&mut fio, &directory("theirs"), &ROWS[index]);
        let ours = done(&mut || place.command("fio"), &directory("ours"), &ROWS[index]);
        differences(&ROWS[index], &ours, &theirs)
    };
    let check_rows = || {
        let rows = iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|index| *index < ROWS.len());
        rows.filter(|index| !check(*index, "beside").is_empty()).collect::<Vec<_>>()
    };
    // Most of the time is waited, so that a few rows can be done at once.
    let different: Vec<_> = thread::scope(|scope| {
        let checking: Vec<_> = (0..6).map(|_| scope.spawn(check_rows)).collect();
        checking.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    // Either program may have waited for a processor: what differs does so alone too.
    let wrong = different.into_iter().filter_map(|index| {
        let (row, differences) = (&ROWS[index], check(index, "alone").join("\n  "));
        (!differences.is_empty()).then(|| format!("{}, plimsoll and fio:\n  {differences}\n{}", row.option, row.job))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errors_that_a_job_is_to_go_on_after_are_no_failure() {
    if !is_root() {
        return;
    }
    let (place, device) = (Place::new(), LoopDevice::new(1 << 20));
    // What is behind the end of the file cannot be read.
    fs::File::options().write(true).open(&device.backing).unwrap().set_len(512 << 10).unwrap();
    for (option, code) in [
        ("continue_on_error=none", 1),
        ("continue_on_error=write", 1),
        ("continue_on_error=read", 0),
        ("continue_on_error=all", 0),
        ("ignore_error=EIO", 0),
    ] {
        let job = format!("--name=a --filename={} --rw=read --bs=64k --direct=1 --{option}", device.name());
        let with = |mut command: Command| {
            command.args(job.split(' ')).args(["--output-format=json"]).stdin(Stdio::null());
            command.output()
        };
        let ours = Said::of(with(place.command("fio")).unwrap());
        assert_eq!(ours.code, Some(code), "{option}: {}", ours.stdout);
        let job = &ours.json()["jobs"][0];
        assert_eq!((&job["error"], &job["read"]["total_ios"]), (&Value::from(5), &Value::from(8)), "{option}");
        if code == 0 && option.starts_with("continue") {
            assert_eq!(job["total_err"], 8, "{option}: as many as blocks that could not be read");
        }
        if let Ok(theirs) = with(Command::new("fio")) {
            assert_eq!(theirs.status.code(), Some(code), "{option}");
        }
    }
}
