//! Arguments of `plimsoll report`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use plimsoll_report::{claims::Thousands, comparison::Aspect};

use super::{compare, explain::SaidArguments, run};

/// Arguments of `plimsoll report`.
#[derive(Args, Debug)]
#[command(
    after_help = "A report of one run shows it, one of several sets them side by side. With what was bought it says \
                  whether that was delivered, and with --claims what follows from the numbers. The HTML page is one \
                  file that needs nothing else; Markdown is for pull requests, CSV has a row for each cell, JSON is \
                  what the page shows, and XML is JUnit, a test for each cell."
)]
#[command(mut_arg("disk_size", |argument| argument.long("size").alias("disk-size")))]
#[command(mut_arg("provisioned_iops", |argument| argument.long("iops").alias("provisioned-iops")))]
#[command(mut_arg("provisioned_bandwidth", |argument| argument.long("bandwidth").alias("provisioned-bandwidth")))]
pub struct ReportArguments {
    /// The runs: beginnings of ids, names, `latest` or baselines; files with records, or whatever `import` reads
    #[arg(value_name = "RUN|FILE", default_value = "latest")]
    pub runs: Vec<String>,
    /// Write to this file; its ending is the form: .html, .md, .csv, .json or .xml; - is standard output
    #[arg(long, short, value_name = "FILE", help_heading = run::OUTPUT)]
    pub output: PathBuf,
    /// The form, whatever the file is called
    #[arg(long, value_enum, value_name = "FORM", help_heading = run::OUTPUT)]
    pub format: Option<ReportFormat>,
    /// Overwrite the file when it exists
    #[arg(long, help_heading = run::OUTPUT)]
    pub force: bool,
    /// Show it in the browser when it is written
    #[arg(long, help_heading = run::OUTPUT)]
    pub open: bool,
    /// What the report is called
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Compare with this side instead of the first: its letter, the beginning of its id, its name or its target
    #[arg(long, value_name = "SIDE")]
    pub reference: Option<String>,
    /// Compare although plans differ in this; it is listed with what else differs
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = compare::aspects())]
    pub despite: Vec<Aspect>,
    /// What was bought.
    #[command(flatten)]
    pub said: SaidArguments,
    /// What people say about the numbers, as `explain --claims`: comma-separated values of which `claim` is a column
    #[arg(long, value_name = "FILE")]
    pub claims: Option<PathBuf>,
    /// What stands between thousands in numbers of claims: point, comma, blank or none
    #[arg(long, value_name = "SIGN", allow_hyphen_values = true, requires = "claims")]
    pub thousands: Option<Thousands>,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page with everything in it
    Html,
    /// Markdown, for pull requests
    #[value(alias = "markdown")]
    Md,
    /// A row for each cell
    Csv,
    /// What the page shows
    Json,
    /// JUnit
    #[value(alias = "junit")]
    Xml,
}

impl ReportArguments {
    /// The form that is asked for.
    pub fn form(&self) -> Result<ReportFormat, String> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let ending = self.output.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        ending.as_deref().and_then(ReportFormat::of_ending).ok_or_else(|| {
            if self.output == Path::new("-") {
                return "standard output has no ending that says the form of the report: add --format html, md, csv, \
                        json or xml"
                    .to_owned();
            }
            let name = self.output.display();
            format!("the ending of {name} is no form of a report: use .html, .md, .csv, .json or .xml, or say --format")
        })
    }
}

impl ReportFormat {
    fn of_ending(ending: &str) -> Option<Self> {
        match ending {
            "html" | "htm" => Some(Self::Html),
            "md" | "markdown" => Some(Self::Md),
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            "xml" => Some(Self::Xml),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_is_the_form() {
        for (ending, form) in [("html", ReportFormat::Html), ("md", ReportFormat::Md), ("xml", ReportFormat::Xml)] {
            assert_eq!(ReportFormat::of_ending(ending), Some(form));
        }
        assert_eq!(ReportFormat::of_ending("pdf"), None);
    }
}
