//! A record in a few lines of JSON, for where there is no room for more: Kubernetes keeps 4 KiB of what a container
//! says at its end, also when its log is gone.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    pods::PodCell,
    record::{Outcome, Record},
};

/// The most important numbers of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Whose.
    pub id: Uuid,
    /// How it ended.
    pub outcome: Outcome,
    /// Its cells, as many as there is room for.
    pub cells: Vec<CellSummary>,
    /// How many more there were.
    #[serde(default)]
    pub left_out: usize,
}

/// The most important numbers of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    /// The target.
    pub target: String,
    /// The workload.
    pub workload: String,
    /// What was done.
    #[serde(flatten)]
    pub did: PodCell,
}

impl Summary {
    /// Of a record.
    pub fn of(record: &Record) -> Self {
        let cell = |cell: &crate::record::Cell| CellSummary {
            target: cell.target.clone(),
            workload: cell.workload.clone(),
            did: PodCell::of(cell),
        };
        Self { id: record.id, outcome: record.outcome, cells: record.cells.iter().map(cell).collect(), left_out: 0 }
    }

    /// As JSON of no more than so many bytes: cells at the end are left out where there are too many.
    pub fn into_json(mut self, bytes_max: usize) -> String {
        loop {
            let text = serde_json::to_string(&self).expect("summaries have string keys");
            if text.len() <= bytes_max || self.cells.pop().is_none() {
                return text;
            }
            self.left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(cells: usize) -> Summary {
        let did = PodCell { read: None, write: None, errors: 7, verdict: None };
        let cell = |index| CellSummary { target: format!("class-{index}"), workload: "a".repeat(40), did: did.clone() };
        Summary { id: Uuid::nil(), outcome: Outcome::Complete, cells: (0..cells).map(cell).collect(), left_out: 0 }
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        for cells in [0, 1, 10, 1000] {
            let text = summary(cells).into_json(3000);
            assert!(text.len() <= 3000, "{}", text.len());
            let back: Summary = serde_json::from_str(&text).unwrap();
            assert_eq!(back.cells.len() + back.left_out, cells);
            assert_eq!(back.cells, summary(back.cells.len()).cells);
            assert_eq!(back.left_out == 0, cells <= 10);
        }
    }
}
