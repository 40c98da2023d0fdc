//! AWS: a configuration of Terraform, and scripts around it. Volumes have ids that nobody knows before they are made,
//! and networks, roles and clusters depend on each other's: what Terraform keeps of that, a script would have to keep.

use crate::{
    GeneratedFile,
    setup::{Disk, Setup, is_arm},
    template::fill,
    terraform::{self, Reaching, Value, Values},
};

const CREDENTIALS: &str = "
# The way to the cluster, in a file of its own; it has no secret, because aws is asked for one each time.
aws eks update-kubeconfig --name \"$(terraform -chdir=\"$here/terraform\" output -raw cluster)\" \\
  --region \"$(terraform -chdir=\"$here/terraform\" output -raw region)\" --kubeconfig \"$KUBECONFIG_FILE\"
";

const FOR_MACHINE: &str = "
terraform -chdir=\"$here/terraform\" output -raw disk_ids >\"$here/disk-ids\"
address=\"$(terraform -chdir=\"$here/terraform\" output -raw address)\"
echo \"next: scp prepare.sh run.sh plan.toml disk-ids and plimsoll to ubuntu@$address:\"
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
        ("region", &setup.region),
        ("zone", zone),
        ("image", image),
        ("ssh_from", from),
    ];
    let reaching = Reaching {
        provider: "AWS",
        credentials: CREDENTIALS,
        cluster: "aws_eks_cluster.cluster",
        needs: ", aws 2 or newer, and kubectl",
        for_machine: FOR_MACHINE,
    };
    let mut files = terraform::scripts(setup, &reaching);
    files.push(GeneratedFile::text(
        "terraform/main.tf",
        fill(include_str!("../templates/aws/terraform/main.tf"), &words),
    ));
    let tags = vec![("plimsoll-setup".to_owned(), Value::Text(setup.name.clone()))];
    let mut values: Values = vec![("tags".to_owned(), Value::Object(tags))];
    if let Some(machine) = machine {
        let text = fill(include_str!("../templates/aws/terraform/machine.tf"), &words);
        files.push(GeneratedFile::text("terraform/machine.tf", text));
        let disks = setup.disks.iter().map(|disk| (disk.name.clone(), disk_values(disk))).collect();
        values.push(("machine_type".to_owned(), Value::Text(machine.facts.name.clone())));
        values.push(("disks".to_owned(), Value::Object(disks)));
    }
    if let Some(cluster) = &setup.cluster {
        let text = include_str!("../templates/aws/terraform/cluster.tf").to_owned();
        files.push(GeneratedFile::text("terraform/cluster.tf", text));
        values.extend(terraform::of_cluster(cluster));
        let is_arm = is_arm(setup.provider, &cluster.node.name);
        let image = if is_arm { "AL2023_ARM_64_STANDARD" } else { "AL2023_x86_64_STANDARD" };
        values.push(("node_image".to_owned(), Value::Text(image.to_owned())));
    }
    files.push(terraform::locals(&values));
    files
}

/// The type, as the interface calls it: the catalog's name of magnetic volumes says of what.
pub(crate) fn volume_type(product: &str) -> &str {
    if product == "ebs-standard" { "standard" } else { product }
}

fn disk_values(disk: &Disk) -> Value {
    let mut values: Values = vec![
        ("type".to_owned(), Value::Text(volume_type(disk.product).to_owned())),
        ("size_gib".to_owned(), Value::Number(disk.size_gib)),
    ];
    values.extend(disk.bought.iops.map(|iops| ("iops".to_owned(), Value::Number(iops))));
    values.extend(disk.bought.throughput.map(|rate| ("mib_per_s".to_owned(), Value::Number(rate))));
    values.push(("device".to_owned(), Value::Text(device(disk.lun.unwrap_or_default()))));
    Value::Object(values)
}

/// A name that may be asked for: from the letter f on there are 21 with one letter, then those with two.
fn device(number: u32) -> String {
    const LETTERS: u32 = 26;
    let letter = |number: u32| char::from_u32(u32::from('a') + number % LETTERS).unwrap_or('a');
    match number {
        0..=20 => format!("/dev/sd{}", letter(number + 5)),
        _ => format!("/dev/xvd{}{}", letter(1 + (number - 21) / LETTERS), letter(number - 21)),
    }
}

#[cfg(test)]
mod tests {
    use super::device;

    #[test]
    fn every_volume_asks_for_a_name_of_its_own() {
        assert_eq!(
            [device(0), device(20), device(21), device(47)],
            ["/dev/sdf", "/dev/sdz", "/dev/xvdba", "/dev/xvdca"]
        );
        let names: std::collections::BTreeSet<String> = (0..64).map(device).collect();
        assert_eq!(names.len(), 64);
    }
}
