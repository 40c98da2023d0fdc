//! `plimsoll program`: what presets time where nothing is to be installed.

use std::{fs::File, io::Write as _};

use anyhow::Context as _;
use plimsoll_programs::{
    Amount, Figure, commit_log,
    sqlite::{Database, Journal},
    tsdb,
};
use plimsoll_workload::random::{Purpose, derive_seed};

use crate::cli::program::{JournalChoice, Program, ProgramArguments};

/// Does the work, and answers with its figures, unless a file takes them.
pub fn run(arguments: ProgramArguments) -> anyhow::Result<String> {
    let figures = done(arguments.program, derive_seed(arguments.seed, Purpose::Round, arguments.iteration))?;
    let lines: String = figures.iter().map(|figure| format!("{figure}\n")).collect();
    let Some(path) = &arguments.figures else {
        return Ok(lines);
    };
    let file = File::options().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
    written.with_context(|| format!("write figures to {}", path.display()))?;
    Ok(String::new())
}

fn done(program: Program, seed: u64) -> anyhow::Result<Vec<Figure>> {
    match program {
        Program::SqliteCommit { database, journal, time } => {
            let journal = match journal {
                JournalChoice::Wal => Journal::Wal,
                JournalChoice::Delete => Journal::Delete,
            };
            Ok(Database::create(&database, journal)?.commit(time, seed)?)
        }
        Program::SqliteLoad { database, rows } => {
            Database::create(&database, Journal::Delete)?.load(rows, seed)?;
            Ok(Vec::new())
        }
        Program::SqliteVacuum { database } => {
            Database::open(&database)?.vacuum()?;
            Ok(Vec::new())
        }
        Program::SqliteCheck { database, rows } => {
            Database::open(&database)?.check(rows)?;
            Ok(Vec::new())
        }
        Program::Log { directory, partitions, segment, batch, flush_every, behind, amount, time } => {
            let amount = Amount { bytes: amount, time };
            let settings = commit_log::Settings { partitions, segment, batch, flush_every, behind, amount };
            Ok(commit_log::run(&directory, &settings, seed)?)
        }
        Program::Tsdb { directory, segment, amount, time } => {
            let amount = Amount { bytes: amount, time };
            Ok(tsdb::run(&directory, &tsdb::Settings { segment, amount }, seed)?)
        }
    }
}
