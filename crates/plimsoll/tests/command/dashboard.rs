//! The dashboard on a terminal of its own, and what the terminal is like afterwards.

use std::{
    io::{Read, Write},
    process::{Child, ChildStdin, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    interruption::interruption,
    support::{Place, Said},
};

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";

/// A shell on a terminal, in which plimsoll is run once between two questions for the terminal's modes.
struct OnTerminal {
    child: Child,
    keys: ChildStdin,
    seen: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
}

impl OnTerminal {
    fn start(place: &Place, size: &str, environment: &str, arguments: &str) -> Self {
        let run = place.command(arguments);
        let words = std::iter::once(run.get_program()).chain(run.get_args()).map(|word| word.to_str().unwrap());
        let line = format!(
            "trap : INT; stty {size}; echo modes=$(stty -g); sh -c 'echo process=$$; exec env {environment} {}'; \
             echo code=$?; echo modes=$(stty -g)",
            words.collect::<Vec<_>>().join(" ")
        );
        let mut command = place.command("");
        let mut script = std::process::Command::new("script");
        script.args(["--quiet", "--return", "--command", &line, "/dev/null"]).env_clear();
        script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("SHELL", "/bin/sh");
        command = script;
        command.current_dir(place.path("")).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (keys, mut out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        let reading = thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = out.read(&mut bytes) {
                all.lock().unwrap().extend_from_slice(&bytes[..length]);
            }
        });
        Self { child, keys, seen, reading }
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    fn wait_until(&self, what: &str, is_there: impl Fn(&str) -> bool) {
        for _ in 0..3000 {
            if is_there(&self.seen()) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("{what} never came: {}", dashboard(&self.seen()));
    }

    /// Waits until the dashboard shows a text.
    fn wait_until_it_shows(&self, text: &str) {
        self.wait_until(text, |seen| dashboard(seen).contains(text));
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn process(&self) -> Pid {
        let seen = self.seen();
        let number = seen.split("process=").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
        Pid::from_raw(number.parse().unwrap()).unwrap()
    }

    /// All that was shown until the end.
    fn end(mut self) -> String {
        self.wait_until("the end", |seen| seen.contains("code="));
        self.child.wait().unwrap();
        drop(self.keys);
        self.reading.join().unwrap();
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }
}

/// What the dashboard showed last, of all that was sent to the terminal.
fn dashboard(seen: &str) -> String {
    let sent = seen.split(ENTER).nth(1).and_then(|rest| rest.split(LEAVE).next()).unwrap_or_default();
    let mut page = vec![vec![' '; 100]; 30];
    let (mut row, mut column) = (0, 0);
    let mut characters = sent.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            page[row][column] = character;
            column += 1;
            continue;
        }
        assert!(characters.next().is_none_or(|next| next == '['), "{sent:?}");
        let mut sequence = String::new();
        let end = characters.by_ref().find(|next| {
            next.is_ascii_alphabetic() || {
                sequence.push(*next);
                false
            }
        });
        match end {
            Some('H') => {
                let (to_row, to_column) = sequence.split_once(';').unwrap();
                (row, column) = (to_row.parse::<usize>().unwrap() - 1, to_column.parse::<usize>().unwrap() - 1);
            }
            Some('J') => page.iter_mut().for_each(|line| line.fill(' ')),
            _ => {}
        }
    }
    page.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned() + "\n").collect()
}

/// What came after the dashboard, when the terminal is as it was before.
fn after_dashboard(seen: &str) -> &str {
    assert_eq!((seen.matches(ENTER).count(), seen.matches(LEAVE).count()), (1, 1), "{seen:?}");
    let (before, after) = seen.split_once(LEAVE).unwrap();
    assert!(before.contains(ENTER), "{seen:?}");
    assert!(before.rfind(SHOW_CURSOR) > before.rfind("\u{1b}[?25l"), "the cursor stays hidden: {seen:?}");
    let modes: Vec<&str> = seen.lines().filter_map(|line| line.trim().strip_prefix("modes=")).collect();
    assert!(modes.len() == 2 && modes[0] == modes[1], "{modes:?}");
    after
}

const SIZE: &str = "cols 100 rows 30";
const KIND: &str = "TERM=xterm";
const LONG: &str = "run DATA --rw randread --size 4M --duration 60s --ramp 0s --dashboard";

#[test]
fn the_dashboard_shows_the_run_and_leaves_the_result_behind() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --duration 3s --ramp 0s --name mine --dashboard";
    let seen = OnTerminal::start(&place, SIZE, KIND, run).end();
    let after = after_dashboard(&seen);
    let shown = dashboard(&seen);
    assert!(shown.starts_with("plimsoll mine: "), "{shown}");
    for text in ["no errors", "> randread 4KiB QD1", "slots", "IOPS, 0 to ", "p99, 0 to ", "q stop  d bars"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(after.contains("verdict") && after.contains("code=0"), "{after:?}");
    assert_eq!(place.run("history --json").json()[0]["outcome"], "complete");
}

#[test]
fn a_key_stops_a_run_as_ctrl_c_does() {
    let place = Place::new();
    // Ctrl-C is the terminal's to turn into a signal, which does nothing where the tests have it ignored.
    let keys = if interruption() == Signal::INT { vec!["q", "\u{3}"] } else { vec!["q"] };
    for key in keys {
        let mut terminal = OnTerminal::start(&place, SIZE, KIND, LONG);
        terminal.wait_until_it_shows("IOPS, 0 to ");
        terminal.press(key);
        let seen = terminal.end();
        let after = after_dashboard(&seen);
        assert!(after.contains("interrupted; the partial record is saved as "), "{after:?}");
        assert!(after.contains("verdict") && after.contains("code=130"), "{after:?}");
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn a_run_that_goes_on_has_a_dashboard_too() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --duration 4s --ramp 0s --block-size 4k,8k --dashboard";
    let mut terminal = OnTerminal::start(&place, SIZE, KIND, run);
    terminal.wait_until_it_shows("IOPS, 0 to ");
    terminal.press("q");
    assert!(terminal.end().contains("code=130"));
    let seen = OnTerminal::start(&place, SIZE, KIND, "run --resume latest --dashboard").end();
    assert!(dashboard(&seen).contains("> randread"), "{}", dashboard(&seen));
    assert!(after_dashboard(&seen).contains("code=0"), "{seen:?}");
    assert_eq!(place.run("history --json").json()[0]["outcome"], "complete");
}

#[test]
fn a_signal_and_a_second_one_give_the_terminal_back() {
    let place = Place::new();
    for more in [false, true] {
        let terminal = OnTerminal::start(&place, SIZE, KIND, LONG);
        terminal.wait_until_it_shows("IOPS, 0 to ");
        let process = terminal.process();
        kill_process(process, Signal::TERM).unwrap();
        if more {
            // Both are one wish when they follow each other closely; by then a run may be over.
            thread::sleep(Duration::from_millis(600));
            let _ = kill_process(process, Signal::TERM);
        }
        let seen = terminal.end();
        assert!(after_dashboard(&seen).contains("code=130"), "{seen:?}");
    }
}

#[test]
fn a_second_interruption_amid_writing_files_gives_the_terminal_back_at_once() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4G --duration 60s --dashboard";
    let terminal = OnTerminal::start(&place, SIZE, KIND, run);
    terminal.wait_until_it_shows("writing test files in ");
    let process = terminal.process();
    kill_process(process, Signal::TERM).unwrap();
    thread::sleep(Duration::from_millis(600));
    let _ = kill_process(process, Signal::TERM);
    let seen = terminal.end();
    assert!(after_dashboard(&seen).contains("code=130"), "{seen:?}");
    place.run("history");
}

#[test]
fn who_leaves_the_dashboard_goes_on_with_bars() {
    let place = Place::new();
    for key in ["d", "\u{1b}"] {
        let run = "run DATA --rw randread --size 4M --duration 4s --ramp 0s --dashboard";
        let mut terminal = OnTerminal::start(&place, SIZE, KIND, run);
        terminal.wait_until_it_shows("IOPS, 0 to ");
        terminal.press("jk\u{1b}[A");
        terminal.press(key);
        let seen = terminal.end();
        let after = after_dashboard(&seen);
        assert!(after.contains("measuring randread") && after.contains("code=0"), "{after:?}");
    }
}

#[test]
fn who_is_refused_sees_no_dashboard() {
    let place = Place::new();
    let seen = OnTerminal::start(&place, SIZE, KIND, "run DATA/nothing --dashboard").end();
    assert!(!seen.contains(ENTER) && seen.contains("error: ") && seen.contains("code=3"), "{seen:?}");
}

#[test]
fn a_terminal_that_cannot_show_it_has_bars() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --duration 1s --ramp 0s --dashboard";
    for (size, kind, why) in [
        (SIZE, "TERM=dumb", "says TERM"),
        ("cols 39 rows 30", KIND, "39 columns and 30 rows"),
        ("cols 100 rows 9", KIND, "100 columns and 9 rows"),
    ] {
        let seen = OnTerminal::start(&place, size, kind, run).end();
        assert!(!seen.contains(ENTER) && seen.contains("code=0"), "{seen:?}");
        assert!(seen.contains("no dashboard: ") && seen.contains(why), "{seen:?}");
    }
}

#[test]
fn without_a_terminal_there_are_lines_and_a_sentence() {
    let place = Place::new();
    let said = place.run("run DATA --rw randread --size 4M --duration 6s --ramp 0s --dashboard --json");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.json()["outcome"], "complete");
    assert!(said.stderr.starts_with("no dashboard: standard error is no terminal\n"), "{}", said.stderr);
    assert!(said.stderr.contains(" in, ") && !said.stderr.contains('\u{1b}'), "{}", said.stderr);
}

#[test]
fn the_record_goes_to_standard_output_beside_a_dashboard() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --duration 1s --ramp 0s --dashboard --json >record.json";
    let seen = OnTerminal::start(&place, SIZE, "NO_COLOR=1 TERM=xterm", run).end();
    assert!(after_dashboard(&seen).contains("code=0"), "{seen:?}");
    let shown = seen.split(ENTER).nth(1).unwrap().split(LEAVE).next().unwrap();
    assert!(!shown.contains("[38;") && !shown.contains("[48;"), "{shown:?}");
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(place.path("record.json")).unwrap()).unwrap();
    assert_eq!(record["outcome"], "complete");
}

#[test]
fn a_dashboard_and_quiet_contradict_each_other() {
    let said: Said = Place::new().run("run DATA --dashboard --quiet");
    assert!(said.error(2).contains("--quiet"), "{}", said.stderr);
}
