//! `cargo xtask bench accuracy`: plimsoll and fio in turns on a device whose limit is known.

use anyhow::{Context as _, bail};

use super::{
    Bar,
    capped_device::{Cap, CappedDevices, HugePages},
    judge,
    loop_device::Backing,
    measured_child::measure,
    median, off_percent,
    subject::{Claim, Job, Subject},
};
use crate::interruption;

const IOPS_CAP: u64 = 5_000;
const BYTES_CAP: u64 = 200_000_000;
/// Enough of 2 MiB for 32 buffers of 1 MiB, and some for fio's own.
const HUGE_PAGES: u64 = 32;
const FILE_BYTES: u64 = 1 << 30;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How often each program gets its turn.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Seconds of each turn.
    #[arg(long, default_value_t = 10)]
    seconds: u32,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let capped = CappedDevices::create(1, &crate::repository().join("target"), FILE_BYTES, Backing::Direct)?;
    let job = |pattern, block_size_bytes| Job {
        device: &capped.first().path,
        pattern,
        block_size_bytes,
        queue_depth: 32,
        seconds: arguments.seconds,
        huge_pages: block_size_bytes > 4096,
    };

    capped.cap_all(Cap::operations(IOPS_CAP))?;
    let (ours, theirs) = alternate(&capped, job("randread", 4096), arguments.rounds)?;
    println!("4 KiB random reads at depth 32, capped at {IOPS_CAP} IOPS, median of {} turns each", ours.len());
    show("plimsoll", &ours);
    show("fio", &theirs);
    let mut met = judge("IOPS off the cap", off_percent(iops(&ours), IOPS_CAP as f64), " %", Bar::AtMost(0.5));
    met &= judge("IOPS off those of fio", off_percent(iops(&ours), iops(&theirs)), " %", Bar::AtMost(1.0));
    met &= judge("mean latency off that of fio", off_percent(latency(&ours), latency(&theirs)), " %", Bar::AtMost(3.0));

    let _pages = HugePages::reserve(HUGE_PAGES)?;
    capped.cap_all(Cap::bytes(BYTES_CAP))?;
    let (ours, theirs) = alternate(&capped, job("read", 1 << 20), arguments.rounds)?;
    println!("1 MiB sequential reads at depth 32, capped at {BYTES_CAP} bytes/s, median of {} turns each", ours.len());
    show("plimsoll", &ours);
    show("fio", &theirs);
    met &= judge("throughput off the cap", off_percent(throughput(&ours), BYTES_CAP as f64), " %", Bar::AtMost(1.0));
    met &= judge("IOPS off those of fio", off_percent(iops(&ours), iops(&theirs)), " %", Bar::AtMost(1.0));
    met &= judge("mean latency off that of fio", off_percent(latency(&ours), latency(&theirs)), " %", Bar::AtMost(3.0));
    if met { Ok(()) } else { bail!("a bar was missed") }
}

/// Both programs in turns, each inside of the cap; who goes first alternates too.
fn alternate(capped: &CappedDevices, job: Job<'_>, rounds: u32) -> anyhow::Result<(Vec<Claim>, Vec<Claim>)> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut turns = [(Subject::Plimsoll("io_uring"), &mut ours), (Subject::Fio("io_uring"), &mut theirs)];
        if round % 2 == 1 {
            turns.reverse();
        }
        for (subject, claims) in turns {
            let measured = measure(&mut capped.inside(&subject.command(job)), Some(&capped.first().name()))
                .with_context(|| format!("{} on a capped device", subject.name()))?;
            claims.push(subject.claim(&measured.stdout)?);
            interruption::check()?;
        }
    }
    Ok((ours, theirs))
}

fn iops(claims: &[Claim]) -> f64 {
    median(claims.iter().map(|claim| claim.iops))
}

fn throughput(claims: &[Claim]) -> f64 {
    median(claims.iter().map(|claim| claim.bytes_per_second))
}

fn latency(claims: &[Claim]) -> f64 {
    median(claims.iter().map(|claim| claim.latency_mean_ns))
}

fn show(name: &str, claims: &[Claim]) {
    let (iops, megabytes, latency_us) = (iops(claims), throughput(claims) / 1e6, latency(claims) / 1e3);
    println!("{name:<10} {iops:>10.1} IOPS {megabytes:>10.2} MB/s {latency_us:>10.1} us mean latency");
}
