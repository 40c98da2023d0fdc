//! Options about files of what happened when.

use super::{Category::Logs, Entry, kind::Kind};
use crate::fio::settings::{LogName, LogValue};

const SECOND_NS: u64 = 1_000_000_000;
const NAME: Kind = Kind::OptionalText;

pub(super) const ENTRIES: &[Entry] = &[
    Entry::exact(Logs, "write_bw_log", NAME, "Log bandwidth", |s, v, _| {
        s.report.bandwidth_log = Some(v.optional_text().map_or(LogName::OfJob, LogName::Given));
        Ok(())
    })
    .approximate("an entry is about a second, or what log_avg_msec says")
    .when(|s| s.report.log_interval.is_none()),
    Entry::exact(Logs, "write_lat_log", NAME, "Log latencies", |s, v, _| {
        s.report.latency_log = Some(v.optional_text().map_or(LogName::OfJob, LogName::Given));
        Ok(())
    })
    .approximate("an entry is the mean of a second, or of what log_avg_msec says; clat has those of lat, slat none"),
    Entry::exact(Logs, "write_iops_log", NAME, "Log operations per second", |s, v, _| {
        s.report.operations_log = Some(v.optional_text().map_or(LogName::OfJob, LogName::Given));
        Ok(())
    })
    .approximate("an entry is about a second, or what log_avg_msec says")
    .when(|s| s.report.log_interval.is_none()),
    Entry::exact(Logs, "write_hist_log", NAME, "Log histograms of latencies", |s, v, _| {
        s.report.histogram_log = Some(v.optional_text().map_or(LogName::OfJob, LogName::Given));
        Ok(())
    })
    .approximate("there is one histogram, of the whole run"),
    Entry::exact(Logs, "per_job_logs", Kind::Boolean, "Each clone has a log", |s, v, _| {
        s.report.has_log_per_job = v.truth();
        Ok(())
    })
    .default("1"),
    Entry::exact(Logs, "log_avg_msec", Kind::Milliseconds, "The span of an entry, at least a second", |s, v, _| {
        s.report.log_interval = v.time_unless_zero();
        Ok(())
    })
    .default("0")
    .approximate("rounded up to whole seconds")
    .when(|s| s.report.log_interval.is_some_and(|interval| !interval.ns.is_multiple_of(SECOND_NS))),
    Entry::exact(Logs, "log_hist_msec", Kind::Milliseconds, "The span of a histogram", |s, v, _| {
        s.report.histogram_interval = v.time_unless_zero();
        Ok(())
    })
    .default("0")
    .ignored_for("there is one histogram, of the whole run")
    .unless(&["0"]),
    Entry::exact(Logs, "log_alternate_epoch", Kind::Boolean, "Times in logs are those of day", |s, v, _| {
        s.report.is_log_time_of_day = v.truth();
        Ok(())
    })
    .aliases(&["log_unix_epoch"])
    .default("0"),
    Entry::exact(
        Logs,
        "log_window_value",
        Kind::Choice(&["avg", "max", "both", "0", "1"]),
        "What an entry says about its span",
        |s, v, _| {
            s.report.log_value = match v.word() {
                "max" | "1" => LogValue::Maximum,
                "both" => LogValue::Both,
                _ => LogValue::Average,
            };
            Ok(())
        },
    )
    .aliases(&["log_max_value"])
    .default("avg")
    .ignored_for("an entry is always the mean of its span")
    .when(|s| s.report.log_value != LogValue::Average),
    Entry::exact(Logs, "log_offset", Kind::Boolean, "Entries have the offset", |s, v, _| {
        s.report.has_log_offset = v.truth();
        Ok(())
    })
    .default("0")
    .ignored_for("entries are about spans, which have no offset")
    .unless(&["0"]),
    Entry::exact(Logs, "bwavgtime", Kind::Milliseconds, "The span of the bandwidth over time", |s, v, _| {
        s.report.bandwidth_interval = v.time();
        Ok(())
    })
    .default("500")
    .ignored_for("the span is a second, or that of the log")
    .unless(&["1000"]),
    Entry::exact(Logs, "iopsavgtime", Kind::Milliseconds, "The span of operations per second over time", |s, v, _| {
        s.report.operations_interval = v.time();
        Ok(())
    })
    .default("500")
    .ignored_for("the span is a second, or that of the log")
    .unless(&["1000"]),
    Entry::ignored(
        Logs,
        "log_entries",
        Kind::Integer { min: 1024, max: 1 << 20 },
        "Entries of a log to begin with",
        "logs grow as needed",
    )
    .default("1024"),
    Entry::ignored(Logs, "log_compression", Kind::Size, "Compress logs in memory", "logs are small enough"),
    Entry::ignored(Logs, "log_prio", Kind::Boolean, "Entries have the priority", "operations have no priorities")
        .default("0")
        .unless(&["0"]),
    Entry::ignored(
        Logs,
        "log_hist_coarseness",
        Kind::Integer { min: 0, max: 6 },
        "How many buckets histograms are put together in",
        "histograms are logged in full",
    )
    .default("0")
    .unless(&["0"]),
];
