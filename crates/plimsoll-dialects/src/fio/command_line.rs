//! A command line as fio takes it apart: switches, groups of job options, and job files, in any order.

use super::{
    job_file,
    options::{self, Entry},
    switches::{Argument, SWITCHES, Switch, Switches},
};
use crate::{
    problem::{COMMAND_LINE, Note, Place, Problem, Wrong},
    suggestion,
    support::Support,
};

/// Words of a command line.
pub const WORDS_MAX: usize = 10_000;
/// Bytes of a command line.
pub const BYTES_MAX: usize = 1 << 20;

/// A command line taken apart.
#[derive(Debug, Default)]
pub(super) struct CommandLine {
    pub(super) switches: Switches,
    pub(super) groups: Vec<Group>,
    pub(super) files: Vec<(String, Place)>,
    pub(super) notes: Vec<Note>,
    pub(super) problems: Vec<Problem>,
}

/// Options from one `--name` to the next; those before the first are global.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: Option<String>,
    pub(super) place: Place,
    pub(super) options: Vec<Word>,
}

impl Group {
    /// Whether its options hold for later jobs.
    pub(super) fn is_global(&self) -> bool {
        self.name.as_deref().is_none_or(job_file::is_global)
    }
}

/// An option of a job.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) value: Option<String>,
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Named {
    Switch(&'static Switch),
    Option(&'static Entry),
}

impl Named {
    fn argument(self) -> Argument {
        match self {
            Self::Switch(switch) => switch.argument,
            // Only flags may stand alone: getopt takes the next word for a log's name.
            Self::Option(entry) if matches!(entry.kind, options::Kind::Flag) => Argument::Optional,
            Self::Option(_) => Argument::Required,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Switch(switch) => switch.name,
            Self::Option(entry) => entry.name,
        }
    }
}

/// Takes a command line apart, without the name of the program.
pub(super) fn parse(arguments: &[String]) -> CommandLine {
    let mut line = CommandLine::default();
    let place = |word: usize| Place { file: COMMAND_LINE.into(), line: word + 1, column: 1 };
    if arguments.len() > WORDS_MAX || arguments.iter().map(String::len).sum::<usize>() > BYTES_MAX {
        let wrong = Wrong::new(format!("the command line is longer than {WORDS_MAX} words or {BYTES_MAX} bytes"));
        line.problems.push(wrong.instead("write a job file").at(place(0)));
        return line;
    }
    let mut engine = "psync".to_owned();
    let mut words = arguments.iter().enumerate().peekable();
    while let Some((index, word)) = words.next() {
        if line.problems.len() >= job_file::PROBLEMS_MAX {
            break;
        }
        let place = place(index);
        if word == "--" {
            line.files
                .extend(words.by_ref().map(|(index, word)| (word.clone(), Place { line: index + 1, ..place.clone() })));
            break;
        }
        if !word.starts_with('-') || word == "-" {
            line.files.push((word.clone(), place));
            continue;
        }
        let mut value = word.split_once('=').map(|(_, value)| value.to_owned());
        let named = match named(word, &engine) {
            Ok(Some(named)) => named,
            Ok(None) => {
                let (switch, attached) = attached(word).expect("what is not known otherwise is a letter with a value");
                value = Some(attached.to_owned());
                Named::Switch(switch)
            }
            Err(wrong) => {
                line.problems.push(wrong.at(place));
                continue;
            }
        };
        if named.argument() == Argument::None && value.is_some() {
            line.problems.push(Wrong::new(format!("--{} takes no value", named.name())).at(place));
            continue;
        }
        if named.argument() == Argument::Required && value.is_none() {
            value = words.next_if(|(_, next)| !next.starts_with("--")).map(|(_, next)| next.clone());
            if value.is_none() {
                let wrong = Wrong::new(format!("--{} has no value", named.name()));
                line.problems.push(wrong.instead(format!("write --{}=VALUE", named.name())).at(place));
                continue;
            }
        }
        match named {
            Named::Switch(switch) => line.switch(switch, value.as_deref(), place),
            Named::Option(entry) => {
                if entry.name == "ioengine" {
                    engine = options::engine_name(value.as_deref().unwrap_or_default()).to_owned();
                }
                line.option(entry, value, place);
            }
        }
    }
    line
}

impl CommandLine {
    fn switch(&mut self, switch: &Switch, value: Option<&str>, place: Place) {
        if let Err(wrong) = switch.put(value, &mut self.switches) {
            self.problems.push(wrong.at(place));
        } else if let Support::Ignored(reason) = switch.support {
            self.notes.push(Note { place, text: format!("--{} is ignored: {reason}", switch.name) });
        }
    }

    fn option(&mut self, entry: &'static Entry, value: Option<String>, place: Place) {
        let name = (entry.name == "name").then(|| value.clone()).flatten();
        if name.is_some() || self.groups.is_empty() {
            self.groups.push(Group { name, place: place.clone(), options: Vec::new() });
        }
        let group = self.groups.last_mut().expect("a group was begun above");
        if entry.name != "name" || !group.is_global() {
            group.options.push(Word { place, name: entry.name.to_owned(), value });
        }
    }
}

/// A letter after one dash with its value directly behind it, as in `-ofile`.
fn attached(word: &str) -> Option<(&'static Switch, &str)> {
    let mut letters = word.strip_prefix('-')?.chars();
    let letter = letters.next()?;
    // What has a = is rather a name that is not known.
    let letter = Some(letter).filter(|_| !word.contains('='))?;
    let switch = SWITCHES.iter().find(|switch| switch.letter == Some(letter))?;
    let value = letters.as_str();
    (switch.argument != Argument::None && !value.is_empty()).then_some((switch, value))
}

/// Finds a switch or option: a letter after one dash, a whole name, or the beginning of one only. None where it is a
/// letter with its value behind it: as for fio, only what begins no name is one.
fn named(text: &str, engine: &str) -> Result<Option<Named>, Wrong> {
    let word = text.split('=').next().unwrap_or(text);
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or(word);
    let mut letters = name.chars();
    if let (false, Some(letter), None) = (word.starts_with("--"), letters.next(), letters.next())
        && let Some(switch) = SWITCHES.iter().find(|switch| switch.letter == Some(letter))
    {
        return Ok(Some(Named::Switch(switch)));
    }
    if let Some(switch) = SWITCHES.iter().find(|switch| switch.name == name) {
        return Ok(Some(Named::Switch(switch)));
    }
    if let Some(entry) = options::find(name) {
        return Ok(Some(Named::Option(entry)));
    }
    let switches = SWITCHES.iter().map(|switch| (switch.name, Named::Switch(switch)));
    let entries = options::all().filter(|entry| entry.engines.is_empty() || entry.engines.contains(&engine));
    let entries = entries.flat_map(|entry| {
        std::iter::once(&entry.name).chain(entry.aliases).map(move |name| (*name, Named::Option(entry)))
    });
    let known: Vec<(&str, Named)> = switches.chain(entries).collect();
    let mut begun: Vec<_> = known.iter().filter(|(known, _)| !name.is_empty() && known.starts_with(name)).collect();
    begun.dedup_by_key(|(_, named)| named.name());
    match begun.as_slice() {
        [(_, named)] => Ok(Some(*named)),
        [] if attached(text).is_some() => Ok(None),
        [] => {
            let wrong = Wrong::new(format!("there is no option \"{word}\""));
            Err(match suggestion::nearest(name, known.iter().map(|(known, _)| *known)) {
                Some(nearest) => wrong.instead(format!("did you mean --{nearest}?")),
                None => wrong,
            })
        }
        several => {
            let names: Vec<_> = several.iter().take(10).map(|(known, _)| format!("--{known}")).collect();
            Err(Wrong::new(format!("\"{word}\" may be several options")).instead(format!("write {}", names.join(", "))))
        }
    }
}
