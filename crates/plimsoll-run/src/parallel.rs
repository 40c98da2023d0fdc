//! Iterations of an application on several targets at the same time. Each target has processors of its own, which go
//! round with each iteration: whichever of them are better, no target owns them.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{atomic::AtomicBool, mpsc},
    thread::{self, ScopedJoinHandle},
};

use plimsoll_applications::application::Application;
use plimsoll_io::{
    block_device::{self, BackingDevice, Common},
    cpu, mounts,
};
use plimsoll_measure::session::Slot;
use plimsoll_record::event::{RunEvent, SlotResult};
use plimsoll_workload::plan::Plan;

use crate::{
    application_visit::{ApplicationVisit, Place},
    gate::Gate,
    resuming::RunClock,
    run::RunError,
    slot::SlotError,
};

/// Refuses what cannot be told apart when it is done at the same time: targets on one disk, or more than processors.
/// Loop devices are what storage is rehearsed on, so of their files on one disk it only warns.
pub(crate) fn check(plan: &Plan) -> Result<Vec<String>, RunError> {
    let phases: BTreeSet<u32> =
        plan.cells.iter().filter(|cell| cell.application().is_some()).filter_map(|cell| cell.phase).collect();
    let mut warnings = Vec::new();
    for phase in phases {
        let targets = targets(plan, phase);
        for (index, first) in targets.iter().enumerate() {
            for second in &targets[index + 1..] {
                match shared(first, second) {
                    Shared::Nothing => {}
                    Shared::UnderFiles(disk) => warnings.push(format!(
                        "--parallel: \"{first}\" and \"{second}\" lie on the same disk, {disk}: each is the other's load"
                    )),
                    Shared::Disk => {
                        let (first, second) = ((*first).to_owned(), (*second).to_owned());
                        return Err(RunError::SameDisk { first, second });
                    }
                }
            }
        }
        shares(targets.len())?;
    }
    warnings.sort();
    warnings.dedup();
    Ok(warnings)
}

/// The targets of a phase, in the order of their cells.
fn targets(plan: &Plan, phase: u32) -> Vec<&str> {
    plan.cells.iter().filter(|cell| cell.phase == Some(phase)).map(|cell| cell.target.as_str()).collect()
}

/// Processors for so many targets.
fn shares(targets: usize) -> Result<Vec<Vec<u32>>, RunError> {
    let allowed = cpu::allowed().map_err(RunError::Io)?;
    let processors = allowed.len();
    cpu::parts(&allowed, targets).ok_or(RunError::FewProcessors { processors, targets })
}

/// What two targets share.
enum Shared {
    Nothing,
    /// A disk.
    Disk,
    /// The disk of this name, by way of the files of loop devices.
    UnderFiles(String),
}

fn shared(first: &str, second: &str) -> Shared {
    let [first, second] = [first, second].map(Path::new);
    match [first, second].map(block_device::device_of) {
        [Some(first), Some(second)] => match block_device::common(first.device, second.device) {
            None => Shared::Nothing,
            Some(Common::Part(_)) => Shared::Disk,
            Some(Common::UnderFiles(disk)) => {
                Shared::UnderFiles(block_device::facts(disk).map_or_else(|| disk.to_string(), |facts| facts.disk))
            }
        },
        // Neither tells: then it is the same only if the file system is.
        [None, None] => {
            let system = |path: &Path| mounts::file_system_of(path).ok();
            if system(first).is_some() && system(first) == system(second) { Shared::Disk } else { Shared::Nothing }
        }
        _ => Shared::Nothing,
    }
}

/// An application that is to do the iteration of a slot, with the disks below it.
type Due<'a> = (Slot, &'a mut Application, &'a [BackingDevice]);

/// Has an iteration of each of these applications done; several begin together. `None` of those that were stopped
/// before their end.
pub(crate) fn visit(
    plan: &Plan,
    due: Vec<Due<'_>>,
    clock: RunClock,
    stop: &AtomicBool,
    emit: &mut dyn FnMut(RunEvent),
) -> Result<Vec<(Slot, Option<SlotResult>)>, RunError> {
    let gate = Gate::new(due.len() as u32);
    let mut visits = Vec::with_capacity(due.len());
    for (slot, application, devices) in due {
        let Slot { cell, round, .. } = slot;
        let visit = ApplicationVisit { cell, round, application, devices, clock, stop, place: None };
        let Some(cpus) = cpus(plan, &slot)? else { return Ok(vec![(slot, visit.run(emit))]) };
        visits.push((slot, ApplicationVisit { place: Some(Place { cpus, pass: Some(gate.pass()) }), ..visit }));
    }
    let (sender, events) = mpsc::channel();
    thread::scope(|scope| {
        let thread = |name: String| thread::Builder::new().name(name);
        // First, as those who arrive would wait for it; who does not arrive opens it too.
        thread("gate".to_owned()).spawn_scoped(scope, || gate.open(|| Some(()))).map_err(RunError::Io)?;
        let mut running = Vec::with_capacity(visits.len());
        for (slot, visit) in visits {
            let sender = sender.clone();
            // Nobody listens any more only when the process is about to end.
            let run = move || visit.run(&mut |event| drop(sender.send(event)));
            let name = format!("application-{}", slot.cell);
            running.push((slot, thread(name).spawn_scoped(scope, run).map_err(RunError::Io)?));
        }
        drop(sender);
        events.iter().for_each(emit);
        let end = |visit: ScopedJoinHandle<'_, _>| visit.join().map_err(|_| RunError::Bug(SlotError::Panicked));
        running.into_iter().map(|(slot, visit)| Ok((slot, end(visit)?))).collect()
    })
}

/// The processors of a cell in a slot, those of the next target in the next one that counts; `None` when it has all.
fn cpus(plan: &Plan, slot: &Slot) -> Result<Option<Vec<u32>>, RunError> {
    let cell = &plan.cells[slot.cell];
    let Some(phase) = cell.phase else { return Ok(None) };
    let targets = targets(plan, phase);
    let place = targets.iter().position(|target| *target == cell.target).unwrap_or(0);
    let mut shares = shares(targets.len())?;
    Ok(Some(shares.swap_remove((place + slot.judged as usize) % targets.len())))
}
