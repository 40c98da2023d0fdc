//! Applications, iteration by iteration, whether plimsoll timed them or another program did.

use plimsoll_record::{
    application::{ApplicationResult, Iteration, OwnFigure, Spread},
    numbers::{self, ABSENT},
    record::{Cell, Record},
    told::Duration,
};

use crate::{
    facts,
    grid::{Column, Grid, Rank, Side},
};

/// More iterations of a cell than this are told by their spread alone.
const SHOWN_MAX: usize = 30;

/// One iteration, or a number about all.
struct Line {
    name: String,
    label: String,
    real: String,
    user: String,
    system: String,
    servers: Option<String>,
    disk: Option<String>,
    read: Option<String>,
    written: Option<String>,
    settle: Option<String>,
    /// A rate, and what it counts.
    rate: Option<(String, String)>,
}

/// What not all lines have.
type Optional = fn(&Line) -> &Option<String>;

/// A number about all iterations.
struct Number {
    label: &'static str,
    of: fn(&Spread) -> f64,
}

/// What is told of all iterations together.
const NUMBERS: [Number; 4] = [
    Number { label: "min", of: |spread| spread.min },
    Number { label: "mean", of: |spread| spread.mean },
    Number { label: "median", of: |spread| spread.median },
    Number { label: "max", of: |spread| spread.max },
];

/// A table of all iterations of a record; none where nothing was repeated.
pub(crate) fn grid(record: &Record) -> Option<Grid> {
    let targets = facts::targets(record);
    let lines: Vec<Line> = record
        .cells
        .iter()
        .filter(|cell| cell.application.is_some() || cell.durations().len() > 1)
        .flat_map(|cell| {
            let index = targets.iter().position(|target| *target == cell.target).unwrap_or(0);
            let name = if targets.len() > 1 {
                format!("{} {}", facts::letter(index), cell.workload)
            } else {
                cell.workload.clone()
            };
            lines_of(cell, &name)
        })
        .collect();
    if lines.is_empty() {
        return None;
    }
    let rates = || lines.iter().filter_map(|line| line.rate.as_ref());
    let unit = rates().next().map_or("", |(_, unit)| unit);
    let is_one = rates().all(|(_, other)| other == unit);
    let rate_head = if is_one { unit } else { "rate" };
    let rate = |line: &Line| match &line.rate {
        Some((value, _)) if is_one || value == ABSENT => value.clone(),
        Some((value, unit)) => format!("{value} {unit}"),
        None => String::new(),
    };
    let text = |of: fn(&Line) -> &String| lines.iter().map(of).cloned().collect::<Vec<_>>();
    let mut columns = vec![
        Column::new("application", Side::Left, 0, text(|line| &line.name)),
        Column::new("iteration", Side::Right, 0, text(|line| &line.label)),
        Column::new("real", Side::Right, 0, text(|line| &line.real)),
        Column::new("user", Side::Right, 1, text(|line| &line.user)),
        Column::new("system", Side::Right, 1, text(|line| &line.system)),
    ];
    let optional: [(&str, Rank, Optional); 5] = [
        ("servers", 1, |line| &line.servers),
        ("disk", 1, |line| &line.disk),
        ("read", 2, |line| &line.read),
        ("written", 2, |line| &line.written),
        ("settled in", 3, |line| &line.settle),
    ];
    for (head, rank, of) in optional {
        if lines.iter().any(|line| of(line).is_some()) {
            let values = lines.iter().map(|line| of(line).clone().unwrap_or_default()).collect();
            columns.push(Column::new(head, Side::Right, rank, values));
        }
    }
    if !unit.is_empty() {
        columns.push(Column::new(rate_head, Side::Right, 0, lines.iter().map(rate).collect()));
    }
    Some(Grid::new(columns))
}

fn lines_of(cell: &Cell, name: &str) -> Vec<Line> {
    let durations = cell.durations();
    let mut lines: Vec<Line> = match &cell.application {
        Some(application) if application.iterations.len() <= SHOWN_MAX => {
            application.iterations.iter().map(of_iteration).collect()
        }
        None if durations.len() <= SHOWN_MAX => {
            durations.iter().enumerate().map(|(index, duration)| of_duration(index, duration)).collect()
        }
        _ => Vec::new(),
    };
    lines.extend(of_all(cell, &durations));
    if let Some(first) = lines.first_mut() {
        name.clone_into(&mut first.name);
    }
    lines
}

fn of_duration(index: usize, duration: &Duration) -> Line {
    Line {
        name: String::new(),
        label: (index + 1).to_string(),
        real: numbers::elapsed(duration.elapsed_ns),
        user: numbers::elapsed(duration.user_ns),
        system: numbers::elapsed(duration.system_ns),
        servers: None,
        disk: None,
        read: None,
        written: None,
        settle: None,
        rate: None,
    }
}

fn of_iteration(iteration: &Iteration) -> Line {
    let bytes = |bytes: Option<u64>| Some(numbers::or_absent(bytes, numbers::bytes));
    let label = match (&iteration.invalid, iteration.counted) {
        (Some(_), _) => "failed",
        (None, false) => "warm-up",
        (None, true) => "",
    };
    let rate = iteration.rate().map(|rate| (numbers::iops(rate.value), counted(&rate.name, &rate.unit)));
    Line {
        label: format!("{label} {}", iteration.round + 1).trim_start().to_owned(),
        servers: Some(iteration.server_user_ns + iteration.server_system_ns).filter(|ns| *ns > 0).map(numbers::elapsed),
        disk: Some(numbers::or_absent(iteration.disk_share(), numbers::percent)),
        read: bytes(iteration.read_bytes),
        written: bytes(iteration.written_bytes),
        settle: Some(numbers::elapsed(iteration.settle_ns)),
        rate,
        ..times(iteration)
    }
}

/// More figures of a cell than these are in its record alone.
const FIGURES_MAX: usize = 8;

/// What a command told of itself beside the rate, which is in the table.
pub(crate) fn own_figures(cell: &Cell) -> Option<String> {
    let others = |iteration: &Iteration| -> Vec<OwnFigure> {
        let rate = iteration.rate();
        iteration.figures.iter().filter(|figure| Some(*figure) != rate).cloned().collect()
    };
    let all: Vec<OwnFigure> = cell.application.iter().flat_map(ApplicationResult::counted).flat_map(others).collect();
    let mut told: Vec<String> = Vec::new();
    for (index, OwnFigure { name, unit, .. }) in all.iter().enumerate() {
        let is_it = |other: &&OwnFigure| other.name == *name && other.unit == *unit;
        if all[..index].iter().any(|other| is_it(&other)) {
            continue;
        }
        let spread = Spread::of(all.iter().filter(is_it).map(|figure| figure.value))?;
        let value = |value: f64| format!("{}{}", if value < 0.0 { "-" } else { "" }, numbers::iops(value.abs()));
        told.push(format!("{name} {} {unit}", numbers::range(spread.min, spread.max, value)).trim_end().to_owned());
    }
    let more = told.len().saturating_sub(FIGURES_MAX);
    told.truncate(FIGURES_MAX);
    let more = if more > 0 { format!("; {more} more are in the record") } else { String::new() };
    (!told.is_empty()).then(|| format!("it told of itself: {}{more}", told.join(", ")))
}

/// What a rate counts: `commits/s`, or `MB/s` where the unit says it.
fn counted(name: &str, unit: &str) -> String {
    if unit == "/s" { format!("{name}{unit}") } else { unit.to_owned() }
}

/// The times of an iteration, whose command may never have run.
fn times(iteration: &Iteration) -> Line {
    let line = of_duration(0, &iteration.duration());
    if iteration.elapsed_ns > 0 {
        return line;
    }
    let absent = || ABSENT.to_owned();
    Line { real: absent(), user: absent(), system: absent(), ..line }
}

/// What is told of all iterations that count.
fn of_all(cell: &Cell, durations: &[Duration]) -> Vec<Line> {
    let spread = |of: fn(&Duration) -> u64| Spread::of(durations.iter().map(|duration| of(duration) as f64));
    let (Some(real), Some(user), Some(system)) =
        (spread(|of| of.elapsed_ns), spread(|of| of.user_ns), spread(|of| of.system_ns))
    else {
        return Vec::new();
    };
    let rate = cell.application.as_ref().and_then(|application| application.rate.as_ref());
    let line = |label: &str, real: String, user: String, system: String, rate: Option<(String, String)>| Line {
        label: label.to_owned(),
        real,
        user,
        system,
        rate,
        ..of_duration(0, &Duration::default())
    };
    let time = |ns: f64| numbers::elapsed(ns.max(0.0) as u64);
    let of_number = |Number { label, of }: &Number| {
        let rate = rate.map(|rate| (numbers::iops(of(&rate.spread)), counted(&rate.name, &rate.unit)));
        line(label, time(of(&real)), time(of(&user)), time(of(&system)), rate)
    };
    let ends = |spread: &Spread, text: fn(f64) -> String| match (spread.low, spread.high) {
        (Some(low), Some(high)) => format!("{} to {}", text(low.max(0.0)), text(high)),
        _ => ABSENT.to_owned(),
    };
    let elapsed: fn(f64) -> String = |ns| numbers::elapsed(ns as u64);
    let rate_ends = rate.map(|rate| (ends(&rate.spread, numbers::iops), counted(&rate.name, &rate.unit)));
    let interval = line("mean, 95 %", ends(&real, elapsed), String::new(), String::new(), rate_ends);
    NUMBERS.iter().map(of_number).chain([interval]).collect()
}
