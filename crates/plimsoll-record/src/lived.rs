//! The record of a run that timed lives of volumes and measured no rates.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plimsoll_workload::{certainty::Certainty, settings::Effort};
use uuid::Uuid;

use crate::{
    cluster::ClusterEnvironment,
    environment::Environment,
    lifecycle::VolumeLifecycle,
    record::{Asked, Outcome, Record, SCHEMA, Tool},
};

/// What is known of such a run.
#[derive(Clone, Debug)]
pub struct Lived {
    /// Identity of the record.
    pub id: Uuid,
    /// When it began.
    pub started: Timestamp,
    /// How long it took.
    pub elapsed_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// What measured.
    pub tool: Tool,
    /// The name given with `--name`.
    pub name: Option<String>,
    /// The pairs given with `--tag`.
    pub tags: BTreeMap<String, String>,
    /// Where.
    pub cluster: ClusterEnvironment,
    /// The uses of volumes, those of one volume behind each other.
    pub volumes: Vec<VolumeLifecycle>,
    /// What was not as it should be.
    pub warnings: Vec<String>,
}

impl Record {
    /// Whether it has lives of volumes and no numbers of load.
    pub fn has_only_lives(&self) -> bool {
        self.cells.is_empty() && !self.volumes.is_empty()
    }

    /// The record of lives of volumes.
    pub fn of_lives(lived: Lived) -> Self {
        let Lived { id, started, elapsed_ns, outcome, tool, name, tags, cluster, volumes, warnings } = lived;
        let targets = cluster.volumes.iter().map(|volume| volume.target.clone()).collect();
        Self {
            schema: SCHEMA.to_owned(),
            id,
            started,
            elapsed_ns,
            resumed: Vec::new(),
            outcome,
            tool,
            name,
            tags,
            asked: Asked { targets, ..Asked::of(Certainty::of(Effort::Standard)) },
            seed: 0,
            environment: Environment { cluster: Some(cluster), ..Environment::default() },
            layouts: Vec::new(),
            volumes,
            pods: None,
            import: None,
            cells: Vec::new(),
            warnings,
        }
    }
}
