//! `plimsoll diskspd`: diskspd's command lines and XML profiles, done as plimsoll does them and told as diskspd tells.

use std::{
    ffi::OsString,
    io::{self, IsTerminal},
};

use plimsoll_dialects::diskspd::{
    self, Action, Asked, Surroundings, lowering, profile::ResultFormat, reference, report, report::Reported,
};
use plimsoll_run::objects::FilesAfter;

use super::{
    dialect, input_file,
    run::{self, measure, random_seed},
};
use crate::{
    cli::SharedArguments,
    exit::{Exit, OutputLost},
    printer::Printer,
    saving::{Saved, Saving},
    stop,
};

/// What plans call by flags, and diskspd by flags of its own. None begins like one that comes after it.
const FLAGS: &[(&str, &str)] = &[
    ("--block-size", "-b"),
    ("--buffered", "-Sb"),
    ("--distribution", "-rd"),
    ("--duration", "-d"),
    ("--jobs", "-t"),
    ("--offset-increment", "-T"),
    ("--offset", "-B"),
    ("--pin", "-a"),
    ("--queue-depth", "-o"),
    ("--ramp", "-W"),
    ("--rate", "-g"),
    ("--read-percent", "-w"),
    ("--size", "-c or -f"),
    ("--stride", "-s"),
    ("--think-time", "-j"),
];

/// The arguments for diskspd, when the program was called by its name, or by `plimsoll diskspd`.
pub fn arguments(all: &[OsString]) -> Option<&[OsString]> {
    dialect::arguments(all, "diskspd")
}

/// Does what diskspd's command line says.
pub fn main(arguments: &[OsString], defaults: &SharedArguments) -> Exit {
    let printer = if io::stderr().is_terminal() { Printer::new(defaults.quiet) } else { Printer::for_programs() };
    if let Err(error) = stop::outlive_file_size_limit() {
        printer.warning(format!("a limit on the size of files would end plimsoll at once: {error}"));
    }
    run(arguments, defaults, printer).unwrap_or_else(|error| {
        let exit = Exit::of(&error);
        printer.error(&dialect::in_other_words(error, FLAGS));
        exit
    })
}

fn run(arguments: &[OsString], defaults: &SharedArguments, printer: Printer) -> anyhow::Result<Exit> {
    let words = dialect::words(arguments)?;
    // Diskspd's seeds have so many bits.
    let fresh_seed = (random_seed()? as u32).max(1);
    let mut read_file = |name: &str| {
        let bytes = input_file::bytes(name, diskspd::PROFILE_BYTES_MAX)?;
        bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())).transpose()
    };
    let mut asked = match diskspd::translate(&words, &mut Surroundings { fresh_seed, read_file: &mut read_file }) {
        Ok(asked) => asked,
        Err(problems) => {
            dialect::tell(&problems, printer);
            return Ok(Exit::Usage);
        }
    };
    let switches = &mut asked.switches;
    dialect::take_defaults(&mut switches.history, &mut switches.is_without_history, defaults)?;
    let command_line = format!("diskspd {}", words.join(" "));
    match asked.action {
        Action::Help => printer.answer(reference::help()).map_err(OutputLost)?,
        Action::ShowProfile => printer.answer(profile(&asked, &command_line)).map_err(OutputLost)?,
        Action::Run => return execute(asked, &command_line, fresh_seed, printer),
    }
    Ok(Exit::Success)
}

/// What is asked, in the format of its results.
fn profile(asked: &Asked, command_line: &str) -> String {
    match asked.profile.format {
        ResultFormat::Text => report::profile_text(&asked.profile, command_line),
        ResultFormat::Xml => diskspd::write_profile(&asked.profile),
    }
}

fn execute(mut asked: Asked, command_line: &str, fresh_seed: u32, printer: Printer) -> anyhow::Result<Exit> {
    // What is done is what is told.
    for span in asked.profile.spans.iter_mut().filter(|span| span.seed == 0) {
        span.seed = fresh_seed;
    }
    let lowered = match lowering::lower(&asked, &dialect::look) {
        Ok(lowered) => lowered,
        Err(problems) => {
            dialect::tell(&problems, printer);
            return Ok(Exit::Usage);
        }
    };
    let notes = dialect::notes(&lowered.notes);
    let switches = &asked.switches;
    if switches.to_plan {
        printer.answer(dialect::plan_text(&lowered.plan, &notes)?).map_err(OutputLost)?;
        return Ok(Exit::Success);
    }
    notes.iter().for_each(|note| printer.note(format!("note: {note}")));
    let state = dialect::begin(switches.history.as_deref(), switches.is_without_history, printer)?;
    let request = dialect::request(&lowered.plan, "diskspd", FilesAfter::Kept, &state, printer)?;
    let (record, saved) = measure(request, Saving::new(&state, None, printer), "", printer)?;
    let answer = if switches.is_json {
        serde_json::to_string_pretty(&record)? + "\n"
    } else {
        let (profile, cells, record) = (&asked.profile, lowered.cells.as_slice(), record.of_whole_slots());
        Reported { profile, command_line, record: &record, cells, notes: &notes, is_kept: saved != Saved::Nowhere }
            .text()
    };
    printer.answer(answer).map_err(OutputLost)?;
    Ok(run::exit(&record, false))
}
