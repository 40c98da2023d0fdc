//! From a workload of file sets as asked to its plan.

use super::{CellPlan, PlanError};
use crate::{
    block_sizes::BlockSizes,
    certainty::{Certainty, StoppingRule},
    file_mix::FileMix,
    file_set::{CacheState, FilePhase, FilePhases, FilePlan, FileSync, PhaseEnd},
    file_sizes::FileSizes,
    limits,
    payload::Fill,
    settings::{Effort, SyncMode},
    target_facts::{TargetFacts, TargetKind},
    units::Span,
    workload::Workload,
};

/// Files when nothing is said.
const FILES: u32 = 1000;
/// Bytes of a file when nothing is said.
const FILE_BYTES: u64 = 4096;
/// Most bytes of a read or write when nothing is said.
const BLOCK_BYTES: u32 = 1 << 20;

/// Parameters that mean something only with phases, by the names of their flags.
const OF_FILES_ALONE: &[&str] = &["mix", "files-per-directory", "file-sync", "cache", "phase-end"];

/// Those that mean something with phases too.
const OF_FILES_TOO: &[&str] = &[
    "name",
    "iterations",
    "target",
    "phases",
    "jobs",
    "file-count",
    "file-size",
    "block-size",
    "buffered",
    "sync",
    "duration",
    "payload",
    "verify",
    "seed",
    "pin",
    "keep-going",
];

/// How often phases are repeated when nothing is said.
const fn usual_iterations(effort: Effort) -> u32 {
    match effort {
        Effort::Quick => 3,
        Effort::Standard => 10,
        Effort::Thorough => 30,
    }
}

/// How long a mix goes on when nothing is said.
const fn usual_mix(effort: Effort) -> Span {
    match effort {
        Effort::Quick => Span::from_seconds(10),
        Effort::Standard | Effort::Thorough => Span::from_seconds(60),
    }
}

/// Whether a parameter, by its flag, means something to a set of files.
pub(super) fn has(flag: &str) -> bool {
    OF_FILES_TOO.contains(&flag) || is_of_files_alone(flag)
}

/// Whether it is one that only sets of files have.
pub(super) fn is_of_files_alone(flag: &str) -> bool {
    OF_FILES_ALONE.contains(&flag)
}

pub(super) fn resolve(
    target: &TargetFacts,
    workload: &Workload,
    certainty: &Certainty,
    seed: u64,
) -> Result<Option<(StoppingRule, FilePlan)>, PlanError> {
    let only_mix = FilePhases::of([FilePhase::Mix]);
    let phases = match (&workload.phases, &workload.mix) {
        (Some(phases), _) => phases,
        (None, Some(_)) => &only_mix,
        (None, None) => return Ok(None),
    };
    let refused = |problem: String| PlanError::Contradiction {
        workload: workload.name.clone().unwrap_or_else(|| phases.to_string()),
        problem,
    };
    let unusable = |problem: String| PlanError::Target { target: target.name.clone(), problem };
    if let Some(flag) = workload.asked().find(|flag| !has(flag)) {
        return Err(refused(format!("--{flag} means nothing for a set of files: leave it or --phases out")));
    }
    if target.kind != TargetKind::Directory {
        return Err(unusable("a set of files needs a directory to be made in: name one".to_owned()));
    }
    let mixes = phases.as_slice().iter().position(|phase| *phase == FilePhase::Mix);
    match (mixes, &workload.mix) {
        (None, Some(_)) => return Err(refused("--mix says what the phase mix repeats: add it to --phases".to_owned())),
        (Some(_), None) => {
            return Err(refused(
                "the phase mix needs --mix with what each job repeats, as delete,write,read".to_owned(),
            ));
        }
        (Some(_), Some(mix)) if mix.phases().iter().any(|phase| phases.as_slice().contains(phase)) => {
            return Err(refused("a step of a mix has its own numbers: leave it out of --phases".to_owned()));
        }
        (Some(place), Some(_)) if place + 1 < phases.as_slice().len() => {
            return Err(refused("nothing knows which files a mix leaves: make it the last of the phases".to_owned()));
        }
        _ => {}
    }
    let counted = |flag: &str, asked: Option<u32>, usual: u32, max: u32| match asked.unwrap_or(usual) {
        value if (1..=max).contains(&value) => Ok(value),
        value => Err(refused(format!("--{flag} {value} is out of range: choose 1 to {max}"))),
    };
    let asked_jobs = workload.jobs.as_ref().and_then(|jobs| jobs.values().first().copied());
    let jobs = counted("jobs", asked_jobs, 1, limits::JOBS_MAX)?;
    let file_count = counted("file-count", workload.file_count, FILES, limits::SET_FILES_MAX)?;
    if file_count < jobs {
        return Err(refused(format!("{file_count} files are too few for {jobs} jobs: raise --file-count")));
    }
    let each = workload.files_per_directory;
    let files_per_directory = each.map(|each| counted("files-per-directory", Some(each), 1, limits::SET_FILES_MAX));
    let block_size_bytes = match workload.block_size.as_ref().and_then(|sizes| sizes.values().first()) {
        None => BLOCK_BYTES,
        Some(BlockSizes::One(bytes)) if *bytes <= limits::BLOCK_SIZE_MAX => *bytes,
        Some(sizes) => {
            return Err(refused(format!("--block-size {sizes}: files are read and written in blocks of one size")));
        }
    };
    let file_size = workload.file_size.clone().unwrap_or(FileSizes::One(FILE_BYTES));
    let buffered = workload.buffered.unwrap_or(true);
    if !buffered && workload.cache == Some(CacheState::Warm) {
        return Err(refused("direct I/O goes around the page cache that --cache warm fills: leave one out".to_owned()));
    }
    if !buffered {
        let alignment = target
            .direct_alignment_bytes
            .ok_or_else(|| unusable("direct I/O is not supported there: leave --buffered=false out".to_owned()))?;
        let appended = workload.mix.iter().flat_map(FileMix::appended_to_files);
        let are_whole = appended.into_iter().all(|bytes| bytes.is_multiple_of(alignment.into()));
        if !file_size.are_multiples_of(alignment) || !block_size_bytes.is_multiple_of(alignment) || !are_whole {
            return Err(unusable(format!(
                "direct I/O needs multiples of {alignment} bytes here, and not all of files of {file_size}, blocks of {} \
                 and what is appended are: choose others, or leave --buffered=false out",
                BlockSizes::One(block_size_bytes)
            )));
        }
    }
    let payload = workload.payload.clone().unwrap_or_default();
    let verify = workload.verify.unwrap_or(false);
    if verify && payload.fill != Fill::Random {
        return Err(refused("--verify needs a random payload, so that each file's content is known".to_owned()));
    }
    if workload.duration == Some(Span { ns: 0 }) {
        return Err(refused("--duration 0 measures nothing".to_owned()));
    }
    let steps = workload.mix.iter().flat_map(FileMix::phases);
    let mut steps = phases.as_slice().iter().copied().filter(|phase| *phase != FilePhase::Mix).chain(steps);
    if verify && let Some(phase) = steps.find(|phase| phase.appends() || *phase == FilePhase::Overwrite) {
        let why = match phase {
            FilePhase::Overwrite => "cannot notice that an overwrite is lost, which writes what is there".to_owned(),
            phase => format!("does not know what {phase} leaves in files"),
        };
        return Err(refused(format!("--verify {why}: leave one of them out")));
    }
    let file_sync = workload.file_sync.unwrap_or(FileSync::None);
    if mixes.is_some() && file_sync == FileSync::Reverse {
        return Err(refused(
            "--file-sync reverse needs an order of files, and a mix has none: choose another".to_owned(),
        ));
    }
    // A mix has no end of its own.
    let limit = workload.duration.or(mixes.map(|_| usual_mix(certainty.effort)));
    let plan = FilePlan {
        phases: phases.clone(),
        mix: workload.mix.clone(),
        file_count,
        file_size,
        files_per_directory: files_per_directory.transpose()?,
        jobs,
        block_size_bytes,
        buffered,
        sync: workload.sync.unwrap_or(SyncMode::None),
        file_sync,
        cache: workload.cache.unwrap_or(CacheState::AsIs),
        phase_end: workload.phase_end.unwrap_or(PhaseEnd::All),
        phase_limit_ns: limit.map(|limit| limit.ns),
        payload,
        verify,
        seed: workload.seed.unwrap_or(seed),
        pin: workload.pin.clone().unwrap_or_default(),
        keep_going: workload.keep_going.unwrap_or(false),
    };
    if u64::from(jobs) * u64::from(block_size_bytes) > limits::BUFFER_BYTES_MAX {
        return Err(refused("jobs x block size needs more than 4 GiB of buffers: lower one".to_owned()));
    }
    let iterations = match certainty.passes {
        Some(passes) => passes,
        None => counted("iterations", workload.iterations, usual_iterations(certainty.effort), 1_000_000)?,
    };
    Ok(Some((StoppingRule::Fixed { slots: iterations, discarded: certainty.discard_first.unwrap_or(0) }, plan)))
}

/// Refuses to verify sets of files when none of them has content.
pub(super) fn check_verified(cells: &[CellPlan]) -> Result<(), PlanError> {
    let verified = || cells.iter().filter(|cell| cell.files().is_some_and(|plan| plan.verify));
    let checks = |cell: &CellPlan| cell.files().is_some_and(|plan| plan.content_bytes() > 0);
    match verified().next().filter(|_| !verified().any(checks)) {
        Some(cell) => Err(PlanError::Contradiction {
            workload: cell.workload.clone(),
            problem: "--verify checks what is in files, and nothing would be checked: no phase of it makes or reads \
                      content; leave --verify out, or add the phases write and read"
                .to_owned(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::directory;
    use crate::{certainty::Certainty, plan::Plan, settings::Effort, workload::Workload};

    #[test]
    fn an_overwrite_is_not_verified_because_nobody_would_notice_that_it_is_lost() {
        for phases in ["phases = 'write,overwrite,read'", "mix = 'read*20,overwrite'"] {
            let plan = |verify: bool| {
                let workload: Workload = toml::from_str(&format!("{phases}\nverify = {verify}")).unwrap();
                Plan::resolve(&[directory()], &[workload], &Certainty::of(Effort::Quick), 7)
            };
            let error = plan(true).unwrap_err().to_string();
            assert!(error.contains("cannot notice that an overwrite is lost"), "{phases}: {error}");
            assert!(plan(false).is_ok(), "{phases}");
        }
    }

    #[test]
    fn sets_are_verified_when_any_of_them_has_content() {
        let plan = |phases: &[&str]| {
            let of = |phases: &&str| toml::from_str(&format!("phases = '{phases}'\nverify = true")).unwrap();
            let workloads: Vec<Workload> = phases.iter().map(of).collect();
            Plan::resolve(&[directory()], &workloads, &Certainty::of(Effort::Quick), 7)
        };
        for empty in ["create,stat,delete", "mkdir,rmdir"] {
            let error = plan(&[empty]).unwrap_err().to_string();
            assert!(error.contains("nothing would be checked"), "{empty}: {error}");
        }
        for phases in [&["write"][..], &["read"], &["stat"], &["create,delete", "write,read"]] {
            assert!(plan(phases).is_ok(), "{phases:?}");
        }
    }
}
