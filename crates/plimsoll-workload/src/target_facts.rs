//! What a target tells a plan: plain data, gathered by `plimsoll-io`.

/// Where operations go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A directory, in which plimsoll makes a marked subdirectory of its own.
    Directory,
    /// A regular file, existing or to be created.
    File,
    /// A block device.
    Device,
}

/// What must be known of a target to make an exact plan for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetFacts {
    /// The path as given, which names the target everywhere.
    pub name: String,
    /// What it is.
    pub kind: TargetKind,
    /// Size of the device or existing file; `None` where files are still to be made.
    pub size_bytes: Option<u64>,
    /// Free space for an unprivileged user, for directories and new files.
    pub free_bytes: Option<u64>,
    /// Offsets and lengths of direct I/O are multiples of this; `None` when direct I/O is not supported.
    pub direct_alignment_bytes: Option<u32>,
}
