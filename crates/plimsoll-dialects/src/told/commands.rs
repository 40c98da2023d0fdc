//! What results of fio are of, by the commands that stand in the same text.

use plimsoll_record::told::{FoundResult, Measured, Source, note};

use super::passage::{Passage, without_marks};

/// A command line of fio.
struct Command<'a> {
    target: &'a str,
    pattern: Option<&'a str>,
    is_direct: Option<bool>,
}

/// Names the targets of results by commands, when there are as many of them, in the same order and with the same
/// patterns: anything less would be a guess.
pub(super) fn name(passage: &Passage<'_>, found: &mut [FoundResult]) {
    let commands: Vec<Command<'_>> = passage.each().filter_map(|(_, line)| command(line)).collect();
    let mut unnamed: Vec<&mut FoundResult> =
        found.iter_mut().filter(|result| result.told.source == Source::FioText && result.target.is_none()).collect();
    let agree = |(command, result): (&Command<'_>, &&mut FoundResult)| {
        let told = result.told.transfers().and_then(|transfers| transfers.pattern.as_deref());
        command.pattern.is_some() && command.pattern == told
    };
    if commands.is_empty() || commands.len() != unnamed.len() || !commands.iter().zip(&unnamed).all(agree) {
        return;
    }
    for (command, result) in commands.iter().zip(&mut unnamed) {
        result.target = Some(command.target.to_owned());
        if let Measured::Transfers(transfers) = &mut result.told.measured {
            transfers.is_direct = transfers.is_direct.or(command.is_direct);
        }
        let text = "targets are those of the commands in the text, which stand in the same order as the results";
        result.findings.push(note(text));
    }
}

fn command(line: &str) -> Option<Command<'_>> {
    let text = without_marks(line).trim_start_matches(['$', ' ']);
    let text = text.strip_prefix("sudo ").unwrap_or(text).strip_prefix("fio ")?;
    let option = |names: &[&str]| {
        text.split_whitespace().find_map(|word| {
            let (name, value) = word.trim_start_matches('-').split_once('=')?;
            names.contains(&name).then_some(value)
        })
    };
    let target = option(&["filename", "directory"])?;
    let is_direct = option(&["direct"]).and_then(|value| match value {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    });
    Some(Command { target, pattern: option(&["rw", "readwrite"]), is_direct })
}
