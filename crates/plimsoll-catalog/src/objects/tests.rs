//! What objects of a cluster say.

use std::{fmt::Write as _, path::Path};

use plimsoll_workload::{provisioned::Caching, units::ByteCount};

use super::*;

/// Two classes, a claim with its volume and attachment, a pod, and two nodes that differ.
const CLUSTER: &str = r#"
apiVersion: v1
kind: List
items:
- apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: fast}
  provisioner: disk.csi.azure.com
  parameters: {skuName: PremiumV2_LRS, DiskIOPSReadWrite: "5000"}
- apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: plain}
  provisioner: rancher.io/local-path
- apiVersion: storage.k8s.io/v1
  kind: VolumeAttributesClass
  metadata: {name: faster}
  driverName: disk.csi.azure.com
  parameters: {DiskIOPSReadWrite: "7000"}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: data, namespace: shop}
  spec:
    storageClassName: fast
    volumeName: pvc-1
    volumeAttributesClassName: faster
    resources: {requests: {storage: 60Gi}}
  status: {currentVolumeAttributesClassName: faster, capacity: {storage: 64Gi}}
- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: pvc-1}
  spec:
    capacity: {storage: 64Gi}
    storageClassName: fast
    claimRef: {name: data, namespace: shop}
    csi:
      driver: disk.csi.azure.com
      volumeHandle: /subscriptions/s/disks/pvc-1
      volumeAttributes: {skuname: PremiumV2_LRS, diskiopsreadwrite: "6000", storage.kubernetes.io/csiProvisionerIdentity: x}
- apiVersion: v1
  kind: Pod
  metadata: {name: database-0, namespace: shop}
  spec:
    nodeName: one
    containers:
    - name: database
      volumeMounts:
      - {name: files, mountPath: /var/lib/data}
      - {name: token, mountPath: /var/run/secrets}
    volumes:
    - {name: files, persistentVolumeClaim: {claimName: data}}
    - {name: token, projected: {}}
- apiVersion: storage.k8s.io/v1
  kind: VolumeAttachment
  metadata: {name: csi-1}
  spec: {attacher: disk.csi.azure.com, nodeName: one, source: {persistentVolumeName: pvc-1}}
  status: {attached: true}
- apiVersion: v1
  kind: Node
  metadata: {name: one, labels: {node.kubernetes.io/instance-type: Standard_D16s_v5}}
- apiVersion: v1
  kind: Node
  metadata: {name: two, labels: {node.kubernetes.io/instance-type: Standard_D2s_v5}}
"#;

fn objects(text: &str) -> Objects {
    Objects::read("objects", text, &Catalog::default()).unwrap()
}

fn bought(text: &str, name: &str) -> Provisioned {
    objects(text).named(name).unwrap().bought.clone().unwrap()
}

fn why_not(text: &str, name: &str) -> String {
    objects(text).named(name).unwrap().bought.clone().unwrap_err()
}

fn notes(text: &str, name: &str) -> String {
    objects(text).named(name).unwrap().notes.join("; ")
}

fn without(text: &str, kind: &str) -> String {
    text.replace(&format!("kind: {kind}\n"), "kind: Secret\n")
}

#[test]
fn a_volume_is_what_its_objects_together_say() {
    let all = objects(CLUSTER);
    let whats: Vec<_> = all.all().iter().map(|one| (one.what.as_str(), one.is_class)).collect();
    assert_eq!(whats, [("claim shop/data", false), ("class fast", true), ("class plain", true)]);
    let volume = &all.all()[0];
    let known = volume.bought.as_ref().unwrap();
    assert_eq!(known.sku.as_deref(), Some("PremiumV2_LRS"));
    assert_eq!((known.size, known.iops), (Some(ByteCount(64 << 30)), Some(7000)));
    assert_eq!(known.caching, Some(Caching::None));
    assert_eq!(known.vm.as_deref(), Some("Standard_D16s_v5"), "the node of the pod that has it");
    assert!(volume.notes.is_empty(), "{:?}", volume.notes);
    assert_eq!(all.only(), Some(volume));
    for name in ["data", "shop/data", "pvc-1"] {
        assert_eq!(all.named(name), Ok(volume), "{name}");
    }
    assert_eq!(&bought(CLUSTER, "fast"), known, "a class is what its volumes are");
    assert!(why_not(CLUSTER, "plain").contains("rancher.io/local-path"));
    let error = all.named("slow").unwrap_err().to_string();
    assert!(error.contains("\"slow\": there are data, fast, plain, pvc-1, shop/data"), "{error}");
}

#[test]
fn a_volume_of_a_class_is_what_its_driver_buys_at_the_size_that_is_said() {
    let of = |driver: &str, parameters: &str, size: &str| {
        let class = format!(
            "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: a}}\nprovisioner: {driver}\n\
             parameters: {{{parameters}}}"
        );
        let said: Provisioned = toml::from_str(&format!("size = \"{size}\"")).unwrap();
        let bought = objects(&class).named("a").unwrap().completing(&said, &Catalog::default());
        bought.map(|bought| (bought.iops, bought.caching))
    };
    let ebs = |parameters: &str, size: &str| of("ebs.csi.aws.com", parameters, size).unwrap().0;
    assert_eq!(ebs("type: gp3, iopsPerGB: \"50\"", "100Gi"), Some(5000));
    assert_eq!(ebs("type: gp3, iops: \"16000\"", "10Gi"), Some(5000), "the driver buys what the size may have");
    assert_eq!(ebs("type: io1, iopsPerGB: \"50\"", "100Gi"), Some(5000));
    let azure = |size: &str| of("disk.csi.azure.com", "skuName: Premium_LRS", size).unwrap().1;
    assert_eq!((azure("1Ti"), azure("8Ti")), (Some(Caching::ReadOnly), Some(Caching::None)));
    // A class is what its volumes are, but not at another size than theirs.
    let of_class = |said: &str| {
        let said = toml::from_str(said).unwrap();
        let bought = objects(CLUSTER).named("fast").unwrap().completing(&said, &Catalog::default()).unwrap();
        (bought.iops, bought.vm)
    };
    let node = Some("Standard_D16s_v5".to_owned());
    assert_eq!(of_class("size = \"64Gi\""), (Some(7000), node.clone()));
    assert_eq!(of_class("size = \"128Gi\""), (Some(5000), node.clone()));
    assert_eq!(of_class("size = \"128Gi\"\nsku = \"P10\""), (None, node), "another product is nothing of the class");
}

#[test]
fn the_same_objects_in_other_forms_say_the_same() {
    let list: serde_json::Value = serde_saphyr::from_str(CLUSTER).unwrap();
    let items: Vec<String> = list["items"].as_array().unwrap().iter().map(ToString::to_string).collect();
    let documents = format!("# of kubectl\n---\n{}\n", items.join("\n---\n"));
    for text in [list.to_string(), items.join("\n"), documents, format!("\u{feff}{}", CLUSTER.replace('\n', "\r\n"))] {
        assert_eq!(objects(&text).all(), objects(CLUSTER).all());
    }
    let raw = r#"{"kind": "StorageClassList", "items": [{"metadata": {"name": "a"}, "provisioner": "ebs.csi.aws.com",
                  "parameters": {"iops": 4000, "type": "gp3", "encrypted": null}}]}"#;
    assert_eq!(bought(raw, "a").iops, Some(4000));
}

#[test]
fn a_driver_is_not_believed_to_have_taken_its_default_where_the_class_is_not_known() {
    let gp3 = "kind: PersistentVolume\nmetadata: {name: a}\nspec:\n  capacity: {storage: 500Gi}\n  storageClassName: io2\n  \
               csi: {driver: ebs.csi.aws.com, volumeAttributes: {storage.kubernetes.io/csiProvisionerIdentity: x}}\n";
    assert!(why_not(gp3, "a").contains("add the StorageClass"));
    let class = "---\nkind: StorageClass\nmetadata: {name: io2}\nprovisioner: ebs.csi.aws.com\n";
    assert_eq!(bought(&format!("{gp3}{class}"), "a").sku.as_deref(), Some("gp3"));
    let by_hand = gp3.replace("storage.kubernetes.io/csiProvisionerIdentity", "fsType");
    assert!(why_not(&format!("{by_hand}{class}"), "a").contains("nothing says which product"));
    let nfs = "kind: PersistentVolume\nmetadata: {name: a}\nspec: {storageClassName: io2, nfs: {server: x, path: /}}\n";
    assert_eq!(why_not(&format!("{nfs}{class}"), "a"), "of a volume of kind nfs the catalog knows nothing");
    let former = "kind: PersistentVolume\nmetadata: {name: a}\nspec:\n  capacity: {storage: 64Gi}\n  azureDisk: {cachingMode: \
                  None}\n  storageClassName: old\n";
    let made = former
        .replace("{name: a}", "{name: a, annotations: {pv.kubernetes.io/provisioned-by: kubernetes.io/azure-disk}}");
    let class = "---\nkind: StorageClass\nmetadata: {name: old}\nprovisioner: kubernetes.io/azure-disk\nparameters: \
                 {skuName: Premium_LRS}\n";
    let known = bought(&format!("{made}{class}"), "a");
    assert_eq!((known.sku.as_deref(), known.caching), (Some("Premium_LRS"), Some(Caching::None)));
    assert!(why_not(&format!("{former}{class}"), "a").contains("nothing says which product"));
}

#[test]
fn a_size_is_what_a_volume_holds_before_what_was_requested() {
    let alone = without(CLUSTER, "PersistentVolume");
    assert_eq!(bought(&alone, "data").size, Some(ByteCount(64 << 30)));
    let pending = alone.replace("capacity: {storage: 64Gi}", "capacity: {}");
    assert_eq!(bought(&pending, "data").size, Some(ByteCount(60 << 30)));
    assert!(notes(&pending, "data").contains("the 60Gi that were requested"));
    assert!(why_not(&CLUSTER.replace("64Gi", "many"), "data").contains("\"many\" is not a quantity"));
}

#[test]
fn the_machine_is_that_of_the_nodes_that_have_the_volume() {
    let vm = |text: &str| bought(text, "data").vm;
    let unattached = CLUSTER.replace("attached: true", "attached: false");
    assert_eq!(vm(&unattached).as_deref(), Some("Standard_D16s_v5"), "by its pod");
    assert_eq!(vm(&without(CLUSTER, "Pod")).as_deref(), Some("Standard_D16s_v5"), "by its attachment");
    let over = CLUSTER
        .replace("kind: Pod\n", "kind: Pod\n  status: {phase: Succeeded}\n")
        .replace("nodeName: one, source", "nodeName: two, source");
    assert_eq!(vm(&over).as_deref(), Some("Standard_D2s_v5"), "a pod that has ended has nothing");
    let on_both = CLUSTER.replace("nodeName: one, source", "nodeName: two, source");
    assert_eq!(vm(&on_both), None);
    assert!(notes(&on_both, "data").contains("its nodes differ (Standard_D16s_v5, Standard_D2s_v5)"));
    let nowhere = without(&without(CLUSTER, "Pod"), "VolumeAttachment");
    assert_eq!(vm(&nowhere), None);
    assert!(notes(&nowhere, "data").contains("its node is not known, and nodes differ"));
    assert_eq!(vm(&nowhere.replace("_D2s", "_D16s")).as_deref(), Some("Standard_D16s_v5"), "all are alike");
    let absent = CLUSTER.replace("metadata: {name: one, labels", "metadata: {name: three, labels");
    assert_eq!(vm(&absent), None);
    assert!(notes(&absent, "data").contains("its node one is not among the objects"));
    let plain = CLUSTER.replace("labels: {node.kubernetes.io/instance-type: Standard_D16s_v5}", "labels: {}");
    assert!(notes(&plain, "data").contains("nothing says what machine node one is"));
    let unknown = CLUSTER.replace("Standard_D16s_v5", "k3s");
    assert_eq!(vm(&unknown), None);
    assert!(notes(&unknown, "data").contains("machine k3s"));
    let of_two_kinds = CLUSTER.replace("Standard_D16s_v5", "Standard_E4bds_v5");
    assert_eq!(vm(&of_two_kinds).as_deref(), Some("Standard_E4bds_v5"), "which is known, though not by name alone");
}

#[test]
fn a_class_of_attributes_counts_when_it_is_applied_and_of_the_same_driver() {
    let asked = CLUSTER.replace("status: {currentVolumeAttributesClassName: faster, ", "status: {");
    assert_eq!(bought(&asked, "data").iops, Some(6000));
    assert!(notes(&asked, "data").contains("faster was asked for, and has not been applied"));
    assert_eq!(bought(&without(CLUSTER, "VolumeAttributesClass"), "data").iops, Some(6000));
    assert!(
        notes(&without(CLUSTER, "VolumeAttributesClass"), "data").contains("what VolumeAttributesClass faster says")
    );
    let other = CLUSTER.replace("driverName: disk.csi.azure.com", "driverName: pd.csi.storage.gke.io");
    assert_eq!(bought(&other, "data").iops, Some(6000));
    assert!(notes(&other, "data").contains("is of another driver"));
    let pending = without(&asked, "PersistentVolume").replace("volumeName: pvc-1", "volumeName: ''");
    assert_eq!(bought(&pending, "data").iops, Some(7000), "it will be made so");
}

#[test]
fn a_volume_that_was_released_is_no_longer_its_claims() {
    let old = "---\nkind: PersistentVolume\nmetadata: {name: pvc-0}\nspec:\n  capacity: {storage: 1Ti}\n  claimRef: {name: \
               data, namespace: shop, uid: old}\n  csi: {driver: disk.csi.azure.com}\nstatus: {phase: PHASE}\n";
    for phase in ["Released", "Bound"] {
        let text = format!("{CLUSTER}{}", old.replace("PHASE", phase));
        assert_eq!(bought(&text, "data").size, Some(ByteCount(64 << 30)), "{phase}");
        assert_eq!(objects(&text).named("pvc-0").unwrap().what, "volume pvc-0");
    }
}

#[test]
fn a_name_that_several_have_is_asked_about_and_a_class_of_unlike_volumes_is_its_parameters() {
    let volume = |name: &str, gib: u32| {
        format!(
            "---\nkind: PersistentVolume\nmetadata: {{name: {name}}}\nspec:\n  storageClassName: gp\n  capacity: {{storage: \
             {gib}Gi}}\n  claimRef: {{name: data, namespace: {name}}}\n  csi: {{driver: ebs.csi.aws.com, \
             volumeAttributes: \
             {{storage.kubernetes.io/csiProvisionerIdentity: x}}}}\n"
        )
    };
    let class = "kind: StorageClass\nmetadata: {name: gp}\nprovisioner: ebs.csi.aws.com\nparameters: {type: gp2}\n";
    let text = format!("{class}{}{}", volume("a", 100), volume("b", 200));
    let all = objects(&text);
    assert_eq!(all.only(), None);
    let error = all.named("data").unwrap_err().to_string();
    assert_eq!(error, "\"data\" may be claim a/data, claim b/data: name one of them in full");
    assert_eq!(bought(&text, "b/data").size, Some(ByteCount(200 << 30)));
    assert_eq!(bought(&text, "gp").size, None);
    assert_eq!(
        bought(&format!("{class}{}{}", volume("a", 100), volume("b", 100)), "gp").size,
        Some(ByteCount(100 << 30))
    );
    assert!(objects(class).only().is_some_and(|only| only.is_class));
}

#[test]
fn a_path_is_of_the_deepest_volume_that_a_pod_has_there() {
    let pod = |name: &str, mounts: &str, volumes: &str| {
        format!(
            "---\nkind: Pod\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  initContainers: [{{volumeMounts: \
             [{mounts}]}}]\n  volumes: [{volumes}]\n"
        )
    };
    let claim = |name: &str, claim: &str| format!("{{name: {name}, persistentVolumeClaim: {{claimName: {claim}}}}}");
    let other = "---\nkind: PersistentVolumeClaim\nmetadata: {name: web-0-logs, namespace: shop}\nspec: {storageClassName: plain}\n";
    let first = pod(
        "web-0",
        "{name: files, mountPath: /data/}, {name: logs, mountPath: /data/logs}, {name: tmp, mountPath: /data/tmp}, {name: raw, devicePath: /dev/block}",
        &format!(
            "{}, {{name: logs, ephemeral: {{}}}}, {{name: tmp, emptyDir: {{}}}}, {}",
            claim("files", "data"),
            claim("raw", "gone")
        ),
    );
    let second = pod("web-1", "{name: files, mountPath: /data//logs}", &claim("files", "data"));
    let all = objects(&[CLUSTER, other, &first, &second].concat());
    let at = |path: &str, host: Option<&str>| match all.at(Path::new(path), host) {
        Found::Volume(one) => one.what.clone(),
        Found::Several(names) => format!("several: {names}"),
        Found::Unknown(what) => format!("unknown: {what}"),
        Found::Nothing => "nothing".to_owned(),
    };
    assert_eq!(at("/data", None), "claim shop/data");
    assert_eq!(at("/data/base/1", None), "claim shop/data");
    assert_eq!(at("/database", None), "nothing");
    assert_eq!(at("/data/logs/x", None), "several: claim shop/data, claim shop/web-0-logs");
    assert_eq!(at("/data/logs/x", Some("web-0")), "claim shop/web-0-logs");
    assert_eq!(at("/data/logs/x", Some("web-1")), "claim shop/data");
    assert_eq!(at("/data/tmp", None), "unknown: a volume of a pod that is no claim");
    assert_eq!(at("/dev/block", None), "unknown: claim shop/gone, which is not in the file");
    assert_eq!(at("/var/lib/data", Some("web-1")), "nothing", "what other pods have is not on this host");
}

#[test]
fn another_product_that_is_said_takes_only_the_size_and_the_machine() {
    let all = objects(CLUSTER);
    let volume = all.named("data").unwrap();
    let catalog = Catalog::default();
    for (sku, size) in [("Premium_LRS", Some(ByteCount(64 << 30))), ("P10", None)] {
        let said = Provisioned { sku: Some(sku.into()), ..Provisioned::default() };
        let left = volume.completing(&said, &catalog).unwrap();
        assert_eq!((left.iops, left.caching, left.size), (None, None, size), "{sku}");
    }
    let impossible = Provisioned { iops: Some(1), ..Provisioned::default() };
    assert!(volume.completing(&impossible, &catalog).unwrap_err().contains("PremiumV2_LRS"));
}

#[test]
fn what_is_none_of_it_is_refused_in_one_sentence_that_says_what_to_do() {
    for (text, problem) in [
        ("kind: Pod\nmetadata: {name: a}", "there is no StorageClass"),
        ("", "there is no StorageClass"),
        ("{\"kind\": ", "EOF"),
        ("kind: [unclosed", "no objects of Kubernetes"),
        ("NAME   STATUS   VOLUME\ndata   Bound    pvc-1", "there is no StorageClass"),
        ("No resources found", "there is no StorageClass"),
        ("[1, 2]", "there is no StorageClass"),
        ("Name:  a\nLabels:  x: y", "no objects of Kubernetes"),
        ("kind: StorageClass\nmetadata: {name: a}\nparameters: [1]", "StorageClass a: "),
    ] {
        let error = Objects::read("objects", text, &Catalog::default()).unwrap_err().to_string();
        assert!(error.starts_with("objects: ") && error.contains(problem), "{text}: {error}");
        assert!(
            error.lines().count() == 1 && (error.contains("`kubectl get") || error.contains("StorageClass a")),
            "{error}"
        );
    }
}

#[test]
fn what_is_of_other_kinds_and_groups_is_left_aside_and_clusters_may_be_large() {
    let foreign = "---\nkind: Template\nmetadata: {name: a}\nparameters: [1]\n---\napiVersion: longhorn.io/v1beta2\nkind: \
                   Node\nmetadata: {name: one, labels: {node.kubernetes.io/instance-type: Standard_D2s_v5}}\n---\n- 1\n";
    assert_eq!(objects(&[CLUSTER, foreign].concat()).all(), objects(CLUSTER).all());
    let mut large = CLUSTER.to_owned();
    for number in 0..3000 {
        write!(large, "- kind: Pod\n  metadata:\n    name: p-{number}\n    annotations:\n").unwrap();
        (0..100).for_each(|line| writeln!(large, "      a{line}: b").unwrap());
    }
    assert_eq!(objects(&large).all(), objects(CLUSTER).all());
}
