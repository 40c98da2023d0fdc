//! Loads of one run and target that differ in block size and depth alone: where the most operations are, and where more
//! depth only makes them wait.
//!
//! Depth is operations in flight: what each job keeps in its queue, times jobs. So loads may differ in either, as long
//! as no two of them are the same in both.

use plimsoll_measure::detect::knee::{DepthPoint, Knee, knee};
use plimsoll_record::{
    figures::Operation,
    numbers,
    record::{Cell, Kind, Record},
};
use plimsoll_workload::block_sizes::BlockSizes;

use super::{Sweep, SweepCell};
use crate::{
    comparison::{Aspect, plans},
    explanation::did::{CellLoad, Did},
    facts,
};

/// Cells in a line below which there is nothing to see.
const CELLS_MIN: usize = 3;

/// What more depth adds below this share is nothing that anybody sees.
const GAIN_MIN: f64 = 0.01;

/// The sweeps of all records.
pub(crate) fn of(records: &[&Record]) -> Vec<Sweep> {
    let of_record = |record: &&Record| {
        let targets = facts::targets(record).into_iter();
        targets.flat_map(|target| of_target(record, target)).collect::<Vec<_>>()
    };
    records.iter().flat_map(of_record).collect()
}

/// A cell with its place in a sweep.
#[derive(Clone, Debug)]
struct Spot<'a> {
    record: &'a Record,
    cell: &'a Cell,
    block_size: u64,
    depth: u32,
    jobs: u64,
    pattern: String,
    iops: f64,
    bytes_per_second: f64,
}

fn of_target(record: &Record, target: &str) -> Vec<Sweep> {
    let cells = record.cells.iter().filter(|cell| cell.target == target);
    let groups = groups(cells.filter_map(|cell| spot(record, cell)).collect());
    groups.iter().filter(|group| is_sweep(group)).map(|group| sweep(record, target, group)).collect()
}

fn spot<'a>(record: &'a Record, cell: &'a Cell) -> Option<Spot<'a>> {
    if cell.kind != Kind::Blocks || cell.word_of_numbers().is_none() {
        return None;
    }
    // What cells had beside each other is no rate of any of their depths.
    if facts::company(record, cell).next().is_some() {
        return None;
    }
    let load = CellLoad::of(cell);
    // A load that is told when to issue operations has the rate that was asked for.
    let in_flight = load.in_flight.filter(|_| !load.is_paced)?;
    let Did { iops, bytes_per_second, .. } = load.total.or_else(|| load.directions.first().copied())?;
    let iops = iops.filter(|iops| *iops > 0.0)?;
    let (block_size, jobs, pattern) = shape(cell)?;
    Some(Spot {
        record,
        cell,
        block_size,
        depth: in_flight as u32,
        jobs,
        pattern,
        iops,
        bytes_per_second: bytes_per_second.unwrap_or(iops * block_size as f64),
    })
}

/// The one block size, jobs and the pattern; `None` where there is not one, or nobody told.
fn shape(cell: &Cell) -> Option<(u64, u64, String)> {
    let mixed = |word: &str, is_mixed: bool, percent: Option<u8>| match percent.filter(|_| is_mixed) {
        Some(percent) => format!("{word} {percent}% read"),
        None => word.to_owned(),
    };
    if let Some(plan) = cell.blocks().filter(|plan| plan.name_operation().is_none()) {
        let sizes = match (plan.reads(), plan.writes()) {
            (true, true) if plan.read_block_sizes != plan.write_block_sizes => return None,
            (true, _) => &plan.read_block_sizes,
            _ => &plan.write_block_sizes,
        };
        let BlockSizes::One(bytes) = sizes else { return None };
        let pattern = mixed(plan.rw.as_str(), plan.rw.is_mixed(), Some(plan.read_percent));
        return Some((u64::from(*bytes), u64::from(plan.jobs), pattern));
    }
    let transfers = cell.told.as_ref()?.transfers()?;
    let is_mixed = transfers.read_percent.is_some_and(|percent| (1..100).contains(&percent));
    let pattern = mixed(transfers.pattern.as_deref()?, is_mixed, transfers.read_percent);
    Some((transfers.block_size_bytes?, transfers.jobs.unwrap_or(1), pattern))
}

/// Cells that are the same but for their places. Where two have one place because queues and jobs were varied both, the
/// numbers of jobs are told apart.
fn groups(spots: Vec<Spot<'_>>) -> Vec<Vec<Spot<'_>>> {
    let mut groups: Vec<Vec<Spot<'_>>> = Vec::new();
    for spot in spots {
        match groups.iter_mut().find(|group| are_alike(&group[0], &spot)) {
            Some(group) => group.push(spot),
            None => groups.push(vec![spot]),
        }
    }
    groups.iter().flat_map(|group| without_doubles(group)).collect()
}

fn are_alike(one: &Spot<'_>, other: &Spot<'_>) -> bool {
    let is_place = |aspect: &Aspect| matches!(aspect, Aspect::BlockSize | Aspect::QueueDepth | Aspect::Jobs);
    one.pattern == other.pattern
        && one.cell.told.is_some() == other.cell.told.is_some()
        && plans::differences([one.record, other.record], [one.cell, other.cell])
            .iter()
            .all(|(aspect, _)| is_place(aspect))
}

/// Groups in which each place is taken once; of what was measured again, the first time counts.
fn without_doubles<'a>(group: &[Spot<'a>]) -> Vec<Vec<Spot<'a>>> {
    let place = |spot: &Spot<'_>| (spot.block_size, spot.depth);
    let is_double = |(index, spot): (usize, &Spot<'_>)| {
        group[..index].iter().any(|other| place(other) == place(spot) && other.jobs != spot.jobs)
    };
    let mut groups = vec![group.to_vec()];
    if group.iter().enumerate().any(is_double) {
        let mut jobs: Vec<u64> = group.iter().map(|spot| spot.jobs).collect();
        jobs.sort_unstable();
        jobs.dedup();
        let of = |jobs: &u64| group.iter().filter(|spot| spot.jobs == *jobs).cloned().collect();
        groups = jobs.iter().map(of).collect();
    }
    for group in &mut groups {
        let mut seen = Vec::new();
        group.retain(|spot| {
            !seen.contains(&place(spot)) && {
                seen.push(place(spot));
                true
            }
        });
    }
    groups
}

/// Whether anything was varied on purpose: three cells of one block size or depth, or two sizes with the same two
/// depths. Three questions that happen to be alike otherwise, as those of the preset `canonical`, are none.
fn is_sweep(group: &[Spot<'_>]) -> bool {
    let depths_of = |bytes: u64| group.iter().filter(move |spot| spot.block_size == bytes).map(|spot| spot.depth);
    let in_common = |one: &Spot<'_>, other: &Spot<'_>| {
        let others: Vec<u32> = depths_of(other.block_size).collect();
        one.block_size != other.block_size
            && depths_of(one.block_size).filter(|depth| others.contains(depth)).count() > 1
    };
    let is_line = |spot: &Spot<'_>| {
        let of_depth = group.iter().filter(|other| other.depth == spot.depth).count();
        depths_of(spot.block_size).count().max(of_depth) >= CELLS_MIN
    };
    group.iter().any(|spot| is_line(spot) || group.iter().any(|other| in_common(spot, other)))
}

/// Each value once, ascending.
fn ascending<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn sweep(record: &Record, target: &str, group: &[Spot<'_>]) -> Sweep {
    let block_sizes = ascending(group.iter().map(|spot| spot.block_size));
    let depths = ascending(group.iter().map(|spot| spot.depth));
    let knees: Vec<Option<Knee>> = block_sizes.iter().map(|bytes| knee_of(group, *bytes)).collect();
    let mut cells: Vec<SweepCell> = group
        .iter()
        .map(|spot| {
            // Both lists have every value, so it is found.
            let block_size = block_sizes.binary_search(&spot.block_size).unwrap_or_default();
            SweepCell {
                block_size,
                depth: depths.binary_search(&spot.depth).unwrap_or_default(),
                iops: spot.iops,
                bytes_per_second: spot.bytes_per_second,
                p99_us: p99_ns(spot.cell).map(|ns| ns as f64 / 1e3),
                word: spot.cell.word().to_string(),
                is_knee: knees[block_size].is_some_and(|knee| !knee.open_ended && knee.depth == spot.depth),
            }
        })
        .collect();
    cells.sort_by_key(|cell| (cell.block_size, cell.depth));
    Sweep {
        title: title(group, block_sizes.len() > 1, depths.len() > 1),
        run: record.id,
        target: target.to_owned(),
        pattern: group[0].pattern.clone(),
        block_sizes,
        depths: depths.into_iter().map(u64::from).collect(),
        cells,
        crossover_bytes: crossover_bytes(record, group),
    }
}

fn knee_of(group: &[Spot<'_>], block_size: u64) -> Option<Knee> {
    let of_size = group.iter().filter(|spot| spot.block_size == block_size);
    let point = |spot: &Spot<'_>| DepthPoint {
        depth: spot.depth,
        rate: spot.iops,
        interval: spot.cell.estimate.and_then(|estimate| estimate.iops_low.zip(estimate.iops_high)),
    };
    let points: Vec<DepthPoint> = of_size.map(point).collect();
    knee(&points)
}

/// The latency that 99 % do not exceed; of a mix that of the slower kind, which then holds for both together.
fn p99_ns(cell: &Cell) -> Option<u64> {
    let figures: Vec<_> =
        [Operation::Read, Operation::Write].into_iter().filter_map(|operation| cell.figures(operation)).collect();
    if figures.is_empty() {
        return cell.figures(Operation::All)?.latency_ns.p99;
    }
    figures.iter().map(|figures| figures.latency_ns.p99).collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// The block size at which operations and bytes reach their lasting limits together, as far as both were said.
fn crossover_bytes(record: &Record, group: &[Spot<'_>]) -> Option<f64> {
    // Large operations may count several times, so that the limit of small ones is the one that is sold.
    let smallest = group.iter().min_by_key(|spot| spot.block_size)?;
    let of_cell = smallest.cell.limit.as_ref().and_then(|limit| limit.bytes_per_second.zip(limit.iops));
    let asked = record.asked.certainty.limit.as_ref();
    let of_run = || asked.and_then(|limit| Some((limit.bytes?.sustained, limit.operations?.sustained)));
    let (bytes, operations) = of_cell.or_else(of_run)?;
    (operations > 0.0).then(|| bytes / operations)
}

/// `most IOPS at 4 KiB QD128 (55.3k); deeper than QD32 adds waiting only`.
fn title(group: &[Spot<'_>], has_sizes: bool, has_depths: bool) -> String {
    let most = |rate: fn(&Spot<'_>) -> f64| group.iter().max_by(|one, other| rate(one).total_cmp(&rate(other)));
    let (Some(fastest), Some(widest)) = (most(|spot| spot.iops), most(|spot| spot.bytes_per_second)) else {
        return String::new();
    };
    let is_of_queues = group.iter().all(|spot| spot.jobs == 1);
    let depth = |depth: u32| if is_of_queues { format!("QD{depth}") } else { format!("depth {depth}") };
    let at = |spot: &Spot<'_>| {
        let size = has_sizes.then(|| numbers::bytes(spot.block_size));
        let parts: Vec<String> = size.into_iter().chain(has_depths.then(|| depth(spot.depth))).collect();
        parts.join(" ")
    };
    let doubt = |spot: &Spot<'_>| {
        let word = spot.cell.word();
        if word.is_doubtful() { format!(", {word}") } else { String::new() }
    };
    let mut parts = vec![format!("most IOPS at {} ({}{})", at(fastest), numbers::iops(fastest.iops), doubt(fastest))];
    if has_sizes && !std::ptr::eq(fastest, widest) {
        let rate = numbers::throughput(widest.bytes_per_second);
        parts.push(format!("most {} at {} ({rate}{})", numbers::THROUGHPUT_UNIT, at(widest), doubt(widest)));
    }
    parts.extend(waiting(group, fastest, has_sizes, depth));
    parts.join("; ")
}

/// What more depth does for the block size with the most operations.
fn waiting(group: &[Spot<'_>], fastest: &Spot<'_>, has_sizes: bool, depth: impl Fn(u32) -> String) -> Option<String> {
    let knee = knee_of(group, fastest.block_size)?;
    let of_size = if has_sizes { format!(" of {}", numbers::bytes(fastest.block_size)) } else { String::new() };
    let Knee { depth: enough, rate, highest_rate, open_ended } = knee;
    if open_ended {
        return Some(format!("the rate{of_size} still grows at {}, the deepest", depth(enough)));
    }
    let more = highest_rate / rate - 1.0;
    let adds =
        if more < GAIN_MIN { "waiting only".to_owned() } else { format!("{} and waiting", numbers::percent(more)) };
    let of_size = if has_sizes { format!("at {} ", numbers::bytes(fastest.block_size)) } else { String::new() };
    Some(format!("{of_size}deeper than {} adds {adds}", depth(enough)))
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{
        record::Outcome,
        told::{Direction, Measured, Transfers},
    };
    use plimsoll_workload::{certainty::Certainty, settings::Effort, workload::Workload};

    use super::*;
    use crate::test_records::{self, Story};

    /// A run of random reads, one cell for each combination, with these rates.
    fn run(settings: &str, rates: &[u64], certainty: Certainty) -> Record {
        let asked: Workload = toml::from_str(&format!("rw = 'randread'\n{settings}")).unwrap();
        let workloads = asked.expand();
        assert_eq!(workloads.len(), rates.len());
        let mut story = Story::with(&["/mnt/data"], &workloads, certainty);
        rates.iter().enumerate().for_each(|(cell, iops)| story.measure(cell, *iops, 600_000));
        story.end(54_000_000_000, Outcome::Complete)
    }

    fn quick() -> Certainty {
        Certainty::of(Effort::Quick)
    }

    fn knees(sweep: &Sweep) -> Vec<(u64, u64)> {
        let place = |cell: &SweepCell| (sweep.block_sizes[cell.block_size], sweep.depths[cell.depth]);
        sweep.cells.iter().filter(|cell| cell.is_knee).map(place).collect()
    }

    #[test]
    fn the_knee_is_the_shallowest_depth_with_nearly_all_of_the_rate() {
        let record = run("queue_depth = [1, 8, 32, 128]", &[1000, 20_000, 53_000, 55_300], quick());
        let [sweep] = &of(&[&record])[..] else { panic!("one sweep") };
        assert_eq!(sweep.title, "most IOPS at QD128 (55.3k); deeper than QD32 adds 4.3 % and waiting");
        assert_eq!((sweep.pattern.as_str(), knees(sweep)), ("randread", vec![(4096, 32)]));
        assert_eq!((&sweep.block_sizes[..], &sweep.depths[..]), (&[4096][..], &[1, 8, 32, 128][..]));
        assert!(sweep.cells.iter().all(|cell| cell.p99_us.is_some() && cell.word == "short"));
        let level = of(&[&run("queue_depth = [1, 8, 32]", &[1000, 5000, 5001], quick())]);
        assert_eq!(level[0].title, "most IOPS at QD32 (5,001); deeper than QD8 adds waiting only");
        let growing = of(&[&run("queue_depth = [1, 8, 32]", &[1000, 5000, 9000], quick())]);
        assert_eq!(growing[0].title, "most IOPS at QD32 (9,000); the rate still grows at QD32, the deepest");
        assert_eq!(knees(&growing[0]), [], "nobody knows where more only waits");
    }

    #[test]
    fn depths_that_ran_at_the_same_time_are_no_sweep() {
        let mut record = run("queue_depth = [1, 8, 32]", &[1000, 5000, 9000], quick());
        record.cells.iter_mut().zip(0..).for_each(|(cell, phase)| cell.phase = Some(phase));
        assert_eq!(of(&[&record]).len(), 1);
        record.cells.iter_mut().for_each(|cell| cell.phase = Some(1));
        assert_eq!(of(&[&record]).len(), 0);
    }

    #[test]
    fn each_block_size_has_its_own_knee_and_the_limits_cross_at_one() {
        let limit = Certainty { limit: Some("iops=7500,bandwidth=250MB".parse().unwrap()), ..quick() };
        let settings = "block_size = ['4k', '64k']\nqueue_depth = [1, 8, 32]";
        let record = run(settings, &[1000, 7000, 7500, 900, 3800, 3814], limit);
        let [sweep] = &of(&[&record])[..] else { panic!("one sweep") };
        assert_eq!(knees(sweep), [(65_536, 8)], "that of the smaller blocks still grows");
        assert!(sweep.title.starts_with("most IOPS at 4 KiB QD32 (7,500); most MB/s at 64 KiB QD32 (250); the rate"));
        let crossover = sweep.crossover_bytes.unwrap();
        assert!((crossover - 250e6 / 7500.0).abs() < 1.0, "{crossover}");
    }

    #[test]
    fn depth_is_what_all_jobs_keep_in_flight() {
        let record = run("jobs = [1, 2, 4]\nqueue_depth = 8\nfiles = 'shared'", &[1000, 1900, 3000], quick());
        let [sweep] = &of(&[&record])[..] else { panic!("one sweep") };
        assert_eq!(sweep.depths, [8, 16, 32]);
        assert!(sweep.title.starts_with("most IOPS at depth 32 (3,000)"), "{}", sweep.title);
        // One job with two in flight is not two jobs with one.
        let settings = "jobs = [1, 2]\nqueue_depth = [1, 2, 4]\nfiles = 'shared'";
        let both = of(&[&run(settings, &[1, 2, 3, 4, 5, 6].map(|rate| rate * 1000), quick())]);
        assert_eq!(both.iter().map(|sweep| sweep.depths.clone()).collect::<Vec<_>>(), [[1, 2, 4], [2, 4, 8]]);
    }

    #[test]
    fn what_differs_otherwise_or_is_too_little_is_no_sweep() {
        assert_eq!(of(&[&run("queue_depth = [1, 8]", &[1000, 2000], quick())]), []);
        assert_eq!(of(&[&test_records::canonical()]), [], "three questions, and not one varied");
        let mut record = run("queue_depth = [1, 8, 32]", &[1000, 2000, 3000], quick());
        record.cells[1].target = "/mnt/other".to_owned();
        assert_eq!(of(&[&record]), []);
    }

    #[test]
    fn sweeps_of_other_programs_count_as_far_as_they_told() {
        let told = |block: u64, depth, iops: f64| {
            let write = Some(Direction { iops: Some(iops), ..Direction::default() });
            let pattern = Some("randwrite".to_owned());
            let (block_size_bytes, queue_depth) = (Some(block), depth);
            let transfers = Transfers { pattern, block_size_bytes, queue_depth, write, ..Transfers::default() };
            ("P40", "job", Measured::Transfers(Box::new(transfers)))
        };
        let of_small = [told(4096, Some(1), 500.0), told(4096, Some(16), 7000.0)];
        let all = [&of_small[..], &[told(65_536, Some(1), 400.0), told(65_536, Some(16), 3000.0)]].concat();
        let [sweep] = &of(&[&test_records::told(&all)])[..] else { panic!("one sweep") };
        assert_eq!((sweep.cells.len(), sweep.cells[2].word.as_str()), (4, "told"));
        assert!((sweep.cells[3].bytes_per_second - 3000.0 * 65_536.0).abs() < 1.0);
        let mut unknown = all;
        unknown[3] = told(65_536, None, 3000.0);
        assert_eq!(of(&[&test_records::told(&unknown)]), [], "nobody told the depth");
    }
}
