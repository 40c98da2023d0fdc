//! How far the jobs of a report in JSON are: with `--status-interval` fio tells of them again and again.

use serde_json::Value;

use super::ROUNDING;

/// Reports of the same run may be so far apart in when it began, because whole seconds of it are told.
const BEGINNING_TOLERANCE_MS: i64 = 2000;

/// What fio says is left where it has no guess: in the first seconds, and at the end of a job that took no longer.
const ETA_WITHOUT_GUESS: u64 = i32::MAX as u64;

/// So much later may a report be written than the times in it were taken.
const DELAY_MS: f64 = 100.0;

/// How far the jobs of a report are.
pub(super) struct Progress {
    /// When each job began in milliseconds, 0 before that; nothing of versions that do not tell.
    starts: Vec<u64>,
    /// When the report was written, and how long fio had been running.
    written_ms: Option<i64>,
    elapsed_ms: Option<i64>,
    /// Operations and times of all jobs, which only grow, except at the end of a ramp.
    counts: Vec<u64>,
    has_ramp: bool,
    /// Whether this report says that there is time left, or follows another.
    is_of_several: bool,
    /// Whether fio has no guess of the time that is left.
    is_without_guess: bool,
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
        let eta = || jobs.iter().filter_map(|job| job["eta"].as_u64());
        let ramps = jobs.iter().map(|job| &job["job options"]["ramp_time"]);
        let mut ramps = ramps.chain([&report["global options"]["ramp_time"]]).filter_map(Value::as_str);
        let progress = Self {
            starts: jobs.iter().map(|job| job["job_start"].as_u64().unwrap_or(0)).collect(),
            written_ms: report["timestamp_ms"].as_i64().or(seconds),
            elapsed_ms: jobs.iter().find_map(|job| job["elapsed"].as_i64()?.checked_mul(1000)),
            counts: counts.collect(),
            has_ramp: ramps.any(|ramp| ramp != "0"),
            is_of_several: eta().any(|eta| eta > 0 && eta != ETA_WITHOUT_GUESS),
            is_without_guess: eta().any(|eta| eta == ETA_WITHOUT_GUESS),
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
        (before.is_of_several || self.goes_on_from(before))
            && begin_together
            && self.written_ms >= before.written_ms
            && (self.has_ramp || self.counts.iter().zip(&before.counts).all(|(ours, theirs)| ours >= theirs))
    }

    /// Whether the jobs of a report without a guess ran on until this one. Another short run is no longer than it, or
    /// did not run all the time between them.
    fn goes_on_from(&self, before: &Self) -> bool {
        let passed_ms = self.written_ms.zip(before.written_ms).and_then(|(ours, theirs)| ours.checked_sub(theirs));
        let times = |of: &Self| of.counts.iter().skip(1).step_by(2).copied().max().unwrap_or(0) as f64;
        let ran_ms = times(self) - times(before);
        let ran_on = passed_ms.is_some_and(|ms| (ms as f64 - ran_ms).abs() <= DELAY_MS + ROUNDING * ms as f64);
        before.is_without_guess && self.elapsed_ms > before.elapsed_ms && (ran_on || self.has_ramp)
    }

    /// Takes the place of a report that this one follows.
    pub(super) fn take_over(&mut self) {
        self.is_of_several = true;
    }
}
