//! Which cells of two sides belong together.

use plimsoll_record::record::{Cell, Record};

use super::plans;

/// Cells that belong together, and those that have no partner.
#[derive(Debug, Default)]
pub(super) struct Matches<'a> {
    pub(super) pairs: Vec<[&'a Cell; 2]>,
    pub(super) only_first: Vec<&'a Cell>,
    pub(super) only_second: Vec<&'a Cell>,
}

/// Matches cells by their workloads' names; what is left, by doing exactly the same; and if one of each is left then,
/// these two, so that what differs between them can be said.
pub(super) fn matches<'a>(records: [&Record; 2], first: &[&'a Cell], second: &[&'a Cell]) -> Matches<'a> {
    let mut matches = Matches { pairs: Vec::new(), only_first: first.to_vec(), only_second: second.to_vec() };
    matches.pair_up(|one, other| one.workload == other.workload);
    matches.pair_up(|one, other| plans::are_same(records, [one, other]));
    if matches.only_first.len() == 1 && matches.only_second.len() == 1 {
        matches.pair_up(|one, other| one.kind == other.kind);
    }
    let place = |pair: &[&Cell; 2]| first.iter().position(|cell| std::ptr::eq(*cell, pair[0]));
    matches.pairs.sort_by_key(place);
    matches
}

impl Matches<'_> {
    fn pair_up(&mut self, belong: impl Fn(&Cell, &Cell) -> bool) {
        let mut left = Vec::new();
        for one in std::mem::take(&mut self.only_first) {
            match self.only_second.iter().position(|other| belong(one, other)) {
                Some(place) => self.pairs.push([one, self.only_second.remove(place)]),
                None => left.push(one),
            }
        }
        self.only_first = left;
    }
}
