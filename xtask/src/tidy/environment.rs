//! Every environment variable that plimsoll reads is in one list. Tests, tasks and build scripts may read
//! others.

use super::{File, Problem, Tree, source};

const LIST: &str = "crates/plimsoll/src/environment_variables.rs";

const READERS: &[&str] = &["env::var(", "env::var_os(", "environment_variables::get("];

/// Each read names a variable that the list has, as a literal or as a constant of the list.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let list = tree.file(LIST).map_or("", |file| file.text.as_str());
    tree.rust()
        .filter(|file| file.path.starts_with("crates/") && file.path != LIST && !file.is_build_script())
        .flat_map(|file| reads(file, list))
        .collect()
}

fn reads(file: &File, list: &str) -> Vec<Problem> {
    let code = source::product_code(file);
    let mut problems = Vec::new();
    for (index, (code, text)) in code.lines().zip(file.text.lines()).enumerate() {
        for reader in READERS {
            // Columns agree in characters; both are cut at the same one.
            for (at, _) in code.match_indices(reader) {
                let column = code[..at].chars().count() + reader.chars().count();
                let argument: String = text.chars().skip(column).take_while(|character| *character != ')').collect();
                if !is_listed(argument.trim(), list) {
                    let text = format!("reads environment variable {argument}, which {LIST} does not list");
                    problems.push(Problem::new(file, index + 1, text));
                }
            }
        }
    }
    problems
}

fn is_listed(argument: &str, list: &str) -> bool {
    if argument.starts_with('"') {
        return list.contains(argument);
    }
    let constant = argument.rsplit("::").next().unwrap_or(argument);
    !constant.is_empty() && list.contains(&format!("const {constant}:"))
}

#[cfg(test)]
mod tests {
    use super::{super::tests::tree, *};

    const VARIABLES: &str = "//! List.\npub const HISTORY: &str = \"PLIMSOLL_HISTORY\";\n";

    fn problems(path: &str, line: &str) -> usize {
        check(&tree(&[(LIST, VARIABLES), (path, line)])).len()
    }

    #[test]
    fn a_variable_outside_of_the_list_is_a_problem() {
        assert_eq!(problems("crates/a/src/b.rs", "let x = std::env::var(\"OTHER\");"), 1);
        assert_eq!(problems("crates/a/src/b.rs", "let x = env::var_os(OTHER);"), 1);
        assert_eq!(problems("crates/a/src/b.rs", "let x = env::var(name);"), 1);
        assert_eq!(problems("crates/a/src/b.rs", "let x = environment_variables::get(\"OTHER\");"), 1);
    }

    #[test]
    fn listed_variables_and_text_about_variables_are_not() {
        assert_eq!(problems("crates/a/src/b.rs", "let x = env::var(\"PLIMSOLL_HISTORY\");"), 0);
        assert_eq!(problems("crates/a/src/b.rs", "let x = env::var(environment_variables::HISTORY);"), 0);
        assert_eq!(problems("crates/a/src/b.rs", "// env::var(\"OTHER\")\nlet x = \"env::var(1)\";"), 0);
        assert_eq!(problems("xtask/src/b.rs", "let x = env::var(\"CARGO\");"), 0);
        assert_eq!(problems("crates/a/build.rs", "let x = env::var(\"OUT_DIR\");"), 0);
        assert_eq!(problems("crates/a/tests/b.rs", "let x = env::var(\"CI\");"), 0);
    }
}
