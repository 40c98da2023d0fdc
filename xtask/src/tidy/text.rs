//! What any text may contain: line lengths, unfinished work, paths of somebody's machine.

use super::{File, Problem, Tree};

const COLUMNS_MAX: usize = 120;

// Spelled in two parts so that this file is not its own first finding.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/tmp/ba", "sh")];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in &tree.files {
        problems.extend(long_lines(file));
        for (index, line) in file.text.lines().enumerate() {
            if let Some(word) = UNFINISHED.iter().find(|word| has_word(line, word)) {
                problems.push(Problem::new(file, index + 1, format!("{word}: finish it or open an issue")));
            }
            if let Some(path) = MACHINE_PATHS.iter().find(|path| has_path(line, path)) {
                problems.push(Problem::new(file, index + 1, format!("{path} is a path of one machine")));
            }
        }
    }
    problems
}

fn has_word(line: &str, word: &str) -> bool {
    let part_of_word = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part_of_word) && !line[at + word.len()..].starts_with(part_of_word))
}

/// Whether an absolute path begins with this: `/a/x` does, `b/a/x` and `./a/x` do not.
fn has_path(line: &str, path: &str) -> bool {
    let inside = |character: char| character.is_alphanumeric() || "._-*}>".contains(character);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(inside))
}

/// Lines of prose and of Rust. Tables, code blocks, quotations of output and links cannot be broken, nor can the
/// formatter break literals.
fn long_lines(file: &File) -> Vec<Problem> {
    let is_rust = file.path.ends_with(".rs");
    if !is_rust && !file.path.ends_with(".md") {
        return Vec::new();
    }
    let mut in_code_block = false;
    let mut problems = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        in_code_block ^= !is_rust && line.trim_start().starts_with("```");
        let unbreakable = if is_rust { line.contains('"') } else { in_code_block || line.starts_with(['|', '>']) };
        let columns = line.chars().count();
        if columns > COLUMNS_MAX && !unbreakable && !line.contains("://") {
            let text = format!("has {columns} columns, more than {COLUMNS_MAX}");
            problems.push(Problem::new(file, index + 1, text));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::{super::tests::tree, *};

    fn problems(path: &str, text: &str) -> usize {
        check(&tree(&[(path, text)])).len()
    }

    #[test]
    fn unfinished_work_is_a_problem() {
        for word in UNFINISHED {
            assert_eq!(problems("a.toml", &format!("# {word}: later")), 1);
            assert_eq!(problems("a.toml", &format!("# {word}S are gone")), 0);
        }
    }

    #[test]
    fn paths_of_a_machine_are_problems() {
        for path in MACHINE_PATHS {
            assert_eq!(problems("a.md", &format!("see {path}x")), 1);
            assert_eq!(problems("a.md", &format!("see `{path}x`")), 1);
            assert_eq!(problems("a.md", &format!("see docs{path}x")), 0);
        }
    }

    #[test]
    fn long_lines_of_prose_are_problems_and_tables_are_not() {
        let long = "word ".repeat(30);
        assert_eq!(problems("a.md", &long), 1);
        assert_eq!(problems("a.rs", &format!("// {long}")), 1);
        assert_eq!(problems("a.md", &format!("| {long} |")), 0);
        assert_eq!(problems("a.md", &format!("```\n{long}\n```\n")), 0);
        assert_eq!(problems("a.md", &format!("```\n```\n{long}")), 1);
        assert_eq!(problems("a.toml", &long), 0);
    }
}
