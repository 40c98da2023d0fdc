//! An image of one file, as an OCI archive: no container engine is needed to write it, and the same binary always gives
//! the same digest. `skopeo copy oci-archive:FILE docker://...` pushes it; container runtimes import it.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    io::{Read as _, Write},
    path::Path,
};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIGURATION: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// What an image is called.
#[derive(Clone, Copy)]
pub(crate) struct Label<'a> {
    /// The file that is in the image, and its entry point.
    pub(crate) program: &'a str,
    /// The whole name with the tag, for runtimes that take it from the archive. An image that was never pulled is of
    /// this host.
    pub(crate) name: &'a str,
}

impl Label<'static> {
    /// The image that is handed out.
    pub(super) const RELEASE: Self =
        Self { program: "plimsoll", name: concat!("localhost/plimsoll:", env!("CARGO_PKG_VERSION")) };
}

impl Label<'_> {
    /// The tag, for tools that have a name of their own for the image.
    fn tag(&self) -> &str {
        self.name.rsplit_once(':').map_or("latest", |(_, tag)| tag)
    }
}

/// Writes the archive and gives the digest of the image.
pub(crate) fn write(label: Label<'_>, program: &[u8], archive: &Path) -> anyhow::Result<String> {
    let bytes = archive_of(label, program).context("build the image")?;
    fs::write(archive, bytes.0).with_context(|| format!("write {}", archive.display()))?;
    Ok(bytes.1)
}

fn archive_of(label: Label<'_>, program: &[u8]) -> anyhow::Result<(Vec<u8>, String)> {
    let mut layer = tar::Builder::new(Vec::new());
    add(&mut layer, label.program, 0o755, program)?;
    let layer = layer.into_inner()?;
    // The name of a layer's content is the digest before compression.
    let layer_content = digest(&layer);
    let mut compressor = flate2::GzBuilder::new().mtime(0).write(Vec::new(), flate2::Compression::new(6));
    compressor.write_all(&layer)?;
    let layer = compressor.finish()?;

    let architecture = architecture(program);
    let created = "1970-01-01T00:00:00Z";
    let config = serde_json::to_vec(&json!({
        "architecture": architecture,
        "os": "linux",
        "created": created,
        "config": { "Entrypoint": [format!("/{}", label.program)], "WorkingDir": "/" },
        "rootfs": { "type": "layers", "diff_ids": [layer_content] },
        "history": [{ "created": created, "created_by": "cargo xtask dist" }],
    }))?;
    let manifest = serde_json::to_vec(&json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": describe(CONFIGURATION, &config),
        "layers": [describe(LAYER, &layer)],
    }))?;
    let mut entry = describe(MANIFEST, &manifest);
    entry["platform"] = json!({ "architecture": architecture, "os": "linux" });
    entry["annotations"] =
        json!({ "io.containerd.image.name": label.name, "org.opencontainers.image.ref.name": label.tag() });
    let index = serde_json::to_vec(&json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [entry] }))?;

    let mut archive = tar::Builder::new(Vec::new());
    add(&mut archive, "oci-layout", 0o644, br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    add(&mut archive, "index.json", 0o644, &index)?;
    // A user without rights cannot have skopeo read an archive whose directories it would have to make up.
    for directory in ["blobs/", "blobs/sha256/"] {
        add(&mut archive, directory, 0o755, b"")?;
    }
    for blob in [&config, &manifest, &layer] {
        add(&mut archive, &path_of(&digest(blob)), 0o644, blob)?;
    }
    Ok((archive.into_inner()?, digest(&manifest)))
}

/// How one part of an image refers to another.
fn describe(media_type: &str, blob: &[u8]) -> serde_json::Value {
    json!({ "mediaType": media_type, "digest": digest(blob), "size": blob.len() })
}

/// An image as a runtime reads it.
#[derive(Debug)]
pub(super) struct Image {
    /// The program to start.
    pub(super) entrypoint: String,
    /// A tar archive.
    layer: Vec<u8>,
}

impl Image {
    /// Reads an archive the way a runtime does: every part is found by the reference to it, and has to have the type,
    /// the size and the digest that the reference says.
    pub(super) fn read(archive: &[u8]) -> anyhow::Result<Self> {
        let files = files(archive)?;
        let json = |path: &str| -> anyhow::Result<Value> {
            let content = files.get(path).with_context(|| format!("{path} is missing"))?;
            serde_json::from_slice(content).with_context(|| format!("parse {path}"))
        };
        ensure!(json("oci-layout")?["imageLayoutVersion"] == "1.0.0", "the version of the layout is another");
        let index = json("index.json")?;
        ensure!(index["schemaVersion"] == 2 && index["mediaType"] == INDEX, "index.json is no index");
        let entry = only(&index["manifests"])?;
        let manifest: Value = serde_json::from_slice(blob(&files, entry, MANIFEST)?).context("parse the manifest")?;
        ensure!(manifest["schemaVersion"] == 2 && manifest["mediaType"] == MANIFEST, "the manifest is none");
        let configuration = blob(&files, &manifest["config"], CONFIGURATION)?;
        let configuration: Value = serde_json::from_slice(configuration).context("parse the configuration")?;
        for field in ["architecture", "os"] {
            ensure!(entry["platform"][field] == configuration[field], "the index tells another {field}");
        }
        let mut layer = Vec::new();
        let compressed = blob(&files, only(&manifest["layers"])?, LAYER)?;
        flate2::read::GzDecoder::new(compressed).read_to_end(&mut layer).context("decompress the layer")?;
        let content = only(&configuration["rootfs"]["diff_ids"])?;
        ensure!(content.as_str() == Some(&digest(&layer)), "the layer's content is not {content}");
        let entrypoint =
            only(&configuration["config"]["Entrypoint"])?.as_str().context("the entry point is no text")?;
        Ok(Self { entrypoint: entrypoint.to_owned(), layer })
    }

    /// Writes the files of the image below `root`.
    pub(super) fn unpack(&self, root: &Path) -> anyhow::Result<()> {
        let mut layer = tar::Archive::new(self.layer.as_slice());
        layer.set_preserve_permissions(true);
        layer.unpack(root).with_context(|| format!("unpack the image into {}", root.display()))
    }
}

/// The files of a tar archive by their paths, and its directories with empty content.
fn files(archive: &[u8]) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
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
fn only(list: &Value) -> anyhow::Result<&Value> {
    match list.as_array().map(Vec::as_slice) {
        Some([element]) => Ok(element),
        _ => anyhow::bail!("one element is expected in {list}"),
    }
}

/// The part of an image that a reference is to.
fn blob<'a>(files: &'a BTreeMap<String, Vec<u8>>, reference: &Value, media_type: &str) -> anyhow::Result<&'a [u8]> {
    let name = reference["digest"].as_str().with_context(|| format!("no digest in {reference}"))?;
    let blob = files.get(&path_of(name)).with_context(|| format!("{name} is missing"))?;
    let found = describe(media_type, blob);
    for field in ["mediaType", "size", "digest"] {
        ensure!(reference[field] == found[field], "{field} of {name} is {}, not {}", found[field], reference[field]);
    }
    Ok(blob)
}

/// Adds a file, or a directory when the path ends so, without a time or an owner, which would change the digest.
fn add(archive: &mut tar::Builder<impl Write>, path: &str, mode: u32, content: &[u8]) -> std::io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(if path.ends_with('/') { tar::EntryType::Directory } else { tar::EntryType::Regular });
    header.set_size(content.len() as u64);
    header.set_mode(mode);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    archive.append_data(&mut header, path, content)
}

/// Where the blob of a digest is in an archive.
fn path_of(digest: &str) -> String {
    digest.replacen("sha256:", "blobs/sha256/", 1)
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hexadecimal(&Sha256::digest(bytes)))
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

/// What images call the machine of an ELF file.
fn architecture(program: &[u8]) -> &'static str {
    match program.get(18..20) {
        Some([0xb7, 0]) => "arm64",
        _ => "amd64",
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_image_that_was_written_is_the_image_that_is_read() {
        let (archive, _) = archive_of(Label::RELEASE, b"program").unwrap();
        let image = Image::read(&archive).unwrap();
        assert_eq!(image.entrypoint, "/plimsoll");
        let root = tempfile::tempdir().unwrap();
        image.unpack(root.path()).unwrap();
        assert_eq!(fs::read(root.path().join("plimsoll")).unwrap(), b"program");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_part_of_an_image_is_found() {
        let (archive, _) = archive_of(Label::RELEASE, b"program").unwrap();
        let mut files = files(&archive).unwrap();
        let (path, blob) = files.iter_mut().find(|(_, content)| content.starts_with(b"{\"schemaVersion\"")).unwrap();
        let name = path.replacen("blobs/sha256/", "sha256:", 1);
        blob.push(b' ');
        let mut damaged = tar::Builder::new(Vec::new());
        for (path, content) in &files {
            add(&mut damaged, path, 0o644, content).unwrap();
        }
        let error = Image::read(&damaged.into_inner().unwrap()).unwrap_err();
        assert!(format!("{error:#}").contains(&name), "{error:#}");
    }

    #[test]
    fn every_directory_of_an_archive_is_in_it_before_what_it_holds() {
        let (archive, _) = archive_of(Label::RELEASE, b"program").unwrap();
        let mut archive = tar::Archive::new(archive.as_slice());
        let path = |entry: std::io::Result<tar::Entry<'_, _>>| entry.unwrap().path().unwrap().into_owned();
        let mut seen = vec![PathBuf::new()];
        for path in archive.entries().unwrap().map(path) {
            assert!(seen.contains(&path.parent().unwrap().to_owned()), "{} has no directory", path.display());
            seen.push(path);
        }
        assert_eq!(seen.len(), 8, "{seen:?}");
    }

    #[test]
    fn the_same_program_gives_the_same_archive() {
        assert_eq!(archive_of(Label::RELEASE, b"one").unwrap(), archive_of(Label::RELEASE, b"one").unwrap());
        assert_ne!(archive_of(Label::RELEASE, b"one").unwrap().1, archive_of(Label::RELEASE, b"two").unwrap().1);
    }
}
