//! Errors as sentences.

use std::error::Error;

/// An error with all its causes in one sentence. Some errors end with their cause: that is said once.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use thiserror::Error;

    use super::*;

    #[derive(Debug, Error)]
    #[error("{text}")]
    struct Link {
        text: &'static str,
        source: Option<Box<Self>>,
    }

    fn chained(texts: &[&'static str]) -> String {
        let link = |source, text: &&'static str| Some(Box::new(Link { text, source }));
        chain(&*texts.iter().rev().fold(None, link).expect("an error"))
    }

    #[test]
    fn each_cause_is_said_once() {
        assert_eq!(chained(&["read the plan"]), "read the plan");
        assert_eq!(chained(&["read the plan", "it is gone"]), "read the plan: it is gone");
        assert_eq!(chained(&["read: a: it is gone", "a: it is gone", "it is gone"]), "read: a: it is gone");
        assert_eq!(chained(&["read", "a: it is gone", "a: it is gone", "it is gone"]), "read: a: it is gone");
        assert_eq!(chained(&["read: a", "it is gone", "a: it is gone"]), "read: a: it is gone");
    }

    #[test]
    fn a_cause_that_stands_elsewhere_in_the_text_is_no_cause_that_is_said() {
        assert_eq!(
            chained(&["the timeout of 5 s is too short", "timeout"]),
            "the timeout of 5 s is too short: timeout"
        );
    }
}
