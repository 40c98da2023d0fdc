//! `plimsoll show`: one run of the history, as it was shown when it ended.

use std::io::Write;

use plimsoll_history::location::HistoryLocation;

use super::history;
use crate::{cli::show::ShowArguments, printer::Printer};

/// Writes the table of a run, or its whole record.
pub fn run(arguments: &ShowArguments, location: &HistoryLocation, out: &mut dyn Write) -> anyhow::Result<()> {
    let history = history::read(location)?;
    let record = history.get(history.find(&arguments.run)?)?;
    if arguments.json {
        serde_json::to_writer_pretty(&mut *out, &record)?;
        writeln!(out)?;
    } else {
        let printer = Printer::new(false);
        write!(out, "{}", plimsoll_report::table::record(&record, printer.width(), printer.style()))?;
    }
    Ok(())
}
