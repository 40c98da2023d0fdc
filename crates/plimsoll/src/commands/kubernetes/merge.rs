//! `plimsoll kubernetes merge`: a run from logs of its pods.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read},
    path::Path,
};

use anyhow::Context;
use plimsoll_kubernetes::{
    merging::{self, Log},
    run::{Finished, Told},
};

use super::{
    super::{catalog, record_file},
    following::followed,
};
use crate::{cli::kubernetes::MergeArguments, exit::Exit, printer::Printer, state::State};

/// Reads logs, saves the record that they are, and prints it.
pub(super) fn merge(arguments: &MergeArguments, state: &State, printer: Printer) -> anyhow::Result<Exit> {
    let logs = arguments.logs.iter().map(|path| log(path)).collect::<anyhow::Result<Vec<_>>>()?;
    followed(
        arguments.json,
        &catalog::read(None)?,
        state,
        printer,
        |tell| {
            let merged = merging::merge(logs, &mut |event| tell(Told::Event(event)))?;
            merged.warnings.into_iter().for_each(|warning| tell(Told::Warning(warning)));
            Ok(Finished { record: merged.record, error: merged.error, leftovers: Vec::new(), stays: false })
        },
        Vec::new,
    )
}

/// A log in a file, or on standard input for `-`.
fn log(path: &Path) -> anyhow::Result<Log> {
    if path == Path::new("-") {
        return Ok(Log { name: "standard input".to_owned(), lines: lines(BufReader::new(io::stdin()))? });
    }
    let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
    let lines = lines(BufReader::new(file)).with_context(|| format!("read {}", path.display()))?;
    Ok(Log { name: path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(), lines })
}

/// The lines of a text, which a shell of Windows writes as UTF-16.
fn lines(mut text: impl BufRead + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut bytes = Vec::new();
    text.by_ref().take(2).read_to_end(&mut bytes)?;
    if !record_file::is_utf16(&bytes) {
        return Ok(Box::new(Cursor::new(bytes).chain(text)));
    }
    text.read_to_end(&mut bytes)?;
    Ok(Box::new(Cursor::new(record_file::decoded(&bytes))))
}
