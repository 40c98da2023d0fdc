//! Progress on a terminal: two lines that are redrawn, and removed at the end.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use plimsoll_io::clock::Clock;
use plimsoll_record::event::RunEvent;
use plimsoll_workload::plan::Plan;

use super::{Progress, state::ProgressState};
use crate::printer;

/// What the run is doing; how far it is, and how fast.
const TEMPLATE: &str = "{wide_msg}\n[{bar:16}] {prefix}";

/// Redraws two lines with each event that changes them.
#[derive(Debug)]
pub(crate) struct Bars<C> {
    state: ProgressState,
    clock: C,
    bar: ProgressBar,
}

impl<C: Clock> Bars<C> {
    /// Bars about a run that begins now.
    pub(crate) fn new(plan: &Plan, clock: C) -> Self {
        Self::on(ProgressDrawTarget::stderr(), plan, clock)
    }

    /// Bars about a run that something else has shown so far.
    pub(crate) fn going_on(state: ProgressState, clock: C) -> Self {
        Self::of(ProgressDrawTarget::stderr(), state, clock)
    }

    fn on(target: ProgressDrawTarget, plan: &Plan, clock: C) -> Self {
        let state = ProgressState::new(plan, clock.now_ns());
        Self::of(target, state, clock)
    }

    fn of(target: ProgressDrawTarget, state: ProgressState, clock: C) -> Self {
        let style = ProgressStyle::with_template(TEMPLATE).expect("the template is constant and valid");
        // Cleared when dropped too: a run that cannot go on must not leave half a bar behind its error.
        let bar = ProgressBar::with_draw_target(Some(1000), target)
            .with_style(style.progress_chars("#>-"))
            .with_finish(ProgressFinish::AndClear);
        printer::say_above(&bar);
        Self { state, clock, bar }
    }

    /// Shows what is known.
    pub(crate) fn draw(&self) {
        let shown = self.state.shown(self.clock.now_ns());
        let rates = shown.rates();
        let rates = if rates.is_empty() { rates } else { format!(" | {rates}") };
        self.bar.set_position(shown.done_per_mille());
        self.bar.set_prefix(format!("{}{rates}", shown.times()));
        self.bar.set_message(shown.phase);
    }
}

impl<C: Clock> Progress for Bars<C> {
    fn event(&mut self, event: &RunEvent) {
        self.state.apply(event, self.clock.now_ns());
        self.draw();
        if matches!(event, RunEvent::Finished { .. }) {
            self.bar.finish_and_clear();
        }
    }

    fn finish(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use indicatif::TermLike;
    use plimsoll_io::clock::VirtualClock;

    use super::*;
    use crate::progress::test_events::{SECOND_NS, ended, interval, laid_out, started, two_cells};

    const COLUMNS: usize = 80;

    /// What a terminal shows, and where its cursor is. A full line goes on in the next one, as on real terminals.
    #[derive(Clone, Debug, Default)]
    struct Screen(Arc<Mutex<Page>>);

    #[derive(Debug, Default)]
    struct Page {
        lines: Vec<String>,
        row: usize,
        column: usize,
    }

    impl Page {
        fn put(&mut self, character: char) {
            match character {
                '\r' => self.column = 0,
                '\n' => (self.row, self.column) = (self.row + 1, 0),
                _ => {
                    if self.column == COLUMNS {
                        (self.row, self.column) = (self.row + 1, 0);
                    }
                    let column = self.column;
                    let line = self.line();
                    let tail: String = line.chars().skip(column + 1).collect();
                    *line = line.chars().take(column).chain([character]).collect::<String>() + &tail;
                    self.column += 1;
                }
            }
        }

        fn line(&mut self) -> &mut String {
            self.lines.resize(self.lines.len().max(self.row + 1), String::new());
            &mut self.lines[self.row]
        }
    }

    impl Screen {
        fn text(&self) -> String {
            self.0.lock().unwrap().lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
        }

        fn change(&self, change: impl FnOnce(&mut Page)) -> io::Result<()> {
            change(&mut self.0.lock().unwrap());
            Ok(())
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            COLUMNS as u16
        }

        fn move_cursor_up(&self, count: usize) -> io::Result<()> {
            self.change(|page| page.row = page.row.saturating_sub(count))
        }

        fn move_cursor_down(&self, count: usize) -> io::Result<()> {
            self.change(|page| page.row += count)
        }

        fn move_cursor_right(&self, count: usize) -> io::Result<()> {
            self.change(|page| page.column = (page.column + count).min(COLUMNS))
        }

        fn move_cursor_left(&self, count: usize) -> io::Result<()> {
            self.change(|page| page.column = page.column.saturating_sub(count))
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)?;
            self.change(|page| page.put('\n'))
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.change(|page| text.chars().for_each(|character| page.put(character)))
        }

        fn clear_line(&self) -> io::Result<()> {
            self.change(|page| {
                page.line().clear();
                page.column = 0;
            })
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn run(screen: &Screen, events: &[(u64, RunEvent)]) -> Bars<VirtualClock> {
        let clock = VirtualClock::at(40 * SECOND_NS);
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let mut bars = Bars::on(target, &two_cells(), clock.clone());
        for (second, event) in events {
            clock.advance_to((40 + second) * SECOND_NS);
            bars.event(event);
        }
        bars
    }

    fn halfway() -> [(u64, RunEvent); 3] {
        [(0, laid_out("/mnt/data")), (0, started(0, 0)), (4, interval(0, 9_812))]
    }

    #[test]
    fn two_lines_say_what_is_done_how_far_and_how_fast() {
        let screen = Screen::default();
        let bars = run(&screen, &halfway());
        bars.bar.tick();
        insta::assert_snapshot!(screen.text(), @r#"
    measuring first, cell 1 of 2, round 1 of 2
    [##>-------------] 4 s in, 20 s left | 9,812 IOPS, 40.2 MB/s, p99 210 us
    "#);
    }

    #[test]
    fn nothing_is_left_on_the_terminal() {
        for leave in [|mut bars: Bars<_>| bars.finish(), |mut bars: Bars<_>| bars.event(&ended()), drop] {
            let screen = Screen::default();
            let bars = run(&screen, &halfway());
            assert!(screen.text().contains("measuring"), "{}", screen.text());
            leave(bars);
            assert_eq!(screen.text().trim(), "");
        }
    }
}
