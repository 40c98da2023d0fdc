//! Rows of a benchmark that writes files and reads them: run name, how many, how large, how often, and three rates.

use plimsoll_record::told::{Files, FoundResult, Measured, Source, note};

use super::{RESULTS_MAX, numbers::number, passage::Passage, result};

const MIB: f64 = 1_048_576.0;

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let mut found = Vec::new();
    let mut index = 0;
    while index < passage.lines.len() && found.len() <= RESULTS_MAX {
        let header = passage.line(index);
        index += 1;
        if !is_header(header) {
            continue;
        }
        let separator = [',', ';', '\t'].into_iter().find(|separator| header.contains(*separator)).unwrap_or(' ');
        let has_date = header.contains("Date");
        while let Some((name, files)) = row(passage.line(index), separator, has_date)
            && found.len() <= RESULTS_MAX
        {
            let findings = vec![
                note("sizes are powers of 1024 and rates MiB/s, whatever their letters say: so this benchmark counts"),
                note("caches were not emptied, so that reads may be those of memory"),
            ];
            let row = result(passage, Source::FileRows, index..=index, Measured::Files(files), findings);
            found.push(FoundResult { target: Some(name), ..row });
            index += 1;
        }
    }
    found
}

fn is_header(line: &str) -> bool {
    ["Run name", "File count", "Iterations", "Write", "Read"].iter().all(|column| line.contains(column))
}

fn row(line: &str, separator: char, has_date: bool) -> Option<(String, Files)> {
    let cells: Vec<&str> = if separator == ' ' {
        line.split_whitespace().collect()
    } else {
        line.split(separator).map(|cell| cell.trim().trim_matches('"')).filter(|cell| !cell.is_empty()).collect()
    };
    let (name, cells) = match cells.as_slice() {
        [name, _date, cells @ ..] if has_date => (name, cells),
        [name, cells @ ..] => (name, cells),
        [] => return None,
    };
    let [count, size, iterations, write, read, both] = *cells else { return None };
    let rate = |text: &str| number(text).map(|mib| mib * MIB);
    let files = Files {
        count: count.parse().ok()?,
        size_bytes: size_bytes(size)?,
        iterations: iterations.parse().ok()?,
        write_bytes_per_second: rate(write)?,
        read_bytes_per_second: rate(read)?,
        write_read_bytes_per_second: rate(both)?,
    };
    Some(((*name).to_owned(), files))
}

/// A size as `100kb` or `1Mb`, in powers of 1024.
fn size_bytes(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}
