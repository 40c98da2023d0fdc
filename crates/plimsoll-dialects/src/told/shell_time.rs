//! What `time` prints, of bash, of zsh and of GNU; what stands above it may say that a command ran again.

use plimsoll_record::told::{Duration, FoundResult, Measured, Source, note};

use super::{
    RESULTS_MAX,
    numbers::{number, shell_time_ns},
    passage::{Passage, content},
    result,
};

/// So many lines above may stand what it is the time of.
const ABOVE: usize = 2;
/// A longer line is no label.
const LABEL_MAX: usize = 80;

/// Words that say only that something ran again.
const EMPTY_WORDS: &[&str] = &["run", "iteration", "pass", "test", "try", "round", "attempt", "loop", "no", "of"];

/// One time that was told.
struct Time<'a> {
    first: usize,
    last: usize,
    duration: Duration,
    label: Option<Label<'a>>,
}

/// What stands above a time: its words without the number, the number, and the heading above it.
struct Label<'a> {
    heading: Option<&'a str>,
    words: Vec<&'a str>,
    number: u32,
}

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let all = passage.each().filter_map(|(first, line)| {
        let lines = block(passage, first, line).map(|duration| (duration, first + 2));
        let (duration, last) = lines.or_else(|| Some((in_a_line(content(line))?, first)))?;
        Some(Time { first, last, duration, label: label(passage, first) })
    });
    let mut times = all.take(RESULTS_MAX + 1).peekable();
    let mut found = Vec::new();
    while let Some(time) = times.next() {
        let (mut durations, mut last, mut before) = (vec![time.duration], time.last, time.label);
        while let Some(next) = times.next_if(|next| is_again(before.as_ref(), next.label.as_ref())) {
            durations.push(next.duration);
            (last, before) = (next.last, next.label);
        }
        // Of a time that stands alone nobody knows whether what is above it has to do with it.
        let label = before.filter(|_| durations.len() > 1);
        let words = label.as_ref().map(|label| label.words.join(" "));
        let findings = words.iter().map(|label| {
            note(format!("the lines above its times count up, so that they are taken for runs of one command: {label}"))
        });
        let findings = findings.collect();
        let measured = Measured::Durations(durations);
        let told = result(passage, Source::ShellTime, time.first..=last, measured, findings);
        let target = label.filter(Label::says_something).and(words);
        found.push(FoundResult { target, ..told });
    }
    found
}

impl Label<'_> {
    /// Whether it says more than that something ran again, or there is no heading that does.
    fn says_something(&self) -> bool {
        let is_empty = |word: &&str| {
            let word = word.trim_matches([':', '#', '=', '-']).to_ascii_lowercase();
            word.is_empty() || EMPTY_WORDS.contains(&word.as_str())
        };
        self.heading.is_none() || !self.words.iter().all(is_empty)
    }
}

/// `real`, `user` and `sys`, one below the other.
fn block(passage: &Passage<'_>, first: usize, line: &str) -> Option<Duration> {
    let elapsed_ns = value(line, "real")?;
    let user_ns = value(passage.line(first + 1), "user")?;
    let system_ns = value(passage.line(first + 2), "sys")?;
    Some(Duration { elapsed_ns, user_ns, system_ns })
}

/// A time behind its name: `190m56.505s`, and with `time -p` its seconds alone.
fn value(line: &str, name: &str) -> Option<u64> {
    let rest = content(line).strip_prefix(name)?;
    let text = rest.strip_prefix(|letter: char| letter.is_whitespace())?.trim();
    shell_time_ns(text).or_else(|| seconds_ns(text))
}

fn seconds_ns(text: &str) -> Option<u64> {
    number(text).filter(|seconds| *seconds < 1e9).map(|seconds| (seconds * 1e9).round() as u64)
}

/// What zsh and GNU's `time` print: `./job  1.00s user 0.50s system 98% cpu 1.520 total`, `1.00user 0.50system
/// 0:01.52elapsed 98%CPU ...`.
fn in_a_line(line: &str) -> Option<Duration> {
    let mut words = line.split_whitespace();
    if line.contains("elapsed ") {
        let mut value = |name: &str| words.next()?.strip_suffix(name);
        let (user, system, elapsed) = (value("user")?, value("system")?, value("elapsed")?);
        return Some(Duration {
            elapsed_ns: clock_ns(elapsed)?,
            user_ns: seconds_ns(user)?,
            system_ns: seconds_ns(system)?,
        });
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let [.., user, "user", system, "system", _, "cpu", elapsed, "total"] = words.as_slice() else { return None };
    Some(Duration {
        elapsed_ns: clock_ns(elapsed)?,
        user_ns: seconds_ns(user.strip_suffix('s')?)?,
        system_ns: seconds_ns(system.strip_suffix('s')?)?,
    })
}

/// `1:02:03.5`, `0:01.52` or `1.52`.
fn clock_ns(text: &str) -> Option<u64> {
    let mut ns: u64 = 0;
    for part in text.split(':') {
        ns = ns.checked_mul(60)?.checked_add(seconds_ns(part)?)?;
    }
    Some(ns)
}

/// Labels that count up by one are those of a command that ran again.
fn is_again(before: Option<&Label<'_>>, label: Option<&Label<'_>>) -> bool {
    let (Some(before), Some(label)) = (before, label) else { return false };
    before.heading == label.heading && before.words == label.words && before.number.checked_add(1) == Some(label.number)
}

/// What stands above a time, has one number, and is neither another time nor a command: numbers of commands are
/// parameters.
fn label<'a>(passage: &Passage<'a>, first: usize) -> Option<Label<'a>> {
    let above = (first.saturating_sub(ABOVE)..first).rev().map(|index| passage.line(index));
    let line = above.into_iter().find(|line| !line.trim().is_empty())?;
    let text = content(line).trim();
    let is_command = text.starts_with(['$', '%', '+']) || text.starts_with("time ") || text.contains(" -");
    if text.len() > LABEL_MAX || is_command || value(line, "sys").is_some() {
        return None;
    }
    // `3`, `#3`, `(3)`, `3/5`.
    let number = |word: &str| {
        let word = word.trim_matches(['#', ':', '.', '(', ')']);
        word.split('/').next()?.parse::<u32>().ok()
    };
    let (numbers, words): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(|word| number(word).is_some());
    let [one] = numbers.as_slice() else { return None };
    let label = Label { heading: passage.heading(first), words, number: number(one)? };
    label.words.iter().any(|word| word.contains(char::is_alphabetic)).then_some(label)
}
