//! What will be done, before it is done: the exact plan, the presets, and what `doctor` found out.

mod applications;
mod files;

use std::fmt::Write;

use plimsoll_measure::session::{Session, SessionPlan};
use plimsoll_record::{judgement, numbers};
use plimsoll_workload::{
    certainty::StoppingRule,
    distribution::Distribution,
    limit::Expected,
    plan::{BlockPlan, CellPlan, Pacing, Plan, Work},
    settings::{AccessHint, FileSharing},
    units::Span,
};

use crate::{
    grid::{Column, Grid, Side},
    printable, wrapping,
};

/// Labels take this many columns.
const LABEL_WIDTH: usize = 14;

/// Lines of a plan are broken at this width.
const WIDTH: usize = 100;

/// A plan as text: every parameter of every cell, in the units in which flags and plan files take them.
pub fn plan(plan: &Plan) -> String {
    let Plan { seed, effort, precision, max_time_ns, bookend_ns, turn, cells } = plan;
    let mut out = format!("plan: {}, effort {effort}, seed {seed}\n", counted(cells.len() as u64, "cell"));
    if let Some(precision) = precision {
        let _ = writeln!(out, "precision: {}", numbers::percent(*precision));
    }
    if let Some(time_ns) = max_time_ns {
        let _ = writeln!(out, "no new slot after {}", Span { ns: *time_ns });
    }
    if let Some(time_ns) = bookend_ns {
        let _ = writeln!(out, "every target once more after {}", Span { ns: *time_ns });
    }
    if let Some(turn) = turn {
        let _ = writeln!(out, "targets from number {} on, at the same time as others", turn + 1);
    }
    for (index, cell) in cells.iter().enumerate() {
        push_cell(&mut out, index, cell);
    }
    out
}

fn push_cell(out: &mut String, index: usize, cell: &CellPlan) {
    let CellPlan { target, workload, stopping, phase, expected, work } = cell;
    let _ = writeln!(out, "\ncell {}: {} on {}", index + 1, printable::line(workload), printable::line(target));
    if let Some(phase) = phase {
        let text = format!("{phase}, at the same time as the other cells of it");
        *out += &wrapping::labelled(&format!("  {:<LABEL_WIDTH$}", "phase"), &text, WIDTH);
    }
    if let Some(Expected { limit, source, .. }) = expected {
        let text = format!("{} ({})", limit, printable::line(source));
        *out += &wrapping::labelled(&format!("  {:<LABEL_WIDTH$}", "expected"), &text, WIDTH);
    }
    let parameters = match work {
        Work::Blocks(plan) => parameters(stopping, plan),
        Work::Files(plan) => files::parameters(stopping, plan),
        Work::Application(plan) => applications::parameters(stopping, plan),
    };
    for (label, text) in parameters {
        *out += &wrapping::labelled(&format!("  {label:<LABEL_WIDTH$}"), &text, WIDTH);
    }
}

/// How often phases are repeated, or a command is timed.
fn iterations(stopping: &StoppingRule) -> String {
    match stopping {
        StoppingRule::Fixed { slots, discarded: 0 } => slots.to_string(),
        StoppingRule::Fixed { slots, discarded } => format!("{slots}, the first {discarded} kept out of the numbers"),
        StoppingRule::Sure => "as many as the effort asks for".to_owned(),
    }
}

/// Every parameter of operations. All fields are named, so that a new one cannot be forgotten here.
fn parameters(stopping: &StoppingRule, blocks: &BlockPlan) -> Vec<(&'static str, String)> {
    let BlockPlan {
        rw,
        read_percent,
        random_percent,
        read_block_sizes,
        write_block_sizes,
        block_size_bytes_max,
        alignment_bytes,
        jobs,
        queue_depth,
        offset_bytes,
        size_bytes,
        offset_increment_bytes,
        files,
        dealt,
        file_count,
        file_order,
        file_names,
        file_size_bytes,
        layout,
        gap_bytes,
        distribution,
        buffered,
        sync,
        fsync_every,
        fdatasync_every,
        end_fsync,
        think_time_ns,
        think_time_operations,
        pacing,
        start_delay_ns,
        ramp_ns,
        slot_ns,
        operations,
        amount_bytes,
        payload,
        verify,
        seed,
        engine,
        batch,
        submit,
        drops_cache,
        access_hint,
        iopoll,
        sqpoll,
        pin,
        keep_going,
        ends_phase,
    } = blocks;
    let yes_no = |value: &bool| if *value { "yes" } else { "no" }.to_owned();
    let every = |count: &u64| {
        if *count == 0 { "never".to_owned() } else { format!("every {} writes of a job", numbers::count(*count)) }
    };
    let shared = match (files, file_count) {
        (FileSharing::Shared, 1) => "one file or device for all jobs".to_owned(),
        (FileSharing::PerJob, 1) => "a file for each job".to_owned(),
        (FileSharing::Shared, count) => format!("{count} files for all jobs, {file_order}"),
        (FileSharing::PerJob, count) => format!("{count} files for each job, {file_order}"),
    };
    let shared = match dealt {
        Some(dealt) => format!("{shared}, dealt among {} disks", dealt.disks),
        None => shared,
    };
    let shared = match offset_increment_bytes {
        Some(apart) => format!("{shared}, from job to job {} on", exact(*apart)),
        None => shared,
    };
    let names = if file_names.is_empty() { String::new() } else { format!(", called {}", file_names.0.join(", ")) };
    let access = match blocks.name_operation() {
        Some(operation) if *random_percent > 0 => format!("{operation} files, in random order"),
        Some(operation) => format!("{operation} files, one after the other"),
        None => format!("{rw}, {read_percent}% reads, {random_percent}% at random offsets"),
    };
    let length = file_size_bytes.map_or_else(String::new, |bytes| format!(", of {} each", exact(bytes)));
    vec![
        ("access", access),
        (
            "blocks",
            format!(
                "read {read_block_sizes}, write {write_block_sizes}, at most {}",
                exact(u64::from(*block_size_bytes_max))
            ),
        ),
        ("alignment", exact(u64::from(*alignment_bytes))),
        ("concurrency", format!("{}, queue depth {queue_depth} each", counted(u64::from(*jobs), "job"))),
        ("region", format!("{} from offset {}, {shared}", exact(*size_bytes), exact(*offset_bytes))),
        ("new files", format!("{layout}{names}{length}")),
        ("gap", format!("{} between sequential operations", exact(*gap_bytes))),
        ("distribution", distribution_in_words(distribution, *random_percent)),
        ("cache", cache(*buffered, *drops_cache, *access_hint)),
        ("sync", format!("each write {sync}, fsync {}, fdatasync {}", every(fsync_every), every(fdatasync_every))),
        ("end fsync", yes_no(end_fsync)),
        (
            "think time",
            format!(
                "{} after each {}",
                Span { ns: *think_time_ns },
                counted(u64::from(*think_time_operations), "operation")
            ),
        ),
        ("pacing", pacing_in_words(pacing, *jobs)),
        ("start delay", Span { ns: *start_delay_ns }.to_string()),
        ("slots", slots(stopping, *ramp_ns, *slot_ns)),
        ("amount", amount(*operations, *amount_bytes)),
        ("payload", payload.to_string()),
        ("verify", yes_no(verify)),
        ("seed", seed.to_string()),
        (
            "engine",
            format!(
                "{engine}, waits for {}, submits {}, iopoll {}, sqpoll {}",
                counted(u64::from(*batch), "operation"),
                submit.map_or_else(|| "all at once".to_owned(), |most| format!("at most {most} at once")),
                yes_no(iopoll),
                yes_no(sqpoll)
            ),
        ),
        ("processors", pin.to_string()),
        ("keep going", yes_no(keep_going)),
        ("ends phase", yes_no(ends_phase)),
    ]
}

fn cache(buffered: bool, drops_cache: bool, hint: Option<AccessHint>) -> String {
    if !buffered {
        return "direct I/O".to_owned();
    }
    let without = if drops_cache { ", which is without the files before each pass" } else { "" };
    let hint = hint.map_or_else(String::new, |hint| format!(", told to expect {hint} access"));
    format!("buffered: through the page cache{without}{hint}")
}

/// A size without rounding: a plan is exact.
fn exact(bytes: u64) -> String {
    plimsoll_workload::units::ByteCount(bytes).to_string()
}

/// `1 job`, `2 jobs`.
fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", numbers::count(count), if count == 1 { "" } else { "s" })
}

fn distribution_in_words(distribution: &Distribution, random_percent: u8) -> String {
    if random_percent == 0 { "none: no random offsets".to_owned() } else { distribution.to_string() }
}

fn pacing_in_words(pacing: &Pacing, jobs: u32) -> String {
    match pacing {
        Pacing::Closed => "closed loop: as soon as an earlier operation completes".to_owned(),
        Pacing::Open { arrival, operations_per_second_per_job, bytes_per_second_per_job } => {
            let operations = operations_per_second_per_job.map(|rate| format!("{rate} operations/s"));
            let bytes = bytes_per_second_per_job.map(|rate| format!("{rate} bytes/s"));
            let rate = [operations, bytes].into_iter().flatten().collect::<Vec<_>>().join(" and ");
            format!("open loop: {arrival} arrivals, {rate} for each of {jobs} jobs")
        }
    }
}

fn slots(stopping: &StoppingRule, ramp_ns: u64, slot_ns: Option<u64>) -> String {
    let ramp = Span { ns: ramp_ns };
    let StoppingRule::Fixed { slots, discarded } = stopping else {
        return format!("as many as the effort asks for, each with {ramp} of ramp");
    };
    let measured = slot_ns
        .map_or_else(|| "measured until the amount is done".to_owned(), |ns| format!("{} measured", Span { ns }));
    let kept_out =
        if *discarded > 0 { format!(", the first {discarded} kept out of the numbers") } else { String::new() };
    format!("{slots}, each with {ramp} of ramp and {measured}{kept_out}")
}

fn amount(operations: Option<u64>, bytes: Option<u64>) -> String {
    let operations = operations.map(|count| format!("{} operations", numbers::count(count)));
    let parts: Vec<String> = operations.into_iter().chain(bytes.map(exact)).collect();
    if parts.is_empty() { "none: time ends a slot".to_owned() } else { format!("ends after {}", parts.join(" or ")) }
}

/// How long a plan takes, in a line: what is measured, and what else the time goes to. The writing of test files comes
/// on top, and nobody knows how long that takes.
pub fn times(plan: &Plan, writes_test_files: bool) -> String {
    let cells = counted(plan.cells.len() as u64, "cell");
    let is_decided = plan.cells.iter().all(|cell| cell.stopping != StoppingRule::Sure);
    let time = if is_decided { times_by_plan(plan) } else { times_by_rules(plan) };
    let files = if writes_test_files { "; test files are written first" } else { "" };
    format!("{cells}, {time}{files}{}", files::in_all(plan))
}

/// How long the session of a plan takes, and how long at most. A slot that only its amount ends counts as none: nobody
/// knows how long it takes.
fn takes_ns(mut plan: SessionPlan) -> (u64, u64) {
    for fixed in plan.cells.iter_mut().filter_map(|cell| cell.fixed.as_mut()) {
        fixed.measured_ns.get_or_insert(0);
    }
    Session::new(plan).remaining_ns(0)
}

/// The time of cells whose end is known, and what it goes to.
fn times_by_plan(plan: &Plan) -> String {
    let mut session = SessionPlan { time_max_ns: None, ..judgement::session_plan(plan) };
    let (total_ns, _) = takes_ns(session.clone());
    session.cells.iter_mut().for_each(|cell| cell.start_delay_ns = 0);
    let (undelayed_ns, _) = takes_ns(session.clone());
    session.cells.iter_mut().for_each(|cell| cell.ramp_ns = Some(0));
    let (measured_ns, _) = takes_ns(session);
    let cut_ns = plan.max_time_ns.filter(|max_ns| *max_ns < total_ns);
    let is_open = plan.cells.iter().any(|cell| cell.work.is_open_ended());
    let hedge = if let Some(max_ns) = cut_ns {
        format!("at most {} of {}", numbers::duration(max_ns), if is_open { "at least " } else { "" })
    } else if is_open {
        "at least ".to_owned()
    } else if plan.cells.iter().any(|cell| cell.work.ends_by_amount()) {
        "at most ".to_owned()
    } else {
        String::new()
    };
    let parts = [
        (measured_ns, "of measuring"),
        (undelayed_ns - measured_ns, "of ramps"),
        (total_ns - undelayed_ns, "of delays"),
    ];
    let parts: Vec<_> = parts
        .into_iter()
        .filter(|(ns, _)| *ns > 0)
        .map(|(ns, what)| format!("{} {what}", numbers::duration(ns)))
        .collect();
    match (total_ns, parts.len()) {
        (0, _) if plan.cells.iter().all(|cell| cell.blocks().is_some()) => "until the amounts are done".to_owned(),
        (0, _) => "until all of it is done".to_owned(),
        (_, 1) => format!("{hedge}{}", parts[0]),
        _ => format!("{hedge}{}: {}", numbers::duration(total_ns), parts.join(", ")),
    }
}

/// The time of cells of which at least one ends when its rate is sure. What ends by its amount may take none.
fn times_by_rules(plan: &Plan) -> String {
    let session = judgement::session_plan(plan);
    let (_, longest_ns) = takes_ns(session.clone());
    let mut brief = session;
    let by_amount = brief.cells.iter_mut().zip(&plan.cells).filter(|(_, cell)| cell.work.ends_by_amount());
    by_amount.filter_map(|(of, _)| of.fixed.as_mut()).for_each(|fixed| fixed.measured_ns = Some(0));
    let (shortest_ns, unsteady_ns) = takes_ns(brief);
    let is_open = plan.cells.iter().any(|cell| cell.work.is_open_ended());
    let most_ns = if is_open { plan.max_time_ns } else { Some(longest_ns) }.filter(|ns| *ns > shortest_ns);
    let may_take_longer = plan.max_time_ns.is_none_or(|max_ns| shortest_ns < max_ns);
    let by_amount = plan.cells.iter().any(|cell| cell.work.ends_by_amount());
    let least = if by_amount && may_take_longer { "at least " } else { "" };
    let steady = match plan.cells.len() {
        _ if unsteady_ns == shortest_ns => "",
        1 => " if it is steady",
        _ => " if they are steady",
    };
    let most = most_ns.map_or_else(String::new, |ns| format!(", {} at most", numbers::duration(ns)));
    format!("{least}{}{steady}{most}", numbers::duration(shortest_ns))
}

/// A preset in the list of presets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetRow<'a> {
    /// What to call it.
    pub name: &'a str,
    /// What it is, in a line.
    pub about: &'a str,
    /// How many cells it makes on a target.
    pub cells: usize,
}

/// The list of presets.
pub fn presets(rows: &[PresetRow<'_>], width: usize) -> String {
    let text = |value: fn(&PresetRow<'_>) -> String| rows.iter().map(value).collect::<Vec<_>>();
    let columns = vec![
        Column::new("preset", Side::Left, 0, text(|row| row.name.to_owned())),
        Column::new("cells", Side::Right, 1, text(|row| numbers::count(row.cells as u64))),
        Column::new("about", Side::Left, 0, text(|row| row.about.to_owned())),
    ];
    Grid::breaking(2, columns).fit(width).text()
}

/// A line of a diagnosis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoctorRow<'a> {
    /// What was looked at.
    pub name: &'a str,
    /// What was found.
    pub value: &'a str,
    /// What to do about it, when something can or should be done.
    pub advice: Option<&'a str>,
}

/// What `doctor` found, each advice below what it is about.
pub fn doctor(rows: &[DoctorRow<'_>], width: usize) -> String {
    let label_width = rows.iter().map(|row| wrapping::width(row.name)).max().unwrap_or(0) + 2;
    let mut out = String::new();
    for DoctorRow { name, value, advice } in rows {
        out += &wrapping::labelled(&format!("{name:<label_width$}"), value, width);
        if let Some(advice) = advice {
            out += &wrapping::labelled(&format!("{:<label_width$}-> ", ""), advice, width);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::{
        settings::{Arrival, Effort, ReadWrite},
        workload::Workload,
    };

    use super::*;
    use crate::test_records;

    #[test]
    fn a_plan_tells_every_parameter() {
        let paced = Workload {
            rw: Some(ReadWrite::RandRw),
            read_percent: Some("70".parse().unwrap()),
            block_size: Some("4k/60:64k/40".parse().unwrap()),
            jobs: Some("2".parse().unwrap()),
            rate: Some("5k".parse().unwrap()),
            arrival: Some(Arrival::Poisson),
            distribution: Some("zipf:1.1".parse().unwrap()),
            operations: Some(1_000_000),
            ..Workload::default()
        };
        let exact = test_records::plan(&["/mnt/data"], &[Workload::default(), paced]);
        let told = plan(&Plan { precision: Some(0.005), ..exact.clone() });
        assert!(told.contains("\nprecision: 0.5 %\n"), "{told}");
        let text = plan(&exact);
        insta::assert_snapshot!(text, @r#"
    plan: 2 cells, effort quick, seed 42

    cell 1: read 4KiB QD1 on /mnt/data
      access        read, 100% reads, 0% at random offsets
      blocks        read 4KiB, write 4KiB, at most 4KiB
      alignment     512B
      concurrency   1 job, queue depth 1 each
      region        1GiB from offset 0B, one file or device for all jobs
      new files     written
      gap           0B between sequential operations
      distribution  none: no random offsets
      cache         direct I/O
      sync          each write none, fsync never, fdatasync never
      end fsync     no
      think time    0s after each 1 operation
      pacing        closed loop: as soon as an earlier operation completes
      start delay   0s
      slots         6, each with 300ms of ramp and 1200ms measured
      amount        none: time ends a slot
      payload       random
      verify        no
      seed          42
      engine        auto, waits for 1 operation, submits all at once, iopoll no, sqpoll no
      processors    none
      keep going    no
      ends phase    no

    cell 2: randrw 70% read 4KiB/60:64KiB/40 QD1 x2 on /mnt/data
      access        randrw, 70% reads, 100% at random offsets
      blocks        read 4KiB/60:64KiB/40, write 4KiB/60:64KiB/40, at most 64KiB
      alignment     512B
      concurrency   2 jobs, queue depth 1 each
      region        1GiB from offset 0B, one file or device for all jobs
      new files     written
      gap           0B between sequential operations
      distribution  zipf:1.1
      cache         direct I/O
      sync          each write none, fsync never, fdatasync never
      end fsync     no
      think time    0s after each 1 operation
      pacing        open loop: poisson arrivals, 2500 operations/s for each of 2 jobs
      start delay   0s
      slots         1, each with 0s of ramp and measured until the amount is done
      amount        ends after 1,000,000 operations
      payload       random
      verify        no
      seed          42
      engine        auto, waits for 1 operation, submits all at once, iopoll no, sqpoll no
      processors    none
      keep going    no
      ends phase    no
    "#);
    }

    #[test]
    fn the_time_of_a_plan_is_told_with_all_that_it_goes_to() {
        // Times in seconds: ramp, slot and start delay of a cell of two slots; a slot of zero is ended by an amount.
        let planned = |cells: &[[u64; 3]]| {
            let workloads = vec![Workload::default(); cells.len()];
            let mut plan = test_records::plan(&["/mnt/data"], &workloads);
            for (cell, [ramp, slot, delay]) in plan.cells.iter_mut().zip(cells) {
                let second_ns = 1_000_000_000;
                cell.stopping = StoppingRule::Fixed { slots: 2, discarded: 0 };
                let blocks = cell.work.blocks_mut().unwrap();
                blocks.ramp_ns = ramp * second_ns;
                blocks.slot_ns = (*slot > 0).then_some(slot * second_ns);
                blocks.start_delay_ns = delay * second_ns;
                blocks.operations = (*slot == 0).then_some(1000);
            }
            plan
        };
        assert_eq!(times(&planned(&[[5, 1, 0]; 6]), false), "6 cells, 1m 12s: 12 s of measuring, 1m 00s of ramps");
        assert_eq!(times(&planned(&[[0, 45, 0]]), true), "1 cell, 1m 30s of measuring; test files are written first");
        assert_eq!(times(&planned(&[[0, 0, 0]]), false), "1 cell, until the amounts are done");
        assert_eq!(
            times(&planned(&[[5, 1, 0], [0, 0, 3]]), false),
            "2 cells, at least 15 s: 2.00 s of measuring, 10 s of ramps, 3.00 s of delays"
        );
        let mut plan = planned(&[[0, 10, 0]]);
        plan.cells[0].work.blocks_mut().unwrap().amount_bytes = Some(1);
        assert_eq!(times(&plan, false), "1 cell, at most 20 s of measuring");
    }

    #[test]
    fn the_time_of_a_plan_is_no_longer_than_what_may_be_used() {
        let told = |max_s: u64, ramp_s: u64| {
            let mut plan = test_records::plan(&["/mnt/data"], &[Workload::default()]);
            plan.max_time_ns = Some(max_s * 1_000_000_000);
            plan.cells[0].stopping = StoppingRule::Fixed { slots: 2, discarded: 0 };
            let blocks = plan.cells[0].work.blocks_mut().unwrap();
            (blocks.ramp_ns, blocks.slot_ns) = (ramp_s * 1_000_000_000, Some(3_000_000_000));
            times(&plan, false)
        };
        assert_eq!(told(5, 1), "1 cell, at most 5.00 s of 8.00 s: 6.00 s of measuring, 2.00 s of ramps");
        assert_eq!(told(5, 0), "1 cell, at most 5.00 s of 6.00 s of measuring");
        assert_eq!(told(8, 1), "1 cell, 8.00 s: 6.00 s of measuring, 2.00 s of ramps");
    }

    #[test]
    fn of_cells_that_run_at_the_same_time_the_longest_takes_the_time() {
        let mut plan = test_records::plan(&["/mnt/data"], &[Workload::default(), Workload::default()]);
        for (cell, [ramp_s, slot_s]) in plan.cells.iter_mut().zip([[0, 9], [2, 8]]) {
            (cell.phase, cell.stopping) = (Some(1), StoppingRule::Fixed { slots: 1, discarded: 0 });
            let blocks = cell.work.blocks_mut().unwrap();
            (blocks.ramp_ns, blocks.slot_ns) = (ramp_s * 1_000_000_000, Some(slot_s * 1_000_000_000));
        }
        assert_eq!(times(&plan, false), "2 cells, 10 s: 9.00 s of measuring, 1.00 s of ramps");
    }

    #[test]
    fn the_time_of_a_cell_alone_has_a_long_ramp_on_top() {
        let told = |ramp_s: u64| {
            let mut plan = test_records::plan(&["/mnt/data"], &[Workload::default()]);
            plan.effort = Effort::Standard;
            plan.cells[0].stopping = StoppingRule::Sure;
            plan.cells[0].work.blocks_mut().unwrap().ramp_ns = ramp_s * 1_000_000_000;
            times(&plan, false)
        };
        assert_eq!(told(2), "1 cell, 2m 18s if it is steady, 30m 00s at most");
        assert_eq!(told(1200), "1 cell, 22m 16s if it is steady, 49m 58s at most");
    }

    #[test]
    fn passes_take_their_time_however_short_the_visits_are() {
        let mut plan = test_records::plan(&["/mnt/data"], &[Workload::default(), Workload::default()]);
        plan.effort = Effort::Standard;
        for cell in &mut plan.cells {
            cell.stopping = StoppingRule::Sure;
            cell.work.blocks_mut().unwrap().ramp_ns = 0;
        }
        assert_eq!(times(&plan, false), "2 cells, 9m 32s if they are steady, 13m 52s at most");
    }

    #[test]
    fn beside_what_ends_by_its_amount_the_time_of_a_plan_is_a_lower_bound() {
        let told = |effort: Effort, slot_s: Option<u64>, max_s: Option<u64>| {
            let mut plan = test_records::plan(&["/mnt/data"], &[Workload::default(), Workload::default()]);
            (plan.effort, plan.max_time_ns) = (effort, max_s.map(|max_s| max_s * 1_000_000_000));
            plan.cells[0].stopping = StoppingRule::Sure;
            plan.cells[1].stopping = StoppingRule::Fixed { slots: 2, discarded: 0 };
            plan.cells.iter_mut().for_each(|cell| cell.work.blocks_mut().unwrap().ramp_ns = 0);
            let blocks = plan.cells[1].work.blocks_mut().unwrap();
            (blocks.operations, blocks.slot_ns) = (Some(1000), slot_s.map(|slot_s| slot_s * 1_000_000_000));
            times(&plan, false)
        };
        assert_eq!(told(Effort::Standard, None, None), "2 cells, at least 9m 32s if they are steady");
        assert_eq!(told(Effort::Standard, None, Some(60)), "2 cells, 1m 00s");
        let limited = told(Effort::Standard, Some(600), None);
        assert_eq!(limited, "2 cells, at least 9m 32s if they are steady, 25m 20s at most");
        assert_eq!(told(Effort::Quick, None, None), "2 cells, at least 7.20 s");
        assert_eq!(told(Effort::Quick, None, Some(60)), "2 cells, at least 7.20 s, 1m 00s at most");
    }

    #[test]
    fn presets_are_listed_with_what_they_are() {
        let rows = [
            PresetRow { name: "canonical", about: "latency, IOPS and throughput of random reads and writes", cells: 6 },
            PresetRow { name: "kbench", about: "the twelve tests of Longhorn's kbench: 30 GiB, 20 s each", cells: 12 },
        ];
        insta::assert_snapshot!(presets(&rows, 60), @r#"
    preset     cells  about
    ───────────────────────────────────────────────────────────
    canonical      6  latency, IOPS and throughput of random
                      reads and writes
    kbench        12  the twelve tests of Longhorn's kbench: 30
                      GiB, 20 s each
    "#);
    }

    #[test]
    fn advice_stands_below_what_it_is_about() {
        let rows = [
            DoctorRow { name: "clock", value: "21.3 ns a reading (tsc)", advice: None },
            DoctorRow {
                name: "governor",
                value: "powersave",
                advice: Some("latencies include waking up slow processors: set it to performance while measuring"),
            },
        ];
        insta::assert_snapshot!(doctor(&rows, 60), @r#"
    clock     21.3 ns a reading (tsc)
    governor  powersave
              -> latencies include waking up slow processors:
                 set it to performance while measuring
    "#);
    }
}
