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
mod setup;
mod template;
mod terraform;
mod words;

use plimsoll_catalog::{catalog::Catalog, product::Provider};
use plimsoll_workload::plan_file::PlanFile;

use crate::{error::GenerateError, setup::Setup};

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

/// Writes all files for a provider, or says what of the plan cannot be.
pub fn generate(plan: &PlanFile, provider: Provider, catalog: &Catalog) -> Result<Vec<GeneratedFile>, GenerateError> {
    let setup = Setup::resolve(plan, provider, catalog)?;
    let mut files = match provider {
        Provider::Azure => azure::files(&setup),
        Provider::Aws => aws::files(&setup),
        Provider::Gcp | Provider::Own => gcp::files(&setup),
    };
    files.extend(on_machine::files(&setup, plan)?);
    files.extend(classes::file(&setup));
    Ok(files)
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
