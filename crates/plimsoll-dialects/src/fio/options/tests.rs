//! Promises about the table of options.

use std::collections::BTreeSet;

use super::*;
use crate::fio::settings::Settings;

/// What real job files use, by how often.
const OF_REAL_JOB_FILES: &str = "rw bs ba bsrange bssplit ioengine iodepth iodepth_batch direct buffered sync fsync \
    fdatasync end_fsync fsync_on_close size io_size filesize offset filename directory filename_format nrfiles \
    openfiles fallocate create_on_open create_only overwrite file_append unlink unlink_each_loop invalidate numjobs \
    group_reporting new_group stonewall loops runtime time_based ramp_time startdelay name stats rwmixread rwmixwrite \
    percentage_random random_distribution norandommap randrepeat randseed rate rate_iops rate_process thinktime \
    thinktime_blocks thinktime_spin verify do_verify verify_fatal verify_dump refill_buffers buffer_pattern \
    buffer_compress_percentage buffer_compress_chunk dedupe_percentage percentile_list clat_percentiles \
    unified_rw_reporting write_bw_log write_iops_log write_lat_log log_avg_msec per_job_logs continue_on_error \
    exitall_on_error steadystate steadystate_duration steadystate_ramp_time steadystate_check_interval kb_base \
    cpus_allowed cpus_allowed_policy iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low fill_device \
    offset_increment file_service_type allow_file_create pre_read verify_pattern verify_backlog verify_interval \
    verify_state_save zero_buffers lat_percentiles write_hist_log log_hist_msec log_alternate_epoch exitall \
    ignore_error cpumask latency_target latency_window latency_percentile max_latency rate_min rate_iops_min wait_for \
    number_ios description thread random_generator clocksource disk_util gtod_reduce disable_lat disable_clat \
    disable_slat disable_bw_measurement create_serialize create_fsync fadvise_hint registerfiles fixedbufs hipri \
    sqthread_poll sqthread_poll_cpu nonvectored unit_base error_dump mem iomem_align log_window_value log_offset \
    log_entries log_compression slat_percentiles scramble_buffers significant_figures bwavgtime iopsavgtime \
    serialize_overlap verify_async lockfile nice prio prioclass ioscheduler numa_cpu_nodes numa_mem_policy \
    io_submit_mode offset_align allow_mounted_write unique_filename";

/// A value that any kind of option takes.
fn example(entry: &Entry) -> Option<&'static str> {
    match entry.kind {
        Kind::Text | Kind::OptionalText => Some("x"),
        Kind::Choice(words) => words.first().copied(),
        Kind::Integer { min, max } | Kind::Integers { min, max } => {
            Some(["1", "1024"].into_iter().find(|text| (min..=max).contains(&text.parse().unwrap())).unwrap())
        }
        Kind::SizeRanges => Some("4k-8k"),
        Kind::Special(_) => entry.default.or(match entry.name {
            "bssplit" => Some("4k/50:8k/50"),
            "buffer_pattern" | "verify_pattern" => Some("0xff"),
            "cpus_allowed" => Some("0-1"),
            "ignore_error" => Some("EIO:5,ENOSPC"),
            "steadystate" => Some("bw_slope:1%"),
            _ => Some("x"),
        }),
        Kind::Size | Kind::Sizes | Kind::Extent | Kind::SizeRange => Some("4096"),
        _ => Some("1"),
    }
}

#[test]
fn no_option_has_the_name_of_another() {
    let names: Vec<_> = all().flat_map(|entry| std::iter::once(&entry.name).chain(entry.aliases)).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
}

#[test]
fn options_of_real_job_files_are_taken() {
    for name in OF_REAL_JOB_FILES.split_whitespace() {
        let entry = find(name).unwrap_or_else(|| panic!("{name} is not in the table"));
        assert_eq!(entry.name, name);
        assert!(!matches!(entry.support, Support::Refused(_)), "{name} is refused");
    }
}

#[test]
fn every_option_takes_a_value_of_its_kind() {
    for entry in all().filter(|entry| !matches!(entry.support, Support::Refused(_))) {
        let mut settings = Settings::default();
        let put = entry.put(example(entry), &mut settings);
        assert!(put.is_ok(), "{}: {put:?}", entry.name);
        if entry.kind.is_optional() {
            assert!(entry.put(None, &mut settings).is_ok(), "{} alone", entry.name);
        } else {
            assert!(entry.put(None, &mut settings).is_err(), "{} without a value", entry.name);
        }
        assert!(entry.put(Some(""), &mut settings).is_err(), "{} with an empty value", entry.name);
    }
}

#[test]
fn the_default_of_an_option_is_what_a_job_has_without_it() {
    // A seed that is given is remembered as given.
    for entry in all().filter(|entry| entry.name != "randseed") {
        let Some(default) = entry.default else { continue };
        let mut settings = Settings::default();
        entry.put(Some(default), &mut settings).unwrap_or_else(|wrong| panic!("{}: {wrong:?}", entry.name));
        assert_eq!(settings, Settings::default(), "{}={default}", entry.name);
    }
}

#[test]
fn refused_options_say_why_unless_they_ask_for_nothing() {
    let zone_mode = find("zonemode").unwrap();
    let wrong = zone_mode.put(Some("zbd"), &mut Settings::default()).unwrap_err();
    assert!(wrong.what.contains("zoned block devices are not supported"), "{wrong:?}");
    assert_eq!(zone_mode.put(Some("none"), &mut Settings::default()), Ok(Vec::new()));
}

#[test]
fn unknown_options_come_with_the_nearest_known_one() {
    assert_eq!(unknown("direcotry", true).instead.as_deref(), Some("did you mean directory?"));
    assert_eq!(unknown("starttdelay", true).instead.as_deref(), Some("did you mean startdelay?"));
    assert_eq!(unknown("x".repeat(1000).as_str(), true).instead, None);
}

#[test]
fn an_option_is_noted_in_jobs_that_it_is_not_honoured_in() {
    let noted = |name: &str, value: &str| {
        let (entry, mut settings) = (find(name).unwrap(), Settings::default());
        settings.submission.depth = 8;
        entry.put(Some(value), &mut settings).unwrap();
        entry.note(Some(value), &settings)
    };
    for (name, value) in [("filesize", "4k-8k"), ("fallocate", "truncate"), ("invalidate", "0"), ("thread", "0")] {
        assert!(noted(name, value).is_some_and(|note| note.starts_with(name)), "{name}={value}");
    }
    // What happens is what was asked for.
    for (name, value) in
        [("filesize", "4k"), ("verify", "0"), ("create_fsync", "1"), ("thread", "1"), ("lockfile", "none")]
    {
        assert_eq!(noted(name, value), None, "{name}={value}");
    }
}
