//! From texts to jobs: sections take over what is global, options are applied in order, and what they mean for each
//! other is checked.

use std::collections::HashSet;

use super::{
    checks::{self, Finding, Weight},
    command_line::{self, CommandLine, Group},
    job::{GivenOption, Job, Jobs},
    job_file::{self, OPTIONS_MAX, OptionLine, PROBLEMS_MAX, ReadFile, Section},
    options::{self, CLONES_MAX, Entry},
    settings::Settings,
    substitution::{Values, substitute},
    switches::{Override, Switches},
    within,
};
use crate::{
    problem::{COMMAND_LINE, Note, Place, Problem, Problems, Wrong},
    support::Support,
};

/// For how many problems the nearest known word is looked for, which takes time.
const SUGGESTIONS_MAX: usize = 8;

/// What a translation has to know of the machine; nothing is looked up.
pub struct Surroundings<'a> {
    /// The value of a variable of the environment.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    /// The size of a page, for `$pagesize`.
    pub page_size_bytes: u64,
    /// Memory, for `$mb_memory`.
    pub memory_mib: u64,
    /// Processors, for `$ncpus`.
    pub processors: u64,
    /// Hands over job files.
    pub read_file: &'a mut ReadFile<'a>,
}

/// Translates job files by their names, as if each had been named on a command line.
pub fn translate_job_files(files: &[String], surroundings: &mut Surroundings<'_>) -> Result<Jobs, Problems> {
    let place = |word: usize| Place { file: COMMAND_LINE.into(), line: word + 1, column: 1 };
    let files = files.iter().enumerate().map(|(word, file)| (file.clone(), place(word))).collect();
    translate(CommandLine { files, ..CommandLine::default() }, surroundings)
}

/// Translates a command line, without the name of the program.
pub fn translate_command_line(arguments: &[String], surroundings: &mut Surroundings<'_>) -> Result<Jobs, Problems> {
    translate(command_line::parse(arguments), surroundings)
}

fn translate(line: CommandLine, surroundings: &mut Surroundings<'_>) -> Result<Jobs, Problems> {
    let mut translator = Translator {
        jobs: Jobs { switches: line.switches, notes: line.notes, ..Jobs::default() },
        problems: line.problems,
        global: Shared::default(),
        clones: 0,
        has_global_options: false,
        group: None,
        told: HashSet::new(),
    };
    if translator.jobs.switches.question.is_some() && translator.problems.is_empty() {
        return Ok(translator.jobs);
    }
    for group in line.groups {
        translator.group_of_command_line(group);
    }
    translator.has_global_options = !translator.global.given.is_empty();
    for (index, (file, place)) in line.files.iter().enumerate() {
        translator.job_file(index, file, place, surroundings);
    }
    translator.finish()
}

/// What options have said so far, for later jobs or for one.
#[derive(Default)]
struct Shared {
    settings: Settings,
    given: Vec<GivenOption>,
    /// The engine is not possible, so nothing is said about its options.
    has_refused_engine: bool,
}

/// An option that is about to be applied.
struct Asked {
    place: Place,
    /// Where its value begins.
    value_place: Place,
    name: String,
    value: Option<String>,
}

struct Translator {
    jobs: Jobs,
    problems: Vec<Problem>,
    global: Shared,
    clones: u32,
    /// Whether the command line has options for all jobs.
    has_global_options: bool,
    /// The group of the last job.
    group: Option<u32>,
    /// What was told of options that are not honoured as they were given.
    told: HashSet<Note>,
}

impl Translator {
    fn problem(&mut self, place: Place, wrong: Wrong) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(wrong.at(place));
        }
    }

    fn note(&mut self, place: Place, text: String) {
        self.jobs.notes.push(Note { place, text });
    }

    fn group_of_command_line(&mut self, group: Group) {
        let is_global = group.is_global();
        let asked = group.options.into_iter().map(|word| Asked {
            value_place: word.place.clone(),
            place: word.place,
            name: word.name,
            value: word.value,
        });
        let asked: Vec<Asked> = asked.collect();
        let name = group.name.unwrap_or_default();
        if !is_global && !self.is_wanted(&name) {
            return;
        }
        let place = group.place;
        if is_global {
            self.apply_globally(asked);
        } else {
            self.job(Section { name, place, is_global, options: Vec::new() }, asked, None, false);
        }
    }

    fn job_file(&mut self, index: usize, file: &str, place: &Place, surroundings: &mut Surroundings<'_>) {
        if index == 1 && self.has_global_options {
            let text = "options of the command line hold for the first job file only, as in fio";
            self.note(place.clone(), text.into());
        }
        if index > 0 {
            // As in fio, each file after the first begins with nothing.
            self.global = Shared::default();
        }
        let (sections, problems) = job_file::read(file, surroundings.read_file);
        let room = PROBLEMS_MAX.saturating_sub(self.problems.len());
        self.problems.extend(problems.into_iter().take(room));
        let values = Values {
            environment: surroundings.environment,
            page_size_bytes: surroundings.page_size_bytes,
            memory_mib: surroundings.memory_mib,
            processors: surroundings.processors,
        };
        let mut words = vec!["fio".to_owned()];
        words.extend(self.global.given.iter().map(shown));
        let mut is_first_job = true;
        for mut section in sections {
            if !section.is_global && !self.is_wanted(&section.name) {
                continue;
            }
            let options = std::mem::take(&mut section.options);
            let asked: Vec<Asked> = options.iter().filter_map(|option| self.asked(option, &values)).collect();
            if section.is_global {
                let before = self.global.given.len();
                self.apply_globally(asked);
                if !is_first_job {
                    words.push("--name=global".into());
                }
                words.extend(self.global.given[before..].iter().map(shown));
                continue;
            }
            words.push(quoted(&format!("--name={}", section.name)));
            let follows_file = std::mem::take(&mut is_first_job) && index > 0;
            let jobs = self.jobs.jobs.len();
            self.job(section, asked, Some(index), follows_file);
            words.extend(self.jobs.jobs.get(jobs).into_iter().flat_map(|job| &job.given).map(shown));
        }
        if self.jobs.switches.shows_command {
            self.jobs.command_lines.push(words.join(" "));
        }
    }

    fn is_wanted(&self, name: &str) -> bool {
        let sections = &self.jobs.switches.sections;
        sections.is_empty() || sections.iter().any(|section| section == name)
    }

    /// An option of a file with its variables put in, in two at the first `=`.
    fn asked(&mut self, option: &OptionLine, values: &Values<'_>) -> Option<Asked> {
        let substituted = match substitute(&option.text, values) {
            Ok(substituted) => substituted,
            Err(wrong) => {
                self.problem(option.place.clone(), wrong);
                return None;
            }
        };
        for name in substituted.unset {
            self.note(option.place.clone(), format!("the variable {name} is not set, so it is empty here"));
        }
        let value_column = option.text.find('=').map_or(0, |at| {
            let value = &option.text[at + 1..];
            at + 1 + value.len() - value.trim_start().len()
        });
        let text = substituted.text;
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim().to_owned(), Some(value.trim_end().to_owned())),
            None => (text.trim().to_owned(), None),
        };
        let value_place = option.place.at(option.place.column + value_column);
        Some(Asked { place: option.place.clone(), value_place, name, value })
    }

    fn apply_globally(&mut self, asked: Vec<Asked>) {
        if let Some(last) = asked.last().filter(|_| self.global.given.len() + asked.len() > OPTIONS_MAX) {
            let wrong = Wrong::new(format!("there are more than {OPTIONS_MAX} global options"));
            return self.problem(last.place.clone(), wrong);
        }
        let mut global = std::mem::take(&mut self.global);
        self.apply(asked, &mut global);
        self.global = global;
    }

    /// Applies options: those of a file in fio's order, which is what k means first, and those of an engine last.
    fn apply(&mut self, asked: Vec<Asked>, to: &mut Shared) {
        let is_command_line = asked.first().is_some_and(|asked| &*asked.place.file == COMMAND_LINE);
        let rank = |asked: &Asked, entry: Option<&Entry>| match (asked.name.as_str(), entry) {
            _ if is_command_line => 0,
            ("kb_base" | "unit_base" | "lockfile" | "cpus_allowed_policy", _) => 1,
            ("filename" | "filename_format", _) => 3,
            (_, Some(entry)) if !entry.engines.is_empty() => 4,
            _ => 2,
        };
        let mut ranked: Vec<_> = asked.into_iter().map(|asked| (options::find(&asked.name), asked)).collect();
        ranked.sort_by_key(|(entry, asked)| rank(asked, *entry));
        for (entry, asked) in ranked {
            if self.problems.len() >= PROBLEMS_MAX {
                return;
            }
            match entry {
                Some(entry) => self.apply_one(entry, asked, to),
                None => {
                    let is_among_first = self.problems.len() < SUGGESTIONS_MAX;
                    self.problem(asked.place, options::unknown(&asked.name, is_among_first));
                }
            }
        }
    }

    fn apply_one(&mut self, entry: &'static Entry, asked: Asked, to: &mut Shared) {
        let settings = &mut to.settings;
        if to.has_refused_engine && !entry.engines.is_empty() {
            return;
        }
        if !entry.belongs_to(settings.engine) && !matches!(entry.support, Support::Refused(_)) {
            let what = format!(
                "{} belongs to the engine {}, and this one is {}",
                entry.name,
                entry.engines.join(" or "),
                settings.engine.name()
            );
            return self.problem(asked.place, Wrong::new(what).instead("set ioengine before it, or remove it"));
        }
        match entry.put(asked.value.as_deref(), settings) {
            Ok(remarks) => {
                to.has_refused_engine &= entry.name != "ioengine";
                for remark in remarks {
                    self.note(asked.value_place.clone(), remark);
                }
            }
            Err(wrong) => {
                to.has_refused_engine |= entry.name == "ioengine";
                let is_refused = matches!(entry.support, Support::Refused(_));
                let place = if is_refused || asked.value.is_none() { &asked.place } else { &asked.value_place };
                let what = if is_refused { wrong.what } else { format!("{}: {}", entry.name, wrong.what) };
                self.problem(place.clone(), Wrong { what, instead: wrong.instead });
            }
        }
        to.given.push(GivenOption { name: entry.name, value: asked.value, place: asked.place });
    }

    fn job(&mut self, section: Section, asked: Vec<Asked>, file_index: Option<usize>, follows_file: bool) {
        let has_refused_engine = self.global.has_refused_engine;
        let mut own = Shared { settings: self.global.settings.clone(), given: Vec::new(), has_refused_engine };
        own.settings.name = None;
        own.settings.course.waits_for_all |= follows_file;
        self.apply(asked, &mut own);
        self.override_options(&mut own, &section.place);
        let Shared { mut settings, given, .. } = own;
        let (mut section, place) = (section.name, section.place);
        let name = settings.name.clone().unwrap_or_else(|| section.clone());
        if let Some(root) = &self.jobs.switches.within {
            within::keep(&mut settings, &mut section, &name, root);
        }
        let mut job = Job { name, section, place, given, settings, group: 0, waits_for: None, file_index };
        if !self.jobs.switches.shows_command {
            self.check(&mut job);
        }
        self.place_in_group(&mut job);
        self.jobs.jobs.push(job);
    }

    /// Options of `--override` go before those of the job, and are not echoed as its own.
    fn override_options(&mut self, own: &mut Shared, place: &Place) {
        let given = own.given.len();
        let overrides = self.jobs.switches.overrides.clone();
        for Override { name, value, is_most } in overrides {
            if let (true, Some(entry)) = (is_most, options::find(&name)) {
                let all = own.given[..given].iter().rev().chain(self.global.given.iter().rev());
                let last = all.into_iter().find(|option| option.name == entry.name);
                if !last.is_some_and(|last| entry.is_above(last.value.as_deref(), &value, &own.settings)) {
                    continue;
                }
            }
            // Names add up, but for those of an override, which are all that there are.
            if name == "filename" {
                own.settings.files.names = [].into();
            }
            let asked = Asked { place: place.clone(), value_place: place.clone(), name, value: Some(value) };
            self.apply(vec![asked], own);
        }
        // Whoever asks for what is not honoured is told so here, too.
        for option in own.given.split_off(given) {
            let note = options::find(option.name).and_then(|entry| entry.note(option.value.as_deref(), &own.settings));
            if let Some(text) = note {
                self.note(option.place, text);
            }
        }
    }

    fn check(&mut self, job: &mut Job) {
        let find = |name: &str, global: &Shared, job: &Job| {
            job.given.iter().chain(&global.given).find(|option| option.name == name).map(|option| option.place.clone())
        };
        let mut settings = std::mem::take(&mut job.settings);
        let findings = checks::check(&mut settings, |name| find(name, &self.global, job).is_some());
        job.settings = settings;
        self.tell_what_differs(job);
        for finding in findings {
            let place = find(finding.option, &self.global, job).unwrap_or_else(|| job.place.clone());
            self.finding(place, &finding, &job.name);
        }
        let option = |name| find(name, &self.global, job).unwrap_or_else(|| job.place.clone());
        let (writes, waits, clones) = (option("rw"), option("wait_for"), option("numjobs"));
        if self.jobs.switches.is_read_only && job.settings.pattern.direction.writes {
            let wrong = Wrong::new(format!("the job \"{}\" writes, and --readonly is given", job.name));
            self.problem(writes, wrong.instead("remove one of them"));
        }
        if let Some(name) = job.settings.course.waits_for.clone() {
            match self.waits_for(&name, job) {
                Ok(index) => job.waits_for = Some(index),
                Err(wrong) => self.problem(waits, wrong),
            }
        }
        self.clones += job.settings.course.clones;
        if self.clones > CLONES_MAX {
            let wrong = Wrong::new(format!("there are {} jobs with their clones", self.clones));
            self.problem(clones, wrong.instead(format!("ask for at most {CLONES_MAX}")));
            self.clones = 0;
        }
    }

    /// Notes the options of a job that are not honoured as they were given. Each is told of once, where it stands.
    fn tell_what_differs(&mut self, job: &Job) {
        for option in self.global.given.iter().chain(&job.given) {
            let entry = options::find(option.name);
            let note = entry.and_then(|entry| entry.note(option.value.as_deref(), &job.settings));
            let note = note.map(|text| Note { place: option.place.clone(), text });
            if let Some(note) = note.filter(|note| !self.told.contains(note)) {
                self.told.insert(note.clone());
                self.jobs.notes.push(note);
            }
        }
    }

    fn finding(&mut self, place: Place, finding: &Finding, job: &str) {
        let text = format!("{} (job \"{job}\")", finding.text);
        let is_fatal = finding.weight == Weight::Warning && self.jobs.switches.warnings_are_fatal;
        if finding.weight == Weight::Problem || is_fatal {
            let instead = finding.instead.map(str::to_owned);
            self.problem(place, Wrong { what: text, instead });
        } else {
            self.note(place, text);
        }
    }

    /// The one job before this one that has this name.
    fn waits_for(&self, name: &str, job: &Job) -> Result<usize, Wrong> {
        let mut named = self.jobs.jobs.iter().enumerate().filter(|(_, job)| job.name == name);
        match (named.next(), named.next()) {
            _ if job.name == name => Err(Wrong::new(format!("the job \"{name}\" waits for itself"))),
            (Some((index, _)), None) => Ok(index),
            (Some(_), Some(_)) => {
                Err(Wrong::new(format!("several jobs are named \"{name}\"")).instead("give each a name of its own"))
            }
            (None, _) => Err(Wrong::new(format!("no job before this one is named \"{name}\""))
                .instead("put the job that is waited for before it")),
        }
    }

    /// A stonewall or a new group counts up, unless it is the first.
    fn place_in_group(&mut self, job: &mut Job) {
        let course = &job.settings.course;
        let begins = course.waits_for_all || course.begins_group;
        job.group = match self.group {
            Some(group) if begins => group + 1,
            Some(group) => group,
            None => 0,
        };
        self.group = Some(job.group);
        let report = &job.settings.report;
        let group = self.jobs.jobs.iter().rev().take_while(|other| other.group == job.group);
        let differs = |other: &Job| other.settings.report.has_total_percentiles != report.has_total_percentiles;
        if report.is_by_group && report.has_statistics && group.take(1).any(differs) {
            let wrong =
                Wrong::new(format!("lat_percentiles of the job \"{}\" differs from others of its group", job.name));
            self.problem(
                job.place.clone(),
                wrong.instead("give all jobs of a group the same, or begin one with new_group"),
            );
        }
    }

    fn finish(mut self) -> Result<Jobs, Problems> {
        let Switches { is_parse_only, shows_command, sections, .. } = &self.jobs.switches;
        if self.jobs.jobs.is_empty() && self.problems.is_empty() && !is_parse_only && !shows_command {
            let place = Place { file: COMMAND_LINE.into(), line: 1, column: 1 };
            let wrong = if sections.is_empty() {
                Wrong::new("no job is given").instead("name a job file, or begin a job with --name")
            } else {
                let wrong = Wrong::new(format!("no job has the name of --section={}", sections.join(" or ")));
                wrong.instead("name the section of a job")
            };
            self.problem(place, wrong);
        }
        self.jobs.global_options = self.global.given;
        if self.problems.is_empty() { Ok(self.jobs) } else { Err(Problems(self.problems)) }
    }
}

/// An option as a word of a command line.
fn shown(option: &GivenOption) -> String {
    match &option.value {
        Some(value) => quoted(&format!("--{}={value}", option.name)),
        None => format!("--{}", option.name),
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,%+@^".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests;
