//! The form of a record inside the history: its whole JSON as gzip, so that what is read is what was written or an
//! error. The checksum of zlib would be shorter, and too weak: tests met single bits that it did not miss.

use std::io::{self, Read, Write};

use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};
use plimsoll_record::{record::Record, upgrade};
use uuid::Uuid;

use crate::error::HistoryError;

/// Packs a record.
pub(crate) fn encode(record: &Record) -> Result<Vec<u8>, HistoryError> {
    let unwritable = |source| HistoryError::RecordUnwritable { id: record.id, source };
    let text = serde_json::to_vec(record).map_err(unwritable)?;
    pack(&text).map_err(|error| self::unwritable(record.id, error))
}

/// That a record, or what belongs to it, does not become text.
pub(crate) fn unwritable(id: Uuid, error: io::Error) -> HistoryError {
    HistoryError::RecordUnwritable { id, source: serde_json::Error::io(error) }
}

/// Packs a text.
pub(crate) fn pack(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 4), Compression::default());
    encoder.write_all(text).and_then(|()| encoder.finish())
}

/// Unpacks a text, whole or not at all.
pub(crate) fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut decoder = GzDecoder::new(bytes);
    let mut text = Vec::new();
    decoder.read_to_end(&mut text)?;
    if decoder.into_inner().is_empty() {
        Ok(text)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "bytes follow its end"))
    }
}

/// Unpacks the record of a run, of whatever schema.
pub(crate) fn decode(id: Uuid, bytes: &[u8]) -> Result<Record, HistoryError> {
    let damaged = |source| HistoryError::RecordDamaged { id, source };
    let text = unpack(bytes).map_err(damaged)?;
    let text = String::from_utf8(text).map_err(|error| damaged(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    let record = upgrade::read(&text).map_err(|source| HistoryError::RecordUnreadable { id, source })?;
    if record.id != id {
        let text = format!("it is the record of run {}", record.id);
        return Err(damaged(io::Error::new(io::ErrorKind::InvalidData, text)));
    }
    Ok(record)
}
