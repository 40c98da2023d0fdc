//! The values of a configuration of Terraform: `locals`, laid out as `terraform fmt` has them. All else of the
//! configuration is the same for every plan.

use crate::{GeneratedFile, cluster::Cluster, setup::Setup, template::fill};

/// A value of Terraform.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Number(u64),
    Bool(bool),
    Null,
    List(Vec<String>),
    Object(Vec<(String, Value)>),
}

/// Named values, in order.
pub(crate) type Values = Vec<(String, Value)>;

impl Value {
    /// A text, or nothing.
    pub(crate) fn of(text: Option<&str>) -> Self {
        text.map_or(Self::Null, |text| Self::Text(text.to_owned()))
    }

    fn in_one_line(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(format!("\"{text}\"")),
            Self::Number(number) => Some(number.to_string()),
            Self::Bool(is_so) => Some(is_so.to_string()),
            Self::Null => Some("null".to_owned()),
            Self::List(texts) => {
                let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
                Some(format!("[{}]", quoted.join(", ")))
            }
            Self::Object(values) if values.is_empty() => Some("{}".to_owned()),
            Self::Object(_) => None,
        }
    }
}

/// The file of what differs from plan to plan.
pub(crate) fn locals(values: &Values) -> GeneratedFile {
    let head = "# What the plan says, checked against the catalog: change the plan, not this.\n";
    GeneratedFile::text("terraform/plan.tf", format!("{head}locals {{\n{}}}\n", lines(values, 1)))
}

/// Lines of values. Those of one line that follow each other have their signs below each other.
fn lines(values: &Values, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let mut text = String::new();
    let mut rest = values.as_slice();
    while let Some(((name, value), tail)) = rest.split_first() {
        if let Value::Object(inner) = value
            && !inner.is_empty()
        {
            text += &format!("{indent}{} = {{\n{}{indent}}}\n", key(name), lines(inner, depth + 1));
            rest = tail;
            continue;
        }
        let short = rest.iter().take_while(|(_, value)| value.in_one_line().is_some()).count();
        let width = rest[..short].iter().map(|(name, _)| key(name).len()).max().unwrap_or(0);
        for (name, value) in &rest[..short] {
            let value = value.in_one_line().unwrap_or_default();
            text += &format!("{indent}{:width$} = {value}\n", key(name));
        }
        rest = &rest[short..];
    }
    text
}

/// Names with a dot or a slash stand in quotes.
fn key(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_plain { name.to_owned() } else { format!("\"{name}\"") }
}

/// Makes the classes of a cluster, of which Kubernetes changes none.
pub(crate) const APPLY_CLASSES: &str = "kubectl --kubeconfig \"$KUBECONFIG_FILE\" apply --filename \"$here/classes.yaml\" ||
  stop \"a class that is there cannot be changed: change the plan back, or remove it first: kubectl delete storageclass NAME\"
";

/// What a cluster has with every provider.
pub(crate) fn of_cluster(cluster: &Cluster) -> Values {
    vec![
        ("kubernetes_version".to_owned(), Value::of(cluster.version.as_deref())),
        ("node_type".to_owned(), Value::Text(cluster.node.name.clone())),
        ("nodes".to_owned(), Value::Number(cluster.nodes.into())),
    ]
}

/// How a cluster is reached, for scripts around Terraform.
pub(crate) struct Reaching<'a> {
    /// The provider's name.
    pub(crate) provider: &'a str,
    /// The command that writes the credentials of the cluster, with its indent.
    pub(crate) credentials: &'a str,
    /// What Terraform calls the cluster.
    pub(crate) cluster: &'a str,
    /// The programs that are needed besides.
    pub(crate) needs: &'a str,
    /// What is written down for the machine.
    pub(crate) for_machine: &'a str,
}

/// The scripts around a configuration.
pub(crate) fn scripts(setup: &Setup, reaching: &Reaching<'_>) -> Vec<GeneratedFile> {
    let what = crate::on_machine::what(setup);
    let variables = match &setup.cluster {
        Some(_) => "KUBECONFIG_FILE=\"${KUBECONFIG_FILE:-$here/kubeconfig}\"\n",
        None => "",
    };
    let needs = if setup.cluster.is_some() { reaching.needs } else { "" };
    let words = [("what", what.as_str()), ("provider", reaching.provider), ("needs", needs), ("variables", variables)];
    let mut create = fill(include_str!("../templates/terraform_create.sh"), &words);
    if setup.cluster.is_some() {
        create += reaching.credentials;
        create += "chmod 600 \"$KUBECONFIG_FILE\"\n";
        create += APPLY_CLASSES;
        create += "echo \"next: IMAGE=REGISTRY/plimsoll:TAG ./run-kubernetes.sh\"\n";
    }
    if setup.machine.is_some() {
        create += reaching.for_machine;
    }
    let (before, after) = match &setup.cluster {
        Some(_) => (
            &*fill(include_str!("../templates/terraform_teardown_cluster.sh"), &[("cluster", reaching.cluster)]),
            "[ \"$mode\" = --dry-run ] || rm -f \"$here/kubeconfig\"\n",
        ),
        None => ("", ""),
    };
    let words = [("variables", variables), ("before", before), ("after", after)];
    let teardown = fill(include_str!("../templates/terraform_teardown.sh"), &words).trim_end().to_owned() + "\n";
    vec![GeneratedFile::script("create.sh", create), GeneratedFile::script("teardown.sh", teardown)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_line_are_aligned_and_others_stand_alone() {
        let values = vec![
            ("a".to_owned(), Value::Number(1)),
            ("longer".to_owned(), Value::of(None)),
            ("of".to_owned(), Value::Object(vec![("x/y".to_owned(), Value::List(vec!["z".to_owned()]))])),
            ("last".to_owned(), Value::Bool(true)),
        ];
        let text = lines(&values, 1);
        assert_eq!(text, "  a      = 1\n  longer = null\n  of = {\n    \"x/y\" = [\"z\"]\n  }\n  last = true\n");
    }
}
