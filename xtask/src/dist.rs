//! `cargo xtask dist`: the static binary, which starts on any Linux of its architecture, and an image of only that.

mod image;

use std::{env, fs, path::Path};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

use crate::child;

/// Without an interpreter to load it, the binary needs nothing of the system that it starts on.
const STATIC: &str = "-C target-feature=+crt-static";

pub(crate) fn run() -> anyhow::Result<()> {
    // An explicit target keeps procedural macros, which must be shared libraries, free of the flag.
    let triple = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let mut build = child::cargo(&["build", "--profile", "dist", "--package", "plimsoll", "--target", &triple]);
    child::run(build.env("RUSTFLAGS", STATIC))?;

    let target = crate::repository().join("target");
    let output = target.join("dist");
    fs::create_dir_all(&output).with_context(|| format!("create {}", output.display()))?;
    let binary = output.join("plimsoll");
    fs::copy(target.join(&triple).join("dist/plimsoll"), &binary).context("copy the static binary")?;
    let program = fs::read(&binary).with_context(|| format!("read {}", binary.display()))?;
    if !is_static(&program) {
        bail!("{} asks for a dynamic loader", binary.display());
    }
    let archive = output.join("plimsoll-oci.tar");
    let digest = image::write(&program, &archive)?;
    let files = [&binary, &archive];
    let sums = files.iter().map(|path| checksum(path)).collect::<anyhow::Result<String>>()?;
    fs::write(output.join("SHA256SUMS"), &sums).context("write SHA256SUMS")?;
    start_in_an_empty_root(&binary)?;
    print!("{sums}");
    println!("dist: {} bytes static, image {digest}", program.len());
    Ok(())
}

/// Whether no program header of the ELF file asks for an interpreter.
fn is_static(program: &[u8]) -> bool {
    const INTERPRETER: u32 = 3;
    let word =
        |at: usize| program.get(at..at + 2).map_or(0, |bytes| usize::from(u16::from_le_bytes([bytes[0], bytes[1]])));
    let headers =
        program.get(32..40).map_or(0, |bytes| bytes.iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte)));
    let (size, count) = (word(54), word(56));
    count > 0
        && (0..count).all(|index| {
            let kind = program.get(headers + index * size..headers + index * size + 4);
            kind.is_some_and(|kind| kind != INTERPRETER.to_le_bytes())
        })
}

/// A line as `sha256sum` writes it.
fn checksum(path: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(path).with_context(|| format!("read {}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("{}  {name}\n", image::hexadecimal(&Sha256::digest(bytes))))
}

/// Starts the binary where there is nothing else: no libraries, no /proc, no /etc. It measures that very directory.
fn start_in_an_empty_root(binary: &Path) -> anyhow::Result<()> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: a start in an empty root, which needs root");
        return Ok(());
    }
    let root = tempfile::Builder::new()
        .prefix("empty-root-")
        .tempdir_in(crate::repository().join("target"))
        .context("create an empty root")?;
    fs::copy(binary, root.path().join("plimsoll")).context("copy the binary into the empty root")?;
    fs::create_dir(root.path().join("data")).context("create a directory to measure")?;
    let inside = |arguments: &[&str]| {
        let mut command = child::command("chroot");
        command.arg(root.path()).arg("/plimsoll").args(arguments);
        child::output(&mut command)
    };
    inside(&["--version"])?;
    let record = inside(&[
        "run",
        "/data",
        "--rw",
        "randread",
        "--size",
        "16MiB",
        "--duration",
        "300ms",
        "--no-history",
        "--json",
    ])?;
    let record: serde_json::Value = serde_json::from_str(&record).context("parse the record of the empty root")?;
    println!("dist: measured in an empty root with engine {}", record["cells"][0]["engine"]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF header with one program header of this kind.
    fn elf(kind: u32) -> Vec<u8> {
        let mut program = vec![0_u8; 64 + 56];
        (program[32], program[54], program[56]) = (64, 56, 1);
        program[64..68].copy_from_slice(&kind.to_le_bytes());
        program
    }

    #[test]
    fn a_program_that_asks_for_a_loader_is_not_static() {
        assert!(is_static(&elf(1)));
        assert!(!is_static(&elf(3)));
        assert!(!is_static(b"#!/bin/sh\n"));
    }
}
