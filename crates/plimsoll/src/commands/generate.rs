//! `plimsoll generate`: scripts that make in a cloud what a plan asks for, and their teardown.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow, bail};
use plimsoll_catalog::{catalog::Catalog, product::Provider};
use plimsoll_generate::{
    GeneratedFile, MARK, NAMES,
    existing::{self, Existing, Node},
    generate_in_order, measured_classes, order_of_disks,
};
use plimsoll_kubernetes::{
    discover::{classes::Class, discover},
    nodes::NodeFound,
};
use plimsoll_run::machine::cloud::{self, ServiceAddress};
use plimsoll_workload::error_chain::chain;
use serde_json::json;

use super::{
    catalog, input_file, kubernetes, output_file,
    run::{parsed_plan, plan_text},
};
use crate::{
    cli::{
        generate::{CloudName, GenerateArguments},
        kubernetes::AccessArguments,
    },
    printer::Printer,
};

/// Writes or prints what is generated.
pub fn run(arguments: &GenerateArguments, printer: Printer) -> anyhow::Result<String> {
    let (provider, name) = match arguments.provider {
        CloudName::Azure => (Provider::Azure, "azure"),
        CloudName::Aws => (Provider::Aws, "aws"),
        CloudName::Gcp => (Provider::Gcp, "gcp"),
    };
    let catalog = catalog::read(arguments.limits.as_deref())?;
    if let Some(machine) = &arguments.from_vm {
        return plan_of(machine_found(machine.as_deref(), provider, &catalog)?, arguments.json);
    }
    if let Some(cluster) = &arguments.from_cluster {
        return plan_of(cluster_found(cluster.as_deref(), provider, &catalog)?, arguments.json);
    }
    let Some(path) = &arguments.plan else { bail!("no plan: name one with a section [cloud], as in --plan plan.toml") };
    let text = plan_text(path)?;
    let (plan, order) = (parsed_plan(&text, path)?, order_of_disks(&text));
    let files = generate_in_order(&plan, &order, provider, &catalog).with_context(|| path.display().to_string())?;
    if let Some(of_cluster) = files.iter().find(|file| file.name == "plan-kubernetes.toml") {
        // What no pod can do is refused before nodes are paid for.
        let of_cluster = parsed_plan(&of_cluster.text, Path::new(of_cluster.name))?;
        let classes = measured_classes(&plan, provider, &catalog)?;
        kubernetes::run::check_new(of_cluster, &classes, printer)
            .map_err(|error| anyhow!("{}: cloud.kubernetes: {}", path.display(), chain(error.as_ref())))?;
    }
    if arguments.print {
        return printed(&files, arguments.json);
    }
    let directory = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("plimsoll-{name}")));
    write(&files, &directory, arguments.force)?;
    if arguments.json {
        let names: Vec<_> = files.iter().map(|file| directory.join(file.name)).collect();
        return Ok(serde_json::to_string_pretty(&json!({ "files": names }))? + "\n");
    }
    printer.note(format!("read them, then run {}: it makes what is paid for", directory.join("create.sh").display()));
    Ok(files.iter().map(|file| format!("{}\n", directory.join(file.name).display())).collect())
}

/// The plan of what exists.
fn plan_of(found: Existing, as_json: bool) -> anyhow::Result<String> {
    if as_json {
        return Ok(serde_json::to_string_pretty(&json!({ "cloud": found.cloud, "notes": found.notes }))? + "\n");
    }
    Ok(found.plan()?)
}

/// A machine: from a file, or this one, as its metadata service tells it.
fn machine_found(from: Option<&str>, provider: Provider, catalog: &Catalog) -> anyhow::Result<Existing> {
    let address = match from {
        None => ServiceAddress::default(),
        Some(address) if address.contains("://") => address.parse()?,
        Some(file) => {
            let text = input_file::text(Path::new(file))?;
            return existing::of_machine(&text, provider, catalog).with_context(|| file.to_owned());
        }
    };
    Ok(existing::of_environment(&cloud::detect(&address)?, provider, catalog)?)
}

/// A cluster: from a file, or the one that kubectl would talk to.
fn cluster_found(from: Option<&Path>, provider: Provider, catalog: &Catalog) -> anyhow::Result<Existing> {
    /// The size of the volume that something is expected of.
    const VOLUME_BYTES: u64 = 100 << 30;
    if let Some(file) = from {
        let text = input_file::text(file)?;
        return existing::of_objects(&text, provider, catalog).with_context(|| file.display().to_string());
    }
    let cluster = kubernetes::connect(&AccessArguments::default())?;
    let found = discover(&cluster, VOLUME_BYTES, catalog)?;
    let node =
        |node: NodeFound| Node { machine: node.instance_type, region: None, zone: node.zone, version: node.kubelet };
    let nodes: Vec<Node> = found.nodes.into_iter().flatten().map(node).collect();
    let class = |class: Class| {
        let why = class.unexpected.unwrap_or_else(|| format!("nothing is known of {}", class.provisioner));
        (class.name, class.expected.map(|expected| expected.provisioned).ok_or(why))
    };
    let classes = found.storage_classes.into_iter().flatten().map(class).collect();
    Ok(existing::of_cluster(&nodes, classes, provider, catalog)?)
}

fn printed(files: &[GeneratedFile], as_json: bool) -> anyhow::Result<String> {
    if as_json {
        let all: Vec<_> = files
            .iter()
            .map(|file| json!({ "name": file.name, "text": file.text, "executable": file.is_executable }))
            .collect();
        return Ok(serde_json::to_string_pretty(&json!({ "files": all }))? + "\n");
    }
    let texts: Vec<String> = files.iter().map(|file| format!("==> {} <==\n{}", file.name, file.text)).collect();
    Ok(texts.join("\n"))
}

/// Writes all files or, when one of them is there, none, unless by force, which is over what was written so before.
fn write(files: &[GeneratedFile], directory: &Path, force: bool) -> anyhow::Result<()> {
    let is_there = |name: &str| fs::symlink_metadata(directory.join(name)).is_ok();
    let is_foreign = |name: &str| {
        let path = directory.join(name);
        let is_link = fs::symlink_metadata(&path).is_ok_and(|facts| !facts.is_file());
        is_link || fs::read(&path).is_ok_and(|text| !String::from_utf8_lossy(&text).contains(MARK))
    };
    if let Some(name) = NAMES.into_iter().find(|name| is_there(name) && is_foreign(name)) {
        let path = directory.join(name);
        bail!("{} was not written by plimsoll generate, and stays: name another directory", path.display());
    }
    if let Some(name) = NAMES.iter().find(|name| is_there(name)).filter(|_| !force) {
        bail!("{} exists: name another directory, or overwrite it with --force", directory.join(name).display());
    }
    let folders = files.iter().filter_map(|file| Some(directory.join(file.name).parent()?.to_owned()));
    if let Some(odd) = folders.into_iter().find(|folder| fs::symlink_metadata(folder).is_ok() && !folder.is_dir()) {
        bail!("{} is no directory, and stays: name another one", odd.display());
    }
    for file in files {
        let path = directory.join(file.name);
        let folder = path.parent().unwrap_or(directory);
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        output_file::write(&path, force, &[], |out| Ok(out.write_all(file.text.as_bytes())?))
            .with_context(|| format!("write {}", path.display()))?;
        let mode = if file.is_executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))
            .with_context(|| format!("write {}", path.display()))?;
    }
    // Terraform reads whatever is in its folder: what an earlier plan had must not stay in it.
    let is_needed = |name: &str| files.iter().any(|file| file.name == name);
    for name in NAMES.into_iter().filter(|name| !is_needed(name) && is_there(name)) {
        let path = directory.join(name);
        fs::remove_file(&path).with_context(|| format!("remove {}", path.display()))?;
    }
    Ok(())
}
