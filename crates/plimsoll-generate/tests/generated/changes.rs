//! What becomes of what is there when the plan changes: it is left as it is and named, or made to be as the plan says
//! where nothing can be lost by that.

use plimsoll_catalog::product::Provider;

use crate::support::{Cloud, Place, generated, has_python, of_azure, told};

#[test]
fn what_is_there_and_not_as_the_plan_says_ends_the_script_with_both_named() {
    if !has_python() {
        return;
    }
    for (name, was, is, found, planned) in [
        ("azure-plain", "256Gi", "512Gi", "Premium_LRS, 256 GiB, tier P15", "Premium_LRS, 512 GiB, tier P20"),
        ("azure-plain", "Premium_LRS", "StandardSSD_LRS", "Premium_LRS, 256 GiB, tier P15", "StandardSSD_LRS, 256 GiB"),
        ("azure-plain", "D4s_v5", "D8s_v5", "Standard_D4s_v5", "Standard_D8s_v5"),
        ("azure-plain", "francecentral", "westeurope", "francecentral", "westeurope"),
        ("azure-plain", "sku = \"Prem", "caching = \"ReadOnly\"\nsku = \"Prem", "caching None", "caching ReadOnly"),
        ("azure-plain", "region", "zone = \"1\"\nregion", "Standard_D4s_v5", "Standard_D4s_v5, zone 1"),
        ("azure-disks", "zone = \"1\"", "zone = \"2\"", "zone 1", "zone 2"),
        ("azure-disks", "iops = 20000", "iops = 25000", "20000 IOPS, 300 MB/s", "25000 IOPS, 300 MB/s"),
        ("azure-disks", ", tier = \"P50\"", "", "tier P50", "tier P30"),
        ("azure-disks", ", on_demand_bursting = true", "", "tier P30, bursts on demand", "tier P30"),
        ("azure-disks", ", performance_plus = true", "", "performance plus", "StandardSSD_LRS, 1024 GiB, zone 1"),
        ("azure-disks", "pool = \"2Ti\"", "pool = \"3Ti\"", "2 TiB, zone 1", "3 TiB, zone 1"),
        ("azure-disks", "500Gi", "600Gi", "500 GiB", "600 GiB"),
        ("azure-plain", "type = \"", "image = \"a:b:c:latest\"\ntype = \"", "24_04-lts:server:latest", "a:b:c:latest"),
        ("azure-kubernetes", "nodes = 3", "nodes = 4", "3 nodes Standard_D16s_v5", "4 nodes Standard_D16s_v5"),
        ("azure-kubernetes", "1.35", "1.36", "version 1.35.2", "version 1.36"),
        ("azure-container-storage-1", "2Ti", "4Ti", "Premium_LRS-2048Gi", "Premium_LRS-4096Gi"),
    ] {
        let case = of_azure().into_iter().find(|case| case.name == name).unwrap();
        let place = Place::of(&case.files);
        assert!(place.script("create.sh", &[], Cloud::Empty).output().unwrap().status.success());
        assert!(case.plan.contains(was), "{was}");
        let changed = generated(&case.plan.replace(was, is), Provider::Azure).unwrap();
        place.change(&changed, "create.sh");
        let output = place.script("create.sh", &[], Cloud::Made).output().unwrap();
        let told = told(&output);
        let error = told.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
        assert_eq!(output.status.code(), Some(1), "{name}: {is}: {told}");
        let (before, after) = error.split_once(", and the plan says ").unwrap_or_else(|| panic!("{name}: {told}"));
        assert!(before.contains(found) && after.contains(planned), "{is}: {error}");
        assert!(after.ends_with("change the plan back, or remove it first: ./teardown.sh removes all"), "{error}");
    }
}

#[test]
fn what_an_earlier_plan_had_is_named_while_it_costs() {
    if !has_python() {
        return;
    }
    let case = of_azure().into_iter().find(|case| case.name == "azure-plain").unwrap();
    let more = "[cloud.disks.\"/mnt/other\"]\nsku = \"P10\"\n[cloud.kubernetes]\nnode_type = \"D4s_v5\"\n\
                [cloud.kubernetes.classes.fast]\nsku = \"P10\"\n";
    let place = Place::of(&generated(&format!("{}{more}", case.plan), Provider::Azure).unwrap());
    assert!(place.script("create.sh", &[], Cloud::Empty).output().unwrap().status.success());
    let output = place.script("create.sh", &[], Cloud::Made).output().unwrap();
    assert!(output.status.success() && !told(&output).contains("note: "), "{}", told(&output));
    place.change(&case.files, "create.sh");
    let output = place.script("create.sh", &[], Cloud::Made).output().unwrap();
    let said = told(&output);
    assert!(output.status.success(), "{said}");
    let note = "note: these are there and not in the plan, and cost until they are removed:\n";
    assert!(said.ends_with(&format!("{note}plimsoll-other\nplimsoll-cluster\n")), "{said}");
}

#[test]
fn names_are_compared_as_azure_does_and_images_where_they_are_named_in_full() {
    if !has_python() {
        return;
    }
    let case = of_azure().into_iter().find(|case| case.name == "azure-plain").unwrap();
    for (first, again) in [
        ([("LOCATION", "West Europe"), ("IMAGE", "Ubuntu2404")], [("LOCATION", "westeurope"), ("IMAGE", "Ubuntu2404")]),
        ([("LOCATION", "westeurope"), ("IMAGE", "/a/B")], [("LOCATION", "WestEurope"), ("IMAGE", "/A/b")]),
    ] {
        let place = Place::of(&case.files);
        let run = |variables: [(&str, &str); 2], cloud| {
            place.script("create.sh", &[], cloud).envs(variables).output().unwrap()
        };
        assert!(run(first, Cloud::Empty).status.success());
        let output = run(again, Cloud::Made);
        assert!(output.status.success(), "{}", told(&output));
        let output = run([("LOCATION", "westeurope"), ("IMAGE", "/a/other")], Cloud::Made);
        assert_eq!(output.status.code(), Some(1), "{}", told(&output));
        assert!(told(&output).contains("error: the image of the machine plimsoll is there as"), "{}", told(&output));
    }
}

#[test]
fn whoever_may_no_longer_reach_the_machine_is_kept_out_again() {
    if !has_python() {
        return;
    }
    let case = of_azure().into_iter().find(|case| case.name == "azure-plain").unwrap();
    let place = Place::of(&case.files);
    let rule = |from: &str| {
        let output = place.script("create.sh", &[], Cloud::Grown).env("SSH_FROM", from).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        let calls: Vec<String> = place.calls().iter().map(|call| call.join(" ")).collect();
        let of_rule = calls.into_iter().filter(|call| call.contains(" nsg rule ") && !call.contains(" show "));
        (of_rule.collect::<Vec<_>>().join("\n"), told(&output))
    };
    assert_eq!(rule("").0, "", "there was none");
    assert!(rule("203.0.113.7/32").0.contains(" --source-address-prefixes 203.0.113.7/32 "));
    let (calls, said) = rule("");
    assert!(calls.starts_with("az network nsg rule delete ") && calls.contains(" --nsg-name plimsoll-nsg "), "{calls}");
    assert!(said.contains("note: nobody reaches the machine by SSH any more"), "{said}");
}

#[test]
fn a_volume_of_a_san_is_added_to_a_machine_that_is_there() {
    if !has_python() {
        return;
    }
    let case = of_azure().into_iter().find(|case| case.name == "azure-plain").unwrap();
    let place = Place::of(&case.files);
    assert!(place.script("create.sh", &[], Cloud::Grown).output().unwrap().status.success());
    place.calls();
    let more = format!("{}\n[cloud.disks.\"/mnt/san\"]\nsku = \"elastic-san\"\nsize = \"100Gi\"\n", case.plan);
    place.change(&generated(&more, Provider::Azure).unwrap(), "create.sh");
    for is_first in [true, false] {
        let output = place.script("create.sh", &[], Cloud::Grown).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        let calls: Vec<String> = place.calls().iter().map(|call| call.join(" ")).collect();
        let is_called = |words: &str| calls.iter().any(|call| call.contains(words));
        assert_eq!(is_called("subnet update"), is_first, "{calls:?}");
        assert_eq!(is_called("elastic-san volume create"), is_first, "{calls:?}");
        assert!(!is_called("vm create") && !is_called("subnet create"), "{calls:?}");
    }
}

#[test]
fn a_setup_that_is_called_otherwise_is_still_its_own() {
    if !has_python() {
        return;
    }
    let case = of_azure().into_iter().find(|case| case.name == "azure-plain").unwrap();
    let place = Place::of(&case.files);
    assert!(place.script("create.sh", &[], Cloud::Grown).output().unwrap().status.success());
    let plan = case.plan.replace("[cloud]", "[cloud]\nname = \"other\"");
    let renamed = generated(&plan, Provider::Azure).unwrap();
    place.change(&renamed, "create.sh");
    place.change(&renamed, "teardown.sh");
    place.calls();
    let run = |script: &str, arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = place.script(script, arguments, Cloud::Grown);
        command.envs(variables.iter().copied()).output().unwrap()
    };
    // By its old names it is what it was: nothing is made.
    let output = run("create.sh", &[], &[("RESOURCE_GROUP", "plimsoll"), ("VM", "plimsoll")]);
    assert!(output.status.success() && !told(&output).contains("note: "), "{}", told(&output));
    assert!(
        !place.calls().iter().any(|call| call.contains(&"create".to_owned()) && !call.contains(&"rule".to_owned()))
    );
    // By its new one another group is made, and the old one is named, which still costs.
    let output = run("create.sh", &[], &[]);
    let said = told(&output);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("RESOURCE_GROUP=NAME ./teardown.sh removes them:\n/subscriptions/s/resourceGroups/plimsoll\n"),
        "{said}"
    );
    // The new teardown removes either.
    for group in ["plimsoll", "other"] {
        place.calls();
        let output = run("teardown.sh", &["--yes"], &[("RESOURCE_GROUP", group)]);
        let _ = std::fs::remove_file(place.path("gone"));
        assert!(output.status.success(), "{}", told(&output));
        let calls: Vec<String> = place.calls().iter().map(|call| call.join(" ")).collect();
        assert!(calls.iter().any(|call| call.starts_with(&format!("az group delete --name {group} "))), "{calls:?}");
    }
}

#[test]
fn a_disk_keeps_its_number_when_one_is_added_before_it_or_the_one_before_it_goes() {
    if !has_python() {
        return;
    }
    let case = of_azure().into_iter().find(|case| case.name == "azure-plain").unwrap();
    let place = Place::of(&case.files);
    let numbers = || {
        let output = place.script("create.sh", &[], Cloud::Grown).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        let text = std::fs::read_to_string(place.path("disk-luns")).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let first = numbers();
    assert!(first.len() == 1 && first[0].ends_with(" 0"), "{first:?}");
    let (before, after) = case.plan.split_once("[cloud.disks").unwrap();
    let more = format!("{before}[cloud.disks.\"/mnt/a\"]\nsku = \"P10\"\n[cloud.disks{after}");
    let more = generated(&more, Provider::Azure).unwrap();
    place.change(&more, "create.sh");
    place.calls();
    assert_eq!(numbers(), ["a 1".to_owned(), first[0].clone()]);
    let attached = place.calls().iter().filter(|call| call.contains(&"attach".to_owned())).count();
    assert_eq!(attached, 1, "the first stays where it is");
    // What the plan no longer has is still attached, so that the other's number is its own.
    let fewer = format!("{before}[cloud.disks.\"/mnt/a\"]\nsku = \"P10\"\n");
    place.change(&generated(&fewer, Provider::Azure).unwrap(), "create.sh");
    assert_eq!(numbers(), ["a 1"]);
}

#[test]
fn a_disk_at_the_end_of_a_plan_moves_none_in_terraform() {
    let plan = |disks: &[&str], provider: Provider| {
        let (place, machine, sku) = match provider {
            Provider::Azure => ("region = \"westeurope\"", "D16s_v5", "P10"),
            _ => ("region = \"eu-west-1\"\nzone = \"eu-west-1a\"", "m5.large", "gp3"),
        };
        let of = |disk: &&str| format!("\"/mnt/{disk}\" = {{ sku = \"{sku}\", size = \"128Gi\" }}\n");
        let disks: String = disks.iter().map(of).collect();
        let text = format!("[cloud]\n{place}\n[cloud.machine]\ntype = \"{machine}\"\n[cloud.disks]\n{disks}");
        let files = generated(&text, provider).unwrap();
        files.into_iter().find(|file| file.name == "terraform/plan.tf").unwrap().text
    };
    for provider in [Provider::Azure, Provider::Aws] {
        let (few, more) = (plan(&["m", "z"], provider), plan(&["m", "z", "a"], provider));
        let disks = few.split_once("disks = {\n").unwrap().1.split_once("\n  }\n").unwrap().0;
        assert!(more.contains(disks), "{few}\n{more}");
    }
}

#[test]
fn another_interface_of_the_disks_is_another_machine() {
    if !has_python() {
        return;
    }
    let files = |interface: &str| {
        let plan = format!(
            "[cloud]\nregion = \"westeurope\"\n[cloud.machine]\ntype = \"Standard_E8bds_v5\"\n[cloud.disks.\"/mnt/data\"]\n\
             sku = \"P10\"\ninterface = \"{interface}\"\n"
        );
        generated(&plan, Provider::Azure).unwrap()
    };
    for (was, is) in [("SCSI", "NVMe"), ("NVMe", "SCSI")] {
        let place = Place::of(&files(&was.to_lowercase()));
        assert!(place.script("create.sh", &[], Cloud::Grown).output().unwrap().status.success());
        let output = place.script("create.sh", &[], Cloud::Grown).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        place.change(&files(&is.to_lowercase()), "create.sh");
        let output = place.script("create.sh", &[], Cloud::Grown).output().unwrap();
        let said = told(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let words =
            format!("disks by {was}\", and the plan says \"Standard_E8bds_v5, disks by {is}\": change the plan back");
        assert!(said.contains(&words), "{said}");
    }
}
