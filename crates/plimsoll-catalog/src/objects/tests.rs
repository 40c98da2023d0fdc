//! What objects of a cluster say.

use plimsoll_workload::{provisioned::Caching, units::ByteCount};

use super::*;

/// A class, a claim with its volume and attachment, a pod, and two nodes that differ.
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
      volumeAttributes: {skuname: PremiumV2_LRS, diskiopsreadwrite: "6000"}
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
- apiVersion: v1
  kind: Node
  metadata: {name: one, labels: {node.kubernetes.io/instance-type: Standard_D16s_v5}}
- apiVersion: v1
  kind: Node
  metadata: {name: two, labels: {node.kubernetes.io/instance-type: Standard_D2s_v5}}
"#;

fn described(text: &str) -> Vec<Described> {
    Objects::read("objects", text).unwrap().describe(&Catalog::default())
}

fn names(described: &Described) -> Vec<&str> {
    described.names.iter().map(String::as_str).collect()
}

#[test]
fn a_volume_is_known_by_its_claim_its_class_and_its_path_and_bought_as_all_of_them_say() {
    let all = described(CLUSTER);
    let [volume, plain] = &all[..] else { panic!("{all:?}") };
    assert_eq!(names(volume), ["/var/lib/data", "data", "fast", "pvc-1", "shop/data"]);
    let bought = volume.bought.as_ref().unwrap();
    assert_eq!(bought.sku.as_deref(), Some("PremiumV2_LRS"));
    assert_eq!((bought.size, bought.iops), (Some(ByteCount(64 << 30)), Some(7000)));
    assert_eq!(bought.caching, Some(Caching::None));
    assert_eq!(bought.vm.as_deref(), Some("Standard_D16s_v5"), "the node of the pod that has it");
    assert!(volume.notes.is_empty(), "{:?}", volume.notes);
    assert_eq!(only(&all), Some(volume));
    assert_eq!((names(plain), plain.is_class), (vec!["plain"], true));
    assert!(plain.bought.as_ref().unwrap_err().contains("rancher.io/local-path"));
    assert_eq!(named(&all, "fast").unwrap(), volume);
    let error = named(&all, "slow").unwrap_err().to_string();
    assert!(error.contains("\"slow\": there are /var/lib/data, data, fast"), "{error}");
}

#[test]
fn the_same_objects_as_json_or_as_several_documents_say_the_same() {
    let items: serde_json::Value = serde_saphyr::from_str(CLUSTER).unwrap();
    assert_eq!(described(&items.to_string()), described(CLUSTER));
    let documents: Vec<String> = items["items"].as_array().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(described(&format!("# as kubectl prints it\n---\n{}\n", documents.join("\n---\n"))), described(CLUSTER));
}

#[test]
fn what_is_not_there_is_said_or_asked_for() {
    let claim = "kind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {storageClassName: fast}";
    let all = described(claim);
    assert!(all[0].bought.as_ref().unwrap_err().contains("add its StorageClass or PersistentVolume"));
    let lonely = CLUSTER.replace("kind: Pod", "kind: Job").replace("kind: VolumeAttributesClass", "kind: Secret");
    let notes = described(&lonely)[0].notes.join("\n");
    assert!(notes.contains("nodes differ (Standard_D16s_v5, Standard_D2s_v5)"), "{notes}");
    assert!(notes.contains("VolumeAttributesClass faster says is not known"), "{notes}");
    let unknown = CLUSTER.replace("Standard_D16s_v5", "k3s");
    let volume = &described(&unknown)[0];
    assert_eq!(volume.bought.as_ref().unwrap().vm, None);
    assert!(volume.notes[0].contains("machine k3s"), "{:?}", volume.notes);
    for (text, problem) in [
        ("kind: Pod\nmetadata: {name: a}", "there is no StorageClass"),
        ("", "there is no StorageClass"),
        ("{\"kind\": ", "no object of Kubernetes: EOF"),
        ("kind: [unclosed", "no object of Kubernetes"),
        ("just words", "no object of Kubernetes"),
        ("[1, 2]", "no object of Kubernetes"),
    ] {
        let error = Objects::read("objects", text).unwrap_err().to_string();
        assert!(error.contains(problem) && error.lines().count() == 1, "{text}: {error}");
    }
    let odd = CLUSTER.replace("64Gi", "many");
    assert!(described(&odd)[0].bought.as_ref().unwrap_err().contains("\"many\" is not a quantity"));
}

#[test]
fn a_name_that_two_have_names_neither_and_a_class_with_two_volumes_stands_for_itself() {
    let other = |name: &str| {
        format!(
            "---\nkind: PersistentVolume\nmetadata: {{name: {name}}}\nspec:\n  storageClassName: gp\n  capacity: {{storage: 100Gi}}\n  \
             claimRef: {{name: data, namespace: {name}}}\n  csi: {{driver: ebs.csi.aws.com}}\n"
        )
    };
    let class = "kind: StorageClass\nmetadata: {name: gp}\nprovisioner: ebs.csi.aws.com\nparameters: {type: gp2}\n";
    let all = described(&format!("{class}{}{}", other("a"), other("b")));
    let known: Vec<_> = all.iter().map(names).collect();
    assert_eq!(known, [vec!["a", "a/data"], vec!["b", "b/data"], vec!["gp"]]);
    assert_eq!(only(&all), None);
    let sizes: Vec<_> = all.iter().map(|one| one.bought.as_ref().unwrap().size).collect();
    assert_eq!(sizes, [Some(ByteCount(100 << 30)), Some(ByteCount(100 << 30)), None]);
    let alone = described(class);
    assert_eq!(only(&alone), Some(&alone[0]));
}
