//! `cargo xtask bench fio`: jobs of fio on capped devices, done by fio and by plimsoll in turns.
//!
//! Jobs that a size ends are compared in the tests, where time plays no part. Here time ends them, and what is compared
//! is rates: drawn jobs on one device, and the six lines of a published comparison on two.

mod drawn;

use std::{fs, path::Path, process::Command};

use anyhow::{Context as _, bail};
use serde_json::Value;

use self::drawn::Generator;
use super::{
    Bar,
    capped_device::{Cap, CappedDevices},
    judge,
    loop_device::Backing,
    median,
    mounted::Mounted,
};
use crate::{child, interruption};

const DEVICE_BYTES: u64 = 1 << 30;
/// What the device of the drawn jobs does in a second, reads and writes each.
const DRAWN_OPERATIONS: u64 = 2000;
/// How often both programs do a job again whose rates are apart.
const TURNS_MAX: usize = 3;
/// Jobs that fio may fail at, one after the other: then it is fio that cannot, and not the jobs.
const FAILURES_MAX: usize = 10;
/// The two disks of the comparison: operations and bytes of each in a second.
const DISKS: [(&str, u64, u64); 2] = [("large", 7500, 250_000_000), ("small", 120, 25_000_000)];
/// Bytes of the one file that all clones share.
const SHARED_BYTES: u64 = 838_860_800;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many jobs are compared.
    #[arg(long, default_value_t = 60)]
    jobs: u64,
    /// The number of the first one.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Seconds of each job of the comparison.
    #[arg(long, default_value_t = 20)]
    seconds: u32,
}

/// Rates of a report, over all of its jobs.
#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    read: f64,
    write: f64,
    /// KiB in a second.
    bandwidth: [f64; 2],
}

impl Rates {
    fn of(report: &Value) -> anyhow::Result<Self> {
        let jobs = report["jobs"].as_array().context("a report without jobs")?;
        let mut rates = Self::default();
        for job in jobs {
            let number = |direction: &str, what: &str| job[direction][what].as_f64().context("a job without rates");
            rates.read += number("read", "iops")?;
            rates.write += number("write", "iops")?;
            rates.bandwidth[0] += number("read", "bw")?;
            rates.bandwidth[1] += number("write", "bw")?;
        }
        Ok(rates)
    }

    fn total(self) -> f64 {
        self.read + self.write
    }

    fn read_percent(self) -> f64 {
        self.read * 100.0 / self.total()
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    child::find("fio").context("the program fio is missing")?;
    let mut is_met = drawn_jobs(arguments)?;
    is_met &= comparison(arguments)?;
    if is_met { Ok(()) } else { bail!("a bar was missed") }
}

fn drawn_jobs(arguments: &Arguments) -> anyhow::Result<bool> {
    let target = crate::repository().join("target");
    let capped = CappedDevices::create(1, &target, DEVICE_BYTES, Backing::Cached)?;
    let mounted = Mounted::on(&capped.first().path, &target)?;
    capped.cap_all(Cap::operations(DRAWN_OPERATIONS))?;
    let (mut worst_rate, mut worst_mix) = (0.0_f64, 0.0_f64);
    let (mut compared, mut failures, mut seed) = (0, 0, arguments.seed);
    while compared < arguments.jobs {
        let job = Generator::new(seed).job();
        seed += 1;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let (mut rate, mut mix) = (0.0, 0.0);
        while ours.len() < TURNS_MAX {
            // fio 3.33 does not survive each of these jobs.
            match turn(&capped, &mounted, &job, false) {
                Ok(rates) => theirs.push(rates),
                Err(error) => {
                    interruption::check()?;
                    failures += 1;
                    if failures > FAILURES_MAX {
                        return Err(error).context(format!("fio failed at {failures} jobs in a row"));
                    }
                    println!("job {:>3}: not compared: {error:#}\n{job}", seed - 1);
                    break;
                }
            }
            ours.push(turn(&capped, &mounted, &job, true)?);
            interruption::check()?;
            rate = off(&ours, &theirs, Rates::total);
            mix = (middle(&ours, Rates::read_percent) - middle(&theirs, Rates::read_percent)).abs();
            if rate <= 2.0 && mix <= 1.0 {
                break;
            }
        }
        if ours.is_empty() {
            continue;
        }
        (compared, failures) = (compared + 1, 0);
        let totals = [middle(&ours, Rates::total), middle(&theirs, Rates::total)];
        println!(
            "job {:>3}: {:>8.1} IOPS, fio {:>8.1}: {rate:.2} % off, mix {mix:.2} points off, {} turns",
            seed - 1,
            totals[0],
            totals[1],
            ours.len()
        );
        if rate > 2.0 || mix > 1.0 {
            println!("{job}");
        }
        (worst_rate, worst_mix) = (worst_rate.max(rate), worst_mix.max(mix));
    }
    let is_met = judge("drawn jobs, IOPS off those of fio", worst_rate, " %", Bar::AtMost(2.0));
    Ok(judge("drawn jobs, mix off that of fio", worst_mix, " points", Bar::AtMost(1.0)) && is_met)
}

/// One program does a job in a directory of its own.
fn turn(capped: &CappedDevices, mounted: &Mounted, job: &str, is_ours: bool) -> anyhow::Result<Rates> {
    let directory = mounted.place.join(if is_ours { "ours" } else { "theirs" });
    fs::create_dir_all(&directory).with_context(|| format!("create {}", directory.display()))?;
    let file = directory.join("job.fio");
    let text = job.replace("DIRECTORY", &directory.display().to_string());
    fs::write(&file, text).with_context(|| format!("write {}", file.display()))?;
    let mut command = program(is_ours);
    command.arg("--output-format=json").arg(&file);
    let report = report(&mut capped.inside(&command));
    fs::remove_dir_all(&directory).with_context(|| format!("remove {}", directory.display()))?;
    Rates::of(&report?)
}

fn program(is_ours: bool) -> Command {
    if !is_ours {
        return child::command("fio");
    }
    let mut command = child::command("target/release/plimsoll");
    command.args(["fio", "--no-history"]);
    command
}

fn report(command: &mut Command) -> anyhow::Result<Value> {
    let text = child::output(command)?;
    serde_json::from_str(&text).with_context(|| format!("read what {command:?} reported"))
}

/// The lines of the comparison: clones on one shared file, reads, writes and both, on each of two disks.
fn comparison(arguments: &Arguments) -> anyhow::Result<bool> {
    let target = crate::repository().join("target");
    let capped = CappedDevices::create(DISKS.len(), &target, DEVICE_BYTES, Backing::Cached)?;
    let mut is_met = true;
    for ((name, operations, bytes), device) in DISKS.into_iter().zip(&capped.devices) {
        let mounted = Mounted::on(&device.path, &target)?;
        for rw in ["randread", "randwrite", "randrw"] {
            // Files are laid out without the cap, which would take the small disk half a minute each time.
            capped.cap(device, Cap::default())?;
            let mut rates = Vec::new();
            for is_ours in [true, false] {
                let file = mounted.place.join(format!("test-{is_ours}"));
                let line = |runtime: u32, is_creation: bool| {
                    let mut command = program(is_ours);
                    command.args(["--name=benchtest", "--size=800m", "--direct=1", "--ioengine=libaio", "--bs=16k"]);
                    command.args(["--iodepth=16", "--numjobs=8", "--time_based", "--output-format=json"]);
                    command.arg(format!("--filename={}", file.display())).arg(format!("--rw={rw}"));
                    command.args([format!("--runtime={runtime}"), format!("--create_only={}", u8::from(is_creation))]);
                    command
                };
                capped.cap(device, Cap::default())?;
                child::output(&mut line(1, true))?;
                capped.cap(device, Cap { operations: Some(operations), bytes: Some(bytes) })?;
                rates.push(Rates::of(&report(&mut capped.inside(&line(arguments.seconds, false)))?)?);
                is_met &= shares_one_file(&file, is_ours)?;
                // The disk has room for one.
                fs::remove_file(&file).with_context(|| format!("remove {}", file.display()))?;
                interruption::check()?;
            }
            let directions = usize::from(rw == "randrw") + 1;
            // Both caps count; the one that is reached first decides.
            let limit = operations.min(bytes / 16_384) as f64 * directions as f64;
            let [ours, theirs] = [rates[0], rates[1]];
            let mib = ours.bandwidth.map(|kib| kib / 1024.0);
            println!(
                "{name} disk, {rw}: {:.1} IOPS ({:.1} and {:.1} MiB/s), fio {:.1} IOPS",
                ours.total(),
                mib[0],
                mib[1],
                theirs.total()
            );
            let off_limit = (ours.total() / limit - 1.0).abs() * 100.0;
            is_met &= judge(&format!("{name} disk, {rw}, off its limit"), off_limit, " %", Bar::AtMost(3.0));
            let off_fio = off(&[ours], &[theirs], Rates::total);
            is_met &= judge(&format!("{name} disk, {rw}, off fio"), off_fio, " %", Bar::AtMost(3.0));
        }
    }
    Ok(is_met)
}

fn shares_one_file(file: &Path, is_ours: bool) -> anyhow::Result<bool> {
    let length = fs::metadata(file).with_context(|| format!("look at {}", file.display()))?.len();
    let who = if is_ours { "plimsoll" } else { "fio" };
    let what = format!("bytes that the file of {who} is off its length");
    Ok(length == SHARED_BYTES || judge(&what, length.abs_diff(SHARED_BYTES) as f64, "", Bar::AtMost(0.0)))
}

fn middle(rates: &[Rates], of: fn(Rates) -> f64) -> f64 {
    median(rates.iter().map(|rates| of(*rates)))
}

/// How far our median is off theirs, in percent.
fn off(ours: &[Rates], theirs: &[Rates], of: fn(Rates) -> f64) -> f64 {
    (middle(ours, of) / middle(theirs, of) - 1.0).abs() * 100.0
}
