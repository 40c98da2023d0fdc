//! What command lines of providers and `kubectl` print, as a plan, and what is made of that plan again.

use plimsoll_record::environment::CloudDisk;
use plimsoll_workload::provisioned::Caching;

use super::*;

const AZURE: &str = include_str!("../../../../fuzz/seeds/existing/azure.json");
const AWS: &str = include_str!("../../../../fuzz/seeds/existing/aws.json");
const GCP: &str = include_str!("../../../../fuzz/seeds/existing/gcp.json");
const CLUSTER: &str = include_str!("../../../../fuzz/seeds/existing/cluster.json");

/// What is found, with what its plan makes.
fn machine(text: &str, provider: Provider) -> Existing {
    let catalog = Catalog::default();
    let found = of_machine(text, provider, &catalog).unwrap_or_else(|error| panic!("{error}"));
    made_again(&found, provider);
    found
}

fn made_again(found: &Existing, provider: Provider) {
    let text = found.clone().plan().unwrap_or_else(|error| panic!("{error}"));
    let plan: PlanFile = toml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(plan.cloud.as_ref(), Some(&found.cloud));
    let files = crate::generate(&plan, provider, &Catalog::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert!(files.iter().any(|file| file.name == "create.sh"));
}

#[test]
fn a_machine_of_azure_is_what_az_says_of_it_and_its_disks() {
    let Existing { cloud, notes } = machine(AZURE, Provider::Azure);
    assert_eq!((cloud.region.as_deref(), cloud.zone.as_deref()), (Some("westeurope"), Some("1")));
    let machine = cloud.machine.unwrap();
    assert_eq!(machine.machine_type.as_deref(), Some("Standard_D16s_v5"));
    assert_eq!(machine.image.as_deref(), Some("Canonical:ubuntu-24_04-lts:server:latest"));
    let premium = &cloud.disks["/mnt/premium"];
    assert_eq!((premium.sku.as_deref(), premium.caching), (Some("Premium_LRS"), Some(Caching::ReadOnly)));
    assert_eq!((premium.tier.as_deref(), premium.iops), (None, None), "what follows from the size is not bought");
    let raised = &cloud.disks["/mnt/raised"];
    assert_eq!((raised.tier.as_deref(), raised.on_demand_bursting), (Some("P50"), Some(true)));
    let v2 = &cloud.disks["/mnt/premium-v2"];
    assert_eq!(
        (v2.size, v2.iops, v2.bandwidth),
        (Some(ByteCount(512 << 30)), Some(20_000), Some(Bandwidth(300_000_000)))
    );
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn names_that_are_too_long_for_a_plan_are_shortened_to_others_each_and_that_is_said() {
    let long = "a-very-long-name-of-a-disk-of-a-database";
    let text =
        AZURE.replace("\"raised\"", &format!("\"{long}-1\"")).replace("\"premium-v2\"", &format!("\"{long}-2\""));
    assert_eq!(text.matches(long).count(), 4);
    let Existing { cloud, notes } = machine(&text, Provider::Azure);
    let mounts: Vec<&str> = cloud.disks.keys().map(String::as_str).collect();
    let [second, first, _] = mounts.as_slice() else { panic!("{mounts:?}") };
    assert_eq!(
        (*first, *second),
        ("/mnt/a-very-long-name-of-a-disk-of-a-data", "/mnt/a-very-long-name-of-a-disk-of-a-da-2")
    );
    assert!(mounts.iter().all(|mount| mount.len() <= "/mnt/".len() + 36), "{mounts:?}");
    for (number, mount) in [("2", first), ("1", second)] {
        let note = format!("{long}-{number} is {mount} here: names of disks have up to 36 characters");
        assert!(notes.contains(&note), "{note}: {notes:?}");
    }
}

#[test]
fn a_machine_of_aws_is_what_aws_says_of_it_and_its_volumes() {
    let Existing { cloud, notes } = machine(AWS, Provider::Aws);
    assert_eq!((cloud.region.as_deref(), cloud.zone.as_deref()), (Some("eu-west-1"), Some("eu-west-1a")));
    let gp3 = &cloud.disks["/mnt/data-disk"];
    assert_eq!((gp3.iops, gp3.bandwidth), (Some(6000), Some(Bandwidth(250 << 20))));
    let gp2 = &cloud.disks["/mnt/vol-0b"];
    assert_eq!((gp2.sku.as_deref(), gp2.iops), (Some("gp2"), None));
    assert_eq!((cloud.disks.len(), notes.len()), (2, 0), "not the system's: {notes:?}");
}

#[test]
fn a_machine_of_google_is_what_gcloud_says_of_it_and_its_disks() {
    let Existing { cloud, notes } = machine(GCP, Provider::Gcp);
    assert_eq!((cloud.project.as_deref(), cloud.region.as_deref()), (Some("p1"), Some("europe-west4")));
    let hyper = &cloud.disks["/mnt/hyper"];
    assert_eq!((hyper.sku.as_deref(), hyper.iops), (Some("hyperdisk-balanced"), Some(20_000)));
    assert_eq!(cloud.disks.len(), 1);
    assert!(notes.len() == 1 && notes[0].contains("local SSD"), "{notes:?}");
}

#[test]
fn what_is_not_told_is_said_and_not_guessed() {
    let catalog = Catalog::default();
    let without_disks = AZURE.split("\n[{").next().unwrap_or_default();
    let found = of_machine(without_disks, Provider::Azure, &catalog).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.cloud.disks["/mnt/raised"].sku, None);
    assert!(
        found.notes.iter().any(|note| note.contains("raised: add what `az disk list` prints")),
        "{:?}",
        found.notes
    );
    assert!(found.notes.iter().any(|note| note.contains("/mnt/raised: its kind is not told")), "{:?}", found.notes);
    assert!(found.plan().is_ok_and(|plan| plan.starts_with("# ")));
    for (text, provider, words) in [
        ("{", Provider::Azure, "this is not JSON"),
        ("", Provider::Aws, "there is no machine in it: print one with `aws ec2 describe-instances`"),
        (AWS, Provider::Gcp, "there is no machine in it"),
        ("{\"hardwareProfile\": 5}", Provider::Azure, "a machine of Azure"),
    ] {
        let error = of_machine(text, provider, &catalog).map(|found| found.cloud).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    let unknown = AZURE.replace("Standard_D16s_v5", "Standard_D16s_v99");
    let found = of_machine(&unknown, Provider::Azure, &catalog).unwrap_or_else(|error| panic!("{error}"));
    assert!(found.notes[0].contains("no machine size \"Standard_D16s_v99\""), "{:?}", found.notes);
}

#[test]
fn a_cluster_is_its_nodes_and_the_classes_that_are_its_provider_s() {
    let catalog = Catalog::default();
    let found = of_objects(CLUSTER, Provider::Azure, &catalog).unwrap_or_else(|error| panic!("{error}"));
    made_again(&found, Provider::Azure);
    let kubernetes = found.cloud.kubernetes.unwrap();
    assert_eq!((kubernetes.nodes, kubernetes.version.as_deref()), (Some(2), Some("1.34")));
    assert_eq!(kubernetes.classes.keys().collect::<Vec<_>>(), ["fast", "v2"]);
    assert_eq!(kubernetes.classes["v2"].iops, Some(5000));
    assert_eq!((found.cloud.region.as_deref(), found.cloud.zone.as_deref()), (Some("westeurope"), Some("1")));
    assert!(found.notes.iter().any(|note| note.contains("several zones")), "{:?}", found.notes);
    assert!(found.notes.iter().any(|note| note.contains("class path")), "{:?}", found.notes);
    let error = of_objects("{\"kind\": \"List\", \"items\": []}", Provider::Azure, &catalog).unwrap_err().to_string();
    assert!(error.contains("there are no nodes in it"), "{error}");
}

#[test]
fn classes_that_providers_make_and_names_that_plans_do_not_take_become_others() {
    let class = |name: &str, driver: &str, parameters: &str| {
        format!(
            "{{\"apiVersion\": \"storage.k8s.io/v1\", \"kind\": \"StorageClass\", \"metadata\": {{\"name\": \"{name}\"}}, \
             \"provisioner\": \"{driver}\", \"parameters\": {{{parameters}}}}}"
        )
    };
    let (disk, premium) = ("disk.csi.azure.com", "\"skuName\": \"Premium_LRS\"");
    let text = CLUSTER.to_owned()
        + &[
            class("managed-csi", disk, ""),
            class("like-managed-csi", disk, premium),
            class("fast.v2", disk, premium),
            class("azurefile-csi", "file.csi.azure.com", ""),
            class("azuresan-csi", "san.csi.azure.com", ""),
            class("gp3", "ebs.csi.aws.com", "\"type\": \"gp3\""),
        ]
        .join("\n");
    let found = of_objects(&text, Provider::Azure, &Catalog::default()).unwrap_or_else(|error| panic!("{error}"));
    made_again(&found, Provider::Azure);
    let kubernetes = found.cloud.kubernetes.as_ref().unwrap();
    let names: Vec<&str> = kubernetes.classes.keys().map(String::as_str).collect();
    assert_eq!(names, ["fast", "fast-v2", "like-managed-csi", "like-managed-csi-2", "v2"]);
    for note in [
        "class managed-csi is like-managed-csi-2 here",
        "class fast.v2 is fast-v2 here",
        "class azurefile-csi: ",
        "class azuresan-csi: it is one of Azure Container Storage",
        "class gp3: ",
    ] {
        assert!(found.notes.iter().any(|found| found.starts_with(note)), "{note}: {:?}", found.notes);
    }
    assert!(found.plan().is_ok_and(|plan| plan.contains("\n# class fast.v2 is fast-v2 here")));
}

#[test]
fn this_machine_is_what_its_metadata_service_tells() {
    let environment = CloudEnvironment {
        provider: CloudProvider::Azure,
        instance_type: Some("Standard_D16s_v5".to_owned()),
        region: Some("westeurope".to_owned()),
        zone: Some("1".to_owned()),
        disks: vec![
            CloudDisk {
                sku: Some("Premium_LRS".into()),
                size_bytes: Some(1 << 40),
                name: Some("a".into()),
                ..CloudDisk::default()
            },
            CloudDisk { local: true, ..CloudDisk::default() },
        ],
    };
    let catalog = Catalog::default();
    let found = of_environment(&environment, Provider::Azure, &catalog).unwrap_or_else(|error| panic!("{error}"));
    made_again(&found, Provider::Azure);
    assert_eq!(found.cloud.disks.len(), 1);
    let error = of_environment(&environment, Provider::Aws, &catalog).unwrap_err().to_string();
    assert!(error.contains("is one of Azure, not of AWS"), "{error}");
}
