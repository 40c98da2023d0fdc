//! Metrics in the text format of Prometheus, version 0.0.4: of the latest run of each target with each workload, and of
//! the runs that are going on.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::{Mutex, PoisonError},
};

use plimsoll_history::{
    history::{History, HistoryError},
    summary::LatestCell,
};
use plimsoll_record::{
    figures::{Figures, Operation},
    record::{Cell, Record},
};
use uuid::Uuid;

use super::{live::LiveRun, server::Shared};

/// What the format is called.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Targets with workloads that are told, those of the latest runs: each is many series for whoever collects them.
const CELLS_MAX: usize = 1000;

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub help: &'static str,
    /// The labels that every series of it has.
    pub labels: &'static [&'static str],
}

const OPERATIONS: &str = "plimsoll_operations_per_second";
const BYTES: &str = "plimsoll_bytes_per_second";
const LATENCY: &str = "plimsoll_latency_seconds";
const TIMESTAMP: &str = "plimsoll_run_timestamp_seconds";
const VERDICT: &str = "plimsoll_verdict";
const ERRORS: &str = "plimsoll_errors";
const MISMATCHES: &str = "plimsoll_mismatches";
const LIVE_OPERATIONS: &str = "plimsoll_live_operations_per_second";
const LIVE_BYTES: &str = "plimsoll_live_bytes_per_second";
const LIVE_LATENCY: &str = "plimsoll_live_latency_seconds";
const LIVE_RUNS: &str = "plimsoll_live_runs";
const READABLE: &str = "plimsoll_history_readable";
const RUNS: &str = "plimsoll_history_runs";
const BUILD: &str = "plimsoll_build_info";

/// The run is a label only where it has to be: each of its values is a series of its own for whoever collects them.
const OF_RUN: &[&str] = &["target", "workload", "run"];
const OF_OPERATION: &[&str] = &["target", "workload", "operation"];

/// Every metric that is told, in this order. All are gauges: runs can be removed.
pub const METRICS: [Metric; 14] = [
    Metric {
        name: OPERATIONS,
        help: "Operations per second in the latest run of a target with a workload.",
        labels: OF_OPERATION,
    },
    Metric {
        name: BYTES,
        help: "Bytes per second in the latest run of a target with a workload.",
        labels: OF_OPERATION,
    },
    Metric {
        name: LATENCY,
        help: "Latency that this percentage of the operations did not exceed; absent where too few support it, and where \
               the run was too short to say that it is no longer.",
        labels: &["target", "workload", "operation", "percentile"],
    },
    Metric {
        name: TIMESTAMP,
        help: "When the latest run began, in seconds since 1970, and which it is.",
        labels: OF_RUN,
    },
    Metric {
        name: VERDICT,
        help: "1 for the one word about the numbers of the latest run.",
        labels: &["target", "workload", "verdict"],
    },
    Metric {
        name: ERRORS,
        help: "Failed operations of the latest run; absent where another program measured and did not tell them.",
        labels: &["target", "workload"],
    },
    Metric {
        name: MISMATCHES,
        help: "Checks of the latest run that found a block that was not as written; absent where none was verified.",
        labels: &["target", "workload"],
    },
    Metric {
        name: LIVE_OPERATIONS,
        help: "Reads and writes in the last second of what is being measured; absent when that is long ago.",
        labels: OF_RUN,
    },
    Metric { name: LIVE_BYTES, help: "Bytes in the last second of what is being measured.", labels: OF_RUN },
    Metric {
        name: LIVE_LATENCY,
        help: "Latency that this percentage of the operations did not exceed in the last second of a run.",
        labels: &["target", "workload", "run", "percentile"],
    },
    Metric {
        name: LIVE_RUNS,
        help: "Runs that are going on of the user whose server it is, but those with --no-history.",
        labels: &[],
    },
    Metric { name: READABLE, help: "1 while the history can be read, and 0 otherwise.", labels: &[] },
    Metric { name: RUNS, help: "Runs in the history.", labels: &[] },
    Metric { name: BUILD, help: "1 for the plimsoll that tells this.", labels: &["version", "commit"] },
];

/// Series of cells that were made of records before: these are long, and change seldom.
#[derive(Default)]
pub(crate) struct Cached(Mutex<Cache>);

#[derive(Default)]
struct Cache {
    /// Of the history, when the cells were looked for.
    revision: Option<u64>,
    cells: Vec<LatestCell>,
    runs: BTreeMap<OfRun, Vec<OfCell>>,
}

/// A run, and how long it took: who goes on with it makes it longer.
type OfRun = (Uuid, u64);

/// What is told of a cell of a record.
struct OfCell {
    target: String,
    /// What its series call the target.
    place: String,
    workload: String,
    series: Vec<Series>,
}

/// A value with its labels.
#[derive(Clone)]
struct Series {
    name: &'static str,
    labels: String,
    value: f64,
}

/// `GET /metrics`. A history that cannot be read takes nothing from what is known without it.
pub(crate) fn text(shared: &Shared) -> String {
    let mut series = Vec::new();
    let snapshot = shared.following.look();
    let of_history = of_history(shared, snapshot.history_revision);
    let own = |name, labels: &[(&str, &str)], value| Series { name, labels: self::labels(labels), value };
    series.push(own(READABLE, &[], f64::from(u8::from(of_history.is_ok()))));
    if let Ok((of_cells, count)) = of_history {
        series.extend(of_cells);
        series.push(own(RUNS, &[], count as f64));
    }
    of_live(&snapshot.runs, &mut series);
    series.push(own(LIVE_RUNS, &[], snapshot.runs.len() as f64));
    let tool = &shared.settings.tool;
    let commit = tool.commit.as_deref().unwrap_or_default();
    series.push(own(BUILD, &[("version", &tool.version), ("commit", commit)], 1.0));
    written(&series)
}

/// The series of the latest cells, and how many runs there are.
fn of_history(shared: &Shared, revision: u64) -> Result<(Vec<Series>, usize), HistoryError> {
    let history = History::read(&shared.settings.history)?;
    Ok((shared.metrics.of(&history, revision)?, history.count()?))
}

impl Cached {
    /// The series of the latest cells. A record that cannot be read any more takes nothing from the others.
    fn of(&self, history: &History, revision: u64) -> Result<Vec<Series>, HistoryError> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Cache { revision: known, cells, runs: cached } = &mut *cache;
        // To find the latest takes a look at all runs.
        if *known != Some(revision) {
            *cells = history.latest_cells(CELLS_MAX)?;
            *known = Some(revision);
        }
        let wanted: BTreeSet<OfRun> = cells.iter().map(|cell| (cell.run, cell.elapsed_ns)).collect();
        cached.retain(|key, _| wanted.contains(key));
        for key in wanted {
            if !cached.contains_key(&key)
                && let Ok(record) = history.get(key.0)
            {
                cached.insert(key, of_record(&record));
            }
        }
        let mut series = Vec::new();
        let mut told = BTreeSet::new();
        for cell in cells {
            let of_run = cached.get(&(cell.run, cell.elapsed_ns)).into_iter().flat_map(|cells| cells.iter());
            // A plan may have the same load on the same target twice; there is only one series for it.
            let mut same = of_run.filter(|known| known.target == cell.target && known.workload == cell.workload);
            // The latest comes first; the same place may have been a target beside others before.
            let latest = same.next().filter(|known| told.insert((&known.place, &known.workload)));
            series.extend(latest.into_iter().flat_map(|known| known.series.iter().cloned()));
        }
        Ok(series)
    }
}

fn of_record(record: &Record) -> Vec<OfCell> {
    let of_cell = |cell: &Cell| OfCell {
        target: cell.target.clone(),
        place: place(record, cell).to_owned(),
        workload: cell.workload.clone(),
        series: series_of(record, cell),
    };
    record.cells.iter().filter(|cell| cell.word_of_numbers().is_some()).map(of_cell).collect()
}

/// The target of a cell: what was typed, or where that is when it may be in several places.
fn place<'a>(record: &'a Record, cell: &'a Cell) -> &'a str {
    record.environment.place_of(&cell.target).unwrap_or(&cell.target)
}

fn series_of(record: &Record, cell: &Cell) -> Vec<Series> {
    let run = record.id.to_string();
    let own = [("target", place(record, cell)), ("workload", cell.workload.as_str())];
    let mut series = Vec::new();
    let mut add = |name, more: &[(&str, &str)], value: f64| {
        series.push(Series { name, labels: labels(&[&own, more].concat()), value });
    };
    let phases = cell.phases.names().map(Operation::Phase);
    for operation in Operation::ALL.into_iter().chain(phases) {
        let Some(figures) = cell.figures(operation) else { continue };
        let word = word(operation);
        let of = [("operation", word)];
        figures.iops.into_iter().for_each(|iops| add(OPERATIONS, &of, iops));
        figures.bytes_per_second.into_iter().for_each(|bytes| add(BYTES, &of, bytes));
        for (percentile, latency_ns) in percentiles(&figures) {
            add(LATENCY, &[("operation", word), ("percentile", &percentile)], latency_ns as f64 / 1e9);
        }
    }
    add(TIMESTAMP, &[("run", &run)], record.started.as_nanosecond() as f64 / 1e9);
    cell.word_of_numbers().into_iter().for_each(|word| add(VERDICT, &[("verdict", word.as_str())], 1.0));
    let errors = match &cell.told {
        Some(told) => told.transfers().and_then(|transfers| transfers.errors),
        None => Some(cell.errors),
    };
    errors.into_iter().for_each(|errors| add(ERRORS, &[], errors as f64));
    cell.verification.iter().for_each(|verified| add(MISMATCHES, &[], verified.mismatches as f64));
    series
}

const fn word(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Sync => "sync",
        Operation::All => "all",
        Operation::Phase(phase) => phase.as_str(),
    }
}

/// The percentiles up to one that may be longer than was measured: what is beyond it may be so too.
fn percentiles(figures: &Figures<'_>) -> impl Iterator<Item = (String, u64)> {
    let latency = &figures.latency_ns;
    let all = [
        ("p50", latency.p50),
        ("p90", latency.p90),
        ("p95", latency.p95),
        ("p99", latency.p99),
        ("p99_9", latency.p99_9),
        ("p99_99", latency.p99_99),
    ];
    let measured = figures.measured;
    let interval = move |name| measured.and_then(|measured| measured.latency_interval(name));
    let known = all.into_iter().take_while(move |(name, _)| interval(name).is_none_or(|known| known.high_ns.is_some()));
    known.filter_map(|(name, latency_ns)| Some((name.trim_start_matches('p').replace('_', "."), latency_ns?)))
}

/// What is measured now. Where a plan has the same load on the same target twice, one of both is told.
fn of_live(runs: &[LiveRun], series: &mut Vec<Series>) {
    for run in runs {
        let id = run.id.to_string();
        let mut told = BTreeSet::new();
        for cell in &run.cells {
            let Some(second) = cell.now.as_ref().filter(|_| told.insert((&cell.target, &cell.workload))) else {
                continue;
            };
            let own = [("target", cell.place.as_str()), ("workload", cell.workload.as_str()), ("run", id.as_str())];
            let mut add = |name, more: &[(&str, &str)], value: f64| {
                series.push(Series { name, labels: labels(&[&own, more].concat()), value });
            };
            add(LIVE_OPERATIONS, &[], second.iops);
            add(LIVE_BYTES, &[], second.bytes_per_second);
            let p99_ns = second.p99_ns.into_iter();
            p99_ns.for_each(|p99_ns| add(LIVE_LATENCY, &[("percentile", "99")], p99_ns as f64 / 1e9));
        }
    }
}

/// Series in groups of their metrics, as the format wants them.
fn written(series: &[Series]) -> String {
    let mut out = String::new();
    for Metric { name, help, .. } in METRICS {
        let mut own = series.iter().filter(|series| series.name == name && series.value.is_finite()).peekable();
        if own.peek().is_none() {
            continue;
        }
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge");
        for series in own {
            let _ = writeln!(out, "{name}{} {}", series.labels, series.value);
        }
    }
    out
}

/// Labels as they are written, with what would end their values escaped.
fn labels(pairs: &[(&str, &str)]) -> String {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{
        latencies::LatencyInterval,
        told::{Measured, Source, Told, Transfers},
        verification::VerificationResult,
    };
    use plimsoll_workload::file_set::FilePhase;

    use super::*;

    #[test]
    fn what_would_end_a_label_is_escaped() {
        assert_eq!(labels(&[("target", "a\"b\\c\nd"), ("run", "1")]), "{target=\"a\\\"b\\\\c\\nd\",run=\"1\"}");
        assert_eq!(labels(&[]), "");
    }

    #[test]
    fn what_a_set_of_files_did_is_told_phase_by_phase_and_so_is_what_was_not_as_written() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/records/plimsoll-1.json");
        let mut record = plimsoll_record::upgrade::read(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut deletes = record.cells[0].read.clone().unwrap();
        deletes.iops = 321.0;
        record.cells[0].phases.set(FilePhase::Delete, deletes);
        record.cells[0].verification = Some(VerificationResult { mismatches: 3, ..VerificationResult::default() });
        let text = written(&series_of(&record, &record.cells[0]));
        assert!(text.contains("operation=\"delete\"} 321\n"), "{text}");
        assert!(text.lines().any(|line| line.starts_with("plimsoll_mismatches{") && line.ends_with(" 3")), "{text}");
    }

    #[test]
    fn a_percentile_that_may_be_longer_is_not_told_and_none_beyond_it() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/records/plimsoll-1.json");
        let mut record = plimsoll_record::upgrade::read(&std::fs::read_to_string(path).unwrap()).unwrap();
        let read = record.cells[0].read.as_mut().unwrap();
        let latency = &mut read.latency_ns;
        (latency.p95, latency.p99, latency.p99_9) = (Some(2_000_000), Some(3_000_000), Some(4_000_000));
        let interval = |percentile: &str, high_ns| LatencyInterval {
            percentile: percentile.to_owned(),
            low_ns: 1,
            high_ns,
            exceedances: 10,
            design_effect: 1.0,
            needed_seconds: None,
        };
        read.latency_intervals = vec![interval("p95", Some(2_500_000)), interval("p99", None)];
        let told = |record: &Record| written(&series_of(record, &record.cells[0]));
        let read = |percentile| format!("operation=\"read\",percentile=\"{percentile}\"}}");
        let text = told(&record);
        assert!(text.contains(&format!("{} 0.002\n", read("95"))), "{text}");
        assert!(!text.contains(&read("99")) && !text.contains(&read("99.9")), "{text}");
        record.cells[0].read.as_mut().unwrap().latency_intervals.pop();
        assert!(told(&record).contains(&format!("{} 0.004\n", read("99.9"))));
    }

    #[test]
    fn errors_that_nobody_told_are_not_called_none() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/records/plimsoll-1.json");
        let mut record = plimsoll_record::upgrade::read(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert!(written(&series_of(&record, &record.cells[0])).contains("plimsoll_errors{"));
        for (errors, is_told) in [(None, false), (Some(0), true)] {
            let measured = Measured::Transfers(Box::new(Transfers { errors, ..Transfers::default() }));
            record.cells[0].told = Some(Told { source: Source::Dd, lines: (1, 1), measured });
            let text = written(&series_of(&record, &record.cells[0]));
            assert_eq!(text.contains("plimsoll_errors{"), is_told, "{text}");
        }
    }

    #[test]
    fn what_was_typed_in_several_directories_is_called_by_its_place() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/records/plimsoll-1.json");
        let mut record = plimsoll_record::upgrade::read(&std::fs::read_to_string(path).unwrap()).unwrap();
        let typed = std::mem::replace(&mut record.cells[0].target, ".".to_owned());
        let target = record.environment.targets.iter_mut().find(|target| target.name == typed).unwrap();
        (target.name, target.path) = (".".to_owned(), Some("/mnt/a".to_owned()));
        let text = written(&series_of(&record, &record.cells[0]));
        assert!(text.contains("{target=\"/mnt/a\",") && !text.contains("target=\".\""), "{text}");
    }

    #[test]
    fn series_stand_below_what_they_are_and_only_what_is_a_number_is_told() {
        let one = |name, value| Series { name, labels: labels(&[("run", "1")]), value };
        let text = written(&[one(ERRORS, 0.0), one(OPERATIONS, 1234.5), one(OPERATIONS, f64::NAN)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert_eq!(lines[1], "# TYPE plimsoll_operations_per_second gauge");
        assert_eq!(lines[2], "plimsoll_operations_per_second{run=\"1\"} 1234.5");
        assert_eq!(lines[5], "plimsoll_errors{run=\"1\"} 0");
    }

    #[test]
    fn the_dashboard_asks_for_nothing_that_is_not_told() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/grafana-dashboard.json");
        let dashboard: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut expressions = Vec::new();
        for panel in dashboard["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().unwrap() {
                expressions.push(target["expr"].as_str().unwrap().to_owned());
            }
        }
        for variable in dashboard["templating"]["list"].as_array().unwrap() {
            expressions.extend(variable["query"].as_str().map(str::to_owned));
        }
        let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let words = expressions.iter().flat_map(|text| text.split(move |character| !is_part(character)));
        let asked: BTreeSet<&str> = words.filter(|word| word.starts_with("plimsoll_")).collect();
        let told: BTreeSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert!(asked.len() >= 6, "{asked:?}");
        let unknown: Vec<_> = asked.difference(&told).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn users_are_told_of_every_metric() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/serving.md");
        let page = std::fs::read_to_string(path).unwrap();
        for metric in METRICS {
            let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
            let row = format!("| `{}` | {} |", metric.name, labels.join(", ")).replace("|  |", "| |");
            assert!(page.contains(&row), "docs/serving.md does not have: {row}");
        }
    }
}
