//! What the catalog says: lists of entries, all that is known of one, and what a load should get.

use plimsoll_catalog::{
    ceiling::{Ceiling, Load},
    expectation::{Expectation, HostCache},
    listing::{Entry, Shown},
};
use plimsoll_record::numbers;
use plimsoll_workload::limit::{Expected, Limit, Part, RateLimit};

use crate::{
    grid::{Column, Grid, Side},
    printable,
    table::WIDTH_MIN,
    wrapping,
};

/// Labels of facts take at least this many columns.
const LABEL_WIDTH_MIN: usize = 10;

/// Entries, one a row.
pub fn list(entries: &[Entry], width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let text = |value: fn(&Entry) -> String| entries.iter().map(value).collect::<Vec<_>>();
    let mut columns = vec![
        Column::new("name", Side::Left, 0, text(|entry| entry.name.clone())),
        Column::new("what it is", Side::Left, 0, text(|entry| entry.about.clone())),
    ];
    if entries.iter().any(|entry| entry.limit.is_some()) {
        let mut column = |head: &str, rank, value: &dyn Fn(&Limit) -> String| {
            let values = entries.iter().map(|entry| entry.limit.as_ref().map_or_else(String::new, value));
            columns.push(Column::new(head, Side::Right, rank, values.collect()));
        };
        column("IOPS", 0, &|limit| lasting(limit.operations, numbers::iops));
        column("burst", 1, &|limit| bursting(limit.operations, numbers::iops));
        column("MB/s", 0, &|limit| lasting(limit.bytes, numbers::throughput));
        column("burst", 1, &|limit| bursting(limit.bytes, numbers::throughput));
    } else {
        let seller = |entry: &Entry| format!("{:?}", entry.provider).to_ascii_lowercase();
        columns.push(Column::new("from", Side::Left, 1, entries.iter().map(seller).collect()));
    }
    Grid::breaking(1, columns).fit(width).text()
}

/// What is not in a list of products.
pub fn more(sizes: usize, machines: usize, classes: usize, width: usize) -> String {
    let sentence = format!(
        "Also {} sizes, {} machine sizes and {} StorageClasses: `plimsoll catalog list D16` lists those with D16 in \
         their names or descriptions, `plimsoll catalog show P30` tells all that is known of one, and where it stands.",
        numbers::count(sizes as u64),
        numbers::count(machines as u64),
        numbers::count(classes as u64)
    );
    format!("\n{}", wrapping::labelled("", &sentence, width.max(WIDTH_MIN)))
}

/// All that is known of entries.
pub fn show(shown: &[Shown], width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    shown.iter().map(|shown| one(shown, width)).collect::<Vec<_>>().join("\n")
}

fn one(shown: &Shown, width: usize) -> String {
    let mut out = wrapping::labelled("", &format!("{}: {}", shown.name, shown.about), width);
    let mut lines: Vec<(&str, String)> = shown.facts.iter().map(|fact| (fact.label, fact.text.clone())).collect();
    lines.extend(shown.doubts.iter().map(|doubt| ("doubt", doubt.clone())));
    lines.extend(shown.sources.iter().map(|source| ("source", source.to_string())));
    let longest = lines.iter().map(|(label, _)| wrapping::width(label)).max().unwrap_or(0).max(LABEL_WIDTH_MIN);
    for (label, text) in lines {
        out += &wrapping::labelled(&format!("  {label:<longest$}  "), &printable::line(&text), width);
    }
    out
}

/// What a load should get, part by part, and what binds it.
pub fn expectation(expectation: &Expectation, load: Load, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let expected = expectation.for_load(load);
    let mut rows: Vec<(String, String, Limit)> =
        expectation.parts.iter().map(|part| (part.name.clone(), kind(part.part), part.limits.of(load))).collect();
    rows.push(("expected".to_owned(), "the least of them".to_owned(), expected.limit));
    let column = |head: &str, rank, value: &dyn Fn(&Limit) -> String| {
        Column::new(head, Side::Right, rank, rows.iter().map(|(_, _, limit)| value(limit)).collect())
    };
    let columns = vec![
        Column::new("part", Side::Left, 0, rows.iter().map(|(name, ..)| name.clone()).collect()),
        Column::new("what", Side::Left, 2, rows.iter().map(|(_, what, _)| what.clone()).collect()),
        column(&format!("IOPS of {}", numbers::bytes(load.operation_bytes as u64)), 0, &|limit| {
            lasting(limit.operations, numbers::iops)
        }),
        column("burst", 1, &|limit| bursting(limit.operations, numbers::iops)),
        column("MB/s", 0, &|limit| lasting(limit.bytes, numbers::throughput)),
        column("burst", 1, &|limit| bursting(limit.bytes, numbers::throughput)),
    ];
    let mut out = Grid::breaking(0, columns).fit(width).text();
    out.push('\n');
    for sentence in sentences(expectation, &expected, load) {
        out += &wrapping::labelled("", &sentence, width);
    }
    let notes = expectation.parts.iter().flat_map(notes_of).chain(expectation.notes.iter().cloned());
    for note in notes {
        out += &wrapping::labelled("note: ", &printable::line(&note), width);
    }
    let mut sources: Vec<String> =
        expectation.parts.iter().flat_map(|part| &part.sources).map(ToString::to_string).collect();
    sources.extend(expectation.host_cache.as_ref().and_then(|cache| cache.source).map(ToString::to_string));
    sources.dedup();
    for source in sources {
        out += &wrapping::labelled("source: ", &source, width);
    }
    out
}

fn notes_of(part: &Ceiling) -> impl Iterator<Item = String> {
    part.notes.iter().map(|note| format!("{}: {note}", part.name))
}

fn kind(part: Part) -> String {
    match part {
        Part::Disk => "storage",
        Part::Pool => "its pool",
        Part::Vm => "machine",
    }
    .to_owned()
}

fn lasting(limit: Option<RateLimit>, format: fn(f64) -> String) -> String {
    limit.map_or_else(|| "unknown".to_owned(), |limit| format(limit.sustained))
}

fn bursting(limit: Option<RateLimit>, format: fn(f64) -> String) -> String {
    limit.and_then(|limit| limit.burst).map_or_else(String::new, format)
}

/// What binds, how long bursts last, and what the host's cache does.
fn sentences(expectation: &Expectation, expected: &Expected, load: Load) -> Vec<String> {
    let mut sentences = Vec::new();
    let Limit { operations, bytes, .. } = expected.limit;
    let name = |part: Part| expectation.part(part).map_or("", |part| part.name.as_str());
    let size = numbers::bytes(load.operation_bytes as u64);
    match (operations, bytes) {
        (Some(operations), Some(bytes)) if operations.sustained * load.operation_bytes > bytes.sustained => {
            sentences.push(format!(
                "Operations of {size} get {} IOPS in the long run: {} MB/s bind them, of {}.",
                numbers::iops(bytes.sustained / load.operation_bytes),
                numbers::throughput(bytes.sustained),
                name(expected.bytes_by)
            ));
        }
        (Some(operations), _) => sentences.push(format!(
            "Operations of {size} get {} IOPS in the long run, {} MB/s: IOPS bind them, of {}.",
            numbers::iops(operations.sustained),
            numbers::throughput(operations.sustained * load.operation_bytes),
            name(expected.operations_by)
        )),
        (None, Some(bytes)) => sentences.push(format!(
            "At most {} MB/s, of {}; a limit of operations is not known.",
            numbers::throughput(bytes.sustained),
            name(expected.bytes_by)
        )),
        (None, None) => sentences.push("Nothing is known that this load could be held against.".to_owned()),
    }
    let bursts = [(operations, "IOPS", 1.0), (bytes, "MB/s", 1e6)];
    for (limit, unit, scale) in bursts {
        let Some(limit) = limit else { continue };
        let (Some(burst), Some(bucket)) = (limit.burst, limit.bucket) else { continue };
        let seconds = bucket / (burst - limit.sustained);
        sentences.push(format!(
            "A full bucket lasts {} at {} {unit}, and takes {} of rest to fill again.",
            numbers::duration((seconds * 1e9) as u64),
            numbers::count((burst / scale).round() as u64),
            numbers::duration((bucket / limit.sustained * 1e9) as u64),
        ));
    }
    sentences.extend(expectation.host_cache.as_ref().map(host_cache));
    sentences
}

fn host_cache(cache: &HostCache) -> String {
    let hits = match (cache.hits.operations, cache.hits.bytes) {
        (Some(operations), Some(bytes)) => format!(
            "up to {} IOPS and {} MB/s",
            numbers::iops(operations.sustained),
            numbers::throughput(bytes.sustained)
        ),
        (Some(operations), None) => format!("up to {} IOPS", numbers::iops(operations.sustained)),
        (None, _) => "a limit that is not known".to_owned(),
    };
    let size = cache.size_gib.map_or_else(String::new, |gib| format!(" It holds {gib} GiB for all disks."));
    format!("Host caching is {}: what it holds is answered beside these limits, {hits}.{size}", cache.caching)
}
