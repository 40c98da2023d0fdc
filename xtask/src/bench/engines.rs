//! `cargo xtask bench engines`: 4 KiB random reads, one job, plimsoll and its peers in turns.
//!
//! Asynchronous engines keep 128 operations in flight. `psync` keeps one: more would be threads for plimsoll, and are
//! nothing for fio, whose one job does one system call at a time.
//!
//! Who is compared takes turns next to each other, in the other order every second round, and each round gives a
//! ratio. The median of these is judged: other work on the machine then disturbs a round, not the verdict.

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use super::{
    Bar, judge,
    measured_child::measure,
    median,
    subject::{Job, Subject},
    zram,
};
use crate::{child, interruption};

const QUEUE_DEPTH: u32 = 128;

/// Claims of a program that differ from the kernel's count by more than this are worth a line.
const CLAIM_TOLERANCE: f64 = 0.03;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// fio's `t/io_uring`, built from fio's source.
    #[arg(long)]
    peer: Option<PathBuf>,
    /// The block device to read.
    #[arg(long, default_value = "/dev/zram0")]
    device: PathBuf,
    /// How often each subject gets its turn.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Seconds of each turn.
    #[arg(long, default_value_t = 3)]
    seconds: u32,
}

/// The turns of one subject.
struct Series {
    subject: Subject,
    iops: Vec<f64>,
    user_ns_per_operation: Vec<f64>,
    system_ns_per_operation: Vec<f64>,
    claimed_iops: Vec<f64>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut subjects = Vec::new();
    if let Some(peer) = &arguments.peer {
        // Children run in the repository, so a relative path must not depend on where we were started.
        subjects.push(Subject::Peer(peer.canonicalize().with_context(|| format!("find {}", peer.display()))?));
    }
    let has_fio = child::find("fio").is_some();
    for engine in ["io_uring", "libaio", "psync"] {
        subjects.push(Subject::Plimsoll(engine));
        subjects.extend(has_fio.then_some(Subject::Fio(engine)));
    }
    if !has_fio {
        println!("not judged: fio");
    }
    let device = arguments.device.canonicalize().with_context(|| format!("find {}", arguments.device.display()))?;
    let name = device.file_name().context("the device has no name")?.to_string_lossy().into_owned();
    let _size = zram::prepare(&device)?;
    let job = Job {
        device: &device,
        pattern: "randread",
        block_size_bytes: 4096,
        queue_depth: QUEUE_DEPTH,
        seconds: arguments.seconds,
        huge_pages: false,
    };
    let mut all: Vec<Series> = subjects.into_iter().map(Series::new).collect();
    for round in 1..=arguments.rounds {
        all.reverse();
        for series in &mut all {
            series.turn(job, &name)?;
            interruption::check()?;
        }
        eprintln!("round {round} of {}", arguments.rounds);
    }
    all.sort_by_key(|series| series.subject.name());
    show(&all);
    if verdict(&all) { Ok(()) } else { bail!("a bar was missed") }
}

impl Series {
    const fn new(subject: Subject) -> Self {
        Self {
            subject,
            iops: Vec::new(),
            user_ns_per_operation: Vec::new(),
            system_ns_per_operation: Vec::new(),
            claimed_iops: Vec::new(),
        }
    }

    fn turn(&mut self, job: Job<'_>, device: &str) -> anyhow::Result<()> {
        let synchronous = matches!(self.subject, Subject::Plimsoll("psync") | Subject::Fio("psync"));
        let job = if synchronous { Job { queue_depth: 1, ..job } } else { job };
        let measured = measure(&mut self.subject.command(job), Some(device))?;
        let claim = self.subject.claim(&measured.stdout)?;
        let inside = measured.inside.context("the turn was too short to be judged: ask for more --seconds")?;
        self.iops.push(inside.iops);
        self.user_ns_per_operation.push(inside.user_ns_per_operation);
        self.system_ns_per_operation.push(inside.system_ns_per_operation);
        self.claimed_iops.push(claim.iops);
        Ok(())
    }

    fn median_iops(&self) -> f64 {
        median(self.iops.iter().copied())
    }

    /// The median of the rounds' ratios.
    fn ratio_to(&self, other: &Self) -> f64 {
        median(self.iops.iter().zip(&other.iops).map(|(ours, theirs)| ours / theirs))
    }
}

fn show(all: &[Series]) {
    println!(
        "{:<20} {:>12} {:>14} {:>14} {:>14}",
        "median of turns", "IOPS", "its own word", "user ns/op", "system ns/op"
    );
    for series in all {
        println!(
            "{:<20} {:>12.0} {:>14.0} {:>14.1} {:>14.1}",
            series.subject.name(),
            series.median_iops(),
            median(series.claimed_iops.iter().copied()),
            median(series.user_ns_per_operation.iter().copied()),
            median(series.system_ns_per_operation.iter().copied()),
        );
    }
    println!("IOPS are the kernel's count for the device, user and system the whole process's time for each of them,");
    println!("without the first and last half second of a run.");
    for series in all {
        let (counted, claimed) = (series.median_iops(), median(series.claimed_iops.iter().copied()));
        if (claimed / counted - 1.0).abs() > CLAIM_TOLERANCE {
            println!(
                "note: {} says {:.1} % of what the kernel counts",
                series.subject.name(),
                claimed / counted * 100.0
            );
        }
    }
}

/// The bars for the cost of an engine. Those whose peer did not run are named, not passed.
fn verdict(all: &[Series]) -> bool {
    let of = |wanted: &dyn Fn(&Subject) -> bool| all.iter().find(|series| wanted(&series.subject));
    let peer = of(&|subject| matches!(subject, Subject::Peer(_)));
    let ours = |engine| of(&|subject| *subject == Subject::Plimsoll(engine));
    let fio = |engine| of(&|subject| *subject == Subject::Fio(engine));
    let ratios = [
        ("io_uring to t/io_uring", ours("io_uring"), peer, 0.97),
        ("io_uring to fio io_uring", ours("io_uring"), fio("io_uring"), 1.6),
        ("libaio to fio libaio", ours("libaio"), fio("libaio"), 1.2),
        ("psync to fio psync", ours("psync"), fio("psync"), 1.3),
    ];
    let mut met = true;
    for (what, ours, theirs, bar) in ratios {
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => {
                met &= judge(what, ours.ratio_to(theirs), "x", Bar::AtLeast(bar));
            }
            _ => println!("not judged: {what}, because its peer did not run"),
        }
    }
    if let Some(line) = reference(all) {
        println!("{line}");
    }
    if let Some(ours) = ours("io_uring") {
        let user_ns = median(ours.user_ns_per_operation.iter().copied());
        met &= judge("io_uring user time an operation", user_ns, " ns", Bar::AtMost(60.0));
    }
    met
}

/// How far fio's fastest reader gets beyond fio on this kernel. Nothing of ours has part in it, so it is not judged: it
/// tells whether the bar against fio can be reached, because the kernel's share of an operation is nobody's to save.
fn reference(all: &[Series]) -> Option<String> {
    let peer = all.iter().find(|series| matches!(series.subject, Subject::Peer(_)))?;
    let fio = all.iter().find(|series| series.subject == Subject::Fio("io_uring"))?;
    let ratio = peer.ratio_to(fio);
    Some(format!("not judged: {} to {}: {ratio:.3}x, for reference", peer.subject.name(), fio.subject.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(subject: Subject, iops: f64, user_ns: f64) -> Series {
        Series { iops: vec![iops], user_ns_per_operation: vec![user_ns], ..Series::new(subject) }
    }

    #[test]
    fn a_round_that_was_disturbed_does_not_decide() {
        let ours = Series { iops: vec![50.0, 100.0, 20.0], ..Series::new(Subject::Plimsoll("psync")) };
        let theirs = Series { iops: vec![50.0, 100.0, 100.0], ..Series::new(Subject::Fio("psync")) };
        assert!((ours.ratio_to(&theirs) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_the_peer_makes_of_this_kernel_is_told_and_not_judged() {
        let peer = Series { iops: vec![150.0, 300.0, 320.0], ..Series::new(Subject::Peer("x".into())) };
        let fio = Series { iops: vec![100.0, 200.0, 400.0], ..Series::new(Subject::Fio("io_uring")) };
        let all = [fio, peer];
        let line = reference(&all).unwrap();
        assert_eq!(line, "not judged: t/io_uring to fio io_uring: 1.500x, for reference");
        assert!(reference(&all[..1]).is_none());
        assert!(verdict(&all), "without plimsoll there is nothing to judge");
    }

    #[test]
    fn each_bar_can_be_missed() {
        let set = |ours: f64, user_ns: f64| {
            vec![
                series(Subject::Plimsoll("io_uring"), ours, user_ns),
                series(Subject::Peer("x".into()), 100.0, 10.0),
                series(Subject::Fio("io_uring"), 50.0, 100.0),
            ]
        };
        assert!(verdict(&set(98.0, 50.0)));
        assert!(!verdict(&set(96.0, 50.0)));
        assert!(!verdict(&set(98.0, 61.0)));
    }
}
