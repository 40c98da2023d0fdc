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
    ByDirection {
        /// Of reads.
        read: Limit,
        /// Of writes.
        write: Limit,
        /// What both use up together.
        in_common: InCommon,
    },
}

/// In which dimensions the limits of reads and of writes are what either gets alone of one budget: half of one leaves
/// half of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InCommon {
    /// Operations.
    pub operations: bool,
    /// Bytes.
    pub bytes: bool,
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

impl InCommon {
    /// What reads do takes nothing from writes.
    pub const NOTHING: Self = Self { operations: false, bytes: false };
    /// Operations alone.
    pub const OPERATIONS: Self = Self { operations: true, bytes: false };
    /// Bytes alone.
    pub const BYTES: Self = Self { operations: false, bytes: true };
    /// All that they do.
    pub const ALL: Self = Self { operations: true, bytes: true };
}

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
            Self::ByDirection { read, write, in_common } => {
                Self::ByDirection { read: change(read), write: change(write), in_common }
            }
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
            Self::ByDirection { read, write, in_common } => Limit {
                operations: mixed(read.operations, write.operations, load.read_share, in_common.operations),
                bytes: mixed(read.bytes, write.bytes, load.read_share, in_common.bytes),
                io_size: None,
            },
        }
    }
}

/// Lasting rates of operations and bytes.
pub(crate) fn lasting(iops: Option<f64>, bytes_per_second: Option<f64>) -> Limit {
    Limit { operations: iops.map(RateLimit::lasting), bytes: bytes_per_second.map(RateLimit::lasting), io_size: None }
}

/// What both together may do when reads have this share, and each has a limit of its own, or a share of one budget.
pub(crate) fn mixed(
    read: Option<RateLimit>,
    write: Option<RateLimit>,
    read_share: f64,
    in_common: bool,
) -> Option<RateLimit> {
    let of = |limit: Option<RateLimit>, share: f64| limit.map(|limit| limit.times(1.0 / share));
    match (read_share > 0.0, read_share < 1.0) {
        (true, false) => read,
        (false, _) => write,
        (true, true) if in_common => {
            let (read, write) = (read?, write?);
            let of = |read: f64, write: f64| 1.0 / (read_share / read + (1.0 - read_share) / write);
            let of_both = |part: fn(RateLimit) -> Option<f64>| Some(of(part(read)?, part(write)?));
            let (burst, bucket) = (of_both(|limit| limit.burst), of_both(|limit| limit.bucket));
            Some(RateLimit { sustained: of(read.sustained, write.sustained), burst, bucket })
        }
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
        let at = |read_share, in_common| {
            let limits = Limits::ByDirection {
                read: lasting(Some(750.0), Some(3e6)),
                write: lasting(Some(1500.0), Some(1e6)),
                in_common,
            };
            let limit = limits.of(Load { read_share, operation_bytes: 4096.0, is_sequential: false });
            [limit.operations, limit.bytes].map(|of| of.unwrap().sustained.round())
        };
        for in_common in [InCommon::NOTHING, InCommon::ALL] {
            assert_eq!((at(1.0, in_common), at(0.0, in_common)), ([750.0, 3e6], [1500.0, 1e6]));
        }
        assert_eq!(at(0.5, InCommon::NOTHING), [1500.0, 2e6], "750 reads allow 750 writes");
        assert_eq!(at(0.25, InCommon::NOTHING), [2000.0, 1_333_333.0], "1,500 writes allow 500 reads");
        assert_eq!(at(0.5, InCommon::ALL), [1000.0, 1.5e6], "500 reads leave a third of 1,500 writes");
        assert_eq!(at(0.75, InCommon::OPERATIONS), [857.0, 4e6], "one dimension may be apart");
    }

    #[test]
    fn what_is_saved_up_in_one_budget_is_spent_by_reads_and_writes_alike() {
        let write = RateLimit { sustained: 50.0, burst: Some(100.0), bucket: Some(2000.0) };
        let of = |read_share| mixed(Some(write.times(3.0)), Some(write), read_share, true).unwrap();
        assert_eq!((of(1.0), of(0.5)), (write.times(3.0), write.times(1.5)));
    }
}
