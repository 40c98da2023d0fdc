//! The command line: one struct a command, and the options they share.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::{Args, CommandFactory as _, Parser, Subcommand, error::ErrorKind};
use clap_complete::Shell;

pub mod baseline;
pub mod catalog;
pub mod compare;
pub mod emulate;
pub mod explain;
pub mod export;
pub mod generate;
pub mod history;
pub mod import;
pub mod kubernetes;
pub mod presets;
pub mod program;
pub mod provisioned;
pub mod remove;
pub mod replay;
pub mod report;
pub mod run;
pub mod serve;
pub mod show;
pub mod stripe;

/// How kubectl finds its plugin `plimsoll`.
const PLUGIN: &str = "kubectl-plimsoll";

/// Says how much load a storage really carries: a directory, a file or a block device.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, arg_required_else_help = true, subcommand_required = true)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub shared: SharedArguments,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Measures volumes of a Kubernetes cluster: how much load they carry, and how long they take to be made and gone.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", bin_name = "kubectl plimsoll", version, max_term_width = 100)]
struct Plugin {
    #[command(flatten)]
    shared: SharedArguments,
    #[command(flatten)]
    kubernetes: kubernetes::KubernetesArguments,
}

impl Cli {
    /// Reads the arguments: those of `plimsoll kubernetes`, when kubectl calls the program as its plugin.
    pub fn of(arguments: &[OsString]) -> Self {
        let is_plugin = |program: &OsString| Path::new(program).file_name().is_some_and(|name| name == PLUGIN);
        let cli = if arguments.first().is_some_and(is_plugin) {
            let Plugin { shared, kubernetes } = Plugin::parse_from(arguments);
            Self { shared, command: Command::Kubernetes(kubernetes) }
        } else {
            Self::parse_from(arguments)
        };
        // Of options in front of a command and behind it the parser does not see that they contradict each other.
        let (is_verbose, has_dashboard) = match &cli.command {
            Command::Run(run) => (run.verbose, run.dashboard),
            _ => (false, false),
        };
        let SharedArguments { history, no_history, quiet } = &cli.shared;
        let contradictions = [
            (history.is_some() && *no_history, ["--history <FILE>", "--no-history"]),
            (is_verbose && *quiet, ["--verbose", "--quiet"]),
            (has_dashboard && *quiet, ["--dashboard", "--quiet"]),
        ];
        if let Some((_, [one, other])) = contradictions.into_iter().find(|(is_so, _)| *is_so) {
            let problem = format!("the argument '{one}' cannot be used with '{other}'");
            Self::command().error(ErrorKind::ArgumentConflict, problem).exit();
        }
        cli
    }
}

/// Options of every command.
#[derive(Args, Clone, Debug, Default)]
pub struct SharedArguments {
    /// Keep the history in this file instead of the user's
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "no_history", help_heading = run::OUTPUT)]
    pub history: Option<PathBuf>,
    /// Neither read nor write a history
    #[arg(long, global = true, help_heading = run::OUTPUT)]
    pub no_history: bool,
    /// Show answers, warnings and errors only
    #[arg(long, short, global = true, help_heading = run::OUTPUT)]
    pub quiet: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure directories, files or block devices
    Run(Box<run::RunArguments>),
    /// Set runs, or the targets of one, side by side: how much faster, and how sure that is
    Compare(compare::CompareArguments),
    /// Say whether storage did what was bought, what binds it, and why; or check what people say about numbers
    Explain(Box<explain::ExplainArguments>),
    /// Write a report of runs: a page, Markdown, CSV, JSON or JUnit
    Report(Box<report::ReportArguments>),
    /// Show the history and running measurements in a browser
    Serve(serve::ServeArguments),
    /// Measure volumes of a Kubernetes cluster
    Kubernetes(kubernetes::KubernetesArguments),
    /// Run fio's job files and command lines, and print what fio prints
    #[command(disable_help_flag = true)]
    Fio {
        /// Arguments as fio takes them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Run diskspd's command lines and XML profiles, and print what diskspd prints
    #[command(disable_help_flag = true)]
    Diskspd {
        /// Arguments as diskspd takes them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Read what other programs told of storage, found in any text
    Import(import::ImportArguments),
    /// List the runs of the history
    History(history::HistoryArguments),
    /// Show a run of the history
    Show(show::ShowArguments),
    /// Write runs of the history as JSON, CSV or NDJSON
    Export(export::ExportArguments),
    /// Remove runs from the history
    Remove(remove::RemoveArguments),
    /// Name runs to compare later ones with
    Baseline(baseline::BaselineArguments),
    /// List presets, or show the workloads of one
    Presets(presets::PresetsArguments),
    /// Say what products and machines should deliver: list, show, expect
    Catalog(catalog::CatalogArguments),
    /// Make disks that let as much through as what is sold, to rehearse a comparison; use them, take them down
    Emulate(emulate::EmulateArguments),
    /// Put disks together in several ways, to compare those; take them apart again
    Stripe(stripe::StripeArguments),
    /// Write scripts that make in a cloud what a plan asks for, and take it down: azure, aws, gcp
    Generate(generate::GenerateArguments),
    /// Judge recorded traces of rates as `run` judges a storage
    Replay(replay::ReplayArguments),
    /// Say what this machine can do and what would disturb a measurement
    Doctor(DoctorArguments),
    /// Do what a database does in files here, for presets that time it
    #[command(hide = true)]
    Program(program::ProgramArguments),
    /// Print a completion script for a shell
    Completions {
        /// For which shell
        shell: Shell,
    },
}

/// Arguments of `plimsoll doctor`.
#[derive(Args, Debug)]
pub struct DoctorArguments {
    /// Directories to look for left-over files in, with --clean
    #[arg(requires = "clean")]
    pub paths: Vec<PathBuf>,
    /// Remove files of earlier runs, kept ones included, and set journals aside that no history takes
    #[arg(long)]
    pub clean: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
