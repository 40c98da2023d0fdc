//! What `plimsoll compare --fail-if` ends with, and the JUnit file that it writes.

use std::{fs, path::Path};

use anyhow::Context as _;

use super::{Trial, plimsoll::Plimsoll};
use crate::{
    bench::{
        capped_device::{Cap, CappedDevices},
        loop_device::Backing,
    },
    child,
};

const DEVICE_BYTES: u64 = 64 << 20;
/// Deep enough that the cap decides how long an operation takes: it lets operations pass in heaps, ten times a second.
const VISITS: &str = "--rw randread --queue-depth 512 --passes 12 --duration 1s --ramp 500ms";
const SCHEMA: &str = "fixtures/junit.xsd";

/// Runs by name with their caps: `slow` has half of the others.
const RUNS: [(&str, u64); 3] = [("before", 2_000), ("same", 2_000), ("slow", 1_000)];

/// The run that others are compared with, the other, the expectations, and how it has to end.
const CASES: &[([&str; 2], &str, i32)] = &[
    (["before", "slow"], "iops<-20%", 1),
    (["slow", "before"], "iops<-20%", 0),
    (["before", "same"], "iops<-20%", 0),
    (["before", "slow"], "iops<-60%", 0),
    (["slow", "before"], "iops>+20%", 1),
    (["before", "slow"], "p50>+20%", 1),
    (["slow", "before"], "p50>+20%", 0),
    (["before", "slow"], "p50>+200%,iops<-20%", 1),
    (["before", "same"], "p50>+20%,iops<-20%", 0),
];

pub(super) fn run(trial: &Trial<'_>) -> anyhow::Result<()> {
    let mut capped = CappedDevices::create(1, &crate::repository().join("target"), DEVICE_BYTES, Backing::Cached)?;
    capped.devices[0].deepen_queue()?;
    for (name, operations) in RUNS {
        capped.cap_all(Cap::operations(operations))?;
        let run = Plimsoll::run_command([capped.first().path.as_path()], VISITS);
        trial.plimsoll.record(name, &mut capped.inside(&run), None, |_| Ok(()))?;
    }
    let has_validator = child::find("xmllint").is_some();
    for (index, (sides, expectations, code)) in CASES.iter().enumerate() {
        let junit = trial.plimsoll.path(&format!("{index}.xml"));
        let mut command = Plimsoll::command("compare");
        command.args(sides.map(|side| trial.plimsoll.path(side)));
        command.arg("--fail-if").arg(expectations).arg("--junit").arg(&junit).arg("--json");
        let said = trial.plimsoll.say(&mut command)?;
        trial.plimsoll.keep(&format!("{index}"), &said.stdout)?;
        let measured = said.code.map_or_else(|| "killed".to_owned(), |code| format!("exit code {code}"));
        let what = format!("{} to {}, {expectations}", sides[0], sides[1]);
        trial.judge(&what, &measured, &format!("exit code {code}"), said.code == Some(*code));
        if has_validator {
            let refusal = refusal(trial, &junit)?;
            let measured = refusal.as_deref().unwrap_or("accepted");
            trial.judge(&format!("{index}.xml"), measured, "accepted by the schema", refusal.is_none());
        }
    }
    if has_validator {
        return schema_refuses(trial);
    }
    trial.skip("xmllint, which validates JUnit: libxml2-utils");
    Ok(())
}

/// Why the schema refuses a file; `None` when it does not.
fn refusal(trial: &Trial<'_>, junit: &Path) -> anyhow::Result<Option<String>> {
    let mut command = child::command("xmllint");
    let said = trial.plimsoll.say(command.args(["--noout", "--nonet", "--schema", SCHEMA]).arg(junit))?;
    Ok((said.code != Some(0)).then(|| said.stderr.lines().next().unwrap_or("refused").to_owned()))
}

/// A schema that accepts everything would prove nothing, so it is shown what is wrong.
fn schema_refuses(trial: &Trial<'_>) -> anyhow::Result<()> {
    let good = trial.plimsoll.path("0.xml");
    let text = fs::read_to_string(&good).with_context(|| format!("read {}", good.display()))?;
    for (what, from, to) in [
        ("a test without a name", "<testcase name=", "<testcase title="),
        ("an unknown element", "<system-err", "<system-warnings"),
        ("a count that is no number", "failures=\"1\"", "failures=\"one\""),
        ("two outcomes of a test", "<failure ", "<skipped/><failure "),
    ] {
        let mut wrong = text.replace(from, to);
        if from == "<system-err" {
            wrong = wrong.replace("</system-err", "</system-warnings");
        }
        anyhow::ensure!(wrong != text, "{} has no {from}", good.display());
        let path = trial.plimsoll.keep("wrong.xml", &wrong)?;
        let is_refused = refusal(trial, &path)?.is_some();
        let measured = if is_refused { "refused" } else { "accepted" };
        trial.judge(&format!("{what} in JUnit"), measured, "refused by the schema", is_refused);
    }
    Ok(())
}
