//! Every command of az that a script calls goes through the real az, as far as it gets without a login: its command
//! table, its parser, its checks. `cargo xtask setup` installs it.

use std::{
    collections::BTreeMap,
    io::Write as _,
    process::{Command, Stdio},
};

use crate::support::{Cloud, Place, has_python, manifest, of_azure, python};

/// What the real az says of calls: nothing of those that reach the login, a line for each that does not.
fn judged(calls: &[Vec<String>]) -> Vec<String> {
    let checker = manifest("tests/generated/az_parser.py");
    let settings = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut child = Command::new(python())
        .arg("-I")
        .arg(checker)
        .env_clear()
        .env("AZURE_CONFIG_DIR", settings.path())
        .env("HOME", settings.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: Vec<String> = calls.iter().map(|call| call[1..].join("\x1f") + "\n").collect();
    child.stdin.take().unwrap().write_all(lines.concat().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("checked "), "{text}");
    text.lines().filter(|line| !line.starts_with("checked ")).map(str::to_owned).collect()
}

/// All different calls of az of all scripts.
fn calls() -> Vec<Vec<String>> {
    let mut all = BTreeMap::new();
    for case in of_azure() {
        let place = Place::of(&case.files);
        for (script, arguments, cloud, ssh_from) in [
            ("create.sh", [].as_slice(), Cloud::Empty, "203.0.113.7/32"),
            ("create.sh", [].as_slice(), Cloud::Made, ""),
            ("teardown.sh", ["--yes"].as_slice(), Cloud::Made, ""),
        ] {
            let mut script = place.script(script, arguments, cloud);
            assert!(script.env("SSH_FROM", ssh_from).output().unwrap().status.success(), "{}", case.name);
            // Paths of the test's own are none of the script's words.
            let root = place.path("").to_str().unwrap().to_owned();
            let calls = place.calls().into_iter().filter(|call| call[0] == "az");
            let calls = calls.map(|call| call.iter().map(|word| word.replace(&root, "/tmp/")).collect::<Vec<_>>());
            // Which of many disks it is about makes no other command of it.
            all.extend(calls.map(|call| (without_names(&call), call)));
        }
    }
    all.into_values().collect()
}

/// A call without what it calls things.
fn without_names(call: &[String]) -> Vec<String> {
    const NAMING: [&str; 5] = ["--name", "--lun", "--resource-group", "--cluster-name", "--tags"];
    let is_name = |at: usize| at > 0 && NAMING.contains(&call[at - 1].as_str());
    call.iter().enumerate().filter(|(at, _)| !is_name(*at)).map(|(_, word)| word.clone()).collect()
}

#[test]
fn the_real_az_takes_every_command() {
    if !has_python() {
        return;
    }
    let calls = calls();
    assert!(calls.len() >= 50, "{}", calls.len());
    let problems = judged(&calls);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn the_real_az_refuses_what_it_does_not_know() {
    if !has_python() {
        return;
    }
    let split = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let wrong = [
        split("az disk create --resource-group g --name d --size-gib 5"),
        split("az disk create --resource-group g --name d --size-gb 5 --sku Premium_v2"),
        split("az disk create --resource-group g --size-gb 5"),
        split("az vm attach --name d"),
        split("az elastic-san create --resource-group g --name san --base-size 1"),
        split("az elastic-san create --resource-group g --name san --sku x --base-size-tib 1"),
        split("az elastic-san show --resource-group g --name a-name-that-is-too-long-for-it"),
        split("az k8s-extension show --name acstor --cluster-type managed"),
        split("az k8s-extension frobnicate --name acstor"),
        split("az network vnet create --resource-group g --name n --address-prefix 10.0.0.0/16 --location"),
        split(
            "az aks update --resource-group g --name c --enable-azure-container-storage elasticSan --container-storage-version 3",
        ),
    ];
    let problems = judged(&wrong);
    assert_eq!(problems.len(), wrong.len(), "{}", problems.join("\n"));
}
