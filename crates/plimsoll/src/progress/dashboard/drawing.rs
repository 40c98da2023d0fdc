//! What the dashboard looks like. Pure: what is known of a run goes in, and rows of a buffer come out.
//!
//! Places are counted out by hand, because there is one column of them, and what does not fit is left out in an order
//! that is ours. Marks are characters, so that nothing is told by colour alone.

use plimsoll_record::numbers;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
    symbols::bar,
    text::Span,
    widgets::{Sparkline, Widget},
};

use crate::progress::state::{
    Shown,
    details::{CellShown, Details, Past},
    rates::{Rates, Second},
};

/// The least size at which all parts have a place; below it there are only the most important lines.
pub(crate) const LEAST_COLUMNS: u16 = 40;
/// See [`LEAST_COLUMNS`].
pub(crate) const LEAST_ROWS: u16 = 10;

/// From here on parts have a blank row between them.
const ROOMY_ROWS: u16 = 20;
/// Columns that names have at least.
const LEAST_LABEL: u16 = 12;
/// Columns that they have rather than that there is more about each cell, when they are long enough.
const GOOD_LABEL: u16 = 32;
/// How many columns of the table there are rather than that names are shown as a whole.
const NEEDED_COLUMNS: u8 = 3;
/// A chart that is higher shows no more.
const CHART_ROWS_MAX: u16 = 8;
/// Columns of the bar that says how much is done.
const BAR_COLUMNS: u64 = 16;

/// Bars of characters that every terminal has.
const PLAIN_BARS: bar::Set<'_> = bar::Set {
    full: "#",
    seven_eighths: "#",
    three_quarters: "#",
    five_eighths: "=",
    half: "=",
    three_eighths: "=",
    one_quarter: "_",
    one_eighth: "_",
    empty: " ",
};

/// What is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// What there is to show in any form of progress.
    pub(crate) shown: Shown,
    /// What is known of each cell.
    pub(crate) details: Details,
    /// The cell of which there are charts.
    pub(crate) chosen: usize,
    /// Whether somebody chose it; else it is the one that is being measured.
    pub(crate) is_pinned: bool,
    /// What is drawn of it.
    pub(crate) past: Past,
    /// What the keys do.
    pub(crate) keys: &'static str,
    /// Whether colours may be used.
    pub(crate) colour: bool,
    /// Whether only ASCII may be.
    pub(crate) plain: bool,
}

impl Picture {
    /// Fills a buffer that is blank.
    pub(crate) fn draw(&self, buffer: &mut Buffer) {
        let area = buffer.area;
        if area.width < LEAST_COLUMNS || area.height < LEAST_ROWS {
            self.draw_least(buffer);
            return;
        }
        let gap = u16::from(area.height >= ROOMY_ROWS);
        self.draw_head(buffer);
        let room = area.height - 4 - 3 * gap;
        let sentences = self.sentences(area.width, (room / 5).max(1));
        let room = room - sentences.len() as u16;
        // Each of the two charts is a heading and its rows; where there is little room, one is enough.
        let charts = if room >= 8 { 2 } else { 1 };
        let cells = u16::try_from(self.details.cells.len()).unwrap_or(u16::MAX);
        let rows = cells.saturating_add(1).min(room - 2 * charts);
        let chart_rows = ((room - rows) / charts - 1).min(CHART_ROWS_MAX);
        let mut row = 3 + gap;
        self.draw_cells(buffer, Rect { y: row, height: rows, ..area });
        row += rows + gap;
        for index in 0..charts {
            self.draw_chart(buffer, Rect { y: row, height: chart_rows + 1, ..area }, index == 0);
            row += chart_rows + 1;
        }
        row += gap;
        for sentence in &sentences {
            put(buffer, 0, row, area.width, sentence, self.in_colour(Color::Yellow));
            row += 1;
        }
        put(buffer, 0, area.height - 1, area.width, self.keys, Modifier::REVERSED.into());
    }

    /// What fits into the corner of a desk.
    fn draw_least(&self, buffer: &mut Buffer) {
        let lines = [self.shown.phase.clone(), self.shown.times(), self.shown.rates(), self.keys.to_owned()];
        for (row, line) in lines.iter().enumerate().take(usize::from(buffer.area.height)) {
            put(buffer, 0, row as u16, buffer.area.width, line, Style::new());
        }
    }

    fn draw_head(&self, buffer: &mut Buffer) {
        let width = buffer.area.width;
        let bold = Modifier::BOLD.into();
        put(buffer, 0, 0, width, &format!("plimsoll {}", self.details.title), bold);
        let done = (self.shown.done_per_mille() * BAR_COLUMNS / 1000).min(BAR_COLUMNS) as usize;
        let bar = format!("[{}{}] ", "#".repeat(done), "-".repeat(BAR_COLUMNS as usize - done));
        let times = self.shown.times();
        let errors = self.errors();
        let fits = bar.len() + times.len() + errors.len() + 2 < usize::from(width);
        put(buffer, 0, 1, width, &if fits { bar + &times } else { times }, Style::new());
        let style = if self.details.errors > 0 { self.in_colour(Color::Red).patch(bold) } else { Style::new() };
        let start = width.saturating_sub(errors.len() as u16);
        if fits || self.details.errors > 0 {
            put(buffer, start.saturating_sub(1), 1, width, " ", Style::new());
            put(buffer, start, 1, width, &errors, style);
        }
        // Which cell and which round it is stands at its end.
        put(buffer, 0, 2, width, &shortened(&self.shown.phase, width), Style::new());
    }

    /// Failed operations. Nobody tells of them before the end of a slot.
    fn errors(&self) -> String {
        let slots = match self.details.slots_over {
            0 => return String::new(),
            1 => "1 slot".to_owned(),
            slots => format!("{} slots", numbers::count(slots.into())),
        };
        match self.details.errors {
            0 => format!("no errors in {slots}"),
            1 => format!("1 error in {slots}"),
            errors => format!("{} errors in {slots}", numbers::count(errors)),
        }
    }

    fn draw_cells(&self, buffer: &mut Buffer, area: Rect) {
        let cells = &self.details.cells;
        let rows = usize::from(area.height.saturating_sub(1));
        // The chosen one stays in sight, in the middle where there is more on both sides.
        let first = self.chosen.saturating_sub(rows / 2).min(cells.len().saturating_sub(rows));
        let columns = columns(cells, area.width);
        let label_width = area.width - 2 - columns.iter().map(|column| column.width).sum::<u16>();
        let (from, to, all) = (first + 1, first + rows, cells.len());
        let title = match format!("cells {from} to {to} of {all}") {
            _ if all <= rows => "cell".to_owned(),
            long if long.len() > usize::from(label_width) => format!("{from}-{to} of {all}"),
            title => title,
        };
        let style = self.in_colour(Color::Cyan);
        put(buffer, 2, area.y, label_width, &title, style);
        let mut x = 2 + label_width;
        for column in &columns {
            put_right(buffer, x, area.y, column.width, column.title, style);
            x += column.width;
        }
        for (index, cell) in cells.iter().enumerate().skip(first).take(rows) {
            let y = area.y + 1 + (index - first) as u16;
            let style = if cell.is_measured { Modifier::BOLD.into() } else { Style::new() };
            let mark = match () {
                () if self.is_pinned && index == self.chosen => "*",
                () if cell.is_measured => ">",
                () => " ",
            };
            put(buffer, 0, y, 2, mark, style);
            put(buffer, 2, y, label_width, &shortened(&cell.label, label_width), style);
            let mut x = 2 + label_width;
            for column in &columns {
                put_right(buffer, x, y, column.width, &(column.text)(cell), style);
                x += column.width;
            }
        }
    }

    /// The first or the second chart.
    fn draw_chart(&self, buffer: &mut Buffer, area: Rect, is_first: bool) {
        let label = self.details.cells.get(self.chosen).map_or("", |cell| &cell.label);
        match &self.past {
            Past::Slots(_) if !is_first => {}
            Past::Slots(slots) => {
                let slots = last(slots, area.width);
                let values: Vec<Option<u64>> = slots.iter().copied().map(Some).collect();
                let count = if values.len() == 1 { "slot".to_owned() } else { format!("{} slots", values.len()) };
                let heading = |top| format!("time, 0 to {}, last {count} of {label}", time(top));
                self.draw_bars(buffer, area, &values, heading, &format!("time: no slot of {label} is over yet"));
            }
            Past::Seconds(seconds) if is_first => {
                let seconds = last(seconds, area.width);
                let values: Vec<_> = seconds.iter().map(|second| Some(second.rates.iops.round() as u64)).collect();
                let lasting = numbers::clock(seconds.iter().map(|second| second.length_ns).sum());
                let heading = |top: u64| format!("IOPS, 0 to {}, last {lasting} of {label}", numbers::iops(top as f64));
                self.draw_bars(buffer, area, &values, heading, &format!("IOPS: nothing measured yet of {label}"));
            }
            Past::Seconds(seconds) => {
                let p99 = |second: &Second| second.rates.p99_ns;
                let values: Vec<Option<u64>> = last(seconds, area.width).iter().map(p99).collect();
                let heading = |top| format!("p99, 0 to {}, in the same seconds", time(top));
                let too_few = "p99: too few operations in a second to tell";
                let nothing = if values.is_empty() { "p99: nothing measured yet" } else { too_few };
                self.draw_bars(buffer, area, &values, heading, nothing);
            }
        }
    }

    fn draw_bars(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        values: &[Option<u64>],
        heading: impl Fn(u64) -> String,
        nothing: &str,
    ) {
        let heading_style = self.in_colour(Color::Cyan);
        let Some(most) = values.iter().flatten().max() else {
            put(buffer, 0, area.y, area.width, nothing, heading_style);
            return;
        };
        let top = round_up(*most);
        put(buffer, 0, area.y, area.width, &heading(top), heading_style);
        let rows = Rect { y: area.y + 1, height: area.height - 1, ..area };
        let bars = if self.plain { PLAIN_BARS } else { bar::NINE_LEVELS };
        Sparkline::default().data(values).max(top).absent_value_symbol(" ").bar_set(bars).render(rows, buffer);
    }

    /// The last sentences that fit, broken into lines.
    fn sentences(&self, width: u16, rows: u16) -> Vec<String> {
        let rows = usize::from(rows);
        let mut lines: Vec<String> = Vec::new();
        for sentence in self.details.sentences.iter().rev() {
            let broken = broken(sentence, usize::from(width));
            if !lines.is_empty() && lines.len() + broken.len() > rows {
                break;
            }
            lines.splice(0..0, broken);
        }
        if lines.len() > rows {
            lines.truncate(rows);
            if let Some(line) = lines.last_mut() {
                while Span::raw(&*line).width() + 3 > usize::from(width) && line.pop().is_some() {}
                line.push_str(" ..");
            }
        }
        lines
    }

    fn in_colour(&self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }
}

/// A column of the table beside the cell's name.
struct Column {
    /// The less it is, the more the column is wanted.
    rank: u8,
    title: &'static str,
    /// Numbers change every second, and columns are not to move with them.
    least: usize,
    width: u16,
    text: fn(&CellShown) -> String,
}

impl Column {
    const fn new(rank: u8, title: &'static str, least: usize, text: fn(&CellShown) -> String) -> Self {
        Self { rank, title, least, width: 0, text }
    }

    /// The same, wide enough for these cells.
    fn fitting(self, cells: &[CellShown]) -> Self {
        let texts = cells.iter().map(|cell| (self.text)(cell).chars().count());
        let width = texts.chain([self.title.len(), self.least]).max().unwrap_or_default() as u16 + 1;
        Self { width, ..self }
    }
}

/// The columns for which there is room, in the order in which they stand.
fn columns(cells: &[CellShown], width: u16) -> Vec<Column> {
    fn took(cell: &CellShown) -> String {
        cell.took_ns.map_or_else(String::new, time)
    }
    fn rate(cell: &CellShown, text: fn(Rates) -> String) -> String {
        cell.latest.map_or_else(String::new, text)
    }
    fn p99(rates: Rates) -> String {
        numbers::or_absent(rates.p99_ns, |ns| numbers::latency_in_text(ns as f64))
    }
    let all = [
        Column::new(2, "slots", 5, |cell| cell.slots.clone()),
        Column::new(1, "IOPS", 8, |cell| rate(cell, |rates| numbers::iops(rates.iops))),
        Column::new(5, numbers::THROUGHPUT_UNIT, 8, |cell| rate(cell, |rates| rates.throughput())),
        Column::new(3, "p99", 8, |cell| rate(cell, p99)),
        Column::new(1, "time", 8, took),
        Column::new(4, "precision", 9, |cell| cell.precision.clone()),
        Column::new(0, "state", 7, |cell| cell.word.to_owned()),
    ];
    let has_timed = cells.iter().any(|cell| cell.is_timed);
    let has_rates = cells.iter().any(|cell| !cell.is_timed);
    let is_of_them = |column: &Column| match column.title {
        "time" => has_timed,
        "IOPS" | numbers::THROUGHPUT_UNIT | "p99" => has_rates,
        _ => true,
    };
    let all: Vec<Column> = all.into_iter().filter(is_of_them).map(|column| column.fitting(cells)).collect();
    let longest = cells.iter().map(|cell| Span::raw(&*cell.label).width()).max().unwrap_or_default();
    let good = u16::try_from(longest).unwrap_or(GOOD_LABEL).clamp(LEAST_LABEL, GOOD_LABEL) - LEAST_LABEL;
    let mut room = width.saturating_sub(2 + LEAST_LABEL);
    let mut wanted: Vec<&Column> = all.iter().collect();
    wanted.sort_unstable_by_key(|column| column.rank);
    wanted.retain(|column| {
        let fits = column.width <= if column.rank < NEEDED_COLUMNS { room } else { room.saturating_sub(good) };
        room -= if fits { column.width } else { 0 };
        fits
    });
    let kept: Vec<&str> = wanted.iter().map(|column| column.title).collect();
    all.into_iter().filter(|column| kept.contains(&column.title)).collect()
}

/// As many of the last ones as there are columns.
fn last<T>(values: &[T], width: u16) -> &[T] {
    &values[values.len().saturating_sub(usize::from(width))..]
}

fn time(ns: u64) -> String {
    numbers::latency_in_text(ns as f64)
}

/// The next number of the row 1, 2, 5, 10, so that a scale seldom changes.
fn round_up(value: u64) -> u64 {
    let power = 10_u64.saturating_pow(value.max(1).ilog10());
    let steps = [1, 2, 5, 10].into_iter().map(|step| power.saturating_mul(step));
    steps.filter(|step| *step >= value).min().unwrap_or(value).max(1)
}

/// A text of which the middle is left out where it is too long: names often differ at their ends.
fn shortened(text: &str, width: u16) -> String {
    let width = usize::from(width);
    if Span::raw(text).width() <= width || width < 4 {
        return text.to_owned();
    }
    // Wide characters take two columns each.
    let mut head: Vec<char> = text.chars().collect();
    let mut tail = head.split_off(head.len() / 2);
    let wide = |part: &[char]| Span::raw(part.iter().collect::<String>()).width();
    while wide(&head) + wide(&tail) + 2 > width {
        if head.len() >= tail.len() {
            head.pop();
        } else {
            tail.remove(0);
        }
    }
    head.iter().chain(&['.', '.']).chain(&tail).collect()
}

/// A sentence in lines, all but the first one indented.
fn broken(sentence: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in sentence.split(' ') {
        if !line.trim().is_empty() && Span::raw(&*line).width() + 1 + Span::raw(word).width() > width {
            lines.push(std::mem::replace(&mut line, "  ".to_owned()));
        }
        if !line.trim().is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

fn put(buffer: &mut Buffer, x: u16, y: u16, width: u16, text: &str, style: Style) {
    if x < buffer.area.right() && y < buffer.area.bottom() {
        buffer.set_stringn(x, y, text, usize::from(width), style);
    }
}

fn put_right(buffer: &mut Buffer, x: u16, y: u16, width: u16, text: &str, style: Style) {
    let length = text.chars().count().min(usize::from(width)) as u16;
    put(buffer, x + width - length, y, length, text, style);
}

#[cfg(test)]
mod tests;
