//! Records in files, whoever wrote these.

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File},
    io::Read,
    os::unix::fs::FileTypeExt,
    path::Path,
};

use anyhow::{Context as _, bail};
use jiff::Timestamp;
use plimsoll_dialects::told::{self, ColumnMap};
use plimsoll_record::{
    numbers,
    record::Record,
    told::{Import, Reading},
    upgrade,
};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::{input_file, run};

/// More than the records of any number of runs that somebody compares.
pub(super) const BYTES_MAX: usize = 512 << 20;

/// What the schema of a record begins with.
const SIGN: &str = "\"plimsoll/";

/// The records in a file: what `plimsoll run --json`, `plimsoll show --json` or `plimsoll export` wrote, or else what
/// another program told.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Record>> {
    let name = path.display().to_string();
    let kind = fs::metadata(path).with_context(|| format!("read {name}"))?.file_type();
    if kind.is_block_device() || kind.is_char_device() {
        bail!("{name} is a device and has no records: name a run (`plimsoll history` lists runs), or a file");
    }
    read_from(File::open(path).with_context(|| format!("read {name}"))?, &name)
}

/// The same of what comes from somewhere, which is read once.
pub(super) fn read_from(from: impl Read, name: &str) -> anyhow::Result<Vec<Record>> {
    let bytes = input_file::bounded(from, BYTES_MAX).with_context(|| format!("read {name}"))?;
    if bytes.len() > BYTES_MAX {
        bail!("{name} is longer than {} MiB: write fewer runs into it (plimsoll export RUN)", BYTES_MAX >> 20);
    }
    records(name, &bytes)
}

/// The same of what was read already.
pub(super) fn records(name: &str, bytes: &[u8]) -> anyhow::Result<Vec<Record>> {
    let text = String::from_utf8_lossy(bytes);
    let own = own(&text).with_context(|| format!("read {name}"));
    if own.is_ok() || text.contains(SIGN) {
        return own;
    }
    let reading = Reading { id: Uuid::now_v7(), tool: run::tool(), name: None, tags: BTreeMap::new(), target: None };
    match foreign(name, bytes, reading, None) {
        Ok(record) => Ok(vec![record]),
        Err(_) if is_json(&text) && told::hint(&text).is_none() => own,
        Err(error) => Err(error),
    }
}

/// Records of plimsoll's own in any text; `None` when it is another one.
pub(super) fn own_of(name: &str, bytes: &[u8]) -> Option<anyhow::Result<Vec<Record>>> {
    let text = String::from_utf8_lossy(bytes);
    let own = own(&text).with_context(|| format!("read {name}"));
    (own.is_ok() || is_json(&text) && text.contains(SIGN)).then_some(own)
}

/// Whether a text means to be JSON: sections, as of a job file of fio, begin with a bracket too.
fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('{') || text.strip_prefix('[').is_some_and(|list| list.trim_start().starts_with(['{', ']']))
}

/// Records of plimsoll's own.
fn own(text: &str) -> anyhow::Result<Vec<Record>> {
    if !text.trim_start().starts_with('[') {
        return Ok(vec![upgrade::read(text)?]);
    }
    let Records(records) = serde_json::from_str(text)?;
    Ok(records)
}

/// A list of records, each of which is one before the next is looked at: a list of anything else ends at once.
struct Records(Vec<Record>);

impl<'de> Deserialize<'de> for Records {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Self(Vec::new()))
    }
}

impl<'de> Visitor<'de> for Records {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Self, A::Error> {
        while let Some(value) = list.next_element::<&RawValue>()? {
            self.0.push(upgrade::read(value.get()).map_err(A::Error::custom)?);
        }
        Ok(self)
    }
}

/// The record of what another program told.
pub(super) fn foreign(
    name: &str,
    bytes: &[u8],
    reading: Reading,
    columns: Option<&ColumnMap>,
) -> anyhow::Result<Record> {
    if bytes.len() > told::BYTES_MAX {
        bail!("{name} is longer than {} MiB: cut out the part with the results", told::BYTES_MAX >> 20);
    }
    let text = decoded(bytes);
    let found = match columns {
        Some(columns) => told::rows(&text, columns).map_err(|problem| anyhow::anyhow!("{name}: {problem}"))?,
        None => told::find(&text),
    };
    if found.len() > told::RESULTS_MAX {
        bail!("{name} has more than {} results: split it", numbers::count(told::RESULTS_MAX as u64));
    }
    if found.is_empty() {
        let hint = told::hint(&text).unwrap_or_else(|| "see plimsoll import --help for those that are".to_owned());
        bail!("{name} has no results that are known: {hint}");
    }
    let import = Import { file: name.to_owned(), at: Timestamp::now(), text };
    Ok(Record::of_import(reading, import, found))
}

/// Whether bytes begin with the mark of UTF-16.
pub(super) fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..])
}

/// Text of UTF-8, or of UTF-16 with a mark, which a shell of Windows writes. What is neither is not lost.
pub(super) fn decoded(bytes: &[u8]) -> String {
    let units = |rest: &[u8], read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = rest.chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => units(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => units(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}
