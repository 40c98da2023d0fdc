//! The list of test objects of a run, kept in the state directory so that the next command of any kind finds what a
//! run that was killed left behind, wherever that is.
//!
//! One file for each run, one line for each object, written before the object is made. The file is locked while its
//! run lives. Lines are appended with one write each: a line that is cut off is of an object that was never made.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    marker::{Lock, Owner, Patience, lock},
    removal::process_exists,
};

const SCHEMA: &str = "plimsoll-objects/1";

/// Lists of longer length are not ours: a run has a handful of targets.
const LIST_BYTES_MAX: u64 = 16 << 20;

/// How long the end of a run waits for the disk of the state directory.
const PATIENCE: Duration = Duration::from_secs(2);

/// The first line of a list.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    schema: String,
    run: Uuid,
    host: String,
    boot_id: String,
    pid: u32,
    started: jiff::Timestamp,
}

impl Header {
    /// Whether the owner is dead for certain, where no lock says so. Where the host is another one, as in a container,
    /// so may its numbers of processes be.
    fn is_of_dead(&self, here: &Owner) -> bool {
        self.host == here.host && (self.boot_id != here.boot_id || !process_exists(self.pid))
    }
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ObjectKind {
    /// A directory with a marker in it.
    Directory,
    /// A file with a marker beside it.
    File,
    /// The marker of many files.
    Names,
}

/// One object of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) kind: ObjectKind,
    pub(crate) path: PathBuf,
    /// The directory it was made in, to tell whether that is reachable now.
    pub(crate) parent_inode: u64,
}

/// The list of the objects of this run.
#[derive(Debug)]
pub(crate) struct Registry {
    file: File,
    path: PathBuf,
}

impl Registry {
    /// Starts the list of a run.
    pub(crate) fn create(state_directory: &Path, owner: &Owner) -> io::Result<Self> {
        let directory = lists(state_directory);
        fs::create_dir_all(&directory)?;
        let path = directory.join(format!("{}.json", owner.run));
        let file = loop {
            let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path)?;
            lock(&file, Patience::Wait)?;
            // A sweep of another process may have removed the list before it was locked.
            if file.metadata()?.nlink() > 0 {
                break file;
            }
        };
        let mut registry = Self { file, path };
        if registry.file.metadata()?.len() == 0 {
            registry.append(&Header {
                schema: SCHEMA.into(),
                run: owner.run,
                host: owner.host.clone(),
                boot_id: owner.boot_id.clone(),
                pid: owner.pid,
                started: owner.started,
            })?;
        }
        Ok(registry)
    }

    /// Adds an object that is about to be made.
    pub(crate) fn add(&mut self, kind: ObjectKind, path: &Path) -> io::Result<()> {
        let parent_inode = fs::metadata(path.parent().unwrap_or(path))?.ino();
        self.append(&Entry { kind, path: path.to_owned(), parent_inode })
    }

    fn append(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }

    /// Ends the list: nothing of the run is left. A disk that does not answer is not waited for: a list that stays is
    /// removed by a later command, which finds its run dead.
    pub(crate) fn remove(self) -> io::Result<()> {
        let (done, removed) = mpsc::channel();
        thread::Builder::new().name("objects".to_owned()).spawn(move || {
            let _ = done.send(fs::remove_file(&self.path));
        })?;
        removed.recv_timeout(PATIENCE).map_err(io::Error::other)?
    }
}

/// The list of a run that has ended without removing it; its lock is ours now.
#[derive(Debug)]
pub(crate) struct AbandonedList {
    pub(crate) run: Uuid,
    pub(crate) started: jiff::Timestamp,
    pub(crate) entries: Vec<Entry>,
    path: PathBuf,
    _lock: File,
}

impl AbandonedList {
    /// Removes the list: there is nothing more to find by it.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Reads the lists whose runs are dead and were of this machine.
pub(crate) fn abandoned_lists(state_directory: &Path, here: &Owner) -> io::Result<Vec<AbandonedList>> {
    let entries = match fs::read_dir(lists(state_directory)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut abandoned = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let run = path.extension().is_some_and(|extension| extension == "json").then(|| path.file_stem()).flatten();
        let Some(run) = run.and_then(|stem| Uuid::parse_str(stem.to_str()?).ok()) else {
            continue;
        };
        // A list that cannot be read today is there tomorrow.
        if let Ok(Some(list)) = abandoned_list(&path, run, here) {
            abandoned.push(list);
        }
    }
    Ok(abandoned)
}

fn abandoned_list(path: &Path, run: Uuid, here: &Owner) -> io::Result<Option<AbandonedList>> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let file = OpenOptions::new().read(true).write(true).custom_flags(no_follow).open(path)?;
    let facts = file.metadata()?;
    let lock = lock(&file, Patience::Try)?;
    if !facts.is_file() || lock == Lock::HeldByOther {
        return Ok(None);
    }
    let facts = file.metadata()?;
    if facts.nlink() == 0 || facts.len() > LIST_BYTES_MAX {
        return Ok(None);
    }
    let text = io::read_to_string(&file)?;
    let Some((header, entries)) = parse(&text) else {
        if lock == Lock::Unsupported {
            return Ok(None);
        }
        // Nothing in it: its owner died before it wrote, and so before it made anything.
        let started = jiff::Timestamp::UNIX_EPOCH;
        let list = AbandonedList { run, started, entries: Vec::new(), path: path.to_owned(), _lock: file };
        return Ok(Some(list));
    };
    let same_machine = header.host == here.host || (!here.boot_id.is_empty() && header.boot_id == here.boot_id);
    if header.run != run || !same_machine || (lock == Lock::Unsupported && !header.is_of_dead(here)) {
        return Ok(None);
    }
    Ok(Some(AbandonedList { run, started: header.started, entries, path: path.to_owned(), _lock: file }))
}

fn parse(text: &str) -> Option<(Header, Vec<Entry>)> {
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let header = serde_json::from_str::<Header>(lines.next()?).ok().filter(|header| header.schema == SCHEMA)?;
    Some((header, lines.filter_map(|line| serde_json::from_str(line).ok()).collect()))
}

fn lists(state_directory: &Path) -> PathBuf {
    state_directory.join("objects")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_found_when_its_run_is_dead_and_not_before() {
        let state = tempfile::tempdir().unwrap();
        let owner = Owner::this_process(Uuid::from_u128(9));
        let mut registry = Registry::create(state.path(), &owner).unwrap();
        let object = state.path().join("plimsoll-x");
        registry.add(ObjectKind::Directory, &object).unwrap();
        assert!(abandoned_lists(state.path(), &owner).unwrap().is_empty());
        drop(registry);
        let lists = abandoned_lists(state.path(), &owner).unwrap();
        assert_eq!((lists[0].run, &lists[0].entries[0].path), (owner.run, &object));
        let elsewhere = Owner { host: "elsewhere".into(), boot_id: "another".into(), ..owner.clone() };
        drop(lists);
        assert!(abandoned_lists(state.path(), &elsewhere).unwrap().is_empty());
        abandoned_lists(state.path(), &owner).unwrap()[0].remove().unwrap();
        assert!(abandoned_lists(state.path(), &owner).unwrap().is_empty());
    }

    #[test]
    fn where_nothing_can_be_locked_only_who_is_gone_is_dead() {
        let owner = Owner::this_process(Uuid::from_u128(9));
        let header = |owner: &Owner| Header {
            schema: SCHEMA.to_owned(),
            run: owner.run,
            host: owner.host.clone(),
            boot_id: owner.boot_id.clone(),
            pid: owner.pid,
            started: jiff::Timestamp::UNIX_EPOCH,
        };
        let of = |change: fn(&mut Header)| {
            let mut header = header(&owner);
            change(&mut header);
            header.is_of_dead(&owner)
        };
        assert!(!of(|_| {}), "it lives: it is this process");
        assert!(of(|header| header.boot_id = "an earlier one".to_owned()));
        // No process has the number: the kernel's largest is 2^22.
        assert!(of(|header| header.pid = 1 << 30));
        assert!(!of(|header| (header.host, header.pid) = ("a-container".to_owned(), 1 << 30)));
    }

    #[test]
    fn a_line_that_was_cut_off_is_of_nothing() {
        let header = r#"{"schema":"plimsoll-objects/1","run":"00000000-0000-0000-0000-000000000009","host":"a","boot_id":"b","pid":1,"started":"2026-01-01T00:00:00Z"}"#;
        let line = r#"{"kind":"file","path":"/mnt/f","parent_inode":2}"#;
        assert_eq!(parse(&format!("{header}\n{line}\n{line}")).unwrap().1.len(), 1);
        assert!(parse(header).is_none());
        assert!(parse("").is_none());
    }
}
