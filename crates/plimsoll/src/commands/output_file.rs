//! Files that commands write for people: whole or not at all, and never over another without being told to.

use std::{
    ffi::OsStr,
    fs::{self, File, Metadata, OpenOptions, Permissions},
    io::{self, BufWriter, Seek, Write},
    os::{
        fd::AsRawFd,
        unix::{
            ffi::OsStrExt,
            fs::{FileTypeExt, MetadataExt},
        },
    },
    path::{Path, PathBuf},
};

use anyhow::bail;
use plimsoll_history::history::HistoryError;
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, open, renameat_with},
    io::Errno,
};
use uuid::Uuid;

use crate::exit::FileLost;

/// Writes a file; one that exists only by force, and one of those that were read never: it may be the only copy.
pub(super) fn write(
    path: &Path,
    force: bool,
    read: &[&Path],
    content: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    check_place(path)?;
    if read.iter().any(|read| is_same(path, read)) {
        bail!("it is one of the files that this is made from: name another file");
    }
    let write = |file: File| -> anyhow::Result<()> {
        let mut file = BufWriter::new(file);
        content(&mut file).map_err(lost)?;
        Ok(file.flush().map_err(FileLost)?)
    };
    // Only a regular file is replaced; a pipe or a terminal is written to.
    let existing = fs::metadata(path).ok().filter(|metadata| force || !metadata.is_file());
    match existing {
        // Whoever means a disk has other programs for it.
        Some(metadata) if metadata.file_type().is_block_device() => bail!("it is a block device: name a file"),
        Some(metadata) if metadata.is_dir() => bail!("it is a directory: name a file in it"),
        Some(metadata) if metadata.is_file() => replace(path, &metadata, write),
        Some(_) => write(OpenOptions::new().write(true).open(path)?),
        None => create(path, write),
    }
}

/// An error of writing says that there is no file; all others are the content's.
fn lost(error: anyhow::Error) -> anyhow::Error {
    let error = match error.downcast::<io::Error>() {
        Ok(error) => return FileLost(error).into(),
        Err(error) => error,
    };
    match error.downcast::<HistoryError>() {
        Ok(HistoryError::Export(error)) => FileLost(error).into(),
        Ok(error) => error.into(),
        Err(error) => error,
    }
}

/// Whether two paths lead to one file. What anybody may write to, as a terminal, is none that could be lost.
fn is_same(path: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some((metadata.dev(), metadata.ino()))
    };
    place(path).is_some_and(|one| Some(one) == place(other))
}

/// Refuses a name that no file can have, with what to do.
fn check_place(path: &Path) -> anyhow::Result<()> {
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        bail!("its name ends with a slash, as those of directories do: name a file");
    }
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) && fs::metadata(path).is_err() {
        let end = fs::read_link(path)?;
        bail!("it is a link to {}, which is not there: remove the link, or name another file", end.display());
    }
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    if let Some(missing) = directory.filter(|directory| !directory.exists()) {
        bail!("there is no directory {}: make it, or name a file elsewhere", missing.display());
    }
    Ok(())
}

const EXISTS: &str = "it exists: name another file, or overwrite it with --force";

/// Writes a new file. Nobody finds it under its name before it is whole, and nothing of it stays when this process is
/// ended meanwhile, but where a file cannot be without a name.
fn create(path: &Path, write: impl FnOnce(File) -> anyhow::Result<()>) -> anyhow::Result<()> {
    // Told before anything is made of it; what comes meanwhile is found in the end.
    if fs::symlink_metadata(path).is_ok() {
        bail!(EXISTS);
    }
    // Whatever else keeps a file from being made is told again of the one beside.
    let Ok(mut file) = without_name(path) else { return create_beside(path, write) };
    write(file.try_clone()?)?;
    file.sync_all().map_err(FileLost)?;
    match linkat(CWD, format!("/proc/self/fd/{}", file.as_raw_fd()), CWD, path, AtFlags::SYMLINK_FOLLOW) {
        Err(Errno::EXIST) => bail!(EXISTS),
        // There is no /proc, or a sandbox knows no links.
        Err(_) => create_beside(path, |mut beside| {
            file.rewind()?;
            io::copy(&mut file, &mut beside).map_err(FileLost)?;
            Ok(())
        }),
        Ok(()) => Ok(()),
    }
}

/// A file in the directory of this path that is gone with this process, unless it gets a name.
fn without_name(path: &Path) -> io::Result<File> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    // As any new file has it: the mask of the process takes away what it does.
    Ok(File::from(open(directory, flags, Mode::from_raw_mode(0o666))?))
}

/// Writes a new file beside its place, where no file system, kernel or sandbox can be in the way.
fn create_beside(path: &Path, write: impl FnOnce(File) -> anyhow::Result<()>) -> anyhow::Result<()> {
    write_beside(path, None, write, |beside| match take_free_place(beside, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => bail!(EXISTS),
        taken => Ok(taken?),
    })
}

/// Writes beside a file and then takes its place, so that whoever reads it finds the old content or the new, whole.
fn replace(path: &Path, existing: &Metadata, write: impl FnOnce(File) -> anyhow::Result<()>) -> anyhow::Result<()> {
    // What symbolic links lead to is replaced, not the link.
    let path = path.canonicalize()?;
    write_beside(&path, Some(existing.permissions()), write, |beside| Ok(fs::rename(beside, &path)?))
}

/// Writes a file beside another one, which then goes to its place. One that could not be finished is removed.
fn write_beside(
    path: &Path,
    permissions: Option<Permissions>,
    write: impl FnOnce(File) -> anyhow::Result<()>,
    go_to_place: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let beside = beside(path);
    let file = File::create_new(&beside)?;
    let done = permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions)).map_err(Into::into);
    done.and_then(|()| {
        let kept_open = file.try_clone()?;
        write(file)?;
        kept_open.sync_all().map_err(FileLost)?;
        go_to_place(&beside)
    })
    .inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

/// A name in the same directory that no other process chooses: in containers, all have the same number.
fn beside(path: &Path) -> PathBuf {
    /// So that there is room for the rest: no file system takes names of more than 255 bytes.
    const BYTES_MAX: usize = 200;
    let name = path.file_name().unwrap_or_default().as_bytes();
    let mut name = OsStr::from_bytes(&name[..name.len().min(BYTES_MAX)]).to_owned();
    name.push(format!(".plimsoll-{}", Uuid::now_v7().simple()));
    path.with_file_name(name)
}

/// Gives a file a name that nothing has.
fn take_free_place(beside: &Path, path: &Path) -> io::Result<()> {
    match renameat_with(CWD, beside, CWD, path, RenameFlags::NOREPLACE) {
        // Not every file system knows it, and not every sandbox.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::PERM) => {}
        renamed => return Ok(renamed?),
    }
    match fs::hard_link(beside, path) {
        Ok(()) => fs::remove_file(beside),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // There are no second names there: what comes between these two is as good as what comes after them.
        Err(_) if fs::symlink_metadata(path).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(beside, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_new_file_is_not_there_before_it_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["report.md".to_owned(), "n".repeat(255)] {
            let path = directory.path().join(&name);
            write(&path, false, &[], |out| {
                out.write_all(b"half")?;
                out.flush()?;
                assert!(!path.exists());
                // Whatever ends this process here, nothing is left to be cleaned up.
                if without_name(&path).is_ok() {
                    assert_eq!(names(directory.path()), Vec::<String>::new());
                }
                Ok(out.write_all(b", whole")?)
            })
            .unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"half, whole");
            write(&path, false, &[], |_| bail!("not even begun")).unwrap_err();
            fs::remove_file(&path).unwrap();
            write(&path, false, &[], |_| bail!("as a test asks for")).unwrap_err();
            assert_eq!(names(directory.path()), Vec::<String>::new());
        }
    }

    #[test]
    fn a_file_that_somebody_makes_meanwhile_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.md");
        let theirs = || Ok(fs::write(&path, "theirs")?);
        let errors =
            [write(&path, false, &[], |_| theirs()).unwrap_err(), create_beside(&path, |_| theirs()).unwrap_err()];
        for error in errors {
            assert!(error.to_string().contains("it exists"), "{error}");
            assert_eq!(fs::read(&path).unwrap(), b"theirs");
            assert_eq!(names(directory.path()), ["report.md"]);
        }
    }

    #[test]
    fn a_new_file_is_whole_and_its_own_also_where_it_has_to_have_a_name_from_the_start() {
        let directory = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| directory.path().join(name));
        write(&one, false, &[], |out| Ok(out.write_all(b"whole")?)).unwrap();
        create_beside(&other, |mut file| Ok(file.write_all(b"whole")?)).unwrap();
        assert_eq!(fs::read(&one).unwrap(), fs::read(&other).unwrap());
        let permissions = |path| fs::metadata(path).unwrap().permissions();
        assert_eq!(permissions(&one), permissions(&other));
        create_beside(&directory.path().join("third"), |_| bail!("as a test asks for")).unwrap_err();
        assert_eq!(names(directory.path()).len(), 2);
    }
}
