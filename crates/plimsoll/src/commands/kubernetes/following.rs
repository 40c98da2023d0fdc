//! Showing a run in a cluster while it happens, and what came of it: as of a run on this machine.

use plimsoll_catalog::catalog::Catalog;
use plimsoll_kubernetes::{
    error::ClusterError,
    run::{Finished, Told},
    teardown::Left,
};
use plimsoll_record::{event::RunEvent, record::Outcome};

use super::super::run as local;
use crate::{
    exit::{Exit, OutputLost},
    printer::Printer,
    progress::{self, Progress},
    saving::{Saved, Saving},
    state::State,
};

/// Follows a run, saves it, and prints it. The catalog was read before, so that no answer is lost for want of a file.
/// What is in the cluster is removed when somebody has the results.
pub(super) fn followed(
    json: bool,
    catalog: &Catalog,
    state: &State,
    printer: Printer,
    does: impl FnOnce(&mut dyn FnMut(Told<'_>)) -> Result<Finished, ClusterError>,
    removes: impl FnOnce() -> Vec<Left>,
) -> anyhow::Result<Exit> {
    let mut saving = Saving::new(state, None, printer);
    let mut progress: Option<Box<dyn Progress>> = None;
    let finished = does(&mut |told| match told {
        Told::Event(event) => {
            saving.event(event);
            if let RunEvent::Started(started) = event {
                progress = Some(progress::choose(printer.is_quiet(), &started.plan));
            }
            progress.iter_mut().for_each(|progress| progress.event(event));
        }
        Told::Note(text) => {
            progress.take().iter_mut().for_each(|progress| progress.finish());
            printer.note(text);
        }
        Told::Warning(text) => printer.warning(text),
    });
    progress.take().iter_mut().for_each(|progress| progress.finish());
    let Finished { record, error, mut leftovers, stays } = finished.inspect_err(|_| saving.discard())?;
    for left in &leftovers {
        printer.warning(&left.text);
    }
    let remove = || {
        for left in if stays { Vec::new() } else { removes() } {
            printer.warning(&left.text);
            leftovers.push(left);
        }
    };
    let Some(record) = record else {
        saving.discard();
        remove();
        return Err(error.map_or_else(|| anyhow::anyhow!("the pod told nothing of its run"), Into::into));
    };
    let saved = saving.save_unless_less(&record);
    let is_saved = !matches!(saved, Saved::Nowhere);
    let kept = match saved {
        Saved::Nowhere => "what was measured is saved nowhere".to_owned(),
        Saved::InHistory | Saved::Resumable => format!("what was measured is saved as {}", record.id),
        Saved::Better => {
            let kept = format!("the record of run {} in the history says more than this one, and stays", record.id);
            printer.note(&kept);
            kept
        }
    };
    let needs = local::needs(&record, catalog);
    let printed = printer.answer(local::answer(&record, needs.as_ref(), json, printer)?).map_err(OutputLost);
    if is_saved || printed.is_ok() {
        remove();
    }
    printed?;
    if let Some(error) = error {
        return Err(anyhow::Error::new(error).context(kept));
    }
    if record.outcome == Outcome::Interrupted {
        printer.note(format!("interrupted; {kept}"));
    }
    if record.outcome == Outcome::Lost {
        let error = ClusterError::Run("not all that the pods had to tell was heard".to_owned());
        return Err(anyhow::Error::new(error).context(kept));
    }
    match local::exit(&record, needs.is_some_and(|needs| needs.is_broken())) {
        // The numbers are whole, and somebody has to look at the cluster.
        Exit::Success if leftovers.iter().any(|left| !left.stays) => Ok(Exit::Cluster),
        exit => Ok(exit),
    }
}
