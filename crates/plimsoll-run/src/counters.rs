//! What a slot cost the machine and did to the disk: snapshots of the kernel's counters, and their differences.
//!
//! A snapshot reads a handful of small files, which takes a tenth of a millisecond. Two frame the whole slot, when
//! nothing of ours is in flight; two more frame its measured time. A counter that a kernel does not have, or that is
//! hidden in a container, is `None`.

mod parse;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use plimsoll_io::{
    block_device::{self, BackingDevice, DeviceNumber, DiskCounters},
    clock::{Clock, MonotonicClock},
    process_usage::{ProcessIo, ProcessUsage},
};
use plimsoll_record::{
    client::{ClientActivity, ProcessorActivity},
    results::{CpuCost, DeviceActivity, MemberActivity},
};
use rustix::param::{clock_ticks_per_second, page_size};

use self::parse::{MachineTicks, ProcessorTicks, machine_ticks, named, pressure_some_ns};
use crate::machine::cgroup::{Groups, throttled_ns};

/// All counters at one moment.
#[derive(Clone, Debug)]
pub struct Counters {
    moment_ns: u64,
    process: ProcessUsage,
    io: Option<ProcessIo>,
    /// Of each group from ours up to the topmost one that is visible.
    throttled: Vec<Option<Throttled>>,
    machine: Option<MachineTicks>,
    pressure: Pressure,
    swap: Swap,
    memory: MemoryEvents,
    /// The disks that do together what is asked of a target.
    disks: DisksCounters,
    /// The disks that these are spread over, when those are several.
    members: DisksCounters,
}

type DisksCounters = Vec<(DeviceNumber, DiskCounters)>;

/// How a group was held back by its quota, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Throttled {
    time_ns: u64,
    periods: u64,
}

/// Time in which at least one task of the machine waited for something, since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pressure {
    cpu_ns: Option<u64>,
    io_ns: Option<u64>,
    memory_ns: Option<u64>,
}

/// Pages that the machine moved to and from swap, since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Swap {
    in_pages: Option<u64>,
    out_pages: Option<u64>,
}

/// What the memory limits did to our group, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MemoryEvents {
    high: Option<u64>,
    limit: Option<u64>,
    oom: Option<u64>,
}

/// What happened between two snapshots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotCost {
    /// Processor time of this process and what held it back. The costs per operation are left to whoever knows how
    /// many operations there were.
    pub cpu: CpuCost,
    /// What the disk did, by the kernel's own count; `None` where there is no disk, or no counters of it.
    pub device: Option<DeviceActivity>,
    /// All counters of the disk, or of all disks together.
    pub disk: Option<DiskCounters>,
    /// Bytes of this process that reached the storage; `None` where the kernel does not count them.
    pub io: Option<ProcessIo>,
    /// What the machine did. What is not the kernel's to count is left empty.
    pub client: ClientActivity,
}

impl Counters {
    /// The counters now, with those of the disks behind a target.
    pub fn take(devices: &[BackingDevice]) -> Self {
        let vmstat = text("/proc/vmstat");
        let swapped = |name| named(vmstat.as_deref()?, name);
        Self {
            moment_ns: MonotonicClock.now_ns(),
            process: ProcessUsage::now(),
            io: ProcessIo::now(),
            throttled: throttle_files().iter().map(|(unified, file)| Throttled::read(file, *unified)).collect(),
            machine: text("/proc/stat").and_then(|text| machine_ticks(&text)),
            // The files exist and cannot be read where the kernel was started without pressure stall information.
            pressure: Pressure {
                cpu_ns: text("/proc/pressure/cpu").and_then(|text| pressure_some_ns(&text)),
                io_ns: text("/proc/pressure/io").and_then(|text| pressure_some_ns(&text)),
                memory_ns: text("/proc/pressure/memory").and_then(|text| pressure_some_ns(&text)),
            },
            swap: Swap { in_pages: swapped("pswpin"), out_pages: swapped("pswpout") },
            memory: memory_directory()
                .map(|(unified, directory)| MemoryEvents::read(directory, unified))
                .unwrap_or_default(),
            // Whole disks: flushes are counted for them alone, and neighbours on them disturb.
            disks: counters(devices, block_device::counted_on),
            members: members(devices),
        }
    }

    /// What happened since an earlier snapshot of the same target.
    pub fn since(&self, earlier: &Self) -> SlotCost {
        let process = self.process.since(&earlier.process);
        let pressure = |of: fn(&Pressure) -> Option<u64>| difference(of(&self.pressure), of(&earlier.pressure));
        let throttled = self.throttled_since(earlier);
        let cpu = CpuCost {
            user_ns: process.user_ns,
            system_ns: process.system_ns,
            throttled_ns: throttled.map(|throttled| throttled.time_ns),
            steal_ns: self.ticks_since(earlier, |ticks| ticks.steal),
            pressure_cpu_ns: pressure(|pressure| pressure.cpu_ns),
            pressure_io_ns: pressure(|pressure| pressure.io_ns),
            pressure_memory_ns: pressure(|pressure| pressure.memory_ns),
            ..CpuCost::default()
        };
        let disk = self.disk_since(earlier);
        SlotCost {
            client: self.client_since(earlier, &cpu, throttled, disk),
            device: disk.map(|done| DeviceActivity { members: self.members_since(earlier), ..self.activity(done) }),
            disk,
            io: self.io.zip(earlier.io).map(|(later, earlier)| later.since(&earlier)),
            cpu,
        }
    }

    fn client_since(
        &self,
        earlier: &Self,
        cpu: &CpuCost,
        throttled: Option<Throttled>,
        disk: Option<DiskCounters>,
    ) -> ClientActivity {
        let process = self.process.since(&earlier.process);
        let swapped = |of: fn(&Swap) -> Option<u64>| {
            difference(of(&self.swap), of(&earlier.swap)).map(|pages| pages * page_size() as u64)
        };
        let memory = |of: fn(&MemoryEvents) -> Option<u64>| difference(of(&self.memory), of(&earlier.memory));
        let span_ns = self.moment_ns.saturating_sub(earlier.moment_ns);
        let machine_total_ns = self.machine.as_ref().map(|machine| machine.processors.len() as u64 * span_ns);
        let machine_idle_ns = self.ticks_since(earlier, |ticks| ticks.idle);
        ClientActivity {
            span_ns,
            process_ns: cpu.user_ns + cpu.system_ns,
            machine_busy_ns: machine_total_ns.zip(machine_idle_ns).map(|(total, idle)| total.saturating_sub(idle)),
            machine_total_ns,
            processors: self.processors_since(earlier, span_ns),
            steal_ns: cpu.steal_ns,
            throttled_ns: cpu.throttled_ns,
            throttled_periods: throttled.map(|throttled| throttled.periods),
            pressure_cpu_ns: cpu.pressure_cpu_ns,
            pressure_io_ns: cpu.pressure_io_ns,
            pressure_memory_ns: cpu.pressure_memory_ns,
            swapped_in_bytes: swapped(|swap| swap.in_pages),
            swapped_out_bytes: swapped(|swap| swap.out_pages),
            memory_high_events: memory(|memory| memory.high),
            memory_limit_events: memory(|memory| memory.limit),
            memory_oom_events: memory(|memory| memory.oom),
            major_faults: process.major_faults,
            voluntary_switches: process.voluntary_switches,
            involuntary_switches: process.involuntary_switches,
            device_queue_ns: disk.map(|disk| disk.queue_time_ms * 1_000_000),
            ..ClientActivity::default()
        }
    }

    /// The kernel lets the idle time of a processor go back a little now and then, which is no growth.
    fn ticks_since(&self, earlier: &Self, of: fn(&MachineTicks) -> u64) -> Option<u64> {
        let (later, earlier) = (self.machine.as_ref().map(of)?, earlier.machine.as_ref().map(of)?);
        Some(later.saturating_sub(earlier) * tick_ns())
    }

    /// Each processor that was there all the time.
    fn processors_since(&self, earlier: &Self, span_ns: u64) -> Vec<ProcessorActivity> {
        let (Some(later), Some(earlier)) = (&self.machine, &earlier.machine) else { return Vec::new() };
        let since = |later: &ProcessorTicks| {
            let before = earlier.processors.iter().find(|before| before.number == later.number)?;
            let busy_ns = span_ns.saturating_sub(later.idle.saturating_sub(before.idle) * tick_ns());
            let user_ns = later.user.saturating_sub(before.user) * tick_ns();
            Some(ProcessorActivity { number: later.number, busy_ns, user_ns: user_ns.min(busy_ns) })
        };
        later.processors.iter().filter_map(since).collect()
    }

    /// The group on the way up that was held back longest. Several at once hold the process back no longer than the
    /// longest, so this is the least that is certain.
    fn throttled_since(&self, earlier: &Self) -> Option<Throttled> {
        let pairs = self.throttled.iter().zip(&earlier.throttled);
        let since = |(later, earlier): (&Option<Throttled>, &Option<Throttled>)| {
            let (later, earlier) = (*later.as_ref()?, *earlier.as_ref()?);
            Some(Throttled {
                time_ns: later.time_ns.checked_sub(earlier.time_ns)?,
                periods: later.periods.checked_sub(earlier.periods)?,
            })
        };
        pairs.filter_map(since).max_by_key(|throttled| throttled.time_ns)
    }

    fn members_since(&self, earlier: &Self) -> Vec<MemberActivity> {
        let since = |(device, later): &(DeviceNumber, DiskCounters)| {
            let (_, before) = earlier.members.iter().find(|(before, _)| before == device)?;
            let done = later.since(before);
            Some(MemberActivity {
                name: name(*device),
                read_operations: done.read_operations,
                read_bytes: done.read_bytes,
                write_operations: done.write_operations,
                write_bytes: done.write_bytes,
            })
        };
        self.members.iter().filter_map(since).collect()
    }

    /// What all disks did together; `None` unless they are the same ones as before.
    fn disk_since(&self, earlier: &Self) -> Option<DiskCounters> {
        let numbers = |disks: &DisksCounters| disks.iter().map(|(disk, _)| *disk).collect::<Vec<_>>();
        if self.disks.is_empty() || numbers(&self.disks) != numbers(&earlier.disks) {
            return None;
        }
        let pairs = self.disks.iter().zip(&earlier.disks);
        Some(
            pairs.map(|((_, later), (_, before))| later.since(before)).fold(DiskCounters::default(), DiskCounters::and),
        )
    }

    fn activity(&self, done: DiskCounters) -> DeviceActivity {
        let names: Vec<String> = self.disks.iter().map(|(disk, _)| name(*disk)).collect();
        DeviceActivity {
            name: names.join(", "),
            read_operations: done.read_operations,
            read_bytes: done.read_bytes,
            write_operations: done.write_operations,
            write_bytes: done.write_bytes,
            flush_operations: done.flush_operations,
            busy_ns: done.busy_time_ms * 1_000_000,
            queue_ns: done.queue_time_ms * 1_000_000,
            read_merges: done.read_merges,
            write_merges: done.write_merges,
            read_queue_ns: done.read_time_ms * 1_000_000,
            write_queue_ns: done.write_time_ms * 1_000_000,
            members: Vec::new(),
        }
    }
}

/// The counters of the disks that devices are spread over; none, when that is one alone.
fn members(devices: &[BackingDevice]) -> DisksCounters {
    Some(counters(devices, block_device::spread_over)).filter(|disks| disks.len() > 1).unwrap_or_default()
}

/// The counters of disks, each once.
fn counters(devices: &[BackingDevice], disks_of: fn(DeviceNumber) -> BTreeSet<DeviceNumber>) -> DisksCounters {
    let disks: BTreeSet<_> = devices.iter().flat_map(|device| disks_of(device.device)).collect();
    disks.into_iter().filter_map(|disk| Some((disk, block_device::stat(disk)?))).collect()
}

fn name(disk: DeviceNumber) -> String {
    block_device::facts(disk).map(|facts| facts.disk).unwrap_or_default()
}

fn tick_ns() -> u64 {
    1_000_000_000 / clock_ticks_per_second().max(1)
}

impl Throttled {
    fn read(cpu_stat: &Path, unified: bool) -> Option<Self> {
        let text = text(cpu_stat)?;
        Some(Self { time_ns: throttled_ns(&text, unified)?, periods: named(&text, "nr_throttled")? })
    }
}

impl MemoryEvents {
    /// Our group's alone: an ancestor counts what others did as well.
    fn read(directory: &Path, unified: bool) -> Self {
        if unified {
            let events = text(directory.join("memory.events"));
            let count = |name| named(events.as_deref()?, name);
            return Self { high: count("high"), limit: count("max"), oom: count("oom") };
        }
        let limit = text(directory.join("memory.failcnt")).and_then(|text| text.trim().parse().ok());
        let oom = text(directory.join("memory.oom_control")).and_then(|text| named(&text, "oom_kill"));
        Self { high: None, limit, oom }
    }
}

fn text(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Where throttling is counted. A process is hardly ever moved to another group, so this is looked up once.
fn throttle_files() -> &'static [(bool, PathBuf)] {
    static FILES: OnceLock<Vec<(bool, PathBuf)>> = OnceLock::new();
    FILES.get_or_init(|| Groups::of_this_process().cpu_stat_files())
}

/// Where our group's memory events are counted; `true` for version 2.
fn memory_directory() -> Option<(bool, &'static Path)> {
    static DIRECTORY: OnceLock<Option<(bool, PathBuf)>> = OnceLock::new();
    let found = DIRECTORY.get_or_init(|| Groups::of_this_process().memory_directory());
    found.as_ref().map(|(unified, directory)| (*unified, directory.as_path()))
}

/// The growth of a counter; `None` when it is not known at both moments, or went back: then it is another one.
fn difference(later: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    later?.checked_sub(earlier?)
}

#[cfg(test)]
mod tests {
    use std::hint;

    use plimsoll_io::block_device::DeviceNumber;

    use super::*;

    const DISK: DeviceNumber = DeviceNumber { major: 8, minor: 16 };

    fn throttled(time_ns: u64, periods: u64) -> Option<Throttled> {
        Some(Throttled { time_ns, periods })
    }

    /// Two processors that were idle for as long.
    fn machine(idle: u64, steal: u64) -> MachineTicks {
        let processors = (0..2).map(|number| ProcessorTicks { number, user: 0, idle: idle / 2 }).collect();
        MachineTicks { processors, idle, steal }
    }

    fn counters() -> Counters {
        Counters {
            moment_ns: 1000,
            process: ProcessUsage::default(),
            io: Some(ProcessIo { read_bytes: 100, ..ProcessIo::default() }),
            throttled: vec![throttled(100, 1), None, throttled(50, 1)],
            machine: Some(machine(90, 3)),
            pressure: Pressure { cpu_ns: Some(10), io_ns: None, memory_ns: Some(30) },
            swap: Swap { in_pages: Some(4), out_pages: None },
            memory: MemoryEvents { high: Some(1), limit: None, oom: Some(2) },
            disks: vec![(DISK, DiskCounters { read_operations: 5, busy_time_ms: 7, ..DiskCounters::default() })],
            members: Vec::new(),
        }
    }

    #[test]
    fn differences_are_of_each_counter_that_is_known_twice() {
        let earlier = counters();
        let mut later = counters();
        later.process.user_ns = 9;
        later.throttled = vec![throttled(140, 9), throttled(1000, 9), throttled(120, 4)];
        later.pressure = Pressure { cpu_ns: Some(25), io_ns: Some(5), memory_ns: Some(29) };
        let disk = DiskCounters {
            read_operations: 8,
            write_merges: 4,
            busy_time_ms: 9,
            queue_time_ms: 30,
            ..DiskCounters::default()
        };
        later.disks = vec![(DISK, disk)];
        let cost = later.since(&earlier);
        assert_eq!((cost.cpu.user_ns, cost.cpu.throttled_ns, cost.client.throttled_periods), (9, Some(70), Some(3)));
        assert_eq!((cost.cpu.pressure_cpu_ns, cost.cpu.pressure_io_ns), (Some(15), None));
        assert_eq!(cost.cpu.pressure_memory_ns, None, "it went back");
        let device = cost.device.unwrap();
        assert_eq!((device.read_operations, device.busy_ns, device.queue_ns), (3, 2_000_000, 30_000_000));
        assert_eq!((device.read_merges, device.write_merges), (0, 4));
        assert_eq!(cost.client.device_queue_ns, Some(30_000_000));
        later.disks[0].0.minor = 32;
        assert_eq!(later.since(&earlier).device, None);
    }

    #[test]
    fn several_disks_did_together_what_each_of_them_did_in_the_time_of_the_busiest() {
        let disks = |operations: [u64; 2], busy_time_ms: [u64; 2]| {
            let done = |at: usize| DiskCounters {
                write_operations: operations[at],
                write_bytes: operations[at] * 4096,
                busy_time_ms: busy_time_ms[at],
                queue_time_ms: 2 * busy_time_ms[at],
                flush_operations: operations[at],
                ..DiskCounters::default()
            };
            let disk = |at: usize| DeviceNumber { minor: DISK.minor + at as u32, ..DISK };
            Counters { disks: (0..2).map(|at| (disk(at), done(at))).collect(), ..counters() }
        };
        let (earlier, later) = (disks([100, 7], [900, 10]), disks([130, 17], [920, 60]));
        let cost = later.since(&earlier);
        let device = cost.device.unwrap();
        assert_eq!((device.write_operations, device.write_bytes, device.flush_operations), (40, 40 * 4096, 40));
        assert_eq!((device.busy_ns, device.queue_ns), (50_000_000, 140_000_000));
        assert_eq!(cost.client.device_queue_ns, Some(140_000_000));
        let fewer = Counters { disks: later.disks[..1].to_vec(), ..later.clone() };
        assert_eq!(fewer.since(&earlier).device, None, "one of them has gone");
    }

    #[test]
    fn what_the_machine_did_is_in_the_difference() {
        let earlier = counters();
        let mut later = counters();
        later.moment_ns = 1_000_001_000;
        later.io = Some(ProcessIo { read_bytes: 8192, ..ProcessIo::default() });
        later.machine = Some(machine(120, 5));
        later.swap = Swap { in_pages: Some(6), out_pages: Some(1) };
        later.memory = MemoryEvents { high: Some(4), limit: Some(1), oom: Some(2) };
        let cost = later.since(&earlier);
        let tick_ns = tick_ns();
        assert_eq!(cost.cpu.steal_ns, Some(2 * tick_ns));
        let client = cost.client;
        assert_eq!((client.span_ns, client.steal_ns), (1_000_000_000, Some(2 * tick_ns)));
        let (busy_ns, total_ns) = (2_000_000_000 - 30 * tick_ns, 2_000_000_000);
        assert_eq!((client.machine_busy_ns, client.machine_total_ns), (Some(busy_ns), Some(total_ns)));
        let busy = |number| ProcessorActivity { number, busy_ns: 1_000_000_000 - 15 * tick_ns, user_ns: 0 };
        assert_eq!(client.processors, [busy(0), busy(1)]);
        assert_eq!((client.swapped_in_bytes, client.swapped_out_bytes), (Some(2 * page_size() as u64), None));
        let memory = (client.memory_high_events, client.memory_limit_events, client.memory_oom_events);
        assert_eq!(memory, (Some(3), None, Some(0)));
        assert_eq!(cost.io.unwrap().read_bytes, 8092);
    }

    #[test]
    fn both_versions_of_control_groups_say_when_they_held_us_back() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let file = folder.path().join("cpu.stat");
        write("cpu.stat", "nr_periods 30\nnr_throttled 29\nthrottled_time 2378434145\nwait_sum 1\n");
        assert_eq!(Throttled::read(&file, false), throttled(2_378_434_145, 29));
        write("cpu.stat", "usage_usec 9\nnr_periods 30\nnr_throttled 28\nthrottled_usec 2378434\nnr_bursts 0\n");
        assert_eq!(Throttled::read(&file, true), throttled(2_378_434_000, 28));
        // The group of version 2 has no quota of its own at the root.
        write("cpu.stat", "usage_usec 9\nuser_usec 5\nsystem_usec 4\n");
        assert_eq!(Throttled::read(&file, true), None);

        assert_eq!(MemoryEvents::read(folder.path(), true), MemoryEvents::default());
        write("memory.events", "low 0\nhigh 3\nmax 17\noom 1\noom_kill 2\noom_group_kill 0\n");
        let events = MemoryEvents { high: Some(3), limit: Some(17), oom: Some(1) };
        assert_eq!(MemoryEvents::read(folder.path(), true), events);
        write("memory.failcnt", "4\n");
        write("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
        let events = MemoryEvents { high: None, limit: Some(4), oom: Some(2) };
        assert_eq!(MemoryEvents::read(folder.path(), false), events);
    }

    #[test]
    fn work_between_two_snapshots_is_in_their_difference() {
        let before = Counters::take(&[]);
        let cost = loop {
            hint::black_box((0..100_000_u64).fold(0, |sum, value| hint::black_box(sum ^ value)));
            let cost = Counters::take(&[]).since(&before);
            if cost.cpu.user_ns > 0 && cost.client.machine_busy_ns > Some(0) {
                break cost;
            }
        };
        assert_eq!(cost.device, None);
        assert!(cost.client.process_ns >= cost.cpu.user_ns && cost.client.span_ns > 0);
        assert!(cost.client.machine_share() <= Some(1.0));
    }
}
