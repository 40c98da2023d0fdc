//! `plimsoll program`: what presets time where nothing is to be installed.

use std::{fs::File, io::Write as _, path::Path};

use plimsoll_programs::{
    Amount, Figure, ProgramError, commit_log,
    sqlite::{Database, Journal},
    tsdb,
};
use plimsoll_workload::random::{Purpose, derive_seed};

use crate::cli::program::{JournalChoice, Program, ProgramArguments};

/// Does the work, and answers with its figures, unless a file takes them.
pub fn run(arguments: ProgramArguments) -> anyhow::Result<String> {
    // Before the work, which may take long.
    let file = arguments.figures.as_deref().map(FiguresFile::create).transpose()?;
    let seed = derive_seed(arguments.seed, Purpose::Round, arguments.iteration);
    let figures: String = done(arguments.program, seed)?.iter().map(|figure| format!("{figure}\n")).collect();
    match file {
        Some(file) => file.write(&figures).map(|()| String::new()),
        None => Ok(figures),
    }
}

/// A new file that takes the figures.
struct FiguresFile<'p> {
    path: &'p Path,
    file: File,
}

impl<'p> FiguresFile<'p> {
    fn create(path: &'p Path) -> anyhow::Result<Self> {
        let file = File::options().write(true).create_new(true).open(path);
        let file = file.map_err(|source| ProgramError::File { path: path.to_owned(), source })?;
        Ok(Self { path, file })
    }

    fn write(mut self, figures: &str) -> anyhow::Result<()> {
        let written = self.file.write_all(figures.as_bytes());
        Ok(written.map_err(|source| ProgramError::File { path: self.path.to_owned(), source })?)
    }
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
