//! What runs once everything is there: disks get file systems and are mounted, and the plan is measured on them.

use std::collections::BTreeMap;

use plimsoll_catalog::product::Provider;
use plimsoll_workload::{plan_file::PlanFile, provisioned::Provisioning, units::Bandwidth};

use crate::{
    GeneratedFile,
    cluster::Cluster,
    error::GenerateError,
    setup::{Disk, Setup},
    template::fill,
};

/// Where a script is.
const HERE: &str = "here=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\nreadonly here\n";
/// Where names of disks are that are left blank: of one that is there no longer, `prepare.sh` makes another.
const BLANK: &str = "/run/plimsoll-disks";

/// The files for the machine, and those to measure a cluster with.
pub(crate) fn files(setup: &Setup, plan: &PlanFile) -> Result<Vec<GeneratedFile>, GenerateError> {
    let mut files = Vec::new();
    if setup.machine.is_some() {
        files.push(GeneratedFile::script("prepare.sh", prepare(setup)));
        files.push(GeneratedFile::script("run.sh", run(setup)));
        files.push(GeneratedFile::text("plan.toml", of_machine(setup, plan)?));
    }
    if setup.cluster.is_some() {
        files.push(GeneratedFile::script("run-kubernetes.sh", run_kubernetes(setup)));
        files.push(GeneratedFile::text("plan-kubernetes.toml", of_cluster(plan)?));
    }
    Ok(files)
}

/// What is made, in a few words.
pub(crate) fn what(setup: &Setup) -> String {
    let volumes = setup.disks.iter().filter(|disk| disk.lun.is_none()).count();
    let disks = setup.disks.len() - volumes;
    let count = |number: usize, one: &str| if number == 1 { format!("a {one}") } else { format!("{number} {one}s") };
    let machine = setup.machine.as_ref().map(|machine| {
        let mut text = format!("a machine {}", machine.facts.name);
        if disks > 0 {
            text += &format!(" with {}", count(disks, "disk"));
        }
        if volumes > 0 {
            text += &format!(
                "{}{} of an Elastic SAN",
                if disks > 0 { " and " } else { " with " },
                count(volumes, "volume")
            );
        }
        text
    });
    let cluster = setup.cluster.as_ref().map(|cluster| {
        let nodes = if cluster.nodes == 1 { "one node".to_owned() } else { format!("{} nodes", cluster.nodes) };
        format!("a cluster of {nodes} {}", cluster.node.name)
    });
    machine.into_iter().chain(cluster).collect::<Vec<_>>().join(", and ")
}

/// A disk in a few words, for whoever pays for it.
pub(crate) fn about(disk: &Disk) -> String {
    let rates = [
        disk.bought.iops.map(|iops| format!("{iops} IOPS")),
        disk.provisioned.bandwidth.map(|Bandwidth(bytes)| format!("{}/s", Bandwidth(bytes))),
        disk.provisioned.tier.as_ref().map(|tier| format!("set to {}", tier.to_ascii_uppercase())),
        disk.provisioned.on_demand_bursting.filter(|is_on| *is_on).map(|_| "bursts on demand".to_owned()),
    ];
    let parts = [format!("{} of {} GiB", disk.product, disk.size_gib)].into_iter().chain(rates.into_iter().flatten());
    parts.collect::<Vec<_>>().join(", ")
}

/// The name of a volume in its SAN, which takes three characters at least.
pub(crate) fn volume_name(disk: &Disk) -> String {
    format!("volume-{}", disk.name)
}

fn prepare(setup: &Setup) -> String {
    let has_numbers = setup.provider == Provider::Azure && setup.disks.iter().any(|disk| disk.lun.is_some());
    let has_ids = setup.provider == Provider::Aws && !setup.disks.is_empty();
    // Beside it is what create.sh wrote.
    let here = if setup.has_san() || has_ids || has_numbers { HERE } else { "" };
    let mut text = fill(include_str!("../templates/prepare.sh"), &[("here", here)]);
    if has_numbers {
        text += include_str!("../templates/prepare_luns.sh");
    }
    if setup.has_san() {
        text += include_str!("../templates/prepare_iscsi.sh");
    }
    if has_ids {
        text += include_str!("../templates/prepare_ids.sh");
    }
    text += "\n";
    let file_system = setup.file_system.name();
    // A directory is there to be mounted at when what it lies in is mounted.
    let mut disks: Vec<_> = setup.disks.iter().collect();
    disks.sort_by_key(|disk| disk.mount.matches('/').count());
    for disk in disks {
        let (size, name) = (disk.size_gib, &disk.name);
        let mount = if disk.is_blank { &blank(disk) } else { &disk.mount };
        let file_system = if disk.is_blank { "blank" } else { file_system };
        text += &match (disk.lun, setup.provider) {
            (None, _) => format!("volume {} {mount} {file_system} {size}\n", volume_name(disk)),
            (_, Provider::Azure) => format!("attached {name} {mount} {file_system} {size}\n"),
            (_, Provider::Aws) => format!("volume {name} {mount} {file_system} {size}\n"),
            _ => format!("disk {mount} {file_system} {size} /dev/disk/by-id/google-{name}\n"),
        };
    }
    text
}

/// What a disk is called on the machine that is left blank there.
fn blank(disk: &Disk) -> String {
    format!("{BLANK}/{}", disk.name)
}

fn run(setup: &Setup) -> String {
    let text = include_str!("../templates/run.sh");
    let arrays = if setup.has_arrays() { include_str!("../templates/run_arrays.sh") } else { "" };
    text.replace("# ARRAYS\n", arrays)
}

/// The plan as it was, with the disks for targets or for arrays, and with what was bought of each.
fn of_machine(setup: &Setup, plan: &PlanFile) -> Result<String, GenerateError> {
    let mut plan = PlanFile { cloud: None, ..plan.clone() };
    let blank_disks: Vec<String> = setup.disks.iter().filter(|disk| disk.is_blank).map(blank).collect();
    if let Some(striping) = &mut plan.stripe {
        // Of the order in which the plan has them, which its groups have too.
        striping.devices = match striping.devices.as_slice() {
            [] => blank_disks.clone(),
            named => named.iter().filter_map(|mount| setup.disk_at(mount).map(blank)).collect(),
        };
    }
    // Who names a disk for arrays gives up what is on it: nothing, or it is refused.
    plan.destroy.extend(blank_disks);
    for disk in &setup.disks {
        if disk.is_blank {
            plan.provisioned.targets.insert(blank(disk), disk.provisioned.clone());
            continue;
        }
        if !plan.targets.contains(&disk.mount) {
            plan.targets.push(disk.mount.clone());
        }
        plan.provisioned.targets.insert(disk.mount.clone(), disk.provisioned.clone());
    }
    let head = "# What run.sh measures. Written by plimsoll generate, from the plan without its section [cloud].\n";
    Ok(head.to_owned() + &toml::to_string(&plan)?)
}

/// The plan as it was, without targets and devices: they are the classes, and what was bought stands in them.
fn of_cluster(plan: &PlanFile) -> Result<String, GenerateError> {
    let plan = PlanFile {
        cloud: None,
        stripe: None,
        targets: Vec::new(),
        destroy: Vec::new(),
        provisioned: Provisioning::default(),
        expect_mount: false,
        ..plan.clone()
    };
    let head =
        "# What run-kubernetes.sh measures. Written by plimsoll generate, from the plan without its section [cloud].\n";
    Ok(head.to_owned() + &toml::to_string(&plan)?)
}

fn run_kubernetes(setup: &Setup) -> String {
    let mut text = include_str!("../templates/run_kubernetes.sh").to_owned();
    // Classes whose volumes are of one size are compared in one run, where all are made by claims or all with pods.
    let mut by_size: BTreeMap<(u64, bool), Vec<&str>> = BTreeMap::new();
    for (class, size_gib, is_ephemeral) in setup.cluster.iter().flat_map(Cluster::volumes) {
        by_size.entry((size_gib, is_ephemeral)).or_default().push(class);
    }
    for ((size, is_ephemeral), classes) in by_size {
        let ephemeral = if is_ephemeral { " --ephemeral" } else { "" };
        text += &format!("measure --storage-class {} --size {size}Gi{ephemeral} \"$@\"\n", classes.join(","));
    }
    text + "exit \"$code\"\n"
}
