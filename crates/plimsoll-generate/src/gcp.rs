//! Google Cloud: a configuration of Terraform, and scripts around it.

use crate::{
    GeneratedFile,
    machines::boot_disk,
    setup::{Disk, Setup},
    template::fill,
    terraform::{self, Reaching, Value, Values},
};

const CREDENTIALS: &str = "
# The way to the cluster, in a file of its own; it has no secret, because gcloud is asked for one each time.
KUBECONFIG=\"$KUBECONFIG_FILE\" gcloud container clusters get-credentials \\
  \"$(terraform -chdir=\"$here/terraform\" output -raw cluster)\" \\
  --location \"$(terraform -chdir=\"$here/terraform\" output -raw zone)\" \\
  --project \"$(terraform -chdir=\"$here/terraform\" output -raw project)\"
";

const FOR_MACHINE: &str = "
user=\"$(terraform -chdir=\"$here/terraform\" output -raw admin_user)\"
address=\"$(terraform -chdir=\"$here/terraform\" output -raw address)\"
echo \"next: scp prepare.sh run.sh plan.toml and plimsoll to $user@$address:\"
echo \"then, there: sudo ./prepare.sh && sudo PLIMSOLL=./plimsoll ./run.sh\"
";

/// All files of this provider.
pub(crate) fn files(setup: &Setup) -> Vec<GeneratedFile> {
    let zone = setup.zone.as_deref().unwrap_or_default();
    let machine = setup.machine.as_ref();
    let image = machine.map(|machine| machine.image.as_str()).unwrap_or_default();
    let from = machine.and_then(|machine| machine.ssh_from.as_deref()).unwrap_or_default();
    let words = [
        ("name", setup.name.as_str()),
        ("project", setup.project.as_deref().unwrap_or_default()),
        ("region", &setup.region),
        ("zone", zone),
        ("image", image),
        ("ssh_from", from),
    ];
    let reaching = Reaching {
        provider: "Google Cloud",
        credentials: CREDENTIALS,
        cluster: "google_container_cluster.cluster",
        needs: ", gcloud with gke-gcloud-auth-plugin, and kubectl",
        for_machine: FOR_MACHINE,
    };
    let mut files = terraform::scripts(setup, &reaching);
    files.push(GeneratedFile::text(
        "terraform/main.tf",
        fill(include_str!("../templates/gcp/terraform/main.tf"), &words),
    ));
    let labels = vec![("plimsoll-setup".to_owned(), Value::Text(setup.name.clone()))];
    let mut values: Values = vec![("labels".to_owned(), Value::Object(labels))];
    if let Some(machine) = machine {
        let text = fill(include_str!("../templates/gcp/terraform/machine.tf"), &words);
        files.push(GeneratedFile::text("terraform/machine.tf", text));
        let disks = setup.disks.iter().map(|disk| (disk.name.clone(), disk_values(disk))).collect();
        values.push(("machine_type".to_owned(), Value::Text(machine.facts.name.clone())));
        values.push(("boot_disk_type".to_owned(), Value::Text(boot_disk(&machine.facts.name).to_owned())));
        values.push(("disks".to_owned(), Value::Object(disks)));
    }
    if let Some(cluster) = &setup.cluster {
        let text = include_str!("../templates/gcp/terraform/cluster.tf").to_owned();
        files.push(GeneratedFile::text("terraform/cluster.tf", text));
        values.extend(terraform::of_cluster(cluster));
        values.push(("node_disk_type".to_owned(), Value::Text(boot_disk(&cluster.node.name).to_owned())));
    }
    files.push(terraform::locals(&values));
    files
}

fn disk_values(disk: &Disk) -> Value {
    let mut values: Values = vec![
        ("type".to_owned(), Value::Text(disk.product.to_owned())),
        ("size_gib".to_owned(), Value::Number(disk.size_gib)),
    ];
    values.extend(disk.bought.iops.map(|iops| ("iops".to_owned(), Value::Number(iops))));
    values.extend(disk.bought.throughput.map(|rate| ("mib_per_s".to_owned(), Value::Number(rate))));
    Value::Object(values)
}
