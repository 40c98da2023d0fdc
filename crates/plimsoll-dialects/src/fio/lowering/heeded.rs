//! Who heeds which setting. All fields are named here, so that a new one cannot be forgotten: either something reads
//! it, or the table of options says that nothing does, and a note is given where that matters.

use crate::fio::settings::{Content, Course, EngineOptions, Files, Pattern, RateLimits, Report, Settings, Submission};

/// Nothing but the list: it does not compile when a setting is missing from it.
const _: fn(Settings) = |settings| {
    let Settings {
        description: _,    // Reports repeat it.
        name: _,           // Jobs are called so.
        engine: _,         // Of the plan.
        engine_options: _, // And the rest: below.
        files: _,
        pattern: _,
        submission: _,
        rate: _,
        course: _,
        content: _,
        report: _,
    } = settings;
};

const _: fn(EngineOptions) = |options| {
    let EngineOptions {
        polled: _,                      // Of the plan, with io_uring.
        registered_buffers: _,          // They always are: a note where that is not wanted.
        registered_files: _,            // Likewise.
        submission_thread: _,           // Of the plan.
        submission_thread_processor: _, // Of nothing: a note.
        stat: _,                        // Of nothing: a note of lowering.
    } = options;
};

const _: fn(Files) = |files| {
    let Files {
        directories: _, // These make the names of files.
        names: _,
        are_names_added: _, // A note of the checks.
        format: _,
        count: _,
        open: _,    // Of nothing: a note.
        service: _, // Of the plan, as far as it can say it: a note.
        size: _,    // These make regions and amounts.
        io_size: _,
        file_size: _, // Of a range the mean: a note.
        offset: _,
        offset_increment: _,
        offset_alignment: _,
        fills_device: _,
        appends: _,
        preallocation: _, // Of the plan: a note of what it cannot say.
        is_laid_out: _,
        is_created_on_open: _,
        is_creation_only: _,     // Of what is done with the plan.
        is_creation_serial: _,   // It always is: a note where that is not wanted.
        is_creation_synced: _,   // Likewise.
        may_create: _,           // A problem where files are missing.
        is_read_before: _,       // Of nothing: a note.
        drops_cache: _,          // Of the plan.
        is_removed_after: _,     // Of what is done after the plan: a note of lowering.
        is_removed_each_loop: _, // Of nothing: a note.
    } = files;
};

const _: fn(Pattern) = |pattern| {
    let Pattern {
        direction: _, // Of the plan.
        step: _,      // As a share of random places: a note of lowering.
        sequencer: _, // A problem where it matters.
        read_percent: _,
        block_size: _,
        block_range: _,
        block_split: _,
        alignment: _, // A problem where it matters.
        is_size_by_order: _,
        is_unaligned: _, // Of nothing: a note.
        random_percent: _,
        distribution: _,
        generator: _, // Of nothing: a note.
        may_repeat_blocks: _,
        is_repeatable: _,
        seed: _,
        operations: _,
    } = pattern;
};

const _: fn(Submission) = |submission| {
    let Submission {
        depth: _, // Of the plan.
        batch: _,
        complete_min: _,
        complete_max: _, // Of nothing: a note.
        low: _,          // Of the plan, with the one before.
        is_direct: _,
        sync: _,
        fsync_every: _,
        fdatasync_every: _,
        is_synced_at_end: _,
        is_synced_on_close: _, // At the end: a note where files are closed more often.
        hint: _,
        serializes_overlap: _, // Of nothing: a note.
    } = submission;
};

const _: fn(RateLimits) = |rate| {
    let RateLimits {
        bytes: _, // Of the plan.
        operations: _,
        bytes_min: _, // Reports judge these.
        operations_min: _,
        arrivals: _,
        cycle: _,              // Of nothing: a note.
        ignores_think_time: _, // Likewise.
        think_time: _,
        think_time_spin: _, // Of nothing: a note of lowering.
        think_time_blocks: _,
        think_time_counts: _, // Of nothing: a note.
        think_time_after: _,  // Of nothing: a note of lowering.
        latency_max: _,       // Reports judge it.
        latency_target: _,    // A search of its own.
        latency_window: _,
        latency_percentile: _,
        continues_at_target: _,
    } = rate;
};

const _: fn(Course) = |course| {
    let Course {
        clones: _, // Of the plan.
        loops: _,
        runtime: _,
        is_time_based: _,
        ramp: _,
        start_delay: _,   // Its lower end: a note of lowering.
        waits_for_all: _, // These make phases.
        begins_group: _,
        waits_for: _,
        ends_all: _,
        ends: _,           // Of nothing: a note of lowering.
        error_ends_all: _, // Of nothing: a note.
        continues_on: _,   // Of the plan, and of the exit code.
        ignored_errors: _, // That there are any is of the plan: a note.
        steady_state: _,   // Reports tell these; the rules decide.
        steady_state_duration: _,
        steady_state_ramp: _,     // Of nothing: a note.
        steady_state_interval: _, // Likewise.
        processors: _,
        processor_policy: _, // Of nothing: a note.
        is_thread: _,        // They always are: a note where that is not wanted.
    } = course;
};

const _: fn(Content) = |content| {
    let Content {
        is_zero: _,      // Of the plan.
        is_refilled: _,  // It always is: a note where that is not wanted.
        is_scrambled: _, // Likewise.
        pattern: _,
        compress_percent: _,
        compress_chunk: _, // Of nothing: a note.
        duplicate_percent: _,
        verify: _, // That there is any is of the plan: a note.
        has_verify_phase: _,
        verify_error_ends: _, // Of nothing: notes, all of them.
        dumps_bad_blocks: _,
        verify_interval: _,
        verify_pattern: _,
        verify_backlog: _,
        verify_backlog_batch: _,
        saves_verify_state: _,
    } = content;
};

const _: fn(Report) = |report| {
    let Report {
        is_by_group: _, // Of the plan, and of reports, as all that has no word here.
        has_statistics: _,
        unified: _,
        has_completion_percentiles: _,
        has_total_percentiles: _,
        has_submission_percentiles: _, // Of nothing: a note.
        percentiles: _,
        kilobyte_base: _,
        is_in_bits: _,
        significant_figures: _,
        has_disk_use: _,
        is_without_total_latency: _,
        is_without_completion_latency: _,
        is_without_submission_latency: _,
        is_without_bandwidth: _, // Of nothing: a note.
        bandwidth_log: _,
        latency_log: _,
        operations_log: _,
        histogram_log: _,
        has_log_per_job: _,
        log_interval: _,
        histogram_interval: _,  // Of nothing: a note.
        bandwidth_interval: _,  // Likewise.
        operations_interval: _, // Likewise.
        log_value: _,           // Likewise.
        has_log_offset: _,      // Likewise.
        is_log_time_of_day: _,
    } = report;
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::{
        fio::{
            Surroundings,
            lowering::{Lowered, lower},
            options::all,
            translate_command_line,
        },
        found::{Found, FoundKind},
        problem::Problems,
        support::Support,
    };

    /// Options that are honoured, each with a job in which the plan is another one with it.
    const OF_THE_PLAN: &[(&str, &str)] = &[
        ("filename=old", ""),
        ("iodepth_batch=4", "ioengine=libaio\niodepth=8"),
        ("fadvise_hint=0", ""),
        ("directory=/more", ""),
        ("filename_format=$filenum", ""),
        ("nrfiles=2", ""),
        ("size=2m", ""),
        ("io_size=2m", ""),
        ("offset_align=64k", "filename=old\nsize=64k\noffset=33%"),
        ("file_append=1", "filename=old"),
        ("overwrite=1", ""),
        ("create_on_open=1", ""),
        ("create_only=1", ""),
        ("allow_file_create=0", ""),
        ("rwmixread=70", "rw=randrw"),
        ("rwmixwrite=70", "rw=randrw"),
        ("bs=8k", ""),
        ("norandommap", "rw=randwrite"),
        ("allrandrepeat=1", "randrepeat=0"),
        ("number_ios=5", ""),
        ("iodepth=8", "ioengine=libaio\ndirect=1"),
        ("iodepth_low=2", "ioengine=libaio\ndirect=1\niodepth=8"),
        ("direct=1", ""),
        ("buffered=0", ""),
        ("sync=dsync", ""),
        ("fsync=4", ""),
        ("fdatasync=4", ""),
        ("end_fsync=1", ""),
        ("rate_process=poisson", "rate_iops=100"),
        ("thinktime_blocks=4", "thinktime=10"),
        ("numjobs=2", ""),
        ("loops=2", ""),
        ("runtime=5", ""),
        ("ramp_time=2", ""),
        ("stonewall", "[b]\nsize=2m\nrw=write\ndirectory=/data"),
        ("group_reporting", "numjobs=2"),
        ("sqthread_poll", "ioengine=io_uring"),
        ("name=x", ""),
        ("kb_base=1000", ""),
    ];

    /// Options that reports and logs honour, and who searches for a depth.
    const OF_REPORTS: &str = "description new_group stats unified_rw_reporting clat_percentiles lat_percentiles \
        percentile_list unit_base significant_figures disk_util per_job_logs log_alternate_epoch latency_target \
        latency_window latency_percentile latency_run";

    /// Jobs that lowering has something to tell of, and words of it.
    const TOLD: &[(&str, &str)] = &[
        ("rw=randwrite:4", "a new place is drawn for 25 of a hundred"),
        ("rw=randwrite:4\nrw_sequencer=identical", "not there yet"),
        ("ioengine=mmap", "mmap is done by"),
        ("ioengine=posixaio", "posixaio is done by"),
        ("ioengine=pvsync2\nhipri", "hipri has no effect"),
        ("ioengine=filestat\nstat_type=lstat", "stat_type has no effect"),
        ("thinktime=10\nrate_iops=100", "thinktime has no effect"),
        ("thinktime=10\nthinktime_spin=5", "thinktime_spin is slept"),
        ("thinktime=10\nthinktime_iotime=5", "thinktime_iotime has no effect"),
        ("startdelay=1-2", "startdelay is 1s"),
        ("[b]\nsize=1m\ndirectory=/data\nwait_for=a", "wait_for waits for everything"),
        ("exitall\n[b]\nsize=1m\ndirectory=/data\nnew_group", "other groups too"),
        ("exitall\nexit_what=all\n[b]\nsize=1m\ndirectory=/data\nstonewall", "later jobs are run"),
        ("unlink=1\n[b]\nsize=1m\ndirectory=/data", "unlink: files stay"),
        ("verify=crc32c\ndo_verify=0", "nothing is read back"),
        ("offset=50%", "of a new file"),
        ("steadystate=iops:5%\nss_dur=5", "does not end a job that has a size"),
        ("rw=rw\nrate_iops=100,", "a rate for one direction"),
        ("rw=rw", "reads and writes are one sequence"),
        ("rw=randrw\npercentage_random=0", "reads and writes are one sequence"),
    ];

    fn lowered(options: &str) -> String {
        match lowering(options) {
            Ok(lowered) => format!("{:?}", Lowered { notes: Vec::new(), ..lowered }),
            Err(problems) => problems.to_string(),
        }
    }

    fn lowering(options: &str) -> Result<Lowered, Problems> {
        let file = format!("[a]\nsize=1m\nrw=write\ndirectory=/data\n{options}\n");
        let mut read_file = |_: &str| Ok(Some(file.as_bytes().to_vec()));
        let mut surroundings = Surroundings {
            environment: &|_| None,
            page_size_bytes: 4096,
            memory_mib: 1024,
            processors: 2,
            read_file: &mut read_file,
        };
        let jobs = translate_command_line(&["job.fio".to_owned()], &mut surroundings).unwrap();
        let look = |path: &str| match path {
            "/data/old" => Some(Found { kind: FoundKind::File, size_bytes: 1 << 20 }),
            "/data" | "/more" => Some(Found { kind: FoundKind::Directory, size_bytes: 1 << 30 }),
            _ => None,
        };
        lower(&jobs, &look)
    }

    #[test]
    fn what_a_plan_cannot_say_of_options_is_told() {
        for (options, words) in TOLD {
            let told = match lowering(options) {
                Ok(lowered) => lowered.notes.iter().map(|note| format!("{note}\n")).collect(),
                Err(problems) => problems.to_string(),
            };
            assert!(told.contains(words), "{options}:\n{told}");
        }
    }

    #[test]
    fn a_mix_that_is_as_in_fio_is_not_told() {
        for options in ["rw=rw\nrwmixread=100", "rw=rw\nrwmixwrite=100", "rw=randrw", "rw=write"] {
            assert_eq!(lowering(options).unwrap().notes, [], "{options}");
        }
    }

    #[test]
    fn an_option_that_is_honoured_changes_the_plan_or_the_report() {
        for (option, with) in OF_THE_PLAN {
            assert_ne!(lowered(with), lowered(&format!("{with}\n{option}")), "{option} changes nothing");
        }
        let of_the_plan = OF_THE_PLAN.iter().filter_map(|(option, _)| option.split('=').next());
        let known: BTreeSet<&str> = of_the_plan.chain(OF_REPORTS.split_whitespace()).collect();
        for entry in all().filter(|entry| entry.support == Support::Exact) {
            assert!(known.contains(entry.name), "who honours {}?", entry.name);
        }
    }

    #[test]
    fn clones_are_on_processors_in_turn() {
        let pinned = lowered("numjobs=3\ncpus_allowed=0,2,4");
        for processors in ["[0, 2, 4]", "[2, 4, 0]", "[4, 0, 2]"] {
            assert!(pinned.contains(processors), "{processors} in {pinned}");
        }
    }
}
