//! Files that commands read, whoever wrote them: no more of them than makes sense.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use anyhow::{Context as _, anyhow, bail};

/// What comes from somewhere, with one byte more than it may have where it has more: what never ends is not read to its
/// end.
pub(super) fn bounded(from: impl Read, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The content of a file, or what comes from standard input for `-`, [`bounded`]; `None` when there is no such file.
pub(super) fn bytes(name: &str, bytes_max: usize) -> Result<Option<Vec<u8>>, String> {
    let content = if name == "-" {
        bounded(io::stdin().lock(), bytes_max)
    } else {
        File::open(name).and_then(|file| bounded(file, bytes_max))
    };
    match content {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// The text of a file that must be there, or of standard input for `-`.
pub(super) fn text(path: &Path) -> anyhow::Result<String> {
    /// More than any list of claims, limits, context or objects has.
    const BYTES_MAX: usize = 16 << 20;
    let name = path.to_str().with_context(|| format!("{} is not valid UTF-8", path.display()))?;
    let bytes = bytes(name, BYTES_MAX)
        .map_err(|error| anyhow!("read {name}: {error}"))?
        .with_context(|| format!("there is no file {name}"))?;
    if bytes.len() > BYTES_MAX {
        bail!("{name} is longer than {} MiB: split it", BYTES_MAX >> 20);
    }
    String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8: save it as that"))
}
