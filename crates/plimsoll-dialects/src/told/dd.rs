//! The last line of `dd`: `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 10.2 s, 105 MB/s`, in any language, and that of
//! other systems: `1073741824 bytes transferred in 10.2 secs (105267825 bytes/sec)`.

use plimsoll_record::{
    results::Finding,
    told::{Direction, FoundResult, Measured, Source, Transfers, mismatch, note},
};

use super::{
    RESULTS_MAX,
    numbers::{binary_bytes_in, bytes_in, number_length, rounding, with_unit},
    passage::{Passage, content},
    result,
};

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    // How far it is, as `status=progress` says, is told before records are counted, and again behind them.
    let mut is_counted = false;
    let all = passage.each().filter_map(|(index, line)| {
        is_counted |= counts_records(line);
        let (transfers, findings) = summary(content(line))?;
        if !std::mem::take(&mut is_counted)
            && counts_records(passage.line(index + 1))
            && (index + 2..index + 5).any(|later| summary(content(passage.line(later))).is_some())
        {
            return None;
        }
        let measured = Measured::Transfers(Box::new(transfers));
        Some(result(passage, Source::Dd, index..=index, measured, findings))
    });
    all.take(RESULTS_MAX + 1).collect()
}

/// `256+0 records in`, in any language.
fn counts_records(line: &str) -> bool {
    let words = content(line).split_once(' ').and_then(|(counts, _)| counts.split_once('+'));
    words.is_some_and(|(whole, part)| [whole, part].into_iter().all(|count| count.parse::<u64>().is_ok()))
}

fn summary(line: &str) -> Option<(Transfers, Vec<Finding>)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (amount, rest) = line.split_at(digits);
    let bytes: u64 = amount.parse().ok()?;
    let (seconds, told) = match rest.strip_prefix(" bytes transferred in ") {
        Some(rest) => {
            let (seconds, rest) = rest.split_once(" secs (")?;
            (seconds, rest.split_once(" bytes/sec)")?.0)
        }
        None => {
            // A word for bytes, perhaps the same in other units, and a word for what was done.
            let (before, told) = rest.rsplit_once(", ")?;
            let (before, seconds) = before.rsplit_once(", ")?;
            before.strip_prefix(' ').filter(|words| words.starts_with(char::is_alphabetic))?;
            (seconds, told)
        }
    };
    let seconds = seconds_of(seconds).filter(|seconds| *seconds > 0.0)?;
    let rate = bytes as f64 / seconds;
    let mut findings = vec![note("dd does not say whether it read or wrote, and whether a cache answered")];
    let (value, unit, _) = with_unit(told)?;
    // BusyBox writes no space, and its MB are powers of 1024.
    let is_busybox = told[number_length(told)..].starts_with(unit);
    let bytes_in = if is_busybox { binary_bytes_in } else { bytes_in };
    let factor = if unit.is_empty() { Some(1.0) } else { unit.strip_suffix("/s").and_then(bytes_in) };
    let told_rate = value * factor?;
    if (told_rate - rate).abs() > (rounding(told) + 0.01) * told_rate.max(rate) {
        let (made, told) = (rate / 1e6, told_rate / 1e6);
        findings
            .push(mismatch(format!("{bytes} bytes in {seconds} s are {made:.1} MB/s, and {told:.1} MB/s are told")));
    }
    let total = Direction { bytes: Some(bytes), bytes_per_second: Some(rate), ..Direction::default() };
    let elapsed_ns = Some((seconds * 1e9).round() as u64);
    Some((Transfers { elapsed_ns, total: Some(total), ..Transfers::default() }, findings))
}

/// `10.2 s`, `10,2 s`, `10.2 seconds`, `7.8e-05 s`, `10.2`.
fn seconds_of(text: &str) -> Option<f64> {
    let number = text.split(' ').next()?.replace(',', ".");
    let unit = text[number.len()..].trim();
    let seconds: f64 = number.parse().ok().filter(|seconds: &f64| seconds.is_finite())?;
    (unit.is_empty() || unit.starts_with('s')).then_some(seconds)
}
