//! The cells of two sides with each other, number by number.

use plimsoll_record::{
    record::{Cell, Kind},
    told::Told,
};
use plimsoll_workload::{file_set::FilePhase, plan::Pacing};

use super::{
    Aspect, CellPair, Compared, ComparisonError, Difference, Metric, MetricPair, Operation, Pair, RankRatio, Wishes,
    beside, environments,
    evidence::{self, Evidence},
    label, matching, plans, purpose,
    side::Subject,
    words,
};
use crate::{document::files, printable};

/// A comparison in which nothing is compared is refused: what it would not say could be taken for no difference.
pub(super) fn refuse_in_vain(pairs: &[(Pair, Vec<Aspect>)]) -> Result<(), ComparisonError> {
    let cells = || pairs.iter().flat_map(|(pair, _)| &pair.cells);
    if cells().next().is_none() {
        let (pair, _) = pairs.first().ok_or(ComparisonError::Nothing)?;
        return Err(ComparisonError::NothingInCommon {
            reference: pair.reference.clone(),
            ours: pair.only_in_reference.join(", "),
            side: pair.side.clone(),
            theirs: pair.only_in_side.join(", "),
        });
    }
    if cells().any(|cell| cell.differs_in.is_empty()) {
        return Ok(());
    }
    let (mut texts, mut words) = (Vec::new(), Vec::new());
    for (pair, aspects) in pairs {
        let differences = pair.cells.iter().flat_map(|cell| &cell.differs_in);
        texts.extend(differences.map(|difference| difference.text(pair.letters())));
        words.extend(aspects.iter().map(|aspect| aspect.word().to_owned()));
    }
    for list in [&mut texts, &mut words] {
        let mut seen = Vec::new();
        list.retain(|text| {
            !seen.contains(text) && {
                seen.push(text.clone());
                true
            }
        });
    }
    Err(ComparisonError::NotComparable { differences: words::differ(&texts), words: words.join(",") })
}

/// A side and the reference, and in what aspects plans differ that must not.
pub(super) fn pair(subjects: [&Subject<'_>; 2], letters: [&str; 2], wishes: &Wishes) -> (Pair, Vec<Aspect>) {
    let is_own = subjects.iter().all(|subject| subject.record.import.is_none());
    let in_one_run = is_own && subjects[0].record.id == subjects[1].record.id;
    let mut pair = Pair {
        reference: letters[0].to_owned(),
        side: letters[1].to_owned(),
        arrays: subjects.map(|subject| subject.array().map(str::to_owned)),
        in_one_run,
        at_once: false,
        one_after_another: false,
        is_told: !is_own,
        confounded: environments::differences(subjects[0], subjects[1]),
        cells: Vec::new(),
        beside: Vec::new(),
        untold: Vec::new(),
        only_in_reference: Vec::new(),
        only_in_side: Vec::new(),
    };
    let mut aspects = Vec::new();
    let mut are_in_turns = false;
    let records = subjects.map(|subject| subject.record);
    let of_records = plans::difference_of_records(records[0], records[1]);
    let theirs = subjects[1].groups();
    for (target, ours) in subjects[0].groups() {
        let others = theirs.iter().find(|(name, _)| *name == target).map(|(_, cells)| cells.as_slice());
        let matches = matching::matches(records, &ours, others.unwrap_or_default());
        for cells in matches.pairs {
            are_in_turns |= cells[0].phase.is_none();
            pair.one_after_another |= in_one_run && are_one_after_another(cells);
            let (accepted, refused): (Vec<_>, Vec<_>) = plans::differences(records, cells)
                .into_iter()
                .chain(of_records.clone())
                .partition(|(aspect, _)| wishes.despite.contains(aspect));
            for aspect in plans::untold(records, cells) {
                if !pair.untold.contains(&aspect) {
                    pair.untold.push(aspect);
                }
            }
            aspects.extend(refused.iter().map(|(aspect, _)| *aspect));
            for (_, difference) in accepted {
                if !pair.confounded.contains(&difference) {
                    pair.confounded.push(difference);
                }
            }
            let differs_in: Vec<_> = refused.into_iter().map(|(_, difference)| difference).collect();
            // Each phase of a set of files is a question of its own.
            match shared_phases(cells).as_slice() {
                [] => {
                    let operations = &Operation::ALL;
                    pair.cells.push(cell_pair(target, cells, operations, in_one_run, differs_in, wishes.margin));
                }
                phases => pair.cells.extend(phases.iter().map(|phase| {
                    let operations = &[Operation::Phase(*phase)];
                    let of = cell_pair(target, cells, operations, in_one_run, differs_in.clone(), wishes.margin);
                    CellPair { workload: format!("{} {phase}", of.workload), ..of }
                })),
            }
        }
        let name = |cell: &Cell| label(target, &cell.workload);
        let names = |cells: Vec<&Cell>| cells.into_iter().map(name).collect::<Vec<_>>();
        pair.only_in_reference.extend(names(matches.only_first));
        pair.only_in_side.extend(names(matches.only_second));
    }
    pair.at_once = in_one_run && !are_in_turns && !pair.one_after_another && !pair.cells.is_empty();
    pair.beside = beside::of(&pair);
    (pair, aspects)
}

/// Whether cells of one run neither took turns nor ran at the same time.
pub(super) fn are_one_after_another(cells: [&Cell; 2]) -> bool {
    let takes_turns = |cell: &Cell| cell.phase.is_none();
    !cells.into_iter().all(takes_turns) && !cells[0].ran_beside(cells[1])
}

/// The phases that both cells have done with sets of files.
fn shared_phases(cells: [&Cell; 2]) -> Vec<FilePhase> {
    let [ours, theirs] = cells.map(|cell| cell.files.iter().flat_map(|files| &files.phases).map(|phase| phase.phase));
    let theirs: Vec<FilePhase> = theirs.collect();
    ours.filter(|phase| theirs.contains(phase)).collect()
}

fn cell_pair(
    target: Option<&str>,
    cells: [&Cell; 2],
    operations: &[Operation],
    in_one_run: bool,
    differs_in: Vec<Difference>,
    margin: f64,
) -> CellPair {
    let mut metrics = Vec::new();
    let with_told = cells.iter().any(|cell| cell.told.is_some());
    for operation in operations.iter().copied() {
        let results = cells.map(|cell| cell.figures(operation));
        let is_told_apart =
            |cell: &Cell| cell.application.is_none() && cell.told.as_ref().is_none_or(Told::is_told_apart);
        let says_nothing_new = operation == Operation::All && cells.into_iter().all(is_told_apart);
        if says_nothing_new || results.iter().all(Option::is_none) {
            continue;
        }
        let stops = evidence::has_stopped(cells, operation);
        for metric in Metric::ALL {
            let is_without_data = match operation {
                Operation::Sync => true,
                Operation::Phase(_) => results.iter().flatten().all(|figures| figures.bytes == Some(0)),
                Operation::Read | Operation::Write | Operation::All => false,
            };
            if metric == Metric::Throughput && is_without_data {
                continue;
            }
            let [reference, value] =
                [0, 1].map(|side: usize| metric.of_cell(cells[side], results[side].as_ref()?, with_told));
            if matches!(metric, Metric::Mean | Metric::Elapsed) && reference.is_none() && value.is_none() {
                continue;
            }
            let has_stopped = stops && differs_in.is_empty() && !metric.is_latency();
            let evidence = match (reference, value) {
                _ if !differs_in.is_empty() => Err("the plans differ"),
                _ if has_stopped => Err("nothing completed in any visit"),
                (Some(_), Some(_)) => evidence::of(cells, in_one_run, operation, metric),
                _ if metric.is_latency() && results.iter().all(Option::is_some) => Err("too few operations"),
                _ => Err("not measured on both sides"),
            };
            let reason = evidence.err().map(str::to_owned);
            let compared = evidence.ok().map(|evidence| compared(&evidence, margin));
            let [reference_is_at_least, is_at_least] =
                results.each_ref().map(|figures| figures.as_ref().is_some_and(|figures| metric.is_at_least(figures)));
            metrics.push(MetricPair {
                operation,
                metric,
                reference,
                value,
                reference_is_at_least,
                is_at_least,
                compared,
                has_stopped,
                reason,
            });
        }
    }
    let (headline, chosen_among) = headline(cells, &metrics);
    let are = |kind: Kind| cells.iter().all(|cell| cell.kind == kind);
    let names = cells.map(|cell| cell.workload.as_str());
    let workload = if names[0] == names[1] { names[0].to_owned() } else { names.join(" / ") };
    CellPair {
        target: target.map(str::to_owned),
        workload,
        purpose: purpose::of(cells[0]).or_else(|| purpose::of(cells[1])),
        words: cells.map(Cell::word),
        rate_name: rate_name(cells),
        rate_unit: if are(Kind::Files) { Some("files/s") } else { are(Kind::Application).then_some("operations/s") },
        is_application: are(Kind::Application),
        is_of_files: are(Kind::Files),
        from_memory: cells.map(|cell| match operations {
            [Operation::Phase(phase)] => files::measured_cache(cell, *phase).is_some(),
            _ => false,
        }),
        shared_processors: cells.iter().any(|cell| cell.kind == Kind::Application && cell.phase.is_some()),
        reference_verdict: cells[0].verdict,
        reference_not_run: cells[0].why_not_run().map(str::to_owned),
        verdict: cells[1].verdict,
        not_run: cells[1].why_not_run().map(str::to_owned),
        reference_errors: errors(cells[0]),
        errors: errors(cells[1]),
        differs_in,
        sentence: String::new(),
        headline,
        chosen_among,
        metrics,
    }
}

/// What commands call the rate that they told.
fn rate_name(cells: [&Cell; 2]) -> Option<String> {
    let name = |cell: &Cell| Some(printable::line(&cell.application.as_ref()?.rate.as_ref()?.name).into_owned());
    let mut names: Vec<String> = cells.into_iter().filter_map(name).collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join(" / "))
}

/// What went wrong with a cell's operations and data.
fn errors(cell: &Cell) -> u64 {
    cell.errors + cell.verification.as_ref().map_or(0, |result| result.mismatches)
}

/// The number that answers which of both is better. An open loop has the rate that was asked for, so there it is how
/// long operations took: reads or writes, whichever differ most surely. The second number is among how many it was
/// chosen.
fn headline(cells: [&Cell; 2], metrics: &[MetricPair]) -> (Option<usize>, usize) {
    let is_open = cells.iter().any(|cell| cell.blocks().is_some_and(|plan| plan.pacing != Pacing::Closed));
    let both = |pair: &MetricPair| pair.reference.is_some() && pair.value.is_some();
    // What tells its rate may take as long as it was told to.
    let has_rate = metrics.iter().any(|pair| !pair.metric.is_latency() && both(pair));
    let is_command = metrics.iter().any(|pair| pair.metric == Metric::Elapsed);
    let wanted: &[Metric] = match (is_open, is_command && !has_rate) {
        (true, _) => &[Metric::P99, Metric::P50],
        (_, true) => &[Metric::Elapsed],
        _ => &[Metric::Iops, Metric::Throughput],
    };
    let find = |wanted: &Metric| metrics.iter().position(|pair| pair.metric == *wanted && pair.compared.is_some());
    let stopped = || metrics.iter().position(|pair| pair.has_stopped);
    let of = |metric: &Metric| metrics.iter().position(|pair| pair.metric == *metric);
    let first = || {
        let has_both = |index: &usize| both(&metrics[*index]);
        wanted.iter().filter_map(of).find(has_both).or_else(|| wanted.first().and_then(of))
    };
    let told = || metrics.iter().position(both).filter(|_| cells.iter().any(|cell| cell.told.is_some()));
    if is_open {
        let of = |operation: Operation| {
            let judged = |pair: &MetricPair| pair.operation == operation && pair.compared.is_some();
            wanted.iter().find_map(|metric| metrics.iter().position(|pair| pair.metric == *metric && judged(pair)))
        };
        let directions: Vec<usize> = [Operation::Read, Operation::Write].into_iter().filter_map(of).collect();
        let doubt = |index: &usize| {
            let compared = metrics[*index].compared;
            compared.map_or((true, 1.0), |it| (!it.conclusion.is_difference(), it.ratio.p_value))
        };
        let surest = directions.iter().copied().min_by(|one, other| {
            let [one, other] = [one, other].map(doubt);
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        });
        if surest.is_some() {
            return (surest, directions.len());
        }
    }
    let found = wanted.iter().find_map(find).or_else(stopped).or_else(told).or_else(first);
    (found, 1)
}

fn compared(evidence: &Evidence, margin: f64) -> Compared {
    let Evidence { ratio, method, values, ranks } = *evidence;
    let ranks =
        ranks.map(|shift| RankRatio { ratio: shift.estimate.exp(), low: shift.low.exp(), high: shift.high.exp() });
    Compared { ranks, ..Compared::alone(ratio, method, values, margin) }
}
