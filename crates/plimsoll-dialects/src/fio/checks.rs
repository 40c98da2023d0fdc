//! What options of one job mean for each other: conflicts, what has no effect, and what implies something else.

use plimsoll_workload::units::Extent;

use super::{
    lists::Directional,
    settings::{Checksum, Distribution, Engine, Settings, SteadyQuantity, SteadyState},
};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Good to know.
    Note,
    /// fio warns of it, and refuses it with `--warnings-fatal`.
    Warning,
    /// The job cannot be done.
    Problem,
}

/// Something about a job as a whole.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) weight: Weight,
    /// The option that it is about, where one was given.
    pub(super) option: &'static str,
    pub(super) text: String,
    pub(super) instead: Option<&'static str>,
}

/// Checks the settings of a job, and puts in what they imply. `is_given` knows the options of the job and of its
/// global sections.
pub(super) fn check(settings: &mut Settings, is_given: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Findings(Vec::new());
    files(settings, &mut findings, &is_given);
    pattern(settings, &mut findings, &is_given);
    submission(settings, &mut findings, &is_given);
    rates(settings, &mut findings);
    // fio times the one call that such an engine is for, and nothing around it.
    settings.report.is_without_total_latency |= settings.engine.is_of_names();
    course(settings, &mut findings);
    content(settings, &mut findings);
    findings.0
}

struct Findings(Vec<Finding>);

impl Findings {
    fn note(&mut self, option: &'static str, text: impl Into<String>) {
        self.0.push(Finding { weight: Weight::Note, option, text: text.into(), instead: None });
    }

    fn warning(&mut self, option: &'static str, text: impl Into<String>) {
        self.0.push(Finding { weight: Weight::Warning, option, text: text.into(), instead: None });
    }

    fn problem(&mut self, option: &'static str, text: impl Into<String>, instead: &'static str) {
        self.0.push(Finding { weight: Weight::Problem, option, text: text.into(), instead: Some(instead) });
    }
}

fn files(settings: &mut Settings, findings: &mut Findings, is_given: &impl Fn(&str) -> bool) {
    let files = &mut settings.files;
    if files.are_names_added {
        let names = files.names.join(":");
        findings.note("filename", format!("filename is added to the names before it, as in fio: {names}"));
    }
    if !files.names.is_empty() {
        let names = u32::try_from(files.names.len()).unwrap_or(u32::MAX);
        if is_given("nrfiles") && files.count != names {
            findings.note("nrfiles", format!("nrfiles is {names}, the number of names in filename, as in fio"));
        }
        files.count = names;
    }
    files.open = files.open.filter(|open| *open < files.count);
    if files.is_read_before {
        files.drops_cache = false;
    }
    // A job that reads needs content, so its files are written before it.
    files.is_laid_out |= settings.pattern.direction.reads;
    let bounds = settings.pattern.block_bounds();
    let direction = settings.pattern.direction;
    let smallest = [(direction.reads, bounds.read.low), (direction.writes, bounds.write.low)];
    let smallest = smallest.into_iter().filter_map(|(is_used, size)| is_used.then_some(size)).min();
    if let (Some(Extent::Bytes(size)), Some(block)) = (files.size, smallest)
        && size < block
        && !settings.engine.is_of_names()
    {
        let text = format!("size is {size}, which is smaller than a block of {block}");
        findings.problem("size", text, "write a larger size or a smaller bs");
    }
}

fn pattern(settings: &mut Settings, findings: &mut Findings, is_given: &impl Fn(&str) -> bool) {
    let pattern = &mut settings.pattern;
    if is_given("bs") {
        for (option, is_there) in [
            ("bssplit", pattern.block_split.each().into_iter().any(|split| !split.is_empty())),
            ("bsrange", pattern.block_range.each().into_iter().any(Option::is_some)),
        ] {
            if is_there {
                findings.note("bs", format!("{option} goes before bs, as in fio"));
            }
        }
    }
    if pattern.distribution != Distribution::Uniform && !pattern.may_repeat_blocks {
        if is_given("norandommap") {
            findings.note("norandommap", "random_distribution repeats blocks, so norandommap=0 has no effect");
        }
        pattern.may_repeat_blocks = true;
    }
    let bounds = pattern.block_bounds();
    let lows = Directional { read: bounds.read.low, write: bounds.write.low, trim: bounds.trim.low };
    let is_aligned_otherwise =
        pattern.alignment.each().into_iter().zip(lows.each()).any(|(own, low)| own.is_some_and(|own| own != *low));
    let direction = pattern.direction;
    let used = [
        (direction.reads, pattern.alignment.read, bounds.read.low),
        (direction.writes, pattern.alignment.write, bounds.write.low),
    ];
    let other = used.into_iter().find(|(is_used, own, low)| *is_used && own.is_some_and(|own| own != *low));
    if let Some((_, Some(own), low)) = other.filter(|_| direction.is_random) {
        let text = format!("ba is {own}, and random places are multiples of the smallest block, which is {low}");
        findings.problem("ba", text, "leave ba out, or write blocks of that size");
    } else if direction.is_random && is_aligned_otherwise && !pattern.may_repeat_blocks {
        findings.warning("ba", "places may repeat, because ba is not the size of all blocks");
        pattern.may_repeat_blocks = true;
    }
    if pattern.is_unaligned && settings.submission.is_direct {
        findings.note("bs_unaligned", "sizes that are no multiple of the device's are refused by direct I/O");
    }
    if pattern.seed.is_some() {
        pattern.is_repeatable = true;
    }
}

fn submission(settings: &mut Settings, findings: &mut Findings, is_given: &impl Fn(&str) -> bool) {
    let engine = settings.engine;
    let submission = &mut settings.submission;
    if submission.depth > 1 && !engine.is_queued() && engine != Engine::Null {
        let fio = if engine == Engine::Vsync { "neighbours are not merged into one call" } else { "as in fio" };
        let text = format!("iodepth={} is 1 with the engine {}: {fio}", submission.depth, engine.name());
        findings.note("iodepth", text);
        submission.depth = 1;
    }
    if submission.depth > 1 && engine == Engine::Libaio && !submission.is_direct {
        let text = "libaio waits for each operation where direct=1 is not given, so fewer are in flight";
        findings.note(if is_given("iodepth") { "iodepth" } else { "ioengine" }, text);
    }
    if submission.batch == 0 || submission.batch > submission.depth {
        submission.batch = submission.depth;
    }
    submission.low = submission.low.filter(|low| *low < submission.depth);
    submission.complete_min = submission.complete_min.min(submission.depth);
    submission.complete_max = submission.complete_max.filter(|max| *max > submission.complete_min);
}

fn rates(settings: &mut Settings, findings: &mut Findings) {
    let rate = &mut settings.rate;
    let any = |limits: &Directional<Option<u64>>| limits.each().into_iter().any(Option::is_some);
    for (bytes, operations, option) in
        [(&rate.bytes, &rate.operations, "rate_iops"), (&rate.bytes_min, &rate.operations_min, "rate_iops_min")]
    {
        if any(bytes) && any(operations) {
            let text = format!("{option} and {} are given at once", option.replace("_iops", ""));
            findings.problem(option, text, "give one of them");
        }
    }
    for (most, least, option) in
        [(&rate.bytes, &rate.bytes_min, "rate_min"), (&rate.operations, &rate.operations_min, "rate_iops_min")]
    {
        let mut pairs = most.each().into_iter().zip(least.each());
        if pairs.any(|(most, least)| most.zip(*least).is_some_and(|(most, least)| most < least)) {
            let text = format!("{option} is above {}", option.trim_end_matches("_min"));
            findings.problem(option, text, "write a smaller least rate");
        }
    }
    rate.think_time_spin = rate.think_time_spin.min(rate.think_time);
}

fn course(settings: &mut Settings, findings: &mut Findings) {
    let course = &mut settings.course;
    if course.is_time_based && course.runtime.is_none() {
        findings.warning("time_based", "time_based has no effect without runtime");
        course.is_time_based = false;
    }
    match (course.steady_state_duration, course.steady_state) {
        (None, Some(_)) => findings.note("steadystate", "steadystate has no effect without steadystate_duration"),
        (Some(_), None) => {
            let quantity = SteadyQuantity::Operations;
            course.steady_state = Some(SteadyState { quantity, is_slope: true, limit: 0.01, is_percent: true });
        }
        _ => {}
    }
    if let Some(duration) = course.steady_state_duration {
        let interval = course.steady_state_interval;
        if duration <= interval || !duration.ns.is_multiple_of(interval.ns.max(1)) {
            let text = format!("steadystate_duration is {duration}, and its interval is {interval}");
            findings.problem("steadystate_duration", text, "write a multiple of steadystate_check_interval above it");
        }
    }
}

fn content(settings: &mut Settings, findings: &mut Findings) {
    let direction = settings.pattern.direction;
    let content = &mut settings.content;
    // In fio's order: a pattern decides unless the job reads, then compression, then verification.
    let implied = if content.pattern.is_some() {
        Some(direction.reads || content.compress_percent.is_some())
    } else {
        content.compress_percent.filter(|percent| (1..100).contains(percent)).map(|_| true)
    };
    if content.compress_percent == Some(100) {
        content.is_zero = true;
        content.compress_percent = None;
    }
    content.compress_percent = content.compress_percent.filter(|percent| *percent > 0);
    content.duplicate_percent = content.duplicate_percent.filter(|percent| *percent > 0);
    let is_checked = content.verify.is_some();
    content.is_refilled =
        content.is_refilled.or(implied).or((is_checked || content.duplicate_percent.is_some()).then_some(true));
    if content.verify_pattern.is_none()
        && let Some(Checksum::Pattern | Checksum::PatternWithHeader) = content.verify
    {
        findings.problem("verify", "verify=pattern has no pattern", "write verify_pattern=0xff as well");
    }
    if !is_checked || !direction.writes {
        return;
    }
    let course = &settings.course;
    if content.has_verify_phase && course.clones > 1 && !settings.files.names.is_empty() {
        findings.warning("verify", "clones write the same files, so each may find blocks of another");
    }
    if content.has_verify_phase && course.is_time_based && !direction.reads && content.verify_backlog.is_none() {
        findings.warning("verify", "nothing is verified, because writing takes the whole runtime");
    }
}
