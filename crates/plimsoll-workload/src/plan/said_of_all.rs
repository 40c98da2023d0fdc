//! What is said of several workloads at once, for each of them. Blocks, sets of files and applications have parameters
//! of their own: what means nothing to one workload is meant for the others.

use super::{applications, files};
use crate::{
    block_sizes::BlockSizes,
    file_mix::FileMix,
    file_set::{CacheState, FilePhase, FileSync},
    file_space::FileOrder,
    settings::{EngineChoice, FileSharing, ReadWrite, SyncMode},
    sweep::Sweep,
    units::Percent,
    workload::Workload,
};

/// What each of these workloads gets of what is said of all. What means nothing to any of them stays, to be refused.
pub fn shares(said: &Workload, workloads: &[Workload]) -> Vec<Workload> {
    let kinds: Vec<Kind> = workloads.iter().map(|workload| Kind::of(&said.clone().or(workload))).collect();
    let share =
        |kind: &Kind| said.clone().retaining(|flag| kind.has(flag) || !kinds.iter().any(|other| other.has(flag)));
    kinds.iter().map(share).collect()
}

/// Parts from the flags of a run what says which command to time: it is a workload beside those of presets. How often
/// and how it is timed is said of all applications.
pub fn application_beside(flags: &Workload) -> Option<(Workload, Workload)> {
    flags.command.as_ref()?;
    let is_of_it = |flag: &str| applications::is_of_one_command(flag);
    Some((flags.clone().retaining(is_of_it), flags.clone().retaining(|flag| !is_of_it(flag))))
}

/// Why something that is said of all, and has a meaning to blocks or to sets of files, does nothing in any of these
/// workloads. Workloads of their own may say it, as those that other languages become.
pub fn without_effect(said: &Workload, workloads: &[Workload]) -> Option<String> {
    without_effect_on_files(said, workloads).or_else(|| without_effect_on_blocks(said, workloads))
}

fn without_effect_on_files(said: &Workload, workloads: &[Workload]) -> Option<String> {
    let sets = workloads.iter().filter(|workload| Kind::of(workload) == Kind::Files);
    let phases: Vec<FilePhase> = sets.flat_map(all_phases).collect();
    if phases.is_empty() {
        return None;
    }
    let nothing = |can_use: fn(FilePhase) -> bool| !phases.iter().any(|phase| can_use(*phase));
    if let Some(cache) = said.cache.filter(|cache| *cache != CacheState::AsIs)
        && nothing(|phase| phase.reads() && phase != FilePhase::WriteRead)
    {
        return Some(format!(
            "--cache {cache} is about files that are read, and no phase reads what was there: leave it out, or add \
             the phase read"
        ));
    }
    match said.file_sync {
        Some(sync) if sync != FileSync::None && nothing(FilePhase::changes) => {
            return Some(format!("--file-sync {sync} is about what changes, and no phase changes files: leave it out"));
        }
        Some(sync @ (FileSync::File | FileSync::Data))
            if nothing(|phase| phase.changes() && !phase.changes_only_names()) =>
        {
            return Some(format!(
                "--file-sync {sync} is about what is in files, and nothing but names changes: use --file-sync directory"
            ));
        }
        _ => {}
    }
    // Blocks have these too.
    let are_all_sets = workloads.iter().all(|workload| Kind::of(workload) == Kind::Files);
    let about_content = [("--block-size", said.block_size.is_some()), ("--payload", said.payload.is_some())];
    let (flag, _) = about_content.into_iter().find(|(_, is_said)| *is_said && are_all_sets)?;
    nothing(|phase| phase.reads() || phase.writes())
        .then(|| format!("{flag} is about what is in files, and no phase reads or writes that: leave it out"))
}

/// What is done with the files of a set, with the steps of a mix instead of that.
fn all_phases(workload: &Workload) -> Vec<FilePhase> {
    let phases = workload.phases.iter().flat_map(|phases| phases.as_slice().to_vec());
    let steps = workload.mix.iter().flat_map(FileMix::phases);
    phases.filter(|phase| *phase != FilePhase::Mix).chain(steps).collect()
}

fn without_effect_on_blocks(said: &Workload, workloads: &[Workload]) -> Option<String> {
    let has_names = |workload: &Workload| workload.engine.is_some_and(|engine| engine.name_operation().is_some());
    let is_of_blocks = |workload: &&Workload| Kind::of(workload) == Kind::Blocks && !has_names(workload);
    let cells: Vec<Workload> = workloads.iter().filter(is_of_blocks).flat_map(Workload::expand).collect();
    if cells.is_empty() {
        return None;
    }
    let nothing = |can_use: &dyn Fn(&Workload) -> bool| !cells.iter().any(can_use);
    let about_writes = [
        ("--fsync", said.fsync.is_some()),
        ("--fdatasync", said.fdatasync.is_some()),
        ("--end-fsync", said.end_fsync == Some(true)),
        ("--sync", said.sync.is_some_and(|mode| mode != SyncMode::None)),
        ("--write-block-size", said.write_block_size.is_some()),
    ];
    if let Some((flag, _)) = about_writes.into_iter().find(|(_, is_said)| *is_said)
        && nothing(&|cell| read_percent(cell) < 100)
    {
        return Some(format!(
            "{flag} is about writes, and nothing writes: leave it out, or use --rw randwrite or randrw"
        ));
    }
    if said.block_size.is_some()
        && workloads.iter().all(|workload| Kind::of(workload) == Kind::Blocks)
        && nothing(&|cell| read_percent(cell) > 0 || cell.write_block_size.is_none())
    {
        return Some("--block-size is of reads beside --write-block-size, and nothing reads: leave one out".to_owned());
    }
    if let Some(batch) = said.batch.filter(|batch| *batch > 1) {
        if nothing(&|cell| holds(cell, batch)) {
            return Some(deeper(batch));
        }
        if nothing(&|cell| cell.engine != Some(EngineChoice::Psync)) {
            return Some(format!("--batch {batch} needs an engine that queues, not --engine psync"));
        }
        if nothing(&|cell| cell.rate.is_none()) {
            return Some(format!(
                "--batch {batch} says nothing under a --rate, whose operations begin each at its time: leave one out"
            ));
        }
    }
    if said.stride.is_some() && nothing(&is_of_one_size) {
        return Some("--stride needs one block size for all operations".to_owned());
    }
    if said.offset_increment.is_some() && nothing(&|cell| cell.files != Some(FileSharing::PerJob)) {
        return Some("--offset-increment is for jobs that share files: leave it or --files per-job out".to_owned());
    }
    if let Some(order @ FileOrder::Turns(_)) = said.file_order
        && nothing(&|cell| is_of_one_size(cell) || cell.rw.is_some_and(ReadWrite::is_random))
    {
        return Some(format!("--file-order {order} needs one block size for all operations: use sequential"));
    }
    None
}

/// Why the batch that a workload of a plan has for itself, and with all that is said as well, never comes about: no
/// depth of it holds so many.
pub fn batch_without_effect(own: &Workload, whole: &Workload) -> Option<String> {
    let batch = whole.batch.filter(|batch| *batch > 1 && own.batch == Some(*batch))?;
    if Kind::of(whole) != Kind::Blocks {
        return None;
    }
    (!whole.expand().iter().any(|cell| holds(cell, batch))).then(|| deeper(batch))
}

fn holds(cell: &Workload, batch: u32) -> bool {
    one(cell.queue_depth.as_ref()).unwrap_or(1) >= batch
}

fn deeper(batch: u32) -> String {
    format!("--batch {batch} needs a --queue-depth of at least as many: raise that, or lower it")
}

/// The one value of a workload of a sweep.
fn one<T: Clone>(sweep: Option<&Sweep<T>>) -> Option<T> {
    sweep.and_then(|sweep| sweep.values().first().cloned())
}

fn read_percent(cell: &Workload) -> u8 {
    let usual = cell.rw.unwrap_or(ReadWrite::Read).default_read_percent();
    one(cell.read_percent.as_ref()).map_or(usual, Percent::get)
}

/// How long reads and writes are; those that there are, or both.
fn sizes(cell: &Workload) -> (BlockSizes, BlockSizes) {
    let read = one(cell.block_size.as_ref()).unwrap_or(BlockSizes::One(4096));
    let write = cell.write_block_size.clone().unwrap_or_else(|| read.clone());
    match read_percent(cell) {
        0 => (write.clone(), write),
        100 => (read.clone(), read),
        _ => (read, write),
    }
}

/// Whether all operations have the same length.
fn is_of_one_size(cell: &Workload) -> bool {
    let (read, write) = sizes(cell);
    read.is_one() && read == write
}

#[derive(PartialEq, Eq)]
enum Kind {
    Blocks,
    Files,
    Application,
}

impl Kind {
    const fn of(workload: &Workload) -> Self {
        if workload.command.is_some() {
            Self::Application
        } else if workload.phases.is_some() || workload.mix.is_some() {
            Self::Files
        } else {
            Self::Blocks
        }
    }

    /// Whether a parameter, by its flag, means something to it.
    fn has(&self, flag: &str) -> bool {
        match self {
            Self::Blocks => applications::why_not_of_blocks(flag).is_none(),
            Self::Files => files::has(flag),
            Self::Application => applications::has(flag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of options of all workloads.
    fn told(said: &Workload, workloads: &[&str]) -> Option<String> {
        let workloads: Vec<_> = workloads.iter().map(|workload| said.clone().or(&flags(workload))).collect();
        without_effect(said, &workloads)
    }

    #[test]
    fn what_no_workload_can_use_is_told_and_what_one_can_is_not() {
        let (read, write) = ("rw = 'randread'", "rw = 'write'");
        let (mixed, sweep) = ("rw = 'randrw'\nread_percent = [0, 100]", "rw = 'read'\nqueue_depth = [1, 8]");
        let (psync, apart) = ("rw = 'read'\nengine = 'psync'\nqueue_depth = 8", "rw = 'read'\nfiles = 'per-job'");
        let paced = "rw = 'read'\nrate = 1000\nqueue_depth = 8";
        let ranges = "rw = 'read'\nblock_size = '4k-64k'";
        for (said, useless, useful) in [
            ("fsync = 1", read, write),
            ("fdatasync = 1", read, mixed),
            ("end_fsync = true", read, write),
            ("sync = 'dsync'", read, write),
            ("write_block_size = '8k'", read, mixed),
            ("write_block_size = '8k'\nblock_size = ['4k', '64k']", write, mixed),
            ("batch = 8", read, sweep),
            ("batch = 2", psync, sweep),
            ("batch = 8", paced, sweep),
            ("stride = '64k'", ranges, sweep),
            ("offset_increment = '1M'", apart, sweep),
            ("file_order = 'turns:2'", ranges, sweep),
        ] {
            let said = flags(said);
            let told = |workloads: &[&str]| told(&said, workloads);
            let flag = said.asked().next().unwrap();
            assert!(told(&[useless, useless]).unwrap().contains(&format!("--{flag}")), "{said:?}");
            assert_eq!(told(&[useless, useful]), None, "{said:?}");
            assert_eq!(told(&["command = 'x'"]), None, "applications have words of their own for it");
        }
        for (said, useless, useful) in [
            ("cache = 'cold'", "phases = 'write,write_read,stat'", "phases = 'write,read'"),
            ("cache = 'warm'", "mix = 'write,stat'", "mix = 'write,read'"),
            ("file_sync = 'file'", "phases = 'read,stat,list'", "phases = 'read,write'"),
            ("file_sync = 'data'", "phases = 'rename,delete,mkdir'", "phases = 'truncate'"),
            ("file_sync = 'directory'", "mix = 'read|stat'", "phases = 'delete'"),
            ("block_size = '4k'", "phases = 'create,stat,delete'", "phases = 'log'"),
            ("payload = 'zero'", "phases = 'stat'", "rw = 'randwrite'"),
        ] {
            let said = flags(said);
            let told = |workloads: &[&str]| told(&said, workloads);
            let flag = said.asked().next().unwrap();
            assert!(told(&[useless, useless]).unwrap().contains(&format!("--{flag}")), "{said:?}");
            assert_eq!(told(&[useless, useful]), None, "{said:?}");
        }
        let harmless = flags("batch = 1\nend_fsync = false\nsync = 'none'\nfile_order = 'sequential'");
        assert_eq!(without_effect(&harmless, &[harmless.clone().or(&flags(ranges))]), None);
        // A workload of its own says it, as one that was a job of fio.
        let own = flags("rw = 'read'\nfsync = 1\nbatch = 8");
        assert_eq!(without_effect(&Workload::default(), &[own]), None);
    }

    #[test]
    fn a_batch_of_a_workload_of_its_own_needs_a_depth_too() {
        let told = |own: &str, beside: &str| batch_without_effect(&flags(own), &flags(own).or(&flags(beside)));
        assert!(told("batch = 4\nqueue_depth = 1", "").unwrap().contains("--queue-depth of at least as many"));
        assert!(told("batch = 4", "").is_some());
        assert_eq!(told("batch = 4", "queue_depth = [1, 8]"), None);
        assert_eq!(told("queue_depth = 1", "batch = 4"), None, "what is said of all may be meant for others");
        let lowered = flags("batch = 2\nqueue_depth = 2");
        assert_eq!(batch_without_effect(&flags("batch = 4\nqueue_depth = 4"), &lowered), None, "a flag lowers both");
    }

    fn flags(line: &str) -> Workload {
        toml::from_str(line).unwrap()
    }

    #[test]
    fn each_kind_gets_what_means_something_to_it() {
        let workloads = [flags("rw = 'randread'"), flags("command = 'pgbench'"), flags("phases = 'write'")];
        let said = flags("iterations = 6\nqueue_depth = 4\njobs = 2\nwarmup = 1\nfile_count = 50\nfile_sync = 'file'");
        let [blocks, application, files] = <[Workload; 3]>::try_from(shares(&said, &workloads)).unwrap();
        assert_eq!(blocks, flags("queue_depth = 4\njobs = 2\nfile_count = 50"));
        assert_eq!(application, flags("iterations = 6\njobs = 2\nwarmup = 1"));
        assert_eq!(files, flags("iterations = 6\njobs = 2\nfile_count = 50\nfile_sync = 'file'"));
    }

    #[test]
    fn a_command_beside_presets_shares_with_them_how_it_is_timed_and_nothing_of_what_it_does() {
        let said = flags("command = './x'\nprepare = './y'\nsettle = '0'\ntimeout = '60s'\nparallel = true\njobs = 3");
        let (command, others) = application_beside(&said).unwrap();
        assert_eq!(command, flags("command = './x'\nprepare = './y'"));
        let shared = flags("settle = '0'\ntimeout = '60s'\nparallel = true\njobs = 3");
        let preset = flags("command = 'pgbench'\nprepare = 'createdb'");
        assert_eq!(shares(&others, &[preset, command]), vec![shared.clone(), shared]);
        assert_eq!(application_beside(&flags("settle = '0'")), None);
    }

    #[test]
    fn what_means_nothing_to_any_is_left_to_be_refused() {
        let said = flags("warmup = 1\nqueue_depth = 4");
        assert_eq!(shares(&said, &[flags("rw = 'read'")]), vec![said]);
        // A command that is said of a single workload makes it an application.
        let command = flags("command = 'x'\nwarmup = 1\nrw = 'read'");
        assert_eq!(shares(&command, &[Workload::default()]), vec![command]);
    }
}
