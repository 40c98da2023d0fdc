//! The PodSecurity level of a namespace, and whether the pod of a run keeps it. Pure.

use std::collections::BTreeMap;

use super::{Check, State};
use crate::request::{PodRun, Seccomp};

const ABOUT: &str = "PodSecurity";

/// What a level asks that this pod does not do, with the flag to leave out. All else it does at any level.
fn violations(level: &str, run: &PodRun) -> Vec<&'static str> {
    let mut violations = Vec::new();
    // Of an unknown level, the strictest is the safe guess.
    if level == "privileged" {
        return violations;
    }
    if run.resources.seccomp == Seccomp::Unconfined {
        violations.push("--seccomp Unconfined");
    }
    if level != "baseline" && run.runs_as_root {
        violations.push("--run-as-root");
    }
    violations
}

/// What the labels of a namespace mean for the pod.
pub(super) fn judge(labels: Option<&BTreeMap<String, String>>, run: &PodRun) -> Vec<Check> {
    let level = |mode: &str| labels.and_then(|labels| labels.get(&format!("pod-security.kubernetes.io/{mode}")));
    let mut checks = Vec::new();
    match level("enforce") {
        None => {
            let text = "the namespace names no level: the cluster's own applies, which cannot be seen";
            checks.push(Check::new(State::Ok, ABOUT, text));
        }
        Some(level) => checks.push(match violations(level, run)[..] {
            [] => Check::new(State::Ok, ABOUT, format!("the namespace enforces {level}, which the pod keeps")),
            ref violations => {
                let violations = violations.join(" and ");
                let text = format!(
                    "the namespace enforces {level}, which does not allow {violations}: leave it out, or use another \
                     namespace"
                );
                Check::new(State::Fails, ABOUT, text)
            }
        }),
    }
    if checks[0].state == State::Ok
        && let Some(level) = level("warn").or_else(|| level("audit"))
        && let violations = violations(level, run)
        && !violations.is_empty()
    {
        let text = format!("the namespace asks for {level}, and {} is noticed there", violations.join(" and "));
        checks.push(Check::new(State::Warning, ABOUT, text));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::test_runs::run;

    fn states(labels: &[(&str, &str)], run: &PodRun) -> Vec<State> {
        let labels =
            labels.iter().map(|(mode, level)| (format!("pod-security.kubernetes.io/{mode}"), (*level).to_owned()));
        judge(Some(&labels.collect()), run).into_iter().map(|check| check.state).collect()
    }

    #[test]
    fn the_pod_keeps_every_level_unless_somebody_insists() {
        let usual = run(&["a"], 1);
        let mut root = usual.clone();
        root.runs_as_root = true;
        let mut unconfined = usual.clone();
        unconfined.resources.seccomp = Seccomp::Unconfined;
        for level in ["privileged", "baseline", "restricted"] {
            assert_eq!(states(&[("enforce", level)], &usual), [State::Ok]);
        }
        assert_eq!(states(&[("enforce", "restricted")], &root), [State::Fails]);
        assert_eq!(states(&[("enforce", "baseline")], &root), [State::Ok]);
        assert_eq!(states(&[("enforce", "baseline")], &unconfined), [State::Fails]);
        assert_eq!(states(&[("enforce", "privileged")], &unconfined), [State::Ok]);
        assert_eq!(states(&[("enforce", "baseline"), ("warn", "restricted")], &root), [State::Ok, State::Warning]);
        assert_eq!(judge(None, &root)[0].state, State::Ok);
    }
}
