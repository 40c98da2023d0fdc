//! Azure: scripts for its command line, and a configuration of Terraform for the same.

use plimsoll_workload::provisioned::{Caching, Interface};

use crate::{
    GeneratedFile,
    cluster::{Backing, Cluster, Pool},
    on_machine,
    setup::{Disk, MachineSetup, Setup},
    template::fill,
    terraform::{self, Value, Values},
};

/// Where a script is, for those that read or write files beside it.
const HERE: &str = "here=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\nreadonly here\n\n";

/// A subnet that was made without the way to a SAN gets it: nothing that is there is lost by that.
const SUBNET_REACHES: &str = "elif [ -z \"$(azure network vnet subnet show --resource-group \"$RESOURCE_GROUP\" \\
  --vnet-name \"$VM-network\" --name \"$VM-subnet\" --output tsv \\
  --query \"serviceEndpoints[?service == 'Microsoft.Storage'].service\")\" ]; then
  azure network vnet subnet update --resource-group \"$RESOURCE_GROUP\" --vnet-name \"$VM-network\" --name \"$VM-subnet\" \\
    --service-endpoints Microsoft.Storage --output none
";

/// All files of this provider.
pub(crate) fn files(setup: &Setup) -> Vec<GeneratedFile> {
    let mut files =
        vec![GeneratedFile::script("create.sh", create(setup)), GeneratedFile::script("teardown.sh", teardown(setup))];
    files.extend(configuration(setup));
    files
}

fn create(setup: &Setup) -> String {
    let what = on_machine::what(setup);
    let needs = if setup.cluster.is_some() { ", and kubectl" } else { "" };
    let gives_role = setup.cluster.as_ref().is_some_and(has_label);
    let rights = if gives_role { ", and one that may give roles, as User Access Administrator" } else { "" };
    let secrets =
        if setup.cluster.is_some() { "and writes one: the credentials of the cluster" } else { "and writes none" };
    let variables = variables(setup);
    let words = [
        ("what", what.as_str()),
        ("needs", needs),
        ("rights", rights),
        ("secrets", secrets),
        ("name", &setup.name),
        ("region", &setup.region),
        ("variables", &variables),
        ("here", HERE),
    ];
    let mut text = fill(include_str!("../templates/azure/head.sh"), &words);
    if let Some(machine) = &setup.machine {
        text += &of_machine(setup, machine);
    }
    if let Some(cluster) = &setup.cluster {
        text += &of_cluster(setup, cluster);
    }
    text + &fill(include_str!("../templates/azure/more.sh"), &[("names", &names(setup))])
}

/// What the script makes and is paid for, by its names.
fn names(setup: &Setup) -> String {
    let machine = setup.machine.iter().map(|_| "'$VM', '${VM}_system'".to_owned());
    let disks = setup.disks.iter().filter(|disk| disk.lun.is_some()).map(|disk| format!("'$VM-{}'", disk.name));
    let san = setup.has_san().then(|| "'$SAN'".to_owned());
    let cluster = setup.cluster.iter().map(|_| "'$CLUSTER'".to_owned());
    machine.chain(disks).chain(san).chain(cluster).collect::<Vec<_>>().join(", ")
}

/// What can be set from outside, besides what every setup has.
fn variables(setup: &Setup) -> String {
    let mut text = String::new();
    if let Some(zone) = &setup.zone {
        text += &format!("ZONE=\"${{ZONE:-{zone}}}\"\n");
    }
    if let Some(machine) = &setup.machine {
        let image = &machine.image;
        let from = machine.ssh_from.as_deref().unwrap_or_default();
        text += &format!(
            "IMAGE=\"${{IMAGE:-{image}}}\"\nADMIN_USER=\"${{ADMIN_USER:-azureuser}}\"\n\
             SSH_PUBLIC_KEY_FILE=\"${{SSH_PUBLIC_KEY_FILE:-$HOME/.ssh/id_ed25519.pub}}\"\n\
             SSH_FROM=\"${{SSH_FROM-{from}}}\" # who may reach the machine, as 203.0.113.7/32; nobody when it is empty\n"
        );
    }
    if setup.machine.is_some() {
        text += &format!("VM=\"${{VM:-{}}}\"\n", setup.name);
    }
    if setup.has_san() {
        text += &format!("SAN=\"${{SAN:-{}-san}}\"\nSAN_GROUP=\"${{SAN_GROUP:-volumes}}\"\n", setup.name);
    }
    if setup.cluster.is_some() {
        text += &format!(
            "CLUSTER=\"${{CLUSTER:-{}-cluster}}\"\n\
             KUBECONFIG_FILE=\"${{KUBECONFIG_FILE:-$here/kubeconfig}}\"\n",
            setup.name
        );
    }
    text
}

fn of_machine(setup: &Setup, machine: &MachineSetup) -> String {
    let has_ultra = setup.disks.iter().any(|disk| disk.product == "UltraSSD_LRS");
    let mut options = String::new();
    let mut controller = String::new();
    if let Some(interface) = interface(setup) {
        options += &format!(" --disk-controller-type {interface}");
        // Machines that were made before there was a choice show none.
        controller = ", \\\n      join(' ', ['disks by', storageProfile.diskControllerType || 'SCSI'])".to_owned();
    }
    if has_ultra {
        options += " \\\n    --ultra-ssd-enabled true";
    }
    let mut planned = machine.facts.name.clone() + in_zone(setup);
    if has_ultra {
        planned += ", takes Ultra Disks";
    }
    if let Some(interface) = interface(setup) {
        planned += &format!(", disks by {interface}");
    }
    let words = [
        ("controller", controller.as_str()),
        ("type", machine.facts.name.as_str()),
        ("planned", &planned),
        ("subnet_reaches", if setup.has_san() { SUBNET_REACHES } else { "" }),
        ("zone", if setup.zone.is_some() { " --zone \"$ZONE\"" } else { "" }),
        ("os_sku", os_sku(machine)),
        ("options", &options),
        ("reservation", if has_ultra { "; a reservation while no Ultra Disk is attached" } else { "" }),
        ("endpoints", if setup.has_san() { " \\\n    --service-endpoints Microsoft.Storage" } else { "" }),
    ];
    let mut text = fill(include_str!("../templates/azure/machine.sh"), &words);
    if setup.disks.iter().any(|disk| disk.lun.is_some()) {
        text += include_str!("../templates/azure/disks.sh");
        text += "\n";
        for disk in &setup.disks {
            text += &disk_line(setup, disk);
        }
    }
    if setup.has_san() {
        let tib = setup.san_tib().to_string();
        let zones = if setup.zone.is_some() { " --availability-zones \"$ZONE\"" } else { "" };
        let planned = format!("{tib} TiB{}", in_zone(setup));
        let words = [("tib", tib.as_str()), ("zones", zones), ("planned", &planned)];
        text += &fill(include_str!("../templates/azure/elastic_san.sh"), &words);
        text += "\n";
        for disk in setup.disks.iter().filter(|disk| disk.lun.is_none()) {
            text += &format!("volume {} {}\n", on_machine::volume_name(disk), disk.size_gib);
        }
    }
    let luns = if setup.disks.iter().any(|disk| disk.lun.is_some()) { " disk-luns" } else { "" };
    let targets = if setup.has_san() { " iscsi-targets" } else { "" };
    let copied = format!("prepare.sh run.sh plan.toml{luns}{targets}");
    text += &format!(
        "\naddress=\"$(azure vm show --resource-group \"$RESOURCE_GROUP\" --name \"$VM\" --show-details \\\n  \
         --query publicIps --output tsv)\"\n\
         echo \"next: scp {copied} and plimsoll to $ADMIN_USER@$address:\"\n\
         echo \"then, there: sudo ./prepare.sh && sudo PLIMSOLL=./plimsoll ./run.sh\"\n"
    );
    text
}

fn disk_line(setup: &Setup, disk: &Disk) -> String {
    if disk.lun.is_none() {
        return String::new();
    }
    let bought = &disk.provisioned;
    let mut options = format!("--sku {} --size-gb {}", disk.product, disk.size_gib);
    // A disk that is in all zones is in none by itself.
    if setup.zone.is_some() && !disk.product.ends_with("_ZRS") {
        options += " --zone \"$ZONE\"";
    }
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            options += &format!(" --{name} {value}");
        }
    };
    option("disk-iops-read-write", disk.bought.iops.map(|iops| iops.to_string()));
    option("disk-mbps-read-write", disk.bought.throughput.map(|rate| rate.to_string()));
    option("tier", bought.tier.as_ref().map(|tier| tier.to_ascii_uppercase()));
    option("enable-bursting", bought.on_demand_bursting.filter(|is_on| *is_on).map(|_| "true".to_owned()));
    option("performance-plus", bought.performance_plus.filter(|is_on| *is_on).map(|_| "true".to_owned()));
    let (name, planned) = (&disk.name, planned(setup, disk));
    format!("# costs: {}\ndisk {name} {} \"{planned}\" {options}\n", on_machine::about(disk), caching(disk))
}

/// A disk as the script tells one that is there, to compare the two.
fn planned(setup: &Setup, disk: &Disk) -> String {
    let is_on = |option: Option<bool>, what: &'static str| if option == Some(true) { what } else { "" };
    let mut text = format!("{}, {} GiB", disk.product, disk.size_gib);
    if !disk.product.ends_with("_ZRS") {
        text += in_zone(setup);
    }
    if let (Some(iops), Some(throughput)) = (disk.bought.iops, disk.bought.throughput) {
        text += &format!(", {iops} IOPS, {throughput} MB/s");
    }
    if let Some(tier) = &disk.tier {
        text += &format!(", tier {tier}");
    }
    text += is_on(disk.provisioned.on_demand_bursting, ", bursts on demand");
    text + is_on(disk.provisioned.performance_plus, ", performance plus")
}

/// The zone of what is compared.
fn in_zone(setup: &Setup) -> &'static str {
    if setup.zone.is_some() { ", zone $ZONE" } else { "" }
}

fn caching(disk: &Disk) -> Caching {
    disk.provisioned.caching.unwrap_or(Caching::None)
}

/// How disks are attached, where a disk says so.
fn interface(setup: &Setup) -> Option<Interface> {
    setup.disks.iter().find_map(|disk| disk.provisioned.interface)
}

/// Of the system's disk: premium where the size takes it, so that it is not what is waited for.
fn os_sku(machine: &MachineSetup) -> &'static str {
    if machine.facts.takes_premium { "Premium_LRS" } else { "StandardSSD_LRS" }
}

fn of_cluster(setup: &Setup, cluster: &Cluster) -> String {
    let has_ultra = cluster.classes.iter().any(|class| class.product == "UltraSSD_LRS");
    let mut options = String::new();
    if let Some(version) = &cluster.version {
        options += &format!(" --kubernetes-version {version}");
    }
    if has_label(cluster) {
        options += " \\\n    --nodepool-labels acstor.azure.com/io-engine=acstor";
    }
    if has_ultra {
        options += " --enable-ultra-ssd";
    }
    let nodes = cluster.nodes.to_string();
    let mut planned = format!("{nodes} nodes {}{}", cluster.node.name, in_zone(setup));
    if has_ultra {
        planned += ", takes Ultra Disks";
    }
    // A cluster is asked for by 1.34, and may be of 1.34.2.
    let mut version = String::new();
    if let Some(asked) = &cluster.version {
        planned += &format!(", version {asked}");
        version = format!(
            ", \\\n      join(' ', ['version', (kubernetesVersion == '{asked}' || \
             starts_with(kubernetesVersion, '{asked}.')) && '{asked}' || kubernetesVersion])"
        );
    }
    let words = [
        ("planned", planned.as_str()),
        ("version", &version),
        ("nodes", nodes.as_str()),
        ("type", &cluster.node.name),
        ("zones", if setup.zone.is_some() { " --zones \"$ZONE\"" } else { "" }),
        ("options", &options),
        ("reservation", if has_ultra { "; a reservation while no Ultra Disk is attached" } else { "" }),
    ];
    let mut text = fill(include_str!("../templates/azure/cluster.sh"), &words);
    if let Some(pool) = &cluster.container_storage {
        text += &of_pool(pool);
    }
    if !cluster.classes.is_empty() {
        text += "\n# costs: nothing by itself: what is claimed from a class is paid for while it is there\n";
        text += terraform::APPLY_CLASSES;
    }
    text += "\necho \"next: IMAGE=REGISTRY/plimsoll:TAG ./run-kubernetes.sh\"\n";
    text
}

/// Whether nodes are labelled: version 1 of Azure Container Storage runs on those that are.
fn has_label(cluster: &Cluster) -> bool {
    cluster.container_storage.as_ref().is_some_and(|pool| pool.version == 1)
}

fn of_pool(pool: &Pool) -> String {
    let (name, options, costs) = match &pool.backing {
        Backing::Disks { sku, size_gib } => (
            "azureDisk",
            format!(" \\\n    --storage-pool-sku {sku} --storage-pool-size {size_gib}Gi"),
            format!("disks of {size_gib} GiB, {sku}, whatever volumes take of them"),
        ),
        Backing::LocalNvme if pool.version == 1 => {
            ("ephemeralDisk", " --storage-pool-option NVMe".to_owned(), "processors of the nodes".to_owned())
        }
        Backing::LocalNvme => ("ephemeralDisk", String::new(), "nothing besides the nodes".to_owned()),
        Backing::Temporary => {
            ("ephemeralDisk", " --storage-pool-option Temp".to_owned(), "processors of the nodes".to_owned())
        }
        Backing::ElasticSan { tib } if pool.version == 1 => {
            ("elasticSan", format!(" --storage-pool-size {tib}Ti"), format!("an Elastic SAN of {tib} TiB"))
        }
        Backing::ElasticSan { tib } => {
            ("elasticSan", String::new(), format!("an Elastic SAN of {tib} TiB, from the first volume on"))
        }
    };
    let template = match pool.version {
        1 => include_str!("../templates/azure/container_storage_1.sh"),
        _ => include_str!("../templates/azure/container_storage_2.sh"),
    };
    let planned = match &pool.backing {
        Backing::Disks { sku, size_gib } => format!("{sku}-{size_gib}Gi"),
        Backing::ElasticSan { tib } => format!("{name}-{tib}Ti"),
        Backing::LocalNvme => "NVMe".to_owned(),
        Backing::Temporary => "Temp".to_owned(),
    };
    let words =
        [("class", pool.class), ("pool", name), ("options", &options), ("costs", &costs), ("planned", &planned)];
    fill(template, &words) + &fill(include_str!("../templates/azure/class_is_there.sh"), &words)
}

/// It knows no plan: what earlier ones had goes as well.
fn teardown(setup: &Setup) -> String {
    fill(include_str!("../templates/azure/teardown.sh"), &[("name", &setup.name), ("here", HERE)])
}

fn configuration(setup: &Setup) -> Vec<GeneratedFile> {
    let words = [("name", setup.name.as_str()), ("region", &setup.region)];
    let mut files = vec![GeneratedFile::text(
        "terraform/main.tf",
        fill(include_str!("../templates/azure/terraform/main.tf"), &words),
    )];
    let tags = vec![("plimsoll-setup".to_owned(), Value::Text(setup.name.clone()))];
    let mut values: Values =
        vec![("tags".to_owned(), Value::Object(tags)), ("zone".to_owned(), Value::of(setup.zone.as_deref()))];
    if let Some(machine) = &setup.machine {
        let from = machine.ssh_from.as_deref().unwrap_or_default();
        let text = fill(include_str!("../templates/azure/terraform/machine.tf"), &[("ssh_from", from)]);
        files.push(GeneratedFile::text("terraform/machine.tf", text));
        values.extend(machine_values(setup, machine));
    }
    if setup.has_san() {
        let text = include_str!("../templates/azure/terraform/elastic_san.tf").to_owned();
        files.push(GeneratedFile::text("terraform/elastic_san.tf", text));
        let volumes = setup.disks.iter().filter(|disk| disk.lun.is_none());
        let volumes = volumes.map(|disk| (disk.name.clone(), Value::Number(disk.size_gib))).collect();
        values.push(("san_tib".to_owned(), Value::Number(setup.san_tib())));
        values.push(("volumes".to_owned(), Value::Object(volumes)));
    }
    if let Some(cluster) = &setup.cluster {
        let text = include_str!("../templates/azure/terraform/cluster.tf").to_owned();
        files.push(GeneratedFile::text("terraform/cluster.tf", text));
        values.extend(terraform::of_cluster(cluster));
        let has_ultra = cluster.classes.iter().any(|class| class.product == "UltraSSD_LRS");
        values.push(("has_ultra_classes".to_owned(), Value::Bool(has_ultra)));
        let label = ("acstor.azure.com/io-engine".to_owned(), Value::Text("acstor".to_owned()));
        let labels = if has_label(cluster) { vec![label] } else { Vec::new() };
        values.push(("node_labels".to_owned(), Value::Object(labels)));
        if cluster.container_storage.as_ref().is_some_and(|pool| pool.version == 2) {
            let text = include_str!("../templates/azure/terraform/container_storage.tf").to_owned();
            files.push(GeneratedFile::text("terraform/container_storage.tf", text));
        }
    }
    files.push(terraform::locals(&values));
    files
}

fn machine_values(setup: &Setup, machine: &MachineSetup) -> Values {
    let mut parts = machine.image.split(':');
    let image = ["publisher", "offer", "sku", "version"].map(|part| (part.to_owned(), Value::of(parts.next())));
    let endpoints = if setup.has_san() { vec!["Microsoft.Storage".to_owned()] } else { Vec::new() };
    let has_ultra = setup.disks.iter().any(|disk| disk.product == "UltraSSD_LRS");
    let disks = setup.disks.iter().filter_map(|disk| Some((disk.name.clone(), disk_values(setup, disk)?)));
    vec![
        ("machine_type".to_owned(), Value::Text(machine.facts.name.clone())),
        ("os_sku".to_owned(), Value::Text(os_sku(machine).to_owned())),
        ("has_ultra_disks".to_owned(), Value::Bool(has_ultra)),
        (
            "disk_controller_type".to_owned(),
            Value::of(interface(setup).map(|interface| interface.to_string()).as_deref()),
        ),
        ("service_endpoints".to_owned(), Value::List(endpoints)),
        ("image".to_owned(), Value::Object(image.into())),
        ("disks".to_owned(), Value::Object(disks.collect())),
    ]
}

fn disk_values(setup: &Setup, disk: &Disk) -> Option<Value> {
    let bought = &disk.provisioned;
    let mut values: Values = vec![
        ("lun".to_owned(), Value::Number(disk.lun?.into())),
        ("sku".to_owned(), Value::Text(disk.product.to_owned())),
        ("size_gib".to_owned(), Value::Number(disk.size_gib)),
        ("caching".to_owned(), Value::Text(caching(disk).to_string())),
    ];
    let mut value = |name: &str, value: Option<Value>| values.extend(value.map(|value| (name.to_owned(), value)));
    value("zone", setup.zone.clone().filter(|_| !disk.product.ends_with("_ZRS")).map(Value::Text));
    value("iops", disk.bought.iops.map(Value::Number));
    value("mbps", disk.bought.throughput.map(Value::Number));
    value("tier", bought.tier.as_ref().map(|tier| Value::Text(tier.to_ascii_uppercase())));
    value("on_demand_bursting", bought.on_demand_bursting.map(Value::Bool));
    value("performance_plus", bought.performance_plus.map(Value::Bool));
    Some(Value::Object(values))
}
