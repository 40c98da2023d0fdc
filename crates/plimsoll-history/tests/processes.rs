//! Several processes with one history, and processes that are killed: the promises that need processes of their own.
//!
//! The other process is this test binary again, asked for the one test [`a_child_process_runs`]. It knows that it is a
//! child by a file in its working directory.

#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that is not as it must be")]

use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
};

use plimsoll_history::{
    history::History,
    journal::{self, Journal},
    summary::Filter,
};
use plimsoll_record::{
    builder::RecordBuilder,
    record::{Outcome, Record},
};

#[path = "../src/test_records.rs"]
mod test_records;

/// Holds the number of the child's first run and the count of its runs.
const TASK: &str = "task.json";

/// The child writes one after each event, for the parent to know how far it is. No output of a test contains it.
const STEP: u8 = 1;

/// A child that does not outlive its test.
struct Running(Child);

impl Running {
    fn start(directory: &Path, first: u32, count: u32) -> Self {
        let place = directory.join(first.to_string());
        fs::create_dir(&place).unwrap();
        fs::write(place.join(TASK), serde_json::to_string(&(first, count)).unwrap()).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["a_child_process_runs", "--exact", "--nocapture"]).current_dir(place);
        Self(command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap())
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

fn state_directory(directory: &Path) -> PathBuf {
    directory.join("state")
}

fn history_file(directory: &Path) -> PathBuf {
    state_directory(directory).join("history.db")
}

/// In a child: journals and saves runs one after the other, as `plimsoll run` does. Otherwise nothing.
#[test]
fn a_child_process_runs() {
    let Ok(task) = fs::read_to_string(TASK) else { return };
    let (first, count): (u32, u32) = serde_json::from_str(&task).unwrap();
    let directory = Path::new("..");
    let step = || {
        let mut out = io::stdout().lock();
        out.write_all(&[STEP]).and_then(|()| out.flush()).unwrap();
    };
    for number in first..first + count {
        let (started, events) = test_records::events(number);
        let mut builder = RecordBuilder::new(started.clone());
        let mut journal = Journal::create(&state_directory(directory), &history_file(directory), &started).unwrap();
        step();
        for event in &events {
            journal.append(event).unwrap();
            builder.apply(event);
            step();
        }
        History::open(&history_file(directory)).unwrap().save(&builder.finish()).unwrap();
        step();
        journal.finish().unwrap();
        step();
    }
}

/// Reads until the child has done so many steps, or has ended.
fn wait_for_steps(out: &mut ChildStdout, steps: u32) {
    let mut left = steps;
    let mut byte = [0];
    while left > 0 && out.read(&mut byte).unwrap() > 0 {
        left -= u32::from(byte[0] == STEP);
    }
}

#[test]
fn four_processes_save_at_once_while_another_lists_and_recovers() {
    const PROCESSES: u32 = 4;
    const RUNS: u32 = 25;
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let mut children: Vec<_> = (0..PROCESSES).map(|child| Running::start(directory, child * 100, RUNS)).collect();
    // Somebody must empty the pipes of the steps.
    let drains: Vec<_> = children
        .iter_mut()
        .map(|child| child.0.stdout.take().unwrap())
        .map(|mut out| std::thread::spawn(move || io::copy(&mut out, &mut io::sink())))
        .collect();
    let mut seen = 0;
    let mut lists = 0;
    while children.iter_mut().any(|child| child.0.try_wait().unwrap().is_none()) {
        let history = History::open(&history_file(directory)).unwrap();
        let runs = history.list(&Filter::default()).unwrap();
        assert!(runs.len() >= seen, "a list never gets shorter");
        assert!(runs.iter().all(|run| run.cells.len() == 2 && run.tags.len() == 2), "no run is listed in part");
        if let Some(run) = runs.first() {
            assert_eq!(history.get(run.id).unwrap().outcome, Outcome::Failed);
        }
        let recovered = journal::recover(&state_directory(directory));
        assert!(recovered.problems.is_empty(), "{:?}", recovered.problems);
        let recovered: Vec<_> = recovered.runs.into_iter().map(|recovered| recovered.run).collect();
        assert!(recovered.is_empty(), "the journals of living processes were taken");
        seen = runs.len();
        lists += 1;
    }
    assert!(children.iter_mut().map(|child| child.0.wait().unwrap()).all(|status| ExitStatus::success(&status)));
    drains.into_iter().for_each(|drain| {
        drain.join().unwrap().unwrap();
    });
    let history = History::read(&history_file(directory)).unwrap();
    assert_eq!(history.list(&Filter::default()).unwrap().len(), (PROCESSES * RUNS) as usize);
    for child in 0..PROCESSES {
        for number in child * 100..child * 100 + RUNS {
            assert!(history.get(test_records::id(number)).unwrap() == test_records::record(number), "run {number}");
        }
    }
    assert!(!journal::any(&state_directory(directory)));
    assert!(lists > 1, "the lists were made while the others saved");
}

/// The records that the first none, one, two, ... events of a run amount to.
fn prefixes(number: u32) -> Vec<Record> {
    let (started, events) = test_records::events(number);
    let mut builder = RecordBuilder::new(started);
    let mut records = vec![builder.clone().finish()];
    for event in &events {
        builder.apply(event);
        records.push(builder.clone().finish());
    }
    records
}

/// SplitMix64: the moments are the same in every run of this test, as far as a scheduler lets them be.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[test]
fn a_process_killed_at_any_of_fifty_moments_leaves_whole_records_and_no_journal() {
    const KILLS: u32 = 50;
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let mut random = 2;
    let (mut lost, mut complete) = (0, 0);
    for kill in 0..KILLS {
        let first = kill * 100;
        let mut child = Running::start(directory, first, 90);
        let mut out = child.0.stdout.take().unwrap();
        // A run has about twenty steps; the child does not wait, so the moment lies somewhere after the step.
        wait_for_steps(&mut out, u32::try_from(next_random(&mut random) % 60).unwrap());
        (0..next_random(&mut random) % 20_000).for_each(|turn| {
            std::hint::black_box(turn);
        });
        child.kill();

        let history = History::open(&history_file(directory)).unwrap();
        let recovered = journal::recover(&state_directory(directory));
        assert!(recovered.problems.is_empty(), "{:?}", recovered.problems);
        let recovered: Vec<_> = recovered.runs.into_iter().map(|recovered| recovered.run).collect();
        assert!(recovered.len() <= 1, "a process has one journal");
        assert!(!journal::any(&state_directory(directory)), "kill {kill}: a journal is left");
        for run in history.list(&Filter::default()).unwrap() {
            let number = run.id.as_u128() as u32;
            if number < first {
                continue;
            }
            let record = history.get(run.id).unwrap();
            assert!(prefixes(number).contains(&record), "run {number} is not what happened up to some event");
            match record.outcome {
                Outcome::Lost => {
                    assert_eq!(recovered, [run.id]);
                    lost += 1;
                }
                _ => complete += 1,
            }
        }
    }
    let left = fs::read_dir(state_directory(directory).join("runs")).unwrap().count();
    assert_eq!(left, 0, "nothing is set aside as damaged");
    assert!(lost > 5 && complete > 5, "the moments are spread: {lost} lost, {complete} complete");
}
