//! What code may contain, and where.

use super::{File, Problem, Tree, rust_text};

const IO: &str = "crates/plimsoll-io/";
/// The crates that talk to people: the binary, whose package is named as its folder, and the tasks. Build scripts talk
/// to cargo.
const TALKERS: &[&str] = &["crates/plimsoll/", "xtask/"];
const PRINTING: &[&str] = &["println!", "eprintln!", "print!", "eprint!", "dbg!"];
const BANNED_ATTRIBUTES: &[&str] = &["#[ignore", "#[should_panic"];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let code = rust_text::code_of(&file.text);
    let product = &product_code(file);
    let talks = file.is_build_script() || TALKERS.iter().any(|place| file.path.starts_with(place));
    let mut problems = Vec::new();
    let mut ban = |code: &str, word: &str, text: &str| {
        let lines = rust_text::lines_with_word(code, word);
        problems.extend(lines.map(|line| Problem::new(file, line, format!("{word}: {text}"))));
    };
    if !file.path.starts_with(IO) {
        ban(&code, "unsafe", "only plimsoll-io has such code");
    }
    if !talks {
        for word in PRINTING {
            ban(product, word, "only the binary prints; return a value or an event");
        }
        ban(product, "process::exit", "only the binary ends the process; return an error");
    }
    for attribute in BANNED_ATTRIBUTES {
        for (index, line) in code.lines().enumerate() {
            if line.contains(attribute) {
                let text = format!("{attribute}]: a test runs, and states what happens instead of a panic");
                problems.push(Problem::new(file, index + 1, text));
            }
        }
    }
    problems
}

/// The code of a file without comments, literals and tests.
pub(super) fn product_code(file: &File) -> String {
    let mut code = rust_text::code_of(&file.text);
    code.truncate(if is_test_file(&file.path) { 0 } else { rust_text::tests_start(&code) });
    code
}

/// Whether all of a file is test code: integration tests, and modules of unit tests in files of their own.
fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.contains("/tests/") || name == "tests.rs" || name.starts_with("test_")
}

#[cfg(test)]
mod tests {
    use super::{super::tests::tree, *};

    fn problems(path: &str, text: &str) -> usize {
        check(&tree(&[(path, text)])).len()
    }

    #[test]
    fn unsafe_code_stands_in_io_only() {
        assert_eq!(problems("crates/plimsoll-run/src/a.rs", "unsafe { f() }"), 1);
        assert_eq!(problems("crates/plimsoll-io/src/a.rs", "unsafe { f() }"), 0);
        assert_eq!(problems("crates/plimsoll-run/src/a.rs", "#![forbid(unsafe_code)] // unsafe"), 0);
    }

    #[test]
    fn libraries_neither_print_nor_exit() {
        for statement in ["println!()", "eprintln!()", "print!()", "eprint!()", "dbg!(x)", "std::process::exit(1)"] {
            assert_eq!(problems("crates/plimsoll-run/src/a.rs", statement), 1, "{statement}");
            assert_eq!(problems("crates/plimsoll/src/a.rs", statement), 0, "{statement}");
            assert_eq!(problems("xtask/src/a.rs", statement), 0, "{statement}");
        }
    }

    #[test]
    fn tests_of_libraries_may_print() {
        let module = "fn f() {}\n#[cfg(test)]\nmod tests { fn g() { println!() } }";
        assert_eq!(problems("crates/plimsoll-run/src/a.rs", module), 0);
        assert_eq!(problems("crates/plimsoll-run/tests/a.rs", "println!()"), 0);
    }

    #[test]
    fn every_test_runs_and_none_expects_a_panic() {
        assert_eq!(problems("crates/plimsoll-run/tests/a.rs", "#[ignore]\nfn f() {}"), 1);
        assert_eq!(problems("crates/plimsoll-run/tests/a.rs", "#[ignore = \"slow\"]\nfn f() {}"), 1);
        assert_eq!(problems("crates/plimsoll-run/tests/a.rs", "#[should_panic]\nfn f() {}"), 1);
    }
}
