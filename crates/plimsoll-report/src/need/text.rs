//! Needs as text: whether each target has what is needed, what to buy for it, and why.

use super::{Needs, TargetNeeds, advice};
use crate::{printable, table::WIDTH_MIN, wrapping};

/// What stands below the table of a run.
pub fn text(needs: &Needs, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let mut out = wrapping::labelled("", &format!("Needed: {}", needs.need), width);
    for target in &needs.targets {
        if needs.targets.len() > 1 {
            let run = target.run.as_ref().map_or_else(String::new, |run| format!("{run}: "));
            out += &wrapping::labelled("", &printable::line(&format!("{run}{}", target.target)), width);
        }
        out += &answers(target, width);
    }
    if needs.need.has_latencies() && (needs.advice.is_some() || !needs.need.has_rates()) {
        let sentence = "Latencies are in no catalog: what was measured tells of them, and nothing else.";
        out.push('\n');
        out += &wrapping::labelled("", sentence, width);
    }
    if let Some(advice) = &needs.advice {
        out.push('\n');
        out += &advice::text(advice, width);
    }
    if let Some(why) = &needs.no_advice {
        out.push('\n');
        out += &wrapping::labelled("", &printable::line(&format!("What to buy for it is not known: {why}")), width);
    }
    out
}

fn answers(target: &TargetNeeds, width: usize) -> String {
    let longest = target.answers.iter().map(|answer| wrapping::width(&answer.need)).max().unwrap_or(0);
    let mut out = String::new();
    for answer in &target.answers {
        out += &wrapping::labelled(&format!("  {:<longest$}  ", answer.need), &printable::line(&answer.text), width);
    }
    if let Some(note) = &target.note {
        out += &wrapping::labelled("  ", note, width);
    }
    out
}
