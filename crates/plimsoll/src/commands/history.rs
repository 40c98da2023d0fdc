//! `plimsoll history`: the runs there have been, one a line.

use std::{io::Write, path::Path};

use anyhow::bail;
use jiff::Timestamp;
use plimsoll_history::{
    history::History,
    location::HistoryLocation,
    summary::{CellSummary, Filter, RunSummary},
};
use plimsoll_io::clock;
use plimsoll_report::runs::RunRow;

use crate::{cli::history::HistoryArguments, printer::Printer};

/// Lists runs, the latest first.
pub fn run(arguments: &HistoryArguments, location: &HistoryLocation, out: &mut dyn Write) -> anyhow::Result<()> {
    let history = read(location)?;
    let since = arguments.since.map(|moment| moment.timestamp(now()?)).transpose()?;
    let (target, tags) = (arguments.target.clone(), arguments.tags.clone());
    let filter = Filter { target, tags, since, limit: Some(arguments.limit), ..Filter::default() };
    let runs = history.list(&filter)?;
    if arguments.json {
        serde_json::to_writer_pretty(&mut *out, &runs)?;
        writeln!(out)?;
    } else if runs.is_empty() {
        let is_empty = history.latest()?.is_none();
        let text =
            if is_empty { "no runs yet: \"plimsoll run DIRECTORY\" makes the first entry" } else { "no such runs" };
        writeln!(out, "{text}")?;
    } else {
        let ids: Vec<_> = runs.iter().map(|run| run.id).collect();
        let short_ids = history.short_ids(&ids)?;
        write!(out, "{}", table(&runs, &short_ids, Printer::new(false).width()))?;
    }
    Ok(())
}

/// Opens the history to look at it.
pub(super) fn read(location: &HistoryLocation) -> anyhow::Result<History> {
    Ok(History::read(path(location)?)?)
}

/// Opens the history to change it.
pub(super) fn open(location: &HistoryLocation) -> anyhow::Result<History> {
    Ok(History::open(path(location)?)?)
}

/// Where the history is.
pub(super) fn path(location: &HistoryLocation) -> anyhow::Result<&Path> {
    match location {
        HistoryLocation::File(path) => Ok(path),
        HistoryLocation::None => {
            bail!(
                "there is no history here: leave --no-history out, set HOME or XDG_STATE_HOME, or name a file with --history"
            )
        }
    }
}

/// The time of day.
pub(super) fn now() -> anyhow::Result<Timestamp> {
    Ok(Timestamp::from_nanosecond(clock::wall_clock_ns().into())?)
}

fn ending(run: &RunSummary) -> Option<&str> {
    Some(run.outcome.as_str()).filter(|outcome| *outcome != "complete")
}

fn table(runs: &[RunSummary], short_ids: &[String], width: usize) -> String {
    let best = |run: &RunSummary, rate: fn(&CellSummary) -> Option<f64>| {
        // What moves no bytes, as names that are made, has no throughput.
        run.cells.iter().filter_map(rate).filter(|rate| *rate > 0.0).max_by(f64::total_cmp)
    };
    let rows: Vec<_> = runs
        .iter()
        .zip(short_ids)
        .map(|(run, id)| RunRow {
            id,
            started: run.started,
            name: run.name.as_deref(),
            targets: &run.targets,
            cells: run.cells.len(),
            best_iops: best(run, CellSummary::iops),
            best_bytes_per_second: best(run, |cell| cell.bytes_per_second),
            ending: if run.is_imported() { Some("imported") } else { ending(run) },
        })
        .collect();
    plimsoll_report::runs::runs(&rows, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, target: &str, outcome: &str, iops: f64) -> RunSummary {
        let cell = CellSummary {
            target: target.to_owned(),
            workload: "randread 4KiB QD32".to_owned(),
            read_iops: Some(iops),
            write_iops: None,
            all_iops: None,
            bytes_per_second: Some(iops * 4096.0),
            latency_mean_ns: None,
            latency_p99_ns: None,
            verdict: Some("short".to_owned()),
        };
        let slower = CellSummary { read_iops: Some(1.0), bytes_per_second: None, ..cell.clone() };
        RunSummary {
            id: "0199c0de-7a3e-7000-8000-0000000000a1".parse().unwrap(),
            started: "2025-10-08T09:30:00Z".parse().unwrap(),
            elapsed_ns: 5_250_000_000,
            outcome: outcome.to_owned(),
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            tags: [].into(),
            targets: vec![target.to_owned()],
            version: "0.1.0".to_owned(),
            cells: vec![slower, cell],
        }
    }

    fn show(runs: &[RunSummary], width: usize) -> String {
        let ids: Vec<_> = runs.iter().map(|_| "0199c0de-7a3e".to_owned()).collect();
        table(runs, &ids, width)
    }

    #[test]
    fn a_run_is_one_line_with_its_time_and_its_best_numbers() {
        let text = show(&[run("first", "/mnt/data", "complete", 5100.0), run("", "/dev/sdc", "lost", 12.3)], 100);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        for part in ["0199c0de-7a3e", "2025-10-08 09:30", "first", "/mnt/data", "5,100", "20.9"] {
            assert!(lines[2].contains(part), "{part} in\n{text}");
        }
        assert!(!lines[2].contains("complete") && lines[3].ends_with("lost"), "{text}");
    }
}
