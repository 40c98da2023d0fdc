//! What else differs between two sides besides the storage: the machine, its kernel, how the storage is attached.
//!
//! Names, paths and serial numbers are not listed: to compare what bears them is the point.

use plimsoll_record::{
    environment::{
        CgroupIoLimit, CloudEnvironment, ContainerEnvironment, DeviceEnvironment, Environment, MachineEnvironment,
        TargetEnvironment,
    },
    numbers,
    record::Record,
};
use plimsoll_workload::serial_number;

use super::{Difference, side::Subject};
use crate::facts;

/// All that differs and is known of both sides.
pub(super) fn differences(first: &Subject<'_>, second: &Subject<'_>) -> Vec<Difference> {
    let mut differences = Vec::new();
    if first.record.id != second.record.id {
        add_all(&mut differences, of_record(first.record), of_record(second.record));
    }
    for (one, other) in targets(first, second) {
        add_all(&mut differences, of_target(one), of_target(other));
        differences.extend(mount_options(one, other));
    }
    differences
}

/// What differs between two runs of one target; here a disk that is another one is told as well.
pub(crate) fn over_time(first: &Record, second: &Record, target: &str) -> Vec<Difference> {
    let mut found = differences(&Subject::of(first, target), &Subject::of(second, target));
    let disks = [first, second].map(|record| {
        let known = record.environment.targets.iter().find(|known| known.name == target);
        known.and_then(|known| known.device.as_ref())
    });
    if let [Some(one), Some(other)] = disks {
        let model = |device: &DeviceEnvironment| vec![("model", device.model.clone())];
        let serial = |device: &DeviceEnvironment| vec![("serial number", device.serial.clone())];
        add_all(&mut found, model(one), model(other));
        if !serial_number::is_noted(one.serial.as_deref(), other.serial.as_deref()) {
            add_all(&mut found, serial(one), serial(other));
        }
    }
    found
}

/// The machine that a record was made on, as far as it is known.
pub(crate) fn machine(record: &Record) -> Option<String> {
    let Environment { machine, container, .. } = &record.environment;
    node(machine.hostname.as_ref(), container.as_ref())
}

fn add_all(differences: &mut Vec<Difference>, first: Vec<Property>, second: Vec<Property>) {
    for (one, other) in first.into_iter().zip(second) {
        let (name, (Some(before), Some(after))) = (one.0, (one.1, other.1)) else { continue };
        let difference = Difference::new(name, before, after);
        if difference.reference != difference.value && !differences.contains(&difference) {
            differences.push(difference);
        }
    }
}

/// What something is called, and what it is when that is known.
type Property = (&'static str, Option<String>);

fn of_record(record: &Record) -> Vec<Property> {
    let Environment { machine, cgroup, container, cloud, .. } = &record.environment;
    let (container, cloud) = (container.as_ref(), cloud.as_ref());
    let quota = cgroup.as_ref().map(|group| group.cpu_quota_processors);
    let memory = cgroup.as_ref().map(|group| group.memory_limit_bytes);
    let none = || "none".to_owned();
    let io_limits = cgroup.as_ref().map(|group| io_limits(&group.io_limits));
    let processors = machine.processors_allowed.or(machine.processors_online);
    vec![
        ("node", node(machine.hostname.as_ref(), container)),
        ("machine type", machine.product.clone()),
        ("cloud", cloud.map(|cloud| cloud.provider.name().to_owned())),
        ("instance type", cloud.and_then(|cloud| instance_type(cloud, machine))),
        ("region", cloud.and_then(|cloud| cloud.region.clone())),
        ("zone", cloud.and_then(|cloud| cloud.zone.clone())),
        ("architecture", machine.architecture.clone()),
        ("processor", machine.processor_model.clone()),
        ("processors", processors.map(|count| count.to_string())),
        ("memory", machine.memory_bytes.map(about)),
        ("kernel", machine.kernel_release.clone()),
        ("governor", machine.governor.clone()),
        ("container", container.map(|container| facts::container_word(container.kind).unwrap_or("none").to_owned())),
        ("CPU quota", quota.map(|quota| quota.map_or_else(none, numbers::processors))),
        ("memory limit", memory.map(|limit| limit.map_or_else(none, numbers::bytes))),
        ("I/O limits", io_limits),
        ("plimsoll", Some(record.tool.version.clone())),
        ("build", Some(record.tool.profile.clone())),
    ]
}

/// What the cloud calls the machine, unless its firmware says the same.
fn instance_type(cloud: &CloudEnvironment, machine: &MachineEnvironment) -> Option<String> {
    let name = cloud.instance_type.as_ref()?;
    let is_said = machine.product.as_ref().is_some_and(|product| product.split(' ').any(|word| word == name));
    (!is_said).then(|| name.clone())
}

/// The node of a pod, whose host name is the pod's; otherwise the host.
fn node(hostname: Option<&String>, container: Option<&ContainerEnvironment>) -> Option<String> {
    match container {
        Some(container) if container.pod.is_some() => container.node.clone(),
        _ => hostname.cloned(),
    }
}

/// The targets of both sides that belong together.
fn targets<'a>(first: &Subject<'a>, second: &Subject<'a>) -> Vec<(&'a TargetEnvironment, &'a TargetEnvironment)> {
    let (ours, theirs) = (first.target_environments(), second.target_environments());
    match (ours.as_slice(), theirs.as_slice()) {
        ([one], [other]) => vec![(*one, *other)],
        _ => ours.iter().filter_map(|one| Some((*one, *theirs.iter().find(|other| other.name == one.name)?))).collect(),
    }
}

fn of_target(target: &TargetEnvironment) -> Vec<Property> {
    let (mount, device) = (target.mount.as_ref(), target.device.as_ref());
    vec![
        ("kind of target", Some(facts::kind_word(target.kind).to_owned())),
        ("file system", mount.map(|mount| mount.file_system.clone())),
        ("size", device.and_then(|device| device.size_bytes).map(about)),
        ("logical block", device.and_then(|device| device.logical_block_bytes).map(|bytes| bytes.to_string())),
        ("scheduler", device.and_then(|device| device.scheduler.clone())),
        ("read-ahead", device.and_then(|device| device.read_ahead_bytes).map(numbers::bytes)),
        ("write cache", device.and_then(|device| device.write_cache.clone())),
    ]
}

/// Mount options that only one side has.
fn mount_options(first: &TargetEnvironment, second: &TargetEnvironment) -> Option<Difference> {
    let (ours, theirs) = (&first.mount.as_ref()?.options, &second.mount.as_ref()?.options);
    let only = |these: &str, others: &str| -> String {
        let own: Vec<&str> =
            these.split(',').filter(|option| !others.split(',').any(|other| other == *option)).collect();
        if own.is_empty() { "none".to_owned() } else { own.join(",") }
    };
    let difference = Difference::new("mount options", only(ours, theirs), only(theirs, ours));
    (difference.reference != difference.value).then_some(difference)
}

/// Limits of all devices: their numbers are not what they were when a machine starts again.
fn io_limits(limits: &[CgroupIoLimit]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for limit in limits {
        let operations = |rate: u64| format!("{} IOPS", numbers::count(rate));
        let bytes = |rate: u64| format!("{} {}", numbers::throughput(rate as f64), numbers::THROUGHPUT_UNIT);
        texts.extend(limit.read_operations_per_second.map(operations).map(|text| format!("read {text}")));
        texts.extend(limit.write_operations_per_second.map(operations).map(|text| format!("write {text}")));
        texts.extend(limit.read_bytes_per_second.map(bytes).map(|text| format!("read {text}")));
        texts.extend(limit.write_bytes_per_second.map(bytes).map(|text| format!("write {text}")));
    }
    if texts.is_empty() { "none".to_owned() } else { texts.join(" ") }
}

/// A size to half a percent: two machines or volumes of one kind differ by a little.
fn about(bytes: u64) -> String {
    let step = 1_u64 << bytes.max(1).ilog2().saturating_sub(7);
    numbers::bytes(bytes.saturating_add(step / 2) / step * step)
}
