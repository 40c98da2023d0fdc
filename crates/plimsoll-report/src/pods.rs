//! What several pods did at the same time, each for itself: a row for each pod and cell, the slowest first.

use std::collections::BTreeSet;

use plimsoll_measure::detect::fairness::jain_index;
use plimsoll_record::{
    numbers,
    pods::{Pod, PodCell, PodDirection, Pods, Start},
    record::Record,
};

use crate::{
    grid::{Column, Grid, Side},
    printable,
};

/// Rows that a cell gets: whoever looks for one that is slow looks at the slowest.
const ROWS_MAX: usize = 10;

/// What stands where nothing was measured.
const ABSENT: &str = "-";

/// What a pod did in a cell.
struct Row<'a> {
    cell: usize,
    pod: &'a Pod,
    did: &'a PodCell,
}

/// The table, when the record is about several pods.
pub(crate) fn grid(record: &Record) -> Option<Grid> {
    let pods = record.pods.as_ref()?;
    let rows: Vec<Row<'_>> = (0..record.cells.len()).flat_map(|cell| slowest(pods, cell)).collect();
    if rows.is_empty() {
        return None;
    }
    let text = |of: &dyn Fn(&Row<'_>) -> String| rows.iter().map(of).collect::<Vec<_>>();
    let line = |text: &str| printable::line(text).into_owned();
    let node = |row: &Row<'_>| row.pod.node.as_deref().map_or_else(|| ABSENT.to_owned(), line);
    let mut columns = vec![
        Column::new("target", Side::Left, 2, text(&|row| line(&record.cells[row.cell].target))),
        Column::new("workload", Side::Left, 1, text(&|row| line(&record.cells[row.cell].workload))),
        Column::new("node", Side::Left, 0, text(&node)),
        Column::new("pod", Side::Left, 4, text(&|row| line(&row.pod.name))),
    ];
    type Of = fn(&PodCell) -> Option<PodDirection>;
    let directions: [(&str, Of); 2] = [("read", |did| did.read), ("write", |did| did.write)];
    for (name, of) in directions {
        if rows.iter().any(|row| of(row.did).is_some()) {
            let show = |show: &dyn Fn(PodDirection) -> String| {
                text(&|row| of(row.did).map_or_else(|| ABSENT.to_owned(), show))
            };
            let latency = |ns: Option<u64>| numbers::or_absent(ns, |ns| numbers::latency(ns as f64));
            columns.push(Column::new(format!("{name} IOPS"), Side::Right, 0, show(&|did| numbers::iops(did.iops))));
            let throughput = show(&|did| numbers::throughput(did.bytes_per_second));
            columns.push(Column::new(format!("{name} MB/s"), Side::Right, 3, throughput));
            columns.push(Column::new("p50", Side::Right, 3, show(&|did| latency(did.p50_ns))));
            columns.push(Column::new("p99", Side::Right, 1, show(&|did| latency(did.p99_ns))));
        }
    }
    Some(Grid::new(columns))
}

/// The slowest pods in a cell, the slowest first.
fn slowest(pods: &Pods, cell: usize) -> Vec<Row<'_>> {
    let did = |pod: &'_ Pod| pod.cells.get(cell).and_then(PodCell::iops);
    let mut rows: Vec<(f64, &Pod)> = pods.pods.iter().filter_map(|pod| Some((did(pod)?, pod))).collect();
    rows.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    rows.truncate(ROWS_MAX);
    rows.into_iter().map(|(_, pod)| Row { cell, pod, did: &pod.cells[cell] }).collect()
}

/// How far the pods measured together, and how evenly: sentences, each with whether something is wrong with numbers.
pub(crate) fn notes(record: &Record) -> Vec<(bool, String)> {
    let Some(pods) = &record.pods else { return Vec::new() };
    let mut notes = Vec::new();
    let nodes: BTreeSet<_> = pods.pods.iter().filter_map(|pod| pod.node.as_deref()).collect();
    if pods.take_turns {
        notes.push((
            false,
            format!(
                "{} pods took turns: each measured every target, and another one than the others at the same time; \
                 rates are those of one volume, over all nodes",
                numbers::count(pods.pods.len() as u64),
            ),
        ));
    }
    let skew_ns = pods.visits.iter().map(|visit| visit.start_skew_ns).max();
    let overlap = pods.visits.iter().map(|visit| visit.overlap).min_by(f64::total_cmp);
    if let (Some(skew_ns), Some(overlap)) = (skew_ns, overlap) {
        let told = match pods.start {
            Some(Start::Watched) => " when all were ready",
            Some(Start::Time) => " at a time that was said before",
            None => "",
        };
        let on_nodes = match nodes.len() {
            0 => String::new(),
            1 => " on one node".to_owned(),
            count => format!(" on {} nodes", numbers::count(count as u64)),
        };
        let with_files = if pods.shared_files == Some(true) { ", with the same files," } else { "" };
        notes.push((
            pods.visits.iter().any(|visit| !visit.is_common()),
            format!(
                "{} pods{on_nodes}{with_files} began{told}, within {}, and measured together for {} of the time: rates are sums, \
                 latencies those of all operations",
                numbers::count(pods.pods.len() as u64),
                numbers::duration(skew_ns),
                numbers::percent(overlap),
            ),
        ));
    }
    for (index, cell) in record.cells.iter().enumerate() {
        let rates: Vec<f64> = pods.pods.iter().filter_map(|pod| pod.cells.get(index)?.iops()).collect();
        if rates.len() > ROWS_MAX {
            let hidden = numbers::count((rates.len() - ROWS_MAX) as u64);
            let what = [&cell.target, &cell.workload].map(|name| printable::line(name)).join(" ");
            notes.push((false, format!("{what}: {hidden} faster pods are not shown; --json has all of them")));
        }
        if let Some(fairness) = jain_index(&rates).filter(|fairness| *fairness < UNEVEN) {
            let what = [&cell.target, &cell.workload].map(|name| printable::line(name)).join(" ");
            let fairness = numbers::decimal(fairness, 2);
            notes
                .push((false, format!("{what}: pods did not get the same (fairness {fairness}, where 1 is the same)")));
        }
    }
    notes
}

/// Below this, rates differ by more than chance has them differ.
const UNEVEN: f64 = 0.98;

#[cfg(test)]
mod tests {
    use plimsoll_record::{pods::SharedVisit, record::Outcome};

    use super::*;
    use crate::test_records::{Story, workloads};

    /// Pods with these rates in the first cell.
    fn record(rates: &[f64], overlap: f64) -> Record {
        let pod = |(index, iops): (usize, &f64)| {
            let read = PodDirection {
                operations: 1,
                timed: 1,
                iops: *iops,
                bytes_per_second: 4096.0 * iops,
                p50_ns: Some(1_000_000),
                p99_ns: None,
            };
            let cells = vec![PodCell { read: Some(read), write: None, errors: 0, verdict: None }];
            Pod { name: format!("pod-{index}"), node: Some(format!("node-{}", index % 2)), cells }
        };
        let visits = vec![SharedVisit { cell: 0, round: 0, start_skew_ns: 2_000_000, overlap }];
        let pods = rates.iter().enumerate().map(pod).collect();
        let story = Story::new(&["slow"], &workloads("canonical")[..1]);
        Record {
            pods: Some(Pods {
                start: Some(Start::Watched),
                take_turns: false,
                shared_files: Some(false),
                pods,
                visits,
            }),
            ..story.end(1_000_000_000, Outcome::Complete)
        }
    }

    #[test]
    fn the_slowest_come_first_and_who_is_not_shown_is_counted() {
        let rates: Vec<f64> = (1..=13).rev().map(|rate| f64::from(rate) * 100.0).collect();
        let record = record(&rates, 0.99);
        let text = grid(&record).unwrap().text();
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(rows.len(), ROWS_MAX, "{text}");
        assert!(rows[0].contains("pod-12") && rows[0].contains("100") && rows[9].contains("1,000"), "{text}");
        let notes = notes(&record);
        assert!(notes.iter().any(|(_, note)| note.contains("3 faster pods are not shown")), "{notes:?}");
        assert!(notes.iter().any(|(_, note)| note.contains("pods did not get the same")), "{notes:?}");
        assert!(notes[0].1.starts_with("13 pods on 2 nodes began when all were ready, within 2.00 ms"), "{notes:?}");
    }

    #[test]
    fn numbers_of_pods_that_measured_apart_are_doubtful() {
        assert!(!notes(&record(&[5.0, 5.0], 0.8))[0].0);
        assert!(notes(&record(&[5.0, 5.0], 0.79))[0].0);
        assert!(notes(&Record { pods: None, ..record(&[5.0], 1.0) }).is_empty());
    }
}
