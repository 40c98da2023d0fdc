//! `cargo xtask tidy`: the written rules that a machine can check. It is a test of this crate as well.
//!
//! Each check is a pure function from what was read, mostly a [`Tree`] of texts, to problems, so that each has a test
//! that it can fail.

mod edges;
mod environment;
mod features;
mod layout;
mod rust_text;
mod source;
mod text;

use std::{fmt, fs, path::Path};

use anyhow::{Context as _, bail};

/// What holds nothing of ours. `.git` is a file in a second work tree.
const FOREIGN: &[&str] = &[".git", "target", "fuzz/target", "fuzz/corpus", "fuzz/artifacts", "ui/dist"];
/// What npm installs, wherever it does.
const INSTALLED: &str = "node_modules";

/// The text files of the repository.
#[derive(Default)]
struct Tree {
    files: Vec<File>,
}

/// A text file: its path in the repository, with forward slashes, and its content.
struct File {
    path: String,
    text: String,
}

impl File {
    /// Whether cargo runs it when it builds a crate.
    fn is_build_script(&self) -> bool {
        self.path.ends_with("/build.rs")
    }
}

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    path: String,
    /// Counted from one; zero when the problem is the file itself.
    line: usize,
    text: String,
}

impl Problem {
    fn new(file: &File, line: usize, text: impl Into<String>) -> Self {
        Self { path: file.path.clone(), line, text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.text),
            line => write!(f, "{}:{line}: {}", self.path, self.text),
        }
    }
}

impl Tree {
    /// Reads every text file below `root` that is ours.
    fn read(root: &Path) -> anyhow::Result<Self> {
        let mut tree = Self::default();
        tree.read_directory(root, "")?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    fn read_directory(&mut self, root: &Path, inner: &str) -> anyhow::Result<()> {
        let directory = root.join(inner);
        for entry in fs::read_dir(&directory).with_context(|| format!("list {}", directory.display()))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_installed = name == INSTALLED;
            let path = if inner.is_empty() { name } else { format!("{inner}/{name}") };
            if is_installed || FOREIGN.contains(&path.as_str()) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                self.read_directory(root, &path)?;
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                // What is not UTF-8 is not text.
                self.files.push(File { path, text });
            }
        }
        Ok(())
    }

    fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files.
    fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }
}

pub(crate) fn run() -> anyhow::Result<()> {
    let problems = problems(&crate::repository())?;
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => bail!("one rule is broken"),
        count => bail!("{count} rules are broken"),
    }
}

fn problems(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let tree = Tree::read(root)?;
    let mut problems = edges::check(&tree, &edges::workspace(root)?);
    problems.extend(environment::check(&tree));
    problems.extend(features::check(&features::builds(root)?));
    problems.extend(layout::check(&tree));
    problems.extend(source::check(&tree));
    problems.extend(text::check(&tree));
    problems.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of these paths and texts.
    pub(super) fn tree(files: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
        Tree { files: files.iter().map(file).collect() }
    }

    #[test]
    fn this_repository_is_tidy() {
        let problems = problems(&crate::repository()).unwrap();
        let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }

    #[test]
    fn build_output_is_not_read() {
        let root = tempfile::tempdir().unwrap();
        for (directory, file) in [("target", "target/a.rs"), ("src", "src/b.rs")] {
            fs::create_dir(root.path().join(directory)).unwrap();
            fs::write(root.path().join(file), "text").unwrap();
        }
        let tree = Tree::read(root.path()).unwrap();
        assert_eq!(tree.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["src/b.rs"]);
    }
}
