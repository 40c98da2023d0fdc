//! Rates that are not the storage's: a cache answers, or the machine that measures is what limits.

use std::fs;

use anyhow::Context as _;

use super::{
    Trial,
    plimsoll::{Plimsoll, rate, verdict},
};
use crate::{
    bench::{
        capped_device::{Cap, CappedDevices},
        control_group::{ControlGroup, Controller, Version},
        loop_device::{Backing, LoopDevice},
        mounted::Mounted,
    },
    child,
};

const DEVICE_BYTES: u64 = 256 << 20;
const FILE_BYTES: usize = 64 << 20;
const OPERATIONS: u64 = 500;

/// A file that the page cache holds, through that cache and around it, on a device with a cap far below memory.
pub(super) fn cached(trial: &Trial<'_>) -> anyhow::Result<()> {
    let target = crate::repository().join("target");
    let capped = CappedDevices::create(1, &target, DEVICE_BYTES, Backing::Cached)?;
    let mounted = Mounted::on(&capped.first().path, &target)?;
    let file = mounted.place.join("file");
    fs::write(&file, vec![0x5a; FILE_BYTES]).with_context(|| format!("write {}", file.display()))?;
    // What is not yet written back would be, within the run and past the cap.
    child::run(&mut child::command("sync"))?;
    fs::read(&file).with_context(|| format!("read {}", file.display()))?;
    capped.cap_all(Cap::operations(OPERATIONS))?;

    let measure = |name: &str, arguments: &str| {
        let arguments = format!("--rw randread --queue-depth 8 --passes 6 --duration 3s --ramp 500ms {arguments}");
        let run = Plimsoll::run_command([file.as_path()], &arguments);
        trial.plimsoll.record(name, &mut capped.inside(&run), None, |_| Ok(()))
    };
    let record = measure("buffered", "--buffered")?;
    let cell = record.cells.first().context("the record has no cell")?;
    let word = verdict(cell);
    let measured = format!("{word} ({:.0} IOPS)", rate(cell));
    trial.judge("buffered, verdict", &measured, "cached", word == "cached");
    let finding = cell.findings.iter().find(|finding| finding.code == "cached-reads");
    let evidence = |name: &str| finding?.evidence.get(name)?.as_f64();
    let share = evidence("resident_bytes").zip(evidence("working_set_bytes")).map(|(held, total)| held / total);
    let measured = share.map_or_else(|| "none".to_owned(), |share| format!("{:.1} % of the file", share * 100.0));
    trial.judge("buffered, residency", &measured, "at least 99 %", share.is_some_and(|share| share >= 0.99));
    let says_so = finding.is_some_and(|finding| finding.text.contains("the cache held"));
    trial.judge("buffered, residency in words", if says_so { "said" } else { "not said" }, "said", says_so);

    let record = measure("direct", "")?;
    let cell = record.cells.first().context("the record has no cell")?;
    let word = verdict(cell);
    let measured = format!("{word} ({:.0} IOPS)", rate(cell));
    trial.judge("the same around the cache", &measured, "not cached", word != "cached");
    Ok(())
}

/// A tenth of a processor, on a device that could do much more.
pub(super) fn quota(trial: &Trial<'_>) -> anyhow::Result<()> {
    let device = LoopDevice::create(&crate::repository().join("target"), DEVICE_BYTES, Backing::Cached)?;
    let group = ControlGroup::create(Controller::Processor)?;
    match group.version {
        Version::One => {
            group.set("cpu.cfs_period_us", "100000")?;
            group.set("cpu.cfs_quota_us", "10000")?;
        }
        Version::Two => group.set("cpu.max", "10000 100000")?,
    }
    for (name, arguments) in [
        ("alone", "--rw randread --queue-depth 32 --max-time 30s"),
        ("in-turns", "--rw randread --queue-depth 1,32 --passes 6 --duration 3s --ramp 500ms"),
    ] {
        let run = Plimsoll::run_command([device.path.as_path()], arguments);
        let record = trial.plimsoll.record(name, &mut group.inside(&run), None, |_| Ok(()))?;
        for cell in &record.cells {
            let what = format!("{name}, depth {}", cell.blocks().map_or(0, |plan| plan.queue_depth));
            let word = verdict(cell);
            let measured = format!("{word} ({:.0} IOPS)", rate(cell));
            trial.judge(&format!("{what}, verdict"), &measured, "client-limited", word == "client-limited");
            let codes: Vec<&str> = cell.findings.iter().map(|finding| finding.code.as_str()).collect();
            let is_named = codes.contains(&"client-quota");
            trial.judge(&format!("{what}, findings"), &codes.join(" "), "client-quota among them", is_named);
        }
    }
    Ok(())
}
