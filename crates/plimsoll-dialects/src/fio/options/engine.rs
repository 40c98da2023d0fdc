//! Options that belong to an engine, and are unknown without it.

use super::{Category::Engine, Entry, kind::Kind};
use crate::fio::settings::StatCall;

const RINGS: &[&str] = &["io_uring"];
const POLLED: &[&str] = &["io_uring", "pvsync2"];
const WITH_FLAGS: &[&str] = &["io_uring", "libaio", "pvsync2"];
const QUEUES: &[&str] = &["io_uring", "libaio"];
const PRIORITIES: &str = "priorities of operations are not supported";
const FILE_STAT: &[&str] = &["filestat"];

const COUNT: Kind = Kind::Integer { min: 0, max: u32::MAX as i64 };
const PERCENT: Kind = Kind::Integers { min: 0, max: 100 };

pub(super) const ENTRIES: &[Entry] = &[
    Entry::exact(Engine, "hipri", Kind::Flag, "Poll for completions", |s, v, _| {
        s.engine_options.polled = v.truth();
        Ok(())
    })
    .engines(POLLED)
    .approximate("pvsync2 does not poll")
    .told_by_lowering(),
    Entry::ignored(
        Engine,
        "hipri_percentage",
        Kind::Integer { min: 0, max: 100 },
        "How many of a hundred operations are polled for",
        "all or none are polled for",
    )
    .engines(&["pvsync2"])
    .default("100")
    .unless(&["100"]),
    Entry::exact(Engine, "fixedbufs", Kind::Flag, "Register buffers with the kernel", |s, v, _| {
        s.engine_options.registered_buffers = v.truth();
        Ok(())
    })
    .engines(RINGS)
    .ignored_for("buffers are always registered where the kernel allows it")
    .when(|s| !s.engine_options.registered_buffers),
    Entry::exact(Engine, "registerfiles", Kind::Flag, "Register files with the kernel", |s, v, _| {
        s.engine_options.registered_files = v.truth();
        Ok(())
    })
    .engines(RINGS)
    .ignored_for("files are always registered where the kernel allows it")
    .when(|s| !s.engine_options.registered_files),
    Entry::exact(Engine, "sqthread_poll", Kind::Flag, "A thread of the kernel submits", |s, v, _| {
        s.engine_options.submission_thread = v.truth();
        Ok(())
    })
    .engines(RINGS),
    Entry::exact(Engine, "sqthread_poll_cpu", COUNT, "Where that thread runs", |s, v, _| {
        s.engine_options.submission_thread_processor = Some(u64::from(v.small()));
        Ok(())
    })
    .engines(RINGS)
    .ignored_for("the kernel chooses where its thread runs"),
    Entry::ignored(
        Engine,
        "nonvectored",
        Kind::Integer { min: -1, max: 1 },
        "Operations have one buffer",
        "operations always have one buffer",
    )
    .engines(RINGS)
    .default("-1")
    .unless(&["1"]),
    Entry::ignored(
        Engine,
        "force_async",
        COUNT,
        "Every so many operations are started by another thread",
        "worker threads of the kernel start operations where the target needs them",
    )
    .engines(RINGS)
    .default("0")
    .unless(&["0"]),
    Entry::ignored(
        Engine,
        "userspace_reap",
        Kind::Flag,
        "Take completions without asking the kernel",
        "completions are taken without a system call where the kernel allows it",
    )
    .engines(&["libaio"]),
    Entry::ignored(
        Engine,
        "libaio_vectored",
        Kind::Flag,
        "Operations have lists of buffers",
        "operations have one buffer",
    )
    .engines(&["libaio"]),
    Entry::refused(Engine, "nowait", Kind::Boolean, "operations that would wait are not sent back")
        .engines(WITH_FLAGS)
        .unless(&["0"]),
    Entry::refused(Engine, "uncached", COUNT, "I/O that leaves no cache is not supported; direct=1 goes around it")
        .engines(POLLED)
        .unless(&["0"]),
    Entry::refused(Engine, "cmdprio_percentage", PERCENT, PRIORITIES).engines(QUEUES).unless(&["0"]),
    Entry::refused(Engine, "cmdprio_class", PERCENT, PRIORITIES).engines(QUEUES),
    Entry::refused(Engine, "cmdprio", PERCENT, PRIORITIES).engines(QUEUES),
    Entry::refused(Engine, "cmdprio_hint", PERCENT, PRIORITIES).engines(QUEUES),
    Entry::refused(Engine, "cmdprio_bssplit", Kind::Text, PRIORITIES).engines(QUEUES),
    Entry::ignored(Engine, "thp", COUNT, "Map with large pages", "maps have pages of the usual size")
        .engines(&["mmap"])
        .default("0"),
    Entry::exact(
        Engine,
        "stat_type",
        Kind::Choice(&["stat", "lstat", "statx"]),
        "Which call is measured",
        |s, v, _| {
            s.engine_options.stat = match v.word() {
                "lstat" => StatCall::Lstat,
                "statx" => StatCall::Statx,
                _ => StatCall::Stat,
            };
            Ok(())
        },
    )
    .engines(FILE_STAT)
    .default("stat")
    .approximate("stat is called in any case: the files are no links, so that the others ask for the same")
    .told_by_lowering(),
];
