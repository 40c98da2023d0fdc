//! Changing a volume that is there: making it larger, and making a snapshot of it.

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::{
    api::{DynamicObject, Patch, PatchParams},
    runtime::wait::await_condition,
};
use plimsoll_catalog::quantity::Quantity;
use plimsoll_record::lifecycle::Happening;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{
    super::{snapshots, uses::too_long},
    End, Life, NOBODY_SAYS, PAUSE, Surroundings,
};
use crate::{error::ClusterError, manifests::lives::snapshot, request::quantity};

impl Life<'_> {
    pub(super) async fn resize(&mut self, first: usize, user: usize, size_bytes: u64) -> Result<(), End> {
        let name = self.uses[first].claim.clone();
        if let Some(why) = self.capacity(&name).and_then(|has_bytes| why_not_larger(has_bytes, size_bytes)) {
            return Err(End::Failed(why));
        }
        let deadline = Instant::now() + self.around.patience.start;
        self.happened(first, Happening::ResizeSent);
        let asked = json!({ "spec": { "resources": { "requests": { "storage": quantity(size_bytes) } } } });
        let claims = self.around.cluster.here::<PersistentVolumeClaim>();
        let (parameters, asked) = (PatchParams::default(), Patch::Merge(asked));
        let what = format!("ask for a larger volume of claim {name}");
        let patched = self.persist(&what, deadline, async || claims.patch(&name, &parameters, &asked).await).await?;
        patched.map_err(|error| ClusterError::of(what, &error))?;
        let is_larger = move |life: &Self| life.capacity(&name).is_some_and(|bytes| bytes >= size_bytes);
        self.until(deadline, user, "the volume is not larger", is_larger).await?;
        self.happened(first, Happening::Resized);
        let has_grown = move |life: &Self| life.uses[user].grown.is_some();
        self.until(deadline, user, "the program does not see that the volume is larger", has_grown).await?;
        if let Some((at, seen_ns)) = self.uses[user].grown {
            let first = &mut self.uses[first];
            first.timeline.told(std::slice::from_ref(&first.claim), Happening::Grown, at, seen_ns);
        }
        Ok(())
    }

    /// Makes a snapshot; gives its name, and how large a volume made of it has to be at least, as far as it says.
    pub(super) async fn take_snapshot(&mut self, first: usize) -> Result<(String, Option<u64>), End> {
        let Surroundings { cluster, lives, owner, snapshot_classes, patience, .. } = self.around;
        let (name, of) = (self.name("snapshot"), self.uses[first].claim.clone());
        let snapshots = snapshots::here(cluster);
        let object =
            snapshot(lives, &name, &of, snapshot_classes[self.kind].as_ref().map(|class| class.name.as_str()), owner);
        let deadline = Instant::now() + patience.start;
        self.happened(first, Happening::SnapshotSent);
        self.snapshot = Some(name.clone());
        self.create(&snapshots, "VolumeSnapshot", &object, deadline).await?;
        let is_ready = |snapshot: Option<&DynamicObject>| snapshot.is_some_and(snapshots::is_ready);
        let mut broke = None;
        let ready = loop {
            match self.unless_over(deadline, await_condition(snapshots.clone(), &name, is_ready)).await? {
                Some(Ok(snapshot)) => break snapshot,
                // A watch that broke off is begun anew.
                Some(Err(error)) => {
                    broke = Some(error.to_string());
                    self.unless_over(deadline, sleep(PAUSE)).await?;
                }
                None => {
                    let found = snapshots.get_opt(&name).await.ok().flatten();
                    self.snapshot_content = found.as_ref().and_then(snapshots::content).map(str::to_owned);
                    let why = found.as_ref().and_then(snapshots::trouble).or(broke.as_deref());
                    let why = why.unwrap_or(NOBODY_SAYS);
                    return Err(End::Failed(too_long("the snapshot is not ready", patience.start, why)));
                }
            }
        };
        self.happened(first, Happening::SnapshotReady);
        self.snapshot_content = ready.as_ref().and_then(snapshots::content).map(str::to_owned);
        Ok((name, ready.as_ref().and_then(snapshots::restore_bytes)))
    }

    /// How large the volume of a claim is, which may be more than was asked for.
    pub(super) fn capacity(&self, claim: &str) -> Option<u64> {
        capacity(self.claims.get(claim)?.as_ref()?)
    }
}

fn capacity(claim: &PersistentVolumeClaim) -> Option<u64> {
    let capacity = claim.status.as_ref()?.capacity.as_ref()?.get("storage")?;
    Quantity::read(&capacity.0)?.whole()
}

/// Why a volume does not become larger by being asked to have a size.
fn why_not_larger(has_bytes: u64, asked_bytes: u64) -> Option<String> {
    (has_bytes >= asked_bytes).then(|| {
        format!(
            "the volume has {} already, more than --size, and --resize {} would not make it larger: ask for more",
            quantity(has_bytes),
            quantity(asked_bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_that_its_driver_made_as_large_as_it_is_to_become_is_not_waited_for() {
        let claim = json!({ "metadata": { "name": "c" }, "status": { "capacity": { "storage": "50Gi" } } });
        let has_bytes = capacity(&serde_json::from_value(claim).unwrap()).unwrap();
        assert!(why_not_larger(has_bytes, 16 << 30).unwrap().contains("has 50Gi already"));
        assert!(why_not_larger(has_bytes, 50 << 30).is_some());
        assert_eq!(why_not_larger(has_bytes, 51 << 30), None);
    }
}
