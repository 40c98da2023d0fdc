//! `cargo xtask bench fio-corpus DIRECTORY`: job files that others wrote, each below a folder of its repository, read
//! and run shrunk; and whether fio reads the same in them.
//!
//! Nothing of them is kept here, and nothing is fetched. A share of files says little where one repository has
//! thousands of the same make, so each repository counts as much as any other. Jobs run below a fresh directory, as an
//! ordinary user when the task has root, so that none can reach a device.

mod comparison;
mod job_text;
mod trial;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

use self::{
    job_text::{JobText, Left},
    trial::{Trial, Verdict},
};
use super::{Bar, judge};
use crate::interruption;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A directory with one folder for each repository, and its job files below.
    directory: PathBuf,
    /// Of each repository, so many files are run; all are read.
    #[arg(long, default_value_t = 60)]
    runs: usize,
    /// Of each repository, so many files are run by fio as well, and what both did is compared.
    #[arg(long, default_value_t = 10)]
    comparisons: usize,
    /// Only repositories with this in their name.
    #[arg(long, default_value = "")]
    only: String,
    /// What runs: a binary of plimsoll.
    #[arg(long, default_value = "target/debug/plimsoll")]
    binary: PathBuf,
}

/// What became of the files of one repository.
#[derive(Default)]
struct Tally {
    valid: usize,
    translated: usize,
    run: usize,
    succeeded: usize,
    compared: usize,
    differing: usize,
    left: BTreeMap<&'static str, usize>,
}

impl Tally {
    /// The share of valid files that are read and run, where those that ran stand for those that did not.
    fn share(&self) -> f64 {
        let of_run = if self.run == 0 { 1.0 } else { self.succeeded as f64 / self.run as f64 };
        self.translated as f64 / self.valid.max(1) as f64 * of_run
    }
}

/// Reasons, each with its files.
#[derive(Default)]
struct Reasons(BTreeMap<String, Vec<String>>);

impl Reasons {
    fn add(&mut self, reason: String, file: &Path) {
        self.0.entry(reason).or_default().push(file.display().to_string());
    }

    fn show(&self, title: &str) {
        println!("\n{title}: {}", if self.0.is_empty() { "none" } else { "" });
        let mut reasons: Vec<_> = self.0.iter().collect();
        reasons.sort_by_key(|(_, files)| std::cmp::Reverse(files.len()));
        for (reason, files) in reasons {
            println!("{:>6}  {reason}", files.len());
            files.iter().take(4).for_each(|file| println!("          {file}"));
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let binary = fs::canonicalize(&arguments.binary).context("find the binary: build it, or name another")?;
    let directory = fs::canonicalize(&arguments.directory).context("find the directory of repositories")?;
    let trial = Trial::new(binary)?;
    let (mut failures, mut differences, mut left) = (Reasons::default(), Reasons::default(), Reasons::default());
    let mut shares = Vec::new();
    for repository in entries(&directory)?.iter().filter(|path| path.is_dir()) {
        let name = repository.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.contains(&arguments.only) {
            continue;
        }
        let mut tally = Tally::default();
        let mut translated = Vec::new();
        for file in files(repository)? {
            let known = file.strip_prefix(&directory).unwrap_or(&file).to_owned();
            let text = JobText::read(&file)?;
            match trial.translate(&file, &text) {
                Verdict::Done => {
                    tally.valid += 1;
                    translated.push((file, known, text));
                }
                Verdict::Left(why) => {
                    *tally.left.entry(why.name()).or_default() += 1;
                    if let Left::RefusedByFio(words) = why {
                        left.add(words, &known);
                    }
                }
                Verdict::Failed(reason) => {
                    tally.valid += 1;
                    failures.add(format!("not translated: {reason}"), &known);
                }
            }
            interruption::check()?;
        }
        tally.translated = translated.len();
        let run: Vec<_> = spread(&translated, arguments.runs).map(|(_, file)| file).collect();
        for (index, (file, known, text)) in run.iter().enumerate() {
            tally.run += 1;
            match trial.run(file) {
                None => tally.succeeded += 1,
                Some(reason) => {
                    failures.add(format!("not run: {reason}"), known);
                    continue;
                }
            }
            if spread(&run, arguments.comparisons).any(|(compared, _)| compared == index) {
                match trial.compare(file, text)? {
                    comparison::Outcome::Same => tally.compared += 1,
                    comparison::Outcome::Not(why) => differences.add(format!("not compared: {why}"), known),
                    comparison::Outcome::Different(how) => {
                        tally.compared += 1;
                        tally.differing += 1;
                        differences.add(how, known);
                    }
                }
            }
            interruption::check()?;
        }
        show(&name, &tally);
        if tally.valid > 0 {
            shares.push(tally.share() * 100.0);
        }
    }
    left.show("refused by fio too");
    failures.show("failures");
    differences.show("differences from fio");
    let share = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    println!();
    if judge("translated and run, repository by repository", share, " %", Bar::AtLeast(95.0)) {
        Ok(())
    } else {
        bail!("a bar was missed")
    }
}

fn show(name: &str, tally: &Tally) {
    let left: Vec<String> = tally.left.iter().map(|(why, count)| format!("{count} {why}")).collect();
    println!(
        "{:>6.1} %  {name}: {} valid, {} translated, {} of {} run, {} of {} as fio{}{}",
        tally.share() * 100.0,
        tally.valid,
        tally.translated,
        tally.succeeded,
        tally.run,
        tally.compared - tally.differing,
        tally.compared,
        if left.is_empty() { "" } else { "; left out: " },
        left.join(", "),
    );
}

/// So many of them, as far apart as can be, with their numbers.
fn spread<T>(all: &[T], most: usize) -> impl Iterator<Item = (usize, &T)> {
    let count = all.len().min(most);
    (0..count).map(move |index| index * all.len() / count).map(|index| (index, &all[index]))
}

/// What is in a directory, by name.
fn entries(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let read = fs::read_dir(directory).with_context(|| format!("read {}", directory.display()))?;
    let mut entries = read.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

/// All files below a directory.
fn files(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in entries(directory)? {
        if path.is_dir() {
            files.extend(self::files(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_run_are_spread_over_all() {
        let all: Vec<usize> = (0..100).collect();
        let some: Vec<usize> = spread(&all, 4).map(|(_, value)| *value).collect();
        assert_eq!(some, [0, 25, 50, 75]);
        assert_eq!(spread(&all[..3], 4).count(), 3);
    }

    #[test]
    fn the_share_counts_what_is_not_read_and_what_does_not_run() {
        let tally = Tally { valid: 10, translated: 9, run: 3, succeeded: 2, ..Tally::default() };
        assert!((tally.share() - 0.6).abs() < 1e-9);
        assert!((Tally { valid: 4, ..Tally::default() }).share() < 1e-9);
    }
}
