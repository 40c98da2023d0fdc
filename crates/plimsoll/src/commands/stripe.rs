//! `plimsoll stripe`: arrays of disks, all there at once to be compared, and gone afterwards.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::bail;
use plimsoll_devices::stripe::{Stripe, StripedArray, StripedDisk};
use plimsoll_io::target;
use plimsoll_record::environment::{ArrayEnvironment, Environment};
use plimsoll_report::striped::{self, StripedRow, StripedTarget};
use plimsoll_workload::{
    array::{Array, ArrayAsked, FileSystem, Striping},
    limit::{Common, Limit},
    plan_file::PlanFile,
    provisioned::{Provisioned, Provisioning},
    shell_word::quoted,
    target_facts::{TargetFacts, TargetKind},
};
use serde_json::json;

use super::{made, run};
use crate::{
    cli::stripe::{StripeAction, StripeArguments, UpArguments},
    printer::Printer,
    state::State,
};

/// Makes arrays, lists them or takes them down.
pub fn run(arguments: StripeArguments, state: &State, printer: Printer) -> anyhow::Result<String> {
    let directory = made::directory(state)?;
    match arguments.action {
        StripeAction::Up(arguments) => up(*arguments, directory, printer),
        StripeAction::List { json } => {
            let (stripes, damaged) = Stripe::readable(directory)?;
            damaged.iter().for_each(|error| printer.warning(error));
            list(&stripes, json, printer)
        }
        StripeAction::Down { name, forget } => down(name.as_deref(), forget, directory, printer),
    }
}

fn up(arguments: UpArguments, state: &Path, printer: Printer) -> anyhow::Result<String> {
    let (is_dry, as_json) = (arguments.dry_run, arguments.json);
    let (asked, destroy) = asked(arguments)?;
    for device in asked.devices.iter().filter(|device| is_name_of_the_kernel(device)) {
        printer.note(format!("{device} may be another disk after a reboot: names in /dev/disk/by-id stay"));
    }
    let stripe = Stripe::new(&asked)?;
    if is_dry {
        let Some(steps) = stripe.rehearse(state, &destroy)? else {
            printer.note(format!("\"{}\" is up: only what a boot took away would be brought back", stripe.name));
            return Ok(String::new());
        };
        return Ok(steps.iter().map(|step| format!("{step}\n")).collect());
    }
    made::tell_when_interrupted("stripe", printer)?;
    made::tell_of_wait(Stripe::is_locked(state), printer);
    list(&[stripe.up(state, &destroy)?], as_json, printer)
}

/// What flags and plan ask for together, and the disks whose content may go.
fn asked(arguments: UpArguments) -> anyhow::Result<(Striping, Vec<PathBuf>)> {
    let plan = arguments.plan.as_deref().map(run::plan_file).transpose()?.unwrap_or_default();
    let mut asked = plan.stripe.unwrap_or_default();
    let UpArguments { kind, disks, chunk, file_system, block_size, cluster_size, placement, .. } = arguments;
    let array = ArrayAsked { name: None, kind, disks, placement, chunk, file_system, block_size, cluster_size };
    if array != ArrayAsked::default() {
        asked.arrays.push(array);
    }
    asked.name = arguments.name.or(asked.name);
    asked.preset = arguments.preset.or(asked.preset);
    if !arguments.group.is_empty() {
        asked.groups = arguments.group;
    }
    let named = run::paths("--destroy", &arguments.destroy)?;
    let mut destroy = arguments.destroy;
    destroy.extend(plan.destroy.iter().map(PathBuf::from));
    if asked.devices.is_empty() {
        asked.devices = named;
    }
    if asked.devices.is_empty() {
        bail!("no disk to make arrays of: name blank ones with --destroy /dev/disk/by-id/A,/dev/disk/by-id/B");
    }
    Ok((asked, destroy))
}

/// What a plan says of the disks of arrays.
#[derive(Default)]
pub(super) struct OfDisks {
    /// What groups of them get together.
    group_limits: BTreeMap<String, Limit>,
    /// What was bought, by their names.
    bought: BTreeMap<String, Provisioned>,
}

/// The arrays of a plan become targets of its run. They have to be there. Returns what is said of their disks.
pub(super) fn become_targets(plan: &mut PlanFile, state: &State) -> anyhow::Result<OfDisks> {
    let Some(asked) = plan.stripe.take() else { return Ok(OfDisks::default()) };
    asked.expand()?;
    let there = Stripe::all(made::directory(state)?)?.into_iter().find(|stripe| stripe.name == asked.name());
    let name = asked.name();
    let Some(stripe) = there else {
        bail!(
            "the arrays of the plan are not there: `plimsoll stripe up --plan FILE --destroy {}` makes them, and \
             `plimsoll stripe down {name}` takes them apart again",
            quoted(&asked.devices.join(","))
        );
    };
    if !stripe.is_of(&asked) {
        bail!(
            "the stripe \"{name}\" is there with other disks or arrays than the plan has: `plimsoll stripe list` shows \
             them, and `plimsoll stripe down {name}` takes them down; or give the plan's another name"
        );
    }
    // Below an array that is not mounted lies another file system, and a name in /dev may be that of another disk.
    stripe.in_place()?;
    for own in &stripe.arrays {
        let target = stripe.target(own).display().to_string();
        // Whoever gave the disks up gave up what is made of them.
        plan.destroy.extend(own.array.is_raw().then(|| target.clone()));
        plan.targets.push(target);
    }
    // Those are of `stripe up`.
    plan.destroy.retain(|device| !asked.devices.contains(device));
    let bought = &mut plan.provisioned.targets;
    let bought = asked.devices.iter().filter_map(|device| bought.remove_entry(device)).collect();
    Ok(OfDisks { group_limits: asked.group_limits, bought })
}

/// Says of targets that are arrays what they are made of. Returns what follows for what was bought: which disks, how
/// many, and what those get together.
pub(super) fn describe(
    environment: &mut Environment,
    said: &OfDisks,
    state: &State,
    printer: Printer,
) -> anyhow::Result<Provisioning> {
    let mut provisioning = Provisioning::default();
    let Some(directory) = &state.directory else { return Ok(provisioning) };
    let stripes = match Stripe::all(directory) {
        Ok(stripes) => stripes,
        Err(error) => {
            printer.warning(format!("nothing is known of arrays: {error}"));
            return Ok(provisioning);
        }
    };
    for target in &mut environment.targets {
        let Some((stripe, own, disks)) = Stripe::of_target(&stripes, target.name.as_ref()) else { continue };
        stripe.in_place()?;
        let mut groups: Vec<&String> = disks.iter().filter_map(|disk| disk.group.as_ref()).collect();
        groups.sort();
        groups.dedup();
        let commons = groups.iter().filter_map(|group| {
            let own = disks.iter().filter(|disk| disk.group.as_ref() == Some(group));
            Some(Common { disks: own.count() as u32, limit: *said.group_limits.get(*group)? })
        });
        let commons: Vec<Common> = commons.collect();
        target.array = Some(ArrayEnvironment {
            stripe: stripe.name.clone(),
            id: Some(own.id()),
            array: own.array.clone(),
            disks: disks.iter().map(|disk| disk.device.display().to_string()).collect(),
            groups: groups.into_iter().cloned().collect(),
        });
        let bought = |disk: &StripedDisk| said.bought.get(disk.device.to_string_lossy().as_ref());
        // What is put together of different disks is nothing that is sold.
        let first = disks.first().and_then(|disk| bought(disk));
        let alike = first.filter(|first| disks.iter().all(|disk| bought(disk) == Some(first)));
        let alone = alike.and_then(|bought| bought.limit);
        let shared_limit = common_limit(Some(&own.array), &commons, disks.len() as u32, alone);
        let provisioned = Provisioned { disks: Some(disks.len() as u32), shared_limit, ..Provisioned::default() };
        let provisioned = provisioned.or(&alike.cloned().unwrap_or_default());
        provisioning.targets.insert(target.name.clone(), provisioned);
    }
    Ok(provisioning)
}

/// Whether a target is an array, which is looked for in its place anyway.
pub(super) fn is_array(target: &str, state: &State) -> bool {
    let stripes = state.directory.as_deref().and_then(|directory| Stripe::all(directory).ok()).unwrap_or_default();
    Stripe::of_target(&stripes, target.as_ref()).is_some()
}

/// Refuses what would be in the place of an array that is not known, or not there.
pub(super) fn check_in_place(targets: &[String], state: &State) -> anyhow::Result<()> {
    let mut places = targets.iter().map(Path::new).filter(|target| Stripe::is_place(target)).peekable();
    if places.peek().is_none() {
        return Ok(());
    }
    let stripes = state.directory.as_deref().map(Stripe::all).transpose()?.unwrap_or_default();
    for place in places {
        // A file or directory on an array is one like any other, as long as that is there.
        let array = Stripe::of_target(&stripes, place).map(|(stripe, ..)| stripe);
        match array.or_else(|| Stripe::around(&stripes, place)) {
            Some(stripe) => stripe.in_place()?,
            None => bail!(
                "{} is no array that is known here, or one that was taken down: `plimsoll stripe list` shows those \
                 that are",
                place.display()
            ),
        }
    }
    Ok(())
}

/// Has jobs dealt among the disks of targets that are arrays whose disks are not put together.
pub(super) fn deal(targets: &mut [TargetFacts], state: &State) -> anyhow::Result<()> {
    for facts in targets.iter_mut().filter(|facts| Stripe::is_place(facts.name.as_ref())) {
        let stripes = state.directory.as_deref().map(Stripe::all).transpose()?.unwrap_or_default();
        let path = Path::new(&facts.name);
        let Some((stripe, own, disks)) = Stripe::of_target(&stripes, path) else { continue };
        let Some(count) = own.directories().filter(|count| *count as usize == disks.len()) else { continue };
        facts.kind = TargetKind::Directories(count);
        let each = stripe.targets(own).iter().map(|one| target::facts(one)).collect::<Result<Vec<_>, _>>()?;
        // Each disk gets the same, so the fullest has room for its part of all.
        let least = each.iter().map(|one| one.free_bytes).min().flatten();
        facts.free_bytes = least.map(|bytes| bytes.saturating_mul(count.into()));
        let alignments: Option<Vec<u32>> = each.iter().map(|one| one.direct_alignment_bytes).collect();
        facts.direct_alignment_bytes = alignments.and_then(|all| all.into_iter().max());
    }
    Ok(())
}

/// What disks get together of what some of them have in common: those of an array wait for each other, unless they have
/// jobs of their own.
pub(super) fn common_limit(
    array: Option<&Array>,
    commons: &[Common],
    disks: u32,
    alone: Option<Limit>,
) -> Option<Limit> {
    if array.is_some_and(|array| array.kind.is_apart()) {
        Limit::of_disks_apart(commons, disks, alone)
    } else {
        Limit::of_equal_parts(commons, disks)
    }
}

/// `/dev/sdb` and the like, which are given out anew at every boot.
fn is_name_of_the_kernel(device: &str) -> bool {
    let name = device.strip_prefix("/dev/").unwrap_or_default();
    !name.contains('/') && ["sd", "vd", "xvd", "hd", "nvme"].iter().any(|prefix| name.starts_with(prefix))
}

fn list(stripes: &[Stripe], as_json: bool, printer: Printer) -> anyhow::Result<String> {
    if as_json {
        let one = |stripe: &Stripe| {
            let arrays = stripe.arrays.iter().map(|own| json!({ "array": own.array, "target": stripe.target(own) }));
            json!({
                "name": stripe.name,
                "is_complete": stripe.is_complete,
                "disks": stripe.disks,
                "arrays": arrays.collect::<Vec<_>>(),
            })
        };
        return Ok(
            serde_json::to_string_pretty(&json!({ "stripes": stripes.iter().map(one).collect::<Vec<_>>() }))? + "\n"
        );
    }
    if stripes.is_empty() {
        printer.note("no array is there: `plimsoll stripe up --kind md,lvm --destroy DEVICE,DEVICE` makes two");
        return Ok(String::new());
    }
    let rows = stripes.iter().flat_map(|stripe| stripe.arrays.iter().map(|own| row(stripe, own)));
    Ok(striped::list(&rows.collect::<Vec<_>>(), printer.width()))
}

fn row(stripe: &Stripe, own: &StripedArray) -> StripedRow {
    let array = &own.array;
    let is_striped = array.disks.len() > 1 && !array.kind.is_apart();
    StripedRow {
        array: array.name.clone(),
        disks: stripe.disks_of(own).map(|disk| disk.device.display().to_string()).collect(),
        chunk_bytes: is_striped.then_some(array.chunk_bytes),
        file_system: (array.file_system != FileSystem::Raw).then(|| array.file_system.to_string()),
        cluster_bytes: array.cluster_bytes.filter(|cluster| Some(*cluster) != array.block_bytes),
        target: match stripe.has(own) {
            _ if !stripe.is_complete => StripedTarget::NotMade,
            false => StripedTarget::NotInPlace,
            true => StripedTarget::Path(stripe.target(own).display().to_string()),
        },
    }
}

fn down(name: Option<&str>, forget: bool, state: &Path, printer: Printer) -> anyhow::Result<String> {
    let (stripes, damaged) = match name {
        Some(name) => (vec![Stripe::find(state, name)?], Vec::new()),
        None => Stripe::readable(state)?,
    };
    if stripes.is_empty() && damaged.is_empty() {
        return Ok("no array is there\n".to_owned());
    }
    made::tell_when_interrupted("stripe", printer)?;
    made::tell_of_wait(Stripe::is_locked(state), printer);
    let taken_down = stripes.iter().map(|stripe| {
        if forget {
            stripe.forget(state)?;
            return Ok(format!("{}: forgotten; what is on its disks is still there\n", stripe.name));
        }
        stripe.down(state)?;
        let disks = match stripe.disks.len() {
            1 => "1 disk is".to_owned(),
            count => format!("{count} disks are"),
        };
        Ok(format!("{}: taken down, and {disks} blank again\n", stripe.name))
    });
    made::one_by_one(taken_down.chain(damaged.into_iter().map(Err)), printer)
}
