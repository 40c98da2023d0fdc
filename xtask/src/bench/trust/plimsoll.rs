//! Running plimsoll in a check, and keeping what it answers.

use std::{
    fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context as _;
use plimsoll_record::record::{Cell, Record};

use crate::{
    bench::measured_child::{Look, watch},
    child, interruption,
};

/// The release binary.
pub(super) struct Plimsoll {
    /// Where answers are kept.
    pub(super) kept: PathBuf,
}

/// What a command said, and how it ended.
pub(super) struct Said {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Plimsoll {
    /// The command `plimsoll run` with these arguments on these targets, whose record is its answer.
    pub(super) fn run_command<'p>(targets: impl IntoIterator<Item = &'p Path>, arguments: &str) -> Command {
        let mut command = child::command(&binary().to_string_lossy());
        command.arg("run").args(targets).args(arguments.split_whitespace());
        command.args(["--json", "--quiet", "--no-history"]);
        command
    }

    /// Runs the command and keeps the record under this name. What is to be done at each look is done until then;
    /// `device` is the one whose operations a look tells.
    pub(super) fn record(
        &self,
        name: &str,
        command: &mut Command,
        device: Option<&str>,
        mut at_look: impl FnMut(Look) -> anyhow::Result<()>,
    ) -> anyhow::Result<Record> {
        interruption::check()?;
        // A group of its own: Ctrl-C is then told by us alone, once. The second would end it at once.
        command.process_group(0);
        let measured = watch(command, device, |look| {
            interruption::check()?;
            at_look(look)
        })?;
        self.keep(name, &measured.stdout)?;
        serde_json::from_str(&measured.stdout).with_context(|| format!("read the record {name}"))
    }

    /// Keeps an answer, and tells its path.
    pub(super) fn keep(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.path(name);
        fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
        Ok(path)
    }

    /// Where an answer of this name is kept.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        let has_extension = Path::new(name).extension().is_some();
        self.kept.join(if has_extension { name.to_owned() } else { format!("{name}.json") })
    }

    /// Any other command of plimsoll, to its end, however that is.
    pub(super) fn say(&self, command: &mut Command) -> anyhow::Result<Said> {
        interruption::check()?;
        let output = command.output().with_context(|| format!("start \"{}\"", child::line(command)))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) })
    }

    /// The command `plimsoll NAME`.
    pub(super) fn command(name: &str) -> Command {
        let mut command = child::command(&binary().to_string_lossy());
        command.arg(name);
        command
    }
}

fn binary() -> PathBuf {
    crate::repository().join("target/release/plimsoll")
}

/// The word about a cell.
pub(super) fn verdict(cell: &Cell) -> &'static str {
    cell.verdict.map_or("none", |verdict| verdict.as_str())
}

/// Operations per second in the window that the word is about.
pub(super) fn rate(cell: &Cell) -> f64 {
    cell.estimate.map_or(0.0, |estimate| estimate.iops)
}

/// Seconds of load, ramps included.
pub(super) fn load_seconds(cell: &Cell) -> f64 {
    cell.slots.iter().map(|slot| slot.ramp_ns + slot.elapsed_ns).sum::<u64>() as f64 / 1e9
}
