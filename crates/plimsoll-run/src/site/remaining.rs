//! What of the files that a run made is still there when it ends, and when it goes on, and what is told of that.

use std::path::Path;

use plimsoll_record::event::RunEvent;
use plimsoll_workload::shell_word::quoted;
use uuid::Uuid;

use super::Sites;
use crate::objects::{
    FilesAfter,
    in_common::InUse,
    leftovers::{self, Left, LeftReason},
};

/// Removes what dead runs left in a directory. What is there of this very run, which goes on, is told again.
pub(super) fn tidy(place: &Path, run: Uuid, emit: &mut dyn FnMut(RunEvent)) {
    match leftovers::sweep_directory(place) {
        Ok(swept) => {
            let own = swept.left.iter().filter(|left| left.run() == Some(run));
            own.for_each(|left| {
                emit(if matches!(left.reason, LeftReason::Kept) { kept(&left.path) } else { not_removed(left) });
            });
        }
        Err(error) => {
            let text = format!("look for left-over files in {}: {error}", place.display());
            emit(RunEvent::Warning { text });
        }
    }
}

impl Sites {
    /// Removes what the run made, or marks it as kept, or removes what earlier ones made as well.
    pub fn close(mut self, emit: &mut dyn FnMut(RunEvent)) {
        self.cells.clear();
        self.trees.clear();
        if self.common.is_some_and(|common| common.makes()) {
            self.in_use.iter().for_each(InUse::wait_for_others);
        }
        self.in_use.clear();
        if self.files_after == FilesAfter::Removed
            && let Err(error) = self.objects.give_up_kept()
        {
            emit(RunEvent::Warning { text: format!("could not remove all files: {error}") });
        }
        if self.keeps_files() {
            let (made, all) = self.objects.keep();
            made.iter().filter(|path| !self.named.contains(path)).for_each(|path| emit(kept(path)));
            if let Err(error) = all {
                emit(RunEvent::Warning { text: format!("could not keep all files: {error}") });
            }
        }
        let keeps_files = self.keeps_files();
        let sweep = self.objects.remove();
        sweep.left.iter().filter(|_| !keeps_files).for_each(|left| emit(not_removed(left)));
    }
}

fn kept(path: &Path) -> RunEvent {
    let text = path.to_string_lossy();
    RunEvent::Warning { text: format!("kept {text}: `plimsoll doctor --clean {}` removes it", quoted(&text)) }
}

fn not_removed(Left { path, reason }: &Left) -> RunEvent {
    RunEvent::Warning { text: format!("could not remove {}: {reason}", path.display()) }
}
