//! Gathers what the record says about the surroundings of a run: machine, kernel, control group, container, limits,
//! and what lies behind each target.
//!
//! Text of /proc and /sys is understood by pure functions; what a kernel or a container keeps to itself is "not
//! known". Nothing here fails: a run is worth more than a complete description of it.

pub(crate) mod cgroup;
pub mod cloud;
mod container;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use plimsoll_io::{
    block_device::{self, DeviceNumber},
    clock, cpu, mounts, target,
};
use plimsoll_record::environment::{
    DeviceEnvironment, Environment, LimitsEnvironment, LoadAverage, MachineEnvironment, MountEnvironment,
    TargetEnvironment,
};
use plimsoll_workload::target_facts::{self, TargetFacts, TargetKind};
use rustix::{
    process::{Resource, getrlimit},
    system::uname,
};

use self::cgroup::Groups;

/// What the downward API of Kubernetes tells a pod about itself, by environment variables: the caller reads those.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// Its name.
    pub name: Option<String>,
    /// Its namespace.
    pub namespace: Option<String>,
    /// The node it runs on.
    pub node: Option<String>,
}

/// All that can be known here and now without asking others, which is what [`cloud`] is for. To be called before any
/// thread is pinned, and while nothing is measured.
pub fn gather(targets: &[TargetFacts], pod: &Pod) -> Environment {
    Environment {
        machine: machine(),
        cgroup: Groups::of_this_process().environment(),
        container: Some(container::environment(pod)),
        limits: limits(),
        targets: targets.iter().map(target).collect(),
        load_average: load_average(&read("/proc/loadavg")),
        clock_cost_ns: Some(clock::clock_cost_ns()),
        cloud: None,
        cluster: None,
    }
}

fn machine() -> MachineEnvironment {
    let name = uname();
    let text = |text: &std::ffi::CStr| Some(text.to_string_lossy().into_owned()).filter(|text| !text.is_empty());
    let processors = read("/proc/cpuinfo");
    MachineEnvironment {
        hostname: text(name.nodename()),
        kernel_release: text(name.release()),
        architecture: text(name.machine()),
        processor_model: processor_model(&processors).or_else(|| line("/proc/device-tree/model")),
        processors_online: processor_count(&read("/sys/devices/system/cpu/online")),
        processors_allowed: cpu::allowed().ok().and_then(|allowed| u32::try_from(allowed.len()).ok()),
        memory_bytes: memory_bytes(&read("/proc/meminfo"), "MemTotal"),
        clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        hypervisor: hypervisor(&processors).or_else(|| Path::new("/sys/hypervisor/type").exists().then_some(true)),
        product: product(&read("/sys/class/dmi/id/sys_vendor"), &read("/sys/class/dmi/id/product_name")),
        boot_id: line("/proc/sys/kernel/random/boot_id"),
    }
}

fn limits() -> LimitsEnvironment {
    LimitsEnvironment {
        memlock_bytes: getrlimit(Resource::Memlock).current,
        aio_max_nr: number("/proc/sys/fs/aio-max-nr"),
        aio_nr: number("/proc/sys/fs/aio-nr"),
        io_uring_disabled: number("/proc/sys/kernel/io_uring_disabled"),
    }
}

fn target(facts: &TargetFacts) -> TargetEnvironment {
    let path = Path::new(&facts.name);
    // Of several directories, what is true of the first one, but where all of them are.
    let places = target_facts::places(&facts.name, facts.kind.directories());
    let on_file_system = facts.kind != TargetKind::Device;
    TargetEnvironment {
        name: facts.name.clone(),
        kind: facts.kind.into(),
        path: target::resolved(path).ok().map(|path| path.to_string_lossy().into_owned()),
        mount: on_file_system.then(|| mount(&places[0])).flatten(),
        free_bytes: facts.free_bytes,
        direct_alignment_bytes: facts.direct_alignment_bytes,
        device: device(&places),
        array: None,
    }
}

fn mount(path: &Path) -> Option<MountEnvironment> {
    let facts = mounts::mount_of(path).ok()?;
    Some(MountEnvironment {
        point: facts.mount_point.to_string_lossy().into_owned(),
        file_system: facts.file_system,
        source: facts.source.to_string_lossy().into_owned(),
        options: facts.options,
    })
}

fn device(places: &[PathBuf]) -> Option<DeviceEnvironment> {
    let devices: Vec<DeviceNumber> =
        places.iter().filter_map(|place| Some(block_device::device_of(place)?.device)).collect();
    let facts = block_device::facts(*devices.first()?)?;
    Some(DeviceEnvironment {
        number: Some(format!("{}:{}", facts.number.major, facts.number.minor)),
        partition: facts.partition.map(|_| facts.name),
        name: facts.disk,
        size_bytes: Some(facts.size_bytes),
        vendor: facts.vendor,
        model: facts.model,
        serial: facts.serial,
        transport: Some(facts.transport.as_str().to_owned()),
        rotational: facts.rotational,
        logical_block_bytes: facts.logical_block_bytes,
        physical_block_bytes: facts.physical_block_bytes,
        optimal_io_bytes: facts.optimal_io_bytes,
        request_bytes_max: facts.request_bytes_max,
        scheduler: facts.scheduler,
        queue_requests_max: facts.queue_requests_max,
        read_ahead_bytes: facts.read_ahead_bytes,
        write_cache: facts.write_cache,
        discard_bytes_max: facts.discard_bytes_max,
        mapped_name: facts.mapped_name,
        backing_file: facts.backing_file,
        beneath: if facts.slaves.is_empty() { spread_over(&devices) } else { facts.slaves },
    })
}

/// The disks of a file system that is spread over several, which is no device itself, or of several file systems.
fn spread_over(devices: &[DeviceNumber]) -> Vec<String> {
    let disks: BTreeSet<DeviceNumber> = devices.iter().flat_map(|device| block_device::spread_over(*device)).collect();
    let names = disks.iter().filter_map(|disk| Some(block_device::facts(*disk)?.disk));
    if disks.len() > 1 { names.collect() } else { Vec::new() }
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The one line of a file, without blanks around it; `None` when there is nothing in it.
fn line(path: &str) -> Option<String> {
    Some(read(path).trim_matches(['\0', ' ', '\n', '\t']).to_owned()).filter(|text| !text.is_empty())
}

fn number<T: std::str::FromStr>(path: &str) -> Option<T> {
    line(path)?.parse().ok()
}

/// The value of the first line `key : value` in the form of /proc/cpuinfo.
fn field<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

/// The model of the first processor. x86 and s390 name it, POWER calls it `cpu`, some ARM boards name the machine;
/// other ARM processors give two numbers, which name it just as well.
fn processor_model(cpuinfo: &str) -> Option<String> {
    let named = ["model name", "cpu model", "cpu", "Model", "Hardware", "vendor_id", "uarch"];
    if let Some(name) = named.into_iter().find_map(|key| field(cpuinfo, key)) {
        return Some(name.to_owned());
    }
    let (implementer, part) = (field(cpuinfo, "CPU implementer")?, field(cpuinfo, "CPU part")?);
    Some(match arm_core(implementer, part) {
        Some(core) => core.to_owned(),
        None => format!("ARM implementer {implementer} part {part}"),
    })
}

/// The name of an ARM core of the kinds that are rented out as servers (identification by the MIDR register, Arm
/// architecture reference manual D19.2).
fn arm_core(implementer: &str, part: &str) -> Option<&'static str> {
    Some(match (implementer, part) {
        ("0x41", "0xd08") => "ARM Cortex-A72",
        ("0x41", "0xd0c") => "ARM Neoverse-N1",
        ("0x41", "0xd40") => "ARM Neoverse-V1",
        ("0x41", "0xd49") => "ARM Neoverse-N2",
        ("0x41", "0xd4f") => "ARM Neoverse-V2",
        ("0xc0", "0xac3") => "Ampere-1",
        _ => return None,
    })
}

/// Whether a hypervisor announces itself; only x86 has a flag for that, so elsewhere it is not known.
fn hypervisor(cpuinfo: &str) -> Option<bool> {
    Some(field(cpuinfo, "flags")?.split(' ').any(|flag| flag == "hypervisor"))
}

/// How many processors a list such as `0-3,8` names.
fn processor_count(list: &str) -> Option<u32> {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    list.trim().split(',').map(range).sum()
}

/// What the machine could give away now, some of which would be written to its swap, or what the control group may have
/// in all, if that is less.
pub(crate) fn free_memory_bytes() -> Option<u64> {
    let meminfo = read("/proc/meminfo");
    let swap_bytes = memory_bytes(&meminfo, "SwapFree").unwrap_or(0);
    let of_machine = memory_bytes(&meminfo, "MemAvailable").map(|bytes| bytes.saturating_add(swap_bytes));
    let of_group = Groups::of_this_process().environment().and_then(|group| group.memory_limit_bytes);
    of_machine.into_iter().chain(of_group).min()
}

/// A line of the text of /proc/meminfo, as of the memory of the machine.
fn memory_bytes(meminfo: &str, name: &str) -> Option<u64> {
    field(meminfo, name)?.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The text of /proc/loadavg.
fn load_average(text: &str) -> Option<LoadAverage> {
    let mut values = text.split_whitespace().map_while(|word| word.parse::<f64>().ok());
    Some(LoadAverage { one_minute: values.next()?, five_minutes: values.next()?, fifteen_minutes: values.next()? })
}

/// Vendor and product as the firmware tells them, without those that say nothing.
fn product(vendor: &str, product: &str) -> Option<String> {
    const NOTHING: [&str; 4] = ["", "System Product Name", "To Be Filled By O.E.M.", "Default string"];
    let words = [vendor.trim(), product.trim()].map(|word| if NOTHING.contains(&word) { "" } else { word });
    Some(words.join(" ").trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use plimsoll_record::environment::TargetKind;

    use super::*;

    const XEON: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n\
                        model name\t: Intel(R) Xeon(R) Platinum 8473C\nflags\t\t: fpu vme hypervisor lahf_lm\n\n\
                        processor\t: 1\nmodel name\t: Intel(R) Xeon(R) Platinum 8473C\n";
    const EPYC_BARE: &str = "processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t\t: fpu vme lahf_lm\n";
    const GRAVITON: &str = "processor\t: 0\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n\
                            CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n";
    const RASPBERRY: &str = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nRevision\t: c03115\n\
                             Model\t\t: Raspberry Pi 4 Model B Rev 1.5\n";
    const POWER: &str = "processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\nclock\t\t: 2900.0MHz\n";

    #[test]
    fn the_processor_is_named_on_every_architecture() {
        for (cpuinfo, model, virtual_machine) in [
            (XEON, Some("Intel(R) Xeon(R) Platinum 8473C"), Some(true)),
            (EPYC_BARE, Some("AMD EPYC 9654"), Some(false)),
            (GRAVITON, Some("ARM Neoverse-V1"), None),
            (RASPBERRY, Some("Raspberry Pi 4 Model B Rev 1.5"), None),
            (POWER, Some("POWER9 (architected), altivec supported"), None),
            ("CPU implementer\t: 0x99\nCPU part\t: 0x001\n", Some("ARM implementer 0x99 part 0x001"), None),
            ("", None, None),
        ] {
            assert_eq!(processor_model(cpuinfo).as_deref(), model);
            assert_eq!(hypervisor(cpuinfo), virtual_machine);
        }
    }

    #[test]
    fn lists_of_processors_are_counted() {
        for (list, count) in
            [("0\n", Some(1)), ("0-1\n", Some(2)), ("0-3,8,10-11\n", Some(7)), ("", None), ("3-1", None)]
        {
            assert_eq!(processor_count(list), count, "{list}");
        }
    }

    #[test]
    fn memory_is_in_bytes() {
        let meminfo = "MemTotal:       16384256 kB\nMemFree:         1000000 kB\n";
        assert_eq!(memory_bytes(meminfo, "MemTotal"), Some(16_384_256 * 1024));
        assert_eq!(memory_bytes("MemFree: 1 kB\n", "MemTotal"), None);
    }

    #[test]
    fn the_load_average_has_three_values() {
        let load = load_average("0.42 1.05 2.50 3/512 12345\n").unwrap();
        assert_eq!(
            [load.one_minute, load.five_minutes, load.fifteen_minutes].map(|l| l.to_string()),
            ["0.42", "1.05", "2.5"]
        );
        assert_eq!(load_average("0.42"), None);
        assert_eq!(load_average(""), None);
    }

    #[test]
    fn firmware_that_says_nothing_is_not_quoted() {
        assert_eq!(product("Amazon EC2\n", "m7i.large\n").as_deref(), Some("Amazon EC2 m7i.large"));
        assert_eq!(product("QEMU\n", "").as_deref(), Some("QEMU"));
        assert_eq!(product("Default string\n", "To Be Filled By O.E.M.\n"), None);
    }

    #[test]
    fn this_machine_tells_what_every_linux_tells() {
        let directory = tempfile::tempdir().unwrap();
        let facts = TargetFacts {
            name: directory.path().join("made-later").to_string_lossy().into_owned(),
            kind: plimsoll_workload::target_facts::TargetKind::File,
            size_bytes: None,
            free_bytes: Some(7),
            direct_alignment_bytes: Some(512),
        };
        let pod = Pod { name: Some("tester".into()), ..Pod::default() };
        let environment = gather(std::slice::from_ref(&facts), &pod);
        let machine = &environment.machine;
        assert!(machine.processors_online >= machine.processors_allowed && machine.processors_allowed > Some(0));
        assert!(machine.memory_bytes > Some(1 << 20));
        assert!(machine.kernel_release.is_some() && machine.architecture.is_some() && machine.boot_id.is_some());
        assert!(environment.load_average.is_some() && environment.clock_cost_ns > Some(0.0));
        assert_eq!(environment.container.unwrap().pod.as_deref(), Some("tester"));
        let target = &environment.targets[0];
        assert_eq!((&target.name, target.kind, target.free_bytes), (&facts.name, TargetKind::File, Some(7)));
        assert!(target.path.as_ref().unwrap().ends_with("/made-later"));
        assert!(target.mount.as_ref().unwrap().point.starts_with('/'));
    }
}
