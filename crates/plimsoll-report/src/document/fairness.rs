//! What each of several workers or threads of a cell did.

use plimsoll_record::{numbers, record::Cell, told::Measured};

use super::{Fairness, rounded};

/// Up to so many times as much as the slowest is nearly the same.
const EVEN: f64 = 1.1;

/// What each did; `None` where there is but one, or nobody tells.
pub(super) fn of(cell: &Cell) -> Option<Fairness> {
    let (of, unit, values) = told(cell).unwrap_or_else(|| ("worker", "IOPS", cell.worker_iops()));
    let (least, most) = values
        .iter()
        .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), value| (least.min(*value), most.max(*value)));
    if values.len() < 2 || most <= 0.0 {
        return None;
    }
    let count = values.len();
    let title = match most / least {
        ratio if !ratio.is_finite() => {
            let idle = match values.iter().filter(|value| **value <= 0.0).count() {
                1 => "one".to_owned(),
                several => several.to_string(),
            };
            format!("{}: {idle} of {count} {of}s did nothing", cell.workload)
        }
        ratio if ratio <= EVEN => {
            format!("{}: all {count} {of}s did nearly the same ({}x)", cell.workload, numbers::ratio(ratio))
        }
        ratio => format!(
            "{}: the busiest of {count} {of}s did {}x of what the slowest did",
            cell.workload,
            numbers::ratio(ratio)
        ),
    };
    Some(Fairness {
        title,
        of: of.to_owned(),
        unit: unit.to_owned(),
        values: values.into_iter().map(rounded).collect(),
    })
}

fn told(cell: &Cell) -> Option<(&'static str, &'static str, Vec<f64>)> {
    let Measured::Transfers(transfers) = &cell.told.as_ref()?.measured else { return None };
    let directions = [&transfers.total, &transfers.read, &transfers.write].into_iter().flatten();
    let threads = directions.map(|direction| &direction.threads).find(|threads| threads.len() > 1)?;
    let rates: Vec<f64> = threads.iter().filter_map(|thread| thread.iops).collect();
    (rates.len() == threads.len()).then_some(("thread", "IOPS", rates))
}
