//! Job files of `fixtures/fio/` and what becomes of them, word for word.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

use plimsoll_dialects::fio::{Jobs, Surroundings, settings::Settings, translate_job_files};

/// What a job file becomes, as text; of settings only what is not the default.
fn told(folder: &Path, name: &str) -> String {
    let mut read_file = |name: &str| Ok(fs::read(folder.join(name)).ok());
    let mut surroundings = Surroundings {
        environment: &|name| (name == "DATA").then(|| "/mnt/data".to_owned()),
        page_size_bytes: 4096,
        memory_mib: 2048,
        processors: 4,
        read_file: &mut read_file,
    };
    match translate_job_files(&[name.to_owned()], &mut surroundings) {
        Ok(jobs) => told_jobs(&jobs),
        Err(problems) => format!("problems\n{problems}\n"),
    }
}

fn told_jobs(jobs: &Jobs) -> String {
    let mut text = String::new();
    let usual = format!("{:#?}", Settings::default());
    let usual: BTreeSet<&str> = usual.lines().collect();
    for job in &jobs.jobs {
        writeln!(text, "job {:?}, group {}, {}", job.name, job.group, job.place).unwrap();
        for option in &job.given {
            writeln!(text, "  given {} {:?}", option.name, option.value).unwrap();
        }
        for line in format!("{:#?}", job.settings).lines().filter(|line| !usual.contains(line)) {
            writeln!(text, "  {line}").unwrap();
        }
    }
    for note in &jobs.notes {
        writeln!(text, "note {note}").unwrap();
    }
    text
}

#[test]
fn job_files_become_what_they_became() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fio");
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".fio")).collect();
    names.sort();
    let mut stale = Vec::new();
    for name in &names {
        let (told, golden) = (told(&folder, name), name.replace(".fio", ".txt"));
        if fs::read_to_string(folder.join(&golden)).is_ok_and(|expected| expected == told) {
            continue;
        }
        let candidate = Path::new(env!("CARGO_TARGET_TMPDIR")).join(golden);
        fs::write(&candidate, told).unwrap();
        stale.push(candidate);
    }
    assert!(names.len() >= 4 && stale.is_empty(), "compare with fixtures/fio, and copy what is right: {stale:?}");
}
