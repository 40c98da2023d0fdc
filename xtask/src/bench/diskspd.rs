//! `cargo xtask bench diskspd`: diskspd's line of a published comparison on a device with a known limit, again and
//! again, and fio beside it.
//!
//! The port of diskspd to Linux tells anything from the limit to fifty times as much here: it goes through the page
//! cache and lets all threads read the same places.

use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::{
    Bar,
    capped_device::{Cap, CappedDevices},
    judge,
    loop_device::Backing,
    mounted::Mounted,
    off_percent,
};
use crate::{child, interruption};

const DEVICE_BYTES: u64 = 2 << 30;
/// What the device does in a second, reads and writes each.
const OPERATIONS: u64 = 500;
/// Threads of the line, and what each keeps in flight.
const THREADS: usize = 8;
const DEPTH: usize = 8;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How often the line is done.
    #[arg(long, default_value_t = 6)]
    runs: usize,
    /// Seconds of each run.
    #[arg(long, default_value_t = 30)]
    seconds: u32,
}

/// What a report says in total.
struct Total {
    threads: usize,
    read_iops: f64,
    write_iops: f64,
    mean_ms: f64,
}

impl Total {
    fn iops(&self) -> f64 {
        self.read_iops + self.write_iops
    }

    /// Operations in flight, by how many there were and how long they took.
    fn in_flight(&self) -> f64 {
        self.iops() * self.mean_ms / 1000.0
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let target = crate::repository().join("target");
    let capped = CappedDevices::create(1, &target, DEVICE_BYTES, Backing::Cached)?;
    let mounted = Mounted::on(&capped.first().path, &target)?;
    let file = mounted.place.join("testfile.dat");
    // Files are laid out without the cap.
    line(&capped, &file, 1, 0)?;
    capped.cap_all(Cap::operations(OPERATIONS))?;
    let (mut is_met, mut worst) = (true, 0.0_f64);
    for run in 0..arguments.runs {
        let total = line(&capped, &file, arguments.seconds, 0)?;
        println!(
            "run {run}: {:.2} IOPS, {:.1} in flight by {} threads",
            total.iops(),
            total.in_flight(),
            total.threads
        );
        worst = worst.max(off_percent(total.iops(), OPERATIONS as f64));
        is_met &= is_full(&total);
        interruption::check()?;
    }
    is_met &= judge("reads, off the limit", worst, " %", Bar::AtMost(1.0));
    let ours = line(&capped, &file, arguments.seconds, 50)?;
    interruption::check()?;
    let (reads, writes) = fio(&capped, &mounted.place.join("fio.dat"), arguments.seconds)?;
    println!("half writes: {:.2} IOPS, fio {:.2} IOPS", ours.iops(), reads + writes);
    is_met &= is_full(&ours);
    is_met &=
        judge("half writes, off the limits", off_percent(ours.iops(), 2.0 * OPERATIONS as f64), " %", Bar::AtMost(2.0));
    let mix = (ours.read_iops * 100.0 / ours.iops() - 50.0).abs();
    is_met &= judge("half writes, mix off what was asked", mix, " points", Bar::AtMost(1.0));
    if is_met { Ok(()) } else { bail!("a bar was missed") }
}

/// Whether all threads had as much in flight as they were to keep there.
fn is_full(total: &Total) -> bool {
    let off_threads = total.threads.abs_diff(THREADS) as f64;
    let has_threads = judge("threads, off what was asked", off_threads, "", Bar::AtMost(0.0));
    let off_asked = off_percent(total.in_flight(), (THREADS * DEPTH) as f64);
    judge("in flight, off what was asked", off_asked, " %", Bar::AtMost(2.0)) && has_threads
}

/// Does the line, and reads its report.
fn line(capped: &CappedDevices, file: &Path, seconds: u32, writes: u32) -> anyhow::Result<Total> {
    let mut command = child::command("target/release/plimsoll");
    command.args(["diskspd", "--no-history", "-c1G", "-r", "-t8", "-o8", "-b4K", "-Sh", "-L"]);
    command.args([format!("-d{seconds}"), format!("-w{writes}")]).arg(file);
    let report = child::output(&mut capped.inside(&command))?;
    let section = |title: &str| {
        let rest = report.split_once(&format!("\n{title}\n")).map(|(_, rest)| rest);
        rest.with_context(|| format!("the report has no {title}"))
    };
    let total = |title: &str, column: usize| {
        let row = section(title)?.lines().find(|row| row.starts_with("total:")).context("a table without a total")?;
        let cell = row.split(['|', ':']).nth(column).context("a total with too few columns")?;
        cell.trim().parse::<f64>().with_context(|| format!("read \"{cell}\""))
    };
    let rows = section("Total IO")?.lines().skip(2).take_while(|row| !row.starts_with('-'));
    Ok(Total {
        threads: rows.count(),
        read_iops: total("Read IO", 4)?,
        write_iops: total("Write IO", 4)?,
        mean_ms: total("Total IO", 5)?,
    })
}

/// Reads and writes per second of the same load, by fio.
fn fio(capped: &CappedDevices, file: &Path, seconds: u32) -> anyhow::Result<(f64, f64)> {
    let job = |runtime: u32| {
        let mut command = child::command("fio");
        command.args(["--name=line", "--size=512m", "--rw=randrw", "--rwmixread=50", "--bs=4k", "--direct=1"]);
        command.args(["--sync=dsync", "--ioengine=libaio", "--iodepth=8", "--numjobs=8", "--group_reporting"]);
        command.args(["--norandommap", "--time_based", "--ramp_time=5", "--output-format=json"]);
        command.arg(format!("--filename={}", file.display())).arg(format!("--runtime={runtime}"));
        command
    };
    capped.cap_all(Cap::default())?;
    child::output(job(1).arg("--create_only=1"))?;
    capped.cap_all(Cap::operations(OPERATIONS))?;
    let report: Value = serde_json::from_str(&child::output(&mut capped.inside(&job(seconds)))?)?;
    let iops = |direction: &str| report["jobs"][0][direction]["iops"].as_f64().context("a report without rates");
    Ok((iops("read")?, iops("write")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_fewer_threads_or_of_less_in_flight_misses_its_bar() {
        let total = |threads, mean_ms| Total { threads, read_iops: 500.0, write_iops: 0.0, mean_ms };
        assert!(is_full(&total(8, 128.0)));
        assert!(!is_full(&total(7, 128.0)));
        assert!(!is_full(&total(8, 112.0)));
    }
}
