//! `cargo xtask bench`: plimsoll against its peers, its own bars and what is known to be true, in one session on one
//! machine.
//!
//! Subjects take turns, so that a change of the machine meets all of them; medians are compared. No figure is kept:
//! an old figure of another machine is not something to compare with.

mod accuracy;
mod capped_device;
mod control_group;
mod diskspd;
mod engines;
mod files;
mod fio;
mod fio_corpus;
mod loop_device;
mod measured_child;
mod mounted;
mod pods;
mod report;
mod serve;
mod start;
mod subject;
mod trust;
mod zram;

use crate::{child, interruption};

#[derive(clap::Subcommand)]
pub(crate) enum Benchmark {
    /// What an operation costs in each engine, beside fio and fio's `t/io_uring`.
    Engines(engines::Arguments),
    /// Whether plimsoll and fio agree with each other and with the cap of a capped device. Needs root.
    Accuracy(accuracy::Arguments),
    /// Whether diskspd's line of a published comparison tells a capped device's limit each time. Needs root.
    Diskspd(diskspd::Arguments),
    /// What working on small files costs, beside elbencho. Needs root, unless it is given a directory.
    Files(files::Arguments),
    /// Whether jobs of fio do on capped devices what fio does there. Needs root.
    Fio(fio::Arguments),
    /// Whether job files that others wrote are read and run, and mean to fio what they mean to plimsoll.
    FioCorpus(fio_corpus::Arguments),
    /// How long it takes to put the results of a thousand pods together, and in how much memory. Needs root.
    Pods,
    /// How long a report of a hundred runs takes, how long it is, and how soon Chromium shows it.
    Report,
    /// How long answers of `plimsoll serve` take with ten thousand runs.
    Serve,
    /// Time to start, resident memory and size of the binary.
    Start,
    /// Whether what plimsoll says of storage is true: caps that hold, change or differ, caches, quotas. Needs root.
    Trust(trust::Arguments),
}

pub(crate) fn run(benchmark: &Benchmark) -> anyhow::Result<()> {
    // What is read and run does not depend on how fast it is.
    let build: &[&str] = if matches!(benchmark, Benchmark::FioCorpus(_)) {
        &["build", "--package", "plimsoll"]
    } else {
        &["build", "--release"]
    };
    child::run(&mut child::cargo(build))?;
    // Guards that undo what a benchmark set up run on return, not on a signal: so a signal becomes a return.
    let _listening = interruption::listen()?;
    match benchmark {
        Benchmark::Engines(arguments) => engines::run(arguments),
        Benchmark::Accuracy(arguments) => accuracy::run(arguments),
        Benchmark::Diskspd(arguments) => diskspd::run(arguments),
        Benchmark::Files(arguments) => files::run(arguments),
        Benchmark::Fio(arguments) => fio::run(arguments),
        Benchmark::FioCorpus(arguments) => fio_corpus::run(arguments),
        Benchmark::Pods => pods::run(),
        Benchmark::Report => report::run(),
        Benchmark::Serve => serve::run(),
        Benchmark::Start => start::run(),
        Benchmark::Trust(arguments) => trust::run(arguments),
    }
}

/// The middle value, or the mean of the two middle ones; 0 of nothing.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match (values.len(), values.len() / 2) {
        (0, _) => 0.0,
        (count, middle) if count % 2 == 1 => values[middle],
        (_, middle) => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// How far a value is off another, in percent of the other.
fn off_percent(value: f64, reference: f64) -> f64 {
    (value / reference - 1.0).abs() * 100.0
}

/// Which side of a bar is good.
#[derive(Clone, Copy)]
enum Bar {
    AtLeast(f64),
    AtMost(f64),
}

/// One line of the verdict: what was measured beside what is asked.
fn judge(what: &str, value: f64, unit: &str, bar: Bar) -> bool {
    let (met, words) = match bar {
        Bar::AtLeast(bar) => (value >= bar, format!("at least {bar}{unit}")),
        Bar::AtMost(bar) => (value <= bar, format!("at most {bar}{unit}")),
    };
    println!("{}  {what}: {value:.3}{unit} ({words})", if met { "pass" } else { "MISS" });
    met
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert!((median([3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median([4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
        assert!(median([]).abs() < 1e-12);
    }

    #[test]
    fn off_is_a_percentage_of_the_reference_in_either_direction() {
        assert!((off_percent(4975.0, 5000.0) - 0.5).abs() < 1e-9);
        assert!((off_percent(5025.0, 5000.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_bar_can_be_missed_on_its_own_side_only() {
        assert!(judge("a", 1.0, "x", Bar::AtLeast(0.97)) && !judge("a", 0.9, "x", Bar::AtLeast(0.97)));
        assert!(judge("a", 59.0, " ns", Bar::AtMost(60.0)) && !judge("a", 61.0, " ns", Bar::AtMost(60.0)));
    }
}
