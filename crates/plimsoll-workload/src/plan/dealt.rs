//! Workloads on disks that nothing puts together: each disk gets jobs and files of its own, and all of them together
//! what is asked for.

use crate::{
    plan::Dealt,
    settings::{FileSharing, RateScope},
    sweep::Sweep,
    units::{ByteCount, Extent, Rate},
    workload::Workload,
};

/// The workload that does on all of so many disks together what is asked for, or why there is none.
pub(super) fn dealt(workload: &Workload, disks: u32) -> Result<(Dealt, Workload), String> {
    let is_of_names = workload.engine.is_some_and(|engine| engine.name_operation().is_some());
    if workload.phases.is_some() || workload.command.is_some() || is_of_names {
        return Err(format!(
            "its {disks} disks are not put together, and nothing but jobs that read and write can be dealt among them: \
             leave jbod out, or give this workload another target"
        ));
    }
    let of_files = [
        ("file_names", workload.file_names.is_some()),
        ("--file-count", workload.file_count.is_some_and(|count| count != 1)),
        ("--file-size", workload.file_size.is_some()),
        ("--offset-increment", workload.offset_increment.is_some()),
        ("--think-time", workload.think_time.is_some()),
    ];
    if let Some((flag, _)) = of_files.into_iter().find(|(_, is_asked)| *is_asked) {
        return Err(format!(
            "{flag} cannot be dealt among {disks} disks so that all together do what is asked for: leave it or jbod out"
        ));
    }
    let one = |sweep: Option<&Sweep<u32>>| sweep.and_then(|sweep| sweep.values().first().copied()).unwrap_or(1);
    let asked = Dealt {
        disks,
        jobs: one(workload.jobs.as_ref()),
        queue_depth: one(workload.queue_depth.as_ref()),
        files: workload.files.unwrap_or(FileSharing::Shared),
    };
    if asked.jobs == 0 || asked.queue_depth == 0 {
        // Refused as it was asked.
        return Ok((asked, workload.clone()));
    }
    // Each disk has as many. What all jobs have together is the same as on other targets, as far as that can be.
    let jobs = asked.jobs.next_multiple_of(disks);
    let share = f64::from(asked.jobs) / f64::from(jobs);
    let depth = (f64::from(asked.queue_depth) * share).ceil() as u32;
    let size = workload.size.map(|size| match size {
        Extent::Bytes(bytes) => Extent::Bytes(ByteCount(asked.share_of(bytes.0, jobs))),
        percent @ Extent::Percent(_) => percent,
    });
    let rate = workload.rate.map(|rate| match rate {
        _ if workload.rate_per != Some(RateScope::Job) => rate,
        Rate::Operations(rate) => Rate::Operations(rate * share),
        Rate::Bytes(rate) => Rate::Bytes(((rate as f64 * share) as u64).max(1)),
    });
    let dealt = Workload {
        jobs: Some(Sweep::one(jobs)),
        queue_depth: Some(Sweep::one(depth)),
        files: Some(FileSharing::PerJob),
        size,
        rate,
        ..workload.clone()
    };
    Ok((asked, dealt))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(disks: u32, toml: &str) -> Result<Workload, String> {
        dealt(&toml::from_str(toml).unwrap(), disks).map(|(_, dealt)| dealt)
    }

    #[test]
    fn all_disks_together_do_what_is_asked_for() {
        for (disks, asked, jobs, depth, size, rate) in [
            (4, "queue_depth = 64\nsize = '1GiB'\nrate = 4000", 4, 16, 1 << 28, 4000.0),
            (4, "jobs = 8\nqueue_depth = 2\nsize = '1GiB'", 8, 2, 1 << 27, 0.0),
            (
                4,
                "jobs = 2\nqueue_depth = 8\nfiles = 'per-job'\nsize = '1GiB'\nrate = 10\nrate_per = 'job'",
                4,
                4,
                1 << 29,
                5.0,
            ),
            (3, "queue_depth = 64\nsize = '3MiB'", 3, 22, 1 << 20, 0.0),
            (3, "jobs = 4\nqueue_depth = 3\nsize = '6MiB'", 6, 2, 1 << 20, 0.0),
            (2, "size = '1MiB'", 2, 1, 1 << 19, 0.0),
        ] {
            let dealt = on(disks, asked).unwrap();
            let of = |sweep: &Option<Sweep<u32>>| sweep.as_ref().unwrap().values().to_vec();
            assert_eq!((of(&dealt.jobs), of(&dealt.queue_depth)), (vec![jobs], vec![depth]), "{asked}");
            assert_eq!(dealt.size, Some(Extent::Bytes(ByteCount(size))), "{asked}");
            assert_eq!(dealt.rate, (rate > 0.0).then_some(Rate::Operations(rate)), "{asked}");
            assert_eq!(dealt.files, Some(FileSharing::PerJob));
        }
    }

    #[test]
    fn what_cannot_be_dealt_says_why() {
        for (asked, why) in [
            ("think_time = '1ms'", "cannot be dealt"),
            ("file_count = 4", "cannot be dealt"),
            ("phases = 'write,read'", "leave jbod out"),
            ("command = 'true'", "leave jbod out"),
            ("engine = 'filecreate'", "leave jbod out"),
            ("file_names = ['a']", "cannot be dealt"),
        ] {
            assert!(on(4, asked).unwrap_err().contains(why), "{asked}");
        }
    }
}
