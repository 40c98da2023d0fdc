//! Which crate may use which: the table in ARCHITECTURE.md against what the manifests say.

use std::{collections::BTreeMap, path::Path};

use anyhow::Context as _;

use super::{Problem, Tree};

const DOCUMENT: &str = "ARCHITECTURE.md";
const PREFIX: &str = "plimsoll-";

/// The crates of plimsoll, each with those that it uses.
pub(super) type Edges = BTreeMap<String, Vec<String>>;

/// The edges that the manifests have, for tests and build scripts too.
pub(super) fn workspace(root: &Path) -> anyhow::Result<Edges> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("ask cargo for the workspace's crates")?;
    let ours = |name: &str| name.starts_with("plimsoll");
    Ok(metadata
        .packages
        .iter()
        .filter(|package| ours(package.name.as_str()))
        .map(|package| {
            let uses = package.dependencies.iter().map(|dependency| dependency.name.as_str());
            (short(package.name.as_str()), uses.filter(|name| ours(name)).map(short).collect())
        })
        .collect())
}

/// `plimsoll-io` is `io` in the table.
fn short(name: &str) -> String {
    name.strip_prefix(PREFIX).unwrap_or(name).to_owned()
}

pub(super) fn check(tree: &Tree, workspace: &Edges) -> Vec<Problem> {
    let problem = |text: String| Problem { path: DOCUMENT.into(), line: 0, text };
    let Some(document) = tree.file(DOCUMENT) else {
        return vec![problem("is missing".into())];
    };
    let allowed = table(&document.text);
    if allowed.is_empty() {
        return vec![problem("has no table with the columns \"crate\" and \"may use\"".into())];
    }
    let mut problems = Vec::new();
    for (name, uses) in workspace {
        let Some(may_use) = allowed.get(name) else {
            problems.push(problem(format!("crate {name} is not in the table of edges")));
            continue;
        };
        for used in uses.iter().filter(|used| !may_use.contains(used) && !may_use.iter().any(|word| word == "all")) {
            problems.push(problem(format!("{name} uses {used}, which the table of edges does not allow")));
        }
        for unused in may_use.iter().filter(|used| !uses.contains(used) && *used != "all") {
            problems.push(problem(format!("the table of edges allows {name} to use {unused}, which it does not")));
        }
    }
    for name in allowed.keys().filter(|name| !workspace.contains_key(*name)) {
        problems.push(problem(format!("the table of edges has {name}, and the workspace has no such crate")));
    }
    problems
}

/// The rows of the Markdown table whose first two columns are `crate` and `may use`.
fn table(document: &str) -> Edges {
    let cells = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
    };
    document
        .lines()
        .skip_while(|line| !line.starts_with('|') || !cells(line).starts_with(&["crate".into(), "may use".into()]))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let row = cells(line);
            let uses = row.get(1).map_or("", String::as_str).split(',');
            let uses = uses.map(|name| name.trim().trim_matches('`').to_owned());
            (row[0].clone(), uses.filter(|name| !name.is_empty() && name != "-").collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{super::tests::tree, *};

    const TABLE: &str = "# A\n\n| crate | may use | never |\n|---|---|---|\n| `io` | - | print |\n\
        | `run` | `io`, record | |\n| `record` | - | |\n| `plimsoll` | all | |\n\nText.\n";

    fn edges(list: &[(&str, &[&str])]) -> Edges {
        list.iter().map(|(name, uses)| ((*name).into(), uses.iter().map(ToString::to_string).collect())).collect()
    }

    fn texts(workspace: &[(&str, &[&str])]) -> Vec<String> {
        let found = check(&tree(&[(DOCUMENT, TABLE)]), &edges(workspace));
        found.into_iter().map(|problem| problem.text).collect()
    }

    #[test]
    fn edges_of_the_table_are_allowed() {
        let workspace: &[(&str, &[&str])] =
            &[("io", &[]), ("run", &["io", "record"]), ("record", &[]), ("plimsoll", &["run", "io"])];
        assert_eq!(texts(workspace), Vec::<String>::new());
    }

    #[test]
    fn an_edge_that_nobody_uses_is_a_problem() {
        let found = texts(&[("io", &[]), ("run", &["io"]), ("record", &[]), ("plimsoll", &[])]);
        assert_eq!(found, ["the table of edges allows run to use record, which it does not"]);
    }

    #[test]
    fn an_extra_edge_an_unlisted_crate_and_a_stale_row_are_problems() {
        let found = texts(&[("io", &["record"]), ("run", &["io", "record"]), ("extra", &[]), ("plimsoll", &[])]);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().any(|text| text.contains("io uses record")));
        assert!(found.iter().any(|text| text.contains("crate extra is not in")));
        assert!(found.iter().any(|text| text.contains("has record")));
    }

    #[test]
    fn a_missing_table_is_a_problem() {
        assert_eq!(check(&tree(&[(DOCUMENT, "text")]), &Edges::new()).len(), 1);
        assert_eq!(check(&tree(&[]), &Edges::new()).len(), 1);
    }

    #[test]
    fn the_manifests_of_this_workspace_are_read() {
        let edges = workspace(&crate::repository()).unwrap();
        assert_eq!(edges["workload"], Vec::<String>::new());
        assert!(edges["run"].contains(&"io".to_owned()));
    }
}
