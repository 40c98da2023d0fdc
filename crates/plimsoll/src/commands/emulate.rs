//! `plimsoll emulate`: disks that let as much through as what is sold, to rehearse a comparison before paying for it.

use std::{
    collections::BTreeMap,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context as _, anyhow, bail};
use plimsoll_catalog::{catalog::Catalog, ceiling::Load, expectation::Expectation};
use plimsoll_devices::{
    emulation::{self, Disk, Emulation, SharedDisk},
    error::DeviceError,
    throttle::{Caps, Throttle},
};
use plimsoll_io::{block_device::DeviceNumber, open_files};
use plimsoll_record::environment::{Environment, TargetEnvironment};
use plimsoll_report::emulated::{self, EmulatedDevice, EmulatedRow};
use plimsoll_workload::{
    limit::{Common, Limit, RateLimit},
    provisioned::{Provisioned, Provisioning},
    units::ByteCount,
};
use serde_json::json;

use super::{catalog, made, stripe};
use crate::{
    cli::emulate::{EmulateAction, EmulateArguments, UpArguments},
    printer::Printer,
    state::State,
};

/// The load that limits are derived for: what they are sold by.
const BLOCK_BYTES: f64 = 4096.0;
/// Less is no disk.
const SIZE_BYTES_MIN: u64 = 1 << 20;

/// Makes disks, lists them, uses them or takes them down.
pub fn run(arguments: EmulateArguments, state: &State, printer: Printer) -> anyhow::Result<String> {
    let directory = made::directory(state)?;
    match arguments.action {
        EmulateAction::Up(arguments) => up(&arguments, directory, printer),
        EmulateAction::List { json } => {
            let (emulations, damaged) = Emulation::readable(directory)?;
            damaged.iter().for_each(|error| printer.warning(error));
            list(&emulations, json, printer)
        }
        EmulateAction::Exec { command } => {
            let [program, arguments @ ..] = command.as_slice() else { bail!("no command") };
            let emulations = Emulation::all(directory)?;
            if emulations.is_empty() {
                printer.warning("no emulated disk is up: the command runs as it would without plimsoll");
            } else {
                let throttle = Throttle::find()?;
                throttle.join()?;
                emulations.iter().try_for_each(|emulation| hold(emulation, &throttle, printer))?;
            }
            // This program becomes the command, so its input, its signals and its end are those of the command.
            let mut command = process::Command::new(program);
            open_files::begins_as_we_did(&mut command);
            let error = command.args(arguments).exec();
            Err(anyhow!(error).context(format!("start {}", program.to_string_lossy())))
        }
        EmulateAction::Down { name } => down(name.as_deref(), directory, printer),
    }
}

/// Has the disks of one held back, and says which are not there.
fn hold(emulation: &Emulation, throttle: &Throttle, printer: Printer) -> Result<(), DeviceError> {
    for disk in emulation.hold(throttle)? {
        let (name, disk) = (&emulation.name, &disk.name);
        printer.warning(format!("the disk {disk} of \"{name}\" is not there: `plimsoll emulate down {name}`"));
    }
    Ok(())
}

fn up(arguments: &UpArguments, state: &Path, printer: Printer) -> anyhow::Result<String> {
    let catalog = catalog::read(arguments.limits.as_deref())?;
    emulation::check_name(&arguments.name)?;
    if arguments.size.0 < SIZE_BYTES_MIN {
        bail!("--size {} is too small for a disk: take {} at least", arguments.size, ByteCount(SIZE_BYTES_MIN));
    }
    let directory = emulation::directory(arguments.directory.as_deref(), state, &arguments.name);
    // The kernel tells files by their real paths.
    let directory = emulation::resolved(&directory).with_context(|| format!("find {}", directory.display()))?;
    let mut disks = Vec::new();
    for sku in &arguments.sku {
        let bought = Provisioned { sku: Some(sku.clone()), size: arguments.disk_size, ..Provisioned::default() };
        let caps = of_product(sku, &bought, &catalog, printer)?;
        disks.push((sku.clone(), bought, caps));
    }
    for limit in &arguments.limit {
        let given = Provisioned { limit: Some(*limit), ..Provisioned::default() };
        disks.push((limit.to_string(), given, of_limit(limit, limit)));
    }
    let disks = disks.into_iter().enumerate().map(|(index, (name, stands_for, caps))| Disk {
        file: directory.join(format!("{index}.img")),
        file_id: None,
        size_bytes: arguments.size.0,
        device: None,
        name,
        stands_for,
        caps,
    });
    let shared = arguments.shared_limit.map(|limit| SharedDisk {
        file: directory.join("shared.img"),
        file_id: None,
        caps: of_limit(&limit, &limit),
        limit,
    });
    let emulation = Emulation::new(&arguments.name, disks.collect(), shared)?;
    let throttle = Throttle::find()?;
    made::tell_when_interrupted("emulate", printer)?;
    made::tell_of_wait(Emulation::is_locked(state), printer);
    let emulation = emulation.up(state, &throttle)?;
    list(&[emulation], arguments.json, printer)
}

/// What a product lets through in the long run.
fn of_product(sku: &str, provisioned: &Provisioned, catalog: &Catalog, printer: Printer) -> anyhow::Result<Caps> {
    let expectation = Expectation::of(provisioned, catalog)?.with_context(|| format!("nothing is known of {sku}"))?;
    let of = |read_share: f64| {
        let load = Load { read_share, operation_bytes: BLOCK_BYTES, is_sequential: false };
        expectation.for_load(load).limit
    };
    let (read, write) = (of(1.0), of(0.0));
    let bursts = |rate: Option<RateLimit>| rate.is_some_and(|rate| rate.burst.is_some());
    if [read, write].iter().any(|limit| bursts(limit.operations) || bursts(limit.bytes)) {
        printer.note(format!("{sku} bursts, and the emulated one does not: it has what lasts"));
    }
    let caps = of_limit(&read, &write);
    if caps == Caps::default() {
        bail!("the catalog does not know what {sku} lets through: say it with --limit");
    }
    Ok(caps)
}

fn of_limit(read: &Limit, write: &Limit) -> Caps {
    let lasting = |rate: Option<RateLimit>| rate.map(|rate| rate.sustained.round().max(1.0) as u64);
    Caps {
        read_iops: lasting(read.operations),
        write_iops: lasting(write.operations),
        read_bytes: lasting(read.bytes),
        write_bytes: lasting(write.bytes),
    }
}

fn list(emulations: &[Emulation], as_json: bool, printer: Printer) -> anyhow::Result<String> {
    if as_json {
        return Ok(serde_json::to_string_pretty(&json!({ "emulations": emulations }))? + "\n");
    }
    if emulations.is_empty() {
        printer.note("no emulated disk is up: `plimsoll emulate up --sku P30,P10` makes two");
        return Ok(String::new());
    }
    let rows = emulations.iter().flat_map(|emulation| {
        emulation.disks.iter().enumerate().map(|(index, disk)| EmulatedRow {
            emulation: emulation.name.clone(),
            disk: disk.name.clone(),
            device: match &disk.device {
                None => EmulatedDevice::NotMade,
                Some(_) if !emulation.has(index) => EmulatedDevice::Gone,
                Some(device) => EmulatedDevice::Path(device.display().to_string()),
            },
            read_iops: disk.caps.read_iops,
            write_iops: disk.caps.write_iops,
            read_bytes: disk.caps.read_bytes,
            write_bytes: disk.caps.write_bytes,
            size_bytes: disk.size_bytes,
        })
    });
    Ok(emulated::list(&rows.collect::<Vec<_>>(), printer.width()))
}

fn down(name: Option<&str>, state: &Path, printer: Printer) -> anyhow::Result<String> {
    let (emulations, damaged) = match name {
        Some(name) => (vec![Emulation::find(state, name)?], Vec::new()),
        None => Emulation::readable(state)?,
    };
    if emulations.is_empty() && damaged.is_empty() {
        return Ok("no emulated disk is up\n".to_owned());
    }
    let throttle = Throttle::find()?;
    made::tell_when_interrupted("emulate", printer)?;
    made::tell_of_wait(Emulation::is_locked(state), printer);
    let taken_down = emulations.iter().map(|emulation| {
        for file in emulation.down(state, &throttle)? {
            let file = file.display();
            printer.note(format!("{file} was moved or removed by somebody: where it is now, it still takes room"));
        }
        Ok(format!("{}: {} taken down\n", emulation.name, disks(emulation.disks.len())))
    });
    made::one_by_one(taken_down.chain(damaged.into_iter().map(Err)), printer)
}

fn disks(number: usize) -> String {
    if number == 1 { "1 disk".to_owned() } else { format!("{number} disks") }
}

/// Targets that are emulated disks, on them, or made of them: this process is held back with them from here on. What
/// they stand for is added to what is said of them.
pub(super) fn join(
    environment: &Environment,
    said: &Provisioning,
    state: &State,
    printer: Printer,
) -> anyhow::Result<Provisioning> {
    let mut known = said.clone();
    let Some(directory) = &state.directory else { return Ok(known) };
    let emulations = Emulation::all(directory).unwrap_or_else(|error| {
        printer.warning(format!("nothing is known of emulated disks: {error}"));
        Vec::new()
    });
    for target in environment.targets.iter().filter(|_| !emulations.is_empty()) {
        let found: Vec<_> = disks_of(target).filter_map(|number| Emulation::disk_of(&emulations, number)).collect();
        let Some((_, first)) = found.first() else { continue };
        let device = first.device.as_ref().map_or_else(PathBuf::new, Clone::clone);
        let mut owners: Vec<&Emulation> = found.iter().map(|(emulation, _)| *emulation).collect();
        owners.dedup_by_key(|emulation| &emulation.name);
        let held = Throttle::find().and_then(|throttle| {
            throttle.join()?;
            owners.iter().try_for_each(|emulation| emulation.hold(&throttle).map(drop))
        });
        held.with_context(|| format!("{} is on the emulated disk {}", target.name, device.display()))?;
        // What is put together of different disks stands for nothing that is sold.
        if found.iter().any(|(_, disk)| disk.stands_for != first.stands_for) {
            continue;
        }
        // What was said of a disk comes before what it stands for, and is not mixed with it.
        let own = said.of(&target.name);
        let is_said = own.sku.is_some() || own.limit.is_some();
        let stands_for = if is_said { Provisioned::default() } else { first.stands_for.clone() };
        // Both hold them back.
        let shared = [own.shared_limit, shared_limit(target, &found)].into_iter().flatten();
        let shared_limit = shared.reduce(Limit::least);
        let provisioned = Provisioned { shared_limit, emulated: Some(true), ..own.or(&stands_for) };
        known.targets.insert(target.name.clone(), provisioned);
    }
    Ok(known)
}

/// Where what a run was begun on stood for something else than what is there now.
pub(super) fn differences(before: &Provisioning, now: &Provisioning) -> Vec<String> {
    let were_emulated = before.targets.iter().filter(|(_, was)| was.emulated == Some(true));
    let differ = were_emulated.filter_map(|(target, was)| {
        let is = now.of(target);
        let word = |of: &Provisioned| {
            of.limit.map(|limit| limit.to_string()).or_else(|| of.sku.clone()).unwrap_or_else(|| "nothing".to_owned())
        };
        ((&was.sku, was.limit) != (&is.sku, is.limit)).then(|| {
            let (was, is) = (word(was), word(&is));
            format!("{target} stood for {was} before the interruption, and its emulated disk stands for {is} now")
        })
    });
    differ.collect()
}

/// The disks that a target is made of.
fn disks_of(target: &TargetEnvironment) -> impl Iterator<Item = DeviceNumber> {
    let of_array =
        target.array.iter().flat_map(|own| &own.disks).filter_map(|disk| DeviceNumber::of_special_file(disk.as_ref()));
    let number = || target.device.as_ref().and_then(|device| device.number.as_ref()?.parse().ok());
    let alone = target.array.is_none().then(number).flatten();
    of_array.chain(alone)
}

/// What disks get together of what they are parts of.
fn shared_limit(target: &TargetEnvironment, found: &[(&Emulation, &Disk)]) -> Option<Limit> {
    let mut commons: BTreeMap<&str, Common> = BTreeMap::new();
    for (emulation, _) in found {
        let Some(shared) = &emulation.shared else { continue };
        commons.entry(&emulation.name).or_insert(Common { disks: 0, limit: shared.limit }).disks += 1;
    }
    let commons: Vec<Common> = commons.into_values().collect();
    let array = target.array.as_ref().map(|own| &own.array);
    stripe::common_limit(array, &commons, disks_of(target).count() as u32, found.first().map(|(_, disk)| alone(disk)))
}

/// What a disk lets through by itself, where that is the same for reads and writes.
fn alone(disk: &Disk) -> Limit {
    let Caps { read_iops, write_iops, read_bytes, write_bytes } = disk.caps;
    let both = |read: Option<u64>, write| read.filter(|_| read == write).map(|rate| RateLimit::lasting(rate as f64));
    Limit { operations: both(read_iops, write_iops), bytes: both(read_bytes, write_bytes), io_size: None }
}
