//! What a slot cost the machine and did to the disk: snapshots of the kernel's counters, and their differences.
//!
//! A snapshot reads a handful of small files, well under a millisecond, and is taken outside of the measured time. A
//! counter that a kernel does not have, or that is hidden in a container, is `None`.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use plimsoll_io::{
    block_device::{self, BackingDevice, DiskCounters},
    process_usage::ProcessUsage,
};
use plimsoll_record::results::{CpuCost, DeviceActivity};
use rustix::param::clock_ticks_per_second;

use crate::machine::cgroup::{Groups, throttled_ns};

/// All counters at one moment.
#[derive(Clone, Debug)]
pub struct Counters {
    process: ProcessUsage,
    /// Time of each group from ours up to the topmost one that is visible.
    throttled_ns: Vec<Option<u64>>,
    steal_ticks: Option<u64>,
    pressure: Pressure,
    device: Option<(BackingDevice, DiskCounters)>,
}

/// Time in which at least one task of the machine waited for something, since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pressure {
    cpu_ns: Option<u64>,
    io_ns: Option<u64>,
    memory_ns: Option<u64>,
}

/// What happened between two snapshots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotCost {
    /// Processor time of this process and what held it back. The costs per operation are left to whoever knows how
    /// many operations there were.
    pub cpu: CpuCost,
    /// What the disk did, by the kernel's own count; `None` where there is no disk, or no counters of it.
    pub device: Option<DeviceActivity>,
    /// Page faults of this process that needed no I/O.
    pub minor_faults: u64,
    /// Page faults of this process that waited for I/O: memory was short.
    pub major_faults: u64,
    /// How often a thread of this process gave its processor up to wait.
    pub voluntary_switches: u64,
    /// How often a thread of this process had its processor taken: others wanted it.
    pub involuntary_switches: u64,
}

impl Counters {
    /// The counters now, with those of the disk behind a target.
    pub fn take(device: Option<BackingDevice>) -> Self {
        Self {
            process: ProcessUsage::now(),
            throttled_ns: throttle_files()
                .iter()
                .map(|(unified, file)| throttled_ns(&fs::read_to_string(file).ok()?, *unified))
                .collect(),
            steal_ticks: fs::read_to_string("/proc/stat").ok().and_then(|text| steal_ticks(&text)),
            pressure: Pressure {
                cpu_ns: pressure(Path::new("/proc/pressure/cpu")),
                io_ns: pressure(Path::new("/proc/pressure/io")),
                memory_ns: pressure(Path::new("/proc/pressure/memory")),
            },
            // The whole disk: flushes are counted for it alone, and neighbours on it disturb.
            device: device.and_then(|device| Some((device, block_device::stat(device.disk)?))),
        }
    }

    /// What happened since an earlier snapshot of the same target.
    pub fn since(&self, earlier: &Self) -> SlotCost {
        let process = self.process.since(&earlier.process);
        let pressure = |of: fn(&Pressure) -> Option<u64>| difference(of(&self.pressure), of(&earlier.pressure));
        let steal_ticks = difference(self.steal_ticks, earlier.steal_ticks);
        SlotCost {
            cpu: CpuCost {
                user_ns: process.user_ns,
                system_ns: process.system_ns,
                throttled_ns: self.throttled_since(earlier),
                steal_ns: steal_ticks.map(|ticks| ticks * (1_000_000_000 / clock_ticks_per_second().max(1))),
                pressure_cpu_ns: pressure(|pressure| pressure.cpu_ns),
                pressure_io_ns: pressure(|pressure| pressure.io_ns),
                pressure_memory_ns: pressure(|pressure| pressure.memory_ns),
                ..CpuCost::default()
            },
            device: self.device_since(earlier),
            minor_faults: process.minor_faults,
            major_faults: process.major_faults,
            voluntary_switches: process.voluntary_switches,
            involuntary_switches: process.involuntary_switches,
        }
    }

    /// The longest that a group on the way up was held back. Several at once hold the process back no longer than the
    /// longest, so this is the least that is certain.
    fn throttled_since(&self, earlier: &Self) -> Option<u64> {
        let pairs = self.throttled_ns.iter().zip(&earlier.throttled_ns);
        pairs.filter_map(|(later, earlier)| difference(*later, *earlier)).max()
    }

    fn device_since(&self, earlier: &Self) -> Option<DeviceActivity> {
        let ((device, later), (device_before, before)) = (self.device?, earlier.device?);
        if device != device_before {
            return None;
        }
        let done = later.since(&before);
        Some(DeviceActivity {
            name: block_device::facts(device.disk).map(|facts| facts.disk).unwrap_or_default(),
            read_operations: done.read_operations,
            read_bytes: done.read_bytes,
            write_operations: done.write_operations,
            write_bytes: done.write_bytes,
            flush_operations: done.flush_operations,
            busy_ns: done.busy_time_ms * 1_000_000,
        })
    }
}

/// Where throttling is counted. A process is hardly ever moved to another group, so this is looked up once.
fn throttle_files() -> &'static [(bool, PathBuf)] {
    static FILES: OnceLock<Vec<(bool, PathBuf)>> = OnceLock::new();
    FILES.get_or_init(|| Groups::of_this_process().cpu_stat_files())
}

/// The growth of a counter; `None` when it is not known at both moments, or went back: then it is another one.
fn difference(later: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    later?.checked_sub(earlier?)
}

/// Time that the hypervisor gave to others, over all processors: the eighth number of the first line of /proc/stat
/// (Linux 2.6.11 and later).
fn steal_ticks(stat: &str) -> Option<u64> {
    stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().nth(7)?.parse().ok()
}

fn pressure(path: &Path) -> Option<u64> {
    // The files exist and cannot be read where the kernel was started without pressure stall information.
    pressure_some_ns(&fs::read_to_string(path).ok()?)
}

/// The total, kept in microseconds, of the line `some avg10=0.00 avg60=0.00 avg300=0.00 total=123` of a pressure
/// file.
fn pressure_some_ns(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split(' ').find_map(|word| word.strip_prefix("total="))?.trim().parse::<u64>().ok()?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use std::hint;

    use plimsoll_io::block_device::DeviceNumber;

    use super::*;

    const DISK: BackingDevice =
        BackingDevice { device: DeviceNumber { major: 8, minor: 17 }, disk: DeviceNumber { major: 8, minor: 16 } };

    fn counters() -> Counters {
        Counters {
            process: ProcessUsage::default(),
            throttled_ns: vec![Some(100), None, Some(50)],
            steal_ticks: Some(3),
            pressure: Pressure { cpu_ns: Some(10), io_ns: None, memory_ns: Some(30) },
            device: Some((DISK, DiskCounters { read_operations: 5, busy_time_ms: 7, ..DiskCounters::default() })),
        }
    }

    #[test]
    fn differences_are_of_each_counter_that_is_known_twice() {
        let earlier = counters();
        let mut later = counters();
        later.process.user_ns = 9;
        later.throttled_ns = vec![Some(140), Some(1000), Some(120)];
        later.steal_ticks = Some(5);
        later.pressure = Pressure { cpu_ns: Some(25), io_ns: Some(5), memory_ns: Some(29) };
        later.device = Some((DISK, DiskCounters { read_operations: 8, busy_time_ms: 9, ..DiskCounters::default() }));
        let cost = later.since(&earlier);
        assert_eq!((cost.cpu.user_ns, cost.cpu.throttled_ns), (9, Some(70)));
        assert_eq!(cost.cpu.steal_ns, Some(2 * 1_000_000_000 / clock_ticks_per_second()));
        assert_eq!((cost.cpu.pressure_cpu_ns, cost.cpu.pressure_io_ns), (Some(15), None));
        assert_eq!(cost.cpu.pressure_memory_ns, None, "it went back");
        let device = cost.device.unwrap();
        assert_eq!((device.read_operations, device.busy_ns), (3, 2_000_000));
        let other = BackingDevice { disk: DeviceNumber { major: 8, minor: 32 }, ..DISK };
        later.device = later.device.map(|(_, counters)| (other, counters));
        assert_eq!(later.since(&earlier).device, None);
    }

    #[test]
    fn stolen_time_is_found_on_new_and_old_kernels() {
        let linux_6 = "cpu  6937 0 8534 307570 1672 0 67 21 4 0\ncpu0 2835 0 3544 155505 471 0 14 5 0 0\n";
        assert_eq!(steal_ticks(linux_6), Some(21));
        assert_eq!(steal_ticks("cpu  6937 0 8534 307570 1672 0 67 21\n"), Some(21));
        assert_eq!(steal_ticks("cpu  6937 0 8534 307570\n"), None);
        assert_eq!(steal_ticks("cpu0 1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(steal_ticks(""), None);
    }

    #[test]
    fn pressure_is_the_time_of_some_task() {
        let io =
            "some avg10=2.69 avg60=2.47 avg300=0.82 total=12453926\nfull avg10=2.58 avg60=2.40 avg300=0.79 total=1\n";
        assert_eq!(pressure_some_ns(io), Some(12_453_926_000));
        assert_eq!(pressure_some_ns("full avg10=0.00 avg60=0.00 avg300=0.00 total=3\n"), None);
        assert_eq!(pressure_some_ns(""), None);
        assert_eq!(pressure(Path::new("/proc/pressure/of the tide")), None);
    }

    #[test]
    fn work_between_two_snapshots_is_in_their_difference() {
        let before = Counters::take(None);
        let cost = loop {
            hint::black_box((0..100_000_u64).fold(0, |sum, value| hint::black_box(sum ^ value)));
            let cost = Counters::take(None).since(&before);
            if cost.cpu.user_ns > 0 {
                break cost;
            }
        };
        assert_eq!(cost.device, None);
    }
}
