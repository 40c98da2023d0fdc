//! What one part of the way to a storage lets through.

pub use plimsoll_workload::limit::Part;
use plimsoll_workload::limit::{Limit, RateLimit};
use serde::Serialize;

use crate::source::Source;

/// Limits of reads and writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limits {
    /// Both share one.
    Shared(Limit),
    /// Of operations that follow each other, and of those that do not; shared by reads and writes.
    ByOrder {
        /// Of those that follow each other.
        sequential: Limit,
        /// Of others.
        random: Limit,
    },
    /// Each has its own.
    Separate {
        /// Of reads.
        read: Limit,
        /// Of writes.
        write: Limit,
    },
}

/// How far a measured rate may be from what a part is said to deliver, and still be it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tolerance {
    /// Below, as a share.
    pub under: f64,
    /// Above, as a share.
    pub over: f64,
}

/// What one part lets through, and where that stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// Which part.
    pub part: Part,
    /// Its name: `P30`, `Standard_D16s_v5`.
    pub name: String,
    /// What it lets through.
    pub limits: Limits,
    /// How exactly it is kept.
    pub tolerance: Tolerance,
    /// Where that stands.
    pub sources: Vec<&'static Source>,
    /// What a reader has to know besides.
    pub notes: Vec<String>,
}

/// A load, as far as limits care.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Share of reads among its operations, 0 to 1.
    pub read_share: f64,
    /// Bytes of an operation.
    pub operation_bytes: f64,
    /// Whether operations follow each other.
    pub is_sequential: bool,
}

/// Bytes per second of a decimal megabyte per second.
pub(crate) const MB: f64 = 1e6;
/// Bytes per second of a mebibyte per second.
pub(crate) const MIB: f64 = 1_048_576.0;
/// Bytes of a gibibyte.
pub(crate) const GIB: f64 = 1_073_741_824.0;
/// Bytes of a tebibyte.
pub(crate) const TIB: f64 = 1_099_511_627_776.0;

impl Tolerance {
    /// Of most products: figures are rounded, MB and MiB are mixed up, and premium disks deliver up to 4 % more.
    pub const USUAL: Self = Self { under: 0.05, over: 0.05 };
    /// Of magnetic disks, which were seen to deliver 12 % more.
    pub const MAGNETIC: Self = Self { under: 0.05, over: 0.15 };
}

impl Limits {
    /// What nothing is known of.
    pub const UNKNOWN: Self = Self::Shared(Limit { operations: None, bytes: None, io_size: None });

    /// Lasting rates of operations and bytes, shared by reads and writes.
    pub(crate) fn lasting(iops: Option<f64>, bytes_per_second: Option<f64>) -> Self {
        Self::Shared(lasting(iops, bytes_per_second))
    }

    /// So many of them side by side.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        self.map(|limit| limit.times(factor))
    }

    /// The same with each limit changed.
    pub(crate) fn map(self, change: impl Fn(Limit) -> Limit) -> Self {
        match self {
            Self::Shared(limit) => Self::Shared(change(limit)),
            Self::ByOrder { sequential, random } => {
                Self::ByOrder { sequential: change(sequential), random: change(random) }
            }
            Self::Separate { read, write } => Self::Separate { read: change(read), write: change(write) },
        }
    }

    /// What they mean for a load, reads and writes counted together.
    pub fn of(self, load: Load) -> Limit {
        match self.map(|limit| limit.for_operations_of(load.operation_bytes)) {
            Self::Shared(limit) => limit,
            Self::ByOrder { sequential, random } => {
                if load.is_sequential {
                    sequential
                } else {
                    random
                }
            }
            Self::Separate { read, write } => Limit {
                operations: mixed(read.operations, write.operations, load.read_share),
                bytes: mixed(read.bytes, write.bytes, load.read_share),
                io_size: None,
            },
        }
    }
}

/// Lasting rates of operations and bytes.
pub(crate) fn lasting(iops: Option<f64>, bytes_per_second: Option<f64>) -> Limit {
    Limit { operations: iops.map(RateLimit::lasting), bytes: bytes_per_second.map(RateLimit::lasting), io_size: None }
}

/// What both together may do when reads have this share, and each has a limit of its own.
fn mixed(read: Option<RateLimit>, write: Option<RateLimit>, read_share: f64) -> Option<RateLimit> {
    let of = |limit: Option<RateLimit>, share: f64| limit.map(|limit| limit.times(1.0 / share));
    match (read_share > 0.0, read_share < 1.0) {
        (true, false) => read,
        (false, _) => write,
        (true, true) => {
            let (read, write) = (of(read, read_share)?, of(write, 1.0 - read_share)?);
            Some(if read.sustained <= write.sustained { read } else { write })
        }
    }
}

impl Ceiling {
    /// So many of them striped.
    pub(crate) fn striped(mut self, disks: u32) -> Self {
        if disks > 1 {
            self.name = format!("{disks} x {}", self.name);
            self.limits = self.limits.times(f64::from(disks));
        }
        self
    }

    /// One of so many equal shares.
    pub(crate) fn shared_by(mut self, shares: u32) -> Self {
        if shares > 1 {
            self.name = format!("1/{shares} of {}", self.name);
            self.limits = self.limits.times(1.0 / f64::from(shares));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_reads_and_writes_bind_a_mix_by_its_shares() {
        let limits = Limits::Separate { read: lasting(Some(750.0), None), write: lasting(Some(1500.0), None) };
        let at = |read_share| {
            let load = Load { read_share, operation_bytes: 4096.0, is_sequential: false };
            limits.of(load).operations.map(|of| of.sustained)
        };
        assert_eq!((at(1.0), at(0.0)), (Some(750.0), Some(1500.0)));
        assert_eq!(at(0.5), Some(1500.0), "750 reads allow 750 writes");
        assert_eq!(at(0.25), Some(2000.0), "1,500 writes allow 500 reads");
    }
}
