//! Pictures of scripted runs, as text.

use plimsoll_measure::verdict::Verdict;
use plimsoll_record::{
    event::RunEvent,
    judgement::Judgement,
    results::{Finding, Severity},
};
use plimsoll_workload::plan::Plan;
use ratatui::{Terminal, backend::TestBackend};

use super::*;
use crate::progress::{
    state::ProgressState,
    test_events::{
        SECOND_NS, applications, file_sets, finished, finished_with, interval, iterated, laid_out, layout, load,
        passed, plan, started, twelve_seconds, two_cells,
    },
};

fn picture(plan: &Plan, events: &[(u64, RunEvent)]) -> Picture {
    let mut state = ProgressState::new(plan, 0);
    let mut now_ns = 0;
    for (second, event) in events {
        now_ns = second * SECOND_NS;
        state.apply(event, now_ns);
    }
    let details = state.details();
    let chosen = details.current;
    Picture {
        shown: state.shown(now_ns),
        past: state.past(chosen),
        details,
        chosen,
        is_pinned: false,
        keys: "q stop  d bars",
        colour: true,
        plain: false,
    }
}

/// Each row between quotation marks.
fn drawn(picture: &Picture, columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| picture.draw(frame.buffer_mut())).unwrap();
    terminal.backend().to_string()
}

fn warning(text: &str) -> RunEvent {
    RunEvent::Warning { text: text.to_owned() }
}

fn progress(cell: usize, precision: f64, is_done: bool) -> RunEvent {
    RunEvent::CellProgress {
        cell,
        precision: Some(precision),
        precision_wanted: Some(0.02),
        is_done,
        run_remaining_ns: 36 * SECOND_NS,
        run_remaining_max_ns: 36 * SECOND_NS,
    }
}

fn judged(cell: usize, verdict: Verdict) -> RunEvent {
    let judgement =
        Judgement { verdict, window: None, estimate: None, stability: None, burst: None, moved: None, period_ns: None };
    RunEvent::CellFinished { cell, judgement: Box::new(judgement) }
}

/// A run in its middle: one cell has its verdict, one is being measured, two wait.
fn in_the_middle() -> Picture {
    let plan = plan(&["/mnt/data", "/mnt/other"], &[twelve_seconds("reads"), twelve_seconds("writes")]);
    let mut events = vec![(0, laid_out("/mnt/data")), (1, laid_out("/mnt/other")), (1, started(0, 0))];
    events.extend((2..=6).map(|second| (second, interval(0, 9_000 + second))));
    events.extend([(7, finished(0, 0, 0)), (7, started(0, 1)), (8, interval(0, 9_100)), (13, finished(0, 1, 3))]);
    events.extend([(13, progress(0, 0.004, true)), (13, judged(0, Verdict::Steady)), (14, started(1, 0))]);
    events.extend((15..=18).map(|second| (second, interval(1, 300 * (second - 12)))));
    let finding = Finding {
        code: "some".to_owned(),
        severity: Severity::Warning,
        text: "a cache answered some of the reads, so that the storage is slower than this rate says".to_owned(),
        evidence: serde_json::Map::new(),
    };
    events.push((18, RunEvent::Found { cell: 0, finding }));
    events.push((19, warning("another process used the disk")));
    let mut picture = picture(&plan, &events);
    // As rules say it that decide when a cell is done.
    picture.details.cells[1].precision = "+-5.2 % of 2 %".to_owned();
    picture
}

#[test]
fn a_wide_terminal_shows_all_cells_both_charts_and_what_was_found() {
    insta::assert_snapshot!(drawn(&in_the_middle(), 100, 30), @r#"
    "plimsoll /mnt/data, /mnt/other                                                                      "
    "[######----------] 19 s in, 31 s left                                            3 errors in 2 slots"
    "measuring writes on /mnt/data, cell 2 of 4, round 1 of 2                                            "
    "                                                                                                    "
    "  cell                                       slots     IOPS     MB/s      p99      precision   state"
    "  reads on /mnt/data                           2/2    9,100     37.3   210 us +-0.4 % of 2 %  steady"
    "> writes on /mnt/data                          0/2    1,800     7.37   210 us +-5.2 % of 2 % running"
    "  reads on /mnt/other                          0/2                                           pending"
    "  writes on /mnt/other                         0/2                                           pending"
    "                                                                                                    "
    "IOPS, 0 to 2,000, last 4 s of writes on /mnt/data                                                   "
    "   ▃                                                                                                "
    "  ▄█                                                                                                "
    " ▄██                                                                                                "
    "▅███                                                                                                "
    "████                                                                                                "
    "████                                                                                                "
    "p99, 0 to 500 us, in the same seconds                                                               "
    "                                                                                                    "
    "                                                                                                    "
    "                                                                                                    "
    "▄▄▄▄                                                                                                "
    "████                                                                                                "
    "████                                                                                                "
    "                                                                                                    "
    "warning: reads on /mnt/data: a cache answered some of the reads, so that the storage is slower than "
    "  this rate says                                                                                    "
    "warning: another process used the disk                                                              "
    "                                                                                                    "
    "q stop  d bars                                                                                      "
    "#);
}

#[test]
fn a_narrow_one_leaves_out_columns_first() {
    insta::assert_snapshot!(drawn(&in_the_middle(), 60, 20), @r#"
    "plimsoll /mnt/data, /mnt/other                              "
    "[######----------] 19 s in, 31 s left    3 errors in 2 slots"
    "measuring writes on /mnt/data, cell 2 of 4, round 1 of 2    "
    "                                                            "
    "  cell                       slots     IOPS      p99   state"
    "  reads on /mnt/data           2/2    9,100   210 us  steady"
    "> writes on /mnt/data          0/2    1,800   210 us running"
    "  reads on /mnt/other          0/2                   pending"
    "  writes on /mnt/other         0/2                   pending"
    "                                                            "
    "IOPS, 0 to 2,000, last 4 s of writes on /mnt/data           "
    " ▁▄▆                                                        "
    "▇███                                                        "
    "p99, 0 to 500 us, in the same seconds                       "
    "                                                            "
    "▆▆▆▆                                                        "
    "                                                            "
    "warning: another process used the disk                      "
    "                                                            "
    "q stop  d bars                                              "
    "#);
}

#[test]
fn the_least_one_shows_what_is_measured_and_its_iops() {
    insta::assert_snapshot!(drawn(&in_the_middle(), 40, 10), @r#"
    "plimsoll /mnt/data, /mnt/other          "
    "19 s in, 31 s left   3 errors in 2 slots"
    "measuring writes on.. of 4, round 1 of 2"
    "  1-2 of 4        slots     IOPS   state"
    "  reads ..nt/data   2/2    9,100  steady"
    "> writes..nt/data   0/2    1,800 running"
    "IOPS, 0 to 2,000, last 4 s of writes on "
    "▃▄▆▇                                    "
    "warning: another process used the disk  "
    "q stop  d bars                          "
    "#);
}

#[test]
fn what_is_less_than_that_gets_a_few_lines() {
    insta::assert_snapshot!(drawn(&in_the_middle(), 30, 3), @r#"
    "measuring writes on /mnt/data,"
    "19 s in, 31 s left            "
    "1,800 IOPS, 7.37 MB/s, p99 210"
    "#);
}

#[test]
fn files_that_are_written_are_told_before_anything_is_measured() {
    let events = [(0, layout(0, 4 << 30)), (2, layout(1 << 30, 4 << 30))];
    insta::assert_snapshot!(drawn(&picture(&two_cells(), &events), 60, 12), @r#"
    "plimsoll /mnt/data                                          "
    "[----------------] 2 s in, 30 s left                        "
    "writing test files in /mnt/data, 1 GiB of 4 GiB             "
    "  cell             slots     IOPS      p99 precision   state"
    "  first              0/2                             pending"
    "  second             0/2                             pending"
    "IOPS: nothing measured yet of first                         "
    "                                                            "
    "p99: nothing measured yet                                   "
    "                                                            "
    "                                                            "
    "q stop  d bars                                              "
    "#);
}

#[test]
fn ramps_are_not_drawn_and_seconds_are_as_long_as_they_were() {
    // A ramp of 0.2 s, and 1.2 s of measured time, as slots of quick runs have it.
    let slot = |round: u32, at: u64| {
        [
            (at, started(0, round)),
            (at, load(0, round, 9_000, SECOND_NS / 5, false)),
            (at + 1, load(0, round, 1_000, SECOND_NS, true)),
            (at + 1, load(0, round, 800, SECOND_NS / 5, true)),
        ]
    };
    let mut events: Vec<_> = slot(0, 0).into();
    // 1,800 in 1.2 s; neither the 45,000 a second of the ramp nor the 4,000 of the last fifth.
    let text = drawn(&picture(&two_cells(), &events), 100, 30);
    assert!(text.contains("IOPS, 0 to 2,000, last 1 s of first"), "{text}");
    assert!(text.contains("> first") && text.contains(" 1,500 "), "{text}");
    events.push((2, finished_with(0, 0, 9_000)));
    let text = drawn(&picture(&two_cells(), &events), 100, 30);
    assert!(text.contains(" 1,800 ") && !text.contains(" 4,000 "), "the mean of the slot: {text}");
    for round in 1..5 {
        events.extend(slot(round, 2 * u64::from(round)));
    }
    let text = drawn(&picture(&two_cells(), &events), 100, 30);
    assert!(text.contains("last 6 s of first"), "five slots of 1.2 s: {text}");
    let bars = text.lines().filter(|line| line.starts_with("\"█")).map(|line| line.matches('█').count());
    assert_eq!(bars.max(), Some(5), "{text}");
}

#[test]
fn a_ramp_is_called_one_beside_its_rate() {
    let events = [(0, started(0, 0)), (1, load(0, 0, 70, SECOND_NS, false))];
    let text = drawn(&picture(&two_cells(), &events), 100, 30);
    let row = text.lines().find(|line| line.starts_with("\"> first")).unwrap();
    assert!(row.contains(" 70.0 ") && row.contains(" ramp"), "{text}");
    assert!(text.contains("IOPS: nothing measured yet of first"), "{text}");
    let events = [events.as_slice(), &[(2, interval(0, 80))]].concat();
    let text = drawn(&picture(&two_cells(), &events), 100, 30);
    let row = text.lines().find(|line| line.starts_with("\"> first")).unwrap();
    assert!(row.contains(" 80.0 ") && row.contains(" running"), "{text}");
}

#[test]
fn of_an_application_and_of_files_there_are_the_times_of_slots() {
    let events = [(0, started(0, 0)), (2, iterated(0, 0, 1_200)), (2, started(0, 1)), (4, iterated(0, 1, 1_900))];
    insta::assert_snapshot!(drawn(&picture(&applications(), &events), 60, 14), @r#"
    "plimsoll /mnt/data                                          "
    "[######----------] 4 s in, 6 s left     no errors in 2 slots"
    "between slots                                               "
    "  cell                      slots     time precision   state"
    "  sleep 1                     2/5   1.90 s           pending"
    "time, 0 to 2.00 s, last 2 slots of sleep 1                  "
    " ▆                                                          "
    "▆█                                                          "
    "██                                                          "
    "                                                            "
    "                                                            "
    "                                                            "
    "                                                            "
    "q stop  d bars                                              "
    "#);
    let events = [(0, started(0, 0)), (3, passed(0, 0, &[500, 700]))];
    let text = drawn(&picture(&file_sets(), &events), 80, 20);
    assert!(text.contains("time, 0 to 2.00 s, last slot of ") && text.contains(" 1.20 s "), "{text}");
    assert!(!text.contains("IOPS") && !text.contains("p99"), "{text}");
}

#[test]
fn errors_are_those_of_slots_that_are_over() {
    let events = [(0, started(0, 0)), (1, interval(0, 10))];
    assert!(!drawn(&picture(&two_cells(), &events), 100, 30).contains("no errors"));
    for (failures, told) in
        [(0, "no errors in 1 slot\""), (1, "1 error in 1 slot\""), (1200, "1,200 errors in 1 slot\"")]
    {
        let events = [events.as_slice(), &[(6, finished(0, 0, failures))]].concat();
        let text = drawn(&picture(&two_cells(), &events), 100, 30);
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn a_chosen_cell_is_marked_whatever_is_measured() {
    let mut picture = in_the_middle();
    picture.is_pinned = true;
    let text = drawn(&picture, 100, 30);
    assert!(text.contains("\"* writes on /mnt/data ") && !text.contains("\"> "), "{text}");
}

#[test]
fn where_only_ascii_is_known_nothing_else_is_drawn() {
    let mut picture = in_the_middle();
    picture.plain = true;
    let text = drawn(&picture, 100, 30);
    assert!(text.is_ascii() && text.contains("\"####"), "{text}");
}

#[test]
fn what_does_not_fit_is_marked_as_cut() {
    let long = "word ".repeat(60);
    let mut picture = picture(&two_cells(), &[(0, started(0, 0)), (1, warning(long.trim()))]);
    let text = drawn(&picture, 40, 12);
    assert!(
        text.lines().any(|line| line.starts_with("\"warning: word") && line.trim_end().ends_with(" ..\"")),
        "{text}"
    );
    picture.shown.phase = format!("measuring {} on /mnt, cell 2 of 4, round 1 of 2", "name".repeat(30));
    assert!(drawn(&picture, 60, 12).contains("cell 2 of 4, round 1 of 2\""));
}

#[test]
fn names_that_would_act_on_a_terminal_or_are_wide_break_no_frame() {
    let workloads = [twelve_seconds("\u{1b}[2J\u{7}red\nline"), twelve_seconds("漢字の名前はとても長いです長い")];
    let plan = plan(&["/mnt/\u{202e}data\r", "/mnt/e\u{301}"], &workloads);
    let events = [(0, started(0, 0)), (1, interval(0, 10)), (1, warning("\u{1b}]0;title\u{7} 漢字"))];
    let picture = picture(&plan, &events);
    for (columns, rows) in [(100, 30), (41, 10), (40, 11), (7, 2), (1, 1)] {
        let text = drawn(&picture, columns, rows);
        let harmful = |character: char| character.is_control() && character != '\n' || character == '\u{202e}';
        assert!(!text.contains(harmful), "{text:?}");
    }
    insta::assert_snapshot!(drawn(&picture, 60, 14), @r#"
    "plimsoll /mnt/\u{202e}data , /mnt/é                         "
    "[----------------] 1 s in, 47 s left                        "
    "measuring \u{1b}[2J\u{7}red l..a , cell 1 of 4, round 1 of 2"
    "  cell                                slots     IOPS   state"
    "> \u{1b}[2J\u{7}re..mnt/\u{202e}data    0/2     10.0 running"
    "  漢字の名前はとても長い..{202e}data    0/2          pending" Hidden by multi-width symbols: [(3, " "), (5, " "), (7, " "), (9, " "), (11, " "), (13, " "), (15, " "), (17, " "), (19, " "), (21, " "), (23, " ")]
    "  \u{1b}[2J\u{7}red line on /mnt/é      0/2          pending"
    "  漢字の名前はとても長い.. on /mnt/é    0/2          pending" Hidden by multi-width symbols: [(3, " "), (5, " "), (7, " "), (9, " "), (11, " "), (13, " "), (15, " "), (17, " "), (19, " "), (21, " "), (23, " ")]
    "IOPS, 0 to 10.0, last 1 s of \u{1b}[2J\u{7}red line on /mnt/"
    "█                                                           "
    "p99, 0 to 500 us, in the same seconds                       "
    "▃                                                           "
    "warning: \u{1b}]0;title\u{7} 漢字                           " Hidden by multi-width symbols: [(30, " "), (32, " ")]
    "q stop  d bars                                              "
    "#);
}

#[test]
fn every_size_can_be_drawn_and_shows_the_measured_cell() {
    let picture = in_the_middle();
    for columns in [1, 2, 5, 12, 39, 40, 41, 53, 60, 61, 80, 100, 129] {
        for rows in 1..45 {
            let text = drawn(&picture, columns, rows);
            if columns >= LEAST_COLUMNS && rows >= LEAST_ROWS {
                assert!(text.contains("\"> "), "{columns}x{rows}:\n{text}");
                assert!(text.contains("IOPS, 0 to "), "{columns}x{rows}:\n{text}");
                assert!(text.lines().nth(usize::from(rows) - 1).unwrap().starts_with("\"q stop"), "{text}");
            }
        }
    }
}

#[test]
fn of_more_cells_than_rows_those_around_the_chosen_one_are_shown() {
    let workloads: Vec<_> = (1..=50).map(|number| twelve_seconds(&format!("workload-{number}"))).collect();
    let mut picture = picture(&plan(&["/mnt/data"], &workloads), &[(0, started(29, 0))]);
    let text = drawn(&picture, 80, 24);
    assert!(text.contains("> workload-30 ") && !text.contains("workload-3 "), "{text}");
    picture.is_pinned = true;
    for (chosen, seen) in [(0, "* workload-1 "), (49, "* workload-50 ")] {
        picture.chosen = chosen;
        let text = drawn(&picture, 80, 24);
        assert!(text.contains(seen) && text.contains(" of 50"), "{text}");
    }
}

#[test]
fn without_colours_nothing_is_coloured_and_all_is_said() {
    let mut picture = in_the_middle();
    let coloured = drawn(&picture, 100, 30);
    picture.colour = false;
    let mut buffer = Buffer::empty(Rect::new(0, 0, 100, 30));
    picture.draw(&mut buffer);
    assert!(buffer.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    assert_eq!(drawn(&picture, 100, 30), coloured);
}

#[test]
fn a_scale_is_a_round_number_that_seldom_changes() {
    for (value, top) in [(0, 1), (1, 1), (3, 5), (9_812, 10_000), (10_000, 10_000), (10_001, 20_000)] {
        assert_eq!(round_up(value), top);
    }
    assert_eq!(round_up(u64::MAX), u64::MAX);
}

#[test]
fn a_long_name_keeps_both_its_ends() {
    assert_eq!(shortened("randread on /mnt/one", 20), "randread on /mnt/one");
    assert_eq!(shortened("randread on /mnt/a/long/path/one", 16), "randrea..ath/one");
    assert_eq!(shortened("漢字の名前", 8), "漢..名前");
}
