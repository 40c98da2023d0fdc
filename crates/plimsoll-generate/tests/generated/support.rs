//! The plans of `fixtures/generate` and what becomes of them; programs that stand in for those of a cloud.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use plimsoll_catalog::{catalog::Catalog, product::Provider};
use plimsoll_generate::{GeneratedFile, error::GenerateError, generate_in_order, order_of_disks};
use tempfile::TempDir;

/// Says what a test could not have, and fails it where everything must be there.
#[expect(clippy::disallowed_methods, reason = "only tests ask whether they run in continuous integration")]
#[expect(clippy::print_stdout, reason = "what was skipped is told to whoever runs the tests")]
pub(crate) fn skipped(missing: &str) {
    println!("skipped: {missing}");
    assert!(std::env::var_os("CI").is_none(), "nothing may be skipped when CI is set: {missing}");
}

/// The folder of the build, in which `cargo xtask setup` puts programs that have no Debian package.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned()
}

/// A path in this crate.
pub(crate) fn manifest(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The plans, with what becomes of them.
pub(crate) fn fixtures() -> PathBuf {
    manifest("../../fixtures/generate")
}

/// The Python that `cargo xtask setup` has put the real az into, with the language of its queries.
pub(crate) fn python() -> PathBuf {
    target().join("azure-cli/bin/python")
}

/// Whether it is there.
pub(crate) fn has_python() -> bool {
    let is_there = python().exists();
    if !is_there {
        skipped("azure-cli, which cargo xtask setup installs");
    }
    is_there
}

/// Terraform, from `PATH` or from where `cargo xtask setup` puts it.
pub(crate) fn terraform() -> Option<PathBuf> {
    let is_one = |program: &PathBuf| Command::new(program).arg("-version").output().is_ok();
    #[expect(clippy::disallowed_methods, reason = "only tests look for programs of their own")]
    let path = std::env::var_os("PATH").unwrap_or_default();
    let of_path = std::env::split_paths(&path).map(|directory| directory.join("terraform"));
    let found = of_path.chain([target().join("terraform/terraform")]).find(is_one);
    if found.is_none() {
        skipped("terraform, which cargo xtask setup fetches");
    }
    found
}

/// A plan, and what is generated from it.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) plan: String,
    pub(crate) files: Vec<GeneratedFile>,
}

/// All of them.
pub(crate) fn cases() -> Vec<Case> {
    let entries = fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned())).collect();
    names.sort();
    assert!(names.len() >= 7, "{names:?}");
    let case = |name: String| {
        let plan = fs::read_to_string(fixtures().join(format!("{name}.toml"))).unwrap();
        let files = generated(&plan, provider(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Case { name, plan, files }
    };
    names.into_iter().map(case).collect()
}

/// Those of Azure, whose scripts do everything themselves.
pub(crate) fn of_azure() -> Vec<Case> {
    cases().into_iter().filter(|case| case.name.starts_with("azure")).collect()
}

pub(crate) fn provider(name: &str) -> Provider {
    match name.split('-').next().unwrap() {
        "azure" => Provider::Azure,
        "aws" => Provider::Aws,
        "gcp" => Provider::Gcp,
        other => panic!("{other} is no cloud"),
    }
}

pub(crate) fn generated(plan: &str, provider: Provider) -> Result<Vec<GeneratedFile>, GenerateError> {
    generate_in_order(&toml::from_str(plan).unwrap(), &order_of_disks(plan), provider, &Catalog::default())
}

impl Case {
    pub(crate) fn text(&self, name: &str) -> &str {
        &self.files.iter().find(|file| file.name == name).unwrap_or_else(|| panic!("{name}")).text
    }
}

/// A directory with generated files, and programs of a cloud that only write down what they were called with.
pub(crate) struct Place {
    root: TempDir,
}

/// What the programs answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cloud {
    /// Nothing is there yet; what is made succeeds.
    Empty,
    /// All of it is there, made by this setup.
    Made,
    /// What was made before is there, and nothing else; what is made succeeds.
    Grown,
    /// A group of this name is there, made by somebody else.
    Foreign,
    /// Nothing is there yet, and what is made is never done.
    Stuck,
    /// It is all there, and some of it has failed.
    Failed,
    /// It is all there, and something that is not of this setup is among it.
    Mixed,
    /// Nobody is logged in.
    LoggedOut,
}

/// What tells a setup from others of its name.
const ID: &str = "0123456789abcdef";

/// A program that writes its arguments down, each behind a unit separator, a call on a line.
const STUB: &str = r#"#!/usr/bin/env bash
{ printf '%s' "${0##*/}"; printf '\x1f%s' "$@"; printf '\n'; } >>"$PLACE/calls"
if [ "$CLOUD" = grown ]; then
  case "${0##*/} $*" in
    *provisioningState* | *storageTarget* | *publicIps* | "az account "* | "az extension "* | "az group exists "*) ;;
    "az "*" show "* | "az resource list "*) exec "$PYTHON" -I "$SHOWS" "$@" ;;
    "az "*) tail -n 1 "$PLACE/calls" >>"$PLACE/made" ;;
  esac
fi
[ "$CLOUD" != empty ] || tail -n 1 "$PLACE/calls" >>"$PLACE/made"
case "${0##*/} $*" in
  "az group show "*tags.*) if [ "$CLOUD" = foreign ]; then echo "other-id"; else echo "$SETUP_ID"; fi ;;
  "az group exists "*) if [ "$CLOUD" = empty ] || [ -e "$PLACE/gone" ]; then echo false; else echo true; fi ;;
  "az group delete "*) [ "$CLOUD" != failed ] || exit 1
    : >"$PLACE/gone" ;;
  "az resource list "*"provisioningState=="*) [ "$CLOUD" != failed ] || echo broken ;;
  "az resource list "*virtualMachines/extensions*) [ "$CLOUD" != mixed ] || echo /subscriptions/s/precious ;;
  "az resource list "*) case "$CLOUD" in made | grown) exec "$PYTHON" -I "$SHOWS" "$@" ;; esac ;;
  *nodeResourceGroup*) echo MC_nodes ;;
  "az account show "*) [ "$CLOUD" != logged-out ] || exit 1
    case "$*" in *--subscription*) echo other ;; *) echo "s" ;; esac ;;
  "az extension show "*) exit 3 ;;
  "az "*" show "*"join("* | "az group show "*"--query location"* | "az "*serviceEndpoints* | "az "*tags.*plimsoll-pool*)
    exec "$PYTHON" -I "$SHOWS" "$@" ;;
  "az "*provisioningState*)
    case "$CLOUD" in stuck) echo Creating ;; failed) echo Failed ;; *) echo Succeeded ;; esac ;;
  "az vm show "*dataDisks*) [ -x "$PYTHON" ] || { echo 0; exit 0; }
    exec "$PYTHON" -I "$SHOWS" "$@" ;;
  "az "*managedBy*) [ "$CLOUD" != made ] || echo "/subscriptions/s/${HOLDER:-$SETUP}" ;;
  "az "*storageTarget*) printf 'volume-x\niqn.2024-01.example:x\nes.example\n3260\n' ;;
  "az elastic-san volume-group list "*) echo volumes ;;
  "az elastic-san volume list "*) [ -z "${UNLISTED:-}" ] || exit 1; echo volume-x ;;
  "az "*" --query "*) echo /subscriptions/s/something ;;
  "az "*" show "*)
    case "$CLOUD" in
      made | mixed | foreign | failed) ;;
      logged-out) echo "Please run 'az login' to setup account." >&2; exit 1 ;;
      *) exit 3 ;;
    esac ;;
  "az aks get-credentials "*) : >"$KUBECONFIG_FILE" ;;
  "kubectl "*" get storageclass "*)
    if [ "$CLOUD" != made ] && [ ! -e "$PLACE/class" ]; then : >"$PLACE/class"; exit 1; fi ;;
  "terraform "*" output -raw disk_ids") printf 'gp3 vol-0abc\n' ;;
  "terraform "*" output "*) echo something ;;
  "terraform "*" state list") [ "$CLOUD" != made ] || printf 'aws_eks_cluster.cluster\ngoogle_container_cluster.cluster\n' ;;
  "terraform "*" plan "*-out=create.tfplan) [ ! -d "$PLACE/terraform" ] || : >"$PLACE/terraform/create.tfplan" ;;
  "terraform "*" show "*) echo "${CHANGES:-{\}}" ;;
  "terraform "*" console") exec "$TERRAFORM" "$@" ;;
  "plimsoll "*" --size ${ENDS_AT:-} "*) exit "$ENDS_WITH" ;;
  "aws eks update-kubeconfig "* | "gcloud container clusters get-credentials "*) : >"$KUBECONFIG_FILE" ;;
esac
"#;

impl Place {
    /// The files of a case, written out.
    pub(crate) fn of(files: &[GeneratedFile]) -> Self {
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let place = Self { root };
        for file in files {
            let path = place.path(file.name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &file.text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(if file.is_executable { 0o755 } else { 0o644 }))
                .unwrap();
        }
        fs::create_dir(place.path("bin")).unwrap();
        for program in ["az", "kubectl", "terraform", "aws", "gcloud", "plimsoll"] {
            let path = place.path("bin").join(program);
            fs::write(&path, STUB).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(place.path("setup-id"), ID).unwrap();
        fs::write(place.path("key.pub"), "ssh-ed25519 AAAA nobody\n").unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A script of it, in front of a cloud. Nothing is waited for longer than a second.
    pub(crate) fn script(&self, script: &str, arguments: &[&str], cloud: Cloud) -> Command {
        let mut command = Command::new(self.path(script));
        let cloud = match cloud {
            Cloud::Empty => "empty",
            Cloud::Made => "made",
            Cloud::Grown => "grown",
            Cloud::Foreign => "foreign",
            Cloud::Stuck => "stuck",
            Cloud::Failed => "failed",
            Cloud::Mixed => "mixed",
            Cloud::LoggedOut => "logged-out",
        };
        let setup = ["create.sh", "teardown.sh"].iter().find_map(|name| {
            let text = fs::read_to_string(self.path(name)).ok()?;
            let name = text
                .lines()
                .find_map(|line| line.strip_prefix("RESOURCE_GROUP=\"${RESOURCE_GROUP:-")?.split_once("}\""))?
                .0;
            Some(name.to_owned())
        });
        command.args(arguments).env_clear().stdin(Stdio::null()).current_dir(self.root.path());
        command.env("PATH", format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", self.path("bin").display()));
        command.env("HOME", self.root.path()).env("PLACE", self.root.path()).env("CLOUD", cloud);
        command
            .env("SETUP", setup.unwrap_or_default())
            .env("SETUP_ID", ID)
            .env("KUBECONFIG_FILE", self.path("kubeconfig"));
        command.env("SSH_PUBLIC_KEY_FILE", self.path("key.pub")).env("SSH_FROM", "203.0.113.7/32");
        command.env("PYTHON", python()).env("SHOWS", manifest("tests/generated/az_shows.py"));
        command.env("TERRAFORM", terraform().unwrap_or_default()).env("CHECKPOINT_DISABLE", "1");
        command.env("WAIT_SECONDS", "1").env("POLL_SECONDS", "0.2");
        command
    }

    /// Writes a file of a plan over the one that is there.
    pub(crate) fn change(&self, files: &[GeneratedFile], name: &str) {
        let file = files.iter().find(|file| file.name == name).unwrap();
        fs::write(self.path(name), &file.text).unwrap();
    }

    /// What programs were called with since the last time, the program first.
    pub(crate) fn calls(&self) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.path("calls")).unwrap_or_default();
        let _ = fs::remove_file(self.path("calls"));
        text.lines().map(|line| line.split('\x1f').map(str::to_owned).collect()).collect()
    }
}

/// What a program said, both ways.
pub(crate) fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
