//! What a target tells a plan: plain data, gathered by `plimsoll-io`.

use std::path::{Path, PathBuf};

/// Where operations go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A directory, in which plimsoll makes a marked subdirectory of its own.
    Directory,
    /// A directory of so many others, called 0, 1 and so on, each on a disk of its own: jobs are dealt among them.
    Directories(u32),
    /// A regular file, existing or to be created.
    File,
    /// A block device.
    Device,
}

impl TargetKind {
    /// Whether files are made in it.
    pub const fn is_directory(self) -> bool {
        matches!(self, Self::Directory | Self::Directories(_))
    }

    /// How many directories jobs are dealt among, if they are.
    pub const fn directories(self) -> Option<u32> {
        match self {
            Self::Directories(count) => Some(count),
            Self::Directory | Self::File | Self::Device => None,
        }
    }
}

/// The paths that a target stands for: its own, or those of the directories that jobs are dealt among.
pub fn places(target: &str, directories: Option<u32>) -> Vec<PathBuf> {
    let target = Path::new(target);
    match directories {
        None => vec![target.to_owned()],
        Some(count) => (0..count).map(|number| target.join(number.to_string())).collect(),
    }
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
