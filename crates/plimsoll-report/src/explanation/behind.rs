//! What the disk did behind an application, or a phase of a set of files. Transactions and files are no requests of a
//! disk, so that limits are set beside the requests that they took.

use plimsoll_catalog::{
    ceiling::{Load, Tolerance},
    expectation::Expectation,
};
use plimsoll_record::{
    application::Iteration,
    figures::Operation,
    record::{Cell, Kind},
    results::DeviceActivity,
};
use plimsoll_workload::limit::Limit;

use super::{
    did::Did,
    standing::{self, Judged, Unit},
};

/// Fewer requests for each file say that its rate is not theirs.
const REQUESTS_EACH_MIN: f64 = 0.5;
/// How exactly files per second follow from the requests that they took.
const FILES: Tolerance = Tolerance { under: 0.1, over: 0.1 };

/// What the disk did meanwhile.
pub(crate) struct Behind {
    /// The phase, or everything that an application did.
    pub(super) operation: Operation,
    /// Files a second, and requests for each.
    pub(super) files: Option<(f64, f64)>,
    /// How long it took.
    elapsed_ns: u64,
    device: DeviceActivity,
}

impl Behind {
    /// Whether a cell's own operations are no requests of a disk.
    pub(crate) fn is_behind(cell: &Cell) -> bool {
        cell.told.is_none() && matches!(cell.kind, Kind::Files | Kind::Application)
    }

    /// What is known of it for such a cell.
    pub(super) fn of(cell: &Cell) -> Vec<Self> {
        let phases = cell.files.iter().flat_map(|files| &files.phases).filter_map(|phase| {
            let each = phase.device_operations_per_operation.filter(|each| *each >= REQUESTS_EACH_MIN)?;
            let result = cell.phase_result(phase.phase)?;
            Some(Self {
                operation: Operation::Phase(phase.phase),
                files: Some((result.iops, each)),
                elapsed_ns: result.elapsed_ns,
                device: phase.device.clone()?,
            })
        });
        phases.chain(Self::of_application(cell)).collect()
    }

    fn of_application(cell: &Cell) -> Option<Self> {
        let iterations: Vec<&Iteration> = cell.application.as_ref()?.counted().collect();
        let mut device = DeviceActivity::default();
        let mut elapsed_ns = 0;
        for iteration in iterations {
            device.add(iteration.own_device()?);
            elapsed_ns += iteration.elapsed_ns;
        }
        (elapsed_ns > 0).then_some(Self { operation: Operation::All, files: None, elapsed_ns, device })
    }

    fn per_second(&self, count: u64) -> f64 {
        count as f64 * 1e9 / self.elapsed_ns.max(1) as f64
    }

    const fn requests(&self) -> u64 {
        self.device.read_operations + self.device.write_operations
    }

    /// Requests a second.
    pub(super) fn iops(&self) -> f64 {
        self.per_second(self.requests())
    }

    /// What Linux made of these requests before the disk had them: more than that were asked for.
    pub(super) fn iops_before_merging(&self) -> f64 {
        self.per_second(self.requests() + self.device.read_merges + self.device.write_merges)
    }

    /// Share of the time in which the disk had something to do.
    pub(super) fn busy_share(&self) -> f64 {
        self.device.busy_ns as f64 / self.elapsed_ns.max(1) as f64
    }

    /// Requests that it had at a time, while it had any.
    pub(super) fn in_flight(&self) -> f64 {
        self.device.queue_ns as f64 / self.device.busy_ns.max(1) as f64
    }

    /// What its limits are for such requests.
    pub(super) fn load(&self) -> Load {
        let requests = self.requests().max(1) as f64;
        Load {
            read_share: self.device.read_operations as f64 / requests,
            operation_bytes: ((self.device.read_bytes + self.device.write_bytes) as f64 / requests).max(1.0),
            is_sequential: false,
        }
    }

    /// How its rate stands beside what was to be expected; `None` of a disk that did nothing.
    pub(super) fn judge(&self, expectation: &Expectation) -> Option<Judged> {
        let mut expected = expectation.for_load(self.load());
        let bytes_per_second = self.per_second(self.device.read_bytes + self.device.write_bytes);
        let did = Did {
            operation: self.operation,
            iops: Some(self.files.map_or_else(|| self.iops(), |(files, _)| files)),
            bytes_per_second: Some(bytes_per_second),
            iops_interval: None,
        };
        if let Some((_, each)) = self.files {
            let Limit { operations, .. } = expected.limit;
            expected.limit.operations = operations.map(|limit| limit.times(1.0 / each));
        }
        let tolerance = |part| if self.files.is_some() { FILES } else { expectation.tolerance(part) };
        let judged = standing::judge(&did, &expected, None, None, &[], tolerance).filter(|_| self.requests() > 0)?;
        let unit = if self.files.is_some() && judged.unit == Unit::Iops { Unit::FilesPerSecond } else { judged.unit };
        Some(Judged { unit, ..judged })
    }
}
