//! What of the files that a run made is still there when it ends, by whichever process, and what is told of that.

use std::path::Path;

use plimsoll_record::event::RunEvent;
use plimsoll_workload::shell_word::quoted;

use super::Sites;
use crate::objects::{
    FilesAfter,
    in_common::InUse,
    leftovers::{self, Left, LeftReason},
};

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
        let mut made = Vec::new();
        if self.keeps_files() {
            let (marked, all) = self.objects.keep();
            made = marked;
            made.iter().filter(|path| !self.named.contains(path)).for_each(|path| emit(kept(path)));
            if let Err(error) = all {
                emit(RunEvent::Warning { text: format!("could not keep all files: {error}") });
            }
        }
        if self.goes_on {
            self.objects.kept_before().for_each(|path| emit(kept(path)));
        }
        let (keeps_files, places) = (self.keeps_files(), self.objects.places());
        let sweep = self.objects.remove();
        sweep.left.iter().filter(|_| !keeps_files).for_each(|left| emit(not_removed(left)));
        // What those told who had gone on with the run before may be true no more: it is looked at, and told anew.
        for place in places.iter().filter(|_| self.goes_on) {
            let left = leftovers::left_of_run(place, self.run).unwrap_or_default();
            for left in left.iter().filter(|left| !made.contains(&left.path)) {
                emit(if matches!(left.reason, LeftReason::Kept) { kept(&left.path) } else { not_removed(left) });
            }
        }
    }
}

fn kept(path: &Path) -> RunEvent {
    let text = path.to_string_lossy();
    RunEvent::Warning { text: format!("kept {text}: `plimsoll doctor --clean {}` removes it", quoted(&text)) }
}

fn not_removed(Left { path, reason }: &Left) -> RunEvent {
    RunEvent::Warning { text: format!("could not remove {}: {reason}", path.display()) }
}
