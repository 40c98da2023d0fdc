//! The native plan file: several targets and workloads, in TOML. Everything a flag of `plimsoll run` can say, a plan
//! can say, under the flag's name with underscores.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{
    array::Striping,
    certainty::{Certainty, Precision},
    cloud::Cloud,
    limit::Limit,
    need::Need,
    provisioned::Provisioning,
    settings::Effort,
    units::Span,
    workload::Workload,
};

/// A plan as written: what `--plan` reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PlanFile {
    /// A name for the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Directories, files or block devices to measure, besides those on the command line.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub targets: Vec<String>,
    /// How long to measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// How far a steady rate may be from the truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// No new slot begins after so much time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time: Option<Span>,
    /// Visit each target once more after half an hour.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bookend: bool,
    /// Visit each cell exactly so often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<u32>,
    /// Keep so many passes out of the numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discard_first: Option<u32>,
    /// What each target is said to deliver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// What was bought for the targets: `[provisioned.defaults]` for all, `[provisioned.targets."/mnt/a"]` for one.
    #[serde(skip_serializing_if = "Provisioning::is_empty")]
    pub provisioned: Provisioning,
    /// What is needed of the targets: the run ends with whether they had it, and with what else is sold that has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
    /// What to make in a cloud before: a run passes over it, `plimsoll generate` writes the scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud: Option<Cloud>,
    /// A command for the shell that loads the machine while it is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// Where all randomness comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Presets to run, besides the workloads below.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub presets: Vec<String>,
    /// Pairs to find the run by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// Devices that may be overwritten, unless they have a file system, partition table or other known signature.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub destroy: Vec<String>,
    /// Leave the files of the run in place.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_files: bool,
    /// Refuse targets on the root file system.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub expect_mount: bool,
    /// Ask the cloud's instance metadata service what machine this is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub detect_cloud: bool,
    /// Disks to put together, and how: `plimsoll stripe up` makes the arrays, and they are targets of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe: Option<Striping>,
    /// What workloads have in common.
    #[serde(skip_serializing_if = "is_empty")]
    pub defaults: Workload,
    /// The workloads, in order.
    #[serde(rename = "workload", alias = "workloads", deserialize_with = "list")]
    pub workloads: Vec<Workload>,
}

impl PlanFile {
    /// A plan that says how sure its answers shall be and where its randomness comes from, and nothing else.
    pub fn of_certainty(certainty: Certainty, seed: u64) -> Self {
        // Every field is named, so that what is asked of later runs does not get lost here.
        let Certainty { effort, precision, max_time, bookend, passes, discard_first, limit } = certainty;
        Self {
            effort: Some(effort),
            precision,
            max_time,
            bookend,
            passes,
            discard_first,
            limit,
            seed: Some(seed),
            ..Self::default()
        }
    }
}

/// A list, or what to write instead of what is none.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_any(ListVisitor(PhantomData))
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Err(E::custom(format!("this is a list, also with one value: write [{text:?}]")))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(de::Error::custom(
            "this is a list: write [[workload]], with two brackets, above each workload, and other values as [\"a\", \"b\"]",
        ))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element()? {
            values.push(value);
        }
        Ok(values)
    }
}

/// Whether a workload asks for nothing.
fn is_empty(workload: &Workload) -> bool {
    *workload == Workload::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_as_the_flags_do() {
        let plan: PlanFile = toml::from_str(
            r#"
            targets = ["/mnt/a", "/mnt/b"]
            effort = "quick"
            detect_cloud = true
            limit = "iops=300,burst-iops=3k,bucket=5.4M"
            need = "iops=250,latency_p99=20ms"
            [defaults]
            duration = "10s"
            size = "50%"
            [[workload]]
            name = "log"
            rw = "write"
            block_size = ["4k", "64k"]
            fdatasync = 1
            [[workload]]
            rw = "randrw"
            read_percent = [70, 30]
            queue_depth = 32
            rate = 5000
            "#,
        )
        .unwrap();
        assert!(plan.detect_cloud && plan.workloads.len() == 2);
        assert_eq!(plan.limit, "iops=300,burst-iops=3000,bucket=5400000".parse().ok());
        assert_eq!(plan.need.as_ref().map(ToString::to_string).as_deref(), Some("iops=250,latency_p99=20ms"));
        assert_eq!(plan.workloads[0].expand().len(), 2);
        assert_eq!(plan.workloads[1].clone().or(&plan.defaults).duration, Some("10s".parse().unwrap()));
    }

    #[test]
    fn what_should_be_a_list_is_told_as_it_is_written() {
        let told = |text: &str| toml::from_str::<PlanFile>(text).unwrap_err().to_string();
        assert!(told("[workload]\nrw = 'read'").contains("write [[workload]], with two brackets"));
        assert!(told("targets = 'mnt'").contains("write [\"mnt\"]"));
        assert!(told("presets = 7").contains("expected a list"));
    }

    #[test]
    fn a_misspelt_key_is_refused_by_name() {
        let error = toml::from_str::<PlanFile>("[[workload]]\nblocksize = \"4k\"").unwrap_err();
        assert!(error.to_string().contains("blocksize"), "{error}");
    }
}
