//! Recorded traces whose long-run rate is known: what `plimsoll replay` says of them, and what a scorer says of that.
//!
//! The corpus is a directory of traces with `truth.json`: for each trace its family, its long-run rate, the words that
//! are not wrong about it, and for storage with a bucket what a catalog would say of it.

use std::{collections::BTreeMap, fs};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::{Trial, marks, plimsoll::Plimsoll};
use crate::child;

/// What is true of a trace.
#[derive(Deserialize)]
pub(super) struct Truth {
    pub(super) family: String,
    #[serde(rename = "truth")]
    pub(super) rate: f64,
    pub(super) verdict_allowed: Vec<String>,
    catalogue: Option<Bucket>,
}

/// What a catalog says of storage with a bucket, as `plimsoll replay --limits` reads it.
#[derive(Clone, Copy, Deserialize, Serialize)]
struct Bucket {
    sustained: f64,
    burst: f64,
    bucket: f64,
}

/// What plimsoll said of a trace.
#[derive(Deserialize)]
pub(super) struct Answer {
    id: String,
    pub(super) verdict: String,
    pub(super) est: Option<f64>,
    pub(super) lo: Option<f64>,
    pub(super) hi: Option<f64>,
    pub(super) cost_s: f64,
    pub(super) grade: Option<String>,
    pub(super) flags: Vec<String>,
}

/// A trace with both.
pub(super) struct Judged<'a> {
    pub(super) truth: &'a Truth,
    pub(super) answer: Answer,
}

/// A catalog is right to a tenth: by so much are sustained rate and bucket wrong, in turns.
const CATALOG_ERRORS: [f64; 3] = [0.9, 1.0, 1.1];

pub(super) fn corpus(trial: &Trial<'_>) -> anyhow::Result<()> {
    let (Some(corpus), Some(scorer)) = (&trial.arguments.corpus, &trial.arguments.scorer) else {
        trial.skip("--corpus and --scorer");
        return Ok(());
    };
    let [corpus, scorer] = [corpus, scorer].map(|path| path.canonicalize().with_context(|| path.display().to_string()));
    let (corpus, scorer) = (corpus?, scorer?);
    let path = corpus.join("truth.json");
    let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    let truths: BTreeMap<String, Truth> =
        serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))?;
    let limits = trial.plimsoll.keep("limits", &serde_json::to_string(&limits(&truths))?)?;
    let limits = limits.to_string_lossy();

    for (mode, name, more) in [
        ("single", "single", None),
        ("single", "single-limits", Some(["--limits", &*limits].as_slice())),
        ("matrix", "matrix", None),
        ("matrix", "matrix-limits", Some(["--limits", &*limits].as_slice())),
        ("matrix", "matrix-bookend", Some(["--bookend"].as_slice())),
    ] {
        let mut replay = Plimsoll::command("replay");
        replay.arg("--traces").arg(&corpus).args(["--mode", mode, "--json"]).args(more.unwrap_or_default());
        let said = trial.plimsoll.say(&mut replay)?;
        anyhow::ensure!(said.code == Some(0), "{}: {}", child::line(&replay), said.stderr);
        let answers = trial.plimsoll.keep(&format!("{name}.jsonl"), &said.stdout)?;
        let mut python = child::command("python3");
        let scores = child::output(python.arg(&scorer).arg(&path).arg(&answers))?;
        trial.plimsoll.keep(&format!("{name}.txt"), &scores)?;
        println!("{name}, by the scorer:\n{}", scores.trim_end());
        marks::judge(trial, name, &judged(&truths, &said.stdout)?);
    }
    Ok(())
}

/// What a catalog would say of the traces with a bucket.
fn limits(truths: &BTreeMap<String, Truth>) -> BTreeMap<&str, Bucket> {
    let known = truths.iter().filter_map(|(id, truth)| Some((id.as_str(), truth.catalogue?)));
    let wrong = known.enumerate().map(|(index, (id, bucket))| {
        let error = |place: usize| CATALOG_ERRORS[place % CATALOG_ERRORS.len()];
        let sustained = bucket.sustained * error(index);
        (id, Bucket { sustained, bucket: bucket.bucket * error(index / CATALOG_ERRORS.len()), ..bucket })
    });
    wrong.collect()
}

/// Every trace with its answer.
fn judged<'a>(truths: &'a BTreeMap<String, Truth>, answers: &str) -> anyhow::Result<Vec<Judged<'a>>> {
    let answers: Result<Vec<Answer>, _> = answers.lines().map(serde_json::from_str).collect();
    let answers: BTreeMap<String, Answer> =
        answers.context("read the answers")?.into_iter().map(|answer| (answer.id.clone(), answer)).collect();
    anyhow::ensure!(
        truths.keys().eq(answers.keys()),
        "{} traces of {} have an answer, or other names",
        answers.len(),
        truths.len()
    );
    Ok(truths.values().zip(answers.into_values()).map(|(truth, answer)| Judged { truth, answer }).collect())
}
