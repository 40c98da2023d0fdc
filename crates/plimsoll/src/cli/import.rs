//! Arguments of `plimsoll import`.

use std::path::PathBuf;

use clap::Args;
use plimsoll_dialects::told::{ColumnMap, ColumnOf};

use super::run::{OUTPUT, tag};

/// Arguments of `plimsoll import`.
#[derive(Args, Debug)]
#[command(
    after_help = "Any text will do: a report, a log, a blog post, Markdown, comments in a script. Results that are \
                  found are fio's JSON and normal reports or single lines of them, diskspd's text reports or parts of \
                  them and its XML, Iometer's result files, what kubestr, `time` and dd print, rows of a file \
                  benchmark, and figures in comments behind commands. Any other table is read with --column."
)]
pub struct ImportArguments {
    /// Texts to look through, or records of plimsoll's own, which are kept as they are; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What was measured, whatever the texts call it
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// What a column of a table is, as in read-iops=IOPS or 'latency-p99[ms]=99 %'; may be repeated
    ///
    /// The table begins with a line that names its columns, which are separated by commas, semicolons, tabs or bars.
    /// Rates of bytes and times need a unit: in brackets, as here, or in the name of the column, as in "Read (MiB/s)".
    #[arg(long = "column", value_name = "WHAT=COLUMN")]
    column: Vec<ColumnOf>,
    /// Print the records as JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// A name for the record, shown in the history
    #[arg(long, help_heading = OUTPUT)]
    pub name: Option<String>,
    /// A pair to find the record by; may be repeated
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag, help_heading = OUTPUT)]
    pub tags: Vec<(String, String)>,
}

impl ImportArguments {
    /// What the columns of tables are; absent when texts are to be looked through.
    pub fn columns(&self) -> Option<ColumnMap> {
        (!self.column.is_empty()).then(|| ColumnMap::new(self.column.clone()))
    }
}
