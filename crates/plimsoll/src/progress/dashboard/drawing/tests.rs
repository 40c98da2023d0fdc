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
    test_events::{SECOND_NS, finished, interval, laid_out, layout, plan, started, twelve_seconds, two_cells},
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
    let seconds = state.seconds(chosen);
    Picture { shown: state.shown(now_ns), details, chosen, seconds, keys: "q stop  d bars", colour: true }
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
        run_remaining_ns: 95 * SECOND_NS,
        run_remaining_max_ns: 200 * SECOND_NS,
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
    picture.details.cells[1].precision = "±5.2 % of 2 %".to_owned();
    picture
}

#[test]
fn a_wide_terminal_shows_all_cells_both_charts_and_what_was_found() {
    insta::assert_snapshot!(drawn(&in_the_middle(), 100, 30), @r#"
    "plimsoll /mnt/data, /mnt/other                                                                      "
    "[######----------] 19 s in, 31 s left                                                       3 errors"
    "measuring writes on /mnt/data, cell 2 of 4, round 1 of 2                                            "
    "                                                                                                    "
    "  cell                                        slots     IOPS     MB/s      p99     precision   state"
    "  reads on /mnt/data                            2/2    9,100     37.3   210 us ±0.4 % of 2 %  steady"
    "> writes on /mnt/data                           0/2    1,800     7.37   210 us ±5.2 % of 2 %     now"
    "  reads on /mnt/other                           0/2                                          waiting"
    "  writes on /mnt/other                          0/2                                          waiting"
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
    "[######----------] 19 s in, 31 s left               3 errors"
    "measuring writes on /mnt/data, cell 2 of 4, round 1 of 2    "
    "                                                            "
    "  cell                       slots     IOPS      p99   state"
    "  reads on /mnt/data           2/2    9,100   210 us  steady"
    "> writes on /mnt/data          0/2    1,800   210 us     now"
    "  reads on /mnt/other          0/2                   waiting"
    "  writes on /mnt/other         0/2                   waiting"
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
    "19 s in, 31 s left              3 errors"
    "measuring writes on /mnt/data, cell 2 of"
    "  cells 1 to 2 of slots     IOPS   state"
    "  reads ..nt/data   2/2    9,100  steady"
    "> writes..nt/data   0/2    1,800     now"
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
    "[----------------] 2 s in, 30 s left               no errors"
    "writing test files in /mnt/data, 1 GiB of 4 GiB             "
    "  cell             slots     IOPS      p99 precision   state"
    "* first              0/2                             waiting"
    "  second             0/2                             waiting"
    "IOPS: no load yet of first                                  "
    "                                                            "
    "p99: no load yet                                            "
    "                                                            "
    "                                                            "
    "q stop  d bars                                              "
    "#);
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
    "[----------------] 1 s in, 47 s left               no errors"
    "measuring \u{1b}[2J\u{7}red line on /mnt/\u{202e}data , cell"
    "  cell                                slots     IOPS   state"
    "> \u{1b}[2J\u{7}re..mnt/\u{202e}data    0/2     10.0     now"
    "  漢字の名前はとても長い..{202e}data    0/2          waiting" Hidden by multi-width symbols: [(3, " "), (5, " "), (7, " "), (9, " "), (11, " "), (13, " "), (15, " "), (17, " "), (19, " "), (21, " "), (23, " ")]
    "  \u{1b}[2J\u{7}red line on /mnt/é      0/2          waiting"
    "  漢字の名前はとても長い.. on /mnt/é    0/2          waiting" Hidden by multi-width symbols: [(3, " "), (5, " "), (7, " "), (9, " "), (11, " "), (13, " "), (15, " "), (17, " "), (19, " "), (21, " "), (23, " ")]
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
