//! fio's job files, which may include themselves, and the command line that shows each.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_dialects::{
    fio::{Job, Surroundings, lowering::lower, translate_command_line},
    found::{Found, FoundKind},
};

/// A machine where what lies at a path depends on its length.
fn look(path: &str) -> Option<Found> {
    let kind = match path.len() % 5 {
        0 => FoundKind::Directory,
        1 => FoundKind::File,
        2 => FoundKind::Device,
        3 => FoundKind::Other,
        _ => return None,
    };
    Some(Found { kind, size_bytes: (path.len() as u64) << 20 })
}

fuzz_target!(|text: &[u8]| {
    let mut reads = 0;
    let mut read_file = |name: &str| {
        reads += 1;
        Ok((name.len() < 8 && reads < 20).then(|| text.to_vec()))
    };
    let environment = |name: &str| (name.len() % 2 == 0).then(|| name.repeat(3));
    let mut surroundings = Surroundings {
        environment: &environment,
        page_size_bytes: 4096,
        memory_mib: 1024,
        processors: 8,
        read_file: &mut read_file,
    };
    let is_shown = text.len() % 8 == 0;
    let words = [if is_shown { "--showcmd" } else { "--parse-only" }, "a"].map(str::to_owned);
    match translate_command_line(&words, &mut surroundings) {
        // Jobs that are only to be shown are not checked, so that nothing can be done with them.
        Ok(_) if is_shown => {}
        Ok(jobs) => {
            for job in &jobs.jobs {
                assert!(job.settings.course.clones >= 1 && job.settings.submission.depth >= 1);
                for range in job.settings.pattern.block_bounds().each() {
                    assert!(range.low.0 >= 1 && range.low <= range.high);
                }
            }
            let files = |job: &Job| u64::from(job.settings.files.count) * u64::from(job.settings.course.clones);
            if jobs.jobs.iter().map(files).sum::<u64>() < 1000 {
                match lower(&jobs, &look) {
                    Ok(lowered) => {
                        assert_eq!(lowered.cells.len(), lowered.plan.workloads.len());
                        assert!(toml::to_string(&lowered.plan).is_ok());
                    }
                    Err(problems) => assert!(!problems.0.is_empty()),
                }
            }
        }
        Err(problems) => assert!(!problems.0.is_empty() && !problems.to_string().is_empty()),
    }
});
