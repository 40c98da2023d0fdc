//! What is said of clusters that are not there, or that nobody can ask.

use std::fs;

use crate::support::Place;

const NOBODY: &str = "
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: u, user: {token: hidden}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
";

#[test]
fn a_cluster_that_does_not_answer_ends_with_its_own_code() {
    let place = Place::new();
    fs::write(place.path("config"), NOBODY).unwrap();
    for command in ["discover", "preflight", "preflight --storage-class a --json", "lifecycle --storage-class a"] {
        let said = place.run(&format!("kubernetes {command} --kubeconfig ROOT/config"));
        let error = said.error(6);
        assert!(error.contains("127.0.0.1:1") && error.contains("does not answer"), "{error}");
    }
}

#[test]
fn what_is_wrong_with_a_kubeconfig_is_said_without_its_secrets() {
    let place = Place::new();
    fs::write(place.path("config"), NOBODY.replace("{name: c,", "{name: \"c\"c,")).unwrap();
    let said = place.run("kubernetes discover --kubeconfig ROOT/config");
    let error = said.error(2);
    assert!(error.contains("config") && error.contains("line 4"), "{error}");
    assert!(!said.stderr.contains("hidden"), "{}", said.stderr);
}

#[test]
fn preflight_takes_the_flags_of_a_run_and_refuses_what_it_would() {
    let place = Place::new();
    let said = place.run("kubernetes preflight --storage-class a,a");
    assert!(said.error(2).contains("given twice"), "{}", said.stderr);
}

#[test]
fn what_no_class_can_be_called_is_refused_and_sizes_are_as_ever() {
    let place = Place::new();
    let said = place.run("kubernetes run --storage-class A.b --dry-run");
    assert!(said.error(2).contains("\"A.b\" is no name of Kubernetes"), "{}", said.stderr);
    let said = place.run("kubernetes run --storage-class a.b --size 8Gi,1Ti --dry-run");
    assert!(said.code == Some(0) && said.stdout.contains("a.b-8Gi"), "{}", said.stderr);
}

#[test]
fn turns_that_cannot_be_taken_are_refused_before_anybody_is_asked() {
    let place = Place::new();
    for (arguments, why) in [
        ("--storage-class a", "there is one: name several"),
        ("--storage-class a,b --nodes 1", "--nodes 1 leaves one node"),
        ("--storage-class a,b --nodes 3", "ask for --nodes 2 at most"),
        ("--storage-class a,b --precision 1%", "--precision ends a run by what it measured"),
    ] {
        let said = place.run(&format!("kubernetes run --parallel {arguments} --dry-run"));
        assert!(said.error(2).contains(why), "{arguments}: {}", said.stderr);
    }
    let said = place.run("kubernetes run --parallel --storage-class a,b,c --dry-run -o json");
    let items = said.json()["items"].as_array().unwrap().clone();
    let count = |kind: &str| items.iter().filter(|item| item["kind"] == kind).count();
    // A pod for each class, of which the first is the Job's, and in each a volume of each class.
    assert_eq!((count("Job"), count("Pod"), count("PersistentVolumeClaim")), (1, 2, 9));
}

#[test]
fn lives_of_volumes_take_flags_that_make_sense_together() {
    let place = Place::new();
    let refused = |flags: &str| {
        let said = place.run(&format!("kubernetes lifecycle {flags}"));
        said.error(2);
        said.stderr
    };
    assert!(refused("").contains("--storage-class"));
    assert!(refused("--storage-class a,a").contains("given twice"));
    assert!(refused("--storage-class a --count 0").contains("--count"));
    assert!(refused("--storage-class a --snapshot-class b").contains("--snapshot"));
}

#[test]
fn a_volume_that_lacks_its_mark_is_told_and_left_alone() {
    let place = Place::new();
    fs::create_dir(place.path("volume")).unwrap();
    let said =
        place.run("kubernetes live --run 00000000-0000-0000-0000-000000000001 --target ROOT/volume --mark 1 --find");
    assert!(said.stdout.starts_with("plimsoll-message"), "{}", said.stdout);
    assert_eq!(fs::read_dir(place.path("volume")).unwrap().count(), 0, "{}", said.stderr);
}

#[test]
fn what_no_cluster_could_take_is_refused_before_one_is_asked() {
    let place = Place::new();
    fs::write(place.path("config"), NOBODY).unwrap();
    fs::write(place.path("plan.toml"), "targets = [\"/mnt/data\"]\n[[workload]]\nrw = \"randread\"\n").unwrap();
    fs::write(place.path("destroy.toml"), "destroy = [\"sda\"]\n[[workload]]\nrw = \"randread\"\n").unwrap();
    fs::write(place.path("noisy.toml"), "background = \"cat /dev/zero\"\n[[workload]]\nrw = \"randread\"\n").unwrap();
    for (arguments, why) in [
        ("--size 0", "0 bytes"),
        ("--cpu banana", "as Kubernetes does"),
        ("--memory 0", "more than 0"),
        ("--deadline 0", "0 leaves no time"),
        ("--plan ROOT/plan.toml", "\"/mnt/data\""),
        ("--plan ROOT/destroy.toml", "\"sda\""),
        ("--plan ROOT/noisy.toml", "background"),
        ("-n No/../Such", "no name of a namespace"),
    ] {
        let said = place.run(&format!("kubernetes run --storage-class a {arguments} --kubeconfig ROOT/config"));
        assert!(said.error(2).contains(why), "{arguments}: {}", said.stderr);
    }
}

#[test]
fn what_no_such_volume_can_do_is_refused_before_anything_is_made() {
    let place = Place::new();
    fs::write(place.path("config"), NOBODY).unwrap();
    let plan = "[[workload]]\nname = \"x\"\nrw = \"write\"\nsize = \"60MiB\"\nverify = true\n";
    fs::write(place.path("two.toml"), plan.repeat(2)).unwrap();
    fs::write(place.path("shares.toml"), "[[workload]]\nrw = \"read\"\nsize = \"50%\"\noffset = \"60MiB\"\n").unwrap();
    fs::write(place.path("other.toml"), "[provisioned.targets.b]\nsku = \"gp3\"\n").unwrap();
    let command = "kubernetes run --storage-class a --size 64Mi";
    for (arguments, code, why) in [
        (
            "--region 128MiB",
            3,
            "a volume of 64MiB has no room for files of 128MiB: ask for a larger volume, or lower --region",
        ),
        ("--region 65MiB --mode block", 3, "it has 64MiB but offset and size need 65MiB: lower --region"),
        ("--offset 1GiB", 3, "a volume of 64MiB"),
        ("--plan ROOT/two.toml", 3, "120MiB needed, 64MiB free; lower --region"),
        ("--mode block --file-count 2", 3, "--file-count"),
        ("--region 1k", 2, "--region 1KiB is smaller than one block of 4KiB"),
        ("--rw read --read-percent 50", 2, "--read-percent 50 contradicts --rw read"),
        ("--engine filecreate --region 1MiB", 2, "leave --region and --layout out"),
        ("--max-time 1ms", 2, "--max-time"),
        ("--plan ROOT/other.toml", 2, "names no target of this run"),
        ("--start-timeout 0", 2, "0 leaves no time"),
    ] {
        for rest in ["--kubeconfig ROOT/config", "--dry-run"] {
            let said = place.run(&format!("{command} {arguments} {rest}"));
            assert!(said.error(code).contains(why), "{arguments}: {}", said.stderr);
        }
    }
    let unknown = place.run(&format!("{command} --sku nosuch --dry-run"));
    assert!(unknown.error(2).contains("nosuch"), "{}", unknown.stderr);
    // What a file system leaves, what a device needs, and how large claims and shares are, only a pod finds out.
    for arguments in ["--region 64MiB", "--mode block --block-size 512", "--mode block --plan ROOT/shares.toml"] {
        assert_eq!(place.run(&format!("{command} {arguments} --dry-run")).code, Some(0), "{arguments}");
    }
    for mode in ["filesystem", "block"] {
        let said = place.run(&format!("kubernetes run --pvc data --region 1TiB --mode {mode} --dry-run"));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
    }
}

#[test]
fn a_plan_may_name_the_volumes_that_flags_name() {
    let place = Place::new();
    fs::write(place.path("plan.toml"), "targets = [\"b\", \"a\"]\n[[workload]]\nrw = \"randread\"\n").unwrap();
    let said = place.run("kubernetes run --storage-class a,b --plan ROOT/plan.toml --dry-run -o json");
    let spec = said.json()["items"][0]["spec"]["template"]["spec"]["containers"][0].clone();
    let variables = spec["env"].as_array().unwrap();
    let plan =
        variables.iter().find(|variable| variable["name"] == "PLIMSOLL_PLAN").unwrap()["value"].as_str().unwrap();
    assert!(plan.starts_with("targets = [\"a\", \"b\"]\n"), "{plan}");
}

#[test]
fn objects_are_printed_without_a_cluster_and_for_the_namespace_that_is_meant() {
    let place = Place::new();
    let run = "kubernetes run --storage-class a --dry-run -o json";
    let said = place.run(&format!("{run} -n bench"));
    assert!(said.stderr.contains("no cluster was asked"), "{}", said.stderr);
    let items = said.json()["items"].as_array().unwrap().clone();
    assert!(!items.is_empty() && items.iter().all(|item| item["metadata"]["namespace"] == "bench"));
    let long = place.run(&format!("{run} --nodes 2 --deadline 99999d --keep 99999d")).json();
    let spec = &long["items"][0]["spec"];
    assert_eq!(spec["ttlSecondsAfterFinished"], i32::MAX, "more than Kubernetes counts is as much as it does");
    assert_eq!(spec["template"]["spec"]["activeDeadlineSeconds"], i32::MAX);
    assert!(place.run(&format!("{run} --all-nodes")).error(2).contains("--nodes"));
    assert!(place.run(&format!("{run} --kubeconfig ROOT/absent")).error(2).contains("absent"));
}

#[test]
fn more_than_can_be_is_refused_before_anybody_is_asked() {
    let place = Place::new();
    let many = place.run("kubernetes run --storage-class a --nodes 5000 --pods-per-node 250 --dry-run");
    assert!(many.error(2).contains("5000 nodes with 250 pods each are more than 10000 pods"), "{}", many.stderr);
    // What Linux hands to no program.
    let limits = format!("# {}\n", "x".repeat(128 << 10));
    fs::write(place.path("limits.toml"), limits).unwrap();
    let long = place.run("kubernetes run --storage-class a --limits ROOT/limits.toml --dry-run");
    assert!(long.error(2).contains("the file of limits has 131075 bytes"), "{}", long.stderr);
}
