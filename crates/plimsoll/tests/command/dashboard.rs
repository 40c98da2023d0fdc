//! The dashboard on a terminal of its own, and what the terminal is like afterwards.

use std::{
    fs::{self, File},
    io::{Read, Write},
    os::fd::AsFd,
    process::{Child, ChildStdin, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::Duration,
};

use plimsoll_io::clock::{Clock, MonotonicClock};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process},
    termios::{LocalModes, tcgetattr},
};

use crate::{
    interruption::interruption,
    support::{Place, Said, comes_true},
};

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";
/// What is sent first when the terminal is given back.
const GIVE_BACK: &str = "\u{1b}[?2004l";
const CLEAR: &str = "\u{1b}[2J";
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
        Self::start_within(place, size, "", environment, arguments, "RUN")
    }

    /// The same with what the shell does before it becomes plimsoll, and with a line of the shell for `RUN`.
    fn start_within(place: &Place, size: &str, before: &str, environment: &str, arguments: &str, line: &str) -> Self {
        let run = place.command(arguments);
        let words = std::iter::once(run.get_program()).chain(run.get_args()).map(|word| word.to_str().unwrap());
        let words = words.collect::<Vec<_>>().join(" ");
        let run = format!("sh -c 'echo process=$$; {before} exec env {environment} {words}'");
        let line = line.replace("RUN", &run);
        let line =
            format!("trap : INT; stty {size}; echo modes=$(stty -g); {line}; echo code=$?; echo modes=$(stty -g)");
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
        assert!(comes_true(|| is_there(&self.seen())), "{what} never came: {}", dashboard(&self.seen()));
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

    /// Makes the terminal another size.
    fn resize(&self, columns: u16, rows: u16) {
        let size = rustix::termios::Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(self.terminal(), size).unwrap();
    }

    /// The terminal as plimsoll has it.
    fn terminal(&self) -> File {
        File::options().write(true).open(format!("/proc/{}/fd/2", self.process().as_raw_pid())).unwrap()
    }

    /// How often something was sent to the terminal.
    fn count(&self, what: &str) -> usize {
        self.seen().matches(what).count()
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.process(), signal).unwrap();
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
    let sent = seen.rsplit_once(ENTER).map_or("", |(_, after)| after.split(GIVE_BACK).next().unwrap_or_default());
    let mut page = vec![vec![' '; 200]; 60];
    let (mut row, mut column) = (0, 0);
    let mut characters = sent.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            if let Some(place) = page.get_mut(row).and_then(|line| line.get_mut(column)) {
                *place = character;
            }
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
    assert_modes(seen);
    after
}

/// The modes of the terminal are those from before.
fn assert_modes(seen: &str) {
    let modes: Vec<&str> = seen.lines().filter_map(|line| line.trim().strip_prefix("modes=")).collect();
    assert!(modes.len() == 2 && modes[0] == modes[1], "{modes:?}");
}

const SIZE: &str = "cols 100 rows 30";
const KIND: &str = "TERM=xterm";
/// What is cleaned up is not left undone for a first interruption.
const SLOW_TO_END: &str =
    "run DATA --command \"sleep 30\" --cleanup \"sleep 12\" --iterations 1 --settle 0s --dashboard";
const LONG: &str = "run DATA --rw randread --size 4M --duration 60s --ramp 0s --dashboard";

#[test]
fn the_dashboard_shows_the_run_and_leaves_the_result_behind() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --duration 3s --ramp 0s --name mine --dashboard";
    let terminal = OnTerminal::start(&place, SIZE, KIND, run);
    // The mark of what is measured goes when that has ended.
    let texts = ["plimsoll mine: ", "> randread 4KiB QD1", "slots", "IOPS, 0 to ", "p99, 0 to ", "q stop  d bars"];
    terminal.wait_until("all of it", |seen| {
        let shown = dashboard(seen);
        texts.iter().all(|text| shown.contains(text))
    });
    let seen = terminal.end();
    let after = after_dashboard(&seen);
    assert!(dashboard(&seen).starts_with("plimsoll mine: "), "{seen:?}");
    assert!(after.contains("verdict") && after.contains("code=0"), "{after:?}");
    assert_eq!(place.run("history --json").json()[0]["outcome"], "complete");
}

#[test]
fn a_warning_stays_above_the_bars() {
    let place = Place::new();
    fs::write(place.path("file"), vec![7; 1 << 20]).unwrap();
    // The journal of the run grows beyond what the shell allows.
    let run = "run file --rw randread --passes 16 --duration 500ms --ramp 0s";
    let seen = OnTerminal::start_within(&place, SIZE, "ulimit -f 48;", KIND, run, "RUN").end();
    let (before, after) = seen.split_once("warning: write the journal of the run: ").expect(&seen);
    assert!(before.contains("measuring") && before.ends_with("\u{1b}[2K\u{1b}[1A"), "the bars are gone: {seen:?}");
    let (warning, after) = after.split_once("\r\n").unwrap();
    let are_there_again = ["measuring", "between slots"].iter().any(|phase| after.starts_with(phase));
    assert!(warning.contains("too large") && are_there_again, "{seen:?}");
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
fn a_signal_gives_the_terminal_back() {
    let place = Place::new();
    let terminal = OnTerminal::start(&place, SIZE, KIND, LONG);
    terminal.wait_until_it_shows("IOPS, 0 to ");
    terminal.signal(Signal::TERM);
    let seen = terminal.end();
    let after = after_dashboard(&seen);
    assert!(after.contains("interrupted; the partial record is saved as ") && after.contains("code=130"), "{seen:?}");
}

#[test]
fn a_second_interruption_gives_the_terminal_back_and_ends_the_run_at_once() {
    let place = Place::new();
    let terminal = OnTerminal::start(&place, SIZE, KIND, SLOW_TO_END);
    terminal.wait_until_it_shows("timing");
    terminal.signal(interruption());
    terminal.wait_until_it_shows("stopping; Ctrl-C again");
    // Both are one wish when they follow each other closely.
    thread::sleep(Duration::from_millis(600));
    let asked_ns = MonotonicClock.now_ns();
    terminal.signal(interruption());
    let seen = terminal.end();
    assert!(MonotonicClock.now_ns() - asked_ns < 8_000_000_000, "it waited for what takes 12 s");
    let after = after_dashboard(&seen);
    assert!(after.contains("code=130") && !after.contains("interrupted; "), "{after:?}");
}

#[test]
fn the_key_that_stops_may_be_held_and_ctrl_c_after_it_ends_the_run_at_once() {
    let place = Place::new();
    let mut terminal = OnTerminal::start(&place, SIZE, KIND, SLOW_TO_END);
    terminal.wait_until_it_shows("timing");
    terminal.press("q");
    terminal.wait_until_it_shows("stopping; Ctrl-C again");
    // A key that comes when the terminal was given back is echoed.
    for _ in 0..4 {
        terminal.press("q");
        thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(terminal.count("code="), 0, "{}", terminal.seen());
    let asked_ns = MonotonicClock.now_ns();
    terminal.signal(interruption());
    let seen = terminal.end();
    assert!(MonotonicClock.now_ns() - asked_ns < 8_000_000_000, "it waited for what takes 12 s");
    assert!(after_dashboard(&seen).contains("code=130"), "{seen:?}");
}

#[test]
fn a_key_stops_a_run_that_signals_cannot_stop() {
    let place = Place::new();
    let deaf = "trap \"\" TERM INT HUP;";
    let mut terminal = OnTerminal::start_within(&place, SIZE, deaf, KIND, LONG, "RUN");
    terminal.wait_until_it_shows("IOPS, 0 to ");
    terminal.press("q");
    assert!(after_dashboard(&terminal.end()).contains("code=130"));
}

#[test]
fn a_signal_that_ends_the_process_at_once_gives_the_terminal_back_before() {
    let place = Place::new();
    for (signal, code) in [(Signal::USR1, "code=138"), (Signal::ALARM, "code=142")] {
        let terminal = OnTerminal::start(&place, SIZE, KIND, LONG);
        terminal.wait_until_it_shows("IOPS, 0 to ");
        terminal.signal(signal);
        let seen = terminal.end();
        assert!(after_dashboard(&seen).contains(code), "{seen:?}");
    }
    // Who has left it has left it to the signal again.
    let mut terminal = OnTerminal::start(&place, SIZE, KIND, LONG);
    terminal.wait_until_it_shows("IOPS, 0 to ");
    terminal.press("d");
    terminal.wait_until("bars", |seen| seen.split(LEAVE).nth(1).is_some_and(|after| after.contains("measuring")));
    terminal.signal(Signal::USR1);
    assert!(terminal.end().contains("code=138"));
}

/// The letter of a process's state.
fn state(process: Pid) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.as_raw_pid())).ok()?;
    status.lines().find_map(|line| line.strip_prefix("State:")).map(|state| state.trim()[..1].to_owned())
}

#[test]
fn a_run_that_is_stopped_for_a_while_leaves_the_terminal_and_takes_it_again() {
    let place = Place::new();
    // The second signal cannot be caught: the terminal is put in order when the run goes on.
    for (stop, leaves) in [(Signal::TSTP, true), (Signal::STOP, false)] {
        let mut terminal = OnTerminal::start(&place, SIZE, KIND, LONG);
        terminal.wait_until_it_shows("IOPS, 0 to ");
        let process = terminal.process();
        terminal.signal(stop);
        assert!(comes_true(|| state(process).as_deref() == Some("T")), "no a stop");
        let tty = terminal.terminal();
        let is_usual = || tcgetattr(&tty).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO);
        if leaves {
            terminal.wait_until("a given back terminal", |seen| seen.contains(LEAVE) && is_usual());
        }
        // As a shell does it.
        let mut modes = tcgetattr(&tty).unwrap();
        modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO;
        rustix::termios::tcsetattr(&tty, rustix::termios::OptionalActions::Now, &modes).unwrap();
        terminal.signal(Signal::CONT);
        terminal.wait_until("the dashboard again", |seen| seen.matches(ENTER).count() == 2);
        terminal.wait_until_it_shows("IOPS, 0 to ");
        assert!(!is_usual());
        terminal.press("q");
        let seen = terminal.end();
        assert_eq!((seen.matches(ENTER).count(), seen.matches(LEAVE).count()), (2, 2), "{seen:?}");
        assert!(seen.contains("code=130") && seen.contains("verdict"), "{seen:?}");
        assert_modes(&seen);
    }
}

#[test]
fn in_the_background_of_a_shell_nothing_is_drawn_and_the_run_ends_as_always() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --duration 6s --ramp 0s --dashboard";
    let line = "set -m; RUN; echo stopped; bg; wait %1";
    let terminal = OnTerminal::start_within(&place, SIZE, "", KIND, run, line);
    terminal.wait_until_it_shows("IOPS, 0 to ");
    terminal.signal(Signal::TSTP);
    let seen = terminal.end();
    let after = after_dashboard(&seen);
    assert!(after.contains("stopped") && after.contains("code=0"), "{seen:?}");
    let between = after.split("\u{1b}[2mtarget").next().unwrap();
    assert!(!between.contains('\u{1b}'), "{between:?}");
    assert_eq!(place.run("history --json").json()[0]["outcome"], "complete");
}

#[test]
fn who_starts_it_in_the_background_of_a_shell_has_bars() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --duration 1s --ramp 0s --dashboard";
    let seen = OnTerminal::start_within(&place, SIZE, "", KIND, run, "set -m; RUN & wait %1").end();
    assert!(!seen.contains(ENTER) && seen.contains("code=0"), "{seen:?}");
    assert!(seen.contains("no dashboard: this runs in the background of a shell"), "{seen:?}");
}

#[test]
fn a_run_is_saved_although_its_terminal_takes_nothing() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --duration 5s --ramp 0s --dashboard";
    let terminal = OnTerminal::start(&place, SIZE, KIND, run);
    terminal.wait_until_it_shows("IOPS, 0 to ");
    let tty = terminal.terminal();
    let reader = Pid::from_child(&terminal.child);
    kill_process(reader, Signal::STOP).unwrap();
    // Pictures of another size are whole ones.
    let mut columns = 200;
    for attempt in 0.. {
        let mut polled = [PollFd::from_borrowed_fd(tty.as_fd(), PollFlags::OUT)];
        if poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() == 0 {
            break;
        }
        assert!(attempt < 40, "the terminal still takes something");
        columns ^= 1;
        terminal.resize(columns, 100);
        thread::sleep(Duration::from_millis(50));
    }
    assert!(comes_true(|| place.run("history --json").json()[0]["outcome"] == "complete"), "no a record");
    kill_process(reader, Signal::CONT).unwrap();
    let seen = terminal.end();
    let after = after_dashboard(&seen);
    assert!(after.contains("verdict") && after.contains("code=0"), "{after:?}");
}

#[test]
fn a_run_whose_terminal_is_gone_is_saved() {
    let place = Place::new();
    let mut terminal = OnTerminal::start(&place, SIZE, KIND, LONG);
    terminal.wait_until_it_shows("IOPS, 0 to ");
    terminal.child.kill().unwrap();
    terminal.child.wait().unwrap();
    assert!(comes_true(|| place.run("history --json").json()[0]["outcome"] == "interrupted"), "no a record");
}

#[test]
fn another_size_is_drawn_and_no_size_takes_all_memory() {
    let place = Place::new();
    let mut terminal = OnTerminal::start_within(&place, SIZE, "ulimit -v 6000000;", KIND, LONG, "RUN");
    terminal.wait_until_it_shows("IOPS, 0 to ");
    for (columns, rows) in [(70, 20), (120, 40), (30, 5)] {
        terminal.resize(columns, rows);
        let (last, wide) = (usize::from(rows) - 1, usize::from(columns));
        terminal.wait_until("the size", |seen| {
            let shown = dashboard(seen);
            let lines: Vec<&str> = shown.lines().collect();
            let is_last = if rows > 9 { lines[last].starts_with("q stop") } else { lines[0].starts_with("measuring") };
            is_last && lines.iter().all(|line| line.chars().count() <= wide) && lines[last + 1..].concat().is_empty()
        });
    }
    let cleared = terminal.count(CLEAR);
    terminal.resize(20_000, 20_000);
    terminal.wait_until("a picture", |seen| seen.matches(CLEAR).count() > cleared);
    let cleared = terminal.count(CLEAR);
    terminal.resize(100, 30);
    terminal.wait_until("the size", |seen| seen.matches(CLEAR).count() > cleared);
    let cleared = terminal.count(CLEAR);
    terminal.press("\u{c}");
    terminal.wait_until("everything anew", |seen| seen.matches(CLEAR).count() > cleared);
    terminal.press("q");
    assert!(after_dashboard(&terminal.end()).contains("code=130"));
}

#[test]
fn keys_choose_among_cells_and_other_keys_and_pasted_text_do_nothing() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --duration 60s --ramp 0s --block-size 4k,8k,16k --dashboard";
    let mut terminal = OnTerminal::start(&place, SIZE, KIND, run);
    terminal.wait_until_it_shows("IOPS, 0 to ");
    // One read of a terminal may end amid a key.
    terminal.press(&"\u{1b}[B".repeat(22));
    terminal.wait_until_it_shows("* randread 16KiB");
    terminal.wait_until_it_shows("f follow");
    terminal.press("\u{1b}[200~ls -la /quota, dd\u{1b}[201~\u{1b}[[D\u{1b}\u{1b}[D");
    terminal.press("k");
    terminal.wait_until_it_shows("* randread 8KiB");
    terminal.press("\u{1b}[A");
    terminal.wait_until_it_shows("* randread 4KiB");
    terminal.press("j");
    terminal.wait_until_it_shows("* randread 8KiB");
    terminal.press("f");
    terminal.wait_until("the measured cell", |seen| !dashboard(seen).contains("* randread"));
    assert!(dashboard(&terminal.seen()).contains("> randread"), "{}", dashboard(&terminal.seen()));
    terminal.press("q");
    assert!(after_dashboard(&terminal.end()).contains("code=130"));
}

#[test]
fn a_terminal_without_a_second_screen_and_with_ascii_alone_is_left_clean() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --duration 3s --ramp 0s --dashboard";
    let seen = OnTerminal::start(&place, SIZE, "TERM=vt100 LANG=C", run).end();
    assert!(dashboard(&seen).is_ascii() && dashboard(&seen).contains("IOPS, 0 to "), "{}", dashboard(&seen));
    let last = seen.split(GIVE_BACK).nth(1).unwrap().split(LEAVE).next().unwrap();
    assert!(last.contains(&format!("\u{1b}[1;1H{CLEAR}")), "{last:?}");
    assert!(after_dashboard(&seen).contains("code=0"), "{seen:?}");
}

#[test]
fn of_an_application_there_is_the_time_of_iterations() {
    let place = Place::new();
    let run = "run DATA --command \"sleep 1\" --iterations 3 --settle 0s --dashboard";
    let seen = OnTerminal::start(&place, SIZE, KIND, run).end();
    let shown = dashboard(&seen);
    assert!(shown.contains("time, 0 to ") && shown.contains(" slots of ") && !shown.contains("IOPS"), "{shown}");
    assert!(after_dashboard(&seen).contains("code=0"), "{seen:?}");
}

#[test]
fn who_leaves_the_dashboard_goes_on_with_bars() {
    let place = Place::new();
    for key in ["d", "\u{1b}"] {
        let run = "run DATA --command \"sleep 20\" --iterations 1 --settle 0s --dashboard";
        let mut terminal = OnTerminal::start(&place, SIZE, KIND, run);
        terminal.wait_until_it_shows("timing");
        terminal.press(key);
        // Although nothing happens meanwhile.
        let asked_ns = MonotonicClock.now_ns();
        terminal.wait_until("bars", |seen| seen.split(LEAVE).nth(1).is_some_and(|after| after.contains("timing")));
        assert!(MonotonicClock.now_ns() - asked_ns < 8_000_000_000, "they came with the end of the command");
        terminal.signal(Signal::TERM);
        let seen = terminal.end();
        assert!(after_dashboard(&seen).contains("code=130"), "{seen:?}");
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
    // One that is called dumb gets lines and no colours.
    let longer = run.replace("1s", "6s");
    let seen = OnTerminal::start(&place, SIZE, "TERM=dumb", &longer).end();
    assert!(seen.contains(" in, ") && !seen.contains("\u{1b}["), "{seen:?}");
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
        serde_json::from_str(&fs::read_to_string(place.path("record.json")).unwrap()).unwrap();
    assert_eq!(record["outcome"], "complete");
}

#[test]
fn a_dashboard_and_quiet_contradict_each_other() {
    let said: Said = Place::new().run("run DATA --dashboard --quiet");
    assert!(said.error(2).contains("--quiet"), "{}", said.stderr);
}
