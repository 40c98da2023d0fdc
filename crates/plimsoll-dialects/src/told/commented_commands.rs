//! Figures that somebody wrote in comments behind commands: `fio job.ini   # 561 IOPS (expected 500 IOPS)`.

use plimsoll_record::{
    results::Finding,
    told::{Figure, FigureValue, FoundResult, Measured, Source, note},
};

use super::{
    RESULTS_MAX,
    numbers::{bytes_per_second, nanoseconds_in, number, number_length, with_unit},
    passage::Passage,
    result,
};

/// Programs whose results stand behind their commands.
const PROGRAMS: &[&str] = &["fio", "diskspd", "diskspd.exe", "dd", "ioping", "hdparm", "bonnie++", "plimsoll"];
/// Units of what they tell.
const UNITS: &[&str] =
    &["ns", "us", "ms", "s", "IOPS", "iops", "KiB/s", "MiB/s", "GiB/s", "kB/s", "KB/s", "MB/s", "GB/s"];

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let figure = |(index, line): (usize, &str)| {
        let (figure, findings) = figure(line)?;
        Some(result(passage, Source::CommentedCommand, index..=index, Measured::Figure(figure), findings))
    };
    passage.each().filter_map(figure).take(RESULTS_MAX + 1).collect()
}

fn figure(line: &str) -> Option<(Figure, Vec<Finding>)> {
    let (command, comment) = line.split_once(" #")?;
    let command = command.trim().trim_start_matches(['$', '>']).trim();
    let program = command.split_whitespace().find(|word| *word != "sudo")?;
    let program = program.rsplit('/').next()?;
    if !PROGRAMS.contains(&program) {
        return None;
    }
    let comment = comment.trim_start_matches('#').trim_start();
    let (low_text, rest) = comment.split_at(number_length(comment));
    let (high_text, rest) = match rest.strip_prefix('-') {
        Some(range) => {
            let (high, rest) = range.split_at(number_length(range));
            (Some(high), rest)
        }
        None => (None, rest),
    };
    // `20k IOPS`, `20 k IOPS`.
    let rest = rest.trim_start();
    let (is_in_thousands, rest) = match rest.strip_prefix(['k', 'K']).filter(|rest| rest.starts_with(' ')) {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let unit = rest.split_whitespace().next()?.trim_end_matches([',', ';', '.']);
    if !UNITS.contains(&unit) {
        return None;
    }
    let low = amount(low_text, unit, is_in_thousands)?;
    let high = match high_text {
        Some(text) => Some(amount(text, unit, is_in_thousands)?),
        None => None,
    };
    let mut findings = Vec::new();
    if has_thousands(low_text, unit) && !is_in_thousands {
        let text = format!("{low_text} {unit} are taken for {low}, as operations are counted in whole numbers");
        findings.push(note(text));
    }
    let remark = rest.trim_start().strip_prefix(unit).unwrap_or_default().trim().to_owned();
    let expected = expected(&remark, unit);
    if high.is_some() {
        findings.push(note(format!(
            "{low}-{} {unit}: a range is no measurement that can be compared",
            high.unwrap_or(low)
        )));
    }
    if expected.is_none() && remark.contains(|letter: char| letter.is_ascii_digit()) {
        findings.push(note("the remark has numbers of its own, which are not taken for what was expected"));
    }
    if let Some(expected) = expected {
        findings.push(note(format!("{expected} {unit} were expected")));
    }
    let value = if high.is_some() { FigureValue::Range } else { value(low, unit)? };
    Some((Figure { command: command.to_owned(), low, high, unit: unit.to_owned(), value, expected, remark }, findings))
}

/// A figure in a unit of its kind.
fn value(figure: f64, unit: &str) -> Option<FigureValue> {
    match unit {
        "IOPS" | "iops" => Some(FigureValue::Iops(figure)),
        _ if unit.ends_with("/s") => {
            bytes_per_second(&format!("1{unit}")).map(|of| FigureValue::BytesPerSecond(figure * of))
        }
        _ => nanoseconds_in(unit).map(|of| FigureValue::LatencyNs(figure * of)),
    }
}

/// A number of so many, or of so many thousands. People write separators of thousands, and nobody counts thousandths of
/// an operation.
fn amount(text: &str, unit: &str, is_in_thousands: bool) -> Option<f64> {
    let factor = if is_in_thousands || has_thousands(text, unit) { 1000.0 } else { 1.0 };
    Some(number(text)? * factor)
}

/// Whether a separator that looks like that of decimals is one of thousands.
fn has_thousands(text: &str, unit: &str) -> bool {
    let has_one = text.matches([',', '.']).count() == 1;
    let has_three = text.rsplit_once([',', '.']).is_some_and(|(_, behind)| behind.len() == 3);
    has_one && has_three && unit.eq_ignore_ascii_case("IOPS")
}

/// What a remark says was expected: `(expected 500 IOPS)`, `(20k provisioned)`, `(300 MiB/s provisioned)`.
fn expected(remark: &str, unit: &str) -> Option<f64> {
    let inside = remark.strip_prefix('(')?.split(')').next()?;
    let text = inside.strip_prefix("expected ").or_else(|| inside.strip_suffix(" provisioned"))?;
    let (_, letters, _) = with_unit(text)?;
    let is_known = letters == unit || letters.is_empty() || letters == "k";
    if is_known { amount(&text[..number_length(text)], unit, letters == "k") } else { None }
}
