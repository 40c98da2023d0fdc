//! Puts together what belongs together: a volume with its claim, its classes, its pods and its nodes.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use plimsoll_workload::provisioned::Provisioned;

use super::{
    Described, Objects,
    kinds::{Claim, Key, Kinds, Pod, Source, StorageClass, Volume},
    mounts::{Mount, Owner},
};
use crate::{
    catalog::Catalog,
    error::CatalogError,
    quantity,
    storage_class::{self, VolumeParameters},
};

/// What is known of a volume, each part of which may be absent.
#[derive(Clone, Copy, Default)]
struct Known<'a> {
    class: Option<&'a StorageClass>,
    volume: Option<&'a Volume>,
    claim: Option<&'a Claim>,
    /// The namespace and name of its claim, which is known even where the claim itself is not.
    key: Option<&'a Key>,
}

/// The objects, and who uses which claim and volume.
struct Cluster<'a> {
    kinds: &'a Kinds,
    catalog: &'a Catalog,
    users: BTreeMap<Key, Vec<&'a Pod>>,
    attached: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

/// All that objects describe.
pub(super) fn describe(kinds: &Kinds, catalog: &Catalog) -> Objects {
    let mut cluster = Cluster { kinds, catalog, users: BTreeMap::new(), attached: BTreeMap::new() };
    for pod in kinds.pods.values().filter(|pod| !pod.is_over()) {
        for claim in pod.spec.volumes.iter().filter_map(|volume| pod.claim(volume)) {
            cluster.users.entry(claim).or_default().push(pod);
        }
    }
    for (volume, node) in kinds.attachments.iter().filter_map(|attachment| attachment.attached()) {
        cluster.attached.entry(volume).or_default().insert(node);
    }
    cluster.describe()
}

impl Cluster<'_> {
    fn describe(&self) -> Objects {
        let mut objects = Objects::default();
        let mut by_claim: BTreeMap<Key, usize> = BTreeMap::new();
        let mut by_class: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for volume in self.kinds.volumes.values() {
            let key = volume.claim(&self.kinds.claims);
            let claim = key.as_ref().and_then(|key| self.kinds.claims.get(key));
            let class_name = volume.spec.storage_class_name.as_str();
            by_class.entry(class_name).or_default().push(objects.all.len());
            let known =
                Known { class: self.kinds.classes.get(class_name), volume: Some(volume), claim, key: key.as_ref() };
            let index = objects.add(self.described(known), known);
            by_claim.extend(key.map(|key| (key, index)));
        }
        for (key, claim) in &self.kinds.claims {
            if by_claim.contains_key(key) {
                continue;
            }
            let class_name = claim.spec.storage_class_name.as_str();
            by_class.entry(class_name).or_default().push(objects.all.len());
            let class = self.kinds.classes.get(class_name);
            let known = Known { class, volume: None, claim: Some(claim), key: Some(key) };
            by_claim.insert(key.clone(), objects.add(self.described(known), known));
        }
        for (name, class) in &self.kinds.classes {
            let own = by_class.get(name.as_str()).map(Vec::as_slice).unwrap_or_default();
            let described = self.class(name, class, own, &objects);
            let index = objects.all.len();
            objects.all.push(described);
            objects.names.entry(name.clone()).or_default().insert(index);
        }
        objects.mounts = self.mounts(&by_claim);
        objects
    }

    /// A class stands for its volumes where they are alike, and for its parameters otherwise.
    fn class(&self, name: &str, class: &StorageClass, own: &[usize], objects: &Objects) -> Described {
        let known = Known { class: Some(class), ..Known::default() };
        let (bought, notes) = self.bought(known);
        let told = self.told(known, &mut Vec::new()).ok().filter(|_| bought.is_ok());
        let mut alike = own.iter().map(|index| objects.all[*index].bought.as_ref().ok());
        let first = alike.next().flatten().filter(|first| alike.all(|other| other == Some(first)));
        let bought = first.map_or(bought, |volume| Ok(volume.clone()));
        Described { what: format!("class {name}"), is_class: true, bought, notes, told }
    }

    fn described(&self, known: Known<'_>) -> Described {
        let (bought, mut notes) = self.bought(known);
        if bought.is_err() {
            notes.clear();
        }
        let volume = || format!("volume {}", known.volume.map(Volume::name).unwrap_or_default());
        let what = known.key.map_or_else(volume, |key| format!("claim {}", qualified(key)));
        Described { what, is_class: false, bought, notes, told: None }
    }

    fn bought(&self, known: Known<'_>) -> (Result<Provisioned, String>, Vec<String>) {
        let mut notes = Vec::new();
        (self.bought_with(known, &mut notes), notes)
    }

    /// What its driver was told.
    fn told(&self, known: Known<'_>, notes: &mut Vec<String>) -> Result<VolumeParameters, String> {
        // What was made by hand has a class only so that claims find it.
        let class = known.class.filter(|_| known.volume.is_none_or(Volume::is_made_by_class));
        let provisioner = match known.volume.map_or(Source::Unknown, Volume::source) {
            Source::Driver(driver) => driver,
            Source::Other(kind) => return Err(format!("of a volume of kind {kind} the catalog knows nothing")),
            Source::Unknown => class.map(|class| class.provisioner.as_str()).unwrap_or_default(),
        };
        if provisioner.is_empty() {
            return Err("nothing says which driver made it: add its StorageClass or PersistentVolume".to_owned());
        }
        let attributes_class = self.attributes_class(known, provisioner, notes).unwrap_or_default();
        let capacity_bytes = capacity(known, notes)?;
        Ok(VolumeParameters {
            provisioner: provisioner.to_owned(),
            parameters: class.map(|class| class.parameters.0.clone()).unwrap_or_default(),
            volume_attributes: known.volume.map(Volume::attributes).unwrap_or_default(),
            attributes_class,
            are_all: class.is_some(),
            capacity_bytes,
        })
    }

    fn bought_with(&self, known: Known<'_>, notes: &mut Vec<String>) -> Result<Provisioned, String> {
        let told = self.told(known, notes)?;
        let mut bought = storage_class::provisioned(&told)
            .map_err(|error| error.to_string())?
            .ok_or_else(|| format!("the catalog does not know what the driver {} makes", told.provisioner))?;
        bought.vm = self.machine(known, notes).map(str::to_owned);
        let unknown = |vm: &mut String| {
            matches!(self.catalog.machine(vm, &Provisioned::default()), Err(CatalogError::Unknown { .. }))
        };
        if let Some(vm) = bought.vm.take_if(unknown) {
            notes.push(format!("what the machine {vm} lets through is not known: --limits FILE can say it in [[vm]]"));
        }
        Ok(bought)
    }

    /// The parameters of its VolumeAttributesClass.
    fn attributes_class(
        &self,
        known: Known<'_>,
        provisioner: &str,
        notes: &mut Vec<String>,
    ) -> Option<BTreeMap<String, String>> {
        let current = known.claim.map(|claim| claim.status.current_volume_attributes_class_name.as_str());
        let of_volume = known.volume.map(|volume| volume.spec.volume_attributes_class_name.as_str());
        let asked = known.claim.map(|claim| claim.spec.volume_attributes_class_name.as_str()).unwrap_or_default();
        let mut applied = [current, of_volume].into_iter().flatten().find(|name| !name.is_empty()).unwrap_or_default();
        if applied.is_empty()
            && known.volume.is_none()
            && known.claim.is_some_and(|claim| claim.spec.volume_name.is_empty())
        {
            // A volume that is still to be made is made so.
            applied = asked;
        }
        if asked != applied && !asked.is_empty() {
            notes.push(format!("VolumeAttributesClass {asked} was asked for, and has not been applied"));
        }
        if applied.is_empty() {
            return None;
        }
        let Some(class) = self.kinds.attributes_classes.get(applied) else {
            notes.push(format!("what VolumeAttributesClass {applied} says is not known: add it to the objects"));
            return None;
        };
        if !class.driver_name.is_empty() && class.driver_name != provisioner {
            notes.push(format!("VolumeAttributesClass {applied} is of another driver, {}", class.driver_name));
            return None;
        }
        Some(class.parameters.0.clone())
    }

    /// The machine of the nodes that have it, or of all nodes when they are alike.
    fn machine(&self, known: Known<'_>, notes: &mut Vec<String>) -> Option<&str> {
        let attached = known.volume.and_then(|volume| self.attached.get(volume.name())).into_iter().flatten().copied();
        let users = known.key.and_then(|key| self.users.get(key)).into_iter().flatten();
        let of_users = users.map(|pod| pod.spec.node_name.as_str()).filter(|node| !node.is_empty());
        let its: BTreeSet<&str> = attached.chain(of_users).collect();
        let of = |node: &str| match self.kinds.nodes.get(node) {
            Some(Some(machine)) => Ok(machine.as_str()),
            Some(None) => Err(format!("nothing says what machine node {node} is: say it with --vm")),
            None => Err(format!("its node {node} is not among the objects: add it, or say the machine with --vm")),
        };
        let nodes = if its.is_empty() { self.kinds.nodes.keys().map(String::as_str).collect() } else { its.clone() };
        let machines: Result<BTreeSet<&str>, String> = nodes.iter().map(|node| of(node)).collect();
        match machines {
            Ok(machines) if machines.len() <= 1 => machines.into_iter().next(),
            Ok(machines) => {
                let machines = machines.into_iter().collect::<Vec<_>>().join(", ");
                let nodes = if its.is_empty() { "its node is not known, and nodes" } else { "its nodes" };
                notes.push(format!("{nodes} differ ({machines}): say the machine with --vm"));
                None
            }
            Err(why) => {
                notes.extend((!its.is_empty()).then_some(why));
                None
            }
        }
    }

    fn mounts(&self, by_claim: &BTreeMap<Key, usize>) -> Vec<Mount> {
        let mut mounts = Vec::new();
        for pod in self.kinds.pods.values().filter(|pod| !pod.is_over()) {
            for point in pod.mount_points().filter(|point| !point.path.is_empty()) {
                let volume = pod.spec.volumes.iter().find(|volume| volume.name == point.name);
                let owner = match volume.and_then(|volume| pod.claim(volume)) {
                    Some(key) => {
                        by_claim.get(&key).map_or_else(|| Owner::Missing(qualified(&key)), |at| Owner::Volume(*at))
                    }
                    None => Owner::Other,
                };
                // The same path, however it was written.
                let path = Path::new(&point.path).components().collect();
                mounts.push(Mount { pod: pod.name().to_owned(), path, owner });
            }
        }
        mounts
    }
}

impl Objects {
    /// Adds a volume under its names.
    fn add(&mut self, described: Described, known: Known<'_>) -> usize {
        let index = self.all.len();
        self.all.push(described);
        let claim = known.key.into_iter().flat_map(|key| [key.1.clone(), qualified(key)]);
        for name in claim.chain(known.volume.map(|volume| volume.name().to_owned())) {
            self.names.entry(name).or_default().insert(index);
        }
        index
    }
}

/// A claim with its namespace.
fn qualified((namespace, name): &Key) -> String {
    if namespace.is_empty() { name.clone() } else { format!("{namespace}/{name}") }
}

/// What it holds: a request is only the least that it may hold.
fn capacity(known: Known<'_>, notes: &mut Vec<String>) -> Result<Option<u64>, String> {
    let of_volume = known.volume.and_then(|volume| volume.spec.capacity.get("storage"));
    let held = of_volume.or_else(|| known.claim?.status.capacity.get("storage"));
    let requested = known.claim.and_then(|claim| claim.spec.resources.requests.get("storage"));
    if let (None, Some(requested)) = (held, requested) {
        notes.push(format!("its size is the {requested} that were requested: what it got is not known"));
    }
    let read =
        |text: &str| quantity::whole(text).ok_or_else(|| format!("its capacity \"{text}\" is not a quantity, as 8Gi"));
    held.or(requested).map(read).transpose()
}
