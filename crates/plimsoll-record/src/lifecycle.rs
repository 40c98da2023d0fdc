//! The life of a volume of Kubernetes: when it was asked for, made, attached, mounted and used, and how long it took to
//! be gone again.
//!
//! There are two kinds of clocks. What a watch delivers is timed by whoever watches, on a clock that only goes forward,
//! and includes the way from the cluster. Events carry the time of the component that wrote them, to the nanosecond in
//! their names. A phase is measured within one kind; where both know it, both are kept.

use serde::{Deserialize, Serialize};

/// The life of one volume in one run. Times are nanoseconds; a phase that was not seen, or that this volume does not
/// have, is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct VolumeLifecycle {
    /// The target that it was.
    pub target: String,
    /// Which use of a volume this is about, where `plimsoll kubernetes lifecycle` had volumes used several times. What
    /// happens to the volume itself is told of its first use: resizing, snapshots and the deletion too.
    #[serde(skip_serializing_if = "UsedAs::is_first")]
    pub used_as: UsedAs,
    /// Why it went no further, with what the cluster says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The claim.
    pub claim: String,
    /// The volume that the claim was bound to.
    pub volume: Option<String>,
    /// The node that it was attached to.
    pub node: Option<String>,
    /// How long the phases took.
    pub phases: Phases,
    /// The same by the times that events carry, as far as they tell.
    pub phases_by_events: Phases,
    /// Phases of which the two kinds of clocks tell different things.
    pub disagreements: Vec<Disagreement>,
    /// What happened when, in the order in which it was seen.
    pub moments: Vec<Moment>,
    /// What failed on the way, whether or not it worked in the end.
    pub failures: Vec<Failure>,
}

/// How a volume came to be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UsedAs {
    /// It was new.
    #[default]
    First,
    /// It had been used on the same node before: nothing has to be made in it.
    Again,
    /// It was taken from a pod on another node.
    Moved,
    /// It was made from a snapshot.
    Restored,
    /// It was made from another volume.
    Cloned,
}

impl UsedAs {
    /// Whether it was new.
    pub fn is_first(&self) -> bool {
        *self == Self::First
    }
}

/// How long the phases of a volume's life took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Phases {
    /// The claim is accepted by the cluster.
    pub create_ns: Option<u64>,
    /// The volume is made: from the claim, or from the choice of a node where the class waits for one, until the volume
    /// is there. By events, from when the driver begins.
    pub provision_ns: Option<u64>,
    /// The claim gets its volume: from the claim, or from the choice of a node where the class waits for one.
    pub bind_ns: Option<u64>,
    /// The pod gets its node: from when it may be scheduled. With a class that waits for a consumer the volume is made
    /// meanwhile.
    pub schedule_ns: Option<u64>,
    /// The volume is attached to the node; null for drivers that attach nothing.
    pub attach_ns: Option<u64>,
    /// The volume is mounted, or mapped as a device: from attached until containers may start. The first time this
    /// includes making the file system, and always the pod's sandbox and network.
    pub mount_ns: Option<u64>,
    /// The container starts: from mounted until its program runs.
    pub start_ns: Option<u64>,
    /// The first read or write is done: from when the program runs.
    pub first_io_ns: Option<u64>,
    /// All of that: from when the claim was sent until the first read or write was done. Where the volume was there
    /// already, from when its pod was sent; where it was taken from another node, from when the pod there was to end.
    pub ready_ns: Option<u64>,
    /// The volume is detached from the node: from when that is asked for.
    pub detach_ns: Option<u64>,
    /// The claim is told to be as large as asked: from when that was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resize_ns: Option<u64>,
    /// The program sees that its volume has grown: from when that was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grow_ns: Option<u64>,
    /// A snapshot can be used: from when it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_ns: Option<u64>,
    /// The volume is gone: from when the claim's deletion was sent until its volume is deleted.
    pub delete_ns: Option<u64>,
}

impl Phases {
    /// The phases by name, in order.
    pub const fn named(&self) -> [(&'static str, Option<u64>); 14] {
        [
            ("create", self.create_ns),
            ("provision", self.provision_ns),
            ("bind", self.bind_ns),
            ("schedule", self.schedule_ns),
            ("attach", self.attach_ns),
            ("mount", self.mount_ns),
            ("start", self.start_ns),
            ("first I/O", self.first_io_ns),
            ("ready", self.ready_ns),
            ("detach", self.detach_ns),
            ("resize", self.resize_ns),
            ("grow", self.grow_ns),
            ("snapshot", self.snapshot_ns),
            ("delete", self.delete_ns),
        ]
    }
}

/// A phase that took another time by the clock of whoever watched than by those of events: by more than a quarter of a
/// second, and more than a tenth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disagreement {
    /// The phase.
    pub phase: String,
    /// What was seen.
    pub seen_ns: u64,
    /// What events tell.
    pub told_ns: u64,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moment {
    /// What.
    pub what: Happening,
    /// When it was seen, since the claim was sent, or what else `ready_ns` is counted from, on the clock of whoever
    /// watched; null where it was not watched, or was there already when watching began.
    pub seen_ns: Option<u64>,
    /// When it happened by the clock of the component that told, since the claim was sent by the clock of whoever sent
    /// it. Two machines may not agree.
    pub told_ns: Option<i64>,
}

/// What can happen to a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// The claim was sent.
    ClaimSent,
    /// The cluster accepted the claim.
    ClaimAccepted,
    /// The pod was there, and might be scheduled: claims that need no pod were bound by then.
    PodReleased,
    /// A node was chosen for the volume.
    NodeChosen,
    /// The driver began to make the volume.
    Provisioning,
    /// The volume was there.
    Provisioned,
    /// The claim was bound to it.
    Bound,
    /// The pod was bound to a node.
    Scheduled,
    /// The volume was to be attached.
    AttachAsked,
    /// It was attached.
    Attached,
    /// The pod was told that it is.
    AttachReported,
    /// It was mounted or mapped.
    Mounted,
    /// The container started.
    Started,
    /// The program in it ran.
    Running,
    /// The first read or write was done.
    FirstIo,
    /// The pod had ended.
    PodEnded,
    /// The volume was to be detached.
    DetachAsked,
    /// It was detached.
    Detached,
    /// The volume was to be larger.
    ResizeSent,
    /// The claim was told to be.
    Resized,
    /// The program saw that it is.
    Grown,
    /// A snapshot was sent.
    SnapshotSent,
    /// It could be used.
    SnapshotReady,
    /// The deletion of the claim was sent.
    DeleteSent,
    /// The claim was gone.
    ClaimGone,
    /// The volume was gone.
    VolumeGone,
}

/// Something that failed, as the cluster's events tell it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// The reason that the event gives: `FailedAttachVolume` for example.
    pub reason: String,
    /// What it says.
    pub message: String,
    /// How often it happened.
    pub count: u32,
}
