//! Looking after what changes: the journals of this machine's runs, and the history.
//!
//! Files are looked at twice a second, and only while somebody listens or asks: a server that nobody looks at leaves
//! the machine to what is being measured. What is found becomes a [`Snapshot`]; whoever listens gets the newest one,
//! and never a queue of those before it.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use jiff::Timestamp;
use plimsoll_history::{
    history::History,
    journal::{
        self,
        following::{self, Follower},
    },
};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::live::{LiveRun, WithSeconds};

/// How often is looked.
const EVERY: Duration = Duration::from_millis(500);

/// What there was at the last look.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// Becomes more whenever `live` changes.
    pub(crate) live_revision: u64,
    /// The runs that are going on with their last seconds, as JSON.
    pub(crate) live: String,
    /// Becomes more whenever the history has changed.
    pub(crate) history_revision: u64,
    /// What is told of the history, as JSON.
    pub(crate) history: String,
    /// The runs that are going on.
    pub(crate) runs: Vec<LiveRun>,
}

/// Who looks.
pub(crate) struct Following {
    looks: Mutex<Looks>,
    newest: watch::Sender<Arc<Snapshot>>,
    /// That it is gone ends the thread.
    _alive: Sender<()>,
}

struct Looks {
    state_directory: Option<PathBuf>,
    history_path: PathBuf,
    is_read_only: bool,
    now: fn() -> Timestamp,
    journals: BTreeMap<PathBuf, Followed>,
    history: Option<Watched>,
    last: Arc<Snapshot>,
}

/// A journal that is followed.
struct Followed {
    file: FileIdentity,
    /// Whether it was tried to put the run into its history, because its process is gone.
    is_given_up: bool,
    /// When it was written what was read last, by the clock of this machine, which that of a cluster may differ from.
    told: Timestamp,
    /// None until its first line is whole.
    journal: Option<(Follower, LiveRun)>,
}

/// A history that is watched for changes.
struct Watched {
    file: FileIdentity,
    /// The connection that notices, and what it said last; none when it cannot be opened.
    open: Option<(History, i64)>,
}

/// Which file it is: another one may get its name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileIdentity(u64, u64);

impl FileIdentity {
    fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self(metadata.dev(), metadata.ino()))
    }
}

impl Following {
    /// Begins; a thread looks while somebody listens.
    pub(crate) fn begin(
        state_directory: Option<PathBuf>,
        history_path: PathBuf,
        is_read_only: bool,
        now: fn() -> Timestamp,
    ) -> std::io::Result<Arc<Self>> {
        let (alive, gone) = channel();
        let looks = Looks {
            state_directory,
            history_path,
            is_read_only,
            now,
            journals: BTreeMap::new(),
            history: None,
            last: Arc::default(),
        };
        let following =
            Arc::new(Self { looks: Mutex::new(looks), newest: watch::Sender::new(Arc::default()), _alive: alive });
        let looked_at = Arc::downgrade(&following);
        thread::Builder::new().name("following".to_owned()).spawn(move || keep_looking(&looked_at, &gone))?;
        Ok(following)
    }

    /// Looks now.
    pub(crate) fn look(&self) -> Arc<Snapshot> {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        looks.look(true);
        Arc::clone(&looks.last)
    }

    /// Looks at the history, because it was just changed, and tells who listens.
    pub(crate) fn look_at_history(&self) {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        looks.look(false);
        let last = Arc::clone(&looks.last);
        drop(looks);
        self.tell(last);
    }

    /// What will be found from now on; `None` while so many listen already.
    pub(crate) fn listen(&self, listeners_max: usize) -> Option<watch::Receiver<Arc<Snapshot>>> {
        (self.newest.receiver_count() < listeners_max).then(|| self.newest.subscribe())
    }

    fn tell(&self, snapshot: Arc<Snapshot>) {
        self.newest.send_if_modified(|newest| {
            let is_new =
                newest.live_revision < snapshot.live_revision || newest.history_revision < snapshot.history_revision;
            if is_new {
                *newest = snapshot;
            }
            is_new
        });
    }
}

fn keep_looking(following: &Weak<Following>, gone: &Receiver<()>) {
    while gone.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        let Some(following) = following.upgrade() else { return };
        if following.newest.receiver_count() > 0 {
            following.tell(following.look());
        }
    }
}

impl Looks {
    fn look(&mut self, with_journals: bool) {
        let mut snapshot = Snapshot {
            live_revision: self.last.live_revision,
            live: String::new(),
            history_revision: self.last.history_revision,
            history: self.last.history.clone(),
            runs: Vec::new(),
        };
        if with_journals {
            self.look_at_journals();
            snapshot.runs = self.journals.values().filter_map(Followed::going_on).cloned().collect();
            snapshot.runs.sort_by_key(|run| (run.started, run.id));
            let runs: Vec<WithSeconds<'_>> = snapshot.runs.iter().map(LiveRun::with_seconds).collect();
            snapshot.live = json!({ "runs": runs }).to_string();
        } else {
            snapshot.runs.clone_from(&self.last.runs);
            snapshot.live.clone_from(&self.last.live);
        }
        snapshot.live_revision += u64::from(snapshot.live != self.last.live);
        if self.has_history_changed() || snapshot.history_revision == 0 {
            snapshot.history_revision += 1;
            snapshot.history = self.told_of_history(snapshot.history_revision).to_string();
        }
        self.last = Arc::new(snapshot);
    }

    fn look_at_journals(&mut self) {
        let paths = self.state_directory.as_deref().map(following::all).unwrap_or_default();
        self.journals.retain(|path, _| paths.contains(path));
        for path in paths {
            let Some(file) = FileIdentity::of(&path) else { continue };
            let followed = self.journals.entry(path.clone()).or_insert_with(|| Followed::new(file));
            if followed.file != file {
                // The run was interrupted and goes on: its journal begins anew.
                *followed = Followed::new(file);
            }
            if followed.journal.is_none() {
                let begun = Follower::begin(&path).ok().flatten();
                followed.journal = begun.map(|(follower, started)| (follower, LiveRun::new(started)));
            }
            if let Some((follower, run)) = &mut followed.journal {
                // A journal that cannot be read now may be read the next time.
                let events = follower.events().unwrap_or_default();
                events.iter().for_each(|event| run.apply(event));
                if !events.is_empty() {
                    followed.told = written(&path).unwrap_or_default();
                }
                let silent_ns = (self.now)().duration_since(followed.told).as_nanos();
                run.tell_now(silent_ns.try_into().unwrap_or(if silent_ns > 0 { u64::MAX } else { 0 }));
            }
        }
        self.recover_the_dead();
    }

    /// Puts runs whose processes are gone into their histories, as every other command does when it begins.
    fn recover_the_dead(&mut self) {
        let Some(directory) = self.state_directory.as_deref().filter(|_| !self.is_read_only) else { return };
        let is_dead = |followed: &&mut Followed| {
            let journal = followed.journal.as_ref();
            !followed.is_given_up && journal.is_some_and(|(follower, _)| !follower.is_written())
        };
        let mut dead = self.journals.values_mut().filter(is_dead).peekable();
        if dead.peek().is_some() {
            // What cannot be recovered is told by the next command, and not tried again and again.
            dead.for_each(|followed| followed.is_given_up = true);
            journal::recover(directory);
        }
    }

    fn has_history_changed(&mut self) -> bool {
        let file = FileIdentity::of(&self.history_path);
        if file != self.history.as_ref().map(|watched| watched.file) {
            self.history = file.map(|file| Watched { file, open: opened(&self.history_path) });
            return true;
        }
        match &mut self.history {
            Some(Watched { open: Some((history, last)), .. }) => match history.data_version() {
                Ok(version) if version == *last => false,
                Ok(version) => {
                    *last = version;
                    true
                }
                Err(_) => false,
            },
            Some(watched) => {
                watched.open = opened(&self.history_path);
                watched.open.is_some()
            }
            None => false,
        }
    }

    /// What is told when the history has changed. Whoever wants more asks for it.
    fn told_of_history(&self, revision: u64) -> Value {
        let history = self.history.as_ref().and_then(|watched| watched.open.as_ref()).map(|(history, _)| history);
        // Where there is no file there are no runs; of one that cannot be read nobody knows.
        let total = match history {
            Some(history) => history.count().ok(),
            None => self.history.is_none().then_some(0),
        };
        let latest = history.and_then(|history| history.latest().ok()).flatten();
        json!({ "revision": revision, "total": total, "latest": latest })
    }
}

/// When a file was written.
fn written(path: &Path) -> Option<Timestamp> {
    fs::metadata(path).ok()?.modified().ok()?.try_into().ok()
}

/// A history with its number, which is asked first: a change meanwhile is seen the next time.
fn opened(path: &Path) -> Option<(History, i64)> {
    let history = History::read(path).ok()?;
    let version = history.data_version().ok()?;
    Some((history, version))
}

impl Followed {
    fn new(file: FileIdentity) -> Self {
        Self { file, is_given_up: false, told: Timestamp::default(), journal: None }
    }

    /// The run, if its process is still there.
    fn going_on(&self) -> Option<&LiveRun> {
        self.journal.as_ref().filter(|(follower, _)| follower.is_written()).map(|(_, run)| run)
    }
}
