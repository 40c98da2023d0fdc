//! What was asked of the jobs that an entry of a report is about: of one job, of the clones of a section, or of several
//! sections, which `group_reporting` sums up with the name of the first and the options of the last. That option is not
//! always told, but how long all of the jobs ran together is.

use serde_json::Value;

use super::ROUNDING;

/// So much longer or shorter than its reads and writes may a job run anyway.
const SLACK_MS: f64 = 10.0;

/// What was asked.
pub(super) struct Asked<'a> {
    /// Options of the job, which are those of the last where there are several sections, and those of all.
    options: [&'a Value; 2],
    /// How many jobs there are.
    pub(super) jobs: Option<u64>,
    /// Whether they are of several sections, or may be, so that what one of them was asked is not what all were.
    pub(super) is_of_several: bool,
    /// Whether some of the jobs ran for less time than others.
    pub(super) is_uneven: bool,
}

impl<'a> Asked<'a> {
    /// Of an entry of a report, which may stand beside its clones.
    pub(super) fn of(report: &'a Value, job: &'a Value, is_beside_clones: bool) -> Self {
        let options = [&job["job options"], &report["global options"]];
        let mut asked = Self { options, jobs: None, is_of_several: false, is_uneven: false };
        let told = asked.clones();
        let count = told.unwrap_or(1) as f64;
        // Reads that verify take their own time, and a log of I/O has any pattern.
        let is_plain = asked.option(&["verify", "read_iolog"]).is_none();
        let runtime = ["read", "write", "trim", "mixed"].into_iter().filter_map(|name| job[name]["runtime"].as_f64());
        let runtime = runtime.fold(0.0, f64::max);
        let together = job["job_runtime"].as_f64().filter(|ms| *ms > 0.0 && runtime > 0.0 && is_plain);
        let is_longer = |jobs: f64| together.is_some_and(|ms| ms > jobs * (runtime * (1.0 + ROUNDING) + SLACK_MS));
        let is_told = asked.option(&["group_reporting"]).is_some_and(|value| value != "0");
        let is_group = is_told || is_longer(1.0) || (together.is_none() && !is_beside_clones);
        // Of a job that a command line describes, its name is an option.
        let name = asked.option(&["name"]);
        let is_of_another = name.is_some() && name != job["jobname"].as_str();
        let all = count * (runtime * 0.99 - SLACK_MS);
        asked.is_uneven = is_group && count > 1.0 && together.is_some_and(|ms| ms < all);
        let is_of_several = is_longer(count) || is_of_another || (is_plain && did_what_nobody_asked(&asked, job));
        asked.is_of_several = is_of_several || (asked.is_uneven && name.is_none());
        asked.jobs = if asked.is_of_several {
            let jobs = together.filter(|_| !asked.is_uneven).map(|ms| ms / runtime);
            jobs.filter(|jobs| (jobs - jobs.round()).abs() < ROUNDING * jobs).map(|jobs| jobs.round() as u64)
        } else {
            told.map(|jobs| if is_group { jobs } else { 1 })
        };
        asked
    }

    /// The first of these options that was told; of several sections one that is known of the last as well.
    pub(super) fn option(&self, names: &[&str]) -> Option<&'a str> {
        self.named(names).map(|(_, value)| value)
    }

    /// The same, with its name.
    fn named<'n>(&self, names: &[&'n str]) -> Option<(&'n str, &'a str)> {
        let told = |options: &'a Value| names.iter().find_map(|name| Some((*name, options[*name].as_str()?)));
        let [own, of_all] = self.options.map(told);
        if self.is_of_several { of_all.filter(|_| own.is_none()) } else { own.or(of_all) }
    }

    /// The same, where it was asked of all jobs.
    pub(super) fn of_all(&self, names: &[&str]) -> Option<&'a str> {
        self.option(names).filter(|_| !self.is_of_several)
    }

    /// The share of reads in a pattern that mixes them with writes, which is a half where nobody said anything else.
    pub(super) fn read_percent(&self, pattern: &str) -> Option<u8> {
        if !matches!(pattern.split(':').next(), Some("rw" | "readwrite" | "randrw")) {
            return None;
        }
        // Those of the job come before those of all, whichever of the two they are.
        let Some((name, percent)) = self.named(&["rwmixread", "rwmixwrite"]) else { return Some(50) };
        let percent = percent.parse::<u8>().ok().filter(|percent| *percent <= 100)?;
        Some(if name == "rwmixwrite" { 100 - percent } else { percent })
    }

    /// How many clones a section has.
    pub(super) fn clones(&self) -> Option<u64> {
        self.option(&["numjobs"])?.parse().ok().filter(|jobs| *jobs > 0)
    }
}

/// Whether there were reads or writes that the pattern excludes.
fn did_what_nobody_asked(asked: &Asked<'_>, job: &Value) -> bool {
    let Some(pattern) = asked.option(&["rw", "readwrite"]) else { return false };
    let did = |name: &str| job[name]["total_ios"].as_u64().is_some_and(|count| count > 0);
    let is_asked = |name: &str| pattern.contains(name) || pattern.contains("rw");
    ["read", "write"].into_iter().any(|name| did(name) && !is_asked(name))
}
