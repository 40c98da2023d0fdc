//! What `time` of bash prints: `real`, `user` and `sys`, one below the other; what is printed above them says of what.

use plimsoll_record::told::{Duration, FoundResult, Measured, Source};

use super::{
    numbers::shell_time_ns,
    passage::{Passage, without_marks},
    result,
};

/// So many lines above may stand what it is the time of.
const ABOVE: usize = 2;
/// A longer line is no label.
const LABEL_MAX: usize = 80;

/// One time that was told.
struct Time<'a> {
    first: usize,
    duration: Duration,
    label: Option<Label<'a>>,
}

/// What stands above a time: its words without numbers, and the numbers.
#[derive(PartialEq, Eq)]
struct Label<'a> {
    words: Vec<&'a str>,
    numbers: Vec<&'a str>,
}

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let mut times: Vec<Time<'_>> = Vec::new();
    for (first, line) in passage.each() {
        let Some(elapsed_ns) = value(line, "real") else { continue };
        let user_ns = value(passage.line(first + 1), "user");
        let system_ns = value(passage.line(first + 2), "sys");
        let (Some(user_ns), Some(system_ns)) = (user_ns, system_ns) else { continue };
        let duration = Duration { elapsed_ns, user_ns, system_ns };
        times.push(Time { first, duration, label: label(passage, first) });
    }
    let mut found = Vec::new();
    let mut rest = times.into_iter().peekable();
    while let Some(time) = rest.next() {
        let (mut durations, mut last, mut before) = (vec![time.duration], time.first + 2, time.label);
        // Labels that differ in a number are those of a command that ran again.
        while let Some(next) = rest.next_if(|next| is_again(before.as_ref(), next.label.as_ref())) {
            durations.push(next.duration);
            (last, before) = (next.first + 2, next.label);
        }
        // Of a time that stands alone nobody knows whether what is above it has to do with it.
        let label = before.filter(|_| durations.len() > 1);
        let target = label.map(|label| label.words.join(" "));
        let measured = Measured::Durations(durations);
        let told = result(passage, Source::ShellTime, time.first..=last, measured, Vec::new());
        found.push(FoundResult { target, ..told });
    }
    found
}

fn is_again(before: Option<&Label<'_>>, label: Option<&Label<'_>>) -> bool {
    let (Some(before), Some(label)) = (before, label) else { return false };
    before.words == label.words && before.numbers != label.numbers
}

/// What stands above a time and is no other time.
fn label<'a>(passage: &Passage<'a>, first: usize) -> Option<Label<'a>> {
    let above = (first.saturating_sub(ABOVE)..first).rev().map(|index| without_marks(passage.line(index)).trim());
    let text = above.into_iter().find(|line| !line.is_empty())?;
    if text.len() > LABEL_MAX || value(text, "sys").is_some() {
        return None;
    }
    let is_number = |word: &&str| word.trim_matches(['#', ':', '.', '(', ')', '/']).parse::<u32>().is_ok();
    let (numbers, words): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(is_number);
    words.iter().any(|word| word.contains(char::is_alphabetic)).then_some(Label { words, numbers })
}

fn value(line: &str, name: &str) -> Option<u64> {
    let rest = without_marks(line).strip_prefix(name)?;
    shell_time_ns(rest.strip_prefix(|letter: char| letter.is_whitespace())?.trim())
}
