//! What was found in a text of another program: its results, one a row, and what is to be said of them.

use std::collections::BTreeMap;

use plimsoll_record::{
    figures::{Figures, Operation},
    numbers,
    record::{Cell, Record},
    told::{Measured, Source, Told},
};

use crate::{
    grid::{Column, Grid, Side},
    printable,
    table::WIDTH_MIN,
    wrapping,
};

/// The results of an import, with their lines in the text.
pub fn found(record: &Record, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let told: Vec<(&Cell, &Told)> = record.cells.iter().filter_map(|cell| Some((cell, cell.told.as_ref()?))).collect();
    let text =
        |value: fn(&Cell, &Told) -> String| told.iter().map(|(cell, told)| value(cell, told)).collect::<Vec<_>>();
    let columns = vec![
        Column::new("lines", Side::Right, 0, text(|_, told| lines(told))),
        Column::new("kind", Side::Left, 2, text(|_, told| told.source.to_string())),
        Column::new("target", Side::Left, 1, text(|cell, _| cell.target.clone())),
        Column::new("workload", Side::Left, 0, text(|cell, _| cell.workload.clone())),
        Column::new("says", Side::Left, 0, text(figures)),
    ];
    let mut out = wrapping::labelled("", &printable::line(&source(record)), width);
    out.push('\n');
    out += &Grid::breaking(4, columns).fit(width).text();
    // What holds for several results is said once.
    let mut findings: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (cell, told) in &told {
        for finding in &cell.findings {
            findings.entry(&finding.text).or_default().push(lines(told));
        }
    }
    if !findings.is_empty() {
        out.push('\n');
    }
    for (sentence, places) in findings {
        let several = if places.len() > 1 { format!(" and {} more", places.len() - 1) } else { String::new() };
        out += &wrapping::labelled(&format!("lines {}{several}: ", places[0]), &printable::line(sentence), width);
    }
    out
}

/// The text that was read, and what was in it: `post.md: 6 x fio job, 10 x time of a command`.
pub(crate) fn source(record: &Record) -> String {
    let mut counts: BTreeMap<Source, usize> = BTreeMap::new();
    for told in record.cells.iter().filter_map(|cell| cell.told.as_ref()) {
        *counts.entry(told.source).or_default() += told.count();
    }
    let counts: Vec<String> = counts.iter().map(|(source, count)| format!("{count} x {source}")).collect();
    let file = record.import.as_ref().map_or("", |import| &import.file);
    format!("{}: {}", if file == "-" { "standard input" } else { file }, counts.join(", "))
}

fn lines(told: &Told) -> String {
    let (first, last) = told.lines;
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// What a result says, in a line.
fn figures(cell: &Cell, told: &Told) -> String {
    if let Measured::Figure(figure) = &told.measured {
        let high = figure.high.map_or_else(String::new, |high| format!("-{high}"));
        return format!("{}{high} {}", figure.low, figure.unit);
    }
    match told.durations() {
        [] => {}
        [one] => return numbers::elapsed(one.elapsed_ns),
        [first, .., last] => {
            let mean = cell.figures(Operation::All).and_then(|figures| figures.latency_ns.mean);
            let mean = mean.map_or_else(String::new, |mean| format!(", {} on average", numbers::elapsed(mean as u64)));
            let ends = [first, last].map(|duration| numbers::elapsed(duration.elapsed_ns));
            return format!("{} runs, {} first and {} last{mean}", told.durations().len(), ends[0], ends[1]);
        }
    }
    let is_shown = |operation: &Operation| *operation != Operation::All || !told.is_told_apart();
    let parts = Operation::ALL.into_iter().filter(is_shown).filter_map(|operation| {
        let word = match operation {
            Operation::Read => "read ",
            Operation::Write => "write ",
            Operation::All if matches!(told.measured, Measured::Files(_)) => "both ",
            Operation::Sync => "sync ",
            Operation::All | Operation::Phase(_) => "",
        };
        Some(format!("{word}{}", rates(told, &cell.figures(operation)?)))
    });
    let text = parts.collect::<Vec<_>>().join("; ");
    match told.transfers().and_then(|transfers| transfers.elapsed_ns) {
        Some(ns) => format!("{text}; in {}", numbers::duration(ns)),
        None => text,
    }
}

fn rates(told: &Told, figures: &Figures<'_>) -> String {
    let throughput = |rate: f64| format!("{} {}", numbers::throughput(rate), numbers::THROUGHPUT_UNIT);
    let throughput = figures.bytes_per_second.map(throughput);
    if matches!(told.measured, Measured::Files(_)) {
        return throughput.unwrap_or_default();
    }
    let parts = [
        figures.iops.map(|iops| format!("{} IOPS", numbers::iops(iops))),
        throughput,
        figures.latency_ns.mean.map(|ns| format!("{} on average", numbers::latency_in_text(ns))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{
        record::Tool,
        told::{Direction, FoundResult, Import, Reading, Transfers, note},
    };

    use super::*;

    fn record() -> Record {
        let read = Direction { iops: Some(55_287.0), bytes_per_second: Some(864e6), ..Direction::default() };
        let transfers = Transfers { read: Some(read), elapsed_ns: Some(10_000_000_000), ..Transfers::default() };
        let measured = Measured::Transfers(Box::new(transfers));
        let found = FoundResult {
            told: Told { source: Source::FioText, lines: (308, 309), measured },
            target: None,
            workload: Some("randread".to_owned()),
            heading: Some("a heading that is quite long".to_owned()),
            started: None,
            findings: vec![note("two words that do not agree with each other in any way")],
        };
        let reading = Reading {
            id: "0199c0de-7a3e-7000-8000-0000000000a1".parse().unwrap(),
            tool: Tool { version: "0.1.0".to_owned(), commit: None, profile: "release".to_owned() },
            name: None,
            tags: BTreeMap::new(),
            target: None,
        };
        let at = "2025-10-08T09:30:00Z".parse().unwrap();
        Record::of_import(
            reading,
            Import { file: "a\u{1b}[31m.md".to_owned(), at, text: String::new() },
            vec![found; 2],
        )
    }

    #[test]
    fn what_is_said_stays_when_there_is_little_room() {
        let wide = found(&record(), 120);
        for words in
            ["2 x fio job", "a heading that is", "read 55.3k IOPS, 864 MB/s; in 10 s", "lines 308-309 and 1 more: two"]
        {
            assert!(wide.contains(words), "{words} is not in\n{wide}");
        }
        assert!(!wide.contains('\u{1b}'), "{wide}");
        let narrow = found(&record(), 44);
        assert!(narrow.contains("308-309") && narrow.contains("IOPS") && !narrow.contains("a heading"), "{narrow}");
        assert!(narrow.lines().all(|line| line.chars().count() <= 44), "{narrow}");
    }
}
