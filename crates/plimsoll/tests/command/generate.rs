//! Scripts for clouds: which files are written, and what is refused before any is.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use crate::{
    striping::{Disks, can_stripe, down, name},
    support::{Place, Said, names},
};

const PLAN: &str = r#"
    presets = ["latency"]
    [cloud]
    region = "westeurope"
    zone = "1"
    [cloud.machine]
    type = "Standard_D16s_v5"
    [cloud.disks."/mnt/v2"]
    sku = "PremiumV2_LRS"
    size = "1Ti"
    iops = 20000
    [cloud.disks."/mnt/san"]
    sku = "elastic-san"
    size = "100Gi"
"#;

fn place(plan: &str) -> Place {
    let place = Place::new();
    fs::write(place.path("plan.toml"), plan).unwrap();
    place
}

#[test]
fn files_are_written_once_and_overwritten_by_force_alone() {
    let place = place(PLAN);
    let said = place.run("generate azure --plan plan.toml -o out");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("out/create.sh\n") && said.stderr.contains("paid for"), "{}", said.stderr);
    let is_run = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o111 != 0;
    assert!(is_run("out/create.sh") && is_run("out/prepare.sh") && !is_run("out/plan.toml"));
    assert!(place.path("out/terraform/elastic_san.tf").exists());
    let changed = fs::read_to_string(place.path("out/create.sh")).unwrap() + "# changed\n";
    fs::write(place.path("out/create.sh"), &changed).unwrap();
    let said = place.run("generate azure --plan plan.toml -o out");
    assert!(said.error(2).contains("out/create.sh exists: name another directory"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(place.path("out/create.sh")).unwrap(), changed);
    // What this plan has not, Terraform would still read.
    fs::write(place.path("plan.toml"), PLAN.split("[cloud.disks.\"/mnt/san\"]").next().unwrap()).unwrap();
    fs::write(place.path("out/terraform/terraform.tfstate"), "{}").unwrap();
    assert_eq!(place.run("generate azure --plan plan.toml -o out --force").code, Some(0));
    assert!(fs::read_to_string(place.path("out/create.sh")).unwrap().starts_with("#!"));
    let left = names(&place.path("out/terraform"));
    assert_eq!(left, ["machine.tf", "main.tf", "plan.tf", "terraform.tfstate"]);
}

#[test]
fn what_was_written_by_others_stays_also_by_force() {
    let place = place(PLAN);
    // The plan itself has the name of a file that is generated.
    let said = place.run("generate azure --plan plan.toml -o . --force");
    assert!(said.error(2).contains("plan.toml was not written by plimsoll generate"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(place.path("plan.toml")).unwrap(), PLAN);
    assert!(!place.path("create.sh").exists());
    fs::create_dir(place.path("out")).unwrap();
    fs::write(place.path("precious"), "Written by plimsoll generate").unwrap();
    std::os::unix::fs::symlink(place.path("precious"), place.path("out/create.sh")).unwrap();
    let said = place.run("generate azure --plan plan.toml -o out --force");
    assert!(said.error(2).contains("create.sh was not written"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(place.path("precious")).unwrap(), "Written by plimsoll generate");
}

#[test]
fn a_combination_that_is_not_sold_is_refused_and_nothing_is_written() {
    let place = place(&PLAN.replace("Standard_D16s_v5", "Standard_D16_v5"));
    let said = place.run("generate azure --plan plan.toml");
    let error = said.error(2);
    assert!(
        error.contains("plan.toml: cloud.disks.\"/mnt/v2\"") && error.contains("takes no premium disks"),
        "{error}"
    );
    assert!(!place.path("plimsoll-azure").exists());
    let said = place.run("generate azure");
    assert!(said.error(2).contains("no plan: name one"), "{}", said.stderr);
    let said = place.run("generate gcp --plan plan.toml");
    assert!(said.error(2).contains("Google Cloud has no region westeurope"), "{}", said.stderr);
}

#[test]
fn what_no_pod_can_do_is_refused_before_a_cluster_is_paid_for() {
    let cluster = "[cloud]\nregion = \"westeurope\"\n[cloud.kubernetes]\nnode_type = \"Standard_D16s_v5\"\n\
                   [cloud.kubernetes.classes]\nsmall = { sku = \"P10\" }\nlarge = { sku = \"P30\" }\n";
    for (head, workload, words) in [
        ("", "[[workload]]\ncommand = \"./restore.sh\"\n", "commands are not timed in pods"),
        ("presets = [\"pg-restore\"]\n", "", "commands are not timed in pods"),
        ("background = \"stress -c 1\"\n", "", "nothing can be started in the background"),
        // The larger class would take it, the other not.
        ("", "[[workload]]\nsize = \"200GiB\"\n", "small: a volume of 128GiB has no room for files of 200GiB"),
        ("", "[defaults]\nsize = \"2TiB\"\n", "has no room for files of"),
    ] {
        let place = place(&format!("{head}{cluster}{workload}"));
        let said = place.run("generate azure --plan plan.toml");
        let error = said.error(2);
        assert!(error.contains("plan.toml: cloud.kubernetes: ") && error.contains(words), "{words}: {error}");
        assert!(!place.path("plimsoll-azure").exists());
    }
    // Devices that the machine may overwrite are none of the cluster.
    let place = place(&format!(
        "destroy = [\"/dev/nvme0n1\"]\n[[workload]]\nsize = \"100GiB\"\n{cluster}\
         [cloud.machine]\ntype = \"Standard_D16s_v5\"\n[cloud.disks.\"/mnt/data\"]\nsku = \"P10\"\n"
    ));
    assert_eq!(place.run("generate azure --plan plan.toml -o out").code, Some(0));
    let run = "kubernetes run --dry-run --plan out/plan-kubernetes.toml --storage-class small,large --size 128Gi";
    assert_eq!(place.run(run).code, Some(0), "{}", place.run(run).stderr);
}

#[test]
fn files_are_printed_and_a_run_reads_the_plan_for_the_machine() {
    let place = place(PLAN);
    let said = place.run("generate azure --plan plan.toml --print");
    assert!(said.stdout.starts_with("==> create.sh <==\n#!/usr/bin/env bash\n"), "{}", said.stdout);
    assert!(!place.path("plimsoll-azure").exists());
    let said = place.run("generate azure --plan plan.toml --print --json");
    let files = said.json()["files"].as_array().unwrap().clone();
    let plan = files.iter().find(|file| file["name"] == "plan.toml").unwrap();
    fs::write(place.path("run.toml"), plan["text"].as_str().unwrap()).unwrap();
    // The disks are not here, which is all that is wrong with it.
    let said = place.run("run --plan run.toml --no-history");
    assert!(said.error(3).contains("/mnt/v2"), "{}", said.stderr);
    // A plan that says what to make is measured like any other.
    let run = "run DATA --plan plan.toml --no-history --engine memory --passes 1 --effort quick --json";
    assert_eq!(place.run(run).code, Some(0), "{}", place.run(run).stderr);
}

#[test]
fn what_exists_becomes_a_plan_that_makes_it_again() {
    let place = Place::new();
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/existing");
    for (provider, flag, file) in [
        ("azure", "--from-vm", "azure.json"),
        ("aws", "--from-vm", "aws.json"),
        ("gcp", "--from-vm", "gcp.json"),
        ("azure", "--from-cluster", "cluster.json"),
    ] {
        let said = place.run(&format!("generate {provider} {flag} {seeds}/{file}"));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        fs::write(place.path("plan.toml"), &said.stdout).unwrap();
        let said = place.run(&format!("generate {provider} --plan plan.toml -o {file}"));
        assert_eq!(said.code, Some(0), "{file}: {}", said.stderr);
        assert!(said.stdout.contains(&format!("{file}/create.sh")));
    }
    let said = place.run(&format!("generate aws --from-vm {seeds}/gcp.json"));
    assert!(said.error(2).contains("there is no machine in it"), "{}", said.stderr);
    let said = place.run("generate azure --from-vm nowhere.json");
    assert!(said.error(2).contains("no file nowhere.json"), "{}", said.stderr);
}

#[test]
fn this_machine_is_asked_for_what_it_is_and_a_cluster_that_is_nowhere_is_said() {
    let place = Place::new();
    // Nobody listens there.
    let said = place.run("generate azure --from-vm=http://127.0.0.1:9");
    assert!(said.error(2).contains("metadata"), "{}", said.stderr);
    let mut command = place.command("generate azure --from-cluster");
    command.env("HOME", place.path("")).env_remove("KUBECONFIG").env_remove("KUBERNETES_SERVICE_HOST");
    let said = Said::of(command.output().unwrap());
    // No option is named that there is not.
    assert!(said.error(2).contains("KUBECONFIG=FILE"), "{}", said.stderr);
}

#[test]
fn the_run_commands_are_taken_by_this_program() {
    let plan = format!(
        "{PLAN}\n[cloud.kubernetes]\nnode_type = \"Standard_D16s_v5\"\n[cloud.kubernetes.classes]\n\
         small = {{ sku = \"P10\" }}\nlarge = {{ sku = \"P30\" }}\n"
    );
    let place = place(&plan);
    assert_eq!(place.run("generate azure --plan plan.toml -o out").code, Some(0));
    let script = |name: &str| {
        let mut command = Command::new(place.path("out").join(name));
        command.args(["--no-history", "--effort", "quick"]).env("PLIMSOLL", env!("CARGO_BIN_EXE_plimsoll"));
        command.env("HOME", place.path("")).env("KUBECONFIG_FILE", place.path("no-kubeconfig"));
        Said::of(command.env("IMAGE", "registry.example.org/plimsoll:1").output().unwrap())
    };
    // What is missing are the disks and the cluster, and nothing that was written.
    let said = script("run.sh");
    assert!(said.error(3).contains("/mnt/v2"), "{}", said.stderr);
    let said = script("run-kubernetes.sh");
    assert!(said.error(2).contains("no-kubeconfig"), "{}", said.stderr);
}

#[test]
fn arrays_of_disks_in_a_cloud_are_made_measured_and_held_against_what_was_bought() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --limit iops=50000 --size 1GiB");
    let plan = format!(
        "[cloud]\nregion = \"westeurope\"\n[cloud.machine]\ntype = \"D4s_v5\"\n\
         [cloud.disks.\"/mnt/data\"]\nsku = \"Premium_LRS\"\nsize = \"1Gi\"\ndisks = 2\n\
         [stripe]\nname = \"{}\"\n[[stripe.array]]\nkind = \"btrfs\"\n\
         [[workload]]\nrw = \"randread\"\nsize = \"8MiB\"\nduration = \"500ms\"\n",
        name(&place)
    );
    fs::write(place.path("plan.toml"), plan).unwrap();
    assert_eq!(place.run("generate azure --plan plan.toml -o out").code, Some(0));
    // Disks of this machine in the place of those of the cloud.
    fs::create_dir(place.path("attached")).unwrap();
    for (lun, disk) in disks.paths.iter().enumerate() {
        std::os::unix::fs::symlink(disk, place.path(&format!("attached/lun{lun}"))).unwrap();
    }
    fs::write(place.path("out/disk-luns"), "data-1 0\ndata-2 1\n").unwrap();
    for file in ["out/prepare.sh", "out/plan.toml"] {
        let mut text = fs::read_to_string(place.path(file)).unwrap();
        text = text.replace("/run/plimsoll-disks", place.path("names").to_str().unwrap());
        text = text.replace("/dev/disk/azure/scsi1", place.path("attached").to_str().unwrap());
        fs::write(place.path(file), text).unwrap();
    }
    let script = |file: &str, arguments: &[&str]| {
        let mut command = Command::new("bash");
        command.arg(place.path(file)).args(arguments);
        command.env("PLIMSOLL", env!("CARGO_BIN_EXE_plimsoll")).env("XDG_STATE_HOME", place.path("state"));
        command.env("FSTAB", place.path("fstab"));
        Said::of(command.output().unwrap())
    };
    for _ in 0..2 {
        let prepared = script("out/prepare.sh", &[]);
        assert_eq!(prepared.code, Some(0), "{}", prepared.stderr);
        let said = script("out/run.sh", &["--no-history", "--json"]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let record = said.json();
        let bought = &record["asked"]["provisioned"]["targets"];
        let (target, bought) = bought.as_object().unwrap().iter().next().unwrap();
        assert!(target.ends_with("/btrfs-2"), "{target}");
        assert_eq!((bought["sku"].as_str(), bought["disks"].as_u64()), (Some("Premium_LRS"), Some(2)), "{bought}");
        assert_eq!(record["cells"][0]["limit"]["iops"], 240.0, "two disks of 120");
    }
    down(&place);
    disks.assert_blank();
}
