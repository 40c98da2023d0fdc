//! `cargo xtask dist`: the static binary, which starts on any Linux of its architecture, and an image of only that.
//!
//! With `--check` it also reads the image back and runs it where there is nothing else (`empty_root.rs`).

mod empty_root;

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context as _, bail};
use plimsoll_image::{
    image::{self, Image, Label},
    program::is_static,
};

use crate::child::{self, Started};

/// What a binary may weigh.
const SIZE_BYTES_MAX: usize = 25 << 20;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Also prove the image: read it back and run it in an empty root, which needs root.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let archive = make(Build::begin("release")?)?;
    if arguments.check { check(&archive, &mut |line| println!("{line}")) } else { Ok(()) }
}

/// What `cargo xtask ci` tests.
pub(crate) struct Distribution {
    pub(crate) binary: PathBuf,
    /// None where the C library cannot be linked statically.
    archive: Option<PathBuf>,
}

impl Distribution {
    /// Proves the image, where there is one.
    pub(crate) fn prove(&self, observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
        self.archive.as_deref().map_or(Ok(()), |archive| check(archive, observe))
    }
}

/// A build of the program that is under way.
pub(crate) struct Build {
    cargo: Started,
    binary: PathBuf,
    /// Where it is not static: why.
    needs_loader: Option<anyhow::Error>,
}

impl Build {
    /// Begins to build the static binary in a profile of cargo.
    fn begin(profile: &str) -> anyhow::Result<Self> {
        check_c_library()?;
        // An explicit target keeps procedural macros, which must be shared libraries, free of the flags.
        let triple = format!("{}-unknown-linux-gnu", env::consts::ARCH);
        let mut build = child::cargo(&["build", "--profile", profile, "--package", "plimsoll", "--target", &triple]);
        build.env("CARGO_ENCODED_RUSTFLAGS", compiler_flags().join(&OsString::from("\x1f")));
        // The one profile whose folder has another name.
        let folder = if profile == "dev" { "debug" } else { profile };
        let binary = child::target().join(&triple).join(folder).join("plimsoll");
        Ok(Self { cargo: child::start(build)?, binary, needs_loader: None })
    }

    /// For `cargo xtask ci`. Where the C library cannot be linked statically, the binary is what `cargo build` makes.
    pub(crate) fn begin_for_ci() -> anyhow::Result<Self> {
        match check_c_library() {
            Err(missing) if env::var_os("CI").is_none() => {
                let cargo = child::start(child::cargo(&["build", "--release"]))?;
                Ok(Self { cargo, binary: child::target().join("release/plimsoll"), needs_loader: Some(missing) })
            }
            _ => Self::begin("release"),
        }
    }

    /// Waits for the static binary and gives its content.
    fn finish(self) -> anyhow::Result<Vec<u8>> {
        self.cargo.wait()?;
        let program = fs::read(&self.binary).with_context(|| format!("read {}", self.binary.display()))?;
        if !is_static(&program) {
            bail!("{} asks for a dynamic loader: look at what the linker was given", self.binary.display());
        }
        child::output(Command::new(&self.binary).arg("--version")).context(
            "the static binary does not start: link it where the C library is glibc 2.36 or later, as Debian 12 has it",
        )?;
        Ok(program)
    }
}

/// Builds the static binary in a profile of cargo and gives its content.
pub(crate) fn static_binary(profile: &str) -> anyhow::Result<Vec<u8>> {
    Build::begin(profile)?.finish()
}

/// For `cargo xtask ci`: makes what is distributed of a build.
pub(crate) fn for_ci(build: Build, observe: &mut dyn FnMut(&str)) -> anyhow::Result<Distribution> {
    if let Some(missing) = build.needs_loader {
        observe(&format!("skipped: the static binary and its image: {missing:#}"));
        build.cargo.wait()?;
        return Ok(Distribution { binary: build.binary, archive: None });
    }
    let archive = make(build)?;
    Ok(Distribution { binary: binary_beside(&archive), archive: Some(archive) })
}

/// An error where there is no C library to link statically: the linker would only name what it did not find.
pub(crate) fn check_c_library() -> anyhow::Result<()> {
    const ARCHIVE: &str = "libc.a";
    let place = child::output(child::command("cc").arg(format!("-print-file-name={ARCHIVE}")))?;
    // A compiler that does not find it answers with the bare name.
    if place.trim() == ARCHIVE {
        bail!("the C library has no {ARCHIVE}: install libc6-dev (Debian) or glibc-static (Fedora)");
    }
    Ok(())
}

/// Makes the image of a build, with the binary beside it, and gives the path of the image's archive.
fn make(build: Build) -> anyhow::Result<PathBuf> {
    let program = build.finish()?;
    if program.len() > SIZE_BYTES_MAX {
        bail!("the binary has {} bytes and may have {SIZE_BYTES_MAX}", program.len());
    }
    let output = crate::repository().join("target/distribution");
    fs::create_dir_all(&output).with_context(|| format!("create {}", output.display()))?;
    let archive = output.join("plimsoll-oci.tar");
    let binary = binary_beside(&archive);
    write_program(&program, &binary)?;
    let digest = write_image(Label::RELEASE, &program, &archive)?;
    let sums = [&binary, &archive].into_iter().map(|path| checksum(path)).collect::<anyhow::Result<String>>()?;
    fs::write(output.join("SHA256SUMS"), &sums).context("write SHA256SUMS")?;
    print!("{sums}");
    println!("dist: static binary of {} bytes in {}", program.len(), output.display());
    let image_bytes = fs::metadata(&archive).with_context(|| format!("stat {}", archive.display()))?.len();
    println!("dist: image {digest} of {image_bytes} bytes");
    Ok(archive)
}

fn binary_beside(archive: &Path) -> PathBuf {
    archive.with_file_name("plimsoll")
}

/// Writes the archive of a program's image and gives the digest of the image.
pub(crate) fn write_image(label: Label<'_>, program: &[u8], archive: &Path) -> anyhow::Result<String> {
    let image = Image::of(label.program, program).context("build the image")?;
    let bytes = image.archive(label).context("build the archive of the image")?;
    fs::write(archive, bytes).with_context(|| format!("write {}", archive.display()))?;
    Ok(image.manifest.digest)
}

fn compiler_flags() -> Vec<OsString> {
    let mut flags = vec![
        // Without an interpreter to load it, the binary needs nothing of the system that it starts on.
        "-Ctarget-feature=+crt-static".into(),
        // A static program cannot look getrandom(2) up by its name, and would need a /dev/urandom without this.
        "--cfg=getrandom_backend=\"linux_getrandom\"".into(),
        // 0.7 MB less: the binary may be loaded anywhere, and has tens of thousands of addresses to be corrected then.
        // It corrects them itself, which a C library before glibc 2.36 cannot: see that it starts.
        "-Clink-arg=-Wl,-z,pack-relative-relocs".into(),
    ];
    // The binary is the same wherever it is built, and tells nobody where that was.
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    for (from, to) in [(cargo_home, "cargo"), (Some(crate::repository()), ".")] {
        if let Some(from) = from {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(from);
            flag.push("=");
            flag.push(to);
            flags.push(flag);
        }
    }
    flags
}

/// Writes beside and renames: a binary that is running cannot be written to.
pub(crate) fn write_program(program: &[u8], path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let unfinished = path.with_extension("unfinished");
    let write = || {
        fs::write(&unfinished, program)?;
        fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o755))?;
        fs::rename(&unfinished, path)
    };
    write().with_context(|| format!("write {}", path.display()))
}

/// Proves the image, and says at the very end what was not proven.
fn check(archive: &Path, observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let started = Instant::now();
    let skipped = empty_root::prove(archive)?;
    makes_the_same_image(archive)?;
    for missing in &skipped {
        observe(&format!("skipped: {missing}"));
    }
    let elapsed_s = started.elapsed().as_secs_f64();
    match skipped.len() {
        0 => println!("dist: proven in {elapsed_s:.1} s"),
        count if env::var_os("CI").is_some() => bail!("{count} of the checks skipped, and CI is set"),
        count => println!("dist: NOT ALL PROVEN, {count} skipped; the other checks passed in {elapsed_s:.1} s"),
    }
    Ok(())
}

/// The binary beside the archive makes the very same archive.
fn makes_the_same_image(archive: &Path) -> anyhow::Result<()> {
    let directory = tempfile::tempdir().context("create a directory for another image")?;
    let other = directory.path().join("image.tar");
    let mut command = child::command(&binary_beside(archive).to_string_lossy());
    child::output(command.args(["kubernetes", "image", "save", "-o"]).arg(&other))?;
    let read = |path: &Path| fs::read(path).with_context(|| format!("read {}", path.display()));
    if read(archive)? != read(&other)? {
        bail!("the image that the binary makes of itself is not {}", archive.display());
    }
    println!("check: the binary makes the same image of itself");
    Ok(())
}

/// A line as `sha256sum` writes it.
fn checksum(path: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(path).with_context(|| format!("read {}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("{}  {name}\n", image::checksum(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_told_to_write_no_directory_of_the_builder() {
        let flags = compiler_flags();
        let repository = crate::repository().into_os_string().into_string().unwrap();
        assert!(flags.contains(&OsString::from(format!("--remap-path-prefix={repository}=."))), "{flags:?}");
    }
}
