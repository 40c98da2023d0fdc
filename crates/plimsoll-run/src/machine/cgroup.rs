//! The control group of this process and the limits that apply to it, in both versions of the interface and in the
//! mixture of both.
//!
//! A limit of a group holds for all groups below it, so each limit is the smallest one on the way up, as far as that
//! is visible from within a container.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
};

use plimsoll_record::environment::{CgroupEnvironment, CgroupIoLimit, CgroupVersion};

/// From here on a memory limit of version 1 means that there is none: it shows the largest multiple of a page.
const NO_MEMORY_LIMIT_BYTES: u64 = 1 << 60;

/// One line of /proc/self/cgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Membership {
    /// The controllers of the hierarchy; none for the unified one.
    controllers: Vec<String>,
    path: String,
}

/// Where a hierarchy of control groups is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hierarchy {
    unified: bool,
    /// The options of the file system, which name the controllers in version 1.
    options: Vec<String>,
    /// Which group of the hierarchy is what the mount shows at its root.
    root: String,
    point: PathBuf,
}

/// Where the groups of this process are found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups {
    version: Option<CgroupVersion>,
    path: Option<String>,
    cpu: Option<Group>,
    memory: Option<Group>,
    io: Option<Group>,
}

/// A group of one hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    unified: bool,
    directory: PathBuf,
    /// The topmost group that is visible.
    top: PathBuf,
}

impl Group {
    /// The directories of the group and of those above it, as far as they are visible.
    fn with_ancestors(&self) -> impl Iterator<Item = &Path> {
        self.directory.ancestors().take_while(|directory| directory.starts_with(&self.top))
    }

    /// The values of a file in the group and in those above it; groups without such a file have none.
    fn values<T>(&self, parse: impl Fn(&Path) -> Option<T>) -> Vec<T> {
        self.with_ancestors().filter_map(parse).collect()
    }
}

impl Groups {
    /// The groups of this process.
    pub(crate) fn of_this_process() -> Self {
        let read = |path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        Self::find(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
    }

    /// Finds them by the text of /proc/self/cgroup and /proc/self/mountinfo.
    fn find(cgroup: &str, mountinfo: &str) -> Self {
        let (memberships, hierarchies) = (memberships(cgroup), hierarchies(mountinfo));
        let unified = memberships.iter().find(|membership| membership.controllers.is_empty());
        let has_v1 = |name: &str| memberships.iter().any(|membership| membership.controllers.iter().any(|c| c == name));
        let controlled = ["cpu", "memory", "blkio", "cpuset", "pids"].into_iter().any(has_v1);
        let version = match (controlled, unified.is_some()) {
            (true, true) => Some(CgroupVersion::Hybrid),
            (true, false) => Some(CgroupVersion::V1),
            (false, true) => Some(CgroupVersion::V2),
            (false, false) => None,
        };
        let group = |v1_name: &str| {
            if has_v1(v1_name) {
                let membership = memberships.iter().find(|m| m.controllers.iter().any(|c| c == v1_name))?;
                let mounted = hierarchies.iter().find(|h| !h.unified && h.options.iter().any(|o| o == v1_name))?;
                Some(mounted.group(&membership.path))
            } else {
                Some(hierarchies.iter().find(|hierarchy| hierarchy.unified)?.group(&unified?.path))
            }
        };
        let path = memberships.iter().find(|m| m.controllers.iter().any(|c| c == "cpu")).or(unified);
        Self {
            version,
            path: path.map(|membership| membership.path.clone()),
            cpu: group("cpu"),
            memory: group("memory"),
            io: group("blkio"),
        }
    }

    /// The files that count how long the group, and those above it, were held back; `true` for version 2.
    pub(crate) fn cpu_stat_files(&self) -> Vec<(bool, PathBuf)> {
        let Some(group) = &self.cpu else {
            return Vec::new();
        };
        let files = group.with_ancestors().map(|directory| (group.unified, directory.join("cpu.stat")));
        files.filter(|(_, file)| file.exists()).collect()
    }

    /// The directory of the group that limits memory; `true` for version 2.
    pub(crate) fn memory_directory(&self) -> Option<(bool, PathBuf)> {
        self.memory.as_ref().map(|group| (group.unified, group.directory.clone()))
    }

    /// All limits; `None` on a kernel without control groups.
    pub(crate) fn environment(&self) -> Option<CgroupEnvironment> {
        Some(CgroupEnvironment {
            version: self.version?,
            path: self.path.clone(),
            cpu_quota_processors: self.cpu_quota_processors(),
            memory_limit_bytes: self.memory_limit_bytes(),
            io_limits: self.io_limits(),
        })
    }

    fn cpu_quota_processors(&self) -> Option<f64> {
        let group = self.cpu.as_ref()?;
        let quotas = group.values(|directory| {
            if group.unified {
                cpu_max(&text(directory, "cpu.max")?)
            } else {
                cfs_quota(&text(directory, "cpu.cfs_quota_us")?, &text(directory, "cpu.cfs_period_us")?)
            }
        });
        quotas.into_iter().min_by(f64::total_cmp)
    }

    fn memory_limit_bytes(&self) -> Option<u64> {
        let group = self.memory.as_ref()?;
        let name = if group.unified { "memory.max" } else { "memory.limit_in_bytes" };
        group.values(|directory| memory_limit(&text(directory, name)?)).into_iter().min()
    }

    fn io_limits(&self) -> Vec<CgroupIoLimit> {
        let Some(group) = &self.io else {
            return Vec::new();
        };
        let limits = group.values(|directory| {
            Some(if group.unified {
                io_max(&text(directory, "io.max")?)
            } else {
                V1_IO_FILES
                    .iter()
                    .flat_map(|(name, field)| v1_io(&text(directory, name).unwrap_or_default(), *field))
                    .collect()
            })
        });
        smallest(limits.into_iter().flatten())
    }
}

impl Hierarchy {
    /// Where a group of this hierarchy is found. In a container the mount may show the group itself as its root.
    fn group(&self, path: &str) -> Group {
        let below = Path::new(path).strip_prefix(&self.root).unwrap_or(Path::new(""));
        // A path that leads out of a namespace is not visible in it.
        let visible = below.components().all(|part| matches!(part, Component::Normal(_)));
        let below = if visible { below } else { Path::new("") };
        let directory = self.point.components().chain(below.components()).collect();
        Group { unified: self.unified, directory, top: self.point.clone() }
    }
}

/// Reads /proc/self/cgroup.
fn memberships(text: &str) -> Vec<Membership> {
    let line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let controllers = fields.next()?.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Some(Membership { controllers, path: fields.next()?.to_owned() })
    };
    text.lines().filter_map(line).collect()
}

/// Reads the hierarchies out of /proc/self/mountinfo.
fn hierarchies(text: &str) -> Vec<Hierarchy> {
    let line = |line: &str| {
        let (mount, file_system) = line.split_once(" - ")?;
        let mount: Vec<&str> = mount.split(' ').collect();
        let mut file_system = file_system.split(' ');
        let unified = match file_system.next()? {
            "cgroup" => false,
            "cgroup2" => true,
            _ => return None,
        };
        Some(Hierarchy {
            unified,
            options: file_system.nth(1)?.split(',').map(str::to_owned).collect(),
            root: (*mount.get(3)?).to_owned(),
            point: mount.get(4)?.into(),
        })
    };
    text.lines().filter_map(line).collect()
}

fn text(directory: &Path, name: &str) -> Option<String> {
    fs::read_to_string(directory.join(name)).ok()
}

/// The quota of `cpu.max` in processors: `150000 100000`, or `max 100000` for none.
fn cpu_max(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    cfs_quota(words.next()?, words.next()?)
}

/// The quota of version 1 in processors; -1 for none.
fn cfs_quota(quota_us: &str, period_us: &str) -> Option<f64> {
    let quota_us: f64 = quota_us.trim().parse::<i64>().ok().filter(|quota| *quota > 0)? as f64;
    let period_us: f64 = period_us.trim().parse::<u32>().ok().filter(|period| *period > 0)?.into();
    Some(quota_us / period_us)
}

/// A memory limit of either version; `max` or a huge number for none.
fn memory_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|bytes| *bytes < NO_MEMORY_LIMIT_BYTES)
}

/// Reads `io.max`: `8:16 rbps=2097152 wbps=max riops=max wiops=120`.
fn io_max(text: &str) -> Vec<CgroupIoLimit> {
    let line = |line: &str| {
        let (device, values) = line.split_once(' ')?;
        let value = |name: &str| {
            let mut values = values.split_whitespace().filter_map(|word| word.split_once('='));
            values.find(|(key, _)| *key == name)?.1.parse().ok()
        };
        Some(CgroupIoLimit {
            device: device.to_owned(),
            read_bytes_per_second: value("rbps"),
            write_bytes_per_second: value("wbps"),
            read_operations_per_second: value("riops"),
            write_operations_per_second: value("wiops"),
        })
    };
    text.lines().filter_map(line).collect()
}

type IoField = fn(&mut CgroupIoLimit) -> &mut Option<u64>;

/// The files of version 1, each with one kind of limit.
const V1_IO_FILES: [(&str, IoField); 4] = [
    ("blkio.throttle.read_bps_device", |limit| &mut limit.read_bytes_per_second),
    ("blkio.throttle.write_bps_device", |limit| &mut limit.write_bytes_per_second),
    ("blkio.throttle.read_iops_device", |limit| &mut limit.read_operations_per_second),
    ("blkio.throttle.write_iops_device", |limit| &mut limit.write_operations_per_second),
];

/// Reads a throttle file of version 1: a device and a number on each line.
fn v1_io(text: &str, field: IoField) -> Vec<CgroupIoLimit> {
    let line = |line: &str| {
        let (device, value) = line.split_once(' ')?;
        let mut limit = CgroupIoLimit { device: device.to_owned(), ..CgroupIoLimit::default() };
        *field(&mut limit) = Some(value.trim().parse().ok()?);
        Some(limit)
    };
    text.lines().filter_map(line).collect()
}

/// One entry for each device, with the smallest of each of its limits; devices without any are left out.
fn smallest(limits: impl Iterator<Item = CgroupIoLimit>) -> Vec<CgroupIoLimit> {
    let mut devices: BTreeMap<String, CgroupIoLimit> = BTreeMap::new();
    for mut limit in limits {
        let device = limit.device.clone();
        let known = devices.entry(device.clone()).or_insert(CgroupIoLimit { device, ..CgroupIoLimit::default() });
        for (_, field) in V1_IO_FILES {
            let (old, new) = (*field(known), *field(&mut limit));
            *field(known) = old.into_iter().chain(new).min();
        }
    }
    let mut limits: Vec<_> = devices.into_values().collect();
    limits.retain_mut(|limit| V1_IO_FILES.iter().any(|(_, field)| field(limit).is_some()));
    limits
}

/// How long a group was held back by its quota so far: the text of `cpu.stat` in either version.
pub(crate) fn throttled_ns(cpu_stat: &str, unified: bool) -> Option<u64> {
    let (name, scale) = if unified { ("throttled_usec", 1000) } else { ("throttled_time", 1) };
    let value = |wanted: &str| {
        let mut lines = cpu_stat.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(name, _)| *name == wanted)?.1.trim().parse::<u64>().ok()
    };
    value(name)?.checked_mul(scale)
}

#[cfg(test)]
mod tests;
