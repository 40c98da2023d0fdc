//! What is known of each cell, and what has been said: more than fits into two lines.

use plimsoll_record::{
    event::{SlotPurpose, SlotResult},
    numbers,
    results::{Finding, Severity},
};
use plimsoll_report::printable;

use super::{
    Activity, CellProgress, ProgressState, SECONDS_KEPT, SENTENCES_KEPT, keep,
    rates::{Rates, Second},
};

/// A cell as it stands. Texts have no characters that a terminal would act on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CellShown {
    /// Its workload, and its target where there are several.
    pub(crate) label: String,
    /// Whether it is being measured now.
    pub(crate) is_measured: bool,
    /// Visits that are over, and of how many where that is known: `2/8`.
    pub(crate) slots: String,
    /// What it did in the last second of load that is known, or in its last slot when that is over.
    pub(crate) latest: Option<Rates>,
    /// What its last slot took, where slots have a time and no seconds of load.
    pub(crate) took_ns: Option<u64>,
    /// Whether they have.
    pub(crate) is_timed: bool,
    /// How sure its rate is, and should be: `+-3.1 % of 2 %`. Empty while nobody knows.
    pub(crate) precision: String,
    /// The verdict, or how far it is.
    pub(crate) word: &'static str,
}

/// A run as it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Details {
    /// What is measured, in words.
    pub(crate) title: String,
    /// All cells of the plan, in its order.
    pub(crate) cells: Vec<CellShown>,
    /// The cell that is being measured, or was last: the first of several that are at the same time.
    pub(crate) current: usize,
    /// What has been said, the latest at the end.
    pub(crate) sentences: Vec<String>,
    /// Operations that failed in slots that are over, and how many of these there are.
    pub(crate) errors: u64,
    pub(crate) slots_over: u32,
}

/// What is drawn of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Past {
    /// Its last measured seconds of load, the latest at the end.
    Seconds(Vec<Second>),
    /// What its last slots took, the latest at the end.
    Slots(Vec<u64>),
}

impl ProgressState {
    /// All that is known.
    pub(crate) fn details(&self) -> Details {
        Details {
            title: self.title(),
            cells: (0..self.cells.len()).map(|index| self.cell(index)).collect(),
            current: self.current,
            sentences: self.sentences.iter().cloned().collect(),
            errors: self.errors,
            slots_over: self.slots_over,
        }
    }

    /// The cell that is being measured, or was last, and the last of all.
    pub(crate) const fn current_and_last(&self) -> (usize, usize) {
        (self.current, self.cells.len().saturating_sub(1))
    }

    /// What there is to draw of a cell.
    pub(crate) fn past(&self, cell: usize) -> Past {
        match self.cells.get(cell) {
            Some(cell) if cell.is_timed => Past::Slots(cell.slots_ns.iter().copied().collect()),
            Some(cell) => Past::Seconds(cell.seconds.iter().copied().collect()),
            None => Past::Seconds(Vec::new()),
        }
    }

    fn title(&self) -> String {
        let mut targets: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !targets.contains(&cell.target.as_str()) {
                targets.push(&cell.target);
            }
        }
        let targets = targets.join(", ");
        let title = match &self.name {
            Some(name) => format!("{name}: {targets}"),
            None => targets,
        };
        printable::line(&title).into_owned()
    }

    fn cell(&self, index: usize) -> CellShown {
        let cell = &self.cells[index];
        let is_measured = matches!(&self.activity, Activity::Slots { cells, .. } if cells.contains(&index))
            || matches!(&self.activity, Activity::SettingUp(cell) if *cell == index);
        let rounds = cell.rounds.map_or_else(String::new, |rounds| format!("/{rounds}"));
        CellShown {
            label: cell.label.clone(),
            is_measured,
            slots: format!("{}{rounds}", cell.slots_done),
            latest: cell.latest,
            took_ns: cell.slots_ns.back().copied(),
            is_timed: cell.is_timed,
            precision: cell.precision_in_words(),
            word: cell.word(is_measured),
        }
    }

    /// Takes in what counts of a visit that is over.
    pub(super) fn count(&mut self, slot: &SlotResult) {
        let Some(cell) = self.cells.get_mut(slot.cell) else { return };
        let errors: u64 = slot.errors.iter().map(|error| error.count).sum();
        cell.errors += errors;
        self.errors += errors;
        self.slots_over += 1;
        cell.latest = Rates::of_slot(slot).or_else(|| cell.seconds.back().map(|second| second.rates));
        let took_ns = match &slot.application {
            Some(iteration) => iteration.elapsed_ns,
            None => slot.phases.iter().filter(|phase| !phase.is_part).map(|phase| phase.elapsed_ns).sum(),
        };
        keep(&mut cell.slots_ns, SECONDS_KEPT, (cell.is_timed && took_ns > 0).then_some(took_ns));
        if slot.purpose != SlotPurpose::Bookend && !slot.is_cut {
            cell.slots_done += 1;
        }
    }

    /// Keeps what was found of a cell.
    pub(super) fn find(&mut self, cell: usize, finding: &Finding) {
        let of = self.cells.get(cell).map_or_else(String::new, |cell| format!("{}: ", cell.label));
        let severity = match finding.severity {
            Severity::Info => "",
            Severity::Warning => "warning: ",
            Severity::Error => "error: ",
        };
        self.say(&format!("{severity}{of}{}", finding.text));
    }

    /// Keeps a sentence.
    pub(crate) fn say(&mut self, text: &str) {
        let text = printable::line(text).into_owned();
        keep(&mut self.sentences, SENTENCES_KEPT, Some(text));
    }
}

impl CellProgress {
    fn precision_in_words(&self) -> String {
        let wanted = self.precision_wanted.map(|wanted| format!(" of {}", numbers::percent(wanted)));
        self.precision.map_or_else(String::new, |precision| {
            format!("+-{}{}", numbers::percent(precision), wanted.unwrap_or_default())
        })
    }

    fn word(&self, is_measured: bool) -> &'static str {
        let is_over = self.is_done || self.rounds.is_some() && self.rounds_left == 0 && self.slots_done > 0;
        match self.verdict {
            Some(verdict) => verdict.as_str(),
            None if is_measured && self.is_ramp => "ramp",
            None if is_measured => "running",
            None if self.errors > 0 && !self.keep_going => "errors",
            None if is_over => "done",
            None => "pending",
        }
    }
}
