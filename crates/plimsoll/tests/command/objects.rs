//! What volumes of Kubernetes were bought as, from what kubectl prints.

use std::fs;

use crate::support::Place;

const OBJECTS: &str = "
kind: StorageClass
metadata: {name: managed-csi-premium}
provisioner: disk.csi.azure.com
parameters: {skuName: Premium_LRS}
---
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {storageClassName: managed-csi-premium, volumeName: pvc-1, resources: {requests: {storage: 100Gi}}}
---
kind: PersistentVolume
metadata: {name: pvc-1}
spec:
  capacity: {storage: 100Gi}
  storageClassName: managed-csi-premium
  claimRef: {name: data, namespace: shop}
  csi:
    driver: disk.csi.azure.com
    volumeAttributes: {skuname: Premium_LRS, cachingmode: None, storage.kubernetes.io/csiProvisionerIdentity: x}
";

const OTHER: &str = "
---
kind: PersistentVolume
metadata: {name: pvc-2}
spec:
  capacity: {storage: 4Gi}
  claimRef: {name: logs, namespace: shop}
  csi: {driver: disk.csi.azure.com, volumeAttributes: {skuname: Premium_LRS, cachingmode: None}}
";

#[test]
fn a_volume_of_a_cluster_is_expected_to_deliver_what_its_objects_say_and_flags_come_first() {
    let place = Place::new();
    fs::write(place.path("one.yaml"), OBJECTS).unwrap();
    let of = |flags: &str| {
        let answer = place.run(&format!("catalog expect --kubernetes ROOT/one.yaml {flags} --json")).json();
        (answer["expected"]["limit"].as_str().unwrap().to_owned(), answer["provisioned"]["size"].clone())
    };
    let (limit, size) = of("");
    assert!(limit.starts_with("iops=500,burst-iops=3500,") && size == "100GiB", "{limit} {size}");
    assert!(of("--volume shop/data --size 1Ti").0.starts_with("iops=5000,"), "flags come first");
    fs::write(place.path("two.yaml"), [OBJECTS, OTHER].concat()).unwrap();
    let several = place.run("catalog expect --kubernetes ROOT/two.yaml");
    assert!(several.error(2).contains(
        "two.yaml describes several (claim shop/data, claim shop/logs, class managed-csi-premium): say with --volume"
    ));
    let wrong = place.run("catalog expect --kubernetes ROOT/two.yaml --volume log");
    assert!(
        wrong.error(2).contains("called \"log\": there are data, logs, managed-csi-premium, pvc-1"),
        "{}",
        wrong.stderr
    );
    let logs = place.run("catalog expect --kubernetes ROOT/two.yaml --volume logs --json").json();
    assert!(logs["expected"]["limit"].as_str().unwrap().starts_with("iops=120,"), "{logs}");
    assert!(place.run("catalog expect --kubernetes ROOT/no.yaml").error(2).contains("there is no file"));
    let alone = place.run("catalog expect --volume data");
    assert!(alone.code == Some(2) && alone.stderr.contains("--kubernetes"), "{}", alone.stderr);
    let unknown = OBJECTS.replace("disk.csi.azure.com", "rancher.io/local-path");
    fs::write(place.path("unknown.yaml"), unknown).unwrap();
    let error = place.run("catalog expect --kubernetes ROOT/unknown.yaml");
    assert!(
        error
            .error(2)
            .contains("claim shop/data: the catalog does not know what the driver rancher.io/local-path makes")
    );
}

#[test]
fn the_command_that_makes_the_file_is_the_same_wherever_it_is_shown() {
    let place = Place::new();
    fs::write(place.path("empty"), "").unwrap();
    let refused = place.run("catalog expect --kubernetes ROOT/empty");
    let command = refused.error(2).split('`').nth(1).unwrap();
    assert!(command.starts_with("kubectl get -A storageclass,"), "{command}");
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain(&place.run("catalog expect --help").stdout).contains(command));
    assert!(include_str!("../../../../docs/explaining.md").contains(command));
}

#[test]
fn runs_find_volumes_by_the_paths_of_pods_and_results_by_the_names_of_classes() {
    let place = Place::new();
    let root = place.data().display().to_string();
    fs::create_dir(place.data().join("mounted")).unwrap();
    let pod = format!(
        "---\nkind: Pod\nmetadata: {{name: a, namespace: shop}}\nspec:\n  containers:\n  - volumeMounts: \
         [{{name: one, mountPath: {root}}}, {{name: two, mountPath: {root}/mounted/}}]\n  volumes:\n  - {{name: one, \
         persistentVolumeClaim: {{claimName: data}}}}\n  - {{name: two, persistentVolumeClaim: {{claimName: logs}}}}\n"
    );
    fs::write(place.path("all.yaml"), [OBJECTS, OTHER, &pod].concat()).unwrap();
    let load = "--engine memory --rw randread --size 1M --duration 0.2s";
    let record = place.record(&format!("run DATA DATA/mounted {load} --kubernetes ROOT/all.yaml"));
    let iops: Vec<_> = record["cells"].as_array().unwrap().iter().map(|cell| &cell["limit"]["iops"]).collect();
    assert_eq!(iops, [500.0, 120.0], "the deepest path");
    let elsewhere = place.run(&format!("run ROOT {load} --kubernetes ROOT/all.yaml --json --no-history"));
    assert_eq!(elsewhere.code, Some(0), "{}", elsewhere.stderr);
    assert!(elsewhere.stderr.contains("has a volume at") && elsewhere.json()["cells"][0]["limit"].is_null());
    let unknown = place.run(&format!("run DATA {load} --kubernetes ROOT/all.yaml --volume pvc-3"));
    assert!(unknown.error(2).contains("called \"pvc-3\""), "{}", unknown.stderr);

    fs::write(place.path("two.yaml"), [OBJECTS, OTHER].concat()).unwrap();
    let report = "managed-csi-premium: (groupid=0, jobs=1): err= 0: pid=1: Mon\n  read: IOPS=500, BW=2000KiB/s \
                  (2048kB/s)(117MiB/60001msec)\n";
    fs::write(place.path("results.txt"), report).unwrap();
    let explained = place.run("explain ROOT/results.txt --kubernetes ROOT/two.yaml --json");
    assert_eq!(explained.code, Some(0), "{}", explained.stderr);
    let judged = &explained.json()["runs"][0]["cells"][0]["judged"][0];
    assert_eq!((&judged["standing"], &judged["lasting"]), (&"within".into(), &500.0.into()), "{judged}");
    let in_class = OTHER.replace("  claimRef", "  storageClassName: managed-csi-premium\n  claimRef");
    fs::write(place.path("unlike.yaml"), [OBJECTS, &in_class].concat()).unwrap();
    let unlike = place.run("explain ROOT/results.txt --kubernetes ROOT/unlike.yaml");
    assert_eq!(unlike.code, Some(0), "{}", unlike.stderr);
    let note = unlike.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(note.contains("class managed-csi-premium: Premium_LRS: its limits follow from its size"), "{note}");
    let sized = place.run("explain ROOT/results.txt --kubernetes ROOT/unlike.yaml --size 100Gi");
    assert!(sized.stdout.contains("P10") && sized.stderr.is_empty(), "{}{}", sized.stdout, sized.stderr);
    fs::write(place.path("context.toml"), "").unwrap();
    let both = place.run("explain ROOT/results.txt --kubernetes ROOT/two.yaml --context ROOT/context.toml");
    assert!(both.error(2).contains("cannot be used with"), "{}", both.stderr);
}
