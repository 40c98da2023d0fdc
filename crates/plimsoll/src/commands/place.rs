//! Where a run is to take place: what its targets are, what machine they belong to, and what was bought of both.

use plimsoll_record::environment::Environment;
use plimsoll_run::{machine, target_facts};
use plimsoll_workload::{provisioned::Provisioning, target_facts::TargetFacts, workload::Workload};

use super::{
    emulate,
    run::pod,
    stripe::{self, OfDisks},
    volumes::Volumes,
};
use crate::{printer::Printer, state::State};

/// What is said of it.
#[derive(Default)]
pub(super) struct Said<'a> {
    pub(super) provisioned: Provisioning,
    pub(super) of_disks: OfDisks,
    pub(super) volumes: Option<Volumes<'a>>,
}

/// What is known of it.
pub(super) struct Place {
    pub(super) targets: Vec<TargetFacts>,
    pub(super) environment: Environment,
    /// What was said, and what was found besides.
    pub(super) provisioned: Provisioning,
}

/// Looks at the targets of a run and gets ready for it: arrays have to be in their places, and on emulated disks this
/// process is held back from here on.
pub(super) fn look(
    targets: &[String],
    workloads: &[Workload],
    said: Said<'_>,
    state: &State,
    printer: Printer,
) -> anyhow::Result<Place> {
    stripe::check_in_place(targets, state)?;
    let mut facts = target_facts::gather(targets, workloads)?;
    stripe::deal(&mut facts, state)?;
    let mut environment = machine::gather(&facts, &pod());
    let Said { mut provisioned, of_disks, volumes } = said;
    if let Some(volumes) = volumes {
        let host = environment.machine.hostname.as_deref();
        let found = volumes.of_targets(targets, &provisioned, host, printer)?;
        provisioned = provisioned.or(found);
    }
    provisioned = provisioned.or(stripe::describe(&mut environment, &of_disks, state, printer)?);
    provisioned = emulate::join(&environment, &provisioned, state, printer)?;
    Ok(Place { targets: facts, environment, provisioned })
}
