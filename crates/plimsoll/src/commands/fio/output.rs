//! Where reports go: standard output, or the file that `--output` names.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    process,
};

use anyhow::Context;
use plimsoll_dialects::fio::switches::Switches;
use rustix::fs::{Access, access};

use crate::{exit::OutputLost, printer::Printer};

/// Takes reports. A file has its whole content at once, when all is told, unless reports are wanted meanwhile.
pub(super) enum Output {
    /// Standard output.
    Standard(Printer),
    /// A file that appears, or changes, when everything is there.
    Whole {
        /// Where the file will be.
        path: PathBuf,
        /// What it will have.
        text: String,
    },
    /// A file that grows, a device or a pipe.
    Growing {
        /// Where it is.
        path: PathBuf,
        /// The file, open.
        file: File,
    },
}

impl Output {
    /// What the command line names. What cannot be written is told before anything is measured.
    pub(super) fn open(switches: &Switches, printer: Printer) -> anyhow::Result<Self> {
        let Some(name) = &switches.output else { return Ok(Self::Standard(printer)) };
        // What a link leads to is replaced, not the link.
        let path = fs::canonicalize(name).unwrap_or_else(|_| PathBuf::from(name));
        let is_file = fs::metadata(&path).map_or(true, |facts| facts.is_file());
        let is_replaceable = access(folder(&path), Access::WRITE_OK | Access::EXEC_OK).is_ok();
        if is_file && is_replaceable && switches.status_interval.is_none() {
            return Ok(Self::Whole { path, text: String::new() });
        }
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).open(&path).with_context(|| problem(&path))?;
        Ok(Self::Growing { path, file })
    }

    /// Takes a text, to be written at the latest when it is finished.
    pub(super) fn put(&mut self, more: &str) -> anyhow::Result<()> {
        match self {
            Self::Standard(printer) => printer.answer(more).map_err(OutputLost)?,
            Self::Whole { text, .. } => text.push_str(more),
            Self::Growing { path, file } => file.write_all(more.as_bytes()).with_context(|| problem(path))?,
        }
        Ok(())
    }

    /// Nothing more will be told.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let Self::Whole { path, text } = self else { return Ok(()) };
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}", process::id()));
        let beside = path.with_file_name(name);
        // A file that is there keeps its owner and mode, and may be a mount that nothing can take the place of.
        if path.exists() {
            return fs::write(&path, text).with_context(|| problem(&path));
        }
        let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &path));
        written.with_context(|| problem(&path)).inspect_err(|_| drop(fs::remove_file(&beside)))
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

fn problem(path: &Path) -> String {
    format!("write the report {}", path.display())
}
