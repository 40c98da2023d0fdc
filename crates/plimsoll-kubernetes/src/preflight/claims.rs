//! Whether claims that are there can be measured, and whether the program may open devices. Pure.

use k8s_openapi::api::core::v1::PersistentVolumeClaim;

use super::{Check, State};
use crate::request::{AccessMode, PodCount, PodRun, VolumeMode, VolumeSource};

/// The access mode of volumes that one pod may have.
const ONE_POD: &str = "ReadWriteOncePod";

/// Why a claim cannot be measured as is asked, in so many pods.
pub(crate) fn refusal(
    name: &str,
    namespace: &str,
    claim: Option<&PersistentVolumeClaim>,
    mode: VolumeMode,
    pods: &PodCount,
) -> Option<String> {
    let Some(claim) = claim else { return Some(format!("namespace {namespace} has no claim {name}")) };
    let is = claim.spec.as_ref().and_then(|spec| spec.volume_mode.as_deref()).unwrap_or("Filesystem");
    if is != mode.as_str() {
        return Some(format!("claim {name} is of another mode: say --mode {}", is.to_lowercase()));
    }
    let access = claim.spec.as_ref().and_then(|spec| spec.access_modes.clone()).unwrap_or_default();
    if pods.are_several() && !access.is_empty() && access.iter().all(|mode| mode == ONE_POD) {
        return Some(format!("claim {name} is for one pod at a time ({ONE_POD}): ask for one, on one node"));
    }
    let is_of_many = access.iter().any(|mode| mode == AccessMode::ReadWriteMany.as_str());
    (pods.nodes > 1 && !is_of_many).then(|| {
        let access = access.join(", ");
        format!("claim {name} is not for several nodes ({access}): say --pods-per-node instead of --nodes")
    })
}

/// What becomes of the claims of a run that are there before it. `claims` is all of the namespace.
pub(super) fn judge(claims: &[PersistentVolumeClaim], namespace: &str, run: &PodRun) -> Vec<Check> {
    const ABOUT: &str = "claim";
    let one = |volume: &crate::request::VolumeAsked| {
        let VolumeSource::Claim { name } = &volume.source else { return None };
        let claim = claims.iter().find(|claim| claim.metadata.name.as_ref() == Some(name));
        if let Some(why) = refusal(name, namespace, claim, volume.mode, &run.pods) {
            return Some(Check::new(State::Fails, ABOUT, why));
        }
        let phase = claim.and_then(|claim| claim.status.as_ref()?.phase.as_deref()).unwrap_or("Pending");
        Some(match phase {
            "Lost" => Check::new(State::Fails, ABOUT, format!("the volume of claim {name} is lost")),
            "Bound" => Check::new(State::Ok, ABOUT, format!("{name} is there, and has its volume")),
            _ => Check::new(State::Ok, ABOUT, format!("{name} is there, and gets its volume when a pod needs it")),
        })
    };
    run.volumes.iter().filter_map(one).collect()
}

/// Whether the program may open the devices that it is to measure.
pub(super) fn devices(run: &PodRun) -> Option<Check> {
    let has_devices = run.volumes.iter().any(|volume| volume.mode == VolumeMode::Block);
    (has_devices && !run.runs_as_root).then(|| {
        let text = "whether nodes give devices to other users than root is not known before a pod has one: should it be \
                    refused there, say --run-as-root";
        Check::new(State::Unknown, "devices", text)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::request::{test_runs::run, volumes};

    #[test]
    fn a_claim_has_to_be_there_and_of_the_mode_that_is_asked_for() {
        let of = |mode: VolumeMode| {
            let names = ["data".to_owned()];
            let volumes = volumes(&[], &[], &names, mode, AccessMode::ReadWriteOnce).unwrap();
            PodRun { volumes, ..run(&[], 8) }
        };
        let claim = |phase: &str| {
            let claim = json!({ "metadata": { "name": "data" }, "spec": {}, "status": { "phase": phase } });
            vec![serde_json::from_value::<PersistentVolumeClaim>(claim).unwrap()]
        };
        let judged = |claims: &[PersistentVolumeClaim], mode: VolumeMode| judge(claims, "n", &of(mode)).remove(0);
        assert_eq!(judged(&claim("Bound"), VolumeMode::Filesystem).state, State::Ok);
        assert_eq!(judged(&claim("Lost"), VolumeMode::Filesystem).state, State::Fails);
        assert!(judged(&[], VolumeMode::Filesystem).text.contains("namespace n has no claim data"));
        assert!(judged(&claim("Bound"), VolumeMode::Block).text.contains("--mode filesystem"));
        let several = |per_node, nodes| {
            let pods = PodCount { nodes, per_node, ..PodCount::ONE };
            judge(&claim("Bound"), "n", &PodRun { pods, ..of(VolumeMode::Filesystem) }).remove(0).state
        };
        assert_eq!((several(2, 1), several(1, 2)), (State::Ok, State::Fails));
        let access = json!({ "metadata": { "name": "data" }, "spec": { "accessModes": [ONE_POD] } });
        let of_one: PersistentVolumeClaim = serde_json::from_value(access).unwrap();
        let why = |nodes, per_node| {
            let pods = PodCount { nodes, per_node, ..PodCount::ONE };
            refusal("data", "n", Some(&of_one), VolumeMode::Filesystem, &pods)
        };
        assert_eq!(why(1, 1), None);
        for why in [why(1, 2), why(2, 1)] {
            assert!(why.unwrap().contains("for one pod at a time (ReadWriteOncePod)"));
        }
        assert!(devices(&of(VolumeMode::Block)).is_some() && devices(&of(VolumeMode::Filesystem)).is_none());
    }
}
