//! What a need asks of storage that is sold, and whether limits hold it in the long run.

use plimsoll_workload::{
    limit::{Limit, Part},
    need::{Amount, Direction, Need},
};
use serde::Serialize;

use crate::ceiling::{Ceiling, GIB, InCommon, Limits, mixed};

/// The least that an operation transfers.
const OPERATION_BYTES: f64 = 4096.0;

/// What can be too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// GiB.
    Size,
}

/// A rate of reads, of writes, or of whatever comes; 0 where nothing is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rates {
    /// Of either.
    pub any: f64,
    /// Of reads.
    pub read: f64,
    /// Of writes.
    pub write: f64,
}

/// What is asked of storage that is sold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Demand {
    /// Operations per second.
    pub iops: Rates,
    /// Bytes per second.
    pub bytes_per_second: Rates,
    /// Whole GiB.
    pub size_gib: u64,
}

/// What something has too little of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lack {
    /// What.
    pub dimension: Dimension,
    /// What it has; `None` where nobody says.
    pub has: Option<f64>,
    /// What is needed.
    pub needs: f64,
    /// Of which part of the way that is.
    pub part: Part,
}

/// What lasts of a part of the way, or of all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lasting {
    pub(super) iops: Option<f64>,
    pub(super) bytes_per_second: Option<f64>,
}

impl Rates {
    /// What a limit has to hold that reads and writes share.
    pub fn together(self) -> f64 {
        self.any.max(self.read + self.write)
    }

    /// What a limit of reads alone has to hold.
    fn of_reads(self) -> f64 {
        self.any.max(self.read)
    }

    /// What a limit of writes alone has to hold.
    fn of_writes(self) -> f64 {
        self.any.max(self.write)
    }
}

impl Demand {
    /// What a need asks of storage that is sold. Latencies are in no catalog.
    pub fn of(need: &Need) -> Self {
        let mut demand = Self::default();
        for want in &need.wants {
            let (rates, amount) = match want.amount {
                Amount::Iops(operations) => (&mut demand.iops, operations),
                Amount::Bandwidth(bytes) => (&mut demand.bytes_per_second, bytes.0 as f64),
                Amount::Latency(..) => continue,
            };
            match want.direction {
                None => rates.any = amount,
                Some(Direction::Read) => rates.read = amount,
                Some(Direction::Write) => rates.write = amount,
                Some(Direction::Sync) => {}
            }
        }
        demand.size_gib = need.size.map_or(0, |size| size.0.div_ceil(GIB as u64));
        demand
    }

    /// The dimensions in which anything is asked.
    pub fn dimensions(&self) -> impl Iterator<Item = Dimension> {
        let asked = [
            (Dimension::Iops, self.iops.together() > 0.0),
            (Dimension::Bandwidth, self.bytes_per_second.together() > 0.0),
            (Dimension::Size, self.size_gib > 0),
        ];
        asked.into_iter().filter_map(|(dimension, is_asked)| is_asked.then_some(dimension))
    }

    /// Bytes per second of reads and writes together, of which operations are a part.
    pub(super) fn bytes_together(&self) -> f64 {
        self.bytes_per_second.together().max(self.iops.together() * OPERATION_BYTES)
    }

    /// Bytes per second of reads and of writes, of which operations are a part.
    fn bytes_of_each(&self) -> Rates {
        let (iops, bytes) = (self.iops, self.bytes_per_second);
        Rates {
            any: bytes.any.max(iops.any * OPERATION_BYTES),
            read: bytes.read.max(iops.read * OPERATION_BYTES),
            write: bytes.write.max(iops.write * OPERATION_BYTES),
        }
    }

    /// What limits of reads and of writes let through of both together, in the mix that is asked.
    fn mix(&self, read: Limit, write: Limit, in_common: InCommon) -> Limit {
        let share = |rates: Rates| rates.read / (rates.read + rates.write);
        let of_bytes = share(self.bytes_of_each());
        // Where no operations are asked for, they come as the bytes do.
        let of_operations = Some(share(self.iops)).filter(|share| !share.is_nan()).unwrap_or(of_bytes);
        Limit {
            operations: mixed(read.operations, write.operations, of_operations, in_common.operations),
            bytes: mixed(read.bytes, write.bytes, of_bytes, in_common.bytes),
            io_size: read.io_size,
        }
    }

    /// What is asked in one dimension alone.
    pub(super) fn only(&self, dimension: Dimension) -> Self {
        let nothing = Self::default();
        match dimension {
            Dimension::Iops => Self { iops: self.iops, ..nothing },
            Dimension::Bandwidth => Self { bytes_per_second: self.bytes_per_second, ..nothing },
            Dimension::Size => Self { size_gib: self.size_gib, ..nothing },
        }
    }

    /// What parts of the way have too little of, the first that does.
    pub(super) fn lack(&self, parts: &[Ceiling]) -> Option<Lack> {
        parts.iter().find_map(|ceiling| {
            let lack = |limit: Limit, iops: f64, bytes: f64| lack(lasting(limit), iops, bytes, ceiling.part);
            let (iops, bytes) = (self.iops, self.bytes_per_second);
            match ceiling.limits {
                // What is asked in operations is asked of small ones anywhere.
                Limits::Shared(limit) | Limits::ByOrder { random: limit, .. } => {
                    lack(limit, iops.together(), bytes.together())
                }
                Limits::ByDirection { read, write, in_common } => lack(read, iops.of_reads(), bytes.of_reads())
                    .or_else(|| lack(write, iops.of_writes(), bytes.of_writes()))
                    .or_else(|| {
                        let mix = self.mix(read, write, in_common);
                        let bytes = if mix.bytes.is_some() { self.bytes_of_each() } else { bytes };
                        lack(mix, iops.read + iops.write, bytes.read + bytes.write)
                    }),
            }
        })
    }

    /// The same of a capacity; one that is not known holds what nothing is asked of.
    pub(super) fn lack_of_size(&self, size_gib: Option<f64>) -> Option<Lack> {
        let needs = self.size_gib as f64;
        let holds = size_gib.map_or(needs <= 0.0, |size| size >= needs);
        (!holds).then_some(Lack { dimension: Dimension::Size, has: size_gib, needs, part: Part::Disk })
    }

    /// What lasts behind all parts, of the operations that anything is asked of.
    pub(super) fn lasting(&self, parts: &[Ceiling]) -> Lasting {
        let any = self.iops.any + self.bytes_per_second.any;
        let of_each = self.bytes_of_each();
        let is_mix = any <= 0.0 && of_each.read + of_each.write > 0.0;
        let each = parts.iter().map(|ceiling| match ceiling.limits {
            Limits::Shared(limit) | Limits::ByOrder { random: limit, .. } => lasting(limit),
            Limits::ByDirection { read, write, in_common } if is_mix => lasting(self.mix(read, write, in_common)),
            Limits::ByDirection { read, write, .. } => lasting(read).least(lasting(write)),
        });
        each.fold(Lasting::default(), Lasting::least)
    }
}

impl Lasting {
    fn least(self, other: Self) -> Self {
        let least = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self {
            iops: least(self.iops, other.iops),
            bytes_per_second: least(self.bytes_per_second, other.bytes_per_second),
        }
    }
}

/// What lasts of a limit. Where large operations count as several, bytes last no longer than operations do.
fn lasting(limit: Limit) -> Lasting {
    let iops = limit.operations.map(|operations| operations.sustained);
    let of_operations = iops.zip(limit.io_size).map_or(f64::INFINITY, |(iops, size)| iops * size.0 as f64);
    Lasting { iops, bytes_per_second: limit.bytes.map(|bytes| bytes.sustained.min(of_operations)) }
}

fn lack(lasting: Lasting, iops: f64, bytes: f64, part: Part) -> Option<Lack> {
    // Operations transfer something too, where it is known how much may be.
    let bytes = if lasting.bytes_per_second.is_some() { bytes.max(iops * OPERATION_BYTES) } else { bytes };
    let asked = [(Dimension::Iops, lasting.iops, iops), (Dimension::Bandwidth, lasting.bytes_per_second, bytes)];
    let (dimension, has, needs) = asked.into_iter().find(|(_, has, needs)| {
        // Of a machine that nobody knows a figure of, nobody can say that it is in the way.
        *needs > 0.0 && has.map_or(part != Part::Vm, |has| has < *needs)
    })?;
    Some(Lack { dimension, has, needs, part })
}
