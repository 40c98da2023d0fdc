//! What may be asked of a cluster, and why: the one table that `preflight` asks by, that missing rules are printed
//! from, and that `docs/kubernetes.md` has its rules from. Pure.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::Serialize;

/// Where a right holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// In the namespace of the run: a Role gives it.
    Namespace,
    /// In the whole cluster: a ClusterRole gives it.
    Cluster,
}

/// Who needs a right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// `run`: nothing is measured without it.
    Required,
    /// `run`: it is measured without it, and less is known.
    Optional,
    /// `preflight` and `discover`, which look at what `run` does not.
    Looking,
}

/// A kind of object, with what is done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Right {
    /// The API group; empty for the oldest.
    pub group: &'static str,
    /// The kind, in the plural, with a part of it behind a slash.
    pub resource: &'static str,
    /// What is done.
    pub verbs: &'static [&'static str],
    /// Where.
    pub scope: Scope,
    /// By whom.
    pub need: Need,
    /// What for.
    pub why: &'static str,
    /// What is lost without it.
    pub lost: &'static str,
}

/// One thing that may be done, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Permission {
    /// What it is a part of.
    #[serde(flatten)]
    pub right: &'static Right,
    /// Which of its verbs.
    pub verb: &'static str,
    /// Whether it may be done; `None` when the cluster did not say.
    pub is_allowed: Option<bool>,
}

const BATCH: &str = "batch";
const RBAC: &str = "rbac.authorization.k8s.io";
const STORAGE: &str = "storage.k8s.io";
const SNAPSHOTS: &str = "snapshot.storage.k8s.io";

const fn right(
    (group, resource): (&'static str, &'static str),
    verbs: &'static [&'static str],
    (scope, need): (Scope, Need),
    why: &'static str,
    lost: &'static str,
) -> Right {
    Right { group, resource, verbs, scope, need, why, lost }
}

/// Required in the namespace.
const REQUIRED: (Scope, Need) = (Scope::Namespace, Need::Required);
/// Worth having in the namespace.
const OPTIONAL: (Scope, Need) = (Scope::Namespace, Need::Optional);
/// Worth having in the cluster.
const OF_CLUSTER: (Scope, Need) = (Scope::Cluster, Need::Optional);
/// For looking around in the namespace.
const LOOKING: (Scope, Need) = (Scope::Namespace, Need::Looking);
/// For looking around in the cluster.
const LOOKING_AROUND: (Scope, Need) = (Scope::Cluster, Need::Looking);

/// All rights that plimsoll makes use of.
pub const RIGHTS: &[Right] = &[
    right(
        (BATCH, "jobs"),
        &["create", "get", "list", "delete"],
        REQUIRED,
        "everything that a run makes belongs to one Job, which starts its pod",
        "no run",
    ),
    right(
        ("", "persistentvolumeclaims"),
        &["create", "get", "list", "watch", "delete"],
        REQUIRED,
        "volumes are made by claims, timed from claim to claim gone, and looked for at the end",
        "no run",
    ),
    right(
        ("", "pods"),
        &["get", "list", "watch", "patch", "delete"],
        REQUIRED,
        "the pod is let go once its claims are bound, timed, and ended on Ctrl-C",
        "no run",
    ),
    right(("", "pods/log"), &["get"], REQUIRED, "the pod tells what it measures by its log", "no run"),
    right(
        ("", "events"),
        &["list", "watch"],
        OPTIONAL,
        "events tell what was scheduled, attached and mounted when",
        "why a pod does not start is not told, and how long scheduling, attaching and mounting took is less exact",
    ),
    right(
        (STORAGE, "storageclasses"),
        &["get", "list"],
        OF_CLUSTER,
        "classes say when volumes are made, and what they were bought as",
        "a misspelt class is noticed late, and what its volumes should deliver is not known",
    ),
    right(
        ("", "persistentvolumes"),
        &["get", "list", "watch"],
        OF_CLUSTER,
        "volumes say what was made, and when it is gone",
        "when volumes are made and gone is not known, and not what they are",
    ),
    right(
        (STORAGE, "volumeattachments"),
        &["list", "watch"],
        OF_CLUSTER,
        "attachments are timed",
        "how long detaching takes is not known, attaching includes what surrounds it, and how many more volumes nodes take is not known",
    ),
    right(
        ("", "nodes"),
        &["get", "list"],
        OF_CLUSTER,
        "nodes say what machines they are",
        "the machine is not known, and not what it lets through; whether a node takes the pod is not looked at",
    ),
    right(
        ("", "pods"),
        &["create"],
        OPTIONAL,
        "of several pods all but the first, and those of `lifecycle`, are made beside the Job; admission is asked about the very pod, in a dry run",
        "one pod at a time, no `lifecycle`, and policies about pods show only when the Job makes none",
    ),
    right(
        ("", "configmaps"),
        &["create", "get", "list", "watch", "patch"],
        OPTIONAL,
        "several pods watch one, which says when they begin",
        "several pods begin at a time that is said before, ready or not",
    ),
    right(
        (RBAC, "roles"),
        &["create", "list"],
        OPTIONAL,
        "pods get the right to watch that ConfigMap, and no other",
        "several pods begin at a time that is said before, ready or not",
    ),
    right(
        (RBAC, "rolebindings"),
        &["create", "list"],
        OPTIONAL,
        "the same",
        "several pods begin at a time that is said before, ready or not",
    ),
    right(
        ("", "persistentvolumeclaims"),
        &["patch"],
        OPTIONAL,
        "`lifecycle --resize` asks for larger volumes",
        "volumes cannot be grown",
    ),
    right(
        (SNAPSHOTS, "volumesnapshots"),
        &["create", "get", "list", "watch", "delete"],
        OPTIONAL,
        "`lifecycle --snapshot` makes snapshots of volumes, and removes them",
        "snapshots cannot be made",
    ),
    right(
        ("", "namespaces"),
        &["get"],
        LOOKING,
        "labels of the namespace say which PodSecurity level it enforces",
        "the PodSecurity level is not known",
    ),
    right(
        ("", "resourcequotas"),
        &["list"],
        LOOKING,
        "quotas say what is left",
        "quotas show only when they refuse something",
    ),
    right(
        ("", "limitranges"),
        &["list"],
        LOOKING,
        "limit ranges put limits on pods that ask for none",
        "limits that are put on the pod show only in its record",
    ),
    right(
        (STORAGE, "csidrivers"),
        &["list"],
        LOOKING_AROUND,
        "drivers say whether they attach, and how volumes get their owner",
        "what drivers can do is not known",
    ),
    right(
        (STORAGE, "csinodes"),
        &["list"],
        LOOKING_AROUND,
        "nodes say which drivers they have, and how many volumes they take",
        "which drivers nodes have, and how many volumes they take, is not known",
    ),
    right(
        (STORAGE, "volumeattributesclasses"),
        &["list"],
        LOOKING_AROUND,
        "what volumes can be changed to",
        "what volumes can be changed to is not known",
    ),
    right(
        (SNAPSHOTS, "volumesnapshotclasses"),
        &["list"],
        LOOKING_AROUND,
        "whether volumes can be cloned from snapshots",
        "whether there are snapshots is not known",
    ),
];

/// The right to look at a kind.
pub(crate) fn of(resource: &str) -> Option<&'static Right> {
    RIGHTS
        .iter()
        .find(|right| right.resource == resource && (right.verbs.contains(&"list") || right.verbs.contains(&"get")))
}

/// The right that begins with doing this to a kind.
pub(crate) fn to(verb: &str, resource: &str) -> Option<&'static Right> {
    RIGHTS.iter().find(|right| right.resource == resource && right.verbs.first() == Some(&verb))
}

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Subject {
    /// The name, as the cluster knows it.
    pub name: String,
    /// The groups, as the cluster knows them.
    pub groups: Vec<String>,
}

/// Verbs of kinds that are to be granted.
type Rules = BTreeMap<(&'static str, &'static str), Vec<&'static str>>;

/// All needs, the most pressing first.
const NEEDS: [Need; 3] = [Need::Required, Need::Optional, Need::Looking];

/// Objects that give somebody what is missing, as text for `kubectl auth reconcile -f -`, which adds rules to those
/// that are there already; empty when nothing is missing.
pub fn rules(missing: &[Permission], namespace: &str, subject: &Subject) -> String {
    let mut documents = Vec::new();
    for scope in [Scope::Namespace, Scope::Cluster] {
        if let Some(role) = role(missing, scope, Some(namespace)) {
            documents.extend([role, binding(scope, Some(namespace), subject)]);
        }
    }
    documents.join("---\n")
}

const API: &str = "apiVersion: rbac.authorization.k8s.io/v1";

/// How a role and its binding begin: what they are, and their name. In a namespace that is not named, they are in the
/// one that they are applied to.
fn beginning(kind: &str, scope: Scope, namespace: Option<&str>) -> String {
    let prefix = if scope == Scope::Cluster { "Cluster" } else { "" };
    let place = match namespace.filter(|_| scope == Scope::Namespace) {
        Some(namespace) => format!(", namespace: {}", scalar(namespace)),
        None => String::new(),
    };
    format!("{API}\nkind: {prefix}{kind}\nmetadata: {{name: {}{place}}}\n", role_name(scope, namespace))
}

fn role_name(scope: Scope, namespace: Option<&str>) -> String {
    match namespace.filter(|_| scope == Scope::Cluster) {
        // A ClusterRole is everybody's: its name says whose, so that one person's does not replace another's.
        Some(namespace) => scalar(&format!("plimsoll-{namespace}")),
        None => "plimsoll".to_owned(),
    }
}

/// A role of what is to be permitted in a scope, if there is anything.
fn role(permissions: &[Permission], scope: Scope, namespace: Option<&str>) -> Option<String> {
    let mut of_needs = BTreeMap::<Need, Rules>::new();
    for Permission { right, verb, .. } in permissions.iter().filter(|permission| permission.right.scope == scope) {
        let rules = of_needs.entry(right.need).or_default();
        rules.entry((right.group, right.resource)).or_default().push(verb);
    }
    if of_needs.is_empty() {
        return None;
    }
    let mut text = beginning("Role", scope, namespace) + "rules:\n";
    for (need, rules) in &of_needs {
        let what = match need {
            Need::Required => "Nothing is measured without these.",
            Need::Optional => "Less is known without these.",
            Need::Looking => "preflight and discover look at these.",
        };
        let _ = writeln!(text, "# {what}\n{}", lines(rules).join("\n"));
    }
    Some(text)
}

/// What gives somebody that role.
fn binding(scope: Scope, namespace: Option<&str>, subject: &Subject) -> String {
    let prefix = if scope == Scope::Cluster { "Cluster" } else { "" };
    let name = role_name(scope, namespace);
    let account = subject.name.strip_prefix("system:serviceaccount:").and_then(|account| account.split_once(':'));
    let who = match account {
        Some((place, account)) => {
            format!("{{kind: ServiceAccount, namespace: {}, name: {}}}", scalar(place), scalar(account))
        }
        None => {
            let name = if subject.name.is_empty() { "NAME-OF-THE-USER" } else { &subject.name };
            format!("{{kind: User, apiGroup: rbac.authorization.k8s.io, name: {}}}", scalar(name))
        }
    };
    let role = format!("{{apiGroup: rbac.authorization.k8s.io, kind: {prefix}Role, name: {name}}}");
    format!("{}roleRef: {role}\nsubjects:\n- {who}\n", beginning("RoleBinding", scope, namespace))
}

/// The lines of rules: resources of a group with the same verbs are one rule.
fn lines(rules: &Rules) -> Vec<String> {
    let mut merged: Vec<(&str, Vec<&str>, &Vec<&str>)> = Vec::new();
    for ((group, resource), verbs) in rules {
        match merged.iter_mut().find(|(other, _, theirs)| other == group && *theirs == verbs) {
            Some((_, resources, _)) => resources.push(resource),
            None => merged.push((group, vec![resource], verbs)),
        }
    }
    let line = |(group, resources, verbs): (&str, Vec<&str>, &Vec<&str>)| {
        let group = if group.is_empty() { "\"\"" } else { group };
        format!("- {{apiGroups: [{group}], resources: [{}], verbs: [{}]}}", resources.join(", "), verbs.join(", "))
    };
    merged.into_iter().map(line).collect()
}

/// A text as YAML takes it in a flow.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "-./".contains(character))
        && !["null", "true", "false", "yes", "no", "on", "off", "y", "n"].contains(&text.to_lowercase().as_str());
    // A string of JSON is one of YAML.
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// The section of the documentation: a table, and the roles.
pub fn reference() -> String {
    let mut out = String::from("| what | verbs | for | without it |\n|---|---|---|---|\n");
    for need in NEEDS {
        for right in RIGHTS.iter().filter(|right| right.need == need) {
            let what = if right.group.is_empty() {
                right.resource.to_owned()
            } else {
                format!("{}.{}", right.resource, right.group)
            };
            let place = if right.scope == Scope::Cluster { ", in the cluster" } else { "" };
            let (verbs, why, lost) = (right.verbs.join(", "), right.why, right.lost);
            let _ = writeln!(out, "| `{what}`{place} | {verbs} | {why} | {lost} |");
        }
    }
    let all = |right: &'static Right| right.verbs.iter().map(move |verb| Permission { right, verb, is_allowed: None });
    let all: Vec<Permission> = RIGHTS.iter().flat_map(all).collect();
    let somebody = Subject { name: "eve@example.org".to_owned(), groups: Vec::new() };
    let block = |scope: Scope| {
        let role = role(&all, scope, None).unwrap_or_default();
        format!("```yaml\n{role}```\n\n```yaml\n{}```\n", binding(scope, None, &somebody))
    };
    let _ = writeln!(
        out,
        "\nAll that is of a namespace, for `kubectl apply --namespace`; all but the first rules can be left out:\n\n{}",
        block(Scope::Namespace)
    );
    let _ =
        write!(out, "All that is of the cluster, which only looks, and can be left out:\n\n{}", block(Scope::Cluster));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(is_missing: impl Fn(&Right) -> bool) -> Vec<Permission> {
        let of = |right: &'static Right| {
            right.verbs.iter().map(move |verb| Permission { right, verb, is_allowed: Some(false) })
        };
        RIGHTS.iter().filter(|right| is_missing(right)).flat_map(of).collect()
    }

    #[test]
    fn the_documentation_has_every_right() {
        let page = include_str!("../../../docs/kubernetes.md");
        let wanted = reference();
        assert!(page.contains(&wanted), "put this into docs/kubernetes.md, below \"Rights\":\n{wanted}");
    }

    #[test]
    fn all_that_a_run_watches_has_its_reason() {
        for what in ["persistentvolumeclaims", "pods", "events", "persistentvolumes", "volumeattachments"] {
            assert!(of(what).unwrap().verbs.contains(&"watch"), "{what}");
        }
    }

    #[test]
    fn missing_rules_are_objects_that_kubectl_applies() {
        let subject = Subject { name: "system:serviceaccount:ci:bench".to_owned(), groups: Vec::new() };
        let text = rules(&missing(|right| ["pods/log", "nodes"].contains(&right.resource)), "load", &subject);
        assert_eq!(
            text,
            "apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: plimsoll, namespace: load}
rules:
# Nothing is measured without these.
- {apiGroups: [\"\"], resources: [pods/log], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: plimsoll, namespace: load}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: plimsoll}
subjects:
- {kind: ServiceAccount, namespace: ci, name: bench}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: plimsoll-load}
rules:
# Less is known without these.
- {apiGroups: [\"\"], resources: [nodes], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: plimsoll-load}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: plimsoll-load}
subjects:
- {kind: ServiceAccount, namespace: ci, name: bench}
"
        );
        assert_eq!(rules(&[], "load", &subject), "");
    }

    #[test]
    fn names_of_users_are_no_syntax() {
        let user = |name: &str| Subject { name: name.to_owned(), groups: Vec::new() };
        let text = |name: &str| rules(&missing(|right| right.resource == "pods/log"), "123", &user(name));
        assert!(text("a@b.org, kind: x").contains("name: \"a@b.org, kind: x\"}"));
        assert!(text("null").contains("name: \"null\"}") && text("").contains("name: NAME-OF-THE-USER}"));
        assert!(text("eve").contains("namespace: \"123\""), "a number would be no name");
    }

    #[test]
    fn verbs_of_the_same_kind_and_group_are_one_rule() {
        let text = rules(&missing(|right| right.scope == Scope::Namespace), "a", &Subject::default());
        assert!(text.contains("resources: [pods], verbs: [get, list, watch, patch, delete]"), "{text}");
        assert!(text.contains("resources: [limitranges, resourcequotas], verbs: [list]"), "{text}");
    }
}
