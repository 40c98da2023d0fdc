//! What several pods did at the same time, each for itself: a row for each pod and cell, the slowest first.

use std::collections::BTreeSet;

use plimsoll_record::{
    numbers,
    pods::{Pod, PodCell, PodDirection, Pods, Start, fairness},
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
    let skew_ns = pods.visits.iter().map(|visit| visit.start_skew_ns).max();
    let overlap = pods.visits.iter().map(|visit| visit.overlap).min_by(f64::total_cmp);
    if let (Some(skew_ns), Some(overlap)) = (skew_ns, overlap) {
        let told = match pods.start {
            Start::Watched => "when all were ready",
            Start::Time => "at a time that was said before",
        };
        let on_nodes = match nodes.len() {
            0 => String::new(),
            1 => " on one node".to_owned(),
            count => format!(" on {} nodes", numbers::count(count as u64)),
        };
        notes.push((
            pods.visits.iter().any(|visit| !visit.is_common()),
            format!(
                "{} pods{on_nodes} began {told}, within {}, and measured together for {} of the time: rates are sums, \
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
        if let Some(fairness) = fairness(&rates).filter(|fairness| *fairness < UNEVEN) {
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
