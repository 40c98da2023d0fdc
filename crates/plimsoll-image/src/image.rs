//! The parts of an image, and the archive of them. `skopeo copy oci-archive:FILE docker://...` pushes it, container
//! runtimes and Docker import it.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::program;

pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const CONFIGURATION: &str = "application/vnd.oci.image.config.v1+json";
pub(crate) const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// What an image is called.
#[derive(Clone, Copy, Debug)]
pub struct Label<'a> {
    /// The file that is in the image, and its entry point.
    pub program: &'a str,
    /// The whole name with the tag, for runtimes that take it from the archive. An image that was never pulled is of
    /// this host.
    pub name: &'a str,
}

impl Label<'static> {
    /// The image that is handed out.
    pub const RELEASE: Self =
        Self { program: "plimsoll", name: concat!("localhost/plimsoll:", env!("CARGO_PKG_VERSION")) };
}

impl Label<'_> {
    /// The tag, for tools that have a name of their own for the image.
    fn tag(&self) -> &str {
        self.name.rsplit_once(':').map_or("latest", |(_, tag)| tag)
    }
}

/// A part of an image, and its name.
#[derive(Debug)]
pub struct Blob {
    /// What it is.
    pub media_type: &'static str,
    /// `sha256:` and the digest of its bytes.
    pub digest: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl Blob {
    fn new(media_type: &'static str, bytes: Vec<u8>) -> Self {
        Self { media_type, digest: digest(&bytes), bytes }
    }

    /// How another part refers to this one.
    fn reference(&self) -> Value {
        describe(self.media_type, &self.bytes)
    }
}

/// An image of one program.
#[derive(Debug)]
pub struct Image {
    /// The machine that it is for.
    pub architecture: &'static str,
    /// How to start the program.
    pub configuration: Blob,
    /// The program.
    pub layer: Blob,
    /// What refers to both. Its digest is the image's.
    pub manifest: Blob,
}

impl Image {
    /// Puts the image of a program together.
    ///
    /// # Errors
    /// When the program's name is too long for an archive, or the program is for a machine that is not known.
    pub fn of(file: &str, program: &[u8]) -> io::Result<Self> {
        let mut layer = tar::Builder::new(Vec::new());
        add(&mut layer, file, 0o755, program)?;
        let layer = layer.into_inner()?;
        // The name of a layer's content is the digest before compression.
        let layer_content = digest(&layer);
        let mut compressor = flate2::GzBuilder::new().mtime(0).write(Vec::new(), flate2::Compression::new(6));
        compressor.write_all(&layer)?;
        let layer = Blob::new(LAYER, compressor.finish()?);

        let architecture = program::architecture(program);
        let architecture = architecture.ok_or_else(|| io::Error::other("its machine is neither amd64 nor arm64"))?;
        let created = "1970-01-01T00:00:00Z";
        let configuration = json!({
            "architecture": architecture,
            "os": "linux",
            "created": created,
            "config": { "Entrypoint": [format!("/{file}")], "WorkingDir": "/" },
            "rootfs": { "type": "layers", "diff_ids": [layer_content] },
            "history": [{ "created": created, "created_by": "plimsoll" }],
        });
        let configuration = Blob::new(CONFIGURATION, configuration.to_string().into_bytes());
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": configuration.reference(),
            "layers": [layer.reference()],
        });
        let manifest = Blob::new(MANIFEST, manifest.to_string().into_bytes());
        Ok(Self { architecture, configuration, layer, manifest })
    }

    /// What all parts have together.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        [&self.configuration, &self.layer, &self.manifest].iter().map(|blob| blob.bytes.len() as u64).sum()
    }

    /// The archive in which the image has this name.
    ///
    /// # Errors
    /// When a name is too long for an archive.
    pub fn archive(&self, label: Label<'_>) -> io::Result<Vec<u8>> {
        let mut entry = self.manifest.reference();
        entry["platform"] = json!({ "architecture": self.architecture, "os": "linux" });
        entry["annotations"] =
            json!({ "io.containerd.image.name": label.name, "org.opencontainers.image.ref.name": label.tag() });
        let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [entry] }).to_string();
        // What Docker reads unless it keeps its images in containerd's store. The others do not look at it.
        let for_docker = json!([{
            "Config": path_of(&self.configuration.digest),
            "RepoTags": [label.name],
            "Layers": [path_of(&self.layer.digest)],
        }]);

        let mut archive = tar::Builder::new(Vec::new());
        add(&mut archive, "oci-layout", 0o644, br#"{"imageLayoutVersion":"1.0.0"}"#)?;
        add(&mut archive, "index.json", 0o644, index.as_bytes())?;
        add(&mut archive, "manifest.json", 0o644, for_docker.to_string().as_bytes())?;
        // A user without rights cannot have skopeo read an archive whose directories it would have to make up.
        for directory in ["blobs/", "blobs/sha256/"] {
            add(&mut archive, directory, 0o755, b"")?;
        }
        for blob in [&self.configuration, &self.manifest, &self.layer] {
            add(&mut archive, &path_of(&blob.digest), 0o644, &blob.bytes)?;
        }
        archive.into_inner()
    }
}

/// How one part of an image refers to another.
pub(crate) fn describe(media_type: &str, blob: &[u8]) -> Value {
    json!({ "mediaType": media_type, "digest": digest(blob), "size": blob.len() })
}

/// Adds a file, or a directory when the path ends so, without a time or an owner, which would change the digest.
pub(crate) fn add(archive: &mut tar::Builder<impl Write>, path: &str, mode: u32, content: &[u8]) -> io::Result<()> {
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
pub(crate) fn path_of(digest: &str) -> String {
    digest.replacen("sha256:", "blobs/sha256/", 1)
}

/// How parts of images are called.
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", checksum(bytes))
}

/// The SHA-256 sum in lower-case hexadecimal digits.
#[must_use]
pub fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::{io::Read as _, path::PathBuf};

    use super::*;

    fn archive_of(program: &[u8]) -> Vec<u8> {
        Image::of(Label::RELEASE.program, &program::with(program)).unwrap().archive(Label::RELEASE).unwrap()
    }

    #[test]
    fn every_directory_of_an_archive_is_in_it_before_what_it_holds() {
        let archive = archive_of(b"program");
        let mut archive = tar::Archive::new(archive.as_slice());
        let path = |entry: io::Result<tar::Entry<'_, _>>| entry.unwrap().path().unwrap().into_owned();
        let mut seen = vec![PathBuf::new()];
        for path in archive.entries().unwrap().map(path) {
            assert!(seen.contains(&path.parent().unwrap().to_owned()), "{} has no directory", path.display());
            seen.push(path);
        }
        assert_eq!(seen.len(), 9, "{seen:?}");
    }

    #[test]
    fn the_same_program_gives_the_same_archive() {
        assert_eq!(archive_of(b"one"), archive_of(b"one"));
        let digest = |program: &[u8]| Image::of("plimsoll", &program::with(program)).unwrap().manifest.digest;
        assert_ne!(digest(b"one"), digest(b"two"));
    }

    #[test]
    fn an_image_is_the_same_whatever_it_is_called() {
        let image = Image::of("plimsoll", &program::with(b"program")).unwrap();
        let archive = image.archive(Label { program: "plimsoll", name: "example.org/other:1" }).unwrap();
        let mut names = Vec::new();
        for entry in tar::Archive::new(archive.as_slice()).entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut text = Vec::new();
            entry.read_to_end(&mut text).unwrap();
            if entry.path().unwrap().extension().is_some_and(|extension| extension == "json") {
                names.push(String::from_utf8(text).unwrap());
            }
        }
        assert!(names.len() == 2 && names.iter().all(|text| text.contains("example.org/other:1")), "{names:?}");
        assert!(archive.len() as u64 > image.size_bytes());
    }
}
