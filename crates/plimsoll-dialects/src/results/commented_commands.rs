//! Figures that somebody wrote in comments behind commands: `fio job.ini   # 561 IOPS (expected 500 IOPS)`.

use super::{
    Figure, FoundResult, Measured, Source,
    numbers::{number, number_length, with_unit},
    passage::Passage,
};

/// Programs whose results stand behind their commands.
const PROGRAMS: &[&str] = &["fio", "diskspd", "diskspd.exe", "dd", "ioping", "hdparm", "bonnie++", "plimsoll"];
/// Units of what they tell.
const UNITS: &[&str] =
    &["ns", "us", "ms", "s", "IOPS", "iops", "KiB/s", "MiB/s", "GiB/s", "kB/s", "KB/s", "MB/s", "GB/s"];

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let figure = |(index, line): (usize, &str)| {
        let (figure, findings) = figure(line)?;
        let subject = figure.command.clone();
        let result = FoundResult::new(passage, Source::CommentedCommand, index..=index, Measured::Figure(figure));
        Some(result.of(Some(subject)).with(findings))
    };
    passage.each().filter_map(figure).collect()
}

fn figure(line: &str) -> Option<(Figure, Vec<String>)> {
    let (command, comment) = line.split_once(" #")?;
    let command = command.trim().trim_start_matches(['$', '>']).trim();
    let program = command.split_whitespace().find(|word| *word != "sudo")?;
    let program = program.rsplit('/').next()?;
    if !PROGRAMS.contains(&program) {
        return None;
    }
    let comment = comment.trim_start_matches('#').trim_start();
    let (low, rest) = comment.split_at(number_length(comment));
    let low = number(low)?;
    let (high, rest) = match rest.strip_prefix('-') {
        Some(range) => {
            let (high, rest) = range.split_at(number_length(range));
            (Some(number(high)?), rest)
        }
        None => (None, rest),
    };
    let unit = rest.split_whitespace().next()?.trim_end_matches([',', ';', '.']);
    if !UNITS.contains(&unit) {
        return None;
    }
    let remark = rest.trim_start().strip_prefix(unit).unwrap_or_default().trim().to_owned();
    let expected = expected(&remark, unit);
    let mut findings = Vec::new();
    if high.is_some() {
        findings.push("a range is no measurement that can be compared".to_owned());
    }
    if expected.is_none() && remark.contains(|letter: char| letter.is_ascii_digit()) {
        findings.push("the remark has numbers of its own, which are not taken for what was expected".to_owned());
    }
    Some((Figure { command: command.to_owned(), low, high, unit: unit.to_owned(), expected, remark }, findings))
}

/// What a remark says was expected: `(expected 500 IOPS)`, `(20k provisioned)`, `(300 MiB/s provisioned)`.
fn expected(remark: &str, unit: &str) -> Option<f64> {
    let inside = remark.strip_prefix('(')?.split(')').next()?;
    let text = inside.strip_prefix("expected ").or_else(|| inside.strip_suffix(" provisioned"))?;
    let (value, letters, _) = with_unit(text)?;
    match letters {
        "k" => Some(value * 1000.0),
        letters if letters == unit || letters.is_empty() => Some(value),
        _ => None,
    }
}
