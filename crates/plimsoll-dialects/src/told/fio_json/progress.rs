//! How far the jobs of a report in JSON are: with `--status-interval` fio tells of them again and again.

use serde_json::Value;

/// Reports of the same run may be so far apart in when it began, because whole seconds of it are told.
const BEGINNING_TOLERANCE_MS: i64 = 2000;

/// What fio says is left at the end of a job that took too little time for a guess.
const ETA_OF_SHORT_JOBS: u64 = i32::MAX as u64;

/// How far the jobs of a report are.
pub(super) struct Progress {
    /// When each job began in milliseconds, 0 before that; nothing of versions that do not tell.
    starts: Vec<u64>,
    /// When the report was written, and how long fio had been running.
    written_ms: Option<i64>,
    elapsed_ms: Option<i64>,
    /// Operations and times of all jobs, which only grow.
    counts: Vec<u64>,
    /// Whether this report or one before it says that there is time left.
    is_of_several: bool,
}

impl Progress {
    /// What reports of one run have in common, and how far this one is.
    pub(super) fn of(report: &Value) -> (String, Self) {
        let jobs = report["jobs"].as_array().or_else(|| report["client_stats"].as_array());
        let jobs = jobs.map(Vec::as_slice).unwrap_or_default();
        let names = ["jobname", "groupid", "hostname", "port", "job options"];
        let asked: Vec<[&Value; 5]> = jobs.iter().map(|job| names.map(|name| &job[name])).collect();
        let identity = serde_json::json!([report["fio version"], report["global options"], asked]).to_string();
        let seconds = report["timestamp"].as_i64().and_then(|seconds| seconds.checked_mul(1000));
        let counts = jobs.iter().flat_map(|job| {
            let of = |name: &str| ["total_ios", "runtime"].map(|count| job[name][count].as_u64().unwrap_or(0));
            ["read", "write", "trim", "mixed"].map(of).concat()
        });
        let progress = Self {
            starts: jobs.iter().map(|job| job["job_start"].as_u64().unwrap_or(0)).collect(),
            written_ms: report["timestamp_ms"].as_i64().or(seconds),
            elapsed_ms: jobs.iter().find_map(|job| job["elapsed"].as_i64()?.checked_mul(1000)),
            counts: counts.collect(),
            is_of_several: jobs
                .iter()
                .any(|job| job["eta"].as_u64().is_some_and(|eta| eta > 0 && eta != ETA_OF_SHORT_JOBS)),
        };
        (identity, progress)
    }

    /// Whether this tells of the same jobs as a report before, later on.
    pub(super) fn follows(&self, before: &Self) -> bool {
        let pairs = || self.starts.iter().zip(&before.starts);
        if self.starts.iter().chain(&before.starts).any(|start| *start > 0) {
            // Jobs begin one after another.
            return pairs().all(|(ours, theirs)| ours == theirs || *theirs == 0)
                && pairs().any(|(ours, theirs)| ours == theirs && *ours > 0);
        }
        // Machines that run the same job at the same time begin together as well, but tell of it once.
        let began = |of: &Self| of.written_ms?.checked_sub(of.elapsed_ms?);
        let begin_together = began(self)
            .zip(began(before))
            .is_some_and(|(ours, theirs)| ours.saturating_sub(theirs).saturating_abs() < BEGINNING_TOLERANCE_MS);
        before.is_of_several
            && begin_together
            && self.written_ms >= before.written_ms
            && self.counts.iter().zip(&before.counts).all(|(ours, theirs)| ours >= theirs)
    }

    /// Takes the place of a report before.
    pub(super) fn take_over(&mut self, before: &Self) {
        self.is_of_several |= before.is_of_several;
    }
}
