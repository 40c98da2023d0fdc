//! What each job of a mix repeats with the files of a set: the personalities that the field knows by name.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    file_set::FilePhase,
    units::{ByteCount, ValueError, serde_as_text},
};

/// A flow of steps, none of them empty. Each is done with another file of the job, drawn at random.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMix(Vec<MixStep>);

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixStep {
    /// Of which one is drawn each time.
    pub choices: Vec<MixAction>,
    /// How often in a row.
    pub times: u32,
}

/// One thing that is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixAction {
    /// As in the phase of this name.
    pub phase: FilePhase,
    /// Bytes that are appended, where that is what is done; those of a block without this.
    pub bytes: Option<u64>,
}

impl FileMix {
    /// The steps.
    pub fn steps(&self) -> &[MixStep] {
        &self.0
    }

    /// Everything that is done, in the order in which it is first named.
    pub fn phases(&self) -> Vec<FilePhase> {
        let mut phases = Vec::new();
        for action in self.actions() {
            if !phases.contains(&action.phase) {
                phases.push(action.phase);
            }
        }
        phases
    }

    /// The most bytes that a step appends.
    pub fn append_max(&self) -> u64 {
        self.actions().filter_map(|action| action.bytes).max().unwrap_or(0)
    }

    /// The sizes that steps append to files of their own.
    pub fn appended_to_files(&self) -> impl Iterator<Item = u64> {
        self.actions().filter(|action| action.phase != FilePhase::Log).filter_map(|action| action.bytes)
    }

    /// Whether new files are made, so that there has to be room for them.
    pub fn makes_files(&self) -> bool {
        self.actions().any(|action| action.phase == FilePhase::Write)
    }

    /// Whether files are other ones afterwards, or may be.
    pub fn changes(&self) -> bool {
        self.actions().any(|action| action.phase.changes())
    }

    /// Whether anything goes to the file that all jobs append to.
    pub fn logs(&self) -> bool {
        self.actions().any(|action| action.phase == FilePhase::Log)
    }

    fn actions(&self) -> impl Iterator<Item = &MixAction> {
        self.0.iter().flat_map(|step| &step.choices)
    }
}

const FORM: &str = "write steps as delete,write,read_append:16k,read*2 or with alternatives as read|append:512";

fn action(text: &str) -> Result<MixAction, ValueError> {
    let (word, bytes) = text.split_once(':').map_or((text, None), |(word, bytes)| (word, Some(bytes)));
    let phase: FilePhase = word.trim().parse()?;
    let refused = |why: &str| ValueError::new(format!("\"{text}\" {why}: {FORM}"));
    if !phase.goes_into_mixes() {
        return Err(refused("cannot be part of a mix"));
    }
    let appends = matches!(phase, FilePhase::Append | FilePhase::ReadAppend | FilePhase::Log);
    let bytes = bytes.map(|bytes| bytes.parse::<ByteCount>().map(|bytes| bytes.0)).transpose()?;
    match bytes {
        Some(_) if !appends => Err(refused("takes no size: only what is appended has one of its own")),
        Some(0) => Err(refused("appends nothing")),
        Some(bytes) if bytes > u64::from(u32::MAX) => Err(refused("appends too much")),
        bytes => Ok(MixAction { phase, bytes }),
    }
}

impl FromStr for FileMix {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let step = |text: &str| {
            let (choices, times) =
                text.rsplit_once('*').map_or((text, None), |(choices, times)| (choices, Some(times)));
            let times = times.map_or(Ok(1), |times| match times.trim().parse::<u32>() {
                Ok(times) if (1..=10_000).contains(&times) => Ok(times),
                _ => Err(ValueError::new(format!("\"{times}\" is not how often a step is done: {FORM}"))),
            })?;
            let choices = choices.split('|').map(action).collect::<Result<Vec<_>, _>>()?;
            Ok(MixStep { choices, times })
        };
        text.split(',').map(step).collect::<Result<Vec<_>, _>>().map(Self)
    }
}

impl fmt::Display for FileMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, MixStep { choices, times }) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "," })?;
            for (index, MixAction { phase, bytes }) in choices.iter().enumerate() {
                write!(f, "{}{phase}", if index == 0 { "" } else { "|" })?;
                bytes.map_or(Ok(()), |bytes| write!(f, ":{}", ByteCount(bytes)))?;
            }
            if *times > 1 {
                write!(f, "*{times}")?;
            }
        }
        Ok(())
    }
}

serde_as_text! { FileMix, "steps that each job repeats, as \"delete,write,read_append:16k,read*2\""; }

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_prints_as_it_parses() {
        for text in ["read", "delete,write,read_append:16KiB,read*2", "read|append:512B,write|delete*3", "log:16KiB"] {
            assert_eq!(text.parse::<FileMix>().unwrap().to_string(), text);
        }
        for text in ["", "read*0", "read*", "mkdir", "mix", "read:4k", "append:0", "fly", "read||stat", "append:5G"] {
            assert!(text.parse::<FileMix>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z_|,:*0-9k]*") {
            if let Ok(mix) = text.parse::<FileMix>() {
                prop_assert_eq!(mix.to_string().parse::<FileMix>().unwrap(), mix.clone());
                prop_assert!(!mix.steps().is_empty());
            }
        }
    }
}
