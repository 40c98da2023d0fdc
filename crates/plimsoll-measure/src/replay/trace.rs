//! Traces as text: the header `t_s,ops`, and a row for each second with the operations that completed in it.
//!
//! Strict about what would change an answer (a second that is missing, a number that is none), lenient about what
//! programs that write such files differ in: line ends, a byte order mark, blank lines, how a number is written.

use std::str::FromStr;

use thiserror::Error;

/// The first line.
pub const HEADER: &str = "t_s,ops";
/// Operations a second that nothing reaches; more would not add up to a number.
pub const RATE_MAX: f64 = 1e15;
/// Seconds that nothing reaches; up to here each has an exact number.
const SECOND_MAX: f64 = 9e15;
/// Characters of a value that are repeated in an error.
const QUOTED_MAX: usize = 40;

/// Operations completed in each successive second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// One value a second, none below zero, at least one.
    pub rates: Vec<f64>,
}

/// Where a text is no trace, and why.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {problem}")]
pub struct TraceError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: TraceProblem,
}

/// What is wrong with a line of a trace.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TraceProblem {
    /// The first line is another one.
    #[error("{0} is not the header: a trace begins with \"{HEADER}\"")]
    Header(String),
    /// Nothing follows the header, or the text is empty.
    #[error("the trace ends without a second: rows follow the header \"{HEADER}\", as \"0,5000\"")]
    Empty,
    /// Not two values.
    #[error("{0} is not a row: write the second and its operations, as \"0,5000\"")]
    Columns(String),
    /// The first value is no second.
    #[error("{0} is not a second: write a whole number from 0")]
    Second(String),
    /// A second is missing, doubled, or out of order.
    #[error(
        "second {found} stands where {expected} should: every second has one row, in order, and 0 for nothing done"
    )]
    Order {
        /// The second that would follow.
        expected: u64,
        /// The one that does.
        found: u64,
    },
    /// The second value is no number of operations.
    #[error("{0} is not a number of operations: write a number from 0 to 1e15")]
    Operations(String),
}

impl FromStr for Trace {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.lines().map(str::trim).zip(1..).filter(|(line, _)| !line.is_empty());
        let at = |line: usize, problem: TraceProblem| TraceError { line, problem };
        let (header, mut last) = lines.next().ok_or_else(|| at(1, TraceProblem::Empty))?;
        if !header.split(',').map(str::trim).eq(HEADER.split(',')) {
            return Err(at(last, TraceProblem::Header(quoted(header))));
        }
        let mut rates = Vec::new();
        let mut expected = None;
        for (text, line) in lines {
            let (second, rate) = row(text).map_err(|problem| at(line, problem))?;
            let expected = expected.replace(second + 1).unwrap_or(second);
            if second != expected {
                return Err(at(line, TraceProblem::Order { expected, found: second }));
            }
            rates.push(rate);
            last = line;
        }
        if rates.is_empty() { Err(at(last, TraceProblem::Empty)) } else { Ok(Self { rates }) }
    }
}

/// A second and its rate.
fn row(text: &str) -> Result<(u64, f64), TraceProblem> {
    let (second, rate) = text.split_once(',').ok_or_else(|| TraceProblem::Columns(quoted(text)))?;
    if rate.contains(',') {
        return Err(TraceProblem::Columns(quoted(text)));
    }
    let number = |text: &str, max: f64| text.trim().parse().ok().filter(|number: &f64| (0.0..=max).contains(number));
    let whole = number(second, SECOND_MAX).filter(|second| second.fract() == 0.0);
    let whole = whole.ok_or_else(|| TraceProblem::Second(quoted(second.trim())))?;
    let rate = number(rate, RATE_MAX).ok_or_else(|| TraceProblem::Operations(quoted(rate.trim())))?;
    Ok((whole as u64, rate))
}

/// A value in quotes, harmless and not too long.
fn quoted(text: &str) -> String {
    let cut = text.char_indices().nth(QUOTED_MAX).map_or(text.len(), |(end, _)| end);
    let dots = if cut < text.len() { " ..." } else { "" };
    format!("{:?}{dots}", &text[..cut])
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;

    fn rates(text: &str) -> Vec<f64> {
        text.parse::<Trace>().unwrap_or_else(|error| panic!("{text:?}: {error}")).rates
    }

    fn refused(text: &str) -> String {
        text.parse::<Trace>().unwrap_err().to_string()
    }

    #[test]
    fn a_trace_may_come_from_any_system_and_writer() {
        for text in [
            "t_s,ops\n0,5\n1,7\n",
            "t_s,ops\n0,5\n1,7",
            "t_s,ops\r\n0,5\r\n1,7\r\n",
            "\u{feff}t_s,ops\n0,5\n1,7\n",
            "\n t_s , ops \n\n0, 5\n   \n 1 ,7\n\n",
            "t_s,ops\n0.0,5.0\n1.000e0,0.7e1\n",
            "t_s,ops\n86400,5\n86401,7\n",
        ] {
            let rates = rates(text);
            assert!((rates[0] - 5.0).abs() + (rates[1] - 7.0).abs() < 1e-12 && rates.len() == 2, "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, words) in [
            ("", "line 1: the trace ends without a second"),
            ("\u{feff}\r\n", "line 1: the trace ends without a second"),
            ("\nt_s,ops\n\n", "line 2: the trace ends without a second"),
            ("0,5\n1,7\n", "line 1: \"0,5\" is not the header"),
            ("t_s;ops\n0;5\n", "line 1: \"t_s;ops\" is not the header"),
            ("t_s,ops\n0\n", "line 2: \"0\" is not a row"),
            ("t_s,ops\n0,5,6\n", "line 2: \"0,5,6\" is not a row"),
            ("t_s,ops\n0,5\n\n0.5,6\n", "line 4: \"0.5\" is not a second"),
            ("t_s,ops\n-1,5\n", "line 2: \"-1\" is not a second"),
            ("t_s,ops\n1e300,5\n", "line 2: \"1e300\" is not a second"),
            ("t_s,ops\nNaN,5\n", "line 2: \"NaN\" is not a second"),
            ("t_s,ops\n0,5\n2,6\n", "line 3: second 2 stands where 1 should"),
            ("t_s,ops\n0,5\n0,6\n", "line 3: second 0 stands where 1 should"),
            ("t_s,ops\n0,5\n1,\n", "line 3: \"\" is not a number of operations"),
            ("t_s,ops\n0,five\n", "line 2: \"five\" is not a number of operations"),
            ("t_s,ops\n0,-5\n", "line 2: \"-5\" is not a number of operations"),
            ("t_s,ops\n0,inf\n", "line 2: \"inf\" is not a number of operations"),
            ("t_s,ops\n0,1e16\n", "line 2: \"1e16\" is not a number of operations"),
        ] {
            assert!(refused(text).starts_with(words), "{text:?}: {}", refused(text));
        }
    }

    #[test]
    fn an_error_repeats_no_more_than_a_few_harmless_characters() {
        let text = refused(&format!("t_s,ops\n0,\u{1b}[2J{}\n", "é".repeat(100_000)));
        assert!(text.len() < 200 && text.contains("\\u{1b}") && text.contains("\" ..."), "{text}");
    }

    proptest! {
        #[test]
        fn a_written_trace_reads_back(
            values in proptest::collection::vec(0.0..=RATE_MAX, 1..200),
            first in 0..1_000_000_u64,
            dos: bool,
        ) {
            let end = if dos { "\r\n" } else { "\n" };
            let mut text = format!("{HEADER}{end}");
            for (second, value) in values.iter().enumerate() {
                let _ = write!(text, "{},{value}{end}", first + second as u64);
            }
            prop_assert_eq!(rates(&text), values);
        }

        #[test]
        fn a_lost_second_is_always_found(lost in 1..199_usize) {
            let rows = (0..200).filter(|second| *second != lost).map(|second| format!("{second},5\n"));
            let text = format!("{HEADER}\n{}", rows.collect::<String>());
            prop_assert_eq!(text.parse::<Trace>().unwrap_err().line, lost + 2);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text: String, rows in "[0-9eE.,+\\- \r\n]{0,60}") {
            let _ = text.parse::<Trace>();
            let _ = format!("{HEADER}\n{rows}").parse::<Trace>();
        }
    }
}
