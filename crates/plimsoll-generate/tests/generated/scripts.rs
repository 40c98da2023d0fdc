//! Scripts in front of programs that stand in for a cloud: what they make once, what they make again, and what they
//! refuse.

use std::process::Command;

use plimsoll_catalog::product::Provider;

use crate::support::{Cloud, Place, cases, generated, has_python, of_azure, skipped, terraform, told};

#[test]
fn shellcheck_finds_nothing() {
    if Command::new("shellcheck").arg("--version").output().is_err() {
        return skipped("shellcheck");
    }
    let check = |place: &Place, name: &str| {
        let mut command = Command::new("shellcheck");
        command.args(["--shell=bash", "--severity=style", "--enable=quote-safe-variables,avoid-nullary-conditions"]);
        command.arg(place.path(name)).output().unwrap()
    };
    let mut checked = 0;
    for case in cases() {
        let place = Place::of(&case.files);
        for file in case.files.iter().filter(|file| file.is_executable) {
            let output = check(&place, file.name);
            assert!(output.status.success(), "{}: {}", case.name, told(&output));
            checked += 1;
        }
    }
    assert!(checked >= 20, "{checked}");
    // It would find something: a variable that nobody sets, and one that a shell splits.
    let mut case = cases().remove(0);
    case.files[0].text += "echo $REGION\n";
    assert!(!check(&Place::of(&case.files), case.files[0].name).status.success());
}

#[test]
fn what_is_missing_is_made_and_what_is_there_is_not_made_again() {
    if !has_python() {
        return;
    }
    for case in of_azure() {
        let place = Place::of(&case.files);
        let output = place.script("create.sh", &[], Cloud::Empty).output().unwrap();
        assert!(output.status.success(), "{}: {}", case.name, told(&output));
        let makes = |calls: &[Vec<String>]| -> Vec<String> {
            let of_cloud = calls.iter().filter(|call| call[0] == "az");
            let verbs = ["create", "attach", "update"];
            let is_making = |call: &&Vec<String>| call.iter().take(5).any(|word| verbs.contains(&word.as_str()));
            of_cloud.filter(is_making).map(|call| call.join(" ")).collect()
        };
        let first = makes(&place.calls());
        assert!(first.len() >= 3, "{}: {first:?}", case.name);
        for call in &first {
            assert_eq!(first.iter().filter(|other| *other == call).count(), 1, "{}: twice: {call}", case.name);
        }
        let output = place.script("create.sh", &[], Cloud::Made).output().unwrap();
        assert!(output.status.success(), "{}: {}", case.name, told(&output));
        // These two say what shall be, and change nothing where it is so.
        let again = makes(&place.calls());
        let is_harmless =
            |call: &String| call.contains(" role assignment create ") || call.contains(" nsg rule create ");
        assert!(again.iter().all(is_harmless), "{}: {again:?}", case.name);
    }
}

#[test]
fn all_that_is_made_has_a_name_a_group_and_the_setup_s_tag() {
    let mut made = 0;
    for case in of_azure() {
        let place = Place::of(&case.files);
        assert!(place.script("create.sh", &[], Cloud::Empty).output().unwrap().status.success());
        for call in place.calls().iter().filter(|call| call[0] == "az" && call.iter().any(|word| word == "create")) {
            let line = call.join(" ");
            // What is part of something else is found by that.
            let parts = ["nsg rule", "subnet", "volume-group", "volume create", "role assignment"];
            if parts.iter().any(|part| line.contains(part)) {
                continue;
            }
            assert!(line.contains("plimsoll-setup"), "{}: {line}", case.name);
            made += 1;
        }
    }
    assert!(made >= 20, "{made}");
}

#[test]
fn a_group_of_somebody_else_is_neither_filled_nor_removed() {
    for case in of_azure() {
        let place = Place::of(&case.files);
        for (script, arguments) in [("create.sh", [].as_slice()), ("teardown.sh", ["--yes"].as_slice())] {
            let output = place.script(script, arguments, Cloud::Foreign).output().unwrap();
            assert!(!output.status.success(), "{}: {script}", case.name);
            assert!(told(&output).contains("not of this setup"), "{}", told(&output));
            let calls: Vec<String> = place.calls().iter().map(|call| call.join(" ")).collect();
            assert!(!calls.iter().any(|call| call.contains(" delete ") || call.contains(" create ")), "{calls:?}");
        }
    }
}

#[test]
fn a_teardown_that_looks_elsewhere_than_create_made_says_where_that_was() {
    if !has_python() {
        return;
    }
    for case in of_azure() {
        let place = Place::of(&case.files);
        let mut create = place.script("create.sh", &[], Cloud::Empty);
        assert!(create.env("RESOURCE_GROUP", "mine").output().unwrap().status.success());
        place.calls();
        let teardown = |name: &str, value: &str, cloud: Cloud| {
            let output = place.script("teardown.sh", &["--yes"], cloud).env(name, value).output().unwrap();
            let is_removed = place.calls().iter().any(|call| call.contains(&"delete".to_owned()));
            (output.status.code(), told(&output), is_removed)
        };
        for (name, value) in [("RESOURCE_GROUP", "others"), ("SUBSCRIPTION", "other")] {
            // Nothing is there, or something of somebody else.
            let (code, told, is_removed) = teardown(name, value, Cloud::Empty);
            assert!(code == Some(1) && !is_removed, "{}: {told}", case.name);
            assert!(told.contains("which made\n/subscriptions/s/resourceGroups/mine\n"), "{told}");
            let (code, told, is_removed) = teardown(name, value, Cloud::Foreign);
            assert!(code == Some(1) && !is_removed && told.contains("not of this setup"), "{told}");
        }
        // Who has lost its name, and has one that is ours, is told of the other.
        let (code, told, is_removed) = teardown("RESOURCE_GROUP", "ours-too", Cloud::Made);
        assert!(code == Some(0) && is_removed, "{told}");
        assert!(told.contains("made these as well:\n/subscriptions/s/resourceGroups/mine"), "{told}");
        std::fs::remove_file(place.path("gone")).unwrap();
        let (code, told, is_removed) = teardown("RESOURCE_GROUP", "mine", Cloud::Made);
        assert!(code == Some(0) && is_removed && !told.contains("as well"), "{told}");
        let (code, told, _) = teardown("RESOURCE_GROUP", "others", Cloud::Empty);
        assert!(code == Some(0) && told.contains("nothing to remove"), "{told}");
    }
    // A subscription that az cannot ask is no group that is not there.
    let place = Place::of(&of_azure().remove(0).files);
    let output = place.script("teardown.sh", &["--yes"], Cloud::LoggedOut).output().unwrap();
    assert!(!output.status.success() && !told(&output).contains("nothing to remove"), "{}", told(&output));
}

#[test]
fn what_is_never_done_is_an_error_once_time_is_up() {
    for case in of_azure() {
        let place = Place::of(&case.files);
        let output = place.script("create.sh", &[], Cloud::Stuck).output().unwrap();
        let told = told(&output);
        assert!(
            output.status.code() == Some(1) && told.contains("is not there after 1 s: it is \"Creating\""),
            "{told}"
        );
    }
}

#[test]
fn what_has_failed_is_said_with_what_to_do() {
    if !has_python() {
        return;
    }
    for (name, what) in [("azure-plain", "the machine plimsoll"), ("azure-kubernetes", "the cluster classes-cluster")] {
        let case = of_azure().into_iter().find(|case| case.name == name).unwrap();
        let place = Place::of(&case.files);
        assert!(place.script("create.sh", &[], Cloud::Empty).output().unwrap().status.success());
        let output = place.script("create.sh", &[], Cloud::Failed).output().unwrap();
        let said = told(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains(&format!("error: {what} is in the state Failed: find out why, with az monitor")),
            "{said}"
        );
        assert!(said.contains("remove it, or all with ./teardown.sh, and run this again\n"), "{said}");
        let output = place.script("teardown.sh", &["--yes"], Cloud::Failed).output().unwrap();
        let said = told(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("in the state Failed, and removed like the others:\nbroken\n"), "{said}");
        assert!(said.contains("cannot be removed: look for") && said.contains("az lock list"), "{said}");
        assert!(place.path("groups").exists(), "it is not gone");
        assert!(place.script("teardown.sh", &["--yes"], Cloud::Made).output().unwrap().status.success());
        assert!(!place.path("groups").exists());
    }
}

#[test]
fn a_disk_that_another_machine_has_is_left_where_it_is() {
    if !has_python() {
        return;
    }
    let case = of_azure().into_iter().find(|case| case.name == "azure-plain").unwrap();
    let place = Place::of(&case.files);
    assert!(place.script("create.sh", &[], Cloud::Empty).output().unwrap().status.success());
    let output = place.script("create.sh", &[], Cloud::Made).env("HOLDER", "others-vm").output().unwrap();
    assert!(!output.status.success() && told(&output).contains("attached to another machine"), "{}", told(&output));
    let output = place.script("create.sh", &[], Cloud::Made).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
}

#[test]
fn whoever_is_not_logged_in_is_told_and_nothing_is_made() {
    let case = of_azure().remove(0);
    let place = Place::of(&case.files);
    let output = place.script("create.sh", &[], Cloud::LoggedOut).output().unwrap();
    assert!(!output.status.success() && told(&output).contains("az login"), "{}", told(&output));
    assert_eq!(place.calls().len(), 1);
}

#[test]
fn teardown_asks_removes_what_was_made_and_is_done_when_nothing_is_left() {
    if !has_python() {
        return;
    }
    for case in of_azure() {
        let place = Place::of(&case.files);
        let deletes = |place: &Place| place.calls().iter().filter(|call| call.contains(&"delete".to_owned())).count();
        // Nobody answers.
        let output = place.script("teardown.sh", &[], Cloud::Made).output().unwrap();
        assert!(!output.status.success() && deletes(&place) == 0, "{}", told(&output));
        let output = place.script("teardown.sh", &["--dry-run"], Cloud::Made).output().unwrap();
        assert!(output.status.success() && deletes(&place) == 0, "{}", told(&output));
        let output = place.script("teardown.sh", &["--yse"], Cloud::Made).output().unwrap();
        assert!(!output.status.success() && deletes(&place) == 0, "{}", told(&output));
        let output = place.script("teardown.sh", &["--yes"], Cloud::Mixed).output().unwrap();
        assert!(!output.status.success() && told(&output).contains("precious"), "{}", told(&output));
        assert_eq!(deletes(&place), 0, "what others put there stays, and so does the rest");
        let output = place.script("teardown.sh", &["--yes"], Cloud::Made).output().unwrap();
        assert!(output.status.success() && deletes(&place) >= 1, "{}: {}", case.name, told(&output));
        assert!(!place.path("kubeconfig").exists());
        let output = place.script("teardown.sh", &["--yes"], Cloud::Empty).output().unwrap();
        assert!(output.status.success() && told(&output).contains("nothing to remove"), "{}", told(&output));
        std::fs::remove_file(place.path("setup-id")).unwrap();
        let output = place.script("teardown.sh", &["--yes"], Cloud::Made).output().unwrap();
        assert!(!output.status.success() && told(&output).contains("no setup-id"), "{}", told(&output));
        // It is made once, and two of them differ.
        let made = |place: &Place| {
            assert!(place.script("create.sh", &[], Cloud::Empty).output().unwrap().status.success());
            std::fs::read_to_string(place.path("setup-id")).unwrap()
        };
        let (first, again) = (made(&place), made(&place));
        std::fs::remove_file(place.path("setup-id")).unwrap();
        assert!(first.len() == 16 && first == again && first != made(&place), "{first}");
    }
}

#[test]
fn scripts_around_terraform_ask_unless_told_and_keep_what_the_machine_needs() {
    if terraform().is_none() {
        return;
    }
    for case in cases().into_iter().filter(|case| !case.name.starts_with("azure")) {
        let place = Place::of(&case.files);
        for (arguments, approves) in [([].as_slice(), false), (["--yes"].as_slice(), true)] {
            let output = place.script("create.sh", arguments, Cloud::Empty).output().unwrap();
            assert!(output.status.success(), "{}: {}", case.name, told(&output));
            let calls: Vec<String> = place.calls().iter().map(|call| call.join(" ")).collect();
            let apply = calls.iter().find(|call| call.starts_with("terraform") && call.contains(" apply")).unwrap();
            assert_eq!(apply.ends_with(" apply create.tfplan"), approves, "{apply}");
            assert!(calls.iter().any(|call| call.starts_with("kubectl") && call.contains("classes.yaml")), "{calls:?}");
        }
        let output = place.script("teardown.sh", &["--yes"], Cloud::Made).output().unwrap();
        assert!(!output.status.success() && told(&output).contains("no state"), "{}", told(&output));
        std::fs::write(place.path("terraform/terraform.tfstate"), "{}").unwrap();
        // Whatever would be removed is to be seen by somebody; what is gone already, or is called so, is not.
        for (changes, is_refused) in [
            (r#"{"resource_changes":[{"address":"a.b[\"c\"]","change":{"actions":["delete","create"]}}]}"#, true),
            (r#"{"resource_drift":[{"address":"a.b","change":{"actions":["delete"]}}]}"#, false),
            (r#"{"resource_changes":[{"address":"delete","change":{"actions":["update"]}}]}"#, false),
            ("no JSON", true),
        ] {
            place.calls();
            let output = place.script("create.sh", &["--yes"], Cloud::Empty).env("CHANGES", changes).output().unwrap();
            assert_eq!(!output.status.success(), is_refused, "{changes}: {}", told(&output));
            if changes.contains("create") {
                let words = "would be removed or made anew, with what is on them: \"a.b[\\\"c\\\"]\": run it without";
                assert!(told(&output).contains(words), "{}", told(&output));
            }
            let is_applied = place.calls().iter().any(|call| call.contains(&"apply".to_owned()));
            assert_eq!(!is_applied, is_refused, "{}: {changes}", case.name);
            assert!(!place.path("terraform/create.tfplan").exists(), "{changes}: a plan has secrets");
        }
        // Without its credentials nobody knows what volumes a cluster has.
        let own = place.path("own-kubeconfig");
        std::fs::rename(place.path("kubeconfig"), &own).unwrap();
        let output = place.script("teardown.sh", &["--yes"], Cloud::Made).output().unwrap();
        assert!(!output.status.success() && told(&output).contains("kubeconfig is missing"), "{}", told(&output));
        assert!(!place.calls().iter().any(|call| call.contains(&"destroy".to_owned())), "{}", case.name);
        let mut teardown = place.script("teardown.sh", &["--yes"], Cloud::Made);
        let output = teardown.env("KUBECONFIG_FILE", &own).output().unwrap();
        assert!(output.status.success(), "{}: {}", case.name, told(&output));
        assert!(place.calls().iter().any(|call| call.contains(&"destroy".to_owned())));
        assert!(own.exists(), "a file of somebody's own stays");
        // A cluster that is gone has no volumes.
        let output = place.script("teardown.sh", &["--yes"], Cloud::Empty).output().unwrap();
        assert!(output.status.success(), "{}: {}", case.name, told(&output));
    }
    let aws = cases().into_iter().find(|case| case.name.starts_with("aws")).unwrap();
    let place = Place::of(&aws.files);
    assert!(place.script("create.sh", &["--yes"], Cloud::Empty).output().unwrap().status.success());
    assert_eq!(std::fs::read_to_string(place.path("disk-ids")).unwrap(), "gp3 vol-0abc\n");
}

#[test]
fn the_run_commands_start_plimsoll_with_the_plan_of_the_machine_or_the_cluster() {
    let mut started = 0;
    for case in cases() {
        let place = Place::of(&case.files);
        for (script, words) in [("run.sh", "run --plan"), ("run-kubernetes.sh", "kubernetes run --kubeconfig")] {
            if !case.files.iter().any(|file| file.name == script) {
                continue;
            }
            let output = place.script(script, &["--effort", "quick"], Cloud::Made).output().unwrap();
            assert!(output.status.success(), "{}: {}", case.name, told(&output));
            let mut calls: Vec<String> = place.calls().iter().map(|call| call.join(" ")).collect();
            if script == "run.sh" && case.plan.contains("[stripe]") {
                let arrays = calls.remove(0);
                assert!(arrays.starts_with("plimsoll stripe up --plan ") && arrays.ends_with("/plan.toml"), "{arrays}");
            }
            assert!(!calls.is_empty());
            for call in &calls {
                assert!(call.contains(words) && call.ends_with("--effort quick"), "{call}");
            }
            started += 1;
        }
    }
    assert!(started >= 9, "{started}");
}

#[test]
fn every_size_is_measured_whatever_one_ended_with_and_the_script_ends_with_that() {
    let plan = "[cloud]\nregion = \"westeurope\"\n[cloud.kubernetes]\nnode_type = \"Standard_D8s_v5\"\n\
                [cloud.kubernetes.classes]\nsmall = { sku = \"P10\" }\nlarge = { sku = \"P30\" }\n";
    let place = Place::of(&generated(plan, Provider::Azure).unwrap());
    // A broken expectation is an answer; nothing else can be measured where the command is not understood, is not there
    // or was interrupted.
    for (at, ends_with, sizes) in
        [(128, 1, 2), (128, 6, 2), (1024, 1, 2), (128, 2, 1), (128, 127, 1), (128, 130, 1), (1024, 130, 2)]
    {
        let mut command = place.script("run-kubernetes.sh", &["--effort", "quick"], Cloud::Made);
        let output =
            command.env("ENDS_AT", format!("{at}Gi")).env("ENDS_WITH", ends_with.to_string()).output().unwrap();
        assert_eq!((output.status.code(), place.calls().len()), (Some(ends_with), sizes), "{ends_with} at {at} GiB");
    }
}

#[test]
fn volumes_on_disks_of_nodes_are_made_with_their_pods_and_others_by_claims() {
    let plan = |storage: &str| {
        format!(
            "[cloud]\nregion = \"westeurope\"\n[cloud.kubernetes]\nnode_type = \"Standard_L8s_v3\"\nnodes = 4\n\
             [cloud.kubernetes.classes.premium]\nsku = \"Premium_LRS\"\nsize = \"100Gi\"\n\
             [cloud.kubernetes.container_storage]\n{storage}\n"
        )
    };
    for (storage, expected) in [
        (
            "pool = { sku = \"azure-local-nvme\", size = \"100Gi\" }",
            &["premium --size 100Gi", "local-csi --size 100Gi --ephemeral"][..],
        ),
        (
            "version = 1\npool = { sku = \"azure-local-nvme\", size = \"100Gi\" }",
            &["premium --size 100Gi", "acstor-plimsoll --size 100Gi --ephemeral"],
        ),
        ("pool = { sku = \"elastic-san\", size = \"100Gi\" }", &["premium,azuresan-csi --size 100Gi"]),
        ("version = 1\npool = { sku = \"P30\" }", &["premium,acstor-plimsoll --size 100Gi"]),
    ] {
        let files = generated(&plan(storage), Provider::Azure).unwrap();
        let text = &files.iter().find(|file| file.name == "run-kubernetes.sh").unwrap().text;
        let run: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("measure --storage-class ")).collect();
        let expected: Vec<String> = expected.iter().map(|words| format!("{words} \"$@\"")).collect();
        assert_eq!(run, expected, "{storage}");
    }
}

/// What scripts of published comparisons had wrong, as far as a text shows it. What they had wrong for the catalog is
/// in `refusals.rs`; what they made twice, or used before it was set, is found by running them.
fn faults(text: &str, is_script: bool) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut fault = |is_so: bool, what: &'static str| {
        if is_so {
            found.push(what);
        }
    };
    fault(!text.is_ascii(), "a dash that is none, or another character that a shell takes for itself");
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2) {
        let (line, next) = (pair[0], pair[1].trim_start());
        fault(line.ends_with('\\') && next.is_empty(), "a line that goes on to nothing");
        let is_option = next.starts_with("--") && next != "---" && !next.contains(") ");
        let is_of_command = line.ends_with('\\') || line.trim_start().starts_with('#');
        fault(is_option && !is_of_command, "an option without its command");
        fault(line.ends_with(' '), "a blank behind a line, after which it does not go on");
    }
    fault(text.trim_end().ends_with('\\'), "a line that goes on to nothing");
    // What AWS is asked for is an exception, and no name of a disk.
    let mut others = lines.iter().filter(|line| !line.trim_start().starts_with("device "));
    let names = ["/dev/sd", "/dev/nvme", "/dev/vd", "/dev/xvd"];
    fault(
        others.any(|line| names.iter().any(|name| line.contains(name))),
        "a name of a disk that may be another's tomorrow",
    );
    // plimsoll measures for as long as it takes, so that there is no runtime that ends early.
    fault(text.contains("--runtime") && !text.contains("time_based"), "a runtime that ends with the file");
    let secrets = ["password", "client-secret", "access_key", "secret_key", "sas_token", "private key", "account-key"];
    let mut asked = lines.iter().map(|line| line.to_ascii_lowercase());
    let is_secret = |line: String| {
        !line.contains("disable_password_authentication") && secrets.iter().any(|secret| line.contains(secret))
    };
    fault(asked.any(is_secret), "a secret");
    let begins = text.starts_with("#!/usr/bin/env bash\n") && text.contains("\nset -euo pipefail\n");
    fault(is_script && !begins, "a script that goes on after what failed");
    found
}

#[test]
fn the_errors_of_published_scripts_are_absent() {
    for case in cases() {
        for file in &case.files {
            assert_eq!(faults(&file.text, file.is_executable), [""; 0], "{}: {}", case.name, file.name);
        }
    }
    for (text, fault) in [
        (
            "az vm create --name v \\\n    --subnet s\n\n    --ephemeral-os-disk \\\n# Create disks\n",
            "an option without its command",
        ),
        ("az vm create --name v \\\n\naz disk create\n", "a line that goes on to nothing"),
        ("az vm create --name v \\ \n  --size s\n", "a blank behind a line, after which it does not go on"),
        ("sudo mkfs.ext4 /dev/sdc1\n", "a name of a disk that may be another's tomorrow"),
        ("fio --runtime 30 job.ini\n", "a runtime that ends with the file"),
        (
            "New-VHD \u{2013}Path $sourceVHD\n",
            "a dash that is none, or another character that a shell takes for itself",
        ),
        ("az vm create --admin-password 123\n", "a secret"),
        ("#!/bin/bash\naz vm create\n", "a script that goes on after what failed"),
    ] {
        assert!(faults(text, text.starts_with("#!")).contains(&fault), "{fault}: {text}");
    }
}

#[test]
fn roles_are_given_for_a_group_and_never_for_a_subscription() {
    let case = of_azure().into_iter().find(|case| case.name.contains("storage-1")).unwrap();
    let place = Place::of(&case.files);
    assert!(place.script("create.sh", &[], Cloud::Empty).output().unwrap().status.success());
    let calls = place.calls();
    let role = calls.iter().find(|call| call.contains(&"assignment".to_owned())).unwrap();
    let after = |word: &str| role[role.iter().position(|other| other == word).unwrap() + 1].as_str();
    assert_eq!(after("--role"), "Azure Container Storage Operator");
    assert_eq!(after("--scope"), "/subscriptions/s/something", "the id of the nodes' group, which was asked for");
    let asked =
        calls.iter().filter(|call| call.join(" ").contains("group show")).any(|call| call.contains(&"id".to_owned()));
    assert!(asked);
    for case in cases() {
        let has_role = case.name.contains("storage-1");
        assert_eq!(
            case.text("create.sh").contains("one that may give roles"),
            has_role,
            "{}: what it takes",
            case.name
        );
        for file in &case.files {
            assert!(!file.text.contains("--scope \"/subscriptions/"), "{}", case.name);
            assert!(!file.text.contains("roles/editor") && !file.text.contains("AdministratorAccess"), "{}", case.name);
        }
    }
}

#[test]
fn whatever_is_paid_for_is_marked() {
    // What costs by being there, as az and Terraform call it.
    let commands = [
        "azure vm create",
        "azure disk create",
        "azure elastic-san create",
        "azure aks create",
        "disk ",
        "azure aks update",
    ];
    let resources = [
        "azurerm_public_ip",
        "azurerm_linux_virtual_machine\"",
        "azurerm_managed_disk",
        "azurerm_elastic_san\"",
        "azurerm_kubernetes_cluster\"",
        "aws_instance",
        "aws_ebs_volume",
        "aws_eks_cluster",
        "aws_eks_node_group",
        "google_compute_instance",
        "google_compute_disk",
        "google_container_cluster",
        "google_container_node_pool",
    ];
    let mut marked = 0;
    for case in cases() {
        for file in &case.files {
            let lines: Vec<&str> = file.text.lines().collect();
            for pair in lines.windows(2) {
                let line = pair[1];
                let of_script = file.name == "create.sh"
                    && commands.iter().any(|word| line.trim_start().starts_with(word))
                    && !line.contains("azure disk create");
                let of_terraform = line.starts_with("resource ") && resources.iter().any(|name| line.contains(name));
                if of_script || of_terraform {
                    assert!(pair[0].trim_start().starts_with("# costs:"), "{}: {}: {line}", case.name, file.name);
                    marked += 1;
                }
            }
        }
    }
    assert!(marked >= 40, "{marked}");
}
