//! What flags mean for each other: as diskspd checks a profile before it does it.

use super::{
    command_line::{Action, Asked},
    profile::{Access, Content, Distribution, RangeUnit, Target, TimeSpan},
};
use crate::problem::{Note, Problem, Wrong};

/// What is said of a flag.
type Said<T> = (&'static str, T);

/// What was found.
#[derive(Default)]
struct Findings {
    wrong: Vec<Said<Wrong>>,
    notes: Vec<Said<String>>,
}

impl Findings {
    fn wrong(&mut self, is_wrong: bool, flag: &'static str, what: &str, instead: &str) {
        if is_wrong {
            self.wrong.push((flag, Wrong::new(what).instead(instead)));
        }
    }

    fn note(&mut self, is_so: bool, flag: &'static str, text: &str) {
        if is_so {
            self.notes.push((flag, text.to_owned()));
        }
    }
}

/// Finds what contradicts itself; notes are added to what is asked.
pub(super) fn check(asked: &mut Asked) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut notes: Vec<Note> = Vec::new();
    for (span_index, span) in asked.profile.spans.iter().enumerate() {
        for (index, target) in span.targets.iter().enumerate() {
            let mut found = Findings::default();
            check_target(span, target, &mut found);
            found.wrong(
                target.is_template() && asked.action == Action::Run,
                "",
                &format!("{} stands for a target of the command line, and there is none", target.path),
                "name one",
            );
            let place = |flag| asked.places.of(span_index, index, flag);
            for (flag, wrong) in found.wrong {
                let problem = wrong.at(place(flag));
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            for (flag, text) in found.notes {
                let note = Note { place: place(flag), text };
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
    }
    asked.notes.extend(notes);
    problems
}

fn check_target(span: &TimeSpan, target: &Target, found: &mut Findings) {
    let in_all = span.threads > 0 && span.depth > 0;
    found.wrong(
        span.is_affinity_off && !span.affinity.is_empty(),
        "-n",
        "-n says that threads are not bound, and -a to what",
        "give one of them",
    );
    found.wrong(
        span.threads > 0 && target.threads > 1,
        "-F",
        "-F is the number of threads in all, and -t that of each target",
        "give one of them",
    );
    found.wrong(
        span.depth > 0 && span.threads == 0,
        "-O",
        "-O is what threads of -F keep in flight, and there is no -F",
        "write -F as well, or -o",
    );
    found.wrong(
        target.burst.is_some() != target.think_time_ms.is_some(),
        if target.burst.is_some() { "-i" } else { "-j" },
        "-i says how many operations there are between pauses, and -j how long those are",
        "give both",
    );
    found.wrong(
        target.rate.is_some() && span.uses_completion_routines,
        "-g",
        "-g cannot be given with -x",
        "give one of them",
    );
    found.wrong(in_all && target.rate.is_some(), "-g", "-g cannot be given with -O", "write -o instead of -O");
    found.wrong(in_all && target.think_time_ms.is_some(), "-j", "-j cannot be given with -O", "write -o instead of -O");
    found.wrong(in_all && target.is_parallel, "-p", "-p cannot be given with -O", "write -o instead of -O");
    found.wrong(in_all && target.weight == 0, "-O", "a target has no weight", "write a <Weight> above 0");
    found.wrong(
        !in_all && !target.thread_targets.is_empty(),
        "-F",
        "<ThreadTargets> need a <ThreadCount> and a <RequestCount> of their <TimeSpan>",
        "write both",
    );
    found.wrong(
        in_all && target.thread_targets.iter().any(|of| of.thread >= span.threads),
        "-F",
        "a <ThreadTarget> is of a thread that is not there",
        "count from 0",
    );
    access(span, target, found);
    let buffer = if let Content::Buffer { size, .. } = target.content { Some(size) } else { None };
    found.wrong(
        buffer.is_some_and(|size| size < u64::from(target.block_size)),
        "-Z",
        "the buffer for writes is smaller than a block",
        "write -Z with a block or more",
    );
    found.wrong(
        target.is_mapped && span.uses_completion_routines,
        "-x",
        "-x cannot be given with -Sm",
        "give one of them",
    );
    found.wrong(
        target.is_mapped && target.cache == super::profile::Cache::None,
        "-S",
        "mapped memory is a cache, which -Su and -Sh go around",
        "give one of them",
    );
    found.wrong(
        target.flush.is_some() && !target.is_mapped,
        "-N",
        "-N is about mapped memory, and there is none",
        "write -Sm as well",
    );
    found.wrong(
        target.max_offset > 0 && target.max_offset <= target.base_offset,
        "-f",
        "operations would end before they begin",
        "write more for -f than for -B",
    );
}

fn access(span: &TimeSpan, target: &Target, found: &mut Findings) {
    let threads = span.threads.max(target.threads);
    match &target.access {
        Access::Random { distribution, .. } => {
            found.wrong(
                target.thread_stride > 0,
                "-T",
                "-T says where sequences begin, and access is random",
                "leave it out",
            );
            found.wrong(target.is_parallel, "-p", "-p is about sequences, and access is random", "leave it out");
            if let Some(distribution) = distribution
                && let Some(wrong) = wrong_with(distribution, target.block_size)
            {
                found.wrong.push(("-rd", wrong));
            }
        }
        Access::Sequential { is_interlocked: true, .. } => {
            found.wrong(
                target.thread_stride > 0,
                "-T",
                "-T says where the sequences of threads begin, and with -si there is one",
                "give one of them",
            );
            found.wrong(target.is_parallel, "-p", "-p cannot be given with -si", "give one of them");
            found.note(threads == 1, "-si", "-si changes nothing for one thread");
        }
        Access::Sequential { is_interlocked: false, .. } => {
            found.note(
                threads > 1 && target.thread_stride == 0,
                "-t",
                "each thread goes through the whole target, so that the target sees no sequence and caches see each \
                 block several times; -si makes one sequence of all, and -T sets them apart",
            );
            found.wrong(
                threads == 1 && target.thread_stride > 0,
                "-T",
                "-T says how far threads begin apart, and there is one",
                "write -t as well, or leave it out",
            );
        }
    }
}

fn wrong_with(distribution: &Distribution, block_size: u32) -> Option<Wrong> {
    let ranges = &distribution.ranges;
    let operations: u64 = ranges.iter().map(|range| u64::from(range.io_percent)).sum();
    if operations > 100 {
        return Some(Wrong::new(format!("the ranges have {operations} of a hundred operations")).instead("write less"));
    }
    match distribution.unit {
        RangeUnit::Percent => {
            let size: u64 = ranges.iter().fold(0, |sum, range| sum.saturating_add(range.size));
            if size != 100 {
                let wrong = Wrong::new(format!("the ranges cover {size} of a hundred parts of the target"));
                return Some(wrong.instead("write ranges that add up to 100"));
            }
            let none_left = operations < 100;
            let wrong = || Wrong::new("the ranges cover the target before all operations have a place");
            none_left.then(|| wrong().instead("write percentages of operations that add up to 100"))
        }
        RangeUnit::Bytes => {
            let (last, others) = ranges.split_last()?;
            let is_short = |size: u64| size < u64::from(block_size);
            let is_wrong = others.iter().any(|range| is_short(range.size)) || (last.size > 0 && is_short(last.size));
            is_wrong.then(|| {
                Wrong::new(format!("a range is shorter than a block of {block_size} bytes")).instead("write more")
            })
        }
    }
}
