//! Where things are: names of files, module documents and lengths.

use serde::Deserialize;

use super::{File, Problem, Tree};

/// Names that say nothing about what is in the room.
const BANNED_NAMES: &[&str] = &["base", "common", "core", "helper", "helpers", "imp", "misc", "types", "util", "utils"];

/// Lines of a Rust file, unless `tidy.toml` says why it may be longer.
const LINES_MAX: usize = 600;

/// Documents that are to be read in one sitting.
const DOCUMENT_LINES_MAX: &[(&str, usize)] = &[("ARCHITECTURE.md", 250), ("CONTRIBUTING.md", 200)];

/// `tidy.toml`: the exceptions, each with its reason.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exceptions {
    #[serde(default)]
    long_file: Vec<LongFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongFile {
    path: String,
    lines_max: usize,
    reason: String,
}

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems: Vec<_> = tree.files.iter().filter_map(banned_name).collect();
    problems.extend(tree.rust().filter_map(missing_document));
    for (path, max) in DOCUMENT_LINES_MAX {
        problems.extend(tree.file(path).and_then(|file| too_long(file, *max)));
    }
    match tree.file("tidy.toml").map_or(Ok(Exceptions::default()), |file| toml::from_str(&file.text)) {
        Ok(exceptions) => problems.extend(lengths(tree, &exceptions)),
        Err(error) => {
            problems.push(Problem { path: "tidy.toml".into(), line: 0, text: format!("does not parse: {error}") });
        }
    }
    problems
}

/// Names of files and folders, with or without the prefix of our crates.
fn banned_name(file: &File) -> Option<Problem> {
    let parts = file.path.split('/').map(|part| part.split('.').next().unwrap_or(part));
    let mut names = parts.map(|part| part.strip_prefix("plimsoll-").unwrap_or(part));
    let name = names.find(|name| BANNED_NAMES.contains(name))?;
    Some(Problem::new(file, 0, format!("\"{name}\" does not say what is inside: name it for what it holds")))
}

fn missing_document(file: &File) -> Option<Problem> {
    let first = file.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let text = "does not start with //! and what it is for";
    (!first.starts_with("//! ")).then(|| Problem::new(file, 1, text))
}

fn lengths(tree: &Tree, exceptions: &Exceptions) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.rust() {
        let exception = exceptions.long_file.iter().find(|exception| exception.path == file.path);
        problems.extend(too_long(file, exception.map_or(LINES_MAX, |exception| exception.lines_max)));
    }
    for LongFile { path, reason, .. } in &exceptions.long_file {
        let lines = tree.file(path).map_or(0, |file| file.text.lines().count());
        if lines <= LINES_MAX || reason.trim().is_empty() {
            let text = format!("lists {path}, which has {lines} lines, or gives no reason: remove or complete it");
            problems.push(Problem { path: "tidy.toml".into(), line: 0, text });
        }
    }
    problems
}

fn too_long(file: &File, max: usize) -> Option<Problem> {
    let lines = file.text.lines().count();
    let text = format!("has {lines} lines, more than {max}: split it");
    (lines > max).then(|| Problem::new(file, 0, text))
}

#[cfg(test)]
mod tests {
    use super::{super::tests::tree, *};

    #[test]
    fn names_that_say_nothing_are_problems() {
        for path in ["a/src/utils.rs", "crates/plimsoll-core/Cargo.toml", "tests/common/x.txt"] {
            assert_eq!(check(&tree(&[(path, "//! Doc.\n")])).len(), 1, "{path}");
        }
        assert_eq!(check(&tree(&[("a/src/hardcore.rs", "//! Doc.\n")])), []);
    }

    #[test]
    fn a_module_without_a_document_is_a_problem() {
        assert_eq!(check(&tree(&[("a.rs", "\nuse b;\n//! Late.\n")])).len(), 1);
        assert_eq!(check(&tree(&[("a.rs", "//! Early.\n")])), []);
    }

    #[test]
    fn a_long_file_needs_an_entry_with_a_reason() {
        let text = format!("//! Doc.\n{}", "\n".repeat(700));
        let entry = |lines: u32, reason: &str| {
            format!("[[long_file]]\npath = \"a.rs\"\nlines_max = {lines}\nreason = \"{reason}\"\n")
        };
        assert_eq!(check(&tree(&[("a.rs", &text)])).len(), 1);
        assert_eq!(check(&tree(&[("a.rs", &text), ("tidy.toml", &entry(710, "a table"))])), []);
        assert_eq!(check(&tree(&[("a.rs", &text), ("tidy.toml", &entry(650, "a table"))])).len(), 1);
        assert_eq!(check(&tree(&[("a.rs", &text), ("tidy.toml", &entry(710, ""))])).len(), 1);
        assert_eq!(check(&tree(&[("a.rs", "//! Short.\n"), ("tidy.toml", &entry(710, "stale"))])).len(), 1);
        assert_eq!(check(&tree(&[("tidy.toml", "long_files = 1")])).len(), 1);
    }

    #[test]
    fn documents_stay_short() {
        assert_eq!(check(&tree(&[("CONTRIBUTING.md", &"line\n".repeat(201))])).len(), 1);
        assert_eq!(check(&tree(&[("CONTRIBUTING.md", &"line\n".repeat(200))])), []);
    }
}
