//! A command line as diskspd takes it apart: flags first, then targets; and what plimsoll adds, behind two dashes.

use std::sync::Arc;

use super::{
    checks,
    flags::{self, Flag},
    profile::{Access, Cache, Distribution, Profile, ResultFormat, Target, TimeSpan},
    profile_xml,
};
use crate::{
    problem::{COMMAND_LINE, Note, Place, Problem, Problems, Wrong},
    suggestion,
};

/// Words of a command line.
const WORDS_MAX: usize = 10_000;
/// Bytes of a command line.
const BYTES_MAX: usize = 1 << 20;
/// So many problems are told.
const PROBLEMS_MAX: usize = 50;

/// What a translation has to know of the machine; nothing is looked up.
pub struct Surroundings<'a> {
    /// A seed for `-z`.
    pub fresh_seed: u32,
    /// Hands over an XML profile; `None` when there is no such file.
    pub read_file: &'a mut dyn FnMut(&str) -> Result<Option<String>, String>,
}

/// What is to be done with a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// It is to be done.
    #[default]
    Run,
    /// `-Rp`: it is to be printed.
    ShowProfile,
    /// `-?`: flags are to be printed.
    Help,
}

/// What plimsoll adds to diskspd's flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// `--json`: print the record.
    pub is_json: bool,
    /// `--to-plan`: print what `plimsoll run --plan` takes.
    pub to_plan: bool,
    /// `--history FILE`.
    pub history: Option<String>,
    /// `--no-history`.
    pub is_without_history: bool,
    /// `--destroy DEVICE`.
    pub destroys: Vec<String>,
}

/// The names of those, and whether a value follows.
pub(super) const SWITCHES: &[(&str, bool, &str)] = &[
    ("--json", false, "print plimsoll's record instead of diskspd's report"),
    ("--to-plan", false, "print what plimsoll run --plan takes, and do nothing"),
    ("--history", true, "keep the history in this file"),
    ("--no-history", false, "do not write a history"),
    ("--destroy", true, "this device may be overwritten"),
    ("--help", false, "the same as -?"),
];

/// A command line, understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// What diskspd is asked.
    pub profile: Profile,
    /// What is to be done with it.
    pub action: Action,
    /// What plimsoll is asked besides.
    pub switches: Switches,
    /// Where things were said.
    pub places: Places,
    /// What is taken, but not as literally as it stands.
    pub notes: Vec<Note>,
}

/// Where things were said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// In words of the command line.
    Words(Vec<String>),
    /// In the targets of a file: their lines, for each time span.
    File(Arc<str>, Vec<Vec<usize>>),
}

impl Default for Places {
    fn default() -> Self {
        Self::Words(Vec::new())
    }
}

impl Places {
    /// Where a flag was said of a target; the last word, as that one holds.
    pub fn of(&self, span: usize, target: usize, flag: &str) -> Place {
        match self {
            Self::Words(words) => {
                let last = words.iter().rposition(|word| !flag.is_empty() && word.starts_with(flag));
                Place { file: COMMAND_LINE.into(), line: last.map_or(words.len(), |last| last + 1).max(1), column: 1 }
            }
            Self::File(file, lines) => {
                let line = lines.get(span).and_then(|lines| lines.get(target)).copied().unwrap_or(1);
                Place { file: Arc::clone(file), line, column: 1 }
            }
        }
    }
}

/// Translates a command line, without the name of the program.
///
/// # Errors
/// With all that is wrong with it.
pub fn translate(arguments: &[String], surroundings: &mut Surroundings<'_>) -> Result<Asked, Problems> {
    if arguments.len() > WORDS_MAX || arguments.iter().map(String::len).sum::<usize>() > BYTES_MAX {
        let wrong = Wrong::new(format!("the command line is longer than {WORDS_MAX} words or {BYTES_MAX} bytes"));
        return Err(Problems(vec![wrong.instead("write an XML profile").at(place(0))]));
    }
    let mut line = Line::default();
    line.read(arguments);
    if line.action == Action::Help {
        return Ok(Asked { action: Action::Help, ..Asked::default() });
    }
    let mut asked = match line.profile_file.clone() {
        Some((word, file)) => line.with_file(word, &file, surroundings),
        None => line.alone(arguments, surroundings),
    };
    if let Ok(asked) = &mut asked {
        let problems = checks::check(asked);
        line.problems.extend(problems);
    }
    match asked {
        Ok(asked) if line.problems.is_empty() => Ok(asked),
        Ok(_) => Err(Problems(line.problems)),
        Err(problems) => {
            line.problems.extend(problems.0);
            Err(Problems(line.problems))
        }
    }
}

fn place(word: usize) -> Place {
    Place { file: COMMAND_LINE.into(), line: word + 1, column: 1 }
}

/// What `-W`, `-d`, `-C` and `-z` say, which hold for an XML profile as well.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) warmup_s: Option<u32>,
    pub(super) duration_s: Option<u32>,
    pub(super) cooldown_s: Option<u32>,
    /// Inside, none is one to be drawn.
    pub(super) seed: Option<Option<u32>>,
}

impl Times {
    fn put(self, span: &mut TimeSpan, fresh_seed: u32) {
        span.warmup_s = self.warmup_s.unwrap_or(span.warmup_s);
        span.duration_s = self.duration_s.unwrap_or(span.duration_s);
        span.cooldown_s = self.cooldown_s.unwrap_or(span.cooldown_s);
        if let Some(seed) = self.seed {
            span.seed = seed.unwrap_or(fresh_seed);
        }
    }
}

/// Which flag says where operations end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MaxOffset {
    /// `-f`.
    Own,
    /// `-B` with a length.
    OfBase,
}

/// What the words so far said.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) profile: Profile,
    pub(super) action: Action,
    pub(super) format: Option<ResultFormat>,
    pub(super) span: TimeSpan,
    /// What all targets have in common.
    pub(super) target: Target,
    pub(super) times: Times,
    pub(super) cache: Option<Cache>,
    pub(super) has_base: bool,
    max_offset: Option<MaxOffset>,
    /// `-r`, and its alignment.
    pub(super) random: Option<Option<u64>>,
    pub(super) random_percent: Option<u8>,
    pub(super) distribution: Option<Distribution>,
    /// `-s`, its stride, and whether it is `-si`.
    pub(super) sequential: Option<(Option<u64>, bool)>,
    switches: Switches,
    /// `-X`, and which word that is.
    profile_file: Option<(usize, String)>,
    /// Words that do not go with `-X`.
    not_of_files: Vec<usize>,
    paths: Vec<String>,
    problems: Vec<Problem>,
}

impl Line {
    /// Operations end there.
    pub(super) fn end_at(&mut self, end: u64, by: MaxOffset) -> Result<(), Wrong> {
        if self.max_offset.replace(by).is_some() {
            return Err(
                Wrong::new("where operations end is said twice").instead("give one -f or one -B<base>:<length>")
            );
        }
        self.target.max_offset = end;
        Ok(())
    }

    /// There are no sequences of random operations.
    pub(super) fn access_is_one(&self) -> Result<(), Wrong> {
        if self.sequential.is_some() && (self.random.is_some() || self.random_percent.is_some()) {
            return Err(Wrong::new("sequential access (-s) contradicts random access (-r, -rs)")
                .instead("give one of them; -r says to what random and mixed access is aligned"));
        }
        Ok(())
    }

    fn problem(&mut self, word: usize, wrong: Wrong) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(wrong.at(place(word)));
        }
    }

    fn read(&mut self, arguments: &[String]) {
        // Sizes in blocks are of the last -b, wherever it stands.
        for (index, word) in arguments.iter().enumerate() {
            let Some(text) = word.strip_prefix("-b") else { continue };
            match super::flag_values::size(text, super::profile::BLOCK_SIZE).map(u32::try_from) {
                Ok(Ok(bytes)) if bytes > 0 && bytes < u32::MAX => self.target.block_size = bytes,
                Ok(_) => self.problem(index, Wrong::new("a block is from 1 byte to 4 GiB long").instead("write -b4K")),
                Err(wrong) => self.problem(index, named("-b<size>", wrong)),
            }
        }
        let mut words = arguments.iter().enumerate();
        while let Some((index, word)) = words.next() {
            if word.starts_with("--") {
                let (name, value) = match word.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (word.as_str(), None),
                };
                let takes_value = SWITCHES.iter().any(|(switch, takes_value, _)| *switch == name && *takes_value);
                let value =
                    value.or_else(|| if takes_value { words.next().map(|(_, word)| word.clone()) } else { None });
                if let Err(wrong) = self.switch(name, value) {
                    self.problem(index, wrong);
                }
            } else if word.starts_with('-') && word.len() > 1 {
                if !self.paths.is_empty() {
                    let wrong = Wrong::new(format!("{word} stands behind a target"));
                    self.problem(index, wrong.instead("write all flags before all targets"));
                }
                if let Err(wrong) = self.flags(index, word) {
                    self.problem(index, wrong);
                }
            } else {
                self.paths.push(word.clone());
            }
        }
    }

    fn switch(&mut self, name: &str, value: Option<String>) -> Result<(), Wrong> {
        let takes_value =
            SWITCHES.iter().find(|(switch, _, _)| *switch == name).map(|(_, takes_value, _)| *takes_value);
        match (takes_value, value) {
            (None, _) => {
                let wrong = Wrong::new(format!("there is no switch \"{name}\""));
                let near = suggestion::nearest(name, SWITCHES.iter().map(|(switch, _, _)| *switch));
                return Err(near.map_or(wrong.clone(), |near| wrong.instead(format!("did you mean {near}?"))));
            }
            (Some(true), None) => {
                return Err(Wrong::new(format!("{name} has no value")).instead(format!("write {name}=VALUE")));
            }
            (Some(false), Some(_)) => return Err(Wrong::new(format!("{name} takes no value"))),
            (Some(true), Some(value)) if name == "--history" => self.switches.history = Some(value),
            (Some(true), Some(value)) => self.switches.destroys.push(value),
            (Some(false), None) => match name {
                "--json" => self.switches.is_json = true,
                "--to-plan" => self.switches.to_plan = true,
                "--no-history" => self.switches.is_without_history = true,
                _ => self.action = Action::Help,
            },
        }
        Ok(())
    }

    fn flags(&mut self, index: usize, word: &str) -> Result<(), Wrong> {
        if let Some(file) = word.strip_prefix("-X") {
            if file.is_empty() || self.profile_file.is_some() {
                return Err(Wrong::new("-X names one XML profile").instead("write -X<file>, once"));
            }
            self.profile_file = Some((index, file.to_owned()));
            return Ok(());
        }
        if word.starts_with("-b") {
            // It was read before all others.
            self.not_of_files.push(index);
            return Ok(());
        }
        for (flag, value) in flags::find(word)? {
            if !is_of_files(word) {
                self.not_of_files.push(index);
            }
            self.flag(flag, value).map_err(|wrong| named(flag.form, wrong))?;
        }
        Ok(())
    }

    fn flag(&mut self, flag: &Flag, value: &str) -> Result<(), Wrong> {
        match (flag.apply, flag.support) {
            (Some(apply), _) => apply(self, value),
            (None, support) => Err(Wrong::new(support.to_string()).instead("leave it out")),
        }
    }

    /// What the words alone say.
    fn alone(&mut self, arguments: &[String], surroundings: &Surroundings<'_>) -> Result<Asked, Problems> {
        if self.paths.is_empty() {
            let wrong = Wrong::new("there is no target")
                .instead("name a file or a block device behind the flags; -? prints those");
            self.problem(arguments.len().saturating_sub(1), wrong);
        }
        let block = u64::from(self.target.block_size);
        // What is said of a block is said of none.
        let other_than_block = |given: Option<u64>| given.filter(|given| *given != block);
        self.target.access = match (self.sequential, self.random, self.random_percent) {
            (_, None, None) => {
                let (stride, is_interlocked) = self.sequential.unwrap_or_default();
                Access::Sequential { stride: other_than_block(stride), is_interlocked }
            }
            (_, alignment, percent) => Access::Random {
                alignment: other_than_block(alignment.flatten()),
                percent: percent.unwrap_or(100),
                distribution: self.distribution.take(),
            },
        };
        if self.distribution.is_some() {
            let index = arguments.iter().position(|word| word.starts_with("-rd")).unwrap_or_default();
            let wrong = Wrong::new("-rd says where random operations go, and there are none");
            self.problem(index, wrong.instead("write -r as well"));
        }
        self.target.cache = self.cache.unwrap_or_default();
        self.times.put(&mut self.span, surroundings.fresh_seed);
        let mut span = self.span.clone();
        span.targets = self.paths.iter().map(|path| Target { path: path.clone(), ..self.target.clone() }).collect();
        let profile = Profile { format: self.format.unwrap_or_default(), spans: vec![span], ..self.profile.clone() };
        let mut notes = Vec::new();
        if self.cache.is_none() && !self.target.is_mapped {
            let text = "without -Su or -Sh, reads and writes go through the page cache, as in diskspd, and its speed is \
                        part of what is measured; -Sb says that this is meant";
            notes.push(Note { place: place(arguments.len().saturating_sub(1)), text: text.to_owned() });
        }
        let places = Places::Words(arguments.to_vec());
        Ok(Asked { profile, action: self.action, switches: self.switches.clone(), places, notes })
    }

    /// What a file says, with what the words say about it.
    fn with_file(&mut self, word: usize, file: &str, surroundings: &mut Surroundings<'_>) -> Result<Asked, Problems> {
        for index in std::mem::take(&mut self.not_of_files) {
            let wrong = Wrong::new("an XML profile says this itself");
            self.problem(index, wrong.instead("give -W, -d, -C, -R, -v, -z and targets only besides -X"));
        }
        let one = |wrong: Wrong| Problems(vec![wrong.at(place(word))]);
        let text = match (surroundings.read_file)(file) {
            Ok(Some(text)) => text,
            Ok(None) => return Err(one(Wrong::new(format!("there is no file {file}")).instead("name an XML profile"))),
            Err(error) => return Err(one(Wrong::new(format!("{file} cannot be read: {error}")))),
        };
        let (mut profile, lines) = profile_xml::read(&text, file)?;
        self.substitute(&mut profile, word);
        let (given, said) = (&self.profile, &mut profile);
        said.format = self.format.unwrap_or(said.format);
        said.is_verbose |= given.is_verbose;
        said.has_verbose_statistics |= given.has_verbose_statistics;
        if given.experiments != 0 {
            said.experiments = given.experiments;
        }
        for span in &mut said.spans {
            self.times.put(span, surroundings.fresh_seed);
        }
        let (action, switches, places) = (self.action, self.switches.clone(), Places::File(file.into(), lines));
        Ok(Asked { profile, action, switches, places, notes: Vec::new() })
    }

    /// Puts targets of the command line in the places of `*1`, `*2` and so on.
    fn substitute(&mut self, profile: &mut Profile, word: usize) {
        let mut used = vec![false; self.paths.len()];
        let mut wrongs = Vec::new();
        for target in profile.spans.iter_mut().flat_map(|span| &mut span.targets) {
            let Some(number) = target.path.strip_prefix('*') else { continue };
            match number.parse::<usize>().ok().filter(|number| *number > 0) {
                Some(number) => {
                    if let Some(path) = self.paths.get(number - 1) {
                        used[number - 1] = true;
                        target.path.clone_from(path);
                    }
                }
                None => wrongs.push(
                    Wrong::new(format!("{} is no place for a target", target.path)).instead("write *1, *2 and so on"),
                ),
            }
        }
        for (path, _) in self.paths.iter().zip(&used).filter(|(_, is_used)| !**is_used) {
            wrongs.push(
                Wrong::new(format!("{path} has no place in the XML profile"))
                    .instead("write *1 there, or leave it out"),
            );
        }
        wrongs.into_iter().for_each(|wrong| self.problem(word, wrong));
    }
}

/// Whether a flag may stand beside `-X`.
fn is_of_files(word: &str) -> bool {
    ["-W", "-d", "-C", "-R", "-v", "-z", "-:", "-X"].iter().any(|stem| word.starts_with(stem))
}

fn named(form: &str, wrong: Wrong) -> Wrong {
    Wrong { what: format!("{form}: {}", wrong.what), ..wrong }
}

#[cfg(test)]
mod tests;
