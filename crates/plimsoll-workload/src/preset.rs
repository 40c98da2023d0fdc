//! Workloads that have a name: each preset is a function that returns ordinary workloads, and nothing else.
//!
//! What a preset leaves open is decided as for any workload: by flags, by the effort and by the target. Sizes and
//! times are those of the source that a preset reproduces.

mod applications;
mod files;

use crate::{
    block_sizes::{BlockSizes, WeightedBlockSize},
    settings::{Effort, FileSharing, ReadWrite, SyncMode},
    sweep::Sweep,
    units::{ByteCount, Extent, Percent, Span, ValueError},
    workload::Workload,
};

const KIB: u32 = 1 << 10;
const MIB: u32 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A set of workloads with a name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// What to call it on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    workloads: fn() -> Vec<Workload>,
    /// What it is for an answer within a minute, where that is less.
    small: Option<fn() -> Vec<Workload>>,
}

impl Preset {
    /// How many cells its workloads make on a target, sweeps included.
    pub fn cells(&self) -> usize {
        (self.workloads)().iter().map(|workload| workload.expand().len()).sum()
    }

    /// Its workloads, in the order in which they are shown. With [`Effort::Quick`] sets of files are smaller, because
    /// how long they take is up to what they are.
    pub fn workloads(&self, effort: Effort) -> Vec<Workload> {
        match self.small {
            Some(small) if effort == Effort::Quick => small(),
            _ => (self.workloads)(),
        }
    }
}

/// Every preset, in the order in which they are listed.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "canonical",
        about: "latency, IOPS and throughput of random reads and writes; the default",
        workloads: canonical,
        small: None,
    },
    Preset {
        name: "latency",
        about: "4 KiB random reads and writes at queue depth 1, 30 GiB",
        workloads: latency,
        small: None,
    },
    Preset {
        name: "iops",
        about: "4 KiB random reads and writes at queue depth 256, 30 GiB",
        workloads: iops,
        small: None,
    },
    Preset {
        name: "throughput",
        about: "1 MiB random reads and writes at queue depth 256, 30 GiB",
        workloads: throughput,
        small: None,
    },
    Preset {
        name: "mssql-16k",
        about: "16 KiB random reads, writes, both: 8 jobs x QD16 on one file of 800 MiB",
        workloads: mssql_16k,
        small: None,
    },
    Preset {
        name: "ms-acstor-doc",
        about: "Azure Container Storage documentation: 4 KiB, half reads, 8 x QD16, 60 s",
        workloads: ms_acstor_doc,
        small: None,
    },
    Preset {
        name: "diskspd-default",
        about: "diskspd -c1G -d120 -r -w50 -t8 -o8 -b4K -Sh",
        workloads: diskspd_default,
        small: None,
    },
    Preset {
        name: "dbench",
        about: "the nine tests of dbench for Kubernetes volumes: 2 GiB, 15 s each",
        workloads: dbench,
        small: None,
    },
    Preset {
        name: "kbench",
        about: "the twelve tests of Longhorn's kbench: 30 GiB, 20 s each",
        workloads: kbench,
        small: None,
    },
    Preset {
        name: "iometer-file-server",
        about: "Iometer's file server: 512 B to 64 KiB, 80 % reads, random, from linear to heavy load",
        workloads: iometer_file_server,
        small: None,
    },
    Preset {
        name: "iometer-web-server",
        about: "Iometer's web server: 512 B to 512 KiB, random reads, from linear to heavy load",
        workloads: iometer_web_server,
        small: None,
    },
    Preset {
        name: "iometer-database",
        about: "Iometer's database: 8 KiB, 67 % reads, random, from linear to heavy load",
        workloads: iometer_database,
        small: None,
    },
    Preset {
        name: "iometer-workstation",
        about: "Iometer's workstation: 8 KiB, 80 % reads, 80 % random, from linear to heavy load",
        workloads: iometer_workstation,
        small: None,
    },
    with_small(
        "k8s-io",
        "files of 10 kB to 100 MB as exp-k8s-iospeed writes and reads them",
        files::k8s_io,
        files::k8s_io_small,
    ),
    with_small(
        "k8s-io-honest",
        "the same files with random content, read from the storage and from the page cache apart",
        files::k8s_io_honest,
        files::k8s_io_honest_small,
    ),
    with_small(
        "smallfile",
        "4 jobs with 1,024 files of 1 KiB each: write, stat, list, read, rename, delete",
        files::smallfile,
        files::smallfile_small,
    ),
    with_small(
        "bigfile",
        "4 jobs with a file of 1,000,000 KiB each: write and cold read",
        files::bigfile,
        files::bigfile_small,
    ),
    with_small(
        "mdtest-easy",
        "metadata: empty files, a directory for each of 4 jobs",
        files::mdtest_easy,
        files::mdtest_easy_small,
    ),
    with_small(
        "mdtest-hard",
        "metadata: files of 3,901 bytes, 4 jobs in one directory",
        files::mdtest_hard,
        files::mdtest_hard_small,
    ),
    with_small(
        "fs-mark",
        "1,000 files of 10 KiB, each synced before it is closed",
        files::fs_mark,
        files::fs_mark_small,
    ),
    with_small("dd-1g", "dd of 1 GiB of zeros with conv=fsync, and reading it again", files::dd_1g, files::dd_1g_small),
    with_small(
        "fileserver",
        "50 jobs write, append to, read, remove and stat 10,000 files of about 128 KiB",
        files::fileserver,
        files::fileserver_small,
    ),
    with_small(
        "varmail",
        "a mail spool: 16 jobs remove, write, append to and read 1,000 files, each synced",
        files::varmail,
        files::varmail_small,
    ),
    with_small(
        "webserver",
        "100 jobs read 1,000 files of about 16 KiB, and write one log",
        files::webserver,
        files::webserver_small,
    ),
    with_small(
        "webproxy",
        "100 jobs replace and read 10,000 files of about 16 KiB, and write one log",
        files::webproxy,
        files::webproxy_small,
    ),
    with_small(
        "videoserver",
        "32 jobs read 36 files of 1 GiB, and replace one now and then",
        files::videoserver,
        files::videoserver_small,
    ),
    with_small(
        "postmark",
        "transactions with 500 small files: read or append, then write or remove",
        files::postmark,
        files::postmark_small,
    ),
    with_small("untar", "a tree of 20,000 sources: unpacked, listed, read, removed", files::untar, files::untar_small),
    with_small(
        "wal-etcd",
        "the log of etcd: 2,300 bytes and fdatasync, which etcd wants done within 10 ms (p99)",
        applications::wal_etcd,
        applications::wal_etcd_small,
    ),
    with_small(
        "pg-restore",
        "restore a dump of a million rows into PostgreSQL, which has to be installed",
        applications::pg_restore,
        applications::pg_restore_small,
    ),
    with_small(
        "pgbench",
        "eight clients of PostgreSQL with small transactions, 15 s each time",
        applications::pgbench,
        applications::pgbench_small,
    ),
    with_small(
        "mysql",
        "eight clients of MariaDB that write, by sysbench, 15 s each time",
        applications::mysql,
        applications::mysql_small,
    ),
    with_small(
        "redis-aof",
        "50 clients of Redis, whose log is synced with each request, or once a second",
        applications::redis_aof,
        applications::redis_aof_small,
    ),
];

const fn with_small(
    name: &'static str,
    about: &'static str,
    workloads: fn() -> Vec<Workload>,
    small: fn() -> Vec<Workload>,
) -> Preset {
    Preset { name, about, workloads, small: Some(small) }
}

/// The preset with this name.
pub fn find(name: &str) -> Result<&'static Preset, ValueError> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        ValueError::new(format!("\"{name}\" is not a preset: choose one of {}", names.join(", ")))
    })
}

fn workload(name: &str, rw: ReadWrite, block_bytes: u32, queue_depth: u32) -> Workload {
    Workload {
        name: Some(name.to_owned()),
        rw: Some(rw),
        block_size: Some(Sweep::one(BlockSizes::One(block_bytes))),
        queue_depth: Some(Sweep::one(queue_depth)),
        ..Workload::default()
    }
}

fn with(workloads: Vec<Workload>, defaults: &Workload) -> Vec<Workload> {
    workloads.into_iter().map(|workload| workload.or(defaults)).collect()
}

fn bytes(bytes: u64) -> Option<Extent> {
    Some(Extent::Bytes(ByteCount(bytes)))
}

fn read_and_write(name: &str, block_bytes: u32, queue_depth: u32) -> Vec<Workload> {
    vec![
        workload(&format!("{name}-read"), ReadWrite::RandRead, block_bytes, queue_depth),
        workload(&format!("{name}-write"), ReadWrite::RandWrite, block_bytes, queue_depth),
    ]
}

/// The three questions that storage documentation tells people to ask, without a size.
///
/// The depths are what a disk needs that does 100,000 operations a second in half a millisecond each, or a gigabyte a
/// second, and no more: beyond the 128 requests that many Linux devices hold, kernels were seen to charge operations to
/// a throttle twice.
fn canonical() -> Vec<Workload> {
    [read_and_write("latency", 4 * KIB, 1), read_and_write("iops", 4 * KIB, 64), read_and_write("throughput", MIB, 32)]
        .concat()
}

/// More than the caches of most storage hold.
fn beyond_caches(workloads: Vec<Workload>) -> Vec<Workload> {
    with(workloads, &Workload { size: bytes(30 * GIB), ..Workload::default() })
}

fn latency() -> Vec<Workload> {
    beyond_caches(read_and_write("latency", 4 * KIB, 1))
}

fn iops() -> Vec<Workload> {
    beyond_caches(read_and_write("iops", 4 * KIB, 256))
}

fn throughput() -> Vec<Workload> {
    beyond_caches(read_and_write("throughput", MIB, 256))
}

/// Eight jobs on one file of 800 MiB, the shape of the documentation's test.
fn eight_jobs_on_800_mib() -> Workload {
    Workload {
        jobs: Some(Sweep::one(8)),
        size: bytes(800 * u64::from(MIB)),
        files: Some(FileSharing::Shared),
        ..Workload::default()
    }
}

fn mssql_16k() -> Vec<Workload> {
    let workloads = vec![
        workload("mssql-read", ReadWrite::RandRead, 16 * KIB, 16),
        workload("mssql-write", ReadWrite::RandWrite, 16 * KIB, 16),
        workload("mssql-mixed", ReadWrite::RandRw, 16 * KIB, 16),
    ];
    with(workloads, &eight_jobs_on_800_mib())
}

fn ms_acstor_doc() -> Vec<Workload> {
    let minute = Workload { duration: Some(Span::from_seconds(60)), ..eight_jobs_on_800_mib() };
    with(vec![workload("benchtest", ReadWrite::RandRw, 4 * KIB, 16)], &minute)
}

/// `-Sh` is direct I/O that is written through, which on Linux is `O_DIRECT` with `O_DSYNC`. diskspd warms up for 5
/// s.
fn diskspd_default() -> Vec<Workload> {
    vec![Workload {
        jobs: Some(Sweep::one(8)),
        size: bytes(GIB),
        files: Some(FileSharing::Shared),
        read_percent: Percent::new(50).map(Sweep::one),
        sync: Some(SyncMode::DataSync),
        ramp: Some(Span::from_seconds(5)),
        duration: Some(Span::from_seconds(120)),
        ..workload("diskspd", ReadWrite::RandRw, 4 * KIB, 8)
    }]
}

/// Its bandwidth tests are random. Its sequential jobs start 500 MB apart and overlap; here each has a quarter of the
/// file.
fn dbench() -> Vec<Workload> {
    let sequential = |name, rw| Workload { jobs: Some(Sweep::one(4)), ..workload(name, rw, MIB, 16) };
    let workloads = [
        read_and_write("iops", 4 * KIB, 64),
        read_and_write("bandwidth", 128 * KIB, 64),
        read_and_write("latency", 4 * KIB, 4),
        vec![
            sequential("sequential-read", ReadWrite::Read),
            sequential("sequential-write", ReadWrite::Write),
            Workload {
                read_percent: Percent::new(75).map(Sweep::one),
                ..workload("mixed", ReadWrite::RandRw, 4 * KIB, 64)
            },
        ],
    ];
    let defaults = Workload {
        size: bytes(2 * GIB),
        files: Some(FileSharing::Shared),
        ramp: Some(Span::from_seconds(2)),
        duration: Some(Span::from_seconds(15)),
        ..Workload::default()
    };
    with(workloads.concat(), &defaults)
}

fn kbench() -> Vec<Workload> {
    let mut workloads = Vec::new();
    for (what, block_bytes, queue_depth) in
        [("iops", 4 * KIB, 64), ("bandwidth", 128 * KIB, 64), ("latency", 4 * KIB, 1)]
    {
        for (access, rw) in [
            ("random-read", ReadWrite::RandRead),
            ("random-write", ReadWrite::RandWrite),
            ("sequential-read", ReadWrite::Read),
            ("sequential-write", ReadWrite::Write),
        ] {
            workloads.push(workload(&format!("{what}-{access}"), rw, block_bytes, queue_depth));
        }
    }
    let defaults = Workload {
        size: bytes(30 * GIB),
        ramp: Some(Span::from_seconds(5)),
        duration: Some(Span::from_seconds(20)),
        ..Workload::default()
    };
    with(workloads, &defaults)
}

/// The loads that published tables of Iometer have: linear, very light, light, moderate and heavy.
const IOMETER_LOADS: [u32; 5] = [1, 4, 8, 64, 256];

/// A mix of Iometer, as the field knows it by its name, on 4 GiB.
fn iometer(name: &str, read_percent: u8, sizes: &[(u32, u32)]) -> Workload {
    let split = || sizes.iter().map(|(bytes, weight)| WeightedBlockSize { bytes: *bytes, weight: *weight }).collect();
    let block_size = match sizes {
        [(bytes, _)] => BlockSizes::One(*bytes),
        _ => BlockSizes::Split(split()),
    };
    let is_mixed = read_percent < 100;
    Workload {
        name: Some(name.to_owned()),
        rw: Some(if is_mixed { ReadWrite::RandRw } else { ReadWrite::RandRead }),
        read_percent: Percent::new(read_percent).filter(|_| is_mixed).map(Sweep::one),
        block_size: Some(Sweep::one(block_size)),
        queue_depth: Some(Sweep::of(IOMETER_LOADS)),
        size: bytes(4 * GIB),
        ..Workload::default()
    }
}

fn iometer_file_server() -> Vec<Workload> {
    let sizes =
        [(512, 10), (KIB, 5), (2 * KIB, 5), (4 * KIB, 60), (8 * KIB, 2), (16 * KIB, 4), (32 * KIB, 4), (64 * KIB, 10)];
    vec![iometer("file-server", 80, &sizes)]
}

fn iometer_web_server() -> Vec<Workload> {
    let sizes = [
        (512, 22),
        (KIB, 15),
        (2 * KIB, 8),
        (4 * KIB, 23),
        (8 * KIB, 15),
        (16 * KIB, 2),
        (32 * KIB, 6),
        (64 * KIB, 7),
        (128 * KIB, 1),
        (512 * KIB, 1),
    ];
    vec![iometer("web-server", 100, &sizes)]
}

fn iometer_database() -> Vec<Workload> {
    vec![iometer("database", 67, &[(8 * KIB, 1)])]
}

fn iometer_workstation() -> Vec<Workload> {
    let workload = iometer("workstation", 80, &[(8 * KIB, 1)]);
    vec![Workload { random_percent: Percent::new(80), ..workload }]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{
        file_set::{CacheState, FileSync},
        plan::{BlockPlan, CellPlan, Plan},
        plan_file::PlanFile,
        settings::Effort,
        target_facts::{TargetFacts, TargetKind},
    };

    fn cells(name: &str, effort: Effort) -> Vec<CellPlan> {
        let target = TargetFacts {
            name: "/mnt/data".into(),
            kind: TargetKind::Directory,
            size_bytes: None,
            free_bytes: Some(100 * GIB),
            direct_alignment_bytes: Some(512),
        };
        Plan::resolve(&[target], &find(name).unwrap().workloads(effort), &crate::certainty::Certainty::of(effort), 7)
            .unwrap()
            .cells
    }

    fn plans(name: &str) -> Vec<(String, BlockPlan)> {
        let blocks = |cell: CellPlan| Some((cell.workload, cell.work.into_blocks()?));
        cells(name, Effort::Standard).into_iter().map(|cell| blocks(cell).unwrap()).collect()
    }

    #[test]
    fn every_preset_can_be_planned_and_its_cells_have_names_of_their_own() {
        for preset in PRESETS {
            for effort in [Effort::Quick, Effort::Standard] {
                let cells = cells(preset.name, effort);
                let names: HashSet<&str> = cells.iter().map(|cell| cell.workload.as_str()).collect();
                assert_eq!(names.len(), preset.cells(), "{}", preset.name);
            }
        }
    }

    #[test]
    fn every_preset_can_be_written_as_a_plan_file() {
        for preset in PRESETS {
            let file = PlanFile { workloads: preset.workloads(Effort::Standard), ..PlanFile::default() };
            let text = toml::to_string(&file).unwrap();
            assert_eq!(toml::from_str::<PlanFile>(&text).unwrap(), file, "{text}");
        }
    }

    #[test]
    fn an_unknown_preset_is_answered_with_the_known_ones() {
        let error = find("mssql").unwrap_err().to_string();
        assert!(PRESETS.iter().all(|preset| error.contains(preset.name)), "{error}");
    }

    #[test]
    fn canonical_asks_for_latency_iops_and_throughput_and_leaves_the_size_open() {
        let workloads = find("canonical").unwrap().workloads(Effort::Standard);
        assert!(workloads.iter().all(|workload| workload.size.is_none() && workload.duration.is_none()));
        let shapes: Vec<_> = plans("canonical")
            .into_iter()
            .map(|(name, plan)| (name, plan.read_percent, plan.block_size_bytes_max, plan.queue_depth, plan.jobs))
            .collect();
        let due = [
            ("latency-read", 100, 4096, 1),
            ("latency-write", 0, 4096, 1),
            ("iops-read", 100, 4096, 64),
            ("iops-write", 0, 4096, 64),
            ("throughput-read", 100, 1 << 20, 32),
            ("throughput-write", 0, 1 << 20, 32),
        ];
        assert_eq!(shapes, due.map(|(name, reads, block, depth)| (name.to_owned(), reads, block, depth, 1)));
        let parts: Vec<_> = ["latency", "iops", "throughput"].iter().flat_map(|name| plans(name)).collect();
        assert!(parts.iter().map(|part| &part.0).eq(due.map(|(name, ..)| name.to_owned()).iter()));
        assert!(parts.iter().all(|(_, plan)| plan.size_bytes == 30 * GIB));
    }

    #[test]
    fn mssql_16k_has_eight_jobs_on_one_file_of_800_mib() {
        let reads: Vec<u8> = plans("mssql-16k").iter().map(|(_, plan)| plan.read_percent).collect();
        assert_eq!(reads, [100, 0, 50]);
        for (_, plan) in plans("mssql-16k") {
            assert_eq!((plan.block_size_bytes_max, plan.queue_depth, plan.jobs), (16_384, 16, 8));
            assert_eq!((plan.files_in_all(), plan.file_bytes(), plan.buffered), (1, 838_860_800, false));
        }
    }

    #[test]
    fn diskspd_default_writes_half_through_for_two_minutes() {
        let (_, plan) = plans("diskspd-default").remove(0);
        assert_eq!((plan.read_percent, plan.random_percent, plan.block_size_bytes_max), (50, 100, 4096));
        assert_eq!((plan.jobs, plan.queue_depth, plan.size_bytes), (8, 8, GIB));
        assert_eq!((plan.sync, plan.buffered), (SyncMode::DataSync, false));
        assert_eq!((plan.ramp_ns, plan.slot_ns), (5_000_000_000, Some(120_000_000_000)));
    }

    #[test]
    fn menus_for_kubernetes_volumes_are_complete() {
        let (dbench, kbench) = (plans("dbench"), plans("kbench"));
        assert_eq!((dbench.len(), kbench.len()), (9, 12));
        assert!(dbench.iter().all(|(_, plan)| plan.size_bytes == 2 * GIB && plan.files_in_all() == 1));
        assert!(kbench.iter().all(|(_, plan)| plan.size_bytes == 30 * GIB && plan.jobs == 1));
        assert_eq!(dbench[8].1.read_percent, 75);
        let sequential = kbench.iter().filter(|(_, plan)| plan.random_percent == 0).count();
        assert_eq!(sequential, 6);
    }

    #[test]
    fn k8s_io_has_the_five_shapes_and_what_each_phase_writes_in_all() {
        let shapes: Vec<_> = cells("k8s-io", Effort::Standard)
            .into_iter()
            .map(|cell| {
                let files = cell.files().unwrap();
                assert_eq!((files.jobs, files.buffered, files.payload.to_string()), (1, true, "zero".to_owned()));
                assert_eq!((files.file_sync, files.cache), (FileSync::File, CacheState::AsIs));
                assert_eq!(files.phases.to_string(), "write,read,write_read");
                let iterations = u64::from(cell.stopping.slots().unwrap());
                (files.file_count, files.file_size.to_string(), iterations, files.total_bytes() * iterations)
            })
            .collect();
        let mib = 1 << 20;
        let due = [
            (1000, "10KiB".to_owned(), 10, 102_400_000),
            (100, "100KiB".to_owned(), 10, 102_400_000),
            (10, "1MiB".to_owned(), 10, 100 * mib),
            (5, "10MiB".to_owned(), 2, 100 * mib),
            (5, "100MiB".to_owned(), 1, 500 * mib),
        ];
        assert_eq!(shapes, due);
    }
}
