//! Control groups as several systems show them.

use super::*;

/// Debian 12, systemd, in a user session.
const V2_CGROUP: &str = "0::/user.slice/user-1000.slice/session-3.scope\n";
const V2_MOUNTS: &str = "\
24 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";

/// CentOS 7: version 1 alone, controllers mounted together.
const V1_CGROUP: &str = "\
11:memory:/user.slice\n10:cpuset:/\n9:blkio:/user.slice\n5:cpuacct,cpu:/user.slice/app\n\
1:name=systemd:/user.slice/user-0.slice/session-1.scope\n";
const V1_MOUNTS: &str = "\
25 18 0:21 / /sys/fs/cgroup/systemd rw,nosuid - cgroup cgroup rw,xattr,name=systemd\n\
26 18 0:22 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpuacct,cpu\n\
27 18 0:23 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n\
28 18 0:24 / /sys/fs/cgroup/blkio rw,nosuid - cgroup cgroup rw,blkio\n";

/// Ubuntu 20.04: version 1 with an empty version 2 beside it.
const HYBRID_CGROUP: &str = "4:memory:/\n3:cpu,cpuacct:/\n2:blkio:/\n1:name=systemd:/init.scope\n0::/init.scope\n";
const HYBRID_MOUNTS: &str = "\
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

fn directory(group: Option<&Group>) -> &str {
    group.unwrap().directory.to_str().unwrap()
}

#[test]
fn the_unified_hierarchy_has_every_group_at_one_path() {
    let groups = Groups::find(V2_CGROUP, V2_MOUNTS);
    assert_eq!(groups.version, Some(CgroupVersion::V2));
    assert_eq!(groups.path.as_deref(), Some("/user.slice/user-1000.slice/session-3.scope"));
    for group in [&groups.cpu, &groups.memory, &groups.io] {
        assert_eq!(directory(group.as_ref()), "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope");
    }
    let above: Vec<_> = groups.cpu.as_ref().unwrap().with_ancestors().collect();
    assert_eq!((above.len(), above.last()), (4, Some(&Path::new("/sys/fs/cgroup"))));
}

#[test]
fn version_1_has_a_group_for_each_controller() {
    let groups = Groups::find(V1_CGROUP, V1_MOUNTS);
    assert_eq!((groups.version, groups.path.as_deref()), (Some(CgroupVersion::V1), Some("/user.slice/app")));
    assert_eq!(directory(groups.cpu.as_ref()), "/sys/fs/cgroup/cpu,cpuacct/user.slice/app");
    assert_eq!(directory(groups.memory.as_ref()), "/sys/fs/cgroup/memory/user.slice");
    assert_eq!(directory(groups.io.as_ref()), "/sys/fs/cgroup/blkio/user.slice");
}

#[test]
fn in_the_mixture_limits_are_those_of_version_1() {
    let groups = Groups::find(HYBRID_CGROUP, HYBRID_MOUNTS);
    assert_eq!(groups.version, Some(CgroupVersion::Hybrid));
    assert_eq!(directory(groups.cpu.as_ref()), "/sys/fs/cgroup/cpu,cpuacct");
    assert_eq!(groups.io, None, "its hierarchy is not mounted here");
}

#[test]
fn a_container_sees_its_group_as_the_root() {
    // Docker on version 1 without a namespace: the path is that of the host, the mount shows the group.
    let cgroup = "5:cpu,cpuacct:/docker/4f1c\n";
    let mounts = "880 875 0:22 /docker/4f1c /sys/fs/cgroup/cpu,cpuacct ro,nosuid - cgroup cgroup rw,cpu,cpuacct\n";
    assert_eq!(directory(Groups::find(cgroup, mounts).cpu.as_ref()), "/sys/fs/cgroup/cpu,cpuacct");
    // The same with a group of its own below.
    let below = Groups::find("5:cpu,cpuacct:/docker/4f1c/app\n", mounts);
    assert_eq!(directory(below.cpu.as_ref()), "/sys/fs/cgroup/cpu,cpuacct/app");
    // A namespace of version 2, and a process outside of it.
    let mounts = "900 890 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    for cgroup in ["0::/\n", "0::/../other\n"] {
        assert_eq!(directory(Groups::find(cgroup, mounts).cpu.as_ref()), "/sys/fs/cgroup", "{cgroup}");
    }
}

#[test]
fn a_kernel_without_control_groups_has_none() {
    assert_eq!(Groups::find("", ""), Groups::default());
    assert_eq!(Groups::default().environment(), None);
    assert_eq!(Groups::find("nonsense\n0\n:::\n", "no mounts\n - \n").cpu, None);
}

#[test]
fn quotas_are_in_processors() {
    assert_eq!(cpu_max("150000 100000\n"), Some(1.5));
    assert_eq!(cpu_max("max 100000\n"), None);
    assert_eq!(cfs_quota("400000\n", "100000\n"), Some(4.0));
    assert_eq!(cfs_quota("-1\n", "100000\n"), None);
    for text in ["", "1", "1 0", "x 100000"] {
        assert_eq!(cpu_max(text), None, "{text}");
    }
}

#[test]
fn the_huge_number_of_version_1_is_no_memory_limit() {
    assert_eq!(memory_limit("9223372036854771712\n"), None);
    assert_eq!(memory_limit("max\n"), None);
    assert_eq!(memory_limit("536870912\n"), Some(512 << 20));
}

#[test]
fn io_limits_of_both_versions_say_the_same() {
    let limit = CgroupIoLimit {
        device: "8:16".into(),
        read_bytes_per_second: Some(2_097_152),
        write_operations_per_second: Some(120),
        ..CgroupIoLimit::default()
    };
    assert_eq!(io_max("8:16 rbps=2097152 wbps=max riops=max wiops=120\n"), std::slice::from_ref(&limit));
    let v1 = v1_io("8:16 2097152\n", V1_IO_FILES[0].1).into_iter().chain(v1_io("8:16 120\n", V1_IO_FILES[3].1));
    assert_eq!(smallest(v1), [limit]);
}

#[test]
fn the_smallest_limit_on_the_way_up_holds() {
    let group = io_max("8:0 rbps=max wbps=max riops=500 wiops=max\n8:16 rbps=max wbps=max riops=max wiops=max\n");
    let above = io_max("8:0 rbps=1000 wbps=max riops=200 wiops=max\n");
    let limits = smallest(group.into_iter().chain(above));
    assert_eq!(limits.len(), 1);
    assert_eq!((limits[0].read_bytes_per_second, limits[0].read_operations_per_second), (Some(1000), Some(200)));

    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("pod/container");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("cpu.max"), "200000 100000\n").unwrap();
    fs::write(root.path().join("pod/cpu.max"), "50000 100000\n").unwrap();
    fs::write(directory.join("memory.max"), "1000\n").unwrap();
    fs::write(directory.join("cpu.stat"), "throttled_usec 1\n").unwrap();
    let group = Group { unified: true, directory, top: root.path().to_owned() };
    let groups = Groups { cpu: Some(group.clone()), memory: Some(group), ..Groups::default() };
    assert_eq!((groups.cpu_quota_processors(), groups.memory_limit_bytes()), (Some(0.5), Some(1000)));
    assert_eq!(groups.cpu_stat_files().len(), 1);
}

#[test]
fn throttled_time_is_in_nanoseconds_in_both_versions() {
    let v2 = "usage_usec 100\nuser_usec 60\nsystem_usec 40\nnr_periods 10\nnr_throttled 3\nthrottled_usec 250\n";
    let v1 = "nr_periods 10\nnr_throttled 3\nthrottled_time 250000\n";
    assert_eq!(throttled_ns(v2, true), Some(250_000));
    assert_eq!(throttled_ns(v1, false), Some(250_000));
    // The root group of version 2 has no quota and so no count.
    assert_eq!(throttled_ns("usage_usec 100\n", true), None);
}
