//! What a teardown removes: all that any plan so far has had made, from below upwards, and nothing else.

use crate::support::{Cloud, Place, has_python, of_azure, told};

/// What was removed, in order: the words before the first option, and the names.
fn removed(place: &Place) -> Vec<String> {
    let calls = place.calls();
    let of_az = calls.iter().filter(|call| call[0] == "az" && call.contains(&"delete".to_owned()));
    let name = |call: &Vec<String>| call[call.iter().position(|word| word == "--name").unwrap() + 1].clone();
    let words = |call: &Vec<String>| -> Vec<String> {
        call[1..].iter().take_while(|word| !word.starts_with("--")).cloned().collect()
    };
    of_az.map(|call| format!("{} {}", words(call).join(" "), name(call))).collect()
}

#[test]
fn what_earlier_plans_had_made_goes_with_the_teardown_of_the_last_one() {
    if !has_python() {
        return;
    }
    let case = |name: &str| of_azure().into_iter().find(|case| case.name == name).unwrap();
    let (disks, cluster) = (case("azure-disks"), case("azure-local-nvme"));
    let place = Place::of(&disks.files);
    let create = || {
        let output = place.script("create.sh", &[], Cloud::Grown).env("RESOURCE_GROUP", "mine").output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
    };
    create();
    // Then one of a cluster alone, in the same group.
    place.change(&cluster.files, "create.sh");
    place.change(&cluster.files, "teardown.sh");
    std::fs::write(place.path("classes.yaml"), "").unwrap();
    create();
    std::fs::write(place.path("kubeconfig"), "").unwrap();
    place.calls();
    let teardown = |variables: &[(&str, &str)]| {
        let mut command = place.script("teardown.sh", &["--yes"], Cloud::Grown);
        command.env("RESOURCE_GROUP", "mine").envs(variables.iter().copied()).output().unwrap()
    };
    // A SAN that does not say what it has is no SAN without volumes.
    let output = teardown(&[("UNLISTED", "yes")]);
    assert!(!output.status.success(), "{}", told(&output));
    assert!(!removed(&place).iter().any(|call| call.starts_with("elastic-san") || call.starts_with("group")));
    let output = teardown(&[]);
    let said = told(&output);
    assert!(output.status.success(), "{said}");
    let name = disks.text("create.sh").lines().find_map(|line| line.strip_prefix("VM=\"${VM:-")).unwrap();
    let name = name.trim_end_matches("}\"");
    assert!(said.contains(&format!("the SAN {name}-san in the group mine\n")), "{said}");
    let expected = [
        &format!("vm delete {name}"),
        "elastic-san volume delete volume-x",
        "elastic-san volume-group delete volumes",
        &format!("elastic-san delete {name}-san"),
        "group delete mine",
    ];
    assert_eq!(removed(&place), expected);
    assert!(!place.path("kubeconfig").exists());
}

#[test]
fn sans_that_container_storage_made_beside_the_nodes_are_emptied_before_the_cluster_goes() {
    if !has_python() {
        return;
    }
    let case = of_azure().into_iter().find(|case| case.name == "azure-kubernetes").unwrap();
    let place = Place::of(&case.files);
    assert!(place.script("create.sh", &[], Cloud::Grown).output().unwrap().status.success());
    place.calls();
    let output = place.script("teardown.sh", &["--dry-run"], Cloud::Grown).output().unwrap();
    let said = told(&output);
    assert!(output.status.success() && said.contains("the SAN nodes-san in the group MC_nodes\n"), "{said}");
    assert!(removed(&place).is_empty());
    let output = place.script("teardown.sh", &["--yes"], Cloud::Grown).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    let expected = [
        "elastic-san volume delete volume-x",
        "elastic-san volume-group delete volumes",
        "elastic-san delete nodes-san",
        "group delete classes",
    ];
    assert_eq!(removed(&place), expected);
}

#[test]
fn what_is_left_of_a_machine_is_ours_and_a_disk_of_the_same_kind_of_name_is_not() {
    if !has_python() {
        return;
    }
    let case = of_azure().into_iter().find(|case| case.name == "azure-plain").unwrap();
    let place = Place::of(&case.files);
    assert!(place.script("create.sh", &[], Cloud::Grown).output().unwrap().status.success());
    let output = place.script("teardown.sh", &["--dry-run"], Cloud::Grown).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    // Somebody's own machine, with its disk, moved into the group.
    let made = std::fs::read_to_string(place.path("made")).unwrap();
    let create = made.lines().find(|line| line.contains("\x1fvm\x1fcreate\x1f")).unwrap();
    let setup_id = std::fs::read_to_string(place.path("setup-id")).unwrap();
    let others = create.replace("\x1fplimsoll\x1f", "\x1fothers\x1f").replace("plimsoll_system", "others_system");
    std::fs::write(place.path("made"), format!("{made}{}\n", others.replace(&setup_id, "other"))).unwrap();
    place.calls();
    let output = place.script("teardown.sh", &["--yes"], Cloud::Grown).output().unwrap();
    let said = told(&output);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("move it away first:\n/subscriptions/s/others\n/subscriptions/s/others_system\n"), "{said}");
    assert!(removed(&place).is_empty());
}
