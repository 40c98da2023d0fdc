//! A foreign job file as text: what it has to be left out for, and a shrunk copy that fio itself can run.
//!
//! It is read with a few lines of its own, on purpose: what the copy says does not depend on the parser under test.

use std::{
    env, fs,
    path::{Component, Path, PathBuf},
};

use anyhow::Context as _;

/// Engines that do I/O on files or block devices on Linux.
const STORAGE_ENGINES: &[&str] = &[
    "libaio",
    "io_uring",
    "psync",
    "sync",
    "vsync",
    "pvsync",
    "pvsync2",
    "mmap",
    "posixaio",
    "null",
    "filecreate",
    "filestat",
    "filedelete",
    "falloc",
    "ftruncate",
    "e4defrag",
    "splice",
    "sg",
];

/// Words after a `$` that fio knows.
const KEYWORDS: &[&str] = &["jobname", "jobnum", "filenum", "clientuid", "ncpus", "pagesize", "mb_memory"];

/// Why a file does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// It has no section: other files include it.
    Included,
    /// Its jobs are to come from a command line.
    NoJobs,
    /// It asks for variables that are not set, or something has to be filled in before.
    Template,
    /// Its engine does no I/O on files or block devices.
    OtherEngine,
    /// It is a mistake to fio too.
    RefusedByFio(String),
}

impl Left {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Included => "included",
            Self::NoJobs => "without jobs",
            Self::Template => "templates",
            Self::OtherEngine => "of other engines",
            Self::RefusedByFio(_) => "refused by fio",
        }
    }
}

/// A line without its comment.
struct Line {
    key: String,
    value: Option<String>,
}

struct Section {
    name: String,
    lines: Vec<Line>,
}

/// A job file.
#[derive(Default)]
pub(super) struct JobText {
    sections: Vec<Section>,
    is_template: bool,
}

/// An option that the copy is shrunk by; with `is_most` only where a section has a larger value.
pub(super) struct Shrinking {
    pub(super) name: &'static str,
    pub(super) value: &'static str,
    pub(super) is_most: bool,
}

impl JobText {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let mut text = Self::default();
        let bytes = fs::read(file).with_context(|| format!("read {}", file.display()))?;
        text.add(&String::from_utf8_lossy(&bytes), file.parent().unwrap_or(Path::new(".")), 0);
        Ok(text)
    }

    fn add(&mut self, text: &str, folder: &Path, depth: usize) {
        for line in text.lines() {
            let line = line.split(['#', ';']).next().unwrap_or_default().trim();
            let (line, is_template) = with_environment(line);
            self.is_template |= is_template || line.contains("{{");
            if let Some(name) = line.strip_prefix('[') {
                self.sections.push(Section { name: name.trim_end_matches(']').to_owned(), lines: Vec::new() });
            } else if let Some(path) = line.strip_prefix("include ").filter(|_| depth < 8) {
                if let Ok(included) = fs::read_to_string(folder.join(path.trim())) {
                    self.add(&included, folder, depth + 1);
                }
            } else if !line.is_empty() {
                let (key, value) =
                    line.split_once('=').map_or((line.as_str(), None), |(key, value)| (key, Some(value)));
                let line = Line { key: key.trim().to_owned(), value: value.map(|value| value.trim().to_owned()) };
                if let Some(section) = self.sections.last_mut() {
                    section.lines.push(line);
                }
            }
        }
    }

    /// Why the file does not count, if that shows.
    pub(super) fn left(&self) -> Option<Left> {
        let values = |key: &'static str| self.lines().filter(move |line| line.key == key).filter_map(Line::value);
        let is_storage = |engine: &str| STORAGE_ENGINES.contains(&engine.split(':').next().unwrap_or_default());
        match () {
            () if self.sections.is_empty() => Some(Left::Included),
            () if self.sections.iter().all(|section| section.name.starts_with("global")) => Some(Left::NoJobs),
            () if self.is_template => Some(Left::Template),
            () if !values("ioengine").all(is_storage) => Some(Left::OtherEngine),
            () => None,
        }
    }

    /// Whether fio's `--showcmd` would say something else than the file: later global options as those of a job.
    pub(super) fn has_several_globals(&self) -> bool {
        self.sections.iter().filter(|section| section.name.starts_with("global")).count() > 1
    }

    /// Whether fio names the clones of a job otherwise than the job.
    pub(super) fn has_names(&self) -> bool {
        self.lines().any(|line| line.key == "name")
    }

    /// Whether sizes of blocks are drawn, of which fio makes some smaller, to fill what its map of blocks left.
    pub(super) fn draws_sizes(&self) -> bool {
        self.lines()
            .any(|line| ["bssplit", "bsrange", "blocksize_range", "percentage_random"].contains(&line.key.as_str()))
    }

    /// Whether it names processors, which are those of another machine.
    pub(super) fn names_processors(&self) -> bool {
        self.lines().any(|line| line.key == "cpus_allowed" || line.key == "cpumask")
    }

    /// Whether what was written is read again.
    pub(super) fn verifies(&self) -> bool {
        self.lines().any(|line| line.key == "verify" && line.value() != Some("0"))
    }

    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.sections.iter().flat_map(|section| &section.lines)
    }

    /// The same jobs, shrunk and with all paths below a directory, and the directories that have to be there. Files are
    /// relative, below a directory of the job or where fio is started: that has to be the same one.
    pub(super) fn shrunk(&self, root: &str, shrinking: &[Shrinking]) -> (String, Vec<String>) {
        let (mut text, mut directories) = (String::new(), Vec::new());
        let mut global: Vec<&Line> = Vec::new();
        for section in &self.sections {
            text += &format!("[{}]\n", section.name.replace('/', "."));
            for Line { key, value } in &section.lines {
                let value = value.as_ref().map(|value| match key.as_str() {
                    "directory" => {
                        directories.extend(value.split(':').map(|path| below(root, path)));
                        below_all(root, value)
                    }
                    "filename" => below_all(".", value),
                    _ => value.clone(),
                });
                // Logs are of no interest, and processors of another machine are not here.
                let is_left = key.starts_with("write_") && key.ends_with("_log")
                    // To fio, a size in percent holds even beside one in bytes.
                    || shrinking.iter().any(|less| !less.is_most && less.name == key)
                    || ["cpus_allowed", "cpumask", "numa_cpu_nodes", "numa_mem_policy"].contains(&key.as_str());
                match value {
                    _ if is_left => {}
                    Some(value) => text += &format!("{key}={value}\n"),
                    _ => text += &format!("{key}\n"),
                }
            }
            if section.name.starts_with("global") {
                global.extend(&section.lines);
                continue;
            }
            for Shrinking { name, value, is_most } in shrinking {
                let given = section.lines.iter().rev().chain(global.iter().rev().copied());
                let given = given.into_iter().find(|line| line.key == *name).and_then(Line::value);
                let is_above = given.zip(number(value)).is_some_and(|(given, most)| {
                    number(given.rsplit('-').next().unwrap_or(given)).is_some_and(|given| given > most)
                });
                if !is_most || is_above {
                    text += &format!("{name}={value}\n");
                }
            }
        }
        (text, directories)
    }
}

impl Line {
    fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }
}

/// The line with its variables, and whether one is not set or is none of fio's.
fn with_environment(line: &str) -> (String, bool) {
    let (mut text, mut rest, mut is_template) = (String::new(), line, false);
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let named = rest.strip_prefix("${").and_then(|named| named.split_once('}'));
        if let Some((name, after)) = named {
            let value = env::var(name);
            is_template |= value.is_err();
            text.push_str(&value.unwrap_or_default());
            rest = after;
        } else {
            let word = rest[1..].to_ascii_lowercase();
            is_template |= !KEYWORDS.iter().any(|keyword| word.starts_with(keyword));
            text.push('$');
            rest = &rest[1..];
        }
    }
    (text + rest, is_template)
}

/// A path below the root, however many steps up it has.
fn below(root: &str, path: &str) -> String {
    let names = Path::new(path).components().filter(|part| matches!(part, Component::Normal(_)));
    Path::new(root).join(names.collect::<PathBuf>()).display().to_string()
}

/// A list of paths, each below the root.
fn below_all(root: &str, paths: &str) -> String {
    let escaped = paths.replace("\\:", "\0");
    let paths: Vec<String> = escaped.split(':').map(|path| below(root, path).replace('\0', "\\:")).collect();
    paths.join(":")
}

/// A number as job files have them; none of a share.
fn number(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let factor: f64 = match text[end..].trim_end_matches('b').trim_end_matches('i') {
        "" | "s" => 1.0,
        "k" => 1024.0,
        "m" => 1_048_576.0,
        "g" => 1_073_741_824.0,
        "t" => 1_099_511_627_776.0,
        _ => return None,
    };
    text[..end].parse::<f64>().ok().map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> JobText {
        let mut read = JobText::default();
        read.add(text, Path::new("."), 0);
        read
    }

    #[test]
    fn files_that_cannot_be_meant_literally_are_left_out() {
        assert_eq!(text("bs=4k\n").left(), Some(Left::Included));
        assert_eq!(text("[a]\nfilename=${SURELY_NOT_SET}\n").left(), Some(Left::Template));
        assert_eq!(text("[global]\nbs=4k\n").left(), Some(Left::NoJobs));
        assert_eq!(text("[a]\nbs = $@\n").left(), Some(Left::Template));
        assert_eq!(text("[a]\nioengine=rbd\n").left(), Some(Left::OtherEngine));
        assert_eq!(text("[a]\nfilename_format=$jobnum ; $x\nioengine=libaio\n").left(), None);
    }

    #[test]
    fn the_copy_is_shrunk_and_has_no_path_outside() {
        let shrinking = [
            Shrinking { name: "size", value: "1m", is_most: false },
            Shrinking { name: "numjobs", value: "2", is_most: true },
        ];
        let job = text("[global]\nnumjobs=8\n[/dev/sda]\nfilename=/dev/sda:b\\:c\nwrite_bw_log=/x\n[b]\nnumjobs=1\n");
        let (copy, directories) = job.shrunk("/r", &shrinking);
        let expected = "[global]\nnumjobs=8\n[.dev.sda]\nfilename=./dev/sda:./b\\:c\nsize=1m\nnumjobs=2\n[b]\nnumjobs=1\n\
                        size=1m\n";
        assert_eq!((copy.as_str(), directories.len()), (expected, 0));
        let (copy, directories) = text("[a]\ndirectory=/mnt\nfilename=x\n").shrunk("/r", &[]);
        assert_eq!(
            (copy.as_str(), directories.as_slice()),
            ("[a]\ndirectory=/r/mnt\nfilename=./x\n", &["/r/mnt".into()][..])
        );
        // A directory of one job is none of another.
        let (copy, _) = text("[a]\ndirectory=/mnt\n[b]\nfilename=/dev/sda\n").shrunk("/r", &[]);
        assert_eq!(copy, "[a]\ndirectory=/r/mnt\n[b]\nfilename=./dev/sda\n");
        let (copy, directories) = text("[a]\ndirectory=../x/../../y\nfilename=../../z:..\n").shrunk("/r", &[]);
        assert_eq!(copy, "[a]\ndirectory=/r/x/y\nfilename=./z:./\n");
        assert_eq!(directories, ["/r/x/y"]);
    }
}
