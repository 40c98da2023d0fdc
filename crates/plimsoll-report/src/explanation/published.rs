//! Numbers that a text states in its own words beside a report of a program in the same text: those that a slip of
//! units makes out of the right ones.
//!
//! Programs print sizes twice, in binary and in decimal units: `3037GiB (3261GB)`. Who takes the decimal number for a
//! binary one on the way to a rate gets 2 to 10 % too much.

use plimsoll_record::{
    figures::Operation,
    numbers,
    record::{Cell, Record},
};
use serde::Serialize;

use super::did::CellLoad;
use crate::claims::unit;

/// A number that a text states, and what it should be.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slip {
    /// Its lines in the text, from 1.
    pub lines: Vec<usize>,
    /// As it stands there.
    pub stated: String,
    /// Of which operations.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub operation: Operation,
    /// The size that was taken wrongly, in `unit`.
    pub size: f64,
    /// The unit that the report has it in: `GB`.
    pub unit: &'static str,
    /// The unit that it was taken for: `GiB`.
    pub taken_for: &'static str,
    /// The operations per second that follow from the report.
    pub iops: f64,
    /// Those that follow from the slip.
    pub iops_by_slip: f64,
}

impl Slip {
    /// By how much it is too high, as a share.
    pub fn excess(&self) -> f64 {
        self.iops_by_slip / self.iops - 1.0
    }

    fn is_of(&self, size: &DecimalSize) -> bool {
        self.unit == size.unit && (self.size - size.number).abs() < f64::EPSILON
    }

    /// The sentence.
    pub fn text(&self) -> String {
        format!(
            "{} {} IOPS: that would follow from {} {} divided as if they were {} ({}); by the report it is {}, so the \
             text is {} too high",
            match self.lines.as_slice() {
                [line] => format!("line {line} states"),
                lines => format!("lines {} state", lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
            },
            self.stated,
            self.size,
            self.unit,
            self.taken_for,
            numbers::count(self.iops_by_slip.round() as u64),
            numbers::count(self.iops.round() as u64),
            numbers::percent(self.excess())
        )
    }
}

/// The slips in the text of a record about one of its cells.
pub(super) fn slips(record: &Record, cell: &Cell) -> Vec<Slip> {
    let (Some(import), Some(told)) = (&record.import, &cell.told) else { return Vec::new() };
    let load = CellLoad::of(cell);
    let (Some(block), Some(seconds)) = (load.operation_bytes, load.elapsed_s) else { return Vec::new() };
    let lines: Vec<&str> = import.text.lines().collect();
    let (first, last) = told.lines;
    let own = lines.get(first.saturating_sub(1)..last.min(lines.len())).unwrap_or_default();
    let mut slips: Vec<Slip> = Vec::new();
    for did in &load.directions {
        let (Some(iops), Operation::Read | Operation::Write) = (did.iops, did.operation) else { continue };
        let word = if did.operation == Operation::Read { "read" } else { "write" };
        let of_direction = own.iter().filter(|line| line.to_ascii_lowercase().contains(word));
        for size in of_direction.flat_map(|line| decimal_sizes(line)) {
            let iops_by_slip = size.as_binary / block / seconds;
            // The report's own figure is this one with the right unit, else the size is of something else.
            if (size.bytes / block / seconds / iops - 1.0).abs() > 0.02 {
                continue;
            }
            for (index, line) in lines.iter().enumerate() {
                let is_own = (first..=last).contains(&(index + 1));
                let is_about_rates = line.trim_start().starts_with('|') || line.to_ascii_lowercase().contains("iops");
                if is_own || !is_about_rates {
                    continue;
                }
                let stated = whole_numbers(line).find(|(_, value)| is_same(*value, iops_by_slip));
                let Some((stated, _)) = stated else { continue };
                let known = slips.iter_mut().find(|slip| slip.operation == did.operation && slip.is_of(&size));
                match known {
                    Some(slip) => slip.lines.push(index + 1),
                    None => slips.push(Slip {
                        lines: vec![index + 1],
                        stated: stated.to_owned(),
                        operation: did.operation,
                        size: size.number,
                        unit: size.unit,
                        taken_for: size.taken_for,
                        iops,
                        iops_by_slip,
                    }),
                }
            }
        }
    }
    slips
}

/// Whether a whole number is what was computed, rounded or cut.
fn is_same(value: u64, computed: f64) -> bool {
    value >= 100 && (value == computed.round() as u64 || value == computed.floor() as u64)
}

/// A size in a decimal unit.
struct DecimalSize {
    number: f64,
    unit: &'static str,
    taken_for: &'static str,
    bytes: f64,
    as_binary: f64,
}

/// The sizes in decimal units in parentheses, as `(3261GB)`; rates, as `906MB/s`, are none.
fn decimal_sizes(line: &str) -> impl Iterator<Item = DecimalSize> {
    // From MB on, each beside the binary unit that it is taken for.
    let units = unit::BYTES[3..].chunks_exact(2);
    line.split('(').skip(1).filter_map(move |rest| {
        let text = rest.split(')').next()?.trim();
        units.clone().find_map(|pair| {
            let [decimal, binary] = pair else { return None };
            let number = text.strip_suffix(decimal.name())?.trim();
            let is_plain = number.chars().all(|character| character.is_ascii_digit() || character == '.');
            let number: f64 = number.parse().ok().filter(|_| is_plain)?;
            Some(DecimalSize {
                number,
                unit: decimal.name(),
                taken_for: binary.name(),
                bytes: number * decimal.factor,
                as_binary: number * binary.factor,
            })
        })
    })
}

/// The whole numbers of a line, with any sign between thousands, as they stand there.
fn whole_numbers(line: &str) -> impl Iterator<Item = (&str, u64)> {
    let is_part = |character: char| character.is_ascii_digit() || matches!(character, '.' | ',' | '\'' | '\u{202f}');
    line.split(move |character: char| !is_part(character)).filter_map(|text| {
        let text = text.trim_matches(|character: char| !character.is_ascii_digit());
        let mut groups = text.split(|character: char| !character.is_ascii_digit());
        let first = groups.next().filter(|first| !first.is_empty())?;
        let mut digits = first.to_owned();
        for group in groups {
            if group.len() != 3 || first.len() > 3 {
                return None;
            }
            digits.push_str(group);
        }
        Some((text, digits.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_any_sign_between_thousands() {
        let numbers: Vec<u64> =
            whole_numbers("|4.512 GB|82.138| 8,228 and 128, 1.5 or 12.34").map(|(_, n)| n).collect();
        assert_eq!(numbers, [4512, 82_138, 8228, 128]);
    }

    #[test]
    fn sizes_in_parentheses_are_read_and_rates_are_not() {
        let line = "READ: bw=864MiB/s (906MB/s), io=3037GiB (3261GB), run=3600001-3600002msec";
        let sizes = |line: &str| -> Vec<(u64, &str)> {
            decimal_sizes(line).map(|size| (size.number as u64, size.unit)).collect()
        };
        assert_eq!(sizes(line), [(3261, "GB")]);
        assert_eq!(sizes("io=28.0GiB (30\u{a0}GB), (1e3GB), (+5GB)"), [(30, "GB")]);
    }
}
