//! How much of each run is told. Of many runs or cells it is less, step by step, so that a page can be sent.

use plimsoll_record::record::Record;

use super::{Document, Note, rates::Resolution, run};
use crate::comparison::TARGETS_MAX;

/// Bytes of texts that runs were made from.
const RAW_BYTES: usize = 200_000;
/// Bytes of a single one.
const RAW_BYTES_OF_ONE: usize = 40_000;

/// How much of a run is told.
#[derive(Clone, Copy)]
pub(super) struct Detail {
    /// How finely rates over time are told.
    pub(super) resolution: Resolution,
    /// Classes of a histogram of latencies.
    pub(super) classes: usize,
    /// Whether there are so many runs that nobody reads the small print of each.
    pub(super) is_short: bool,
    /// Bytes of the text that it was made from.
    pub(super) raw_bytes: usize,
    /// Whether distributions of latencies are told.
    pub(super) has_latencies: bool,
    /// Whether there are charts of its cells at all.
    pub(super) has_cells: bool,
    /// Whether its tables are told.
    pub(super) has_tables: bool,
    /// Whether its sweeps are told.
    has_sweeps: bool,
}

/// Steps from all there is to the least, in words for what each leaves out. What says most about a run goes last.
const STEPS: [&str; 10] = [
    "",
    "rates over time have fewer points",
    "histograms of latencies have fewer classes",
    "latencies have few percentiles without intervals, and notes are those that warn",
    "rates over time are a point for each load, with its slowest and its fastest second",
    "histograms of latencies are left out",
    "percentiles of latencies are those of the tables",
    "charts of loads are left out",
    "tables are left out",
    "sweeps are left out",
];
/// Where there are more runs than anybody reads beside each other.
const SHORT: usize = 3;

impl Detail {
    /// What a document of so many runs begins with.
    pub(super) fn first(records: &[&Record]) -> Self {
        Self::at(first_step(records), records)
    }

    fn at(step: usize, records: &[&Record]) -> Self {
        let is_short = step >= SHORT;
        let seconds = records.iter().flat_map(|record| &record.cells).map(|cell| cell.series.len()).sum();
        let points = match step {
            0 => 12_000,
            1..=SHORT => 2_000,
            _ => 1,
        };
        Self {
            resolution: Resolution { points, seconds },
            classes: match step {
                0..=1 => 60,
                2..=4 => 12,
                _ => 0,
            },
            is_short,
            raw_bytes: if is_short { 0 } else { (RAW_BYTES / records.len().max(1)).min(RAW_BYTES_OF_ONE) },
            has_latencies: step < 6,
            has_cells: step < 7,
            has_tables: step < 8,
            has_sweeps: step < 9,
        }
    }
}

const fn first_step(records: &[&Record]) -> usize {
    if records.len() > TARGETS_MAX { SHORT } else { 0 }
}

impl Document {
    /// The document as a page shows it, in so many bytes of JSON at most as far as that can be: bars that nobody reads
    /// are left out, and then detail of each run, of which it is said what there is no more of.
    #[must_use]
    pub fn for_page(mut self, records: &[&Record], bytes: usize) -> Self {
        if records.len() > TARGETS_MAX && self.explanation.take().is_some() {
            self.findings.push(Note::info(format!(
                "what was bought is not shown beside each rate of {} runs: JUnit, Markdown and JSON have it",
                records.len()
            )));
        }
        let first = first_step(records);
        let notes = self.findings.len();
        for step in first + 1..STEPS.len() {
            if self.length() <= bytes {
                break;
            }
            let detail = Detail::at(step, records);
            if !detail.has_sweeps {
                self.sweeps.clear();
            }
            self.runs = records.iter().map(|record| run::of(record, records, detail)).collect();
            self.findings.truncate(notes);
            self.findings.push(Note::info(format!(
                "of each run less is shown, so that this page can be sent: {}; a report of fewer runs has all",
                STEPS[first + 1..=step].join("; ")
            )));
        }
        self
    }

    /// How many bytes it takes in a page, where angle brackets are spelled out.
    fn length(&self) -> usize {
        const SPELLED_OUT: usize = "\\u003c".len();
        let brackets = |json: &str| json.bytes().filter(|byte| matches!(byte, b'<' | b'>')).count();
        serde_json::to_string(self).map_or(0, |json| json.len() + brackets(&json) * (SPELLED_OUT - 1))
    }
}
