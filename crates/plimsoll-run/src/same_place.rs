//! Whether a run that goes on still measures what it measured before.
//!
//! A path is no proof: after a reboot another disk may have the name, or a directory may lie on the root file system
//! because a mount is missing. What is known of the storage has to agree; what differs in the machine is told.

use std::path::Path;

use plimsoll_io::target::resolved;
use plimsoll_record::{
    environment::{DeviceEnvironment, Environment, MachineEnvironment, TargetEnvironment, TargetKind},
    event::RunStarted,
};
use plimsoll_workload::{
    plan::{BlockPlan, Plan},
    serial_number,
    target_facts::TargetFacts,
};
use thiserror::Error;

use crate::objects;

/// What to do where a path leads elsewhere from here.
const TYPE_IT_THERE: &str = "type the command where it was typed before";

/// A target is not what it was.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("\"{target}\" is not what the run has measured so far: {problem}")]
pub struct TargetChanged {
    /// The path as given.
    pub target: String,
    /// What is different, and what to do.
    pub problem: String,
}

/// Tells of a target that was given as the way from where the command was typed, when the way is followed from
/// somewhere else now and ends nowhere. All else that is said of a path that is not there would be about the wrong
/// place.
///
/// # Errors
/// When a target is where it was, and its path does not lead there.
pub fn check_paths(started: &RunStarted) -> Result<(), TargetChanged> {
    let relative = started.environment.targets.iter().filter(|target| Path::new(&target.name).is_relative());
    for (target, before) in relative.filter_map(|target| Some((target, target.path.as_deref()?))) {
        // Room is told where a file is still to be made, which takes the directory alone.
        let is_there = |path: &Path| path.exists() || target.free_bytes.is_some() && is_makeable(target.kind, path);
        if is_there(Path::new(before)) && !is_there(Path::new(&target.name)) {
            let problem = format!("it led to {before} and leads nowhere now; {TYPE_IT_THERE}");
            return Err(TargetChanged { target: target.name.clone(), problem });
        }
    }
    Ok(())
}

/// Whether a file may be made where a path leads.
fn is_makeable(kind: TargetKind, path: &Path) -> bool {
    kind == TargetKind::File && resolved(path).is_ok()
}

/// Compares where a run began with where it goes on. Returns sentences about what differs and may matter.
///
/// # Errors
/// When a target is another one: what was measured and what would be measured do not belong together.
pub fn check(started: &RunStarted, now: &Environment, facts: &[TargetFacts]) -> Result<Vec<String>, TargetChanged> {
    let mut warnings: Vec<String> = machine(&started.environment.machine, &now.machine).into_iter().collect();
    for before in &started.environment.targets {
        let changed = |problem| TargetChanged { target: before.name.clone(), problem };
        let Some(is) = now.targets.iter().find(|is| is.name == before.name) else { continue };
        let is_foreign = |path: &str| objects::is_foreign_file(Path::new(path));
        warnings.extend(target(before, is, is_foreign).map_err(changed)?);
        let size_bytes = facts.iter().find(|facts| facts.name == before.name).and_then(|facts| facts.size_bytes);
        size(&started.plan, before, size_bytes).map_err(changed)?;
    }
    Ok(warnings)
}

/// What differs about a target and may matter; an error when it is another one.
fn target(
    before: &TargetEnvironment,
    now: &TargetEnvironment,
    is_foreign: impl Fn(&str) -> bool,
) -> Result<Option<String>, String> {
    // What is not there is a file yet to be made.
    if before.kind != TargetKind::File && now.kind == TargetKind::File && now.free_bytes.is_some() {
        return Err(format!("it was a {} and is gone; bring it back, or run anew", word(before.kind)));
    }
    if before.kind != now.kind {
        return Err(format!("it was a {} and is a {} now", word(before.kind), word(now.kind)));
    }
    let id = |target: &TargetEnvironment| target.array.as_ref().and_then(|own| own.id);
    if id(before).is_some() && id(before) != id(now) {
        return Err("it was an array that was taken down since; run anew".to_owned());
    }
    if before.kind != TargetKind::Device {
        same_file(before, now, is_foreign)?;
    }
    match (&before.device, &now.device) {
        (Some(before), Some(now)) => same_device(before, now)?,
        (None, None) => {}
        (Some(device), None) => return Err(format!("it lay on {} and lies on no disk now", device.name)),
        (None, Some(device)) => return Err(format!("it lay on no disk and lies on {} now", device.name)),
    }
    let (Some(before_device), Some(device)) = (&before.device, &now.device) else { return Ok(None) };
    let is_known = before_device.serial.is_some() || before_device.name == device.name;
    Ok((!is_known).then(|| {
        format!(
            "\"{}\" lay on {} before the interruption and on {} after it: nothing tells whether that is the same disk",
            before.name, before_device.name, device.name
        )
    }))
}

/// Whether a directory or file is where it was.
fn same_file(
    before: &TargetEnvironment,
    now: &TargetEnvironment,
    is_foreign: impl Fn(&str) -> bool,
) -> Result<(), String> {
    if let (Some(before), Some(now)) = (&before.path, &now.path)
        && before != now
    {
        return Err(format!("it led to {before} and leads to {now} now; {TYPE_IT_THERE}"));
    }
    if let (Some(before), Some(now)) = (&before.mount, &now.mount) {
        if before.point != now.point {
            let (before, now) = (&before.point, &now.point);
            return Err(format!("it lay on what is mounted at {before}, and lies on what is mounted at {now} now"));
        }
        if before.file_system != now.file_system {
            return Err(format!("its file system was {} and is {} now", before.file_system, now.file_system));
        }
    }
    if let (Some(before_mount), Some(mount), None) = (&before.mount, &now.mount, &now.device)
        && before_mount.source != mount.source
    {
        return Err(format!("{} was mounted there, and now it is {}", before_mount.source, mount.source));
    }
    // Room is told where a file is still to be made.
    match (before.kind, before.free_bytes.is_some(), now.free_bytes.is_some()) {
        (TargetKind::File, true, false) if is_foreign(&now.name) => {
            Err("the run had made the file itself, and now there is one that plimsoll did not make; move it away"
                .to_owned())
        }
        (TargetKind::File, false, true) => Err("the file is gone".to_owned()),
        _ => Ok(()),
    }
}

const SERIAL: &str = "serial number";

fn same_device(before: &DeviceEnvironment, now: &DeviceEnvironment) -> Result<(), String> {
    let texts = [
        (SERIAL, &before.serial, &now.serial),
        ("model", &before.model, &now.model),
        ("backing file", &before.backing_file, &now.backing_file),
        ("volume", &before.mapped_name, &now.mapped_name),
    ];
    for (what, before, now) in texts {
        if let (Some(before), Some(now)) = (before, now)
            && before != now
            && !(what == SERIAL && serial_number::is_noted(Some(before), Some(now)))
        {
            return Err(format!("the {what} of its disk was {before} and is {now} now"));
        }
    }
    match (before.size_bytes, now.size_bytes) {
        (Some(before), Some(now)) if before != now => {
            Err(format!("its disk had {before} bytes and has {now} bytes now"))
        }
        _ => Ok(()),
    }
}

/// A file that was there has to be as long as the plan needs it.
fn size(plan: &Plan, target: &TargetEnvironment, size_bytes: Option<u64>) -> Result<(), String> {
    let cells = plan.cells.iter().filter(|cell| cell.target == target.name);
    let needed = cells.filter_map(|cell| cell.blocks()).map(BlockPlan::file_bytes).max().unwrap_or(0);
    match size_bytes {
        Some(size) if target.free_bytes.is_none() && size < needed => {
            Err(format!("it has {size} bytes, and the run needs {needed}"))
        }
        _ => Ok(()),
    }
}

/// What differs in the machine.
fn machine(before: &MachineEnvironment, now: &MachineEnvironment) -> Option<String> {
    let number = |number: Option<u32>| number.map(|number| number.to_string());
    let facts = [
        ("host", before.hostname.clone(), now.hostname.clone()),
        ("machine", before.product.clone(), now.product.clone()),
        ("kernel", before.kernel_release.clone(), now.kernel_release.clone()),
        ("processors", number(before.processors_allowed), number(now.processors_allowed)),
    ];
    let differences: Vec<String> = facts
        .into_iter()
        .filter_map(|(what, before, now)| match (before, now) {
            (Some(before), Some(now)) if before != now => Some(format!("{what} {now} instead of {before}")),
            _ => None,
        })
        .collect();
    (!differences.is_empty())
        .then(|| format!("the run went on under other circumstances than before: {}", differences.join(", ")))
}

const fn word(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Directory => "directory",
        TargetKind::File => "file",
        TargetKind::Device => "block device",
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::environment::MountEnvironment;

    use super::*;

    fn device(change: impl Fn(&mut DeviceEnvironment)) -> TargetEnvironment {
        let mut device =
            DeviceEnvironment { name: "vdb".into(), size_bytes: Some(1 << 30), ..DeviceEnvironment::default() };
        change(&mut device);
        TargetEnvironment {
            name: "/dev/disk/by-id/it".into(),
            kind: TargetKind::Device,
            device: Some(device),
            ..TargetEnvironment::default()
        }
    }

    fn directory(point: &str, source: &str) -> TargetEnvironment {
        let mount = MountEnvironment { point: point.into(), source: source.into(), ..MountEnvironment::default() };
        TargetEnvironment {
            name: "/mnt/data".into(),
            path: Some("/mnt/data".into()),
            mount: Some(mount),
            ..TargetEnvironment::default()
        }
    }

    fn problem(before: &TargetEnvironment, now: &TargetEnvironment) -> String {
        target(before, now, |_| true).unwrap_err()
    }

    #[test]
    fn another_disk_behind_the_same_path_is_refused() {
        let before = device(|it| it.serial = Some("vol-1".into()));
        let other = problem(&before, &device(|it| it.serial = Some("vol-2".into())));
        assert!(other.contains("serial number of its disk was vol-1 and is vol-2"), "{other}");
        let grown = problem(&before, &device(|it| it.size_bytes = Some(2 << 30)));
        assert!(grown.contains("1073741824 bytes and has 2147483648"), "{grown}");
        let gone = problem(&before, &TargetEnvironment { device: None, ..before.clone() });
        assert!(gone.contains("lies on no disk now"), "{gone}");
    }

    #[test]
    fn a_disk_with_another_name_is_the_same_when_its_serial_number_says_so_and_doubtful_otherwise() {
        let known = |name: &str| device(|it| (it.name, it.serial) = (name.into(), Some("vol-1".into())));
        assert_eq!(target(&known("vdb"), &known("vdc"), |_| true), Ok(None));
        let warning = target(&device(|_| {}), &device(|it| it.name = "vdc".into()), |_| true).unwrap().unwrap();
        assert!(warning.contains("lay on vdb") && warning.contains("on vdc after"), "{warning}");
    }

    #[test]
    fn a_missing_mount_and_another_export_are_refused() {
        let before = directory("/mnt/data", "server:/a");
        let unmounted = problem(&before, &directory("/", "/dev/vda1"));
        assert!(unmounted.contains("mounted at /mnt/data") && unmounted.contains("mounted at / now"), "{unmounted}");
        let other = problem(&before, &directory("/mnt/data", "server:/b"));
        assert!(other.contains("server:/a was mounted there, and now it is server:/b"), "{other}");
        assert_eq!(target(&before, &before.clone(), |_| true), Ok(None));
    }

    #[test]
    fn a_relative_path_that_leads_nowhere_from_here_is_told_of_while_its_target_is_where_it_was() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| Some(place.path().join(name).to_str().unwrap().to_owned());
        std::fs::create_dir(place.path().join("there")).unwrap();
        let mut begun = crate::test_plans::started("rw = 'randread'");
        let mut complaint = |target: TargetEnvironment| {
            begun.environment.targets = vec![target];
            check_paths(&begun).err().map(|changed| changed.to_string())
        };
        let directory = |name: &str, path| TargetEnvironment { name: name.into(), path, ..directory("/", "/dev/vda1") };
        let told = complaint(directory("no-such/there", at("there"))).unwrap();
        let wanted = format!("it led to {} and leads nowhere now; type the command where", at("there").unwrap());
        assert!(told.contains(&wanted), "{told}");
        // It is gone, or is here.
        assert_eq!(complaint(directory("no-such/gone", at("gone"))), None);
        assert_eq!(complaint(directory("src", at("there"))), None);
        assert_eq!(complaint(directory("/no-such/there", at("there"))), None);
        // A file that was to be made, which the interrupted run removed again.
        let file = |name: &str, path| TargetEnvironment {
            kind: TargetKind::File,
            free_bytes: Some(1),
            ..directory(name, path)
        };
        assert!(complaint(file("no-such/new", at("there/new"))).is_some());
        assert_eq!(complaint(file("no-such/new", at("gone/new"))), None);
        assert_eq!(complaint(file("src/new", at("there/new"))), None);
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_refused() {
        let before = directory("/", "/dev/vda1");
        let now = TargetEnvironment { path: Some("/home/b/data".into()), ..before.clone() };
        assert!(problem(&before, &now).contains("leads to /home/b/data now"));
    }

    #[test]
    fn a_file_that_was_there_and_one_that_was_made_are_not_mistaken_for_each_other() {
        let file = |free_bytes| TargetEnvironment { kind: TargetKind::File, free_bytes, ..directory("/", "/dev/vda1") };
        assert!(problem(&file(None), &file(Some(1))).contains("gone"));
        assert!(problem(&file(Some(1)), &file(None)).contains("did not make"));
        // An earlier part of the run made it and kept it.
        assert_eq!(target(&file(Some(1)), &file(None), |_| false), Ok(None));
        assert!(problem(&file(None), &directory("/", "/dev/vda1")).contains("was a file and is a directory"));
        assert!(problem(&directory("/", "/dev/vda1"), &file(None)).contains("was a directory and is a file now"));
        assert!(problem(&directory("/", "/dev/vda1"), &file(Some(1))).contains("was a directory and is gone"));
    }

    #[test]
    fn another_machine_is_told() {
        let before = MachineEnvironment { hostname: Some("a".into()), ..MachineEnvironment::default() };
        let now = MachineEnvironment { hostname: Some("b".into()), ..MachineEnvironment::default() };
        assert!(machine(&before, &now).unwrap().contains("host b instead of a"));
        assert_eq!(machine(&before, &before), None);
    }
}
