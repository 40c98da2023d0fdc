//! Presets of file sets: the loads of published tools, with the sizes that these have. The small ones end within a
//! minute, whatever the storage.

use crate::{
    block_sizes::BlockSizes,
    file_set::{CacheState, FilePhase, FilePhases, FileSync},
    file_sizes::FileSizes,
    payload::{Fill, Payload},
    sweep::Sweep,
    units::Span,
    workload::Workload,
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A set of files, and what is done with it.
fn set(name: &str, file_count: u32, file_size: FileSizes, phases: FilePhases) -> Workload {
    Workload {
        name: Some(name.to_owned()),
        file_count: Some(file_count),
        file_size: Some(file_size),
        phases: Some(phases),
        ..Workload::default()
    }
}

/// The same with an end for each phase and so many iterations.
fn limited(workload: Workload, iterations: u32, seconds: u64) -> Workload {
    Workload { iterations: Some(iterations), duration: Some(Span::from_seconds(seconds)), ..workload }
}

fn zeros() -> Option<Payload> {
    Some(Payload { fill: Fill::Zero, ..Payload::default() })
}

/// The five shapes of the utility: name, files, bytes of each, and how often.
const SHAPES: [(&str, u32, u64, u32); 5] = [
    ("10kb", 1000, 10 * KIB, 10),
    ("100kb", 100, 100 * KIB, 10),
    ("1Mb", 10, MIB, 10),
    ("10Mb", 5, 10 * MIB, 2),
    ("100Mb", 5, 100 * MIB, 1),
];

/// The same, smaller.
const SMALL_SHAPES: [(&str, u32, u64, u32); 5] = [
    ("10kb", 200, 10 * KIB, 3),
    ("100kb", 20, 100 * KIB, 3),
    ("1Mb", 3, MIB, 3),
    ("10Mb", 1, 10 * MIB, 3),
    ("100Mb", 1, 100 * MIB, 1),
];

fn shape((name, files, bytes, iterations): (&str, u32, u64, u32), phases: FilePhases) -> Workload {
    Workload {
        iterations: Some(iterations),
        file_sync: Some(FileSync::File),
        ..set(name, files, FileSizes::One(bytes), phases)
    }
}

/// What the utility does: zeros, made durable file by file, and read while they are still in the page cache.
fn like_the_utility(of: (&str, u32, u64, u32)) -> Workload {
    let phases = FilePhases::of([FilePhase::Write, FilePhase::Read, FilePhase::WriteRead]);
    Workload { payload: zeros(), ..shape(of, phases) }
}

pub(super) fn k8s_io() -> Vec<Workload> {
    SHAPES.map(like_the_utility).into()
}

pub(super) fn k8s_io_small() -> Vec<Workload> {
    let second = |workload: Workload| Workload { duration: Some(Span::from_seconds(1)), ..workload };
    SMALL_SHAPES.map(|of| second(like_the_utility(of))).into()
}

/// The same shapes with content that nothing compresses away, read from the storage and from the page cache apart.
fn honest(of: (&'static str, u32, u64, u32)) -> [Workload; 2] {
    let cold = FilePhases::of([FilePhase::Write, FilePhase::Read, FilePhase::Delete]);
    let named = |what: &str| Some(format!("{} {what}", of.0));
    [
        Workload { name: named("cold"), cache: Some(CacheState::Cold), ..shape(of, cold) },
        Workload { name: named("warm"), cache: Some(CacheState::Warm), ..shape(of, FilePhases::of([FilePhase::Read])) },
    ]
}

pub(super) fn k8s_io_honest() -> Vec<Workload> {
    SHAPES.iter().copied().flat_map(honest).collect()
}

pub(super) fn k8s_io_honest_small() -> Vec<Workload> {
    let second = |workload: Workload| Workload { duration: Some(Span::from_seconds(1)), ..workload };
    SMALL_SHAPES.iter().copied().flat_map(honest).map(second).collect()
}

fn small_files(file_count: u32) -> Workload {
    let phases = FilePhases::of([
        FilePhase::Write,
        FilePhase::Stat,
        FilePhase::ListLong,
        FilePhase::Read,
        FilePhase::Rename,
        FilePhase::Delete,
    ]);
    Workload {
        jobs: Some(Sweep::one(4)),
        files_per_directory: Some(100),
        ..set("smallfile", file_count, FileSizes::One(KIB), phases)
    }
}

pub(super) fn smallfile() -> Vec<Workload> {
    vec![small_files(4 * 1024)]
}

pub(super) fn smallfile_small() -> Vec<Workload> {
    vec![limited(small_files(4 * 1024), 3, 3)]
}

fn big_files(bytes: u64) -> Workload {
    Workload {
        jobs: Some(Sweep::one(4)),
        cache: Some(CacheState::Cold),
        file_sync: Some(FileSync::File),
        ..set("bigfile", 4, FileSizes::One(bytes), FilePhases::of([FilePhase::Write, FilePhase::Read]))
    }
}

pub(super) fn bigfile() -> Vec<Workload> {
    vec![Workload { iterations: Some(3), ..big_files(1_000_000 * KIB) }]
}

pub(super) fn bigfile_small() -> Vec<Workload> {
    vec![Workload { iterations: Some(1), ..big_files(64 * MIB) }]
}

/// A directory for each job, and files without content.
fn mdtest_easy_with(file_count: u32) -> Workload {
    let phases = FilePhases::of([FilePhase::Create, FilePhase::Stat, FilePhase::Delete]);
    Workload {
        jobs: Some(Sweep::one(4)),
        files_per_directory: Some(file_count / 4),
        ..set("mdtest-easy", file_count, FileSizes::One(0), phases)
    }
}

/// All in one directory, and a little in each file.
fn mdtest_hard_with(file_count: u32) -> Workload {
    let phases =
        FilePhases::of([FilePhase::Write, FilePhase::Stat, FilePhase::Find, FilePhase::Read, FilePhase::Delete]);
    Workload { jobs: Some(Sweep::one(4)), ..set("mdtest-hard", file_count, FileSizes::One(3901), phases) }
}

pub(super) fn mdtest_easy() -> Vec<Workload> {
    vec![limited(mdtest_easy_with(1_000_000), 1, 300)]
}

pub(super) fn mdtest_easy_small() -> Vec<Workload> {
    vec![limited(mdtest_easy_with(20_000), 3, 4)]
}

pub(super) fn mdtest_hard() -> Vec<Workload> {
    vec![limited(mdtest_hard_with(1_000_000), 1, 300)]
}

pub(super) fn mdtest_hard_small() -> Vec<Workload> {
    vec![limited(mdtest_hard_with(5_000), 3, 3)]
}

fn fs_mark_with(file_count: u32) -> Workload {
    let phases = FilePhases::of([FilePhase::Write, FilePhase::Delete]);
    Workload { file_sync: Some(FileSync::File), ..set("fs-mark", file_count, FileSizes::One(10 * KIB), phases) }
}

pub(super) fn fs_mark() -> Vec<Workload> {
    vec![fs_mark_with(1000)]
}

pub(super) fn fs_mark_small() -> Vec<Workload> {
    vec![limited(fs_mark_with(500), 3, 8)]
}

/// `dd if=/dev/zero bs=64k conv=fsync`, and the file read again: as it is left, and from the storage.
fn dd(bytes: u64, iterations: u32) -> Vec<Workload> {
    let of = |name: &str, cache: CacheState| Workload {
        block_size: Some(Sweep::one(BlockSizes::One(64 << 10))),
        payload: zeros(),
        file_sync: Some(FileSync::File),
        iterations: Some(iterations),
        cache: Some(cache),
        ..set(name, 1, FileSizes::One(bytes), FilePhases::of([FilePhase::Write, FilePhase::Read]))
    };
    vec![of("dd", CacheState::AsIs), of("dd cold", CacheState::Cold)]
}

pub(super) fn dd_1g() -> Vec<Workload> {
    dd(1 << 30, 3)
}

pub(super) fn dd_1g_small() -> Vec<Workload> {
    dd(128 * MIB, 1)
}

/// A tree of sources that is unpacked, looked through and removed, durable when it is complete.
fn source_tree(file_count: u32) -> Workload {
    let phases = FilePhases::of([FilePhase::Write, FilePhase::ListLong, FilePhase::Read, FilePhase::Delete]);
    Workload {
        files_per_directory: Some(20),
        file_sync: Some(FileSync::Phase),
        ..set("untar", file_count, FileSizes::LogNormal { median: 4 * KIB, sigma: 1.2 }, phases)
    }
}

pub(super) fn untar() -> Vec<Workload> {
    vec![source_tree(20_000)]
}

pub(super) fn untar_small() -> Vec<Workload> {
    vec![limited(source_tree(300), 3, 4)]
}

/// A personality: what each of so many jobs repeats for a while.
struct Personality {
    name: &'static str,
    file_count: u32,
    file_size: FileSizes,
    files_per_directory: Option<u32>,
    jobs: u32,
    mix: &'static str,
    file_sync: Option<FileSync>,
}

impl Personality {
    fn workload(self) -> Workload {
        let Self { name, file_count, file_size, files_per_directory, jobs, mix, file_sync } = self;
        Workload {
            mix: Some(mix.parse().expect("presets are well formed")),
            files_per_directory,
            jobs: Some(Sweep::one(jobs)),
            file_sync,
            ..set(name, file_count, file_size, FilePhases::of([FilePhase::Mix]))
        }
    }
}

const fn gamma(mean: u64) -> FileSizes {
    FileSizes::Gamma { mean, shape: 1.5 }
}

fn fileserver_with(file_count: u32, jobs: u32) -> Workload {
    Personality {
        name: "fileserver",
        file_count,
        file_size: gamma(128 * KIB),
        files_per_directory: Some(20),
        jobs,
        mix: "write,append:16k,read,delete,stat",
        file_sync: None,
    }
    .workload()
}

fn varmail_with(file_count: u32) -> Workload {
    Personality {
        name: "varmail",
        file_count,
        file_size: gamma(16 * KIB),
        files_per_directory: None,
        jobs: 16,
        mix: "delete,write,read_append:16k,read",
        file_sync: Some(FileSync::File),
    }
    .workload()
}

fn webserver_with(file_count: u32, jobs: u32) -> Workload {
    Personality {
        name: "webserver",
        file_count,
        file_size: gamma(16 * KIB),
        files_per_directory: Some(20),
        jobs,
        mix: "read*10,log:16k",
        file_sync: None,
    }
    .workload()
}

fn webproxy_with(file_count: u32, jobs: u32) -> Workload {
    Personality {
        name: "webproxy",
        file_count,
        file_size: gamma(16 * KIB),
        files_per_directory: None,
        jobs,
        mix: "delete,write,read*5,log:16k",
        file_sync: None,
    }
    .workload()
}

/// Readers of large files, of which one is replaced now and then.
fn videoserver_with(file_count: u32, bytes: u64, jobs: u32) -> Workload {
    Personality {
        name: "videoserver",
        file_count,
        file_size: FileSizes::One(bytes),
        files_per_directory: None,
        jobs,
        mix: "read*20,overwrite",
        file_sync: None,
    }
    .workload()
}

fn postmark_with(file_count: u32) -> Workload {
    Personality {
        name: "postmark",
        file_count,
        file_size: FileSizes::Range { min: 500, max: 9770 },
        files_per_directory: None,
        jobs: 1,
        mix: "read|append:512,write|delete",
        file_sync: None,
    }
    .workload()
}

macro_rules! personalities {
    ($($full:ident, $small:ident: $workload:expr, $less:expr;)*) => {$(
        pub(super) fn $full() -> Vec<Workload> {
            vec![limited($workload, 3, 60)]
        }

        pub(super) fn $small() -> Vec<Workload> {
            vec![limited($less, 2, 5)]
        }
    )*};
}

personalities! {
    fileserver, fileserver_small: fileserver_with(10_000, 50), fileserver_with(1_000, 10);
    varmail, varmail_small: varmail_with(1_000), varmail_with(300);
    webserver, webserver_small: webserver_with(1_000, 100), webserver_with(400, 20);
    webproxy, webproxy_small: webproxy_with(10_000, 100), webproxy_with(1_000, 20);
    videoserver, videoserver_small: videoserver_with(36, 1 << 30, 32), videoserver_with(8, 32 * MIB, 4);
    postmark, postmark_small: postmark_with(500), postmark_with(500);
}
