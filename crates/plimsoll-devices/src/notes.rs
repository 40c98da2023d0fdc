//! What is written down of things that were made, so that whatever there is of them can be taken down.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use plimsoll_workload::array::is_name;
use rustix::io::{FdFlags, fcntl_setfd};
use serde::{Serialize, de::DeserializeOwned};

use crate::error::{DeviceError, Made};

/// The endings of what lies beside the directory of notes: what is not yet written down whole, and what is locked.
const DRAFT: &str = "draft";
const LOCK: &str = "lock";

/// Something that is written down, in a file of its name.
pub(crate) trait Note: Serialize + DeserializeOwned {
    /// What it is, and how it is made.
    const MADE: Made;
    /// The directory of such notes in that of the state.
    const DIRECTORY: &'static str;
    /// The form of what is written.
    const FORM: &'static str;

    /// What it is called.
    fn name(&self) -> &str;

    /// The form of what was read.
    fn form(&self) -> &str;

    /// Why what was read cannot have been written here: whatever it names may be written over or removed.
    fn oddity(&self) -> Option<String>;
}

/// Whether a name can be that of a note.
pub(crate) fn check_name(name: &str) -> Result<(), DeviceError> {
    // What ends so is a note.
    if !is_name(name) || name.ends_with(".json") {
        return Err(DeviceError::Usage(format!(
            "\"{name}\" is no name: use up to 64 letters, digits and - _ . with no .json at the end"
        )));
    }
    Ok(())
}

/// Where a note is.
pub(crate) fn path<N: Note>(state: &Path, name: &str) -> PathBuf {
    state.join(N::DIRECTORY).join(format!("{name}.json"))
}

/// Keeps other processes from making or taking down such things, as long as it is held: by this process, and by the
/// tools that it starts, which a killed one may leave in the middle of something.
pub(crate) fn lock<N: Note>(state: &Path) -> Result<fs::File, DeviceError> {
    fs::create_dir_all(state).map_err(DeviceError::file_of_root("make the directory", state))?;
    let path = state.join(N::DIRECTORY).with_extension(LOCK);
    let open = || {
        let file = fs::File::options().create(true).truncate(false).write(true).open(&path)?;
        file.lock()?;
        fcntl_setfd(&file, FdFlags::empty())?;
        Ok(file)
    };
    open().map_err(DeviceError::file_of_root("lock", &path))
}

/// Whether somebody holds that at the moment.
pub(crate) fn is_locked<N: Note>(state: &Path) -> bool {
    let file = fs::File::open(state.join(N::DIRECTORY).with_extension(LOCK));
    file.is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

/// Writes one down whole or not at all, also when the machine goes off. The draft is that of who holds the lock: what
/// a writer left that was killed is the next one's.
pub(crate) fn write<N: Note>(note: &N, state: &Path) -> Result<(), DeviceError> {
    let path = path::<N>(state, note.name());
    let directory = state.join(N::DIRECTORY);
    fs::create_dir_all(&directory).map_err(DeviceError::file("make the directory", &directory))?;
    let text = serde_json::to_string_pretty(note).unwrap_or_default();
    let draft = directory.with_extension(DRAFT);
    let write = || {
        let mut file = fs::File::create(&draft)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(DeviceError::file("write", &draft))?;
    // The name is on the disk as well when the directory is.
    let rename = || fs::rename(&draft, &path).and_then(|()| fs::File::open(&directory)?.sync_all());
    rename().map_err(DeviceError::file("write", &path))
}

/// All there are, by their names. One that cannot be read may be of anything.
pub(crate) fn all<N: Note>(state: &Path) -> Result<Vec<N>, DeviceError> {
    let (notes, damaged) = readable(state)?;
    damaged.into_iter().next().map_or(Ok(notes), Err)
}

/// Those that can be read, by their names, and why the others cannot.
pub(crate) fn readable<N: Note>(state: &Path) -> Result<(Vec<N>, Vec<DeviceError>), DeviceError> {
    let directory = state.join(N::DIRECTORY);
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), Vec::new())),
        Err(error) => return Err(DeviceError::file("list", directory)(error)),
    };
    let notes = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = notes.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    paths.sort();
    let (mut notes, mut damaged) = (Vec::new(), Vec::new());
    for path in paths {
        match read(&path) {
            Ok(note) => notes.push(note),
            Err(error) => damaged.push(error),
        }
    }
    Ok((notes, damaged))
}

/// The one of this name.
pub(crate) fn find<N: Note>(state: &Path, name: &str) -> Result<N, DeviceError> {
    let path = path::<N>(state, name);
    if check_name(name).is_err() || !path.exists() {
        return Err(DeviceError::Unknown { made: N::MADE, name: name.to_owned() });
    }
    read(&path)
}

fn read<N: Note>(path: &Path) -> Result<N, DeviceError> {
    let text = fs::read_to_string(path).map_err(DeviceError::file("read", path))?;
    let damaged = |why: String| DeviceError::Damaged { path: path.to_owned(), why };
    let read: N = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    let is_own = read.form() == N::FORM && path.file_stem().is_some_and(|stem| *stem == *read.name());
    if !is_own || check_name(read.name()).is_err() {
        return Err(damaged("another form, or another name".to_owned()));
    }
    read.oddity().map_or(Ok(read), |oddity| Err(damaged(oddity)))
}

/// Removes one, and what was begun of any.
pub(crate) fn forget<N: Note>(note: &N, state: &Path) -> Result<(), DeviceError> {
    remove(&state.join(N::DIRECTORY).with_extension(DRAFT))?;
    remove(&path::<N>(state, note.name()))
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), DeviceError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(DeviceError::file("remove", path)(error)),
        _ => Ok(()),
    }
}
