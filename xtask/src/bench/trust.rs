//! `cargo xtask bench trust`: what plimsoll says of storage whose behaviour is known.
//!
//! Each check has a name, sets up what it measures, and prints a line for each promise. What plimsoll answered stays in
//! `target/trust/CHECK/`. Devices, groups and mounts are made for one check and removed at its end, also on Ctrl-C.

use std::{cell::Cell, fs, path::PathBuf};

use anyhow::{Context as _, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};

mod corpus;
mod expectations;
mod marks;
mod not_the_storage;
mod plimsoll;
mod sides;
mod steady;
mod unsteady;

use self::plimsoll::Plimsoll;
use crate::interruption;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The checks to do [default: all]
    #[arg(value_name = "NAME", value_parser = names())]
    checks: Vec<String>,
    /// For the check `corpus`: a directory of traces (ID.csv) with `truth.json`, as the corpus generator makes it
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// For the check `corpus`: the program in Python that scores a file of answers, given DIR/truth.json and that file
    #[arg(long, value_name = "FILE")]
    scorer: Option<PathBuf>,
}

/// Something to check.
struct Check {
    name: &'static str,
    about: &'static str,
    run: fn(&Trial<'_>) -> anyhow::Result<()>,
}

/// In the order in which they are done: what is over soon comes first.
const CHECKS: &[Check] = &[
    Check {
        name: "corpus",
        about: "Recorded traces with a known truth; needs --corpus and --scorer",
        run: corpus::corpus,
    },
    Check {
        name: "expectations",
        about: "How --fail-if ends, and JUnit by its schema; 2 minutes",
        run: expectations::run,
    },
    Check {
        name: "cached",
        about: "Buffered reads of a file in the page cache; 1 minute",
        run: not_the_storage::cached,
    },
    Check { name: "quota", about: "A tenth of a processor; 1 minute", run: not_the_storage::quota },
    Check { name: "single", about: "One cell on 5,000 IOPS; 3 minutes", run: steady::single },
    Check { name: "canonical", about: "The canonical set on 5,000 IOPS; 12 minutes", run: steady::canonical },
    Check { name: "burst", about: "3,500 IOPS for eight seconds, then 120; 8 minutes", run: unsteady::burst },
    Check {
        name: "catalog-burst",
        about: "The same with its catalog entry, twenty runs of random length; 20 minutes",
        run: unsteady::catalog_burst,
    },
    Check { name: "alternating", about: "100 and 100,000 IOPS in turns; 14 minutes", run: unsteady::alternating },
    Check { name: "same", about: "Forty loops that are alike, compared; 15 minutes", run: sides::same },
    Check { name: "different", about: "Ten pairs that differ by 10 %; 6 minutes", run: sides::different },
];

/// A parser that lists the checks in help and completion.
fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(CHECKS.iter().map(|check| PossibleValue::new(check.name).help(check.about)))
}

/// A check under way: where it keeps what it was answered, and how it judges.
struct Trial<'a> {
    check: &'static str,
    arguments: &'a Arguments,
    plimsoll: Plimsoll,
    /// Promises that were not kept, over all checks.
    misses: &'a Cell<u32>,
}

impl Trial<'_> {
    /// A line of the table.
    fn judge(&self, what: &str, measured: &str, required: &str, is_met: bool) {
        let verdict = if is_met { "pass" } else { "MISS" };
        self.misses.set(self.misses.get() + u32::from(!is_met));
        println!("{:<50} | {measured:<42} | {required:<30} | {verdict}", format!("{}: {what}", self.check));
    }

    /// A line about something that is no promise by itself.
    fn note(&self, what: &str, measured: &str) {
        println!("{:<50} | {measured:<42} | {:<30} |", format!("{}: {what}", self.check), "-");
    }

    /// A line about a check that cannot be done here, which whoever asked for it by name did not get.
    fn skip(&self, missing: &str) {
        if self.arguments.checks.is_empty() {
            println!("skipped: {}: {missing}", self.check);
        } else {
            self.judge("done", &format!("missing: {missing}"), "done", false);
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let misses = Cell::new(0);
    println!("{:<50} | {:<42} | {:<30} | outcome", "check", "measured", "required");
    let is_asked =
        |check: &&Check| arguments.checks.is_empty() || arguments.checks.iter().any(|name| name == check.name);
    for check in CHECKS.iter().filter(is_asked) {
        let kept = crate::repository().join("target/trust").join(check.name);
        if kept.exists() {
            fs::remove_dir_all(&kept).with_context(|| format!("remove {}", kept.display()))?;
        }
        fs::create_dir_all(&kept).with_context(|| format!("create {}", kept.display()))?;
        let plimsoll = Plimsoll { kept };
        let trial = Trial { check: check.name, arguments, plimsoll, misses: &misses };
        if let Err(error) = (check.run)(&trial) {
            interruption::check()?;
            trial.judge("done", &format!("{error:#}"), "no error", false);
        }
    }
    if misses.get() > 0 { bail!("{} of the promises were not kept", misses.get()) } else { Ok(()) }
}
