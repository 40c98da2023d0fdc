//! What the command line answers about itself: its switches, an option, an engine.

use std::fmt::Write as _;

use super::{
    options::{self, Entry},
    settings::Engine,
    switches::{Argument, SWITCHES},
};
use crate::{suggestion, support::Support};

const USAGE: &str = "\
Usage: plimsoll fio [SWITCH]... [--name=JOB [--OPTION=VALUE]...]... [JOB FILE]...

Runs fio's job files and command lines, and prints what fio prints. docs/fio.md has all options; --cmdhelp=OPTION
explains one.

";

/// The switches, one a line.
pub fn switches() -> String {
    let mut text = USAGE.to_owned();
    for switch in SWITCHES.iter().filter(|switch| !matches!(switch.support, Support::Refused(_))) {
        let value = match switch.argument {
            Argument::None => "",
            Argument::Required => "=VALUE",
            Argument::Optional => "[=VALUE]",
        };
        let what = match switch.support {
            Support::Ignored(reason) => format!("Without effect: {reason}"),
            _ => switch.help.to_owned(),
        };
        let _ = writeln!(text, "  {:<26}{what}", format!("--{}{value}", switch.name));
    }
    text
}

/// An option; without a name or for `all`, every one of them in a line.
pub fn option(name: Option<&str>) -> String {
    match name {
        None | Some("all") => {
            let line = |entry: &Entry| format!("{:<26}{}\n", entry.name, what(entry));
            options::all().map(line).collect()
        }
        Some(name) => options::find(name).map_or_else(
            || {
                let nearest = suggestion::nearest(name, options::all().map(|entry| entry.name));
                let hint = nearest.map_or_else(String::new, |nearest| format!("; did you mean {nearest}?"));
                format!("there is no option \"{name}\"{hint}\n")
            },
            explained,
        ),
    }
}

/// What an option does, or why it is not taken.
fn what(entry: &Entry) -> String {
    match entry.support {
        Support::Refused(_) => entry.support.to_string(),
        _ => entry.help.to_owned(),
    }
}

fn explained(entry: &Entry) -> String {
    let support = match entry.support {
        Support::Exact | Support::Refused(_) => String::new(),
        Support::Approximate(_) | Support::Ignored(_) => entry.support.to_string(),
    };
    let lines = [
        (entry.name, what(entry)),
        ("alias", entry.aliases.join(", ")),
        ("value", entry.kind.form()),
        ("default", entry.default.unwrap_or_default().to_owned()),
        ("engines", entry.engines.join(", ")),
        ("support", support),
    ];
    let shown = lines.into_iter().filter(|(_, text)| !text.is_empty());
    shown.map(|(label, text)| format!("{label:>20}: {text}\n")).collect()
}

/// The options of an engine; without a name, the engines.
pub fn engine(name: Option<&str>) -> String {
    let Some(name) = name.map(|name| name.split(',').next().unwrap_or(name)) else {
        let names = Engine::ALL.iter().map(|engine| format!("\t{}\n", engine.name()));
        return format!("Available IO engines:\n{}", names.collect::<String>());
    };
    if Engine::ALL.iter().all(|engine| engine.name() != name) {
        return format!("there is no engine \"{name}\" here: --enghelp lists those there are\n");
    }
    let of = options::all().filter(|entry| entry.engines.contains(&name));
    of.map(|entry| format!("{:<26}{}\n", entry.name, what(entry))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_switch_and_engine_is_explained() {
        assert!(switches().contains("--output-format=VALUE"));
        for entry in options::all() {
            assert!(option(Some(entry.name)).starts_with(&format!("{:>20}: ", entry.name)), "{}", entry.name);
        }
        assert!(option(Some("blocksiz")).contains("did you mean"));
        assert!(option(None).lines().count() > 100);
        assert!(engine(None).contains("\tio_uring\n") && engine(Some("io_uring")).contains("hipri"));
        assert!(engine(Some("rados")).contains("no engine"));
    }
}
