//! The same load over runs: where its rate changed beyond chance, and what else changed there.
//!
//! Each run is compared with the first one of its stretch, by the rules of comparisons: how visits scatter tells how
//! sure a rate is. A change begins a new stretch. Which runs are compared depends on what was found before, so chance
//! is kept in check by Bonferroni's rule over all comparisons that a page may show.

use plimsoll_measure::compare::{
    conclusion::{Conclusion, MARGIN},
    ratio::Ratio,
    unpaired::LogMean,
};
use plimsoll_record::{
    figures::{Figures, Operation},
    numbers,
    record::{Cell, Kind, Record},
};
use uuid::Uuid;

use super::{Change, Trend, TrendPoint, run_names};
use crate::{
    comparison::{Difference, LEVEL, environments, evidence, plans, words},
    printable, rows,
};

/// Rates that differ by at most this share from a half or a double are called so.
const HALF_TOLERANCE: f64 = 0.04;

/// The trends of all loads that several runs measured: of the same target and machine with the same plan. Results of
/// another program whose time nobody told have no place in one.
pub(crate) fn of(records: &[&Record], baselines: &[(String, Uuid)]) -> Vec<Trend> {
    let lines = lines(records);
    let series: Vec<Series<'_>> = (0..lines.len()).flat_map(|line| series(&lines, line)).collect();
    let compared = |series: &Series<'_>| series.points.iter().filter(|point| point.rate.is_ok()).count();
    let comparisons: usize = series.iter().map(|series| compared(series).saturating_sub(1)).sum();
    let level = LEVEL / comparisons.max(1) as f64;
    let mut trends: Vec<Trend> = series.iter().map(|series| trend(series, level, records)).collect();
    for point in trends.iter_mut().flat_map(|trend| &mut trend.points) {
        let of_run = baselines.iter().filter(|(_, run)| *run == point.run);
        point.baselines = of_run.map(|(name, _)| printable::line(name).into_owned()).collect();
    }
    trends
}

/// A cell of a run.
#[derive(Clone, Copy)]
struct Place<'a> {
    record: &'a Record,
    cell: &'a Cell,
}

impl<'a> Place<'a> {
    /// Where its target is, where what was typed does not say it.
    fn of_target(self) -> Option<&'a str> {
        self.record.environment.place_of(&self.cell.target)
    }
}

/// The cells of one load, the oldest first, at most one of each run.
struct Line<'a> {
    machine: Option<String>,
    places: Vec<Place<'a>>,
}

impl Line<'_> {
    /// Whether a cell of a later run belongs to it.
    fn takes(&self, place: Place<'_>, machine: Option<&String>) -> bool {
        let [Some(first), Some(last)] = [self.places.first(), self.places.last()] else { return false };
        let is_machine = self.machine.as_ref().zip(machine).is_none_or(|(known, machine)| known == machine);
        let is_there = first.of_target().zip(place.of_target()).is_none_or(|(known, place)| known == place);
        is_machine
            && is_there
            && last.record.id != place.record.id
            && (first.cell.kind, &first.cell.target, &first.cell.workload)
                == (place.cell.kind, &place.cell.target, &place.cell.workload)
            && first.cell.told.is_some() == place.cell.told.is_some()
            && plans::difference_of_records(first.record, place.record).is_none()
            && plans::differences([first.record, place.record], [first.cell, place.cell]).is_empty()
    }
}

fn lines<'a>(records: &[&'a Record]) -> Vec<Line<'a>> {
    let has_time = |record: &&&Record| record.import.as_ref().is_none_or(|import| import.at != record.started);
    let mut records: Vec<&Record> = records.iter().filter(has_time).copied().collect();
    records.sort_by_key(|record| (record.started, record.id));
    records.dedup_by_key(|record| record.id);
    let mut lines: Vec<Line<'a>> = Vec::new();
    for record in records {
        let machine = environments::machine(record);
        for cell in record.cells.iter().filter(|cell| cell.word_of_numbers().is_some()) {
            let place = Place { record, cell };
            match lines.iter_mut().find(|line| line.takes(place, machine.as_ref())) {
                Some(line) => {
                    line.places.push(place);
                    line.machine = line.machine.take().or_else(|| machine.clone());
                }
                None => lines.push(Line { machine: machine.clone(), places: vec![place] }),
            }
        }
    }
    lines.retain(|line| line.places.len() > 1);
    lines
}

/// One kind of operation of a line.
struct Series<'a> {
    operation: Operation,
    word: &'static str,
    /// What it is, for a title: `randread 4KiB QD32 on /mnt/data`.
    subject: String,
    /// What is counted.
    unit: &'static str,
    points: Vec<Point<'a>>,
}

/// A run of it.
struct Point<'a> {
    place: Place<'a>,
    iops: f64,
    figures: Figures<'a>,
    /// How sure its rate is, or why that is not known.
    rate: Result<LogMean, &'static str>,
}

fn series<'a>(lines: &[Line<'a>], line: usize) -> Vec<Series<'a>> {
    let places = &lines[line].places;
    let cell = places[0].cell;
    let operations = rows::operations(cell);
    let is_one = operations.len() == 1;
    let of = |(operation, word): (Operation, &'static str)| {
        let point = |place: &Place<'a>| {
            let figures = place.cell.figures(operation)?;
            let rate = evidence::of_rate(place.cell, operation);
            Some(Point { place: *place, iops: figures.iops?, figures, rate })
        };
        let points: Vec<Point<'a>> = places.iter().filter_map(point).collect();
        let subject = subject(lines, line, if is_one { None } else { Some(word) });
        (points.len() > 1).then(|| Series { operation, word, subject, unit: unit(cell), points })
    };
    operations.into_iter().filter_map(of).collect()
}

const fn unit(cell: &Cell) -> &'static str {
    match cell.kind {
        Kind::Files => "files/s",
        Kind::Application => "operations/s",
        Kind::Blocks | Kind::Lifecycle => "IOPS",
    }
}

/// What a line is about, and how it differs from another one that is called the same.
fn subject(lines: &[Line<'_>], line: usize, operation: Option<&str>) -> String {
    let own = &lines[line];
    let place = own.places[0];
    let Place { record, cell } = place;
    let is_namesake = |other: &&Line<'_>| {
        let others = other.places[0].cell;
        !std::ptr::eq(*other, own) && (&others.target, &others.workload) == (&cell.target, &cell.workload)
    };
    let mut apart = Vec::new();
    if let Some(other) = lines.iter().find(is_namesake) {
        apart.extend(own.machine.clone().filter(|_| own.machine != other.machine));
        apart.extend(place.of_target().filter(|own| Some(*own) != other.places[0].of_target()).map(str::to_owned));
        let other = other.places[0];
        let of_plans = plans::differences([other.record, record], [other.cell, cell]);
        let differences = of_plans.into_iter().chain(plans::difference_of_records(other.record, record));
        apart.extend(differences.map(|(_, Difference { name, value, .. })| format!("{name} {value}")));
    }
    let operation = operation.map_or_else(String::new, |word| format!(" {word}"));
    let apart = if apart.is_empty() { String::new() } else { format!(" ({})", apart.join(", ")) };
    printable::line(&format!("{}{operation} on {}{apart}", cell.workload, cell.target)).into_owned()
}

/// What became of the rate in a run.
enum Step {
    /// No difference was found.
    Same,
    /// It is another one.
    Changed(Found),
    /// It says too little.
    Refused(&'static str),
}

/// A change that was found.
#[derive(Clone, Copy)]
enum Found {
    Ratio(Ratio),
    Stopped,
    Resumed,
}

fn step(first: &Point<'_>, point: &Point<'_>, operation: Operation, level: f64) -> Step {
    let cells = [first.place.cell, point.place.cell];
    if is_idle(first) && is_idle(point) {
        return Step::Same;
    }
    if evidence::has_stopped(cells, operation) {
        return Step::Changed(Found::Stopped);
    }
    if evidence::has_stopped([cells[1], cells[0]], operation) {
        return Step::Changed(Found::Resumed);
    }
    match (&first.rate, &point.rate) {
        (Ok(one), Ok(other)) => {
            let ratio = evidence::ratio(one, other);
            let is_beyond_chance = ratio.p_value <= level && Conclusion::of(&ratio, MARGIN).is_difference();
            if is_beyond_chance { Step::Changed(Found::Ratio(ratio)) } else { Step::Same }
        }
        (Err(reason), _) | (_, Err(reason)) => Step::Refused(reason),
    }
}

fn is_idle(point: &Point<'_>) -> bool {
    point.iops <= 0.0
}

/// The walk through the runs of a series.
#[derive(Default)]
struct Walk {
    /// The first run of each later stretch, the one that it was compared with, and what was found.
    changes: Vec<(usize, usize, Found)>,
    /// Why runs were not compared.
    refused: Vec<&'static str>,
}

impl Walk {
    /// How many of so many runs were compared with others; one alone is compared with nothing.
    const fn compared(&self, runs: usize) -> usize {
        let fit = runs - self.refused.len();
        if fit > 1 { fit } else { 0 }
    }
}

fn walk(series: &Series<'_>, level: f64) -> Walk {
    let mut walk = Walk::default();
    let mut reference = None;
    for (at, point) in series.points.iter().enumerate() {
        let Some(first) = reference else {
            match point.rate {
                Err(reason) if !is_idle(point) => walk.refused.push(reason),
                _ => reference = Some(at),
            }
            continue;
        };
        match step(&series.points[first], point, series.operation, level) {
            Step::Same => {}
            Step::Refused(reason) => walk.refused.push(reason),
            Step::Changed(found) => {
                walk.changes.push((at, first, found));
                reference = Some(at);
            }
        }
    }
    walk
}

fn trend(series: &Series<'_>, level: f64, records: &[&Record]) -> Trend {
    let Series { points, word, .. } = series;
    let walk = walk(series, level);
    let Cell { target, workload, .. } = points[0].place.cell;
    let of_last = walk.changes.last().map_or(0, |(at, ..)| *at);
    Trend {
        title: title(series, &walk, records),
        target: target.clone(),
        workload: workload.clone(),
        operation: (*word).to_owned(),
        unit: series.unit,
        compared: walk.compared(points.len()),
        points: (0..points.len()).map(|at| shown(points, at)).collect(),
        changes: walk.changes.iter().map(|change| told(series, *change, records)).collect(),
        band: band(&points[of_last..]),
    }
}

fn shown(points: &[Point<'_>], at: usize) -> TrendPoint {
    let point = &points[at];
    let Place { record, cell } = point.place;
    let before = at.checked_sub(1).map(|before| points[before].place.record);
    let differences = before.map_or_else(Vec::new, |before| environments::over_time(before, record, &cell.target));
    let text = |Difference { name, reference, value }: &Difference| format!("{name} {reference} -> {value}");
    TrendPoint {
        run: record.id,
        started: record.started,
        iops: point.iops,
        interval: interval(point),
        p99_us: point.figures.latency_ns.p99.map(|ns| ns as f64 / 1e3),
        word: cell.word().to_string(),
        baselines: Vec::new(),
        environment: differences.iter().map(text).collect(),
    }
}

fn interval(point: &Point<'_>) -> Option<[f64; 2]> {
    let measured = point.figures.measured?;
    Some([measured.iops_low?, measured.iops_high?])
}

/// The extremes of intervals, or of rates where there are none.
fn band(points: &[Point<'_>]) -> Option<[f64; 2]> {
    let ends = points.iter().map(|point| interval(point).unwrap_or([point.iops; 2]));
    ends.reduce(|one, other| [one[0].min(other[0]), one[1].max(other[1])])
}

/// A change in a sentence: `7,664 IOPS -> 3,812: 0.50x [0.48, 0.52] since run nightly`.
fn told(series: &Series<'_>, (at, first, found): (usize, usize, Found), records: &[&Record]) -> Change {
    let [before, after] = [first, at].map(|at| &series.points[at]);
    let cell = after.place.cell;
    let word = cell.word();
    let doubt = if word.is_doubtful() { format!(" ({word})") } else { String::new() };
    let how = match found {
        Found::Ratio(ratio) => words::change(&ratio),
        Found::Stopped => "completed nothing".to_owned(),
        Found::Resumed => "completes operations again".to_owned(),
    };
    let ratio = match found {
        Found::Ratio(ratio) => Some(ratio),
        Found::Stopped | Found::Resumed => None,
    };
    let rates = [before, after].map(|point| numbers::iops(point.iops));
    let run = run_names::of(after.place.record, records);
    Change {
        at,
        ratio: ratio.map(|ratio| ratio.ratio),
        interval: ratio.map(|ratio| [ratio.low, ratio.high]),
        text: format!("{} {} -> {}: {how} since run {run}{doubt}", rates[0], series.unit, rates[1]),
    }
}

fn title(series: &Series<'_>, walk: &Walk, records: &[&Record]) -> String {
    let runs = |count: usize| format!("{} {}", numbers::count(count as u64), if count == 1 { "run" } else { "runs" });
    let all = runs(series.points.len());
    let compared = walk.compared(series.points.len());
    let text = match (walk.changes.as_slice(), walk.refused.first()) {
        ([], Some(reason)) if compared < 2 => format!("{all}, not compared: {reason}"),
        ([], None) => format!("no change over {all}"),
        ([], Some(reason)) => {
            format!("no change over {}; {} not compared: {reason}", runs(compared), walk.refused.len())
        }
        (changes @ [.., (at, _, found)], _) => {
            let run = run_names::of(series.points[*at].place.record, records);
            match changes.len() {
                1 => format!("{} with run {run}", verb(*found)),
                count => format!("changed {count} times over {all}, at last with run {run}: {}", verb(*found)),
            }
        }
    };
    format!("{}: {text}", series.subject)
}

/// What a rate did: `fell by half`, `rose by 12 % [9, 15]`, `fell to 0.24x [0.23, 0.25]`.
fn verb(found: Found) -> String {
    let ratio = match found {
        Found::Stopped => return "nothing completed".to_owned(),
        Found::Resumed => return "operations complete again".to_owned(),
        Found::Ratio(ratio) => ratio,
    };
    let is_about = |value: f64| (ratio.ratio / value - 1.0).abs() <= HALF_TOLERANCE;
    if is_about(0.5) {
        return "fell by half".to_owned();
    }
    if is_about(2.0) {
        return "doubled".to_owned();
    }
    let direction = if ratio.ratio < 1.0 { "fell" } else { "rose" };
    // A share is the same either way, a factor says where the rate is now.
    match words::change(&ratio) {
        factor if factor.contains('x') => format!("{direction} to {factor}"),
        _ => format!("{direction} by {}", words::magnitude(&ratio)),
    }
}

#[cfg(test)]
mod tests;
