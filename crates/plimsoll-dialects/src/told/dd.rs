//! The last line of `dd`: `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 10.2 s, 105 MB/s`.

use plimsoll_record::{
    results::Finding,
    told::{Direction, FoundResult, Measured, Source, Transfers, mismatch, note},
};

use super::{
    numbers::{bytes_in, with_unit},
    passage::Passage,
    result,
};

/// How far the rate that is told may be off from bytes and time, which are told more exactly.
const ROUNDING: f64 = 0.02;

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let mut found = Vec::new();
    for (index, line) in passage.each() {
        let Some((transfers, findings)) = summary(line) else { continue };
        let measured = Measured::Transfers(Box::new(transfers));
        found.push(result(passage, Source::Dd, index..=index, measured, findings));
    }
    found
}

fn summary(line: &str) -> Option<(Transfers, Vec<Finding>)> {
    let (before, after) = line.split_once(" copied, ")?;
    let (amount, _) = before.split_once(" byte")?;
    let amount = amount.rsplit(|letter: char| !letter.is_ascii_digit()).next()?;
    let bytes: u64 = amount.parse().ok()?;
    let (seconds, unit, rest) = with_unit(after)?;
    if unit != "s" || seconds <= 0.0 {
        return None;
    }
    let rate = bytes as f64 / seconds;
    let mut findings = vec![note("dd does not say whether it read or wrote, and whether a cache answered")];
    if let Some((told, unit, _)) = with_unit(rest.trim_start_matches([',', ' ']))
        && let Some(factor) = unit.strip_suffix("/s").and_then(bytes_in)
    {
        let told = told * factor;
        if (told / rate - 1.0).abs() > ROUNDING {
            findings.push(mismatch(format!(
                "{bytes} bytes in {seconds} s are {:.1} MB/s, and {:.1} MB/s are told",
                rate / 1e6,
                told / 1e6
            )));
        }
    }
    let total = Direction { bytes: Some(bytes), bytes_per_second: Some(rate), ..Direction::default() };
    let elapsed_ns = Some((seconds * 1e9).round() as u64);
    Some((Transfers { elapsed_ns, total: Some(total), ..Transfers::default() }, findings))
}
