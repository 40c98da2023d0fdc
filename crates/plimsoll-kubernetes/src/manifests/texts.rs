//! Texts that reach programs in containers as they are: Kubernetes looks for variables in them, and the kernel takes
//! only so long ones.

use super::{LIMITS_VARIABLE, PLAN_VARIABLE};
use crate::{error::ClusterError, request::PodRun};

/// Bytes of a variable with its name that Linux hands to a program, with the byte at its end.
const VARIABLE_BYTES_MAX: usize = 128 << 10;

/// A text as Kubernetes has to be given it, which takes `$$` for `$`, and `$(NAME)` for a variable.
pub(crate) fn literal(text: &str) -> String {
    text.replace('$', "$$")
}

/// The text that was meant.
pub(super) fn meant(literal: &str) -> String {
    literal.replace("$$", "$")
}

/// Refuses what no pod could be started with.
pub fn check(run: &PodRun) -> Result<(), ClusterError> {
    let too_long = |name: &str, text: &str| name.len() + "=".len() + text.len() + 1 > VARIABLE_BYTES_MAX;
    let variables = [
        (PLAN_VARIABLE, Some(&run.plan), "the plan", "name fewer workloads"),
        (LIMITS_VARIABLE, run.limits.as_ref(), "the file of limits", "name one with only those that are needed"),
    ];
    for (name, text, what, advice) in variables {
        if let Some(text) = text.filter(|text| too_long(name, text)) {
            return Err(ClusterError::Usage(format!(
                "{what} has {} bytes, and a pod is handed less than {} KiB: {advice}",
                text.len(),
                VARIABLE_BYTES_MAX >> 10,
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        manifests::{self, reading},
        request::test_runs::pod_run,
    };

    /// What Kubernetes makes of a text, as its documentation says: no variable is known here by any other name.
    fn expanded(text: &str) -> String {
        let (mut expanded, mut rest) = (String::new(), text);
        while let Some(at) = rest.find('$') {
            expanded += &rest[..at];
            let after = &rest[at + 1..];
            if let Some(after) = after.strip_prefix('$') {
                expanded.push('$');
                rest = after;
            } else if let Some(after) = after.strip_prefix("(HOST)") {
                expanded += "10.0.0.1";
                rest = after;
            } else {
                expanded.push('$');
                rest = after;
            }
        }
        expanded + rest
    }

    #[test]
    fn the_program_is_handed_what_was_written_whatever_looks_like_a_variable() {
        for text in ["cost $$ and $(HOST)", "$", "$$$", "$$(HOST)$", "none"] {
            let run = PodRun { plan: text.to_owned(), limits: Some(text.to_owned()), ..pod_run(Vec::new()) };
            let job = manifests::job(&run);
            assert_eq!(reading::read(&job, &[]).unwrap().plan, text);
            let pod = job.spec.unwrap().template.spec.unwrap();
            let variables = pod.containers[0].env.clone().unwrap();
            for name in [PLAN_VARIABLE, LIMITS_VARIABLE] {
                let value = variables.iter().find(|variable| variable.name == name).unwrap().value.clone().unwrap();
                assert_eq!(expanded(&value), text, "{name}");
            }
        }
    }

    #[test]
    fn what_the_kernel_would_not_hand_over_is_refused() {
        let run = pod_run(Vec::new());
        // PLIMSOLL_LIMITS= and the byte at the end.
        let most = (128 << 10) - 17;
        check(&PodRun { limits: Some("x".repeat(most)), ..run.clone() }).unwrap();
        let error = check(&PodRun { limits: Some("x".repeat(most + 1)), ..run.clone() }).unwrap_err();
        assert!(error.to_string().contains("the file of limits has 131056 bytes"), "{error}");
        let error = check(&PodRun { plan: "x".repeat(128 << 10), ..run }).unwrap_err();
        assert!(error.to_string().contains("the plan has 131072 bytes"), "{error}");
    }
}
