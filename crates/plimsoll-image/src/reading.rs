//! An image as a runtime reads it: every part is found by the reference to it, and has to be what the reference says.

use std::{collections::BTreeMap, io, io::Read as _, path::Path};

use serde_json::Value;
use thiserror::Error;

use crate::image::{CONFIGURATION, INDEX, LAYER, MANIFEST, describe, digest, path_of};

/// What is wrong with an archive.
#[derive(Debug, Error)]
pub enum ReadError {
    /// A part is not there.
    #[error("{0} is missing")]
    Missing(String),
    /// A part is not what it has to be.
    #[error("{0}")]
    Wrong(String),
    /// A part cannot be parsed.
    #[error("parse {what}")]
    Parse {
        /// Which.
        what: String,
        /// Why not.
        source: serde_json::Error,
    },
    /// An archive cannot be read.
    #[error("read {what}")]
    Read {
        /// Which.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

/// An image that has been read.
#[derive(Debug)]
pub struct ImageRead {
    /// The program to start.
    pub entrypoint: String,
    /// A tar archive.
    layer: Vec<u8>,
}

impl ImageRead {
    /// Reads an archive.
    ///
    /// # Errors
    /// When a part is missing, or has not the type, the size and the digest that the reference to it says.
    pub fn of(archive: &[u8]) -> Result<Self, ReadError> {
        let files = files(archive).map_err(|source| ReadError::Read { what: "the archive", source })?;
        let json = |path: &str| parse(path, files.get(path).ok_or_else(|| ReadError::Missing(path.to_owned()))?);
        ensure(json("oci-layout")?["imageLayoutVersion"] == "1.0.0", "the version of the layout is another")?;
        let index = json("index.json")?;
        ensure(index["schemaVersion"] == 2 && index["mediaType"] == INDEX, "index.json is no index")?;
        let entry = only(&index["manifests"])?;
        let manifest = parse("the manifest", blob(&files, entry, MANIFEST)?)?;
        ensure(manifest["schemaVersion"] == 2 && manifest["mediaType"] == MANIFEST, "the manifest is none")?;
        let configuration = parse("the configuration", blob(&files, &manifest["config"], CONFIGURATION)?)?;
        for field in ["architecture", "os"] {
            let is_same = entry["platform"][field] == configuration[field];
            ensure(is_same, &format!("the index tells another {field}"))?;
        }
        let mut layer = Vec::new();
        let compressed = blob(&files, only(&manifest["layers"])?, LAYER)?;
        flate2::read::GzDecoder::new(compressed)
            .read_to_end(&mut layer)
            .map_err(|source| ReadError::Read { what: "the layer", source })?;
        let content = only(&configuration["rootfs"]["diff_ids"])?;
        ensure(content.as_str() == Some(&digest(&layer)), &format!("the layer's content is not {content}"))?;
        let entrypoint = only(&configuration["config"]["Entrypoint"])?.as_str();
        let entrypoint = entrypoint.ok_or_else(|| ReadError::Wrong("the entry point is no text".to_owned()))?;
        Ok(Self { entrypoint: entrypoint.to_owned(), layer })
    }

    /// Writes the files of the image below `root`.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn unpack(&self, root: &Path) -> io::Result<()> {
        let mut layer = tar::Archive::new(self.layer.as_slice());
        layer.set_preserve_permissions(true);
        layer.unpack(root)
    }
}

fn ensure(is_so: bool, otherwise: &str) -> Result<(), ReadError> {
    if is_so { Ok(()) } else { Err(ReadError::Wrong(otherwise.to_owned())) }
}

fn parse(what: &str, content: &[u8]) -> Result<Value, ReadError> {
    serde_json::from_slice(content).map_err(|source| ReadError::Parse { what: what.to_owned(), source })
}

/// The files of a tar archive by their paths, and its directories with empty content.
fn files(archive: &[u8]) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(archive).entries()? {
        let mut entry = entry?;
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        files.insert(entry.path()?.to_string_lossy().into_owned(), content);
    }
    Ok(files)
}

/// The one element of a list that has one.
fn only(list: &Value) -> Result<&Value, ReadError> {
    match list.as_array().map(Vec::as_slice) {
        Some([element]) => Ok(element),
        _ => Err(ReadError::Wrong(format!("one element is expected in {list}"))),
    }
}

/// The part of an image that a reference is to.
fn blob<'a>(files: &'a BTreeMap<String, Vec<u8>>, reference: &Value, media_type: &str) -> Result<&'a [u8], ReadError> {
    let name = reference["digest"].as_str();
    let name = name.ok_or_else(|| ReadError::Wrong(format!("no digest in {reference}")))?;
    let blob = files.get(&path_of(name)).ok_or_else(|| ReadError::Missing(name.to_owned()))?;
    let found = describe(media_type, blob);
    for field in ["mediaType", "size", "digest"] {
        let is_same = reference[field] == found[field];
        ensure(is_same, &format!("{field} of {name} is {}, not {}", found[field], reference[field]))?;
    }
    Ok(blob)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{
        image::{Image, Label, add},
        program,
    };

    fn archive() -> Vec<u8> {
        Image::of("plimsoll", &program::with(b"program")).unwrap().archive(Label::RELEASE).unwrap()
    }

    #[test]
    fn the_image_that_was_written_is_the_image_that_is_read() {
        let image = ImageRead::of(&archive()).unwrap();
        assert_eq!(image.entrypoint, "/plimsoll");
        let root = tempfile::tempdir().unwrap();
        image.unpack(root.path()).unwrap();
        assert_eq!(fs::read(root.path().join("plimsoll")).unwrap(), program::with(b"program"));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_part_of_an_image_is_found() {
        let mut files = files(&archive()).unwrap();
        let is_manifest =
            |(path, content): &(&String, &mut Vec<u8>)| path.contains("sha256/") && content.starts_with(b"{\"schema");
        let (path, blob) = files.iter_mut().find(is_manifest).unwrap();
        let name = path.replacen("blobs/sha256/", "sha256:", 1);
        blob.push(b' ');
        let mut damaged = tar::Builder::new(Vec::new());
        for (path, content) in &files {
            add(&mut damaged, path, 0o644, content).unwrap();
        }
        let error = ImageRead::of(&damaged.into_inner().unwrap()).unwrap_err();
        assert!(error.to_string().contains(&name), "{error}");
    }
}
