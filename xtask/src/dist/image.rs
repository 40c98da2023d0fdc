//! An image of one file, as an OCI archive: no container engine is needed to write it, and the same binary always gives
//! the same digest. `skopeo copy oci-archive:FILE docker://...` pushes it; container runtimes import it.

use std::{fmt::Write as _, fs, io::Write, path::Path};

use anyhow::Context as _;
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// Writes the archive and gives the digest of the image.
pub(super) fn write(program: &[u8], archive: &Path) -> anyhow::Result<String> {
    let bytes = archive_of(program).context("build the image")?;
    fs::write(archive, bytes.0).with_context(|| format!("write {}", archive.display()))?;
    Ok(bytes.1)
}

fn archive_of(program: &[u8]) -> anyhow::Result<(Vec<u8>, String)> {
    let mut layer = tar::Builder::new(Vec::new());
    add(&mut layer, "plimsoll", 0o755, program)?;
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
        "config": { "Entrypoint": ["/plimsoll"], "WorkingDir": "/" },
        "rootfs": { "type": "layers", "diff_ids": [layer_content] },
        "history": [{ "created": created, "created_by": "cargo xtask dist" }],
    }))?;
    let manifest = serde_json::to_vec(&json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": describe("application/vnd.oci.image.config.v1+json", &config),
        "layers": [describe("application/vnd.oci.image.layer.v1.tar+gzip", &layer)],
    }))?;
    let mut entry = describe("application/vnd.oci.image.manifest.v1+json", &manifest);
    entry["platform"] = json!({ "architecture": architecture, "os": "linux" });
    entry["annotations"] =
        json!({ "org.opencontainers.image.ref.name": concat!("plimsoll:", env!("CARGO_PKG_VERSION")) });
    let index = serde_json::to_vec(&json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [entry],
    }))?;

    let mut archive = tar::Builder::new(Vec::new());
    add(&mut archive, "oci-layout", 0o644, br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    add(&mut archive, "index.json", 0o644, &index)?;
    for blob in [&config, &manifest, &layer] {
        add(&mut archive, &digest(blob).replacen("sha256:", "blobs/sha256/", 1), 0o644, blob)?;
    }
    Ok((archive.into_inner()?, digest(&manifest)))
}

/// How one part of an image refers to another.
fn describe(media_type: &str, blob: &[u8]) -> serde_json::Value {
    json!({ "mediaType": media_type, "digest": digest(blob), "size": blob.len() })
}

/// Adds a file without a time or an owner, which would change the digest.
fn add(archive: &mut tar::Builder<impl Write>, path: &str, mode: u32, content: &[u8]) -> std::io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_size(content.len() as u64);
    header.set_mode(mode);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    archive.append_data(&mut header, path, content)
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
    use std::{collections::BTreeMap, io::Read as _};

    use super::*;

    fn files(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
        let mut archive = tar::Archive::new(archive);
        let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            (entry.path().unwrap().to_string_lossy().into_owned(), content)
        };
        archive.entries().unwrap().map(read).collect()
    }

    #[test]
    fn every_digest_of_the_archive_is_that_of_a_blob_in_it() {
        let (archive, image) = archive_of(b"program").unwrap();
        let files = files(&archive);
        for (path, content) in &files {
            if let Some(name) = path.strip_prefix("blobs/sha256/") {
                assert_eq!(digest(content), format!("sha256:{name}"));
            }
        }
        let blob = |digest: &str| -> serde_json::Value {
            serde_json::from_slice(&files[&digest.replacen("sha256:", "blobs/sha256/", 1)]).unwrap()
        };
        let index: serde_json::Value = serde_json::from_slice(&files["index.json"]).unwrap();
        assert_eq!(index["manifests"][0]["digest"], image);
        let manifest = blob(&image);
        let config = blob(manifest["config"]["digest"].as_str().unwrap());
        assert_eq!(config["config"]["Entrypoint"][0], "/plimsoll");

        let layer = &files[&manifest["layers"][0]["digest"].as_str().unwrap().replacen("sha256:", "blobs/sha256/", 1)];
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(layer.as_slice()).read_to_end(&mut unpacked).unwrap();
        assert_eq!(digest(&unpacked), config["rootfs"]["diff_ids"][0].as_str().unwrap());
        assert_eq!(self::files(&unpacked)["plimsoll"], b"program");
    }

    #[test]
    fn the_same_program_gives_the_same_archive() {
        assert_eq!(archive_of(b"one").unwrap(), archive_of(b"one").unwrap());
        assert_ne!(archive_of(b"one").unwrap().1, archive_of(b"two").unwrap().1);
    }
}
