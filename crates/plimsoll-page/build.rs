//! Builds the page of `ui/` into one file, where there is npm. Where there is none, everything else builds all the
//! same, and whoever asks for the page is told why there is none.
//!
//! `PLIMSOLL_PAGE` is the path of a page that was built before, or `skip`.

#![expect(clippy::disallowed_methods, reason = "cargo tells build scripts by the environment")]

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use flate2::{Compression, write::GzEncoder};

/// What the page is made from; beside these lie what npm installs, and the tests.
const SOURCES: [&str; 7] =
    ["src", "index.html", "package.json", "package-lock.json", ".npmrc", "tsconfig.json", "vite.config.ts"];

/// The oldest Node.js that the page can be built with.
const NODE_MIN: [u32; 2] = [20, 19];

fn main() {
    let ui = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../../ui");
    let out = PathBuf::from(variable("OUT_DIR"));
    println!("cargo::rerun-if-env-changed=PLIMSOLL_PAGE");
    println!("cargo::rerun-if-env-changed=PATH");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", ui.join(source).display());
    }
    let page = match page(&ui, &out) {
        Ok(page) => page,
        Err(reason) => {
            println!("cargo::warning=there will be no HTML page: {reason}");
            println!("cargo::rustc-env=PLIMSOLL_NO_PAGE={reason}");
            Vec::new()
        }
    };
    fs::write(out.join("page.html.gz"), compressed(&page)).expect("write into the folder of the build");
}

/// A third of the length, of nearly a megabyte.
fn compressed(page: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(page).and_then(|()| encoder.finish()).expect("memory takes everything")
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// The page, or why there is none. A page that cannot be built from its source is an error of the build.
fn page(ui: &Path, out: &Path) -> Result<Vec<u8>, String> {
    match env::var("PLIMSOLL_PAGE") {
        Ok(choice) if choice == "skip" => return Err("it was built with PLIMSOLL_PAGE=skip".to_owned()),
        Ok(path) if !path.is_empty() => return fs::read(&path).map_err(|error| format!("{path}: {error}")),
        _ => {}
    }
    check_node()?;
    let copy = out.join("ui");
    copy_sources(ui, &copy).map_err(|error| format!("its source could not be copied: {error}"))?;
    install(&copy)?;
    let build = npm(&copy).args(["run", "build"]).output();
    let build = build.unwrap_or_else(|error| panic!("start npm run build: {error}"));
    assert!(
        build.status.success(),
        "npm run build: {}{}",
        String::from_utf8_lossy(&build.stdout),
        String::from_utf8_lossy(&build.stderr)
    );
    Ok(fs::read(copy.join("dist/index.html")).expect("npm run build makes dist/index.html"))
}

fn npm(folder: &Path) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(folder);
    command
}

fn check_node() -> Result<(), String> {
    let [major, minor] = NODE_MIN;
    let needed = format!("Node.js {major}.{minor} or newer with npm is needed to build it");
    let output = Command::new("node").arg("--version").output().map_err(|_| format!("there is no node; {needed}"))?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let mut numbers = version.trim_start_matches('v').split('.').map_while(|number| number.parse::<u32>().ok());
    if [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)] < NODE_MIN {
        return Err(format!("node is {version}; {needed}"));
    }
    let has_npm = Command::new("npm").arg("--version").output().is_ok_and(|output| output.status.success());
    if has_npm { Ok(()) } else { Err(format!("there is no npm; {needed}")) }
}

/// Copies what the page is made from; what npm has installed there stays.
fn copy_sources(from: &Path, to: &Path) -> std::io::Result<()> {
    let _ = fs::remove_dir_all(to.join("src"));
    fs::create_dir_all(to)?;
    SOURCES.iter().try_for_each(|source| copy(&from.join(source), &to.join(source)))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Installs what the lock file says, unless that is what is there.
fn install(folder: &Path) -> Result<(), String> {
    let lock = fs::read(folder.join("package-lock.json")).map_err(|error| format!("package-lock.json: {error}"))?;
    let installed = folder.join("node_modules/.installed-lock");
    if fs::read(&installed).is_ok_and(|found| found == lock) {
        return Ok(());
    }
    let flags = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
    let output = npm(folder).arg("ci").args(flags).output().map_err(|error| format!("npm: {error}"))?;
    if !output.status.success() {
        // A warning of cargo is one line.
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().find(|line| line.contains("error")).unwrap_or("no reason given");
        return Err(format!("npm ci failed: {}", line.trim()));
    }
    fs::write(&installed, lock).map_err(|error| format!("{}: {error}", installed.display()))
}
