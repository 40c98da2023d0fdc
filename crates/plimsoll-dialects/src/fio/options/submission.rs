//! Options about how operations reach the storage: engines, depth, direct and synchronous I/O.

use plimsoll_workload::settings::AccessHint;

use super::{
    Category::Submission,
    Entry,
    kind::{Kind, word},
};
use crate::fio::settings::{Engine, Hint, Sync};
use crate::problem::Wrong;

const DEPTH_MAX: i64 = 1 << 16;
const DEPTH: Kind = Kind::Integer { min: 1, max: DEPTH_MAX };
const BATCH: Kind = Kind::Integer { min: 0, max: DEPTH_MAX };
/// Writes between syncs.
const WRITES: Kind = Kind::Integer { min: 0, max: u32::MAX as i64 };

pub(super) const ENTRIES: &[Entry] = &[
    Entry::exact(
        Submission,
        "ioengine",
        Kind::Special(
            "libaio, io_uring, psync, sync, vsync, pvsync, pvsync2, mmap, posixaio, null, filecreate, filestat or filedelete",
        ),
        "How I/O reaches the kernel",
        |s, v, _| {
            s.engine = engine(&v.text())?;
            Ok(())
        },
    )
    .default("psync")
    .approximate("posixaio and mmap are done by psync, in as many threads as the queue is deep")
    .told_by_lowering(),
    Entry::exact(Submission, "iodepth", DEPTH, "Operations in flight, with an engine that queues", |s, v, _| {
        s.submission.depth = v.small();
        Ok(())
    })
    .default("1"),
    Entry::exact(Submission, "iodepth_batch", BATCH, "Operations to submit at once; 0 means the depth", |s, v, _| {
        s.submission.batch = v.small();
        Ok(())
    })
    .aliases(&["iodepth_batch_submit"])
    .default("1"),
    Entry::exact(
        Submission,
        "iodepth_batch_complete_min",
        BATCH,
        "Operations to wait for before more are submitted; 0 means to look without waiting",
        |s, v, _| {
            s.submission.complete_min = v.small();
            Ok(())
        },
    )
    .aliases(&["iodepth_batch_complete"])
    .default("1")
    .approximate("at least one is waited for")
    .when(|s| s.submission.complete_min == 0),
    Entry::exact(
        Submission,
        "iodepth_batch_complete_max",
        BATCH,
        "Operations to take at once; 0 means as many as are waited for",
        |s, v, _| {
            s.submission.complete_max = v.small_unless_zero();
            Ok(())
        },
    )
    .approximate("all that are complete are taken at once")
    .when(|s| s.submission.complete_max.is_some()),
    Entry::exact(
        Submission,
        "iodepth_low",
        BATCH,
        "How far a full queue drains before it is filled again; 0 means not at all",
        |s, v, _| {
            s.submission.low = v.small_unless_zero();
            Ok(())
        },
    ),
    Entry::exact(Submission, "direct", Kind::Boolean, "Go around the page cache", |s, v, _| {
        s.submission.is_direct = v.truth();
        Ok(())
    })
    .default("0"),
    Entry::exact(Submission, "buffered", Kind::Boolean, "Go through the page cache; the opposite of direct", |s, v, _| {
        s.submission.is_direct = !v.truth();
        Ok(())
    })
    .default("1"),
    Entry::exact(
        Submission,
        "sync",
        Kind::Choice(&["none", "0", "sync", "1", "dsync"]),
        "What a write waits for: sync is data and metadata, dsync is data",
        |s, v, _| {
            s.submission.sync = match v.word() {
                "sync" | "1" => Sync::Full,
                "dsync" => Sync::Data,
                _ => Sync::None,
            };
            Ok(())
        },
    )
    .default("none"),
    Entry::exact(Submission, "fsync", WRITES, "Sync the file after so many writes", |s, v, _| {
        s.submission.fsync_every = v.small_unless_zero();
        Ok(())
    })
    .default("0"),
    Entry::exact(Submission, "fdatasync", WRITES, "Sync the data of the file after so many writes", |s, v, _| {
        s.submission.fdatasync_every = v.small_unless_zero();
        Ok(())
    })
    .default("0"),
    Entry::exact(Submission, "end_fsync", Kind::Boolean, "Sync the files at the end of the job", |s, v, _| {
        s.submission.is_synced_at_end = v.truth();
        Ok(())
    })
    .default("0")
    .approximate("the syncs at the end are counted with the others; fio counts none of them")
    .when(|s| s.submission.is_synced_at_end),
    Entry::exact(Submission, "fsync_on_close", Kind::Boolean, "Sync a file whenever it is closed", |s, v, _| {
        s.submission.is_synced_on_close = v.truth();
        Ok(())
    })
    .default("0")
    .approximate("files are synced once, at the end of the job")
    .when(|s| s.submission.is_synced_on_close && (s.course.loops > 1 || s.files.open.is_some())),
    Entry::exact(
        Submission,
        "serialize_overlap",
        Kind::Boolean,
        "Wait for operations in flight on the same place",
        |s, v, _| {
            s.submission.serializes_overlap = v.truth();
            Ok(())
        },
    )
    .default("0")
    .ignored_for("operations in flight may overlap")
    .when(|s| s.submission.serializes_overlap && s.submission.depth > 1),
    Entry::ignored(
        Submission,
        "io_submit_mode",
        Kind::Choice(&["inline", "offload"]),
        "Which thread submits",
        "each worker submits for itself; with a rate, latency counts from the intended start anyway",
    )
    .default("inline")
    .unless(&["inline"]),
    Entry::exact(
        Submission,
        "fadvise_hint",
        Kind::Choice(&["0", "1", "random", "sequential", "noreuse"]),
        "What the kernel is told about the order: nothing, that of rw, or another",
        |s, v, _| {
            s.submission.hint = match v.word() {
                "0" => Hint::None,
                "random" => Hint::Given(AccessHint::Random),
                "sequential" => Hint::Given(AccessHint::Sequential),
                "noreuse" => Hint::NoReuse,
                _ => Hint::OfPattern,
            };
            Ok(())
        },
    )
    .default("1")
    .approximate("the kernel is told nothing instead of noreuse")
    .when(|s| s.submission.hint == Hint::NoReuse),
    Entry::ignored(
        Submission,
        "mem",
        Kind::Special("malloc, shm, mmap and their like"),
        "Where buffers are",
        "buffers are always anonymous memory, in large pages where that helps",
    )
    .aliases(&["iomem"])
    .default("malloc")
    .unless(&["malloc"]),
    Entry::ignored(
        Submission,
        "iomem_align",
        Kind::Size,
        "What buffers are aligned to",
        "buffers are aligned as the storage needs it",
    )
    .aliases(&["mem_align"])
    .default("0")
    .unless(&["0"]),
];

/// The engines that are honoured.
const ENGINES: [Engine; 13] = [
    Engine::Libaio,
    Engine::IoUring,
    Engine::Psync,
    Engine::Sync,
    Engine::Vsync,
    Engine::Pvsync,
    Engine::Pvsync2,
    Engine::Mmap,
    Engine::Posixaio,
    Engine::Null,
    Engine::FileCreate,
    Engine::FileStat,
    Engine::FileDelete,
];

/// The name of an engine: to fio all that begins so is libaio.
pub(in crate::fio) fn engine_name(text: &str) -> &str {
    if text.starts_with("linuxaio") || text.starts_with("aio") { Engine::Libaio.name() } else { text }
}

fn engine(text: &str) -> Result<Engine, Wrong> {
    let text = engine_name(text);
    if let Some(engine) = ENGINES.into_iter().find(|engine| engine.name() == text) {
        return Ok(engine);
    }
    let of = |engine: &str| format!("the engine {engine} is not possible: plimsoll drives files and block devices");
    let wrong = match text {
        "windowsaio" | "solarisaio" => {
            return Err(Wrong::new(format!("the engine {text} is that of another system")).instead("write libaio"));
        }
        "net" | "netsplice" | "rdma" => Wrong::new(format!("{}, not networks", of(text))),
        "cpuio" | "page_fault" | "exec" => Wrong::new(format!("{}, not processors or programs", of(text))),
        "sg" | "io_uring_cmd" | "libzbc" | "mtd" | "xnvme" | "libblkio" => {
            Wrong::new(format!("{}, not raw commands", of(text)))
                .instead("write ioengine=io_uring and the block device")
        }
        "rbd" | "rados" | "gfapi" | "gfapi_async" | "http" | "libhdfs" | "hdfs" | "nbd" | "nfs" | "libiscsi"
        | "dfs" => Wrong::new(format!("{}, not protocols", of(text)))
            .instead("mount or map the storage, and name the file or device"),
        "falloc" | "ftruncate" | "e4defrag" | "dircreate" | "dirstat" | "dirdelete" | "splice" | "dev-dax"
        | "libpmem" | "pmemblk" | "libcufile" | "libhipfile" | "ime_psync" | "ime_psyncv" | "ime_aio" => {
            Wrong::new(format!("the engine {text} is not supported"))
        }
        text if text.starts_with("external:") => Wrong::new("engines are not loaded from files"),
        _ => return word(text, &ENGINES.map(Engine::name)).map(|_| Engine::default()),
    };
    Err(wrong)
}
