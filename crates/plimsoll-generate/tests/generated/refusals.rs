//! What cannot be had is refused with one sentence that says where in the plan it stands, why, and what can be had.

use plimsoll_catalog::{
    catalog::Catalog,
    ceiling::Load,
    expectation::Expectation,
    product::{Provider, products},
};
use plimsoll_workload::{limit::RateLimit, provisioned::Provisioned, units::ByteCount};

use crate::support::generated;

fn refusal(plan: &str, provider: Provider) -> String {
    match generated(plan, provider) {
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains('\n') && text.len() < 400, "one sentence: {text}");
            text
        }
        Ok(_) => panic!("generated, and should not be:\n{plan}"),
    }
}

/// A machine of Azure in a zone or in none, with a disk.
fn machine(zone: &str, size: &str, disk: &str) -> String {
    let zone = if zone.is_empty() { String::new() } else { format!("zone = \"{zone}\"\n") };
    format!(
        "[cloud]\nregion = \"westeurope\"\n{zone}[cloud.machine]\ntype = \"{size}\"\n[cloud.disks]\n\"/mnt/data\" = {{ {disk} }}\n"
    )
}

#[test]
fn disks_that_do_not_fit_the_machine_are_refused_by_the_catalog() {
    let premium = "sku = \"Premium_LRS\", size = \"1Ti\"";
    for (zone, size, disk, words) in [
        ("1", "Standard_D16_v5", premium, "Standard_D16_v5: a size without an s in its name takes no premium disks"),
        (
            "1",
            "Standard_D16_v5",
            "sku = \"UltraSSD_LRS\", size = \"1Ti\"",
            "takes no premium disks, so not UltraSSD_LRS",
        ),
        // The size of the published script, which there is not.
        ("1", "Standard_D16dv5", premium, "no machine size \"Standard_D16dv5\"; did you mean"),
        (
            "",
            "Standard_D16s_v5",
            "sku = \"PremiumV2_LRS\", size = \"1Ti\"",
            "PremiumV2_LRS is sold in zones only: say the zone",
        ),
        ("", "Standard_D16s_v5", "sku = \"UltraSSD_LRS\", size = \"1Ti\"", "UltraSSD_LRS is sold in zones only"),
        ("1", "Standard_D2s_v3", "sku = \"P10\", disks = 5", "Standard_D2s_v3 takes at most 4 data disks, not 5"),
        ("1", "m5.large", premium, "m5.large is a machine of AWS, not of Azure"),
        ("1", "Standard_D16s_v5", "sku = \"gp3\", size = \"1Ti\"", "gp3 is sold by AWS, not by Azure"),
        (
            "1",
            "Standard_D16s_v5",
            "sku = \"P10\", interface = \"nvme\"",
            "Standard_D16s_v5 attaches disks by SCSI alone, not by NVMe: say interface = \"scsi\", or leave it out",
        ),
        ("1", "Standard_E8bds_v5", "sku = \"P10\"", "say which, as interface = \"nvme\""),
        ("4", "Standard_D16s_v5", premium, "Azure has no zone 4 in westeurope"),
    ] {
        let text = refusal(&machine(zone, size, disk), Provider::Azure);
        assert!(text.contains(words), "{words}: {text}");
        assert!(text.starts_with("cloud."), "where it stands: {text}");
    }
}

#[test]
fn what_is_not_sold_so_is_refused() {
    for (disk, words) in [
        ("sku = \"PremiumV2_LRS\", size = \"10Gi\", iops = 80000", "10 GiB can have at most 5000 IOPS, not 80000"),
        (
            "sku = \"PremiumV2_LRS\", size = \"1Ti\", iops = 3000, bandwidth = \"900MB\"",
            "3000 provisioned IOPS can have at most",
        ),
        ("sku = \"UltraSSD_LRS\", size = \"2Gi\"", "is sold from 4 GiB to 64 TiB, not with 2 GiB"),
        ("sku = \"UltraSSD_LRS\", size = \"1Ti\", caching = \"ReadOnly\"", "no host cache"),
        ("sku = \"Premium_LRS\", size = \"1Ti\", iops = 9000", "no IOPS of its own can be bought"),
        ("sku = \"Premium_LRS\", size = \"8Ti\", caching = \"ReadOnly\"", "caches no disk of 4 TiB or more"),
        ("sku = \"Premium_LRS\", size = \"1500MB\"", "sold in whole GiB"),
        ("sku = \"PremiumV2_LRS\", size = \"1Ti\", bandwidth = \"200MiB\"", "Azure sells whole MB/s, not 200MiB/s"),
        ("sku = \"Premium_LRS\"", "give the provisioned size"),
        ("size = \"1Ti\"", "say what is bought"),
        ("sku = \"Premum_LRS\", size = \"1Ti\"", "did you mean Premium_LRS"),
        ("sku = \"azure-files-ssd-v2\", size = \"1Ti\"", "a share of a service"),
        ("sku = \"azure-local-nvme\"", "comes with the machine"),
        ("sku = \"Premium_LRS\", size = \"1Ti\", limit = \"iops=5\"", "nothing that can be bought"),
        ("sku = \"elastic-san\", size = \"2Ti\"", "have no room in a SAN of 1024 GiB"),
        ("sku = \"P10\", disks = 65", "disks is from 1 to 64"),
        (
            "sku = \"P30\", size = \"512Gi\"",
            "P30 is a disk of 1TiB, not of 512GiB: leave the size out, or say sku = \"Premium_LRS\"",
        ),
        (
            "sku = \"PremiumV2_LRS\", size = \"1Ti\", tier = \"P50\"",
            "PremiumV2_LRS: has no performance tiers: leave the tier out",
        ),
        ("sku = \"UltraSSD_LRS\", size = \"1Ti\", performance_plus = true", "UltraSSD_LRS: has no performance plus"),
        ("sku = \"elastic-san\", size = \"1Gi\", iops = 5000", "elastic-san has no iops: leave it out"),
        ("sku = \"elastic-san\", size = \"1Gi\", bandwidth = \"5MB\"", "elastic-san has no bandwidth"),
        ("sku = \"elastic-san\", size = \"1Gi\", interface = \"nvme\"", "elastic-san has no interface"),
        ("sku = \"PremiumV2_LRS\", size = \"1Ti\", pool = \"1Ti\"", "PremiumV2_LRS has no pool"),
        ("sku = \"UltraSSD_LRS\", size = \"1Ti\", bandwidth = \"500MB\"", "say its IOPS as well, as iops = 20000"),
        ("sku = \"UltraSSD_LRS\", size = \"1Ti\", iops = 5000", "say its throughput as well, as bandwidth = \"300MB\""),
        ("sku = \"P10\", emulated = true", "nothing that can be bought"),
    ] {
        let text = refusal(&machine("1", "Standard_D16s_v5", disk), Provider::Azure);
        assert!(text.contains(words), "{words}: {text}");
    }
    let both = "sku = \"P10\", interface = \"scsi\" }\n\"/mnt/other\" = { sku = \"P10\", interface = \"nvme\"";
    let text = refusal(&machine("1", "Standard_E8bds_v5", both), Provider::Azure);
    assert!(text.contains("one interface for all its disks"), "{text}");
    let volume = |disk: &str| {
        format!(
            "[cloud]\nregion = \"eu-west-1\"\nzone = \"eu-west-1a\"\n[cloud.machine]\ntype = \"m5.large\"\n\
             [cloud.disks]\n\"/mnt/data\" = {{ {disk} }}\n"
        )
    };
    for (disk, words) in [
        ("sku = \"gp3\", size = \"10Gi\", iops = 16000", "10 GiB can have at most 5000 IOPS"),
        ("sku = \"io2\", size = \"100Gi\"", "its IOPS are provisioned"),
        ("sku = \"st1\", size = \"100Gi\"", "is sold from 125 GiB"),
        ("sku = \"gp3\", size = \"100Gi\", disks = 40", "data disks, not 40"),
        ("sku = \"efs-elastic\"", "a share of a service"),
        ("sku = \"gp3\", size = \"100Gi\", tier = \"P50\"", "gp3: has no performance tiers: leave the tier out"),
        ("sku = \"gp3\", size = \"100Gi\", pool = \"1Ti\"", "gp3 has no pool"),
        ("sku = \"gp3\", size = \"100Gi\", on_demand_bursting = true", "gp3: does not burst on demand"),
        ("sku = \"gp3\", size = \"100Gi\", interface = \"nvme\"", "gp3 has no interface"),
        ("sku = \"io2\", size = \"100Gi\", iops = 5000, bandwidth = \"500MiB\"", "io2 has no bandwidth: leave it out"),
    ] {
        let text = refusal(&volume(disk), Provider::Aws);
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn rates_that_nobody_said_are_those_that_a_run_is_held_against() {
    for (sku, iops, mbps) in [("PremiumV2_LRS", 3000, 125), ("UltraSSD_LRS", 1024, 100)] {
        let plan = machine("1", "Standard_D16s_v5", &format!("sku = \"{sku}\", size = \"1Ti\""));
        let files = generated(&plan, Provider::Azure).unwrap();
        let text = |name: &str| &files.iter().find(|file| file.name == name).unwrap().text;
        let options = format!("--disk-iops-read-write {iops} --disk-mbps-read-write {mbps}\n");
        assert!(text("create.sh").contains(&options), "{}", text("create.sh"));
        assert!(text("terraform/plan.tf").contains(&format!("mbps     = {mbps}\n")), "{}", text("terraform/plan.tf"));
        let bought = Provisioned { sku: Some(sku.into()), size: Some(ByteCount(1 << 40)), ..Provisioned::default() };
        let expected = Expectation::of(&bought, &Catalog::default()).unwrap().unwrap();
        let limit =
            expected.parts[0].limits.of(Load { read_share: 1.0, operation_bytes: 4096.0, is_sequential: false });
        let lasting = |rate: f64| Some(RateLimit::lasting(rate));
        assert_eq!((limit.operations, limit.bytes), (lasting(iops.into()), lasting(f64::from(mbps) * 1e6)), "{sku}");
    }
}

#[test]
fn clusters_that_cannot_be_are_refused() {
    let cluster = |rest: &str| format!("[cloud]\nregion = \"westeurope\"\nzone = \"1\"\n[cloud.kubernetes]\n{rest}\n");
    for (rest, words) in [
        ("nodes = 2", "say the size of its nodes"),
        ("node_type = \"Standard_D16s_v5\"", "say what to measure"),
        (
            "node_type = \"Standard_D16_v5\"\n[cloud.kubernetes.classes.a]\nsku = \"Premium_LRS\"\nsize = \"8Gi\"",
            "takes no premium disks",
        ),
        (
            "node_type = \"Standard_D16s_v5\"\n[cloud.kubernetes.classes.a]\nsku = \"elastic-san\"\nsize = \"8Gi\"",
            "classes of Elastic SAN need version 2",
        ),
        (
            "node_type = \"Standard_D16s_v5\"\n[cloud.kubernetes.container_storage.pool]\nsku = \"Premium_LRS\"\nsize = \"1Ti\"",
            "version 2 is made of local NVMe disks or of Elastic SAN alone",
        ),
        (
            "node_type = \"Standard_D16s_v5\"\n[cloud.kubernetes.container_storage]\nversion = 1\npool = { sku = \"P30\" }",
            "version 1 takes at least 3 nodes for that, not 2",
        ),
        (
            "node_type = \"Standard_D2s_v5\"\nnodes = 3\n[cloud.kubernetes.container_storage]\nversion = 1\n\
             pool = { sku = \"Premium_LRS\", size = \"1Ti\" }",
            "at least 4 processors, and Standard_D2s_v5 has 2",
        ),
        (
            "node_type = \"Standard_D16s_v5\"\n[cloud.kubernetes.container_storage.pool]\nsku = \"azure-local-nvme\"",
            "the catalog knows of none on Standard_D16s_v5",
        ),
        (
            "node_type = \"Standard_D16s_v5\"\n[cloud.kubernetes.container_storage]\nversion = 3\npool = { sku = \"elastic-san\" }",
            "there are versions 1 and 2, not 3",
        ),
        ("version = \"new\"\nnode_type = \"Standard_D16s_v5\"", "version of Kubernetes: write it as 1.34"),
        ("node_type = \"Standard_A1_v2\"", "nodes of AKS have at least 2 processors, and Standard_A1_v2 has 1"),
        (
            "node_type = \"Standard_D16s_v5\"\n[cloud.kubernetes.classes.a]\nsku = \"P10\"\ntier = \"P20\"",
            "classes.a: a class has no tier: leave it out",
        ),
        (
            "node_type = \"Standard_D16s_v5\"\nnodes = 3\n[cloud.kubernetes.container_storage]\nversion = 1\n\
             pool = { sku = \"P30\", tier = \"P50\" }",
            "container_storage.pool: a pool of Premium_LRS has no tier: leave it out",
        ),
        (
            "node_type = \"Standard_D16s_v5\"\n[cloud.kubernetes.classes.managed-csi]\nsku = \"P10\"",
            "managed-csi: Azure makes a class of this name by itself, which cannot be changed: take another name",
        ),
        ("node_type = \"Standard_D16s_v5\"\n[cloud.kubernetes.classes.A_B]\nsku = \"P10\"", "name of a StorageClass"),
    ] {
        let text = refusal(&cluster(rest), Provider::Azure);
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn classes_that_a_provider_makes_are_refused_as_its_own_alone() {
    let azure = ["default", "managed", "managed-csi-premium", "azurefile", "azurefile-csi", "azureblob-nfs-premium"];
    let google = ["standard", "standard-rwo", "premium-rwo", "enterprise-rwx"];
    for (provider, own, place, node, sku) in [
        (Provider::Azure, azure.as_slice(), "region = \"westeurope\"", "Standard_D16s_v5", "Premium_LRS"),
        (Provider::Aws, &["gp2"], "region = \"eu-west-1\"\nzone = \"eu-west-1a\"", "m5.large", "gp3"),
        (
            Provider::Gcp,
            &google,
            "region = \"europe-west4\"\nzone = \"europe-west4-a\"\nproject = \"p\"",
            "n2-standard-8",
            "pd-ssd",
        ),
    ] {
        let plan = |name: &str| {
            format!(
                "[cloud]\n{place}\n[cloud.kubernetes]\nnode_type = \"{node}\"\n[cloud.kubernetes.classes.{name}]\n\
                 sku = \"{sku}\"\nsize = \"100Gi\"\n"
            )
        };
        for name in own {
            assert!(refusal(&plan(name), provider).contains("makes a class of this name by itself"), "{name}");
        }
        for name in ["fast", "gp3", "managed-mine"] {
            assert!(generated(&plan(name), provider).is_ok(), "{name}");
        }
    }
}

#[test]
fn nothing_that_a_shell_would_run_comes_into_a_script() {
    let evil = "$(touch /tmp/x)";
    for plan in [
        format!("[cloud]\nregion = \"{evil}\"\n[cloud.machine]\ntype = \"D4s_v5\"\n"),
        format!("[cloud]\nregion = \"a\"\nname = \"{evil}\"\n[cloud.machine]\ntype = \"D4s_v5\"\n"),
        format!("[cloud]\nregion = \"a\"\nzone = \"{evil}\"\n[cloud.machine]\ntype = \"D4s_v5\"\n"),
        format!("[cloud]\nregion = \"a\"\n[cloud.machine]\ntype = \"{evil}\"\n"),
        format!("[cloud]\nregion = \"a\"\n[cloud.machine]\ntype = \"D4s_v5\"\nimage = \"{evil}\"\n"),
        format!("[cloud]\nregion = \"a\"\n[cloud.machine]\ntype = \"D4s_v5\"\nssh_from = \"{evil}\"\n"),
        format!(
            "[cloud]\nregion = \"a\"\n[cloud.machine]\ntype = \"D4s_v5\"\n[cloud.disks.\"/mnt/{evil}\"]\nsku = \"P10\"\n"
        ),
    ] {
        assert!(refusal(&plan, Provider::Azure).contains("is no "), "{plan}");
    }
}

#[test]
fn a_plan_without_what_it_takes_is_told_what() {
    for (plan, provider, words) in [
        ("presets = [\"latency\"]", Provider::Azure, "no section [cloud]"),
        ("[cloud]\nzone = \"1\"", Provider::Azure, "say the region"),
        ("[cloud]\nregion = \"westeurope\"", Provider::Azure, "say what to make"),
        (
            "[cloud]\nregion = \"a\"\n[cloud.disks.\"/mnt/a\"]\nsku = \"P10\"",
            Provider::Azure,
            "say the machine that the disk /mnt/a is for",
        ),
        (
            "[cloud]\nregion = \"eu-west-1\"\n[cloud.machine]\ntype = \"m5.large\"",
            Provider::Aws,
            "say it, as zone = \"eu-west-1a\"",
        ),
        ("[cloud]\nregion = \"europe-west4\"\nzone = \"europe-west4-a\"", Provider::Gcp, "say the project"),
        (
            "[cloud]\nregion = \"a\"\nproject = \"p\"\n[cloud.machine]\ntype = \"D4s_v5\"",
            Provider::Azure,
            "has no projects",
        ),
    ] {
        let text = refusal(plan, provider);
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// Whatever the catalog has can be made, or it is said why not.
#[test]
fn every_product_is_made_or_refused_for_what_it_is() {
    let (mut made, mut refused) = (0, 0);
    for name in products().flat_map(|product| product.names().map(move |name| (product, name))) {
        let (product, name) = name;
        let (region, zone, machine) = match product.provider {
            Provider::Azure => ("westeurope", "1", "Standard_D16s_v5"),
            Provider::Aws => ("eu-west-1", "eu-west-1a", "m5.8xlarge"),
            _ if ["hyperdisk-balanced", "hyperdisk-ml"].iter().any(|kind| product.name.starts_with(kind)) => {
                ("europe-west4", "europe-west4-a", "c3-standard-8")
            }
            _ => ("europe-west4", "europe-west4-a", "n2-standard-80"),
        };
        let rates = match product.name {
            "io1" | "io2" | "pd-extreme" | "hyperdisk-extreme" => "iops = 10000",
            "hyperdisk-throughput" => "bandwidth = \"40MiB\"",
            "hyperdisk-ml" => "bandwidth = \"400MiB\"",
            _ => "",
        };
        let project = if product.provider == Provider::Gcp { "project = \"p\"\n" } else { "" };
        let plan = format!(
            "[cloud]\nregion = \"{region}\"\nzone = \"{zone}\"\n{project}[cloud.machine]\ntype = \"{machine}\"\n\
             [cloud.disks.\"/mnt/data\"]\nsku = \"{name}\"\nsize = \"512Gi\"\n{rates}\n"
        );
        match generated(&plan, product.provider) {
            Ok(_) => made += 1,
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("is a share of a service") || text.contains("comes with the machine"), "{text}");
                refused += 1;
            }
        }
    }
    assert!(made >= 25 && refused >= 10, "{made} and {refused}");
}

#[test]
fn a_size_of_generation_1_takes_no_image_of_generation_2() {
    for size in ["Standard_D4_v3", "Standard_A4_v2", "Standard_D3_v2", "Standard_E4_v3"] {
        let plan = machine("1", size, "sku = \"E10\"");
        let text = refusal(&plan, Provider::Azure);
        assert!(text.contains("starts from images of generation 1 alone") && text.contains("server-gen1"), "{text}");
        let image = "image = \"Canonical:ubuntu-24_04-lts:server-gen1:latest\"\n[cloud.disks]";
        assert!(generated(&plan.replace("[cloud.disks]", image), Provider::Azure).is_ok(), "{size}");
    }
    assert!(generated(&machine("1", "Standard_D4s_v3", "sku = \"E10\""), Provider::Azure).is_ok());
}

#[test]
fn machines_at_which_disks_are_not_found_or_not_taken_are_refused() {
    let place = |machine: &str, place: &str| format!("[cloud]\n{place}\n[cloud.machine]\ntype = \"{machine}\"\n");
    let aws = |machine: &str| place(machine, "region = \"eu-west-1\"\nzone = \"eu-west-1a\"");
    let disk = |kind: &str| format!("[cloud.disks.\"/mnt/data\"]\nsku = \"{kind}\"\nsize = \"1Ti\"\n");
    for (machine, words) in [
        ("m4.large", "m4.large runs on Xen, where volumes cannot be told apart by their ids: take a type on Nitro"),
        ("i3.large", "runs on Xen"),
        ("mac2.metal", "mac2.metal starts macOS alone"),
    ] {
        let text = refusal(&(aws(machine) + &disk("gp3")), Provider::Aws);
        assert!(text.starts_with("cloud.machine: ") && text.contains(words), "{text}");
    }
    assert!(generated(&(aws("i3en.large") + &disk("gp3")), Provider::Aws).is_ok());
    assert!(generated(&aws("m4.large"), Provider::Aws).is_ok(), "there is nothing to find");
    let google =
        |machine: &str| place(machine, "region = \"europe-west4\"\nzone = \"europe-west4-a\"\nproject = \"p\"");
    for (machine, kind, words) in [
        (
            "n2-standard-80",
            "hyperdisk-balanced",
            "machines of the series n2, as n2-standard-80, take no hyperdisk-balanced",
        ),
        ("n2-standard-16", "pd-extreme", "series n2 take pd-extreme from 64 processors on, and n2-standard-16 has 16"),
        ("c3-standard-8", "pd-standard", "take no pd-standard: take a disk or a machine of another kind"),
    ] {
        let text = refusal(&(google(machine) + &disk(kind)), Provider::Gcp);
        assert!(text.starts_with("cloud.disks.\"/mnt/data\": ") && text.contains(words), "{text}");
    }
    let class = "[cloud.kubernetes]\nnode_type = \"e2-standard-8\"\n[cloud.kubernetes.classes.a]\n\
                 sku = \"hyperdisk-balanced\"\nsize = \"100Gi\"\n";
    let text = refusal(&(google("e2-standard-8") + class), Provider::Gcp);
    assert!(text.starts_with("cloud.kubernetes.classes.a: ") && text.contains("the series e2"), "{text}");
}

#[test]
fn an_image_is_written_so_that_az_and_terraform_take_it() {
    let plan = machine("1", "Standard_D16s_v5", "sku = \"P10\"")
        .replace("[cloud.disks]", "image = \"Ubuntu2404\"\n[cloud.disks]");
    assert!(refusal(&plan, Provider::Azure).contains("written publisher:offer:sku:version, not as Ubuntu2404"));
}

#[test]
fn arrays_are_made_of_disks_of_the_plan_alone_and_of_as_many_as_there_are() {
    let with = |stripe: &str| machine("1", "Standard_D16s_v5", "sku = \"P10\", disks = 2") + stripe;
    let striped = "[stripe]\n[[stripe.array]]\nkind = \"md\"\n";
    assert!(generated(&with(striped), Provider::Azure).is_ok());
    for (stripe, words) in [
        ("[stripe]\ndevices = [\"/dev/sdc\"]\n[[stripe.array]]\nkind = \"md\"\n", "/dev/sdc is none of [cloud.disks]"),
        ("[stripe]\n[[stripe.array]]\nkind = \"md\"\ndisks = 3\n", "2 are listed"),
        ("[stripe]\n", "no array is asked for"),
    ] {
        let text = refusal(&with(stripe), Provider::Azure);
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn directories_of_the_system_and_addresses_that_nobody_means_are_refused() {
    for directory in ["/usr/bin", "/etc/systemd", "/boot/efi", "/home/azureuser", "/mnt", "/var", "/sys/data"] {
        let plan = machine("1", "Standard_D16s_v5", "sku = \"P10\"").replace("/mnt/data", directory);
        assert!(refusal(&plan, Provider::Azure).contains("place for a disk"), "{directory}");
    }
    for directory in ["/mnt/data", "/var/lib/postgresql", "/data", "/home/azureuser/data", "/opt/data"] {
        let plan = machine("1", "Standard_D16s_v5", "sku = \"P10\"").replace("/mnt/data", directory);
        assert!(generated(&plan, Provider::Azure).is_ok(), "{directory}");
    }
    let from = |from: &str| {
        let plan = machine("1", "Standard_D16s_v5", "sku = \"P10\"");
        plan.replace("[cloud.disks]", &format!("ssh_from = \"{from}\"\n[cloud.disks]"))
    };
    for (slip, words) in [
        ("0.0.0.0/0", "0.0.0.0/0 is everybody in the world: say who may reach the machine, as 203.0.113.7/32"),
        ("203.0.113.7/8", "goes on behind its 8 bits: write 203.0.0.0/8, or 203.0.113.7/32 for one address"),
        ("203.0.113.7/31", "write 203.0.113.6/31, or 203.0.113.7/32"),
        ("203.0.113.7/33", "is no range of addresses: write it as 203.0.113.7/32"),
        ("203.0.113.7", "is no range of addresses"),
    ] {
        let text = refusal(&from(slip), Provider::Azure);
        assert!(text.starts_with("cloud.machine.ssh_from: ") && text.contains(words), "{text}");
    }
    for one in ["203.0.113.7/32", "203.0.113.0/24", "10.0.0.0/8"] {
        assert!(generated(&from(one), Provider::Azure).is_ok(), "{one}");
    }
}

#[test]
fn a_region_is_taken_as_azure_writes_it_and_a_slip_is_said() {
    let plan = machine("1", "Standard_D16s_v5", "sku = \"P10\"");
    let text = refusal(&plan.replace("westeurope", "westeuropea"), Provider::Azure);
    assert_eq!(text, "cloud.region: Azure has no region westeuropea; did you mean westeurope?");
    let files = generated(&plan.replace("westeurope", "West Europe"), Provider::Azure).unwrap();
    assert!(files[0].text.contains("LOCATION=\"${LOCATION:-westeurope}\"\n"));
    assert!(generated(&plan.replace("westeurope", "moonnorth"), Provider::Azure).is_ok(), "it may be new");
}

#[test]
fn a_san_of_a_cluster_is_asked_for_by_a_class_and_has_room_for_each_volume() {
    let plan = |classes: &str, storage: &str| {
        format!(
            "[cloud]\nregion = \"westeurope\"\n[cloud.kubernetes]\nnode_type = \"Standard_D8s_v5\"\nnodes = 3\n\
             classes = {{ {classes} }}\n[cloud.kubernetes.container_storage]\n{storage}\n"
        )
    };
    let pool = |what: &str| format!("pool = {{ sku = \"elastic-san\", {what} }}");
    let class = |size: &str| format!("san = {{ sku = \"elastic-san\", size = \"{size}\" }}");
    for (classes, storage, words) in [
        ("", pool("pool = \"2Ti\""), "azuresan-csi makes a SAN of 1 TiB: leave pool out, or say a class"),
        ("", pool("size = \"2Ti\""), "a volume of 2048 GiB has no room in a SAN of 1024 GiB"),
        (&class("4Ti"), pool("pool = \"2Ti\""), "a volume of 4096 GiB has no room in a SAN of 2048 GiB"),
        ("", format!("version = 1\n{}", pool("pool = \"2Ti\", size = \"4Ti\"")), "has no room in a SAN of 2048 GiB"),
    ] {
        let text = refusal(&plan(classes, &storage), Provider::Azure);
        assert!(text.starts_with("cloud.kubernetes.container_storage.pool: ") && text.contains(words), "{text}");
    }
    for (classes, storage) in [
        ("", pool("pool = \"1Ti\", size = \"1Ti\"")),
        (&class("2Ti"), pool("pool = \"2Ti\"")),
        ("", format!("version = 1\n{}", pool("pool = \"2Ti\", size = \"2Ti\""))),
    ] {
        assert!(generated(&plan(classes, &storage), Provider::Azure).is_ok(), "{classes} {storage}");
    }
}
