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
        "files of 10 KiB to 100 MiB as exp-k8s-iospeed writes and reads them",
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
        "sqlite",
        "SQLite: rows committed one by one, 500,000 at once, and the database written anew",
        applications::sqlite,
        applications::sqlite_small,
    ),
    with_small(
        "etcd",
        "etcd itself: eight clients that put values, and how long its log takes to be durable",
        applications::etcd,
        applications::etcd_small,
    ),
    with_small(
        "lucene",
        "an index of 20,000 documents: committed, merged, searched; see presets install",
        applications::lucene,
        applications::lucene_small,
    ),
    with_small(
        "log-append",
        "the log of a message broker: 4 partitions, each with a producer and a consumer",
        applications::log_append,
        applications::log_append_small,
    ),
    with_small(
        "tsdb",
        "the store of a metrics server: a log that is written ahead, blocks that are compacted",
        applications::tsdb,
        applications::tsdb_small,
    ),
    with_small(
        "pg-restore",
        "restore a dump of a million rows into PostgreSQL, which has to be installed",
        applications::pg_restore,
        applications::pg_restore_small,
    ),
    with_small(
        "pgbench",
        "eight clients of PostgreSQL with small transactions, and with ones that only read, 15 s each time",
        applications::pgbench,
        applications::pgbench_small,
    ),
    with_small(
        "mysql",
        "eight clients of MariaDB that write, by sysbench, 15 s each time, and a dump that is imported",
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
mod tests;
