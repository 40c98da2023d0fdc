//! Tasks are compiled from the same parts as everything else: what `cargo xtask` builds is not built again for tests.
//!
//! Cargo chooses the features of a dependency for the packages that it builds at a time, and for tasks that is one.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::Problem;
use crate::child;

const MANIFEST: &str = "xtask/Cargo.toml";

/// Packages that are built, each with the features that it is built with; more than once where these differ.
type Parts = BTreeMap<String, BTreeSet<String>>;

/// What is built for tasks, and what for the whole workspace, to which they belong.
pub(super) struct Builds {
    tasks: Parts,
    workspace: Parts,
}

pub(super) fn builds(root: &Path) -> anyhow::Result<Builds> {
    let parts = |arguments: &[&str]| {
        let mut command = child::cargo(&["tree", "--locked", "--prefix", "none", "--format", "{p}|{f}"]);
        child::output(command.args(arguments).current_dir(root)).map(|text| parse(&text))
    };
    Ok(Builds {
        tasks: parts(&["--package", "xtask", "--edges", "normal,build"])?,
        workspace: parts(&["--workspace", "--edges", "all"])?,
    })
}

/// Reads lines such as `syn v3.0.9|default,full (*)`, of which the last word says that a part was told before.
fn parse(tree: &str) -> Parts {
    let mut parts = Parts::new();
    for (package, features) in tree.lines().filter_map(|line| line.split_once('|')) {
        let features = features.strip_suffix("(*)").unwrap_or(features).trim();
        parts.entry(package.to_owned()).or_default().insert(features.to_owned());
    }
    parts
}

pub(super) fn check(builds: &Builds) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (package, tasks) in &builds.tasks {
        let none = BTreeSet::new();
        let workspace = builds.workspace.get(package).unwrap_or(&none);
        for features in tasks.difference(workspace) {
            let others: Vec<_> = workspace.iter().map(String::as_str).collect();
            let text = format!(
                "{package} has the features \"{features}\" for tasks and \"{}\" for tests, so it is built twice",
                others.join("\" and \"")
            );
            problems.push(Problem { path: MANIFEST.into(), line: 0, text });
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(tasks: &str, workspace: &str) -> Vec<String> {
        let builds = Builds { tasks: parse(tasks), workspace: parse(workspace) };
        check(&builds).into_iter().map(|problem| problem.text).collect()
    }

    #[test]
    fn the_same_features_are_no_problem_whichever_line_tells_them() {
        let workspace = "syn v3.0.9|default,full\nsyn v3.0.9|default\nlibc v0.2.1| (*)\nhyper v1|http1\n\nxtask v0|";
        assert_eq!(texts("syn v3.0.9|default (*)\nlibc v0.2.1|\nxtask v0|", workspace), Vec::<String>::new());
    }

    #[test]
    fn fewer_features_and_more_are_a_problem() {
        let [less, more] = ["syn v3.0.9|default\nlibc v0.2.1|", "syn v3.0.9|default,full (*)\nlibc v0.2.1|"];
        let expected = "syn v3.0.9 has the features \"default\" for tasks and \"default,full\" for tests, so it is \
            built twice";
        assert_eq!(texts(less, more), [expected]);
        assert_eq!(texts(more, less).len(), 1);
    }

    #[test]
    fn the_builds_of_this_workspace_are_read() {
        let builds = builds(&crate::repository()).unwrap();
        assert!(builds.tasks.len() > 50 && builds.workspace.len() > builds.tasks.len());
        assert!(builds.tasks.keys().all(|package| builds.workspace.contains_key(package)));
    }
}
