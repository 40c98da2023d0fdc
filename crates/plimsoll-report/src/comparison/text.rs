//! A comparison as text for a terminal, and in Markdown.

use plimsoll_measure::compare::ratio::Ratio;
use plimsoll_record::numbers;

use super::{
    Aspect, CellPair, Comparison, MetricPair, Pair,
    expectation::{Judged, Outcome, Standing},
    metric::{Metric, Operation},
    words,
};
use crate::{
    grid::{Column, Grid, Side as Alignment, escaped},
    printable,
    style::{Style, Tone},
    table::{LABEL_WIDTH, WIDTH_MIN, labelled},
    wrapping,
};

/// A comparison as text: what is compared, the answers in sentences, the numbers behind them, and what became of the
/// expectations. Lines are at most `width` columns wide unless a single word is longer.
pub fn text(comparison: &Comparison, width: usize, style: Style) -> String {
    let width = width.max(WIDTH_MIN);
    let mut out = String::new();
    for side in &comparison.sides {
        let label = format!("{:<LABEL_WIDTH$}", side.letter);
        out += &labelled(&label, &side.description, Tone::Head, width, style);
    }
    for pair in &comparison.pairs {
        out.push('\n');
        out += &answers(pair, width, style);
        if !pair.cells.is_empty() {
            out.push('\n');
            push_numbers(&mut out, pair, width, style);
        }
    }
    let notes = notes(comparison, out.contains(SEEN_FROM));
    if !notes.is_empty() {
        out.push('\n');
    }
    for note in notes {
        out += &labelled("note: ", &note, Tone::Head, width, style);
    }
    if !comparison.expectations.is_empty() {
        out.push('\n');
    }
    for outcome in &comparison.expectations {
        push_outcome(&mut out, comparison, outcome, width, style);
    }
    out
}

/// A comparison in Markdown, with all columns.
pub fn markdown(comparison: &Comparison) -> String {
    let mut out = String::new();
    for side in &comparison.sides {
        out += &format!("- **{}** {}\n", side.letter, escaped(&side.description));
    }
    for pair in &comparison.pairs {
        out.push('\n');
        out += &answers_in_markdown(pair);
        let sections = sections(pair);
        let names = |section: &Section| vec![section.name.clone(); section.rows.len()];
        let name = Column::new("workload", Alignment::Left, 0, sections.iter().flat_map(names).collect());
        let columns = [vec![name], columns(pair, &sections, true)].concat();
        out += &format!("\n{}", Grid::new(columns).markdown());
    }
    let notes: Vec<String> = notes(comparison, true).iter().map(|note| format!("- {}\n", escaped(note))).collect();
    if !notes.is_empty() {
        out += &format!("\n{}", notes.concat());
    }
    if !comparison.expectations.is_empty() {
        out.push('\n');
    }
    for outcome in &comparison.expectations {
        let [sentence, places @ ..] = &judgement(comparison, outcome)[..] else { continue };
        out += &format!("- **{}** {}\n", heading(outcome).0, escaped(sentence));
        places.iter().for_each(|place| out += &format!("  - {}\n", escaped(place)));
    }
    out
}

/// The answers of a pair: a title, what disturbs the comparison, and a sentence for each cell.
pub(crate) fn answers(pair: &Pair, width: usize, style: Style) -> String {
    let mut out = style.paint(&title(pair), Tone::Head) + "\n";
    for sentence in circumstances(pair) {
        out += &labelled("", &sentence, Tone::Doubtful, width, style);
    }
    let labels: Vec<String> = pair.cells.iter().map(|cell| printable::line(&cell.label()).into_owned()).collect();
    let indent = labels.iter().map(|label| wrapping::width(label)).max().unwrap_or(0) + GAP;
    for (cell, label) in pair.cells.iter().zip(&labels) {
        if indent <= width / 2 {
            let label = format!("{label:<indent$}");
            out += &labelled(&label, &cell.sentence, Tone::Plain, width, style);
        } else {
            // Long names take lines of their own.
            wrapping::name_lines(label, width).iter().for_each(|line| out += &format!("{line}\n"));
            out += &labelled("  ", &cell.sentence, Tone::Plain, width, style);
        }
    }
    for beside in &pair.beside {
        out += &labelled("", &beside.sentence, Tone::Plain, width, style);
    }
    out
}

/// The same in Markdown.
pub(crate) fn answers_in_markdown(pair: &Pair) -> String {
    let mut out = format!("**{}**\n\n", escaped(&title(pair)));
    for sentence in circumstances(pair) {
        out += &format!("- {}\n", escaped(&sentence));
    }
    for cell in &pair.cells {
        out += &format!("- {}: {}\n", escaped(&cell.label()), escaped(&cell.sentence));
    }
    for beside in &pair.beside {
        out += &format!("- {}\n", escaped(&beside.sentence));
    }
    out
}

/// Blank columns between a label and its sentence.
const GAP: usize = 2;

fn title(pair: &Pair) -> String {
    let how = match (pair.is_told, pair.in_one_run) {
        (true, _) => "as other programs told",
        (_, true) if pair.at_once => "measured at the same time in one run",
        (_, true) if pair.one_after_another => "measured one after another in one run",
        (_, true) => "measured in turns in one run",
        (_, false) => "measured in different runs",
    };
    let [reference, side] = pair.letters().map(str::to_owned);
    let named = |letter: String, array: &Option<String>| match array {
        Some(array) => format!("{letter} {array}"),
        None => letter,
    };
    format!("{} against {}, {how}", named(side, &pair.arrays[1]), named(reference, &pair.arrays[0]))
}

/// What is named one by one when it is not told: most readers know no other.
const MAIN: [Aspect; 8] = [
    Aspect::Pattern,
    Aspect::BlockSize,
    Aspect::QueueDepth,
    Aspect::Jobs,
    Aspect::WorkingSet,
    Aspect::CacheMode,
    Aspect::Durability,
    Aspect::Engine,
];

/// What a reader has to know before the answers.
fn circumstances(pair: &Pair) -> Vec<String> {
    let mut sentences = Vec::new();
    if !pair.confounded.is_empty() {
        let texts: Vec<String> = pair.confounded.iter().map(|difference| difference.text(pair.letters())).collect();
        sentences.push(format!(
            "confounded: {} also differ{}",
            words::list(&texts),
            if texts.len() == 1 { "s" } else { "" }
        ));
    }
    let is_of_command = |cell: &CellPair| cell.metrics.iter().any(|metric| metric.metric == Metric::Elapsed);
    if pair.is_told && pair.cells.iter().any(is_of_command) {
        sentences.push("not told, and perhaps different: what caches held, and what else went on".to_owned());
    }
    if !pair.untold.is_empty() {
        let (main, others): (Vec<Aspect>, Vec<Aspect>) = pair.untold.iter().partition(|aspect| MAIN.contains(aspect));
        let mut names: Vec<String> = main.iter().map(|aspect| aspect.name()).collect();
        names.extend((!others.is_empty()).then(|| format!("{} more", others.len())));
        sentences.push(format!("not told, and perhaps different: {}", words::list(&names)));
    }
    for (letter, workloads) in [(&pair.reference, &pair.only_in_reference), (&pair.side, &pair.only_in_side)] {
        if !workloads.is_empty() {
            sentences.push(format!("only {letter} measured {}", words::list(workloads)));
        }
    }
    sentences
}

/// The head of the column with the smallest differences that would have been found.
const SEEN_FROM: &str = "seen from";

/// The numbers of a cell and its kind of operation.
struct Section {
    name: String,
    rows: Vec<NumberRow>,
}

/// A number as text: what it is, of the reference, of the other side, the change, what would have been seen, the word.
type NumberRow = [String; 6];

/// A number, and whether it may be longer than was measured; both in one word, because the table is wide.
fn at_least(is_at_least: bool, text: String) -> String {
    if is_at_least { format!("{}{text}", numbers::AT_LEAST) } else { text }
}

/// Reads first, then writes, and each with the numbers that at least one side has.
fn sections(pair: &Pair) -> Vec<Section> {
    let mut sections = Vec::new();
    for cell in &pair.cells {
        let of = |operation: Operation| cell.metrics.iter().filter(move |metric| metric.operation == operation);
        let operations: Vec<Operation> =
            Operation::ALL.into_iter().filter(|operation| of(*operation).next().is_some()).collect();
        for operation in &operations {
            let mut name = cell.label();
            if operations.len() > 1 {
                name += &format!(", {}", operation.plural());
            }
            let doubts = words::doubts(cell, pair.letters());
            if !doubts.is_empty() {
                name += &format!(" ({doubts})");
            }
            let is_known = |metric: &&MetricPair| metric.reference.or(metric.value).is_some();
            let row = |metric: &MetricPair| {
                let compared = metric.compared.as_ref();
                let word = match compared {
                    Some(compared) => words::word(compared),
                    None if metric.has_stopped => words::STOPPED,
                    None if cell.differs_in.is_empty() => words::NO_CLAIM,
                    None => words::NOT_COMPARED,
                };
                [
                    format!("  {}", cell.head(metric.metric)),
                    at_least(metric.reference_is_at_least, metric.metric.text(metric.reference)),
                    at_least(metric.is_at_least, metric.metric.text(metric.value)),
                    compared.map_or_else(
                        || words::told_ratio(metric).unwrap_or_else(|| numbers::ABSENT.to_owned()),
                        |compared| words::change(&compared.ratio),
                    ),
                    numbers::or_absent(compared, |compared| words::seen_from(compared.ratio.detectable)),
                    word.to_owned(),
                ]
            };
            sections.push(Section { name, rows: of(*operation).filter(is_known).map(row).collect() });
        }
    }
    sections
}

fn columns(pair: &Pair, sections: &[Section], in_words: bool) -> Vec<Column> {
    let text = |index: usize| sections.iter().flat_map(|section| &section.rows).map(|row| row[index].clone()).collect();
    vec![
        Column::new(if in_words { "number" } else { "" }, Alignment::Left, 0, text(0)),
        Column::new(pair.reference.as_str(), Alignment::Right, 0, text(1)),
        Column::new(pair.side.as_str(), Alignment::Right, 0, text(2)),
        Column::new(format!("{} against {}", pair.side, pair.reference), Alignment::Right, 0, text(3)),
        Column::new(SEEN_FROM, Alignment::Right, 1, text(4)),
        Column::new("", Alignment::Left, 0, text(5)),
    ]
}

fn push_numbers(out: &mut String, pair: &Pair, width: usize, style: Style) {
    let sections = sections(pair);
    let grid = Grid::breaking(5, columns(pair, &sections, false)).fit(width);
    let (head, rows) = grid.head_and_rows();
    for (line, tone) in head.iter().zip([Tone::Head, Tone::Faint]) {
        *out += &(style.paint(line, tone) + "\n");
    }
    let mut rows = rows.into_iter();
    for section in sections {
        for line in wrapping::name_lines(&section.name, width) {
            *out += &(line + "\n");
        }
        for lines in rows.by_ref().take(section.rows.len()) {
            lines.iter().for_each(|line| *out += &(coloured(line, style) + "\n"));
        }
    }
}

/// A row whose word has its colour. The word is the last column, so it ends the line.
fn coloured(line: &str, style: Style) -> String {
    let word = line.rsplit_once("  ").map_or("", |(_, word)| word);
    let tone = match word {
        "higher" | "lower" | "a bit higher" | "a bit lower" | words::STOPPED => Tone::Doubtful,
        "equal" | "no difference" => Tone::Good,
        words::BY_CHANCE => Tone::Plain,
        words::NOT_COMPARED => return style.paint(line, Tone::Faint),
        words::NO_CLAIM => Tone::Faint,
        _ => return line.to_owned(),
    };
    format!("{}{}", &line[..line.len() - word.len()], style.paint(word, tone))
}

/// Whether the ratio that is shown is another than that of the two numbers beside it.
fn is_no_quotient(metric: &MetricPair) -> bool {
    let both = metric.reference.zip(metric.value).zip(metric.compared);
    both.is_some_and(|((reference, value), compared)| {
        let quotient = Ratio { ratio: value / reference, ..compared.ratio };
        words::change(&quotient) != words::change(&compared.ratio)
    })
}

/// What readers need to know of the words in the tables.
fn notes(comparison: &Comparison, with_detectable: bool) -> Vec<String> {
    let cells = || comparison.pairs.iter().flat_map(|pair| &pair.cells);
    let metrics =
        || cells().flat_map(|cell| &cell.metrics).filter(|metric| metric.reference.or(metric.value).is_some());
    let is_used = |wanted: &str| {
        metrics().filter_map(|metric| metric.compared.as_ref()).any(|compared| words::word(compared) == wanted)
    };
    let margin = numbers::percent(comparison.margin);
    let mut notes = Vec::new();
    if comparison.pairs.iter().any(|pair| !pair.in_one_run && !pair.is_told) {
        notes.push("what changed from one run to the other counts as a difference; targets of one run are measured side by side".to_owned());
    }
    if metrics().any(is_no_quotient) {
        let text =
            "a ratio is a geometric mean over visits, or over seconds, and not that of the two numbers beside it";
        notes.push(text.to_owned());
    }
    if metrics().any(|metric| metric.reference_is_at_least || metric.is_at_least) {
        notes.push(format!("{} = may be longer than was measured", numbers::AT_LEAST));
    }
    if is_used("equal") {
        notes.push(format!("equal = surely less than {margin} apart"));
    }
    if is_used("a bit higher") || is_used("a bit lower") {
        notes.push(format!("a bit = surely different, but perhaps by less than {margin}"));
    }
    if is_used(words::BY_CHANCE) {
        notes.push(format!("{} = of so many comparisons, some look like this between equals", words::BY_CHANCE));
    }
    if with_detectable && metrics().any(|metric| metric.compared.is_some()) {
        notes.push(format!("{SEEN_FROM} = a difference of this size is found four times in five"));
    }
    // Why, with as many numbers as share the reason.
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    let unclaimed = cells().filter(|cell| cell.differs_in.is_empty()).flat_map(|cell| &cell.metrics);
    for reason in unclaimed
        .filter(|metric| metric.reference.or(metric.value).is_some() && !metric.has_stopped)
        .filter_map(|metric| metric.reason.as_deref())
    {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let reasons: Vec<String> = reasons.iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
    if !reasons.is_empty() {
        notes.push(format!("{} = {}", words::NO_CLAIM, reasons.join(", ")));
    }
    notes
}

/// The width of the words for what became of an expectation.
const RESULT_WIDTH: usize = 12;

fn push_outcome(out: &mut String, comparison: &Comparison, outcome: &Outcome, width: usize, style: Style) {
    let (word, tone) = heading(outcome);
    for (index, line) in judgement(comparison, outcome).iter().enumerate() {
        let word = if index == 0 { word } else { "" };
        *out += &labelled(&format!("{word:<RESULT_WIDTH$}"), line, tone, width, style);
    }
}

const fn heading(outcome: &Outcome) -> (&'static str, Tone) {
    match outcome.result {
        Standing::Breached => ("FAILED", Tone::Bad),
        Standing::Held => (Standing::Held.as_str(), Tone::Good),
        doubtful => (doubtful.as_str(), Tone::Doubtful),
    }
}

/// What became of an expectation: how often it held, then where it was broken or may be, and where it was not judged.
fn judgement(comparison: &Comparison, outcome: &Outcome) -> Vec<String> {
    let all = outcome.cells.len();
    let mut counts = Vec::new();
    for result in [Standing::Breached, Standing::Unsure, Standing::Held, Standing::NotJudged] {
        let count = outcome.with(result).count();
        if count > 0 && count < all {
            counts.push(format!("{} in {count} of {all}", result.as_str()));
        }
    }
    let place = |judged: &Judged| {
        let side = if comparison.pairs.len() > 1 { format!("{} ", judged.side) } else { String::new() };
        format!("{side}{}", judged.place())
    };
    let mut not_judged: Vec<(&str, Vec<String>)> = Vec::new();
    for judged in outcome.with(Standing::NotJudged) {
        match not_judged.iter_mut().find(|(reason, _)| *reason == judged.text) {
            Some((_, places)) => places.push(place(judged)),
            None => not_judged.push((&judged.text, vec![place(judged)])),
        }
    }
    // One reason for all needs no list of them.
    if let ([(reason, _)], Standing::NotJudged) = (not_judged.as_slice(), outcome.result) {
        counts.push((*reason).to_owned());
        not_judged.clear();
    }
    if outcome.cells.is_empty() {
        counts.push("no such number was measured".to_owned());
    }
    let mut lines = vec![outcome.expectation.clone()];
    if !counts.is_empty() {
        lines[0] += &format!(": {}", counts.join(", "));
    }
    for result in [Standing::Breached, Standing::Unsure] {
        lines.extend(outcome.with(result).map(|judged| format!("{}: {}", place(judged), judged.text)));
    }
    let reasons = not_judged.into_iter();
    lines.extend(reasons.map(|(reason, places)| format!("not judged, {reason}: {}", places.join(", "))));
    lines
}
