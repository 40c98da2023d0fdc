//! What a command line may say beside jobs: outputs, what to show, and limits.

use plimsoll_workload::units::Span;

use super::value::{Reading, TimeUnit};
use crate::{problem::Wrong, support::Support};

/// Everything that the switches said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switches {
    /// `--output`: where the report goes.
    pub output: Option<String>,
    /// `--output-format`, `--minimal`, `--append-terse`.
    pub formats: Formats,
    /// `--terse-version`.
    pub terse_version: u8,
    /// `--bandwidth-log`: the beginning of the name of a log of all jobs together.
    pub bandwidth_log: Option<String>,
    /// `--section`: jobs with these names only.
    pub sections: Vec<String>,
    /// `--readonly`: jobs that write are refused.
    pub is_read_only: bool,
    /// `--parse-only`.
    pub is_parse_only: bool,
    /// `--showcmd`.
    pub shows_command: bool,
    /// `--warnings-fatal`.
    pub warnings_are_fatal: bool,
    /// `--eta`.
    pub eta: Eta,
    /// `--eta-interval`.
    pub eta_interval: Span,
    /// `--eta-newline`.
    pub eta_newline: Option<Span>,
    /// `--status-interval`.
    pub status_interval: Option<Span>,
    /// `--idle-prof`.
    pub idle_profile: Option<IdleProfile>,
    /// A question that is answered instead of running.
    pub question: Option<Question>,
    /// `--to-plan`: write the plan file that says the same.
    pub to_plan: bool,
    /// `--override`: options that go before those of every job.
    pub overrides: Vec<Override>,
    /// `--within`: the directory that the paths of all jobs are kept below.
    pub within: Option<String>,
    /// `--destroy`: devices that may be written, unless they bear a known signature.
    pub destroys: Vec<String>,
    /// `--keep-files`.
    pub keeps_files: bool,
    /// `--history`: the file of the history.
    pub history: Option<String>,
    /// `--no-history`.
    pub is_without_history: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            output: None,
            formats: Formats { normal: true, ..Formats::default() },
            terse_version: 3,
            bandwidth_log: None,
            sections: Vec::new(),
            is_read_only: false,
            is_parse_only: false,
            shows_command: false,
            warnings_are_fatal: false,
            eta: Eta::Auto,
            eta_interval: Span::from_seconds(1),
            eta_newline: None,
            status_interval: None,
            idle_profile: None,
            question: None,
            to_plan: false,
            overrides: Vec::new(),
            within: None,
            destroys: Vec::new(),
            keeps_files: false,
            history: None,
            is_without_history: false,
        }
    }
}

/// An option that goes before that of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The name of the option.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether only a value above it gives way: `numjobs<=4`.
    pub is_most: bool,
}

/// Which reports are written; several may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Formats {
    /// For people.
    pub normal: bool,
    /// With semicolons.
    pub terse: bool,
    /// JSON.
    pub json: bool,
    /// JSON with histograms.
    pub json_plus: bool,
}

/// Whether progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eta {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How idle processors are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleProfile {
    /// All together.
    System,
    /// Each.
    PerProcessor,
}

/// What can be asked for instead of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// `--version`.
    Version,
    /// `--help`.
    Help,
    /// `--cmdhelp`: about an option, or all.
    Option(Option<String>),
    /// `--enghelp`: about an engine, or all.
    Engine(Option<String>),
}

/// Whether a switch has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// It has none.
    None,
    /// `--switch=value` or `--switch value`.
    Required,
    /// `--switch` or `--switch=value`.
    Optional,
}

/// A switch.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// Its name.
    pub name: &'static str,
    /// Its letter, after one dash.
    pub letter: Option<char>,
    /// Whether it has a value.
    pub argument: Argument,
    /// How far it is honoured.
    pub support: Support,
    /// What it does, in a line.
    pub help: &'static str,
    apply: Apply,
}

type Apply = fn(&mut Switches, &str) -> Result<(), Wrong>;

impl Switch {
    const fn exact(name: &'static str, letter: char, argument: Argument, help: &'static str, apply: Apply) -> Self {
        Self { name, letter: Some(letter), argument, support: Support::Exact, help, apply }
    }

    const fn ours(name: &'static str, argument: Argument, help: &'static str, apply: Apply) -> Self {
        Self { name, letter: None, argument, support: Support::Exact, help, apply }
    }

    const fn ignored(name: &'static str, letter: char, argument: Argument, reason: &'static str) -> Self {
        let support = Support::Ignored(reason);
        Self { name, letter: Some(letter), argument, support, help: "", apply: |_, _| Ok(()) }
    }

    const fn refused(name: &'static str, letter: char, argument: Argument, reason: &'static str) -> Self {
        let support = Support::Refused(reason);
        Self { name, letter: Some(letter), argument, support, help: "", apply: |_, _| Ok(()) }
    }

    /// Does what the switch says; a value that is absent is empty.
    pub(super) fn put(&self, value: Option<&str>, switches: &mut Switches) -> Result<(), Wrong> {
        if let Support::Refused(reason) = self.support {
            return Err(Wrong::new(format!("--{} is not possible: {reason}", self.name)).instead("remove it"));
        }
        if self.argument == Argument::Required && value.is_none_or(str::is_empty) {
            return Err(
                Wrong::new(format!("--{} has no value", self.name)).instead(format!("write --{}=VALUE", self.name))
            );
        }
        (self.apply)(switches, value.unwrap_or_default())
    }
}

const ONE_MACHINE: &str = "plimsoll runs on one machine; start it on each, and compare the records";
const TRIGGERS: &str = "triggers are not supported; plimsoll ends cleanly on SIGINT and SIGTERM";

/// All switches.
pub static SWITCHES: &[Switch] = &[
    Switch::exact("output", 'o', Argument::Required, "Write the report to a file", |s, v| {
        s.output = Some(v.into());
        Ok(())
    }),
    Switch::exact(
        "output-format",
        'F',
        Argument::Required,
        "normal, terse, json or json+, several with commas",
        |s, v| {
            s.formats = formats(v)?;
            Ok(())
        },
    ),
    Switch::exact("minimal", 'm', Argument::None, "The terse report", |s, _| {
        s.formats = Formats { terse: true, ..Formats::default() };
        Ok(())
    }),
    Switch::exact("append-terse", 'f', Argument::Optional, "The terse report as well", |s, _| {
        s.formats.terse = true;
        Ok(())
    }),
    Switch::exact("terse-version", 'V', Argument::Required, "The version of the terse report, 2 to 5", |s, v| {
        let version = v.parse().ok().filter(|version| (2..=5).contains(version));
        let wrong = || Wrong::new(format!("\"{v}\" is not a version of the terse report")).instead("write 2 to 5");
        s.terse_version = version.ok_or_else(wrong)?;
        Ok(())
    }),
    Switch::exact("bandwidth-log", 'b', Argument::Optional, "Log the bandwidth of all jobs together", |s, v| {
        s.bandwidth_log = Some(if v.is_empty() { "agg".into() } else { v.into() });
        Ok(())
    }),
    Switch::exact("section", 'x', Argument::Required, "Only the job of this name; can be repeated", |s, v| {
        if v == "global" {
            return Err(Wrong::new("--section=global names no job").instead("name the section of a job"));
        }
        s.sections.push(v.into());
        Ok(())
    }),
    Switch::exact("readonly", 'r', Argument::None, "Refuse jobs that write", |s, _| {
        s.is_read_only = true;
        Ok(())
    }),
    Switch::exact("parse-only", 'P', Argument::None, "Read everything, and run nothing", |s, _| {
        s.is_parse_only = true;
        Ok(())
    }),
    Switch::exact("showcmd", 's', Argument::None, "Show job files as command lines", |s, _| {
        s.shows_command = true;
        Ok(())
    }),
    Switch::exact("warnings-fatal", 'w', Argument::None, "Refuse what would be warned about", |s, _| {
        s.warnings_are_fatal = true;
        Ok(())
    }),
    Switch::exact("eta", 'e', Argument::Required, "Whether progress is shown: auto, always or never", |s, v| {
        // fio takes every other word for auto.
        s.eta = match v {
            "always" => Eta::Always,
            "never" => Eta::Never,
            _ => Eta::Auto,
        };
        Ok(())
    }),
    Switch::exact(
        "eta-interval",
        'O',
        Argument::Required,
        "How often progress is shown, at most once a second",
        |s, v| {
            s.eta_interval = at_least(v, 250)?;
            Ok(())
        },
    ),
    Switch::exact("eta-newline", 'E', Argument::Required, "How often progress begins a new line", |s, v| {
        s.eta_newline = Some(at_least(v, 1)?);
        Ok(())
    }),
    Switch::exact(
        "status-interval",
        'L',
        Argument::Required,
        "How often a report is written meanwhile, at most once a second; the signal SIGUSR1 asks for one",
        |s, v| {
            s.status_interval = Some(at_least(v, 1)?);
            Ok(())
        },
    ),
    Switch::exact("idle-prof", 'I', Argument::Required, "Report idle processors: system or percpu", |s, v| {
        s.idle_profile = Some(match v {
            "system" => IdleProfile::System,
            "percpu" => IdleProfile::PerProcessor,
            "calibrate" => {
                return Err(Wrong::new("there is nothing to calibrate: idle time is what the kernel counts")
                    .instead("write system or percpu"));
            }
            _ => return Err(Wrong::new(format!("\"{v}\" is not system or percpu")).instead("write one of them")),
        });
        Ok(())
    }),
    Switch::exact("version", 'v', Argument::None, "Show the version", |s, _| {
        s.question = s.question.take().or(Some(Question::Version));
        Ok(())
    }),
    Switch::exact("help", 'h', Argument::None, "Show the help", |s, _| {
        s.question = s.question.take().or(Some(Question::Help));
        Ok(())
    }),
    Switch::exact("cmdhelp", 'c', Argument::Optional, "Explain an option, or list all", |s, v| {
        s.question = s.question.take().or(Some(Question::Option(given(v))));
        Ok(())
    }),
    Switch::exact("enghelp", 'i', Argument::Optional, "Explain the options of an engine, or list engines", |s, v| {
        s.question = s.question.take().or(Some(Question::Engine(given(v))));
        Ok(())
    }),
    Switch::ours("to-plan", Argument::None, "Write the plan file that says the same, and run nothing", |s, _| {
        s.to_plan = true;
        Ok(())
    }),
    Switch::ours("override", Argument::Required, "Options for every job, as size=64m,runtime=2,numjobs<=4", |s, v| {
        s.overrides.extend(overrides(v)?);
        Ok(())
    }),
    Switch::ours("within", Argument::Required, "Keep the paths of all jobs below this directory", |s, v| {
        s.within = Some(v.into());
        Ok(())
    }),
    Switch::ours(
        "destroy",
        Argument::Required,
        "Permit writing to this device, if no signature on it (file system, partition table, ...) is known; can be repeated",
        |s, v| {
            s.destroys.push(v.into());
            Ok(())
        },
    ),
    Switch::ours("keep-files", Argument::None, "Keep the files that the jobs created", |s, _| {
        s.keeps_files = true;
        Ok(())
    }),
    Switch::ours("history", Argument::Required, "Keep the record in this history", |s, v| {
        s.history = Some(v.into());
        Ok(())
    }),
    Switch::ours("no-history", Argument::None, "Keep no record", |s, _| {
        s.is_without_history = true;
        Ok(())
    }),
    Switch::ignored("alloc-size", 'a', Argument::Required, "memory is taken as needed"),
    Switch::ignored("aux-path", 'K', Argument::Required, "no files of state are written"),
    Switch::ignored("max-jobs", 'j', Argument::Required, "fio ignores it too"),
    Switch::ignored("debug", 'd', Argument::Required, "there is no such output"),
    Switch::refused("client", 'C', Argument::Required, ONE_MACHINE),
    Switch::refused("server", 'S', Argument::Optional, ONE_MACHINE),
    Switch::refused("daemonize", 'D', Argument::Required, ONE_MACHINE),
    Switch::refused("remote-config", 'R', Argument::Required, ONE_MACHINE),
    Switch::refused("latency-log", 'l', Argument::Required, "write_lat_log of a job does that"),
    Switch::refused(
        "profile",
        'p',
        Argument::Required,
        "built-in profiles are not supported; write the job that is meant",
    ),
    Switch::refused("inflate-log", 'X', Argument::Required, "logs are not compressed"),
    Switch::refused("merge-blktrace-only", 'A', Argument::None, "recorded patterns are neither written nor replayed"),
    Switch::refused("cpuclock-test", 'T', Argument::None, "plimsoll uses the clock of the kernel"),
    Switch::refused("crctest", 'G', Argument::Optional, "plimsoll measures storage, not checksums"),
    Switch::refused("memcpytest", 'M', Argument::Optional, "plimsoll measures storage, not memory"),
    Switch::refused("trigger-file", 'W', Argument::Required, TRIGGERS),
    Switch::refused("trigger-timeout", 'B', Argument::Required, TRIGGERS),
    Switch::refused("trigger", 'H', Argument::Required, TRIGGERS),
    Switch::refused("trigger-remote", 'J', Argument::Required, TRIGGERS),
];

fn given(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

fn formats(text: &str) -> Result<Formats, Wrong> {
    let mut formats = Formats::default();
    for word in text.split(',') {
        match word {
            "normal" => formats.normal = true,
            "terse" | "minimal" | "csv" => formats.terse = true,
            "json" => formats.json = true,
            "json+" => (formats.json, formats.json_plus) = (true, true),
            _ => {
                return Err(Wrong::new(format!("\"{word}\" is not a format"))
                    .instead("write normal, terse, json or json+, several with commas"));
            }
        }
    }
    Ok(formats)
}

fn at_least(text: &str, milliseconds: u64) -> Result<Span, Wrong> {
    let span = Reading::default().time(text, TimeUnit::Seconds)?;
    if span.ns < Span::from_milliseconds(milliseconds).ns {
        return Err(Wrong::new(format!("\"{text}\" is too short")).instead(format!("write at least {milliseconds}ms")));
    }
    Ok(span)
}

/// `size=64m,bs=4k,8k,runtime=2,numjobs<=4`: what has no `=` belongs to the value before it.
fn overrides(text: &str) -> Result<Vec<Override>, Wrong> {
    let mut overrides: Vec<Override> = Vec::new();
    for part in text.split(',') {
        match (part.split_once('='), overrides.last_mut()) {
            (Some((name, value)), _) => {
                let most = name.trim().strip_suffix('<');
                let name = most.unwrap_or(name).trim().to_owned();
                overrides.push(Override { name, value: value.to_owned(), is_most: most.is_some() });
            }
            (None, Some(Override { value, .. })) => {
                value.push(',');
                value.push_str(part);
            }
            (None, None) => {
                let wrong = Wrong::new(format!("\"{text}\" overrides nothing"));
                return Err(wrong.instead("write --override=size=64m,runtime=2"));
            }
        }
    }
    Ok(overrides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_keep_the_commas_of_values() {
        let found = overrides("size=64m,bs=4k,8k,runtime=2,numjobs <= 4").unwrap();
        let found: Vec<_> = found.iter().map(|o| (o.name.as_str(), o.value.as_str(), o.is_most)).collect();
        assert_eq!(
            found,
            [("size", "64m", false), ("bs", "4k,8k", false), ("runtime", "2", false), ("numjobs", " 4", true)]
        );
        assert!(overrides("64m").is_err());
    }

    #[test]
    fn formats_add_up() {
        let expected = Formats { normal: true, json: true, json_plus: true, terse: false };
        assert_eq!(formats("normal,json+"), Ok(expected));
        assert!(formats("xml").is_err() && formats("").is_err());
    }

    #[test]
    fn no_switch_has_the_letter_or_name_of_another() {
        let mut names: Vec<_> = SWITCHES.iter().map(|switch| switch.name).collect();
        let mut letters: Vec<_> = SWITCHES.iter().filter_map(|switch| switch.letter).collect();
        names.sort_unstable();
        letters.sort_unstable();
        assert!(names.is_sorted_by(|left, right| left < right) && letters.is_sorted_by(|left, right| left < right));
    }
}
