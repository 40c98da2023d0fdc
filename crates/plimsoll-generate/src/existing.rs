//! The other way: from what a machine or a cluster is to a plan that makes one like it.
//!
//! A provider's command line tells it as JSON, a machine's metadata service and a cluster's API server tell it too.
//! What they do not tell is left out of the plan, with a note that says so; what the catalog does not know is noted as
//! well, and refused when something is to be made of it.

mod aws;
mod azure;
mod cluster;
mod gcp;

use std::collections::BTreeMap;

use plimsoll_catalog::{catalog::Catalog, product::Provider};
use plimsoll_record::environment::{CloudEnvironment, CloudProvider};
use plimsoll_workload::{
    cloud::{Cloud, Machine},
    plan_file::PlanFile,
    provisioned::Provisioned,
    units::{Bandwidth, ByteCount},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use self::cluster::{Node, of_cluster, of_objects};
use crate::{
    error::GenerateError,
    words::{self, DISK_LENGTH_MAX},
};

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Existing {
    /// What it takes to make it again.
    pub cloud: Cloud,
    /// What a reader has to know of it.
    pub notes: Vec<String>,
}

impl Existing {
    /// The plan, with its notes before it.
    pub fn plan(self) -> Result<String, GenerateError> {
        // A comment ends with its line, and may have no other control characters either.
        let plain = |note: &String| note.replace(char::is_control, " ");
        let notes: String = self.notes.iter().map(|note| format!("# {}\n", plain(note))).collect();
        let plan = PlanFile { cloud: Some(self.cloud), ..PlanFile::default() };
        let text = toml::to_string(&plan)?;
        // Without workloads a run takes the canonical ones.
        let text = text.strip_prefix("workload = []\n").unwrap_or(&text);
        Ok(notes + text.trim_start())
    }

    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// A disk, mounted at its name, or at as much of it as plans take.
    fn disk(&mut self, name: &str, bought: Provisioned) {
        let whole = words::of_mount(&format!("/{name}"));
        let mount = |name: &str| format!("/mnt/{name}");
        let own = words::unique(&whole, DISK_LENGTH_MAX, |own| self.cloud.disks.contains_key(&mount(own)));
        if whole.len() > DISK_LENGTH_MAX {
            self.note(format!(
                "{name} is {} here: names of disks have up to {DISK_LENGTH_MAX} characters",
                mount(&own)
            ));
        }
        self.cloud.disks.insert(mount(&own), bought);
    }
}

/// A machine and its disks, from the JSON that the provider's command line prints of both: `az vm show` and
/// `az disk list`, `aws ec2 describe-instances` and `describe-volumes`, `gcloud compute instances describe` and
/// `disks list`. Documents may follow each other in one text.
pub fn of_machine(text: &str, provider: Provider, catalog: &Catalog) -> Result<Existing, GenerateError> {
    let documents = documents(text)?;
    let mut found = match provider {
        Provider::Azure => azure::read(&documents, catalog)?,
        Provider::Aws => aws::read(&documents)?,
        Provider::Gcp | Provider::Own => gcp::read(&documents)?,
    };
    check_machine(&mut found, catalog);
    Ok(found)
}

/// The machine that this is, as its metadata service tells it.
pub fn of_environment(
    environment: &CloudEnvironment,
    provider: Provider,
    catalog: &Catalog,
) -> Result<Existing, GenerateError> {
    let is_it = matches!(
        (environment.provider, provider),
        (CloudProvider::Azure, Provider::Azure)
            | (CloudProvider::Aws, Provider::Aws)
            | (CloudProvider::Gcp, Provider::Gcp)
    );
    if !is_it {
        let name = environment.provider.name();
        return Err(GenerateError::Existing(format!("this machine is one of {name}, not of {provider}")));
    }
    let mut found = Existing::default();
    found.cloud.region.clone_from(&environment.region);
    found.cloud.zone = environment.zone.clone().filter(|zone| !zone.is_empty());
    found.cloud.machine = Some(Machine { machine_type: environment.instance_type.clone(), ..Machine::default() });
    if provider != Provider::Azure {
        found.note(format!("the metadata service of {provider} tells no kinds of disks: add them, as [cloud.disks]"));
    }
    for disk in environment.disks.iter().filter(|disk| !disk.local && provider == Provider::Azure) {
        let name = disk.name.clone().unwrap_or_else(|| format!("disk-{}", disk.lun.unwrap_or_default()));
        let bought = Provisioned {
            sku: disk.sku.clone(),
            size: disk.size_bytes.map(ByteCount),
            caching: disk.caching.as_deref().and_then(|caching| caching.parse().ok()),
            iops: disk.iops,
            bandwidth: disk.bytes_per_second.map(Bandwidth),
            ..Provisioned::default()
        };
        if bought.sku.as_deref() == Some("PremiumV2_LRS") && bought.iops.is_none() {
            found.note(format!("{name}: the metadata service does not tell the rates of Premium SSD v2: add them"));
        }
        found.disk(&name, bought);
    }
    check_machine(&mut found, catalog);
    Ok(found)
}

/// Says what the catalog does not know, which is refused when something is to be made of it.
fn check_machine(found: &mut Existing, catalog: &Catalog) {
    let name = found.cloud.machine.as_ref().and_then(|machine| machine.machine_type.clone());
    if let Some(error) = name.and_then(|name| catalog.machine_facts(&name).err()) {
        found.note(format!("{error}; a file of --limits can know it"));
    }
    let unknown: Vec<String> = found
        .cloud
        .disks
        .iter()
        .filter_map(|(mount, bought)| match bought.sku.as_deref() {
            None => Some(format!("{mount}: its kind is not told: add sku")),
            Some(sku) => catalog.sold_as(sku).err().map(|error| format!("{mount}: {error}")),
        })
        .collect();
    found.notes.extend(unknown);
}

/// The values of a text that follow each other, lists taken apart.
fn documents(text: &str) -> Result<Vec<Value>, GenerateError> {
    let mut all = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let value = value.map_err(|error| GenerateError::Existing(format!("this is not JSON: {error}")))?;
        match value {
            Value::Array(values) => all.extend(values),
            Value::Null => {}
            value => all.push(value),
        }
    }
    Ok(all)
}

/// A value as what it should be; what is missing of it is left out, what is of another kind is an error.
fn read_as<T: DeserializeOwned>(value: &Value, what: &str) -> Result<T, GenerateError> {
    serde_json::from_value(value.clone()).map_err(|error| GenerateError::Existing(format!("{what}: {error}")))
}

/// That a text has no machine.
fn no_machine(command: &str) -> GenerateError {
    GenerateError::Existing(format!("there is no machine in it: print one with {command}"))
}

/// Of several machines the first is taken, and that is said.
fn first_of<'a, T>(machines: &'a [T], found: &mut Existing, command: &str) -> Result<&'a T, GenerateError> {
    if machines.len() > 1 {
        found.note(format!("of {} machines, this is the first", machines.len()));
    }
    machines.first().ok_or_else(|| no_machine(command))
}

/// The last part of an address, which is what people call a thing of Google Cloud and of Azure.
fn last_part(address: &str) -> String {
    address.rsplit('/').next().unwrap_or_default().to_owned()
}

/// A size in GiB, unless it is more than there can be.
fn gib(size: u64) -> Option<ByteCount> {
    size.checked_mul(1 << 30).map(ByteCount)
}

/// Disks by their names, the last of a name counts.
type Disks<T> = BTreeMap<String, T>;

#[cfg(test)]
mod tests;
