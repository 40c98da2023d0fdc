//! Whether what is asked can be done on volumes that no pod has yet: the plan is decided as the program in the pod will
//! decide it, with as much of the volumes as is known, so that nothing is made for what cannot work.
//!
//! A new volume is as large as it is asked for, and the device of a claim as the claim says. Nobody knows what direct
//! I/O will need, how much of a volume its file system takes, or what room there is in claims with one: file servers
//! and directories of nodes do not keep to what a claim says. That is left to the pod.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use plimsoll_catalog::quantity::Quantity;
use plimsoll_workload::{
    certainty::Certainty,
    plan::{Plan, PlanError},
    target_facts::{TargetFacts, TargetKind},
    units::{Extent, in_one_unit},
    workload::Workload,
};

use crate::{
    cluster::Cluster,
    request::{VolumeAsked, VolumeMode, VolumeSource},
};

/// More than any volume has, of which every share is whole blocks.
const ENORMOUS_BYTES: u64 = 100 << 50;

/// What is known of volumes; `None` while nobody was asked how large the devices of claims are, or the cluster does
/// not say.
pub fn targets(volumes: &[VolumeAsked], cluster: Option<&Cluster>) -> Option<Vec<TargetFacts>> {
    let sizes = cluster.map_or_else(BTreeMap::new, |cluster| sizes_of_claims(cluster, volumes));
    volumes.iter().map(|volume| facts(volume, &sizes)).collect()
}

fn facts(volume: &VolumeAsked, sizes_of_claims: &BTreeMap<String, u64>) -> Option<TargetFacts> {
    let size = match &volume.source {
        VolumeSource::Class { size_bytes, .. } => Some(*size_bytes),
        VolumeSource::Claim { name } => sizes_of_claims.get(name).copied(),
    };
    let (kind, size_bytes, free_bytes) = match volume.mode {
        VolumeMode::Filesystem => (TargetKind::Directory, None, size),
        VolumeMode::Block => (TargetKind::Device, Some(size?), None),
    };
    // Any alignment is a multiple of this one.
    let direct_alignment_bytes = Some(1);
    Some(TargetFacts { name: volume.target.clone(), kind, size_bytes, free_bytes, direct_alignment_bytes })
}

/// How large the devices are that claims have, or will have, as far as the cluster says.
fn sizes_of_claims(cluster: &Cluster, volumes: &[VolumeAsked]) -> BTreeMap<String, u64> {
    let devices = volumes.iter().filter(|volume| volume.mode == VolumeMode::Block);
    let names = devices.filter_map(|volume| match &volume.source {
        VolumeSource::Claim { name } => Some(name),
        VolumeSource::Class { .. } => None,
    });
    let claims = cluster.here::<PersistentVolumeClaim>();
    let of = |name: &String| {
        let claim = cluster.wait_for(claims.get_opt(name)).ok().flatten()?;
        Some((name.clone(), size(&claim)?))
    };
    names.filter_map(of).collect()
}

fn size(claim: &PersistentVolumeClaim) -> Option<u64> {
    let has = claim.status.as_ref().and_then(|status| status.capacity.as_ref()?.get("storage"));
    let asks = || claim.spec.as_ref()?.resources.as_ref()?.requests.as_ref()?.get("storage");
    Quantity::read(&has.or_else(asks)?.0)?.whole()
}

/// The plan for volumes of which this is known.
///
/// # Errors
/// When no such volume could do what is asked.
pub fn resolve(
    targets: &[TargetFacts],
    workloads: &[Workload],
    certainty: &Certainty,
    seed: u64,
) -> Result<Plan, PlanError> {
    if let Some(workload) = workloads.iter().find(|workload| workload.command.is_some()) {
        return Err(PlanError::Contradiction {
            workload: workload.name.clone().unwrap_or_else(|| "command".to_owned()),
            problem:
                "commands are not timed in pods, whose image has no shell: use plimsoll run on a machine that has \
                      the volume mounted"
                    .to_owned(),
        });
    }
    let asked = Plan::resolve(targets, workloads, certainty, seed);
    let are_shares = |workload: &Workload| {
        [workload.size, workload.offset].iter().any(|extent| matches!(extent, Some(Extent::Percent(_))))
    };
    // Drivers may make a device larger than it was asked for, and shares of it are larger then.
    let decided = asked.or_else(|error| {
        let enormous = |target: &TargetFacts| {
            let size_bytes = target.size_bytes.map(|size| size.max(ENORMOUS_BYTES));
            TargetFacts { size_bytes, ..target.clone() }
        };
        let enormous: Vec<TargetFacts> = targets.iter().map(enormous).collect();
        let may_fit = workloads.iter().any(are_shares);
        may_fit.then(|| Plan::resolve(&enormous, workloads, certainty, seed).ok()).flatten().ok_or(error)
    });
    decided.map_err(|error| match error {
        PlanError::NoRoom { target, free_bytes, needed_bytes } => {
            let [volume, files] = in_one_unit([free_bytes, needed_bytes]);
            let problem = format!(
                "a volume of {volume} has no room for files of {files}: ask for a larger volume, or lower --size"
            );
            PlanError::Target { target, problem }
        }
        error => error,
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::settings::Effort;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::request::{AccessMode, volumes};

    fn asked(mode: VolumeMode, size_bytes: u64) -> Vec<TargetFacts> {
        let volumes = volumes(&["slow".to_owned()], &[size_bytes], &[], mode, AccessMode::ReadWriteOnce).unwrap();
        targets(&volumes, None).unwrap()
    }

    fn resolved(targets: &[TargetFacts], workload: &str) -> Result<Plan, String> {
        let workloads = [toml::from_str(workload).unwrap()];
        resolve(targets, &workloads, &Certainty::of(Effort::Quick), 7).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_larger_than_the_volume_is_refused() {
        let refused = |mode, workload| resolved(&asked(mode, 8 << 30), workload).unwrap_err();
        for (mode, workload, why) in [
            (VolumeMode::Filesystem, "size = '9GiB'", "a volume of 8GiB has no room for files of 9GiB"),
            (VolumeMode::Filesystem, "size = '5GiB'\nfiles = 'per-job'\njobs = 2", "files of 10GiB"),
            (VolumeMode::Block, "size = '9GiB'", "it has 8GiB but offset and size need 9GiB"),
            (VolumeMode::Block, "size = '60%'\noffset = '50%'", "it has 8.00GiB"),
            (VolumeMode::Block, "file_count = 2", "a directory"),
        ] {
            assert!(refused(mode, workload).contains(why), "{workload}: {}", refused(mode, workload));
        }
        for (mode, workload) in [
            (VolumeMode::Filesystem, "size = '8GiB'"),
            (VolumeMode::Block, "size = '8GiB'"),
            // Whether blocks of such a size are aligned is not known, nor how large the device will be.
            (VolumeMode::Block, "block_size = '1000'"),
            (VolumeMode::Block, "size = '1%'\nblock_size = '512MiB'"),
            (VolumeMode::Block, "size = '50%'\noffset = '5GiB'"),
        ] {
            resolved(&asked(mode, 8 << 30), workload).unwrap_or_else(|why| panic!("{workload}: {why}"));
        }
    }

    #[test]
    fn commands_are_refused_because_there_is_no_shell() {
        let refused = resolved(&asked(VolumeMode::Filesystem, 8 << 30), "command = './restore.sh'").unwrap_err();
        assert!(refused.contains("no shell"), "{refused}");
    }

    #[test]
    fn of_claims_only_devices_are_as_large_as_they_say() {
        let of = |mode| volumes(&[], &[], &["data".to_owned()], mode, AccessMode::ReadWriteOnce).unwrap().remove(0);
        let claim = |status: serde_json::Value| {
            let spec = json!({ "resources": { "requests": { "storage": "1Gi" } } });
            size(&serde_json::from_value(json!({ "metadata": {}, "spec": spec, "status": status })).unwrap())
        };
        assert_eq!(claim(json!({ "capacity": { "storage": "2Gi" } })), Some(2 << 30));
        assert_eq!(claim(json!({})), Some(1 << 30), "which is the least that it gets");
        assert_eq!(targets(&[of(VolumeMode::Block)], None), None, "nobody was asked");
        let sizes = [("data".to_owned(), 2 << 30)].into();
        let device = facts(&of(VolumeMode::Block), &sizes).unwrap();
        assert!(resolved(&[device], "size = '3GiB'").unwrap_err().contains("it has 2GiB"));
        let directory = targets(&[of(VolumeMode::Filesystem)], None).unwrap();
        resolved(&directory, "size = '1TiB'").unwrap();
    }

    fn workloads() -> impl Strategy<Value = Workload> {
        let extents = prop_oneof![
            (1_u64..48 << 30).prop_map(|bytes| format!("{bytes}B")),
            (1_u64..12 << 10).prop_map(|mib| format!("{mib}MiB")),
            (1_u8..=100).prop_map(|percent| format!("{percent}%")),
        ];
        let rw = prop::sample::select(vec!["read", "randread", "write", "randwrite", "rw"]);
        let blocks = prop::sample::select(vec!["1000", "4k", "1M", "64M", "1G"]);
        let offset = prop::option::of(prop::sample::select(vec!["1", "4k", "1GiB", "10GiB", "25%", "33%", "50%"]));
        let jobs = prop::sample::select(vec![1_u32, 2, 7, 64]);
        // Most workloads are to be ones that some volume takes.
        let file_count = prop::sample::select(vec![1_u32, 1, 1, 2, 19]);
        let verify = prop::bool::weighted(0.1);
        let rest = (jobs, prop::option::of(Just("per-job")), file_count, verify, prop::option::of(Just("64k")));
        (rw, blocks, extents, offset, rest).prop_map(|(rw, blocks, size, offset, rest)| {
            let (jobs, files, file_count, verify, increment) = rest;
            let mut workload =
                json!({ "rw": rw, "block_size": blocks, "size": size, "jobs": jobs, "file_count": file_count });
            let others = [("offset", offset), ("files", files), ("offset_increment", increment)];
            others.iter().for_each(|(name, value)| workload[*name] = (*value).into());
            workload["verify"] = verify.into();
            serde_json::from_value(workload).unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Whatever turns out to be on the node: less room than the volume has, an alignment, a device that is larger.
        #[test]
        fn what_a_pod_takes_was_not_refused_before(
            workload in workloads(),
            gib in 1_u64..64,
            is_block in any::<bool>(),
            lost_percent in 1_u64..40,
            grown_percent in 0_u64..2000,
            alignment in prop::sample::select(vec![1_u32, 512, 4096]),
        ) {
            let bytes = gib << 30;
            let mode = if is_block { VolumeMode::Block } else { VolumeMode::Filesystem };
            let asked = asked(mode, bytes);
            let has_shares = [workload.size, workload.offset].iter().any(|it| matches!(it, Some(Extent::Percent(_))));
            let grown = if has_shares { grown_percent } else { 0 };
            let found = TargetFacts {
                size_bytes: asked[0].size_bytes.map(|size| (size + size / 100 * grown) >> 20 << 20),
                free_bytes: asked[0].free_bytes.map(|free| free - free / 100 * lost_percent),
                direct_alignment_bytes: Some(alignment),
                ..asked[0].clone()
            };
            let (workloads, certainty) = ([workload], Certainty::of(Effort::Quick));
            if Plan::resolve(&[found], &workloads, &certainty, 7).is_ok() {
                let known = resolve(&asked, &workloads, &certainty, 7);
                prop_assert!(known.is_ok(), "{}", known.unwrap_err());
            }
        }
    }
}
