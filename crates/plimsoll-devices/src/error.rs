//! Why storage could not be made or taken down. Each message says what to do.

use std::{io, path::PathBuf};

use thiserror::Error;

/// Why storage could not be made or taken down.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// What was asked cannot be.
    #[error("{0}")]
    Usage(String),
    /// It is there already.
    #[error(
        "emulation \"{name}\" is up already: end it with `plimsoll emulate down {name}`, or name another with --name"
    )]
    Exists {
        /// Its name.
        name: String,
    },
    /// There is none of that name.
    #[error("there is no emulation \"{name}\": `plimsoll emulate list` shows those that are up")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// Somebody uses it.
    #[error("{device} is {used}: end that first, nothing was taken down")]
    InUse {
        /// The device.
        device: String,
        /// How: `mounted at /mnt`, `part of md0`.
        used: String,
    },
    /// The kernel cannot hold devices back here.
    #[error(
        "no control group can hold a device back here ({0}): mount /sys/fs/cgroup with the controller blkio (version 1) \
         or io (version 2), and run as root outside of containers"
    )]
    NoThrottle(String),
    /// A tool is missing or failed.
    #[error("{tool} {why}")]
    Tool {
        /// The tool: `losetup`.
        tool: String,
        /// What it said, or that it is not there.
        why: String,
    },
    /// A file could not be written, read or removed.
    #[error("{doing} {}", path.display())]
    File {
        /// What was done: `write`.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// What is written down of an emulation is not what an emulation writes.
    #[error("{} is not what an emulation writes ({why}): look into it, and remove it when it is not wanted", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

impl DeviceError {
    /// An error of a file.
    pub(crate) fn file(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { doing, path, source }
    }
}
