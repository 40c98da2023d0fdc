//! Scripts that make what a plan asks for in a cloud, measure it, and take it down again: pure texts from a plan and
//! the catalog.
//!
//! Read [`generate`] first, then `setup.rs`, which decides and refuses. The texts themselves are in `templates/`, where
//! they can be read as what they are; what is written here is what differs from plan to plan. [`existing`] goes the
//! other way, from what a provider or a cluster tells of itself to a plan.

#![forbid(unsafe_code)]

mod aws;
mod azure;
mod classes;
mod cluster;
pub mod error;
pub mod existing;
mod gcp;
mod keys;
mod machines;
mod on_machine;
mod regions;
mod setup;
mod template;
mod terraform;
mod words;

use std::collections::BTreeMap;

use plimsoll_catalog::{catalog::Catalog, product::Provider};
use plimsoll_workload::{plan_file::PlanFile, units::ByteCount};
use serde::{Deserialize, de::IgnoredAny};

use crate::{cluster::Cluster, error::GenerateError, setup::Setup};

/// A file that is generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedFile {
    /// Its name, perhaps in a folder: `create.sh`, `terraform/main.tf`.
    pub name: &'static str,
    /// What is in it.
    pub text: String,
    /// Whether it is run.
    pub is_executable: bool,
}

/// Every name that a generated file may have.
pub const NAMES: [&str; 14] = [
    "create.sh",
    "teardown.sh",
    "prepare.sh",
    "run.sh",
    "plan.toml",
    "run-kubernetes.sh",
    "plan-kubernetes.toml",
    "classes.yaml",
    "terraform/main.tf",
    "terraform/plan.tf",
    "terraform/machine.tf",
    "terraform/elastic_san.tf",
    "terraform/cluster.tf",
    "terraform/container_storage.tf",
];

/// What stands in every one of them: nothing else is overwritten or removed.
pub const MARK: &str = "plimsoll generate";

/// Writes all files for a provider, or says what of the plan cannot be. Disks are in the order of their directories.
pub fn generate(plan: &PlanFile, provider: Provider, catalog: &Catalog) -> Result<Vec<GeneratedFile>, GenerateError> {
    generate_in_order(plan, &[], provider, catalog)
}

/// The same, with disks in an order of their directories, as [`order_of_disks`] tells it: who adds a disk at the end of
/// a plan moves none of those that are there.
pub fn generate_in_order(
    plan: &PlanFile,
    order: &[String],
    provider: Provider,
    catalog: &Catalog,
) -> Result<Vec<GeneratedFile>, GenerateError> {
    let setup = Setup::resolve(plan, order, provider, catalog)?;
    let mut files = match provider {
        Provider::Azure => azure::files(&setup),
        Provider::Aws => aws::files(&setup),
        Provider::Gcp | Provider::Own => gcp::files(&setup),
    };
    files.extend(on_machine::files(&setup, plan)?);
    files.extend(classes::file(&setup));
    Ok(files)
}

/// The StorageClasses that a plan has measured, with the size of the volume of each.
pub fn measured_classes(
    plan: &PlanFile,
    provider: Provider,
    catalog: &Catalog,
) -> Result<Vec<(String, ByteCount)>, GenerateError> {
    let setup = Setup::resolve(plan, &[], provider, catalog)?;
    let volumes = setup.cluster.iter().flat_map(Cluster::volumes);
    Ok(volumes.map(|(class, size_gib, _)| (class.to_owned(), ByteCount(size_gib << 30))).collect())
}

/// The directories of `[cloud.disks]` in the order in which a text of a plan has them; none when it is no plan.
pub fn order_of_disks(text: &str) -> Vec<String> {
    let plan: OrderedPlan = toml::from_str(text).unwrap_or_default();
    let mut disks: Vec<_> = plan.cloud.disks.into_keys().collect();
    disks.sort_by_key(|disk| disk.span().start);
    disks.into_iter().map(toml::Spanned::into_inner).collect()
}

/// As much of a plan as has an order.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OrderedPlan {
    cloud: OrderedCloud,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OrderedCloud {
    disks: BTreeMap<toml::Spanned<String>, IgnoredAny>,
}

impl GeneratedFile {
    fn script(name: &'static str, text: String) -> Self {
        Self { name, text: marked(text), is_executable: true }
    }

    fn text(name: &'static str, text: String) -> Self {
        Self { name, text: marked(text), is_executable: false }
    }
}

/// The text, which says who wrote it.
fn marked(text: String) -> String {
    if text.contains(MARK) {
        return text;
    }
    let shell = text.find('\n').filter(|_| text.starts_with("#!")).map_or(0, |end| end + 1);
    let (shell, rest) = text.split_at(shell);
    format!("{shell}# Written by {MARK}.\n{rest}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn disks_have_the_order_of_the_text_however_they_are_written() {
        let text = "presets = [\"a\"]\n[cloud.disks]\n\"/b\" = { sku = \"P10\" }\n\
                    \"/a\" = { sku = \"P10\" }\n";
        assert_eq!(super::order_of_disks(text), ["/b", "/a"]);
        let tables = "[cloud.disks.\"/z\"]\nsku = \"P10\"\n[cloud.disks.\"/a\"]\nsku = \"P10\"\n[cloud.disks.'/m']\n";
        assert_eq!(super::order_of_disks(tables), ["/z", "/a", "/m"]);
        assert!(super::order_of_disks("[").is_empty() && super::order_of_disks("[stripe]").is_empty());
    }
}
