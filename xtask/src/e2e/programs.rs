//! The programs of the cluster, and the images of its containers, in `target/e2e/`.

use std::{fs, path::PathBuf};

use anyhow::Context as _;
use plimsoll_e2e::place;
use plimsoll_image::image::Label;

use crate::{child, dist, interruption};

/// The version of Kubernetes, as its module is in `e2e/cluster/go.mod`.
const KUBERNETES_MODULE: &str = "k8s.io/kubernetes";

/// Where Kubernetes keeps what it says its version is.
const VERSION_PACKAGE: &str = "k8s.io/component-base/version";

/// Main packages of the cluster's module: ours, and those of sidecars as they are.
const PACKAGES: &[&str] = &[
    "./kube-all",
    "./csi-loop",
    "./pause",
    "github.com/kubernetes-csi/external-attacher/v4/cmd/csi-attacher",
    "github.com/kubernetes-csi/external-provisioner/v6/cmd/csi-provisioner",
    "github.com/kubernetes-csi/external-resizer/v2/cmd/csi-resizer",
    "github.com/kubernetes-csi/external-snapshotter/v8/cmd/csi-snapshotter",
    "github.com/kubernetes-csi/external-snapshotter/v8/cmd/snapshot-controller",
];

/// The module that has the custom resources of snapshots.
const SNAPSHOT_MODULE: &str = "github.com/kubernetes-csi/external-snapshotter/client/v8";

/// Where the programs go.
pub(super) fn folder() -> PathBuf {
    crate::repository().join("target/e2e/bin")
}

/// Where the images go.
pub(super) fn images() -> PathBuf {
    crate::repository().join("target/e2e/images")
}

/// Builds what has changed.
pub(super) fn build(profile: &str) -> anyhow::Result<()> {
    build_go()?;
    let pause = fs::read(folder().join("pause")).context("read the program pause")?;
    write_image("pause", place::PAUSE_IMAGE, &pause)?;
    build_plimsoll(profile)
}

/// Builds plimsoll: the image for pods, and the same binary for who talks to the cluster from outside.
pub(super) fn build_plimsoll(profile: &str) -> anyhow::Result<()> {
    let program = dist::static_binary(profile)?;
    fs::create_dir_all(folder()).context("create target/e2e/bin")?;
    dist::write_program(&program, &folder().join("plimsoll"))?;
    write_image("plimsoll", place::IMAGE, &program)
}

fn write_image(program: &str, name: &str, content: &[u8]) -> anyhow::Result<()> {
    fs::create_dir_all(images()).context("create target/e2e/images")?;
    dist::write_image(Label { program, name }, content, &images().join(format!("{program}.tar")))?;
    Ok(())
}

fn build_go() -> anyhow::Result<()> {
    interruption::check()?;
    let version = go(&["list", "-m", "-f", "{{.Version}}", KUBERNETES_MODULE])?;
    let version = version.trim();
    let mut numbers = version.trim_start_matches('v').split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    // Without these, components say that they are v0.0.0, and clients take that for a very old one.
    let flags = format!(
        "-s -w -X {VERSION_PACKAGE}.gitVersion={version} -X {VERSION_PACKAGE}.gitMajor={major} \
         -X {VERSION_PACKAGE}.gitMinor={minor} -X {VERSION_PACKAGE}.gitTreeState=clean"
    );
    println!("e2e: building Kubernetes {version}: minutes the first time");
    let output = folder();
    fs::create_dir_all(&output).with_context(|| format!("create {}", output.display()))?;
    let mut build = child::command("go");
    build.current_dir(crate::repository().join("e2e/cluster")).env("CGO_ENABLED", "0");
    // Cold it is eleven minutes of a processor. Nobody debugs these, and compilers that end soon need not tidy up.
    build.env("GOGC", "400").args(["build", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", &flags, "-o"]);
    build.arg(format!("{}/", output.display())).args(PACKAGES);
    child::run(&mut build)?;
    interruption::check()
}

/// The files that define what a snapshot is to the API server.
pub(super) fn snapshot_definitions() -> anyhow::Result<Vec<PathBuf>> {
    let module = go(&["list", "-m", "-f", "{{.Dir}}", SNAPSHOT_MODULE])?;
    let folder = PathBuf::from(module.trim()).join("config/crd");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("snapshot.")) {
            files.push(path);
        }
    }
    Ok(files)
}

/// The output of `go` in the cluster's module.
fn go(arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = child::command("go");
    child::output(command.current_dir(crate::repository().join("e2e/cluster")).args(arguments))
}
