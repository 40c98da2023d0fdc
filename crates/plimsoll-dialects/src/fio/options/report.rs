//! Options about what is told.

use super::{Category::Report, Entry, kind::Kind};
use crate::fio::{settings::UnifiedReporting, value::KilobyteBase};

const PERCENTILES_MAX: usize = 20;
const ALWAYS_TAKEN: &str = "latencies are always measured; the report leaves them out";

pub(super) const ENTRIES: &[Entry] = &[
    Entry::exact(Report, "group_reporting", Kind::Flag, "One report for a group of jobs", |s, v, _| {
        s.report.is_by_group = v.truth();
        Ok(())
    }),
    Entry::exact(Report, "stats", Kind::Boolean, "Whether the job is part of the report", |s, v, _| {
        s.report.has_statistics = v.truth();
        Ok(())
    })
    .default("1"),
    Entry::exact(
        Report,
        "unified_rw_reporting",
        Kind::Choice(&["none", "mixed", "both", "0", "1", "2"]),
        "Whether reads and writes are reported together",
        |s, v, _| {
            s.report.unified = match v.word() {
                "mixed" | "1" => UnifiedReporting::Mixed,
                "both" | "2" => UnifiedReporting::Both,
                _ => UnifiedReporting::None,
            };
            Ok(())
        },
    )
    .default("none"),
    Entry::exact(Report, "clat_percentiles", Kind::Boolean, "Percentiles from submission to completion", |s, v, _| {
        s.report.has_completion_percentiles = v.truth();
        Ok(())
    })
    .default("1"),
    Entry::exact(Report, "lat_percentiles", Kind::Boolean, "Percentiles of the whole latency", |s, v, _| {
        s.report.has_total_percentiles = v.truth();
        Ok(())
    })
    .default("0"),
    Entry::exact(Report, "slat_percentiles", Kind::Boolean, "Percentiles of submission", |s, v, _| {
        s.report.has_submission_percentiles = v.truth();
        Ok(())
    })
    .default("0")
    .ignored_for("submission is timed by the batch")
    .unless(&["0"]),
    Entry::exact(
        Report,
        "percentile_list",
        Kind::Decimals { min: 0.0, max: 100.0, count: PERCENTILES_MAX },
        "Which percentiles",
        |s, v, _| {
            s.report.percentiles = v.decimals();
            Ok(())
        },
    )
    .default("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99"),
    Entry::exact(
        Report,
        "kb_base",
        Kind::Choice(&["1024", "1000"]),
        "What k means in sizes, and which units the report has",
        |s, v, _| {
            s.report.kilobyte_base = if v.word() == "1000" { KilobyteBase::K1000 } else { KilobyteBase::K1024 };
            Ok(())
        },
    )
    .default("1024"),
    Entry::exact(
        Report,
        "unit_base",
        Kind::Choice(&["0", "8", "1"]),
        "Rates in bytes, or with 1 in bits",
        |s, v, _| {
            s.report.is_in_bits = v.word() == "1";
            Ok(())
        },
    )
    .default("0"),
    Entry::exact(
        Report,
        "significant_figures",
        Kind::Integer { min: 1, max: 10 },
        "Digits of numbers in the normal output",
        |s, v, _| {
            s.report.significant_figures = v.percent();
            Ok(())
        },
    )
    .default("4"),
    Entry::exact(Report, "disk_util", Kind::Boolean, "Tell how busy the devices were", |s, v, _| {
        s.report.has_disk_use = v.truth();
        Ok(())
    })
    .default("1"),
    Entry::exact(Report, "gtod_reduce", Kind::Boolean, "No latencies and no bandwidth over time", |s, v, _| {
        if v.truth() {
            s.report.is_without_total_latency = true;
            s.report.is_without_completion_latency = true;
            s.report.is_without_submission_latency = true;
            s.report.is_without_bandwidth = true;
        }
        Ok(())
    })
    .default("0")
    .approximate(ALWAYS_TAKEN)
    .unless(&["0"]),
    Entry::exact(Report, "disable_lat", Kind::Boolean, "No latencies", |s, v, _| {
        s.report.is_without_total_latency = v.truth();
        Ok(())
    })
    .default("0")
    .approximate(ALWAYS_TAKEN)
    .unless(&["0"]),
    Entry::exact(Report, "disable_clat", Kind::Boolean, "No latencies of completion", |s, v, _| {
        s.report.is_without_completion_latency = v.truth();
        Ok(())
    })
    .default("0")
    .approximate(ALWAYS_TAKEN)
    .unless(&["0"]),
    Entry::exact(Report, "disable_slat", Kind::Boolean, "No latencies of submission", |s, v, _| {
        s.report.is_without_submission_latency = v.truth();
        Ok(())
    })
    .default("0")
    .approximate(ALWAYS_TAKEN)
    .unless(&["0"]),
    Entry::exact(Report, "disable_bw_measurement", Kind::Boolean, "No bandwidth over time", |s, v, _| {
        s.report.is_without_bandwidth = v.truth();
        Ok(())
    })
    .aliases(&["disable_bw"])
    .default("0")
    .ignored_for("bandwidth over time is always told, as by fio")
    .unless(&["0"]),
];
