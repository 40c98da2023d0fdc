//! Showing a run in a cluster while it happens, and what came of it: as of a run on this machine.

use plimsoll_kubernetes::{
    error::ClusterError,
    run::{Finished, Told},
};
use plimsoll_record::{event::RunEvent, record::Outcome};
use plimsoll_report as report;

use super::super::run as local;
use crate::{
    exit::{Exit, OutputLost},
    printer::Printer,
    progress::{self, Progress},
    saving::Saving,
    state::State,
};

/// Follows a run, saves it, and prints it.
pub(super) fn followed(
    json: bool,
    state: &State,
    printer: Printer,
    does: impl FnOnce(&mut dyn FnMut(Told<'_>)) -> Result<Finished, ClusterError>,
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
    let Finished { record, error, leftovers } = finished.inspect_err(|_| saving.discard())?;
    for left in &leftovers {
        printer.warning(&left.text);
    }
    let Some(record) = record else {
        saving.discard();
        return Err(error.map_or_else(|| anyhow::anyhow!("the pod told nothing of its run"), Into::into));
    };
    saving.save(&record);
    let answer = if json {
        let mut text = serde_json::to_string_pretty(&record)?;
        text.push('\n');
        text
    } else {
        report::table::record(&record, printer.width(), printer.style())
    };
    printer.answer(answer).map_err(OutputLost)?;
    if let Some(error) = error {
        return Err(anyhow::Error::new(error).context(format!("what was measured is saved as {}", record.id)));
    }
    if record.outcome == Outcome::Interrupted {
        printer.note(format!("interrupted; the partial record is saved as {}", record.id));
    }
    match local::exit(&record, false) {
        // The numbers are whole, and somebody has to look at the cluster.
        Exit::Success if leftovers.iter().any(|left| !left.stays) => Ok(Exit::Cluster),
        exit => Ok(exit),
    }
}
